//! The processes of a cluster: a scheduler, and executors that take tasks from it.
//!
//! Executors ask the scheduler for tasks, so that only they need to know an address. Results and intermediate rows are
//! fetched from the executors that made them. An executor that is silent for some time counts as gone, and its tasks
//! are given to others.

use super::client::MESSAGE;
use super::codec::{LogicalCodec, PhysicalCodec};
use super::rules::{NullableUnions, OneResult, RowsAsSources, SharedNotes};
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
use datafusion::execution::{FunctionRegistry, SessionStateBuilder, SessionStateDefaults};
use datafusion::prelude::SessionConfig;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time of silence after which an executor counts as gone. Executors ask for tasks at least every five seconds, even if
/// they have no room for them.
const SILENT_SECONDS: u64 = 20;
/// Interval at which the scheduler looks for silent executors.
const LOOK_SECONDS: u64 = 4;
/// Time that jobs wait for an executor after the last one is gone.
const LONELY_SECONDS: u64 = 30;
/// Interval at which an executor removes old files from its work directory, and their age.
const CLEAN_SECONDS: u64 = 600;
const OLD_SECONDS: u64 = 7 * 24 * 3600;
/// Time for which an executor tries to reach the scheduler when it starts.
const CONNECT_SECONDS: u16 = 30;
/// Time for tasks to end after the executor is asked to end.
const LAST_TASKS: Duration = Duration::from_secs(5);
/// Interval between checks whether the process should end.
const PATIENCE: Duration = Duration::from_millis(100);

/// The functions of all sessions, with the default rules for positions.
fn judging() -> Judging {
    Judging { tier: Tier::best(), validity: Validity::default(), keep_en_passant: false }
}

/// Checks that it is possible to listen at this address; for port 0, chooses a free port.
fn free(bind: SocketAddr) -> Result<SocketAddr, SqlError> {
    let bound = TcpListener::bind(bind).and_then(|listener| listener.local_addr());
    bound.map_err(|error| SqlError::Cluster(format!("cannot listen on {bind}: {error}")))
}

async fn asked_to_end(interrupt: &AtomicBool) {
    while !interrupt.load(Ordering::Relaxed) {
        tokio::time::sleep(PATIENCE).await;
    }
}

/// Runs a scheduler until `interrupt` is set; `ready` is called with its address. It keeps everything in memory: if it
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
                .with_physical_optimizer_rule(Arc::new(RowsAsSources))
                .with_physical_optimizer_rule(Arc::new(NullableUnions))
                .with_physical_optimizer_rule(Arc::new(SharedNotes))
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
        // Requests from web pages are refused.
        cors_allowed_origins: own,
        ..SchedulerConfig::default()
    };
    runtime(2)?.block_on(async {
        let cluster =
            BallistaCluster::new_from_config(&config).await.map_err(|error| SqlError::Cluster(error.to_string()))?;
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

/// Options of an executor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExecutorOptions {
    /// The scheduler, as `HOST:PORT`.
    pub scheduler: String,
    /// The address from which others fetch its results; with port 0, any free port.
    pub bind: SocketAddr,
    /// The name or address under which others reach it, instead of the address that the scheduler sees.
    pub advertise: Option<String>,
    /// Number of simultaneous tasks.
    pub slots: usize,
    /// The directory in which it creates one for its files, instead of the system's temporary directory.
    pub work_directory: Option<PathBuf>,
    /// Bytes of memory for grouping, joins and sorting, for all tasks together; by default 70 % of the machine's
    /// memory.
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

/// Runs an executor until `interrupt` is set or the process is asked to end; `ready` is called with its address. If the
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
        .ok_or_else(|| SqlError::Cluster("the name of the work directory is not valid UTF-8".to_owned()))?;
    let message = u32::try_from(MESSAGE).unwrap_or(u32::MAX);
    let slots = options.slots.max(1);
    let mut registry = BallistaFunctionRegistry::default();
    // Its own defaults lack the functions of arrays, which the scheduler and all clients have.
    let engines = SessionStateDefaults::default_scalar_functions();
    for function in engines.into_iter().chain(functions::scalar(judging()).into_iter().map(Arc::new)) {
        let name = function.name().to_owned();
        registry.scalar_functions.insert(name, function);
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
    // This does not wait for running tasks.
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
        _ => Err(SqlError::Cluster(format!("`{address}` is not an address: expected HOST:PORT"))),
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
