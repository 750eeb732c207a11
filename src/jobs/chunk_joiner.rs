//! Joining chunks, which end in any order, in the order of the input, and cutting them into blocks.
//!
//! In a format made of blocks, a chunk may end in the middle of a block. The worker that completes the sequence cuts
//! all consecutive chunks into blocks and encodes these. The part of each chunk then receives its blocks.

use crate::poisoned_locks::Unpoisoned;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Cuts the content of chunks into blocks.
pub(super) trait JoinBlocks {
    /// The content of a chunk.
    type Piece;
    /// The unit of encoding.
    type Block;
    /// Takes the next piece; returns the blocks that it completes.
    fn join(&mut self, piece: Self::Piece) -> io::Result<Vec<Self::Block>>;
}

/// The finished blocks that are due when a chunk has ended.
pub(super) type Finished<E> = Receiver<io::Result<E>>;

/// Chunks that are being joined and cut into blocks, which are encoded as `E`.
pub(super) struct InOrder<C: JoinBlocks, E>(Mutex<Line<C, E>>);

struct Line<C: JoinBlocks, E> {
    cut: C,
    /// The chunk that is joined next.
    next: u64,
    /// Chunks that ended before their turn, with the receivers of their blocks.
    early: BTreeMap<u64, (C::Piece, Sender<io::Result<E>>)>,
}

impl<C: JoinBlocks, E> fmt::Debug for InOrder<C, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InOrder")
    }
}

impl<C: JoinBlocks, E> InOrder<C, E> {
    pub(super) fn new(cut: C) -> Self {
        Self(Mutex::new(Line { cut, next: 0, early: BTreeMap::new() }))
    }

    /// Adds the content of the chunk with this number, which has ended.
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

    /// Takes from the rest, after all chunks.
    #[cfg(feature = "parquet")]
    pub(super) fn with_rest<T>(&self, take: impl FnOnce(&mut C) -> T) -> T {
        take(&mut self.0.lock().unpoisoned().cut)
    }

    /// The rest, after all chunks.
    pub(super) fn into_inner(self) -> C {
        let line = self.0.into_inner();
        line.unpoisoned().cut
    }
}
