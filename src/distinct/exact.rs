//! The exact number of distinct positions, in bounded memory.
//!
//! Positions are divided into parts by the key of their board, so that equal boards are in the same part. A part
//! collects positions in memory; when its share of the memory is full, they are sorted, each is kept once, and what
//! remains goes to a temporary file as a sorted run, unless most of it was repetition. In the end the runs of a part are
//! merged, and each position is compared with the one before it, at all levels at once. However often positions are
//! repeated, and whatever their number, a part never needs more than its share.
//!
//! The temporary files have no names: the system removes them, however the process ends.

use super::{Canonical, LEVELS, canonical, castling_files, keys};
use crate::block::Group;
use crate::error::Error;
use crate::queries::EN_PASSANTS;
use crate::table::Tile;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of parts; a power of two.
const PARTS: usize = 64;
/// Bytes that are read from a run at once.
const READ: usize = 64 << 10;
/// The least memory that a part has.
const LEAST: usize = 64 << 10;

/// What is collected: the parts of [`Canonical`], of which the last word has the side to move in bit 63, the castling
/// rooks of rank 8 and rank 1 in bits 8 to 23, and the en passant square, plus one, in bits 0 to 7.
type Record = [u64; 5];
const RECORD: usize = size_of::<Record>();

/// How distinct positions are counted exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExactOptions {
    /// Bytes of memory, about; at least a few megabytes are used.
    pub memory: u64,
    /// Where temporary files are made, if memory is not enough; by default in the directory of the system.
    pub directory: PathBuf,
}

impl Default for ExactOptions {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            directory: std::env::temp_dir(),
        }
    }
}

crate::setters::setters!(ExactOptions {
    memory: u64,
    directory: PathBuf,
});

/// Counts distinct positions exactly.
#[derive(Debug)]
pub struct Exact {
    options: ExactOptions,
    /// Records that a part may hold in memory.
    room: usize,
    parts: Vec<Mutex<Part>>,
    failure: Mutex<Option<io::Error>>,
    /// Bytes in temporary files.
    written: AtomicU64,
}

/// The positions of a part.
#[derive(Debug, Default)]
struct Part {
    records: Vec<Record>,
    file: Option<File>,
    /// Where the sorted runs are in the file.
    runs: Vec<Range<u64>>,
}

impl Exact {
    /// Nothing yet.
    ///
    /// # Errors
    /// If no file can be created in the directory.
    pub fn new(options: &ExactOptions) -> Result<Self, Error> {
        let room = usize::try_from(options.memory).unwrap_or(usize::MAX) / PARTS;
        let exact = Self {
            options: options.clone(),
            room: room.max(LEAST) / RECORD,
            parts: (0..PARTS).map(|_| Mutex::default()).collect(),
            failure: Mutex::default(),
            written: AtomicU64::new(0),
        };
        // Better now than after an hour.
        match tempfile::tempfile_in(&options.directory) {
            Ok(_) => Ok(exact),
            Err(source) => Err(exact.failed(source)),
        }
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Temporary {
            directory: self.options.directory.as_path().into(),
            written: self.written.load(Ordering::Relaxed),
            source,
        }
    }

    /// The failure of another thread, if there was one.
    ///
    /// # Errors
    /// If a temporary file could not be written; what is added afterwards does not count.
    pub fn check(&self) -> Result<(), Error> {
        match lock(&self.failure).take() {
            Some(source) => Err(self.failed(source)),
            None => Ok(()),
        }
    }

    /// Adds the records of a tile that count, which must have results for
    /// [`Queries::KINDS`](crate::queries::Queries::KINDS).
    pub fn add_tile(&self, tile: &Tile<'_>) {
        let mut records: Vec<(usize, Record)> = tile
            .rows()
            .map(|row| {
                let row = row - tile.start;
                let (group, lane) = (row / Group::LEN, row % Group::LEN);
                let legal = tile.results[group].counts[lane] >> EN_PASSANTS != 0;
                let position = canonical(&tile.groups[group], lane, legal);
                let part = keys(&position)[0] >> (u64::BITS - PARTS.ilog2());
                (part as usize, record(&position))
            })
            .collect();
        records.sort_unstable_by_key(|&(part, _)| part);
        for records in records.chunk_by(|(part, _), (other, _)| part == other) {
            let mut part = lock(&self.parts[records[0].0]);
            if part.records.len() + records.len() > self.room
                && let Err(error) = part.make_room(self)
            {
                lock(&self.failure).get_or_insert(error);
                return;
            }
            part.records
                .extend(records.iter().map(|&(_, record)| record));
        }
    }

    /// The numbers of distinct positions at all levels.
    ///
    /// # Errors
    /// If a temporary file could not be written, or cannot be read.
    pub fn finish(self) -> Result<[u64; LEVELS.len()], Error> {
        self.check()?;
        let mut distinct = [0; LEVELS.len()];
        for part in &self.parts {
            let part = std::mem::take(&mut *lock(part));
            let counts = part.count().map_err(|source| self.failed(source))?;
            for (sum, count) in distinct.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        Ok(distinct)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record(position: &Canonical) -> Record {
    let [black, t0, t1, t2] = position.board;
    let castling = u64::from(castling_files(position.castling));
    let en_passant = match position.en_passant {
        0 => 0,
        square => u64::from(square.trailing_zeros()) + 1,
    };
    let state = u64::from(position.black_to_move) << 63 | castling << 8 | en_passant;
    [black, t0, t1, t2, state]
}

impl Part {
    /// Keeps each position once, and writes them to the file if that does not help.
    fn make_room(&mut self, exact: &Exact) -> io::Result<()> {
        self.records.sort_unstable();
        self.records.dedup();
        if self.records.len() <= exact.room / 2 {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self
                .file
                .insert(tempfile::tempfile_in(&exact.options.directory)?),
        };
        let bytes: &[u8] = bytemuck::cast_slice(&self.records);
        file.write_all(bytes)?;
        let start = self.runs.last().map_or(0, |run| run.end);
        self.runs.push(start..start + bytes.len() as u64);
        exact
            .written
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.records.clear();
        Ok(())
    }

    /// Merges all runs, and counts what differs from the position before it.
    fn count(mut self) -> io::Result<[u64; LEVELS.len()]> {
        self.records.sort_unstable();
        let mut runs: Vec<Run> = Vec::new();
        if let Some(file) = &self.file {
            for run in &self.runs {
                runs.push(Run::File(BufReader::with_capacity(
                    READ,
                    Section {
                        file: file.try_clone()?,
                        rest: run.clone(),
                    },
                )));
            }
        }
        runs.push(Run::Memory(self.records.into_iter()));
        let mut next = BinaryHeap::new();
        for (at, run) in runs.iter_mut().enumerate() {
            next.extend(run.next()?.map(|record| Reverse((record, at))));
        }
        let mut distinct = [0; LEVELS.len()];
        let mut last: Option<Record> = None;
        while let Some(Reverse((record, at))) = next.pop() {
            next.extend(runs[at].next()?.map(|record| Reverse((record, at))));
            let level = match &last {
                None => 0,
                Some(last) if last[..4] != record[..4] => 0,
                Some(last) => match last[4] ^ record[4] {
                    0 => continue,
                    1..=0xFF => 3,
                    0x100..=0xFF_FFFF => 2,
                    _ => 1,
                },
            };
            distinct[level..].iter_mut().for_each(|count| *count += 1);
            last = Some(record);
        }
        Ok(distinct)
    }
}

/// Sorted records.
enum Run {
    File(BufReader<Section>),
    Memory(std::vec::IntoIter<Record>),
}

impl Run {
    fn next(&mut self) -> io::Result<Option<Record>> {
        match self {
            Self::Memory(records) => Ok(records.next()),
            Self::File(file) => {
                if file.buffer().is_empty() && file.get_ref().rest.is_empty() {
                    return Ok(None);
                }
                let mut record: Record = [0; 5];
                file.read_exact(bytemuck::bytes_of_mut(&mut record))?;
                Ok(Some(record))
            }
        }
    }
}

/// A part of a file that other parts are read from in turn.
struct Section {
    file: File,
    rest: Range<u64>,
}

impl Read for Section {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = (self.rest.end - self.rest.start).min(to.len() as u64) as usize;
        self.file.seek(SeekFrom::Start(self.rest.start))?;
        let read = self.file.read(&mut to[..len])?;
        self.rest.start += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Packed;
    use crate::chess::Position;
    use crate::chess::random::{RandomPlay, Start};
    use crate::queries::Queries;
    use crate::table::Batch;
    use crate::tiers::Tier;
    use std::collections::HashSet;
    use std::sync::Arc;

    fn batch_of(positions: &[Position]) -> Arc<Batch> {
        let mut batch = Batch::new();
        for position in positions {
            batch.push(Packed::pack(position).unwrap(), 0, 1);
        }
        Arc::new(batch)
    }

    fn add(exact: &Exact, batch: &Arc<Batch>) {
        let analyzer = Tier::best().analyzer().unwrap();
        let mut results = vec![Default::default(); batch.groups().len()];
        analyzer.analyze(batch.groups(), Queries::KINDS, &mut results);
        let len = batch.len();
        let mask: Vec<u64> = (0..len.div_ceil(64))
            .map(|word| !0 >> (64 - (len - 64 * word).min(64)))
            .collect();
        exact.add_tile(&Tile::new(batch, 0, len, &results, &mask));
    }

    /// As texts of the fields that count.
    fn plainly(positions: &[Position]) -> [u64; 4] {
        let fields = |position: &Position| {
            let fen = position.to_string();
            let mut fields: Vec<String> = fen.split(' ').take(4).map(str::to_owned).collect();
            // A FEN with the castling rights of Chess960 is not ambiguous either.
            fields[2] = format!("{:?}", position.castling);
            fields
        };
        [1, 2, 3, 4].map(|len| {
            let of = positions
                .iter()
                .map(|position| fields(position)[..len].to_vec());
            of.collect::<HashSet<_>>().len() as u64
        })
    }

    #[test]
    fn agrees_with_sets_of_texts_in_memory_and_on_disk() {
        let mut positions: Vec<Position> = [Start::Standard, Start::Chess960]
            .into_iter()
            .flat_map(|start| RandomPlay::new(2, start).take(30_000))
            .map(|played| played.position)
            .collect();
        // The same boards with other sides to move, castling rights and en passant squares.
        for fen in [
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R w Kkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R w - - 7 9",
            "4k3/8/8/1pP5/8/8/8/4K3 w - b6 0 1",
            "4k3/8/8/1pP5/8/8/8/4K3 w - - 0 1",
            "4k3/8/8/1pPp4/8/8/8/4K3 w - d6 0 1",
            "4k3/8/8/1pPp4/8/8/8/4K3 w - b6 0 1",
        ] {
            positions.push(fen.parse().unwrap());
        }
        let expected = plainly(&positions);
        assert!(
            expected.windows(2).all(|pair| pair[0] < pair[1]),
            "{expected:?}"
        );
        for memory in [0, 1 << 30] {
            let exact = Exact::new(&ExactOptions::default().memory(memory)).unwrap();
            // Everything several times, in pieces.
            for _ in 0..3 {
                positions
                    .chunks(1000)
                    .for_each(|some| add(&exact, &batch_of(some)));
            }
            assert_eq!(exact.written.load(Ordering::Relaxed) > 0, memory == 0);
            assert_eq!(exact.finish().unwrap(), expected);
        }
        let none = Exact::new(&ExactOptions::default()).unwrap();
        assert_eq!(none.finish().unwrap(), [0; 4]);
    }

    #[test]
    fn repetitions_need_no_file() {
        let exact = Exact::new(&ExactOptions::default().memory(0)).unwrap();
        let batch = batch_of(&vec![Position::standard(); 5000]);
        (0..20).for_each(|_| add(&exact, &batch));
        assert_eq!(exact.written.load(Ordering::Relaxed), 0);
        assert_eq!(exact.finish().unwrap(), [1; 4]);
    }

    #[test]
    fn a_directory_that_does_not_exist_is_an_error() {
        let options = ExactOptions::default().directory("/nowhere/at/all".into());
        assert!(matches!(Exact::new(&options), Err(Error::Temporary { .. })));
    }
}
