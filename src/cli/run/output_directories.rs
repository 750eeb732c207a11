//! Directories for outputs: created before the work, and removed again if nothing was written into them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Directories that were created. When this value is dropped, those that are still empty are removed.
#[derive(Debug, Default)]
pub(crate) struct MadeDirectories(Vec<PathBuf>);

impl MadeDirectories {
    /// Creates a directory and its missing parents.
    pub(crate) fn make(&mut self, directory: &Path) -> io::Result<()> {
        let missing: Vec<_> =
            directory.ancestors().filter(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
        for path in missing.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => self.0.push(path.to_owned()),
                // Another process has created it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // This fails if the directory is not empty, as it should.
            let _ = fs::remove_dir(directory);
        }
    }
}
