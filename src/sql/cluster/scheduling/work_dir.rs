//! The work directory of an executor: rows that tasks keep for later, removed at its end or, if it was killed, by the
//! next executor of the same machine that uses the same place. Other machines may use it as well, whose locks cannot
//! always be seen.

use crate::sql::SqlError;
use crate::sql::cluster::protocol::errors::machine;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The beginning of the names of this machine's work directories.
fn prefix() -> String {
    let machine = machine().replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    format!("lanefish-executor-{machine}-")
}

/// The file in a work directory that its executor keeps locked.
const LOCK: &str = "lock";
/// Age from which a directory without such a file was left behind by an executor that was killed when it began.
const BEGINNING: Duration = Duration::from_secs(60);

/// A work directory, which is removed when this is dropped.
#[derive(Debug)]
pub(in crate::sql::cluster) struct WorkDirectory {
    directory: TempDir,
    /// Locked as long as this process lives.
    _lock: File,
}

impl WorkDirectory {
    /// Creates one in this directory, or in the system's temporary directory, and removes those that were left there.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(in crate::sql::cluster) fn create(parent: Option<&Path>) -> Result<Self, SqlError> {
        let failed = |error| SqlError::Cluster(format!("cannot make a work directory: {error}"));
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        remove_left(&parent);
        let directory = tempfile::Builder::new().prefix(&prefix()).tempdir_in(&parent).map_err(failed)?;
        // It is locked before it has the name under which others look for it: an executor that begins at the same moment
        // would otherwise remove the directory. File systems without locks keep what is left.
        let unnamed = directory.path().join("lock.new");
        let lock = File::create(&unnamed).map_err(failed)?;
        let _ = lock.try_lock();
        fs::rename(&unnamed, directory.path().join(LOCK)).map_err(failed)?;
        fs::create_dir(directory.path().join("rows")).map_err(failed)?;
        Ok(Self { directory, _lock: lock })
    }

    /// The place for the engine's files.
    pub(in crate::sql::cluster) fn rows(&self) -> PathBuf {
        self.directory.path().join("rows")
    }
}

/// Removes the work directories whose executors do not live any more.
fn remove_left(parent: &Path) {
    let prefix = prefix();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix));
        if is_one && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_left(&entry.path()) {
            // Those of other users stay.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_left(directory: &Path) -> bool {
    match File::open(directory.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let age = fs::metadata(directory).and_then(|found| found.modified()).map(|modified| modified.elapsed());
            age.is_ok_and(|age| age.is_ok_and(|age| age > BEGINNING))
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let living = WorkDirectory::create(Some(parent.path())).unwrap();
        // An executor that was killed leaves its directory, and nobody has its lock.
        let left = parent.path().join(format!("{}left", prefix()));
        fs::create_dir_all(left.join("rows/job")).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        // One that has just begun has no lock yet.
        let new = parent.path().join(format!("{}new", prefix()));
        fs::create_dir(&new).unwrap();
        // Those of other machines and programs are theirs.
        for name in ["lanefish-executor-another.machine-left", "other"] {
            fs::create_dir(parent.path().join(name)).unwrap();
            fs::write(parent.path().join(name).join(LOCK), "").unwrap();
        }
        let next = WorkDirectory::create(Some(parent.path())).unwrap();
        assert!(!left.exists());
        assert!(living.rows().exists() && next.rows().exists() && new.exists());
        drop((living, next));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 3);
    }
}
