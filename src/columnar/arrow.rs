//! Columns as Arrow arrays.

use super::column_descriptions::{Described, days_of, with_columns_of_boards};
use super::schema_metadata;
use crate::table::{Array, Items, Kind, TextBuffer, Texts, Values};
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float64Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeBinaryArray, ListArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use std::collections::HashMap;
use std::sync::Arc;

/// The Arrow schema of these columns: the metadata have `lanefish.version`, those of each field
/// `lanefish.meaning`, and a table with the moves of games says that each row is a game.
pub(crate) fn schema(columns: &[Described]) -> Schema {
    let fields = columns.iter().map(|column| {
        let meaning = (schema_metadata::MEANING.to_owned(), column.meaning.to_string());
        Field::new(&*column.name, data_type(column.kind), column.nullable).with_metadata(HashMap::from([meaning]))
    });
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let mut metadata = HashMap::from([("lanefish.version".to_owned(), version)]);
    if columns.iter().any(|column| column.has_moves) {
        metadata.insert(schema_metadata::TABLE.to_owned(), "games".to_owned());
    }
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata)
}

/// The type of a column. Quantities are signed and one size larger than their values, so that a difference of two of them
/// never wraps: NumPy, pandas and Polars compute with the types that they find. Sets of squares and keys are bits.
fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Flag => DataType::Boolean,
        Kind::U8 | Kind::I16 => DataType::Int16,
        Kind::U16 | Kind::I32 => DataType::Int32,
        Kind::U32 | Kind::U64 | Kind::I64 => DataType::Int64,
        Kind::Bits => DataType::UInt64,
        Kind::F64 => DataType::Float64,
        Kind::Text => DataType::Utf8,
        Kind::Date => DataType::Date32,
        Kind::Board => DataType::FixedSizeBinary(32),
        Kind::ExactU8 => DataType::UInt8,
        Kind::ExactU16 => DataType::UInt16,
        Kind::Time => DataType::Time32(TimeUnit::Millisecond),
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Kind::Bytes => DataType::Binary,
        Kind::ListOfU16 => DataType::List(element(DataType::UInt16)),
        Kind::ListOfI16 => DataType::List(element(DataType::Int16)),
        Kind::ListOfI32 => DataType::List(element(DataType::Int32)),
        Kind::ListOfBits => DataType::List(element(DataType::UInt64)),
        Kind::ListOfI64 => DataType::List(element(DataType::Int64)),
        Kind::ListOfText => DataType::List(element(DataType::Utf8)),
    }
}

/// The field of the items of lists, which are never missing.
fn element(data: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data, true))
}

/// The rows as a record batch.
pub(crate) fn record_batch(
    columns: &[Described],
    schema: &SchemaRef,
    values: Vec<Array>,
) -> Result<RecordBatch, ArrowError> {
    let rows = values.first().map_or(0, Array::len);
    let values = with_columns_of_boards(columns, values);
    let arrays = columns.iter().zip(values).map(|(column, values)| arrow_array(column, values));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays.collect(), &options)
}

fn nulls(present: &[u64], len: usize) -> Option<NullBuffer> {
    let bytes: Vec<u8> = present.iter().flat_map(|word| word.to_le_bytes()).collect();
    let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from(bytes), 0, len));
    (nulls.null_count() > 0).then_some(nulls)
}

fn primitive<T: ArrowPrimitiveType>(values: Values<T::Native>) -> ArrayRef
where
    T::Native: Clone + Default,
{
    let nulls = nulls(values.present(), values.len());
    let values = ScalarBuffer::from(values.into_values());
    Arc::new(PrimitiveArray::<T>::new(values, nulls))
}

/// Texts of which none is missing.
fn strings(texts: &TextBuffer) -> ArrayRef {
    let (bytes, ends) = texts.parts();
    let ends = ends.iter().map(|&end| i32::try_from(end).expect("less than 2 GiB of text"));
    let offsets = OffsetBuffer::new([0].into_iter().chain(ends).collect());
    Arc::new(StringArray::new(offsets, Buffer::from(bytes.to_vec()), None))
}

/// The bytes of a column of few, short words, such as results, and where the text of each row ends; `None` if there are others.
fn short_texts(texts: &Texts) -> Option<(Vec<u8>, Vec<i32>)> {
    const LONGEST: usize = 8;
    // Eight bytes are written for every text, however short, without a branch. The last word is that of missing rows.
    let mut words = Vec::with_capacity(texts.words().len() + 1);
    for word in texts.words().iter().chain([""]) {
        let mut eight = [0; LONGEST];
        eight.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
        words.push((eight, word.len()));
    }
    if words.len() > 256 || texts.len() > i32::MAX as usize / LONGEST {
        return None;
    }
    let mut bytes = vec![0; LONGEST * (texts.len() + 1)];
    let (mut end, mut ends) = (0, Vec::with_capacity(texts.len() + 1));
    ends.push(0);
    let codes = texts.codes();
    for (row, &code) in codes.values().iter().enumerate() {
        let (word, len) = words[if codes.is_present(row) { code as usize } else { words.len() - 1 }];
        bytes[end..end + LONGEST].copy_from_slice(&word);
        end += len;
        ends.push(end as i32);
    }
    bytes.truncate(end);
    Some((bytes, ends))
}

fn arrow_array(column: &Described, array: Array) -> ArrayRef {
    let kind = column.kind;
    match array {
        Array::Flag(flags) => {
            let nulls = nulls(flags.present(), flags.len());
            let bits = BooleanBuffer::from(flags.into_values());
            Arc::new(BooleanArray::new(bits, nulls))
        }
        Array::U8(values) if kind == Kind::ExactU8 => primitive::<UInt8Type>(values),
        Array::U16(values) if kind == Kind::ExactU16 => primitive::<UInt16Type>(values),
        Array::U32(values) if kind == Kind::Time => {
            primitive::<Time32MillisecondType>(values.map(|value| value as i32))
        }
        Array::U64(values) if kind == Kind::Timestamp => {
            primitive::<TimestampMicrosecondType>(values.map(|bits| bits as i64))
        }
        Array::U8(values) => primitive::<Int16Type>(values.map(i16::from)),
        Array::I16(values) if kind == Kind::I32 => primitive::<Int32Type>(values.map(i32::from)),
        Array::I16(values) => primitive::<Int16Type>(values),
        Array::U16(values) => primitive::<Int32Type>(values.map(i32::from)),
        Array::U32(values) => primitive::<Int64Type>(values.map(i64::from)),
        Array::U64(values) if kind == Kind::Bits => primitive::<UInt64Type>(values),
        Array::U64(values) if kind == Kind::F64 => primitive::<Float64Type>(values.map(f64::from_bits)),
        Array::U64(values) => primitive::<Int64Type>(values.map(|bits| bits as i64)),
        Array::Boards(boards) => {
            let nulls = nulls(boards.present(), boards.len());
            let bytes = bytemuck::cast_slice::<_, u8>(boards.values()).to_vec();
            Arc::new(FixedSizeBinaryArray::new(32, Buffer::from(bytes), nulls))
        }
        Array::Text(texts) if kind == Kind::Date => primitive::<Date32Type>(days_of(&texts)),
        Array::TextBuffer(texts) if kind == Kind::Bytes => {
            let mut bytes = BinaryBuilder::new();
            for row in 0..texts.len() {
                bytes.append_option(texts.is_present(row).then(|| texts.bytes(row)));
            }
            Arc::new(bytes.finish())
        }
        Array::Lists(lists) => {
            let nulls = nulls(lists.present(), lists.len());
            let ends = lists.ends().iter().map(|&end| i32::try_from(end).expect("less than 2^31 items"));
            let offsets = OffsetBuffer::new([0].into_iter().chain(ends).collect());
            let items: ArrayRef = match lists.into_items() {
                Items::I16(numbers) => Arc::new(PrimitiveArray::<Int16Type>::from(numbers)),
                Items::U16(numbers) => Arc::new(PrimitiveArray::<UInt16Type>::from(numbers)),
                Items::I32(numbers) => Arc::new(match &column.of_boards {
                    Some(of_boards) => PrimitiveArray::<Int32Type>::new(of_boards.memory.lend(numbers), None),
                    None => PrimitiveArray::<Int32Type>::from(numbers),
                }),
                Items::U64(bits) if kind == Kind::ListOfI64 => {
                    Arc::new(PrimitiveArray::<Int64Type>::from_iter_values(bits.into_iter().map(|bits| bits as i64)))
                }
                Items::U64(bits) => Arc::new(PrimitiveArray::<UInt64Type>::from(bits)),
                Items::Text(texts) => strings(&texts),
            };
            Arc::new(ListArray::new(element(items.data_type().clone()), offsets, items, nulls))
        }
        Array::Text(texts) => {
            let (bytes, ends) = short_texts(&texts).unwrap_or_else(|| {
                let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(texts.len() + 1));
                ends.push(0);
                for row in 0..texts.len() {
                    bytes.extend_from_slice(texts.get(row).unwrap_or_default().as_bytes());
                    ends.push(i32::try_from(bytes.len()).expect("less than 2 GiB of text"));
                }
                (bytes, ends)
            });
            let nulls = nulls(texts.codes().present(), texts.len());
            Arc::new(StringArray::new(OffsetBuffer::new(ends.into()), Buffer::from(bytes), nulls))
        }
        Array::TextBuffer(texts) => {
            let mut strings = StringBuilder::with_capacity(texts.len(), 16 * texts.len());
            for row in 0..texts.len() {
                strings.append_option(texts.get(row));
            }
            Arc::new(strings.finish())
        }
    }
}
