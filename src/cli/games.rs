//! `games`: one row per game.

use super::args::{OutputArgs, ReadArgs};
use super::output::{RowOutput, Rows, TextRows};
use super::session::{RunChoice, Session};
use anyhow::Result;
use clap::Args;
#[cfg(feature = "parquet")]
use lanefish::jobs::TableRows;
use lanefish::jobs::{GameFormat, GameRows};

/// One row per game: tags, plies, result, final position, and whether that is checkmate or stalemate
#[derive(Debug, Args)]
pub(crate) struct GamesArgs {
    /// Format of the rows; jsonl has all tags of the games [default: from the name given with -o, else csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Rows>,

    #[command(flatten)]
    output: OutputArgs,

    #[cfg(feature = "parquet")]
    #[command(flatten)]
    table: super::table::TableArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl GamesArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        let format = match Rows::of(self.format, &self.output)?.output() {
            RowOutput::Text(TextRows::Csv) => GameFormat::Csv,
            RowOutput::Text(TextRows::Jsonl) => GameFormat::JsonLines,
            #[cfg(feature = "parquet")]
            RowOutput::Table(kind) => {
                let inputs = (&self.read.inputs[..], &self.read.reading);
                return self.table.write(session, inputs, TableRows::Games, kind, &self.output);
            }
        };
        #[cfg(feature = "parquet")]
        self.table.refuse()?;
        session.prepare(&self.read.inputs, &self.read.reading)?;
        let mut output = session.open_output(&self.output)?;
        output.put(&format.header())?;
        let reading = &self.read.reading;
        let job = GameRows { format };
        let done = session.read(&self.read.inputs, reading, RunChoice::default(), &job, |rows| {
            rows.iter().try_for_each(|row| output.put(row))
        })?;
        if done.summary.failure.is_none() {
            session.commit(Some(output))?;
        }
        session.conclude(done.summary)
    }
}
