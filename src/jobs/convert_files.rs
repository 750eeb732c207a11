//! Writing the records of any inputs to a file of any format: `convert` for programs.

use super::OutputError;
use super::output_content::OutputContent;
use super::output_file::{OutputFile, compression_of};
use super::output_format::{Content, OutputFormat};
use super::write_job::{OutputSummary, WriteJob, WritePart};
use crate::error::Error;
use crate::input::Inputs;
use crate::option_setters::setters;
use crate::output::AtomicFile;
use crate::pipeline::{RunError, RunOptions, Summary, run};
use std::io;
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
        self.write_by(inputs, options, |inputs, options, job, sink| run(inputs, options, job, sink))
    }

    /// The same, but `read` reads the inputs and runs the job, such as
    /// [`Shuffle::run`](crate::datasets::Shuffle::run).
    ///
    /// ```
    /// use lanefish::datasets::Shuffle;
    /// use lanefish::jobs::{FileOptions, RecordFile};
    /// use lanefish::pipeline::RunOptions;
    /// use lanefish::{input::Inputs, tiers};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let file = RecordFile::new(&directory.path().join("shuffled.boards"), None, FileOptions::default())?;
    /// let (inputs, shuffle) = (Inputs::open(["data/sample.epd"])?, Shuffle::default().seed(7));
    /// let (_, written) = file.write_by(&inputs, RunOptions::new(tiers::best()), |inputs, options, job, sink| {
    ///     shuffle.run(inputs, options, job, sink)
    /// })?;
    /// assert_eq!(written.records, 4098);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`write`](Self::write), and those of `read`.
    pub fn write_by(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        read: impl FnOnce(
            &Inputs,
            RunOptions<'_>,
            &WriteJob<'_>,
            &mut dyn FnMut(WritePart) -> Result<(), Error>,
        ) -> Result<Summary, RunError>,
    ) -> Result<(Summary, OutputSummary), RunError> {
        let (summary, mut written) = Self::write_all(&[self], inputs, options, |inputs, options, jobs, sink| {
            read(inputs, options, &jobs[0], &mut |part| sink(0, part))
        })?;
        Ok((summary, written.pop().unwrap_or_default()))
    }

    /// Writes several files in one run, all of which appear or none: `read` passes each part on with the number of its
    /// file, as [`Split::run`](crate::datasets::Split::run) does. Also returns what each file has.
    ///
    /// # Errors
    /// As for [`write`](Self::write), and those of `read`.
    pub fn write_all(
        files: &[&Self],
        inputs: &Inputs,
        options: RunOptions<'_>,
        read: impl FnOnce(
            &Inputs,
            RunOptions<'_>,
            &[WriteJob<'_>],
            &mut dyn FnMut(usize, WritePart) -> Result<(), Error>,
        ) -> Result<Summary, RunError>,
    ) -> Result<(Summary, Vec<OutputSummary>), RunError> {
        let begun = Self::begin(files, options.threads);
        let (jobs, mut outs) = begun.map_err(|error| RunError { error, summary: Box::default() })?;
        let mut open = Vec::new();
        for ((job, out), file) in jobs.iter().zip(&mut outs).zip(files) {
            let opened = job.open(out).map_err(|source| file.failed(source));
            open.push(opened.map_err(|error| RunError { error, summary: Box::default() })?);
        }
        let summary = read(inputs, options, &jobs, &mut |number, part| {
            jobs[number].put(&mut open[number], part).map_err(|source| files[number].failed(source))
        })?;
        let mut written = Vec::new();
        let finished = jobs.into_iter().zip(open).zip(files).try_for_each(|((job, open), file)| {
            written.push(job.finish(open).map_err(|source| file.failed(source))?);
            Ok(())
        });
        match finished.and_then(|()| Self::commit(files, outs, &written)) {
            Ok(()) => Ok((summary, written)),
            Err(error) => Err(RunError { error, summary: Box::new(summary) }),
        }
    }

    /// The jobs of files, and the files.
    fn begin(files: &[&Self], threads: usize) -> Result<(Vec<WriteJob<'static>>, Vec<OutputFile>), Error> {
        let job = |file: &&Self| {
            let job = WriteJob::new(OutputContent::Records { fen: file.options.fen }, file.format);
            let job = job.map_err(|error| file.failed(io::Error::other(error)))?;
            Ok(job.allow_loss(file.options.allow_loss))
        };
        let jobs = files.iter().map(job).collect::<Result<Vec<_>, Error>>()?;
        let outs = files.iter().map(|file| {
            let FileOptions { force, level, .. } = file.options;
            OutputFile::create(&file.path, force, level, threads)
        });
        Ok((jobs, outs.collect::<Result<_, Error>>()?))
    }

    /// Gives all files their names, or none.
    fn commit(files: &[&Self], outs: Vec<OutputFile>, written: &[OutputSummary]) -> Result<(), Error> {
        let mut complete = Vec::new();
        for ((written, out), file) in written.iter().zip(outs).zip(files) {
            let finished = out.finish(written.start.as_deref());
            complete.push(finished.map_err(|source| file.failed(source))?);
        }
        AtomicFile::commit_all(complete)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}
