//! A file that is being written, compressed if its name says so.

use crate::error::Error;
use crate::input::Compression;
use crate::output::AtomicFile;
use crate::output::compress::{Compressed, default_level};
use std::io::{self, Write};
use std::path::Path;

/// A file, compressed or not.
pub(crate) enum OutputFile {
    Plain(AtomicFile),
    Compressed(Box<Compressed<AtomicFile>>),
}

impl OutputFile {
    /// Begins a file, which replaces another one only with `force`. Its bytes are compressed on this number of threads.
    pub(crate) fn create(path: &Path, force: bool, level: Option<i32>, threads: usize) -> Result<Self, Error> {
        let file = AtomicFile::create(path, force)?;
        let Some(compression) = compression_of(path) else {
            return Ok(Self::Plain(file));
        };
        let level = level.unwrap_or(default_level(compression));
        let out = Compressed::new(file, compression, level, threads)?;
        Ok(Self::Compressed(Box::new(out)))
    }

    /// Ends the file, whose first bytes may be replaced.
    pub(crate) fn finish(self, start: Option<&[u8]>) -> io::Result<AtomicFile> {
        match self {
            Self::Plain(mut file) => {
                if let Some(start) = start {
                    file.rewrite_start(start)?;
                }
                Ok(file)
            }
            // Compressed files keep their first bytes.
            Self::Compressed(out) => out.finish(),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Compressed(out) => out.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Compressed(out) => out.flush(),
        }
    }
}

/// The compression that the name of a file implies.
pub(crate) fn compression_of(path: &Path) -> Option<Compression> {
    Compression::of_extension(path.extension()?.to_str()?)
}
