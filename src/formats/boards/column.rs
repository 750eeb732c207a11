//! Columns of a file: their ids and types, and how many there can be.

use super::section::HEADER_LEN;
use super::{ENTRY_LEN, UNIT};
use crate::table::{Array, Field};
use std::fmt;

/// No file has larger blocks.
pub(super) const MOST_RECORDS: u32 = 1 << 20;

pub(super) const GROUPS: u16 = 0;
pub(super) const HALFMOVE: u16 = 1;
pub(super) const FULLMOVE: u16 = 2;
const FIRST_FIELD: u16 = 16;

/// Largest number of columns of a file or a block: the header has room for no more.
pub(super) const MOST_COLUMNS: usize = columns_in(HEADER_LEN);

/// The number of columns for which a header of this length has room.
pub(super) const fn columns_in(header_len: usize) -> usize {
    (header_len - UNIT) / ENTRY_LEN
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnInfo {
    /// Its id.
    pub id: u16,
    /// Its name.
    pub name: String,
    /// Its type: `groups`, `u8`, `i16`, `u16`, `u32`, `u64`, `text`, or a number that is not known here.
    pub kind: String,
}

const KINDS: [&str; 7] = ["groups", "u8", "i16", "u16", "u32", "u64", "text"];

impl fmt::Display for ColumnInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.kind)
    }
}

/// The name of a column's type.
pub(super) fn kind_name(kind: u8) -> String {
    KINDS.get(usize::from(kind)).map_or_else(|| kind.to_string(), |kind| (*kind).to_owned())
}

pub(super) const fn type_of(values: &Array) -> u8 {
    match values {
        Array::U8(_) => 1,
        Array::I16(_) => 2,
        Array::U16(_) => 3,
        Array::U32(_) => 4,
        Array::U64(_) => 5,
        Array::Text(_) => 6,
        Array::Flag(_) | Array::Strings(_) | Array::Boards(_) => panic!("no field has such values"),
    }
}

pub(super) fn field_of(id: u16) -> Option<Field> {
    Field::ALL.get(usize::from(id.checked_sub(FIRST_FIELD)?)).copied()
}

pub(super) fn id_of(field: Field) -> u16 {
    FIRST_FIELD + field as u16
}

/// The name of a column in messages.
pub(super) fn named(id: u16) -> String {
    let name = match (id, field_of(id)) {
        (GROUPS, _) => "boards",
        (HALFMOVE, _) => "halfmove",
        (FULLMOVE, _) => "fullmove",
        (_, Some(field)) => field.name(),
        _ => return format!("column {id}"),
    };
    format!("column {id} ({name})")
}

/// Every known id has one type.
pub(super) fn check_kind(id: u16, kind: u8) -> Result<(), String> {
    let expected = match (id, field_of(id)) {
        (GROUPS, _) => 0,
        (HALFMOVE | FULLMOVE, _) => 3,
        (_, Some(field)) => type_of(&field.column(0)),
        _ => return Ok(()),
    };
    if kind == expected {
        return Ok(());
    }
    Err(format!("{} has the type {}, not {}", named(id), kind_name(kind), kind_name(expected)))
}
