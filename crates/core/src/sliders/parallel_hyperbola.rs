//! Parallel hyperbola: the four lines of one queen in four lanes of a vector.
//!
//! The same arithmetic as in [`super::hyperbola`], but since the lanes must all do the same, every line is
//! mirrored by reversing all bits, including the rank. The two versions differ in that reversal: shuffles of
//! bytes and nibbles (AVX2), or one affine instruction and a shuffle of bytes (GFNI).

use super::hyperbola::LINES;
use super::{Kind, Sliders, at};
use crate::chess::{Bitboard, Square};
use crate::simd::one_board::{Avx2Four, FourLanes, GfniFour};

/// The algorithm, by the vectors it uses.
#[derive(Clone, Copy, Debug)]
pub struct ParallelHyperbola<T>(T);

impl<T: FourLanes> ParallelHyperbola<T> {
    /// Attacks along the four lines, in the order of [`crate::chess::geometry::Line::ALL`].
    #[inline(always)]
    fn lines(self, square: Square, occupied: Bitboard) -> T::Vector {
        let simd = self.0;
        let bit = Bitboard::square(square).0;
        let lines = simd.load(&LINES[at(square)]);
        let blockers = simd.and(simd.splat(occupied.0), lines);
        let up = simd.sub(blockers, simd.splat(bit));
        let down = simd.sub(simd.reverse_bits(blockers), simd.splat(1 << (63 - at(square))));
        simd.and(simd.xor(up, simd.reverse_bits(down)), lines)
    }
}

macro_rules! parallel_hyperbola {
    ($token:ident, $name:literal) => {
        impl Sliders for ParallelHyperbola<$token> {
            const NAME: &'static str = $name;
            const KIND: Kind = Kind::Intrinsic;
            const NEEDS: &'static [&'static str] = $token::FEATURES;
            const TABLE_BYTES: usize = size_of_val(&LINES);

            fn detect() -> Option<Self> {
                $token::detect().map(Self)
            }
            #[inline(always)]
            fn enter<R>(self, work: impl FnOnce() -> R) -> R {
                self.0.enter(work)
            }
            #[inline(always)]
            fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
                Bitboard(self.0.union_of_first_two(self.lines(square, occupied)))
            }
            #[inline(always)]
            fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
                Bitboard(self.0.union_of_last_two(self.lines(square, occupied)))
            }
            #[inline(always)]
            fn queen(self, square: Square, occupied: Bitboard) -> Bitboard {
                Bitboard(self.0.union(self.lines(square, occupied)))
            }
        }
    };
}
parallel_hyperbola!(Avx2Four, "parallel-hyperbola-avx2");
parallel_hyperbola!(GfniFour, "parallel-hyperbola-gfni");
