//! The progress bar on standard error.

use super::args::When;
use super::numbers::{grouped, short};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanefish::pipeline::Progress;
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// A run shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// Between two lines where standard error is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(1);

/// Shows how far a run is: a bar on a terminal, a line a second elsewhere (with `--progress always`).
#[derive(Debug)]
pub(crate) struct Meter {
    total: Option<u64>,
    begin: Instant,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    Never,
    NotYet { terminal: bool, after: Duration },
    Bar(ProgressBar),
    Lines { last: Instant },
}

impl Meter {
    pub(crate) fn new(when: When, total: Option<u64>) -> Self {
        let terminal = stderr().is_terminal();
        let shown = match when {
            When::Never => Shown::Never,
            When::Auto if !terminal => Shown::Never,
            When::Auto => Shown::NotYet {
                terminal,
                after: PATIENCE,
            },
            When::Always => Shown::NotYet {
                terminal,
                after: Duration::ZERO,
            },
        };
        Self {
            total,
            begin: Instant::now(),
            shown,
        }
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        let elapsed = self.begin.elapsed();
        if let Shown::NotYet { terminal, after } = self.shown {
            if elapsed < after {
                return;
            }
            self.shown = if terminal {
                Shown::Bar(bar(self.total, elapsed))
            } else {
                self.line(progress);
                Shown::Lines {
                    last: Instant::now(),
                }
            };
        }
        match &self.shown {
            Shown::Bar(bar) => {
                bar.set_position(progress.bytes);
                bar.set_message(self.words(progress));
            }
            Shown::Lines { last } if last.elapsed() >= LINE_EVERY => {
                self.line(progress);
                self.shown = Shown::Lines {
                    last: Instant::now(),
                };
            }
            _ => {}
        }
    }

    pub(crate) fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    fn words(&self, progress: Progress) -> String {
        let rate = progress.records as f64 / self.begin.elapsed().as_secs_f64().max(1e-9);
        let games = match progress.games {
            0 => String::new(),
            games => format!("{} games, ", grouped(games)),
        };
        format!(
            "{games}{} records, {}/s",
            grouped(progress.records),
            short(rate)
        )
    }

    fn line(&self, progress: Progress) {
        let share = match self.total {
            Some(total) if total > 0 => {
                format!("{:.0} % of ", 100.0 * progress.bytes as f64 / total as f64)
            }
            _ => String::new(),
        };
        let total = short(self.total.unwrap_or(progress.bytes) as f64);
        let words = self.words(progress);
        // A closed standard error is no reason to stop.
        let _ = writeln!(stderr(), "{share}{total}B, {words}");
    }
}

fn bar(total: Option<u64>, elapsed: Duration) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(total, target).with_elapsed(elapsed);
    let template = match total {
        Some(_) => {
            "{bar:30} {percent:>3} %  {bytes}/{total_bytes}  {bytes_per_sec}  {msg}  {eta} left"
        }
        None => "{spinner} {bytes}  {bytes_per_sec}  {msg}",
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("█▉▊▋▌▍▎▏ ")),
        Err(_) => bar,
    }
}
