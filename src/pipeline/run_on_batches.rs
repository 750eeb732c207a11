//! Runs over batches that do not come from inputs: records that were read before, in another order.
//!
//! They were judged when they were read, so that nothing is numbered or judged again: any thread makes the next batches,
//! analyzes their tiles and hands them to the job, and the calling thread takes the parts [in order](super::ordered_tasks).

use super::any_job::{AnyJob, AnySink, erased};
use super::ordered_tasks::in_order;
use super::{Job, RunOptions, TILE};
use crate::choose::RecordFilter;
use crate::error::Error;
use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::table::{Batch, RecordBefore, Tile, first_rows};
use crate::tiers::{self, Analyzer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records of a tile.
const ROWS: usize = TILE * Group::LEN;

/// Options of a run over batches.
pub(crate) struct BatchRun<'a> {
    pub(crate) analyzer: &'static dyn Analyzer,
    pub(crate) threads: usize,
    /// Set by another thread to end the run with [`Error::Interrupted`].
    pub(crate) interrupt: Option<&'a AtomicBool>,
    /// Which of the records are taken.
    pub(crate) only: Option<&'a dyn RecordFilter>,
}

impl<'a> BatchRun<'a> {
    /// The same options as those of a run.
    pub(crate) fn of(options: &RunOptions<'a>) -> Self {
        Self { analyzer: options.analyzer, threads: options.threads, interrupt: options.interrupt, only: options.only }
    }
}

impl BatchRun<'_> {
    /// Runs a job on the batches that `make` makes of the tasks, and passes its parts to `sink` in order on the calling
    /// thread. `next` returns one task after the other.
    ///
    /// # Errors
    /// The first error in the order of the tasks; all parts before it are passed on.
    pub(crate) fn run<T: Send, J: Job>(
        &self,
        next: impl FnMut() -> Result<Option<T>, Error> + Send,
        make: impl Fn(T) -> Result<Vec<Batch>, Error> + Sync,
        job: &J,
        sink: impl FnMut(J::Part) -> Result<(), Error>,
    ) -> Result<(), Error> {
        erased(job, sink, |job, sink| self.run_any(next, make, job, sink))
    }

    /// The same for any job.
    pub(super) fn run_any<'a, T: Send>(
        &self,
        next: impl FnMut() -> Result<Option<T>, Error> + Send,
        make: impl Fn(T) -> Result<Vec<Batch>, Error> + Sync,
        job: AnyJob<'a>,
        sink: &mut AnySink<'_, 'a>,
    ) -> Result<(), Error> {
        in_order(
            self.threads.max(1),
            next,
            || vec![GroupResults::default(); TILE],
            |results, number, task| make(task).map(|batches| self.part(&job, number, batches, results)),
            || self.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)),
            sink,
        )
    }

    fn part<J: Job>(&self, job: &J, number: u64, batches: Vec<Batch>, results: &mut [GroupResults]) -> J::Part {
        let mut part = job.begin();
        let mut before = None;
        for batch in batches {
            hand_over(self.analyzer, (job, &mut part), Arc::new(batch), self.only, results, &mut before);
        }
        job.end(&mut part, number);
        part
    }
}

/// Runs a job on a batch all of whose records count.
pub(crate) fn run_on<J: Job>(analyzer: &'static dyn Analyzer, job: &J, part: &mut J::Part, batch: &Arc<Batch>) {
    let mut results = vec![GroupResults::default(); TILE];
    hand_over(analyzer, (job, part), Arc::clone(batch), None, &mut results, &mut None);
}

/// Passes all records of a batch on as tiles of which nothing was queried: all results are zero.
pub(crate) fn for_each_tile_unqueried(batch: &Arc<Batch>, mut take: impl FnMut(&Tile<'_>)) {
    let results = vec![GroupResults::default(); TILE];
    for start in (0..batch.len()).step_by(ROWS) {
        let len = (batch.len() - start).min(ROWS);
        let mask: [u64; ROWS / 64] = first_rows(len);
        let before = start.checked_sub(1).map(|row| RecordBefore { batch, row, counts: true });
        take(&Tile::new(tiers::best(), batch, start, len, &results, &mask).after(before));
    }
}

/// Runs a job on the chosen records of a batch, which comes after another one with its last record, which counts or not.
fn hand_over<J: Job>(
    analyzer: &'static dyn Analyzer,
    (job, part): (&J, &mut J::Part),
    batch: Arc<Batch>,
    only: Option<&dyn RecordFilter>,
    results: &mut [GroupResults],
    last: &mut Option<(Arc<Batch>, bool)>,
) {
    let queries = job.needs().queries;
    let mut before = last.as_ref().map(|(batch, counts)| RecordBefore { batch, row: batch.len() - 1, counts: *counts });
    for start in (0..batch.len()).step_by(ROWS) {
        let len = (batch.len() - start).min(ROWS);
        let first = start / Group::LEN;
        let groups = &batch.groups()[first..first + len.div_ceil(Group::LEN)];
        if queries != Queries::NONE {
            analyzer.analyze(groups, queries, results);
        }
        let mut mask: [u64; ROWS / 64] = first_rows(len);
        if let Some(only) = only {
            let all = mask;
            only.choose(&Tile::new(analyzer, &batch, start, len, results, &all), &mut mask[..len.div_ceil(64)]);
        }
        job.tile(part, &Tile::new(analyzer, &batch, start, len, results, &mask).after(before));
        let place = len - 1;
        before =
            Some(RecordBefore { batch: &batch, row: start + place, counts: mask[place / 64] >> (place % 64) & 1 != 0 });
    }
    if let Some(counts) = before.filter(|_| !batch.is_empty()).map(|before| before.counts) {
        *last = Some((batch, counts));
    }
}
