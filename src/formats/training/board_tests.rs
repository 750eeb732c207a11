//! Yes-or-no questions about the boards of a tile, answered for eight boards at once.
//!
//! Writers check every record for things that their format does not keep, although few records have any. So these
//! questions are answered in lanes, straight from the planes.

use crate::packed::Planes;
use crate::simd::nibbles::{Bits, Isa, Work};
use crate::simd::{Lanes, Simd};
use crate::table::Tile;
use std::marker::PhantomData;

const RANK_1: u64 = 0xFF;
const RANK_8: u64 = 0xFF << 56;
const RANK_6: u64 = 0xFF << 40;
/// Ranks 3 and 6, where a sentinel bit marks an en passant square.
pub(in crate::formats) const EN_PASSANT_RANKS: u64 = 0x0000_FF00_00FF_0000;
const CORNERS: u64 = 0x8100_0000_0000_0081;
const E1: u64 = 1 << 4;
const E8: u64 = 1 << 60;

/// A question about a board.
pub(in crate::formats) trait Fact {
    /// Nonzero in the lanes for which the answer is yes.
    fn of<S: Simd>(simd: S, planes: &Planes<S::Lanes>) -> S::Lanes;
}

/// Black is to move.
pub(in crate::formats) struct BlackToMove;
/// There are castling rights.
pub(in crate::formats) struct HasCastling;
/// There are castling rights that standard chess does not have: the king is not on the e-file, or the rook is not in a
/// corner.
pub(in crate::formats) struct HasChess960Castling;
/// There is an en passant square.
pub(in crate::formats) struct HasEnPassant;

impl Fact for BlackToMove {
    #[inline(always)]
    fn of<S: Simd>(simd: S, planes: &Planes<S::Lanes>) -> S::Lanes {
        planes.color & !(planes.occupied() | simd.splat(RANK_6))
    }
}

impl Fact for HasCastling {
    #[inline(always)]
    fn of<S: Simd>(_: S, planes: &Planes<S::Lanes>) -> S::Lanes {
        planes.castling()
    }
}

impl Fact for HasChess960Castling {
    #[inline(always)]
    fn of<S: Simd>(simd: S, planes: &Planes<S::Lanes>) -> S::Lanes {
        let zero = simd.splat(0);
        let (castling, kings, black) = (planes.castling(), planes.kings(), planes.color);
        let (white, of_black) = (castling & simd.splat(RANK_1), castling & simd.splat(RANK_8));
        // All ones where a king is not in its place.
        let no_white_king = (kings & !black & simd.splat(E1)).if_zero(!zero, zero);
        let no_black_king = (kings & black & simd.splat(E8)).if_zero(!zero, zero);
        (castling & !simd.splat(CORNERS)) | (white & (black | no_white_king)) | (of_black & (!black | no_black_king))
    }
}

impl Fact for HasEnPassant {
    #[inline(always)]
    fn of<S: Simd>(simd: S, planes: &Planes<S::Lanes>) -> S::Lanes {
        planes.color & !planes.occupied() & simd.splat(EN_PASSANT_RANKS)
    }
}

/// Answers a question about the boards of a tile.
struct Ask<'a, F>(&'a Tile<'a>, PhantomData<F>);

impl<F: Fact> Work for Ask<'_, F> {
    type Done = Vec<u64>;
    #[inline(always)]
    fn with<B: Bits>(self, bits: B) -> Vec<u64> {
        let simd = bits.simd();
        let mut answers = vec![0; self.0.mask.len()];
        for (number, group) in self.0.groups.iter().enumerate() {
            let [color, t0, t1, t2] = &group.planes;
            let mut at = 0;
            while at < 8 {
                let types = [simd.load(t0, at), simd.load(t1, at), simd.load(t2, at)];
                let planes = Planes { color: simd.load(color, at), types };
                answers[number / 8] |= F::of(simd, &planes).nonzero_bits() << (8 * (number % 8) + at);
                at += B::Simd::WIDTH;
            }
        }
        for (answers, mask) in answers.iter_mut().zip(self.0.mask) {
            *answers &= mask;
        }
        answers
    }
}

/// The records of a tile that count and for which the answer is yes: a bit for each.
fn answers<F: Fact>(isa: Isa, tile: &Tile<'_>) -> Vec<u64> {
    isa.run(Ask::<F>(tile, PhantomData))
}

/// The number of records of a tile for which the answer is yes.
pub(in crate::formats) fn count_where<F: Fact>(tile: &Tile<'_>) -> u64 {
    answers::<F>(Isa::best(), tile).iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The rows of a tile's batch for which the answer is yes.
pub(in crate::formats) fn rows_where<F: Fact>(tile: &Tile<'_>) -> Vec<usize> {
    let answers = answers::<F>(Isa::best(), tile);
    if answers.iter().all(|&word| word == 0) { Vec::new() } else { tile.masked(&answers).rows().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::{Random, RandomPlay, Start};
    use crate::chess::{Color, Position, Role};
    use crate::packed::Packed;
    use crate::queries::GroupResults;
    use crate::table::Batch;
    use crate::tiers::Tier;
    use std::sync::Arc;

    fn boards() -> Vec<Packed> {
        let mut boards = Vec::new();
        for start in [Start::Standard, Start::Chess960] {
            boards.extend(RandomPlay::new(8, start).take(900).map(|played| Packed::pack(&played.position).unwrap()));
        }
        let mut random = Random::new(8);
        for number in 0..700 {
            let mut word = || match number % 3 {
                0 => random.bits(),
                1 => random.bits() & random.bits(),
                _ => random.bits() & random.bits() & random.bits(),
            };
            let mut board = Packed { color: word(), types: [word(), word(), word()] };
            let sentinel = board.color & !board.occupied();
            board.color ^= sentinel & sentinel.wrapping_sub(1);
            boards.push(board);
        }
        boards
    }

    fn agree<F: Fact>(tile: &Tile<'_>, is: impl Fn(&Position) -> bool) {
        let expected: Vec<usize> = tile.rows().filter(|&row| is(&tile.batch.position(row).unwrap())).collect();
        assert!(!expected.is_empty());
        for isa in Isa::available() {
            let found: Vec<usize> = tile.masked(&answers::<F>(isa, tile)).rows().collect();
            assert_eq!(found, expected, "{isa:?}");
        }
        assert_eq!(rows_where::<F>(tile), expected);
        assert_eq!(count_where::<F>(tile), expected.len() as u64);
    }

    #[test]
    fn all_ways_agree_with_positions() {
        let mut batch = Batch::new();
        boards().into_iter().for_each(|board| batch.push(board, 0, 1));
        let (len, start) = (batch.len() - 64, 64);
        let results = vec![GroupResults::default(); len.div_ceil(8)];
        let mut mask: Vec<u64> = vec![0xFFFF_7FFF_FFFF_FFFE; len.div_ceil(64)];
        *mask.last_mut().unwrap() &= (1 << (len % 64)) - 1;
        let batch = Arc::new(batch);
        let tile = Tile::new(Tier::PORTABLE.analyzer().unwrap(), &batch, start, len, &results, &mask);
        agree::<BlackToMove>(&tile, |position| position.side_to_move == Color::Black);
        agree::<HasCastling>(&tile, |position| position.castling.0.any());
        agree::<HasEnPassant>(&tile, |position| position.en_passant.is_some());
        agree::<HasChess960Castling>(&tile, |position| {
            let rights = position.castling.0;
            let at = |square: u32, color, role| position.pieces(color, role).0 >> square & 1 != 0;
            let is_usual = |rook: u32| match rook {
                0 | 7 => at(rook, Color::White, Role::Rook) && at(4, Color::White, Role::King),
                56 | 63 => at(rook, Color::Black, Role::Rook) && at(60, Color::Black, Role::King),
                _ => false,
            };
            !(0..64).filter(|rook| rights.0 >> rook & 1 != 0).all(is_usual)
        });
    }
}
