//! A file that appears under its name only when it is complete.
//!
//! Data is written to a temporary file in the same directory, which is synced and then renamed. If the run fails or is
//! interrupted, or the program panics, the temporary file is removed and the name is untouched. All files of a run get
//! their names together, or none does ([`AtomicFile::commit_all`]).
//!
//! A temporary file is called `.NAME.PROCESS-XXXXXX.lanefish.part`. Leftovers (after a power failure, or if the process
//! was killed) are found by that name: [`AtomicFile::leftovers`].

use super::temp_registry::{self, Files, Known};
use crate::error::Error;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// A file under construction.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    /// The name after following symbolic links.
    target: PathBuf,
    force: bool,
    out: BufWriter<NamedTempFile>,
    known: Known,
}

/// Bytes that are collected before they are written. Blocks and buffers of rows are larger, and therefore not copied.
const BUFFER: usize = 1 << 16;
/// The suffix of the names of temporary files.
const SUFFIX: &str = ".lanefish.part";
/// Maximum number of bytes of the final name in the temporary name, so that it stays below the limit of 255.
const NAME: usize = 180;
/// Number of symbolic links that are followed, as on Linux.
const LINKS: usize = 40;

impl AtomicFile {
    /// Begins a file that will be called `path`. With `force` an existing file is replaced: the new file keeps its
    /// permissions and, if this process may set it, its owner. If `path` is a symbolic link, its target is replaced.
    ///
    /// # Errors
    /// [`Error::Exists`] if the file exists and `force` is false; [`Error::Write`] if no file can be created in its
    /// directory.
    pub fn create(path: &Path, force: bool) -> Result<Self, Error> {
        let failed = |source| Error::Write { path: path.to_owned(), source };
        if !force && path.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: path.to_owned() });
        }
        let target = follow(path).map_err(failed)?;
        let mut prefix = OsString::from(".");
        if let Some(name) = target.file_name() {
            prefix.push(beginning(name.to_string_lossy().as_ref()));
        }
        prefix.push(format!(".{}-", std::process::id()));
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The mode of any new file; the umask of the process applies.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut files = temp_registry::lock();
        let file = builder.tempfile_in(directory_of(&target)).map_err(without_temporary_name).map_err(failed)?;
        let known = Known::new(&mut files, file.path());
        drop(files);
        if let Ok(old) = fs::metadata(&target) {
            keep_mode(&old, file.as_file()).map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), target, force, out: BufWriter::with_capacity(BUFFER, file), known })
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The temporary file that has the bytes until then.
    pub fn temporary_path(&self) -> &Path {
        self.out.get_ref().path()
    }

    /// Reads the bytes that it has so far, from the first one on.
    ///
    /// # Errors
    /// If writing or opening the file fails.
    pub fn reader(&mut self) -> io::Result<File> {
        self.out.flush()?;
        File::open(self.temporary_path())
    }

    /// Overwrites the first bytes.
    ///
    /// # Errors
    /// If writing fails.
    pub fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.flush()?;
        let file = self.out.get_mut();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytes)?;
        file.seek(SeekFrom::End(0)).map(drop)
    }

    /// Completes the file: flushed, synced, renamed.
    ///
    /// # Errors
    /// [`Error::Write`] if the disk is full or the file cannot be renamed; [`Error::Exists`] if another process has
    /// created a file of that name in the meantime.
    pub fn commit(self) -> Result<(), Error> {
        Self::commit_all([self])
    }

    /// Completes several files: all are flushed and synced before the first gets its name. If one cannot be renamed,
    /// the earlier ones are undone, as far as the system allows (always for files that replace nothing).
    ///
    /// # Errors
    /// As for [`AtomicFile::commit`].
    pub fn commit_all(files: impl IntoIterator<Item = Self>) -> Result<(), Error> {
        let complete = files.into_iter().map(Self::complete).collect::<Result<Vec<_>, Error>>()?;
        CompleteFile::commit_all(complete)
    }

    /// Flushes, syncs and closes the file; only the name is missing afterwards.
    ///
    /// # Errors
    /// [`Error::Write`] if the disk is full.
    pub fn complete(self) -> Result<CompleteFile, Error> {
        let Self { path, target, force, out, known } = self;
        let failed = |source| Error::Write { path: path.clone(), source };
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        Ok(CompleteFile { path, target, force, file: file.into_temp_path(), known })
    }

    /// Temporary files in the directory of `path` left by a process that no longer exists. Detection works only on
    /// the same machine and as long as the process id has not been reused.
    pub fn leftovers(path: &Path) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(directory_of(path)) else {
            return Vec::new();
        };
        let mut found: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| process_of(path).is_some_and(|process| !is_running(process)))
            .collect();
        found.sort();
        found
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

/// The reason why a temporary file cannot be created, without its name, which means nothing to the user.
fn without_temporary_name(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((reason, _)) if error.get_ref().is_some() => io::Error::new(error.kind(), reason.to_owned()),
        _ => error,
    }
}

/// A file that is written, synced and closed: only the name is missing. Any number of them can wait.
#[derive(Debug)]
pub struct CompleteFile {
    path: PathBuf,
    target: PathBuf,
    force: bool,
    file: TempPath,
    known: Known,
}

/// A renamed file, and how to undo the renaming.
struct Placed {
    path: PathBuf,
    target: PathBuf,
    undo: Undo,
}

enum Undo {
    /// There was no file of that name.
    Remove,
    /// The replaced file now has the temporary name, and is removed on drop.
    Exchange(TempPath),
    /// The replaced file is gone.
    Nothing,
}

impl CompleteFile {
    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file.
    ///
    /// # Errors
    /// If opening it fails.
    pub fn reader(&self) -> io::Result<File> {
        File::open(&self.file)
    }

    /// Gives several files their names, as [`AtomicFile::commit_all`].
    ///
    /// # Errors
    /// As for [`AtomicFile::commit`].
    pub fn commit_all(files: impl IntoIterator<Item = Self>) -> Result<(), Error> {
        let complete: Vec<Self> = files.into_iter().collect();
        let alone = complete.len() == 1;
        let mut known = temp_registry::lock();
        let mut placed = Vec::with_capacity(complete.len());
        let mut outcome = Ok(());
        let mut files = complete.into_iter();
        for file in &mut files {
            match file.place(alone, &mut known) {
                Ok(one) => placed.push(one),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        // The files that have not been renamed.
        for file in files {
            file.known.forget(&mut known);
        }
        if outcome.is_ok() {
            outcome = sync_directories(&placed);
        }
        if outcome.is_err() {
            for one in placed.into_iter().rev() {
                one.undo();
            }
        }
        outcome
    }

    fn place(self, alone: bool, files: &mut Files) -> Result<Placed, Error> {
        let Self { path, target, force, file, known } = self;
        let failed = |source| Error::Write { path: path.clone(), source };
        let replaces = force && target.symlink_metadata().is_ok();
        // `Err` keeps the temporary file, if another file has the name and is to be replaced.
        let created = if replaces {
            Err(file)
        } else {
            match file.persist_noclobber(&target) {
                Ok(_) => Ok(Ok(Undo::Remove)),
                // Another process has just created it.
                Err(error) if force && error.error.kind() == io::ErrorKind::AlreadyExists => Err(error.path),
                Err(error) => Ok(Err(error.error)),
            }
        };
        let placed = created.unwrap_or_else(|file| {
            if !alone && exchange(&file, &target).is_ok() {
                return Ok(Undo::Exchange(file));
            }
            file.persist(&target).map(|_| Undo::Nothing).map_err(|error| error.error)
        });
        known.forget(files);
        let undo = placed.map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                Error::Exists { path: path.clone() }
            } else {
                failed(error)
            }
        })?;
        Ok(Placed { path, target, undo })
    }
}

impl Placed {
    fn undo(self) {
        // Nothing more can be done if this fails as well.
        let _ = match self.undo {
            Undo::Remove => fs::remove_file(&self.target),
            Undo::Exchange(old) => exchange(&old, &self.target),
            Undo::Nothing => Ok(()),
        };
    }
}

/// Makes the new names durable by syncing their directories, where the system supports it.
fn sync_directories(placed: &[Placed]) -> Result<(), Error> {
    for one in placed {
        let Ok(directory) = File::open(directory_of(&one.target)) else {
            continue;
        };
        match directory.sync_all() {
            Err(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
                ) =>
            {
                return Err(Error::Write { path: one.path.clone(), source: error });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Exchanges the names of two files.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (one, other);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Copies the permissions and owner of the replaced file to the new one.
fn keep_mode(old: &Metadata, new: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let own = new.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            // Only root may change the owner; failure is ignored.
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        }
        new.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
    }
    #[cfg(not(unix))]
    {
        let _ = (old, new);
        Ok(())
    }
}

/// The name at the end of a chain of symbolic links.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if !path.symlink_metadata().is_ok_and(|link| link.is_symlink()) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = directory_of(&path).join(target);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// As much of the name as fits, in whole characters.
fn beginning(name: &str) -> &str {
    let mut len = name.len().min(NAME);
    while !name.is_char_boundary(len) {
        len -= 1;
    }
    &name[..len]
}

/// The process that a temporary file belongs to; `None` if it is not a temporary file.
fn process_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_prefix('.')?.strip_suffix(SUFFIX)?;
    let (_, last) = name.rsplit_once('.')?;
    last.split_once('-')?.0.parse().ok()
}

fn is_running(process: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, test_kill_process};
        let process = i32::try_from(process).ok().and_then(Pid::from_raw);
        process.is_some_and(|process| !matches!(test_kill_process(process), Err(rustix::io::Errno::SRCH)))
    }
    #[cfg(not(unix))]
    {
        // This cannot be known on this system, so no leftovers are reported.
        let _ = process;
        true
    }
}
