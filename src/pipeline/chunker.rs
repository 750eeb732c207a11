//! The chunker: the bytes of one input, cut into chunks that can be decoded independently.
//!
//! Cutting has to be quick, so that it examines few bytes. A record that is too long, a *giant*, is skipped without
//! keeping it in memory; only its first bytes are passed on.

use super::shard_sieve::{Finder, LINES_BEFORE, Sieve, Sifted};
use crate::error::Error;
use crate::formats::codec::layout::{Entry, Requested, RequestedSections, Sections};
use crate::formats::{self, Extent, Layout, Opened, WholeFileCheck};
use crate::input::{Bytes, Division, FrameJob, Input, Next, Shard};
use memchr::memchr_iter;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A record is a giant if it has at least this number of bytes; the decoders enforce a smaller
/// [`formats::DecodeOptions::max_record`].
pub(super) const GIANT: usize = 16 << 20;
/// Number of bytes examined after a place, because they may decide whether a record begins there.
const LOOK_AHEAD: usize = 128 << 10;
/// Number of bytes whose line ends are changed at a time.
const CHANGED: usize = 1 << 20;
/// The input that is being cut.
pub(super) struct Chunker {
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
    pub(super) offset: u64,
    /// [`formats::DecodeOptions::max_record`].
    max_record: usize,
    /// The giant being skipped, if any.
    giant: Option<Giant>,
    /// The sieve that passes on only the parts of a shard.
    sieve: Option<Sieve>,
    /// Whether a part has ended, so that the rest is cut as at the end of an input.
    ends_part: bool,
    /// If games are taken as wholes: whether nothing more is needed of what comes after the part of the shard.
    pub(super) is_enough: Option<Arc<AtomicBool>>,
    /// Whether the bytes in the sieve belonged to another shard.
    is_in_other: bool,
    /// An error after the bytes in the sieve.
    late_error: Option<Error>,
    /// `Chunk::frame` and `Chunk::extent`.
    pub(super) frame: Option<u64>,
    pub(super) extent: Extent,
    /// The watcher of the input, until the input has begun.
    pub(super) watch: Option<Box<dyn WholeFileCheck>>,
    pub(super) error: Option<Error>,
    ended: bool,
}

/// A record that is too long to be held in memory.
pub(super) struct Giant {
    /// The first bytes of the record.
    head: Vec<u8>,
    /// Number of its bytes skipped so far, and of line feeds among them.
    pub(super) len: u64,
    pub(super) feeds: u64,
    /// The earliest place in the rest where the next record may begin.
    from: usize,
}

/// The next step of a cutter.
pub(super) enum CutChunk {
    Chunk(Bytes, Option<Giant>),
    /// Records of another shard, directly before the next byte.
    Before(Bytes),
    Frame(FrameJob),
    Wait,
    End,
    Failure(Error),
}

/// Minimum number of bytes of the next piece that are appended to the rest of the previous one.
const SEAM: usize = 64 << 10;

impl Chunker {
    /// A cutter at the beginning of an input, or where the part of a shard may begin.
    /// `is_enough`: if games are taken as wholes, whether nothing more is needed of what comes after the part of the shard.
    pub(super) fn new(
        file: usize,
        mut opened: Opened,
        (shard, is_enough): (Option<Shard>, Option<Arc<AtomicBool>>),
        max_record: usize,
    ) -> Result<Self, Error> {
        let reads_on = is_enough.is_some();
        let mut frame = None;
        let mut extent = Extent::All;
        let mut sieve = None;
        let (mut start, mut watch): (u64, Option<Box<dyn WholeFileCheck>>) = (0, None);
        if let Some(shard) = shard {
            match opened.format.layout() {
                Layout::Text(text) => {
                    let before = if reads_on { LINES_BEFORE } else { 0 };
                    let division = opened.input.divide(shard, text.reach(), before)?;
                    if let Division::Frames { start, is_first, .. } = division {
                        frame = (!is_first).then_some(start);
                    }
                    sieve = Some(Sieve::new(shard, Finder::Text(text), division, reads_on));
                }
                Layout::Records(len) => {
                    let division = opened.input.divide_plain(shard, 0)?;
                    sieve = Some(Sieve::new(shard, Finder::Records(len as u64), division, false));
                }
                Layout::Chains(chains) => {
                    // The first chain of a shard is found from the beginning.
                    let division = opened.input.divide_plain(shard, usize::MAX)?;
                    let finder = Finder::Chains { chains, max_record, known: 0 };
                    sieve = Some(Sieve::new(shard, finder, division, false));
                }
                Layout::Sections(sections) => {
                    let len = opened.input.plain_len();
                    let entered = Self::enter_sections(&mut opened.input, sections, shard, reads_on);
                    match entered.map_err(|source| Error::Read {
                        path: Arc::clone(opened.input.path()),
                        offset: 0,
                        source,
                    })? {
                        Some(entry) => {
                            (start, watch) = (entry.bytes.start, Some(entry.watch));
                            if reads_on {
                                extent = Extent::Sections(RequestedSections {
                                    which: Requested::Within(entry.own),
                                    reads_others: true,
                                    checks_others: false,
                                });
                            }
                        }
                        None => {
                            extent = Extent::Sections(RequestedSections {
                                which: match len.map(|len| shard.range(len)) {
                                    // Some systems have files that are longer than they report.
                                    Some(range) if shard.is_last() => Requested::Within(range.start..u64::MAX),
                                    Some(range) => Requested::Within(range),
                                    None => Requested::Turn(shard),
                                },
                                reads_others: reads_on,
                                checks_others: true,
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
            max_record,
            giant: None,
            sieve,
            ends_part: false,
            is_enough,
            is_in_other: false,
            late_error: None,
            frame,
            extent,
            watch,
            error: None,
            ended: false,
        })
    }

    /// Whether shards take turns in the input.
    pub(super) fn is_in_turns(&self) -> bool {
        self.sieve.as_ref().is_some_and(Sieve::is_in_turns)
    }

    /// Whether the input was read to its end: with shards, by the one with the last part.
    pub(super) fn is_whole(&self) -> bool {
        self.sieve.as_ref().is_none_or(Sieve::has_end)
    }

    /// Continues with the sections of a shard, if they can be found without reading all others.
    fn enter_sections(
        input: &mut Input,
        sections: &dyn Sections,
        shard: Shard,
        reads_on: bool,
    ) -> io::Result<Option<Entry>> {
        let Some(len) = input.plain_len() else {
            return Ok(None);
        };
        let Some(entry) = sections.enter(len, shard, reads_on, &|range| input.read_at(range))? else {
            return Ok(None);
        };
        input.enter(entry.bytes.clone())?;
        Ok(Some(entry))
    }

    /// Whether the next bytes, this number of them, belong to another shard.
    pub(super) fn is_of_other_shard(&self, len: u64) -> bool {
        match &self.extent {
            Extent::Sections(RequestedSections { which: Requested::Within(own), checks_others: false, .. }) => {
                self.offset + len <= own.start || own.end <= self.offset
            }
            _ => self.is_in_other,
        }
    }

    /// Drops the rest if it is not needed, because it comes after the part of the shard.
    fn end_if_enough(&mut self) {
        let is_enough = self.is_enough.as_ref().is_some_and(|is_enough| is_enough.load(Ordering::Relaxed));
        if self.ended || !is_enough {
            return;
        }
        self.ended = match (&mut self.sieve, &self.extent) {
            (Some(sieve), _) => self.is_in_other && sieve.has_enough(),
            (None, Extent::Sections(RequestedSections { which: Requested::Within(own), checks_others: false, .. })) => {
                own.end <= self.offset
            }
            _ => false,
        };
        if self.ended {
            (self.piece, self.giant, self.carry) = (None, None, Vec::new());
        }
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

    pub(super) fn next(&mut self, chunk_size: usize) -> CutChunk {
        self.end_if_enough();
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
                Ok(Next::Job(job)) => return CutChunk::Frame(job),
                Ok(Next::Wait) => return CutChunk::Wait,
                Ok(Next::End) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    self.error = Some(error);
                }
            }
        }
    }

    /// Cuts a chunk off a piece, or passes on in a giant.
    fn cut_or_pass(&mut self, piece: Bytes, chunk_size: usize) -> Option<CutChunk> {
        if self.giant.is_some() {
            let len = piece.len().min(LOOK_AHEAD);
            self.carry.extend_from_slice(&piece[..len]);
            if len < piece.len() {
                self.piece = Some(piece.slice(len..piece.len()));
            }
            return self.pass_giant(false);
        }
        if let Some(chunk) = self.cut(piece, chunk_size) {
            return Some(CutChunk::Chunk(chunk, None));
        }
        if self.carry.len() >= self.longest() {
            self.begin_giant();
        }
        None
    }

    /// Passes the next bytes through the sieve; if a part has ended, its rest is returned.
    fn sift(&mut self) -> Option<CutChunk> {
        if self.ends_part {
            match self.last_of_part() {
                CutChunk::End => self.ends_part = false,
                cut => return Some(cut),
            }
        }
        let sieve = self.sieve.as_mut()?;
        match sieve.next() {
            Ok(Sifted::Bytes(bytes)) => {
                self.is_in_other = sieve.is_in_other();
                self.piece = Some(bytes);
            }
            Ok(Sifted::Before(lines)) if lines.is_empty() => {}
            Ok(Sifted::Before(lines)) => return Some(CutChunk::Before(lines.into())),
            Ok(Sifted::Dropped(len)) => self.offset += len,
            Ok(Sifted::EndOfPart) => self.ends_part = true,
            Ok(Sifted::End) => {
                // An error after the last part of the shard is reported by another shard.
                let error = self.late_error.take();
                self.error = error.filter(|_| !sieve.is_past_own());
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
                    Ok(Next::Job(job)) => return Some(CutChunk::Frame(job)),
                    Ok(Next::Wait) => return Some(CutChunk::Wait),
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
    fn failed(&self, source: std::io::Error) -> CutChunk {
        CutChunk::Failure(Error::Read { path: Arc::clone(self.opened.input.path()), offset: self.offset, source })
    }

    /// Cuts the rest of a part that is followed by a record of another part.
    fn last_of_part(&mut self) -> CutChunk {
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
    fn last(&mut self) -> CutChunk {
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
                CutChunk::Chunk(rest.into(), None)
            }
            (true, Some(error)) => CutChunk::Failure(error),
            (true, None) => CutChunk::End,
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

    /// Looks for the end of the giant in the rest, and drops the bytes before it that are not needed any more.
    fn pass_giant(&mut self, at_end: bool) -> Option<CutChunk> {
        let giant = self.giant.as_mut()?;
        let end = match self.opened.format.layout() {
            Layout::Text(text) => text.resume(&self.carry, giant.from, at_end),
            Layout::Records(_) | Layout::Chains(_) | Layout::Sections(_) | Layout::Tables(_) => None,
        };
        let found = end.or(at_end.then_some(self.carry.len()));
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
        Some(CutChunk::Chunk(head.into(), Some(giant)))
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
    /// [`Chunker::longest`] bytes without a cut are examined, so that whether a record is a giant does not depend
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
