//! What evaluations say about moves: chances to win, losses, judgments and accuracy, as lichess.org computes them.
//!
//! The chance to win is a logistic curve of centipawns; its constant and the thresholds of judgments are public
//! (lichess.org/page/accuracy; lila, `WinPercent.scala`, `Advice.scala`, `AccuracyPercent.scala`). All arithmetic is that of
//! doubles, and `exp` is that of `libm`, so that results are the same bits on every CPU.

use super::array::{Array, Texts};
use super::batch::Batch;
use super::field::{Field, is_sentinel};
use super::fill::{raw_field, words};
use super::tile::{Tile, rows_of};
use super::values::Values;
use crate::chess::Color;
use std::sync::LazyLock;

/// An evaluation of a position, as White sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// Centipawns.
    Score(i16),
    /// The side that mates.
    Mate(Color),
}

/// The evaluation of the first position of a game that has none.
pub(crate) const OF_START: Evaluation = Evaluation::Score(15);

/// What a score is limited to in accuracies and losses of centipawns; a mate counts as this.
const MOST: i16 = 1000;

/// The constant of the curve.
const STEEPNESS: f64 = 0.003_682_08;

/// The value of `exp(-0.00368208 * score)` for each score, by its bits.
static EXPONENTIALS: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..=u16::MAX).map(|bits| libm::exp(-STEEPNESS * f64::from(bits as i16))).collect());

fn exponential(score: i16) -> f64 {
    EXPONENTIALS[usize::from(score as u16)]
}

impl Evaluation {
    /// The evaluation of a record: its score or its mate, where `side` is to move.
    pub(crate) fn of(score: Option<i16>, mate: Option<i16>, side: Color) -> Option<Self> {
        match mate {
            Some(1..) => Some(Self::Mate(Color::White)),
            Some(0) => Some(Self::Mate(!side)),
            Some(_) => Some(Self::Mate(Color::Black)),
            None => score.map(Self::Score),
        }
    }

    /// White's chance to win, from 0 to 1.
    fn win_chance(self) -> f64 {
        match self {
            Self::Score(score) => 1.0 / (1.0 + exponential(score)),
            Self::Mate(Color::White) => 1.0,
            Self::Mate(Color::Black) => 0.0,
        }
    }

    /// The chance to win of a side.
    fn chance_of(self, side: Color) -> f64 {
        match side {
            Color::White => self.win_chance(),
            Color::Black => 1.0 - self.win_chance(),
        }
    }

    /// Limited centipawns, as a side sees them.
    fn limited(self, side: Color) -> i16 {
        let score = match self {
            Self::Score(score) => score.clamp(-MOST, MOST),
            Self::Mate(Color::White) => MOST,
            Self::Mate(Color::Black) => -MOST,
        };
        if side == Color::White { score } else { -score }
    }

    /// The chance to win in percent by limited centipawns, as a side sees it.
    fn percent(self, side: Color) -> f64 {
        50.0 + 50.0 * (2.0 / (1.0 + exponential(self.limited(side))) - 1.0)
    }
}

/// The names that lichess.org has for bad moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Judgment {
    Inaccuracy,
    Mistake,
    Blunder,
}

impl Judgment {
    pub(crate) const ALL: [Self; 3] = [Self::Inaccuracy, Self::Mistake, Self::Blunder];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Inaccuracy => "inaccuracy",
            Self::Mistake => "mistake",
            Self::Blunder => "blunder",
        }
    }

    /// The name of a move by the evaluations before and after it.
    fn of(before: Evaluation, after: Evaluation, mover: Color) -> Option<Self> {
        let seen = |score: i16| if mover == Color::White { i32::from(score) } else { -i32::from(score) };
        // A score that the mover had, or has left: the larger, the less is lost.
        let by_distance = |score: i32| match (score > 700, score > 999) {
            (_, true) => Self::Inaccuracy,
            (true, false) => Self::Mistake,
            (false, false) => Self::Blunder,
        };
        match (before, after) {
            (Evaluation::Score(before), Evaluation::Score(after)) => {
                let chances = |score: i16| {
                    let score = if mover == Color::White { score } else { score.saturating_neg() };
                    2.0 / (1.0 + exponential(score)) - 1.0
                };
                match chances(before) - chances(after) {
                    0.3.. => Some(Self::Blunder),
                    0.2.. => Some(Self::Mistake),
                    0.1.. => Some(Self::Inaccuracy),
                    _ => None,
                }
            }
            (Evaluation::Score(before), Evaluation::Mate(side)) => (side != mover).then(|| by_distance(-seen(before))),
            (Evaluation::Mate(side), Evaluation::Score(after)) => (side == mover).then(|| by_distance(seen(after))),
            (Evaluation::Mate(had), Evaluation::Mate(has)) => (had == mover && has != mover).then_some(Self::Blunder),
        }
    }
}

/// How much of the mover's chance to win a move gave away.
fn loss(before: Evaluation, after: Evaluation, mover: Color) -> f64 {
    (before.chance_of(mover) - after.chance_of(mover)).max(0.0)
}

/// The same in limited centipawns.
fn loss_of_centipawns(before: Evaluation, after: Evaluation, mover: Color) -> i16 {
    (before.limited(mover) - after.limited(mover)).max(0)
}

/// The accuracy of a move, from 0 to 100.
fn accuracy(before: Evaluation, after: Evaluation, mover: Color) -> f64 {
    let lost = before.percent(mover) - after.percent(mover);
    if lost <= 0.0 {
        return 100.0;
    }
    let accuracy = 103.166_810_071_164_9 * libm::exp(-0.043_544_153_867_539_51 * lost) - 3.166_924_740_191_411 + 1.0;
    accuracy.clamp(0.0, 100.0)
}

/// What the evaluations of a game say about a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SideOfGame {
    /// From 0 to 100.
    pub(crate) accuracy: f64,
    /// The mean loss of centipawns.
    pub(crate) acpl: f64,
    /// How many moves have each [`Judgment`].
    pub(crate) judgments: [usize; 3],
}

/// What the evaluations of the positions of a game say about White and Black; nothing for a side without a move. There is
/// one more position than there are moves.
pub(crate) fn of_game(positions: &[Evaluation], movers: &[Color]) -> [Option<SideOfGame>; 2] {
    let percentages: Vec<f64> = positions.iter().map(|position| position.percent(Color::White)).collect();
    let moves = movers.len();
    let width = (moves / 10).clamp(2, 8);
    // The first windows are all the same, so that there is one for each move.
    let first = &percentages[..width.min(percentages.len())];
    let repeated = std::iter::repeat_n(first, first.len().saturating_sub(2));
    let weights: Vec<f64> =
        repeated.chain(percentages.windows(width)).map(|window| deviation(window).clamp(0.5, 12.0)).collect();
    [Color::White, Color::Black].map(|side| {
        let own = || (0..moves).filter(|&at| movers[at] == side);
        let count = own().count();
        if count == 0 {
            return None;
        }
        let [mut weighted, mut weight, mut inverse] = [0.0_f64; 3];
        let mut centipawns = 0_u64;
        let mut judgments = [0; 3];
        for at in own() {
            let (before, after) = (positions[at], positions[at + 1]);
            let of_move = accuracy(before, after, side);
            let own_weight = weights.get(at).copied().unwrap_or(0.5);
            weighted += of_move * own_weight;
            weight += own_weight;
            inverse += 1.0 / of_move.max(1.0);
            centipawns += loss_of_centipawns(before, after, side) as u64;
            if let Some(judgment) = Judgment::of(before, after, side) {
                judgments[judgment as usize] += 1;
            }
        }
        let count = count as f64;
        Some(SideOfGame {
            accuracy: (weighted / weight + count / inverse) / 2.0,
            acpl: centipawns as f64 / count,
            judgments,
        })
    })
}

/// The standard deviation of some numbers.
fn deviation(numbers: &[f64]) -> f64 {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    (numbers.iter().map(|number| (number - mean) * (number - mean)).sum::<f64>() / count).sqrt()
}

/// The evaluations of the records of a tile, and of those after their moves.
struct Evaluations {
    before: [Array; 2],
    after: [Array; 2],
    plies: Array,
    distances: Array,
}

impl Evaluations {
    fn of(tile: &Tile<'_>) -> Self {
        let field = |field| raw_field(tile, field);
        Self {
            before: [super::fill::score(tile), field(Field::Mate)],
            after: [field(Field::ScoreAfter), field(Field::MateAfter)],
            plies: field(Field::Ply),
            distances: field(Field::NextPly),
        }
    }

    /// Calls `found` with each record after whose move an evaluation stands, and with the evaluations before and after it
    /// and the side that moved. Most records have none.
    fn each(tile: &Tile<'_>, mut found: impl FnMut(usize, Evaluation, Evaluation, Color)) {
        let all = Self::of(tile);
        let [scores, mates] = [&all.after[0], &all.after[1]].map(Array::present);
        let words: Vec<u64> = scores.iter().zip(mates).map(|(scores, mates)| scores | mates).collect();
        for row in rows_of(&words) {
            if let Some((before, after, mover)) = all.of_move(tile, row) {
                found(row, before, after, mover);
            }
        }
    }

    /// The evaluations before and after the move of a record, and the side that moved.
    fn of_move(&self, tile: &Tile<'_>, row: usize) -> Option<(Evaluation, Evaluation, Color)> {
        let side = tile.board(row).side_to_move();
        let evaluation = |[score, mate]: &[Array; 2], side| {
            let [score, mate] = [score, mate].map(|values| values.number(row).map(|number| number as i16));
            Evaluation::of(score, mate, side)
        };
        let after = evaluation(&self.after, !side).filter(|_| self.distances.number(row) == Some(1))?;
        let before =
            evaluation(&self.before, side).or_else(|| (self.plies.number(row) == Some(0)).then_some(OF_START))?;
        Some((before, after, side))
    }
}

/// The columns of a batch that tell which moves have evaluations before and after them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedMoves<'a> {
    batch: &'a Batch,
    before: [Option<&'a Values<i16>>; 2],
    after: [Option<&'a Values<i16>>; 2],
    plies: Option<&'a Values<u16>>,
    distances: Option<&'a Values<u16>>,
}

impl<'a> JudgedMoves<'a> {
    pub(crate) fn of(batch: &'a Batch) -> Self {
        Self {
            batch,
            before: [Field::Score, Field::Mate].map(|field| batch.column(field)),
            after: [Field::ScoreAfter, Field::MateAfter].map(|field| batch.column(field)),
            plies: batch.column(Field::Ply),
            distances: batch.column(Field::NextPly),
        }
    }

    /// The side that moves, and what its move is called, if anything; `None` if the move is not judged.
    pub(crate) fn judgment(&self, row: usize) -> Option<(Color, Option<Judgment>)> {
        let after = self.after.map(|values| values?.get(row).copied());
        if after == [None; 2] || self.distances?.get(row) != Some(&1) {
            return None;
        }
        let side = self.batch.board(row).side_to_move();
        let after = Evaluation::of(after[0], after[1], !side)?;
        let [score, mate] = self.before.map(|values| values?.get(row).copied());
        let before = Evaluation::of(score.filter(|&score| !is_sentinel(score)), mate, side);
        let before = before.or_else(|| (self.plies?.get(row) == Some(&0)).then_some(OF_START))?;
        Some((side, Judgment::of(before, after, side)))
    }
}

/// White's chance to win.
pub(super) fn win_chances(tile: &Tile<'_>) -> Array {
    let [scores, mates] = [super::fill::score(tile), raw_field(tile, Field::Mate)];
    let words: Vec<u64> = scores.present().iter().zip(mates.present()).map(|(scores, mates)| scores | mates).collect();
    let mut values = Values::missing(tile.len);
    for row in rows_of(&words) {
        let [score, mate] = [&scores, &mates].map(|values| values.number(row).map(|number| number as i16));
        if let Some(evaluation) = Evaluation::of(score, mate, tile.board(row).side_to_move()) {
            values.set(row, evaluation.win_chance().to_bits());
        }
    }
    Array::U64(values)
}

/// A real number for each move with evaluations.
fn reals_of_moves(tile: &Tile<'_>, value: impl Fn(Evaluation, Evaluation, Color) -> f64) -> Array {
    let mut values = Values::missing(tile.len);
    Evaluations::each(tile, |row, before, after, mover| values.set(row, value(before, after, mover).to_bits()));
    Array::U64(values)
}

pub(super) fn losses(tile: &Tile<'_>) -> Array {
    reals_of_moves(tile, loss)
}

pub(super) fn losses_of_centipawns(tile: &Tile<'_>) -> Array {
    let mut values = Values::missing(tile.len);
    Evaluations::each(tile, |row, before, after, mover| values.set(row, loss_of_centipawns(before, after, mover)));
    Array::I16(values)
}

pub(super) fn judgments(tile: &Tile<'_>) -> Array {
    let mut codes = Values::missing(tile.len);
    Evaluations::each(tile, |row, before, after, mover| {
        if let Some(judgment) = Judgment::of(before, after, mover) {
            codes.set(row, judgment as u32);
        }
    });
    if codes.count_present() == 0 {
        return Array::Text(Texts::missing(tile.len));
    }
    words(Judgment::ALL.map(Judgment::name), codes)
}

pub(super) fn accuracies(tile: &Tile<'_>) -> Array {
    reals_of_moves(tile, accuracy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Color::{Black, White};
    use Evaluation::{Mate, Score};

    #[test]
    fn judgments_are_by_chances_and_mates() {
        for (before, after, mover, expected) in [
            (Score(0), Score(-55), White, Some(Judgment::Inaccuracy)),
            (Score(0), Score(-54), White, None),
            (Score(0), Score(-110), White, Some(Judgment::Inaccuracy)),
            (Score(0), Score(-111), White, Some(Judgment::Mistake)),
            (Score(0), Score(-170), White, Some(Judgment::Blunder)),
            (Score(0), Score(170), White, None),
            (Score(0), Score(170), Black, Some(Judgment::Blunder)),
            (Score(0), Mate(Black), White, Some(Judgment::Blunder)),
            (Score(-700), Mate(Black), White, Some(Judgment::Blunder)),
            (Score(-701), Mate(Black), White, Some(Judgment::Mistake)),
            (Score(-999), Mate(Black), White, Some(Judgment::Mistake)),
            (Score(-1000), Mate(Black), White, Some(Judgment::Inaccuracy)),
            (Score(1000), Mate(White), Black, Some(Judgment::Inaccuracy)),
            (Score(0), Mate(White), White, None),
            (Mate(White), Score(0), White, Some(Judgment::Blunder)),
            (Mate(White), Score(700), White, Some(Judgment::Blunder)),
            (Mate(White), Score(701), White, Some(Judgment::Mistake)),
            (Mate(White), Score(1000), White, Some(Judgment::Inaccuracy)),
            (Mate(White), Mate(Black), White, Some(Judgment::Blunder)),
            (Mate(White), Mate(White), White, None),
            (Mate(Black), Mate(Black), White, None),
            (Mate(Black), Score(0), White, None),
        ] {
            assert_eq!(Judgment::of(before, after, mover), expected, "{before:?} {after:?} {mover:?}");
        }
    }

    #[test]
    fn accuracies_fall_with_what_is_lost() {
        assert_eq!(accuracy(Score(20), Score(20), White), 100.0);
        assert_eq!(accuracy(Score(20), Score(90), White), 100.0);
        let lost = accuracy(Score(0), Score(-300), White);
        assert!((30.0..40.0).contains(&lost), "{lost}");
        assert_eq!(accuracy(Score(1000), Score(30_000), Black), 100.0);
        assert_eq!(accuracy(Mate(White), Mate(Black), White), accuracy(Score(1000), Score(-1000), White));
        assert_eq!(
            (loss_of_centipawns(Mate(White), Score(-5), White), loss(Mate(White), Mate(Black), White)),
            (1005, 1.0)
        );
    }

    #[test]
    fn a_game_has_a_window_for_each_move() {
        for moves in 1..120 {
            let positions: Vec<Evaluation> = (0..=moves).map(|at| Score((at * 37 % 200) as i16 - 100)).collect();
            let movers: Vec<Color> = (0..moves).map(|at| if at % 2 == 0 { White } else { Black }).collect();
            let [white, black] = of_game(&positions, &movers);
            assert!(white.is_some_and(|white| (0.0..=100.0).contains(&white.accuracy)));
            assert_eq!(black.is_some(), moves > 1);
        }
    }
}
