//! Values of columns on their way into a file, and what they are.

use crate::games::Date;
use crate::packed::Packed;
use crate::table::{Array, ChosenColumn, Column, Kind, Texts, Tile, Values};
use std::ops::Range;
use std::sync::Arc;

/// What there is to know about a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its values.
    pub kind: Kind,
    /// Whether values can be missing.
    pub nullable: bool,
    /// What it means.
    pub meaning: Arc<str>,
}

impl Described {
    /// A column that is computed for every record.
    pub fn new(name: &str, kind: Kind, meaning: &str) -> Self {
        Self { name: name.into(), kind, nullable: false, meaning: meaning.into() }
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
        Self {
            name: column.name().into(),
            kind: column.kind(),
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

/// The column of dates that are no days, beside the column of days.
pub(crate) const DATE_TEXT: &str = "date_text";

/// The texts of dates that days do not say: without a day, or in another form.
pub(crate) fn dates_without_days(texts: &Texts) -> Texts {
    let is_day = |word: &Arc<str>| {
        let date = Date::parse(word.as_bytes()).filter(|date| date.days().is_some());
        date.is_some_and(|date| *date.to_string() == **word)
    };
    let days: Vec<bool> = texts.words().iter().map(is_day).collect();
    let mut codes = Values::default();
    for row in 0..texts.len() {
        let code = texts.codes().get(row);
        codes.push(code.copied().filter(|&code| !days[code as usize]));
    }
    Texts::from_parts(codes, texts.words().to_vec())
}

/// Dates as days since 1970-01-01; missing where they are not known.
pub(super) fn days_of(texts: &Texts) -> Values<i32> {
    let days = |word: &Arc<str>| Date::parse(word.as_bytes())?.days();
    let known: Vec<Option<i32>> = texts.words().iter().map(days).collect();
    let mut dates = Values::default();
    for row in 0..texts.len() {
        let code = texts.codes().get(row);
        dates.push(code.and_then(|&code| known[code as usize]));
    }
    dates
}
