//! What decoders are given: a chunk, and how it is to be decoded.

use super::layout::Extent;
use super::tables;
use crate::chess::validity::Validity;
use crate::choose::Selection;
use crate::error::{Place, Reject};
use crate::input::Bytes;
use crate::setters::setters;
use crate::table::Fields;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How to decode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Keep en passant squares as written, even where no en passant capture is legal.
    pub keep_en_passant: bool,
    /// The validity level. Decoders check only what they alone can see (an en passant square
    /// that is dropped afterwards); the rest is checked in bulk.
    pub validity: Validity,
    /// The requested fields; others need not be decoded. A run adds those that its job reads, and the same holds for
    /// tags and rows of games.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub fields: Fields,
    /// Names of the tags of games that are requested in [`Batch::tags`](crate::table::Batch::tags).
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub tags: Arc<[Arc<str>]>,
    /// Which games and which of their positions are taken; all by default. In a run, [`crate::choose::Choose::games`] comes
    /// first.
    pub games: Option<Arc<Selection>>,
    /// Whether [`Decoded::game_rows`](super::Decoded::game_rows) are requested.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub game_rows: bool,
    /// Whether these are only to say where games are in the chunk, as copies of games need it: without tags and positions.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub game_places: bool,
    /// Whether [`Decoded::lost_tags`](super::Decoded::lost_tags) are requested.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub lost_tags: bool,
    /// Accept only what the PGN standard allows, not the common deviations.
    pub strict_pgn: bool,
    /// The longest record (a line, a game) in bytes; a longer one is a reject.
    pub max_record: usize,
    /// Tables: memory for what is unpacked at the same time, in bytes.
    pub max_memory: u64,
    /// The column of a table (also of text) that holds the positions as FEN, instead of `board` or `fen`.
    pub fen_column: Option<Arc<str>>,
}

/// The default of [`DecodeOptions::max_record`].
pub const MAX_RECORD: usize = 16 << 20;
/// The default of [`DecodeOptions::max_memory`].
pub const MAX_MEMORY: u64 = 1 << 30;

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            keep_en_passant: false,
            validity: Validity::default(),
            fields: Fields::default(),
            tags: Arc::default(),
            games: None,
            game_rows: false,
            game_places: false,
            lost_tags: false,
            strict_pgn: false,
            max_record: MAX_RECORD,
            max_memory: MAX_MEMORY,
            fen_column: None,
        }
    }
}

setters!(DecodeOptions {
    keep_en_passant: bool,
    validity: Validity,
    fields: Fields,
    tags: Arc<[Arc<str>]>,
    games: Option<Arc<Selection>>,
    game_rows: bool,
    game_places: bool,
    lost_tags: bool,
    strict_pgn: bool,
    max_record: usize,
    max_memory: u64,
    fen_column: Option<Arc<str>>,
});

/// A run of whole records of one input.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Chunk {
    /// The input.
    pub file: Arc<Path>,
    /// The bytes.
    pub bytes: Bytes,
    /// Where they begin in the decompressed input.
    pub offset: u64,
    /// Whether the input is truncated after them, so that the last record may be incomplete.
    pub truncated: bool,
    /// If the input is divided by frames: the place in the file of the frame from whose content `offset` counts.
    pub frame: Option<u64>,
    /// What of the bytes it is.
    pub(crate) extent: Extent,
    /// The first line of the input, if it says how all others are read.
    pub header: Option<Arc<[u8]>>,
}

impl Chunk {
    /// A chunk at the start of an input.
    pub fn new(file: Arc<Path>, bytes: Bytes) -> Self {
        Self { file, bytes, offset: 0, truncated: false, frame: None, extent: Extent::All, header: None }
    }

    /// Checks that a file that is read in place has not become shorter than what the chunk needs of it. If it has, what
    /// was decoded may be zeros that were never in the file.
    ///
    /// # Errors
    /// If the file has become shorter, or its length cannot be read.
    pub fn check(&self) -> io::Result<()> {
        self.bytes.check()?;
        self.rows().map_or(Ok(()), tables::RowPart::check)
    }

    /// Rows of a table.
    pub fn of_rows(file: Arc<Path>, rows: tables::RowPart) -> Self {
        let (offset, bytes) = (rows.place(), rows.content());
        Self { offset, extent: Extent::Rows(rows), ..Self::new(file, bytes) }
    }

    /// The rows that it is, if it is part of a table.
    pub fn rows(&self) -> Option<&tables::RowPart> {
        match &self.extent {
            Extent::Rows(rows) => Some(rows),
            Extent::All | Extent::Sections(_) => None,
        }
    }
}

setters!(Chunk {
    offset: u64,
    truncated: bool,
    header: Option<Arc<[u8]>>,
});

/// Bytes that a reject keeps of a record that is too long.
pub(crate) const GIANT_HEAD: usize = 4096;

/// The reject of a record that is longer than [`DecodeOptions::max_record`]; the caller completes the place.
pub(crate) fn too_long(file: &Arc<Path>, record: &[u8], max_record: usize) -> Reject {
    Reject::new(
        Place::start_of(Arc::clone(file)),
        vec!["record_too_long"],
        format!("longer than {max_record} bytes; --max-record SIZE sets the limit"),
        record[..record.len().min(GIANT_HEAD)].to_vec(),
    )
}
