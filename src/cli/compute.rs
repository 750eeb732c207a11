//! `compute`: one row per position, any columns, as text or as a table.

use super::arguments::command_scope::{Examples, OUTPUT, RunCommand};
use super::arguments::common_args::{OutputArgs, Reading};
use super::arguments::row_format_arg::{FOR_PEOPLE, RowForm, shown_or_written};
use super::arguments::second_file_args::{SecondFileArgs, push_names_of};
#[cfg(feature = "cluster")]
use super::run::cluster_output::ClusterOutputArgs;
use super::run::column_listing::{self, ListedColumn};
use super::run::format_output::{self, DivisionArgs, OutputRequest, WriteArgs};
use super::run::invocation::Invocation;
use anyhow::Result;
use clap::{Args, ValueEnum, ValueHint};
use lanefish::jobs::{Content, OutputContent};
use lanefish::output;
#[cfg(feature = "cluster")]
use lanefish::sql::cluster::PieceContent;
#[cfg(feature = "cluster")]
use lanefish::table::ChosenColumn;
use lanefish::table::{COLUMNS, Column, Columns, FAMILIES, LEGAL_MOVE_COLUMNS};
use std::path::PathBuf;

/// One row per position: legal moves, checks, attacks and any other column
#[derive(Debug, Args)]
pub(crate) struct ComputeArgs {
    /// Files, directories, zip archives, or - for standard input
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    inputs: Vec<PathBuf>,

    /// Columns to write, separated by commas; `all` for all of them, tag:NAME for any tag of games,
    /// folder:NAME for the value of a folder NAME=value
    #[arg(
        long,
        value_name = "NAMES",
        default_value = Columns::DEFAULT,
        hide_possible_values = true,
        value_parser = super::arguments::value_parsers::ColumnNames
    )]
    columns: String,

    /// List all columns with type and meaning
    #[arg(long)]
    list_columns: bool,

    /// With --list-columns, print one JSON array
    #[arg(long, requires = "list_columns")]
    json: bool,

    /// Notation for sets of squares and keys; in JSON lines, hex is a string and decimal a number
    #[arg(long, value_enum, value_name = "STYLE", default_value_t = SquareSetStyle::Hex)]
    masks: SquareSetStyle,

    /// Write sets of squares and keys as signed numbers with the same bits, in Parquet, Arrow and text: for engines without
    /// unsigned numbers, such as Spark
    #[arg(long, conflicts_with = "masks", hide_short_help = true)]
    signed_masks: bool,

    /// Format of the rows [default: from the name given with -o, else table on a terminal and csv elsewhere]
    ///
    /// A table is for people: aligned, and cut to the width of the terminal (80 columns if standard output is not one).
    /// Every other format has all columns and whole values.
    #[arg(long, value_name = "FORMAT", value_parser = shown_or_written(FOR_PEOPLE, Content::Rows), help_heading = OUTPUT)]
    format: Option<RowForm>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    division: DivisionArgs,

    #[command(flatten)]
    write: WriteArgs,

    #[cfg(feature = "cluster")]
    #[command(flatten)]
    cluster: ClusterOutputArgs,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    second: SecondFileArgs,
}

/// Notation for sets of squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SquareSetStyle {
    /// 0x and 16 hexadecimal digits
    Hex,
    /// Decimal digits
    Decimal,
}

impl From<SquareSetStyle> for output::SquareSetStyle {
    fn from(masks: SquareSetStyle) -> Self {
        match masks {
            SquareSetStyle::Hex => Self::Hex,
            SquareSetStyle::Decimal => Self::Decimal,
        }
    }
}

impl RunCommand for ComputeArgs {
    const EXAMPLES: Examples = &[
        (
            "Some columns of the first ten positions",
            "lanefish compute positions.epd --columns fen,legal_moves,in_check --limit 10",
        ),
        ("All columns, as compressed JSON lines", "lanefish compute games.pgn.zst --columns all -o rows.jsonl.zst"),
        (
            "Typed columns for DuckDB, Polars, pandas and others",
            "lanefish compute games.boards --columns all -o rows.parquet",
        ),
        ("From another program", "grep -v ' b ' a.fen | lanefish compute"),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.list_columns {
            return list_columns(self.json);
        }
        #[cfg(feature = "cluster")]
        self.cluster.check(&self.second)?;
        let mut beside = Vec::new();
        push_names_of(&self.columns, &mut beside);
        let output = self.output.output.as_deref();
        invocation.read_second(&self.second, (&self.inputs, &self.reading), beside, output)?;
        let columns = super::arguments::value_parsers::columns(&self.columns, &self.reading.chosen.definitions()?)?;
        let shown = RowForm::of(self.format, &self.output, Content::Rows)?;
        let masks = if self.signed_masks { output::SquareSetStyle::Signed } else { self.masks.into() };
        let written = OutputContent::Columns(&columns, masks);
        let kinds = columns.iter().map(|column| column.kind().into());
        let request = OutputRequest::shown(&self.output, shown, kinds, &self.write).divided(&self.division);
        let read = (&self.inputs[..], &self.reading);
        #[cfg(feature = "cluster")]
        if self.cluster.is_given() {
            let names: Vec<&str> = columns.iter().map(ChosenColumn::name).collect();
            let definitions = self.reading.chosen.definitions()?;
            let content = PieceContent::Columns { names: names.join(","), definitions, masks };
            return self.cluster.write(invocation, read, (written, content), request);
        }
        format_output::write(invocation, read, written, request)
    }
}

fn list_columns(json: bool) -> Result<u8> {
    let defaults: Vec<&str> = Columns::DEFAULT.split(',').collect();
    let listed = |column: &'static Column| ListedColumn {
        name: column.name,
        kind: column.kind.name(),
        meaning: column.meaning,
        subject: Some(column.subject()),
        is_default: defaults.contains(&column.name),
    };
    column_listing::print(&COLUMNS.iter().chain(LEGAL_MOVE_COLUMNS).map(listed).collect::<Vec<_>>(), &FAMILIES, json)
}
