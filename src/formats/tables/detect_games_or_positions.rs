//! What the rows of a Parquet or Arrow table are: positions or games. This is decided here, from names and types of the
//! columns, the metadata of the schema, and the user's options, in this order:
//!
//! 1. `--moves-column` or `--start-column`: games.
//! 2. `lanefish.table` in the metadata, which our own files have: what it says.
//! 3. A column `board` or `fen`, or `--fen-column`: positions. `FEN` and `Moves`: puzzles, which are positions.
//! 4. A column of moves: games.

use super::RowKind;
use super::column_map::{Column, Plan, all_of};
use super::decode::ReadColumns;
use super::game_table_columns::{GameTableColumns, MOVES, form_of};
use crate::formats::{Chunk, DecodeOptions, Decoded};
use crate::table::{Field, Fields};
use crate::text::one_line;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The key of the metadata that says what the rows of our own files are.
pub(super) use crate::columnar::TABLE as KEY;

/// What the rows of a table are, and how they become records.
pub(super) trait ReadRows: fmt::Debug + Send + Sync {
    /// What the rows are, and why.
    fn kind(&self) -> RowKind;
    /// The numbers of all columns that are read, each once; the first one holds the positions or moves.
    fn columns(&self) -> Vec<usize>;
    /// Whether a column is read as bytes.
    fn reads_bytes(&self, column: usize) -> bool;
    /// Bytes of the first column that a part should have, if rows are so long that their number alone does not tell.
    fn bytes_of_part(&self) -> Option<u64>;
    /// The requested fields for which there are columns.
    fn fields(&self) -> Fields;
    /// A note for the user, on columns that are not read.
    fn note(&self) -> Option<String>;
    /// The requested fields whose columns have types that do not fit, with descriptions of these columns.
    fn dropped_values(&self) -> &[(Field, String)];
    /// Decodes rows, which count within the group of `columns` from `first` on, the number of its first row in the file.
    fn decode(
        &self,
        columns: &dyn ReadColumns,
        rows: Range<u64>,
        first: u64,
        chunk: &Chunk,
        options: &DecodeOptions,
    ) -> Decoded;
}

/// Decides what the rows of a table are, and which columns are read.
///
/// # Errors
/// If they are neither, or a column that the options name does not fit: the rest of a sentence that begins with the name of
/// the file.
pub(super) fn rows_of(
    columns: &[Column],
    said: Option<&str>,
    options: &DecodeOptions,
) -> Result<Arc<dyn ReadRows>, String> {
    let games = || -> Result<Arc<dyn ReadRows>, String> { Ok(Arc::new(GameTableColumns::of(columns, options)?)) };
    let positions = || -> Result<Arc<dyn ReadRows>, String> {
        let mut plan = Plan::of(columns, options)?;
        let moves = columns.iter().find(|column| is_moves(column) && plan.set_up.is_none());
        plan.moves_beside = moves.map(|column| column.name.clone());
        Ok(Arc::new(plan))
    };
    let has = |name: &str| columns.iter().any(|column| column.name == name);
    let names_games = options.moves_column.is_some() || options.start_column.is_some();
    match said {
        _ if names_games => games(),
        _ if options.fen_column.is_some() => positions(),
        Some("games") => games(),
        Some("positions") => positions(),
        _ if has("board") || has("fen") || has("FEN") && has("Moves") => positions(),
        _ if columns.iter().any(is_moves) => games(),
        _ if options.may_lack_positions && !columns.is_empty() => positions(),
        _ => Err(format!(
            "has neither positions (a column `fen` or `board`; --fen-column names another) nor games (a column of text or lists \
             {}; --moves-column names another); {}",
            quoted(&MOVES.map(|(name, _)| name)),
            all_of(columns)
        )),
    }
}

/// Whether a column has the name and the type of one that holds the moves of games.
fn is_moves(column: &Column) -> bool {
    form_of(column).is_some()
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (others, last) = names.split_at(names.len() - 1);
    format!("{} or {}", others.join(", "), last.concat())
}

/// What the rows of a file are, without options.
///
/// # Errors
/// If they are neither games nor positions, as for [`rows_of`].
pub(super) fn kind_of(columns: &[Column], said: Option<&str>) -> Result<RowKind, String> {
    rows_of(columns, said, &DecodeOptions::default()).map(|rows| {
        let RowKind { has_games, evidence } = rows.kind();
        let evidence = match said {
            Some(said @ ("games" | "positions")) => format!("{evidence}; `{KEY}` is `{said}`"),
            _ => evidence,
        };
        RowKind { has_games, evidence }
    })
}

impl ReadRows for Plan {
    fn kind(&self) -> RowKind {
        RowKind { has_games: false, evidence: format!("positions in the column {}", self.described) }
    }
    fn columns(&self) -> Vec<usize> {
        self.columns()
    }
    fn reads_bytes(&self, column: usize) -> bool {
        self.reads_bytes(column)
    }
    fn bytes_of_part(&self) -> Option<u64> {
        None
    }
    fn fields(&self) -> Fields {
        self.carried()
    }
    fn note(&self) -> Option<String> {
        let beside = self.moves_beside.as_deref().map(one_line::of);
        let of_moves = beside.map(|name| format!("each row is read as a position; --moves-column {name} reads games"));
        let notes = [self.note(), of_moves];
        notes.into_iter().flatten().reduce(|all, note| format!("{all}; {note}"))
    }
    fn dropped_values(&self) -> &[(Field, String)] {
        &self.dropped_values
    }
    fn decode(
        &self,
        columns: &dyn ReadColumns,
        rows: Range<u64>,
        first: u64,
        chunk: &Chunk,
        options: &DecodeOptions,
    ) -> Decoded {
        super::decode::decode(self, columns, rows, first, chunk, options)
    }
}
