//! The feed: all inputs in order, each divided into chunks that can be decoded independently.
//!
//! One worker at a time locks the feed and takes the next piece of work, so all of this has to be quick. Runs of bytes
//! are cut by a [`Chunker`]; tables divide themselves.

use super::chunker::{Chunker, CutChunk};
use super::scheduler::{Step, Supply};
use crate::choose::GameFilter;
use crate::error::Error;
use crate::formats::codec::game_selection::cannot_select;
use crate::formats::tables::{Budget, OpenTable, RowPart, ShardOfTable, TableError, TableReader};
use crate::formats::{self, Chunk, DecodeOptions, Extent, Format, Layout, Opened, WholeFileCheck};
use crate::input::{Access, Bytes, Compression, FrameJob, Inputs, RandomAccess, Shard, Source};
use crate::table::{Field, Fields};
use crate::text::one_line;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

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
        watch: Option<Box<dyn WholeFileCheck>>,
        /// In a shard that takes whole games: to be set once nothing more is needed of what comes after its part.
        is_enough: Option<Arc<AtomicBool>>,
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
    /// The further segments of a chunk whose first one was given out.
    pub(super) segments: VecDeque<Work>,
    pub(super) from: Option<Format>,
    pub(super) access: Access,
    pub(super) shard: Option<Shard>,
    pub(super) chunk_size: usize,
    pub(super) max_record: usize,
    /// Options for reading records of formats without games, and memory limits.
    pub(super) decode: DecodeOptions,
    /// The fields without which no record can be written.
    pub(super) needs: Fields,
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
    Bytes(Box<Chunker>),
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
    is_enough: Option<Arc<AtomicBool>>,
}

impl Supply for Feed<'_> {
    type Work = Work;
    type Frame = (usize, FrameJob);
    fn next(&mut self, idle: bool) -> Step<Work, (usize, FrameJob)> {
        if self.ended {
            return Step::End;
        }
        if let Some(work) = self.segments.pop_front() {
            return Step::Work(work);
        }
        let current = match &mut self.current {
            None => return self.open_next(idle),
            Some(Current::Bytes(current)) => current,
            Some(Current::Table(_)) => return self.next_part(),
            Some(Current::Broken(_)) => return self.broken(),
        };
        let mapped = current.opened.input.is_mapped();
        match current.next(self.chunk_size) {
            CutChunk::Chunk(bytes, giant) => {
                let len = giant.as_ref().map_or(bytes.len() as u64, |giant| giant.len);
                let of_other_shard = current.is_of_other_shard(len);
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
                    in_turns: current.is_in_turns(),
                    of_other_shard,
                    header: current.opened.header.clone(),
                };
                current.offset += len;
                let (file, format) = (current.file, current.opened.format);
                if giant.is_none()
                    && let Some(segments) = format.layout().segments(chunk.bytes.len())
                {
                    let work = segments.map(|segment| {
                        let chunk = Chunk { extent: Extent::Segment(segment), ..chunk.clone() };
                        Work::Chunk { file, format, chunk, giant: None }
                    });
                    self.segments.extend(work);
                    return self.next(idle);
                }
                Step::Work(Work::Chunk { file, format, chunk, giant: giant.map(|giant| giant.feeds) })
            }
            CutChunk::Before(bytes) => {
                let chunk = Chunk {
                    offset: current.offset.saturating_sub(bytes.len() as u64),
                    frame: current.frame,
                    of_other_shard: true,
                    header: current.opened.header.clone(),
                    ..Chunk::new(Arc::clone(current.opened.input.path()), bytes)
                };
                Step::Work(Work::Chunk { file: current.file, format: current.opened.format, chunk, giant: None })
            }
            CutChunk::Frame(job) => Step::Frame((current.file, job)),
            CutChunk::Wait => Step::Wait,
            CutChunk::End => {
                let work = Work::End {
                    file: current.file,
                    format: current.opened.format,
                    path: Arc::clone(current.opened.input.path()),
                    len: current.offset,
                    is_whole: current.is_whole(),
                };
                self.current = None;
                Step::Work(work)
            }
            CutChunk::Failure(error) if self.past_damage => {
                let file = current.file;
                self.current = None;
                Step::Work(Work::Broken { file, error })
            }
            CutChunk::Failure(error) => {
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
        let opened = formats::open(source, from, fen_column, access, consumed)?;
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

    /// The format, and whether there is anything but blanks.
    fn content(&mut self) -> Result<(Format, bool), Error> {
        match self {
            Self::Bytes(opened) => {
                let (head, all) = opened.input.peek(HEAD)?;
                Ok((opened.format, !(all && head.trim_ascii().is_empty())))
            }
            Self::Table(_, format, ..) => Ok((*format, true)),
        }
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

impl<'a> Feed<'a> {
    /// A feed at the beginning of the first input, with chunks of one mebibyte.
    pub(super) fn new(
        inputs: &'a Inputs,
        (from, access): (Option<Format>, Access),
        shard: Option<Shard>,
        decode: DecodeOptions,
    ) -> Self {
        Self {
            inputs: &inputs.sources,
            next_input: 0,
            current: None,
            segments: VecDeque::new(),
            from,
            access,
            shard,
            chunk_size: 1 << 20,
            max_record: decode.max_record,
            budget: Budget::of(decode.max_memory),
            decode,
            needs: Fields::NONE,
            consumed: Arc::default(),
            past_damage: false,
            opening: VecDeque::new(),
            most_ahead: 0,
            ended: false,
        }
    }
}

impl Feed<'_> {
    /// An input at its beginning, and its properties.
    fn begin(&self, mut opened: Opening) -> Result<(Current, Format, Option<Compression>, Option<String>), Error> {
        if let [source] = self.inputs
            && let (format, true) = opened.content()?
            && let Some(field) = self.never_has(format)
        {
            return Err(lacks(source, format, field));
        }
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
                let shard = (self.shard, self.takes_whole_games(format).then(Arc::default));
                let cutter = Chunker::new(self.next_input, *opened, shard, self.max_record)?;
                return Ok((Current::Bytes(Box::new(cutter)), format, compression, note));
            }
            Opening::Table(path, format, tables, source, mapped) => (path, format, tables, source, mapped),
        };
        let (len, counted) = (source.len(), source.counted());
        let is_enough = self.takes_whole_games(format).then(Arc::<AtomicBool>::default);
        let shard = self.shard.map(|shard| ShardOfTable { range: shard.range(len), reads_until: is_enough.clone() });
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
        let has_games = table.as_ref().is_ok_and(|table| table.kind().has_games);
        let (format, is_enough) = if has_games { (format.of_games(), None) } else { (format, is_enough) };
        if let Ok(table) = &table {
            self.check_selection(&path, format, table.fields())?;
        }
        let note = table.as_ref().ok().and_then(|table| table.note());
        let current = TableInput { file: self.next_input, path, format, table, waiting: None, len, counted, is_enough };
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

    /// Whether games are taken as wholes by the shard in which they begin, although they go on in others.
    fn takes_whole_games(&self, format: Format) -> bool {
        let carried = format.about().carries;
        let needs = |games: &Arc<GameFilter>| games.needs_whole_games() && games.selects_records_of(carried);
        let is_needed = self.decode.games.as_ref().is_some_and(needs);
        self.shard.is_some() && is_needed && !format.about().selects && carried.contains(Field::Game)
    }

    /// Checks whether the records of an input carry the fields that the selection reads.
    fn check_selection(&self, path: &Arc<Path>, format: Format, carried: Fields) -> Result<(), Error> {
        let selection = self.decode.games.as_deref().filter(|_| self.selects(format));
        match selection.and_then(|selection| cannot_select(selection, format, carried)) {
            Some(reason) => Err(Error::Selection { path: Arc::clone(path), reason }),
            None => Ok(()),
        }
    }

    /// A field that is needed, and that records of this format never have.
    fn never_has(&self, format: Format) -> Option<Field> {
        self.needs.iter().find(|&field| !format.about().carries.contains(field))
    }

    /// Checks whether the format of any input may have the needed fields, before anything is read, if all inputs can be
    /// opened twice. [`Self::begin`] checks a single input.
    pub(super) fn check_needs(&self) -> Result<(), Error> {
        if self.needs.is_empty() || self.inputs.len() < 2 {
            return Ok(());
        }
        let mut lacking = None;
        for source in self.inputs {
            if source.len().is_none() {
                return Ok(());
            }
            let opened = Opening::new(source, self.named(), self.access, Arc::default());
            let Ok((format, is_filled)) = opened.and_then(|mut opened| opened.content()) else {
                return Ok(());
            };
            if is_filled {
                match self.never_has(format) {
                    None => return Ok(()),
                    Some(field) => _ = lacking.get_or_insert((source, format, field)),
                }
            }
        }
        lacking.map_or(Ok(()), |(source, format, field)| Err(lacks(source, format, field)))
    }

    /// Checks the columns of all inputs that can be opened twice, before anything is read, and whether their records
    /// carry what the selection reads; all other errors are reported later.
    pub(super) fn check_all(&self) -> Result<(), Error> {
        let selects = self.decode.games.is_some();
        if !selects && self.inputs.len() < 2 {
            return Ok(());
        }
        let mut carried: Vec<(Fields, &Path)> = Vec::new();
        let mut dropped_values: Vec<(Field, String, Arc<Path>)> = Vec::new();
        for source in self.inputs {
            if source.len().is_none() || !(selects || self.may_lack_columns(source)) {
                continue;
            }
            let Ok(opened) = Opening::new(source, self.named(), self.access, Arc::default()) else {
                continue;
            };
            match self.begin(opened) {
                Ok((Current::Table(table), ..)) => {
                    let Ok(reader) = &table.table else {
                        continue;
                    };
                    carried.push((reader.fields(), source.name()));
                    let of_table = reader.dropped_values().iter();
                    dropped_values
                        .extend(of_table.map(|(field, column)| (*field, column.clone(), Arc::clone(&table.path))));
                }
                Err(error @ (Error::Selection { .. } | Error::Columns { .. }))
                    if !(self.past_damage && error.is_of_input()) =>
                {
                    return Err(error);
                }
                _ => {}
            }
        }
        let differs = dropped_values.into_iter().find_map(|(field, column, path)| {
            let (_, other) = carried.iter().find(|(fields, _)| fields.contains(field))?;
            let reason = format!(
                "cannot be read together with {}: its column {column} has another type",
                one_line::of(&other.display().to_string())
            );
            Some(Error::Columns { path, reason })
        });
        differs.filter(|_| !self.past_damage).map_or(Ok(()), Err)
    }

    /// Whether an input may be a table, according to its name. All others have the columns of their formats.
    fn may_lack_columns(&self, source: &Source) -> bool {
        let Some(format) = self.from.or_else(|| Format::of_name(source.name())) else {
            return true;
        };
        matches!(format.layout(), Layout::Tables(_)) || [Format::CSV, Format::TSV, Format::JSONL].contains(&format)
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
                let (watch, is_enough) = match &mut current {
                    Current::Bytes(cutter) => (cutter.watch.take(), cutter.is_enough.clone()),
                    Current::Table(table) => (None, table.is_enough.clone()),
                    Current::Broken(_) => (None, None),
                };
                self.current = Some(current);
                self.next_input += 1;
                Step::Work(Work::Begin { path, format: Some(format), compression, note, watch, is_enough })
            }
            Err(error) if self.past_damage && error.is_of_input() => {
                self.current = Some(Current::Broken(Box::new(error)));
                self.next_input += 1;
                let (format, compression, note, watch, is_enough) = (None, None, None, None, None);
                Step::Work(Work::Begin { path, format, compression, note, watch, is_enough })
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

/// The error for an input whose records never have a field that is needed.
fn lacks(source: &Source, format: Format, field: Field) -> Error {
    Error::Lacks { path: Arc::clone(source.name()), format: format.name(), field: field.name() }
}
