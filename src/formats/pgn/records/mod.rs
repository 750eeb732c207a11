//! Records the positions of games straight into groups, with the requested columns.

mod comment_commands;
mod deferred_replay;

pub(super) use comment_commands::reads;
pub(super) use deferred_replay::LaterRow;

use super::comment_values::{Eval, LONGEST_CLOCK, NO_SCORE, is_score, mate_of};
use crate::chess::{Color, Move};
use crate::choose::hash_on;
use crate::formats::codec::fields_from_whole_games::position_key;
use crate::formats::codec::game_history::history_words;
use crate::kernels::replay::Order;
use crate::packed::{Group, Packed};
use crate::replay::{Board, OrderRows};
use crate::table::openings;
use crate::table::{Array, Batch, Field, Fields, Items, Lists, Values, bits_where};
use deferred_replay::{DeferredRow, TILE};
use std::collections::HashSet;

/// The requested columns of each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Requested {
    pub(super) moves: bool,
    pub(super) plies: bool,
    pub(super) scores: bool,
    pub(super) clocks: bool,
    pub(super) move_times: bool,
    pub(super) pseudo_en_passants: bool,
    pub(super) openings: bool,
    pub(super) scores_before: bool,
    /// The positions before each.
    pub(super) histories: bool,
    /// The row of the position before each, where that is not always the row before.
    pub(super) parents: bool,
    /// The rows of the positions in variations.
    pub(super) variations: bool,
    /// Whether to find out if the texts of games contain [more](Records::may_lose_text) than is read.
    pub(super) texts: bool,
    /// Whether games may be played [later](Records::play).
    pub(super) lanes: bool,
}

/// A number that no opening has.
const NO_OPENING: u16 = u16::MAX;
/// A number that no row has.
const NO_ROW: u32 = u32::MAX;
/// Means no square: pawns never pass over a1.
const NO_SQUARE: u8 = 0;
const NO_CLOCK: u32 = LONGEST_CLOCK;

/// Recorded positions.
#[derive(Debug)]
pub(super) struct Records {
    requested: Requested,
    groups: Vec<Group>,
    halfmove: Vec<u16>,
    fullmove: Vec<u16>,
    /// [`Move::to_bits`] of the move played, 0 for none.
    moves: Vec<u16>,
    plies: Vec<u16>,
    /// [`Eval::packed`](super::comment_values::Eval::packed), up to the last row that has one; likewise the clocks.
    scores: Vec<i16>,
    clocks: Vec<u32>,
    /// The times used for moves, as comments say them, up to the last row that has one.
    move_times: Vec<u32>,
    /// Squares of [`Field::KeyEnPassant`], up to the last row that has one.
    pseudo_en_passants: Vec<u8>,
    /// Numbers of openings, as far as they have been [found](Self::find_openings).
    openings: Vec<u16>,
    /// [`Field::ScoreBefore`] and [`Field::LastScore`], as far as they have been [found](Self::find_scores_before).
    scores_before: Vec<i16>,
    last_scores: Vec<i16>,
    /// [`Field::History`], as far as it has been [found](Self::find_histories).
    histories: Vec<Box<[u64]>>,
    /// The row of the position before each, or [`NO_ROW`].
    parents: Vec<u32>,
    /// The rows of the game that are in variations, if they are requested.
    variations: Vec<usize>,
    /// The evaluations of the game that could not be read.
    unread: Unread,
    /// The evaluations of the game beyond the range of scores or mates.
    beyond: Unread,
    /// The clocks of the game that were not read.
    unread_clocks: Unread,
    /// The mates in the comments of engines of the game.
    mates: Mates,
    /// Whether the text of the game may contain more than is read.
    has_more_text: bool,
    /// How the position of each row of the tile is reached, if games may be played later.
    orders: Option<OrderRows>,
    /// The rows of the tiles before that could not be played.
    failed: Vec<usize>,
    /// The games of which not all rows are kept, if they are played later.
    apart: DeferredRow,
    /// The first row of the game, if it is played later.
    played_later_from: Option<usize>,
    /// The row of its last position.
    last_row: LaterRow,
}

/// Text that looks like evaluations but could not be read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    pub(super) count: u64,
    /// The first of them, as shown.
    pub(super) first: Option<Box<str>>,
}

/// The mates in the comments of engines of a game. cutechess and programs like it count plies to the mate, others moves.
/// In plies, the number of the side that mates is odd, and that of the other side is even; if the number of some comment
/// is not, those of the game are moves.
#[derive(Debug, Default)]
struct Mates {
    /// The rows that have a number of a comment.
    rows: Vec<usize>,
    /// Whether some number cannot be one of plies.
    are_moves: bool,
}

impl Mates {
    fn clear(&mut self) {
        self.rows.clear();
        self.are_moves = false;
    }
    /// Adds the number of a comment, as White sees it, on a move of this colour, and the row that has the number now.
    #[cold]
    fn add(&mut self, number: i16, mover: Color, row: Option<usize>) {
        let mover_mates = (number > 0) == (mover == Color::White);
        self.are_moves |= number != 0 && mover_mates != (number % 2 != 0);
        self.rows.extend(row);
    }
}

/// Moves to mate, from plies.
fn moves_of_plies(plies: i16) -> i16 {
    plies / 2 + plies % 2
}

/// Maximum number of letters of a comment that a note quotes.
const SHOWN: usize = 60;

impl Unread {
    #[cold]
    fn add(&mut self, comment: &[u8]) {
        self.count += 1;
        self.first.get_or_insert_with(|| {
            let text = String::from_utf8_lossy(&comment[..comment.len().min(4 * SHOWN)]);
            let words: Vec<&str> = text.split_whitespace().collect();
            let text = words.join(" ").replace(crate::text::one_line::is_control, "\u{FFFD}");
            let mut shown: String = text.chars().take(SHOWN).collect();
            if shown.len() < text.len() || comment.len() > 4 * SHOWN {
                shown.push('…');
            }
            shown.into()
        });
    }
}

/// The number of positions of `all` bytes of text, estimated from the beginning of the text.
pub(super) fn estimated_rows(text: &[u8], all: usize) -> usize {
    /// Bytes of a position in games of Lichess with clocks, and in games without comments.
    const WITH_COMMENTS: usize = 30;
    const PLAIN: usize = 14;
    let beginning = &text[..text.len().min(1 << 12)];
    all / if beginning.contains(&b'{') { WITH_COMMENTS } else { PLAIN }
}

/// The number of positions of a text, estimated from those of its beginning, with some more for what differs.
pub(super) fn rows_of_whole(rows: usize, beginning: usize, whole: usize) -> usize {
    let rows = (rows as u128 * whole as u128 / beginning.max(1) as u128) as usize;
    rows + rows / 16
}

/// Sets the value of a row in a column that ends with its last value, unless it has one already: if there are two
/// commands, the first counts.
#[inline]
fn note<T: Copy + PartialEq>(column: &mut Vec<T>, row: usize, value: T, missing: T) {
    if column.len() == row {
        // Mostly, every row has a value.
        return column.push(value);
    }
    if column.len() <= row {
        column.resize(row + 1, missing);
    }
    if column[row] == missing {
        column[row] = value;
    }
}

impl Records {
    /// Makes room for this number of records.
    pub(super) fn new(requested: Requested, rows: usize) -> Self {
        fn room<T>(is_requested: bool, rows: usize) -> Vec<T> {
            Vec::with_capacity(if is_requested { rows } else { 0 })
        }
        Self {
            requested,
            groups: room(true, rows / Group::LEN),
            halfmove: room(true, rows),
            fullmove: room(true, rows),
            moves: room(requested.moves, rows),
            plies: room(requested.plies, rows),
            scores: Vec::new(),
            // Many games have none.
            clocks: Vec::new(),
            move_times: Vec::new(),
            pseudo_en_passants: Vec::new(),
            openings: room(requested.openings, rows),
            scores_before: room(requested.scores_before, rows),
            last_scores: room(requested.scores_before, rows),
            histories: Vec::new(),
            parents: Vec::new(),
            variations: Vec::new(),
            unread: Unread::default(),
            beyond: Unread::default(),
            unread_clocks: Unread::default(),
            mates: Mates::default(),
            has_more_text: false,
            orders: requested.lanes.then(|| OrderRows::with_capacity(rows.min(2 * TILE))),
            failed: Vec::new(),
            apart: DeferredRow::default(),
            played_later_from: None,
            last_row: LaterRow::Kept(0),
        }
    }

    /// Makes room for this number of records altogether.
    pub(super) fn reserve(&mut self, rows: usize) {
        fn reserve<T>(is_requested: bool, column: &mut Vec<T>, rows: usize) {
            if is_requested {
                column.reserve_exact(rows.saturating_sub(column.len()));
            }
        }
        let Requested { moves, plies, clocks, openings, scores_before, .. } = self.requested;
        reserve(true, &mut self.groups, rows.div_ceil(Group::LEN));
        reserve(true, &mut self.halfmove, rows);
        reserve(true, &mut self.fullmove, rows);
        reserve(moves, &mut self.moves, rows);
        reserve(plies, &mut self.plies, rows);
        reserve(clocks && !self.clocks.is_empty(), &mut self.clocks, rows);
        reserve(openings, &mut self.openings, rows);
        reserve(scores_before, &mut self.scores_before, rows);
        reserve(scores_before, &mut self.last_scores, rows);
    }

    /// Begins a game.
    pub(super) fn begin_game(&mut self) {
        self.unread = Unread::default();
        self.beyond = Unread::default();
        self.unread_clocks = Unread::default();
        self.mates.clear();
        self.has_more_text = false;
        self.played_later_from = None;
        self.variations.clear();
    }

    /// Notes that a row is in a variation.
    #[inline]
    pub(super) fn is_in_variation(&mut self, row: usize) {
        if self.requested.variations {
            self.variations.push(row);
        }
    }

    /// The rows of the game that are in variations.
    pub(super) fn take_variations(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.variations)
    }

    /// The evaluations of the game that could not be read.
    pub(super) fn take_unread(&mut self) -> Unread {
        std::mem::take(&mut self.unread)
    }

    /// The clocks of the game that were not read.
    pub(super) fn take_unread_clocks(&mut self) -> Unread {
        std::mem::take(&mut self.unread_clocks)
    }

    /// The evaluations of the game that are beyond the range of scores or mates.
    pub(super) fn take_beyond(&mut self) -> Unread {
        std::mem::take(&mut self.beyond)
    }

    /// Turns the mates in the comments of engines of the game into moves, if they are plies.
    pub(super) fn settle_mates(&mut self) {
        if !self.mates.are_moves {
            for &row in &self.mates.rows {
                if let Some(score) = self.scores.get_mut(row) {
                    *score = Eval::Mate(moves_of_plies(mate_of(*score))).packed();
                }
            }
        }
        self.mates.clear();
    }

    /// If texts are requested: whether the text of the game may contain more than moves and commands that are read.
    pub(super) fn may_lose_text(&self) -> bool {
        self.has_more_text
    }

    /// Notes that there is a variation, a NAG, or a comment that is not read completely.
    #[inline(always)]
    pub(super) fn has_more_text(&mut self) {
        self.has_more_text = true;
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.halfmove.len()
    }

    /// Records a position; returns its row.
    #[inline(always)]
    pub(super) fn push(&mut self, board: Board, ply: u32) -> usize {
        let row = self.len();
        self.put(board.packed(), board.halfmove, board.fullmove);
        if self.requested.moves {
            self.moves.push(0);
        }
        if self.requested.plies {
            self.plies.push(ply.min(u16::MAX.into()) as u16);
        }
        if self.requested.pseudo_en_passants
            && let Some(square) = board.pseudo_en_passant()
        {
            note(&mut self.pseudo_en_passants, row, square, NO_SQUARE);
        }
        row
    }

    #[inline(always)]
    fn put(&mut self, board: Packed, halfmove: u16, fullmove: u16) {
        let (group, lane) = (self.len() / Group::LEN, self.len() % Group::LEN);
        if lane == 0 {
            self.groups.push(Group::default());
        }
        self.groups[group].set(lane, board);
        self.halfmove.push(halfmove);
        self.fullmove.push(fullmove);
        if let Some(orders) = &mut self.orders {
            orders.push(Order::NONE);
        }
    }

    /// Sets the evaluation of the position of a row.
    #[cfg(feature = "parquet")]
    #[inline]
    pub(super) fn set_score(&mut self, row: usize, eval: Eval) {
        if self.requested.scores {
            note(&mut self.scores, row, eval.packed(), NO_SCORE);
        }
    }

    /// Sets the clock, in centiseconds, after the move that is played from the position of a row.
    #[cfg(feature = "parquet")]
    #[inline]
    pub(super) fn set_clock(&mut self, row: usize, clock: u32) {
        if self.requested.clocks {
            note(&mut self.clocks, row, clock, NO_CLOCK);
        }
    }

    /// Records the move that is played from the position of a row.
    #[inline(always)]
    pub(super) fn played(&mut self, row: Option<usize>, bits: u16) {
        if self.requested.moves
            && let Some(row) = row
        {
            self.moves[row] = bits;
        }
    }

    /// Records a position, and the move that led to it from another row.
    #[inline(always)]
    pub(super) fn push_after(&mut self, board: Board, ply: u32, bits: u16, before: impl FnOnce() -> Option<usize>) {
        if self.requested.moves {
            self.played(before(), bits);
        }
        self.push(board, ply);
    }

    /// Adds the position after a move, which a null move has no bits for, and returns its row.
    #[cfg(feature = "parquet")]
    pub(super) fn follow(&mut self, before: Option<usize>, bits: Option<u16>, board: Board, ply: u32) -> Option<usize> {
        if let Some(bits) = bits {
            self.played(before, bits);
        }
        let row = self.push(board, ply);
        self.comes_after(before);
        Some(row)
    }

    /// Sets which position comes before that of the last row.
    #[inline]
    pub(super) fn comes_after(&mut self, before: Option<usize>) {
        if self.requested.parents
            && let Some(row) = self.len().checked_sub(1)
        {
            self.parents.resize(row, NO_ROW);
            self.parents.push(before.map_or(NO_ROW, |before| before as u32));
        }
    }

    /// Finds the openings of the game whose rows begin at `start`: for each position its opening in the list, or else
    /// that of the position before it.
    pub(super) fn find_openings(&mut self, start: usize) {
        let mut last = NO_OPENING;
        for row in start..self.len() {
            let (board, _) = self.row(row);
            if !self.requested.parents && !openings::may_have(&board) {
                self.openings.resize(self.len(), last);
                return;
            }
            if self.requested.parents {
                let parent = self.parents.get(row).map(|&parent| parent as usize);
                last = parent.and_then(|parent| self.openings.get(parent)).copied().unwrap_or(NO_OPENING);
            }
            // Where no capture is legal, the replay board has no such square.
            last = openings::number_of(&board, true).unwrap_or(last);
            self.openings.push(last);
        }
    }

    /// Finds the scores before the positions of the game whose rows begin at `start`.
    pub(super) fn find_scores_before(&mut self, start: usize) {
        for row in start..self.len() {
            let before = if self.requested.parents {
                self.parents.get(row).map(|&parent| parent as usize)
            } else {
                (row > start).then(|| row - 1)
            };
            let score = before.and_then(|before| self.scores.get(before)).copied().filter(|&score| is_score(score));
            let last = match score {
                None | Some(0) => before.and_then(|before| self.last_scores.get(before)).copied(),
                score => score,
            };
            self.scores_before.push(score.unwrap_or(NO_SCORE));
            self.last_scores.push(last.unwrap_or(NO_SCORE));
        }
    }

    /// The row of the position before that of a row, in the game whose rows begin at `start`.
    fn row_before(&self, start: usize, row: usize) -> Option<usize> {
        match self.requested.parents {
            true => self.parents.get(row).map(|&parent| parent as usize).filter(|&parent| parent < row),
            false => (row > start).then(|| row - 1),
        }
    }

    /// Finds the positions before those of the game whose rows begin at `start`.
    pub(super) fn find_histories(&mut self, start: usize) {
        let boards: Vec<Packed> = (start..self.len()).map(|row| self.row(row).0).collect();
        // Where no capture is legal, the replay board has no such square.
        let keys: Vec<u64> = boards.iter().map(|board| position_key(board, board.en_passant().is_some())).collect();
        let mut seen = HashSet::new();
        let mut is_repeated = Vec::with_capacity(keys.len());
        self.histories.resize_with(start, Box::default);
        for row in start..self.len() {
            let way = || std::iter::successors(self.row_before(start, row), |&before| self.row_before(start, before));
            let key = keys[row - start];
            // Without variations, all positions of the game are on the way. Between two equal positions there are only
            // reversible moves.
            let occurred = if self.requested.parents {
                way().take(self.halfmove[row].into()).any(|before| keys[before - start] == key)
            } else {
                !seen.insert(key)
            };
            is_repeated.push(occurred);
            let earlier = way().map(|before| (boards[before - start], is_repeated[before - start]));
            let mut words = Vec::new();
            history_words(occurred, earlier, &mut words);
            self.histories.push(words.into());
        }
    }

    /// Keeps those rows from `start` on for which `keep`, given the distance from `start`, returns true.
    pub(super) fn retain(&mut self, start: usize, place: usize, mut keep: impl FnMut(usize) -> bool) {
        let len = self.len();
        let mut kept = Vec::with_capacity(len - start);
        kept.extend((start..len).filter(|&row| keep(row - start)));
        if kept.len() == len - start {
            return;
        }
        let apart = self.set_apart(start, place);
        self.scores.resize(len, NO_SCORE);
        self.clocks.resize(len, NO_CLOCK);
        self.move_times.resize(len, NO_CLOCK);
        self.pseudo_en_passants.resize(len, NO_SQUARE);
        let boards: Vec<_> = kept.iter().map(|&row| self.row(row)).collect();
        for (to, &row) in (start..).zip(&kept) {
            fn carry<T: Copy>(column: &mut [T], to: usize, row: usize) {
                if let Some(&value) = column.get(row) {
                    column[to] = value;
                }
            }
            carry(&mut self.moves, to, row);
            carry(&mut self.plies, to, row);
            carry(&mut self.scores, to, row);
            carry(&mut self.clocks, to, row);
            carry(&mut self.move_times, to, row);
            carry(&mut self.pseudo_en_passants, to, row);
            carry(&mut self.openings, to, row);
            carry(&mut self.scores_before, to, row);
            carry(&mut self.last_scores, to, row);
            if row < self.histories.len() {
                self.histories.swap(to, row);
            }
        }
        self.truncate_boards(start);
        for (board, [halfmove, fullmove]) in boards {
            self.put(board, halfmove, fullmove);
        }
        if let Some(first) = apart {
            let kept = kept.iter().map(|row| first + (row - start));
            self.apart.kept.extend((start..).zip(kept));
        }
        self.truncate(self.len());
    }

    /// The board and clocks of a row.
    fn row(&self, row: usize) -> (Packed, [u16; 2]) {
        let board = self.groups[row / Group::LEN].get(row % Group::LEN);
        (board, [self.halfmove[row], self.fullmove[row]])
    }

    fn truncate_boards(&mut self, len: usize) {
        self.groups.truncate(len.div_ceil(Group::LEN));
        self.halfmove.truncate(len);
        self.fullmove.truncate(len);
        if let Some(orders) = &mut self.orders {
            orders.truncate(len);
        }
    }

    /// Drops the rows from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.truncate_boards(len);
        self.variations.truncate(self.variations.partition_point(|&row| row < len));
        self.moves.truncate(len);
        self.plies.truncate(len);
        self.scores.truncate(len);
        self.clocks.truncate(len);
        self.move_times.truncate(len);
        self.pseudo_en_passants.truncate(len);
        self.openings.truncate(len);
        self.scores_before.truncate(len);
        self.last_scores.truncate(len);
        self.histories.truncate(len);
        self.parents.truncate(len);
    }

    /// Marks the castling moves of the rows from `start` on as moves in a game of Chess960, where the position does not
    /// show that.
    #[cold]
    pub(super) fn is_chess960(&mut self, start: usize) {
        for row in start..self.moves.len() {
            let is_castling = self.moves[row] >> 14 == 3;
            if is_castling
                && let (board, [halfmove, fullmove]) = self.row(row)
                && let Ok(position) = board.unpack(halfmove, fullmove)
                && position.castles_as_standard()
            {
                self.moves[row] |= Move::CHESS960;
            }
        }
    }

    /// The plies of the rows from `start` on; they must have been requested.
    pub(super) fn plies(&self, start: usize) -> &[u16] {
        &self.plies[start..]
    }

    /// A hash of the boards from `start` on.
    pub(super) fn hash(&self, start: usize) -> u64 {
        (start..self.len()).fold(0, |hash, row| hash_on(hash, &self.row(row).0))
    }

    /// Turns all rows into a batch with those of these columns that were recorded and have values.
    pub(super) fn into_batch(mut self, fields: Fields) -> Batch {
        let len = self.len();
        let lanes = len % Group::LEN;
        if let Some(last) = self.groups.last_mut()
            && lanes != 0
        {
            (lanes..Group::LEN).for_each(|lane| last.set(lane, Packed::default()));
        }
        let mut batch = Batch::owned(self.groups, len);
        batch.halfmove = self.halfmove;
        batch.fullmove = self.fullmove;
        fn column<T: Copy + Default + PartialEq>(
            mut values: Vec<T>,
            len: usize,
            present: impl Fn(T) -> bool,
        ) -> Values<T> {
            if values.is_empty() {
                return Values::default();
            }
            let mut words: Vec<u64> = values.chunks(64).map(|some| bits_where(some, &present)).collect();
            words.resize(len.div_ceil(64), 0);
            for value in &mut values {
                *value = if present(*value) { *value } else { T::default() };
            }
            values.resize(len, T::default());
            Values::from_clean_parts(values, words)
        }
        let mut put = |field, values: Array| {
            if fields.contains(field) && values.count_present() != 0 {
                batch.fields.insert(field, values);
            }
        };
        put(Field::Move, Array::U16(column(self.moves, len, |bits| bits != 0)));
        put(Field::Ply, Array::U16(column(self.plies, len, |_| true)));
        let is_mate = |mate| mate != NO_SCORE;
        let mates = self.scores.iter().map(|&score| mate_of(score));
        let any_mate = mates.clone().fold(false, |any, mate| any | is_mate(mate));
        let mates: Vec<i16> = if any_mate && fields.contains(Field::Mate) { mates.collect() } else { Vec::new() };
        put(Field::Score, Array::I16(column(self.scores, len, is_score)));
        put(Field::Mate, Array::I16(column(mates, len, is_mate)));
        let has_clock = |clock| clock != NO_CLOCK;
        put(Field::Clock, Array::U32(column(self.clocks, len, has_clock)));
        put(Field::MoveTime, Array::U32(column(self.move_times, len, has_clock)));
        let squares = column(self.pseudo_en_passants, len, |square| square != NO_SQUARE);
        put(Field::KeyEnPassant, Array::U8(squares));
        let has_opening = |number| number != NO_OPENING;
        put(Field::PositionOpening, Array::U16(column(self.openings, len, has_opening)));
        put(Field::ScoreBefore, Array::I16(column(self.scores_before, len, is_score)));
        put(Field::LastScore, Array::I16(column(self.last_scores, len, is_score)));
        let mut histories = Lists::new(Items::U64(Vec::new()));
        self.histories.iter().for_each(|words| histories.push_numbers(Some(words)));
        if !histories.is_empty() {
            (histories.len()..len).for_each(|_| histories.push_missing());
            put(Field::History, Array::Lists(histories));
        }
        batch
    }
}
