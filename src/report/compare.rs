//! Two reports side by side.
//!
//! Facts that both have are paired by their keys. Distributions are compared by their *total variation distance*: half
//! the sum of the absolute differences of their shares. It is 0 for equal distributions and 1 for those without a
//! common value; in other words, it is the share of the positions of one that would have to change to get the
//! distribution of the other. It is computed in integers and divided once, so that it is the same everywhere, and
//! exactly 0 for equal distributions.

use super::facts::{Bars, Board, Plot, Share};
use super::{Histogram, Report, Squares};
use std::collections::HashMap;

/// A comparison of two reports, fact by fact.
///
/// ```
/// use lanefish::report::{Comparison, Report};
/// let comparison = Comparison::of(&Report::default(), &Report::default());
/// assert_eq!(comparison.positions, [0, 0]);
/// assert!(comparison.plots.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Numbers of positions of both reports.
    pub positions: [u64; 2],
    /// Shares, in the order of [`Report::shares`].
    pub shares: Vec<Pair<Share>>,
    /// Distributions of numbers, in the order of [`Report::plots`].
    pub plots: Vec<Pair<Plot>>,
    /// Distributions of kinds, in the order of [`Report::bars`].
    pub bars: Vec<Pair<Bars>>,
    /// Boards, in the order of [`Report::boards`].
    pub boards: Vec<Pair<Board>>,
    /// The titles of facts that only A has, and of those that only B has.
    pub only: [Vec<&'static str>; 2],
}

impl Comparison {
    /// Compares the facts that both reports have.
    pub fn of(a: &Report, b: &Report) -> Self {
        let mut only: [Vec<&'static str>; 2] = Default::default();
        Self {
            positions: [a.positions, b.positions],
            shares: pairs(a.shares(), b.shares(), |share| (share.key, share.title), &mut only),
            plots: pairs(a.plots(), b.plots(), |plot| (plot.key, plot.title), &mut only),
            bars: pairs(a.bars(), b.bars(), |bars| (bars.key, bars.title), &mut only),
            boards: pairs(a.boards(), b.boards(), |board| (board.key, board.title), &mut only),
            only,
        }
    }
}

/// A fact of both reports, with the same key, title and unit, but different numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pair<T> {
    /// The fact in report A.
    pub a: T,
    /// The fact in report B.
    pub b: T,
}

impl<T> Pair<T> {
    fn each<R>(&self, of: impl Fn(&T) -> R) -> [R; 2] {
        [of(&self.a), of(&self.b)]
    }
}

impl Pair<Share> {
    /// Both shares in percent; `None` if the whole is zero.
    pub fn percentages(&self) -> [Option<f64>; 2] {
        self.each(|share| (share.whole > 0).then(|| share.count as f64 / share.whole as f64 * 100.0))
    }
    /// The share in B minus that in A, in percentage points.
    pub fn difference(&self) -> Option<f64> {
        let [a, b] = self.percentages();
        Some(b? - a?)
    }
}

impl Pair<Plot> {
    /// Total variation distance of the single numbers, 0 to 1; `None` if either has no counts.
    pub fn distance(&self) -> Option<f64> {
        let [a, b] = [&self.a.histogram, &self.b.histogram];
        let end = |histogram: &Histogram| histogram.first() + histogram.counts().len() as i64;
        let numbers = a.first().min(b.first())..end(a).max(end(b));
        total_variation(numbers.map(|number| [a.count(number), b.count(number)]))
    }
    /// The means.
    pub fn means(&self) -> [Option<f64>; 2] {
        self.each(|plot| plot.histogram.summary().mean)
    }
    /// The medians.
    pub fn medians(&self) -> [Option<f64>; 2] {
        self.each(|plot| plot.histogram.summary().median)
    }
}

impl Pair<Bars> {
    /// The kinds of A in its order, then those that only B has, with their counts in both.
    pub fn counts(&self) -> Vec<(&str, [u64; 2])> {
        fn counts(bars: &Bars) -> impl Iterator<Item = (&str, u64)> {
            bars.bars.iter().map(|(name, count)| (name.as_str(), *count))
        }
        let mut theirs: HashMap<&str, u64> = counts(&self.b).collect();
        let mut all: Vec<_> =
            counts(&self.a).map(|(name, count)| (name, [count, theirs.remove(name).unwrap_or(0)])).collect();
        let rest = counts(&self.b).filter(|(name, _)| theirs.contains_key(name));
        all.extend(rest.map(|(name, count)| (name, [0, count])));
        all
    }
    /// Total variation distance, 0 to 1; `None` if either has no counts.
    pub fn distance(&self) -> Option<f64> {
        total_variation(self.counts().iter().map(|&(_, counts)| counts))
    }
}

impl Pair<Board> {
    /// Total variation distance of the distributions over the squares, 0 to 1; `None` if either has no counts.
    pub fn distance(&self) -> Option<f64> {
        let [a, b] = self.squares();
        total_variation(a.iter().zip(b).map(|(&a, &b)| [a, b]))
    }
    /// Counts of both reports for each square, a1 first.
    pub fn squares(&self) -> [&Squares; 2] {
        [&self.a.counts, &self.b.counts]
    }
}

/// Pairs facts of the same key, in the order of A; the titles of the others go to `only`.
fn pairs<T>(
    a: Vec<T>,
    b: Vec<T>,
    name: impl Fn(&T) -> (&'static str, &'static str),
    only: &mut [Vec<&'static str>; 2],
) -> Vec<Pair<T>> {
    let mut theirs: Vec<Option<T>> = b.into_iter().map(Some).collect();
    let mut pairs = Vec::new();
    for ours in a {
        let (key, title) = name(&ours);
        let other = theirs.iter_mut().find(|other| other.as_ref().is_some_and(|other| name(other).0 == key));
        match other.and_then(Option::take) {
            Some(other) => pairs.push(Pair { a: ours, b: other }),
            None => only[0].push(title),
        }
    }
    only[1].extend(theirs.iter().flatten().map(|rest| name(rest).1));
    pairs
}

/// Half the sum of the absolute differences of the shares; `None` if either has no counts.
fn total_variation(counts: impl Iterator<Item = [u64; 2]> + Clone) -> Option<f64> {
    let sum = |which: usize| -> u128 { counts.clone().map(|counts| u128::from(counts[which])).sum() };
    let [a, b] = [sum(0), sum(1)];
    if a == 0 || b == 0 {
        return None;
    }
    // Over the common denominator a * b. A report counts fewer than 2^53 positions, and 64 squares of each.
    let differences = counts.map(|[ours, theirs]| (u128::from(ours) * b).abs_diff(u128::from(theirs) * a));
    let sum: u128 = differences.sum();
    Some(sum as f64 / (a * b) as f64 / 2.0)
}

#[cfg(test)]
mod tests {
    use super::super::{Details, HeatMap, Results};
    use super::*;

    fn with_moves(counts: Vec<u64>) -> Report {
        let positions = counts.iter().sum();
        Report { positions, legal_moves: Histogram::new(0, counts), ..Report::default() }
    }

    #[test]
    fn distances_by_hand() {
        let distance = |pairs: &[[u64; 2]]| total_variation(pairs.iter().copied());
        // Shares 1/4, 3/4, 0 and 1/2, 1/4, 1/4.
        assert_eq!(distance(&[[1, 2], [3, 1], [0, 1]]), Some(0.5));
        // No common value, and the same shares of different numbers.
        assert_eq!(distance(&[[5, 0], [0, 3]]), Some(1.0));
        assert_eq!(distance(&[[1, 3], [2, 6], [7, 21]]), Some(0.0));
        assert_eq!(distance(&[[1, 0]]), None);
        assert_eq!(distance(&[]), None);
        let large = 1 << 53;
        assert_eq!(distance(&[[large, 0], [0, large]]), Some(1.0));
    }

    #[test]
    fn differences_by_hand() {
        let mut a = with_moves(vec![0, 1, 0, 3]);
        let mut b = with_moves(vec![0, 0, 0, 0, 8]);
        a.in_check = 1;
        b.in_check = 6;
        a.occupancy[0].0[8] = 2;
        b.occupancy[0].0[8] = 1;
        b.occupancy[0].0[9] = 3;
        let comparison = Comparison::of(&a, &b);
        assert_eq!(comparison.positions, [4, 8]);
        let shares = &comparison.shares;
        let in_check = shares.iter().find(|share| share.a.key == "in_check").unwrap();
        assert_eq!(in_check.percentages(), [Some(25.0), Some(75.0)]);
        assert_eq!(in_check.difference(), Some(50.0));
        let captures = shares.iter().find(|share| share.a.key == "captures").unwrap();
        assert_eq!(captures.each(|share| share.whole), [10, 32]);
        let [moves] = &comparison.plots[..] else {
            panic!("only legal moves are known");
        };
        assert_eq!(moves.distance(), Some(1.0));
        assert_eq!(moves.means(), [Some(2.5), Some(4.0)]);
        assert_eq!(moves.medians(), [Some(3.0), Some(4.0)]);
        let pawns = &comparison.boards[0];
        assert_eq!((pawns.a.key, pawns.distance()), ("white_pawns", Some(0.75)));
        assert_eq!(comparison.boards[1].distance(), None);
    }

    #[test]
    fn identical_reports_do_not_differ() {
        let mut report = with_moves(vec![1, 3, 3, 7]);
        report.results = Results { white: 7, draw: 3, black: 4, unknown: 0 };
        report.occupancy = [HeatMap([3; 64]); 12];
        let mut details = Details::default();
        details.signatures.insert("KPvK".parse().unwrap(), 14);
        report.details = Some(Box::new(details));
        let comparison = Comparison::of(&report, &report);
        assert!(comparison.shares.iter().all(|share| share.difference().is_none_or(|d| d == 0.0)));
        assert!(comparison.plots.iter().all(|plot| plot.distance() == Some(0.0)));
        assert_eq!(comparison.bars.len(), 2);
        assert!(comparison.bars.iter().all(|bars| bars.distance() == Some(0.0)));
        assert!(comparison.boards[..12].iter().all(|board| board.distance() == Some(0.0)));
        assert!(comparison.only.iter().all(Vec::is_empty));
    }

    #[test]
    fn what_only_one_has_is_named() {
        let mut a = with_moves(vec![0, 1]);
        a.scores = Histogram::new(-5, vec![1]);
        let mut details = Details::default();
        details.signatures.insert("KvK".parse().unwrap(), 1);
        a.details = Some(Box::new(details.clone()));
        let mut b = with_moves(vec![0, 1]);
        details.signatures.clear();
        details.signatures.insert("KPvK".parse().unwrap(), 1);
        b.details = Some(Box::new(details));
        b.pieces = Histogram::new(2, vec![1]);
        let comparison = Comparison::of(&a, &b);
        assert_eq!(comparison.only, [vec!["Score"], vec!["Pieces on the board"]]);
        assert_eq!(comparison.bars[0].counts(), [("KvK", [1, 0]), ("KPvK", [0, 1])]);
        assert_eq!(comparison.bars[0].distance(), Some(1.0));
    }
}
