//! HyperLogLog: estimates the number of distinct keys from the longest run of zero bits seen in each of many parts.
//!
//! The first bits of a key choose a register, which keeps the largest rank (one more than the number of leading zeros)
//! of the other bits. Registers merge by their maximum, so the result is the same in whatever order and parts keys
//! arrive. After Flajolet, Fusy, Gandouet and Meunier, "HyperLogLog: the analysis of a near-optimal cardinality
//! estimation algorithm" (2007), with the estimator that Ertl, "New cardinality estimation algorithms for HyperLogLog
//! sketches" (2017), gives in section 2.3: it needs no corrections for small or large numbers.

use super::LEVELS;
use crate::kernels::{Keys, REGISTER_BITS};
use crate::packed::Group;
use crate::queries::GroupResults;
use crate::table::rows_of;
use crate::tiers::Analyzer;

/// Bits of a key that choose the register.
const BITS: u32 = REGISTER_BITS;
/// Number of registers.
const REGISTERS: usize = 1 << BITS;
/// The largest rank.
const MOST: usize = 64 - BITS as usize + 1;

/// Estimates the number of distinct keys, in 16 KiB.
///
/// ```
/// use lanefish::distinct::Sketch;
/// use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
/// let hasher = BuildHasherDefault::<DefaultHasher>::default();
/// let mut sketch = Sketch::default();
/// (0..1000).cycle().take(5000).for_each(|n| sketch.insert(hasher.hash_one(n)));
/// assert!(sketch.estimate().abs_diff(1000) < 40);
/// ```
#[derive(Clone, Debug)]
pub struct Sketch {
    registers: Box<[u8; REGISTERS]>,
    /// The smallest rank of all registers, and the number of registers that have it.
    least: u8,
    at_least: usize,
}

impl Default for Sketch {
    fn default() -> Self {
        let registers = vec![0; REGISTERS].into_boxed_slice();
        Self { registers: registers.try_into().expect("all registers"), least: 0, at_least: REGISTERS }
    }
}

impl PartialEq for Sketch {
    fn eq(&self, other: &Self) -> bool {
        self.registers == other.registers
    }
}

impl Sketch {
    /// The standard error of an estimate, as a share of the number.
    pub const ERROR: f64 = 1.04 / 128.0;

    /// The sketch with these registers; `None` if there is another number of them, or one is larger than any rank.
    pub fn from_registers(registers: &[u8]) -> Option<Self> {
        let mut sketch = Self::default();
        *sketch.registers = registers.try_into().ok()?;
        sketch.raise();
        (sketch.registers.iter().all(|&rank| usize::from(rank) <= MOST)).then_some(sketch)
    }

    /// The registers, 0 to 51 each.
    pub fn registers(&self) -> &[u8] {
        &*self.registers
    }

    /// Adds a key, whose bits must be those of a good hash.
    #[inline(always)]
    pub fn insert(&mut self, key: u64) {
        let rest = key << BITS | 1 << (BITS - 1);
        let register = &mut self.registers[(key >> (64 - BITS)) as usize];
        // Whether the rank is larger: counting zeros is slower than a shift.
        if rest >> 1 >> (63 - (*register & 63)) == 0 {
            let was = std::mem::replace(register, rest.leading_zeros() as u8 + 1);
            self.grown(was);
        }
    }

    /// A register that had this rank has grown.
    #[cold]
    fn grown(&mut self, was: u8) {
        if was == self.least {
            self.at_least -= 1;
            if self.at_least == 0 {
                self.raise();
            }
        }
    }

    /// Finds what every register has reached.
    fn raise(&mut self) {
        self.least = self.registers.iter().copied().min().unwrap_or(0);
        let is_least = |&&rank: &&u8| rank == self.least;
        self.at_least = self.registers.iter().filter(is_least).count();
    }

    /// Bits that none of the keys has that could change a register, after those that choose it.
    fn excluded(&self) -> u64 {
        !u64::MAX.checked_shr(self.least.into()).unwrap_or(0)
    }

    /// Adds the keys of another sketch.
    pub fn merge(&mut self, other: &Self) {
        for (ours, &theirs) in self.registers.iter_mut().zip(other.registers.iter()) {
            *ours = (*ours).max(theirs);
        }
        self.raise();
    }

    /// Estimates the number of distinct keys; the same on every machine.
    pub fn estimate(&self) -> u64 {
        let mut counts = [0u32; MOST + 1];
        for &rank in self.registers.iter() {
            counts[usize::from(rank)] += 1;
        }
        let m = REGISTERS as f64;
        let share = |count: u32| f64::from(count) / m;
        let mut z = m * tau(1.0 - share(counts[MOST]));
        for &count in counts[1..MOST].iter().rev() {
            z = 0.5 * (z + f64::from(count));
        }
        z += m * sigma(share(counts[0]));
        let alpha = 0.5 / std::f64::consts::LN_2;
        // If all registers are zero, the sum is infinite.
        (alpha * m * m / z).round() as u64
    }
}

/// x + the sum of x^(2^k) 2^(k-1) over k from 1 on.
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut sum) = (1.0, x);
    loop {
        x *= x;
        let next = sum + x * y;
        if next == sum {
            return sum;
        }
        sum = next;
        y += y;
    }
}

/// A third of 1 - x - the sum of (1 - x^(2^-k))^2 2^-k over k from 1 on.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        y *= 0.5;
        let next = sum - (1.0 - x) * (1.0 - x) * y;
        if next == sum {
            return sum / 3.0;
        }
        sum = next;
    }
}

/// A [`Sketch`] for each of the [levels](LEVELS).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sketches(pub [Sketch; LEVELS.len()]);

impl Sketches {
    /// Adds the positions whose bit is set in the mask; of the results, only the numbers of en passant captures are
    /// used.
    ///
    /// # Panics
    /// If there are fewer results than groups, or the mask has no bits for some of the groups.
    pub fn add_tile(&mut self, analyzer: &dyn Analyzer, groups: &[Group], results: &[GroupResults], mask: &[u64]) {
        const AT_ONCE: usize = 2;
        let mut keys = [Keys::default(); AT_ONCE];
        const GROUPS: usize = AT_ONCE * Keys::GROUPS;
        let runs = groups.chunks(GROUPS).zip(results.chunks(GROUPS));
        for ((groups, results), masks) in runs.zip(mask.chunks(AT_ONCE)) {
            // Once there are many keys, hardly any key changes a register.
            let excluded = self.0.each_ref().map(Sketch::excluded);
            analyzer.keys(groups, results, &excluded, &mut keys);
            let keys = &keys[..groups.len().div_ceil(Keys::GROUPS)];
            for (keys, mask) in keys.iter().zip(masks) {
                for (level, sketch) in self.0.iter_mut().enumerate() {
                    let keys = (keys.levels[level].as_flattened(), keys.candidates[level]);
                    if keys.1 & mask == !0 {
                        keys.0.iter().for_each(|&key| sketch.insert(key));
                    } else {
                        rows_of(&[keys.1 & mask]).for_each(|row| sketch.insert(keys.0[row]));
                    }
                }
            }
        }
    }
    /// Adds the positions of other sketches.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.0.iter_mut().zip(&other.0) {
            ours.merge(theirs);
        }
    }
    /// The estimates of all levels. No level has fewer positions than the one before it.
    pub fn estimates(&self) -> [u64; LEVELS.len()] {
        let mut least = 0;
        self.0.each_ref().map(|sketch| {
            least = sketch.estimate().max(least);
            least
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;

    #[test]
    fn estimates_are_within_five_standard_errors() {
        let mut numbers = Random::new(11);
        let mut sketch = Sketch::default();
        let mut count = 0u64;
        for end in [0, 1, 2, 10, 100, 1000, 10_000, 50_000, 100_000, 1_000_000, 3_000_000] {
            while count < end {
                let key = numbers.bits();
                sketch.insert(key);
                sketch.insert(key);
                count += 1;
            }
            let error = sketch.estimate().abs_diff(count) as f64;
            assert!(error <= 5.0 * Sketch::ERROR * count as f64, "{count}: {error}");
        }
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let mut numbers = Random::new(12);
        let keys: Vec<u64> = (0..300_000).map(|_| numbers.bits()).collect();
        let of = |keys: &[u64]| {
            let mut sketch = Sketch::default();
            keys.iter().for_each(|&key| sketch.insert(key));
            sketch
        };
        let mut merged = of(&keys[200_000..]);
        merged.merge(&of(&keys[..150_000]));
        merged.merge(&of(&keys[100_000..250_000]));
        assert!(merged == of(&keys));
        let back = Sketch::from_registers(merged.registers()).unwrap();
        assert_eq!(back.estimate(), merged.estimate());
        // What is skipped early would not have changed anything.
        let mut plain = [0; REGISTERS];
        for key in keys {
            let rank = ((key << BITS | 1 << (BITS - 1)).leading_zeros() + 1) as u8;
            let register = &mut plain[(key >> 50) as usize];
            *register = rank.max(*register);
        }
        assert_eq!(merged.registers(), plain);
        assert!(Sketch::from_registers(&plain[1..]).is_none());
        plain[5] = 52;
        assert!(Sketch::from_registers(&plain).is_none());
    }

    #[test]
    fn extreme_keys_fit() {
        let mut sketch = Sketch::default();
        sketch.insert(0);
        sketch.insert(u64::MAX);
        assert_eq!(sketch.registers()[0], MOST as u8);
        assert_eq!(sketch.registers()[REGISTERS - 1], 1);
        assert!(sketch.estimate() >= 2);
    }
}
