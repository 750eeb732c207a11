//! The metrics of pieces that the client asks executors for.

use super::metrics::READ;
use crate::pipeline::Summary;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};

/// The names of the metrics of a scan.
pub(super) const RECORDS: &str = "records";
pub(super) const REJECTED: &str = "rejected";

/// Metrics, which the client asks for.
#[derive(Clone, Debug)]
pub(super) struct Told {
    records: Count,
    rejected: Count,
}

impl Told {
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        Self { records: counter(RECORDS), rejected: counter(REJECTED) }
    }

    pub(super) fn tell(&self, summary: &Summary) {
        let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
        self.records.add(number(summary.records));
        self.rejected.add(number(summary.rejected));
        READ.add(summary.records, summary.rejected, summary.bytes);
    }
}
