//! Segments of long chains.
//!
//! A chunk of a chained format may hold a single chain of up to 100 MB, whose records take twenty times as much memory.
//! So the feed hands such a chunk out as segments of [`SEGMENT`] bytes: a segment has all bytes of the chunk, and its
//! records are those that begin within its own bytes. Where the first of them begins is known only when the segment
//! before has been decoded. So the segments of a chunk share the list of these places, and are decoded one after the
//! other, under its lock; everything after decoding happens in parallel.
//!
//! A worker never waits for work that has not begun: if the segment before has not been decoded yet, it decodes that
//! one itself, and drops its records.

use crate::formats::Decoded;
use crate::poisoned_locks::Unpoisoned;
use std::sync::{Arc, Mutex};

/// Chunks longer than this number of bytes are divided. The chunks of the usual writers of binpack files, which are
/// slightly longer than 1 MiB, are decoded as a whole, in parallel.
const LONG: usize = 4 << 20;
/// Number of bytes of a segment.
const SEGMENT: usize = 1 << 20;

/// One of the segments of a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    number: usize,
    /// Number of bytes of a segment; the last one has the rest.
    bytes: usize,
    /// Number of segments.
    count: usize,
    /// Where the records of the segments from the first one on begin, as far as it is known.
    starts: Arc<Mutex<Vec<Start>>>,
}

/// The place in a chunk where decoding begins or continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// The first byte of the chain.
    pub(crate) chain: usize,
    /// The byte in the chain where a record begins; 0 if nothing of the chain has been read.
    pub(crate) within: usize,
}

impl Start {
    /// The place in the chunk.
    pub(crate) fn place(self) -> usize {
        self.chain + self.within
    }
}

/// The segments of a chunk with this number of bytes, in order; `None` if it is short enough to be decoded as a whole.
pub(crate) fn divide(len: usize) -> Option<impl Iterator<Item = Segment>> {
    (len > LONG).then(|| segments(len, SEGMENT))
}

/// The segments of this number of bytes each.
pub(in crate::formats) fn segments(len: usize, bytes: usize) -> impl Iterator<Item = Segment> {
    let count = len.div_ceil(bytes);
    let starts = Arc::new(Mutex::new(vec![Start::default()]));
    (0..count).map(move |number| Segment { number, bytes, count, starts: Arc::clone(&starts) })
}

impl Segment {
    /// Decodes the segment. `decode` decodes the records that begin before a place of the chunk, from a start on, and
    /// returns where the next one begins.
    pub(in crate::formats) fn decode(&self, decode: impl Fn(Start, usize) -> (Decoded, Start)) -> Decoded {
        let end = |number: usize| if number + 1 == self.count { usize::MAX } else { (number + 1) * self.bytes };
        let mut starts = self.starts.lock().unpoisoned();
        while starts.len() <= self.number {
            let number = starts.len() - 1;
            let (_, next) = decode(starts[number], end(number));
            starts.push(next);
        }
        let (decoded, next) = decode(starts[self.number], end(self.number));
        // A chunk may be decoded more than once.
        if starts.len() == self.number + 1 {
            starts.push(next);
        }
        decoded
    }

    /// Number of bytes of a segment.
    pub(in crate::formats) fn bytes(&self) -> usize {
        self.bytes
    }
}
