//! The checksum: wide Fletcher sums, at the speed of memory.

use super::UNIT;
use crate::simd::bytes::fetch;

/// Rows that are fetched ahead: half a page. The CPU foresees the rows of a page, but not the next page.
const AHEAD: usize = 2048 / UNIT;

/// The checksum of boards files, see the [module](super).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    sums: [u64; 8],
    sums_of_sums: [u64; 8],
    rows: u64,
}

impl Checksum {
    /// The checksum of these bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut checksum = Self::default();
        checksum.update(bytes);
        checksum.finish()
    }
    /// Adds bytes; all but the last must be multiples of 64 long.
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) {
        let (rows, rest) = bytes.as_chunks::<UNIT>();
        self.add(rows);
        if !rest.is_empty() {
            let mut row = [0; UNIT];
            row[..rest.len()].copy_from_slice(rest);
            self.add(&[row]);
        }
    }
    /// Adds whole rows. By itself, so that the compiler always makes the same vectors of it.
    #[inline(never)]
    fn add(&mut self, rows: &[[u8; UNIT]]) {
        // These are copies, so that the sums stay in registers.
        let (mut a, mut b) = (self.sums, self.sums_of_sums);
        for (at, row) in rows.iter().enumerate() {
            fetch(rows, at + AHEAD);
            let (words, _) = row.as_chunks::<8>();
            for lane in 0..8 {
                a[lane] = a[lane].wrapping_add(u64::from_le_bytes(words[lane]));
                b[lane] = b[lane].wrapping_add(a[lane]);
            }
        }
        (self.sums, self.sums_of_sums) = (a, b);
        self.rows += rows.len() as u64;
    }
    /// The checksum of the bytes so far.
    pub fn finish(&self) -> u64 {
        let words = self.sums.iter().chain(&self.sums_of_sums);
        words.chain(&[self.rows]).fold(0x6C61_6E65_6669_7368, |hash, word| {
            // 2^64 / golden ratio, made odd.
            let hash: u64 = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^ hash >> 32
        })
    }
}
