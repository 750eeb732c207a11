//! Patterns of pieces on squares, which are a few operations on the planes of boards.

use crate::chess::{Color, Piece, Square};
use crate::packed::Packed;

/// What must stand where.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Pattern {
    /// For each kind of piece in the pattern, White's and Black's by itself, the squares on which it must stand.
    pieces: Vec<(Piece, u64)>,
    empty: u64,
}

impl Pattern {
    /// The board part of a FEN, in which digits are squares that may hold anything and `.` is one that must be empty.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pattern = Self::default();
        let ranks: Vec<&str> = text.split('/').collect();
        if ranks.len() != 8 {
            return Err(format!("a pattern has 8 ranks, separated by `/`, and this one has {}", ranks.len()));
        }
        for (rank, squares) in (0..8_u8).rev().zip(ranks) {
            let mut file = 0;
            for letter in squares.chars() {
                let square = 1_u64.checked_shl(u32::from(rank * 8 + file)).filter(|_| file < 8).unwrap_or(0);
                match letter {
                    '1'..='8' => file += letter as u8 - b'0' - 1,
                    '.' => pattern.empty |= square,
                    letter => {
                        let piece = piece(letter)?;
                        match pattern.pieces.iter_mut().find(|(known, _)| *known == piece) {
                            Some((_, squares)) => *squares |= square,
                            None => pattern.pieces.push((piece, square)),
                        }
                    }
                }
                file += 1;
                if file > 8 {
                    break;
                }
            }
            if file != 8 {
                return Err(format!("the rank `{squares}` does not have 8 squares"));
            }
        }
        Ok(pattern)
    }

    pub(super) fn matches(&self, board: &Packed) -> bool {
        let occupied = board.types[0] | board.types[1] | board.types[2];
        occupied & self.empty == 0
            && self.pieces.iter().all(|&(piece, squares)| pieces(board, piece) & squares == squares)
    }
}

/// Pieces of which one stands on a square.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct On {
    square: u64,
    pieces: Vec<Piece>,
}

impl On {
    pub(super) fn parse(square: &str, letters: &str) -> Result<Self, String> {
        let on = square.parse::<Square>().map_err(|_| format!("`{square}` is not a square"))?;
        if letters.is_empty() {
            return Err("no pieces are named".to_owned());
        }
        let pieces = letters.chars().map(piece).collect::<Result<_, _>>()?;
        Ok(Self { square: 1 << on.index(), pieces })
    }

    pub(super) fn holds(&self, board: &Packed) -> bool {
        self.pieces.iter().any(|&piece| pieces(board, piece) & self.square != 0)
    }
}

fn piece(letter: char) -> Result<Piece, String> {
    let piece = u8::try_from(letter).ok().and_then(Piece::from_letter);
    piece.ok_or_else(|| format!("`{}` is not a piece: expected one of KQRBNPkqrbnp", letter.escape_debug()))
}

/// The squares of a kind of piece.
fn pieces(board: &Packed, piece: Piece) -> u64 {
    let all = board.planes().role(piece.role);
    match piece.color {
        Color::White => all & !board.color,
        Color::Black => all & board.color,
    }
}
