//! Writing rows of any types to a file.

use super::arrow::array::RecordBatch;
use super::arrow::csv::{Writer as CsvWriter, WriterBuilder as CsvBuilder};
use super::arrow::datatypes::SchemaRef;
use super::arrow::ipc::writer::{FileWriter, StreamWriter};
use super::arrow::json::writer::{LineDelimited, Writer as JsonWriter, WriterBuilder as JsonBuilder};
use crate::columnar::{Compression as PageCompression, IpcKind, ROW_GROUP};
use crate::jobs::OutputFormat;
use crate::poisoned_locks::Unpoisoned;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Writes rows.
pub struct RowWriter {
    writer: Writer,
    written: Written,
}

enum Writer {
    Csv(Box<CsvWriter<Written>>),
    JsonLines(Box<JsonWriter<Written, LineDelimited>>),
    Parquet(Box<ArrowWriter<Written>>),
    Arrow(Box<FileWriter<Written>>),
    ArrowStream(Box<StreamWriter<Written>>),
}

/// The bytes that the writer of a format has written, until they are passed on. It is needed because writers own their
/// outputs.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unpoisoned().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn pass_on(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut written = self.0.lock().unpoisoned();
        out.write_all(&written)?;
        written.clear();
        Ok(())
    }
}

impl fmt::Debug for RowWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowWriter").finish_non_exhaustive()
    }
}

fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::other(error)
}

impl RowWriter {
    /// Begins a file of rows with this schema. Missing values are empty in CSV and null in JSON lines.
    ///
    /// # Errors
    /// If writing fails, or the format cannot hold values of these types.
    pub fn new(format: OutputFormat, schema: &SchemaRef, out: &mut dyn Write) -> io::Result<Self> {
        let written = Written::default();
        let to = written.clone();
        let writer = match format {
            OutputFormat::Csv => {
                let mut csv = CsvBuilder::new().with_header(true).build(to);
                // The header, also if there are no rows.
                csv.write(&RecordBatch::new_empty(schema.clone())).map_err(other)?;
                Writer::Csv(Box::new(csv))
            }
            OutputFormat::JsonLines => {
                let builder = JsonBuilder::new().with_explicit_nulls(true);
                Writer::JsonLines(Box::new(builder.build(to)))
            }
            OutputFormat::Parquet(compression) => {
                let compression = match compression {
                    PageCompression::None => Compression::UNCOMPRESSED,
                    PageCompression::Snappy => Compression::SNAPPY,
                    PageCompression::Zstd(level) => Compression::ZSTD(ZstdLevel::try_new(level.into()).map_err(other)?),
                };
                let properties = WriterProperties::builder()
                    .set_compression(compression)
                    .set_max_row_group_row_count(Some(ROW_GROUP))
                    .build();
                let writer = ArrowWriter::try_new(to, schema.clone(), Some(properties));
                Writer::Parquet(Box::new(writer.map_err(other)?))
            }
            OutputFormat::Arrow(IpcKind::File) => {
                Writer::Arrow(Box::new(FileWriter::try_new(to, schema).map_err(other)?))
            }
            OutputFormat::Arrow(IpcKind::Stream) => {
                Writer::ArrowStream(Box::new(StreamWriter::try_new(to, schema).map_err(other)?))
            }
            OutputFormat::Pgn => {
                return Err(other(format!("{format} holds games, not rows")));
            }
            OutputFormat::Records(format) => {
                return Err(other(format!("{format} holds whole records, not rows")));
            }
        };
        written.pass_on(out)?;
        Ok(Self { writer, written })
    }

    /// Writes rows.
    ///
    /// # Errors
    /// If writing fails.
    pub fn put(&mut self, rows: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        match &mut self.writer {
            Writer::Csv(csv) => csv.write(rows).map_err(other),
            Writer::JsonLines(json) => json.write(rows).map_err(other),
            Writer::Parquet(parquet) => parquet.write(rows).map_err(other),
            Writer::Arrow(arrow) => arrow.write(rows).map_err(other),
            Writer::ArrowStream(arrow) => arrow.write(rows).map_err(other),
        }?;
        self.written.pass_on(out)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        match self.writer {
            Writer::Csv(csv) => drop(csv),
            Writer::JsonLines(mut json) => json.finish().map_err(other)?,
            Writer::Parquet(parquet) => parquet.close().map(drop).map_err(other)?,
            Writer::Arrow(mut arrow) => arrow.finish().map_err(other)?,
            Writer::ArrowStream(mut arrow) => arrow.finish().map_err(other)?,
        }
        self.written.pass_on(out)
    }
}
