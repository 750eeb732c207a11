//! Progress on standard error: one line that is redrawn on a terminal, a line per second
//! elsewhere (with `--progress always`).
//!
//! Rates and the remaining time are averaged over the whole run, so that they do not jump. Parts that do not fit are
//! omitted, so the line never wraps.

use crate::cli::arguments::common_args::When;
use lanefish::pipeline::Progress;
#[cfg(feature = "cluster")]
use lanefish::sql::cluster::JobProgress;
#[cfg(feature = "cluster")]
use lanefish_core::text::numbers::counted;
use lanefish_core::text::numbers::{bytes, grouped, short};
use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Shorter runs show no progress.
pub(in crate::cli) const PATIENCE: Duration = Duration::from_millis(500);
/// Interval between updates on a terminal.
pub(in crate::cli) const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Interval between lines if standard error is not a terminal.
pub(in crate::cli) const LINE_EVERY: Duration = Duration::from_secs(1);
/// Assumed width of a terminal that does not report its width.
const WIDTH: usize = 80;
/// The sequence that returns to the beginning of the line and clears it.
pub(crate) const CLEAR: &str = "\r\x1b[K";

/// Whether the terminal shows a line that has to be cleared.
static DRAWN: AtomicBool = AtomicBool::new(false);

/// Whether a line has to be cleared before something else is written; from then on it counts as cleared.
pub(crate) fn take_drawn() -> bool {
    DRAWN.swap(false, Ordering::SeqCst)
}

pub(in crate::cli) fn clear() {
    if take_drawn() {
        let _ = write!(stderr(), "{CLEAR}");
    }
}

pub(in crate::cli) fn draw(line: &str) {
    DRAWN.store(true, Ordering::SeqCst);
    // A closed standard error does not stop the run.
    let _ = write!(stderr(), "{CLEAR}{line}");
}

/// Number of columns of the terminal.
pub(in crate::cli) fn width() -> usize {
    terminal_size::terminal_size_of(stderr()).map_or(WIDTH, |(width, _)| usize::from(width.0))
}

/// Whether standard error is a terminal that can clear a line.
pub(in crate::cli) fn is_terminal() -> bool {
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// `0:07`, `12:34`, `1:02:03`.
pub(in crate::cli) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The time that the rest takes if it goes on as before; `share` is the fraction done, above 0.
pub(in crate::cli) fn time_left(elapsed: Duration, share: f64) -> Duration {
    let left = elapsed.as_secs_f64().max(1e-3) * (1.0 - share) / share;
    Duration::from_secs_f64(left.clamp(0.0, 1e7))
}

/// Shows the progress of reading.
#[derive(Debug)]
pub(crate) struct Meter {
    total: Option<u64>,
    begin: Instant,
    shown: Shown,
    #[cfg(feature = "cluster")]
    job: Option<JobProgress>,
}

#[derive(Debug)]
enum Shown {
    Never,
    NotYet { terminal: bool, after: Duration },
    Bar { last: Instant },
    Lines { last: Instant },
}

impl Meter {
    pub(crate) fn new(when: When, total: Option<u64>) -> Self {
        let terminal = is_terminal();
        let shown = match when {
            When::Never => Shown::Never,
            When::Auto if !terminal => Shown::Never,
            When::Auto => Shown::NotYet { terminal, after: PATIENCE },
            When::Always => Shown::NotYet { terminal, after: Duration::ZERO },
        };
        Self {
            total,
            begin: Instant::now(),
            shown,
            #[cfg(feature = "cluster")]
            job: None,
        }
    }

    /// Shows the progress of a cluster job.
    #[cfg(feature = "cluster")]
    pub(crate) fn show_job(&mut self, job: JobProgress) {
        self.job = Some(job);
        self.show(Progress::default());
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        let elapsed = self.begin.elapsed();
        let now = Instant::now();
        match self.shown {
            Shown::NotYet { terminal, after } if elapsed >= after => {
                self.shown = if terminal { Shown::Bar { last: now } } else { Shown::Lines { last: now } };
            }
            Shown::Bar { ref mut last } if last.elapsed() >= DRAW_EVERY => *last = now,
            Shown::Lines { ref mut last } if last.elapsed() >= LINE_EVERY => *last = now,
            _ => return,
        }
        let state = State {
            total: self.total,
            elapsed,
            progress,
            #[cfg(feature = "cluster")]
            job: self.job,
        };
        match self.shown {
            Shown::Bar { .. } => draw(&state.line(width())),
            _ => {
                let _ = writeln!(stderr(), "{}", state.words(usize::MAX));
            }
        }
    }

    pub(crate) fn finish(&self) {
        if let Shown::Bar { .. } = self.shown {
            clear();
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The state of a run at one moment.
#[derive(Clone, Copy, Debug)]
struct State {
    total: Option<u64>,
    elapsed: Duration,
    progress: Progress,
    /// The state of a cluster job, shown instead of the bytes read, which only the machines of the cluster know.
    #[cfg(feature = "cluster")]
    job: Option<JobProgress>,
}

impl State {
    /// The fraction done, if it is known.
    fn share(&self) -> Option<f64> {
        let total = self.total.filter(|&total| total > 0)?;
        Some((self.progress.bytes as f64 / total as f64).min(1.0))
    }

    /// The parts of the line in their order, each with its priority.
    fn parts(&self) -> Vec<(u8, String)> {
        #[cfg(feature = "cluster")]
        if let Some(job) = self.job {
            let stage = (job.stages_done + 1).min(job.stages);
            let running = job.tasks - job.tasks_done;
            return vec![
                (3, format!("stage {stage} of {}", job.stages)),
                (0, format!("{} done", counted(job.tasks_done as u64, "task"))),
                (2, format!("{running} running")),
                (1, clock(self.elapsed)),
            ];
        }
        let Progress { bytes: done, records, games, .. } = self.progress;
        let seconds = self.elapsed.as_secs_f64().max(1e-3);
        let mut parts = vec![(6, "reading".to_owned())];
        if let Some(share) = self.share() {
            parts.push((0, format!("{:.0} %", 100.0 * share)));
        }
        let of = self.total.map_or_else(String::new, |total| format!(" of {}", bytes(total as f64)));
        parts.push((3, format!("{}{of}", bytes(done as f64))));
        parts.push((4, format!("{}/s", bytes(done as f64 / seconds))));
        if games > 0 {
            parts.push((7, format!("{} games", grouped(games))));
        }
        parts.push((2, format!("{} records", grouped(records))));
        parts.push((5, format!("{}/s", short(records as f64 / seconds))));
        parts.push((1, clock(self.elapsed)));
        if let Some(share) = self.share().filter(|&share| share > 0.0) {
            parts.push((1, format!("{} left", clock(time_left(self.elapsed, share)))));
        }
        parts
    }

    /// The words that fit.
    fn words(&self, width: usize) -> String {
        let parts = self.parts();
        for least in (0..=8).rev() {
            let kept: Vec<&str> =
                parts.iter().filter(|&&(rank, _)| rank <= least).map(|(_, text)| text.as_str()).collect();
            let text = kept.join("  ");
            if text.len() <= width {
                return text;
            }
        }
        String::new()
    }

    /// The words, after a bar if there is room for one. The last column stays free, because some terminals wrap there.
    fn line(&self, width: usize) -> String {
        let room = width.saturating_sub(1);
        let bar = match width {
            100.. => 16,
            50.. => 10,
            _ => 0,
        };
        match self.share() {
            Some(share) if bar > 0 => {
                let full = (share * bar as f64) as usize;
                let words = self.words(room - bar - 2);
                format!("{}{}  {words}", "█".repeat(full), "░".repeat(bar - full))
            }
            _ => self.words(room),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(done: u64, total: Option<u64>, seconds: u64) -> State {
        let mut progress = Progress::default();
        progress.bytes = done;
        progress.records = done / 32;
        progress.games = done / 2000;
        State {
            total,
            elapsed: Duration::from_secs(seconds),
            progress,
            #[cfg(feature = "cluster")]
            job: None,
        }
    }

    #[test]
    fn rate_and_time_left_are_those_since_the_start() {
        let line = state(1 << 30, Some(4 << 30), 20).words(200);
        assert!(line.contains("25 %  1.00 GiB of 4.00 GiB  51.2 MiB/s"), "{line}");
        assert!(line.contains("0:20  1:00 left"), "{line}");
        // Nothing has been read yet, or more than was there before.
        assert!(!state(0, Some(1 << 30), 0).words(200).contains("left"));
        assert!(state(5, Some(4), 1).words(200).contains("100 %"));
        let pipe = state(1 << 20, None, 3700).words(200);
        assert!(!pipe.contains('%') && pipe.contains("1:01:40"), "{pipe}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for total in [None, Some(1 << 20), Some(u64::MAX)] {
            for done in [0, 1 << 15, u64::MAX / 2] {
                for width in 0..200 {
                    let line = state(done, total, 1_000_000).line(width);
                    let len = line.chars().count();
                    assert!(len < width.max(1), "{width}: {line}");
                }
            }
        }
        // The most important part remains.
        assert_eq!(state(1 << 29, Some(1 << 30), 60).line(8), "50 %");
        assert!(state(1 << 29, Some(1 << 30), 60).line(80).starts_with('█'));
    }
}
