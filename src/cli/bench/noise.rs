//! Which times can be believed, and which differ.
//!
//! The spread of a row is half the distance between the quartiles of its samples: the middle half of the samples is
//! about the median ± the spread. Two times differ if these ranges do not overlap. That is a plain rule that holds for
//! any shape of noise, and a cautious one: with many samples, the median itself is more certain than a single sample.

use crate::cli::measure::{Row, Timing};

/// The largest spread that is believed. Beyond it, the ends of the middle half of the samples are more than a factor of
/// 1.5 apart (1.2 to 0.8), which is more than the distance between most neighbours in the tables.
pub(super) const MOST_SPREAD: f64 = 0.2;

/// Times of one run that are closer than this never differ, however small their spreads are: the places of code and
/// data in memory also matter, and no spread shows that.
const LEAST_IN_RUN: f64 = 0.02;

/// The same for times of two runs, which do not alternate: on a quiet machine, all rows of one run took 3 to 4 % longer
/// than those of the run before, with spreads of 1 %, because the CPU had another frequency.
const LEAST_BETWEEN_RUNS: f64 = 0.05;

/// The time of a row, or the mean of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Time {
    pub(super) nanoseconds: f64,
    /// Relative to the nanoseconds.
    pub(super) spread: f64,
}

impl Time {
    /// The time of a row, if it was measured.
    pub(super) fn of(row: &Row) -> Option<Self> {
        let Timing { nanoseconds, spread, .. } = row.measured?.timing;
        Some(Self { nanoseconds, spread })
    }

    /// The mean of some times; its spread is that of the sum, as if all were disturbed together.
    pub(super) fn mean(times: &[Self]) -> Option<Self> {
        let sum: f64 = times.iter().map(|time| time.nanoseconds).sum();
        let noise: f64 = times.iter().map(|time| time.noise()).sum();
        (!times.is_empty()).then(|| Self { nanoseconds: sum / times.len() as f64, spread: noise / sum })
    }

    pub(super) fn is_reliable(self) -> bool {
        self.spread <= MOST_SPREAD
    }

    /// Whether the difference of two times of the same run is beyond their noise.
    pub(super) fn differs(self, other: Self) -> bool {
        self.differs_by(other, LEAST_IN_RUN)
    }

    /// Whether the difference of times of two runs is beyond their noise.
    pub(super) fn differs_between_runs(self, other: Self) -> bool {
        self.differs_by(other, LEAST_BETWEEN_RUNS)
    }

    fn differs_by(self, other: Self, least: f64) -> bool {
        let difference = (self.nanoseconds - other.nanoseconds).abs();
        let least = least * self.nanoseconds.min(other.nanoseconds);
        difference > least.max(self.noise() + other.noise())
    }

    /// The spread in nanoseconds.
    fn noise(self) -> f64 {
        self.nanoseconds * self.spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(nanoseconds: f64, spread: f64) -> Time {
        Time { nanoseconds, spread }
    }

    #[test]
    fn times_differ_if_their_ranges_do_not_overlap() {
        assert!(time(1.0, 0.05).differs(time(1.2, 0.05)));
        assert!(!time(1.0, 0.10).differs(time(1.2, 0.10)));
        assert!(time(1.2, 0.05).differs(time(1.0, 0.05)));
        // A spread of zero does not make two runs exact.
        assert!(!time(1.0, 0.0).differs(time(1.01, 0.0)));
        assert!(time(1.0, 0.0).differs(time(1.03, 0.0)));
        assert!(!time(1.0, 0.0).differs_between_runs(time(1.03, 0.0)));
        assert!(time(1.0, 0.0).differs_between_runs(time(1.06, 0.0)));
        assert!(!time(1.0, 0.05).differs_between_runs(time(1.06, 0.05)));
    }

    #[test]
    fn the_mean_has_the_noise_of_its_parts() {
        let mean = Time::mean(&[time(1.0, 0.1), time(3.0, 0.3)]).unwrap();
        assert!((mean.nanoseconds - 2.0).abs() < 1e-12 && (mean.spread - 0.25).abs() < 1e-12, "{mean:?}");
        assert!(!mean.is_reliable() && time(1.0, 0.2).is_reliable() && !time(1.0, f64::NAN).is_reliable());
        assert_eq!(Time::mean(&[]), None);
    }
}
