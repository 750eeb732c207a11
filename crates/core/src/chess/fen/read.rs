//! Reading: a line of FEN or EPD becomes a [`Fen`].
//!
//! Parsing is designed for files of millions of lines, nearly all of which look alike. What they have in common is
//! read without a branch on any byte: the pieces by vectors, the other fields as words between blanks whose places
//! come from one comparison. Whatever differs is read byte by byte, which also finds what is wrong and where.
//!
//! Where there are no vectors, the pieces are read in one pass with a dozen
//! instructions per letter and no branch but the end: a table maps each byte to a piece code and a width,
//! and the code is stored on the board's next square. Errors are detected afterwards by the positions of
//! the separators; only then does a second, slow pass find the invalid byte. The
//! codes are then gathered into bitboards eight at a time.

use super::coded::Coded;
use super::cursor::{Cursor, is_blank, is_separator};
use super::fast_path::UsualReader;
use super::{Expected, Fen, FenError, FenField, FenOptions, PositionError};
use crate::chess::{Bitboard, CastlingRights, Color, File, Position, Role, Square, Validity};
use std::str::FromStr;

/// The meaning of a byte among the pieces: the low byte is stored on the board's next square (role + 1 and 8
/// for Black, or [`SLASH`], or [`NUMBER`]), the high byte is the distance to advance.
///
/// The board has rows of sixteen: eight squares, and room for the separator, which must be on the ninth.
/// An invalid byte advances too far for the board ever to be accepted.
const STEP: [u16; 256] = {
    let mut table = [0xFF << 8; 256];
    let mut digit = 1;
    while digit <= 8 {
        table[b'0' as usize + digit] = (digit as u16) << 8 | NUMBER;
        digit += 1;
    }
    let mut role = 0;
    while role < 6 {
        let letter = Role::ALL[role].letter() as u8;
        let code = (1 << 8) | (role as u16 + 1);
        table[letter.to_ascii_uppercase() as usize] = code;
        table[letter as usize] = code | 8;
        role += 1;
    }
    table[b'/' as usize] = 8 << 8 | SLASH;
    table
};
const SLASH: u16 = 0x10;
const NUMBER: u16 = 0x20;
/// Eight ranks of eight squares and seven separators.
const LONGEST_BOARD: usize = 71;

impl<'a> Cursor<'a> {
    fn board_in_one_pass(&mut self) -> Result<Position, FenError> {
        let start = self.at;
        // In FEN's order: a8, b8, … h8, separator, seven unused, a7, …
        let mut codes = [0u8; 128];
        let mut place = 0;
        let mut previous = 0;
        let mut adjacent = 0;
        let bytes = &self.line[start..];
        for &byte in &bytes[..bytes.len().min(LONGEST_BOARD)] {
            if byte <= b' ' {
                break;
            }
            let step = STEP[byte as usize];
            codes[place & 127] = step as u8;
            place += usize::from(step >> 8);
            adjacent |= previous & step & NUMBER;
            previous = step;
            self.at += 1;
        }
        let mut rows = [0u64; 8];
        let mut separated = true;
        let mut strays = 0;
        for (rank, chunk) in codes.as_chunks::<16>().0.iter().enumerate() {
            let ([row, _], _) = chunk.as_chunks::<8>() else {
                continue;
            };
            rows[rank] = u64::from_le_bytes(*row);
            strays |= rows[rank];
            separated &= rank == 7 || u16::from(chunk[8]) == SLASH;
        }
        const NO_SEPARATOR: u64 = 0x1010_1010_1010_1010;
        // Places only ever grow, so the last one also shows that none was beyond the board.
        let whole = place == 7 * 16 + 8 && separated && strays & NO_SEPARATOR == 0;
        if !whole || adjacent != 0 || !self.peek().is_none_or(is_blank) {
            self.at = start;
            return Err(self.blame_board());
        }
        let mut planes = [0u64; 4];
        for (rank, row) in rows.iter().enumerate() {
            for (bit, plane) in planes.iter_mut().enumerate() {
                // Gathers one bit of each byte into the top byte, with the a-file lowest.
                let bits = (row >> bit & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080);
                *plane |= bits >> 56 << (8 * (7 - rank));
            }
        }
        Ok(Position::from(&Coded::of_planes(planes)))
    }

    /// Finds the byte that makes the pieces invalid.
    #[cold]
    fn blame_board(&mut self) -> FenError {
        let (mut rank, mut squares, mut after_number) = (1, 0, false);
        let wrong = |cursor: &Self, expected| cursor.error(FenField::Board, expected);
        while let Some(byte) = self.peek().filter(|&byte| !is_blank(byte)) {
            let step = STEP[byte as usize];
            let (what, width) = (step & 0xFF, step >> 8);
            if width == 0xFF {
                return wrong(self, Expected::Piece);
            }
            if what == SLASH {
                match (squares, rank) {
                    (8, 8) => return wrong(self, Expected::EndOfBoard),
                    (8, _) => (rank, squares) = (rank + 1, 0),
                    _ => return wrong(self, Expected::MoreOfRank),
                }
            } else if squares + width > 8 {
                let full_board = squares == 8 && rank == 8;
                let end = if full_board { Expected::EndOfBoard } else { Expected::EndOfRank };
                return wrong(self, end);
            } else if after_number && what == NUMBER {
                return wrong(self, Expected::NoSecondNumber);
            } else {
                squares += width;
            }
            after_number = what == NUMBER;
            self.at += 1;
        }
        if squares < 8 {
            return wrong(self, Expected::MoreOfRank);
        }
        wrong(self, Expected::MoreRanks)
    }

    #[inline(always)]
    fn castling(&mut self, position: &mut Position, lenient: bool) -> Result<u64, FenError> {
        let mut dropped = 0;
        if self.peek() == Some(b'-') {
            self.at += 1;
            return self.end_of_field(FenField::Castling).map(|()| dropped);
        }
        while let Some(letter) = self.peek().filter(|&byte| !is_blank(byte)) {
            let fail = |expected| Err(self.error(FenField::Castling, expected));
            let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
            let rank = Bitboard::rank(CastlingRights::back_rank(color));
            let king = position.pieces(color, Role::King) & rank;
            let rooks = position.pieces(color, Role::Rook) & rank;
            let below = Bitboard(king.0.wrapping_sub(1) & !king.0);
            let rook = match letter | 0x20 {
                b'k' => (rooks - below).last(),
                b'q' => (rooks & below).first(),
                b'a'..=b'h' => {
                    let file = File::new((letter | 0x20) - b'a');
                    (rooks & Bitboard::file(file)).first()
                }
                _ => return fail(Expected::CastlingLetter),
            };
            if lenient && (king.is_empty() || rook.is_none()) {
                dropped += 1;
                self.at += 1;
                continue;
            }
            if king.is_empty() {
                return fail(Expected::CastlingKing);
            }
            let Some(rook) = rook else {
                return fail(Expected::CastlingRook);
            };
            if position.castling.0.contains(rook) {
                return fail(Expected::NewCastlingRight);
            }
            position.castling.0 |= rook.into();
            self.at += 1;
        }
        Ok(dropped)
    }

    #[inline(always)]
    fn en_passant(&mut self) -> Result<Option<Square>, FenError> {
        let field = FenField::EnPassant;
        if self.peek() == Some(b'-') {
            self.at += 1;
            self.end_of_position(field)?;
            return Ok(None);
        }
        let Some(file) = self.peek().filter(|byte| matches!(byte, b'a'..=b'h')) else {
            return Err(self.error(field, Expected::Square));
        };
        self.at += 1;
        let Some(rank) = self.peek().filter(|byte| matches!(byte, b'1'..=b'8')) else {
            return Err(self.error(field, Expected::Square));
        };
        self.at += 1;
        self.end_of_position(field)?;
        Ok(Some(Square::new((rank - b'1') * 8 + (file - b'a'))))
    }

    /// A token of digits, ended by a blank, a separator or the end of the line. `None` without one; `Err(())` beyond
    /// u16.
    #[inline(always)]
    fn number(&mut self) -> Option<Result<u16, ()>> {
        let start = self.at;
        let mut value = 0u32;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = (value * 10 + u32::from(digit - b'0')).min(1 << 16);
            self.at += 1;
        }
        let ended = self.peek().is_none_or(|byte| is_blank(byte) || is_separator(byte));
        if self.at == start || !ended {
            self.at = start;
            return None;
        }
        Some(u16::try_from(value).map_err(|_| ()))
    }

    #[inline(always)]
    fn clocks(&mut self, position: &mut Position) -> Result<(), FenError> {
        let (line, text) = (self.line, self.text);
        let too_large = |at, field| Cursor { line, text, at }.error(field, Expected::Number);
        let first = self.at;
        let Some(halfmove) = self.number() else {
            return Ok(());
        };
        self.skip_blanks();
        let second = self.at;
        let fullmove = match self.number() {
            Some(fullmove) => fullmove,
            None if self.at == self.line.len() => Ok(1),
            None => {
                // A number followed by something else is not a clock.
                self.at = first;
                return Ok(());
            }
        };
        position.halfmove = halfmove.map_err(|()| too_large(first, FenField::Halfmove))?;
        position.fullmove = fullmove.map_err(|()| too_large(second, FenField::Fullmove))?;
        Ok(())
    }

    /// The fields between the pieces and the clocks, one after the other, and the number of dropped castling rights.
    fn fields(&mut self, mut position: Position, lenient: bool) -> Result<(Position, u64), FenError> {
        let mut dropped_castling = 0;
        self.skip_blanks();
        match self.peek() {
            Some(b'w') => self.at += 1,
            Some(b'b') => {
                position.side_to_move = Color::Black;
                self.at += 1;
            }
            None if lenient => {}
            _ => return Err(self.error(FenField::SideToMove, Expected::SideToMove)),
        }
        self.end_of_field(FenField::SideToMove)?;
        self.skip_blanks();
        if self.peek().is_some() {
            dropped_castling = self.castling(&mut position, lenient)?;
            self.skip_blanks();
        }
        if self.peek().is_some() {
            position.en_passant = self.en_passant()?;
        }
        Ok((position, dropped_castling))
    }

    /// The result, and the text after it.
    #[inline(always)]
    fn finish(mut self, mut position: Position, options: FenOptions, dropped_castling: u64) -> Fen<'a> {
        self.skip_blanks();
        let written_en_passant = position.en_passant;
        if !options.keep_en_passant && written_en_passant.is_some() {
            position.drop_unusable_en_passant();
        }
        Fen { position, written_en_passant, dropped_castling, rest: &self.line[self.at..] }
    }
}

/// Parses a line of FEN or EPD: the position, and what follows it.
///
/// # Errors
/// With the field, the byte and what was expected there.
///
/// ```
/// use lanefish_core::chess::fen;
/// let line = b"8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Rxb2; id \"BK.11\";";
/// let read = fen::parse(line, fen::FenOptions::default()).unwrap();
/// assert_eq!(read.rest, b"bm Rxb2; id \"BK.11\";");
/// ```
#[inline]
#[doc(hidden)]
pub fn parse(line: &[u8], options: FenOptions) -> Result<Fen<'_>, FenError> {
    read(line, line.len(), options, false)
}

/// The same as [`parse`], for a line in a longer text: its first `len` bytes. Vectors may read the bytes after them.
///
/// # Panics
/// If the text is shorter.
#[inline]
#[doc(hidden)]
pub fn parse_in(text: &[u8], len: usize, options: FenOptions) -> Result<Fen<'_>, FenError> {
    read(text, len, options, false)
}

/// Parses the `FEN` tag of a game, with more tolerance: the side to move may also be missing (it is White),
/// and castling rights are dropped if the king or the rook is elsewhere.
///
/// # Errors
/// As [`parse`].
///
/// ```
/// use lanefish_core::chess::fen;
/// let read = fen::parse_tag(b"4k3/8/8/8/8/8/8/4K2R").unwrap();
/// assert_eq!(read.position.to_string(), "4k3/8/8/8/8/8/8/4K2R w - - 0 1");
/// let read = fen::parse_tag(b"4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1").unwrap();
/// assert_eq!(read.position.to_string(), "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
/// assert_eq!(read.dropped_castling, 3);
/// ```
#[doc(hidden)]
pub fn parse_tag(text: &[u8]) -> Result<Fen<'_>, FenError> {
    read(text, text.len(), FenOptions::default(), true)
}

/// The position in a line, the first `len` bytes of a text, if all of its fields are as in nearly all lines, without
/// an en passant square, and nothing follows them. [`parse_in`] reads the same, and all other lines.
#[inline(always)]
#[doc(hidden)]
pub fn parse_usual(text: &[u8], len: usize) -> Option<Coded> {
    let coded = UsualReader::best()?.line_of(text, len)?;
    coded.en_passant.is_none().then_some(coded)
}

#[inline(always)]
fn read(text: &[u8], len: usize, options: FenOptions, lenient: bool) -> Result<Fen<'_>, FenError> {
    let mut cursor = Cursor { line: text[..len].trim_ascii_end(), text, at: 0 };
    cursor.skip_blanks();
    let (mut position, dropped_castling) = match cursor.board_by_vectors() {
        Some(mut coded) => match cursor.usual_fields(&mut coded) {
            Some(()) => (Position::from(&coded), 0),
            None => cursor.fields(Position::from(&coded), lenient)?,
        },
        None => {
            let position = cursor.board_in_one_pass()?;
            cursor.fields(position, lenient)?
        }
    };
    cursor.skip_blanks();
    match cursor.usual_clocks() {
        Some([halfmove, fullmove]) => {
            position.halfmove = halfmove;
            position.fullmove = fullmove;
        }
        None => cursor.clocks(&mut position)?,
    }
    Ok(cursor.finish(position, options, dropped_castling))
}

/// The same as [`parse`], byte by byte.
#[cfg(test)]
pub(super) fn parse_slowly(line: &[u8], options: FenOptions) -> Result<Fen<'_>, FenError> {
    let mut cursor = Cursor { line: line.trim_ascii_end(), text: line, at: 0 };
    cursor.skip_blanks();
    let position = cursor.board_in_one_pass()?;
    let (mut position, dropped_castling) = cursor.fields(position, false)?;
    cursor.skip_blanks();
    cursor.clocks(&mut position)?;
    Ok(cursor.finish(position, options, dropped_castling))
}

impl Position {
    /// Reads FEN whether or not the rules allow the position; nothing may follow the six fields. An en passant
    /// square is kept only where an en passant capture is legal.
    ///
    /// Use `parse` for positions that queries will be asked about: it accepts playable ones only.
    ///
    /// ```
    /// use lanefish_core::chess::Position;
    /// let no_kings = Position::from_fen_unvalidated("8/8/8/8/8/8/8/8 w - - 0 1").unwrap();
    /// assert!(no_kings.occupied().is_empty());
    /// assert!("8/8/8/8/8/8/8/8 w - - 0 1".parse::<Position>().is_err());
    /// ```
    ///
    /// # Errors
    /// As for [`parse`], and if text follows the fields.
    pub fn from_fen_unvalidated(text: &str) -> Result<Self, FenError> {
        let fen = parse(text.as_bytes(), FenOptions::default())?;
        if let Some(&found) = fen.rest.first() {
            let line = text.trim_ascii_end();
            return Err(FenError {
                field: FenField::Rest,
                column: line.len() - fen.rest.len() + 1,
                found: Some(found),
                expected: Expected::End,
            });
        }
        Ok(fen.position)
    }
}

/// Playable positions only; see [`Validity::Playable`].
///
/// ```
/// use lanefish_core::chess::Position;
/// let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/// assert_eq!(start.parse(), Ok(Position::standard()));
/// assert_eq!(Position::standard().to_string(), start);
/// assert_eq!(
///     "4k3/8/8/8/8/8/8/4K2P b - - 0 1".parse::<Position>().unwrap_err().to_string(),
///     "invalid position: a pawn on the first or last rank"
/// );
/// ```
impl FromStr for Position {
    type Err = PositionError;
    fn from_str(text: &str) -> Result<Self, PositionError> {
        let position = Self::from_fen_unvalidated(text)?;
        let violations = position.violations(Validity::Playable);
        if violations.is_empty() { Ok(position) } else { Err(PositionError::Invalid(violations)) }
    }
}
