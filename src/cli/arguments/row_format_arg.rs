//! The form of rows: a table for people, or a format that programs read.

use super::common_args::OutputArgs;
use super::value_parsers::values_of;
use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lanefish::jobs::{Content, OutputFormat};
use std::io::{self, IsTerminal};
use std::path::Path;

/// The form of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowForm {
    /// A table for people.
    Table,
    /// All rows, in this format.
    Rows(OutputFormat),
}

/// The description of a table without a limit of rows.
pub(crate) const FOR_PEOPLE: &str = "For people: aligned, and cut to the width of the terminal";

/// The name of the table for people.
const TABLE: &str = "table";

/// A table, or a format that this content can be written in.
pub(crate) fn shown_or_written(table: &'static str, content: Content) -> impl TypedValueParser<Value = RowForm> {
    let table = PossibleValue::new(TABLE).help(table);
    let values: Vec<PossibleValue> = std::iter::once(table).chain(values_of(content)).collect();
    PossibleValuesParser::new(values).try_map(move |name| match &*name {
        TABLE => Ok(RowForm::Table),
        name => OutputFormat::named(name, content).map(RowForm::Rows),
    })
}

impl RowForm {
    /// The form of an output: as given, or else from the name of the file; on standard output a table for a terminal
    /// and CSV elsewhere.
    pub(crate) fn of(given: Option<Self>, args: &OutputArgs, content: Content) -> Result<Self> {
        let path = args.output.as_deref().filter(|path| *path != Path::new("-"));
        match (given, path) {
            (Some(Self::Table), Some(_)) => {
                bail!("--format table is for people; a file is .csv, .jsonl, .parquet or .arrow")
            }
            (Some(shown), _) => Ok(shown),
            (None, Some(path)) => Ok(Self::Rows(OutputFormat::of_path(path, content)?)),
            (None, None) if io::stdout().is_terminal() => Ok(Self::Table),
            (None, None) => Ok(Self::Rows(OutputFormat::Csv)),
        }
    }
}
