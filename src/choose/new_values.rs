//! New values for fields of records.

use super::expression::{Definitions, Evaluated, Formula, Type};
use super::expression_option_error::ExpressionOptionError;
use crate::table::{Array, Batch, ClosedValues, Field, Needs, Tile, Values, is_sentinel};
use std::fmt;
use std::sync::Arc;

/// New values for records, from expressions that are evaluated on each record as it was read.
///
/// ```
/// use lanefish::choose::Assignments;
///
/// let masked = Assignments::parse(["raw_score = case when quiet then raw_score else 32002 end"])?;
/// assert_eq!(masked.len(), 1);
/// assert!(Assignments::parse(["board = 1"]).is_err());
/// assert!(Assignments::parse(["score = 1", "raw_score = 2"]).is_err());
/// # Ok::<(), lanefish::choose::ExpressionOptionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct Assignments(Arc<[Assignment]>);

/// A column and its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
struct Assignment {
    target: Target,
    formula: Formula,
}

/// A column that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
enum Target {
    Score,
    RawScore,
    Mate,
    Result,
    Ply,
    Halfmove,
}

impl Target {
    const ALL: [Self; 6] = [Self::Score, Self::RawScore, Self::Mate, Self::Result, Self::Ply, Self::Halfmove];

    const fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::RawScore => "raw_score",
            Self::Mate => "mate",
            Self::Result => "result",
            Self::Ply => "ply",
            Self::Halfmove => "halfmove",
        }
    }
    /// The field that stores the value; `None` for the clock.
    const fn field(self) -> Option<Field> {
        match self {
            Self::Score | Self::RawScore => Some(Field::Score),
            Self::Mate => Some(Field::Mate),
            Self::Result => Some(Field::Result),
            Self::Ply => Some(Field::Ply),
            Self::Halfmove => None,
        }
    }
    /// Whether the column can have this number; null is handled separately.
    fn holds(self, value: i64) -> bool {
        match self {
            Self::Score => i16::try_from(value).is_ok_and(|score| !is_sentinel(score)),
            Self::RawScore | Self::Mate => i16::try_from(value).is_ok(),
            Self::Result => (0..3).contains(&value),
            Self::Ply | Self::Halfmove => u16::try_from(value).is_ok(),
        }
    }
    /// The values that it can have.
    const fn range(self) -> &'static str {
        match self {
            Self::Score => "from -32768 to 32767, and neither 32002 nor -32002",
            Self::RawScore | Self::Mate => "from -32768 to 32767",
            Self::Result => "'1-0', '1/2-1/2' or '0-1'",
            Self::Ply | Self::Halfmove => "from 0 to 65535",
        }
    }
}

impl Assignments {
    /// Assignments of the form `COLUMN=EXPR`.
    ///
    /// # Errors
    /// If one of them means nothing, or two set the same value.
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, ExpressionOptionError> {
        Self::parse_with(texts, &Definitions::default())
    }
    /// Assignments whose expressions may use these names.
    ///
    /// # Errors
    /// If one of them means nothing, or two set the same value.
    pub fn parse_with<T: AsRef<str>>(
        texts: impl IntoIterator<Item = T>,
        definitions: &Definitions,
    ) -> Result<Self, ExpressionOptionError> {
        let mut all: Vec<Assignment> = Vec::new();
        for text in texts {
            let text = text.as_ref();
            let (name, expression) = text
                .split_once('=')
                .ok_or_else(|| ExpressionOptionError::form(format!("`{text}`: expected COLUMN=EXPR")))?;
            let name = name.trim();
            let target =
                Target::ALL.into_iter().find(|target| target.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
                    ExpressionOptionError::form(format!(
                        "`{name}` cannot be set: score, raw_score, mate, result, ply and halfmove can"
                    ))
                })?;
            if all.iter().any(|other| other.target.field() == target.field()) {
                return Err(ExpressionOptionError::form(format!("`{}` is set twice", target.name())));
            }
            let formula = definitions.formula(expression.trim())?;
            let (fits, takes) = match (target, formula.kind()) {
                (_, Type::Null) => (true, ""),
                (Target::Result, kind) => (kind == Type::Text, "'1-0', '1/2-1/2' or '0-1'"),
                (_, kind) => (matches!(kind, Type::Integer | Type::Bits | Type::Real), "a number"),
            };
            if !fits {
                let (column, found, text) = (target.name(), formula.kind().name(), expression.trim());
                return Err(ExpressionOptionError::form(format!(
                    "`{column}` takes {takes}, and this is {found}: {text}"
                )));
            }
            let results = ClosedValues::of(Target::Result.name()).filter(|_| target == Target::Result);
            if let Some(results) = results
                && let Some(wrong) = formula.literals().into_iter().find(|text| !results.contains(text))
            {
                let meant =
                    results.nearest(wrong).map_or_else(String::new, |meant| format!("; did you mean '{meant}'?"));
                return Err(ExpressionOptionError::form(format!(
                    "`result` is never '{wrong}'{meant} (its values: {}, and null where it is unknown)",
                    results.description()
                )));
            }
            all.push(Assignment { target, formula });
        }
        Ok(Self(all.into()))
    }
    /// Number of them.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// What they need of records.
    pub(crate) fn needs(&self) -> Needs {
        self.0.iter().map(|one| one.formula.needs().clone()).collect()
    }
}

/// The new values of a batch.
pub(crate) struct Changes<'a> {
    assignments: &'a Assignments,
    /// Of each assignment, and each record of the batch.
    values: Vec<Vec<Option<i64>>>,
}

impl<'a> Changes<'a> {
    /// None yet.
    pub(crate) fn new(assignments: &'a Assignments) -> Self {
        Self { assignments, values: vec![Vec::new(); assignments.len()] }
    }

    /// Evaluates the expressions for a tile, the first one or the one after the last. Returns the records that cannot
    /// be changed, by row of the batch, in their order, with the reasons.
    pub(crate) fn evaluate(&mut self, tile: &Tile<'_>) -> Vec<(usize, String)> {
        let mut wrong = Vec::new();
        for (assignment, values) in self.assignments.0.iter().zip(&mut self.values) {
            let target = assignment.target;
            // Rows of tiles in which nothing counts.
            values.resize(tile.start, None);
            let found = assignment.formula.evaluate(tile);
            for row in 0..tile.len {
                let value = value_of(&found, row);
                values.push(value.as_ref().ok().copied().flatten().filter(|&value| target.holds(value)));
                let message = match value {
                    Ok(None) if target == Target::Halfmove => "null".to_owned(),
                    Ok(Some(value)) if !target.holds(value) => value.to_string(),
                    Ok(_) => continue,
                    Err(text) => text,
                };
                if tile.counts(tile.start + row) {
                    let (name, range) = (target.name(), target.range());
                    wrong.push((tile.start + row, format!("--set {name}: {message} does not fit: {range}")));
                }
            }
        }
        let of = |field| self.assignments.0.iter().position(|other| other.target.field() == Some(field));
        if let (Some(score), Some(mate)) = (of(Field::Score), of(Field::Mate)) {
            for row in tile.rows() {
                if self.values[score][row].is_some() && self.values[mate][row].is_some() {
                    wrong.push((row, "--set: there is a mate or a score, not both".to_owned()));
                }
            }
        }
        wrong.sort_by_key(|&(row, _)| row);
        wrong.dedup_by_key(|&mut (row, _)| row);
        wrong
    }

    /// The batch with these values.
    pub(crate) fn apply(self, batch: &Batch) -> Batch {
        let mut changed = batch.clone();
        for (assignment, mut values) in self.assignments.0.iter().zip(self.values) {
            values.resize(batch.len(), None);
            match assignment.target {
                Target::Halfmove => {
                    for (clock, value) in changed.halfmove.iter_mut().zip(&values) {
                        *clock = value.map_or(*clock, |value| value as u16);
                    }
                }
                Target::Score | Target::RawScore => {
                    clear(&mut changed, Field::Mate, &values);
                    changed.fields.insert(Field::Score, Array::I16(column(&values, |value| value as i16)));
                }
                Target::Mate => {
                    clear(&mut changed, Field::Score, &values);
                    changed.fields.insert(Field::Mate, Array::I16(column(&values, |value| value as i16)));
                }
                Target::Result => {
                    changed.fields.insert(Field::Result, Array::U8(column(&values, |value| value as u8)));
                }
                Target::Ply => {
                    changed.fields.insert(Field::Ply, Array::U16(column(&values, |value| value as u16)));
                }
            }
        }
        changed
    }
}

/// The values, all of which fit.
fn column<T: Clone + Default>(values: &[Option<i64>], fit: impl Fn(i64) -> T) -> Values<T> {
    let mut column = Values::default();
    values.iter().for_each(|value| column.push(value.map(&fit)));
    column
}

/// Removes the score of records that get a mate, and the other way round.
fn clear(batch: &mut Batch, field: Field, given: &[Option<i64>]) {
    if let Some(Array::I16(known)) = batch.fields.get(&field) {
        let mut left = Values::default();
        given
            .iter()
            .enumerate()
            .for_each(|(row, value)| left.push(known.get(row).copied().filter(|_| value.is_none())));
        batch.fields.insert(field, Array::I16(left));
    }
}

/// The value of a row as a number to be stored, or its text if it is not such a number.
fn value_of(values: &Evaluated, row: usize) -> Result<Option<i64>, String> {
    match values {
        Evaluated::Integer(values) => Ok(values[row]),
        Evaluated::Bits(values) => match values[row] {
            Some(value) => i64::try_from(value).map(Some).map_err(|_| value.to_string()),
            None => Ok(None),
        },
        Evaluated::Real(values) => match values[row].map(f64::round) {
            // The limits for stored numbers are far below those for exact numbers.
            Some(value) if value.abs() < 1e15 => Ok(Some(value as i64)),
            Some(value) => Err(value.to_string()),
            None => Ok(None),
        },
        Evaluated::Text(values) => match values[row].as_deref() {
            Some("0-1") => Ok(Some(0)),
            Some("1/2-1/2") => Ok(Some(1)),
            Some("1-0") => Ok(Some(2)),
            Some(text) => Err(format!("'{text}'")),
            None => Ok(None),
        },
        Evaluated::Boolean(values) => Ok(values[row].map(i64::from)),
        Evaluated::Null => Ok(None),
    }
}

impl fmt::Display for Assignments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Assignment { target, formula }) in self.0.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{} = {formula}", target.name())?;
        }
        Ok(())
    }
}
