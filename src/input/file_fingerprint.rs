//! Fingerprints: whether a file is the one that was seen earlier, or by another machine, without reading all of it.
//!
//! A file is recognized by its length and by a digest: of all its bytes if they are few, else of samples that are
//! spread evenly, with its beginning and end. A file that was copied halfway, is older, or has the same length by
//! chance differs in them; one that was changed in a few bytes on purpose may not, if it is large.

use super::source::Identity;
use crate::poisoned_locks::Unpoisoned;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

/// Size of a sample.
const SAMPLE: u64 = 64 << 10;
/// Minimum and maximum number of bytes up to which a file is read whole.
const WHOLE: (u64, u64) = (512 << 10, 64 << 20);
/// Maximum number of samples of a larger file.
const MOST_SAMPLES: u64 = 256;
/// Number of bytes that a client reads of all its files, or little more.
const ALL: u64 = 512 << 20;
/// Number of files whose digests a process remembers.
const REMEMBERED: usize = 1 << 16;

/// What was seen of a file.
///
/// ```
/// use lanefish::input::FileFingerprint;
/// use std::path::Path;
///
/// let sample = Path::new("data/sample.epd");
/// let seen = FileFingerprint::of(sample, FileFingerprint::full_read_limit(1))?;
/// assert_eq!(FileFingerprint::of_text(&seen.to_text()), Some(seen));
/// assert_eq!(seen.difference(sample)?, None);
/// assert!(seen.difference(Path::new("data/lichess-2025-05.pgn"))?.is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct FileFingerprint {
    len: u64,
    /// Number of bytes up to which it was read whole.
    whole: u64,
    digest: [u8; 16],
}

/// How a file differs from the one that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileDifference {
    /// It has another length.
    Length {
        /// Its number of bytes.
        here: u64,
        /// The number of bytes of the one that was seen.
        seen: u64,
    },
    /// It has another content, of the same length.
    Content,
}

impl FileFingerprint {
    /// What this process sees of a file, of which it reads at most this many bytes; see [`Self::full_read_limit`].
    ///
    /// # Errors
    /// If it cannot be read, or is not a regular file.
    pub fn of(path: &Path, whole: u64) -> io::Result<Self> {
        type Known = HashMap<(PathBuf, u64), (Identity, FileFingerprint)>;
        static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
        // Opening a pipe would wait.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("is not a regular file"));
        }
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let identity = Identity::of(&metadata);
        let key = (path.to_owned(), whole);
        if let Some((known, seen)) = KNOWN.lock().unpoisoned().get(&key)
            && *known == identity
        {
            return Ok(*seen);
        }
        let len = metadata.len();
        let seen = Self { len, whole, digest: digest(&mut file, len, whole)? };
        let mut known = KNOWN.lock().unpoisoned();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, (identity, seen));
        Ok(seen)
    }

    /// The number of bytes of the file.
    #[expect(clippy::len_without_is_empty, reason = "a file without bytes is a file")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// As text of letters, digits and points.
    pub fn to_text(self) -> String {
        let digest = u128::from_be_bytes(self.digest);
        format!("{}.{}.{digest:032x}", self.len, self.whole)
    }

    /// What [`FileFingerprint::to_text`] has made a text of.
    pub fn of_text(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (len, whole) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let digest = u128::from_str_radix(parts.next()?, 16).ok()?.to_be_bytes();
        Some(Self { len, whole, digest })
    }

    /// How a file differs from the one that was seen; `None` if it does not, as far as this can be seen.
    ///
    /// # Errors
    /// If it cannot be read, or is not a regular file.
    pub fn difference(&self, path: &Path) -> io::Result<Option<FileDifference>> {
        let here = Self::of(path, self.whole)?;
        Ok(match (here.len == self.len, here.digest == self.digest) {
            (false, _) => Some(FileDifference::Length { here: here.len, seen: self.len }),
            (true, false) => Some(FileDifference::Content),
            (true, true) => None,
        })
    }

    /// Number of bytes up to which files are read whole, if there are this many.
    pub fn full_read_limit(files: usize) -> u64 {
        (ALL / files.max(1) as u64).clamp(WHOLE.0, WHOLE.1)
    }
}

/// The digest of a file of this length.
fn digest(file: &mut File, len: u64, whole: u64) -> io::Result<[u8; 16]> {
    let mut hasher = blake3::Hasher::new();
    if len <= whole {
        hasher.update_reader(file.take(len))?;
    } else {
        let samples = (whole / SAMPLE).clamp(2, MOST_SAMPLES);
        let last = len - SAMPLE;
        for sample in 0..samples {
            // Both factors have at most 64 bits.
            let begin = u128::from(last) * u128::from(sample) / u128::from(samples - 1);
            file.seek(SeekFrom::Start(u64::try_from(begin).unwrap_or(last)))?;
            hasher.update_reader((&mut *file).take(SAMPLE))?;
        }
    }
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_recognized() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        for (len, whole) in [(0, 1 << 20), (1, 1 << 20), (1 << 20, 1 << 20), (3 << 20, 1 << 20), (40 << 20, 1 << 20)] {
            let mut bytes: Vec<u8> = (0..len).map(|at: usize| (at * 7 + at / 251) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            let seen = FileFingerprint::of(&path, whole).unwrap();
            assert_eq!(seen.len(), len as u64);
            assert_eq!(FileFingerprint::of_text(&seen.to_text()), Some(seen));
            let difference = |path: &Path| seen.difference(path).unwrap();
            assert_eq!(difference(&path), None);
            let other = directory.path().join("b");
            std::fs::write(&other, &bytes).unwrap();
            assert_eq!(difference(&other), None);
            bytes.push(0);
            std::fs::write(&other, &bytes).unwrap();
            let (here, before) = (len as u64 + 1, len as u64);
            assert_eq!(difference(&other), Some(FileDifference::Length { here, seen: before }));
            bytes.pop();
            for place in [0, len / 2, len.saturating_sub(1)] {
                // The middle of a large file is between two samples.
                if len == 0 || len > 1 << 20 && place == len / 2 {
                    continue;
                }
                bytes[place] ^= 1;
                std::fs::write(&other, &bytes).unwrap();
                assert_eq!(difference(&other), Some(FileDifference::Content), "{len} {place}");
                bytes[place] ^= 1;
            }
            // A copy that ended halfway in a file that has its length already.
            if len > 0 {
                bytes[len / 2..].fill(0xaa);
                std::fs::write(&other, &bytes).unwrap();
                assert_eq!(difference(&other), Some(FileDifference::Content), "{len}");
            }
        }
        assert!(FileFingerprint::of(directory.path(), 1).is_err());
        assert!(FileFingerprint::of(&directory.path().join("missing"), 1).is_err());
    }
}
