//! The command line as a whole: the global options, and a command.

use super::common_args::Global;
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
    Stats(crate::cli::stats::StatsArgs),
    Compute(crate::cli::compute::ComputeArgs),
    Convert(crate::cli::convert::ConvertArgs),
    Shuffle(crate::cli::shuffle::ShuffleArgs),
    Dedup(crate::cli::dedup::DedupArgs),
    Split(crate::cli::split::SplitArgs),
    Interleave(crate::cli::interleave::InterleaveArgs),
    Games(crate::cli::games::GamesArgs),
    Show(crate::cli::show::ShowArgs),
    #[cfg(feature = "sql")]
    Sql(crate::cli::sql::SqlArgs),
    #[cfg(feature = "cluster")]
    Cluster(crate::cli::cluster::ClusterArgs),
    Perft(crate::cli::perft::PerftArgs),
    Bench(crate::cli::bench::BenchArgs),
    Generate(crate::cli::generate::GenerateArgs),
    Verify(crate::cli::verify::VerifyArgs),
    Info(crate::cli::info::InfoArgs),
    Completions(crate::cli::completions::CompletionsArgs),
    Man(crate::cli::man::ManArgs),
}
