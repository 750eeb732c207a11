//! Changes to the plans of a scheduler, which the engine would divide into tasks wrongly.

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::config::ConfigOptions;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_expr::expressions::{CastExpr, case, is_not_null};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::joins::NestedLoopJoinExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, replace_children_if_necessary};
use std::sync::Arc;

/// Gathers the rows of a job in one last task.
///
/// If the last stage has several tasks, the scheduler keeps results of executors that it has lost. Fetching their rows
/// would fail, or give them twice if the executor was only slow. The results of all other stages are made again.
#[derive(Debug)]
pub(in crate::sql::cluster) struct OneResult;

impl PhysicalOptimizerRule for OneResult {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(gathered(plan))
    }
    fn name(&self) -> &str {
        "one_result"
    }
    fn schema_check(&self) -> bool {
        true
    }
}

/// The plan with one partition.
fn gathered(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}

/// Gives a join without equal columns both of its sides in one task, unless it is an inner join.
///
/// Such a join notes which rows on the left have a partner, and all partitions on the right share these notes. Tasks
/// cannot share them: each would return the rows that have no partner in its own partition, and one row would come back
/// once for each task. For joins by hash, the engine has been mended:
/// <https://github.com/apache/datafusion-ballista/issues/2187>
#[derive(Debug)]
pub(in crate::sql::cluster) struct SharedNotes;

impl PhysicalOptimizerRule for SharedNotes {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let changed = plan.transform_up(|node| {
            let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() else {
                return Ok(Transformed::no(node));
            };
            if *join.join_type() == JoinType::Inner {
                return Ok(Transformed::no(node));
            }
            // The engine removes what only gathers partitions where one is not needed; it needs one for a limit.
            let sides = [join.left(), join.right()].map(|side| -> Arc<dyn ExecutionPlan> {
                Arc::new(GlobalLimitExec::new(gathered(Arc::clone(side)), 0, None))
            });
            replace_children_if_necessary(node, sides.to_vec()).map(Transformed::yes)
        });
        changed.data()
    }
    fn name(&self) -> &str {
        "shared_notes"
    }
    fn schema_check(&self) -> bool {
        true
    }
}

/// Makes a row or an empty table of a query without a table a source like all others.
///
/// The scheduler expects the same number of metrics from each task of a stage. The tasks of a union have a source in
/// place of each input that is not theirs, and sources have metrics, but these two do not. It would then give up on the
/// job without saying so.
#[derive(Debug)]
pub(in crate::sql::cluster) struct RowsAsSources;

impl PhysicalOptimizerRule for RowsAsSources {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let changed = plan.transform_up(|node| {
            let rows = match (node.is::<PlaceholderRowExec>(), node.is::<EmptyExec>()) {
                (true, _) => 1,
                (_, true) => 0,
                _ => return Ok(Transformed::no(node)),
            };
            // Nothing reads the columns of such a row.
            let fields = node
                .schema()
                .fields()
                .iter()
                .map(|field| field.as_ref().clone().with_nullable(true))
                .collect::<Vec<_>>();
            let schema: SchemaRef = Arc::new(Schema::new(fields));
            let columns = schema.fields().iter().map(|field| new_null_array(field.data_type(), rows));
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let columns: Vec<ArrayRef> = columns.collect();
            let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)?;
            let partitions = vec![vec![batch]; node.output_partitioning().partition_count()];
            Ok(Transformed::yes(MemorySourceConfig::try_new_exec(&partitions, schema, None)? as _))
        });
        changed.data()
    }
    fn name(&self) -> &str {
        "rows_as_sources"
    }
    fn schema_check(&self) -> bool {
        true
    }
}

/// Makes columns nullable by their expressions where only the plan says that they are.
///
/// A union casts the columns of an input without nulls to nullable ones, if another input has nulls. Messages do not
/// say that a cast does so: an executor adds a second one, whose metrics the scheduler does not expect, and it would
/// not say how many records were rejected.
#[derive(Debug)]
pub(in crate::sql::cluster) struct NullableUnions;

impl PhysicalOptimizerRule for NullableUnions {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let changed = plan.transform_up(|node| {
            if !node.is::<UnionExec>() {
                return Ok(Transformed::no(node));
            }
            let inputs = node.children().into_iter().map(nullable).collect::<Result<_>>()?;
            replace_children_if_necessary(node, inputs).map(Transformed::yes)
        });
        changed.data()
    }
    fn name(&self) -> &str {
        "nullable_unions"
    }
    fn schema_check(&self) -> bool {
        true
    }
}

fn nullable(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(projection) = plan.downcast_ref::<ProjectionExec>() else {
        return Ok(Arc::clone(plan));
    };
    let input = projection.input();
    let schema = plan.schema();
    let expressions = projection.expr().iter().zip(schema.fields()).map(|(column, field)| {
        let ProjectionExpr { expr, alias } = column.clone();
        let is_only_declared = match expr.downcast_ref::<CastExpr>() {
            Some(cast) => field.is_nullable() && !cast.expr().nullable(&input.schema())?,
            None => false,
        };
        if !is_only_declared {
            return Ok(ProjectionExpr { expr, alias });
        }
        let expr = case(None, vec![(is_not_null(Arc::clone(&expr))?, expr)], None)?;
        Ok(ProjectionExpr { expr, alias })
    });
    let expressions = expressions.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(ProjectionExec::try_new(expressions, Arc::clone(input))?))
}
