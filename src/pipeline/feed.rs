//! The feed: all inputs in order, cut into chunks that can be decoded independently.
//!
//! One worker at a time locks the feed and takes the next piece of work, so cutting has to be quick and examines few
//! bytes. A record that is too long, a *giant*, is skipped without keeping it in memory; only its first bytes are
//! passed on.

use super::line::{Step, Supply};
use super::sieve::{Finder, Sieve, Sifted};
use crate::error::Error;
use crate::formats::layout::{Requested, Sections};
use crate::formats::selected::cannot_select;
use crate::formats::tables::{Budget, OpenTable, RowPart, TableError, TableReader};
use crate::formats::{self, Chunk, DecodeOptions, Extent, Format, Layout, Opened, Watch};
use crate::input::{Access, Bytes, Compression, Division, FrameJob, Input, Next, RandomAccess, Shard, Source};
use crate::table::Fields;
use memchr::memchr_iter;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// A record is a giant if it has at least this number of bytes; the decoders enforce a smaller
/// [`formats::DecodeOptions::max_record`].
pub(super) const GIANT: usize = 16 << 20;
/// Number of bytes examined after a place, because they may decide whether a record begins there.
const LOOK_AHEAD: usize = 128 << 10;
/// Number of bytes whose line ends are changed at a time.
const CHANGED: usize = 1 << 20;
/// Number of first bytes of an input that are examined for the fields of its records.
const HEAD: usize = 2 << 10;

/// An item in the sequence of chunks.
pub(super) enum Work {
    Chunk {
        file: usize,
        format: Format,
        chunk: Chunk,
        /// If the chunk is the beginning of a giant: the number of line feeds in the whole record.
        giant: Option<u64>,
    },
    /// An input begins.
    Begin {
        path: Arc<Path>,
        /// `None` if it could not be opened.
        format: Option<Format>,
        compression: Option<Compression>,
        /// Notes for the user about the input.
        note: Option<String>,
        /// Watches the input, if reading starts in the middle.
        watch: Option<Box<dyn Watch>>,
    },
    /// An input ends; its decompressed length.
    End {
        file: usize,
        format: Format,
        path: Arc<Path>,
        len: u64,
        /// Whether the end was read: with shards, only the one with the last part reads it.
        is_whole: bool,
    },
    /// An input is truncated, and the run continues with the next one.
    Broken {
        file: usize,
        error: Error,
    },
    Failure(Error),
}

/// The inputs, cut into chunks.
pub(super) struct Feed<'a> {
    pub(super) inputs: &'a [Source],
    pub(super) next_input: usize,
    pub(super) current: Option<Current>,
    pub(super) from: Option<Format>,
    pub(super) access: Access,
    pub(super) shard: Option<Shard>,
    pub(super) chunk_size: usize,
    pub(super) max_record: usize,
    /// Options for reading records of formats without games, and memory limits.
    pub(super) decode: DecodeOptions,
    pub(super) budget: Arc<Budget>,
    pub(super) consumed: Arc<AtomicU64>,
    pub(super) past_damage: bool,
    /// The next inputs that threads are already opening: a pipe, or files of zip archives.
    pub(super) opening: VecDeque<Receiver<Result<Opening, Error>>>,
    /// Number of files of zip archives that are opened ahead.
    pub(super) most_ahead: usize,
    pub(super) ended: bool,
}

/// The input that is being read.
pub(super) enum Current {
    /// Runs of bytes, which are cut into chunks.
    Bytes(Box<Cutter>),
    /// A table, which divides itself.
    Table(Box<TableInput>),
    /// An input that could not be opened.
    Broken(Box<Error>),
}

/// A table that is being read.
pub(super) struct TableInput {
    file: usize,
    path: Arc<Path>,
    format: Format,
    /// The table, or the reason why it cannot be read, which is reported after its beginning.
    table: Result<Box<dyn TableReader>, Option<Error>>,
    /// A part that waits for memory.
    waiting: Option<RowPart>,
    /// Bytes of the file, and how many of them count as read.
    len: u64,
    counted: u64,
}

/// The input that is being cut.
pub(super) struct Cutter {
    pub(super) file: usize,
    pub(super) opened: Opened,
    /// Bytes not cut yet; they may begin with the rest of the previous piece.
    piece: Option<Bytes>,
    /// Bytes whose line ends are not changed yet.
    unchanged: Option<Bytes>,
    /// The rest of the previous pieces, too short to be decoded.
    carry: Vec<u8>,
    /// Length at which the rest is examined again; growing in steps keeps this linear.
    look_at: usize,
    /// Where the next chunk begins in the decompressed input.
    offset: u64,
    /// [`formats::DecodeOptions::max_record`].
    max_record: usize,
    /// The giant being skipped, if any.
    giant: Option<Giant>,
    /// The sieve that passes on only the parts of a shard.
    sieve: Option<Sieve>,
    /// Whether a part has ended, so that the rest is cut as at the end of an input.
    ends_part: bool,
    /// An error after the bytes in the sieve.
    late_error: Option<Error>,
    /// [`Chunk::frame`] and [`Chunk::extent`].
    frame: Option<u64>,
    extent: Extent,
    /// The watcher of the input, until the input has begun.
    watch: Option<Box<dyn Watch>>,
    error: Option<Error>,
    ended: bool,
}

/// A record that is too long to be held in memory.
struct Giant {
    /// Its first bytes.
    head: Vec<u8>,
    /// Number of its bytes skipped so far, and of line feeds among them.
    len: u64,
    feeds: u64,
    /// The earliest place in the rest where the next record may begin.
    from: usize,
}

impl Supply for Feed<'_> {
    type Work = Work;
    type Frame = (usize, FrameJob);
    fn next(&mut self, idle: bool) -> Step<Work, (usize, FrameJob)> {
        if self.ended {
            return Step::End;
        }
        let current = match &mut self.current {
            None => return self.open_next(idle),
            Some(Current::Bytes(current)) => current,
            Some(Current::Table(_)) => return self.next_part(),
            Some(Current::Broken(_)) => return self.broken(),
        };
        let mapped = current.opened.input.is_mapped();
        match current.next(self.chunk_size) {
            Cut::Chunk(bytes, giant) => {
                let len = giant.as_ref().map_or(bytes.len() as u64, |giant| giant.len);
                if mapped {
                    self.consumed.fetch_add(len, Ordering::Relaxed);
                }
                let chunk = Chunk {
                    file: Arc::clone(current.opened.input.path()),
                    offset: current.offset,
                    bytes,
                    truncated: current.error.is_some(),
                    frame: current.frame,
                    extent: current.extent.clone(),
                    header: current.opened.header.clone(),
                };
                current.offset += len;
                Step::Work(Work::Chunk {
                    file: current.file,
                    format: current.opened.format,
                    chunk,
                    giant: giant.map(|giant| giant.feeds),
                })
            }
            Cut::Frame(job) => Step::Frame((current.file, job)),
            Cut::Wait => Step::Wait,
            Cut::End => {
                let work = Work::End {
                    file: current.file,
                    format: current.opened.format,
                    path: Arc::clone(current.opened.input.path()),
                    len: current.offset,
                    is_whole: current.sieve.as_ref().is_none_or(Sieve::has_end),
                };
                self.current = None;
                Step::Work(work)
            }
            Cut::Failure(error) if self.past_damage => {
                let file = current.file;
                self.current = None;
                Step::Work(Work::Broken { file, error })
            }
            Cut::Failure(error) => {
                self.ended = true;
                Step::Work(Work::Failure(error))
            }
        }
    }
}

/// An open input whose format is known: the rest of the work does not wait for others.
pub(super) enum Opening {
    Bytes(Box<Opened>),
    /// With the map of the file, if there is one.
    Table(Arc<Path>, Format, &'static dyn OpenTable, RandomAccess, Option<Bytes>),
}

impl Opening {
    /// Opens an input. For pipes, this may wait for their writers.
    fn new(
        source: &Source,
        (from, fen_column): (Option<Format>, Option<&str>),
        access: Access,
        consumed: Arc<AtomicU64>,
    ) -> Result<Self, Error> {
        let opened = formats::open_with(source, from, fen_column, access, consumed)?;
        let format = opened.format;
        Ok(match format.layout() {
            Layout::Text(_) | Layout::Records(_) | Layout::Chains(_) | Layout::Sections(_) => {
                Self::Bytes(Box::new(opened))
            }
            Layout::Tables(tables) => {
                let mapped = opened.input.mapped();
                let path = Arc::clone(source.name());
                Self::Table(path, format, tables, opened.input.into_random_access(format.name())?, mapped)
            }
        })
    }

    /// Starts decompressing a file of a zip archive ahead of time.
    fn read_ahead(mut self) -> Result<Self, Error> {
        if let Self::Bytes(opened) = &mut self {
            opened.input.read_ahead()?;
        }
        Ok(self)
    }

    /// Opens an input on a separate thread. Nobody has to wait for the thread: if the result is dropped, the thread
    /// ends after its current operation.
    fn spawn(
        source: &Source,
        (from, fen_column): (Option<Format>, Option<Arc<str>>),
        access: Access,
        consumed: Arc<AtomicU64>,
    ) -> Result<Receiver<Result<Self, Error>>, Error> {
        let (sender, opened) = sync_channel(1);
        let input = source.clone();
        let spawned = std::thread::Builder::new()
            .name("opener".to_owned())
            // If nobody waits for the input any more, it is closed.
            .spawn(move || {
                let opened = Self::new(&input, (from, fen_column.as_deref()), access, consumed);
                drop(sender.send(opened.and_then(Self::read_ahead)));
            });
        match spawned {
            Ok(_) => Ok(opened),
            Err(error) => Err(Error::Open { path: Arc::clone(source.name()), source: error }),
        }
    }
}

/// Time to wait for an input to open before reporting that there is nothing yet.
const PATIENCE: Duration = Duration::from_millis(10);

impl Feed<'_> {
    /// An input at its beginning, and its properties.
    fn begin(&self, opened: Opening) -> Result<(Current, Format, Option<Compression>, Option<String>), Error> {
        let (path, format, tables, source, mapped) = match opened {
            Opening::Bytes(mut opened) => {
                let (format, compression) = (opened.format, opened.input.compression());
                // Its first bytes were read when it was opened.
                let (head, all) = opened.input.peek(HEAD)?;
                let mut note = None;
                if !(all && head.trim_ascii().is_empty()) {
                    let begun = format.begin(opened.header.as_deref(), &self.decode);
                    let path = || Arc::clone(opened.input.path());
                    note = begun.map_err(|reason| Error::Columns { path: path(), reason })?;
                    if self.selects(format) {
                        let carried = format.carried(opened.header.as_deref().unwrap_or(&head));
                        self.check_selection(opened.input.path(), format, carried)?;
                    }
                }
                let cutter = Cutter::new(self.next_input, *opened, self)?;
                return Ok((Current::Bytes(Box::new(cutter)), format, compression, note));
            }
            Opening::Table(path, format, tables, source, mapped) => (path, format, tables, source, mapped),
        };
        let (len, counted) = (source.len(), source.counted());
        let shard = self.shard.map(|shard| shard.range(len));
        let table = tables.open(source, &self.decode, shard);
        // Bytes found beyond the new end do not belong to the file.
        if let Some(mapped) = &mapped {
            mapped.check().map_err(|source| Error::Read { path: Arc::clone(&path), offset: 0, source })?;
        }
        let table = match table {
            Ok(table) => Ok(table),
            Err(TableError::Damaged(damage)) => Err(Some(Error::Damaged { path: Arc::clone(&path), damage })),
            Err(TableError::Columns(reason)) => return Err(Error::Columns { path, reason }),
        };
        if let Ok(table) = &table {
            self.check_selection(&path, format, table.fields())?;
        }
        let note = table.as_ref().ok().and_then(|table| table.note());
        let current = TableInput { file: self.next_input, path, format, table, waiting: None, len, counted };
        Ok((Current::Table(Box::new(current)), format, None, note))
    }

    /// The user's options about the format of inputs.
    fn named(&self) -> (Option<Format>, Option<&str>) {
        (self.from, self.decode.fen_column.as_deref())
    }

    /// Whether the records of a format are selected after they are decoded.
    fn selects(&self, format: Format) -> bool {
        self.decode.games.is_some() && !format.about().selects
    }

    /// Checks whether the records of an input carry the fields by which they are selected.
    fn check_selection(&self, path: &Arc<Path>, format: Format, carried: Fields) -> Result<(), Error> {
        let selection = self.decode.games.as_deref().filter(|_| self.selects(format));
        let reason = selection.and_then(|selection| cannot_select(selection, format, carried, self.shard.is_some()));
        match reason {
            Some(reason) => Err(Error::Selection { path: Arc::clone(path), reason }),
            None => Ok(()),
        }
    }

    /// Checks all inputs that can be opened twice, before anything is read; all other errors are reported later.
    pub(super) fn check_all(&self) -> Result<(), Error> {
        if self.decode.games.is_none() {
            return Ok(());
        }
        for source in self.inputs {
            if source.len().is_some()
                && let Ok(opened) = Opening::new(source, self.named(), self.access, Arc::default())
                && let Err(error @ Error::Selection { .. }) = self.begin(opened)
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// The next part of a table.
    fn next_part(&mut self) -> Step<Work, (usize, FrameJob)> {
        let Some(Current::Table(current)) = &mut self.current else {
            return Step::Wait;
        };
        let file = current.file;
        let work = match &mut current.table {
            Ok(table) => match current.waiting.take().or_else(|| table.next()) {
                Some(part) if !part.enter(&self.budget) => {
                    current.waiting = Some(part);
                    return Step::Wait;
                }
                Some(part) if let Err(source) = table.check() => {
                    self.ended = true;
                    Work::Failure(Error::Read { path: Arc::clone(&current.path), offset: part.place(), source })
                }
                Some(part) => {
                    let bytes = part.bytes().min(current.len - current.counted);
                    current.counted += bytes;
                    self.consumed.fetch_add(bytes, Ordering::Relaxed);
                    let chunk = Chunk::of_rows(Arc::clone(&current.path), part);
                    return Step::Work(Work::Chunk { file, format: current.format, chunk, giant: None });
                }
                None => {
                    if self.shard.is_none() {
                        let rest = current.len - current.counted;
                        self.consumed.fetch_add(rest, Ordering::Relaxed);
                    }
                    Work::End {
                        file,
                        format: current.format,
                        path: Arc::clone(&current.path),
                        len: current.len,
                        is_whole: self.shard.is_none(),
                    }
                }
            },
            Err(error) => match error.take() {
                Some(error) if self.past_damage => Work::Broken { file, error },
                Some(error) => {
                    self.ended = true;
                    Work::Failure(error)
                }
                None => return Step::Wait,
            },
        };
        self.current = None;
        Step::Work(work)
    }

    /// Opens the next input, or checks whether it is open. Pipes are opened only when there is nothing else to do,
    /// because the earlier inputs may be enough.
    fn open_next(&mut self, idle: bool) -> Step<Work, (usize, FrameJob)> {
        let Some(source) = self.inputs.get(self.next_input) else {
            self.ended = true;
            return Step::End;
        };
        let path = Arc::clone(source.name());
        if self.opening.is_empty() && source.may_block() {
            if !idle {
                return Step::Wait;
            }
            match self.spawn(source) {
                Ok(opening) => self.opening.push_back(opening),
                Err(error) => {
                    self.ended = true;
                    return Step::Work(Work::Failure(error));
                }
            }
        }
        self.open_ahead();
        let opened = match self.opening.front() {
            None => Opening::new(source, self.named(), self.access, Arc::clone(&self.consumed)),
            Some(opening) => match opening.recv_timeout(PATIENCE) {
                Ok(opened) => opened,
                Err(RecvTimeoutError::Timeout) => return Step::Wait,
                Err(RecvTimeoutError::Disconnected) => Err(Error::Open {
                    path: Arc::clone(&path),
                    source: io::Error::other("the opening thread ended unexpectedly"),
                }),
            },
        };
        self.opening.pop_front();
        match opened.and_then(|opened| self.begin(opened)) {
            Ok((mut current, format, compression, note)) => {
                let watch = match &mut current {
                    Current::Bytes(cutter) => cutter.watch.take(),
                    Current::Table(_) | Current::Broken(_) => None,
                };
                self.current = Some(current);
                self.next_input += 1;
                Step::Work(Work::Begin { path, format: Some(format), compression, note, watch })
            }
            Err(error) if self.past_damage && error.is_of_input() => {
                self.current = Some(Current::Broken(Box::new(error)));
                self.next_input += 1;
                Step::Work(Work::Begin { path, format: None, compression: None, note: None, watch: None })
            }
            Err(error) => {
                self.ended = true;
                Step::Work(Work::Failure(error))
            }
        }
    }

    /// Starts threads that open the next files of zip archives, so that several are decompressed at the same time.
    fn open_ahead(&mut self) {
        while self.opening.len() < self.most_ahead
            && let Some(source) = self.inputs.get(self.next_input + self.opening.len())
            && source.is_worth_a_thread(self.access)
            // If a thread cannot be started, the file is opened when its turn comes.
            && let Ok(opening) = self.spawn(source)
        {
            self.opening.push_back(opening);
        }
    }

    /// Opens an input on a separate thread.
    fn spawn(&self, source: &Source) -> Result<Receiver<Result<Opening, Error>>, Error> {
        let named = (self.from, self.decode.fen_column.clone());
        Opening::spawn(source, named, self.access, Arc::clone(&self.consumed))
    }

    /// Reports an input that could not be opened; others follow.
    fn broken(&mut self) -> Step<Work, (usize, FrameJob)> {
        match self.current.take() {
            Some(Current::Broken(error)) => Step::Work(Work::Broken { file: self.next_input - 1, error: *error }),
            other => {
                self.current = other;
                Step::Wait
            }
        }
    }
}

enum Cut {
    Chunk(Bytes, Option<Giant>),
    Frame(FrameJob),
    Wait,
    End,
    Failure(Error),
}

/// Minimum number of bytes of the next piece that are appended to the rest of the previous one.
const SEAM: usize = 64 << 10;

impl Cutter {
    /// At the beginning of an input, or where the part of a shard may begin.
    fn new(file: usize, mut opened: Opened, feed: &Feed<'_>) -> Result<Self, Error> {
        let mut frame = None;
        let mut extent = Extent::All;
        let mut sieve = None;
        let (mut start, mut watch): (u64, Option<Box<dyn Watch>>) = (0, None);
        if let Some(shard) = feed.shard {
            match opened.format.layout() {
                Layout::Text(text) => {
                    let division = opened.input.divide(shard, text.reach())?;
                    if let Division::Frames { start, is_first } = division {
                        frame = (!is_first).then_some(start);
                    }
                    sieve = Some(Sieve::new(shard, Finder::Text(text), division));
                }
                Layout::Records(len) => {
                    let division = opened.input.divide_plain(shard, 0)?;
                    sieve = Some(Sieve::new(shard, Finder::Records(len as u64), division));
                }
                Layout::Chains(chains) => {
                    // The first chain of a shard is found from the beginning.
                    let division = opened.input.divide_plain(shard, usize::MAX)?;
                    sieve = Some(Sieve::new(
                        shard,
                        Finder::Chains { chains, max_record: feed.max_record, known: 0 },
                        division,
                    ));
                }
                Layout::Sections(sections) => {
                    let len = opened.input.plain_len();
                    let entered = Self::enter_sections(&mut opened.input, sections, shard);
                    match entered.map_err(|source| Error::Read {
                        path: Arc::clone(opened.input.path()),
                        offset: 0,
                        source,
                    })? {
                        Some((at, follows)) => (start, watch) = (at, Some(follows)),
                        None => {
                            extent = Extent::Sections(match len.map(|len| shard.range(len)) {
                                // Some systems have files that are longer than they report.
                                Some(range) if shard.is_last() => Requested::Within(range.start..u64::MAX),
                                Some(range) => Requested::Within(range),
                                None => Requested::Turn(shard),
                            });
                        }
                    }
                }
                // Tables are divided when they are opened.
                Layout::Tables(_) => {}
            }
        }
        Ok(Self {
            file,
            opened,
            piece: None,
            unchanged: None,
            carry: Vec::new(),
            look_at: 0,
            offset: sieve.as_ref().map_or(start, Sieve::place),
            max_record: feed.max_record,
            giant: None,
            sieve,
            ends_part: false,
            late_error: None,
            frame,
            extent,
            watch,
            error: None,
            ended: false,
        })
    }

    /// Continues with the sections of a shard, if they can be found without reading all others. Returns where they
    /// begin, and their watcher.
    fn enter_sections(
        input: &mut Input,
        sections: &dyn Sections,
        shard: Shard,
    ) -> io::Result<Option<(u64, Box<dyn Watch>)>> {
        let Some(len) = input.plain_len() else {
            return Ok(None);
        };
        let Some(entry) = sections.enter(len, shard, &|range| input.read_at(range))? else {
            return Ok(None);
        };
        let start = entry.bytes.start;
        input.enter(entry.bytes)?;
        Ok(Some((start, entry.watch)))
    }

    /// The next bytes of the input, with line ends replaced by line feeds, byte for byte.
    fn poll(&mut self) -> Result<Next, Error> {
        if !self.opened.carriage_returns {
            return self.opened.input.poll();
        }
        let bytes = match self.unchanged.take() {
            Some(bytes) => bytes,
            None => match self.opened.input.poll()? {
                Next::Bytes(bytes) => bytes,
                next => return Ok(next),
            },
        };
        let piece = bytes.slice(0..bytes.len().min(CHANGED));
        if piece.len() < bytes.len() {
            self.unchanged = Some(bytes.slice(piece.len()..bytes.len()));
        }
        let failed = |source| Error::Read { path: Arc::clone(self.opened.input.path()), offset: self.offset, source };
        piece.check().map_err(failed)?;
        let mut text = piece.to_vec();
        piece.check().map_err(failed)?;
        formats::to_line_feeds(&mut text);
        Ok(Next::Bytes(text.into()))
    }

    fn next(&mut self, chunk_size: usize) -> Cut {
        loop {
            if let Some(piece) = self.piece.take() {
                // Checked before it is touched: reading beyond the end of a truncated file raises a signal.
                let start = piece.slice(0..piece.len().min(chunk_size));
                if let Err(source) = start.check() {
                    return self.failed(source);
                }
                let cut = self.cut_or_pass(piece.clone(), chunk_size);
                // And after it: zeros may have been copied that were never in the file.
                if let Err(source) = piece.check() {
                    return self.failed(source);
                }
                match cut {
                    Some(cut) => return cut,
                    None => continue,
                }
            }
            if self.ended {
                return self.last();
            }
            if self.sieve.is_some() {
                match self.sift() {
                    Some(cut) => return cut,
                    None => continue,
                }
            }
            match self.poll() {
                Ok(Next::Bytes(bytes)) => self.piece = Some(bytes),
                Ok(Next::Job(job)) => return Cut::Frame(job),
                Ok(Next::Wait) => return Cut::Wait,
                Ok(Next::End) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    self.error = Some(error);
                }
            }
        }
    }

    /// Cuts a chunk off a piece, or passes on in a giant.
    fn cut_or_pass(&mut self, piece: Bytes, chunk_size: usize) -> Option<Cut> {
        if self.giant.is_some() {
            let len = piece.len().min(LOOK_AHEAD);
            self.carry.extend_from_slice(&piece[..len]);
            if len < piece.len() {
                self.piece = Some(piece.slice(len..piece.len()));
            }
            return self.pass_giant(false);
        }
        if let Some(chunk) = self.cut(piece, chunk_size) {
            return Some(Cut::Chunk(chunk, None));
        }
        if self.carry.len() >= self.longest() {
            self.begin_giant();
        }
        None
    }

    /// Passes the next bytes through the sieve; if a part has ended, its rest is returned.
    fn sift(&mut self) -> Option<Cut> {
        if self.ends_part {
            match self.last_of_part() {
                Cut::End => self.ends_part = false,
                cut => return Some(cut),
            }
        }
        let sieve = self.sieve.as_mut()?;
        match sieve.next() {
            Ok(Sifted::Bytes(bytes)) => self.piece = Some(bytes),
            Ok(Sifted::Dropped(len)) => self.offset += len,
            Ok(Sifted::EndOfPart) => self.ends_part = true,
            Ok(Sifted::End) => {
                // An error after the last part of the shard is reported by another shard.
                let error = self.late_error.take();
                self.error = error.filter(|_| !sieve.is_over());
                self.ended = true;
            }
            Ok(Sifted::More) => {
                let next = self.poll();
                let first_end = self.opened.input.first_end();
                let sieve = self.sieve.as_mut()?;
                if let Some(end) = first_end {
                    sieve.end_frames(end);
                }
                match next {
                    Ok(Next::Bytes(bytes)) => sieve.push(bytes),
                    Ok(Next::Job(job)) => return Some(Cut::Frame(job)),
                    Ok(Next::Wait) => return Some(Cut::Wait),
                    Ok(Next::End) => sieve.end(),
                    Err(error) => {
                        self.late_error = Some(error);
                        sieve.end();
                    }
                }
            }
            Err(source) => return Some(self.failed(source)),
        }
        None
    }

    /// The file has become shorter.
    fn failed(&self, source: std::io::Error) -> Cut {
        Cut::Failure(Error::Read { path: Arc::clone(self.opened.input.path()), offset: self.offset, source })
    }

    /// Cuts the rest of a part that is followed by a record of another part.
    fn last_of_part(&mut self) -> Cut {
        let (longest, len) = (self.longest(), self.carry.len());
        // Whether it is a giant, or the beginning of one, must not depend on where the part ends. So the same number of
        // bytes is examined as without shards.
        if let Layout::Text(text) = self.opened.format.layout()
            && self.giant.is_none()
            && len + text.reach() > longest
            && let Some(sieve) = &self.sieve
        {
            let mut window = self.carry.clone();
            if let Err(source) = sieve.append_to(&mut window, longest.saturating_sub(len)) {
                return self.failed(source);
            }
            if window.len() >= longest && text.cut(&window, self.max_record).is_none() {
                self.begin_giant();
            }
        }
        self.look_at = 0;
        self.last()
    }

    /// The rest, when there are no more pieces.
    fn last(&mut self) -> Cut {
        if let Some(cut) = self.pass_giant(true) {
            return cut;
        }
        let mut rest = std::mem::take(&mut self.carry);
        if self.error.is_some() {
            rest.truncate(self.opened.format.layout().before_truncated_end(&rest, self.max_record));
        }
        match (rest.is_empty(), self.error.take()) {
            (false, error) => {
                self.error = error;
                Cut::Chunk(rest.into(), None)
            }
            (true, Some(error)) => Cut::Failure(error),
            (true, None) => Cut::End,
        }
    }

    /// Number of bytes within which a record must end; otherwise it is a giant.
    fn longest(&self) -> usize {
        match self.opened.format.layout() {
            Layout::Text(_) => self.max_record.max(GIANT) + LOOK_AHEAD,
            // These records have known lengths.
            Layout::Records(_) | Layout::Chains(_) | Layout::Sections(_) | Layout::Tables(_) => usize::MAX,
        }
    }

    /// Begins to skip a giant, whose beginning is the rest.
    fn begin_giant(&mut self) {
        self.giant = Some(Giant {
            head: self.carry[..formats::GIANT_HEAD.min(self.carry.len())].to_vec(),
            len: 0,
            feeds: 0,
            from: self.max_record,
        });
        self.look_at = 0;
    }

    /// Looks for the end of the giant in the rest, and drops what is no longer needed.
    fn pass_giant(&mut self, at_end: bool) -> Option<Cut> {
        let giant = self.giant.as_mut()?;
        let found = match self.opened.format.layout() {
            Layout::Text(text) => text.resume(&self.carry, giant.from, at_end),
            Layout::Records(_) | Layout::Chains(_) | Layout::Sections(_) | Layout::Tables(_) => None,
        };
        let found = found.or(at_end.then_some(self.carry.len()));
        let drop = match found {
            Some(at) => at,
            // Bytes before a place may matter as well.
            None => self.carry.len().saturating_sub(2 * LOOK_AHEAD),
        };
        giant.len += drop as u64;
        giant.feeds += memchr_iter(b'\n', &self.carry[..drop]).count() as u64;
        // Places with enough bytes after them are not examined again with fewer bytes before them.
        let seen = self.carry.len().saturating_sub(LOOK_AHEAD);
        giant.from = giant.from.max(seen).saturating_sub(drop);
        self.carry.drain(..drop);
        found?;
        let mut giant = self.giant.take()?;
        let head = std::mem::take(&mut giant.head);
        Some(Cut::Chunk(head.into(), Some(giant)))
    }

    /// Puts back the bytes after the first `len` bytes of a piece. A short rest waits for the next piece, because a
    /// small chunk would be done before the large one ahead of it, and its worker would have to wait.
    fn put_back(&mut self, piece: &Bytes, len: usize, chunk_size: usize) {
        if piece.len() - len >= chunk_size / 2 {
            self.piece = Some(piece.slice(len..piece.len()));
        } else {
            self.carry.extend_from_slice(&piece[len..]);
        }
    }

    /// Cuts the next chunk off a piece and puts the rest back, or keeps it if it is too short to be cut. At most
    /// [`Cutter::longest`] bytes without a cut are examined, so that whether a record is a giant does not depend
    /// on how the bytes arrive.
    fn cut(&mut self, piece: Bytes, chunk_size: usize) -> Option<Bytes> {
        let layout = self.opened.format.layout();
        let longest = self.longest();
        if self.carry.is_empty() {
            let mut window = chunk_size.min(piece.len());
            loop {
                if let Some(len) = layout.cut(&piece[..window], self.max_record) {
                    self.put_back(&piece, len, chunk_size);
                    return Some(piece.slice(0..len));
                }
                if window == piece.len() || window == longest {
                    self.carry.extend_from_slice(&piece[..window]);
                    if window < piece.len() {
                        self.piece = Some(piece.slice(window..piece.len()));
                    }
                    return None;
                }
                window = window.saturating_mul(2).min(longest).min(piece.len());
            }
        }
        let mut taken = 0;
        let mut step = chunk_size.saturating_sub(self.carry.len()).max(SEAM);
        while taken < piece.len() && self.carry.len() < longest {
            let more = step.min(piece.len() - taken).min(longest - self.carry.len());
            self.carry.extend_from_slice(&piece[taken..taken + more]);
            taken += more;
            step *= 2;
            if self.carry.len() < self.look_at.min(longest) {
                continue;
            }
            if let Some(len) = layout.cut(&self.carry, self.max_record) {
                let rest = self.carry.split_off(len);
                let chunk = std::mem::replace(&mut self.carry, rest);
                // The rest of the seam is still in the piece, unless the cut is before it.
                let back = self.carry.len().min(taken);
                self.carry.truncate(self.carry.len() - back);
                self.put_back(&piece, taken - back, chunk_size);
                self.look_at = 0;
                return Some(chunk.into());
            }
            self.look_at = self.carry.len() * 5 / 4;
        }
        if taken < piece.len() {
            self.piece = Some(piece.slice(taken..piece.len()));
        }
        None
    }
}
