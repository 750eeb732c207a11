//! Records of any inputs as a file of any format: `convert` for programs.

use super::conversion::Conversion;
use super::table::{Table, TableFormat, TableRows};
use crate::columnar::{Compression as PageCompression, CompressionError};
use crate::error::Error;
use crate::formats::{Encoded, Format};
use crate::input::{Compression, Inputs};
use crate::output::AtomicFile;
use crate::output::compress::{Compressed, default_level};
use crate::pipeline::{RunOptions, Summary, run};
use crate::setters::setters;
use crate::table::Field;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What records are converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// A format of records.
    Records(Format),
    /// A table.
    Table(TableFormat),
}

/// How a file is written.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileOptions {
    /// Replace a file that exists.
    pub force: bool,
    /// The level of the compression that the name asks for, instead of its default.
    pub level: Option<i32>,
    /// Also write a column `fen` to a table.
    pub fen: bool,
}

setters!(FileOptions {
    force: bool,
    level: Option<i32>,
    fen: bool,
});

/// A file of records to be written.
///
/// ```
/// use lanefish::jobs::{FileOptions, RecordFile};
/// use lanefish::pipeline::RunOptions;
/// use lanefish::{input::Inputs, tiers::Tier};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("sample.boards");
/// let file = RecordFile::new(&path, None, FileOptions::default())?;
/// let inputs = Inputs::resolve(&["data/sample.epd".into()], |_| true)?;
/// let analyzer = Tier::best().analyzer().ok_or("every CPU runs the portable tier")?;
/// let (summary, _) = file.write(&inputs, RunOptions::new(analyzer));
/// assert!(summary.failure.is_none() && path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecordFile {
    path: PathBuf,
    target: Target,
    options: FileOptions,
}

impl Target {
    /// By its name on the command line, or else as the name of a file shows.
    ///
    /// # Errors
    /// If neither is a format that can be written: a message.
    pub fn of(name: Option<&str>, path: &Path) -> Result<Self, String> {
        let lower = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
        let Some(name) = name else {
            let table = lower(path).as_deref().and_then(TableFormat::of_extension);
            return match table {
                Some(table) => Ok(Self::Table(table)),
                None => Format::of_output(path).map(Self::Records),
            };
        };
        // Their names are those of their extensions.
        if let Some(table) = TableFormat::of_extension(name).filter(|_| name != "feather") {
            return Ok(Self::Table(table));
        }
        let format: Format = name.parse().map_err(|error| format!("{error}"))?;
        match format.is_writable() {
            true => Ok(Self::Records(format)),
            false => Err(format!("{format} can be read but not written")),
        }
    }

    /// The same with another compression of the pages of a Parquet file.
    ///
    /// # Errors
    /// If there is no such compression, or this is no Parquet file: a message.
    pub fn with_compression(self, compression: &str) -> Result<Self, String> {
        match self {
            Self::Table(TableFormat::Parquet(_)) => {
                let parsed: Result<PageCompression, CompressionError> = compression.parse();
                let parsed = parsed.map_err(|error| error.to_string())?;
                Ok(Self::Table(TableFormat::Parquet(parsed)))
            }
            _ => Err("compression of pages is for Parquet files; other files are compressed where their names end \
                 in .zst, .gz or .bz2"
                .to_owned()),
        }
    }
}

/// A file, compressed or not.
enum Out {
    Plain(AtomicFile),
    Compressed(Box<Compressed<AtomicFile>>),
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Compressed(out) => out.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Compressed(out) => out.flush(),
        }
    }
}

impl Out {
    fn commit(self, failed: impl Fn(io::Error) -> Error) -> Result<(), Error> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Compressed(out) => out.finish().map_err(failed)?,
        };
        file.commit()
    }
}

impl RecordFile {
    /// A file of this name, in the format that the name shows if there is no other.
    ///
    /// # Errors
    /// If there is no such format: a message.
    pub fn new(path: &Path, target: Option<Target>, options: FileOptions) -> Result<Self, String> {
        let target = match target {
            Some(target) => target,
            None => Target::of(None, path)?,
        };
        let compression = compression_of(path);
        match (target, compression) {
            (Target::Table(_), Some(_)) => {
                Err("tables are not compressed as a whole: name the file without the last extension".to_owned())
            }
            (Target::Table(TableFormat::Batches), _) => Err("record batches are no file".to_owned()),
            (Target::Records(_), _) if options.fen => Err("a column `fen` is for Parquet and Arrow files".to_owned()),
            (_, None) if options.level.is_some() => {
                Err("a level of compression is for files with names that end in .zst, .gz or .bz2".to_owned())
            }
            _ => Ok(Self { path: path.to_owned(), target, options }),
        }
    }

    /// Reads the inputs and writes the file, which appears only if nothing failed. Returns also how many records
    /// carried fields that the format cannot hold.
    pub fn write(&self, inputs: &Inputs, options: RunOptions<'_>) -> (Summary, BTreeMap<Field, u64>) {
        let mut lost = BTreeMap::new();
        let mut summary = Summary::default();
        let done = self.create(options.threads).and_then(|out| match self.target {
            Target::Records(format) => self.records(format, out, inputs, options, &mut summary, &mut lost),
            Target::Table(format) => self.table(format, out, inputs, options, &mut summary),
        });
        if let Err(error) = done {
            summary.failure.get_or_insert(error);
        }
        (summary, lost)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }

    fn create(&self, threads: usize) -> Result<Out, Error> {
        let file = AtomicFile::create(&self.path, self.options.force)?;
        let Some(compression) = compression_of(&self.path) else {
            return Ok(Out::Plain(file));
        };
        let level = self.options.level.unwrap_or(default_level(compression));
        let out = Compressed::new(file, compression, level, threads)?;
        Ok(Out::Compressed(Box::new(out)))
    }

    fn records(
        &self,
        format: Format,
        mut out: Out,
        inputs: &Inputs,
        options: RunOptions<'_>,
        summary: &mut Summary,
        lost: &mut BTreeMap<Field, u64>,
    ) -> Result<(), Error> {
        let failed = |source| self.failed(source);
        let Some(encoder) = format.encoder() else {
            return Err(failed(io::Error::other(format!("{format} can be read but not written"))));
        };
        let mut writer = encoder.writer();
        writer.begin(&mut out).map_err(failed)?;
        let job = Conversion::new(encoder);
        *summary = run(inputs, options, &job, |part| {
            for (&field, records) in &part.lost {
                *lost.entry(field).or_default() += records;
            }
            part.pieces().try_for_each(|piece: io::Result<Encoded>| {
                let piece = piece.map_err(failed)?;
                writer.put(&piece, &mut out).map_err(failed)?;
                job.reuse(piece);
                Ok(())
            })
        });
        if summary.failure.is_some() {
            return Ok(());
        }
        lost.retain(|_, records| *records > 0);
        if let Some(last) = job.finish().map_err(failed)? {
            writer.put(&last, &mut out).map_err(failed)?;
        }
        let start = writer.finish(&mut out).map_err(failed)?;
        // Compressed files keep their first bytes.
        if let (Some(start), Out::Plain(file)) = (start, &mut out) {
            file.rewrite_start(&start).map_err(failed)?;
        }
        out.commit(failed)
    }

    fn table(
        &self,
        format: TableFormat,
        mut out: Out,
        inputs: &Inputs,
        options: RunOptions<'_>,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let failed = |source| self.failed(source);
        let rows = TableRows::Records { fen: self.options.fen };
        let job = Table::new(rows, format);
        let mut file = job.begin(&mut out).map_err(failed)?;
        *summary = run(inputs, options, &job, |part| {
            part.blocks().try_for_each(|block| file.put(block.map_err(failed)?).map_err(failed))
        });
        if summary.failure.is_some() {
            return Ok(());
        }
        job.finish(file).map_err(failed)?;
        out.commit(failed)
    }
}

/// The compression that the name of a file asks for.
fn compression_of(path: &Path) -> Option<Compression> {
    Compression::of_extension(path.extension()?.to_str()?)
}
