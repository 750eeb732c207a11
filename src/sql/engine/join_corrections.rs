//! Joins by sorting, of which the engine makes wrong plans.
//!
//! - A limit above a join would go through it, to the sorts of both sides, if the join returns the rows in the order
//!   that a query requests. Rows without a partner are then rows that the answer lacks.
//! - Columns that only the condition of a join needs would be removed below it, and the condition would look at the
//!   columns that follow. The answer is wrong, or a thread ends with a panic:
//!   <https://github.com/apache/datafusion/issues/24414>
//! - The condition of an outer join is also asked about rows without a partner, and fails if it has a column that its
//!   table declares to be without nulls.
//!
//! Tests ask the engine itself and fail as soon as it answers correctly, so that this module can go.

use datafusion::arrow::datatypes::Schema;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// A rule for physical plans.
pub(in crate::sql) type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// The rules of the engine, with changes for joins by sorting.
pub(in crate::sql) fn rules() -> Vec<Rule> {
    let engines = PhysicalOptimizer::new().rules.into_iter().map(|rule| -> Rule {
        match rule.name() {
            "ProjectionPushdown" => Arc::new(NotBelowConditions(rule)),
            _ => rule,
        }
    });
    let ours: [Rule; 2] = [Arc::new(LimitsApart), Arc::new(NullableConditions)];
    ours.into_iter().chain(engines).collect()
}

/// Whether a plan has such a join.
fn has_merge(plan: &Arc<dyn ExecutionPlan>, is_meant: impl Fn(&SortMergeJoinExec) -> bool) -> Result<bool> {
    plan.exists(|node| Ok(node.downcast_ref::<SortMergeJoinExec>().is_some_and(&is_meant)))
}

/// Puts the limits of sorts after them, so that only rules that know joins move them.
#[derive(Debug)]
struct LimitsApart;

impl PhysicalOptimizerRule for LimitsApart {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        if has_merge(&plan, |_| true)? { limits_apart(plan) } else { Ok(plan) }
    }
    fn name(&self) -> &str {
        "limits_apart"
    }
    fn schema_check(&self) -> bool {
        true
    }
}

/// The plan with a limit after each sort instead of in it.
pub(in crate::sql) fn limits_apart(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let changed = plan.transform_up(|node| {
        let Some(sort) = node.downcast_ref::<SortExec>() else {
            return Ok(Transformed::no(node));
        };
        let Some(fetch) = sort.fetch() else {
            return Ok(Transformed::no(node));
        };
        let complete = Arc::new(sort.with_fetch(None));
        let limit: Arc<dyn ExecutionPlan> = if sort.preserve_partitioning() {
            Arc::new(LocalLimitExec::new(complete, fetch))
        } else {
            Arc::new(GlobalLimitExec::new(complete, 0, Some(fetch)))
        };
        Ok(Transformed::yes(limit))
    });
    changed.data()
}

/// Declares that all columns of conditions can be null.
#[derive(Debug)]
struct NullableConditions;

impl PhysicalOptimizerRule for NullableConditions {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let changed = plan.transform_up(|node| {
            let Some((join, condition)) = node.downcast_ref::<SortMergeJoinExec>().and_then(|join| {
                let condition = join.filter().as_ref()?;
                Some((join, condition))
            }) else {
                return Ok(Transformed::no(node));
            };
            let fields = condition.schema().fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            let condition =
                JoinFilter::new(Arc::clone(condition.expression()), condition.column_indices().to_vec(), schema);
            let join = SortMergeJoinExec::try_new(
                Arc::clone(join.left()),
                Arc::clone(join.right()),
                join.on().to_vec(),
                Some(condition),
                join.join_type(),
                join.sort_options().to_vec(),
                join.null_equality(),
            )?;
            Ok(Transformed::yes(Arc::new(join) as Arc<dyn ExecutionPlan>))
        });
        changed.data()
    }
    fn name(&self) -> &str {
        "nullable_conditions"
    }
    fn schema_check(&self) -> bool {
        true
    }
}

/// A rule of the engine that moves projections, for plans in which no join by sorting has a condition.
#[derive(Debug)]
struct NotBelowConditions(Rule);

impl PhysicalOptimizerRule for NotBelowConditions {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let has_condition = has_merge(&plan, |join| join.filter().is_some())?;
        if has_condition { Ok(plan) } else { self.0.optimize(plan, config) }
    }
    fn name(&self) -> &str {
        self.0.name()
    }
    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::datatypes::Int64Type;
    use datafusion::execution::SessionStateBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};

    async fn context(is_corrected: bool) -> SessionContext {
        let config = SessionConfig::new().with_target_partitions(2);
        let config = config.set_bool("datafusion.optimizer.prefer_hash_join", false);
        let mut state = SessionStateBuilder::new().with_config(config).with_default_features();
        if is_corrected {
            state = state.with_physical_optimizer_rules(rules());
        }
        let context = SessionContext::new_with_state(state.build());
        for table in [
            "create table t (x bigint, y bigint, z bigint) as select value, 9, 0 from generate_series(-99, 0) \
             union all select * from (values (3, 0, 9), (4, 0, 0))",
            "create table u (x bigint, y bigint) as values (3, 1), (4, 1), (5, 1)",
        ] {
            context.sql(table).await.unwrap().collect().await.unwrap();
        }
        context
    }

    /// The number that a query returns; none without rows, or if it fails.
    async fn number(context: &SessionContext, query: &str) -> Option<i64> {
        let frame = context.sql(query).await.unwrap();
        // Some of its threads end with a panic.
        let rows = tokio::spawn(frame.collect()).await.ok()?.ok()?;
        let rows = rows.iter().find(|rows| rows.num_rows() > 0)?;
        Some(rows.column(0).as_primitive::<Int64Type>().value(0))
    }

    /// Fails as soon as the engine answers correctly by itself.
    #[tokio::test]
    async fn the_engine_still_answers_wrongly() {
        let (engine, ours) = (context(false).await, context(true).await);
        for (query, right) in [
            ("select x from t intersect select x from u order by x nulls first limit 1", 3),
            ("select t.x, t.z, u.x as o from t join u on t.x = u.x and t.y < u.y and t.z < 9", 4),
            ("select t.x, t.z, u.x as o from t left join u on t.x = u.x and t.y > u.y where t.z = 9", 3),
        ] {
            assert_eq!(number(&ours, query).await, Some(right), "{query}");
            let engines = number(&engine, query).await;
            assert_ne!(engines, Some(right), "the engine has been mended: {query}");
        }
    }
}
