//! A batch of records: every format decodes to batches, and every output is written from them.
//!
//! A batch is columns, not rows: packed boards in groups of eight, the two clocks, and whatever else the
//! records carry (score, result, move, ply, game, …) as one optional column each. The kernels read the
//! groups without looking at anything else. Groups are either owned (decoded from text, or read from a
//! pipe) or still lie in the mapped file they came from.

use super::array::{Array, Number, Texts};
use super::field::Field;
use super::score_codes::ScoreCodes;
use super::values::Values;
use crate::chess::Position;
use crate::input::{Bytes, Mapped};
use crate::packed::{Group, Packed, UnpackError};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, OnceLock};

/// A run of records in the order of their input.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    groups: Groups,
    len: usize,
    /// Halfmove clock of each record.
    pub halfmove: Vec<u16>,
    /// Fullmove number of each record.
    pub fullmove: Vec<u16>,
    /// The other fields of the records; each array has [`Batch::len`] rows.
    pub fields: BTreeMap<Field, Array>,
    /// Tags of the games that the records come from, by name, as far as they were asked for; each has
    /// [`Batch::len`] rows.
    pub tags: BTreeMap<Arc<str>, Texts>,
    /// Number of the first record, counted over all inputs from zero.
    pub first_index: u64,
    /// Distance of each record's number from [`Batch::first_index`], where records between them were left
    /// out; without it the distance is the row.
    pub(crate) ordinals: Option<Vec<u32>>,
    /// The records that a selection takes, a bit each; without it, all of them.
    pub(crate) selected: Option<Vec<u64>>,
    /// Whether the records lie in another shard: only those of games that begin in this one are taken.
    pub(crate) of_other_shard: bool,
    /// With [`Batch::selected`]: distance of the number of each record that is taken from [`Batch::first_index`], not
    /// counting those left out.
    pub(crate) numbers: Option<Vec<u32>>,
    /// Whether White stands for the side to move in all of the records, because their format does not say whose move it is.
    pub(crate) is_from_mover: bool,
    /// Whether the records come from a table without positions, and have the start position in place of one.
    pub(crate) lacks_positions: bool,
    /// The codes among the scores of all of the records.
    pub(crate) score_codes: ScoreCodes,
    /// The file, if it stores the numbers of its games: a game may then go on in another batch.
    pub(crate) stored_games: Option<StoredGames>,
    /// Where each record begins in the bytes that it was decoded from; a single number where all of them
    /// stand in one block.
    pub(crate) origins: Vec<u32>,
    /// The block of a boards file that has exactly these records, in a run whose job passes blocks on. Then only the
    /// numbers of games are among the [fields](Self::fields), and the others are to be read from the block.
    pub(crate) block: Option<Block>,
}

/// A block of a boards file.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The block with its header.
    pub(crate) section: Bytes,
    /// Reads it as a batch, or says why it cannot be read.
    unpack: fn(&Bytes) -> Result<Batch, String>,
    /// This is added to the numbers of games in the block: the number of games in the inputs before.
    pub(crate) games_before: u64,
    /// The batch with all its fields, which is made when it is first needed; an error message if another program has
    /// changed the block.
    pub(crate) unpacked: OnceLock<Result<Box<Batch>, String>>,
}

impl Block {
    /// A block that has not been unpacked.
    pub(crate) fn of(section: Bytes, unpack: fn(&Bytes) -> Result<Batch, String>) -> Self {
        Self { section, unpack, games_before: 0, unpacked: OnceLock::new() }
    }
}

/// An input that stores the numbers of its games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredGames {
    /// The number of the input among the inputs.
    pub(crate) input: u64,
    /// Number of games in the inputs before it, by which the stored numbers were raised.
    pub(crate) before: u64,
    /// Whether the records before and after the batch may be in other shards.
    pub(crate) in_turns: bool,
}

/// A game whose number is stored in its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StoredGame {
    pub(crate) input: u64,
    pub(crate) game: u64,
}

impl StoredGames {
    /// The number in its input of a game that is counted over all inputs.
    pub(crate) fn game(self, game: u64) -> StoredGame {
        StoredGame { input: self.input, game: game.wrapping_sub(self.before) }
    }
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
    /// One record without any data.
    pub(crate) fn of_one() -> Self {
        let mut batch = Self::default();
        batch.push(Packed::default(), 0, 0);
        batch
    }
    /// A batch over groups in a mapped file.
    ///
    /// # Panics
    /// When `len` records need more groups than there are.
    pub(crate) fn mapped(groups: Mapped<Group>, len: usize) -> Self {
        assert!(len <= groups.len() * Group::LEN);
        Self { groups: Groups::Mapped(groups), len, ..Self::default() }
    }
    /// A batch over groups; clocks and columns are to be added.
    ///
    /// # Panics
    /// When `len` records need another number of groups.
    pub fn owned(groups: Vec<Group>, len: usize) -> Self {
        assert!(groups.len() == len.div_ceil(Group::LEN));
        Self { groups: Groups::Owned(groups), len, ..Self::default() }
    }
    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The boards, eight per group; the content of lanes past [`Batch::len`] is unspecified.
    pub fn groups(&self) -> &[Group] {
        match &self.groups {
            Groups::Owned(groups) => groups,
            Groups::Mapped(groups) => groups,
        }
    }
    /// Checks that a mapped file still has the boards. If it does not, they may be zeros that were never in it.
    pub(crate) fn check(&self) -> io::Result<()> {
        match &self.groups {
            Groups::Owned(_) => Ok(()),
            Groups::Mapped(groups) => groups.check_values(),
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
    /// The position of a record, clocks included.
    ///
    /// # Errors
    /// If the planes are not a board, see [`Packed::unpack`].
    ///
    /// # Panics
    /// When the record is out of range.
    #[inline]
    pub fn position(&self, record: usize) -> Result<Position, UnpackError> {
        self.board(record).unpack(self.halfmove[record], self.fullmove[record])
    }
    /// The number of a record, counted over all inputs from zero.
    #[inline]
    pub fn index(&self, record: usize) -> u64 {
        let distance = match &self.numbers {
            Some(numbers) => numbers[record].into(),
            None => self.ordinal(record),
        };
        self.first_index + distance
    }
    /// The number of a record, counted from the first record of the batch, including those that a selection left out.
    #[inline]
    pub(crate) fn ordinal(&self, record: usize) -> u64 {
        match &self.ordinals {
            Some(ordinals) => ordinals[record].into(),
            None => record as u64,
        }
    }
    /// Whether each record has the number after the one before it.
    pub(crate) fn is_consecutive(&self) -> bool {
        self.ordinals.is_none() && self.numbers.is_none()
    }
    /// Number of records that are taken.
    pub(crate) fn taken(&self) -> u64 {
        match &self.selected {
            Some(words) => words.iter().map(|word| u64::from(word.count_ones())).sum(),
            None => self.len as u64,
        }
    }
    /// Where a record begins in the bytes that it was decoded from.
    ///
    /// # Panics
    /// When the record is out of range.
    pub fn origin(&self, record: usize) -> usize {
        match self.origins[..] {
            [] => 0,
            [all] => all as usize,
            _ => self.origins[record] as usize,
        }
    }
    /// The values of a field, where the records have it.
    #[inline]
    pub fn values(&self, field: Field) -> Option<&Array> {
        self.fields.get(&field)
    }
    /// The numbers of a field, where the records have it: `u8` for [`Field::Result`], `i16` for [`Field::Score`], and so
    /// on. `None` also if the field is not of this type.
    ///
    /// ```
    /// use lanefish::table::{Batch, Field};
    /// let batch = Batch::new();
    /// assert!(batch.column::<u16>(Field::WhiteElo).is_none() && batch.texts(Field::Eco).is_none());
    /// ```
    #[inline]
    pub fn column<T: Number>(&self, field: Field) -> Option<&Values<T>> {
        self.values(field)?.numbers()
    }
    /// The texts of a field, where the records have it.
    #[inline]
    pub fn texts(&self, field: Field) -> Option<&Texts> {
        self.values(field)?.texts()
    }
    /// Whether the records have nothing except boards and clocks.
    pub(crate) fn has_only_boards(&self) -> bool {
        self.fields.is_empty() && self.tags.is_empty()
    }
    /// Bytes of all texts; a text that neighbouring records share is counted once.
    pub(crate) fn text_len(&self) -> u64 {
        let fields = self.fields.values().filter_map(|values| match values {
            Array::Text(texts) => Some(texts),
            _ => None,
        });
        let texts = fields.chain(self.tags.values());
        texts.map(|texts| texts.words().text().len() as u64).sum()
    }
    /// A batch of these rows only, which keep their numbers.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn select(&self, rows: &[u32]) -> Self {
        let mut selected = Self {
            first_index: self.first_index,
            is_from_mover: self.is_from_mover,
            score_codes: self.score_codes,
            stored_games: self.stored_games,
            ..Self::default()
        };
        let rows = || rows.iter().map(|&row| row as usize);
        for row in rows() {
            selected.push(self.board(row), self.halfmove[row], self.fullmove[row]);
        }
        selected.ordinals = Some(rows().map(|row| (self.index(row) - self.first_index) as u32).collect());
        selected.origins = if self.origins.len() == self.len {
            rows().map(|row| self.origins[row]).collect()
        } else {
            self.origins.clone()
        };
        for (&field, values) in &self.fields {
            let mut column = field.column(0);
            column.extend_from(values, rows());
            selected.fields.insert(field, column);
        }
        for (name, values) in &self.tags {
            let mut column = Texts::default();
            column.extend_from(values, rows());
            selected.tags.insert(Arc::clone(name), column);
        }
        selected
    }
    /// Adds records of another batch with all their columns; numbers and origins are left behind.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn extend_from(&mut self, other: &Self, rows: impl Iterator<Item = usize> + Clone) {
        let columns = (&mut self.fields, &mut self.tags);
        extend_columns(columns, self.len, (&other.fields, &other.tags), rows.clone());
        let boards = other.groups();
        let mut len = self.len;
        let groups = self.owned_groups();
        rows.clone().for_each(|row| {
            assert!(row < other.len);
            let lane = len % Group::LEN;
            if lane == 0 {
                groups.push(Group::default());
            }
            if let Some(last) = groups.last_mut() {
                last.set(lane, boards[row / Group::LEN].get(row % Group::LEN));
            }
            len += 1;
        });
        self.len = len;
        self.halfmove.reserve(len - self.halfmove.len());
        self.fullmove.reserve(len - self.fullmove.len());
        rows.for_each(|row| {
            self.halfmove.push(other.halfmove[row]);
            self.fullmove.push(other.fullmove[row]);
        });
    }
    /// The batch with all of its fields.
    ///
    /// # Errors
    /// If they are still in the [block](Self::block), and that has been changed by another program.
    pub(crate) fn unpacked(&self) -> Result<&Self, &str> {
        let Some(block) = &self.block else { return Ok(self) };
        let unpacked = block.unpacked.get_or_init(|| {
            let mut batch = (block.unpack)(&block.section)?;
            if let Some(Array::U64(games)) = batch.fields.get_mut(&Field::Game) {
                games.add(block.games_before);
            }
            Ok(Box::new(batch))
        });
        unpacked.as_deref().map_err(String::as_str)
    }
    /// A batch of one record of this one, with its number.
    ///
    /// # Panics
    /// When the row is out of range.
    pub(crate) fn copy_of(&self, row: usize) -> Self {
        let mut copy = Self {
            first_index: self.index(row),
            is_from_mover: self.is_from_mover,
            score_codes: self.score_codes,
            stored_games: self.stored_games,
            origins: vec![0],
            selected: self.selected.as_ref().map(|selected| vec![selected[row / 64] >> (row % 64) & 1]),
            ..Self::default()
        };
        copy.extend_from(self, std::iter::once(row));
        copy
    }
    /// An empty batch in the memory of this one, if that holds this number of boards and not many more.
    pub(crate) fn emptied(self, len: usize) -> Option<Self> {
        let Self { groups: Groups::Owned(mut groups), mut halfmove, mut fullmove, .. } = self else {
            return None;
        };
        let room = groups.capacity() * Group::LEN;
        groups.clear();
        halfmove.clear();
        fullmove.clear();
        (len..=2 * len).contains(&room).then_some(Self {
            groups: Groups::Owned(groups),
            halfmove,
            fullmove,
            ..Self::default()
        })
    }
    /// The boards, copied first if they lie in a file.
    #[inline(always)]
    fn owned_groups(&mut self) -> &mut Vec<Group> {
        if let Groups::Mapped(groups) = &self.groups {
            self.groups = Groups::Owned(groups.to_vec());
        }
        let Groups::Owned(groups) = &mut self.groups else { unreachable!("made owned above") };
        groups
    }
    /// Makes room for this many more records.
    pub(crate) fn reserve(&mut self, records: usize) {
        self.owned_groups().reserve(records.div_ceil(Group::LEN));
        self.halfmove.reserve(records);
        self.fullmove.reserve(records);
    }
    /// Adds records with the same position.
    #[cfg(feature = "parquet")]
    pub(crate) fn push_many(&mut self, board: Packed, [halfmove, fullmove]: [u16; 2], records: usize) {
        let end = self.len + records;
        while self.len < end && !self.len.is_multiple_of(Group::LEN) {
            self.push(board, halfmove, fullmove);
        }
        let whole = (end - self.len) / Group::LEN * Group::LEN;
        let mut group = Group::default();
        (0..Group::LEN).for_each(|lane| group.set(lane, board));
        let groups = self.owned_groups();
        groups.resize(groups.len() + whole / Group::LEN, group);
        self.halfmove.resize(self.halfmove.len() + whole, halfmove);
        self.fullmove.resize(self.fullmove.len() + whole, fullmove);
        self.len += whole;
        (self.len..end).for_each(|_| self.push(board, halfmove, fullmove));
    }
    /// Adds a record. Columns of [`Batch::fields`] and [`Batch::tags`] are the caller's to keep in step.
    #[inline(always)]
    pub fn push(&mut self, board: Packed, halfmove: u16, fullmove: u16) {
        let lane = self.len % Group::LEN;
        let groups = self.owned_groups();
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

/// The columns of records.
type Columns<'a> = (&'a BTreeMap<Field, Array>, &'a BTreeMap<Arc<str>, Texts>);

/// Adds rows of other columns to those of this many records; what either lacks is missing.
///
/// # Panics
/// When a row is out of range.
pub(crate) fn extend_columns(
    (fields, tags): (&mut BTreeMap<Field, Array>, &mut BTreeMap<Arc<str>, Texts>),
    before: usize,
    (other_fields, other_tags): Columns<'_>,
    rows: impl Iterator<Item = usize> + Clone,
) {
    for (&field, values) in other_fields {
        fields.entry(field).or_insert_with(|| field.column(before)).extend_from(values, rows.clone());
    }
    for (field, values) in fields {
        if !other_fields.contains_key(field) {
            rows.clone().for_each(|_| values.push_missing());
        }
    }
    for (name, values) in other_tags {
        tags.entry(Arc::clone(name)).or_insert_with(|| Texts::missing(before)).extend_from(values, rows.clone());
    }
    for (name, values) in tags {
        if !other_tags.contains_key(name) {
            values.push_many(None, rows.clone().count());
        }
    }
}
