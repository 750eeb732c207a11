//! CSV: a header line, then one line per row; lines end in LF, quotes only where needed (RFC 4180).
//! Control characters in text become blanks, so that each row is one line for any program.

use super::cells::{Cells, Notation, push, write_rows};
use super::row_format::{RowFormat, SquareSetStyle};
use crate::table::{Columns, Tile};

/// Rows as CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Csv;

impl RowFormat for Csv {
    fn header(&self, columns: &Columns, out: &mut Vec<u8>) {
        for column in columns.iter() {
            out.extend_from_slice(column.name().as_bytes());
            out.push(b',');
        }
        end_line(out);
    }

    fn tile(&self, columns: &Columns, masks: SquareSetStyle, tile: &Tile<'_>, out: &mut Vec<u8>) {
        let last = columns.iter().count().saturating_sub(1);
        let mut cells = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            let digits = masks.digits(column.kind());
            let after = if at == last { b"\n" } else { b"," };
            let column = Cells::of(column.fill(tile), digits, Notation::Csv, after);
            push(&mut cells, column);
        }
        write_rows(&cells, b"", tile, out);
    }
}

/// Every field is followed by a comma; the last comma becomes the line's end.
fn end_line(out: &mut [u8]) {
    if let Some(last) = out.last_mut() {
        *last = b'\n';
    }
}
