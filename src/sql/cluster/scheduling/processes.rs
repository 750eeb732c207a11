//! The processes of a cluster: a scheduler, and executors that take tasks from it.
//!
//! Executors ask the scheduler for tasks, so that only they need to know an address. Results and intermediate rows are
//! fetched from the executors that made them. An executor that is silent for some time counts as gone, and its tasks
//! are given to others.

use super::fair_scheduling::Fair;
use super::object_store::Stores;
use super::optimizer_rules::{NullableUnions, OneResult, RowsAsSources, SharedNotes};
use super::ports::{about, cannot_listen, incoming, listen, serve};
use super::shuffle_files::UniqueFiles;
use super::work_dir::WorkDirectory;
use crate::chess::Validity;
use crate::sql::cluster::monitoring::metrics::{Jobs, READ};
use crate::sql::cluster::protection::Directories;
use crate::sql::cluster::protection::data_dirs::Data;
use crate::sql::cluster::protection::output_dir::OutputDirectory;
use crate::sql::cluster::protection::plan_allowlist::{QueryPlan, TaskPlan};
use crate::sql::cluster::protection::tls::{Tls, endpoint, scheme, with_causes};
use crate::sql::cluster::protocol::client::MESSAGE;
use crate::sql::cluster::protocol::codec::{LogicalCodec, PhysicalCodec};
use crate::sql::functions::values_without_position::ValuesWithoutPosition;
use crate::sql::functions::{self, ValidityOptions};
use crate::sql::{SqlError, runtime};
use crate::tiers::Tier;
use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::serde::BallistaCodec;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_core::utils::{create_grpc_server, default_session_builder};
use ballista_executor::ArrowFlightServerProvider;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_scheduler::api::get_routes;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::metrics::SchedulerMetricsCollector;
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{FunctionRegistry, SessionStateBuilder, SessionStateDefaults};
use datafusion::prelude::SessionConfig;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tonic::service::Routes;

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
/// Time for which the rows of a job are kept by default.
const KEEP: Duration = Duration::from_secs(3600);
/// The share of the machine's memory for an executor that has all its cores.
const MEMORY_SHARE: f64 = 0.7;
/// Time for which an executor tries to reach the scheduler when it starts.
const CONNECT_SECONDS: u16 = 30;
/// Time for tasks to end after the executor is asked to end.
const LAST_TASKS: Duration = Duration::from_secs(5);
/// Interval between checks whether the process should end.
const PATIENCE: Duration = Duration::from_millis(100);

/// The functions of all sessions, with the default rules for positions.
fn judging() -> ValidityOptions {
    ValidityOptions { tier: Tier::best(), validity: Validity::default(), keep_en_passant: false }
}

async fn asked_to_end(interrupt: &AtomicBool) {
    while !interrupt.load(Ordering::Relaxed) {
        tokio::time::sleep(PATIENCE).await;
    }
}

/// Options of a scheduler.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SchedulerOptions {
    /// The address on which it listens; with port 0, any free port.
    pub bind: SocketAddr,
    /// The directories below which it looks for the files of tables that are not of positions, wherever links lead; by
    /// default the current one.
    pub data: Vec<PathBuf>,
    /// What everybody who connects must have, too.
    pub tls: Option<Tls>,
    /// Whether it may listen on other addresses than those of this machine without [`Self::tls`].
    pub insecure: bool,
    /// Time for which executors keep the rows of a job whose client does not say that it has them all; by default an
    /// hour.
    pub keep: Duration,
}

impl SchedulerOptions {
    /// A scheduler that listens on this address.
    pub fn new(bind: SocketAddr) -> Self {
        Self { bind, data: vec![PathBuf::from(".")], tls: None, insecure: false, keep: KEEP }
    }
}

crate::option_setters::setters!(SchedulerOptions {
    bind: SocketAddr,
    data: Vec<PathBuf>,
    tls: Option<Tls>,
    insecure: bool,
    keep: Duration,
});

/// Runs a scheduler until `interrupt` is set; `ready` is called with its address. It keeps everything in memory: if it
/// ends, so do its jobs.
///
/// # Errors
/// If it cannot or may not listen at this address, read a directory with data, or the engine fails.
pub fn run_scheduler(
    options: &SchedulerOptions,
    interrupt: &AtomicBool,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), SqlError> {
    let tls = options.tls.as_ref();
    let (listener, bind) = listen(options.bind, tls, options.insecure)?;
    let stores = Arc::new(Stores::of(Data::of(&options.data)?));
    let message = u32::try_from(MESSAGE).unwrap_or(u32::MAX);
    let own = format!("{}://{bind}", scheme(tls));
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
        override_session_builder: Some(Arc::new(move |config: SessionConfig| {
            let state = default_session_builder(config)?;
            let id = state.session_id().to_owned();
            let runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::clone(&stores) as _);
            let mut state = SessionStateBuilder::new_from_existing(state)
                .with_session_id(id)
                .with_runtime_env(runtime.build_arc()?)
                .with_physical_optimizer_rules(crate::sql::engine::join_corrections::rules())
                .with_physical_optimizer_rule(Arc::new(RowsAsSources))
                .with_physical_optimizer_rule(Arc::new(NullableUnions))
                .with_physical_optimizer_rule(Arc::new(SharedNotes))
                .with_physical_optimizer_rule(Arc::new(OneResult))
                .build();
            for function in functions::scalar(judging(), &ValuesWithoutPosition::default()) {
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
        task_distribution: TaskDistributionPolicy::Custom(Arc::new(Fair)),
        finished_job_data_clean_up_interval_seconds: options.keep.as_secs().max(1),
        // Requests from web pages are refused.
        cors_allowed_origins: own,
        ..SchedulerConfig::default()
    };
    let failed = |error: BallistaError| SqlError::Cluster(error.to_string());
    runtime(2)?.block_on(async {
        let cluster = BallistaCluster::new_from_config(&config).await.map_err(failed)?;
        let codec = BallistaCodec::new(Arc::new(LogicalCodec::default()), Arc::new(PhysicalCodec::default()));
        let jobs = Arc::new(Jobs::default());
        let mut scheduler = SchedulerServer::<QueryPlan, TaskPlan>::new(
            config.scheduler_endpoint(),
            cluster,
            codec,
            Arc::new(config),
            Arc::<Jobs>::clone(&jobs),
        );
        scheduler.init().await.map_err(failed)?;
        let calls = SchedulerGrpcServer::new(scheduler.clone())
            .max_encoding_message_size(MESSAGE)
            .max_decoding_message_size(MESSAGE);
        let metrics = move || {
            let page = jobs.gather_metrics().ok().flatten();
            page.map_or_else(String::new, |(page, _)| String::from_utf8_lossy(&page).into_owned())
        };
        let routes = get_routes(Arc::new(scheduler)).merge(Routes::new(calls).into_axum_router()).merge(about(metrics));
        let server = serve(incoming(&listener).map_err(|error| cannot_listen(bind, &error))?, routes, tls);
        tokio::pin!(server);
        let failed = |error| SqlError::Cluster(with_causes(&error));
        // It listens before it does anything else that takes time.
        tokio::select! {
            ended = &mut server => return ended.map_err(failed),
            () = tokio::time::sleep(PATIENCE) => ready(bind),
        }
        tokio::select! {
            ended = server => ended.map_err(failed),
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
    /// memory, or less if it has more cores than this executor has slots.
    pub memory: Option<u64>,
    /// The directories below which it reads files, wherever links lead; by default the current one.
    pub data: Vec<PathBuf>,
    /// The directory below which it writes files, wherever links lead; by default it writes none.
    pub out: Option<PathBuf>,
    /// What everybody who connects must have, too, as well as the scheduler and the other executors.
    pub tls: Option<Tls>,
    /// Whether it may listen on other addresses than those of this machine without [`Self::tls`].
    pub insecure: bool,
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
            data: vec![PathBuf::from(".")],
            out: None,
            tls: None,
            insecure: false,
        }
    }
}

crate::option_setters::setters!(ExecutorOptions {
    bind: SocketAddr,
    advertise: Option<String>,
    slots: usize,
    work_directory: Option<PathBuf>,
    memory: Option<u64>,
    data: Vec<PathBuf>,
    out: Option<PathBuf>,
    tls: Option<Tls>,
    insecure: bool,
});

/// Runs an executor until `interrupt` is set or the process is asked to end; `ready` is called with its address. If the
/// scheduler ends, the executor waits for the next one.
///
/// # Errors
/// If it cannot or may not listen at its address, reach the scheduler, read a directory with data, or write to its work
/// directory or the one for outputs.
pub fn run_executor(
    options: &ExecutorOptions,
    interrupt: &AtomicBool,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), SqlError> {
    let (host, port) = host_and_port(&options.scheduler)?;
    let tls = options.tls.as_ref();
    let (listener, bind) = listen(options.bind, tls, options.insecure)?;
    let data = Data::of(&options.data)?;
    let out = OutputDirectory::of(options.out.as_deref())?;
    let directory = WorkDirectory::create(options.work_directory.as_deref())?;
    let rows = directory.rows();
    let directories = Directories { data: data.clone(), out, work: rows.clone() };
    let work_directory = rows
        .to_str()
        .ok_or_else(|| SqlError::Cluster("the name of the work directory is not valid UTF-8".to_owned()))?;
    let message = u32::try_from(MESSAGE).unwrap_or(u32::MAX);
    let unserved = Arc::new(OnceLock::new());
    let slots = options.slots.max(1);
    let mut registry = BallistaFunctionRegistry::default();
    // Its own defaults lack the functions of arrays, which the scheduler and all clients have.
    let engines = SessionStateDefaults::default_scalar_functions();
    for function in engines
        .into_iter()
        .chain(functions::scalar(judging(), &ValuesWithoutPosition::default()).into_iter().map(Arc::new))
    {
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
        // A runtime that is kept has a directory.
        session_runtime_cache_capacity: 0,
        grpc_max_decoding_message_size: message,
        grpc_max_encoding_message_size: message,
        memory_pool_size: options.memory,
        memory_pool_fraction: memory_share(slots),
        override_function_registry: Some(Arc::new(registry)),
        override_logical_codec: Some(Arc::new(LogicalCodec::default())),
        override_physical_codec: Some(Arc::new(PhysicalCodec::of_executor(directories))),
        override_execution_engine: Some(Arc::new(UniqueFiles::new())),
        override_arrow_flight_service: Some(rows_server(listener, tls.cloned(), Arc::clone(&unserved))),
        override_create_grpc_client_endpoint: tls.map(endpoint),
        override_runtime_producer: Some(Arc::new({
            let (directory, stores) = (work_directory.to_owned(), Arc::new(Stores::of(data.clone())));
            move |_| {
                let runtime = RuntimeEnvBuilder::new().with_temp_file_path(&directory);
                runtime.with_object_store_registry(Arc::clone(&stores) as _).build_arc()
            }
        })),
        override_config_producer: Some(Arc::new({
            let others = tls.map(endpoint);
            move || match &others {
                Some(others) => SessionConfig::new_with_ballista()
                    .with_ballista_use_tls(true)
                    .with_ballista_override_create_grpc_client_endpoint(Arc::clone(others)),
                None => SessionConfig::new_with_ballista(),
            }
        })),
        ..ExecutorProcessConfig::default()
    };
    let runtime = runtime(slots.max(2))?;
    let config = Arc::new(config);
    let mut ready = Some(ready);
    let ended = runtime.block_on(async {
        let mut ending = std::pin::pin!(async {
            asked_to_end(interrupt).await;
            tokio::time::sleep(LAST_TASKS).await;
        });
        loop {
            let mut executor = std::pin::pin!(start_executor_process(Arc::clone(&config)));
            // It listens before it does anything else that takes time.
            let mut ended = tokio::select! {
                ended = &mut executor => Some(ended),
                () = tokio::time::sleep(PATIENCE), if ready.is_some() => None,
            };
            if ended.is_none() {
                if let Some(ready) = ready.take() {
                    ready(bind);
                }
                ended = Some(tokio::select! {
                    // A signal ends it as well, after it has told the scheduler.
                    ended = &mut executor => ended,
                    () = &mut ending => Ok(()),
                });
            }
            match ended {
                // A message that a scheduler of this version does not send: the next one may be right.
                Some(Err(BallistaError::TokioError(error))) if error.is_panic() => {
                    log::error!("a message made the executor panic; it begins again");
                }
                ended => return ended.unwrap_or(Ok(())),
            }
        }
    });
    // This does not wait for running tasks.
    runtime.shutdown_background();
    if let Some(reason) = unserved.get() {
        return Err(SqlError::Cluster(format!("cannot serve rows on {bind}: {reason}")));
    }
    ended.map_err(|error| match error {
        BallistaError::General(message) => SqlError::Cluster(message),
        error => SqlError::Cluster(error.to_string()),
    })
}

/// The share of the machine's memory for an executor with this number of slots, beside which there may be others.
fn memory_share(slots: usize) -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    MEMORY_SHARE * (slots as f64 / cores as f64).min(1.0)
}

/// Serves the rows in the work directory of an executor. The engine only logs why this has ended, so that it is kept.
fn rows_server(
    listener: TcpListener,
    tls: Option<Tls>,
    ended: Arc<OnceLock<String>>,
) -> Arc<ArrowFlightServerProvider> {
    let listener = Arc::new(listener);
    Arc::new(move |directory, _, mut end, config| {
        let (listener, tls, ended) = (Arc::clone(&listener), tls.clone(), Arc::clone(&ended));
        tokio::spawn(async move {
            let served = async {
                let mut server = create_grpc_server(&config).accept_http1(true);
                if let Some(tls) = &tls {
                    server = server.tls_config(tls.server())?;
                }
                let rows = FlightServiceServer::new(BallistaFlightService::new(directory))
                    .max_decoding_message_size(MESSAGE)
                    .max_encoding_message_size(MESSAGE);
                let routes = Routes::new(rows).into_axum_router().merge(about(|| READ.page()));
                let server = server.add_routes(Routes::from(routes));
                Ok(server.serve_with_incoming_shutdown(incoming(&listener)?, end.recv()).await?)
            };
            served.await.inspect_err(|error: &BallistaError| {
                // Of several reasons, the first is kept.
                let _ = ended.set(with_causes(error));
            })
        })
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
    use std::net::TcpListener;

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
        let options = SchedulerOptions::new(taken.local_addr().unwrap());
        let error = run_scheduler(&options, &AtomicBool::new(true), |_| {}).unwrap_err();
        assert!(error.to_string().contains("cannot listen"), "{error}");
    }

    #[test]
    fn without_tls_other_addresses_than_those_of_this_machine_are_refused() {
        for bind in ["0.0.0.0:0", "[::]:0", "10.0.0.1:50050"] {
            let bind: SocketAddr = bind.parse().unwrap();
            let scheduler = run_scheduler(&SchedulerOptions::new(bind), &AtomicBool::new(true), |_| {});
            let executor = ExecutorOptions::new("127.0.0.1:1").bind(bind);
            let executor = run_executor(&executor, &AtomicBool::new(true), |_| {});
            for error in [scheduler.unwrap_err(), executor.unwrap_err()] {
                assert!(error.to_string().contains("without TLS"), "{error}");
            }
        }
    }
}
