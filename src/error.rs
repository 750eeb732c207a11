//! Errors, rejected records, and their places.
//!
//! There are two kinds of errors. An [`Error`] ends the run: a file that cannot be read, a broken container, a full
//! disk. A [`Reject`] is *data*: a record that is not a position, which is counted and reported while the run
//! continues. Both have a place: a file, and a line or byte offset.

use crate::perft::ThreadsError;
use crate::text::one_line;
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input cannot be opened.
    #[error("cannot open {path}", path = shown(path))]
    Open {
        /// The input.
        path: Arc<Path>,
        /// The system's reason.
        source: io::Error,
    },
    /// Reading an input failed midway.
    #[error("{path}: reading failed after {offset} bytes", path = shown(path))]
    Read {
        /// The input.
        path: Arc<Path>,
        /// Decompressed bytes read before.
        offset: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// Compressed data are truncated or corrupt. All complete records before that place have been processed.
    #[error(
        "{path}: {container} data are truncated or corrupt after {offset} decompressed bytes",
        path = shown(path)
    )]
    Container {
        /// The input.
        path: Arc<Path>,
        /// `zstd`, `gzip`, `bzip2` or `zip`.
        container: &'static str,
        /// Decompressed bytes before the damage.
        offset: u64,
        /// The decompressor's reason.
        source: io::Error,
    },
    /// The file extension promises a container, but the content is not one.
    #[error(
        "{path}: named as a {container} file, but its content is not {container}: it is \
         damaged, or should be renamed or read from standard input",
        path = shown(path)
    )]
    NoContainer {
        /// The input.
        path: Arc<Path>,
        /// `zstd`, `gzip`, `bzip2` or `zip`.
        container: &'static str,
    },
    /// A zstd frame needs more memory than allowed. Everything before it has been processed.
    #[error(
        "{path}: after {offset} decompressed bytes a zstd frame needs a window of {needed}; the limit is \
         {allowed}; --max-window {least} reads it",
        path = shown(path),
        needed = size(*needed),
        allowed = size(*allowed),
        least = least_option(*needed)
    )]
    Window {
        /// The input.
        path: Arc<Path>,
        /// Decompressed bytes before the frame.
        offset: u64,
        /// Bytes of the window.
        needed: u64,
        /// [`Access::max_window`](crate::input::Access::max_window).
        allowed: u64,
    },
    /// A file with checksums is damaged, truncated, or has something appended.
    #[error("{path}: {damage}", path = shown(path))]
    Damaged {
        /// The input.
        path: Arc<Path>,
        /// The place and kind of the damage.
        damage: Damage,
    },
    /// The format is unknown, or recognized but not supported.
    #[error("{path} {reason}", path = shown(path))]
    UnknownFormat {
        /// The input.
        path: Arc<Path>,
        /// The reason.
        reason: String,
    },
    /// A table has no column of positions.
    #[error("{path} {reason}", path = shown(path))]
    Columns {
        /// The input.
        path: Arc<Path>,
        /// The missing column, and the existing ones.
        reason: String,
    },
    /// The records of an input do not carry the fields by which they should be selected.
    #[error("{path} {reason}", path = shown(path))]
    Selection {
        /// The input.
        path: Arc<Path>,
        /// The option, and the fields that it needs.
        reason: String,
    },
    /// The formats of all inputs never have a field without which the output cannot hold a record.
    #[error("{path}: {format} has no `{field}`, without which the output cannot hold a record", path = shown(path))]
    Lacks {
        /// The first input.
        path: Arc<Path>,
        /// The format of the input.
        format: &'static str,
        /// The field.
        field: &'static str,
    },
    /// An input holds no record, and its format has no way to say that it is empty.
    #[error("{path}: {NO_RECORD}", path = shown(path))]
    NoRecord {
        /// The input.
        path: Arc<Path>,
    },
    /// A directory holds no supported file.
    #[error("{path}: no supported file in this directory", path = shown(path))]
    EmptyDirectory {
        /// The directory.
        path: Arc<Path>,
    },
    /// A zip archive holds no supported file.
    #[error("{path}: no supported file in this zip archive", path = shown(path))]
    EmptyArchive {
        /// The archive.
        path: Arc<Path>,
    },
    /// Positions fall into more groups than can be counted.
    #[error(
        "grouping by {by} gives more than {most} groups; choose another column or, for numbers, a wider range (ply/20)"
    )]
    TooManyGroups {
        /// The column.
        by: String,
        /// The maximum number of groups.
        most: usize,
    },
    /// A record does not belong to a game, but whole games are requested.
    #[error(
        "record {record} does not belong to a game: grouping by game needs numbers of games, as in PGN and viri files. \
         The chains of binpack files are not games: `lanefish convert FILE -o FILE.viri` first makes games of them"
    )]
    NoGame {
        /// The number of the record over all inputs.
        record: u64,
    },
    /// The records of a game do not follow one another in a file, but whole games are requested.
    #[error(
        "{path}: the games are scattered: with record {record}, game {game} comes again, but whole games are needed; \
         `lanefish shuffle --by game` brings the records of each game together",
        path = shown(path)
    )]
    ScatteredGames {
        /// The file.
        path: Arc<Path>,
        /// The number of the record in the file.
        record: u64,
        /// The number of its game in the file.
        game: u64,
    },
    /// A condition on games uses values that differ between the positions of a game.
    #[error("`{condition}` is not a condition on games: it uses columns that differ between the records of a game")]
    NotOfGames {
        /// The condition.
        condition: String,
    },
    /// An input has to be read twice, but can be read only once.
    #[error("{path} has to be read twice, which only works with files; save it to a file first", path = shown(path))]
    Once {
        /// The input.
        path: Arc<Path>,
    },
    /// The inputs changed between two runs over them.
    #[error("the inputs changed while they were being read: {before} records became {after}")]
    Changed {
        /// Records of the first run.
        before: u64,
        /// Records of the second.
        after: u64,
    },
    /// The records of a second file are not those of the inputs.
    #[error("{place}: {reason}")]
    NotBeside {
        /// The place in the inputs, or in the second file.
        place: String,
        /// What differs, and the place in the other one.
        reason: String,
    },
    /// A temporary file cannot be created, written or read.
    #[error(
        "{directory}: temporary files failed after {written}{needed}; --temp DIR chooses another directory",
        directory = shown(directory),
        written = size(*written),
        needed = needed.map_or_else(String::new, |needed| format!(", and about {} would be needed", size(needed)))
    )]
    Temporary {
        /// The directory.
        directory: Arc<Path>,
        /// Bytes written before.
        written: u64,
        /// Approximate number of bytes needed for all inputs, if their sizes are known.
        needed: Option<u64>,
        /// The system's reason.
        source: io::Error,
    },
    /// A record was rejected in a run that should stop at the first one.
    #[error("{0}")]
    Strict(Box<Reject>),
    /// An output exists and must not be replaced.
    #[error("{path} exists; --force replaces it", path = path.display())]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// Writing failed.
    #[error("cannot write {path}", path = path.display())]
    Write {
        /// The output.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Writing to standard output failed.
    #[error("cannot write standard output")]
    Stdout {
        /// The system's reason.
        source: io::Error,
    },
    /// The threads could not be started.
    #[error("cannot start {threads} thread{s}: {reason}", s = if *threads == 1 { "" } else { "s" })]
    Threads {
        /// The requested number of threads.
        threads: usize,
        /// The system's reason.
        reason: String,
    },
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Whether the reader of standard output has closed the pipe (`| head`); the run then ends silently.
    pub fn is_closed_stdout(&self) -> bool {
        matches!(self, Self::Stdout { source } if source.kind() == io::ErrorKind::BrokenPipe)
    }
    /// Whether an input is damaged or cannot be read. In this case everything before that place has been processed, and
    /// the summary has the exact numbers.
    pub fn is_of_input(&self) -> bool {
        // The match is exhaustive, so that a new kind is not forgotten.
        match self {
            Self::Open { .. }
            | Self::Read { .. }
            | Self::Container { .. }
            | Self::NoContainer { .. }
            | Self::Window { .. }
            | Self::Damaged { .. }
            | Self::UnknownFormat { .. }
            | Self::Columns { .. }
            | Self::NoRecord { .. }
            | Self::EmptyDirectory { .. }
            | Self::EmptyArchive { .. } => true,
            Self::Selection { .. }
            | Self::Lacks { .. }
            | Self::TooManyGroups { .. }
            | Self::NoGame { .. }
            | Self::ScatteredGames { .. }
            | Self::NotOfGames { .. }
            | Self::Once { .. }
            | Self::Changed { .. }
            | Self::NotBeside { .. }
            | Self::Temporary { .. }
            | Self::Strict(_)
            | Self::Exists { .. }
            | Self::Write { .. }
            | Self::Stdout { .. }
            | Self::Threads { .. }
            | Self::Interrupted => false,
        }
    }
    /// The place of the error in the input, and its description.
    pub fn as_damage(&self) -> Damage {
        match self {
            Self::Damaged { damage, .. } => damage.clone(),
            Self::Container { container, offset, source, .. } => {
                Damage::at(*offset, format!("{container} data are truncated or corrupt: {source}"))
            }
            Self::Read { offset, source, .. } => Damage::at(*offset, format!("reading failed: {source}")),
            Self::Window { offset, needed, allowed, .. } => Damage::limit(
                *offset,
                format!(
                    "a zstd frame needs a window of {}; the limit is {}; --max-window {} reads it",
                    size(*needed),
                    size(*allowed),
                    least_option(*needed)
                ),
            ),
            Self::Open { source, .. } => Damage::at(0, format!("cannot be opened: {source}")),
            Self::NoRecord { .. } => Damage::at(0, NO_RECORD),
            other => Damage::at(0, other.to_string()),
        }
    }
}

impl From<ThreadsError> for Error {
    fn from(error: ThreadsError) -> Self {
        Self::Threads { threads: error.threads, reason: error.reason }
    }
}

const NO_RECORD: &str = "no records: in this format, an empty file cannot be told from one that lost its content";

/// A number of bytes for messages, in the largest unit that needs no rounding.
fn size(bytes: u64) -> String {
    match bytes.trailing_zeros() {
        30.. if bytes > 0 => format!("{} GiB", bytes >> 30),
        20.. if bytes > 0 => format!("{} MiB", bytes >> 20),
        10.. if bytes > 0 => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

/// A size in the notation of the command line, rounded up.
fn least_option(bytes: u64) -> String {
    format!("{}M", bytes.div_ceil(1 << 20))
}

/// The name of an input in messages.
pub(crate) fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// A damaged place in a file with checksums.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// Byte offset in the (decompressed) file.
    pub offset: u64,
    /// The description of the damage.
    pub what: String,
    /// Whether the file is not damaged, but needs more than the options allow.
    pub is_limit: bool,
}

impl Damage {
    /// Damage at a byte offset.
    pub fn at(offset: u64, what: impl Into<String>) -> Self {
        Self { offset, what: what.into(), is_limit: false }
    }
    /// A place that needs more than the options allow.
    pub fn limit(offset: u64, what: impl Into<String>) -> Self {
        Self { is_limit: true, ..Self::at(offset, what) }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.is_limit { "not read from" } else { "damaged at" };
        write!(f, "{verb} byte {}: {}", self.offset, self.what)
    }
}

/// The place of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The input; `-` is standard input.
    pub file: Arc<Path>,
    /// 1-based line, in text inputs.
    pub line: Option<u64>,
    /// Byte offset in the decompressed input.
    pub offset: u64,
    /// 0-based number of the record over all inputs.
    pub record: u64,
    /// 0-based number of the game over all inputs.
    pub game: Option<u64>,
    /// Plies since the start of the game.
    pub ply: Option<u16>,
    /// The start of a frame in the compressed file, if `offset` counts from the beginning of that frame's content;
    /// `None` if it counts from the beginning of the input.
    pub frame: Option<u64>,
    /// 0-based row of the table, in Parquet and Arrow inputs.
    pub row: Option<u64>,
}

impl Place {
    /// The start of an input.
    pub fn start_of(file: Arc<Path>) -> Self {
        Self { file, line: None, offset: 0, record: 0, game: None, ply: None, frame: None, row: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.file))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match self.row {
            Some(row) => write!(f, " (row {row}")?,
            None => write!(f, " (byte {}", self.offset)?,
        }
        if let Some(frame) = self.frame {
            write!(f, " from the frame at byte {frame}")?;
        }
        write!(f, ", record {}", self.record)?;
        if let Some(game) = self.game {
            write!(f, ", game {game}")?;
        }
        if let Some(ply) = self.ply {
            write!(f, ", ply {ply}")?;
        }
        f.write_str(")")
    }
}

/// A rejected record, as listed by `--rejects`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reject {
    /// Where it is.
    pub place: Place,
    /// The reasons, as stable names in snake case, for counting; at least one.
    pub reasons: Vec<&'static str>,
    /// The reasons as a message.
    pub message: Cow<'static, str>,
    /// The record as found in the input; binary records as hexadecimal digits.
    pub raw: Vec<u8>,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl fmt::Debug for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A program whose `main` returns an error prints this.
        f.debug_struct("Reject")
            .field("place", &self.place)
            .field("reasons", &self.reasons)
            .field("message", &self.message)
            .field("raw", &String::from_utf8_lossy(&self.raw))
            .finish()
    }
}

impl Reject {
    /// Describes the rejected record and the reason.
    pub fn new(place: Place, reasons: Vec<&'static str>, message: impl Into<Cow<'static, str>>, raw: Vec<u8>) -> Self {
        Self { place, reasons, message: message.into(), raw }
    }

    /// Appends the line for the rejects file: place, reason names and the record as found, separated by
    /// tabs; line ends and other control characters in any of them become blanks.
    pub fn write_line(&self, out: &mut Vec<u8>) {
        one_line::push(self.place.file.as_os_str().as_encoded_bytes(), out);
        match (self.place.line, self.place.row) {
            (Some(line), _) => out.extend_from_slice(format!(":{line}").as_bytes()),
            (None, Some(row)) => out.extend_from_slice(format!("#{row}").as_bytes()),
            (None, None) => {
                let frame = self.place.frame.map(|frame| format!("{frame}+")).unwrap_or_default();
                out.extend_from_slice(format!("@{frame}{}", self.place.offset).as_bytes());
            }
        }
        out.push(b'\t');
        out.extend_from_slice(self.reasons.join(",").as_bytes());
        out.push(b'\t');
        one_line::push(self.message.as_bytes(), out);
        out.push(b'\t');
        one_line::push(&self.raw, out);
        out.push(b'\n');
    }
}
