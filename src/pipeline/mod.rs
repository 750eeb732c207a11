//! From inputs to results, on all threads, in order.
//!
//! Each worker takes the next chunk from the `feed`, decodes it, waits until the chunks before it have been
//! numbered (`order`), lets the lanes answer the questions and the `judge` say which records count, hands tiles of
//! records to the [`Job`], and sends what the job made of them to the thread that called [`run`], which takes the
//! parts in the order of the input and keeps the `summary`. So the outcome depends neither on the number of
//! threads nor on the size of chunks, and a few chunks per thread are all that is ever in memory. The frames of a
//! `pzstd` file are decompressed by the same workers: `--threads` means what it says.
//!
//! Once a chunk has been numbered, and nothing before it has failed, what becomes of it is taken: a job may keep
//! what it makes of several chunks together.
//!
//! Records are analyzed a tile at a time ([`TILE`] groups), so that results are consumed while they are in the
//! nearest cache.

mod feed;
mod judge;
mod order;
mod summary;

pub use summary::{FileSummary, Summary};

use crate::answers::Questions;
use crate::error::{Error, Reject};
use crate::formats::{DecodeOptions, Format};
use crate::games::{GameRow, LeftOut};
use crate::input::{Access, Inputs};
use crate::setters::setters;
use crate::table::Tile;
use crate::tiers::Analyzer;
use feed::{Feed, GIANT};
use order::{Ordered, Settings, Shared, State, StopOnDrop, work};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use summary::{Collector, Part};

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
/// Called for each rejected record.
pub type OnReject<'a> = dyn FnMut(&Reject) -> Result<(), Error> + 'a;
/// Called from time to time.
pub type OnProgress<'a> = dyn FnMut(Progress) + 'a;

/// RunOptions of a run.
#[non_exhaustive]
pub struct RunOptions<'a> {
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
    /// Called for each rejected record, in order.
    pub on_reject: Option<&'a mut OnReject<'a>>,
    /// Called from time to time with the progress of the run.
    pub on_progress: Option<&'a mut OnProgress<'a>>,
    /// Set from elsewhere to end the run with [`Error::Interrupted`].
    pub interrupt: Option<&'a AtomicBool>,
}

impl<'a> RunOptions<'a> {
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

setters!(RunOptions<'a> {
    threads: usize,
    decode: DecodeOptions,
    from: Option<Format>,
    access: Access,
    strict: bool,
    skip: u64,
    limit: Option<u64>,
    limit_games: Option<u64>,
    chunk_size: usize,
    past_damage: bool,
    on_reject: Option<&'a mut OnReject<'a>>,
    on_progress: Option<&'a mut OnProgress<'a>>,
    interrupt: Option<&'a AtomicBool>,
});

impl fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
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
#[non_exhaustive]
pub struct Progress {
    /// Bytes of the inputs used up, as they lie on disk.
    pub bytes: u64,
    /// Records read, good and bad.
    pub records: u64,
    /// Games begun.
    pub games: u64,
}

/// What is done with the records.
pub trait Job: Sync {
    /// What becomes of a chunk's records. Parts arrive in the order of the input.
    type Part: Send;
    /// Which questions are to be answered.
    fn asks(&self) -> Questions;
    /// Begins a chunk.
    fn begin(&self) -> Self::Part;
    /// Takes the next run of records of the chunk.
    fn tile(&self, part: &mut Self::Part, tile: &Tile<'_>);
    /// Takes what is known of the games of the chunk, with [`DecodeOptions::game_rows`]; after the records.
    fn games(&self, _part: &mut Self::Part, _games: &[GameRow]) {}
}

/// Reads all inputs, lets `job` work on all good records on all threads, and hands what it made to `sink`,
/// in order, on the calling thread.
///
/// The summary says how it ended: an [`Error`] in [`Summary::failure`] does not undo what was processed
/// before.
pub fn run<J: Job>(
    inputs: &Inputs,
    mut options: RunOptions<'_>,
    job: &J,
    mut sink: impl FnMut(J::Part) -> Result<(), Error>,
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
        numbered: Condvar::new(),
        stop: AtomicBool::new(false),
    };
    let (sender, parts) = channel::<(u64, Part<J::Part>)>();
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
