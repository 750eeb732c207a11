//! A large, shuffled set of real positions for the benchmarks: on a small set that the branch predictor learns, branchy
//! code looks up to three times faster.

use lanefish::chess::Position;
use lanefish::chess::fen::{self, FenOptions};
use lanefish::chess::random::{Random, RandomPlay, Start};

#[allow(dead_code, reason = "of what tests need, a benchmark only needs the folder")]
#[path = "../../src/testing.rs"]
mod testing;

/// Half a million openings, middlegames and endgames of the shared sample sets, or as many positions of random play if
/// those are missing.
pub(crate) fn shuffled() -> Vec<Position> {
    let directory = testing::shared_folder().join("epd");
    let names = [
        "popularpos_lichess_v3.epd.zst",
        "UHO_4060_v2.half_a.epd.zst",
        "endgames.half_a.epd.zst",
        "noob_3moves.epd.zst",
    ];
    let mut positions = Vec::new();
    for name in names {
        if let Ok(packed) = std::fs::read(directory.join(name)) {
            let text = zstd::decode_all(&packed[..]).expect("a zstd file");
            for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                let read = fen::parse(line, FenOptions::default()).expect("FEN");
                positions.push(read.position);
            }
        }
    }
    if positions.is_empty() {
        let play = RandomPlay::new(1, Start::Standard);
        positions.extend(play.take(500_000).map(|step| step.position));
    }
    let mut random = Random::new(2);
    for end in (1..positions.len()).rev() {
        positions.swap(end, random.below(end as u32 + 1) as usize);
    }
    positions
}
