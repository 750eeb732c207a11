//! In place of the engine, in a build without it.

use super::Query;
use crate::error;
use crate::table::Table;
use pyo3::prelude::*;

/// Says how to build the wheel with it.
pub(super) fn run(py: Python<'_>, query: Query<'_, '_>) -> PyResult<Table> {
    // Wrong options are wrong in every build.
    query.keywords.check(py)?;
    let message = "this wheel was built without SQL; in a clone of lanefish, this builds and installs one with it: \
                   pip install ./python --config-settings=build-args=\"--features sql\"";
    Err(error::message(py, message))
}
