//! What positions are grouped by: one or two columns or expressions, with the width of ranges of numbers.
//!
//! The parts of a list end at commas, and a width follows after a slash, neither of them in parentheses or quotes.

use crate::ParseError;
use crate::choose::Definitions;
use crate::queries::Queries;
use crate::report::{GroupColumn, decimal};
use crate::table::{ChosenColumn, Columns, Field, Fields, Kind, Needs};
use std::fmt;
use std::str::FromStr;

/// Maximum number of columns.
const MOST_COLUMNS: usize = 2;

/// The one or two columns or expressions by which positions are grouped, with the widths of ranges.
///
/// ```
/// use lanefish::stats::GroupBy;
/// let by: GroupBy = "speed,ply/20".parse().unwrap();
/// assert_eq!(by.to_string(), "speed,ply/20");
/// assert_eq!("ply".parse::<GroupBy>().unwrap().to_string(), "ply/10");
/// assert_eq!("win_chance:0.05".parse::<GroupBy>().unwrap().to_string(), "win_chance/0.05");
/// let by: GroupBy = "(white_elo - black_elo)/100".parse().unwrap();
/// assert_eq!(by.to_string(), "(white_elo - black_elo)/100");
/// assert!("phase/0".parse::<GroupBy>().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct GroupBy {
    columns: Columns,
    widths: Vec<GroupWidth>,
    has_ratings: bool,
    #[cfg(feature = "cluster")]
    definitions: Definitions,
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
    /// The width that is given for a column, or the usual one.
    fn of(column: &ChosenColumn, given: Option<&str>) -> Result<Self, ParseError> {
        match given {
            Some(_) if is_text(column) => {
                Err(ParseError::new(format!("`{}` is text: it has no ranges of numbers", column.name())))
            }
            Some(width) => {
                let is_real = column.kind() == Kind::F64;
                let expected = if is_real { "as in win_chance/0.1" } else { "as in ply/10" };
                Self::parse(width, is_real).ok_or_else(|| {
                    ParseError::new(format!("expected a width from 1 to 1,000,000 after the slash, {expected}"))
                })
            }
            None if column.kind() == Kind::F64 => {
                let usual = REAL_WIDTHS.iter().find(|(other, _)| *other == column.name());
                let (units, decimals) = usual.map_or((1, 1), |&(_, width)| width);
                Ok(Self { units, decimals: Some(decimals) })
            }
            None => {
                let usual = WIDTHS.iter().find(|(other, _)| *other == column.name());
                Ok(Self { units: usual.map_or(1, |&(_, width)| width), decimals: None })
            }
        }
    }

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
            let name = column.name();
            if matches!(column, ChosenColumn::Computed(_)) && !is_name(name) {
                write!(f, "{comma}({name})")?;
            } else {
                write!(f, "{comma}{name}")?;
            }
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

/// Whether a text is a name, and no other expression.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte))
}

/// The bytes of a text with their places, and in how many parentheses each is; without those in quotes.
fn bytes_in_parentheses(text: &str) -> impl Iterator<Item = (usize, u8, u32)> {
    let (mut depth, mut is_quoted) = (0_u32, false);
    text.bytes().enumerate().filter_map(move |(at, byte)| {
        match byte {
            b'\'' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (!is_quoted).then_some((at, byte, depth))
    })
}

/// The places of a byte that is not in parentheses or quotes.
fn places_outside(text: &str, wanted: u8) -> impl Iterator<Item = usize> {
    let found = bytes_in_parentheses(text).filter(move |&(_, byte, depth)| byte == wanted && depth == 0);
    found.map(|(at, ..)| at)
}

/// The parts of a list.
fn parts(text: &str) -> Vec<&str> {
    let ends = places_outside(text, b',').chain([text.len()]);
    let mut start = 0;
    ends.map(|end| text[std::mem::replace(&mut start, end + 1)..end].trim()).collect()
}

/// A text without the parentheses around all of it.
fn without_parentheses(text: &str) -> &str {
    match places_outside(text, b')').next() {
        Some(at) if text.starts_with('(') && at + 1 == text.len() => text[1..at].trim(),
        _ => text,
    }
}

/// The column, name of a value, or expression of a part, and the width that is given.
fn read_part<'a>(part: &'a str, definitions: &Definitions) -> Result<(ChosenColumn, Option<&'a str>), ParseError> {
    let divided = places_outside(part, b'/').last().map(|at| (part[..at].trim(), Some(part[at + 1..].trim())));
    // `tag:Event` is a column.
    let is_column = ChosenColumn::named(part).is_some() || definitions.column(part).is_some();
    let divided = divided.or_else(|| {
        let (name, width) = part.rsplit_once(':').filter(|_| !is_column)?;
        is_name(name).then_some((name, Some(width)))
    });
    let (text, width) = divided.unwrap_or((part, None));
    let text = without_parentheses(text);
    if is_name(text) {
        let columns = Columns::named_with(text, |name| definitions.column(name));
        let columns = columns.map_err(|error| ParseError::new(error.to_string()))?;
        let mut columns = columns.iter();
        return match (columns.next(), columns.next()) {
            (Some(column), None) => Ok((column.clone(), width)),
            // A family such as `bits` is several columns.
            _ => Err(ParseError::new("expected one or two columns")),
        };
    }
    let column = definitions.column_of(text).map_err(|error| ParseError::new(format!("`{text}`: {error}")))?;
    Ok((ChosenColumn::Computed(column), width))
}

impl FromStr for GroupBy {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse_with(text, &Definitions::default())
    }
}

impl GroupBy {
    /// Reads a list whose expressions may use these names.
    ///
    /// ```
    /// use lanefish::{choose::Definitions, stats::GroupBy};
    ///
    /// let definitions = Definitions::parse(["imbalance = material_white - material_black"])?;
    /// assert_eq!(GroupBy::parse_with("imbalance,result", &definitions)?.to_string(), "imbalance/1,result");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are more than two parts, or one of them is neither a column nor an expression, or has a width that does not
    /// fit.
    pub fn parse_with(text: &str, definitions: &Definitions) -> Result<Self, ParseError> {
        let parts = parts(text);
        if parts.len() > MOST_COLUMNS {
            return Err(ParseError::new("expected one or two columns"));
        }
        let (mut columns, mut widths) = (Vec::new(), Vec::new());
        for part in parts {
            let (column, width) = read_part(part, definitions)?;
            if columns.iter().any(|other: &ChosenColumn| other.name() == column.name()) {
                return Err(ParseError::new(format!("the column `{}` is named twice", column.name())));
            }
            if column.kind().is_list() {
                let name = column.name();
                return Err(ParseError::new(format!(
                    "`{name}` is a list, and groups have single values, such as len({name}) or {name}[1]"
                )));
            }
            widths.push(GroupWidth::of(&column, width)?);
            columns.push(column);
        }
        // People who ask for moves want to know how strong the players are.
        let has_ratings = columns.iter().any(|column| matches!(column.name(), "san" | "move"));
        Ok(Self {
            columns: columns.into_iter().collect(),
            widths,
            has_ratings,
            #[cfg(feature = "cluster")]
            definitions: definitions.clone(),
        })
    }

    /// The names that expressions may use.
    #[cfg(feature = "cluster")]
    pub(crate) fn definitions(&self) -> &Definitions {
        &self.definitions
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
    /// The same; each group also has the ratings of the side to move. Groups of moves always have them.
    pub fn with_ratings(mut self, has_ratings: bool) -> Self {
        self.has_ratings |= has_ratings;
        self
    }
    /// Whether each group has the ratings of the side to move.
    pub(crate) fn has_ratings(&self) -> bool {
        self.has_ratings
    }
    /// What the columns need of records.
    pub fn needs(&self) -> Needs {
        let ratings = if self.has_ratings { Fields::of(&[Field::WhiteElo, Field::BlackElo]) } else { Fields::NONE };
        self.columns.needs().and(Needs::new(Queries::NONE, ratings))
    }
}
