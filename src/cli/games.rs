//! `games`: one row per game.

use super::args::{OutputArgs, ReadArgs};
use super::output::Rows;
use super::session::{Run, Session};
use anyhow::Result;
use clap::Args;
use lanefish::jobs::{GameFormat, GameRows};

/// One row per game: tags, plies, result, final position, and whether that is checkmate or stalemate
#[derive(Debug, Args)]
pub(crate) struct GamesArgs {
    /// Format of the rows; jsonl has all tags of the games [default: from the name given with -o, else csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Rows>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl GamesArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        let format = match Rows::of(self.format, &self.output)? {
            Rows::Csv => GameFormat::Csv,
            Rows::Jsonl => GameFormat::JsonLines,
        };
        session.prepare(&self.read.inputs, &self.read.reading)?;
        let mut output = session.open_output(&self.output)?;
        output.put(&format.header())?;
        let global = session.global();
        let mut skip = global.skip;
        let mut left = global.limit.unwrap_or(u64::MAX);
        let run = Run {
            game_rows: true,
            ..Run::default()
        };
        let reading = &self.read.reading;
        let job = GameRows { format };
        let done = session.read(&self.read.inputs, reading, run, &job, |rows| {
            for row in rows {
                if skip > 0 {
                    skip -= 1;
                } else if left > 0 {
                    left -= 1;
                    output.put(&row)?;
                }
            }
            Ok(())
        })?;
        if done.summary.failure.is_none() {
            session.commit(Some(output))?;
        }
        session.conclude(done.summary)
    }
}
