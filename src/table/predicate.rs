//! Conditions on columns: comparisons with constants.
//!
//! A condition is tested on a whole [`Array`] at once, so that a job can fill the columns of its conditions first and
//! all others only where a record passes. As in SQL, a missing value passes no comparison, whatever it is compared
//! with.

use super::array::{Array, Texts};
use super::text_buffer::TextBuffer;
use super::values::{Values, bits_where};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The test for a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub(crate) enum Test {
    /// There is a value.
    Present,
    /// There is no value.
    Missing,
    /// A number in one of these ranges; a flag is 0 or 1.
    Numbers(Vec<RangeInclusive<i128>>),
    /// One of these texts.
    In(Vec<Arc<str>>),
    /// A text that is none of these.
    NotIn(Vec<Arc<str>>),
}

/// A number type: its range, and values as numbers of any range.
trait Number: Copy {
    /// The part of a range that the type has; `None` if it has none of it.
    fn part(range: &RangeInclusive<i128>) -> Option<(Self, Self)>;
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Number for $type {
            fn part(range: &RangeInclusive<i128>) -> Option<(Self, Self)> {
                let low = (*range.start()).max(i128::from(Self::MIN));
                let high = (*range.end()).min(i128::from(Self::MAX));
                (low <= high).then_some((low as Self, high as Self))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, i16);

impl Test {
    /// Exactly this number.
    pub(crate) fn number(number: i128) -> Self {
        Self::Numbers(vec![number..=number])
    }

    /// Numbers in none of these ranges.
    #[cfg(any(test, feature = "sql"))]
    pub(crate) fn outside(ranges: &[RangeInclusive<i128>]) -> Self {
        let mut ranges = ranges.to_vec();
        ranges.retain(|range| !range.is_empty());
        ranges.sort_by_key(|range| *range.start());
        let mut outside = Vec::new();
        let mut from = Some(i128::MIN);
        for range in ranges {
            if let Some(from) = from
                && from < *range.start()
            {
                outside.push(from..=*range.start() - 1);
            }
            let after = range.end().checked_add(1);
            from = from.and_then(|from| Some(from.max(after?)));
        }
        outside.extend(from.map(|from| from..=i128::MAX));
        Self::Numbers(outside)
    }

    /// One bit for each row, set where the value passes.
    ///
    /// # Panics
    /// If the type of the column does not fit: texts for a number, or the other way round.
    pub(crate) fn bits(&self, array: &Array) -> Vec<u64> {
        let present = array.present();
        let mut bits = match (self, array) {
            (Self::Present, _) => present.to_vec(),
            (Self::Missing, _) => {
                let all = Values::<()>::all_present(array.len());
                return all.iter().zip(present).map(|(all, bits)| all & !bits).collect();
            }
            (Self::Numbers(ranges), _) => match array {
                Array::Flag(flags) => within(flags, ranges, u8::from),
                Array::U8(values) => within(values, ranges, |value| value),
                Array::I16(values) => within(values, ranges, |value| value),
                Array::U16(values) => within(values, ranges, |value| value),
                Array::U32(values) => within(values, ranges, |value| value),
                Array::U64(values) => within(values, ranges, |value| value),
                Array::Text(_) | Array::TextBuffer(_) | Array::Boards(_) | Array::Lists(_) => {
                    panic!("only numbers are compared with numbers")
                }
            },
            (Self::In(words), _) => among(array, words, true),
            (Self::NotIn(words), _) => among(array, words, false),
        };
        for (bits, present) in bits.iter_mut().zip(present) {
            *bits &= present;
        }
        bits
    }
}

/// The rows whose values are in one of the ranges, whether they count or not.
fn within<T: Copy + Default, N: Number + PartialOrd>(
    values: &Values<T>,
    ranges: &[RangeInclusive<i128>],
    number: impl Fn(T) -> N,
) -> Vec<u64> {
    let parts: Vec<(N, N)> = ranges.iter().filter_map(N::part).collect();
    let mut bits = vec![0; values.len().div_ceil(64)];
    for (low, high) in parts {
        for (bits, values) in bits.iter_mut().zip(values.values().chunks(64)) {
            *bits |= bits_where(values, |value| {
                let value = number(value);
                low <= value && value <= high
            });
        }
    }
    bits
}

/// The rows whose texts are among the words, or are not.
fn among(array: &Array, words: &[Arc<str>], are: bool) -> Vec<u64> {
    let is_one = |text: &[u8]| words.iter().any(|word| word.as_bytes() == text) == are;
    match array {
        Array::Text(texts) => in_dictionary(texts, is_one),
        Array::TextBuffer(strings) => in_strings(strings, is_one),
        _ => panic!("only texts are compared with texts"),
    }
}

fn in_dictionary(texts: &Texts, is: impl Fn(&[u8]) -> bool) -> Vec<u64> {
    let words: Vec<bool> = texts.words().iter().map(|word| is(word.as_bytes())).collect();
    // A missing row has the code 0, also where there are no words.
    let is = |code: u32| words.get(code as usize).copied().unwrap_or_default();
    let codes = texts.codes().values().chunks(64);
    codes.map(|codes| bits_where(codes, is)).collect()
}

fn in_strings(strings: &TextBuffer, is: impl Fn(&[u8]) -> bool) -> Vec<u64> {
    let mut bits = vec![0; strings.len().div_ceil(64)];
    for row in 0..strings.len() {
        bits[row / 64] |= u64::from(is(strings.bytes(row))) << (row % 64);
    }
    bits
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = |f: &mut fmt::Formatter<'_>, name, words: &[Arc<str>]| {
            let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            write!(f, "{name} ({})", words.join(", "))
        };
        match self {
            Self::Present => f.write_str("is not null"),
            Self::Missing => f.write_str("is null"),
            Self::Numbers(ranges) => {
                let range = |range: &RangeInclusive<i128>| match (*range.start(), *range.end()) {
                    (low, high) if low == high => format!("= {low}"),
                    (i128::MIN, i128::MAX) => "is not null".to_owned(),
                    (i128::MIN, high) => format!("<= {high}"),
                    (low, i128::MAX) => format!(">= {low}"),
                    (low, high) => format!("between {low} and {high}"),
                };
                match &ranges[..] {
                    [] => f.write_str("in ()"),
                    ranges => {
                        let ranges: Vec<String> = ranges.iter().map(range).collect();
                        f.write_str(&ranges.join(" or "))
                    }
                }
            }
            Self::In(words) => texts(f, "in", words),
            Self::NotIn(words) => texts(f, "not in", words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(bits: &[u64], len: usize) -> Vec<bool> {
        assert_eq!(bits.len(), len.div_ceil(64));
        if !len.is_multiple_of(64) {
            assert_eq!(bits[len / 64] >> (len % 64), 0, "no bits after the last row");
        }
        (0..len).map(|row| bits[row / 64] >> (row % 64) & 1 != 0).collect()
    }

    fn values<T: Clone + Default>(rows: &[Option<T>]) -> Values<T> {
        let mut values = Values::default();
        rows.iter().for_each(|row| values.push(row.clone()));
        values
    }

    /// What a test means, a value at a time.
    fn passes(test: &Test, value: Option<i128>) -> bool {
        match (test, value) {
            (Test::Missing, value) => value.is_none(),
            (_, None) => false,
            (Test::Present, Some(_)) => true,
            (Test::Numbers(ranges), Some(value)) => ranges.iter().any(|range| range.contains(&value)),
            (Test::In(_) | Test::NotIn(_), Some(_)) => unreachable!(),
        }
    }

    fn any_number() -> impl Strategy<Value = i128> {
        prop_oneof![
            -3..4i128,
            250..260i128,
            65_530..65_540i128,
            Just(i128::from(u64::MAX)),
            Just(i128::from(u64::MAX) + 1),
            Just(-32_768),
            Just(-32_769),
        ]
    }

    proptest! {
        #[test]
        fn numbers_of_every_type(
            rows_in in prop::collection::vec(prop::option::of(any_number()), 0..150),
            ranges in prop::collection::vec((any_number(), any_number()), 0..4),
        ) {
            let ranges: Vec<_> = ranges.into_iter().map(|(low, high)| low..=high).collect();
            let tests = [
                Test::Present,
                Test::Missing,
                Test::outside(&ranges),
                Test::Numbers(ranges.clone()),
            ];
            macro_rules! check {
                ($variant:ident, $type:ty) => {
                    let typed: Vec<Option<$type>> =
                        rows_in.iter().map(|row| row.and_then(|row| row.try_into().ok())).collect();
                    let array = Array::$variant(values(&typed));
                    for test in &tests {
                        let expected: Vec<bool> =
                            typed.iter().map(|row| passes(test, row.map(i128::from))).collect();
                        prop_assert_eq!(rows(&test.bits(&array), typed.len()), expected, "{}", test);
                    }
                    for row in typed.iter().flatten() {
                        let row = i128::from(*row);
                        let is_in = ranges.iter().any(|range| range.contains(&row));
                        prop_assert_eq!(passes(&tests[2], Some(row)), !is_in);
                    }
                };
            }
            check!(U8, u8);
            check!(U16, u16);
            check!(U32, u32);
            check!(U64, u64);
            check!(I16, i16);
            let flags: Vec<Option<bool>> = rows_in.iter().map(|row| row.map(|row| row % 2 != 0)).collect();
            let array = Array::Flag(values(&flags));
            for test in &tests {
                let expected: Vec<bool> =
                    flags.iter().map(|flag| passes(test, flag.map(i128::from))).collect();
                prop_assert_eq!(rows(&test.bits(&array), flags.len()), expected);
            }
        }

        #[test]
        fn texts_of_both_kinds(rows_in in prop::collection::vec(prop::option::of("[ab]{0,2}"), 0..150)) {
            let mut texts = Texts::default();
            let mut strings = TextBuffer::default();
            for row in &rows_in {
                texts.push(row.as_deref());
                strings.push(row.as_deref());
            }
            let words: Vec<Arc<str>> = ["a", "", "bb"].map(Arc::from).to_vec();
            for array in [Array::Text(texts), Array::TextBuffer(strings)] {
                let is_in = |row: &Option<String>| {
                    row.as_ref().map(|row| words.iter().any(|word| **word == **row))
                };
                let found = rows(&Test::In(words.clone()).bits(&array), rows_in.len());
                let expected: Vec<bool> = rows_in.iter().map(|row| is_in(row) == Some(true)).collect();
                prop_assert_eq!(found, expected);
                let found = rows(&Test::NotIn(words.clone()).bits(&array), rows_in.len());
                let expected: Vec<bool> = rows_in.iter().map(|row| is_in(row) == Some(false)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
