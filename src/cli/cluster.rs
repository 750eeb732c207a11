//! `cluster`: the processes that carry out queries on several machines, and how a command asks them.

use super::args::size;
use super::interrupt;
use super::invocation::Invocation;
use anyhow::Result;
use clap::{Args, Subcommand, ValueHint};
use lanefish::sql::SqlError;
use lanefish::sql::cluster::{Cluster, ExecutorOptions, run_executor, run_scheduler};
use lanefish::text::numbers::counted;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Several machines as one: a scheduler, and executors that work for it
///
/// A scheduler takes queries (lanefish sql --cluster, lanefish stats --cluster), divides them into tasks, and hands these
/// to executors, of which there are as many as machines. Every executor must be able to read the input files under the
/// same names as whoever asks: they lie on a shared disk. All must run the same version of lanefish.
///
/// Nothing is encrypted, and there is no authentication. Whoever can reach the scheduler or an executor can run queries,
/// read every file that the user of an executor can read, fetch the rows that others made, and cancel their jobs. They
/// listen on the loopback address (127.0.0.1) unless --bind says otherwise: do that only in a network of your own,
/// behind a firewall, as a user of their own who can read the datasets and nothing else.
///
/// An executor that is killed is missed after 20 seconds, and its tasks are done again by others. A scheduler that is
/// killed loses its jobs: their commands end with an error, and executors wait for the next scheduler.
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
    /// Where to listen; with port 0, on any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    bind: SocketAddr,
}

/// Work for a scheduler
#[derive(Debug, Args)]
struct ExecutorArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: String,

    /// Where others fetch rows; with port 0, on any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    bind: SocketAddr,

    /// The name or address under which others reach this machine [default: as the scheduler sees it]
    #[arg(long, value_name = "HOST", value_hint = ValueHint::Hostname)]
    advertise: Option<String>,

    /// Tasks at the same time, each on one thread [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    slots: Option<u16>,

    /// Where to keep intermediate rows: a directory is made in it, and removed at the end [default: that of the system]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    work_dir: Option<PathBuf>,

    /// Memory for grouping, joins and sorting of all tasks [default: 70 % of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
}

impl ClusterArgs {
    pub(crate) fn run(&self, session: &Invocation<'_>) -> Result<u8> {
        log_to_stderr(session);
        // Tasks are given some time, and files removed.
        interrupt::be_patient();
        match &self.role {
            Role::Scheduler(scheduler) => run_scheduler(scheduler.bind, interrupt::flag(), |bind| {
                session.note(format_args!("scheduler on {bind}"));
            })?,
            Role::Executor(executor) => {
                let slots = executor.slots.map_or(session.threads, usize::from);
                let options = ExecutorOptions::new(&executor.scheduler)
                    .bind(executor.bind)
                    .advertise(executor.advertise.clone())
                    .slots(slots)
                    .work_directory(executor.work_dir.clone())
                    .memory(executor.memory);
                run_executor(&options, interrupt::flag(), |bind| {
                    session.note(format_args!(
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

/// What the engine has to say: warnings, with -v every task, with -vv everything.
fn log_to_stderr(session: &Invocation<'_>) {
    let level = match session.global().verbose {
        _ if session.global().quiet => "error",
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = format!("error,ballista_core={level},ballista_executor={level},ballista_scheduler={level}");
    let logger = env_logger::Builder::new().parse_filters(&filter).try_init();
    // There is no other.
    drop(logger);
}

/// The cluster that --cluster names.
pub(crate) fn connect(session: &Invocation<'_>, address: &str) -> Result<Cluster, SqlError> {
    let _phase = session.phase("waiting for an executor");
    Cluster::connect(address)
}
