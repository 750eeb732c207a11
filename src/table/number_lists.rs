//! Columns of lists of small whole numbers, for tables.

use super::values::Values;
use std::ops::Range;

/// Lists of whole numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberLists {
    numbers: Vec<i32>,
    /// The end of each row's list.
    ends: Values<u32>,
}

impl NumberLists {
    /// Adds a row.
    ///
    /// # Panics
    /// When there are more than 2^32 - 1 numbers.
    pub fn push(&mut self, list: Option<&[i32]>) {
        self.numbers.extend_from_slice(list.unwrap_or_default());
        let end = u32::try_from(self.numbers.len()).expect("less than 2^32 numbers");
        self.ends.push_with(end, list.is_some());
    }
    /// The list of a row; `None` where it is missing.
    ///
    /// # Panics
    /// When the row is out of range.
    pub fn get(&self, row: usize) -> Option<&[i32]> {
        let ends = self.ends.values();
        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
        self.ends.is_present(row).then(|| &self.numbers[start as usize..ends[row] as usize])
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// Number of rows that are not missing.
    pub fn count_present(&self) -> usize {
        self.ends.count_present()
    }
    /// One bit a row, set where it is present.
    pub fn present(&self) -> &[u64] {
        self.ends.present()
    }
    /// Makes room for further rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.ends.reserve(rows);
    }
    /// Adds a run of rows of another column.
    ///
    /// # Panics
    /// When the rows are out of range.
    #[cfg(feature = "parquet")]
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>) {
        self.extend_from(other, rows);
    }
    /// Adds rows of another column.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize>) {
        rows.for_each(|row| self.push(other.get(row)));
    }
    /// Some of the rows.
    ///
    /// # Panics
    /// When they are out of range.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Self {
        let mut some = Self::default();
        some.extend_from(self, rows);
        some
    }
}
