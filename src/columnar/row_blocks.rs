//! Rows in the order of the input, cut into blocks of the same number of rows.

use super::BLOCK;
use crate::table::row_queue::{RowRun, RowRuns};
use crate::table::{Array, TextBuffer, Texts};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Rows that share dictionaries of texts: a row group of Parquet.
pub(crate) const ROW_GROUP: usize = 1 << 20;
/// The same for rows with the moves of games, which are long.
pub(crate) const ROW_GROUP_OF_GAMES: usize = 1 << 17;

/// The largest dictionary of a column, in bytes of texts; rows beyond it are written as they are.
const MOST_BYTES: usize = 1 << 20;
/// Texts that no dictionary was made for have one while it has fewer than this number of texts, as those of moves do, or ...
const FEW: usize = 2_048;
/// ... each of them has occurred this number of times on average. Moves and castling rights do, FENs do not.
const OCCURRENCES: usize = 4;

/// Cuts rows into blocks.
#[derive(Debug)]
pub(crate) struct RowBlocks {
    /// Rows of a row group.
    group: u64,
    /// Rows of a file.
    file: u64,
    /// Rows that are not a whole block yet.
    waiting: RowRuns<Vec<Array>>,
    /// Rows of the file that are in blocks.
    rows: u64,
    /// By column, if there are any.
    dictionaries: Option<Vec<Dictionary>>,
}

/// The texts of a column in a row group so far.
#[derive(Debug, Default)]
struct Dictionary {
    codes: HashMap<Arc<str>, u32, RandomState>,
    words: Vec<Arc<str>>,
    bytes: usize,
    /// Number of rows so far.
    rows: usize,
    is_full: bool,
}

impl Dictionary {
    fn code(&mut self, word: &str) -> u32 {
        if let Some(&code) = self.codes.get(word) {
            return code;
        }
        let code = self.words.len() as u32;
        let shared: Arc<str> = word.into();
        self.codes.insert(Arc::clone(&shared), code);
        self.words.push(shared);
        self.bytes += word.len();
        code
    }
    /// The codes of texts that may or may not repeat, 0 where they are missing. `None` from the rows on among which too many
    /// differ, or are not UTF-8.
    fn add_buffer(&mut self, texts: &TextBuffer, rows: Range<usize>, codes: &mut Vec<u32>) -> Option<()> {
        let mut last: (&[u8], u32) = (b"", 0);
        let mut has_last = false;
        for row in rows {
            self.rows += 1;
            if !texts.is_present(row) {
                codes.push(0);
                continue;
            }
            let text = texts.bytes(row);
            if !has_last || last.0 != text {
                last = (text, self.code(texts.get(row)?));
                has_last = true;
                if self.words.len() > FEW.max(self.rows / OCCURRENCES) {
                    return None;
                }
            }
            codes.push(last.1);
        }
        Some(())
    }
    /// Adds the codes of a run of rows, 0 where they are missing.
    fn add(&mut self, texts: &Texts, rows: Range<usize>, codes: &mut Vec<u32>) {
        const UNKNOWN: u32 = u32::MAX;
        let mut known = vec![UNKNOWN; texts.words().len()];
        let theirs = texts.codes();
        // The rows of a game have the same text.
        let mut last = (UNKNOWN, 0);
        for row in rows {
            if !theirs.is_present(row) {
                codes.push(0);
                continue;
            }
            let code = theirs.values()[row];
            if code != last.0 {
                let known = &mut known[code as usize];
                if *known == UNKNOWN {
                    *known = self.code(&texts.words()[code as usize]);
                }
                last = (code, *known);
            }
            codes.push(last.1);
        }
    }
}

/// The rows of a block, which any thread can encode.
#[derive(Debug)]
pub(crate) struct RowBlock {
    runs: Vec<RowRun<Vec<Array>>>,
    /// By column: the code of each row in the dictionary of the row group, if it has one.
    pub(super) codes: Vec<Option<Vec<u32>>>,
    /// Of the last block of a row group, by column: the dictionary.
    pub(super) words: Option<Vec<Vec<Arc<str>>>>,
    /// Whether the file has all of its rows, and the next ones go to another.
    pub(crate) ends_file: bool,
}

impl RowBlock {
    /// Whether it has no rows, and only ends a row group.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(|(_, rows)| rows.len()).sum()
    }
    /// Takes the values by column: those of a whole piece that nothing else has are not copied.
    pub(super) fn take_columns(&mut self) -> Vec<Array> {
        if let [(piece, rows)] = &mut self.runs[..]
            && let Some(columns) = Arc::get_mut(piece)
            && columns.iter().all(|column| column.len() == rows.len())
        {
            return std::mem::take(columns);
        }
        self.columns()
    }
    /// The values by column.
    pub(super) fn columns(&self) -> Vec<Array> {
        let Some((first, _)) = self.runs.first() else {
            return Vec::new();
        };
        let mut columns: Vec<Array> = first.iter().map(Array::empty_like).collect();
        for (piece, rows) in &self.runs {
            for (column, cells) in columns.iter_mut().zip(piece.iter()) {
                column.append(cells, rows.clone());
            }
        }
        columns
    }
}

impl Default for RowBlocks {
    fn default() -> Self {
        Self::of_groups(ROW_GROUP)
    }
}

impl RowBlocks {
    /// For row groups with this number of rows, at least one.
    pub(crate) fn of_groups(rows: usize) -> Self {
        let group = rows.max(1) as u64;
        Self { group, file: u64::MAX, waiting: RowRuns::default(), rows: 0, dictionaries: Some(Vec::new()) }
    }
    /// Blocks of the same numbers of rows, without rows.
    pub(crate) fn fresh(&self) -> Self {
        let dictionaries = self.dictionaries.as_ref().map(|_| Vec::new());
        Self { group: self.group, file: self.file, waiting: RowRuns::default(), rows: 0, dictionaries }
    }
    /// For files with this number of rows, at least one.
    pub(crate) fn of_files(self, rows: u64) -> Self {
        Self { file: rows.max(1), ..self }
    }
    /// For row groups with this number of rows, at least one.
    pub(crate) fn with_groups(self, rows: u64) -> Self {
        Self { group: rows.max(1), ..self }
    }
    /// The number of rows of the next block, if there are enough.
    fn next_len(&self) -> usize {
        let left = (self.file - self.rows).min(self.group - self.rows % self.group);
        usize::try_from(left).unwrap_or(BLOCK).min(BLOCK)
    }
    /// For formats without dictionaries of texts.
    pub(crate) fn without_dictionaries() -> Self {
        Self { dictionaries: None, ..Self::default() }
    }
    /// Takes these rows of the next chunk, whose columns have the same length; returns the blocks that they complete.
    pub(crate) fn join(&mut self, piece: Vec<Array>, rows: Range<usize>) -> Vec<RowBlock> {
        self.waiting.push((Arc::new(piece), rows));
        let mut blocks = Vec::new();
        while self.waiting.len() >= self.next_len() {
            blocks.push(self.take(self.next_len(), false));
        }
        blocks
    }
    /// The last block, if there are rows left.
    pub(crate) fn finish(mut self) -> Option<RowBlock> {
        let len = self.waiting.len();
        (len > 0 || !self.rows.is_multiple_of(self.group)).then(|| self.take(len, true))
    }
    fn take(&mut self, len: usize, is_last: bool) -> RowBlock {
        self.rows += len as u64;
        let runs = self.waiting.take(len);
        let codes = self.encode_texts(&runs, len);
        let ends_file = self.rows == self.file;
        let ends = is_last || ends_file || self.rows.is_multiple_of(self.group);
        if ends_file {
            self.rows = 0;
        }
        let words = ends.then(|| {
            let dictionaries = self.dictionaries.iter_mut().flatten().map(std::mem::take);
            dictionaries.map(|dictionary| dictionary.words).collect()
        });
        RowBlock { runs, codes, words, ends_file }
    }
    /// The codes of repeated texts.
    fn encode_texts(&mut self, runs: &[RowRun<Vec<Array>>], len: usize) -> Vec<Option<Vec<u32>>> {
        let columns = runs.first().map_or(0, |(piece, _)| piece.len());
        let Some(dictionaries) = &mut self.dictionaries else { return Vec::new() };
        dictionaries.resize_with(columns.max(dictionaries.len()), Dictionary::default);
        let dictionaries = dictionaries.iter_mut().enumerate();
        dictionaries
            .map(|(column, dictionary)| {
                let mut codes = Vec::with_capacity(len);
                for (piece, rows) in runs {
                    if dictionary.is_full {
                        return None;
                    }
                    match &piece[column] {
                        Array::Text(texts) => dictionary.add(texts, rows.clone(), &mut codes),
                        Array::TextBuffer(texts) => {
                            let added = dictionary.add_buffer(texts, rows.clone(), &mut codes);
                            dictionary.is_full = added.is_none();
                            added?;
                        }
                        _ => return None,
                    }
                }
                // The texts numbered so far are written; the next blocks have no dictionary.
                dictionary.is_full = dictionary.bytes > MOST_BYTES;
                Some(codes)
            })
            .collect()
    }
}
