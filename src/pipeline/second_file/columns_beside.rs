//! The columns of the second file: values that are looked up at the number of the record.

use super::inferred_column_types::push_number;
use super::stored_rows::{Slot, slot};
use super::{BESIDE, StoredFile, each_row};
use crate::error::shown;
use crate::table::{Array, ComputedColumn, Kind, Needs, Tile};
use std::fmt;
use std::sync::Arc;

/// A column of the second file.
pub(super) struct ColumnBeside {
    file: Arc<StoredFile>,
    slot: usize,
    name: String,
    meaning: String,
}

impl ColumnBeside {
    pub(super) fn new(file: &Arc<StoredFile>, slot: usize) -> Self {
        let (name, _) = &file.columns[slot];
        let meaning = format!("`{name}` of the record beside this one in {}", shown(&file.path));
        Self { file: Arc::clone(file), slot, name: format!("{BESIDE}{name}"), meaning }
    }
}

impl fmt::Debug for ColumnBeside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ColumnBeside").field(&self.name).finish()
    }
}

impl ComputedColumn for ColumnBeside {
    fn name(&self) -> &str {
        &self.name
    }
    fn kind(&self) -> Kind {
        self.file.columns[self.slot].1.kind()
    }
    fn meaning(&self) -> &str {
        &self.meaning
    }
    fn needs(&self) -> Needs {
        // Numbers count from the first input.
        Needs { records_before: true, ..Needs::NONE }
    }
    fn fill(&self, tile: &Tile<'_>) -> Array {
        let StoredFile { rows, texts, records, columns, .. } = &*self.file;
        let column = columns[self.slot].1;
        let mut array = column.array();
        let places = tile.rows().map(|row| (row - tile.start, tile.batch.index(row)));
        let places: Vec<(usize, u64)> = places.filter(|(_, number)| number < records).collect();
        let read = each_row(rows, self.file.row_len(), &places, |place, row| {
            while array.len() < place {
                array.push_missing();
            }
            match slot(row, self.slot, texts)? {
                Slot::Null => array.push_missing(),
                Slot::Number(number) => push_number(&mut array, Some(number)),
                Slot::Text(text) => column.push_text(&mut array, &text),
            }
            Ok(())
        });
        if let Err(source) = read {
            self.file.failed(rows, source);
        }
        while array.len() < tile.len {
            array.push_missing();
        }
        array
    }
}
