//! Writing: a position becomes FEN, X-FEN or Shredder-FEN.
//!
//! The text is put together where it is to stand, in room for the longest one. The ranks are written with vectors
//! where the CPU has them, and otherwise in one pass: the number of empty squares before a piece is always stored,
//! but passed over only if it is not 0, so that the only branch on the pieces is the end of a rank. All other fields
//! are short texts from tables, unless castling rights are unusual.

use super::coded::Coded;
use crate::chess::{Bitboard, CastlingRights, CastlingSide, Color, Position, Role};
use crate::simd::board_text::{self, RankText};
use crate::text::short_text::ShortText;
use std::fmt;
use std::sync::LazyLock;

/// The notation for castling rights.
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
        let mut text = [0; Coded::ROOM];
        let len = Coded::from(self).write(&mut text, style);
        out.extend_from_slice(&text[..len]);
    }

    /// The FEN with castling rights by file letters (Shredder-FEN).
    pub fn shredder_fen(&self) -> String {
        let mut out = Vec::new();
        self.write_fen(&mut out, CastlingStyle::Files);
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// The letters of the piece codes.
const LETTERS: &[u8; 16] = b".PNBRQKR.pnbrqkr";

/// Board 64 + 7, side 2, castling 1 + 16, en passant 3, clocks 2 * 6.
const MAX_LEN: usize = 71 + 2 + 17 + 3 + 12;

/// Room for a text.
type Text = [u8; Coded::ROOM];

impl Coded {
    /// The longest text, and room behind it for the word with which its end is written.
    #[doc(hidden)]
    pub const ROOM: usize = (MAX_LEN + ShortText::ROOM).next_multiple_of(64);

    /// Writes the text and returns its length.
    ///
    /// # Panics
    /// Without [`Self::ROOM`].
    #[doc(hidden)]
    pub fn write(&self, text: &mut [u8], style: CastlingStyle) -> usize {
        let text: &mut Text = text.first_chunk_mut().expect("room for the longest text");
        static RANKS: LazyLock<Option<RankText>> = LazyLock::new(RankText::detect);
        let (board, _) = text.split_first_chunk_mut().expect("longer than a board");
        let at = match *RANKS {
            Some(ranks) => ranks.write(self.planes, LETTERS, board),
            None => write_ranks(self.planes, board),
        };
        // In place of the last separator.
        let side = match self.side_to_move {
            Color::White => ShortText::of(b" w "),
            Color::Black => ShortText::of(b" b "),
        };
        let at = side.write(text, at - 1);
        let at = self.write_castling(text, at, style);
        let en_passant = match self.en_passant {
            None => ShortText::of(b" - "),
            Some(square) => {
                let [file, rank] = [square.file().letter(), square.rank().digit()];
                ShortText::of(&[b' ', file as u8, rank as u8, b' '])
            }
        };
        let at = en_passant.write(text, at);
        let halfmove = ShortText::number(self.halfmove).then(ShortText::of(b" "));
        let at = halfmove.write(text, at);
        ShortText::number(self.fullmove).write(text, at)
    }

    /// The castling rights as they are mostly: all of them belong to outermost rooks. `None` if they have to be looked
    /// at one by one.
    #[inline(always)]
    fn usual_castling(&self) -> Option<ShortText> {
        const TEXTS: [ShortText; 16] = {
            let mut texts = [ShortText::of(b"-"); 16];
            let mut set = 1;
            while set < 16 {
                texts[set] = ShortText::EMPTY;
                let mut bit = 0;
                while bit < 4 {
                    if set >> bit & 1 != 0 {
                        texts[set] = texts[set].then(ShortText::of(&[b"KQkq"[bit]]));
                    }
                    bit += 1;
                }
                set += 1;
            }
            texts
        };
        let (mut set, mut explained) = (0, 0);
        for (bit, rook) in self.outermost_rooks().into_iter().enumerate() {
            explained |= rook;
            set |= usize::from(self.castling & rook != 0) << bit;
        }
        (self.castling & !explained == 0).then_some(TEXTS[set])
    }

    /// Writes the castling rights, and something behind them, and returns where they end.
    #[inline(always)]
    fn write_castling(&self, text: &mut Text, at: usize, style: CastlingStyle) -> usize {
        match self.usual_castling() {
            Some(rights) if style == CastlingStyle::Outermost => rights.write(text, at),
            _ => self.write_castling_one_by_one(text, at, style),
        }
    }

    /// Writes only the field of the castling rights and returns its length.
    ///
    /// # Panics
    /// Without [`Self::ROOM`].
    #[doc(hidden)]
    pub fn write_castling_field(&self, text: &mut [u8], style: CastlingStyle) -> usize {
        let text = text.first_chunk_mut().expect("room for the longest text");
        self.write_castling(text, 0, style)
    }

    /// The same as [`Self::write_castling`], for any rights.
    fn write_castling_one_by_one(&self, text: &mut Text, mut at: usize, style: CastlingStyle) -> usize {
        let start = at;
        for color in Color::ALL {
            let case = if color == Color::White { 0x20 } else { 0 };
            let king = self.on_back_rank(color, Role::King).first();
            let rooks = self.on_back_rank(color, Role::Rook);
            let outermost = |side| CastlingRights(rooks).rook(color, king?, side);
            // Right to left, so that the king side comes first.
            let mut rest = CastlingRights(Bitboard(self.castling)).of(color);
            while let Some(rook) = rest.last() {
                rest -= rook.into();
                let letter = match style {
                    CastlingStyle::Outermost if outermost(CastlingSide::King) == Some(rook) => b'k',
                    CastlingStyle::Outermost if outermost(CastlingSide::Queen) == Some(rook) => b'q',
                    _ => rook.file().letter() as u8,
                };
                text[at] = letter ^ case;
                at += 1;
            }
        }
        if at == start {
            text[at] = b'-';
            at += 1;
        }
        at
    }
}

/// Writes the ranks of a board with a `/` after each, and returns the length of the text.
fn write_ranks(sets: [u64; 4], text: &mut [u8; board_text::ROOM]) -> usize {
    let occupied = sets[0] | sets[1] | sets[2];
    let mut at = 0;
    for rank in (0..8).rev() {
        let row = sets.map(|set| set >> (8 * rank));
        let mut rest = occupied >> (8 * rank) & 0xFF;
        let mut file = 0;
        while rest != 0 {
            let next = rest.trailing_zeros();
            rest &= rest - 1;
            // A number is always written, but kept only if there are empty squares.
            text[at] = b'0' + (next - file) as u8;
            at += usize::from(next != file);
            let [b0, b1, b2, black] = row.map(|set| (set >> next & 1) as usize);
            text[at] = LETTERS[b0 | b1 << 1 | b2 << 2 | black << 3];
            at += 1;
            file = next + 1;
        }
        text[at] = b'0' + (8 - file) as u8;
        at += usize::from(file != 8);
        text[at] = b'/';
        at += 1;
    }
    at
}

/// The six fields of FEN; castling rights as `KQkq` if the rook is the outermost one, else its file.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text: Text = [0; Coded::ROOM];
        let len = Coded::from(self).write(&mut text, CastlingStyle::Outermost);
        f.pad(std::str::from_utf8(&text[..len]).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::{RandomPlay, Start};

    #[test]
    fn ranks_by_vectors_are_those_of_one_pass() {
        let Some(vectors) = RankText::detect() else {
            crate::testing::skipped("this CPU has no AVX2");
            return;
        };
        let mut boards: Vec<[u64; 4]> =
            RandomPlay::new(3, Start::Chess960).take(2000).map(|played| Coded::from(&played.position).planes).collect();
        // Every code on any square, empty ones of both colours included.
        let mut bits = 1u64;
        for dense in [false, true].repeat(1000) {
            let mut next = || {
                bits = bits.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                bits.swap_bytes()
            };
            let mut board = [next(), next(), next(), next()];
            if !dense {
                let thin = next() & next();
                board = board.map(|set| set & thin);
            }
            boards.push(board);
        }
        boards.extend([[0; 4], [0, 0, 0, !0], [!0; 4], [!0, 0, 0, 0]]);
        for board in boards {
            let (mut text, mut expected) = ([0; board_text::ROOM], [0; board_text::ROOM]);
            let len = vectors.write(board, LETTERS, &mut text);
            assert_eq!(len, write_ranks(board, &mut expected));
            assert_eq!(text[..len], expected[..len], "{board:x?}");
        }
    }
}
