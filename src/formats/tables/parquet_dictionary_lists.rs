//! Lists of texts in Parquet pages whose values are numbers of dictionary entries: moves are, because there are less than
//! two thousand of them by their squares.
//!
//! The library makes a text of each element. Here a list stays a range of numbers, and each entry of the dictionary
//! becomes a move once. A page that several parts need is read once, too, and not from its beginning for each of them. Whatever is unusual or wrong is left to the library.

use super::page_checks::{Levels, Run, Runs, Written, bits_of, equal};
use crate::formats::pgn::SquareWord;
use crate::text::eight_bytes;
use ::parquet::basic::Encoding;
use ::parquet::column::page::Page;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// The number in place of an element that is null.
const NULL: u16 = u16::MAX;
/// Maximum number of bits of a number.
const MOST_BITS: u8 = 15;
/// Maximum number of values of a page that is read in this way.
const MOST_VALUES: u64 = 1 << 22;

/// The entries of a dictionary.
#[derive(Debug)]
pub(super) struct Entries {
    bytes: Bytes,
    places: Vec<Range<usize>>,
    /// The moves that the entries are.
    words: Vec<SquareWord>,
}

impl Entries {
    /// Those of an unpacked dictionary page; `None` if it is not as usual.
    pub(super) fn of(page: &Page) -> Option<Arc<Self>> {
        let Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN | Encoding::PLAIN_DICTIONARY, .. } = page
        else {
            return None;
        };
        let count = *num_values as usize;
        if count > 1 << MOST_BITS {
            return None;
        }
        let (mut places, mut words) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut at = 0;
        for _ in 0..count {
            let (&len, rest) = buf.get(at..)?.split_first_chunk::<4>()?;
            let text = rest.get(..u32::from_le_bytes(len) as usize)?;
            places.push(at + 4..at + 4 + text.len());
            words.push(SquareWord::of(text));
            at += 4 + text.len();
        }
        Some(Arc::new(Self { bytes: buf.clone(), places, words }))
    }

    /// The text of an element with this number; `None` if it is null.
    pub(super) fn text(&self, number: u16) -> Option<&[u8]> {
        self.bytes.get(self.places.get(usize::from(number))?.clone())
    }

    /// The move that an element is.
    #[inline(always)]
    pub(super) fn word(&self, number: u16) -> SquareWord {
        self.words.get(usize::from(number)).copied().unwrap_or(SquareWord::NONE)
    }
}

/// The lists of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageLists {
    /// The elements of all lists. Those before the first list belong to one that began in a page before.
    numbers: Vec<u16>,
    /// Where the list of each row begins.
    starts: Vec<u32>,
    /// The rows without a list, in order.
    missing: Vec<u32>,
}

impl PageLists {
    /// Bytes of memory of the lists of a page.
    pub(super) fn memory(values: u64, rows: u64) -> u64 {
        2 * values + 8 * rows
    }

    /// Those of an unpacked page that has been checked; `None` if it is not as usual.
    pub(super) fn of(page: &Page, written: Written, is_optional: bool) -> Option<Arc<Self>> {
        let count = u64::from(page.num_values());
        let (Page::DataPage { encoding, .. } | Page::DataPageV2 { encoding, .. }) = page else { return None };
        let is_of_numbers = matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        if !is_of_numbers || count > MOST_VALUES {
            return None;
        }
        let (continued, defined, values) = match written.split(page)? {
            (Levels::Runs(continued), Levels::Runs(defined), values) => (continued, Some(defined), values),
            (Levels::Runs(continued), Levels::None, values) => (continued, None, values),
            _ => return None,
        };
        let (most, bits) = (written.most_defined, bits_of(written.most_defined));
        let present = match defined {
            Some(defined) => equal(defined, count, bits, most)?,
            None => count,
        };
        if matches!(page, Page::DataPageV2 { num_nulls, .. } if u64::from(*num_nulls) != count - present) {
            return None;
        }
        let lists = match defined {
            Some(defined) if present != count => {
                Self::with_missing(continued, defined, values, count, written, is_optional)?
            }
            _ => Self {
                numbers: numbers(values, count as usize)?,
                starts: starts(continued, count)?,
                missing: Vec::new(),
            },
        };
        Some(Arc::new(lists))
    }

    /// As [`Self::of`], for a page in which some lists or elements are missing or empty.
    fn with_missing(
        continued: &[u8],
        defined: &[u8],
        values: &[u8],
        count: u64,
        written: Written,
        is_optional: bool,
    ) -> Option<Self> {
        let most = written.most_defined;
        let is_empty = u8::from(is_optional);
        let defined = levels(defined, count, bits_of(most))?;
        let continued = levels(continued, count, 1)?;
        let present = defined.iter().filter(|&&level| level == most).count();
        let mut found = numbers(values, present)?.into_iter();
        let mut lists = Self { numbers: Vec::with_capacity(count as usize), starts: Vec::new(), missing: Vec::new() };
        // Whether the list of the row has elements so far, or may have begun in a page before.
        let mut has_elements = true;
        for (continues, level) in continued.into_iter().zip(defined) {
            if level > most {
                return None;
            }
            if continues == 0 {
                lists.starts.push(lists.numbers.len() as u32);
                has_elements = level > is_empty;
                if level < is_empty {
                    lists.missing.push(lists.starts.len() as u32 - 1);
                }
            } else if !has_elements || level <= is_empty {
                return None;
            }
            if level > is_empty {
                lists.numbers.push(if level == most { found.next()? } else { NULL });
            }
        }
        Some(lists)
    }

    /// Where the list of a row begins, or that of the row before ends.
    fn start_of(&self, row: usize) -> usize {
        self.starts.get(row).map_or(self.numbers.len(), |&start| start as usize)
    }
}

/// Where lists begin, for levels that say of each value whether it continues a list.
fn starts(levels: &[u8], count: u64) -> Option<Vec<u32>> {
    let mut runs = Runs { bytes: levels, width: 1 };
    let mut starts = Vec::new();
    let mut at = 0;
    while at < count {
        let run = runs.next()?;
        let len = run.len().min(count - at);
        match run {
            Run::Same(_, [1]) => {}
            Run::Same(_, [0]) => starts.extend(at as u32..(at + len) as u32),
            Run::Same(..) => return None,
            Run::Packed(_, bytes) => {
                for from in (0..len).step_by(64) {
                    let bits = (len - from).min(64);
                    let mut zeros = !eight_bytes(bytes, (from / 8) as usize) & (!0 >> (64 - bits));
                    while zeros != 0 {
                        starts.push((at + from) as u32 + zeros.trailing_zeros());
                        zeros &= zeros - 1;
                    }
                }
            }
        }
        at += len;
    }
    Some(starts)
}

/// Levels, one by one.
fn levels(levels: &[u8], count: u64, width: u8) -> Option<Vec<u8>> {
    let mut runs = Runs { bytes: levels, width };
    let mut found = Vec::with_capacity(count as usize);
    while (found.len() as u64) < count {
        let run = runs.next()?;
        let len = run.len().min(count - found.len() as u64) as usize;
        match run {
            Run::Same(_, value) => found.resize(found.len() + len, *value.first()?),
            Run::Packed(_, bytes) => {
                let width = usize::from(width);
                let level = |number: usize| {
                    let bit = number * width;
                    (eight_bytes(bytes, bit / 8) >> (bit % 8)) as u8 & ((1 << width) - 1)
                };
                found.extend((0..len).map(level));
            }
        }
    }
    Some(found)
}

/// The numbers of values: first their width in bits, then runs.
fn numbers(values: &[u8], count: usize) -> Option<Vec<u16>> {
    let Some((&width, bytes)) = values.split_first() else {
        return (count == 0).then(Vec::new);
    };
    if width > MOST_BITS {
        return None;
    }
    let mut runs = Runs { bytes, width };
    let mut numbers = Vec::with_capacity(count + 7);
    while numbers.len() < count {
        let run = runs.next()?;
        let len = run.len().min((count - numbers.len()) as u64) as usize;
        match run {
            Run::Same(_, value) => {
                let number = value.iter().rev().fold(0, |number: u16, &byte| number << 8 | u16::from(byte));
                numbers.resize(numbers.len() + len, number);
            }
            Run::Packed(_, bytes) => unpack(bytes, width.into(), len, &mut numbers),
        }
    }
    Some(numbers)
}

/// Adds packed numbers of up to [`MOST_BITS`] bits.
fn unpack(bytes: &[u8], width: usize, len: usize, numbers: &mut Vec<u16>) {
    let before = numbers.len();
    numbers.resize(before + len.next_multiple_of(8), 0);
    let mask = (1u64 << width) - 1;
    let (eights, _) = numbers[before..].as_chunks_mut::<8>();
    for (group, eight) in eights.iter_mut().enumerate() {
        // Four numbers have at most 60 bits; the second four may begin within a byte.
        let (at, half) = (group * width, 4 * width);
        let low = eight_bytes(bytes, at);
        let high = eight_bytes(bytes, at + half / 8) >> (half % 8);
        for number in 0..4 {
            eight[number] = (low >> (number * width) & mask) as u16;
            eight[4 + number] = (high >> (number * width) & mask) as u16;
        }
    }
    numbers.truncate(before + len);
}

/// Rows of lists, each a range of numbers of entries.
#[derive(Debug)]
pub(super) struct NumberedLists {
    pub(super) entries: Arc<Entries>,
    numbers: Vec<u16>,
    /// The list of each row; `None` if it is missing.
    rows: Vec<Option<Range<usize>>>,
}

impl NumberedLists {
    pub(super) fn new(entries: Arc<Entries>) -> Self {
        Self { entries, numbers: Vec::new(), rows: Vec::new() }
    }

    /// Adds the lists of some rows, as far as they are in a page whose first row is this one. `None` if that is not as
    /// usual.
    pub(super) fn add(&mut self, rows: &Range<u64>, first: u64, page: &PageLists) -> Option<()> {
        let of_page = page.starts.len() as u64;
        let from = rows.start.saturating_sub(first).min(of_page) as usize;
        let to = rows.end.saturating_sub(first).min(of_page) as usize;
        let rest = page.start_of(0);
        if rest > 0
            && from == 0
            && let Some(last) = self.rows.last_mut()
        {
            // The rest of a list that began before.
            let list = last.as_mut().filter(|list| list.start < list.end)?;
            self.numbers.extend_from_slice(page.numbers.get(..rest)?);
            list.end = self.numbers.len();
        }
        let (start, offset) = (page.start_of(from), self.numbers.len());
        self.numbers.extend_from_slice(page.numbers.get(start..page.start_of(to))?);
        let mut missing = page.missing.get(page.missing.partition_point(|&row| (row as usize) < from)..)?.iter();
        let mut next_missing = missing.next();
        for row in from..to {
            if next_missing.is_some_and(|&missing| missing as usize == row) {
                next_missing = missing.next();
                self.rows.push(None);
            } else {
                self.rows.push(Some(page.start_of(row) - start + offset..page.start_of(row + 1) - start + offset));
            }
        }
        Some(())
    }

    /// The lists, if there are as many as there should be, and all elements have entries.
    pub(super) fn checked(self, rows: u64) -> Option<Self> {
        let entries = self.entries.places.len();
        let are_known =
            self.numbers.iter().fold(true, |all, &number| all & (usize::from(number) < entries || number == NULL));
        (are_known && self.rows.len() as u64 == rows).then_some(self)
    }

    /// The numbers in the list of each row.
    pub(super) fn rows(&self) -> impl Iterator<Item = Option<&[u16]>> {
        self.rows.iter().map(|row| self.numbers.get(row.clone()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use ::parquet::basic::Type as Physical;

    /// Numbers as runs of both kinds.
    fn runs(numbers: &[u64], width: usize, random: &mut Random) -> Vec<u8> {
        let mut bytes = Vec::new();
        let varint = |mut value: usize, bytes: &mut Vec<u8>| {
            while value >= 0x80 {
                bytes.push(value as u8 | 0x80);
                value >>= 7;
            }
            bytes.push(value as u8);
        };
        let mut at = 0;
        while at < numbers.len() {
            let same = numbers[at..].iter().take_while(|&&number| number == numbers[at]).count();
            if same > 8 || random.below(4) == 0 {
                let len = 1 + random.below(same as u32) as usize;
                varint(len << 1, &mut bytes);
                bytes.extend(&numbers[at].to_le_bytes()[..width.div_ceil(8)]);
                at += len;
            } else {
                let groups = 1 + random.below(9) as usize;
                varint(groups << 1 | 1, &mut bytes);
                let mut packed = vec![0u8; groups * width];
                for (number, value) in numbers[at..].iter().take(8 * groups).enumerate() {
                    for bit in 0..width {
                        let place = number * width + bit;
                        packed[place / 8] |= ((value >> bit & 1) as u8) << (place % 8);
                    }
                }
                bytes.extend(packed);
                at += 8 * groups;
            }
        }
        bytes
    }

    /// The lists of a page are those that were written, whatever runs there are, and no change of a byte makes a panic.
    #[test]
    fn pages_have_the_lists_that_were_written() {
        let mut random = Random::new(31);
        let mut with_missing = 0;
        for round in 0..400 {
            let (is_optional, is_element_optional) = (round % 2 == 0, round % 4 < 2);
            let most_defined = 1 + u8::from(is_optional) + u8::from(is_element_optional);
            let width = [0, 1, 3, 8, 10, 11, 15][round % 7];
            let is_odd = round % 3 == 0;
            let (mut continued, mut defined, mut values) = (Vec::new(), Vec::new(), Vec::new());
            let mut expected = PageLists { numbers: Vec::new(), starts: Vec::new(), missing: Vec::new() };
            // The page may begin with the rest of a list.
            for row in 0..random.below(40) {
                let has_start = row > 0 || round % 5 > 0;
                let kind = if is_odd && has_start { random.below(4) } else { 3 };
                if has_start {
                    expected.starts.push(expected.numbers.len() as u32);
                }
                if kind == 0 && is_optional || kind == 1 {
                    if kind == 0 {
                        expected.missing.push(expected.starts.len() as u32 - 1);
                    }
                    continued.push(0);
                    defined.push(u64::from(kind == 1 && is_optional));
                    continue;
                }
                for element in 0..1 + random.below(90) {
                    continued.push(u64::from(element > 0 || !has_start));
                    if is_odd && is_element_optional && random.below(9) == 0 {
                        defined.push(u64::from(most_defined) - 1);
                        expected.numbers.push(NULL);
                    } else {
                        defined.push(u64::from(most_defined));
                        values.push(u64::from(random.below(1 << width)));
                        expected.numbers.push(values[values.len() - 1] as u16);
                    }
                }
            }
            let mut encoded = vec![width as u8];
            encoded.extend(runs(&values, width, &mut random));
            let levels = [runs(&continued, 1, &mut random), runs(&defined, bits_of(most_defined).into(), &mut random)];
            let written = Written { physical: Physical::BYTE_ARRAY, width: 4, most_defined, is_list: true };
            let page = |levels: &[Vec<u8>; 2], encoded: &[u8]| {
                let [first, second] = levels;
                Page::DataPageV2 {
                    buf: [&first[..], second, encoded].concat().into(),
                    num_values: continued.len() as u32,
                    encoding: Encoding::RLE_DICTIONARY,
                    num_nulls: (continued.len() - values.len()) as u32,
                    num_rows: 0,
                    def_levels_byte_len: second.len() as u32,
                    rep_levels_byte_len: first.len() as u32,
                    is_compressed: false,
                    statistics: None,
                }
            };
            let found = PageLists::of(&page(&levels, &encoded), written, is_optional);
            assert_eq!(found.as_deref(), Some(&expected), "round {round}");
            with_missing += expected.missing.len();
            for _ in 0..40 {
                let (mut levels, mut encoded) = (levels.clone(), encoded.clone());
                let bytes = match random.below(3) {
                    0 => &mut encoded,
                    level => &mut levels[level as usize - 1],
                };
                if let Some(byte) = bytes.len().checked_sub(1).map(|last| random.below(last as u32 + 1) as usize) {
                    bytes[byte] = random.below(256) as u8;
                }
                if let Some(found) = PageLists::of(&page(&levels, &encoded), written, is_optional) {
                    assert!(found.starts.is_sorted() && found.starts.len() <= continued.len());
                    assert!(found.numbers.len() <= continued.len());
                }
            }
        }
        assert!(with_missing > 100, "{with_missing}");
    }
}
