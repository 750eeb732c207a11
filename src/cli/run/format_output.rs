//! Output in any format, shared by `convert`, `compute`, `games` and `generate`.

use super::invocation::{Invocation, RunOverrides, Timed};
use super::manifest::Manifests;
use super::output::Output;
use crate::cli::arguments::command_scope::OUTPUT;
use crate::cli::arguments::common_args::{OutputArgs, Reading};
use crate::cli::arguments::row_format_arg::RowForm;
use crate::cli::terminal::progress;
use crate::cli::terminal::style;
use crate::cli::terminal::table::{NotShown, TableColumn, TableWriter};
use anyhow::{Result, bail};
use clap::Args;
use lanefish::Error;
#[cfg(feature = "parquet")]
use lanefish::columnar::Compression;
use lanefish::formats::UnstoredTags;
use lanefish::input::Inputs;
use lanefish::jobs::{Content, OutputContent, OutputFormat, OutputSummary, WriteJob, WritePart};
use lanefish::pipeline::{RunError, RunOptions, Summary, run};
use lanefish_core::text::numbers::counted;
use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The compression of the pages of a Parquet file.
#[derive(Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// Compression of the pages of a Parquet file: zstd, snappy or none [default: zstd:1]
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "NAME[:LEVEL]", help_heading = OUTPUT, hide_short_help = true)]
    compression: Option<Compression>,
}

/// Options of an output, in addition to its place and its format.
#[derive(Debug, Default, Args)]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    pages: PageArgs,

    /// Also write FILE.manifest.json: the inputs, the output, their records and hashes, the seed and the arguments
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) manifest: bool,
}

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
    /// The format with this compression.
    pub(crate) fn apply(&self, format: OutputFormat) -> Result<OutputFormat> {
        #[cfg(feature = "parquet")]
        return match (format, self.compression) {
            (format, None) => Ok(format),
            (OutputFormat::Parquet(_), Some(compression)) => Ok(OutputFormat::Parquet(compression)),
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
    place: &'a OutputArgs,
    format: OutputFormat,
    more: &'a WriteArgs,
    allow_loss: bool,
    /// The columns of a table for people, whose rows come as CSV.
    table: Option<Vec<TableColumn>>,
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
        Self { place, format, more, allow_loss: false, table }
    }
    /// Whole records.
    pub(crate) fn records(place: &'a OutputArgs, format: OutputFormat, args: &'a RecordArgs) -> Self {
        Self { place, format, more: &args.write, allow_loss: args.allow_loss, table: None }
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
    OutputRequest { place, format, more, allow_loss, table }: OutputRequest<'_>,
    against: &[Arc<Path>],
    work: impl FnOnce(&Inputs, RunOptions<'_>, &WriteJob<'_>, &mut Sink<'_>) -> Result<Summary, RunError>,
) -> Result<(Timed, u64)> {
    let format = more.apply(format)?;
    let job = WriteJob::new(written, format)?.allow_loss(allow_loss);
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
