//! What positions are grouped by: one or two columns, with the width of ranges of numbers.

use crate::ParseError;
use crate::report::GroupColumn;
use crate::table::{ChosenColumn, Columns, Kind, Needs};
use std::fmt;
use std::str::FromStr;

/// Maximum number of columns.
const MOST_COLUMNS: usize = 2;

/// The column or the two columns by which positions are grouped, with the widths of ranges.
///
/// ```
/// use lanefish::stats::GroupBy;
/// let by: GroupBy = "speed,ply/20".parse().unwrap();
/// assert_eq!(by.to_string(), "speed,ply/20");
/// assert_eq!("ply".parse::<GroupBy>().unwrap().to_string(), "ply/10");
/// assert!("phase/0".parse::<GroupBy>().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct GroupBy {
    columns: Columns,
    widths: Vec<u64>,
}

/// Columns with many values, and the width of their ranges unless another one is given.
const WIDTHS: [(&str, u64); 26] = [
    ("ply", 10),
    ("game_plies", 10),
    ("plies_left", 10),
    ("fullmove", 10),
    ("halfmove", 10),
    ("score", 100),
    ("raw_score", 100),
    ("stm_score", 100),
    ("score_before", 100),
    ("move_see", 100),
    ("white_elo", 100),
    ("black_elo", 100),
    ("mean_elo", 100),
    ("puzzle_rating", 100),
    ("rating_deviation", 10),
    ("popularity", 10),
    ("plays", 1000),
    ("knodes", 100_000),
    ("clock", 6000),
    ("legal_moves", 5),
    ("mobility_white", 5),
    ("mobility_black", 5),
    ("material_white", 5),
    ("material_black", 5),
    ("stm_material", 5),
    ("nstm_material", 5),
];

impl fmt::Display for GroupBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (column, width)) in self.columns().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{}", column.name())?;
            if !is_text(column) {
                write!(f, "/{width}")?;
            }
        }
        Ok(())
    }
}

/// Whether a column has texts, which have no ranges.
fn is_text(column: &ChosenColumn) -> bool {
    matches!(column.kind(), Kind::Text | Kind::Date)
}

impl FromStr for GroupBy {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (names, given): (Vec<&str>, Vec<Option<&str>>) = text
            .split(',')
            .map(|part| part.split_once('/').map_or((part, None), |(name, width)| (name, Some(width))))
            .unzip();
        let columns = Columns::named(&names.join(",")).map_err(|error| ParseError::new(error.to_string()))?;
        // A family such as `bits` is several columns.
        if columns.iter().count() != names.len() || names.len() > MOST_COLUMNS {
            return Err(ParseError::new("expected one or two columns"));
        }
        let widths = columns.iter().zip(given).map(|(column, width)| match width {
            Some(_) if is_text(column) => {
                Err(ParseError::new(format!("`{}` is text: it has no ranges of numbers", column.name())))
            }
            Some(width) => {
                let width = width.parse().ok().filter(|width| (1..=1_000_000).contains(width));
                width.ok_or_else(|| {
                    ParseError::new("expected a width from 1 to 1,000,000 after the slash, as in ply/10")
                })
            }
            None => {
                let usual = WIDTHS.iter().find(|(other, _)| *other == column.name());
                Ok(usual.map_or(1, |&(_, width)| width))
            }
        });
        let widths = widths.collect::<Result<_, _>>()?;
        Ok(Self { columns, widths })
    }
}

impl GroupBy {
    /// The columns, with the widths of their ranges: numbers from a multiple of the width up to the next one are one
    /// group.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&ChosenColumn, u64)> {
        self.columns.iter().zip(self.widths.iter().copied())
    }
    /// The columns as a report has them.
    pub(crate) fn described(&self) -> Vec<GroupColumn> {
        self.columns().map(|(column, width)| GroupColumn { name: column.name().to_owned(), width }).collect()
    }
    /// What the columns need of records.
    pub fn needs(&self) -> Needs {
        self.columns.needs()
    }
}
