//! `interleave`: mixes inputs evenly and keeps the order within each.

use super::args::{OutputArgs, ReadArgs};
use super::conclusion;
use super::invocation::Invocation;
use super::shuffle::By;
use super::write::{self, RecordArgs, Wanted};
use anyhow::Result;
use clap::Args;
use lanefish::datasets::Interleave;
use lanefish::jobs::{OutputFormat, Written};

/// Mix inputs at random, keeping the order within each; files are read twice, and all at the same time
#[derive(Debug, Args)]
pub(crate) struct InterleaveArgs {
    /// Unit that stays together
    #[arg(long, value_enum, value_name = "UNIT", default_value_t = By::Record)]
    by: By,

    /// Print a summary as JSON
    #[arg(long)]
    json: bool,

    /// Format of the output [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", value_parser = super::choice::OutputName)]
    to: Option<OutputFormat>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    write: RecordArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl InterleaveArgs {
    pub(crate) fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let format = write::format_of(self.to, &self.output)?;
        let reading = &self.read.reading;
        let interleave = Interleave::default().seed(reading.games.seed).by(self.by.into());
        let (done, written) = write::write_by(
            invocation,
            (&self.read.inputs, reading),
            Written::Records { fen: false },
            Wanted::records(&self.output, format, &self.write),
            &[],
            |inputs, options, job, sink| interleave.run(inputs, options, job, sink),
        )?;
        conclusion::conclude(invocation, done, self.json, written, [])
    }
}
