//! Values that records get from earlier records on the way to them: the last opening, the score before, the last score.
//!
//! The way to a position is the sequence of positions before it in its game. PGN knows it. Elsewhere, records of one
//! game whose plies ascend form a way. So do records without a game, as in Stockfish's formats, while their plies rise
//! by one. In formats with chains, a way does not leave its chain. Most of the work is done per chunk, on any thread
//! ([`find`]). [`History::join`] sees the chunks in order and carries values from one to the next; it changes only the
//! first rows of a chunk, up to the first one that has a value of its own.

use super::fields_from_whole_games::distinct_key;
use crate::formats::{Decoded, Remark};
use crate::packed::Packed;
use crate::table::{Array, Batch, Field, Fields, Items, Lists, Values, is_sentinel, openings};
use std::collections::{HashSet, VecDeque};

/// The fields that are found on the way.
pub(crate) const OF_HISTORY: Fields =
    Fields::of(&[Field::PositionOpening, Field::ScoreBefore, Field::LastScore, Field::History]);

/// Files whose games have no way, because their records do not follow one another.
pub(crate) static SCATTERED: Remark = Remark {
    what: "file",
    how: "with scattered games: where columns need earlier records of the game, they have no value; `lanefish shuffle \
          --by game` brings the records of each game together",
    is_detail: false,
};

/// The game of a record, if it has one, and its ply.
type Place = (Option<u64>, u16);

/// The values that a record passes on to those after it.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    opening: Option<u16>,
    /// The score of the last record.
    score: Option<i16>,
    /// The last score that is not 0.
    last_score: Option<i16>,
}

/// The way to the last record so far, and the values that it passes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    last: Option<(Place, Left)>,
    way: Way,
}

/// The positions on the way to the last record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// The last ones, at most [`EARLIER`], the last one first, each with whether it had occurred before.
    recent: VecDeque<(Packed, bool)>,
    /// The keys of all of them.
    seen: HashSet<u64>,
}

/// Number of positions before a record that it is given.
pub(crate) const EARLIER: usize = 7;

/// The value of [`Field::History`]: whether a position occurred before, and the positions before it, the last one first.
pub(in crate::formats) fn history_words(
    is_repeated: bool,
    earlier: impl Iterator<Item = (Packed, bool)>,
    words: &mut Vec<u64>,
) {
    words.push(is_repeated.into());
    for (Packed { color, types: [low, middle, high] }, is_repeated) in earlier.take(EARLIER) {
        words.extend([color, low, middle, high, is_repeated.into()]);
    }
}

impl Way {
    /// Adds the position of a record, and puts its value of [`Field::History`] in place of the words.
    fn step(&mut self, batch: &Batch, row: usize, words: &mut Vec<u64>) {
        let is_repeated = !self.seen.insert(distinct_key(batch, row));
        words.clear();
        history_words(is_repeated, self.recent.iter().copied(), words);
        self.recent.truncate(EARLIER - 1);
        self.recent.push_front((batch.board(row), is_repeated));
    }
}

fn place(batch: &Batch, row: usize) -> Option<Place> {
    let [game, ply] = [Field::Game, Field::Ply].map(|field| batch.values(field)?.number(row));
    Some((game.map(|game| game as u64), ply? as u16))
}

/// The value in a row of a column of small numbers.
fn number<T: TryFrom<i64>>(batch: &Batch, field: Field, row: usize) -> Option<T> {
    batch.values(field)?.number(row)?.try_into().ok()
}

/// The score of a record, if it is not a sentinel.
fn score(batch: &Batch, row: usize) -> Option<i16> {
    number(batch, Field::Score, row).filter(|&score| !is_sentinel(score))
}

/// The values that a record passes on once its own have been found.
fn left(batch: &Batch, row: usize) -> Left {
    let score = score(batch, row);
    Left {
        opening: number(batch, Field::PositionOpening, row),
        score,
        last_score: score.filter(|&score| score != 0).or_else(|| number(batch, Field::LastScore, row)),
    }
}

/// Gives this value to the first of these rows, up to the first one that has a value.
fn fill<T: Copy + Default>(values: Option<&mut Values<T>>, value: Option<T>, rows: usize) {
    let Some((values, value)) = values.zip(value) else {
        return;
    };
    let lacking = (0..rows).take_while(|&row| !values.is_present(row)).count();
    if lacking != 0 {
        let mut filled = Values::default();
        filled.push_many(Some(value), lacking);
        filled.extend_from(values, lacking..values.len());
        *values = filled;
    }
}

fn small(array: Option<&mut Array>) -> Option<&mut Values<u16>> {
    match array {
        Some(Array::U16(values)) => Some(values),
        _ => None,
    }
}

fn signed(array: Option<&mut Array>) -> Option<&mut Values<i16>> {
    match array {
        Some(Array::I16(values)) => Some(values),
        _ => None,
    }
}

/// Whether a record continues the way of another one.
fn continues((game, ply): Place, place: Option<Place>) -> bool {
    place.is_some_and(|place| match place {
        (Some(other), later) => game == Some(other) && later > ply,
        (None, later) => game.is_none() && ply.checked_add(1) == Some(later),
    })
}

impl History {
    /// The values passed on to a record, if it continues the way.
    fn before(&self, place: Option<Place>) -> Option<Left> {
        let (last, left) = self.last?;
        continues(last, place).then_some(left)
    }
    fn go_on(&mut self, place: Option<Place>, left: Left) {
        self.last = place.map(|place| (place, left));
    }

    /// Gives the records of the next chunk the positions on their way in earlier chunks, and goes on to the end of the chunk.
    fn join_way(&mut self, decoded: &mut Decoded) {
        let Some(way) = decoded.way.take() else { return };
        let mut last = self.last.map(|(place, _)| place).filter(|_| decoded.chains.is_none());
        let mut words = Vec::new();
        for batch in decoded.batches.iter_mut().filter(|batch| !batch.is_empty()) {
            let mut lists = Lists::new(Items::U64(Vec::new()));
            for row in 0..batch.len() {
                let place = place(batch, row);
                if !last.is_some_and(|last| continues(last, place)) {
                    last = None;
                    break;
                }
                self.way.step(batch, row, &mut words);
                lists.push_numbers(Some(&words));
                last = place;
            }
            if let Some(Array::Lists(known)) = batch.fields.get_mut(&Field::History)
                && !lists.is_empty()
            {
                let rows = lists.len()..known.len();
                lists.append(known, rows);
                *known = lists;
            }
            if last.is_none() {
                // All others are on ways that begin in the chunk.
                self.way = *way;
                return;
            }
        }
    }

    /// Continues with the records of the next chunk, whose values have been found as far as the chunk alone allows.
    pub(crate) fn join(&mut self, decoded: &mut Decoded) {
        self.join_way(decoded);
        let Decoded { batches, chains, .. } = decoded;
        if chains.is_some() {
            // They begin with the chunk.
            self.last = None;
        }
        for batch in batches.iter_mut().filter(|batch| !batch.is_empty()) {
            if let Some(before) = self.before(place(batch, 0)) {
                let lacks = |field, row, value: bool| {
                    value && batch.values(field).is_some_and(|values| !values.is_present(row))
                };
                let lacks = |row| {
                    lacks(Field::PositionOpening, row, before.opening.is_some())
                        || lacks(Field::LastScore, row, before.last_score.is_some())
                };
                let mut rows = 1;
                while rows < batch.len() && lacks(rows) {
                    self.go_on(place(batch, rows - 1), Left::default());
                    if self.before(place(batch, rows)).is_none() {
                        break;
                    }
                    rows += 1;
                }
                fill(small(batch.fields.get_mut(&Field::PositionOpening)), before.opening, rows);
                fill(signed(batch.fields.get_mut(&Field::LastScore)), before.last_score, rows);
                fill(signed(batch.fields.get_mut(&Field::ScoreBefore)), before.score, 1);
            }
            let last = batch.len() - 1;
            self.go_on(place(batch, last), left(batch, last));
        }
    }

    /// Whether these records are all on one way, so that the way to the last one may begin before them.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_one(batches: &[Batch]) -> bool {
        let mut history = Self::default();
        let mut places = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| place(batch, row)));
        let Some(first) = places.next() else {
            return true;
        };
        history.go_on(first, Left::default());
        first.is_some()
            && places.all(|place| {
                let continues = history.before(place).is_some();
                history.go_on(place, Left::default());
                continues
            })
    }
}

/// Finds the values of these fields as far as the chunk alone allows: for each position its opening in the list, or
/// else that of the last position before it on its way within the chunk; and the scores before it on that way.
pub(in crate::formats) fn find(decoded: &mut Decoded, fields: Fields) {
    if !fields.intersects(OF_HISTORY) {
        return;
    }
    let finds_openings = fields.contains(Field::PositionOpening);
    let finds_positions = fields.contains(Field::History);
    let mut history = History::default();
    let mut words = Vec::new();
    let mut starts = decoded.chains.iter().flatten().copied().peekable();
    let mut rows = 0..;
    for batch in &mut decoded.batches {
        let mut openings = Values::<u16>::default();
        let [mut scores, mut last_scores] = [Values::<i16>::default(), Values::default()];
        let mut positions = Lists::new(Items::U64(Vec::new()));
        for (row, number) in (0..batch.len()).zip(&mut rows) {
            while starts.next_if_eq(&number).is_some() {
                history = History::default();
            }
            let place = place(batch, row);
            let before = history.before(place);
            if finds_positions {
                if before.is_none() {
                    history.way = Way::default();
                }
                history.way.step(batch, row, &mut words);
                positions.push_numbers(Some(&words));
            }
            let before = before.unwrap_or_default();
            let opening = if finds_openings { opening_of(batch, row).or(before.opening) } else { None };
            let score = score(batch, row);
            let last_score = score.filter(|&score| score != 0).or(before.last_score);
            openings.push(opening);
            scores.push(before.score);
            last_scores.push(before.last_score);
            history.go_on(place, Left { opening, score, last_score });
        }
        let found = [
            (Field::PositionOpening, Array::U16(openings)),
            (Field::ScoreBefore, Array::I16(scores)),
            (Field::LastScore, Array::I16(last_scores)),
            (Field::History, Array::Lists(positions)),
        ];
        batch.fields.extend(found.into_iter().filter(|(field, _)| fields.contains(*field)));
    }
    decoded.way = finds_positions.then(|| Box::new(history.way));
}

/// The number of the opening that the list has for a position.
fn opening_of(batch: &Batch, row: usize) -> Option<u16> {
    let board = batch.board(row);
    let is_legal = || batch.position(row).is_ok_and(|position| position.en_passant_captors().any());
    openings::may_have(&board)
        .then(|| openings::number_of(&board, board.en_passant().is_some() && is_legal()))
        .flatten()
}
