//! Tables that count how often each small number occurs.

use std::collections::{BTreeMap, HashMap};

/// How often each number below `N` occurs.
#[derive(Clone, Debug)]
pub(super) struct Tally<const N: usize> {
    counts: Box<[u64; N]>,
}

impl<const N: usize> Default for Tally<N> {
    fn default() -> Self {
        const { assert!(N.is_power_of_two()) }
        // Large tables are zero pages of the system until they are written, which an array on the stack is not.
        let counts = vec![0; N].into_boxed_slice();
        Self { counts: counts.try_into().expect("N numbers") }
    }
}

impl<const N: usize> Tally<N> {
    /// Counts a number, which must be below `N` (the mask only proves that to the compiler).
    #[inline(always)]
    pub(super) fn add(&mut self, number: usize) {
        debug_assert!(number < N);
        self.counts[number & (N - 1)] += 1;
    }

    /// Counts a number, which must be below `N`, several times.
    pub(super) fn add_many(&mut self, number: usize, times: u64) {
        self.counts[number] += times;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        // Most of a large table stays empty, and its pages need not be written.
        const PART: usize = 512;
        let parts = self.counts.chunks_mut(PART).zip(other.counts.chunks(PART));
        for (ours, theirs) in parts.filter(|(_, theirs)| theirs.iter().any(|&count| count > 0)) {
            for (ours, theirs) in ours.iter_mut().zip(theirs) {
                *ours += theirs;
            }
        }
    }

    /// Index = number.
    pub(super) fn counts(&self) -> &[u64] {
        &*self.counts
    }

    /// The counts by the lowest `bits` bits of the number.
    pub(super) fn sums_by_low(&self, bits: u32) -> Vec<u64> {
        let mut sums = vec![0; 1 << bits];
        for row in self.counts.chunks_exact(1 << bits) {
            for (sum, count) in sums.iter_mut().zip(row) {
                *sum += count;
            }
        }
        sums
    }

    /// The counts by the other bits of the number.
    pub(super) fn sums_by_high(&self, bits: u32) -> Vec<u64> {
        let rows = self.counts.chunks_exact(1 << bits);
        rows.map(|row| row.iter().sum()).collect()
    }
}

/// A [`Tally`] for large tables of which a run mostly uses a few parts. It has counters of 16 bits, so that these parts
/// stay in the caches, and a map for overflows.
#[derive(Clone, Debug)]
pub(super) struct NarrowTally<const N: usize> {
    counts: Box<[u16; N]>,
    /// The number of overflows of each counter.
    overflows: HashMap<usize, u64>,
}

impl<const N: usize> Default for NarrowTally<N> {
    fn default() -> Self {
        const { assert!(N.is_power_of_two()) }
        let counts = vec![0; N].into_boxed_slice();
        Self { counts: counts.try_into().expect("N numbers"), overflows: HashMap::new() }
    }
}

impl<const N: usize> NarrowTally<N> {
    /// Counts a number, which must be below `N`.
    #[inline(always)]
    pub(super) fn add(&mut self, number: usize) {
        debug_assert!(number < N);
        let count = &mut self.counts[number & (N - 1)];
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.overflow(number, 1);
        }
    }

    #[cold]
    fn overflow(&mut self, number: usize, times: u64) {
        *self.overflows.entry(number).or_default() += times;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (&number, &times) in &other.overflows {
            self.overflow(number, times);
        }
        for number in nonzero(&*other.counts) {
            let (sum, overflows) = self.counts[number].overflowing_add(other.counts[number]);
            self.counts[number] = sum;
            if overflows {
                self.overflow(number, 1);
            }
        }
    }

    /// The numbers that occurred, with their counts.
    pub(super) fn counts(&self) -> BTreeMap<usize, u64> {
        let mut counts: BTreeMap<_, _> =
            nonzero(&*self.counts).map(|number| (number, self.counts[number].into())).collect();
        for (&number, times) in &self.overflows {
            *counts.entry(number).or_default() += times << 16;
        }
        counts
    }
}

/// The indices of the non-zero entries of a mostly empty table.
fn nonzero(counts: &[u16]) -> impl Iterator<Item = usize> + '_ {
    const PART: usize = 512;
    let parts = (0..)
        .step_by(PART)
        .zip(counts.chunks(PART))
        .filter(|(_, counts)| counts.iter().fold(0, |any, count| any | count) != 0);
    parts.flat_map(|(start, counts)| {
        let counts = (start..).zip(counts).filter(|&(_, &count)| count > 0);
        counts.map(|(number, _)| number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_counters_overflow() {
        let times = [0, 1, 0xFFFF, 1 << 16, 0x1_0001, 1 << 17, 1_000_000, 3];
        let of = |times: &[usize]| {
            let mut tally = NarrowTally::<8>::default();
            for (number, &times) in times.iter().enumerate() {
                (0..times).for_each(|_| tally.add(number));
            }
            tally
        };
        let mut tally = of(&times);
        let expected = |times: [usize; 8]| -> BTreeMap<usize, u64> {
            let times = times.map(|times| times as u64).into_iter().enumerate();
            times.filter(|&(_, times)| times > 0).collect()
        };
        assert_eq!(tally.counts(), expected(times));
        let more = [70_000, 255, 1, 1 << 16, 0xFFFF, 200_000, 1, 0];
        tally.merge(&of(&more));
        let sums = std::array::from_fn(|number| times[number] + more[number]);
        assert_eq!(tally.counts(), expected(sums));
        tally.add(2);
        assert_eq!(tally.counts()[&2], sums[2] as u64 + 1);
    }

    #[test]
    fn tallies_add_up() {
        let mut tally = Tally::<16>::default();
        (0..8).for_each(|_| tally.add(3));
        let mut other = Tally::<16>::default();
        other.add(5);
        tally.merge(&other);
        let expected: Vec<u64> = vec![0, 0, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(tally.counts(), expected);
        assert_eq!(tally.sums_by_low(2), [0, 1, 0, 8]);
        assert_eq!(tally.sums_by_high(2), [8, 1, 0, 0]);
    }
}
