//! `shuffle`, `interleave`, `split` and `dedup`: operations on whole data sets, beyond memory where necessary.

use crate::error;
use crate::files::{OutputKeywords, attended, check_not_input, converted, counts, write_by};
use crate::reading::{Reading, reading_function};
use lanefish::datasets::{
    Dedup, Deduplicated, Interleave, Interleaved, Keep, Key, MixedInput, Shares, Shuffle, Split, SplitBy, Unit, Weights,
};
use lanefish::input::Inputs;
use lanefish::jobs::{OutputSummary, RecordFile};
use lanefish::output::ScratchSpace;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// The memory for sorting, in bytes, and the directory for everything else.
fn space(memory: Option<u64>, temp: Option<PathBuf>) -> ScratchSpace {
    let space = ScratchSpace::default();
    let space = match memory {
        Some(memory) => space.memory(memory),
        None => space,
    };
    match temp {
        Some(temp) => space.directory(temp),
        None => space,
    }
}

fn unit(by: &str) -> PyResult<Unit> {
    match by {
        "record" => Ok(Unit::Record),
        "game" => Ok(Unit::Game),
        _ => Err(PyValueError::new_err("by must be 'record' or 'game'")),
    }
}

reading_function! {
    /// Writes all records of files to one file, in a random order that `seed` determines.
    ///
    /// With `by="game"`, the records of a game stay together, in their order. What does not fit into `memory` (bytes; 1 GiB by
    /// default) is in temporary files in the folder `temp`. The output and the result are as for `convert`, the other arguments
    /// those of `scan`.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> folder = tempfile.mkdtemp()
    /// >>> path = os.path.join(folder, "a.epd")
    /// >>> with open(path, "w") as file:
    /// ...     _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\n8/8/8/8/8/8/6k1/4K2R b K -\n")
    /// >>> lanefish.shuffle(path, os.path.join(folder, "b.epd"), seed=7)["written"]
    /// 2
    signature(
        input, output, *, by="record", memory=None, temp=None, to=None, overwrite=false, level=None, compression=None,
        allow_loss=false
    );
    pub(crate) fn shuffle<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "raise";
        input: &Bound<'py, PyAny>,
        output: PathBuf,
        by: &str,
        memory: Option<u64>,
        temp: Option<PathBuf>,
        to: Option<&str>,
        overwrite: bool,
        level: Option<i32>,
        compression: Option<&str>,
        allow_loss: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let shuffle = Shuffle::default().seed(keywords.seed).by(unit(by)?);
        let file = OutputKeywords { to, overwrite, level, compression, fen: false, allow_loss }.file(py, &output)?;
        let reading = keywords.check(py)?;
        let inputs = reading.inputs(py, input)?;
        let space = space(memory, temp);
        write_by(py, &reading, &inputs, (&output, &file), space, |inputs, options, job, sink| {
            shuffle.run(inputs, options, job, sink)
        })
    }
}

reading_function! {
    /// Mixes the records of several files evenly into one, and keeps the order within each.
    ///
    /// With `by="game"`, the records of a game stay together. `weights`, a number for each path, are the shares of the inputs
    /// in the output, which ends where an input has nothing left; with `repeat`, inputs with too few records begin again, until
    /// every input is used up. The result then has how many were `available` and `taken` for each of the `inputs`.
    /// The output and the result are as for `convert`, the other arguments those of `scan`.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> paths = [os.path.join(tempfile.mkdtemp(), "a.epd") for _ in range(3)]
    /// >>> for path in paths[:2]:
    /// ...     with open(path, "w") as file:
    /// ...         _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\n")
    /// >>> lanefish.interleave(paths[:2], paths[2])["written"]
    /// 2
    signature(
        paths, output, *, by="record", weights=None, repeat=false, to=None, overwrite=false, level=None, compression=None, allow_loss=false
    );
    pub(crate) fn interleave<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "raise";
        paths: &Bound<'py, PyAny>,
        output: PathBuf,
        by: &str,
        weights: Option<Vec<f64>>,
        repeat: bool,
        to: Option<&str>,
        overwrite: bool,
        level: Option<i32>,
        compression: Option<&str>,
        allow_loss: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let interleave = Interleave::default().seed(keywords.seed).by(unit(by)?);
        let file = OutputKeywords { to, overwrite, level, compression, fen: false, allow_loss }.file(py, &output)?;
        let reading = keywords.check(py)?;
        let inputs = reading.inputs(py, paths)?;
        if repeat && weights.is_none() {
            return Err(PyValueError::new_err("repeat is for weights"));
        }
        let has_weights = weights.is_some();
        let interleave = match weights {
            Some(weights) => {
                let files = files_of_each(py, &reading, paths)?;
                if files.len() != weights.len() {
                    let message = format!("{} weights for {} paths", weights.len(), files.len());
                    return Err(PyValueError::new_err(message));
                }
                let text: Vec<String> = weights.iter().map(f64::to_string).collect();
                let weights = text.join(",").parse::<Weights>();
                let weights = weights.map_err(|wrong| error::message(py, format!("weights: {wrong}")))?;
                interleave.weights(Some(weights)).files(Some(files)).repeats(repeat)
            }
            None => interleave,
        };
        let mut mixed = Interleaved::default();
        let space = ScratchSpace::default();
        let done = write_by(py, &reading, &inputs, (&output, &file), space, |inputs, options, job, sink| {
            let (summary, done) = interleave.run(inputs, options, job, sink)?;
            mixed = done;
            Ok(summary)
        })?;
        if has_weights {
            let of_input = |input: &MixedInput| {
                let of_input = PyDict::new(py);
                of_input.set_item("available", input.available)?;
                of_input.set_item("taken", input.taken)?;
                Ok(of_input)
            };
            done.set_item("inputs", mixed.inputs.iter().map(of_input).collect::<PyResult<Vec<_>>>()?)?;
        }
        Ok(done)
    }
}

/// The number of files of each of several paths.
fn files_of_each(py: Python<'_>, reading: &Reading, paths: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let count = |path: &Bound<'_, PyAny>| Ok(reading.inputs(py, path)?.sources.len());
    match paths.extract::<PathBuf>() {
        Ok(_) => Ok(vec![count(paths)?]),
        Err(_) => paths.try_iter()?.map(|path| count(&path?)).collect(),
    }
}

/// The place in the name of an output for that of a part.
const PART: &str = "{part}";

reading_function! {
    /// Divides the records of files into parts, such as for training and validation.
    ///
    /// `parts` are the names and shares of the parts, with a sum of 1: `{"train": 0.9, "valid": 0.1}`, or the text
    /// "train=0.9,valid=10%". In `output`, `{part}` stands for the name of a part. Records with equal positions are in the same
    /// part; with `by` "relative" also those with exchanged colours, with "game" the records of a game, with "record" each is
    /// chosen separately. All files appear, or none.
    ///
    /// The result is that of `convert`, with the number of records that each of the `parts` has. The other arguments are
    /// those of `convert` and `scan`.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> folder = tempfile.mkdtemp()
    /// >>> path = os.path.join(folder, "a.epd")
    /// >>> with open(path, "w") as file:
    /// ...     _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\n8/8/8/8/8/8/6k1/4K2R b K -\n")
    /// >>> done = lanefish.split(path, os.path.join(folder, "{part}.epd"), {"train": 0.5, "test": 0.5})
    /// >>> sum(done["parts"].values()), sorted(os.listdir(folder))
    /// (2, ['a.epd', 'test.epd', 'train.epd'])
    signature(
        input, output, parts, *, by="position", to=None, overwrite=false, level=None, compression=None,
        allow_loss=false
    );
    pub(crate) fn split<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "raise";
        input: &Bound<'py, PyAny>,
        output: PathBuf,
        parts: &Bound<'py, PyAny>,
        by: &str,
        to: Option<&str>,
        overwrite: bool,
        level: Option<i32>,
        compression: Option<&str>,
        allow_loss: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(pattern) = output.to_str().filter(|pattern| pattern.contains(PART)) else {
            return Err(PyValueError::new_err("output: {part}, which stands for the name of a part, is missing"));
        };
        let text = match parts.cast::<PyDict>() {
            Ok(parts) => {
                let shares = parts.iter().map(|(name, share)| Ok(format!("{name}={}", share.str()?)));
                shares.collect::<PyResult<Vec<String>>>()?.join(",")
            }
            Err(_) => parts.extract::<String>()?,
        };
        let shares = text.parse::<Shares>().map_err(|wrong| error::message(py, format!("parts: {wrong}")))?;
        let by = match by {
            "position" => SplitBy::Position,
            "relative" => SplitBy::Relative,
            "game" => SplitBy::Game,
            "record" => SplitBy::Record,
            _ => return Err(PyValueError::new_err("by must be 'position', 'relative', 'game' or 'record'")),
        };
        let split = Split::new(shares).seed(keywords.seed).by(by);
        let keywords_of_output = OutputKeywords { to, overwrite, level, compression, fen: false, allow_loss };
        let outputs: Vec<PathBuf> =
            split.shares.iter().map(|share| PathBuf::from(pattern.replace(PART, &share.name))).collect();
        let files = outputs.iter().map(|output| keywords_of_output.file(py, output));
        let files = files.collect::<PyResult<Vec<RecordFile>>>()?;
        let reading = keywords.check(py)?;
        let inputs = reading.inputs(py, input)?;
        check_not_input(py, &inputs, outputs.iter().map(|output| &**output))?;
        let done = attended(py, &reading, &inputs, |options| {
            let files: Vec<&RecordFile> = files.iter().collect();
            RecordFile::write_all(&files, &inputs, options, |inputs, options, jobs, sink| {
                split.run(inputs, options, jobs, |part, _, made| sink(part, made))
            })
        })?;
        let (summary, written) = done.map_err(|ended| error::of(py, &ended.error))?;
        let mut all = OutputSummary::default();
        written.iter().for_each(|part| all.merge(part));
        let done = converted(py, &summary, &all)?;
        let parts = PyDict::new(py);
        for (share, written) in split.shares.iter().zip(&written) {
            parts.set_item(&share.name, written.records)?;
        }
        done.set_item("parts", parts)?;
        Ok(done)
    }
}

reading_function! {
    /// Writes one of several equal records of files, or counts the distinct ones.
    ///
    /// `key` says what makes records equal: "board", "stm", "castling", "position" (with legal en passant squares), "relative"
    /// (colours exchanged if Black is to move) or "record" (all fields). `keep` is "first", "last", or the record with the most
    /// or least of a column of numbers: "most:depth". Records that are in the files of `against` are left out, too. `counts`
    /// adds how often each occurred. `memory` and `temp` are those of `shuffle`.
    ///
    /// The output and the result are as for `convert`, with the number of `duplicates`. Without `output`, the result has how
    /// many are `distinct` by each key.
    ///
    /// >>> import lanefish, tempfile, os
    /// >>> folder = tempfile.mkdtemp()
    /// >>> path = os.path.join(folder, "a.epd")
    /// >>> with open(path, "w") as file:
    /// ...     _ = file.write("8/8/8/8/8/8/6k1/4K2R w K -\n" * 3)
    /// >>> lanefish.dedup(path)["distinct"]["position"]
    /// 1
    /// >>> done = lanefish.dedup(path, os.path.join(folder, "b.boards"))
    /// >>> done["written"], done["duplicates"]
    /// (1, 2)
    signature(
        input, output=None, *, key="position", keep="first", against=None, counts=false, memory=None, temp=None,
        to=None, overwrite=false, level=None, compression=None, allow_loss=false
    );
    pub(crate) fn dedup<'py>(
        py: Python<'_>,
        keywords: Keywords, on_bad = "raise";
        input: &Bound<'py, PyAny>,
        output: Option<PathBuf>,
        key: &str,
        keep: &str,
        against: Option<&Bound<'_, PyAny>>,
        counts: bool,
        memory: Option<u64>,
        temp: Option<PathBuf>,
        to: Option<&str>,
        overwrite: bool,
        level: Option<i32>,
        compression: Option<&str>,
        allow_loss: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let key = key.parse::<Key>().map_err(|wrong| error::message(py, format!("key: {wrong}")))?;
        let keep = keep.parse::<Keep>().map_err(|wrong| error::message(py, format!("keep: {wrong}")))?;
        let reading = keywords.check(py)?;
        let inputs = reading.inputs(py, input)?;
        let Some(output) = output else {
            if against.is_some() || counts {
                return Err(PyValueError::new_err("against and counts are for an output"));
            }
            return count(py, &reading, &inputs, space(memory, temp));
        };
        let against = against.map(|against| reading.inputs(py, against)).transpose()?.unwrap_or_default();
        let file = OutputKeywords { to, overwrite, level, compression, fen: false, allow_loss }.file(py, &output)?;
        check_not_input(py, &against, [&*output])?;
        let dedup = Dedup::default().key(key).keep(keep).against(against).counts(counts);
        let mut kept = Deduplicated::default();
        let space = space(memory, temp);
        let done = write_by(py, &reading, &inputs, (&output, &file), space, |inputs, options, job, sink| {
            let (summary, done) = dedup.run(inputs, options, job, sink)?;
            kept = done;
            Ok(summary)
        })?;
        done.set_item("duplicates", kept.compared - kept.kept)?;
        done.set_item("rejected_against", kept.rejected_against)?;
        Ok(done)
    }
}

/// The numbers of distinct records.
fn count<'py>(
    py: Python<'py>,
    reading: &Reading,
    inputs: &Inputs,
    space: ScratchSpace,
) -> PyResult<Bound<'py, PyDict>> {
    let done = attended(py, reading, inputs, |options| Dedup::default().count(inputs, options.space(space)))?;
    let (summary, found) = done.map_err(|ended| error::of(py, &ended.error))?;
    let done = counts(py, &summary)?;
    let distinct = PyDict::new(py);
    for (name, number) in [
        ("board", found.board),
        ("stm", found.stm),
        ("castling", found.castling),
        ("position", found.position),
        ("record", found.record),
    ] {
        distinct.set_item(name, number)?;
    }
    done.set_item("distinct", distinct)?;
    Ok(done)
}
