//! Writing: a position becomes FEN, X-FEN or Shredder-FEN.
//!
//! The text is put together in an array of the greatest length. The number of empty squares before a piece is
//! always stored, but passed over only if it is not 0, so that the only branch on the pieces is the end of a rank.

use crate::chess::bitboard::Bitboard;
use crate::chess::castling::{CastlingRights, CastlingSide};
use crate::chess::piece::{Color, Role};
use crate::chess::position::Position;
use std::fmt;

/// How castling rights are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum CastlingStyle {
    /// `K`, `Q`, `k`, `q` for an outermost rook, the file's letter for another (X-FEN).
    #[default]
    Outermost,
    /// Always the file's letter (Shredder-FEN).
    Files,
}

impl Position {
    /// Appends the six fields of FEN, without a line end.
    pub fn write_fen(&self, out: &mut Vec<u8>, style: CastlingStyle) {
        let mut text = [0u8; MAX_LEN];
        let len = self.write_to(&mut text, style);
        out.extend_from_slice(&text[..len]);
    }

    /// The FEN with castling rights by file letters (Shredder-FEN).
    pub fn shredder_fen(&self) -> String {
        let mut out = Vec::new();
        self.write_fen(&mut out, CastlingStyle::Files);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn write_to(&self, text: &mut [u8; MAX_LEN], style: CastlingStyle) -> usize {
        // Codes as in the parser, in FEN's order: a8 first.
        let of = |role| self.role(role).flip_vertical().0;
        let planes = [
            of(Role::Pawn) | of(Role::Bishop) | of(Role::Queen),
            of(Role::Knight) | of(Role::Bishop) | of(Role::King),
            of(Role::Rook) | of(Role::Queen) | of(Role::King),
            self.color(Color::Black).flip_vertical().0,
        ];
        let occupied = self.occupied().flip_vertical().0;
        let mut at = 0;
        for rank in 0..8 {
            let row = planes.map(|plane| plane >> (8 * rank));
            let mut rest = occupied >> (8 * rank) & 0xFF;
            let mut file = 0;
            while rest != 0 {
                let next = rest.trailing_zeros();
                rest &= rest - 1;
                // A number is always written, but kept only if there are empty squares.
                text[at] = b'0' + (next - file) as u8;
                at += usize::from(next != file);
                let [b0, b1, b2, black] = row.map(|plane| (plane >> next & 1) as usize);
                text[at] = LETTERS[b0 | b1 << 1 | b2 << 2 | black << 3];
                at += 1;
                file = next + 1;
            }
            text[at] = b'0' + (8 - file) as u8;
            at += usize::from(file != 8);
            text[at] = b'/';
            at += usize::from(rank != 7);
        }
        let mut push = |byte| {
            text[at] = byte;
            at += 1;
        };
        push(b' ');
        push(self.side_to_move.letter() as u8);
        push(b' ');
        let mut none = true;
        for color in Color::ALL {
            let rank = Bitboard::rank(CastlingRights::back_rank(color));
            let case = if color == Color::White { 0x20 } else { 0 };
            let king = (self.pieces(color, Role::King) & rank).first();
            let rights = self.castling.of(color);
            let rooks = self.pieces(color, Role::Rook) & rank;
            let outermost = |side| CastlingRights(rooks).rook(color, king?, side);
            // Right to left, so that the king side comes first.
            let mut rest = rights;
            while let Some(rook) = rest.last() {
                rest -= rook.into();
                let letter = match style {
                    CastlingStyle::Outermost if outermost(CastlingSide::King) == Some(rook) => b'k',
                    CastlingStyle::Outermost if outermost(CastlingSide::Queen) == Some(rook) => {
                        b'q'
                    }
                    _ => rook.file().letter() as u8,
                };
                push(letter ^ case);
                none = false;
            }
        }
        if none {
            push(b'-');
        }
        push(b' ');
        match self.en_passant {
            None => push(b'-'),
            Some(square) => {
                push(square.file().letter() as u8);
                push(square.rank().digit() as u8);
            }
        }
        for mut number in [self.halfmove, self.fullmove] {
            push(b' ');
            let mut digits = [0u8; 5];
            let mut first = digits.len();
            loop {
                first -= 1;
                digits[first] = b'0' + (number % 10) as u8;
                number /= 10;
                if number == 0 {
                    break;
                }
            }
            for &digit in &digits[first..] {
                push(digit);
            }
        }
        at
    }
}

/// The letters of the piece codes.
const LETTERS: &[u8; 16] = b".PNBRQK..pnbrqk.";

/// Board 64 + 7, side 2, castling 1 + 16, en passant 3, clocks 2 * 6.
const MAX_LEN: usize = 71 + 2 + 17 + 3 + 12;

/// The six fields of FEN; castling rights as `KQkq` if the rook is the outermost one, else its file.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0u8; MAX_LEN];
        let len = self.write_to(&mut text, CastlingStyle::Outermost);
        f.pad(std::str::from_utf8(&text[..len]).unwrap_or_default())
    }
}
