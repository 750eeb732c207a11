//! Sorting games by a column.
//!
//! The run over the inputs makes a row of each game, with its key and what the job reads of it: the row of the game, or
//! its text where games are copied. The [sorted](crate::partition::external_merge_sort) rows are then made games again, which
//! the job processes as if they had been read in this order.

use crate::error::Error;
use crate::formats::Chunk;
use crate::games::{GameRow, GameVerdict, MoveForms};
use crate::input::{Bytes, Inputs};
use crate::jobs::GameOrder;
use crate::output::ScratchSpace;
use crate::partition::external_merge_sort::{KeyRules, LastKey, RowsWithKeys, RunSorter, content};
use crate::partition::stored_game_rows;
use crate::pipeline::{AnyJob, AnySink, Job, Refusal, RunError, RunOptions, Summary, erased, in_order, run_to_end};
use crate::poisoned_locks::Unpoisoned;
use crate::table::{Needs, Tile};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Options for sorting games.
///
/// ```
/// use lanefish::datasets::SortGames;
/// use lanefish::jobs::{OutputContent, OutputFormat, WriteJob};
/// use lanefish::pipeline::{ReadOptions, RunOptions};
/// use lanefish::{input::Inputs, tiers};
///
/// let inputs = Inputs::open(["data/lichess-2025-05.pgn"])?;
/// let job = WriteJob::new(OutputContent::Games, OutputFormat::Pgn)?;
/// let mut longest = Vec::new();
/// let mut file = job.open(&mut longest)?;
/// let options = RunOptions::new(tiers::best()).read(ReadOptions::default().limit(Some(1)));
/// SortGames::by("plies:desc".parse()?).run(&inputs, options, &job, |part| {
///     job.put(&mut file, part).map_err(|source| lanefish::Error::Write { path: "longest".into(), source })
/// })?;
/// assert_eq!(job.finish(file)?.records, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SortGames {
    /// The order. Games with equal values are in the order of the input.
    pub by: GameOrder,
}

/// Bytes of the rows of a part, at most.
const PART: u64 = 1 << 20;

impl SortGames {
    /// Sorts in this order.
    pub fn by(by: GameOrder) -> Self {
        Self { by }
    }

    /// Reads all inputs, and runs a job that [reads](Job::reads_games) games on them in order. Parts are passed to `sink`
    /// in that order on the calling thread. [`skip`](crate::pipeline::ReadOptions::skip) and
    /// [`limit`](crate::pipeline::ReadOptions::limit) count the sorted games.
    ///
    /// Nothing is passed on unless all inputs could be read.
    ///
    /// # Errors
    /// As for [`pipeline::run`](crate::pipeline::run), or if a temporary file cannot be written.
    ///
    /// # Panics
    /// If the job reads records.
    pub fn run<J: Job>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        job: &J,
        sink: impl FnMut(J::Part) -> Result<(), Error>,
    ) -> Result<Summary, RunError> {
        assert!(job.reads_games(), "a job that reads games");
        erased(job, sink, |job, sink| self.run_any(inputs, options, job, sink)).into_result()
    }

    /// The same for any job, compiled once.
    fn run_any<'a>(
        &self,
        inputs: &Inputs,
        mut options: RunOptions<'_>,
        job: AnyJob<'a>,
        sink: &mut AnySink<'_, 'a>,
    ) -> Summary {
        let (space, threads, interrupt) = (options.space.clone(), options.threads.max(1), options.interrupt);
        let skip = std::mem::take(&mut options.read.skip);
        let needed = options.read.limit.take().map_or(u64::MAX, |limit| skip.saturating_add(limit));
        let rules = KeyRules { is_descending: self.by.is_descending() };
        let mut sorter = match RunSorter::new(rules, needed, &space) {
            Ok(sorter) => sorter,
            Err(error) => return Summary { failure: Some(error), ..Summary::default() },
        };
        let enter = EnterGames { order: &self.by, rules, last: Mutex::default(), job };
        let mut games = 0;
        let mut summary = run_to_end(inputs, options, &enter, |mut part: EnteredGames| {
            part.rows.numbers.iter_mut().for_each(|[_, place, _]| *place += games);
            games += part.games;
            sorter.add(&part.rows)?;
            let last = sorter.last().cloned().map(Arc::new);
            *enter.last.lock().unpoisoned() = last;
            Ok(())
        });
        if summary.failure.is_none() {
            let mut sorted = sorter.finish(skip);
            let bytes = bytes_of_part(&space, threads);
            let is_interrupted = || interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed));
            let next = move || sorted.next(bytes);
            let work = |(): &mut (), number, (rows, needed)| {
                part_of(&job, number, &rows, needed).ok_or_else(|| Error::Temporary {
                    directory: space.directory.as_path().into(),
                    written: 0,
                    needed: None,
                    source: io::ErrorKind::InvalidData.into(),
                })
            };
            summary.failure = in_order(threads, next, || (), work, is_interrupted, sink).err();
        }
        summary
    }
}

/// As many that those of all threads are a small part of the memory.
fn bytes_of_part(space: &ScratchSpace, threads: usize) -> u64 {
    (space.memory / 16 / threads as u64).min(PART)
}

/// The part of a job for sorted games; `None` if the rows are something else.
fn part_of<J: Job>(job: &J, number: u64, rows: &RowsWithKeys, needed: Range<usize>) -> Option<J::Part> {
    let mut part = job.begin();
    let mut games = Vec::with_capacity(needed.len());
    let mut texts = Vec::new();
    for row in needed {
        let content = content(rows, row);
        games.push(match job.copies_games() {
            true => {
                let start = texts.len();
                texts.extend_from_slice(content);
                GameRow { start, end: texts.len(), ..stored_game_rows::unknown() }
            }
            false => stored_game_rows::take(content)?,
        });
    }
    job.source(&mut part, &Chunk::new(Path::new("").into(), Bytes::from(texts)), None);
    job.games(&mut part, &games);
    job.end(&mut part, number);
    Some(part)
}

/// Makes rows of games.
struct EnterGames<'a, J> {
    order: &'a GameOrder,
    rules: KeyRules,
    /// The key of the last game that may be needed.
    last: Mutex<Option<Arc<LastKey>>>,
    job: J,
}

/// The games of a chunk.
#[derive(Default)]
struct EnteredGames {
    chunk: Option<Bytes>,
    games: u64,
    /// Their places are those in the chunk.
    rows: RowsWithKeys,
}

impl<J: Job> Job for EnterGames<'_, J> {
    type Part = EnteredGames;
    fn needs(&self) -> Needs {
        self.job.needs().and(self.order.needs())
    }
    fn reads_games(&self) -> bool {
        true
    }
    fn copies_games(&self) -> bool {
        self.job.copies_games()
    }
    fn reads_game_rows(&self) -> bool {
        true
    }
    fn move_forms(&self) -> MoveForms {
        self.job.move_forms()
    }
    fn judge_game(&self, game: &GameRow) -> GameVerdict {
        self.job.judge_game(game)
    }
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        let own = self.order.tags()?;
        match self.job.copies_games() {
            true => Some(own),
            false => Some([self.job.game_tags()?, own].concat()),
        }
    }
    fn reads_lost_tags(&self) -> bool {
        self.job.reads_lost_tags()
    }
    fn refusal(&self) -> Option<Refusal> {
        self.job.refusal()
    }
    fn begin(&self) -> EnteredGames {
        EnteredGames::default()
    }
    fn source(&self, part: &mut EnteredGames, chunk: &Chunk, _: Option<u64>) {
        part.chunk = self.job.copies_games().then(|| chunk.bytes.clone());
    }
    fn tile(&self, _: &mut EnteredGames, _: &Tile<'_>) {}
    fn games(&self, part: &mut EnteredGames, games: &[GameRow]) {
        let copies = self.job.copies_games();
        let chunk = part.chunk.take();
        let text = chunk.as_deref().unwrap_or_default();
        let last = self.last.lock().unpoisoned().clone();
        let mut key = Vec::new();
        for game in games {
            let place = part.games;
            part.games += 1;
            key.clear();
            let has_key = self.order.put_key(game, &mut key);
            let key = has_key.then_some(&key[..]);
            // What was added before comes from earlier chunks.
            if !self.rules.is_needed(key, last.as_deref()) {
                continue;
            }
            part.rows.push_with(|bytes| {
                bytes.extend_from_slice(key.unwrap_or_default());
                match copies {
                    true => bytes.extend_from_slice(&text[game.start..game.end]),
                    false => stored_game_rows::put(game, bytes),
                }
                self.rules.row(key, place)
            });
        }
    }
}
