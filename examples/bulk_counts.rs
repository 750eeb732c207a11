//! Legal moves of many positions in memory, counted in bulk.
//!
//! ```console
//! $ cargo run --release --example bulk_counts [FILE OF FENS]
//! ```

use lanefish::Boards;
use lanefish::chess::Position;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "data/sample.epd".to_owned());
    let text = std::fs::read_to_string(path)?;
    // Lines with `#` are comments.
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let positions = lines.map(|(line, number)| {
        // The four fields of EPD suffice; clocks and operations do not matter here.
        let fen = line.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
        fen.parse::<Position>().map_err(|error| format!("line {number}: {error}"))
    });
    let boards: Boards = positions.collect::<Result<_, _>>()?;

    let start = Instant::now();
    let counts = boards.legal_move_counts();
    let seconds = start.elapsed().as_secs_f64();

    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    println!("{} positions have {total} legal moves, counted in {seconds:.6} s", boards.len());
    if let Some((most, position)) = counts.iter().zip(boards.iter()).max_by_key(|(count, _)| **count) {
        println!("{most} of them in {position}");
    }
    Ok(())
}
