//! Rows of named columns, as text.

use crate::output::row_format::{RowFormat, SquareSetStyle};
use crate::pipeline::Job;
use crate::queries::Queries;
use crate::table::{Columns, Fields, Tile};
use std::fmt;
use std::sync::Arc;

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
    fn queries(&self) -> Queries {
        self.columns.queries()
    }
    fn fields(&self) -> Fields {
        self.columns.fields()
    }
    fn tags(&self) -> Arc<[Arc<str>]> {
        self.columns.tags()
    }
    fn begin(&self) -> Vec<u8> {
        Vec::new()
    }
    fn tile(&self, text: &mut Vec<u8>, tile: &Tile<'_>) {
        self.format.tile(self.columns, self.masks, tile, text);
    }
}
