//! The rows of a statement, and what else comes while it runs.

use super::engine::low_memory_plans;
use super::engine::low_memory_plans::is_of_memory;
use super::{Session, SqlError};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::execution::SendableRecordBatchStream;
#[cfg(feature = "cluster")]
use datafusion::prelude::DataFrame;
use futures::StreamExt;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;

/// The lines of rejected records.
#[derive(Debug)]
pub(super) struct Rejects {
    pub(super) lines: Option<Receiver<Vec<u8>>>,
    /// Lines that arrived before rows were requested.
    pub(super) waiting: VecDeque<Vec<u8>>,
}

impl Rejects {
    /// The next line; none if such lines are not requested.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        match &mut self.lines {
            Some(lines) => lines.recv().await,
            None => None,
        }
    }
}

/// The state of [`Rows`] after waiting for some time.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step {
    /// The next rows.
    Batch(RecordBatch),
    /// The line of a rejected record, if such lines are requested.
    Reject(Vec<u8>),
    /// Nothing yet.
    Pending,
    /// The end.
    End,
}

/// How a statement begins again, before its first row.
#[derive(Clone, Debug)]
pub(super) enum Again {
    /// If the memory is not enough.
    WithLessMemory(Box<low_memory_plans::Again>),
    /// If the cluster lost executors in a way that it cannot make good, and the statement may begin again this often.
    #[cfg(feature = "cluster")]
    OnCluster(Box<DataFrame>, u32),
}

impl Again {
    /// Begins, if this helps after an error, and returns what remains for the next time.
    fn begin(
        self,
        session: &Session,
        error: DataFusionError,
    ) -> EngineResult<(SendableRecordBatchStream, Option<Self>)> {
        match self {
            Self::WithLessMemory(again) if is_of_memory(&error) => {
                // What the scans have counted so far is counted again.
                session.reads.take();
                session.told.clear();
                session.runtime.block_on(again.begin()).map(|stream| (stream, None))
            }
            #[cfg(feature = "cluster")]
            Self::OnCluster(frame, times)
                if times > 0
                    && let Some(link) = &session.link
                    && super::cluster::must_run_again(&error, link) =>
            {
                link.cancel();
                let stream = session.runtime.block_on(session.execute(frame.as_ref().clone()))?;
                Ok((stream, Some(Self::OnCluster(frame, times - 1))))
            }
            _ => Err(error),
        }
    }
}

/// The rows of a statement.
pub struct Rows<'a> {
    session: &'a Session,
    schema: SchemaRef,
    stream: Option<SendableRecordBatchStream>,
    /// None after the first rows.
    again: Option<Again>,
}

impl fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<'a> Rows<'a> {
    pub(super) fn new(session: &'a Session, stream: SendableRecordBatchStream, again: Option<Again>) -> Self {
        Self { session, schema: stream.schema(), stream: Some(stream), again }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Waits for the next rows, but no longer than this.
    ///
    /// # Errors
    /// If the statement failed; no more rows are returned then.
    pub fn step(&mut self, patience: Duration) -> Result<Step, SqlError> {
        let step = self.session.runtime.block_on(async {
            let mut rejects = self.session.rejects.lock().await;
            if let Some(line) = rejects.waiting.pop_front() {
                return Ok(Step::Reject(line));
            }
            let next = async {
                match &mut self.stream {
                    Some(stream) => stream.next().await,
                    None => None,
                }
            };
            tokio::select! {
                biased;
                Some(line) = rejects.next() => Ok(Step::Reject(line)),
                batch = next => match batch {
                    Some(Ok(batch)) => Ok(Step::Batch(batch)),
                    Some(Err(error)) => Err(error),
                    None => Ok(Step::End),
                },
                () = tokio::time::sleep(patience) => Ok(Step::Pending),
            }
        });
        #[cfg(feature = "cluster")]
        if let (Ok(Step::Pending), Some(link)) = (&step, &self.session.link)
            && let Err(error) = link.look()
        {
            return Err(error);
        }
        match step {
            Ok(Step::End) => {
                #[cfg(feature = "cluster")]
                if let Some(link) = &self.session.link {
                    link.end();
                }
                // Scans whose rows are no longer needed may still report rejected records.
                self.stream = None;
                if self.session.reads.is_running() {
                    std::thread::sleep(Duration::from_millis(1));
                    Ok(Step::Pending)
                } else {
                    Ok(Step::End)
                }
            }
            Ok(step) => {
                if matches!(step, Step::Batch(_)) {
                    self.again = None;
                }
                Ok(step)
            }
            Err(error) => {
                self.stream = None;
                let Some(again) = self.again.take() else {
                    return Err(error.into());
                };
                let (stream, again) = again.begin(self.session, error)?;
                (self.stream, self.again) = (Some(stream), again);
                Ok(Step::Pending)
            }
        }
    }
}

#[cfg(feature = "cluster")]
impl Drop for Rows<'_> {
    fn drop(&mut self) {
        // It has not ended, and the rest is not needed.
        if let (Some(_), Some(link)) = (&self.stream, &self.session.link) {
            link.cancel();
        }
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<RecordBatch, SqlError>;
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            return match self.step(Duration::from_secs(1)) {
                Ok(Step::Batch(batch)) => Some(Ok(batch)),
                Ok(Step::Pending | Step::Reject(_)) => continue,
                Ok(Step::End) => None,
                Err(error) => Some(Err(error)),
            };
        }
    }
}
