//! What the writers of formats for training share: the values that a record needs there, whether it has them or not.

use super::Losses;
use super::encode::Refuse;
use super::pgn::replay::Board;
use crate::chess::{Color, Move, Square};
use crate::table::{Array, Batch, Field, Tile, is_sentinel};
use std::ops::Range;

/// The score for which a mate in no moves would be stored: that of the formats of Stockfish.
const MATE_SCORE: i16 = 32_000;

/// A number of a record.
pub(super) fn number(batch: &Batch, row: usize, field: Field) -> Option<i64> {
    batch.values(field)?.number(row)
}

/// The en passant square of a record on which no capture is legal.
pub(super) fn idle_of(batch: &Batch, row: usize) -> Option<Square> {
    Square::try_new(number(batch, row, Field::KeyEnPassant)? as u8)
}

/// The replay board of a record.
pub(super) fn board_of(batch: &Batch, row: usize) -> Board {
    Board::of_record(&batch.board(row), idle_of(batch, row), batch.halfmove[row], batch.fullmove[row])
}

/// The score to be stored, as White sees it: of a mate, 32,000 less the number of moves, and 0 where there is neither.
pub(super) fn score_of_white(batch: &Batch, row: usize) -> i16 {
    let score = number(batch, row, Field::Score).map(|score| score as i16);
    score.or_else(|| number(batch, row, Field::Mate).map(|mate| score_of_mate(batch, row, mate))).unwrap_or(0)
}

/// The score of White for a mate in some moves, from the side to move.
pub(super) fn score_of_mate(batch: &Batch, row: usize, mate: i64) -> i16 {
    let size = MATE_SCORE.saturating_sub(i16::try_from(mate.unsigned_abs()).unwrap_or(i16::MAX));
    let black_mates = match mate {
        // The side to move is mated.
        0 => batch.board(row).side_to_move() == Color::White,
        mate => mate < 0,
    };
    if black_mates { -size } else { size }
}

/// The same as the side to move sees it; a sentinel of either sign is stored as the positive one. The largest negative number
/// of Black has no counterpart: it becomes the largest positive one.
pub(super) fn score_of_mover(batch: &Batch, row: usize) -> i16 {
    let score = score_of_white(batch, row);
    match batch.board(row).side_to_move() {
        _ if is_sentinel(score) => score.saturating_abs(),
        Color::White => score,
        Color::Black => score.saturating_neg(),
    }
}

/// The result to be stored, as White sees it: 0, 1 or 2, and a draw where none is known.
pub(super) fn result_of_white(batch: &Batch, row: usize) -> u8 {
    number(batch, row, Field::Result).map_or(1, |result| result as u8)
}

/// The same as the side to move sees it.
pub(super) fn result_of_mover(batch: &Batch, row: usize) -> u8 {
    let result = result_of_white(batch, row);
    match batch.board(row).side_to_move() {
        Color::White => result,
        Color::Black => 2 - result,
    }
}

/// Counts the records of a tile for which [`score_of_white`] and [`result_of_white`] make up a value.
pub(super) fn made_up(tile: &Tile<'_>, losses: &mut Losses) {
    let rows: Range<usize> = tile.start..tile.start + tile.len;
    let count = |field| tile.batch.values(field).map_or(0, |values| values.count_present_in(rows.clone()));
    if count(Field::Score) == tile.len && count(Field::Result) == tile.len && count(Field::Mate) == 0 {
        return;
    }
    for row in tile.rows() {
        let lacks = |field| number(tile.batch, row, field).is_none();
        let record = tile.batch.index(row);
        match (lacks(Field::Score), lacks(Field::Mate)) {
            (true, true) => losses.change("records without a score, stored with the score 0", record),
            (_, false) => losses.change("mates, stored as scores of 32,000 less the number of moves", record),
            (false, true) => {}
        }
        if lacks(Field::Result) {
            losses.change("records without a result, stored as draws", record);
        }
    }
}

/// The records of a tile without a move.
pub(super) fn without_move<'a>(tile: &'a Tile<'_>) -> impl Iterator<Item = usize> + 'a {
    let moves = tile.batch.values(Field::Move);
    tile.rows().filter(move |&row| !moves.is_some_and(|moves| moves.is_present(row)))
}

/// Whether a record is the last position of a game, and follows from the move of the record before it in its batch.
pub(super) fn is_last_of_game(batch: &Batch, row: usize) -> bool {
    let game = |row| number(batch, row, Field::Game);
    let Some(before) = row.checked_sub(1).filter(|&before| game(before).is_some() && game(before) == game(row)) else {
        return false;
    };
    let after = played(batch, before).map(|(_, board)| board.unmarked());
    after == Some(board_of(batch, row).unmarked())
}

/// The move of a record, if it is legal, and the board after it.
pub(super) fn played(batch: &Batch, row: usize) -> Option<(Move, Board)> {
    let bits = batch.values(Field::Move)?.number(row)?;
    let mv = Move::from_bits(bits as u16)?;
    Some((mv, board_of(batch, row).play_move(mv).ok()?))
}

/// Refuses the records of a tile whose move is not legal.
pub(super) fn illegal_moves(tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
    let batch = tile.batch;
    let Some(Array::U16(moves)) = batch.values(Field::Move) else { return };
    let idle = batch.values(Field::KeyEnPassant);
    let is_legal = |row: usize, mv: Move| {
        let idle = idle.and_then(|idle| Square::try_new(idle.number(row)? as u8));
        let board = Board::of_record(&batch.board(row), idle, batch.halfmove[row], batch.fullmove[row]);
        board.play_move(mv).is_ok()
    };
    for row in tile.rows() {
        if let Some(&bits) = moves.get(row)
            && !Move::from_bits(bits).is_some_and(|mv| is_legal(row, mv))
        {
            refuse(row, "illegal_move", "the move of the record is not legal".to_owned());
        }
    }
}

/// Counts those rows of a tile of which something is changed.
pub(super) fn changed_where(
    tile: &Tile<'_>,
    losses: &mut Losses,
    what: &'static str,
    is_changed: impl Fn(usize) -> bool,
) {
    for row in tile.rows().filter(|&row| is_changed(row)) {
        losses.change(what, tile.batch.index(row));
    }
}

/// Counts the records of a tile whose halfmove clock is beyond what the format has room for.
pub(super) fn long_clocks(tile: &Tile<'_>, losses: &mut Losses, what: &'static str, most: u16) {
    let clocks = &tile.batch.halfmove;
    let longest = clocks[tile.start..tile.start + tile.len].iter().fold(0, |longest, &clock| clock.max(longest));
    if longest > most {
        changed_where(tile, losses, what, |row| clocks[row] > most);
    }
}

/// Counts the records of a tile whose score the side to move cannot see: see [`score_of_mover`].
pub(super) fn saturated(tile: &Tile<'_>, losses: &mut Losses) {
    let what = "scores of -32,768 with Black to move, stored as 32,767";
    let Some(Array::I16(scores)) = tile.batch.values(Field::Score) else { return };
    let lowest = scores.values()[tile.start..tile.start + tile.len].iter().fold(0, |lowest, &score| score.min(lowest));
    if lowest != i16::MIN {
        return;
    }
    changed_where(tile, losses, what, |row| {
        number(tile.batch, row, Field::Score) == Some(i16::MIN.into())
            && tile.batch.board(row).side_to_move() == Color::Black
    });
}
