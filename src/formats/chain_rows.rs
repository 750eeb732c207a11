//! Records on their way into chains: what decides whether a record goes on with the one before, looked up once for many.

use super::pgn::replay::Board;
use crate::chess::{Color, Move, Square};
use crate::table::{Array, Batch, Field, Values};

/// The columns of a batch that chains need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    batch: &'a Batch,
    moves: Option<&'a Values<u16>>,
    results: Option<&'a Values<u8>>,
    games: Option<&'a Values<u64>>,
    plies: Option<&'a Values<u16>>,
    idle: Option<&'a Values<u8>>,
}

impl<'a> Rows<'a> {
    pub(super) fn of(batch: &'a Batch) -> Self {
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
            moves: numbers(Field::Move),
            results: small(Field::Result),
            games,
            plies: numbers(Field::Ply),
            idle: small(Field::KeyEnPassant),
        }
    }

    /// The replay board of a record.
    #[inline]
    pub(super) fn board(&self, row: usize) -> Board {
        let idle = self.idle.and_then(|squares| Square::try_new(*squares.get(row)?));
        let batch = self.batch;
        Board::of_record(&batch.board(row), idle, batch.halfmove[row], batch.fullmove[row])
    }

    /// The move of a record.
    #[inline]
    pub(super) fn mv(&self, row: usize) -> Option<Move> {
        Move::from_bits(*self.moves?.get(row)?)
    }

    /// Whether this record and another one are of the same game, and have the same result.
    #[inline]
    pub(super) fn is_of_same_game(&self, row: usize, other: &Self, other_row: usize) -> bool {
        let game = |rows: &Self, row: usize| rows.games.and_then(|games| games.get(row).copied());
        let result = |rows: &Self, row: usize| rows.results.and_then(|results| results.get(row).copied());
        game(self, row) == game(other, other_row) && result(self, row) == result(other, other_row)
    }

    /// The ply of a record: the one that it has, if that fits the number of its move, which readers of chains derive from
    /// it; otherwise that of the number of its move.
    #[inline]
    pub(super) fn ply(&self, row: usize) -> u16 {
        let fullmove = self.batch.fullmove[row];
        if let Some(&ply) = self.plies.and_then(|plies| plies.get(row))
            && u32::from(ply) / 2 + 1 == u32::from(fullmove)
        {
            return ply;
        }
        let black = u32::from(self.batch.board(row).side_to_move() == Color::Black);
        let ply = 2 * u32::from(fullmove.max(1) - 1) + black;
        ply.min(u16::MAX.into()) as u16
    }

    /// Whether a record has a ply, and another one than this.
    #[inline]
    pub(super) fn has_other_ply(&self, row: usize, ply: u16) -> bool {
        self.plies.and_then(|plies| plies.get(row)).is_some_and(|own| *own != ply)
    }

    /// Whether all castling rights of a record are those of standard chess.
    #[inline]
    pub(super) fn is_standard(&self, row: usize) -> bool {
        let planes = self.batch.board(row).planes();
        let rooks = planes.castling();
        if rooks == 0 {
            return true;
        }
        let kings = planes.kings();
        let has_king = |corners: u64, square: u32| rooks & corners == 0 || kings >> square & 1 != 0;
        rooks & !0x8100_0000_0000_0081 == 0 && has_king(0x81, 4) && has_king(0x81 << 56, 60)
    }
}
