//! Parquet files.

use super::columns::{Column, Plan};
use super::decode::{ReadColumns, decode};
use super::footer::{MAGIC, footer_damage, leaves, metadata};
use super::guard::guarded;
use super::pages::{self, Page, Pages};
use super::pieces::{OneColumn, Pieces};
use super::unpack::{Packing, Unpacked};
use super::{DecodeRows, Facts, MOST_BYTES, MOST_ROWS, OpenTable, Part, Table, TableError};
use crate::error::Damage;
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Likeness};
use crate::input::Source;
use crate::table::Fields;
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowSelection, RowSelector};
use ::parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use ::parquet::basic::{Compression, Type as Physical};
use ::parquet::column::page::PageReader;
use ::parquet::errors::Result as ParquetResult;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::schema::types::{SchemaDescriptor, Type};
use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field as ArrowField, Fields as ArrowFields};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Parquet files with a column of positions.
#[derive(Clone, Copy, Debug)]
pub struct Parquet;

/// Rows of a part, if the pages allow it.
const ROWS: u64 = 32 << 10;
/// Rows that are decoded at once.
const AT_ONCE: u64 = 8 << 10;
/// Bytes of a page in the old LZ4 frames at most: how far they unpack cannot be limited, but it is 255 times.
const MOST_LZ4: u64 = 4 << 20;

impl Codec for Parquet {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "parquet",
            title: "Parquet with a column `fen` or `board`",
            extensions: &["parquet"],
            is_text: false,
            has_games: false,
            carries: Fields::ALL,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(head.starts_with(MAGIC))
    }
    fn cut(&self, _: &[u8], _: usize) -> Option<usize> {
        None
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        super::decode(self, chunk, options)
    }
    fn resume(&self, _: &[u8], _: usize, _: bool) -> Option<usize> {
        None
    }
    fn before_broken_end(&self, _: &[u8], _: usize) -> usize {
        0
    }
    fn raw<'a>(&self, _: &'a [u8], _: usize) -> Option<(&'a [u8], u64)> {
        None
    }
    fn tables(&self) -> Option<&'static dyn OpenTable> {
        Some(&Self)
    }
}

impl OpenTable for Parquet {
    fn open(
        &self,
        source: Source,
        options: &DecodeOptions,
        shard: Option<Range<u64>>,
    ) -> Result<Box<dyn Table>, TableError> {
        let metadata = metadata(&source)?;
        let leaves = leaves(&metadata)?;
        let columns: Vec<Column> = leaves.iter().map(|(column, _)| column.clone()).collect();
        let plan = Plan::of(&columns, options).map_err(TableError::Columns)?;
        let mut reads = Vec::new();
        for column in plan.columns() {
            let leaf = leaves[column].1.unwrap_or_default();
            let read = ReadColumn::of(&metadata, column, leaf, plan.reads_bytes(column));
            reads.push(read.map_err(|what| footer_damage(&source, what))?);
        }
        Ok(Box::new(ParquetTable {
            file: Arc::new(FileOfGroups {
                source,
                metadata,
                plan,
                reads,
            }),
            shard,
            group: 0,
            first_row: 0,
            current: None,
        }))
    }

    fn facts(&self, source: Source) -> Result<Facts, Damage> {
        let metadata = metadata(&source)?;
        let columns = leaves(&metadata)?.into_iter();
        Ok(Facts {
            rows: metadata.file_metadata().num_rows() as u64,
            groups: metadata.num_row_groups() as u64,
            columns: columns
                .map(|(column, _)| (column.name, column.data))
                .collect(),
        })
    }
}

/// How a column is read.
struct ReadColumn {
    /// Its number among those of the plan, and among the leaves.
    column: usize,
    leaf: usize,
    levels: FieldLevels,
    /// The smallest number of bytes of a value.
    width: u64,
}

impl fmt::Debug for ReadColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadColumn").field(&self.column).finish()
    }
}

impl ReadColumn {
    fn of(
        metadata: &ParquetMetaData,
        column: usize,
        leaf: usize,
        as_bytes: bool,
    ) -> Result<Self, String> {
        let schema = metadata.file_metadata().schema_descr();
        let descriptor = schema.column(leaf);
        let info = descriptor.self_type().get_basic_info();
        let physical = descriptor.physical_type();
        guarded(|| -> ParquetResult<Self> {
            let is_bytes = as_bytes && physical == Physical::BYTE_ARRAY;
            // Text is read as bytes: what is not UTF-8 is a bad row, not a bad file.
            let leaf_type = match is_bytes {
                true => Arc::new(
                    Type::primitive_type_builder(info.name(), physical)
                        .with_repetition(info.repetition())
                        .build()?,
                ),
                false => descriptor.self_type_ptr(),
            };
            let root = Type::group_type_builder("schema").with_fields(vec![leaf_type]);
            let schema = SchemaDescriptor::new(Arc::new(root.build()?));
            let hint = is_bytes.then(|| {
                let field = ArrowField::new(info.name(), DataType::BinaryView, true);
                ArrowFields::from(vec![field])
            });
            let levels =
                parquet_to_arrow_field_levels(&schema, ProjectionMask::all(), hint.as_ref())?;
            Ok(Self {
                column,
                leaf,
                levels,
                width: match physical {
                    Physical::BOOLEAN => 0,
                    Physical::BYTE_ARRAY | Physical::INT32 | Physical::FLOAT => 4,
                    Physical::INT64 | Physical::DOUBLE => 8,
                    Physical::INT96 => 12,
                    Physical::FIXED_LEN_BYTE_ARRAY => descriptor.type_length().max(0) as u64,
                },
            })
        })
    }
}

/// A file, and what is read of it.
#[derive(Debug)]
struct FileOfGroups {
    source: Source,
    metadata: Arc<ParquetMetaData>,
    plan: Plan,
    /// The columns of the plan, that of the positions first.
    reads: Vec<ReadColumn>,
}

/// A row group whose pages are known.
#[derive(Debug)]
struct Group {
    file: Arc<FileOfGroups>,
    number: usize,
    /// The number of its first row.
    first: u64,
    /// Of each column that is read.
    pages: Vec<Pages>,
}

#[derive(Debug)]
struct ParquetTable {
    file: Arc<FileOfGroups>,
    shard: Option<Range<u64>>,
    /// The next row group, and its first row.
    group: usize,
    first_row: u64,
    current: Option<Current>,
}

/// The row group that is divided.
#[derive(Debug)]
struct Current {
    group: Arc<Group>,
    /// The next row, and the number of the page in which it is.
    row: u64,
    page: usize,
    rows: u64,
    /// Bytes of the file that belong to the group, and how many of them count as read.
    bytes: u64,
    counted: u64,
}

/// The bytes of the file in which a column chunk is.
fn range_of(column: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let data = u64::try_from(column.data_page_offset()).ok()?;
    // Some writers put a zero where there is none.
    let dictionary = column
        .dictionary_page_offset()
        .and_then(|place| u64::try_from(place).ok());
    let start = match dictionary {
        Some(place) if place > 0 && place < data => place,
        _ => data,
    };
    let len = u64::try_from(column.compressed_size()).ok()?;
    Some(start..start.checked_add(len)?)
}

impl FileOfGroups {
    fn open_group(self: &Arc<Self>, number: usize, first: u64) -> Result<Group, Damage> {
        let group = self.metadata.row_group(number);
        let mut all = Vec::new();
        for read in &self.reads {
            let column = group.column(read.leaf);
            let range = range_of(column).filter(|range| range.end <= self.source.len());
            let damage = |offset, what: String| Damage {
                offset,
                what: format!("row group {number}, column `{}`: {what}", self.name(read)),
            };
            let Some(range) = range else {
                let what = "it is beyond the end of the file".to_owned();
                return Err(damage(0, what));
            };
            let rows = group.num_rows() as u64;
            let pages = match rows {
                0 => Pages {
                    dictionary: None,
                    data: Vec::new(),
                },
                _ => pages::walk(&self.source, range, rows, read.width)
                    .map_err(|(place, what)| damage(place, what))?,
            };
            let is_too_long = |page: &&Page| page.len > MOST_LZ4;
            if column.compression() == Compression::LZ4
                && let Some(page) = pages.dictionary.iter().chain(&pages.data).find(is_too_long)
            {
                let what = "a page in the old form of LZ4 is too long".to_owned();
                return Err(damage(page.place, what));
            }
            all.push(pages);
        }
        Ok(Group {
            file: Arc::clone(self),
            number,
            first,
            pages: all,
        })
    }

    fn name(&self, read: &ReadColumn) -> String {
        let schema = self.metadata.file_metadata().schema_descr();
        schema.column(read.leaf).name().to_owned()
    }

    /// Where a row group begins, as far as it matters to shards.
    fn place(&self, number: usize) -> u64 {
        let group = self.metadata.row_group(number);
        let columns = group.columns().iter();
        let starts = columns.filter_map(|column| Some(range_of(column)?.start));
        starts.min().unwrap_or(0)
    }

    fn bytes(&self, number: usize) -> u64 {
        let columns = self.metadata.row_group(number).columns().iter();
        columns
            .filter_map(|column| u64::try_from(column.compressed_size()).ok())
            .fold(0, u64::saturating_add)
    }
}

impl Table for ParquetTable {
    fn next(&mut self) -> Option<Part> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(part) = current.next() {
                    return Some(part);
                }
                self.current = None;
            }
            let number = self.group;
            if number >= self.file.metadata.num_row_groups() {
                return None;
            }
            let first = self.first_row;
            let rows = self.file.metadata.row_group(number).num_rows() as u64;
            self.group += 1;
            self.first_row += rows;
            let place = self.file.place(number);
            if let Some(shard) = &self.shard {
                // A place beyond the end of the file belongs to the last shard.
                let place = place.min(self.file.source.len() - 1);
                if !shard.contains(&place) {
                    continue;
                }
            }
            let bytes = self.file.bytes(number);
            match self.file.open_group(number, first) {
                Ok(group) => {
                    self.current = Some(Current {
                        group: Arc::new(group),
                        row: 0,
                        page: 0,
                        rows,
                        bytes,
                        counted: 0,
                    });
                }
                Err(damage) => return Some(Part::damaged(damage, first..first + rows, bytes)),
            }
        }
    }

    fn note(&self) -> Option<String> {
        self.file.plan.note()
    }
    fn fields(&self) -> Fields {
        self.file.plan.carried()
    }

    fn check(&self) -> io::Result<()> {
        self.file.source.check()
    }
}

impl Current {
    /// The next part: whole pages, or some rows of a large one.
    fn next(&mut self) -> Option<Part> {
        let pages = &self.group.pages.first()?.data;
        let page = pages.get(self.page)?;
        let end = page.first_row + page.rows;
        let (place, mut last) = (page.place, page);
        let rows = if page.rows > MOST_ROWS {
            // In parts of about the same size.
            let parts = page.rows.div_ceil(MOST_ROWS);
            let rows = self.row..end.min(self.row + page.rows.div_ceil(parts));
            if rows.end == end {
                self.page += 1;
            }
            rows
        } else {
            let mut rows = self.row..end;
            self.page += 1;
            while let Some(page) = pages.get(self.page)
                && rows.end - rows.start + page.rows <= ROWS
            {
                rows.end += page.rows;
                last = page;
                self.page += 1;
            }
            rows
        };
        self.row = rows.end;
        let counted =
            (u128::from(self.bytes) * u128::from(rows.end) / u128::from(self.rows)) as u64;
        let bytes = counted - self.counted;
        self.counted = counted;
        let content = match rows.end == last.first_row + last.rows {
            true => place..last.place + last.len,
            // The page is still needed.
            false => place..place,
        };
        let content = self.group.file.source.bytes(content);
        let first = self.group.first;
        Some(Part {
            rows: first + rows.start..first + rows.end,
            place,
            bytes,
            // They were there a moment ago.
            content: content.unwrap_or_else(|_| Vec::new().into()),
            decode: Arc::clone(&self.group) as Arc<dyn DecodeRows>,
        })
    }
}

impl DecodeRows for Group {
    fn decode(&self, rows: Range<u64>, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode(&self.file.plan, self, rows, self.first, chunk, options)
    }
    fn check(&self) -> io::Result<()> {
        self.file.source.check()
    }
}

impl ReadColumns for Group {
    fn read(
        &self,
        column: usize,
        rows: Range<u64>,
        each: &mut dyn FnMut(&ArrayRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let reads = self.file.reads.iter().zip(&self.pages);
        let mut reads = reads.filter(|(read, _)| read.column == column);
        let Some((read, pages)) = reads.next() else {
            return Err("a column is missing".to_owned());
        };
        let name = |what: String| {
            let name = self.file.name(read);
            format!("row group {}, column `{name}`: {what}", self.number)
        };
        let mut reader = self.reader(read, pages, &rows).map_err(name)?;
        let mut seen = 0;
        while let Some(batch) = guarded(|| reader.next().transpose()).map_err(name)? {
            let array = batch.columns().first();
            let array = array.ok_or_else(|| name("nothing was read".to_owned()))?;
            seen += array.len() as u64;
            if seen > rows.end - rows.start {
                break;
            }
            each(array).map_err(name)?;
        }
        if seen != rows.end - rows.start {
            let what = format!("{seen} rows were read of {}", rows.end - rows.start);
            return Err(name(what));
        }
        Ok(())
    }
}

impl Group {
    /// A reader of rows of a column.
    fn reader(
        &self,
        read: &ReadColumn,
        pages: &Pages,
        rows: &Range<u64>,
    ) -> Result<ParquetRecordBatchReader, String> {
        let from = pages
            .data
            .partition_point(|page| page.first_row + page.rows <= rows.start);
        let to = pages.data.partition_point(|page| page.first_row < rows.end);
        let data = pages.data.get(from..to).unwrap_or_default();
        let (Some(first), Some(last)) = (data.first(), data.last()) else {
            return Err("there are no such rows".to_owned());
        };
        let (skipped, count) = (rows.start - first.first_row, rows.end - rows.start);
        let dictionary = pages
            .dictionary
            .filter(|_| data.iter().any(Page::uses_dictionary));
        let all: Vec<Page> = dictionary.iter().chain(data).copied().collect();
        let mut pieces = Pieces {
            pieces: Vec::with_capacity(all.len()),
            len: 0,
        };
        for page in &all {
            let bytes = self.file.source.bytes(page.place..page.place + page.len);
            let bytes = bytes.map_err(|error| error.to_string())?;
            pieces.push(bytes);
        }
        // Such values can each be as long as their page, which has a few bytes for each.
        let mut at_once = AT_ONCE;
        if let Some(most) = data
            .iter()
            .filter(|page| page.is_incremental())
            .map(|page| page.unpacked)
            .max()
        {
            at_once = (MOST_BYTES / most.max(1)).clamp(1, AT_ONCE);
        }
        let column = self.file.metadata.row_group(self.number).column(read.leaf);
        let packing = Packing::of(column.compression());
        let len = pieces.len as i64;
        guarded(move || -> ParquetResult<_> {
            let mut column = column
                .clone()
                .into_builder()
                .set_dictionary_page_offset(None)
                .set_data_page_offset(0)
                .set_total_compressed_size(len);
            if packing.is_some() {
                column = column.set_compression(Compression::UNCOMPRESSED);
            }
            let rows_of_pages = (last.first_row + last.rows - first.first_row) as usize;
            let inner =
                SerializedPageReader::new(Arc::new(pieces), &column.build()?, rows_of_pages, None)?;
            let pages: Box<dyn PageReader> = match packing {
                Some(packing) => Box::new(Unpacked {
                    inner,
                    packing,
                    pages: all.into(),
                }),
                None => Box::new(inner),
            };
            let group = OneColumn {
                pages: Mutex::new(Some(pages)),
                rows: rows_of_pages,
                metadata: &self.file.metadata,
            };
            let select = RowSelector::select(count as usize);
            let selection = match skipped {
                0 if count as usize == rows_of_pages => None,
                0 => Some(RowSelection::from(vec![select])),
                _ => Some(RowSelection::from(vec![
                    RowSelector::skip(skipped as usize),
                    select,
                ])),
            };
            ParquetRecordBatchReader::try_new_with_row_groups(
                &read.levels,
                &group,
                at_once.min(count) as usize,
                selection,
            )
        })
    }
}
