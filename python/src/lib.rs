//! lanefish for Python: a thin binding.
//!
//! Everything about chess, columns and runs is in the library. This crate converts arguments and exceptions, and
//! exchanges Arrow data with other packages through the Arrow PyCapsule interface.
//!
//! Work is done without the GIL. A thread that works for a call takes the GIL now and then, only to let Python handle
//! signals ([`signals`]). The threads of a scan never take it.

mod batching;
mod choosing_games;
mod compute;
mod datasets;
mod error;
mod facts;
mod files;
mod input;
mod packages;
mod pickling;
mod progress;
mod reading;
mod scan;
mod signals;
mod sql;
mod table;

use pyo3::prelude::*;

/// Columns of chess positions as Arrow data.
#[pymodule]
fn _lanefish(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // The module has a panic hook of its own, which no other code in the process uses.
    lanefish::formats::tables::hide_caught_panics();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add_class::<table::Table>()?;
    module.add_class::<table::RecordBatch>()?;
    module.add_class::<table::Column>()?;
    module.add_class::<scan::Scan>()?;
    module.add_function(wrap_pyfunction!(compute::compute, module)?)?;
    module.add_function(wrap_pyfunction!(scan::scan, module)?)?;
    module.add_function(wrap_pyfunction!(scan::games, module)?)?;
    module.add_function(wrap_pyfunction!(files::stats, module)?)?;
    module.add_function(wrap_pyfunction!(files::convert, module)?)?;
    module.add_function(wrap_pyfunction!(files::verify, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::shuffle, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::interleave, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::split, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::dedup, module)?)?;
    module.add_function(wrap_pyfunction!(sql::sql, module)?)?;
    module.add("_HAS_SQL", cfg!(feature = "sql"))?;
    module.add_function(wrap_pyfunction!(facts::columns, module)?)?;
    module.add_function(wrap_pyfunction!(facts::cpu, module)?)?;
    module.add_function(wrap_pyfunction!(pickling::_table_of_stream, module)?)?;
    module.add_function(wrap_pyfunction!(pickling::_batch_of_stream, module)?)?;
    module.add_function(wrap_pyfunction!(pickling::_column_of_stream, module)?)
}
