//! Tables that count how often each small number occurs.

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
        Self {
            counts: counts.try_into().expect("N numbers"),
        }
    }
}

impl<const N: usize> Tally<N> {
    /// Counts a number, which must be below `N` (the mask only proves that to the compiler).
    #[inline(always)]
    pub(super) fn add(&mut self, number: usize) {
        debug_assert!(number < N);
        self.counts[number & (N - 1)] += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

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
