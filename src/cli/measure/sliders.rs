//! The slider rows: each piece, on random boards, on real ones, and with cold caches.
//!
//! The timed quantity is the *throughput* of independent queries, since that is what move generation needs. The queries
//! are the same for all algorithms. Random ones have any square and half of the board occupied, unlike any game; real
//! ones have the square of such a piece in a real position.
//!
//! The algorithms run one query after the other. The lanes of the bulk kernels, which run one query per board, get the
//! same queries in the layout of the kernels.

use super::slider_queries::{
    Query, SliderPiece, agrees, groups_of, lanes_agree, random_queries, real_queries, run_queries, run_queries_on_lanes,
};
use super::{BenchOptions, Candidate, Comparison, Row, Subject, sample_positions, samples_under_pressure};
use lanefish::Error;
use lanefish::chess::Position;
use lanefish::sliders::{Kind, Sliders, Visitor, for_each_algorithm};
use lanefish_core::kernels::{OneSlider, SliderMethod};
use lanefish_core::simd::{Scalar, Simd};
use std::fmt;

/// Queries in a burst under cache pressure: about as many as one position needs for all its sliders and rays.
const BURST: usize = 64;

/// Where queries come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cli) enum Source {
    /// Any square, half of the board occupied.
    Random,
    /// Pieces of real positions.
    Real,
    /// The real ones, in bursts after the L1 and L2 caches have been filled with other data.
    Pressure,
}

impl Source {
    /// All three.
    pub(in crate::cli) const ALL: [Self; 3] = [Self::Random, Self::Real, Self::Pressure];
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Random => "random",
            Self::Real => "real",
            Self::Pressure => "pressure",
        })
    }
}

/// Verifies and times all algorithms, the lanes last, and passes the rows to `show`. If no position has a piece,
/// [`sample_positions`] are used instead.
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
pub(in crate::cli) fn measure_sliders(
    options: &BenchOptions,
    positions: &[Position],
    show: &mut dyn FnMut(Row),
) -> Result<(), Error> {
    let random = random_queries();
    for source in Source::ALL {
        for piece in SliderPiece::ALL {
            let queries = match source {
                Source::Random => random.clone(),
                Source::Real | Source::Pressure => match real_queries(positions, piece) {
                    none if none.is_empty() => real_queries(&sample_positions(), piece),
                    queries => queries,
                },
            };
            let groups = groups_of(&queries);
            let mut rows =
                SliderRows { piece, source, queries: &queries, groups: &groups, comparison: Comparison::new(options) };
            for_each_algorithm(&mut rows);
            rows.add_lanes::<Scalar>(["lanes-fill-portable", "lanes-hyperbola-portable"]);
            #[cfg(target_arch = "x86_64")]
            {
                use lanefish_core::simd::{Avx2, Avx512};
                rows.add_lanes::<Avx2>(["lanes-fill-avx2", "lanes-hyperbola-avx2"]);
                rows.add_lanes::<Avx512>(["lanes-fill-avx512", "lanes-hyperbola-avx512"]);
            }
            rows.comparison.finish(show)?;
        }
    }
    Ok(())
}

/// The rows of one piece and source.
struct SliderRows<'a> {
    piece: SliderPiece,
    source: Source,
    queries: &'a [Query],
    groups: &'a [OneSlider],
    comparison: Comparison<'a>,
}

impl<'a> SliderRows<'a> {
    fn row(&self, name: &'static str, kind: Kind, needs: &'static [&'static str], table_bytes: usize) -> Row {
        Row {
            group: "sliders",
            name,
            kind,
            needs,
            subject: Subject::Slider { piece: self.piece, source: self.source, table_bytes },
            measured: None,
        }
    }

    fn add_lanes<S: Simd>(&mut self, names: [&'static str; 2]) {
        let (piece, source, groups) = (self.piece, self.source, self.groups);
        for (way, name) in [SliderMethod::Fill, SliderMethod::Hyperbola].into_iter().zip(names) {
            let row = self.row(name, Kind::of(S::FEATURES), S::FEATURES, 0);
            self.comparison.add(row, || {
                let simd = S::detect()?;
                let verified = lanes_agree(simd, way, piece, groups);
                let pass = move |groups: &[OneSlider]| run_queries_on_lanes(simd, way, piece, groups);
                Some(candidate(source, groups, 8, verified, pass))
            });
        }
    }
}

/// `items` contain the queries, `each` per item.
fn candidate<'a, T: Copy + Sync>(
    source: Source,
    items: &'a [T],
    each: usize,
    verified: bool,
    pass: impl Fn(&[T]) -> u64 + Sync + 'a,
) -> Candidate<'a> {
    let checksum = pass(items);
    match source {
        Source::Random | Source::Real => Candidate::passes(items, each, verified, checksum, pass),
        Source::Pressure => Candidate {
            verified,
            checksum,
            take: Box::new(move |time| {
                let mut samples = samples_under_pressure(items, BURST / each, time, &pass);
                for sample in &mut samples {
                    *sample /= each as f64;
                }
                samples
            }),
        },
    }
}

impl Visitor for SliderRows<'_> {
    fn visit<A: Sliders>(&mut self) {
        let (piece, source, queries) = (self.piece, self.source, self.queries);
        let row = self.row(A::NAME, A::KIND, A::NEEDS, A::TABLE_BYTES);
        self.comparison.add(row, || {
            let algorithm = A::detect()?;
            let verified = agrees(algorithm, piece, queries);
            let pass = move |queries: &[Query]| run_queries(algorithm, piece, queries);
            Some(candidate(source, queries, 1, verified, pass))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::slider_queries::QUERIES;
    use super::*;
    use std::collections::HashMap;
    use std::time::Duration;

    #[test]
    fn positions_without_sliders_still_have_queries() {
        let bare = [Position::from_fen_unvalidated("8/8/4k3/8/8/3K4/8/8 w - - 0 1").unwrap()];
        let queries = real_queries(&bare, SliderPiece::Queen);
        assert_eq!(queries.len(), QUERIES);
        assert!(real_queries(&[], SliderPiece::Queen).is_empty());
    }

    #[test]
    fn rows_are_verified_and_agree() {
        let options = BenchOptions { time: Duration::ZERO, ..BenchOptions::default() };
        let mut rows = Vec::new();
        measure_sliders(&options, &[], &mut |row| rows.push(row)).unwrap();
        let names: std::collections::HashSet<_> = rows.iter().map(|row| row.name).collect();
        assert!(names.len() >= 20);
        assert_eq!(rows.len(), names.len() * 9);
        let mut checksums = HashMap::new();
        for row in &rows {
            let Some(measured) = row.measured else {
                assert!(!row.needs.is_empty(), "{} runs everywhere", row.name);
                continue;
            };
            assert!(measured.verified, "{}", row.title());
            let expected = checksums.entry(row.query()).or_insert(measured.checksum);
            assert_eq!(measured.checksum, *expected, "{}", row.title());
            assert!(row.ratio_to_fastest(&rows).unwrap() >= 1.0);
        }
    }
}
