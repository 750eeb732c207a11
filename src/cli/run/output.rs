//! The destination of results: standard output, or a file that appears whole or not at all.

use super::file_identity::Destination;
use crate::cli::terminal::closed_streams;
use anyhow::{Result, bail};
use lanefish::Error;
use lanefish::input::Compression;
use lanefish::output::compress::{Compressed, default_level, levels};
use lanefish::output::{AtomicFile, CompleteFile};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The destination of results, compressed or not.
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
    /// A file that has all of its bytes.
    Complete(CompleteFile),
    /// A device or a named pipe, which cannot be replaced.
    Special {
        path: PathBuf,
        out: BufWriter<File>,
    },
}

/// The compression of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packing {
    compression: Compression,
    level: i32,
}

impl Packing {
    /// The compression that follows from the file extension; the level must be in its range.
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

/// The compression for the file extension; standard output is not compressed.
fn compression_of(path: Option<&Path>) -> Option<Compression> {
    let path = path?;
    match Destination::of(Some(path)) {
        Destination::Stdout | Destination::Stderr => None,
        Destination::Stream(_) | Destination::File(_) => Compression::of_extension(path.extension()?.to_str()?),
    }
}

/// Large enough for few system calls, and so small that blocks and buffers of rows are written through.
const BUFFER: usize = 1 << 16;

/// The name in write errors: a file, or standard output.
#[derive(Clone, Debug)]
pub(crate) struct Named(Option<PathBuf>);

impl Named {
    /// The file, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
    pub(crate) fn failed(&self, source: io::Error) -> Error {
        match &self.0 {
            Some(path) => Error::Write { path: path.clone(), source },
            None => Error::Stdout { source },
        }
    }
}

/// Standard output, or an error if it is closed.
pub(crate) fn stdout() -> Result<io::StdoutLock<'static>, Error> {
    if closed_streams::stdout_is_closed() {
        let source = io::Error::other("it is closed");
        return Err(Error::Stdout { source });
    }
    Ok(io::stdout().lock())
}

impl Output {
    /// Opens a file, or standard output for `-` and for no name. Commands call the method of the invocation, which first
    /// checks whether the same place is already used.
    pub(crate) fn open(path: Option<&Path>, force: bool, packing: Option<Packing>, threads: usize) -> Result<Self> {
        let sink = Sink::open(path, force)?;
        let Some(Packing { compression, level }) = packing else {
            return Ok(Self::Plain(sink));
        };
        Ok(Self::Compressed { named: sink.named(), out: Box::new(Compressed::new(sink, compression, level, threads)?) })
    }

    /// Whether the file is compressed as a whole.
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

    /// Replaces the first bytes. Outputs that cannot be rewound, and compressed ones, are not changed.
    pub(crate) fn rewrite_start(&mut self, start: &[u8]) -> Result<(), Error> {
        let Self::Plain(Sink::File(file)) = self else { return Ok(()) };
        file.rewrite_start(start).map_err(|error| self.named().failed(error))
    }

    /// Writes bytes; errors name the output.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes).map_err(|error| self.named().failed(error))
    }

    /// Ends the compression, so that all bytes are written, and flushes the buffer.
    pub(crate) fn complete(self) -> Result<Sink, Error> {
        let named = self.named();
        let failed = |error| named.failed(error);
        let mut sink = match self {
            Self::Plain(sink) => sink,
            Self::Compressed { out, .. } => out.finish().map_err(failed)?,
        };
        sink.flush().map_err(failed)?;
        Ok(sink)
    }

    /// Completes and closes a file, so that only its name is missing, and any number of files can wait for theirs.
    pub(crate) fn close(self) -> Result<Self, Error> {
        Ok(Self::Plain(match self.complete()? {
            Sink::File(file) => Sink::Complete(file.complete()?),
            other => other,
        }))
    }

    /// Completes the files, then makes all of them appear under their names, or none.
    pub(crate) fn finish_all(outputs: impl IntoIterator<Item = Self>) -> Result<(), Error> {
        let mut files = Vec::new();
        for output in outputs {
            match output.complete()? {
                Sink::File(file) => files.push(file.complete()?),
                Sink::Complete(file) => files.push(file),
                Sink::Stdout(_) | Sink::Special { .. } => {}
            }
        }
        CompleteFile::commit_all(files)
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
            Self::Complete(file) => Some(file.path().to_owned()),
            Self::Special { path, .. } => Some(path.clone()),
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => file.write(bytes),
            Self::Complete(_) => Err(io::Error::other("the file is complete")),
            Self::Special { out, .. } => out.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
            Self::Complete(_) => Ok(()),
            Self::Special { out, .. } => out.flush(),
        }
    }
}
