//! The first step: dividing all records of a run by their keys.

use crate::error::Error;
use crate::partition::keyed_rows::Store;
use crate::partition::stored_records::{KeyedRows, Records};
use crate::pipeline::{Job, Refusal};
use crate::poisoned_locks::Unpoisoned;
use crate::queries::Queries;
use crate::table::{Batch, Fields, Needs, Tile};
use std::sync::{Arc, Mutex};

/// The keys of the records of a batch; `None` where it has none for one of them.
pub(super) trait Keys: Sync {
    /// The fields that the keys need, in addition to numbers.
    fn fields(&self) -> Fields;
    /// Adds the keys of these rows.
    ///
    /// # Errors
    /// If a record has none.
    fn keys(&self, batch: &Batch, rows: &[u32], keys: &mut Vec<u64>) -> Result<(), Error>;
}

/// Divides records by their keys, for another job.
pub(super) struct Gather<'a, J, K> {
    pub(super) store: &'a Store<Records>,
    pub(super) job: &'a J,
    pub(super) keys: K,
    /// Whether to keep the numbers of records.
    pub(super) numbers: bool,
    /// The memory of earlier chunks, for reuse: allocating it would cost more than the work itself.
    pub(super) used: Mutex<Vec<(KeyedRows, Vec<u64>)>>,
}

/// The records of a chunk that count.
#[derive(Default)]
pub(super) struct CollectedKeys {
    batches: Vec<(Arc<Batch>, Vec<u32>)>,
    failure: Option<Error>,
}

impl CollectedKeys {
    /// Whether all records have been divided.
    pub(super) fn check(self) -> Result<(), Error> {
        self.failure.map_or(Ok(()), Err)
    }
}

impl<J: Job, K: Keys> Job for Gather<'_, J, K> {
    type Part = CollectedKeys;
    fn needs(&self) -> Needs {
        self.job.needs().without_queries().and(Needs::new(Queries::NONE, self.keys.fields()))
    }
    fn reads_lost_tags(&self) -> bool {
        self.job.reads_lost_tags()
    }
    fn begin(&self) -> CollectedKeys {
        CollectedKeys::default()
    }
    fn refusal(&self) -> Option<Refusal> {
        self.job.refusal()
    }
    fn tile(&self, part: &mut CollectedKeys, tile: &Tile<'_>) {
        let rows = tile.rows().map(|row| row as u32);
        match part.batches.last_mut() {
            Some((batch, known)) if Arc::ptr_eq(batch, tile.batch) => known.extend(rows),
            _ => part.batches.push((Arc::clone(tile.batch), rows.collect())),
        }
    }
    fn end(&self, part: &mut CollectedKeys, _chunk: u64) {
        let used = self.used.lock().unpoisoned().pop();
        let (mut keyed, mut keys) = used.unwrap_or_default();
        for (batch, rows) in part.batches.drain(..) {
            keys.clear();
            if let Err(error) = self.keys.keys(&batch, &rows, &mut keys) {
                part.failure = Some(error);
                return;
            }
            keyed.push(batch, rows, &keys, self.numbers);
        }
        self.store.add(keyed.keys(), |pile, places| pile.add(&keyed, places));
        keyed.clear();
        self.used.lock().unpoisoned().push((keyed, keys));
    }
}
