//! A pool of buffers for the numbers of lists: those of a block that has been dropped are used for another one.
//!
//! A block of rows with lists is several megabytes. An allocator gives so much back to the system when it is freed,
//! and the next block costs a page fault for every 4 KiB: a third of the time of a scan of inputs of networks.

use crate::poisoned_locks::Unpoisoned;
use arrow_buffer::{Buffer, ScalarBuffer};
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

/// Buffers that are kept; those of blocks which are dropped together may be more. A chunk of a binpack has thirty
/// blocks, all of which are made before the first one is handed on.
const MOST_KEPT: usize = 64;

/// Buffers of blocks that are no longer used.
#[derive(Default)]
pub(super) struct ListBufferPool(Mutex<Vec<Vec<i32>>>);

impl fmt::Debug for ListBufferPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListBufferPool")
    }
}

impl ListBufferPool {
    /// A buffer, which may have any numbers in it.
    pub(super) fn take(&self) -> Vec<i32> {
        self.0.lock().unpoisoned().pop().unwrap_or_default()
    }
    fn give(&self, numbers: Vec<i32>) {
        let mut kept = self.0.lock().unpoisoned();
        if kept.len() < MOST_KEPT {
            kept.push(numbers);
        }
    }
    /// Numbers for an Arrow array; their memory comes back when nothing refers to it any longer.
    pub(super) fn lend(self: &Arc<Self>, numbers: Vec<i32>) -> ScalarBuffer<i32> {
        let len = numbers.len();
        let bytes = bytes::Bytes::from_owner(Lent { numbers, memory: Arc::downgrade(self) });
        ScalarBuffer::new(Buffer::from(bytes), 0, len)
    }
}

/// Numbers that an Arrow array refers to.
struct Lent {
    numbers: Vec<i32>,
    memory: Weak<ListBufferPool>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.numbers)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Without a run, nobody needs it.
        if let Some(memory) = self.memory.upgrade() {
            memory.give(std::mem::take(&mut self.numbers));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_when_the_last_reference_is_dropped() {
        let memory = Arc::new(ListBufferPool::default());
        let numbers = memory.lend(vec![1, 2, 3]);
        let slice = numbers.slice(1, 2);
        drop(numbers);
        assert_eq!(slice[..], [2, 3]);
        assert!(memory.take().is_empty());
        drop(slice);
        assert_eq!(memory.take(), [1, 2, 3]);
        let kept = memory.lend(vec![4]);
        drop(memory);
        assert_eq!(kept[..], [4]);
    }
}
