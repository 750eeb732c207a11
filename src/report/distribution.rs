//! Counts of numbers, and their summaries.

use std::ops::RangeInclusive;

/// Counts of consecutive numbers, starting at a first number.
///
/// ```
/// use lanefish::report::Histogram;
/// // 0 once, 2 three times.
/// let histogram = Histogram::new(0, vec![1, 0, 3, 0]);
/// assert_eq!(histogram.counts(), [1, 0, 3]);
/// assert_eq!(histogram.summary().mean, Some(1.5));
/// assert_eq!(histogram.quantile(1, 2), Some(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Histogram {
    first: i64,
    /// The counts; the last is not zero.
    counts: Vec<u64>,
}

impl Histogram {
    /// Makes a histogram in which `first + i` occurs `counts[i]` times. If all counts are zero, the first number is 0.
    pub fn new(first: i64, mut counts: Vec<u64>) -> Self {
        let last = counts.iter().rposition(|&count| count > 0);
        counts.truncate(last.map_or(0, |last| last + 1));
        let first = if counts.is_empty() { 0 } else { first };
        Self { first, counts }
    }
    /// The number of the first count.
    pub fn first(&self) -> i64 {
        self.first
    }
    /// The counts, from the first number to the largest that occurs.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
    /// The count of a number.
    pub fn count(&self, number: i64) -> u64 {
        let at = usize::try_from(number - self.first).ok();
        at.and_then(|at| self.counts.get(at)).map_or(0, |&count| count)
    }
    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
    /// Whether all counts are zero.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
    /// The numbers that occur, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (i64, u64)> {
        let numbers = (self.first..).zip(self.counts.iter().copied());
        numbers.filter(|&(_, count)| count > 0)
    }
    /// Minimum, maximum, mean and other summary statistics.
    pub fn summary(&self) -> Distribution {
        Distribution::of(&self.counts, self.first)
    }
    /// A quantile: the smallest number that is not less than this share of all numbers; `None` if there are no counts.
    ///
    /// # Panics
    /// If the share is more than one.
    pub fn quantile(&self, numerator: u64, denominator: u64) -> Option<i64> {
        assert!(numerator <= denominator && denominator > 0);
        let share = u128::from(self.total()) * u128::from(numerator);
        let rank = share.div_ceil(u128::from(denominator)).max(1);
        let mut below = 0;
        let found = self.iter().find(|&(_, count)| {
            below += u128::from(count);
            below >= rank
        });
        found.map(|(number, _)| number)
    }
    /// The distribution over a range as 16 small bars, the highest of which has the height of a line. Numbers outside the
    /// range count at its ends.
    ///
    /// ```
    /// use lanefish::report::Histogram;
    /// assert_eq!(Histogram::new(0, vec![8, 4, 0, 1]).spark(0..=15), "█▄ ▁            ");
    /// ```
    ///
    /// # Panics
    /// If the range is empty.
    pub fn spark(&self, range: RangeInclusive<i64>) -> String {
        const BARS: i64 = 16;
        let width = (range.end() - range.start()) / BARS + 1;
        assert!(width > 0, "a range has numbers");
        let mut counts = [0u64; BARS as usize];
        for (number, count) in self.iter() {
            counts[((number - range.start()) / width).clamp(0, BARS - 1) as usize] += count;
        }
        let highest = counts.iter().max().copied().unwrap_or(0).max(1);
        let bar = |count: u64| match u128::from(count) * 8 / u128::from(highest) {
            _ if count == 0 => ' ',
            eighths => ['▁', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][eighths as usize],
        };
        counts.into_iter().map(bar).collect()
    }
    /// The counts for ranges of `width` numbers, each with the first number of the range. The ranges are in order and
    /// cover the smallest to the largest number. They begin at multiples of the width.
    ///
    /// # Panics
    /// If the width is not positive.
    pub fn ranges(&self, width: i64) -> Vec<(i64, u64)> {
        assert!(width > 0, "a range has numbers");
        let mut ranges: Vec<(i64, u64)> = Vec::new();
        for (number, count) in self.iter() {
            let start = number.div_euclid(width) * width;
            while let Some(&(last, _)) = ranges.last().filter(|&&(last, _)| last < start) {
                ranges.push((last + width, 0));
            }
            match ranges.last_mut() {
                Some((_, sum)) => *sum += count,
                None => ranges.push((start, count)),
            }
        }
        ranges
    }
    /// Adds the counts of another histogram with the same first number. An empty histogram takes the first number of
    /// the other.
    ///
    /// # Panics
    /// If the first numbers differ.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = other.clone();
            return;
        }
        assert_eq!(self.first, other.first, "histograms of the same numbers");
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        super::add(&mut self.counts, &other.counts);
    }
}

/// Counts by two numbers: rows and columns, starting at zero.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Matrix {
    /// No row ends with a zero, and the last row is not empty.
    rows: Vec<Vec<u64>>,
}

impl Matrix {
    /// Makes a matrix from rows.
    pub fn new(mut rows: Vec<Vec<u64>>) -> Self {
        for row in &mut rows {
            let last = row.iter().rposition(|&count| count > 0);
            row.truncate(last.map_or(0, |last| last + 1));
        }
        let last = rows.iter().rposition(|row| !row.is_empty());
        rows.truncate(last.map_or(0, |last| last + 1));
        Self { rows }
    }
    /// The rows, without zeros at their ends.
    pub fn rows(&self) -> &[Vec<u64>] {
        &self.rows
    }
    /// Number of columns of the longest row.
    pub fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }
    /// The count of a row and a column.
    pub fn count(&self, row: usize, column: usize) -> u64 {
        let row = self.rows.get(row);
        row.and_then(|row| row.get(column)).map_or(0, |&count| count)
    }
    /// The sum of a row.
    pub fn row_sum(&self, row: usize) -> u64 {
        self.rows.get(row).map_or(0, |row| row.iter().sum())
    }
    /// The rows, columns and counts that are not zero.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        let cells = self.rows.iter().enumerate().flat_map(|(row, counts)| {
            let counts = counts.iter().enumerate();
            counts.map(move |(column, &count)| (row, column, count))
        });
        cells.filter(|&(_, _, count)| count > 0)
    }
    /// Adds the counts of another matrix.
    pub fn merge(&mut self, other: &Self) {
        if self.rows.len() < other.rows.len() {
            self.rows.resize(other.rows.len(), Vec::new());
        }
        for (ours, theirs) in self.rows.iter_mut().zip(&other.rows) {
            if ours.len() < theirs.len() {
                ours.resize(theirs.len(), 0);
            }
            super::add(ours, theirs);
        }
    }
}
/// A summary of the numbers in a table of counts. The means are `None` if nothing was counted.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Distribution {
    /// How many numbers there are.
    pub count: u64,
    /// The sum of the numbers.
    pub sum: i128,
    /// The minimum.
    pub min: Option<i64>,
    /// The maximum.
    pub max: Option<i64>,
    /// Sum divided by count.
    pub mean: Option<f64>,
    /// The middle number, or the mean of the two middle ones.
    pub median: Option<f64>,
    /// Standard deviation of the whole population.
    pub stddev: Option<f64>,
}

impl Distribution {
    /// A summary of numbers, where `first + i` occurs `counts[i]` times.
    pub fn of(counts: &[u64], first: i64) -> Self {
        let count: u64 = counts.iter().sum();
        if count == 0 {
            return Self::default();
        }
        let numbers = || (first..).zip(counts).filter(|&(_, &count)| count > 0);
        // The squares of up to 2^64 numbers of 16 bits sum to less than 2^96. The product with the count overflows only
        // above 10^14 positions with the largest score.
        let sum: i128 = numbers().map(|(n, &c)| i128::from(n) * i128::from(c)).sum();
        let squares: i128 = numbers().map(|(n, &c)| i128::from(n) * i128::from(n) * i128::from(c)).sum();
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
        assert_eq!((one.min, one.max, one.median), (Some(-7), Some(-7), Some(-7.0)));
        assert_eq!(one.stddev, Some(0.0));
    }

    #[test]
    fn quantiles_and_ranges() {
        let histogram = Histogram::new(-7, vec![1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0]);
        assert_eq!(histogram.total(), 10);
        assert_eq!((histogram.count(-4), histogram.count(-40), histogram.count(40)), (2, 0, 0));
        let quantiles = [(0, 10), (1, 10), (2, 10), (3, 10), (31, 100), (1, 1)];
        let found = quantiles.map(|(part, whole)| histogram.quantile(part, whole).unwrap());
        assert_eq!(found, [-7, -7, -4, -4, 5, 5]);
        assert_eq!(histogram.ranges(5), [(-10, 1), (-5, 2), (0, 0), (5, 7)]);
        assert_eq!(histogram.ranges(1).len(), 13);
        assert_eq!(Histogram::default().quantile(1, 2), None);
        assert_eq!(Histogram::default().ranges(5), []);
    }

    #[test]
    fn merged_in_any_order() {
        let [a, b] = [vec![1], vec![0, 2, 0, 1]].map(|counts| Histogram::new(3, counts));
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.merge(&b);
        ba.merge(&a);
        assert_eq!(ab, ba);
        assert_eq!(ab, Histogram::new(3, vec![1, 2, 0, 1]));
        ab.merge(&Histogram::default());
        assert_eq!(ab, ba);
        let a = Matrix::new(vec![vec![], vec![1, 0], vec![0]]);
        let b = Matrix::new(vec![vec![5], vec![0, 1]]);
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.merge(&b);
        ba.merge(&a);
        assert_eq!(ab, ba);
        assert_eq!(ab.rows(), [vec![5], vec![1, 1]]);
        assert_eq!(ab.iter().collect::<Vec<_>>(), [(0, 0, 5), (1, 0, 1), (1, 1, 1)]);
        assert_eq!((ab.columns(), ab.row_sum(1), ab.count(7, 7)), (2, 2, 0));
    }
}
