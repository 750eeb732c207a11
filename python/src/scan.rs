//! `scan` and `games`: columns of files, or of their games, as a stream of record batches.

use crate::batching::{Batches as Rebatched, Batching, Pad, can_be_padded};
use crate::error;
use crate::input;
use crate::packages;
use crate::pickling::Call;
use crate::progress::Meter;
use crate::reading::{self, Keywords, Reading, reading_function};
use crate::signals::Signals;
use crate::table::{RecordBatch, Table, field_of, struct_of};
use arrow_array::{self as arrow, ArrayRef};
use arrow_schema::{ArrowError, DataType, FieldRef, SchemaRef};
use lanefish::Error;
use lanefish::input::Inputs;
use lanefish::jobs::{self, ScanStep};
use lanefish::pipeline::{Progress, Summary};
use lanefish::table::Columns;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use pyo3_arrow::ffi::{ArrayReader, to_schema_pycapsule, to_stream_pycapsule};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// How long a thread waits before it looks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

reading_function! {
    /// Computes columns for the records of files, as a stream of record batches in order.
    ///
    /// `paths` is one path or several: files of any supported format, compressed or not, and directories or zip archives of
    /// them. It may also be anything with the Arrow PyCapsule interface: a table or frame with a column of positions, or
    /// with a game in each row. It is copied once. Nothing is read before you take the first batch, and reading stays only a little ahead, so memory does not
    /// grow with the files. The result is an iterator of record batches, which other packages accept as it is:
    /// `pyarrow.table(scan)`, `polars.DataFrame(scan)`, `duckdb.sql("from scan")`. It can be read once.
    ///
    /// With `on_bad="raise"`, the first bad record raises an `Error`, after the complete batches before it; with "skip",
    /// bad records are left out, and `rejected` counts them. `skip` and `limit` count records, `shard="0/8"` is the first
    /// of eight shares, `from_format` names the format, `fen_column` the column of positions in a Parquet or Arrow file.
    /// If rows of such a file are games, `moves_column` and `start_column` name their columns.
    ///
    /// `games` chooses games and their positions by the options of the command line, as a dict with underscores:
    /// `{"min_elo": 2000, "time_control": ["blitz", "rapid"], "plies": (16, None), "max_per_game": 4, "seed": 1}`. They
    /// work on every format that carries the needed fields; a file without them raises an `Error`.
    ///
    /// `having` takes whole games by what happens in them: those with a position for which this is true, or a sequence of
    /// positions, `[("having", "in_check"), ("next", "in_check"), ("then", "checkmate")]`.
    ///
    /// `where` is a condition on all columns, in the language of `--where`: only records for which it is true are taken.
    /// `sample` takes a random part of these: a rate (0.01), a number of records (1000), or an expression that gives the
    /// probability for each record; `seed` is its seed. `let` names values, `{"m": "ply / 64.0"}`, for these expressions
    /// and for `columns`.
    ///
    /// Trainers take batches of `batch_size` rows (the last one may have fewer), in which lists have the length `pad`, a
    /// number or a dict of columns and numbers, filled up with -1: `numpy.asarray(batch.column(name))` and
    /// `torch.from_dlpack(batch.column(name))` have the shape (rows, pad), without a copy. A longer list raises an
    /// `Error`. `shuffle_buffer` is the number of rows among which each next one is drawn at random; one seed gives one
    /// order, whatever the threads do. With `cycle=True` the records come again and again.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "two.epd")
    /// >>> with open(path, "w") as file:
    /// ...     _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\nnonsense\n8/8/8/8/8/8/8/K1k5 w - -\n")
    /// >>> scan = lanefish.scan(path, "index,legal_moves", on_bad="skip")
    /// >>> [batch.to_pydict() for batch in scan], scan.rejected
    /// ([{'index': [0, 2], 'legal_moves': [12, 1]}], 1)
    /// >>> scan = lanefish.scan(path, "features:chess768:stm", on_bad="skip", batch_size=2, pad=4)
    /// >>> next(scan).column("features:chess768:stm").to_pylist()
    /// [[199, 324, 718, -1], [320, 706, -1, -1]]
    signature(paths, columns=None, *, batch_size=None, pad=None, shuffle_buffer=None, cycle=false);
    pub(crate) fn scan<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "raise";
        paths: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
        batch_size: Option<usize>,
        pad: Option<&Bound<'_, PyAny>>,
        shuffle_buffer: Option<usize>,
        cycle: bool,
    ) -> PyResult<Scan> {
        let names = columns.map(reading::column_names).transpose()?;
        let mut call = Call::new(py, &keywords, names.as_deref())?;
        call.set(py, "batch_size", batch_size)?;
        call.set(py, "pad", pad)?;
        call.set(py, "shuffle_buffer", shuffle_buffer)?;
        call.set(py, "cycle", cycle)?;
        let columns = reading::columns(py, names.as_deref(), &keywords.definitions(py)?)?;
        let shuffle = shuffle_buffer.map(|rows| (rows, keywords.seed));
        let reading = keywords.check(py)?;
        let analyzer = reading::analyzer(py)?;
        let inputs = inputs_of(py, &reading, paths, &mut call)?;
        let meter = Meter::of(py, &reading, &inputs)?;
        let begin = move |columns: Columns| {
            let reading = reading.clone();
            jobs::Scan::new(inputs.clone(), columns, analyzer, move |options| reading.set(options))
        };
        let pads = pads(pad, &begin(columns.clone()).schema())?;
        let columns = pads.iter().fold(columns, |columns, pad| columns.padded(pad.column, pad.len));
        let begin = move || begin(columns.clone());
        let scan = begin();
        if batch_size == Some(0) || shuffle_buffer == Some(0) {
            return Err(PyValueError::new_err("batch_size and shuffle_buffer must be at least 1"));
        }
        if shuffle_buffer.is_some_and(|rows| u32::try_from(rows).is_err()) {
            return Err(PyValueError::new_err("shuffle_buffer must be below 2 ** 32"));
        }
        let batching = Batching { size: batch_size, pads, shuffle };
        let again = cycle.then(|| Box::new(begin) as Box<Begin>);
        Ok(Scan { call: Some(call), meter: meter.into(), ..Scan::new(scan, batching, again) })
    }
}

reading_function! {
    /// Reads the games of files, as a stream of record batches in order: one row for each game.
    ///
    /// `paths` are files of any format that has games: PGN, and boards files, tables and training data whose records have
    /// the number of their game. The result is a stream like that of `scan`, which other packages accept as it is:
    /// `polars.DataFrame(lanefish.games("games.pgn"))`.
    ///
    /// `columns` are the tags, the result, the number of plies, the outcome on the board, the last position (`fen`) and
    /// the `error` of a damaged game, unless others are named: a string with commas, or any names. "tag:NAME" is any tag,
    /// "all" are all columns, and `lanefish.columns(of="games")` lists them. A missing value is null.
    ///
    /// `having` takes the games with a position for which this is true, or with a sequence of positions,
    /// `[("having", "in_check"), ("next", "in_check"), ("then", "checkmate")]`. Four more columns say where it is:
    /// `match_plies` has a ply for each condition, `first_match` and `last_match` the first and the last ply at which a
    /// match ends, `match_count` the number of such plies. Without `having`, it is an error to name them.
    ///
    /// `where` is a condition on games: "mean_elo >= 2400 and outcome = 'checkmate'". `games` has the options that choose
    /// games, such as `{"min_elo": 2000}`. `skip` and `limit` count games, and with `shard` a game belongs to the share in
    /// which it begins. The other arguments are those of `scan`. Options that choose among positions are errors, because
    /// there is one row per whole game: `sample`, `seed`, and those for plies in `games`; so is `keep_en_passant`.
    ///
    /// A game that cannot be read to its end also has a row, with what was read before the damage. With `on_bad="raise"`,
    /// the first of them raises an `Error`, after the complete batches before it; with "skip", all rows come, and
    /// `rejected` counts the bad ones. A file without games raises an `Error`. `records` and `rejected` count records:
    /// the positions of the games.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "two.pgn")
    /// >>> with open(path, "w") as file:
    /// ...     _ = file.write("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n1. d4 d5 *\n")
    /// >>> lanefish.games(path, "game,result,plies,outcome").read_all().to_pydict()
    /// {'game': [0, 1], 'result': ['1-0', None], 'plies': [5, 2], 'outcome': ['checkmate', None]}
    /// >>> lanefish.games(path, ["game", "match_plies"], having="moved_piece = 'K'").read_all().to_pydict()
    /// {'game': [0], 'match_plies': ['3']}
    signature(paths, columns=None, *);
    pub(crate) fn games<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "raise";
        paths: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Scan> {
        let names = columns.map(reading::column_names).transpose()?;
        let mut call = Call::new(py, &keywords, names.as_deref())?;
        let reading = Keywords { takes_whole_games: true, ..keywords }.check(py)?;
        let columns = reading.game_columns(py, names.as_deref())?;
        let analyzer = reading::analyzer(py)?;
        let inputs = inputs_of(py, &reading, paths, &mut call)?;
        let meter = Meter::of(py, &reading, &inputs)?;
        let scan = jobs::Scan::of_games(inputs, columns, analyzer, move |options| reading.set(options));
        Ok(Scan { call: Some(call), meter: meter.into(), ..Scan::from(scan) })
    }
}

/// The inputs of a scan, with their paths for its pickle.
fn inputs_of(py: Python<'_>, reading: &Reading, paths: &Bound<'_, PyAny>, call: &mut Call) -> PyResult<Inputs> {
    if input::is_arrow(paths)? {
        return reading.inputs(py, paths);
    }
    let names = reading::path_names(paths)?;
    call.set_paths(py, &names)?;
    reading.open(py, &names)
}

/// A stream of record batches: what `scan` and `games` return.
///
/// It can be pickled before its first batch is taken, if it is of files: another process then reads them.
///
/// >>> import lanefish, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "one.epd")
/// >>> with open(path, "w") as file:
/// ...     _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\n")
/// >>> with lanefish.scan(path, "legal_moves") as scan:
/// ...     print(next(scan).to_pydict())
/// {'legal_moves': [12]}
#[pyclass(module = "lanefish", frozen)]
pub(crate) struct Scan {
    schema: SchemaRef,
    scan: Arc<Mutex<Reader>>,
    /// `None` if no call of Python made it.
    call: Option<Call>,
    meter: Shown,
}

/// What shows the progress of a scan; another package may take its stream along.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Option<Meter>>>);

impl From<Option<Meter>> for Shown {
    fn from(meter: Option<Meter>) -> Self {
        Self(Arc::new(Mutex::new(meter)))
    }
}

impl Shown {
    /// Shows how far the scan is, or that it has ended.
    fn show(&self, progress: Progress, is_over: bool) -> PyResult<()> {
        // Nobody waits for another thread here, which may wait for the GIL.
        let Ok(mut meter) = self.0.try_lock() else { return Ok(()) };
        match &mut *meter {
            Some(_) if is_over => match meter.take() {
                Some(ended) => Python::attach(|py| ended.finish(py, Some(progress))),
                None => Ok(()),
            },
            Some(meter) => meter.show(progress),
            None => Ok(()),
        }
    }
}

impl From<jobs::Scan> for Scan {
    fn from(scan: jobs::Scan) -> Self {
        Self::new(scan, Batching::default(), None)
    }
}

/// Begins to read the same records once more.
type Begin = dyn Fn() -> jobs::Scan + Send;

/// A run, and what its blocks become.
struct Reader {
    scan: jobs::Scan,
    /// `None` if they are handed on as they are.
    batches: Option<Rebatched>,
    /// Records come again and again.
    again: Option<Box<Begin>>,
    /// Whether there was a row since reading began.
    has_rows: bool,
    has_begun: bool,
    is_over: bool,
}

/// Why there is no next batch.
enum Failed {
    Run(Error),
    Batch(String),
}

impl Failed {
    fn text(&self) -> String {
        match self {
            Self::Run(error) => error::text_of(error),
            Self::Batch(message) => message.clone(),
        }
    }
    fn raised(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Run(failed) => error::of(py, failed),
            Self::Batch(message) => error::message(py, message.clone()),
        }
    }
}

impl From<ArrowError> for Failed {
    fn from(failed: ArrowError) -> Self {
        Self::Batch(match failed {
            ArrowError::InvalidArgumentError(message) => message,
            other => other.to_string(),
        })
    }
}

impl Reader {
    /// Waits for the next batch, but no longer than this.
    fn step(&mut self, patience: Duration) -> Result<ScanStep, Failed> {
        self.has_begun = true;
        let step = self.try_step(patience);
        if step.is_err() {
            self.is_over = true;
            self.scan.close();
        }
        step
    }
    fn try_step(&mut self, patience: Duration) -> Result<ScanStep, Failed> {
        let Some(batches) = &mut self.batches else { return self.scan.step(patience).map_err(Failed::Run) };
        loop {
            if let Some(batch) = batches.next()? {
                return Ok(ScanStep::Batch(batch));
            }
            if self.is_over {
                return Ok(ScanStep::End);
            }
            match self.scan.step(patience).map_err(Failed::Run)? {
                ScanStep::Batch(block) => {
                    self.has_rows |= block.num_rows() > 0;
                    batches.put(block)?;
                }
                ScanStep::Pending => return Ok(ScanStep::Pending),
                _ => match &self.again {
                    Some(_) if !self.has_rows => {
                        return Err(Failed::Batch("cycle: the input has no records to repeat".to_owned()));
                    }
                    Some(begin) => {
                        batches.end_epoch()?;
                        self.has_rows = false;
                        self.scan = begin();
                    }
                    None => {
                        self.is_over = true;
                        batches.end()?;
                    }
                },
            }
        }
    }
    fn close(&mut self) {
        self.is_over = true;
        // What is ready is not handed on either.
        self.batches = None;
        self.again = None;
        self.scan.close();
    }
}

/// The columns of lists that are padded.
fn pads(pad: Option<&Bound<'_, PyAny>>, schema: &SchemaRef) -> PyResult<Vec<Pad>> {
    let Some(pad) = pad else { return Ok(Vec::new()) };
    let of_numbers = |data: &DataType| matches!(data, DataType::List(item) if can_be_padded(item.data_type()));
    let checked = |len: usize| match len {
        1..=0xFF_FFFF => Ok(len),
        _ => Err(PyValueError::new_err("pad must be at least 1 and below 2 ** 24")),
    };
    let Ok(named) = pad.cast::<PyDict>() else {
        let len = checked(pad.extract()?)?;
        let columns = schema.fields().iter().enumerate().filter(|(_, field)| of_numbers(field.data_type()));
        return Ok(columns.map(|(column, _)| Pad { column, len }).collect());
    };
    let pads = named.iter().map(|(name, len)| {
        let name: String = name.extract()?;
        match schema.column_with_name(&name) {
            Some((column, field)) if of_numbers(field.data_type()) => Ok(Pad { column, len: checked(len.extract()?)? }),
            Some(_) => Err(PyValueError::new_err(format!("pad: the column {name} does not have lists of numbers"))),
            None => Err(PyValueError::new_err(format!("pad: {name} is not one of the columns"))),
        }
    });
    pads.collect()
}

fn lock(scan: &Mutex<Reader>) -> MutexGuard<'_, Reader> {
    scan.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scan {
    fn new(scan: jobs::Scan, batching: Batching, again: Option<Box<Begin>>) -> Self {
        let schema = batching.schema(&scan.schema());
        let is_as_it_is = batching.changes_nothing() && again.is_none();
        let batches = if is_as_it_is { None } else { Some(Rebatched::new(batching, &scan.schema())) };
        let reader = Reader { scan, batches, again, has_rows: false, has_begun: false, is_over: false };
        Self { schema, scan: Arc::new(Mutex::new(reader)), call: None, meter: Shown::default() }
    }

    /// The next batch; `None` at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<arrow::RecordBatch>> {
        loop {
            let (step, progress) = py.detach(|| {
                let mut reader = lock(&self.scan);
                (reader.step(PATIENCE), reader.scan.progress())
            });
            self.meter.show(progress, matches!(step, Ok(ScanStep::End) | Err(_)))?;
            match step {
                Ok(ScanStep::Batch(batch)) => return Ok(Some(batch)),
                Ok(ScanStep::Pending) => py.check_signals()?,
                Ok(_) => return Ok(None),
                Err(failed) => return Err(failed.raised(py)),
            }
        }
    }

    fn of_summary<T: Send>(&self, py: Python<'_>, get: impl FnOnce(&Summary) -> T + Send) -> Option<T> {
        py.detach(|| lock(&self.scan).scan.summary().map(get))
    }
}

#[pymethods]
impl Scan {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        Ok(self.next(py)?.map(RecordBatch))
    }
    fn __repr__(&self) -> String {
        let fields = self.schema.fields().iter();
        let names: Vec<&str> = fields.map(|field| &**field.name()).collect();
        format!("<lanefish.Scan of {}>", names.join(", "))
    }
    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }
    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close(py)
    }
    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }
    /// Number of records read, good and bad; None before the end.
    #[getter]
    fn records(&self, py: Python<'_>) -> Option<u64> {
        self.of_summary(py, |summary| summary.records)
    }
    /// Number of bad records; None before the end.
    #[getter]
    fn rejected(&self, py: Python<'_>) -> Option<u64> {
        self.of_summary(py, |summary| summary.rejected)
    }
    /// Place and reason of the first bad records; None before the end.
    #[getter]
    fn rejects(&self, py: Python<'_>) -> Option<Vec<String>> {
        self.of_summary(py, |summary| {
            let rejects = summary.first_rejects.iter();
            rejects.map(ToString::to_string).collect()
        })
    }
    /// Reads the rest into a table.
    pub(crate) fn read_all(&self, py: Python<'_>) -> PyResult<Table> {
        let mut batches = Vec::new();
        while let Some(batch) = self.next(py)? {
            batches.push(batch);
            py.check_signals()?;
        }
        Ok(Table {
            schema: Arc::clone(&self.schema),
            batches,
            bad: Vec::new(),
            rejected: self.rejected(py).unwrap_or_default(),
            notes: self.of_summary(py, |summary| summary.notes(false)).unwrap_or_default(),
            rejects: self.rejects(py).unwrap_or_default(),
        })
    }
    /// The rest as a frame of pandas, which has to be installed.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        packages::to_pandas(slf.as_any())
    }
    /// The rest as a frame of polars, which has to be installed.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        packages::to_polars(slf.as_any())
    }
    /// A stream is no array: other packages would make one object of it.
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, pyo3::types::PyTuple>,
        _keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        Err(packages::no_array())
    }
    /// Stops the scan; it yields no more batches.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let progress = py.detach(|| {
            let mut reader = lock(&self.scan);
            reader.close();
            reader.scan.progress()
        });
        self.meter.show(progress, true)
    }
    /// The call that made it, before it has begun.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let has_begun = py.detach(|| lock(&self.scan).has_begun);
        match &self.call {
            Some(call) if !has_begun => call.reduced(py),
            _ => Err(error::message(py, "a scan that has begun cannot be pickled: pickle it before, or what it read")),
        }
    }
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.schema.as_ref())?)
    }
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        if self.of_summary(py, |_| ()).is_some() {
            return Err(error::message(py, "the stream has been read: scan again"));
        }
        let batches = Batches {
            scan: Arc::clone(&self.scan),
            field: field_of(&self.schema),
            meter: self.meter.clone(),
            thread: thread::current().id(),
        };
        Ok(to_stream_pycapsule(py, Box::new(batches), requested_schema)?)
    }
}

/// The stream for another package, which may call from any thread, with the GIL or without.
struct Batches {
    scan: Arc<Mutex<Reader>>,
    field: FieldRef,
    meter: Shown,
    /// The thread that requested the stream. Other threads must not wait for the GIL, because the thread that holds it
    /// may be waiting for them.
    thread: ThreadId,
}

/// The error of a stream whose caller reports an error of its own: the signal is repeated for Python.
fn interrupted(raised: Option<&PyErr>) -> ArrowError {
    Python::attach(|py| match raised {
        Some(raised) if !raised.is_instance_of::<PyKeyboardInterrupt>(py) => {
            ArrowError::ComputeError(raised.to_string().replace('\0', " "))
        }
        _ => {
            let _ = py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main"));
            ArrowError::ComputeError("interrupted".to_owned())
        }
    })
}

impl ArrayReader for Batches {
    fn field(&self) -> FieldRef {
        Arc::clone(&self.field)
    }
}

impl Iterator for Batches {
    type Item = Result<ArrayRef, ArrowError>;
    fn next(&mut self) -> Option<Self::Item> {
        let signals = Signals::new();
        loop {
            let mut reader = lock(&self.scan);
            let (step, progress) = (reader.step(PATIENCE), reader.scan.progress());
            drop(reader);
            let is_of_thread = thread::current().id() == self.thread;
            if is_of_thread && let Err(raised) = self.meter.show(progress, matches!(step, Ok(ScanStep::End) | Err(_))) {
                return Some(Err(interrupted(Some(&raised))));
            }
            return match step {
                Ok(ScanStep::Batch(batch)) => Some(Ok(struct_of(batch))),
                Ok(ScanStep::Pending) => {
                    if is_of_thread && signals.have_raised() {
                        return Some(Err(interrupted(None)));
                    }
                    continue;
                }
                Ok(_) => None,
                Err(failed) => {
                    // C strings end at a null.
                    let text = failed.text().replace('\0', " ");
                    Some(Err(ArrowError::ComputeError(text)))
                }
            };
        }
    }
}
