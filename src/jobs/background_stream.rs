//! Work on a separate thread, with its results as a stream.
//!
//! Finished items pass through a short queue. If nobody takes them, the thread waits, and so does the run that it
//! started, so memory does not grow with the inputs. Dropping a stream interrupts its work. A thread can wait for
//! items, as programs do, or a task can, as in SQL.

use crate::error::Error;
use crate::poisoned_locks::Unpoisoned;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

/// Items of type `T`, in order, and an `E` at the end.
pub(crate) struct Stream<T, E> {
    taker: Taker<T>,
    thread: JoinHandle<E>,
}

/// The producing end of the queue.
pub(crate) struct Sender<T>(Arc<Queue<T>>);

/// The consuming end of the queue.
struct Taker<T>(Arc<Queue<T>>);

struct Queue<T> {
    state: Mutex<State<T>>,
    /// Maximum number of items that wait to be taken.
    most: usize,
    /// Signals that there is room for an item, or that the consumer is gone.
    has_room: Condvar,
    interrupt: AtomicBool,
}

struct State<T> {
    items: VecDeque<T>,
    /// The task that waits for the next item.
    waker: Option<Waker>,
    /// The producer has ended.
    is_complete: bool,
    /// The consumer has ended.
    is_closed: bool,
}

impl<T> Queue<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unpoisoned()
    }
}

impl<T> Sender<T> {
    /// Adds an item, once there is room.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the consumer is gone.
    pub(crate) fn send(&self, item: T) -> Result<(), Error> {
        let Self(queue) = self;
        let is_full = |state: &mut State<T>| state.items.len() >= queue.most && !state.is_closed;
        let mut state = queue.has_room.wait_while(queue.state(), is_full).unpoisoned();
        if state.is_closed {
            return Err(Error::Interrupted);
        }
        state.items.push_back(item);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        Ok(())
    }
    /// A flag that is set once the consumer is gone.
    pub(crate) fn interrupt(&self) -> &AtomicBool {
        &self.0.interrupt
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_complete = true;
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        let Self(queue) = self;
        queue.interrupt.store(true, Ordering::Relaxed);
        let mut state = queue.state();
        state.is_closed = true;
        let items = std::mem::take(&mut state.items);
        drop(state);
        queue.has_room.notify_all();
        drop(items);
    }
}

impl<T, E> fmt::Debug for Stream<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

/// Continues a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<T: Send + 'static, E: Send + 'static> Stream<T, E> {
    /// Starts the work. At most this number of items wait to be taken.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn begin(most: usize, work: impl FnOnce(&Sender<T>) -> E + Send + 'static) -> Result<Self, Error> {
        let state = State { items: VecDeque::new(), waker: None, is_complete: false, is_closed: false };
        let queue = Queue { state: state.into(), most, has_room: Condvar::new(), interrupt: AtomicBool::new(false) };
        let queue = Arc::new(queue);
        let sender = Sender(Arc::clone(&queue));
        let thread = thread::Builder::new()
            .name("lanefish scan".to_owned())
            .spawn(move || work(&sender))
            .map_err(|error| Error::Threads { threads: 1, reason: error.to_string() })?;
        Ok(Self { taker: Taker(queue), thread })
    }

    /// The next item, if it is available; `None` after the last one. Otherwise, the task is woken when this may have
    /// changed.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let queue = &self.taker.0;
        let mut state = queue.state();
        match state.items.pop_front() {
            Some(item) => {
                drop(state);
                queue.has_room.notify_one();
                Poll::Ready(Some(item))
            }
            None if state.is_complete => Poll::Ready(None),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Waits for the next item, but no longer than this; `None` after the last one.
    pub(crate) fn wait(&mut self, patience: Duration) -> Poll<Option<T>> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let start = Instant::now();
        loop {
            let next = self.poll(&mut Context::from_waker(&waker));
            let left = patience.saturating_sub(start.elapsed());
            if next.is_ready() || left.is_zero() {
                return next;
            }
            thread::park_timeout(left);
        }
    }

    /// Interrupts the work, if it has not ended, and waits for its end; an error if it has panicked.
    pub(crate) fn end(self) -> thread::Result<E> {
        drop(self.taker);
        self.thread.join()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn items_come_in_order_and_then_the_end() {
        for most in [1, 4] {
            let mut stream = Stream::begin(most, |sender| {
                let sent = (0..1000).filter(|&number| sender.send(number).is_ok());
                sent.count()
            })
            .unwrap();
            for number in 0..1000 {
                assert_eq!(stream.wait(LONG), Poll::Ready(Some(number)));
            }
            assert_eq!(stream.wait(LONG), Poll::Ready(None));
            assert_eq!(stream.wait(Duration::MAX), Poll::Ready(None));
            assert_eq!(stream.end().ok(), Some(1000));
        }
    }

    #[test]
    fn few_items_wait_and_a_stream_that_ends_early_interrupts_its_work() {
        let (tell, told) = std::sync::mpsc::channel();
        let mut stream = Stream::begin(3, move |sender| {
            let send = |&number: &i32| {
                let _ = tell.send(number);
                sender.send(number).is_ok()
            };
            let sent = (0..).take_while(send).count();
            (sent, sender.interrupt().load(Ordering::Relaxed))
        })
        .unwrap();
        let next = |patience| told.recv_timeout(patience).ok();
        // There is room for three items; the work waits with the fourth, until one of them is taken.
        assert_eq!([(); 5].map(|()| next(Duration::from_millis(300))), [Some(0), Some(1), Some(2), Some(3), None]);
        assert_eq!(stream.wait(LONG), Poll::Ready(Some(0)));
        assert_eq!(next(LONG), Some(4));
        let (sent, is_interrupted) = stream.end().unwrap();
        assert_eq!(sent, 4);
        assert!(is_interrupted);
    }

    #[test]
    fn nothing_comes_for_a_while() {
        let (go, wait) = std::sync::mpsc::channel();
        let mut stream = Stream::begin(1, move |sender| {
            let _ = wait.recv();
            sender.send(7)
        })
        .unwrap();
        assert_eq!(stream.wait(Duration::ZERO), Poll::Pending);
        assert_eq!(stream.wait(Duration::from_millis(5)), Poll::Pending);
        go.send(()).unwrap();
        assert_eq!(stream.wait(LONG), Poll::Ready(Some(7)));
        assert!(matches!(stream.end(), Ok(Ok(()))));
    }

    #[test]
    fn the_last_task_that_looked_is_woken() {
        #[derive(Default)]
        struct Count(AtomicU32);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let (go, wait) = std::sync::mpsc::channel();
        let (sent, have_sent) = std::sync::mpsc::channel();
        let mut stream = Stream::begin(2, move |sender| {
            for number in wait {
                let _ = sent.send(sender.send(number));
            }
        })
        .unwrap();
        let tasks = [Arc::new(Count::default()), Arc::new(Count::default())];
        for task in &tasks {
            let waker = Waker::from(Arc::clone(task));
            assert_eq!(stream.poll(&mut Context::from_waker(&waker)), Poll::Pending);
        }
        for number in [1, 2] {
            go.send(number).unwrap();
            assert!(have_sent.recv().unwrap().is_ok());
        }
        let woken = tasks.each_ref().map(|task| task.0.load(Ordering::Relaxed));
        assert_eq!(woken, [0, 1]);
        let mut next = || stream.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!([next(), next(), next()], [Poll::Ready(Some(1)), Poll::Ready(Some(2)), Poll::Pending]);
        drop(go);
        assert_eq!(stream.wait(LONG), Poll::Ready(None));
    }

    #[test]
    fn a_panic_ends_the_stream() {
        let mut stream: Stream<u8, ()> = Stream::begin(1, |sender| {
            sender.send(1).unwrap();
            panic!("as expected");
        })
        .unwrap();
        assert_eq!(stream.wait(LONG), Poll::Ready(Some(1)));
        assert_eq!(stream.wait(LONG), Poll::Ready(None));
        assert!(stream.end().is_err());
    }
}
