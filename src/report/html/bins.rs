//! Layout of histograms: the ranges of the bars, cropping at the ends, and the ticks of the axes.

use super::super::Histogram;

/// Bars of one or two histograms over the same range.
#[derive(Debug)]
pub(super) struct Bins {
    /// The first number of the first bar.
    pub(super) first: i64,
    /// Width of a bar: its number of numbers.
    pub(super) width: i64,
    /// The bars of each histogram.
    pub(super) series: Vec<Vec<u64>>,
    /// The sum of the counts of each histogram.
    pub(super) totals: Vec<u64>,
    /// The counts of each histogram below and above the shown range.
    pub(super) beyond: [Vec<u64>; 2],
}

/// Maximum number of bars that can be distinguished on a phone.
const MOST_BARS: i64 = 80;
/// With fewer bars than this, each number gets its own.
const FEW_BARS: i64 = 40;
/// Minimum number of bars, so that a plot of a single number is not one block.
const LEAST_BARS: i64 = 9;
/// Tails with a thousandth, or a hundredth, of the counts at either end may be cropped, if less than this share of the
/// range remains.
const TAILS: [(u64, f64); 2] = [(1000, 0.75), (100, 0.4)];

impl Bins {
    /// Makes bars of this width, or of a multiple of it if there would be too many. `None` if there is nothing to show.
    pub(super) fn of(histograms: &[&Histogram], width: i64, limits: Option<(i64, i64)>) -> Option<Self> {
        let present = || histograms.iter().filter(|histogram| !histogram.is_empty());
        let least = present().filter_map(|h| h.quantile(0, 1)).min()?;
        let most = present().filter_map(|h| h.quantile(1, 1)).max()?;
        let (mut low, mut high) = (least, most);
        for (tail, worthwhile) in TAILS {
            let from = present().filter_map(|h| h.quantile(1, tail)).min()?;
            let to = present().filter_map(|h| h.quantile(tail - 1, tail)).max()?;
            if ((to - from + 1) as f64) < worthwhile * (high - low + 1) as f64 {
                (low, high) = (from, to);
            }
        }
        if let Some((least, most)) = limits {
            (low, high) = (low.clamp(least, most), high.clamp(least, most));
        }
        let count = |width: i64| high.div_euclid(width) - low.div_euclid(width) + 1;
        let factors = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
        let width = if high - low < FEW_BARS {
            1
        } else {
            factors
                .into_iter()
                .map(|factor| factor * width)
                .find(|&width| count(width) <= MOST_BARS)
                .unwrap_or((high - low) / MOST_BARS + 1)
        };
        let (mut first, mut bars) = (low.div_euclid(width), count(width));
        while bars < LEAST_BARS {
            // The range grows at both ends alternately, but not below zero if no number is negative.
            if bars % 2 == 0 || least >= 0 && first == 0 {
                bars += 1;
            } else {
                (first, bars) = (first - 1, bars + 1);
            }
        }
        let (first, end) = (first * width, (first + bars) * width);
        let sum = |histogram: &Histogram, from: i64, to: i64| -> u64 {
            histogram.iter().filter(|(n, _)| (from..to).contains(n)).map(|(_, count)| count).sum()
        };
        let series = histograms.iter().map(|histogram| {
            let mut counts = vec![0; bars as usize];
            for (number, count) in histogram.iter().filter(|(n, _)| (first..end).contains(n)) {
                counts[((number - first) / width) as usize] += count;
            }
            counts
        });
        Some(Self {
            first,
            width,
            series: series.collect(),
            totals: histograms.iter().map(|histogram| histogram.total()).collect(),
            beyond: [(i64::MIN, first), (end, i64::MAX)]
                .map(|(from, to)| histograms.iter().map(|h| sum(h, from, to)).collect()),
        })
    }

    /// Number of bars.
    pub(super) fn len(&self) -> usize {
        self.series[0].len()
    }

    /// The numbers of a bar: the first and the last.
    pub(super) fn numbers(&self, bar: usize) -> (i64, i64) {
        let first = self.first + bar as i64 * self.width;
        (first, first + self.width - 1)
    }

    /// The share of a bar, in percent.
    pub(super) fn share(&self, series: usize, bar: usize) -> f64 {
        self.series[series][bar] as f64 / self.totals[series].max(1) as f64 * 100.0
    }

    /// The end of the axis of shares, in percent, and whether bars are cut off there. If one or two bars are more than
    /// four times as high as all others, they are cut off, since the others would be invisible.
    pub(super) fn top(&self) -> (f64, bool) {
        let bars = 0..self.len();
        let mut shares: Vec<f64> =
            (0..self.series.len()).flat_map(|series| bars.clone().map(move |bar| self.share(series, bar))).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let occupied = shares.iter().filter(|&&share| share > 0.0).count();
        let most = 2 * self.series.len();
        if occupied > 5 * most {
            let spikes = (1..=most).find(|&rank| shares[rank - 1] > 4.0 * shares[rank]);
            // The bars that are cut off must not be nearly all of them.
            if let Some(spikes) = spikes
                && shares[..spikes].iter().sum::<f64>() < 75.0 * self.series.len() as f64
            {
                return (shares[spikes] * 1.25, true);
            }
        }
        (shares.first().copied().unwrap_or(0.0), false)
    }
}

/// Round numbers from `low` to `high`, at most `most` of them (at least two).
pub(super) fn ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let rough = (high - low) / most.max(2) as f64;
    if rough.is_nan() || rough <= 0.0 {
        return vec![low];
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // Each tick is computed from its index, to avoid accumulating rounding errors.
    (first as i64..=last as i64).map(|at| at as f64 * step).collect()
}

/// The numbers of an axis, and its end: the first of them that is not below `high`.
pub(super) fn axis(low: f64, high: f64, most: usize) -> (Vec<f64>, f64) {
    let mut levels = ticks(low, high, most);
    if let [.., before, last] = *levels
        && last < high
    {
        levels.push(2.0 * last - before);
    }
    let end = levels.last().copied().unwrap_or(high).max(high);
    (levels, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_ticks() {
        assert_eq!(ticks(0.0, 79.0, 6), [0.0, 20.0, 40.0, 60.0]);
        assert_eq!(ticks(-1500.0, 1500.0, 6), [-1500.0, -1000.0, -500.0, 0.0, 500.0, 1000.0, 1500.0]);
        assert_eq!(ticks(0.0, 0.35, 4), [0.0, 0.1, 0.2, 0.30000000000000004]);
        assert_eq!(ticks(5.0, 5.0, 4), [5.0]);
    }

    #[test]
    fn axes_reach_the_highest_bar() {
        assert_eq!(axis(0.0, 17.0, 4), (vec![0.0, 5.0, 10.0, 15.0, 20.0], 20.0));
        assert_eq!(axis(0.0, 20.0, 4), (vec![0.0, 5.0, 10.0, 15.0, 20.0], 20.0));
        for high in [0.001, 0.7, 1.0, 9.99, 28.7, 59.0, 100.0] {
            let (levels, end) = axis(0.0, high, 4);
            assert!(levels.last() == Some(&end) && end >= high && end < 2.0 * high, "{high}: {levels:?}");
        }
    }

    #[test]
    fn long_tails_are_cropped_and_counted() {
        let mut counts = vec![100; 100];
        counts.resize(2000, 0);
        counts[1999] = 3;
        let histogram = Histogram::new(0, counts);
        let bins = Bins::of(&[&histogram], 1, None).unwrap();
        assert_eq!((bins.first, bins.width, bins.len()), (0, 2, 50));
        assert_eq!((&bins.beyond[0][..], &bins.beyond[1][..]), (&[0][..], &[3][..]));
        let shown: u64 = bins.series[0].iter().sum();
        assert_eq!(shown + 3, histogram.total());
    }

    #[test]
    fn single_numbers_have_room() {
        let bins = Bins::of(&[&Histogram::new(0, vec![0, 5])], 50, None).unwrap();
        assert_eq!((bins.first, bins.width, bins.len()), (0, 1, 9));
        let bins = Bins::of(&[&Histogram::new(-3, vec![5])], 50, None).unwrap();
        assert!(bins.first < -3 && bins.len() == 9);
        assert!(Bins::of(&[&Histogram::default()], 1, None).is_none());
    }

    #[test]
    fn spikes_are_cut_off() {
        let mut counts = vec![10; 60];
        assert!(!Bins::of(&[&Histogram::new(0, counts.clone())], 1, None).unwrap().top().1);
        counts[0] = 600;
        let (top, is_cut) = Bins::of(&[&Histogram::new(0, counts.clone())], 1, None).unwrap().top();
        assert!(is_cut && top < 3.0, "{top}");
        counts[0] = 60_000;
        assert!(!Bins::of(&[&Histogram::new(0, counts)], 1, None).unwrap().top().1);
    }
}
