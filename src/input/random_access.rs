//! Inputs that are read in any order: files with an index at their end.

use super::Bytes;
use super::mmap::cut_to;
use crate::poisoned_locks::Unpoisoned;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Mutex;

/// The bytes of a file, mapped or read on demand.
#[derive(Debug)]
pub struct RandomAccess {
    store: Store,
    len: u64,
    /// Number of them that count as read already.
    counted: u64,
}

#[derive(Debug)]
enum Store {
    Whole(Bytes),
    File(Mutex<File>),
}

impl RandomAccess {
    /// Bytes in memory.
    pub fn of(bytes: Bytes) -> Self {
        Self { len: bytes.len() as u64, store: Store::Whole(bytes), counted: 0 }
    }

    pub(super) fn of_file(file: File, len: u64, counted: u64) -> Self {
        Self { store: Store::File(Mutex::new(file)), len, counted }
    }

    pub(super) fn counted_already(mut self) -> Self {
        self.counted = self.len;
        self
    }

    /// Number of bytes.
    #[allow(clippy::len_without_is_empty, reason = "an empty file is like any other")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether all bytes are in memory or mapped, so that parts of them need no copy.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.store, Store::Whole(_))
    }

    /// Number of the bytes that count as read already.
    pub(crate) fn counted(&self) -> u64 {
        self.counted
    }

    /// Checks that the file has not become shorter. If it has, bytes that were read from a map may be zeros that were
    /// never in the file.
    ///
    /// # Errors
    /// If the file has become shorter, or its length cannot be read.
    pub fn check(&self) -> io::Result<()> {
        match &self.store {
            Store::Whole(bytes) => bytes.check(),
            Store::File(file) => {
                let file = file.lock().unpoisoned();
                match file.metadata()?.len() {
                    len if len < self.len => Err(cut_to(len)),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Some of the bytes.
    ///
    /// # Errors
    /// If there are no such bytes, or they cannot be read.
    pub fn bytes(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.start > range.end || range.end > self.len {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!(
                    "bytes {} to {} are beyond the end of the file, which has {} bytes",
                    range.start, range.end, self.len
                ),
            ));
        }
        match &self.store {
            Store::Whole(bytes) => Ok(bytes.slice(range.start as usize..range.end as usize)),
            Store::File(file) => {
                let mut file = file.lock().unpoisoned();
                let mut bytes = vec![0; (range.end - range.start) as usize];
                file.seek(SeekFrom::Start(range.start))?;
                file.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}
