//! Reads Parquet files.

use super::column_map::Column;
use super::decode::ReadColumns;
use super::detect_games_or_positions::{KEY, ReadRows, kind_of, rows_of};
use super::fields_from_values::{most_texts, refusal};
use super::footer::{Leaf, MAGIC, footer_damage, leaves, metadata, value_of};
use super::page_checks::Written;
use super::page_subset::OneColumn;
use super::page_unpack::{Queue, Ready};
use super::panic_guard::guarded;
use super::parquet_dictionary_lists::{Entries, NumberedLists, PageLists};
use super::parquet_page_headers::{self, Page, Pages};
use super::struct_fields::{paths_in, values_of};
use super::{
    BYTES_OF_FIELD, BYTES_OF_ROW, DecodeRows, Facts, MOST_ROWS, OpenTable, RowKind, RowPart, ShardOfTable, TableError,
    TableOfGames, TableReader, dictionary_values,
};
use crate::error::Damage;
use crate::formats::codec::memory_budget::Charge;
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness};
use crate::input::RandomAccess;
use crate::table::{Field, Fields};
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowSelection, RowSelector};
use ::parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use ::parquet::basic::{Compression, Repetition, Type as Physical};
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::schema::types::{SchemaDescriptor, Type};
use arrow_schema::{DataType, Field as ArrowField, Fields as ArrowFields};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// Parquet files with a column of positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parquet;

/// Number of rows of a part, if the pages allow it.
const ROWS: u64 = 32 << 10;
/// Number of rows that are decoded at once.
const AT_ONCE: u64 = 8 << 10;
/// Maximum number of bytes of a page in the old LZ4 frames: their decompression cannot be limited, but they grow at
/// most 255 times.
const MOST_LZ4: u64 = 4 << 20;
const LZ4_RATIO: u64 = 255;
/// Bytes that a move in a list counts for, as text; and bytes of memory of a value of a list.
const BYTES_OF_MOVE: u64 = 5;
const BYTES_OF_VALUE: u64 = 24;
/// Maximum number of parts of a page, and of parts for which a dictionary is read: each part skips the rows before its
/// own, and makes the dictionary's values again.
const PARTS_OF_PAGE: u64 = 64;

impl Codec for Parquet {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "parquet",
            title: "Parquet with a column `fen` or `board`",
            extensions: &["parquet"],
            has_games: false,
            can_be_empty: true,
            selects: false,
            carries: Fields::ALL,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(head.starts_with(MAGIC))
    }
    fn layout(&self) -> Layout {
        Layout::Tables(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        super::decode(self, chunk, options)
    }
    fn of_games(&self) -> Option<&'static dyn Codec> {
        static ABOUT: About = TableOfGames::about("parquet", "Parquet with a game in each row");
        static OF_GAMES: TableOfGames = TableOfGames { about: &ABOUT, tables: &Parquet };
        Some(&OF_GAMES)
    }
}

impl OpenTable for Parquet {
    fn open(
        &self,
        source: RandomAccess,
        options: &DecodeOptions,
        shard: Option<ShardOfTable>,
    ) -> Result<Box<dyn TableReader>, TableError> {
        let metadata = metadata(&source)?;
        let leaves = leaves(&metadata, &paths_in(options));
        let columns: Vec<Column> = leaves.iter().map(|leaf| leaf.column.clone()).collect();
        let plan = rows_of(&columns, value_of(&metadata, KEY), options).map_err(TableError::Columns)?;
        let mut reads: Vec<ReadColumn> = Vec::new();
        for column in plan.columns() {
            let kind = (plan.reads_bytes(column), reads.is_empty());
            let mut read = ReadColumn::of(&metadata, column, &leaves[column], kind)
                .map_err(|what| footer_damage(&source, what))?;
            // Texts of positions may have operations.
            read.may_keep_texts =
                read.keeps_texts || kind.1 && options.fields.contains(crate::table::Field::Operations);
            reads.push(read);
        }
        Ok(Box::new(ParquetTable {
            file: Arc::new(FileOfGroups {
                source,
                metadata,
                plan,
                reads,
                most: options.max_memory,
                texts: most_texts(options),
            }),
            shard,
            has_begun: false,
            group: 0,
            first_row: 0,
            current: None,
            is_of_other: false,
        }))
    }

    fn facts(&self, source: RandomAccess) -> Result<Facts, Damage> {
        let metadata = metadata(&source)?;
        let columns: Vec<Column> = leaves(&metadata, &[]).into_iter().map(|leaf| leaf.column).collect();
        let kind = kind_of(&columns, value_of(&metadata, KEY));
        let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
        let codecs: BTreeSet<String> = chunks
            .map(|chunk| chunk.compression())
            .filter(|&codec| codec != Compression::UNCOMPRESSED)
            // The level is not part of the file.
            .map(|codec| codec.to_string().split('(').next().unwrap_or_default().to_lowercase())
            .collect();
        Ok(Facts {
            codecs: codecs.into_iter().collect(),
            rows: metadata.file_metadata().num_rows() as u64,
            groups: metadata.num_row_groups() as u64,
            columns: columns.into_iter().map(|column| (column.name, column.data)).collect(),
            kind,
        })
    }
}

/// The way in which a column is read.
struct ReadColumn {
    /// The number of the column among those of the plan, and among the leaves.
    column: usize,
    leaf: usize,
    /// The number of structs around its values.
    structs: usize,
    levels: FieldLevels,
    written: Written,
    /// Whether lists may be missing, if the values are lists of texts in the usual form.
    optional_lists: Option<bool>,
    /// Whether its texts are kept with the records, because it is the column of a field.
    keeps_texts: bool,
    /// Whether some of its texts may be kept.
    may_keep_texts: bool,
}

impl fmt::Debug for ReadColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadColumn").field(&self.column).finish()
    }
}

/// The type of a column with bytes in place of strings, so that invalid UTF-8 makes a bad row, not a bad file.
fn with_bytes(of: &Type) -> ParquetResult<Arc<Type>> {
    let info = of.get_basic_info();
    if of.is_primitive() {
        let bytes = Type::primitive_type_builder(info.name(), of.get_physical_type());
        return bytes.with_repetition(info.repetition()).build().map(Arc::new);
    }
    let fields = of.get_fields().iter().map(|field| with_bytes(field)).collect::<ParquetResult<Vec<_>>>()?;
    let mut group = Type::group_type_builder(info.name())
        .with_fields(fields)
        .with_converted_type(info.converted_type())
        .with_logical_type(info.logical_type_ref().cloned());
    if info.has_repetition() {
        group = group.with_repetition(info.repetition());
    }
    group.build().map(Arc::new)
}

/// The type of a column with only the field of structs with this path.
fn with_only(of: &Arc<Type>, path: &[String]) -> ParquetResult<Arc<Type>> {
    let Some((name, path)) = path.split_first() else { return Ok(Arc::clone(of)) };
    let info = of.get_basic_info();
    let field = of.get_fields().iter().find(|field| field.name() == name);
    let field = field.ok_or_else(|| ParquetError::General(format!("there is no field `{name}`")))?;
    let mut group = Type::group_type_builder(info.name()).with_fields(vec![with_only(field, path)?]);
    if info.has_repetition() {
        group = group.with_repetition(info.repetition());
    }
    group.build().map(Arc::new)
}

/// Whether lists may be missing, if a column has lists of bytes in the usual form: a group of a repeated group of a value.
fn optional_lists(of: &Type, most_defined: u8) -> Option<bool> {
    let only = |of: &Type| match of {
        Type::GroupType { fields, .. } => match &fields[..] {
            [field] => Some(Arc::clone(field)),
            _ => None,
        },
        Type::PrimitiveType { .. } => None,
    };
    let repetition = |of: &Type| of.get_basic_info().has_repetition().then(|| of.get_basic_info().repetition());
    let repeated = only(of)?;
    let value = only(&repeated)?;
    let is_usual = value.is_primitive()
        && value.get_physical_type() == Physical::BYTE_ARRAY
        && repetition(&repeated) == Some(Repetition::REPEATED)
        && repetition(&value) != Some(Repetition::REPEATED);
    let is_optional = |of: &Type| repetition(of) == Some(Repetition::OPTIONAL);
    let levels = u8::from(is_optional(of)) + 1 + u8::from(is_optional(&value));
    (is_usual && levels == most_defined).then(|| is_optional(of))
}

impl ReadColumn {
    fn of(
        metadata: &ParquetMetaData,
        column: usize,
        &Leaf { leaf, structs, .. }: &Leaf,
        (as_bytes, is_position): (bool, bool),
    ) -> Result<Self, String> {
        let leaf = leaf.unwrap_or_default();
        let schema = metadata.file_metadata().schema_descr();
        let descriptor = schema.column(leaf);
        let info = descriptor.self_type().get_basic_info();
        let physical = descriptor.physical_type();
        let is_list = descriptor.max_rep_level() > 0;
        guarded(|| -> ParquetResult<Self> {
            let is_bytes = as_bytes && physical == Physical::BYTE_ARRAY;
            let column_type = schema.get_column_root_ptr(leaf);
            let parts = descriptor.path().parts();
            let column_type = with_only(&column_type, &parts[1..=structs])?;
            let most_defined = descriptor.max_def_level().max(0) as u8;
            let is_list_of_bytes = is_bytes && structs == 0 && descriptor.max_rep_level() == 1;
            let optional_lists = if is_list_of_bytes { optional_lists(&column_type, most_defined) } else { None };
            let column_type = if is_bytes { with_bytes(&column_type)? } else { column_type };
            let root = Type::group_type_builder("schema").with_fields(vec![column_type]);
            let schema = SchemaDescriptor::new(Arc::new(root.build()?));
            let hint = (is_bytes && !is_list && structs == 0).then(|| {
                let field = ArrowField::new(info.name(), DataType::BinaryView, true);
                ArrowFields::from(vec![field])
            });
            let levels = parquet_to_arrow_field_levels(&schema, ProjectionMask::all(), hint.as_ref())?;
            Ok(Self {
                column,
                leaf,
                structs,
                levels,
                written: Written {
                    physical,
                    width: match physical {
                        Physical::BOOLEAN => 0,
                        Physical::BYTE_ARRAY | Physical::INT32 | Physical::FLOAT => 4,
                        Physical::INT64 | Physical::DOUBLE => 8,
                        Physical::INT96 => 12,
                        Physical::FIXED_LEN_BYTE_ARRAY => descriptor.type_length().max(0) as u64,
                    },
                    most_defined,
                    is_list,
                },
                optional_lists,
                keeps_texts: as_bytes && !is_position,
                may_keep_texts: false,
            })
        })
    }
}

/// A file, and the parts of it that are read.
#[derive(Debug)]
struct FileOfGroups {
    source: RandomAccess,
    metadata: Arc<ParquetMetaData>,
    plan: Arc<dyn ReadRows>,
    /// The columns of the plan; that of the positions or moves is first.
    reads: Vec<ReadColumn>,
    /// The memory limits for everything, and for the texts of a part.
    most: u64,
    texts: u64,
}

/// A row group whose pages are known.
#[derive(Debug)]
struct Group {
    file: Arc<FileOfGroups>,
    number: usize,
    /// The number of its first row.
    first: u64,
    /// The pages of each column that is read.
    pages: Vec<Pages>,
}

/// A page that several parts need; the first of them unpacks it.
#[derive(Debug)]
struct Shared {
    page: Page,
    ready: OnceLock<Result<Ready, String>>,
    /// Its lists, or the entries of a dictionary, if they are read as numbers.
    lists: OnceLock<Option<Arc<PageLists>>>,
    entries: OnceLock<Option<Arc<Entries>>>,
    charge: Arc<Charge>,
}

/// Rows of a row group, and the pages that they share with others.
#[derive(Debug)]
struct Rows {
    group: Arc<Group>,
    shared: Vec<SharedBy>,
}

#[derive(Debug)]
struct SharedBy {
    /// The number of the column among those that are read.
    read: usize,
    shared: Arc<Shared>,
    /// Whether this part is the one that reports damage in it.
    reports: bool,
}

#[derive(Debug)]
struct ParquetTable {
    file: Arc<FileOfGroups>,
    shard: Option<ShardOfTable>,
    /// Whether a row group of the shard has been read.
    has_begun: bool,
    /// The next row group, and its first row.
    group: usize,
    first_row: u64,
    current: Option<Current>,
    /// Whether that lies in another shard.
    is_of_other: bool,
}

/// The row group that is being divided.
#[derive(Debug)]
struct Current {
    group: Arc<Group>,
    /// The next row, and the number of the page in which it is.
    row: u64,
    page: usize,
    rows: u64,
    /// The number of rows of a part, if its pages allow it, and the maximum.
    wanted: u64,
    most: u64,
    /// Bytes of the file that belong to the group, and how many of them count as read.
    bytes: u64,
    counted: u64,
    /// For each column, its dictionary, and the page of the next row if that page has begun.
    dictionaries: Vec<Option<Arc<Shared>>>,
    begun: Vec<Option<Arc<Shared>>>,
}

/// The range of the file that holds a column chunk.
fn range_of(column: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let data = u64::try_from(column.data_page_offset()).ok()?;
    // Some writers put a zero where there is none.
    let dictionary = column.dictionary_page_offset().and_then(|place| u64::try_from(place).ok());
    let start = match dictionary {
        Some(place) if place > 0 && place < data => place,
        _ => data,
    };
    let len = u64::try_from(column.compressed_size()).ok()?;
    Some(start..start.checked_add(len)?)
}

/// Columns of incremental texts are charged for at most this many times the room for texts. More of them are hardly
/// ever long at the same time, and if all were charged, such files could not be read with any limit.
const MOST_TEXT_SHARES: u64 = 8;

/// The memory that rows need while they are read.
struct Needs {
    /// The pages that they share with others.
    shared: Vec<SharedBy>,
    /// The charges for them.
    charges: Vec<Arc<Charge>>,
    /// The bytes of all of this, and how many times they include the room for texts.
    needed: u64,
    text_shares: u64,
    /// Bytes of the longest column of texts, as far as the pages tell.
    longest_texts: u64,
}

impl FileOfGroups {
    fn open_group(self: &Arc<Self>, number: usize, first: u64) -> Result<Group, Damage> {
        let group = self.metadata.row_group(number);
        let mut all = Vec::new();
        for read in &self.reads {
            let column = group.column(read.leaf);
            let range = range_of(column).filter(|range| range.end <= self.source.len());
            let damage = |offset, what: String| {
                Damage::at(offset, format!("row group {number}, column `{}`: {what}", self.name(read)))
            };
            let Some(range) = range else {
                let what = "it is beyond the end of the file".to_owned();
                return Err(damage(0, what));
            };
            let rows = group.num_rows() as u64;
            let pages = match rows {
                0 => Pages { dictionary: None, data: Vec::new() },
                _ => parquet_page_headers::walk(&self.source, range, rows, read.written, |page| {
                    self.rows_of_lists(page, column, read.written)
                })
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
        Ok(Group { file: Arc::clone(self), number, first, pages: all })
    }

    /// The number of rows that begin in a page of lists, and whether it begins within a list.
    fn rows_of_lists(
        &self,
        page: &Page,
        column: &ColumnChunkMetaData,
        written: Written,
    ) -> Result<(u64, bool), String> {
        if page.memory() > self.most {
            return Err(format!("a page has {} bytes, which is more than --max-memory allows", page.unpacked));
        }
        let bytes = self.source.bytes(page.place..page.place + page.len).map_err(|error| error.to_string())?;
        written.rows_of_lists(&Ready::without_rows(page, bytes, column, written)?.page)
    }

    fn name(&self, read: &ReadColumn) -> String {
        let schema = self.metadata.file_metadata().schema_descr();
        schema.column(read.leaf).name().to_owned()
    }

    /// The beginning of a row group, as it counts for shards.
    fn place(&self, number: usize) -> u64 {
        let group = self.metadata.row_group(number);
        let columns = group.columns().iter();
        let starts = columns.filter_map(|column| Some(range_of(column)?.start));
        starts.min().unwrap_or(0)
    }

    fn bytes(&self, number: usize) -> u64 {
        let columns = self.metadata.row_group(number).columns().iter();
        columns.filter_map(|column| u64::try_from(column.compressed_size()).ok()).fold(0, u64::saturating_add)
    }
}

impl ParquetTable {
    /// Whether a row group belongs to the shard.
    fn is_own(&self, number: usize) -> bool {
        // A place beyond the end of the file belongs to the last shard.
        let place = || self.file.place(number).min(self.file.source.len() - 1);
        self.shard.as_ref().is_none_or(|shard| shard.range.contains(&place()))
    }

    /// Whether the next row group that has rows belongs to the shard, and this one does not.
    fn is_before_own(&self, number: usize) -> bool {
        let groups = self.file.metadata.row_groups();
        let next = (number + 1..groups.len()).find(|&next| groups[next].num_rows() != 0);
        groups[number].num_rows() != 0 && next.is_some_and(|next| self.is_own(next))
    }
}

impl TableReader for ParquetTable {
    fn next(&mut self) -> Option<RowPart> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(part) = current.next() {
                    return Some(if self.is_of_other { part.of_other_shard() } else { part });
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
            let is_own = self.is_own(number);
            self.is_of_other = !is_own;
            self.has_begun |= is_own;
            if let Some(shard) = self.shard.as_ref().filter(|_| !is_own) {
                if !self.has_begun && shard.reads_on() && self.is_before_own(number) {
                    // The end of the last group before the shard.
                    let group = self.file.open_group(number, first).ok();
                    let parts = group.and_then(|group| Current::of(group, rows, 0).last());
                    if let Some(part) = parts {
                        return Some(part.of_other_shard());
                    }
                }
                if !self.has_begun || !shard.reads_on() {
                    continue;
                }
            }
            let bytes = self.file.bytes(number);
            match self.file.open_group(number, first) {
                Ok(group) => {
                    self.current = Some(Current::of(group, rows, bytes));
                }
                Err(damage) => return Some(RowPart::damaged(damage, first..first + rows, bytes)),
            }
        }
    }

    fn note(&self) -> Option<String> {
        self.file.plan.note()
    }
    fn kind(&self) -> RowKind {
        self.file.plan.kind()
    }
    fn fields(&self) -> Fields {
        self.file.plan.fields()
    }
    fn dropped_values(&self) -> &[(Field, String)] {
        self.file.plan.dropped_values()
    }

    fn check(&self) -> io::Result<()> {
        self.file.source.check()
    }
}

impl Current {
    fn of(group: Group, rows: u64, bytes: u64) -> Self {
        let longest = |pages: &Pages| {
            let pages = pages.dictionary.iter().chain(&pages.data);
            pages.map(|page| page.rows).max().unwrap_or(0)
        };
        let longest = group.pages.iter().map(longest).max().unwrap_or(0);
        let least = longest.div_ceil(PARTS_OF_PAGE);
        let none = || group.pages.iter().map(|_| None).collect();
        // Games are so long that few rows suffice for a part.
        let of_bytes = group.file.plan.bytes_of_part().zip(group.pages.first()).map(|(bytes, pages)| {
            let is_list = group.file.reads.first().is_some_and(|read| read.written.is_list);
            // Moves in lists are mostly numbers of a dictionary, so that their bytes do not tell how many there are.
            let bytes_of =
                |page: &Page| if is_list { page.unpacked.max(BYTES_OF_MOVE * page.values) } else { page.unpacked };
            let all: u64 = pages.data.iter().map(bytes_of).sum();
            (u128::from(rows) * u128::from(bytes) / u128::from(all.max(1))).clamp(1, ROWS.into()) as u64
        });
        let wanted = of_bytes.unwrap_or(ROWS);
        Self {
            row: 0,
            page: 0,
            rows,
            wanted: wanted.max(least),
            most: of_bytes.map_or(MOST_ROWS, |rows| 2 * rows).max(least),
            bytes,
            counted: 0,
            dictionaries: none(),
            begun: none(),
            group: Arc::new(group),
        }
    }

    /// The last part.
    fn last(mut self) -> Option<RowPart> {
        let mut last = None;
        while let Some(part) = self.next() {
            last = Some(part);
        }
        last
    }

    /// The next part: whole pages, or some rows of a large one.
    fn next(&mut self) -> Option<RowPart> {
        let group = Arc::clone(&self.group);
        let pages = &group.pages.first()?.data;
        // Pages in which no row begins belong to the part before.
        self.page += pages.get(self.page..)?.iter().take_while(|page| page.rows == 0).count();
        let page = pages.get(self.page)?;
        let end = page.first_row + page.rows;
        let (place, mut last) = (page.place, page);
        let mut rows = if page.rows > self.most {
            // Divides the rows into parts of about the same size.
            let parts = page.rows.div_ceil(self.most);
            let rows = self.row..end.min(self.row + page.rows.div_ceil(parts));
            if rows.end == end {
                self.page += 1;
            }
            rows
        } else {
            let mut rows = self.row..end;
            self.page += 1;
            while let Some(page) = pages.get(self.page)
                && rows.end - rows.start + page.rows <= self.wanted
            {
                rows.end += page.rows;
                last = page;
                self.page += 1;
            }
            rows
        };
        let Needs { shared, charges, needed, text_shares, longest_texts } = self.needs(&rows);
        let refused = needed > group.file.most;
        if refused {
            // The other parts of its page, or of its dictionary, would need as much.
            rows.end = self.rows;
            self.page = pages.len();
        }
        self.row = rows.end;
        let counted = (u128::from(self.bytes) * u128::from(rows.end) / u128::from(self.rows)) as u64;
        let bytes = counted - self.counted;
        self.counted = counted;
        let first = group.first;
        let numbers = first + rows.start..first + rows.end;
        if refused {
            let what = refusal(needed, text_shares, longest_texts, group.file.most);
            let what = format!("row group {}: {what}", group.number);
            let damage = Damage::limit(place, what);
            return Some(RowPart::damaged(damage, numbers, bytes));
        }
        let content = if rows.end == last.first_row + last.rows {
            place..last.place + last.len
        } else {
            // The page is still needed.
            place..place
        };
        let content = group.file.source.bytes(content);
        Some(RowPart {
            rows: numbers,
            place,
            bytes,
            // The bytes were there a moment ago.
            content: content.unwrap_or_else(|_| Vec::new().into()),
            charges,
            decode: Arc::new(Rows { group, shared }),
            of_other_shard: false,
        })
    }

    /// The memory that rows need while they are read.
    fn needs(&mut self, rows: &Range<u64>) -> Needs {
        let file = &self.group.file;
        let (mut shared, mut charges) = (Vec::new(), Vec::new());
        let count = rows.end - rows.start;
        let fields = file.reads.len() as u64;
        let mut own = count.saturating_mul(BYTES_OF_ROW + BYTES_OF_FIELD * fields);
        let (mut with, mut texts, mut text_shares, mut longest_texts) = (0u64, 0u64, 0u64, 0u64);
        for (number, (read, pages)) in file.reads.iter().zip(&self.group.pages).enumerate() {
            let column = file.metadata.row_group(self.group.number);
            let is_lz4 = column.column(read.leaf).compression() == Compression::LZ4;
            let memory = |page: &Page| if is_lz4 { page.memory().max(LZ4_RATIO * page.len) } else { page.memory() };
            let share = |page: &Page| {
                let lists = if read.optional_lists.is_some() { PageLists::memory(page.values, page.rows) } else { 0 };
                Arc::new(Shared {
                    page: *page,
                    ready: OnceLock::new(),
                    lists: OnceLock::new(),
                    entries: OnceLock::new(),
                    charge: Charge::of(memory(page).saturating_add(lists)),
                })
            };
            let mut use_shared = |held: &mut Option<Arc<Shared>>, page: &Page, is_read: bool| {
                let known = held.take().filter(|held| held.page.place == page.place);
                let reports = known.is_none();
                let known = known.unwrap_or_else(|| share(page));
                charges.push(Arc::clone(&known.charge));
                with = with.saturating_add(known.charge.bytes());
                if is_read {
                    shared.push(SharedBy { read: number, shared: Arc::clone(&known), reports });
                }
                *held = Some(known);
            };
            let data = pages.of_rows(rows);
            let (mut size, mut unpacked) = (0u64, 0u64);
            let held = &mut self.dictionaries[number];
            if let Some(dictionary) = &pages.dictionary
                && data.iter().any(Page::uses_dictionary)
            {
                use_shared(held, dictionary, true);
                // Its values are made anew for each part.
                own = own.saturating_add(16 * dictionary.rows);
                size = size.saturating_add(dictionary.unpacked);
                unpacked = unpacked.saturating_add(dictionary.unpacked);
            } else if let Some(dictionary) = &pages.dictionary
                && held.is_some()
            {
                // The dictionary stays until the end of the group.
                use_shared(held, dictionary, false);
            }
            let begun = &mut self.begun[number];
            for page in data {
                size = size.saturating_add(page.unpacked);
                let end = page.first_row + page.rows;
                if page.first_row < rows.start || end > rows.end {
                    use_shared(begun, page, true);
                    if end <= rows.end {
                        *begun = None;
                    }
                } else {
                    own = own.saturating_add(memory(page));
                }
                unpacked = unpacked.saturating_add(page.unpacked);
                if read.written.is_list {
                    let own_rows = end.min(rows.end).saturating_sub(page.first_row.max(rows.start));
                    let values = u128::from(page.values) * u128::from(own_rows) / u128::from(page.rows.max(1));
                    own = own.saturating_add(BYTES_OF_VALUE * values as u64);
                }
                if page.is_incremental() {
                    size = u64::MAX;
                }
            }
            // Texts that are made at once, and texts that are kept for rejects.
            if data.iter().any(Page::is_incremental) && text_shares < MOST_TEXT_SHARES {
                text_shares += 2;
            }
            if read.keeps_texts {
                texts = texts.saturating_add(size);
            }
            if read.may_keep_texts {
                longest_texts = longest_texts.max(unpacked);
            }
        }
        // Each text exists twice while texts are collected.
        if texts < file.texts {
            own = own.saturating_add(2 * texts);
        } else {
            text_shares += 2;
        }
        own = own.saturating_add(text_shares * file.texts);
        charges.push(Charge::of(own));
        Needs { shared, charges, needed: own.saturating_add(with), text_shares, longest_texts }
    }
}

impl DecodeRows for Rows {
    fn check(&self) -> io::Result<()> {
        self.group.file.source.check()
    }
    fn decode(&self, rows: Range<u64>, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        let group = &self.group;
        let mut damage = Vec::new();
        let mut is_damaged = false;
        for by in &self.shared {
            if let Err(what) = group.shared(by) {
                is_damaged = true;
                // A damaged page is reported once.
                if by.reports {
                    let what = group.named(&group.file.reads[by.read], what);
                    damage.push(Damage::at(0, what));
                }
            }
        }
        if is_damaged {
            return Decoded { damage, records: rows.end - rows.start, ..Decoded::default() };
        }
        group.file.plan.decode(self, rows, group.first, chunk, options)
    }
}

impl ReadColumns for Rows {
    fn read(
        &self,
        column: usize,
        rows: Range<u64>,
        each: &mut dyn FnMut(&dictionary_values::Column) -> Result<(), String>,
    ) -> Result<(), String> {
        let group = &self.group;
        let reads = group.file.reads.iter();
        let Some(number) = reads.clone().position(|read| read.column == column) else {
            return Err("a column is missing".to_owned());
        };
        let name = |what: String| group.named(&group.file.reads[number], &what);
        let mut reader = self.reader(number, &rows).map_err(name)?;
        let mut seen = 0;
        while let Some(batch) = guarded(|| reader.next().transpose()).map_err(name)? {
            let array = batch.columns().first().ok_or_else(|| name("nothing was read".to_owned()))?;
            seen += array.len() as u64;
            if seen > rows.end - rows.start {
                break;
            }
            let array = values_of(array, &vec![0; group.file.reads[number].structs]).map_err(name)?;
            each(&array.into()).map_err(name)?;
        }
        if seen != rows.end - rows.start {
            let what = format!("{seen} rows were read of {}", rows.end - rows.start);
            return Err(name(what));
        }
        Ok(())
    }

    fn numbered_lists(&self, column: usize, rows: Range<u64>) -> Option<NumberedLists> {
        let number = self.group.file.reads.iter().position(|read| read.column == column)?;
        self.lists(number, &rows)
    }
}

impl Rows {
    /// Finds a page among those that are shared with other parts.
    fn shared(&self, number: usize, page: &Page) -> Option<&SharedBy> {
        self.shared.iter().find(|by| by.read == number && by.shared.page.place == page.place)
    }

    /// The lists of some rows of a column as numbers; `None` if something is unusual or wrong.
    fn lists(&self, number: usize, rows: &Range<u64>) -> Option<NumberedLists> {
        let group = &self.group;
        let (read, pages) = (&group.file.reads[number], &group.pages[number]);
        let is_optional = read.optional_lists?;
        let data = pages.of_rows(rows);
        if !data.iter().all(Page::uses_dictionary) {
            return None;
        }
        let dictionary = self.shared(number, pages.dictionary.as_ref()?)?;
        let entries_of = || Entries::of(&group.shared(dictionary).ok()?.page);
        let entries = dictionary.shared.entries.get_or_init(entries_of).clone()?;
        let mut lists = NumberedLists::new(entries);
        for page in data {
            let lists_of = |ready: &Ready| PageLists::of(&ready.page, read.written, is_optional);
            let found = match self.shared(number, page) {
                Some(by) => by.shared.lists.get_or_init(|| lists_of(group.shared(by).ok()?)).clone()?,
                None => lists_of(&group.unpacked(number, page).ok()?)?,
            };
            lists.add(rows, page.first_row, &found)?;
        }
        lists.checked(rows.end - rows.start)
    }
}

impl Group {
    fn named(&self, read: &ReadColumn, what: &str) -> String {
        let name = self.file.name(read);
        format!("row group {}, column `{name}`: {what}", self.number)
    }

    /// Unpacks a page of a column.
    fn unpacked(&self, number: usize, page: &Page) -> Result<Ready, String> {
        let read = &self.file.reads[number];
        let bytes = self.file.source.bytes(page.place..page.place + page.len).map_err(|error| error.to_string())?;
        let column = self.file.metadata.row_group(self.number).column(read.leaf);
        Ready::of(page, bytes, column, read.written)
    }

    fn shared<'a>(&self, by: &'a SharedBy) -> Result<&'a Ready, &'a str> {
        let Shared { page, ready, .. } = &*by.shared;
        let ready = ready.get_or_init(|| self.unpacked(by.read, page));
        ready.as_ref().map_err(|what| &**what)
    }
}

impl Rows {
    /// Makes a reader of rows of a column.
    fn reader(&self, number: usize, rows: &Range<u64>) -> Result<ParquetRecordBatchReader, String> {
        let group = &self.group;
        let (read, pages) = (&group.file.reads[number], &group.pages[number]);
        let data = pages.of_rows(rows);
        let (Some(first), Some(last)) = (data.first(), data.last()) else {
            return Err("there are no such rows".to_owned());
        };
        // The rest of a list that began before counts as a row.
        let rest = u64::from(first.continues);
        let (skipped, count) = (rows.start - first.first_row + rest, rows.end - rows.start);
        let dictionary = pages.dictionary.iter().filter(|_| data.iter().any(Page::uses_dictionary));
        let all: Vec<Page> = dictionary.chain(data).copied().collect();
        // The pages that are unpacked already, by their places.
        let mut known = HashMap::new();
        for by in self.shared.iter().filter(|by| by.read == number) {
            known.insert(by.shared.page.place, group.shared(by)?.clone());
        }
        // Values that are derived from others can each be as long as their whole page, although the page has only a few
        // bytes for each.
        let mut at_once = AT_ONCE;
        if data.iter().any(Page::is_incremental) {
            for page in &all {
                if let Entry::Vacant(entry) = known.entry(page.place) {
                    entry.insert(group.unpacked(number, page)?);
                }
            }
            let longest = known.values().map(|ready| ready.longest).max().unwrap_or(0).max(1);
            at_once = (group.file.texts / longest).clamp(1, AT_ONCE);
        }
        let rows_of_pages = (last.first_row + last.rows - first.first_row + rest) as usize;
        let of = Arc::clone(group);
        let pages = Queue {
            pages: all.into(),
            are_lists: read.written.is_list,
            unpack: move |page: &Page| match known.get(&page.place) {
                Some(ready) => Ok(ready.clone()),
                None => of.unpacked(number, page),
            },
        };
        guarded(move || -> ParquetResult<_> {
            let one = OneColumn {
                pages: Mutex::new(Some(Box::new(pages))),
                rows: rows_of_pages,
                metadata: &group.file.metadata,
            };
            let select = RowSelector::select(count as usize);
            let selection = match skipped {
                0 if count as usize == rows_of_pages => None,
                0 => Some(RowSelection::from(vec![select])),
                _ => Some(RowSelection::from(vec![RowSelector::skip(skipped as usize), select])),
            };
            ParquetRecordBatchReader::try_new_with_row_groups(
                &read.levels,
                &one,
                at_once.min(count) as usize,
                selection,
            )
        })
    }
}
