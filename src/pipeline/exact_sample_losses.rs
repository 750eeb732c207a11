//! What the candidates of an [exact sample](super::exact_sample) lose in an output: it counts for those that are drawn, which
//! only the end of the input tells.

use crate::choose::draw;
use crate::formats::{UnstoredTags, UnstoredTagsByGame};
use crate::poisoned_locks::Unpoisoned;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Number of leading bits of a hash by which records are dropped.
pub(super) const BITS: u32 = 14;

/// What the games, or records without games, lose that may be in the sample. Only the sample tells which of them count.
#[derive(Debug)]
pub(crate) struct LostOfCandidates {
    seed: u64,
    /// The leading bits of the largest hash that may be in the sample.
    last: Arc<AtomicU64>,
    chunks: Mutex<LostOfChunks>,
}

/// What is lost of the chunks so far, in any order.
#[derive(Debug, Default)]
struct LostOfChunks {
    chunks: Vec<UnstoredTagsByGame>,
    /// Number of the games and records in them.
    len: usize,
    /// The number that was left when the last ones were dropped.
    left: usize,
    /// What is lost of them. Chunks share it, because nearly all games lose the same.
    sets: HashSet<Arc<UnstoredTags>>,
}

/// Number of games and records after which those that can no longer be in the sample are dropped.
const MANY: usize = 1 << 20;

impl LostOfCandidates {
    pub(super) fn new(seed: u64, last: Arc<AtomicU64>) -> Self {
        Self { seed, last, chunks: Mutex::default() }
    }
    /// Adds what is lost of a chunk, where games and records that may be taken are marked. What has no record that may
    /// still be in the sample is dropped, so that no more is kept than candidates.
    pub(super) fn add(&self, mut lost: UnstoredTagsByGame) {
        let last = self.last.load(Ordering::Relaxed);
        let is_possible = |number| draw(number, self.seed).bits() >> (u64::BITS - BITS) <= last;
        lost.keep_marked();
        lost.retain(|mut records| records.any(is_possible));
        let mut all = self.chunks.lock().unpoisoned();
        lost.share(&mut all.sets);
        all.len += lost.len();
        all.chunks.push(lost);
        if all.len > MANY + 2 * all.left {
            all.chunks.iter_mut().for_each(|chunk| chunk.retain(|mut records| records.any(is_possible)));
            all.chunks.retain(|chunk| chunk.len() != 0);
            all.len = all.chunks.iter().map(UnstoredTagsByGame::len).sum();
            all.left = all.len;
        }
    }
    /// All chunks in order; nothing is marked yet.
    pub(super) fn in_order(&self) -> Vec<UnstoredTagsByGame> {
        let mut chunks = std::mem::take(&mut *self.chunks.lock().unpoisoned()).chunks;
        chunks.retain(|chunk| chunk.len() != 0);
        chunks.sort_unstable_by_key(UnstoredTagsByGame::start);
        chunks
    }
}
