//! The content of an output: records, columns or games.

use super::game_columns::GameColumns;
use super::output_format::Content;
use crate::output::SquareSetStyle;
use crate::table::Columns;

/// The content of an output.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum OutputContent<'a> {
    /// Whole records: board, clocks, and everything that they carry.
    Records {
        /// Whether a table has also a column with the FEN.
        fen: bool,
    },
    /// Columns of records, and how sets of squares are written as text.
    Columns(&'a Columns, SquareSetStyle),
    /// Games: one row per game, or the games themselves.
    Games,
    /// One row per game, with these columns.
    GameColumns(&'a GameColumns),
}

impl OutputContent<'_> {
    /// The kind of this content.
    pub fn content(self) -> Content {
        match self {
            Self::Records { .. } => Content::Records,
            Self::Columns(..) => Content::Rows,
            Self::Games | Self::GameColumns(_) => Content::Games,
        }
    }
}
