//! A value of a line.

/// A value of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Missing,
    Text(&'a [u8]),
    /// Only in JSON: neither a string nor a number.
    Other(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// The text, if there is any.
    pub(super) fn text(self) -> Option<&'a [u8]> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}
