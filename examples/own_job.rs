//! A job of one's own: the squares on which kings are mated, who won these games, and how strong White was.
//!
//! A job says which queries the lanes answer about each position and what it reads of the records besides, and receives
//! positions with their results, a tile at a time, on many threads. What it makes of a chunk is its part; parts arrive in
//! the order of the input. Bad records are passed to a function of their own.
//!
//! ```console
//! $ cargo run --release --example own_job [FILE]...
//! ```

use lanefish::chess::Square;
use lanefish::error::Reject;
use lanefish::input::Inputs;
use lanefish::pipeline::{Job, RunOptions, run};
use lanefish::queries::Queries;
use lanefish::table::{Field, Fields, Needs, Tile};
use lanefish::tiers;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

/// A mate.
struct Mate {
    king: Square,
    /// The result of the game: 0 if Black won, 1 for a draw, 2 if White won; `None` if it is not known.
    result: Option<u8>,
    /// The rating of White.
    elo: Option<u16>,
}

/// Lists the mates.
struct Mates;

impl Job for Mates {
    type Part = Vec<Mate>;

    fn needs(&self) -> Needs {
        Needs::new(Queries::MOVES | Queries::CHECKERS, Fields::of(&[Field::Result, Field::WhiteElo]))
    }

    fn begin(&self) -> Vec<Mate> {
        Vec::new()
    }

    fn tile(&self, mates: &mut Vec<Mate>, tile: &Tile<'_>) {
        // The columns of the batch; `None` if no record of the batch has the field.
        let results = tile.batch.column::<u8>(Field::Result);
        let elos = tile.batch.column::<u16>(Field::WhiteElo);
        for record in tile.records() {
            if !record.checkers().is_empty() && record.legal().moves == 0 {
                let position = record.position();
                let (result, elo) = (results.and_then(|of| of.get(record.row)), elos.and_then(|of| of.get(record.row)));
                if let Some(king) = position.king(position.side_to_move) {
                    mates.push(Mate { king, result: result.copied(), elo: elo.copied() });
                }
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        files.push("data/sample.epd".into());
    }
    let inputs = Inputs::open(&files)?;

    // Each bad record, with its place and the reason.
    let mut on_reject = |reject: &Reject| {
        eprintln!("{reject}");
        Ok(())
    };
    let mut counts: BTreeMap<Square, u64> = BTreeMap::new();
    let (mut won_by_white, mut elos) = (0, Vec::new());
    let options = RunOptions::new(tiers::best()).threads(2).on_reject(Some(&mut on_reject));
    let summary = run(&inputs, options, &Mates, |mates| {
        for Mate { king, result, elo } in mates {
            *counts.entry(king).or_default() += 1;
            won_by_white += u64::from(result == Some(2));
            elos.extend(elo.map(u64::from));
        }
        Ok(())
    })?;

    println!("{} mates among {} positions", counts.values().sum::<u64>(), summary.accepted());
    println!("{won_by_white} of them in games that White won");
    if !elos.is_empty() {
        println!("mean rating of White: {}", elos.iter().sum::<u64>() / elos.len() as u64);
    }
    for (square, count) in counts {
        println!("{square}: {count}");
    }
    Ok(())
}
