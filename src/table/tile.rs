//! A tile: a run of judged records with their results, and a mask of those that count.

use super::batch::Batch;
use super::field::Field;
use crate::chess::{Bitboard, Color, LegalCounts, Position};
use crate::kernels::MoveLists;
use crate::packed::{Group, Packed};
use crate::queries::GroupResults;
use crate::tiers::Analyzer;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// A run of judged records with the results of the queries on them.
///
/// Row numbers are those of the batch: a tile is a window of a batch. [`Tile::records`] gives the data of each row.
#[derive(Debug)]
pub struct Tile<'a> {
    /// The analyzer that answered the queries.
    pub analyzer: &'static dyn Analyzer,
    /// The batch that the records are in; shared, so that a job can keep it.
    pub batch: &'a Arc<Batch>,
    /// Row of the first record; a multiple of 64.
    pub(crate) start: usize,
    /// Number of records; the last group may be partly filled.
    pub(crate) len: usize,
    /// The boards, from the first record on.
    pub(crate) groups: &'a [Group],
    /// The results, one for each group.
    pub(crate) results: &'a [GroupResults],
    /// A bit for each record, set if the record counts: bad ones and those that are not requested do not.
    pub(crate) mask: &'a [u64],
    /// The record before the first one, if it was read just before.
    pub(crate) before: Option<RecordBefore<'a>>,
    /// The positions, for columns that need more than planes and results.
    positions: OnceCell<Vec<Position>>,
    /// The legal moves, for columns that list them.
    legal_moves: OnceCell<MoveLists>,
}

/// The record before a tile, which may be in an earlier batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordBefore<'a> {
    pub(crate) batch: &'a Batch,
    pub(crate) row: usize,
    /// Whether it counts.
    pub(crate) counts: bool,
}

/// A record of a tile that counts.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The row of the record in [`Tile::batch`].
    pub row: usize,
    /// The results of its group.
    pub results: &'a GroupResults,
    /// The lane of the record in them.
    pub lane: usize,
    batch: &'a Batch,
}

impl Record<'_> {
    /// The number of the record over all inputs.
    pub fn index(&self) -> u64 {
        self.batch.index(self.row)
    }
    /// The board of the record.
    pub fn board(&self) -> Packed {
        self.batch.board(self.row)
    }
    /// The position of the record.
    pub fn position(&self) -> Position {
        self.batch.position(self.row).unwrap_or_else(|_| Position::empty())
    }
    /// The pieces that give check, if [`Queries::CHECKERS`](crate::queries::Queries::CHECKERS) was needed.
    pub fn checkers(&self) -> Bitboard {
        Bitboard(self.results.checkers[self.lane])
    }
    /// The pieces of the side to move that are pinned to their king, if
    /// [`Queries::PINNED`](crate::queries::Queries::PINNED) was needed.
    pub fn pinned(&self) -> Bitboard {
        Bitboard(self.results.pinned[self.lane])
    }
    /// The squares that a side attacks, if [`Queries::ATTACKS`](crate::queries::Queries::ATTACKS) was needed.
    pub fn attacks(&self, color: Color) -> Bitboard {
        Bitboard(match color {
            Color::White => self.results.attacks_white[self.lane],
            Color::Black => self.results.attacks_black[self.lane],
        })
    }
    /// The numbers of legal moves, if [`Queries::MOVES`](crate::queries::Queries::MOVES) or
    /// [`Queries::KINDS`](crate::queries::Queries::KINDS) was needed.
    pub fn legal(&self) -> LegalCounts {
        self.results.legal(self.lane)
    }
    /// A field that is a number.
    pub fn number(&self, field: Field) -> Option<i64> {
        self.batch.values(field)?.number(self.row)
    }
    /// A field that is a text.
    pub fn text(&self, field: Field) -> Option<&str> {
        self.batch.values(field)?.text(self.row)
    }
}

impl<'a> Tile<'a> {
    /// A run of records of a batch, from the row `start` on, with the results of their groups and a mask of those that
    /// count.
    ///
    /// # Panics
    /// If `start` is not a multiple of 64, or the batch, the results or the mask end before the tile.
    pub fn new(
        analyzer: &'static dyn Analyzer,
        batch: &'a Arc<Batch>,
        start: usize,
        len: usize,
        results: &'a [GroupResults],
        mask: &'a [u64],
    ) -> Self {
        assert!(start.is_multiple_of(64));
        let first = start / Group::LEN;
        let groups = len.div_ceil(Group::LEN);
        Self {
            analyzer,
            batch,
            start,
            len,
            groups: &batch.groups()[first..first + groups],
            results: &results[..groups],
            mask: &mask[..len.div_ceil(64)],
            before: None,
            positions: OnceCell::new(),
            legal_moves: OnceCell::new(),
        }
    }
    /// The same tile after a record.
    #[must_use]
    pub(crate) fn after(mut self, before: Option<RecordBefore<'a>>) -> Self {
        self.before = before;
        self
    }
    /// The same tile with another mask of the records that count, with a bit for each record from the first one on.
    ///
    /// # Panics
    /// If the mask ends before the tile.
    #[must_use]
    pub fn masked(&self, mask: &'a [u64]) -> Self {
        Self::new(self.analyzer, self.batch, self.start, self.len, self.results, mask).after(self.before)
    }
    /// The records that count.
    ///
    /// ```
    /// # use lanefish::{pipeline::Job, queries::Queries, table::{Fields, Needs, Tile}};
    /// /// Counts the positions in which the side to move is in check.
    /// struct InCheck;
    /// impl Job for InCheck {
    ///     type Part = usize;
    ///     fn needs(&self) -> Needs { Needs::new(Queries::CHECKERS, Fields::NONE) }
    ///     fn begin(&self) -> usize { 0 }
    ///     fn tile(&self, checks: &mut usize, tile: &Tile<'_>) {
    ///         *checks += tile.records().filter(|record| !record.checkers().is_empty()).count();
    ///     }
    /// }
    /// ```
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> + Clone {
        rows_of(self.mask).map(|row| Record {
            row: self.start + row,
            results: &self.results[row / Group::LEN],
            lane: row % Group::LEN,
            batch: self.batch,
        })
    }
    /// The board of a record, counted from the first one of the tile.
    #[inline(always)]
    pub(super) fn board(&self, row: usize) -> Packed {
        self.groups[row / Group::LEN].get(row % Group::LEN)
    }
    /// The legal moves of the records that count, in the order of from, to and promotion; the lists of others are empty.
    pub(crate) fn legal_moves(&self) -> &MoveLists {
        self.legal_moves.get_or_init(|| {
            let mut lists = MoveLists::default();
            self.analyzer.list_moves(self.groups, self.mask, &mut lists);
            lists
        })
    }
    /// The position of each record, from the first one on; an empty board where it does not count.
    pub(crate) fn positions(&self) -> &[Position] {
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
    /// The rows of [`Tile::batch`] that count.
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
        for (word, &bits) in self.mask.iter().enumerate() {
            let (mut bits, mut row) = (bits, self.start + 64 * word);
            while bits != 0 {
                let gap = bits.trailing_zeros();
                bits >>= gap;
                row += gap as usize;
                let len = bits.trailing_ones();
                match runs.last_mut() {
                    Some(run) if run.end == row => run.end += len as usize,
                    _ => runs.push(row..row + len as usize),
                }
                row += len as usize;
                // All of them may be set.
                bits = bits.checked_shr(len).unwrap_or(0);
            }
        }
        runs
    }
    /// Number of the ranges in [`Tile::runs`].
    pub(crate) fn count_runs(&self) -> usize {
        let mut before = 0;
        let begin = self.mask.iter().map(|&bits| {
            let starts = bits & !(bits << 1 | before);
            before = bits >> 63;
            starts.count_ones() as usize
        });
        begin.sum()
    }
    /// Whether the record in a row of [`Tile::batch`] counts; those outside of the tile do not.
    pub fn counts(&self, row: usize) -> bool {
        let place = row.wrapping_sub(self.start);
        self.mask.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 != 0)
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
    use crate::tiers::Tier;

    #[test]
    fn runs_are_the_rows_without_gaps() {
        let analyzer = Tier::PORTABLE.analyzer().unwrap();
        let board = Packed::pack(&Position::standard()).unwrap();
        let mut batch = Batch::new();
        (0..256).for_each(|_| batch.push(board, 0, 1));
        let (batch, results) = (Arc::new(batch), vec![GroupResults::default(); 24]);
        let words = [0, 1, !0, 1 << 63, !0 << 63 | 1, 0x0FF0_1001_8000_F0F1, !1, !0 >> 1];
        for first in words {
            for second in words {
                let mask = [first, second, !first];
                let tile = Tile::new(analyzer, &batch, 64, 192, &results, &mask);
                let runs = tile.runs();
                assert!(runs.iter().cloned().flatten().eq(tile.rows()));
                assert_eq!(runs.len(), tile.count_runs());
                assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
            }
        }
    }

    #[test]
    fn the_mask_says_which_records_count() {
        let analyzer = Tier::PORTABLE.analyzer().unwrap();
        let mut batch = Batch::new();
        let board = Packed::pack(&Position::standard()).unwrap();
        (0..70).for_each(|_| batch.push(board, 3, 7));
        let batch = Arc::new(batch);
        let results = [GroupResults::default(); 9];
        let mask = [!0 << 1, 0b10_0001];
        let tile = Tile::new(analyzer, &batch, 0, 70, &results, &mask);
        let rows: Vec<usize> = (1..65).chain([69]).collect();
        assert!(tile.rows().eq(rows.iter().copied()));
        assert_eq!(tile.runs(), [1..65, 69..70]);
        assert_eq!(tile.count(), rows.len());
        assert!(!tile.counts(0) && tile.counts(69));
        assert_eq!(tile.positions().len(), 70);
        assert_eq!(tile.positions()[69].halfmove, 3);
        assert!(tile.positions()[0].occupied().is_empty());
        let whole = Tile::new(analyzer, &batch, 64, 6, &results[..1], &[0b11_1111]);
        assert!(whole.rows().eq(64..70));
        assert!(whole.counts(64) && whole.counts(69) && !whole.counts(0) && !whole.counts(70) && !whole.counts(5));
        assert!(whole.records().map(|record| (record.row, record.lane)).eq((64..70).map(|row| (row, row - 64))));
    }
}
