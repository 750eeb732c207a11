//! Layouts: each format says in one place how its bytes are divided.
//!
//! Bytes are divided twice: into chunks, which threads decode side by side, and into the parts of shards. The code that
//! depends on it (the feed, the sieve, the limits of a run, the pieces of a cluster) matches on the [`Layout`], so that
//! a new layout does not compile until all of these places handle it.
//!
//! | layout | chunks | parts of shards |
//! | --- | --- | --- |
//! | [text](Layout::Text) | between places where the content can be cut | from division to division |
//! | [records](Layout::Records) of one length | whole records | from the first record at or after a place |
//! | [chains](Layout::Chains) of any length | whole chains | from the first chain at or after a place, found link by link |
//! | [sections](Layout::Sections) with an index | whole sections | sections, found by the index |
//! | [tables](Layout::Tables) | rows, by an index | row groups or record batches |

use super::line_records;
use super::table_row_parts::{OpenTable, RowPart};
use super::whole_file_checks::WholeFileCheck;
use crate::formats::codec::chain_segments::{self, Segment};
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
    /// there is none yet. Never zero. The bytes after the run can be decoded without it: cutting and decoding agree on
    /// what belongs together. `max_record` is [`DecodeOptions::max_record`](crate::formats::DecodeOptions::max_record).
    fn cut(&self, bytes: &[u8], _max_record: usize) -> Option<usize> {
        line_records::cut_lines(bytes)
    }

    /// The line at the beginning of an input that determines how all others are read, if there is one: for
    /// [`Chunk::header`](crate::formats::Chunk::header). `all`: the input ends with these bytes.
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
    /// and can be decoded without it. Whether a place is a division depends only on the [`Text::reach`] bytes before
    /// and after it, so that it can be found from the middle of a file. The bytes begin at the beginning of the input,
    /// or with [`Text::reach`] bytes before `from`. Unless the input ends with them (`at_end`), places so close to
    /// their end that later bytes could matter are not reported.
    fn division(&self, bytes: &[u8], from: usize, _at_end: bool) -> Option<usize> {
        line_records::next_line(bytes, from)
    }

    /// Number of bytes before and after a place that decide whether it is found by [`Text::division`].
    fn reach(&self) -> usize {
        1
    }

    /// The part of the bytes before a truncated end that can be decoded.
    fn before_truncated_end(&self, bytes: &[u8], max_record: usize) -> usize {
        self.cut(bytes, max_record).unwrap_or(0)
    }
}

/// Chains of records.
pub(crate) trait Chains: fmt::Debug + Sync {
    /// Tells what begins at the first of these bytes; there is at least one byte. With more than `max_record` bytes,
    /// the answer is not [`Link::More`].
    fn link(&self, bytes: &[u8], max_record: usize) -> Link;

    /// Whether the records of a chain may need so much memory that it is decoded in [segments](chain_segments).
    fn has_segments(&self) -> bool {
        false
    }
}

/// What begins at some place in a file of chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A chain of this many bytes, which need not all be there yet.
    Chain(u64),
    /// More bytes are needed to decide.
    More,
    /// Not a chain. The next one may begin this many bytes later; the bytes before it are damage.
    Lost(u64),
}

/// Sections with an index.
pub(crate) trait Sections: fmt::Debug + Sync {
    /// Length of the longest run of whole sections at the start of the bytes; `None` if there is none yet.
    fn cut(&self, bytes: &[u8]) -> Option<usize>;

    /// Finds the part of a file of this length that belongs to a shard; `read` reads bytes anywhere in the file. `None`
    /// if all of it has to be read. With `reads_on`, the bytes begin with the section before the part, and do not end
    /// with it.
    ///
    /// # Errors
    /// If they cannot be read.
    fn enter(&self, len: u64, shard: Shard, reads_on: bool, read: &ReadAt<'_>) -> io::Result<Option<Entry>>;
}

/// Reads some bytes of a file.
pub(crate) type ReadAt<'a> = dyn Fn(Range<u64>) -> io::Result<Vec<u8>> + 'a;

/// A shard's part of a file with sections.
pub(crate) struct Entry {
    /// The bytes to read.
    pub(crate) bytes: Range<u64>,
    /// Those of them that belong to the shard.
    pub(crate) own: Range<u64>,
    /// Bytes that follow them.
    pub(crate) watch: Box<dyn WholeFileCheck>,
}

impl Layout {
    /// Length of the longest run at the start of `bytes` that decodes without what follows; `None` if there is none
    /// yet. Never zero.
    pub(crate) fn cut(self, bytes: &[u8], max_record: usize) -> Option<usize> {
        match self {
            Self::Text(text) => text.cut(bytes, max_record),
            Self::Records(len) => Some(bytes.len() / len * len).filter(|&cut| cut > 0),
            Self::Chains(chains) => Some(whole_chains(chains, bytes, max_record)).filter(|&cut| cut > 0),
            Self::Sections(sections) => sections.cut(bytes),
            Self::Tables(_) => None,
        }
    }

    /// The segments in which a chunk of this number of bytes has to be decoded, because its records would need too much
    /// memory otherwise.
    pub(crate) fn segments(self, len: usize) -> Option<impl Iterator<Item = Segment>> {
        match self {
            Self::Chains(chains) if chains.has_segments() => chain_segments::divide(len),
            Self::Chains(_) | Self::Text(_) | Self::Records(_) | Self::Sections(_) | Self::Tables(_) => None,
        }
    }

    /// The part of the bytes before a truncated end that can be decoded.
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

    /// The bytes of the record that [begins](crate::table::Batch::origins) at a place of a chunk, and for text its line
    /// in the chunk (counted from 1); `None` if the bytes do not belong to this record alone.
    pub(crate) fn raw(self, chunk: &[u8], origin: usize) -> Option<(&[u8], Option<u64>)> {
        match self {
            Self::Text(_) => {
                let (raw, line) = line_records::line_at(chunk, origin);
                Some((raw, Some(line)))
            }
            Self::Records(len) => Some((chunk.get(origin..origin + len)?, None)),
            Self::Chains(_) | Self::Sections(_) | Self::Tables(_) => None,
        }
    }

    /// The line that determines how all others are read: see [`Text::header`].
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

/// The sections that are requested from a file that has to be read from its beginning. The headers of the others are
/// still read, and so are the header, index and end of the file: what holds for the file as a whole is checked in every
/// shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requested {
    /// The sections that begin in these bytes of the file.
    Within(Range<u64>),
    /// The sections whose turn it is, in a file whose length is not known.
    Turn(Shard),
}

/// The sections that are requested, and what is done with the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestedSections {
    pub(crate) which: Requested,
    /// Whether the others are decoded as records of other shards.
    pub(crate) reads_others: bool,
    /// Whether the headers of the others are checked: not if an index has led to the requested ones.
    pub(crate) checks_others: bool,
}

/// The part of its bytes that a chunk consists of.
#[derive(Clone, Debug)]
pub(crate) enum Extent {
    /// All records in the bytes.
    All,
    /// For a format with sections: the requested ones.
    Sections(RequestedSections),
    /// For a table: these rows; the bytes are only those from which their positions are read.
    Rows(RowPart),
    /// For a long chain: the records of this segment.
    Segment(Segment),
}
