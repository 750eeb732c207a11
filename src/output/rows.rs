//! Rows of named columns as text: one file per format behind one small trait.
//!
//! A row is appended to a buffer and never written directly, so that rows are formatted on all threads and
//! only finished buffers are put in order.

use crate::columns::{Columns, Row};

/// A text format with a line per row.
pub trait RowFormat: Send + Sync {
    /// Appends what comes before the first row.
    fn header(&self, columns: &Columns, out: &mut Vec<u8>);
    /// Appends a row.
    fn row(&self, columns: &Columns, row: &Row<'_>, out: &mut Vec<u8>);
}
