//! Lanes of `u64`: the only intrinsics of the crate. Nothing here is specific to chess but the ranks of FEN.
//!
//! A *token* ([`Simd`]) proves what the CPU can do: it is a zero-sized value that only successful detection creates.
//! *Lanes* ([`Lanes`]) are vectors of `u64` that only a token can create, so all their operations can be safe
//! methods. A kernel is generic over the token and reads like scalar code.
//!
//! ## The inlining rules
//!
//! Everything between [`Simd::enter`] and the last operation must be `#[inline(always)]`: `enter` runs its
//! closure inside a function that has the CPU features enabled, and only code that is inlined into that
//! function may use them as single instructions. One function on the way that is *not* inlined turns each
//! operation into a call, which is correct but 90 times slower, so only a benchmark detects it.
//! Closures are also written `#[inline(always)] || …` at the call, and `inlined(#[inline(always)] …)` if
//! they are named.

#![allow(unsafe_code, reason = "intrinsics; each block names the token that proves its CPU features")]

/// A value that aligns the frame of a function whose local variable it is.
///
/// Vectors that do not fit into the registers are spilled to the stack, which is aligned to 16 bytes only. The compiler
/// aligns it further for variables that need it, but not for spills alone; then each 64-byte spill crosses a cache line,
/// and a 32-byte spill does wherever the frame happens to lie badly.
#[derive(Default)]
#[repr(align(64))]
#[cfg(target_arch = "x86_64")]
struct CacheLine(#[expect(dead_code, reason = "only its alignment matters")] u8);

/// Generates the list of CPU features, the detection, and `enter` from one list. For the body of an implementation;
/// `pub` makes them public outside of a trait implementation.
macro_rules! features {
    ([$($public:tt)*] $($feature:tt)+) => {
        /// The CPU features, as `std::arch` names them.
        $($public)* const FEATURES: &'static [&'static str] = &[$($feature),+];

        /// The token, if the CPU has the features.
        $($public)* fn detect() -> Option<Self> {
            const NEEDED: u32 = crate::cpu::bits(&[$($feature),+]);
            crate::cpu::has(NEEDED).then_some(Self(()))
        }
        /// Runs the work with the features enabled. See the inlining rules of [`crate::simd`].
        #[inline(always)]
        $($public)* fn enter<R>(self, work: impl FnOnce() -> R) -> R {
            $(#[target_feature(enable = $feature)])+
            fn with_features<R>(work: impl FnOnce() -> R) -> R {
                let line = $crate::simd::CacheLine::default();
                std::hint::black_box(&line);
                work()
            }
            // SAFETY: the token proves that the CPU has the features: only `detect` makes it.
            unsafe { with_features(work) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod array_lanes;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod bmi2;
pub(crate) mod board_text;
pub mod bytes;
#[cfg(target_arch = "x86_64")]
mod gfni_matrices;
pub mod nibbles;
pub mod one_board;
#[cfg(target_arch = "x86_64")]
mod popcount;
mod scalar;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
pub use array_lanes::{Avx2Words, Avx512Words};
#[cfg(target_arch = "x86_64")]
pub use avx2::{Avx2, Avx2Gfni};
#[cfg(target_arch = "x86_64")]
pub use avx512::{Avx512, Avx512Gfni};
pub use scalar::Scalar;

use std::ops::{BitAnd, BitOr, BitXor, Not};

mod sealed {
    /// Only types of this module may claim a CPU feature.
    pub trait Sealed {}
}

/// Proof that the CPU has an instruction set, and the way to use it.
pub trait Simd: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {
    /// The vectors.
    type Lanes: Lanes;
    /// Lanes per vector; divides 8.
    const WIDTH: usize;
    /// The CPU features, as `std::arch` names them.
    const FEATURES: &'static [&'static str];

    /// The token, if the CPU has the features.
    fn detect() -> Option<Self>;
    /// Runs the work with the CPU features enabled. See the [inlining rules](self).
    fn enter<R>(self, work: impl FnOnce() -> R) -> R;
    /// The same bits in every lane.
    fn splat(self, bits: u64) -> Self::Lanes;
    /// The lanes `at..at + WIDTH` of eight.
    ///
    /// # Panics
    /// If they are not all within the eight.
    fn load(self, from: &[u64; 8], at: usize) -> Self::Lanes;
    /// Stores to the lanes `at..at + WIDTH` of eight.
    ///
    /// # Panics
    /// If they are not all within the eight.
    fn store(self, lanes: Self::Lanes, to: &mut [u64; 8], at: usize);
    /// All ones in the lanes of these bits, the first one lowest, and zero in the others. Higher bits mean nothing.
    #[inline(always)]
    fn mask(self, bits: u64) -> Self::Lanes {
        let mut mask = [0; 8];
        let mut lane = 0;
        while lane < Self::WIDTH {
            mask[lane] = (bits >> lane & 1).wrapping_neg();
            lane += 1;
        }
        self.load(&mask, 0)
    }
    /// Each lane of `lanes` in the place of the next one, and the last lane of `before` in the first place.
    #[inline(always)]
    fn delayed(self, lanes: Self::Lanes, before: Self::Lanes) -> Self::Lanes {
        let (mut from, mut delayed) = ([0; 8], [0; 8]);
        self.store(before, &mut from, 0);
        delayed[0] = from[Self::WIDTH - 1];
        self.store(lanes, &mut from, 0);
        let mut lane = 1;
        while lane < Self::WIDTH {
            delayed[lane] = from[lane - 1];
            lane += 1;
        }
        self.load(&delayed, 0)
    }
    /// Writes rows as columns: word `i` of row `j` becomes word `j` of row `i`.
    #[inline(always)]
    fn turn(self, rows: &[[u64; 8]; 8], turned: &mut [[u64; 8]; 8]) {
        let mut row = 0;
        while row < 8 {
            let mut word = 0;
            while word < 8 {
                turned[word][row] = rows[row][word];
                word += 1;
            }
            row += 1;
        }
    }
    /// Writes the moves of a piece, `from | 64 * to` for each bit `to` of a set, in ascending order, and returns how many
    /// there are. What stands in the room behind them is unspecified.
    #[inline(always)]
    fn write_moves(self, from: u16, targets: u64, room: &mut [u16; 64]) -> usize {
        // Four at a time, some perhaps in vain: the ends of loops are what a CPU cannot predict.
        let mut rest = targets;
        let (fours, _) = room.as_chunks_mut::<4>();
        for four in fours {
            let mut place = 0;
            while place < 4 {
                four[place] = from | (rest.trailing_zeros() as u16) << 6;
                rest &= rest.wrapping_sub(1);
                place += 1;
            }
            if rest == 0 {
                break;
            }
        }
        targets.count_ones() as usize
    }
    /// Stores, in each lane, `base` plus the number of ones of each plane times its weight; otherwise like
    /// [`Simd::store`]. Taken as eight numbers of a byte, the weights of all planes add up to less than 32 in each byte.
    fn store_weighted_counts<const N: usize>(
        self,
        base: Self::Lanes,
        planes: [Self::Lanes; N],
        weights: [u64; N],
        to: &mut [u64; 8],
        at: usize,
    );
}

/// Work that is the same with every token.
pub(crate) trait Work {
    /// What it returns.
    type Output;
    /// Does the work.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Does work with the token of the widest vectors that this CPU has.
pub(crate) fn with_widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(simd) = Avx512Gfni::detect() {
            return work.run(simd);
        }
        if let Some(simd) = Avx512::detect() {
            return work.run(simd);
        }
        if let Some(simd) = Avx2Gfni::detect() {
            return work.run(simd);
        }
        if let Some(simd) = Avx2::detect() {
            return work.run(simd);
        }
    }
    work.run(Scalar)
}

/// Returns a closure unchanged: the attribute `#[inline(always)]` is accepted on a closure only if it is
/// an argument.
#[inline(always)]
pub const fn inlined<F>(closure: F) -> F {
    closure
}

/// The lowest bit of each byte.
const FIRST_COLUMN: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
const LAST_COLUMN: u64 = FIRST_COLUMN << 7;

/// The lines through a bit, except its byte, on the 8x8 matrix that the eight bytes of a lane form.
#[derive(Clone, Copy, Debug)]
pub struct LinesThrough<L> {
    /// The same bit of each byte.
    pub column: L,
    /// The line on which byte and bit number increase together.
    pub diagonal: L,
    /// The line on which one increases and the other decreases.
    pub antidiagonal: L,
}

/// A vector of `u64`. All operations work lane by lane.
pub trait Lanes:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self> + std::fmt::Debug
{
    /// Whether [`Lanes::mirror`] and [`Lanes::transpose`] are single instructions.
    const HAS_MATRICES: bool = false;
    /// Whether [`Lanes::count_ones`] and [`Lanes::count_ones_in_bytes`] are single instructions.
    const HAS_POPULATION_COUNTS: bool = false;

    /// Shift to the left.
    fn shl<const N: u32>(self) -> Self;
    /// Shift to the right, filling with zeros.
    fn shr<const N: u32>(self) -> Self;
    /// Shift to the left by the numbers in the lanes of `counts`, which are less than 64.
    fn shl_by(self, counts: Self) -> Self;
    /// Shift to the right by the numbers in the lanes of `counts`, which are less than 64, filling with zeros.
    fn shr_by(self, counts: Self) -> Self;
    /// Sum, wrapping.
    fn add(self, other: Self) -> Self;
    /// Difference, wrapping.
    fn sub(self, other: Self) -> Self;
    /// In each byte on its own, `self` minus twice `from`.
    #[inline(always)]
    fn sub_twice_in_bytes(self, from: Self) -> Self {
        let twice = from.shl_in_bytes::<1>();
        let top = self.splat(LAST_COLUMN);
        // The top bit of each byte is lent to the subtraction below it, and then computed on its own.
        (self | top).sub(twice & !top) ^ ((self ^ !twice) & top)
    }
    /// In each byte on its own, the bits of `self` that the subtraction of twice `from` changes: the bits
    /// above each bit of `from`, up to and including the next one of `self`. `from` must be a subset.
    #[inline(always)]
    fn sweep_up_in_bytes(self, from: Self) -> Self {
        self ^ self.sub_twice_in_bytes(from)
    }
    /// Shift to the left in each byte on its own.
    #[inline(always)]
    fn shl_in_bytes<const N: u32>(self) -> Self {
        self.shl::<N>() & self.splat(FIRST_COLUMN * (0xFF << N & 0xFF))
    }
    /// Shift to the right in each byte on its own.
    #[inline(always)]
    fn shr_in_bytes<const N: u32>(self) -> Self {
        self.shr::<N>() & self.splat(FIRST_COLUMN * (0xFF >> N))
    }
    /// The bits of each byte in reverse order.
    #[inline(always)]
    fn mirror(self) -> Self {
        let halves = self.splat(0x0F0F_0F0F_0F0F_0F0F);
        let pairs = self.splat(0x3333_3333_3333_3333);
        let bits = self.splat(0x5555_5555_5555_5555);
        let set = (self.shr::<4>() & halves) | (self & halves).shl::<4>();
        let set = (set.shr::<2>() & pairs) | (set & pairs).shl::<2>();
        (set.shr::<1>() & bits) | (set & bits).shl::<1>()
    }
    /// The 8x8 matrix of the eight bytes, reflected: bit b of byte r becomes bit 7 - r of byte 7 - b. Columns become
    /// rows.
    #[inline(always)]
    fn transpose(self) -> Self {
        // Blocks of 4x4, 2x2 and 1x1 bits change places across the diagonal.
        let far = self.splat(0x0000_0000_0F0F_0F0F);
        let set = self;
        let moved = (set ^ set.shr::<36>()) & far;
        let set = set ^ moved ^ moved.shl::<36>();
        let far = self.splat(0x0000_3333_0000_3333);
        let moved = (set ^ set.shr::<18>()) & far;
        let set = set ^ moved ^ moved.shl::<18>();
        let far = self.splat(0x0055_0055_0055_0055);
        let moved = (set ^ set.shr::<9>()) & far;
        set ^ moved ^ moved.shl::<9>()
    }
    /// [`Lanes::mirror`], then [`Lanes::transpose`].
    #[inline(always)]
    fn mirror_and_transpose(self) -> Self {
        self.mirror().transpose()
    }
    /// The bytes in reverse order.
    fn swap_bytes(self) -> Self;
    /// The bytes in reverse order in those lanes in which the mask is all ones; it is zero in the others.
    fn swap_bytes_where(self, mask: Self) -> Self;
    /// All ones in lanes that are not zero.
    fn nonzero(self) -> Self;
    /// `then` in lanes where `self` is zero, `otherwise` in the others.
    fn if_zero(self, then: Self, otherwise: Self) -> Self;
    /// `then` in lanes where `self` and `other` share no bit, `otherwise` in the others.
    #[inline(always)]
    fn if_disjoint(self, other: Self, then: Self, otherwise: Self) -> Self {
        (self & other).if_zero(then, otherwise)
    }
    /// `then` in lanes where `self` has one of these bits, `otherwise` in the others.
    #[inline(always)]
    fn where_any<const BITS: u64>(self, then: Self, otherwise: Self) -> Self {
        self.if_disjoint(self.splat(BITS), otherwise, then)
    }
    /// Whether any lane is not zero.
    fn any(self) -> bool;
    /// A bit for each lane, the first one lowest: whether it is not zero.
    fn nonzero_bits(self) -> u64;
    /// The product of the lower halves.
    fn multiply_halves(self, other: Self) -> Self;
    /// The lower half of the 128-bit product, and the upper half flipped where that has ones.
    #[inline(always)]
    fn fold_product(self, other: Self) -> Self {
        let (a, b) = (self.shr::<32>(), other.shr::<32>());
        let low = self.multiply_halves(other);
        let mixed = [a.multiply_halves(other), self.multiply_halves(b)];
        let high = a.multiply_halves(b);
        let half = self.splat(u64::MAX >> 32);
        let carried = low.shr::<32>().add(mixed[0] & half).add(mixed[1] & half);
        let low = (low & half) | carried.shl::<32>();
        let upper = mixed[0].shr::<32>().add(mixed[1].shr::<32>());
        low ^ high.add(upper).add(carried.shr::<32>())
    }
    /// Number of ones of each lane.
    fn count_ones(self) -> Self;
    /// Four sets are the binary digits of a number on each of 64 squares, the lowest first: the sum of these numbers.
    #[inline(always)]
    fn sum_of_digits([ones, twos, fours, eights]: [Self; 4]) -> Self {
        let low = ones.count_ones().add(twos.count_ones().shl::<1>());
        low.add(fours.count_ones().shl::<2>()).add(eights.count_ones().shl::<3>())
    }
    /// Number of ones of each byte, in that byte.
    #[inline(always)]
    fn count_ones_in_bytes(self) -> Self {
        let halves = self.splat(0x0F0F_0F0F_0F0F_0F0F);
        let pairs = self.splat(0x3333_3333_3333_3333);
        let bits = self.splat(0x5555_5555_5555_5555);
        let sums = self.sub(self.shr::<1>() & bits);
        let sums = (sums & pairs).add(sums.shr::<2>() & pairs);
        sums.add(sums.shr::<4>()) & halves
    }
    /// Sum of each byte, wrapping.
    #[inline(always)]
    fn add_in_bytes(self, other: Self) -> Self {
        let top = self.splat(LAST_COLUMN);
        (self & !top).add(other & !top) ^ ((self ^ other) & top)
    }
    /// Sum of the eight bytes of each lane.
    #[inline(always)]
    fn sum_of_bytes(self) -> Self {
        let bytes = self.splat(0x00FF_00FF_00FF_00FF);
        let words = self.splat(0x0000_FFFF_0000_FFFF);
        let sums = (self & bytes).add(self.shr::<8>() & bytes);
        let sums = sums.add(sums.shr::<16>()) & words;
        sums.add(sums.shr::<32>()) & self.splat(0xFFFF)
    }
    /// Bitwise: `then` where the bit of `self` is set, `otherwise` elsewhere.
    #[inline(always)]
    fn choose(self, then: Self, otherwise: Self) -> Self {
        (self & then) | (!self & otherwise)
    }
    /// Bitwise: `self` without the bits of `barred` that are not in `allowed`.
    #[inline(always)]
    fn without_unless(self, barred: Self, allowed: Self) -> Self {
        self & (allowed | !barred)
    }
    /// Bitwise: whether `self` differs from one of the others.
    #[inline(always)]
    fn differs_from(self, a: Self, b: Self) -> Self {
        (self ^ a) | (self ^ b)
    }
    /// Bitwise sum of three bits: (low bit, carry).
    #[inline(always)]
    fn full_add(self, b: Self, c: Self) -> (Self, Self) {
        let half = self ^ b;
        (half ^ c, (self & b) | (half & c))
    }
    /// The same bits in every lane; `self` only proves that lanes may be used.
    fn splat(self, bits: u64) -> Self;
    /// The bits `N` places away from any bit in its byte.
    #[inline(always)]
    fn sides<const N: u32>(self) -> Self {
        self.shl_in_bytes::<N>() | self.shr_in_bytes::<N>()
    }
    /// [`Lanes::sides`] for lanes with at most one bit; unspecified for lanes with several.
    #[inline(always)]
    fn sides_of_bit<const N: u32>(self) -> Self {
        self.sides::<N>()
    }
    /// On the 8x8 matrix of the eight bytes, the neighbours of all bits.
    #[inline(always)]
    fn neighbours(self) -> Self {
        neighbours(self, self.sides::<1>())
    }
    /// On the same matrix, the squares two steps away in one direction and one step in the other, for all bits.
    #[inline(always)]
    fn jumps(self) -> Self {
        jumps(self.sides::<1>(), self.sides::<2>())
    }
    /// [`Lanes::neighbours`] for lanes with one bit; unspecified for lanes with none or several.
    #[inline(always)]
    fn neighbours_of_bit(self) -> Self {
        neighbours(self, self.sides_of_bit::<1>())
    }
    /// [`Lanes::jumps`] for lanes with one bit; unspecified for lanes with none or several.
    #[inline(always)]
    fn jumps_of_bit(self) -> Self {
        jumps(self.sides_of_bit::<1>(), self.sides_of_bit::<2>())
    }
    /// The lines through the single bit of each lane, except its byte; unspecified for lanes with no or several bits.
    fn lines_through_bit(self) -> LinesThrough<Self>;
}

/// The neighbours of bits, of which those in the same byte are given.
#[inline(always)]
fn neighbours<L: Lanes>(bits: L, sides: L) -> L {
    let row = bits | sides;
    row.shl::<8>() | row.shr::<8>() | sides
}

/// The jumps from bits, of which the bits one and two places away in their bytes are given.
#[inline(always)]
fn jumps<L: Lanes>(one: L, two: L) -> L {
    one.shl::<16>() | one.shr::<16>() | two.shl::<8>() | two.shr::<8>()
}
