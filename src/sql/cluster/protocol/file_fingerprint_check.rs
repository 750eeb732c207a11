//! Whether a file of this machine is the one that the client saw: otherwise an executor says so instead of reading it.

use crate::input::{FileDifference, FileFingerprint};
use std::io;
use std::path::Path;

/// What the client sees of a file, if there are this many.
///
/// # Errors
/// If it cannot be read, or is not a regular file.
pub(in crate::sql::cluster) fn seen(path: &Path, files: usize) -> io::Result<FileFingerprint> {
    // Opening a pipe would wait.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("is not a regular file: a cluster reads only regular files"));
    }
    FileFingerprint::of(path, FileFingerprint::full_read_limit(files))
}

/// Checks that the file of this machine is the one that was seen.
///
/// # Errors
/// With the difference.
pub(in crate::sql::cluster) fn check(path: &Path, seen: &FileFingerprint) -> io::Result<()> {
    match seen.difference(path)? {
        None => Ok(()),
        Some(FileDifference::Length { here, seen }) => {
            Err(io::Error::other(format!("it has {here} bytes, and {seen} on the machine of the client")))
        }
        Some(FileDifference::Content) => {
            Err(io::Error::other("it has another content than on the machine of the client, of the same length"))
        }
    }
}
