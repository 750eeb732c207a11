//! `interleave`: mixes inputs evenly and keeps the order within each.

use super::arguments::command_scope::{Examples, OUTPUT, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::run::dataset_summary;
use super::run::format_output::{self, OutputRequest, RecordArgs};
use super::run::invocation::Invocation;
use super::shuffle::By;
use anyhow::{Result, bail};
use clap::Args;
use lanefish::datasets::{Interleave, Interleaved, MixedInput, Weights};
use lanefish::input::Inputs;
use lanefish::jobs::{OutputContent, OutputFormat};
use lanefish_core::text::numbers::{counted, grouped};
use serde_json::{Value, json};

/// Mix inputs at random, keeping the order within each; files are read twice, and all at the same time
#[derive(Debug, Args)]
pub(crate) struct InterleaveArgs {
    /// Unit that stays together
    #[arg(long, value_enum, value_name = "UNIT", default_value_t = By::Record)]
    by: By,

    /// The shares of the inputs in the output, one number for each, such as 0.7,0.3
    ///
    /// The output ends where an input has no record left whose turn it is; a note says what is left of the others.
    #[arg(long, value_name = "W,..")]
    weights: Option<Weights>,

    /// With --weights, begin inputs again that have too few records; the output ends once every input is used up
    #[arg(long, requires = "weights")]
    repeat: bool,

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
    const EXAMPLES: Examples = &[
        ("Two sources, evenly mixed; each keeps its order", "lanefish interleave a.boards b.boards -o mixed.boards"),
        (
            "Seven records of one to three of the other",
            "lanefish interleave a.boards b.boards --weights 0.7,0.3 -o mixed.boards",
        ),
    ];
    const SCOPE: Scope = Scope::WRITES_RECORDS;

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let format = format_output::format_beside("interleave", self.to, &self.output, &self.read.inputs)?;
        let reading = &self.read.reading;
        let interleave = Interleave::default().seed(reading.games.seed()).by(self.by.into());
        let interleave = interleave.weights(self.weights.clone()).files(self.files()?).repeats(self.repeat);
        let mut mixed = Interleaved::default();
        let (done, written) = format_output::write_by(
            invocation,
            (&self.read.inputs, reading),
            OutputContent::Records { fen: false },
            OutputRequest::records(&self.output, format, &self.write),
            &[],
            |inputs, options, job, sink| {
                let (summary, done) = interleave.run(inputs, options, job, sink)?;
                mixed = done;
                Ok(summary)
            },
        )?;
        if self.weights.is_none() {
            return dataset_summary::conclude(invocation, done, self.json, written, []);
        }
        if done.failure.is_none() {
            for (name, input) in self.read.inputs.iter().zip(&mixed.inputs) {
                invocation.note(format_args!("{}: {}", name.display(), self.note_on(*input)));
            }
        }
        let inputs = self.read.inputs.iter().zip(&mixed.inputs).map(|(name, input)| {
            json!({ "path": name.display().to_string(), "available": input.available, "taken": input.taken })
        });
        let inputs = Value::Array(inputs.collect());
        dataset_summary::conclude(invocation, done, self.json, written, [("inputs", inputs)])
    }
}

impl InterleaveArgs {
    /// The number of files of each input, if the inputs have weights.
    fn files(&self) -> Result<Option<Vec<usize>>> {
        let Some(weights) = &self.weights else { return Ok(None) };
        let inputs = &self.read.inputs;
        if weights.len() != inputs.len() {
            bail!(
                "--weights has {}, and there are {}",
                counted(weights.len() as u64, "number"),
                counted(inputs.len() as u64, "input")
            );
        }
        let (from, column) = (self.read.reading.from, self.read.reading.fen_column.as_deref());
        let files = inputs.iter().map(|name| Ok(Inputs::open_as([name], from, column)?.sources.len()));
        files.collect::<Result<_>>().map(Some)
    }

    /// What an input gave.
    fn note_on(&self, MixedInput { available, taken, .. }: MixedInput) -> String {
        let unit = if self.by == By::Game { "game" } else { "record" };
        match available.checked_sub(taken) {
            Some(0) => format!("all {}", counted(taken, unit)),
            Some(left) => format!("{} of {}; {} are left", grouped(taken), counted(available, unit), grouped(left)),
            None => format!("{}, from {} that were read again", counted(taken, unit), grouped(available)),
        }
    }
}
