//! The order: workers take chunks, decode them independently, and number their records one chunk after the other.
//!
//! Only [`Count::number`] runs in order: it counts, and checks what holds for a file as a whole. Nobody waits with a
//! decoded chunk: whoever completes the sequence numbers all chunks that are due, and any worker judges them before it
//! takes a new chunk. Threads therefore affect how far chunks overlap in time, and nothing else.

use super::feed::{Current, Feed, FeedStep, Work};
use super::judge::Judge;
use super::number::{Count, Numbered, overlap};
use super::summary::Outcome;
use super::{Job, TILE};
use crate::error::Error;
use crate::formats::{DecodeOptions, Decoded};
use crate::input::FrameJob;
use crate::queries::{GroupResults, Queries};
use crate::tiers::Analyzer;
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a worker waits for data that no signal announces: a slow pipe.
const PATIENCE: Duration = Duration::from_millis(10);

/// What is the same for all workers.
pub(super) struct Settings<'a> {
    pub(super) analyzer: &'a dyn Analyzer,
    pub(super) decode: DecodeOptions,
    /// Whether all lines of the inputs are read.
    pub(super) knows_lines: bool,
    /// Numbers of the first requested record and of the first one after the last.
    pub(super) skip: u64,
    pub(super) end: u64,
    /// Number of requested rows of games.
    pub(super) end_games: u64,
    pub(super) past_damage: bool,
    pub(super) strict: bool,
}

/// What the workers share. Nobody takes one lock while holding the other.
pub(super) struct Shared<'a> {
    feed: Mutex<Numbering<'a>>,
    line: Mutex<Line>,
    /// The line has changed, or a frame is ready.
    moved: Condvar,
}

/// The feed, with the places of chunks in the sequence.
struct Numbering<'a> {
    feed: Feed<'a>,
    /// Chunks handed out.
    given: u64,
}

/// The chunks under way.
struct Line {
    /// How many more may be under way.
    room: u64,
    /// Workers that are taking or decoding a chunk.
    busy: usize,
    /// Decoded chunks, by place, that wait for those before them.
    decoded: BTreeMap<u64, (Work, Option<Decoded>)>,
    /// The place that is numbered next.
    next: u64,
    count: Count,
    /// Numbered chunks that nobody judges yet.
    due: VecDeque<Box<Numbered>>,
    /// There is nothing more to take: the inputs have ended, or nothing after what was numbered counts.
    ended: bool,
    /// The run is over, even for chunks under way.
    stopped: bool,
    /// Frames completed so far.
    frames: u64,
}

impl<'a> Shared<'a> {
    /// At the beginning of a run, with room for this number of chunks.
    pub(super) fn new(feed: Feed<'a>, room: u64) -> Self {
        Self {
            feed: Mutex::new(Numbering { feed, given: 0 }),
            line: Mutex::new(Line {
                room,
                busy: 0,
                decoded: BTreeMap::new(),
                next: 0,
                count: Count::default(),
                due: VecDeque::new(),
                ended: false,
                stopped: false,
                frames: 0,
            }),
            moved: Condvar::new(),
        }
    }
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn feed(&self) -> MutexGuard<'_, Numbering<'a>> {
        self.feed.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn wait<'b>(&self, line: MutexGuard<'b, Line>) -> MutexGuard<'b, Line> {
        self.moved
            .wait(line)
            .unwrap_or_else(PoisonError::into_inner)
    }
    /// Makes room for one more chunk.
    pub(super) fn leave(&self) {
        self.line().room += 1;
        self.moved.notify_one();
    }
}

/// Ends all waiting when the run is over, including when a thread panicked.
pub(super) struct StopOnDrop<'a, 'b>(pub(super) &'a Shared<'b>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.line().stopped = true;
        self.0.moved.notify_all();
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
    Judge(Box<Numbered>),
    Decode(u64, Work),
    Frame(usize, FrameJob),
}

/// The loop of a worker.
pub(super) fn work<J: Job>(
    shared: &Shared<'_>,
    settings: &Settings<'_>,
    job: &J,
    sender: &Sender<(u64, Outcome, Option<J::Part>)>,
) {
    let _guard = StopOnPanic(shared);
    let mut scratch = vec![GroupResults::default(); TILE];
    while let Some(task) = next_task(shared) {
        match task {
            Task::Frame(file, frame) => {
                let done = frame.run();
                if let Some(Current::Bytes(current)) = &mut shared.feed().feed.current
                    && current.file == file
                {
                    current.opened.input.complete(done);
                }
                shared.line().frames += 1;
                shared.moved.notify_all();
            }
            Task::Decode(place, work) => {
                let (work, decoded) = decode(work, settings);
                number(shared, settings, place, work, decoded);
            }
            Task::Judge(numbered) => {
                let place = numbered.place;
                let (outcome, output) = judge(settings, job, *numbered, &mut scratch);
                if sender.send((place, outcome, output)).is_err() {
                    return;
                }
            }
        }
    }
}

/// Waits for the next task; `None` if there are no more.
fn next_task(shared: &Shared<'_>) -> Option<Task> {
    let mut line = shared.line();
    loop {
        if line.stopped {
            return None;
        }
        // What is nearest to its end first, while it is in a cache, and so that it makes room.
        if let Some(numbered) = line.due.pop_front() {
            return Some(Task::Judge(numbered));
        }
        if line.ended {
            if line.busy == 0 {
                // Others may wait for a worker that found nothing to take.
                shared.moved.notify_all();
                return None;
            }
            line = shared.wait(line);
            continue;
        }
        if line.room == 0 {
            line = shared.wait(line);
            continue;
        }
        line.room -= 1;
        line.busy += 1;
        let frames = line.frames;
        drop(line);
        let mut numbering = shared.feed();
        let step = numbering.feed.next();
        let place = numbering.given;
        if let FeedStep::Work(work) = step {
            numbering.given += 1;
            return Some(Task::Decode(place, work));
        }
        drop(numbering);
        line = shared.line();
        line.room += 1;
        line.busy -= 1;
        match step {
            FeedStep::Frame(file, job) => return Some(Task::Frame(file, job)),
            FeedStep::End => {
                line.ended = true;
                shared.moved.notify_all();
            }
            // A frame is being decompressed elsewhere, or a slow pipe is empty.
            _ if line.frames == frames && line.due.is_empty() => {
                line = shared
                    .moved
                    .wait_timeout(line, PATIENCE)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
            _ => {}
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

/// Decodes a chunk.
fn decode(mut work: Work, settings: &Settings<'_>) -> (Work, Option<Decoded>) {
    if let Some(error) = cut_short(&work) {
        work = Work::Failure(error);
    }
    let decoded = match &work {
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
    match cut_short(&work) {
        // Bytes read beyond the new end do not belong to the file.
        Some(error) => (Work::Failure(error), None),
        None => (work, decoded),
    }
}

/// Adds a decoded chunk to the line, and numbers all that are due.
fn number(
    shared: &Shared<'_>,
    settings: &Settings<'_>,
    place: u64,
    work: Work,
    decoded: Option<Decoded>,
) {
    let mut line = shared.line();
    let line = &mut *line;
    line.busy -= 1;
    line.decoded.insert(place, (work, decoded));
    while !line.count.over
        && let Some((work, decoded)) = line.decoded.remove(&line.next)
    {
        let numbered = line.count.number(line.next, work, decoded, settings);
        line.due.push_back(Box::new(numbered));
        line.next += 1;
    }
    line.ended |= line.count.over;
    shared.moved.notify_all();
}

/// Decides which records of a chunk count, and runs the job on them.
fn judge<J: Job>(
    settings: &Settings<'_>,
    job: &J,
    numbered: Numbered,
    scratch: &mut [GroupResults],
) -> (Outcome, Option<J::Part>) {
    let Numbered {
        work,
        decoded,
        before,
        range,
        mut outcome,
        chunk: chunk_number,
        ..
    } = numbered;
    let mut output = None;
    if let (Work::Chunk { format, chunk, .. }, Some(mut decoded)) = (&work, decoded) {
        let mut part = job.begin();
        let texts = decoded.texts.take();
        let judge = Judge {
            analyzer: settings.analyzer,
            validity: settings.decode.validity,
            stops: settings.strict,
            range,
            job,
            queries: job.queries() | Queries::INVALID,
            format: *format,
            chunk,
            texts: texts.as_deref(),
            lines_before: settings.knows_lines.then_some(before.lines),
            counted: (0, 0),
            part: &mut part,
            rejects: std::mem::take(&mut decoded.rejects),
            results: scratch,
        };
        let mut rejects = judge.batches(std::mem::take(&mut decoded.batches));
        if settings.strict
            && let Some(first) = rejects.first()
        {
            let end = first.place.record + 1;
            outcome.records = overlap(before.records..end, &(settings.skip..settings.end));
            rejects.truncate(1);
        }
        job.games(&mut part, &decoded.game_rows);
        job.end(&mut part, chunk_number);
        outcome.rejects = rejects;
        output = Some(part);
    }
    match work {
        Work::Chunk { chunk, .. } => chunk.bytes.release(),
        Work::Failure(error) => outcome.failure = Some(error),
        Work::Broken { error, .. } => outcome.broken = Some(error),
        _ => {}
    }
    (outcome, output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tables::Budget;
    use crate::input::Access;
    use std::sync::mpsc::channel;
    use std::thread;

    /// A worker that found nothing to take, after the end, and the others that wait for what it may have taken.
    #[test]
    fn nobody_waits_for_a_worker_that_found_nothing() {
        let feed = Feed {
            inputs: &[],
            next_input: 0,
            current: None,
            from: None,
            access: Access::default(),
            shard: None,
            chunk_size: 64,
            max_record: 64,
            decode: DecodeOptions::default(),
            budget: Budget::of(0),
            consumed: Arc::default(),
            past_damage: false,
            ended: false,
        };
        let shared = Shared::new(feed, 2);
        shared.line().ended = true;
        shared.line().busy = 1;
        let (sender, done) = channel();
        thread::scope(|scope| {
            scope.spawn(|| sender.send(next_task(&shared).is_none()));
            thread::sleep(Duration::from_millis(50));
            shared.line().busy = 0;
            assert!(next_task(&shared).is_none());
            let waited = done.recv_timeout(Duration::from_secs(20));
            drop(StopOnDrop(&shared));
            assert_eq!(waited, Ok(true));
        });
    }
}
