//! The scan of a cluster: reads the pieces of inputs that its own input names, each on one thread.

use super::errors::{carried, machine};
use super::pieces::{Piece, of_batch};
use super::statistics::{self, Counting};
use super::wire::SourceWire;
use crate::error::Error;
use crate::pipeline::Summary;
use crate::sql::PositionSource;
use crate::sql::reads::Reads;
use crate::sql::scan::{NAME, Request, ScanPart, ScanRun, begin, external, properties};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;

/// Maximum number of finished batches that wait.
const WAITING: usize = 4;

/// The names of the metrics of a scan.
pub(super) const RECORDS: &str = "records";
pub(super) const REJECTED: &str = "rejected";

/// Metrics, which the client asks for.
#[derive(Clone, Debug)]
pub(super) struct Told {
    records: Count,
    rejected: Count,
}

impl Told {
    fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        Self { records: counter(RECORDS), rejected: counter(REJECTED) }
    }

    pub(super) fn tell(&self, summary: &Summary) {
        let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
        self.records.add(number(summary.records));
        self.rejected.add(number(summary.rejected));
    }
}

/// An error for the client: what failed, why, and where.
pub(super) fn failure_of(failure: &Error) -> DataFusionError {
    let mut text = failure.to_string();
    let mut source = std::error::Error::source(failure);
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    carried(&format!("{text} (on {})", machine()))
}

/// The output for a piece.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// The columns of its records.
    Columns(Arc<Request>),
    /// The report on its records.
    Statistics(Arc<PositionSource>, Counting),
}

impl Work {
    fn schema(&self) -> SchemaRef {
        match self {
            Self::Columns(request) => Arc::clone(&request.schema),
            Self::Statistics(..) => statistics::schema(),
        }
    }

    /// The inputs in their encoded form.
    pub(super) fn source(&self) -> SourceWire {
        SourceWire::of(match self {
            Self::Columns(request) => &request.source,
            Self::Statistics(source, _) => source,
        })
    }

    fn begin(&self, number: u32, piece: &Piece, told: Told) -> Result<ScanRun> {
        match self {
            Self::Columns(request) => {
                let (own, shard) = piece.of(&request.source.inputs);
                let part = ScanPart {
                    own: Some(own),
                    shard,
                    on_end: Some(Box::new(move |summary| {
                        told.tell(summary);
                        summary.failure.as_ref().map(failure_of)
                    })),
                };
                let (reads, _) = Reads::new(false);
                begin(Arc::clone(request), part, &reads, WAITING)
            }
            Self::Statistics(source, counting) => statistics::begin(source, counting, number, piece, told),
        }
    }
}

/// Reads pieces.
#[derive(Debug)]
pub(super) struct PieceScan {
    work: Work,
    /// One for each partition.
    pieces: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl PieceScan {
    /// A scan of the pieces that another plan has: [`super::pieces::plan`].
    pub(super) fn new(work: Work, pieces: Arc<dyn ExecutionPlan>) -> Self {
        let partitions = pieces.properties().partitioning.partition_count();
        Self {
            properties: properties(&work.schema(), partitions),
            work,
            pieces,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    pub(super) fn work(&self) -> &Work {
        &self.work
    }
}

impl DisplayAs for PieceScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.work {
            Work::Columns(request) => write!(f, "{NAME}: {request}"),
            Work::Statistics(source, _) => write!(f, "{NAME}: from={source}, statistics"),
        }
    }
}

impl ExecutionPlan for PieceScan {
    fn name(&self) -> &str {
        NAME
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.pieces]
    }
    // Another partition of its input is another piece.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }
    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(pieces), true) => Ok(Arc::new(Self::new(self.work.clone(), pieces))),
            _ => Err(external("a scan of pieces has one input")),
        }
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (work, schema) = (self.work.clone(), self.work.schema());
        let told = Told::new(&self.metrics, partition);
        let pieces = self.pieces.execute(partition, context)?;
        let rows = pieces
            .map(move |batch| -> Result<_> {
                let (number, piece) = of_batch(&batch?)?;
                let run = work.begin(number, &piece, told.clone())?;
                Ok(Arc::new(run).stream(work.schema()))
            })
            .try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
