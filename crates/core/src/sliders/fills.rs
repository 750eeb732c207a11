//! Fills: the piece spreads over the empty squares, one direction at a time.
//!
//! *Dumb7* takes one step seven times. *Kogge-Stone* doubles: after one step it takes two at once, then four, with
//! the empty squares narrowed to runs of that length. Both are meant for whole sets of pieces, which they fill at the
//! cost of one; here they run on a single piece, for comparison.

use super::{Kind, Sliders};
use crate::chess::{Bitboard, Square};

/// Seven single steps.
#[derive(Clone, Copy, Debug)]
pub struct Dumb7;

/// Three doubling steps.
#[derive(Clone, Copy, Debug)]
pub struct KoggeStone;

/// Where a step lands without falling off the side of the board, by its difference of square numbers.
const fn landing<const STEP: i32>() -> u64 {
    const A_FILE: u64 = 0x0101_0101_0101_0101;
    match STEP {
        1 | 9 | -7 => !A_FILE,
        -1 | -9 | 7 => !(A_FILE << 7),
        _ => !0,
    }
}

#[inline(always)]
const fn shift<const STEP: i32>(bits: u64, times: u32) -> u64 {
    if STEP > 0 { bits << (STEP as u32 * times) } else { bits >> (-STEP as u32 * times) }
}

#[inline(always)]
fn dumb7<const STEP: i32>(from: u64, empty: u64) -> u64 {
    let open = empty & landing::<STEP>();
    let mut flood = from;
    let mut front = from;
    for _ in 0..6 {
        front = shift::<STEP>(front, 1) & open;
        flood |= front;
    }
    shift::<STEP>(flood, 1) & landing::<STEP>()
}

#[inline(always)]
fn kogge_stone<const STEP: i32>(from: u64, empty: u64) -> u64 {
    let mut open = empty & landing::<STEP>();
    let mut flood = from;
    flood |= open & shift::<STEP>(flood, 1);
    open &= shift::<STEP>(open, 1);
    flood |= open & shift::<STEP>(flood, 2);
    open &= shift::<STEP>(open, 2);
    flood |= open & shift::<STEP>(flood, 4);
    shift::<STEP>(flood, 1) & landing::<STEP>()
}

macro_rules! fill {
    ($type:ident, $name:literal, $fill:ident) => {
        impl Sliders for $type {
            const NAME: &'static str = $name;
            const KIND: Kind = Kind::Portable;
            const TABLE_BYTES: usize = 0;

            fn detect() -> Option<Self> {
                Some(Self)
            }
            #[inline(always)]
            fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
                let (from, empty) = (Bitboard::square(square).0, !occupied.0);
                Bitboard(
                    $fill::<8>(from, empty)
                        | $fill::<-8>(from, empty)
                        | $fill::<1>(from, empty)
                        | $fill::<-1>(from, empty),
                )
            }
            #[inline(always)]
            fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
                let (from, empty) = (Bitboard::square(square).0, !occupied.0);
                Bitboard(
                    $fill::<9>(from, empty)
                        | $fill::<-9>(from, empty)
                        | $fill::<7>(from, empty)
                        | $fill::<-7>(from, empty),
                )
            }
        }
    };
}
fill!(Dumb7, "dumb7", dumb7);
fill!(KoggeStone, "kogge-stone", kogge_stone);
