//! Writing records in another format.
//!
//! Text is finished when its chunk ends. A block may need the records of several chunks, which are joined [in
//! order](super::chunk_joiner).

use super::chunk_joiner::{Finished, InOrder, JoinBlocks};
use crate::formats::{Encoded, Encoder, Losses, RecordBlock, RecordBlocks, Refusal};
use crate::pipeline::{Job, for_each_tile_unqueried};
use crate::poisoned_locks::Unpoisoned;
use crate::queries::Queries;
use crate::table::{Batch, Fields, Needs, Tile};
use std::io;
use std::sync::{Arc, Mutex};

/// Encodes all records, and counts the values that the format does not keep.
#[derive(Debug)]
pub(super) struct Conversion {
    encoder: &'static dyn Encoder,
    joint: Option<InOrder<RecordBlocks, Encoded>>,
    /// Written pieces, cleared, whose memory is used again: allocating memory would take longer than filling it.
    used: Mutex<Vec<Encoded>>,
    /// Batches of copied records, kept for the same reason.
    emptied: Mutex<Vec<Batch>>,
}

impl JoinBlocks for RecordBlocks {
    type Piece = Encoded;
    type Block = RecordBlock;
    fn join(&mut self, piece: Encoded) -> io::Result<Vec<RecordBlock>> {
        RecordBlocks::join(self, piece)
    }
}

/// Formats made of blocks copy records if runs of consecutive ones are shorter than this on average, because many short
/// runs would cost more. Batches whose fields are still in their block are not copied.
const SHORT: usize = 16;
/// Number of records that are copied into one batch, small enough to fit into the memory of an earlier one.
const COPIED: usize = 2048;
/// Number of used batches, and of written pieces, that are kept to be used again.
const EMPTIED: usize = 32;
/// The largest piece that is kept, in bytes: the output of a chunk of chains may be fifty times as long as the chunk.
const LARGEST_USED: usize = 4 << 20;

/// The output of one chunk.
#[derive(Debug, Default)]
pub(super) struct EncodedPart {
    piece: Encoded,
    /// Copies of records that come after those of the piece.
    copied: Batch,
    blocks: Option<Finished<Encoded>>,
    /// The values that the format does not keep.
    pub(super) losses: Losses,
    /// Records that are written.
    pub(super) records: u64,
}

impl EncodedPart {
    /// The finished pieces, for the [writer](Encoder::writer) of the format; waits for those that others encode. An
    /// error says that the format cannot hold the records.
    pub(super) fn pieces(self) -> impl Iterator<Item = io::Result<Encoded>> {
        let own = self.blocks.is_none().then_some(Ok(self.piece));
        own.into_iter().chain(self.blocks.into_iter().flatten())
    }
}

impl Conversion {
    /// Conversion by the [encoder](crate::formats::Codec::encoder) of a format.
    pub(super) fn new(encoder: &'static dyn Encoder) -> Self {
        Self {
            encoder,
            joint: RecordBlocks::of(encoder).map(InOrder::new),
            used: Mutex::default(),
            emptied: Mutex::default(),
        }
    }

    /// Encodes the records of a tile.
    fn records(&self, part: &mut EncodedPart, tile: &Tile<'_>) {
        part.records += tile.count() as u64;
        self.encoder.losses(tile, &mut part.losses);
        let is_packed = tile.batch.block.is_some();
        if self.joint.is_none() || is_packed || tile.count() >= SHORT * tile.count_runs() {
            self.flush(part);
            part.piece.add(self.encoder, tile.batch, &tile.runs());
            return;
        }
        if part.copied.is_empty() {
            part.copied = self.emptied.lock().unpoisoned().pop().unwrap_or_default();
        }
        part.copied.extend_from(tile.batch, tile.rows());
        if part.copied.len() >= COPIED {
            self.flush(part);
        }
    }

    /// Counts what the output does not keep from a batch that does not come from a run.
    pub(super) fn count_losses(&self, part: &mut EncodedPart, batch: &Arc<Batch>) {
        for_each_tile_unqueried(batch, |tile| self.encoder.losses(tile, &mut part.losses));
    }

    /// Encodes whole batches that come from no run, by their numbers.
    pub(super) fn batch(&self, part: &mut EncodedPart, batch: &Arc<Batch>) {
        let all = 0..batch.len();
        part.piece.add(self.encoder, batch, std::slice::from_ref(&all));
    }

    pub(super) fn encoder(&self) -> &'static dyn Encoder {
        self.encoder
    }

    /// Takes back a piece that has been written, to use its memory again.
    pub(super) fn reuse(&self, mut piece: Encoded) {
        piece.clear();
        let mut used = self.used.lock().unpoisoned();
        if used.len() < EMPTIED && piece.bytes.capacity() <= LARGEST_USED {
            used.push(piece);
        }
    }

    /// Adds the records that were copied to the piece.
    fn flush(&self, part: &mut EncodedPart) {
        if !part.copied.is_empty() {
            let copied = Arc::new(std::mem::take(&mut part.copied));
            self.batch(part, &copied);
        }
    }

    fn encode(&self, block: RecordBlock) -> io::Result<Encoded> {
        let used = self.used.lock().unpoisoned().pop().unwrap_or_default();
        let encoded = block.encode(used);
        let emptied = block.into_batches().filter_map(|batch| batch.emptied(COPIED));
        let mut known = self.emptied.lock().unpoisoned();
        let room = EMPTIED.saturating_sub(known.len());
        known.extend(emptied.take(room));
        encoded
    }

    /// The last block, if there are records left: after all parts.
    ///
    /// # Errors
    /// If the format cannot hold the records.
    pub(super) fn finish(self) -> io::Result<Option<Encoded>> {
        let last = self.joint.and_then(|joint| joint.into_inner().finish());
        last.map(|block| block.encode(Encoded::default())).transpose()
    }
}

impl Job for Conversion {
    type Part = EncodedPart;
    fn needs(&self) -> Needs {
        Needs::new(Queries::NONE, Fields::ALL)
    }
    fn reads_lost_tags(&self) -> bool {
        true
    }
    fn passes_blocks_on(&self) -> bool {
        self.encoder.passes_blocks_on()
    }
    fn begin(&self) -> Self::Part {
        let mut part = Self::Part::default();
        if self.joint.is_none() {
            part.piece = self.used.lock().unpoisoned().pop().unwrap_or_default();
        }
        part
    }
    fn refusal(&self) -> Option<Refusal> {
        Some(Refusal::of(self.encoder))
    }
    fn tile(&self, part: &mut Self::Part, tile: &Tile<'_>) {
        let unwritten = self.encoder.unwritten(tile);
        if unwritten.is_empty() {
            return self.records(part, tile);
        }
        let mut mask = tile.mask.to_vec();
        for (row, is_implied) in unwritten {
            if is_implied {
                part.losses.lack("last positions of games, which follow from the moves before", 1);
            } else {
                part.losses.lack("positions without a move, apart from the moves that led to them", 1);
            }
            let place = row - tile.start;
            mask[place / 64] &= !(1 << (place % 64));
        }
        self.records(part, &tile.masked(&mask));
    }
    fn end(&self, part: &mut Self::Part, chunk: u64) {
        self.flush(part);
        if let Some(joint) = &self.joint {
            let piece = std::mem::take(&mut part.piece);
            part.blocks = Some(joint.end(chunk, piece, |block| self.encode(block)));
        }
    }
}
