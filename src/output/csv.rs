//! CSV: a header line, then one line per row; lines end in LF, quotes only where needed (RFC 4180).
//! Control characters in text become blanks, so that each row is one line for any program.

use super::rows::{Masks, RowFormat, cells};
use crate::table::{Columns, Tile};

/// Rows as CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csv;

impl RowFormat for Csv {
    fn header(&self, columns: &Columns, out: &mut Vec<u8>) {
        for column in columns.iter() {
            out.extend_from_slice(column.name().as_bytes());
            out.push(b',');
        }
        end_line(out);
    }

    fn tile(&self, columns: &Columns, masks: Masks, tile: &Tile<'_>, out: &mut Vec<u8>) {
        let cells = cells(columns, masks, tile);
        for row in tile.rows() {
            for column in &cells {
                column.write_csv(row - tile.start, out);
                out.push(b',');
            }
            end_line(out);
        }
    }
}

/// Every field is followed by a comma; the last comma becomes the line's end.
fn end_line(out: &mut [u8]) {
    if let Some(last) = out.last_mut() {
        *last = b'\n';
    }
}
