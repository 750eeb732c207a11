//! The state of a cluster for those who run it: executors, jobs, and counters for Prometheus.

pub(super) mod metrics;
pub(super) mod status;
