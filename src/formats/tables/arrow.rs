//! Arrow files and streams (IPC).

use super::columns::{Column, Kind, Plan};
use super::decode::{ReadColumns, decode};
use super::guard::guarded;
use super::{DecodeRows, Facts, MOST_BYTES, OpenTable, Part, Table, TableError};
use crate::error::Damage;
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Likeness};
use crate::input::{self, Source};
use crate::table::Fields;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{
    CompressionType, Endianness, Message, MessageHeader, MetadataVersion, root_as_footer,
    root_as_message,
};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema, SchemaRef};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Arrow files and streams with a column of positions.
#[derive(Clone, Copy, Debug)]
pub struct Arrow;

/// How a file begins, with two bytes of padding, and ends.
const MAGIC: &[u8] = b"ARROW1";
/// How each message of a stream begins.
const CONTINUATION: [u8; 4] = [0xFF; 4];
/// Rows of a part.
const ROWS: u64 = 32 << 10;
/// The longest description of a schema, a batch or a file.
const MOST_METADATA: u64 = 256 << 20;
/// How much an LZ4 frame may grow by decompression, and how large it may be without its blocks being looked at.
const LZ4_RATIO: u64 = 255;
const SMALL_LZ4: u64 = 1 << 20;

impl Codec for Arrow {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "arrow",
            title: "Arrow file or stream with a column `fen` or `board`",
            extensions: &["arrow", "arrows", "feather", "ipc"],
            is_text: false,
            has_games: false,
            carries: Fields::ALL,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(head.starts_with(MAGIC) || is_stream(head))
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

/// Whether bytes are the beginning of a stream: a message whose metadata are plausible.
fn is_stream(head: &[u8]) -> bool {
    let (words, _) = head.as_chunks::<4>();
    let [CONTINUATION, len, root, ..] = words else {
        return false;
    };
    let (len, root) = (u32::from_le_bytes(*len), u32::from_le_bytes(*root));
    len.is_multiple_of(4) && (16..=1 << 26).contains(&len) && (4..len).contains(&root)
}

impl OpenTable for Arrow {
    fn open(
        &self,
        source: Source,
        options: &DecodeOptions,
        shard: Option<Range<u64>>,
    ) -> Result<Box<dyn Table>, TableError> {
        let mut messages = Messages::open(source)?;
        let fields = messages.schema.fields().iter();
        let columns: Vec<Column> = fields.map(|field| column_of(field)).collect();
        let plan = Plan::of(&columns, options).map_err(TableError::Columns)?;
        let mut projection = plan.columns();
        projection.sort_unstable();
        // Text is read as bytes: what is not UTF-8 is a bad row, not a bad batch.
        let fields = messages.schema.fields().iter().enumerate();
        let fields = fields.map(|(at, field)| match projection.contains(&at) {
            true => as_bytes(field),
            false => field.as_ref().clone(),
        });
        messages.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Box::new(ArrowTable {
            messages,
            plan: Arc::new(plan),
            projection: projection.into(),
            shard,
            dictionaries: Arc::default(),
            first_row: 0,
            number: 0,
            current: None,
            is_over: false,
        }))
    }

    fn facts(&self, source: Source) -> Result<Facts, Damage> {
        let mut messages = Messages::open(source)?;
        let fields = messages.schema.fields().iter();
        let columns = fields.map(|field| column_of(field));
        let columns = columns.map(|column| (column.name, column.data)).collect();
        let (mut rows, mut groups) = (0u64, 0);
        while let Some(message) = messages.next() {
            if let Kept::Batch(count) = message?.kind {
                rows = rows.saturating_add(count);
                groups += 1;
            }
        }
        Ok(Facts {
            rows,
            groups,
            columns,
        })
    }
}

fn column_of(field: &ArrowField) -> Column {
    Column {
        name: field.name().clone(),
        kind: Kind::of(field.data_type()),
        data: field.data_type().to_string(),
    }
}

/// The field with bytes in place of strings, which have the same layout.
fn as_bytes(field: &ArrowField) -> ArrowField {
    fn of(data: &DataType) -> DataType {
        match data {
            DataType::Utf8 => DataType::Binary,
            DataType::LargeUtf8 => DataType::LargeBinary,
            DataType::Utf8View => DataType::BinaryView,
            DataType::Dictionary(keys, values) => {
                DataType::Dictionary(keys.clone(), Box::new(of(values)))
            }
            other => other.clone(),
        }
    }
    field.clone().with_data_type(of(field.data_type()))
}

/// A message of a file or stream.
#[derive(Clone, Copy, Debug)]
struct Located {
    /// Where it begins.
    place: u64,
    /// Bytes of its description, with everything before the body, and of the body.
    head: u64,
    body: u64,
    kind: Kept,
}

/// What a message is.
#[derive(Clone, Copy, Debug)]
enum Kept {
    Dictionary,
    /// With this number of rows.
    Batch(u64),
    Other,
}

/// The messages of a file or stream, one after the other.
#[derive(Debug)]
struct Messages {
    source: Arc<Source>,
    schema: SchemaRef,
    version: MetadataVersion,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// Of a file: place and lengths of each message, as the footer has them.
    Listed(VecDeque<[i64; 3]>),
    /// Of a stream: where the next one begins.
    Following(u64),
    Over,
}

fn damage(offset: u64, what: impl Into<String>) -> Damage {
    Damage {
        offset,
        what: what.into(),
    }
}

fn read(source: &Source, range: Range<u64>) -> Result<input::Bytes, Damage> {
    let place = range.start;
    let bytes = source.bytes(range);
    let bytes = bytes.and_then(|bytes| bytes.check().map(|()| bytes));
    bytes.map_err(|error| damage(place, error.to_string()))
}

/// The flatbuffer of a message, after the marker and the length.
fn flatbuffer(head: &[u8]) -> Option<&[u8]> {
    let rest = match head.strip_prefix(&CONTINUATION) {
        Some(rest) => rest,
        None => head,
    };
    rest.get(4..)
}

fn message(head: &[u8]) -> Result<Message<'_>, String> {
    let bytes = flatbuffer(head).ok_or("a message is too short")?;
    root_as_message(bytes).map_err(|error| format!("a message cannot be read: {error}"))
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef, String> {
    if schema.endianness() != Endianness::Little {
        return Err("its numbers are big-endian".to_owned());
    }
    guarded(|| Ok::<_, ArrowError>(Arc::new(fb_to_schema(schema))))
        .map_err(|error| format!("the schema: {error}"))
}

/// Whether the blocks of a footer are all that lies between the schema and the footer, which begins at `end`. If one
/// were missing in the footer, its rows would be missing.
fn are_all(source: &Source, blocks: &VecDeque<[i64; 3]>, end: u64) -> Result<bool, Damage> {
    /// Padding and the end of the stream.
    const GAP: u64 = 72;
    // The magic number may be padded like any message.
    let start = read(source, 8..source.len().min(8 + GAP))?;
    let (words, _) = start.as_chunks::<8>();
    let Some(padding) = words.iter().position(|word| *word != [0; 8]) else {
        return Ok(false);
    };
    let place = 8 + 8 * padding as u64;
    let first = blocks.iter().map(|&[place, ..]| place).min();
    let mut at = match *words[padding].as_chunks::<4>().0 {
        [CONTINUATION, size] => place + 8 + u64::from(u32::from_le_bytes(size)),
        // Some writers leave the schema without its length: it ends before the next message.
        _ => match first.map_or(Ok(end), u64::try_from) {
            Ok(first) if (place..=end).contains(&first) => {
                // The footer has the same schema.
                let most = 2 * (source.len() - end) + 4096;
                let schema = read(source, place..first.min(place + most))?;
                let (words, _) = schema.as_chunks::<8>();
                let is_message = |word: &[u8; 8]| word.starts_with(&CONTINUATION);
                let is_end = |word: &[u8; 8]| *word == [255, 255, 255, 255, 0, 0, 0, 0];
                if first - place > most
                    || words.iter().any(|word| is_message(word) && !is_end(word))
                {
                    return Ok(false);
                }
                first
            }
            _ => return Ok(false),
        },
    };
    let mut places: Vec<[i64; 3]> = blocks.iter().copied().collect();
    places.sort_unstable();
    for block in places {
        let [Ok(place), Ok(head), Ok(body)] = block.map(u64::try_from) else {
            return Ok(false);
        };
        if place < at || place - at >= GAP {
            return Ok(false);
        }
        let next = place.checked_add(head).and_then(|at| at.checked_add(body));
        let Some(next) = next.filter(|&next| next <= end && next > place) else {
            return Ok(false);
        };
        at = next;
    }
    Ok(at <= end && end - at < GAP)
}

impl Messages {
    fn open(source: Source) -> Result<Self, Damage> {
        let len = source.len();
        let start = read(&source, 0..len.min(8))?;
        if start.starts_with(MAGIC) {
            return Self::of_file(source);
        }
        if !start.starts_with(&CONTINUATION) {
            return Err(damage(
                0,
                "not an Arrow file or stream: it begins neither with ARROW1 nor with a message",
            ));
        }
        let mut messages = Self {
            source: Arc::new(source),
            schema: Arc::new(Schema::empty()),
            version: MetadataVersion::V5,
            order: Order::Following(0),
        };
        let first = messages.following(0)?;
        let first = first.ok_or_else(|| damage(0, "the stream has no schema"))?;
        let head = read(&messages.source, first.place..first.place + first.head)?;
        let wrong = |what: String| damage(0, what);
        let message = message(&head).map_err(wrong)?;
        let schema = message.header_as_schema();
        let schema = schema.ok_or_else(|| damage(0, "the stream does not begin with a schema"))?;
        messages.version = message.version();
        messages.schema = schema_of(schema).map_err(wrong)?;
        Ok(messages)
    }

    fn of_file(source: Source) -> Result<Self, Damage> {
        const END: u64 = 10;
        let len = source.len();
        let place = len.saturating_sub(END);
        let wrong = |what: &str| damage(place, what);
        if len < 8 + END {
            return Err(wrong("too short for an Arrow file"));
        }
        let end = read(&source, place..len)?;
        let Some((&size, MAGIC)) = end.split_first_chunk::<4>() else {
            return Err(wrong(
                "the footer is missing: the file is truncated, or something was appended",
            ));
        };
        let size = u64::try_from(i32::from_le_bytes(size))
            .ok()
            .filter(|&size| size <= (place - 8).min(MOST_METADATA))
            .ok_or_else(|| wrong("the footer has an impossible length"))?;
        let bytes = read(&source, place - size..place)?;
        let footer = root_as_footer(&bytes)
            .map_err(|error| damage(place - size, format!("the footer: {error}")))?;
        let schema = footer.schema().ok_or_else(|| wrong("there is no schema"))?;
        let schema = schema_of(schema).map_err(|what| damage(place - size, what))?;
        let (dictionaries, batches) = (footer.dictionaries(), footer.recordBatches());
        let blocks = dictionaries.iter().flatten();
        let blocks = blocks.chain(batches.iter().flatten()).map(|block| {
            [
                block.offset(),
                block.metaDataLength().into(),
                block.bodyLength(),
            ]
        });
        let blocks: VecDeque<[i64; 3]> = blocks.collect();
        if !are_all(&source, &blocks, place - size)? {
            let what = "the footer does not list the messages that the file has";
            return Err(damage(place - size, what));
        }
        Ok(Self {
            version: footer.version(),
            order: Order::Listed(blocks),
            schema,
            source: Arc::new(source),
        })
    }

    /// The next message.
    fn next(&mut self) -> Option<Result<Located, Damage>> {
        let next = match &mut self.order {
            Order::Over => None,
            Order::Listed(blocks) => {
                let block = blocks.pop_front()?;
                Some(self.listed(block))
            }
            Order::Following(place) => {
                let place = *place;
                self.following(place).transpose()
            }
        };
        if !matches!(next, Some(Ok(_))) && matches!(self.order, Order::Following(_)) {
            // Where the next one begins is not known.
            self.order = Order::Over;
        }
        next
    }

    fn listed(&self, block: [i64; 3]) -> Result<Located, Damage> {
        let wrong = || damage(self.source.len(), "the footer has an impossible place");
        let [Ok(place), Ok(head), Ok(body)] = block.map(u64::try_from) else {
            return Err(wrong());
        };
        let end = place
            .checked_add(head)
            .and_then(|end| end.checked_add(body));
        if head > MOST_METADATA || end.is_none_or(|end| end > self.source.len()) {
            return Err(wrong());
        }
        self.located(place, head, Some(body))
    }

    /// The message of a stream at this place; `None` at the end of the stream.
    fn following(&mut self, place: u64) -> Result<Option<Located>, Damage> {
        let len = self.source.len();
        let cut = |what: &str| damage(place, format!("the stream is truncated: {what}"));
        if place == len {
            return Err(cut("its end marker is missing"));
        }
        if len - place < 8 {
            return Err(cut("a message is not complete"));
        }
        let start = read(&self.source, place..place + 8)?;
        let (words, _) = start.as_chunks::<4>();
        let &[marker, size] = words else {
            return Err(cut("a message is not complete"));
        };
        if marker != CONTINUATION {
            return Err(damage(place, "there is no message where one should begin"));
        }
        let size = u64::from(u32::from_le_bytes(size));
        if size == 0 {
            if place + 8 != len {
                let more = len - place - 8;
                return Err(damage(
                    place + 8,
                    format!("{more} bytes follow the end of the stream"),
                ));
            }
            return Ok(None);
        }
        if size > MOST_METADATA || size > len - place - 8 {
            return Err(cut("a message is not complete"));
        }
        let located = self.located(place, 8 + size, None)?;
        if located.body > len - place - located.head {
            return Err(cut("the content of a message is not complete"));
        }
        self.order = Order::Following(place + located.head + located.body);
        Ok(Some(located))
    }

    /// Looks at the description of a message.
    fn located(&self, place: u64, head: u64, body: Option<u64>) -> Result<Located, Damage> {
        let bytes = read(&self.source, place..place + head)?;
        let wrong = |what: String| damage(place, what);
        let message = message(&bytes).map_err(wrong)?;
        let own = u64::try_from(message.bodyLength());
        let own = own.map_err(|_| damage(place, "a message has a negative length"))?;
        if body.is_some_and(|body| body < own) {
            let what = "a message is longer than the footer says";
            return Err(damage(place, what));
        }
        let kind = match message.header_type() {
            MessageHeader::DictionaryBatch => Kept::Dictionary,
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch();
                let rows = batch.and_then(|batch| u64::try_from(batch.length()).ok());
                // The rows of all batches together are counted.
                let rows = rows.filter(|&rows| rows < 1 << 40);
                Kept::Batch(rows.ok_or_else(|| damage(place, "a batch has no number of rows"))?)
            }
            _ => Kept::Other,
        };
        Ok(Located {
            place,
            head,
            body: body.unwrap_or(own),
            kind,
        })
    }
}

/// Description and body of a message, the sizes of whose buffers have been checked.
fn content(source: &Source, at: Located) -> Result<(input::Bytes, Buffer), String> {
    let read = |range| source.bytes(range).map_err(|error| error.to_string());
    let body = at.place + at.head;
    let head = read(at.place..body)?;
    let body = Buffer::from(Bytes::from_owner(read(body..body + at.body)?));
    let message = message(&head)?;
    let dictionary = message.header_as_dictionary_batch();
    let batch = message.header_as_record_batch();
    if let Some(batch) = batch.or_else(|| dictionary?.data())
        && let Some(compression) = batch.compression()
    {
        let mut sum = 0u64;
        for buffer in batch.buffers().iter().flatten() {
            let place = usize::try_from(buffer.offset()).ok();
            let len = usize::try_from(buffer.length()).ok();
            let bytes = place
                .zip(len)
                .and_then(|(place, len)| body.get(place..place.checked_add(len)?));
            let bytes = bytes.ok_or("a buffer is beyond the end of its batch")?;
            let Some((&size, packed)) = bytes.split_first_chunk::<8>() else {
                // Empty buffers are not compressed.
                continue;
            };
            let size = match i64::from_le_bytes(size) {
                -1 => continue,
                size => u64::try_from(size).map_err(|_| "a buffer has a negative size")?,
            };
            let most = match compression.codec() {
                CompressionType::LZ4_FRAME => size.max(most_of_lz4(packed)),
                _ => size,
            };
            sum = sum.saturating_add(most);
            if most > MOST_BYTES || sum > 4 * MOST_BYTES {
                return Err(format!(
                    "a buffer has {most} bytes after decompression; at most {MOST_BYTES} are read"
                ));
            }
        }
    }
    Ok((head, body))
}

/// How long an LZ4 frame may at most become. A small one may become as long as it likes.
fn most_of_lz4(frame: &[u8]) -> u64 {
    if frame.len() as u64 <= SMALL_LZ4 {
        return 0;
    }
    // The number of blocks, each of which says how long it is, and how long any of them may become.
    let walk = || -> Option<u64> {
        let (&[m0, m1, m2, m3, flags, descriptor], _) = frame.split_first_chunk::<6>()?;
        if [m0, m1, m2, m3] != [0x04, 0x22, 0x4D, 0x18] {
            return None;
        }
        let block = match descriptor >> 4 & 7 {
            size @ 4..=7 => 1u64 << (8 + 2 * size),
            _ => return None,
        };
        let has = |bit: u8| usize::from(flags >> bit & 1);
        let mut at = 6 + 8 * has(3) + 4 * has(0) + 1;
        let mut blocks = 0u64;
        loop {
            let size = u32::from_le_bytes(*frame.get(at..)?.first_chunk()?);
            if size == 0 {
                return blocks.checked_mul(block);
            }
            blocks += 1;
            at = at.checked_add(4 + (size & 0x7FFF_FFFF) as usize + 4 * has(4))?;
        }
    };
    let ratio = (frame.len() as u64).saturating_mul(LZ4_RATIO);
    // What is no frame is not decompressed at all.
    walk().map_or(0, |most| most.min(ratio))
}

type Dictionaries = HashMap<i64, ArrayRef>;

#[derive(Debug)]
struct ArrowTable {
    messages: Messages,
    plan: Arc<Plan>,
    /// Numbers of the columns that are read, in ascending order.
    projection: Arc<[usize]>,
    shard: Option<Range<u64>>,
    /// Those that hold for the next batch.
    dictionaries: Arc<Dictionaries>,
    first_row: u64,
    number: usize,
    current: Option<Current>,
    is_over: bool,
}

/// The batch that is divided.
#[derive(Debug)]
struct Current {
    batch: Arc<Batch>,
    /// The next row of it.
    row: u64,
}

/// A record batch of a file, decoded when it is first needed.
struct Batch {
    source: Arc<Source>,
    schema: SchemaRef,
    version: MetadataVersion,
    plan: Arc<Plan>,
    projection: Arc<[usize]>,
    dictionaries: Arc<Dictionaries>,
    at: Located,
    first: u64,
    rows: u64,
    number: usize,
    decoded: OnceLock<Result<RecordBatch, String>>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Batch").field(&self.at).finish()
    }
}

impl ArrowTable {
    /// Whether a dictionary is one of a column that is read.
    fn needs(&self, id: i64) -> bool {
        #[allow(
            deprecated,
            reason = "the numbers of dictionaries are part of the format, and found nowhere else"
        )]
        let fields = self.messages.schema.fields_with_dict_id(id);
        let read = self.projection.iter();
        let mut names = read.map(|&at| self.messages.schema.field(at).name());
        names.any(|name| fields.iter().any(|field| field.name() == name))
    }

    fn dictionary(&mut self, at: Located) -> Result<(), String> {
        let (head, body) = content(&self.messages.source, at)?;
        let message = message(&head)?;
        let batch = message.header_as_dictionary_batch();
        let batch = batch.ok_or("a dictionary is missing")?;
        if !self.needs(batch.id()) {
            return Ok(());
        }
        let dictionaries = Arc::make_mut(&mut self.dictionaries);
        let (schema, version) = (&self.messages.schema, self.messages.version);
        guarded(|| read_dictionary(&body, batch, schema, dictionaries, &version))
            .map_err(|error| format!("a dictionary: {error}"))
    }
}

impl Table for ArrowTable {
    fn next(&mut self) -> Option<Part> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(part) = current.next() {
                    return Some(part);
                }
                self.current = None;
            }
            if self.is_over {
                return None;
            }
            let first = self.first_row;
            let at = match self.messages.next()? {
                Ok(at) => at,
                Err(damage) => return Some(Part::damaged(damage, first..first, 0)),
            };
            let rows = match at.kind {
                Kept::Batch(rows) => rows,
                Kept::Other => {
                    let damage = damage(at.place, "a message is neither a batch nor a dictionary");
                    return Some(Part::damaged(damage, first..first, 0));
                }
                Kept::Dictionary => {
                    if let Err(what) = self.dictionary(at) {
                        // No batch after it can be relied on.
                        self.is_over = true;
                        let damage = damage(at.place, what);
                        return Some(Part::damaged(damage, first..first, 0));
                    }
                    continue;
                }
            };
            self.first_row += rows;
            self.number += 1;
            if let Some(shard) = &self.shard
                && !shard.contains(&at.place)
            {
                continue;
            }
            self.current = Some(Current {
                batch: Arc::new(Batch {
                    source: Arc::clone(&self.messages.source),
                    schema: Arc::clone(&self.messages.schema),
                    version: self.messages.version,
                    plan: Arc::clone(&self.plan),
                    projection: Arc::clone(&self.projection),
                    dictionaries: Arc::clone(&self.dictionaries),
                    at,
                    first,
                    rows,
                    number: self.number - 1,
                    decoded: OnceLock::new(),
                }),
                row: 0,
            });
        }
    }

    fn note(&self) -> Option<String> {
        self.plan.note()
    }
}

impl Current {
    fn next(&mut self) -> Option<Part> {
        let batch = &self.batch;
        if self.row == batch.rows {
            return None;
        }
        let rows = self.row..batch.rows.min(self.row + ROWS);
        self.row = rows.end;
        let all = batch.at.head + batch.at.body;
        let share = |row: u64| (u128::from(all) * u128::from(row) / u128::from(batch.rows)) as u64;
        let bytes = share(rows.start)..share(rows.end);
        let place = batch.at.place;
        let content = batch.source.bytes(place + bytes.start..place + bytes.end);
        Some(Part {
            rows: batch.first + rows.start..batch.first + rows.end,
            place,
            bytes: bytes.end - bytes.start,
            // They were there a moment ago.
            content: content.unwrap_or_else(|_| Vec::new().into()),
            decode: Arc::clone(batch) as Arc<dyn DecodeRows>,
        })
    }
}

impl Batch {
    fn decoded(&self) -> Result<&RecordBatch, String> {
        let decoded = self.decoded.get_or_init(|| {
            let (head, body) = content(&self.source, self.at)?;
            let message = message(&head)?;
            let batch = message.header_as_record_batch();
            let batch = batch.ok_or("a record batch is missing")?;
            let batch = guarded(|| {
                let schema = Arc::clone(&self.schema);
                RecordBatchDecoder::try_new(
                    &body,
                    batch,
                    schema,
                    &self.dictionaries,
                    &self.version,
                )?
                .with_projection(Some(&self.projection))
                .read_record_batch()
            })?;
            match batch.num_rows() as u64 == self.rows {
                true => Ok(batch),
                false => Err(format!("{} rows of {}", batch.num_rows(), self.rows)),
            }
        });
        let decoded = decoded.as_ref();
        decoded.map_err(|what| format!("record batch {}: {what}", self.number))
    }
}

impl DecodeRows for Batch {
    fn decode(&self, rows: Range<u64>, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode(&self.plan, self, rows, self.first, chunk, options)
    }
}

impl ReadColumns for Batch {
    fn is_in_memory(&self) -> bool {
        true
    }
    fn read(
        &self,
        column: usize,
        rows: Range<u64>,
        each: &mut dyn FnMut(&ArrayRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let batch = self.decoded()?;
        let at = self.projection.iter().position(|&other| other == column);
        let array = at.and_then(|at| batch.columns().get(at));
        let array = array.ok_or("a column is missing")?;
        let rows = rows.start as usize..rows.end as usize;
        if rows.end > array.len() {
            return Err(format!("{} rows of {}", array.len(), rows.end));
        }
        each(&array.slice(rows.start, rows.len()))
    }
}
