//! The columns of a batch as encoders need them: looked up once, with their types, and the values that follow from several
//! of them.

use crate::chess::{Color, Move, Square};
use crate::replay::Board;
use crate::table::{Batch, Field, Values};

/// The score that would be stored for a mate in 0 moves, as in the formats of Stockfish.
const MATE_SCORE: i16 = 32_000;

/// The records of a batch as the writers need them: their columns are looked up once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub(in crate::formats) batch: &'a Batch,
    pub(in crate::formats) scores: Option<&'a Values<i16>>,
    pub(in crate::formats) mates: Option<&'a Values<i16>>,
    pub(in crate::formats) results: Option<&'a Values<u8>>,
    pub(in crate::formats) idle: Option<&'a Values<u8>>,
    pub(in crate::formats) moves: Option<&'a Values<u16>>,
    pub(in crate::formats) plies: Option<&'a Values<u16>>,
    pub(in crate::formats) games: Option<&'a Values<u64>>,
}

#[inline(always)]
pub(in crate::formats) fn value<T: Copy + Default>(values: Option<&Values<T>>, row: usize) -> Option<T> {
    values?.get(row).copied()
}

impl<'a> Rows<'a> {
    pub(in crate::formats) fn of(batch: &'a Batch) -> Self {
        let signed = |field| batch.column::<i16>(field);
        let small = |field| batch.column::<u8>(field);
        let numbers = |field| batch.column::<u16>(field);
        let games = batch.column::<u64>(Field::Game);
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
    pub(in crate::formats) fn score_of_mate(&self, row: usize, mate: i16) -> i16 {
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
    pub(in crate::formats) fn board_after(&self, row: usize) -> Option<Board> {
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
    pub(in crate::formats) fn ply_of_fullmove(&self, row: usize) -> u16 {
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
}
