//! A run of input bytes, mapped or read, that many owners can share and cut.

use super::Mapped;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes of an input: a part of a mapped file or of a buffer. Cloning and slicing copy nothing.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// In a mapped file.
    Mapped(Mapped<u8>),
    /// In memory.
    Read(Arc<Vec<u8>>, Range<usize>),
}

impl Bytes {
    /// A part of it.
    ///
    /// # Panics
    /// When the range is out of bounds.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Mapped(mapped) => Self::Mapped(mapped.slice(range)),
            Self::Read(bytes, whole) => {
                assert!(range.start <= range.end && range.end <= whole.len());
                let range = whole.start + range.start..whole.start + range.end;
                Self::Read(Arc::clone(bytes), range)
            }
        }
    }

    /// Says that they are not needed any more: where they are mapped, so many bytes of a large file would
    /// otherwise count as memory of this process until its end.
    pub fn release(&self) {
        if let Self::Mapped(mapped) = self {
            mapped.release();
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self::Read(Arc::new(bytes), range)
    }
}

impl Deref for Bytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(mapped) => mapped,
            Self::Read(bytes, range) => &bytes[range.clone()],
        }
    }
}
