//! A column of a block as a data page.
//!
//! Numbers of up to 16 bits are their own codes in a dictionary of all small numbers. So pages are packed to the bits
//! that their largest value needs, and do not depend on each other. Pages with larger numbers, and wider numbers, are
//! written as they are. Flags are bits. Texts that repeat have the codes that their block assigned.
//!
//! After the specification at <https://github.com/apache/parquet-format>: encodings `PLAIN` and `RLE_DICTIONARY`,
//! definition levels, and the compact protocol of Thrift for page headers.

use super::compression::Compressor;
use super::min_max::{Range, TextEnds};
use crate::columnar::column_descriptions::days_of;
use crate::table::{Array, Items, Kind, Lists, Texts, Values};
use std::io;
use std::sync::Arc;

/// Numbers below this limit are their own codes.
const NUMBERS: u32 = 1 << 12;

/// A finished page.
#[derive(Debug)]
pub(super) struct Page {
    /// Header and content.
    pub(super) bytes: Vec<u8>,
    /// Number of bytes before compression.
    pub(super) uncompressed: usize,
    pub(super) rows: usize,
    /// Number of levels: of lists, a row may have several.
    pub(super) values: usize,
    pub(super) nulls: usize,
    /// The smallest and the largest value; `None` if there is none, or they are too long.
    pub(super) range: Option<Range>,
    /// The number of codes that a dictionary must have, if the values are codes.
    pub(super) codes: Option<u32>,
    /// The hashes of the values, if the column has a Bloom filter.
    pub(super) hashes: Option<Vec<u64>>,
}

/// A dictionary page.
#[derive(Debug)]
pub(super) struct DictionaryPage {
    /// Header and content.
    pub(super) bytes: Vec<u8>,
    /// Number of bytes before compression.
    pub(super) uncompressed: usize,
}

/// The content of a dictionary.
pub(super) enum TextList<'a> {
    /// All numbers of a type below the number of codes.
    Numbers(Kind, u32),
    /// Texts.
    Texts(&'a [Arc<str>]),
}

// Of the specification: types of pages, and encodings.
const DATA_PAGE: u32 = 0;
const DICTIONARY_PAGE: u32 = 2;
const PLAIN: u32 = 0;
const RLE: u32 = 3;
const RLE_DICTIONARY: u32 = 8;

/// A number in groups of seven bits, the lowest ones first.
fn push_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The next field of a Thrift struct: a 32-bit integer.
fn push_field(number: i32, out: &mut Vec<u8>) {
    // The distance to the field before, and the type.
    out.push(0x15);
    push_varint(u64::from((number << 1 ^ number >> 31) as u32), out);
}

/// Bits from the lowest on.
fn push_bits(words: &[u64], bits: usize, out: &mut Vec<u8>) {
    let len = bits.div_ceil(8);
    let start = out.len();
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    out.truncate(start + len);
}

/// Codes with the bits that the largest one needs: the width, and one run.
fn push_codes(codes: &[u32], most: u32, out: &mut Vec<u8>) {
    let width = (u32::BITS - most.leading_zeros()).max(1);
    out.push(width as u8);
    let Some(&first) = codes.first() else {
        return;
    };
    if codes.iter().all(|&code| code == first) {
        push_varint((codes.len() as u64) << 1, out);
        out.extend_from_slice(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
        return;
    }
    push_packed(codes, width, out);
}

/// Numbers with this many bits each, as one run.
fn push_packed(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let groups = numbers.len().div_ceil(8);
    push_varint((groups as u64) << 1 | 1, out);
    let end = out.len() + groups * width as usize;
    let (mut bits, mut len) = (0u64, 0);
    for &number in numbers {
        bits |= u64::from(number) << len;
        len += width;
        if len >= 32 {
            out.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= 32;
            len -= 32;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes());
    out.resize(end, 0);
}

fn push_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
}

/// Encodes pages, one after the other.
#[derive(Debug)]
pub(super) struct PageEncoder {
    compressor: Compressor,
    /// Content before compression.
    content: Vec<u8>,
    codes: Vec<u32>,
}

/// The encoding of the values of a page.
struct Written {
    range: Option<Range>,
    codes: Option<u32>,
}

impl Written {
    fn plain(range: Option<Range>) -> Self {
        Self { range, codes: None }
    }
}

impl PageEncoder {
    pub(super) fn new(compressor: Compressor) -> Self {
        Self { compressor, content: Vec::new(), codes: Vec::new() }
    }

    /// A page of these values of a column; `codes` are those of texts, if they have any.
    pub(super) fn page(
        &mut self,
        values: &Array,
        kind: Kind,
        nullable: bool,
        codes: Option<&[u32]>,
    ) -> io::Result<Page> {
        let days = match (kind, values) {
            (Kind::Date, Array::Text(texts)) => Some(days_of(texts)),
            _ => None,
        };
        let present = days.as_ref().map_or(values.present(), Values::present);
        let rows = values.len();
        let there = present.iter().map(|word| word.count_ones() as usize).sum();
        self.content.clear();
        if let Array::Lists(lists) = values
            && (nullable || there == rows)
        {
            return self.page_of_lists(lists, nullable, rows - there);
        }
        if nullable {
            self.push_levels(present, rows, there);
        } else if there < rows {
            return Err(io::Error::other("a value is missing that cannot be"));
        }
        let all = there == rows;
        let written = match &days {
            Some(days) => {
                let days = there_of(days, all);
                let range = Range::of(days.iter().copied(), Range::Signed);
                push_numbers(&days, |day| day.to_le_bytes(), &mut self.content);
                Written::plain(range)
            }
            None => match (kind, values) {
                (Kind::Time, Array::U32(values)) => {
                    let values = there_of(values, all);
                    push_numbers(&values, u32::to_le_bytes, &mut self.content);
                    Written::plain(None)
                }
                _ => self.push_values(values, all, codes),
            },
        };
        // Ranges are those of unsigned numbers, and only sets and keys are so in the file.
        let range = written.range.filter(|range| match (kind, range) {
            (Kind::I64 | Kind::F64 | Kind::Timestamp, _) => false,
            (Kind::U64, &Range::U64(_, most)) => i64::try_from(most).is_ok(),
            _ => true,
        });
        let encoding = match written.codes {
            Some(_) => RLE_DICTIONARY,
            None => PLAIN,
        };
        // Definition and repetition levels come last.
        let header = [rows as u32, encoding, RLE, RLE];
        let (bytes, uncompressed) = self.finish(DATA_PAGE, &header)?;
        Ok(Page {
            bytes,
            uncompressed,
            rows,
            values: rows,
            nulls: rows - there,
            range,
            codes: written.codes,
            hashes: None,
        })
    }

    /// A page of lists. Before the items, levels say which of them continue a list, and whether a list is
    /// missing (0), empty (1), or has an item (3); one less where no list can be missing.
    fn page_of_lists(&mut self, lists: &Lists, nullable: bool, nulls: usize) -> io::Result<Page> {
        let empty = u32::from(nullable);
        let (mut continues, mut defined) = (Vec::new(), Vec::new());
        for row in 0..lists.len() {
            continues.push(0u32);
            match lists.range(row).map(|items| items.len()) {
                None => defined.push(0u32),
                Some(0) => defined.push(empty),
                Some(items) => {
                    continues.resize(continues.len() + items - 1, 1);
                    defined.resize(defined.len() + items, empty + 2);
                }
            }
        }
        for (levels, width) in [(&continues, 1), (&defined, 2)] {
            let start = self.content.len();
            self.content.extend_from_slice(&[0; 4]);
            push_packed(levels, width, &mut self.content);
            let len = (self.content.len() - start - 4) as u32;
            self.content[start..start + 4].copy_from_slice(&len.to_le_bytes());
        }
        match lists.items() {
            Items::I16(numbers) => push_numbers(numbers, |number| i32::from(number).to_le_bytes(), &mut self.content),
            Items::U16(numbers) => push_numbers(numbers, |number| u32::from(number).to_le_bytes(), &mut self.content),
            Items::I32(numbers) => push_numbers(numbers, i32::to_le_bytes, &mut self.content),
            Items::U64(bits) => push_numbers(bits, u64::to_le_bytes, &mut self.content),
            Items::Text(texts) => (0..texts.len()).for_each(|at| push_text(texts.bytes(at), &mut self.content)),
        }
        let values = defined.len();
        let header = [values as u32, PLAIN, RLE, RLE];
        let (bytes, uncompressed) = self.finish(DATA_PAGE, &header)?;
        Ok(Page { bytes, uncompressed, rows: lists.len(), values, nulls, range: None, codes: None, hashes: None })
    }

    /// The dictionary of a column chunk.
    pub(super) fn dictionary(&mut self, words: &TextList<'_>) -> io::Result<DictionaryPage> {
        self.content.clear();
        let len = match words {
            &TextList::Numbers(kind, len) => {
                let number = |code: u32| match kind {
                    // Even codes are numbers from 0 on, odd ones those from -1 down.
                    Kind::I16 | Kind::I32 => (code >> 1) as i32 ^ -((code & 1) as i32),
                    _ => code as i32,
                };
                let bytes = (0..len).flat_map(|code| number(code).to_le_bytes());
                self.content.extend(bytes);
                len
            }
            TextList::Texts(texts) => {
                for text in *texts {
                    push_text(text.as_bytes(), &mut self.content);
                }
                texts.len() as u32
            }
        };
        let (bytes, uncompressed) = self.finish(DICTIONARY_PAGE, &[len, PLAIN])?;
        Ok(DictionaryPage { bytes, uncompressed })
    }

    /// Header and compressed content of a page of a type, and their length before compression; the header of its type
    /// has these fields.
    fn finish(&mut self, page: u32, fields: &[u32]) -> io::Result<(Vec<u8>, usize)> {
        let size = |len: usize| i32::try_from(len).map_err(|_| io::Error::other("a page would be larger than 2 GiB"));
        let content = self.compressor.compress(&self.content)?;
        let mut bytes = Vec::with_capacity(content.len() + 32);
        push_field(page as i32, &mut bytes);
        push_field(size(self.content.len())?, &mut bytes);
        push_field(size(content.len())?, &mut bytes);
        push_field(crc32fast::hash(&content) as i32, &mut bytes);
        // A struct: the distance to the field before, which was number 4, and the type.
        let field = 5 + page as u8;
        bytes.push((field - 4) << 4 | 0xC);
        for &number in fields {
            push_field(number as i32, &mut bytes);
        }
        // The ends of both structs.
        bytes.extend_from_slice(&[0, 0]);
        let header = bytes.len();
        bytes.extend_from_slice(&content);
        Ok((bytes, header + self.content.len()))
    }

    /// The rows that have a value, as one run, after its length.
    fn push_levels(&mut self, present: &[u64], rows: usize, there: usize) {
        let out = &mut self.content;
        out.extend_from_slice(&[0; 4]);
        if there == rows || there == 0 {
            push_varint((rows as u64) << 1, out);
            out.push(u8::from(there > 0));
        } else {
            push_varint((rows.div_ceil(8) as u64) << 1 | 1, out);
            push_bits(present, rows, out);
        }
        let len = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&len.to_le_bytes());
    }

    fn push_values(&mut self, array: &Array, all: bool, codes: Option<&[u32]>) -> Written {
        let out = &mut self.content;
        match array {
            Array::Flag(flags) => {
                let flags = there_of(flags, all);
                let range = Range::of(flags.iter().copied(), Range::Flag);
                let words: Vec<u64> =
                    flags.chunks(64).map(|flags| crate::table::bits_where(flags, |flag| flag)).collect();
                push_bits(&words, flags.len(), out);
                Written::plain(range)
            }
            Array::U8(values) => {
                let range = |least, most| Range::Unsigned(least, most);
                self.push_small(&there_of(values, all), u32::from, range)
            }
            Array::U16(values) => {
                let range = |least, most| Range::Unsigned(least, most);
                self.push_small(&there_of(values, all), u32::from, range)
            }
            Array::I16(values) => self.push_signed(&there_of(values, all)),
            Array::U32(values) => {
                let values = there_of(values, all);
                push_numbers(&values, |value| u64::from(value).to_le_bytes(), out);
                Written::plain(Range::of(values.iter().map(|&value| value.into()), Range::U64))
            }
            Array::U64(values) => {
                let values = there_of(values, all);
                push_numbers(&values, u64::to_le_bytes, out);
                Written::plain(Range::of(values.iter().copied(), Range::U64))
            }
            Array::Boards(boards) => {
                out.extend_from_slice(bytemuck::cast_slice(&there_of(boards, all)));
                Written::plain(None)
            }
            Array::Text(texts) => match codes {
                Some(codes) => {
                    self.codes.clear();
                    let there = codes.iter().zip(0..).filter(|&(_, row)| texts.codes().is_present(row));
                    self.codes.extend(there.map(|(&code, _)| code));
                    let most = self.codes.iter().copied().max().unwrap_or(0);
                    push_codes(&self.codes, most, out);
                    Written { range: Range::of_texts(words_of(texts)), codes: Some(most + 1) }
                }
                None => {
                    let rows = 0..texts.len();
                    for text in rows.filter_map(|row| texts.get(row)) {
                        push_text(text.as_bytes(), out);
                    }
                    Written::plain(Range::of_texts(words_of(texts)))
                }
            },
            Array::Lists(_) => Written::plain(None),
            Array::TextBuffer(strings) => {
                let (bytes, ends) = strings.parts();
                let (mut start, mut texts) = (0, TextEnds::default());
                self.codes.clear();
                let mut last = None;
                for (row, &end) in ends.iter().enumerate() {
                    let text = &bytes[start..end as usize];
                    start = end as usize;
                    if !strings.is_present(row) {
                        continue;
                    }
                    let Some(codes) = codes else {
                        texts.add(text);
                        push_text(text, out);
                        continue;
                    };
                    if last.replace(codes[row]) != Some(codes[row]) {
                        texts.add(text);
                    }
                    self.codes.push(codes[row]);
                }
                if codes.is_none() {
                    return Written::plain(texts.range());
                }
                let most = self.codes.iter().copied().max().unwrap_or(0);
                push_codes(&self.codes, most, out);
                Written { range: texts.range(), codes: Some(most + 1) }
            }
        }
    }

    /// Numbers that are codes of themselves, if all are small.
    fn push_small<T: Copy + Ord>(
        &mut self,
        values: &[T],
        number: impl Fn(T) -> u32,
        range: impl Fn(u32, u32) -> Range,
    ) -> Written {
        self.codes.clear();
        self.codes.extend(values.iter().map(|&value| number(value)));
        let ends = self.codes.iter().fold((u32::MAX, 0), |(least, most), &code| (code.min(least), code.max(most)));
        let range = (!values.is_empty()).then(|| range(ends.0, ends.1));
        if ends.1 < NUMBERS {
            push_codes(&self.codes, ends.1, &mut self.content);
            return Written { range, codes: Some(ends.1 + 1) };
        }
        push_numbers(&self.codes, u32::to_le_bytes, &mut self.content);
        Written::plain(range)
    }

    fn push_signed(&mut self, values: &[i16]) -> Written {
        let range = Range::of(values.iter().map(|&value| value.into()), Range::Signed);
        self.codes.clear();
        let codes = values.iter().map(|&value| (value << 1 ^ value >> 15) as u16);
        self.codes.extend(codes.map(u32::from));
        let most = self.codes.iter().copied().max().unwrap_or(0);
        if most < NUMBERS {
            push_codes(&self.codes, most, &mut self.content);
            return Written { range, codes: Some(most + 1) };
        }
        push_numbers(values, |value| i32::from(value).to_le_bytes(), &mut self.content);
        Written::plain(range)
    }
}

/// The values that are not missing.
fn there_of<T: Copy + Default>(values: &Values<T>, all: bool) -> std::borrow::Cow<'_, [T]> {
    if all {
        return values.values().into();
    }
    let there = crate::table::rows_of(values.present());
    there.map(|row| values.values()[row]).collect::<Vec<_>>().into()
}

fn push_numbers<T: Copy, const LEN: usize>(values: &[T], bytes: impl Fn(T) -> [u8; LEN], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + values.len() * LEN, 0);
    for (out, &value) in out[start..].as_chunks_mut::<LEN>().0.iter_mut().zip(values) {
        *out = bytes(value);
    }
}

/// The texts that occur, each at least once.
fn words_of(texts: &Texts) -> impl Iterator<Item = &[u8]> {
    let mut last = None;
    (0..texts.len()).filter_map(move |row| {
        let &code = texts.codes().get(row)?;
        let is_new = last.replace(code) != Some(code);
        is_new.then(|| texts.words()[code as usize].as_bytes())
    })
}
