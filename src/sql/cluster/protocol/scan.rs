//! The scan of a cluster: reads the pieces of inputs that its own input names, each on one thread.

use super::errors::failure_of;
use super::input_shares::{Piece, of_batch, plan};
use super::scan_metrics::ScanMetrics;
use super::statistics_request::Counting;
use super::write_request::Writing;
use super::{piece_result_rows, statistics, write_pieces};
use crate::input::{Inputs, Shard};
use crate::pipeline::ReadOptions;
use crate::sql::PositionSource;
use crate::sql::cluster::protection::Directories;
use crate::sql::tables::scan::{NAME, Request, ScanPart, ScanRun, begin, external, properties};
use crate::sql::tables::scan_registry::Reads;
use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;

/// Maximum number of finished batches that wait.
const WAITING: usize = 4;

/// The output for a piece.
#[derive(Clone, Debug)]
pub(in crate::sql::cluster) enum Work {
    /// The columns of its records.
    Columns(Arc<Request>),
    /// The report on its records.
    Statistics(Arc<PositionSource>, Counting),
    /// A file with its records.
    File(Arc<PositionSource>, Arc<Writing>),
}

impl Work {
    fn schema(&self) -> SchemaRef {
        match self {
            Self::Columns(request) => Arc::clone(&request.schema),
            Self::Statistics(..) | Self::File(..) => piece_result_rows::schema(),
        }
    }

    /// The options for reading.
    pub(in crate::sql::cluster) fn read(&self) -> &ReadOptions {
        let source = match self {
            Self::Columns(request) => &request.source,
            Self::Statistics(source, _) | Self::File(source, _) => source,
        };
        &source.options.read
    }

    fn begin(
        &self,
        (number, piece): (u32, &Piece),
        (own, shard): (Inputs, Option<Shard>),
        directories: Directories,
        told: ScanMetrics,
    ) -> Result<ScanRun> {
        match self {
            Self::Columns(request) => {
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
            Self::Statistics(source, counting) => {
                let names = piece.names(&own);
                statistics::begin(source, counting, number, (own, names), shard, told)
            }
            Self::File(source, writing) => {
                write_pieces::begin(source, writing, (number, piece), (own, shard), (directories, told))
            }
        }
    }
}

/// Reads pieces.
#[derive(Debug)]
pub(in crate::sql::cluster) struct PieceScan {
    work: Work,
    /// One for each partition.
    pieces: Arc<dyn ExecutionPlan>,
    /// Where this machine reads and writes; `None` where the scan is planned and not run.
    directories: Option<Directories>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl PieceScan {
    /// A scan of the pieces that another plan has: [`super::input_shares::plan`].
    pub(in crate::sql::cluster) fn new(
        work: Work,
        pieces: Arc<dyn ExecutionPlan>,
        directories: Option<Directories>,
    ) -> Self {
        let partitions = pieces.properties().partitioning.partition_count();
        Self {
            properties: properties(&work.schema(), partitions),
            work,
            pieces,
            directories,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    pub(in crate::sql::cluster) fn work(&self) -> &Work {
        &self.work
    }
}

impl DisplayAs for PieceScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.work {
            Work::Columns(request) => write!(f, "{NAME}: {request}"),
            Work::Statistics(source, _) => write!(f, "{NAME}: from={source}, statistics"),
            Work::File(source, writing) => write!(f, "{NAME}: from={source}, to={}", writing.name.display()),
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
            (Some(pieces), true) => Ok(Arc::new(Self::new(self.work.clone(), pieces, self.directories.clone()))),
            _ => Err(external("a scan of pieces has one input")),
        }
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (work, schema, directories) = (self.work.clone(), self.work.schema(), self.directories.clone());
        let told = ScanMetrics::new(&self.metrics, partition);
        let pieces = self.pieces.execute(partition, context)?;
        let rows =
            pieces.then(move |batch| begun(work.clone(), directories.clone(), told.clone(), batch)).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// Begins to read the piece that a batch has.
async fn begun(
    work: Work,
    directories: Option<Directories>,
    told: ScanMetrics,
    batch: Result<RecordBatch>,
) -> Result<SendableRecordBatchStream> {
    let (number, piece) = of_batch(&batch?)?;
    let directories = directories.ok_or_else(|| external("only an executor reads pieces"))?;
    let data = directories.data.clone();
    // What is read to recognize a file would keep other tasks waiting.
    let opened = tokio::task::spawn_blocking(move || piece.open(&data).map(|opened| (piece, opened))).await;
    let (piece, opened) = opened.map_err(external)??;
    let run = work.begin((number, &piece), opened, directories, told)?;
    Ok(Arc::new(run).stream(work.schema()))
}

/// What executors return of the pieces of inputs, other than columns, as a table: statistics, or what they say of files that
/// they write.
#[derive(Debug)]
pub(in crate::sql::cluster) struct PieceTable {
    work: Work,
    pieces: Vec<Piece>,
}

impl PieceTable {
    pub(in crate::sql::cluster) fn statistics(source: PositionSource, pieces: Vec<Piece>, counting: Counting) -> Self {
        Self { work: Work::Statistics(Arc::new(source), counting), pieces }
    }
    pub(in crate::sql::cluster) fn files(source: PositionSource, pieces: Vec<Piece>, writing: Writing) -> Self {
        Self { work: Work::File(Arc::new(source), Arc::new(writing)), pieces }
    }
    pub(in crate::sql::cluster) fn work(&self) -> &Work {
        &self.work
    }
    pub(in crate::sql::cluster) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}

#[async_trait]
impl TableProvider for PieceTable {
    fn schema(&self) -> SchemaRef {
        self.work.schema()
    }
    fn table_type(&self) -> TableType {
        TableType::Base
    }
    async fn scan(
        &self,
        _: &dyn Session,
        _: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(PieceScan::new(self.work.clone(), plan(&self.pieces)?, None)))
    }
}
