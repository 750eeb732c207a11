//! A batch of records: what every format decodes to and every output is written from.
//!
//! A batch is columns, not rows: packed boards in groups of eight, the two clocks, and whatever else the
//! records carry (score, result, move, ply, game, ..) as one optional column each. The kernels read the
//! groups without looking at anything else. Groups are either owned (decoded from text, or read from a
//! pipe) or still lie in the mapped file they came from.

use crate::block::{Group, Packed, UnpackError};
use crate::chess::Position;
use crate::input::Mapped;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// What a record may carry besides its position.
///
/// The order is the order of columns in files and listings. New fields go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Field {
    /// Centipawns as White sees it, at most [`MOST_CENTIPAWNS`] either way; missing where the source gave a mate.
    Score,
    /// 0 Black won, 1 draw, 2 White won.
    Result,
    /// The move played or the best move, as [`crate::chess::Move::to_bits`] packs it.
    Move,
    /// Plies since the start of the game.
    Ply,
    /// 0-based number of the game over all inputs.
    Game,
    /// White's rating.
    WhiteElo,
    /// Black's rating.
    BlackElo,
    /// The mover's remaining time after the move, in centiseconds.
    Clock,
    /// Opening code such as `B12`.
    Eco,
    /// Name of the opening.
    Opening,
    /// Time control as the PGN tag gives it.
    TimeControl,
    /// Date as `YYYY.MM.DD`.
    Date,
    /// Site, for Lichess the address of the game.
    Site,
    /// EPD operations, as they stood in the line.
    Operations,
    /// Moves to mate, positive where White mates, negative where Black does; 0 where the side to move is mated.
    Mate,
}

/// The largest [`Field::Score`].
pub const MOST_CENTIPAWNS: u16 = 31_000;

impl Field {
    /// All fields, in order.
    pub const ALL: [Self; 15] = [
        Self::Score,
        Self::Result,
        Self::Move,
        Self::Ply,
        Self::Game,
        Self::WhiteElo,
        Self::BlackElo,
        Self::Clock,
        Self::Eco,
        Self::Opening,
        Self::TimeControl,
        Self::Date,
        Self::Site,
        Self::Operations,
        Self::Mate,
    ];

    /// The name, as columns of outputs carry it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Result => "result",
            Self::Move => "move",
            Self::Ply => "ply",
            Self::Game => "game",
            Self::WhiteElo => "white_elo",
            Self::BlackElo => "black_elo",
            Self::Clock => "clock",
            Self::Eco => "eco",
            Self::Opening => "opening",
            Self::TimeControl => "time_control",
            Self::Date => "date",
            Self::Site => "site",
            Self::Operations => "operations",
            Self::Mate => "mate",
        }
    }

    /// A column of this field with so many missing rows.
    pub fn column(self, len: usize) -> Values {
        match self {
            Self::Score | Self::Mate => Values::I16(Column::missing(len)),
            Self::Result => Values::U8(Column::missing(len)),
            Self::Move | Self::Ply | Self::WhiteElo | Self::BlackElo => {
                Values::U16(Column::missing(len))
            }
            Self::Clock => Values::U32(Column::missing(len)),
            Self::Game => Values::U64(Column::missing(len)),
            Self::Eco
            | Self::Opening
            | Self::TimeControl
            | Self::Date
            | Self::Site
            | Self::Operations => Values::Text(Column::missing(len)),
        }
    }
}

/// A set of [`Field`]s.
///
/// ```
/// use lanefish::batch::{Field, Fields};
/// let fields: Fields = [Field::Score, Field::Result].into_iter().collect();
/// assert!(fields.contains(Field::Score) && !fields.contains(Field::Move));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Fields(u32);

impl Fields {
    /// No field.
    pub const NONE: Self = Self(0);
    /// All fields.
    pub const ALL: Self = Self((1 << Field::ALL.len()) - 1);

    /// Whether a field is among them.
    #[inline]
    pub const fn contains(self, field: Field) -> bool {
        self.0 >> (field as u8) & 1 != 0
    }
    /// These fields.
    pub const fn of(fields: &[Field]) -> Self {
        let mut set = Self::NONE;
        let mut at = 0;
        while at < fields.len() {
            set.insert(fields[at]);
            at += 1;
        }
        set
    }
    /// All but this field.
    pub const fn without(self, field: Field) -> Self {
        Self(self.0 & !(1 << (field as u8)))
    }
    /// Adds a field.
    pub const fn insert(&mut self, field: Field) {
        self.0 |= 1 << (field as u8);
    }
    /// The fields, in order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |&f| self.contains(f))
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        let mut set = Self::NONE;
        fields.into_iter().for_each(|field| set.insert(field));
        set
    }
}

/// A column in which any row may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Column<T> {
    values: Vec<T>,
    present: Vec<u64>,
}

/// One bit for each of up to 64 values, set where `is` says so.
#[inline]
pub(crate) fn column_bits<T: Copy>(values: &[T], is: impl Fn(T) -> bool) -> u64 {
    let bits = values.iter().enumerate();
    bits.fold(0, |bits, (row, &value)| bits | u64::from(is(value)) << row)
}

impl<T: Clone + Default> Column<T> {
    /// A column of so many missing rows.
    pub fn missing(len: usize) -> Self {
        Self {
            values: vec![T::default(); len],
            present: vec![0; len.div_ceil(64)],
        }
    }
    /// A column of these values, of which those are there whose bit is set; the others become the default.
    ///
    /// # Panics
    /// When there is another number of bits than that of values, filled up to 64.
    pub(crate) fn from_parts(mut values: Vec<T>, present: Vec<u64>) -> Self
    where
        T: Copy,
    {
        assert_eq!(present.len(), values.len().div_ceil(64));
        for (values, &present) in values.chunks_mut(64).zip(&present) {
            if present != !0 >> (64 - values.len()) {
                // Without a branch: which rows of games have a value is as good as random.
                for (row, value) in values.iter_mut().enumerate() {
                    let kept = [T::default(), *value];
                    *value = kept[(present >> row & 1) as usize];
                }
            }
        }
        Self { values, present }
    }
    /// As [`Self::from_parts`], of values that are the default where the bit is not set.
    pub(crate) fn from_clean_parts(values: Vec<T>, present: Vec<u64>) -> Self
    where
        T: PartialEq,
    {
        debug_assert_eq!(present.len(), values.len().div_ceil(64));
        debug_assert!(
            values
                .iter()
                .enumerate()
                .all(|(row, value)| present[row / 64] >> (row % 64) & 1 != 0
                    || *value == T::default())
        );
        Self { values, present }
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// Adds a row.
    pub fn push(&mut self, value: Option<T>) {
        let row = self.values.len();
        if row.is_multiple_of(64) {
            self.present.push(0);
        }
        self.present[row / 64] |= u64::from(value.is_some()) << (row % 64);
        self.values.push(value.unwrap_or_default());
    }
    /// Adds so many rows with the same value.
    pub fn push_many(&mut self, value: Option<T>, rows: usize) {
        let (start, end) = (self.values.len(), self.values.len() + rows);
        self.present.resize(end.div_ceil(64), 0);
        if value.is_some() && rows > 0 {
            let (first, last) = (start / 64, (end - 1) / 64);
            let from = !0 << (start % 64);
            let up_to = !0 >> (63 - (end - 1) % 64);
            for (word, present) in (first..).zip(&mut self.present[first..=last]) {
                let mut rows = !0;
                if word == first {
                    rows &= from;
                }
                if word == last {
                    rows &= up_to;
                }
                *present |= rows;
            }
        }
        self.values.resize(end, value.unwrap_or_default());
    }
    /// The value of a row, or `None` where it is missing.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&T> {
        let value = &self.values[row];
        self.is_present(row).then_some(value)
    }
    /// Whether a row has a value.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn is_present(&self, row: usize) -> bool {
        self.present[row / 64] >> (row % 64) & 1 != 0
    }
    /// All values; rows that are missing hold the default.
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// One bit a row, set where it is present.
    pub fn present(&self) -> &[u64] {
        &self.present
    }
    /// Adds rows of another column.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize>) {
        rows.for_each(|row| self.push(other.get(row).cloned()));
    }
    /// Number of these rows that are not missing.
    ///
    /// # Panics
    /// When the rows are out of range.
    pub fn count_present_in(&self, rows: Range<usize>) -> usize {
        let (first, last) = (rows.start / 64, rows.end / 64);
        let before = |row: usize| match row % 64 {
            0 => 0,
            bits => (self.present[row / 64] & ((1 << bits) - 1)).count_ones() as usize,
        };
        let words = self.present[first..last].iter();
        let whole: usize = words.map(|word| word.count_ones() as usize).sum();
        whole + before(rows.end) - before(rows.start)
    }
    /// Number of rows that are not missing.
    pub fn count_present(&self) -> usize {
        self.present
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }
}

impl Column<()> {
    /// The bits of a column in which every row has a value.
    pub(crate) fn all_present(rows: usize) -> Vec<u64> {
        let mut present = vec![!0; rows.div_ceil(64)];
        if let Some(last) = present.last_mut() {
            *last = !0 >> (63 - (rows - 1) % 64);
        }
        present
    }
}

impl Column<u64> {
    /// Adds to every value that is there.
    pub(crate) fn add(&mut self, summand: u64) {
        for (row, value) in self.values.iter_mut().enumerate() {
            if self.present[row / 64] >> (row % 64) & 1 != 0 {
                *value += summand;
            }
        }
    }
}

/// The values of one [`Field`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Values {
    /// Small unsigned numbers.
    U8(Column<u8>),
    /// Signed numbers.
    I16(Column<i16>),
    /// Unsigned numbers.
    U16(Column<u16>),
    /// Unsigned numbers.
    U32(Column<u32>),
    /// Unsigned numbers.
    U64(Column<u64>),
    /// Texts, shared: games repeat theirs on every row.
    Text(Column<Arc<str>>),
}

/// Does the same to the column of each type.
macro_rules! each_type {
    ($values:expr, $column:ident => $do:expr) => {
        match $values {
            Values::U8($column) => $do,
            Values::I16($column) => $do,
            Values::U16($column) => $do,
            Values::U32($column) => $do,
            Values::U64($column) => $do,
            Values::Text($column) => $do,
        }
    };
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        each_type!(self, column => column.len())
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Number of rows that are not missing.
    pub fn count_present(&self) -> usize {
        each_type!(self, column => column.count_present())
    }
    /// Adds a missing row.
    pub fn push_missing(&mut self) {
        each_type!(self, column => column.push(None));
    }
    /// The number in a row; `None` where it is missing or a text.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn number(&self, row: usize) -> Option<i64> {
        match self {
            Self::U8(column) => column.get(row).map(|&value| value.into()),
            Self::I16(column) => column.get(row).map(|&value| value.into()),
            Self::U16(column) => column.get(row).map(|&value| value.into()),
            Self::U32(column) => column.get(row).map(|&value| value.into()),
            Self::U64(column) => column.get(row).map(|&value| value as i64),
            Self::Text(_) => None,
        }
    }
    /// The text in a row; `None` where it is missing or a number.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn text(&self, row: usize) -> Option<&Arc<str>> {
        match self {
            Self::Text(column) => column.get(row),
            _ => None,
        }
    }
    /// Adds rows of a column of the same type.
    ///
    /// # Panics
    /// When the types differ, or a row is out of range.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize>) {
        match (self, other) {
            (Self::U8(to), Self::U8(from)) => to.extend_from(from, rows),
            (Self::I16(to), Self::I16(from)) => to.extend_from(from, rows),
            (Self::U16(to), Self::U16(from)) => to.extend_from(from, rows),
            (Self::U32(to), Self::U32(from)) => to.extend_from(from, rows),
            (Self::U64(to), Self::U64(from)) => to.extend_from(from, rows),
            (Self::Text(to), Self::Text(from)) => to.extend_from(from, rows),
            (to, from) => panic!("a column of {to:?} has no rows of {from:?}"),
        }
    }
}

/// A run of records in the order of their input.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    groups: Groups,
    len: usize,
    /// Halfmove clock of each record.
    pub halfmove: Vec<u16>,
    /// Fullmove number of each record.
    pub fullmove: Vec<u16>,
    /// Whatever else the records carry; each column has [`Batch::len`] rows.
    pub fields: BTreeMap<Field, Values>,
    /// Number of the first record, counted over all inputs from zero.
    pub first_index: u64,
    /// Distance of each record's number from [`Batch::first_index`], where records between them were left
    /// out; without it the distance is the row.
    pub ordinals: Option<Vec<u32>>,
    /// Where each record begins in the bytes that it was decoded from; a single number where all of them
    /// stand in one block.
    pub origins: Vec<u32>,
}

/// Groups that are owned or lie in a mapped file.
#[derive(Clone, Debug)]
enum Groups {
    Owned(Vec<Group>),
    Mapped(Mapped<Group>),
}

impl Default for Groups {
    fn default() -> Self {
        Self::Owned(Vec::new())
    }
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }
    /// A batch over groups in a mapped file.
    ///
    /// # Panics
    /// When `len` records need more groups than there are.
    pub(crate) fn mapped(groups: Mapped<Group>, len: usize) -> Self {
        assert!(len <= groups.len() * Group::LEN);
        Self {
            groups: Groups::Mapped(groups),
            len,
            ..Self::default()
        }
    }
    /// A batch over groups; clocks and columns are to be added.
    ///
    /// # Panics
    /// When `len` records do not need just so many groups.
    pub fn owned(groups: Vec<Group>, len: usize) -> Self {
        assert!(groups.len() == len.div_ceil(Group::LEN));
        Self {
            groups: Groups::Owned(groups),
            len,
            ..Self::default()
        }
    }
    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The boards, eight a group; lanes past [`Batch::len`] are empty boards or whatever a file holds there.
    pub fn groups(&self) -> &[Group] {
        match &self.groups {
            Groups::Owned(groups) => groups,
            Groups::Mapped(groups) => groups,
        }
    }
    /// The board of a record.
    ///
    /// # Panics
    /// When the record is out of range.
    #[inline]
    pub fn board(&self, record: usize) -> Packed {
        assert!(record < self.len);
        self.groups()[record / Group::LEN].get(record % Group::LEN)
    }
    /// The position of a record, clocks included.
    ///
    /// # Errors
    /// Where the planes are no board, see [`Packed::unpack`].
    ///
    /// # Panics
    /// When the record is out of range.
    #[inline]
    pub fn position(&self, record: usize) -> Result<Position, UnpackError> {
        self.board(record)
            .unpack(self.halfmove[record], self.fullmove[record])
    }
    /// The number of a record, counted over all inputs from zero.
    #[inline]
    pub fn index(&self, record: usize) -> u64 {
        let distance = match &self.ordinals {
            Some(ordinals) => ordinals[record] as usize,
            None => record,
        };
        self.first_index + distance as u64
    }
    /// Where a record begins in the bytes that it was decoded from.
    ///
    /// # Panics
    /// When the record is out of range.
    pub fn origin(&self, record: usize) -> usize {
        match self.origins[..] {
            [] => 0,
            [all] => all as usize,
            _ => self.origins[record] as usize,
        }
    }
    /// The values of a field, where the records have it.
    #[inline]
    pub fn values(&self, field: Field) -> Option<&Values> {
        self.fields.get(&field)
    }
    /// A batch of these rows only, which keep their numbers.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn select(&self, rows: &[u32]) -> Self {
        let mut selected = Self {
            first_index: self.first_index,
            ..Self::default()
        };
        let rows = || rows.iter().map(|&row| row as usize);
        for row in rows() {
            selected.push(self.board(row), self.halfmove[row], self.fullmove[row]);
        }
        selected.ordinals = Some(
            rows()
                .map(|row| self.ordinals.as_ref().map_or(row as u32, |all| all[row]))
                .collect(),
        );
        selected.origins = if self.origins.len() == self.len {
            rows().map(|row| self.origins[row]).collect()
        } else {
            self.origins.clone()
        };
        for (&field, values) in &self.fields {
            let mut column = field.column(0);
            column.extend_from(values, rows());
            selected.fields.insert(field, column);
        }
        selected
    }
    /// Adds records of another batch with all their columns; numbers and origins are left behind.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize> + Clone) {
        let before = self.len;
        for (&field, values) in &other.fields {
            self.fields
                .entry(field)
                .or_insert_with(|| field.column(before))
                .extend_from(values, rows.clone());
        }
        for (field, values) in &mut self.fields {
            if !other.fields.contains_key(field) {
                rows.clone().for_each(|_| values.push_missing());
            }
        }
        for row in rows {
            self.push(other.board(row), other.halfmove[row], other.fullmove[row]);
        }
    }
    /// Adds a record. Columns of [`Batch::fields`] are the caller's to keep in step.
    #[inline]
    pub fn push(&mut self, board: Packed, halfmove: u16, fullmove: u16) {
        let lane = self.len % Group::LEN;
        if let Groups::Mapped(groups) = &self.groups {
            self.groups = Groups::Owned(groups.to_vec());
        }
        let Groups::Owned(groups) = &mut self.groups else {
            unreachable!("made owned above")
        };
        if lane == 0 {
            groups.push(Group::default());
        }
        let last = groups.len() - 1;
        groups[last].set(lane, board);
        self.halfmove.push(halfmove);
        self.fullmove.push(fullmove);
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_equal_rows_are_like_one_after_the_other() {
        for before in [0, 1, 63, 64, 65] {
            for rows in [0, 1, 2, 62, 63, 64, 65, 128, 200] {
                for value in [None, Some(7)] {
                    let mut one_by_one = Column::<u8>::missing(before);
                    let mut at_once = one_by_one.clone();
                    (0..rows).for_each(|_| one_by_one.push(value));
                    at_once.push_many(value, rows);
                    assert_eq!(at_once, one_by_one, "{rows} rows after {before}");
                    one_by_one.push(Some(1));
                    at_once.push(Some(1));
                    assert_eq!(at_once, one_by_one);
                }
            }
        }
    }

    #[test]
    fn ranges_count_like_rows() {
        let mut column = Column::<u16>::default();
        (0..200u16).for_each(|row| column.push((row % 3 != 0).then_some(row)));
        for start in [0, 1, 63, 64, 65, 128, 199, 200] {
            for end in [start, 63, 64, 127, 128, 129, 200].map(|end| end.max(start)) {
                let rows = (start..end).filter(|&row| column.is_present(row));
                assert_eq!(column.count_present_in(start..end), rows.count());
            }
        }
    }

    #[test]
    fn values_that_are_not_there_are_the_default() {
        let present = vec![0x8000_0000_0000_0005, 2];
        let column = Column::from_parts((1..=66u16).collect(), present.clone());
        for row in 0..66 {
            let is_there = present[row / 64] >> (row % 64) & 1 != 0;
            assert_eq!(column.get(row).copied(), is_there.then_some(row as u16 + 1));
            assert_eq!(column.values()[row] != 0, is_there);
        }
    }
}
