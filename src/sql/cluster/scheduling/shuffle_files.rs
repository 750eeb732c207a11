//! The files of rows between the stages of a job: which of them a task reads when some were made again.
//!
//! If an executor is lost, the engine makes the rows again that it had: it repeats single tasks of a stage, or all of
//! them as another attempt. Two of its assumptions do not hold then, and rows would be lost, or come back twice, in a
//! query that succeeds:
//!
//! - Tasks are numbered from zero in each attempt, and the number is in the name of the file of rows. A reader takes a
//!   file of this name from its own executor, if there is one, although a task of an earlier attempt may have left it:
//!   one that failed before it wrote its first row, for example. So [`UniqueFiles`] gives each task a number that no
//!   other task has.
//! - The next stage keeps the files of an attempt that is made again, and would read them as well as the new ones. So
//!   [`check`] stops such a job before the new attempt begins, and the client runs it again. That takes at least three
//!   stages, one of which is made again while the next one waits for the rest of its rows.
//!
//! [`check`] also compares the files that a stage will read with those that were written, before its first task begins.

use super::executor_connections::Connections;
use crate::sql::cluster::protocol::errors::Carried;
use ballista_core::JobId;
use ballista_core::serde::protobuf::task_status::Status;
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use ballista_scheduler::state::execution_graph::ExecutionGraph;
use ballista_scheduler::state::execution_stage::{ExecutionStage, StageOutput, SuccessfulStage};
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Runs tasks as the engine does, but gives their files names that no other task uses.
pub(in crate::sql::cluster) struct UniqueFiles(DefaultExecutionEngine);

impl UniqueFiles {
    pub(in crate::sql::cluster) fn new() -> Self {
        Self(DefaultExecutionEngine::with_client_pool(Arc::new(Connections::default())))
    }
}

impl ExecutionEngine for UniqueFiles {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        global_output_partition_ids: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        // The standard library takes the keys of this hash at random.
        let file = RandomState::new().hash_one(task_id) as usize;
        self.0.create_query_stage_exec(job_id, stage_id, file, global_output_partition_ids, plan, work_dir, config)
    }
}

/// The error of a job that must be run again.
pub(in crate::sql::cluster) const RUN_AGAIN: &str = "executors were lost while the query ran, and it must be run again";

/// Why a job cannot go on.
fn unsound(reason: &str) -> String {
    Carried(reason.to_owned()).to_string()
}

/// Checks that the stages of a job read the rows that were made, and each of them once.
///
/// # Errors
/// With the reason why the job must end.
pub(in crate::sql::cluster) fn check(graph: &dyn ExecutionGraph) -> std::result::Result<(), String> {
    let stages = graph.stages();
    for (stage_id, stage) in stages {
        let (inputs, begins) = match stage {
            ExecutionStage::UnResolved(stage) => (&stage.inputs, false),
            ExecutionStage::Resolved(stage) => (&stage.inputs, false),
            ExecutionStage::Running(stage) => (&stage.inputs, stage.task_infos.is_empty()),
            ExecutionStage::Successful(_) | ExecutionStage::Failed(_) => continue,
        };
        for (input_id, output) in inputs {
            let has_rows = output.partition_locations.values().any(|locations| !locations.is_empty());
            match stages.get(input_id) {
                Some(ExecutionStage::Successful(input)) if begins && !has_all(output, input) => {
                    return Err(unsound(&format!("stage {stage_id} would not read the rows of stage {input_id}")));
                }
                Some(input) if has_rows && input.task_infos().is_none_or(<[_]>::is_empty) => {
                    return Err(unsound(RUN_AGAIN));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Whether the files of a stage are those that its tasks have written, each of them once.
fn has_all(output: &StageOutput, stage: &SuccessfulStage) -> bool {
    let mut is_made = vec![false; stage.partitions];
    let mut parts = HashSet::new();
    for task in &stage.task_infos {
        if let Status::Successful(done) = &task.task_status {
            for &partition in &task.global_input_partition_ids {
                match is_made.get_mut(partition) {
                    Some(is_made) if !*is_made => *is_made = true,
                    _ => return false,
                }
            }
            parts.extend(done.partitions.iter().map(|part| (part.file_id, part.partition_id as usize)));
        }
    }
    let locations = output.partition_locations.iter();
    let mut read = locations
        .flat_map(|(&partition, locations)| locations.iter().map(move |location| (location.file_id, partition)));
    is_made.iter().all(|&is_made| is_made) && read.all(|part| parts.remove(&part)) && parts.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::sql::cluster::scheduling::fair_scheduling::Fair;
    use ballista_core::execution_plans::{
        ShuffleReaderExec, ShuffleWriterExec, SortShuffleWriterExec, compute_global_output_partition_ids,
    };
    use ballista_core::extension::SessionConfigExt;
    use ballista_core::serde::protobuf::failed_task::FailedReason;
    use ballista_core::serde::protobuf::{
        AvailableVcores, FailedTask, FetchPartitionError, JobStatus, ShuffleWritePartition, SuccessfulTask, TaskStatus,
        job_status,
    };
    use ballista_core::serde::scheduler::{
        ExecutorMetadata, ExecutorOperatingSystemSpecification, ExecutorSpecification, PartitionLocation,
    };
    use ballista_scheduler::cluster::DistributionPolicy;
    use ballista_scheduler::planner::DefaultDistributedPlanner;
    use ballista_scheduler::state::execution_graph::{StaticExecutionGraph, TaskDescription};
    use ballista_scheduler::state::task_manager::JobInfoCache;
    use datafusion::arrow::array::{Int64Array, RecordBatch};
    use datafusion::arrow::datatypes::Schema;
    use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
    use datafusion::datasource::MemTable;
    use datafusion::physical_plan::ExecutionPlanProperties;
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::prelude::SessionContext;
    use std::collections::{BTreeMap, HashMap};

    /// Number of partitions of each stage but the last.
    const PARTITIONS: usize = 5;

    /// A job of several stages, each of which reads the one before it.
    async fn job() -> JobInfoCache {
        let config = SessionConfig::new_with_ballista()
            .with_target_partitions(PARTITIONS)
            .with_ballista_adaptive_query_planner(false)
            .set_usize(ballista_core::config::BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, 1);
        let context = SessionContext::new_with_config(config.clone());
        let numbers = Arc::new(Int64Array::from_iter_values(0..100)) as _;
        let batch = RecordBatch::try_from_iter([("number", numbers)]).unwrap();
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]; PARTITIONS]).unwrap();
        context.register_table("numbers", Arc::new(table)).unwrap();
        let query = "select c, count(*) from (select d, count(*) c from (select number % 7 d from numbers group by \
                     number) group by d) group by c order by c";
        let plan = context.sql(query).await.unwrap().create_physical_plan().await.unwrap();
        let graph = StaticExecutionGraph::new(
            "scheduler",
            &JobId::from("job".to_owned()),
            "job",
            "session",
            plan,
            0,
            Arc::new(config),
            &mut DefaultDistributedPlanner::new(),
            None,
        );
        let graph = graph.unwrap();
        assert!(graph.stage_count() > 3, "{graph:?}");
        JobInfoCache::new(Box::new(graph))
    }

    fn executor(id: usize) -> ExecutorMetadata {
        ExecutorMetadata {
            id: id.to_string(),
            host: "localhost".to_owned(),
            port: 1,
            grpc_port: 1,
            specification: ExecutorSpecification { vcores: 1 },
            os_info: ExecutorOperatingSystemSpecification::default(),
        }
    }

    /// A task that an executor has begun.
    struct Begun {
        executor: usize,
        task: TaskDescription,
    }

    /// The executors of a simulated cluster, of which some are killed.
    struct Cluster {
        random: Random,
        job: JobInfoCache,
        /// The executors that live.
        alive: Vec<usize>,
        /// Those that do not, but for the scheduler they do.
        killed: Vec<usize>,
        next_executor: usize,
        begun: Vec<Begun>,
        /// Number of partitions of each stage that has begun.
        partitions: HashMap<usize, usize>,
        /// Partitions of its stage that are in a file of rows.
        files: HashMap<u64, Vec<usize>>,
        next_file: u64,
    }

    impl Cluster {
        async fn begin(&mut self, executor: usize) {
            let jobs = HashMap::from([(JobId::from("job".to_owned()), self.job.clone())]);
            let mut slot = AvailableVcores { executor_id: executor.to_string(), vcores: 1 };
            let bound = Fair.bind_tasks(vec![&mut slot], Arc::new(jobs)).await.unwrap();
            self.begun.extend(bound.into_iter().map(|(_, task)| Begun { executor, task }));
            for stage in self.job.execution_graph.read().await.stages().values() {
                if let ExecutionStage::Running(stage) = stage {
                    self.partitions.insert(stage.stage_id, stage.partitions);
                }
            }
        }

        /// The locations that a task reads, by the stages that made them.
        fn read(task: &TaskDescription) -> BTreeMap<usize, Vec<PartitionLocation>> {
            let mut read: BTreeMap<usize, Vec<PartitionLocation>> = BTreeMap::new();
            let gathers = task.plan.children()[0].output_partitioning().partition_count() == 1;
            task.plan
                .apply(|node| {
                    if let Some(reader) = node.downcast_ref::<ShuffleReaderExec>() {
                        let locations =
                            reader.partition.iter().enumerate().filter(|(partition, _)| {
                                gathers || task.global_input_partition_ids.contains(partition)
                            });
                        let locations = locations.flat_map(|(_, locations)| locations).cloned();
                        read.entry(reader.stage_id).or_default().extend(locations);
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
                .unwrap();
            read
        }

        /// Runs a task, and returns what its executor says of it.
        async fn run(&mut self, begun: &Begun) -> Status {
            let task = &begun.task;
            for (stage, locations) in Self::read(task) {
                let is_gone = |location: &&PartitionLocation| {
                    self.alive.iter().all(|executor| executor.to_string() != location.executor_meta.id)
                };
                if let Some(lost) = locations.iter().find(is_gone) {
                    let reason = FetchPartitionError {
                        executor_id: lost.executor_meta.id.clone(),
                        map_stage_id: stage as u32,
                        map_partition_id: lost.map_partition_id as u32,
                    };
                    return Status::Failed(FailedTask {
                        error: "lost".to_owned(),
                        retryable: false,
                        count_to_failures: false,
                        failed_reason: Some(FailedReason::FetchPartitionError(reason)),
                    });
                }
                // Once from each partition of the stage before, for each partition that the task makes.
                let mut made: Vec<usize> = locations
                    .iter()
                    .flat_map(|location| self.files[&location.file_id.unwrap()].iter().copied())
                    .collect();
                made.sort_unstable();
                let gathers = task.plan.children()[0].output_partitioning().partition_count() == 1;
                let is_sort_shuffle = locations.iter().all(|location| location.is_sort_shuffle);
                let parts = if gathers && is_sort_shuffle { PARTITIONS } else { 1 };
                let made_by = 0..self.partitions[&stage];
                let expected: Vec<usize> = made_by.flat_map(|partition| vec![partition; parts]).collect();
                assert_eq!(made, expected, "stage {}.{}", task.key.stage_id, task.stage_attempt_num);
            }
            let is_sort_shuffle = task.plan.is::<SortShuffleWriterExec>();
            let outputs = compute_global_output_partition_ids(&task.plan, &task.global_input_partition_ids);
            self.next_file += 1;
            self.files.insert(self.next_file, task.global_input_partition_ids.clone());
            let part = |&partition: &usize| ShuffleWritePartition {
                partition_id: partition as u64,
                num_batches: 1,
                num_rows: 1,
                num_bytes: 1,
                file_id: Some(self.next_file),
                is_sort_shuffle,
            };
            Status::Successful(SuccessfulTask {
                executor_id: begun.executor.to_string(),
                partitions: outputs.iter().map(part).collect(),
                ..SuccessfulTask::default()
            })
        }

        async fn end(&mut self) {
            let place = self.random.below(self.begun.len() as u32) as usize;
            let begun = self.begun.swap_remove(place);
            if !self.alive.contains(&begun.executor) {
                return;
            }
            let status = TaskStatus {
                task_id: begun.task.key.task_id as u32,
                job_id: "job".to_owned(),
                stage_id: begun.task.key.stage_id as u32,
                stage_attempt_num: begun.task.stage_attempt_num as u32,
                status: Some(self.run(&begun).await),
                ..TaskStatus::default()
            };
            let mut graph = self.job.execution_graph.write().await;
            graph.update_task_status(&executor(begun.executor), vec![status], 4, 4).unwrap();
        }

        async fn step(&mut self) {
            match self.random.below(40) {
                0 => {
                    let place = self.random.below(self.alive.len() as u32) as usize;
                    self.killed.push(self.alive.swap_remove(place));
                    self.alive.push(self.next_executor);
                    self.next_executor += 1;
                }
                // An executor that was silent for too long counts as lost, but goes on.
                1 if self.random.below(4) == 0 => {
                    let place = self.random.below(self.alive.len() as u32) as usize;
                    let silent = self.alive[place].to_string();
                    self.job.execution_graph.write().await.reset_stages_on_lost_executor(&silent).unwrap();
                }
                1 | 2 if !self.killed.is_empty() => {
                    let lost = self.killed.swap_remove(0);
                    let mut graph = self.job.execution_graph.write().await;
                    graph.reset_stages_on_lost_executor(&lost.to_string()).unwrap();
                }
                3..20 if !self.begun.is_empty() => self.end().await,
                _ => {
                    let executor = self.alive[self.random.below(self.alive.len() as u32) as usize];
                    if self.begun.iter().all(|begun| begun.executor != executor) {
                        self.begin(executor).await;
                    }
                }
            }
        }
    }

    #[tokio::test]
    async fn no_two_tasks_write_the_same_file() {
        let directory = tempfile::tempdir().unwrap();
        let engine = UniqueFiles::new();
        let job_id = JobId::from("job".to_owned());
        let mut files = HashSet::new();
        for _ in 0..100 {
            let rows = Arc::new(EmptyExec::new(Arc::new(Schema::empty())));
            let writer = ShuffleWriterExec::try_new(job_id.clone(), 1, rows, String::new()).unwrap();
            let place = directory.path().to_str().unwrap();
            let config = SessionConfig::new_with_ballista();
            let task = engine.create_query_stage_exec(job_id.clone(), 1, 0, vec![0], Arc::new(writer), place, &config);
            let parts = task.unwrap().execute_query_stage(0, Arc::default()).await.unwrap();
            files.extend(parts.iter().map(|part| part.file_id));
        }
        assert_eq!(files.len(), 100);
        assert_eq!(std::fs::read_dir(directory.path().join("job/1/0")).unwrap().count(), 100);
    }

    #[tokio::test]
    async fn tasks_read_each_partition_once_whatever_is_made_again() {
        let (mut right, mut failed) = (0, 0);
        for seed in 0..200 {
            let mut cluster = Cluster {
                random: Random::new(seed),
                job: job().await,
                alive: vec![0, 1, 2],
                killed: Vec::new(),
                next_executor: 3,
                begun: Vec::new(),
                partitions: HashMap::new(),
                files: HashMap::new(),
                next_file: 0,
            };
            let mut ended = None;
            for _ in 0..20_000 {
                cluster.step().await;
                let graph = cluster.job.execution_graph.read().await;
                match graph.status() {
                    JobStatus { status: Some(job_status::Status::Successful(_)), .. } => ended = Some(true),
                    JobStatus { status: Some(job_status::Status::Failed(_)), .. } => ended = Some(false),
                    _ => continue,
                }
                break;
            }
            match ended {
                Some(true) => right += 1,
                Some(false) => failed += 1,
                None => panic!("seed {seed}: no end: {:?}", cluster.job.execution_graph.read().await.status()),
            }
        }
        assert!(right > 20, "{right} right, {failed} failed");
    }
}
