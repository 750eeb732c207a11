//! Bytes from files, pipes and compressed streams.
//!
//! [`Inputs`] is the user's list with directories resolved. An open [`Input`] yields runs of decompressed [`Bytes`] in
//! order. Uncompressed regular files are mapped and arrive as one run; everything else arrives in pieces. zstd files of
//! several frames hand out [`FrameJob`]s, so that any idle thread can decompress the next frame.

mod bytes;
mod compression;
mod frames;
mod map;
mod stream;
mod window;

pub use bytes::Bytes;
pub use compression::Compression;
pub use frames::{FrameDone, FrameJob};
pub(crate) use map::Mapped;
pub(crate) use map::TEMPORARY_FILES;
pub use map::explain_truncated_maps;

use crate::error::Error;
use crate::setters::setters;
use frames::{FrameStep, Frames};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stream::{Counted, Stream, StreamStep};
use window::WindowTooLarge;

/// How inputs are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// Map files into memory where the system supports it; if false, everything is read. Mapped files must not be
    /// changed in place while they are read: results could be anything. A file that becomes shorter ends the run with
    /// an error, or the process with a signal ([`explain_truncated_maps`]).
    pub map: bool,
    /// The largest accepted window of a zstd frame, in bytes: memory that the decoder needs, as specified by the file.
    pub max_window: u64,
}

impl Access {
    /// The default limit of the program `zstd`.
    pub const MAX_WINDOW: u64 = 128 << 20;
}

impl Default for Access {
    fn default() -> Self {
        Self {
            map: true,
            max_window: Self::MAX_WINDOW,
        }
    }
}

setters!(Access {
    map: bool,
    max_window: u64,
});

/// The inputs of a run, in order: files and standard input (`-`).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Inputs {
    /// The inputs.
    pub paths: Vec<Arc<Path>>,
    /// Files of directories that were skipped because their format is not supported.
    pub skipped: Vec<PathBuf>,
    /// Broken entries of directories: symbolic links whose target is missing.
    pub broken: Vec<PathBuf>,
}

impl Inputs {
    /// These files and `-`, as they are.
    pub fn of(paths: Vec<Arc<Path>>) -> Self {
        Self {
            paths,
            ..Self::default()
        }
    }

    /// Resolves the names that the user gave. Files and `-` are kept; a directory is replaced by its files, in name
    /// order, for which `supported` returns true. Hidden files and subdirectories are skipped; broken links are
    /// listed in [`Inputs::broken`].
    ///
    /// # Errors
    /// If a name does not exist or cannot be read, or a directory has no supported file: before any work is done.
    pub fn resolve(
        names: &[PathBuf],
        mut supported: impl FnMut(&Path) -> bool,
    ) -> Result<Self, Error> {
        let mut inputs = Self::default();
        for name in names {
            let path: Arc<Path> = Arc::from(name.as_path());
            let failed = |source| Error::Open {
                path: Arc::clone(&path),
                source,
            };
            if name == Path::new("-") {
                inputs.paths.push(path);
                continue;
            }
            if !fs::metadata(name).map_err(failed)?.is_dir() {
                // A misspelled last name should not be found only after an hour.
                if fs::metadata(name).map_err(failed)?.is_file() {
                    File::open(name).map_err(failed)?;
                }
                inputs.paths.push(path);
                continue;
            }
            let mut files = Vec::new();
            let mut broken = Vec::new();
            for entry in fs::read_dir(name).map_err(failed)? {
                let file = entry.map_err(failed)?.path();
                let hidden = file
                    .file_name()
                    .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
                if hidden {
                    continue;
                }
                match fs::metadata(&file) {
                    Ok(metadata) if metadata.is_file() => files.push(file),
                    Ok(_) => {}
                    // Missing permissions are an error; broken links are only listed.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        return Err(Error::Open {
                            path: Arc::from(file),
                            source: error,
                        });
                    }
                    Err(_) => broken.push(file),
                }
            }
            files.sort();
            broken.sort();
            inputs.broken.append(&mut broken);
            let before = inputs.paths.len();
            for file in files {
                if supported(&file) {
                    inputs.paths.push(Arc::from(file));
                } else {
                    inputs.skipped.push(file);
                }
            }
            if inputs.paths.len() == before {
                return Err(Error::EmptyDirectory { path });
            }
        }
        Ok(inputs)
    }

    /// Total size of all inputs on disk, or `None` if one has no size (a pipe).
    pub fn total_bytes(&self) -> Option<u64> {
        self.paths
            .iter()
            .map(|path| {
                let metadata = fs::metadata(path).ok()?;
                metadata.is_file().then_some(metadata.len())
            })
            .sum()
    }
}

/// An open input.
#[derive(Debug)]
pub struct Input {
    path: Arc<Path>,
    compression: Option<Compression>,
    max_window: u64,
    supply: Supply,
    /// Pieces that were peeked at and are still to be returned.
    ahead: VecDeque<Bytes>,
    /// Decompressed bytes returned so far.
    given: u64,
    /// An error that follows the bytes returned.
    error: Option<io::Error>,
    consumed: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Supply {
    Whole(Option<Bytes>),
    Stream(Stream),
    Frames(Frames),
}

/// The next thing an input offers.
#[derive(Debug)]
pub enum Next {
    /// The next bytes.
    Bytes(Bytes),
    /// A job to run and pass to [`Input::complete`]; more jobs may be available in the meantime.
    Job(FrameJob),
    /// Nothing yet: a job must be completed first, or the data has not arrived.
    Wait,
    /// The end.
    End,
}

impl Input {
    /// Opens an input; `-` is standard input. `consumed` counts the bytes read from it, before decompression.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Arc<Path>, access: Access, consumed: Arc<AtomicU64>) -> Result<Self, Error> {
        let failed = |source| Error::Open {
            path: Arc::clone(path),
            source,
        };
        let (compression, supply) = Self::supply(path, access, &consumed).map_err(failed)?;
        Ok(Self {
            path: Arc::clone(path),
            compression,
            max_window: access.max_window,
            supply,
            ahead: VecDeque::new(),
            given: 0,
            error: None,
            consumed,
        })
    }

    fn supply(
        path: &Path,
        access: Access,
        consumed: &Arc<AtomicU64>,
    ) -> io::Result<(Option<Compression>, Supply)> {
        let mut is_file = false;
        let reader: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if access.map
                && metadata.is_file()
                && let Ok(map) = Mapped::of_file(&file)
            {
                let compression = Compression::detect(&map);
                if compression.is_none() {
                    return Ok((None, Supply::Whole(Some(Bytes::mapped(map)))));
                }
                if compression == Some(Compression::Zstd)
                    && let Some(frames) = Frames::new(&map, access.max_window)
                {
                    return Ok((compression, Supply::Frames(frames)));
                }
            }
            is_file = metadata.is_file();
            Box::new(file)
        };
        let mut reader = Counted {
            inner: reader,
            count: Arc::clone(consumed),
        };
        // A pipe may deliver one byte at a time, so read until the magic number is complete.
        let mut head = [0; 4];
        let mut len = 0;
        while len < head.len() {
            match reader.read(&mut head[len..]) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let head = head[..len].to_vec();
        let compression = Compression::detect(&head);
        let whole = io::Cursor::new(head).chain(reader);
        let reader: Box<dyn Read + Send> = match compression {
            None => Box::new(whole),
            Some(compression) => compression.reader(
                BufReader::with_capacity(256 << 10, whole),
                access.max_window,
            )?,
        };
        let stream = if is_file {
            Stream::here(reader, compression.is_none())
        } else {
            Stream::spawn(reader, compression.is_none())?
        };
        Ok((compression, Supply::Stream(stream)))
    }

    /// The name by which it was opened.
    pub fn path(&self) -> &Arc<Path> {
        &self.path
    }
    /// The container around it.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }
    /// Whether it is one mapped run.
    pub fn is_mapped(&self) -> bool {
        matches!(self.supply, Supply::Whole(_))
    }

    /// The next bytes, a job, or the end.
    ///
    /// # Errors
    /// If reading or decompressing fails; everything before that point has been returned.
    pub fn poll(&mut self) -> Result<Next, Error> {
        if let Some(bytes) = self.ahead.pop_front() {
            self.given += bytes.len() as u64;
            return Ok(Next::Bytes(bytes));
        }
        self.fetch()
    }

    fn fetch(&mut self) -> Result<Next, Error> {
        if let Some(source) = self.error.take() {
            return Err(self.failed(source));
        }
        let bytes = match &mut self.supply {
            Supply::Whole(bytes) => bytes.take(),
            Supply::Stream(stream) => match stream.next() {
                Ok(StreamStep::Piece(bytes)) => Some(bytes),
                Ok(StreamStep::Wait) => return Ok(Next::Wait),
                Ok(StreamStep::End) => None,
                Err(source) => return Err(self.failed(source)),
            },
            Supply::Frames(frames) => match frames.step() {
                FrameStep::Bytes(bytes, error, used) => {
                    self.error = error;
                    self.consumed.fetch_add(used as u64, Ordering::Relaxed);
                    Some(bytes)
                }
                FrameStep::Job(job) => return Ok(Next::Job(job)),
                FrameStep::Wait => return Ok(Next::Wait),
                FrameStep::End => None,
                FrameStep::Stream(rest) => {
                    let counted = Counted {
                        inner: MappedReader { rest, at: 0 },
                        count: Arc::clone(&self.consumed),
                    };
                    let buffered = BufReader::with_capacity(256 << 10, counted);
                    match Compression::Zstd.reader(buffered, self.max_window) {
                        Ok(reader) => self.supply = Supply::Stream(Stream::here(reader, false)),
                        Err(source) => return Err(self.failed(source)),
                    }
                    return self.fetch();
                }
            },
        };
        Ok(match bytes {
            Some(bytes) => {
                self.given += bytes.len() as u64;
                Next::Bytes(bytes)
            }
            None => Next::End,
        })
    }

    fn failed(&mut self, source: io::Error) -> Error {
        self.supply = Supply::Whole(None);
        let path = Arc::clone(&self.path);
        let offset = self.given;
        let too_large = source.get_ref().and_then(|source| source.downcast_ref());
        if let Some(&WindowTooLarge { needed, allowed }) = too_large {
            return Error::Window {
                path,
                offset,
                needed,
                allowed,
            };
        }
        match self.compression {
            Some(compression) => Error::Container {
                path,
                container: compression.name(),
                offset,
                source,
            },
            None => Error::Read {
                path,
                offset,
                source,
            },
        }
    }

    /// Takes back a completed job.
    pub fn complete(&mut self, done: FrameDone) {
        if let Supply::Frames(frames) = &mut self.supply {
            frames.complete(done);
        }
    }

    /// The next bytes; jobs are run immediately. For single-threaded callers.
    ///
    /// # Errors
    /// As [`Input::poll`].
    pub fn next_bytes(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            match self.poll()? {
                Next::Bytes(bytes) => return Ok(Some(bytes)),
                Next::Job(job) => self.complete(job.run()),
                Next::Wait => {}
                Next::End => return Ok(None),
            }
        }
    }

    /// The first bytes, at least `len` of them unless there are fewer, to detect the format. They will be returned
    /// again. The flag is set if there are no more bytes.
    ///
    /// # Errors
    /// As [`Input::poll`], if nothing can be read; later errors are returned after the bytes before them.
    pub fn peek(&mut self, len: usize) -> Result<(Vec<u8>, bool), Error> {
        let mut head = Vec::new();
        let mut pieces = VecDeque::new();
        let mut all = false;
        while head.len() < len {
            match self.next_bytes() {
                Ok(Some(bytes)) => {
                    head.extend_from_slice(&bytes[..bytes.len().min(len - head.len())]);
                    pieces.push_back(bytes);
                }
                Ok(None) => {
                    all = true;
                    break;
                }
                Err(error) if head.is_empty() => return Err(error),
                Err(Error::Container { source, .. } | Error::Read { source, .. }) => {
                    self.error = Some(source);
                    break;
                }
                Err(Error::Window {
                    needed, allowed, ..
                }) => {
                    self.error = Some(io::Error::other(WindowTooLarge { needed, allowed }));
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.given -= pieces.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
        pieces.append(&mut self.ahead);
        self.ahead = pieces;
        Ok((head, all))
    }
}

/// Reads from a mapped file.
#[derive(Debug)]
struct MappedReader {
    rest: Mapped<u8>,
    at: usize,
}

impl Read for MappedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.rest.check()?;
        let read = (&self.rest[self.at..]).read(buffer)?;
        self.rest.slice(self.at..self.at + read).release();
        self.at += read;
        Ok(read)
    }
}
