//! The metrics of pieces that the client asks executors for.

use crate::pipeline::Summary;
use crate::sql::cluster::monitoring::metrics::READ;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};

/// The names of the metrics of a scan.
pub(in crate::sql::cluster) const RECORDS: &str = "records";
pub(in crate::sql::cluster) const REJECTED: &str = "rejected";

/// Metrics, which the client asks for.
#[derive(Clone, Debug)]
pub(in crate::sql::cluster) struct ScanMetrics {
    records: Count,
    rejected: Count,
}

impl ScanMetrics {
    pub(in crate::sql::cluster) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        Self { records: counter(RECORDS), rejected: counter(REJECTED) }
    }

    pub(in crate::sql::cluster) fn tell(&self, summary: &Summary) {
        let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
        self.records.add(number(summary.records));
        self.rejected.add(number(summary.rejected));
        READ.add(summary.records, summary.rejected, summary.bytes);
    }
}
