//! Queries of one slider on one square, and passes over them: what `lanefish bench sliders` times. The benchmarks under
//! criterion and the tests of the algorithms are built with this file, too.

use lanefish::chess::random::Random;
use lanefish::chess::{Bitboard, Position, Role, Square};
use lanefish::sliders::{Sliders, ray_walk::RayWalk};
use lanefish_core::kernels::{Moves, OneSlider, SliderMethod, one_slider};
use lanefish_core::simd::Simd;
use std::fmt;

/// Queries in a set: too many for a branch predictor to learn, and half of a typical L2 cache.
pub(crate) const QUERIES: usize = 1 << 15;

/// The queried slider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SliderPiece {
    Rook,
    Bishop,
    Queen,
}

impl SliderPiece {
    /// All three.
    pub(crate) const ALL: [Self; 3] = [Self::Rook, Self::Bishop, Self::Queen];

    fn role(self) -> Role {
        match self {
            Self::Rook => Role::Rook,
            Self::Bishop => Role::Bishop,
            Self::Queen => Role::Queen,
        }
    }
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

/// A query: a square and the occupancy of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    /// The square of the slider.
    pub(crate) square: Square,
    /// All occupied squares.
    pub(crate) occupied: Bitboard,
}

/// Queries on random boards, always the same.
pub(crate) fn random_queries() -> Vec<Query> {
    let mut random = Random::new(3);
    (0..QUERIES)
        .map(|_| Query { square: Square::new(random.below(64) as u8), occupied: Bitboard(random.bits()) })
        .collect()
}

/// Queries for the pieces of this kind on real boards, in the order of the positions and repeated until there are
/// enough. If no position has such a piece, the squares of other pieces are used.
///
/// Empty if no position has any piece.
pub(crate) fn real_queries(positions: &[Position], piece: SliderPiece) -> Vec<Query> {
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
pub(crate) fn run_queries<A: Sliders>(algorithm: A, piece: SliderPiece, queries: &[Query]) -> u64 {
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
pub(crate) fn agrees<A: Sliders>(algorithm: A, piece: SliderPiece, queries: &[Query]) -> bool {
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
pub(crate) fn groups_of(queries: &[Query]) -> Vec<OneSlider> {
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
pub(crate) fn run_queries_on_lanes<S: Simd>(
    simd: S,
    way: SliderMethod,
    piece: SliderPiece,
    groups: &[OneSlider],
) -> u64 {
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
pub(crate) fn lanes_agree<S: Simd>(simd: S, way: SliderMethod, piece: SliderPiece, groups: &[OneSlider]) -> bool {
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
