//! The positions of the rows.

use lanefish::chess::Position;
use lanefish::chess::random::Random;
use lanefish::packed::{Group, Packed};

/// The default positions; the first lines of the file name their source.
const SAMPLE: &str = include_str!("../../../data/lichess-2025-05.epd");

/// The 2,000 real positions that come with the crate.
pub(crate) fn sample_positions() -> Vec<Position> {
    SAMPLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Position::from_fen_unvalidated(line).ok())
        .collect()
}

/// Exactly `len` positions, deterministic. If there are fewer, random legal moves are played from each, because a
/// branch predictor would learn repeated positions.
pub(crate) fn follow_up(positions: &[Position], len: usize) -> Vec<Position> {
    let mut random = Random::new(4);
    let mut positions = match positions {
        [] => sample_positions(),
        some => some[..some.len().min(len)].to_vec(),
    };
    for at in 0..len - positions.len().min(len) {
        let mut next = positions[at].clone();
        let moves = next.legal_moves();
        if !moves.is_empty() {
            next.make(moves[random.below(moves.len() as u32) as usize]);
        }
        positions.push(next);
    }
    positions.truncate(len);
    positions
}

/// The positions in groups, without those that have no packed form or do not fill a group.
pub(crate) fn groups_of(positions: &[Position]) -> (Vec<Position>, Vec<Group>) {
    let mut kept = Vec::new();
    let mut boards = Vec::new();
    for position in positions {
        if let Ok(board) = Packed::pack(position) {
            kept.push(position.clone());
            boards.push(board);
        }
    }
    let groups: Vec<Group> = boards
        .chunks_exact(Group::LEN)
        .map(|boards| {
            let mut group = Group::default();
            for (lane, &board) in boards.iter().enumerate() {
                group.set(lane, board);
            }
            group
        })
        .collect();
    kept.truncate(groups.len() * Group::LEN);
    (kept, groups)
}

/// One number that depends on all results of a position and on their order.
pub(crate) fn digest(results: impl IntoIterator<Item = u64>) -> u64 {
    results.into_iter().fold(0, |digest, result| {
        // 2^64 / golden ratio, rounded to an odd number.
        let mixed = (digest ^ result).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ mixed >> 32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_complete() {
        assert_eq!(sample_positions().len(), 2000);
    }

    #[test]
    fn exactly_the_requested_number() {
        let mate = "7k/6Q1/5K2/8/8/8/8/8 b - - 0 1";
        let some = [Position::standard(), Position::from_fen_unvalidated(mate).unwrap()];
        for len in [0, 1, 2, 3, 100] {
            assert_eq!(follow_up(&some, len).len(), len);
            assert_eq!(follow_up(&[], len).len(), len);
        }
        assert_eq!(follow_up(&some, 2), some);
        assert_ne!(follow_up(&some, 3)[2], some[0]);
        assert_eq!(follow_up(&some, 4)[3], some[1]);
        let (kept, groups) = groups_of(&follow_up(&some, 17));
        assert_eq!((kept.len(), groups.len()), (16, 2));
    }
}
