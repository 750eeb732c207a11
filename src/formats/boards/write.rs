//! Writing, in one pass.

use super::block::out_of_range;
use super::column::{FULLMOVE, GROUPS, HALFMOVE, MOST_COLUMNS, id_of, type_of};
use super::section::{HEADER_LEN, Kind, LARGEST_BLOCK, SectionHeader};
use super::{BLOCK_LEN, Checksum, ENTRY_LEN, UNIT, UNKNOWN, VERSION};
use crate::table::{Array, Batch, Field, Fields, MOST_CENTIPAWNS, Texts, Values};
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// Most bytes of text in a block, so that everything else fits beside them.
const LARGEST_TEXTS: u64 = LARGEST_BLOCK / 2;
/// The codes of texts, the numbers of columns and the bytes of a block without texts all fit in their place.
const _: () = assert!(
    BLOCK_LEN <= 1 << 16
        && 3 + Field::ALL.len() <= MOST_COLUMNS
        && LARGEST_TEXTS + ((BLOCK_LEN * 64 * MOST_COLUMNS) as u64) < LARGEST_BLOCK
);

/// The columns that blocks may have or do have: boards and clocks, then fields.
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
/// use lanefish::table::{Batch, Fields};
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
    /// Fields that had a value in some record.
    seen: Fields,
    pending: Batch,
    /// Bytes of the texts in `pending`.
    texts: u64,
    records: u64,
    written: u64,
    places: Vec<u64>,
    section: Vec<u8>,
}

/// Facts known when a file is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// Records written.
    pub records: u64,
    /// The header section with the final counts and columns: if the output can be rewound, it replaces
    /// the first bytes.
    pub header: Vec<u8>,
}

impl<W: Write> BoardsWriter<W> {
    /// Begins a file; only these fields of the records are kept.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut out: W, fields: Fields) -> io::Result<Self> {
        let header = header_section(fields, UNKNOWN);
        out.write_all(&header)?;
        Ok(Self {
            out,
            fields,
            seen: Fields::NONE,
            pending: Batch::new(),
            texts: 0,
            records: 0,
            written: header.len() as u64,
            places: Vec::new(),
            section: Vec::new(),
        })
    }

    /// Adds records of a batch. Scores beyond [`MOST_CENTIPAWNS`] are clamped to it.
    ///
    /// # Errors
    /// If writing fails, if a field cannot have a value, or if the texts of a block are
    /// too long: after that nothing more can be written.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn write(&mut self, batch: &Batch, rows: Range<usize>) -> io::Result<()> {
        self.check_numbers(batch, &rows)?;
        let mut row = rows.start;
        while row < rows.end {
            let room = BLOCK_LEN - self.pending.len();
            let end = rows.end.min(row + room);
            self.check_texts(batch, &(row..end))?;
            self.pending.extend_from(batch, row..end);
            row = end;
            if self.pending.len() == BLOCK_LEN {
                self.flush_block()?;
            }
        }
        Ok(())
    }

    /// Refuses values that would be read as damage.
    fn check_numbers(&self, batch: &Batch, rows: &Range<usize>) -> io::Result<()> {
        for (&field, values) in &batch.fields {
            // Scores that are too large are clamped.
            if field != Field::Score
                && self.fields.contains(field)
                && let Some((row, value)) = out_of_range(field, values, rows.clone())
            {
                let record = self.records + self.pending.len() as u64 + (row - rows.start) as u64;
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("record {record}: {} cannot be {value}", field.name()),
                ));
            }
        }
        Ok(())
    }

    /// Counts the texts of rows that are about to be added to a block.
    fn check_texts(&mut self, batch: &Batch, rows: &Range<usize>) -> io::Result<()> {
        for (&field, values) in &batch.fields {
            if let Array::Text(column) = values
                && self.fields.contains(field)
            {
                self.texts += texts_len(column, rows.clone());
            }
        }
        if self.texts <= LARGEST_TEXTS {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "the texts of the block that begins with record {} are longer than {} MiB, \
                 which a boards file cannot hold",
                self.records,
                LARGEST_TEXTS >> 20
            ),
        ))
    }

    fn flush_block(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.pending);
        self.texts = 0;
        let rows = block.len();
        let columns: Vec<(Field, &Array)> = block
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
            match (field, values) {
                (Field::Score, Array::I16(scores)) => {
                    write_values(section, &Array::I16(clamped(scores)), partial);
                }
                _ => write_values(section, values, partial),
            }
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

    /// The bytes written so far.
    pub(super) fn output_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes the last block, the index and the end section, and returns the output.
    ///
    /// # Errors
    /// If writing fails.
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

/// Bytes of the texts of some rows; one that neighbours share, as in a game, counts once.
fn texts_len(column: &Texts, rows: Range<usize>) -> u64 {
    let mut last: Option<&Arc<str>> = None;
    let mut len = 0;
    for text in rows.filter_map(|row| column.get(row)) {
        if !last.is_some_and(|last| Arc::ptr_eq(last, text)) {
            len += text.len() as u64;
        }
        last = Some(text);
    }
    len
}

/// Larger scores would be read as mates of version 1.0.
fn clamped(scores: &Values<i16>) -> Values<i16> {
    let most = MOST_CENTIPAWNS as i16;
    let values = scores.values().iter();
    Values::from_parts(
        values.map(|&score| score.clamp(-most, most)).collect(),
        scores.present().to_vec(),
    )
}

/// Pads a column and makes its directory entry.
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

fn write_values(out: &mut Vec<u8>, values: &Array, partial: bool) {
    fn bitmap(out: &mut Vec<u8>, present: &[u64], partial: bool) {
        if partial {
            out.extend(present.iter().flat_map(|word| word.to_le_bytes()));
        }
    }
    macro_rules! numbers {
        ($column:expr) => {{
            bitmap(out, $column.present(), partial);
            out.extend(
                $column
                    .values()
                    .iter()
                    .flat_map(|value| value.to_le_bytes()),
            );
        }};
    }
    match values {
        Array::U8(column) => numbers!(column),
        Array::I16(column) => numbers!(column),
        Array::U16(column) => numbers!(column),
        Array::U32(column) => numbers!(column),
        Array::U64(column) => numbers!(column),
        Array::Text(column) => {
            bitmap(out, column.present(), partial);
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
        Array::Flag(_) | Array::Strings(_) => unreachable!("no field has such values"),
    }
}
