//! Deduplication: keeps one of several equal records.
//!
//! A first run divides the keys of all records, with the record numbers, into parts that fit in memory. In each part,
//! it is decided which of several equal records is kept, and noted as a bit. A second run over the inputs takes the
//! records with a set bit, in order. Keys are compared as a whole, never by a hash alone. Duplicates within the
//! collected entries of a part are dropped before they are written to disk.

use super::kept_record_bits::KeptRecords;
use crate::ParseError;
use crate::canonical::{ROOTS, fold, hash_of_planes};
use crate::choose::{Choose, RecordFilter};
use crate::distinct::{canonical_at, castling_files};
use crate::error::{Error, Reject};
use crate::input::Inputs;
use crate::partition::distinct_positions::{Collected, Exact};
use crate::partition::keyed_rows::{PILE_LEN, Partitions, Row, RowBuffer, Store};
use crate::partition::rows_of_any_length::{ByteRows, Superfluous};
use crate::pipeline::{AnyJob, AnySink, Job, Refusal, RunError, RunOptions, Summary, erased, run, run_on, run_to_end};
use crate::poisoned_locks::Unpoisoned;
use crate::queries::Queries;
use crate::table::{Array, Batch, Column, Field, Fields, Kind, Needs, Tile};
use crate::tiers::Analyzer;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::Hasher;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What makes records equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Key {
    /// The pieces and their squares.
    Board,
    /// Also the side to move.
    Stm,
    /// Also castling rights.
    Castling,
    /// Also en passant squares, if such a capture is legal.
    #[default]
    Position,
    /// The position as the side to move sees it: with colours exchanged if Black is to move.
    Relative,
    /// Every field but the number of the game, and with [`Dedup::counts`] the count.
    Record,
}

impl Key {
    /// The keys, with their names.
    pub const ALL: [(&str, Self); 6] = [
        ("board", Self::Board),
        ("stm", Self::Stm),
        ("castling", Self::Castling),
        ("position", Self::Position),
        ("relative", Self::Relative),
        ("record", Self::Record),
    ];
}

impl FromStr for Key {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let known = Self::ALL.iter().find(|(name, _)| *name == text);
        known.map(|&(_, key)| key).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            ParseError::new(format!("`{text}` is not a key of records, which are {names}"))
        })
    }
}

impl FromStr for Keep {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let column = |name: &str| {
            let column = Column::named(name).ok_or_else(|| ParseError::new(format!("there is no column `{name}`")))?;
            match column.kind {
                Kind::Flag | Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 | Kind::I16 => Ok(column),
                _ => Err(ParseError::new(format!("the column `{name}` does not hold numbers"))),
            }
        };
        match text.split_once(':') {
            None if text == "first" => Ok(Self::First),
            None if text == "last" => Ok(Self::Last),
            Some(("most", name)) => column(name).map(Self::Most),
            Some(("least", name)) => column(name).map(Self::Least),
            _ => Err(ParseError::new("expected first, last, most:COLUMN or least:COLUMN".to_owned())),
        }
    }
}

/// Which of several equal records is kept.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Keep {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
    /// The first of those with the largest value of a column of numbers.
    Most(&'static Column),
    /// The first of those with the smallest value of a column of numbers.
    Least(&'static Column),
}

/// Options of the deduplication.
///
/// ```
/// use lanefish::datasets::Dedup;
/// use lanefish::jobs::{OutputFormat, WriteJob, OutputContent};
/// use lanefish::{formats::Format, input::Inputs, pipeline::RunOptions, tiers};
///
/// let twice = ["data/sample.epd".into(), "data/sample.epd".into()];
/// let inputs = Inputs::resolve(&twice, |_| true)?;
/// let job = WriteJob::new(OutputContent::Records { fen: false }, OutputFormat::Records(Format::EPD))?;
/// let mut epd = Vec::new();
/// let mut file = job.open(&mut epd)?;
/// let (summary, kept) = Dedup::default().run(&inputs, RunOptions::new(tiers::best()), &job, |part| {
///     job.put(&mut file, part).map_err(|source| lanefish::Error::Write { path: "distinct".into(), source })
/// })?;
/// job.finish(file)?;
/// assert!(kept.kept <= summary.accepted() / 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Dedup {
    /// What makes records equal.
    pub key: Key,
    /// Which of several equal records is kept.
    pub keep: Keep,
    /// Inputs with records that must not be kept.
    pub against: Inputs,
    /// Whether records say how often they occurred: [`Field::Count`].
    pub counts: bool,
}

crate::option_setters::setters!(Dedup { key: Key, keep: Keep, against: Inputs, counts: bool });

/// The numbers of distinct records, by each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Distinct {
    /// The number of records.
    pub records: u64,
    /// By the pieces and their squares.
    pub board: u64,
    /// Also by the side to move.
    pub stm: u64,
    /// Also by castling rights.
    pub castling: u64,
    /// Also by legal en passant squares.
    pub position: u64,
    /// By every field but [`Field::Game`].
    pub record: u64,
}

/// The key of a position and, in the last 40 bits of the last word, the place of the record. Of equal positions, the
/// first is kept.
type Short = [u64; 5];
/// An entry with a rank before the place.
type Long = [u64; 6];

/// An entry with a rank and a count.
type Counted = [u64; 7];

/// Number of bits of a place.
const PLACE: u32 = 40;
/// The place of records that must not be kept.
const NEVER: u64 = 0;
/// The place after the last.
const END: u64 = 1 << PLACE;

/// An entry for a record.
trait Entry: Row {
    /// The words that make records equal.
    fn kind(&self) -> Short;
    /// The number that decides among equal records: the record with the smallest one is kept.
    fn order(&self) -> (u64, u64);
    /// The count of the record, if it is known.
    fn count(&self) -> u64 {
        1
    }
    /// Combines the entries of two equal records.
    fn merge(&mut self, other: Self) {
        if other.order() < self.order() {
            *self = other;
        }
    }
}

/// The key without the place.
#[inline]
fn key_of(words: &[u64]) -> Short {
    [words[0], words[1], words[2], words[3], words[4] >> PLACE]
}

/// The place of a record.
#[inline]
fn place_of(words: &[u64]) -> u64 {
    words[4] & (END - 1)
}

impl Entry for Short {
    #[inline]
    fn kind(&self) -> Short {
        key_of(self)
    }
    #[inline]
    fn order(&self) -> (u64, u64) {
        (0, place_of(self))
    }
}

impl Entry for Long {
    #[inline]
    fn kind(&self) -> Short {
        key_of(self)
    }
    #[inline]
    fn order(&self) -> (u64, u64) {
        match place_of(self) {
            NEVER => (0, NEVER),
            place => (self[5], place),
        }
    }
}

impl Entry for Counted {
    #[inline]
    fn kind(&self) -> Short {
        key_of(self)
    }
    #[inline]
    fn order(&self) -> (u64, u64) {
        match place_of(self) {
            NEVER => (0, NEVER),
            place => (self[5], place),
        }
    }
    fn count(&self) -> u64 {
        self[6]
    }
    fn merge(&mut self, other: Self) {
        let count = self[6] + other[6];
        if other.order() < self.order() {
            *self = other;
        }
        self[6] = count;
    }
}

/// The hash by which records are divided.
#[inline]
fn hash(key: &Short) -> u64 {
    let [black, t0, t1, t2, _] = *key;
    let board = hash_of_planes([black, t0, t1, t2]);
    fold(board ^ ROOTS[4], key[4].wrapping_mul(ROOTS[6]) ^ ROOTS[8])
}

thread_local! {
    /// The memory of [`keep_distinct`], for reuse: allocating it would cost as much as the work itself.
    static TABLE: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// Keeps one of several equal entries, in place.
fn keep_distinct<E: Entry>(piles: &mut [Vec<E>]) {
    // The places of distinct entries: some bits of their hash, the pile plus one, and the row in it.
    const ROW: u32 = 16;
    const PILE: u32 = 24;
    const { assert!(PILE_LEN <= 1 << ROW) };
    let most: usize = piles.iter().map(RowBuffer::len).sum();
    let mut table = TABLE.take();
    table.clear();
    table.resize((most * 2).next_power_of_two(), 0);
    let mask = table.len() - 1;
    let mut rows: Vec<&mut [E]> = piles.iter_mut().map(|pile| &mut **pile).collect();
    let mut lens = Vec::with_capacity(rows.len());
    for pile in 0..rows.len() {
        let mut kept = 0;
        for row in 0..rows[pile].len() {
            let entry = rows[pile][row];
            let kind = entry.kind();
            let hash = hash(&kind);
            let tag = hash >> 24 << (ROW + PILE);
            let mut at = hash as usize & mask;
            loop {
                let known = table[at];
                if known == 0 {
                    table[at] = tag | (pile as u64 + 1) << ROW | kept as u64;
                    // Most entries are already in the right place.
                    if kept != row {
                        rows[pile][kept] = entry;
                    }
                    kept += 1;
                    break;
                }
                if (known ^ tag) >> (ROW + PILE) == 0 {
                    let place = known & !(!0 << (ROW + PILE));
                    let known = &mut rows[(place >> ROW) as usize - 1][(place & !(!0 << ROW)) as usize];
                    if known.kind() == kind {
                        known.merge(entry);
                        break;
                    }
                }
                at = (at + 1) & mask;
            }
        }
        lens.push(kept);
    }
    piles.iter_mut().zip(lens).for_each(|(pile, len)| pile.truncate(len));
    TABLE.set(table);
}

macro_rules! entries_are_rows {
    ($($entry:ty)*) => {$(
        impl Row for $entry {
            #[inline]
            fn key(&self) -> u64 {
                hash(&self.kind())
            }
            fn thin(rows: &mut Vec<Self>) {
                keep_distinct(std::slice::from_mut(rows));
            }
        }
    )*};
}

entries_are_rows!(Short Long Counted);

/// Whole records: their hash, their rank, their place, and their count; and all their fields as bytes, one after the
/// other.
type Whole = ByteRows<4, EqualRecords>;

/// Of equal records, one is kept.
#[derive(Debug, Default)]
struct EqualRecords;

impl Superfluous<4> for EqualRecords {
    fn leave_out(rows: &mut Whole) {
        *rows = distinct(rows);
    }
}

/// How many equal records a record stands for.
#[inline]
fn count_at(batch: &Batch, row: usize) -> u64 {
    match batch.values(Field::Count) {
        Some(Array::U64(counts)) => counts.get(row).copied().unwrap_or(1),
        _ => 1,
    }
}

/// Adds a record; with `adds_up`, records may differ in their counts.
fn push_whole(rows: &mut Whole, batch: &Batch, row: usize, rank: u64, place: u64, adds_up: bool) {
    rows.push_with(|bytes| {
        let start = bytes.len();
        let board = batch.board(row);
        for plane in [board.color, board.types[0], board.types[1], board.types[2]] {
            bytes.extend_from_slice(&plane.to_le_bytes());
        }
        bytes.extend_from_slice(&batch.halfmove[row].to_le_bytes());
        bytes.extend_from_slice(&batch.fullmove[row].to_le_bytes());
        // Games are numbered over all inputs, so the number of a game says where it was found.
        let is_compared = |field| field != Field::Game && !(adds_up && field == Field::Count);
        let fields = batch.fields.iter().filter(|&(&field, values)| is_compared(field) && values.is_present(row));
        for (&field, values) in fields {
            bytes.push(field as u8);
            match (values.number(row), values.text(row)) {
                (Some(number), _) => bytes.extend_from_slice(&number.to_le_bytes()),
                (None, text) => {
                    let text = text.unwrap_or_default();
                    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
                    bytes.extend_from_slice(text.as_bytes());
                }
            }
        }
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write(&bytes[start..]);
        [hasher.finish(), rank, place, count_at(batch, row)]
    });
}

/// Keeps one of several equal records: the one with the smallest rank, then place.
fn distinct(all: &Whole) -> Whole {
    let order = |row: usize| match all.numbers[row] {
        [_, _, NEVER, _] => (0, NEVER),
        [_, rank, place, _] => (rank, place),
    };
    let mut kept: HashMap<&[u8], (usize, u64)> = HashMap::new();
    for row in 0..all.len() {
        let (known, count) = kept.entry(all.bytes_of(row)).or_insert((row, 0));
        *count += all.numbers[row][3];
        if order(row) < order(*known) {
            *known = row;
        }
    }
    let mut rows: Vec<(usize, u64)> = kept.into_values().collect();
    rows.sort_unstable();
    let mut distinct = Whole::default();
    for (place, (row, count)) in rows.into_iter().enumerate() {
        distinct.push_of(all, row);
        distinct.numbers[place][3] = count;
    }
    distinct
}

/// The rule for choosing among equal records, and for records that must not be kept.
#[derive(Clone, Copy)]
struct Ranking<'a> {
    keep: &'a Keep,
    /// None of these records is kept.
    never: bool,
}

impl Ranking<'_> {
    fn column(&self) -> Option<&'static Column> {
        match self.keep {
            Keep::First | Keep::Last => None,
            Keep::Most(column) | Keep::Least(column) => Some(column),
        }
    }
    /// The place of a record: of equal ranks, the smallest place is kept.
    fn place(&self, number: u64) -> u64 {
        match (self.never, self.keep) {
            (true, _) => NEVER,
            (false, Keep::Last) => (END - 1).saturating_sub(number),
            (false, _) => number + 1,
        }
    }
    /// The number of the record with a place, unless it is never kept.
    fn number(&self, place: u64) -> Option<u64> {
        match (place, self.keep) {
            (NEVER, _) => None,
            (_, Keep::Last) => Some(END - 1 - place),
            _ => Some(place - 1),
        }
    }
    /// The rank of a row of a column; records without a value come last.
    fn rank(&self, values: &Array, row: usize) -> u64 {
        let value = match values {
            Array::Flag(flags) => flags.get(row).map(|&flag| i64::from(flag)),
            values => values.number(row),
        };
        // In the order of numbers, and never the largest.
        let rank = value.map(|value| (value.saturating_neg() as u64) ^ 1 << 63);
        match (rank, self.keep) {
            (None, _) => u64::MAX,
            (Some(most), Keep::Most(_)) => most,
            (Some(most), _) => !most - 1,
        }
    }
}

/// Adds the keys of records to a store.
struct Enter<'a, P, F> {
    store: &'a Store<P>,
    ranking: Ranking<'a>,
    /// The fields that make records equal.
    fields: Fields,
    /// Number of records entered.
    entered: AtomicU64,
    /// The number after that of the last of them.
    end: AtomicU64,
    /// Adds a record with its rank and place to the entries of a chunk.
    add: F,
    /// The function that finds records which the output cannot store.
    refusal: Option<Refusal>,
    /// The memory of earlier chunks, for reuse.
    used: Mutex<Vec<(P, Vec<u64>)>>,
}

impl<P: RowBuffer, F: Fn(&mut P, &Batch, usize, u64, u64) + Sync> Job for Enter<'_, P, F> {
    type Part = (P, Vec<u64>);
    fn needs(&self) -> Needs {
        let ranking = self.ranking.column().map(|column| Needs::new(column.queries, column.fields));
        Needs::new(Queries::NONE, self.fields).and(ranking.unwrap_or_default())
    }
    fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }
    fn begin(&self) -> Self::Part {
        let used = self.used.lock().unpoisoned().pop();
        used.unwrap_or_default()
    }
    fn tile(&self, (part, _): &mut Self::Part, tile: &Tile<'_>) {
        self.entered.fetch_add(tile.count() as u64, Ordering::Relaxed);
        if let Some(last) = tile.rows().last() {
            self.end.fetch_max(tile.batch.index(last) + 1, Ordering::Relaxed);
        }
        let values = self.ranking.column().map(|column| column.fill(tile));
        for row in tile.rows() {
            let rank = values.as_ref().map_or(0, |values| self.ranking.rank(values, row - tile.start));
            (self.add)(part, tile.batch, row, rank, self.ranking.place(tile.batch.index(row)));
        }
    }
    fn end(&self, part: &mut Self::Part, _chunk: u64) {
        let (mut entries, mut keys) = std::mem::take(part);
        entries.keys(&mut keys);
        self.store.add(&keys, |pile: &mut P, rows| pile.take(&entries, rows));
        entries.clear();
        keys.clear();
        self.used.lock().unpoisoned().push((entries, keys));
    }
}

/// The key of a record, without its place.
#[inline]
fn key_at(key: Key, batch: &Batch, row: usize) -> Short {
    let mut position = canonical_at(batch, row);
    if key == Key::Relative {
        position = position.relative();
    }
    let [black, t0, t1, t2] = position.board;
    let stm = u64::from(position.black_to_move) << 23;
    let castling = u64::from(castling_files(position.castling)) << 7;
    let en_passant = match position.en_passant {
        0 => 0,
        square => u64::from(square.trailing_zeros()) + 1,
    };
    let state = match key {
        Key::Board => 0,
        Key::Stm => stm,
        Key::Castling => stm | castling,
        Key::Position | Key::Relative | Key::Record => stm | castling | en_passant,
    };
    [black, t0, t1, t2, state << PLACE]
}

/// The numbers of records compared and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Deduplicated {
    /// Records that were compared with each other.
    pub compared: u64,
    /// Of those, the ones that are kept.
    pub kept: u64,
    /// Number of bad records in the files to compare with, which are not compared.
    pub rejected_against: u64,
}

impl Dedup {
    /// Reads all inputs twice, and runs a job on one record of each kind. Parts are passed to `sink` in the order of
    /// the input on the calling thread.
    ///
    /// Nothing is passed on unless all inputs could be read.
    ///
    /// # Errors
    /// As for [`pipeline::run`](crate::pipeline::run), or if the inputs changed between the two readings.
    pub fn run<J: Job>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        job: &J,
        sink: impl FnMut(J::Part) -> Result<(), Error>,
    ) -> Result<(Summary, Deduplicated), RunError> {
        let (summary, done) = erased(job, sink, |job, sink| self.run_any(inputs, options, job, sink));
        Ok((summary.into_result()?, done))
    }

    /// The same for any job, compiled once.
    fn run_any<'a>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        job: AnyJob<'a>,
        sink: &mut AnySink<'_, 'a>,
    ) -> (Summary, Deduplicated) {
        let job = &job;
        let (analyzer, threads, interrupt) = (options.analyzer, options.threads, options.interrupt);
        let read = options.read.clone();
        let refusal = job.refusal();
        let mut done = Deduplicated::default();
        let mut summary = Summary::default();
        let kept = match self.key {
            Key::Record => {
                let add = |rows: &mut Whole, batch: &Batch, row, rank, place| {
                    push_whole(rows, batch, row, rank, place, self.counts);
                };
                let places = |piles: Vec<Whole>| {
                    let rows = distinct(&Whole::joined(piles)).numbers;
                    rows.into_iter().map(|[_, _, place, count]| [place, count]).collect()
                };
                let fields = Fields::ALL;
                self.decide(inputs, options, (fields, refusal), add, places, (&mut summary, &mut done))
            }
            key if self.counts => {
                let add = |entries: &mut Vec<Counted>, batch: &Batch, row, rank, place| {
                    let [black, t0, t1, t2, state] = key_at(key, batch, row);
                    entries.push([black, t0, t1, t2, state | place, rank, count_at(batch, row)]);
                };
                let fields = Fields::of(&[Field::Count]);
                self.decide(inputs, options, (fields, refusal), add, places::<Counted>, (&mut summary, &mut done))
            }
            key if matches!(self.keep, Keep::First | Keep::Last) => {
                let add = |entries: &mut Vec<Short>, batch: &Batch, row, _, place| {
                    let mut entry = key_at(key, batch, row);
                    entry[4] |= place;
                    entries.push(entry);
                };
                self.decide(inputs, options, (Fields::NONE, refusal), add, places::<Short>, (&mut summary, &mut done))
            }
            key => {
                let add = |entries: &mut Vec<Long>, batch: &Batch, row, rank, place| {
                    let [black, t0, t1, t2, state] = key_at(key, batch, row);
                    entries.push([black, t0, t1, t2, state | place, rank]);
                };
                self.decide(inputs, options, (Fields::NONE, refusal), add, places::<Long>, (&mut summary, &mut done))
            }
        };
        match kept {
            Ok(kept) => {
                done.kept = kept.count();
                let only = Only { kept: &kept, failure: Mutex::default() };
                let mut second = RunOptions::new(analyzer).threads(threads).read(read);
                second.interrupt = interrupt;
                second.only = Some(&only);
                let again = if self.counts {
                    let job = WithCounts { only: &only, job, analyzer };
                    only.run(inputs, second, &job, |(part, _)| sink(part))
                } else {
                    only.run(inputs, second, job, sink)
                };
                summary.lost_tags = again.lost_tags;
                summary.failure = again.failure;
                if summary.failure.is_none() && again.records != summary.records {
                    summary.failure = Some(Error::Changed { before: summary.records, after: again.records });
                }
            }
            Err(error) => summary.failure = Some(error),
        }
        (summary, done)
    }

    /// The first run, which decides which records are kept.
    fn decide<P: RowBuffer>(
        &self,
        inputs: &Inputs,
        mut options: RunOptions<'_>,
        (fields, refusal): (Fields, Option<Refusal>),
        add: impl Fn(&mut P, &Batch, usize, u64, u64) + Sync,
        places: impl Fn(Vec<P>) -> Vec<[u64; 2]> + Sync,
        (summary, done): (&mut Summary, &mut Deduplicated),
    ) -> Result<KeptRecords, Error> {
        inputs.check_regular()?;
        let threads = options.threads;
        let space = options.space.clone();
        let store = Store::<P>::new(&space)?;
        let keep = &self.keep;
        if !self.against.sources.is_empty() {
            // All records of these files count, whatever is chosen from the inputs.
            let read = options.read.clone().choose(Choose::default()).skip(0).limit(None).shard(None);
            let mut against = RunOptions::new(options.analyzer).threads(threads).read(read);
            against.interrupt = options.interrupt;
            let mut on_reject = options.on_reject.take();
            let mut pass_on = |reject: &Reject| on_reject.as_mut().map_or(Ok(()), |on_reject| on_reject(reject));
            against.on_reject = Some(&mut pass_on);
            let ranking = Ranking { keep, never: true };
            let (entered, end, used) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::default());
            let enter = Enter { store: &store, ranking, fields, entered, end, add: &add, used, refusal: None };
            let compared = run(&self.against, against, &enter, |_| store.check())?;
            done.rejected_against = compared.rejected;
            options.on_reject = on_reject;
        }
        let ranking = Ranking { keep, never: false };
        let (entered, end, used) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::default());
        let enter = Enter { store: &store, ranking, fields, entered, end, add: &add, used, refusal };
        *summary = run_to_end(inputs, options, &enter, |_| store.check());
        done.compared = enter.entered.into_inner();
        if let Some(failure) = summary.failure.take() {
            return Err(failure);
        }
        // Numbers continue after the skipped records.
        let kept = KeptRecords::new(enter.end.into_inner(), self.counts, &space)?;
        Partitions::of(store, &space, threads)?.for_each(threads, |leaf| {
            let places = places(leaf.piles()?).into_iter();
            kept.insert(places.filter_map(|[place, count]| Some([ranking.number(place)?, count])))
        })?;
        kept.finish(threads)
    }

    /// Reads all inputs, and counts the distinct records, by each key.
    ///
    /// # Errors
    /// As for [`pipeline::run`](crate::pipeline::run).
    pub fn count(&self, inputs: &Inputs, options: RunOptions<'_>) -> Result<(Summary, Distinct), RunError> {
        let half = options.space.clone().memory(options.space.memory / 2);
        let (exact, store) = (Exact::new(&half)?, Store::<Whole>::new(&half)?);
        let threads = options.threads;
        let ranking = Ranking { keep: &Keep::First, never: false };
        let add = |rows: &mut Whole, batch: &Batch, row, rank, place| push_whole(rows, batch, row, rank, place, false);
        let (fields, entered, end, used) = (Fields::ALL, AtomicU64::new(0), AtomicU64::new(0), Mutex::default());
        let enter = Enter { store: &store, ranking, fields, entered, end, add, used, refusal: None };
        let both = Both { enter, exact: &exact };
        let summary = run(inputs, options, &both, |_| {
            exact.check()?;
            store.check()
        })?;
        let entered = both.enter.entered.into_inner();
        let records = AtomicU64::new(0);
        let counted = Partitions::of(store, &half, threads)
            .and_then(|leaves| {
                leaves.for_each(threads, |leaf| {
                    let piles = leaf.piles()?;
                    let rows = piles.iter().flat_map(|pile| (0..pile.len()).map(move |row| pile.bytes_of(row)));
                    let distinct: std::collections::HashSet<&[u8]> = rows.collect();
                    records.fetch_add(distinct.len() as u64, Ordering::Relaxed);
                    Ok(())
                })
            })
            .and_then(|()| exact.finish(threads));
        let [board, stm, castling, position] = match counted {
            Ok(counted) => counted,
            Err(error) => return Err(RunError { error, summary: Box::new(summary) }),
        };
        Ok((summary, Distinct { records: entered, board, stm, castling, position, record: records.into_inner() }))
    }
}

/// The places of the entries that are kept, and their counts.
fn places<E: Entry>(mut piles: Vec<Vec<E>>) -> Vec<[u64; 2]> {
    keep_distinct(&mut piles);
    piles.iter().flat_map(|pile| &**pile).map(|entry| [entry.order().1, entry.count()]).collect()
}

/// Records and positions at once.
struct Both<'a, P, F> {
    enter: Enter<'a, P, F>,
    exact: &'a Exact,
}

impl<P: RowBuffer, F: Fn(&mut P, &Batch, usize, u64, u64) + Sync> Job for Both<'_, P, F> {
    type Part = ((P, Vec<u64>), Collected);
    fn needs(&self) -> Needs {
        self.enter.needs().and(Needs::new(Queries::KINDS, Fields::NONE))
    }
    fn begin(&self) -> Self::Part {
        (self.enter.begin(), Collected::default())
    }
    fn tile(&self, (part, positions): &mut Self::Part, tile: &Tile<'_>) {
        positions.add_tile(tile);
        self.enter.tile(part, tile);
    }
    fn end(&self, (part, positions): &mut Self::Part, chunk: u64) {
        self.exact.add(positions);
        self.enter.end(part, chunk);
    }
}

/// Takes only records that are kept.
struct Only<'a> {
    kept: &'a KeptRecords,
    failure: Mutex<Option<Error>>,
}

impl Only<'_> {
    /// The second run.
    fn run<J: Job>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        job: &J,
        mut sink: impl FnMut(J::Part) -> Result<(), Error>,
    ) -> Summary {
        let mut summary = run_to_end(inputs, options, job, |part| {
            self.check()?;
            sink(part)
        });
        if summary.failure.is_none() {
            summary.failure = self.check().err();
        }
        summary
    }

    fn check(&self) -> Result<(), Error> {
        self.failure.lock().unpoisoned().take().map_or(Ok(()), Err)
    }
}

/// Adds the counts of records.
struct WithCounts<'a, J> {
    only: &'a Only<'a>,
    job: &'a J,
    analyzer: &'static dyn Analyzer,
}

impl<J: Job> Job for WithCounts<'_, J> {
    type Part = (J::Part, Vec<(Arc<Batch>, Vec<u32>)>);
    fn needs(&self) -> Needs {
        let needs = self.job.needs().without_queries();
        Needs { fields: needs.fields.without(Field::Count), ..needs }
    }
    fn reads_lost_tags(&self) -> bool {
        self.job.reads_lost_tags()
    }
    fn refusal(&self) -> Option<Refusal> {
        self.job.refusal()
    }
    fn begin(&self) -> Self::Part {
        (self.job.begin(), Vec::new())
    }
    fn tile(&self, (_, batches): &mut Self::Part, tile: &Tile<'_>) {
        let rows = tile.rows().map(|row| row as u32);
        match batches.last_mut() {
            Some((batch, known)) if Arc::ptr_eq(batch, tile.batch) => known.extend(rows),
            _ => batches.push((Arc::clone(tile.batch), rows.collect())),
        }
    }
    fn end(&self, (part, batches): &mut Self::Part, chunk: u64) {
        for (batch, rows) in batches.drain(..) {
            let Some(&first) = rows.first() else {
                continue;
            };
            match self.only.kept.counts(batch.index(first as usize), rows.len()) {
                Ok(counts) => {
                    let mut counted = batch.select(&rows);
                    counted.fields.insert(Field::Count, Array::U64(counts.into()));
                    run_on(self.analyzer, self.job, part, &Arc::new(counted));
                }
                Err(error) => {
                    self.only.failure.lock().unpoisoned().get_or_insert(error);
                    break;
                }
            }
        }
        self.job.end(part, chunk);
    }
}

impl RecordFilter for Only<'_> {
    fn name(&self) -> &'static str {
        "dedup"
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        if let Err(error) = self.kept.choose(tile, mask) {
            mask.fill(0);
            self.failure.lock().unpoisoned().get_or_insert(error);
        }
    }
}
