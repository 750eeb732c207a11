//! The exact number of distinct positions, in bounded memory.
//!
//! A hash of the board divides positions into parts that fit in memory, so that equal boards are in the same part.
//! Duplicates are dropped in memory before anything is written to a file. At the end the rows of each part are sorted,
//! and each position is compared with the previous one, at all levels at once.

use super::keyed_rows::{Partitions, Row, RowBuffer, Store};
use crate::canonical::{Canonical, canonical, castling_files, hash_of_planes};
use crate::distinct::LEVELS;
use crate::error::Error;
use crate::output::ScratchSpace;
use crate::packed::Group;
use crate::poisoned_locks::Unpoisoned;
use crate::queries::EN_PASSANTS;
use crate::table::Tile;
use bytemuck::{Pod, Zeroable};
use std::sync::Mutex;

/// The collected form of a position: the parts of [`Canonical`], of which the last word has the side to move in bit 63,
/// the castling rooks of rank 8 and rank 1 in bits 8 to 23, and the en passant square, plus one, in bits 0 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(transparent)]
struct Position([u64; 5]);

/// Counts distinct positions exactly.
#[derive(Debug)]
pub(crate) struct Exact {
    space: ScratchSpace,
    store: Store<Vec<Position>>,
}

/// Positions of a chunk, before they are added to the store.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    positions: Vec<Position>,
    hashes: Vec<u64>,
}

impl Collected {
    /// Adds the records of a tile that count, which must have results for
    /// [`Queries::KINDS`](crate::queries::Queries::KINDS).
    pub(crate) fn add_tile(&mut self, tile: &Tile<'_>) {
        for row in tile.rows().map(|row| row - tile.start) {
            let (group, lane) = (row / Group::LEN, row % Group::LEN);
            let legal = tile.results[group].counts[lane] >> EN_PASSANTS != 0;
            self.positions.push(row_of(&canonical(&tile.groups[group], lane, legal)));
        }
    }
}

impl Exact {
    /// Nothing yet.
    ///
    /// # Errors
    /// If no file can be created in the directory.
    pub(crate) fn new(space: &ScratchSpace) -> Result<Self, Error> {
        Ok(Self { space: space.clone(), store: Store::new(space)? })
    }

    /// The failure of another thread, if there was one.
    ///
    /// # Errors
    /// If a temporary file could not be written; what is added afterwards does not count.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.store.check()
    }

    /// Adds the collected positions; their memory is reused.
    pub(crate) fn add(&self, collected: &mut Collected) {
        let Collected { positions, hashes } = collected;
        hashes.clear();
        positions.keys(hashes);
        self.store.add(hashes, |pile: &mut Vec<Position>, rows| pile.take(positions, rows));
        positions.clear();
    }

    /// The numbers of distinct positions at all levels, counted on this number of threads.
    ///
    /// # Errors
    /// If a temporary file could not be written, or cannot be read.
    pub(crate) fn finish(self, threads: usize) -> Result<[u64; LEVELS.len()], Error> {
        let distinct = Mutex::new([0; LEVELS.len()]);
        Partitions::of(self.store, &self.space, threads)?.for_each(threads, |leaf| {
            let counts = levels(leaf.piles()?.concat());
            let mut sums = distinct.lock().unpoisoned();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            Ok(())
        })?;
        Ok(distinct.into_inner().unpoisoned())
    }
}

fn row_of(position: &Canonical) -> Position {
    let [black, t0, t1, t2] = position.board;
    let castling = u64::from(castling_files(position.castling));
    let en_passant = match position.en_passant {
        0 => 0,
        square => u64::from(square.trailing_zeros()) + 1,
    };
    let state = u64::from(position.black_to_move) << 63 | castling << 8 | en_passant;
    Position([black, t0, t1, t2, state])
}

/// The numbers of distinct positions at all levels.
fn levels(mut positions: Vec<Position>) -> [u64; LEVELS.len()] {
    positions.sort_unstable();
    let mut distinct = [0; LEVELS.len()];
    let mut last: Option<&[u64; 5]> = None;
    for Position(position) in &positions {
        let level = match last {
            None => 0,
            Some(last) if last[..4] != position[..4] => 0,
            Some(last) => match last[4] ^ position[4] {
                0 => continue,
                1..=0xFF => 3,
                0x100..=0xFF_FFFF => 2,
                _ => 1,
            },
        };
        distinct[level..].iter_mut().for_each(|count| *count += 1);
        last = Some(position);
    }
    distinct
}

impl Row for Position {
    #[inline]
    fn key(&self) -> u64 {
        let [black, t0, t1, t2, _] = self.0;
        hash_of_planes([black, t0, t1, t2])
    }
    fn thin(rows: &mut Vec<Self>) {
        rows.sort_unstable();
        rows.dedup();
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
        let mut collected = Collected::default();
        collected.add_tile(&Tile::new(analyzer, batch, 0, len, &results, &mask));
        exact.add(&mut collected);
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
        // In memory, in files, and on several threads.
        for (memory, threads) in [(1 << 30, 1), (0, 1), (0, 3), (1 << 20, 2)] {
            let exact = Exact::new(&ScratchSpace::default().memory(memory)).unwrap();
            // Everything several times, in pieces.
            for _ in 0..3 {
                positions.chunks(1000).for_each(|some| add(&exact, &batch_of(some)));
            }
            assert_eq!(exact.store.written() > 0, memory <= 1 << 20);
            assert_eq!(exact.finish(threads).unwrap(), expected);
        }
        let none = Exact::new(&ScratchSpace::default()).unwrap();
        assert_eq!(none.finish(2).unwrap(), [0; 4]);
    }

    #[test]
    fn repetitions_need_no_file() {
        let exact = Exact::new(&ScratchSpace::default().memory(0)).unwrap();
        let batch = batch_of(&vec![Position::standard(); 5000]);
        (0..20).for_each(|_| add(&exact, &batch));
        assert_eq!(exact.store.written(), 0);
        assert_eq!(exact.finish(1).unwrap(), [1; 4]);
    }

    #[test]
    fn a_directory_that_does_not_exist_is_an_error() {
        let options = ScratchSpace::default().directory("/nowhere/at/all".into());
        assert!(matches!(Exact::new(&options), Err(Error::Temporary { .. })));
    }
}
