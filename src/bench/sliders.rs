//! The rows of the slider algorithms: each piece, on random boards, on real ones, and with cold caches.
//!
//! The timed quantity is the *throughput* of independent queries, since that is what move generation needs. The
//! queries are the same for all algorithms. Random ones have any square and half of the board occupied,
//! which no game has; real ones have the square of such a piece on the board of a real position.
//!
//! Beside the algorithms that run one query after the other are the lanes of the bulk kernels, which
//! run one on each of their boards. They get the same queries in the layout of the kernels.

use super::{Contest, Entrant, Options, Row, Subject, sample_positions, samples_under_pressure};
use crate::chess::random::Random;
use crate::chess::{Bitboard, Position, Role, Square};
use crate::error::Error;
use crate::kernels::{Moves, OneSlider, Way, one_slider};
use crate::simd::{Scalar, Simd};
use crate::sliders::{Kind, RayWalk, Sliders, Visitor, for_each_algorithm};
use std::fmt;

/// Queries in a set. Enough that no branch predictor learns them; as few bytes as half a typical L2 cache.
const QUESTIONS: usize = 1 << 15;
/// Queries in a burst under pressure: about as many as one position needs for all its sliders and rays.
const BURST: usize = 64;

/// The queried slider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "self-explanatory")]
pub enum Piece {
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
    /// The real ones, in bursts that find the L1 and L2 caches full of other data.
    Pressure,
}

impl Piece {
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

impl fmt::Display for Piece {
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
pub struct Question {
    /// The square of the slider.
    pub square: Square,
    /// All occupied squares.
    pub occupied: Bitboard,
}

/// Queries on random boards; always the same ones.
pub fn random_questions() -> Vec<Question> {
    let mut random = Random::new(3);
    (0..QUESTIONS)
        .map(|_| Question {
            square: Square::new(random.below(64) as u8),
            occupied: Bitboard(random.bits()),
        })
        .collect()
}

/// Queries for the pieces of this kind on real boards, in the order of the positions and repeated until
/// there are enough. If no position has such a piece, any piece will do.
///
/// Empty if no position has a piece at all.
pub fn real_questions(positions: &[Position], piece: Piece) -> Vec<Question> {
    let questions = |squares: fn(&Position, Piece) -> Bitboard| -> Vec<Question> {
        positions
            .iter()
            .flat_map(|position| {
                let occupied = position.occupied();
                squares(position, piece)
                    .iter()
                    .map(move |square| Question { square, occupied })
            })
            .take(QUESTIONS)
            .collect()
    };
    let mut found = questions(|position, piece| position.role(piece.role()));
    if found.is_empty() {
        found = questions(|position, _| position.occupied());
    }
    let different = found.len();
    if different > 0 {
        found = found.into_iter().cycle().take(QUESTIONS).collect();
    }
    found
}

/// Runs all queries; returns the sum of the results.
///
/// Never inlined, so that each is a loop of its own that can be found in a disassembly.
#[inline(never)]
pub fn ask<A: Sliders>(algorithm: A, piece: Piece, questions: &[Question]) -> u64 {
    macro_rules! sum {
        ($attacks:ident) => {
            algorithm.enter(
                #[inline(always)]
                || {
                    let mut sum = 0u64;
                    for question in questions {
                        let attacks = algorithm.$attacks(question.square, question.occupied);
                        sum = sum.wrapping_add(attacks.0);
                    }
                    sum
                },
            )
        };
    }
    match piece {
        Piece::Rook => sum!(rook),
        Piece::Bishop => sum!(bishop),
        Piece::Queen => sum!(queen),
    }
}

/// Whether the algorithm agrees with the ray walk on every query.
pub fn agrees<A: Sliders>(algorithm: A, piece: Piece, questions: &[Question]) -> bool {
    let attacks = |question: &Question| {
        let (square, occupied) = (question.square, question.occupied);
        match piece {
            Piece::Rook => [
                algorithm.rook(square, occupied),
                RayWalk.rook(square, occupied),
            ],
            Piece::Bishop => [
                algorithm.bishop(square, occupied),
                RayWalk.bishop(square, occupied),
            ],
            Piece::Queen => [
                algorithm.queen(square, occupied),
                RayWalk.queen(square, occupied),
            ],
        }
    };
    questions.iter().all(|question| {
        let [found, expected] = attacks(question);
        found == expected
    })
}

/// The same queries in groups of eight, for the lanes, without those that do not fill a group.
pub fn groups_of(questions: &[Question]) -> Vec<OneSlider> {
    let (groups, _) = questions.as_chunks::<8>();
    groups
        .iter()
        .map(|group| {
            let from = group.map(|question| Bitboard::square(question.square).0);
            let mut occupied = group.map(|question| question.occupied.0);
            for (occupied, from) in occupied.iter_mut().zip(from) {
                *occupied |= from;
            }
            OneSlider { from, occupied }
        })
        .collect()
}

/// Runs all queries on the lanes; returns the sum of the results.
#[inline(never)]
pub fn ask_lanes<S: Simd>(simd: S, way: Way, piece: Piece, groups: &[OneSlider]) -> u64 {
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
        (Way::Fill, Piece::Rook) => sum!(Way::Fill, Moves::Rook),
        (Way::Fill, Piece::Bishop) => sum!(Way::Fill, Moves::Bishop),
        (Way::Fill, Piece::Queen) => sum!(Way::Fill, Moves::Queen),
        (Way::Hyperbola, Piece::Rook) => sum!(Way::Hyperbola, Moves::Rook),
        (Way::Hyperbola, Piece::Bishop) => sum!(Way::Hyperbola, Moves::Bishop),
        (Way::Hyperbola, Piece::Queen) => sum!(Way::Hyperbola, Moves::Queen),
    }
}

/// Whether the lanes agree with the ray walk on every query.
pub fn lanes_agree<S: Simd>(simd: S, way: Way, piece: Piece, groups: &[OneSlider]) -> bool {
    let moves = match piece {
        Piece::Rook => Moves::Rook,
        Piece::Bishop => Moves::Bishop,
        Piece::Queen => Moves::Queen,
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
                Piece::Rook => RayWalk.rook(square, occupied),
                Piece::Bishop => RayWalk.bishop(square, occupied),
                Piece::Queen => RayWalk.queen(square, occupied),
            };
            expected.0 == attacks[lane]
        })
    })
}

/// Verifies and times all algorithms, the lanes last, and shows the rows; positions without pieces are
/// replaced by [`sample_positions`].
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
pub fn measure_sliders(
    options: &Options,
    positions: &[Position],
    mut show: impl FnMut(Row),
) -> Result<(), Error> {
    let random = random_questions();
    for source in Source::ALL {
        for piece in Piece::ALL {
            let questions = match source {
                Source::Random => random.clone(),
                Source::Real | Source::Pressure => match real_questions(positions, piece) {
                    none if none.is_empty() => real_questions(&sample_positions(), piece),
                    questions => questions,
                },
            };
            let groups = groups_of(&questions);
            let mut round = Round {
                piece,
                source,
                questions: &questions,
                groups: &groups,
                contest: Contest::new(options),
            };
            for_each_algorithm(&mut round);
            round.add_lanes::<Scalar>(["lanes-fill-portable", "lanes-hyperbola-portable"]);
            #[cfg(target_arch = "x86_64")]
            {
                use crate::simd::{Avx2, Avx512};
                round.add_lanes::<Avx2>(["lanes-fill-avx2", "lanes-hyperbola-avx2"]);
                round.add_lanes::<Avx512>(["lanes-fill-avx512", "lanes-hyperbola-avx512"]);
            }
            round.contest.finish(&mut show)?;
        }
    }
    Ok(())
}

/// The rows of one query.
struct Round<'a> {
    piece: Piece,
    source: Source,
    questions: &'a [Question],
    groups: &'a [OneSlider],
    contest: Contest<'a>,
}

impl<'a> Round<'a> {
    fn row(
        &self,
        name: &'static str,
        kind: Kind,
        needs: &'static [&'static str],
        table_bytes: usize,
    ) -> Row {
        Row {
            group: "sliders",
            name,
            kind,
            needs,
            subject: Subject::Slider {
                piece: self.piece,
                source: self.source,
                table_bytes,
            },
            measured: None,
        }
    }

    fn add_lanes<S: Simd>(&mut self, names: [&'static str; 2]) {
        let (piece, source, groups) = (self.piece, self.source, self.groups);
        for (way, name) in [Way::Fill, Way::Hyperbola].into_iter().zip(names) {
            let row = self.row(name, Kind::of(S::FEATURES), S::FEATURES, 0);
            self.contest.add(row, || {
                let simd = S::detect()?;
                let verified = lanes_agree(simd, way, piece, groups);
                let pass = move |groups: &[OneSlider]| ask_lanes(simd, way, piece, groups);
                Some(entrant(source, groups, 8, verified, pass))
            });
        }
    }
}

/// `items` are the queries, `each` per item.
fn entrant<'a, T: Copy + Sync>(
    source: Source,
    items: &'a [T],
    each: usize,
    verified: bool,
    pass: impl Fn(&[T]) -> u64 + Sync + 'a,
) -> Entrant<'a> {
    let checksum = pass(items);
    match source {
        Source::Random | Source::Real => Entrant::passes(items, each, verified, checksum, pass),
        Source::Pressure => Entrant {
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

impl Visitor for Round<'_> {
    fn visit<A: Sliders>(&mut self) {
        let (piece, source, questions) = (self.piece, self.source, self.questions);
        let row = self.row(A::NAME, A::KIND, A::NEEDS, A::TABLE_BYTES);
        self.contest.add(row, || {
            let algorithm = A::detect()?;
            let verified = agrees(algorithm, piece, questions);
            let pass = move |questions: &[Question]| ask(algorithm, piece, questions);
            Some(entrant(source, questions, 1, verified, pass))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::time::Duration;

    #[test]
    fn positions_without_sliders_still_ask() {
        let bare = [Position::from_fen_unvalidated("8/8/4k3/8/8/3K4/8/8 w - - 0 1").unwrap()];
        let questions = real_questions(&bare, Piece::Queen);
        assert_eq!(questions.len(), QUESTIONS);
        assert!(real_questions(&[], Piece::Queen).is_empty());
    }

    #[test]
    fn rows_are_verified_and_agree() {
        let options = Options {
            time: Duration::ZERO,
            ..Options::default()
        };
        let mut rows = Vec::new();
        measure_sliders(&options, &[], |row| rows.push(row)).unwrap();
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
            let expected = checksums.entry(row.question()).or_insert(measured.checksum);
            assert_eq!(measured.checksum, *expected, "{}", row.title());
            assert!(row.ratio_to_fastest(&rows).unwrap() >= 1.0);
        }
    }
}
