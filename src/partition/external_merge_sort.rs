//! Rows in the order of their keys, by an external merge sort.
//!
//! Rows are collected until they have their share of the memory, are sorted, and become a *run*, which is written to a
//! temporary file. In the end, the runs are merged; if there are many, some of them are merged before. Unlike
//! [`keyed_rows`](super::keyed_rows), it needs nothing of the keys: they may be long, begin alike (`Rated Blitz game`,
//! `https://`), or be the same for most rows, and memory stays flat.
//!
//! Rows with equal keys are in the order of their numbers, and rows without a key come last. If only the first rows are
//! needed, the others are left out as soon as enough rows before them are known.

use super::keyed_rows::RowBuffer;
use super::rows_of_any_length::ByteRows;
use crate::error::Error;
use crate::output::ScratchSpace;
use crate::output::temp_file::Spill;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;

/// Rows to be sorted: the beginning of the key, the number of the row, and the [length](KeyRules::row) of the key, with
/// which the bytes begin.
pub(crate) type RowsWithKeys = ByteRows<3>;

/// The length of a key that is missing.
const MISSING: u64 = u64::MAX;
/// Minimum size of a block of a run, in bytes.
const SMALLEST_BLOCK: u64 = 4 << 10;
/// Maximum size of a block.
const LARGEST_BLOCK: u64 = 1 << 20;
/// Number of runs that are merged into one.
const MOST_RUNS: usize = 64;
/// Number of rows that are collected before those that are known to be superfluous are left out.
const FEW_ROWS: usize = 1 << 10;

/// How keys are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyRules {
    /// The largest key comes first.
    pub(crate) is_descending: bool,
}

/// A key, and its beginning as a number in the order of keys.
#[derive(Clone, Copy, Debug)]
struct Key<'a> {
    head: u64,
    bytes: Option<&'a [u8]>,
}

/// The key of the last row that may be needed.
#[derive(Clone, Debug)]
pub(crate) struct LastKey {
    head: u64,
    bytes: Option<Vec<u8>>,
}

impl LastKey {
    fn key(&self) -> Key<'_> {
        Key { head: self.head, bytes: self.bytes.as_deref() }
    }
}

fn key_of(rows: &RowsWithKeys, row: usize) -> Key<'_> {
    let [head, _, len] = rows.numbers[row];
    Key { head, bytes: (len != MISSING).then(|| &rows.bytes_of(row)[..len as usize]) }
}

/// The bytes of a row after its key.
pub(crate) fn content(rows: &RowsWithKeys, row: usize) -> &[u8] {
    let [_, _, len] = rows.numbers[row];
    &rows.bytes_of(row)[if len == MISSING { 0 } else { len as usize }..]
}

impl KeyRules {
    fn head(self, key: Option<&[u8]>) -> u64 {
        let Some(key) = key else { return u64::MAX };
        let mut head = [0; 8];
        let len = key.len().min(8);
        head[..len].copy_from_slice(&key[..len]);
        let head = u64::from_be_bytes(head);
        if self.is_descending { !head } else { head }
    }
    /// The numbers of a row with this key.
    pub(crate) fn row(self, key: Option<&[u8]>, number: u64) -> [u64; 3] {
        [self.head(key), number, key.map_or(MISSING, |key| key.len() as u64)]
    }
    /// Whether a row with this key is needed, if it comes after all rows that are known.
    pub(crate) fn is_needed(self, key: Option<&[u8]>, last: Option<&LastKey>) -> bool {
        let key = Key { head: self.head(key), bytes: key };
        last.is_none_or(|last| self.compare_keys(key, last.key()).is_lt())
    }
    fn compare_keys(self, one: Key<'_>, other: Key<'_>) -> Ordering {
        one.head.cmp(&other.head).then_with(|| match (one.bytes, other.bytes) {
            (Some(one), Some(other)) if self.is_descending => other.cmp(one),
            (Some(one), Some(other)) => one.cmp(other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        })
    }
    fn compare(self, (one, row): (&RowsWithKeys, usize), (other, other_row): (&RowsWithKeys, usize)) -> Ordering {
        let by_number = || one.numbers[row][1].cmp(&other.numbers[other_row][1]);
        self.compare_keys(key_of(one, row), key_of(other, other_row)).then_with(by_number)
    }
    /// The places of the first rows in order.
    fn order(self, rows: &RowsWithKeys, most: usize) -> Vec<usize> {
        let mut order: Vec<(u64, usize)> =
            rows.numbers.iter().enumerate().map(|(row, &[head, ..])| (head, row)).collect();
        order.sort_unstable_by(|&(head, row), &(other_head, other)| {
            head.cmp(&other_head).then_with(|| self.compare((rows, row), (rows, other)))
        });
        order.truncate(most);
        order.into_iter().map(|(_, row)| row).collect()
    }
}

/// The places of the blocks of sorted rows in the temporary file.
type Run = VecDeque<Range<u64>>;

/// Collects rows in any order.
pub(crate) struct RunSorter {
    rules: KeyRules,
    /// Number of rows that are needed.
    needed: usize,
    last: Option<LastKey>,
    /// Bytes of rows that are collected before they are sorted.
    most_bytes: u64,
    /// Bytes of a block.
    block: u64,
    open: RowsWithKeys,
    spill: Spill,
    /// Runs, and runs that were merged from others, each level from the one before.
    levels: Vec<Vec<Run>>,
}

impl RunSorter {
    /// For rows of which the first ones are needed.
    ///
    /// # Errors
    /// If there cannot be a temporary file.
    pub(crate) fn new(rules: KeyRules, needed: u64, space: &ScratchSpace) -> Result<Self, Error> {
        Ok(Self {
            rules,
            needed: usize::try_from(needed).unwrap_or(usize::MAX),
            last: None,
            most_bytes: (space.memory / 2).max(SMALLEST_BLOCK),
            block: (space.memory / 4 / MOST_RUNS as u64).clamp(SMALLEST_BLOCK, LARGEST_BLOCK),
            open: RowsWithKeys::default(),
            spill: Spill::begin(&space.directory)?,
            levels: Vec::new(),
        })
    }

    /// The key of the last row that may be needed, once there are enough rows. Of the rows after all that were added,
    /// those with this key are not needed.
    pub(crate) fn last(&self) -> Option<&LastKey> {
        self.last.as_ref()
    }

    /// Adds rows, whose numbers are larger than those of all rows before.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub(crate) fn add(&mut self, rows: &RowsWithKeys) -> Result<(), Error> {
        for row in 0..rows.len() {
            let key = key_of(rows, row);
            if self.last.as_ref().is_none_or(|last| self.rules.compare_keys(key, last.key()).is_lt()) {
                self.open.push_of(rows, row);
            }
        }
        if self.open.len() >= self.needed.saturating_mul(2).max(FEW_ROWS) {
            let order = self.order();
            let mut first = RowsWithKeys::default();
            order.into_iter().for_each(|row| first.push_of(&self.open, row));
            self.open = first;
        }
        if self.open.bytes() > self.most_bytes {
            self.seal().map_err(|source| self.spill.failed(source))?;
        }
        Ok(())
    }

    /// The places of the rows that are needed, in order.
    fn order(&mut self) -> Vec<usize> {
        let order = self.rules.order(&self.open, self.needed);
        if order.len() == self.needed
            && let Some(&row) = order.last()
        {
            let Key { head, bytes } = key_of(&self.open, row);
            self.last = Some(LastKey { head, bytes: bytes.map(<[u8]>::to_vec) });
        }
        order
    }

    /// Makes a run of the rows.
    fn seal(&mut self) -> io::Result<()> {
        let order = self.order();
        let mut rows = Reader { rows: std::mem::take(&mut self.open), order: Some(order), ..Reader::default() };
        let mut run = Run::new();
        while let Some(block) = merge(self.rules, &self.spill, std::slice::from_mut(&mut rows), self.block)? {
            run.push_back(write(&self.spill, block)?);
        }
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(run);
            if self.levels[level].len() < MOST_RUNS {
                break;
            }
            let mut readers: Vec<Reader> =
                std::mem::take(&mut self.levels[level]).into_iter().map(Reader::of).collect();
            run = Run::new();
            while let Some(block) = merge(self.rules, &self.spill, &mut readers, self.block)? {
                run.push_back(write(&self.spill, block)?);
            }
        }
        Ok(())
    }

    /// All rows that are needed, but for the first of them.
    pub(crate) fn finish(mut self, skip: u64) -> SortedRows {
        let order = self.order();
        let open = Reader { rows: std::mem::take(&mut self.open), order: Some(order), ..Reader::default() };
        let readers = self.levels.into_iter().flatten().map(Reader::of).chain([open]).collect();
        let taken = skip as usize..self.needed;
        SortedRows { rules: self.rules, spill: self.spill, readers, skip: taken.start, left: taken.end }
    }
}

fn write(spill: &Spill, block: RowsWithKeys) -> io::Result<Range<u64>> {
    let mut bytes = Vec::new();
    block.encode(&mut bytes)?;
    spill.append(&bytes)
}

/// Reads a run.
#[derive(Default)]
struct Reader {
    rows: RowsWithKeys,
    /// The places of the rows in order, if they are in another one.
    order: Option<Vec<usize>>,
    next: usize,
    /// The blocks after these rows.
    rest: Run,
}

impl Reader {
    fn of(run: Run) -> Self {
        Self { rest: run, ..Self::default() }
    }
    /// Reads the next block, if there is no row left of the one before.
    fn fill(&mut self, spill: &Spill) -> io::Result<()> {
        let len = self.order.as_ref().map_or(self.rows.len(), Vec::len);
        if self.next < len {
            return Ok(());
        }
        *self = Self { rest: std::mem::take(&mut self.rest), ..Self::default() };
        if let Some(place) = self.rest.pop_front() {
            let expected = place.end - place.start;
            let mut bytes = Vec::with_capacity(expected as usize);
            spill.section(place).read_to_end(&mut bytes)?;
            if bytes.len() as u64 != expected {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.rows = RowsWithKeys::decode(bytes)?;
        }
        Ok(())
    }
    /// The next row.
    fn row(&self) -> Option<usize> {
        match &self.order {
            Some(order) => order.get(self.next).copied(),
            None => Some(self.next).filter(|&row| row < self.rows.len()),
        }
    }
}

/// The next rows of all readers, about as many bytes; `None` at the end.
fn merge(rules: KeyRules, spill: &Spill, readers: &mut [Reader], bytes: u64) -> io::Result<Option<RowsWithKeys>> {
    let mut merged = RowsWithKeys::default();
    readers.iter_mut().try_for_each(|reader| reader.fill(spill))?;
    while merged.bytes() < bytes {
        let heads = readers.iter_mut().filter_map(|reader| reader.row().map(|row| (reader, row)));
        let first =
            heads.min_by(|(one, row), (other, other_row)| rules.compare((&one.rows, *row), (&other.rows, *other_row)));
        let Some((reader, row)) = first else { break };
        merged.push_of(&reader.rows, row);
        reader.next += 1;
        reader.fill(spill)?;
    }
    Ok(Some(merged).filter(|merged| merged.len() > 0))
}

/// Sorted rows.
pub(crate) struct SortedRows {
    rules: KeyRules,
    spill: Spill,
    readers: Vec<Reader>,
    /// Number of rows that are left out at the beginning.
    skip: usize,
    /// Number of rows up to the last one that is needed.
    left: usize,
}

impl SortedRows {
    /// The next rows, about as many bytes, and which of them are needed; `None` at the end.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn next(&mut self, bytes: u64) -> Result<Option<(RowsWithKeys, Range<usize>)>, Error> {
        while self.left > 0 {
            let merged = merge(self.rules, &self.spill, &mut self.readers, bytes);
            let Some(rows) = merged.map_err(|source| self.spill.failed(source))? else { break };
            let (skip, len) = (self.skip.min(rows.len()), self.left.min(rows.len()));
            self.skip -= skip;
            self.left -= len;
            if skip < len {
                return Ok(Some((rows, skip..len)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of all kinds: missing, empty, alike at the beginning, equal.
    fn keys() -> Vec<Option<Vec<u8>>> {
        let texts: [&[u8]; 9] = [
            b"",
            b"\0",
            b"\0\0",
            b"a",
            b"ab",
            b"https://a",
            b"https://ab",
            b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
            b"b",
        ];
        (0u64..5000)
            .map(|number| match number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 {
                place @ 0..9 => Some(texts[place as usize].to_vec()),
                9..12 => Some((number * number % 997).to_be_bytes().to_vec()),
                12 => None,
                _ => Some(format!("https://lichess.org/{}", number * 7919 % 5003).into_bytes()),
            })
            .collect()
    }

    #[test]
    fn rows_come_in_order_in_any_memory() {
        let keys = keys();
        for is_descending in [false, true] {
            let rules = KeyRules { is_descending };
            let mut expected: Vec<(bool, &Option<Vec<u8>>, u64)> =
                (0..).zip(&keys).map(|(number, key)| (key.is_none(), key, number)).collect();
            expected.sort_by(|(none, key, _), (other_none, other, _)| {
                none.cmp(other_none).then(if is_descending { other.cmp(key) } else { key.cmp(other) })
            });
            for (skip, needed) in [(0, u64::MAX), (0, 0), (0, 1), (3, 10), (100, 4999), (6000, 7000)] {
                for (memory, chunk) in [(0, 7), (1 << 10, 1), (64 << 10, 300), (1 << 30, 1000)] {
                    let space = ScratchSpace::default().memory(memory);
                    let mut sorter = RunSorter::new(rules, needed, &space).unwrap();
                    let mut number = 0;
                    for keys in keys.chunks(chunk) {
                        let mut rows = RowsWithKeys::default();
                        for key in keys {
                            let key = key.as_deref();
                            if rules.is_needed(key, sorter.last()) {
                                rows.push_with(|bytes| {
                                    bytes.extend_from_slice(key.unwrap_or_default());
                                    bytes.extend_from_slice(&number.to_string().into_bytes());
                                    rules.row(key, number)
                                });
                            }
                            number += 1;
                        }
                        sorter.add(&rows).unwrap();
                    }
                    let is_written = sorter.spill.written() > 0;
                    assert!(if memory < 1 << 20 { is_written || needed < 4999 } else { !is_written });
                    let mut sorted = sorter.finish(skip);
                    let mut found = Vec::new();
                    while let Some((rows, needed)) = sorted.next(5000).unwrap() {
                        found.extend(needed.map(|row| String::from_utf8(content(&rows, row).to_vec()).unwrap()));
                    }
                    let expected = expected.iter().map(|(.., number)| number.to_string());
                    let expected: Vec<String> = expected.take(needed.min(5000) as usize).skip(skip as usize).collect();
                    assert!(found == expected, "{is_descending}, {skip}, {needed}, {memory}");
                }
            }
        }
    }
}
