//! Values of one type with a validity bit for each row, which all columns are made of.

use std::ops::{Mul, Range};

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
pub(super) fn count_present_in(present: &[u64], rows: Range<usize>) -> usize {
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
    /// Makes room for further rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.values.reserve(rows);
        self.present.reserve(rows.div_ceil(64));
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
    /// Sets the value of a row.
    ///
    /// # Panics
    /// When the row is out of range.
    pub(crate) fn set(&mut self, row: usize, value: T) {
        self.values[row] = value;
        self.present[row / 64] |= 1 << (row % 64);
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
        for (values, &present) in self.values.chunks_mut(64).zip(&self.present) {
            let highest = values.iter().fold(summand, |bits, &value| bits | value) >> 63;
            if highest == 0 && present == !0 >> (64 - values.len()) {
                // No sum overflows, and a vector adds several.
                values.iter_mut().for_each(|value| *value += summand);
                continue;
            }
            for (row, value) in values.iter_mut().enumerate() {
                if present >> row & 1 != 0 {
                    *value = value.saturating_add(summand);
                }
            }
        }
    }
    /// The largest value.
    ///
    /// Game numbers repeat for many rows. Eight rows with the number of the row before, which is the usual case, take
    /// a few operations on vectors, while every CPU but those with AVX-512 takes many for the maximum of 64-bit values.
    pub(crate) fn largest(&self) -> Option<u64> {
        let (eights, rest) = self.values.as_chunks::<8>();
        let mut largest = *self.values.first()?;
        for eight in eights {
            if eight.iter().fold(0, |differences, &value| differences | value ^ largest) != 0 {
                largest = eight.iter().fold(largest, |largest, &value| largest.max(value));
            }
        }
        rest.iter().copied().chain([largest]).max()
    }
}

/// Adds some of the bits of another column to the bits of `len` rows.
fn append_bits(bits: &mut Vec<u64>, len: usize, others: &[u64], rows: Range<usize>) {
    let end = len + rows.len();
    bits.resize(end.div_ceil(64), 0);
    let (mut to, mut from) = (len, rows.start);
    while to < end {
        let shift = from % 64;
        let mut word = others[from / 64] >> shift;
        if shift > 0 && from / 64 + 1 < others.len() {
            word |= others[from / 64 + 1] << (64 - shift);
        }
        let free = (64 - to % 64).min(end - to);
        if free < 64 {
            word &= (1 << free) - 1;
        }
        bits[to / 64] |= word << (to % 64);
        to += free;
        from += free;
    }
}

impl<T: Clone + Default> Values<T> {
    /// All values, to be changed.
    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
    /// Adds a run of rows of another column.
    ///
    /// # Panics
    /// When the rows are out of range.
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>) {
        append_bits(&mut self.present, self.values.len(), &other.present, rows.clone());
        self.values.extend_from_slice(&other.values[rows]);
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
    fn the_largest_value_may_be_anywhere() {
        for len in 0..20u64 {
            for place in 0..len {
                for value in [0, 1, 5, u64::MAX] {
                    let values: Vec<u64> = (0..len).map(|row| if row == place { value } else { 1 }).collect();
                    let expected = values.iter().max().copied();
                    assert_eq!(values.into_iter().collect::<Values<u64>>().largest(), expected);
                }
            }
        }
        assert_eq!(Values::<u64>::default().largest(), None);
    }

    #[test]
    fn sums_end_at_the_largest_number() {
        for (missing, large, summand) in
            [(None, None, 7), (Some(70), None, 7), (None, Some(3), 7), (None, None, u64::MAX)]
        {
            for len in [1, 63, 64, 65, 130u64] {
                let value = |row| match row {
                    _ if missing == Some(row) => None,
                    _ if large == Some(row) => Some(u64::MAX - 2),
                    _ => Some(row * row),
                };
                let (mut column, mut expected) = (Values::default(), Values::default());
                for row in 0..len {
                    column.push(value(row));
                    expected.push(value(row).map(|value: u64| value.saturating_add(summand)));
                }
                column.add(summand);
                assert_eq!(column, expected);
            }
        }
    }

    #[test]
    fn all_collected_values_are_there() {
        for len in [0, 1, 63, 64, 65] {
            let values: Values<usize> = (0..len).collect();
            assert_eq!((values.len(), values.count_present()), (len, len));
        }
    }
}
