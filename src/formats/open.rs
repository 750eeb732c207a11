//! Opening an input and finding out its format.

use super::{Format, Likeness, foreign, text_tables};
use crate::error::Error;
use crate::input::{Access, Compression, Input};
use memchr::memchr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Number of bytes used to detect a format.
const PEEK: usize = 64 << 10;

/// Number of bytes that identify the shortest of compressed containers.
const MAGIC: usize = 4;

/// An input of known format.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The input.
    pub input: Input,
    /// Its format.
    pub format: Format,
    /// Whether its lines end in carriage returns alone, as those of old Macintosh programs do.
    pub(crate) carriage_returns: bool,
    /// Its first line, if that says how all others are read.
    pub header: Option<Arc<[u8]>>,
}

/// Opens an input and detects its format, from the content first and then from the name. `consumed`
/// counts the bytes read from it, before decompression.
///
/// # Errors
/// If it cannot be opened, is not in the container that its name promises, or has no known format.
pub fn open(path: &Arc<Path>, from: Option<Format>, access: Access, consumed: Arc<AtomicU64>) -> Result<Opened, Error> {
    open_with(path, from, None, access, consumed)
}

/// As [`open`], where the positions of tables may be in a column of this name.
///
/// # Errors
/// As [`open`].
pub fn open_with(
    path: &Arc<Path>,
    from: Option<Format>,
    fen_column: Option<&str>,
    access: Access,
    consumed: Arc<AtomicU64>,
) -> Result<Opened, Error> {
    let mut input = Input::open(path, access, consumed)?;
    if input.compression().is_none()
        && let Some(promised) = promised_compression(path)
    {
        let (head, all) = input.peek(MAGIC)?;
        let container = promised.name();
        let path = Arc::clone(path);
        // A truncated container without even its first bytes looks like an empty list.
        return Err(if all && head.len() < MAGIC {
            Error::Container { path, container, offset: 0, source: io::ErrorKind::UnexpectedEof.into() }
        } else {
            Error::NoContainer { path, container }
        });
    }
    let (mut head, all) = input.peek(PEEK)?;
    let carriage_returns = memchr(b'\r', &head).is_some() && memchr(b'\n', &head).is_none();
    if carriage_returns {
        to_line_feeds(&mut head);
    }
    let format = match from {
        Some(format) => format,
        None => detect_with(&head, all, path, fen_column)
            .map_err(|reason| Error::UnknownFormat { path: Arc::clone(path), reason })?,
    };
    let header = format.header(&head, all);
    Ok(Opened { input, format, carriage_returns: carriage_returns && format.is_text(), header })
}

/// Replaces carriage returns by line feeds.
pub(crate) fn to_line_feeds(text: &mut [u8]) {
    for byte in text.iter_mut().filter(|byte| **byte == b'\r') {
        *byte = b'\n';
    }
}

/// Whether a file has content or a name that some format claims: only such files of a directory are read.
/// One that cannot be opened counts as well, so that the error is reported.
pub fn is_supported(path: &Path) -> bool {
    is_supported_with(path, None)
}

/// As [`is_supported`], where the positions of tables may be in a column of this name.
pub fn is_supported_with(path: &Path, fen_column: Option<&str>) -> bool {
    let opened = open_with(&Arc::from(path), None, fen_column, Access::default(), Arc::default());
    !matches!(opened, Err(Error::UnknownFormat { .. }))
}

/// Detects the format of an input by its first bytes (`all`: there are no more) and its name.
///
/// # Errors
/// With a description of the bytes, if neither shows it.
pub fn detect(head: &[u8], all: bool, path: &Path) -> Result<Format, String> {
    detect_with(head, all, path, None)
}

/// As [`detect`], where the positions of tables may be in a column of this name.
///
/// # Errors
/// As [`detect`].
pub fn detect_with(head: &[u8], all: bool, path: &Path, fen_column: Option<&str>) -> Result<Format, String> {
    let named = Format::of_name(path);
    // Several formats fit a line with a position; the name decides.
    if let Some(format) = named
        && format.likeness(head) > Likeness::No
    {
        return Ok(format);
    }
    let mut formats = Format::ALL.iter().copied();
    if let Some(format) = formats.find(|format| format.likeness(head) == Likeness::Certain) {
        return Ok(format);
    }
    if let Some(format) = fen_column.and_then(|column| text_tables::with_column(head, column)) {
        return Ok(format);
    }
    let is_empty = all && head.trim_ascii().is_empty();
    match (foreign::recognized(head, all, path, named), named) {
        (Some(reason), _) => Err(reason),
        // Many a table has this name, and only some are tables of positions.
        (None, Some(format)) if !is_empty && let Some(reason) = text_tables::refusal(format, head) => Err(reason),
        (None, Some(format)) => Ok(format),
        // An empty input is an empty list.
        (None, None) if all && head.is_empty() => Ok(Format::FEN),
        (None, None) => {
            let start = String::from_utf8_lossy(&head[..head.len().min(24)]);
            let start: String = start.escape_debug().collect();
            Err(format!(
                "has no known format: neither its content (`{start}`) nor its name is recognized; \
                 name the format with --from"
            ))
        }
    }
}

/// The container suggested by a file extension.
fn promised_compression(path: &Path) -> Option<Compression> {
    Compression::of_extension(path.extension()?.to_str()?)
}
