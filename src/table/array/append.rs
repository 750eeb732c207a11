//! Columns put together from runs of rows, for tables.

use super::{Array, TextBuffer, Texts, Values};
use crate::table::Tile;
use std::ops::Range;

impl Texts {
    /// Makes empty texts missing ones.
    pub(crate) fn drop_empty(&mut self) {
        if self.words.iter().all(|word| !word.is_empty()) {
            return;
        }
        let codes = std::mem::take(&mut self.codes);
        for row in 0..codes.len() {
            let code = codes.get(row).copied().filter(|&code| !self.words[code as usize].is_empty());
            self.codes.push(code);
        }
    }
    /// Adds a run of rows of another column, with all words of its dictionary that are not there.
    ///
    /// # Panics
    /// When the rows are out of range.
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>) {
        // Columns of a few words have the same ones in every tile.
        if !self.words.ends_with(&other.words) {
            self.words.append(&other.words);
        }
        let base = self.words.len() - other.words.len();
        let start = self.codes.len();
        self.codes.append(&other.codes, rows);
        if base > 0 {
            for code in &mut self.codes.values_mut()[start..] {
                *code += base as u32;
            }
        }
    }
}

impl Array {
    /// A column of the same type without rows.
    pub(crate) fn empty_like(&self) -> Self {
        match self {
            Self::U8(_) => Self::U8(Values::default()),
            Self::I16(_) => Self::I16(Values::default()),
            Self::U16(_) => Self::U16(Values::default()),
            Self::U32(_) => Self::U32(Values::default()),
            Self::U64(_) => Self::U64(Values::default()),
            Self::Flag(_) => Self::Flag(Values::default()),
            Self::Text(_) => Self::Text(Texts::default()),
            Self::TextBuffer(_) => Self::TextBuffer(TextBuffer::default()),
            Self::Boards(_) => Self::Boards(Values::default()),
            Self::Lists(lists) => Self::Lists(lists.empty_like()),
        }
    }
    /// Adds a run of rows of a column of the same type.
    ///
    /// # Panics
    /// When the types differ, or the rows are out of range.
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>) {
        same_type!(self, other, (to, from) => to.append(from, rows));
    }
    /// Makes empty texts of a dictionary missing ones, as tables have them.
    #[must_use]
    pub(crate) fn without_empty(mut self) -> Self {
        if let Self::Text(texts) = &mut self {
            texts.drop_empty();
        }
        self
    }
    /// Adds the rows of a tile that count to columns, which may not have been begun.
    pub(crate) fn append_tile(columns: &mut Vec<Self>, filled: Vec<Self>, tile: &Tile<'_>) {
        if columns.is_empty() {
            *columns = filled.iter().map(Self::empty_like).collect();
            // Rows that are left out need no room; usually all of a batch count, or few.
            if tile.count() == tile.len {
                columns.iter_mut().for_each(|column| column.reserve(tile.batch.len() - tile.start));
            }
        }
        let runs = tile.runs();
        for (to, values) in columns.iter_mut().zip(&filled) {
            for run in &runs {
                to.append(values, run.start - tile.start..run.end - tile.start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_runs_are_the_rows_one_by_one() {
        let mut numbers = crate::chess::random::Random::new(5);
        let mut random = |most: u32| numbers.below(most) as usize;
        let (mut values, mut texts) = (Values::<u16>::default(), Texts::default());
        let mut strings = TextBuffer::default();
        let words: crate::table::TextList = ["", "a", "bc", "def"].into_iter().collect();
        for _ in 0..400 {
            let value = random(5);
            values.push((value > 0).then_some(value as u16));
            let word = (value < words.len()).then(|| &words[value]);
            strings.push(word);
            texts.push(word);
        }
        let arrays = [Array::U16(values), Array::Text(texts), Array::TextBuffer(strings)];
        let mut found = arrays.each_ref().map(Array::empty_like);
        let mut expected = found.clone();
        for _ in 0..100 {
            let start = random(400);
            let rows = start..start + random(401 - start as u32);
            for (at, array) in arrays.iter().enumerate() {
                found[at].append(array, rows.clone());
                expected[at].extend_from(array, rows.clone());
                assert_eq!(found[at], expected[at], "{rows:?}");
            }
        }
    }
}
