//! Values of records that need other records of their game, before or after them: the time used for a move, the evaluation
//! after it, how often the position has been on the board, and the sums of whole games.
//!
//! They are found for a game when all of its records are known: where games are [selected](super::game_selection). A
//! record follows another one if its ply is one higher, or if neither has a ply. Records without a game follow one another
//! while their plies rise by one, within a chain; they have no values of whole games, and no repetitions.
//!
//! The formulas are those of `docs/time-and-mistakes.md`: time used by the clocks, judgments and accuracy as
//! lichess.org computes them (`Advice.scala` and `AccuracyPercent.scala` of lila), which [`judgments_and_accuracy`] has.

use crate::canonical::{Canonical, keys};
use crate::chess::Color;
use crate::games::WholeGameValues;
use crate::packed::Packed;
use crate::table::judgments_and_accuracy::{self, Evaluation, Judgment};
use crate::table::{Array, Batch, Clocks, Field, Fields, OF_GAME, TimeBudget, Values, is_sentinel};

/// The fields that games without evaluations have no values for, or none that matters.
const OF_EVALUATIONS: Fields =
    Fields::of(&[Field::ScoreAfter, Field::MateAfter, Field::NextPly]).union(Fields::of(&OF_GAME));

/// The values that every record has for itself.
const OF_RECORDS: Fields =
    Fields::of(&[Field::TimeUsed, Field::ScoreAfter, Field::MateAfter, Field::NextPly, Field::Repetition]);

/// The fields of White and of Black: accuracy, mean loss, and numbers of moves by [`Judgment`].
const OF_SIDES: [(Field, Field, [Field; Judgment::ALL.len()]); 2] = [
    (Field::WhiteAccuracy, Field::WhiteAcpl, [Field::WhiteInaccuracies, Field::WhiteMistakes, Field::WhiteBlunders]),
    (Field::BlackAccuracy, Field::BlackAcpl, [Field::BlackInaccuracies, Field::BlackMistakes, Field::BlackBlunders]),
];

/// The fields that need whole games.
pub(crate) const OF_WHOLE_GAMES: Fields = OF_RECORDS.union(Fields::of(&OF_GAME));

/// Makes room for these fields in every batch.
pub(super) fn make_room(batches: &mut [Batch], fields: Fields) {
    for batch in batches {
        for field in fields.iter().filter(|&field| OF_WHOLE_GAMES.contains(field)) {
            let len = batch.len();
            batch.fields.entry(field).or_insert_with(|| field.column(len));
        }
    }
}

/// The same where games without clocks and evaluations are passed over.
pub(super) fn make_room_for_annotated(batches: &mut [Batch], fields: Fields) {
    let has = |batch: &Batch, field| batch.values(field).is_some_and(|values| values.count_present() != 0);
    let has_evaluations = batches.iter().any(|batch| has(batch, Field::Score) || has(batch, Field::Mate));
    make_room(batches, if has_evaluations { fields } else { fields.without_all(OF_EVALUATIONS) });
}

/// What is known of a record.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    ply: Option<u16>,
    score: Option<i16>,
    mate: Option<i16>,
    evaluation: Option<Evaluation>,
    clock: Option<u32>,
    /// The time used, as the text says it.
    move_time: Option<u32>,
    has_move: bool,
    is_black: bool,
}

/// The records of one game, which are found once for all values.
#[derive(Debug, Default)]
struct Records {
    known: Vec<Known>,
    /// For each record, whether the next one follows it.
    is_followed: Vec<bool>,
    budget: Option<TimeBudget>,
}

impl Records {
    fn of(batches: &[&mut Vec<Batch>], rows: &[Place]) -> Self {
        let mut known = Vec::with_capacity(rows.len());
        let mut at = None;
        let mut columns = Columns::default();
        for &place in rows {
            let batch = place.batch(batches);
            if at != Some((place.part, place.batch)) {
                at = Some((place.part, place.batch));
                columns = Columns::of(batch);
            }
            known.push(columns.known(batch, place.row));
        }
        let follows = |before: &Known, after: &Known| match (before.ply, after.ply) {
            (Some(before), Some(after)) => before.checked_add(1) == Some(after),
            (None, None) => true,
            _ => false,
        };
        let is_followed = known.windows(2).map(|pair| follows(&pair[0], &pair[1])).chain([false]);
        let is_followed = is_followed.take(known.len()).collect();
        let control = rows.first().and_then(|place| {
            let batch = place.batch(batches);
            batch.values(Field::TimeControl)?.text(place.row)
        });
        let budget = control.and_then(|control| TimeBudget::of_tag(control.as_bytes()));
        Self { known, is_followed, budget }
    }

    /// The record after the move of a record.
    fn after(&self, at: usize) -> Option<&Known> {
        self.is_followed[at].then(|| &self.known[at + 1])
    }

    /// Whether a move was played from the position of a record.
    fn is_moved(&self, at: usize) -> bool {
        self.is_followed[at] || self.known[at].has_move
    }

    /// Whether the records are those of all positions of a game.
    fn is_whole(&self) -> bool {
        let all_but_last = &self.is_followed[..self.is_followed.len().saturating_sub(1)];
        self.known.first().is_some_and(|first| first.ply == Some(0)) && all_but_last.iter().all(|&followed| followed)
    }

    /// The evaluation of the position of a record; that of the first position is known without one.
    fn evaluation(&self, at: usize) -> Option<Evaluation> {
        let Known { ply, evaluation, .. } = self.known[at];
        evaluation.or_else(|| (ply == Some(0)).then_some(judgments_and_accuracy::OF_START))
    }

    /// The time used for the move of each record, in centiseconds.
    fn times_used(&self) -> Vec<Option<u32>> {
        let mut clocks = [Clocks::default(); 2];
        let mut times = Vec::with_capacity(self.known.len());
        for (at, record) in self.known.iter().enumerate() {
            if at > 0 && !self.is_followed[at - 1] {
                clocks = [Clocks::default(); 2];
            }
            let side = &mut clocks[usize::from(record.is_black)];
            let by_clock = side.time_used(self.budget, record.ply, record.clock);
            let is_moved = self.is_moved(at);
            times.push(record.move_time.or(by_clock).filter(|_| is_moved));
        }
        times
    }

    /// The values that all records of the game share.
    fn values_of_game(&self, times: Option<&[Option<u32>]>) -> WholeGameValues {
        let mut values = WholeGameValues::default();
        let moves: Vec<usize> = (0..self.known.len()).filter(|&at| self.is_moved(at)).collect();
        let evaluated =
            moves.iter().filter(|&&at| self.after(at).is_some_and(|after| after.evaluation.is_some())).count();
        let clocked = moves.iter().filter(|&&at| self.known[at].clock.is_some()).count();
        let small = |count: usize| Some(count.min(u16::MAX.into()) as u64);
        let mut put = |field, value: Option<u64>| {
            if let Some(place) = OF_GAME.iter().position(|&other| other == field) {
                values[place] = value;
            }
        };
        put(Field::EvaluatedPlies, small(evaluated));
        put(Field::ClockedPlies, small(clocked));
        if let Some(times) = times.filter(|_| self.is_whole()) {
            for (side, field) in [Field::WhiteTime, Field::BlackTime].into_iter().enumerate() {
                let own = moves.iter().filter(|&&at| usize::from(self.known[at].is_black) == side);
                let mut sum = None;
                for &at in own {
                    let Some(time) = times[at] else {
                        sum = None;
                        break;
                    };
                    sum = Some(sum.unwrap_or(0) + u64::from(time));
                }
                put(field, sum.filter(|&sum| sum <= u32::MAX.into()));
            }
        }
        // An evaluation stands after every move, or after all but the last one.
        let first_without = moves.iter().position(|&at| self.after(at).is_none_or(|after| after.evaluation.is_none()));
        let is_complete = first_without.is_none_or(|first| first + 1 == moves.len());
        if !self.is_whole() || !is_complete || evaluated == 0 {
            return values;
        }
        let positions: Vec<Evaluation> = (0..=evaluated).filter_map(|at| self.evaluation(at)).collect();
        if positions.len() != evaluated + 1 {
            return values;
        }
        let movers: Vec<Color> = self.known[..evaluated]
            .iter()
            .map(|known| if known.is_black { Color::Black } else { Color::White })
            .collect();
        let game = judgments_and_accuracy::of_game(&positions, &movers);
        for (of_side, (accuracy, acpl, judgments)) in game.into_iter().zip(OF_SIDES) {
            let Some(of_side) = of_side else { continue };
            put(accuracy, Some(of_side.accuracy.to_bits()));
            put(acpl, Some(of_side.acpl.to_bits()));
            for (field, count) in judgments.into_iter().zip(of_side.judgments) {
                put(field, small(count));
            }
        }
        values
    }
}

/// The columns of a batch that are read, found once.
#[derive(Debug, Default)]
struct Columns<'a> {
    plies: Option<&'a Values<u16>>,
    scores: Option<&'a Values<i16>>,
    mates: Option<&'a Values<i16>>,
    clocks: Option<&'a Values<u32>>,
    move_times: Option<&'a Values<u32>>,
    moves: Option<&'a Values<u16>>,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a Batch) -> Self {
        let signed = |field| match batch.values(field) {
            Some(Array::I16(values)) => Some(values),
            _ => None,
        };
        let times = |field| match batch.values(field) {
            Some(Array::U32(values)) => Some(values),
            _ => None,
        };
        let small = |field| match batch.values(field) {
            Some(Array::U16(values)) => Some(values),
            _ => None,
        };
        Self {
            plies: small(Field::Ply),
            scores: signed(Field::Score),
            mates: signed(Field::Mate),
            clocks: times(Field::Clock),
            move_times: times(Field::MoveTime),
            moves: small(Field::Move),
        }
    }

    fn known(&self, batch: &Batch, row: usize) -> Known {
        let score = self.scores.and_then(|scores| scores.get(row)).copied().filter(|&score| !is_sentinel(score));
        let mate = self.mates.and_then(|mates| mates.get(row)).copied();
        let side = batch.board(row).side_to_move();
        Known {
            ply: self.plies.and_then(|plies| plies.get(row)).copied(),
            score,
            mate,
            evaluation: Evaluation::of(score, mate, side),
            clock: self.clocks.and_then(|clocks| clocks.get(row)).copied(),
            move_time: self.move_times.and_then(|times| times.get(row)).copied(),
            has_move: self.moves.and_then(|moves| moves.get(row)).is_some_and(|&bits| bits != 0),
            is_black: side == Color::Black,
        }
    }
}

/// The place of a record among the records of some chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) part: usize,
    pub(super) batch: usize,
    pub(super) row: usize,
}

impl Place {
    fn batch<'a>(self, parts: &'a [&mut Vec<Batch>]) -> &'a Batch {
        &parts[self.part][self.batch]
    }
}

/// Finds the values of these fields for the records of a game, which has a number or is only a way of positions. There is
/// [room](make_room) for them.
pub(super) fn find(parts: &mut [&mut Vec<Batch>], rows: &[Place], fields: Fields, is_game: bool) {
    find_with(parts, rows, fields, (is_game, rows), Records::of);
}

/// The same for a game with clocks or evaluations, where the values of the game itself are set in its first record only.
/// Other games get no values, and neither does a record without others of its game beside it.
pub(super) fn find_of_annotated(parts: &mut [&mut Vec<Batch>], rows: &[Place], fields: Fields) {
    if rows.len() < 2 {
        return;
    }
    let records = Records::of(parts, rows);
    let has_evaluations = records.known.iter().any(|known| known.evaluation.is_some());
    let fields = if has_evaluations { fields } else { fields.without_all(OF_EVALUATIONS) };
    find_with(parts, rows, fields, (true, &rows[..1]), |_, _| records);
}

/// The same, with the rows in which the values of a game are set.
fn find_with(
    parts: &mut [&mut Vec<Batch>],
    rows: &[Place],
    fields: Fields,
    (is_game, rows_of_game): (bool, &[Place]),
    records_of: impl FnOnce(&[&mut Vec<Batch>], &[Place]) -> Records,
) {
    if !fields.intersects(OF_WHOLE_GAMES) || rows.is_empty() {
        return;
    }
    let only_repetitions = fields.intersection(OF_WHOLE_GAMES).without(Field::Repetition).is_empty();
    let records = if only_repetitions { Records::default() } else { records_of(parts, rows) };
    let times_are_needed =
        [Field::TimeUsed, Field::WhiteTime, Field::BlackTime].iter().any(|&field| fields.contains(field));
    let times = times_are_needed.then(|| records.times_used());
    if let Some(times) = &times
        && fields.contains(Field::TimeUsed)
    {
        set(parts, rows, Field::TimeUsed, |at| times[at].map(u64::from));
    }
    if fields.intersects(Fields::of(&[Field::ScoreAfter, Field::MateAfter, Field::NextPly])) {
        let next = |at: usize| records.known.get(at + 1);
        if fields.contains(Field::ScoreAfter) {
            set(parts, rows, Field::ScoreAfter, |at| next(at)?.score.map(|score| score as u64));
        }
        if fields.contains(Field::MateAfter) {
            set(parts, rows, Field::MateAfter, |at| next(at)?.mate.map(|mate| mate as u64));
        }
        if fields.contains(Field::NextPly) {
            set(parts, rows, Field::NextPly, |at| match (records.known[at].ply, next(at)?.ply) {
                (Some(before), Some(after)) => Some(after.saturating_sub(before).into()),
                _ => Some(1),
            });
        }
    }
    if is_game && fields.contains(Field::Repetition) {
        // Keys are hashes already: a place for each, or the next one that is free.
        let mask = (2 * rows.len()).next_power_of_two() - 1;
        let mut seen: Vec<(u64, u8)> = vec![(0, 0); mask + 1];
        let count = |place: &Place| {
            let key = distinct_key(place.batch(parts), place.row);
            let mut at = key as usize & mask;
            while seen[at].1 != 0 && seen[at].0 != key {
                at = (at + 1) & mask;
            }
            seen[at] = (key, seen[at].1.saturating_add(1));
            Some(u64::from(seen[at].1))
        };
        let numbers: Vec<Option<u64>> = rows.iter().map(count).collect();
        set(parts, rows, Field::Repetition, |at| numbers[at]);
    }
    if is_game && OF_GAME.iter().any(|&field| fields.contains(field)) {
        let values = records.values_of_game(times.as_deref());
        for (field, value) in OF_GAME.into_iter().zip(values) {
            if fields.contains(field) {
                set(parts, rows_of_game, field, |_| value);
            }
        }
    }
}

/// The column `distinct_key` of a record.
pub(super) fn distinct_key(batch: &Batch, row: usize) -> u64 {
    let board = batch.board(row);
    let is_legal = || batch.position(row).is_ok_and(|position| position.en_passant_captors().any());
    position_key(&board, board.en_passant().is_some() && is_legal())
}

/// The same for a board, whose en passant square counts or does not.
pub(in crate::formats) fn position_key(board: &Packed, has_en_passant: bool) -> u64 {
    let [.., key] = keys(&Canonical::of(board, has_en_passant));
    key
}

/// Sets a field of records.
fn set(parts: &mut [&mut Vec<Batch>], rows: &[Place], field: Field, value: impl Fn(usize) -> Option<u64>) {
    let mut at = 0;
    while at < rows.len() {
        let Place { part, batch, .. } = rows[at];
        let same = rows[at..].iter().take_while(|place| (place.part, place.batch) == (part, batch)).count();
        if let Some(values) = parts[part][batch].fields.get_mut(&field) {
            for (number, place) in rows[at..at + same].iter().enumerate() {
                if let Some(bits) = value(at + number) {
                    values.set_bits(place.row, bits);
                }
            }
        }
        at += same;
    }
}
