//! One of the inputs of a run.

use super::zip::Member;
use super::{Access, Bytes};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One of the inputs of a run: its name, by which messages call it, and where its bytes are.
///
/// ```
/// use lanefish::input::{Inputs, Source};
/// use lanefish::jobs::PositionReader;
/// use lanefish::pipeline::ReadOptions;
///
/// let text = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n".to_vec();
/// let inputs = Inputs::of([Source::in_memory("start.fen", text)]);
/// let reader = PositionReader::new(inputs, ReadOptions::default(), 1)?;
/// assert_eq!(reader.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<Path>,
    place: Place,
}

/// Where the bytes are.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In the file of this name, or standard input (`-`).
    File,
    /// In memory.
    Memory(Bytes),
    /// In a zip archive.
    Member(Arc<Member>),
}

impl Source {
    /// Bytes in memory under a name, whose extension may show the format; they may be compressed.
    pub fn in_memory(name: impl AsRef<Path>, bytes: impl Into<Bytes>) -> Self {
        Self { name: Arc::from(name.as_ref()), place: Place::Memory(bytes.into()) }
    }

    /// A file of a zip archive.
    pub(super) fn member(name: PathBuf, member: Member) -> Self {
        Self { name: Arc::from(name), place: Place::Member(Arc::new(member)) }
    }

    /// The name; of a file in a zip archive, that of the archive, a slash, and the name there.
    pub fn name(&self) -> &Arc<Path> {
        &self.name
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        matches!(self.place, Place::File) && self.name.as_os_str() == "-"
    }

    /// The file that it is, unless it is something else.
    pub fn file(&self) -> Option<&Arc<Path>> {
        (matches!(self.place, Place::File) && !self.is_stdin()).then_some(&self.name)
    }

    /// The file in which its bytes are: itself, or the zip archive that it is in.
    pub fn container(&self) -> Option<&Arc<Path>> {
        match &self.place {
            Place::Member(member) => Some(member.archive()),
            Place::File | Place::Memory(_) => self.file(),
        }
    }

    /// Whether it is a file of a zip archive.
    pub fn is_member(&self) -> bool {
        matches!(self.place, Place::Member(_))
    }

    /// Whether it has to be decompressed, or read, from its beginning to its end, so that a thread may do so ahead of those
    /// that decode: a file of a zip archive that is not used where it is. Such a thread may outlive a run, and must
    /// not look at maps, whose files others may change then.
    pub(crate) fn is_worth_a_thread(&self, access: Access) -> bool {
        matches!(&self.place, Place::Member(member) if !member.is_in_place(access.map))
    }

    /// Number of bytes before decompression; `None` for what has no size, such as pipes, and what cannot be found.
    pub fn len(&self) -> Option<u64> {
        match &self.place {
            Place::File => {
                let metadata = fs::metadata(self.file()?).ok()?;
                metadata.is_file().then_some(metadata.len())
            }
            Place::Memory(bytes) => Some(bytes.len() as u64),
            Place::Member(member) => Some(member.len()),
        }
    }

    /// Whether it is known to have no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Whether it can be read only once: standard input, pipes and devices. What is not there is reported when it is
    /// opened.
    pub(super) fn is_read_once(&self) -> bool {
        self.is_stdin() || self.file().is_some_and(|path| path.exists()) && self.len().is_none()
    }

    /// Whether opening it, or reading its first bytes, may wait for others.
    pub(crate) fn may_block(&self) -> bool {
        let is_pipe = |path: &Arc<Path>| fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir());
        self.is_stdin() || self.file().is_some_and(is_pipe)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.display().fmt(f)
    }
}

impl From<Arc<Path>> for Source {
    /// A file, or standard input (`-`).
    fn from(name: Arc<Path>) -> Self {
        Self { name, place: Place::File }
    }
}

impl From<&Path> for Source {
    fn from(name: &Path) -> Self {
        Self::from(Arc::from(name))
    }
}

impl From<PathBuf> for Source {
    fn from(name: PathBuf) -> Self {
        Self::from(Arc::from(name))
    }
}
