//! Queries, on the engine of the library.

use super::Query;
use crate::error;
use crate::input::Rows as Data;
use crate::progress::Meter;
use crate::reading::{self, Reading};
use crate::signals::Signals;
use crate::table::Table;
use arrow_array as arrow;
use arrow_schema::{Schema, SchemaRef};
use lanefish::Error;
use lanefish::pipeline::{Progress, Summary};
use lanefish::sql::{Limits, Rows, Session, SessionOptions, SqlError, Statement, Step};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long a thread waits before it looks for signals.
const PATIENCE: Duration = Duration::from_millis(50);
/// The memory of the engine, unless another one is given.
const MEMORY: u64 = 4 << 30;

/// Answers a query.
pub(super) fn run(py: Python<'_>, query: Query<'_, '_>) -> PyResult<Table> {
    let Query { text, tables, keywords, recompute, memory, temp } = query;
    let Reading { threads, progress, function, read } = keywords.check(py)?;
    let raises = read.strict;
    // A strict session would compute what stands in files, only to judge it.
    let read = read.strict(false);
    let options = SessionOptions::new(reading::analyzer(py)?).threads(threads).read(read).recompute(recompute);
    let memory = usize::try_from(memory.unwrap_or(MEMORY)).unwrap_or(usize::MAX);
    let limits = Limits::default().memory(Some(memory)).temp(temp);
    let failed = |error: SqlError| failure(py, &error, text);
    let statements = Session::parse(text).map_err(failed)?;
    if statements.is_empty() {
        return Err(error::message(py, "there is no statement"));
    }
    let session = Session::new(options, &limits, false).map_err(failed)?;
    for (name, data) in &tables {
        let rows = Data::of(data)?.batches();
        let (schema, batches) = rows.map_err(|wrong| error::message(py, format!("{name}: {wrong}")))?;
        let registered = py.detach(|| session.register(name, Arc::new(schema), &batches));
        registered.map_err(|wrong| error::message(py, format!("{name}: {wrong}")))?;
    }
    let mut meter = if progress { Some(Meter::new(py, function, None)?) } else { None };
    let mut found = Found::default();
    let done = statements.iter().try_for_each(|statement| {
        found.answer(py, &session, statement, &mut meter).and_then(|ended| {
            let summaries = py.detach(|| session.summaries()).map_err(failed)?;
            found.count(
                py,
                summaries.into_iter().map(|ended| match ended {
                    Ok(summary) => (summary, None),
                    Err(ended) => (*ended.summary, Some(ended.error)),
                }),
            )?;
            found.notes.extend(session.notes());
            ended.map_err(failed)
        })
    });
    if let Some(meter) = meter {
        meter.finish(py, done.is_ok().then_some(found.read))?;
    }
    // Threads may be on their way to an end.
    py.detach(|| drop(session));
    done?;
    if let Some(reject) = found.rejects.first().filter(|_| raises) {
        return Err(error::of(py, &Error::Strict(reject.clone().into())));
    }
    Ok(Table {
        schema: found.schema.unwrap_or_else(|| Arc::new(Schema::empty())),
        batches: found.batches,
        bad: Vec::new(),
        rejected: found.rejected,
        rejects: found.rejects.iter().map(ToString::to_string).collect(),
        notes: found.notes,
    })
}

/// What the statements of a query found.
#[derive(Default)]
struct Found {
    /// That of the rows, once a statement had some.
    schema: Option<SchemaRef>,
    batches: Vec<arrow::RecordBatch>,
    rejected: u64,
    rejects: Vec<lanefish::error::Reject>,
    notes: Vec<String>,
    /// What the scans of statements that have ended read.
    read: Progress,
}

impl Found {
    /// Takes the rows of a statement. The inner error is that of the statement.
    fn answer(
        &mut self,
        py: Python<'_>,
        session: &Session,
        statement: &Statement,
        meter: &mut Option<Meter>,
    ) -> PyResult<Result<(), SqlError>> {
        let mut rows = match begin(py, session, statement)? {
            Ok(rows) => rows,
            Err(error) => return Ok(Err(error)),
        };
        let schema = rows.schema();
        let has_rows = !schema.fields().is_empty();
        if has_rows && self.schema.replace(schema).is_some() {
            return Err(error::message(py, "two statements return rows; only one can"));
        }
        loop {
            let (step, mut progress) = py.detach(|| (rows.step(PATIENCE), session.progress()));
            progress.bytes += self.read.bytes;
            progress.records += self.read.records;
            let attended = attend(py, meter, progress);
            match step {
                Ok(Step::Batch(batch)) if has_rows && attended.is_ok() => self.batches.push(batch),
                Ok(Step::End) if attended.is_ok() => return Ok(Ok(())),
                Err(error) if attended.is_ok() => {
                    py.detach(|| drop(rows));
                    return Ok(Err(error));
                }
                _ => {}
            }
            if let Err(raised) = attended {
                py.detach(|| drop(rows));
                return Err(raised);
            }
        }
    }

    /// Takes the numbers of scans, or the error of the first one that failed.
    fn count(&mut self, py: Python<'_>, ended: impl Iterator<Item = (Summary, Option<Error>)>) -> PyResult<()> {
        for (summary, failed) in ended {
            if let Some(failed) = failed {
                return Err(error::of(py, &failed));
            }
            self.read.bytes += summary.bytes;
            self.read.records += summary.records;
            self.rejected += summary.rejected;
            self.notes.extend(summary.notes(false));
            let room = lanefish::pipeline::FIRST_REJECTS - self.rejects.len();
            self.rejects.extend(summary.first_rejects.into_iter().take(room));
        }
        Ok(())
    }
}

/// Lets Python handle signals, and shows progress.
fn attend(py: Python<'_>, meter: &mut Option<Meter>, progress: Progress) -> PyResult<()> {
    py.check_signals()?;
    meter.as_mut().map_or(Ok(()), |meter| meter.show(progress))
}

/// Starts a statement, which may read a table on another thread, while this one looks for signals.
fn begin<'a>(py: Python<'_>, session: &'a Session, statement: &Statement) -> PyResult<Result<Rows<'a>, SqlError>> {
    let interrupt = AtomicBool::new(false);
    let (begun, signals) = py.detach(|| {
        let signals = Signals::new();
        let (sender, begun) = channel();
        let begun = thread::scope(|scope| {
            let interrupt = &interrupt;
            scope.spawn(move || sender.send(session.run_unless(statement, interrupt)));
            loop {
                match begun.recv_timeout(PATIENCE) {
                    Ok(rows) => return rows,
                    Err(RecvTimeoutError::Timeout) if signals.have_raised() => interrupt.store(true, Ordering::Relaxed),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        let reason = "a thread ended with a panic".to_owned();
                        return Err(SqlError::Table(Arc::new(Error::Threads { threads: 1, reason })));
                    }
                }
            }
        });
        (begun, signals)
    });
    match signals.into_raised() {
        Some(raised) => {
            py.detach(|| drop(begun));
            Err(raised)
        }
        None => Ok(begun),
    }
}

/// An error of a query, with the place in its text.
fn failure(py: Python<'_>, failed: &SqlError, text: &str) -> PyErr {
    if let SqlError::Table(failed) = failed {
        return error::of(py, failed);
    }
    let advice = failed.advice(text, |name, known| reading::close_name(py, name, known.iter().map(String::as_str)));
    let mut message = format!("{failed}{}", advice.replace("--from ", "from_format="));
    match failed {
        SqlError::Temporary(_) => message += "; temp names another folder for temporary files",
        SqlError::Memory(_) => message += "; memory, a number of bytes, allows more",
        _ => {}
    }
    if let Some(excerpt) = failed.excerpt(text) {
        message = format!("{message}\n{}", excerpt.trim_end_matches('\n'));
    }
    error::message(py, message)
}
