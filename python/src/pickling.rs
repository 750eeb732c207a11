//! Pickles, for `multiprocessing`, Ray and others that send objects to other processes: rows as Arrow streams, and a scan
//! that has not begun as the call that made it.

use crate::error;
use crate::reading::Keywords;
use crate::table::{Column, RecordBatch, Table};
use arrow_array::{self as arrow, ArrayRef};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows as a stream in memory.
fn stream_of(py: Python<'_>, schema: &SchemaRef, batches: &[arrow::RecordBatch]) -> PyResult<Py<PyBytes>> {
    let written = py.detach(|| -> Result<Vec<u8>, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.into_inner()
    });
    let bytes = written.map_err(|failed| error::message(py, failed.to_string()))?;
    Ok(PyBytes::new(py, &bytes).unbind())
}

/// The rows of a stream in memory.
fn rows_of(py: Python<'_>, stream: &[u8]) -> PyResult<(SchemaRef, Vec<arrow::RecordBatch>)> {
    let read = py.detach(|| -> Result<_, ArrowError> {
        let reader = StreamReader::try_new(stream, None)?;
        Ok((reader.schema(), reader.collect::<Result<_, _>>()?))
    });
    read.map_err(|failed| error::message(py, failed.to_string()))
}

/// A function of this module, and its arguments.
fn call<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = arguments.into_bound_py_any(py)?;
    (py.import("lanefish._lanefish")?.getattr(function)?, arguments).into_bound_py_any(py)
}

pub(crate) fn reduced_table<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyAny>> {
    let stream = stream_of(py, &table.schema, &table.batches)?;
    call(
        py,
        "_table_of_stream",
        (stream, table.bad.clone(), table.rejected, table.rejects.clone(), table.notes.clone()),
    )
}

pub(crate) fn reduced_batch<'py>(py: Python<'py>, batch: &arrow::RecordBatch) -> PyResult<Bound<'py, PyAny>> {
    let stream = stream_of(py, batch.schema_ref(), std::slice::from_ref(batch))?;
    call(py, "_batch_of_stream", (stream,))
}

pub(crate) fn reduced_column<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let schema = Arc::new(Schema::new(vec![Field::new("", column.data_type().clone(), true)]));
    let batch = arrow::RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(column)]);
    let batch = batch.map_err(|failed| error::message(py, failed.to_string()))?;
    call(py, "_column_of_stream", (stream_of(py, &schema, &[batch])?,))
}

#[pyfunction]
pub(crate) fn _table_of_stream(
    py: Python<'_>,
    stream: &[u8],
    bad: Vec<u64>,
    rejected: u64,
    rejects: Vec<String>,
    notes: Vec<String>,
) -> PyResult<Table> {
    let (schema, batches) = rows_of(py, stream)?;
    Ok(Table { schema, batches, bad, rejected, rejects, notes })
}

/// The only batch of a stream.
#[pyfunction]
pub(crate) fn _batch_of_stream(py: Python<'_>, stream: &[u8]) -> PyResult<RecordBatch> {
    let (schema, batches) = rows_of(py, stream)?;
    Ok(RecordBatch(batches.into_iter().next().unwrap_or_else(|| arrow::RecordBatch::new_empty(schema))))
}

#[pyfunction]
pub(crate) fn _column_of_stream(py: Python<'_>, stream: &[u8]) -> PyResult<Column> {
    let RecordBatch(batch) = _batch_of_stream(py, stream)?;
    Ok(Column(Arc::clone(batch.column(0))))
}

/// The call that made a scan.
pub(crate) struct Call {
    function: &'static str,
    keywords: Py<PyDict>,
    has_paths: bool,
}

impl Call {
    /// A call with these keywords, without its paths.
    pub(crate) fn new(py: Python<'_>, keywords: &Keywords<'_, '_>, columns: Option<&str>) -> PyResult<Self> {
        let given = PyDict::new(py);
        given.set_item("columns", columns)?;
        keywords.add_to(&given)?;
        Ok(Self { function: keywords.function, keywords: given.unbind(), has_paths: false })
    }

    /// Adds a keyword.
    pub(crate) fn set<'py>(&self, py: Python<'py>, name: &str, value: impl IntoPyObject<'py>) -> PyResult<()> {
        self.keywords.bind(py).set_item(name, value)
    }

    /// Adds the paths. Another process may have another directory, so they become absolute.
    pub(crate) fn set_paths(&mut self, py: Python<'_>, paths: &[PathBuf]) -> PyResult<()> {
        let absolute = paths.iter().map(|path| match path.to_str() {
            // Standard input.
            Some("-") => Ok(path.clone()),
            _ => std::path::absolute(path),
        });
        self.set(py, "paths", absolute.collect::<Result<Vec<_>, _>>()?)?;
        self.has_paths = true;
        Ok(())
    }

    /// The call, to be made once more.
    pub(crate) fn reduced<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if !self.has_paths {
            let message =
                "a scan of data in memory cannot be pickled: pickle the data, and scan them where they are needed";
            return Err(error::message(py, message));
        }
        let function = py.import("lanefish")?.getattr(self.function)?;
        let keywords = self.keywords.bind(py);
        let call = py.import("functools")?.getattr("partial")?.call((function,), Some(keywords))?;
        (call, PyTuple::empty(py)).into_bound_py_any(py)
    }
}
