//! Arrow data in memory as an input of a run.
//!
//! The batches are written once as an Arrow stream, which is read like one from a file. Whatever a run can do with a
//! file it can then do with them: rows that are games, conditions, shards, numbers of records.

use crate::columnar::COLUMNS;
use crate::error::Error;
use crate::input::Source;
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema};
use std::path::Path;
use std::sync::Arc;

/// Record batches with this schema as an input. Its name is in messages about bad records. The values are copied.
///
/// # Errors
/// If a batch has another schema, or a type that Arrow streams cannot have.
///
/// ```
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use lanefish::input::Inputs;
/// use lanefish::jobs::{Scan, ScanStep, source_of_batches};
/// use lanefish::{table::Columns, tiers};
/// use std::{sync::Arc, time::Duration};
///
/// // Each row is a game.
/// let moves: ArrayRef = Arc::new(StringArray::from(vec!["e2e4 e7e5", "d2d4"]));
/// let batch = RecordBatch::try_from_iter([("uci", moves)])?;
/// let source = source_of_batches("games", &batch.schema(), &[batch])?;
/// let mut scan = Scan::new(Inputs::of([source]), Columns::named("game,ply")?, tiers::best(), |options| options);
/// let mut rows = 0;
/// loop {
///     match scan.step(Duration::from_secs(1))? {
///         ScanStep::Batch(batch) => rows += batch.num_rows(),
///         ScanStep::Pending => {}
///         _ => break,
///     }
/// }
/// assert_eq!(rows, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn source_of_batches(name: impl AsRef<Path>, schema: &Schema, batches: &[RecordBatch]) -> Result<Source, Error> {
    let name = name.as_ref();
    let stream = stream_of(schema, batches);
    let stream = stream.map_err(|failed| Error::Columns { path: Arc::from(name), reason: failed.to_string() })?;
    Ok(Source::in_memory(name, stream))
}

fn stream_of(schema: &Schema, batches: &[RecordBatch]) -> Result<Vec<u8>, ArrowError> {
    // The list of columns with which a file was written protects that file. In memory, columns may be renamed.
    let mut schema = schema.clone();
    schema.metadata.remove(COLUMNS);
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    for batch in batches {
        if batch.schema_ref().fields() != schema.fields() {
            return Err(ArrowError::SchemaError("has batches of different columns".to_owned()));
        }
        writer.write(batch)?;
    }
    writer.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Inputs;
    use crate::jobs::Collect;
    use crate::pipeline::{RunOptions, run};
    use crate::tiers;
    use arrow_array::{ArrayRef, StringArray};

    /// A table that was read from a file of ours may have other columns by now.
    #[test]
    fn columns_may_be_renamed() {
        let moves: ArrayRef = Arc::new(StringArray::from(vec!["e2e4"]));
        let batch = RecordBatch::try_from_iter([("uci", moves)]).unwrap();
        let schema = Schema::clone(&batch.schema());
        let schema = schema.with_metadata([(COLUMNS.to_owned(), "moves:Utf8".to_owned())].into());
        let source = source_of_batches("data", &schema, &[batch]).unwrap();
        let summary = run(&Inputs::of([source]), RunOptions::new(tiers::best()), &Collect, |_| Ok(())).unwrap();
        assert_eq!((summary.records, summary.rejected), (2, 0));
    }
}
