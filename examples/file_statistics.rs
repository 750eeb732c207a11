//! Statistics of files of any format, compressed or not.
//!
//! ```console
//! $ cargo run --release --example file_statistics [FILE]...
//! ```

use lanefish::formats::is_supported;
use lanefish::input::Inputs;
use lanefish::jobs::Statistics;
use lanefish::pipeline::{RunOptions, run};
use lanefish::tiers;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        files.push("data/lichess-2025-05.pgn".into());
    }
    // Of directories, the files that some format claims.
    let inputs = Inputs::resolve(&files, is_supported)?;

    let threads = std::thread::available_parallelism()?.get();
    let options = RunOptions::new(tiers::best()).threads(threads);

    let statistics = Statistics::new();
    let summary = run(&inputs, options, &statistics, |counted| statistics.add(counted));
    for reject in &summary.first_rejects {
        eprintln!("{reject}");
    }
    // What was processed before a failure would be in the report as well.
    if let Some(failure) = summary.failure {
        return Err(failure.into());
    }

    let report = statistics.finish(summary.rejected, false)?;
    println!("{} positions, {} rejected", report.positions, report.rejected);
    let moves = report.legal_moves.summary();
    if let (Some(mean), Some(most)) = (moves.mean, moves.max) {
        println!("{mean:.2} legal moves on average, {most} at most");
    }
    println!(
        "in check: {}, checkmate: {}, stalemate: {}",
        report.position_counts.in_check, report.position_counts.checkmate, report.position_counts.stalemate
    );
    Ok(())
}
