//! Lanes that are plain arrays of words: the portable code, for the compiler to vectorise.
//!
//! Each operation is that of [`Scalar`](super::Scalar) on every word. Nothing but the CPU features of the tokens tells the
//! compiler to use vectors. No tier uses these lanes; they are there to be compared with the intrinsics.

use super::{Lanes, LinesThrough, Simd, inlined, sealed};
use std::array::from_fn;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// Proof of AVX2, and arrays of four words.
#[derive(Clone, Copy, Debug)]
pub struct Avx2Words(());

/// Proof of AVX-512 F, BW, DQ, VL and CD, and arrays of eight words.
#[derive(Clone, Copy, Debug)]
pub struct Avx512Words(());

/// Lanes without intrinsics.
#[derive(Clone, Copy, Debug)]
pub struct Words<const N: usize>([u64; N]);

macro_rules! token {
    ($token:ident $width:literal $($feature:tt)+) => {
        impl sealed::Sealed for $token {}

        impl Simd for $token {
            type Lanes = Words<$width>;
            const WIDTH: usize = $width;
            features!([] $($feature)+);
            #[inline(always)]
            fn splat(self, bits: u64) -> Words<$width> {
                Words([bits; $width])
            }
            #[inline(always)]
            fn load(self, from: &[u64; 8], at: usize) -> Words<$width> {
                Words(from[at..at + $width].try_into().expect("as many lanes"))
            }
            #[inline(always)]
            fn store(self, lanes: Words<$width>, to: &mut [u64; 8], at: usize) {
                to[at..at + $width].copy_from_slice(&lanes.0);
            }
            #[inline(always)]
            fn store_weighted_counts<const N: usize>(
                self,
                base: Words<$width>,
                planes: [Words<$width>; N],
                weights: [u64; N],
                to: &mut [u64; 8],
                at: usize,
            ) {
                let mut sum = base.0;
                let mut plane = 0;
                while plane < N {
                    let mut lane = 0;
                    while lane < $width {
                        let count = u64::from(planes[plane].0[lane].count_ones());
                        sum[lane] = sum[lane].wrapping_add(count.wrapping_mul(weights[plane]));
                        lane += 1;
                    }
                    plane += 1;
                }
                self.store(Words(sum), to, at);
            }
        }
    };
}
token!(Avx2Words 4 "avx2" "popcnt" "bmi1" "bmi2" "lzcnt");
token!(Avx512Words 8 "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd" "avx2" "popcnt" "bmi1" "bmi2" "lzcnt");

impl<const N: usize> Words<N> {
    #[inline(always)]
    fn map(self, operation: impl Fn(u64) -> u64) -> Self {
        Self(from_fn(
            #[inline(always)]
            |i| operation(self.0[i]),
        ))
    }
    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(u64, u64) -> u64) -> Self {
        Self(from_fn(
            #[inline(always)]
            |i| operation(self.0[i], other.0[i]),
        ))
    }
}

macro_rules! bitwise {
    ($($op:ident $method:ident)*) => {$(
        impl<const N: usize> $op for Words<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, #[inline(always)] |a, b| a.$method(b))
            }
        }
    )*};
}
bitwise!(BitAnd bitand BitOr bitor BitXor bitxor);

impl<const N: usize> Not for Words<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        self.map(
            #[inline(always)]
            |a| !a,
        )
    }
}

/// Methods that are those of `u64`, word by word.
macro_rules! word_by_word {
    ($($method:ident $(<$n:ident>)? ($($other:ident)?);)*) => {$(
        #[inline(always)]
        fn $method $(<const $n: u32>)? (self $(, $other: Self)?) -> Self {
            word_by_word!(@ self $method $(<$n>)? ($($other)?))
        }
    )*};
    (@ $self:ident $method:ident $(<$n:ident>)? ()) => {
        $self.map(#[inline(always)] |a| Lanes::$method $(::<$n>)? (a))
    };
    (@ $self:ident $method:ident ($other:ident)) => {
        $self.zip($other, #[inline(always)] |a, b| Lanes::$method(a, b))
    };
}

impl<const N: usize> Lanes for Words<N> {
    word_by_word! {
        shl<K>();
        shr<K>();
        shl_by(counts);
        shr_by(counts);
        add(other);
        sub(other);
        sweep_up_in_bytes(from);
        swap_bytes();
        swap_bytes_where(mask);
        nonzero();
        multiply_halves(other);
        fold_product(other);
        count_ones();
    }
    #[inline(always)]
    fn if_zero(self, then: Self, otherwise: Self) -> Self {
        Self(from_fn(
            #[inline(always)]
            |i| self.0[i].if_zero(then.0[i], otherwise.0[i]),
        ))
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().fold(0, |any, word| any | word) != 0
    }
    #[inline(always)]
    fn nonzero_bits(self) -> u64 {
        let mut bits = 0;
        for i in 0..N {
            bits |= self.0[i].nonzero_bits() << i;
        }
        bits
    }
    #[inline(always)]
    fn choose(self, then: Self, otherwise: Self) -> Self {
        Self(from_fn(
            #[inline(always)]
            |i| self.0[i].choose(then.0[i], otherwise.0[i]),
        ))
    }
    #[inline(always)]
    fn splat(self, bits: u64) -> Self {
        Self([bits; N])
    }
    #[inline(always)]
    fn lines_through_bit(self) -> LinesThrough<Self> {
        let lines = self.0.map(
            #[inline(always)]
            |word| word.lines_through_bit(),
        );
        let of = inlined(
            #[inline(always)]
            |line: fn(&LinesThrough<u64>) -> u64| {
                Self(from_fn(
                    #[inline(always)]
                    |i| line(&lines[i]),
                ))
            },
        );
        LinesThrough {
            column: of(|lines| lines.column),
            diagonal: of(|lines| lines.diagonal),
            antidiagonal: of(|lines| lines.antidiagonal),
        }
    }
}
