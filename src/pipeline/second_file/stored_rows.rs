//! Writing the second file: the run over it, and its rows in temporary files.
//!
//! A row has a byte that says what it is, then a slot for each column: a byte for the kind of its value, and 8 bytes. Short
//! texts are in the slot itself; for others it has the place in the file of texts, where four bytes for the length come
//! first. Boards are in a file of their own, 32 bytes and the two counters of each record, which stays empty if no record
//! has a position.

use super::super::Job;
use super::inferred_column_types::{ArrayType, Classes, ColumnType};
use super::read;
use crate::error::{Error, shown};
use crate::formats::tables::{COLUMN, Written};
use crate::output::temp_file::Spill;
use crate::packed::Packed;
use crate::table::{Array, ChosenColumn, Field, Kind, Needs, Texts, Tile};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The first byte of a row: a rejected record, or one with or without a position.
const REJECTED: u8 = 0;
pub(super) const WITH_POSITION: u8 = 1;
const WITHOUT_POSITION: u8 = 2;

/// Bytes of a slot.
const SLOT: usize = 9;
/// Bytes of a board with its counters.
pub(super) const BOARD: usize = size_of::<Packed>() + 4;

/// The first byte of a slot.
const NULL: u8 = 0;
const NUMBER: u8 = 1;
const LONG_TEXT: u8 = 2;
/// A text of no bytes; those of more bytes come after it.
const SHORT_TEXT: u8 = 16;

/// Bytes of a row with this number of columns.
pub(super) fn row_len(columns: usize) -> usize {
    1 + SLOT * columns
}

/// The value of a slot.
pub(super) enum Slot {
    Null,
    Number(u64),
    Text(String),
}

/// The value of a column in a row; texts are read from their file.
pub(super) fn slot(row: &[u8], column: usize, texts: &Spill) -> io::Result<Slot> {
    let (kind, bytes) = (row[1 + SLOT * column], &row[2 + SLOT * column..][..8]);
    let number = || bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(io::Error::other);
    Ok(match kind {
        NUMBER => Slot::Number(number()),
        LONG_TEXT => {
            let place = number();
            let mut len = [0; 4];
            read(texts, place, &mut len)?;
            let mut bytes = vec![0; u32::from_le_bytes(len) as usize];
            read(texts, place + 4, &mut bytes)?;
            Slot::Text(text(bytes)?)
        }
        SHORT_TEXT.. => Slot::Text(text(bytes[..usize::from(kind - SHORT_TEXT).min(8)].to_vec())?),
        _ => Slot::Null,
    })
}

/// A requested column.
struct Requested {
    name: String,
    /// The name among the tags of batches, if it can be a column that a table has.
    tag: Option<Arc<str>>,
    /// The column of the catalogue.
    listed: Option<ChosenColumn>,
}

/// Stores rows of records.
pub(super) struct StoreRows {
    columns: Vec<Requested>,
}

impl StoreRows {
    pub(super) fn new(names: &[String]) -> Self {
        let column = |name: &String| {
            // Fields are read from tables as in any input, but moves only where there are positions.
            let is_field = Field::ALL.iter().any(|field| field.name() == name && *field != Field::Move);
            Requested {
                name: name.clone(),
                tag: (!is_field).then(|| format!("{COLUMN}{name}").into()),
                listed: ChosenColumn::named(name),
            }
        };
        Self { columns: names.iter().map(column).collect() }
    }
}

/// What a part of the file has in a column.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Nothing,
    AsWritten(Classes),
    Listed(Kind, ArrayType),
}

/// The rows of a chunk.
pub(super) struct Rows {
    /// The number of the first record, and the number of rows.
    first: u64,
    count: u64,
    rows: Vec<u8>,
    /// The boards and counters; empty if there are none so far.
    boards: Vec<u8>,
    texts: Vec<u8>,
    columns: Vec<Seen>,
    /// What is wrong with a column.
    wrong: Option<String>,
}

/// The values of a column in a tile.
enum Filled<'a> {
    AsWritten(&'a Texts),
    Listed(Array),
}

impl Rows {
    /// Adds rows of rejected records up to the one before this number.
    fn pad(&mut self, number: u64, row_len: usize) {
        if self.count == 0 {
            self.first = number;
        }
        let end = self.first + self.count;
        let missing = number.saturating_sub(end) as usize;
        self.rows.resize(self.rows.len() + missing * row_len, REJECTED);
        self.count += missing as u64;
    }

    fn push_number(&mut self, number: Option<u64>) {
        self.rows.push(if number.is_some() { NUMBER } else { NULL });
        self.rows.extend_from_slice(&number.unwrap_or(0).to_le_bytes());
    }

    /// Adds a text; `last` is the last long one of the column, and its place among the texts.
    fn push_text<'a>(&mut self, text: &'a str, last: &mut Option<(&'a str, u64)>) {
        let bytes = text.as_bytes();
        let mut slot = [0; SLOT];
        if bytes.len() < SLOT {
            slot[0] = SHORT_TEXT + bytes.len() as u8;
            slot[1..=bytes.len()].copy_from_slice(bytes);
        } else {
            let place = match *last {
                Some((known, place)) if known == text => place,
                _ => {
                    let place = self.texts.len() as u64;
                    self.texts.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                    self.texts.extend_from_slice(bytes);
                    *last = Some((text, place));
                    place
                }
            };
            slot[0] = LONG_TEXT;
            slot[1..].copy_from_slice(&place.to_le_bytes());
        }
        self.rows.extend_from_slice(&slot);
    }
}

impl Job for StoreRows {
    type Part = Rows;
    fn needs(&self) -> Needs {
        let listed: Needs = self.columns.iter().filter_map(|column| Some(column.listed.as_ref()?.needs())).collect();
        let tags = self.columns.iter().filter_map(|column| column.tag.clone()).collect();
        listed.and(Needs { tags, ..Needs::NONE })
    }
    fn begin(&self) -> Rows {
        let columns = vec![Seen::Nothing; self.columns.len()];
        Rows { first: 0, count: 0, rows: Vec::new(), boards: Vec::new(), texts: Vec::new(), columns, wrong: None }
    }
    fn tile(&self, part: &mut Rows, tile: &Tile<'_>) {
        let batch = tile.batch;
        let mut filled = Vec::new();
        for (Requested { name, tag, listed }, seen) in self.columns.iter().zip(&mut part.columns) {
            let written = tag.as_ref().and_then(|tag| batch.tags.get(tag));
            filled.push(match (written, listed) {
                (Some(texts), _) => {
                    if !matches!(seen, Seen::AsWritten(_)) {
                        *seen = Seen::AsWritten(Classes::default());
                    }
                    Filled::AsWritten(texts)
                }
                (None, Some(column)) => {
                    let array = column.fill(tile);
                    let Some(array_type) = ArrayType::of(&array) else {
                        part.wrong = Some(format!("`{name}` is a list, and --zip reads single values"));
                        return;
                    };
                    *seen = Seen::Listed(column.kind(), array_type);
                    Filled::Listed(array)
                }
                (None, None) => {
                    part.wrong = Some(format!("has no column `{name}`"));
                    return;
                }
            });
        }
        let mut last = vec![None; filled.len()];
        for row in tile.rows() {
            part.pad(batch.index(row), row_len(filled.len()));
            part.count += 1;
            part.rows.push(if batch.lacks_positions { WITHOUT_POSITION } else { WITH_POSITION });
            for (column, (values, last)) in filled.iter().zip(&mut last).enumerate() {
                match values {
                    Filled::AsWritten(texts) => match texts.get(row) {
                        None => part.push_number(None),
                        Some(marked) => {
                            if let (Seen::AsWritten(classes), Some((written, text))) =
                                (&mut part.columns[column], Written::read(marked))
                            {
                                classes.add(written, text);
                            }
                            part.push_text(marked, last);
                        }
                    },
                    Filled::Listed(array) => match (array.text(row - tile.start), array.number(row - tile.start)) {
                        (Some(text), _) => part.push_text(text, last),
                        (None, number) => part.push_number(number.map(|number| number as u64)),
                    },
                }
            }
            if !batch.lacks_positions {
                part.boards.resize((part.count - 1) as usize * BOARD, 0);
                part.boards.extend_from_slice(bytemuck::bytes_of(&batch.board(row)));
                part.boards.extend_from_slice(&batch.halfmove[row].to_le_bytes());
                part.boards.extend_from_slice(&batch.fullmove[row].to_le_bytes());
            }
        }
    }
}

/// The parts of the file, which are written in order.
pub(super) struct Gathered<'a> {
    job: &'a StoreRows,
    path: Arc<Path>,
    rows: &'a Spill,
    boards: &'a Spill,
    texts: &'a Spill,
    count: u64,
    /// Number of the boards that have been written.
    count_boards: u64,
    columns: Vec<Seen>,
}

/// Writes at the end of a file.
fn append(spill: &Spill, bytes: &[u8]) -> Result<u64, Error> {
    spill.append(bytes).map(|range| range.start).map_err(|source| spill.failed(source))
}

/// Writes zeros at the end of a file.
fn append_zeros(spill: &Spill, mut count: u64) -> Result<(), Error> {
    let zeros = vec![0; count.min(1 << 20) as usize];
    while count > 0 {
        let some = count.min(zeros.len() as u64);
        append(spill, &zeros[..some as usize])?;
        count -= some;
    }
    Ok(())
}

impl<'a> Gathered<'a> {
    pub(super) fn new(
        job: &'a StoreRows,
        path: Arc<Path>,
        (rows, boards, texts): (&'a Spill, &'a Spill, &'a Spill),
    ) -> Self {
        let columns = vec![Seen::Nothing; job.columns.len()];
        Self { job, path, rows, boards, texts, count: 0, count_boards: 0, columns }
    }

    fn wrong<T>(&self, reason: String) -> Result<T, Error> {
        Err(Error::NotBeside { place: format!("{} (--zip)", shown(&self.path)), reason })
    }

    /// Writes the rows of the next part.
    pub(super) fn add(&mut self, mut part: Rows) -> Result<(), Error> {
        if let Some(wrong) = part.wrong.take() {
            return self.wrong(wrong);
        }
        for place in 0..self.columns.len() {
            let known = &mut self.columns[place];
            match (&mut *known, part.columns[place]) {
                (_, Seen::Nothing) => {}
                (Seen::Nothing, seen) => *known = seen,
                (Seen::AsWritten(classes), Seen::AsWritten(more)) => classes.join(more),
                (Seen::Listed(..), Seen::Listed(..)) => {}
                _ => {
                    let name = &self.job.columns[place].name;
                    return self.wrong(format!("only some of its files have a column `{name}`"));
                }
            }
        }
        if part.count == 0 {
            return Ok(());
        }
        let row_len = row_len(self.columns.len());
        append_zeros(self.rows, (part.first - self.count) * row_len as u64)?;
        self.count = part.first + part.count;
        if !part.texts.is_empty() {
            let start = append(self.texts, &part.texts)?;
            for row in part.rows.chunks_exact_mut(row_len) {
                for slot in row[1..].chunks_exact_mut(SLOT) {
                    if let Some((&LONG_TEXT, place)) = slot.split_first()
                        && let Ok(place) = <[u8; 8]>::try_from(place)
                    {
                        slot[1..].copy_from_slice(&(start + u64::from_le_bytes(place)).to_le_bytes());
                    }
                }
            }
        }
        append(self.rows, &part.rows)?;
        if !part.boards.is_empty() {
            append_zeros(self.boards, (part.first - self.count_boards) * BOARD as u64)?;
            append(self.boards, &part.boards)?;
            self.count_boards = part.first + (part.boards.len() / BOARD) as u64;
        }
        Ok(())
    }

    /// Ends the file after this number of records. Returns the types of the columns, and whether there are positions.
    pub(super) fn finish(self, records: u64) -> Result<(Vec<ColumnType>, bool), Error> {
        append_zeros(self.rows, (records - self.count) * row_len(self.columns.len()) as u64)?;
        let has_boards = self.count_boards > 0;
        if has_boards {
            append_zeros(self.boards, (records - self.count_boards) * BOARD as u64)?;
        }
        let columns = self.columns.iter().zip(&self.job.columns).map(|(seen, requested)| match *seen {
            Seen::AsWritten(classes) => classes.column(),
            Seen::Listed(kind, array) => ColumnType::Listed(kind, array),
            Seen::Nothing => match &requested.listed {
                Some(column) => ColumnType::Listed(column.kind(), ArrayType::of_kind(column.kind())),
                None => Classes::default().column(),
            },
        });
        Ok((columns.collect(), has_boards))
    }
}
