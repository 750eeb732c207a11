//! The name of a long step on standard error, with the elapsed time.
//!
//! A step that says how far it is also shows the time left. On a terminal a thread redraws the line until the value is
//! dropped, so that the clock goes on while the step is busy. With `--progress always` and no terminal, steps that
//! report anything print it, at most one line per second.

use super::progress::{DRAW_EVERY, LINE_EVERY, PATIENCE, clear, clock, draw, is_terminal, width};
use crate::cli::arguments::common_args::When;
use lanefish_core::poisoned_locks::Unpoisoned;
use std::io::{Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A long step, shown while this value exists.
#[derive(Debug)]
pub(crate) struct Phase {
    begin: Instant,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    Never,
    /// The line of a terminal.
    Bar {
        step: Arc<Mutex<Step>>,
        /// Dropping this sender ends the thread.
        stop: Option<Sender<()>>,
        drawing: Option<JoinHandle<()>>,
    },
    /// Lines, and when the last one was printed.
    Lines {
        last: Mutex<Option<Instant>>,
    },
}

/// What a step reports.
#[derive(Clone, Debug)]
struct Step {
    text: String,
    /// When it was reported.
    since: Instant,
    /// The time left at that moment, if it can be estimated.
    left: Option<Duration>,
}

impl Step {
    fn new(text: String, left: Option<Duration>) -> Self {
        Self { text, since: Instant::now(), left }
    }

    /// The whole line at a moment after the report.
    fn line(&self, elapsed: Duration, since: Duration) -> String {
        let mut line = format!("{}  {}", self.text, clock(elapsed));
        if let Some(left) = self.left {
            line.push_str(&format!("  {} left", clock(left.saturating_sub(since))));
        }
        line
    }
}

impl Phase {
    pub(crate) fn begin(when: When, text: &str) -> Self {
        let begin = Instant::now();
        let shown = match (when, is_terminal()) {
            (When::Never, _) | (When::Auto, false) => Shown::Never,
            (When::Always, false) => Shown::Lines { last: Mutex::default() },
            (_, true) => Shown::bar(when, begin, text),
        };
        Self { begin, shown }
    }

    /// The time since the step began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Sets the text.
    pub(crate) fn set(&self, text: String) {
        self.report(Step::new(text, None));
    }

    /// Sets the text and the time left.
    pub(crate) fn set_with_left(&self, text: String, left: Duration) {
        self.report(Step::new(text, Some(left)));
    }

    fn report(&self, report: Step) {
        match &self.shown {
            Shown::Never => {}
            Shown::Bar { step, .. } => *step.lock().unpoisoned() = report,
            Shown::Lines { last } => {
                let mut last = last.lock().unpoisoned();
                if last.is_none_or(|last| last.elapsed() >= LINE_EVERY) {
                    *last = Some(report.since);
                    // A closed standard error does not stop the run.
                    let _ = writeln!(stderr(), "{}", report.line(self.elapsed(), Duration::ZERO));
                }
            }
        }
    }
}

impl Shown {
    /// Starts the thread that draws.
    fn bar(when: When, begin: Instant, text: &str) -> Self {
        let step = Arc::new(Mutex::new(Step::new(text.to_owned(), None)));
        let drawn = Arc::clone(&step);
        let (stop, stopped) = channel();
        let work = move || {
            let mut wait = if when == When::Always { Duration::ZERO } else { PATIENCE };
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = DRAW_EVERY;
                let step = drawn.lock().unpoisoned().clone();
                let line = step.line(begin.elapsed(), step.since.elapsed());
                let room = width().saturating_sub(1);
                draw(&line.chars().take(room).collect::<String>());
            }
            clear();
        };
        // If the thread cannot be started, nothing is shown.
        let drawing = std::thread::Builder::new().spawn(work).ok();
        Self::Bar { step, stop: Some(stop), drawing }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        if let Shown::Bar { stop, drawing, .. } = &mut self.shown {
            drop(stop.take());
            if let Some(drawing) = drawing.take() {
                let _ = drawing.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_goes_on_between_two_reports() {
        let seconds = Duration::from_secs;
        let step = Step::new("row 3 of 8".to_owned(), Some(seconds(50)));
        assert_eq!(step.line(seconds(30), seconds(0)), "row 3 of 8  0:30  0:50 left");
        assert_eq!(step.line(seconds(40), seconds(10)), "row 3 of 8  0:40  0:40 left");
        // The step takes longer than estimated.
        assert_eq!(step.line(seconds(90), seconds(60)), "row 3 of 8  1:30  0:00 left");
        assert_eq!(Step::new("hashing".to_owned(), None).line(seconds(61), seconds(9)), "hashing  1:01");
    }
}
