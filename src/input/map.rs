//! Memory-mapped files: one of the two places with unsafe code.
//!
//! A mapped file is read without copying, and a run of groups in it is used as it lies. The price is a
//! contract that the language cannot check: **nobody may change the file while it is mapped**. If another
//! process truncates it, touching the lost pages ends the program with a signal (`SIGBUS`); if another
//! process writes to it, results are those of some mixture of old and new bytes. Both are what every
//! program with mapped inputs accepts, and no data structure here can be broken by it: only plain numbers
//! are read from a map, and every length taken from one is checked where it is used.
#![allow(
    unsafe_code,
    reason = "mapping a file is unsafe by nature; see the module's contract"
)]

use bytemuck::Pod;
#[cfg(unix)]
use memmap2::UncheckedAdvice;
use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io;
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

impl Mapped<u8> {
    /// Maps a whole file.
    ///
    /// # Errors
    /// When the system cannot map it: empty files, pipes, most files of `/proc`, some network file systems.
    /// Such files can still be read.
    pub fn of_file(file: &File) -> io::Result<Self> {
        // SAFETY: the map is read-only and private to this value and its clones, which give out shared
        // slices of plain bytes only. That nobody changes the file meanwhile is the contract stated above.
        let map = unsafe { Mmap::map(file)? };
        if map.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Only advice: without it the kernel reads ahead less, nothing else changes.
        let _ = map.advise(Advice::Sequential);
        Ok(Self {
            bytes: 0..map.len(),
            map: Arc::new(map),
            values: PhantomData,
        })
    }
    /// A part of it.
    ///
    /// # Panics
    /// When the range is out of bounds.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.bytes.len());
        Self {
            map: Arc::clone(&self.map),
            bytes: self.bytes.start + range.start..self.bytes.start + range.end,
            values: PhantomData,
        }
    }
    /// Gives the memory of these bytes back to the system. They can still be read, and are then fetched
    /// from the file once more.
    pub fn release(&self) {
        #[cfg(unix)]
        // SAFETY: the map is that of a file and never written to: pages come back with what they held.
        let _ = unsafe {
            self.map.unchecked_advise_range(
                UncheckedAdvice::DontNeed,
                self.bytes.start,
                self.bytes.len(),
            )
        };
    }
    /// The same bytes as values, or `None` where they are misaligned or not a whole number of values.
    pub fn cast<T: Pod>(&self) -> Option<Mapped<T>> {
        Mapped::new(Arc::clone(&self.map), self.bytes.clone())
    }
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
