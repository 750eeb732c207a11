//! Why an output cannot be written as asked.

use super::{Content, OutputFormat};
use crate::ParseError;
use crate::formats::Format;
use crate::formats::detect::unsupported::alternatives;
use std::path::PathBuf;

/// Why an output cannot be written as asked. Nothing has been written.
///
/// ```
/// use lanefish::formats::Format;
/// use lanefish::jobs::{Content, OutputError, OutputFormat};
/// let error = OutputFormat::of_path("a.evals".as_ref(), Content::Records).unwrap_err();
/// assert!(matches!(error, OutputError::UnknownExtension { .. }));
/// let error = OutputFormat::named("puzzles", Content::Records).unwrap_err();
/// assert_eq!(error, OutputError::ReadOnly(Format::PUZZLES));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// No format of records has this name.
    #[error(transparent)]
    UnknownFormat(ParseError),
    /// No format for this content has this name.
    #[error("unknown format `{0}`")]
    UnknownName(String),
    /// The format can be read, but lanefish does not write it.
    #[error("{0} can be read but not written{instead}", instead = instead(*.0))]
    ReadOnly(Format),
    /// The extension belongs to a format that can be read but not written.
    #[error(
        "{path}: {format} can be read but not written{instead}; {known}",
        path = path.display(),
        instead = instead(*format),
        known = written()
    )]
    ReadOnlyExtension {
        /// The name of the output.
        path: PathBuf,
        /// The format that the extension belongs to.
        format: Format,
    },
    /// The extension belongs to a format that lanefish does not write.
    #[error(
        "'{path}' would be {what}: lanefish cannot write that format yet; {known}",
        path = path.display(),
        known = written()
    )]
    UnsupportedExtension {
        /// The name of the output.
        path: PathBuf,
        /// The format that the extension belongs to.
        what: &'static str,
    },
    /// Several formats share the extension.
    #[error(
        "'{path}' does not say which format: pass --to {names}",
        path = path.display(),
        names = alternatives(formats.iter().map(|format| format.name()))
    )]
    AmbiguousExtension {
        /// The name of the output.
        path: PathBuf,
        /// The formats that use the extension.
        formats: Vec<Format>,
    },
    /// The extension belongs to a table, but lanefish was built without the feature `parquet`.
    #[cfg(not(feature = "parquet"))]
    #[error("'{path}' would be {what}: writing it needs the feature `parquet`", path = path.display())]
    NeedsParquet {
        /// The name of the output.
        path: PathBuf,
        /// The kind of file.
        what: &'static str,
    },
    /// The extension does not show a format.
    #[error("cannot infer a format from '{path}'; {advice}", path = path.display(), advice = advice(*content))]
    UnknownExtension {
        /// The name of the output.
        path: PathBuf,
        /// The content that is to be written.
        content: Content,
    },
    /// Parquet does not have this compression.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Compression(ParseError),
    /// A compression of pages was given for a file without pages.
    #[error(
        "compression of pages is for Parquet files; other files are compressed where their names end in .zst, .gz or .bz2"
    )]
    NoPages,
    /// A table was to be compressed as a whole.
    #[error("tables are not compressed as a whole: name the file without the last extension")]
    CompressedTable,
    /// A compression level was given for a file that is not compressed.
    #[error("a compression level needs a file name that ends in .zst, .gz or .bz2")]
    NoCompression,
    /// A column of FEN was asked for in a format without columns.
    #[error("a column `fen` is for Parquet and Arrow files")]
    NoFenColumn,
    /// Rows were to be divided into files of a format without rows.
    #[error("{0} is written to one file: Parquet, Arrow, CSV and JSON lines are divided into several")]
    NoRows(OutputFormat),
    /// Row groups are those of Parquet files.
    #[error("{0} has no row groups: they are those of Parquet files")]
    NoRowGroups(OutputFormat),
    /// Bloom filters are those of some columns.
    #[error("--bloom: the output has neither a column `fen` nor `key`")]
    NoFilteredColumn,
    /// Rows cannot be divided by this column.
    #[error(
        "--partition-by {0}: a column of the output is needed, with texts, dates, whole numbers or flags, in Parquet and Arrow files"
    )]
    NoPartitionColumn(String),
    /// The format has another content.
    #[error("{format} holds {holds}", holds = holds(*format, *content))]
    OtherContent {
        /// The format.
        format: OutputFormat,
        /// The content that it was to have.
        content: Content,
    },
}

/// What can be done with a format that is not written.
fn instead(format: Format) -> &'static str {
    match format {
        format if format == Format::PGN => " as records (`lanefish games` copies whole games with -o x.pgn)",
        format if format == Format::CSV || format == Format::TSV => {
            " as records (`lanefish compute` writes rows of columns with -o x.csv)"
        }
        format if format == Format::JSONL => " as records (`lanefish compute` writes rows of columns with -o x.jsonl)",
        _ => "",
    }
}

/// The formats of records that can be written.
fn written() -> String {
    format!("formats that can be written: {}", names().join(", "))
}

fn names() -> Vec<&'static str> {
    OutputFormat::all(Content::Records).map(OutputFormat::name).collect()
}

fn advice(content: Content) -> String {
    match content {
        Content::Records => format!("name it .{}, or pass --to FORMAT", names().join(", .")),
        Content::Rows if cfg!(feature = "parquet") => {
            "use .csv, .jsonl, .parquet or .arrow, or pass --format".to_owned()
        }
        Content::Rows => "use .csv or .jsonl, or pass --format".to_owned(),
        Content::Games if cfg!(feature = "parquet") => {
            "use .pgn, .csv, .jsonl, .parquet or .arrow, or pass --format".to_owned()
        }
        Content::Games => "use .pgn, .csv or .jsonl, or pass --format".to_owned(),
    }
}

/// The content that a format holds in place of another one.
fn holds(format: OutputFormat, content: Content) -> &'static str {
    match (format, content) {
        (OutputFormat::Pgn, _) => "games",
        (OutputFormat::Records(_), _) => "whole records, not rows",
        _ => "rows of columns, not whole records",
    }
}
