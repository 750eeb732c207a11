//! Output in any format, shared by `convert`, `compute`, `games` and `generate`.

use super::invocation::{Invocation, RunOverrides, Timed};
use super::manifest::Manifests;
use super::output::{Named, Output};
use super::output_directories::MadeDirectories;
use crate::cli::arguments::command_scope::OUTPUT;
use crate::cli::arguments::common_args::{OutputArgs, Reading};
use crate::cli::arguments::row_format_arg::RowForm;
use crate::cli::terminal::progress;
use crate::cli::terminal::style;
use crate::cli::terminal::table::{NotShown, TableColumn, TableWriter};
use anyhow::{Context, Result, bail};
use clap::Args;
use lanefish::Error;
#[cfg(feature = "parquet")]
use lanefish::columnar::{Compression, ParquetPages};
use lanefish::formats::UnstoredTags;
use lanefish::input::Inputs;
use lanefish::jobs::{
    Content, OutputContent, OutputFormat, OutputSummary, Partition, RowDivision, WriteJob, WritePart,
};
use lanefish::pipeline::{RunError, RunOptions, Summary, run};
use lanefish_core::text::numbers::counted;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// How the pages of a Parquet file are written.
#[derive(Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// Compression of the pages of a Parquet file: zstd, snappy or none [default: zstd:1]
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "NAME[:LEVEL]", help_heading = OUTPUT, hide_short_help = true)]
    compression: Option<Compression>,

    /// Write Bloom filters of the columns `key` and `fen` to a Parquet file
    ///
    /// Readers that look for a single key or FEN, such as DuckDB, then skip the row groups that cannot have it. A filter takes
    /// one to two bytes for each value.
    #[cfg(feature = "parquet")]
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    bloom: bool,
}

/// Options of an output, in addition to its place and its format.
#[derive(Debug, Default, Args)]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    pages: PageArgs,

    /// Also write FILE.manifest.json: the inputs, the output, their records and hashes, the seed and the arguments
    ///
    /// Of several files it is one, beside the name that was given with -o.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) manifest: bool,
}

/// Options that divide the rows of a table.
#[derive(Debug, Default, Args)]
pub(crate) struct DivisionArgs {
    /// Write several files with this number of rows each; {n} in the name given with -o is their number, 00000 for the first
    ///
    /// For Parquet, Arrow, CSV and JSON lines. Each file is complete in itself; all of them appear, or none.
    #[arg(long, value_name = "N", requires = "output", help_heading = OUTPUT, hide_short_help = true)]
    rows_per_file: Option<NonZeroU64>,

    /// Write a file for each value of this column, in a folder COLUMN=value before the name given with -o
    ///
    /// For Parquet and Arrow, and up to 500 values. The column stays in the files.
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "COLUMN", requires = "output", help_heading = OUTPUT, hide_short_help = true)]
    partition_by: Option<String>,

    /// Rows of a row group of a Parquet file [default: 1,048,576; 131,072 with the moves of games, and in folders of values]
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "ROWS", help_heading = OUTPUT, hide_short_help = true)]
    row_group: Option<NonZeroU64>,
}

impl DivisionArgs {
    fn division(&self) -> RowDivision {
        #[cfg(feature = "parquet")]
        let (row_group, partition_by) = (self.row_group, self.partition_by.clone());
        #[cfg(not(feature = "parquet"))]
        let (row_group, partition_by) = (None, None);
        RowDivision::new(self.rows_per_file.map(NonZeroU64::get), row_group.map(NonZeroU64::get), partition_by)
    }
}

/// The place of the number in the names of several files.
const NUMBER: &str = "{n}";

/// Options of an output of whole records, in addition to its place and its format.
#[derive(Debug, Default, Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) write: WriteArgs,

    /// Write the output even if some records are changed in a way that readers cannot detect, such as removed Chess960
    /// castling rights
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) allow_loss: bool,
}

impl WriteArgs {
    /// The format with these options.
    pub(crate) fn apply(&self, format: OutputFormat) -> Result<OutputFormat> {
        self.pages.apply(format)
    }
}

impl PageArgs {
    /// The format with these pages.
    pub(crate) fn apply(&self, format: OutputFormat) -> Result<OutputFormat> {
        #[cfg(feature = "parquet")]
        return match (format, self.compression) {
            (OutputFormat::Parquet(pages), compression) => {
                let compression = compression.unwrap_or(pages.compression);
                Ok(OutputFormat::Parquet(ParquetPages::new(compression, self.bloom)))
            }
            (_, _) if self.bloom => bail!("--bloom is for Parquet files"),
            (format, None) => Ok(format),
            (_, Some(_)) => bail!(
                "--compression is for Parquet files; other outputs are compressed where their names end in .zst, \
                 .gz or .bz2"
            ),
        };
        #[cfg(not(feature = "parquet"))]
        Ok(format)
    }
}

/// The format of an output of whole records: as given, or else inferred from the file name.
pub(crate) fn format_of(given: Option<OutputFormat>, args: &OutputArgs) -> Result<OutputFormat> {
    match (given, args.output.as_deref()) {
        (Some(format), _) => Ok(format),
        (None, Some(path)) if path != Path::new("-") => Ok(OutputFormat::of_path(path, Content::Records)?),
        (None, _) => bail!("the output has no format: name a file with -o, or pass --to FORMAT"),
    }
}

/// The same for a command that reads these inputs, the last of which may be a name that was meant for the output.
pub(crate) fn format_beside(
    command: &str,
    given: Option<OutputFormat>,
    args: &OutputArgs,
    inputs: &[PathBuf],
) -> Result<OutputFormat> {
    let [.., last] = inputs else { return format_of(given, args) };
    if given.is_some() || args.output.is_some() || inputs.len() < 2 || last.exists() {
        return format_of(given, args);
    }
    let is_written = |content: &Content| OutputFormat::of_path(last, *content).is_ok();
    let Some(content) = [Content::Records, Content::Rows, Content::Games].into_iter().find(is_written) else {
        return format_of(given, args);
    };
    let (command, what) = match content {
        Content::Records => (command, ""),
        Content::Rows => ("compute", " (compute writes rows of columns)"),
        Content::Games => ("games", " (games copies whole games)"),
    };
    let names: Vec<String> = inputs[..inputs.len() - 1].iter().map(|name| name.display().to_string()).collect();
    bail!(
        "{last} does not exist, and an output is named with -o; did you mean `lanefish {command} {} -o {last}`?{what}",
        names.join(" "),
        last = last.display()
    )
}

/// Opens an output for this format.
pub(crate) fn open(invocation: &Invocation<'_>, args: &OutputArgs, format: OutputFormat) -> Result<Output> {
    let output = invocation.open_output(args)?;
    if format.is_table() && output.is_compressed() {
        bail!("{format} files are not compressed as a whole: name the file without the last extension");
    }
    if !format.is_text() {
        output.refuse_terminal(format)?;
    }
    Ok(output)
}

/// The processing of the parts of an output, in order.
pub(crate) type Sink<'a> = dyn FnMut(WritePart) -> Result<(), Error> + 'a;

/// The content of an output.
#[derive(Clone)]
pub(crate) struct OutputRequest<'a> {
    pub(super) place: &'a OutputArgs,
    pub(super) format: OutputFormat,
    pub(super) more: &'a WriteArgs,
    pub(super) allow_loss: bool,
    /// The columns of a table for people, whose rows come as CSV.
    pub(super) table: Option<Vec<TableColumn>>,
    pub(super) division: RowDivision,
}

impl<'a> OutputRequest<'a> {
    /// Rows or games, with these columns if they are a table for people.
    pub(crate) fn shown(
        place: &'a OutputArgs,
        shown: RowForm,
        columns: impl Iterator<Item = TableColumn>,
        more: &'a WriteArgs,
    ) -> Self {
        let (format, table) = match shown {
            RowForm::Table => (OutputFormat::Csv, Some(columns.collect())),
            RowForm::Rows(format) => (format, None),
        };
        Self { place, format, more, allow_loss: false, table, division: RowDivision::default() }
    }
    /// Whole records.
    pub(crate) fn records(place: &'a OutputArgs, format: OutputFormat, args: &'a RecordArgs) -> Self {
        let (more, allow_loss, division) = (&args.write, args.allow_loss, RowDivision::default());
        Self { place, format, more, allow_loss, table: None, division }
    }
}

impl OutputRequest<'_> {
    /// The same in several files, or row groups.
    pub(crate) fn divided(self, args: &DivisionArgs) -> Self {
        Self { division: args.division(), ..self }
    }
}

/// The destination of the bytes while an output is being written. If the output is not a file and may have to be
/// discarded as a whole, the bytes are held back.
enum Place<'a> {
    Output(&'a mut Output),
    PendingGame(File),
    /// Rows become a table for people.
    Table(TableWriter<&'a mut Output>),
}

impl<'a> Place<'a> {
    fn of(output: &'a mut Output, may_be_given_up: bool, directory: &Path) -> Result<Self, Error> {
        if !may_be_given_up || output.file().is_some() {
            return Ok(Self::Output(output));
        }
        let failed = |source| Error::Temporary { directory: directory.into(), written: 0, needed: None, source };
        tempfile::tempfile_in(directory).map(Self::PendingGame).map_err(failed)
    }
}

impl Write for Place<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Output(output) => output.write(bytes),
            Self::PendingGame(file) => file.write(bytes),
            Self::Table(table) => {
                // A terminal that shows the rows may show the progress as well.
                progress::clear();
                table.write(bytes)
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Output(output) => output.flush(),
            Self::PendingGame(file) => file.flush(),
            Self::Table(table) => table.flush(),
        }
    }
}

/// Reads inputs and writes the output.
pub(crate) fn write(
    invocation: &Invocation<'_>,
    read: (&[PathBuf], &Reading),
    written: OutputContent<'_>,
    wanted: OutputRequest<'_>,
) -> Result<u8> {
    let (done, _) =
        write_by(invocation, read, written, wanted, &[], |inputs, options, job, sink| run(inputs, options, job, sink))?;
    invocation.conclude(done)
}

/// Lets a function read the inputs, and writes the output. Returns the summary, which the caller reports, and the
/// number of records written. Some commands compare their inputs with other files.
pub(crate) fn write_by(
    invocation: &Invocation<'_>,
    (inputs, reading): (&[PathBuf], &Reading),
    written: OutputContent<'_>,
    OutputRequest { place, format, more, allow_loss, table, division }: OutputRequest<'_>,
    against: &[Arc<Path>],
    work: impl FnOnce(&Inputs, RunOptions<'_>, &WriteJob<'_>, &mut Sink<'_>) -> Result<Summary, RunError>,
) -> Result<(Timed, u64)> {
    let format = more.apply(format)?;
    let job = WriteJob::new(written, format)?.allow_loss(allow_loss).divided(division.clone())?;
    if division.has_files() {
        return write_files((invocation, more), (inputs, reading), (place, format), (job, &division), against, work);
    }
    if has_number(place) && !place.output.as_ref().is_some_and(|path| path.exists()) {
        bail!("{NUMBER} in the name given with -o is the number of a file of those that --rows-per-file writes");
    }
    invocation.prepare(inputs, reading)?;
    // These files are also still read while the output is written.
    let others: Vec<PathBuf> = against.iter().map(|path| path.to_path_buf()).collect();
    invocation.compare(place.output.as_deref(), &others)?;
    let mut output = open(invocation, place, format)?;
    let seed = reading.games.seed();
    let manifests = more.manifest.then(|| Manifests::begin(invocation, seed, against, [&output])).transpose()?;
    let named = output.named();
    let failed = |source| named.failed(source);
    let space = reading.space.beside(place.output.as_deref());
    // With a second file, the last record may be the one that does not fit.
    let may_be_given_up = job.can_change() && !allow_loss || reading.chosen.second().is_some();
    invocation.gives_up.set(output.file().is_some() || may_be_given_up);
    let mut table = table;
    let mut to = match table.take_if(|_| !may_be_given_up) {
        Some(columns) => Place::Table(TableWriter::new(&mut output, columns, invocation.style, style::width())),
        None => Place::of(&mut output, may_be_given_up, &space.directory)?,
    };
    let mut file = job.open(&mut to).map_err(failed)?;
    let done = invocation.read_by(inputs, reading, RunOverrides::default(), |inputs, options| {
        let options = options.space(space);
        work(inputs, options, &job, &mut |part| job.put(&mut file, part).map_err(failed))
    })?;
    let mut records = 0;
    if done.failure.is_none() {
        let complete = job.finish(file).map_err(failed)?;
        match to {
            Place::PendingGame(mut held) => {
                held.rewind().map_err(failed)?;
                if let Some(columns) = table {
                    let mut table = TableWriter::new(&mut output, columns, invocation.style, style::width());
                    io::copy(&mut held, &mut table).map_err(failed)?;
                    report_not_shown(invocation, table.finish().map_err(failed)?);
                } else {
                    io::copy(&mut held, &mut output).map_err(failed)?;
                }
            }
            Place::Table(table) => report_not_shown(invocation, table.finish().map_err(failed)?),
            Place::Output(_) => {}
        }
        records = complete.records;
        commit(invocation, vec![(output, format, &complete)], manifests.map(|manifests| (manifests, &done.summary)))?;
        report_losses(invocation, format, &complete, &done.summary.lost_tags);
    } else {
        drop(file);
        if let Place::Table(table) = to {
            // These are the rows before the failure; the failure is what is reported.
            let _ = table.finish();
        }
    }
    Ok((done, records))
}

fn has_number(place: &OutputArgs) -> bool {
    place.output.as_deref().is_some_and(|path| path.to_string_lossy().contains(NUMBER))
}

/// The files of one output. Each of them is closed before the next one of the same value is opened; all get their names at
/// the end.
struct OutputFiles<'a> {
    invocation: &'a Invocation<'a>,
    place: &'a OutputArgs,
    format: OutputFormat,
    /// With the value of its rows, and its number among the files of this value.
    complete: Vec<(Output, Option<Partition>, usize)>,
    /// The open file of each value, and the number of its files.
    open: BTreeMap<Option<Partition>, (Rc<RefCell<Output>>, usize)>,
    /// The file that was opened last, for errors.
    last: Option<Named>,
    directories: MadeDirectories,
    /// The error of a file, which is better than that of the format.
    failed: Option<anyhow::Error>,
}

/// An output that is being written elsewhere.
struct SharedOutput(Rc<RefCell<Output>>);

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

impl OutputFiles<'_> {
    /// Closes a file, of which there were this number so far.
    fn close(&mut self, open: Rc<RefCell<Output>>, partition: Option<Partition>, number: usize) -> Result<()> {
        let output = Rc::into_inner(open).context("a file is still being written")?;
        self.complete.push((output.into_inner().close()?, partition, number - 1));
        Ok(())
    }

    /// Closes the files that are open.
    fn close_all(&mut self) -> Result<()> {
        while let Some((partition, (open, number))) = self.open.pop_first() {
            self.close(open, partition, number)?;
        }
        Ok(())
    }

    /// Opens the next file.
    fn try_next(&mut self, partition: Option<&Partition>) -> Result<SharedOutput> {
        let key = partition.cloned();
        let number = match self.open.remove(&key) {
            Some((open, number)) => {
                self.close(open, key.clone(), number)?;
                number
            }
            None => 0,
        };
        let name = self.place.output.as_deref().unwrap_or(Path::new(""));
        let Some(name) = name.to_str() else { bail!("the name {} is not UTF-8", name.display()) };
        let mut path = PathBuf::from(name.replace(NUMBER, &format!("{number:05}")));
        if let Some(partition) = partition {
            let file = path.file_name().map(PathBuf::from).unwrap_or_default();
            let directory = path.parent().unwrap_or(Path::new("")).join(partition.folder());
            let failed = |source| Error::Write { path: directory.clone(), source };
            self.directories.make(&directory).map_err(failed)?;
            path = directory.join(file);
        }
        let args = OutputArgs { output: Some(path), level: self.place.level };
        let output = open(self.invocation, &args, self.format)?;
        if output.file().is_none() {
            bail!("several outputs have to be regular files");
        }
        self.last = Some(output.named());
        let output = Rc::new(RefCell::new(output));
        self.open.insert(key, (Rc::clone(&output), number + 1));
        Ok(SharedOutput(output))
    }

    fn next(&mut self, partition: Option<&Partition>) -> io::Result<SharedOutput> {
        self.try_next(partition).map_err(|error| {
            let message = error.to_string();
            self.failed = Some(error);
            io::Error::other(message)
        })
    }
}

/// Reads inputs and writes several files.
fn write_files(
    (invocation, more): (&Invocation<'_>, &WriteArgs),
    (inputs, reading): (&[PathBuf], &Reading),
    (place, format): (&OutputArgs, OutputFormat),
    (job, division): (WriteJob<'_>, &RowDivision),
    against: &[Arc<Path>],
    work: impl FnOnce(&Inputs, RunOptions<'_>, &WriteJob<'_>, &mut Sink<'_>) -> Result<Summary, RunError>,
) -> Result<(Timed, u64)> {
    if division.rows_per_file.is_some() && !has_number(place) {
        bail!("--rows-per-file: the name given with -o needs {NUMBER}, which stands for the number of a file");
    }
    invocation.prepare(inputs, reading)?;
    let others: Vec<PathBuf> = against.iter().map(|path| path.to_path_buf()).collect();
    invocation.compare(place.output.as_deref(), &others)?;
    let name = place.output.as_deref().unwrap_or(Path::new(""));
    // Dropped, and so removed if nothing is in it, after the temporary file of the manifest.
    let mut of_manifest = MadeDirectories::default();
    if let Some(directory) = name.parent().filter(|_| more.manifest && division.partition_by.is_some()) {
        of_manifest.make(directory).map_err(|source| Error::Write { path: directory.to_owned(), source })?;
    }
    let seed = reading.games.seed();
    let manifest = more.manifest.then(|| Manifests::begin_joint(invocation, seed, against, name)).transpose()?;
    let (complete, open, directories) = (Vec::new(), BTreeMap::new(), MadeDirectories::default());
    let mut files = OutputFiles { invocation, place, format, complete, open, last: None, directories, failed: None };
    let space = reading.space.beside(place.output.as_deref());
    invocation.gives_up.set(true);
    let failed = |files: &OutputFiles<'_>, source| match &files.last {
        Some(named) => named.failed(source),
        None => Error::Write { path: place.output.clone().unwrap_or_default(), source },
    };
    let opened = job.open_in(&mut |partition| files.next(partition));
    if let Some(error) = files.failed.take() {
        return Err(error);
    }
    let mut file = opened.map_err(|source| failed(&files, source))?;
    let done = invocation.read_by(inputs, reading, RunOverrides::default(), |inputs, options| {
        let options = options.space(space);
        work(inputs, options, &job, &mut |part| {
            job.put_in(&mut file, part, &mut |partition| files.next(partition)).map_err(|source| failed(&files, source))
        })
    });
    if let Some(error) = files.failed.take() {
        return Err(error);
    }
    let done = done?;
    let mut records = 0;
    if done.failure.is_none() {
        let finished = job.finish_in(file, &mut |partition| files.next(partition));
        if let Some(error) = files.failed.take() {
            return Err(error);
        }
        let complete = finished.map_err(|source| failed(&files, source))?;
        files.close_all()?;
        records = complete.records;
        let count = files.complete.len();
        let outputs = std::mem::take(&mut files.complete).into_iter();
        invocation.commit(match manifest {
            None => outputs.map(|(output, ..)| output).collect(),
            Some(manifest) => {
                let by_file = &complete.records_by_file;
                let outputs = outputs.map(|(output, partition, number)| {
                    let records = by_file.get(&partition).and_then(|files| files.get(number));
                    (output, format, records.copied().unwrap_or(0))
                });
                manifest.complete(invocation, &done.summary, outputs.collect())?
            }
        })?;
        if invocation.verbose() || io::stderr().is_terminal() {
            let (files, records) = (counted(count as u64, "file"), counted(records, "record"));
            invocation.note(format_args!("wrote {files}: {records}"));
        }
        report_losses(invocation, format, &complete, &done.summary.lost_tags);
    }
    Ok((done, records))
}

/// Reports what a table for people does not show.
fn report_not_shown(invocation: &Invocation<'_>, not_shown: NotShown) {
    let NotShown { columns, shown, cells } = not_shown;
    let mut parts = Vec::new();
    if shown < columns {
        parts.push(format!("shows {shown} of {columns} columns"));
    }
    if cells > 0 {
        parts.push(format!("cuts {}", counted(cells, "long value")));
    }
    if !parts.is_empty() {
        let parts = parts.join(" and ");
        invocation.note(format_args!("the table {parts}; a pipe or --format csv has everything"));
    }
}

/// Reports the fields that the output does not keep.
pub(crate) fn report_losses(
    invocation: &Invocation<'_>,
    format: OutputFormat,
    complete: &OutputSummary,
    tags: &UnstoredTags,
) {
    let lacking = complete.losses.lacking().map(|(what, records)| format!("{what} ({})", counted(records, "record")));
    let tags = (!tags.is_empty()).then(|| tags.to_string());
    let lacking: Vec<String> = lacking.chain(tags).collect();
    if !lacking.is_empty() {
        invocation
            .note(format_args!("{format} cannot store these fields, so they were dropped: {}", lacking.join(", ")));
    }
    let placeholders = complete.losses.placeholders();
    let placeholders: Vec<String> =
        placeholders.map(|(what, records)| format!("{what} ({})", counted(records, "record"))).collect();
    if !placeholders.is_empty() {
        invocation.note(format_args!("{format} has placeholders for missing values: {}", placeholders.join(", ")));
    }
    if let Some(note) = complete.losses.note_of_changes(format) {
        invocation.note(format_args!("{note}"));
    }
    if let Some(note) = complete.note_of_chains(format) {
        invocation.note(format_args!("{note}"));
    }
}

/// Makes complete outputs appear, with their final first bytes and their manifests.
pub(crate) fn commit(
    invocation: &Invocation<'_>,
    outputs: Vec<(Output, OutputFormat, &OutputSummary)>,
    manifests: Option<(Manifests, &Summary)>,
) -> Result<()> {
    let mut complete = Vec::new();
    let mut written_to = Vec::new();
    for (mut output, format, written) in outputs {
        written_to.push((output.named(), written.records));
        if let Some(start) = &written.start {
            output.rewrite_start(start)?;
        }
        complete.push((output, format, written.records));
    }
    let files = match manifests {
        Some((manifests, summary)) => manifests.complete(invocation, summary, complete)?,
        None => complete.into_iter().map(|(output, ..)| output).collect(),
    };
    invocation.commit(files)?;
    // Scripts know what they asked for; people want to see that it worked.
    if invocation.verbose() || io::stderr().is_terminal() {
        for (named, records) in &written_to {
            if let Some(path) = named.path() {
                invocation.note(format_args!("wrote {}: {}", path.display(), counted(*records, "record")));
            }
        }
    }
    Ok(())
}
