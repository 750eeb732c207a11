//! A run of the pipeline as a stream of record batches.
//!
//! The run begins when the first batch is requested.

use super::arrow_and_parquet_files::{Table, TableBlock, TablePart};
use super::background_stream::{Sender, Stream};
use super::game_columns::GameColumns;
use super::output_content::OutputContent;
use crate::error::Error;
use crate::input::Inputs;
use crate::output::SquareSetStyle;
use crate::pipeline::{Progress, RunOptions, Summary, run_to_end};
use crate::poisoned_locks::Unpoisoned;
use crate::table::Columns;
use crate::tiers::Analyzer;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

/// Maximum number of finished batches that wait to be taken.
const WAITING: usize = 4;

/// Columns of inputs, or of their games, as record batches, in order.
///
/// Batches have [`BLOCK`](crate::columnar::BLOCK) rows; the last one may have fewer. After the last one, or an error,
/// [`Scan::summary`] has the numbers of records.
///
/// ```
/// use lanefish::jobs::Scan;
/// use lanefish::{input::Inputs, table::Columns, tiers};
///
/// let inputs = Inputs::open(["data/sample.epd"])?;
/// let columns = Columns::named("fen,legal_moves")?;
/// let mut scan = Scan::new(inputs, columns, tiers::best(), |options| options.threads(2));
/// let mut rows = 0;
/// for batch in &mut scan {
///     rows += batch?.num_rows() as u64;
/// }
/// assert_eq!(scan.summary().map(|summary| summary.accepted()), Some(rows));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scan {
    schema: SchemaRef,
    state: State,
    summary: Option<Summary>,
    progress: Arc<Mutex<Progress>>,
}

enum State {
    /// The run, which starts when it receives the sender for its batches.
    New(Box<Begin>),
    Running(Stream<RecordBatch, Summary>),
    Over,
}

type Begin = dyn FnOnce(&Sender<RecordBatch>) -> Summary + Send + Sync;

/// The state of a [`Scan`] after waiting for some time.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScanStep {
    /// The next batch.
    Batch(RecordBatch),
    /// Nothing yet.
    Pending,
    /// The end.
    End,
}

/// The columns of the batches.
enum ScanColumns {
    OfRecords(Columns),
    OfGames(GameColumns),
}

impl ScanColumns {
    fn content(&self) -> OutputContent<'_> {
        match self {
            Self::OfRecords(columns) => OutputContent::Columns(columns, SquareSetStyle::Hex),
            Self::OfGames(columns) => OutputContent::GameColumns(columns),
        }
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("schema", &self.schema).field("summary", &self.summary).finish_non_exhaustive()
    }
}

impl Scan {
    /// A stream of these columns. `set` changes the options of the run; it is called when the run begins. The fields
    /// and tags that are decoded follow from the columns.
    pub fn new(
        inputs: Inputs,
        columns: Columns,
        analyzer: &'static dyn Analyzer,
        set: impl for<'a> FnOnce(RunOptions<'a>) -> RunOptions<'a> + Send + Sync + 'static,
    ) -> Self {
        Self::of(inputs, ScanColumns::OfRecords(columns), analyzer, set)
    }

    /// A stream with one row for each game. A game with a bad record is a row as well, up to that record; the column
    /// `error` says what is wrong. The numbers of the [summary](Self::summary) are of records.
    ///
    /// Options are those of a job that reads the [rows of games](crate::pipeline::Job::reads_games): `skip` and `limit`
    /// count games, and conditions are [about games](crate::choose::Definitions::condition_on_games).
    ///
    /// ```
    /// use lanefish::choose::{Choose, Definitions, GameFilter, PositionSequence, SequenceWord};
    /// use lanefish::jobs::{GameColumns, Scan};
    /// use lanefish::{input::Inputs, pipeline::ReadOptions, tiers};
    /// use std::sync::Arc;
    ///
    /// let inputs = Inputs::open(["data/lichess-2025-05.pgn"])?;
    /// let columns = GameColumns::chosen(Some("game,white,match_plies"), true)?;
    /// let long_castling = [(SequenceWord::Having, "san like 'O-O-O%' and fullmove > 20")];
    /// let sequence = PositionSequence::parse(long_castling, &Definitions::default()).map_err(|(_, wrong)| wrong)?;
    /// let games = Some(Arc::new(GameFilter::default().having(sequence)));
    /// let read = ReadOptions::default().choose(Choose::default().games(games));
    /// let scan = Scan::of_games(inputs, columns, tiers::best(), |options| options.read(read));
    /// let rows: usize = scan.map(|batch| batch.map(|batch| batch.num_rows())).sum::<Result<_, _>>()?;
    /// assert_eq!(rows, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_games(
        inputs: Inputs,
        columns: GameColumns,
        analyzer: &'static dyn Analyzer,
        set: impl for<'a> FnOnce(RunOptions<'a>) -> RunOptions<'a> + Send + Sync + 'static,
    ) -> Self {
        Self::of(inputs, ScanColumns::OfGames(columns), analyzer, set)
    }

    fn of(
        inputs: Inputs,
        columns: ScanColumns,
        analyzer: &'static dyn Analyzer,
        set: impl for<'a> FnOnce(RunOptions<'a>) -> RunOptions<'a> + Send + Sync + 'static,
    ) -> Self {
        let schema = Table::batches(columns.content()).schema();
        let progress = Arc::<Mutex<Progress>>::default();
        let shown = Arc::clone(&progress);
        let begin = move |sender: &Sender<RecordBatch>| {
            let mut on_progress = |progress| *shown.lock().unpoisoned() = progress;
            let mut options = set(RunOptions::new(analyzer));
            options.interrupt = Some(sender.interrupt());
            options.on_progress.get_or_insert(&mut on_progress);
            read(&inputs, columns.content(), options, sender)
        };
        Self { schema, state: State::New(Box::new(begin)), summary: None, progress }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Waits for the next batch, but no longer than this.
    ///
    /// # Errors
    /// If the run failed. Batches of earlier rows may have been returned before; none are returned after.
    pub fn step(&mut self, patience: Duration) -> Result<ScanStep, Error> {
        if let State::New(_) = self.state
            && let State::New(begin) = std::mem::replace(&mut self.state, State::Over)
        {
            self.state = State::Running(Stream::begin(WAITING, begin)?);
        }
        let State::Running(stream) = &mut self.state else {
            return Ok(ScanStep::End);
        };
        match stream.wait(patience) {
            Poll::Ready(Some(batch)) => return Ok(ScanStep::Batch(batch)),
            Poll::Pending => return Ok(ScanStep::Pending),
            Poll::Ready(None) => {}
        }
        let mut summary = self.end().unwrap_or_default();
        let failure = summary.failure.take();
        self.summary = Some(summary);
        failure.map_or(Ok(ScanStep::End), Err)
    }

    /// Progress of the run, unless `set` has given it an [`on_progress`](RunOptions::on_progress) of its own.
    pub fn progress(&self) -> Progress {
        *self.progress.lock().unpoisoned()
    }

    /// The summary, once the stream has ended.
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// Ends the run; no more batches are returned.
    pub fn close(&mut self) {
        self.end();
    }

    /// Waits for the end of the run, without taking its batches.
    fn end(&mut self) -> Option<Summary> {
        let State::Running(stream) = std::mem::replace(&mut self.state, State::Over) else {
            return None;
        };
        let panicked = |_| Summary {
            failure: Some(Error::Threads { threads: 1, reason: "a thread ended with a panic".to_owned() }),
            ..Summary::default()
        };
        Some(stream.end().unwrap_or_else(panicked))
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.close();
    }
}

impl Iterator for Scan {
    type Item = Result<RecordBatch, Error>;
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            return match self.step(Duration::from_secs(1)) {
                Ok(ScanStep::Batch(batch)) => Some(Ok(batch)),
                Ok(ScanStep::Pending) => continue,
                Ok(ScanStep::End) => None,
                Err(error) => Some(Err(error)),
            };
        }
    }
}

/// Reads all inputs and sends their batches.
fn read(inputs: &Inputs, content: OutputContent<'_>, options: RunOptions<'_>, sender: &Sender<RecordBatch>) -> Summary {
    let failed = |source| Error::Write { path: "record batches".into(), source };
    let job = Table::batches(content);
    let mut summary = run_to_end(inputs, options, &job, |part: TablePart| {
        part.blocks().try_for_each(|block| {
            let batch = block.map_err(failed)?.into_batch();
            batch.map_or(Ok(()), |batch| sender.send(batch))
        })
    });
    if summary.failure.is_none() {
        let last = job.last().map_err(failed);
        let sent = last.and_then(|last| {
            let batches = last.into_iter().filter_map(TableBlock::into_batch);
            batches.filter(|batch| batch.num_rows() > 0).try_for_each(|batch| sender.send(batch))
        });
        summary.failure = sent.err();
    }
    summary
}
