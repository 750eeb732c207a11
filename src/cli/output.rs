//! Where results go: standard output, or a file that appears whole or not at all.

use super::args::OutputArgs;
use super::closed;
use super::places::Destination;
#[cfg(feature = "parquet")]
use super::table::TableKind;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use lanefish::Error;
use lanefish::formats::{Encoded, Encoder, Format, Writer};
use lanefish::input::Compression;
use lanefish::output::AtomicFile;
use lanefish::output::compress::{Compressed, default_level, levels};
use lanefish::output::csv::Csv;
use lanefish::output::jsonl::JsonLines;
use lanefish::output::rows::RowFormat;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Where results go, compressed or not.
#[derive(Debug)]
pub(crate) enum Output {
    Plain(Sink),
    Compressed { named: Named, out: Box<Compressed<Sink>> },
}

/// Standard output or a file.
#[derive(Debug)]
pub(crate) enum Sink {
    Stdout(BufWriter<io::StdoutLock<'static>>),
    File(AtomicFile),
    /// A device or a named pipe: nothing that could be replaced.
    Special {
        path: PathBuf,
        out: BufWriter<File>,
    },
}

/// How an output is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packing {
    compression: Compression,
    level: i32,
}

impl Packing {
    /// As the file extension says; the level is checked against the range of the compression.
    pub(crate) fn of(path: Option<&Path>, level: Option<i32>) -> Result<Option<Self>> {
        let Some(compression) = compression_of(path) else {
            if let Some(level) = level {
                bail!(
                    "--level {level}: the output is not compressed; it is where the name given with -o \
                     ends in .zst, .gz or .bz2"
                );
            }
            return Ok(None);
        };
        let levels = levels(compression);
        let level = level.unwrap_or(default_level(compression));
        if !levels.contains(&level) {
            bail!("--level {level}: {compression} has levels {} to {}", levels.start(), levels.end());
        }
        Ok(Some(Self { compression, level }))
    }
}

/// The compression that the file extension asks for; standard output is not compressed.
fn compression_of(path: Option<&Path>) -> Option<Compression> {
    let path = path?;
    match Destination::of(Some(path)) {
        Destination::Stdout | Destination::Stderr => None,
        Destination::Stream(_) | Destination::File(_) => Compression::of_extension(path.extension()?.to_str()?),
    }
}

/// The formats of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rows {
    /// A header line and comma-separated values
    Csv,
    /// One JSON object per line
    Jsonl,
    /// Parquet
    #[cfg(feature = "parquet")]
    Parquet,
    /// An Arrow file (IPC); also .feather
    #[cfg(feature = "parquet")]
    Arrow,
    /// An Arrow stream (IPC)
    #[cfg(feature = "parquet")]
    Arrows,
}

/// How rows are written: as text, or as a table.
pub(crate) enum RowOutput {
    Text(TextRows),
    #[cfg(feature = "parquet")]
    Table(TableKind),
}

/// The formats of rows that are text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextRows {
    Csv,
    Jsonl,
}

impl Rows {
    /// The format of an output: as given, or else inferred from the file name.
    pub(crate) fn of(format: Option<Self>, args: &OutputArgs) -> Result<Self> {
        if let Some(rows) = format {
            return Ok(rows);
        }
        let Some(path) = &args.output else {
            return Ok(Self::Csv);
        };
        match extension(path).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl" | "ndjson" | "json") => Ok(Self::Jsonl),
            #[cfg(feature = "parquet")]
            Some(extension) if let Some(kind) = TableKind::of_extension(extension) => Ok(match kind {
                TableKind::Parquet => Self::Parquet,
                TableKind::Arrow => Self::Arrow,
                TableKind::Arrows => Self::Arrows,
            }),
            _ => bail!(
                "cannot infer a format from '{}'; use {}, or pass --format",
                path.display(),
                match cfg!(feature = "parquet") {
                    true => ".csv, .jsonl, .parquet or .arrow",
                    false => ".csv or .jsonl",
                }
            ),
        }
    }

    /// How they are written.
    pub(crate) fn output(self) -> RowOutput {
        match self {
            Self::Csv => RowOutput::Text(TextRows::Csv),
            Self::Jsonl => RowOutput::Text(TextRows::Jsonl),
            #[cfg(feature = "parquet")]
            Self::Parquet => RowOutput::Table(TableKind::Parquet),
            #[cfg(feature = "parquet")]
            Self::Arrow => RowOutput::Table(TableKind::Arrow),
            #[cfg(feature = "parquet")]
            Self::Arrows => RowOutput::Table(TableKind::Arrows),
        }
    }
}

impl TextRows {
    pub(crate) fn format(self) -> &'static dyn RowFormat {
        match self {
            Self::Csv => &Csv,
            Self::Jsonl => &JsonLines,
        }
    }
}

/// The extension of a name without that of the compression: `csv` for `rows.csv.zst`.
pub(crate) fn extension(path: &Path) -> Option<String> {
    let lower = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    let last = lower(path)?;
    match Compression::of_extension(&last) {
        Some(_) => lower(Path::new(path.file_stem()?)),
        None => Some(last),
    }
}

/// Large enough for few system calls; buffers of rows are written through.
const BUFFER: usize = 1 << 18;

/// What write errors name: a file, or standard output.
#[derive(Clone, Debug)]
pub(crate) struct Named(Option<PathBuf>);

impl Named {
    pub(crate) fn failed(&self, source: io::Error) -> Error {
        match &self.0 {
            Some(path) => Error::Write { path: path.clone(), source },
            None => Error::Stdout { source },
        }
    }
}

/// Standard output, or an error where there is none.
pub(crate) fn stdout() -> Result<io::StdoutLock<'static>, Error> {
    if closed::stdout_is_closed() {
        let source = io::Error::other("it is closed");
        return Err(Error::Stdout { source });
    }
    Ok(io::stdout().lock())
}

impl Output {
    /// Opens a file, or standard output for `-` and for no name. Commands go through the session, which first checks
    /// whether the same place is already used.
    pub(crate) fn open(path: Option<&Path>, force: bool, packing: Option<Packing>, threads: usize) -> Result<Self> {
        let sink = Sink::open(path, force)?;
        let Some(Packing { compression, level }) = packing else {
            return Ok(Self::Plain(sink));
        };
        Ok(Self::Compressed { named: sink.named(), out: Box::new(Compressed::new(sink, compression, level, threads)?) })
    }

    /// Whether the file is compressed as a whole.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_compressed(&self) -> bool {
        matches!(self, Self::Compressed { .. })
    }

    /// Refuses to write bytes of this format to a terminal.
    pub(crate) fn refuse_terminal(&self, format: impl std::fmt::Display) -> Result<()> {
        if matches!(self, Self::Plain(Sink::Stdout(_))) && io::stdout().is_terminal() {
            bail!("{format} files are binary and not written to a terminal; use -o FILE");
        }
        Ok(())
    }

    /// The name that errors report.
    pub(crate) fn named(&self) -> Named {
        match self {
            Self::Plain(sink) => sink.named(),
            Self::Compressed { named, .. } => named.clone(),
        }
    }

    /// The file under construction, if it is one.
    pub(crate) fn file(&self) -> Option<&AtomicFile> {
        let sink = match self {
            Self::Plain(sink) => sink,
            Self::Compressed { out, .. } => out.get_ref(),
        };
        match sink {
            Sink::File(file) => Some(file),
            _ => None,
        }
    }

    /// Writes; errors name the place.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes).map_err(|error| self.named().failed(error))
    }

    /// Flushes the buffer, then makes the files appear under their names, all or none.
    pub(crate) fn finish_all(outputs: impl IntoIterator<Item = Self>) -> Result<(), Error> {
        let mut files = Vec::new();
        for output in outputs {
            let named = output.named();
            let failed = |error| named.failed(error);
            let mut sink = match output {
                Self::Plain(sink) => sink,
                Self::Compressed { out, .. } => out.finish().map_err(failed)?,
            };
            sink.flush().map_err(failed)?;
            if let Sink::File(file) = sink {
                files.push(file);
            }
        }
        AtomicFile::commit_all(files)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(sink) => sink.write(bytes),
            Self::Compressed { out, .. } => out.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(sink) => sink.flush(),
            Self::Compressed { out, .. } => out.flush(),
        }
    }
}

impl Sink {
    fn open(path: Option<&Path>, force: bool) -> Result<Self> {
        let special =
            |path: &Path, file| Self::Special { path: path.to_owned(), out: BufWriter::with_capacity(BUFFER, file) };
        match (Destination::of(path), path) {
            (Destination::Stdout, _) | (_, None) => Ok(Self::Stdout(BufWriter::with_capacity(BUFFER, stdout()?))),
            #[cfg(unix)]
            (Destination::Stderr, Some(path)) => {
                use std::os::fd::AsFd;
                let failed = |source| Error::Write { path: path.to_owned(), source };
                let stderr = io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
                Ok(special(path, stderr.into()))
            }
            (Destination::File(_), Some(path)) => {
                if fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
                    bail!("{} is a directory", path.display());
                }
                Ok(Self::File(AtomicFile::create(path, force)?))
            }
            (_, Some(path)) => {
                let failed = |source| Error::Write { path: path.to_owned(), source };
                // A file behind a descriptor may have content already.
                let append = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
                let mut options = OpenOptions::new();
                let options = options.write(true).append(append);
                Ok(special(path, options.open(path).map_err(failed)?))
            }
        }
    }

    /// The name that errors report.
    fn named(&self) -> Named {
        Named(match self {
            Self::Stdout(_) => None,
            Self::File(file) => Some(file.path().to_owned()),
            Self::Special { path, .. } => Some(path.clone()),
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => file.write(bytes),
            Self::Special { out, .. } => out.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
            Self::Special { out, .. } => out.flush(),
        }
    }
}

/// What records are converted to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Records(Format),
    #[cfg(feature = "parquet")]
    Table(TableKind),
}

impl Target {
    /// As given, or else inferred from the file name.
    pub(crate) fn of(to: Option<Self>, args: &OutputArgs) -> Result<Self> {
        #[cfg(feature = "parquet")]
        if to.is_none()
            && let Some(extension) = args.output.as_deref().and_then(extension)
            && let Some(kind) = TableKind::of_extension(&extension)
        {
            return Ok(Self::Table(kind));
        }
        let format = match to {
            Some(Self::Records(format)) => Some(format),
            #[cfg(feature = "parquet")]
            Some(table) => return Ok(table),
            None => None,
        };
        Ok(Self::Records(format_of(format, args, None)?))
    }
}

/// The format of an output: as given, or else inferred from the file name.
pub(crate) fn format_of(to: Option<Format>, args: &OutputArgs, default: Option<Format>) -> Result<Format> {
    if let Some(format) = to {
        return Ok(format);
    }
    let file = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    match (file, default) {
        (None, Some(default)) => Ok(default),
        (None, None) => bail!("the output has no format: name a file with -o, or pass --to FORMAT"),
        (Some(path), _) => Format::of_output(path).map_err(anyhow::Error::msg),
    }
}

/// Records on their way into an output of some format.
pub(crate) struct RecordOutput {
    named: Named,
    output: Output,
    /// What turns records into pieces for it.
    pub(crate) encoder: &'static dyn Encoder,
    writer: Box<dyn Writer>,
}

impl RecordOutput {
    /// Begins an output.
    pub(crate) fn new(format: Format, output: Output) -> Result<Self> {
        if !format.is_text() {
            output.refuse_terminal(format)?;
        }
        let encoder = format.encoder().with_context(|| format!("{format} can be read but not written"))?;
        let mut records = Self { named: output.named(), output, encoder, writer: encoder.writer() };
        let begun = records.writer.begin(&mut records.output);
        begun.map_err(|source| records.named.failed(source))?;
        Ok(records)
    }

    /// A piece, if the format can hold it.
    pub(crate) fn accept(&self, piece: io::Result<Encoded>) -> Result<Encoded, Error> {
        piece.map_err(|source| self.named.failed(source))
    }

    /// Writes the next finished piece.
    pub(crate) fn put(&mut self, piece: &Encoded) -> Result<(), Error> {
        let put = self.writer.put(piece, &mut self.output);
        put.map_err(|source| self.named.failed(source))
    }

    /// Completes the records; the output is still to be committed.
    pub(crate) fn finish(mut self) -> Result<Output, Error> {
        let failed = |source| self.named.failed(source);
        let start = self.writer.finish(&mut self.output).map_err(failed)?;
        // Outputs that cannot be rewound, and compressed ones, keep their first bytes.
        if let (Some(start), Output::Plain(Sink::File(file))) = (start, &mut self.output) {
            file.rewrite_start(&start).map_err(failed)?;
        }
        Ok(self.output)
    }
}
