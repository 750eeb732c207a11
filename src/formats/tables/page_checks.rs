//! Compares the content of a Parquet page with its claims, before the library allocates memory for it.
//!
//! Encodings have counts of their own: levels and dictionary numbers state the length of each run, and changes
//! (`DELTA_…`) state the number of values and the length of each. The library trusts these counts. Here it is checked
//! that they agree with the page, and lie within its bytes. For plain values and split bytes, only the number of values
//! is checked.

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::Page;

/// The type of a column's values, as far as it matters for their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) physical: Physical,
    /// The minimum number of bytes of a value.
    pub(super) width: u64,
    /// The level of values that are present; at lower ones, they are missing.
    pub(super) most_defined: u8,
    /// Whether rows are lists of values.
    pub(super) is_list: bool,
}

impl Written {
    /// Whether values may be missing.
    pub(super) fn is_optional(&self) -> bool {
        self.most_defined > 0
    }
    /// The levels at the beginning of an unpacked page: whether each value continues a list, and whether it is present; and
    /// the bytes after them. `None` if they are longer than the page.
    pub(super) fn split<'a>(&self, page: &'a Page) -> Option<(Levels<'a>, Levels<'a>, &'a [u8])> {
        /// Levels of the older kind of pages, with their length before them.
        fn with_length(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
            let (&len, rest) = bytes.split_first_chunk::<4>()?;
            rest.split_at_checked(u32::from_le_bytes(len) as usize)
        }
        match page {
            Page::DictionaryPage { buf, .. } => Some((Levels::None, Levels::None, &buf[..])),
            Page::DataPage { buf, num_values, def_level_encoding, rep_level_encoding, .. } => {
                let take = |bytes: &'a [u8], is_there: bool, encoding: Encoding| match (is_there, encoding) {
                    (false, _) => Some((Levels::None, bytes)),
                    (true, Encoding::RLE) => with_length(bytes).map(|(levels, rest)| (Levels::Runs(levels), rest)),
                    // Lists with levels in this old form are not known.
                    (true, _) if self.is_list => None,
                    (true, _) => {
                        let split = bytes.split_at_checked(num_values.div_ceil(8) as usize);
                        split.map(|(levels, rest)| (Levels::Bits(levels), rest))
                    }
                };
                let (continued, rest) = take(buf, self.is_list, *rep_level_encoding)?;
                let (defined, rest) = take(rest, self.is_optional(), *def_level_encoding)?;
                Some((continued, defined, rest))
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let (continued, rest) = buf.split_at_checked(*rep_levels_byte_len as usize)?;
                let (defined, rest) = rest.split_at_checked(*def_levels_byte_len as usize)?;
                let levels = |levels, is_there| if is_there { Levels::Runs(levels) } else { Levels::None };
                Some((levels(continued, self.is_list), levels(defined, self.is_optional()), rest))
            }
        }
    }

    /// The number of rows that begin in an unpacked page of lists, and whether it begins within a list.
    ///
    /// # Errors
    /// If its levels are damaged.
    pub(super) fn rows_of_lists(&self, page: &Page) -> Result<(u64, bool), String> {
        let count = u64::from(page.num_values());
        match self.split(page) {
            Some((Levels::Runs(levels), ..)) => {
                let continued =
                    equal(levels, count, 1, 1).ok_or_else(|| format!("there are fewer than {count} levels"))?;
                Ok((count - continued, count > 0 && equal(levels, 1, 1, 1) == Some(1)))
            }
            _ => Err("the levels of its lists are not read".to_owned()),
        }
    }
}

/// Checks an unpacked page; returns the length of its longest value, if values are derived from those before.
///
/// # Errors
/// If something is wrong: a message.
pub(super) fn check(page: &Page, written: Written) -> Result<u64, String> {
    let (buf, encoding) = match page {
        Page::DictionaryPage { .. } => return Ok(0),
        Page::DataPage { buf, encoding, .. } | Page::DataPageV2 { buf, encoding, .. } => (buf, *encoding),
    };
    let count = u64::from(page.num_values());
    let Some((_, levels, bytes)) = written.split(page) else {
        return Err(format!("the levels are longer than the page of {} bytes", buf.len()));
    };
    let known = match levels {
        Levels::None => Some(count),
        Levels::Bits(levels) => Some(ones(levels, count)),
        Levels::Runs(levels) => equal(levels, count, bits_of(written.most_defined), written.most_defined),
    };
    let values = known.ok_or_else(|| format!("there are fewer than {count} levels"))?;
    let fewer = || format!("the bytes hold fewer than {values} values");
    match encoding {
        // The library does not rely on any counts here.
        _ if bytes.is_empty() && values == 0 => Ok(0),
        Encoding::PLAIN | Encoding::BYTE_STREAM_SPLIT => {
            let least = values.checked_mul(written.width);
            if least.is_some_and(|least| least <= bytes.len() as u64) { Ok(0) } else { Err(fewer()) }
        }
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
            let (&width, runs) = bytes.split_first().ok_or_else(fewer)?;
            if width > 32 {
                return Err(format!("numbers of the dictionary have {width} bits"));
            }
            let mut held = 0u64;
            let mut runs = Runs { bytes: runs, width };
            while held < values {
                held += runs.next().ok_or_else(fewer)?.len();
            }
            Ok(0)
        }
        Encoding::DELTA_BINARY_PACKED => {
            let bits = match written.physical {
                Physical::INT32 => 32,
                _ => 64,
            };
            Deltas::of(bytes, values)?.pass(bits).map(|_| 0)
        }
        Encoding::DELTA_LENGTH_BYTE_ARRAY => {
            let mut sum = 0;
            let rest = Deltas::of(bytes, values)?.each(|len| {
                sum += u64::try_from(len).map_err(|_| "a length is negative")?;
                Ok(())
            })?;
            if sum <= rest.len() as u64 { Ok(0) } else { Err("the values are longer than their page".to_owned()) }
        }
        Encoding::DELTA_BYTE_ARRAY => {
            let mut prefixes = Vec::new();
            let rest = Deltas::of(bytes, values)?.each(|len| {
                prefixes.push(len);
                Ok(())
            })?;
            let mut prefixes = prefixes.into_iter();
            let (mut before, mut longest, mut sum) = (0u64, 0, 0);
            let rest = Deltas::of(rest, values)?.each(|len| {
                let prefix = prefixes
                    .next()
                    .and_then(|len| u64::try_from(len).ok())
                    .filter(|&prefix| prefix <= before)
                    .ok_or("a value begins with more than there is before it")?;
                let len = u64::try_from(len).map_err(|_| "a length is negative")?;
                sum += len;
                before = prefix + len;
                longest = longest.max(before);
                Ok(())
            })?;
            if sum <= rest.len() as u64 { Ok(longest) } else { Err("the values are longer than their page".to_owned()) }
        }
        other => Err(format!("values in the encoding {other} are not read")),
    }
}

/// The form in which a page states which values are present.
pub(super) enum Levels<'a> {
    /// All values are present.
    None,
    /// As bits.
    Bits(&'a [u8]),
    /// As runs.
    Runs(&'a [u8]),
}

/// The number of ones among the first bits.
fn ones(bytes: &[u8], bits: u64) -> u64 {
    let whole = (bits / 8) as usize;
    let (words, rest) = bytes[..whole].as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|&byte| byte.into());
    let last = bytes.get(whole).copied().unwrap_or(0) & !(0xFF << (bits % 8)) as u8;
    let bytes = words.chain(rest).chain([last.into()]);
    bytes.map(|word: u64| u64::from(word.count_ones())).sum()
}

/// Number of bits of levels up to this one.
pub(super) fn bits_of(most: u8) -> u8 {
    (u8::BITS - most.leading_zeros()) as u8
}

/// How many of `count` levels of this width are equal to `level`; `None` if there are fewer levels.
pub(super) fn equal(levels: &[u8], count: u64, width: u8, level: u8) -> Option<u64> {
    let mut runs = Runs { bytes: levels, width };
    let (mut left, mut equal) = (count, 0);
    while left > 0 {
        let run = runs.next()?;
        let len = run.len().min(left);
        equal += match run {
            Run::Same(_, value) => len * u64::from(value.first() == Some(&level)),
            Run::Packed(_, bytes) if (width, level) == (1, 1) => ones(bytes, len),
            Run::Packed(_, bytes) => {
                let at = |number: u64| {
                    let bit = number * u64::from(width);
                    let [low, high] = [0, 1].map(|next| bytes.get((bit / 8) as usize + next).copied().unwrap_or(0));
                    (u16::from_le_bytes([low, high]) >> (bit % 8)) as u8 & ((1 << width) - 1)
                };
                (0..len).filter(|&number| at(number) == level).count() as u64
            }
        };
        left -= len;
    }
    Some(equal)
}

/// Numbers with a fixed width in bits, as runs of equal numbers and as packed numbers.
pub(super) struct Runs<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) width: u8,
}

/// The next run of numbers: their count, and their bytes.
pub(super) enum Run<'a> {
    Same(u64, &'a [u8]),
    Packed(u64, &'a [u8]),
}

impl Run<'_> {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Same(len, _) | Self::Packed(len, _) => *len,
        }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;
    fn next(&mut self) -> Option<Run<'a>> {
        // An empty run is padding.
        let head = varint(&mut self.bytes).filter(|&head| head != 0 && head <= u32::MAX.into())?;
        let count = head >> 1;
        if head & 1 == 0 {
            let (value, rest) = self.bytes.split_at_checked(self.width.div_ceil(8).into())?;
            self.bytes = rest;
            return Some(Run::Same(count, value));
        }
        let len = (count * u64::from(self.width)).min(self.bytes.len() as u64);
        let (numbers, rest) = self.bytes.split_at(len as usize);
        self.bytes = rest;
        // The last groups may be cut off.
        let held = (8 * len).checked_div(self.width.into());
        Some(Run::Packed(held.map_or(8 * count, |held| held.min(8 * count)), numbers))
    }
}

/// Takes a number of variable length from the bytes.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (at, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7F) << (7 * at);
        if byte < 0x80 {
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    // The largest have a tenth byte.
    match bytes.get(9) {
        Some(last @ 0..=1) => {
            value |= u64::from(*last) << 63;
            *bytes = &bytes[10..];
            Some(value)
        }
        _ => None,
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Numbers as changes from one to the next. They come in blocks, which are divided into groups; each group has one
/// width in bits.
struct Deltas<'a> {
    bytes: &'a [u8],
    groups: usize,
    /// Number of values in a group.
    per_group: u64,
    first: i64,
    has_first: bool,
    /// Number of values after the first one.
    more: u64,
}

impl<'a> Deltas<'a> {
    /// Reads the header of `values` numbers.
    fn of(mut bytes: &'a [u8], values: u64) -> Result<Self, String> {
        let mut number = || varint(&mut bytes).ok_or("the numbers of changes are cut");
        let (block, groups, count) = (number()?, number()?, number()?);
        let first = zigzag(number()?);
        if count != values {
            return Err(format!("the changes make {count} values of {values}"));
        }
        let per_group = block.checked_div(groups).unwrap_or(0);
        let fits = block <= i32::MAX as u64
            && block.is_multiple_of(128)
            && per_group.is_multiple_of(32)
            && per_group.checked_mul(groups) == Some(block)
            && (per_group > 0 || values <= 1);
        if !fits || groups == 0 {
            return Err(format!("blocks of {block} changes in {groups} groups"));
        }
        Ok(Self {
            bytes,
            groups: groups as usize,
            per_group,
            first,
            has_first: count > 0,
            more: count.saturating_sub(1),
        })
    }

    /// Calls a function for each group: with the smallest change, the width, the number of changes and their bytes.
    /// Returns the bytes after them.
    fn groups(
        mut self,
        most_bits: u8,
        mut each: impl FnMut(i64, u8, u64, &[u8]) -> Result<(), &'static str>,
    ) -> Result<&'a [u8], String> {
        const CUT: &str = "the changes are cut";
        while self.more > 0 {
            let least = zigzag(varint(&mut self.bytes).ok_or(CUT)?);
            let (widths, rest) = self.bytes.split_at_checked(self.groups).ok_or(CUT)?;
            self.bytes = rest;
            for &width in widths {
                if self.more == 0 {
                    break;
                }
                if width > most_bits {
                    return Err(format!("changes of {width} bits"));
                }
                let count = self.more.min(self.per_group);
                let needed = (count * u64::from(width)).div_ceil(8);
                let whole = self.per_group / 8 * u64::from(width);
                let len = whole.min(self.bytes.len() as u64);
                if len < needed {
                    return Err(CUT.to_owned());
                }
                let (packed, rest) = self.bytes.split_at(len as usize);
                self.bytes = rest;
                each(least, width, count, packed)?;
                self.more -= count;
            }
        }
        Ok(self.bytes)
    }

    /// Skips the numbers, which are `bits` wide.
    fn pass(self, bits: u8) -> Result<&'a [u8], String> {
        self.groups(bits, |_, _, _, _| Ok(()))
    }

    /// Calls a function for each number of 32 bits.
    fn each(self, mut each: impl FnMut(i32) -> Result<(), &'static str>) -> Result<&'a [u8], String> {
        let mut last = self.first as i32;
        if self.has_first {
            each(last)?;
        }
        self.groups(32, |least, width, count, packed| {
            for at in 0..count {
                let bit = at * u64::from(width);
                let start = packed.get((bit / 8) as usize..).unwrap_or_default();
                let mut word = [0; 8];
                let len = start.len().min(8);
                word[..len].copy_from_slice(&start[..len]);
                let change = u64::from_le_bytes(word) >> (bit % 8) & ((1 << width) - 1);
                last = last.wrapping_add(least as i32).wrapping_add(change as i32);
                each(last)?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(physical: Physical, width: u64, is_optional: bool) -> Written {
        Written { physical, width, most_defined: is_optional.into(), is_list: false }
    }

    /// The result for a page with these bytes and this number of values.
    fn checked(bytes: &[u8], count: u32, encoding: Encoding, written: Written) -> Result<u64, String> {
        let page = Page::DataPage {
            buf: bytes.to_vec().into(),
            num_values: count,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        check(&page, written)
    }

    /// Encodes at most 33 numbers, with changes of 8 bits; the three groups without numbers have this width.
    fn changes(numbers: &[i8], spare: u8) -> Vec<u8> {
        let zigzag = |number: i8| (number << 1 ^ number >> 7) as u8;
        let mut bytes = vec![0x80, 1, 4, numbers.len() as u8, zigzag(numbers[0])];
        let changes: Vec<i8> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if let Some(&least) = changes.iter().min() {
            bytes.extend([zigzag(least), 8, spare, spare, spare]);
            let mut packed: Vec<u8> = changes.iter().map(|change| (change - least) as u8).collect();
            packed.resize(32, 0);
            bytes.extend(packed);
        }
        bytes
    }

    #[test]
    fn pages_have_bytes_for_their_values() {
        let numbers = written(Physical::INT32, 4, false);
        for encoding in [Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT] {
            assert_eq!(checked(&[0; 12], 3, encoding, numbers), Ok(0));
            assert!(checked(&[0; 11], 3, encoding, numbers).is_err());
        }
        // The same dictionary number three times; eight packed numbers of two bits, and the same number twice.
        for (bytes, count) in [(&[2, 6, 1][..], 3), (&[2, 3, 0xE4, 0x1B], 8), (&[2, 3, 0xE4, 0x1B, 4, 3], 10)] {
            assert_eq!(checked(bytes, count, Encoding::RLE_DICTIONARY, numbers), Ok(0), "{bytes:?}");
            assert!(checked(bytes, count + 1, Encoding::RLE_DICTIONARY, numbers).is_err(), "{bytes:?}");
        }
        // Runs are written in whole groups, of which only some numbers may be needed.
        assert_eq!(checked(&[2, 3, 0xE4, 0x1B], 5, Encoding::RLE_DICTIONARY, numbers), Ok(0));
    }

    #[test]
    fn bits_behind_the_last_level_are_no_values() {
        assert_eq!([3, 8, 11].map(|bits| ones(&[0xFF, 0xFF], bits)), [3, 8, 11]);
        assert_eq!(equal(&[3, 0xFF], 3, 1, 1), Some(3));
        // Levels of two bits: 3, 2, 3, 0, and four more that do not count; then 3 three times.
        assert_eq!([2, 4, 11].map(|count| equal(&[3, 0x3B, 0xFF, 6, 3], count, 2, 3)), [Some(1), Some(2), Some(9)]);
        assert_eq!(equal(&[3, 0x3B, 0xFF, 6, 3], 12, 2, 3), None);
        // Three levels, in a byte of ones, and three values.
        let mut bytes = vec![2, 0, 0, 0, 3, 0xFF];
        bytes.extend([0; 12]);
        let optional = written(Physical::INT32, 4, true);
        assert_eq!(checked(&bytes, 3, Encoding::PLAIN, optional), Ok(0));
        assert!(checked(&bytes, 4, Encoding::PLAIN, optional).is_err());
    }

    /// Writers may leave anything in place of the widths of groups that have no numbers.
    #[test]
    fn widths_of_groups_without_numbers_mean_nothing() {
        let numbers = written(Physical::INT32, 4, false);
        let texts = written(Physical::BYTE_ARRAY, 4, false);
        for spare in [0, 8, 33, 255] {
            let bytes = changes(&[5, 7, 3, 9], spare);
            assert_eq!(checked(&bytes, 4, Encoding::DELTA_BINARY_PACKED, numbers), Ok(0), "{spare}");
            let mut bytes = changes(&[1, 2, 3], spare);
            bytes.extend([b'x'; 6]);
            assert_eq!(checked(&bytes, 3, Encoding::DELTA_LENGTH_BYTE_ARRAY, texts), Ok(0), "{spare}");
            bytes.pop();
            assert!(checked(&bytes, 3, Encoding::DELTA_LENGTH_BYTE_ARRAY, texts).is_err(), "{spare}");
        }
    }

    /// The longest value is charged for, wherever it is in the page.
    #[test]
    fn the_longest_of_front_coded_values() {
        let texts = written(Physical::BYTE_ARRAY, 4, false);
        for (prefixes, lens, longest) in
            [([0, 3, 0], [3, 4, 1], 7), ([0, 0, 1], [9, 2, 1], 9), ([0, 1, 2], [2, 3, 9], 11)]
        {
            let mut bytes = changes(&prefixes, 0);
            bytes.extend(changes(&lens, 0));
            bytes.extend(vec![b'x'; lens.iter().map(|&len| len as usize).sum()]);
            assert_eq!(checked(&bytes, 3, Encoding::DELTA_BYTE_ARRAY, texts), Ok(longest));
        }
    }
}
