//! One of the inputs of a run.

use super::zip::Member;
use super::{Access, Bytes};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// One of the inputs of a run: its name, which messages use, and the location of its bytes.
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
///
/// A file must not change between two reads: clones of a source remember the file that was opened first, and opening
/// another one in its place is an error.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<Path>,
    place: Place,
    first: Arc<OnceLock<Identity>>,
}

/// The properties by which a file is recognized when it is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    len: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    file: (u64, u64),
}

impl Identity {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            file: (metadata.dev(), metadata.ino()),
        }
    }
}

/// The location of the bytes.
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
    /// Bytes in memory, which may be compressed, with a name, whose extension may show the format.
    pub fn in_memory(name: impl AsRef<Path>, bytes: impl Into<Bytes>) -> Self {
        Self::new(Arc::from(name.as_ref()), Place::Memory(bytes.into()))
    }

    /// A file of a zip archive.
    pub(super) fn member(name: PathBuf, member: Member) -> Self {
        Self::new(Arc::from(name), Place::Member(Arc::new(member)))
    }

    fn new(name: Arc<Path>, place: Place) -> Self {
        Self { name, place, first: Arc::default() }
    }

    /// Checks that a file is the one that was opened first, which this one is if there was none.
    ///
    /// # Errors
    /// If it is another one, or has changed since.
    pub(crate) fn recognize(&self, metadata: &fs::Metadata) -> io::Result<()> {
        let now = Identity::of(metadata);
        if *self.first.get_or_init(|| now) != now {
            return Err(io::Error::other("it has changed since it was opened first"));
        }
        Ok(())
    }

    /// The name. For a file in a zip archive, it is the name of the archive, a slash, and the name in the archive.
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

    /// The path, if the source is a file.
    pub fn file(&self) -> Option<&Arc<Path>> {
        (matches!(self.place, Place::File) && !self.is_stdin()).then_some(&self.name)
    }

    /// The path of the file that contains its bytes: the file itself, or the zip archive.
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

    /// Whether it has to be decompressed or read from start to end, so that a separate thread may do so ahead of the
    /// decoding threads. This holds for files of a zip archive that are not used in place. Such a thread may outlive a
    /// run, and must not read from maps, whose files others may change then.
    pub(crate) fn is_worth_a_thread(&self, access: Access) -> bool {
        matches!(&self.place, Place::Member(member) if !member.is_in_place(access.map))
    }

    /// Number of bytes before decompression; `None` for sources without a size, such as pipes, and missing files.
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

    /// Whether it can be read only once: standard input, pipes and devices. Missing files are reported when they are
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
        Self::new(name, Place::File)
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
