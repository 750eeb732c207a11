//! Runs over batches that do not come from inputs: records that were read before, in another order.
//!
//! As in [`run`](super::run), any thread makes the next batches, analyzes their tiles and hands them to the job, and
//! the calling thread takes the parts in order.

use super::any_job::{AnyJob, AnySink, erased};
use super::{Job, RunOptions, TILE};
use crate::choose::RecordFilter;
use crate::error::Error;
use crate::packed::Group;
use crate::poisoned_locks::Unpoisoned;
use crate::queries::{GroupResults, Queries};
use crate::table::{Batch, RecordBefore, Tile, first_rows};
use crate::tiers::Analyzer;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

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

/// The state that the workers share.
struct Shared<N> {
    state: Mutex<State<N>>,
    /// A part was taken, or the run is over.
    moved: Condvar,
    /// Maximum number of tasks ahead of the last part that was taken.
    window: u64,
}

struct State<N> {
    next: N,
    begun: u64,
    taken: u64,
    is_over: bool,
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
        mut sink: &mut AnySink<'_, 'a>,
    ) -> Result<(), Error> {
        let threads = self.threads.max(1);
        let state = State { next, begun: 0, taken: 0, is_over: false };
        let shared = Shared { state: Mutex::new(state), moved: Condvar::new(), window: 2 * threads as u64 };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| Error::Threads { threads, reason: error.to_string() })?;
        let (sender, parts) = channel();
        pool.in_place_scope(|scope| {
            for _ in 0..threads {
                let (sender, shared, make) = (sender.clone(), &shared, &make);
                scope.spawn(move |_| self.work(shared, make, &job, &sender));
            }
            drop(sender);
            let _guard = StopOnDrop(&shared);
            self.take(&shared, &parts, &mut sink)
        })
    }

    /// Takes the parts in order.
    fn take<N, P>(
        &self,
        shared: &Shared<N>,
        parts: &Receiver<(u64, Result<P, Error>)>,
        sink: &mut impl FnMut(P) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        loop {
            let received = parts.recv_timeout(Duration::from_millis(50));
            if self.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                return Err(Error::Interrupted);
            }
            match received {
                Ok((number, part)) => waiting.insert(number, part),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => continue,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
            };
            while let Some(part) = waiting.remove(&next) {
                sink(part?)?;
                next += 1;
                shared.state.lock().unpoisoned().taken = next;
                shared.moved.notify_all();
            }
        }
    }

    /// The loop of a worker.
    fn work<T, J: Job>(
        &self,
        shared: &Shared<impl FnMut() -> Result<Option<T>, Error>>,
        make: &impl Fn(T) -> Result<Vec<Batch>, Error>,
        job: &J,
        sender: &Sender<(u64, Result<J::Part, Error>)>,
    ) {
        let _guard = StopOnPanic(shared);
        let mut results = vec![GroupResults::default(); TILE];
        loop {
            let (number, task) = {
                let state = shared.state.lock().unpoisoned();
                let is_early = |state: &mut State<_>| !state.is_over && state.begun >= state.taken + shared.window;
                let mut state = shared.moved.wait_while(state, is_early).unpoisoned();
                if state.is_over {
                    return;
                }
                let task = (state.next)();
                state.is_over |= !matches!(task, Ok(Some(_)));
                state.begun += 1;
                (state.begun - 1, task)
            };
            let part = match task {
                Ok(None) => {
                    shared.moved.notify_all();
                    return;
                }
                Ok(Some(task)) => make(task).map(|batches| self.part(job, number, batches, &mut results)),
                Err(error) => Err(error),
            };
            let has_failed = part.is_err();
            if sender.send((number, part)).is_err() || has_failed {
                shared.state.lock().unpoisoned().is_over = true;
                shared.moved.notify_all();
                return;
            }
        }
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

/// Ends all waiting when the run is over, including when a thread panicked.
struct StopOnDrop<'a, N>(&'a Shared<N>);

impl<N> Drop for StopOnDrop<'_, N> {
    fn drop(&mut self) {
        self.0.state.lock().unpoisoned().is_over = true;
        self.0.moved.notify_all();
    }
}

struct StopOnPanic<'a, N>(&'a Shared<N>);

impl<N> Drop for StopOnPanic<'_, N> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(StopOnDrop(self.0));
        }
    }
}
