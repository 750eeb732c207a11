//! Perft: counting the move tree below a position, the classical test of a move generator.

use super::moves::Move;
use super::position::Position;

/// The number of sequences of `depth` legal moves. The last ply is counted, not played.
///
/// ```
/// use lanefish_core::chess::{Position, perft};
/// assert_eq!(perft::perft(&mut Position::standard(), 3), 8902);
/// ```
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => u64::from(position.count_legal_moves()),
        _ => {
            let mut nodes = 0;
            for &mv in &position.legal_moves() {
                let undo = position.make(mv);
                nodes += perft(position, depth - 1);
                position.unmake(mv, undo);
            }
            nodes
        }
    }
}

/// [`perft`] split by the first move; empty at depth 0.
pub fn divide(position: &mut Position, depth: u32) -> Vec<(Move, u64)> {
    if depth == 0 {
        return Vec::new();
    }
    let moves = position.legal_moves();
    let count = |&mv: &Move| {
        let undo = position.make(mv);
        let nodes = perft(position, depth - 1);
        position.unmake(mv, undo);
        (mv, nodes)
    };
    moves.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_counts() {
        for (fen, counts) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", &[1, 20, 400, 8902, 197_281][..]),
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", &[1, 48, 2039, 97_862]),
            ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", &[1, 14, 191, 2812, 43_238, 674_624]),
            ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", &[1, 6, 264, 9467, 422_333]),
        ] {
            let mut position = Position::from_fen_unvalidated(fen).unwrap();
            for (depth, &count) in counts.iter().enumerate() {
                assert_eq!(perft(&mut position, depth as u32), count, "{fen} {depth}");
            }
            let depth = counts.len() as u32 - 1;
            let split: u64 = divide(&mut position, depth).iter().map(|(_, n)| n).sum();
            assert_eq!(split, counts[depth as usize]);
        }
    }
}
