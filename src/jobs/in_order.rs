//! Chunks that end in any order, joined in the order of the input and cut into blocks.
//!
//! Of a format that is made of blocks, a chunk may end in the middle of one: whoever ends the chunk that was missing in the
//! sequence cuts what is there into blocks and encodes them, and the parts of all these chunks receive theirs.

use crate::locks::Unpoisoned;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Cuts what chunks have into blocks.
pub(super) trait Cut {
    /// What a chunk has.
    type Piece;
    /// What is encoded at once.
    type Block;
    /// Takes the next piece; returns the blocks that it completes.
    fn join(&mut self, piece: Self::Piece) -> io::Result<Vec<Self::Block>>;
}

/// The finished blocks that are due when a chunk has ended.
pub(super) type Finished<E> = Receiver<io::Result<E>>;

/// Chunks on their way into blocks, which become `E`.
pub(super) struct InOrder<C: Cut, E>(Mutex<Line<C, E>>);

struct Line<C: Cut, E> {
    cut: C,
    /// The chunk that is joined next.
    next: u64,
    /// Chunks that ended before it, with those who wait for their blocks.
    early: BTreeMap<u64, (C::Piece, Sender<io::Result<E>>)>,
}

impl<C: Cut, E> fmt::Debug for InOrder<C, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InOrder")
    }
}

impl<C: Cut, E> InOrder<C, E> {
    pub(super) fn new(cut: C) -> Self {
        Self(Mutex::new(Line { cut, next: 0, early: BTreeMap::new() }))
    }

    /// A chunk with this number has ended.
    pub(super) fn end(&self, chunk: u64, piece: C::Piece, encode: impl Fn(C::Block) -> io::Result<E>) -> Finished<E> {
        let (sender, receiver) = channel();
        let mut due: Vec<(io::Result<Vec<C::Block>>, Sender<_>)> = Vec::new();
        {
            let mut line = self.0.lock().unpoisoned();
            let line = &mut *line;
            line.early.insert(chunk, (piece, sender));
            while let Some((piece, sender)) = line.early.remove(&line.next) {
                due.push((line.cut.join(piece), sender));
                line.next += 1;
            }
        }
        for (blocks, sender) in due {
            // The receiver is gone if the run has ended.
            let sent = match blocks {
                Ok(blocks) => blocks.into_iter().try_for_each(|block| sender.send(encode(block))),
                Err(error) => sender.send(Err(error)),
            };
            if sent.is_err() {
                break;
            }
        }
        receiver
    }

    /// What is left, after all chunks.
    pub(super) fn into_inner(self) -> C {
        let line = self.0.into_inner();
        line.unpoisoned().cut
    }
}
