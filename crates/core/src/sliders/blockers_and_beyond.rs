//! Blockers and beyond: start with the attacks on the empty board and, for each blocker, remove the squares
//! beyond it. Blockers on the far edges hide nothing and are ignored.
//!
//! It needs a bit scan per blocker, so its time grows with their number; the table is one set per pair of squares.

use super::{Kind, Scan, Slider, Sliders, at};
use crate::chess::geometry::beyond;
use crate::chess::{Bitboard, Square};
use std::marker::PhantomData;

/// The algorithm, by the bit scan it uses.
#[derive(Clone, Copy, Debug)]
pub struct BlockersAndBeyond<S>(PhantomData<S>);

#[derive(Clone, Copy)]
struct Open {
    attacks: Bitboard,
    relevant: Bitboard,
}

static ROOK: [Open; 64] = open(Slider::Rook);
static BISHOP: [Open; 64] = open(Slider::Bishop);

const fn open(slider: Slider) -> [Open; 64] {
    let none = Open { attacks: Bitboard::EMPTY, relevant: Bitboard::EMPTY };
    let mut table = [none; 64];
    let mut i = 0;
    while i < 64 {
        let square = Square::new(i as u8);
        table[i] = Open { attacks: slider.attacks(square, Bitboard::EMPTY), relevant: slider.relevant(square) };
        i += 1;
    }
    table
}

#[inline(always)]
fn attacks<S: Scan>(open: Open, square: Square, occupied: Bitboard) -> Bitboard {
    let mut attacks = open.attacks;
    let mut blockers = open.relevant & occupied;
    while let Some(blocker) = S::first(blockers) {
        attacks -= beyond(square, blocker);
        blockers.0 &= blockers.0 - 1;
    }
    attacks
}

impl<S: Scan> Sliders for BlockersAndBeyond<S> {
    const NAME: &'static str = S::BLOCKERS_AND_BEYOND;
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of::<[Bitboard; 64 * 64]>() + 2 * size_of::<[Open; 64]>();

    fn detect() -> Option<Self> {
        Some(Self(PhantomData))
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        attacks::<S>(ROOK[at(square)], square, occupied)
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        attacks::<S>(BISHOP[at(square)], square, occupied)
    }
}
