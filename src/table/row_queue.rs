//! A queue of rows that stay in their original place, cut into runs without a copy.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A range of rows of their container.
pub(crate) type RowRun<T> = (Arc<T>, Range<usize>);

/// Rows in order.
#[derive(Debug)]
pub(crate) struct RowRuns<T> {
    runs: VecDeque<RowRun<T>>,
    len: usize,
}

impl<T> Default for RowRuns<T> {
    fn default() -> Self {
        Self { runs: VecDeque::new(), len: 0 }
    }
}

impl<T> RowRuns<T> {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// The runs in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &RowRun<T>> {
        self.runs.iter()
    }
    /// Adds a run at the end.
    pub(crate) fn push(&mut self, rows: RowRun<T>) {
        if !rows.1.is_empty() {
            self.len += rows.1.len();
            self.runs.push_back(rows);
        }
    }
    /// Takes rows from the beginning: this number, or all if there are fewer.
    pub(crate) fn take(&mut self, len: usize) -> Vec<RowRun<T>> {
        let mut taken = Vec::new();
        let mut missing = len.min(self.len);
        self.len -= missing;
        while missing > 0
            && let Some((holder, rows)) = self.runs.front_mut()
        {
            let end = rows.end.min(rows.start + missing);
            missing -= end - rows.start;
            if end == rows.end {
                taken.extend(self.runs.pop_front());
            } else {
                taken.push((Arc::clone(holder), rows.start..end));
                rows.start = end;
            }
        }
        taken
    }
}
