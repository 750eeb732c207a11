//! `dedup`: one of several equal records, or the number of distinct records.

use super::SOMETHING_WRONG;
use super::arguments::command_scope::{Examples, OUTPUT, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::run::dataset_summary;
use super::run::format_output::{self, OutputRequest, RecordArgs};
use super::run::invocation::{Invocation, Nothing, RunOverrides, files_with};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum, ValueHint};
use comfy_table::{CellAlignment, Table, presets};
use lanefish::datasets::{Dedup, Deduplicated, Keep, Key};
use lanefish::formats;
use lanefish::input::{Inputs, Source};
use lanefish::jobs::{OutputContent, OutputFormat};
use lanefish::table::{Column, Kind};
use lanefish_core::text::numbers::{counted, grouped};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Keep one of several equal records, in the input order; without -o, count them
#[derive(Debug, Args)]
pub(crate) struct DedupArgs {
    /// What makes records equal
    #[arg(long, value_enum, value_name = "KEY", default_value_t = By::Position)]
    key: By,

    /// Which of several equal records is kept: first, last, most:COLUMN or least:COLUMN (ties: the first)
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = keep)]
    keep: Keep,

    /// Also leave out records that occur in these files
    #[arg(long, value_name = "FILE", num_args = 1.., value_hint = ValueHint::AnyPath)]
    against: Vec<PathBuf>,

    /// Add a column `count`: how often each record occurred
    #[arg(long)]
    counts: bool,

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

/// What makes records equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The pieces and their squares
    Board,
    /// Also the side to move
    Stm,
    /// Also castling rights
    Castling,
    /// Also en passant squares, if such a capture is legal
    Position,
    /// The position as the side to move sees it, with colours exchanged if Black is to move
    Relative,
    /// Every field
    Record,
}

impl By {
    fn key(self) -> Key {
        match self {
            Self::Board => Key::Board,
            Self::Stm => Key::Stm,
            Self::Castling => Key::Castling,
            Self::Position => Key::Position,
            Self::Relative => Key::Relative,
            Self::Record => Key::Record,
        }
    }
}

fn keep(text: &str) -> Result<Keep, String> {
    let column = |name: &str| {
        let column = Column::named(name).ok_or_else(|| format!("there is no column `{name}`"))?;
        match column.kind {
            Kind::Flag | Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 | Kind::I16 => Ok(column),
            _ => Err(format!("the column `{name}` does not hold numbers")),
        }
    };
    match text.split_once(':') {
        None if text == "first" => Ok(Keep::First),
        None if text == "last" => Ok(Keep::Last),
        Some(("most", name)) => column(name).map(Keep::Most),
        Some(("least", name)) => column(name).map(Keep::Least),
        _ => Err("expected first, last, most:COLUMN or least:COLUMN".to_owned()),
    }
}

impl RunCommand for DedupArgs {
    const EXAMPLES: Examples = &[
        ("How often positions are repeated", "lanefish dedup games.pgn.zst"),
        (
            "Each position once, with its deepest evaluation, and none of the test data",
            "lanefish dedup evals.jsonl.zst --keep most:depth --against test.boards -o unique.boards",
        ),
    ];
    const SCOPE: Scope = Scope::WRITES_RECORDS;

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.output.output.is_none() && self.to.is_none() {
            return self.count(invocation);
        }
        let format = format_output::format_of(self.to, &self.output)?;
        let reading = &self.read.reading;
        let (against, others) = self.others()?;
        let dedup = Dedup::default().key(self.key.key()).keep(self.keep.clone()).against(against).counts(self.counts);
        let mut deduplicated = Deduplicated::default();
        let (done, written) = format_output::write_by(
            invocation,
            (&self.read.inputs, reading),
            OutputContent::Records { fen: false },
            OutputRequest::records(&self.output, format, &self.write),
            &others,
            |inputs, options, job, sink| {
                let (summary, done) = dedup.run(inputs, options, job, sink)?;
                deduplicated = done;
                Ok(summary)
            },
        )?;
        if done.failure.is_none() {
            self.note(invocation, &deduplicated);
        }
        let status = dataset_summary::conclude(invocation, done, self.json, written, self.numbers(&deduplicated))?;
        Ok(status.max(status_of(&deduplicated)))
    }
}

impl DedupArgs {
    /// Reports how many records are kept.
    fn note(&self, invocation: &Invocation<'_>, done: &Deduplicated) {
        let duplicates = counted(done.compared - done.kept, "duplicate");
        let of = if self.against.is_empty() { "" } else { " of each other or of records of --against" };
        let kept = format!("{} of {} kept", grouped(done.kept), counted(done.compared, "record"));
        invocation.note(format_args!("{kept}, {duplicates}{of} left out"));
        if done.rejected_against > 0 {
            let bad = counted(done.rejected_against, "bad record");
            let were = if done.rejected_against == 1 { "was" } else { "were" };
            invocation.note(format_args!("--against: {bad} {were} not compared"));
        }
    }

    /// The name of the key.
    fn name(&self) -> String {
        self.key.to_possible_value().map_or_else(String::new, |key| key.get_name().to_owned())
    }

    /// The numbers for JSON.
    fn numbers(&self, done: &Deduplicated) -> [(&'static str, serde_json::Value); 2] {
        [("distinct", json!({ self.name(): done.kept })), ("duplicates", json!(done.compared - done.kept))]
    }

    /// The records with which the inputs are compared, and their files.
    fn others(&self) -> Result<(Inputs, Vec<Arc<Path>>)> {
        let (from, column) = (self.read.reading.from, self.read.reading.fen_column.as_deref());
        let is_read = |source: &Source| from.is_some() || formats::is_supported_with(source, column);
        let against = match &self.against[..] {
            [] => Inputs::default(),
            names => Inputs::resolve(names, is_read).context("--against")?,
        };
        let files = files_with(&against);
        Ok((against, files))
    }

    /// Counts the distinct records by one key, against other files if some are given.
    fn count_by_key(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let (against, _) = self.others()?;
        let reading = &self.read.reading;
        invocation.prepare(&self.read.inputs, reading)?;
        let dedup = Dedup::default().key(self.key.key()).against(against);
        let mut counted = Deduplicated::default();
        let done = invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, options| {
            let (summary, done) = dedup.run(inputs, options, &Nothing, |()| Ok(()))?;
            counted = done;
            Ok(summary)
        })?;
        if done.failure.is_none() && !self.json {
            print_table([(&*self.name(), counted.kept)], counted.compared)?;
        }
        if done.failure.is_none() {
            self.note(invocation, &counted);
        }
        let status = dataset_summary::conclude(invocation, done, self.json, 0, self.numbers(&counted))?;
        Ok(status.max(status_of(&counted)))
    }

    /// Counts the distinct records, by each key.
    fn count(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.counts {
            bail!("--counts is for an output: name a file with -o");
        }
        if !self.against.is_empty() || self.key == By::Relative {
            return self.count_by_key(invocation);
        }
        let reading = &self.read.reading;
        invocation.prepare(&self.read.inputs, reading)?;
        let dedup = Dedup::default();
        let mut distinct = lanefish::datasets::Distinct::default();
        let done = invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, options| {
            let (summary, counted) = dedup.count(inputs, options)?;
            distinct = counted;
            Ok(summary)
        })?;
        let counts = [
            ("board", distinct.board),
            ("stm", distinct.stm),
            ("castling", distinct.castling),
            ("position", distinct.position),
            ("record", distinct.record),
        ];
        let records = distinct.records;
        if done.failure.is_none() && !self.json {
            print_table(counts, records)?;
        }
        let distinct: serde_json::Map<_, _> =
            counts.map(|(key, count)| (key.to_owned(), json!(count))).into_iter().collect();
        let name = self.key.to_possible_value();
        let of_key = name.and_then(|name| counts.into_iter().find(|(key, _)| *key == name.get_name()));
        let (_, kept) = of_key.unwrap_or(("position", counts[3].1));
        let own = [("distinct", json!(distinct)), ("duplicates", json!(records - kept))];
        dataset_summary::conclude(invocation, done, self.json, 0, own)
    }
}

/// The exit status because of the files of `--against`.
const fn status_of(done: &Deduplicated) -> u8 {
    if done.rejected_against > 0 { SOMETHING_WRONG } else { 0 }
}

/// Prints the number of distinct records for each key.
fn print_table<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>, records: u64) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["key", "distinct", "duplicates"]);
    for (key, count) in counts {
        table.add_row([key.to_owned(), grouped(count), grouped(records - count)]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    super::print(format!("{table}\n").as_bytes())
}
