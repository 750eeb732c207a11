//! The exact number of distinct positions, in bounded memory.
//!
//! Positions are divided into parts by the key of their board, so that equal boards are in the same part. A part
//! collects positions in memory; when its share of the memory is full, they are sorted, each is kept once, and what
//! remains goes to a temporary file as a sorted run, unless most of it was repetition. In the end the runs of a part are
//! merged, and each position is compared with the one before it, at all levels at once. Many runs are first merged into
//! fewer. However often positions are repeated, and whatever their number, a part never needs more than its share.
//!
//! All parts share one file, so that the limit of open files does not matter. The temporary files have no names: the
//! system removes them, however the process ends.

use super::{Canonical, LEVELS, canonical, castling_files, keys};
use crate::error::Error;
use crate::locks::Unpoisoned;
use crate::output::Space;
use crate::output::spill::{Section, Spill};
use crate::packed::Group;
use crate::queries::EN_PASSANTS;
use crate::table::Tile;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Number of parts; a power of two.
const PARTS: usize = 64;
/// Bytes that are read from a run at once.
const READ: usize = 64 << 10;
/// The least memory that a part has.
const LEAST: usize = 64 << 10;
/// How many runs are merged at once at least, even if their buffers are larger than the share of a part.
const LEAST_MERGED: usize = 64;

/// What is collected: the parts of [`Canonical`], of which the last word has the side to move in bit 63, the castling
/// rooks of rank 8 and rank 1 in bits 8 to 23, and the en passant square, plus one, in bits 0 to 7.
type Record = [u64; 5];
const RECORD: usize = size_of::<Record>();

/// Counts distinct positions exactly.
#[derive(Debug)]
pub struct Exact {
    options: Space,
    /// Records that a part may hold in memory.
    room: usize,
    /// How many runs are merged at once at most.
    merged: usize,
    parts: Vec<Mutex<Part>>,
    /// The runs of all parts.
    disk: Spill,
    failure: Mutex<Option<io::Error>>,
}

/// The positions of a part.
#[derive(Debug, Default)]
struct Part {
    records: Vec<Record>,
    /// Where its sorted runs are in the file.
    runs: Vec<Range<u64>>,
}

impl Exact {
    /// Nothing yet.
    ///
    /// # Errors
    /// If no file can be created in the directory.
    pub fn new(options: &Space) -> Result<Self, Error> {
        let share = usize::try_from(options.memory).unwrap_or(usize::MAX) / PARTS;
        // Better now than after an hour.
        let disk = Spill::begin(&options.directory)?;
        Ok(Self {
            options: options.clone(),
            room: share.max(LEAST) / RECORD,
            merged: (share / READ).max(LEAST_MERGED),
            parts: (0..PARTS).map(|_| Mutex::default()).collect(),
            disk,
            failure: Mutex::default(),
        })
    }

    /// The failure of another thread, if there was one.
    ///
    /// # Errors
    /// If a temporary file could not be written; what is added afterwards does not count.
    pub fn check(&self) -> Result<(), Error> {
        match &*lock(&self.failure) {
            // It stays: there is no number after it.
            Some(source) => Err(self.disk.failed(match source.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(source.kind(), source.to_string()),
            })),
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
            part.records.extend(records.iter().map(|&(_, record)| record));
        }
    }

    /// The numbers of distinct positions at all levels.
    ///
    /// # Errors
    /// If a temporary file could not be written, or cannot be read.
    pub fn finish(self) -> Result<[u64; LEVELS.len()], Error> {
        self.check()?;
        let mut distinct = [0; LEVELS.len()];
        let mut scratch = Vec::new();
        for part in &self.parts {
            let part = std::mem::take(&mut *lock(part));
            let counts = part.count(&self, &mut scratch);
            let counts = counts.map_err(|source| self.disk.failed(source))?;
            for (sum, count) in distinct.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        Ok(distinct)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unpoisoned()
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
        self.runs.push(exact.disk.append(bytemuck::cast_slice(&self.records))?);
        self.records.clear();
        Ok(())
    }

    /// Merges all runs, and counts what differs from the position before it. `scratch` is for runs that are merged into
    /// fewer first.
    fn count(mut self, exact: &Exact, scratch: &mut Vec<Spill>) -> io::Result<[u64; LEVELS.len()]> {
        self.records.sort_unstable();
        let mut runs = self.runs;
        let mut is_merged = false;
        while runs.len() > exact.merged {
            while scratch.len() < 2 {
                scratch.push(Spill::new(&exact.options.directory)?);
            }
            let (from, to) = match (&mut **scratch, is_merged) {
                ([from, to], true) => (&*from, to),
                (disks, _) => (&exact.disk, &mut disks[1]),
            };
            to.clear()?;
            runs = runs
                .chunks(exact.merged)
                .map(|runs| Merge::new(from, runs, Vec::new())?.write(to))
                .collect::<io::Result<_>>()?;
            scratch.swap(0, 1);
            is_merged = true;
        }
        let disk = match scratch.first() {
            Some(merged) if is_merged => merged,
            _ => &exact.disk,
        };
        let mut sorted = Merge::new(disk, &runs, self.records)?;
        let mut distinct = [0; LEVELS.len()];
        let mut last: Option<Record> = None;
        while let Some(record) = sorted.next()? {
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

/// Several runs as one.
struct Merge<'a> {
    runs: Vec<Run<'a>>,
    /// The next record of each.
    next: BinaryHeap<Reverse<(Record, usize)>>,
}

impl<'a> Merge<'a> {
    /// Runs in a file, and one in memory.
    fn new(disk: &'a Spill, runs: &[Range<u64>], records: Vec<Record>) -> io::Result<Self> {
        let mut runs: Vec<Run<'_>> = runs
            .iter()
            .map(|run| {
                let rest = run.clone();
                Run::File(BufReader::with_capacity(READ, disk.section(rest)))
            })
            .collect();
        runs.push(Run::Memory(records.into_iter()));
        let mut next = BinaryHeap::with_capacity(runs.len());
        for (at, run) in runs.iter_mut().enumerate() {
            next.extend(run.next()?.map(|record| Reverse((record, at))));
        }
        Ok(Self { runs, next })
    }

    fn next(&mut self) -> io::Result<Option<Record>> {
        let Some(Reverse((record, at))) = self.next.pop() else {
            return Ok(None);
        };
        let next = self.runs[at].next()?;
        self.next.extend(next.map(|record| Reverse((record, at))));
        Ok(Some(record))
    }

    /// Writes each record once, as a run of another file.
    fn write(mut self, to: &Spill) -> io::Result<Range<u64>> {
        let mut buffer: Vec<Record> = Vec::with_capacity(READ / RECORD);
        let mut run: Option<Range<u64>> = None;
        let mut last = None;
        loop {
            let record = self.next()?;
            if record.is_none() || buffer.len() == buffer.capacity() {
                // Nobody else writes to this file.
                let more = to.append(bytemuck::cast_slice(&buffer))?;
                run = Some(run.map_or(more.start, |run| run.start)..more.end);
                buffer.clear();
            }
            match record {
                None => return Ok(run.unwrap_or_default()),
                Some(record) if last == Some(record) => {}
                Some(record) => {
                    buffer.push(record);
                    last = Some(record);
                }
            }
        }
    }
}

/// Sorted records.
enum Run<'a> {
    File(BufReader<Section<'a>>),
    Memory(std::vec::IntoIter<Record>),
}

impl Run<'_> {
    fn next(&mut self) -> io::Result<Option<Record>> {
        match self {
            Self::Memory(records) => Ok(records.next()),
            Self::File(file) => {
                if file.buffer().is_empty() && file.get_ref().is_empty() {
                    return Ok(None);
                }
                let mut record: Record = [0; 5];
                file.read_exact(bytemuck::bytes_of_mut(&mut record))?;
                Ok(Some(record))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::chess::random::{RandomPlay, Start};
    use crate::packed::Packed;
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
        let mask: Vec<u64> = (0..len.div_ceil(64)).map(|word| !0 >> (64 - (len - 64 * word).min(64))).collect();
        exact.add_tile(&Tile::new(analyzer, batch, 0, len, &results, &mask));
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
            let of = positions.iter().map(|position| fields(position)[..len].to_vec());
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
        assert!(expected.windows(2).all(|pair| pair[0] < pair[1]), "{expected:?}");
        // In memory; in runs that are merged at once; and in several passes.
        for (memory, merged) in [(1 << 30, None), (0, None), (0, Some(4)), (0, Some(2))] {
            let mut exact = Exact::new(&Space::default().memory(memory)).unwrap();
            if let Some(merged) = merged {
                (exact.merged, exact.room) = (merged, 200);
            }
            // Everything several times, in pieces.
            for _ in 0..3 {
                positions.chunks(1000).for_each(|some| add(&exact, &batch_of(some)));
            }
            let runs = exact.parts.iter().map(|part| lock(part).runs.len()).max();
            assert_eq!(runs > Some(0), memory == 0);
            assert!(merged.is_none_or(|merged| runs > Some(merged)), "{runs:?}");
            assert_eq!(exact.finish().unwrap(), expected);
        }
        let none = Exact::new(&Space::default()).unwrap();
        assert_eq!(none.finish().unwrap(), [0; 4]);
    }

    #[test]
    fn repetitions_need_no_file() {
        let exact = Exact::new(&Space::default().memory(0)).unwrap();
        let batch = batch_of(&vec![Position::standard(); 5000]);
        (0..20).for_each(|_| add(&exact, &batch));
        assert_eq!(exact.disk.written(), 0);
        assert_eq!(exact.finish().unwrap(), [1; 4]);
    }

    #[test]
    fn a_directory_that_does_not_exist_is_an_error() {
        let options = Space::default().directory("/nowhere/at/all".into());
        assert!(matches!(Exact::new(&options), Err(Error::Temporary { .. })));
    }
}
