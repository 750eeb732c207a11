//! `convert`: any input format to any output format, without silent loss.

use super::arguments::command_scope::{Examples, OUTPUT, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::arguments::second_file_args::SecondFileArgs;
#[cfg(feature = "cluster")]
use super::run::cluster_output::ClusterOutputArgs;
use super::run::format_output::{self, DivisionArgs, OutputRequest, RecordArgs};
use super::run::invocation::Invocation;
use anyhow::Result;
use clap::Args;
use lanefish::jobs::{OutputContent, OutputFormat};
#[cfg(feature = "cluster")]
use lanefish::sql::cluster::PieceContent;

/// Convert any input format to any output format
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Format of the output [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", value_parser = super::arguments::value_parsers::OutputName, help_heading = OUTPUT)]
    to: Option<OutputFormat>,

    /// Also write a column `fen` to a Parquet or Arrow file
    #[cfg(feature = "parquet")]
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    fen: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    division: DivisionArgs,

    #[command(flatten)]
    write: RecordArgs,

    #[cfg(feature = "cluster")]
    #[command(flatten)]
    cluster: ClusterOutputArgs,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    second: SecondFileArgs,
}

impl RunCommand for ConvertArgs {
    const EXAMPLES: Examples = &[
        ("Pack once, then read at disk speed", "lanefish convert games.pgn.zst -o games.boards"),
        ("Back to text, with strong compression", "lanefish convert games.boards -o games.fen.zst --level 19"),
        (
            "Scores of another engine from a second file",
            "lanefish convert a.boards --zip new.jsonl --set 'score = \"zip:score\"' -o c.boards",
        ),
        ("Good records to one file, bad ones to another", "lanefish convert mixed.epd -o good.epd --rejects bad.txt"),
    ];
    const SCOPE: Scope = Scope::WRITES_RECORDS;

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let format = format_output::format_beside("convert", self.to, &self.output, &self.read.inputs)?;
        #[cfg(feature = "parquet")]
        let fen = self.fen;
        #[cfg(not(feature = "parquet"))]
        let fen = false;
        let read = (&self.read.inputs[..], &self.read.reading);
        #[cfg(feature = "cluster")]
        self.cluster.check(&self.second)?;
        invocation.read_second(&self.second, read, Vec::new(), self.output.output.as_deref())?;
        let written = OutputContent::Records { fen };
        let request = OutputRequest::records(&self.output, format, &self.write).divided(&self.division);
        #[cfg(feature = "cluster")]
        if self.cluster.is_given() {
            return self.cluster.write(invocation, read, (written, PieceContent::Records { fen }), request);
        }
        format_output::write(invocation, read, written, request)
    }
}
