//! Arrow files and streams.

use super::arrow::{record_batch, schema};
use super::column_descriptions::Described;
use super::row_blocks::RowBlock;
use super::schema_metadata;
use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

/// The two ways of writing record batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum IpcKind {
    /// With a directory of the batches at the end.
    File,
    /// One batch after the other.
    Stream,
}

/// Makes record batches of these columns.
#[derive(Debug)]
pub(crate) struct Ipc {
    columns: Arc<[Described]>,
    schema: SchemaRef,
    kind: IpcKind,
}

impl Ipc {
    /// For these columns.
    pub(crate) fn new(columns: impl Into<Arc<[Described]>>, kind: IpcKind) -> Self {
        let columns = columns.into();
        Self { schema: Arc::new(schema(&columns)), columns, kind }
    }
    /// The schema of all batches.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
    /// A block as a record batch.
    ///
    /// # Errors
    /// If a value is missing in a column that does not allow it.
    pub(crate) fn encode(&self, block: &RowBlock) -> io::Result<RecordBatch> {
        record_batch(&self.columns, &self.schema, block.columns()).map_err(other)
    }
    /// Begins a file.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn begin<W: Write>(&self, out: W) -> io::Result<IpcFile<W>> {
        let mut schema = self.schema.as_ref().clone();
        let columns = schema_metadata::of_columns(&schema.fields);
        let metadata = &mut schema.metadata;
        metadata.insert(schema_metadata::COLUMNS.to_owned(), columns);
        Ok(IpcFile(match self.kind {
            IpcKind::File => Writer::File(FileWriter::try_new(out, &schema).map_err(other)?),
            IpcKind::Stream => Writer::Stream(StreamWriter::try_new(out, &schema).map_err(other)?),
        }))
    }
}

/// A file or stream that is being written.
pub(crate) struct IpcFile<W: Write>(Writer<W>);

enum Writer<W: Write> {
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

impl<W: Write> fmt::Debug for IpcFile<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IpcFile")
    }
}

impl<W: Write> IpcFile<W> {
    /// Writes the next batch.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn put(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match &mut self.0 {
            Writer::File(file) => file.write(batch),
            Writer::Stream(stream) => stream.write(batch),
        }
        .map_err(other)
    }
    /// Ends it.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.0 {
            Writer::File(mut file) => file.finish(),
            Writer::Stream(mut stream) => stream.finish(),
        }
        .map_err(other)
    }
}

fn other(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}
