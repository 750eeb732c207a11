//! `generate`: any number of positions by seeded random play, the same for the same seed everywhere.

use super::arguments::command_scope::{Examples, OUTPUT, Reads, RunCommand, Scope};
use super::arguments::common_args::OutputArgs;
use super::run::format_output;
use super::run::interrupt;
use super::run::invocation::Invocation;
use super::terminal::progress::time_left;
use anyhow::{Context, Result, bail};
use clap::Args;
use lanefish::Error;
use lanefish::chess::random::{Random, RandomPlay, Start};
use lanefish::formats::{Format, UnstoredTags};
use lanefish::jobs::{OutputContent, OutputFormat, WriteJob, WritePart};
use lanefish::packed::Packed;
use lanefish::table::Batch;
use lanefish_core::text::numbers::{grouped, short};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

/// Generate positions by seeded random play
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// Number of positions
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1000, value_parser = super::arguments::number_args::count)]
    number: u64,

    /// Seed; the same seed gives the same positions, whatever the number of threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Start from Chess960 positions; in every other game the two sides have different ones
    #[arg(long)]
    chess960: bool,

    /// Format of the output [default: from the name given with -o, else fen]
    #[arg(long, value_name = "FORMAT", value_parser = super::arguments::value_parsers::OutputName, help_heading = OUTPUT)]
    to: Option<OutputFormat>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Positions per shard: no game is in two shards, so threads need not wait for each other.
const SHARD: u64 = 1 << 14;

/// How far it is, and the time left.
fn progress(done: u64, number: u64, elapsed: Duration) -> (String, Duration) {
    let share = done as f64 / number as f64;
    let rate = short(done as f64 / elapsed.as_secs_f64().max(1e-3));
    let text = format!("generating  {:.0} %  {} positions  {rate}/s", 100.0 * share, grouped(done));
    (text, time_left(elapsed, share))
}

impl RunCommand for GenerateArgs {
    const EXAMPLES: Examples = &[
        ("A million positions, the same everywhere", "lanefish generate -n 1000000 --seed 7 -o random.boards"),
        ("Chess960, compressed", "lanefish generate -n 50000 --chess960 -o random.fen.zst"),
    ];
    const SCOPE: Scope = Scope { reads: Reads::Nothing, ignores: &["tier", "color"], ..Scope::READS };

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let is_stdout = self.output.output.as_deref().is_none_or(|path| path.as_os_str() == "-");
        let to = self.to.or(is_stdout.then_some(OutputFormat::Records(Format::FEN)));
        let format = format_output::format_of(to, &self.output)?;
        let job = WriteJob::new(OutputContent::Records { fen: false }, format)?.allow_loss(true);
        if let Some(needed) = job.required_fields().iter().next() {
            bail!("{format} files need `{}`, which generated positions do not have", needed.name());
        }
        let mut output = format_output::open(invocation, &self.output, format)?;
        let named = output.named();
        let failed = |source| named.failed(source);
        let mut file = job.open(&mut output).map_err(failed)?;
        let interrupt = interrupt::flag();
        let shards = self.number.div_ceil(SHARD);
        let threads = (invocation.threads as u64).min(shards);
        let phase = invocation.phase("generating");
        thread::scope(|scope| {
            // Each of n threads makes every nth shard; receiving from them in turn restores the order.
            let receivers = (0..threads)
                .map(|first| {
                    let (sender, receiver) = sync_channel(1);
                    let job = &job;
                    let make = move || {
                        for shard in (first..shards).step_by(threads as usize) {
                            // The receiver is gone if writing has failed.
                            if sender.send(self.shard(shard, job)).is_err() {
                                break;
                            }
                        }
                    };
                    thread::Builder::new()
                        .spawn_scoped(scope, make)
                        .map_err(|reason| Error::Threads { threads: threads as usize, reason: reason.to_string() })?;
                    Ok(receiver)
                })
                .collect::<Result<Vec<Receiver<WritePart>>, Error>>()?;
            for shard in 0..shards {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted.into());
                }
                let part = receivers[(shard % threads) as usize].recv().context("a generating thread ended early")?;
                job.put(&mut file, part).map_err(failed)?;
                let done = (shard + 1).saturating_mul(SHARD).min(self.number);
                let (text, left) = progress(done, self.number, phase.elapsed());
                phase.set_with_left(text, left);
            }
            Ok::<_, anyhow::Error>(())
        })?;
        drop(phase);
        let complete = job.finish(file).map_err(failed)?;
        format_output::commit(invocation, vec![(output, format, &complete)], None)?;
        format_output::report_losses(invocation, format, &complete, &UnstoredTags::default());
        Ok(0)
    }
}

impl GenerateArgs {
    /// The positions of one shard; the last shard may be shorter.
    fn shard(&self, shard: u64, job: &WriteJob<'_>) -> WritePart {
        let start = if self.chess960 { Start::Chess960 } else { Start::Standard };
        // Mixed twice, so that neighbouring seeds and shards are unrelated.
        let seed = Random::new(Random::new(self.seed).bits() ^ shard).bits();
        let len = SHARD.min(self.number - shard * SHARD) as usize;
        let mut batch = Batch::new();
        for position in RandomPlay::new(seed, start).map(|played| played.position).take(len) {
            // Random play never fills the board, so every position has a packed form.
            if let Ok(board) = Packed::pack(&position) {
                batch.push(board, position.halfmove, position.fullmove);
            }
        }
        job.batch(&Arc::new(batch), shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_a_rate_and_the_time_left() {
        let (text, left) = progress(1_000_000, 4_000_000, Duration::from_secs(10));
        assert_eq!(text, "generating  25 %  1,000,000 positions  100 k/s");
        assert_eq!(left, Duration::from_secs(30));
        let (text, left) = progress(7, 7, Duration::ZERO);
        assert!(text.contains("100 %  7 positions"), "{text}");
        assert_eq!(left, Duration::ZERO);
    }
}
