//! The command line as a whole: the global options, and a command.

use super::args::Global;
use clap::{Parser, Subcommand};

/// Process chess positions in bulk, one board per SIMD lane.
#[derive(Debug, Parser)]
#[command(name = "lanefish", version, disable_version_flag = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    /// Print the version; with -v also what this CPU offers and which tier is used
    #[arg(short = 'V', long)]
    pub(crate) version: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands, one file each.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Stats(super::stats::StatsArgs),
    Compute(super::compute::ComputeArgs),
    Convert(super::convert::ConvertArgs),
    Shuffle(super::shuffle::ShuffleArgs),
    Dedup(super::dedup::DedupArgs),
    Split(super::split::SplitArgs),
    Interleave(super::interleave::InterleaveArgs),
    Games(super::games::GamesArgs),
    Show(super::show::ShowArgs),
    #[cfg(feature = "sql")]
    Sql(super::sql::SqlArgs),
    #[cfg(feature = "cluster")]
    Cluster(super::cluster::ClusterArgs),
    Perft(super::perft::PerftArgs),
    Bench(super::bench::BenchArgs),
    Generate(super::generate::GenerateArgs),
    Verify(super::verify::VerifyArgs),
    Info(super::info::InfoArgs),
    Completions(super::completions::CompletionsArgs),
    Man(super::man::ManArgs),
}
