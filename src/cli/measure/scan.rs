//! The scan rows: how close a kernel comes to memory bandwidth.
//!
//! The positions are read from the cache, and from many copies in memory that fit in no cache. They are read by a sum
//! of all words, the upper bound for any read; by the checksum of boards files; and by a count of legal moves. If the
//! count takes much longer than the sum, memory is not the bottleneck.

use super::kernels::TILE;
use super::positions::{follow_up, groups_of};
use super::{BenchOptions, Candidate, Comparison, LEAST_NANOSECONDS, Row, Subject, nanoseconds_since};
use lanefish::Error;
use lanefish::chess::Position;
use lanefish::formats::boards::Checksum;
use lanefish::packed::Group;
use lanefish::queries::{GroupResults, Queries};
use lanefish::sliders::Kind;
use lanefish::tiers::{Analyzer, Tier};
use std::fmt;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Positions in the cache: half a typical L2.
const POSITIONS: usize = 1 << 14;
/// Number of copies in memory: 256 MiB, more than a core's share of any cache.
const COPIES: usize = 512;

/// Where packed boards are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cli) enum Place {
    /// 512 KiB, read repeatedly.
    Cache,
    /// 256 MiB, read part by part.
    Memory,
}

impl Place {
    /// Both.
    pub(in crate::cli) const ALL: [Self; 2] = [Self::Cache, Self::Memory];
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Cache => "cache",
            Self::Memory => "memory",
        })
    }
}

/// Verifies and times all rows, and passes them to `show`. Uses the first 16,384 positions; if there are fewer, each is
/// followed by random moves.
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
pub(in crate::cli) fn measure_scan(
    options: &BenchOptions,
    positions: &[Position],
    analyzer: &dyn Analyzer,
    show: &mut dyn FnMut(Row),
) -> Result<(), Error> {
    let (positions, groups) = groups_of(&follow_up(positions, POSITIONS));
    let count_legal_moves = |groups: &[Group]| count_legal_moves(analyzer, groups);
    let legal_moves = positions.iter().map(|p| u64::from(p.count_legal_moves())).sum();
    let works = [
        Work { name: "sum", needs: &[], tier: None, expected: plain_sum(&groups), pass: &sum },
        Work { name: "checksum", needs: &[], tier: None, expected: checksum_in_parts(&groups), pass: &checksum },
        Work {
            name: "legal_count",
            needs: analyzer.features(),
            tier: Some(analyzer.tier()),
            expected: legal_moves,
            pass: &count_legal_moves,
        },
    ];
    for place in Place::ALL {
        let requested = |work: &Work<'_>| work.row(place, &groups).is_requested(options);
        if !works.iter().any(requested) {
            continue;
        }
        let copies = match place {
            Place::Cache => 1,
            Place::Memory => COPIES,
        };
        let all = groups.repeat(copies);
        let next = AtomicUsize::new(0);
        let mut comparison = Comparison::new(options);
        for work in &works {
            comparison.add(work.row(place, &all), || Some(work.candidate(place, &all, groups.len(), &next)));
        }
        comparison.finish(show)?;
    }
    Ok(())
}

/// A way to read the boards.
struct Work<'a> {
    name: &'static str,
    needs: &'static [&'static str],
    tier: Option<Tier>,
    expected: u64,
    pass: &'a (dyn Fn(&[Group]) -> u64 + Sync),
}

impl Work<'_> {
    fn row(&self, place: Place, groups: &[Group]) -> Row {
        Row {
            group: "scan",
            name: self.name,
            kind: Kind::of(self.needs),
            needs: self.needs,
            subject: Subject::Scan { place, tier: self.tier, bytes: size_of_val(groups) },
            measured: None,
        }
    }

    /// Passes over parts of this length. All threads and rows share the counter `next`, so that in memory every part
    /// has left the caches before it is read again.
    fn candidate<'a>(&'a self, place: Place, groups: &'a [Group], part: usize, next: &'a AtomicUsize) -> Candidate<'a> {
        let checksum = (self.pass)(&groups[..part]);
        let verified = checksum == self.expected;
        if place == Place::Cache {
            return Candidate::passes(groups, Group::LEN, verified, checksum, self.pass);
        }
        let take = move |time| {
            let parts = groups.len() / part;
            let mut samples = Vec::new();
            let begin = Instant::now();
            while samples.is_empty() || begin.elapsed() < time {
                let at = next.fetch_add(1, Ordering::Relaxed) % parts * part;
                let start = Instant::now();
                black_box((self.pass)(black_box(&groups[at..at + part])));
                let taken = nanoseconds_since(start).max(LEAST_NANOSECONDS);
                samples.push(taken / (part * Group::LEN) as f64);
            }
            samples
        };
        Candidate { verified, checksum, take: Box::new(take) }
    }
}

/// The sum of all words, in sixteen partial sums so that the compiler can use vector registers.
fn sum(groups: &[Group]) -> u64 {
    let mut sums = [0u64; 16];
    for group in groups {
        let (rows, _) = group.planes.as_flattened().as_chunks::<16>();
        for row in rows {
            for (sum, word) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_add(*word);
            }
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

fn plain_sum(groups: &[Group]) -> u64 {
    let words = groups.iter().flat_map(|group| group.planes.as_flattened());
    words.fold(0, |sum, word| sum.wrapping_add(*word))
}

fn checksum(groups: &[Group]) -> u64 {
    Checksum::of(bytemuck::cast_slice(groups))
}

fn checksum_in_parts(groups: &[Group]) -> u64 {
    let mut checksum = Checksum::default();
    for group in groups {
        checksum.update(bytemuck::bytes_of(group));
    }
    checksum.finish()
}

fn count_legal_moves(analyzer: &dyn Analyzer, groups: &[Group]) -> u64 {
    let mut results = [GroupResults::default(); TILE];
    let mut moves = 0;
    for groups in groups.chunks(TILE) {
        analyzer.analyze(groups, Queries::MOVES, &mut results);
        for result in &results[..groups.len()] {
            moves += result.counts.iter().map(|n| n & 0xFFFF).sum::<u64>();
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn rows_are_verified_and_agree() {
        let options = BenchOptions { time: Duration::ZERO, threads: 2, ..BenchOptions::default() };
        let analyzer = Tier::best().analyzer().unwrap();
        let mut rows = Vec::new();
        measure_scan(&options, &[], analyzer, &mut |row| rows.push(row)).unwrap();
        let [cache, memory] = rows.as_chunks::<3>().0 else {
            panic!("{} rows", rows.len());
        };
        for (cache, memory) in cache.iter().zip(memory) {
            let [in_cache, in_memory] = [cache, memory].map(|row| row.measured.unwrap());
            assert!(in_cache.verified && in_memory.verified, "{}", cache.name);
            assert_eq!(in_cache.checksum, in_memory.checksum);
            assert!(memory.ratio_to_fastest(&rows).unwrap() >= 1.0);
        }
    }
}
