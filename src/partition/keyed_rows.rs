//! Rows with keys, divided by their keys into parts, of which each fits into memory.
//!
//! All threads add rows. The first bits of a row's key determine its part. The collected rows of a part are closed as a
//! *run*, which is no longer changed. Once the runs of all parts need more than their share of the memory, further runs
//! are written to a temporary file. [`Partitions`] then hands out the parts in the order of keys. Small neighbouring parts
//! are joined, and parts that are too large are divided again by the next bits. The order of rows within a part depends
//! on the timing of threads, so the caller sorts each leaf.

use crate::error::Error;
use crate::output::ScratchSpace;
use crate::output::temp_file::Spill;
use crate::poisoned_locks::Unpoisoned;
use bytemuck::Pod;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Maximum number of parts into which rows are divided at a time, as bits.
const MOST_BITS: u32 = 8;
/// Minimum number of parts, as bits.
const FEWEST_BITS: u32 = 2;
/// The memory per part.
const MEMORY_OF_PART: u64 = 256 << 10;
/// Maximum size of a run, in bytes: larger runs are not faster.
const LARGEST_RUN: u64 = 1 << 20;
/// Minimum size of a run, so that files are not written in tiny pieces.
const SMALLEST_RUN: u64 = 4 << 10;
/// Leaves that are smaller than this, in bytes, are joined.
const SMALL_LEAF: u64 = 1 << 20;

/// Number of runs that are not thinned after one with few superfluous rows.
const PATIENCE: u32 = 15;

/// Maximum number of rows of a pile: their places have few bits.
const MOST_ROWS: usize = 1 << 15;
/// Maximum number of rows that are added to a pile at a time.
const MOST_AT_ONCE: usize = MOST_ROWS / 2;
/// A number that is larger than the number of rows of any pile.
pub(crate) const PILE_LEN: usize = MOST_ROWS + MOST_AT_ONCE;

/// Rows of one kind.
pub(crate) trait RowBuffer: Default + Send + Sync {
    /// Number of rows.
    fn len(&self) -> usize;
    /// Adds the keys of all rows.
    fn keys(&self, keys: &mut Vec<u64>);
    /// Adds rows of another pile; returns their approximate memory in bytes.
    fn take(&mut self, from: &Self, rows: &[u32]) -> u64;
    /// An empty pile with room for as many rows: for the next run, without moving it as it grows.
    fn another(&self) -> Self {
        Self::default()
    }
    /// Removes all rows; the memory is kept.
    fn clear(&mut self) {
        *self = Self::default();
    }
    /// Leaves out what is known to be superfluous.
    fn thin(&mut self) {}
    /// Bytes of memory, about.
    fn bytes(&self) -> u64;
    /// The rows as bytes.
    ///
    /// # Errors
    /// If they cannot be written as such.
    fn encode(self, to: &mut Vec<u8>) -> io::Result<()>;
    /// Decodes [encoded](Self::encode) rows.
    ///
    /// # Errors
    /// If the bytes are something else.
    fn decode(bytes: Vec<u8>) -> io::Result<Self>;
}

/// A plain row without other data: vectors of such rows are [piles](RowBuffer) of a store.
pub(crate) trait Row: Pod + Send + Sync {
    /// The key by which rows are divided.
    fn key(&self) -> u64;
    /// Leaves out what is known to be superfluous.
    fn thin(_rows: &mut Vec<Self>) {}
}

impl<T: Row> RowBuffer for Vec<T> {
    fn len(&self) -> usize {
        self.len()
    }
    fn keys(&self, keys: &mut Vec<u64>) {
        keys.extend(self.iter().map(T::key));
    }
    fn take(&mut self, from: &Self, rows: &[u32]) -> u64 {
        self.extend(rows.iter().map(|&row| from[row as usize]));
        (rows.len() * size_of::<T>()) as u64
    }
    fn another(&self) -> Self {
        Self::with_capacity(self.len())
    }
    fn clear(&mut self) {
        self.clear();
    }
    fn thin(&mut self) {
        T::thin(self);
    }
    fn bytes(&self) -> u64 {
        size_of_val(&self[..]) as u64
    }
    fn encode(self, to: &mut Vec<u8>) -> io::Result<()> {
        to.extend_from_slice(bytemuck::cast_slice(&self));
        Ok(())
    }
    fn decode(bytes: Vec<u8>) -> io::Result<Self> {
        match bytes.len() % size_of::<T>() {
            0 => Ok(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Divides rows into parts.
pub(crate) struct Store<P> {
    /// Bits of the keys that are equal in all rows.
    used: u32,
    /// Bits of the keys that divide rows.
    bits: u32,
    parts: Vec<Mutex<Part<P>>>,
    /// Bytes of a run.
    run: u64,
    /// Bytes of the runs in memory, and how many may be there.
    held: AtomicU64,
    room: u64,
    /// Number of runs that are sealed without thinning, because the last thinned one had few superfluous rows.
    patience: AtomicU32,
    spill: Spill,
    failure: Mutex<Option<Error>>,
    has_failed: AtomicBool,
    /// Memory of threads that have added rows, for reuse.
    scratch: Mutex<Vec<Scratch>>,
}

/// Places of rows in the order of parts, and where those of each part end.
#[derive(Default)]
struct Scratch {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

struct Part<P> {
    open: P,
    /// Bytes of the rows that are in no run.
    bytes: u64,
    runs: Vec<Run<P>>,
}

impl<P: Default> Default for Part<P> {
    fn default() -> Self {
        Self { open: P::default(), bytes: 0, runs: Vec::new() }
    }
}

/// Rows that are no longer changed, and their memory in bytes.
enum Run<P> {
    Memory(P, u64),
    File { place: Range<u64>, bytes: u64, rows: usize },
}

impl<P> Run<P> {
    fn bytes(&self) -> u64 {
        match self {
            Self::Memory(_, bytes) | Self::File { bytes, .. } => *bytes,
        }
    }
    fn rows(&self) -> usize
    where
        P: RowBuffer,
    {
        match self {
            Self::Memory(pile, _) => pile.len(),
            Self::File { rows, .. } => *rows,
        }
    }
}

impl<P> fmt::Debug for Store<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("used", &self.used).field("bits", &self.bits).finish_non_exhaustive()
    }
}

impl<P: RowBuffer> Store<P> {
    /// Nothing yet.
    ///
    /// # Errors
    /// If there cannot be a temporary file.
    pub(crate) fn new(space: &ScratchSpace) -> Result<Self, Error> {
        Self::within(space, 0)
    }

    /// For rows with keys of which the first bits are equal.
    fn within(space: &ScratchSpace, used: u32) -> Result<Self, Error> {
        let parts = (space.memory / MEMORY_OF_PART).max(1);
        let bits = parts.ilog2().clamp(FEWEST_BITS, MOST_BITS).min(u64::BITS - used);
        Ok(Self {
            used,
            bits,
            parts: (0..1 << bits).map(|_| Mutex::default()).collect(),
            run: ((space.memory / 4) >> bits).clamp(SMALLEST_RUN, LARGEST_RUN),
            held: AtomicU64::new(0),
            patience: AtomicU32::new(0),
            room: space.memory / 2,
            // An error should be reported now and not after an hour.
            spill: Spill::begin(&space.directory)?,
            failure: Mutex::default(),
            has_failed: AtomicBool::new(false),
            scratch: Mutex::default(),
        })
    }

    fn part_of(&self, key: u64) -> usize {
        // Neither shift is by all bits: some bits always remain for dividing.
        (key << self.used >> (u64::BITS - self.bits)) as usize
    }

    /// Adds rows with these keys: `append` adds some of them, by their places, to a pile, and returns their approximate
    /// memory in bytes.
    pub(crate) fn add(&self, keys: &[u64], append: impl FnMut(&mut P, &[u32]) -> u64) {
        if self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        let mut scratch = lock(&self.scratch).pop().unwrap_or_default();
        if let Err(error) = self.add_in(keys, append, &mut scratch) {
            self.fail(error);
        }
        lock(&self.scratch).push(scratch);
    }

    fn add_in(
        &self,
        keys: &[u64],
        mut append: impl FnMut(&mut P, &[u32]) -> u64,
        Scratch { rows, ends }: &mut Scratch,
    ) -> io::Result<()> {
        // Places in the order of parts.
        ends.clear();
        ends.resize(self.parts.len() + 1, 0);
        for &key in keys {
            ends[self.part_of(key) + 1] += 1;
        }
        for part in 1..ends.len() {
            ends[part] += ends[part - 1];
        }
        rows.resize(keys.len(), 0);
        for (row, &key) in (0..).zip(keys) {
            let end = &mut ends[self.part_of(key)];
            rows[*end as usize] = row;
            *end += 1;
        }
        let mut start = 0;
        for (part, &end) in self.parts.iter().zip(&*ends) {
            let rows = &rows[start..end as usize];
            start = end as usize;
            if !rows.is_empty() {
                self.add_to(&mut lock(part), rows, &mut append)?;
            }
        }
        Ok(())
    }

    fn add_to(
        &self,
        part: &mut Part<P>,
        rows: &[u32],
        append: &mut impl FnMut(&mut P, &[u32]) -> u64,
    ) -> io::Result<()> {
        // A chunk may have more for a part than a run should have.
        for rows in rows.chunks(MOST_AT_ONCE) {
            part.bytes += append(&mut part.open, rows);
            if part.bytes >= self.run || part.open.len() >= MOST_ROWS {
                self.thin(part);
                if part.bytes > self.run / 2 || part.open.len() > MOST_ROWS / 2 {
                    self.seal(part)?;
                }
            }
        }
        Ok(())
    }

    /// Removes superfluous open rows: always if they will be written to the file, and otherwise if there are probably
    /// many.
    fn thin(&self, part: &mut Part<P>) {
        let stays = self.held.load(Ordering::Relaxed) + part.bytes <= self.room;
        let is_patient = || self.patience.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if stays && is_patient().is_ok() {
            return;
        }
        let before = part.open.len();
        part.open.thin();
        part.bytes = part.open.bytes();
        let is_vain = part.open.len() > before - before / 8;
        self.patience.store(if is_vain { PATIENCE } else { 0 }, Ordering::Relaxed);
    }

    fn seal(&self, part: &mut Part<P>) -> io::Result<()> {
        let next = part.open.another();
        let rows = std::mem::replace(&mut part.open, next);
        let bytes = std::mem::take(&mut part.bytes);
        let run = if self.held.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.room {
            Run::Memory(rows, bytes)
        } else {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
            let mut encoded = Vec::new();
            let len = rows.len();
            rows.encode(&mut encoded)?;
            Run::File { place: self.spill.append(&encoded)?, bytes, rows: len }
        };
        part.runs.push(run);
        Ok(())
    }

    fn fail(&self, source: io::Error) {
        self.has_failed.store(true, Ordering::Relaxed);
        lock(&self.failure).get_or_insert(self.spill.failed(source));
    }

    /// The failure of a thread, if there was one: rows added afterwards are lost.
    ///
    /// # Errors
    /// If a temporary file could not be written. The error is returned only once.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.has_failed.load(Ordering::Relaxed) {
            Err(lock(&self.failure).take().unwrap_or(Error::Interrupted))
        } else {
            Ok(())
        }
    }

    /// Bytes of temporary files so far.
    #[cfg(test)]
    pub(crate) fn written(&self) -> u64 {
        self.spill.written()
    }

    fn read(&self, run: Run<P>) -> io::Result<P> {
        match run {
            Run::Memory(rows, _) => Ok(rows),
            Run::File { place, .. } => {
                let mut bytes = Vec::with_capacity((place.end - place.start) as usize);
                let expected = place.end - place.start;
                let read = self.spill.section(place).read_to_end(&mut bytes)?;
                if read as u64 != expected {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                P::decode(bytes)
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unpoisoned()
}

/// Rows that fit in memory: all rows whose keys are in a range.
pub(crate) struct Partition<P> {
    store: Arc<Store<P>>,
    runs: Vec<Run<P>>,
}

impl<P: RowBuffer> Partition<P> {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(Run::rows).sum()
    }
    /// The rows, in arbitrary order.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(crate) fn piles(self) -> Result<Vec<P>, Error> {
        let Self { store, runs } = self;
        let piles = runs.into_iter().map(|run| store.read(run));
        piles.collect::<io::Result<_>>().map_err(|source| store.spill.failed(source))
    }
}

/// The leaves of a store, in the order of keys.
pub(crate) struct Partitions<P> {
    space: ScratchSpace,
    /// Bytes of a leaf.
    most: u64,
    /// The rest of the stores, the innermost last.
    levels: Vec<Level<P>>,
}

struct Level<P> {
    store: Arc<Store<P>>,
    next: usize,
}

impl<P: RowBuffer> Partitions<P> {
    /// All rows of a store, with one leaf per thread in memory.
    ///
    /// # Errors
    /// If a temporary file could not be written.
    pub(crate) fn of(store: Store<P>, space: &ScratchSpace, threads: usize) -> Result<Self, Error> {
        store.check()?;
        let most = space.memory / 4 / threads.max(1) as u64;
        let level = Level { store: Arc::new(store), next: 0 };
        Ok(Self { space: space.clone(), most: most.max(SMALLEST_RUN), levels: vec![level] })
    }

    /// The next leaf; `None` after the last one.
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub(crate) fn next(&mut self) -> Result<Option<Partition<P>>, Error> {
        let most = self.most;
        while let Some(Level { store, next }) = self.levels.last_mut() {
            let mut runs = Vec::new();
            let mut bytes = 0;
            while *next < store.parts.len() {
                let mut part = lock(&store.parts[*next]);
                if part.open.len() > 0 {
                    let (rows, bytes) = (std::mem::take(&mut part.open), part.bytes);
                    part.runs.push(Run::Memory(rows, bytes));
                }
                let more: u64 = part.runs.iter().map(Run::bytes).sum();
                if !runs.is_empty() && bytes + more > most.min(SMALL_LEAF) {
                    break;
                }
                bytes += more;
                runs.append(&mut part.runs);
                *next += 1;
                if bytes > most {
                    break;
                }
            }
            let used = store.used + store.bits;
            if runs.is_empty() {
                self.levels.pop();
            } else if bytes > most && runs.len() > 1 && used < u64::BITS {
                let level = self.divide(runs, used)?;
                self.levels.push(level);
            } else {
                return Ok(Some(Partition { store: Arc::clone(store), runs }));
            }
        }
        Ok(None)
    }

    /// Calls a function for all leaves, on this number of threads, in any order.
    ///
    /// # Errors
    /// The first failure.
    pub(crate) fn for_each(
        self,
        threads: usize,
        work: impl Fn(Partition<P>) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let leaves = Mutex::new(Ok(self));
        let next = || match &mut *lock(&leaves) {
            Ok(leaves) => leaves.next(),
            Err(_) => Ok(None),
        };
        std::thread::scope(|scope| {
            let run = || {
                loop {
                    match next().and_then(|leaf| leaf.map(&work).transpose()) {
                        Ok(Some(())) => {}
                        Ok(None) => return,
                        Err(error) => {
                            let mut leaves = lock(&leaves);
                            if leaves.is_ok() {
                                *leaves = Err(error);
                            }
                            return;
                        }
                    }
                }
            };
            for _ in 1..threads {
                scope.spawn(run);
            }
            run();
        });
        leaves.into_inner().unpoisoned().map(|_| ())
    }

    /// Divides a part that is too large again.
    fn divide(&mut self, runs: Vec<Run<P>>, used: u32) -> Result<Level<P>, Error> {
        let depth = self.levels.len() as u32;
        let Some(Level { store: from, .. }) = self.levels.last() else {
            return Err(Error::Interrupted);
        };
        let space = self.space.clone().memory(self.space.memory >> (depth + 1).min(8));
        let store = Store::within(&space, used)?;
        let mut keys = Vec::new();
        for run in runs {
            let rows = from.read(run).map_err(|source| from.spill.failed(source))?;
            keys.clear();
            rows.keys(&mut keys);
            store.add(&keys, |pile: &mut P, places| pile.take(&rows, places));
        }
        store.check()?;
        Ok(Level { store: Arc::new(store), next: 0 })
    }
}
