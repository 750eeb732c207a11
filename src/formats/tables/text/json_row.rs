//! Reads the values of JSON objects into the columns of a table.
//!
//! Nearly all lines of a file have the same keys in the same order, so each key is first compared with the one that was
//! at its place in the line before.

use super::cell::Cell;
use crate::formats::codec::decode_records::BadRecord;
use crate::formats::tables::column_map::{Column, Kind, field_named};
use crate::formats::tables::json_walk::{Json, Value, unescape, unescaped};
use crate::table::{Field, RAW_SCORE, SCORE_SENTINEL};
use std::ops::Range;

/// Reads objects, one after the other.
#[derive(Debug)]
pub(super) struct JsonRows {
    /// The names of columns, and whether their values are needed.
    columns: Vec<(Vec<u8>, bool)>,
    values: Vec<Place>,
    /// Copies of strings with their escapes decoded.
    copy: Vec<u8>,
    /// Keys that are not columns.
    unknown: Vec<Vec<u8>>,
    /// The number of columns that the first line names, and whether the object has others.
    named: usize,
    has_later_keys: bool,
}

/// The place of a value.
#[derive(Clone, Debug)]
enum Place {
    Missing,
    InLine(Range<usize>),
    InCopy(Range<usize>),
    Other(Range<usize>),
}

/// The values of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonRow<'a> {
    line: &'a [u8],
    rows: &'a JsonRows,
}

impl<'a> JsonRow<'a> {
    pub(super) fn get(self, column: usize) -> Cell<'a> {
        match self.rows.values.get(column) {
            None | Some(Place::Missing) => Cell::Missing,
            Some(Place::InLine(range)) => Cell::Text(&self.line[range.clone()]),
            Some(Place::InCopy(range)) => Cell::Text(&self.rows.copy[range.clone()]),
            Some(Place::Other(range)) => Cell::Other(&self.line[range.clone()]),
        }
    }
    /// Whether a value is a string: only strings are copied, and only they have a quotation mark before them.
    pub(super) fn is_string(self, column: usize) -> bool {
        match self.rows.values.get(column) {
            Some(Place::InCopy(_)) => true,
            Some(Place::InLine(range)) => range.start > 0 && self.line[range.start - 1] == b'"',
            _ => false,
        }
    }
    /// Whether there are values of columns that the first line does not name.
    pub(super) fn has_later_keys(self) -> bool {
        self.rows.has_later_keys
    }
    /// Keys that are not columns.
    pub(super) fn unknown(self) -> &'a [Vec<u8>] {
        &self.rows.unknown
    }
}

/// Adds columns for the fields that do not have one yet, and the column of scores as they were stored, because later
/// lines may have them.
pub(super) fn with_later_keys(columns: &mut Vec<Column>) {
    let add = |columns: &mut Vec<Column>, name: &str| {
        columns.push(Column { name: name.to_owned(), kind: Kind::Cell, data: String::new() });
    };
    for &field in Field::ALL {
        if columns.iter().all(|column| field_named(&column.name) != Some(field)) {
            add(columns, field.name());
        }
    }
    if columns.iter().all(|column| !matches!(&*column.name, RAW_SCORE | SCORE_SENTINEL)) {
        add(columns, RAW_SCORE);
    }
}

impl JsonRows {
    /// Makes a reader of objects with these columns. The first `named` of them are named by the first line; the
    /// `needed` ones are read.
    pub(super) fn new(columns: &[Column], needed: &[usize], named: usize) -> Self {
        let columns =
            columns.iter().enumerate().map(|(at, column)| (column.name.clone().into_bytes(), needed.contains(&at)));
        Self {
            columns: columns.collect(),
            values: Vec::new(),
            copy: Vec::new(),
            unknown: Vec::new(),
            named,
            has_later_keys: false,
        }
    }

    /// Reads the values of an object. If a key occurs several times, the last value counts.
    ///
    /// # Errors
    /// If the line is not a JSON object.
    pub(super) fn read<'a>(&'a mut self, line: &'a [u8]) -> Result<JsonRow<'a>, BadRecord> {
        self.values.clear();
        self.values.resize(self.columns.len(), Place::Missing);
        self.copy.clear();
        self.unknown.clear();
        self.has_later_keys = false;
        let mut json = Json { rest: line };
        let mut next = 0;
        let (columns, values, copy, unknown) = (&self.columns, &mut self.values, &mut self.copy, &mut self.unknown);
        let (named, has_later_keys) = (self.named, &mut self.has_later_keys);
        let walked = json.object(|json, key| {
            let is_key = |column: &usize| columns[*column].0 == key;
            let column = match Some(next).filter(|&next| next < columns.len() && is_key(&next)) {
                Some(column) => Some(column),
                None => find(columns, key)?,
            };
            let Some(column) = column else {
                let mut plain = Vec::new();
                unescape(key, &mut plain)?;
                unknown.push(plain);
                return json.skip();
            };
            next = column + 1;
            *has_later_keys |= column >= named;
            if !columns[column].1 {
                return json.skip();
            }
            let value = json.value()?;
            // The end of the value, which is a slice of the line.
            let end = line.len() - json.rest.len();
            values[column] = match value {
                Value::Null => Place::Missing,
                Value::Number(text) => Place::InLine(end - text.len()..end),
                Value::Other(text) => Place::Other(end - text.len()..end),
                // A quotation mark follows it.
                Value::Text(text) if !text.contains(&b'\\') => Place::InLine(end - 1 - text.len()..end - 1),
                Value::Text(text) => {
                    let start = copy.len();
                    unescape(text, copy)?;
                    Place::InCopy(start..copy.len())
                }
            };
            Some(())
        });
        if walked.is_none() || !json.rest.trim_ascii().is_empty() {
            let column = line.len() - json.rest.len() + 1;
            return Err(BadRecord::new("malformed_json", format!("column {column}: expected a JSON object")));
        }
        Ok(JsonRow { line, rows: self })
    }
}

/// The column of a key in an unexpected place; `None` if the key is malformed.
fn find(columns: &[(Vec<u8>, bool)], key: &[u8]) -> Option<Option<usize>> {
    let mut plain = Vec::new();
    let key = unescaped(key, &mut plain)?;
    Some(columns.iter().position(|(name, _)| name == key))
}
