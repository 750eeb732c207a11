//! Obstruction difference: on a line, subtract the nearest blocker below from the blockers above.
//!
//! The subtraction borrows from the nearest blocker above and flips every bit between the two, which are
//! the attacked squares and the slider itself. It takes one leading-zero count per line and no mirroring,
//! and is the same for all four lines.

use super::{Kind, Sliders, at};
use crate::chess::geometry::{Line, ray_formula};
use crate::chess::{Bitboard, Square};
use crate::simd::bmi2::Bmi2;

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct ObstructionDifference;

/// The same code, compiled for a CPU with BMI1, BMI2 and LZCNT, without intrinsics.
#[derive(Clone, Copy, Debug)]
pub struct ObstructionDifferenceBmi2(Bmi2);

/// A line in two halves, without the square.
#[derive(Clone, Copy)]
struct Halves {
    lower: u64,
    upper: u64,
}

static HALVES: [[Halves; 4]; 64] = {
    let mut table = [[Halves { lower: 0, upper: 0 }; 4]; 64];
    let mut i = 0;
    while i < 64 {
        let mut line = 0;
        while line < 4 {
            let square = Square::new(i as u8);
            table[i][line] = Halves {
                lower: ray_formula(square, Line::ALL[line].negative()).0,
                upper: ray_formula(square, Line::ALL[line].positive()).0,
            };
            line += 1;
        }
        i += 1;
    }
    table
};

#[inline(always)]
fn along(Halves { lower, upper }: Halves, occupied: u64) -> u64 {
    let above = upper & occupied;
    // Bit 0 stands in for the edge if there is no blocker below.
    let nearest_below = 1 << 63 >> (lower & occupied | 1).leading_zeros();
    (above ^ above.wrapping_sub(nearest_below)) & (lower | upper)
}

impl Sliders for ObstructionDifference {
    const NAME: &'static str = "obstruction-difference";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of_val(&HALVES);

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        let [rank, file, ..] = HALVES[at(square)];
        Bitboard(along(rank, occupied.0) | along(file, occupied.0))
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        let [_, _, diagonal, antidiagonal] = HALVES[at(square)];
        Bitboard(along(diagonal, occupied.0) | along(antidiagonal, occupied.0))
    }
}

impl Sliders for ObstructionDifferenceBmi2 {
    const NAME: &'static str = "obstruction-difference-bmi2";
    const KIND: Kind = Kind::Intrinsic;
    const NEEDS: &'static [&'static str] = Bmi2::FEATURES;
    const TABLE_BYTES: usize = size_of_val(&HALVES);

    fn detect() -> Option<Self> {
        Bmi2::detect().map(Self)
    }
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        self.0.enter(work)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        ObstructionDifference.rook(square, occupied)
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        ObstructionDifference.bishop(square, occupied)
    }
}
