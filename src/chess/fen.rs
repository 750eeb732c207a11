//! FEN, X-FEN, Shredder-FEN and the position part of EPD.
//!
//! Parsing is designed for files of millions of lines. The pieces are read in one pass with a dozen
//! instructions per letter and no branch but the end: a table maps each byte to a piece code and a width,
//! and the code is stored on the board's next square. Errors are detected afterwards by the positions of
//! the separators; only then does a second, slow pass find the invalid byte. The
//! codes are then gathered into bitboards eight at a time.
//!
//! Accepted: six fields separated by blanks; those after the side to move may be missing
//! (`- - 0 1`). Castling letters in any order: `KQkq` mean the outermost rook on that side of the king,
//! `A`-`H` and `a`-`h` the rook on that file. If the fifth and sixth token are numbers, they are the clocks;
//! otherwise EPD operations begin there.

use super::bitboard::Bitboard;
use super::castling::{CastlingRights, CastlingSide};
use super::piece::{Color, Role};
use super::position::Position;
use super::square::{File, Square};
use super::validity::{Validity, Violations};
use std::fmt;
use std::str::FromStr;

/// Options of parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FenOptions {
    /// Keep the en passant square as written, even where no en passant capture is legal.
    pub keep_en_passant: bool,
}

/// A parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fen<'a> {
    /// The position. It need not be valid: see [`super::validity`].
    pub position: Position,
    /// The en passant square as written.
    pub written_en_passant: Option<Square>,
    /// Castling rights that were dropped because the king or the rook is elsewhere: see
    /// [`parse_tag`].
    pub dropped_castling: u64,
    /// What follows the last field of the position, without blanks around it: the operations
    /// of EPD, perft counts, or nothing.
    pub rest: &'a [u8],
}

impl Fen<'_> {
    /// Whether an en passant square was given and dropped, because no en passant capture is legal.
    #[inline]
    pub fn dropped_en_passant(&self) -> bool {
        self.written_en_passant != self.position.en_passant
    }

    /// The rules that the position breaks; the strict ones check the en passant square as it was written.
    #[inline]
    pub fn violations(&self, validity: Validity) -> Violations {
        if validity == Validity::Strict && self.dropped_en_passant() {
            let mut written = self.position.clone();
            written.en_passant = self.written_en_passant;
            return written.violations(validity);
        }
        self.position.violations(validity)
    }
}

/// A field of FEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The pieces.
    Board,
    /// The side to move.
    SideToMove,
    /// The castling rights.
    Castling,
    /// The en passant square.
    EnPassant,
    /// The halfmove clock.
    Halfmove,
    /// The move number.
    Fullmove,
    /// What follows the six fields.
    Rest,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Board => "pieces",
            Self::SideToMove => "side to move",
            Self::Castling => "castling rights",
            Self::EnPassant => "en passant square",
            Self::Halfmove => "halfmove clock",
            Self::Fullmove => "move number",
            Self::Rest => "end",
        })
    }
}

/// What was expected at the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Expected {
    /// A piece or empty squares.
    #[error("a piece (PNBRQK or pnbrqk) or a number of empty squares (1-8)")]
    Piece,
    /// Two adjacent numbers.
    #[error("a piece or `/`: adjacent empty squares are one number")]
    NoSecondNumber,
    /// The rank already has eight squares.
    #[error("`/`: the rank has its 8 squares")]
    EndOfRank,
    /// The rank does not have eight squares yet.
    #[error("more of the rank: it has fewer than 8 squares")]
    MoreOfRank,
    /// The board does not have eight ranks yet.
    #[error("more ranks: the board has fewer than 8")]
    MoreRanks,
    /// The board already has eight ranks.
    #[error("a blank: the board has its 8 ranks")]
    EndOfBoard,
    /// The side to move.
    #[error("`w` or `b`")]
    SideToMove,
    /// The end of a field.
    #[error("a blank")]
    Blank,
    /// A castling letter.
    #[error("`-` or letters out of KQkq, A-H, a-h")]
    CastlingLetter,
    /// A right that was not given before.
    #[error("another right: this one was already given")]
    NewCastlingRight,
    /// A king where castling needs it.
    #[error("a king of that colour on its first rank")]
    CastlingKing,
    /// A rook where castling needs it.
    #[error("a rook of that colour there on its first rank")]
    CastlingRook,
    /// A square.
    #[error("`-` or a square (a-h, then 1-8)")]
    Square,
    /// A number that fits.
    #[error("a number of at most 65535")]
    Number,
    /// Nothing more.
    #[error("nothing more")]
    End,
}

impl Expected {
    /// A stable name in snake case, for counting rejects by reason.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Piece => "fen_piece",
            Self::NoSecondNumber => "fen_adjacent_numbers",
            Self::EndOfRank => "fen_rank_too_long",
            Self::MoreOfRank => "fen_rank_too_short",
            Self::MoreRanks => "fen_too_few_ranks",
            Self::EndOfBoard => "fen_too_many_ranks",
            Self::SideToMove => "fen_side_to_move",
            Self::Blank => "fen_blank",
            Self::CastlingLetter => "fen_castling_letter",
            Self::NewCastlingRight => "fen_castling_twice",
            Self::CastlingKing => "fen_castling_king",
            Self::CastlingRook => "fen_castling_rook",
            Self::Square => "fen_en_passant",
            Self::Number => "fen_clock",
            Self::End => "fen_trailing_text",
        }
    }
}

/// Where and why a text is not a valid FEN.
///
/// ```
/// use lanefish::chess::Position;
/// let error = Position::from_fen_unvalidated("8/8/8/8/8/8/8/8 x").unwrap_err();
/// assert_eq!(error.to_string(), "side to move, column 17: found `x`, expected `w` or `b`");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FenError {
    /// The field that contains the error.
    pub field: Field,
    /// The byte of the line, counted from 1.
    pub column: usize,
    /// What was found; `None` at the end of the line.
    pub found: Option<u8>,
    /// What was expected.
    pub expected: Expected,
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, column {}: found ", self.field, self.column)?;
        match self.found {
            None => f.write_str("the end of the line")?,
            Some(byte @ b'!'..=b'~') => write!(f, "`{}`", byte as char)?,
            Some(b' ') => f.write_str("a blank")?,
            Some(byte) => write!(f, "byte 0x{byte:02X}")?,
        }
        write!(f, ", expected {}", self.expected)
    }
}
impl std::error::Error for FenError {}

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

#[inline(always)]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A reader over the bytes of a line.
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }
    #[inline(always)]
    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }
    #[cold]
    fn error(&self, field: Field, expected: Expected) -> FenError {
        FenError {
            field,
            column: self.at + 1,
            found: self.peek(),
            expected,
        }
    }
    #[inline(always)]
    fn end_of_field(&self, field: Field) -> Result<(), FenError> {
        match self.peek() {
            Some(byte) if !is_blank(byte) => Err(self.error(field, Expected::Blank)),
            _ => Ok(()),
        }
    }

    #[inline(always)]
    fn board(&mut self) -> Result<Position, FenError> {
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
        let [b0, b1, b2, black] = planes;
        let sets = [
            b0 & !b1 & !b2,
            b1 & !b0 & !b2,
            b0 & b1,
            b2 & !b0 & !b1,
            b2 & b0,
            b2 & b1,
        ];
        let occupied = b0 | b1 | b2;
        Ok(Position::from_sets(
            sets.map(Bitboard),
            [Bitboard(occupied & !black), Bitboard(black)],
        ))
    }

    /// Finds the byte that makes the pieces invalid.
    #[cold]
    fn blame_board(&mut self) -> FenError {
        let (mut rank, mut squares, mut after_number) = (1, 0, false);
        let wrong = |cursor: &Self, expected| cursor.error(Field::Board, expected);
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
                let end = if full_board {
                    Expected::EndOfBoard
                } else {
                    Expected::EndOfRank
                };
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
            return self.end_of_field(Field::Castling).map(|()| dropped);
        }
        while let Some(letter) = self.peek().filter(|&byte| !is_blank(byte)) {
            let fail = |expected| Err(self.error(Field::Castling, expected));
            let color = if letter.is_ascii_uppercase() {
                Color::White
            } else {
                Color::Black
            };
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
        let field = Field::EnPassant;
        if self.peek() == Some(b'-') {
            self.at += 1;
            self.end_of_field(field)?;
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
        self.end_of_field(field)?;
        Ok(Some(Square::new((rank - b'1') * 8 + (file - b'a'))))
    }

    /// A token of digits, ended by a blank, a `;` or the end of the line. `None` without one; `Err(())` beyond u16.
    #[inline(always)]
    fn number(&mut self) -> Option<Result<u16, ()>> {
        let start = self.at;
        let mut value = 0u32;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = (value * 10 + u32::from(digit - b'0')).min(1 << 16);
            self.at += 1;
        }
        let ended = self
            .peek()
            .is_none_or(|byte| is_blank(byte) || byte == b';');
        if self.at == start || !ended {
            self.at = start;
            return None;
        }
        Some(u16::try_from(value).map_err(|_| ()))
    }

    #[inline(always)]
    fn clocks(&mut self, position: &mut Position) -> Result<(), FenError> {
        let too_large = |line, at, field| {
            let cursor = Cursor { line, at };
            cursor.error(field, Expected::Number)
        };
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
        let line = self.line;
        position.halfmove = halfmove.map_err(|()| too_large(line, first, Field::Halfmove))?;
        position.fullmove = fullmove.map_err(|()| too_large(line, second, Field::Fullmove))?;
        Ok(())
    }
}

/// Parses a line of FEN or EPD: the position, and what follows it.
///
/// # Errors
/// With the field, the byte and what was expected there.
///
/// ```
/// use lanefish::chess::fen;
/// let line = b"8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Rxb2; id \"BK.11\";";
/// let read = fen::parse(line, fen::FenOptions::default()).unwrap();
/// assert_eq!(read.rest, b"bm Rxb2; id \"BK.11\";");
/// ```
#[inline]
pub fn parse(line: &[u8], options: FenOptions) -> Result<Fen<'_>, FenError> {
    read(line, options, false)
}

/// Parses the `FEN` tag of a game, with more tolerance: the side to move may also be missing (it is White),
/// and castling rights are dropped if the king or the rook is elsewhere.
///
/// # Errors
/// As [`parse`].
///
/// ```
/// use lanefish::chess::fen;
/// let read = fen::parse_tag(b"4k3/8/8/8/8/8/8/4K2R").unwrap();
/// assert_eq!(read.position.to_string(), "4k3/8/8/8/8/8/8/4K2R w - - 0 1");
/// let read = fen::parse_tag(b"4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1").unwrap();
/// assert_eq!(read.position.to_string(), "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
/// assert_eq!(read.dropped_castling, 3);
/// ```
pub fn parse_tag(text: &[u8]) -> Result<Fen<'_>, FenError> {
    read(text, FenOptions::default(), true)
}

#[inline(always)]
fn read(line: &[u8], options: FenOptions, lenient: bool) -> Result<Fen<'_>, FenError> {
    let mut cursor = Cursor {
        line: line.trim_ascii_end(),
        at: 0,
    };
    cursor.skip_blanks();
    let mut position = cursor.board()?;
    cursor.skip_blanks();
    let mut dropped_castling = 0;
    match cursor.peek() {
        Some(b'w') => cursor.at += 1,
        Some(b'b') => {
            position.side_to_move = Color::Black;
            cursor.at += 1;
        }
        None if lenient => {}
        _ => return Err(cursor.error(Field::SideToMove, Expected::SideToMove)),
    }
    cursor.end_of_field(Field::SideToMove)?;
    cursor.skip_blanks();
    if cursor.peek().is_some() {
        dropped_castling = cursor.castling(&mut position, lenient)?;
        cursor.skip_blanks();
    }
    if cursor.peek().is_some() {
        position.en_passant = cursor.en_passant()?;
        cursor.skip_blanks();
    }
    cursor.clocks(&mut position)?;
    cursor.skip_blanks();
    let written_en_passant = position.en_passant;
    if !options.keep_en_passant && written_en_passant.is_some() {
        position.drop_idle_en_passant();
    }
    Ok(Fen {
        position,
        written_en_passant,
        dropped_castling,
        rest: &cursor.line[cursor.at..],
    })
}

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
    /// Reads FEN whether or not the rules allow the position; nothing may follow the six fields. An en passant
    /// square is kept only where an en passant capture is legal.
    ///
    /// For positions that may be asked about, use `parse`: it accepts playable ones only.
    ///
    /// ```
    /// use lanefish::chess::Position;
    /// let no_kings = Position::from_fen_unvalidated("8/8/8/8/8/8/8/8 w - - 0 1").unwrap();
    /// assert!(no_kings.occupied().is_empty());
    /// assert!("8/8/8/8/8/8/8/8 w - - 0 1".parse::<Position>().is_err());
    /// ```
    ///
    /// # Errors
    /// As [`parse`], and when something follows the fields.
    pub fn from_fen_unvalidated(text: &str) -> Result<Self, FenError> {
        let fen = parse(text.as_bytes(), FenOptions::default())?;
        if let Some(&found) = fen.rest.first() {
            let line = text.trim_ascii_end();
            return Err(FenError {
                field: Field::Rest,
                column: line.len() - fen.rest.len() + 1,
                found: Some(found),
                expected: Expected::End,
            });
        }
        Ok(fen.position)
    }

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

/// Why a text is no playable position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// It is no FEN.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// The position breaks rules.
    #[error("invalid position: {0}")]
    Invalid(Violations),
}

/// Playable positions only; see [`Validity::Playable`].
///
/// ```
/// use lanefish::chess::Position;
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
        match violations.is_empty() {
            true => Ok(position),
            false => Err(PositionError::Invalid(violations)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    fn fails(text: &str) -> String {
        Position::from_fen_unvalidated(text)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn names_the_byte_and_what_was_expected() {
        let cases = [
            (
                "",
                "pieces, column 1: found the end of the line, expected more of the rank: it has fewer than 8 squares",
            ),
            (
                "8/8/8/8/8/8/8/7",
                "pieces, column 16: found the end of the line, expected more of the rank: it has fewer than 8 squares",
            ),
            (
                "8/8/8/8/8/8/8 w",
                "pieces, column 14: found a blank, expected more ranks: the board has fewer than 8",
            ),
            (
                "8/8/8/8/8/8/8/8/8 w",
                "pieces, column 16: found `/`, expected a blank: the board has its 8 ranks",
            ),
            (
                "8/8/8/8/8/8/8/8Q w",
                "pieces, column 16: found `Q`, expected a blank: the board has its 8 ranks",
            ),
            (
                "44/8/8/8/8/8/8/8 w",
                "pieces, column 2: found `4`, expected a piece or `/`: adjacent empty squares are one number",
            ),
            (
                "8/7/9/8/8/8/8/8 w",
                "pieces, column 4: found `/`, expected more of the rank: it has fewer than 8 squares",
            ),
            (
                "8/7pp/8/8/8/8/8/8 w",
                "pieces, column 5: found `p`, expected `/`: the rank has its 8 squares",
            ),
            (
                "8/7x/8/8/8/8/8/8 w",
                "pieces, column 4: found `x`, expected a piece (PNBRQK or pnbrqk) or a number of empty squares (1-8)",
            ),
            (
                "8/8/8/8/8/8/8/8",
                "side to move, column 16: found the end of the line, expected `w` or `b`",
            ),
            (
                "8/8/8/8/8/8/8/8 white",
                "side to move, column 18: found `h`, expected a blank",
            ),
            (
                "8/8/8/8/8/8/8/8 w X",
                "castling rights, column 19: found `X`, expected `-` or letters out of KQkq, A-H, a-h",
            ),
            (
                "8/8/8/8/8/8/8/8 w K",
                "castling rights, column 19: found `K`, expected a king of that colour on its first rank",
            ),
            (
                "8/8/8/8/8/8/8/R3K3 w K",
                "castling rights, column 22: found `K`, expected a rook of that colour there on its first rank",
            ),
            (
                "8/8/8/8/8/8/8/R3K3 w QA",
                "castling rights, column 23: found `A`, expected another right: this one was already given",
            ),
            (
                "8/8/8/8/8/8/8/8 w - e9",
                "en passant square, column 22: found `9`, expected `-` or a square (a-h, then 1-8)",
            ),
            (
                "8/8/8/8/8/8/8/8 w - - 65536 1",
                "halfmove clock, column 23: found `6`, expected a number of at most 65535",
            ),
            (
                "8/8/8/8/8/8/8/8 w - - 0 1 1",
                "end, column 27: found `1`, expected nothing more",
            ),
            (
                "8/8/8/8/8/8/8/8 w - - bm",
                "end, column 23: found `b`, expected nothing more",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(fails(text), message, "{text}");
        }
    }

    #[test]
    fn every_prefix_of_a_position_is_read_or_refused_without_panic() {
        for end in 0..START.len() {
            let read = Position::from_fen_unvalidated(&START[..end]);
            let fields_begin = START.find(" w").unwrap();
            assert_eq!(read.is_ok(), end >= fields_begin + 2, "{end}");
        }
    }

    #[test]
    fn missing_fields_have_defaults() {
        let full = Position::from_fen_unvalidated("4k3/8/8/8/8/8/8/4K3 b - - 0 1").unwrap();
        for text in [
            "4k3/8/8/8/8/8/8/4K3 b",
            "4k3/8/8/8/8/8/8/4K3 b -",
            "4k3/8/8/8/8/8/8/4K3 b - -  ",
            "  4k3/8/8/8/8/8/8/4K3  b  -  -  0\r\n",
        ] {
            assert_eq!(
                Position::from_fen_unvalidated(text).as_ref(),
                Ok(&full),
                "{text:?}"
            );
        }
    }

    #[test]
    fn clocks_are_two_numbers_and_else_operations_begin() {
        let read = |text| parse(text, FenOptions::default()).unwrap();
        let line = read(b"4k3/8/8/8/8/8/8/4K3 w - - 12 34 ;D1 5");
        assert_eq!((line.position.halfmove, line.position.fullmove), (12, 34));
        assert_eq!(line.rest, b";D1 5");
        let line = read(b"4k3/8/8/8/8/8/8/4K3 w - - 12 bm Kd2;\r");
        assert_eq!((line.position.halfmove, line.position.fullmove), (0, 1));
        assert_eq!(line.rest, b"12 bm Kd2;");
    }

    #[test]
    fn castling_dialects_name_the_same_rooks() {
        let board = "1r2k1rr/8/8/8/8/8/8/RR2K2R w ";
        let read = |rights: &str| {
            Position::from_fen_unvalidated(&format!("{board}{rights} - 0 1")).unwrap()
        };
        assert_eq!(read("KQkq"), read("qkQK"));
        assert_eq!(read("KQkq"), read("HAhb"));
        assert_eq!(read("HAhb").to_string(), format!("{board}KQkq - 0 1"));
        assert_eq!(read("HBgb").to_string(), format!("{board}KBgq - 0 1"));
        assert_eq!(read("KQkq").shredder_fen(), format!("{board}HAhb - 0 1"));
    }

    #[test]
    fn en_passant_is_kept_where_a_capture_is_legal() {
        let keep = FenOptions {
            keep_en_passant: true,
        };
        let text = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
        let e3 = Some("e3".parse().unwrap());
        let read = parse(text.as_bytes(), FenOptions::default()).unwrap();
        assert_eq!(read.position.en_passant, None);
        assert_eq!(read.written_en_passant, e3);
        assert!(read.dropped_en_passant());
        let read = parse(text.as_bytes(), keep).unwrap();
        assert_eq!(read.position.en_passant, e3);
        assert_eq!(read.position.to_string(), text);
        // Legal; and pinned along the rank, where both pawns leave at once.
        for (text, kept) in [
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", true),
            ("8/8/8/K2pP2q/8/8/8/4k3 w - d6 0 1", false),
        ] {
            assert_eq!(
                Position::from_fen_unvalidated(text)
                    .unwrap()
                    .en_passant
                    .is_some(),
                kept,
                "{text}"
            );
        }
    }
}
