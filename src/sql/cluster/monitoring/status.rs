//! The state of a cluster, as its scheduler describes it.

use crate::sql::SqlError;
use crate::sql::cluster::protection::tls::Tls;
use crate::sql::cluster::protocol::scheduler_connection::Connection;
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// The executors and jobs of a cluster.
///
/// ```no_run
/// let status = lanefish::sql::cluster::Status::of("127.0.0.1:50050", None)?;
/// for executor in status.executors {
///     println!("{} has {} slots", executor.address, executor.slots);
/// }
/// # Ok::<(), lanefish::sql::SqlError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The executors, by address.
    pub executors: Vec<ExecutorStatus>,
    /// The running jobs and those that ended within the last hour, the newest first.
    pub jobs: Vec<JobStatus>,
}

/// An executor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExecutorStatus {
    /// The address from which others fetch rows.
    pub address: String,
    /// Number of simultaneous tasks.
    pub slots: u64,
    /// Seconds since it last asked for tasks.
    pub silent_seconds: f64,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JobStatus {
    /// The name that the scheduler gave it.
    pub id: String,
    /// `Queued`, `Running`, `Completed`, `Failed` or `Cancelled`.
    pub state: String,
    /// Number of stages, and of those that are finished.
    pub stages: u64,
    /// Number of finished stages.
    pub stages_done: u64,
    /// Seconds that it took, or has been running.
    pub seconds: f64,
}

impl Status {
    /// Asks the scheduler with this address, as `HOST:PORT`.
    ///
    /// # Errors
    /// If it does not answer, or something else is there.
    pub fn of(address: &str, tls: Option<&Tls>) -> Result<Self, SqlError> {
        let scheduler = Connection::new(address, tls)?;
        let list = |path: &str| match scheduler.get(path) {
            Ok(Value::Array(list)) => Ok(list),
            Ok(_) => Err(SqlError::Cluster(format!("no scheduler answers at {address}: something else is there"))),
            Err(error) => Err(SqlError::Cluster(format!("no scheduler answers at {address}: {error}"))),
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64();
        let mut executors: Vec<_> =
            list("/api/executors")?.iter().map(|executor| ExecutorStatus::read(executor, now)).collect();
        executors.sort_by(|a, b| a.address.cmp(&b.address));
        let mut jobs = list("/api/jobs")?;
        jobs.sort_by_key(|job| std::cmp::Reverse(number(job, "/start_time")));
        let jobs = jobs.iter().map(|job| JobStatus::read(job, now)).collect();
        Ok(Self { executors, jobs })
    }
}

fn number(value: &Value, place: &str) -> u64 {
    value.pointer(place).and_then(Value::as_u64).unwrap_or_default()
}

fn text<'a>(value: &'a Value, place: &str) -> &'a str {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

/// Seconds from a number of milliseconds.
fn seconds(milliseconds: u64) -> f64 {
    Duration::from_millis(milliseconds).as_secs_f64()
}

impl ExecutorStatus {
    fn read(executor: &Value, now: f64) -> Self {
        let host = text(executor, "/host");
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        Self {
            address: format!("{host}:{}", number(executor, "/port")),
            slots: number(executor, "/specification/vcores"),
            silent_seconds: (now - seconds(number(executor, "/last_seen"))).max(0.0),
        }
    }
}

impl JobStatus {
    fn read(job: &Value, now: f64) -> Self {
        let (begun, ended) = (number(job, "/start_time"), number(job, "/end_time"));
        let end = if ended == 0 { now } else { seconds(ended) };
        Self {
            id: text(job, "/job_id").to_owned(),
            state: text(job, "/status").to_owned(),
            stages: number(job, "/num_stages"),
            stages_done: number(job, "/completed_stages"),
            seconds: if begun == 0 { 0.0 } else { (end - seconds(begun)).max(0.0) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn descriptions_are_read() {
        let executor = json!({"host": "::1", "port": 7, "specification": {"vcores": 3}, "last_seen": 4_000});
        let read = ExecutorStatus::read(&executor, 6.0);
        assert_eq!(read, ExecutorStatus { address: "[::1]:7".to_owned(), slots: 3, silent_seconds: 2.0 });
        let job =
            json!({"job_id": "a", "status": "Running", "num_stages": 2, "completed_stages": 1, "start_time": 1_000});
        assert_eq!(JobStatus::read(&job, 3.5).seconds, 2.5);
        // Other versions may say less.
        assert_eq!(JobStatus::read(&json!({}), 3.5).seconds, 0.0);
    }
}
