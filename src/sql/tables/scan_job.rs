//! The columns of the records that pass some conditions, as record batches.
//!
//! The columns of conditions are filled first, one tile at a time. Of the other columns, only the rows that pass are
//! kept. They are not filled at all for a tile without such rows, or for one after the last row that is requested.

use super::scan::Request;
use super::sql_types::widened_batch;
use crate::choose::Condition;
use crate::columnar::{Described, record_batch, schema};
use crate::pipeline::Job;
use crate::table::{Array, ChosenColumn, Columns, Needs, Tile};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use std::sync::Arc;

/// Fills columns.
#[derive(Debug)]
pub(in crate::sql) struct Select {
    columns: Vec<ChosenColumn>,
    conditions: Vec<Condition>,
    /// Maximum number of rows; more than these are not needed of any chunk.
    limit: usize,
    /// All columns.
    all: Columns,
    described: Vec<Described>,
    /// The schema with the types of files.
    narrow: SchemaRef,
    /// The schema with the types of SQL.
    schema: SchemaRef,
}

/// Maximum number of rows of a batch, except that a tile is not divided. The engine's own sources return this number,
/// and its operators expect it.
const ROWS: usize = 8192;

/// The output of one chunk.
#[derive(Debug, Default)]
pub(in crate::sql) struct Selected {
    cells: Vec<Array>,
    rows: usize,
    /// The number of rows with those of complete batches.
    total: usize,
    batches: Vec<Result<RecordBatch, ArrowError>>,
}

impl Selected {
    /// The selected rows.
    pub(in crate::sql) fn into_batches(self) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
        self.batches.into_iter()
    }
}

impl Select {
    /// The columns of a request, with the types of SQL, for records that pass its conditions.
    pub(in crate::sql) fn new(request: &Request) -> Self {
        let Request { columns, conditions, limit, schema: wide, .. } = request;
        let described: Vec<Described> = columns.iter().map(Described::of).collect();
        Self {
            all: columns.iter().cloned().collect(),
            narrow: Arc::new(schema(&described)),
            schema: Arc::clone(wide),
            columns: columns.clone(),
            conditions: conditions.clone(),
            limit: limit.unwrap_or(usize::MAX),
            described,
        }
    }

    /// Adds the rows of a tile that passes at least in part.
    fn add(&self, part: &mut Selected, tile: &Tile<'_>) {
        let rows = tile.count();
        part.rows += rows;
        part.total += rows;
        let filled = self.columns.iter().map(|column| column.fill(tile).without_empty());
        Array::append_tile(&mut part.cells, filled.collect(), tile);
        if part.rows >= ROWS {
            self.complete(part);
        }
    }

    /// Ends a batch, if it has rows.
    fn complete(&self, part: &mut Selected) {
        let rows = std::mem::take(&mut part.rows);
        if rows == 0 {
            return;
        }
        let cells = std::mem::take(&mut part.cells);
        part.batches.push(if self.columns.is_empty() {
            let rows = RecordBatchOptions::new().with_row_count(Some(rows));
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), Vec::new(), &rows)
        } else {
            let batch = record_batch(&self.described, &self.narrow, cells);
            batch.and_then(|batch| widened_batch(&batch, &self.schema))
        });
    }
}

impl Job for Select {
    type Part = Selected;
    fn needs(&self) -> Needs {
        self.all.needs().and(self.conditions.iter().map(|condition| condition.needs().clone()).collect())
    }
    fn begin(&self) -> Selected {
        Selected::default()
    }
    fn tile(&self, part: &mut Selected, tile: &Tile<'_>) {
        if part.total >= self.limit {
            return;
        }
        if self.conditions.is_empty() {
            return self.add(part, tile);
        }
        let mut mask = tile.mask.to_vec();
        for condition in &self.conditions {
            let passing = mask.clone();
            condition.choose(&tile.masked(&passing), &mut mask);
            if mask.iter().all(|&word| word == 0) {
                return;
            }
        }
        let passing = tile.masked(&mask);
        self.add(part, &passing);
    }
    fn end(&self, part: &mut Selected, _: u64) {
        self.complete(part);
    }
}
