//! A tile: a run of judged records with their results, and a mask of those that count.

use super::batch::Batch;
use crate::block::Group;
use crate::chess::Position;
use crate::queries::GroupResults;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// A run of judged records with the results of the queries on them.
#[derive(Debug)]
pub struct Tile<'a> {
    /// The batch that the records are in; shared, so that a job can keep it.
    pub batch: &'a Arc<Batch>,
    /// Row of the first record; a multiple of 64.
    pub start: usize,
    /// Number of records; the last group may be partly filled.
    pub len: usize,
    /// The boards.
    pub groups: &'a [Group],
    /// The results, one for each group.
    pub results: &'a [GroupResults],
    /// A bit for each record, set if the record counts: bad ones and those that are not requested do not.
    pub mask: &'a [u64],
    /// The positions, for columns that need more than planes and results.
    positions: OnceCell<Vec<Position>>,
}

impl<'a> Tile<'a> {
    /// A run of records of a batch, from the row `start` on.
    pub fn new(batch: &'a Arc<Batch>, start: usize, len: usize, results: &'a [GroupResults], mask: &'a [u64]) -> Self {
        let first = start / Group::LEN;
        Self {
            batch,
            start,
            len,
            groups: &batch.groups()[first..first + len.div_ceil(Group::LEN)],
            results,
            mask,
            positions: OnceCell::new(),
        }
    }
    /// The position of each record; an empty board where it does not count.
    pub fn positions(&self) -> &[Position] {
        self.positions.get_or_init(|| {
            let mut positions = vec![Position::empty(); self.len];
            for row in rows_of(self.mask) {
                if let Ok(position) = self.batch.position(self.start + row) {
                    positions[row] = position;
                }
            }
            positions
        })
    }
    /// The rows of [`Tile::batch`] that count. Row *r* is lane `r % 8` of group `(r - start) / 8`.
    pub fn rows(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        rows_of(self.mask).map(|row| self.start + row)
    }
    /// The same rows as ranges, none of which is empty.
    pub fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        if self.count() == self.len {
            runs.push(self.start..self.start + self.len);
            return runs;
        }
        for row in self.rows() {
            match runs.last_mut() {
                Some(run) if run.end == row => run.end += 1,
                _ => runs.push(row..row + 1),
            }
        }
        runs
    }
    /// Whether a record counts.
    ///
    /// # Panics
    /// If there is no such record.
    pub fn counts(&self, row: usize) -> bool {
        self.mask[row / 64] >> (row % 64) & 1 != 0
    }
    /// Number of records that count.
    pub fn count(&self) -> usize {
        self.mask.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The mask of the first `len` records.
pub(crate) fn first_rows<const WORDS: usize>(len: usize) -> [u64; WORDS] {
    std::array::from_fn(|word| match len.saturating_sub(64 * word) {
        0 => 0,
        rest @ 1..64 => (1 << rest) - 1,
        _ => !0,
    })
}

/// The records of a mask.
pub(crate) fn rows_of(mask: &[u64]) -> impl Iterator<Item = usize> + Clone + '_ {
    (0..).zip(mask).flat_map(|(word, &bits)| {
        std::iter::successors((bits != 0).then_some(bits), |bits| {
            let rest = bits & (bits - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |bits| 64 * word + bits.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Packed;

    #[test]
    fn the_mask_says_which_records_count() {
        let mut batch = Batch::new();
        let board = Packed::pack(&Position::standard()).unwrap();
        (0..70).for_each(|_| batch.push(board, 3, 7));
        let batch = Arc::new(batch);
        let results = [GroupResults::default(); 9];
        let mask = [!0 << 1, 0b10_0001];
        let tile = Tile::new(&batch, 0, 70, &results, &mask);
        let rows: Vec<usize> = (1..65).chain([69]).collect();
        assert!(tile.rows().eq(rows.iter().copied()));
        assert_eq!(tile.runs(), [1..65, 69..70]);
        assert_eq!(tile.count(), rows.len());
        assert!(!tile.counts(0) && tile.counts(69));
        assert_eq!(tile.positions().len(), 70);
        assert_eq!(tile.positions()[69].halfmove, 3);
        assert!(tile.positions()[0].occupied().is_empty());
        let whole = Tile::new(&batch, 64, 6, &results[..1], &[0b11_1111]);
        assert!(whole.rows().eq(64..70));
    }
}
