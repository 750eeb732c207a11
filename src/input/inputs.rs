//! The inputs of a run.

use super::{Source, zip};
use crate::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The inputs of a run, in order.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Inputs {
    /// The inputs.
    pub sources: Vec<Source>,
    /// Files of directories and zip archives that were skipped because their format is not supported.
    pub skipped: Vec<PathBuf>,
    /// Symbolic links in directories whose target is missing, or is a directory that contains the link. A run rejects
    /// them.
    pub broken: Vec<PathBuf>,
}

/// The files below a directory.
#[derive(Default)]
struct Files {
    /// Entry by entry, in the order of their names.
    files: Vec<PathBuf>,
    /// See [`Inputs::broken`].
    broken: Vec<PathBuf>,
}

impl Files {
    fn below(directory: &Path) -> Result<Self, Error> {
        let mut found = Self::default();
        found.add(directory, &mut Vec::new())?;
        Ok(found)
    }

    /// Adds the files of a directory. `above` has the directories that contain it, without links.
    fn add(&mut self, directory: &Path, above: &mut Vec<PathBuf>) -> Result<(), Error> {
        let failed = |source| Error::Open { path: Arc::from(directory), source };
        let entries = fs::read_dir(directory).map_err(failed)?.map(|entry| entry.map(|entry| entry.path()));
        let mut entries = entries.collect::<io::Result<Vec<_>>>().map_err(failed)?;
        entries.retain(|entry| {
            let name = entry.file_name().map_or(&b""[..], |name| name.as_encoded_bytes());
            !name.starts_with(b".") && !name.starts_with(b"_")
        });
        entries.sort();
        above.push(fs::canonicalize(directory).map_err(failed)?);
        for entry in entries {
            let failed = |source| Error::Open { path: Arc::from(entry.as_path()), source };
            match fs::metadata(&entry) {
                Ok(metadata) if metadata.is_file() => self.files.push(entry),
                Ok(metadata) if metadata.is_dir() => {
                    // It is a link then, and going on would not end.
                    if above.contains(&fs::canonicalize(&entry).map_err(failed)?) {
                        self.broken.push(entry);
                    } else {
                        self.add(&entry, above)?;
                    }
                }
                Ok(_) => {}
                Err(source) if source.kind() == io::ErrorKind::PermissionDenied => return Err(failed(source)),
                Err(_) => self.broken.push(entry),
            }
        }
        above.pop();
        Ok(())
    }
}

impl Inputs {
    /// Makes a list of these sources: files, `-` for standard input, bytes in memory.
    pub fn of<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Self {
        Self { sources: sources.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds the inputs of another list.
    pub fn append(&mut self, mut other: Self) {
        self.sources.append(&mut other.sources);
        self.skipped.append(&mut other.skipped);
        self.broken.append(&mut other.broken);
    }

    /// Resolves the names that the user gave. Files and `-` are kept. A directory is replaced by those files in it and
    /// in its subdirectories for which `supported` returns true, in the order of their names, directory by directory.
    /// Files and directories whose names begin with `.` or `_` are not part of a dataset: other programs keep their
    /// marks and indexes in them. Broken links are listed in [`Inputs::broken`]. A zip archive, also one in a
    /// directory, is replaced by its files in the same way; nested archives are skipped.
    ///
    /// # Errors
    /// If a name does not exist or cannot be read, a named archive is damaged, or a directory or archive has no
    /// supported file. These errors are found before any work is done. A damaged archive in a directory is reported
    /// when it is read.
    pub fn resolve(names: &[PathBuf], mut supported: impl FnMut(&Source) -> bool) -> Result<Self, Error> {
        let mut inputs = Self::default();
        for name in names {
            let path: Arc<Path> = Arc::from(name.as_path());
            let failed = |source| Error::Open { path: Arc::clone(&path), source };
            if name == Path::new("-") {
                inputs.sources.push(Source::from(path));
                continue;
            }
            if !fs::metadata(name).map_err(failed)?.is_dir() {
                // The user should not have to wait for an hour to learn that the last name is misspelled.
                if fs::metadata(name).map_err(failed)?.is_file() && zip::is_archive_file(&path)? {
                    let before = inputs.sources.len();
                    inputs.add_archive(&path, &mut supported)?;
                    if inputs.sources.len() == before {
                        return Err(Error::EmptyArchive { path });
                    }
                } else {
                    inputs.sources.push(Source::from(path));
                }
                continue;
            }
            let Files { files, mut broken } = Files::below(name)?;
            inputs.broken.append(&mut broken);
            let before = inputs.sources.len();
            for file in files {
                let file = Arc::from(file);
                // Errors in a file are reported when it is read.
                if zip::is_archive_file(&file).is_ok_and(|is_archive| is_archive)
                    && inputs.add_archive(&file, &mut supported).is_ok()
                {
                    continue;
                }
                let source = Source::from(file);
                if supported(&source) {
                    inputs.sources.push(source);
                } else {
                    inputs.skipped.push(source.name().to_path_buf());
                }
            }
            if inputs.sources.len() == before {
                return Err(Error::EmptyDirectory { path });
            }
        }
        Ok(inputs)
    }

    /// Adds the files of a zip archive.
    fn add_archive(&mut self, path: &Arc<Path>, supported: &mut impl FnMut(&Source) -> bool) -> Result<(), Error> {
        let zip::Listing { members, open } = zip::list(path)?;
        for (name, member) in members {
            let is_archive = zip::is_archive_name(&name);
            let source = Source::member(name, member);
            if !is_archive && supported(&source) {
                self.sources.push(source);
            } else {
                self.skipped.push(source.name().to_path_buf());
            }
        }
        drop(open);
        Ok(())
    }

    /// Checks that all inputs can be read more than once.
    ///
    /// # Errors
    /// If one of them is standard input, a pipe or a device.
    pub fn check_regular(&self) -> Result<(), Error> {
        match self.sources.iter().find(|source| source.is_read_once()) {
            Some(source) => Err(Error::Once { path: Arc::clone(source.name()) }),
            None => Ok(()),
        }
    }

    /// Total size of all inputs before decompression, or `None` if one has no size (a pipe).
    pub fn total_bytes(&self) -> Option<u64> {
        self.sources.iter().map(Source::len).sum()
    }
}
