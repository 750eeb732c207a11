//! Measurements: the rows of `lanefish bench`, and how they are timed.
//!
//! A row is verified first, against the plain rules or the ray walk, and its results are summed into a checksum that
//! all rows with the same query must share. Then it is timed: a *pass* runs all queries of a fixed set once, passes
//! are repeated, and their median counts, so that an interrupted pass does not matter. Rows with the same query
//! alternate in several rounds, and the round with the lowest median is used, because CPU frequency and load change
//! over seconds. The spread, half the distance between the quartiles of all rounds, shows how quiet the machine was.
//!
//! Three pitfalls are avoided: the set is hidden from the optimizer before each pass, so that nothing is computed once
//! for all passes; it is too large for the branch predictor to learn; and results are summed, so that none is optimized
//! away.
//!
//! Benchmarks under criterion and a test of the slider algorithms are built with `positions.rs`, `generated.rs` and
//! `slider_queries.rs`, which therefore use nothing else of the program.

pub(in crate::cli) mod cli_commands;
pub(in crate::cli) mod decode;
mod generated;
pub(in crate::cli) mod kernels;
pub(in crate::cli) mod pipeline;
mod positions;
pub(in crate::cli) mod scan;
pub(in crate::cli) mod slider_queries;
pub(in crate::cli) mod sliders;

pub(in crate::cli) use positions::sample_positions;

use lanefish::Error;
use lanefish::sliders::Kind;
use lanefish::tiers::Tier;
use std::hint::black_box;
use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The benchmarks to run, and the time for each.
#[derive(Clone, Debug)]
pub(in crate::cli) struct BenchOptions {
    /// Time for each row.
    pub(in crate::cli) time: Duration,
    /// Run only rows whose [`Row::title`] contains this.
    pub(in crate::cli) filter: Option<String>,
    /// Number of threads that run the same work at the same time, or the same command together; 0 counts as 1.
    /// [`pipeline::measure_pipeline`] measures with one thread and with this number.
    pub(in crate::cli) threads: usize,
    /// About how many bytes each file has that commands read; of the pipeline, each PGN file.
    pub(in crate::cli) size: usize,
}

impl Default for BenchOptions {
    /// A fifth of a second per row, all rows, one thread, files of 8 MB.
    fn default() -> Self {
        Self { time: Duration::from_millis(200), filter: None, threads: 1, size: 8_000_000 }
    }
}

/// One row of the report.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Row {
    /// The group: `sliders`, `kernels`, `decode`, `scan`, `commands` or `pipeline`.
    pub(in crate::cli) group: &'static str,
    /// The algorithm or kernel.
    pub(in crate::cli) name: &'static str,
    /// The kind of code.
    pub(in crate::cli) kind: Kind,
    /// The CPU features it needs.
    pub(in crate::cli) needs: &'static [&'static str],
    /// The part that depends on the group.
    pub(in crate::cli) subject: Subject,
    /// The measurement, if this CPU can run it.
    pub(in crate::cli) measured: Option<Measured>,
}

/// The part of a [`Row`] that depends on its group. Rows with the same query can be compared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub(in crate::cli) enum Subject {
    /// A slider algorithm.
    Slider {
        /// The queried piece.
        piece: slider_queries::SliderPiece,
        /// The source of the queries.
        source: sliders::Source,
        /// Size of the tables for all squares, rook and bishop.
        table_bytes: usize,
    },
    /// A kernel.
    Kernel {
        /// The tier; `None` for alternatives that no tier uses.
        tier: Option<Tier>,
        /// The implementation: `lanes`, or the slider algorithm of per-piece code.
        algorithm: &'static str,
    },
    /// From bytes or text to positions, or back.
    Decode {
        /// Mean size of a position in the encoded form.
        bytes_per_position: f64,
    },
    /// Reading packed boards from memory.
    Scan {
        /// Where the boards are stored.
        place: scan::Place,
        /// The tier, if the work runs in one.
        tier: Option<Tier>,
        /// Number of bytes read.
        bytes: usize,
    },
    /// A whole command.
    Command {
        /// Mean size of a position in the input.
        bytes_per_position: f64,
    },
    /// The kernel alone, or a whole command, by a number of threads.
    Pipeline {
        /// The tier.
        tier: Tier,
        /// Number of threads.
        threads: usize,
        /// Number of positions of a pass.
        positions: usize,
        /// Mean size of a position in the input.
        bytes_per_position: f64,
    },
}

/// Results and time of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::cli) struct Measured {
    /// Whether all results matched those of the reference.
    pub(in crate::cli) verified: bool,
    /// Sum of all results.
    pub(in crate::cli) checksum: u64,
    /// The time.
    pub(in crate::cli) timing: Timing,
}

impl Row {
    /// Group, name and whatever else distinguishes the row; [`BenchOptions::filter`] is matched against it.
    pub(in crate::cli) fn title(&self) -> String {
        match &self.subject {
            Subject::Slider { piece, source, .. } => {
                format!("{}/{}/{piece}/{source}", self.group, self.name)
            }
            Subject::Kernel { tier, algorithm } => {
                let implementation = tier.map_or(*algorithm, Tier::name);
                format!("{}/{}/{implementation}", self.group, self.name)
            }
            Subject::Decode { .. } | Subject::Command { .. } => {
                format!("{}/{}", self.group, self.name)
            }
            Subject::Scan { place, .. } => format!("{}/{}/{place}", self.group, self.name),
            Subject::Pipeline { threads, .. } => format!("{}/{}/{}", self.group, self.name, pipeline::label(*threads)),
        }
    }

    /// Whether the row matches the filter of the options.
    pub(in crate::cli) fn is_requested(&self, options: &BenchOptions) -> bool {
        let filter = options.filter.as_deref();
        filter.is_none_or(|filter| self.title().contains(filter))
    }

    /// The query. Rows with the same query have the same checksum.
    pub(in crate::cli) fn query(&self) -> String {
        match &self.subject {
            Subject::Slider { piece, source, .. } => format!("{}/{source}/{piece}", self.group),
            _ => format!("{}/{}", self.group, self.name),
        }
    }

    /// How many times slower the row is than the fastest comparable one. Rows with the same query are comparable, and
    /// so are all reads from the same place.
    pub(in crate::cli) fn ratio_to_fastest(&self, rows: &[Self]) -> Option<f64> {
        let own = self.measured.as_ref()?.timing.nanoseconds;
        let fastest = rows
            .iter()
            .filter(|row| match (&row.subject, &self.subject) {
                (Subject::Scan { place, .. }, Subject::Scan { place: own, .. }) => place == own,
                _ => row.query() == self.query(),
            })
            .filter_map(|row| row.measured.as_ref())
            .fold(own, |fastest, row| row.timing.nanoseconds.min(fastest));
        Some(own / fastest)
    }

    /// How many times faster a kernel is than in the portable tier.
    pub(in crate::cli) fn ratio_to_portable(&self, rows: &[Self]) -> Option<f64> {
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

/// The time per query or position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::cli) struct Timing {
    /// Median time per query or position in the least disturbed round, in nanoseconds on one thread; of whole commands
    /// and in the pipeline, of all threads together.
    pub(in crate::cli) nanoseconds: f64,
    /// Half the distance between the quartiles of all rounds, relative to that median.
    pub(in crate::cli) spread: f64,
    /// Queries or positions per second of all threads together.
    pub(in crate::cli) per_second: f64,
    /// Number of samples of all threads.
    pub(in crate::cli) samples: usize,
}

impl Timing {
    /// The timing from the samples of each thread and round, in nanoseconds per query or position.
    ///
    /// # Panics
    /// If there is no thread, or a round without samples.
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
        Self { nanoseconds, spread: (quartile(3) - quartile(1)) / 2.0 / nanoseconds, per_second, samples: all.len() }
    }
}

/// Number of rounds over all candidates.
///
/// Alternating gives every candidate a share of the quiet periods, which keeps ratios accurate.
const ROUNDS: u32 = 8;
/// The shortest time of a sample, if the clock is too coarse to see it.
const LEAST_NANOSECONDS: f64 = 0.1;

/// Times candidates in alternation, so that they can be compared. Returns one timing for each, in their order.
///
/// `take` samples a candidate for at least the given time and returns nanoseconds per query or position, like
/// [`samples`] and [`samples_under_pressure`].
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
///
/// # Panics
/// If a candidate returns no sample.
pub(in crate::cli) fn measure_together<C: Sync>(
    options: &BenchOptions,
    candidates: &[C],
    take: impl Fn(&C, Duration) -> Vec<f64> + Sync,
) -> Result<Vec<Timing>, Error> {
    let mut by_thread = on_threads(options.threads, || {
        let mut taken = vec![Vec::new(); candidates.len()];
        for _ in 0..ROUNDS {
            for (candidate, rounds) in candidates.iter().zip(&mut taken) {
                rounds.push(take(candidate, options.time / ROUNDS));
            }
        }
        taken
    })?;
    (0..candidates.len())
        .map(|candidate| {
            let of_candidate = by_thread.iter_mut().map(|thread| std::mem::take(&mut thread[candidate]));
            Timing::of(of_candidate.collect())
        })
        .map(Ok)
        .collect()
}

/// Runs the same work on several threads at the same time, 0 counts as 1, and returns the result of each. All threads
/// begin together, or none does if not all can be started.
fn on_threads<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Result<Vec<T>, Error> {
    let threads = threads.max(1);
    let start: OnceLock<bool> = OnceLock::new();
    std::thread::scope(|scope| {
        let wait_and_work = || start.wait().then(&work);
        let running: io::Result<Vec<_>> =
            (1..threads).map(|_| std::thread::Builder::new().spawn_scoped(scope, wait_and_work)).collect();
        start.get_or_init(|| running.is_ok());
        let running = running.map_err(|reason| Error::Threads { threads, reason: reason.to_string() })?;
        let own = work();
        let others = running.into_iter().filter_map(|thread| thread.join().expect("a measurement does not panic"));
        Ok(std::iter::once(own).chain(others).collect())
    })
}

/// Takes samples for this long, in nanoseconds per query or position.
type Take<'a> = Box<dyn Fn(Duration) -> Vec<f64> + Sync + 'a>;

/// Verified work that can be timed.
struct Candidate<'a> {
    verified: bool,
    checksum: u64,
    take: Take<'a>,
}

impl<'a> Candidate<'a> {
    /// Passes over items of `each` queries or positions.
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
        Self { verified, checksum, take: Box::new(take) }
    }
}

/// Rows that are timed together so that they can be compared.
struct Comparison<'a> {
    options: &'a BenchOptions,
    /// Each row, and whether there is a candidate for it.
    rows: Vec<(Row, bool)>,
    candidates: Vec<Candidate<'a>>,
}

impl<'a> Comparison<'a> {
    fn new(options: &'a BenchOptions) -> Self {
        Self { options, rows: Vec::new(), candidates: Vec::new() }
    }

    /// Adds a row if it is requested; `verify` returns `None` if this CPU cannot run it.
    fn add(&mut self, row: Row, verify: impl FnOnce() -> Option<Candidate<'a>>) {
        if row.is_requested(self.options) {
            let candidate = verify();
            self.rows.push((row, candidate.is_some()));
            self.candidates.extend(candidate);
        }
    }

    /// Times the candidates and shows all rows in the order in which they were added.
    fn finish(self, show: &mut dyn FnMut(Row)) -> Result<(), Error> {
        let take = |candidate: &Candidate<'_>, time| (candidate.take)(time);
        let timings = measure_together(self.options, &self.candidates, take)?;
        let mut measured = self.candidates.iter().zip(timings).map(|(candidate, timing)| Measured {
            verified: candidate.verified,
            checksum: candidate.checksum,
            timing,
        });
        for (mut row, available) in self.rows {
            row.measured = available.then(|| measured.next()).flatten();
            show(row);
        }
        Ok(())
    }
}

/// Times passes over all items until the time is used up, at least one pass; returns nanoseconds per item.
///
/// `pass` handles all of the items and returns a number that depends on every result.
///
/// # Panics
/// If there are no items.
pub(in crate::cli) fn samples<T>(items: &[T], time: Duration, pass: impl Fn(&[T]) -> u64) -> Vec<f64> {
    assert!(!items.is_empty(), "there must be something to measure");
    // Warms up the caches.
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

/// Times short bursts of items, each after filling the L1 and L2 caches with other data. The items themselves are in
/// the cache; the tables of the pass are not.
///
/// # Panics
/// If there are fewer items than in a burst, or a burst has none.
pub(in crate::cli) fn samples_under_pressure<T: Copy>(
    items: &[T],
    burst: usize,
    time: Duration,
    pass: impl Fn(&[T]) -> u64,
) -> Vec<f64> {
    /// Larger than the L2 cache of current cores.
    const OTHER_BYTES: usize = 4 << 20;
    const WORDS_PER_LINE: usize = 8;
    assert!(items.len() >= burst, "there must be enough to measure");
    let other = vec![1u64; OTHER_BYTES / size_of::<u64>()];
    // Reading the clock takes as long as a few queries, so its time is subtracted.
    let clock = (0..100).map(|_| nanoseconds_since(Instant::now())).fold(f64::INFINITY, f64::min);
    let mut samples = Vec::new();
    let mut copy = Vec::with_capacity(burst);
    let begin = Instant::now();
    for items in items.chunks_exact(burst).cycle() {
        let lines = black_box(&other).iter().step_by(WORDS_PER_LINE);
        black_box(lines.sum::<u64>());
        copy.clear();
        copy.extend_from_slice(items);
        let start = Instant::now();
        black_box(pass(black_box(&copy)));
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
        let options = BenchOptions { time: Duration::ZERO, threads: 2, ..BenchOptions::default() };
        let items = [1, 2, 3];
        let pass = |items: &[u64]| items.iter().sum();
        let timings = measure_together(&options, &[false, true], |&pressure, time| {
            if pressure { samples_under_pressure(&items, 2, time, pass) } else { samples(&items, time, pass) }
        })
        .unwrap();
        assert_eq!(timings.len(), 2);
        for timing in timings {
            assert!(timing.samples >= 2 * ROUNDS as usize && timing.nanoseconds > 0.0);
        }
    }
}
