//! Bytes of text, many at a time.
//!
//! SSE2 is part of x86-64, so no token is needed to prove it; wider registers are used where available, independently
//! of the tier. Other architectures use loops.

#[cfg(target_arch = "x86_64")]
use super::Simd;

/// A bit for each of 32 bytes, set where it equals `byte`.
#[inline(always)]
pub(crate) fn equal(bytes: &[u8; 32], byte: u8) -> u32 {
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

/// The classes of 64 bytes: the lowest bit is the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Classes {
    /// Space, line feed, carriage return.
    pub(crate) blank: u64,
    /// Line feed.
    pub(crate) feed: u64,
    /// `A` to `Z`, `a` to `z`, `=` and `-`: the characters of words, besides digits.
    pub(crate) letter: u64,
    /// `0` to `9`.
    pub(crate) digit: u64,
    /// `+`, `#`, `!` and `?`.
    pub(crate) sign: u64,
    /// `.`.
    pub(crate) dot: u64,
    /// `{`.
    pub(crate) open: u64,
    /// `}`.
    pub(crate) close: u64,
    /// `%`.
    pub(crate) percent: u64,
    /// `e` and `E`.
    pub(crate) letter_e: u64,
}

/// Number of bytes between those that are classified and those that are fetched into the cache meanwhile. A text is
/// usually seen here for the first time.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 2048;

/// Finds the [`Classes`] of bytes in the widest registers of this CPU.
///
/// The sets go through memory on purpose: the following scalar arithmetic would otherwise be compiled to vector
/// instructions, which is slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classifier {
    /// Runs on this CPU.
    classes: unsafe fn(&[u8; 64]) -> Classes,
}

impl Classifier {
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        let classes: unsafe fn(&[u8; 64]) -> Classes = if super::Avx512::detect().is_some() {
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

    #[inline(always)]
    pub(crate) fn classes(self, bytes: &[u8; 64]) -> Classes {
        #[cfg(target_arch = "x86_64")]
        x86::fetch(bytes.as_ptr().wrapping_add(AHEAD));
        // SAFETY: `detect`, the only constructor of this type, has verified that the CPU has what the function needs.
        unsafe { (self.classes)(bytes) }
    }
}

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

/// The classes of 64 bytes.
#[inline(always)]
fn classes<R: Run>(bytes: &[u8; 64]) -> Classes {
    let mut classes = Classes::default();
    let mut at = 0;
    while at < 64 {
        let run = R::load(bytes, at);
        let feed = run.equal(b'\n');
        let blank = run.equal(b' ') | feed | run.equal(b'\r');
        let sign = run.equal(b'+') | run.equal(b'#') | run.equal(b'!') | run.equal(b'?');
        classes.blank |= R::bits(blank) << at;
        classes.feed |= R::bits(feed) << at;
        let joint = run.equal(b'=') | run.equal(b'-');
        let lower = run.lower();
        classes.letter |= R::bits(lower.within(b'a', 26) | joint) << at;
        classes.digit |= R::bits(run.within(b'0', 10)) << at;
        classes.sign |= R::bits(sign) << at;
        classes.dot |= R::bits(run.equal(b'.')) << at;
        classes.open |= R::bits(run.equal(b'{')) << at;
        classes.close |= R::bits(run.equal(b'}')) << at;
        classes.percent |= R::bits(run.equal(b'%')) << at;
        classes.letter_e |= R::bits(lower.equal(b'e')) << at;
        at += R::LEN;
    }
    classes
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

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Classes, Run, classes};
    use std::arch::x86_64::*;
    use std::ops::BitOr;

    /// Brings the cache line of an address into the cache. Any address is allowed.
    #[inline(always)]
    pub(super) fn fetch(at: *const u8) {
        // SAFETY: x86-64 has the instruction, which reads nothing that could be missing: it is only a hint.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }

    pub(super) fn classes_sse2(bytes: &[u8; 64]) -> Classes {
        classes::<Bytes16>(bytes)
    }
    #[target_feature(enable = "avx2")]
    pub(super) fn classes_avx2(bytes: &[u8; 64]) -> Classes {
        classes::<Bytes32>(bytes)
    }
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn classes_avx512(bytes: &[u8; 64]) -> Classes {
        classes::<Bytes64>(bytes)
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

    /// Sixty-four bytes; made only in [`classes_avx512`].
    #[derive(Clone, Copy)]
    struct Bytes64(__m512i);

    impl Run for Bytes64 {
        type Set = u64;
        const LEN: usize = 64;
        #[inline(always)]
        fn load(bytes: &[u8; 64], at: usize) -> Self {
            // SAFETY: the slice has 64 bytes; only `classes_avx512` uses this type.
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
        for byte in 0..=u8::MAX {
            for at in 0..64 {
                let mut bytes = [b'*'; 64];
                bytes[at] = byte;
                let plain = classes::<u8>(&bytes);
                let set = |sought: bool| if sought { 1 << at } else { 0 };
                assert_eq!(plain.letter, set(byte.is_ascii_alphabetic() || b"=-".contains(&byte)));
                assert_eq!(plain.digit, set(byte.is_ascii_digit()));
                assert_eq!(plain.sign, set(b"+#!?".contains(&byte)));
                assert_eq!(plain.letter_e, set(byte.eq_ignore_ascii_case(&b'e')));
                assert_eq!(plain.blank, set(b" \r\n".contains(&byte)));
                assert_eq!(Classifier::detect().classes(&bytes), plain, "{byte} at {at}");
                #[cfg(target_arch = "x86_64")]
                {
                    assert_eq!(x86::classes_sse2(&bytes), plain, "{byte} at {at}");
                    if super::super::Avx2::detect().is_some() {
                        // SAFETY: just detected.
                        let wide = unsafe { x86::classes_avx2(&bytes) };
                        assert_eq!(wide, plain, "{byte} at {at}");
                    }
                }
            }
        }
    }
}
