//! The slider rows: each piece, on random boards, on real ones, and with cold caches.
//!
//! The timed quantity is the *throughput* of independent queries, since that is what move generation needs. The queries
//! are the same for all algorithms. Random ones have any square and half of the board occupied, unlike any game; real
//! ones have the square of such a piece in a real position.
//!
//! The algorithms run one query after the other. The lanes of the bulk kernels, which run one query per board, get the
//! same queries in the layout of the kernels.

use super::{BenchOptions, Candidate, Comparison, Row, Subject, sample_positions, samples_under_pressure};
use crate::chess::random::Random;
use crate::chess::{Bitboard, Position, Role, Square};
use crate::error::Error;
use crate::kernels::{Moves, OneSlider, SliderMethod, one_slider};
use crate::simd::{Scalar, Simd};
use crate::sliders::{Kind, Sliders, Visitor, for_each_algorithm, ray_walk::RayWalk};
use std::fmt;

/// Queries in a set: too many for a branch predictor to learn, and half of a typical L2 cache.
const QUERIES: usize = 1 << 15;
/// Queries in a burst under cache pressure: about as many as one position needs for all its sliders and rays.
const BURST: usize = 64;

/// The queried slider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "self-explanatory")]
pub enum SliderPiece {
    Rook,
    Bishop,
    Queen,
}

/// Where queries come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Any square, half of the board occupied.
    Random,
    /// Pieces of real positions.
    Real,
    /// The real ones, in bursts after the L1 and L2 caches have been filled with other data.
    Pressure,
}

impl SliderPiece {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Rook, Self::Bishop, Self::Queen];

    fn role(self) -> Role {
        match self {
            Self::Rook => Role::Rook,
            Self::Bishop => Role::Bishop,
            Self::Queen => Role::Queen,
        }
    }
}

impl Source {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Random, Self::Real, Self::Pressure];
}

impl fmt::Display for SliderPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Rook => "rook",
            Self::Bishop => "bishop",
            Self::Queen => "queen",
        })
    }
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

/// A query: a square and the occupancy of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// The square of the slider.
    pub square: Square,
    /// All occupied squares.
    pub occupied: Bitboard,
}

/// Queries on random boards, always the same.
pub fn random_queries() -> Vec<Query> {
    let mut random = Random::new(3);
    (0..QUERIES)
        .map(|_| Query { square: Square::new(random.below(64) as u8), occupied: Bitboard(random.bits()) })
        .collect()
}

/// Queries for the pieces of this kind on real boards, in the order of the positions and repeated until there are
/// enough. If no position has such a piece, the squares of other pieces are used.
///
/// Empty if no position has any piece.
pub fn real_queries(positions: &[Position], piece: SliderPiece) -> Vec<Query> {
    let queries = |squares: fn(&Position, SliderPiece) -> Bitboard| -> Vec<Query> {
        positions
            .iter()
            .flat_map(|position| {
                let occupied = position.occupied();
                squares(position, piece).iter().map(move |square| Query { square, occupied })
            })
            .take(QUERIES)
            .collect()
    };
    let mut found = queries(|position, piece| position.role(piece.role()));
    if found.is_empty() {
        found = queries(|position, _| position.occupied());
    }
    if !found.is_empty() {
        found = found.into_iter().cycle().take(QUERIES).collect();
    }
    found
}

/// Runs all queries; returns the sum of the results.
///
/// Never inlined, so that each instance is a separate loop that can be found in a disassembly.
#[inline(never)]
pub fn run_queries<A: Sliders>(algorithm: A, piece: SliderPiece, queries: &[Query]) -> u64 {
    macro_rules! sum {
        ($attacks:ident) => {
            algorithm.enter(
                #[inline(always)]
                || {
                    let mut sum = 0u64;
                    for query in queries {
                        let attacks = algorithm.$attacks(query.square, query.occupied);
                        sum = sum.wrapping_add(attacks.0);
                    }
                    sum
                },
            )
        };
    }
    match piece {
        SliderPiece::Rook => sum!(rook),
        SliderPiece::Bishop => sum!(bishop),
        SliderPiece::Queen => sum!(queen),
    }
}

/// Whether the algorithm agrees with the ray walk on every query.
pub fn agrees<A: Sliders>(algorithm: A, piece: SliderPiece, queries: &[Query]) -> bool {
    let attacks = |query: &Query| {
        let (square, occupied) = (query.square, query.occupied);
        match piece {
            SliderPiece::Rook => [algorithm.rook(square, occupied), RayWalk.rook(square, occupied)],
            SliderPiece::Bishop => [algorithm.bishop(square, occupied), RayWalk.bishop(square, occupied)],
            SliderPiece::Queen => [algorithm.queen(square, occupied), RayWalk.queen(square, occupied)],
        }
    };
    queries.iter().all(|query| {
        let [found, expected] = attacks(query);
        found == expected
    })
}

/// The same queries in groups of eight, for the lanes, without those that do not fill a group.
pub fn groups_of(queries: &[Query]) -> Vec<OneSlider> {
    let (groups, _) = queries.as_chunks::<8>();
    groups
        .iter()
        .map(|group| {
            let from = group.map(|query| Bitboard::square(query.square).0);
            let mut occupied = group.map(|query| query.occupied.0);
            for (occupied, from) in occupied.iter_mut().zip(from) {
                *occupied |= from;
            }
            OneSlider { from, occupied }
        })
        .collect()
}

/// Runs all queries on the lanes; returns the sum of the results.
#[inline(never)]
pub fn run_queries_on_lanes<S: Simd>(simd: S, way: SliderMethod, piece: SliderPiece, groups: &[OneSlider]) -> u64 {
    macro_rules! sum {
        ($way:expr, $moves:expr) => {
            simd.enter(
                #[inline(always)]
                || {
                    let mut sums = [0u64; 8];
                    for group in groups {
                        let mut attacks = [0; 8];
                        one_slider(simd, $way, $moves, group, &mut attacks);
                        for lane in 0..8 {
                            sums[lane] = sums[lane].wrapping_add(attacks[lane]);
                        }
                    }
                    sums.into_iter().fold(0, u64::wrapping_add)
                },
            )
        };
    }
    match (way, piece) {
        (SliderMethod::Fill, SliderPiece::Rook) => sum!(SliderMethod::Fill, Moves::Rook),
        (SliderMethod::Fill, SliderPiece::Bishop) => sum!(SliderMethod::Fill, Moves::Bishop),
        (SliderMethod::Fill, SliderPiece::Queen) => sum!(SliderMethod::Fill, Moves::Queen),
        (SliderMethod::Hyperbola, SliderPiece::Rook) => sum!(SliderMethod::Hyperbola, Moves::Rook),
        (SliderMethod::Hyperbola, SliderPiece::Bishop) => sum!(SliderMethod::Hyperbola, Moves::Bishop),
        (SliderMethod::Hyperbola, SliderPiece::Queen) => sum!(SliderMethod::Hyperbola, Moves::Queen),
    }
}

/// Whether the lanes agree with the ray walk on every query.
pub fn lanes_agree<S: Simd>(simd: S, way: SliderMethod, piece: SliderPiece, groups: &[OneSlider]) -> bool {
    let moves = match piece {
        SliderPiece::Rook => Moves::Rook,
        SliderPiece::Bishop => Moves::Bishop,
        SliderPiece::Queen => Moves::Queen,
    };
    groups.iter().all(|group| {
        let mut attacks = [0; 8];
        simd.enter(
            #[inline(always)]
            || one_slider(simd, way, moves, group, &mut attacks),
        );
        (0..8).all(|lane| {
            let square = Square::new(group.from[lane].trailing_zeros() as u8);
            let occupied = Bitboard(group.occupied[lane]);
            let expected = match piece {
                SliderPiece::Rook => RayWalk.rook(square, occupied),
                SliderPiece::Bishop => RayWalk.bishop(square, occupied),
                SliderPiece::Queen => RayWalk.queen(square, occupied),
            };
            expected.0 == attacks[lane]
        })
    })
}

/// Verifies and times all algorithms, the lanes last, and passes the rows to `show`. If no position has a piece,
/// [`sample_positions`] are used instead.
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
pub fn measure_sliders(options: &BenchOptions, positions: &[Position], show: &mut dyn FnMut(Row)) -> Result<(), Error> {
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
                use crate::simd::{Avx2, Avx512};
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
