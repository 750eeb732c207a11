//! The rows of files that say how many records they have: a query that needs no column of them, such as `count(*)`, reads
//! nothing else.

use super::scan::properties;
use crate::formats::boards::BoardsFile;
use crate::formats::tables::RowKind;
use crate::formats::{self, Format};
use crate::input::{Access, Inputs, Source};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::fmt;
use std::fs;
use std::sync::Arc;

/// Maximum number of rows of a batch.
const ROWS: usize = 8192;

/// The number of records of all inputs; `None` if one of them does not say it. Damage is reported when the records are read.
pub(in crate::sql) fn records(inputs: &Inputs, access: Access) -> Option<usize> {
    let counted = inputs.sources.iter().map(|source| usize::try_from(records_of(source, access)?).ok());
    counted.reduce(|all, records| all?.checked_add(records?)).flatten()
}

/// Those of a boards file, and of a Parquet or Arrow file whose rows are positions.
fn records_of(source: &Source, access: Access) -> Option<u64> {
    // What is not a file could not be read a second time.
    let is_file = fs::metadata(source.name()).is_ok_and(|metadata| metadata.is_file());
    if source.is_member() || !is_file {
        return None;
    }
    let opened = formats::open(source, None, None, access, Arc::default()).ok()?;
    if opened.input.compression().is_some() {
        return None;
    }
    if opened.format == Format::BOARDS {
        return Some(BoardsFile::open_with(source.name(), access).ok()?.len());
    }
    let tables = opened.format.tables()?;
    let facts = tables.facts(opened.input.into_random_access(opened.format.name()).ok()?).ok()?;
    let has_positions = matches!(facts.kind, Ok(RowKind { has_games: false, .. }));
    has_positions.then_some(facts.rows)
}

/// This number of rows without columns.
#[derive(Debug)]
pub(in crate::sql) struct CountedRows {
    rows: usize,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl CountedRows {
    pub(in crate::sql) fn new(rows: usize) -> Self {
        let schema = Arc::new(Schema::empty());
        Self { rows, properties: properties(&schema, 1), schema }
    }
}

impl DisplayAs for CountedRows {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CountedRows: rows={}", self.rows)
    }
}

impl ExecutionPlan for CountedRows {
    fn name(&self) -> &str {
        "CountedRows"
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
    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let unknown = Statistics::new_unknown(&self.schema);
        Ok(Arc::new(unknown.with_num_rows(Precision::Exact(self.rows))))
    }
    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (schema, rows) = (Arc::clone(&self.schema), self.rows);
        let batches = (0..rows).step_by(ROWS).map(move |first| {
            let options = RecordBatchOptions::new().with_row_count(Some(ROWS.min(rows - first)));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&schema), Vec::new(), &options)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::iter(batches))))
    }
}
