//! CSV: a header line, then a line per row; LF ends, quotes only where they are needed (RFC 4180).
//! Control characters in texts become blanks, so that a row is a line to every program.

use super::rows::RowFormat;
use crate::columns::{Columns, Row};

/// Rows as CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csv;

impl RowFormat for Csv {
    fn header(&self, columns: &Columns, out: &mut Vec<u8>) {
        for column in columns.iter() {
            out.extend_from_slice(column.name.as_bytes());
            out.push(b',');
        }
        end_line(out);
    }

    fn row(&self, columns: &Columns, row: &Row<'_>, out: &mut Vec<u8>) {
        for column in columns.iter() {
            column.get(row).write_csv(out);
            out.push(b',');
        }
        end_line(out);
    }
}

/// Every field is followed by a comma; the last comma becomes the line's end.
fn end_line(out: &mut [u8]) {
    if let Some(last) = out.last_mut() {
        *last = b'\n';
    }
}
