//! The indices of the active features of boards, as they are being written: several at a time.

use crate::simd::bytes::Blocks;

/// As many numbers as a board has squares, and what is written behind the last of them.
pub(super) const ROOM_OF_BOARD: usize = 128;

/// The active features of several boards, one list after the other, and room behind them: the kernels write more
/// indices than they find.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveFeatures {
    slots: Vec<i32>,
    len: usize,
}

impl ActiveFeatures {
    /// No indices, in this memory, with room for this number of them.
    pub(super) fn with_memory(mut slots: Vec<i32>, room: usize) -> Self {
        slots.resize(room + 2 * ROOM_OF_BOARD, 0);
        Self { slots, len: 0 }
    }
    pub(super) fn len(&self) -> usize {
        self.len
    }
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }
    pub(crate) fn indices(&self) -> &[i32] {
        &self.slots[..self.len]
    }
    pub(super) fn into_indices(mut self) -> Vec<i32> {
        self.slots.truncate(self.len);
        self.slots
    }
    #[cold]
    fn grow(&mut self, more: usize) {
        self.slots.resize(2 * self.len + more + 1024, 0);
    }
    #[inline(always)]
    fn room(&mut self) -> Option<&mut [u32; 64]> {
        if self.slots.len() < self.len + 64 {
            self.grow(64);
        }
        self.slots[self.len..].first_chunk_mut::<64>().map(bytemuck::cast_mut)
    }
    /// Room for the pieces of a board.
    #[inline(always)]
    pub(super) fn room_of_board(&mut self) -> Option<&mut [i32; ROOM_OF_BOARD]> {
        if self.slots.len() < self.len + ROOM_OF_BOARD {
            self.grow(ROOM_OF_BOARD);
        }
        self.slots[self.len..].first_chunk_mut()
    }
    /// Counts indices that were written to room.
    #[inline(always)]
    pub(super) fn add_written(&mut self, count: usize) {
        self.len += count;
    }
    /// Adds `base` plus the number of each bit.
    #[inline(always)]
    pub(super) fn put<B: Blocks>(&mut self, blocks: B, bits: u64, base: u32) {
        if let Some(room) = self.room() {
            blocks.put_few_numbers(bits, base, room);
        }
        self.len += bits.count_ones() as usize;
    }
    /// Adds `base` plus the rank of each bit among others, which it is one of.
    #[inline(always)]
    pub(super) fn put_ranks<B: Blocks>(&mut self, blocks: B, bits: u64, among: u64, base: u32) {
        if let Some(room) = self.room() {
            blocks.put_few_ranks(bits, among, base, room);
        }
        self.len += bits.count_ones() as usize;
    }
    /// Adds -1 until there is this number of indices.
    #[inline(always)]
    pub(super) fn fill_up(&mut self, len: usize) {
        if self.slots.len() < len + 64 {
            self.grow(len - self.len + 64);
        }
        // By whole vectors, past the end, where the next list will be.
        while self.len < len {
            self.slots[self.len..self.len + 16].fill(-1);
            self.len += 16;
        }
        self.len = len;
    }
}
