//! Descriptions of columns in files, and dates in the form that files have.

use super::list_buffer_pool::ListBufferPool;
use crate::games::Date;
use crate::packed::Packed;
use crate::table::{Array, ChosenColumn, Column, ComputedColumn, Kind, Texts, Values};
use std::sync::Arc;

/// The description of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    /// The name of the column.
    pub name: Arc<str>,
    /// The type of its values.
    pub kind: Kind,
    /// Whether values can be missing.
    pub nullable: bool,
    /// The meaning of the column.
    pub meaning: Arc<str>,
    /// Whether it has the moves of games.
    pub has_moves: bool,
    /// The column, if rows have boards in place of its values, which are computed when the rows are written.
    pub of_boards: Option<OfBoards>,
}

/// A column of lists that follow from boards.
#[derive(Clone, Debug)]
pub(crate) struct OfBoards {
    column: Arc<dyn ComputedColumn>,
    pub(super) memory: Arc<ListBufferPool>,
}

impl PartialEq for OfBoards {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.column, &other.column)
    }
}
impl Eq for OfBoards {}

impl Described {
    /// A column that is computed for every record.
    pub(crate) fn new(name: &str, kind: Kind, meaning: &str) -> Self {
        Self { name: name.into(), kind, nullable: false, meaning: meaning.into(), has_moves: false, of_boards: None }
    }
    /// The column, with values that can be missing.
    #[must_use]
    pub(crate) fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }
    /// A column of the catalogue.
    pub(crate) fn of_listed(column: &'static Column) -> Self {
        Self::of(&ChosenColumn::Listed(column))
    }
    /// A column of the catalogue, or a tag.
    pub(crate) fn of(column: &ChosenColumn) -> Self {
        Self {
            name: column.name().into(),
            kind: column.kind(),
            nullable: column.is_carried(),
            meaning: column.meaning().into(),
            has_moves: false,
            of_boards: None,
        }
    }
    /// The column, of which rows have the boards, if its values follow from them.
    pub(crate) fn or_boards(mut self, column: &ChosenColumn) -> Self {
        self.of_boards =
            column.of_boards().map(|column| OfBoards { column: Arc::clone(column), memory: Arc::default() });
        self
    }
}

/// What a tile has in place of the values of columns that are [of boards](Described::of_boards): its boards for the first of
/// them, and a number without meaning for the others.
pub(crate) fn in_place_of_values(is_first: bool, boards: impl ExactSizeIterator<Item = Packed>) -> Array {
    match is_first {
        true => Array::Boards(boards.collect()),
        false => Array::U8(Values::missing(boards.len())),
    }
}

/// The values of columns whose rows may have boards in place of them.
pub(super) fn with_columns_of_boards(columns: &[Described], mut rows: Vec<Array>) -> Vec<Array> {
    let Some(first) = columns.iter().position(|column| column.of_boards.is_some()) else { return rows };
    let Some(Array::Boards(boards)) =
        rows.get_mut(first).map(|rows| std::mem::replace(rows, Array::U8(Values::default())))
    else {
        return rows;
    };
    for (column, rows) in columns.iter().zip(&mut rows) {
        if let Some(OfBoards { column, memory }) = &column.of_boards {
            *rows = Array::Lists(column.of_boards(boards.values(), memory.take()));
        }
    }
    rows
}

/// The texts of dates that cannot be stored as days: without a day, or in another form.
pub(crate) fn dates_without_days(texts: &Texts) -> Texts {
    let is_day = |word: &str| {
        let date = Date::parse(word.as_bytes()).filter(|date| date.days().is_some());
        date.is_some_and(|date| date.to_string() == word)
    };
    let days: Vec<bool> = texts.words().iter().map(is_day).collect();
    let mut codes = Values::default();
    for row in 0..texts.len() {
        let code = texts.codes().get(row);
        codes.push(code.copied().filter(|&code| !days[code as usize]));
    }
    Texts::from_parts(codes, texts.words().clone())
}

/// Dates as days since 1970-01-01; missing where they are not known.
pub(super) fn days_of(texts: &Texts) -> Values<i32> {
    let days = |word: &str| Date::parse(word.as_bytes())?.days();
    let known: Vec<Option<i32>> = texts.words().iter().map(days).collect();
    let mut dates = Values::default();
    for row in 0..texts.len() {
        let code = texts.codes().get(row);
        dates.push(code.and_then(|&code| known[code as usize]));
    }
    dates
}
