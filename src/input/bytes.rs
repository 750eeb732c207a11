//! A run of input bytes, mapped or read, that can be shared and sliced.

use super::Mapped;
use bytemuck::Pod;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes of an input: a part of a mapped file or of a buffer. Cloning and slicing copy nothing.
#[derive(Clone, Debug)]
pub struct Bytes(Store);

#[derive(Clone, Debug)]
enum Store {
    Mapped(Mapped<u8>),
    Read(Arc<Vec<u8>>, Range<usize>),
}

impl Bytes {
    /// Bytes of a mapped file.
    pub(super) fn mapped(mapped: Mapped<u8>) -> Self {
        Self(Store::Mapped(mapped))
    }

    /// A part of the bytes.
    ///
    /// # Panics
    /// If the range is out of bounds.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self(match &self.0 {
            Store::Mapped(mapped) => Store::Mapped(mapped.slice(range)),
            Store::Read(bytes, whole) => {
                assert!(range.start <= range.end && range.end <= whole.len());
                let range = whole.start + range.start..whole.start + range.end;
                Store::Read(Arc::clone(bytes), range)
            }
        })
    }

    /// The same bytes as values of a mapped file, or `None` if they are not mapped, misaligned or not a
    /// whole number of values.
    pub(crate) fn in_place<T: Pod>(&self) -> Option<Mapped<T>> {
        match &self.0 {
            Store::Mapped(mapped) => mapped.cast(),
            Store::Read(..) => None,
        }
    }

    /// Checks that a mapped file still contains these bytes. If it does not, reads may have returned zeros that were
    /// never in the file.
    ///
    /// # Errors
    /// If the file has become shorter, or its length cannot be read.
    pub fn check(&self) -> io::Result<()> {
        match &self.0 {
            Store::Mapped(mapped) => mapped.check(),
            Store::Read(..) => Ok(()),
        }
    }

    /// Declares that the bytes are needed beyond their next [release](Self::release); another one has to follow.
    pub(crate) fn retain(&self) {
        if let Store::Mapped(mapped) = &self.0 {
            mapped.retain();
        }
    }

    /// Declares that the bytes are no longer needed. Otherwise the mapped pages of a large file would count as memory
    /// of this process until it ends.
    pub fn release(&self) {
        if let Store::Mapped(mapped) = &self.0 {
            mapped.release();
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self(Store::Read(Arc::new(bytes), range))
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Deref for Bytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Store::Mapped(mapped) => mapped,
            Store::Read(bytes, range) => &bytes[range.clone()],
        }
    }
}
