//! Four lanes in a 256-bit register: AVX2.
//!
//! Two tokens with lanes of their own. [`Avx2`] needs what all CPUs with AVX2 have; [`Avx2Gfni`] adds GFNI, whose one
//! instruction multiplies 8x8 matrices of bits. Desktop CPUs since Alder Lake have it without AVX-512.

use super::{Lanes, LinesThrough, Simd, gfni_matrices, inlined, sealed};
use std::arch::x86_64::*;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// Proof of AVX2, POPCNT, BMI1, BMI2 and LZCNT, which all CPUs with AVX2 have.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

/// Proof of what [`Avx2`] proves, and of GFNI.
#[derive(Clone, Copy, Debug)]
pub struct Avx2Gfni(());

/// Four lanes; made only from [`Avx2`].
#[derive(Clone, Copy, Debug)]
pub struct Lanes4(__m256i);

/// Four lanes; made only from [`Avx2Gfni`].
#[derive(Clone, Copy, Debug)]
pub struct Lanes4Gfni(__m256i);

/// A token and what it does with its lanes.
macro_rules! token {
    ($token:ident $lanes:ident $($feature:tt)+) => {
        impl sealed::Sealed for $token {}

        impl Simd for $token {
            type Lanes = $lanes;
            const WIDTH: usize = 4;
            features!([] $($feature)+);
            #[inline(always)]
            fn splat(self, bits: u64) -> $lanes {
                // SAFETY: every token proves AVX2.
                $lanes(unsafe { _mm256_set1_epi64x(bits as i64) })
            }
            #[inline(always)]
            fn load(self, from: &[u64; 8], at: usize) -> $lanes {
                let four: &[u64; 4] = from[at..at + 4].try_into().expect("four lanes");
                // SAFETY: every token proves AVX2; the reference covers the 32 bytes that are read.
                $lanes(unsafe { _mm256_loadu_si256(four.as_ptr().cast()) })
            }
            #[inline(always)]
            fn store(self, lanes: $lanes, to: &mut [u64; 8], at: usize) {
                let four: &mut [u64; 4] = (&mut to[at..at + 4]).try_into().expect("four lanes");
                // SAFETY: every token proves AVX2; the reference covers the 32 bytes that are written.
                unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), lanes.0) }
            }
            #[inline(always)]
            fn mask(self, bits: u64) -> $lanes {
                // SAFETY: every token proves AVX2.
                $lanes(unsafe {
                    let of_lanes = _mm256_setr_epi64x(1, 2, 4, 8);
                    _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits as i64), of_lanes), of_lanes)
                })
            }
            #[inline(always)]
            fn delayed(self, lanes: $lanes, before: $lanes) -> $lanes {
                // SAFETY: every token proves AVX2.
                $lanes(unsafe {
                    // The last lane first, then those before it.
                    let lanes = _mm256_permute4x64_epi64::<0b10_01_00_11>(lanes.0);
                    let before = _mm256_permute4x64_epi64::<0b10_01_00_11>(before.0);
                    _mm256_blend_epi32::<0b11>(lanes, before)
                })
            }
            #[inline(always)]
            fn turn(self, rows: &[[u64; 8]; 8], turned: &mut [[u64; 8]; 8]) {
                // Four 4x4 matrices.
                let mut matrix = 0;
                while matrix < 4 {
                    let (down, across) = (matrix / 2 * 4, matrix % 2 * 4);
                    let row = inlined(
                        #[inline(always)]
                        |row: usize| self.load(&rows[down + row], across).0,
                    );
                    // SAFETY: every token proves AVX2.
                    let columns = unsafe {
                        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
                        let (even_ab, odd_ab) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
                        let (even_cd, odd_cd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
                        [
                            _mm256_permute2x128_si256::<0x20>(even_ab, even_cd),
                            _mm256_permute2x128_si256::<0x20>(odd_ab, odd_cd),
                            _mm256_permute2x128_si256::<0x31>(even_ab, even_cd),
                            _mm256_permute2x128_si256::<0x31>(odd_ab, odd_cd),
                        ]
                    };
                    let mut column = 0;
                    while column < 4 {
                        self.store($lanes(columns[column]), &mut turned[across + column], down);
                        column += 1;
                    }
                    matrix += 1;
                }
            }
            #[inline(always)]
            fn store_weighted_counts<const N: usize>(
                self,
                base: $lanes,
                planes: [$lanes; N],
                weights: [u64; N],
                to: &mut [u64; 8],
                at: usize,
            ) {
                self.store(base.plus_weighted_counts(&planes, &weights), to, at);
            }
        }
    };
}
token!(Avx2 Lanes4 "avx2" "popcnt" "bmi1" "bmi2" "lzcnt");
token!(Avx2Gfni Lanes4Gfni "avx2" "gfni" "popcnt" "bmi1" "bmi2" "lzcnt");

macro_rules! bitwise {
    ($lanes:ident; $($op:ident $method:ident $intrinsic:ident;)*) => {$(
        impl $op for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    )*};
}

/// The operations that both kinds of lanes share; those in which they differ follow the name.
macro_rules! lanes {
    ($lanes:ident; $($own:tt)*) => {
        bitwise! {
            $lanes;
            BitAnd bitand _mm256_and_si256;
            BitOr bitor _mm256_or_si256;
            BitXor bitxor _mm256_xor_si256;
        }
        impl Not for $lanes {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_xor_si256(self.0, _mm256_set1_epi64x(-1)) })
            }
        }
        impl $lanes {
            /// Shift to the left by one place in each byte. A sum needs no mask, and more sums than shifts can be done
            /// at the same time.
            #[inline(always)]
            fn doubled_in_bytes(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_add_epi8(self.0, self.0) })
            }
            /// In each lane, `self` plus the number of ones of each plane times its weight.
            ///
            /// The weights are eight numbers of a byte, one at each place; those of all planes at one place are below
            /// 32 together. The calls are written out, so that the places without weights, which the compiler knows,
            /// take no time.
            #[inline(always)]
            fn plus_weighted_counts<const N: usize>(self, planes: &[Self; N], weights: &[u64; N]) -> Self {
                self.plus_counts_at::<0, N>(planes, weights)
                    .plus_counts_at::<8, N>(planes, weights)
                    .plus_counts_at::<16, N>(planes, weights)
                    .plus_counts_at::<24, N>(planes, weights)
                    .plus_counts_at::<32, N>(planes, weights)
                    .plus_counts_at::<40, N>(planes, weights)
                    .plus_counts_at::<48, N>(planes, weights)
                    .plus_counts_at::<56, N>(planes, weights)
            }
            /// `self` plus the counts for the weights at one place.
            #[inline(always)]
            fn plus_counts_at<const PLACE: u32, const N: usize>(
                self,
                planes: &[Self; N],
                weights: &[u64; N],
            ) -> Self {
                let mut all = 0;
                let mut plane = 0;
                while plane < N {
                    all += weights[plane] >> PLACE & 0xFF;
                    plane += 1;
                }
                if all == 0 {
                    return self;
                }
                debug_assert!(all < 32, "a byte holds the weights of eight ones");
                // AVX2 has no population count. A table has the ones of each nibble times the weight, so that the bytes
                // of all planes are added before they are summed.
                // SAFETY: lanes exist only where a token proved AVX2.
                let counts = unsafe {
                    let nibble = _mm256_set1_epi8(15);
                    let mut bytes = _mm256_setzero_si256();
                    let mut plane = 0;
                    while plane < N {
                        let weight = (weights[plane] >> PLACE & 0xFF) as i64;
                        if weight != 0 {
                            let ones = _mm_set_epi64x(0x0403_0302_0302_0201 * weight, 0x0302_0201_0201_0100 * weight);
                            let ones = _mm256_broadcastsi128_si256(ones);
                            let low = _mm256_and_si256(planes[plane].0, nibble);
                            let high = _mm256_and_si256(_mm256_srli_epi64::<4>(planes[plane].0), nibble);
                            let both = _mm256_add_epi8(_mm256_shuffle_epi8(ones, low), _mm256_shuffle_epi8(ones, high));
                            bytes = _mm256_add_epi8(bytes, both);
                        }
                        plane += 1;
                    }
                    Self(_mm256_sad_epu8(bytes, _mm256_setzero_si256()))
                };
                self.add(counts.shl::<PLACE>())
            }
        }

        impl Lanes for $lanes {
            $($own)*
            #[inline(always)]
            fn splat(self, bits: u64) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_set1_epi64x(bits as i64) })
            }
            #[inline(always)]
            fn shl<const N: u32>(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_sllv_epi64(self.0, _mm256_set1_epi64x(i64::from(N))) })
            }
            #[inline(always)]
            fn shr<const N: u32>(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_srlv_epi64(self.0, _mm256_set1_epi64x(i64::from(N))) })
            }
            #[inline(always)]
            fn shl_by(self, counts: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_sllv_epi64(self.0, counts.0) })
            }
            #[inline(always)]
            fn shr_by(self, counts: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_srlv_epi64(self.0, counts.0) })
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_add_epi64(self.0, other.0) })
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_sub_epi64(self.0, other.0) })
            }
            #[inline(always)]
            fn sub_twice_in_bytes(self, from: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_sub_epi8(self.0, from.doubled_in_bytes().0) })
            }
            #[inline(always)]
            fn swap_bytes(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe {
                    let reverse = _mm256_set_epi64x(
                        0x0809_0a0b_0c0d_0e0f,
                        0x0001_0203_0405_0607,
                        0x0809_0a0b_0c0d_0e0f,
                        0x0001_0203_0405_0607,
                    );
                    _mm256_shuffle_epi8(self.0, reverse)
                })
            }
            #[inline(always)]
            fn swap_bytes_where(self, mask: Self) -> Self {
                // The number of a byte and that of its mirror differ in the three low bits.
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe {
                    let same = _mm256_set_epi64x(
                        0x0f0e_0d0c_0b0a_0908,
                        0x0706_0504_0302_0100,
                        0x0f0e_0d0c_0b0a_0908,
                        0x0706_0504_0302_0100,
                    );
                    let mirror = _mm256_and_si256(mask.0, _mm256_set1_epi8(7));
                    _mm256_shuffle_epi8(self.0, _mm256_xor_si256(same, mirror))
                })
            }
            #[inline(always)]
            fn nonzero(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                !Self(unsafe { _mm256_cmpeq_epi64(self.0, _mm256_setzero_si256()) })
            }
            #[inline(always)]
            fn if_zero(self, then: Self, otherwise: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe {
                    let zero = _mm256_cmpeq_epi64(self.0, _mm256_setzero_si256());
                    _mm256_blendv_epi8(otherwise.0, then.0, zero)
                })
            }
            #[inline(always)]
            fn where_any<const BITS: u64>(self, then: Self, otherwise: Self) -> Self {
                // Blends look at the highest bit, to which a shift moves each of the bits; a comparison would take an
                // instruction more.
                let (mut chosen, mut bits) = (otherwise, BITS);
                while bits != 0 {
                    // SAFETY: lanes exist only where a token proved AVX2.
                    chosen = Self(unsafe {
                        let highest = _mm256_sllv_epi64(self.0, _mm256_set1_epi64x(bits.leading_zeros().into()));
                        _mm256_castpd_si256(_mm256_blendv_pd(
                            _mm256_castsi256_pd(chosen.0),
                            _mm256_castsi256_pd(then.0),
                            _mm256_castsi256_pd(highest),
                        ))
                    });
                    bits ^= 1 << bits.ilog2();
                }
                chosen
            }
            #[inline(always)]
            fn any(self) -> bool {
                // SAFETY: lanes exist only where a token proved AVX2.
                unsafe { _mm256_testz_si256(self.0, self.0) == 0 }
            }
            #[inline(always)]
            fn nonzero_bits(self) -> u64 {
                // SAFETY: lanes exist only where a token proved AVX2.
                let zero = unsafe {
                    let zero = _mm256_cmpeq_epi64(self.0, _mm256_setzero_si256());
                    _mm256_movemask_pd(_mm256_castsi256_pd(zero))
                };
                u64::from(!zero as u8 & 0xF)
            }
            #[inline(always)]
            fn multiply_halves(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe { _mm256_mul_epu32(self.0, other.0) })
            }
            #[inline(always)]
            fn count_ones(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX2.
                Self(unsafe {
                    let counts = _mm_set_epi64x(0x0403_0302_0302_0201, 0x0302_0201_0201_0100);
                    let counts = _mm256_broadcastsi128_si256(counts);
                    let nibble = _mm256_set1_epi8(15);
                    let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(self.0, nibble));
                    let high = _mm256_and_si256(_mm256_srli_epi64::<4>(self.0), nibble);
                    let bytes = _mm256_add_epi8(low, _mm256_shuffle_epi8(counts, high));
                    _mm256_sad_epu8(bytes, _mm256_setzero_si256())
                })
            }
            #[inline(always)]
            fn sum_of_digits(digits: [Self; 4]) -> Self {
                digits[0].splat(0).plus_weighted_counts(&digits, &[1, 2, 4, 8])
            }
            #[inline(always)]
            fn lines_through_bit(self) -> LinesThrough<Self> {
                // Everything works on bytes: the one nonzero byte holds 1 << column. A sum of absolute differences
                // moves it to the bottom of its lane, and a shuffle spreads it: the column mask. Its logarithm, by two
                // nibble tables, is the column number f; the row number r comes from the row mask in the same way. Row
                // i of the diagonal is then 1 << (f - r + i), from a table of eight; other indices give 0.
                // SAFETY: lanes exist only where a token proved AVX2.
                unsafe {
                    let zero = _mm256_setzero_si256();
                    let spread_low = _mm256_set_epi64x(0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808, 0);
                    let rows = _mm256_set1_epi64x(0x0706_0504_0302_0100);
                    let row = _mm256_xor_si256(_mm256_cmpeq_epi8(self.0, zero), _mm256_set1_epi64x(-1));
                    let column = _mm256_shuffle_epi8(_mm256_sad_epu8(self.0, zero), spread_low);
                    let nibble = _mm256_set1_epi8(15);
                    let log_low = _mm256_broadcastsi128_si256(_mm_set_epi64x(3, 0x0000_0002_0001_0000));
                    let log_high = _mm256_broadcastsi128_si256(_mm_set_epi64x(7, 0x0000_0006_0005_0400));
                    let low = _mm256_shuffle_epi8(log_low, _mm256_and_si256(column, nibble));
                    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(column), nibble);
                    let f = _mm256_or_si256(low, _mm256_shuffle_epi8(log_high, high));
                    let r = _mm256_sad_epu8(_mm256_and_si256(row, rows), zero);
                    let r = _mm256_shuffle_epi8(r, spread_low);
                    let bit = _mm256_broadcastsi128_si256(_mm_set_epi64x(0, 0x8040_2010_0804_0201u64 as i64));
                    let diagonal = _mm256_add_epi8(_mm256_sub_epi8(f, r), rows);
                    let antidiagonal = _mm256_sub_epi8(_mm256_add_epi8(f, r), rows);
                    LinesThrough {
                        column: Self(column),
                        diagonal: Self(_mm256_shuffle_epi8(bit, diagonal)),
                        antidiagonal: Self(_mm256_shuffle_epi8(bit, antidiagonal)),
                    }
                }
            }
        }
    };
}

lanes! {
    Lanes4;
    #[inline(always)]
    fn shl_in_bytes<const N: u32>(self) -> Self {
        let mut shifted = self;
        let mut steps = 0;
        while steps < N {
            shifted = shifted.doubled_in_bytes();
            steps += 1;
        }
        shifted
    }
}

lanes! {
    Lanes4Gfni;
    const HAS_MATRICES: bool = true;
    #[inline(always)]
    fn mirror(self) -> Self {
        self.times(gfni_matrices::MIRROR)
    }
    #[inline(always)]
    fn transpose(self) -> Self {
        self.columns(gfni_matrices::COLUMNS)
    }
    #[inline(always)]
    fn mirror_and_transpose(self) -> Self {
        self.columns(gfni_matrices::REVERSED_COLUMNS)
    }
    #[inline(always)]
    fn sides_of_bit<const N: u32>(self) -> Self {
        self.times(const { gfni_matrices::sides(N) })
    }
    #[inline(always)]
    fn shl_in_bytes<const N: u32>(self) -> Self {
        if N == 1 { self.doubled_in_bytes() } else { self.times(const { gfni_matrices::shift_left(N) }) }
    }
    #[inline(always)]
    fn shr_in_bytes<const N: u32>(self) -> Self {
        self.times(const { gfni_matrices::shift_right(N) })
    }
}

impl Lanes4Gfni {
    /// The product of the matrix and each byte.
    #[inline(always)]
    fn times(self, matrix: u64) -> Self {
        // SAFETY: these lanes exist only where the token proved GFNI.
        Self(unsafe { _mm256_gf2p8affine_epi64_epi8::<0>(self.0, _mm256_set1_epi64x(matrix as i64)) })
    }
    /// The columns of the matrix that is the lane itself, picked one by one by the bytes that it is multiplied by.
    #[inline(always)]
    fn columns(self, picks: u64) -> Self {
        // SAFETY: these lanes exist only where the token proved GFNI.
        Self(unsafe { _mm256_gf2p8affine_epi64_epi8::<0>(_mm256_set1_epi64x(picks as i64), self.0) })
    }
}
