//! Eight rays: the rays of one queen in eight lanes of an AVX-512 vector.
//!
//! The four positive rays are cut above their lowest blocker, found by subtraction, the four negative ones below their
//! highest, found by the vector leading-zero count. The result is the union of the lanes.

use super::{Kind, Sliders, at};
use crate::chess::geometry::{Direction, ray_formula};
use crate::chess::{Bitboard, Square};
use crate::simd::one_board::Avx512Eight;

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct EightRays(Avx512Eight);

/// The rays of each square in the order of [`Direction::ALL`].
static RAYS: [[u64; 8]; 64] = {
    let mut table = [[0; 8]; 64];
    let mut i = 0;
    while i < 64 {
        let mut d = 0;
        while d < 8 {
            table[i][d] = ray_formula(Square::new(i as u8), Direction::ALL[d]).0;
            d += 1;
        }
        i += 1;
    }
    table
};

const ROOK: u8 = lanes(Direction::ROOK);
const BISHOP: u8 = lanes(Direction::BISHOP);

const fn lanes([a, b, c, d]: [Direction; 4]) -> u8 {
    1 << a as u8 | 1 << b as u8 | 1 << c as u8 | 1 << d as u8
}

impl EightRays {
    #[inline(always)]
    fn attacks(self, square: Square, occupied: Bitboard, lanes: u8) -> Bitboard {
        Bitboard(self.0.cut_at_nearest(&RAYS[at(square)], occupied.0, lanes))
    }
}

impl Sliders for EightRays {
    const NAME: &'static str = "eight-rays-avx512";
    const KIND: Kind = Kind::Intrinsic;
    const NEEDS: &'static [&'static str] = Avx512Eight::FEATURES;
    const TABLE_BYTES: usize = size_of_val(&RAYS);

    fn detect() -> Option<Self> {
        Avx512Eight::detect().map(Self)
    }
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        self.0.enter(work)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.attacks(square, occupied, ROOK)
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.attacks(square, occupied, BISHOP)
    }
    #[inline(always)]
    fn queen(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.attacks(square, occupied, ROOK | BISHOP)
    }
}
