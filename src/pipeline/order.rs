//! The order: workers take chunks, decode them independently, and number their records one chunk after the other.
//!
//! A worker decodes its chunk and then waits until the chunks before it have been numbered. Only [`number`] runs in
//! order: it counts, and checks what holds for a file as a whole. The worker then continues on its own with the
//! judge and the job. Threads therefore affect how far chunks overlap in time, and nothing else.

use super::feed::{Feed, FeedStep, Work};
use super::judge::Judge;
use super::summary::{FileSummary, Part};
use super::{Job, TILE};
use crate::error::Error;
use crate::formats::{Chunk, DecodeOptions, Decoded, Format, Totals, Watch};
use crate::input::FrameJob;
use crate::queries::{GroupResults, Queries};
use crate::tiers::Analyzer;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is the same for all workers.
pub(super) struct Settings<'a> {
    pub(super) analyzer: &'a dyn Analyzer,
    pub(super) decode: DecodeOptions,
    /// Numbers of the first requested record and of the first one after the last.
    pub(super) skip: u64,
    pub(super) end: u64,
    /// Number of requested rows of games.
    pub(super) end_games: u64,
    pub(super) past_damage: bool,
    pub(super) strict: bool,
}

/// What the workers share.
pub(super) struct Shared<'a> {
    pub(super) state: Mutex<State<'a>>,
    /// Signals that a frame is ready, or that the input has ended.
    pub(super) moved: Condvar,
    /// How many more chunks may be in flight.
    pub(super) room: Mutex<u64>,
    pub(super) freed: Condvar,
    pub(super) order: Mutex<Ordered>,
    /// A chunk has been counted.
    pub(super) numbered: Condvar,
    pub(super) stop: AtomicBool,
}

pub(super) struct State<'a> {
    pub(super) feed: Feed<'a>,
    /// Chunks handed out.
    pub(super) given: u64,
}

/// State that is updated chunk by chunk, in order.
#[derive(Default)]
pub(super) struct Ordered {
    next: u64,
    totals: Totals,
    /// Rows of games.
    game_rows: u64,
    /// Follows the file, if its format checks files as a whole.
    watch: Option<Box<dyn Watch>>,
    /// Nothing after this chunk counts: the limit is reached, or something failed.
    over: bool,
}

impl Ordered {
    /// Whether all requested records or games have been read.
    fn is_full(&self, settings: &Settings<'_>) -> bool {
        self.totals.records >= settings.end || self.game_rows >= settings.end_games
    }
}

impl<'a> Shared<'a> {
    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
    /// Waits for room for one more chunk; false if the run is over.
    fn enter(&self) -> bool {
        let room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = self
            .freed
            .wait_while(room, |room| *room == 0 && !self.stopped())
            .unwrap_or_else(PoisonError::into_inner);
        *room = room.saturating_sub(1);
        !self.stopped()
    }
    /// Makes room for one more chunk.
    pub(super) fn leave(&self) {
        *self.room.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.freed.notify_one();
    }
}

/// Ends all waiting when the run is over, including when a thread panicked.
pub(super) struct StopOnDrop<'a, 'b>(pub(super) &'a Shared<'b>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::SeqCst);
        // Each lock is taken once, so that no thread misses the signal between checking the flag and waiting.
        drop(self.0.lock());
        self.0.moved.notify_all();
        drop(self.0.room.lock());
        self.0.freed.notify_all();
        drop(self.0.order.lock());
        self.0.numbered.notify_all();
    }
}

struct StopOnPanic<'a, 'b>(&'a Shared<'b>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(StopOnDrop(self.0));
        }
    }
}

/// A task for a worker.
enum Task {
    Chunk(u64, Work),
    Frame(usize, FrameJob),
}

/// The loop of a worker.
pub(super) fn work<J: Job>(
    shared: &Shared<'_>,
    settings: &Settings<'_>,
    job: &J,
    sender: &Sender<(u64, Part<J::Part>)>,
) {
    let _guard = StopOnPanic(shared);
    let mut scratch = vec![GroupResults::default(); TILE];
    while let Some(task) = next_task(shared) {
        match task {
            Task::Frame(file, frame) => {
                let done = frame.run();
                let mut state = shared.lock();
                if let Some(current) = &mut state.feed.current
                    && current.file == file
                {
                    current.opened.input.complete(done);
                }
                drop(state);
                shared.moved.notify_all();
            }
            Task::Chunk(number, work) => {
                let Some(part) = process(shared, settings, job, number, work, &mut scratch) else {
                    return;
                };
                if sender.send((number, part)).is_err() {
                    return;
                }
            }
        }
    }
}

/// Waits for the next task; `None` if there are no more.
fn next_task(shared: &Shared<'_>) -> Option<Task> {
    if !shared.enter() {
        return None;
    }
    let mut state = shared.lock();
    loop {
        if shared.stopped() {
            return None;
        }
        match state.feed.next() {
            FeedStep::Work(work) => {
                let number = state.given;
                state.given += 1;
                return Some(Task::Chunk(number, work));
            }
            FeedStep::Frame(file, job) => {
                shared.leave();
                return Some(Task::Frame(file, job));
            }
            FeedStep::End => {
                shared.leave();
                shared.moved.notify_all();
                return None;
            }
            // A frame is being decompressed elsewhere, or a slow pipe is empty, which no signal ends.
            FeedStep::Wait => {
                state = shared
                    .moved
                    .wait_timeout(state, Duration::from_millis(10))
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        }
    }
}

/// The error for a file that became shorter than a chunk mapped from it.
fn cut_short(work: &Work) -> Option<Error> {
    let Work::Chunk { chunk, .. } = work else {
        return None;
    };
    let source = chunk.bytes.check().err()?;
    Some(Error::Read {
        path: Arc::clone(&chunk.file),
        offset: chunk.offset,
        source,
    })
}

/// Decodes, numbers and analyzes a chunk; `None` if the run ended before it.
fn process<J: Job>(
    shared: &Shared<'_>,
    settings: &Settings<'_>,
    job: &J,
    place: u64,
    work: Work,
    scratch: &mut [GroupResults],
) -> Option<Part<J::Part>> {
    let mut work = work;
    if let Some(error) = cut_short(&work) {
        work = Work::Failure(error);
    }
    let mut part = Part::default();
    let mut decoded = match &work {
        Work::Chunk {
            format,
            chunk,
            giant,
            ..
        } => Some(match giant {
            None => format.decode(chunk, &settings.decode),
            Some(feeds) => format.decode_giant(chunk, *feeds, &settings.decode),
        }),
        _ => None,
    };
    if let Some(error) = cut_short(&work) {
        // Bytes read beyond the new end do not belong to the file.
        (work, decoded) = (Work::Failure(error), None);
    }
    let (before, range);
    {
        let order = shared.order.lock().unwrap_or_else(PoisonError::into_inner);
        let mut order = shared
            .numbered
            .wait_while(order, |order| {
                order.next != place && !order.over && !shared.stopped()
            })
            .unwrap_or_else(PoisonError::into_inner);
        if order.over || order.next != place {
            return None;
        }
        before = order.totals;
        range = number(&mut order, &work, decoded.as_mut(), settings, &mut part);
        order.over |= order.is_full(settings);
        if order.over {
            shared.lock().feed.ended = true;
            shared.moved.notify_all();
        }
        order.next += 1;
        drop(order);
        shared.numbered.notify_all();
    }
    if let (Work::Chunk { format, chunk, .. }, Some(mut decoded)) = (&work, decoded) {
        let mut output = job.begin();
        let mut judge = Judge {
            analyzer: settings.analyzer,
            validity: settings.decode.validity,
            stops: settings.strict,
            range,
            job,
            queries: job.queries() | Queries::INVALID,
            format: *format,
            chunk,
            lines_before: before.lines,
            counted: (0, 0),
            part: &mut output,
            rejects: std::mem::take(&mut decoded.rejects),
            results: scratch,
        };
        for batch in &decoded.batches {
            if !judge.batch(batch) {
                break;
            }
        }
        let mut rejects = judge.rejects;
        rejects.sort_by_key(|reject| reject.place.record);
        if settings.strict
            && let Some(first) = rejects.first()
        {
            let end = first.place.record + 1;
            part.records = overlap(before.records..end, &(settings.skip..settings.end));
            rejects.truncate(1);
        }
        job.games(&mut output, &decoded.game_rows);
        part.rejects = rejects;
        part.output = Some(output);
    }
    match work {
        Work::Chunk { chunk, .. } => chunk.bytes.release(),
        Work::Failure(error) => part.failure = Some(error),
        Work::Broken { error, .. } => part.broken = Some(error),
        _ => {}
    }
    Some(part)
}

/// Numbers the records of a chunk, and returns the range of record numbers to process. This is the part of the
/// work that is done in order. Once a chunk is numbered, and nothing before it has failed, its part is always
/// taken, so a job may combine several chunks before it hands them over.
fn number<T>(
    order: &mut Ordered,
    work: &Work,
    decoded: Option<&mut Decoded>,
    settings: &Settings<'_>,
    part: &mut Part<T>,
) -> Range<u64> {
    let mut requested = 0..0;
    let (path, damage) = match work {
        Work::Begin {
            path,
            format,
            compression,
        } => {
            order.totals.lines = 0;
            order.watch = format.watch();
            part.begins = Some(FileSummary {
                path: Arc::clone(path),
                format: *format,
                compression: *compression,
                records: 0,
                rejected: 0,
                reasons: BTreeMap::new(),
                damage: Vec::new(),
                note: None,
            });
            return requested;
        }
        Work::Broken { file, .. } => {
            part.file = *file;
            return requested;
        }
        Work::Failure(_) => {
            order.over = true;
            return requested;
        }
        Work::Chunk {
            file,
            format,
            chunk,
            ..
        } => {
            part.file = *file;
            let Some(decoded) = decoded else {
                return requested;
            };
            limit_records(order, decoded, *format, chunk, settings);
            limit_games(order, decoded, *format, chunk, settings);
            let before = order.totals;
            let evidence = decoded.evidence.take();
            let mut damage = match &mut order.watch {
                Some(watch) => watch.chunk(evidence, chunk.offset),
                None => Vec::new(),
            };
            decoded.number(&mut order.totals, chunk);
            damage.append(&mut decoded.damage);
            // The list is the same however the file was cut into chunks.
            damage.sort_by_key(|damage| damage.offset);
            if !settings.past_damage
                && let Some(first) = damage.iter().map(|damage| damage.offset).min()
            {
                // Only what comes before the damage counts.
                decoded.truncate(first - chunk.offset);
                order.totals.records = before.records + decoded.records;
            }
            let range = settings.skip..settings.end;
            part.records = overlap(before.records..order.totals.records, &range);
            part.games = decoded.games;
            part.remarks = std::mem::take(&mut decoded.remarks);
            part.left_out = std::mem::take(&mut decoded.left_out);
            requested = range;
            decoded
                .rejects
                .retain(|reject| requested.contains(&reject.place.record));
            if settings.strict
                && let Some(first) = decoded.rejects.iter().map(|r| r.place.record).min()
            {
                requested.end = requested.end.min(first + 1);
                decoded
                    .rejects
                    .retain(|reject| requested.contains(&reject.place.record));
            }
            // Whether anything after the limit is seen would depend on the size of chunks.
            if order.is_full(settings) {
                return requested;
            }
            (&chunk.file, damage)
        }
        Work::End { file, path, len } => {
            part.file = *file;
            let (damage, note) = match &mut order.watch {
                Some(watch) => watch.end(*len),
                None => (Vec::new(), None),
            };
            part.note = note;
            (path, damage)
        }
    };
    if settings.past_damage {
        part.damage = damage;
    } else if let Some(damage) = damage.into_iter().min_by_key(|damage| damage.offset) {
        order.over = true;
        part.failure = Some(Error::Damaged {
            path: Arc::clone(path),
            damage,
        });
    }
    requested
}

/// Decodes a chunk again up to the game or line of the last requested record, so that counts other than
/// those of records do not depend on where chunks end.
fn limit_records(
    order: &Ordered,
    decoded: &mut Decoded,
    format: Format,
    chunk: &Chunk,
    settings: &Settings<'_>,
) {
    let left = settings.end.saturating_sub(order.totals.records);
    if decoded.records < left || !format.about().is_text {
        return;
    }
    // Where the last good record that is requested begins, and the first one that is not.
    let origins = decoded
        .batches
        .iter()
        .flat_map(|batch| (0..batch.len()).map(|row| (batch.index(row), batch.origin(row))));
    let (requested, others): (Vec<_>, Vec<_>) = origins.partition(|&(index, _)| index < left);
    let Some(&(_, last)) = requested.last() else {
        return;
    };
    let end = if decoded.games == 0 {
        others.first().map(|&(_, origin)| origin)
    } else {
        let ask = DecodeOptions {
            game_rows: true,
            ..settings.decode.clone()
        };
        let games = format.decode(chunk, &ask).game_rows;
        games.iter().map(|game| game.end).find(|&end| end > last)
    };
    if let Some(end) = end {
        let again = format.decode(&up_to(chunk, end), &settings.decode);
        // There may be rejects after the last good record.
        if again.records >= left {
            *decoded = again;
        }
    }
}

/// The first bytes of a chunk.
fn up_to(chunk: &Chunk, end: usize) -> Chunk {
    Chunk {
        bytes: chunk.bytes.slice(0..end),
        truncated: chunk.truncated && end == chunk.bytes.len(),
        ..chunk.clone()
    }
}

/// Decodes a chunk again up to the last requested game, so that counts do not depend on where chunks end.
fn limit_games(
    order: &mut Ordered,
    decoded: &mut Decoded,
    format: Format,
    chunk: &Chunk,
    settings: &Settings<'_>,
) {
    let left = settings.end_games.saturating_sub(order.game_rows);
    if decoded.game_rows.len() as u64 >= left {
        let end = match left {
            0 => 0,
            left => decoded.game_rows[left as usize - 1].end,
        };
        *decoded = format.decode(&up_to(chunk, end), &settings.decode);
    }
    order.game_rows += decoded.game_rows.len() as u64;
}

fn overlap(records: Range<u64>, requested: &Range<u64>) -> u64 {
    let start = records.start.max(requested.start);
    records.end.min(requested.end).saturating_sub(start)
}
