//! A batch of records: what every format decodes to and every output is written from.
//!
//! A batch is columns, not rows: packed boards in groups of eight, the two clocks, and whatever else the
//! records carry (score, result, move, ply, game, ..) as one optional column each. The kernels read the
//! groups without looking at anything else. Groups are either owned (decoded from text, or read from a
//! pipe) or still lie in the mapped file they came from.

use crate::block::{Group, Packed};
use crate::input::Mapped;
use std::collections::BTreeMap;

/// What a record may carry besides its position.
///
/// The order is the order of columns in files and listings. New fields go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Field {
    /// Centipawns from White's side.
    Score,
    /// 0 Black won, 1 draw, 2 White won.
    Result,
    /// The move played or the best move, as [`crate::chess::Move::to_bits`] packs it.
    Move,
    /// Plies since the start of the game.
    Ply,
    /// 0-based number of the game over all inputs.
    Game,
    /// White's rating.
    WhiteElo,
    /// Black's rating.
    BlackElo,
    /// The mover's remaining time after the move, in centiseconds.
    Clock,
    /// Opening code such as `B12`.
    Eco,
    /// Name of the opening.
    Opening,
    /// Time control as the PGN tag gives it.
    TimeControl,
    /// Date as `YYYY.MM.DD`.
    Date,
    /// Site, for Lichess the address of the game.
    Site,
    /// EPD operations, as they stood in the line.
    Operations,
}

/// A column in which any row may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Column<T> {
    values: Vec<T>,
    present: Vec<u64>,
}

impl<T: Clone + Default> Column<T> {
    /// A column of so many missing rows.
    pub fn missing(len: usize) -> Self {
        Self {
            values: vec![T::default(); len],
            present: vec![0; len.div_ceil(64)],
        }
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// Adds a row.
    pub fn push(&mut self, value: Option<T>) {
        let row = self.values.len();
        if row.is_multiple_of(64) {
            self.present.push(0);
        }
        self.present[row / 64] |= u64::from(value.is_some()) << (row % 64);
        self.values.push(value.unwrap_or_default());
    }
    /// The value of a row, or `None` where it is missing.
    ///
    /// # Panics
    /// When the row is out of range.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&T> {
        let value = &self.values[row];
        (self.present[row / 64] >> (row % 64) & 1 != 0).then_some(value)
    }
    /// All values; rows that are missing hold the default.
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// One bit a row, set where it is present.
    pub fn present(&self) -> &[u64] {
        &self.present
    }
    /// Drops all rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        self.present.truncate(len.div_ceil(64));
        if !len.is_multiple_of(64)
            && let Some(last) = self.present.last_mut()
        {
            *last &= (1 << (len % 64)) - 1;
        }
    }
}

/// The values of one [`Field`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Values {
    /// Small unsigned numbers.
    U8(Column<u8>),
    /// Signed numbers.
    I16(Column<i16>),
    /// Unsigned numbers.
    U16(Column<u16>),
    /// Unsigned numbers.
    U32(Column<u32>),
    /// Unsigned numbers.
    U64(Column<u64>),
    /// Texts, shared: games repeat theirs on every row.
    Text(Column<std::sync::Arc<str>>),
}

/// A run of records in the order of their input.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    groups: Groups,
    len: usize,
    /// Halfmove clock of each record.
    pub halfmove: Vec<u16>,
    /// Fullmove number of each record.
    pub fullmove: Vec<u16>,
    /// Whatever else the records carry; each column has [`Batch::len`] rows.
    pub fields: BTreeMap<Field, Values>,
    /// Number of the first record, counted over all inputs from zero.
    pub first_index: u64,
}

/// Groups that are owned or lie in a mapped file.
#[derive(Clone, Debug)]
enum Groups {
    Owned(Vec<Group>),
    Mapped(Mapped<Group>),
}

impl Default for Groups {
    fn default() -> Self {
        Self::Owned(Vec::new())
    }
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }
    /// A batch over groups in a mapped file.
    ///
    /// # Panics
    /// When `len` records need more groups than there are.
    pub fn mapped(groups: Mapped<Group>, len: usize) -> Self {
        assert!(len <= groups.len() * Group::LEN);
        Self {
            groups: Groups::Mapped(groups),
            len,
            ..Self::default()
        }
    }
    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The boards, eight a group; lanes past [`Batch::len`] are empty boards or whatever a file holds there.
    pub fn groups(&self) -> &[Group] {
        match &self.groups {
            Groups::Owned(groups) => groups,
            Groups::Mapped(groups) => groups,
        }
    }
    /// The board of a record.
    ///
    /// # Panics
    /// When the record is out of range.
    #[inline]
    pub fn board(&self, record: usize) -> Packed {
        assert!(record < self.len);
        self.groups()[record / Group::LEN].get(record % Group::LEN)
    }
    /// Adds a record. Columns of [`Batch::fields`] are the caller's to keep in step.
    #[inline]
    pub fn push(&mut self, board: Packed, halfmove: u16, fullmove: u16) {
        let lane = self.len % Group::LEN;
        if let Groups::Mapped(groups) = &self.groups {
            self.groups = Groups::Owned(groups.to_vec());
        }
        let Groups::Owned(groups) = &mut self.groups else {
            unreachable!("made owned above")
        };
        if lane == 0 {
            groups.push(Group::default());
        }
        let last = groups.len() - 1;
        groups[last].set(lane, board);
        self.halfmove.push(halfmove);
        self.fullmove.push(fullmove);
        self.len += 1;
    }
}
