//! Two reports side by side.
//!
//! Facts that both have are paired by their keys. Distributions are compared by their *total variation distance*: half
//! the sum of the absolute differences of their shares. It is 0 for equal distributions and 1 for those without a
//! common value; in other words, it is the share of the positions of one that would have to change to get the
//! distribution of the other. Numbers are compared in the ranges of the plots, because single centipawns
//! or rating points of two samples differ even if their source is the same.
//!
//! Two samples of the same source always differ a little. So each [`Difference`] comes with the largest one that chance
//! would give: the expected value plus four standard deviations, for as many independent observations as there are. The
//! distance is also the largest difference of the shares of any set of values. With few values, such as results, these
//! depend on each other, and chance gives at least four standard deviations of the share of about half of them.
//! The positions of a game depend on each other, and results and ratings are even the same in all of them. Where games
//! are known, they are the observations, and a game counts as often as if one of its positions had been drawn at
//! random. That is cautious: facts that differ within games (such as checks) vary less by chance.

use super::plots_and_tables::{Bars, Board, Plot, Share, Unit};
use super::{FeatureDifference, Report, Squares};
use crate::text::numbers::{counted, percentage};
use std::collections::{BTreeMap, HashMap};

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
    /// Numbers of games with these positions; 0 if games are unknown.
    pub games: [u64; 2],
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
    /// The inputs of a network that only one of the datasets has, if both were counted for the same set.
    pub features: Option<FeatureDifference>,
}

impl Comparison {
    /// Compares the facts that both reports have.
    pub fn of(a: &Report, b: &Report) -> Self {
        let mut only: [Vec<&'static str>; 2] = Default::default();
        let reports = [a, b];
        Self {
            positions: reports.map(|report| report.positions),
            games: reports.map(|report| report.game_results.total()),
            shares: pairs(reports, Report::shares, &mut only),
            plots: pairs(reports, Report::plots, &mut only),
            bars: pairs(reports, Report::bars, &mut only),
            boards: pairs(reports, Report::boards, &mut only),
            only,
            features: a.features.as_ref().zip(b.features.as_ref()).and_then(|(a, b)| a.difference(b)),
        }
    }

    /// All distributions with values in both reports, the one that is furthest beyond chance first.
    pub fn distances(&self) -> Vec<Distance> {
        let none = [None; 2];
        let row = |(key, title, unit), difference: Option<Difference>, means, medians| {
            difference.map(|difference| Distance { key, title, unit, difference, means, medians })
        };
        let plots = self.plots.iter().map(|pair| row(pair.a.name(), pair.distance(), pair.means(), pair.medians()));
        let bars = self.bars.iter().map(|pair| row(pair.a.name(), pair.distance(), none, none));
        let boards = self.boards.iter().map(|pair| row(pair.a.name(), pair.distance(), none, none));
        let mut distances: Vec<Distance> = plots.chain(bars).chain(boards).flatten().collect();
        distances.sort_by(|a, b| b.difference.beyond().total_cmp(&a.difference.beyond()));
        distances
    }

    /// The shares that both reports have, with their differences in percentage points, the one that is furthest beyond
    /// chance first.
    pub fn differences(&self) -> Vec<(&Pair<Share>, Difference)> {
        let mut all: Vec<_> = self.shares.iter().filter_map(|pair| Some((pair, pair.difference()?))).collect();
        all.sort_by(|(_, a), (_, b)| b.beyond().total_cmp(&a.beyond()));
        all
    }

    /// What is furthest beyond chance, in a sentence with these names of the datasets.
    ///
    /// ```
    /// use lanefish::report::{Comparison, Report};
    ///
    /// let report = Report::default();
    /// let sentence = Comparison::of(&report, &report).sentence(["A", "B"]);
    /// assert!(sentence.starts_with("A and B differ by no more than chance"));
    /// ```
    pub fn sentence(&self, [a, b]: [&str; 2]) -> String {
        /// Number of facts that a sentence has room for.
        const MOST: usize = 3;
        if self.is_chance() {
            return format!("{a} and {b} differ by no more than chance: they may be samples of the same source.");
        }
        let mut facts: Vec<(f64, String)> = Vec::new();
        for (shares, difference) in self.differences().into_iter().filter(|(_, it)| !it.is_chance()) {
            let [of_a, of_b] = shares.percentages().map(|share| share.map_or("-".to_owned(), percentage));
            facts.push((difference.beyond(), format!("{} ({of_a} against {of_b})", shares.name())));
        }
        for distance in self.distances().into_iter().filter(|distance| !distance.difference.is_chance()) {
            let means = match distance.means {
                [Some(of_a), Some(of_b)] => format!("mean {of_a:.2} against {of_b:.2}"),
                _ => format!("{} of the distribution", percentage(100.0 * distance.difference.value)),
            };
            facts.push((distance.difference.beyond(), format!("{} ({means})", distance.title)));
        }
        facts.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let count = facts.len();
        let facts: Vec<String> = facts.into_iter().take(MOST).map(|(_, fact)| fact).collect();
        let more = match count.saturating_sub(MOST) {
            0 => String::new(),
            more => format!("; {}", counted(more as u64, "more fact") + " beyond chance"),
        };
        format!("{a} and {b} differ most in {}{more}.", facts.join(", "))
    }

    /// The titles of what only one of the datasets has, each once: facts about games and about positions share a title.
    pub fn titles_of_only(&self) -> [Vec<&'static str>; 2] {
        [0, 1].map(|dataset| {
            let mut titles: Vec<&'static str> = Vec::new();
            for &title in &self.only[dataset] {
                if !titles.contains(&title) {
                    titles.push(title);
                }
            }
            titles
        })
    }

    /// Whether no share and no distribution differs by more than chance would give.
    pub fn is_chance(&self) -> bool {
        let shares = self.shares.iter().filter_map(Pair::<Share>::difference);
        shares.chain(self.distances().into_iter().map(|distance| distance.difference)).all(Difference::is_chance)
    }
}

/// The distance of two distributions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Distance {
    /// The key of the fact.
    pub key: &'static str,
    /// The title of the comparison.
    pub title: &'static str,
    /// The unit that is counted.
    pub unit: Unit,
    /// The total variation distance, 0 to 1.
    pub difference: Difference,
    /// The means, for numbers.
    pub means: [Option<f64>; 2],
    /// The medians, for numbers.
    pub medians: [Option<f64>; 2],
}

/// A difference between two datasets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference; negative if A has more.
    pub value: f64,
    /// The largest difference that chance would give between two samples of these sizes from the same source: exceeded
    /// less than once in 10,000 cases.
    pub chance: f64,
}

impl Difference {
    /// The size of the difference as a multiple of the largest one that chance would give.
    ///
    /// ```
    /// use lanefish::report::Difference;
    /// assert_eq!(Difference { value: -3.0, chance: 2.0 }.beyond(), 1.5);
    /// assert_eq!(Difference { value: 0.0, chance: 0.0 }.beyond(), 0.0);
    /// ```
    pub fn beyond(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { self.value.abs() / self.chance }
    }
    /// Whether chance alone may explain it.
    pub fn is_chance(self) -> bool {
        self.beyond() <= 1.0
    }
}

/// A fact of both reports, with the same key, title and unit, but different numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair<T> {
    /// The fact in report A.
    pub a: T,
    /// The fact in report B.
    pub b: T,
    /// Numbers of independent observations on which the fact is based in both reports.
    pub observations: [f64; 2],
}

impl<T> Pair<T> {
    fn each<R>(&self, of: impl Fn(&T) -> R) -> [R; 2] {
        [of(&self.a), of(&self.b)]
    }
}

/// Number of standard deviations that chance hardly ever exceeds.
const DEVIATIONS: f64 = 4.0;

impl Pair<Share> {
    /// The name of the share. Results are counted by game and by position.
    pub fn name(&self) -> String {
        let unit = if self.a.unit == Unit::Games { " (games)" } else { "" };
        format!("{}{unit}", self.a.title)
    }
    /// Both shares in percent; `None` if the whole is zero.
    pub fn percentages(&self) -> [Option<f64>; 2] {
        self.each(|share| (share.whole > 0).then(|| share.count as f64 / share.whole as f64 * 100.0))
    }
    /// The share in B minus that in A, in percentage points.
    pub fn difference(&self) -> Option<Difference> {
        let [Some(a), Some(b)] = self.percentages() else {
            return None;
        };
        let shares = [a / 100.0, b / 100.0];
        let chance = DEVIATIONS * deviation(shares, self.observations) * 100.0;
        Some(Difference { value: b - a, chance: chance.min(100.0) })
    }
}

impl Pair<Plot> {
    /// Total variation distance in the ranges that are plotted, 0 to 1; `None` if either has no counts.
    pub fn distance(&self) -> Option<Difference> {
        let mut ranges: BTreeMap<i64, [u64; 2]> = BTreeMap::new();
        for (which, plot) in [&self.a, &self.b].into_iter().enumerate() {
            for (start, count) in plot.histogram.ranges(self.a.width) {
                ranges.entry(start).or_default()[which] += count;
            }
        }
        total_variation(ranges.values().copied(), self.observations)
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
    pub fn distance(&self) -> Option<Difference> {
        total_variation(self.counts().iter().map(|&(_, counts)| counts), self.observations)
    }
}

impl Pair<Board> {
    /// Total variation distance of the distributions over the squares, 0 to 1; `None` if either has no counts.
    pub fn distance(&self) -> Option<Difference> {
        let [a, b] = self.squares();
        total_variation(a.iter().zip(b).map(|(&a, &b)| [a, b]), self.observations)
    }
    /// Counts of both reports for each square, a1 first.
    pub fn squares(&self) -> [&Squares; 2] {
        [&self.a.counts, &self.b.counts]
    }
}

/// A fact that can be compared.
trait Fact {
    /// The key, title and unit of the figure.
    fn name(&self) -> (&'static str, &'static str, Unit);
    /// The sum of its counts, or the whole of which it is a share.
    fn total(&self) -> u64;
}

impl Fact for Share {
    fn name(&self) -> (&'static str, &'static str, Unit) {
        (self.key, self.title, self.unit)
    }
    fn total(&self) -> u64 {
        self.whole
    }
}

impl Fact for Plot {
    fn name(&self) -> (&'static str, &'static str, Unit) {
        (self.key, self.title, self.unit)
    }
    fn total(&self) -> u64 {
        self.histogram.total()
    }
}

impl Fact for Bars {
    fn name(&self) -> (&'static str, &'static str, Unit) {
        (self.key, self.title, self.unit)
    }
    fn total(&self) -> u64 {
        self.total()
    }
}

impl Fact for Board {
    fn name(&self) -> (&'static str, &'static str, Unit) {
        (self.key, self.title, Unit::Positions)
    }
    fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Number of independent observations on which a fact is based.
fn observations(report: &Report, fact: &impl Fact) -> f64 {
    let (.., unit) = fact.name();
    if matches!(unit, Unit::Games | Unit::Sides) {
        return fact.total() as f64;
    }
    let (positions, games) = (report.positions, report.game_results.total());
    // Not every position need have the fact, and some have it more than once (legal moves, pawns).
    let observed = fact.total().min(positions) as f64;
    if games > 0 { observed * (games as f64 / positions as f64) } else { observed }
}

/// Pairs facts of the same key, in the order of A; the titles of the others go to `only`.
fn pairs<T: Fact>(
    reports: [&Report; 2],
    facts: impl Fn(&Report) -> Vec<T>,
    only: &mut [Vec<&'static str>; 2],
) -> Vec<Pair<T>> {
    let [ours, theirs] = reports.map(facts);
    let mut theirs: Vec<Option<T>> = theirs.into_iter().map(Some).collect();
    let mut pairs = Vec::new();
    for a in ours {
        let (key, title, _) = a.name();
        let same = |other: &&mut Option<T>| other.as_ref().is_some_and(|other| other.name().0 == key);
        match theirs.iter_mut().find(same).and_then(Option::take) {
            Some(b) => {
                let observations = [observations(reports[0], &a), observations(reports[1], &b)];
                pairs.push(Pair { a, b, observations });
            }
            None => only[0].push(title),
        }
    }
    only[1].extend(theirs.iter().flatten().map(|rest| rest.name().1));
    pairs
}

/// The standard deviation of the difference of two shares, if their source is the same.
fn deviation([a, b]: [f64; 2], [of_a, of_b]: [f64; 2]) -> f64 {
    let share = (a * of_a + b * of_b) / (of_a + of_b);
    (share * (1.0 - share) * (1.0 / of_a + 1.0 / of_b)).sqrt()
}

/// The sum of some of the shares, as close to a half as the largest of them come.
fn about_half(mut shares: Vec<f64>) -> f64 {
    shares.sort_by(|a, b| b.total_cmp(a));
    shares.into_iter().fold(0.0f64, |sum, share| {
        let more = sum + share;
        if (more - 0.5).abs() < (sum - 0.5).abs() { more } else { sum }
    })
}

/// Half the sum of the absolute differences of the shares; `None` if either has no counts.
fn total_variation(counts: impl Iterator<Item = [u64; 2]> + Clone, observations: [f64; 2]) -> Option<Difference> {
    let sum = |which: usize| -> u128 { counts.clone().map(|counts| u128::from(counts[which])).sum() };
    let [a, b] = [sum(0), sum(1)];
    if a == 0 || b == 0 {
        return None;
    }
    // Over the common denominator a * b. A report counts fewer than 2^53 positions, and 64 squares of each.
    let differences = counts.clone().map(|[ours, theirs]| (u128::from(ours) * b).abs_diff(u128::from(theirs) * a));
    let sum: u128 = differences.sum();
    // The mean of the absolute value of a normally distributed number, in standard deviations.
    let mean = std::f64::consts::FRAC_2_PI.sqrt();
    let (mut expected, mut variance) = (0.0, 0.0);
    let mut pooled = Vec::new();
    for [ours, theirs] in counts {
        let shares = [ours as f64 / a as f64, theirs as f64 / b as f64];
        let deviation = deviation(shares, observations);
        // Rare values: two shares differ by their sum at most.
        expected += (deviation * mean).min(shares[0] + shares[1]);
        variance += deviation * deviation * (1.0 - mean * mean);
        let [of_a, of_b] = observations;
        pooled.push((shares[0] * of_a + shares[1] * of_b) / (of_a + of_b));
    }
    let independent = expected / 2.0 + DEVIATIONS * variance.sqrt() / 2.0;
    let half = about_half(pooled);
    let chance = independent.max(DEVIATIONS * deviation([half, half], observations));
    Some(Difference { value: sum as f64 / (a * b) as f64 / 2.0, chance: chance.min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::super::{Details, HeatMap, Histogram, Results};
    use super::*;

    fn with_moves(counts: Vec<u64>) -> Report {
        let positions = counts.iter().sum();
        Report { positions, legal_moves: Histogram::new(0, counts), ..Report::default() }
    }

    #[test]
    fn distances_by_hand() {
        let distance = |pairs: &[[u64; 2]]| Some(total_variation(pairs.iter().copied(), [100.0; 2])?.value);
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
        a.position_counts.in_check = 1;
        b.position_counts.in_check = 6;
        a.occupancy[0].0[8] = 2;
        b.occupancy[0].0[8] = 1;
        b.occupancy[0].0[9] = 3;
        let comparison = Comparison::of(&a, &b);
        assert_eq!(comparison.positions, [4, 8]);
        let shares = &comparison.shares;
        let in_check = shares.iter().find(|share| share.a.key == "in_check").unwrap();
        assert_eq!(in_check.percentages(), [Some(25.0), Some(75.0)]);
        assert_eq!(in_check.difference().map(|difference| difference.value), Some(50.0));
        assert_eq!(in_check.observations, [4.0, 8.0]);
        let captures = shares.iter().find(|share| share.a.key == "captures").unwrap();
        assert_eq!(captures.each(|share| share.whole), [10, 32]);
        let [moves] = &comparison.plots[..] else {
            panic!("only legal moves are known");
        };
        assert_eq!(moves.distance().map(|distance| distance.value), Some(1.0));
        assert_eq!(moves.means(), [Some(2.5), Some(4.0)]);
        assert_eq!(moves.medians(), [Some(3.0), Some(4.0)]);
        let pawns = &comparison.boards[0];
        assert_eq!((pawns.a.key, pawns.distance().unwrap().value), ("white_pawns", 0.75));
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
        assert!(comparison.differences().iter().all(|(_, difference)| difference.value == 0.0));
        assert_eq!(comparison.bars.len(), 2);
        assert_eq!(comparison.distances().len(), 1 + 2 + 12);
        assert!(comparison.distances().iter().all(|distance| distance.difference.value == 0.0));
        assert!(comparison.is_chance());
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
        assert_eq!(comparison.bars[0].distance().map(|distance| distance.value), Some(1.0));
    }

    /// Samples from one source differ by chance, and hardly ever by more; those of two sources differ by more.
    /// With two or three values their differences depend on each other: one has more where the other has less.
    #[test]
    fn few_values_differ_more_by_chance() {
        let of = |white: u64, draw: u64, black: u64| Report {
            positions: white + draw + black,
            results: Results { white, draw, black, unknown: 0 },
            ..with_moves(vec![white + draw + black])
        };
        let distance = |a: &Report, b: &Report| {
            let comparison = Comparison::of(a, b);
            let distances = comparison.distances().into_iter();
            distances.map(|found| found.difference).max_by(|a, b| a.value.total_cmp(&b.value)).unwrap()
        };
        // 3.4 standard deviations of the share of White's wins, and 5.5.
        assert!(distance(&of(120, 9, 91), &of(84, 10, 124)).is_chance());
        assert!(!distance(&of(140, 9, 71), &of(84, 10, 124)).is_chance());
        assert_eq!(about_half(vec![0.1, 0.6, 0.3]), 0.6);
        assert_eq!(about_half(vec![0.25, 0.25, 0.2, 0.3]), 0.55);
        assert_eq!(about_half(Vec::new()), 0.0);
    }

    #[test]
    fn chance_is_known() {
        let mut random = crate::chess::random::Random::new(3);
        let mut sample = |shift: u64| {
            let mut counts = vec![0; 40];
            for _ in 0..2000 {
                // Nearly normal, with a standard deviation of 4.
                let sum: u64 = (0..12).map(|_| random.bits() >> 60).sum();
                counts[(sum / 4 + shift).min(39) as usize] += 1;
            }
            with_moves(counts)
        };
        for _ in 0..200 {
            let comparison = Comparison::of(&sample(0), &sample(0));
            let [moves] = &comparison.plots[..] else { panic!("only legal moves are known") };
            let distance = moves.distance().unwrap();
            assert!(distance.value > 0.0 && distance.is_chance(), "{distance:?}");
            assert!(!Comparison::of(&sample(0), &sample(2)).is_chance());
        }
        // The positions of a game depend on each other: with ten games, two samples of 2000 positions say little.
        let [mut a, mut b] = [sample(0), sample(2)];
        for report in [&mut a, &mut b] {
            report.game_results = Results { white: 5, draw: 1, black: 4, unknown: 0 };
        }
        assert!(Comparison::of(&a, &b).is_chance());
    }
}
