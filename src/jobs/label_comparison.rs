//! Labels of the inputs against those of a second file: where two scores, or two results, of one record disagree.

use crate::pipeline::{BESIDE, SecondFile};
use crate::poisoned_locks::Unpoisoned;
use crate::report::{PHASE_BANDS, phase_band};
use crate::table::{ChosenColumn, ComputedColumn, Needs, Tile};
use std::sync::{Arc, Mutex};

/// Maximum number of records in [`LabelComparison::worst`].
pub const MOST_WORST: usize = 100;

/// How often labels disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelCounts {
    /// Records with two scores; sentinels are no scores.
    pub compared: u64,
    /// Of these, those whose scores differ.
    pub score_differs: u64,
    /// Of these, those with one score above 0 and one below.
    pub sign_differs: u64,
    /// The sum of the differences of all compared scores, without their signs, in centipawns.
    pub sum_abs_difference: u64,
    /// Records with two results.
    pub results_compared: u64,
    /// Of these, those whose results differ.
    pub result_differs: u64,
}

impl LabelCounts {
    /// The mean difference of the compared scores, without signs, in centipawns; `None` if there are none.
    pub fn mean_abs_difference(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.sum_abs_difference as f64 / self.compared as f64)
    }

    fn merge(&mut self, other: &Self) {
        self.compared += other.compared;
        self.score_differs += other.score_differs;
        self.sign_differs += other.sign_differs;
        self.sum_abs_difference += other.sum_abs_difference;
        self.results_compared += other.results_compared;
        self.result_differs += other.result_differs;
    }

    #[cfg(feature = "json")]
    fn to_json(self) -> serde_json::Map<String, serde_json::Value> {
        [
            ("compared", self.compared.into()),
            ("score_differs", self.score_differs.into()),
            ("sign_differs", self.sign_differs.into()),
            ("mean_abs_difference", self.mean_abs_difference().into()),
            ("results_compared", self.results_compared.into()),
            ("result_differs", self.result_differs.into()),
        ]
        .into_iter()
        .map(|(key, value): (&str, serde_json::Value)| (key.to_owned(), value))
        .collect()
    }
}

/// A record whose scores differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorstLabel {
    /// The number of the record over all inputs.
    pub index: u64,
    /// Its score, in centipawns as White sees it.
    pub score: i64,
    /// That of the record beside it.
    pub zip_score: i64,
}

impl WorstLabel {
    /// The difference of the scores, without its sign.
    pub fn difference(&self) -> u64 {
        self.score.abs_diff(self.zip_score)
    }
}

/// Where the labels of two files disagree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelComparison {
    /// All records.
    pub all: LabelCounts,
    /// Those of each [range of phases](phase_band).
    pub phases: [LabelCounts; PHASE_BANDS],
    /// The records whose scores differ most, up to [`MOST_WORST`]: the largest difference first, and then in their order.
    pub worst: Vec<WorstLabel>,
}

impl LabelComparison {
    /// Adds the records of others, in any order.
    fn merge(&mut self, other: Self) {
        self.all.merge(&other.all);
        self.phases.iter_mut().zip(&other.phases).for_each(|(own, other)| own.merge(other));
        self.worst.extend(other.worst);
        self.worst.sort_by_key(|label| (std::cmp::Reverse(label.difference()), label.index));
        self.worst.truncate(MOST_WORST);
    }

    /// The key `labels` of `stats --json`.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = self.all.to_json();
        let phases = self.phases.iter().enumerate().map(|(band, counts)| {
            let mut phase = serde_json::Map::new();
            phase.insert("first_phase".to_owned(), (band * crate::report::PHASE_WIDTH).into());
            phase.extend(counts.to_json());
            serde_json::Value::Object(phase)
        });
        object.insert("phases".to_owned(), phases.collect());
        let worst = self.worst.iter().map(
            |label| serde_json::json!({ "index": label.index, "score": label.score, "zip_score": label.zip_score }),
        );
        object.insert("worst".to_owned(), worst.collect());
        object.into()
    }
}

/// Compares labels while records are counted: [`Statistics::with_labels`](super::Statistics::with_labels). Copies share
/// what they find.
#[derive(Clone, Debug)]
pub struct CompareLabels {
    own: [ChosenColumn; 2],
    beside: [Arc<dyn ComputedColumn>; 2],
    phase: ChosenColumn,
    found: Arc<Mutex<LabelComparison>>,
}

impl CompareLabels {
    /// The columns that the second file must have.
    pub const COLUMNS: [&'static str; 2] = ["score", "result"];

    /// Compares with the labels of a file; `None` unless it was read with [these columns](Self::COLUMNS).
    pub fn with(second: &SecondFile) -> Option<Self> {
        let columns = second.columns();
        let beside = |name: &str| columns.iter().find(|column| column.name() == format!("{BESIDE}{name}")).cloned();
        let [score, result] = Self::COLUMNS;
        Some(Self {
            own: [ChosenColumn::named(score)?, ChosenColumn::named(result)?],
            beside: [beside(score)?, beside(result)?],
            phase: ChosenColumn::named("phase")?,
            found: Arc::default(),
        })
    }

    /// What was found so far.
    pub fn found(&self) -> LabelComparison {
        self.found.lock().unpoisoned().clone()
    }

    pub(super) fn needs(&self) -> Needs {
        let own = self.own.iter().chain([&self.phase]).map(ChosenColumn::needs);
        own.chain(self.beside.iter().map(|column| column.needs())).collect()
    }

    /// Compares the records of a tile.
    pub(super) fn add_tile(&self, tile: &Tile<'_>) {
        let [scores, results] = self.own.each_ref().map(|column| column.fill(tile));
        let [scores_beside, results_beside] = self.beside.each_ref().map(|column| column.fill(tile));
        let phases = self.phase.fill(tile);
        let mut found = LabelComparison::default();
        for row in tile.rows() {
            let place = row - tile.start;
            let phase = phases.number(place).and_then(|phase| usize::try_from(phase).ok()).unwrap_or(0);
            let mut counts = LabelCounts::default();
            if let (Some(score), Some(zip_score)) = (scores.number(place), scores_beside.number(place)) {
                let label = WorstLabel { index: tile.batch.index(row), score, zip_score };
                counts.compared = 1;
                counts.sum_abs_difference = label.difference();
                counts.sign_differs = u64::from(score.signum() * zip_score.signum() < 0);
                if score != zip_score {
                    counts.score_differs = 1;
                    found.worst.push(label);
                }
            }
            if let (Some(result), Some(beside)) = (results.text(place), results_beside.text(place)) {
                counts.results_compared = 1;
                counts.result_differs = u64::from(result != beside);
            }
            found.all.merge(&counts);
            found.phases[phase_band(phase)].merge(&counts);
        }
        self.found.lock().unpoisoned().merge(found);
    }
}
