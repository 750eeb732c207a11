//! A place in a line of FEN.

use super::error::{Expected, FenError, FenField};

#[inline(always)]
pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Whether a byte separates a position from what follows it, so that no blank is needed between them: EPD operations
/// without a blank before them, and results in lines of training data.
#[inline(always)]
pub(super) fn is_separator(byte: u8) -> bool {
    matches!(byte, b';' | b',' | b'|' | b'[')
}

/// A reader over the bytes of a line.
pub(super) struct Cursor<'a> {
    pub(super) line: &'a [u8],
    /// The line and what follows it, at which vectors may look.
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    pub(super) fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }
    #[inline(always)]
    pub(super) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }
    #[cold]
    pub(super) fn error(&self, field: FenField, expected: Expected) -> FenError {
        FenError { field, column: self.at + 1, found: self.peek(), expected }
    }
    #[inline(always)]
    pub(super) fn end_of_field(&self, field: FenField) -> Result<(), FenError> {
        match self.peek() {
            Some(byte) if !is_blank(byte) => Err(self.error(field, Expected::Blank)),
            _ => Ok(()),
        }
    }
    /// As [`Self::end_of_field`], for the last field that every position has: what follows it may begin without a blank.
    #[inline(always)]
    pub(super) fn end_of_position(&self, field: FenField) -> Result<(), FenError> {
        match self.peek() {
            Some(byte) if is_separator(byte) => Ok(()),
            _ => self.end_of_field(field),
        }
    }
}
