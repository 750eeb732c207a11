//! Descriptions of columns in files, and dates in the form that files have.

use crate::games::Date;
use crate::table::{ChosenColumn, Column, Kind, Texts, Values};
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
}

impl Described {
    /// A column that is computed for every record.
    pub(crate) fn new(name: &str, kind: Kind, meaning: &str) -> Self {
        Self { name: name.into(), kind, nullable: false, meaning: meaning.into(), has_moves: false }
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
        }
    }
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
