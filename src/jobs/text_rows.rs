//! Rows of named columns, as text.

use crate::output::row_format::{RowFormat, SquareSetStyle};
use crate::pipeline::Job;
use crate::table::{Columns, Needs, Tile};
use std::fmt;

/// Writes the rows of all records.
pub(super) struct Rows<'a> {
    /// The columns, in their order.
    pub(super) columns: &'a Columns,
    /// The text format of the rows.
    pub(super) format: &'a dyn RowFormat,
    /// The notation for sets of squares.
    pub(super) masks: SquareSetStyle,
}

impl fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Job for Rows<'_> {
    type Part = Vec<u8>;
    fn needs(&self) -> Needs {
        self.columns.needs()
    }
    fn begin(&self) -> Vec<u8> {
        Vec::new()
    }
    fn tile(&self, text: &mut Vec<u8>, tile: &Tile<'_>) {
        self.format.tile(self.columns, self.masks, tile, text);
    }
}
