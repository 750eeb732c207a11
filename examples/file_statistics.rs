//! Statistics of files of any format, compressed or not, and of directories and archives of them.
//!
//! ```console
//! $ cargo run --release --example file_statistics [FILE]...
//! ```

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        files.push("data/lichess-2025-05.pgn".into());
    }
    let (report, summary) = lanefish::stats(&files, &lanefish::Options::default())?;
    for reject in &summary.first_rejects {
        eprintln!("{reject}");
    }
    println!("{} positions, {} rejected", report.positions, report.rejected);
    let moves = report.legal_moves.summary();
    if let (Some(mean), Some(most)) = (moves.mean, moves.max) {
        println!("{mean:.2} legal moves on average, {most} at most");
    }
    let counts = report.position_counts;
    println!("in check: {}, checkmate: {}, stalemate: {}", counts.in_check, counts.checkmate, counts.stalemate);
    Ok(())
}
