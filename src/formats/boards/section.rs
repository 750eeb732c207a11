//! The header that every section begins with.

use super::{Checksum, UNIT};
use crate::formats::codec::layout::Requested;

/// Number of bytes of the header section.
pub(super) const HEADER_LEN: usize = 2048;
/// The same for versions before 1.4.
pub(super) const OLD_HEADER_LEN: usize = 1024;

/// Another major version may have a longer header, but none will be this long.
const LARGEST_HEADER: u64 = 1 << 20;
/// Largest block in bytes: unmapped sections are held in memory as a whole.
pub(super) const LARGEST_BLOCK: u64 = 1 << 28;

pub(super) const HEADER_MAGIC: [u8; 8] = *b"\x89LFB\r\n\x1A\n";
const BLOCK_MAGIC: [u8; 8] = *b"LFBBLOCK";
const INDEX_MAGIC: [u8; 8] = *b"LFBINDEX";
const END_MAGIC: [u8; 8] = *b"LFBEND\r\n";

/// The kind of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Block,
    Index,
    End,
}

/// A section header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectionHeader {
    pub(super) kind: Kind,
    pub(super) len: u64,
    pub(super) first: u64,
    pub(super) count: u32,
    pub(super) columns: u32,
    pub(super) extra: u64,
    pub(super) total: u64,
    pub(super) checksum: u64,
}

impl SectionHeader {
    /// Whether a block with this header, which begins at this byte of the file, is requested.
    pub(super) fn is_requested(&self, requested: &Requested, at: u64) -> bool {
        match requested {
            Requested::Within(range) => range.contains(&at),
            // The number of the block: all but the last have the same number of records.
            Requested::Turn(shard) => shard.has_turn(self.first / u64::from(self.count).max(1)),
        }
    }
    pub(super) fn to_bytes(self) -> [u8; UNIT] {
        let mut bytes = [0; UNIT];
        let magic = match self.kind {
            Kind::Header => HEADER_MAGIC,
            Kind::Block => BLOCK_MAGIC,
            Kind::Index => INDEX_MAGIC,
            Kind::End => END_MAGIC,
        };
        bytes[..8].copy_from_slice(&magic);
        bytes[8..16].copy_from_slice(&self.len.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.count.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.columns.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.extra.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.total.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = Checksum::of(&bytes[..56]);
        bytes[56..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a header, or returns what is wrong with it.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        let bytes: &[u8; UNIT] = bytes.first_chunk().ok_or("a section header is truncated")?;
        let kind = match *bytes.first_chunk().expect("64 bytes have 8") {
            HEADER_MAGIC => Kind::Header,
            BLOCK_MAGIC => Kind::Block,
            INDEX_MAGIC => Kind::Index,
            END_MAGIC => Kind::End,
            _ => return Err("no section begins here"),
        };
        if u64_at(bytes, 56) != Checksum::of(&bytes[..56]) {
            return Err("a section header does not match its checksum");
        }
        let header = Self {
            kind,
            len: u64_at(bytes, 8),
            first: u64_at(bytes, 16),
            count: u32_at(bytes, 24),
            columns: u32_at(bytes, 28),
            extra: u64_at(bytes, 32),
            total: u64_at(bytes, 40),
            checksum: u64_at(bytes, 48),
        };
        let unit = UNIT as u64;
        let possible = header.len.is_multiple_of(unit)
            && match kind {
                Kind::Header => (unit..=LARGEST_HEADER).contains(&header.len),
                Kind::Block => (unit..=LARGEST_BLOCK).contains(&header.len),
                Kind::Index => header.len == unit + (8 * u64::from(header.count)).next_multiple_of(unit),
                Kind::End => header.len == unit,
            };
        if !possible {
            return Err("a section has an invalid length");
        }
        Ok(header)
    }

    pub(super) fn version(&self) -> (u16, u16) {
        (self.extra as u16, (self.extra >> 16) as u16)
    }
    pub(super) fn block_len(&self) -> u32 {
        (self.extra >> 32) as u32
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
