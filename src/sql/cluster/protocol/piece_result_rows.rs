//! The rows with what executors make of pieces, other than columns: reports, and what they say about files.
//!
//! A piece returns the lines of its rejected records, if they are requested, and then its results.

use crate::error::{Error, Reject};
use crate::jobs::Sender;
use crate::sql::SqlError;
use crate::sql::tables::scan::Batch;
use datafusion::arrow::array::{AsArray, BinaryArray, RecordBatch, UInt8Array, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt8Type, UInt32Type};
use datafusion::common::Result;
use std::sync::{Arc, LazyLock};

/// The kind of a row.
pub(super) const REJECTS: u8 = 0;
pub(super) const REPORT: u8 = 1;
pub(super) const SUMMARY: u8 = 2;
pub(super) const FILE: u8 = 3;

/// Number of bytes of lines of rejected records that are sent together.
const LINES: usize = 64 << 10;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("piece", DataType::UInt32, false),
        Field::new("place", DataType::UInt32, false),
        Field::new("kind", DataType::UInt8, false),
        Field::new("content", DataType::Binary, false),
    ]))
});

/// The schema of these rows.
pub(in crate::sql::cluster) fn schema() -> SchemaRef {
    Arc::clone(&SCHEMA)
}

/// A row, with its place among the rows of the piece.
fn row(piece: u32, place: u32, kind: u8, content: &[u8]) -> Result<RecordBatch> {
    Ok(RecordBatch::try_new(
        schema(),
        vec![
            Arc::new(UInt32Array::from_value(piece, 1)),
            Arc::new(UInt32Array::from_value(place, 1)),
            Arc::new(UInt8Array::from_value(kind, 1)),
            Arc::new(BinaryArray::from_vec(vec![content])),
        ],
    )?)
}

/// Sends the rows of a piece.
pub(super) struct PieceSender<'a> {
    sender: &'a Sender<Batch>,
    piece: u32,
    lines: Vec<u8>,
    place: u32,
}

impl<'a> PieceSender<'a> {
    pub(super) fn new(sender: &'a Sender<Batch>, piece: u32) -> Self {
        Self { sender, piece, lines: Vec::new(), place: 0 }
    }

    /// Sends the line of a rejected record, with others.
    pub(super) fn reject(&mut self, reject: &Reject) -> Result<(), Error> {
        reject.write_line(&mut self.lines);
        if self.lines.len() >= LINES { self.send_lines() } else { Ok(()) }
    }

    fn send_lines(&mut self) -> Result<(), Error> {
        let sent = self.sender.send(row(self.piece, self.place, REJECTS, &self.lines));
        self.lines.clear();
        self.place += 1;
        sent
    }

    /// Sends the results, after all lines. If nobody takes them any more, nothing happens.
    pub(super) fn end(mut self, results: &[(u8, Vec<u8>)]) {
        if !self.lines.is_empty() {
            let _ = self.send_lines();
        }
        for (kind, content) in results {
            let _ = self.sender.send(row(self.piece, u32::MAX, *kind, content));
        }
    }
}

/// The error if rows are of another kind than those that were asked for.
pub(super) fn wrong() -> SqlError {
    SqlError::Cluster("the cluster returned rows of another kind".to_owned())
}

/// Passes on the number of the piece, the kind and the content of each row.
///
/// # Errors
/// If a call fails, or the rows have another schema.
pub(super) fn each<E: From<SqlError>>(
    rows: &RecordBatch,
    mut take: impl FnMut(u32, u8, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if rows.schema().fields() != SCHEMA.fields() {
        return Err(wrong().into());
    }
    let pieces = rows.column(0).as_primitive::<UInt32Type>();
    let kinds = rows.column(2).as_primitive::<UInt8Type>();
    let contents = rows.column(3).as_binary::<i32>();
    (0..rows.num_rows()).try_for_each(|row| take(pieces.value(row), kinds.value(row), contents.value(row)))
}
