//! `compute`: one row per position, any columns, as CSV or JSON lines.

use super::args::{OutputArgs, Reading};
use super::output::extension;
use super::session::{Run, Session};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use comfy_table::{ContentArrangement, Table, presets};
use lanefish::block::Group;
use lanefish::columns::{COLUMNS, Columns, Row};
use lanefish::output::csv::Csv;
use lanefish::output::jsonl::JsonLines;
use lanefish::output::rows::RowFormat;
use lanefish::pipeline::{Job, Tile};
use lanefish::tiers::Wanted;
use serde_json::json;
use std::path::PathBuf;

/// One row per position: legal moves, checks, attacks and any other column
#[derive(Debug, Args)]
pub(crate) struct ComputeArgs {
    /// Files, directories, or - for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Columns to write, separated by commas; `all` for all of them
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

    /// With --list-columns, one JSON array
    #[arg(long, requires = "list_columns")]
    json: bool,

    /// Format of the rows [default: from the name given with -o, else csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Rows>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    reading: Reading,
}

/// The formats that rows can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// A header line and comma-separated values
    Csv,
    /// One JSON object a line
    Jsonl,
}

impl Rows {
    fn format(self) -> &'static dyn RowFormat {
        match self {
            Self::Csv => &Csv,
            Self::Jsonl => &JsonLines,
        }
    }
}

/// Formats rows.
struct Format<'a> {
    columns: &'a Columns,
    rows: &'static dyn RowFormat,
}

impl Job for Format<'_> {
    type Output = Vec<u8>;
    fn wanted(&self) -> Wanted {
        self.columns.wanted()
    }
    fn begin(&self) -> Vec<u8> {
        Vec::new()
    }
    fn tile(&self, text: &mut Vec<u8>, tile: Tile<'_>) {
        for record in tile.rows() {
            let results = &tile.results[(record - tile.start) / Group::LEN];
            self.rows
                .row(self.columns, &Row::new(tile.batch, record, results), text);
        }
    }
}

impl ComputeArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        if self.list_columns {
            return list_columns(self.json);
        }
        let columns = Columns::named(&self.columns)?;
        let rows = self.rows()?.format();
        session.prepare(&self.inputs, &self.reading)?;
        let mut output = session.open_output(&self.output)?;
        let mut header = Vec::new();
        rows.header(&columns, &mut header);
        output.put(&header)?;
        let run = Run {
            fields: columns.fields(),
            ..Run::default()
        };
        let job = Format {
            columns: &columns,
            rows,
        };
        let done = session.read(&self.inputs, &self.reading, run, &job, |text| {
            output.put(&text)
        })?;
        if done.summary.failure.is_none() {
            session.commit(Some(output))?;
        }
        session.conclude(done.summary)
    }

    fn rows(&self) -> Result<Rows> {
        if let Some(rows) = self.format {
            return Ok(rows);
        }
        let Some(path) = &self.output.output else {
            return Ok(Rows::Csv);
        };
        match extension(path).as_deref() {
            Some("csv") => Ok(Rows::Csv),
            Some("jsonl" | "ndjson" | "json") => Ok(Rows::Jsonl),
            _ => bail!(
                "cannot infer a format from '{}'; use .csv or .jsonl, or pass --format",
                path.display()
            ),
        }
    }
}

fn list_columns(json: bool) -> Result<u8> {
    if json {
        let defaults: Vec<&str> = Columns::DEFAULT.split(',').collect();
        let columns: Vec<String> = COLUMNS
            .iter()
            .map(|column| {
                let object = json!({
                    "name": column.name,
                    "type": column.kind.name(),
                    "meaning": column.meaning,
                    "default": defaults.contains(&column.name),
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
    for column in COLUMNS {
        table.add_row([column.name, column.kind.name(), column.meaning]);
    }
    super::print(format!("{table}\n").as_bytes())?;
    Ok(0)
}
