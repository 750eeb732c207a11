//! The buffers of an Arrow batch, compared with its number of rows, before the batch is divided or unpacked.
//!
//! A batch says how many rows it has, and so does each of its columns. Every column that is read has some bytes for
//! each row, so that a false number of rows is found without reading any of the buffers.

use super::MOST_BYTES;
use super::ipc_messages::{Located, most_of_lz4, read};
use crate::input::RandomAccess;
use arrow_ipc::{CompressionType, MetadataVersion, RecordBatch};
use arrow_schema::{DataType, Fields, UnionMode};

/// The memory needed for the columns of a batch that are read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    /// Bytes of memory for data that is unpacked or copied.
    pub(super) memory: u64,
    /// Bytes of texts that are kept with the records.
    pub(super) texts: u64,
    /// Bytes of the longest column of texts, as far as can be seen. Columns of positions count, too, because they may
    /// have operations.
    pub(super) longest_texts: u64,
}

/// How a column of a batch is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Skip,
    Read,
    /// Read the column, and keep its texts.
    Keep,
    /// Read the column; parts of its texts may be kept.
    KeepSome,
}

/// Checks the columns of a batch.
///
/// # Errors
/// If they do not have its rows.
pub(super) fn check(
    source: &RandomAccess,
    at: Located,
    batch: RecordBatch<'_>,
    version: MetadataVersion,
    fields: &Fields,
    of: impl Fn(usize) -> Use,
) -> Result<Needs, String> {
    let rows = u64::try_from(batch.length()).map_err(|_| "a negative number of rows")?;
    let mut walk = Walk { source, at, batch, version, node: 0, buffer: 0, variadic: 0, needs: Needs::default() };
    for (number, field) in fields.iter().enumerate() {
        match of(number) {
            Use::Skip => walk.pass(field.data_type(), 0)?,
            usage => walk
                .column(field.data_type(), Some(rows), usage)
                .map_err(|what| format!("column `{}`: {what}", field.name()))?,
        }
    }
    // If a message is not mapped, its buffers are read as a whole.
    if !source.is_whole() {
        walk.needs.memory = walk.needs.memory.saturating_add(at.head + at.body);
    }
    Ok(walk.needs)
}

/// How deep columns may be nested.
const DEPTH: u32 = 64;
const MISSING: &str = "its buffers are missing";

struct Walk<'a> {
    source: &'a RandomAccess,
    at: Located,
    batch: RecordBatch<'a>,
    version: MetadataVersion,
    /// The numbers of the next items.
    node: usize,
    buffer: usize,
    variadic: usize,
    needs: Needs,
}

impl Walk<'_> {
    fn node(&mut self) -> Result<[i64; 2], String> {
        let nodes = self.batch.nodes();
        let node = nodes.filter(|nodes| self.node < nodes.len()).map(|nodes| nodes.get(self.node)).ok_or(MISSING)?;
        self.node += 1;
        Ok([node.length(), node.null_count()])
    }

    fn skip(&mut self, count: usize) -> Result<(), String> {
        let end = self.buffer.checked_add(count);
        let len = self.batch.buffers().map_or(0, |buffers| buffers.len());
        self.buffer = end.filter(|&end| end <= len).ok_or(MISSING)?;
        Ok(())
    }

    fn variadic(&mut self) -> Result<usize, String> {
        let counts = self.batch.variadicBufferCounts().filter(|counts| self.variadic < counts.len());
        let count = counts.map(|counts| counts.get(self.variadic));
        self.variadic += 1;
        let count = count.and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| MISSING.to_owned())
    }

    /// Checks the buffers of a column.
    fn pass(&mut self, data: &DataType, depth: u32) -> Result<(), String> {
        if depth > DEPTH {
            return Err("columns are nested too deep".to_owned());
        }
        self.node()?;
        let depth = depth + 1;
        match data {
            DataType::Null => Ok(()),
            DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => self.skip(3),
            DataType::Utf8View | DataType::BinaryView => {
                let more = self.variadic()?;
                self.skip(more.saturating_add(2))
            }
            DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => {
                self.skip(2)?;
                self.pass(field.data_type(), depth)
            }
            DataType::ListView(field) | DataType::LargeListView(field) => {
                self.skip(3)?;
                self.pass(field.data_type(), depth)
            }
            DataType::FixedSizeList(field, _) => {
                self.skip(1)?;
                self.pass(field.data_type(), depth)
            }
            DataType::Struct(fields) => {
                self.skip(1)?;
                let mut fields = fields.iter();
                fields.try_for_each(|field| self.pass(field.data_type(), depth))
            }
            DataType::RunEndEncoded(ends, values) => {
                self.pass(ends.data_type(), depth)?;
                self.pass(values.data_type(), depth)
            }
            DataType::Union(fields, mode) => {
                let validity = usize::from(self.version < MetadataVersion::V5);
                self.skip(validity + 1 + usize::from(*mode == UnionMode::Dense))?;
                let mut fields = fields.iter();
                fields.try_for_each(|(_, field)| self.pass(field.data_type(), depth))
            }
            _ => self.skip(2),
        }
    }

    /// The length of the next buffer once it is unpacked, which is charged for. `align` is the alignment of its values.
    fn buffer(&mut self, align: u64) -> Result<u64, String> {
        let buffers = self.batch.buffers();
        let buffer = buffers
            .filter(|buffers| self.buffer < buffers.len())
            .map(|buffers| *buffers.get(self.buffer))
            .ok_or(MISSING)?;
        self.buffer += 1;
        const BEYOND: &str = "a buffer is beyond the end of its batch";
        let place = u64::try_from(buffer.offset()).map_err(|_| BEYOND)?;
        let len = u64::try_from(buffer.length()).map_err(|_| BEYOND)?;
        let end = place.checked_add(len).filter(|&end| end <= self.at.body);
        end.ok_or(BEYOND)?;
        let place = self.at.place + self.at.head + place;
        // The library does not read empty buffers.
        let compression = self.batch.compression().filter(|_| len > 0);
        let plain = match compression {
            None => Some((place, len)),
            Some(_) if len < 8 => return Err("a compressed buffer has no length".to_owned()),
            Some(compression) => {
                let bytes = |range| read(self.source, range).map_err(|damage| damage.what);
                let head = bytes(place..place + 8)?;
                let size = head.first_chunk().map_or(0, |size| i64::from_le_bytes(*size));
                match u64::try_from(size) {
                    Ok(size) => {
                        let most = match compression.codec() {
                            CompressionType::LZ4_FRAME => size.max(most_of_lz4(&bytes(place + 8..place + len)?)),
                            _ => size,
                        };
                        if most > MOST_BYTES {
                            return Err(format!(
                                "a buffer has {most} bytes after decompression; at most {MOST_BYTES} are read"
                            ));
                        }
                        self.needs.memory = self.needs.memory.saturating_add(most);
                        return Ok(size);
                    }
                    Err(_) if size == -1 => Some((place + 8, len - 8)),
                    Err(_) => return Err("a buffer has a negative size".to_owned()),
                }
            }
        };
        let (place, len) = plain.unwrap_or_default();
        // Buffers that are not aligned for their values are copied.
        if !place.is_multiple_of(align) {
            self.needs.memory = self.needs.memory.saturating_add(len);
        }
        Ok(len)
    }

    /// A column that is read, with this number of rows. The values of lists are as many as they say.
    fn column(&mut self, data: &DataType, rows: Option<u64>, usage: Use) -> Result<(), String> {
        let [length, nulls] = self.node()?;
        let own = u64::try_from(length).ok();
        let rows = match (rows, own) {
            (Some(rows), own) if own != Some(rows) => {
                return Err(format!("it has {length} rows, and its batch {rows}"));
            }
            (_, own) => own.ok_or("it has a negative number of values")?,
        };
        let nulls =
            u64::try_from(nulls).ok().filter(|&nulls| nulls <= rows).ok_or("its number of nulls is impossible")?;
        let more = match data {
            DataType::Utf8View | DataType::BinaryView => self.variadic()?,
            _ => 0,
        };
        let fewer = || format!("its buffers have fewer than {rows} rows");
        let has = |len: u64, width: u64, count: u64| {
            let least = count.checked_mul(width).ok_or_else(fewer)?;
            (least <= len).then_some(()).ok_or_else(fewer)
        };
        if *data == DataType::Null {
            return Ok(());
        }
        let validity = self.buffer(1)?;
        if nulls > 0 {
            has(validity, 1, rows.div_ceil(8))?;
        }
        let mut texts = 0u64;
        match data {
            DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => {
                let width = match data {
                    DataType::Utf8 | DataType::Binary => 4,
                    _ => 8,
                };
                let offsets = self.buffer(width)?;
                if rows > 0 {
                    has(offsets, width, rows + 1)?;
                }
                texts = self.buffer(1)?;
            }
            DataType::Utf8View | DataType::BinaryView => {
                let views = self.buffer(16)?;
                has(views, 16, rows)?;
                // Several buffers may share bytes, and together claim more than exist.
                texts = u64::MAX;
                for _ in 0..more {
                    self.buffer(1)?;
                }
            }
            DataType::List(element) | DataType::LargeList(element) | DataType::Map(element, _) => {
                let width = if matches!(data, DataType::LargeList(_)) { 8 } else { 4 };
                let offsets = self.buffer(width)?;
                if rows > 0 {
                    has(offsets, width, rows + 1)?;
                }
                self.column(element.data_type(), None, Use::Read)?;
            }
            DataType::ListView(element) | DataType::LargeListView(element) => {
                let width = if matches!(data, DataType::ListView(_)) { 4 } else { 8 };
                for _ in 0..2 {
                    let places = self.buffer(width)?;
                    has(places, width, rows)?;
                }
                self.column(element.data_type(), None, Use::Read)?;
            }
            DataType::Struct(fields) => {
                for field in fields {
                    self.column(field.data_type(), Some(rows), Use::Read)?;
                }
                texts = u64::MAX;
            }
            DataType::Boolean => {
                let bits = self.buffer(1)?;
                has(bits, 1, rows.div_ceil(8))?;
            }
            DataType::FixedSizeList(element, len) => {
                let values = u64::try_from(*len).ok().and_then(|len| rows.checked_mul(len)).ok_or_else(fewer)?;
                self.column(element.data_type(), Some(values), Use::Read)?;
            }
            other => {
                let width = match other {
                    DataType::FixedSizeBinary(width) => u64::try_from(*width).unwrap_or(0),
                    DataType::Dictionary(keys, _) => {
                        texts = u64::MAX;
                        keys.primitive_width().unwrap_or(0) as u64
                    }
                    other => other.primitive_width().unwrap_or(0) as u64,
                };
                if width == 0 {
                    return Err(format!("values of {other} are not read"));
                }
                let align = match other {
                    DataType::FixedSizeBinary(_) => 1,
                    _ => width,
                };
                let values = self.buffer(align)?;
                has(values, width, rows)?;
            }
        }
        if usage == Use::Keep {
            self.needs.texts = self.needs.texts.saturating_add(texts);
        }
        if usage != Use::Read && texts != u64::MAX {
            self.needs.longest_texts = self.needs.longest_texts.max(texts);
        }
        Ok(())
    }
}
