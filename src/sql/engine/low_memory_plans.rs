//! Plans that need little memory.
//!
//! The engine joins by tables of hashes and keeps the first rows of an order in memory, which is fast, but fails if the
//! memory is not enough. Then the statement begins again: joins with equal columns sort both sides, and sorts with a
//! limit sort everything, because sorting can use temporary files. Sorts merge files in smaller batches, because a batch of
//! each file is in memory, and the number of files depends on which thread gets which rows. Nothing is begun again after
//! the first row.

use super::join_corrections;
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::{SendableRecordBatchStream, SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use std::sync::Arc;
use std::time::Duration;

/// Number of milliseconds to wait for the threads of the first attempt to give their memory back.
const PATIENCE: u32 = 2000;

/// Memory with which a partition of a plan can sort both sides of a join.
const LEAST: usize = 8 << 20;
/// Memory of a partition for each row of a batch: several sorts have several files of wide rows.
const BYTES_OF_ROW: usize = 32 << 10;

/// A plan that can begin again with less memory.
#[derive(Clone, Debug)]
pub(in crate::sql) struct Again {
    state: SessionState,
    plan: LogicalPlan,
    memory: usize,
}

impl Again {
    /// None if it would be the same plan, or memory has no limit.
    pub(in crate::sql) fn of(state: &SessionState, plan: &LogicalPlan) -> Option<Self> {
        let mut differs = false;
        plan.apply_with_subqueries(|node| {
            differs |= matches!(node, LogicalPlan::Join(_) | LogicalPlan::Limit(_) | LogicalPlan::Sort(_));
            Ok(TreeNodeRecursion::Continue)
        })
        .ok()?;
        match state.runtime_env().memory_pool.memory_limit() {
            MemoryLimit::Finite(memory) if differs => Some(Self { state: state.clone(), plan: plan.clone(), memory }),
            _ => None,
        }
    }

    /// Begins.
    pub(in crate::sql) async fn begin(mut self) -> Result<SendableRecordBatchStream> {
        let pool = Arc::clone(&self.state.runtime_env().memory_pool);
        for _ in 0..PATIENCE {
            if pool.reserved() == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let options = self.state.config_mut().options_mut();
        options.optimizer.prefer_hash_join = false;
        let execution = &mut options.execution;
        // The engine joins by hash in a single partition.
        execution.target_partitions = execution.target_partitions.min(self.memory / LEAST).max(2);
        let share = self.memory / execution.target_partitions;
        // Files are merged a batch of each at a time.
        let rows = execution.batch_size.get().min(share / BYTES_OF_ROW).max(64);
        execution.batch_size = ConfigNonZeroUsize::try_new(rows)?;
        execution.sort_spill_reservation_bytes = execution.sort_spill_reservation_bytes.min(share / 16);
        let state = SessionStateBuilder::new_from_existing(self.state);
        let state = state.with_physical_optimizer_rules(join_corrections::rules()).build();
        let plan = state.create_physical_plan(&self.plan).await?;
        execute_stream(join_corrections::limits_apart(plan)?, state.task_ctx())
    }
}

/// Whether the memory was not enough.
pub(in crate::sql) fn is_of_memory(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// What an operator of the engine does, by the name under which it asks for memory.
pub(in crate::sql) fn described(consumer: &str) -> &'static str {
    const NAMES: [(&str, &str); 10] = [
        ("HashJoin", "a join"),
        ("NestedLoopJoin", "a join without equal columns"),
        ("CrossJoin", "a join without conditions"),
        ("SMJStream", "a join, with all rows of one side that are equal,"),
        ("Join", "a join"),
        ("TopK", "sorting"),
        ("Sort", "sorting, for an order or a join,"),
        ("Aggregate", "grouping"),
        ("Recursive", "a recursive query"),
        ("Repartition", "passing rows between threads"),
    ];
    NAMES.iter().find(|(name, _)| consumer.contains(name)).map_or("a part of the query", |(_, described)| described)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_have_names() {
        for (consumer, expected) in [
            ("HashJoinInput[1]", "a join"),
            ("CrossJoinExec", "a join without conditions"),
            ("TopK[0]", "sorting"),
            ("ExternalSorter[1]", "sorting, for an order or a join,"),
            ("GroupedHashAggregateStream[0] (count(1))", "grouping"),
            ("BufferExec[0]", "a part of the query"),
        ] {
            assert_eq!(described(consumer), expected);
        }
    }
}
