//! Values of columns on their way into a file, and what they are.

use crate::block::Packed;
use crate::table::{Array, ChosenColumn, Column, Kind, Tile};
use std::ops::Range;
use std::sync::Arc;

/// The type of a column in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Type {
    /// True or false.
    Flag,
    /// 0 to 255.
    U8,
    /// 0 to 65,535.
    U16,
    /// 0 to 2^32 - 1.
    U32,
    /// 0 to 2^64 - 1; also sets of squares and keys.
    U64,
    /// -32,768 to 32,767.
    I16,
    /// Text.
    Text,
    /// Days since 1970-01-01, from a text as `YYYY.MM.DD`; missing where day or month is not known.
    Date,
    /// A packed board of 32 bytes: four planes, little-endian.
    Board,
}

/// What there is to know about a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its values.
    pub kind: Type,
    /// Whether values can be missing.
    pub nullable: bool,
    /// What it means.
    pub meaning: Arc<str>,
}

impl Described {
    /// A column that is computed for every record.
    pub fn new(name: &str, kind: Type, meaning: &str) -> Self {
        Self {
            name: name.into(),
            kind,
            nullable: false,
            meaning: meaning.into(),
        }
    }
    /// The same, with values that can be missing.
    #[must_use]
    pub fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }
    /// A column of the catalogue.
    pub fn of_listed(column: &'static Column) -> Self {
        Self::of(&ChosenColumn::Listed(column))
    }
    /// A column of the catalogue, or a tag.
    pub fn of(column: &ChosenColumn) -> Self {
        let kind = match (column.name(), column.kind()) {
            ("date", _) => Type::Date,
            (_, Kind::Flag) => Type::Flag,
            (_, Kind::U8) => Type::U8,
            (_, Kind::U16) => Type::U16,
            (_, Kind::U32) => Type::U32,
            (_, Kind::U64 | Kind::Bits) => Type::U64,
            (_, Kind::I16) => Type::I16,
            (_, Kind::Text) => Type::Text,
        };
        Self {
            name: column.name().into(),
            kind,
            nullable: column.is_carried(),
            meaning: column.meaning().into(),
        }
    }
}

/// Values of a column.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cells {
    /// Numbers, flags or texts.
    Array(Array),
    /// Boards; none is missing.
    Boards(Vec<[u64; 4]>),
}

impl Cells {
    /// The planes of a board.
    pub fn board(board: &Packed) -> [u64; 4] {
        let [t0, t1, t2] = board.types;
        [board.color, t0, t1, t2]
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::Boards(boards) => boards.len(),
        }
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Values of a column for records; empty texts are missing.
    pub(crate) fn of_array(mut array: Array) -> Self {
        if let Array::Text(texts) = &mut array {
            texts.drop_empty();
        }
        Self::Array(array)
    }
    /// Adds the rows of a tile that count to columns, which may not have been begun.
    pub(crate) fn append_tile(columns: &mut Vec<Self>, filled: Vec<Self>, tile: &Tile<'_>) {
        if columns.is_empty() {
            *columns = filled.iter().map(Self::empty_like).collect();
        }
        let runs = tile.runs();
        for (to, values) in columns.iter_mut().zip(&filled) {
            for run in &runs {
                to.append(values, run.start - tile.start..run.end - tile.start);
            }
        }
    }
    /// Values of the same type, none yet.
    pub(crate) fn empty_like(&self) -> Self {
        match self {
            Self::Array(array) => Self::Array(array.empty_like()),
            Self::Boards(_) => Self::Boards(Vec::new()),
        }
    }
    /// Adds a row without a value; a board becomes one without pieces.
    pub(crate) fn push_missing(&mut self) {
        match self {
            Self::Array(array) => array.push_missing(),
            Self::Boards(boards) => boards.push([0; 4]),
        }
    }
    /// Adds a run of rows of the same column.
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>) {
        match (self, other) {
            (Self::Array(to), Self::Array(from)) => to.append(from, rows),
            (Self::Boards(to), Self::Boards(from)) => to.extend_from_slice(&from[rows]),
            _ => unreachable!("a column has one type"),
        }
    }
}

/// Days since 1970-01-01 of a date as `YYYY.MM.DD`.
pub(super) fn days(date: &str) -> Option<i32> {
    let digits = |text: &str| -> Option<i64> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    };
    let mut parts = date.split('.');
    let [Some(year), Some(month), Some(day), None] = std::array::from_fn(|_| parts.next()) else {
        return None;
    };
    let (year, month, day) = (digits(year)?, digits(month)?, digits(day)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let len = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        _ => return None,
    };
    if !(1..=len).contains(&day) || !(1..=9999).contains(&year) {
        return None;
    }
    // Years that begin in March, so that the day that leap years have more is the last one.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year;
    // From 0000-03-01 to 1970-01-01.
    i32::try_from(days - 719_468).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days() {
        for (date, expected) in [
            ("1970.01.01", Some(0)),
            ("1969.12.31", Some(-1)),
            ("2000.02.29", Some(11_016)),
            ("2000.03.01", Some(11_017)),
            ("2026.11.22", Some(20_779)),
            ("1900.02.29", None),
            ("2023.??.??", None),
            ("2023.02.30", None),
            ("2023.04.31", None),
            ("0000.01.01", None),
            ("2023.13.01", None),
            ("2023.1", None),
            ("2023.01.01.01", None),
            ("+2023.01.01", None),
            ("", None),
        ] {
            assert_eq!(days(date), expected, "{date}");
        }
        let mut last = days("1899.12.31").unwrap();
        for year in 1900..2100 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(days) = days(&format!("{year}.{month:02}.{day:02}")) {
                        assert_eq!(days, last + 1);
                        last = days;
                    }
                }
            }
        }
        assert_eq!(Some(last), days("2099.12.31"));
    }
}
