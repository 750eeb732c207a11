//! `convert`: any input format to any output format, without silent loss.

use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::run::format_output::{self, OutputRequest, RecordArgs};
use super::run::invocation::Invocation;
use anyhow::Result;
use clap::Args;
use lanefish::jobs::{OutputContent, OutputFormat};

/// Convert any input format to any output format
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Format of the output [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", value_parser = super::arguments::value_parsers::OutputName)]
    to: Option<OutputFormat>,

    /// Also write a column `fen` to a Parquet or Arrow file
    #[cfg(feature = "parquet")]
    #[arg(long)]
    fen: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    write: RecordArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl ConvertArgs {
    pub(crate) fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let format = format_output::format_of(self.to, &self.output)?;
        #[cfg(feature = "parquet")]
        let fen = self.fen;
        #[cfg(not(feature = "parquet"))]
        let fen = false;
        let read = (&self.read.inputs[..], &self.read.reading);
        format_output::write(
            invocation,
            read,
            OutputContent::Records { fen },
            OutputRequest::records(&self.output, format, &self.write),
        )
    }
}
