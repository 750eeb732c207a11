//! Where results go: standard output, or a file that appears whole or not at all.

use super::args::OutputArgs;
use super::closed;
use super::places::Destination;
use anyhow::{Result, bail};
use lanefish::Error;
use lanefish::batch::{Batch, Field, Fields};
use lanefish::formats::Format;
use lanefish::formats::boards::BoardsWriter;
use lanefish::output::AtomicFile;
use lanefish::output::text::write_line;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Standard output or a file.
#[derive(Debug)]
pub(crate) enum Output {
    Stdout(BufWriter<io::StdoutLock<'static>>),
    File(AtomicFile),
    /// A device or a pipe with a name: nothing that could be replaced.
    Special {
        path: PathBuf,
        out: BufWriter<File>,
    },
}

/// Fewer system calls; buffers of rows are written through.
const BUFFER: usize = 1 << 18;

/// What errors of writing tell of: a name, or standard output.
#[derive(Clone, Debug)]
pub(crate) struct Named(Option<PathBuf>);

impl Named {
    fn failed(&self, source: io::Error) -> Error {
        match &self.0 {
            Some(path) => Error::Write {
                path: path.clone(),
                source,
            },
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
    /// Opens a file, or standard output for `-` and nothing. Commands ask the session, which looks first
    /// whether the same place is something else.
    pub(crate) fn open(path: Option<&Path>, force: bool) -> Result<Self> {
        let special = |path: &Path, file| Self::Special {
            path: path.to_owned(),
            out: BufWriter::with_capacity(BUFFER, file),
        };
        match (Destination::of(path), path) {
            (Destination::Stdout, _) | (_, None) => {
                Ok(Self::Stdout(BufWriter::with_capacity(BUFFER, stdout()?)))
            }
            #[cfg(unix)]
            (Destination::Stderr, Some(path)) => {
                use std::os::fd::AsFd;
                let failed = |source| Error::Write {
                    path: path.to_owned(),
                    source,
                };
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
                let failed = |source| Error::Write {
                    path: path.to_owned(),
                    source,
                };
                // A file behind a descriptor may have content already.
                let append = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
                let mut options = OpenOptions::new();
                let options = options.write(true).append(append);
                Ok(special(path, options.open(path).map_err(failed)?))
            }
        }
    }

    /// What errors tell of.
    fn named(&self) -> Named {
        Named(match self {
            Self::Stdout(_) => None,
            Self::File(file) => Some(file.path().to_owned()),
            Self::Special { path, .. } => Some(path.clone()),
        })
    }

    /// Writes; errors know the place.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes)
            .map_err(|error| self.named().failed(error))
    }

    /// Writes out what is buffered, and then lets files appear under their names, all or none.
    pub(crate) fn finish_all(outputs: impl IntoIterator<Item = Self>) -> Result<(), Error> {
        let mut files = Vec::new();
        for mut output in outputs {
            output
                .flush()
                .map_err(|error| output.named().failed(error))?;
            if let Self::File(file) = output {
                files.push(file);
            }
        }
        AtomicFile::commit_all(files)
    }
}

impl Write for Output {
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

/// The format that an output is to have: as it is named, or as the file's name tells.
pub(crate) fn format_of(
    to: Option<&str>,
    args: &OutputArgs,
    default: Option<Format>,
) -> Result<Format> {
    if let Some(name) = to {
        return Ok(name.parse()?);
    }
    let file = args
        .output
        .as_deref()
        .filter(|path| path.as_os_str() != "-");
    match (file, default) {
        (None, Some(default)) => Ok(default),
        (None, None) => bail!("name a format with --to, or a file with -o"),
        (Some(path), _) => match Format::of_name(path) {
            Some(format) => Ok(format),
            None => bail!(
                "{}: the name tells no format; add --to FORMAT",
                path.display()
            ),
        },
    }
}

/// Records on their way into an output of some format.
#[derive(Debug)]
pub(crate) enum RecordOutput {
    Lines(Output),
    Boards {
        named: Named,
        writer: Box<BoardsWriter<Output>>,
    },
}

/// What a chunk of records becomes before it is written: text is made on all threads.
#[derive(Debug)]
pub(crate) enum Encoded {
    Lines { format: Format, text: Vec<u8> },
    Boards(Batch),
}

impl Encoded {
    pub(crate) fn new(format: Format) -> Self {
        match format == Format::BOARDS {
            true => Self::Boards(Batch::new()),
            false => Self::Lines {
                format,
                text: Vec::new(),
            },
        }
    }

    pub(crate) fn add(&mut self, batch: &Batch, rows: impl Iterator<Item = usize> + Clone) {
        match self {
            Self::Lines { format, text } => {
                rows.for_each(|row| write_line(*format, batch, row, text));
            }
            Self::Boards(all) => all.extend_from(batch, rows),
        }
    }
}

impl RecordOutput {
    /// Begins an output.
    pub(crate) fn new(format: Format, output: Output) -> Result<Self> {
        if format != Format::BOARDS {
            return Ok(Self::Lines(output));
        }
        if matches!(output, Output::Stdout(_)) && io::stdout().is_terminal() {
            bail!("boards files are binary and not written to a terminal; use -o FILE");
        }
        let named = output.named();
        let writer =
            BoardsWriter::new(output, Fields::ALL).map_err(|source| named.failed(source))?;
        Ok(Self::Boards {
            named,
            writer: Box::new(writer),
        })
    }

    /// Whether this field has a place in the format.
    pub(crate) fn holds(format: Format, field: Field) -> bool {
        format
            .about()
            .writes
            .is_some_and(|fields| fields.contains(field))
    }

    pub(crate) fn put(&mut self, encoded: &Encoded) -> Result<(), Error> {
        match (self, encoded) {
            (Self::Lines(output), Encoded::Lines { text, .. }) => output.put(text),
            (Self::Boards { named, writer }, Encoded::Boards(batch)) => writer
                .write(batch, 0..batch.len())
                .map_err(|source| named.failed(source)),
            _ => unreachable!("encoded for another output"),
        }
    }

    /// Completes the records; the output is still to be committed.
    pub(crate) fn finish(self) -> Result<Output, Error> {
        Ok(match self {
            Self::Lines(output) => output,
            Self::Boards { named, writer } => {
                let failed = |source| named.failed(source);
                let (mut output, finished) = writer.finish().map_err(failed)?;
                if let Output::File(file) = &mut output {
                    file.rewrite_start(&finished.header).map_err(failed)?;
                }
                output
            }
        })
    }
}
