//! Rows of named columns as text: one file per format behind one small trait.
//!
//! The columns of a tile are filled one after the other, then its rows are appended to a buffer. Rows are formatted
//! on all threads; only finished buffers are put in order.

pub use super::cells::SquareSetStyle;
use crate::table::{Columns, Tile};

/// A text format with one line per row.
pub(crate) trait RowFormat: Send + Sync {
    /// Appends the text before the first row.
    fn header(&self, columns: &Columns, out: &mut Vec<u8>);
    /// Appends the rows of the selected records.
    fn tile(&self, columns: &Columns, masks: SquareSetStyle, tile: &Tile<'_>, out: &mut Vec<u8>);
}
