//! Classical rays: eight rays from each square. The first blocker of a ray is its lowest one on a positive
//! ray and its highest one on a negative ray; the blocker hides the ray that starts at its square.
//!
//! A sentinel in the corner towards which the ray runs replaces a missing blocker: no ray in
//! that direction starts there, so nothing is removed and no branch is needed.

use super::{Kind, Scan, Sliders, at};
use crate::chess::geometry::{Direction, ray};
use crate::chess::{Bitboard, Square};
use std::marker::PhantomData;

/// The algorithm, by the bit scan it uses.
#[derive(Clone, Copy, Debug)]
pub struct ClassicalRays<S>(PhantomData<S>);

#[inline(always)]
fn attacks<S: Scan>(square: Square, directions: [Direction; 4], occupied: Bitboard) -> Bitboard {
    let square = Square::new(at(square) as u8);
    directions.into_iter().fold(
        Bitboard::EMPTY,
        #[inline(always)]
        |attacks, direction| {
            let open = ray(square, direction);
            let blockers = open & occupied;
            let nearest = if direction.is_positive() {
                S::first(Bitboard(blockers.0 | 1 << 63))
            } else {
                S::last(Bitboard(blockers.0 | 1))
            };
            attacks | nearest.map_or(open, |blocker| open ^ ray(blocker, direction))
        },
    )
}

impl<S: Scan> Sliders for ClassicalRays<S> {
    const NAME: &'static str = S::CLASSICAL_RAYS;
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of::<[[Bitboard; 8]; 64]>();

    fn detect() -> Option<Self> {
        Some(Self(PhantomData))
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        attacks::<S>(square, Direction::ROOK, occupied)
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        attacks::<S>(square, Direction::BISHOP, occupied)
    }
}
