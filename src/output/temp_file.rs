//! Temporary files without a name, for data that do not fit in memory. All threads write and read them at the same
//! time.
//!
//! The system removes the files, however the process ends.

use crate::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory for large sorts, and the directory for temporary files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScratchSpace {
    /// Approximate number of bytes of memory.
    pub memory: u64,
    /// The directory for temporary files; by default that of the system.
    pub directory: PathBuf,
}

impl Default for ScratchSpace {
    fn default() -> Self {
        Self { memory: 1 << 30, directory: std::env::temp_dir() }
    }
}

crate::option_setters::setters!(ScratchSpace { memory: u64, directory: PathBuf });

/// A temporary file.
#[derive(Debug)]
pub(crate) struct Spill {
    directory: PathBuf,
    file: File,
    /// The place for the next bytes.
    end: AtomicU64,
    /// Number of bytes that were written successfully.
    written: AtomicU64,
    /// A lock, for systems on which a file has a single position for reading and writing.
    #[cfg(not(unix))]
    place: std::sync::Mutex<()>,
}

impl Spill {
    /// An empty file in a directory.
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            file: tempfile::tempfile_in(directory)?,
            end: AtomicU64::new(0),
            written: AtomicU64::new(0),
            #[cfg(not(unix))]
            place: std::sync::Mutex::new(()),
        })
    }

    /// Creates the file in advance, before any work that needs it.
    ///
    /// # Errors
    /// If no file can be created there.
    pub(crate) fn begin(directory: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Temporary { directory: directory.into(), written: 0, needed: None, source };
        Self::new(directory).map_err(failed)
    }

    /// Number of bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Makes an error of a failure of the file.
    pub(crate) fn failed(&self, source: io::Error) -> Error {
        let written = self.written();
        Error::Temporary { directory: self.directory.as_path().into(), written, needed: None, source }
    }

    /// Adds bytes, and returns their place.
    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<Range<u64>> {
        let len = bytes.len() as u64;
        let start = self.end.fetch_add(len, Ordering::Relaxed);
        self.write_at(bytes, start)?;
        self.written.fetch_add(len, Ordering::Relaxed);
        Ok(start..start + len)
    }

    /// A part of the file.
    pub(crate) fn section(&self, rest: Range<u64>) -> Section<'_> {
        Section { spill: self, rest }
    }

    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, at)
    }

    #[cfg(unix)]
    fn read_at(&self, to: &mut [u8], at: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, to, at)
    }

    #[cfg(not(unix))]
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        use crate::poisoned_locks::Unpoisoned;
        use io::{Seek, SeekFrom, Write};
        let _guard = self.place.lock().unpoisoned();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    #[cfg(not(unix))]
    fn read_at(&self, to: &mut [u8], at: u64) -> io::Result<usize> {
        use crate::poisoned_locks::Unpoisoned;
        use io::{Seek, SeekFrom};
        let _guard = self.place.lock().unpoisoned();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.read(to)
    }
}

/// A part of a temporary file that is being read.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    spill: &'a Spill,
    rest: Range<u64>,
}

impl Read for Section<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = (self.rest.end - self.rest.start).min(to.len() as u64) as usize;
        let read = self.spill.read_at(&mut to[..len], self.rest.start)?;
        self.rest.start += read as u64;
        Ok(read)
    }
}
