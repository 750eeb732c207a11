//! The plans that a cluster carries out: queries of files, and nothing else.
//!
//! The engine decodes many plans that have no place here: they write files, read files of other formats wherever they
//! are, change catalogs. Nobody needs a query for them, so a message with one is forged. Both sides refuse every
//! plan that is not listed here.

use crate::sql::cluster::protocol::scan::PieceTable;
use crate::sql::tables::position_table::PositionTable;
use datafusion::catalog::view::ViewTable;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::source_as_provider;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::{AsLogicalPlan, LogicalExtensionCodec};
use datafusion_proto::physical_plan::{AsExecutionPlan, PhysicalExtensionCodec};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::any::Any;
use std::sync::Arc;

/// The error if a message asks for something that queries do not need.
pub(in crate::sql::cluster) fn refused(what: &dyn std::fmt::Display) -> DataFusionError {
    crate::sql::cluster::protocol::errors::carried(&format!("the cluster does not carry out {what}"))
}

/// Checks that a plan is a query of files.
///
/// # Errors
/// If it does anything else.
pub(in crate::sql::cluster) fn check_query(plan: &LogicalPlan) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::TableScan(scan) => check_table(&scan.source)?,
            LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::Repartition(_)
            | LogicalPlan::Union(_)
            | LogicalPlan::EmptyRelation(_)
            | LogicalPlan::Subquery(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Values(_)
            | LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::Unnest(_) => {}
            LogicalPlan::RecursiveQuery(_) => {
                let reason = "the cluster cannot carry out recursive queries; without --cluster, one process can";
                return Err(crate::sql::cluster::protocol::errors::carried(reason));
            }
            other => return Err(refused(&other.display())),
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Checks that a table has positions or files, is empty, or is a query of such tables.
fn check_table(source: &Arc<dyn TableSource>) -> Result<()> {
    let table = source_as_provider(source)?;
    let table = &*table as &dyn Any;
    let is_ours = table.is::<PositionTable>() || table.is::<PieceTable>();
    if is_ours || table.is::<ListingTable>() || table.is::<EmptyTable>() {
        return Ok(());
    }
    match table.downcast_ref::<ViewTable>() {
        Some(view) => check_query(view.logical_plan()),
        None => Err(refused(&"queries of other tables than files")),
    }
}

/// The plan of a query in a message to the scheduler.
#[derive(Clone, Debug)]
pub(in crate::sql::cluster) struct QueryPlan(LogicalPlanNode);

impl AsLogicalPlan for QueryPlan {
    fn try_decode(bytes: &[u8]) -> Result<Self> {
        LogicalPlanNode::try_decode(bytes).map(Self)
    }
    fn try_encode<B: bytes::BufMut>(&self, bytes: &mut B) -> Result<()> {
        self.0.try_encode(bytes)
    }
    fn try_into_logical_plan(&self, context: &TaskContext, codec: &dyn LogicalExtensionCodec) -> Result<LogicalPlan> {
        let plan = self.0.try_into_logical_plan(context, codec)?;
        check_query(&plan)?;
        Ok(plan)
    }
    fn try_from_logical_plan(plan: &LogicalPlan, codec: &dyn LogicalExtensionCodec) -> Result<Self> {
        LogicalPlanNode::try_from_logical_plan(plan, codec).map(Self)
    }
}

/// The plan of a task in a message of the scheduler, which makes all of them itself: it takes none from others.
#[derive(Clone, Debug)]
pub(in crate::sql::cluster) struct TaskPlan(PhysicalPlanNode);

impl AsExecutionPlan for TaskPlan {
    fn try_decode(bytes: &[u8]) -> Result<Self> {
        PhysicalPlanNode::try_decode(bytes).map(Self)
    }
    fn try_encode<B: bytes::BufMut>(&self, bytes: &mut B) -> Result<()> {
        self.0.try_encode(bytes)
    }
    fn try_into_physical_plan(
        &self,
        _: &TaskContext,
        _: &dyn PhysicalExtensionCodec,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Err(refused(&"plans of tasks that others made"))
    }
    fn try_from_physical_plan(plan: Arc<dyn ExecutionPlan>, codec: &dyn PhysicalExtensionCodec) -> Result<Self> {
        PhysicalPlanNode::try_from_physical_plan(plan, codec).map(Self)
    }
}
