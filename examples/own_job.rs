//! A job of one's own: the squares on which kings are mated.
//!
//! A job says which queries the lanes answer about each position and what it reads of the records besides, and receives
//! positions with their results, a tile at a time, on many threads. What it makes of a chunk is its part; parts arrive in
//! the order of the input.
//!
//! ```console
//! $ cargo run --release --example own_job [FILE]...
//! ```

use lanefish::chess::Square;
use lanefish::input::Inputs;
use lanefish::pipeline::{Job, RunOptions, run};
use lanefish::queries::Queries;
use lanefish::table::{Fields, Tile};
use lanefish::tiers;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

/// Lists the squares of mated kings.
struct MatedKings;

impl Job for MatedKings {
    type Part = Vec<Square>;

    fn queries(&self) -> Queries {
        Queries::MOVES | Queries::CHECKERS
    }

    /// Only positions are needed: no scores, no names of players.
    fn fields(&self) -> Fields {
        Fields::NONE
    }

    fn begin(&self) -> Vec<Square> {
        Vec::new()
    }

    fn tile(&self, mated: &mut Vec<Square>, tile: &Tile<'_>) {
        for record in tile.records() {
            let is_check = record.results.checkers[record.lane] != 0;
            if is_check && record.results.legal(record.lane).moves == 0 {
                let position = record.position();
                mated.extend(position.king(position.side_to_move));
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        files.push("data/sample.epd".into());
    }
    let inputs = Inputs::resolve(&files, |_| true)?;

    let mut counts: BTreeMap<Square, u64> = BTreeMap::new();
    let options = RunOptions::new(tiers::best()).threads(2);
    let summary = run(&inputs, options, &MatedKings, |mated| {
        for square in mated {
            *counts.entry(square).or_default() += 1;
        }
        Ok(())
    });
    if let Some(failure) = summary.failure {
        return Err(failure.into());
    }

    println!("{} mates among {} positions", counts.values().sum::<u64>(), summary.accepted());
    for (square, count) in counts {
        println!("{square}: {count}");
    }
    Ok(())
}
