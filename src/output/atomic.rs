//! A file that appears under its name when it is complete, and never before.
//!
//! What is written goes to a temporary file in the same directory, which is synced and then renamed. If the
//! run fails, is interrupted, or the program panics, the temporary file is removed and the name is untouched.

use crate::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file under construction.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    force: bool,
    out: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Begins a file that will be called `path`.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is such a file and `force` is false; [`Error::Write`] when none can be
    /// made in its directory.
    pub fn create(path: &Path, force: bool) -> Result<Self, Error> {
        let failed = |source| Error::Write {
            path: path.to_owned(),
            source,
        };
        if !force && path.symlink_metadata().is_ok() {
            return Err(Error::Exists {
                path: path.to_owned(),
            });
        }
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".lanefish-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file; the process's mask takes away what it must.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(directory).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            force,
            out: BufWriter::with_capacity(1 << 20, file),
        })
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts other bytes in place of the first ones.
    ///
    /// # Errors
    /// When writing fails.
    pub fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.flush()?;
        let file = self.out.get_mut();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytes)?;
        file.seek(SeekFrom::End(0)).map(drop)
    }

    /// Completes the file: written out, synced, renamed.
    ///
    /// # Errors
    /// [`Error::Write`] when the disk is full or the name cannot be taken; [`Error::Exists`] when somebody
    /// else has taken it meanwhile.
    pub fn commit(self) -> Result<(), Error> {
        let Self { path, force, out } = self;
        let failed = |source| Error::Write {
            path: path.clone(),
            source,
        };
        let file = out
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        let persisted = if force {
            file.persist(&path)
        } else {
            file.persist_noclobber(&path)
        };
        persisted.map_err(|error| {
            if error.error.kind() == io::ErrorKind::AlreadyExists {
                Error::Exists { path: path.clone() }
            } else {
                failed(error.error)
            }
        })?;
        // The new name is in the directory: that must be on disk too. Some systems cannot sync directories.
        if let Some(directory) = path.parent()
            && let Ok(directory) = File::open(directory)
        {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
