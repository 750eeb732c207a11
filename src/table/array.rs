//! Columns as arrays.
//!
//! There is one family of types for what records carry and for what is computed: flags, integers, texts. Texts
//! that repeat, as those of a game do on each of its rows, are a dictionary ([`Texts`]); those that hardly do,
//! as FEN, stand one after the other ([`TextBuffer`]). The layout is Arrow's.

use super::list_array::Lists;
use super::text_buffer::TextBuffer;
use super::text_list::TextList;
use super::values::{Values, count_present_in};
use crate::packed::Packed;
use std::ops::Range;

/// Texts that repeat: a dictionary and a code for each row.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    codes: Values<u32>,
    words: TextList,
}

impl Texts {
    /// `len` missing rows.
    pub fn missing(len: usize) -> Self {
        Self { codes: Values::missing(len), words: TextList::default() }
    }
    /// A dictionary and codes of it.
    ///
    /// # Panics
    /// When there is a code without a word.
    pub(crate) fn from_parts(codes: Values<u32>, words: TextList) -> Self {
        let most = codes.values().iter().max();
        assert!(most.is_none_or(|&most| (most as usize) < words.len() || codes.count_present() == 0));
        Self { codes, words }
    }
    /// A bit for each row that has a text for which something holds; it is asked once for each text of the dictionary.
    pub(crate) fn rows_where(&self, is: impl Fn(&str) -> bool) -> Vec<u64> {
        let words: Vec<bool> = self.words.iter().map(is).collect();
        // A missing row has the code 0, also where there are no words.
        let is = |code: u32| words.get(code as usize).copied().unwrap_or_default();
        let codes = self.codes.values().chunks(64).zip(self.codes.present());
        codes.map(|(codes, present)| super::values::bits_where(codes, is) & present).collect()
    }
    /// The code of each row; 0 where it is missing.
    pub fn codes(&self) -> &Values<u32> {
        &self.codes
    }
    /// The dictionary. A text may stand in it more than once.
    pub const fn words(&self) -> &TextList {
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
    fn code(&mut self, text: &str) -> u32 {
        if self.words.last() != Some(text) {
            self.words.push(text);
        }
        (self.words.len() - 1) as u32
    }
    /// Makes room for further rows.
    fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
    }
    /// Adds a row.
    pub fn push(&mut self, text: Option<&str>) {
        self.push_many(text, 1);
    }
    /// Number of these rows that are not missing.
    ///
    /// # Panics
    /// When the rows are out of range.
    pub fn count_present_in(&self, rows: Range<usize>) -> usize {
        self.codes.count_present_in(rows)
    }
    /// Adds `rows` rows with the same text.
    pub fn push_many(&mut self, text: Option<&str>, rows: usize) {
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
    pub fn get(&self, row: usize) -> Option<&str> {
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
            some.push_many(first.map(|code| &self.words[code as usize]), end - start);
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
                    let ours = self.code(&other.words[code as usize]);
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
    TextBuffer(TextBuffer),
    /// Boards: in tables of whole records, and nowhere else.
    Boards(Values<Packed>),
    /// Lists.
    Lists(Lists),
}

/// A type of numbers that columns have: [`Batch::column`](super::Batch::column).
pub trait Number: sealed::Number {}
impl<T: sealed::Number> Number for T {}

mod sealed {
    use super::{Array, Values};
    pub trait Number: Sized {
        fn column(array: &Array) -> Option<&Values<Self>>;
    }
    macro_rules! numbers {
        ($($type:ty: $variant:ident,)*) => {$(
            impl Number for $type {
                fn column(array: &Array) -> Option<&Values<Self>> {
                    match array {
                        Array::$variant(column) => Some(column),
                        _ => None,
                    }
                }
            }
        )*};
    }
    numbers! { u8: U8, i16: I16, u16: U16, u32: U32, u64: U64, }
}

impl Array {
    /// Sets the number of a row to the one with these bits, the lowest of which are taken.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub(crate) fn set_bits(&mut self, row: usize, bits: u64) {
        match self {
            Self::Flag(values) => values.set(row, bits != 0),
            Self::U8(values) => values.set(row, bits as u8),
            Self::U16(values) => values.set(row, bits as u16),
            Self::I16(values) => values.set(row, bits as i16),
            Self::U32(values) => values.set(row, bits as u32),
            Self::U64(values) => values.set(row, bits),
            Self::Text(_) | Self::TextBuffer(_) | Self::Boards(_) | Self::Lists(_) => {}
        }
    }
    /// The numbers, if they are of this type.
    pub fn numbers<T: Number>(&self) -> Option<&Values<T>> {
        T::column(self)
    }
    /// The texts, if they are texts that repeat.
    pub fn texts(&self) -> Option<&Texts> {
        match self {
            Self::Text(texts) => Some(texts),
            _ => None,
        }
    }
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
            Array::TextBuffer($column) => $do,
            Array::Boards($column) => $do,
            Array::Lists($column) => $do,
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
            (Array::TextBuffer($to_column), Array::TextBuffer($from_column)) => $do,
            (Array::Boards($to_column), Array::Boards($from_column)) => $do,
            (Array::Lists($to_column), Array::Lists($from_column)) => $do,
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
            Self::U32(_) | Self::TextBuffer(_) | Self::Lists(_) => 4,
            Self::U64(_) => 8,
            // A code, and the place of a word.
            Self::Text(_) => 4 + size_of::<usize>(),
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
            Self::Lists(column) => Self::Lists(column.rows(rows)),
            Self::Text(column) => Self::Text(column.rows(rows)),
            Self::TextBuffer(column) => {
                let mut some = TextBuffer::default();
                some.extend_from(column, rows);
                Self::TextBuffer(some)
            }
        }
    }
    /// Makes room for further rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        each_type!(self, column => column.reserve(rows));
    }
    /// Adds a missing row.
    pub fn push_missing(&mut self) {
        match self {
            Self::U8(column) => column.push(None),
            Self::I16(column) => column.push(None),
            Self::U16(column) => column.push(None),
            Self::U32(column) => column.push(None),
            Self::U64(column) => column.push(None),
            Self::Flag(column) => column.push(None),
            Self::Text(column) => column.push(None),
            Self::TextBuffer(column) => column.push(None),
            Self::Boards(column) => column.push(None),
            Self::Lists(column) => column.push_missing(),
        }
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
            Self::Text(_) | Self::TextBuffer(_) | Self::Boards(_) | Self::Lists(_) => None,
        }
    }
    /// The text in a row; `None` where it is missing or not text.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Self::Text(column) => column.get(row),
            Self::TextBuffer(column) => column.get(row),
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

    #[test]
    fn texts_are_those_that_were_pushed() {
        let words = [Some("a"), Some("a"), None, Some(""), Some("b"), Some("a"), None];
        let mut texts = Texts::default();
        let mut plain = TextBuffer::default();
        for word in words {
            texts.push(word);
            plain.push(word);
        }
        texts.push_many(Some("c"), 100);
        (0..100).for_each(|_| plain.push(Some("c")));
        texts.push_many(None, 0);
        assert_eq!((texts.len(), plain.len()), (107, 107));
        assert_eq!(texts.count_present(), 105);
        assert_eq!(plain.count_present(), 105);
        assert_eq!(texts.words().len(), 5, "neighbours share a word");
        for row in 0..107 {
            let expected = words.get(row).copied().unwrap_or(Some("c"));
            assert_eq!(texts.get(row), expected);
            assert_eq!(plain.get(row), expected);
        }
        let rows = [106, 0, 2, 1, 4, 0, 3];
        let mut some = Texts::missing(1);
        some.extend_from(&texts, rows.into_iter());
        let mut others = TextBuffer::default();
        others.push(None);
        others.extend_from(&plain, rows.into_iter());
        for (at, row) in (1..).zip(rows) {
            assert_eq!(some.get(at), texts.get(row));
            assert_eq!(others.get(at), plain.get(row));
        }
        assert_eq!((some.get(0), others.get(0)), (None, None));
        assert_ne!(some, texts);
    }
}
