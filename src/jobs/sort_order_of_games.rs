//! The order of games by a column.

use super::game_columns::{GameColumn, GameColumns};
use crate::games::GameRow;
use crate::table::{ColumnsError, Kind, Needs};
use std::str::FromStr;
use std::sync::Arc;

/// An order of games: a [column](GameColumn), and the direction, `COLUMN` or `COLUMN:desc`.
///
/// Numbers are compared as numbers, everything else as the bytes of its text. Games without a value come last in both
/// directions.
///
/// ```
/// use lanefish::jobs::GameOrder;
/// let order: GameOrder = "tag:UTCTime:desc".parse()?;
/// assert_eq!((order.column().name(), order.is_descending()), ("tag:UTCTime", true));
/// assert!(!"plies".parse::<GameOrder>()?.is_descending());
/// assert!("legal_moves".parse::<GameOrder>().is_err());
/// # Ok::<(), lanefish::table::ColumnsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GameOrder {
    column: GameColumn,
    is_descending: bool,
}

impl FromStr for GameOrder {
    type Err = ColumnsError;
    /// # Errors
    /// If there is no such column.
    fn from_str(text: &str) -> Result<Self, ColumnsError> {
        let text = text.trim();
        let (name, is_descending) = match text.rsplit_once(':') {
            Some((name, "desc")) => (name, true),
            Some((name, "asc")) => (name, false),
            _ => (text, false),
        };
        if let Some(column) = GameColumn::named(name) {
            return Ok(Self { column, is_descending });
        }
        // `tag:desc` is a tag.
        match GameColumn::named(text) {
            Some(column) => Ok(Self { column, is_descending: false }),
            None => Err(ColumnsError::Unknown(name.to_owned())),
        }
    }
}

impl GameOrder {
    /// The column whose values are compared.
    pub fn column(&self) -> &GameColumn {
        &self.column
    }
    /// Whether the largest value comes first.
    pub fn is_descending(&self) -> bool {
        self.is_descending
    }

    /// The tags that it reads; `None` if it may read all of them.
    pub(crate) fn tags(&self) -> Option<Vec<Arc<str>>> {
        GameColumns::from(self.column.clone()).tags()
    }
    /// What it needs of records.
    pub(crate) fn needs(&self) -> Needs {
        GameColumns::from(self.column.clone()).needs()
    }

    /// Appends the value of a game as bytes whose order is that of ascending values; returns whether there is one.
    pub(crate) fn put_key(&self, game: &GameRow, to: &mut Vec<u8>) -> bool {
        const SIGN: u64 = 1 << 63;
        let number = || self.column.number(game);
        let key = match self.column.kind() {
            Kind::U64 | Kind::U32 | Kind::U16 => number(),
            // Signed numbers are extended to 64 bits.
            Kind::I16 => number().map(|bits| bits ^ SIGN),
            // The total order of real numbers.
            Kind::F64 => number().map(|bits| if bits & SIGN == 0 { bits | SIGN } else { !bits }),
            _ => {
                let text = self.column.text(game);
                to.extend_from_slice(text.as_bytes());
                return !text.is_empty();
            }
        };
        to.extend_from_slice(key.map(u64::to_be_bytes).as_ref().map_or(&[], |bytes| &bytes[..]));
        key.is_some()
    }
}
