//! Finds the messages of Arrow files and streams, and checks that none is missing.

use super::MOST_BYTES;
use super::dictionaries::number_of;
use super::panic_guard::guarded;
use crate::error::Damage;
use crate::input::{self, RandomAccess};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::{
    CompressionType, Endianness, Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use bytes::Bytes;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The magic number at the beginning of a file, with two bytes of padding, and at its end.
pub(super) const MAGIC: &[u8] = b"ARROW1";
/// The marker at the beginning of each message of a stream.
pub(super) const CONTINUATION: [u8; 4] = [0xFF; 4];
/// The maximum length of the description of a schema, a batch or a file.
const MOST_METADATA: u64 = 256 << 20;
/// The maximum growth of an LZ4 frame by decompression, and the maximum size of one whose blocks are not examined.
const LZ4_RATIO: u64 = 255;
const SMALL_LZ4: u64 = 4 << 10;

/// An upper limit for padding and the end of the stream in a file.
const GAP: u64 = 72;

/// A message of a file or stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located {
    /// The place where it begins.
    pub(super) place: u64,
    /// Number of bytes of its description, with everything before the body, and of the body.
    pub(super) head: u64,
    pub(super) body: u64,
    pub(super) kind: Kept,
}

/// The kind of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    Dictionary,
    Batch {
        rows: u64,
        /// The name of the codec that compresses its buffers.
        codec: Option<&'static str>,
    },
    Other,
}

/// The messages of a file or stream, one after the other.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) source: Arc<RandomAccess>,
    pub(super) schema: SchemaRef,
    pub(super) version: MetadataVersion,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// For a file: the place and lengths of each message, according to the footer.
    Listed(VecDeque<[i64; 3]>),
    /// For a stream: the beginning of the next message.
    Following(u64),
    Over,
}

pub(super) fn damage(offset: u64, what: impl Into<String>) -> Damage {
    Damage::at(offset, what)
}

pub(super) fn read(source: &RandomAccess, range: Range<u64>) -> Result<input::Bytes, Damage> {
    let place = range.start;
    let bytes = source.bytes(range).and_then(|bytes| bytes.check().map(|()| bytes));
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

pub(super) fn message(head: &[u8]) -> Result<Message<'_>, String> {
    let bytes = flatbuffer(head).ok_or("a message is too short")?;
    root_as_message(bytes).map_err(|error| format!("a message cannot be read: {error}"))
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef, String> {
    if schema.endianness() != Endianness::Little {
        return Err("its numbers are big-endian".to_owned());
    }
    guarded(|| Ok::<_, ArrowError>(Arc::new(fb_to_schema(schema)))).map_err(|error| format!("the schema: {error}"))
}

/// Checks that there is nothing but the blocks of the footer between the schema and the footer, which begins at `end`.
/// If the footer lacked a block, its rows would be lost.
fn are_all(source: &RandomAccess, blocks: &VecDeque<[i64; 3]>, end: u64) -> Result<bool, Damage> {
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
                if first - place > most || words.iter().any(|word| is_message(word) && !is_end(word)) {
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

/// The schema at the beginning of a file, if there is such a message.
fn schema_in_front(source: &RandomAccess) -> Result<Option<SchemaRef>, Damage> {
    // The magic number may be padded like any message.
    let start = read(source, 8..source.len().min(8 + GAP))?;
    let (words, _) = start.as_chunks::<8>();
    let Some(padding) = words.iter().position(|word| *word != [0; 8]) else {
        return Ok(None);
    };
    let place = 8 + 8 * padding as u64;
    let [CONTINUATION, size] = *words[padding].as_chunks::<4>().0 else {
        return Ok(None);
    };
    let size = u64::from(u32::from_le_bytes(size));
    if size > MOST_METADATA || size > source.len() - place - 8 {
        return Ok(None);
    }
    let bytes = read(source, place..place + 8 + size)?;
    let wrong = |what: String| damage(place, what);
    let message = message(&bytes).map_err(wrong)?;
    let schema = message.header_as_schema().ok_or_else(|| damage(place, "the file does not begin with a schema"))?;
    schema_of(schema).map(Some).map_err(wrong)
}

/// Whether two schemas have the same columns, with the same dictionaries.
fn has_same_columns(one: &Schema, other: &Schema) -> bool {
    let (one, other) = (one.flattened_fields(), other.flattened_fields());
    one.len() == other.len()
        && one.iter().zip(&other).all(|(one, other)| {
            one.name() == other.name() && one.data_type() == other.data_type() && number_of(one) == number_of(other)
        })
}

impl Messages {
    pub(super) fn open(source: RandomAccess) -> Result<Self, Damage> {
        let len = source.len();
        let start = read(&source, 0..len.min(8))?;
        if start.starts_with(MAGIC) {
            return Self::of_file(source);
        }
        if !start.starts_with(&CONTINUATION) {
            return Err(damage(0, "not an Arrow file or stream: it begins neither with ARROW1 nor with a message"));
        }
        let mut messages = Self {
            source: Arc::new(source),
            schema: Arc::new(Schema::empty()),
            version: MetadataVersion::V5,
            order: Order::Following(0),
        };
        let first = messages.following(0)?.ok_or_else(|| damage(0, "the stream has no schema"))?;
        let head = read(&messages.source, first.place..first.place + first.head)?;
        let wrong = |what: String| damage(0, what);
        let message = message(&head).map_err(wrong)?;
        let schema = message.header_as_schema().ok_or_else(|| damage(0, "the stream does not begin with a schema"))?;
        messages.version = message.version();
        messages.schema = schema_of(schema).map_err(wrong)?;
        Ok(messages)
    }

    fn of_file(source: RandomAccess) -> Result<Self, Damage> {
        const END: u64 = 10;
        let len = source.len();
        let place = len.saturating_sub(END);
        let wrong = |what: &str| damage(place, what);
        if len < 8 + END {
            return Err(wrong("too short for an Arrow file"));
        }
        let end = read(&source, place..len)?;
        let Some((&size, MAGIC)) = end.split_first_chunk::<4>() else {
            return Err(wrong("the footer is missing: the file is truncated, or something was appended"));
        };
        let size = u64::try_from(i32::from_le_bytes(size))
            .ok()
            .filter(|&size| size <= (place - 8).min(MOST_METADATA))
            .ok_or_else(|| wrong("the footer has an impossible length"))?;
        let bytes = read(&source, place - size..place)?;
        let footer = root_as_footer(&bytes).map_err(|error| damage(place - size, format!("the footer: {error}")))?;
        let schema = footer.schema().ok_or_else(|| wrong("there is no schema"))?;
        let schema = schema_of(schema).map_err(|what| damage(place - size, what))?;
        let (dictionaries, batches) = (footer.dictionaries(), footer.recordBatches());
        let blocks = dictionaries
            .iter()
            .flatten()
            .chain(batches.iter().flatten())
            .map(|block| [block.offset(), block.metaDataLength().into(), block.bodyLength()]);
        let blocks: VecDeque<[i64; 3]> = blocks.collect();
        if !are_all(&source, &blocks, place - size)? {
            let what = "the footer does not list the messages that the file has";
            return Err(damage(place - size, what));
        }
        if let Some(first) = schema_in_front(&source)?
            && !has_same_columns(&first, &schema)
        {
            let what = "the footer has other columns than the beginning of the file";
            return Err(damage(place - size, what));
        }
        Ok(Self { version: footer.version(), order: Order::Listed(blocks), schema, source: Arc::new(source) })
    }

    /// Whether a footer lists the messages: a file, not a stream.
    pub(super) fn is_listed(&self) -> bool {
        matches!(self.order, Order::Listed(_))
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Option<Result<Located, Damage>> {
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
            // The beginning of the next message is not known.
            self.order = Order::Over;
        }
        next
    }

    fn listed(&self, block: [i64; 3]) -> Result<Located, Damage> {
        let wrong = || damage(self.source.len(), "the footer has an impossible place");
        let [Ok(place), Ok(head), Ok(body)] = block.map(u64::try_from) else {
            return Err(wrong());
        };
        let end = place.checked_add(head).and_then(|end| end.checked_add(body));
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
                return Err(damage(place + 8, format!("{more} bytes follow the end of the stream")));
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

    /// Examines the description of a message.
    fn located(&self, place: u64, head: u64, body: Option<u64>) -> Result<Located, Damage> {
        let bytes = read(&self.source, place..place + head)?;
        let wrong = |what: String| damage(place, what);
        let message = message(&bytes).map_err(wrong)?;
        let own = u64::try_from(message.bodyLength()).map_err(|_| damage(place, "a message has a negative length"))?;
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
                let rows = rows.ok_or_else(|| damage(place, "a batch has no number of rows"))?;
                let codec = batch.and_then(|batch| batch.compression()).map(|compression| match compression.codec() {
                    CompressionType::LZ4_FRAME => "lz4",
                    CompressionType::ZSTD => "zstd",
                    _ => "unknown",
                });
                Kept::Batch { rows, codec }
            }
            _ => Kept::Other,
        };
        Ok(Located { place, head, body: body.unwrap_or(own), kind })
    }
}

/// The description and body of a message; the sizes of its buffers have been checked.
pub(super) fn content(source: &RandomAccess, at: Located) -> Result<(input::Bytes, Buffer), String> {
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
                .and_then(|(place, len)| body.get(place..place.checked_add(len)?))
                .ok_or("a buffer is beyond the end of its batch")?;
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
                return Err(format!("a buffer has {most} bytes after decompression; at most {MOST_BYTES} are read"));
            }
        }
    }
    Ok((head, body))
}

/// The maximum length of a decompressed LZ4 frame; small frames are not limited.
pub(super) fn most_of_lz4(frame: &[u8]) -> u64 {
    if frame.len() as u64 <= SMALL_LZ4 {
        return 0;
    }
    // The number of blocks, each of which states its length, times the maximum length of a decompressed block.
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
    // Bytes that are not a frame are not decompressed at all.
    walk().map_or(0, |most| most.min(ratio))
}
