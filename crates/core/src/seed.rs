//! Hashes with a seed, for reproducible random orders and choices.

/// A permutation of numbers that a seed determines.
#[derive(Clone, Copy, Debug)]
pub struct Seeded {
    first: u64,
    second: u64,
}

/// A permutation of the 64-bit numbers, each bit of which depends on all bits: the last step of SplitMix64.
const fn mixed(mut number: u64) -> u64 {
    number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

/// The purpose of a hash. The same seed gives different hashes for each purpose, so that a sample can be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Shuffle = 1,
    Split = 2,
    Interleave = 3,
}

impl Seeded {
    pub const fn new(seed: u64, purpose: Purpose) -> Self {
        // Members of the sequence, so that neighbouring seeds are unrelated.
        let step = 0x9E37_79B9_7F4A_7C15;
        let first = mixed(mixed(seed.wrapping_add(step)).wrapping_add(step) ^ purpose as u64);
        Self { first, second: mixed(first.wrapping_add(step)) }
    }

    /// Hashes a number; different numbers have different hashes.
    pub const fn hash(self, number: u64) -> u64 {
        mixed(mixed(number ^ self.first).wrapping_add(self.second))
    }
}

/// A 64-bit hash of a list of values: the hash of `uniform`, which never changes.
///
/// It begins with the first 64 bits of the fractional part of the square root of 2. Each value, as 64 bits, changes it
/// by `h = m(m(h ^ value) + c)`, where `m` is the last step of SplitMix64 and `c` its increment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(u64);

impl Draw {
    #[expect(clippy::new_without_default, reason = "no draw is the default one")]
    pub const fn new() -> Self {
        Self(0x6A09_E667_F3BC_C908)
    }
    #[must_use]
    pub const fn with(self, value: u64) -> Self {
        Self(mixed(mixed(self.0 ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15)))
    }
    /// Adds a real number: as an integer if it is one, and otherwise as its inverted IEEE 754 bits and then 0.
    #[must_use]
    pub fn with_real(self, number: f64) -> Self {
        let integer = number as i64;
        if integer as f64 == number && integer != i64::MAX {
            self.with(integer as u64)
        } else {
            self.with(!number.to_bits()).with(0)
        }
    }
    /// Adds a text: its bytes, eight per value with the first byte lowest, and then its length, inverted.
    #[must_use]
    pub fn with_text(self, text: &str) -> Self {
        let words = text.as_bytes().chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        words.fold(self, Self::with).with(!(text.len() as u64))
    }
    /// A real number, at least 0 and below 1: the upper 53 bits.
    pub const fn uniform(self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0 >> 11) as f64 * STEP
    }
    /// All bits.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_number_has_its_own() {
        for seed in [0, 1, 2, u64::MAX] {
            let seeded = Seeded::new(seed, Purpose::Shuffle);
            let hashes: HashSet<u64> = (0..100_000).map(|number| seeded.hash(number)).collect();
            assert_eq!(hashes.len(), 100_000);
        }
    }

    #[test]
    fn each_bit_of_seed_and_number_changes_half_of_the_bits() {
        let mut changed = [[0_u32; 64]; 2];
        for number in 0..1000 {
            let before = Seeded::new(7, Purpose::Shuffle).hash(number);
            let [numbers, seeds] = &mut changed;
            for (bit, (numbers, seeds)) in numbers.iter_mut().zip(seeds).enumerate() {
                *numbers += (Seeded::new(7, Purpose::Shuffle).hash(number ^ 1 << bit) ^ before).count_ones();
                *seeds += (Seeded::new(7 ^ 1 << bit, Purpose::Shuffle).hash(number) ^ before).count_ones();
            }
        }
        // 64,000 bits each: the standard deviation is 126.
        for changed in changed.iter().flatten() {
            assert!(changed.abs_diff(32_000) < 126 * 5, "{changed}");
        }
    }
}
