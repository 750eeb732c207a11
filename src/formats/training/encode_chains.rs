//! Shared by the writers of training formats: defaults for values that a record lacks, and replacements for values that
//! a format cannot store.

use super::board_tests::{self, HasChess960Castling};
use crate::chess::{Color, MoveKind};
use crate::formats::Losses;
use crate::formats::codec::conversion_losses::Refuse;
use crate::formats::codec::encoder_columns::{Rows, value};
use crate::replay::Board;
use crate::simd::bmi2::Bmi2;
use crate::simd::inlined;
use crate::table::{Array, Field, Fields, Tile, is_sentinel};
use std::ops::Range;

/// A score from White's view as the side to move sees it. A sentinel of either sign becomes the positive one, and
/// -32,768, which has no counterpart, becomes 32,767.
#[inline(always)]
pub(in crate::formats) fn score_of_mover(score: i16, is_black: bool) -> i16 {
    let turned = if is_black { score.saturating_neg() } else { score };
    if is_sentinel(score) { score.saturating_abs() } else { turned }
}

/// A result from White's view as the side to move sees it.
#[inline(always)]
pub(in crate::formats) fn result_of_mover(result: u8, is_black: bool) -> u8 {
    if is_black { 2u8.wrapping_sub(result) } else { result }
}

/// Counts the records of a tile for which [`Rows::score`] and [`Rows::result`] make up a value.
pub(in crate::formats) fn made_up(tile: &Tile<'_>, losses: &mut Losses) {
    let rows: Range<usize> = tile.start..tile.start + tile.len;
    let count = |field| tile.batch.values(field).map_or(0, |values| values.count_present_in(rows.clone()));
    if count(Field::Score) == tile.len && count(Field::Result) == tile.len && count(Field::Mate) == 0 {
        return;
    }
    let columns = Rows::of(tile.batch);
    for row in tile.rows() {
        let record = tile.batch.index(row);
        match (value(columns.scores, row), value(columns.mates, row)) {
            (None, None) => losses.change("records without a score, stored with the score 0", record),
            (None, Some(_)) => losses.change("mates, stored as scores of 32,000 minus the number of moves", record),
            (Some(_), Some(_)) => losses.lack(Field::Mate.quoted_name(), 1),
            (Some(_), None) => {}
        }
        if value(columns.results, row).is_none() {
            losses.change("records without a result, stored as draws", record);
        }
    }
}

/// Counts the records of a tile that have no move, for formats that store the move a1a1 in its place.
pub(in crate::formats) fn without_move_as_a1a1(tile: &Tile<'_>, losses: &mut Losses) {
    let with_move = tile.batch.values(Field::Move).map_or(0, |values| {
        let present = tile.mask.iter().zip(&values.present()[tile.start / 64..]);
        present.map(|(mask, present)| (mask & present).count_ones() as usize).sum()
    });
    losses.fill("the move a1a1", (tile.count() - with_move) as u64);
}

/// Whether a record of a tile is the last position of a game, and follows from the move of the record before it,
/// which is taken.
fn is_last_of_game(rows: &Rows<'_>, tile: &Tile<'_>, row: usize) -> bool {
    let follows = |records: &Rows<'_>, before: usize| {
        value(records.games, before).is_some_and(|game| value(rows.games, row) == Some(game))
            && records.board_after(before).map(Board::unmarked) == Some(rows.board(row).unmarked())
    };
    if row > tile.start {
        return tile.counts(row - 1) && follows(rows, row - 1);
    }
    tile.before.is_some_and(|before| before.counts && follows(&Rows::of(before.batch), before.row))
}

/// The records of a tile without a move, and whether each is the last position of a game that follows from the record
/// before it.
pub(in crate::formats) fn without_move<'a>(tile: &'a Tile<'_>) -> impl Iterator<Item = (usize, bool)> + 'a {
    let columns = Rows::of(tile.batch);
    let rows = tile.rows().filter(move |&row| !columns.has_move(row));
    rows.map(move |row| (row, is_last_of_game(&columns, tile, row)))
}

/// The fields that tell which records [without a move](without_move) are last positions of games.
pub(in crate::formats) const OF_LAST_POSITIONS: Fields = Fields::of(&[Field::Move, Field::Game, Field::KeyEnPassant]);

/// Refuses the records of a tile whose move is not legal.
pub(in crate::formats) fn illegal_moves(tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
    let columns = Rows::of(tile.batch);
    if columns.moves.is_none() {
        return;
    }
    let mut look = inlined(
        #[inline(always)]
        || {
            for row in tile.rows().filter(|&row| columns.has_move(row) && columns.board_after(row).is_none()) {
                refuse(row, "illegal_move", "the move of the record is not legal".to_owned());
            }
        },
    );
    match Bmi2::detect() {
        Some(bmi2) => bmi2.enter(look),
        None => look(),
    }
}

/// Counts the records of a tile for formats without Chess960: their castling rights are removed, and moves that use
/// them are left out.
pub(in crate::formats) fn of_chess960(tile: &Tile<'_>, losses: &mut Losses) {
    let rows = board_tests::rows_where::<HasChess960Castling>(tile);
    if rows.is_empty() {
        return;
    }
    let columns = Rows::of(tile.batch);
    for row in rows {
        let record = tile.batch.index(row);
        losses.change("castling rights of Chess960, which are removed", record);
        if columns.mv(row).is_some_and(|mv| mv.kind == MoveKind::Castle) {
            losses.change("castling moves of Chess960, which are left out", record);
        }
    }
}

/// Counts the rows of a tile in which something is changed.
pub(in crate::formats) fn changed_where(
    tile: &Tile<'_>,
    losses: &mut Losses,
    what: &'static str,
    is_changed: impl Fn(usize) -> bool,
) {
    for row in tile.rows().filter(|&row| is_changed(row)) {
        losses.change(what, tile.batch.index(row));
    }
}

/// Counts the records of a tile whose halfmove clock is too high for the format.
pub(in crate::formats) fn long_clocks(tile: &Tile<'_>, losses: &mut Losses, what: &'static str, most: u16) {
    let clocks = &tile.batch.halfmove;
    let longest = clocks[tile.start..tile.start + tile.len].iter().fold(0, |longest, &clock| clock.max(longest));
    if longest > most {
        changed_where(tile, losses, what, |row| clocks[row] > most);
    }
}

/// Counts the records of a tile whose score cannot be negated: see [`score_of_mover`].
pub(in crate::formats) fn saturated(tile: &Tile<'_>, losses: &mut Losses) {
    let what = "scores of -32,768 with Black to move, stored as 32,767";
    let Some(Array::I16(scores)) = tile.batch.values(Field::Score) else { return };
    let lowest = scores.values()[tile.start..tile.start + tile.len].iter().fold(0, |lowest, &score| score.min(lowest));
    if lowest != i16::MIN {
        return;
    }
    changed_where(tile, losses, what, |row| {
        scores.get(row) == Some(&i16::MIN) && tile.batch.board(row).side_to_move() == Color::Black
    });
}
