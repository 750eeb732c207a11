//! Which columns of a condition have a value in any record.
//!
//! A condition on a column that no record has is never true, so that nothing is found. That is easily taken for an answer,
//! and so a note says it.

use crate::choose::{Condition, RecordFilter};
use crate::table::{Batch, ChosenColumn, Field, Needs, Tile};
use crate::text::one_line;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A condition that notes which of its columns have values.
pub(super) struct WatchedCondition<'a> {
    condition: &'a Condition,
    columns: Vec<WatchedColumn>,
    /// A bit for each column that has been seen.
    seen: AtomicU64,
}

/// A column that is made of what records carry.
struct WatchedColumn {
    name: String,
    fields: Vec<Field>,
    tags: Vec<Arc<str>>,
}

impl WatchedColumn {
    /// `None` for what follows from the position alone.
    fn of(column: &ChosenColumn) -> Option<Self> {
        let needs = column.needs();
        let fields: Vec<Field> = needs.fields.iter().collect();
        let tags: Vec<Arc<str>> = needs.tags.into_iter().collect();
        let is_carried = !(fields.is_empty() && tags.is_empty());
        is_carried.then(|| Self { name: column.name().to_owned(), fields, tags })
    }

    /// Whether any of these records has something of which the column is made.
    fn is_in(&self, batch: &Batch, start: usize, len: usize) -> bool {
        let rows = start..start + len;
        let has = |field: &Field| batch.values(*field).is_some_and(|array| array.count_present_in(rows.clone()) > 0);
        let has_tag = |tag: &Arc<str>| {
            let texts = batch.tags.get(tag);
            texts.is_some_and(|texts| rows.clone().any(|row| texts.get(row).is_some_and(|text| !text.is_empty())))
        };
        self.fields.iter().any(has) || self.tags.iter().any(has_tag)
    }
}

impl<'a> WatchedCondition<'a> {
    pub(super) fn new(condition: &'a Condition) -> Self {
        let mut columns: Vec<WatchedColumn> = condition.columns().filter_map(WatchedColumn::of).collect();
        columns.sort_by(|a, b| a.name.cmp(&b.name));
        columns.dedup_by(|a, b| a.name == b.name);
        columns.truncate(u64::BITS as usize);
        Self { condition, columns, seen: AtomicU64::new(0) }
    }

    /// Descriptions of the columns that have not been seen.
    pub(super) fn unseen(&self) -> BTreeSet<String> {
        let seen = self.seen.load(Ordering::Relaxed);
        let unseen = self.columns.iter().enumerate().filter(|(place, _)| seen >> place & 1 == 0);
        let described = unseen.map(|(_, column)| {
            let made_of: Vec<&str> = column.fields.iter().map(|field| field.name()).collect();
            match made_of[..] {
                [] => format!("`{}`", one_line::of(&column.name)),
                _ if made_of.contains(&&*column.name) => format!("`{}`", column.name),
                _ => format!("`{}`, which is made of `{}`", column.name, made_of.join("`, `")),
            }
        });
        described.collect()
    }
}

impl RecordFilter for WatchedCondition<'_> {
    fn name(&self) -> &'static str {
        RecordFilter::name(self.condition)
    }
    fn needs(&self) -> Needs {
        RecordFilter::needs(self.condition)
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        let seen = self.seen.load(Ordering::Relaxed);
        let unseen = self.columns.iter().enumerate().filter(|(place, _)| seen >> place & 1 == 0);
        let found = unseen.filter(|(_, column)| column.is_in(tile.batch, tile.start, tile.len));
        let found = found.fold(0, |found, (place, _)| found | 1 << place);
        if found != 0 {
            self.seen.fetch_or(found, Ordering::Relaxed);
        }
        RecordFilter::choose(self.condition, tile, mask);
    }
}
