//! A run of the pipeline as a stream of record batches.
//!
//! The run begins when the first batch is requested.

use super::arrow_and_parquet_files::{Table, TableBlock, TablePart};
use super::background_stream::{Sender, Stream};
use super::output_content::OutputContent;
use crate::error::Error;
use crate::input::Inputs;
use crate::output::SquareSetStyle;
use crate::pipeline::{RunOptions, Summary, run_to_end};
use crate::table::Columns;
use crate::tiers::Analyzer;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::fmt;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// Maximum number of finished batches that wait to be taken.
const WAITING: usize = 4;

/// Columns of inputs as record batches, in order.
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
        let table = Table::batches(OutputContent::Columns(&columns, SquareSetStyle::Hex));
        let schema = table.schema();
        drop(table);
        let begin = move |sender: &Sender<RecordBatch>| {
            let mut options = set(RunOptions::new(analyzer));
            options.interrupt = Some(sender.interrupt());
            read(&inputs, &columns, options, sender)
        };
        Self { schema, state: State::New(Box::new(begin)), summary: None }
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
fn read(inputs: &Inputs, columns: &Columns, options: RunOptions<'_>, sender: &Sender<RecordBatch>) -> Summary {
    let failed = |source| Error::Write { path: "record batches".into(), source };
    let job = Table::batches(OutputContent::Columns(columns, SquareSetStyle::Hex));
    let mut summary = run_to_end(inputs, options, &job, |part: TablePart| {
        part.blocks().try_for_each(|block| {
            let batch = block.map_err(failed)?.into_batch();
            batch.map_or(Ok(()), |batch| sender.send(batch))
        })
    });
    if summary.failure.is_none() {
        let last = job.last().map_err(failed);
        let sent = last.and_then(|last| match last.and_then(TableBlock::into_batch) {
            Some(batch) if batch.num_rows() > 0 => sender.send(batch),
            _ => Ok(()),
        });
        summary.failure = sent.err();
    }
    summary
}
