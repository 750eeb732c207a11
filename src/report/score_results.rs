//! How games ended, by the score of their positions: both from the side to move.

use super::plots_and_tables::NumberTable;
use super::time_and_mistakes::phase_label;
use super::{PHASE_BANDS, add};
use crate::text::numbers::{grouped, percent, tenths};
use std::fmt;

/// The width of a range of scores, in centipawns.
pub const RESULT_SCORE_WIDTH: i16 = 50;
/// Scores below minus this, and from this on, have a range of their own.
pub const RESULT_SCORE_MOST: i16 = 1500;
/// Number of ranges of scores.
pub const RESULT_SCORE_RANGES: usize = 2 * (RESULT_SCORE_MOST / RESULT_SCORE_WIDTH) as usize + 2;

/// The range of a score.
///
/// ```
/// use lanefish::report::{RESULT_SCORE_RANGES, result_score_range};
/// let ranges = [-30_000, -1501, -1500, -1, 0, 49, 1499, 1500].map(result_score_range);
/// assert_eq!(ranges, [0, 0, 1, 30, 31, 31, 60, RESULT_SCORE_RANGES - 1]);
/// ```
#[inline]
pub fn result_score_range(score: i16) -> usize {
    if score < -RESULT_SCORE_MOST {
        return 0;
    }
    1 + ((score.min(RESULT_SCORE_MOST) + RESULT_SCORE_MOST) / RESULT_SCORE_WIDTH) as usize
}

/// The first score of a range; `None` for all scores below the others.
pub fn first_of_result_range(range: usize) -> Option<i16> {
    let range = i16::try_from(range.checked_sub(1)?).ok()?;
    Some(range * RESULT_SCORE_WIDTH - RESULT_SCORE_MOST)
}

/// Positions by the result of their game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MoverResults {
    /// Positions whose side to move won, drew and lost.
    pub counts: [u64; 3],
}

impl MoverResults {
    /// Number of positions.
    pub fn total(self) -> u64 {
        self.counts.iter().sum()
    }
    /// The points of the side to move: the share of wins, and half the share of draws.
    pub fn points(self) -> Option<f64> {
        let [won, drawn, _] = self.counts.map(|count| count as f64);
        (self.total() > 0).then(|| (won + drawn / 2.0) / self.total() as f64)
    }
    fn merge(&mut self, other: Self) {
        add(&mut self.counts, &other.counts);
    }
}

/// The results of positions with a score, both from the side to move.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScoreResults {
    /// By [range of phases](super::phase_band), and by [range of scores](result_score_range).
    pub phases: [[MoverResults; RESULT_SCORE_RANGES]; PHASE_BANDS],
}

impl Default for ScoreResults {
    fn default() -> Self {
        Self { phases: [[MoverResults::default(); RESULT_SCORE_RANGES]; PHASE_BANDS] }
    }
}

/// The scale of a logistic curve that gives the points of the side to move: `1 / (1 + exp(-score / scale))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogisticScale {
    /// The score, in centipawns, at which the curve is at 1 / (1 + 1/e), which is 73.1 %.
    pub scale: f64,
    /// Its standard error.
    pub error: f64,
}

impl LogisticScale {
    /// The points at a score.
    pub fn points(self, score: f64) -> f64 {
        1.0 / (1.0 + (-score / self.scale).exp())
    }
}

impl fmt::Display for LogisticScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "points = 1 / (1 + exp(−score / {}))", self.text())
    }
}

impl LogisticScale {
    /// The scale and its error, as in `(213.4 ± 0.8)`.
    fn text(self) -> String {
        let decimals = if self.error < 0.95 { 1 } else { 0 };
        format!("({:.decimals$} ± {:.decimals$})", self.scale, self.error.max(if decimals == 1 { 0.1 } else { 1.0 }))
    }
}

/// The name of a range of scores.
pub(crate) fn range_label(range: usize) -> String {
    let minus = |number: i16| number.to_string().replace('-', "−");
    match first_of_result_range(range) {
        None => format!("below {}", minus(-RESULT_SCORE_MOST)),
        Some(first) if first == RESULT_SCORE_MOST => format!("from {first}"),
        Some(first) => format!("{} to {}", minus(first), minus(first + RESULT_SCORE_WIDTH - 1)),
    }
}

impl ScoreResults {
    /// Adds positions of a phase.
    pub(crate) fn add(&mut self, band: usize, range: usize, result: usize, count: u64) {
        self.phases[band][range].counts[result] += count;
    }

    /// Number of positions.
    pub fn total(&self) -> u64 {
        self.all().iter().map(|results| results.total()).sum()
    }

    /// The results of all phases.
    pub fn all(&self) -> [MoverResults; RESULT_SCORE_RANGES] {
        let mut all = [MoverResults::default(); RESULT_SCORE_RANGES];
        for ranges in &self.phases {
            all.iter_mut().zip(ranges).for_each(|(all, results)| all.merge(*results));
        }
        all
    }

    /// Adds the positions of others.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.phases.iter_mut().flatten().zip(other.phases.iter().flatten()) {
            ours.merge(*theirs);
        }
    }
}

impl super::Report {
    /// The logistic curve of the results by score, of one range of phases or of all. Where games are known, all positions of
    /// a game count as one observation for its error.
    pub fn logistic_scale(&self, band: Option<usize>) -> Option<LogisticScale> {
        let results = self.details.as_ref()?.score_results.as_deref()?;
        let of_band = band.map_or_else(|| results.all(), |band| results.phases[band]);
        let games = self.game_results.known();
        let per_game = if games > 0 { results.total() as f64 / games as f64 } else { 1.0 };
        logistic_scale(&of_band, per_game)
    }

    /// The scale of the logistic curve in each range of phases, as a table.
    pub fn scale_by_phase(&self) -> Option<NumberTable> {
        let results = self.details.as_ref()?.score_results.as_deref()?;
        let bands =
            (0..PHASE_BANDS).rev().map(|band| (phase_label(band), Some(band))).chain([("all".to_owned(), None)]);
        let rows = bands.filter_map(|(name, band)| {
            let of_band = band.map_or_else(|| results.all(), |band| results.phases[band]);
            let total: u64 = of_band.iter().map(|results| results.total()).sum();
            let drawn: u64 = of_band.iter().map(|results| results.counts[1]).sum();
            let [scale, error] = match self.logistic_scale(band) {
                Some(LogisticScale { scale, error }) => [tenths(scale), tenths(error)],
                None => ["–".to_owned(), "–".to_owned()],
            };
            (total > 0).then(|| vec![name, grouped(total), percent(drawn, total), scale, error])
        });
        Some(NumberTable {
            key: "score_scale",
            title: "Score against result by phase",
            note: "the scale of points = 1 / (1 + exp(−score / scale)), in centipawns, with its standard error"
                .to_owned(),
            head: vec!["phase", "positions", "drawn", "scale", "error"],
            rows: rows.collect(),
        })
    }
}

/// The logistic curve that fits results best, by maximum likelihood, without the scores at the edges; `None` if there is no
/// such curve, because results do not depend on the score, or hardly anything is known. The positions of a game have the
/// same result: `per_game` is how many of them count as one observation.
pub fn logistic_scale(results: &[MoverResults; RESULT_SCORE_RANGES], per_game: f64) -> Option<LogisticScale> {
    const STEPS: usize = 60;
    const ENOUGH: u64 = 200;
    let ranges: Vec<(f64, [f64; 3])> = (1..RESULT_SCORE_RANGES - 1)
        .map(|range| {
            // The middle of its whole numbers.
            let first = f64::from(first_of_result_range(range).unwrap_or_default());
            let middle = first + f64::from(RESULT_SCORE_WIDTH - 1) / 2.0;
            (middle / 100.0, results[range].counts.map(|count| count as f64))
        })
        .collect();
    if results[1..RESULT_SCORE_RANGES - 1].iter().map(|results| results.total()).sum::<u64>() < ENOUGH {
        return None;
    }
    // The slope per pawn. The likelihood is concave in it.
    let mut slope = 0.5_f64;
    let chance = |slope: f64, score: f64| 1.0 / (1.0 + (-slope * score).exp());
    let curvature = |slope: f64| -> f64 {
        let of = |&(score, counts): &(f64, [f64; 3])| {
            let chance = chance(slope, score);
            counts.iter().sum::<f64>() * chance * (1.0 - chance) * score * score
        };
        ranges.iter().map(of).sum()
    };
    for _ in 0..STEPS {
        let gradient = |&(score, [won, drawn, lost]): &(f64, [f64; 3])| {
            (won + drawn / 2.0 - (won + drawn + lost) * chance(slope, score)) * score
        };
        let gradient: f64 = ranges.iter().map(gradient).sum();
        let step = (gradient / curvature(slope)).clamp(-0.5, 0.5);
        if !step.is_finite() {
            return None;
        }
        slope = (slope + step).max(1e-6);
        if step.abs() < 1e-12 {
            break;
        }
    }
    // Draws make the results vary less than the model says: the variance is that of the results themselves.
    let spread = |&(score, counts): &(f64, [f64; 3])| {
        let chance = chance(slope, score);
        let square = |points: f64| (points - chance) * (points - chance);
        let [won, drawn, lost] = counts;
        (won * square(1.0) + drawn * square(0.5) + lost * square(0.0)) * score * score
    };
    let spread: f64 = ranges.iter().map(spread).sum();
    let error = (spread * per_game.max(1.0)).sqrt() / curvature(slope);
    let scale = 100.0 / slope;
    let error = scale * error / slope;
    (slope > 1e-3 && slope.is_finite() && error.is_finite()).then_some(LogisticScale { scale, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_begin_where_scores_say() {
        for score in -2000..2000 {
            let range = result_score_range(score);
            let first = first_of_result_range(range);
            assert!(first.is_none_or(|first| first <= score), "{score}");
            assert!(
                first_of_result_range(range + 1).is_none_or(|next| score < next || range + 1 == RESULT_SCORE_RANGES)
            );
        }
    }

    /// Results drawn from a curve give its scale, within the error.
    #[test]
    fn the_scale_of_a_curve_is_found() {
        for (scale, draws) in [(90.0, 0.0), (180.0, 0.5), (410.0, 0.2)] {
            let mut results = [MoverResults::default(); RESULT_SCORE_RANGES];
            for (range, results) in results.iter_mut().enumerate().take(RESULT_SCORE_RANGES - 1).skip(1) {
                let middle = f64::from(first_of_result_range(range).unwrap()) + 24.5;
                let points = 1.0 / (1.0 + (-middle / scale).exp());
                let drawn = draws * 2.0 * points.min(1.0 - points);
                results.counts =
                    [points - drawn / 2.0, drawn, 1.0 - points - drawn / 2.0].map(|share| (share * 1e5).round() as u64);
            }
            let found = logistic_scale(&results, 1.0).unwrap();
            assert!((found.scale - scale).abs() < 0.1, "{found:?}");
            assert!(found.error > 0.0 && found.error < 2.0, "{found:?}");
            // Where positions come ten to a game, less is known.
            let of_games = logistic_scale(&results, 100.0).unwrap();
            assert!((of_games.error / found.error - 10.0).abs() < 1e-6);
        }
        assert_eq!(logistic_scale(&[MoverResults::default(); RESULT_SCORE_RANGES], 1.0), None);
        // Results that have nothing to do with the score.
        let flat = [MoverResults { counts: [50, 0, 50] }; RESULT_SCORE_RANGES];
        assert_eq!(logistic_scale(&flat, 1.0), None);
        // Where the better side always wins, the curve is as steep as one likes.
        let mut steep = flat;
        for (range, results) in steep.iter_mut().enumerate() {
            results.counts = if range > 30 { [100, 0, 0] } else { [0, 0, 100] };
        }
        assert!(logistic_scale(&steep, 1.0).is_none_or(|found| found.scale < 20.0));
    }
}
