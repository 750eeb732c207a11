//! The blocks of a shard.

use super::section::SectionHeader;
use crate::input::Shard;
use std::ops::Range;

/// Which blocks are requested of a file that has to be read from its beginning. The headers of the others are still
/// read, and so are header, index and end of the file: what is true of the file as a whole is checked in every shard.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Share {
    /// Those that begin in these bytes of the file.
    Within(Range<u64>),
    /// Those that have their turn, of a file whose length is not known.
    Turn(Shard),
}

impl Share {
    /// Whether a block that begins at this byte of the file is requested.
    pub(super) fn has(&self, header: &SectionHeader, at: u64) -> bool {
        match self {
            Self::Within(range) => range.contains(&at),
            // The number of the block: all but the last have the same number of records.
            Self::Turn(shard) => shard.has_turn(header.first / u64::from(header.count).max(1)),
        }
    }
}
