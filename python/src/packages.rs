//! Rows as the frames and arrays of other packages, as far as these are installed.

use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A frame of pandas: by its own reader of Arrow data, or by pyarrow where pandas has none.
pub(crate) fn to_pandas<'py>(rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let frames = rows.py().import("pandas")?.getattr("DataFrame")?;
    if frames.hasattr("from_arrow")? {
        return frames.call_method1("from_arrow", (rows,));
    }
    rows.py().import("pyarrow")?.call_method1("table", (rows,))?.call_method0("to_pandas")
}

/// A frame of polars.
pub(crate) fn to_polars<'py>(rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    rows.py().import("polars")?.call_method1("DataFrame", (rows,))
}

/// An array of numpy. Missing numbers are NaN. But sets of squares and keys stay what they are, because a float does not have
/// room for all of their bits: they are unsigned, whatever their values, or objects if some are missing.
pub(crate) fn to_numpy<'py>(values: &Bound<'py, PyList>, data: &DataType) -> PyResult<Bound<'py, PyAny>> {
    let numpy = values.py().import("numpy")?;
    let is_missing = values.iter().any(|value| value.is_none());
    let is_number = |value: &Bound<'py, PyAny>| {
        value.is_none()
            || value.is_instance_of::<pyo3::types::PyInt>() && !value.is_instance_of::<pyo3::types::PyBool>()
            || value.is_instance_of::<pyo3::types::PyFloat>()
    };
    let options = PyDict::new(values.py());
    if *data == DataType::UInt64 {
        options.set_item("dtype", if is_missing { "object" } else { "uint64" })?;
    } else if is_missing {
        let are_numbers = values.iter().all(|value| is_number(&value));
        options.set_item("dtype", if are_numbers { "float64" } else { "object" })?;
    }
    numpy.call_method("array", (values,), Some(&options))
}

/// The error of those who take rows for an array.
pub(crate) fn no_array() -> PyErr {
    PyTypeError::new_err("rows of several columns are no array: use to_pandas(), to_polars() or to_numpy()")
}
