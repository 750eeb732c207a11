//! Checks across sections that all of them are present, once, and in order.

use super::section::{Kind, SectionHeader};
use super::{Checksum, UNKNOWN, VERSION};
use crate::error::Damage;
use crate::formats::{Evidence, WholeFileCheck};

/// A section's contribution to these checks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    /// The place of the section in the chunk.
    pub(super) at: usize,
    pub(super) what: Found,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Section(SectionHeader),
    /// Bytes in which no section could be found.
    Lost(usize, &'static str),
}

/// Follows the sections of a file and detects faults that do not show in any one section: missing, duplicated or
/// exchanged blocks, a missing end, data after the end.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    header: Option<SectionHeader>,
    /// Number of records so far.
    records: u64,
    /// Places of the blocks so far, which the index must repeat.
    places: Places,
    /// A block that is not full has been seen; it must be the last.
    short: bool,
    index: Option<u64>,
    ended: bool,
    /// Whether something was lost, so that later numbers may not match.
    lost: bool,
    /// Where the lost bytes end.
    lost_until: u64,
    /// The places of the next blocks according to the index, the last one first; only in a shard.
    expected: Option<Vec<u64>>,
    /// If a shard ends before the end of the file: the number of records up to there.
    stop: Option<u64>,
}

/// The checksum of an index that is not held in memory.
#[derive(Debug, Default)]
struct Places {
    checksum: Checksum,
    /// The places since the last full row of the checksum.
    row: [u64; 8],
    len: u64,
}

impl Places {
    fn push(&mut self, place: u64) {
        self.row[self.len as usize % 8] = place;
        self.len += 1;
        if self.len.is_multiple_of(8) {
            self.checksum.update(&self.bytes(8));
        }
    }
    fn bytes(&self, len: usize) -> Vec<u8> {
        let row = &self.row[..len];
        row.iter().flat_map(|place| place.to_le_bytes()).collect()
    }
    fn finish(&self) -> u64 {
        let mut checksum = self.checksum;
        checksum.update(&self.bytes(self.len as usize % 8));
        checksum.finish()
    }
}

impl WholeFileCheck for Sequence {
    /// Checks the sections of the next chunk.
    fn chunk(&mut self, evidence: Option<Evidence>, offset: u64) -> Vec<Damage> {
        let sections = evidence.and_then(|evidence| evidence.downcast::<Vec<Section>>().ok());
        let mut damage = Vec::new();
        for section in sections.iter().flat_map(|sections| sections.iter()) {
            let at = offset + section.at as u64;
            let what = match section.what {
                Found::Lost(len, what) => {
                    let again = self.lost && self.lost_until == at;
                    self.lost = true;
                    self.lost_until = at + len as u64;
                    let what = if self.ended { "there are data after the end" } else { what };
                    (!again).then(|| what.to_owned())
                }
                Found::Section(header) => self.section(&header, at).err(),
            };
            damage.extend(what.map(|what| Damage::at(at, what)));
        }
        damage
    }

    fn end(&mut self, len: u64) -> (Vec<Damage>, Option<&'static str>) {
        if let Some(stop) = self.stop {
            let missing = self.expected.as_ref().is_some_and(|left| !left.is_empty());
            let what = || format!("{} records before this place instead of {stop}", self.records);
            let damage = (missing || self.records != stop).then(|| Damage::at(len, what()));
            return (damage.into_iter().collect(), None);
        }
        if self.ended {
            return (Vec::new(), None);
        }
        let what = match self.header {
            None => "not a whole boards file: the header is missing".to_owned(),
            Some(_) => format!("the file is truncated: it ends after {} records without an end section", self.records),
        };
        (vec![Damage::at(len, what)], None)
    }
}

impl Sequence {
    /// Continues after the blocks at these places.
    pub(super) fn continue_after(&mut self, header: SectionHeader, records: u64, places: &[u64]) {
        self.header = Some(header);
        self.records = records;
        places.iter().for_each(|&place| self.places.push(place));
    }

    /// Expects the next blocks at these places.
    pub(super) fn expect(&mut self, places: &[u64]) {
        self.expected = Some(places.iter().rev().copied().collect());
    }

    /// Expects the part to end after this number of records of the file.
    pub(super) fn stop_after(&mut self, records: u64) {
        self.stop = Some(records);
    }

    fn section(&mut self, header: &SectionHeader, at: u64) -> Result<(), String> {
        if self.ended {
            return Err("there are data after the end".to_owned());
        }
        if (header.kind == Kind::Header) != (at == 0) {
            return Err(match header.kind {
                Kind::Header => "a second header in the file",
                _ => "the header is missing",
            }
            .to_owned());
        }
        let expect = |what: &str, found: u64, expected: u64| {
            if found == expected || self.lost { Ok(()) } else { Err(format!("{what}: {found} instead of {expected}")) }
        };
        match header.kind {
            Kind::Header => {
                let (major, minor) = header.version();
                self.header = Some(*header);
                if major != VERSION.0 {
                    return Err(format!(
                        "version {major}.{minor} of the format; this program reads version {}",
                        VERSION.0
                    ));
                }
            }
            Kind::Block => {
                let first = expect("number of the first record", header.first, self.records);
                let place = self.short || self.index.is_some();
                let indexed = self.expected.as_mut().map(Vec::pop);
                self.records = header.first.saturating_add(header.count.into());
                self.places.push(at);
                self.short = self.header.is_some_and(|file| header.count != file.block_len());
                if let Some(file) = &self.header
                    && header.count > file.block_len()
                {
                    return Err(format!(
                        "a block of {} records where the header has {} per block",
                        header.count,
                        file.block_len()
                    ));
                }
                first?;
                if place && !self.lost {
                    return Err("a block after the last one".to_owned());
                }
                if indexed.is_some_and(|place| place != Some(at)) && !self.lost {
                    return Err("the index does not match the places of the blocks".to_owned());
                }
            }
            Kind::Index => {
                self.index = Some(at);
                expect("blocks in the index", header.count.into(), self.places.len)?;
                expect("records before the index", header.first, self.records)?;
                if header.checksum != self.places.finish() && !self.lost {
                    return Err("the index does not match the places of the blocks".to_owned());
                }
            }
            Kind::End => {
                self.ended = true;
                let index = self.index.unwrap_or(UNKNOWN);
                expect("records of the file", header.total, self.records)?;
                expect("records before the end", header.first, self.records)?;
                expect("place of the index", header.extra, index)?;
                if let Some(file) = &self.header
                    && file.total != UNKNOWN
                {
                    expect("number of records in the header", file.total, self.records)?;
                }
            }
        }
        Ok(())
    }
}
