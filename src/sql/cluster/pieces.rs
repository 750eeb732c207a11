//! Inputs, divided into pieces of about the same size for the tasks of a cluster.
//!
//! A piece is a share of one input, if it can be read from the middle, or some whole inputs. The client divides the
//! inputs once and sends the division with the query.
//!
//! In plans of tasks, the pieces are the rows of a table in memory, one in each partition, and a scan is an operator
//! that reads the pieces that its input names. A scan cannot be a leaf: the scheduler gives every task its share of the
//! leaves that it knows, and leaves others whole, so each task would read everything.

use crate::error::Error;
use crate::formats::{self, Layout};
use crate::input::{Inputs, Shard, Source};
use crate::pipeline::ReadOptions;
use datafusion::arrow::array::{Array, AsArray, RecordBatch, UInt32Array, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type, UInt64Type};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_plan::ExecutionPlan;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// Minimum size of a task.
const LEAST: u64 = 64 << 10;

/// Some whole inputs, or a share of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// Places in the list of inputs.
    inputs: Range<usize>,
    /// Number and count of the shard.
    shard: Option<(u32, u32)>,
}

impl Piece {
    /// All inputs.
    pub(crate) fn whole(inputs: &Inputs) -> Self {
        Self { inputs: 0..inputs.sources.len(), shard: None }
    }

    /// The part of the inputs. Broken entries found instead of inputs belong to the first piece.
    pub(crate) fn of(&self, inputs: &Inputs) -> (Inputs, Option<Shard>) {
        let sources = inputs.sources.get(self.inputs.clone()).unwrap_or_default();
        let mut own = Inputs::of(sources.iter().cloned());
        let shard = self.shard.and_then(|(index, count)| Shard::new(index, count));
        if self.inputs.start == 0 && shard.is_none_or(|shard| shard.index() == 0) {
            own.broken.clone_from(&inputs.broken);
            own.skipped.clone_from(&inputs.skipped);
        }
        (own, shard)
    }
}

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("piece", DataType::UInt32, false),
        Field::new("first_input", DataType::UInt64, false),
        Field::new("after_inputs", DataType::UInt64, false),
        Field::new("shard", DataType::UInt32, true),
        Field::new("shards", DataType::UInt32, true),
    ]))
});

/// A plan with a partition for each piece, which has its number and the piece.
pub(crate) fn plan(pieces: &[Piece]) -> EngineResult<Arc<dyn ExecutionPlan>> {
    let partitions = pieces
        .iter()
        .enumerate()
        .map(|(number, piece)| {
            let number = u32::try_from(number).map_err(|error| wrong(&error))?;
            let (shard, shards) = piece.shard.unzip();
            let place = |place: usize| Arc::new(UInt64Array::from_value(place as u64, 1));
            let share = |number: Option<u32>| Arc::new(UInt32Array::from(vec![number]));
            let batch = RecordBatch::try_new(
                Arc::clone(&SCHEMA),
                vec![
                    share(Some(number)),
                    place(piece.inputs.start),
                    place(piece.inputs.end),
                    share(shard),
                    share(shards),
                ],
            )?;
            Ok(vec![batch])
        })
        .collect::<EngineResult<Vec<_>>>()?;
    Ok(MemorySourceConfig::try_new_exec(&partitions, Arc::clone(&SCHEMA), None)?)
}

/// The piece of a partition of that plan, and its number.
pub(crate) fn of_batch(batch: &RecordBatch) -> EngineResult<(u32, Piece)> {
    if batch.schema().fields() != SCHEMA.fields() || batch.num_rows() != 1 {
        return Err(wrong(&"a task has something else than a piece"));
    }
    let place = |column: usize| {
        let place = batch.column(column).as_primitive::<UInt64Type>().value(0);
        usize::try_from(place).map_err(|error| wrong(&error))
    };
    let share = |column: usize| {
        let numbers = batch.column(column).as_primitive::<UInt32Type>();
        numbers.is_valid(0).then(|| numbers.value(0))
    };
    let piece = Piece { inputs: place(1)?..place(2)?, shard: share(3).zip(share(4)) };
    Ok((share(0).unwrap_or_default(), piece))
}

fn wrong(reason: &dyn std::fmt::Display) -> DataFusionError {
    DataFusionError::Internal(format!("pieces of inputs: {reason}"))
}

/// Divides inputs into about this number of pieces, or fewer if they are small; at least one.
///
/// # Errors
/// If an input cannot be opened, or is not a regular file.
pub(crate) fn divide(inputs: &Inputs, pieces: usize, read: &ReadOptions) -> Result<Vec<Piece>, Error> {
    let mut lengths = Vec::with_capacity(inputs.sources.len());
    for source in &inputs.sources {
        lengths.push(length(source)?);
    }
    let total: u64 = lengths.iter().sum();
    let size = total.div_ceil(pieces.max(1) as u64).max(LEAST);
    let mut divided = Vec::new();
    let (mut begin, mut gathered) = (0, 0);
    for (place, (source, &len)) in inputs.sources.iter().zip(&lengths).enumerate() {
        let shards = u32::try_from(len.div_ceil(size)).unwrap_or(Shard::MOST).min(Shard::MOST);
        if shards > 1 && is_divisible(source, read)? {
            if begin < place {
                divided.push((begin..place, None));
            }
            divided.extend((0..shards).map(|shard| (place..place + 1, Some((shard, shards)))));
            (begin, gathered) = (place + 1, 0);
            continue;
        }
        gathered += len;
        if gathered >= size {
            divided.push((begin..place + 1, None));
            (begin, gathered) = (place + 1, 0);
        }
    }
    if begin < inputs.sources.len() || divided.is_empty() {
        divided.push((begin..inputs.sources.len(), None));
    }
    let divided = divided.into_iter();
    Ok(divided.map(|(inputs, shard)| Piece { inputs, shard }).collect())
}

fn length(source: &Source) -> Result<u64, Error> {
    if source.is_member() {
        let reason = "is a file of a zip archive: a cluster does not read those; extract it first";
        return Err(Error::UnknownFormat { path: Arc::clone(source.name()), reason: reason.to_owned() });
    }
    let found = std::fs::metadata(source.name()).and_then(|found| match source.file().filter(|_| found.is_file()) {
        Some(_) => Ok(found.len()),
        None => Err(std::io::Error::other("is not a regular file: a cluster reads only regular files")),
    });
    found.map_err(|error| Error::Open { path: Arc::clone(source.name()), source: error })
}

/// Whether an input can be read from the middle.
fn is_divisible(source: &Source, read: &ReadOptions) -> Result<bool, Error> {
    let column = read.decode.fen_column.as_deref();
    let mut opened = formats::open_with(source, read.from, column, read.access, Arc::default())?;
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

    fn piece(inputs: Range<usize>, shard: Option<(u32, u32)>) -> Piece {
        Piece { inputs, shard }
    }

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
        assert_eq!(
            divided(3),
            [
                piece(0..2, None),
                piece(2..3, Some((0, 3))),
                piece(2..3, Some((1, 3))),
                piece(2..3, Some((2, 3))),
                piece(3..4, None),
            ]
        );
        assert_eq!(divided(1), [piece(0..4, None)]);
        // No piece is smaller than a task is worth.
        assert_eq!(divided(1_000_000).len(), 7);
        let nothing = divide(&Inputs::default(), 4, &ReadOptions::default()).unwrap();
        assert_eq!(nothing, [piece(0..0, None)]);
    }
}
