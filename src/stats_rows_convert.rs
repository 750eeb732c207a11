//! What the commands `stats`, `compute` and `convert` do, each in one call, with the same defaults.
//!
//! These functions open the inputs, choose the implementation for this CPU, use all cores, and start one of the
//! [`jobs`](crate::jobs). For progress, interruption, the lines of rejected records, or a job of your own, use
//! [`pipeline::run`](crate::pipeline::run).

use crate::error::Error;
use crate::formats::{self, Format};
use crate::input::Inputs;
use crate::jobs::{FileOptions, OutputContent, OutputFormat, OutputSummary, RecordFile, Statistics, WriteJob};
use crate::option_setters::setters;
use crate::output::SquareSetStyle;
use crate::pipeline::{ReadOptions, RunError, RunOptions, Summary, run};
use crate::report::Report;
use crate::stats::GroupBy;
use crate::table::Columns;
use crate::tiers;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options of [`stats`], [`rows`] and [`convert`].
///
/// ```
/// use lanefish::Options;
/// use lanefish::choose::Choose;
/// use lanefish::pipeline::ReadOptions;
///
/// let read = ReadOptions::default().choose(Choose::default().filter(Some("in_check".parse()?)));
/// let (report, _) = lanefish::stats(["data/sample.epd"], &Options::default().read(read))?;
/// assert_eq!(report.positions, report.position_counts.in_check);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Worker threads; by default one for each core.
    pub threads: Option<usize>,
    /// How inputs are read, and which records are chosen.
    pub read: ReadOptions,
    /// For [`stats`]: the report has [`Details`](crate::report::Details), which take longer.
    pub details: bool,
    /// For [`stats`]: the report also has one for each group of positions.
    pub by: Option<GroupBy>,
    /// For [`convert`]: how the file is written.
    pub file: FileOptions,
}

setters!(Options {
    threads: Option<usize>,
    read: ReadOptions,
    details: bool,
    by: Option<GroupBy>,
    file: FileOptions,
});

impl Options {
    fn inputs<P: AsRef<Path>>(&self, names: impl IntoIterator<Item = P>) -> Result<Inputs, Error> {
        Inputs::open_as(names, self.read.from, self.read.decode.fen_column.as_deref())
    }

    fn run<'a>(&self) -> RunOptions<'a> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        RunOptions::new(tiers::best()).threads(self.threads.unwrap_or_else(cores)).read(self.read.clone())
    }
}

impl Inputs {
    /// The inputs of these names, as the command line takes them: files, `-` for standard input, zip archives, and
    /// directories, of which the files that are in a supported format are read. [`Self::resolve`] decides by another
    /// function which files of a directory are read.
    ///
    /// # Errors
    /// If a name does not exist or cannot be read, or a directory or archive has no supported file.
    ///
    /// ```
    /// use lanefish::input::Inputs;
    ///
    /// assert_eq!(Inputs::open(["data/sample.epd", "data/perft.epd"])?.sources.len(), 2);
    /// # Ok::<(), lanefish::Error>(())
    /// ```
    pub fn open<P: AsRef<Path>>(names: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        Self::open_as(names, None, None)
    }

    /// Like [`Self::open`]. If a format is named, all files of directories have it; positions of tables may be in a column
    /// of this name.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn open_as<P: AsRef<Path>>(
        names: impl IntoIterator<Item = P>,
        from: Option<Format>,
        fen_column: Option<&str>,
    ) -> Result<Self, Error> {
        let names: Vec<PathBuf> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        match from {
            Some(_) => Self::resolve(&names, |_| true),
            None => Self::resolve(&names, |source| formats::is_supported_with(source, fen_column)),
        }
    }
}

/// The statistics of files of any format: the report of `lanefish stats`.
///
/// # Errors
/// If an input cannot be opened or read. Bad records are no error: the summary counts them.
///
/// ```
/// let (report, summary) = lanefish::stats(["data/sample.epd"], &lanefish::Options::default())?;
/// assert_eq!((report.positions, summary.rejected), (4098, 0));
/// println!("{:.1} legal moves on average", report.legal_moves.summary().mean.unwrap_or(0.0));
/// # Ok::<(), lanefish::RunError>(())
/// ```
pub fn stats<P: AsRef<Path>>(
    names: impl IntoIterator<Item = P>,
    options: &Options,
) -> Result<(Report, Summary), RunError> {
    let inputs = options.inputs(names)?;
    let mut job = Statistics::new();
    if options.read.shard.is_some() {
        job = job.of_a_part(&inputs);
    }
    if options.details {
        job = job.with_details();
    }
    if let Some(by) = &options.by {
        job = job.grouped_by(by.clone());
    }
    let summary = run(&inputs, options.run(), &job, |counted| job.add(counted))?;
    let report = job.finish(summary.rejected, options.read.decode.keep_en_passant)?;
    Ok((report, summary))
}

/// Writes columns of the records of files of any format, in any format of rows: the output of `lanefish compute`.
///
/// # Errors
/// If an input cannot be opened or read, the format does not hold rows, or writing fails.
///
/// ```
/// use lanefish::jobs::OutputFormat;
/// use lanefish::table::Columns;
///
/// let mut csv = Vec::new();
/// let columns = Columns::named("fen,legal_moves,in_check")?;
/// let summary = lanefish::rows(["data/sample.epd"], &columns, OutputFormat::Csv, &mut csv, &Default::default())?;
/// assert_eq!(csv.split(|&byte| byte == b'\n').count() as u64, 1 + summary.accepted() + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rows<P: AsRef<Path>>(
    names: impl IntoIterator<Item = P>,
    columns: &Columns,
    format: OutputFormat,
    mut to: impl Write,
    options: &Options,
) -> Result<Summary, RunError> {
    let failed = |source| Error::Write { path: PathBuf::from("rows"), source };
    let inputs = options.inputs(names)?;
    let job = WriteJob::new(OutputContent::Columns(columns, SquareSetStyle::Hex), format)
        .map_err(|wrong| failed(io::Error::other(wrong)))?;
    let mut file = job.open(&mut to).map_err(failed)?;
    let summary = run(&inputs, options.run(), &job, |part| job.put(&mut file, part).map_err(failed))?;
    job.finish(file).map_err(failed)?;
    Ok(summary)
}

/// Writes the records of files of any format to a file, whose name says in which format: what `lanefish convert` does.
/// The file appears whole or not at all. Also returns what was written: the number of records, and the fields that the
/// format does not keep.
///
/// # Errors
/// If an input cannot be opened or read, the file cannot be written, or records would be changed in a way that readers
/// cannot detect and [`FileOptions::allow_loss`] is not set.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let output = folder.path().join("sample.boards");
/// let (summary, written) = lanefish::convert(["data/sample.epd"], &output, &lanefish::Options::default())?;
/// assert_eq!((summary.accepted(), written.records), (4098, 4098));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert<P: AsRef<Path>>(
    names: impl IntoIterator<Item = P>,
    output: impl AsRef<Path>,
    options: &Options,
) -> Result<(Summary, OutputSummary), RunError> {
    let path = output.as_ref();
    let file = RecordFile::new(path, None, options.file.clone())
        .map_err(|wrong| Error::Write { path: path.to_owned(), source: io::Error::other(wrong) })?;
    let inputs = options.inputs(names)?;
    file.write(&inputs, options.run())
}
