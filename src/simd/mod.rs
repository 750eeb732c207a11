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

#![allow(
    unsafe_code,
    reason = "intrinsics; each block names the token that proves its CPU features"
)]

/// Generates the list of CPU features, the detection, and `enter` from one list. For the body of an implementation;
/// `pub` makes them public outside of a trait implementation.
macro_rules! features {
    ([$($public:tt)?] $($feature:tt)+) => {
        /// The CPU features, as `std::arch` names them.
        $($public)? const FEATURES: &'static [&'static str] = &[$($feature),+];

        /// The token, if the CPU has the features.
        $($public)? fn detect() -> Option<Self> {
            ($(is_x86_feature_detected!($feature))&&+).then_some(Self(()))
        }
        /// Runs the work with the features enabled. See the inlining rules of [`crate::simd`].
        #[inline(always)]
        $($public)? fn enter<R>(self, work: impl FnOnce() -> R) -> R {
            $(#[target_feature(enable = $feature)])+
            fn with_features<R>(work: impl FnOnce() -> R) -> R {
                work()
            }
            // SAFETY: the token proves that the CPU has the features: only `detect` makes it.
            unsafe { with_features(work) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod bmi2;
pub(crate) mod bytes;
pub mod one_board;
pub(crate) mod ranks;
mod scalar;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::{Avx512, Avx512Vpopcnt};
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
    /// Stores, in each lane, `base` plus the number of ones of each plane times its weight; otherwise like
    /// [`Simd::store`].
    fn store_weighted_counts<const N: usize>(
        self,
        base: Self::Lanes,
        planes: [Self::Lanes; N],
        weights: [u64; N],
        to: &mut [u64; 8],
        at: usize,
    );
}

/// Returns a closure unchanged: the attribute `#[inline(always)]` is accepted on a closure only if it is
/// an argument.
#[inline(always)]
pub(crate) const fn inlined<F>(closure: F) -> F {
    closure
}

/// The lowest bit of each byte.
const FIRST_COLUMN: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
const LAST_COLUMN: u64 = FIRST_COLUMN << 7;

/// The four lines through a bit, on the 8x8 matrix that the eight bytes of a lane form.
#[derive(Clone, Copy, Debug)]
pub struct LinesThrough<L> {
    /// The same byte.
    pub row: L,
    /// The same bit of each byte.
    pub column: L,
    /// The line on which byte and bit number increase together.
    pub diagonal: L,
    /// The line on which one increases and the other decreases.
    pub antidiagonal: L,
}

/// A vector of `u64`. All operations work lane by lane.
pub trait Lanes:
    Copy
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + std::fmt::Debug
{
    /// Shift to the left.
    fn shl<const N: u32>(self) -> Self;
    /// Shift to the right, filling with zeros.
    fn shr<const N: u32>(self) -> Self;
    /// Sum, wrapping.
    fn add(self, other: Self) -> Self;
    /// Difference, wrapping.
    fn sub(self, other: Self) -> Self;
    /// In each byte on its own, the bits of `self` that the subtraction of twice `from` changes: the bits
    /// above each bit of `from`, up to and including the next one of `self`. `from` must be a subset.
    fn sweep_up_in_bytes(self, from: Self) -> Self;
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
    /// Whether any lane is not zero.
    fn any(self) -> bool;
    /// Number of ones of each lane.
    fn count_ones(self) -> Self;
    /// Bitwise: `then` where the bit of `self` is set, `otherwise` elsewhere.
    #[inline(always)]
    fn choose(self, then: Self, otherwise: Self) -> Self {
        (self & then) | (!self & otherwise)
    }
    /// Bitwise sum of three bits: (low bit, carry).
    #[inline(always)]
    fn full_add(self, b: Self, c: Self) -> (Self, Self) {
        let half = self ^ b;
        (half ^ c, (self & b) | (half & c))
    }
    /// The same bits in every lane; `self` only proves that lanes may be used.
    fn splat(self, bits: u64) -> Self;
    /// On the 8x8 matrix of the eight bytes, the neighbours of all bits.
    #[inline(always)]
    fn neighbours(self) -> Self {
        let sides = (self.shl::<1>() & self.splat(!FIRST_COLUMN))
            | (self.shr::<1>() & self.splat(!LAST_COLUMN));
        let row = self | sides;
        row.shl::<8>() | row.shr::<8>() | sides
    }
    /// On the same matrix, the squares two steps away in one direction and one step in the other, for all bits.
    #[inline(always)]
    fn jumps(self) -> Self {
        let one = (self.shl::<1>() & self.splat(!FIRST_COLUMN))
            | (self.shr::<1>() & self.splat(!LAST_COLUMN));
        let two = (self.shl::<2>() & self.splat(!(FIRST_COLUMN | FIRST_COLUMN << 1)))
            | (self.shr::<2>() & self.splat(!(LAST_COLUMN | LAST_COLUMN >> 1)));
        one.shl::<16>() | one.shr::<16>() | two.shl::<8>() | two.shr::<8>()
    }
    /// [`Lanes::neighbours`] for lanes with one bit; unspecified for lanes with none or several.
    #[inline(always)]
    fn neighbours_of_bit(self) -> Self {
        self.neighbours()
    }
    /// [`Lanes::jumps`] for lanes with one bit; unspecified for lanes with none or several.
    #[inline(always)]
    fn jumps_of_bit(self) -> Self {
        self.jumps()
    }
    /// The lines through the single bit of each lane; unspecified for lanes with no or several bits.
    fn lines_through_bit(self) -> LinesThrough<Self>;
}
