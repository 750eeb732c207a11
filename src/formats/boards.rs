//! Boards files: packed, mapped, made for the lanes.
//!
//! A file is a sequence of *sections*, each a multiple of 64 bytes long and each checked by itself: a
//! header, blocks of records, an index, an end mark. It can be written in one pass without knowing how many
//! records will come, read in one pass from a pipe, and used in place when it is mapped: the boards of a
//! block are an array of [`Group`]s as the kernels load them. All numbers are little-endian.
//!
//! ## Section header (64 bytes)
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 8 | what it is: `89 4C 46 42 0D 0A 1A 0A` header, `LFBBLOCK`, `LFBINDEX`, `LFBEND\r\n` |
//! | 8 | 8 | length of the section with this header, a multiple of 64 |
//! | 16 | 8 | number of records before this section |
//! | 24 | 4 | block: its records; index: its blocks; else 0 |
//! | 28 | 4 | header, block: its columns; else 0 |
//! | 32 | 8 | header: version major (2), minor (2), records in a block (4); end: where the index begins; else 0 |
//! | 40 | 8 | header: records of the file, all ones when unknown; end: records of the file; else 0 |
//! | 48 | 8 | checksum of the rest of the section |
//! | 56 | 8 | checksum of the 56 bytes before |
//!
//! ## Header section (1024 bytes)
//!
//! After the section header one entry of 32 bytes for each column, then zeros.
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 2 | the column's id |
//! | 2 | 1 | its type: 0 groups, 1 u8, 2 i16, 3 u16, 4 u32, 5 u64, 6 text |
//! | 3 | 5 | 0 |
//! | 8 | 24 | its name, filled up with zeros |
//!
//! Ids: 0 the boards, 1 the halfmove clocks, 2 the fullmove numbers; 16 and up the [`Field`]s in their order.
//! A file that was written to a pipe lists all columns that might come; otherwise those that came.
//!
//! ## Block section
//!
//! A directory entry of 32 bytes for each column, zeros up to a multiple of 64, then the columns, each of
//! them filled up with zeros to a multiple of 64. All blocks but the last have the same number of records
//! (the header says how many; 4096).
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 2 | the column's id |
//! | 2 | 1 | its type |
//! | 3 | 1 | 0: every row has a value; 1: a bitmap of the rows that have one comes first |
//! | 4 | 4 | 0 |
//! | 8 | 8 | where the column begins in the section |
//! | 16 | 8 | its bytes, without the zeros behind |
//! | 24 | 8 | 0 |
//!
//! - *Groups*: eight boards in 256 bytes, see [`crate::block`]. Lanes after the last record are zero.
//! - *Numbers*: one a row, 0 where there is none.
//! - *Text*: number of different texts (4), 0 (4), where each of them ends (4 each), the text of each row (2
//!   each, 0 where there is none), the texts.
//! - The *bitmap* is words of 64 bits, row 0 in bit 0.
//!
//! Columns with ids or types that a reader does not know are passed over, and so are blocks' columns that
//! come in a later minor version. Another major version is refused.
//!
//! ## Index and end
//!
//! The index has the place of every block in the file, 8 bytes each. The end mark says where the index
//! begins. So record *n* is found from the end of the file in three reads.
//!
//! ## Checksum
//!
//! The bytes, filled up with zeros to a multiple of 64, are taken as rows of eight 64-bit words. Each of the
//! eight lanes keeps a sum *a* of its words and a sum *b* of all values of *a*, modulo 2^64 (Fletcher's
//! scheme, wide). The eight *a*, the eight *b* and the number of rows are then hashed into one word. Any
//! change within one word changes its *a*, so a flipped bit is always noticed before hashing; exchanged
//! words change *b*. Two additions a word are all that can be afforded: a CRC with carry-less multiplication
//! costs as much as counting the moves.

use super::{Chunk, DecodeOptions, Decoded};
use crate::batch::{Batch, Column, Field, Fields, Values};
use crate::block::Group;
use crate::error::{Damage, Error};
use crate::input::{Bytes, Input};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Version that is written; files of the same major version are read.
pub const VERSION: (u16, u16) = (1, 0);
/// Records of a block.
pub const BLOCK_LEN: usize = 4096;
/// Bytes of a section header, and the unit that everything is filled up to.
const UNIT: usize = 64;
/// Bytes of the header section.
const HEADER_LEN: usize = 1024;
const ENTRY_LEN: usize = 32;
/// No block is read that claims more records than this.
const LARGEST_BLOCK: u32 = 1 << 20;
const UNKNOWN: u64 = u64::MAX;

const HEADER_MAGIC: [u8; 8] = *b"\x89LFB\r\n\x1A\n";
const BLOCK_MAGIC: [u8; 8] = *b"LFBBLOCK";
const INDEX_MAGIC: [u8; 8] = *b"LFBINDEX";
const END_MAGIC: [u8; 8] = *b"LFBEND\r\n";

/// The checksum of boards files, see the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    sums: [u64; 8],
    sums_of_sums: [u64; 8],
    rows: u64,
}

impl Checksum {
    /// The checksum of some bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut checksum = Self::default();
        checksum.update(bytes);
        checksum.finish()
    }
    /// Takes in bytes; all but the last must be multiples of 64 long.
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) {
        let (rows, rest) = bytes.as_chunks::<UNIT>();
        // Copies, so that the sums stay in registers.
        let (mut a, mut b) = (self.sums, self.sums_of_sums);
        for row in rows {
            let (words, _) = row.as_chunks::<8>();
            for lane in 0..8 {
                a[lane] = a[lane].wrapping_add(u64::from_le_bytes(words[lane]));
                b[lane] = b[lane].wrapping_add(a[lane]);
            }
        }
        (self.sums, self.sums_of_sums) = (a, b);
        self.rows += rows.len() as u64;
        if !rest.is_empty() {
            let mut row = [0; UNIT];
            row[..rest.len()].copy_from_slice(rest);
            self.update(&row);
        }
    }
    /// The checksum of what was taken in.
    pub fn finish(&self) -> u64 {
        let words = self.sums.iter().chain(&self.sums_of_sums);
        words
            .chain(&[self.rows])
            .fold(0x6C61_6E65_6669_7368, |hash, word| {
                // 2^64 / golden ratio, made odd.
                let hash: u64 = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                hash ^ hash >> 32
            })
    }
}

/// What a section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Header,
    Block,
    Index,
    End,
}

/// A section header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SectionHeader {
    kind: Kind,
    len: u64,
    first: u64,
    count: u32,
    columns: u32,
    extra: u64,
    total: u64,
    checksum: u64,
}

impl SectionHeader {
    fn to_bytes(self) -> [u8; UNIT] {
        let mut bytes = [0; UNIT];
        let magic = match self.kind {
            Kind::Header => HEADER_MAGIC,
            Kind::Block => BLOCK_MAGIC,
            Kind::Index => INDEX_MAGIC,
            Kind::End => END_MAGIC,
        };
        bytes[..8].copy_from_slice(&magic);
        bytes[8..16].copy_from_slice(&self.len.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.count.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.columns.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.extra.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.total.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = Checksum::of(&bytes[..56]);
        bytes[56..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a header, or says what is wrong with it.
    fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        let bytes: &[u8; UNIT] = bytes.first_chunk().ok_or("a section header is cut off")?;
        let kind = match *bytes.first_chunk().expect("64 bytes have 8") {
            HEADER_MAGIC => Kind::Header,
            BLOCK_MAGIC => Kind::Block,
            INDEX_MAGIC => Kind::Index,
            END_MAGIC => Kind::End,
            _ => return Err("no section begins here"),
        };
        if u64_at(bytes, 56) != Checksum::of(&bytes[..56]) {
            return Err("a section header does not match its checksum");
        }
        let header = Self {
            kind,
            len: u64_at(bytes, 8),
            first: u64_at(bytes, 16),
            count: u32_at(bytes, 24),
            columns: u32_at(bytes, 28),
            extra: u64_at(bytes, 32),
            total: u64_at(bytes, 40),
            checksum: u64_at(bytes, 48),
        };
        if header.len < UNIT as u64 || !header.len.is_multiple_of(UNIT as u64) {
            return Err("a section has an impossible length");
        }
        Ok(header)
    }

    fn version(&self) -> (u16, u16) {
        (self.extra as u16, (self.extra >> 16) as u16)
    }
    fn block_len(&self) -> u32 {
        (self.extra >> 32) as u32
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// Whether a file begins like a boards file.
pub(super) fn is_boards(head: &[u8]) -> bool {
    head.starts_with(&HEADER_MAGIC)
}

/// Up to the last section that is whole. Where no section begins, up to the next one.
pub(super) fn cut(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at + UNIT <= bytes.len() {
        match SectionHeader::read(&bytes[at..]) {
            Ok(header) if header.len <= (bytes.len() - at) as u64 => at += header.len as usize,
            Ok(_) => break,
            Err(_) => at += lost(&bytes[at..]),
        }
    }
    (at > 0).then_some(at)
}

/// Bytes up to the next place where a section begins, where none begins at the first byte.
fn lost(bytes: &[u8]) -> usize {
    (UNIT..bytes.len())
        .step_by(UNIT)
        .find(|&at| SectionHeader::read(&bytes[at..]).is_ok())
        .unwrap_or(bytes.len())
}

/// What a section means for the file as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    /// Where it begins in its chunk.
    at: usize,
    what: Found,
}

#[derive(Clone, Copy, Debug)]
enum Found {
    Section(SectionHeader),
    /// Bytes in which no section could be found.
    Lost(usize, &'static str),
}

/// Decodes a run of sections. With `seal`, the checksums of blocks are left to be compared.
pub(super) fn decode(chunk: &Chunk, options: &DecodeOptions, seal: bool) -> Decoded {
    let mut decoded = Decoded::default();
    let bytes = &chunk.bytes;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let mut damage = |what: String| {
            decoded.damage.push(Damage {
                offset: at as u64,
                what,
            });
        };
        let header = match SectionHeader::read(rest) {
            Ok(header) => header,
            Err(what) => {
                let len = lost(rest);
                let what = Found::Lost(len, what);
                decoded.sections.push(Section { at, what });
                at += len;
                continue;
            }
        };
        decoded.sections.push(Section {
            at,
            what: Found::Section(header),
        });
        if header.len > rest.len() as u64 {
            damage(format!(
                "a section is cut off: {} of {} bytes are there",
                rest.len(),
                header.len
            ));
            break;
        }
        let len = header.len as usize;
        let section = bytes.slice(at..at + len);
        let mut whole = true;
        let sealed = header.kind == Kind::Block && seal && cfg!(target_endian = "little");
        if !sealed && Checksum::of(&section[UNIT..]) != header.checksum {
            whole = false;
            damage(match header.kind {
                Kind::Header => "the header does not match its checksum".to_owned(),
                Kind::Block => mismatch(&header),
                Kind::Index => "the index does not match its checksum".to_owned(),
                Kind::End => "the end mark does not match its checksum".to_owned(),
            });
        }
        if header.kind == Kind::Block {
            if whole {
                match read_block(&section, &header, options.fields) {
                    Ok((mut batch, groups)) => {
                        batch.first_index = decoded.records;
                        batch.origins = vec![at as u32];
                        decoded.batches.push(batch);
                        if sealed {
                            decoded.seals.push(Seal {
                                before: section.slice(UNIT..groups.start),
                                after: section.slice(groups.end..len),
                                expected: header.checksum,
                                damage: Damage {
                                    offset: at as u64,
                                    what: mismatch(&header),
                                },
                            });
                        }
                    }
                    // A flipped bit explains whatever does not fit.
                    Err(_) if sealed && Checksum::of(&section[UNIT..]) != header.checksum => {
                        damage(mismatch(&header));
                    }
                    Err(what) => damage(what),
                }
            }
            decoded.records += u64::from(header.count);
        }
        at += len;
    }
    decoded
}

fn mismatch(header: &SectionHeader) -> String {
    format!(
        "the block of records {} to {} does not match its checksum",
        header.first,
        header
            .first
            .saturating_add(header.count.into())
            .saturating_sub(1)
    )
}

/// The checksum of a block that is compared after its boards were used: they are read from memory once.
#[derive(Debug)]
pub(crate) struct Seal {
    /// What stands before the boards and behind them.
    before: Bytes,
    after: Bytes,
    expected: u64,
    /// What is to be reported when it does not match; the place counts from the start of the chunk.
    pub(crate) damage: Damage,
}

impl Seal {
    /// Begins the checksum; the boards are to be added, all of them in order.
    pub(crate) fn begin(&self) -> Checksum {
        let mut checksum = Checksum::default();
        checksum.update(&self.before);
        checksum
    }
    /// Whether it matches, all boards having been added.
    pub(crate) fn matches(&self, mut checksum: Checksum) -> bool {
        checksum.update(&self.after);
        checksum.finish() == self.expected
    }
    /// Whether it matches these boards, all of them.
    pub(crate) fn holds(&self, groups: &[Group]) -> bool {
        let mut checksum = self.begin();
        checksum.update(bytemuck::cast_slice(groups));
        self.matches(checksum)
    }
}

/// A column in a block.
#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: u8,
    partial: bool,
    at: usize,
    len: usize,
}

const GROUPS: u16 = 0;
const HALFMOVE: u16 = 1;
const FULLMOVE: u16 = 2;
const FIRST_FIELD: u16 = 16;

const fn type_of(values: &Values) -> u8 {
    match values {
        Values::U8(_) => 1,
        Values::I16(_) => 2,
        Values::U16(_) => 3,
        Values::U32(_) => 4,
        Values::U64(_) => 5,
        Values::Text(_) => 6,
    }
}

fn field_of(id: u16) -> Option<Field> {
    Field::ALL
        .get(usize::from(id.checked_sub(FIRST_FIELD)?))
        .copied()
}

fn id_of(field: Field) -> u16 {
    FIRST_FIELD + field as u16
}

/// Reads a block whose checksum is right; what is wrong nevertheless was written wrong.
fn read_block(
    section: &Bytes,
    header: &SectionHeader,
    fields: Fields,
) -> Result<(Batch, Range<usize>), String> {
    let rows = header.count as usize;
    if header.count == 0 || header.count > LARGEST_BLOCK {
        return Err(format!("a block of {rows} records"));
    }
    let directory = (header.columns as usize)
        .checked_mul(ENTRY_LEN)
        .and_then(|len| section.get(UNIT..UNIT + len))
        .ok_or("the directory of a block is larger than the block")?;
    let mut batch = None;
    let mut place = 0..0;
    let mut clocks = [None, None];
    let mut columns = Vec::new();
    for entry in directory.as_chunks::<ENTRY_LEN>().0 {
        let (at, len) = (u64_at(entry, 8), u64_at(entry, 16));
        let id = u16_at(entry, 0);
        if at
            .checked_add(len)
            .is_none_or(|end| end > section.len() as u64)
        {
            return Err(format!("column {id} reaches beyond its block"));
        }
        let entry = Entry {
            kind: entry[2],
            partial: entry[3] == 1,
            at: at as usize,
            len: len as usize,
        };
        let bytes = section.slice(entry.at..entry.at + entry.len);
        let wrong = || format!("column {id} has a wrong length");
        match (id, entry.kind) {
            (GROUPS, 0) => {
                let groups = rows.div_ceil(Group::LEN);
                if bytes.len() != groups * Group::BYTES {
                    return Err(wrong());
                }
                if !entry.at.is_multiple_of(UNIT) || entry.at < UNIT + directory.len() {
                    return Err(format!("column {id} is not where it may be"));
                }
                place = entry.at..entry.at + entry.len;
                batch = Some(groups_of(&bytes, rows));
            }
            (HALFMOVE | FULLMOVE, 3) => {
                if bytes.len() != 2 * rows {
                    return Err(wrong());
                }
                clocks[usize::from(id - HALFMOVE)] = Some(
                    bytes
                        .as_chunks()
                        .0
                        .iter()
                        .map(|&value| u16::from_le_bytes(value))
                        .collect::<Vec<u16>>(),
                );
            }
            _ => {
                if let Some(field) = field_of(id)
                    && fields.contains(field)
                    && entry.kind == type_of(&field.column(0))
                {
                    let values = read_values(&bytes, &entry, rows, field).ok_or_else(wrong)?;
                    columns.push((field, values));
                }
            }
        }
    }
    let [Some(halfmove), Some(fullmove)] = clocks else {
        return Err("a block without clocks".to_owned());
    };
    let mut batch: Batch = batch.ok_or("a block without boards")?;
    batch.halfmove = halfmove;
    batch.fullmove = fullmove;
    batch.fields = columns.into_iter().collect();
    Ok((batch, place))
}

/// The boards in place, where they lie in a map of a little-endian machine; otherwise a copy.
fn groups_of(bytes: &Bytes, rows: usize) -> Batch {
    if cfg!(target_endian = "little")
        && let Bytes::Mapped(mapped) = bytes
        && let Some(groups) = mapped.cast::<Group>()
    {
        return Batch::mapped(groups, rows);
    }
    let groups = bytes
        .as_chunks::<{ Group::BYTES }>()
        .0
        .iter()
        .map(|group| {
            let (words, _) = group.as_chunks::<8>();
            let (planes, _) = words.as_chunks::<8>();
            Group {
                planes: std::array::from_fn(|plane| planes[plane].map(u64::from_le_bytes)),
            }
        })
        .collect();
    Batch::owned(groups, rows)
}

/// Reads the values of a field; `None` where there are too few bytes or they make no sense.
fn read_values(mut bytes: &[u8], entry: &Entry, rows: usize, field: Field) -> Option<Values> {
    let mut present = vec![u64::MAX; rows.div_ceil(64)];
    if entry.partial {
        let bitmap = bytes.split_off(..8 * present.len())?;
        for (word, bits) in present.iter_mut().zip(bitmap.as_chunks().0) {
            *word = u64::from_le_bytes(*bits);
        }
    }
    let is_present = |row: usize| present[row / 64] >> (row % 64) & 1 != 0;
    /// The numbers of a column.
    fn numbers<const N: usize, T: Clone + Default>(
        bytes: &[u8],
        rows: usize,
        is_present: impl Fn(usize) -> bool,
        read: impl Fn([u8; N]) -> T,
    ) -> Option<Column<T>> {
        let (values, rest) = bytes.as_chunks::<N>();
        if values.len() != rows || !rest.is_empty() {
            return None;
        }
        let mut column = Column::default();
        for (row, &value) in values.iter().enumerate() {
            column.push(is_present(row).then(|| read(value)));
        }
        Some(column)
    }
    Some(match field.column(0) {
        Values::U8(_) => Values::U8(numbers(bytes, rows, is_present, u8::from_le_bytes)?),
        Values::I16(_) => Values::I16(numbers(bytes, rows, is_present, i16::from_le_bytes)?),
        Values::U16(_) => Values::U16(numbers(bytes, rows, is_present, u16::from_le_bytes)?),
        Values::U32(_) => Values::U32(numbers(bytes, rows, is_present, u32::from_le_bytes)?),
        Values::U64(_) => Values::U64(numbers(bytes, rows, is_present, u64::from_le_bytes)?),
        Values::Text(_) => {
            let count = u32_at(bytes.split_off(..8)?, 0) as usize;
            let ends = bytes.split_off(..count.checked_mul(4)?)?;
            let codes = bytes.split_off(..2 * rows)?;
            let mut texts: Vec<Arc<str>> = Vec::with_capacity(count);
            let mut start = 0;
            for at in 0..count {
                let end = u32_at(ends, 4 * at) as usize;
                let text = std::str::from_utf8(bytes.get(start..end)?).ok()?;
                texts.push(Arc::from(text));
                start = end;
            }
            if start != bytes.len() {
                return None;
            }
            let mut column = Column::default();
            for row in 0..rows {
                let text = match is_present(row) {
                    true => Some(Arc::clone(texts.get(usize::from(u16_at(codes, 2 * row)))?)),
                    false => None,
                };
                column.push(text);
            }
            Values::Text(column)
        }
    })
}

/// Follows the sections of a file and notices what no section can know of itself: missing, doubled or
/// exchanged blocks, a missing end, something behind the end.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    header: Option<SectionHeader>,
    /// Records so far.
    records: u64,
    /// Places of the blocks so far, as the index must have them.
    places: Places,
    /// A block that is not full has been seen; it must be the last.
    short: bool,
    index: Option<u64>,
    ended: bool,
    /// Something was lost, so that numbers need not fit any more.
    lost: bool,
    /// Where the lost bytes end.
    lost_until: u64,
}

/// The checksum of an index that is not held in memory.
#[derive(Debug, Default)]
struct Places {
    checksum: Checksum,
    /// The places since the last full row of the checksum.
    row: [u64; 8],
    len: u64,
}

impl Places {
    fn push(&mut self, place: u64) {
        self.row[self.len as usize % 8] = place;
        self.len += 1;
        if self.len.is_multiple_of(8) {
            self.checksum.update(&self.bytes(8));
        }
    }
    fn bytes(&self, len: usize) -> Vec<u8> {
        let row = &self.row[..len];
        row.iter().flat_map(|place| place.to_le_bytes()).collect()
    }
    fn finish(&self) -> u64 {
        let mut checksum = self.checksum;
        checksum.update(&self.bytes(self.len as usize % 8));
        checksum.finish()
    }
}

impl Sequence {
    /// Looks at the sections of the next chunk, which begins at this byte of the file.
    pub(crate) fn accept(&mut self, sections: &[Section], offset: u64) -> Vec<Damage> {
        let mut damage = Vec::new();
        for section in sections {
            let at = offset + section.at as u64;
            let what = match section.what {
                Found::Lost(len, what) => {
                    let again = self.lost && self.lost_until == at;
                    self.lost = true;
                    self.lost_until = at + len as u64;
                    let what = if self.ended {
                        "something is appended behind the end"
                    } else {
                        what
                    };
                    (!again).then(|| what.to_owned())
                }
                Found::Section(header) => self.section(&header, at).err(),
            };
            damage.extend(what.map(|what| Damage { offset: at, what }));
        }
        damage
    }

    fn section(&mut self, header: &SectionHeader, at: u64) -> Result<(), String> {
        if self.ended {
            return Err("something is appended behind the end".to_owned());
        }
        if (header.kind == Kind::Header) != (at == 0) {
            return Err(match header.kind {
                Kind::Header => "a second header in the midst of the file",
                _ => "the header is missing",
            }
            .to_owned());
        }
        let expect = |what: &str, found: u64, expected: u64| {
            if found == expected || self.lost {
                Ok(())
            } else {
                Err(format!("{what}: {found} instead of {expected}"))
            }
        };
        match header.kind {
            Kind::Header => {
                let (major, minor) = header.version();
                self.header = Some(*header);
                if major != VERSION.0 {
                    return Err(format!(
                        "version {major}.{minor} of the format; this program reads version {}",
                        VERSION.0
                    ));
                }
            }
            Kind::Block => {
                let first = expect("number of the first record", header.first, self.records);
                let place = self.short || self.index.is_some();
                self.records = header.first.saturating_add(header.count.into());
                self.places.push(at);
                self.short = self
                    .header
                    .is_some_and(|file| header.count != file.block_len());
                first?;
                if place && !self.lost {
                    return Err("a block behind the last one".to_owned());
                }
            }
            Kind::Index => {
                self.index = Some(at);
                expect("blocks in the index", header.count.into(), self.places.len)?;
                expect("records before the index", header.first, self.records)?;
                if header.checksum != self.places.finish() && !self.lost {
                    return Err("the index does not tell where the blocks are".to_owned());
                }
            }
            Kind::End => {
                self.ended = true;
                let index = self.index.unwrap_or(UNKNOWN);
                expect("records of the file", header.total, self.records)?;
                expect("records before the end", header.first, self.records)?;
                expect("place of the index", header.extra, index)?;
                if let Some(file) = &self.header
                    && file.total != UNKNOWN
                {
                    expect("records that the header promises", file.total, self.records)?;
                }
            }
        }
        Ok(())
    }

    /// The file ends here.
    pub(crate) fn end(&mut self, len: u64) -> Vec<Damage> {
        if self.ended {
            return Vec::new();
        }
        vec![Damage {
            offset: len,
            what: if self.header.is_none() {
                "not a whole boards file: the header is missing".to_owned()
            } else {
                format!(
                    "the file is truncated: it ends after {} records without its end mark",
                    self.records
                )
            },
        }]
    }
}

/// A column that a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its id.
    pub id: u16,
    /// Its name.
    pub name: String,
    /// Its type: `groups`, `u8`, `i16`, `u16`, `u32`, `u64`, `text`, or a number that is not known here.
    pub kind: String,
}

const KINDS: [&str; 7] = ["groups", "u8", "i16", "u16", "u32", "u64", "text"];

/// The columns that may or do stand in blocks: boards and clocks, then fields.
fn header_entries(fields: Fields) -> Vec<[u8; ENTRY_LEN]> {
    let fixed = [
        (GROUPS, 0, "boards"),
        (HALFMOVE, 3, "halfmove"),
        (FULLMOVE, 3, "fullmove"),
    ];
    let fields = fields
        .iter()
        .map(|field| (id_of(field), type_of(&field.column(0)), field.name()));
    fixed
        .into_iter()
        .chain(fields)
        .map(|(id, kind, name)| {
            let mut entry = [0; ENTRY_LEN];
            entry[..2].copy_from_slice(&id.to_le_bytes());
            entry[2] = kind;
            entry[8..8 + name.len()].copy_from_slice(name.as_bytes());
            entry
        })
        .collect()
}

/// The header section of a file.
fn header_section(fields: Fields, total: u64) -> Vec<u8> {
    let entries = header_entries(fields);
    let mut section = vec![0; UNIT];
    section.extend(entries.iter().flatten());
    section.resize(HEADER_LEN, 0);
    let (major, minor) = VERSION;
    let header = SectionHeader {
        kind: Kind::Header,
        len: HEADER_LEN as u64,
        first: 0,
        count: 0,
        columns: entries.len() as u32,
        extra: u64::from(major) | u64::from(minor) << 16 | (BLOCK_LEN as u64) << 32,
        total,
        checksum: Checksum::of(&section[UNIT..]),
    };
    section[..UNIT].copy_from_slice(&header.to_bytes());
    section
}

/// Writes a boards file in one pass.
///
/// ```
/// use lanefish::batch::{Batch, Fields};
/// use lanefish::block::Packed;
/// use lanefish::chess::Position;
/// use lanefish::formats::boards::BoardsWriter;
///
/// let mut batch = Batch::new();
/// batch.push(Packed::pack(&Position::standard()).unwrap(), 0, 1);
/// let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
/// writer.write(&batch, 0..1).unwrap();
/// let (bytes, finished) = writer.finish().unwrap();
/// assert_eq!(finished.records, 1);
/// assert_eq!(bytes.len() % 64, 0);
/// ```
#[derive(Debug)]
pub struct BoardsWriter<W> {
    out: W,
    fields: Fields,
    /// Fields of which some record had a value.
    seen: Fields,
    pending: Batch,
    records: u64,
    written: u64,
    places: Vec<u64>,
    section: Vec<u8>,
}

/// What is known when a file is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Records written.
    pub records: u64,
    /// The header section with the true counts and columns: where the output can be rewound, it belongs over
    /// the first bytes.
    pub header: Vec<u8>,
}

impl<W: Write> BoardsWriter<W> {
    /// Begins a file; only these fields of the records are kept.
    ///
    /// # Errors
    /// When writing fails.
    pub fn new(mut out: W, fields: Fields) -> io::Result<Self> {
        let header = header_section(fields, UNKNOWN);
        out.write_all(&header)?;
        Ok(Self {
            out,
            fields,
            seen: Fields::NONE,
            pending: Batch::new(),
            records: 0,
            written: header.len() as u64,
            places: Vec::new(),
            section: Vec::new(),
        })
    }

    /// Adds records of a batch.
    ///
    /// # Errors
    /// When writing fails.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn write(&mut self, batch: &Batch, rows: Range<usize>) -> io::Result<()> {
        let mut row = rows.start;
        while row < rows.end {
            let room = BLOCK_LEN - self.pending.len();
            let end = rows.end.min(row + room);
            self.pending.extend_from(batch, row..end);
            row = end;
            if self.pending.len() == BLOCK_LEN {
                self.flush_block()?;
            }
        }
        Ok(())
    }

    fn flush_block(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.pending);
        let rows = block.len();
        let columns: Vec<(Field, &Values)> = block
            .fields
            .iter()
            .map(|(&field, values)| (field, values))
            .filter(|(field, values)| self.fields.contains(*field) && values.count_present() != 0)
            .collect();
        let count = 3 + columns.len();
        let section = &mut self.section;
        section.clear();
        section.resize((UNIT + count * ENTRY_LEN).next_multiple_of(UNIT), 0);
        let mut entries = Vec::with_capacity(count);
        let begin = section.len();
        for group in block.groups() {
            for word in group.planes.as_flattened() {
                section.extend_from_slice(&word.to_le_bytes());
            }
        }
        entries.push(end_column(section, GROUPS, 0, false, begin));
        for (id, clock) in [(HALFMOVE, &block.halfmove), (FULLMOVE, &block.fullmove)] {
            let begin = section.len();
            section.extend(clock.iter().flat_map(|value| value.to_le_bytes()));
            entries.push(end_column(section, id, 3, false, begin));
        }
        for (field, values) in columns {
            self.seen.insert(field);
            let begin = section.len();
            let partial = values.count_present() != rows;
            write_values(section, values, partial);
            let kind = type_of(values);
            entries.push(end_column(section, id_of(field), kind, partial, begin));
        }
        for (entry, place) in entries
            .iter()
            .zip(section[UNIT..].as_chunks_mut::<ENTRY_LEN>().0)
        {
            *place = *entry;
        }
        let header = SectionHeader {
            kind: Kind::Block,
            len: section.len() as u64,
            first: self.records,
            count: rows as u32,
            columns: count as u32,
            extra: 0,
            total: 0,
            checksum: Checksum::of(&section[UNIT..]),
        };
        section[..UNIT].copy_from_slice(&header.to_bytes());
        self.out.write_all(section)?;
        self.places.push(self.written);
        self.written += section.len() as u64;
        self.records += rows as u64;
        Ok(())
    }

    /// Writes the last block, the index and the end mark, and gives back the output.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(mut self) -> io::Result<(W, Finished)> {
        if !self.pending.is_empty() {
            self.flush_block()?;
        }
        let index = self.written;
        let mut section = vec![0; UNIT];
        section.extend(self.places.iter().flat_map(|place| place.to_le_bytes()));
        section.resize(section.len().next_multiple_of(UNIT), 0);
        let header = SectionHeader {
            kind: Kind::Index,
            len: section.len() as u64,
            first: self.records,
            count: self.places.len() as u32,
            columns: 0,
            extra: 0,
            total: 0,
            checksum: Checksum::of(&section[UNIT..]),
        };
        section[..UNIT].copy_from_slice(&header.to_bytes());
        let end = SectionHeader {
            kind: Kind::End,
            len: UNIT as u64,
            count: 0,
            extra: index,
            total: self.records,
            checksum: Checksum::of(&[]),
            ..header
        };
        section.extend_from_slice(&end.to_bytes());
        self.out.write_all(&section)?;
        self.out.flush()?;
        let finished = Finished {
            records: self.records,
            header: header_section(self.seen, self.records),
        };
        Ok((self.out, finished))
    }
}

/// Fills up a column and makes its directory entry.
fn end_column(
    section: &mut Vec<u8>,
    id: u16,
    kind: u8,
    partial: bool,
    begin: usize,
) -> [u8; ENTRY_LEN] {
    let mut entry = [0; ENTRY_LEN];
    entry[..2].copy_from_slice(&id.to_le_bytes());
    entry[2] = kind;
    entry[3] = u8::from(partial);
    entry[8..16].copy_from_slice(&(begin as u64).to_le_bytes());
    entry[16..24].copy_from_slice(&((section.len() - begin) as u64).to_le_bytes());
    section.resize(section.len().next_multiple_of(UNIT), 0);
    entry
}

fn write_values(out: &mut Vec<u8>, values: &Values, partial: bool) {
    fn bitmap<T>(out: &mut Vec<u8>, present: &[u64], partial: bool, _: &[T]) {
        if partial {
            out.extend(present.iter().flat_map(|word| word.to_le_bytes()));
        }
    }
    macro_rules! numbers {
        ($column:expr) => {{
            bitmap(out, $column.present(), partial, $column.values());
            out.extend(
                $column
                    .values()
                    .iter()
                    .flat_map(|value| value.to_le_bytes()),
            );
        }};
    }
    match values {
        Values::U8(column) => numbers!(column),
        Values::I16(column) => numbers!(column),
        Values::U16(column) => numbers!(column),
        Values::U32(column) => numbers!(column),
        Values::U64(column) => numbers!(column),
        Values::Text(column) => {
            bitmap(out, column.present(), partial, column.values());
            let mut codes: HashMap<&str, u16> = HashMap::new();
            let mut texts: Vec<&str> = Vec::new();
            let rows: Vec<u16> = (0..column.len())
                .map(|row| match column.get(row) {
                    None => 0,
                    Some(text) => *codes.entry(text).or_insert_with(|| {
                        texts.push(text);
                        texts.len() as u16 - 1
                    }),
                })
                .collect();
            out.extend_from_slice(&(texts.len() as u32).to_le_bytes());
            out.extend_from_slice(&[0; 4]);
            let mut end = 0;
            for text in &texts {
                end += text.len() as u32;
                out.extend_from_slice(&end.to_le_bytes());
            }
            out.extend(rows.iter().flat_map(|code| code.to_le_bytes()));
            texts
                .iter()
                .for_each(|text| out.extend_from_slice(text.as_bytes()));
        }
    }
}

/// A boards file with random access, through its index.
#[derive(Debug)]
pub struct BoardsFile {
    path: Arc<Path>,
    bytes: Bytes,
    header: SectionHeader,
    columns: Vec<ColumnInfo>,
    places: Bytes,
    records: u64,
}

impl fmt::Display for ColumnInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.kind)
    }
}

impl BoardsFile {
    /// Opens a file: header, index and end are checked, blocks are not yet.
    ///
    /// # Errors
    /// When the file cannot be read, is compressed, or is damaged in those parts.
    pub fn open(path: &Arc<Path>) -> Result<Self, Error> {
        let mut input = Input::open(path, Arc::default())?;
        let mut bytes: Bytes = Vec::new().into();
        if input.is_mapped() {
            if let Some(mapped) = input.next_bytes()? {
                bytes = mapped;
            }
        } else {
            let mut all = Vec::new();
            while let Some(piece) = input.next_bytes()? {
                all.extend_from_slice(&piece);
            }
            bytes = all.into();
        }
        Self::new(path, bytes).map_err(|damage| Error::Damaged {
            path: Arc::clone(path),
            damage,
        })
    }

    fn new(path: &Arc<Path>, bytes: Bytes) -> Result<Self, Damage> {
        let damaged = |offset: u64, what: String| Damage { offset, what };
        let section = |at: u64, kind: Kind| {
            let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
            let rest = rest.ok_or_else(|| damaged(at, "the file is truncated".to_owned()))?;
            let header = SectionHeader::read(rest).map_err(|what| damaged(at, what.to_owned()))?;
            if header.kind != kind || header.len > rest.len() as u64 {
                return Err(damaged(
                    at,
                    format!("expected {kind:?} here").to_lowercase(),
                ));
            }
            let rest = &rest[UNIT..header.len as usize];
            if Checksum::of(rest) != header.checksum {
                return Err(damaged(
                    at,
                    "a section does not match its checksum".to_owned(),
                ));
            }
            Ok((
                header,
                at as usize + UNIT..at as usize + header.len as usize,
            ))
        };
        let (header, columns) = section(0, Kind::Header)?;
        let (major, minor) = header.version();
        if major != VERSION.0 {
            let what = format!(
                "version {major}.{minor} of the format; this program reads version {}",
                VERSION.0
            );
            return Err(damaged(0, what));
        }
        let columns = bytes[columns]
            .as_chunks::<ENTRY_LEN>()
            .0
            .iter()
            .take(header.columns as usize)
            .map(|entry| ColumnInfo {
                id: u16_at(entry, 0),
                name: String::from_utf8_lossy(&entry[8..])
                    .trim_end_matches('\0')
                    .to_owned(),
                kind: KINDS
                    .get(usize::from(entry[2]))
                    .map_or_else(|| entry[2].to_string(), |kind| (*kind).to_owned()),
            })
            .collect();
        let last = (bytes.len() as u64).saturating_sub(UNIT as u64);
        let (end, _) = section(last, Kind::End)?;
        let (index, places) = section(end.extra, Kind::Index)?;
        let blocks = u64::from(header.block_len().max(1));
        if u64::from(index.count) != end.total.div_ceil(blocks)
            || places.len() < 8 * index.count as usize
        {
            return Err(damaged(
                end.extra,
                "the index has a wrong length".to_owned(),
            ));
        }
        Ok(Self {
            path: Arc::clone(path),
            places: bytes.slice(places),
            bytes,
            header,
            columns,
            records: end.total,
        })
    }

    /// Number of records.
    pub fn len(&self) -> u64 {
        self.records
    }
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }
    /// Version of the format, major and minor.
    pub fn version(&self) -> (u16, u16) {
        self.header.version()
    }
    /// Records of a full block.
    pub fn block_len(&self) -> u32 {
        self.header.block_len()
    }
    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.records.div_ceil(u64::from(self.block_len().max(1)))
    }
    /// The columns that the header lists.
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// Reads a block with all its columns.
    ///
    /// # Errors
    /// When the block is damaged or there is no such block.
    pub fn block(&self, block: u64) -> Result<Batch, Error> {
        let failed = |offset: u64, what: &str| Error::Damaged {
            path: Arc::clone(&self.path),
            damage: Damage {
                offset,
                what: what.to_owned(),
            },
        };
        if block >= self.blocks() {
            return Err(failed(self.bytes.len() as u64, "no such block"));
        }
        let at = u64_at(&self.places, 8 * block as usize);
        let rest = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..));
        let rest = rest.ok_or_else(|| failed(at, "the index points beyond the file"))?;
        let header = SectionHeader::read(rest).map_err(|what| failed(at, what))?;
        if header.kind != Kind::Block || header.len > rest.len() as u64 {
            return Err(failed(at, "no block where the index has one"));
        }
        let section = self
            .bytes
            .slice(at as usize..at as usize + header.len as usize);
        if Checksum::of(&section[UNIT..]) != header.checksum {
            return Err(failed(at, "the block does not match its checksum"));
        }
        let (mut batch, _) =
            read_block(&section, &header, Fields::ALL).map_err(|what| failed(at, &what))?;
        batch.first_index = header.first;
        Ok(batch)
    }

    /// Reads a record, as a batch of one with all its columns, or `None` beyond the last.
    ///
    /// # Errors
    /// When its block is damaged.
    pub fn record(&self, record: u64) -> Result<Option<Batch>, Error> {
        if record >= self.records {
            return Ok(None);
        }
        let block_len = u64::from(self.block_len().max(1));
        let batch = self.block(record / block_len)?;
        let row = (record % block_len) as u32;
        Ok((u64::from(row) < batch.len() as u64).then(|| batch.select(&[row])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Packed;
    use crate::chess::Position;

    /// Three positions and a column of each kind of layout.
    fn small_file() -> Vec<u8> {
        let mut batch = Batch::new();
        let mut scores = Column::default();
        let mut sites = Column::default();
        for (fen, score, site) in [
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                Some(20),
                Some("Paris"),
            ),
            (
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
                None,
                Some("Paris"),
            ),
            ("4k3/8/8/8/8/8/8/4K2R w K - 9 40", Some(-5), Some("Oslo")),
        ] {
            let position = Position::from_fen(fen).unwrap();
            let board = Packed::pack(&position).unwrap();
            batch.push(board, position.halfmove, position.fullmove);
            scores.push(score);
            sites.push(site.map(Arc::from));
        }
        batch.fields.insert(Field::Score, Values::I16(scores));
        batch.fields.insert(Field::Site, Values::Text(sites));
        let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
        writer.write(&batch, 0..3).unwrap();
        let (mut bytes, finished) = writer.finish().unwrap();
        bytes[..HEADER_LEN].copy_from_slice(&finished.header);
        bytes
    }

    /// All that is wrong with a file, read in chunks as the pipeline cuts them.
    fn damage(bytes: &[u8]) -> Vec<Damage> {
        let mut all = Vec::new();
        let mut sequence = Sequence::default();
        let mut at = 0;
        while at < bytes.len() {
            let len = cut(&bytes[at..]).unwrap_or(bytes.len() - at);
            let chunk = Chunk {
                file: Path::new("x").into(),
                bytes: bytes[at..at + len].to_vec().into(),
                offset: at as u64,
            };
            let options = DecodeOptions {
                fields: Fields::ALL,
                ..DecodeOptions::default()
            };
            let mut decoded = decode(&chunk, &options, false);
            all.extend(sequence.accept(&decoded.sections, at as u64));
            decoded.settle(&mut super::super::Totals::default(), &chunk);
            all.append(&mut decoded.damage);
            at += len;
        }
        all.extend(sequence.end(bytes.len() as u64));
        all
    }

    #[test]
    fn every_flipped_bit_is_found_in_its_section() {
        let bytes = small_file();
        assert_eq!(damage(&bytes), []);
        let sections: Vec<usize> = (0..bytes.len())
            .step_by(UNIT)
            .filter(|&at| SectionHeader::read(&bytes[at..]).is_ok())
            .collect();
        assert_eq!(sections.len(), 4);
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let section = sections.iter().rfind(|&&at| at <= bit / 8).unwrap();
            let found = damage(&flipped);
            assert_eq!(found[0].offset, *section as u64, "bit {bit}: {found:?}");
        }
    }

    #[test]
    fn every_cut_and_anything_appended_is_found() {
        let bytes = small_file();
        for len in 0..bytes.len() {
            assert!(!damage(&bytes[..len]).is_empty(), "cut at {len}");
        }
        for garbage in [&[0][..], &[0; 64], &[1; 1000], &bytes] {
            let found = damage(&[&bytes, garbage].concat());
            assert_eq!(found[0].offset, bytes.len() as u64, "{found:?}");
        }
    }

    #[test]
    fn another_major_version_is_refused_and_a_minor_one_read() {
        for (version, fine) in [((2, 0), false), ((1, 7), true)] {
            let mut bytes = small_file();
            let mut header = SectionHeader::read(&bytes).unwrap();
            header.extra = header.extra >> 32 << 32 | version.0 | version.1 << 16;
            bytes[..UNIT].copy_from_slice(&header.to_bytes());
            let found = damage(&bytes);
            assert_eq!(found.is_empty(), fine, "{found:?}");
            assert!(fine || found[0].what.contains("version 2.0"));
        }
    }
}
