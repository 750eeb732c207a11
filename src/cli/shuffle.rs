//! `shuffle`: writes all records in a random order that the seed determines.

use super::arguments::command_scope::{Examples, OUTPUT, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::run::dataset_summary;
use super::run::format_output::{self, OutputRequest, RecordArgs};
use super::run::invocation::Invocation;
use anyhow::Result;
use clap::{Args, ValueEnum};
use lanefish::datasets::{Shuffle, Unit};
use lanefish::jobs::{OutputContent, OutputFormat};

/// Write all records in a random order, the same for the same seed
#[derive(Debug, Args)]
pub(crate) struct ShuffleArgs {
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

/// The unit that stays together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum By {
    /// Each record separately
    Record,
    /// The records of a game, in their order
    Game,
}

impl From<By> for Unit {
    fn from(by: By) -> Self {
        match by {
            By::Record => Self::Record,
            By::Game => Self::Game,
        }
    }
}

impl RunCommand for ShuffleArgs {
    const EXAMPLES: Examples = &[
        ("A random order, the same for everybody", "lanefish shuffle a.boards b.boards --seed 7 -o shuffled.boards"),
        (
            "Games in a random order, in little memory",
            "lanefish shuffle games.pgn.zst --by game --memory 256M -o shuffled.boards",
        ),
    ];
    const SCOPE: Scope = Scope::WRITES_RECORDS;

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let format = format_output::format_beside("shuffle", self.to, &self.output, &self.read.inputs)?;
        let reading = &self.read.reading;
        let shuffle = Shuffle::default().seed(reading.games.seed()).by(self.by.into());
        let (done, written) = format_output::write_by(
            invocation,
            (&self.read.inputs, reading),
            OutputContent::Records { fen: false },
            OutputRequest::records(&self.output, format, &self.write),
            &[],
            |inputs, options, job, sink| shuffle.run(inputs, options, job, sink),
        )?;
        dataset_summary::conclude(invocation, done, self.json, written, [])
    }
}
