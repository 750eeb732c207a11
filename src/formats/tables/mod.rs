//! Tables: Parquet and Arrow files with a column of positions, or with one of games.
//!
//! Position sets on data hubs are tables: a column of FENs, and further columns about them. Such a file has an index of
//! its own and columns that are compressed separately, so it cannot be cut into runs of bytes. The layout of such a
//! format is `Layout::Tables`: it opens an input at once and divides it into [`RowPart`]s, which take the
//! place of chunks of bytes in the pipeline. A part consists of at most 131,072 rows. Parts are handed out in the order
//! of the file, and decoded on any thread independently of each other. Where parts begin depends on the file only, so
//! that results do not depend on threads.
//!
//! # Columns
//!
//! A column `board` holds packed boards as boards files do (32 bytes: colour and the three type planes, each
//! little-endian), with the columns `halfmove` and `fullmove` if they exist. Otherwise, a column `fen` holds text like
//! the lines of a FEN file, and is read by the same functions. [`DecodeOptions::fen_column`] names another text column.
//! Columns with the name of a [`Field`](crate::table::Field) are read if the field is requested and their type fits:
//! any integers, whose range is checked, also as floats that are whole, and any strings, also as dictionaries. `move`
//! may be UCI or SAN as text, or our 16 bits; `result` may also be 0, 1 or 2 for a win of Black, a draw or a win of
//! White; `date` may also be a column of days. A row without a position, with a bad one, or with a value out of range
//! is rejected. Columns that cannot be used are listed in a note.
//!
//! Copies of Lichess data keep the names of their source. `cp` is a score, and `line` begins with the move;
//! `PuzzleId`, `Rating`, `RatingDeviation`, `Popularity`, `NbPlays`, `Themes`, `GameUrl` and `OpeningTags` are fields
//! of puzzles. If there is also a column with our own name, that one counts. If the positions are in a column
//! `FEN` and there is a text column `Moves`, the rows are [puzzles](super::lichess::puzzles): a record is the position after the
//! first of the moves, its `move` is the second one, and a row whose moves cannot be played is rejected.
//!
//! # Games
//!
//! A row may also be a game: movetext in a column, and tags in others (`game_table_columns`). `detect_games_or_positions`
//! decides what the rows of a file are. Games become records exactly as those of [PGN](super::pgn), which gets the text of each row where
//! it lies. The texts of a part then have about a mebibyte.
//!
//! # Parquet
//!
//! When a row group begins, only the headers of the pages of the required columns are read. They give the row at which
//! each page begins, with or without an offset index, and are checked against the metadata: if rows are missing, the
//! file is damaged. A part consists of whole pages of the positions, ideally about 32,768 rows, and of the same rows in
//! the pages of other columns; large pages are divided. To read a column of a part, its pages and their dictionary are
//! put together as a column chunk of their own. Lists of moves are mostly numbers of dictionary entries, which are read
//! without the library (`parquet_dictionary_lists`).
//!
//! # Arrow
//!
//! A file has an index of its record batches; a stream is read from message to message. Each batch is decoded by the
//! thread that first needs it, in place if it is not compressed, and divided into parts.
//!
//! # Checksums
//!
//! Checksums of pages are verified if a page has one. Parquet files that lanefish wrote also have a checksum for their
//! metadata, and Arrow files one for the names and types of their columns; these do not apply to copies that other
//! programs make. Arrow itself has no checksums. Its dictionaries must belong to a column and occur once, and the
//! schema at the beginning of a file must equal that of its footer, but nothing protects values. Use boards files for
//! data that must be safe from damage.
//!
//! # Memory
//!
//! Arrays in memory are a table as well: this is how `jobs::compute` reads data from other programs.
//!
//! # Untrusted files
//!
//! All sizes that the file claims are checked before they are relied on: a page or buffer may have at most 1 GiB after
//! decompression, and decompression stops there. Text is taken as bytes and becomes UTF-8 only as a copy, and places
//! within buffers are checked whenever they are used, because a mapped file may change. Panics of the libraries that
//! read these formats are caught and reported as damage; `hide_caught_panics` keeps their messages out of standard
//! error.

#[cfg(feature = "parquet")]
mod arrays_in_memory;
#[cfg(feature = "parquet")]
mod arrow;
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text has one kind of columns"))]
pub(super) mod column_map;
#[cfg(feature = "parquet")]
mod decode;
pub(super) mod delimited;
#[cfg(feature = "parquet")]
mod detect_games_or_positions;
#[cfg(feature = "parquet")]
mod dictionaries;
#[cfg(feature = "parquet")]
mod dictionary_values;
pub(super) mod fields_from_values;
#[cfg(feature = "parquet")]
mod footer;
#[cfg(feature = "parquet")]
mod game_table_columns;
pub(super) mod hive_folders;
#[cfg(feature = "parquet")]
mod ipc_buffer_checks;
#[cfg(feature = "parquet")]
mod ipc_messages;
pub(super) mod json_walk;
#[cfg(feature = "parquet")]
mod page_checks;
#[cfg(feature = "parquet")]
mod page_subset;
#[cfg(feature = "parquet")]
mod page_unpack;
#[cfg(feature = "parquet")]
mod panic_guard;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_dictionary_lists;
#[cfg(feature = "parquet")]
mod parquet_page_headers;
#[cfg(feature = "parquet")]
mod struct_fields;
pub mod text;
#[cfg(feature = "parquet")]
mod values;

#[cfg(feature = "parquet")]
pub(crate) use arrays_in_memory::Arrays;
#[cfg(feature = "parquet")]
pub(super) use arrow::Arrow;
#[cfg(feature = "parquet")]
pub use panic_guard::hide_caught_panics;
#[cfg(feature = "parquet")]
pub(super) use parquet::Parquet;

pub(crate) use column_map::{COLUMN, Written};

pub(crate) use super::codec::memory_budget::Budget;
#[cfg(feature = "parquet")]
use super::codec::table_row_parts::DecodeRows;
pub use super::codec::table_row_parts::{Facts, RowKind, RowPart, TableError};
pub(crate) use super::codec::table_row_parts::{OpenTable, RecordTexts, ShardOfTable, TableReader};

use super::DecodeOptions;
#[cfg(feature = "parquet")]
use super::pgn::OF_GAMES;
#[cfg(feature = "parquet")]
use super::{About, Chunk, Codec, Decoded, Layout, Likeness};
use crate::error::Damage;
use crate::input::RandomAccess;
#[cfg(feature = "parquet")]
use crate::table;
use std::ops::Range;

/// Maximum number of rows of a part, unless a page or dictionary is very large. Parts have about a fourth of that where
/// the file allows it.
#[cfg(feature = "parquet")]
const MOST_ROWS: u64 = 128 << 10;
/// The maximum size of a page or buffer, after decompression.
#[cfg(feature = "parquet")]
const MOST_BYTES: u64 = 1 << 30;
/// Number of bytes that a row takes while it is read and judged, and the same for each of its fields.
#[cfg(feature = "parquet")]
const BYTES_OF_ROW: u64 = 128;
#[cfg(feature = "parquet")]
const BYTES_OF_FIELD: u64 = 24;

/// The tables of a format: [`Format::tables`](super::Format::tables).
#[derive(Clone, Copy, Debug)]
pub struct Tables(&'static dyn OpenTable);

impl Tables {
    pub(super) fn new(tables: &'static dyn OpenTable) -> Self {
        Self(tables)
    }
    /// Opens an input and finds its columns. With `shard`, only the row groups or record batches that begin in these
    /// bytes are read.
    ///
    /// # Errors
    /// If the file is damaged, or has no column of positions.
    pub fn open(
        self,
        source: RandomAccess,
        options: &DecodeOptions,
        shard: Option<Range<u64>>,
    ) -> Result<RowParts, TableError> {
        self.0.open(source, options, shard.map(|range| ShardOfTable { range, reads_until: None })).map(RowParts)
    }
    /// Describes the content of a file.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn facts(self, source: RandomAccess) -> Result<Facts, Damage> {
        self.0.facts(source)
    }
}

/// The parts of an open table, in the order of the file. If the file is damaged, a part decodes to the damage.
#[derive(Debug)]
pub struct RowParts(Box<dyn TableReader>);

impl RowParts {
    /// What the rows are.
    pub fn kind(&self) -> RowKind {
        self.0.kind()
    }
}

impl Iterator for RowParts {
    type Item = RowPart;
    fn next(&mut self) -> Option<RowPart> {
        self.0.next()
    }
}

/// The codec of those tables of a format whose rows are games.
#[cfg(feature = "parquet")]
#[derive(Debug)]
struct TableOfGames {
    about: &'static About,
    tables: &'static dyn OpenTable,
}

#[cfg(feature = "parquet")]
impl TableOfGames {
    const fn about(name: &'static str, title: &'static str) -> About {
        About { name, title, extensions: &[], has_games: true, can_be_empty: true, selects: true, carries: OF_GAMES }
    }
}

#[cfg(feature = "parquet")]
impl Codec for TableOfGames {
    fn about(&self) -> &'static About {
        self.about
    }
    fn likeness(&self, _: &[u8]) -> Likeness {
        Likeness::No
    }
    fn layout(&self) -> Layout {
        Layout::Tables(self.tables)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode(self.tables, chunk, options)
    }
}

/// Decodes a part; a chunk without one is a whole file, all of whose parts are decoded.
#[cfg(feature = "parquet")]
fn decode(tables: &dyn OpenTable, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    if let Some(part) = chunk.rows() {
        return part.decode(chunk, options);
    }
    let mut all = Decoded::default();
    let mut opened = match tables.open(RandomAccess::of(chunk.bytes.clone()), options, None) {
        Ok(table) => table,
        Err(error) => {
            all.damage.push(match error {
                TableError::Damaged(damage) => damage,
                TableError::Columns(what) => Damage::at(0, what),
            });
            return all;
        }
    };
    while let Some(part) = opened.next() {
        let mut decoded = part.decode(chunk, options);
        for batch in &mut decoded.batches {
            batch.first_index += all.records;
            if let Some(table::Array::U64(games)) =
                batch.fields.get_mut(&table::Field::Game).filter(|_| decoded.games != 0)
            {
                games.add(all.games);
            }
        }
        for row in &mut decoded.game_rows {
            row.game += all.games;
            row.record += all.records;
        }
        for reject in &mut decoded.rejects {
            reject.place.record += all.records;
            reject.place.offset += part.place();
            reject.place.game = reject.place.game.map(|game| game + all.games);
        }
        for damage in &mut decoded.damage {
            damage.offset += part.place();
        }
        all.batches.append(&mut decoded.batches);
        all.rejects.append(&mut decoded.rejects);
        all.damage.append(&mut decoded.damage);
        all.game_rows.append(&mut decoded.game_rows);
        all.records += decoded.records;
        all.games += decoded.games;
        all.remarks.merge(&decoded.remarks);
    }
    all
}
