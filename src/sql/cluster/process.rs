//! The processes of a cluster: a scheduler, and executors that take tasks from it.
//!
//! Executors ask the scheduler for tasks, so that only they need to know where the other is; results and intermediate
//! rows are fetched from where they were made. An executor that says nothing for some time is taken to be gone, and its
//! tasks go to others.

use super::client::MESSAGE;
use super::codec::{LogicalCodec, PhysicalCodec};
use crate::chess::validity::Validity;
use crate::sql::functions::{self, Judging};
use crate::sql::{SqlError, runtime};
use crate::tiers::Tier;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::common::Result as EngineResult;
use datafusion::config::ConfigOptions;
use datafusion::execution::{FunctionRegistry, SessionStateBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::prelude::SessionConfig;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An executor asks for tasks at least this often, even when it has no room for them: every five seconds. One that has
/// been silent for this long is gone.
const SILENT_SECONDS: u64 = 20;
/// How often the scheduler looks for silent executors.
const LOOK_SECONDS: u64 = 4;
/// How long jobs wait for an executor once the last one is gone.
const LONELY_SECONDS: u64 = 30;
/// How often an executor removes old files from its work directory, and how old they are.
const CLEAN_SECONDS: u64 = 600;
const OLD_SECONDS: u64 = 7 * 24 * 3600;
/// How long an executor tries to reach the scheduler when it starts.
const CONNECT_SECONDS: u16 = 30;
/// How long tasks may take to end once the executor is asked to.
const LAST_TASKS: Duration = Duration::from_secs(5);
/// Between two looks at whether the process should end.
const PATIENCE: Duration = Duration::from_millis(100);

/// Gathers the rows of a job in one last task.
///
/// Of a last stage with several tasks, the scheduler keeps the results of executors that it has lost: their rows would
/// be fetched in vain, or twice if the executor was only slow. Those of all other stages are made again.
#[derive(Debug)]
struct OneResult;

impl PhysicalOptimizerRule for OneResult {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> EngineResult<Arc<dyn ExecutionPlan>> {
        Ok(match plan.properties().partitioning.partition_count() {
            1 => plan,
            _ => Arc::new(CoalescePartitionsExec::new(plan)),
        })
    }
    fn name(&self) -> &str {
        "one_result"
    }
    fn schema_check(&self) -> bool {
        true
    }
}

/// The functions of all sessions, as where nothing else is said.
fn judging() -> Judging {
    Judging { tier: Tier::best(), validity: Validity::default(), keep_en_passant: false }
}

/// Whether something can listen there; with port 0, a port that is free.
fn free(bind: SocketAddr) -> Result<SocketAddr, SqlError> {
    let bound = TcpListener::bind(bind).and_then(|listener| listener.local_addr());
    bound.map_err(|error| SqlError::Cluster(format!("cannot listen on {bind}: {error}")))
}

async fn asked_to_end(interrupt: &AtomicBool) {
    while !interrupt.load(Ordering::Relaxed) {
        tokio::time::sleep(PATIENCE).await;
    }
}

/// Runs a scheduler until `interrupt` is set; `ready` is told where it listens. It keeps everything in memory: if it
/// ends, so do its jobs.
///
/// # Errors
/// If it cannot listen at this address, or the engine fails.
pub fn run_scheduler(bind: SocketAddr, interrupt: &AtomicBool, ready: impl FnOnce(SocketAddr)) -> Result<(), SqlError> {
    let bind = free(bind)?;
    let message = u32::try_from(MESSAGE).unwrap_or(u32::MAX);
    let own = format!("http://{bind}");
    let config = SchedulerConfig {
        external_host: bind.ip().to_string(),
        bind_host: bind.ip().to_string(),
        bind_port: bind.port(),
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: SILENT_SECONDS,
        expire_dead_executor_interval_seconds: LOOK_SECONDS,
        no_executors_grace_period_seconds: LONELY_SECONDS,
        grpc_server_max_decoding_message_size: message,
        grpc_server_max_encoding_message_size: message,
        grpc_client_max_message_size: message,
        override_session_builder: Some(Arc::new(|config: SessionConfig| {
            let state = default_session_builder(config)?;
            let id = state.session_id().to_owned();
            let mut state = SessionStateBuilder::new_from_existing(state)
                .with_session_id(id)
                .with_physical_optimizer_rule(Arc::new(OneResult))
                .build();
            for function in functions::scalar(judging()) {
                state.register_udf(Arc::new(function))?;
            }
            for function in functions::aggregates(judging()) {
                state.register_udaf(Arc::new(function))?;
            }
            Ok(state)
        })),
        override_config_producer: Some(Arc::new(|| {
            SessionConfig::new_with_ballista()
                .with_ballista_logical_extension_codec(Arc::new(LogicalCodec::default()))
                .with_ballista_physical_extension_codec(Arc::new(PhysicalCodec::default()))
        })),
        override_logical_codec: Some(Arc::new(LogicalCodec::default())),
        override_physical_codec: Some(Arc::new(PhysicalCodec::default())),
        // No page of the web may ask.
        cors_allowed_origins: own,
        ..SchedulerConfig::default()
    };
    runtime(2)?.block_on(async {
        let cluster = BallistaCluster::new_from_config(&config).await;
        let cluster = cluster.map_err(|error| SqlError::Cluster(error.to_string()))?;
        let server = start_server(cluster, bind, Arc::new(config));
        tokio::pin!(server);
        // It listens before it does anything else that takes time.
        tokio::select! {
            ended = &mut server => return ended.map_err(|error| SqlError::Cluster(error.to_string())),
            () = tokio::time::sleep(PATIENCE) => ready(bind),
        }
        tokio::select! {
            ended = server => ended.map_err(|error| SqlError::Cluster(error.to_string())),
            () = asked_to_end(interrupt) => Ok(()),
        }
    })
}

/// What an executor is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExecutorOptions {
    /// The scheduler, as `HOST:PORT`.
    pub scheduler: String,
    /// Where others fetch what it made; with port 0, a port that is free.
    pub bind: SocketAddr,
    /// The name or address under which others reach it, instead of the one from which the scheduler sees it come.
    pub advertise: Option<String>,
    /// Tasks at the same time.
    pub slots: usize,
    /// The directory in which it makes one for its files, instead of that of the system.
    pub work_directory: Option<PathBuf>,
    /// Bytes of memory for grouping, joins and sorting of all tasks; without it, 70 % of what the machine has.
    pub memory: Option<u64>,
}

impl ExecutorOptions {
    /// An executor on the loopback address, with one slot.
    pub fn new(scheduler: impl Into<String>) -> Self {
        Self {
            scheduler: scheduler.into(),
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            advertise: None,
            slots: 1,
            work_directory: None,
            memory: None,
        }
    }
}

crate::setters::setters!(ExecutorOptions {
    bind: SocketAddr,
    advertise: Option<String>,
    slots: usize,
    work_directory: Option<PathBuf>,
    memory: Option<u64>,
});

/// Runs an executor until `interrupt` is set or the process is asked to end; `ready` is told where it listens. If the
/// scheduler ends, the executor waits for the next one.
///
/// # Errors
/// If it cannot listen at its address, reach the scheduler, or write to its work directory.
pub fn run_executor(
    options: &ExecutorOptions,
    interrupt: &AtomicBool,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), SqlError> {
    let (host, port) = host_and_port(&options.scheduler)?;
    let bind = free(options.bind)?;
    let mut directory = tempfile::Builder::new();
    directory.prefix("lanefish-executor-");
    let made = match &options.work_directory {
        Some(parent) => directory.tempdir_in(parent),
        None => directory.tempdir(),
    };
    let directory = made.map_err(|error| SqlError::Cluster(format!("cannot make a work directory: {error}")))?;
    let work_directory = directory
        .path()
        .to_str()
        .ok_or_else(|| SqlError::Cluster("the name of the work directory is no UTF-8".to_owned()))?;
    let message = u32::try_from(MESSAGE).unwrap_or(u32::MAX);
    let slots = options.slots.max(1);
    let mut registry = BallistaFunctionRegistry::default();
    for function in functions::scalar(judging()) {
        let name = function.name().to_owned();
        registry.scalar_functions.insert(name, Arc::new(function));
    }
    for function in functions::aggregates(judging()) {
        let name = function.name().to_owned();
        registry.aggregate_functions.insert(name, Arc::new(function));
    }
    let config = ExecutorProcessConfig {
        bind_host: bind.ip().to_string(),
        external_host: options.advertise.clone(),
        port: bind.port(),
        scheduler_host: host,
        scheduler_port: port,
        scheduler_connect_timeout_seconds: CONNECT_SECONDS,
        vcores: slots,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(work_directory.to_owned()),
        job_data_ttl_seconds: OLD_SECONDS,
        job_data_clean_up_interval_seconds: CLEAN_SECONDS,
        grpc_max_decoding_message_size: message,
        grpc_max_encoding_message_size: message,
        memory_pool_size: options.memory,
        override_function_registry: Some(Arc::new(registry)),
        override_logical_codec: Some(Arc::new(LogicalCodec::default())),
        override_physical_codec: Some(Arc::new(PhysicalCodec::default())),
        ..ExecutorProcessConfig::default()
    };
    let runtime = runtime(slots.max(2))?;
    let ended = runtime.block_on(async {
        let executor = start_executor_process(Arc::new(config));
        tokio::pin!(executor);
        tokio::select! {
            ended = &mut executor => return ended,
            () = tokio::time::sleep(PATIENCE) => ready(bind),
        }
        tokio::select! {
            // A signal ends it as well, after it has told the scheduler.
            ended = executor => ended,
            () = async {
                asked_to_end(interrupt).await;
                tokio::time::sleep(LAST_TASKS).await;
            } => Ok(()),
        }
    });
    // Tasks that are under way are not waited for.
    runtime.shutdown_background();
    ended.map_err(|error| match error {
        ballista_core::error::BallistaError::General(message) => SqlError::Cluster(message),
        error => SqlError::Cluster(error.to_string()),
    })
}

/// The parts of `HOST:PORT`; an IPv6 address stands in brackets.
fn host_and_port(address: &str) -> Result<(String, u16), SqlError> {
    let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    match parts {
        Some((host, port)) if !host.is_empty() => Ok((host.to_owned(), port)),
        _ => Err(SqlError::Cluster(format!("`{address}` is no address: expected HOST:PORT"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        let parts = |address| host_and_port(address).ok();
        assert_eq!(parts("a.b:50050"), Some(("a.b".to_owned(), 50050)));
        assert_eq!(parts("[::1]:7"), Some(("[::1]".to_owned(), 7)));
        for wrong in ["", "a", ":1", "a:", "a:x", "a:70000"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_port_in_use_is_an_error_at_once() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let error = run_scheduler(address, &AtomicBool::new(true), |_| {}).unwrap_err();
        assert!(error.to_string().contains("cannot listen"), "{error}");
    }
}
