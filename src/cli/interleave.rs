//! `interleave`: mixes inputs evenly and keeps the order within each.

use super::arguments::command_scope::{Examples, OUTPUT, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::run::dataset_summary;
use super::run::format_output::{self, OutputRequest, RecordArgs};
use super::run::invocation::Invocation;
use super::shuffle::By;
use anyhow::Result;
use clap::Args;
use lanefish::datasets::Interleave;
use lanefish::jobs::{OutputContent, OutputFormat};

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
    #[arg(long, value_name = "FORMAT", value_parser = super::arguments::value_parsers::OutputName, help_heading = OUTPUT)]
    to: Option<OutputFormat>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    write: RecordArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl RunCommand for InterleaveArgs {
    const EXAMPLES: Examples =
        &[("Two sources, evenly mixed; each keeps its order", "lanefish interleave a.boards b.boards -o mixed.boards")];
    const SCOPE: Scope = Scope::WRITES_RECORDS;

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let format = format_output::format_beside("interleave", self.to, &self.output, &self.read.inputs)?;
        let reading = &self.read.reading;
        let interleave = Interleave::default().seed(reading.games.seed()).by(self.by.into());
        let (done, written) = format_output::write_by(
            invocation,
            (&self.read.inputs, reading),
            OutputContent::Records { fen: false },
            OutputRequest::records(&self.output, format, &self.write),
            &[],
            |inputs, options, job, sink| interleave.run(inputs, options, job, sink),
        )?;
        dataset_summary::conclude(invocation, done, self.json, written, [])
    }
}
