//! Finds the pages of a Parquet column chunk, from their headers alone.
//!
//! A header is a structure of Thrift's compact protocol. Only the fields for the length of the page and its number of
//! values are read. All sizes are checked, so that later code can rely on them.

use super::MOST_BYTES;
use super::page_checks::Written;
use crate::input::RandomAccess;
use std::ops::Range;

/// A data page or dictionary page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// The offset of its header in the file.
    pub(super) place: u64,
    /// Number of bytes of header and content in the file.
    pub(super) len: u64,
    /// Number of bytes of the content after decompression.
    pub(super) unpacked: u64,
    /// Number of bytes at the beginning of the content that are not compressed.
    pub(super) levels: u64,
    /// Whether the rest is compressed, if the column is.
    pub(super) is_packed: bool,
    pub(super) is_dictionary: bool,
    pub(super) encoding: i64,
    /// The first row that begins in the page, counted in the row group, and how many do.
    pub(super) first_row: u64,
    pub(super) rows: u64,
    /// Number of values: of lists, a row has several.
    pub(super) values: u64,
    /// Whether the page begins within a list that began in a page before.
    pub(super) continues: bool,
}

impl Page {
    /// Whether values are numbers of dictionary entries.
    pub(super) fn uses_dictionary(&self) -> bool {
        matches!(self.encoding, 2 | 8)
    }
    /// Whether values are written as changes to the value before.
    pub(super) fn is_incremental(&self) -> bool {
        self.encoding == 7
    }
    /// Number of bytes of memory that reading it takes, besides those of its values.
    pub(super) fn memory(&self) -> u64 {
        // The lengths of values that are written as changes are unpacked at once.
        let lengths = match self.encoding {
            6 | 7 => 16 * self.values,
            _ => 0,
        };
        self.unpacked + self.len + lengths
    }
}

/// The pages of a column chunk.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    pub(super) dictionary: Option<Page>,
    pub(super) data: Vec<Page>,
}

impl Pages {
    /// The data pages that contain these rows.
    pub(super) fn of_rows(&self, rows: &Range<u64>) -> &[Page] {
        let end = |page: &Page| page.first_row + page.rows;
        let from = self.data.partition_point(|page| end(page) <= rows.start);
        // A list may go on in the next pages.
        let is_of_rows = |page: &Page| page.first_row < rows.end + u64::from(page.continues);
        let to = self.data.partition_point(is_of_rows);
        self.data.get(from..to).unwrap_or_default()
    }
}

/// Number of bytes that are read to find the end of a header.
const HEADER: u64 = 4 << 10;
/// The longest header that is accepted: statistics in it may have long values.
const LONGEST_HEADER: u64 = 16 << 20;
/// Maximum number of pages of a column chunk.
const MOST_PAGES: usize = 1 << 22;

/// Reads the headers of the pages in a range of the file, which must have `rows` rows together. Headers of lists do not
/// always say how many rows begin in their page: then `count` unpacks it, and also tells whether it begins within a list.
///
/// # Errors
/// With the place, if the range does not consist of pages with that number of rows.
pub(super) fn walk(
    source: &RandomAccess,
    chunk: Range<u64>,
    rows: u64,
    written: Written,
    count: impl Fn(&Page) -> Result<(u64, bool), String>,
) -> Result<Pages, (u64, String)> {
    let mut pages = Pages { dictionary: None, data: Vec::new() };
    let mut at = chunk.start;
    let mut seen = 0u64;
    while at < chunk.end {
        let wrong = |what: &str| (at, format!("the page header {what}"));
        let (header, len) = header_at(source, at..chunk.end).map_err(|what| (at, what))?;
        let numbers = [header.packed, header.unpacked, header.values, header.rows];
        if numbers.iter().any(|&number| i32::try_from(number).is_err()) {
            return Err(wrong("has an impossible number"));
        }
        let size = u64::try_from(header.packed).map_err(|_| wrong("has a negative size"))?;
        let unpacked = u64::try_from(header.unpacked).map_err(|_| wrong("has a negative size"))?;
        if size > chunk.end - at - len {
            return Err(wrong("claims more bytes than the column has"));
        }
        if unpacked > MOST_BYTES {
            return Err((
                at,
                format!("a page has {unpacked} bytes after decompression; at most {MOST_BYTES} are read"),
            ));
        }
        let page = |values: i64, encoding| -> Result<Page, (u64, String)> {
            let values = u64::try_from(values).map_err(|_| wrong("has a negative number of values"))?;
            Ok(Page {
                place: at,
                len: len + size,
                unpacked,
                levels: 0,
                is_packed: true,
                is_dictionary: header.kind == DICTIONARY,
                encoding,
                first_row: seen,
                rows: values,
                values,
                continues: false,
            })
        };
        let holds_fewer = |page: &Page| {
            !written.is_optional()
                && page.encoding == 0
                && page.values.saturating_mul(written.width) > page.unpacked - page.levels
        };
        match header.kind {
            DATA => {
                let mut page = page(header.values, header.encoding)?;
                if holds_fewer(&page) {
                    return Err(wrong("claims more values than the page has"));
                }
                if written.is_list && page.values > 0 {
                    (page.rows, page.continues) = count(&page).map_err(|what| (at, what))?;
                }
                if page.continues && seen == 0 {
                    return Err((at, "the first list has no beginning".to_owned()));
                }
                seen += page.rows;
                pages.data.push(page);
            }
            DATA_V2 => {
                let mut page = page(header.values, header.encoding)?;
                if written.is_list && (0..=header.values).contains(&header.rows) {
                    page.rows = header.rows as u64;
                } else if header.rows != header.values {
                    return Err(wrong("has another number of rows than of values"));
                }
                let levels =
                    header.levels.iter().try_fold(0, |sum: u64, &levels| sum.checked_add(u64::try_from(levels).ok()?));
                page.levels = levels
                    .filter(|&levels| levels <= size && levels <= unpacked)
                    .ok_or_else(|| wrong("has levels that are longer than the page"))?;
                page.is_packed = header.is_packed;
                if holds_fewer(&page) {
                    return Err(wrong("claims more values than the page has"));
                }
                seen += page.rows;
                pages.data.push(page);
            }
            DICTIONARY => {
                if pages.dictionary.is_some() || !pages.data.is_empty() {
                    return Err(wrong("is that of a second dictionary"));
                }
                let page = page(header.values, header.encoding)?;
                if page.values.saturating_mul(written.width) > unpacked {
                    return Err(wrong("claims more values than the dictionary has"));
                }
                pages.dictionary = Some(page);
            }
            INDEX => {}
            _ => return Err(wrong("is of an unknown kind")),
        }
        if seen > rows || pages.data.len() > MOST_PAGES {
            break;
        }
        at += len + size;
    }
    if seen != rows {
        let what = format!("the pages have {seen} rows, and the metadata has {rows}");
        return Err((chunk.start, what));
    }
    pages.data.retain(|page| page.values > 0);
    if pages.dictionary.is_none() && pages.data.iter().any(Page::uses_dictionary) {
        return Err((chunk.start, "a dictionary is missing".to_owned()));
    }
    Ok(pages)
}

/// Reads the header at the beginning of a range; also returns its length.
fn header_at(source: &RandomAccess, range: Range<u64>) -> Result<(Header, u64), String> {
    let mut window = HEADER;
    loop {
        let end = range.end.min(range.start + window);
        let bytes = source.bytes(range.start..end).map_err(|error| error.to_string())?;
        bytes.check().map_err(|error| error.to_string())?;
        let mut thrift = Thrift { bytes: &bytes, at: 0 };
        match thrift.header() {
            Some(header) => return Ok((header, thrift.at as u64)),
            None if end < range.end && window < LONGEST_HEADER => window *= 16,
            None => return Err("there is no page header".to_owned()),
        }
    }
}

const DATA: i64 = 0;
const INDEX: i64 = 1;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

/// A page header, as far as it is read.
#[derive(Debug)]
struct Header {
    kind: i64,
    unpacked: i64,
    packed: i64,
    values: i64,
    rows: i64,
    encoding: i64,
    levels: [i64; 2],
    is_packed: bool,
}

/// The number of row groups that the metadata of a file claims; `None` if it cannot be found.
pub(super) fn row_groups(metadata: &[u8]) -> Option<u64> {
    let mut thrift = Thrift { bytes: metadata, at: 0 };
    let mut groups = None;
    thrift.structure(DEPTH, |thrift, id, kind| {
        if id == 4 && kind == LIST {
            let (size, element) = thrift.list()?;
            groups = Some(size);
            return (0..size).try_for_each(|_| thrift.skip(element, DEPTH));
        }
        thrift.skip(kind, DEPTH)
    })?;
    groups
}

/// How deep structures may be nested.
const DEPTH: u32 = 32;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// A reader of the compact protocol; its functions return `None` if the bytes end or make no sense.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
    fn number(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
    /// Reads the fields of a structure. `each` reads the value of a field, given its number and type.
    fn structure(&mut self, depth: u32, mut each: impl FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        depth.checked_sub(1)?;
        let mut id = 0;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Some(());
            }
            id = match byte >> 4 {
                0 => self.number()?,
                more => id + i64::from(more),
            };
            each(self, id, byte & 0xF)?;
        }
    }
    /// The number of elements of a list, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let size = match byte >> 4 {
            15 => self.varint()?,
            size => size.into(),
        };
        // An element has a byte at least.
        (size <= self.bytes.len() as u64).then_some((size, byte & 0xF))
    }
    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            TRUE | FALSE => Some(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let len = self.varint()?;
                self.pass(len)
            }
            LIST | SET => {
                let depth = depth.checked_sub(1)?;
                let (size, element) = self.list()?;
                (0..size).try_for_each(|_| match element {
                    // Only as an element of a list does a truth value take a byte.
                    TRUE | FALSE => self.pass(1),
                    _ => self.skip(element, depth),
                })
            }
            STRUCT => {
                let depth = depth.checked_sub(1)?;
                self.structure(depth, |thrift, _, kind| thrift.skip(kind, depth))
            }
            _ => None,
        }
    }
    fn pass(&mut self, len: u64) -> Option<()> {
        let left = self.bytes.len() - self.at;
        let len = usize::try_from(len).ok().filter(|&len| len <= left)?;
        self.at += len;
        Some(())
    }
    fn header(&mut self) -> Option<Header> {
        let mut header = Header {
            kind: -1,
            unpacked: -1,
            packed: -1,
            values: -1,
            rows: -1,
            encoding: -1,
            levels: [0; 2],
            is_packed: true,
        };
        self.structure(DEPTH, |thrift, id, kind| {
            match (id, kind) {
                (1, 5) => header.kind = thrift.number()?,
                (2, 5) => header.unpacked = thrift.number()?,
                (3, 5) => header.packed = thrift.number()?,
                (5 | 7 | 8, STRUCT) => {
                    thrift.structure(DEPTH - 1, |thrift, field, kind| {
                        match (id, field, kind) {
                            (_, 1, 5) => header.values = thrift.number()?,
                            (5 | 7, 2, 5) | (8, 4, 5) => header.encoding = thrift.number()?,
                            (8, 3, 5) => header.rows = thrift.number()?,
                            (8, 5, 5) => header.levels[0] = thrift.number()?,
                            (8, 6, 5) => header.levels[1] = thrift.number()?,
                            (8, 7, FALSE) => header.is_packed = false,
                            _ => thrift.skip(kind, DEPTH - 2)?,
                        }
                        Some(())
                    })?;
                }
                _ => thrift.skip(kind, DEPTH - 1)?,
            }
            Some(())
        })?;
        Some(header)
    }
}
