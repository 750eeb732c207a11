//! `filename`: the file of each row. Tables of positions and of other files have it where a query names it.

use crate::formats::FILE_NAME_TAG;
use crate::table::{Array, ChosenColumn, ComputedColumn, Kind, Needs, Texts, Tile};
use std::sync::Arc;

/// The name of the column.
pub(in crate::sql) const NAME: &str = "filename";

/// The column of this name in a table of positions.
pub(in crate::sql) fn column_named(name: &str) -> Option<ChosenColumn> {
    let own = || (name == NAME).then(|| ChosenColumn::Computed(Arc::new(FileName)));
    ChosenColumn::named(name).or_else(own)
}

/// The file of each record.
#[derive(Debug)]
struct FileName;

impl ComputedColumn for FileName {
    fn name(&self) -> &str {
        NAME
    }
    fn kind(&self) -> Kind {
        Kind::Text
    }
    fn meaning(&self) -> &str {
        "the file of the record"
    }
    fn needs(&self) -> Needs {
        Needs { tags: [FILE_NAME_TAG.into()].into(), ..Needs::default() }
    }
    fn is_carried(&self) -> bool {
        false
    }
    fn fill(&self, tile: &Tile<'_>) -> Array {
        let rows = tile.start..tile.start + tile.len;
        Array::Text(
            tile.batch.tags.get(FILE_NAME_TAG).map_or_else(|| Texts::missing(tile.len), |names| names.rows(rows)),
        )
    }
}
