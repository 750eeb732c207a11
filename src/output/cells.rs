//! Rows of text from the columns of a tile.
//!
//! Each column first becomes cells: texts followed by the separator, all with a fixed length, so that they are copied
//! quickly. Numbers, and texts from a small dictionary, are words of eight bytes. Texts are quoted or escaped once for
//! each word of their dictionary, not for each row. Writing a row is then a sequence of loads and stores.

#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Simd};
use crate::table::{Array, Items, Kind, Lists, TextBuffer, Texts, Tile, Values};
use crate::text::one_line;
use crate::text::short_text::{ShortText, three_digits};
use crate::text::text_writer::Room;
use std::io::Write as _;

/// The notation for sets of squares and keys. In Parquet and Arrow they are unsigned unless they are [signed](Self::Signed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum SquareSetStyle {
    /// `0x` and 16 hexadecimal digits; in JSON a string.
    #[default]
    Hex,
    /// Decimal digits; in JSON a number.
    Decimal,
    /// The same bits as a signed number of 64 bits, in tables too, for engines without unsigned numbers.
    Signed,
}

impl SquareSetStyle {
    /// The notation for 64-bit numbers in columns of this type.
    pub(super) fn digits(self, kind: Kind) -> Digits {
        match kind {
            Kind::Bits | Kind::ListOfBits if self == Self::Hex => Digits::Hex,
            Kind::Bits | Kind::ListOfBits if self == Self::Signed => Digits::Signed,
            Kind::I64 => Digits::Signed,
            Kind::F64 => Digits::Real,
            _ => Digits::Decimal,
        }
    }
}

/// The meaning of the 64 bits of a number, and its notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    Decimal,
    Hex,
    /// In two's complement.
    Signed,
    /// A real number, in the shortest form that reads back exactly; in JSON `null` if it is infinite.
    Real,
}

/// The text format of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// Fields that are quoted only if needed; nothing for a missing value.
    Csv,
    /// Numbers, strings, or `null`.
    Json,
}

impl Notation {
    const fn missing(self) -> ShortText {
        match self {
            Self::Csv => ShortText::EMPTY,
            Self::Json => ShortText::of(b"null"),
        }
    }
    /// The text before and after texts that need no escapes.
    const fn quote(self) -> ShortText {
        match self {
            Self::Csv => ShortText::EMPTY,
            Self::Json => ShortText::of(b"\""),
        }
    }
}

/// Appends a number.
fn push_number(number: i64, bytes: &mut Vec<u8>) {
    match u16::try_from(number) {
        Ok(number) => ShortText::number(number).append(bytes),
        // Into a vector, it does not fail.
        Err(_) => drop(write!(bytes, "{number}")),
    }
}

/// Appends a set of squares.
fn push_set(bits: u64, digits: Digits, notation: Notation, bytes: &mut Vec<u8>) {
    let quote = notation.quote();
    let written = match digits {
        Digits::Hex => {
            quote.append(bytes);
            let written = write!(bytes, "{bits:#018x}");
            quote.append(bytes);
            written
        }
        Digits::Signed => write!(bytes, "{}", bits as i64),
        _ => write!(bytes, "{bits}"),
    };
    drop(written);
}

/// Number of bytes that are copied at a time.
const STEP: usize = 32;

/// Columns of a tile, or the text between two of them, in each row.
#[derive(Debug)]
pub(super) enum Cells {
    /// The same text in each row.
    Fixed(Words),
    /// Texts of at most this number of bytes, which is not more than seven.
    Short(Vec<ShortText>, usize),
    /// Texts of at most 31 bytes; the last byte is the length.
    Long(Vec<[u8; STEP]>),
    /// The number of a text for each row.
    Words(Words, Vec<u32>),
    /// Texts that need neither quotes nor escapes.
    TextBuffer { strings: TextBuffer, notation: Notation, after: ShortText },
}

/// Texts one after the other.
#[derive(Debug, Default)]
pub(super) struct Words {
    bytes: Vec<u8>,
    /// The end of each text.
    ends: Vec<usize>,
}

impl Words {
    /// The words of a dictionary with the text after them, and the number of the word in each row. The first word is
    /// for missing values.
    fn of(texts: &Texts, notation: Notation, after: &[u8]) -> (Self, Vec<u32>) {
        let mut all = Self::default();
        all.push(after, |bytes| notation.missing().append(bytes));
        for word in texts.words().iter() {
            all.push(after, |bytes| match notation {
                Notation::Csv => write_csv_text(word, bytes),
                Notation::Json => write_json_string(word, bytes),
            });
        }
        let codes = texts.codes();
        let numbers = codes.values().iter().enumerate();
        let number = |(row, code)| if codes.is_present(row) { code + 1 } else { 0 };
        (all, numbers.map(|(row, &code)| number((row, code))).collect())
    }

    /// The texts of lists with the text after them. The first one is for missing values.
    fn of_lists(lists: &Lists, digits: Digits, notation: Notation, after: &[u8]) -> Self {
        let (begin, between, end): (&[u8], _, &[u8]) = match notation {
            Notation::Csv => (b"", b' ', b""),
            Notation::Json => (b"[", b',', b"]"),
        };
        let mut all = Self::default();
        all.push(after, |bytes| notation.missing().append(bytes));
        for row in 0..lists.len() {
            let items = lists.range(row).unwrap_or_default();
            let first = items.start;
            all.push(after, |bytes| {
                bytes.extend_from_slice(begin);
                for item in items {
                    if item > first {
                        bytes.push(between);
                    }
                    match lists.items() {
                        Items::I16(numbers) => push_number(numbers[item].into(), bytes),
                        Items::I32(numbers) => push_number(numbers[item].into(), bytes),
                        Items::U64(sets) => push_set(sets[item], digits, notation, bytes),
                        Items::U16(numbers) => ShortText::number(numbers[item]).append(bytes),
                        Items::Text(texts) => {
                            notation.quote().append(bytes);
                            bytes.extend_from_slice(texts.bytes(item));
                            notation.quote().append(bytes);
                        }
                    }
                }
                bytes.extend_from_slice(end);
            });
        }
        all
    }

    fn push(&mut self, after: &[u8], append: impl FnOnce(&mut Vec<u8>)) {
        append(&mut self.bytes);
        self.bytes.extend_from_slice(after);
        self.ends.push(self.bytes.len());
    }

    /// The bytes from a word on, and its length.
    #[inline(always)]
    fn from(&self, word: usize) -> (&[u8], usize) {
        let start = word.checked_sub(1).map_or(0, |before| self.ends[before]);
        (&self.bytes[start..], self.ends[word] - start)
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let words = (0..self.ends.len()).map(|word| self.from(word));
        words.map(|(bytes, len)| &bytes[..len])
    }

    /// Appends the only word of the other column to the only word.
    fn join(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
        self.ends = vec![self.bytes.len()];
    }

    fn longest(&self) -> usize {
        self.iter().map(<[u8]>::len).max().unwrap_or(0)
    }
}

/// Appends the rows of a tile; `end` follows each of them.
pub(super) fn write_rows(cells: &[Cells], end: &[u8], tile: &Tile<'_>, out: &mut Vec<u8>) {
    let end = ShortText::of(end);
    let most = cells.iter().map(Cells::most).sum::<usize>() + ShortText::ROOM;
    let mut room = Room::behind(out);
    for row in tile.runs().into_iter().flatten() {
        let row = row - tile.start;
        room.write(most, |text| {
            let write = |at, cells: &Cells| cells.write(row, text, at);
            let at = cells.iter().fold(0, write);
            end.write(text, at)
        });
    }
}

/// Adds the next column to the previous ones. Two columns are joined if their texts are short enough, or the same in
/// all rows.
pub(super) fn push(all: &mut Vec<Cells>, next: Cells) {
    if let (Some(Cells::Short(before, most)), Cells::Short(cells, more)) = (all.last_mut(), &next)
        && *most + more <= ShortText::MOST
    {
        *most += more;
        with_vectors(
            #[inline(always)]
            || {
                for (before, &cell) in before.iter_mut().zip(cells) {
                    *before = before.then(cell);
                }
            },
        );
        return;
    }
    if let (Some(Cells::Fixed(before)), Cells::Fixed(text)) = (all.last_mut(), &next) {
        before.join(text);
        return;
    }
    all.push(next);
}

impl Cells {
    /// The same text in each row.
    pub(super) fn fixed(text: &[u8]) -> Self {
        let mut words = Words::default();
        words.push(text, |_| {});
        Self::Fixed(words)
    }

    /// The values of a column, each followed by `after`, which is at most one byte.
    pub(super) fn of(array: Array, digits: Digits, notation: Notation, after: &[u8]) -> Self {
        let end = ShortText::of(after);
        let missing = notation.missing().then(end);
        if array.count_present() == 0 {
            let mut text = Vec::new();
            missing.append(&mut text);
            return Self::fixed(&text);
        }
        let short = |number: u16| ShortText::number(number).then(end);
        let signed = |number: i16| {
            let sign = match number {
                0.. => ShortText::EMPTY,
                _ => ShortText::of(b"-"),
            };
            sign.then(short(number.unsigned_abs()))
        };
        let column = |cells, longest: ShortText| {
            let most = longest.len().max(missing.len());
            Self::Short(cells, most)
        };
        match array {
            Array::Flag(values) => {
                let cells = each(&values, missing, |flag| short(flag.into()));
                column(cells, short(1))
            }
            Array::U8(values) => {
                let cells = each(&values, missing, |number| short(number.into()));
                column(cells, short(greatest(&values).into()))
            }
            Array::U16(values) => {
                let cells = each(&values, missing, short);
                column(cells, short(greatest(&values)))
            }
            Array::I16(values) => {
                let cells = each(&values, missing, signed);
                column(cells, signed(i16::MIN))
            }
            Array::U32(values) => {
                let long = |number: u32| long_text(|text| write_number(number.into(), text), end);
                Self::Long(each(&values, long_text(|_| 0, missing), long))
            }
            Array::U64(values) => {
                let quote = notation.quote();
                let missing = long_text(|_| 0, missing);
                let cells = |write: &dyn Fn(u64, &mut [u8; STEP]) -> usize| {
                    each(&values, missing, |number| long_text(|text| write(number, text), end))
                };
                Self::Long(match digits {
                    Digits::Hex => each(&values, missing, |bits| long_text(|text| write_hex(bits, quote, text), end)),
                    Digits::Decimal => {
                        each(&values, missing, |number| long_text(|text| write_number(number, text), end))
                    }
                    Digits::Signed => cells(&|number, text| write_formatted(format_args!("{}", number as i64), text)),
                    Digits::Real => cells(&|bits, text| match f64::from_bits(bits) {
                        number if number.is_infinite() && notation == Notation::Json => missing_in(notation, text),
                        number => write_formatted(format_args!("{number:?}"), text),
                    }),
                })
            }
            Array::Text(texts) => {
                let (words, numbers) = Words::of(&texts, notation, after);
                let short: Option<Vec<ShortText>> = words.iter().map(ShortText::try_of).collect();
                match short {
                    Some(short) => {
                        let number = |number| short[number as usize];
                        let most = words.longest();
                        Self::Short(numbers.into_iter().map(number).collect(), most)
                    }
                    None => Self::Words(words, numbers),
                }
            }
            Array::Boards(_) => unreachable!("no column of the catalogue has boards"),
            Array::Lists(lists) => {
                let words = Words::of_lists(&lists, digits, notation, after);
                let word = |row: usize| if lists.range(row).is_some() { row as u32 + 1 } else { 0 };
                Self::Words(words, (0..lists.len()).map(word).collect())
            }
            Array::TextBuffer(strings) => {
                let (quote, most) = (notation.quote(), strings.longest());
                let most = (most + 2 * quote.len() + end.len()).max(missing.len());
                if most > ShortText::MOST {
                    return Self::TextBuffer { strings, notation, after: end };
                }
                let cell = |row| {
                    if strings.is_present(row) {
                        let (bytes, len) = strings.bytes_from(row);
                        quote.then(ShortText::start_of(bytes, len)).then(quote).then(end)
                    } else {
                        missing
                    }
                };
                Self::Short((0..strings.len()).map(cell).collect(), most)
            }
        }
    }

    /// The room for the longest cell, and for the bytes written after it.
    fn most(&self) -> usize {
        let longest = match self {
            Self::Short(..) => return ShortText::ROOM,
            Self::Long(_) => 0,
            Self::Fixed(words) | Self::Words(words, _) => words.longest(),
            Self::TextBuffer { strings, .. } => strings.longest() + 2 * ShortText::ROOM,
        };
        longest + STEP
    }

    /// Writes the cell of a row, and arbitrary bytes after it, and returns where the cell ends.
    #[inline(always)]
    fn write(&self, row: usize, text: &mut [u8], at: usize) -> usize {
        match self {
            Self::Short(cells, _) => cells[row].write(text, at),
            _ => self.write_longer(row, text, at),
        }
    }

    /// The same as [`Self::write`]. It is a separate function, because the loop over short texts is only fast by
    /// itself.
    #[inline(never)]
    fn write_longer(&self, row: usize, text: &mut [u8], at: usize) -> usize {
        match self {
            Self::Fixed(words) => write_text(words.from(0), text, at),
            Self::Short(cells, _) => cells[row].write(text, at),
            Self::Long(cells) => {
                let cell = &cells[row];
                text[at..at + STEP].copy_from_slice(cell);
                at + usize::from(cell[STEP - 1])
            }
            Self::Words(words, numbers) => write_text(words.from(numbers[row] as usize), text, at),
            Self::TextBuffer { strings, notation, after } => {
                if !strings.is_present(row) {
                    return notation.missing().then(*after).write(text, at);
                }
                let at = notation.quote().write(text, at);
                let at = write_text(strings.bytes_from(row), text, at);
                notation.quote().then(*after).write(text, at)
            }
        }
    }
}

/// The greatest value, or the default.
fn greatest<T: Copy + Default + Ord>(values: &Values<T>) -> T {
    values.values().iter().copied().max().unwrap_or_default()
}

/// Runs loops over cells with vectors, if the CPU has them. The compiler vectorizes the loops.
#[inline(always)]
fn with_vectors<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect() {
        return avx2.enter(work);
    }
    work()
}

/// A cell for each value.
fn each<T: Copy + Clone + Default, C: Copy>(values: &Values<T>, missing: C, cell: impl Fn(T) -> C) -> Vec<C> {
    with_vectors(
        #[inline(always)]
        || cells_of(values, missing, cell),
    )
}

#[inline(always)]
fn cells_of<T: Copy + Clone + Default, C: Copy>(values: &Values<T>, missing: C, cell: impl Fn(T) -> C) -> Vec<C> {
    let mut cells = Vec::with_capacity(values.len());
    for (values, &present) in values.values().chunks(64).zip(values.present()) {
        if present == !0 >> (64 - values.len()) {
            cells.extend(values.iter().map(|&value| cell(value)));
        } else {
            cells.extend(values.iter().enumerate().map(|(row, &value)| match present >> row & 1 {
                0 => missing,
                _ => cell(value),
            }));
        }
    }
    cells
}

/// Writes the first `len` bytes of `from`, and arbitrary bytes after them, and returns where they end. There must be
/// room for [`STEP`] more bytes.
#[inline(always)]
fn write_text((from, len): (&[u8], usize), text: &mut [u8], at: usize) -> usize {
    let mut start = 0;
    while start < len {
        let (from, to) = (&from[start..], &mut text[at + start..]);
        match (from.first_chunk::<STEP>(), to.first_chunk_mut::<STEP>()) {
            (Some(from), Some(to)) => *to = *from,
            _ => return write_last((from, len - start), text, at + start),
        }
        start += STEP;
    }
    at + len
}

/// The same as [`write_text`], for bytes that are not followed by others.
#[cold]
#[inline(never)]
fn write_last((from, len): (&[u8], usize), text: &mut [u8], at: usize) -> usize {
    text[at..at + len].copy_from_slice(&from[..len]);
    at + len
}

/// Calls `write`, which returns the length of its text, and then appends another text.
#[inline(always)]
fn long_text(write: impl FnOnce(&mut [u8; STEP]) -> usize, after: ShortText) -> [u8; STEP] {
    let mut text = [0; STEP];
    let len = write(&mut text);
    text[STEP - 1] = after.write(&mut text, len) as u8;
    text
}

/// Writes a number in decimal and returns its length.
fn write_number(number: u64, text: &mut [u8; STEP]) -> usize {
    if let Ok(number) = u16::try_from(number) {
        return ShortText::number(number).write(text, 0);
    }
    let at = write_number(number / 1000, text);
    three_digits((number % 1000) as usize).write(text, at)
}

fn missing_in(notation: Notation, text: &mut [u8; STEP]) -> usize {
    notation.missing().write(text, 0)
}

/// Writes formatted text, as far as there is room, and returns its length.
fn write_formatted(formatted: std::fmt::Arguments<'_>, text: &mut [u8; STEP]) -> usize {
    // The longest real number has 24 bytes.
    let mut rest = &mut text[..];
    let _ = rest.write_fmt(formatted);
    let left = rest.len();
    STEP - left
}

/// Writes `0x` and 16 hexadecimal digits between quotes and returns the length.
fn write_hex(bits: u64, quote: ShortText, text: &mut [u8; STEP]) -> usize {
    let mut at = quote.then(ShortText::of(b"0x")).write(text, 0);
    for half in [bits >> 32, bits & 0xFFFF_FFFF] {
        text[at..at + 8].copy_from_slice(&hex_digits(half as u32));
        at += 8;
    }
    quote.write(text, at)
}

/// Eight hexadecimal digits.
fn hex_digits(bits: u32) -> [u8; 8] {
    // One digit per byte, with the highest digit in the highest byte.
    let bits = u64::from(bits);
    let bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF;
    let bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF;
    let digits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F;
    // 1 in each byte whose digit is above 9.
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    let letters = letters * u64::from(b'a' - b'0' - 10);
    (digits + 0x3030_3030_3030_3030 + letters).to_be_bytes()
}

/// Appends a text as a CSV field, quoted if needed and on one line.
pub(crate) fn write_csv_text(text: &str, out: &mut Vec<u8>) {
    if !text.bytes().any(|byte| matches!(byte, b',' | b'"')) {
        one_line::push(text.as_bytes(), out);
        return;
    }
    out.push(b'"');
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\"\"");
        }
        one_line::push(part.as_bytes(), out);
    }
    out.push(b'"');
}

/// Appends a text as a JSON string.
pub(crate) fn write_json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend_from_slice(&[b'\\', char as u8]),
            ' '..='~' => out.push(char as u8),
            _ if one_line::is_control(char) => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::packed::Packed;
    use crate::queries::GroupResults;
    use crate::table::Batch;
    use crate::tiers::Tier;
    use std::sync::Arc;

    /// The text of the only row.
    fn row(cells: &[Cells]) -> String {
        let mut batch = Batch::new();
        batch.push(Packed::pack(&Position::standard()).unwrap(), 0, 1);
        let results = [GroupResults::default()];
        let batch = Arc::new(batch);
        let tile = Tile::new(Tier::PORTABLE.analyzer().unwrap(), &batch, 0, 1, &results, &[1]);
        let mut out = b"before ".to_vec();
        write_rows(cells, b"\n", &tile, &mut out);
        let text = String::from_utf8(out).unwrap();
        let row = text.strip_prefix("before ").unwrap();
        row.strip_suffix('\n').unwrap().to_owned()
    }

    fn written(digits: Digits, array: Array, notation: Notation) -> String {
        let cells = [Cells::of(array, digits, notation, b",")];
        row(&cells).strip_suffix(',').unwrap().to_owned()
    }

    #[test]
    fn texts_are_quoted_only_if_needed() {
        let written = |text: &str, notation| {
            let mut texts = Texts::default();
            texts.push(Some(text));
            written(Digits::Decimal, Array::Text(texts), notation)
        };
        let csv = |text| written(text, Notation::Csv);
        let json = |text| written(text, Notation::Json);
        assert_eq!(csv("B12"), "B12");
        assert_eq!(csv("Caro-Kann, \"Fantasy\""), "\"Caro-Kann, \"\"Fantasy\"\"\"");
        assert_eq!(csv("a,b"), "\"a,b\"");
        assert_eq!(csv("a\"b"), "\"a\"\"b\"");
        assert_eq!(csv("\""), "\"\"\"\"");
        // A line feed becomes a blank, and a blank needs no quotes.
        assert_eq!(csv("a\nb\u{85}"), "a b ");
        assert_eq!(json("\u{7f}\u{2028}"), "\"\\u007f\\u2028\"");
        assert_eq!(json("a\"b\\c\u{1}é"), "\"a\\\"b\\\\c\\u0001é\"");
    }

    #[test]
    fn texts_of_any_length() {
        for len in (0..100).chain([16_383, 16_384, 50_000]) {
            let text: String = ('a'..='z').cycle().take(len).collect();
            let mut texts = Texts::default();
            texts.push(Some(text.as_str()));
            let mut strings = TextBuffer::default();
            strings.push(Some(&text));
            for array in [Array::Text(texts), Array::TextBuffer(strings)] {
                assert_eq!(written(Digits::Decimal, array.clone(), Notation::Csv), text);
                let quoted = format!("\"{text}\"");
                assert_eq!(written(Digits::Decimal, array, Notation::Json), quoted);
            }
            assert_eq!(row(&[Cells::fixed(text.as_bytes())]), text);
        }
    }

    #[test]
    fn numbers() {
        let large = (1..20).map(|digits| 10u64.pow(digits));
        let around = large.flat_map(|number| [number - 1, number, number + 1]);
        for number in around.chain([0, 65_535, 65_536, u64::MAX]) {
            let values = || Array::U64([number].into_iter().collect());
            let decimal = number.to_string();
            let hex = format!("{number:#018x}");
            for notation in [Notation::Csv, Notation::Json] {
                assert_eq!(written(Digits::Decimal, values(), notation), decimal);
            }
            assert_eq!(written(Digits::Hex, values(), Notation::Csv), hex);
            assert_eq!(written(Digits::Hex, values(), Notation::Json), format!("\"{hex}\""));
        }
        for number in [i16::MIN, -1000, -1, 0, 1, i16::MAX] {
            let values = Array::I16([number].into_iter().collect());
            assert_eq!(written(Digits::Decimal, values, Notation::Csv), number.to_string());
        }
    }

    #[test]
    fn short_neighbours_are_joined() {
        let mut all = Vec::new();
        for number in [12, 3, 4, 567, 89] {
            let array = Array::U16([number].into_iter().collect());
            push(&mut all, Cells::of(array, Digits::Decimal, Notation::Csv, b","));
        }
        assert_eq!(all.len(), 2);
        assert_eq!(row(&all), "12,3,4,567,89,");
    }

    #[test]
    fn missing_values() {
        let mut strings = TextBuffer::default();
        strings.push(None);
        for array in [
            Array::Flag(Values::missing(1)),
            Array::I16(Values::missing(1)),
            Array::U32(Values::missing(1)),
            Array::U64(Values::missing(1)),
            Array::Text(Texts::missing(1)),
            Array::TextBuffer(strings),
        ] {
            assert_eq!(written(Digits::Decimal, array.clone(), Notation::Csv), "");
            assert_eq!(written(Digits::Hex, array, Notation::Json), "null");
        }
    }
}
