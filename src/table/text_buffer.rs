//! Columns of computed texts.

use super::values::Values;

/// Computed texts that hardly repeat, such as FENs and moves, one after the other: printable ASCII without quotes,
/// commas or backslashes, so that CSV and JSON take them as they are. Only tables of games have [any
/// bytes](Self::push_bytes).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TextBuffer {
    bytes: Vec<u8>,
    /// The end of each text.
    ends: Values<u32>,
}

impl TextBuffer {
    /// Room for rows of about `bytes` bytes each.
    pub fn with_capacity(rows: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(rows * bytes), ends: Values::default() }
    }
    /// Texts one after the other, and where each ends.
    pub(crate) fn from_parts(bytes: Vec<u8>, ends: Values<u32>) -> Self {
        debug_assert!(ends.values().is_sorted());
        Self { bytes, ends }
    }
    /// Makes room for further rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.ends.reserve(rows);
    }
    /// Adds a row.
    ///
    /// # Panics
    /// When all of the texts together are longer than 4 GiB.
    pub(crate) fn push(&mut self, text: Option<&str>) {
        self.bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        self.end(text.is_some());
    }
    /// Adds a row of any bytes, for tables of games.
    ///
    /// # Panics
    /// As [`Self::push`].
    pub(crate) fn push_bytes(&mut self, bytes: Option<&[u8]>) {
        self.bytes.extend_from_slice(bytes.unwrap_or_default());
        let end = u32::try_from(self.bytes.len()).expect("less than 4 GiB of text");
        self.ends.push_with(end, bytes.is_some());
    }
    /// Adds a row with the text that a function appends.
    ///
    /// # Panics
    /// As [`Self::push`].
    pub(crate) fn push_with(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        append(&mut self.bytes);
        self.end(true);
    }
    fn end(&mut self, is_present: bool) {
        debug_assert!(
            self.bytes[self.ends.values().last().map_or(0, |&end| end as usize)..].iter().all(|&byte| matches!(
                byte,
                b' '..=b'~'
            ) && !matches!(
                byte,
                b'"' | b',' | b'\\'
            )),
            "texts of this kind are written as they are"
        );
        let end = u32::try_from(self.bytes.len()).expect("less than 4 GiB of text");
        self.ends.push_with(end, is_present);
    }
    /// The bytes of a row; none where it is missing.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn bytes(&self, row: usize) -> &[u8] {
        let (bytes, len) = self.bytes_from(row);
        &bytes[..len]
    }
    /// The bytes from a row on, also those of later rows, and the length of the row.
    #[inline]
    pub(crate) fn bytes_from(&self, row: usize) -> (&[u8], usize) {
        let ends = self.ends.values();
        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
        (&self.bytes[start as usize..], (ends[row] - start) as usize)
    }
    /// The length of the longest text.
    pub(crate) fn longest(&self) -> usize {
        let ends = self.ends.values();
        let starts = [0].into_iter().chain(ends.iter().copied());
        let lens = ends.iter().zip(starts).map(|(end, start)| end - start);
        lens.max().unwrap_or(0) as usize
    }
    /// Whether a row has a text.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn is_present(&self, row: usize) -> bool {
        self.ends.is_present(row)
    }
    /// The text of a row, or `None` where it is missing.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&str> {
        let text = std::str::from_utf8(self.bytes(row)).ok();
        text.filter(|_| self.ends.is_present(row))
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
    /// Adds a run of rows of another column.
    ///
    /// # Panics
    /// When the rows are out of range, or as [`Self::push`].
    pub(crate) fn append(&mut self, other: &Self, rows: std::ops::Range<usize>) {
        let ends = other.ends.values();
        let start = rows.start.checked_sub(1).map_or(0, |before| ends[before]);
        let end = rows.end.checked_sub(1).map_or(0, |last| ends[last]);
        let base = self.bytes.len();
        let bytes = &other.bytes[start as usize..end as usize];
        u32::try_from(base + bytes.len()).expect("less than 4 GiB of text");
        self.bytes.extend_from_slice(bytes);
        let before = self.ends.len();
        self.ends.append(&other.ends, rows);
        let moved = (base as u32).wrapping_sub(start);
        for end in &mut self.ends.values_mut()[before..] {
            *end = end.wrapping_add(moved);
        }
    }
    /// All texts, one after the other, and where each ends.
    #[cfg(feature = "parquet")]
    pub(crate) fn parts(&self) -> (&[u8], &[u32]) {
        (&self.bytes, self.ends.values())
    }
    /// Adds rows of another column.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize>) {
        rows.for_each(|row| self.push_bytes(other.is_present(row).then(|| other.bytes(row))));
    }
}
