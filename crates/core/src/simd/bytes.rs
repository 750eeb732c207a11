//! Bytes of text, many at a time.
//!
//! SSE2 is part of x86-64, so no token is needed to prove it; wider registers are used where available, independently
//! of the tier. Other architectures use loops.

#[cfg(target_arch = "x86_64")]
use super::Simd;

/// A bit for each of 32 bytes, set where it equals `byte`.
#[inline(always)]
pub fn equal(bytes: &[u8; 32], byte: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
        let at = bytes.as_ptr().cast::<__m128i>();
        // SAFETY: 32 bytes can be read there, unaligned; x86-64 has SSE2.
        unsafe {
            let sought = _mm_set1_epi8(byte as i8);
            let low = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(at), sought));
            let high = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(at.add(1)), sought));
            low as u32 | (high as u32) << 16
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    bytes.iter().rev().fold(0, |bits, &other| bits << 1 | u32::from(other == byte))
}

/// A block of text.
pub type Block = [u8; 64];

/// The classes of the bytes of up to eight blocks; the lowest bit is the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(align(64))]
pub struct Classes {
    /// Space, line feed, carriage return.
    pub blank: [u64; 8],
    /// Line feed.
    pub feed: [u64; 8],
    /// `A` to `Z`, `a` to `z`, `=` and `-`: the characters of words, besides digits.
    pub letter: [u64; 8],
    /// `0` to `9`.
    pub digit: [u64; 8],
    /// `+`, `#`, `!` and `?`.
    pub sign: [u64; 8],
    /// `.`.
    pub dot: [u64; 8],
    /// `{`.
    pub open: [u64; 8],
    /// `}`.
    pub close: [u64; 8],
    /// `%`.
    pub percent: [u64; 8],
    /// `e` and `E`.
    pub letter_e: [u64; 8],
}

/// Number of bytes between those that are classified and those that are fetched into the cache meanwhile. A text is
/// usually seen here for the first time.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 2048;

/// How a CPU finds the classes of blocks, and the bits of a set.
pub trait Blocks: Copy {
    /// Finds the classes of these blocks, of which there are at most eight.
    fn classes(self, blocks: &[Block], classes: &mut Classes);
    /// Writes `base` plus the number of each bit that is set, from the lowest one on. What follows these numbers means
    /// nothing.
    fn put_numbers(self, bits: u64, base: u32, to: &mut [u32; 64]);
    /// The same, for sets that rarely have more than eight bits.
    #[inline(always)]
    fn put_few_numbers(self, bits: u64, base: u32, to: &mut [u32; 64]) {
        self.put_numbers(bits, base, to);
    }
    /// Writes `base` plus the number of bits of `among` below each bit, all of which are among them. What follows these numbers
    /// means nothing.
    #[inline(always)]
    fn put_few_ranks(self, mut bits: u64, among: u64, base: u32, to: &mut [u32; 64]) {
        for number in to {
            if bits == 0 {
                break;
            }
            *number = base.wrapping_add((among & bits.wrapping_sub(1) & !bits).count_ones());
            bits &= bits - 1;
        }
    }
}

/// The way of every CPU; the classes are found in the widest registers that it has.
#[derive(Clone, Copy, Debug)]
pub struct AnyBlocks {
    /// Runs on this CPU.
    classes: unsafe fn(&[Block], &mut Classes),
}

impl AnyBlocks {
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        let classes: unsafe fn(&[Block], &mut Classes) = if super::Avx512::detect().is_some() {
            x86::classes_avx512
        } else if super::Avx2::detect().is_some() {
            x86::classes_avx2
        } else {
            x86::classes_sse2
        };
        #[cfg(not(target_arch = "x86_64"))]
        let classes = classes::<u8>;
        Self { classes }
    }
}

/// A block rarely has more than `FEW` numbers to write, or else more than `MANY`.
const FEW: usize = 4;
const MANY: usize = 12;

impl Blocks for AnyBlocks {
    #[inline(always)]
    fn classes(self, blocks: &[Block], classes: &mut Classes) {
        // SAFETY: `detect`, the only constructor of this type, has verified that the CPU has what the function needs.
        unsafe { (self.classes)(blocks, classes) }
    }
    #[inline(always)]
    fn put_numbers(self, mut bits: u64, base: u32, to: &mut [u32; 64]) {
        let count = bits.count_ones() as usize;
        // More are written than there are, because no branch predictor could know their number.
        let written = if count <= FEW { FEW } else { count.max(MANY) };
        for number in &mut to[..written] {
            *number = base.wrapping_add(bits.trailing_zeros());
            bits &= bits.wrapping_sub(1);
        }
    }
    #[inline(always)]
    fn put_few_numbers(self, bits: u64, base: u32, to: &mut [u32; 64]) {
        let mut rest = bits;
        for number in &mut to[..2] {
            *number = base.wrapping_add(rest.trailing_zeros());
            rest &= rest.wrapping_sub(1);
        }
        // As a rule, a side has more than two of pawns only.
        if rest != 0 {
            for number in &mut to[2..8] {
                *number = base.wrapping_add(rest.trailing_zeros());
                rest &= rest.wrapping_sub(1);
            }
            if rest != 0 {
                self.put_numbers(bits, base, to);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::Avx512Blocks;

/// A run of bytes in a register.
trait Run: Copy {
    /// Some of the bytes.
    type Set: Copy + std::ops::BitOr<Output = Self::Set>;
    /// Bytes in a run; divides 64.
    const LEN: usize;
    fn load(bytes: &[u8; 64], at: usize) -> Self;
    fn equal(self, byte: u8) -> Self::Set;
    /// Upper case becomes lower case, and no other byte becomes a letter of lower case.
    fn lower(self) -> Self;
    /// The `len` byte values from `first` on.
    fn within(self, first: u8, len: u8) -> Self::Set;
    fn bits(set: Self::Set) -> u64;
}

/// The classes of blocks.
#[inline(always)]
fn classes<R: Run>(blocks: &[Block], classes: &mut Classes) {
    for (lane, block) in blocks.iter().enumerate().take(8) {
        #[cfg(target_arch = "x86_64")]
        x86::fetch(block.as_ptr().wrapping_add(AHEAD));
        classes_of::<R>(block, lane, classes);
    }
}

#[inline(always)]
fn classes_of<R: Run>(block: &Block, lane: usize, classes: &mut Classes) {
    let mut found = [0; 10];
    let mut at = 0;
    while at < 64 {
        let run = R::load(block, at);
        let lower = run.lower();
        let feed = run.equal(b'\n');
        let joint = run.equal(b'=') | run.equal(b'-');
        let sets = [
            run.equal(b' ') | feed | run.equal(b'\r'),
            feed,
            lower.within(b'a', 26) | joint,
            run.within(b'0', 10),
            run.equal(b'+') | run.equal(b'#') | run.equal(b'!') | run.equal(b'?'),
            run.equal(b'.'),
            run.equal(b'{'),
            run.equal(b'}'),
            run.equal(b'%'),
            lower.equal(b'e'),
        ];
        let mut set = 0;
        while set < sets.len() {
            found[set] |= R::bits(sets[set]) << at;
            set += 1;
        }
        at += R::LEN;
    }
    let Classes { blank, feed, letter, digit, sign, dot, open, close, percent, letter_e } = classes;
    let sets = [blank, feed, letter, digit, sign, dot, open, close, percent, letter_e];
    for (set, found) in sets.into_iter().zip(found) {
        set[lane] = found;
    }
}

/// One byte; the portable way.
impl Run for u8 {
    type Set = u64;
    const LEN: usize = 1;
    #[inline(always)]
    fn load(bytes: &[u8; 64], at: usize) -> Self {
        bytes[at]
    }
    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        u64::from(self == byte)
    }
    #[inline(always)]
    fn lower(self) -> Self {
        self | 0x20
    }
    #[inline(always)]
    fn within(self, first: u8, len: u8) -> u64 {
        u64::from(self.wrapping_sub(first) < len)
    }
    #[inline(always)]
    fn bits(set: u64) -> u64 {
        set
    }
}

/// Brings the cache lines of an element into the cache, if there is such an element: a hint, without effect on anything
/// but time.
#[inline(always)]
pub fn fetch<T>(from: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if at < from.len() {
        let mut byte = 0;
        while byte < size_of::<T>() {
            x86::fetch(from.as_ptr().wrapping_add(at).cast::<u8>().wrapping_add(byte));
            byte += 64;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, Blocks, Classes, Run, classes};
    use std::arch::x86_64::*;
    use std::ops::BitOr;

    /// Brings the cache line of an address into the cache. Any address is allowed.
    #[inline(always)]
    pub(super) fn fetch(at: *const u8) {
        // SAFETY: x86-64 has the instruction, which reads nothing that could be missing: it is only a hint.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }

    /// Proof of what [`Avx512`](crate::simd::Avx512) proves, and of VBMI2.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx512Blocks(());

    impl Avx512Blocks {
        features!(
            [pub] "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd" "avx512vbmi2" "avx2" "popcnt" "bmi1" "bmi2"
            "lzcnt"
        );
    }

    /// The numbers from 0 to 63.
    const NUMBERS: [u8; 64] = {
        let mut numbers = [0; 64];
        let mut at = 0;
        while at < 64 {
            numbers[at] = at as u8;
            at += 1;
        }
        numbers
    };

    impl Blocks for Avx512Blocks {
        #[inline(always)]
        fn classes(self, blocks: &[Block], classes: &mut Classes) {
            super::classes::<Bytes64>(blocks, classes);
        }
        #[inline(always)]
        fn put_numbers(self, bits: u64, base: u32, to: &mut [u32; 64]) {
            // SAFETY: the token proves AVX-512 F and VBMI2; each of the four sixteens has room for as many numbers.
            unsafe {
                let mut numbers = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(NUMBERS.as_ptr().cast()));
                let mut left = bits.count_ones();
                for sixteen in to.as_chunks_mut::<16>().0 {
                    let wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(numbers));
                    let placed = _mm512_add_epi32(wide, _mm512_set1_epi32(base as i32));
                    _mm512_storeu_si512(sixteen.as_mut_ptr().cast(), placed);
                    // Hardly ever are there more.
                    if left <= 16 {
                        break;
                    }
                    left -= 16;
                    numbers = _mm512_alignr_epi32::<4>(numbers, numbers);
                }
            }
        }
        #[inline(always)]
        fn put_few_ranks(self, bits: u64, among: u64, base: u32, to: &mut [u32; 64]) {
            // SAFETY: the token proves BMI2.
            let ranks = unsafe { _pext_u64(bits, among) };
            self.put_few_numbers(ranks, base, to);
        }
        #[inline(always)]
        fn put_few_numbers(self, bits: u64, base: u32, to: &mut [u32; 64]) {
            if bits.count_ones() > 8 {
                return self.put_numbers(bits, base, to);
            }
            // A store of 64 bytes would cross the end of a cache line nearly always.
            // SAFETY: the token proves AVX-512 F, VL and VBMI2; there is room for eight numbers.
            unsafe {
                let numbers = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(NUMBERS.as_ptr().cast()));
                let wide = _mm256_cvtepu8_epi32(_mm512_castsi512_si128(numbers));
                _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm256_add_epi32(wide, _mm256_set1_epi32(base as i32)));
            }
        }
    }

    pub(super) fn classes_sse2(blocks: &[Block], found: &mut Classes) {
        classes::<Bytes16>(blocks, found);
    }
    #[target_feature(enable = "avx2")]
    pub(super) fn classes_avx2(blocks: &[Block], found: &mut Classes) {
        classes::<Bytes32>(blocks, found);
    }
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn classes_avx512(blocks: &[Block], found: &mut Classes) {
        classes::<Bytes64>(blocks, found);
    }

    /// Sixteen bytes: SSE2, which is part of x86-64.
    #[derive(Clone, Copy)]
    struct Bytes16(__m128i);

    impl BitOr for Bytes16 {
        type Output = Self;
        #[inline(always)]
        fn bitor(self, other: Self) -> Self {
            // SAFETY: x86-64 has SSE2.
            Self(unsafe { _mm_or_si128(self.0, other.0) })
        }
    }

    impl Run for Bytes16 {
        type Set = Self;
        const LEN: usize = 16;
        #[inline(always)]
        fn load(bytes: &[u8; 64], at: usize) -> Self {
            // SAFETY: the slice has 16 bytes; x86-64 has SSE2.
            Self(unsafe { _mm_loadu_si128(bytes[at..at + 16].as_ptr().cast()) })
        }
        #[inline(always)]
        fn equal(self, byte: u8) -> Self {
            // SAFETY: x86-64 has SSE2.
            Self(unsafe { _mm_cmpeq_epi8(self.0, _mm_set1_epi8(byte as i8)) })
        }
        #[inline(always)]
        fn lower(self) -> Self {
            // SAFETY: x86-64 has SSE2.
            Self(unsafe { _mm_or_si128(self.0, _mm_set1_epi8(0x20)) })
        }
        #[inline(always)]
        fn within(self, first: u8, len: u8) -> Self {
            // SAFETY: x86-64 has SSE2.
            Self(unsafe {
                let above = _mm_sub_epi8(self.0, _mm_set1_epi8(first as i8));
                _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(len as i8 - 1)), above)
            })
        }
        #[inline(always)]
        fn bits(set: Self) -> u64 {
            // SAFETY: x86-64 has SSE2.
            unsafe { u64::from(_mm_movemask_epi8(set.0) as u32) }
        }
    }

    /// Thirty-two bytes; made only in [`classes_avx2`].
    #[derive(Clone, Copy)]
    struct Bytes32(__m256i);

    impl BitOr for Bytes32 {
        type Output = Self;
        #[inline(always)]
        fn bitor(self, other: Self) -> Self {
            // SAFETY: the type proves AVX2.
            Self(unsafe { _mm256_or_si256(self.0, other.0) })
        }
    }

    impl Run for Bytes32 {
        type Set = Self;
        const LEN: usize = 32;
        #[inline(always)]
        fn load(bytes: &[u8; 64], at: usize) -> Self {
            // SAFETY: the slice has 32 bytes; only `classes_avx2`, which has AVX2, uses this type.
            Self(unsafe { _mm256_loadu_si256(bytes[at..at + 32].as_ptr().cast()) })
        }
        #[inline(always)]
        fn equal(self, byte: u8) -> Self {
            // SAFETY: the type proves AVX2.
            Self(unsafe { _mm256_cmpeq_epi8(self.0, _mm256_set1_epi8(byte as i8)) })
        }
        #[inline(always)]
        fn lower(self) -> Self {
            // SAFETY: the type proves AVX2.
            Self(unsafe { _mm256_or_si256(self.0, _mm256_set1_epi8(0x20)) })
        }
        #[inline(always)]
        fn within(self, first: u8, len: u8) -> Self {
            // SAFETY: the type proves AVX2.
            Self(unsafe {
                let above = _mm256_sub_epi8(self.0, _mm256_set1_epi8(first as i8));
                let most = _mm256_set1_epi8(len as i8 - 1);
                _mm256_cmpeq_epi8(_mm256_min_epu8(above, most), above)
            })
        }
        #[inline(always)]
        fn bits(set: Self) -> u64 {
            // SAFETY: the type proves AVX2.
            unsafe { u64::from(_mm256_movemask_epi8(set.0) as u32) }
        }
    }

    /// Sixty-four bytes; made only in [`classes_avx512`] and with [`Avx512Blocks`].
    #[derive(Clone, Copy)]
    struct Bytes64(__m512i);

    impl Run for Bytes64 {
        type Set = u64;
        const LEN: usize = 64;
        #[inline(always)]
        fn load(bytes: &[u8; 64], at: usize) -> Self {
            // SAFETY: the slice has 64 bytes; this type is used only where the CPU has AVX-512 F and BW.
            Self(unsafe { _mm512_loadu_si512(bytes[at..at + 64].as_ptr().cast()) })
        }
        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            // SAFETY: the type proves AVX-512 BW.
            unsafe { _mm512_cmpeq_epi8_mask(self.0, _mm512_set1_epi8(byte as i8)) }
        }
        #[inline(always)]
        fn lower(self) -> Self {
            // SAFETY: the type proves AVX-512 F and BW.
            Self(unsafe { _mm512_or_si512(self.0, _mm512_set1_epi8(0x20)) })
        }
        #[inline(always)]
        fn within(self, first: u8, len: u8) -> u64 {
            // SAFETY: the type proves AVX-512 F and BW.
            unsafe {
                let above = _mm512_sub_epi8(self.0, _mm512_set1_epi8(first as i8));
                _mm512_cmplt_epu8_mask(above, _mm512_set1_epi8(len as i8))
            }
        }
        #[inline(always)]
        fn bits(set: u64) -> u64 {
            set
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_its_bit() {
        let mut bytes = [b'x'; 32];
        for at in [0, 1, 15, 16, 31] {
            bytes[at] = b'}';
            assert_eq!(equal(&bytes, b'}'), 1 << at);
            assert_eq!(equal(&bytes, b'x'), !(1 << at));
            bytes[at] = b'x';
        }
        assert_eq!(equal(&[0xFF; 32], 0xFF), !0);
        assert_eq!(equal(&[0xFF; 32], 0x7F), 0);
    }

    #[test]
    fn classes_agree_for_every_byte_at_every_place() {
        let of_lane = |classes: &Classes, lane: usize| {
            let Classes { blank, feed, letter, digit, sign, dot, open, close, percent, letter_e } = classes;
            [blank, feed, letter, digit, sign, dot, open, close, percent, letter_e].map(|set| set[lane])
        };
        for byte in 0..=u8::MAX {
            for at in 0..64 {
                let lane = (usize::from(byte) + at) % 8;
                let mut blocks = [[b'*'; 64]; 8];
                blocks[lane][at] = byte;
                let mut plain = Classes::default();
                classes::<u8>(&blocks, &mut plain);
                let set = |sought: bool| if sought { 1 << at } else { 0 };
                let expected = [
                    set(b" \r\n".contains(&byte)),
                    set(byte == b'\n'),
                    set(byte.is_ascii_alphabetic() || b"=-".contains(&byte)),
                    set(byte.is_ascii_digit()),
                    set(b"+#!?".contains(&byte)),
                    set(byte == b'.'),
                    set(byte == b'{'),
                    set(byte == b'}'),
                    set(byte == b'%'),
                    set(byte.eq_ignore_ascii_case(&b'e')),
                ];
                for other in 0..8 {
                    let expected = if other == lane { expected } else { [0; 10] };
                    assert_eq!(of_lane(&plain, other), expected, "{byte} at {at}");
                }
                let check = |found: &dyn Fn(&[Block], &mut Classes)| {
                    let mut classes = Classes::default();
                    found(&blocks, &mut classes);
                    assert_eq!(classes, plain, "{byte} at {at}");
                };
                check(&|blocks, classes| AnyBlocks::detect().classes(blocks, classes));
                #[cfg(target_arch = "x86_64")]
                {
                    check(&|blocks, classes| x86::classes_sse2(blocks, classes));
                    if super::super::Avx2::detect().is_some() {
                        // SAFETY: just detected.
                        check(&|blocks, classes| unsafe { x86::classes_avx2(blocks, classes) });
                    }
                    if let Some(wide) = Avx512Blocks::detect() {
                        check(&|blocks, classes| wide.enter(|| wide.classes(blocks, classes)));
                    }
                }
            }
        }
    }

    #[test]
    fn bits_as_numbers() {
        fn check(blocks: impl Blocks, bits: u64) {
            let expected: Vec<u32> = (0..64).filter(|bit| bits >> bit & 1 != 0).map(|bit| 1000 + bit).collect();
            let mut numbers = [0; 64];
            blocks.put_numbers(bits, 1000, &mut numbers);
            assert_eq!(numbers[..expected.len()], expected, "{bits:x}");
            numbers = [0; 64];
            blocks.put_few_numbers(bits, 1000, &mut numbers);
            assert_eq!(numbers[..expected.len()], expected, "{bits:x}");
            let among = bits | 0xF0F0_1248_0000_FFFF;
            let rank = |bit: &u32| 1000 + (among & ((1_u64 << (bit - 1000)) - 1)).count_ones();
            blocks.put_few_ranks(bits, among, 1000, &mut numbers);
            assert_eq!(numbers[..expected.len()], expected.iter().map(rank).collect::<Vec<_>>(), "{bits:x}");
        }
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..2000 {
            bits = bits.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
            // Sets of every size.
            let set = match round % 8 {
                0 => bits,
                1 => !(bits & bits.rotate_left(31)),
                2 => !0 >> (round % 64),
                3 => bits & bits.rotate_left(17),
                _ => bits & bits.rotate_left(17) & bits.rotate_left(41),
            };
            check(AnyBlocks::detect(), set);
            #[cfg(target_arch = "x86_64")]
            if let Some(blocks) = Avx512Blocks::detect() {
                blocks.enter(|| check(blocks, set));
            }
        }
    }
}
