//! Results by score, as JSON and back.

use super::reader::Reader;
use super::{ReportError, named, object};
use crate::report::{
    LogisticScale, MoverResults, PHASE_BANDS, PHASE_WIDTH, RESULT_SCORE_RANGES, Report, ScoreResults,
    first_of_result_range,
};
use serde_json::{Value, json};

/// The keys of the counts.
const COUNTS: [&str; 3] = ["won", "drawn", "lost"];

impl ScoreResults {
    /// The counts, and the curves that a report has of them.
    pub(super) fn to_json(&self, report: &Report) -> Value {
        let curve = |band: Option<usize>| {
            let scale = report.logistic_scale(band);
            scale.map_or(Value::Null, |LogisticScale { scale, error }| json!({ "scale": scale, "error": error }))
        };
        let phases = self.phases.iter().enumerate().map(|(band, ranges)| {
            let counts = |result: usize| ranges.iter().map(|results| results.counts[result]).collect::<Vec<u64>>();
            let mut phase = match named(COUNTS, [counts(0), counts(1), counts(2)]) {
                Value::Object(phase) => phase,
                _ => serde_json::Map::new(),
            };
            phase.insert("logistic".to_owned(), curve(Some(band)));
            ((band * PHASE_WIDTH).to_string(), phase.into())
        });
        let scores: Vec<Option<i16>> = (0..RESULT_SCORE_RANGES).map(first_of_result_range).collect();
        json!({ "scores": scores, "logistic": curve(None), "phases": object(phases) })
    }

    pub(super) fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let mut all = Self::default();
        for (name, of_phase) in root.get("phases")?.entries()? {
            let band = (0..PHASE_BANDS).find(|band| (band * PHASE_WIDTH).to_string() == name);
            let band = band.ok_or_else(|| of_phase.not("a range of phases"))?;
            for (result, key) in COUNTS.into_iter().enumerate() {
                let counts = of_phase.get(key)?;
                let numbers: [u64; RESULT_SCORE_RANGES] = counts.numbers()?;
                counts.sum(&numbers, positions)?;
                for (results, count) in all.phases[band].iter_mut().zip(numbers) {
                    let MoverResults { counts } = results;
                    counts[result] = count;
                }
            }
        }
        if all.total() > positions {
            return Err(root.not("counts of positions"));
        }
        Ok(all)
    }
}
