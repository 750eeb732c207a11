//! The smallest and the largest value of a page or a column chunk.

use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};

/// The smallest and the largest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Range {
    Flag(bool, bool),
    Signed(i32, i32),
    /// 8 or 16 bits.
    Unsigned(u32, u32),
    U64(u64, u64),
    Bytes(Vec<u8>, Vec<u8>),
}

/// Maximum length of texts that are kept.
const LONGEST: usize = 256;

/// The smallest and the largest of the texts so far.
#[derive(Default)]
pub(super) struct TextEnds<'a>(Option<(&'a [u8], &'a [u8])>);

impl<'a> TextEnds<'a> {
    #[inline(always)]
    pub(super) fn add(&mut self, text: &'a [u8]) {
        self.0 = Some(match self.0 {
            None => (text, text),
            Some((least, most)) => (least.min(text), most.max(text)),
        });
    }
    /// `None` without any text, or if one of them is too long.
    pub(super) fn range(&self) -> Option<Range> {
        let (least, most) = self.0?;
        (least.len() <= LONGEST && most.len() <= LONGEST).then(|| Range::Bytes(least.to_vec(), most.to_vec()))
    }
}

impl Range {
    /// Of some values; `None` if there are none.
    pub(super) fn of<T: Copy + Ord>(mut values: impl Iterator<Item = T>, range: impl Fn(T, T) -> Self) -> Option<Self> {
        let first = values.next()?;
        let (least, most) = values.fold((first, first), |(least, most), value| (least.min(value), most.max(value)));
        Some(range(least, most))
    }

    /// Of some texts; `None` if there are none, or they are too long.
    pub(super) fn of_texts<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut ends = TextEnds::default();
        texts.for_each(|text| ends.add(text));
        ends.range()
    }

    /// The range of both.
    pub(super) fn union(self, other: Self) -> Self {
        match (self, other) {
            (Self::Flag(a, b), Self::Flag(c, d)) => Self::Flag(a.min(c), b.max(d)),
            (Self::Signed(a, b), Self::Signed(c, d)) => Self::Signed(a.min(c), b.max(d)),
            (Self::Unsigned(a, b), Self::Unsigned(c, d)) => Self::Unsigned(a.min(c), b.max(d)),
            (Self::U64(a, b), Self::U64(c, d)) => Self::U64(a.min(c), b.max(d)),
            (Self::Bytes(a, b), Self::Bytes(c, d)) => Self::Bytes(a.min(c), b.max(d)),
            (range, _) => range,
        }
    }

    /// The ends as plain bytes.
    pub(super) fn ends(&self) -> [Vec<u8>; 2] {
        match self {
            &Self::Flag(least, most) => [vec![least.into()], vec![most.into()]],
            Self::Signed(least, most) => [least, most].map(|end| end.to_le_bytes().to_vec()),
            Self::Unsigned(least, most) => [least, most].map(|end| end.to_le_bytes().to_vec()),
            Self::U64(least, most) => [least, most].map(|end| end.to_le_bytes().to_vec()),
            Self::Bytes(least, most) => [least.clone(), most.clone()],
        }
    }

    /// The representation of the range in the metadata of a column chunk.
    pub(super) fn statistics(self, nulls: u64) -> Statistics {
        let nulls = Some(nulls);
        match self {
            Self::Flag(least, most) => Statistics::boolean(Some(least), Some(most), None, nulls, false),
            Self::Signed(least, most) => Statistics::int32(Some(least), Some(most), None, nulls, false),
            Self::Unsigned(least, most) => Statistics::int32(Some(least as i32), Some(most as i32), None, nulls, false),
            Self::U64(least, most) => Statistics::int64(Some(least as i64), Some(most as i64), None, nulls, false),
            Self::Bytes(least, most) => Statistics::ByteArray(ValueStatistics::new(
                Some(ByteArray::from(least)),
                Some(ByteArray::from(most)),
                None,
                nulls,
                false,
            )),
        }
    }
}
