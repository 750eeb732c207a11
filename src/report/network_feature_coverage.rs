//! Which inputs of a network the positions of a dataset activate, and how often.
//!
//! A network learns the weights of an input only from positions that have it. Each position has two lists of active inputs, one for
//! each side's view. Some inputs are in no legal position (a pawn on the first rank), so that a few are never seen in any
//! dataset.

use super::plots_and_tables::NumberTable;
use super::{PIECE_LETTERS, Report, Squares, add};
use crate::table::{FeatureSet, KingNames};
use crate::text::numbers::{grouped, percent};

/// An input that is active fewer times than this hardly changes its weights.
pub const FEW: u64 = 100;

/// How often each input of a set is active.
///
/// ```
/// use lanefish::report::FeatureCoverage;
/// use lanefish::table::FeatureSet;
///
/// let coverage = FeatureCoverage::none_of(FeatureSet::parse("chess768")?);
/// assert_eq!((coverage.seen(), coverage.never_seen()), (0, 768));
/// # Ok::<(), lanefish::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FeatureCoverage {
    /// The set.
    pub set: FeatureSet,
    /// Number of lists: two for each position.
    pub lists: u64,
    /// The number of lists that have each input.
    pub counts: Vec<u64>,
    /// The largest number of inputs in one list.
    pub active_max: u64,
    /// The number of lists for each bucket of the own king's squares, if the set has such buckets.
    pub king_buckets: Option<Vec<u64>>,
    /// Attacks, if threats are among the inputs.
    pub threats: Option<Box<ThreatCounts>>,
}

/// Pieces that attack pieces. Pins do not count.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ThreatCounts {
    /// By attacker, then by attacked piece, in the order `PNBRQKpnbrqk`.
    pub attacks: [[u64; 12]; 12],
    /// Pieces of White and of Black that hang.
    pub hanging: [Hanging; 2],
}

impl ThreatCounts {
    pub(crate) fn merge(&mut self, other: &Self) {
        add(self.attacks.as_flattened_mut(), other.attacks.as_flattened());
        for (ours, theirs) in self.hanging.iter_mut().zip(other.hanging) {
            ours.undefended += theirs.undefended;
            ours.attacked_by_less += theirs.attacked_by_less;
        }
    }
}

/// Pieces of one color that hang; kings are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Hanging {
    /// Pieces that the other side attacks and the own side does not defend.
    pub undefended: u64,
    /// Pieces that a piece of less worth attacks: pawns are worth 1, knights and bishops 3, rooks 5, queens 9.
    pub attacked_by_less: u64,
}

/// The inputs that only one of two datasets has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FeatureDifference {
    /// The set.
    pub set: FeatureSet,
    /// Number of inputs that each dataset has.
    pub seen: [u64; 2],
    /// The inputs that only A has, and those that only B has, with their counts.
    pub only: [Vec<(u32, u64)>; 2],
}

impl FeatureCoverage {
    /// The coverage by no positions.
    pub fn none_of(set: FeatureSet) -> Self {
        let king_buckets = set.king_buckets().map(|buckets| vec![0; buckets.count]);
        let threats = set.has_threats().then(Box::default);
        Self { lists: 0, counts: vec![0; set.inputs() as usize], active_max: 0, king_buckets, threats, set }
    }
    fn count(&self, is_counted: impl Fn(u64) -> bool) -> u64 {
        self.counts.iter().filter(|&&count| is_counted(count)).count() as u64
    }
    /// Number of inputs that any position has.
    pub fn seen(&self) -> u64 {
        self.count(|count| count > 0)
    }
    /// Number of inputs that no position has.
    pub fn never_seen(&self) -> u64 {
        self.count(|count| count == 0)
    }
    /// Number of inputs that are seen, but fewer than [`FEW`] times.
    pub fn seen_under_100(&self) -> u64 {
        self.count(|count| (1..FEW).contains(&count))
    }
    /// The sum of the lengths of all lists.
    pub fn active_sum(&self) -> u64 {
        self.counts.iter().sum()
    }
    /// The mean length of a list.
    pub fn active_mean(&self) -> Option<f64> {
        (self.lists > 0).then(|| self.active_sum() as f64 / self.lists as f64)
    }
    /// Lists by the square of the own king, where each bucket is named by a square.
    pub(crate) fn kings(&self) -> Option<Squares> {
        let buckets = self.set.king_buckets().filter(|buckets| buckets.names == KingNames::Square)?;
        let mut board = [0; 64];
        for (bucket, &count) in self.king_buckets.as_ref()?.iter().enumerate() {
            board[buckets.square(bucket)?] = count;
        }
        Some(board)
    }
    /// Buckets of the own king's squares by their names.
    pub(crate) fn named_king_buckets(&self) -> Vec<(String, u64)> {
        let buckets = self.set.king_buckets().zip(self.king_buckets.as_ref());
        buckets.map_or_else(Vec::new, |(buckets, counts)| {
            counts.iter().enumerate().map(|(bucket, &count)| (buckets.name(bucket), count)).collect()
        })
    }

    /// Adds the counts of another dataset, of the same set.
    pub(super) fn merge(&mut self, other: &Self) {
        self.lists += other.lists;
        add(&mut self.counts, &other.counts);
        self.active_max = self.active_max.max(other.active_max);
        if let (Some(ours), Some(theirs)) = (&mut self.king_buckets, &other.king_buckets) {
            add(ours, theirs);
        }
        if let (Some(ours), Some(theirs)) = (&mut self.threats, &other.threats) {
            ours.merge(theirs);
        }
    }

    /// The inputs that only one of two datasets has; `None` if the sets are not the same.
    pub(super) fn difference(&self, other: &Self) -> Option<FeatureDifference> {
        let only = |ours: &Self, theirs: &Self| -> Vec<(u32, u64)> {
            let counts = (0..).zip(ours.counts.iter().zip(&theirs.counts));
            counts
                .filter(|(_, (ours, theirs))| **ours > 0 && **theirs == 0)
                .map(|(at, (&ours, _))| (at, ours))
                .collect()
        };
        (self.set == other.set).then(|| FeatureDifference {
            set: self.set.clone(),
            seen: [self.seen(), other.seen()],
            only: [only(self, other), only(other, self)],
        })
    }
}

impl FeatureDifference {
    /// The inputs that only one of the datasets has (0 is A, 1 is B) and that are active most often, in words.
    pub fn most_frequent(&self, dataset: usize, most: usize) -> Vec<String> {
        let mut only = self.only[dataset].clone();
        only.sort_by_key(|&(index, count)| (std::cmp::Reverse(count), index));
        let words = only.iter().take(most);
        words.map(|&(index, count)| format!("{} ({})", self.set.meaning(index), grouped(count))).collect()
    }
}

/// A number of things in 100 positions, in at most three characters where there are fewer than ten a position.
fn per_hundred(count: u64, positions: u64) -> String {
    match 100.0 * count as f64 / positions.max(1) as f64 {
        0.0 => "-".to_owned(),
        share @ ..9.95 => format!("{share:.1}"),
        share => format!("{share:.0}"),
    }
}

/// A number of things per position.
fn per(count: u64, positions: u64) -> String {
    match count {
        0 => "-".to_owned(),
        _ => format!("{:.2}", count as f64 / positions.max(1) as f64),
    }
}

impl Report {
    /// How the inputs of a network are covered: what is seen of all, king buckets, and attacks.
    pub fn feature_tables(&self) -> Vec<NumberTable> {
        let Some(features) = &self.features else {
            return Vec::new();
        };
        let inputs = u64::from(features.set.inputs());
        let row = |name: &str, count: u64| vec![name.to_owned(), grouped(count), percent(count, inputs)];
        let mean = features.active_mean().map_or(String::new(), |mean| format!("{mean:.2}"));
        let mut tables = vec![NumberTable {
            key: "features",
            title: "Inputs of the network",
            note: format!("{}; two lists a position, one for each side", features.set.name()),
            head: vec!["", "", ""],
            rows: vec![
                row("inputs", inputs),
                row("seen", features.seen()),
                row("seen fewer than 100 times", features.seen_under_100()),
                row("never seen", features.never_seen()),
                vec!["active in a list, mean".to_owned(), mean, String::new()],
                vec!["active in a list, at most".to_owned(), grouped(features.active_max), String::new()],
            ],
        }];
        // Where buckets have squares, a board shows them.
        if features.kings().is_none() && features.king_buckets.is_some() {
            let rows = features.named_king_buckets().into_iter();
            let rows = rows.map(|(name, count)| vec![name, grouped(count), percent(count, features.lists)]);
            tables.push(NumberTable {
                key: "king_buckets",
                title: "Buckets of the own king",
                note: "lists in each".to_owned(),
                head: vec!["", "lists", ""],
                rows: rows.collect(),
            });
        }
        if let Some(threats) = &features.threats {
            let rows = PIECE_LETTERS.iter().zip(&threats.attacks).map(|(attacker, attacked)| {
                let counts = attacked.iter().map(|&count| per_hundred(count, self.positions));
                std::iter::once((*attacker).to_owned()).chain(counts).collect()
            });
            tables.push(NumberTable {
                key: "threats",
                title: "Who attacks whom",
                note: "in 100 positions: attackers in rows, attacked pieces in columns, Black's in small letters"
                    .to_owned(),
                head: [&[""], &PIECE_LETTERS[..]].concat(),
                rows: rows.collect(),
            });
            let sides = [self.title("White"), self.title("Black")];
            let rows = sides.into_iter().zip(&threats.hanging).map(|(side, hanging)| {
                let counts = [hanging.undefended, hanging.attacked_by_less];
                std::iter::once(side.to_owned()).chain(counts.map(|count| per(count, self.positions))).collect()
            });
            tables.push(NumberTable {
                key: "hanging",
                title: "Pieces that hang",
                note: "a position, kings not counted".to_owned(),
                head: vec!["", "attacked, not defended", "attacked by less"],
                rows: rows.collect(),
            });
        }
        tables.extend(self.features_of_groups());
        tables
    }

    /// What each group sees of the inputs.
    fn features_of_groups(&self) -> Option<NumberTable> {
        let groups = self.groups.as_ref()?;
        let others = groups.others.as_ref().map(|others| ("all others".to_owned(), &*others.report));
        let label = |values: &[super::GroupValue]| {
            let labels = groups.by.iter().zip(values).map(|(column, value)| column.label(value));
            labels.collect::<Vec<_>>().join(", ")
        };
        let rows = groups.shown().into_iter().map(|(values, report)| (label(values), report)).chain(others);
        let rows = rows.filter_map(|(name, report)| {
            let features = report.features.as_ref()?;
            let counts = [features.seen(), features.seen_under_100(), features.never_seen()].map(grouped);
            let mean = features.active_mean().map_or(String::new(), |mean| format!("{mean:.2}"));
            Some([vec![name], counts.to_vec(), vec![mean]].concat())
        });
        Some(NumberTable {
            key: "features_of_groups",
            title: "Inputs by group",
            note: String::new(),
            head: vec!["", "seen", "under 100 times", "never seen", "mean active"],
            rows: rows.collect(),
        })
    }
}
