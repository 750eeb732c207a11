//! `split`: writes each record to one of several files.

use super::arguments::command_scope::{Examples, OUTPUT, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::run::dataset_summary;
use super::run::format_output::{self, RecordArgs};
use super::run::invocation::{Invocation, RunOverrides};
use super::run::manifest::Manifests;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum, ValueHint};
use lanefish::datasets::{Shares, Split, SplitBy};
use lanefish::jobs::{OutputContent, OutputFormat, OutputSummary, WriteJob};
use lanefish_core::text::numbers::counted;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Divide records into parts, such as for training and validation: equal positions are never in two of them
#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// Names and shares of the parts, with a sum of 1: train=0.9,valid=5%,test=0.05
    #[arg(long, value_name = "NAME=SHARE,..")]
    parts: Shares,

    /// Records that are never divided
    #[arg(long, value_enum, value_name = "UNIT", default_value_t = By::Position)]
    by: By,

    /// Print a summary as JSON
    #[arg(long)]
    json: bool,

    /// Format of the outputs [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", value_parser = super::arguments::value_parsers::OutputName, help_heading = OUTPUT)]
    to: Option<OutputFormat>,

    /// The output files, where {part} stands for the name of a part; all of them appear, or none
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    output: PathBuf,

    /// Compression level [default: 3 for .zst, 6 for .gz, 9 for .bz2]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = OUTPUT)]
    level: Option<i32>,

    #[command(flatten)]
    write: RecordArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// Records that are never divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Equal positions
    Position,
    /// Positions that are equal after exchanging colours
    Relative,
    /// The records of a game
    Game,
    /// None: each record separately
    Record,
}

/// The placeholder for the name of a part.
const PART: &str = "{part}";

impl RunCommand for SplitArgs {
    const EXAMPLES: Examples = &[
        (
            "Validation data that share no position with the training data",
            "lanefish split all.boards --parts train=0.98,valid=0.02 -o '{part}.boards'",
        ),
        ("Whole games", "lanefish split games.pgn.zst --by game --parts train=0.9,test=10% -o '{part}.fen'"),
    ];
    const SCOPE: Scope = Scope::WRITES_RECORDS;

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let Some(pattern) = self.output.to_str().filter(|pattern| pattern.contains(PART)) else {
            bail!("-o {}: {PART}, which stands for the name of a part, is missing", self.output.display());
        };
        let reading = &self.read.reading;
        let split = Split::new(self.parts.clone()).seed(reading.games.seed()).by(match self.by {
            By::Position => SplitBy::Position,
            By::Relative => SplitBy::Relative,
            By::Game => SplitBy::Game,
            By::Record => SplitBy::Record,
        });
        invocation.prepare(&self.read.inputs, reading)?;
        let mut jobs = Vec::new();
        let mut outputs = Vec::new();
        for share in self.parts.iter() {
            let file = PathBuf::from(pattern.replace(PART, &share.name));
            let args = OutputArgs { output: Some(file), level: self.level };
            let format = self.write.write.apply(format_output::format_of(self.to, &args)?)?;
            let job = WriteJob::new(OutputContent::Records { fen: false }, format)?.allow_loss(self.write.allow_loss);
            outputs.push((format_output::open(invocation, &args, format)?, format));
            jobs.push(job);
        }
        let all = outputs.iter().map(|(output, _)| output);
        let manifests = self
            .write
            .write
            .manifest
            .then(|| Manifests::begin(invocation, reading.games.seed(), &[], all))
            .transpose()?;
        let names: Vec<_> = outputs.iter().map(|(output, _)| output.named()).collect();
        let mut files = Vec::new();
        for ((job, (output, _)), named) in jobs.iter().zip(&mut outputs).zip(&names) {
            files.push(job.open(output).map_err(|source| named.failed(source))?);
        }
        let mut written = vec![0; jobs.len()];
        let done = invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, options| {
            split.run(inputs, options, &jobs, |part, records, made| {
                written[part] += records;
                jobs[part].put(&mut files[part], made).map_err(|source| names[part].failed(source))
            })
        })?;
        if done.failure.is_none() {
            let mut complete = Vec::new();
            for ((job, file), named) in jobs.into_iter().zip(files).zip(&names) {
                complete.push(job.finish(file).map_err(|source| named.failed(source))?);
            }
            let mut all = OutputSummary::default();
            complete.iter().for_each(|part| all.merge(part));
            let omits = outputs.first().map(|(_, format)| *format);
            let outputs = outputs
                .into_iter()
                .zip(&complete)
                .map(|((output, format), complete)| (output, format, complete))
                .collect();
            format_output::commit(invocation, outputs, manifests.map(|manifests| (manifests, &done.summary)))?;
            if let Some(format) = omits {
                format_output::report_losses(invocation, format, &all, &done.summary.lost_tags);
            }
        }
        let parts = self.parts.iter().zip(&written);
        if done.failure.is_none() && !self.json {
            for (share, written) in self.parts.iter().zip(&written) {
                invocation.note(format_args!("{}: {}", share.name, counted(*written, "record")));
            }
        }
        let parts: serde_json::Map<String, Value> =
            parts.map(|(share, written)| (share.name.clone(), json!(written))).collect();
        dataset_summary::conclude(invocation, done, self.json, written.iter().sum(), [("parts", Value::Object(parts))])
    }
}
