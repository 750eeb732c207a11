//! Opening an input and finding out its format.

use super::headerless::without_header;
use super::unsupported;
use crate::error::Error;
use crate::formats::polyglot_book::{BookEntry, PolyglotBook};
use crate::formats::tables::text;
use crate::formats::{Format, Likeness};
use crate::input::{self, Access, Compression, Input, Inputs, Source};
use crate::text::numbers::{counted, grouped};
use memchr::memchr;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Number of bytes used to detect a format.
pub const PEEK: usize = 64 << 10;

/// Number of bytes that identify the shortest compressed container.
const MAGIC: usize = 4;

/// An input of known format.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The input.
    pub input: Input,
    /// The format of the input.
    pub format: Format,
    /// Whether its lines end in carriage returns alone, as old Macintosh programs wrote them.
    pub(crate) carriage_returns: bool,
    /// The first line of the input, if that determines how all others are read.
    pub header: Option<Arc<[u8]>>,
}

/// Opens an input and detects its format, from the content first and then from the name. The positions of tables may be
/// in a column of the name `fen_column`. `consumed` counts the bytes read from the input, before decompression.
///
/// # Errors
/// If it cannot be opened, is not in the container that its name promises, or has no known format.
pub fn open(
    source: &Source,
    from: Option<Format>,
    fen_column: Option<&str>,
    access: Access,
    consumed: Arc<AtomicU64>,
) -> Result<Opened, Error> {
    let path = source.name();
    let mut input = Input::open(source, access, consumed)?;
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
    let (head, all) = input.peek(PEEK)?;
    if input::is_archive(&head) || source.file().is_some_and(|path| input::is_archive_name(path)) {
        return Err(error_of_archive(source));
    }
    let format = match from {
        Some(format) => format,
        None => format_of(&head, all, path, fen_column, access.any_columns)
            .map_err(|reason| Error::UnknownFormat { path: Arc::clone(path), reason })?,
    };
    let carriage_returns = format.is_text() && has_carriage_returns_only(&head);
    let header = format.header(&lines_of(&head), all);
    Ok(Opened { input, format, carriage_returns, header })
}

/// The error for a zip archive where a single file is expected: what is wrong with the archive, or how to give it
/// instead.
fn error_of_archive(source: &Source) -> Error {
    if let Some(path) = source.file().filter(|_| source.len().is_some())
        && let Err(error) = Inputs::resolve(&[path.to_path_buf()], is_supported)
    {
        return error;
    }
    let reason = "is a zip archive: a zip archive must be a file that is named as an input or found in a directory, \
                  neither compressed nor inside another archive";
    Error::UnknownFormat { path: Arc::clone(source.name()), reason: reason.to_owned() }
}

/// Whether the lines of a text end in carriage returns alone, as far as can be seen.
fn has_carriage_returns_only(head: &[u8]) -> bool {
    memchr(b'\r', head).is_some() && memchr(b'\n', head).is_none()
}

/// The bytes as text, with line feeds in place of carriage returns if it has only these.
fn lines_of(head: &[u8]) -> Cow<'_, [u8]> {
    if !has_carriage_returns_only(head) {
        return Cow::Borrowed(head);
    }
    let mut text = head.to_vec();
    to_line_feeds(&mut text);
    Cow::Owned(text)
}

/// Replaces carriage returns by line feeds.
pub(crate) fn to_line_feeds(text: &mut [u8]) {
    for byte in text.iter_mut().filter(|byte| **byte == b'\r') {
        *byte = b'\n';
    }
}

/// Whether a file has content or a name that some format claims: only such files of a directory or archive are read.
/// One that cannot be opened counts as well, so that the error is reported.
pub fn is_supported(source: &Source) -> bool {
    is_supported_with(source, None)
}

/// Like [`is_supported`], but the positions of tables may be in a column of this name.
pub fn is_supported_with(source: &Source, fen_column: Option<&str>) -> bool {
    let opened = open(source, None, fen_column, Access::default(), Arc::default());
    !matches!(opened, Err(Error::UnknownFormat { .. }))
}

/// A sentence on files of directories and archives that were skipped because their content is in no supported format,
/// although their names are those of a format; `None` if there are none.
pub(crate) fn note_on_skipped(skipped: &[PathBuf]) -> Option<String> {
    const SHOWN: usize = 3;
    let is_claimed = |path: &&PathBuf| Format::of_name(path).is_some() || unsupported::of_name(path).is_some();
    let claimed: Vec<&PathBuf> = skipped.iter().filter(is_claimed).collect();
    let mut names: Vec<String> = claimed.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    let more = claimed.len() - names.len();
    if more > 0 {
        names.push(format!("{} more", grouped(more as u64)));
    }
    let last = names.pop()?;
    let names = if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) };
    let (was, its_name_is) = match claimed.len() {
        1 => ("was", "its name is"),
        _ => ("were", "their names are"),
    };
    Some(format!(
        "{} found in directories or archives {was} skipped: {its_name_is} that of a format, but no supported one fits the content: \
         {names}",
        counted(claimed.len() as u64, "file")
    ))
}

/// The format of an input is unknown, or recognized but not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the input {reason}")]
#[non_exhaustive]
pub struct NotDetected {
    /// The rest of a sentence that begins with the input.
    pub reason: String,
}

/// Detects the format of an input by its first bytes (`all`: there are no more) and its name. Binary formats see the
/// bytes as they are, formats of text with line feeds for carriage returns if there are only these. The positions of tables
/// may be in a column of the name `fen_column`.
///
/// # Errors
/// With a description of the bytes, if neither shows it.
pub fn detect(head: &[u8], all: bool, path: &Path, fen_column: Option<&str>) -> Result<Format, NotDetected> {
    format_of(head, all, path, fen_column, false).map_err(|reason| NotDetected { reason })
}

/// Whether the first bytes of a file are those of an opening book. Two records of training data have as many bytes as four
/// entries, so fewer entries must have the name of a book, and not be what a format has.
pub(in crate::formats) fn is_book(head: &[u8], all: bool, path: &Path) -> bool {
    let is_small = || unsupported::may_be_book(path) && matches!(claimed(head), Ok(None));
    PolyglotBook::is_likely(head, all) && (head.len() >= 4 * BookEntry::LEN || is_small())
}

/// The format that has bytes like these, whatever the name.
fn claimed(head: &[u8]) -> Result<Option<Format>, String> {
    let text = lines_of(head);
    let likeness = |format: Format| format.likeness(if format.is_text() { &text } else { head });
    let mut formats = Format::ALL.iter().copied().filter(|format| format.sampled(&[]).is_none());
    match formats.find(|&format| likeness(format) == Likeness::Certain) {
        Some(format) => Ok(Some(format)),
        None => without_header(head),
    }
}

/// The same; `any_columns`: text tables may have any columns.
fn format_of(
    head: &[u8],
    all: bool,
    path: &Path,
    fen_column: Option<&str>,
    any_columns: bool,
) -> Result<Format, String> {
    // The files in a tar archive might be taken for its own content.
    if let Some(reason) = unsupported::archive(head, path) {
        return Err(reason);
    }
    let named = Format::of_name(path);
    let text = lines_of(head);
    let likeness = |format: Format| format.likeness(if format.is_text() { &text } else { head });
    // Several formats fit a line with a position; the name decides.
    if let Some(format) = named
        && likeness(format) > Likeness::No
    {
        return Ok(format);
    }
    if any_columns && let Some(format) = text::of_any_columns(&text, named) {
        return Ok(format);
    }
    if is_book(head, all, path) {
        return Err(unsupported::BOOK.to_owned());
    }
    if let Some(format) = claimed(head)? {
        return Ok(format);
    }
    if let Some(format) = fen_column.and_then(|column| text::with_column(&text, column)) {
        return Ok(format);
    }
    let is_empty = all && head.trim_ascii().is_empty();
    match (unsupported::recognized(head, path, named), named) {
        (Some(reason), _) => Err(reason),
        // Many tables have such a name, but only some are tables of positions.
        (None, Some(format)) if !is_empty && let Some(reason) = text::refusal(format, &text) => Err(reason),
        (None, Some(format)) => Ok(format),
        // An empty input is an empty list.
        (None, None) if all && head.is_empty() => Ok(Format::FEN),
        (None, None) => {
            let start = String::from_utf8_lossy(&head[..head.len().min(24)]).escape_debug().to_string();
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
