//! A bit for each record, which says whether it is kept.
//!
//! The bits are in memory or, if they need too much, in a temporary file. For a file, the numbers of the records are
//! sorted first, also on disk if necessary, so that the file is written from start to end. The same is done if each
//! kept record has a count. The counts are in a second file, in the order of the records, and the number of set bits
//! before a record gives the place of its count.

use crate::error::Error;
use crate::output::ScratchSpace;
use crate::output::temp_file::Spill;
use crate::partition::keyed_rows::{Partitions, Row, RowBuffer, Store};
use crate::table::Tile;
use bytemuck::{Pod, Zeroable};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Records that are kept.
pub(super) struct KeptRecords {
    bits: Bits,
    count: AtomicU64,
}

enum Bits {
    Memory(Vec<AtomicU64>),
    Sorting(Box<Store<Vec<Numbered>>>, ScratchSpace),
    File { bits: Spill, counts: Spill, before: Vec<u64> },
}

/// The number of a record, and its count.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct Numbered([u64; 2]);

/// Numbers have fewer bits than keys.
const SPARE: u32 = 24;
/// Number of bytes that are written at a time; the number of kept records before them is stored.
const PAGE: usize = 4 << 10;
/// Records of a page.
const RECORDS: u64 = PAGE as u64 * 8;

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

impl Row for Numbered {
    #[inline]
    fn key(&self) -> u64 {
        self.0[0] << SPARE
    }
}

impl KeptRecords {
    /// Starts with none of this number of records kept. The flag says whether kept records have counts.
    ///
    /// # Errors
    /// If there cannot be a temporary file.
    pub(super) fn new(records: u64, has_counts: bool, space: &ScratchSpace) -> Result<Self, Error> {
        let words = records.div_ceil(64);
        let bits = if words * 8 <= space.memory / 8 && !has_counts {
            Bits::Memory((0..words).map(|_| AtomicU64::new(0)).collect())
        } else {
            Bits::Sorting(Box::new(Store::new(space)?), space.clone())
        };
        Ok(Self { bits, count: AtomicU64::new(0) })
    }

    /// Keeps these records, each with a count, on any thread.
    ///
    /// # Errors
    /// If a temporary file could not be written.
    pub(super) fn insert(&self, records: impl Iterator<Item = [u64; 2]>) -> Result<(), Error> {
        let mut count = 0;
        match &self.bits {
            Bits::Memory(words) => records.for_each(|[number, _]| {
                words[(number / 64) as usize].fetch_or(1 << (number % 64), Ordering::Relaxed);
                count += 1;
            }),
            Bits::Sorting(store, _) => {
                let numbers: Vec<Numbered> = records.map(Numbered).collect();
                count = numbers.len() as u64;
                let mut keys = Vec::with_capacity(numbers.len());
                numbers.keys(&mut keys);
                store.add(&keys, |pile: &mut Vec<Numbered>, rows| pile.take(&numbers, rows));
                store.check()?;
            }
            Bits::File { .. } => {}
        }
        self.count.fetch_add(count, Ordering::Relaxed);
        Ok(())
    }

    /// Ends the input: all kept records have been added.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    pub(super) fn finish(self, threads: usize) -> Result<Self, Error> {
        let Self { bits, count } = self;
        let (store, space) = match bits {
            Bits::Sorting(store, space) => (*store, space),
            bits => return Ok(Self { bits, count }),
        };
        let (bits, counts) = (Spill::begin(&space.directory)?, Spill::begin(&space.directory)?);
        let append = |spill: &Spill, words: &[u64]| {
            spill.append(bytemuck::cast_slice(words)).map(drop).map_err(|source| spill.failed(source))
        };
        let mut before = vec![0];
        let mut page = vec![0_u64; PAGE / 8];
        let mut seen = 0;
        let mut leaves = Partitions::of(store, &space, threads)?;
        while let Some(leaf) = leaves.next()? {
            let piles = leaf.piles()?;
            let mut numbers: Vec<[u64; 2]> = piles.iter().flat_map(|pile| pile.iter().map(|row| row.0)).collect();
            numbers.sort_unstable();
            for [number, _] in &numbers {
                while before.len() as u64 <= number / RECORDS {
                    append(&bits, &page)?;
                    page.fill(0);
                    before.push(seen);
                }
                let bit = number % RECORDS;
                page[(bit / 64) as usize] |= 1 << (bit % 64);
                seen += 1;
            }
            let own: Vec<u64> = numbers.into_iter().map(|[_, count]| count).collect();
            append(&counts, &own)?;
        }
        append(&bits, &page)?;
        Ok(Self { bits: Bits::File { bits, counts, before }, count })
    }

    /// The counts of this number of consecutive kept records, from this one on.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(super) fn counts(&self, first: u64, records: usize) -> Result<Vec<u64>, Error> {
        let Bits::File { bits, counts, before } = &self.bits else {
            return Ok(vec![1; records]);
        };
        let page = first / RECORDS;
        let read = |spill: &Spill, place: Range<u64>| {
            let mut bytes = Vec::new();
            let read = io::Read::read_to_end(&mut spill.section(place), &mut bytes);
            read.map_err(|source| spill.failed(source))?;
            Ok::<_, Error>(words(&bytes))
        };
        let bits = read(bits, page * PAGE as u64..first.div_ceil(64) * 8)?;
        let last = first % 64;
        let mut place = before.get(page as usize).copied().unwrap_or(0);
        let whole = (first % RECORDS / 64) as usize;
        place += bits.iter().take(whole).map(|word| u64::from(word.count_ones())).sum::<u64>();
        if let Some(word) = bits.get(whole) {
            place += u64::from((word & !(!0 << last)).count_ones());
        }
        read(counts, place * 8..(place + records as u64) * 8)
    }

    /// Number of records that are kept.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Clears the bits of records of a tile that are not kept.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(super) fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) -> Result<(), Error> {
        match &self.bits {
            Bits::Memory(words) => {
                let word = |at: usize| words.get(at).map_or(0, |word| word.load(Ordering::Relaxed));
                keep(tile, mask, 0, word);
            }
            Bits::File { bits: spill, .. } => {
                let numbers = || tile.rows().map(|row| tile.batch.index(row));
                let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else {
                    return Ok(());
                };
                let (first, last) = (first / 64, last / 64 + 1);
                let mut bytes = Vec::new();
                let read = io::Read::read_to_end(&mut spill.section(first * 8..last * 8), &mut bytes);
                read.map_err(|source| spill.failed(source))?;
                // The file ends with the last record that is kept.
                let words = words(&bytes);
                keep(tile, mask, first, |at| words.get(at).copied().unwrap_or(0));
            }
            Bits::Sorting(..) => {}
        }
        Ok(())
    }
}

/// Keeps the records of a tile whose bit is set, in words from this one on.
fn keep(tile: &Tile<'_>, mask: &mut [u64], first: u64, word: impl Fn(usize) -> u64) {
    if tile.batch.is_consecutive() {
        let start = tile.batch.index(tile.start);
        for (mask, number) in mask.iter_mut().zip((start..).step_by(64)).filter(|(mask, _)| **mask != 0) {
            // Records before the first word are not in the tile.
            let word = |at: u64| at.checked_sub(first).map_or(0, |at| word(at as usize));
            let (low, places) = (word(number / 64), number % 64);
            *mask &= match places {
                0 => low,
                _ => low >> places | word(number / 64 + 1) << (64 - places),
            };
        }
        return;
    }
    for row in tile.rows() {
        let number = tile.batch.index(row);
        if word((number / 64 - first) as usize) >> (number % 64) & 1 == 0 {
            let place = row - tile.start;
            mask[place / 64] &= !(1 << (place % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::packed::Packed;
    use crate::queries::GroupResults;
    use crate::table::{Batch, first_rows};
    use crate::tiers::Tier;
    use std::sync::Arc;

    /// Records with numbers one after the other are looked up many at once, others one by one: with the same result,
    /// wherever the first one is.
    #[test]
    fn neighbours_are_looked_up_at_once() {
        let analyzer = Tier::best().analyzer().unwrap();
        let board = Packed::pack(&Position::standard()).unwrap();
        let results = [GroupResults::default(); 16];
        let is_kept = |number: u64| number * number % 7 < 3;
        for first_index in [0, 1, 63, 64, 100, 1000] {
            let mut batch = Batch::new();
            (0..200).for_each(|_| batch.push(board, 0, 1));
            batch.first_index = first_index;
            let mut other = batch.clone();
            other.ordinals = Some((0..200).collect());
            let last = first_index + 199;
            // In memory, and as they are read from a file: from the word of the first record on.
            for from in [0, (first_index + 64).div_ceil(64)] {
                let words: Vec<u64> = (from..=last / 64)
                    .map(|word| (0..64).fold(0, |bits, bit| bits | u64::from(is_kept(64 * word + bit)) << bit))
                    .collect();
                let kept = |batch: Batch| {
                    let batch = Arc::new(batch);
                    let mut mask: [u64; 2] = first_rows(128);
                    // In the second case the tile has no records before the first word.
                    let skipped = (64 * from).saturating_sub(first_index + 64) as u32;
                    mask[0] = u64::MAX << skipped;
                    let good = mask;
                    let tile = Tile::new(analyzer, &batch, 64, 128, &results, &good);
                    keep(&tile, &mut mask, from, |at| words.get(at).copied().unwrap_or(0));
                    mask
                };
                let found = kept(batch.clone());
                assert_eq!(found, kept(other.clone()));
                let expected = (64..192).filter(|row| {
                    let number = first_index + row;
                    number >= 64 * from && is_kept(number)
                });
                assert!(crate::table::rows_of(&found).map(|row| row as u64 + 64).eq(expected), "{first_index} {from}");
            }
        }
    }
}
