//! JSON Lines: one object per row, keys in the order of the columns. All control characters in
//! text are escaped.

use super::rows::{Masks, RowFormat, cells};
use crate::table::{Columns, Tile};

/// Rows as JSON Lines. A missing value is `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonLines;

impl RowFormat for JsonLines {
    fn header(&self, _: &Columns, _: &mut Vec<u8>) {}

    fn tile(&self, columns: &Columns, masks: Masks, tile: &Tile<'_>, out: &mut Vec<u8>) {
        let cells = cells(columns, masks, tile);
        for row in tile.rows() {
            for (at, column) in cells.iter().enumerate() {
                out.push(if at == 0 { b'{' } else { b',' });
                out.push(b'"');
                out.extend_from_slice(column.name.as_bytes());
                out.extend_from_slice(b"\":");
                column.write_json(row - tile.start, out);
            }
            out.extend_from_slice(b"}\n");
        }
    }
}
