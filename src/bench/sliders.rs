//! The rows of the slider algorithms: each piece, on random boards, on real ones, and with cold caches.
//!
//! What is timed is the *throughput* of independent questions, since that is what move generation asks. The
//! questions are the same for all algorithms. Random ones have any square and half of the board occupied,
//! which no game has; real ones have the square of such a piece on the board of a real position.

use super::{Measured, Options, Row, Subject, measure_together, samples, samples_under_pressure};
use crate::chess::random::Random;
use crate::chess::{Bitboard, Position, Role, Square};
use crate::sliders::{RayWalk, Sliders, Visitor, for_each_algorithm};
use std::fmt;

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

/// Verifies and times all algorithms and shows the rows; positions without pieces are replaced by
/// [`sample_positions`].
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
            let mut entrants = Entrants {
                options,
                piece,
                source,
                questions: &questions,
                rows: Vec::new(),
                passes: Vec::new(),
            };
            for_each_algorithm(&mut entrants);
            let Entrants { rows, passes, .. } = entrants;
            let timings = measure_together(options, &passes, |entrant, time| match source {
                Source::Pressure => samples_under_pressure(&questions, BURST, time, &entrant.pass),
                Source::Random | Source::Real => samples(&questions, time, &entrant.pass),
            });
            let mut measured = passes
                .iter()
                .zip(timings)
                .map(|(entrant, timing)| Measured {
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

/// Asks all questions and sums the answers.
type Pass = dyn Fn(&[Question]) -> u64 + Sync;

/// A verified algorithm, ready to be timed.
struct Entrant {
    pass: Box<Pass>,
    verified: bool,
    checksum: u64,
}

/// Collects those algorithms that are wanted, and verifies those that the CPU can run.
struct Entrants<'a> {
    options: &'a Options,
    piece: Piece,
    source: Source,
    questions: &'a [Question],
    /// Each row, and whether there is an entrant for it.
    rows: Vec<(Row, bool)>,
    passes: Vec<Entrant>,
}

impl Visitor for Entrants<'_> {
    fn visit<A: Sliders>(&mut self) {
        let piece = self.piece;
        let row = Row {
            group: "sliders",
            name: A::NAME,
            kind: A::KIND,
            needs: A::NEEDS,
            subject: Subject::Slider {
                piece,
                source: self.source,
                table_bytes: A::TABLE_BYTES,
            },
            measured: None,
        };
        if !row.is_wanted(self.options) {
            return;
        }
        let algorithm = A::detect();
        self.rows.push((row, algorithm.is_some()));
        if let Some(algorithm) = algorithm {
            let pass = move |questions: &[Question]| ask(algorithm, piece, questions);
            self.passes.push(Entrant {
                verified: agrees(algorithm, piece, self.questions),
                checksum: pass(self.questions),
                pass: Box::new(pass),
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
