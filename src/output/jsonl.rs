//! JSON Lines: one object per row, keys in the order of the columns. All control characters in
//! text are escaped.

use super::cells::{Cells, Notation, push, write_rows};
use super::row_format::{RowFormat, SquareSetStyle};
use crate::table::{Columns, Tile};

/// Rows as JSON Lines. A missing value is `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonLines;

impl RowFormat for JsonLines {
    fn header(&self, _: &Columns, _: &mut Vec<u8>) {}

    fn tile(&self, columns: &Columns, masks: SquareSetStyle, tile: &Tile<'_>, out: &mut Vec<u8>) {
        let mut cells = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            let start = if at == 0 { '{' } else { ',' };
            let key = format!("{start}\"{}\":", column.name());
            push(&mut cells, Cells::fixed(key.as_bytes()));
            let digits = masks.digits(column.kind());
            let column = Cells::of(column.fill(tile), digits, Notation::Json, b"");
            push(&mut cells, column);
        }
        write_rows(&cells, b"}\n", tile, out);
    }
}
