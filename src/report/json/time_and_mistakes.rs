//! The parts of a report about time, mistakes and accuracy, as JSON and back.

use super::reader::Reader;
use super::{MOST, ReportError, object, pairs};
use crate::report::time_and_mistakes::{class_name, first_rating};
use crate::report::{
    Accuracies, CLASSES, Histogram, JudgedMoves, Mistakes, PHASE_BANDS, PHASE_WIDTH, PLY_BANDS, PLY_WIDTH,
    RATING_BANDS, TimedMoves, TimesUsed,
};
use serde_json::{Value, json};

/// The keys of the counts of moves.
const MOVES: [&str; 4] = ["moves", "inaccuracies", "mistakes", "blunders"];

/// The key of a range of ratings: its first number.
pub(super) fn rating_key(band: usize) -> String {
    first_rating(band).map_or("unknown".to_owned(), |first| first.to_string())
}

/// The range of ratings with a key.
fn rating_from(key: &str, value: &Reader<'_>) -> Result<usize, ReportError> {
    (0..RATING_BANDS).find(|&band| rating_key(band) == key).ok_or_else(|| value.not("a range of ratings"))
}

impl TimesUsed {
    pub(super) fn to_json(&self) -> Value {
        let used = (0..CLASSES).filter(|&class| self.of_class(class).moves > 0);
        let classes = used.map(|class| {
            let bands = self.moves.iter().map(|classes| classes[class]);
            let [moves, centiseconds]: [Vec<u64>; 2] =
                [bands.clone().map(|band| band.moves).collect(), bands.clone().map(|band| band.centiseconds).collect()];
            let means: Vec<Option<f64>> = bands.map(TimedMoves::mean_seconds).collect();
            let value = json!({ "moves": moves, "centiseconds": centiseconds, "mean_seconds": means });
            (class_name(class), value)
        });
        let plies: Vec<u16> = (0..PLY_BANDS as u16).map(|band| band * PLY_WIDTH).collect();
        json!({ "plies": plies, "classes": object(classes) })
    }

    pub(super) fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let mut all = Self::default();
        for (name, of_class) in root.get("classes")?.entries()? {
            let class = (0..CLASSES).find(|&class| class_name(class) == name);
            let class = class.ok_or_else(|| of_class.not("a class of time controls"))?;
            let moves = of_class.get("moves")?;
            let counts: [u64; PLY_BANDS] = moves.numbers()?;
            moves.sum(&counts, positions)?;
            let times = of_class.get("centiseconds")?;
            let centiseconds: [u64; PLY_BANDS] = times.numbers()?;
            times.sum(&centiseconds, MOST)?;
            for (band, (moves, centiseconds)) in all.moves.iter_mut().zip(counts.into_iter().zip(centiseconds)) {
                band[class] = TimedMoves { moves, centiseconds };
            }
        }
        Ok(all)
    }
}

impl Mistakes {
    pub(super) fn to_json(&self) -> Value {
        let phases = self.moves.iter().enumerate().map(|(phase, ratings)| {
            let known = ratings.iter().enumerate().filter(|(_, moves)| moves.moves > 0);
            let ratings = known.map(|(band, &JudgedMoves { moves, judgments: [inaccuracies, mistakes, blunders] })| {
                let counts = [moves, inaccuracies, mistakes, blunders];
                (rating_key(band), super::named(MOVES, counts))
            });
            ((phase * PHASE_WIDTH).to_string(), object(ratings).into())
        });
        object(phases).into()
    }

    pub(super) fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let mut all = Self::default();
        for (name, of_phase) in root.entries()? {
            let phase = (0..PHASE_BANDS).find(|phase| (phase * PHASE_WIDTH).to_string() == name);
            let phase = phase.ok_or_else(|| of_phase.not("a range of phases"))?;
            for (key, counts) in of_phase.entries()? {
                let band = rating_from(key, &counts)?;
                let count = |key: &str, most: u64| counts.get(key)?.at_most(most);
                let moves = count(MOVES[0], positions)?;
                let judgments = [count(MOVES[1], moves)?, count(MOVES[2], moves)?, count(MOVES[3], moves)?];
                counts.sum(&judgments, moves)?;
                all.moves[phase][band] = JudgedMoves { moves, judgments };
            }
        }
        Ok(all)
    }
}

impl Accuracies {
    pub(super) fn to_json(&self) -> Value {
        let known = self.percent.iter().enumerate().filter(|(_, percent)| !percent.is_empty());
        let bands = known.map(|(band, percent)| {
            let value = json!({
                "count": percent.total(),
                "mean": self.mean(band),
                "median": percent.summary().median,
                "sum_of_hundredths": self.hundredths[band],
                "histogram": pairs(percent),
            });
            (rating_key(band), value)
        });
        object(bands).into()
    }

    pub(super) fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let mut all = Self::default();
        for (key, value) in root.entries()? {
            let band = rating_from(key, &value)?;
            // A game has two sides, and may have one position.
            let percent: Histogram = value.get("histogram")?.pairs(0, 100, positions.saturating_mul(2))?;
            all.hundredths[band] = value.get("sum_of_hundredths")?.at_most(percent.total().saturating_mul(10_000))?;
            all.percent[band] = percent;
        }
        Ok(all)
    }
}
