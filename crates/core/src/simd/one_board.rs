//! Vectors whose lanes are several views of *one* board, unlike the rest of this module: four lines in four
//! lanes, eight rays in eight, or one bit in each of 64.
//!
//! They need two operations that the bulk lanes do not have: reversing all 64 bits of a lane, and the union of the
//! lanes at the end. Reversal has two versions: bytes and nibbles by shuffles (AVX2), or one affine instruction that
//! reverses each byte followed by one byte shuffle (GFNI).

use std::fmt::Debug;

/// On other architectures there is no token.
#[cfg(not(target_arch = "x86_64"))]
type Proof = std::convert::Infallible;
#[cfg(target_arch = "x86_64")]
type Proof = ();

/// Four lanes of 64 bits that can be reversed.
pub trait FourLanes: Copy + Send + Sync + Debug + 'static {
    /// The required CPU features, as `std::arch` names them.
    const FEATURES: &'static [&'static str];
    /// The vector.
    type Vector: Copy;
    /// The token, if the CPU has the features.
    fn detect() -> Option<Self>;
    /// Runs the work with the features enabled. See the inlining rules of [`crate::simd`].
    fn enter<R>(self, work: impl FnOnce() -> R) -> R;
    /// The same bits in every lane.
    fn splat(self, bits: u64) -> Self::Vector;
    /// Four lanes from memory.
    fn load(self, lanes: &[u64; 4]) -> Self::Vector;
    /// Bitwise and.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Bitwise exclusive or.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Difference of each lane, wrapping.
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The 64 bits of each lane in reverse order.
    fn reverse_bits(self, a: Self::Vector) -> Self::Vector;
    /// The union of lanes 0 and 1.
    fn union_of_first_two(self, a: Self::Vector) -> u64;
    /// The union of lanes 2 and 3.
    fn union_of_last_two(self, a: Self::Vector) -> u64;
    /// The union of all four lanes.
    fn union(self, a: Self::Vector) -> u64;
}

/// Four lanes with AVX2; bits are reversed by shuffles.
#[derive(Clone, Copy, Debug)]
pub struct Avx2Four(Proof);

/// Four lanes with AVX2; bits are reversed by GFNI.
#[derive(Clone, Copy, Debug)]
pub struct GfniFour(Proof);

/// Eight lanes with AVX-512 (F and CD), for the eight rays of a queen.
#[derive(Clone, Copy, Debug)]
pub struct Avx512Eight(Proof);

/// One board shuffled bit by bit with AVX-512 (F, BW and BITALG).
#[derive(Clone, Copy, Debug)]
pub struct Avx512Bitalg(Proof);

/// The matrix that makes the affine instruction reverse the bits of each byte: the row for output bit `i`
/// is byte `7 - i` of the constant and selects input bit `7 - i`.
#[cfg(any(target_arch = "x86_64", test))]
const REVERSE_BYTE: u64 = 0x8040_2010_0804_0201;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Avx2Four, Avx512Bitalg, Avx512Eight, FourLanes, GfniFour, REVERSE_BYTE};
    use std::arch::x86_64::*;

    /// Reverses the eight bytes of each lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn swap_bytes(a: __m256i) -> __m256i {
        let order = _mm256_set_epi64x(
            0x0809_0A0B_0C0D_0E0F,
            0x0001_0203_0405_0607,
            0x0809_0A0B_0C0D_0E0F,
            0x0001_0203_0405_0607,
        );
        _mm256_shuffle_epi8(a, order)
    }

    /// Reverses the eight bits of each byte: both nibbles are looked up and exchanged.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn reverse_in_bytes(a: __m256i) -> __m256i {
        let nibble = _mm256_set1_epi8(0x0F);
        // Nibble n reversed, in the high half of the byte and in the low half.
        let high = _mm256_broadcastsi128_si256(_mm_set_epi8(
            -16, 0x70, -80, 0x30, -48, 0x50, -112, 0x10, -32, 0x60, -96, 0x20, -64, 0x40, -128, 0,
        ));
        let low = _mm256_broadcastsi128_si256(_mm_set_epi8(15, 7, 11, 3, 13, 5, 9, 1, 14, 6, 10, 2, 12, 4, 8, 0));
        _mm256_or_si256(
            _mm256_shuffle_epi8(high, _mm256_and_si256(a, nibble)),
            _mm256_shuffle_epi8(low, _mm256_and_si256(_mm256_srli_epi16::<4>(a), nibble)),
        )
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn union_of_two(a: __m128i) -> u64 {
        _mm_cvtsi128_si64(_mm_or_si128(a, _mm_unpackhi_epi64(a, a))) as u64
    }

    macro_rules! four_lanes {
        ($token:ident, $($feature:tt),+; |$a:ident| $reverse:expr) => {
            impl FourLanes for $token {
                features!([] $($feature)+);
                type Vector = __m256i;

                #[inline(always)]
                fn splat(self, bits: u64) -> __m256i {
                    // SAFETY: the token proves AVX2.
                    unsafe { _mm256_set1_epi64x(bits as i64) }
                }
                #[inline(always)]
                fn load(self, lanes: &[u64; 4]) -> __m256i {
                    // SAFETY: the token proves AVX2, and the reference is valid for the 32 bytes.
                    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
                }
                #[inline(always)]
                fn and(self, a: __m256i, b: __m256i) -> __m256i {
                    // SAFETY: the token proves AVX2.
                    unsafe { _mm256_and_si256(a, b) }
                }
                #[inline(always)]
                fn xor(self, a: __m256i, b: __m256i) -> __m256i {
                    // SAFETY: the token proves AVX2.
                    unsafe { _mm256_xor_si256(a, b) }
                }
                #[inline(always)]
                fn sub(self, a: __m256i, b: __m256i) -> __m256i {
                    // SAFETY: the token proves AVX2.
                    unsafe { _mm256_sub_epi64(a, b) }
                }
                #[inline(always)]
                fn reverse_bits(self, $a: __m256i) -> __m256i {
                    // SAFETY: the token proves all features that the expression needs.
                    unsafe { $reverse }
                }
                #[inline(always)]
                fn union_of_first_two(self, a: __m256i) -> u64 {
                    // SAFETY: the token proves AVX2.
                    unsafe { union_of_two(_mm256_castsi256_si128(a)) }
                }
                #[inline(always)]
                fn union_of_last_two(self, a: __m256i) -> u64 {
                    // SAFETY: the token proves AVX2.
                    unsafe { union_of_two(_mm256_extracti128_si256::<1>(a)) }
                }
                #[inline(always)]
                fn union(self, a: __m256i) -> u64 {
                    // SAFETY: the token proves AVX2.
                    unsafe {
                        let high = _mm256_extracti128_si256::<1>(a);
                        union_of_two(_mm_or_si128(_mm256_castsi256_si128(a), high))
                    }
                }
            }
        };
    }
    four_lanes!(Avx2Four, "avx2"; |a| reverse_in_bytes(swap_bytes(a)));
    four_lanes!(GfniFour, "avx2", "gfni"; |a| {
        let matrix = _mm256_set1_epi64x(REVERSE_BYTE as i64);
        _mm256_gf2p8affine_epi64_epi8::<0>(swap_bytes(a), matrix)
    });

    impl Avx512Eight {
        features!([pub] "avx512f" "avx512cd");

        /// Cuts each lane at its nearest obstacle and returns the union of the lanes whose bit is set in `lanes`.
        ///
        /// Lanes 0 to 3 keep their bits up to the lowest one that is also in `obstacles`, lanes 4 to 7
        /// theirs down to the highest; a lane without an obstacle is unchanged.
        #[inline(always)]
        pub fn cut_at_nearest(self, rays: &[u64; 8], obstacles: u64, lanes: u8) -> u64 {
            #[inline]
            #[target_feature(enable = "avx512f,avx512cd")]
            fn cut(rays: &[u64; 8], obstacles: u64, lanes: u8) -> u64 {
                // SAFETY: the reference is valid for the 64 bytes.
                let rays = unsafe { _mm512_maskz_loadu_epi64(lanes, rays.as_ptr().cast()) };
                let blockers = _mm512_and_si512(rays, _mm512_set1_epi64(obstacles as i64));
                // Without a blocker 0 - 1 has all bits set, as it should.
                let less_one = _mm512_add_epi64(blockers, _mm512_set1_epi64(-1));
                let up_to_lowest = _mm512_xor_si512(blockers, less_one);
                // Bit 0 stands in for the edge where there is no blocker.
                let zeros = _mm512_lzcnt_epi64(_mm512_or_si512(blockers, _mm512_set1_epi64(1)));
                let highest = _mm512_srlv_epi64(_mm512_set1_epi64(i64::MIN), zeros);
                let down_to_highest = _mm512_sub_epi64(_mm512_setzero_si512(), highest);
                let kept = _mm512_mask_blend_epi64(0xF0, up_to_lowest, down_to_highest);
                _mm512_reduce_or_epi64(_mm512_and_si512(rays, kept)) as u64
            }
            // SAFETY: the token proves the features.
            unsafe { cut(rays, obstacles, lanes) }
        }
    }

    impl Avx512Bitalg {
        features!([pub] "avx512f" "avx512bw" "avx512bitalg");

        /// Picks 64 bits: bit i of the result is bit `from[i]` of `bits` (only the lowest six bits of the index
        /// count), or zero if bit i of `mask` is zero.
        #[inline(always)]
        pub fn pick(self, bits: u64, from: &[u8; 64], mask: u64) -> u64 {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg")]
            fn pick(bits: u64, from: &[u8; 64], mask: u64) -> u64 {
                // SAFETY: the reference is valid for the 64 bytes.
                let from = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
                _mm512_mask_bitshuffle_epi64_mask(mask, _mm512_set1_epi64(bits as i64), from)
            }
            // SAFETY: the token proves the features.
            unsafe { pick(bits, from, mask) }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use super::{Avx2Four, Avx512Bitalg, Avx512Eight, FourLanes, GfniFour};

    macro_rules! four_lanes {
        ($token:ident, $($feature:literal),+) => {
            impl FourLanes for $token {
                const FEATURES: &'static [&'static str] = &[$($feature),+];
                type Vector = u64;
                fn detect() -> Option<Self> {
                    None
                }
                fn enter<R>(self, _: impl FnOnce() -> R) -> R {
                    match self.0 {}
                }
                fn splat(self, _: u64) -> u64 {
                    match self.0 {}
                }
                fn load(self, _: &[u64; 4]) -> u64 {
                    match self.0 {}
                }
                fn and(self, _: u64, _: u64) -> u64 {
                    match self.0 {}
                }
                fn xor(self, _: u64, _: u64) -> u64 {
                    match self.0 {}
                }
                fn sub(self, _: u64, _: u64) -> u64 {
                    match self.0 {}
                }
                fn reverse_bits(self, _: u64) -> u64 {
                    match self.0 {}
                }
                fn union_of_first_two(self, _: u64) -> u64 {
                    match self.0 {}
                }
                fn union_of_last_two(self, _: u64) -> u64 {
                    match self.0 {}
                }
                fn union(self, _: u64) -> u64 {
                    match self.0 {}
                }
            }
        };
    }
    four_lanes!(Avx2Four, "avx2");
    four_lanes!(GfniFour, "avx2", "gfni");

    #[expect(missing_docs, reason = "documented on x86-64")]
    impl Avx512Eight {
        pub const FEATURES: &'static [&'static str] = &["avx512f", "avx512cd"];
        pub fn detect() -> Option<Self> {
            None
        }
        pub fn enter<R>(self, _: impl FnOnce() -> R) -> R {
            match self.0 {}
        }
        pub fn cut_at_nearest(self, _: &[u64; 8], _: u64, _: u8) -> u64 {
            match self.0 {}
        }
    }

    #[expect(missing_docs, reason = "documented on x86-64")]
    impl Avx512Bitalg {
        pub const FEATURES: &'static [&'static str] = &["avx512f", "avx512bw", "avx512bitalg"];
        pub fn detect() -> Option<Self> {
            None
        }
        pub fn enter<R>(self, _: impl FnOnce() -> R) -> R {
            match self.0 {}
        }
        pub fn pick(self, _: u64, _: &[u8; 64], _: u64) -> u64 {
            match self.0 {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes_reverse_and_unite<T: FourLanes>() {
        let Some(token) = T::detect() else {
            crate::testing::skipped(&format!("this CPU lacks one of {:?}", T::FEATURES));
            return;
        };
        let mut bits = [0x0123_4567_89AB_CDEF, 1, !0 << 60, 0xDEAD_BEEF_CAFE_F00D];
        for _ in 0..1000 {
            bits = bits.map(|lane: u64| lane.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ 0x55);
            let reversed = token.reverse_bits(token.load(&bits));
            let [a, b, c, d] = bits.map(u64::reverse_bits);
            assert_eq!(token.union_of_first_two(reversed), a | b);
            assert_eq!(token.union_of_last_two(reversed), c | d);
            assert_eq!(token.union(reversed), a | b | c | d);
            let less = token.sub(token.load(&bits), token.splat(3));
            let [a, b, ..] = bits.map(|lane| lane.wrapping_sub(3));
            assert_eq!(token.union_of_first_two(less), a | b);
        }
    }

    #[test]
    fn avx2_lanes() {
        lanes_reverse_and_unite::<Avx2Four>();
    }
    #[test]
    fn gfni_lanes() {
        lanes_reverse_and_unite::<GfniFour>();
    }

    /// The affine instruction as defined in Intel's manual, so that the matrix is checked on every CPU: output
    /// bit i is the parity of byte 7 - i of the matrix under the input.
    #[test]
    fn affine_matrix_reverses_bytes() {
        let matrix = REVERSE_BYTE.to_le_bytes();
        for byte in 0..=255u8 {
            let product = (0..8).fold(0, |product, i| product | ((matrix[7 - i] & byte).count_ones() as u8 & 1) << i);
            assert_eq!(product, byte.reverse_bits());
        }
    }

    #[test]
    fn bits_are_picked() {
        let Some(token) = Avx512Bitalg::detect() else {
            crate::testing::skipped(&format!("this CPU lacks one of {:?}", Avx512Bitalg::FEATURES));
            return;
        };
        let bits = 0xDEAD_BEEF_0123_4567u64;
        let from: [u8; 64] = std::array::from_fn(|i| (i * 37 + 5) as u8);
        let mask = 0xFFFF_0F0F_1234_FFFF;
        let expected = (0..64).fold(0, |picked, i| picked | (bits >> (from[i] & 63) & 1) << i);
        assert_eq!(token.pick(bits, &from, mask), expected & mask);
    }
}
