//! The feed: inputs, one after the other, cut into chunks that decode alone.
//!
//! One worker at a time locks the feed and takes the next piece of work, so cutting has to be quick and examines
//! few bytes. A record that is too long, a *giant*, is skipped without being held in memory, and passed on
//! as its first bytes.

use super::sieve::{Sieve, Sifted};
use crate::error::Error;
use crate::formats::tables::{Table, TableError};
use crate::formats::{self, Chunk, DecodeOptions, Format, Opened, Watch, boards};
use crate::input::{Access, Bytes, Compression, Division, FrameJob, Input, Next, Shard};
use memchr::memchr_iter;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The smallest number of bytes without the end of a record that makes a giant; a smaller
/// [`formats::DecodeOptions::max_record`] is enforced by the decoders.
pub(super) const GIANT: usize = 16 << 20;
/// Bytes examined beyond a place, because they may decide whether a record begins there.
const LOOK_AHEAD: usize = 128 << 10;

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
        format: Format,
        compression: Option<Compression>,
        /// What the user should know of it.
        note: Option<String>,
        /// Follows it, if it is entered in the middle.
        watch: Option<Box<dyn Watch>>,
    },
    /// An input ends; its decompressed length.
    End {
        file: usize,
        path: Arc<Path>,
        len: u64,
        /// Whether the end was read: with shards, by the one with the last part.
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
    pub(super) inputs: &'a [Arc<Path>],
    pub(super) next_input: usize,
    pub(super) current: Option<Current>,
    pub(super) from: Option<Format>,
    pub(super) access: Access,
    pub(super) shard: Option<Shard>,
    pub(super) chunk_size: usize,
    pub(super) max_record: usize,
    /// How tables are read.
    pub(super) decode: DecodeOptions,
    pub(super) consumed: Arc<AtomicU64>,
    pub(super) past_damage: bool,
    pub(super) ended: bool,
}

/// The input that is being read.
pub(super) enum Current {
    /// Runs of bytes, which are cut into chunks.
    Bytes(Box<Cutter>),
    /// A table, which is divided by itself.
    Table(TableInput),
}

/// A table that is being read.
pub(super) struct TableInput {
    file: usize,
    path: Arc<Path>,
    format: Format,
    /// Or why it cannot be read, which is reported after its beginning.
    table: Result<Box<dyn Table>, Option<Error>>,
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
    /// What passes on only the parts of a shard.
    sieve: Option<Sieve>,
    /// A part has ended, and what is left of it is cut as at the end of an input.
    ends_part: bool,
    /// An error after the bytes in the sieve.
    late_error: Option<Error>,
    /// [`Chunk::frame`] and [`Chunk::blocks`].
    frame: Option<u64>,
    blocks: Option<boards::Share>,
    /// Until the input has begun: what follows it.
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

pub(super) enum FeedStep {
    Work(Work),
    Frame(usize, FrameJob),
    Wait,
    End,
}

impl Feed<'_> {
    pub(super) fn next(&mut self) -> FeedStep {
        if self.ended {
            return FeedStep::End;
        }
        let current = match &mut self.current {
            None => return self.open_next(),
            Some(Current::Bytes(current)) => current,
            Some(Current::Table(_)) => return self.next_part(),
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
                    blocks: current.blocks.clone(),
                    part: None,
                    header: current.opened.header.clone(),
                };
                current.offset += len;
                FeedStep::Work(Work::Chunk {
                    file: current.file,
                    format: current.opened.format,
                    chunk,
                    giant: giant.map(|giant| giant.feeds),
                })
            }
            Cut::Frame(job) => FeedStep::Frame(current.file, job),
            Cut::Wait => FeedStep::Wait,
            Cut::End => {
                let work = Work::End {
                    file: current.file,
                    path: Arc::clone(current.opened.input.path()),
                    len: current.offset,
                    is_whole: current.sieve.as_ref().is_none_or(Sieve::has_end),
                };
                self.current = None;
                FeedStep::Work(work)
            }
            Cut::Failure(error) if self.past_damage => {
                let file = current.file;
                self.current = None;
                FeedStep::Work(Work::Broken { file, error })
            }
            Cut::Failure(error) => {
                self.ended = true;
                FeedStep::Work(Work::Failure(error))
            }
        }
    }

    /// An input at its beginning, and what is known of it.
    fn begin(
        &self,
        opened: Opened,
    ) -> Result<(Current, Format, Option<Compression>, Option<String>), Error> {
        let format = opened.format;
        let compression = opened.input.compression();
        let Some(tables) = format.tables() else {
            let cutter = Cutter::new(self.next_input, opened, self)?;
            return Ok((Current::Bytes(Box::new(cutter)), format, compression, None));
        };
        let path = Arc::clone(opened.input.path());
        let source = opened.input.into_source(format.name())?;
        let (len, counted) = (source.len(), source.counted());
        let shard = self.shard.map(|shard| shard.range(len));
        let table = match tables.open(source, &self.decode, shard) {
            Ok(table) => Ok(table),
            Err(TableError::Damaged(damage)) => Err(Some(Error::Damaged {
                path: Arc::clone(&path),
                damage,
            })),
            Err(TableError::Columns(reason)) => return Err(Error::Columns { path, reason }),
        };
        let note = table.as_ref().ok().and_then(|table| table.note());
        let current = TableInput {
            file: self.next_input,
            path,
            format,
            table,
            len,
            counted,
        };
        Ok((Current::Table(current), format, compression, note))
    }

    /// The next part of a table.
    fn next_part(&mut self) -> FeedStep {
        let Some(Current::Table(current)) = &mut self.current else {
            return FeedStep::Wait;
        };
        let file = current.file;
        let work = match &mut current.table {
            Ok(table) => match table.next() {
                Some(part) => {
                    let bytes = part.bytes().min(current.len - current.counted);
                    current.counted += bytes;
                    self.consumed.fetch_add(bytes, Ordering::Relaxed);
                    let mut chunk = Chunk::new(Arc::clone(&current.path), part.content());
                    chunk.offset = part.place();
                    chunk.part = Some(part);
                    return FeedStep::Work(Work::Chunk {
                        file,
                        format: current.format,
                        chunk,
                        giant: None,
                    });
                }
                None => {
                    if self.shard.is_none() {
                        let rest = current.len - current.counted;
                        self.consumed.fetch_add(rest, Ordering::Relaxed);
                    }
                    Work::End {
                        file,
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
                None => return FeedStep::Wait,
            },
        };
        self.current = None;
        FeedStep::Work(work)
    }

    fn open_next(&mut self) -> FeedStep {
        let Some(path) = self.inputs.get(self.next_input) else {
            self.ended = true;
            return FeedStep::End;
        };
        let opened = formats::open(path, self.from, self.access, Arc::clone(&self.consumed));
        let path = Arc::clone(path);
        match opened.and_then(|opened| self.begin(opened)) {
            Ok((mut current, format, compression, note)) => {
                let watch = match &mut current {
                    Current::Bytes(cutter) => cutter.watch.take(),
                    Current::Table(_) => None,
                };
                self.current = Some(current);
                self.next_input += 1;
                FeedStep::Work(Work::Begin {
                    path,
                    format,
                    compression,
                    note,
                    watch,
                })
            }
            Err(error) => {
                self.ended = true;
                FeedStep::Work(Work::Failure(error))
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

/// The smallest number of bytes of the next piece that is appended to the rest of the previous one.
const SEAM: usize = 64 << 10;

impl Cutter {
    /// At the beginning of an input, or where the part of a shard may begin.
    fn new(file: usize, mut opened: Opened, feed: &Feed<'_>) -> Result<Self, Error> {
        let mut frame = None;
        let mut blocks = None;
        let mut sieve = None;
        let (mut start, mut watch): (u64, Option<Box<dyn Watch>>) = (0, None);
        let format = opened.format;
        match feed.shard {
            None => {}
            Some(shard) if format.about().is_text => {
                let division = opened.input.divide(shard, format.reach())?;
                if let Division::Frames { start, is_first } = division {
                    frame = (!is_first).then_some(start);
                }
                sieve = Some(Sieve::new(shard, format, division));
            }
            Some(shard) => {
                let len = opened.input.plain_len();
                let entered = Self::enter_blocks(&mut opened.input, shard);
                match entered.map_err(|source| Error::Read {
                    path: Arc::clone(opened.input.path()),
                    offset: 0,
                    source,
                })? {
                    Some((at, follows)) => (start, watch) = (at, Some(follows)),
                    None => {
                        blocks = Some(match len.map(|len| shard.range(len)) {
                            // Some systems have files that are longer than they report.
                            Some(range) if shard.is_last() => {
                                boards::Share::Within(range.start..u64::MAX)
                            }
                            Some(range) => boards::Share::Within(range),
                            None => boards::Share::Turn(shard),
                        });
                    }
                }
            }
        }
        Ok(Self {
            file,
            opened,
            piece: None,
            carry: Vec::new(),
            look_at: 0,
            offset: sieve.as_ref().map_or(start, Sieve::place),
            max_record: feed.max_record,
            giant: None,
            sieve,
            ends_part: false,
            late_error: None,
            frame,
            blocks,
            watch,
            error: None,
            ended: false,
        })
    }

    /// Continues with the blocks of a shard, if they can be found without reading all others: where they begin, and what
    /// follows them.
    fn enter_blocks(input: &mut Input, shard: Shard) -> io::Result<Option<(u64, Box<dyn Watch>)>> {
        let Some(len) = input.plain_len() else {
            return Ok(None);
        };
        let Some(entry) = boards::entry(len, shard, |range| input.read_at(range))? else {
            return Ok(None);
        };
        let start = entry.bytes.start;
        input.enter(entry.bytes)?;
        Ok(Some((start, entry.watch)))
    }

    fn next(&mut self, chunk_size: usize) -> Cut {
        loop {
            if let Some(piece) = self.piece.take() {
                // Checked before it is touched: reading beyond the end of a truncated file raises a signal.
                let start = piece.slice(0..piece.len().min(chunk_size));
                if let Err(source) = start.check() {
                    return self.failed(source);
                }
                if self.giant.is_some() {
                    let len = piece.len().min(LOOK_AHEAD);
                    self.carry.extend_from_slice(&piece[..len]);
                    if len < piece.len() {
                        self.piece = Some(piece.slice(len..piece.len()));
                    }
                    if let Some(cut) = self.pass_giant(false) {
                        return cut;
                    }
                } else if let Some(chunk) = self.cut(piece, chunk_size) {
                    return Cut::Chunk(chunk, None);
                } else if self.carry.len() >= self.longest() {
                    self.begin_giant();
                }
                continue;
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
            match self.opened.input.poll() {
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

    /// Lets the next bytes through the sieve; what is left of a part that has ended is returned.
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
                // An error after the last part of the shard is for others to report.
                let error = self.late_error.take();
                self.error = error.filter(|_| !sieve.is_over());
                self.ended = true;
            }
            Ok(Sifted::More) => {
                let next = self.opened.input.poll();
                if let Some(end) = self.opened.input.first_end() {
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
        Cut::Failure(Error::Read {
            path: Arc::clone(self.opened.input.path()),
            offset: self.offset,
            source,
        })
    }

    /// The rest of a part, which a record of another part follows.
    fn last_of_part(&mut self) -> Cut {
        let format = self.opened.format;
        let (longest, len) = (self.longest(), self.carry.len());
        // Whether it is a giant, or the beginning of one, does not depend on where the part ends: as much is examined as
        // without shards.
        if self.giant.is_none()
            && len + format.reach() > longest
            && let Some(sieve) = &self.sieve
        {
            let mut window = self.carry.clone();
            if let Err(source) = sieve.append_to(&mut window, longest.saturating_sub(len)) {
                return self.failed(source);
            }
            if window.len() >= longest && format.cut(&window, self.max_record).is_none() {
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
            rest.truncate(self.opened.format.before_broken_end(&rest, self.max_record));
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
        match self.opened.format.about().is_text {
            true => self.max_record.max(GIANT) + LOOK_AHEAD,
            // Its sections know their lengths.
            false => usize::MAX,
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
        let found = self
            .opened
            .format
            .resume(&self.carry, giant.from, at_end)
            .or(at_end.then_some(self.carry.len()));
        let drop = match found {
            Some(at) => at,
            // Bytes before a place may matter as well.
            None => self.carry.len().saturating_sub(2 * LOOK_AHEAD),
        };
        giant.len += drop as u64;
        giant.feeds += memchr_iter(b'\n', &self.carry[..drop]).count() as u64;
        // What has been examined far enough is not examined again with fewer bytes before it.
        let seen = self.carry.len().saturating_sub(LOOK_AHEAD);
        giant.from = giant.from.max(seen).saturating_sub(drop);
        self.carry.drain(..drop);
        found?;
        let mut giant = self.giant.take()?;
        let head = std::mem::take(&mut giant.head);
        Some(Cut::Chunk(head.into(), Some(giant)))
    }

    /// Puts back what follows the first `len` bytes of a piece. A short rest waits for the next piece: a small
    /// chunk would be done before the large one ahead of it, and its worker would have to wait.
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
        let format = self.opened.format;
        let longest = self.longest();
        if self.carry.is_empty() {
            let mut window = chunk_size.min(piece.len());
            loop {
                if let Some(len) = format.cut(&piece[..window], self.max_record) {
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
            let more = step
                .min(piece.len() - taken)
                .min(longest - self.carry.len());
            self.carry.extend_from_slice(&piece[taken..taken + more]);
            taken += more;
            step *= 2;
            if self.carry.len() < self.look_at.min(longest) {
                continue;
            }
            if let Some(len) = format.cut(&self.carry, self.max_record) {
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
