//! `cluster`: the processes that run queries on several machines, and the way in which commands reach them.

use super::arguments::command_scope::{Examples, RunCommand, Scope};
use super::arguments::number_args::{duration, size};
use super::run::interrupt;
use super::run::invocation::Invocation;
use super::terminal::progress::Meter;
use anyhow::Result;
use clap::{Args, Subcommand, ValueHint};
use comfy_table::{Table, presets};
use lanefish::Error;
use lanefish::sql::arrow::array::RecordBatch;
use lanefish::sql::cluster::{Cluster, ExecutorOptions, SchedulerOptions, Status, Tls, run_executor, run_scheduler};
use lanefish::sql::{Rows, Session, SqlError, Step};
use lanefish_core::text::numbers::counted;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Several machines as one: a scheduler, and executors that work for it
///
/// A scheduler takes work (lanefish sql, stats, convert, compute, games and tree with --cluster), divides it into tasks, and hands
/// these to executors, one per machine. Every executor must be able to read the input files under the same names as the
/// client, i.e. on a shared disk. All must run the same version of lanefish.
///
/// An executor reads files below the directories given by --data only, and never writes one outside of its work
/// directory and the directory given by --out. With --tls-cert, --tls-key and --tls-ca, all connections are encrypted, and only processes with a
/// certificate of the cluster's own authority can connect. Without these, anyone who can reach the scheduler or an
/// executor can run queries over that data, fetch the rows that others made, and cancel their jobs: both then refuse to
/// listen on other addresses than those of this machine (127.0.0.1), unless --insecure says that the network is safe.
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
    Status(StatusArgs),
}

/// Print the executors and jobs of a cluster
#[derive(Debug, Args)]
struct StatusArgs {
    /// Address of the scheduler
    #[arg(value_name = "HOST:PORT")]
    scheduler: String,

    /// JSON instead of tables
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    tls: TlsArgs,
}

impl StatusArgs {
    fn run(&self) -> Result<u8> {
        let status = Status::of(&self.scheduler, self.tls.read()?.as_ref())?;
        if self.json {
            super::print(format!("{}\n", serde_json::to_string_pretty(&status)?).as_bytes())?;
            return Ok(0);
        }
        let slots = status.executors.iter().map(|executor| executor.slots).sum();
        let count = counted(status.executors.len() as u64, "executor");
        let mut text = format!("{count} with {}\n", counted(slots, "slot"));
        if !status.executors.is_empty() {
            let mut table = plain_table(["executor", "slots", "last heard of"]);
            for executor in &status.executors {
                let silent = format!("{:.0} s ago", executor.silent_seconds);
                table.add_row([executor.address.clone(), executor.slots.to_string(), silent]);
            }
            text += &format!("{table}\n");
        }
        text += &format!("\n{}\n", counted(status.jobs.len() as u64, "job"));
        if !status.jobs.is_empty() {
            let mut table = plain_table(["job", "state", "stages", "time"]);
            for job in &status.jobs {
                let stages = format!("{} of {}", job.stages_done, job.stages);
                table.add_row([job.id.clone(), job.state.to_lowercase(), stages, format!("{:.1} s", job.seconds)]);
            }
            text += &format!("{table}\n");
        }
        super::print(text.as_bytes())?;
        Ok(0)
    }
}

fn plain_table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}

/// Take queries, and hand their tasks to executors
#[derive(Debug, Args)]
struct SchedulerArgs {
    /// Address to listen on; port 0 chooses any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    bind: SocketAddr,

    /// Directory with the input files, may be repeated: files outside of it are not read, wherever links lead
    ///
    /// A scheduler looks for the files of tables that have no positions, such as CSV.
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    data: Vec<PathBuf>,

    #[command(flatten)]
    tls: TlsArgs,

    /// Listen on any address without TLS, for everybody who can reach it
    #[arg(long, conflicts_with = "tls_cert")]
    insecure: bool,

    /// How long executors keep the rows of a job whose client does not fetch them, such as 90s, 30m or 2h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    keep: Duration,
}

/// The certificates of a cluster
#[derive(Debug, Default, Args)]
pub(crate) struct TlsArgs {
    /// Certificate of this process, for the name lanefish, in PEM format
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, requires_all = ["tls_key", "tls_ca"])]
    tls_cert: Option<PathBuf>,

    /// Key of that certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Certificate of the authority that signed those of all processes of the cluster, and no others
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, requires = "tls_cert")]
    tls_ca: Option<PathBuf>,
}

impl TlsArgs {
    /// Whether one of them is given.
    pub(crate) fn is_given(&self) -> bool {
        self.tls_cert.is_some()
    }

    fn read(&self) -> Result<Option<Tls>, SqlError> {
        match (&self.tls_cert, &self.tls_key, &self.tls_ca) {
            (Some(certificate), Some(key), Some(authority)) => Tls::read(certificate, key, authority).map(Some),
            _ => Ok(None),
        }
    }
}

/// Work for a scheduler
#[derive(Debug, Args)]
struct ExecutorArgs {
    /// Address of the scheduler
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: String,

    /// Directory with the input files, may be repeated: files outside of it are not read, wherever links lead
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    data: Vec<PathBuf>,

    /// Directory below which this executor writes files that clients ask for [default: it writes none]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,

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

    /// Memory for grouping, joins and sorting, for all tasks together [default: 70 % of the machine's, or less if it
    /// has more cores than --slots]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,

    #[command(flatten)]
    tls: TlsArgs,

    /// Listen on any address without TLS, for everybody who can reach it
    #[arg(long, conflicts_with = "tls_cert")]
    insecure: bool,
}

impl RunCommand for ClusterArgs {
    const EXAMPLES: Examples = &[
        (
            "On one machine; $TLS stands for the three options with certificates",
            "lanefish cluster scheduler --bind 10.0.0.1:50050 --data /shared $TLS",
        ),
        (
            "On all machines",
            "lanefish cluster executor --scheduler 10.0.0.1:50050 --bind 10.0.0.2:50051 --data /shared $TLS",
        ),
        ("Statistics of a whole collection", "lanefish stats --cluster 10.0.0.1:50050 $TLS /shared/games/"),
        (
            "A query, on a cluster of this machine only",
            "lanefish sql --cluster 127.0.0.1:50050 \"select phase, count(*) from '/shared/games/*.boards' group by phase\"",
        ),
    ];
    const EXAMPLES_OF_SUBCOMMANDS: &'static [(&'static str, Examples)] = &[
        ("status", &[("The executors and jobs of a cluster", "lanefish cluster status 127.0.0.1:50050")]),
        ("scheduler", &[("On this machine only", "lanefish cluster scheduler --data /shared")]),
        (
            "executor",
            &[(
                "On this machine only, with two slots",
                "lanefish cluster executor --scheduler 127.0.0.1:50050 --data /shared --slots 2",
            )],
        ),
    ];
    const SCOPE: Scope = Scope::NOTHING;

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if !matches!(self.role, Role::Status(_)) {
            log_to_stderr(invocation);
            // Tasks get some time to end, and files are removed.
            interrupt::wait_longer();
        }
        match &self.role {
            Role::Status(status) => return status.run(),
            Role::Scheduler(scheduler) => {
                let options = SchedulerOptions::new(scheduler.bind)
                    .data(scheduler.data.clone())
                    .tls(scheduler.tls.read()?)
                    .insecure(scheduler.insecure)
                    .keep(scheduler.keep);
                run_scheduler(&options, interrupt::flag(), |bind| {
                    invocation.note(format_args!("scheduler on {bind}"));
                })?;
            }
            Role::Executor(executor) => {
                let slots = executor.slots.map_or(invocation.threads, usize::from);
                let options = ExecutorOptions::new(&executor.scheduler)
                    .bind(executor.bind)
                    .advertise(executor.advertise.clone())
                    .slots(slots)
                    .work_directory(executor.work_dir.clone())
                    .memory(executor.memory)
                    .data(executor.data.clone())
                    .out(executor.out.clone())
                    .tls(executor.tls.read()?)
                    .insecure(executor.insecure);
                let ended = run_executor(&options, interrupt::flag(), |bind| {
                    invocation.note(format_args!(
                        "executor on {bind} with {}, for the scheduler at {}",
                        counted(slots as u64, "slot"),
                        executor.scheduler
                    ));
                });
                // Tasks may still be writing.
                lanefish::output::abandon_outputs();
                ended?;
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
    // Each job has a line.
    let own = if invocation.global().quiet { "error" } else { "info" };
    let filter =
        format!("error,lanefish={own},ballista_core={level},ballista_executor={level},ballista_scheduler={level}");
    let logger = env_logger::Builder::new().parse_filters(&filter).try_init();
    drop(logger);
}

/// The cluster that --cluster names, if it does.
pub(crate) fn connect(
    invocation: &Invocation<'_>,
    address: Option<&str>,
    tls: &TlsArgs,
) -> Result<Option<Cluster>, SqlError> {
    let tls = tls.read()?;
    match (address, tls) {
        (Some(address), tls) => {
            let _phase = invocation.phase("waiting for an executor");
            Cluster::connect(address, tls.as_ref()).map(Some)
        }
        (None, Some(_)) => {
            Err(SqlError::Cluster("--tls-cert is for a cluster: name its scheduler with --cluster".into()))
        }
        (None, None) => Ok(None),
    }
}

/// Reads the rows of a job to their end, with the progress of the job.
pub(crate) fn read_rows(
    invocation: &Invocation<'_>,
    sql: &Session,
    mut rows: Rows<'_>,
    mut each: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    let mut meter = Meter::new(invocation.global().progress, None);
    loop {
        match rows.step(Duration::from_millis(50))? {
            Step::Batch(batch) => each(&batch)?,
            Step::End => break,
            _ => {}
        }
        if interrupt::flag().load(Ordering::Relaxed) {
            return Err(Error::Interrupted.into());
        }
        meter.show_job(sql.job_progress().unwrap_or_default());
    }
    meter.finish();
    Ok(())
}
