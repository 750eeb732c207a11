//! The client: its connection with the scheduler, the progress of a job, and the summaries of the machines.

use super::codec::{LogicalCodec, PhysicalCodec};
use super::scan_metrics::{RECORDS, REJECTED};
use crate::pipeline::Summary;
use crate::poisoned_locks::Unpoisoned;
use crate::sql::SqlError;
use crate::sql::cluster::protection::tls::{Tls, endpoint};
use crate::sql::cluster::protocol::scheduler_connection::Connection;
use crate::sql::tables::scan::NAME;
use axum::http::Method;
use ballista_core::config::{BALLISTA_CLIENT_PULL, BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK};
use ballista_core::execution_plans::DistributedQueryExec;
use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use ballista_core::serde::protobuf::operator_metric::Metric;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{CleanJobDataParams, GetJobMetricsParams, GetJobStatusParams};
use datafusion::common::Result as EngineResult;
use datafusion::execution::SessionState;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::LogicalPlanNode;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Time for the first executor to appear, and for a lost one to come back.
const LONELY: Duration = Duration::from_secs(30);
/// Interval between checks of a job.
const LOOK: Duration = Duration::from_secs(1);
/// Maximum time that a job may have no tasks before it ends.
const IDLE: Duration = Duration::from_secs(30);
/// The same while its next tasks may wait for those of other jobs. A free slot is for the job that has none.
const WAITING: Duration = Duration::from_secs(90);
/// Number of requests without a response after which the scheduler counts as gone.
const MOST_SILENT: u32 = 3;
/// Number of times that the scheduler may not know a job: it is not known for a moment before it is queued.
const MOST_UNKNOWN: u32 = 3;
/// Minimum number of partitions of a query.
const PARTITIONS: usize = 16;
/// Number of partitions per slot: several, because machines are not equally fast.
const PARTITIONS_PER_SLOT: usize = 4;
/// Maximum size of a message: reports of many groups are large.
pub(in crate::sql::cluster) const MESSAGE: usize = 256 << 20;

/// A cluster that can run queries: a scheduler with at least one executor.
///
/// ```no_run
/// use lanefish::sql::cluster::Cluster;
/// use lanefish::sql::{Session, SessionOptions};
/// use lanefish::tiers;
///
/// let cluster = Cluster::connect("127.0.0.1:50050", None)?;
/// let session = Session::on_cluster(SessionOptions::new(tiers::best()), cluster)?;
/// for statement in Session::parse("select phase, count(*) from '/shared/dump.boards' group by phase")? {
///     for batch in session.run(&statement)? {
///         println!("{:?}", batch?);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cluster {
    address: String,
    slots: usize,
    tls: Option<Tls>,
    connection: Arc<Connection>,
}

impl Cluster {
    /// Connects to the cluster whose scheduler has this address, as `HOST:PORT`, with the certificate that it asks
    /// for, if it does. Waits up to 30 seconds for its first executor.
    ///
    /// # Errors
    /// If the scheduler cannot be reached, something else is there, or no executor comes.
    pub fn connect(address: &str, tls: Option<&Tls>) -> Result<Self, SqlError> {
        let begin = Instant::now();
        let connection = Connection::new(address, tls)?;
        loop {
            let executors = executors(&connection).map_err(|reason| {
                // What a port that expects TLS says to others is not HTTP.
                let hint = match tls {
                    None if reason.contains("http2") => "; if it expects TLS, use --tls-cert, --tls-key and --tls-ca",
                    _ => "",
                };
                SqlError::Cluster(format!("no scheduler answers at {address}: {reason}{hint}"))
            })?;
            let slots = executors.iter().map(slots_of).sum();
            if !executors.is_empty() {
                let (address, tls) = (address.to_owned(), tls.cloned());
                return Ok(Self { address, slots, tls, connection: Arc::new(connection) });
            }
            if begin.elapsed() > LONELY {
                return Err(lonely(address));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// The address of its scheduler.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Number of tasks that its executors can run at the same time.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Number of tasks into which a query is divided.
    pub(in crate::sql) fn partitions(&self) -> usize {
        (PARTITIONS_PER_SLOT * self.slots).max(PARTITIONS)
    }

    /// Whether its scheduler answers.
    pub(in crate::sql::cluster) fn answers(&self) -> bool {
        executors(&self.connection).is_ok()
    }
}

/// The executors that the scheduler knows.
fn executors(scheduler: &Connection) -> Result<Vec<Value>, String> {
    match scheduler.get("/api/executors") {
        Ok(Value::Array(executors)) => Ok(executors),
        Ok(_) => Err("something else is there".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether another job than this one has tasks that run, as far as the scheduler says.
fn others_run(scheduler: &Connection, id: &str) -> bool {
    let text = |job: &Value, key: &str| job.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let jobs = scheduler.get("/api/jobs").ok();
    let jobs = jobs.as_ref().and_then(Value::as_array).into_iter().flatten();
    let mut others = jobs.filter(|job| text(job, "status") == "Running").map(|job| text(job, "job_id"));
    others.any(|other| {
        let stages = scheduler.get(&format!("/api/job/{other}/stages"));
        other != id && stages.is_ok_and(|stages| progress_of(&stages).tasks_run())
    })
}

/// Whether the scheduler answers that it does not know a job.
fn is_unknown(scheduler: &Connection, id: &str) -> bool {
    let params = GetJobStatusParams { job_id: id.to_owned() };
    let status = async { SchedulerGrpcClient::new(scheduler.channel()).get_job_status(params).await };
    matches!(scheduler.wait(status), Ok(Ok(answer)) if answer.get_ref().status.is_none())
}

fn slots_of(executor: &Value) -> usize {
    let slots = executor.pointer("/specification/vcores").and_then(Value::as_u64);
    usize::try_from(slots.unwrap_or(1)).unwrap_or(1)
}

fn lonely(address: &str) -> SqlError {
    SqlError::Cluster(format!(
        "the scheduler at {address} has no executor: start one with lanefish cluster executor --scheduler {address}"
    ))
}

/// Progress of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobProgress {
    /// Number of known stages.
    pub stages: usize,
    /// Number of finished stages.
    pub stages_done: usize,
    /// Number of tasks that have begun.
    pub tasks: usize,
    /// Number of finished tasks.
    pub tasks_done: usize,
}

impl JobProgress {
    /// Whether some tasks have begun and not ended.
    fn tasks_run(&self) -> bool {
        self.tasks > self.tasks_done
    }
}

/// The connection of a session with its cluster.
#[derive(Debug)]
pub(in crate::sql) struct Link {
    cluster: Cluster,
    job: Mutex<Watched>,
}

/// The current job.
#[derive(Debug, Default)]
struct Watched {
    plan: Option<Arc<dyn ExecutionPlan>>,
    looked: Option<Instant>,
    progress: JobProgress,
    lonely: Option<Instant>,
    /// The time since which all known tasks have been finished.
    idle: Option<Instant>,
    silent: u32,
    /// Number of times in a row that the scheduler did not know the job.
    unknown: u32,
    has_ended: bool,
}

impl Watched {
    /// The number that the scheduler gave the job, once it has.
    fn id(&self) -> Option<String> {
        let job = distributed(self.plan.as_ref()?)?.job_id()?;
        Some(job.as_str().to_owned())
    }
}

/// The part of a plan that runs on the cluster.
fn distributed(plan: &Arc<dyn ExecutionPlan>) -> Option<&DistributedQueryExec<LogicalPlanNode>> {
    let own = plan.downcast_ref::<DistributedQueryExec<LogicalPlanNode>>();
    own.or_else(|| plan.children().into_iter().find_map(distributed))
}

impl Link {
    pub(in crate::sql) fn new(cluster: Cluster) -> Self {
        Self { cluster, job: Mutex::default() }
    }

    pub(in crate::sql) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The settings of a session whose queries run on the cluster.
    pub(in crate::sql) fn config(&self, config: SessionConfig) -> SessionConfig {
        let config = match &self.cluster.tls {
            Some(tls) => {
                config.with_ballista_use_tls(true).with_ballista_override_create_grpc_client_endpoint(endpoint(tls))
            }
            None => config,
        };
        config
            .with_target_partitions(self.cluster.partitions())
            .upgrade_for_ballista()
            .with_ballista_job_name("lanefish")
            // The engine refuses its own plans of some queries in this check, and then the job never ends.
            .with_ballista_adaptive_query_planner(false)
            // The number of a job is then known at once, and it is always known whether the scheduler is there.
            .set_bool(BALLISTA_CLIENT_PULL, true)
            // Otherwise one task takes as many partitions as an executor has free slots: more is lost with an executor,
            // and all of their joins and groups are in memory at the same time.
            .set_usize(BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, 1)
            // How many rows a scan returns is not known, so that the side of a join that would be held in memory whole
            // may be the larger one. Sorted sides can be written to files instead.
            .set_bool("datafusion.optimizer.prefer_hash_join", false)
            .with_ballista_grpc_client_max_message_size(MESSAGE)
            .with_ballista_logical_extension_codec(Arc::new(LogicalCodec::default()))
            .with_ballista_physical_extension_codec(Arc::new(PhysicalCodec::default()))
    }

    /// The same session, whose queries run on the cluster.
    pub(in crate::sql) fn upgraded(&self, state: SessionState) -> EngineResult<SessionState> {
        state.upgrade_for_ballista(self.cluster.connection.url().to_owned())
    }

    fn job(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.job.lock().unpoisoned()
    }

    /// Begins to watch the job of a plan.
    pub(in crate::sql) fn watch(&self, plan: &Arc<dyn ExecutionPlan>) {
        *self.job() = Watched { plan: Some(Arc::clone(plan)), ..Watched::default() };
    }

    /// Progress of the current job.
    pub(in crate::sql) fn progress(&self) -> JobProgress {
        self.job().progress
    }

    /// Looks at the job, if the last look is some time ago.
    ///
    /// # Errors
    /// If the scheduler does not answer any more, has had no executor for some time, or forgets the job.
    pub(in crate::sql) fn look(&self) -> Result<(), SqlError> {
        let mut job = self.job();
        if job.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return Ok(());
        }
        let address = &self.cluster.address;
        let scheduler = &self.cluster.connection;
        match executors(scheduler) {
            Ok(executors) if executors.is_empty() => {
                let since = *job.lonely.get_or_insert_with(Instant::now);
                if since.elapsed() > LONELY {
                    return Err(lonely(address));
                }
            }
            Ok(_) => {
                (job.lonely, job.silent) = (None, 0);
            }
            Err(reason) => {
                job.silent += 1;
                if job.silent >= MOST_SILENT {
                    return Err(gone(address, &reason));
                }
            }
        }
        if job.silent == 0
            && let Some(id) = job.id()
        {
            // The engine would ask for such a job for ever.
            job.unknown = if is_unknown(scheduler, &id) { job.unknown + 1 } else { 0 };
            if job.unknown >= MOST_UNKNOWN {
                return Err(SqlError::Cluster(format!(
                    "the scheduler at {address} does not know the job {id}: it was started again while the job ran"
                )));
            }
        }
        if job.silent == 0
            && let Some(id) = job.id()
            && let Ok(stages) = scheduler.get(&format!("/api/job/{id}/stages"))
        {
            job.progress = progress_of(&stages);
            let is_idle = job.progress.tasks > 0 && !job.progress.tasks_run();
            job.idle = is_idle.then(|| job.idle.unwrap_or_else(Instant::now));
            let idle = job.idle.map_or(Duration::ZERO, |idle| idle.elapsed());
            if idle > WAITING || idle > IDLE && !others_run(scheduler, &id) {
                return Err(SqlError::Cluster(format!(
                    "the scheduler at {address} has given up on the job {id} without saying so; its log may say why"
                )));
            }
        }
        job.looked = Some(Instant::now());
        Ok(())
    }

    /// Notes that the job has succeeded, and all its rows are here.
    pub(in crate::sql) fn end(&self) {
        let mut job = self.job();
        if !std::mem::replace(&mut job.has_ended, true) {
            self.forget_rows(&job);
        }
    }

    /// Tells the scheduler that the rows of the job are no longer needed.
    fn forget_rows(&self, job: &Watched) {
        if let Some(job_id) = job.id() {
            let scheduler = &self.cluster.connection;
            let params = CleanJobDataParams { job_id, remove_stage_ids: Vec::new() };
            let forget = async { SchedulerGrpcClient::new(scheduler.channel()).clean_job_data(params).await };
            // If it does not answer, it forgets them by itself, later.
            let _ = scheduler.wait(forget);
        }
    }

    /// The number of the job, if it has succeeded; returned only once.
    fn ended_job(&self) -> Option<String> {
        let mut job = self.job();
        let id = job.id().filter(|_| job.has_ended);
        *job = Watched::default();
        id
    }

    /// Cancels the job, if it has begun, because its rows are no longer needed.
    pub(in crate::sql) fn cancel(&self) {
        if let Some(id) = self.job().id() {
            // It may have ended, and the scheduler may be gone.
            let _ = self.cluster.connection.request(Method::PATCH, &format!("/api/job/{id}"));
        }
        self.forget_rows(&self.job());
    }

    /// The summaries of the scans of the last job, if there was one that succeeded.
    ///
    /// # Errors
    /// If the scheduler does not say.
    pub(in crate::sql) async fn summary(&self) -> Result<Option<Summary>, SqlError> {
        let Some(job_id) = self.ended_job() else {
            return Ok(None);
        };
        let unknown = |reason: String| {
            SqlError::Cluster(format!(
                "how many records were rejected is not known: the scheduler at {} does not say ({reason})",
                self.cluster.address
            ))
        };
        let channel = self.cluster.connection.channel();
        let mut scheduler = SchedulerGrpcClient::new(channel).max_decoding_message_size(MESSAGE);
        let asked = scheduler.get_job_metrics(GetJobMetricsParams { job_id }).await;
        let stages = asked.map_err(|error| unknown(error.to_string()))?.into_inner().stages;
        let operators = stages.iter().flat_map(|stage| &stage.operators);
        let metrics =
            operators.filter(|operator| operator.operator_type.contains(NAME)).flat_map(|operator| &operator.metrics);
        let mut summary = Summary::default();
        for metric in metrics {
            let Some(Metric::Count(count)) = &metric.metric else {
                continue;
            };
            match count.name.as_str() {
                RECORDS => summary.records += count.value,
                REJECTED => summary.rejected += count.value,
                _ => {}
            }
        }
        Ok(Some(summary))
    }
}

/// The error if the scheduler is no longer there.
fn gone(address: &str, reason: &str) -> SqlError {
    SqlError::Cluster(format!("the scheduler at {address} is gone: {reason}"))
}

/// Counts stages and tasks in the scheduler's description of a job.
fn progress_of(stages: &Value) -> JobProgress {
    let mut progress = JobProgress::default();
    let stages = stages.get("stages").unwrap_or(stages).as_array();
    for stage in stages.into_iter().flatten() {
        progress.stages += 1;
        let status = stage.get("stage_status").and_then(Value::as_str);
        let is_done = status.is_some_and(|status| status.starts_with("Success"));
        progress.stages_done += usize::from(is_done);
        for task in stage.get("tasks").and_then(Value::as_array).into_iter().flatten() {
            progress.tasks += 1;
            let is_done = task.get("status").is_some_and(|status| status == "Successful");
            progress.tasks_done += usize::from(is_done);
        }
    }
    progress
}
