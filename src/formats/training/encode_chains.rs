//! Shared by the writers of training formats: defaults for values that a record lacks, and replacements for values that
//! a format cannot store.

use super::board_tests::{self, HasChess960Castling};
use crate::chess::moves::MoveKind;
use crate::chess::{Color, Move, Square};
use crate::formats::Losses;
use crate::formats::codec::conversion_losses::Refuse;
use crate::replay::Board;
use crate::simd::bmi2::Bmi2;
use crate::simd::inlined;
use crate::table::{Array, Batch, Field, Fields, Tile, Values, is_sentinel};
use std::ops::Range;

/// The score that would be stored for a mate in 0 moves, as in the formats of Stockfish.
const MATE_SCORE: i16 = 32_000;

/// The records of a batch as the writers need them: their columns are looked up once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub(in crate::formats) batch: &'a Batch,
    pub(in crate::formats) scores: Option<&'a Values<i16>>,
    mates: Option<&'a Values<i16>>,
    pub(in crate::formats) results: Option<&'a Values<u8>>,
    pub(in crate::formats) idle: Option<&'a Values<u8>>,
    pub(in crate::formats) moves: Option<&'a Values<u16>>,
    pub(in crate::formats) plies: Option<&'a Values<u16>>,
    games: Option<&'a Values<u64>>,
}

#[inline(always)]
fn value<T: Copy + Default>(values: Option<&Values<T>>, row: usize) -> Option<T> {
    values?.get(row).copied()
}

impl<'a> Rows<'a> {
    pub(in crate::formats) fn of(batch: &'a Batch) -> Self {
        let signed = |field| match batch.values(field) {
            Some(Array::I16(values)) => Some(values),
            _ => None,
        };
        let small = |field| match batch.values(field) {
            Some(Array::U8(values)) => Some(values),
            _ => None,
        };
        let numbers = |field| match batch.values(field) {
            Some(Array::U16(values)) => Some(values),
            _ => None,
        };
        let games = match batch.values(Field::Game) {
            Some(Array::U64(values)) => Some(values),
            _ => None,
        };
        Self {
            batch,
            scores: signed(Field::Score),
            mates: signed(Field::Mate),
            results: small(Field::Result),
            idle: small(Field::KeyEnPassant),
            moves: numbers(Field::Move),
            plies: numbers(Field::Ply),
            games,
        }
    }

    #[inline(always)]
    pub(in crate::formats) fn is_black(&self, row: usize) -> bool {
        self.batch.board(row).side_to_move() == Color::Black
    }

    /// The score to be stored, as White sees it: for a mate, 32,000 minus the number of moves; 0 if there is neither.
    #[inline(always)]
    pub(in crate::formats) fn score(&self, row: usize) -> i16 {
        let mate = || Some(self.score_of_mate(row, value(self.mates, row)?));
        value(self.scores, row).or_else(mate).unwrap_or(0)
    }

    #[cold]
    fn score_of_mate(&self, row: usize, mate: i16) -> i16 {
        let size = MATE_SCORE.saturating_sub(mate.saturating_abs());
        // Without a move, the side to move is mated.
        let black_mates = if mate == 0 { !self.is_black(row) } else { mate < 0 };
        if black_mates { -size } else { size }
    }

    /// The result to be stored, as White sees it: 0, 1 or 2, a draw if none is known.
    #[inline(always)]
    pub(in crate::formats) fn result(&self, row: usize) -> u8 {
        value(self.results, row).unwrap_or(1)
    }

    /// The en passant square on which no capture is legal.
    #[inline(always)]
    pub(in crate::formats) fn idle(&self, row: usize) -> Option<Square> {
        Square::try_new(value(self.idle, row)?)
    }

    /// The replay board of a record.
    #[inline(always)]
    pub(in crate::formats) fn board(&self, row: usize) -> Board {
        let batch = self.batch;
        Board::of_record(&batch.board(row), self.idle(row), batch.halfmove[row], batch.fullmove[row])
    }

    /// Whether a record has a move, possible or not.
    #[inline(always)]
    pub(in crate::formats) fn has_move(&self, row: usize) -> bool {
        value(self.moves, row).is_some()
    }

    /// The bits of the move of a record, as [`Field::Move`] has them; 0 without one.
    #[inline(always)]
    pub(in crate::formats) fn move_bits(&self, row: usize) -> u16 {
        value(self.moves, row).unwrap_or(0)
    }

    /// The move of a record.
    #[inline(always)]
    pub(in crate::formats) fn mv(&self, row: usize) -> Option<Move> {
        Move::from_bits(value(self.moves, row)?)
    }

    /// The board after the move of a record, if that is legal.
    #[inline(always)]
    fn board_after(&self, row: usize) -> Option<Board> {
        let next = self.board_after_accepted(row, self.mv(row)?)?;
        (!next.is_after_king_left_in_check()).then_some(next)
    }

    /// The board after a move of a record that has been accepted. It is not checked again whether the move leaves its
    /// own king in check.
    #[inline(always)]
    pub(in crate::formats) fn board_after_accepted(&self, row: usize, mv: Move) -> Option<Board> {
        let mut board = self.board(row);
        board.play_pseudolegal(mv.to_bits()).then_some(board)
    }

    /// The ply according to the fullmove number and the side to move.
    #[inline(always)]
    fn ply_of_fullmove(&self, row: usize) -> u16 {
        let ply = 2 * u32::from(self.batch.fullmove[row].max(1) - 1) + u32::from(self.is_black(row));
        ply.min(u16::MAX.into()) as u16
    }

    /// The ply of a record: its own, or else the one according to its fullmove number.
    #[inline(always)]
    pub(in crate::formats) fn ply(&self, row: usize) -> u16 {
        value(self.plies, row).unwrap_or_else(|| self.ply_of_fullmove(row))
    }

    /// The ply for formats whose readers derive the fullmove number from it: the record's own, if it yields that
    /// number.
    ///
    /// Games count plies from their start position. If Black is to move there, only every other ply would yield the
    /// fullmove number, and the records would not continue each other. So a ply of the other side is not used for
    /// records of games.
    #[inline(always)]
    pub(in crate::formats) fn ply_with_fullmove(&self, row: usize) -> u16 {
        let derived = self.ply_of_fullmove(row);
        match value(self.plies, row) {
            Some(own)
                if u32::from(own) / 2 + 1 == u32::from(self.batch.fullmove[row])
                    && (own == derived || value(self.games, row).is_none()) =>
            {
                own
            }
            _ => derived,
        }
    }

    /// Whether a record has a ply that differs from this one.
    #[inline(always)]
    pub(in crate::formats) fn has_other_ply(&self, row: usize, ply: u16) -> bool {
        value(self.plies, row).is_some_and(|own| own != ply)
    }

    /// Whether two records belong to the same game, and have the same result.
    #[inline(always)]
    pub(in crate::formats) fn is_of_same_game(&self, row: usize, other: &Self, other_row: usize) -> bool {
        value(self.games, row) == value(other.games, other_row)
            && value(self.results, row) == value(other.results, other_row)
    }

    /// Whether all castling rights of a record exist in standard chess.
    #[inline(always)]
    pub(in crate::formats) fn castles_as_standard(&self, row: usize) -> bool {
        const OUTER_FILES: u64 = 0x8181_8181_8181_8181;
        const E_FILE: u64 = 0x1010_1010_1010_1010;
        let planes = self.batch.board(row).planes();
        let (rights, kings) = (planes.castling(), planes.kings());
        let king_is_at_home = |side: u64| {
            let king = kings & side;
            rights & side == 0 || king & E_FILE != 0 && king & (king - 1) == 0
        };
        rights & !OUTER_FILES == 0 && king_is_at_home(planes.color) && king_is_at_home(!planes.color)
            || self.batch.position(row).is_ok_and(|position| position.castles_as_standard())
    }

    /// Whether a record of a tile is the last position of a game, and follows from the move of the record before it,
    /// which is taken.
    fn is_last_of_game(&self, tile: &Tile<'_>, row: usize) -> bool {
        let follows = |records: &Rows<'_>, before: usize| {
            value(records.games, before).is_some_and(|game| value(self.games, row) == Some(game))
                && records.board_after(before).map(Board::unmarked) == Some(self.board(row).unmarked())
        };
        if row > tile.start {
            return tile.counts(row - 1) && follows(self, row - 1);
        }
        tile.before.is_some_and(|before| before.counts && follows(&Rows::of(before.batch), before.row))
    }
}

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

/// The records of a tile without a move, and whether each is the last position of a game that follows from the record
/// before it.
pub(in crate::formats) fn without_move<'a>(tile: &'a Tile<'_>) -> impl Iterator<Item = (usize, bool)> + 'a {
    let columns = Rows::of(tile.batch);
    let rows = tile.rows().filter(move |&row| !columns.has_move(row));
    rows.map(move |row| (row, columns.is_last_of_game(tile, row)))
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
