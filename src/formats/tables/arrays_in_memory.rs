//! Reads arrays in memory as a table.

use super::column_map::{Column, Kind, Plan};
use super::decode::{ReadColumns, decode};
use super::detect_games_or_positions::rows_of;
use super::struct_fields::{FoundField, fields_of, values_of};
use super::{DecodeRows, RowPart, dictionary_values};
use crate::formats::{Chunk, DecodeOptions, Decoded};
use crate::input::Bytes;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema};
use std::ops::Range;
use std::sync::Arc;

/// Arrow arrays with a column of positions, which may consist of several chunks.
#[derive(Clone, Debug)]
pub(crate) struct Arrays {
    fields: Fields,
    chunks: Arc<Chunks>,
}

/// The rows of a table, divided into chunks as they were given.
#[derive(Debug, Default)]
struct Chunks {
    /// The columns of each chunk.
    columns: Vec<Vec<ArrayRef>>,
    /// The row at which each chunk begins, and the number of all rows.
    starts: Vec<u64>,
}

impl Arrays {
    /// Makes a table from chunks of columns with these names and types.
    ///
    /// # Errors
    /// If a chunk has other types, or columns of different lengths: what is wrong.
    fn new(columns: Vec<(&str, &DataType)>, chunks: impl IntoIterator<Item = Vec<ArrayRef>>) -> Result<Self, String> {
        let mut all = Chunks { columns: Vec::new(), starts: vec![0] };
        let mut rows = 0u64;
        for chunk in chunks {
            let len = chunk.first().map_or(0, |array| array.len());
            let fits =
                |(array, (_, data)): (&ArrayRef, &(&str, &DataType))| array.data_type() == *data && array.len() == len;
            if chunk.len() != columns.len() || !chunk.iter().zip(&columns).all(fits) {
                return Err("has chunks of different columns".to_owned());
            }
            if len > 0 {
                rows += len as u64;
                all.columns.push(chunk);
                all.starts.push(rows);
            }
        }
        let fields = columns.into_iter().map(|(name, data)| Field::new(name, data.clone(), true));
        Ok(Self { fields: fields.collect(), chunks: Arc::new(all) })
    }

    /// Makes a table from the positions alone: chunks of one array of FENs or packed boards.
    ///
    /// # Errors
    /// If the chunks are of different types: what is wrong.
    pub(crate) fn of_positions(data: &DataType, chunks: Vec<ArrayRef>) -> Result<Self, String> {
        let name = match Kind::of(data) {
            Kind::Board => "board",
            _ => "fen",
        };
        Self::new(vec![(name, data)], chunks.into_iter().map(|array| vec![array]))
    }

    /// Makes a table from record batches with this schema.
    ///
    /// # Errors
    /// If a batch has another schema: what is wrong.
    pub(crate) fn of_batches(schema: &Schema, batches: &[RecordBatch]) -> Result<Self, String> {
        let fields = schema.fields().iter();
        let columns = fields.map(|field| (&**field.name(), field.data_type()));
        let chunks = batches.iter().map(|batch| batch.columns().to_vec());
        Self::new(columns.collect(), chunks)
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.chunks.starts.last().copied().unwrap_or(0)
    }

    /// Whether each row is a game.
    ///
    /// # Errors
    /// If rows are neither games nor positions: the rest of a sentence that begins with the name of the data.
    pub(crate) fn are_games(&self, options: &DecodeOptions) -> Result<bool, String> {
        let fields = fields_of(&self.fields, options);
        let columns: Vec<Column> = fields.into_iter().map(|found| found.column).collect();
        Ok(rows_of(&columns, None, options)?.kind().has_games)
    }

    /// Finds the part with some of the rows, wherever chunks end.
    ///
    /// # Errors
    /// If there is no column of positions: the rest of a sentence that begins with the name of the data.
    pub(crate) fn parts(
        &self,
        options: &DecodeOptions,
    ) -> Result<impl Fn(Range<u64>) -> RowPart + Sync + use<>, String> {
        let fields = fields_of(&self.fields, options);
        let columns: Vec<Column> = fields.iter().map(|found| found.column.clone()).collect();
        let plan = Plan::of(&columns, options)?;
        let decode: Arc<dyn DecodeRows> = Arc::new(Rows { plan, fields, chunks: Arc::clone(&self.chunks) });
        Ok(move |rows: Range<u64>| RowPart {
            rows,
            place: 0,
            bytes: 0,
            content: Bytes::from(Vec::new()),
            charges: Vec::new(),
            decode: Arc::clone(&decode),
            of_other_shard: false,
        })
    }
}

/// The data that a part needs for decoding.
#[derive(Debug)]
struct Rows {
    plan: Plan,
    /// Where the columns of the plan are.
    fields: Vec<FoundField>,
    chunks: Arc<Chunks>,
}

impl DecodeRows for Rows {
    fn decode(&self, rows: Range<u64>, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode(&self.plan, self, rows, 0, chunk, options)
    }
}

impl ReadColumns for Rows {
    fn is_in_memory(&self) -> bool {
        true
    }
    fn read(
        &self,
        column: usize,
        rows: Range<u64>,
        each: &mut dyn FnMut(&dictionary_values::Column) -> Result<(), String>,
    ) -> Result<(), String> {
        let FoundField { root, path, .. } = self.fields.get(column).ok_or("a column is missing")?;
        let Chunks { columns, starts } = &*self.chunks;
        let first = starts.partition_point(|&start| start <= rows.start) - 1;
        for (chunk, start) in columns[first..].iter().zip(&starts[first..]) {
            let array = &chunk[*root];
            let len = array.len() as u64;
            let from = rows.start.saturating_sub(*start);
            let to = rows.end.saturating_sub(*start).min(len);
            if from >= to {
                break;
            }
            let array = match to - from {
                count if count == len => Arc::clone(array),
                count => array.slice(from as usize, count as usize),
            };
            each(&values_of(&array, path)?.into())?;
        }
        Ok(())
    }
}
