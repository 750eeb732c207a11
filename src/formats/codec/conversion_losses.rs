//! Losses: what an output does not keep from the records that are written to it.
//!
//! Fields that a format cannot store are named in a note at the end. It is another matter if a record would come out
//! changed in a way that readers of the output cannot detect: unless changes are allowed, nothing is written.

use crate::text::numbers::{counted, grouped};
use std::collections::BTreeMap;
use std::fmt;

/// The records that come out changed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// The number of the changed records.
    pub records: u64,
    /// The number of the first of them over all inputs.
    pub first: u64,
}

/// Losses: what an output does not keep.
///
/// ```
/// use lanefish::jobs::{FileOptions, RecordFile};
/// use lanefish::pipeline::RunOptions;
/// use lanefish::{input::Inputs, tiers};
///
/// let directory = tempfile::tempdir()?;
/// let file = RecordFile::new(&directory.path().join("sample.fen"), None, FileOptions::default())?;
/// let inputs = Inputs::open(["data/lichess-2025-05.pgn"])?;
/// let (_, written) = file.write(&inputs, RunOptions::new(tiers::best()))?;
/// let losses = written.losses;
/// assert!(losses.lacking().any(|(what, records)| what == "`move`" && records > 0));
/// assert_eq!(losses.changed().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    lacking: BTreeMap<&'static str, u64>,
    changed: BTreeMap<&'static str, Changed>,
    placeholders: BTreeMap<&'static str, u64>,
}

impl Losses {
    /// Counts this many more records that have something the format cannot store.
    pub(crate) fn lack(&mut self, what: &'static str, records: u64) {
        if records > 0 {
            *self.lacking.entry(what).or_default() += records;
        }
    }
    /// Counts this many more records that have a placeholder, which readers recognize, for a value that they lack.
    pub(crate) fn fill(&mut self, placeholder: &'static str, records: u64) {
        if records > 0 {
            *self.placeholders.entry(placeholder).or_default() += records;
        }
    }
    /// Counts the record with this number, which comes out changed. Numbers must ascend.
    pub(crate) fn change(&mut self, what: &'static str, record: u64) {
        self.changed.entry(what).or_insert(Changed { records: 0, first: record }).records += 1;
    }
    /// Counts records that come out changed.
    #[cfg(feature = "cluster")]
    pub(crate) fn change_many(&mut self, what: &'static str, more: Changed) {
        let changed = self.changed.entry(what).or_insert(Changed { records: 0, first: more.first });
        changed.records += more.records;
        changed.first = changed.first.min(more.first);
    }
    /// Adds the losses of later records.
    pub fn merge(&mut self, other: &Self) {
        other.lacking.iter().for_each(|(what, &records)| self.lack(what, records));
        other.placeholders.iter().for_each(|(what, &records)| self.fill(what, records));
        for (what, more) in &other.changed {
            let changed = self.changed.entry(what).or_insert(Changed { records: 0, first: more.first });
            changed.records += more.records;
            changed.first = changed.first.min(more.first);
        }
    }
    /// Whether everything is kept, and nothing is added.
    pub fn is_empty(&self) -> bool {
        self.lacking.is_empty() && self.changed.is_empty() && self.placeholders.is_empty()
    }
    /// Each thing that the format cannot store, and the number of records that had it.
    pub fn lacking(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.lacking.iter().map(|(&what, &records)| (what, records))
    }
    /// The ways in which records come out changed in something that the format does store.
    pub fn changed(&self) -> impl Iterator<Item = (&'static str, Changed)> {
        self.changed.iter().map(|(&what, &changed)| (what, changed))
    }
    /// Each placeholder that stands for a missing value, and the number of records that have it. Readers recognize it.
    pub fn placeholders(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.placeholders.iter().map(|(&what, &records)| (what, records))
    }
    /// The reason why nothing is written if changes are not allowed; `None` without changes.
    pub fn refusal(&self, format: impl fmt::Display) -> Option<String> {
        let ways: Vec<String> =
            self.changed().map(|(what, changed)| ChangedInWords(what, changed).to_string()).collect();
        (!ways.is_empty()).then(|| {
            format!(
                "nothing was written, because {format} would hold records that differ from the input in a way that \
                 readers cannot detect: {}; --allow-loss writes them",
                ways.join("; ")
            )
        })
    }
    /// A note on what was changed; `None` if nothing was.
    pub fn note_of_changes(&self, format: impl fmt::Display) -> Option<String> {
        let ways: Vec<String> =
            self.changed().map(|(what, changed)| ChangedInWords(what, changed).to_string()).collect();
        (!ways.is_empty()).then(|| format!("{format} holds these records changed: {}", ways.join("; ")))
    }
}

/// A way in which records are changed, as sentences have it.
struct ChangedInWords(&'static str, Changed);

impl fmt::Display for ChangedInWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(what, Changed { records, first }) = self;
        write!(f, "{what} ({}, the first is record {})", counted(*records, "record"), grouped(*first))
    }
}

/// Receives a refused row of a batch, a name for the reason, and a message.
pub(crate) type Refuse<'a> = dyn FnMut(usize, &'static str, String) + 'a;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_any_order_make_the_same() {
        let [mut early, mut late] = [Losses::default(), Losses::default()];
        early.lack("side to move", 3);
        early.lack("clocks", 0);
        early.change("scores beyond the range", 7);
        late.lack("side to move", 2);
        late.change("scores beyond the range", 1000);
        late.change("null moves", 1001);
        let mut one = early.clone();
        one.merge(&late);
        let mut other = late;
        other.merge(&early);
        assert_eq!(one, other);
        assert_eq!(one.lacking().collect::<Vec<_>>(), [("side to move", 5)]);
        let refusal = one.refusal("sfen").unwrap();
        assert!(refusal.contains("null moves (1 record, the first is record 1,001)"), "{refusal}");
        assert!(refusal.contains("scores beyond the range (2 records, the first is record 7)"), "{refusal}");
        assert!(Losses::default().refusal("sfen").is_none() && Losses::default().is_empty());
    }
}
