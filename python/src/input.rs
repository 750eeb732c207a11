//! Positions from Python: anything with the Arrow PyCapsule interface, or an iterable of strings.

use crate::error;
use crate::signals::Signals;
use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};
use lanefish::jobs::ArrowPositions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString};
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;
use std::sync::Arc;

/// Number of strings between two checks for signals.
const TEXTS: usize = 1 << 16;

/// The positions of any data.
pub(crate) fn positions(data: &Bound<'_, PyAny>) -> PyResult<ArrowPositions> {
    if data.is_instance_of::<PyString>() || data.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("expected many positions: put a single one in a list"));
    }
    if data.hasattr("__arrow_c_array__")? || data.hasattr("__arrow_c_stream__")? {
        of_arrow(data)
    } else {
        of_texts(data)
    }
}

fn of_arrow(data: &Bound<'_, PyAny>) -> PyResult<ArrowPositions> {
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
    let chunks = chunks.map_err(|failed| error::message(py, failed.to_string()))?;
    let positions = match field.data_type() {
        DataType::Struct(fields) => {
            let batches = chunks
                .iter()
                .map(batch_of)
                .collect::<Result<Vec<_>, _>>()
                .map_err(|failed| error::message(py, failed.to_string()))?;
            ArrowPositions::of_batches(&Schema::new(fields.clone()), &batches)
        }
        data => ArrowPositions::of_array(data, chunks),
    };
    positions.map_err(|failed| error::of(py, &failed))
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
fn of_texts(data: &Bound<'_, PyAny>) -> PyResult<ArrowPositions> {
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
    ArrowPositions::of_array(&DataType::LargeUtf8, vec![texts]).map_err(|failed| error::of(py, &failed))
}

/// Whether a value is None, or NaN, which some packages use for None.
fn is_missing(item: &Bound<'_, PyAny>) -> bool {
    item.is_none() || item.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan())
}
