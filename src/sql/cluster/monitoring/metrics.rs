//! What the processes of a cluster have done so far, in the text format of Prometheus.

use ballista_core::JobId;
use ballista_core::error::Result;
use ballista_scheduler::metrics::SchedulerMetricsCollector;
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// The content type of metrics.
pub(in crate::sql::cluster) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics of a process, as text.
#[derive(Debug, Default)]
struct Page(String);

impl Page {
    /// Adds a metric whose name has its unit, and which only grows if the name ends in `_total`.
    fn put(&mut self, name: &str, meaning: &str, value: impl Display) {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        // Writing to a string does not fail.
        let _ = write!(
            self.0,
            "# HELP lanefish_{name} {meaning}\n# TYPE lanefish_{name} {kind}\nlanefish_{name} {value}\n"
        );
    }

    /// Adds the memory of this process, where the system tells it.
    fn put_memory(&mut self) {
        if let Some(bytes) = resident_bytes() {
            self.put("resident_memory_bytes", "Memory of the process.", bytes);
        }
    }
}

/// Memory of this process, in bytes.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// What the tasks of an executor have read.
#[derive(Debug)]
pub(in crate::sql::cluster) struct Read {
    pieces: AtomicU64,
    records: AtomicU64,
    rejected: AtomicU64,
    bytes: AtomicU64,
}

/// That of this process.
pub(in crate::sql::cluster) static READ: Read = Read {
    pieces: AtomicU64::new(0),
    records: AtomicU64::new(0),
    rejected: AtomicU64::new(0),
    bytes: AtomicU64::new(0),
};

impl Read {
    /// Adds a piece that was read to its end.
    pub(in crate::sql::cluster) fn add(&self, records: u64, rejected: u64, bytes: u64) {
        for (sum, more) in
            [(&self.pieces, 1), (&self.records, records), (&self.rejected, rejected), (&self.bytes, bytes)]
        {
            sum.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// The page of an executor.
    pub(in crate::sql::cluster) fn page(&self) -> String {
        let mut page = Page::default();
        let value = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        page.put("pieces_total", "Pieces of files that were read.", value(&self.pieces));
        page.put("positions_total", "Records that were read.", value(&self.records));
        page.put("rejects_total", "Records that were rejected.", value(&self.rejected));
        page.put("read_bytes_total", "Bytes of files that were read, before decompression.", value(&self.bytes));
        page.put_memory();
        page.0
    }
}

/// The jobs of a scheduler, each of which has a line in its log when it ends.
#[derive(Debug, Default)]
pub(in crate::sql::cluster) struct Jobs {
    submitted: AtomicU64,
    completed: AtomicU64,
    failed: AtomicU64,
    cancelled: AtomicU64,
    milliseconds: AtomicU64,
    waiting: AtomicU64,
}

impl Jobs {
    fn ended(&self, sum: &AtomicU64, job: &JobId, how: &str, queued: u64, ended: u64) {
        sum.fetch_add(1, Ordering::Relaxed);
        let milliseconds = ended.saturating_sub(queued);
        self.milliseconds.fetch_add(milliseconds, Ordering::Relaxed);
        log::info!("job {job} {how} after {:.3} s", std::time::Duration::from_millis(milliseconds).as_secs_f64());
    }
}

impl SchedulerMetricsCollector for Jobs {
    fn record_submitted(&self, _: &JobId, _: u64, _: u64) {
        self.submitted.fetch_add(1, Ordering::Relaxed);
    }
    fn record_completed(&self, job: &JobId, queued: u64, completed: u64) {
        self.ended(&self.completed, job, "completed", queued, completed);
    }
    fn record_failed(&self, job: &JobId, queued: u64, failed: u64) {
        self.ended(&self.failed, job, "failed", queued, failed);
    }
    fn record_cancelled(&self, job: &JobId) {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
        log::info!("job {job} cancelled");
    }
    fn set_pending_tasks_queue_size(&self, tasks: u64) {
        self.waiting.store(tasks, Ordering::Relaxed);
    }
    fn gather_metrics(&self) -> Result<Option<(Vec<u8>, String)>> {
        let mut page = Page::default();
        let value = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        page.put("jobs_submitted_total", "Jobs that were planned.", value(&self.submitted));
        page.put("jobs_completed_total", "Jobs that succeeded.", value(&self.completed));
        page.put("jobs_failed_total", "Jobs that failed.", value(&self.failed));
        page.put("jobs_cancelled_total", "Jobs that were cancelled.", value(&self.cancelled));
        let seconds = std::time::Duration::from_millis(value(&self.milliseconds)).as_secs_f64();
        page.put("jobs_seconds_total", "Time of jobs that ended, from their arrival.", seconds);
        page.put("tasks_waiting", "Tasks that wait for a slot.", value(&self.waiting));
        page.put_memory();
        Ok(Some((page.0.into_bytes(), CONTENT_TYPE.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_what_prometheus_reads() {
        let jobs = Jobs::default();
        let job = JobId::from("a".to_owned());
        jobs.record_submitted(&job, 0, 1);
        jobs.record_completed(&job, 1_000, 3_500);
        let (page, _) = jobs.gather_metrics().unwrap().unwrap();
        let page = String::from_utf8(page).unwrap();
        READ.add(3, 1, 100);
        for page in [page.clone(), READ.page()] {
            let lines: Vec<&str> = page.lines().collect();
            for metric in lines.chunks(3) {
                let [help, kind, value] = metric else {
                    panic!("{metric:?}");
                };
                let name = value.split(' ').next().unwrap();
                assert!(help.starts_with(&format!("# HELP {name} ")) && kind.starts_with(&format!("# TYPE {name} ")));
                assert!(value.rsplit(' ').next().unwrap().parse::<f64>().is_ok(), "{value}");
            }
        }
        assert!(page.contains("\nlanefish_jobs_completed_total 1\n"), "{page}");
        assert!(page.contains("\nlanefish_jobs_seconds_total 2.5\n"), "{page}");
    }
}
