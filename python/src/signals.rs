//! Ctrl-C during work that does not hold the GIL.

use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often Python is given the opportunity to handle signals. Taking the GIL can take as long as another thread
/// keeps it.
const PERIOD: Duration = Duration::from_millis(50);

/// Checks for signals during a call.
pub(crate) struct Signals(Mutex<State>);

struct State {
    checked: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    /// Starts checking for signals.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State { checked: Instant::now(), raised: None }))
    }
    /// Whether a signal handler has raised an exception, which ends the call.
    pub(crate) fn have_raised(&self) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.raised.is_none() && state.checked.elapsed() >= PERIOD {
            state.raised = Python::attach(|py| py.check_signals()).err();
            state.checked = Instant::now();
        }
        state.raised.is_some()
    }
    /// Ends the call with this exception, unless another one does.
    pub(crate) fn raise(&self, raised: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).raised.get_or_insert(raised);
    }
    /// The exception.
    pub(crate) fn into_raised(self) -> Option<PyErr> {
        let state = self.0.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).raised
    }
}
