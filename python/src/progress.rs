//! Progress on standard error, as `_progress.py` of the package shows it.

use crate::reading::Reading;
use lanefish::input::Inputs;
use lanefish::pipeline::Progress;
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// Interval between updates. Each of them takes the GIL.
const EVERY: Duration = Duration::from_millis(100);

/// Shows the progress of a call.
pub(crate) struct Meter {
    shown: Py<PyAny>,
    last: Instant,
}

impl Meter {
    /// Begins to show the progress of reading these inputs, if the caller asked for it.
    pub(crate) fn of(py: Python<'_>, reading: &Reading, inputs: &Inputs) -> PyResult<Option<Self>> {
        if !reading.progress {
            return Ok(None);
        }
        // An estimate: some inputs are read from start to end in every shard.
        let shards = reading.read.shard.map_or(1, |shard| u64::from(shard.count()));
        Self::new(py, reading.function, inputs.total_bytes().map(|total| total / shards)).map(Some)
    }

    /// Begins to show the progress of a function that reads this number of bytes.
    pub(crate) fn new(py: Python<'_>, function: &str, total: Option<u64>) -> PyResult<Self> {
        let shown = py.import("lanefish._progress")?.call_method1("begin", (function, total))?.unbind();
        Ok(Self { shown, last: Instant::now() })
    }

    /// Shows how far the call is, now and then. Python may handle a signal here, and raise its exception.
    pub(crate) fn show(&mut self, progress: Progress) -> PyResult<()> {
        if self.last.elapsed() < EVERY {
            return Ok(());
        }
        self.last = Instant::now();
        Python::attach(|py| self.update(py, progress))
    }

    fn update(&self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        self.shown.call_method1(py, "show", (progress.bytes, progress.records)).map(drop)
    }

    /// Ends it; `last` is the progress of a call that was not interrupted.
    pub(crate) fn finish(self, py: Python<'_>, last: Option<Progress>) -> PyResult<()> {
        if let Some(last) = last {
            self.update(py, last)?;
        }
        self.shown.call_method0(py, "finish").map(drop)
    }
}
