//! Text as such, for all modules: made in place, made safe for one line, numbers for readers.

pub(crate) mod hash;
pub mod numbers;
pub mod one_line;
pub(crate) mod room;
pub(crate) mod short_text;
