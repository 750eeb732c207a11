//! JSON lines: one object per row, keys in the order of the columns. All control characters in
//! texts are escaped.

use super::rows::RowFormat;
use crate::columns::{Columns, Row};

/// Rows as JSON lines. What a record does not have is `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonLines;

impl RowFormat for JsonLines {
    fn header(&self, _: &Columns, _: &mut Vec<u8>) {}

    fn row(&self, columns: &Columns, row: &Row<'_>, out: &mut Vec<u8>) {
        for (at, column) in columns.iter().enumerate() {
            out.push(if at == 0 { b'{' } else { b',' });
            out.push(b'"');
            out.extend_from_slice(column.name.as_bytes());
            out.extend_from_slice(b"\":");
            column.get(row).write_json(out);
        }
        out.extend_from_slice(b"}\n");
    }
}
