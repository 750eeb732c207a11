//! Bytes from files, pipes and compressed streams.
//!
//! [`Inputs`] is the user's list of [sources](Source) with directories resolved; a zip archive is replaced by its
//! files, each of which is a source. An open [`Input`] yields runs of decompressed [`Bytes`] in order. Uncompressed
//! regular files are mapped and arrive as one run; everything else arrives in pieces. zstd files with several frames
//! hand out frames, so that any idle thread can decompress the next one.

mod bytes;
mod compression;
#[cfg(any(feature = "cli", feature = "cluster"))]
mod file_fingerprint;
mod inputs;
mod mmap;
mod random_access;
mod read_ahead;
mod shard;
mod source;
mod zip;
mod zstd_frames;
mod zstd_window;

pub use bytes::Bytes;
pub use compression::Compression;
#[cfg(any(feature = "cli", feature = "cluster"))]
pub use file_fingerprint::{FileDifference, FileFingerprint};
pub use inputs::Inputs;
pub(crate) use mmap::Mapped;
pub(crate) use mmap::TEMPORARY_FILES;
pub use mmap::{clean_up_after_aborts, explain_truncated_maps};
pub use random_access::RandomAccess;
pub use shard::Shard;
#[cfg(feature = "sql")]
pub(crate) use source::Identity;
pub use source::Source;
pub(crate) use zip::{is_archive, is_archive_name};
pub(crate) use zstd_frames::{FrameDone, FrameJob};

use crate::error::Error;
use crate::option_setters::setters;
use read_ahead::{Counted, Stream, StreamStep, Uncut};
use source::Place;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zip::{OpenMember, Slices, Stored};
use zstd_frames::{FrameStarts, FrameStep, Frames};
use zstd_window::WindowTooLarge;

/// Options for opening inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Access {
    /// Map files into memory if the system supports it; if false, everything is read. Mapped files must not be changed
    /// in place while they are read: results could be anything. A file that becomes shorter ends the run with an error,
    /// or the process with a signal ([`explain_truncated_maps`]). Data appended to a file after it was opened are not
    /// read.
    pub map: bool,
    /// The largest accepted window of a zstd frame, in bytes: memory that the decoder needs, as specified by the file.
    pub max_window: u64,
    /// Whether text tables may have any columns: then such a file is recognized without a column of positions.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) any_columns: bool,
}

impl Access {
    /// The default limit of the program `zstd`.
    pub const MAX_WINDOW: u64 = 128 << 20;
}

impl Default for Access {
    fn default() -> Self {
        Self { map: true, max_window: Self::MAX_WINDOW, any_columns: false }
    }
}

setters!(Access { map: bool, max_window: u64 });

/// An open input.
#[derive(Debug)]
pub struct Input {
    path: Arc<Path>,
    compression: Option<Compression>,
    max_window: u64,
    /// A regular file, which can be read from any place.
    file: Option<RegularFile>,
    /// Bytes in memory, if they are not compressed.
    memory: Option<Bytes>,
    /// A stored file of a mapped zip archive, if its content is not compressed.
    stored: Option<Stored>,
    /// Whether it is a file of a zip archive.
    is_member: bool,
    supply: Supply,
    /// The place in the file where the next source begins.
    next_supply: Option<u64>,
    /// Offset at which the first of two sources ended.
    first_end: Option<u64>,
    /// Pieces that were peeked at and have not been returned yet.
    ahead: VecDeque<Bytes>,
    /// Decompressed bytes returned so far.
    given: u64,
    /// An error that follows the bytes returned.
    error: Option<io::Error>,
    consumed: Arc<AtomicU64>,
}

/// A file that can be read from any place.
#[derive(Debug)]
struct RegularFile {
    file: File,
    len: u64,
    /// The end of the part that is read.
    end: u64,
    /// The map; `None` if the file is read instead.
    map: Option<Mapped<u8>>,
}

/// The end of the part of a file that is read: the length at the time of opening, even if the file grows. Some systems
/// have files that are longer than they report; such files report a length of 0.
fn end_of(metadata: &fs::Metadata) -> u64 {
    match metadata.len() {
        len if metadata.is_file() && len > 0 => len,
        _ => u64::MAX,
    }
}

/// The division of an input into shards, and the bytes that it returns from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// By offset: the input continues at `start`; the shard has the records from `from` to `to`, or to the end.
    Places { start: u64, from: u64, to: Option<u64> },
    /// By frames: the input continues with the content of the frame at this place of the file, and with all frames
    /// after it; [`Input::first_end`] reports where those of the shard end. `before`: the last bytes before that frame, if
    /// they were asked for.
    Frames { start: u64, is_first: bool, before: Vec<u8> },
    /// The shard has no part of the input.
    Nothing,
    /// The input can only be read from its beginning, and is still there.
    Turns,
}

#[derive(Debug)]
enum Supply {
    Whole(Option<Bytes>),
    Stored(Slices),
    Stream(Stream),
    Frames(Frames),
}

/// The next item of an input.
#[derive(Debug)]
pub(crate) enum Next {
    /// The next bytes.
    Bytes(Bytes),
    /// A job to run and pass to [`Input::complete`]; more jobs may be available in the meantime.
    Job(FrameJob),
    /// Nothing yet: a job must be completed first, or the data have not arrived.
    Wait,
    /// The end.
    End,
}

impl Input {
    /// Opens an input. `consumed` counts the bytes read from it, before decompression.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(source: &Source, access: Access, consumed: Arc<AtomicU64>) -> Result<Self, Error> {
        let path = Arc::clone(source.name());
        let mut stored = None;
        let supply = match source.place() {
            Place::File => Self::supply(source, access, &consumed),
            Place::Memory(bytes) => Self::supply_of_bytes(bytes, access, &consumed),
            Place::Member(member) => match member.open(access.map, &consumed) {
                Ok(OpenMember::Stored(found)) => Ok((None, Supply::Stored(stored.insert(found).slices()), None)),
                Ok(OpenMember::Read(reader)) => {
                    let found = Compression::find(reader, access.max_window);
                    found.map(|(compression, reader)| (compression, Supply::Stream(Stream::here(reader, false)), None))
                }
                Err(error) => Err(error),
            },
        };
        let (compression, supply, file) = supply.map_err(|source| Error::Open { path: Arc::clone(&path), source })?;
        Ok(Self {
            path,
            compression,
            max_window: access.max_window,
            file,
            memory: match source.place() {
                Place::Memory(bytes) if compression.is_none() => Some(bytes.clone()),
                _ => None,
            },
            stored,
            is_member: source.is_member(),
            supply,
            next_supply: None,
            first_end: None,
            ahead: VecDeque::new(),
            given: 0,
            error: None,
            consumed,
        })
    }

    fn supply(
        source: &Source,
        access: Access,
        consumed: &Arc<AtomicU64>,
    ) -> io::Result<(Option<Compression>, Supply, Option<RegularFile>)> {
        let mut regular = None;
        let reader: Box<dyn Read + Send> = if source.is_stdin() {
            Box::new(io::stdin())
        } else {
            let reader = File::open(source.name())?;
            let metadata = reader.metadata()?;
            if metadata.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if metadata.is_file() {
                source.recognize(&metadata)?;
                let map = access.map.then(|| Mapped::of_file(&reader).ok()).flatten();
                let mut file = RegularFile {
                    file: reader.try_clone()?,
                    len: map.as_ref().map_or(metadata.len(), |map| map.len() as u64),
                    end: end_of(&metadata),
                    map: None,
                };
                if let Some(map) = map {
                    let compression = Compression::detect(&map);
                    file.map = Some(map.clone());
                    if compression.is_none() {
                        let whole = Supply::Whole(Some(Bytes::mapped(map)));
                        return Ok((None, whole, Some(file)));
                    }
                    if compression == Some(Compression::Zstd)
                        && let Some(frames) = Frames::new(&map, access.max_window)
                    {
                        return Ok((compression, Supply::Frames(frames), Some(file)));
                    }
                    file.map = None;
                }
                let len = file.len;
                regular = Some(file);
                Box::new(Uncut { file: reader, len }.take(end_of(&metadata)))
            } else {
                Box::new(reader)
            }
        };
        let reader = Counted { inner: reader, count: Arc::clone(consumed) };
        let (compression, reader) = Compression::find(reader, access.max_window)?;
        let stream = if regular.is_some() {
            Stream::here(reader, compression.is_none())
        } else {
            Stream::spawn(reader, compression.is_none())?
        };
        Ok((compression, Supply::Stream(stream), regular))
    }

    /// Opens bytes in memory, which are one run unless they are compressed.
    fn supply_of_bytes(
        bytes: &Bytes,
        access: Access,
        consumed: &Arc<AtomicU64>,
    ) -> io::Result<(Option<Compression>, Supply, Option<RegularFile>)> {
        if Compression::detect(bytes).is_none() {
            return Ok((None, Supply::Whole(Some(bytes.clone())), None));
        }
        let reader = Counted { inner: io::Cursor::new(bytes.clone()), count: Arc::clone(consumed) };
        let (compression, reader) = Compression::find(reader, access.max_window)?;
        Ok((compression, Supply::Stream(Stream::here(reader, false)), None))
    }

    /// Starts a thread that decompresses a file of a zip archive, some pieces ahead of the requests.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(crate) fn read_ahead(&mut self) -> Result<(), Error> {
        let supply = std::mem::replace(&mut self.supply, Supply::Whole(None));
        self.supply = match supply {
            Supply::Stream(stream) if self.is_member => {
                let stream = stream.onto_thread();
                Supply::Stream(stream.map_err(|source| Error::Open { path: Arc::clone(&self.path), source })?)
            }
            other => other,
        };
        Ok(())
    }

    /// The length of an uncompressed regular file.
    pub(crate) fn plain_len(&self) -> Option<u64> {
        let file = self.file.as_ref().filter(|_| self.compression.is_none());
        file.map(|file| file.len)
    }

    /// Whether it is a zstd file of at least two frames that fit in memory: a shard begins with one of them.
    ///
    /// # Errors
    /// If the file cannot be read.
    #[cfg(feature = "cluster")]
    pub(crate) fn has_frames(&mut self) -> Result<bool, Error> {
        let Some(half) = Shard::new(0, 2) else {
            return Ok(false);
        };
        Ok(self.divide(half, 0, 0)? != Division::Turns)
    }

    /// Continues at the bytes of a shard if the input can be read from there, or `reach` or `before` bytes before them
    /// (fewer at the beginning). Peeked bytes are dropped. If the input is divided by frames, the division has as many
    /// bytes as `before` from those before the shard.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn divide(&mut self, shard: Shard, reach: usize, before: usize) -> Result<Division, Error> {
        let divided = match (&self.file, self.compression) {
            (Some(file), None) => {
                let range = shard.range(file.len);
                let start = range.start.saturating_sub(reach.max(before) as u64);
                let division =
                    Division::Places { start, from: range.start, to: (!shard.is_last()).then_some(range.end) };
                let supply = self.plain_supply(file, start..u64::MAX);
                supply.map(|supply| (division, supply, start, None))
            }
            (Some(file), Some(Compression::Zstd)) => self.divide_frames(file, shard, before),
            _ => return Ok(Division::Turns),
        };
        let (division, supply, given, next_supply) =
            divided.map_err(|source| Error::Read { path: Arc::clone(&self.path), offset: 0, source })?;
        if division != Division::Turns {
            self.supply = supply;
            self.next_supply = next_supply;
            self.ahead.clear();
            self.error = None;
            self.given = given;
        }
        Ok(division)
    }

    /// Divides inputs for which the offset in the content must be known: uncompressed files.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn divide_plain(&mut self, shard: Shard, reach: usize) -> Result<Division, Error> {
        match self.compression {
            None => self.divide(shard, reach, 0),
            Some(_) => Ok(Division::Turns),
        }
    }

    /// Reads some bytes of an uncompressed regular file.
    ///
    /// # Errors
    /// If they cannot be read, or the input is something else.
    pub(crate) fn read_at(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let Some(file) = self.file.as_ref().filter(|_| self.compression.is_none()) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        if range.start > range.end || range.end > file.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(map) = &file.map {
            let bytes = Bytes::mapped(map.slice(range.start as usize..range.end as usize));
            // Reading beyond the end of a truncated file raises a signal, or returns zeros.
            bytes.check()?;
            let copy = bytes.to_vec();
            bytes.check()?;
            return Ok(copy);
        }
        // The file may be a stream that has been peeked at, and shares this position.
        let mut handle = &file.file;
        let position = handle.stream_position()?;
        handle.seek(SeekFrom::Start(range.start))?;
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let read = handle.read_exact(&mut bytes);
        handle.seek(SeekFrom::Start(position))?;
        read.map(|()| bytes)
    }

    /// Continues with these bytes of an uncompressed regular file, and ends with them. Peeked bytes are dropped.
    ///
    /// # Errors
    /// If they cannot be read, or the input is something else.
    pub(crate) fn enter(&mut self, range: Range<u64>) -> io::Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| self.compression.is_none()) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        self.supply = self.plain_supply(file, range.clone())?;
        self.next_supply = None;
        self.ahead.clear();
        self.error = None;
        self.given = range.start;
        Ok(())
    }

    /// The existing part of these bytes of an uncompressed file.
    fn plain_supply(&self, file: &RegularFile, range: Range<u64>) -> io::Result<Supply> {
        if let Some(map) = &file.map {
            let end = range.end.min(map.len() as u64);
            let bytes = map.slice(range.start as usize..end as usize);
            return Ok(Supply::Whole(Some(Bytes::mapped(bytes))));
        }
        let mut inner = file.file.try_clone()?;
        inner.seek(SeekFrom::Start(range.start))?;
        let count = Arc::clone(&self.consumed);
        let len = file.len;
        let end = range.end.min(file.end);
        let inner = Uncut { file: inner, len }.take(end.saturating_sub(range.start));
        let counted = Counted { inner, count };
        Ok(Supply::Stream(Stream::here(Box::new(counted), true)))
    }

    /// The content of the frames between two places of a zstd file.
    fn frames_supply(&self, file: &RegularFile, range: Range<u64>) -> io::Result<Supply> {
        if let Some(map) = &file.map {
            let frames = map.slice(range.start as usize..range.end as usize);
            return Ok(Supply::Frames(Frames::of(frames, self.max_window)));
        }
        let mut inner = file.file.try_clone()?;
        inner.seek(SeekFrom::Start(range.start))?;
        let len = file.len;
        let counted = Counted {
            inner: Uncut { file: inner, len }.take(range.end - range.start),
            count: Arc::clone(&self.consumed),
        };
        let buffered = BufReader::with_capacity(256 << 10, counted);
        let reader = Compression::Zstd.reader(buffered, self.max_window)?;
        Ok(Supply::Stream(Stream::here(reader, false)))
    }

    /// The last bytes, at most this number, of the content of some frames; fewer if they are damaged.
    fn end_of_frames(&self, file: &RegularFile, frames: Range<u64>, most: usize) -> io::Result<Vec<u8>> {
        let mut handle = file.file.try_clone()?;
        handle.seek(SeekFrom::Start(frames.start))?;
        let compressed = BufReader::with_capacity(256 << 10, handle.take(frames.end - frames.start));
        let mut reader = Compression::Zstd.reader(compressed, self.max_window)?;
        let mut bytes = Vec::new();
        let mut piece = vec![0; 64 << 10];
        // The shard before reports damage.
        while let Ok(len @ 1..) = reader.read(&mut piece) {
            bytes.drain(..(bytes.len() + len).saturating_sub(most).min(bytes.len()));
            bytes.extend_from_slice(&piece[..len]);
        }
        Ok(bytes.split_off(bytes.len().saturating_sub(most)))
    }

    /// Divides a zstd file, if it has at least two frames that fit in memory. A shard has the frames that begin in its
    /// part of the file.
    fn divide_frames(
        &self,
        file: &RegularFile,
        shard: Shard,
        before: usize,
    ) -> io::Result<(Division, Supply, u64, Option<u64>)> {
        let nothing = |division| Ok((division, Supply::Whole(None), 0, None));
        // The file may be a stream that has been peeked at, and shares this position.
        let mut handle = &file.file;
        let position = handle.stream_position()?;
        let mut starts = FrameStarts::new(&file.file, file.len);
        let (Some(first), Some(second)) = (starts.next()?, starts.next()?) else {
            handle.seek(SeekFrom::Start(position))?;
            return nothing(Division::Turns);
        };
        let range = shard.range(file.len);
        let mut place = Some(first);
        let mut next = Some(second);
        // The last frames before the place that is looked for.
        let mut passed = VecDeque::new();
        let mut find = |from: u64, passed: &mut VecDeque<u64>| -> io::Result<Option<u64>> {
            while let Some(at) = place
                && at < from
            {
                passed.push_back(at);
                // A frame is rarely larger than its content.
                while passed.get(1).is_some_and(|&second| at - second >= before as u64) {
                    passed.pop_front();
                }
                place = next.take();
                next = starts.next()?;
            }
            Ok(place)
        };
        let Some(start) = find(range.start, &mut passed)? else {
            return nothing(Division::Nothing);
        };
        let end = if shard.is_last() { None } else { find(range.end, &mut VecDeque::new())? };
        if end == Some(start) {
            return nothing(Division::Nothing);
        }
        let before = match passed.front() {
            Some(&from) if before > 0 => self.end_of_frames(file, from..start, before)?,
            _ => Vec::new(),
        };
        let division = Division::Frames { start, is_first: start == first, before };
        let supply = self.frames_supply(file, start..end.unwrap_or(file.len))?;
        Ok((division, supply, 0, end))
    }

    /// After a division by frames: the number of bytes returned up to the end of the shard's own frames.
    pub(crate) fn first_end(&self) -> Option<u64> {
        self.first_end
    }

    /// The input as a file that can be read at any place; the content of a pipe is first written to a temporary file.
    /// `what` is the format, for the message.
    ///
    /// # Errors
    /// If it is compressed as a whole, or cannot be read or written to a temporary file.
    pub fn into_random_access(mut self, what: &str) -> Result<RandomAccess, Error> {
        if let Some(compression) = self.compression {
            let article = if what.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
            return Err(Error::UnknownFormat {
                path: self.path,
                reason: format!(
                    "is {article} {what} file compressed as a whole ({}): decompress it first; such files have \
                     compression of their own",
                    compression.name()
                ),
            });
        }
        if let Some(file) = self.file.take() {
            if let Some(map) = file.map {
                return Ok(RandomAccess::of(Bytes::mapped(map)));
            }
            // Peeked bytes are read again.
            let peeked: u64 = self.ahead.iter().map(|bytes| bytes.len() as u64).sum();
            return Ok(RandomAccess::of_file(file.file, file.len, peeked));
        }
        if let Some(bytes) = self.memory.take() {
            return Ok(RandomAccess::of(bytes));
        }
        if let Some(stored) = self.stored.take() {
            stored.check().map_err(|source| self.failed(source))?;
            return Ok(RandomAccess::of(stored.bytes));
        }
        let failed =
            |source| Error::Temporary { directory: Arc::from(std::env::temp_dir()), written: 0, needed: None, source };
        let mut file = tempfile::tempfile().map_err(failed)?;
        let mut len = 0;
        while let Some(bytes) = self.next_bytes()? {
            io::Write::write_all(&mut file, &bytes).map_err(|source| Error::Temporary {
                directory: Arc::from(std::env::temp_dir()),
                written: len,
                needed: None,
                source,
            })?;
            len += bytes.len() as u64;
        }
        let map = Mapped::of_file(&file).ok();
        Ok(match map {
            Some(map) => RandomAccess::of(Bytes::mapped(map)).counted_already(),
            None => RandomAccess::of_file(file, len, len),
        })
    }

    /// All bytes of a mapped file or member, including those already returned.
    pub(crate) fn mapped(&self) -> Option<Bytes> {
        if let Some(stored) = &self.stored {
            return Some(stored.bytes.clone());
        }
        let map = self.file.as_ref()?.map.clone();
        map.map(Bytes::mapped)
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
    pub(crate) fn poll(&mut self) -> Result<Next, Error> {
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
            Supply::Stored(slices) => match slices.next() {
                Ok(bytes) => {
                    let len = bytes.as_ref().map_or(0, |bytes| bytes.len());
                    self.consumed.fetch_add(len as u64, Ordering::Relaxed);
                    bytes
                }
                Err(source) => return Err(self.failed(source)),
            },
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
                    let counted = Counted { inner: MappedReader { rest, at: 0 }, count: Arc::clone(&self.consumed) };
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
            None => match (self.next_supply.take(), &self.file) {
                (Some(start), Some(file)) => {
                    let supply = self.frames_supply(file, start..file.len);
                    self.first_end = Some(self.given);
                    match supply {
                        Ok(supply) => self.supply = supply,
                        Err(source) => return Err(self.failed(source)),
                    }
                    return self.fetch();
                }
                _ => Next::End,
            },
        })
    }

    fn failed(&mut self, source: io::Error) -> Error {
        self.supply = Supply::Whole(None);
        let path = Arc::clone(&self.path);
        let offset = self.given;
        let too_large = source.get_ref().and_then(|source| source.downcast_ref());
        if let Some(&WindowTooLarge { needed, allowed }) = too_large {
            return Error::Window { path, offset, needed, allowed };
        }
        match self.compression {
            Some(compression) => Error::Container { path, container: compression.name(), offset, source },
            None if self.is_member => Error::Container { path, container: zip::NAME, offset, source },
            None => Error::Read { path, offset, source },
        }
    }

    /// Takes back a completed job.
    pub(crate) fn complete(&mut self, done: FrameDone) {
        if let Supply::Frames(frames) = &mut self.supply {
            frames.complete(done);
        }
    }

    /// The next bytes; jobs are run immediately. For single-threaded callers.
    ///
    /// # Errors
    /// If the input cannot be read, or is damaged.
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
    /// As for [`Self::next_bytes`], if nothing can be read; later errors are returned after the bytes before them.
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
                Err(Error::Window { needed, allowed, .. }) => {
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
        self.rest.check()?;
        self.rest.slice(self.at..self.at + read).release();
        self.at += read;
        Ok(read)
    }
}
