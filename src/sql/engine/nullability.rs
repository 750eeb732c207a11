//! Which columns of an answer can have nulls, for the answers of clusters.
//!
//! The tables of a cluster allow nulls in all columns, because the engine would refuse those of outer joins otherwise.
//! The files that are written from answers declare only those columns as optional that can lack a value.

use crate::sql::tables::position_table::PositionTable;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::logical_plan::TableScanBuilder;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use std::sync::Arc;

/// Whether each column of a plan can have nulls; none if the plan cannot be made again.
pub(in crate::sql) fn possible(plan: &LogicalPlan) -> Option<Vec<bool>> {
    let plan = plan.clone().transform_up_with_subqueries(|node| declared(node).map(Transformed::yes));
    let plan = plan.data().ok()?;
    Some(plan.schema().fields().iter().map(|field| field.is_nullable()).collect())
}

/// The node, in which tables of positions declare which of their columns lack no value.
fn declared(node: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::TableScan(scan) = node else {
        return node.recompute_schema();
    };
    let table = source_as_provider(&scan.source)?;
    let Some(table) = table.downcast_ref::<PositionTable>() else {
        return Ok(LogicalPlan::TableScan(scan));
    };
    let source = provider_as_source(Arc::new(table.declared()));
    let scan = TableScanBuilder::new(scan.table_name, source)
        .with_projection(scan.projection)
        .with_filters(scan.filters)
        .with_fetch(scan.fetch)
        .build()?;
    Ok(LogicalPlan::TableScan(scan))
}

/// The rows, of which these columns can have nulls.
pub(in crate::sql) fn declare(rows: SendableRecordBatchStream, nullable: &[bool]) -> SendableRecordBatchStream {
    let of_rows = rows.schema();
    if of_rows.fields().len() != nullable.len() {
        return rows;
    }
    let fields = of_rows.fields().iter().zip(nullable);
    let fields = fields.map(|(field, &nullable)| field.as_ref().clone().with_nullable(field.is_nullable() && nullable));
    let schema: SchemaRef = Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), of_rows.metadata().clone()));
    let of_batches = Arc::clone(&schema);
    let rows = rows.map(move |rows| {
        let rows = rows?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let columns = rows.columns().to_vec();
        Ok(RecordBatch::try_new_with_options(Arc::clone(&of_batches), columns, &options)?)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}
