//! The time that moves took, the mistakes among them, and the accuracy of players.

use super::{Histogram, add};
use crate::games::Speed;
use crate::text::numbers::grouped;

/// Number of classes of time controls: those of [`Speed::ALL`], and games without one.
pub const CLASSES: usize = Speed::ALL.len() + 1;
/// Number of ranges of plies.
pub const PLY_BANDS: usize = 10;
/// The width of a range of plies; the last one has no end.
pub const PLY_WIDTH: u16 = 10;
/// Number of ranges of phases.
pub const PHASE_BANDS: usize = 5;
/// The width of a range of phases; the last one, from 24 on, has no end.
pub const PHASE_WIDTH: usize = 6;
/// Number of ranges of ratings, the last of which are those that are not known.
pub const RATING_BANDS: usize = 11;
/// The end of the first range of ratings, the beginning of the last one, and the width of those between them.
const RATINGS: (u16, u16, u16) = (1000, 2600, 200);

/// The range of a ply.
pub fn ply_band(ply: u16) -> usize {
    usize::from(ply / PLY_WIDTH).min(PLY_BANDS - 1)
}

/// The range of a phase.
pub fn phase_band(phase: usize) -> usize {
    (phase / PHASE_WIDTH).min(PHASE_BANDS - 1)
}

/// The range of a rating.
///
/// ```
/// use lanefish::report::{RATING_BANDS, rating_band};
/// let bands = [Some(0), Some(999), Some(1000), Some(2599), Some(2600), None].map(rating_band);
/// assert_eq!(bands, [0, 0, 1, 8, 9, RATING_BANDS - 1]);
/// ```
pub fn rating_band(rating: Option<u16>) -> usize {
    let (low, high, width) = RATINGS;
    match rating {
        None => RATING_BANDS - 1,
        Some(rating) if rating < low => 0,
        Some(rating) => usize::from((rating.min(high) - low) / width) + 1,
    }
}

/// The first number of a range of ratings; `None` for those that are not known.
pub(crate) fn first_rating(band: usize) -> Option<u16> {
    let (low, _, width) = RATINGS;
    match band {
        0 => Some(0),
        _ if band < RATING_BANDS - 1 => Some(low + width * (band - 1) as u16),
        _ => None,
    }
}

/// The name of a range that begins at a number.
fn range(first: u64, width: u64, is_last: bool) -> String {
    if is_last {
        format!("from {}", grouped(first))
    } else {
        format!("{} to {}", grouped(first), grouped(first + width - 1))
    }
}

/// The name of a range of plies.
pub(crate) fn ply_label(band: usize) -> String {
    let width = u64::from(PLY_WIDTH);
    range(band as u64 * width, width, band + 1 == PLY_BANDS)
}

/// The name of a range of phases.
pub(crate) fn phase_label(band: usize) -> String {
    let width = PHASE_WIDTH as u64;
    range(band as u64 * width, width, band + 1 == PHASE_BANDS)
}

/// The name of a range of ratings.
pub(crate) fn rating_label(band: usize) -> String {
    let (low, high, width) = RATINGS;
    match first_rating(band) {
        None => "unknown".to_owned(),
        Some(0) => format!("below {}", grouped(low.into())),
        Some(first) => range(first.into(), width.into(), first == high),
    }
}

/// The name of a class of time controls.
pub(crate) fn class_name(class: usize) -> &'static str {
    Speed::ALL.get(class).map_or("unknown", |speed| speed.name())
}

/// Moves of which the time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TimedMoves {
    /// Number of moves.
    pub moves: u64,
    /// The time that they took together.
    pub centiseconds: u64,
}

impl TimedMoves {
    /// The mean time of a move.
    pub fn mean_seconds(self) -> Option<f64> {
        (self.moves > 0).then(|| self.centiseconds as f64 / self.moves as f64 / 100.0)
    }

    fn merge(&mut self, other: Self) {
        self.moves += other.moves;
        self.centiseconds += other.centiseconds;
    }
}

/// The time that moves took: of the moves with a [time](crate::table::Field::TimeUsed).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TimesUsed {
    /// By [range of plies](ply_band), and by class of time control in the order of
    /// [`Speed::ALL`](crate::games::Speed::ALL), after which those of unknown time controls come.
    pub moves: [[TimedMoves; CLASSES]; PLY_BANDS],
}

impl TimesUsed {
    /// Adds a move.
    pub(crate) fn add(&mut self, ply: u16, class: usize, centiseconds: u32) {
        self.moves[ply_band(ply)][class].merge(TimedMoves { moves: 1, centiseconds: centiseconds.into() });
    }

    /// The moves of a class in all ranges of plies.
    pub fn of_class(&self, class: usize) -> TimedMoves {
        let mut sum = TimedMoves::default();
        self.moves.iter().for_each(|band| sum.merge(band[class]));
        sum
    }

    /// Adds the moves of others.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.moves.iter_mut().flatten().zip(other.moves.iter().flatten()) {
            ours.merge(*theirs);
        }
    }
}

/// Moves with an evaluation before and after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct JudgedMoves {
    /// Number of moves.
    pub moves: u64,
    /// Those of them that are inaccuracies, mistakes and blunders.
    pub judgments: [u64; 3],
}

impl JudgedMoves {
    fn merge(&mut self, other: Self) {
        self.moves += other.moves;
        add(&mut self.judgments, &other.judgments);
    }
}

/// Mistakes: of the moves with an evaluation before and after them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Mistakes {
    /// By [range of phases](phase_band), and by [range of the mover's rating](rating_band).
    pub moves: [[JudgedMoves; RATING_BANDS]; PHASE_BANDS],
}

impl Mistakes {
    /// Adds a move, which may have a judgment.
    pub(crate) fn add(&mut self, phase: usize, rating: Option<u16>, judgment: Option<usize>) {
        let mut move_of = JudgedMoves { moves: 1, judgments: [0; 3] };
        if let Some(judgment) = judgment {
            move_of.judgments[judgment] = 1;
        }
        self.moves[phase_band(phase)][rating_band(rating)].merge(move_of);
    }

    /// The moves of a range of phases, of all players.
    pub fn of_phase(&self, band: usize) -> JudgedMoves {
        let mut sum = JudgedMoves::default();
        self.moves[band].iter().for_each(|moves| sum.merge(*moves));
        sum
    }

    /// The moves of a range of ratings, in all phases.
    pub fn of_rating(&self, band: usize) -> JudgedMoves {
        let mut sum = JudgedMoves::default();
        self.moves.iter().for_each(|phase| sum.merge(phase[band]));
        sum
    }

    /// Adds the moves of others.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.moves.iter_mut().flatten().zip(other.moves.iter().flatten()) {
            ours.merge(*theirs);
        }
    }
}

/// The accuracy of players: of both sides of the games that have [one](crate::table::Field::WhiteAccuracy), each counted
/// at the record with ply 0.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Accuracies {
    /// The accuracies of each [range of ratings](rating_band), cut to whole percent.
    pub percent: [Histogram; RATING_BANDS],
    /// Their sums, each accuracy cut to hundredths of a percent.
    pub hundredths: [u64; RATING_BANDS],
}

impl Accuracies {
    /// The mean accuracy of a range of ratings.
    pub fn mean(&self, band: usize) -> Option<f64> {
        let count = self.percent[band].total();
        (count > 0).then(|| self.hundredths[band] as f64 / count as f64 / 100.0)
    }

    /// The accuracies of all players.
    pub fn of_all(&self) -> Histogram {
        let mut all = Histogram::default();
        self.percent.iter().for_each(|percent| all.merge(percent));
        all
    }

    /// Adds the accuracies of others.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.percent.iter_mut().zip(&other.percent) {
            ours.merge(theirs);
        }
        add(&mut self.hundredths, &other.hundredths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ratings_have_names() {
        let names: Vec<String> = (0..RATING_BANDS).map(rating_label).collect();
        assert_eq!(names[0], "below 1,000");
        assert_eq!(names[1], "1,000 to 1,199");
        assert_eq!(names[8], "2,400 to 2,599");
        assert_eq!(names[9], "from 2,600");
        assert_eq!(names[10], "unknown");
        for band in 0..RATING_BANDS {
            assert_eq!(rating_band(first_rating(band)), band);
        }
    }

    #[test]
    fn ranges_of_plies_and_phases_have_names() {
        assert_eq!([0, 9].map(ply_label), ["0 to 9", "from 90"]);
        assert_eq!([0, 3, 4].map(phase_label), ["0 to 5", "18 to 23", "from 24"]);
        assert_eq!([89, 90, u16::MAX].map(ply_band), [8, 9, 9]);
        assert_eq!([0, 23, 24, 31].map(phase_band), [0, 3, 4, 4]);
    }
}
