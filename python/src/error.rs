//! The exception of this package.

use lanefish::error::Reject;
use pyo3::prelude::*;
use std::error::Error as _;

pyo3::create_exception!(
    lanefish,
    Error,
    pyo3::exceptions::PyException,
    "What the command line would report as an error.\n\n\
     Of a bad record, `row` (or `record`) is its number, counted from 0, `reasons` are stable names of what is wrong,\n\
     `text` is the record as found, and `path` and `line` are its place in a file; otherwise these are None.\n\n\
     >>> import lanefish\n\
     >>> try:\n\
     ...     lanefish.compute([\"8/8/8/8/8/8/8/K6R w - - 0 1\"])\n\
     ... except lanefish.Error as error:\n\
     ...     print(error.row, error.reasons)\n\
     0 ['not_one_king_each']"
);

/// An exception with this message.
pub(crate) fn message(py: Python<'_>, text: impl Into<String>) -> PyErr {
    with(py, text.into(), None)
}

/// A library error as an exception.
pub(crate) fn of(py: Python<'_>, error: &lanefish::Error) -> PyErr {
    let reject = match error {
        lanefish::Error::Strict(reject) => Some(&**reject),
        _ => None,
    };
    with(py, text_of(error), reject)
}

/// A bad row of data in memory as an exception.
pub(crate) fn of_row(py: Python<'_>, reject: &Reject) -> PyErr {
    let row = reject.place.row.unwrap_or(reject.place.record);
    with(py, format!("row {row}: {}", reject.message), Some(reject))
}

/// The message of an error with its causes.
pub(crate) fn text_of(error: &lanefish::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    // Options are arguments here.
    ["fen", "moves", "start"]
        .iter()
        .fold(text, |text, of| text.replace(&format!("--{of}-column"), &format!("{of}_column")))
}

fn with(py: Python<'_>, text: String, reject: Option<&Reject>) -> PyErr {
    let error = Error::new_err(text);
    let value = error.value(py);
    let set = || -> PyResult<()> {
        let place = reject.map(|reject| &reject.place);
        value.setattr("row", place.and_then(|place| place.row))?;
        value.setattr("record", place.map(|place| place.record))?;
        value.setattr("line", place.and_then(|place| place.line))?;
        let path = place.filter(|place| place.row.is_none() || place.file.exists());
        value.setattr("path", path.map(|place| place.file.display().to_string()))?;
        value.setattr("reasons", reject.map(|reject| reject.reasons.clone()))?;
        let text = reject.map(|reject| String::from_utf8_lossy(&reject.raw).into_owned());
        value.setattr("text", text)
    };
    match set() {
        Ok(()) => error,
        Err(other) => other,
    }
}
