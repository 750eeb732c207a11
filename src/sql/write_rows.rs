//! Writing rows of any types to a file.

use super::arrow::array::{Array as _, ArrayRef, AsArray as _, RecordBatch, RecordBatchOptions, StringArray};
use super::arrow::compute::cast;
use super::arrow::csv::{Writer as CsvWriter, WriterBuilder as CsvBuilder};
use super::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use super::arrow::error::ArrowError;
use super::arrow::ipc::writer::{FileWriter, StreamWriter};
use super::arrow::json::writer::{LineDelimited, Writer as JsonWriter, WriterBuilder as JsonBuilder};
use crate::columnar::{Compression as PageCompression, IpcKind, ParquetPages, ROW_GROUP};
use crate::jobs::{OutputError, OutputFormat};
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

/// The rows with texts in place of lists, for CSV: the items with blanks between them.
fn lists_as_texts(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
        let Some(lists) = column.as_list_opt::<i32>() else {
            fields.push(Arc::clone(field));
            columns.push(Arc::clone(column));
            continue;
        };
        let items = cast(lists.values(), &DataType::Utf8)?;
        let items = items.as_string::<i32>();
        let text = |row: usize| {
            let (start, end) = (lists.value_offsets()[row] as usize, lists.value_offsets()[row + 1] as usize);
            let texts = (start..end).map(|item| if items.is_null(item) { "" } else { items.value(item) });
            lists.is_valid(row).then(|| texts.collect::<Vec<_>>().join(" "))
        };
        let texts: StringArray = (0..lists.len()).map(text).collect();
        fields.push(Arc::new(Field::new(field.name(), DataType::Utf8, field.is_nullable())));
        columns.push(Arc::new(texts) as ArrayRef);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
}

impl RowWriter {
    /// Begins a file of rows with this schema. Missing values are empty in CSV and null in JSON lines; lists have blanks
    /// between their items in CSV.
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
                csv.write(&lists_as_texts(&RecordBatch::new_empty(schema.clone())).map_err(other)?).map_err(other)?;
                Writer::Csv(Box::new(csv))
            }
            OutputFormat::JsonLines => {
                let builder = JsonBuilder::new().with_explicit_nulls(true);
                Writer::JsonLines(Box::new(builder.build(to)))
            }
            OutputFormat::Parquet(pages) => {
                let compression = match pages.compression {
                    PageCompression::None => Compression::UNCOMPRESSED,
                    PageCompression::Snappy => Compression::SNAPPY,
                    PageCompression::Zstd(level) => Compression::ZSTD(ZstdLevel::try_new(level.into()).map_err(other)?),
                };
                let mut properties = WriterProperties::builder()
                    .set_compression(compression)
                    .set_max_row_group_row_count(Some(ROW_GROUP));
                if pages.bloom_filters {
                    let filtered =
                        ParquetPages::FILTERED.into_iter().filter(|name| schema.field_with_name(name).is_ok());
                    let filtered: Vec<&str> = filtered.collect();
                    if filtered.is_empty() {
                        return Err(other(OutputError::NoFilteredColumn));
                    }
                    for name in filtered {
                        properties = properties.set_column_bloom_filter_enabled(name.into(), true);
                    }
                }
                let writer = ArrowWriter::try_new(to, schema.clone(), Some(properties.build()));
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
            Writer::Csv(csv) => lists_as_texts(rows).and_then(|rows| csv.write(&rows)).map_err(other),
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
