//! `games`: one row per game.

use super::args::{OutputArgs, ReadArgs};
use super::invocation::Invocation;
use super::write::{self, TableArgs};
use anyhow::Result;
use clap::Args;
use lanefish::jobs::{Content, OutputFormat, Written};

/// One row per game: tags, plies, result, final position, and whether that is checkmate or stalemate
#[derive(Debug, Args)]
pub(crate) struct GamesArgs {
    /// Format of the rows; jsonl has all tags of the games [default: from the name given with -o, else csv]
    #[arg(long, value_name = "FORMAT", value_parser = super::choice::row_formats())]
    format: Option<OutputFormat>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl GamesArgs {
    pub(crate) fn run(&self, session: &Invocation<'_>) -> Result<u8> {
        let format = write::format_of(self.format, &self.output, Content::Rows)?;
        let read = (&self.read.inputs[..], &self.read.reading);
        write::write(session, read, Written::Games, (&self.output, format, &self.table))
    }
}
