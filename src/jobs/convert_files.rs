//! Writing the records of any inputs to a file of any format: `convert` for programs.

use super::OutputError;
use super::output_content::OutputContent;
use super::output_format::{Content, OutputFormat};
use super::write_job::{OutputSummary, WriteJob};
use crate::error::Error;
use crate::input::{Compression, Inputs};
use crate::option_setters::setters;
use crate::output::AtomicFile;
use crate::output::compress::{Compressed, default_level};
use crate::pipeline::{RunError, RunOptions, Summary, run_to_end};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options for writing a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileOptions {
    /// Replace an existing file.
    pub force: bool,
    /// The level of the compression that the name implies, instead of its default.
    pub level: Option<i32>,
    /// Also write a column `fen` to a table.
    pub fen: bool,
    /// Write the file even if some records are changed in a way that readers cannot detect.
    pub allow_loss: bool,
}

setters!(FileOptions {
    force: bool,
    level: Option<i32>,
    fen: bool,
    allow_loss: bool,
});

/// A file to which records will be written.
///
/// ```
/// use lanefish::jobs::{FileOptions, RecordFile};
/// use lanefish::pipeline::RunOptions;
/// use lanefish::{input::Inputs, tiers};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("sample.boards");
/// let file = RecordFile::new(&path, None, FileOptions::default())?;
/// let inputs = Inputs::open(["data/sample.epd"])?;
/// let (summary, _) = file.write(&inputs, RunOptions::new(tiers::best()))?;
/// assert!(summary.accepted() == 4098 && path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecordFile {
    path: PathBuf,
    format: OutputFormat,
    options: FileOptions,
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
    /// Prepares a file with this name. If no format is given, the name determines it.
    ///
    /// # Errors
    /// If there is no such format, or it cannot be written with these options.
    pub fn new(path: &Path, format: Option<OutputFormat>, options: FileOptions) -> Result<Self, OutputError> {
        let format = match format {
            Some(format) => format,
            None => OutputFormat::of_path(path, Content::Records)?,
        };
        WriteJob::new(OutputContent::Records { fen: options.fen }, format)?;
        match compression_of(path) {
            Some(_) if format.is_table() => Err(OutputError::CompressedTable),
            None if options.level.is_some() => Err(OutputError::NoCompression),
            _ => Ok(Self { path: path.to_owned(), format, options }),
        }
    }

    /// Reads the inputs and writes the file, which appears only if nothing failed. Also returns what was written: the number
    /// of records, and the losses, which are the fields that the format does not keep.
    ///
    /// # Errors
    /// If an input cannot be read, the file cannot be written, or records would be changed and
    /// [`FileOptions::allow_loss`] is not set.
    pub fn write(&self, inputs: &Inputs, options: RunOptions<'_>) -> Result<(Summary, OutputSummary), RunError> {
        let mut summary = Summary::default();
        let written = self.try_write(inputs, options, &mut summary).unwrap_or_else(|error| {
            summary.failure.get_or_insert(error);
            OutputSummary::default()
        });
        Ok((summary.into_result()?, written))
    }

    fn try_write(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        summary: &mut Summary,
    ) -> Result<OutputSummary, Error> {
        let failed = |source| Error::Write { path: self.path.clone(), source };
        let written = OutputContent::Records { fen: self.options.fen };
        let job = WriteJob::new(written, self.format)
            .map_err(|error| failed(io::Error::other(error)))?
            .allow_loss(self.options.allow_loss);
        let mut out = self.create(options.threads)?;
        let mut file = job.open(&mut out).map_err(failed)?;
        *summary = run_to_end(inputs, options, &job, |part| job.put(&mut file, part).map_err(failed));
        if summary.failure.is_some() {
            return Ok(OutputSummary::default());
        }
        let complete = job.finish(file).map_err(failed)?;
        // Compressed files keep their first bytes.
        if let (Some(start), Out::Plain(file)) = (&complete.start, &mut out) {
            file.rewrite_start(start).map_err(failed)?;
        }
        out.commit(failed)?;
        Ok(complete)
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
}

/// The compression that the name of a file implies.
fn compression_of(path: &Path) -> Option<Compression> {
    Compression::of_extension(path.extension()?.to_str()?)
}
