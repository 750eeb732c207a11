//! Columns as arrays: values of one type with a validity bit for each row.
//!
//! There is one family of types for what records carry and for what is computed: flags, integers, texts. Texts
//! that repeat, as those of a game do on each of its rows, are a dictionary ([`Texts`]); those that hardly do,
//! as FEN, stand one after the other ([`Strings`]). The layout is Arrow's.

use super::strings::Strings;
use crate::packed::Packed;
use std::ops::{Mul, Range};
use std::sync::Arc;

/// Values of one type, any of which may be missing: a validity bit for each row, as in Arrow.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Values<T> {
    values: Vec<T>,
    present: Vec<u64>,
}

/// One bit for each of up to 64 values, set where `is` says so.
#[inline]
pub(crate) fn bits_where<T: Copy>(values: &[T], is: impl Fn(T) -> bool) -> u64 {
    match values.as_array::<64>() {
        // Bytes first, which is done for many values at once.
        Some(values) => {
            let flags = values.map(|value| u8::from(is(value)));
            let (eights, _) = flags.as_chunks::<8>();
            let packed = eights.iter().enumerate();
            packed.fold(0, |bits, (place, &eight)| bits | gather_bits(u64::from_le_bytes(eight)) << (8 * place))
        }
        None => {
            let bits = values.iter().enumerate();
            bits.fold(0, |bits, (row, &value)| bits | u64::from(is(value)) << row)
        }
    }
}

/// Eight bytes of 0 or 1 to eight bits, the lowest byte to the lowest bit.
#[inline(always)]
fn gather_bits(bytes: u64) -> u64 {
    // The bit of byte i is added to bit 56 + i; no two products share a place.
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Eight bits to eight bytes of 0 or 1, the lowest bit to the lowest byte.
#[inline(always)]
pub(crate) fn spread_bits(bits: u8) -> u64 {
    // Bit i of the copy in byte i is kept; adding 0x7F carries it into the byte's highest bit.
    let one_each = (u64::from(bits) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    (one_each + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & 0x0101_0101_0101_0101
}

/// Number of bits that are set, of these.
fn count_present_in(present: &[u64], rows: Range<usize>) -> usize {
    let (first, last) = (rows.start / 64, rows.end / 64);
    let before = |row: usize| match row % 64 {
        0 => 0,
        bits => (present[row / 64] & ((1 << bits) - 1)).count_ones() as usize,
    };
    let words = present[first..last].iter();
    let whole: usize = words.map(|word| word.count_ones() as usize).sum();
    whole + before(rows.end) - before(rows.start)
}

impl<T: Clone + Default> Values<T> {
    /// `len` missing rows.
    pub fn missing(len: usize) -> Self {
        Self { values: vec![T::default(); len], present: vec![0; len.div_ceil(64)] }
    }
    /// A column of these values, of which those are there whose bit is set; the others become the default.
    ///
    /// # Panics
    /// When there is another number of bits than that of values, filled up to 64.
    pub(crate) fn from_parts(mut values: Vec<T>, present: Vec<u64>) -> Self
    where
        T: Copy + From<u8> + Mul<Output = T>,
    {
        assert_eq!(present.len(), values.len().div_ceil(64));
        for (values, &present) in values.chunks_mut(64).zip(&present) {
            if present != !0 >> (64 - values.len()) {
                // Without a branch, eight at a time: which rows of games have a value is as good as random.
                for (values, present) in values.chunks_mut(8).zip(present.to_le_bytes()) {
                    let factors = spread_bits(present).to_le_bytes();
                    for (value, factor) in values.iter_mut().zip(factors) {
                        *value = *value * T::from(factor);
                    }
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
                .all(|(row, value)| present[row / 64] >> (row % 64) & 1 != 0 || *value == T::default())
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
        let is_present = value.is_some();
        self.push_with(value.unwrap_or_default(), is_present);
    }
    /// Adds a row with a value that stays where it does not count.
    pub(super) fn push_with(&mut self, value: T, is_present: bool) {
        let row = self.values.len();
        if row.is_multiple_of(64) {
            self.present.push(0);
        }
        self.present[row / 64] |= u64::from(is_present) << (row % 64);
        self.values.push(value);
    }
    /// Adds `rows` rows with the same value.
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
    /// All values; rows that are missing hold the default.
    pub fn into_values(self) -> Vec<T> {
        self.values
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
        // The bits of a word are collected before it is stored.
        let mut word = match self.values.len() % 64 {
            0 => 0,
            _ => self.present.pop().unwrap_or_default(),
        };
        self.values.reserve(rows.size_hint().0);
        for row in rows {
            let at = self.values.len() % 64;
            let is_present = other.is_present(row);
            word |= u64::from(is_present) << at;
            self.values.push(if is_present { other.values[row].clone() } else { T::default() });
            if at == 63 {
                self.present.push(std::mem::take(&mut word));
            }
        }
        if !self.values.len().is_multiple_of(64) {
            self.present.push(word);
        }
    }
    /// Some of the rows, from a multiple of 64 on.
    ///
    /// # Panics
    /// When the rows are out of range, or begin elsewhere.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Self {
        assert!(rows.start.is_multiple_of(64));
        let mut present = self.present[rows.start / 64..rows.end.div_ceil(64)].to_vec();
        if let (Some(last), 1..) = (present.last_mut(), rows.end % 64) {
            *last &= !0 >> (64 - rows.end % 64);
        }
        let values = self.values[rows].to_vec();
        Self { values, present }
    }
    /// Number of these rows that are not missing.
    ///
    /// # Panics
    /// When the rows are out of range.
    pub fn count_present_in(&self, rows: Range<usize>) -> usize {
        count_present_in(&self.present, rows)
    }
    /// Number of rows that are not missing.
    pub fn count_present(&self) -> usize {
        self.present.iter().map(|word| word.count_ones() as usize).sum()
    }
}

#[cfg(feature = "parquet")]
impl<T: Copy> Values<T> {
    /// Other values in the same rows; `to` also sees those that do not count.
    pub(crate) fn map<U>(&self, to: impl Fn(T) -> U) -> Values<U> {
        Values { values: self.values.iter().map(|&value| to(value)).collect(), present: self.present.clone() }
    }
}

impl<T> From<Vec<T>> for Values<T> {
    /// All of them are there.
    fn from(values: Vec<T>) -> Self {
        let present = Values::<()>::all_present(values.len());
        Self { values, present }
    }
}

impl<T> FromIterator<T> for Values<T> {
    /// All of them are there.
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl Values<()> {
    /// The bits of a column in which every row has a value.
    pub(crate) fn all_present(rows: usize) -> Vec<u64> {
        let mut present = vec![!0; rows.div_ceil(64)];
        if let Some(last) = present.last_mut() {
            *last = !0 >> (63 - (rows - 1) % 64);
        }
        present
    }
}

impl Values<u64> {
    /// Adds to every value that is there.
    pub(crate) fn add(&mut self, summand: u64) {
        if summand == 0 {
            return;
        }
        for (row, value) in self.values.iter_mut().enumerate() {
            if self.present[row / 64] >> (row % 64) & 1 != 0 {
                *value = value.saturating_add(summand);
            }
        }
    }
}

/// Texts that repeat: a dictionary and a code for each row.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    codes: Values<u32>,
    words: Vec<Arc<str>>,
}

impl Texts {
    /// `len` missing rows.
    pub fn missing(len: usize) -> Self {
        Self { codes: Values::missing(len), words: Vec::new() }
    }
    /// A dictionary and codes of it.
    ///
    /// # Panics
    /// When there is a code without a word.
    pub(crate) fn from_parts(codes: Values<u32>, words: Vec<Arc<str>>) -> Self {
        let most = codes.values().iter().max();
        assert!(most.is_none_or(|&most| (most as usize) < words.len() || codes.count_present() == 0));
        Self { codes, words }
    }
    /// The code of each row; 0 where it is missing.
    pub fn codes(&self) -> &Values<u32> {
        &self.codes
    }
    /// The dictionary. A text may stand in it more than once.
    pub fn words(&self) -> &[Arc<str>] {
        &self.words
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
    /// The code of a text; one that is not the last of the dictionary is added.
    fn code(&mut self, text: Arc<str>) -> u32 {
        let is_last = |last: &Arc<str>| Arc::ptr_eq(last, &text) || *last == text;
        if !self.words.last().is_some_and(is_last) {
            self.words.push(text);
        }
        (self.words.len() - 1) as u32
    }
    /// Adds a row.
    pub fn push(&mut self, text: Option<Arc<str>>) {
        self.push_many(text, 1);
    }
    /// Number of these rows that are not missing.
    ///
    /// # Panics
    /// When the rows are out of range.
    pub fn count_present_in(&self, rows: Range<usize>) -> usize {
        self.codes.count_present_in(rows)
    }
    /// Adds rows with the text of the row before, if that is the case: if the last word of the dictionary is
    /// this one. Says whether it is.
    pub(crate) fn repeat(&mut self, text: &[u8], rows: usize) -> bool {
        let is_last = self.words.last().is_some_and(|word| word.as_bytes() == text);
        if is_last {
            let code = (self.words.len() - 1) as u32;
            self.codes.push_many(Some(code), rows);
        }
        is_last
    }
    /// Adds `rows` rows with the same text.
    pub fn push_many(&mut self, text: Option<Arc<str>>, rows: usize) {
        if rows > 0 {
            let code = text.map(|text| self.code(text));
            self.codes.push_many(code, rows);
        }
    }
    /// The text of a row, or `None` where it is missing.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&Arc<str>> {
        self.codes.get(row).map(|&code| &self.words[code as usize])
    }
    /// Number of rows that are not missing.
    pub fn count_present(&self) -> usize {
        self.codes.count_present()
    }
    /// One bit a row, set where it is present.
    pub fn present(&self) -> &[u64] {
        self.codes.present()
    }
    /// Some of the rows, and only their words.
    ///
    /// # Panics
    /// When the rows are out of range.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Self {
        let mut some = Self::default();
        let code = |row| self.codes.get(row).copied();
        let mut start = rows.start;
        while start < rows.end {
            // The rows of a game have the same text.
            let first = code(start);
            let others = (start + 1..rows.end).take_while(|&row| code(row) == first);
            let end = start + 1 + others.count();
            let text = first.map(|code| Arc::clone(&self.words[code as usize]));
            some.push_many(text, end - start);
            start = end;
        }
        some
    }
    /// Adds rows of another column.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize>) {
        let mut known: Option<(u32, u32)> = None;
        for row in rows {
            let code = other.codes.get(row).map(|&code| match known {
                Some((theirs, ours)) if theirs == code => ours,
                _ => {
                    let ours = self.code(Arc::clone(&other.words[code as usize]));
                    known = Some((code, ours));
                    ours
                }
            });
            self.codes.push(code);
        }
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|row| self.get(row) == other.get(row))
    }
}

impl Eq for Texts {}

/// A column of any type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Array {
    /// Yes or no.
    Flag(Values<bool>),
    /// Small unsigned numbers.
    U8(Values<u8>),
    /// Signed numbers.
    I16(Values<i16>),
    /// Unsigned numbers.
    U16(Values<u16>),
    /// Unsigned numbers.
    U32(Values<u32>),
    /// Unsigned numbers.
    U64(Values<u64>),
    /// Texts that repeat.
    Text(Texts),
    /// Texts that hardly repeat.
    Strings(Strings),
    /// Boards: in tables of whole records, and nowhere else.
    Boards(Values<Packed>),
}

/// Does the same to the column of each type.
macro_rules! each_type {
    ($array:expr, $column:ident => $do:expr) => {
        match $array {
            Array::U8($column) => $do,
            Array::I16($column) => $do,
            Array::U16($column) => $do,
            Array::U32($column) => $do,
            Array::U64($column) => $do,
            Array::Flag($column) => $do,
            Array::Text($column) => $do,
            Array::Strings($column) => $do,
            Array::Boards($column) => $do,
        }
    };
}

/// Does the same to two columns of the same type; panics if their types differ.
macro_rules! same_type {
    ($to:expr, $from:expr, ($to_column:ident, $from_column:ident) => $do:expr) => {
        match ($to, $from) {
            (Array::U8($to_column), Array::U8($from_column)) => $do,
            (Array::I16($to_column), Array::I16($from_column)) => $do,
            (Array::U16($to_column), Array::U16($from_column)) => $do,
            (Array::U32($to_column), Array::U32($from_column)) => $do,
            (Array::U64($to_column), Array::U64($from_column)) => $do,
            (Array::Flag($to_column), Array::Flag($from_column)) => $do,
            (Array::Text($to_column), Array::Text($from_column)) => $do,
            (Array::Strings($to_column), Array::Strings($from_column)) => $do,
            (Array::Boards($to_column), Array::Boards($from_column)) => $do,
            (to, from) => panic!("a column of {to:?} has no rows of {from:?}"),
        }
    };
}

// After the macros, which it uses.
#[cfg(feature = "parquet")]
mod append;

impl Array {
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
    /// Bytes of a row, without those of a text.
    pub(crate) fn row_len(&self) -> usize {
        match self {
            Self::Flag(_) | Self::U8(_) => 1,
            Self::I16(_) | Self::U16(_) => 2,
            Self::U32(_) | Self::Strings(_) => 4,
            Self::U64(_) => 8,
            // A code, and the place of a word.
            Self::Text(_) => 4 + size_of::<Arc<str>>(),
            Self::Boards(_) => size_of::<Packed>(),
        }
    }
    /// One bit a row, set where it is present.
    pub fn present(&self) -> &[u64] {
        each_type!(self, column => column.present())
    }
    /// Number of these rows that are not missing.
    ///
    /// # Panics
    /// When the rows are out of range.
    pub fn count_present_in(&self, rows: Range<usize>) -> usize {
        count_present_in(self.present(), rows)
    }
    /// Whether a row has a value.
    ///
    /// # Panics
    /// When the row is out of range.
    pub fn is_present(&self, row: usize) -> bool {
        self.present()[row / 64] >> (row % 64) & 1 != 0
    }
    /// Some of the rows, from a multiple of 64 on.
    ///
    /// # Panics
    /// When the rows are out of range, or begin elsewhere.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Self {
        match self {
            Self::U8(column) => Self::U8(column.rows(rows)),
            Self::I16(column) => Self::I16(column.rows(rows)),
            Self::U16(column) => Self::U16(column.rows(rows)),
            Self::U32(column) => Self::U32(column.rows(rows)),
            Self::U64(column) => Self::U64(column.rows(rows)),
            Self::Flag(column) => Self::Flag(column.rows(rows)),
            Self::Boards(column) => Self::Boards(column.rows(rows)),
            Self::Text(column) => Self::Text(column.rows(rows)),
            Self::Strings(column) => {
                let mut some = Strings::default();
                some.extend_from(column, rows);
                Self::Strings(some)
            }
        }
    }
    /// Adds a missing row.
    pub fn push_missing(&mut self) {
        each_type!(self, column => column.push(None));
    }
    /// The number in a row; `None` where it is missing or not a number.
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
            Self::Flag(column) => column.get(row).map(|&value| value.into()),
            Self::Text(_) | Self::Strings(_) | Self::Boards(_) => None,
        }
    }
    /// The text in a row; `None` where it is missing or not text.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Self::Text(column) => column.get(row).map(|text| &**text),
            Self::Strings(column) => column.get(row),
            _ => None,
        }
    }
    /// Adds rows of a column of the same type.
    ///
    /// # Panics
    /// When the types differ, or a row is out of range.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize>) {
        same_type!(self, other, (to, from) => to.extend_from(from, rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::{collection, option};

    #[test]
    fn spreading() {
        for bits in 0..=255u8 {
            let bytes = spread_bits(bits).to_le_bytes();
            for (i, byte) in bytes.into_iter().enumerate() {
                assert_eq!(byte, bits >> i & 1, "{bits:08b} bit {i}");
            }
        }
    }

    #[test]
    fn many_equal_rows_are_like_one_after_the_other() {
        for before in [0, 1, 63, 64, 65] {
            for rows in [0, 1, 2, 62, 63, 64, 65, 128, 200] {
                for value in [None, Some(7)] {
                    let mut one_by_one = Values::<u8>::missing(before);
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

    proptest! {
        #[test]
        fn rows_of_other_columns_are_added_like_one_after_the_other(
            before in collection::vec(option::of(any::<u16>()), 0..200),
            other in collection::vec(option::of(any::<u16>()), 1..200),
            rows in collection::vec(any::<prop::sample::Index>(), 0..300),
            stale in any::<u16>(),
        ) {
            let mut from = Values::default();
            // Values that do not count may be anything.
            other.iter().for_each(|value| from.push_with(value.unwrap_or(stale), value.is_some()));
            let mut column: Values<u16> = Values::default();
            before.iter().for_each(|&value| column.push(value));
            let mut expected = column.clone();
            let rows: Vec<usize> = rows.iter().map(|row| row.index(other.len())).collect();
            rows.iter().for_each(|&row| expected.push(other[row]));
            column.extend_from(&from, rows.into_iter());
            prop_assert_eq!(column, expected);
        }
    }

    #[test]
    fn ranges_count_like_rows() {
        let mut column = Values::<u16>::default();
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
        let column = Values::from_parts((1..=66u16).collect(), present.clone());
        for row in 0..66 {
            let is_there = present[row / 64] >> (row % 64) & 1 != 0;
            assert_eq!(column.get(row).copied(), is_there.then_some(row as u16 + 1));
            assert_eq!(column.values()[row] != 0, is_there);
        }
    }

    #[test]
    fn texts_are_those_that_were_pushed() {
        let words = [Some("a"), Some("a"), None, Some(""), Some("b"), Some("a"), None];
        let mut texts = Texts::default();
        let mut plain = Strings::default();
        for word in words {
            texts.push(word.map(Arc::from));
            plain.push(word);
        }
        texts.push_many(Some("c".into()), 100);
        (0..100).for_each(|_| plain.push(Some("c")));
        texts.push_many(None, 0);
        assert_eq!((texts.len(), plain.len()), (107, 107));
        assert_eq!(texts.count_present(), 105);
        assert_eq!(plain.count_present(), 105);
        assert_eq!(texts.words().len(), 5, "neighbours share a word");
        for row in 0..107 {
            let expected = words.get(row).copied().unwrap_or(Some("c"));
            assert_eq!(texts.get(row).map(|text| &**text), expected);
            assert_eq!(plain.get(row), expected);
        }
        let rows = [106, 0, 2, 1, 4, 0, 3];
        let mut some = Texts::missing(1);
        some.extend_from(&texts, rows.into_iter());
        let mut others = Strings::default();
        others.push(None);
        others.extend_from(&plain, rows.into_iter());
        for (at, row) in (1..).zip(rows) {
            assert_eq!(some.get(at), texts.get(row));
            assert_eq!(others.get(at), plain.get(row));
        }
        assert_eq!((some.get(0), others.get(0)), (None, None));
        assert_ne!(some, texts);
    }

    #[test]
    fn all_collected_values_are_there() {
        for len in [0, 1, 63, 64, 65] {
            let values: Values<usize> = (0..len).collect();
            assert_eq!((values.len(), values.count_present()), (len, len));
        }
    }
}
