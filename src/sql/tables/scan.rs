//! The scan: a run of the pipeline as a leaf of a plan.
//!
//! All partitions of a scan share one run on all threads, and each takes the next batch that is ready. So it does not
//! matter how an input can be divided, nothing is decompressed twice, and an unread partition does not block the
//! others. A scan with a single partition has the rows in the order of the records. The run is a [`Stream`] that starts
//! when the first row is requested.

use super::columns_stored_in_parquet::reads_all_as_they_stand;
use super::scan_job::Select;
use super::scan_registry::{Read, Reads};
use crate::choose::Condition;
use crate::error::{Error, Reject};
use crate::input::{Inputs, Shard};
use crate::jobs::{Sender, Stream};
use crate::pipeline::{Summary, run_to_end};
use crate::poisoned_locks::Unpoisoned;
use crate::sql::PositionSource;
use crate::table::{ChosenColumn, Needs};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, SendableRecordBatchStream,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// Maximum number of finished batches that wait, per partition.
const WAITING: usize = 4;
/// The name of the scan in plans.
pub(in crate::sql) const NAME: &str = "PositionScan";

/// The inputs and columns of a scan.
#[derive(Debug)]
pub(in crate::sql) struct Request {
    pub(in crate::sql) source: Arc<PositionSource>,
    pub(in crate::sql) columns: Vec<ChosenColumn>,
    pub(in crate::sql) conditions: Vec<Condition>,
    pub(in crate::sql) limit: Option<usize>,
    pub(in crate::sql) schema: SchemaRef,
}

impl Request {
    /// What it needs of records.
    pub(in crate::sql) fn needs(&self) -> Needs {
        let columns = self.columns.iter().map(ChosenColumn::needs);
        columns.chain(self.conditions.iter().map(|condition| condition.needs().clone())).collect()
    }

    /// Whether its rows depend on earlier records, back to the beginning of the first input.
    #[cfg(feature = "cluster")]
    pub(in crate::sql) fn depends_on_records_before(&self) -> bool {
        self.needs().records_before || self.source.options.read.depends_on_records_before()
    }
}

/// Reads columns of the records of some inputs.
#[derive(Debug)]
pub(in crate::sql) struct Scan {
    request: Arc<Request>,
    reads: Arc<Reads>,
    properties: Arc<PlanProperties>,
    shared: Mutex<Shared>,
}

/// The run that partitions share, and the partitions that have begun to read it.
#[derive(Debug, Default)]
struct Shared {
    run: Option<Arc<ScanRun>>,
    partitions: BTreeSet<usize>,
}

/// A running run, or `None` after its end. Partitions wait in turn. The run ends when this is dropped.
#[derive(Debug)]
pub(in crate::sql) struct ScanRun(tokio::sync::Mutex<Option<Stream<Batch, Result<()>>>>);

/// The output of a run, which ends after an error.
pub(in crate::sql) type Batch = Result<RecordBatch>;

impl Scan {
    /// A scan of this number of partitions, which share one run.
    pub(in crate::sql) fn new(request: Request, reads: Arc<Reads>, partitions: usize) -> Self {
        Self {
            properties: properties(&request.schema, partitions.max(1)),
            request: Arc::new(request),
            reads,
            shared: Mutex::default(),
        }
    }

    /// The run that a partition reads: a new one if the partition has already read the last one.
    fn run_for(&self, partition: usize) -> Result<Arc<ScanRun>> {
        let mut shared = self.shared.lock().unpoisoned();
        if let Some(run) = &shared.run
            && !shared.partitions.contains(&partition)
        {
            let run = Arc::clone(run);
            shared.partitions.insert(partition);
            self.forget_complete(&mut shared);
            return Ok(run);
        }
        let partitions = self.properties.partitioning.partition_count();
        let (request, part) = (Arc::clone(&self.request), ScanPart::default());
        let run = Arc::new(begin(request, part, &self.reads, partitions * WAITING)?);
        shared.run = Some(Arc::clone(&run));
        shared.partitions = BTreeSet::from([partition]);
        self.forget_complete(&mut shared);
        Ok(run)
    }

    /// A run that all partitions read is owned by them only, so that it ends when they are dropped.
    fn forget_complete(&self, shared: &mut Shared) {
        if shared.partitions.len() == self.properties.partitioning.partition_count() {
            *shared = Shared::default();
        }
    }
}

/// Begins to read the columns of a part of the inputs.
pub(in crate::sql) fn begin(
    request: Arc<Request>,
    part: ScanPart,
    reads: &Arc<Reads>,
    waiting: usize,
) -> Result<ScanRun> {
    let read = reads.begin();
    ScanRun::begin(waiting, move |sender| read_all(&request, part, read, sender))
}

/// The properties of a plan that returns rows in no order.
pub(in crate::sql) fn properties(schema: &SchemaRef, partitions: usize) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(Arc::clone(schema)),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

impl ScanRun {
    /// Begins a run on a thread of its own.
    pub(in crate::sql) fn begin(
        waiting: usize,
        work: impl FnOnce(&Sender<Batch>) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let stream = Stream::begin(waiting, work).map_err(external)?;
        Ok(Self(Some(stream).into()))
    }

    /// Waits for the next rows; `None` after the last ones.
    async fn next(&self) -> Option<Batch> {
        let mut stream = self.0.lock().await;
        let next = poll_fn(|context| match &mut *stream {
            Some(stream) => stream.poll(context),
            None => Poll::Ready(None),
        });
        if let Some(batch) = next.await {
            return Some(batch);
        }
        // Without an error, the rows read so far would look like the complete result.
        let panicked = |_| Err(external("a thread ended with a panic"));
        stream.take()?.end().unwrap_or_else(panicked).err().map(Err)
    }

    /// The rows of the scan.
    pub(in crate::sql) fn stream(self: Arc<Self>, schema: SchemaRef) -> SendableRecordBatchStream {
        let batches = futures::stream::unfold(self, async |run| {
            let batch = run.next().await;
            batch.map(|batch| (batch, run))
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
    }
}

/// The part of the inputs that a run reads; all of them by default.
#[derive(Default)]
pub(in crate::sql) struct ScanPart {
    /// Instead of all inputs.
    pub(in crate::sql) own: Option<Inputs>,
    pub(in crate::sql) shard: Option<Shard>,
    /// Called with the summary, unless it is not needed; may return the error to report for a failure.
    pub(in crate::sql) on_end: Option<Box<OnEnd>>,
}

/// Called at the end of a run.
pub(in crate::sql) type OnEnd = dyn FnOnce(&Summary) -> Option<DataFusionError> + Send;

pub(in crate::sql) fn external(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> DataFusionError {
    DataFusionError::External(error.into())
}

/// Why a run stopped without an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    /// It has all the rows that are requested.
    Enough,
    /// The rows are no longer needed.
    Abandoned,
}

/// A note on files which were once tables of their own rows.
const ROWS_ARE_GAMES: &str =
    "each row is read as a game, with a row of the table for each position; plain('..') has the rows of the file";

/// Reads the inputs until no more rows are requested.
fn read_all(request: &Request, part: ScanPart, read: Read, sender: &Sender<Batch>) -> Result<()> {
    let interrupt = sender.interrupt();
    let Request { source, limit, .. } = request;
    let select = Select::new(request);
    let mut on_reject = |reject: &Reject| {
        read.reject(reject, interrupt);
        Ok(())
    };
    let mut on_progress = |progress| read.progress(progress);
    let mut options = source.options.run(part.shard);
    options.read.decode.without_positions =
        !source.options.recompute && reads_all_as_they_stand(&source.options.read) && !request.needs().positions;
    let options =
        options.interrupt(Some(interrupt)).on_reject(Some(&mut on_reject)).on_progress(Some(&mut on_progress));
    let inputs = part.own.as_ref().unwrap_or(&source.inputs);
    let mut left = limit.unwrap_or(usize::MAX);
    let mut end = End::Complete;
    let mut summary = run_to_end(inputs, options, &select, |selected| {
        for batch in selected.into_batches() {
            let mut batch = batch.map_err(external);
            if let Ok(rows) = &mut batch {
                let taken = rows.num_rows().min(left);
                left -= taken;
                *rows = rows.slice(0, taken);
            }
            if sender.send(batch).is_err() {
                end = End::Abandoned;
            } else if left == 0 {
                end = End::Enough;
            }
            if end != End::Complete {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    });
    if matches!(summary.failure, Some(Error::Interrupted)) {
        summary.failure = None;
        if end == End::Complete {
            end = End::Abandoned;
        }
    }
    // The amount of the rest that had been read by then depends on timing.
    if end == End::Abandoned {
        return Ok(());
    }
    for file in &mut summary.files {
        if file.format.is_some_and(|format| format.about().has_games && format.tables().is_some()) {
            let note = file
                .note
                .take()
                .map_or(Cow::Borrowed(ROWS_ARE_GAMES), |note| format!("{note}; {ROWS_ARE_GAMES}").into());
            file.note = Some(note);
        }
    }
    let failed = summary.failure.is_some();
    let told = part.on_end.and_then(|on_end| on_end(&summary));
    read.end(summary);
    if failed { Err(told.unwrap_or_else(|| external(ReadFailed))) } else { Ok(()) }
}

/// A scan failed: its summary has the error.
#[derive(Debug, thiserror::Error)]
#[error("reading failed")]
pub(in crate::sql) struct ReadFailed;

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.columns.iter().map(ChosenColumn::name).collect();
        write!(f, "from={}, columns=[{}]", self.source, columns.join(", "))?;
        if !self.conditions.is_empty() {
            let conditions: Vec<String> = self.conditions.iter().map(Condition::to_string).collect();
            write!(f, ", where=[{}]", conditions.join(", "))?;
        }
        if let Some(limit) = self.limit {
            write!(f, ", limit={limit}")?;
        }
        Ok(())
    }
}

impl DisplayAs for Scan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}: {}", self.request)
    }
}

impl ExecutionPlan for Scan {
    fn name(&self) -> &str {
        NAME
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }
    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }
    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let run = self.run_for(partition)?;
        Ok(run.stream(Arc::clone(&self.request.schema)))
    }
}
