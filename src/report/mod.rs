//! The data sheet for a dataset: plain numbers, and the pages and tables made of them.
//!
//! [`Stats`](crate::stats::Stats) count quickly; a [`Report`] has the resulting numbers by name. All numbers are
//! integers, so [merging](Report::merge) the reports of several parts gives exactly the report of the whole, whether
//! the parts were counted by threads, in shards or on several machines. Means, quantiles and shares are derived when
//! they are shown.
//!
//! ```text
//! stats ──> Report <──> JSON (`stats --json`, `--merge`)
//!             │
//!           facts: shares, plots, bars, boards and tables, each with a key, a title and units
//!             │
//!   text · HTML · CSV · comparison
//! ```
//!
//! [`Report::remarks`] lists unusual properties of a dataset, [`Comparison`] the differences between two datasets, and
//! [`html`] makes pages of both.
//!
//! All code that shows a report uses its [`plots_and_tables`]. A plain count is a row of
//! `position_and_move_counts.rs`; for anything else, add a field here, its JSON, and an entry there.

mod compare;
pub mod csv;
mod distribution;
pub mod html;
#[cfg(feature = "json")]
mod json;
mod material_signature;
mod network_feature_coverage;
pub mod plots_and_tables;
mod position_and_move_counts;
mod puzzles_and_evaluations;
mod remarks;
mod results_of_games;
mod score_code_counts;
mod score_results;
mod striking_facts;
mod text_counts;
mod time_and_mistakes;

pub use compare::{Comparison, Difference, Distance, Pair};
pub use distribution::{Distribution, Histogram, Matrix};
#[cfg(feature = "json")]
pub use json::{ReportError, left_out_to_json, run_to_json};
pub use material_signature::Signature;
pub use network_feature_coverage::{FEW, FeatureCoverage, FeatureDifference, Hanging, ThreatCounts};
pub use position_and_move_counts::{MoveCounts, Number, PositionCounts};
pub use puzzles_and_evaluations::{Evaluations, Magnitudes, Puzzles};
pub use remarks::{Origin, Remark, Severity};
pub use results_of_games::{OPENING_FAMILIES, ResultBars, ResultsOfGames};
pub use score_code_counts::CodedScores;
pub use score_results::{
    LogisticScale, MoverResults, RESULT_SCORE_MOST, RESULT_SCORE_RANGES, RESULT_SCORE_WIDTH, ScoreResults,
    first_of_result_range, logistic_scale, result_score_range,
};
pub use striking_facts::{MOST_TOLD, StrikingFact};
pub use text_counts::Kinds;
pub use time_and_mistakes::{
    Accuracies, CLASSES, JudgedMoves, Mistakes, PHASE_BANDS, PHASE_WIDTH, PLY_BANDS, PLY_WIDTH, RATING_BANDS,
    TimedMoves, TimesUsed, phase_band, ply_band, rating_band,
};

use crate::distinct::Sketches;
use crate::table::{OF_GAMES, TAGS};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The pieces in the order of all lists of them.
pub(crate) const PIECE_LETTERS: [&str; 12] = ["P", "N", "B", "R", "Q", "K", "p", "n", "b", "r", "q", "k"];

/// Counts of squares, a1 first.
pub(crate) type Squares = [u64; 64];

/// The statistics of a dataset, as plain numbers.
///
/// ```
/// use lanefish::report::Report;
/// let mut all = Report::default();
/// all.merge(&Report::default());
/// assert_eq!(all.positions, 0);
/// assert_eq!(all.legal_moves.summary().mean, None);
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Report {
    /// Number of positions.
    pub positions: u64,
    /// Number of rejected records.
    pub rejected: u64,
    /// Positions in which White stands for the side to move, because their format does not say whose move it is
    /// (bulletformat).
    pub from_mover: u64,
    /// Positions with White to move.
    pub white_to_move: u64,
    /// Positions of some kinds: in check, mated, ..
    pub position_counts: PositionCounts,
    /// Legal moves per position.
    pub legal_moves: Histogram,
    /// Legal moves of some kinds: captures, promotions, ..
    pub move_counts: MoveCounts,
    /// Pieces per position.
    pub pieces: Histogram,
    /// Phase: 24 = all minor and major pieces, 0 = none.
    pub phase: Histogram,
    /// Material (1-3-3-5-9) of White and of Black.
    pub material: [Histogram; 2],
    /// Castling rights.
    pub castling: Castling,
    /// Positions in which an en passant capture is legal; or those with an en passant square, if such squares are
    /// kept as they are given.
    pub en_passant: u64,
    /// Counts of each piece on each square, in the order `PNBRQKpnbrqk`.
    pub occupancy: [HeatMap; 12],
    /// Counts of attacks on each square, by White and by Black.
    pub attacks: [HeatMap; 2],
    /// Results by position: positions of long games weigh more than those of short ones.
    pub results: Results,
    /// Results by game: each game with a position counts once, if its records are in the order of game numbers.
    pub game_results: Results,
    /// Games at the ends of a part of a file, which are among those of [`Self::game_results`] and may go on in another
    /// part; with their results as values of [`Field::Result`](crate::table::Field::Result).
    pub(crate) open_games: BTreeMap<OpenGame, u8>,
    /// Whether the records of a game may be anywhere, so that games could not be counted.
    pub scattered_games: bool,
    /// Scores in centipawns from White's side.
    pub scores: Histogram,
    /// Scores that are codes, such as Stockfish's for mates; they are not among [`Self::scores`].
    pub coded_scores: CodedScores,
    /// Records with a mate score.
    pub mates: Mates,
    /// Ratings of the side to move, in groups that have them.
    pub ratings: Ratings,
    /// Statistics of puzzles, if there are any.
    pub puzzles: Option<Box<Puzzles>>,
    /// Statistics of evaluations, if there are any.
    pub evaluations: Option<Box<Evaluations>>,
    /// How the inputs of a network are covered, if a set was given.
    pub features: Option<Box<FeatureCoverage>>,
    /// The statistics that take longer, if they were requested.
    pub details: Option<Box<Details>>,
    /// The statistics of each group, if the positions were grouped.
    pub groups: Option<Groups>,
}

/// A count for each square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatMap(pub Squares);

impl Default for HeatMap {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl HeatMap {
    /// The sum over all squares.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
    fn merge(&mut self, other: &Self) {
        add(&mut self.0, &other.0);
    }
}

/// Number of positions with each castling right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Castling {
    /// No castling rights.
    pub none: u64,
    /// At least one castling right.
    pub some: u64,
    /// White has the kingside castling right (towards the h-file).
    pub white_king: u64,
    /// White has the queenside castling right.
    pub white_queen: u64,
    /// Black has the kingside castling right.
    pub black_king: u64,
    /// Black has the queenside castling right.
    pub black_queen: u64,
}

impl Castling {
    fn merge(&mut self, other: &Self) {
        self.none += other.none;
        self.some += other.some;
        self.white_king += other.white_king;
        self.white_queen += other.white_queen;
        self.black_king += other.black_king;
        self.black_queen += other.black_queen;
    }
}

/// Number of records with each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Results {
    /// White won.
    pub white: u64,
    /// Drawn.
    pub draw: u64,
    /// Black won.
    pub black: u64,
    /// The record has no result.
    pub unknown: u64,
}

impl Results {
    /// Number of records with a result.
    pub fn known(&self) -> u64 {
        self.white + self.draw + self.black
    }
    /// All records.
    pub fn total(&self) -> u64 {
        self.known() + self.unknown
    }
    /// The number for a value of [`Field::Result`](crate::table::Field::Result).
    pub(crate) fn of(&mut self, result: u8) -> &mut u64 {
        match result {
            0 => &mut self.black,
            1 => &mut self.draw,
            2 => &mut self.white,
            _ => &mut self.unknown,
        }
    }
    fn merge(&mut self, other: &Self) {
        self.white += other.white;
        self.draw += other.draw;
        self.black += other.black;
        self.unknown += other.unknown;
    }
}

/// A game whose number is stored in its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OpenGame {
    /// The absolute path of the file.
    pub(crate) file: String,
    /// How often the same file was among the inputs before.
    pub(crate) time: u64,
    pub(crate) game: u64,
}

/// Number of records with a mate, by the mating side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Mates {
    /// White mates or has mated.
    pub white: u64,
    /// Black mates or has mated.
    pub black: u64,
}

/// Ratings of the side to move.
///
/// ```
/// assert_eq!(lanefish::report::Ratings::default().mean(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Ratings {
    /// Number of positions in which the side to move has a rating.
    pub count: u64,
    /// The sum of these ratings.
    pub sum: u64,
}

impl Ratings {
    pub(crate) fn add(&mut self, elo: u16) {
        self.count += 1;
        self.sum += u64::from(elo);
    }
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
    }
    /// Their mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// The statistics that take longer than the rest: joint distributions, kinds of material, rare squares, distinct
/// positions, games.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Details {
    /// Plies since the start of the game, for the records that have them.
    pub ply: Histogram,
    /// Positions by pieces (rows) and legal moves (columns), without the few with more moves than any game has.
    pub pieces_moves: Matrix,
    /// Positions by White's material (rows) and Black's (columns); without the few beyond 127 points.
    pub material: Matrix,
    /// Positions by phase (rows) and result (columns: White won, draw, Black won, unknown).
    pub phase_results: Matrix,
    /// Records with a score by phase (rows) and score (columns: see [`score_column`]).
    pub phase_scores: Matrix,
    /// Sum of the scores in each phase, in centipawns.
    pub phase_score_sums: Vec<i64>,
    /// Results by score, if records have both.
    pub score_results: Option<Box<ScoreResults>>,
    /// Positions by kind of material.
    pub signatures: BTreeMap<Signature, u64>,
    /// Positions with more pieces of a kind than a [`Signature`] has room for.
    pub other_signatures: u64,
    /// Squares of checking pieces.
    pub checkers: HeatMap,
    /// En passant squares on which a capture is legal.
    pub en_passant: HeatMap,
    /// Squares of rooks with castling rights.
    pub castling_rooks: HeatMap,
    /// Estimates of the number of distinct positions.
    pub distinct: Sketches,
    /// Exact numbers of distinct positions, if they were requested: see [`crate::distinct::LEVELS`].
    pub exact_distinct: Option<[u64; 4]>,
    /// Games whose first position is among the records.
    pub games: Games,
    /// The time that moves took, if it is known of any.
    pub times_used: Option<Box<TimesUsed>>,
    /// Mistakes, if any move has evaluations before and after it.
    pub mistakes: Option<Box<Mistakes>>,
    /// The accuracy of players, if any game has evaluations.
    pub accuracies: Option<Box<Accuracies>>,
}

/// The width of a column of [`Details::phase_scores`], in centipawns.
pub const SCORE_WIDTH: i16 = 50;
/// Scores beyond this are in the outermost columns.
pub const SCORE_MOST: i16 = 2000;
/// Number of columns of [`Details::phase_scores`].
pub const SCORE_COLUMNS: usize = 2 * (SCORE_MOST / SCORE_WIDTH) as usize + 1;

/// The column of [`Details::phase_scores`] for a score: the middle column has -25 to 24 centipawns.
///
/// ```
/// use lanefish::report::score_column;
/// assert_eq!([-30_000, -25, 24, 25, 30_000].map(score_column), [0, 40, 40, 41, 80]);
/// ```
#[inline]
pub fn score_column(score: i16) -> usize {
    let score = score.clamp(-SCORE_MOST, SCORE_MOST);
    ((score + SCORE_MOST + SCORE_WIDTH / 2) / SCORE_WIDTH) as usize
}

/// Statistics of games. Each game is counted once, at the record with its start position (ply 0).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Games {
    /// Number of games.
    pub count: u64,
    /// Games by opening code (`A00` to `E99`); games without a code are not counted.
    pub eco: BTreeMap<[u8; 3], u64>,
    /// Ratings of White and of Black, where known.
    pub elo: [Histogram; 2],
    /// Games by class of time control, in the order of [`Speed::ALL`](crate::games::Speed::ALL), and games without one.
    pub speeds: [u64; 7],
    /// White's rating minus Black's, where both are known; differences beyond 4,000 count as 4,000.
    pub elo_differences: Histogram,
    /// Games by year and month, from 1 to 12, or 0 where only the year is known.
    pub months: BTreeMap<(u16, u8), u64>,
    /// Games by the way they ended, as they give it.
    pub terminations: Kinds,
    /// Games from the usual start position by their first move, in standard algebraic notation.
    pub first_moves: Kinds,
    /// Games by opening: the name that they give, up to its first colon.
    pub openings: Kinds,
    /// Results by opening, rating and class of time control.
    pub results: ResultsOfGames,
}

/// Statistics of groups of positions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Groups {
    /// The columns by which positions are grouped.
    pub by: Vec<GroupColumn>,
    /// The groups, by the value of each column; numbers by the first number of their range.
    pub values: BTreeMap<Vec<GroupValue>, Report>,
    /// All other groups together, if only the largest ones were counted separately.
    pub others: Option<OtherGroups>,
}

/// A column by which positions are grouped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupColumn {
    /// The name of the column.
    pub name: String,
    /// Numbers in ranges of this width are one group; of real numbers, in units of the last decimal.
    pub width: u64,
    /// Of real numbers: the number of decimals of the width, in whose units values are, too.
    pub decimals: Option<u8>,
}

/// A number in units of its last decimal as text.
pub(crate) fn decimal(number: i128, decimals: u8) -> String {
    let unit = 10_i128.pow(decimals.into());
    let (sign, size) = (if number < 0 { "-" } else { "" }, number.abs());
    match decimals {
        0 => number.to_string(),
        _ => format!("{sign}{}.{:0width$}", size / unit, size % unit, width = usize::from(decimals)),
    }
}

/// Groups that are counted together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OtherGroups {
    /// The number of the other groups.
    pub groups: u64,
    /// The statistics of the other groups. If they were merged, a game with positions in several of them counts in each.
    pub report: Box<Report>,
}

/// Unit of the column `clock`, in its numbers per minute.
const MINUTE: i128 = 6000;

impl GroupColumn {
    /// A value of the column, as shown: a number, a range, a text, or `none`. Clocks are shown in minutes.
    pub fn label(&self, value: &GroupValue) -> String {
        let number = |number: i128| match self.name.as_str() {
            "clock" if number % MINUTE == 0 => (number / MINUTE).to_string(),
            "clock" => format!("{:.2}", number as f64 / MINUTE as f64),
            _ => number.to_string(),
        };
        let unit = if self.name == "clock" { " min" } else { "" };
        match value {
            GroupValue::Number(first) if let Some(decimals) = self.decimals => {
                let text = |number| decimal(number, decimals);
                format!("{} to {}", text(*first), text(first + i128::from(self.width)))
            }
            GroupValue::Number(first) if self.width == 1 => format!("{}{unit}", number(*first)),
            GroupValue::Number(first) if self.name == "clock" => {
                format!("{} to {}{unit}", number(*first), number(first + i128::from(self.width)))
            }
            GroupValue::Number(first) => format!("{first} to {}", first + i128::from(self.width) - 1),
            GroupValue::Text(text) => text.clone(),
            GroupValue::Missing => "none".to_owned(),
        }
    }
}

impl Groups {
    /// Whether any group is one of texts.
    fn has_texts(&self) -> bool {
        self.values.keys().flatten().any(|value| matches!(value, GroupValue::Text(_)))
    }

    /// The groups in the order for display: texts by the number of their games, where games are known, or of their
    /// positions, the largest first; numbers by their values.
    pub fn shown(&self) -> Vec<(&[GroupValue], &Report)> {
        let mut shown: Vec<(&[GroupValue], &Report)> =
            self.values.iter().map(|(values, report)| (values.as_slice(), report)).collect();
        if self.has_texts() {
            shown.sort_by_key(|(_, report)| std::cmp::Reverse(size_of_group(report)));
        }
        shown
    }

    /// Whether a game has positions in one group only, because the columns are the same in all of them.
    pub fn are_of_games(&self) -> bool {
        let is_of_games = |name: &str| OF_GAMES.contains(&name) || name.starts_with(TAGS.prefix);
        self.by.iter().all(|column| is_of_games(&column.name))
    }

    /// The largest groups, at most `most`: those with the most games, and of these those with the most positions. All others
    /// are merged. Of equally large ones, those with the lowest values remain.
    #[must_use]
    pub fn largest(&self, most: usize) -> Self {
        self.kept(most, |a, b| size_of_group(b).cmp(&size_of_group(a)))
    }

    /// The groups with the largest numbers, at most `most`; all others are merged. Groups without a number are the last.
    #[must_use]
    pub fn first(&self, most: usize, number: impl Fn(&Report) -> Option<f64>) -> Self {
        let number = |report: &Report| number(report).unwrap_or(f64::NEG_INFINITY);
        self.kept(most, |a, b| number(b).total_cmp(&number(a)))
    }

    fn kept(&self, most: usize, order: impl Fn(&Report, &Report) -> Ordering) -> Self {
        let mut sizes: Vec<(&Vec<GroupValue>, &Report)> = self.values.iter().collect();
        sizes.sort_by(|(_, a), (_, b)| order(a, b));
        let rest = sizes.split_off(sizes.len().min(most));
        let mut others = self.others.clone();
        for (_, report) in rest {
            match &mut others {
                Some(others) => {
                    others.groups += 1;
                    others.report.merge(report);
                }
                None => others = Some(OtherGroups { groups: 1, report: Box::new(report.clone()) }),
            }
        }
        let values = sizes.into_iter().map(|(values, report)| (values.clone(), report.clone()));
        Self { by: self.by.clone(), values: values.collect(), others }
    }
}

/// The size of a group: its games, if they are known, and its positions.
fn size_of_group(report: &Report) -> (u64, u64) {
    (report.game_results.total(), report.positions)
}

/// The value that the positions of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupValue {
    /// A number, or the first of a range: any signed or unsigned number of 64 bits.
    Number(i128),
    /// A text.
    Text(String),
    /// The records have no value.
    Missing,
}

impl Report {
    /// Adds the numbers of another report.
    ///
    /// Details, groups and the coverage of a set of inputs remain only if both reports have them. Exact numbers of distinct positions are dropped,
    /// because the same position may be in both.
    pub fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.rejected += other.rejected;
        self.from_mover += other.from_mover;
        self.white_to_move += other.white_to_move;
        self.position_counts.merge(&other.position_counts);
        self.legal_moves.merge(&other.legal_moves);
        self.move_counts.merge(&other.move_counts);
        self.pieces.merge(&other.pieces);
        self.phase.merge(&other.phase);
        merge_all(&mut self.material, &other.material, Histogram::merge);
        self.castling.merge(&other.castling);
        self.en_passant += other.en_passant;
        merge_all(&mut self.occupancy, &other.occupancy, HeatMap::merge);
        merge_all(&mut self.attacks, &other.attacks, HeatMap::merge);
        self.results.merge(&other.results);
        if other.scattered_games {
            self.scatter_games();
        } else if !self.scattered_games {
            self.merge_games(other);
        }
        self.scores.merge(&other.scores);
        self.coded_scores.merge(&other.coded_scores);
        self.mates.white += other.mates.white;
        self.mates.black += other.mates.black;
        self.ratings.merge(&other.ratings);
        if let Some(theirs) = &other.puzzles {
            self.puzzles.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.evaluations {
            self.evaluations.get_or_insert_default().merge(theirs);
        }
        self.features = match (self.features.take(), &other.features) {
            (Some(mut ours), Some(theirs)) if ours.set == theirs.set => {
                ours.merge(theirs);
                Some(ours)
            }
            _ => None,
        };
        self.details = match (self.details.take(), &other.details) {
            (Some(mut ours), Some(theirs)) => {
                ours.merge(theirs);
                Some(ours)
            }
            _ => None,
        };
        self.groups = match (self.groups.take(), &other.groups) {
            // Of other groups, the values are not known.
            (Some(mut ours), Some(theirs))
                if ours.by == theirs.by && ours.others.is_none() && theirs.others.is_none() =>
            {
                for (value, report) in &theirs.values {
                    match ours.values.entry(value.clone()) {
                        Entry::Occupied(mut ours) => ours.get_mut().merge(report),
                        Entry::Vacant(ours) => {
                            ours.insert(report.clone());
                        }
                    }
                }
                Some(ours)
            }
            _ => None,
        };
        if self.scattered_games {
            // The games of one part may go on in another one, also where a group is in only one of them.
            let groups = self.groups.iter_mut().flat_map(|groups| groups.values.values_mut());
            groups.for_each(Self::scatter_games);
        }
    }
}

impl Report {
    /// Adds the games of another report. Games that both have count once.
    fn merge_games(&mut self, other: &Self) {
        self.game_results.merge(&other.game_results);
        for (game, &result) in &other.open_games {
            match self.open_games.entry(game.clone()) {
                Entry::Occupied(mut known) => {
                    *self.game_results.of(result.max(*known.get())) -= 1;
                    *known.get_mut() = result.min(*known.get());
                }
                Entry::Vacant(new) => {
                    new.insert(result);
                }
            }
        }
    }

    /// Notes that no open game goes on elsewhere.
    #[cfg(feature = "cluster")]
    pub(crate) fn close_games(&mut self) {
        self.open_games.clear();
        let groups = self.groups.iter_mut().flat_map(|groups| groups.values.values_mut());
        groups.for_each(|report| report.open_games.clear());
    }

    /// Notes that games could not be counted.
    pub(crate) fn scatter_games(&mut self) {
        (self.game_results, self.scattered_games) = (Results::default(), true);
        self.open_games.clear();
    }
}

impl Details {
    fn merge(&mut self, other: &Self) {
        self.ply.merge(&other.ply);
        self.pieces_moves.merge(&other.pieces_moves);
        self.material.merge(&other.material);
        self.phase_results.merge(&other.phase_results);
        self.phase_scores.merge(&other.phase_scores);
        if self.phase_score_sums.len() < other.phase_score_sums.len() {
            self.phase_score_sums.resize(other.phase_score_sums.len(), 0);
        }
        add(&mut self.phase_score_sums, &other.phase_score_sums);
        if let Some(theirs) = &other.score_results {
            self.score_results.get_or_insert_default().merge(theirs);
        }
        for (&signature, count) in &other.signatures {
            *self.signatures.entry(signature).or_default() += count;
        }
        self.other_signatures += other.other_signatures;
        self.checkers.merge(&other.checkers);
        self.en_passant.merge(&other.en_passant);
        self.castling_rooks.merge(&other.castling_rooks);
        self.distinct.merge(&other.distinct);
        self.exact_distinct = None;
        self.games.merge(&other.games);
        if let Some(theirs) = &other.times_used {
            self.times_used.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.mistakes {
            self.mistakes.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.accuracies {
            self.accuracies.get_or_insert_default().merge(theirs);
        }
    }
}

impl Games {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for (&code, count) in &other.eco {
            *self.eco.entry(code).or_default() += count;
        }
        merge_all(&mut self.elo, &other.elo, Histogram::merge);
        add(&mut self.speeds, &other.speeds);
        self.elo_differences.merge(&other.elo_differences);
        for (&month, count) in &other.months {
            *self.months.entry(month).or_default() += count;
        }
        self.terminations.merge(&other.terminations);
        self.first_moves.merge(&other.first_moves);
        self.openings.merge(&other.openings);
        self.results.merge(&other.results, self.openings.are_too_many());
    }
}

fn merge_all<T>(ours: &mut [T], theirs: &[T], merge: impl Fn(&mut T, &T)) {
    for (ours, theirs) in ours.iter_mut().zip(theirs) {
        merge(ours, theirs);
    }
}

/// Adds counts.
pub(crate) fn add<T: Copy + std::ops::AddAssign>(ours: &mut [T], theirs: &[T]) {
    for (ours, &theirs) in ours.iter_mut().zip(theirs) {
        *ours += theirs;
    }
}
