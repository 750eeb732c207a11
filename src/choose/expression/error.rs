//! Errors in expressions, and their places.

use std::fmt;
use std::ops::Range;

/// Maximum number of letters of the text that are shown.
const SHOWN: usize = 76;

/// An invalid expression.
///
/// It is displayed as a message, the text, and a line with marks below the invalid part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    message: String,
    text: Box<str>,
    place: Range<usize>,
    unknown_column: Option<Box<str>>,
}

impl ExpressionError {
    pub(super) fn new(text: &str, place: Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), text: text.into(), place, unknown_column: None }
    }
    /// An error about the text as a whole.
    pub(super) fn whole(text: &str, message: impl Into<String>) -> Self {
        Self::new(text, 0..text.len(), message)
    }
    pub(super) fn unknown(text: &str, place: Range<usize>, name: &str) -> Self {
        let message = format!("there is no column `{name}`");
        Self { unknown_column: Some(name.into()), ..Self::new(text, place, message) }
    }
    /// The error with more to say.
    pub(super) fn with(mut self, more: &str) -> Self {
        self.message.push_str(more);
        self
    }
    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }
    /// The invalid bytes of the text.
    pub fn place(&self) -> Range<usize> {
        self.place.clone()
    }
    /// The name of a column that does not exist.
    pub fn unknown_column(&self) -> Option<&str> {
        self.unknown_column.as_deref()
    }
    /// The text around the place, and a second line with marks below it.
    pub fn excerpt(&self) -> String {
        // Letters that do not take exactly one column are shown as blanks.
        let letters: Vec<(usize, char)> = self.text.char_indices().map(|(at, letter)| (at, plain(letter))).collect();
        let first = letters.iter().position(|&(at, _)| at >= self.place.start).unwrap_or(letters.len());
        let marked = letters.iter().filter(|&&(at, _)| self.place.contains(&at)).count().max(1);
        let start = match letters.len() {
            0..=SHOWN => 0,
            _ => first.saturating_sub(SHOWN / 2),
        };
        let line: String = letters[start.min(letters.len())..].iter().take(SHOWN).map(|&(_, letter)| letter).collect();
        let before = first - start;
        let marks = "^".repeat(marked.min(SHOWN.saturating_sub(before)).max(1));
        format!("  {line}\n  {:before$}{marks}\n", "")
    }
}

/// A letter that a terminal only shows.
pub(super) fn plain(letter: char) -> char {
    if letter.is_control() || is_direction(letter) { ' ' } else { letter }
}

/// Letters that change the direction of a line.
const fn is_direction(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.message, self.excerpt().trim_end_matches('\n'))
    }
}

impl std::error::Error for ExpressionError {}
