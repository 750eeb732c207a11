//! `stats`, `convert` and `verify`: whole files.

use crate::error;
use crate::progress::Meter;
use crate::reading::{self, Keywords, Reading, reading_function};
use crate::signals::Signals;
use lanefish::Error;
use lanefish::input::Inputs;
use lanefish::jobs::{
    Content, FileOptions, OutputError, OutputFormat, OutputSummary, RecordFile, Statistics, VerifyRecords, WriteJob,
    WritePart, verification_to_json,
};
use lanefish::output::ScratchSpace;
use lanefish::pipeline::{Progress, RunError, RunOptions, Summary, run};
use lanefish::report::run_to_json;
use lanefish::stats::GroupBy;
use lanefish::table::FeatureSet;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Runs over these inputs without the GIL, until a signal handler raises an exception.
pub(crate) fn attended<T: Send>(
    py: Python<'_>,
    reading: &Reading,
    inputs: &Inputs,
    work: impl FnOnce(RunOptions<'_>) -> T + Send,
) -> PyResult<T> {
    let analyzer = reading::analyzer(py)?;
    let mut meter = Meter::of(py, reading, inputs)?;
    let reading = reading.clone();
    let (done, last, signals) = py.detach(|| {
        let signals = Signals::new();
        let interrupt = AtomicBool::new(false);
        let mut last = Progress::default();
        let mut on_progress = |progress: Progress| {
            last = progress;
            if let Some(Err(raised)) = meter.as_mut().map(|meter| meter.show(progress)) {
                signals.raise(raised);
            }
            if signals.have_raised() {
                interrupt.store(true, Ordering::Relaxed);
            }
        };
        let options =
            reading.set(RunOptions::new(analyzer)).interrupt(Some(&interrupt)).on_progress(Some(&mut on_progress));
        let done = work(options);
        (done, last, signals)
    });
    if let Some(meter) = meter {
        meter.finish(py, Some(last))?;
    }
    match signals.into_raised() {
        Some(raised) => Err(raised),
        None => Ok(done),
    }
}

reading_function! {
    /// Computes statistics for the records of files: the output of `lanefish stats --json`, as a dict.
    ///
    /// `by` names a column and adds a report for each of its values; numbers can be grouped into ranges, such as "ply/20".
    /// It may also be an expression, in parentheses if it has a slash or a comma: "(white_elo - black_elo)/100".
    /// `features` names a set of inputs of a network, such as "halfka_v2_hm", whose coverage is counted under "features".
    /// `details` adds statistics that take longer. Bad records are left out and counted under "rejected", unless
    /// `on_bad="raise"`. The other arguments are those of `scan`.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "one.epd")
    /// >>> with open(path, "w") as file:
    /// ...     _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\n")
    /// >>> stats = lanefish.stats(path)
    /// >>> stats["positions"], stats["legal_moves"]["sum"], stats["rejected"]
    /// (1, 12, 0)
    signature(paths, *, by=None, details=false, features=None);
    pub(crate) fn stats<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "skip";
        paths: &Bound<'py, PyAny>,
        by: Option<&str>,
        details: bool,
        features: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keep_en_passant = keywords.keep_en_passant;
        let definitions = keywords.definitions(py)?;
        let reading = keywords.check(py)?;
        let by = by.map(|by| GroupBy::parse_with(by, &definitions)).transpose();
        let by = by.map_err(|wrong| error::message(py, wrong.to_string()))?;
        let features = features.map(FeatureSet::parse_indices).transpose();
        let features = features.map_err(|wrong| error::message(py, wrong.to_string()))?;
        let analyzer = reading::analyzer(py)?;
        let inputs = reading.inputs(py, paths)?;
        let text = attended(py, &reading, &inputs, |options| {
            let begin = Instant::now();
            let threads = options.threads;
            let mut job = Statistics::new();
            if options.read.shard.is_some() {
                job = job.of_a_part(&inputs);
            }
            if details {
                job = job.with_details();
            }
            if let Some(set) = features {
                job = job.with_features(set);
            }
            if let Some(by) = by {
                job = job.grouped_by(by);
            }
            let summary = run(&inputs, options, &job, |part| job.add(part))?;
            let run = run_to_json(analyzer.tier(), threads, begin.elapsed(), &summary);
            let mut object = job.finish(summary.rejected, keep_en_passant)?.to_json();
            object.insert("run".to_owned(), run.into());
            Ok(serde_json::Value::Object(object).to_string())
        })?;
        let text = text.map_err(|failure: Error| error::of(py, &failure))?;
        py.import("json")?.call_method1("loads", (text,))
    }
}

reading_function! {
    /// Writes the records of files to one output file, in any format that can be written.
    ///
    /// The format follows from the name, or is `to`. The file appears whole or not at all; an existing one is replaced only
    /// with `overwrite=True`. Names that end in .zst, .gz or .bz2 are compressed, with `level`. `compression` is for the
    /// pages of a Parquet file ("zstd:9", "snappy", "none"), and `fen=True` adds a column `fen` to a table.
    ///
    /// With `on_bad="raise"`, a bad record raises an `Error` and nothing is written; with "skip", bad records are left out.
    /// The result has the numbers of `records` that were read, `rejected` and `written`, what each option `left_out`, the
    /// fields that were `lost` because the format cannot store them, with their records, and the `lost_tags` of games, with
    /// their games. If records would be changed in a way that readers cannot detect, `convert` fails, unless
    /// `allow_loss=True`; `changed` counts these records by kind.
    ///
    /// `set` changes values of the records: score, raw_score, mate, result, ply or halfmove, for example
    /// `{"score": "greatest(-1000, least(score, 1000))"}`. The other arguments are those of `scan`.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> folder = tempfile.mkdtemp()
    /// >>> with open(os.path.join(folder, "one.epd"), "w") as file:
    /// ...     _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\n")
    /// >>> done = lanefish.convert(os.path.join(folder, "one.epd"), os.path.join(folder, "one.boards"))
    /// >>> done["records"], done["rejected"], done["written"], done["lost"]
    /// (1, 0, 1, {})
    signature(
        input, output, *, to=None, overwrite=false, level=None, compression=None, fen=false, allow_loss=false, set=None
    );
    pub(crate) fn convert<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "raise";
        input: &Bound<'py, PyAny>,
        output: PathBuf,
        to: Option<&str>,
        overwrite: bool,
        level: Option<i32>,
        compression: Option<&str>,
        fen: bool,
        allow_loss: bool,
        set: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let keywords = Keywords { set, ..keywords };
        let reading = keywords.check(py)?;
        let file = OutputKeywords { to, overwrite, level, compression, fen, allow_loss }.file(py, &output)?;
        let inputs = reading.inputs(py, input)?;
        let space = ScratchSpace::default();
        write_by(py, &reading, &inputs, (&output, &file), space, |inputs, options, job, sink| {
            run(inputs, options, job, sink)
        })
    }
}

reading_function! {
    /// Reads everything in files, and reports what is wrong: the output of `lanefish verify --json`, as a dict.
    ///
    /// It has whether all is `ok`, and for each of `files` its path and format, the numbers of `records` and of those that are
    /// `rejected`, how often each of the `reasons` was met, and the damaged places. Positions are checked at the strict level;
    /// `validity="playable"` is the level of the other functions. The other arguments are those of `scan`.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "two.epd")
    /// >>> with open(path, "w") as file:
    /// ...     _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\n8/8/8/8/8/8/8/4K2R w K -\n")
    /// >>> found = lanefish.verify(path)
    /// >>> found["ok"], found["files"][0]["records"], found["files"][0]["rejected"]
    /// (False, 2, 1)
    signature(paths, *);
    pub(crate) fn verify<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "skip", validity = "strict";
        paths: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reading = keywords.check(py)?;
        let inputs = reading.inputs(py, paths)?;
        let done = attended(py, &reading, &inputs, |options| {
            run(&inputs, options.past_damage(true), &VerifyRecords, |()| Ok(()))
        })?;
        let summary = done.map_err(|ended| error::of(py, &ended.error))?;
        let text = serde_json::Value::Object(verification_to_json(&summary)).to_string();
        py.import("json")?.call_method1("loads", (text,))
    }
}

/// The keywords about an output.
pub(crate) struct OutputKeywords<'a> {
    /// The name of its format; otherwise that of the file tells.
    pub(crate) to: Option<&'a str>,
    pub(crate) overwrite: bool,
    /// The level of the compression that the name implies.
    pub(crate) level: Option<i32>,
    /// The compression of the pages of Parquet.
    pub(crate) compression: Option<&'a str>,
    /// Whether a table has a column `fen`.
    pub(crate) fen: bool,
    pub(crate) allow_loss: bool,
}

impl OutputKeywords<'_> {
    /// The file with this name.
    pub(crate) fn file(&self, py: Python<'_>, output: &Path) -> PyResult<RecordFile> {
        let wrong = |reason: OutputError| error::message(py, reason.to_string());
        let format = match self.to {
            Some(name) => OutputFormat::named(name, Content::Records),
            None => OutputFormat::of_path(output, Content::Records),
        };
        let mut format = format.map_err(wrong)?;
        if let Some(compression) = self.compression {
            format = format.with_compression(compression).map_err(wrong)?;
        }
        let options = FileOptions::default().force(self.overwrite).level(self.level);
        RecordFile::new(output, Some(format), options.fen(self.fen).allow_loss(self.allow_loss)).map_err(wrong)
    }
}

/// Writes the records that `read` makes of some inputs to a file; returns what was read, written, left out and lost.
pub(crate) fn write_by<'py>(
    py: Python<'py>,
    reading: &Reading,
    inputs: &Inputs,
    (output, file): (&Path, &RecordFile),
    space: ScratchSpace,
    read: impl FnOnce(
        &Inputs,
        RunOptions<'_>,
        &WriteJob<'_>,
        &mut dyn FnMut(WritePart) -> Result<(), Error>,
    ) -> Result<Summary, RunError>
    + Send,
) -> PyResult<Bound<'py, PyDict>> {
    check_not_input(py, inputs, [output])?;
    let done = attended(py, reading, inputs, |options| file.write_by(inputs, options.space(space), read))?;
    let (summary, written) = done.map_err(|ended| error::of(py, &ended.error))?;
    converted(py, &summary, &written)
}

/// Checks that no output is also an input.
pub(crate) fn check_not_input<'a>(
    py: Python<'_>,
    inputs: &Inputs,
    outputs: impl IntoIterator<Item = &'a Path>,
) -> PyResult<()> {
    for output in outputs {
        let Ok(place) = output.canonicalize() else { continue };
        let mut files = inputs.sources.iter().filter_map(|source| source.container());
        if let Some(path) = files.find(|path| path.canonicalize().is_ok_and(|path| path == place)) {
            let path = path.display();
            return Err(error::message(py, format!("{path} is an input and cannot also be an output")));
        }
    }
    Ok(())
}

/// What was read, written, left out and lost.
pub(crate) fn converted<'py>(
    py: Python<'py>,
    summary: &Summary,
    written: &OutputSummary,
) -> PyResult<Bound<'py, PyDict>> {
    let losses = &written.losses;
    let done = counts(py, summary)?;
    done.set_item("written", written.records)?;
    let left_out = PyDict::new(py);
    for (option, left) in &summary.left_out {
        let of_option = PyDict::new(py);
        of_option.set_item("games", left.games)?;
        of_option.set_item("positions", left.positions)?;
        left_out.set_item(option, of_option)?;
    }
    done.set_item("left_out", left_out)?;
    let lost_tags = PyDict::new(py);
    for (tag, games) in summary.lost_tags.iter() {
        lost_tags.set_item(tag, games)?;
    }
    done.set_item("lost_tags", lost_tags)?;
    let lost = PyDict::new(py);
    for (what, records) in losses.lacking() {
        // Names of fields have backticks in sentences.
        lost.set_item(what.trim_matches('`'), records)?;
    }
    done.set_item("lost", lost)?;
    let placeholders = PyDict::new(py);
    for (what, records) in losses.placeholders() {
        placeholders.set_item(what, records)?;
    }
    done.set_item("placeholders", placeholders)?;
    let changed = PyDict::new(py);
    for (what, how_often) in losses.changed() {
        changed.set_item(what, how_often.records)?;
    }
    done.set_item("changed", changed)?;
    Ok(done)
}

/// What was read.
pub(crate) fn counts<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let counts = PyDict::new(py);
    counts.set_item("records", summary.records)?;
    counts.set_item("rejected", summary.rejected)?;
    let reasons = PyDict::new(py);
    for (reason, times) in &summary.reasons {
        reasons.set_item(reason, times)?;
    }
    counts.set_item("reasons", reasons)?;
    let rejects = summary.first_rejects.iter().map(ToString::to_string);
    counts.set_item("rejects", rejects.collect::<Vec<_>>())?;
    counts.set_item("notes", summary.notes(false))?;
    Ok(counts)
}
