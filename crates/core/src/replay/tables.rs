//! Lookup tables of the board: the squares that a piece may come from, and the planes that select it.
//!
//! Everything here is computed by the compiler from piece codes and squares.

use crate::chess::Role;

/// Rows of [`REACH`]: pawn steps and captures of each side, then knight to king; empty ones make it a power of two.
pub(super) const ROWS: usize = 16;
/// `REACH[row][to]`: the squares from which a piece may move to this square in this way, on an empty board.
pub(super) static REACH: [[u64; 64]; ROWS] = reach();

const fn reach() -> [[u64; 64]; ROWS] {
    let mut table = [[0; 64]; ROWS];
    let mut to = 0;
    while to < 64 {
        let (file, rank) = (to % 8, to / 8);
        let mut from = 0;
        while from < 64 {
            let files = (from % 8) as i8 - file as i8;
            let ranks = (from / 8) as i8 - rank as i8;
            let (across, up) = (files.unsigned_abs(), ranks.unsigned_abs());
            let on_board = from / 8 > 0 && from / 8 < 7;
            let slides = (across == up, across == 0 || up == 0);
            let hits = [
                on_board && files == 0 && (ranks == -1 || (ranks == -2 && rank == 3)),
                on_board && across == 1 && ranks == -1,
                on_board && files == 0 && (ranks == 1 || (ranks == 2 && rank == 4)),
                on_board && across == 1 && ranks == 1,
                (across == 1 && up == 2) || (across == 2 && up == 1),
                slides.0,
                slides.1,
                slides.0 || slides.1,
                across <= 1 && up <= 1,
            ];
            let mut row = 0;
            while row < hits.len() {
                if hits[row] && from != to {
                    table[row][to] |= 1 << from;
                }
                row += 1;
            }
            from += 1;
        }
        to += 1;
    }
    table
}

/// Piece codes of [`crate::packed`], which are role index plus one.
pub(super) const PAWN: usize = 1;
pub(super) const KING: usize = 6;

/// Added to the row of a pawn that captures, to that of a black pawn, and to the code of a piece.
pub(super) const CAPTURES: usize = 1;
pub(super) const BLACK: usize = 2;
pub(super) const PIECES: usize = 2;

pub(super) const ALL: u64 = !0;
pub(super) const fn all_if(condition: bool) -> u64 {
    (condition as u64).wrapping_neg()
}

/// Masks that select a piece code from the three planes: which planes to invert, and whether castling rooks count.
pub(super) static SELECT: [[u64; 4]; 8] = {
    let mut table = [[0; 4]; 8];
    let mut code = 0;
    while code < 8 {
        table[code] = [
            all_if(code & 1 == 0),
            all_if(code & 2 == 0),
            all_if(code & 4 == 0),
            all_if(code == Role::Rook as usize + 1),
        ];
        code += 1;
    }
    table
};
