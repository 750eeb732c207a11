//! The error of a text that is not the value of a type.

use std::borrow::Cow;

/// Why a text is not the value of a type, such as a square, a tier or a shard. Callers have nothing to tell apart: there
/// is only the message.
///
/// ```
/// use lanefish_core::chess::Square;
/// let error = "e9".parse::<Square>().unwrap_err();
/// assert_eq!(error.to_string(), "not a square: expected a letter a-h and a digit 1-8");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(Cow<'static, str>);

impl ParseError {
    /// The error with this message.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(message.into())
    }
}
