//! What positions are grouped by: one or two columns, with the width of ranges of numbers.

use crate::ParseError;
use crate::report::{GroupColumn, decimal};
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
/// assert_eq!("win_chance:0.05".parse::<GroupBy>().unwrap().to_string(), "win_chance/0.05");
/// assert!("phase/0".parse::<GroupBy>().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct GroupBy {
    columns: Columns,
    widths: Vec<GroupWidth>,
}

/// The width of ranges of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupWidth {
    /// In units of the last decimal.
    pub(super) units: u64,
    /// Number of decimals; `None` for whole numbers.
    pub(super) decimals: Option<u8>,
}

impl GroupWidth {
    /// Reads the width of a column of whole or real numbers.
    fn parse(text: &str, is_real: bool) -> Option<Self> {
        let (whole, decimals) = match text.split_once('.') {
            Some((whole, decimals)) if is_real && (1..=6).contains(&decimals.len()) => (whole, decimals),
            Some(_) => return None,
            None => (text, ""),
        };
        let digits = [whole, decimals].concat();
        let are_digits = !whole.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let units = digits.parse().ok().filter(|units| are_digits && (1..=1_000_000).contains(units))?;
        Some(Self { units, decimals: is_real.then_some(decimals.len() as u8) })
    }
}

impl fmt::Display for GroupWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal(self.units.into(), self.decimals.unwrap_or(0)))
    }
}

/// Real columns, and the width of their ranges unless another one is given: a number and its decimals.
const REAL_WIDTHS: [(&str, (u64, u8)); 7] = [
    ("win_chance", (1, 1)),
    ("loss", (1, 1)),
    ("accuracy", (10, 0)),
    ("white_accuracy", (10, 0)),
    ("black_accuracy", (10, 0)),
    ("white_acpl", (10, 0)),
    ("black_acpl", (10, 0)),
];

/// Columns with many values, and the width of their ranges unless another one is given.
const WIDTHS: [(&str, u64); 35] = [
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
    ("score_after", 100),
    ("loss_cp", 50),
    ("elo_difference", 100),
    ("material_balance", 1),
    ("time_used", 500),
    ("white_time", 6000),
    ("black_time", 6000),
    ("evaluated_plies", 10),
    ("clocked_plies", 10),
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
            .map(|part| {
                // `tag:Event` is a column.
                let is_column = ChosenColumn::named(part).is_some();
                let divided = part.split_once('/').or_else(|| part.rsplit_once(':').filter(|_| !is_column));
                divided.map_or((part, None), |(name, width)| (name, Some(width)))
            })
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
                let is_real = column.kind() == Kind::F64;
                let expected = if is_real { "as in win_chance/0.1" } else { "as in ply/10" };
                GroupWidth::parse(width, is_real).ok_or_else(|| {
                    ParseError::new(format!("expected a width from 1 to 1,000,000 after the slash, {expected}"))
                })
            }
            None if column.kind() == Kind::F64 => {
                let usual = REAL_WIDTHS.iter().find(|(other, _)| *other == column.name());
                let (units, decimals) = usual.map_or((1, 1), |&(_, width)| width);
                Ok(GroupWidth { units, decimals: Some(decimals) })
            }
            None => {
                let usual = WIDTHS.iter().find(|(other, _)| *other == column.name());
                Ok(GroupWidth { units: usual.map_or(1, |&(_, width)| width), decimals: None })
            }
        });
        let widths = widths.collect::<Result<_, _>>()?;
        Ok(Self { columns, widths })
    }
}

impl GroupBy {
    /// The columns, with the widths of their ranges: numbers from a multiple of the width up to the next one are one
    /// group.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&ChosenColumn, GroupWidth)> {
        self.columns.iter().zip(self.widths.iter().copied())
    }
    /// The columns as a report has them.
    pub(crate) fn described(&self) -> Vec<GroupColumn> {
        let described = self.columns().map(|(column, width)| GroupColumn {
            name: column.name().to_owned(),
            width: width.units,
            decimals: width.decimals,
        });
        described.collect()
    }
    /// What the columns need of records.
    pub fn needs(&self) -> Needs {
        self.columns.needs()
    }
}
