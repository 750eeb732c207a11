//! `compute`: one row per position, any columns, as text or as a table.

use super::args::{OutputArgs, Reading};
use super::invocation::Invocation;
use super::write::{self, Wanted, WriteArgs};
use anyhow::Result;
use clap::{Args, ValueEnum};
use comfy_table::{ContentArrangement, Table, presets};
use lanefish::jobs::{Content, OutputFormat, Written};
use lanefish::output::rows;
use lanefish::table::{COLUMNS, Columns, TAGS};
use serde_json::json;
use std::path::PathBuf;

/// One row per position: legal moves, checks, attacks and any other column
#[derive(Debug, Args)]
pub(crate) struct ComputeArgs {
    /// Files, directories, zip archives, or - for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Columns to write, separated by commas; `all` for all of them, tag:NAME for any tag of games
    #[arg(
        long,
        value_name = "NAMES",
        default_value = Columns::DEFAULT,
        hide_possible_values = true,
        value_parser = super::choice::ColumnNames
    )]
    columns: String,

    /// List all columns with type and meaning
    #[arg(long)]
    list_columns: bool,

    /// With --list-columns, print one JSON array
    #[arg(long, requires = "list_columns")]
    json: bool,

    /// Notation for sets of squares and keys; in JSON lines, hex is a string and decimal a number
    #[arg(long, value_enum, value_name = "STYLE", default_value_t = Masks::Hex)]
    masks: Masks,

    /// Format of the rows [default: from the name given with -o, else csv]
    #[arg(long, value_name = "FORMAT", value_parser = super::choice::row_formats())]
    format: Option<OutputFormat>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    write: WriteArgs,

    #[command(flatten)]
    reading: Reading,
}

/// Notation for sets of squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Masks {
    /// 0x and 16 hexadecimal digits
    Hex,
    /// Decimal digits
    Decimal,
}

impl From<Masks> for rows::Masks {
    fn from(masks: Masks) -> Self {
        match masks {
            Masks::Hex => Self::Hex,
            Masks::Decimal => Self::Decimal,
        }
    }
}

impl ComputeArgs {
    pub(crate) fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.list_columns {
            return list_columns(self.json);
        }
        let columns = super::choice::columns(&self.columns, &self.reading.chosen.definitions()?)?;
        let format = write::format_of(self.format, &self.output, Content::Rows)?;
        let written = Written::Columns(&columns, self.masks.into());
        write::write(
            invocation,
            (&self.inputs, &self.reading),
            written,
            Wanted::rows(&self.output, format, &self.write),
        )
    }
}

/// Name, type and meaning of each column; the last entry stands for all tags.
fn listing() -> impl Iterator<Item = [&'static str; 3]> {
    let columns = COLUMNS.iter();
    columns.map(|column| [column.name, column.kind.name(), column.meaning]).chain([[
        TAGS.pattern,
        TAGS.kind.name(),
        TAGS.meaning,
    ]])
}

fn list_columns(json: bool) -> Result<u8> {
    if json {
        let defaults: Vec<&str> = Columns::DEFAULT.split(',').collect();
        let columns: Vec<String> = listing()
            .map(|[name, kind, meaning]| {
                let object = json!({
                    "name": name,
                    "type": kind,
                    "meaning": meaning,
                    "default": defaults.contains(&name),
                });
                format!("  {object}")
            })
            .collect();
        super::print(format!("[\n{}\n]\n", columns.join(",\n")).as_bytes())?;
        return Ok(0);
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(["column", "type", "meaning"]);
    for column in listing() {
        table.add_row(column);
    }
    super::print(format!("{table}\n").as_bytes())?;
    Ok(0)
}
