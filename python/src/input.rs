//! Rows of positions or games from Python: anything with the Arrow PyCapsule interface, or an iterable of strings.

use crate::error;
use crate::signals::Signals;
use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use lanefish::input::Source;
use lanefish::jobs::{ArrowPositions, source_of_batches};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString};
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;
use std::sync::Arc;

/// Number of strings between two checks for signals.
const TEXTS: usize = 1 << 16;

/// Rows in memory: an array or a table, in chunks.
pub(crate) struct Rows {
    field: FieldRef,
    chunks: Vec<ArrayRef>,
}

/// Whether this is Arrow data.
pub(crate) fn is_arrow(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(data.hasattr("__arrow_c_array__")? || data.hasattr("__arrow_c_stream__")?)
}

impl Rows {
    /// The rows of any data.
    pub(crate) fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        if data.is_instance_of::<PyString>() || data.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("expected many positions: put a single one in a list"));
        }
        if is_arrow(data)? { Self::of_arrow(data) } else { of_texts(data) }
    }

    /// The rows of Arrow data. A stream is read to its end.
    fn of_arrow(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = data.py();
        let reader = data.extract::<AnyArray>()?.into_reader()?;
        let field = reader.field();
        // A stream may take long to come.
        let (chunks, signals) = py.detach(|| {
            let signals = Signals::new();
            let mut chunks = Vec::new();
            for chunk in reader {
                match chunk {
                    Ok(chunk) => chunks.push(chunk),
                    Err(failed) => return (Err(failed), signals),
                }
                if signals.have_raised() {
                    break;
                }
            }
            (Ok(chunks), signals)
        });
        if let Some(raised) = signals.into_raised() {
            return Err(raised);
        }
        Ok(Self { field, chunks: chunks.map_err(|failed| error::message(py, failed.to_string()))? })
    }

    /// A table of them: an array is its column of positions.
    pub(crate) fn batches(&self) -> Result<(Schema, Vec<RecordBatch>), ArrowError> {
        let (schema, batches) = match self.field.data_type() {
            DataType::Struct(fields) => (Schema::new(fields.clone()), self.chunks.iter().map(batch_of).collect()),
            data => {
                let name = if matches!(data, DataType::FixedSizeBinary(_)) { "board" } else { "fen" };
                let schema = Schema::new(vec![Field::new(name, data.clone(), true)]);
                let of_chunks = Arc::new(schema.clone());
                let batch = |array: &ArrayRef| RecordBatch::try_new(Arc::clone(&of_chunks), vec![Arc::clone(array)]);
                (schema, self.chunks.iter().map(batch).collect())
            }
        };
        let batches: Result<_, ArrowError> = batches;
        Ok((schema.with_metadata(self.field.metadata().clone()), batches?))
    }

    /// The rows as positions.
    pub(crate) fn positions(&self, py: Python<'_>) -> PyResult<ArrowPositions> {
        let positions = match self.field.data_type() {
            DataType::Struct(_) => {
                let (schema, batches) = self.batches().map_err(|failed| error::message(py, failed.to_string()))?;
                ArrowPositions::of_batches(&schema, &batches)
            }
            data => ArrowPositions::of_array(data, self.chunks.clone()),
        };
        positions.map_err(|failed| error::of(py, &failed))
    }

    /// The rows as an input like a file.
    pub(crate) fn source(&self, py: Python<'_>) -> PyResult<Source> {
        let (schema, batches) = self.batches().map_err(|failed| error::message(py, failed.to_string()))?;
        py.detach(|| source_of_batches("data", &schema, &batches)).map_err(|failed| error::of(py, &failed))
    }
}

/// A struct array as a record batch.
fn batch_of(array: &ArrayRef) -> Result<RecordBatch, ArrowError> {
    let structs =
        array.as_struct_opt().ok_or_else(|| ArrowError::SchemaError("chunks of different types".to_owned()))?;
    if structs.null_count() > 0 {
        return Err(ArrowError::SchemaError("rows of a table cannot be null; the positions in it can".to_owned()));
    }
    let schema = Arc::new(Schema::new(structs.fields().clone()));
    RecordBatch::try_new(schema, structs.columns().to_vec())
}

/// Texts, or None.
fn of_texts(data: &Bound<'_, PyAny>) -> PyResult<Rows> {
    let py = data.py();
    let items = data.try_iter().map_err(|_| {
        let name = data.get_type().name().map(|name| name.to_string());
        PyTypeError::new_err(format!("expected Arrow data or texts, found {}", name.unwrap_or_default()))
    })?;
    let mut texts = LargeStringBuilder::new();
    for (row, item) in items.enumerate() {
        let item = item?;
        if let Ok(text) = item.cast::<PyString>() {
            texts.append_value(text.to_cow()?);
        } else if is_missing(&item) {
            texts.append_null();
        } else {
            let name = item.get_type().name()?;
            return Err(PyTypeError::new_err(format!("item {row}: expected str or None, found {name}")));
        }
        if row % TEXTS == TEXTS - 1 {
            py.check_signals()?;
        }
    }
    let texts: ArrayRef = Arc::new(texts.finish());
    Ok(Rows { field: Arc::new(Field::new("", DataType::LargeUtf8, true)), chunks: vec![texts] })
}

/// Whether a value is None, or NaN, which some packages use for None.
fn is_missing(item: &Bound<'_, PyAny>) -> bool {
    item.is_none() || item.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan())
}
