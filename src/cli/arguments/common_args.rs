//! The arguments of the command line, and their values.
//!
//! The structures with `clap` attributes hold the arguments as typed. Before any work, a command turns them into
//! checked values (an analyzer that this CPU has, a number of threads, …), so that errors in the arguments are reported
//! at once and with exit status 2.

use super::command_scope::{OUTPUT, READING};
use super::number_args::{count, record_size, size};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum, ValueHint};
use lanefish::formats::Format;
use lanefish::pipeline::Shard;
use std::path::PathBuf;

/// Options of every command, before or after it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Instruction set to use, for everything lanefish does [default: the variable LANEFISH_TIER, else auto]
    #[arg(long, global = true, value_name = "TIER", value_parser = tier_parser(), hide_short_help = true)]
    tier: Option<TierChoice>,

    /// Worker threads [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    #[command(flatten)]
    pub(crate) records: RecordChecks,

    /// Replace existing output files
    #[arg(long, global = true)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) input: InputLimits,

    /// Progress bar on standard error
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub(crate) progress: When,

    /// Colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub(crate) color: When,

    /// Print less: no notes, no list of rejected records
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Which records are good, and what becomes of the others.
#[derive(Debug, Args)]
pub(crate) struct RecordChecks {
    /// Which positions are accepted [default: playable; for verify: strict]
    #[arg(long, global = true, value_name = "LEVEL", hide_short_help = true)]
    pub(crate) validity: Option<ValidityChoice>,

    /// Stop at the first bad record
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) strict: bool,

    /// Write every rejected record to this file, with its place and reason
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) rejects: Option<PathBuf>,
}

/// Which part of the inputs is read, and how.
#[derive(Debug, Args)]
pub(crate) struct InputLimits {
    /// Read only share I of N of each input, I from 0 to N-1
    ///
    /// Every record is in exactly one share, whatever the number of threads. In boards files, uncompressed text and
    /// zstd files with several frames, reading starts in the middle. Parquet and Arrow files are divided by row groups
    /// and record batches. Other inputs are read from start to end for every share. Records and games are numbered
    /// within the shard; rejected records are listed by byte offset, without a line number. --skip and --limit count
    /// the records of the shard.
    #[arg(long, global = true, value_name = "I/N", hide_short_help = true)]
    pub(crate) shard: Option<Shard>,

    /// Skip the first N records
    #[arg(long, global = true, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = count)]
    pub(crate) skip: u64,

    /// Stop after N records (not counting skipped ones)
    #[arg(long, global = true, value_name = "N", value_parser = count)]
    pub(crate) limit: Option<u64>,

    /// Read files instead of memory-mapping them
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_mmap: bool,

    /// Longest line or game to accept; longer ones are rejected [default: 16M]
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        default_value = "16M",
        hide_default_value = true,
        value_parser = record_size,
        hide_short_help = true
    )]
    pub(crate) max_record: usize,

    /// Largest zstd window to accept (a file compressed with `zstd --long=N` needs 2^N bytes) [default: 128M]
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        default_value = "128M",
        hide_default_value = true,
        value_parser = size,
        hide_short_help = true
    )]
    pub(crate) max_window: u64,

    /// Maximum memory for unpacked parts of Parquet and Arrow files [default: 1G]
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        default_value = "1G",
        hide_default_value = true,
        value_parser = size,
        hide_short_help = true
    )]
    pub(crate) max_memory: u64,

    /// Accept only what the PGN standard allows; by default common deviations are accepted
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) strict_pgn: bool,
}

impl Global {
    /// The tier that `--tier` names or, without it, the variable `LANEFISH_TIER`.
    pub(crate) fn tier(&self) -> anyhow::Result<TierChoice> {
        if let Some(choice) = self.tier {
            return Ok(choice);
        }
        let Some(name) = std::env::var_os(TIER_VARIABLE).filter(|name| !name.is_empty()) else {
            return Ok(TierChoice::Auto);
        };
        let name = name.to_string_lossy();
        if name == AUTO {
            return Ok(TierChoice::Auto);
        }
        name.parse().map(TierChoice::Only).map_err(|error| anyhow::anyhow!("{TIER_VARIABLE}: {error}"))
    }
}

/// The variable that names a tier if `--tier` is not given.
const TIER_VARIABLE: &str = "LANEFISH_TIER";
/// The best tier that the CPU can run.
const AUTO: &str = "auto";

/// The tier, as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TierChoice {
    Auto,
    Only(lanefish::tiers::Tier),
}

fn tier_parser() -> impl TypedValueParser<Value = TierChoice> {
    let names = std::iter::once(PossibleValue::new(AUTO))
        .chain(lanefish::tiers::Tier::all().map(|tier| PossibleValue::new(tier.name())));
    PossibleValuesParser::new(names).map(|name| name.parse().map_or(TierChoice::Auto, TierChoice::Only))
}

/// Auto, always or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    Always,
    Never,
}

/// The validity level, as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValidityChoice {
    /// Every position from which play can continue
    Playable,
    /// Only positions that a game can reach, as far as can be decided
    Strict,
}

/// Options shared by commands that read positions.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Files, directories, zip archives, or - for standard input [default: standard input, if a file or a non-empty
    /// pipe]
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How positions are read.
#[derive(Debug, Default, Args)]
pub(crate) struct Reading {
    /// Format of the inputs [default: detected from their content, then from their names]
    #[arg(long, value_name = "FORMAT", value_parser = super::value_parsers::FormatName, help_heading = READING)]
    pub(crate) from: Option<Format>,

    /// Column of tables (Parquet, Arrow, CSV, JSON lines) that holds the positions as FEN [default: board, then fen]
    #[arg(long, value_name = "NAME", help_heading = READING, hide_short_help = true)]
    pub(crate) fen_column: Option<String>,

    /// Column of Parquet and Arrow tables that holds the moves of games, which makes each row a game
    #[arg(long, value_name = "NAME", help_heading = READING, hide_short_help = true, conflicts_with = "fen_column")]
    pub(crate) moves_column: Option<String>,

    /// Column of such tables that holds the FENs of the positions in which games begin
    #[arg(long, value_name = "NAME", help_heading = READING, hide_short_help = true, conflicts_with = "fen_column")]
    pub(crate) start_column: Option<String>,

    /// Keep en passant squares as given, even if no such capture is legal
    #[arg(long, help_heading = READING, hide_short_help = true)]
    pub(crate) keep_en_passant: bool,

    #[command(flatten)]
    pub(crate) games: super::game_filter_args::GameFilterArgs,

    #[command(flatten)]
    pub(crate) chosen: super::record_filter_args::RecordFilterArgs,

    #[command(flatten)]
    pub(crate) space: super::memory_args::SpaceArgs,
}

/// The output of a command.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write to this file instead of standard output; it appears whole or not at all, and is compressed if its name
    /// ends in .zst, .gz or .bz2
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,

    /// Compression level [default: 3 for .zst, 6 for .gz, 9 for .bz2]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = OUTPUT)]
    pub(crate) level: Option<i32>,
}
