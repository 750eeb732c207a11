//! `cluster`: the processes that run queries on several machines, and the way in which commands reach them.

use super::interrupt;
use super::invocation::Invocation;
use super::numbers::size;
use anyhow::Result;
use clap::{Args, Subcommand, ValueHint};
use lanefish::sql::SqlError;
use lanefish::sql::cluster::{Cluster, ExecutorOptions, run_executor, run_scheduler};
use lanefish::text::numbers::counted;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Several machines as one: a scheduler, and executors that work for it
///
/// A scheduler takes queries (lanefish sql --cluster, lanefish stats --cluster), divides them into tasks, and hands
/// these to executors, one per machine. Every executor must be able to read the input files under the same names as the
/// client, i.e. on a shared disk. All must run the same version of lanefish.
///
/// Nothing is encrypted, and there is no authentication. Anyone who can reach the scheduler or an executor can run
/// queries, read every file that the user of an executor can read, fetch the rows that others made, and cancel their
/// jobs. They listen on the loopback address (127.0.0.1) unless --bind says otherwise. Use --bind only in a private
/// network, behind a firewall, and with a separate user that can read the datasets and nothing else.
///
/// If an executor is killed, the scheduler notices after 20 seconds, and other executors repeat its tasks. If the
/// scheduler is killed, its jobs are lost: their commands end with an error, and executors wait for the next scheduler.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    Scheduler(SchedulerArgs),
    Executor(ExecutorArgs),
}

/// Take queries, and hand their tasks to executors
#[derive(Debug, Args)]
struct SchedulerArgs {
    /// Address to listen on; port 0 chooses any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    bind: SocketAddr,
}

/// Work for a scheduler
#[derive(Debug, Args)]
struct ExecutorArgs {
    /// Address of the scheduler
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: String,

    /// Address from which others fetch rows; port 0 chooses any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    bind: SocketAddr,

    /// Name or address under which others reach this machine [default: as the scheduler sees it]
    #[arg(long, value_name = "HOST", value_hint = ValueHint::Hostname)]
    advertise: Option<String>,

    /// Number of simultaneous tasks, each on one thread [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    slots: Option<u16>,

    /// Where to create a directory for intermediate rows, removed at the end [default: the system's temporary
    /// directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    work_dir: Option<PathBuf>,

    /// Memory for grouping, joins and sorting, for all tasks together [default: 70 % of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
}

impl ClusterArgs {
    pub(crate) fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        log_to_stderr(invocation);
        // Tasks get some time to end, and files are removed.
        interrupt::be_patient();
        match &self.role {
            Role::Scheduler(scheduler) => run_scheduler(scheduler.bind, interrupt::flag(), |bind| {
                invocation.note(format_args!("scheduler on {bind}"));
            })?,
            Role::Executor(executor) => {
                let slots = executor.slots.map_or(invocation.threads, usize::from);
                let options = ExecutorOptions::new(&executor.scheduler)
                    .bind(executor.bind)
                    .advertise(executor.advertise.clone())
                    .slots(slots)
                    .work_directory(executor.work_dir.clone())
                    .memory(executor.memory);
                run_executor(&options, interrupt::flag(), |bind| {
                    invocation.note(format_args!(
                        "executor on {bind} with {}, for the scheduler at {}",
                        counted(slots as u64, "slot"),
                        executor.scheduler
                    ));
                })?;
            }
        }
        Ok(0)
    }
}

/// Logging of the engine: warnings, with -v every task, with -vv everything.
fn log_to_stderr(invocation: &Invocation<'_>) {
    let level = match invocation.global().verbose {
        _ if invocation.global().quiet => "error",
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = format!("error,ballista_core={level},ballista_executor={level},ballista_scheduler={level}");
    let logger = env_logger::Builder::new().parse_filters(&filter).try_init();
    drop(logger);
}

/// The cluster that --cluster names.
pub(crate) fn connect(invocation: &Invocation<'_>, address: &str) -> Result<Cluster, SqlError> {
    let _phase = invocation.phase("waiting for an executor");
    Cluster::connect(address)
}
