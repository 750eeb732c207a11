//! Batches for trainers: of one size, with padded lists, shuffled, over and over.
//!
//! A run hands over blocks of rows in the order of its inputs, whatever its threads do. What comes here is done to these blocks
//! one after the other, so that batches do not depend on threads either:
//!
//! 1. Lists become lists of one length, filled up with -1: one contiguous block of numbers for a column.
//! 2. With a shuffle buffer, rows are kept until there are as many as it holds, and each further row takes the place of one
//!    that is drawn at random and goes on. At the end, the rest follows in random order. The draws depend on the seed and the
//!    number of the row.
//! 3. Rows are cut into batches of the size that is asked for. A batch that lies within a block is a view of it.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt16Type, UInt64Type};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray, PrimitiveArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::interleave::interleave_record_batch;
use lanefish::chess::random::Random;
use std::sync::Arc;

/// The length of the lists of a column.
#[derive(Clone, Debug)]
pub(crate) struct Pad {
    pub(crate) column: usize,
    pub(crate) len: usize,
}

/// How batches are made of the blocks of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batching {
    /// Rows of a batch; `None` for the blocks of the run.
    pub(crate) size: Option<usize>,
    pub(crate) pads: Vec<Pad>,
    /// Rows of the shuffle buffer, and the seed.
    pub(crate) shuffle: Option<(usize, u64)>,
}

/// The number that stands where a list has ended.
const NONE: i32 = -1;

impl Batching {
    /// Whether blocks are handed on as they are.
    pub(crate) fn changes_nothing(&self) -> bool {
        self.size.is_none() && self.pads.is_empty() && self.shuffle.is_none()
    }

    /// The columns of the batches.
    pub(crate) fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
        for &Pad { column, len } in &self.pads {
            let field = &fields[column];
            let DataType::List(item) = field.data_type() else { continue };
            let padded =
                DataType::FixedSizeList(Arc::new(Field::new(item.name(), padded_type(item), true)), len as i32);
            fields[column] = Arc::new(field.as_ref().clone().with_data_type(padded));
        }
        Arc::new(Schema::new_with_metadata(Fields::from(fields), schema.metadata().clone()))
    }
}

/// The type of padded items: -1 must be among its values.
fn padded_type(item: &Field) -> DataType {
    match item.data_type() {
        DataType::UInt16 => DataType::Int32,
        DataType::UInt64 => DataType::Int64,
        other => other.clone(),
    }
}

/// Whether lists of these items can be padded.
pub(crate) fn can_be_padded(item: &DataType) -> bool {
    matches!(item, DataType::Int32 | DataType::UInt16 | DataType::Int64 | DataType::UInt64)
}

/// Blocks on their way to batches.
#[derive(Debug)]
pub(crate) struct Batches {
    batching: Batching,
    schema: SchemaRef,
    /// Number of rows that have come.
    rows: u64,
    buffer: Option<ShuffleBuffer>,
    /// Rows that are not in a batch yet, and their number.
    waiting: Vec<RecordBatch>,
    count: usize,
    is_over: bool,
}

impl Batches {
    /// Batches of blocks with this schema.
    pub(crate) fn new(batching: Batching, schema: &SchemaRef) -> Self {
        let schema = batching.schema(schema);
        let buffer = batching.shuffle.map(|(size, seed)| ShuffleBuffer::new(size, seed));
        Self { batching, schema, rows: 0, buffer, waiting: Vec::new(), count: 0, is_over: false }
    }

    /// Takes the next block.
    ///
    /// # Errors
    /// If a list is longer than its column is padded to.
    pub(crate) fn put(&mut self, block: RecordBatch) -> Result<(), ArrowError> {
        let mut columns = block.columns().to_vec();
        for &Pad { column, len } in &self.batching.pads {
            columns[column] = padded(&columns[column], len, self.rows, self.schema.field(column))?;
        }
        let block = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        self.rows += block.num_rows() as u64;
        let block = match &mut self.buffer {
            Some(buffer) => buffer.exchange(block)?,
            None => Some(block),
        };
        self.wait(block);
        Ok(())
    }

    /// No further block will come.
    ///
    /// # Errors
    /// If Arrow fails to gather rows.
    pub(crate) fn end(&mut self) -> Result<(), ArrowError> {
        self.is_over = true;
        self.end_epoch()
    }

    /// All rows have come once; each of them is in a batch before those that come again.
    ///
    /// # Errors
    /// If Arrow fails to gather rows.
    pub(crate) fn end_epoch(&mut self) -> Result<(), ArrowError> {
        let rest = match &mut self.buffer {
            Some(buffer) => buffer.rest()?,
            None => None,
        };
        self.wait(rest);
        Ok(())
    }

    fn wait(&mut self, block: Option<RecordBatch>) {
        if let Some(block) = block.filter(|block| block.num_rows() > 0) {
            self.count += block.num_rows();
            self.waiting.push(block);
        }
    }

    /// The next batch, if there are enough rows for it, or no more will come.
    ///
    /// # Errors
    /// If Arrow fails to put rows together.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let size = self.batching.size.unwrap_or_else(|| self.waiting.first().map_or(1, RecordBatch::num_rows));
        if self.count == 0 || self.count < size && !self.is_over {
            return Ok(None);
        }
        let mut missing = size.min(self.count);
        self.count -= missing;
        let mut parts = Vec::new();
        while missing > 0 {
            let first = self.waiting.remove(0);
            let taken = first.num_rows().min(missing);
            missing -= taken;
            if taken < first.num_rows() {
                self.waiting.insert(0, first.slice(taken, first.num_rows() - taken));
            }
            parts.push(first.slice(0, taken));
        }
        match &parts[..] {
            [whole] => Ok(Some(whole.clone())),
            parts => concat_batches(&self.schema, parts).map(Some),
        }
    }
}

/// The lists of a column with one length.
fn padded(lists: &ArrayRef, len: usize, first_row: u64, field: &Field) -> Result<ArrayRef, ArrowError> {
    let DataType::FixedSizeList(item, _) = field.data_type() else { return Ok(Arc::clone(lists)) };
    let lists = lists.as_list::<i32>();
    let values = lists.values();
    let too_long = |row: usize, items: usize| {
        ArrowError::InvalidArgumentError(format!(
            "pad: row {} has {items} items in the column {}, which is padded to {len}",
            first_row + row as u64,
            field.name()
        ))
    };
    let offsets = lists.value_offsets();
    let have_len = lists.nulls().is_none() && offsets.windows(2).all(|ends| (ends[1] - ends[0]) as usize == len);
    let filled: ArrayRef = match values.data_type() {
        // The column comes so.
        DataType::Int32 | DataType::Int64 if have_len => values.slice(offsets[0] as usize, lists.len() * len),
        DataType::UInt16 => filled::<UInt16Type, Int32Type>(lists, len, NONE, |number| number.into())
            .map_err(|(row, n)| too_long(row, n))?,
        DataType::Int32 => {
            filled::<Int32Type, Int32Type>(lists, len, NONE, |number| number).map_err(|(row, n)| too_long(row, n))?
        }
        DataType::UInt64 => filled::<UInt64Type, Int64Type>(lists, len, NONE.into(), |bits| bits as i64)
            .map_err(|(row, n)| too_long(row, n))?,
        _ => filled::<Int64Type, Int64Type>(lists, len, NONE.into(), |number| number)
            .map_err(|(row, n)| too_long(row, n))?,
    };
    let array = FixedSizeListArray::try_new(Arc::clone(item), len as i32, filled, lists.nulls().cloned())?;
    Ok(Arc::new(array))
}

/// The items of all lists, each list filled up; the first row with too many, and their number.
fn filled<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(
    lists: &ListArray,
    len: usize,
    none: To::Native,
    to: impl Fn(From::Native) -> To::Native,
) -> Result<ArrayRef, (usize, usize)> {
    let items = lists.values().as_primitive::<From>().values();
    let mut filled = vec![none; lists.len() * len];
    for (row, (ends, place)) in lists.value_offsets().windows(2).zip(filled.chunks_mut(len.max(1))).enumerate() {
        let items = &items[ends[0] as usize..ends[1] as usize];
        if items.len() > len {
            return Err((row, items.len()));
        }
        for (place, &item) in place.iter_mut().zip(items) {
            *place = to(item);
        }
    }
    Ok(Arc::new(PrimitiveArray::<To>::new(filled.into(), None)))
}

/// Rows that wait for the draw that sends them on.
#[derive(Debug)]
struct ShuffleBuffer {
    size: usize,
    random: Random,
    blocks: Vec<RecordBatch>,
    /// The rows that are in the buffer: numbers of blocks, and of rows in them.
    rows: Vec<(usize, usize)>,
}

impl ShuffleBuffer {
    fn new(size: usize, seed: u64) -> Self {
        Self { size: size.max(1), random: Random::new(seed), blocks: Vec::new(), rows: Vec::new() }
    }

    /// Takes the rows of a block, and gives as many as do not fit.
    fn exchange(&mut self, block: RecordBatch) -> Result<Option<RecordBatch>, ArrowError> {
        let number = self.blocks.len();
        let rows = block.num_rows();
        self.blocks.push(block);
        let mut sent = Vec::new();
        for row in 0..rows {
            if self.rows.len() < self.size {
                self.rows.push((number, row));
                continue;
            }
            let place = self.random.below(self.size as u32) as usize;
            sent.push(std::mem::replace(&mut self.rows[place], (number, row)));
        }
        let batch = self.gather(&sent)?;
        // Blocks stay as long as one of their rows does; so now and then all rows get a block of their own.
        if self.blocks.iter().map(RecordBatch::num_rows).sum::<usize>() > 2 * self.size + 2 * rows {
            let kept = self.gather(&self.rows)?;
            self.rows = (0..self.rows.len()).map(|row| (0, row)).collect();
            self.blocks = kept.into_iter().collect();
        }
        Ok(batch)
    }

    /// All rows that are left, in random order.
    fn rest(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut rows = std::mem::take(&mut self.rows);
        for end in (1..rows.len()).rev() {
            rows.swap(end, self.random.below(end as u32 + 1) as usize);
        }
        let rest = self.gather(&rows);
        self.blocks.clear();
        rest
    }

    fn gather(&self, rows: &[(usize, usize)]) -> Result<Option<RecordBatch>, ArrowError> {
        if rows.is_empty() {
            return Ok(None);
        }
        let blocks: Vec<&RecordBatch> = self.blocks.iter().collect();
        interleave_record_batch(&blocks, rows).map(Some)
    }
}
