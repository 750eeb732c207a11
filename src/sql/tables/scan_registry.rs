//! The scans of a session: their progress, rejected records, and summaries.

use crate::error::Reject;
use crate::pipeline::{Progress, Summary};
use crate::poisoned_locks::Unpoisoned;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Maximum number of rejected records that wait to be taken.
const WAITING: usize = 4096;
/// Interval between checks whether there is room for more of them.
const PATIENCE: Duration = Duration::from_millis(1);

/// The object to which all scans of a session report.
#[derive(Debug)]
pub(in crate::sql) struct Reads {
    state: Mutex<State>,
    ended: Condvar,
    rejects: Option<Sender<Vec<u8>>>,
}

#[derive(Debug, Default)]
struct State {
    /// Scans that have not ended.
    running: usize,
    counters: Vec<Arc<Counter>>,
    summaries: Vec<Summary>,
}

#[derive(Debug, Default)]
struct Counter {
    bytes: AtomicU64,
    records: AtomicU64,
    games: AtomicU64,
}

/// A scan that has begun.
#[derive(Debug)]
pub(in crate::sql) struct Read {
    reads: Arc<Reads>,
    counter: Arc<Counter>,
    rejects: Option<Sender<Vec<u8>>>,
    summary: Option<Summary>,
}

impl Reads {
    /// With the lines of rejected records, if they are requested.
    pub(in crate::sql) fn new(rejects: bool) -> (Arc<Self>, Option<Receiver<Vec<u8>>>) {
        let (sender, receiver) = rejects.then(|| channel(WAITING)).unzip();
        let reads = Self { state: Mutex::default(), ended: Condvar::new(), rejects: sender };
        (Arc::new(reads), receiver)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unpoisoned()
    }

    /// Begins a scan.
    pub(in crate::sql) fn begin(self: &Arc<Self>) -> Read {
        let counter = Arc::<Counter>::default();
        let mut state = self.state();
        state.running += 1;
        state.counters.push(Arc::clone(&counter));
        drop(state);
        Read { reads: Arc::clone(self), counter, rejects: self.rejects.clone(), summary: None }
    }

    /// Progress of all scans together.
    pub(in crate::sql) fn progress(&self) -> Progress {
        let mut all = Progress::default();
        for counter in &self.state().counters {
            all.bytes += counter.bytes.load(Ordering::Relaxed);
            all.records += counter.records.load(Ordering::Relaxed);
            all.games += counter.games.load(Ordering::Relaxed);
        }
        all
    }

    /// Whether a scan has not ended.
    pub(in crate::sql) fn is_running(&self) -> bool {
        self.state().running > 0
    }

    /// Waits for all scans to end, and returns their summaries. Their rows must no longer be needed.
    pub(in crate::sql) fn take(&self) -> Vec<Summary> {
        let state = self.state();
        let ended = self.ended.wait_while(state, |state| state.running > 0);
        let mut state = ended.unpoisoned();
        state.counters.clear();
        std::mem::take(&mut state.summaries)
    }
}

impl Read {
    /// Reports the progress of the scan.
    pub(in crate::sql) fn progress(&self, progress: Progress) {
        self.counter.bytes.store(progress.bytes, Ordering::Relaxed);
        self.counter.records.store(progress.records, Ordering::Relaxed);
        self.counter.games.store(progress.games, Ordering::Relaxed);
    }

    /// Reports a rejected record; waits for room, unless the rows are no longer needed.
    pub(in crate::sql) fn reject(&self, reject: &Reject, interrupt: &AtomicBool) {
        let Some(rejects) = &self.rejects else {
            return;
        };
        let mut line = Vec::new();
        reject.write_line(&mut line);
        while let Err(TrySendError::Full(refused)) = rejects.try_send(line) {
            if interrupt.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(PATIENCE);
            line = refused;
        }
    }

    /// Ends the scan with its summary.
    pub(in crate::sql) fn end(mut self, summary: Summary) {
        self.summary = Some(summary);
    }
}

impl Drop for Read {
    fn drop(&mut self) {
        let mut state = self.reads.state();
        state.running -= 1;
        state.summaries.extend(self.summary.take());
        drop(state);
        self.reads.ended.notify_all();
    }
}
