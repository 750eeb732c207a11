//! The constant data that all workers of a run share, and the count of the chosen records.

use super::exact_sample_losses::LostOfCandidates;
use crate::choose::{Assignments, GameFilter, RecordFilter};
use crate::formats::codec::game_selection;
use crate::formats::{DecodeOptions, Decoded, Format, Totals};
use crate::games::GameRow;
use crate::poisoned_locks::Unpoisoned;
use crate::tiers::Analyzer;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Time that a worker waits for data that no signal announces, such as those of a slow pipe.
pub(super) const PATIENCE: Duration = Duration::from_millis(10);

/// The constant data of a run, the same for all workers.
pub(super) struct Settings<'a> {
    pub(super) analyzer: &'static dyn Analyzer,
    pub(super) decode: DecodeOptions,
    /// The decoding options for formats without games: with the fields needed by the selection.
    pub(super) decode_records: DecodeOptions,
    /// Whether all lines of the inputs are read.
    pub(super) knows_lines: bool,
    /// The totals before the first input.
    pub(super) before: Totals,
    /// Numbers of the requested records, and of the requested rows of games.
    pub(super) records: Range<u64>,
    pub(super) games: Range<u64>,
    /// The choice among the good records.
    pub(super) choices: &'a [&'a dyn RecordFilter],
    /// The new values for these records.
    pub(super) set: Option<&'a Assignments>,
    /// The choice of an earlier run among the records that the job can take. It needs no queries and no fields.
    pub(super) only: Option<&'a dyn RecordFilter>,
    /// The requested records among the chosen ones; `records` are then all records.
    pub(super) chosen: Option<Chosen>,
    /// Receives what is lost of candidates for a sample.
    pub(super) lost_of_candidates: Option<Arc<LostOfCandidates>>,
    pub(super) past_damage: bool,
    pub(super) strict: bool,
}

impl Settings<'_> {
    /// The decoding options for a format.
    pub(super) fn decode(&self, format: Format) -> &DecodeOptions {
        if format.about().selects { &self.decode } else { &self.decode_records }
    }
    /// The selection for a format that does not select while it decodes.
    pub(super) fn selection(&self, format: Format) -> Option<&GameFilter> {
        let selection = self.decode_records.games.as_deref();
        selection.filter(|_| !format.about().selects)
    }
    /// Whether rows of games are made from the records of this format.
    pub(super) fn makes_game_rows(&self, format: Format) -> bool {
        self.selection(format).is_some_and(|selection| selection.last_of_games)
    }
    /// Selects among the records of a chunk.
    pub(super) fn select(&self, format: Format, decoded: &mut Decoded) {
        if let Some(selection) = self.selection(format) {
            let fields = self.decode.fields;
            let fields = if selection.last_of_games { fields.union(GameRow::fields()) } else { fields };
            game_selection::select(decoded, selection, fields);
        }
    }
}

/// Counts the chosen records, one chunk after the other, because only the count tells which of them are requested.
pub(super) struct Chosen {
    requested: Range<u64>,
    /// The next chunk, and the number of records chosen before it.
    next: Mutex<(u64, u64)>,
    counted: Condvar,
}

impl Chosen {
    /// The range of the chosen records that is requested.
    pub(super) fn new(requested: Range<u64>) -> Self {
        Self { requested, next: Mutex::new((0, 0)), counted: Condvar::new() }
    }
    /// The number of the first chosen record of a chunk that is not skipped, the end of the records that are read, and
    /// whether later chunks have none, given the chosen records of the chunk. Waits for all chunks before it, which other
    /// workers are already processing.
    pub(super) fn requested(&self, chunk: u64, chosen: &[u64], stopped: &AtomicBool) -> Requested {
        let mut next = self.next.lock().unpoisoned();
        while next.0 != chunk {
            if stopped.load(Ordering::Relaxed) {
                return Requested { takes_earlier: false, first_taken: 0, end: 0, is_last: true };
            }
            next = self.counted.wait_timeout(next, PATIENCE).unpoisoned().0;
        }
        let (before, after) = (next.1, next.1 + chosen.len() as u64);
        *next = (chunk + 1, after);
        drop(next);
        self.counted.notify_all();
        let Range { start, end } = self.requested;
        let is_last = after >= end;
        if before >= end {
            return Requested { takes_earlier: false, first_taken: 0, end: 0, is_last };
        }
        let skipped = start.saturating_sub(before);
        let first_taken = match usize::try_from(skipped).ok().and_then(|skipped| chosen.get(skipped)) {
            Some(&first) => first,
            None => u64::MAX,
        };
        // Up to the last one taken, so that the result does not depend on how chunks are cut.
        let end = match end - before {
            left if left <= chosen.len() as u64 => chosen[left as usize - 1] + 1,
            _ => u64::MAX,
        };
        Requested { takes_earlier: before > start, first_taken, end, is_last }
    }
}

/// What is requested of a chunk if records are chosen.
pub(super) struct Requested {
    /// Whether the last chosen record before the chunk is not skipped.
    pub(super) takes_earlier: bool,
    /// The number of the first chosen record that is not skipped.
    pub(super) first_taken: u64,
    /// The end of the numbers of the records that are read.
    pub(super) end: u64,
    /// Whether nothing is requested of later chunks.
    pub(super) is_last: bool,
}
