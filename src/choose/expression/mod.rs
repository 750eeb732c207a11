//! SQL expressions over columns, for conditions, probabilities and new values of records.
//!
//! An expression has the same meaning as in a query of the SQL engine. It is parsed and checked against the catalogue
//! of columns, which gives a small typed plan. The plan runs over whole tiles. Columns become arrays with a validity
//! bit for each value. Conditions become two sets of bits: the rows where they are true, and the rows where they are
//! false. All other rows are unknown, as in SQL. A [`Condition`] is divided at its outermost `and`s. The parts that
//! need no query are tested first, and the others only if any record is left.
//!
//! Integers are exact and have 64 bits: unsigned for sets of squares and keys, signed otherwise. An operation without
//! an exact result (overflow, a division by zero, a shift out of range) gives null. Real numbers are 64-bit IEEE 754
//! numbers, computed in the order of the text. They are identical on every machine, and NaN becomes null.
//!
//! [`Definitions`] name values. [`Definitions::condition`] and [`Definitions::formula`] make expressions that use them.
//! A named value is evaluated once for each tile, however often it occurs.

mod check;
mod conditions_never_true;
mod error;
mod evaluate;
mod game_condition_columns;
mod named_values;
mod parse;
mod piece_patterns;
mod real_functions;
mod same_position;
#[cfg(test)]
mod tests;
mod typed_operations;

pub use error::ExpressionError;
pub use evaluate::Evaluated;
pub use named_values::Definitions;
pub use typed_operations::Type;

use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::table::{Batch, ChosenColumn, Needs, OF_GAME, Tile};
use crate::tiers::{Analyzer, Tier};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use typed_operations::{Node, Scope};

/// A checked expression: its text, and what it stands on.
#[derive(Debug)]
struct Checked {
    text: Box<str>,
    definitions: Definitions,
    scope: Scope,
    needs: Needs,
    is_of_games: bool,
}

impl Checked {
    fn of(text: &str, definitions: &Definitions, of_games: bool) -> Result<(Self, Node, Type), ExpressionError> {
        let mut scope = definitions.scope().clone();
        scope.of_games = of_games;
        let (node, kind) = check::check(text, &parse::parse(text)?, &mut scope)?;
        let needs = scope.needs_of(&node);
        let checked = Self {
            is_of_games: of_games || scope.is_of_games(&node),
            text: text.into(),
            definitions: definitions.clone(),
            scope,
            needs,
        };
        Ok((checked, node, kind))
    }
}

/// Which records are taken: those for which it is true.
///
/// ```
/// use lanefish::choose::expression::Condition;
/// use lanefish::queries::Queries;
///
/// let condition: Condition = "legal_moves > 20 and not in_check".parse()?;
/// assert!(condition.needs().queries.contains(Queries::MOVES));
/// let error = "legal_move > 20".parse::<Condition>().unwrap_err();
/// assert_eq!(error.unknown_column(), Some("legal_move"));
/// # Ok::<(), lanefish::choose::expression::ExpressionError>(())
/// ```
#[derive(Clone)]
pub struct Condition(Arc<Parts>);

/// A condition, its parts, all of which must be true, and the place of the first part that needs a query; the others come
/// before it.
struct Parts(Checked, Vec<Node>, usize);

/// A value for each record.
///
/// ```
/// use lanefish::choose::expression::{Formula, Type};
///
/// let formula: Formula = "case when pieces > 20 then 0.1 else 1 end".parse()?;
/// assert_eq!(formula.kind(), Type::Real);
/// # Ok::<(), lanefish::choose::expression::ExpressionError>(())
/// ```
#[derive(Clone)]
pub struct Formula(Arc<(Checked, Node, Type)>);

impl FromStr for Condition {
    type Err = ExpressionError;
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Definitions::default().condition(text)
    }
}

impl FromStr for Formula {
    type Err = ExpressionError;
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Definitions::default().formula(text)
    }
}

impl Condition {
    fn with(text: &str, definitions: &Definitions, of_games: bool) -> Result<Self, ExpressionError> {
        let (checked, node, kind) = Checked::of(text, definitions, of_games)?;
        if !matches!(kind, Type::Boolean | Type::Null) {
            return Err(ExpressionError::whole(text, format!("a condition is needed, and this is {}", kind.name())));
        }
        let mut conjuncts = node.conjuncts();
        let mut checked = checked;
        checked.scope.notes.extend(conditions_never_true::note(&conjuncts, &checked.scope));
        conjuncts.sort_by_cached_key(|node| {
            (checked.scope.needs_of(node).queries != Queries::NONE, node.cost(&checked.scope))
        });
        let needs_query = |node: &Node| checked.scope.needs_of(node).queries != Queries::NONE;
        let with_queries = conjuncts.partition_point(|node| !needs_query(node));
        Ok(Self(Arc::new(Parts(checked, conjuncts, with_queries))))
    }
    /// Whether it needs a game to be replayed, up to its last position, or to have its number.
    pub(crate) fn needs_whole_game(&self) -> bool {
        game_condition_columns::OF_LAST_POSITIONS.into_iter().any(|column| self.reads(column))
            || OF_GAME.into_iter().any(|field| self.needs().fields.contains(field))
    }
    /// Whether it is a condition on games: it is the same for all records of a game, or about its end.
    pub fn is_of_games(&self) -> bool {
        self.0.0.is_of_games
    }
    /// The columns that it reads; one may come several times.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &ChosenColumn> {
        let Parts(checked, conjuncts, _) = &*self.0;
        conjuncts.iter().flat_map(|node| checked.scope.columns(node))
    }
    /// Whether it reads a column, given by its name.
    pub fn reads(&self, column: &str) -> bool {
        self.columns().any(|read| read.name() == column)
    }
    /// Whether it is true of a game, given a batch with one record of it.
    pub(crate) fn is_true_of_game(&self, record: Batch) -> bool {
        let Some(analyzer) = Tier::PORTABLE.analyzer() else { return false };
        let record = Arc::new(record);
        let mut mask = [1];
        let mut results = [GroupResults::default()];
        if self.needs().queries != Queries::NONE {
            analyzer.analyze(record.groups(), self.needs().queries, &mut results);
        }
        self.choose(&Tile::new(analyzer, &record, 0, 1, &results, &[1]), &mut mask);
        mask != [0]
    }
    /// Clears the bits of the records of a tile, a bit each from the first one on, for which it is not true. The tile
    /// must have results for its [queries](Self::needs).
    pub fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        self.keep_true(0..self.0.1.len(), tile, mask);
    }
    /// Clears the bits of the records for which some of the parts of it are not true.
    fn keep_true(&self, parts: Range<usize>, tile: &Tile<'_>, mask: &mut [u64]) {
        let Parts(checked, conjuncts, _) = &*self.0;
        let values = checked.scope.of(tile);
        for conjunct in &conjuncts[parts] {
            if mask.iter().all(|&bits| bits == 0) {
                return;
            }
            let truth = evaluate::truth(conjunct, &values);
            mask.iter_mut().zip(&truth.yes).for_each(|(bits, yes)| *bits &= yes);
        }
    }
    /// Clears the bits of the records from the row `start` on for which it is not true, a bit each. The queries that it
    /// needs are answered only for records that are left by the parts of it that need none.
    pub(crate) fn choose_of_batch(
        &self,
        (analyzer, results): (&'static dyn Analyzer, &mut [GroupResults]),
        batch: &Arc<Batch>,
        (start, len): (usize, usize),
        mask: &mut [u64],
    ) {
        let (with_queries, all) = (self.0.2, self.0.1.len());
        let asked = mask.to_vec();
        self.keep_true(0..with_queries, &Tile::new(analyzer, batch, start, len, results, &asked), mask);
        let Some(first) = mask.iter().position(|&bits| bits != 0).filter(|_| with_queries < all) else { return };
        let end = mask.iter().rposition(|&bits| bits != 0).map_or(0, |last| last + 1);
        let groups = &batch.groups()[start / Group::LEN..][..len.div_ceil(Group::LEN)];
        let groups_of_word = 64 / Group::LEN;
        let left = first * groups_of_word..(end * groups_of_word).min(groups.len());
        analyzer.analyze(&groups[left.clone()], self.needs().queries, &mut results[left]);
        let asked = mask.to_vec();
        self.keep_true(with_queries..all, &Tile::new(analyzer, batch, start, len, results, &asked), mask);
    }
}

impl Formula {
    fn with(text: &str, definitions: &Definitions) -> Result<Self, ExpressionError> {
        let (checked, node, kind) = Checked::of(text, definitions, false)?;
        Ok(Self(Arc::new((checked, node, kind))))
    }
    /// The type of its values.
    pub fn kind(&self) -> Type {
        self.0.2
    }
    /// The texts that it has as values where it does not compute them.
    pub(crate) fn literals(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        self.0.1.push_literals(&mut texts);
        texts
    }
    /// The value of the expression for every record of a tile, which must have results for its [queries](Self::needs); those of records
    /// that do not count are unspecified.
    pub fn evaluate(&self, tile: &Tile<'_>) -> Evaluated {
        let (checked, node, _) = &*self.0;
        evaluate::owned(node, &checked.scope.of(tile))
    }
}

macro_rules! as_text {
    ($($type:ident, $make:ident;)*) => {$(
        impl $type {
            /// What it needs of records.
            pub fn needs(&self) -> &Needs {
                &self.0.0.needs
            }
            /// Remarks on parts of it that probably do not mean what they were meant to: sentences for people.
            ///
            /// ```
            /// use lanefish::choose::Condition;
            ///
            /// let condition: Condition = "checkmate and moved_piece = 'N'".parse()?;
            /// assert!(condition.notes()[0].contains("move_mates"));
            /// # Ok::<(), lanefish::choose::ExpressionError>(())
            /// ```
            pub fn notes(&self) -> &[String] {
                &self.0.0.scope.notes
            }
        }

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
                self.0.0.text == other.0.0.text && self.0.0.definitions == other.0.0.definitions
            }
        }

        impl Eq for $type {}

        #[cfg(feature = "cluster")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&(&self.0.0.definitions, &self.0.0.text), serializer)
            }
        }

        #[cfg(feature = "cluster")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let (definitions, text): (Definitions, String) = serde::Deserialize::deserialize(deserializer)?;
                definitions.$make(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

as_text! {
    Condition, condition;
    Formula, formula;
}
