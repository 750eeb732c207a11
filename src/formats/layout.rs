//! Layouts: how the bytes of a format are divided, said once by each format.
//!
//! Bytes are divided twice: into chunks, which threads decode side by side, and into the parts of shards. Whoever needs
//! to know how (the feed, the sieve, the limits of a run, the pieces of a cluster) matches on the [`Layout`], and a new
//! one does not compile until all of them have an answer.
//!
//! | layout | chunks | parts of shards |
//! | --- | --- | --- |
//! | [text](Layout::Text) | from place to place where the content can be cut | from division to division |
//! | [records](Layout::Records) of one length | whole records | from the first record at or after a place |
//! | [chains](Layout::Chains) of any length | whole chains | from the first chain at or after a place, found link by link |
//! | [sections](Layout::Sections) with an index | whole sections | sections, found by the index |
//! | [tables](Layout::Tables) | rows, by an index | row groups or record batches |

use super::lines;
use super::tables::OpenTable;
use crate::formats::Watch;
use crate::input::Shard;
use memchr::memchr;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// How the bytes of a format are divided.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// Lines or games: only the content shows where it can be cut.
    Text(&'static dyn Text),
    /// Records of this many bytes each, one after the other, from the first byte on.
    Records(usize),
    /// Chains of records that belong together (games, compressed blocks), each of which shows how long it is.
    Chains(&'static dyn Chains),
    /// Sections that know their lengths, with an index of them at the end.
    Sections(&'static dyn Sections),
    /// Files with an index of their own, which divide themselves into rows.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "all of them need the feature"))]
    Tables(&'static dyn OpenTable),
}

/// Text: lines or games.
pub(crate) trait Text: fmt::Debug + Sync {
    /// Length of the longest run at the start of `bytes` that can be decoded without knowing what follows; `None` if
    /// there is no such place yet. Never zero. What follows can be decoded without the run: cutting and decoding agree
    /// on what belongs together. `max_record` is [`DecodeOptions::max_record`](super::DecodeOptions::max_record).
    fn cut(&self, bytes: &[u8], _max_record: usize) -> Option<usize> {
        lines::cut_lines(bytes)
    }

    /// The line at the beginning of an input that says how all others are read, if there is one: for
    /// [`Chunk::header`](super::Chunk::header). `all`: the input ends with these bytes.
    fn header(&self, _head: &[u8], _all: bool) -> Option<Arc<[u8]>> {
        None
    }

    /// Where the next record begins after one that is too long, at `from` or later; `None` if that is not known yet.
    /// `at_end`: the input ends with these bytes.
    fn resume(&self, bytes: &[u8], from: usize, _at_end: bool) -> Option<usize> {
        let at = memchr(b'\n', bytes.get(from..)?)?;
        Some(from + at + 1)
    }

    /// The first place, at `from` or later, where the text can be divided: a record begins there whatever came before,
    /// and what follows decodes without it. Whether a place is one depends on no bytes but the [`Text::reach`] before
    /// and after it, so that it can be found from the middle of a file. The bytes begin at the beginning of the input,
    /// or with [`Text::reach`] bytes before `from`. Unless the input ends with them (`at_end`), no place is found so
    /// near to their end that later bytes could change it.
    fn division(&self, bytes: &[u8], from: usize, _at_end: bool) -> Option<usize> {
        lines::next_line(bytes, from)
    }

    /// Number of bytes before and after a place that decide whether it is found by [`Text::division`].
    fn reach(&self) -> usize {
        1
    }

    /// How much of the bytes before a truncated end can be decoded.
    fn before_truncated_end(&self, bytes: &[u8], max_record: usize) -> usize {
        self.cut(bytes, max_record).unwrap_or(0)
    }
}

/// Chains of records.
pub(crate) trait Chains: fmt::Debug + Sync {
    /// What begins at the first of these bytes; there is at least one. With more than `max_record` of them it is not
    /// [`Link::More`].
    fn link(&self, bytes: &[u8], max_record: usize) -> Link;
}

/// What begins at a place of a file of chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A chain of this many bytes, which need not all be there yet.
    Chain(u64),
    /// More bytes are needed to know.
    More,
    /// No chain. The next one may begin this many bytes on; it is decoded as damage.
    Lost(u64),
}

/// Sections with an index.
pub(crate) trait Sections: fmt::Debug + Sync {
    /// Length of the longest run of whole sections; `None` if there is none yet.
    fn cut(&self, bytes: &[u8]) -> Option<usize>;

    /// Finds the part of a shard in a file of this length, some bytes of which can be read; `None` if all of it has to
    /// be read.
    ///
    /// # Errors
    /// If they cannot be read.
    fn enter(&self, len: u64, shard: Shard, read: &ReadAt<'_>) -> io::Result<Option<Entry>>;
}

/// Reads some bytes of a file.
pub(crate) type ReadAt<'a> = dyn Fn(Range<u64>) -> io::Result<Vec<u8>> + 'a;

/// What a shard has of a file with sections.
pub(crate) struct Entry {
    /// The bytes to read.
    pub(crate) bytes: Range<u64>,
    /// Follows them.
    pub(crate) watch: Box<dyn Watch>,
}

impl Layout {
    /// Length of the longest run at the start of `bytes` that decodes without what follows; `None` if there is none yet.
    /// Never zero.
    pub(crate) fn cut(self, bytes: &[u8], max_record: usize) -> Option<usize> {
        match self {
            Self::Text(text) => text.cut(bytes, max_record),
            Self::Records(len) => Some(bytes.len() / len * len).filter(|&cut| cut > 0),
            Self::Chains(chains) => Some(whole_chains(chains, bytes, max_record)).filter(|&cut| cut > 0),
            Self::Sections(sections) => sections.cut(bytes),
            Self::Tables(_) => None,
        }
    }

    /// How much of the bytes before a truncated end can be decoded.
    pub(crate) fn before_truncated_end(self, bytes: &[u8], max_record: usize) -> usize {
        match self {
            Self::Text(text) => text.before_truncated_end(bytes, max_record),
            Self::Records(_) | Self::Chains(_) => self.cut(bytes, max_record).unwrap_or(0),
            Self::Sections(_) | Self::Tables(_) => 0,
        }
    }

    /// Whether a chunk decodes to fewer of the same records when it is cut off where a record begins.
    pub(crate) fn can_be_shortened(self) -> bool {
        match self {
            Self::Text(_) | Self::Records(_) => true,
            Self::Chains(_) | Self::Sections(_) | Self::Tables(_) => false,
        }
    }

    /// The bytes of the record that [begins](crate::table::Batch::origins) at a place of a chunk, and for text its line in
    /// the chunk (counted from 1); `None` if they are not its own.
    pub(crate) fn raw(self, chunk: &[u8], origin: usize) -> Option<(&[u8], Option<u64>)> {
        match self {
            Self::Text(_) => {
                let (raw, line) = lines::line_at(chunk, origin);
                Some((raw, Some(line)))
            }
            Self::Records(len) => Some((chunk.get(origin..origin + len)?, None)),
            Self::Chains(_) | Self::Sections(_) | Self::Tables(_) => None,
        }
    }

    /// The line that says how all others are read: see [`Text::header`].
    pub(crate) fn header(self, head: &[u8], all: bool) -> Option<Arc<[u8]>> {
        match self {
            Self::Text(text) => text.header(head, all),
            Self::Records(_) | Self::Chains(_) | Self::Sections(_) | Self::Tables(_) => None,
        }
    }
}

/// Bytes of the whole chains at the start.
fn whole_chains(chains: &dyn Chains, bytes: &[u8], max_record: usize) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        match chains.link(&bytes[at..], max_record) {
            Link::Chain(len) | Link::Lost(len) if len <= (bytes.len() - at) as u64 => at += len.max(1) as usize,
            _ => break,
        }
    }
    at
}

/// Which sections are requested of a file that has to be read from its beginning. The headers of the others are still
/// read, and so are header, index and end of the file: what is true of the file as a whole is checked in every shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requested {
    /// Those that begin in these bytes of the file.
    Within(Range<u64>),
    /// Those that have their turn, of a file whose length is not known.
    Turn(Shard),
}

/// What of its bytes a chunk is.
#[derive(Clone, Debug)]
pub(crate) enum Extent {
    /// All records in them.
    All,
    /// Of a format with sections: those that are requested.
    Sections(Requested),
    /// Of a table: these rows; the bytes are only those that their positions come from.
    Rows(super::tables::RowPart),
}
