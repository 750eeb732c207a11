//! Whole records as rows of a [store](super::keyed_rows). In memory they are stored one after the other, each with its key,
//! so that moving a record touches one place. In files they are stored as blocks of boards files, followed by what these
//! do not store: keys, numbers, whether White stands for the side to move, derived fields, and tags.
//!
//! Other fields and tags stay columns. They are joined before rows of several piles are taken, and cost nothing if
//! there are none.

use super::keyed_rows::RowBuffer;
use crate::formats::boards;
use crate::packed::{Group, Packed};
use crate::table::{Array, Batch, Field, ScoreCodes, Texts, Values, extend_columns};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// A record without its other fields, and its key.
#[derive(Clone, Copy, Debug)]
struct Row {
    key: u64,
    board: Packed,
    halfmove: u16,
    fullmove: u16,
    /// [`Batch::is_from_mover`] and [`Batch::score_codes`].
    is_from_mover: bool,
    score_codes: ScoreCodes,
}

/// Rows of a batch, by their places, with these keys.
fn rows_of(batch: &Batch, rows: impl Iterator<Item = usize>, keys: &[u64], to: &mut Vec<Row>) {
    let groups = batch.groups();
    to.extend(keys.iter().zip(rows).map(|(&key, row)| {
        let board = groups[row / Group::LEN].get(row % Group::LEN);
        let (halfmove, fullmove) = (batch.halfmove[row], batch.fullmove[row]);
        let Batch { is_from_mover, score_codes, .. } = *batch;
        Row { key, board, halfmove, fullmove, is_from_mover, score_codes }
    }));
}

/// The other fields of records, and the tags of their games.
#[derive(Debug, Default)]
struct Columns {
    fields: BTreeMap<Field, Array>,
    tags: BTreeMap<Arc<str>, Texts>,
}

impl Columns {
    fn are_none(&self) -> bool {
        self.fields.is_empty() && self.tags.is_empty()
    }

    /// Adds rows of others to this many; returns how many bytes of text that adds. A text has a place of its own in each
    /// pile that has rows with it.
    fn extend(
        &mut self,
        before: usize,
        (fields, tags): (&BTreeMap<Field, Array>, &BTreeMap<Arc<str>, Texts>),
        rows: impl Iterator<Item = usize> + Clone,
    ) -> u64 {
        if self.are_none() && fields.is_empty() && tags.is_empty() {
            return 0;
        }
        let known: Vec<(Field, usize)> = self.texts().map(|(field, texts)| (field, texts.words().len())).collect();
        extend_columns((&mut self.fields, &mut self.tags), before, (fields, tags), rows);
        let added = self.texts().map(|(field, texts)| {
            let known = known.iter().find(|(known, _)| *known == field).map_or(0, |(_, words)| *words);
            texts.words().iter().skip(known).map(|word| word.len() as u64).sum::<u64>()
        });
        added.sum()
    }

    fn texts(&self) -> impl Iterator<Item = (Field, &Texts)> {
        self.fields.iter().filter_map(|(&field, values)| match values {
            Array::Text(texts) => Some((field, texts)),
            _ => None,
        })
    }

    /// Bytes of memory of a row, without texts.
    fn row_len(&self) -> u64 {
        self.fields.values().map(|values| values.row_len() as u64).sum()
    }

    /// Bytes of all texts, those that neighbours share counted once.
    fn text_len(&self) -> u64 {
        let texts = self.texts().map(|(_, texts)| texts).chain(self.tags.values());
        texts.map(|texts| texts.words().text().len() as u64).sum()
    }
}

/// Records of several batches, each with a key, before they are added to piles.
#[derive(Debug, Default)]
pub(crate) struct KeyedRows {
    rows: Vec<Row>,
    keys: Vec<u64>,
    /// The number of each record over all inputs; empty where they do not count.
    numbers: Vec<u64>,
    /// Where the other fields of rows are, and after how many rows those of the next batch begin.
    batches: Vec<(Arc<Batch>, Vec<u32>, usize)>,
}

impl KeyedRows {
    /// Adds records with a key each; `numbers` if their numbers count.
    pub(crate) fn push(&mut self, batch: Arc<Batch>, rows: Vec<u32>, keys: &[u64], numbers: bool) {
        rows_of(&batch, rows.iter().map(|&row| row as usize), keys, &mut self.rows);
        self.keys.extend_from_slice(keys);
        if numbers {
            self.numbers.extend(rows.iter().map(|&row| batch.index(row as usize)));
        }
        let end = self.rows.len();
        self.batches.push((batch, rows, end));
    }

    /// All keys.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Removes all records; the memory is kept for the next ones.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.keys.clear();
        self.numbers.clear();
        self.batches.clear();
    }
}

/// Records with keys, and with their numbers where these count.
#[derive(Debug, Default)]
pub(crate) struct Records {
    rows: Vec<Row>,
    /// The number of each record over all inputs; empty where they do not count.
    numbers: Vec<u64>,
    columns: Columns,
}

impl Records {
    /// Adds records by their places, which ascend.
    pub(crate) fn add(&mut self, from: &KeyedRows, places: &[u32]) -> u64 {
        let mut before = self.rows.len();
        self.rows.extend(places.iter().map(|&place| from.rows[place as usize]));
        if !from.numbers.is_empty() {
            self.numbers.extend(places.iter().map(|&place| from.numbers[place as usize]));
        }
        if self.columns.are_none() && from.batches.iter().all(|(batch, ..)| batch.has_only_boards()) {
            return self.bytes_of(places.len());
        }
        let mut texts = 0;
        let (mut start, mut rest) = (0, places);
        for (batch, rows, end) in &from.batches {
            let (these, others) = rest.split_at(rest.partition_point(|&place| (place as usize) < *end));
            let rows = these.iter().map(|&place| rows[place as usize - start] as usize);
            texts += self.columns.extend(before, (&batch.fields, &batch.tags), rows);
            before += these.len();
            (start, rest) = (*end, others);
        }
        self.bytes_of(places.len()) + texts
    }

    /// The approximate memory of this number of rows, in bytes, without texts.
    fn bytes_of(&self, rows: usize) -> u64 {
        let number = if self.numbers.is_empty() { 0 } else { 8 };
        rows as u64 * (size_of::<Row>() as u64 + number + self.columns.row_len())
    }
}

/// A batch of rows, without other fields.
fn batch_of<'a>(mut rows: impl ExactSizeIterator<Item = &'a Row>) -> Batch {
    let len = rows.len();
    let mut is_from_mover = len > 0;
    let mut score_codes: Option<ScoreCodes> = None;
    let (mut halfmove, mut fullmove) = (Vec::with_capacity(len), Vec::with_capacity(len));
    let mut groups = Vec::with_capacity(len.div_ceil(Group::LEN));
    for lanes in (0..len).step_by(Group::LEN).map(|start| (len - start).min(Group::LEN)) {
        let mut group = Group::default();
        let mut clocks = [[0; Group::LEN]; 2];
        for (lane, row) in (0..lanes).zip(&mut rows) {
            group.set(lane, row.board);
            clocks[0][lane] = row.halfmove;
            clocks[1][lane] = row.fullmove;
            is_from_mover &= row.is_from_mover;
            let all = *score_codes.get_or_insert(row.score_codes);
            score_codes = Some(if all == row.score_codes { all } else { ScoreCodes::None });
        }
        groups.push(group);
        halfmove.extend_from_slice(&clocks[0][..lanes]);
        fullmove.extend_from_slice(&clocks[1][..lanes]);
    }
    let mut batch = Batch::owned(groups, len);
    (batch.halfmove, batch.fullmove, batch.is_from_mover) = (halfmove, fullmove, is_from_mover);
    batch.score_codes = score_codes.unwrap_or_default();
    batch
}

/// The place of a record in several piles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pile: u32,
    row: u32,
}

/// Several piles, of which records are taken in any order.
pub(crate) struct JoinedBuffers {
    piles: Vec<Records>,
    /// The number of rows before those of each pile.
    starts: Vec<usize>,
    /// The columns of all piles.
    columns: Columns,
}

impl JoinedBuffers {
    pub(crate) fn of(mut piles: Vec<Records>) -> Self {
        let mut columns = Columns::default();
        let (mut starts, mut len) = (Vec::with_capacity(piles.len()), 0);
        for pile in &mut piles {
            let own = std::mem::take(&mut pile.columns);
            match len {
                0 => columns = own,
                before => {
                    columns.extend(before, (&own.fields, &own.tags), 0..pile.rows.len());
                }
            }
            starts.push(len);
            len += pile.rows.len();
        }
        Self { piles, starts, columns }
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.piles.iter().map(|pile| pile.rows.len()).sum()
    }

    /// Adds the keys of all records, with their places.
    pub(crate) fn keys(&self, to: &mut Vec<(u64, Place)>) {
        to.reserve(self.len());
        for (pile, records) in (0..).zip(&self.piles) {
            let rows = (0..records.rows.len() as u32).zip(&*records.rows);
            to.extend(rows.map(|(row, record)| (record.key, Place { pile, row })));
        }
    }

    /// The number of a record over all inputs.
    pub(crate) fn number(&self, place: Place) -> u64 {
        self.piles[place.pile as usize].numbers[place.row as usize]
    }

    /// The ply of a record.
    pub(crate) fn ply(&self, place: Place) -> Option<u16> {
        let Some(Array::U16(plies)) = self.columns.fields.get(&Field::Ply) else { return None };
        plies.get(self.starts[place.pile as usize] + place.row as usize).copied()
    }

    /// Whether White stands for the side to move in the record, because its format does not say whose move it is; and the
    /// codes among the scores of its format.
    pub(crate) fn of_format(&self, place: Place) -> (bool, ScoreCodes) {
        let row = &self.piles[place.pile as usize].rows[place.row as usize];
        (row.is_from_mover, row.score_codes)
    }

    /// A batch of these records.
    pub(crate) fn batch(&self, places: impl ExactSizeIterator<Item = Place> + Clone) -> Batch {
        let piles: Vec<&[Row]> = self.piles.iter().map(|pile| &*pile.rows).collect();
        let mut batch = batch_of(places.clone().map(|place| &piles[place.pile as usize][place.row as usize]));
        if !self.columns.are_none() {
            let rows = places.map(|place| self.starts[place.pile as usize] + place.row as usize);
            extend_columns((&mut batch.fields, &mut batch.tags), 0, (&self.columns.fields, &self.columns.tags), rows);
        }
        batch
    }

    /// These records, with their numbers and other keys.
    pub(crate) fn keyed(&self, places: &[Place], keys: &[u64]) -> KeyedRows {
        let batch = self.batch(places.iter().copied());
        let mut keyed = KeyedRows::default();
        keyed.push(Arc::new(batch), (0..places.len() as u32).collect(), keys, false);
        keyed.numbers = places.iter().map(|&place| self.number(place)).collect();
        keyed
    }
}

impl RowBuffer for Records {
    fn len(&self) -> usize {
        self.rows.len()
    }
    fn keys(&self, keys: &mut Vec<u64>) {
        keys.extend(self.rows.iter().map(|row| row.key));
    }
    fn another(&self) -> Self {
        Self { rows: Vec::with_capacity(self.rows.len()), ..Self::default() }
    }
    fn take(&mut self, from: &Self, rows: &[u32]) -> u64 {
        let before = self.rows.len();
        let all = || rows.iter().map(|&row| row as usize);
        self.rows.extend(all().map(|row| from.rows[row]));
        if !from.numbers.is_empty() {
            self.numbers.extend(all().map(|row| from.numbers[row]));
        }
        let texts = self.columns.extend(before, (&from.columns.fields, &from.columns.tags), all());
        self.bytes_of(rows.len()) + texts
    }
    fn bytes(&self) -> u64 {
        self.bytes_of(self.rows.len()) + self.columns.text_len()
    }
    fn encode(self, to: &mut Vec<u8>) -> io::Result<()> {
        let mut batch = batch_of(self.rows.iter());
        batch.fields = self.columns.fields;
        boards::to_block(&batch, to)?;
        self.rows.iter().for_each(|row| to.extend_from_slice(&row.key.to_ne_bytes()));
        to.extend_from_slice(bytemuck::cast_slice(&self.numbers));
        let start = to.len();
        to.extend(self.rows.iter().map(|row| u8::from(row.is_from_mover) | row.score_codes.number() << 1));
        for (code, field) in (0..).zip(Field::DERIVED.iter().copied()) {
            if let Some(values) = batch.fields.get(&field) {
                to.push(code);
                (0..self.rows.len())
                    .for_each(|row| to.extend_from_slice(&values.number(row).unwrap_or(NO_NUMBER).to_ne_bytes()));
            }
        }
        to.push(END_OF_DERIVED);
        for (name, texts) in &self.columns.tags {
            put_text(Some(name), to);
            (0..self.rows.len()).for_each(|row| put_text(texts.get(row), to));
        }
        let tags = to.len() - start;
        to.extend_from_slice(&(tags as u64).to_ne_bytes());
        to.extend_from_slice(&(self.rows.len() as u64).to_ne_bytes());
        to.push(u8::from(!self.numbers.is_empty()));
        Ok(())
    }
    fn decode(mut bytes: Vec<u8>) -> io::Result<Self> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "a temporary file has been changed");
        let has_numbers = bytes.pop().ok_or_else(wrong)? != 0;
        let rows = take_number(&mut bytes).ok_or_else(wrong)?;
        let tags = take_number(&mut bytes).ok_or_else(wrong)?;
        let tags = bytes.split_off(bytes.len().checked_sub(tags).ok_or_else(wrong)?);
        let columns = 1 + usize::from(has_numbers);
        let start = bytes.len().checked_sub(rows.checked_mul(8 * columns).ok_or_else(wrong)?).ok_or_else(wrong)?;
        let numbers = bytes[start..].as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes));
        let mut keys: Vec<u64> = numbers.collect();
        let numbers = keys.split_off(rows);
        bytes.truncate(start);
        let mut batch = boards::of_block(bytes).map_err(|_| wrong())?;
        if batch.len() != rows {
            return Err(wrong());
        }
        let (of_format, mut rest) = tags.split_at_checked(rows).ok_or_else(wrong)?;
        loop {
            let (&code, after) = rest.split_first().ok_or_else(wrong)?;
            rest = after;
            if code == END_OF_DERIVED {
                break;
            }
            let field = *Field::DERIVED.get(usize::from(code)).ok_or_else(wrong)?;
            let (numbers, after) = rest.split_at_checked(8 * rows).ok_or_else(wrong)?;
            rest = after;
            let numbers = numbers.as_chunks().0.iter().map(|bytes| i64::from_ne_bytes(*bytes));
            batch.fields.insert(field, derived(field, numbers).ok_or_else(wrong)?);
        }
        let mut tags = BTreeMap::new();
        while !rest.is_empty() {
            let name = take_text(&mut rest).flatten().ok_or_else(wrong)?;
            let mut texts = Texts::default();
            for _ in 0..rows {
                texts.push(take_text(&mut rest).ok_or_else(wrong)?);
            }
            tags.insert(name.into(), texts);
        }
        let mut all = Vec::with_capacity(rows);
        rows_of(&batch, 0..rows, &keys, &mut all);
        for (row, &flags) in all.iter_mut().zip(of_format) {
            row.is_from_mover = flags & 1 != 0;
            row.score_codes = ScoreCodes::of_number(flags >> 1).ok_or_else(wrong)?;
        }
        Ok(Self { rows: all, numbers, columns: Columns { fields: batch.fields, tags } })
    }
}

/// Stored instead of a derived number that is missing.
const NO_NUMBER: i64 = i64::MIN;
/// Stored after the last derived field.
const END_OF_DERIVED: u8 = u8::MAX;

/// A column of a derived field; `None` if a number does not fit.
fn derived(field: Field, numbers: impl Iterator<Item = i64>) -> Option<Array> {
    fn values<T: Copy + Default + TryFrom<i64>>(numbers: impl Iterator<Item = i64>) -> Option<Values<T>> {
        let mut values = Values::default();
        for number in numbers {
            values.push(if number == NO_NUMBER { None } else { Some(T::try_from(number).ok()?) });
        }
        Some(values)
    }
    match field.column(0) {
        Array::U16(_) => values(numbers).map(Array::U16),
        Array::I16(_) => values(numbers).map(Array::I16),
        _ => unreachable!("derived fields are small numbers"),
    }
}

/// The length that marks a missing text.
const MISSING: u32 = u32::MAX;

fn put_text(text: Option<&str>, to: &mut Vec<u8>) {
    to.extend_from_slice(&text.map_or(MISSING, |text| text.len() as u32).to_ne_bytes());
    to.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// Takes the next text, which may be missing; `None` where there is none.
fn take_text<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a str>> {
    let len = u32::from_ne_bytes(*rest.split_off(..4)?.first_chunk()?);
    if len == MISSING {
        return Some(None);
    }
    std::str::from_utf8(rest.split_off(..len as usize)?).ok().map(Some)
}

/// Takes a number from the end.
fn take_number(bytes: &mut Vec<u8>) -> Option<usize> {
    let number = u64::from_ne_bytes(*bytes.last_chunk()?);
    bytes.truncate(bytes.len() - 8);
    usize::try_from(number).ok()
}
