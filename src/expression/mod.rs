//! Expressions over columns, in the language of SQL: which records are taken, how likely, and what they are given.
//!
//! The text means what it means in a query of the SQL engine. It is parsed and checked
//! against the catalogue of columns into a small typed plan. The plan runs over whole tiles: columns become arrays with a
//! bit for each value that is there, and conditions two sets of bits, of the rows in which they are true and of those in
//! which they are false; what is in neither is unknown, as SQL has it. A [`Condition`] is divided at its outermost `and`s:
//! what needs no query is tested first, and what follows only if any record is left.
//!
//! Integers are exact: signed with 64 bits, sets of squares and keys unsigned. What has no exact result (overflow, a
//! division by zero, a shift out of range) has none: it is null.

mod check;
mod error;
mod evaluate;
mod parse;
mod pattern;
mod plan;
#[cfg(test)]
mod tests;

pub use error::ExpressionError;
pub use evaluate::Evaluated;
pub use plan::Type;

use crate::queries::Queries;
use crate::table::{Fields, Tile};
use plan::{Columns, Node};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A checked expression and its text.
#[derive(Debug)]
struct Checked {
    text: Box<str>,
    columns: Columns,
}

fn checked(text: &str) -> Result<(Node, Type, Columns), ExpressionError> {
    check::check(text, &parse::parse(text)?)
}

/// Which records are taken: those for which it is true.
///
/// ```
/// use lanefish::expression::Condition;
/// use lanefish::queries::Queries;
///
/// let condition: Condition = "legal_moves > 20 and not in_check".parse()?;
/// assert!(condition.queries().contains(Queries::MOVES));
/// let error = "legal_move > 20".parse::<Condition>().unwrap_err();
/// assert_eq!(error.unknown_column(), Some("legal_move"));
/// # Ok::<(), lanefish::expression::ExpressionError>(())
/// ```
#[derive(Clone)]
pub struct Condition(Arc<(Checked, Vec<Conjunct>)>);

/// A part of a condition, all of which have to be true.
#[derive(Debug)]
struct Conjunct {
    node: Node,
    /// Whether it needs queries answered.
    needs_queries: bool,
    cost: u32,
}

/// A value for each record.
///
/// ```
/// use lanefish::expression::{Formula, Type};
///
/// let formula: Formula = "case when pieces > 20 then 0.1 else 1 end".parse()?;
/// assert_eq!(formula.kind(), Type::Number);
/// # Ok::<(), lanefish::expression::ExpressionError>(())
/// ```
#[derive(Clone)]
pub struct Formula(Arc<(Checked, Node, Type)>);

impl FromStr for Condition {
    type Err = ExpressionError;
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        let (node, kind, columns) = checked(text)?;
        if !matches!(kind, Type::Boolean | Type::Null) {
            return Err(ExpressionError::whole(text, format!("a condition is needed, and this is {}", kind.name())));
        }
        let mut conjuncts: Vec<Conjunct> = node
            .conjuncts()
            .into_iter()
            .map(|node| {
                let (needs_queries, cost) = (node.needs_queries(&columns), node.cost(&columns));
                Conjunct { node, needs_queries, cost }
            })
            .collect();
        conjuncts.sort_by_key(|conjunct| (conjunct.needs_queries, conjunct.cost));
        Ok(Self(Arc::new((Checked { text: text.into(), columns }, conjuncts))))
    }
}

impl Condition {
    /// The queries that it needs answered.
    pub fn queries(&self) -> Queries {
        self.0.0.columns.queries()
    }
    /// What it reads of records besides their positions.
    pub fn fields(&self) -> Fields {
        self.0.0.columns.fields()
    }
    /// The tags of games that it reads.
    pub fn tags(&self) -> Arc<[Arc<str>]> {
        self.0.0.columns.tags()
    }
    /// Whether a column that it names depends on the records before.
    #[cfg(feature = "cluster")]
    pub(crate) fn depends_on_records_before(&self) -> bool {
        self.0.0.columns.depend_on_records_before()
    }
    /// Clears the bits of the records of a tile, a bit each from the first one on, for which it is not true. The tile must
    /// have results for its [queries](Self::queries).
    pub fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        let (checked, conjuncts) = &*self.0;
        let values = checked.columns.of(tile);
        for conjunct in conjuncts {
            if mask.iter().all(|&bits| bits == 0) {
                return;
            }
            let truth = evaluate::truth(&conjunct.node, &values);
            mask.iter_mut().zip(&truth.yes).for_each(|(bits, yes)| *bits &= yes);
        }
    }
}

impl FromStr for Formula {
    type Err = ExpressionError;
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        let (node, kind, columns) = checked(text)?;
        Ok(Self(Arc::new((Checked { text: text.into(), columns }, node, kind))))
    }
}

impl Formula {
    /// The type of its values.
    pub fn kind(&self) -> Type {
        self.0.2
    }
    /// The queries that it needs answered.
    pub fn queries(&self) -> Queries {
        self.0.0.columns.queries()
    }
    /// What it reads of records besides their positions.
    pub fn fields(&self) -> Fields {
        self.0.0.columns.fields()
    }
    /// The tags of games that it reads.
    pub fn tags(&self) -> Arc<[Arc<str>]> {
        self.0.0.columns.tags()
    }
    /// Its value for every record of a tile, which must have results for its [queries](Self::queries); those of records
    /// that do not count are unspecified.
    pub fn evaluate(&self, tile: &Tile<'_>) -> Evaluated {
        let (checked, node, _) = &*self.0;
        evaluate::owned(node, &checked.columns.of(tile))
    }
}

macro_rules! as_text {
    ($($type:ident),*) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0.0.text)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($type)).field(&self.0.0.text).finish()
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.0.0.text == other.0.0.text
            }
        }

        impl Eq for $type {}

        #[cfg(feature = "cluster")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0.0.text)
            }
        }

        #[cfg(feature = "cluster")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

as_text!(Condition, Formula);
