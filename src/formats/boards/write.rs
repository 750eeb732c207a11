//! Writes a file in one pass: a header, blocks, and the index that leads to them.
//!
//! [`encode_block`] makes a block from rows of one or several batches. A block of an input that has exactly the records of
//! a block of the output is passed on instead ([`pass_block_on`]): its bytes, which have been checked, are written from
//! where they are, behind a header with another number. [`Outline`] remembers where the blocks are.

use super::block::{any_mate, out_of_range};
use super::column::{FULLMOVE, GROUPS, HALFMOVE, Ids, MOST_COLUMNS, RAW_SCORE, id_of, kind_of, name_of, type_of};
use super::gather_boards::{Runs, put_groups};
use super::section::{HEADER_LEN, Kind, LARGEST_BLOCK, SectionHeader, u16_at};
use super::{BLOCK_LEN, Checksum, ENTRY_LEN, UNIT, UNKNOWN, VERSION};
use crate::formats::codec::conversion_losses::Refuse;
use crate::formats::codec::encode::{Encoded, was_changed};
use crate::input::Bytes;
use crate::table::{Array, Batch, Field, Fields, Texts, Tile};
use bytemuck::Pod;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

/// Maximum number of bytes of text in a block, so that everything else fits beside it.
const LARGEST_TEXTS: u64 = LARGEST_BLOCK / 2;
/// The codes of texts, the numbers of columns and the bytes of a block without texts all fit in their place.
const _: () = assert!(
    BLOCK_LEN <= 1 << 16
        && 4 + Field::ALL.len() <= MOST_COLUMNS
        && LARGEST_TEXTS + ((BLOCK_LEN * 64 * MOST_COLUMNS) as u64) < LARGEST_BLOCK
);

/// The list of columns in the header: those that blocks may have, or those that they do have.
fn header_entries(ids: Ids) -> Vec<[u8; ENTRY_LEN]> {
    let known = ids.iter().filter_map(|id| Some((id, kind_of(id)?, name_of(id)?)));
    let entries = known.map(|(id, kind, name)| {
        let mut entry = [0; ENTRY_LEN];
        entry[..2].copy_from_slice(&id.to_le_bytes());
        entry[2] = kind;
        entry[8..8 + name.len()].copy_from_slice(name.as_bytes());
        entry
    });
    entries.collect()
}

/// The header section of a file.
fn header_section(ids: Ids, total: u64) -> Vec<u8> {
    let entries = header_entries(ids);
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

/// The places of the blocks of a file.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// Columns that some block has.
    seen: Ids,
    records: u64,
    written: u64,
    places: Vec<u64>,
}

/// Facts known when a file is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// Number of records written.
    pub records: u64,
    /// The header section with the final counts and columns: if the output can be rewound, it replaces
    /// the first bytes.
    pub header: Vec<u8>,
}

impl Outline {
    /// Begins a file that may have these fields; returns its header section.
    pub(super) fn begin(&mut self, fields: Fields) -> Vec<u8> {
        let header = header_section(Ids::possible(fields), UNKNOWN);
        self.written = header.len() as u64;
        header
    }
    /// Notes the next block.
    pub(super) fn add(&mut self, len: usize, records: u64, present: Ids) {
        self.seen = self.seen.union(present);
        self.places.push(self.written);
        self.written += len as u64;
        self.records += records;
    }
    /// Number of records in blocks.
    pub(super) fn records(&self) -> u64 {
        self.records
    }
    /// The index and the end section.
    pub(super) fn finish(&self) -> (Vec<u8>, Finished) {
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
            extra: self.written,
            total: self.records,
            checksum: Checksum::of(&[]),
            ..header
        };
        section.extend_from_slice(&end.to_bytes());
        let finished =
            Finished { records: self.records, header: header_section(self.seen.union(Ids::ALWAYS), self.records) };
        (section, finished)
    }
}

/// Writes a boards file in one pass.
///
/// ```
/// use lanefish::table::{Batch, Fields};
/// use lanefish::packed::Packed;
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
    outline: Outline,
    /// Records that do not fill a block yet.
    pending: Batch,
    section: Vec<u8>,
}

impl<W: Write> BoardsWriter<W> {
    /// Begins a file; only these fields of the records are kept.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut out: W, fields: Fields) -> io::Result<Self> {
        let mut outline = Outline::default();
        out.write_all(&outline.begin(fields))?;
        Ok(Self { out, fields, outline, pending: Batch::new(), section: Vec::new() })
    }

    /// Adds records of a batch.
    ///
    /// # Errors
    /// If writing fails, if a field cannot have a value, or if the texts of a block are
    /// too long: after that nothing more can be written.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn write(&mut self, batch: &Batch, rows: Range<usize>) -> io::Result<()> {
        let mut row = rows.start;
        let before = self.outline.records() + self.pending.len() as u64;
        check_numbers(before, batch, rows.clone(), self.fields)?;
        while row < rows.end {
            let end = rows.end.min(row + BLOCK_LEN - self.pending.len());
            if self.pending.len() + (end - row) < BLOCK_LEN {
                self.pending.extend_from(batch, row..end);
                check_texts(self.outline.records(), self.pending.text_len())?;
            } else {
                let pending = std::mem::take(&mut self.pending);
                self.block(&[(&pending, 0..pending.len()), (batch, row..end)])?;
            }
            row = end;
        }
        Ok(())
    }

    fn block(&mut self, runs: &Runs<'_>) -> io::Result<()> {
        let records = runs.iter().map(|(_, rows)| rows.len() as u64).sum();
        let first = self.outline.records();
        let present = encode_block(first, runs, self.fields, &mut self.section)?;
        self.out.write_all(&self.section)?;
        self.outline.add(self.section.len(), records, present);
        Ok(())
    }

    /// Writes the last block, the index and the end section, and returns the output.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<(W, Finished)> {
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() {
            self.block(&[(&pending, 0..pending.len())])?;
        }
        let (end, finished) = self.outline.finish();
        self.out.write_all(&end)?;
        self.out.flush()?;
        Ok((self.out, finished))
    }
}

/// Refuses values that would be read as damage; `first` is the number of the first record.
fn check_numbers(first: u64, batch: &Batch, rows: Range<usize>, fields: Fields) -> io::Result<()> {
    for (&field, values) in batch.fields.iter().filter(|(field, _)| fields.contains(**field)) {
        if let Some((row, value)) = out_of_range(field, values, rows.clone()) {
            let record = first + (row - rows.start) as u64;
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("record {record}: {} cannot be {value}", field.name()),
            ));
        }
    }
    Ok(())
}

/// Refuses the records of a tile that have values which would be read as damage.
pub(super) fn refuse_numbers(tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
    let end = tile.start + tile.len;
    for (&field, values) in &tile.batch.fields {
        let mut start = tile.start;
        while let Some((row, value)) = out_of_range(field, values, start..end) {
            if tile.counts(row) {
                refuse(row, "value", format!("{} cannot be {value} in a boards file", field.name()));
            }
            start = row + 1;
        }
    }
}

/// Refuses a block with more bytes of text than it can have; its first record has this number.
pub(super) fn check_texts(first: u64, len: u64) -> io::Result<()> {
    if len <= LARGEST_TEXTS {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        format!(
            "the texts of the block that begins with record {first} are longer than {} MiB, \
             which a boards file cannot hold",
            LARGEST_TEXTS >> 20
        ),
    ))
}

/// Makes a block from rows of batches, with these fields, and returns the ids of its columns. `first` is
/// the number of the first record in the file.
///
/// # Errors
/// If the texts are too long, or an input became shorter.
pub(super) fn encode_block(first: u64, runs: &Runs<'_>, fields: Fields, section: &mut Vec<u8>) -> io::Result<Ids> {
    let rows: usize = runs.iter().map(|(_, rows)| rows.len()).sum();
    let present = fields.iter().map(|field| (field, Presence::of(field, runs, rows)));
    let present: Vec<(Field, Presence)> = present.filter(|(_, presence)| presence.any).collect();
    let count = 3 + present.len();
    section.clear();
    section.resize((UNIT + count * ENTRY_LEN).next_multiple_of(UNIT), 0);
    let mut entries = Vec::with_capacity(count);
    let begin = section.len();
    put_groups(section, runs, rows);
    let mut checked = None;
    for (batch, _) in runs {
        // After a selection, many runs of records come from the same batch.
        let place = std::ptr::from_ref(*batch);
        if checked.replace(place) != Some(place) {
            batch.check().map_err(too_late)?;
        }
    }
    entries.push(end_column(section, GROUPS, 0, false, begin));
    let begin = section.len();
    for (batch, rows) in runs {
        put_numbers(section, &batch.halfmove[rows.clone()], u16::to_le_bytes);
    }
    entries.push(end_column(section, HALFMOVE, 3, false, begin));
    let begin = section.len();
    for (batch, rows) in runs {
        put_numbers(section, &batch.fullmove[rows.clone()], u16::to_le_bytes);
    }
    entries.push(end_column(section, FULLMOVE, 3, false, begin));
    let mut texts = Dictionary::default();
    let mut ids = Ids::ALWAYS;
    for (field, presence) in present {
        let begin = section.len();
        if !presence.all {
            put_numbers(section, &presence.words, u64::to_le_bytes);
        }
        let column = field.column(0);
        put_values(section, runs, field, &column, rows, &mut texts);
        let id = if field == Field::Score && has_raw_scores(runs) { RAW_SCORE } else { id_of(field) };
        let kind = type_of(&column);
        ids.insert(id);
        entries.push(end_column(section, id, kind, !presence.all, begin));
    }
    check_texts(first, texts.len)?;
    for (entry, place) in entries.iter().zip(section[UNIT..].as_chunks_mut::<ENTRY_LEN>().0) {
        *place = *entry;
    }
    let header = SectionHeader {
        kind: Kind::Block,
        len: section.len() as u64,
        first,
        count: rows as u32,
        columns: count as u32,
        extra: 0,
        total: 0,
        checksum: Checksum::of(&section[UNIT..]),
    };
    section[..UNIT].copy_from_slice(&header.to_bytes());
    Ok(ids)
}

/// The error for an input that became shorter.
fn too_late(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("an input became shorter before its records were written: {error}"))
}

/// Puts a header before a block of an input, whose first record has this number in the output, and returns the ids of
/// its columns. The rest remains where it is, together with its checksum, until it is written.
///
/// # Errors
/// If the input became shorter, or was changed.
pub(super) fn pass_block_on(first: u64, section: &Bytes, block: &mut Encoded) -> io::Result<Ids> {
    section.check().map_err(too_late)?;
    let header = SectionHeader::read(section).map_err(was_changed)?;
    block.bytes.extend(SectionHeader { first, extra: 0, total: 0, ..header }.to_bytes());
    let rest = section.slice(UNIT..section.len());
    let mut ids = Ids::default();
    for entry in rest.as_chunks::<ENTRY_LEN>().0.iter().take(header.columns as usize) {
        // All of them are known, unless the input was changed.
        let id = u16_at(entry, 0);
        if name_of(id).is_some() {
            ids.insert(id);
        }
    }
    rest.retain();
    block.more = Some(rest);
    Ok(ids)
}

/// Releases the rest of a block after it was written with this result.
///
/// # Errors
/// If writing failed, or the input became shorter meanwhile.
pub(super) fn finish_passing_on(rest: &Bytes, written: io::Result<()>) -> io::Result<()> {
    rest.check().map_err(too_late)?;
    rest.release();
    written
}

/// Whether some score would be a mate in the column of scores.
fn has_raw_scores(runs: &Runs<'_>) -> bool {
    runs.iter().any(|(batch, rows)| match batch.values(Field::Score) {
        Some(Array::I16(scores)) => any_mate(&scores.values()[rows.clone()]),
        _ => false,
    })
}

/// Pads a column and makes its directory entry.
fn end_column(section: &mut Vec<u8>, id: u16, kind: u8, partial: bool, begin: usize) -> [u8; ENTRY_LEN] {
    let mut entry = [0; ENTRY_LEN];
    entry[..2].copy_from_slice(&id.to_le_bytes());
    entry[2] = kind;
    entry[3] = u8::from(partial);
    entry[8..16].copy_from_slice(&(begin as u64).to_le_bytes());
    entry[16..24].copy_from_slice(&((section.len() - begin) as u64).to_le_bytes());
    section.resize(section.len().next_multiple_of(UNIT), 0);
    entry
}

/// Adds numbers; `bytes` writes one of them.
#[inline(always)]
fn put_numbers<T: Pod, const N: usize>(section: &mut Vec<u8>, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
    if cfg!(target_endian = "little") {
        return section.extend_from_slice(bytemuck::cast_slice(values));
    }
    let begin = section.len();
    section.resize(begin + N * values.len(), 0);
    let (places, _) = section[begin..].as_chunks_mut::<N>();
    for (place, &value) in places.iter_mut().zip(values) {
        *place = bytes(value);
    }
}

/// Which rows have a value of a field.
struct Presence {
    /// A bit for each row, if some rows have a value and others have none.
    words: Vec<u64>,
    any: bool,
    all: bool,
}

impl Presence {
    fn of(field: Field, runs: &Runs<'_>, rows: usize) -> Self {
        let counts = runs.iter().map(|(batch, run)| {
            let values = batch.values(field);
            values.map_or(0, |values| values.count_present_in(run.clone()))
        });
        let count: usize = counts.sum();
        let mut presence = Self { words: Vec::new(), any: count > 0, all: count == rows };
        if !presence.any || presence.all {
            return presence;
        }
        presence.words.resize(rows.div_ceil(64), 0);
        let mut at = 0;
        for (batch, run) in runs {
            let Some(values) = batch.values(field) else {
                at += run.len();
                continue;
            };
            let mut row = run.start;
            while row < run.end {
                let len = (64 - at % 64).min(64 - row % 64).min(run.end - row);
                let bits = values.present()[row / 64] >> (row % 64) & (!0 >> (64 - len));
                presence.words[at / 64] |= bits << (at % 64);
                row += len;
                at += len;
            }
        }
        presence
    }
}

/// Adds the values of a field, whose columns are like `column`.
fn put_values<'a>(
    section: &mut Vec<u8>,
    runs: &Runs<'a>,
    field: Field,
    column: &Array,
    rows: usize,
    texts: &mut Dictionary<'a>,
) {
    macro_rules! numbers {
        ($type:ident, $bytes:expr) => {
            for (batch, rows) in runs {
                match batch.values(field) {
                    Some(Array::$type(column)) => {
                        put_numbers(section, &column.values()[rows.clone()], $bytes);
                    }
                    _ => section.resize(section.len() + rows.len() * $bytes(0).len(), 0),
                }
            }
        };
    }
    match column {
        Array::U8(_) => numbers!(U8, u8::to_le_bytes),
        Array::I16(_) => numbers!(I16, i16::to_le_bytes),
        Array::U16(_) => numbers!(U16, u16::to_le_bytes),
        Array::U32(_) => numbers!(U32, u32::to_le_bytes),
        Array::U64(_) => numbers!(U64, u64::to_le_bytes),
        Array::Text(_) => {
            let columns = runs.iter().map(|&(batch, ref rows)| match batch.values(field) {
                Some(Array::Text(column)) => (Some(column), rows.clone()),
                _ => (None, rows.clone()),
            });
            put_texts(section, columns, rows, texts);
        }
        Array::Flag(_) | Array::TextBuffer(_) | Array::Boards(_) | Array::Lists(_) => {
            unreachable!("no field has such values")
        }
    }
}

/// The texts of a column of a block, each of them once. It is used for one column after the other, because its memory
/// would otherwise grow again for each of them.
#[derive(Default)]
struct Dictionary<'a> {
    codes: HashMap<&'a str, u16, RandomState>,
    texts: Vec<&'a str>,
    /// The bytes of the texts of all columns.
    len: u64,
}

impl<'a> Dictionary<'a> {
    fn code(&mut self, text: &'a str) -> u16 {
        *self.codes.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() as u16 - 1
        })
    }
}

/// The number of equal codes at the start.
fn run_len(codes: &[u32]) -> usize {
    let Some(&first) = codes.first() else {
        return 0;
    };
    let (blocks, _) = codes.as_chunks::<16>();
    let same = |block: &&[u32; 16]| block.iter().fold(true, |same, &c| same & (c == first));
    let len = 16 * blocks.iter().take_while(same).count();
    let rest = codes[len..].iter();
    len + rest.take_while(|&&code| code == first).count()
}

fn put_texts<'a>(
    section: &mut Vec<u8>,
    columns: impl Iterator<Item = (Option<&'a Texts>, Range<usize>)>,
    rows: usize,
    dictionary: &mut Dictionary<'a>,
) {
    dictionary.codes.clear();
    dictionary.texts.clear();
    let mut codes: Vec<u16> = Vec::with_capacity(rows);
    for (column, rows) in columns {
        let Some(column) = column else {
            codes.resize(codes.len() + rows.len(), 0);
            continue;
        };
        // Games have the same text on all their rows.
        let mut row = rows.start;
        while row < rows.end {
            let len = run_len(&column.codes().values()[row..rows.end]);
            let code = column.codes().values()[row];
            let here = codes.len();
            match column.count_present_in(row..row + len) {
                0 => codes.resize(here + len, 0),
                count if count == len => {
                    let code = dictionary.code(&column.words()[code as usize]);
                    codes.resize(here + len, code);
                }
                _ => {
                    let code = dictionary.code(&column.words()[code as usize]);
                    let is_present = |row| column.get(row).is_some();
                    let rows = row..row + len;
                    codes.extend(rows.map(|row| if is_present(row) { code } else { 0 }));
                }
            }
            row += len;
        }
    }
    let texts = &dictionary.texts;
    dictionary.len += texts.iter().map(|text| text.len() as u64).sum::<u64>();
    if dictionary.len > LARGEST_TEXTS {
        return;
    }
    section.extend_from_slice(&(texts.len() as u32).to_le_bytes());
    section.extend_from_slice(&[0; 4]);
    let mut end = 0;
    for text in texts {
        end += text.len() as u32;
        section.extend_from_slice(&end.to_le_bytes());
    }
    put_numbers(section, &codes, u16::to_le_bytes);
    texts.iter().for_each(|text| section.extend_from_slice(text.as_bytes()));
}
