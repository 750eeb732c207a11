//! Parts of tables: what a format whose inputs divide themselves ([`Layout::Tables`](super::layout::Layout::Tables)) gives
//! to the pipeline in place of chunks of bytes.

use super::chunk::{Chunk, DecodeOptions};
use super::decoded_chunk::Decoded;
use super::memory_budget::{Budget, Charge, grant};
use crate::error::Damage;
use crate::input::{Bytes, RandomAccess};
use crate::table::{Field, Fields};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A format whose inputs divide themselves into parts.
pub(crate) trait OpenTable: fmt::Debug + Sync {
    /// Opens an input and finds its columns. With `shard`, only its row groups or record batches are read.
    ///
    /// # Errors
    /// If the file is damaged, or has no column of positions.
    fn open(
        &self,
        source: RandomAccess,
        options: &DecodeOptions,
        shard: Option<ShardOfTable>,
    ) -> Result<Box<dyn TableReader>, TableError>;

    /// Describes the content of a file.
    ///
    /// # Errors
    /// If the file is damaged.
    fn facts(&self, source: RandomAccess) -> Result<Facts, Damage>;
}

/// The row groups or record batches of a table that belong to a shard: those that begin in some bytes of the file.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "every table is a Parquet or Arrow file"))]
pub(crate) struct ShardOfTable {
    /// These bytes.
    pub(crate) range: Range<u64>,
    /// If games are taken as wholes, the last rows before the shard are read, too, and the rows after it until this is
    /// true.
    pub(crate) reads_until: Option<Arc<AtomicBool>>,
}

#[cfg(feature = "parquet")]
impl ShardOfTable {
    /// Whether the rows after the shard are read.
    pub(in crate::formats) fn reads_on(&self) -> bool {
        self.reads_until.as_ref().is_some_and(|is_enough| !is_enough.load(std::sync::atomic::Ordering::Relaxed))
    }
}

/// The content of a file, according to its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// Number of rows.
    pub rows: u64,
    /// Number of row groups or record batches.
    pub groups: u64,
    /// Names and types of all columns.
    pub columns: Vec<(String, String)>,
    /// The codecs of compressed pages or buffers, in alphabetical order.
    pub codecs: Vec<String>,
    /// What the rows are, or why they cannot be read.
    pub kind: Result<RowKind, String>,
}

/// The reason why a table cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The table is damaged.
    Damaged(Damage),
    /// It has no column of positions: the rest of a sentence that begins with its name.
    Columns(String),
}

impl From<Damage> for TableError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

/// What the rows of a table are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowKind {
    /// Whether each has a game, instead of a position.
    pub has_games: bool,
    /// What shows this: the column that holds the positions or moves.
    pub evidence: String,
}

/// An open table.
pub(crate) trait TableReader: fmt::Debug + Send {
    /// The next part, in the order of the file. If the file is damaged there, the part decodes to the damage.
    fn next(&mut self) -> Option<RowPart>;
    /// What the rows are, and why.
    fn kind(&self) -> RowKind;
    /// A note for the user, on columns that are not read.
    fn note(&self) -> Option<String>;
    /// The requested fields for which it has columns.
    fn fields(&self) -> Fields;
    /// The requested fields whose columns have types that do not fit, with descriptions of these columns.
    fn dropped_values(&self) -> &[(Field, String)];
    /// Checks that the file has not become shorter since it was opened.
    ///
    /// # Errors
    /// If it has: the data read last may be zeros that were never in the file.
    fn check(&self) -> io::Result<()>;
}

/// Rows of a table, which can be decoded without those before them.
#[derive(Clone, Debug)]
pub struct RowPart {
    pub(in crate::formats) rows: Range<u64>,
    pub(in crate::formats) place: u64,
    pub(in crate::formats) bytes: u64,
    pub(in crate::formats) content: Bytes,
    /// The charges for the memory it needs, for itself and shared with other parts.
    pub(in crate::formats) charges: Vec<Arc<Charge>>,
    pub(in crate::formats) decode: Arc<dyn DecodeRows>,
    /// Whether the rows lie in another shard.
    pub(in crate::formats) of_other_shard: bool,
}

impl RowPart {
    /// The numbers of the rows in their file.
    pub fn rows(&self) -> Range<u64> {
        self.rows.clone()
    }
    /// The offset in the file at which their positions begin.
    pub fn place(&self) -> u64 {
        self.place
    }
    /// Number of bytes of the file that count as read with this part.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// The bytes from which positions are read, as far as they belong to this part.
    pub fn content(&self) -> Bytes {
        self.content.clone()
    }
    /// The part with only the first `rows` rows.
    #[must_use]
    pub fn up_to(&self, rows: u64) -> Self {
        let end = self.rows.start.saturating_add(rows).min(self.rows.end);
        Self { rows: self.rows.start..end, ..self.clone() }
    }
    /// The part as one that is read for games that begin or end there, but lies in another shard.
    #[cfg(feature = "parquet")]
    pub(in crate::formats) fn of_other_shard(self) -> Self {
        Self { of_other_shard: true, ..self }
    }
    /// Checks that the file has not become shorter.
    pub(in crate::formats) fn check(&self) -> io::Result<()> {
        self.decode.check()
    }
    /// The part without its data and the memory for them, once it is decoded.
    pub(in crate::formats) fn decoded(&self) -> Self {
        Self { charges: Vec::new(), content: Bytes::from(Vec::new()), decode: Arc::new(Done), ..self.clone() }
    }
    /// Takes the memory for the part from a budget; false if it has to wait until others give memory back.
    pub(crate) fn enter(&self, budget: &Arc<Budget>) -> bool {
        grant(&self.charges, budget)
    }
    /// Decodes the rows.
    pub fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        self.decode.decode(self.rows(), chunk, options)
    }
}

/// Rows that can be decoded.
pub(in crate::formats) trait DecodeRows: fmt::Debug + Send + Sync {
    /// Decodes rows, counted from the beginning of the file.
    fn decode(&self, rows: Range<u64>, chunk: &Chunk, options: &DecodeOptions) -> Decoded;
    /// Checks that their file has not become shorter.
    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The texts of records that are rejected after decoding.
pub(crate) trait RecordTexts: fmt::Debug + Send + Sync {
    /// The text of a record, counted from the beginning of its chunk; `None` if it has none.
    fn text(&self, record: usize) -> Option<Vec<u8>>;
}

/// A substitute for rows that have been decoded.
#[derive(Debug)]
struct Done;

impl DecodeRows for Done {
    fn decode(&self, _: Range<u64>, _: &Chunk, _: &DecodeOptions) -> Decoded {
        Decoded::default()
    }
    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A part that consists of damage.
#[cfg(feature = "parquet")]
#[derive(Debug)]
struct Damaged(Damage);

#[cfg(feature = "parquet")]
impl DecodeRows for Damaged {
    fn decode(&self, rows: Range<u64>, _: &Chunk, _: &DecodeOptions) -> Decoded {
        Decoded {
            damage: vec![Damage { offset: 0, ..self.0.clone() }],
            records: rows.end - rows.start,
            ..Decoded::default()
        }
    }
}

#[cfg(feature = "parquet")]
impl RowPart {
    /// Rows that cannot be read.
    pub(in crate::formats) fn damaged(damage: Damage, rows: Range<u64>, bytes: u64) -> Self {
        Self {
            rows,
            place: damage.offset,
            bytes,
            content: Bytes::from(Vec::new()),
            charges: Vec::new(),
            decode: Arc::new(Damaged(damage)),
            of_other_shard: false,
        }
    }
}
