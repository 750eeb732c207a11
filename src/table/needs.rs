//! What columns, conditions and jobs need of the records that they are given.

use super::Fields;
use crate::queries::Queries;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is computed and decoded for somebody who reads records. The needs of several readers are
/// [joined](Self::and), or collected from an iterator.
///
/// ```
/// use lanefish::queries::Queries;
/// use lanefish::table::{Columns, Field, Needs};
///
/// let needs = Columns::named("in_check,score,tag:Annotator")?.needs();
/// assert!(needs.queries.contains(Queries::CHECKERS) && needs.fields.contains(Field::Score));
/// assert_eq!(needs.tags.first().map(|tag| &**tag), Some("Annotator"));
/// assert_eq!(needs.clone().and(Needs::NONE), needs);
/// # Ok::<(), lanefish::table::ColumnsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// The queries about positions that are answered.
    pub queries: Queries,
    /// The fields of records that are decoded, in addition to positions.
    pub fields: Fields,
    /// The tags of games that are read, and folders with the prefix `folder:`.
    pub tags: BTreeSet<Arc<str>>,
    /// Whether a value may depend on earlier records, which a part of an input does not have.
    pub(crate) records_before: bool,
    /// Whether positions are needed, because not all values are fields that tables have in columns of their own.
    pub(crate) positions: bool,
}

impl Needs {
    /// Positions, and nothing else.
    pub const NONE: Self = Self::new(Queries::NONE, Fields::NONE);

    /// Positions, queries and fields.
    pub const fn new(queries: Queries, fields: Fields) -> Self {
        Self { queries, fields, tags: BTreeSet::new(), records_before: false, positions: true }
    }

    /// These needs, and those of another reader.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.queries = self.queries | other.queries;
        self.fields = self.fields.union(other.fields);
        self.tags.extend(other.tags);
        self.records_before |= other.records_before;
        self.positions |= other.positions;
        self
    }

    /// The same fields and tags without any query: of a reader that keeps records for another one.
    #[must_use]
    pub(crate) fn without_queries(self) -> Self {
        Self { queries: Queries::NONE, ..self }
    }
}

impl FromIterator<Needs> for Needs {
    fn from_iter<I: IntoIterator<Item = Self>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), Self::and)
    }
}
