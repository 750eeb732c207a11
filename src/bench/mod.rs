//! Measuring: what a row of `lanefish bench` is, and how its time is taken.
//!
//! A row is verified first, against the plain rules or the ray walk, and what it answers is summed into a
//! checksum that all rows asked the same must share. Then it is timed: a *pass* asks all questions of a
//! fixed set once, passes are repeated, and their median counts, so that an interrupted pass does not matter.
//! Rows that are asked the same take turns in several rounds, and the round with the lowest median is taken:
//! the clock of a CPU changes, and its neighbours come and go, over seconds. The spread, half the distance
//! between the quartiles of all rounds, tells how quiet the machine was.
//!
//! Three traps are avoided on purpose: the set is hidden from the optimiser before each pass, so that nothing
//! is computed once for all passes; it is large, so that branches cannot be learned by heart; and answers are
//! summed, so that none is left out.

pub mod decode;
pub mod kernels;
mod positions;
pub mod scan;
pub mod sliders;

pub use positions::sample_positions;

use crate::error::Error;
use crate::sliders::Kind;
use crate::tiers::Tier;
use std::hint::black_box;
use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What to measure, and for how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// Time for each row.
    pub time: Duration,
    /// Only rows whose [`Row::title`] contains this.
    pub filter: Option<String>,
    /// How many threads do the same at the same time; none counts as one.
    pub threads: usize,
}

impl Default for Options {
    /// A fifth of a second a row, all rows, one thread.
    fn default() -> Self {
        Self {
            time: Duration::from_millis(200),
            filter: None,
            threads: 1,
        }
    }
}

/// One line of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    /// The group: `sliders`, `kernels`, `decode` or `scan`.
    pub group: &'static str,
    /// The algorithm or kernel.
    pub name: &'static str,
    /// What it is made of.
    pub kind: Kind,
    /// The CPU features it needs.
    pub needs: &'static [&'static str],
    /// What belongs to the group only.
    pub subject: Subject,
    /// What was measured, if this CPU can run it.
    pub measured: Option<Measured>,
}

/// The part of a [`Row`] that depends on its group. Rows that are asked the same can be compared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Subject {
    /// A slider algorithm.
    Slider {
        /// Which piece was asked for.
        piece: sliders::Piece,
        /// Where the questions came from.
        source: sliders::Source,
        /// Size of the tables for all squares, rook and bishop.
        table_bytes: usize,
    },
    /// A kernel.
    Kernel {
        /// The tier; `None` for what no tier uses.
        tier: Option<Tier>,
        /// What answers: `lanes`, or the slider algorithm of code that goes piece by piece.
        algorithm: &'static str,
    },
    /// From bytes or text to positions, or back.
    Decode {
        /// Mean size of a position on the side that is not the plain position.
        bytes_per_position: f64,
    },
    /// Reading packed boards from memory.
    Scan {
        /// Where they lie.
        place: scan::Place,
        /// The tier, where one works on what is read.
        tier: Option<Tier>,
        /// How many bytes are read.
        bytes: usize,
    },
}

/// Answers and time of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Whether all answers were those of the slow and plain way.
    pub verified: bool,
    /// Sum of all answers.
    pub checksum: u64,
    /// The time.
    pub timing: Timing,
}

impl Row {
    /// Group, name and what else tells the row from others; what [`Options::filter`] is looked for in.
    pub fn title(&self) -> String {
        match &self.subject {
            Subject::Slider { piece, source, .. } => {
                format!("{}/{}/{piece}/{source}", self.group, self.name)
            }
            Subject::Kernel { tier, algorithm } => {
                let who = tier.map_or(*algorithm, Tier::name);
                format!("{}/{}/{who}", self.group, self.name)
            }
            Subject::Decode { .. } => format!("{}/{}", self.group, self.name),
            Subject::Scan { place, .. } => format!("{}/{}/{place}", self.group, self.name),
        }
    }

    /// Whether the filter of the options lets it through.
    pub fn is_wanted(&self, options: &Options) -> bool {
        let filter = options.filter.as_deref();
        filter.is_none_or(|filter| self.title().contains(filter))
    }

    /// What is asked. Rows that are asked the same have the same checksum.
    pub fn question(&self) -> String {
        match &self.subject {
            Subject::Slider { piece, source, .. } => format!("{}/{source}/{piece}", self.group),
            _ => format!("{}/{}", self.group, self.name),
        }
    }

    /// How many times slower it is than the fastest of those rows that it can be compared with: those that
    /// are asked the same, and when memory is read, all that read from the same place.
    pub fn ratio_to_fastest(&self, rows: &[Self]) -> Option<f64> {
        let own = self.measured.as_ref()?.timing.nanoseconds;
        let fastest = rows
            .iter()
            .filter(|row| match (&row.subject, &self.subject) {
                (Subject::Scan { place, .. }, Subject::Scan { place: own, .. }) => place == own,
                _ => row.question() == self.question(),
            })
            .filter_map(|row| row.measured.as_ref())
            .fold(own, |fastest, row| row.timing.nanoseconds.min(fastest));
        Some(own / fastest)
    }

    /// How many times faster a kernel is than in the portable tier.
    pub fn ratio_to_portable(&self, rows: &[Self]) -> Option<f64> {
        let own = self.measured.as_ref()?.timing.nanoseconds;
        let is_portable = |row: &&Self| {
            let Subject::Kernel { tier, .. } = row.subject else {
                return false;
            };
            tier == Some(Tier::PORTABLE) && row.name == self.name
        };
        let portable = rows.iter().find(is_portable)?;
        Some(portable.measured.as_ref()?.timing.nanoseconds / own)
    }
}

/// How long one question or position takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Median time of one in the least disturbed round, in nanoseconds of one thread.
    pub nanoseconds: f64,
    /// Half the distance between the quartiles of all rounds, as a part of that.
    pub spread: f64,
    /// How many all threads together do in a second.
    pub per_second: f64,
    /// How many times it was measured, in all threads.
    pub samples: usize,
}

impl Timing {
    /// The timing from the samples of each thread and round, in nanoseconds for one.
    ///
    /// # Panics
    /// When there is no thread, or a round without samples.
    fn of(mut threads: Vec<Vec<Vec<f64>>>) -> Self {
        let mut per_second = 0.0;
        let mut medians = Vec::new();
        for rounds in &mut threads {
            let median = rounds
                .iter_mut()
                .map(|samples| {
                    samples.sort_unstable_by(f64::total_cmp);
                    samples[samples.len() / 2]
                })
                .fold(f64::INFINITY, f64::min);
            per_second += 1e9 / median;
            medians.push(median);
        }
        medians.sort_unstable_by(f64::total_cmp);
        let mut all = threads.into_iter().flatten().flatten().collect::<Vec<_>>();
        all.sort_unstable_by(f64::total_cmp);
        let quartile = |n: usize| all[(all.len() - 1) * n / 4];
        let nanoseconds = medians[medians.len() / 2];
        Self {
            nanoseconds,
            spread: (quartile(3) - quartile(1)) / 2.0 / nanoseconds,
            per_second,
            samples: all.len(),
        }
    }
}

/// How often all candidates are gone through.
///
/// Taking turns lets all candidates have their share of good times, which keeps ratios true.
const ROUNDS: u32 = 8;
/// The least time a sample can have, where the clock is too coarse to see it.
const LEAST_NANOSECONDS: f64 = 0.1;

/// Times candidates that are to be compared, taking turns: one timing for each, in their order.
///
/// `take` takes samples of a candidate for at least so long and gives them in nanoseconds for one question
/// or position; [`samples`] and [`samples_under_pressure`] do.
///
/// # Errors
/// [`Error::Threads`] when they cannot be started.
///
/// # Panics
/// When a candidate gives no sample.
pub fn measure_together<C: Sync>(
    options: &Options,
    candidates: &[C],
    take: impl Fn(&C, Duration) -> Vec<f64> + Sync,
) -> Result<Vec<Timing>, Error> {
    let threads = options.threads.max(1);
    // All begin together, or none where not all can be started.
    let start: OnceLock<bool> = OnceLock::new();
    let one_thread = || {
        let mut taken = vec![Vec::new(); candidates.len()];
        if !*start.wait() {
            return taken;
        }
        for _ in 0..ROUNDS {
            for (candidate, rounds) in candidates.iter().zip(&mut taken) {
                rounds.push(take(candidate, options.time / ROUNDS));
            }
        }
        taken
    };
    let by_thread: Result<Vec<Vec<Vec<Vec<f64>>>>, Error> = std::thread::scope(|scope| {
        let running: io::Result<Vec<_>> = (1..threads)
            .map(|_| std::thread::Builder::new().spawn_scoped(scope, one_thread))
            .collect();
        start.get_or_init(|| running.is_ok());
        let running = running.map_err(|reason| Error::Threads {
            threads,
            reason: reason.to_string(),
        })?;
        let own = one_thread();
        let others = running
            .into_iter()
            .map(|thread| thread.join().expect("a measurement does not panic"));
        Ok(std::iter::once(own).chain(others).collect())
    });
    let mut by_thread = by_thread?;
    (0..candidates.len())
        .map(|candidate| {
            let of_candidate = by_thread
                .iter_mut()
                .map(|thread| std::mem::take(&mut thread[candidate]));
            Timing::of(of_candidate.collect())
        })
        .map(Ok)
        .collect()
}

/// Takes samples for so long, in nanoseconds for one question or position.
type Take<'a> = Box<dyn Fn(Duration) -> Vec<f64> + Sync + 'a>;

/// What has been verified and can be timed.
struct Entrant<'a> {
    verified: bool,
    checksum: u64,
    take: Take<'a>,
}

impl<'a> Entrant<'a> {
    /// Passes over items of which each has so many questions or positions.
    fn passes<T: Sync>(
        items: &'a [T],
        each: usize,
        verified: bool,
        checksum: u64,
        pass: impl Fn(&[T]) -> u64 + Sync + 'a,
    ) -> Self {
        let take = move |time| {
            let mut samples = samples(items, time, &pass);
            for sample in &mut samples {
                *sample /= each as f64;
            }
            samples
        };
        Self {
            verified,
            checksum,
            take: Box::new(take),
        }
    }
}

/// Rows that are to be compared, and so are timed together.
struct Contest<'a> {
    options: &'a Options,
    /// Each row, and whether there is an entrant for it.
    rows: Vec<(Row, bool)>,
    entrants: Vec<Entrant<'a>>,
}

impl<'a> Contest<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            rows: Vec::new(),
            entrants: Vec::new(),
        }
    }

    /// Adds a row that is wanted; `enter` verifies it, and gives `None` where this CPU cannot run it.
    fn add(&mut self, row: Row, enter: impl FnOnce() -> Option<Entrant<'a>>) {
        if row.is_wanted(self.options) {
            let entrant = enter();
            self.rows.push((row, entrant.is_some()));
            self.entrants.extend(entrant);
        }
    }

    /// Times the entrants and shows all rows in the order in which they came.
    fn finish(self, mut show: impl FnMut(Row)) -> Result<(), Error> {
        let take = |entrant: &Entrant<'_>, time| (entrant.take)(time);
        let timings = measure_together(self.options, &self.entrants, take)?;
        let measured = self.entrants.iter().zip(timings);
        let mut measured = measured.map(|(entrant, timing)| Measured {
            verified: entrant.verified,
            checksum: entrant.checksum,
            timing,
        });
        for (mut row, available) in self.rows {
            row.measured = available.then(|| measured.next()).flatten();
            show(row);
        }
        Ok(())
    }
}

/// Passes over all the items until the time is used up, at least one; each item counts as one.
///
/// `pass` handles all of the items and gives a number that depends on every answer.
///
/// # Panics
/// When there are no items.
pub fn samples<T>(items: &[T], time: Duration, pass: impl Fn(&[T]) -> u64) -> Vec<f64> {
    assert!(!items.is_empty(), "there must be something to measure");
    // The first pass brings the tables into the cache.
    black_box(pass(black_box(items)));
    let mut samples = Vec::new();
    let begin = Instant::now();
    while samples.is_empty() || begin.elapsed() < time {
        let start = Instant::now();
        black_box(pass(black_box(items)));
        let taken = nanoseconds_since(start).max(LEAST_NANOSECONDS);
        samples.push(taken / items.len() as f64);
    }
    samples
}

/// Short bursts of items, each of which finds the first two levels of the cache full of other data. The
/// items themselves are at hand; what the pass looks up is not.
///
/// # Panics
/// When there are fewer items than a burst has, or a burst has none.
pub fn samples_under_pressure<T: Copy>(
    items: &[T],
    burst: usize,
    time: Duration,
    pass: impl Fn(&[T]) -> u64,
) -> Vec<f64> {
    /// Larger than the second-level cache of today's cores.
    const OTHER_BYTES: usize = 4 << 20;
    const WORDS_OF_A_LINE: usize = 8;
    assert!(items.len() >= burst, "there must be enough to measure");
    let other = vec![1u64; OTHER_BYTES / size_of::<u64>()];
    // Reading the clock takes as long as a few questions.
    let clock = (0..100)
        .map(|_| nanoseconds_since(Instant::now()))
        .fold(f64::INFINITY, f64::min);
    let mut samples = Vec::new();
    let mut at_hand = Vec::with_capacity(burst);
    let begin = Instant::now();
    for items in items.chunks_exact(burst).cycle() {
        let lines = black_box(&other).iter().step_by(WORDS_OF_A_LINE);
        black_box(lines.sum::<u64>());
        at_hand.clear();
        at_hand.extend_from_slice(items);
        let start = Instant::now();
        black_box(pass(black_box(&at_hand)));
        let taken = (nanoseconds_since(start) - clock).max(LEAST_NANOSECONDS);
        samples.push(taken / burst as f64);
        if begin.elapsed() >= time {
            break;
        }
    }
    samples
}

fn nanoseconds_since(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_takes_the_median_of_the_best_round() {
        let timing = Timing::of(vec![vec![vec![4.0, 2.0, 3.0, 1.0, 5.0]]]);
        assert_eq!((timing.nanoseconds, timing.samples), (3.0, 5));
        assert!((timing.spread - 1.0 / 3.0).abs() < 1e-12);
        let rounds = Timing::of(vec![vec![vec![9.0, 8.0, 9.0], vec![2.0, 3.0, 9.0]]]);
        assert_eq!((rounds.nanoseconds, rounds.samples), (3.0, 6));
        let two = Timing::of(vec![vec![vec![2.0]], vec![vec![2.0]]]);
        assert_eq!((two.nanoseconds, two.per_second), (2.0, 1e9));
    }

    #[test]
    fn every_thread_measures_every_candidate() {
        let options = Options {
            time: Duration::ZERO,
            threads: 2,
            ..Options::default()
        };
        let items = [1, 2, 3];
        let pass = |items: &[u64]| items.iter().sum();
        let timings = measure_together(&options, &[false, true], |&pressure, time| {
            if pressure {
                samples_under_pressure(&items, 2, time, pass)
            } else {
                samples(&items, time, pass)
            }
        })
        .unwrap();
        assert_eq!(timings.len(), 2);
        for timing in timings {
            assert!(timing.samples >= 2 * ROUNDS as usize && timing.nanoseconds > 0.0);
        }
    }
}
