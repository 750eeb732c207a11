//! `games`: one row per game, or the games themselves.

use super::args::{OutputArgs, ReadArgs};
use super::invocation::Invocation;
use super::write::{self, Wanted, WriteArgs};
use anyhow::Result;
use clap::Args;
use lanefish::jobs::{Content, OutputFormat, Written};

/// One row per game (tags, plies, result, final position, whether that is checkmate or stalemate), or the games as PGN
#[derive(Debug, Args)]
pub(crate) struct GamesArgs {
    /// Format of the output; jsonl has all tags of the games, pgn copies the games unchanged [default: from the name
    /// given with -o, else csv]
    #[arg(long, value_name = "FORMAT", value_parser = super::choice::game_formats())]
    format: Option<OutputFormat>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    write: WriteArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl GamesArgs {
    pub(crate) fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        self.read.reading.chosen.check_of_games()?;
        let format = write::format_of(self.format, &self.output, Content::Games)?;
        let read = (&self.read.inputs[..], &self.read.reading);
        write::write(invocation, read, Written::Games, Wanted::rows(&self.output, format, &self.write))
    }
}
