//! `generate`: any number of positions by seeded random play, the same for the same seed everywhere.

use super::args::OutputArgs;
use super::interrupt;
use super::output::{RecordOutput, format_of};
use super::session::Session;
use anyhow::{Context, Result};
use clap::Args;
use lanefish::Error;
use lanefish::block::Packed;
use lanefish::chess::random::{Random, RandomPlay, Start};
use lanefish::formats::{Blocks, Encoded, Encoder, Format};
use lanefish::table::Batch;
use lanefish::text::numbers::grouped;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// Generate positions by seeded random play
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// Number of positions
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1000)]
    number: u64,

    /// Seed; the same seed gives the same positions for any number of threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Start from Chess960 positions; in every other game the two sides have different ones
    #[arg(long)]
    chess960: bool,

    /// Format of the output [default: from the name given with -o, else fen]
    #[arg(long, value_name = "FORMAT", value_parser = super::choice::FormatName::WRITTEN)]
    to: Option<Format>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Positions per shard: each shard has games of its own, so that threads need not wait for one another.
const SHARD: u64 = 1 << 14;

impl GenerateArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        let format = format_of(self.to, &self.output, Some(Format::FEN))?;
        let output = session.open_output(&self.output)?;
        let mut output = RecordOutput::new(format, output)?;
        let encoder = output.encoder;
        let mut blocks = Blocks::of(encoder);
        let interrupt = interrupt::flag();
        let shards = self.number.div_ceil(SHARD);
        let threads = (session.threads as u64).min(shards);
        let phase = session.phase("generating");
        thread::scope(|scope| {
            // Each of n threads makes every nth shard; receiving from them in turn restores the order.
            let receivers = (0..threads)
                .map(|first| {
                    let (sender, receiver) = sync_channel(1);
                    let make = move || {
                        for shard in (first..shards).step_by(threads as usize) {
                            // The receiver is gone if writing has failed.
                            if sender.send(self.shard(shard, encoder)).is_err() {
                                break;
                            }
                        }
                    };
                    thread::Builder::new()
                        .spawn_scoped(scope, make)
                        .map_err(|reason| Error::Threads { threads: threads as usize, reason: reason.to_string() })?;
                    Ok(receiver)
                })
                .collect::<Result<Vec<Receiver<Encoded>>, Error>>()?;
            for shard in 0..shards {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted.into());
                }
                let encoded =
                    receivers[(shard % threads) as usize].recv().context("a generating thread ended early")?;
                match &mut blocks {
                    Some(blocks) => {
                        let joined = blocks.join(encoded);
                        let mut blocks = joined.context("the records cannot be held")?.into_iter();
                        blocks.try_for_each(|block| {
                            let block = output.accept(block.encode(Encoded::default()))?;
                            output.put(&block)
                        })?;
                    }
                    None => output.put(&encoded)?,
                }
                let done = (shard + 1).saturating_mul(SHARD).min(self.number);
                let percent = 100.0 * done as f64 / self.number as f64;
                let done = grouped(done);
                phase.set(format!("generating  {percent:.0} %  {done} positions"));
            }
            Ok::<_, anyhow::Error>(())
        })?;
        drop(phase);
        if let Some(last) = blocks.and_then(Blocks::finish) {
            let last = output.accept(last.encode(Encoded::default()))?;
            output.put(&last)?;
        }
        session.commit(Some(output.finish()?))?;
        Ok(0)
    }

    /// The positions of one shard; the last may be cut short.
    fn shard(&self, shard: u64, encoder: &'static dyn Encoder) -> Encoded {
        let start = if self.chess960 { Start::Chess960 } else { Start::Standard };
        // Mixed twice, so that neighbouring seeds and shards are unrelated.
        let seed = Random::new(Random::new(self.seed).bits() ^ shard).bits();
        let len = SHARD.min(self.number - shard * SHARD) as usize;
        let mut batch = Batch::new();
        for position in RandomPlay::new(seed, start).map(|played| played.position).take(len) {
            // Random play never fills the board, so that every position has a packed form.
            if let Ok(board) = Packed::pack(&position) {
                batch.push(board, position.halfmove, position.fullmove);
            }
        }
        let rows = 0..batch.len();
        let mut piece = Encoded::default();
        encoder.encode(&Arc::new(batch), &[rows], &mut piece);
        piece
    }
}
