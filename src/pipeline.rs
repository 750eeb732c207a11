//! The road of the data: inputs to chunks to batches to results, on all threads, in order.
//!
//! Each worker takes the next chunk from the inputs, decodes it, waits until the chunks before it have been
//! counted (so that it knows the numbers of its records), lets the lanes answer the questions, hands runs of
//! good records to the [`Job`], and sends what the job made of them to the thread that called [`run`], which
//! takes the parts in the order of the input. So the outcome depends neither on the number of threads nor on
//! the size of chunks, and a few chunks a thread are all that is ever in memory. The frames of a `pzstd` file
//! are decompressed by the same workers: `--threads` means what it says.
//!
//! Records are analyzed a tile at a time ([`TILE`] groups), so that results are consumed while they are in
//! the nearest cache.

use crate::answers::{GroupResults, Questions};
use crate::batch::{Batch, Field};
use crate::block::Group;
use crate::chess::validity::Validity;
use crate::error::{Damage, Error, Place, Reject};
use crate::formats::pgn::{GameRow, LeftOut, LeftOutBy};
use crate::formats::{self, Chunk, DecodeOptions, Decoded, FileCheck, Format, Opened, Totals};
use crate::input::{Access, Bytes, Compression, FrameJob, Inputs, Next};
use crate::tiers::Analyzer;
use memchr::memchr_iter;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Groups that are analyzed at once: boards, results and what a job keeps stay in the nearest two caches.
pub const TILE: usize = 64;
/// Rejects that a [`Summary`] keeps.
pub const FIRST_REJECTS: usize = 10;
/// Chunks a thread that may be under way or wait for their turn.
const CHUNKS_PER_THREAD: u64 = 4;
/// Chunks more than threads, at most: memory should not grow with them.
const MORE_CHUNKS: u64 = 16;
/// More threads than these get smaller chunks, so that all of them together need no more memory.
const THREADS_OF_WHOLE_CHUNKS: usize = 4;
/// Bytes without the end of a record after which a giant is passed over, at least; a smaller
/// [`DecodeOptions::max_record`] is for the decoders to watch.
const GIANT: usize = 16 << 20;
/// Bytes more that are looked at, since what comes behind a place may decide whether a record begins there.
const LOOK_AHEAD: usize = 128 << 10;

/// Told of bad records.
pub type OnReject<'a> = dyn FnMut(&Reject) -> Result<(), Error> + 'a;

/// How to run.
pub struct Options<'a> {
    /// Who answers the questions.
    pub analyzer: &'a dyn Analyzer,
    /// Worker threads; at least one runs.
    pub threads: usize,
    /// Which positions are accepted, and how they are read.
    pub decode: DecodeOptions,
    /// The format of all inputs, where the user knows better.
    pub from: Option<Format>,
    /// How inputs are opened.
    pub access: Access,
    /// End with an error at the first bad record.
    pub strict: bool,
    /// Records to skip, counted over all inputs, bad ones included.
    pub skip: u64,
    /// Records to take at most after those skipped, bad ones included.
    pub limit: Option<u64>,
    /// With [`DecodeOptions::game_rows`]: read no further than the end of the game that has this row, counted
    /// from 1 over all inputs.
    pub limit_games: Option<u64>,
    /// Bytes of a chunk, about; with many threads it is less.
    pub chunk_size: usize,
    /// Go on behind damaged blocks, and with the next input behind a broken container, and report them in
    /// [`Summary::files`], rather than stop with an error.
    pub past_damage: bool,
    /// Told of every reject, in order.
    pub on_reject: Option<&'a mut OnReject<'a>>,
    /// Told from time to time how far the run is.
    pub on_progress: Option<&'a mut dyn FnMut(Progress)>,
    /// Set from elsewhere to end the run with [`Error::Interrupted`].
    pub interrupt: Option<&'a AtomicBool>,
}

impl<'a> Options<'a> {
    /// The usual: one thread, no limits.
    pub fn new(analyzer: &'a dyn Analyzer) -> Self {
        Self {
            analyzer,
            threads: 1,
            decode: DecodeOptions::default(),
            from: None,
            access: Access::default(),
            strict: false,
            skip: 0,
            limit: None,
            limit_games: None,
            chunk_size: 1 << 20,
            past_damage: false,
            on_reject: None,
            on_progress: None,
            interrupt: None,
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("analyzer", &self.analyzer)
            .field("threads", &self.threads)
            .field("decode", &self.decode)
            .field("from", &self.from)
            .field("strict", &self.strict)
            .field("skip", &self.skip)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the inputs used up, as they lie on disk.
    pub bytes: u64,
    /// Records read, good and bad.
    pub records: u64,
    /// Games begun.
    pub games: u64,
}

/// A run of good records with the answers to the questions about them.
#[derive(Clone, Copy, Debug)]
pub struct Tile<'a> {
    /// The batch that the records are in.
    pub batch: &'a Batch,
    /// Row of the first record; a multiple of eight.
    pub start: usize,
    /// Number of records; the last group may be partly filled.
    pub len: usize,
    /// The boards.
    pub groups: &'a [Group],
    /// The answers, one for each group.
    pub results: &'a [GroupResults],
}

impl Tile<'_> {
    /// The rows of [`Tile::batch`] that it covers. Row *r* is lane `r % 8` of group `(r - start) / 8`.
    pub fn rows(&self) -> Range<usize> {
        self.start..self.start + self.len
    }
    /// Which lanes of a group hold records, as bits.
    #[inline]
    pub fn lanes(&self, group: usize) -> u8 {
        match self.len - group * Group::LEN {
            len @ 0..8 => (1 << len) - 1,
            _ => 0xFF,
        }
    }
}

/// What is done with the records.
pub trait Job: Sync {
    /// What becomes of a chunk's records.
    type Output: Send;
    /// Which questions are to be answered.
    fn asks(&self) -> Questions;
    /// Begins a chunk.
    fn begin(&self) -> Self::Output;
    /// Takes the next run of records of the chunk.
    fn tile(&self, output: &mut Self::Output, tile: Tile<'_>);
    /// Takes what is known of the games of the chunk, with [`DecodeOptions::game_rows`]; after the records.
    fn games(&self, _output: &mut Self::Output, _games: &[GameRow]) {}
}

/// What a run read, and how it ended.
#[derive(Debug, Default)]
#[must_use]
pub struct Summary {
    /// Records read within `skip` and `limit`, good and bad.
    pub records: u64,
    /// Of those, bad ones.
    pub rejected: u64,
    /// How often each reason was given; a record may have several.
    pub reasons: BTreeMap<&'static str, u64>,
    /// The first bad records.
    pub first_rejects: Vec<Reject>,
    /// Games begun.
    pub games: u64,
    /// En passant squares that were written and dropped, because no en passant capture is legal.
    pub dropped_en_passants: u64,
    /// Castling rights of `FEN` tags that were dropped, because the king or the rook is elsewhere.
    pub dropped_castling: u64,
    /// Games in which some tag stands several times.
    pub games_with_doubled_tags: u64,
    /// Games and positions that were not selected, for each option that was set.
    pub left_out: LeftOutBy,
    /// Bytes of the inputs used up, as they lie on disk.
    pub bytes: u64,
    /// The same for each input that was opened.
    pub files: Vec<FileSummary>,
    /// Why the run ended before its time. Everything before that place was processed.
    pub failure: Option<Error>,
}

impl Summary {
    /// Records that were accepted.
    pub fn accepted(&self) -> u64 {
        self.records - self.rejected
    }
}

/// What was read of one input.
#[derive(Clone, Debug)]
pub struct FileSummary {
    /// The input.
    pub path: Arc<Path>,
    /// Its format.
    pub format: Format,
    /// The container around it.
    pub compression: Option<Compression>,
    /// Records read, good and bad.
    pub records: u64,
    /// Of those, bad ones.
    pub rejected: u64,
    /// How often each reason was given.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Damaged places, with [`Options::past_damage`].
    pub damage: Vec<Damage>,
    /// Whether its last game has no result, not even `*`: it may have been cut off.
    pub last_game_open: bool,
}

/// Reads all inputs, lets `job` work on all good records on all threads, and hands what it made to `sink`,
/// in order, on the calling thread.
///
/// The summary tells how it ended: an [`Error`] in [`Summary::failure`] does not undo what was processed
/// before.
pub fn run<J: Job>(
    inputs: &Inputs,
    mut options: Options<'_>,
    job: &J,
    mut sink: impl FnMut(J::Output) -> Result<(), Error>,
) -> Summary {
    let threads = options.threads.max(1);
    let options_set = options
        .decode
        .games
        .iter()
        .flat_map(|games| games.options());
    let mut collector = Collector {
        summary: Summary {
            left_out: options_set.map(|name| (name, LeftOut::default())).collect(),
            ..Summary::default()
        },
        strict: options.strict,
        on_reject: options.on_reject.take(),
    };
    let mut on_progress = options.on_progress.take();
    let interrupt = options.interrupt.take();
    let settings = Settings {
        analyzer: options.analyzer,
        decode: options.decode,
        skip: options.skip,
        end: options
            .limit
            .map_or(u64::MAX, |limit| options.skip.saturating_add(limit)),
        end_games: options.limit_games.unwrap_or(u64::MAX),
        past_damage: options.past_damage,
        strict: options.strict,
    };
    let max_record = settings.decode.max_record;
    let consumed = Arc::new(AtomicU64::new(0));
    let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool,
        Err(error) => {
            collector.summary.failure = Some(Error::Threads {
                threads,
                reason: error.to_string(),
            });
            return collector.summary;
        }
    };
    let shared = Shared {
        state: Mutex::new(State {
            feed: Feed {
                inputs: &inputs.paths,
                next_input: 0,
                current: None,
                from: options.from,
                access: options.access,
                chunk_size: (options.chunk_size / threads.max(THREADS_OF_WHOLE_CHUNKS)
                    * THREADS_OF_WHOLE_CHUNKS)
                    .clamp(64, GIANT),
                max_record,
                consumed: Arc::clone(&consumed),
                past_damage: options.past_damage,
                ended: false,
            },
            given: 0,
        }),
        moved: Condvar::new(),
        room: Mutex::new((threads as u64 * CHUNKS_PER_THREAD).min(threads as u64 + MORE_CHUNKS)),
        freed: Condvar::new(),
        order: Mutex::new(Ordered::default()),
        settled: Condvar::new(),
        stop: AtomicBool::new(false),
    };
    let (sender, parts) = channel::<(u64, Part<J::Output>)>();
    pool.in_place_scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let (shared, settings) = (&shared, &settings);
            scope.spawn(move |_| work(shared, settings, job, &sender));
        }
        drop(sender);
        let stopper = StopOnDrop(&shared);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        'parts: loop {
            let received = parts.recv_timeout(Duration::from_millis(50));
            if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                collector.summary.failure = Some(Error::Interrupted);
                break;
            }
            if let Some(on_progress) = &mut on_progress {
                on_progress(Progress {
                    bytes: consumed.load(Ordering::Relaxed),
                    records: collector.summary.records,
                    games: collector.summary.games,
                });
            }
            match received {
                Ok((number, part)) => {
                    waiting.insert(number, part);
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(part) = waiting.remove(&next) {
                next += 1;
                shared.leave();
                if let Err(error) = collector.take(part, &mut sink) {
                    collector.summary.failure = Some(error);
                    break 'parts;
                }
            }
        }
        drop(stopper);
    });
    collector.summary.bytes = consumed.load(Ordering::Relaxed);
    collector.summary
}

/// What is the same for all workers.
struct Settings<'a> {
    analyzer: &'a dyn Analyzer,
    decode: DecodeOptions,
    /// Numbers of the first record wanted and of the first one after them.
    skip: u64,
    end: u64,
    /// Rows of games that are wanted.
    end_games: u64,
    past_damage: bool,
    strict: bool,
}

/// What the workers share.
struct Shared<'a> {
    state: Mutex<State<'a>>,
    /// A frame is there, or the end.
    moved: Condvar,
    /// How many more chunks may be under way.
    room: Mutex<u64>,
    freed: Condvar,
    order: Mutex<Ordered>,
    /// A chunk has been counted.
    settled: Condvar,
    stop: AtomicBool,
}

struct State<'a> {
    feed: Feed<'a>,
    /// Chunks given out.
    given: u64,
}

/// What is counted chunk after chunk.
#[derive(Default)]
struct Ordered {
    next: u64,
    totals: Totals,
    /// Rows of games.
    game_rows: u64,
    check: FileCheck,
    /// The last game of this input so far has no result and reaches to the end of its chunk.
    last_game_open: bool,
    /// Nothing behind counts: the limit is reached, or something failed.
    over: bool,
}

impl Ordered {
    /// Whether all records or games that are wanted have been read.
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
    /// Waits for room for one more chunk; false when the run is over.
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
    fn leave(&self) {
        *self.room.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.freed.notify_one();
    }
}

/// Ends all waiting when the run is over, also when it is over because somebody panicked.
struct StopOnDrop<'a, 'b>(&'a Shared<'b>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::SeqCst);
        // Under each lock once, so that nobody falls asleep between looking at the flag and waiting.
        drop(self.0.lock());
        self.0.moved.notify_all();
        drop(self.0.room.lock());
        self.0.freed.notify_all();
        drop(self.0.order.lock());
        self.0.settled.notify_all();
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

/// What a worker may be given.
enum Task {
    Chunk(u64, Work),
    Frame(usize, FrameJob),
}

/// What stands in the sequence of chunks.
enum Work {
    Chunk {
        file: usize,
        format: Format,
        chunk: Chunk,
        /// The chunk is the beginning of a record that is too long, which has this many line feeds.
        giant: Option<u64>,
    },
    /// An input begins.
    Begin {
        path: Arc<Path>,
        format: Format,
        compression: Option<Compression>,
    },
    /// An input ends; its decompressed length.
    End {
        file: usize,
        path: Arc<Path>,
        len: u64,
    },
    /// An input ends before its end, and the run goes on with the next one.
    Broken {
        file: usize,
        error: Error,
    },
    Failure(Error),
}

/// What a chunk becomes.
struct Part<T> {
    file: usize,
    begins: Option<FileSummary>,
    output: Option<T>,
    records: u64,
    games: u64,
    dropped_en_passants: u64,
    dropped_castling: u64,
    games_with_doubled_tags: u64,
    left_out: LeftOutBy,
    rejects: Vec<Reject>,
    damage: Vec<Damage>,
    broken: Option<Error>,
    failure: Option<Error>,
    last_game_open: bool,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self {
            file: 0,
            begins: None,
            output: None,
            records: 0,
            games: 0,
            dropped_en_passants: 0,
            dropped_castling: 0,
            games_with_doubled_tags: 0,
            left_out: LeftOutBy::new(),
            rejects: Vec::new(),
            damage: Vec::new(),
            broken: None,
            failure: None,
            last_game_open: false,
        }
    }
}

/// The loop of a worker.
fn work<J: Job>(
    shared: &Shared<'_>,
    settings: &Settings<'_>,
    job: &J,
    sender: &Sender<(u64, Part<J::Output>)>,
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

/// Waits for the next task; `None` when there are no more.
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
            // A frame is being decompressed elsewhere, or a slow pipe has nothing yet: then nobody says
            // when it has.
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

/// The error that a file became shorter than a chunk that is mapped from it.
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

/// Decodes, counts, filters and analyzes; `None` when the run ended before this chunk.
fn process<J: Job>(
    shared: &Shared<'_>,
    settings: &Settings<'_>,
    job: &J,
    number: u64,
    work: Work,
    scratch: &mut [GroupResults],
) -> Option<Part<J::Output>> {
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
        // What was read behind the new end is no part of the file.
        (work, decoded) = (Work::Failure(error), None);
    }
    let before;
    {
        let order = shared.order.lock().unwrap_or_else(PoisonError::into_inner);
        let mut order = shared
            .settled
            .wait_while(order, |order| {
                order.next != number && !order.over && !shared.stopped()
            })
            .unwrap_or_else(PoisonError::into_inner);
        if order.over || order.next != number {
            return None;
        }
        before = order.totals;
        settle(&mut order, &work, decoded.as_mut(), settings, &mut part);
        order.over |= order.is_full(settings);
        if order.over {
            shared.lock().feed.ended = true;
            shared.moved.notify_all();
        }
        order.next += 1;
        drop(order);
        shared.settled.notify_all();
    }
    if let (Work::Chunk { format, chunk, .. }, Some(mut decoded)) = (&work, decoded) {
        let mut output = job.begin();
        let mut filter = Filter {
            settings,
            job,
            questions: job.asks().union(Questions::UNPLAYABLE),
            format: *format,
            chunk,
            lines_before: before.lines,
            output: &mut output,
            rejects: std::mem::take(&mut decoded.rejects),
            scratch,
        };
        for batch in &decoded.batches {
            if !filter.batch(batch) {
                break;
            }
        }
        let mut rejects = filter.rejects;
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

/// The part of the work that is done in order: counting, and what is true of a file as a whole. Once this has
/// been done for a chunk, and nothing before it has failed, what becomes of it is taken: a job may keep what it
/// makes of several chunks together.
fn settle<T>(
    order: &mut Ordered,
    work: &Work,
    decoded: Option<&mut Decoded>,
    settings: &Settings<'_>,
    part: &mut Part<T>,
) {
    let (path, damage) = match work {
        Work::Begin {
            path,
            format,
            compression,
        } => {
            order.totals.lines = 0;
            order.check = FileCheck::new(*format);
            order.last_game_open = false;
            part.begins = Some(FileSummary {
                path: Arc::clone(path),
                format: *format,
                compression: *compression,
                records: 0,
                rejected: 0,
                reasons: BTreeMap::new(),
                damage: Vec::new(),
                last_game_open: false,
            });
            return;
        }
        Work::Broken { file, .. } => {
            part.file = *file;
            return;
        }
        Work::Failure(_) => {
            order.over = true;
            return;
        }
        Work::Chunk {
            file,
            format,
            chunk,
            ..
        } => {
            part.file = *file;
            let Some(decoded) = decoded else { return };
            limit_records(order, decoded, *format, chunk, settings);
            limit_games(order, decoded, *format, chunk, settings);
            if decoded.games + decoded.records > 0 {
                order.last_game_open = decoded.last_game_open;
            }
            let before = order.totals;
            let mut damage = order.check.chunk(decoded, chunk.offset);
            decoded.settle(&mut order.totals, chunk);
            damage.append(&mut decoded.damage);
            // The list is the same however the file was cut into chunks.
            damage.sort_by_key(|damage| damage.offset);
            if !settings.past_damage
                && let Some(first) = damage.iter().map(|damage| damage.offset).min()
            {
                // What stands before it counts, and nothing else.
                decoded.truncate(first - chunk.offset);
                order.totals.records = before.records + decoded.records;
            }
            let range = settings.skip..settings.end;
            part.records = overlap(before.records..order.totals.records, &range);
            part.games = decoded.games;
            part.dropped_en_passants = decoded.dropped_en_passants;
            part.dropped_castling = decoded.dropped_castling;
            part.games_with_doubled_tags = decoded.games_with_doubled_tags;
            part.left_out = std::mem::take(&mut decoded.left_out);
            if part.records != decoded.records {
                restrict(decoded, &range);
            }
            if settings.strict
                && let Some(first) = decoded.rejects.iter().map(|r| r.place.record).min()
            {
                restrict(decoded, &(settings.skip..first + 1));
            }
            // Whether it is seen what comes behind the limit would depend on the size of chunks.
            if order.is_full(settings) {
                return;
            }
            (&chunk.file, damage)
        }
        Work::End { file, path, len } => {
            part.file = *file;
            part.last_game_open = order.last_game_open;
            (path, order.check.end(*len))
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
}

/// Decodes a chunk again up to the game or line with the last record that is wanted: so what is counted
/// besides records does not depend on where chunks end.
fn limit_records(
    order: &Ordered,
    decoded: &mut Decoded,
    format: Format,
    chunk: &Chunk,
    settings: &Settings<'_>,
) {
    let left = settings.end.saturating_sub(order.totals.records);
    if decoded.records < left || format == Format::Boards {
        return;
    }
    // Where the last good record begins that is wanted, and the first one that is not.
    let origins = decoded
        .batches
        .iter()
        .flat_map(|batch| (0..batch.len()).map(|row| (batch.index(row), batch.origin(row))));
    let (wanted, others): (Vec<_>, Vec<_>) = origins.partition(|&(index, _)| index < left);
    let Some(&(_, last)) = wanted.last() else {
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
        // Rejects among the last records may stand behind the last good one.
        if again.records >= left {
            *decoded = again;
        }
    }
}

/// The first bytes of a chunk.
fn up_to(chunk: &Chunk, end: usize) -> Chunk {
    Chunk {
        bytes: chunk.bytes.slice(0..end),
        torn: chunk.torn && end == chunk.bytes.len(),
        ..chunk.clone()
    }
}

/// Decodes a chunk again up to the game that is the last one wanted: so what is counted does not depend on
/// where chunks end.
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

fn overlap(records: Range<u64>, wanted: &Range<u64>) -> u64 {
    let start = records.start.max(wanted.start);
    records.end.min(wanted.end).saturating_sub(start)
}

/// Leaves only records with these numbers.
fn restrict(decoded: &mut Decoded, wanted: &Range<u64>) {
    decoded
        .rejects
        .retain(|reject| wanted.contains(&reject.place.record));
    for batch in &mut decoded.batches {
        let rows: Vec<u32> = (0..batch.len() as u32)
            .filter(|&row| wanted.contains(&batch.index(row as usize)))
            .collect();
        if rows.len() != batch.len() {
            *batch = batch.select(&rows);
        }
    }
}

/// Hands good records to the job and keeps the bad ones.
struct Filter<'a, J: Job> {
    settings: &'a Settings<'a>,
    job: &'a J,
    questions: Questions,
    format: Format,
    chunk: &'a Chunk,
    lines_before: u64,
    output: &'a mut J::Output,
    rejects: Vec<Reject>,
    scratch: &'a mut [GroupResults],
}

impl<J: Job> Filter<'_, J> {
    /// Works on a batch; false when nothing behind it is wanted.
    fn batch(&mut self, batch: &Batch) -> bool {
        let Err(start) = self.tiles(batch, true) else {
            return true;
        };
        // Something in the tile at `start` is bad. What follows is judged as a whole, and the good records
        // close their ranks.
        let mut good: Vec<u32> = Vec::with_capacity(batch.len() - start);
        let mut more = true;
        'tiles: for tile in (start..batch.len()).step_by(TILE * Group::LEN) {
            let end = (tile + TILE * Group::LEN).min(batch.len());
            let groups = &batch.groups()[tile / Group::LEN..end.div_ceil(Group::LEN)];
            let questions = Questions::UNPLAYABLE;
            self.settings
                .analyzer
                .analyze(groups, questions, self.scratch);
            for row in tile..end {
                let bad = self.scratch[(row - tile) / Group::LEN].unplayable[row % Group::LEN] != 0
                    || self.breaks_strict(batch, row);
                if bad {
                    self.reject(batch, row);
                    if self.settings.strict {
                        more = false;
                        break 'tiles;
                    }
                } else {
                    good.push(row as u32);
                }
            }
        }
        let rest = batch.select(&good);
        let again = self.tiles(&rest, false);
        debug_assert!(again.is_ok(), "good records are good twice");
        more
    }

    /// Analyzes tile by tile. With `judge`, stops at the first tile that has a bad record.
    fn tiles(&mut self, batch: &Batch, judge: bool) -> Result<(), usize> {
        for start in (0..batch.len()).step_by(TILE * Group::LEN) {
            let len = (batch.len() - start).min(TILE * Group::LEN);
            let first = start / Group::LEN;
            let groups = &batch.groups()[first..first + len.div_ceil(Group::LEN)];
            self.settings
                .analyzer
                .analyze(groups, self.questions, self.scratch);
            let tile = Tile {
                batch,
                start,
                len,
                groups,
                results: &self.scratch[..groups.len()],
            };
            if judge && self.has_bad(&tile) {
                return Err(start);
            }
            self.job.tile(self.output, tile);
        }
        Ok(())
    }

    fn has_bad(&self, tile: &Tile<'_>) -> bool {
        let (last, whole) = match tile.results.split_last() {
            Some(split) => split,
            None => return false,
        };
        let mut bad = 0;
        for results in whole {
            for lane in results.unplayable {
                bad |= lane;
            }
        }
        let lanes = tile.len - whole.len() * Group::LEN;
        for lane in &last.unplayable[..lanes] {
            bad |= lane;
        }
        bad != 0
            || self.settings.decode.validity == Validity::Strict
                && tile.rows().any(|row| self.breaks_strict(tile.batch, row))
    }

    fn breaks_strict(&self, batch: &Batch, row: usize) -> bool {
        self.settings.decode.validity == Validity::Strict
            && !batch
                .position(row)
                .is_ok_and(|position| position.is_valid(Validity::Strict))
    }

    #[cold]
    fn reject(&mut self, batch: &Batch, row: usize) {
        let (reasons, message) = match batch.position(row) {
            Err(error) => (vec!["undecodable"], error.to_string()),
            Ok(position) => {
                let violations = position.violations(self.settings.decode.validity);
                (violations.names().collect(), violations.to_string())
            }
        };
        let origin = batch.origin(row);
        let (raw, line) = match self.format.raw(&self.chunk.bytes, origin) {
            Some((raw, line)) => (raw.to_vec(), Some(self.lines_before + line)),
            None => (hexadecimal(batch, row), None),
        };
        let number = |field| batch.values(field)?.number(row);
        self.rejects.push(Reject {
            place: Place {
                file: Arc::clone(&self.chunk.file),
                line,
                offset: self.chunk.offset + origin as u64,
                record: batch.index(row),
                game: number(Field::Game).map(|game| game as u64),
                ply: number(Field::Ply).map(|ply| ply as u16),
            },
            reasons,
            message: Cow::Owned(message),
            raw,
        });
    }
}

/// The four planes of a board and the two clocks, in hexadecimal digits: a record that has no text.
fn hexadecimal(batch: &Batch, row: usize) -> Vec<u8> {
    let board = batch.board(row);
    let [t0, t1, t2] = board.types;
    format!(
        "{:016x} {t0:016x} {t1:016x} {t2:016x} {} {}",
        board.color, batch.halfmove[row], batch.fullmove[row]
    )
    .into_bytes()
}

/// Puts the parts together in order.
struct Collector<'a> {
    summary: Summary,
    strict: bool,
    on_reject: Option<&'a mut OnReject<'a>>,
}

impl Collector<'_> {
    fn take<T>(
        &mut self,
        part: Part<T>,
        sink: &mut impl FnMut(T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let summary = &mut self.summary;
        summary.files.extend(part.begins);
        let rejected = part.rejects.len() as u64;
        summary.records += part.records;
        summary.rejected += rejected;
        summary.games += part.games;
        summary.dropped_en_passants += part.dropped_en_passants;
        summary.dropped_castling += part.dropped_castling;
        summary.games_with_doubled_tags += part.games_with_doubled_tags;
        for (option, more) in part.left_out {
            let left_out = summary.left_out.entry(option).or_default();
            left_out.games += more.games;
            left_out.positions += more.positions;
            left_out.unknown += more.unknown;
        }
        let reasons = part.rejects.iter().flat_map(|reject| &reject.reasons);
        if let Some(file) = summary.files.get_mut(part.file) {
            file.records += part.records;
            file.rejected += rejected;
            file.last_game_open |= part.last_game_open;
            file.damage.extend(part.damage);
            file.damage
                .extend(part.broken.as_ref().map(Error::as_damage));
            for &reason in reasons.clone() {
                *file.reasons.entry(reason).or_default() += 1;
            }
        }
        if let Some(error) = part.broken {
            summary.failure.get_or_insert(error);
        }
        for &reason in reasons {
            *summary.reasons.entry(reason).or_default() += 1;
        }
        let mut failure = part.failure;
        for reject in part.rejects {
            if let Some(on_reject) = &mut self.on_reject {
                on_reject(&reject)?;
            }
            if self.strict {
                failure = Some(Error::Strict(Box::new(reject)));
                break;
            }
            if summary.first_rejects.len() < FIRST_REJECTS {
                summary.first_rejects.push(reject);
            }
        }
        // Also before a failure: the good records before it.
        if let Some(output) = part.output {
            sink(output)?;
        }
        failure.map_or(Ok(()), Err)
    }
}

/// The inputs, cut into chunks.
struct Feed<'a> {
    inputs: &'a [Arc<Path>],
    next_input: usize,
    current: Option<Current>,
    from: Option<Format>,
    access: Access,
    chunk_size: usize,
    max_record: usize,
    consumed: Arc<AtomicU64>,
    past_damage: bool,
    ended: bool,
}

/// The input that is being cut.
struct Current {
    file: usize,
    opened: Opened,
    /// Bytes not yet cut; their beginning may be taken over from the piece before.
    piece: Option<Bytes>,
    /// What is left of the pieces before, too little to decode.
    carry: Vec<u8>,
    /// Only when it is so long it is looked at again: growth by steps makes that linear.
    look_at: usize,
    /// Where the next chunk begins in the decompressed input.
    offset: u64,
    /// [`DecodeOptions::max_record`].
    max_record: usize,
    /// A record without end in sight that is being passed over.
    giant: Option<Giant>,
    error: Option<Error>,
    ended: bool,
}

/// A record that is too long to be held.
struct Giant {
    /// Its first bytes.
    head: Vec<u8>,
    /// Bytes of it that have been passed, and line feeds among them.
    len: u64,
    feeds: u64,
    /// Where in the carry the next record may begin at the earliest.
    from: usize,
}

enum FeedStep {
    Work(Work),
    Frame(usize, FrameJob),
    Wait,
    End,
}

impl Feed<'_> {
    fn next(&mut self) -> FeedStep {
        if self.ended {
            return FeedStep::End;
        }
        let Some(current) = &mut self.current else {
            return self.open_next();
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
                    torn: current.error.is_some(),
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

    fn open_next(&mut self) -> FeedStep {
        let Some(path) = self.inputs.get(self.next_input) else {
            self.ended = true;
            return FeedStep::End;
        };
        match formats::open(path, self.from, self.access, Arc::clone(&self.consumed)) {
            Ok(opened) => {
                let work = Work::Begin {
                    path: Arc::clone(path),
                    format: opened.format,
                    compression: opened.input.compression(),
                };
                self.current = Some(Current {
                    file: self.next_input,
                    opened,
                    piece: None,
                    carry: Vec::new(),
                    look_at: 0,
                    offset: 0,
                    max_record: self.max_record,
                    giant: None,
                    error: None,
                    ended: false,
                });
                self.next_input += 1;
                FeedStep::Work(work)
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

/// Bytes of the next piece that are at least added to what is left of the one before.
const SEAM: usize = 64 << 10;

impl Current {
    fn next(&mut self, chunk_size: usize) -> Cut {
        loop {
            if let Some(piece) = self.piece.take() {
                // Before it is touched: behind the end of a file that was cut there is nothing but a signal.
                let start = piece.slice(0..piece.len().min(chunk_size));
                if let Err(source) = start.check() {
                    return Cut::Failure(Error::Read {
                        path: Arc::clone(self.opened.input.path()),
                        offset: self.offset,
                        source,
                    });
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

    /// What is left when there are no more pieces.
    fn last(&mut self) -> Cut {
        if let Some(cut) = self.pass_giant(true) {
            return cut;
        }
        let mut rest = std::mem::take(&mut self.carry);
        if self.error.is_some() {
            rest.truncate(self.opened.format.salvage(&rest, self.max_record));
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

    /// Bytes in which a record must end, or it is a giant.
    fn longest(&self) -> usize {
        match self.opened.format {
            // Its sections know their lengths.
            Format::Boards => usize::MAX,
            _ => self.max_record.max(GIANT) + LOOK_AHEAD,
        }
    }

    /// The carry is the beginning of a record without end.
    fn begin_giant(&mut self) {
        self.giant = Some(Giant {
            head: self.carry[..formats::GIANT_HEAD.min(self.carry.len())].to_vec(),
            len: 0,
            feeds: 0,
            from: self.max_record,
        });
        self.look_at = 0;
    }

    /// Looks for the end of the giant in the carry; what cannot matter any more is dropped.
    fn pass_giant(&mut self, at_end: bool) -> Option<Cut> {
        let giant = self.giant.as_mut()?;
        let found = self
            .opened
            .format
            .resume(&self.carry, giant.from, at_end)
            .or(at_end.then_some(self.carry.len()));
        let drop = match found {
            Some(at) => at,
            // Some bytes before a place may matter for it, too.
            None => self.carry.len().saturating_sub(2 * LOOK_AHEAD),
        };
        giant.len += drop as u64;
        giant.feeds += memchr_iter(b'\n', &self.carry[..drop]).count() as u64;
        // What has been looked at far enough is not looked at again, when less stands before it.
        let seen = self.carry.len().saturating_sub(LOOK_AHEAD);
        giant.from = giant.from.max(seen).saturating_sub(drop);
        self.carry.drain(..drop);
        found?;
        let mut giant = self.giant.take()?;
        let head = std::mem::take(&mut giant.head);
        Some(Cut::Chunk(head.into(), Some(giant)))
    }

    /// Puts back what comes after `len` bytes of a piece. A small rest waits for the next piece: as a chunk of
    /// its own it would be done before the large one before it, and its worker would have to wait.
    fn put_back(&mut self, piece: &Bytes, len: usize, chunk_size: usize) {
        if piece.len() - len >= chunk_size / 2 {
            self.piece = Some(piece.slice(len..piece.len()));
        } else {
            self.carry.extend_from_slice(&piece[len..]);
        }
    }

    /// Cuts the next chunk off a piece and puts the rest back; what is too little goes to the carry. Never
    /// are more than [`Current::longest`] bytes without a cut looked at, so that whether there is a giant
    /// does not depend on how the bytes arrive.
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
                // What is left of the seam is still in the piece, unless the cut is before it.
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
