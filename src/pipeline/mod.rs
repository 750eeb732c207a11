//! From inputs to results, on all threads, in order.
//!
//! Each worker takes the next chunk from the `chunk_feed` and decodes it. The worker that completes the sequence numbers the
//! chunks one after the other (`record_numbering`). Any worker then takes a numbered chunk. The lanes answer the queries, the
//! `judge` decides which records count, the [`Job`] processes tiles of records, and the worker sends the job's output
//! to the thread that called [`run`]. That thread takes the parts in the order of the input and keeps the `summary`.
//! The outcome therefore depends neither on the number of threads nor on the size of chunks, and only a few chunks per
//! thread are in memory at any time. The same workers decompress the frames of a `pzstd` file.
//!
//! The `scheduler`, a state machine, decides the next task of each worker; the tests visit all of its states. `workers` has
//! the locks and performs the tasks.
//!
//! Tables (Parquet and Arrow) are not cut into chunks of bytes. Their formats divide them into parts with some of the
//! rows, which are processed like chunks.
//!
//! With [`ReadOptions::shard`], the `shard_sieve` passes only the bytes of one share of the inputs to the feed. All later
//! steps, including the numbering, treat these bytes as the whole inputs.
//!
//! Once a chunk is numbered, and nothing before it has failed, its part is always taken, so a job may combine
//! several chunks before it hands them over.
//!
//! Records are analyzed a tile at a time ([`TILE`] groups), so that results are consumed while they are in the
//! nearest cache.

mod any_job;
mod chunk_feed;
mod chunker;
mod condition_columns_never_seen;
mod exact_sample;
mod exact_sample_losses;
mod ordered_tasks;
mod record_judge;
mod record_numbering;
mod run_on_batches;
mod scheduler;
mod second_file;
mod settings;
mod shard_sieve;
mod summary;
mod workers;

pub use crate::formats::Refusal;
pub use crate::input::Shard;
pub(crate) use ordered_tasks::in_order;
#[cfg(feature = "parquet")]
pub(crate) use record_judge::judge_chunk;
pub(crate) use run_on_batches::{BatchRun, for_each_tile_unqueried, run_on};
pub use second_file::{BESIDE, SecondFile};
pub use summary::{FileSummary, RunError, Summary};

use crate::choose::{AtRandom, ByFormula, Choose, FilterCount, GameFilter, RecordFilter, Sample};
use crate::error::{Error, Reject};
use crate::formats::codec::fields_from_whole_games::OF_WHOLE_GAMES;
use crate::formats::codec::game_history::OF_HISTORY;
use crate::formats::{self, Chunk, DecodeOptions, Format, Totals};
use crate::games::{GameRow, GameVerdict, MoveForms, RecordValues};
use crate::input::{Access, Inputs};
use crate::option_setters::setters;
use crate::output::ScratchSpace;
use crate::table::{Field, Fields, Needs, Tile};
use crate::tiers::Analyzer;
pub(crate) use any_job::{AnyJob, AnySink, erased};
use chunk_feed::Feed;
use chunker::GIANT;
use condition_columns_never_seen::WatchedCondition;
use exact_sample::run_sampled;
pub(crate) use exact_sample_losses::LostOfCandidates;
use settings::{Chosen, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use summary::Collector;
use workers::{Shared, StopOnDrop, work};

/// Number of groups that are analyzed at a time: boards, results and the data of a job fit into the L1 and L2 caches.
pub const TILE: usize = 64;
/// Number of rejects that a [`Summary`] keeps.
pub const FIRST_REJECTS: usize = 10;
/// Maximum number of chunks per thread that are in flight or wait for their turn.
const CHUNKS_PER_THREAD: u64 = 4;
/// At most this many chunks more than threads are in flight, to bound memory.
const MORE_CHUNKS: u64 = 16;
/// With more threads than this, chunks are smaller, so that memory does not grow with the number of threads.
const THREADS_OF_WHOLE_CHUNKS: usize = 4;
/// Called for each rejected record.
pub type OnReject<'a> = dyn FnMut(&Reject) -> Result<(), Error> + 'a;
/// Called regularly during a run.
pub type OnProgress<'a> = dyn FnMut(Progress) + 'a;

/// Options for reading inputs and choosing records. They are shared by everything that reads records: programs, SQL,
/// Python, and the machines of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format of all inputs, instead of detecting it.
    pub from: Option<Format>,
    /// Options for opening inputs.
    pub access: Access,
    /// Options for decoding and accepting positions. The fields that the job and the choices need are added.
    pub decode: DecodeOptions,
    /// Stop with an error at the first bad record.
    pub strict: bool,
    /// Read only this share of each input. Every record, good or bad, is in exactly one of the shards, which depends
    /// only on the content of its input. Some inputs can be read from the middle: boards files, uncompressed text and
    /// fixed-size records, zstd files with several frames of text, and tables (by row groups or record batches). All
    /// other inputs are read as a whole for every shard.
    ///
    /// Records and games are numbered within the shard, and lines are not numbered.
    ///
    /// ```
    /// use lanefish::pipeline::{ReadOptions, Shard};
    ///
    /// let options = ReadOptions::default().shard(Shard::new(0, 8));
    /// assert_eq!(options.shard.unwrap().to_string(), "0/8");
    /// ```
    pub shard: Option<Shard>,
    /// The choice of games, positions and records, and new values for them.
    pub choose: Choose,
    /// Number of records to skip, over all inputs, including bad ones. If records are chosen, only the chosen ones
    /// count. For a job that [reads](Job::reads_games) the rows of games, it is the number of games.
    pub skip: u64,
    /// Maximum number of records, or games, to read after those skipped, including bad ones. If records are chosen,
    /// only the chosen ones count.
    pub limit: Option<u64>,
}

setters!(ReadOptions {
    from: Option<Format>,
    access: Access,
    decode: DecodeOptions,
    strict: bool,
    shard: Option<Shard>,
    choose: Choose,
    skip: u64,
    limit: Option<u64>,
});

#[cfg(feature = "cluster")]
impl ReadOptions {
    /// Whether the choice of a record may depend on earlier records, so that the inputs must not be divided.
    pub(crate) fn depends_on_records_before(&self) -> bool {
        let Choose { games, filter, sample, .. } = &self.choose;
        sample.is_some()
            || filter.as_ref().is_some_and(|condition| condition.needs().records_before)
            || games.as_ref().is_some_and(|games| games.having.needs().records_before)
    }
}

/// Options of a run.
#[non_exhaustive]
pub struct RunOptions<'a> {
    /// Answers the queries.
    pub analyzer: &'static dyn Analyzer,
    /// Options for reading inputs and choosing records.
    pub read: ReadOptions,
    /// Worker threads; at least one runs.
    pub threads: usize,
    /// Approximate number of bytes per chunk; it is reduced for many threads.
    pub chunk_size: usize,
    /// Continue after damaged blocks, and with the next input after a broken container, and report them in
    /// [`Summary::files`], instead of stopping with an error.
    pub past_damage: bool,
    /// The memory for sorting, and the directory for temporary files.
    pub space: ScratchSpace,
    /// A file with a record beside each record of the inputs. The run ends with an error if one of them is another
    /// position, or has no counterpart.
    pub beside: Option<SecondFile>,
    /// The choice of an earlier run, by numbers of records. It comes after all other choices and limits, and after records
    /// that the job cannot take have been refused: so they are refused as in the earlier run.
    pub(crate) only: Option<&'a dyn RecordFilter>,
    /// Receives what is lost of candidates for a sample; it is counted once the sample is known.
    pub(crate) lost_of_candidates: Option<Arc<LostOfCandidates>>,
    /// Reads a part of what an earlier run read, with the same numbers.
    pub(crate) part: Option<Part>,
    /// Receives the totals before each input, before the records of the input are handed over.
    pub(crate) starts: Option<Arc<Mutex<Vec<Totals>>>>,
    /// Called for each rejected record, in order.
    pub on_reject: Option<&'a mut OnReject<'a>>,
    /// Called regularly with the progress of the run, and at its end.
    pub on_progress: Option<&'a mut OnProgress<'a>>,
    /// Set by another thread to end the run with [`Error::Interrupted`].
    pub interrupt: Option<&'a AtomicBool>,
}

/// A part of the inputs of an earlier run.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The totals before the part.
    pub(crate) before: Totals,
    /// The numbers of the requested records; they are used instead of `skip` and `limit`.
    pub(crate) numbers: Range<u64>,
}

impl RunOptions<'_> {
    /// The defaults: all records, in one thread.
    pub fn new(analyzer: &'static dyn Analyzer) -> Self {
        Self {
            analyzer,
            read: ReadOptions::default(),
            threads: 1,
            chunk_size: 1 << 20,
            past_damage: false,
            space: ScratchSpace::default(),
            beside: None,
            only: None,
            lost_of_candidates: None,
            part: None,
            starts: None,
            on_reject: None,
            on_progress: None,
            interrupt: None,
        }
    }
}

setters!(RunOptions<'a> {
    read: ReadOptions,
    threads: usize,
    chunk_size: usize,
    past_damage: bool,
    space: ScratchSpace,
    beside: Option<SecondFile>,
    on_reject: Option<&'a mut OnReject<'a>>,
    on_progress: Option<&'a mut OnProgress<'a>>,
    interrupt: Option<&'a AtomicBool>,
});

impl fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("analyzer", &self.analyzer)
            .field("read", &self.read)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes read from the inputs, before decompression.
    pub bytes: u64,
    /// Records read, good and bad.
    pub records: u64,
    /// Number of games that have begun.
    pub games: u64,
}

/// An operation on tiles of records.
pub trait Job: Sync {
    /// The output for a chunk. Parts arrive in the order of the input.
    type Part: Send;
    /// What it needs of records. Other fields are not decoded.
    fn needs(&self) -> Needs;
    /// Fields that are found for whole games, which it also reads where games have clocks or evaluations. Other games are
    /// not read as wholes for them.
    fn needs_of_annotated_games(&self) -> Fields {
        Fields::NONE
    }
    /// Whether it reads the rows of games, instead of records.
    fn reads_games(&self) -> bool {
        false
    }
    /// Whether it copies the text of games.
    fn copies_games(&self) -> bool {
        false
    }
    /// Whether it reads what the rows of games say; otherwise only where they are.
    fn reads_game_rows(&self) -> bool {
        !self.copies_games()
    }
    /// Whether the rows of games that it reads must have the moves of the game.
    fn reads_main_lines(&self) -> bool {
        false
    }
    /// The forms in which the rows of games that it reads must have the moves of the game.
    fn move_forms(&self) -> MoveForms {
        MoveForms::NONE
    }
    /// Whether it takes a game whose moves have been written.
    fn judge_game(&self, _game: &GameRow) -> GameVerdict {
        GameVerdict::Take
    }
    /// The tags that it reads of rows of games; `None` for all of them.
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        None
    }
    /// Whether to count the tags of games that are not in any field: [`Summary::lost_tags`].
    fn reads_lost_tags(&self) -> bool {
        false
    }
    /// Whether it writes boards files, and so can pass blocks of them on. Batches then may have their fields in a block
    /// that only the encoder of boards files reads, if nothing else in the run needs them.
    fn passes_blocks_on(&self) -> bool {
        false
    }
    /// Begins a chunk.
    fn begin(&self) -> Self::Part;
    /// Receives the place of the chunk's records, and the number of input lines before it, if known.
    fn source(&self, _part: &mut Self::Part, _chunk: &Chunk, _lines: Option<u64>) {}
    /// The function that finds good records which the job cannot take. Each of them is rejected.
    fn refusal(&self) -> Option<Refusal> {
        None
    }
    /// Processes the next run of records of the chunk.
    fn tile(&self, part: &mut Self::Part, tile: &Tile<'_>);
    /// Processes the rows of the chunk's games, after its records, if it [reads](Self::reads_games) them.
    fn games(&self, _part: &mut Self::Part, _games: &[GameRow]) {}
    /// Ends a chunk. Chunks are numbered from zero in the order of the input, without gaps, and end in any order on any
    /// thread. A chunk after a failure may never be processed.
    fn end(&self, _part: &mut Self::Part, _chunk: u64) {}
}

/// Reads all inputs, runs `job` on all good records on all threads, and passes its parts to `sink` in order on
/// the calling thread.
///
/// # Errors
/// If an input cannot be opened or read, the options do not fit it, or `sink` fails. The error has the summary of what was
/// read before, and parts already passed to `sink` remain valid. Bad records are no error: the summary counts them.
pub fn run<J: Job>(
    inputs: &Inputs,
    options: RunOptions<'_>,
    job: &J,
    sink: impl FnMut(J::Part) -> Result<(), Error>,
) -> Result<Summary, RunError> {
    run_to_end(inputs, options, job, sink).into_result()
}

/// The same; a run that ended early is a summary with a failure.
pub(crate) fn run_to_end<J: Job>(
    inputs: &Inputs,
    options: RunOptions<'_>,
    job: &J,
    sink: impl FnMut(J::Part) -> Result<(), Error>,
) -> Summary {
    erased(job, sink, |job, sink| run_any(inputs, options, job, sink))
}

fn run_any<'a>(inputs: &Inputs, options: RunOptions<'_>, job: AnyJob<'a>, sink: &mut AnySink<'_, 'a>) -> Summary {
    match options.read.choose.sample {
        Some(Sample::Count(count)) if !job.reads_games() => run_sampled(inputs, options, count, job, sink),
        _ => run_all(inputs, options, job, sink),
    }
}

/// Checks the columns of all inputs, as [`run`] does for a job with these fields before it reads the first record.
#[cfg(feature = "sql")]
pub(crate) fn check(inputs: &Inputs, read: &ReadOptions, fields: Fields) -> Result<(), Error> {
    let mut decode = read.decode.clone();
    decode.games = read.choose.games.clone().or(decode.games);
    decode.fields = decode.fields.union(fields);
    if let Some(selection) = &decode.games {
        decode.fields = decode.fields.union(selection.fields());
    }
    Feed::new(inputs, (read.from, read.access), read.shard, decode).check_all()
}

/// An estimate of the number of bytes written for all inputs, from the number written for a part of them.
fn needed_for_all(inputs: &Inputs, read: u64, written: u64) -> Option<u64> {
    let all = inputs.total_bytes()?;
    let needed = u128::from(written) * u128::from(all) / u128::from(read.max(1));
    u64::try_from(needed).ok().filter(|_| read > 0 && read < all && written > 0)
}

/// Runs the job without an exact sample of records.
fn run_all<'a>(inputs: &Inputs, mut options: RunOptions<'_>, job: AnyJob<'a>, sink: &mut AnySink<'_, 'a>) -> Summary {
    let threads = options.threads.max(1);
    let ReadOptions { from, access, mut decode, strict, shard, choose, skip, limit } = options.read;
    let names_columns_of_games = decode.moves_column.is_some() || decode.start_column.is_some();
    let Choose { mut games, mut filter, sample, seed, set } = choose;
    if job.reads_games()
        && let Some(condition) = filter.take()
    {
        if !condition.is_of_games() {
            let failure = Some(Error::NotOfGames { condition: condition.to_string() });
            return Summary { failure, ..Summary::default() };
        }
        Arc::make_mut(games.get_or_insert_default()).condition = Some(condition);
    }
    decode.games = games.or(decode.games);
    let of_job = job.needs();
    decode.fields = decode.fields.union(of_job.fields).union(job.refusal().map_or(Fields::NONE, Refusal::fields));
    decode.game_rows |= job.reads_games();
    decode.game_places |= !job.reads_game_rows();
    decode.row_tags = job.game_tags().map(Arc::from);
    decode.lost_tags |= job.reads_lost_tags();
    let forms = job.move_forms();
    if forms.need_main_line() {
        decode.fields = decode.fields.union(Fields::of(&[Field::Ply, Field::Move]));
    }
    if forms.aix {
        decode.fields = decode.fields.union(Fields::of(&RecordValues::FIELDS));
    }
    if job.reads_main_lines() || forms.need_main_line() {
        Arc::make_mut(decode.games.get_or_insert_default()).moves = true;
    }
    let options_set: Vec<&'static str> = decode.games.iter().flat_map(|games| games.options()).collect();
    let beside = options.beside.take();
    if beside.is_some()
        && let Some(reason) = refusal_beside(&options_set, job.reads_games(), shard.as_ref())
    {
        let failure = Some(Error::NotBeside { place: "a second file".to_owned(), reason });
        return Summary { failure, ..Summary::default() };
    }
    let mut choices: Vec<&dyn RecordFilter> = Vec::new();
    let watched = filter.as_ref().map(WatchedCondition::new);
    choices.extend(watched.as_ref().map(|watched| watched as &dyn RecordFilter));
    let sample: Option<Box<dyn RecordFilter>> = match &sample {
        Some(Sample::Rate(rate)) => Some(Box::new(AtRandom { seed, rate: *rate })),
        Some(Sample::Formula(formula)) => Some(Box::new(ByFormula { seed, formula })),
        Some(Sample::Count(_)) | None => None,
    };
    choices.extend(sample.as_deref());
    let chosen = choices.iter().copied().chain(options.only).map(RecordFilter::needs);
    let chosen: Needs = chosen.chain([set.needs()]).collect();
    decode.fields = decode.fields.union(chosen.fields);
    let of_job = if of_job.tags.is_empty() { decode.tags.iter().cloned().collect() } else { of_job.tags };
    let of_sequence = decode.games.as_ref().map_or(Needs::NONE, |games| games.having.needs());
    let tags = of_job.into_iter().chain(chosen.tags).chain(of_sequence.tags);
    decode.tags = tags.collect::<BTreeSet<_>>().into_iter().collect();
    let of_games = decode.games.as_ref().map_or(Fields::NONE, |games| games.fields());
    let of_all_games = decode.fields.union(of_games).intersection(OF_WHOLE_GAMES);
    let of_whole_games = of_all_games.union(job.needs_of_annotated_games().intersection(OF_WHOLE_GAMES));
    if !of_whole_games.is_empty() {
        decode.fields = decode.fields.union(of_whole_games);
        let games = Arc::make_mut(decode.games.get_or_insert_default());
        (games.whole_games, games.only_annotated) = (Some(of_whole_games), of_all_games.is_empty());
    }
    decode.game_texts = job.copies_games() || forms.movetext;
    let chooses_later = decode.games.as_ref().is_some_and(|games| games.chooses_whole_games());
    // Decoders do not know which records are chosen, so they list what each game or record loses.
    decode.lost_of_each = decode.lost_tags
        && (!choices.is_empty() || options.only.is_some() || options.lost_of_candidates.is_some() || chooses_later);
    decode.blocks = job.passes_blocks_on()
        && choices.is_empty()
        && options.only.is_none()
        && set.is_empty()
        && decode.games.is_none();
    let mut collector = Collector {
        summary: Summary {
            left_out: options_set
                .into_iter()
                .chain(choices.iter().map(|choice| choice.name()))
                .map(|name| (name, FilterCount::default()))
                .collect(),
            ..Summary::default()
        },
        holds: Vec::new(),
        strict,
        starts: options.starts.take(),
        on_reject: options.on_reject.take(),
    };
    // Only one shard reports broken entries found instead of inputs.
    if shard.is_none_or(|shard| shard.has_turn(0)) {
        collector.summary.skipped_files = formats::note_on_skipped(&inputs.skipped);
        if let Err(error) = collector.reject_broken(&inputs.broken) {
            collector.summary.failure = Some(error);
            return collector.summary;
        }
    }
    let mut on_progress = options.on_progress.take();
    let interrupt = options.interrupt.take();
    let shard = shard.filter(|shard| !shard.is_whole());
    let mut decode_records = decode.clone();
    if job.reads_games() {
        let mut fields = GameRow::fields(decode.row_tags.as_deref());
        if forms.movetext {
            fields = fields.union(Fields::of(&RecordValues::FIELDS));
        }
        decode_records.fields = decode_records.fields.union(fields);
        let moves = decode.games.as_ref().is_some_and(|games| games.moves) || !forms.is_none();
        let selection = GameFilter {
            moves,
            last_of_games: true,
            copies_games: job.copies_games(),
            ..decode.games.as_deref().cloned().unwrap_or_default()
        };
        decode_records.games = Some(Arc::new(selection));
    }
    if shard.is_some() && decode_records.fields.intersects(OF_HISTORY) {
        Arc::make_mut(decode_records.games.get_or_insert_default()).whole_games.get_or_insert(Fields::NONE);
    }
    if let Some(selection) = &decode_records.games {
        decode_records.fields = decode_records.fields.union(selection.fields());
    }
    let fields = decode.fields;
    if let Some(selection) = decode.games.as_ref().filter(|_| chooses_later) {
        decode.fields = decode.fields.union(selection.having.needs().fields).union(of_whole_games);
        if let Some(condition) = &selection.condition
            && !of_whole_games.is_empty()
        {
            decode.fields = decode.fields.union(condition.needs().fields);
        }
        if !selection.takes_all_positions() {
            // Plies decide about positions, once the games are known.
            decode.fields = decode.fields.union(Fields::of(&[Field::Ply]));
        }
    }
    if counts_games_after_stored(inputs, from) {
        decode_records.fields = decode_records.fields.union(Fields::of(&[Field::Game]));
    }
    let requested = skip..limit.map_or(u64::MAX, |limit| skip.saturating_add(limit));
    let counts_chosen = !choices.is_empty() && requested != (0..u64::MAX);
    let settings = Settings {
        knows_lines: shard.is_none(),
        analyzer: options.analyzer,
        records: match &options.part {
            Some(part) => part.numbers.clone(),
            None if job.reads_games() || counts_chosen => 0..u64::MAX,
            None => requested.clone(),
        },
        before: options.part.as_ref().map(|part| part.before).unwrap_or_default(),
        chosen: counts_chosen.then(|| Chosen::new(requested.clone())),
        choices: &choices,
        set: (!set.is_empty()).then_some(&set),
        only: options.only,
        lost_of_candidates: options.lost_of_candidates.take(),
        beside: beside.as_ref(),
        records_read: AtomicU64::new(0),
        games: if job.reads_games() { requested } else { 0..u64::MAX },
        decode,
        fields,
        decode_records,
        past_damage: options.past_damage,
        strict,
    };
    let consumed = Arc::new(AtomicU64::new(0));
    let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool,
        Err(error) => {
            collector.summary.failure = Some(Error::Threads { threads, reason: error.to_string() });
            return collector.summary;
        }
    };
    let feed = Feed {
        chunk_size: (options.chunk_size / threads.max(THREADS_OF_WHOLE_CHUNKS) * THREADS_OF_WHOLE_CHUNKS)
            .clamp(64, GIANT),
        consumed: Arc::clone(&consumed),
        past_damage: options.past_damage,
        needs: job.refusal().map_or(Fields::NONE, Refusal::needs),
        // With one thread, or one input, nothing else can be done at the same time.
        most_ahead: if threads > 1 && inputs.sources.len() > 1 { threads } else { 0 },
        ..Feed::new(inputs, (from, access), shard, settings.decode_records.clone())
    };
    if let Err(error) = feed.check_all().and_then(|()| feed.check_needs()) {
        collector.summary.failure = Some(error);
        return collector.summary;
    }
    let chunks = (threads as u64 * CHUNKS_PER_THREAD).min(threads as u64 + MORE_CHUNKS);
    let shared = Shared::new(feed, &settings, chunks);
    let (sender, parts) = channel();
    // Whether all inputs are read to their ends.
    let mut is_complete = shard.is_none() && limit.is_none() && options.part.is_none();
    // The same, unless the limit ended the run.
    let mut has_all_records = options.part.is_none();
    pool.in_place_scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let (shared, settings) = (&shared, &settings);
            scope.spawn(move |_| work(shared, settings, &job, &sender));
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
                Ok((place, outcome, part)) => {
                    waiting.insert(place, (outcome, part));
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some((outcome, part)) = waiting.remove(&next) {
                next += 1;
                let is_last = outcome.is_last;
                is_complete &= !is_last;
                has_all_records &= !is_last;
                if let Err(error) = collector.take(outcome, part, sink) {
                    collector.summary.failure = Some(error);
                    break 'parts;
                }
                if is_last {
                    break 'parts;
                }
                // Not earlier: the chunks taken so far may have ended the run, and then a pipe is not opened.
                shared.leave();
            }
        }
        drop(stopper);
    });
    collector.summary.bytes = consumed.load(Ordering::Relaxed);
    if let Some(on_progress) = &mut on_progress {
        let Summary { bytes, records, games, .. } = collector.summary;
        on_progress(Progress { bytes, records, games });
    }
    if is_complete && collector.summary.failure.is_none() {
        collector.refuse_empty(options.past_damage);
        if names_columns_of_games {
            collector.note_unused_columns();
        }
    }
    if let Some(second) = &beside
        && collector.summary.failure.is_none()
    {
        let read = settings.records_read.load(Ordering::Relaxed);
        let is_all = has_all_records && read < settings.records.end;
        let checked = if is_all { second.check_length(inputs, read) } else { Ok(()) };
        collector.summary.failure = second.take_failure().or(checked.err());
    }
    // With a limit, records after it may or may not have been looked at.
    let is_all = limit.is_none() && collector.summary.failure.is_none() && collector.summary.records > 0;
    collector.summary.unseen_columns = watched.filter(|_| is_all).map(|watched| watched.unseen());
    if let Some(Error::Temporary { written, needed, .. }) = &mut collector.summary.failure {
        *needed = needed_for_all(inputs, collector.summary.bytes, *written);
    }
    let is_of_records = |file: &FileSummary| file.format.is_some_and(|format| !format.about().has_games);
    if matches!(collector.summary.failure, Some(Error::Strict(_))) && collector.summary.files.iter().any(is_of_records)
    {
        // The number of records left out before the first bad record would depend on where chunks end.
        collector.summary.left_out.clear();
    }
    collector.summary
}

/// Why a run cannot have a second file beside its inputs: the numbers of records would not be those over all inputs.
fn refusal_beside(options: &[&str], reads_games: bool, shard: Option<&Shard>) -> Option<String> {
    if shard.is_some_and(|shard| !shard.is_whole()) {
        return Some(
            "a shard numbers only its own records, so that nothing tells which ones are beside them".to_owned(),
        );
    }
    if reads_games {
        return Some("it has a record for each position, and whole games are read".to_owned());
    }
    let option = options.first()?;
    Some(format!(
        "--{} chooses games before their records have numbers; a condition on records can be used",
        option.replace('_', "-")
    ))
}

/// Whether inputs that hold games may come after inputs that store the numbers of their games. The games of the latter
/// are then counted, whatever the job needs, so that the games of the former have the same numbers in all runs.
fn counts_games_after_stored(inputs: &Inputs, from: Option<Format>) -> bool {
    let mut formats = inputs.sources.iter().map(|source| from.or_else(|| Format::of_name(source.name())));
    let may_store = |format: Option<Format>| format.is_none_or(|format| !format.about().has_games);
    let may_hold = |format: Option<Format>| format.is_none_or(|format| format.about().has_games);
    formats.any(may_store) && formats.any(may_hold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_needed_is_told_from_the_part_that_was_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.epd");
        std::fs::write(&path, [b'\n'; 1000]).unwrap();
        let inputs = Inputs::of([&*path, &*path]);
        assert_eq!(needed_for_all(&inputs, 100, 70), Some(1400));
        for (read, written) in [(0, 70), (2000, 70), (100, 0)] {
            assert_eq!(needed_for_all(&inputs, read, written), None);
        }
        let pipe = Inputs::of([&*path, directory.path()]);
        assert_eq!(needed_for_all(&pipe, 100, 70), None);
    }
}
