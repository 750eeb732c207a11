//! The rows of the slider algorithms: each piece, on random boards, on real ones, and with cold caches.
//!
//! What is timed is the *throughput* of independent questions, since that is what move generation asks. The
//! questions are the same for all algorithms. Random ones have any square and half of the board occupied,
//! which no game has; real ones have the square of such a piece on the board of a real position.
//!
//! Beside the algorithms that answer one question after the other stand the lanes of the bulk kernels, which
//! answer one on each of their boards. They get the same questions, laid out as the kernels have them.

use super::{Measured, Options, Row, Subject, measure_together, samples, samples_under_pressure};
use crate::chess::random::Random;
use crate::chess::{Bitboard, Position, Role, Square};
use crate::kernels::{Moves, OneSlider, Way, one_slider};
use crate::simd::{Scalar, Simd};
use crate::sliders::{Kind, RayWalk, Sliders, Visitor, for_each_algorithm};
use std::fmt;
use std::time::Duration;

/// Real positions for those who bring none: see the first lines of the file for where they come from.
const SAMPLE: &str = include_str!("../../data/lichess-2025-05.epd");

/// Questions in a set. Enough that no branch predictor learns them; as few bytes as half a typical L2 cache.
const QUESTIONS: usize = 1 << 15;
/// Questions in a burst under pressure: about what one position asks for all its sliders and rays.
const BURST: usize = 64;

/// Which slider is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all")]
pub enum Piece {
    Rook,
    Bishop,
    Queen,
}

/// Where questions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Any square, half of the board occupied.
    Random,
    /// Pieces of real positions.
    Real,
    /// The real ones, in bursts that find the first two levels of the cache full of other data.
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

/// A square, and what stands on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Where the slider stands.
    pub square: Square,
    /// All occupied squares.
    pub occupied: Bitboard,
}

/// The 2,000 real positions that come with the crate.
pub fn sample_positions() -> Vec<Position> {
    SAMPLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Position::from_fen(line).ok())
        .collect()
}

/// Questions on random boards; always the same ones.
pub fn random_questions() -> Vec<Question> {
    let mut random = Random::new(3);
    (0..QUESTIONS)
        .map(|_| Question {
            square: Square::new(random.below(64) as u8),
            occupied: Bitboard(random.bits()),
        })
        .collect()
}

/// Questions for the pieces of this kind on real boards, in the order of the positions and repeated until
/// there are enough. Where no position has such a piece, any piece will do.
///
/// Empty when no position has a piece at all.
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

/// Asks the algorithm all questions; the sum of the answers.
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

/// Whether the algorithm answers every question as the ray walk does.
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

/// The same questions in groups of eight, for the lanes; those that do not fill a group are left out.
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

/// Asks the lanes all questions; the sum of the answers.
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

/// Whether the lanes answer every question as the ray walk does.
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
pub fn measure_sliders(options: &Options, positions: &[Position], mut show: impl FnMut(Row)) {
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
            let mut entrants = Entrants {
                options,
                piece,
                source,
                questions: &questions,
                groups: &groups,
                rows: Vec::new(),
                ready: Vec::new(),
            };
            for_each_algorithm(&mut entrants);
            entrants.add_lanes::<Scalar>(["lanes-fill-portable", "lanes-hyperbola-portable"]);
            #[cfg(target_arch = "x86_64")]
            {
                use crate::simd::{Avx2, Avx512};
                entrants.add_lanes::<Avx2>(["lanes-fill-avx2", "lanes-hyperbola-avx2"]);
                entrants.add_lanes::<Avx512>(["lanes-fill-avx512", "lanes-hyperbola-avx512"]);
            }
            let Entrants { rows, ready, .. } = entrants;
            let timings = measure_together(options, &ready, |entrant, time| (entrant.take)(time));
            let mut measured = ready.iter().zip(timings).map(|(entrant, timing)| Measured {
                verified: entrant.verified,
                checksum: entrant.checksum,
                timing,
            });
            for (mut row, available) in rows {
                row.measured = available.then(|| measured.next()).flatten();
                show(row);
            }
        }
    }
}

/// Takes samples for so long, in nanoseconds for one question.
type Take<'a> = dyn Fn(Duration) -> Vec<f64> + Sync + 'a;

/// A verified algorithm, ready to be timed.
struct Entrant<'a> {
    take: Box<Take<'a>>,
    verified: bool,
    checksum: u64,
}

/// Collects those algorithms that are wanted, and verifies those that the CPU can run.
struct Entrants<'a> {
    options: &'a Options,
    piece: Piece,
    source: Source,
    questions: &'a [Question],
    groups: &'a [OneSlider],
    /// Each row, and whether there is an entrant for it.
    rows: Vec<(Row, bool)>,
    ready: Vec<Entrant<'a>>,
}

impl<'a> Entrants<'a> {
    fn row(
        &self,
        name: &'static str,
        kind: Kind,
        needs: &'static [&'static str],
        table_bytes: usize,
    ) -> Option<Row> {
        let row = Row {
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
        };
        row.is_wanted(self.options).then_some(row)
    }

    /// `items` are the questions, `each` to an item.
    fn add<T: Copy + Sync>(
        &mut self,
        items: &'a [T],
        each: usize,
        verified: bool,
        pass: impl Fn(&[T]) -> u64 + Sync + 'a,
    ) {
        let source = self.source;
        let checksum = pass(items);
        let take = move |time| {
            let mut samples = match source {
                Source::Pressure => samples_under_pressure(items, BURST / each, time, &pass),
                Source::Random | Source::Real => samples(items, time, &pass),
            };
            for sample in &mut samples {
                *sample /= each as f64;
            }
            samples
        };
        self.ready.push(Entrant {
            take: Box::new(take),
            verified,
            checksum,
        });
    }

    fn add_lanes<S: Simd>(&mut self, names: [&'static str; 2]) {
        let (piece, groups) = (self.piece, self.groups);
        for (way, name) in [Way::Fill, Way::Hyperbola].into_iter().zip(names) {
            let kind = match S::FEATURES {
                [] => Kind::Portable,
                _ => Kind::Intrinsic,
            };
            let Some(row) = self.row(name, kind, S::FEATURES, 0) else {
                continue;
            };
            let simd = S::detect();
            self.rows.push((row, simd.is_some()));
            if let Some(simd) = simd {
                let verified = lanes_agree(simd, way, piece, groups);
                self.add(groups, 8, verified, move |groups| {
                    ask_lanes(simd, way, piece, groups)
                });
            }
        }
    }
}

impl Visitor for Entrants<'_> {
    fn visit<A: Sliders>(&mut self) {
        let (piece, questions) = (self.piece, self.questions);
        let Some(row) = self.row(A::NAME, A::KIND, A::NEEDS, A::TABLE_BYTES) else {
            return;
        };
        let algorithm = A::detect();
        self.rows.push((row, algorithm.is_some()));
        if let Some(algorithm) = algorithm {
            let verified = agrees(algorithm, piece, questions);
            self.add(questions, 1, verified, move |questions| {
                ask(algorithm, piece, questions)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::time::Duration;

    #[test]
    fn the_sample_is_whole() {
        assert_eq!(sample_positions().len(), 2000);
    }

    #[test]
    fn positions_without_sliders_still_ask() {
        let bare = [Position::from_fen("8/8/4k3/8/8/3K4/8/8 w - - 0 1").unwrap()];
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
        measure_sliders(&options, &[], |row| rows.push(row));
        let names: std::collections::HashSet<_> = rows.iter().map(|row| row.name).collect();
        assert!(names.len() >= 20);
        assert_eq!(rows.len(), names.len() * 9);
        let mut checksums = HashMap::new();
        for row in &rows {
            let Subject::Slider { piece, source, .. } = row.subject;
            let Some(measured) = row.measured else {
                assert!(!row.needs.is_empty(), "{} runs everywhere", row.name);
                continue;
            };
            assert!(measured.verified, "{}", row.title());
            let expected = checksums
                .entry((piece, source))
                .or_insert(measured.checksum);
            assert_eq!(measured.checksum, *expected, "{}", row.title());
            assert!(row.ratio_to_fastest(&rows).unwrap() >= 1.0);
        }
    }
}
