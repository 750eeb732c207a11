//! The arguments of decoders: a chunk, and the options for decoding it.

use super::layout::{Extent, Requested, RequestedSections};
use super::table_row_parts::RowPart;
use crate::chess::Validity;
use crate::choose::GameFilter;
use crate::error::{Place, Reject};
use crate::input::Bytes;
use crate::option_setters::setters;
use crate::table::Fields;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How a validity level is serialized.
#[cfg(feature = "cluster")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "Validity")]
pub(crate) enum ValidityWire {
    Playable,
    Strict,
}

/// Options for decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Keep en passant squares as written, even where no en passant capture is legal.
    pub keep_en_passant: bool,
    /// The validity level. Decoders check only what cannot be seen later (such as an en passant square that they drop);
    /// everything else is checked in bulk.
    #[cfg_attr(feature = "cluster", serde(with = "ValidityWire"))]
    pub validity: Validity,
    /// The requested fields; others need not be decoded. A run adds the fields that its job reads; likewise tags and
    /// rows of games.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub fields: Fields,
    /// Names of the tags of games that are requested in [`Batch::tags`](crate::table::Batch::tags).
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub tags: Arc<[Arc<str>]>,
    /// The selection of games and of their positions; everything by default. In a run, [`crate::choose::Choose::games`]
    /// comes first.
    pub games: Option<Arc<GameFilter>>,
    /// Whether [`Decoded::game_rows`](crate::formats::Decoded::game_rows) are requested.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub game_rows: bool,
    /// Whether the game rows only need to say where each game is in the chunk, without tags and positions: enough to
    /// copy games.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub game_places: bool,
    /// The names of the tags that rows of games need, in any case; `None` for all tags.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) row_tags: Option<Arc<[Arc<str>]>>,
    /// Whether [`Decoded::lost_tags`](crate::formats::Decoded::lost_tags) are requested.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub lost_tags: bool,
    /// Whether they are requested for each game or record by itself: [`Decoded::lost_of_each`](crate::formats::Decoded).
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) lost_of_each: bool,
    /// Whether boards files give batches whose fields are still in their [block](crate::table::Batch::block).
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) blocks: bool,
    /// Tables of games: write their games as text, which rows of games refer to.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) game_texts: bool,
    /// Accept only what the PGN standard allows, not the common deviations.
    pub strict_pgn: bool,
    /// The largest allowed record (a line, a game) in bytes; longer ones are rejected.
    pub max_record: usize,
    /// Tables: the limit for data that is unpacked at the same time, in bytes.
    pub max_memory: u64,
    /// The column of a table (also in text) that holds the positions as FEN, instead of `board` or `fen`.
    pub fen_column: Option<Arc<str>>,
    /// The column of a Parquet or Arrow table that holds the moves of games, which makes its rows games.
    pub moves_column: Option<Arc<str>>,
    /// The column of such a table that holds the FENs of the positions in which games begin.
    pub start_column: Option<Arc<str>>,
    /// Whether tables may lack positions, because only their columns count. All of their records then have the start
    /// position.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) may_lack_positions: bool,
    /// Whether tables are read without their positions where all requested fields have columns of their own. Then no
    /// record is judged, and all of them have the start position.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) without_positions: bool,
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
            row_tags: None,
            lost_tags: false,
            lost_of_each: false,
            blocks: false,
            game_texts: false,
            strict_pgn: false,
            max_record: MAX_RECORD,
            max_memory: MAX_MEMORY,
            fen_column: None,
            moves_column: None,
            start_column: None,
            may_lack_positions: false,
            without_positions: false,
        }
    }
}

setters!(DecodeOptions {
    keep_en_passant: bool,
    validity: Validity,
    fields: Fields,
    tags: Arc<[Arc<str>]>,
    games: Option<Arc<GameFilter>>,
    game_rows: bool,
    game_places: bool,
    lost_tags: bool,
    strict_pgn: bool,
    max_record: usize,
    max_memory: u64,
    fen_column: Option<Arc<str>>,
    moves_column: Option<Arc<str>>,
    start_column: Option<Arc<str>>,
});

impl DecodeOptions {
    /// Whether a format without games lists what each record loses. If a selection follows, its records get other
    /// numbers, and all of them are counted.
    pub(crate) fn lists_lost_of_records(&self) -> bool {
        self.lost_tags && self.lost_of_each && self.games.is_none()
    }
}

/// A run of whole records of one input.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Chunk {
    /// The input.
    pub file: Arc<Path>,
    /// The bytes of the chunk.
    pub bytes: Bytes,
    /// Offset of the bytes in the decompressed input.
    pub offset: u64,
    /// Whether the input is truncated after these bytes, so that the last record may be incomplete.
    pub truncated: bool,
    /// If the input is divided by frames: where in the file the frame begins from whose content `offset` counts.
    pub frame: Option<u64>,
    /// Which part of the bytes belongs to the chunk.
    pub(crate) extent: Extent,
    /// Whether the shards take turns in the input, so that the bytes before and after these may belong to others.
    pub(crate) in_turns: bool,
    /// Whether all of its records lie in another shard, and are read because a game may begin in one and end in another.
    pub(crate) of_other_shard: bool,
    /// The first line of the input, if it determines how all others are read.
    pub header: Option<Arc<[u8]>>,
}

impl Chunk {
    /// Makes a chunk at the start of an input.
    pub fn new(file: Arc<Path>, bytes: Bytes) -> Self {
        Self {
            file,
            bytes,
            offset: 0,
            truncated: false,
            frame: None,
            extent: Extent::All,
            in_turns: false,
            of_other_shard: false,
            header: None,
        }
    }

    /// Whether the records before and after those of a batch may belong to other shards.
    pub(crate) fn is_in_turns(&self) -> bool {
        self.in_turns || matches!(self.extent, Extent::Sections(RequestedSections { which: Requested::Turn(_), .. }))
    }

    /// Checks that a file that is read in place still has all bytes of the chunk. If the file was truncated, the
    /// decoded data may be zeros that were never in it.
    ///
    /// # Errors
    /// If the file has become shorter, or its length cannot be read.
    pub fn check(&self) -> io::Result<()> {
        self.bytes.check()?;
        self.rows().map_or(Ok(()), RowPart::check)
    }

    /// Makes a chunk from rows of a table.
    pub fn of_rows(file: Arc<Path>, rows: RowPart) -> Self {
        let (offset, bytes, of_other_shard) = (rows.place(), rows.content(), rows.of_other_shard);
        Self { offset, of_other_shard, extent: Extent::Rows(rows), ..Self::new(file, bytes) }
    }

    /// The rows of the chunk, if it is part of a table.
    pub fn rows(&self) -> Option<&RowPart> {
        match &self.extent {
            Extent::Rows(rows) => Some(rows),
            Extent::All | Extent::Sections(_) | Extent::Segment(_) => None,
        }
    }
}

setters!(Chunk {
    offset: u64,
    truncated: bool,
    header: Option<Arc<[u8]>>,
});

/// Number of bytes that a reject keeps from a record that is too long.
pub(crate) const GIANT_HEAD: usize = 4096;

/// The reject for a record that is longer than [`DecodeOptions::max_record`]; the caller adds the rest of the place.
pub(crate) fn too_long(file: &Arc<Path>, record: &[u8], max_record: usize) -> Reject {
    Reject::new(
        Place::start_of(Arc::clone(file)),
        vec!["record_too_long"],
        format!("longer than {max_record} bytes; --max-record SIZE sets the limit"),
        record[..record.len().min(GIANT_HEAD)].to_vec(),
    )
}
