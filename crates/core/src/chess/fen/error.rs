//! Errors in the text of a position, and their messages.
//!
//! An error is the field, the byte and what was expected there, not a finished message: so rejects can be
//! counted by reason ([`Expected::name`]) as well as explained.

use crate::chess::Violations;
use std::fmt;

/// A field of FEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FenField {
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
    /// The text after the six fields.
    Rest,
}

impl fmt::Display for FenField {
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

/// The expected text at the error.
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
/// use lanefish_core::chess::Position;
/// let error = Position::from_fen_unvalidated("8/8/8/8/8/8/8/8 x").unwrap_err();
/// assert_eq!(error.to_string(), "side to move, column 17: found `x`, expected `w` or `b`");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FenError {
    /// The field that contains the error.
    pub field: FenField,
    /// The byte of the line, counted from 1.
    pub column: usize,
    /// What was found; `None` at the end of the line.
    pub found: Option<u8>,
    /// What was expected.
    pub expected: Expected,
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (self.field, self.column, self.found) == (FenField::Board, 1, None) {
            return f.write_str("the line is empty");
        }
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

/// The reason why a text is not a playable position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// The text is not valid FEN.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// The position breaks rules.
    #[error("invalid position: {0}")]
    Invalid(Violations),
}
