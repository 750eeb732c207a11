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

/// A summary of the numbers in a table of counts. The means are `None` if nothing was counted.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Distribution {
    /// How many numbers there are.
    pub count: u64,
    /// Their sum.
    pub sum: i128,
    /// The minimum.
    pub min: Option<i64>,
    /// The maximum.
    pub max: Option<i64>,
    /// Sum divided by count.
    pub mean: Option<f64>,
    /// The middle one, or the mean of the middle two.
    pub median: Option<f64>,
    /// Standard deviation of the whole population.
    pub stddev: Option<f64>,
}

impl Distribution {
    /// A summary of numbers that occur `counts[i]` times for `first + i`.
    pub fn of(counts: &[u64], first: i64) -> Self {
        let count: u64 = counts.iter().sum();
        if count == 0 {
            return Self::default();
        }
        let numbers = || (first..).zip(counts).filter(|&(_, &count)| count > 0);
        // The squares of up to 2^64 numbers of 16 bits sum to less than 2^96. The product with the count overflows only
        // above 10^14 positions with the largest score.
        let sum: i128 = numbers().map(|(n, &c)| i128::from(n) * i128::from(c)).sum();
        let squares: i128 = numbers()
            .map(|(n, &c)| i128::from(n) * i128::from(n) * i128::from(c))
            .sum();
        // The (0-based) `rank`-th smallest number.
        let ranked = |rank: u64| {
            let mut below = 0;
            numbers()
                .find(|&(_, &c)| {
                    below += c;
                    below > rank
                })
                .map_or(0, |(n, _)| n)
        };
        let total = i128::from(count);
        let stddev = squares
            .checked_mul(total)
            .and_then(|scaled| scaled.checked_sub(sum.checked_mul(sum)?))
            .map(|scaled| (scaled as f64).sqrt() / total as f64);
        Self {
            count,
            sum,
            min: numbers().next().map(|(n, _)| n),
            max: numbers().last().map(|(n, _)| n),
            mean: Some(sum as f64 / total as f64),
            median: Some((ranked((count - 1) / 2) + ranked(count / 2)) as f64 / 2.0),
            stddev,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_of_known_numbers() {
        // 2, 2, 3, 5
        let summary = Distribution::of(&[2, 1, 0, 1, 0], 2);
        assert_eq!(summary.count, 4);
        assert_eq!(summary.sum, 12);
        assert_eq!((summary.min, summary.max), (Some(2), Some(5)));
        assert_eq!(summary.mean, Some(3.0));
        assert_eq!(summary.median, Some(2.5));
        assert_eq!(summary.stddev, Some(1.5f64.sqrt()));
    }

    #[test]
    fn summary_of_nothing_and_of_negatives() {
        assert_eq!(Distribution::of(&[0, 0], 0), Distribution::default());
        let one = Distribution::of(&[0, 1], -8);
        assert_eq!(
            (one.min, one.max, one.median),
            (Some(-7), Some(-7), Some(-7.0))
        );
        assert_eq!(one.stddev, Some(0.0));
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
