//! Reads and writes bits, the highest of a byte first.

use crate::simd::bmi2::Bmi2;

/// Reads bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits that have been read.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next bits, the first of them highest: at least 57, of which those after the end are zero.
    #[inline(always)]
    pub(super) fn window(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(bytes) => u64::from_be_bytes(*bytes),
            None => {
                let mut last = [0; 8];
                last[..rest.len()].copy_from_slice(rest);
                u64::from_be_bytes(last)
            }
        };
        word << (self.at % 8)
    }

    /// Takes bits; false if there are not enough.
    #[inline(always)]
    pub(super) fn take(&mut self, bits: u32) -> bool {
        self.at += bits as usize;
        self.at <= 8 * self.bytes.len()
    }

    /// Number of bytes that have been read, the last of them perhaps in part.
    pub(super) fn bytes_read(&self) -> usize {
        self.at.div_ceil(8)
    }
}

/// Writes bits after those of a vector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BitWriter {
    /// Bits that do not fill a byte yet, the first of them highest.
    word: u64,
    len: u32,
}

impl BitWriter {
    /// Adds the lowest `len` bits of a value, at most 57; its other bits must be zero.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, len: u32, to: &mut Vec<u8>) {
        if len == 0 {
            return;
        }
        self.word |= value << (u64::BITS - len) >> self.len;
        self.len += len;
        // Adds all bytes at once, and then removes those that are not full.
        let full = self.len / 8;
        let end = to.len() + full as usize;
        to.extend_from_slice(&self.word.to_be_bytes());
        to.truncate(end);
        self.word = self.word.checked_shl(8 * full).unwrap_or(0);
        self.len -= 8 * full;
    }

    /// Fills the last byte with zeros.
    pub(super) fn finish(self, to: &mut Vec<u8>) {
        if self.len > 0 {
            to.push((self.word >> 56) as u8);
        }
    }
}

/// The number of bits for one of `count` things: none if there is only one.
#[inline(always)]
pub(super) const fn bits_for(count: u32) -> u32 {
    if count <= 1 { 0 } else { u32::BITS - (count - 1).leading_zeros() }
}

/// Zigzag: 0, -1, 1, -2, .. for 0, 1, 2, 3, ..
#[inline(always)]
pub(super) const fn from_zigzag(value: u16) -> i16 {
    (value >> 1) as i16 ^ -((value & 1) as i16)
}

/// The reverse of [`from_zigzag`].
#[inline(always)]
pub(super) const fn to_zigzag(value: i16) -> u16 {
    ((value << 1) ^ (value >> 15)) as u16
}

/// Finds set bits by their number.
pub(super) trait NthBit: Copy {
    /// The place of the set bit that has `number` others before it. The word must have more than `number` set bits.
    fn nth_bit(self, word: u64, number: u32) -> u32;
}

/// Does it without special instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl NthBit for Portable {
    #[inline(always)]
    fn nth_bit(self, word: u64, number: u32) -> u32 {
        nth_bit(word, number)
    }
}

impl NthBit for Bmi2 {
    #[inline(always)]
    fn nth_bit(self, word: u64, number: u32) -> u32 {
        self.pdep(1 << (number & 63), word).trailing_zeros()
    }
}

#[inline(always)]
fn nth_bit(word: u64, number: u32) -> u32 {
    /// The place of each set bit of a byte.
    static IN_BYTE: [[u8; 8]; 256] = {
        let mut table = [[0; 8]; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut bit, mut place) = (0, 0);
            while bit < 8 {
                if byte >> bit & 1 != 0 {
                    table[byte][place] = bit as u8;
                    place += 1;
                }
                bit += 1;
            }
            byte += 1;
        }
        table
    };
    const BYTES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    // Set bits up to and including each byte.
    let sums = ((nibbles + (nibbles >> 4)) & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(BYTES);
    // The bytes up to which there are not enough set bits.
    let enough = ((u64::from(number).wrapping_mul(BYTES) | TOPS) - sums) & TOPS;
    let byte = (enough >> 7).wrapping_mul(BYTES) >> 56;
    let shift = (8 * byte) & 63;
    let before = (sums << 8 >> shift) as u8;
    let bits = (word >> shift) as u8;
    8 * byte as u32 + u32::from(IN_BYTE[usize::from(bits)][(number as usize).wrapping_sub(before.into()) & 7])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;

    #[test]
    fn bits_come_back() {
        let mut random = Random::new(1);
        let mut all = Vec::new();
        let mut bytes = Vec::new();
        let mut writer = BitWriter::default();
        for _ in 0..1000 {
            let len = (random.bits() % 33) as u32;
            let value = (random.bits() & ((1 << len) - 1)) as u32;
            writer.put(u64::from(value), len, &mut bytes);
            all.push((value, len));
        }
        writer.finish(&mut bytes);
        let mut reader = BitReader::new(&bytes);
        for (value, len) in all {
            let read = if len == 0 { 0 } else { reader.window() >> (64 - len) };
            assert_eq!(read, u64::from(value));
            assert!(reader.take(len));
        }
        assert_eq!(reader.bytes_read(), bytes.len());
        assert!(!reader.take(8));
        assert_eq!(reader.window(), 0);
    }

    #[test]
    fn zigzag_and_set_bits() {
        for value in i16::MIN..=i16::MAX {
            assert_eq!(from_zigzag(to_zigzag(value)), value);
        }
        assert_eq!([0, 1, 2, 3, 401].map(from_zigzag), [0, -1, 1, -2, -201]);
        assert_eq!([0, 1, 2, 3, 4, 5, 16, 17].map(bits_for), [0, 0, 1, 2, 2, 3, 4, 5]);
        let mut random = Random::new(2);
        for turn in 0..2000 {
            let word = match turn % 3 {
                0 => random.bits(),
                1 => random.bits() & random.bits() & random.bits(),
                _ => u64::MAX << (random.bits() & 63),
            };
            let mut rest = word;
            for number in 0..word.count_ones() {
                assert_eq!(nth_bit(word, number), rest.trailing_zeros(), "{word:x} {number}");
                let found = Bmi2::detect().map(|bmi2| bmi2.nth_bit(word, number));
                assert!(found.is_none_or(|found| found == rest.trailing_zeros()), "{word:x} {number}");
                rest &= rest - 1;
            }
        }
    }
}
