//! Codes of four bits, one for each bit of a set, spread over the places of the set, and gathered from them.
//!
//! Training data hold a board as the set of its occupied squares and a code of four bits for each of them, in order: the
//! first code is the low half of the first byte. The kernels want it the other way round, as four sets: for each bit of
//! the codes, the squares on which it is set. Thirty-two codes are four words of 32 bits, one for each bit of a code, and
//! PDEP deposits each of them on the occupied squares. What is left is to collect every fourth bit of the codes:
//!
//! | way | how |
//! | --- | --- |
//! | [`Plain`] | bit by bit, without PDEP |
//! | [`ScalarBits`] | PEXT of each half |
//! | [`Avx2Bits`] | a code a byte, of which the comparison of signs takes one bit at a time |
//! | [`Avx512Bits`] | the codes of two boards, a byte each, of which a test takes one bit at a time |
//!
//! The other way round, PEXT gathers each of the four sets to a word of 32 bits. What is left is to give each bit of these
//! words its place in the codes:
//!
//! | way | how |
//! | --- | --- |
//! | [`Plain`] | bit by bit, without PEXT |
//! | [`ScalarBits`], [`Avx2Bits`] | PDEP to each half |
//! | [`Avx512Bits`] | the codes of two boards, a byte each, to which each word is a mask; then two bytes become one |
//!
//! An [`Isa`] is more than that: it is what code of formats may use of the CPU at once, PEXT and PDEP on words and
//! [lanes](super::Lanes) of words, and it is chosen once for many records.

use super::bmi2::Bmi2;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512};
use super::{Scalar, Simd, inlined};
use std::sync::OnceLock;

/// Codes of four bits on the places of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// For each bit of the codes, the lowest first: the places where it is set. None has other places than the set.
    pub bits: [u64; 4],
    /// Zero if there is a place for each code, and each code without a place is zero.
    pub excess: u64,
}

/// A way to spread codes, which proves what else the CPU can do.
pub trait Bits: Copy {
    /// The token of lanes.
    type Simd: Simd;
    /// The token of lanes.
    fn simd(self) -> Self::Simd;
    /// The token for PEXT and PDEP, if they are fast on this CPU.
    fn bmi2(self) -> Option<Bmi2>;
    /// Runs the work with the CPU features enabled. See the inlining rules of [`crate::simd`].
    fn enter<R>(self, work: impl FnOnce() -> R) -> R;
    /// Spreads codes over the places of a set.
    fn spread(self, set: u64, codes: &[u8; 16]) -> Spread;
    /// [`Self::spread`] for two sets, which some CPUs do at once.
    #[inline(always)]
    fn spread_two(self, sets: [u64; 2], codes: [&[u8; 16]; 2]) -> [Spread; 2] {
        [self.spread(sets[0], codes[0]), self.spread(sets[1], codes[1])]
    }
    /// The codes of the first 32 places of a set, in order; `bits` are sets for each bit of the codes, the lowest first, and
    /// what is set elsewhere does not matter. Codes without a place are zero.
    fn gather(self, set: u64, bits: [u64; 4]) -> [u8; 16];
    /// [`Self::gather`] for two sets, which some CPUs do at once.
    #[inline(always)]
    fn gather_two(self, sets: [u64; 2], bits: [[u64; 4]; 2]) -> [[u8; 16]; 2] {
        [self.gather(sets[0], bits[0]), self.gather(sets[1], bits[1])]
    }
}

/// Work for the best way of this CPU, whichever it is.
pub trait Work {
    /// The result of the work.
    type Done;
    /// Does it; to be inlined.
    fn with<B: Bits>(self, bits: B) -> Self::Done;
}

/// The ways. Without a fast PDEP, it is the plain one.
#[derive(Clone, Copy, Debug)]
pub enum Isa {
    Plain(Plain),
    Scalar(ScalarBits),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Bits),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512Bits),
}

impl Isa {
    /// The ways that this CPU can go, the plainest first.
    pub fn available() -> Vec<Self> {
        let mut ways = vec![Self::Plain(Plain)];
        let Some(bmi2) = Bmi2::detect().filter(|_| !crate::cpu::pext_is_microcoded()) else {
            return ways;
        };
        ways.push(Self::Scalar(ScalarBits(bmi2)));
        #[cfg(target_arch = "x86_64")]
        ways.extend(Avx2::detect().map(|avx2| Self::Avx2(Avx2Bits(avx2, bmi2))));
        #[cfg(target_arch = "x86_64")]
        ways.extend(Avx2::detect().zip(Avx512::detect()).map(|(_, avx512)| Self::Avx512(Avx512Bits(avx512, bmi2))));
        ways
    }

    /// The best of them, found at the first call: virtual machines take microseconds to ask the CPU.
    pub fn best() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Self::available().pop().unwrap_or(Self::Plain(Plain)))
    }

    /// Does the work this way.
    pub fn run<W: Work>(self, work: W) -> W::Done {
        match self {
            Self::Plain(bits) => bits.enter(
                #[inline(always)]
                || work.with(bits),
            ),
            Self::Scalar(bits) => bits.enter(
                #[inline(always)]
                || work.with(bits),
            ),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(bits) => bits.enter(
                #[inline(always)]
                || work.with(bits),
            ),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(bits) => bits.enter(
                #[inline(always)]
                || work.with(bits),
            ),
        }
    }
}

/// No instruction set is needed.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// PEXT and PDEP.
#[derive(Clone, Copy, Debug)]
pub struct ScalarBits(Bmi2);

/// AVX2, PEXT and PDEP.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx2Bits(Avx2, Bmi2);

/// AVX-512, PEXT and PDEP.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx512Bits(Avx512, Bmi2);

impl Bits for Plain {
    type Simd = Scalar;
    #[inline(always)]
    fn simd(self) -> Scalar {
        Scalar
    }
    #[inline(always)]
    fn bmi2(self) -> Option<Bmi2> {
        None
    }
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
    #[inline(always)]
    fn spread(self, set: u64, codes: &[u8; 16]) -> Spread {
        let mut rest = u128::from_le_bytes(*codes);
        let (mut places, mut bits) = (set, [0; 4]);
        for _ in 0..set.count_ones().min(32) {
            let place = places & places.wrapping_neg();
            places ^= place;
            for (bit, bits) in bits.iter_mut().enumerate() {
                *bits |= place & 0u64.wrapping_sub(rest as u64 >> bit & 1);
            }
            rest >>= 4;
        }
        Spread { bits, excess: places | u64::from(rest != 0) }
    }
    #[inline(always)]
    fn gather(self, set: u64, bits: [u64; 4]) -> [u8; 16] {
        let (mut rest, mut codes) = (set, 0u128);
        for number in 0..set.count_ones().min(32) {
            let place = rest.trailing_zeros();
            rest &= rest - 1;
            for (bit, &bits) in bits.iter().enumerate() {
                codes |= u128::from(bits >> place & 1) << (4 * number + bit as u32);
            }
        }
        codes.to_le_bytes()
    }
}

/// Deposits each bit of 32 codes on the places of a set.
#[inline(always)]
fn deposit(bmi2: Bmi2, set: u64, planes: [u32; 4]) -> Spread {
    let count = set.count_ones();
    let used = planes[0] | planes[1] | planes[2] | planes[3];
    Spread {
        bits: [
            bmi2.pdep(planes[0].into(), set),
            bmi2.pdep(planes[1].into(), set),
            bmi2.pdep(planes[2].into(), set),
            bmi2.pdep(planes[3].into(), set),
        ],
        // The second is not zero from 33 on; with 64, the first may be anything.
        excess: u64::from(used).wrapping_shr(count) | u64::from((count + 31) >> 6),
    }
}

/// The first bit of sixteen codes.
const FIRST_BITS: u64 = 0x1111_1111_1111_1111;

/// Gathers four sets by PEXT, and gives each bit its place by PDEP.
#[inline(always)]
fn gather(bmi2: Bmi2, set: u64, bits: [u64; 4]) -> [u8; 16] {
    let (mut low, mut high) = (0, 0);
    let mut bit = 0;
    while bit < 4 {
        let plane = bmi2.pext(bits[bit], set);
        low |= bmi2.pdep(plane, FIRST_BITS << bit);
        high |= bmi2.pdep(plane >> 16, FIRST_BITS << bit);
        bit += 1;
    }
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

impl Bits for ScalarBits {
    type Simd = Scalar;
    #[inline(always)]
    fn simd(self) -> Scalar {
        Scalar
    }
    #[inline(always)]
    fn bmi2(self) -> Option<Bmi2> {
        Some(self.0)
    }
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        self.0.enter(work)
    }
    #[inline(always)]
    fn spread(self, set: u64, codes: &[u8; 16]) -> Spread {
        let codes = u128::from_le_bytes(*codes);
        let (low, high) = (codes as u64, (codes >> 64) as u64);
        let plane = inlined(
            #[inline(always)]
            |bit: u32| {
                let mask = FIRST_BITS << bit;
                (self.0.pext(low, mask) | self.0.pext(high, mask) << 16) as u32
            },
        );
        deposit(self.0, set, [plane(0), plane(1), plane(2), plane(3)])
    }
    #[inline(always)]
    fn gather(self, set: u64, bits: [u64; 4]) -> [u8; 16] {
        gather(self.0, set, bits)
    }
}

/// Collects every fourth bit of 32 codes.
///
/// # Safety
/// The CPU must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn planes(codes: &[u8; 16]) -> [u32; 4] {
    use std::arch::x86_64::*;
    // SAFETY: the caller has AVX2; the reference is valid for 16 bytes.
    unsafe {
        let pairs = _mm256_cvtepu8_epi16(_mm_loadu_si128(codes.as_ptr().cast()));
        // The lower byte of each pair has a code in its lower half, and so has the upper one; their upper halves are
        // something else.
        let codes = _mm256_or_si256(pairs, _mm256_slli_epi16::<4>(pairs));
        [
            _mm256_movemask_epi8(_mm256_slli_epi16::<7>(codes)) as u32,
            _mm256_movemask_epi8(_mm256_slli_epi16::<6>(codes)) as u32,
            _mm256_movemask_epi8(_mm256_slli_epi16::<5>(codes)) as u32,
            _mm256_movemask_epi8(_mm256_slli_epi16::<4>(codes)) as u32,
        ]
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! bytewise {
    ($bits:ident, $simd:ident, $($more:item),*) => {
        impl Bits for $bits {
            type Simd = $simd;
            #[inline(always)]
            fn simd(self) -> $simd {
                self.0
            }
            #[inline(always)]
            fn bmi2(self) -> Option<Bmi2> {
                Some(self.1)
            }
            #[inline(always)]
            fn enter<R>(self, work: impl FnOnce() -> R) -> R {
                self.0.enter(work)
            }
            #[inline(always)]
            fn spread(self, set: u64, codes: &[u8; 16]) -> Spread {
                // SAFETY: the token proves AVX2.
                let planes = unsafe { planes(codes) };
                deposit(self.1, set, planes)
            }
            #[inline(always)]
            fn gather(self, set: u64, bits: [u64; 4]) -> [u8; 16] {
                gather(self.1, set, bits)
            }
            $($more)*
        }
    };
}
#[cfg(target_arch = "x86_64")]
bytewise! { Avx2Bits, Avx2, }
#[cfg(target_arch = "x86_64")]
bytewise! {
    Avx512Bits,
    Avx512,
    #[inline(always)]
    fn spread_two(self, sets: [u64; 2], codes: [&[u8; 16]; 2]) -> [Spread; 2] {
        use std::arch::x86_64::*;
        // SAFETY: the token proves AVX-512 F and BW; the references are valid for 16 bytes each.
        let planes = unsafe {
            let load = inlined(
                #[inline(always)]
                |codes: &[u8; 16]| _mm_loadu_si128(codes.as_ptr().cast()),
            );
            let pairs = _mm512_cvtepu8_epi16(_mm256_set_m128i(load(codes[1]), load(codes[0])));
            // As in `planes`.
            let codes = _mm512_or_si512(pairs, _mm512_slli_epi16::<4>(pairs));
            [
                _mm512_test_epi8_mask(codes, _mm512_set1_epi8(1)),
                _mm512_test_epi8_mask(codes, _mm512_set1_epi8(2)),
                _mm512_test_epi8_mask(codes, _mm512_set1_epi8(4)),
                _mm512_test_epi8_mask(codes, _mm512_set1_epi8(8)),
            ]
        };
        let [p0, p1, p2, p3] = planes;
        [
            deposit(self.1, sets[0], [p0 as u32, p1 as u32, p2 as u32, p3 as u32]),
            deposit(self.1, sets[1], [(p0 >> 32) as u32, (p1 >> 32) as u32, (p2 >> 32) as u32, (p3 >> 32) as u32]),
        ]
    },
    #[inline(always)]
    fn gather_two(self, sets: [u64; 2], bits: [[u64; 4]; 2]) -> [[u8; 16]; 2] {
        use std::arch::x86_64::*;
        let plane = inlined(
            #[inline(always)]
            |bit: usize| {
                let first = self.1.pext(bits[0][bit], sets[0]) & u64::from(u32::MAX);
                first | self.1.pext(bits[1][bit], sets[1]) << 32
            },
        );
        let planes = [plane(0), plane(1), plane(2), plane(3)];
        let mut codes = [[0; 16]; 2];
        // SAFETY: the token proves AVX-512 F, BW and VL; the array has the 32 bytes that are written.
        unsafe {
            let ones = _mm512_maskz_mov_epi8(planes[0], _mm512_set1_epi8(1));
            let twos = _mm512_maskz_mov_epi8(planes[1], _mm512_set1_epi8(2));
            let fours = _mm512_maskz_mov_epi8(planes[2], _mm512_set1_epi8(4));
            let eights = _mm512_maskz_mov_epi8(planes[3], _mm512_set1_epi8(8));
            let all = _mm512_or_si512(_mm512_or_si512(ones, twos), _mm512_or_si512(fours, eights));
            // In each pair of bytes, the upper code is added 16 times.
            let pairs = _mm512_maddubs_epi16(all, _mm512_set1_epi16(0x1001));
            _mm256_storeu_si256(codes.as_mut_ptr().cast(), _mm512_cvtepi16_epi8(pairs));
        }
        codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;

    struct SpreadAll<'a>(&'a [(u64, [u8; 16])]);

    impl Work for SpreadAll<'_> {
        type Done = Vec<Spread>;
        #[inline(always)]
        fn with<B: Bits>(self, bits: B) -> Vec<Spread> {
            let (pairs, rest) = self.0.as_chunks::<2>();
            let mut all = Vec::new();
            for [(first, codes), (second, others)] in pairs {
                let two = bits.spread_two([*first, *second], [codes, others]);
                assert_eq!(two, [bits.spread(*first, codes), bits.spread(*second, others)]);
                all.extend(two);
            }
            all.extend(rest.iter().map(|(set, codes)| bits.spread(*set, codes)));
            all
        }
    }

    struct GatherAll<'a>(&'a [(u64, [u64; 4])]);

    impl Work for GatherAll<'_> {
        type Done = Vec<[u8; 16]>;
        #[inline(always)]
        fn with<B: Bits>(self, bits: B) -> Vec<[u8; 16]> {
            let (pairs, rest) = self.0.as_chunks::<2>();
            let mut all = Vec::new();
            for [(first, planes), (second, others)] in pairs {
                let two = bits.gather_two([*first, *second], [*planes, *others]);
                assert_eq!(two, [bits.gather(*first, *planes), bits.gather(*second, *others)]);
                all.extend(two);
            }
            all.extend(rest.iter().map(|(set, planes)| bits.gather(*set, *planes)));
            all
        }
    }

    /// As the table of the formats says it.
    fn gathered_slowly(set: u64, bits: [u64; 4]) -> [u8; 16] {
        let mut codes = [0; 16];
        for (place, square) in (0..64).filter(|square| set >> square & 1 != 0).take(32).enumerate() {
            let code = (0..4).fold(0, |code, bit| code | (bits[bit] >> square & 1) << bit);
            codes[place / 2] |= (code as u8) << (4 * (place % 2));
        }
        codes
    }

    #[test]
    fn codes_are_gathered_alike_in_all_ways() {
        let mut random = Random::new(9);
        let mut word = || (0..4).fold(0, |word, _| word << 16 | u64::from(random.below(1 << 16)));
        let mut boards = Vec::new();
        for number in 0..20_001u32 {
            let [a, b, c] = [word(), word(), word()];
            let set = match number % 4 {
                0 => a,
                1 => a & b,
                2 => a & b & c,
                _ => u64::MAX << (number / 4 % 65).min(63),
            };
            // Some with bits beside the set.
            let bits = [word(), word(), word(), word()];
            boards.push((set, if number % 3 == 0 { bits } else { bits.map(|bits| bits & set) }));
        }
        boards.extend([(0, [0; 4]), (0, [u64::MAX; 4]), (u64::MAX, [u64::MAX; 4]), (u64::MAX, [0; 4])]);
        let expected: Vec<_> = boards.iter().map(|&(set, bits)| gathered_slowly(set, bits)).collect();
        for isa in Isa::available() {
            for ((found, expected), board) in isa.run(GatherAll(&boards)).iter().zip(&expected).zip(&boards) {
                assert_eq!(found, expected, "{isa:?} {board:x?}");
            }
        }
        // What is spread comes back.
        struct There<'a>(&'a [(u64, [u8; 16])]);
        impl Work for There<'_> {
            type Done = usize;
            #[inline(always)]
            fn with<B: Bits>(self, bits: B) -> usize {
                let comes_back = |&&(set, codes): &&(u64, [u8; 16])| {
                    let spread = bits.spread(set, &codes);
                    assert!(spread.excess != 0 || bits.gather(set, spread.bits) == codes, "{set:x} {codes:x?}");
                    spread.excess == 0
                };
                self.0.iter().filter(comes_back).count()
            }
        }
        let there: Vec<_> = boards.iter().zip(&expected).map(|(&(set, _), &codes)| (set, codes)).collect();
        for isa in Isa::available() {
            assert!(isa.run(There(&there)) > 5_000, "{isa:?}");
        }
    }

    /// As the table of the formats says it.
    fn slowly(set: u64, codes: &[u8; 16]) -> Spread {
        let mut codes = codes.iter().flat_map(|byte| [byte & 15, byte >> 4]);
        let (mut bits, mut without_code) = ([0; 4], false);
        for square in (0..64).filter(|square| set >> square & 1 != 0) {
            match codes.next() {
                Some(code) => (0..4).for_each(|bit| bits[bit] |= u64::from(code >> bit & 1) << square),
                None => without_code = true,
            }
        }
        Spread { bits, excess: u64::from(without_code || codes.any(|code| code != 0)) }
    }

    #[test]
    fn all_ways_agree_with_the_table() {
        let mut random = Random::new(7);
        let mut word = || (0..4).fold(0, |word, _| word << 16 | u64::from(random.below(1 << 16)));
        let mut boards = Vec::new();
        for number in 0..20_000u32 {
            let [a, b, c, low, high] = [word(), word(), word(), word(), word()];
            let set = match number % 4 {
                0 => a,
                1 => a & b,
                2 => a & b & c,
                // About as many as 32, on either side.
                _ => u64::MAX << (number / 4 % 65).min(63),
            };
            let mut codes = u128::from(low) | u128::from(high) << 64;
            if number % 3 != 0 && set.count_ones() < 32 {
                codes &= (1 << (4 * set.count_ones())) - 1;
            }
            boards.push((set, codes.to_le_bytes()));
        }
        boards.extend([(0, [0; 16]), (0, [1; 16]), (u64::MAX, [0; 16]), (u64::MAX, [0xFF; 16])]);
        let expected: Vec<Spread> = boards.iter().map(|(set, codes)| slowly(*set, codes)).collect();
        assert!(expected.iter().filter(|spread| spread.excess == 0).count() > 5_000);
        for isa in Isa::available() {
            for ((found, expected), board) in isa.run(SpreadAll(&boards)).iter().zip(&expected).zip(&boards) {
                assert_eq!(found.excess == 0, expected.excess == 0, "{isa:?} {board:x?}");
                // Boards with more squares than codes are refused whatever their codes.
                assert!(found.bits == expected.bits, "{isa:?} {board:x?}");
            }
        }
    }
}
