//! Inputs, divided into pieces of about the same size for the tasks of a cluster.
//!
//! A piece is a share of one input, if it can be read from the middle, or some whole inputs. The client divides the
//! inputs once and sends the division with the query.
//!
//! In plans of tasks, the pieces are the rows of a table in memory, one in each partition, and a scan is an operator
//! that reads the pieces that its input names. A scan cannot be a leaf: the scheduler gives every task its share of the
//! leaves that it knows, and leaves others whole, so each task would read everything.

use super::errors::{carried, machine};
use super::file_fingerprint_check;
use super::message_envelope::{decoded, encoded};
use crate::error::Error;
use crate::formats::{self, Layout};
use crate::input::{FileFingerprint, Inputs, Shard, Source};
use crate::pipeline::ReadOptions;
use crate::sql::cluster::protection::data_dirs::Data;
use crate::stats::InputNames;
use datafusion::arrow::array::{AsArray, BinaryArray, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_plan::ExecutionPlan;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Minimum and maximum size of a task. Other jobs wait for the tasks that run, and what an executor that is killed has
/// done of its tasks is lost.
const SIZE: (u64, u64) = (64 << 10, 512 << 20);

/// Minimum number of pieces that become files, and the size above which there are more.
const FILES: usize = 16;
const FILE_SIZE: u64 = 128 << 20;

/// A file of a piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PieceFile {
    path: PathBuf,
    /// What the client saw of it.
    seen: FileFingerprint,
    /// How often the same file is among the inputs before: see [`InputNames`].
    time: u64,
}

/// Some whole files, or a share of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    files: Vec<PieceFile>,
    /// Number and count of the shard.
    shard: Option<(u32, u32)>,
    /// What was found instead of inputs, and left out; both are reported with the first piece.
    broken: Vec<PathBuf>,
    skipped: Vec<PathBuf>,
}

impl Piece {
    /// All files of these pieces, in one.
    pub(crate) fn all(pieces: &[Self]) -> Self {
        let mut all = Self::default();
        for piece in pieces {
            if piece.shard.is_none_or(|(index, _)| index == 0) {
                all.files.extend(piece.files.iter().cloned());
            }
            all.broken.extend(piece.broken.iter().cloned());
            all.skipped.extend(piece.skipped.iter().cloned());
        }
        all
    }

    /// The inputs of the piece, which are not looked at.
    pub(in crate::sql::cluster) fn inputs(&self) -> Inputs {
        let mut inputs = Inputs::of(self.files.iter().map(|file| file.path.clone()));
        inputs.broken.clone_from(&self.broken);
        inputs.skipped.clone_from(&self.skipped);
        inputs
    }

    /// The names of its files, and what the client saw of them.
    pub(in crate::sql::cluster) fn files(&self) -> impl Iterator<Item = (&Path, FileFingerprint)> {
        self.files.iter().map(|file| (&*file.path, file.seen))
    }

    /// The names of these inputs.
    pub(in crate::sql::cluster) fn names(&self, inputs: &Inputs) -> InputNames {
        InputNames::of(inputs).with_times(self.files.iter().map(|file| file.time))
    }

    /// The inputs of the piece on this machine, and the share of them.
    ///
    /// # Errors
    /// If a file is not in the data of this machine, or not the one that the client saw.
    pub(in crate::sql::cluster) fn open(&self, data: &Data) -> EngineResult<(Inputs, Option<Shard>)> {
        let inputs = self.inputs();
        data.check(&inputs)?;
        for (source, PieceFile { path, seen, .. }) in inputs.sources.iter().zip(&self.files) {
            // Whatever is opened from now on must be what is checked here.
            let checked = std::fs::metadata(path).and_then(|metadata| source.recognize(&metadata));
            checked
                .and_then(|()| file_fingerprint_check::check(path, seen))
                .map_err(|error| carried(&format!("cannot open {}: {error} (on {})", path.display(), machine())))?;
        }
        Ok((inputs, self.shard.and_then(|(index, count)| Shard::new(index, count))))
    }
}

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("piece", DataType::UInt32, false),
        Field::new("content", DataType::Binary, false),
    ]))
});

/// A plan with a partition for each piece, which has its number and the piece.
pub(crate) fn plan(pieces: &[Piece]) -> EngineResult<Arc<dyn ExecutionPlan>> {
    let partitions = pieces
        .iter()
        .zip(0..)
        .map(|(piece, number)| {
            let content = encoded(piece)?;
            let number = Arc::new(UInt32Array::from_value(number, 1));
            let content = Arc::new(BinaryArray::from_vec(vec![&content]));
            Ok(vec![RecordBatch::try_new(Arc::clone(&SCHEMA), vec![number, content])?])
        })
        .collect::<EngineResult<Vec<_>>>()?;
    Ok(MemorySourceConfig::try_new_exec(&partitions, Arc::clone(&SCHEMA), None)?)
}

/// The piece of a partition of that plan, and its number.
pub(crate) fn of_batch(batch: &RecordBatch) -> EngineResult<(u32, Piece)> {
    if batch.schema().fields() != SCHEMA.fields() || batch.num_rows() != 1 {
        return Err(wrong(&"a task has something else than a piece"));
    }
    let number = batch.column(0).as_primitive::<UInt32Type>().value(0);
    Ok((number, decoded(batch.column(1).as_binary::<i32>().value(0))?))
}

fn wrong(reason: &dyn std::fmt::Display) -> DataFusionError {
    DataFusionError::Internal(format!("pieces of inputs: {reason}"))
}

/// Divides inputs into about this number of pieces, or fewer if they are small, or more if they are large; into one if
/// one is asked for.
///
/// # Errors
/// If an input cannot be opened, or is not a regular file.
pub(crate) fn divide(inputs: &Inputs, pieces: usize, read: &ReadOptions) -> Result<Vec<Piece>, Error> {
    let number = inputs.sources.len();
    let times: Vec<u64> = InputNames::of(inputs).times().collect();
    let seen = inputs.sources.par_iter().zip(times).map(|(source, time)| {
        if source.is_member() {
            let reason = "is a file of a zip archive: a cluster does not read those; extract it first";
            return Err(Error::UnknownFormat { path: Arc::clone(source.name()), reason: reason.to_owned() });
        }
        let failed = |error| Error::Open { path: Arc::clone(source.name()), source: error };
        let seen = file_fingerprint_check::seen(source.name(), number).map_err(failed)?;
        Ok(PieceFile { path: source.name().to_path_buf(), seen, time })
    });
    let files = seen.collect::<Result<Vec<_>, _>>()?;
    let total: u64 = files.iter().map(|file| file.seen.len()).sum();
    let size = match pieces {
        1 => total.max(1),
        pieces => total.div_ceil(pieces.max(1) as u64).clamp(SIZE.0, SIZE.1),
    };
    let mut divided = Vec::new();
    let (mut gathered, mut gathered_bytes) = (Vec::new(), 0);
    for (source, file) in inputs.sources.iter().zip(files) {
        let len = file.seen.len();
        let shards = u32::try_from(len.div_ceil(size)).unwrap_or(Shard::MOST).min(Shard::MOST);
        let is_divided = shards > 1 && is_divisible(source, read)?;
        if !is_divided {
            gathered.push(file.clone());
            gathered_bytes += len;
        }
        if !gathered.is_empty() && (is_divided || gathered_bytes >= size) {
            divided.push(Piece { files: std::mem::take(&mut gathered), ..Piece::default() });
            gathered_bytes = 0;
        }
        if is_divided {
            let share = |shard| Piece { files: vec![file.clone()], shard: Some((shard, shards)), ..Piece::default() };
            divided.extend((0..shards).map(share));
        }
    }
    if !gathered.is_empty() || divided.is_empty() {
        divided.push(Piece { files: gathered, ..Piece::default() });
    }
    divided[0].broken.clone_from(&inputs.broken);
    divided[0].skipped.clone_from(&inputs.skipped);
    Ok(divided)
}

/// Divides inputs whose pieces become files: into this number of pieces, about, or into one that depends only on their size.
///
/// # Errors
/// Those of [`divide`].
pub(crate) fn divide_for_files(
    inputs: &Inputs,
    pieces: Option<usize>,
    read: &ReadOptions,
) -> Result<Vec<Piece>, Error> {
    let total = inputs.total_bytes().unwrap_or(0);
    let usual = usize::try_from(total / FILE_SIZE).unwrap_or(usize::MAX).max(FILES);
    divide(inputs, pieces.unwrap_or(usual), read)
}

/// Whether an input can be read from the middle.
fn is_divisible(source: &Source, read: &ReadOptions) -> Result<bool, Error> {
    let column = read.decode.fen_column.as_deref();
    let mut opened = formats::open(source, read.from, column, read.access, Arc::default())?;
    let is_plain = opened.input.plain_len().is_some();
    Ok(match opened.format.layout() {
        Layout::Text(_) => is_plain || opened.input.has_frames()?,
        Layout::Records(_) | Layout::Chains(_) | Layout::Sections(_) => is_plain,
        Layout::Tables(_) => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn every_input_is_in_the_pieces_once() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: usize| -> PathBuf {
            let path = directory.path().join(name);
            std::fs::write(&path, b"8/8/8/4k3/8/4K3/8/8 w - - 0 1\n".repeat(bytes / 30)).unwrap();
            path
        };
        let inputs =
            Inputs::of([write("a.fen", 3_000), write("b.fen", 3_000), write("c.fen", 300_000), write("d.fen", 60)]);
        let divided = |pieces| divide(&inputs, pieces, &ReadOptions::default()).unwrap();
        let shown = |pieces: &[Piece]| {
            let shown = pieces.iter().map(|piece| {
                let names = piece.files.iter().map(|file| file.path.file_stem().unwrap().to_string_lossy());
                (names.collect::<String>(), piece.shard)
            });
            shown.collect::<Vec<_>>()
        };
        let piece = |names: &str, shard: Option<(u32, u32)>| (names.to_owned(), shard);
        assert_eq!(
            shown(&divided(3)),
            [
                piece("ab", None),
                piece("c", Some((0, 3))),
                piece("c", Some((1, 3))),
                piece("c", Some((2, 3))),
                piece("d", None),
            ]
        );
        assert_eq!(shown(&divided(1)), [piece("abcd", None)]);
        assert_eq!(shown(&[Piece::all(&divided(3))]), [piece("abcd", None)]);
        // A file that is given twice is two inputs, in whatever pieces.
        let path = write("e.fen", 200_000);
        let twice = Inputs::of([path.clone(), write("f.fen", 60), path]);
        let pieces = divide(&twice, 6, &ReadOptions::default()).unwrap();
        let times: Vec<u64> = pieces.iter().flat_map(|piece| piece.files.iter().map(|file| file.time)).collect();
        assert!(pieces.len() > 3 && times.is_sorted(), "{times:?}");
        assert_eq!(times.iter().filter(|&&time| time == 1).count(), (times.len() - 1) / 2);
        let inputs = pieces[pieces.len() - 1].inputs();
        assert!(pieces[pieces.len() - 1].names(&inputs).times().eq([1]));
        // No piece is smaller than a task is worth.
        assert_eq!(divided(1_000_000).len(), 7);
        let nothing = divide(&Inputs::default(), 4, &ReadOptions::default()).unwrap();
        assert_eq!(nothing, [Piece::default()]);
    }
}
