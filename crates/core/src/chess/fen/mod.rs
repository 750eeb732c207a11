//! FEN, X-FEN, Shredder-FEN and the position part of EPD.
//!
//! Accepted: six fields separated by blanks; those after the side to move may be missing
//! (`- - 0 1`). Castling letters in any order: `KQkq` mean the outermost rook on that side of the king,
//! `A`-`H` and `a`-`h` the rook on that file. If the fifth and sixth token are numbers, they are the clocks;
//! otherwise EPD operations begin there.
//!
//! [`parse`] reads a line, [`Position::write_fen`] and `Display` write one, and a [`FenError`] names the byte
//! that is wrong and what was expected there.

mod coded;
mod cursor;
mod error;
mod fast_path;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use coded::Coded;
pub use error::{Expected, FenError, FenField, PositionError};
pub use fast_path::UsualReader;
pub use read::{parse, parse_in, parse_tag, parse_usual};
pub use write::CastlingStyle;

use super::position::Position;
use super::square::Square;
use super::validity::{Validity, Violations};
use crate::option_setters::setters;

/// Whether what follows the fields of a line may be EPD operations.
#[doc(hidden)]
pub fn may_be_operations(rest: &[u8]) -> bool {
    let first = rest.first();
    first.is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b';' | b'['))
}

/// Options of parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct FenOptions {
    /// Keep the en passant square as written, even where no en passant capture is legal.
    pub keep_en_passant: bool,
}

setters!(FenOptions { keep_en_passant: bool });

/// A parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fen<'a> {
    /// The position. It need not be valid: see [`super::Validity`].
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
