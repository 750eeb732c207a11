//! Columns whose values are lists.

use super::text_buffer::TextBuffer;
use super::values::Values;
use std::ops::Range;

/// A list for each row, which may be empty, or missing. The items of all lists stand one after the other, as in Arrow.
///
/// ```
/// use lanefish::table::{Items, Lists};
///
/// let mut lists = Lists::new(Items::U16(Vec::new()));
/// lists.push_numbers(Some(&[3_u16, 1]));
/// lists.push_numbers::<u16>(Some(&[]));
/// lists.push_numbers::<u16>(None);
/// assert_eq!((lists.len(), lists.count_present()), (3, 2));
/// assert_eq!((lists.range(0), lists.range(1), lists.range(2)), (Some(0..2), Some(2..2), None));
/// assert_eq!(lists.items(), &Items::U16(vec![3, 1]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    items: Items,
    /// The end of each row's list.
    ends: Values<u32>,
}

/// The items of lists: none of them is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Items {
    /// Signed numbers.
    I16(Vec<i16>),
    /// Unsigned numbers.
    U16(Vec<u16>),
    /// Signed numbers.
    I32(Vec<i32>),
    /// Sets of squares.
    U64(Vec<u64>),
    /// Texts.
    Text(TextBuffer),
}

/// A type of numbers that lists can have.
pub trait ListNumber: sealed::ListNumber {}
impl<T: sealed::ListNumber> ListNumber for T {}

mod sealed {
    use super::Items;
    pub trait ListNumber: Copy {
        fn items(items: &mut Items) -> Option<&mut Vec<Self>>;
    }
    macro_rules! numbers {
        ($($type:ty: $variant:ident,)*) => {$(
            impl ListNumber for $type {
                fn items(items: &mut Items) -> Option<&mut Vec<Self>> {
                    match items {
                        Items::$variant(numbers) => Some(numbers),
                        _ => None,
                    }
                }
            }
        )*};
    }
    numbers! { i16: I16, u16: U16, i32: I32, u64: U64, }
}

impl Items {
    /// Number of items.
    pub fn len(&self) -> usize {
        match self {
            Self::I16(items) => items.len(),
            Self::U16(items) => items.len(),
            Self::I32(items) => items.len(),
            Self::U64(items) => items.len(),
            Self::Text(items) => items.len(),
        }
    }
    /// The number at a place, a set of squares in two's complement; `None` if they are texts.
    ///
    /// # Panics
    /// When the place is out of range.
    #[inline]
    pub fn number(&self, at: usize) -> Option<i64> {
        match self {
            Self::I16(items) => Some(items[at].into()),
            Self::U16(items) => Some(items[at].into()),
            Self::I32(items) => Some(items[at].into()),
            Self::U64(items) => Some(items[at] as i64),
            Self::Text(_) => None,
        }
    }
    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// No items of the same type.
    fn empty_like(&self) -> Self {
        match self {
            Self::I16(_) => Self::I16(Vec::new()),
            Self::U16(_) => Self::U16(Vec::new()),
            Self::I32(_) => Self::I32(Vec::new()),
            Self::U64(_) => Self::U64(Vec::new()),
            Self::Text(_) => Self::Text(TextBuffer::default()),
        }
    }
    /// Adds items of the same type.
    ///
    /// # Panics
    /// When the types differ.
    fn extend(&mut self, other: &Self, items: Range<usize>) {
        match (self, other) {
            (Self::I16(to), Self::I16(from)) => to.extend_from_slice(&from[items]),
            (Self::U16(to), Self::U16(from)) => to.extend_from_slice(&from[items]),
            (Self::I32(to), Self::I32(from)) => to.extend_from_slice(&from[items]),
            (Self::U64(to), Self::U64(from)) => to.extend_from_slice(&from[items]),
            (Self::Text(to), Self::Text(from)) => to.append(from, items),
            (to, from) => panic!("a list of {to:?} has no items of {from:?}"),
        }
    }
}

impl Lists {
    /// No lists, whose items will be of the type of these, which are none.
    pub fn new(items: Items) -> Self {
        debug_assert!(items.is_empty());
        Self { items, ends: Values::default() }
    }
    /// Lists, of which none is missing, by the end of each of them.
    ///
    /// # Panics
    /// If the last list ends elsewhere than the items.
    pub(crate) fn from_parts(items: Items, ends: Vec<u32>) -> Self {
        assert_eq!(ends.last().copied().unwrap_or_default() as usize, items.len());
        debug_assert!(ends.is_sorted());
        Self { items, ends: ends.into() }
    }
    /// Adds a list of numbers.
    ///
    /// # Panics
    /// When the lists have items of another type, or there are more than 2^32 - 1 items.
    pub fn push_numbers<T: ListNumber>(&mut self, list: Option<&[T]>) {
        let items = T::items(&mut self.items).expect("lists of this type");
        items.extend_from_slice(list.unwrap_or_default());
        self.end(list.is_some());
    }
    /// Ends the list of a row behind all items.
    fn end(&mut self, is_present: bool) {
        let end = u32::try_from(self.items.len()).expect("less than 2^32 items");
        self.ends.push_with(end, is_present);
    }
    /// Adds a missing list.
    pub(crate) fn push_missing(&mut self) {
        self.end(false);
    }
    /// The items of all lists.
    pub fn items(&self) -> &Items {
        &self.items
    }
    /// The same, to be kept.
    #[cfg(feature = "parquet")]
    pub(crate) fn into_items(self) -> Items {
        self.items
    }
    /// The place of a row's items among those of [all rows](Self::items); `None` where the list is missing.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn range(&self, row: usize) -> Option<Range<usize>> {
        self.ends.is_present(row).then(|| self.place(row))
    }
    /// The same, and an empty place where the list is missing.
    fn place(&self, row: usize) -> Range<usize> {
        let ends = self.ends.values();
        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
        start as usize..ends[row] as usize
    }
    /// The end of each row's list; that of a missing one is the end of the list before.
    pub fn ends(&self) -> &[u32] {
        self.ends.values()
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
    /// No rows, of the same type.
    pub(crate) fn empty_like(&self) -> Self {
        Self::new(self.items.empty_like())
    }
    /// Adds a run of rows of another column.
    ///
    /// # Panics
    /// When the rows are out of range, or the types differ.
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        let items = other.place(rows.start).start..other.place(rows.end - 1).end;
        let moved = (self.items.len() as u32).wrapping_sub(items.start as u32);
        self.items.extend(&other.items, items);
        u32::try_from(self.items.len()).expect("less than 2^32 items");
        let before = self.ends.len();
        self.ends.append(&other.ends, rows);
        for end in &mut self.ends.values_mut()[before..] {
            *end = end.wrapping_add(moved);
        }
    }
    /// Adds rows of another column.
    ///
    /// # Panics
    /// When a row is out of range, or the types differ.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize>) {
        rows.for_each(|row| self.append(other, row..row + 1));
    }
    /// Some of the rows.
    ///
    /// # Panics
    /// When they are out of range.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Self {
        let mut some = self.empty_like();
        some.append(self, rows);
        some
    }
}
