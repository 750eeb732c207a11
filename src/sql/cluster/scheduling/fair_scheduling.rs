//! The order of tasks: a free slot is for the job with the fewest running tasks, and of several for the one with the
//! fewest that wait, so that a small query does not wait until large ones have begun all of theirs.

use super::shuffle_files::check;
use ballista_core::JobId;
use ballista_core::serde::protobuf::AvailableVcores;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::scheduler::{
    ExecutorData, ExecutorMetadata, ExecutorOperatingSystemSpecification, ExecutorSpecification,
};
use ballista_scheduler::cluster::memory::InMemoryClusterState;
use ballista_scheduler::cluster::{BoundTask, ClusterState, DistributionPolicy};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::state::task_manager::JobInfoCache;
use datafusion::common::{DataFusionError, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Gives each free slot to the job with the fewest running tasks, then the fewest that wait, then the one that began
/// first.
#[derive(Debug)]
pub(in crate::sql::cluster) struct Fair;

/// A job that may have a task for a slot.
struct Candidate {
    id: JobId,
    job: JobInfoCache,
    running: usize,
    waiting: usize,
    begun: u64,
}

#[async_trait::async_trait]
impl DistributionPolicy for Fair {
    async fn bind_tasks(
        &self,
        budgets: Vec<&mut AvailableVcores>,
        jobs: Arc<HashMap<JobId, JobInfoCache>>,
    ) -> Result<Vec<BoundTask>> {
        let mut bound = Vec::new();
        if budgets.iter().all(|budget| budget.vcores == 0) {
            return Ok(bound);
        }
        let mut candidates = Vec::with_capacity(jobs.len());
        for (id, job) in jobs.iter() {
            let mut graph = job.execution_graph.write().await;
            if matches!(graph.status().status, Some(Status::Failed(_))) {
                continue;
            }
            graph.revive();
            if let Err(reason) = check(graph.as_ref()) {
                log::warn!("job {id} ends: {reason}");
                graph.fail_job(reason);
                continue;
            }
            let waiting = graph.available_tasks();
            if waiting > 0 {
                // With one job, there is nothing to compare.
                let running = if jobs.len() > 1 { graph.running_tasks().len() } else { 0 };
                let begun = graph.start_time();
                drop(graph);
                candidates.push(Candidate { id: id.clone(), job: job.clone(), running, waiting, begun });
            }
        }
        for budget in budgets {
            while budget.vcores > 0 {
                let next = candidates.iter().enumerate().min_by_key(|(_, job)| (job.running, job.waiting, job.begun));
                let Some((place, _)) = next else {
                    return Ok(bound);
                };
                match bind(&candidates[place], budget).await? {
                    Some(task) => {
                        budget.vcores = budget.vcores.saturating_sub(task.1.vcores_consumed.max(1));
                        candidates[place].running += 1;
                        candidates[place].waiting = candidates[place].waiting.saturating_sub(1);
                        bound.push(task);
                    }
                    None => {
                        candidates.swap_remove(place);
                    }
                }
            }
        }
        Ok(bound)
    }

    fn name(&self) -> &str {
        "fair"
    }
}

/// Binds the next task of a job to one slot, as the engine does for a cluster that has nothing else.
async fn bind(candidate: &Candidate, budget: &AvailableVcores) -> Result<Option<BoundTask>> {
    let failed = |error: ballista_core::error::BallistaError| DataFusionError::External(Box::new(error));
    let cluster = InMemoryClusterState::default();
    let id = budget.executor_id.clone();
    let executor = ExecutorMetadata {
        id: id.clone(),
        host: String::new(),
        port: 0,
        grpc_port: 0,
        specification: ExecutorSpecification { vcores: 1 },
        os_info: ExecutorOperatingSystemSpecification::default(),
    };
    let slot = ExecutorData { executor_id: id, total_vcores: 1, available_vcores: 1 };
    cluster.register_executor(executor, slot).await.map_err(failed)?;
    let job = Arc::new(HashMap::from([(candidate.id.clone(), candidate.job.clone())]));
    let bound = cluster.bind_schedulable_tasks(TaskDistributionPolicy::Bias, job, None).await.map_err(failed)?;
    Ok(bound.into_iter().next())
}
