//! The list of output formats.
//!
//! | content | formats |
//! | --- | --- |
//! | whole records | the formats of records that can be written, and tables |
//! | columns of records, games, rows of queries | CSV, JSON Lines, and tables |
//! | games | also PGN: the unchanged games |

use super::OutputError;
#[cfg(feature = "parquet")]
use crate::columnar::{IpcKind, ParquetPages};
use crate::formats::Format;
use crate::formats::detect::unsupported::{self, Foreign};
use crate::input::Compression;
use std::fmt;
use std::path::Path;

/// A format of outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum OutputFormat {
    /// A format of records.
    Records(Format),
    /// Games as they are in the input.
    Pgn,
    /// A header line and comma-separated values.
    Csv,
    /// One JSON object per line.
    JsonLines,
    /// Parquet, with pages of this kind.
    #[cfg(feature = "parquet")]
    Parquet(ParquetPages),
    /// An Arrow file or stream.
    #[cfg(feature = "parquet")]
    Arrow(IpcKind),
}

/// The kind of content of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Whole records.
    Records,
    /// Rows: columns of records, or the result of a query.
    Rows,
    /// Games: one row per game, or the games themselves.
    Games,
}

impl OutputFormat {
    /// The formats for a kind of content, each with the usual compression.
    ///
    /// ```
    /// use lanefish::jobs::{Content, OutputFormat};
    /// let names: Vec<&str> = OutputFormat::all(Content::Rows).map(OutputFormat::name).collect();
    /// assert_eq!(names[..2], ["csv", "jsonl"]);
    /// ```
    pub fn all(content: Content) -> impl Iterator<Item = Self> {
        let formats = Format::ALL.iter().copied().filter(|format| format.encoder().is_some());
        let records = formats.map(Self::Records);
        let text = [Self::Csv, Self::JsonLines, Self::Pgn];
        #[cfg(feature = "parquet")]
        let tables = [Self::Parquet(ParquetPages::default()), Self::Arrow(IpcKind::File), Self::Arrow(IpcKind::Stream)];
        #[cfg(not(feature = "parquet"))]
        let tables = [];
        let all = records.chain(text).chain(tables);
        all.filter(move |format| format.holds(content))
    }

    /// Whether it can store this kind of content.
    pub fn holds(self, content: Content) -> bool {
        match (self, content) {
            (Self::Records(_), content) => content == Content::Records,
            (Self::Pgn, content) => content == Content::Games,
            (Self::Csv | Self::JsonLines, content) => content != Content::Records,
            #[cfg(feature = "parquet")]
            (Self::Parquet(_) | Self::Arrow(_), _) => true,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Records(format) => format.name(),
            Self::Pgn => Format::PGN.name(),
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => "parquet",
            #[cfg(feature = "parquet")]
            Self::Arrow(IpcKind::File) => "arrow",
            #[cfg(feature = "parquet")]
            Self::Arrow(IpcKind::Stream) => "arrows",
        }
    }

    /// A description in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Records(format) => format.about().title,
            Self::Pgn => "The games themselves, unchanged",
            Self::Csv => "A header line and comma-separated values",
            Self::JsonLines => "One JSON object per line",
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => "Parquet",
            #[cfg(feature = "parquet")]
            Self::Arrow(IpcKind::File) => "An Arrow file (IPC); also .feather",
            #[cfg(feature = "parquet")]
            Self::Arrow(IpcKind::Stream) => "An Arrow stream (IPC)",
        }
    }

    /// File extensions, in lower case; the first is the usual one.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Records(format) => format.about().extensions,
            Self::Pgn => Format::PGN.about().extensions,
            Self::Csv => &["csv"],
            Self::JsonLines => &["jsonl", "ndjson", "json"],
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => &["parquet"],
            #[cfg(feature = "parquet")]
            Self::Arrow(IpcKind::File) => &["arrow", "feather"],
            #[cfg(feature = "parquet")]
            Self::Arrow(IpcKind::Stream) => &["arrows"],
        }
    }

    /// Whether it is a table. Tables may compress their pages, but are not compressed as a whole.
    pub fn is_table(self) -> bool {
        self.holds(Content::Records) && self.holds(Content::Rows)
    }

    /// Whether it is text.
    pub fn is_text(self) -> bool {
        match self {
            Self::Records(format) => format.is_text(),
            Self::Pgn | Self::Csv | Self::JsonLines => true,
            #[cfg(feature = "parquet")]
            Self::Parquet(_) | Self::Arrow(_) => false,
        }
    }

    /// The format with this name on the command line.
    ///
    /// # Errors
    /// If there is no such format, or it cannot be written.
    pub fn named(name: &str, content: Content) -> Result<Self, OutputError> {
        if let Some(format) = Self::all(content).find(|format| format.name() == name) {
            return Ok(format);
        }
        match name.parse::<Format>() {
            Ok(format) if content == Content::Records => Err(OutputError::ReadOnly(format)),
            Err(error) if content == Content::Records => Err(OutputError::UnknownFormat(error)),
            _ => Err(OutputError::UnknownName(name.to_owned())),
        }
    }

    /// The format in which a file with this name is written.
    ///
    /// # Errors
    /// If the name does not show a format, or shows one that cannot be written.
    ///
    /// ```
    /// use lanefish::formats::Format;
    /// use lanefish::jobs::{Content, OutputFormat};
    /// let of = |name: &str| OutputFormat::of_path(name.as_ref(), Content::Records);
    /// assert_eq!(of("book.epd.zst"), Ok(OutputFormat::Records(Format::EPD)));
    /// assert!(of("games.pgn").is_err());
    /// ```
    pub fn of_path(path: &Path, content: Content) -> Result<Self, OutputError> {
        let extension = extension(path);
        let has = |format: &Self| extension.as_deref().is_some_and(|it| format.extensions().contains(&it));
        if let Some(format) = Self::all(content).find(has) {
            return Ok(format);
        }
        let path = path.to_owned();
        if content != Content::Records {
            return Err(OutputError::UnknownExtension { path, content });
        }
        Err(match (Format::of_name(&path), unsupported::of_name(&path)) {
            (Some(format), _) => OutputError::ReadOnlyExtension { path, format },
            (None, Some(Foreign::Unsupported(what))) => OutputError::UnsupportedExtension { path, what },
            (None, Some(name @ Foreign::Ambiguous(_))) => {
                OutputError::AmbiguousExtension { path, formats: name.candidates() }
            }
            #[cfg(not(feature = "parquet"))]
            (None, Some(Foreign::NeedsParquet(what))) => OutputError::NeedsParquet { path, what },
            (None, None) => OutputError::UnknownExtension { path, content },
        })
    }

    /// The format with another compression of the pages of a Parquet file.
    ///
    /// # Errors
    /// If Parquet does not have this compression, or the file is not a Parquet file.
    #[cfg(feature = "parquet")]
    pub fn with_compression(self, compression: &str) -> Result<Self, OutputError> {
        match self {
            Self::Parquet(pages) => {
                let compression = compression.parse().map_err(OutputError::Compression)?;
                Ok(Self::Parquet(ParquetPages { compression, ..pages }))
            }
            _ => Err(OutputError::NoPages),
        }
    }
}

/// The extension of a name without that of the compression, in lower case: `csv` for `rows.csv.zst`.
fn extension(path: &Path) -> Option<String> {
    let lower = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    let last = lower(path)?;
    match Compression::of_extension(&last) {
        Some(_) => lower(Path::new(path.file_stem()?)),
        None => Some(last),
    }
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Records(format) => format.name(),
            Self::Pgn => "PGN",
            Self::Csv => "CSV",
            Self::JsonLines => "JSON Lines",
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => "Parquet",
            #[cfg(feature = "parquet")]
            Self::Arrow(_) => "Arrow",
        })
    }
}
