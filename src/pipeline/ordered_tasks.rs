//! Tasks that threads work on side by side, and whose results come back in their order.
//!
//! Any thread takes the next task; the calling thread takes the results. No more than two tasks for each thread are
//! ahead of the last result that was taken, so that memory is flat. Inputs need more than this: their chunks are cut
//! and numbered one after the other, which is the work of the [scheduler](super::scheduler).

use crate::error::Error;
use crate::poisoned_locks::Unpoisoned;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// The longest time between two questions whether the run is interrupted.
const PATIENCE: Duration = Duration::from_millis(50);

/// The state that the threads share.
struct Shared<N> {
    state: Mutex<State<N>>,
    /// A result was taken, or the run is over.
    moved: Condvar,
    /// Maximum number of tasks ahead of the last result that was taken.
    window: u64,
}

struct State<N> {
    next: N,
    begun: u64,
    taken: u64,
    is_over: bool,
}

/// Runs the tasks that `next` returns one after the other: `work` does one of them, with its number and what its thread
/// keeps for all its tasks, and `sink` gets the results in order, on the calling thread, which also asks whether the
/// run `is_interrupted`. The calling thread does everything if there are no other `threads`.
///
/// # Errors
/// The first error in the order of the tasks, after all results before it; [`Error::Interrupted`]; [`Error::Threads`]
/// if the threads cannot be started.
pub(crate) fn in_order<T: Send, R: Send, S>(
    threads: usize,
    mut next: impl FnMut() -> Result<Option<T>, Error> + Send,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, u64, T) -> Result<R, Error> + Sync,
    is_interrupted: impl Fn() -> bool,
    mut sink: impl FnMut(R) -> Result<(), Error>,
) -> Result<(), Error> {
    if threads == 0 {
        let mut kept = begin();
        for number in 0.. {
            if is_interrupted() {
                return Err(Error::Interrupted);
            }
            let Some(task) = next()? else {
                break;
            };
            sink(work(&mut kept, number, task)?)?;
        }
        return Ok(());
    }
    let state = State { next, begun: 0, taken: 0, is_over: false };
    let shared = Shared { state: Mutex::new(state), moved: Condvar::new(), window: 2 * threads as u64 };
    let (sender, results) = channel();
    thread::scope(|scope| {
        let _guard = StopOnDrop(&shared);
        for number in 1..=threads {
            let (sender, shared, begin, work) = (sender.clone(), &shared, &begin, &work);
            thread::Builder::new()
                .name(format!("lanefish {number}"))
                .spawn_scoped(scope, move || take_tasks(shared, begin(), work, &sender))
                .map_err(|error| Error::Threads { threads, reason: error.to_string() })?;
        }
        drop(sender);
        take_results(&shared, &results, &is_interrupted, &mut sink)
    })
}

/// The loop of a thread.
fn take_tasks<T, R, S>(
    shared: &Shared<impl FnMut() -> Result<Option<T>, Error>>,
    mut kept: S,
    work: &impl Fn(&mut S, u64, T) -> Result<R, Error>,
    sender: &Sender<(u64, Result<R, Error>)>,
) {
    let _guard = StopOnPanic(shared);
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
        let result = match task {
            Ok(None) => {
                shared.moved.notify_all();
                return;
            }
            Ok(Some(task)) => work(&mut kept, number, task),
            Err(error) => Err(error),
        };
        let has_failed = result.is_err();
        if sender.send((number, result)).is_err() || has_failed {
            shared.stop();
            return;
        }
    }
}

/// Takes the results in order.
fn take_results<N, R>(
    shared: &Shared<N>,
    results: &Receiver<(u64, Result<R, Error>)>,
    is_interrupted: &impl Fn() -> bool,
    sink: &mut impl FnMut(R) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        let received = results.recv_timeout(PATIENCE);
        if is_interrupted() {
            return Err(Error::Interrupted);
        }
        match received {
            Ok((number, result)) => waiting.insert(number, result),
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        while let Some(result) = waiting.remove(&next) {
            sink(result?)?;
            next += 1;
            shared.state.lock().unpoisoned().taken = next;
            shared.moved.notify_all();
        }
    }
}

impl<N> Shared<N> {
    /// Ends all waiting.
    fn stop(&self) {
        self.state.lock().unpoisoned().is_over = true;
        self.moved.notify_all();
    }
}

struct StopOnDrop<'a, N>(&'a Shared<N>);

impl<N> Drop for StopOnDrop<'_, N> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

struct StopOnPanic<'a, N>(&'a Shared<N>);

impl<N> Drop for StopOnPanic<'_, N> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    fn failure(number: u64) -> Error {
        Error::Threads { threads: number as usize, reason: "a test".to_owned() }
    }

    /// The results that were taken, and the error.
    fn taken(threads: usize, tasks: u64, bad: &[u64]) -> (Vec<u64>, Option<Error>) {
        let (mut tasks, mut taken) = (0..tasks, Vec::new());
        let work = |count: &mut u64, number: u64, task: u64| {
            *count += 1;
            // Late tasks end first.
            thread::sleep(Duration::from_micros(200 * (7 - number % 7)));
            if bad.contains(&task) { Err(failure(number)) } else { Ok(2 * task + (number - task)) }
        };
        let error = in_order(
            threads,
            || Ok(tasks.next()),
            || 0,
            work,
            || false,
            |result| {
                taken.push(result);
                Ok(())
            },
        );
        (taken, error.err())
    }

    #[test]
    fn results_come_in_the_order_of_the_tasks() {
        for threads in [0, 1, 2, 8] {
            for tasks in [0, 1, 5, 60] {
                let (taken, error) = taken(threads, tasks, &[]);
                assert!(error.is_none() && taken.into_iter().eq((0..tasks).map(|task| 2 * task)));
            }
        }
    }

    #[test]
    fn the_first_error_ends_the_run_after_all_results_before_it() {
        for threads in [0, 1, 2, 8] {
            let (taken, error) = taken(threads, 60, &[31, 20, 21]);
            assert!(taken.into_iter().eq((0..20).map(|task| 2 * task)), "{threads}");
            assert!(matches!(error, Some(Error::Threads { threads: 20, .. })), "{threads}: {error:?}");
        }
    }

    #[test]
    fn errors_of_the_source_and_of_the_sink_end_the_run() {
        for threads in [0, 2] {
            let mut asked = 0;
            let next = || {
                asked += 1;
                if asked < 5 { Ok(Some(asked)) } else { Err(failure(5)) }
            };
            let mut sum = 0;
            let error = in_order(
                threads,
                next,
                || (),
                |(), _, task| Ok(task),
                || false,
                |result| {
                    sum += result;
                    Ok(())
                },
            );
            assert!(matches!(error, Err(Error::Threads { threads: 5, .. })));
            assert_eq!(sum, 10);
            let sink = |result: u64| if result == 3 { Err(failure(3)) } else { Ok(()) };
            let mut tasks = 0..;
            let error = in_order(threads, || Ok(tasks.next()), || (), |(), _, task| Ok(task), || false, sink);
            assert!(matches!(error, Err(Error::Threads { threads: 3, .. })));
        }
    }

    #[test]
    fn tasks_do_not_run_far_ahead_and_an_interrupt_ends_them() {
        for threads in [0, 3] {
            let (begun, interrupt) = (AtomicU64::new(0), AtomicBool::new(false));
            let mut tasks = 0..100_000;
            let next = || {
                begun.fetch_add(1, Ordering::Relaxed);
                Ok(tasks.next())
            };
            let sink = |result: u64| {
                assert!(begun.load(Ordering::Relaxed) <= result + 1 + 2 * threads as u64);
                interrupt.store(result == 100, Ordering::Relaxed);
                Ok(())
            };
            let work = |(): &mut (), _: u64, task: u64| Ok(task);
            let end = in_order(threads, next, || (), work, || interrupt.load(Ordering::Relaxed), sink);
            assert!(matches!(end, Err(Error::Interrupted)));
        }
    }
}
