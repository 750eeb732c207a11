//! The file, device or pipe that a name refers to, so that no output overwrites another output or an input.

use crate::cli::terminal::closed_streams;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The destination of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output, under any name.
    Stdout,
    /// Standard error, under any name.
    Stderr,
    /// A device, a named pipe or a descriptor of this process, none of which can be replaced.
    Stream(PathBuf),
    /// A file, existing or not, under its own name.
    File(PathBuf),
}

/// The maximum number of symbolic links that are followed, as in the system.
const LINKS: usize = 40;

impl Destination {
    /// The destination that a name refers to; `-` and no name mean standard output.
    pub(crate) fn of(path: Option<&Path>) -> Self {
        let path = match path {
            Some(path) if path.as_os_str() != "-" => path,
            _ => return Self::Stdout,
        };
        // `/dev/stdout` links to a name in `/proc`, which links to the file that is open there. That file must not be
        // treated as one that the user named.
        let mut name = path.to_owned();
        for _ in 0..LINKS {
            let directory = match name.parent() {
                Some(parent) if parent != Path::new("") => parent.to_owned(),
                _ => PathBuf::from("."),
            };
            let real = directory.canonicalize().unwrap_or_default();
            if real.starts_with("/proc") || real == Path::new("/dev/fd") {
                let own =
                    real == Path::new("/dev/fd") || real == Path::new(&format!("/proc/{}/fd", std::process::id()));
                return match name.file_name().and_then(|name| name.to_str()) {
                    Some("1") if own => Self::Stdout,
                    Some("2") if own => Self::Stderr,
                    _ => Self::Stream(path.to_owned()),
                };
            }
            match fs::read_link(&name) {
                Ok(target) => name = directory.join(target),
                Err(_) => break,
            }
        }
        match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Self::Stream(path.to_owned()),
            _ => Self::File(path.to_owned()),
        }
    }
}

/// The identity of a place.
#[derive(Debug)]
pub(crate) struct Place {
    stdout: bool,
    /// Device and inode of an existing file; not of terminals and other devices, which may be shared.
    inode: Option<(u64, u64)>,
    /// For a file that does not exist yet: device and inode of its directory, and its name there.
    name: Option<((u64, u64), OsString)>,
}

impl Place {
    /// The place of an output.
    pub(crate) fn of_output(destination: &Destination) -> Self {
        let nowhere = Self { stdout: *destination == Destination::Stdout, inode: None, name: None };
        match destination {
            Destination::Stdout if closed_streams::stdout_is_closed() => nowhere,
            Destination::Stdout => Self { inode: open_inode(&io::stdout()), ..nowhere },
            Destination::Stderr => Self { inode: open_inode(&io::stderr()), ..nowhere },
            Destination::Stream(path) | Destination::File(path) => match fs::metadata(path) {
                Ok(metadata) => Self { inode: inode(&metadata), ..nowhere },
                Err(_) => Self { name: name(path), ..nowhere },
            },
        }
    }

    /// The place of an input.
    pub(crate) fn of_input(path: &Path) -> Self {
        let inode = if path == Path::new("-") {
            open_inode(&io::stdin())
        } else {
            fs::metadata(path).ok().and_then(|metadata| inode(&metadata))
        };
        Self { stdout: false, inode, name: None }
    }

    /// Whether both are the same place.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.stdout && other.stdout
            || self.inode.is_some() && self.inode == other.inode
            || self.name.is_some() && self.name == other.name
    }
}

/// The name of a file that does not exist yet, with links followed.
fn name(path: &Path) -> Option<((u64, u64), OsString)> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        match fs::read_link(&path) {
            Ok(target) => path = directory.join(target),
            Err(_) => {
                let directory = inode(&fs::metadata(directory).ok()?)?;
                return Some((directory, path.file_name()?.to_owned()));
            }
        }
    }
    None
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let device = metadata.file_type().is_char_device();
    (!device).then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn open_inode(open: &impl std::os::fd::AsFd) -> Option<(u64, u64)> {
    let copy = open.as_fd().try_clone_to_owned().ok()?;
    inode(&fs::File::from(copy).metadata().ok()?)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(not(unix))]
fn open_inode<T>(_: &T) -> Option<(u64, u64)> {
    None
}
