//! The definition of slider attacks: walk from the square until a piece is in the way or the board ends.
//!
//! It is slow and obviously correct. Every table of the other algorithms is built by these functions, most of them
//! at compile time, and every algorithm is tested against them.

use super::{Kind, Sliders};
use crate::chess::geometry::Direction;
use crate::chess::{Bitboard, Square};

/// Squares reached in one direction: all up to the first occupied one, which is also attacked.
pub(crate) const fn ray(square: Square, direction: Direction, occupied: Bitboard) -> Bitboard {
    let (files, ranks) = direction.delta();
    let mut attacks = 0;
    let mut at = square;
    while let Some(next) = at.offset(files, ranks) {
        attacks |= 1 << next.index();
        if occupied.contains(next) {
            break;
        }
        at = next;
    }
    Bitboard(attacks)
}

const fn rays(square: Square, directions: [Direction; 4], occupied: Bitboard) -> Bitboard {
    let mut attacks = 0;
    let mut i = 0;
    while i < 4 {
        attacks |= ray(square, directions[i], occupied).0;
        i += 1;
    }
    Bitboard(attacks)
}

/// Attacks of a rook.
pub(crate) const fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    rays(square, Direction::ROOK, occupied)
}

/// Attacks of a bishop.
pub(crate) const fn bishop(square: Square, occupied: Bitboard) -> Bitboard {
    rays(square, Direction::BISHOP, occupied)
}

/// The walk as an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct RayWalk;

impl Sliders for RayWalk {
    const NAME: &'static str = "ray-walk";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = 0;

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        rook(square, occupied)
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        bishop(square, occupied)
    }
}
