//! Rows divided by the value of a column, for files in folders `COLUMN=value`, as Hive, Spark and DuckDB have them.
//!
//! The worker that fills a chunk divides its rows. Each value has blocks and files of its own, so that the files do not depend
//! on chunks and threads.

use super::Partition;
use super::chunk_joiner::JoinBlocks;
use crate::columnar::{Described, RowBlock, RowBlocks};
use crate::table::{Array, Kind};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// The greatest number of values: each of them has a file that is open until the end.
const MOST: usize = 500;

/// The column by which rows are divided.
#[derive(Clone, Debug)]
pub(super) struct PartitionColumn {
    name: Arc<str>,
    place: usize,
    kind: Kind,
}

impl PartitionColumn {
    /// The column of this name; `None` if there is none, or its values are not short texts or whole numbers.
    pub(super) fn of(name: &str, columns: &[Described]) -> Option<Self> {
        let place = columns.iter().position(|column| &*column.name == name)?;
        let kind = columns[place].kind;
        let is_divided = match kind {
            Kind::F64 | Kind::I64 | Kind::Board | Kind::Time | Kind::Timestamp | Kind::Bytes => false,
            kind => !kind.is_list(),
        };
        is_divided.then(|| Self { name: name.into(), place, kind })
    }

    /// The rows of each value. The columns have the same length.
    pub(super) fn divide(&self, columns: Vec<Array>) -> Vec<(Option<Partition>, Vec<Array>)> {
        let Some(values) = columns.get(self.place) else { return Vec::new() };
        let (mut missing, mut rows): (Vec<usize>, BTreeMap<Arc<str>, Vec<usize>>) = Default::default();
        for row in 0..values.len() {
            let number;
            let text = match self.kind {
                Kind::Text | Kind::Date => values.text(row),
                kind => {
                    number = values.number(row).map(|number| shown(number, kind));
                    number.as_deref()
                }
            };
            let Some(text) = text else {
                missing.push(row);
                continue;
            };
            match rows.get_mut(text) {
                Some(rows) => rows.push(row),
                None => {
                    rows.insert(text.into(), vec![row]);
                }
            }
        }
        let missing = (!missing.is_empty()).then_some((None, missing));
        let rows: Vec<_> =
            missing.into_iter().chain(rows.into_iter().map(|(value, rows)| (Some(value), rows))).collect();
        let partition = |value: Option<Arc<str>>| Some(Partition::new(&self.name, value.as_deref()));
        if rows.len() == 1 {
            return rows.into_iter().map(|(value, _)| partition(value)).zip([columns]).collect();
        }
        let some = |rows: &[usize]| -> Vec<Array> {
            let taken = columns.iter().map(|column| {
                let mut taken = column.empty_like();
                taken.extend_from(column, rows.iter().copied());
                taken
            });
            taken.collect()
        };
        rows.into_iter().map(|(value, rows)| (partition(value), some(&rows))).collect()
    }
}

fn shown(number: i64, kind: Kind) -> String {
    match kind {
        Kind::Flag => (number != 0).to_string(),
        Kind::Bits | Kind::U64 => number.cast_unsigned().to_string(),
        _ => number.to_string(),
    }
}

/// The rows of all values, cut into blocks; of one without a name if rows are not divided.
#[derive(Debug)]
pub(super) struct PartitionedRows {
    /// Without rows.
    empty: RowBlocks,
    all: BTreeMap<Option<Partition>, RowBlocks>,
}

impl PartitionedRows {
    pub(super) fn new(empty: RowBlocks) -> Self {
        Self { empty, all: BTreeMap::new() }
    }

    /// The same with other blocks, before there are any.
    pub(super) fn with_blocks(self, change: impl FnOnce(RowBlocks) -> RowBlocks) -> Self {
        Self { empty: change(self.empty), ..self }
    }

    /// The last blocks, of those that have rows left.
    pub(super) fn last(&mut self) -> Vec<(Option<Partition>, RowBlock)> {
        let all = std::mem::take(&mut self.all);
        all.into_iter().filter_map(|(partition, rows)| Some((partition, rows.finish()?))).collect()
    }
}

impl JoinBlocks for PartitionedRows {
    type Piece = Vec<(Option<Partition>, Vec<Array>)>;
    type Block = (Option<Partition>, RowBlock);
    fn join(&mut self, piece: Self::Piece) -> io::Result<Vec<Self::Block>> {
        let mut blocks = Vec::new();
        for (partition, cells) in piece {
            let len = cells.first().map_or(0, Array::len);
            if !self.all.contains_key(&partition) {
                if self.all.len() == MOST {
                    return Err(io::Error::other(format!("--partition-by: the column has more than {MOST} values")));
                }
                self.all.insert(partition.clone(), self.empty.fresh());
            }
            if let Some(rows) = self.all.get_mut(&partition) {
                blocks.extend(rows.join(cells, 0..len).into_iter().map(|block| (partition.clone(), block)));
            }
        }
        Ok(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Texts, Values};

    #[test]
    fn rows_are_divided_by_value() {
        let mut texts = Texts::default();
        let mut numbers = Values::default();
        for (row, text) in [Some("b"), None, Some("a"), Some("b")].into_iter().enumerate() {
            texts.push(text);
            numbers.push(Some(row as u16));
        }
        let described = [Described::new("t", Kind::Text, ""), Described::new("n", Kind::U16, "")];
        let columns = vec![Array::Text(texts), Array::U16(numbers)];
        let rows = |name: &str| -> Vec<(String, Vec<Option<i64>>)> {
            let column = PartitionColumn::of(name, &described).unwrap();
            let divided = column.divide(columns.clone()).into_iter();
            let rows = divided.map(|(partition, cells)| {
                let numbers = (0..cells[1].len()).map(|row| cells[1].number(row));
                (partition.unwrap().folder(), numbers.collect())
            });
            rows.collect()
        };
        let all = |rows: &[i64]| rows.iter().copied().map(Some).collect::<Vec<_>>();
        let expected = [("t=__HIVE_DEFAULT_PARTITION__", vec![1]), ("t=a", vec![2]), ("t=b", vec![0, 3])];
        assert_eq!(rows("t"), expected.map(|(folder, rows)| (folder.to_owned(), all(&rows))));
        assert_eq!(rows("n").len(), 4);
        assert!(PartitionColumn::of("x", &described).is_none());
        let list = [Described::new("l", Kind::ListOfText, "")];
        assert!(PartitionColumn::of("l", &list).is_none());
    }
}
