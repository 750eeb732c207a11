//! Eight lanes in a 512-bit register: AVX-512.
//!
//! Two tokens with lanes of their own. [`Avx512`] needs what all server and desktop CPUs with AVX-512 have (F, BW, DQ, VL,
//! CD); [`Avx512Gfni`] adds what those since Ice Lake and Zen 4 have: population counts of vectors, compressing of
//! bytes, and GFNI, whose one instruction multiplies 8x8 matrices of bits.

use super::popcount::Scratch;
use super::{Lanes, LinesThrough, Simd, gfni_matrices, inlined, sealed};
use std::arch::x86_64::*;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// Proof of AVX-512 F, BW, DQ, VL and CD (and of what [`super::Avx2`] proves).
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

/// Proof of what [`Avx512`] proves, and of VPOPCNTDQ, BITALG, VBMI2 and GFNI.
#[derive(Clone, Copy, Debug)]
pub struct Avx512Gfni(());

/// Eight lanes; made only from [`Avx512`].
#[derive(Clone, Copy, Debug)]
pub struct Lanes8(__m512i);

/// Eight lanes; made only from [`Avx512Gfni`].
#[derive(Clone, Copy, Debug)]
pub struct Lanes8Gfni(__m512i);

impl sealed::Sealed for Avx512 {}
impl sealed::Sealed for Avx512Gfni {}

/// The methods of a token that only move lanes.
macro_rules! moves {
    ($lanes:ident) => {
        type Lanes = $lanes;
        const WIDTH: usize = 8;
        #[inline(always)]
        fn splat(self, bits: u64) -> $lanes {
            // SAFETY: the token proves AVX-512 F.
            $lanes(unsafe { _mm512_set1_epi64(bits as i64) })
        }
        #[inline(always)]
        fn load(self, from: &[u64; 8], at: usize) -> $lanes {
            assert!(at == 0, "a vector is all eight lanes");
            // SAFETY: the token proves AVX-512 F; the reference covers the 64 bytes that are read.
            $lanes(unsafe { _mm512_loadu_si512(from.as_ptr().cast()) })
        }
        #[inline(always)]
        fn store(self, lanes: $lanes, to: &mut [u64; 8], at: usize) {
            assert!(at == 0, "a vector is all eight lanes");
            // SAFETY: the token proves AVX-512 F; the reference covers the 64 bytes that are written.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), lanes.0) }
        }
        #[inline(always)]
        fn mask(self, bits: u64) -> $lanes {
            // SAFETY: the token proves AVX-512 F.
            $lanes(unsafe { _mm512_maskz_set1_epi64(bits as u8, -1) })
        }
        #[inline(always)]
        fn delayed(self, lanes: $lanes, before: $lanes) -> $lanes {
            // SAFETY: the token proves AVX-512 F.
            $lanes(unsafe { _mm512_alignr_epi64::<7>(lanes.0, before.0) })
        }
        #[inline(always)]
        fn turn(self, rows: &[[u64; 8]; 8], turned: &mut [[u64; 8]; 8]) {
            let mut odd = 0;
            while odd < 2 {
                // The even or the odd words of pairs of rows.
                let pair = inlined(
                    #[inline(always)]
                    |row: usize| {
                        let (a, b) = (self.load(&rows[row], 0).0, self.load(&rows[row + 1], 0).0);
                        // SAFETY: the token proves AVX-512 F.
                        unsafe { if odd == 0 { _mm512_unpacklo_epi64(a, b) } else { _mm512_unpackhi_epi64(a, b) } }
                    },
                );
                let (a, b, c, d) = (pair(0), pair(2), pair(4), pair(6));
                // Four rows of four pairs of words, as a 4x4 matrix.
                // SAFETY: the token proves AVX-512 F.
                let columns = unsafe {
                    let low = [_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0x88>(c, d)];
                    let high = [_mm512_shuffle_i64x2::<0xDD>(a, b), _mm512_shuffle_i64x2::<0xDD>(c, d)];
                    [
                        _mm512_shuffle_i64x2::<0x88>(low[0], low[1]),
                        _mm512_shuffle_i64x2::<0x88>(high[0], high[1]),
                        _mm512_shuffle_i64x2::<0xDD>(low[0], low[1]),
                        _mm512_shuffle_i64x2::<0xDD>(high[0], high[1]),
                    ]
                };
                let mut column = 0;
                while column < 4 {
                    self.store($lanes(columns[column]), &mut turned[2 * column + odd], 0);
                    column += 1;
                }
                odd += 1;
            }
        }
    };
}

impl Simd for Avx512 {
    features!(
        [] "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd" "avx2" "popcnt" "bmi1" "bmi2" "lzcnt"
    );
    moves!(Lanes8);
    #[inline(always)]
    fn store_weighted_counts<const N: usize>(
        self,
        base: Lanes8,
        planes: [Lanes8; N],
        weights: [u64; N],
        to: &mut [u64; 8],
        at: usize,
    ) {
        // While 512-bit operations run, these CPUs leave a scalar port idle that can count ones, one lane per
        // cycle: free, where a population count by byte shuffles would cost as much as a third of the kernel.
        let mut stored = Scratch([[0; 8]; N]);
        let mut plane = 0;
        while plane < N {
            self.store(planes[plane], &mut stored.0[plane], 0);
            plane += 1;
        }
        self.store(base, to, at);
        stored.add_weighted_counts(&weights, to);
    }
}

impl Simd for Avx512Gfni {
    features!(
        [] "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd" "avx512vpopcntdq" "avx512bitalg" "avx512vbmi2" "gfni" "avx2"
        "popcnt" "bmi1" "bmi2" "lzcnt"
    );
    moves!(Lanes8Gfni);
    #[inline(always)]
    fn write_moves(self, from: u16, targets: u64, room: &mut [u16; 64]) -> usize {
        /// The squares in order.
        const SQUARES: [u8; 64] = {
            let mut squares = [0; 64];
            let mut square = 0;
            while square < 64 {
                squares[square] = square as u8;
                square += 1;
            }
            squares
        };
        let count = targets.count_ones() as usize;
        // SAFETY: the token proves AVX-512 F, BW and VBMI2; the reference covers the 128 bytes that are written.
        unsafe {
            let squares = _mm512_maskz_compress_epi8(targets, _mm512_loadu_si512(SQUARES.as_ptr().cast()));
            let to = room.as_mut_ptr();
            let few = _mm256_slli_epi16::<6>(_mm256_cvtepu8_epi16(_mm512_castsi512_si128(squares)));
            _mm256_storeu_si256(to.cast(), _mm256_or_si256(few, _mm256_set1_epi16(from as i16)));
            if count > 16 {
                let from = _mm512_set1_epi16(from as i16);
                let moves =
                    |squares: __m256i| _mm512_or_si512(_mm512_slli_epi16::<6>(_mm512_cvtepu8_epi16(squares)), from);
                _mm512_storeu_si512(to.cast(), moves(_mm512_castsi512_si256(squares)));
                let rest = moves(_mm512_extracti64x4_epi64::<1>(squares));
                _mm512_storeu_si512(to.add(32).cast(), rest);
            }
        }
        count
    }
    #[inline(always)]
    fn store_weighted_counts<const N: usize>(
        self,
        base: Lanes8Gfni,
        planes: [Lanes8Gfni; N],
        weights: [u64; N],
        to: &mut [u64; 8],
        at: usize,
    ) {
        let mut sum = base;
        let mut plane = 0;
        while plane < N {
            // A weight has at most three ones: three shifts at the most, no multiplication.
            let count = planes[plane].count_ones();
            let mut weight = weights[plane];
            while weight != 0 {
                sum = sum.add(count_shifted(count, weight.trailing_zeros()));
                weight &= weight - 1;
            }
            plane += 1;
        }
        self.store(sum, to, at);
    }
}

#[inline(always)]
fn count_shifted(count: Lanes8Gfni, by: u32) -> Lanes8Gfni {
    // SAFETY: lanes exist only where a token proved AVX-512 F.
    Lanes8Gfni(unsafe { _mm512_sllv_epi64(count.0, _mm512_set1_epi64(i64::from(by))) })
}

macro_rules! bitwise {
    ($lanes:ident; $($op:ident $method:ident $intrinsic:ident;)*) => {$(
        impl $op for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    )*};
}

/// Bytes 7 to 0 of each lane: the shuffle that reverses them; the same bytes in order.
const REVERSED: i64 = 0x0001_0203_0405_0607;
const IN_ORDER: i64 = 0x0706_0504_0302_0100;

/// Tables indexed by `63 - square`, the number of leading zeros.
mod by_leading_zeros {
    pub(super) const COLUMN: [u64; 8] = {
        let mut table = [0; 8];
        let mut i = 0;
        while i < 8 {
            table[i] = 0x0101_0101_0101_0101 << (7 - i);
            i += 1;
        }
        table
    };
    const ROW: [u64; 8] = {
        let mut table = [0; 8];
        let mut i = 0;
        while i < 8 {
            table[i] = 0xFF << (8 * (7 - i));
            i += 1;
        }
        table
    };
    /// The line with row - column = `i`, or `i - 16`.
    pub(super) const DIAGONAL: [[u64; 8]; 2] = {
        let mut table = [[0; 8]; 2];
        let mut bit = 0;
        while bit < 64 {
            let i = (16 + bit / 8 - bit % 8) % 16;
            table[i / 8][i % 8] |= 1 << bit;
            bit += 1;
        }
        table
    };
    /// The line with row + column = 14 - `i`.
    pub(super) const ANTIDIAGONAL: [[u64; 8]; 2] = {
        let mut table = [[0; 8]; 2];
        let mut bit = 0;
        while bit < 64 {
            let i = 14 - (bit / 8 + bit % 8);
            table[i / 8][i % 8] |= 1 << bit;
            bit += 1;
        }
        table
    };
    /// Columns (and, transposed, rows) at most two away.
    pub(super) const NEAR_COLUMN: [u64; 8] = near(&COLUMN);
    pub(super) const NEAR_ROW: [u64; 8] = near(&ROW);

    const fn near(lines: &[u64; 8]) -> [u64; 8] {
        let mut table = [0; 8];
        let mut i = 0;
        while i < 8 {
            let mut j = 0;
            while j < 8 {
                if i <= j + 2 && j <= i + 2 {
                    table[i] |= lines[j];
                }
                j += 1;
            }
            i += 1;
        }
        table
    }
    /// The pattern around the highest bit of a lane if rows are cyclic: 8 neighbours, 8 jumps.
    pub(super) const NEIGHBOURS: u64 = around([(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]);
    pub(super) const JUMPS: u64 = around([(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]);

    const fn around(steps: [(i32, i32); 8]) -> u64 {
        let mut pattern = 0;
        let mut i = 0;
        while i < 8 {
            let (rows, columns) = steps[i];
            pattern |= 1u64 << (63 + 8 * rows + columns).rem_euclid(64);
            i += 1;
        }
        pattern
    }
}

/// The operations that both kinds of lanes share; those in which they differ follow the name.
macro_rules! lanes {
    ($lanes:ident; $($own:tt)*) => {
        bitwise! {
            $lanes;
            BitAnd bitand _mm512_and_si512;
            BitOr bitor _mm512_or_si512;
            BitXor bitxor _mm512_xor_si512;
        }
        impl Not for $lanes {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_xor_si512(self.0, _mm512_set1_epi64(-1)) })
            }
        }
        impl $lanes {
            #[inline(always)]
            fn table(table: &[u64; 8]) -> __m512i {
                // SAFETY: called only from methods of lanes, which exist only where a token proved AVX-512 F; the
                // reference covers the 64 bytes that are read.
                unsafe { _mm512_loadu_si512(table.as_ptr().cast()) }
            }
            #[inline(always)]
            fn leading_zeros(self) -> __m512i {
                // SAFETY: lanes exist only where a token proved AVX-512 CD.
                unsafe { _mm512_lzcnt_epi64(self.0) }
            }
            /// The pattern for the highest bit, moved to the single bit of each lane.
            #[inline(always)]
            fn around_bit(self, pattern: u64) -> Self {
                use by_leading_zeros::{NEAR_COLUMN, NEAR_ROW};
                let zeros = self.leading_zeros();
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                unsafe {
                    let moved = _mm512_rorv_epi64(_mm512_set1_epi64(pattern as i64), zeros);
                    let columns = _mm512_permutexvar_epi64(zeros, Self::table(&NEAR_COLUMN));
                    let rows =
                        _mm512_permutexvar_epi64(_mm512_srli_epi64::<3>(zeros), Self::table(&NEAR_ROW));
                    Self(_mm512_and_si512(_mm512_and_si512(moved, columns), rows))
                }
            }
        }

        impl Lanes for $lanes {
            $($own)*
            #[inline(always)]
            fn splat(self, bits: u64) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_set1_epi64(bits as i64) })
            }
            #[inline(always)]
            fn shl<const N: u32>(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_slli_epi64::<N>(self.0) })
            }
            #[inline(always)]
            fn shr<const N: u32>(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_srli_epi64::<N>(self.0) })
            }
            #[inline(always)]
            fn shl_by(self, counts: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_sllv_epi64(self.0, counts.0) })
            }
            #[inline(always)]
            fn shr_by(self, counts: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_srlv_epi64(self.0, counts.0) })
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_add_epi64(self.0, other.0) })
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_sub_epi64(self.0, other.0) })
            }
            #[inline(always)]
            fn sub_twice_in_bytes(self, from: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 BW.
                Self(unsafe {
                    let twice = _mm512_add_epi8(from.0, from.0);
                    _mm512_sub_epi8(self.0, twice)
                })
            }
            #[inline(always)]
            fn add_in_bytes(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 BW.
                Self(unsafe { _mm512_add_epi8(self.0, other.0) })
            }
            #[inline(always)]
            fn sum_of_bytes(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 BW.
                Self(unsafe { _mm512_sad_epu8(self.0, _mm512_setzero_si512()) })
            }
            #[inline(always)]
            fn swap_bytes(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 BW.
                Self(unsafe {
                    let reverse =
                        _mm512_broadcast_i32x4(_mm_set_epi64x(REVERSED + 0x0808_0808_0808_0808, REVERSED));
                    _mm512_shuffle_epi8(self.0, reverse)
                })
            }
            #[inline(always)]
            fn swap_bytes_where(self, mask: Self) -> Self {
                // The number of a byte and that of its mirror differ in the three low bits.
                // SAFETY: lanes exist only where a token proved AVX-512 BW.
                Self(unsafe {
                    let same =
                        _mm512_broadcast_i32x4(_mm_set_epi64x(IN_ORDER + 0x0808_0808_0808_0808, IN_ORDER));
                    let sevens = _mm512_set1_epi64(0x0707_0707_0707_0707);
                    let order = _mm512_xor_si512(same, _mm512_and_si512(mask.0, sevens));
                    _mm512_shuffle_epi8(self.0, order)
                })
            }
            #[inline(always)]
            fn multiply_halves(self, other: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_mul_epu32(self.0, other.0) })
            }
            #[inline(always)]
            fn nonzero(self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 DQ.
                Self(unsafe { _mm512_movm_epi64(_mm512_test_epi64_mask(self.0, self.0)) })
            }
            #[inline(always)]
            fn if_zero(self, then: Self, otherwise: Self) -> Self {
                self.if_disjoint(self, then, otherwise)
            }
            #[inline(always)]
            fn if_disjoint(self, other: Self, then: Self, otherwise: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe {
                    let disjoint = _mm512_testn_epi64_mask(self.0, other.0);
                    _mm512_mask_blend_epi64(disjoint, otherwise.0, then.0)
                })
            }
            #[inline(always)]
            fn any(self) -> bool {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                unsafe { _mm512_test_epi64_mask(self.0, self.0) != 0 }
            }
            #[inline(always)]
            fn nonzero_bits(self) -> u64 {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                unsafe { _mm512_test_epi64_mask(self.0, self.0) }.into()
            }
            #[inline(always)]
            fn choose(self, then: Self, otherwise: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_ternarylogic_epi64::<0xCA>(self.0, then.0, otherwise.0) })
            }
            #[inline(always)]
            fn without_unless(self, barred: Self, allowed: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_ternarylogic_epi64::<0xB0>(self.0, barred.0, allowed.0) })
            }
            #[inline(always)]
            fn differs_from(self, a: Self, b: Self) -> Self {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                Self(unsafe { _mm512_ternarylogic_epi64::<0x7E>(self.0, a.0, b.0) })
            }
            #[inline(always)]
            fn full_add(self, b: Self, c: Self) -> (Self, Self) {
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                unsafe {
                    let sum = _mm512_ternarylogic_epi64::<0x96>(self.0, b.0, c.0);
                    let carry = _mm512_ternarylogic_epi64::<0xE8>(self.0, b.0, c.0);
                    (Self(sum), Self(carry))
                }
            }
            #[inline(always)]
            fn neighbours_of_bit(self) -> Self {
                self.around_bit(by_leading_zeros::NEIGHBOURS)
            }
            #[inline(always)]
            fn jumps_of_bit(self) -> Self {
                self.around_bit(by_leading_zeros::JUMPS)
            }
            #[inline(always)]
            fn lines_through_bit(self) -> LinesThrough<Self> {
                use by_leading_zeros::{ANTIDIAGONAL, COLUMN, DIAGONAL};
                let zeros = self.leading_zeros();
                // A permutation uses only the low bits of its index that select one of its entries.
                // SAFETY: lanes exist only where a token proved AVX-512 F.
                unsafe {
                    let columns = _mm512_and_si512(zeros, _mm512_set1_epi64(7));
                    let rows = _mm512_srli_epi64::<3>(zeros);
                    let [low, high] = &DIAGONAL;
                    let (low, high) = (Self::table(low), Self::table(high));
                    let diagonal = _mm512_permutex2var_epi64(low, _mm512_sub_epi64(columns, rows), high);
                    let [low, high] = &ANTIDIAGONAL;
                    let (low, high) = (Self::table(low), Self::table(high));
                    let antidiagonal =
                        _mm512_permutex2var_epi64(low, _mm512_add_epi64(columns, rows), high);
                    LinesThrough {
                        column: Self(_mm512_permutexvar_epi64(zeros, Self::table(&COLUMN))),
                        diagonal: Self(diagonal),
                        antidiagonal: Self(antidiagonal),
                    }
                }
            }
        }
    };
}

lanes! {
    Lanes8;
    #[inline(always)]
    fn count_ones(self) -> Self {
        // SAFETY: these lanes exist only where the token proved AVX-512 BW.
        Self(unsafe {
            let counts = _mm512_broadcast_i32x4(_mm_set_epi64x(
                0x0403_0302_0302_0201,
                0x0302_0201_0201_0100,
            ));
            let nibble = _mm512_set1_epi64(0x0f0f_0f0f_0f0f_0f0f);
            let low = _mm512_shuffle_epi8(counts, _mm512_and_si512(self.0, nibble));
            let high = _mm512_and_si512(_mm512_srli_epi64::<4>(self.0), nibble);
            let bytes = _mm512_add_epi8(low, _mm512_shuffle_epi8(counts, high));
            _mm512_sad_epu8(bytes, _mm512_setzero_si512())
        })
    }
    #[inline(always)]
    fn sum_of_digits(digits: [Self; 4]) -> Self {
        // As `count_ones`, with a table for each digit: a byte has room for eight times fifteen.
        // SAFETY: these lanes exist only where the token proved AVX-512 BW.
        Self(unsafe {
            let nibble = _mm512_set1_epi64(0x0f0f_0f0f_0f0f_0f0f);
            let mut bytes = _mm512_setzero_si512();
            let mut digit = 0;
            while digit < 4 {
                let ones = _mm512_broadcast_i32x4(_mm_set_epi64x(
                    0x0403_0302_0302_0201 << digit,
                    0x0302_0201_0201_0100 << digit,
                ));
                let low = _mm512_and_si512(digits[digit].0, nibble);
                let high = _mm512_and_si512(_mm512_srli_epi64::<4>(digits[digit].0), nibble);
                let both = _mm512_add_epi8(_mm512_shuffle_epi8(ones, low), _mm512_shuffle_epi8(ones, high));
                bytes = _mm512_add_epi8(bytes, both);
                digit += 1;
            }
            _mm512_sad_epu8(bytes, _mm512_setzero_si512())
        })
    }
}

lanes! {
    Lanes8Gfni;
    const HAS_MATRICES: bool = true;
    const HAS_POPULATION_COUNTS: bool = true;
    #[inline(always)]
    fn count_ones(self) -> Self {
        // SAFETY: these lanes exist only where the token proved VPOPCNTDQ.
        Self(unsafe { _mm512_popcnt_epi64(self.0) })
    }
    #[inline(always)]
    fn count_ones_in_bytes(self) -> Self {
        // SAFETY: these lanes exist only where the token proved BITALG.
        Self(unsafe { _mm512_popcnt_epi8(self.0) })
    }
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
        self.times(const { gfni_matrices::shift_left(N) })
    }
    #[inline(always)]
    fn shr_in_bytes<const N: u32>(self) -> Self {
        self.times(const { gfni_matrices::shift_right(N) })
    }
}

impl Lanes8Gfni {
    /// The product of the matrix and each byte.
    #[inline(always)]
    fn times(self, matrix: u64) -> Self {
        // SAFETY: these lanes exist only where the token proved GFNI.
        Self(unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(self.0, _mm512_set1_epi64(matrix as i64)) })
    }
    /// The columns of the matrix that is the lane itself, picked one by one by the bytes that it is multiplied by.
    #[inline(always)]
    fn columns(self, picks: u64) -> Self {
        // SAFETY: these lanes exist only where the token proved GFNI.
        Self(unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(picks as i64), self.0) })
    }
}
