//! The rows of the whole job: how much of the speed of the kernel is left when positions come from a file, with one
//! thread and with all.
//!
//! | row | timed work |
//! | --- | --- |
//! | `kernel` | [`Kernel::Everything`] on groups in the cache |
//! | `stats-boards`, `stats-pgn`, `stats-fen` | statistics of a file |
//! | `convert-pgn-to-boards`, `convert-boards-to-boards`, `convert-fen-to-boards` | a file as a boards file |
//!
//! The commands are those of [`cli_commands`](super::cli_commands). All rows are timed in alternation, so that they can be
//! compared. A row is compared with others of the same number of threads, and with the same work on one thread.

use super::cli_commands::{Files, Runner, Sizes, Work, works};
use super::kernels::{Kernel, analyze, analyzing};
use super::positions::{follow_up, groups_of};
use super::{BenchOptions, Candidate, Comparison, Row, Subject, nanoseconds_since, on_threads};
use lanefish::Error;
use lanefish::chess::Position;
use lanefish::packed::{Group, Packed};
use lanefish::sliders::Kind;
use lanefish::tiers::Analyzer;
use std::hint::black_box;
use std::time::Instant;

/// Positions of the kernel: half a typical L2.
const POSITIONS: usize = 1 << 14;
/// How many times larger than PGN the other files are. Boards and FEN are read faster, and a run should take so long
/// that starting the threads, about 0.3 ms, does not matter.
const TIMES_PGN: (usize, usize) = (8, 4);

/// The name of the rows of the kernel alone.
pub(in crate::cli) const KERNEL: &str = "kernel";

/// The names of the rows, in their order.
pub(in crate::cli) const NAMES: [&str; 7] = [
    KERNEL,
    "stats-boards",
    "stats-pgn",
    "stats-fen",
    "convert-pgn-to-boards",
    "convert-boards-to-boards",
    "convert-fen-to-boards",
];

/// The numbers of threads of the rows: one, and all of them.
pub(in crate::cli) fn thread_counts(threads: usize) -> Vec<usize> {
    if threads > 1 { vec![1, threads] } else { vec![1] }
}

/// The last part of the title of a row with this number of threads: `1` or `all`.
pub(in crate::cli) const fn label(threads: usize) -> &'static str {
    if threads > 1 { "all" } else { "1" }
}

/// Verifies and times all rows, with one thread and with those of the options, and passes them to `show`. Uses the
/// first 16,384 positions; if there are fewer, each is followed by random moves. PGN files have the size of the
/// options, FEN files four and boards files eight times that size.
///
/// # Errors
/// [`Error::Threads`] if threads cannot be started; [`Error::Write`] if the files cannot be written.
pub(in crate::cli) fn measure_pipeline(
    options: &BenchOptions,
    positions: &[Position],
    analyzer: &'static dyn Analyzer,
    show: &mut dyn FnMut(Row),
) -> Result<(), Error> {
    let counts = thread_counts(options.threads);
    let row = |name, threads, positions, bytes_per_position| Row {
        group: "pipeline",
        name,
        kind: Kind::of(analyzer.features()),
        needs: analyzer.features(),
        subject: Subject::Pipeline { tier: analyzer.tier(), threads, positions, bytes_per_position },
        measured: None,
    };
    let requested =
        |name: &&'static str| counts.iter().any(|&threads| row(name, threads, 0, 0.0).is_requested(options));
    if !NAMES.iter().any(requested) {
        return Ok(());
    }
    // Not in the middle of the measurement.
    on_threads(options.threads, || ())?;
    let (boards, fen) = TIMES_PGN;
    let sizes = Sizes { boards: options.size * boards, fen: options.size * fen, pgn: options.size };
    let files = Files::generate(positions, sizes)?;
    let (positions, groups) = groups_of(&follow_up(positions, POSITIONS));
    let expected: Vec<u64> = positions.iter().map(|position| Kernel::Everything.expected(position)).collect();
    let commands: Vec<Vec<Work<'_>>> =
        counts.iter().map(|&threads| works(&files, Runner { analyzer, threads })).collect();
    // The threads are those of a row; several rows at the same time would be something else.
    let alone = BenchOptions { threads: 1, ..options.clone() };
    let mut comparison = Comparison::new(&alone);
    for &threads in &counts {
        let row = row(KERNEL, threads, groups.len() * Group::LEN, size_of::<Packed>() as f64);
        comparison.add(row, || Some(kernel(analyzer, &groups, &expected, threads)));
    }
    for name in NAMES {
        for (&threads, works) in counts.iter().zip(&commands) {
            if let Some(work) = works.iter().find(|work| work.name == name) {
                let row = row(name, threads, work.records(), work.bytes_per_position());
                comparison.add(row, || Some(work.candidate()));
            }
        }
    }
    comparison.finish(show)
}

/// The kernel on several threads. All passes of a round are one sample: like a run of a command, it takes longer if the
/// threads have to wait for a core, which the median of short passes does not show.
fn kernel<'a>(analyzer: &'a dyn Analyzer, groups: &'a [Group], expected: &[u64], threads: usize) -> Candidate<'a> {
    let queries = Kernel::Everything.queries();
    let take = move |time| {
        let begin = Instant::now();
        let passes = on_threads(threads, || {
            let mut passes = 0;
            while passes == 0 || begin.elapsed() < time {
                analyze(analyzer, queries, black_box(groups));
                passes += 1;
            }
            passes
        });
        // A round whose threads cannot be started never ends.
        let passes: usize = passes.map_or(0, |passes| passes.into_iter().sum());
        vec![nanoseconds_since(begin) / (passes * groups.len() * Group::LEN) as f64]
    };
    Candidate { take: Box::new(take), ..analyzing(analyzer, Kernel::Everything, groups, expected) }
}

/// The row of a name and a number of threads.
pub(in crate::cli) fn find<'a>(rows: &'a [Row], name: &str, threads: usize) -> Option<&'a Row> {
    rows.iter().find(|row| row.name == name && row.pipeline_threads() == Some(threads))
}

/// The name of the statistics of the file that a conversion reads: `stats-pgn` of `convert-pgn-to-boards`.
pub(in crate::cli) fn stats_of(name: &str) -> Option<String> {
    let (input, _) = name.strip_prefix("convert-")?.split_once("-to-")?;
    Some(format!("stats-{input}"))
}

impl Row {
    /// The number of threads of a row of the pipeline.
    pub(in crate::cli) fn pipeline_threads(&self) -> Option<usize> {
        match self.subject {
            Subject::Pipeline { threads, .. } => Some(threads),
            _ => None,
        }
    }

    /// The rate of a row of the pipeline relative to that of the kernel with the same number of threads.
    pub(in crate::cli) fn share_of_kernel(&self, rows: &[Self]) -> Option<f64> {
        self.rate_relative_to(find(rows, KERNEL, self.pipeline_threads()?)?)
    }

    /// The rate of a conversion of the pipeline relative to that of the statistics of the same file with the same
    /// number of threads.
    pub(in crate::cli) fn share_of_stats(&self, rows: &[Self]) -> Option<f64> {
        self.rate_relative_to(find(rows, &stats_of(self.name)?, self.pipeline_threads()?)?)
    }

    /// How many times faster several threads are than one, in a row of the pipeline.
    pub(in crate::cli) fn speedup(&self, rows: &[Self]) -> Option<f64> {
        let one = find(rows, self.name, 1)?;
        (self.pipeline_threads()? > 1).then(|| self.rate_relative_to(one))?
    }

    fn rate_relative_to(&self, other: &Self) -> Option<f64> {
        let [own, other] = [self, other].map(|row| Some(row.measured?.timing.nanoseconds));
        Some(other? / own?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanefish::tiers::Tier;
    use std::time::Duration;

    fn measured(threads: usize) -> Vec<Row> {
        let options = BenchOptions { time: Duration::ZERO, threads, size: 1, ..BenchOptions::default() };
        let mut rows = Vec::new();
        measure_pipeline(&options, &[], Tier::best().analyzer().unwrap(), &mut |row| rows.push(row)).unwrap();
        rows
    }

    #[test]
    fn rows_are_verified_with_one_thread_and_with_all() {
        let rows = measured(2);
        let expected = NAMES.iter().flat_map(|name| [format!("pipeline/{name}/1"), format!("pipeline/{name}/all")]);
        assert!(rows.iter().map(Row::title).eq(expected));
        for row in &rows {
            let measured = row.measured.unwrap();
            assert!(measured.verified, "{}", row.title());
            assert_eq!(measured.checksum, find(&rows, row.name, 1).unwrap().measured.unwrap().checksum);
            assert!(row.share_of_kernel(&rows).unwrap() > 0.0);
            assert_eq!(row.speedup(&rows).is_some(), row.pipeline_threads() == Some(2));
            assert_eq!(row.share_of_stats(&rows).is_some(), row.name.starts_with("convert-"), "{}", row.title());
        }
        assert_eq!(find(&rows, KERNEL, 2).unwrap().share_of_kernel(&rows), Some(1.0));
    }

    #[test]
    fn one_thread_has_no_duplicate_rows() {
        assert!(measured(1).iter().map(|row| row.name).eq(NAMES));
        assert_eq!((thread_counts(0), thread_counts(8)), (vec![1], vec![1, 8]));
    }

    #[test]
    fn conversions_are_compared_with_statistics_of_the_same_file() {
        assert_eq!(stats_of("convert-pgn-to-boards").as_deref(), Some("stats-pgn"));
        assert_eq!(stats_of("stats-pgn"), None);
    }
}
