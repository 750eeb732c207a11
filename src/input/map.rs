//! Memory-mapped files: one of the two places with unsafe code.

use bytemuck::Pod;
use memmap2::Mmap;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A run of plain values inside a mapped file; cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Mapped<T> {
    map: Arc<Mmap>,
    bytes: Range<usize>,
    values: PhantomData<T>,
}

impl<T: Pod> Mapped<T> {
    /// The values in this byte range of the map, or `None` where the range is out of bounds, misaligned
    /// or not a whole number of values.
    pub fn new(map: Arc<Mmap>, bytes: Range<usize>) -> Option<Self> {
        let slice = map.get(bytes.clone())?;
        bytemuck::try_cast_slice::<u8, T>(slice).ok()?;
        Some(Self {
            map,
            bytes,
            values: PhantomData,
        })
    }
}

impl<T: Pod> Deref for Mapped<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.map[self.bytes.clone()])
    }
}
