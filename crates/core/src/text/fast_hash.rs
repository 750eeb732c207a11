//! A fast hash for the keys of tables in memory.
//!
//! SipHash, the default of the standard library, takes longer than everything else that is done with a short text. This
//! one multiplies eight bytes at a time and folds the product. Its seed is random, so that texts which were made to
//! collide in one process do not collide in another.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// A table with this hash.
pub type FastMap<K, V> = HashMap<K, V, Seeded>;

/// Makes [`Folded`] hashers with a seed that is drawn once in a process.
#[derive(Clone, Copy, Debug)]
pub struct Seeded(u64);

impl Default for Seeded {
    fn default() -> Self {
        static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
        Self(*SEED)
    }
}

impl BuildHasher for Seeded {
    type Hasher = Folded;
    fn build_hasher(&self) -> Folded {
        Folded { state: self.0, seed: self.0 }
    }
}

/// Hashes by multiplying and folding.
#[derive(Clone, Copy, Debug)]
pub struct Folded {
    state: u64,
    seed: u64,
}

impl Folded {
    #[inline]
    fn add(&mut self, word: u64) {
        // 2^64 / golden ratio, made odd.
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        let product = u128::from(self.state ^ word) * u128::from(self.seed ^ FACTOR | 1);
        self.state = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for Folded {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.add(u64::from_le_bytes(word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // With the length, texts that end in zeros differ from shorter ones.
        self.add(u64::from_le_bytes(last));
        self.add(bytes.len() as u64);
    }
    #[inline]
    fn write_u8(&mut self, _: u8) {
        // Ends a text, whose length is known already.
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn texts_differ_in_all_bits() {
        let hash = Seeded::default();
        let hashes: HashSet<u64> = (0..100_000).map(|number| hash.hash_one(format!("player {number}"))).collect();
        assert!(hashes.len() > 99_990);
        for bits in [57, 0] {
            // The highest bits and the lowest ones choose the place in a table.
            let kinds: HashSet<u64> = hashes.iter().map(|hash| hash >> bits & 0x7F).collect();
            assert_eq!(kinds.len(), 128);
        }
        let texts = ["", "a", "a\0", "aaaaaaaa", "aaaaaaaa\0", "aaaaaaaab", "baaaaaaaa"];
        let hashes: HashSet<u64> = texts.iter().map(|text| hash.hash_one(text)).collect();
        assert_eq!(hashes.len(), texts.len());
    }
}
