//! Columns of a file: their ids and types, and their maximum number.

use super::section::HEADER_LEN;
use super::{ENTRY_LEN, UNIT};
use crate::table::{self, Array, Field, Fields};
use std::fmt;

/// Maximum number of records of a block.
pub(super) const MOST_RECORDS: u32 = 1 << 20;

pub(super) const GROUPS: u16 = 0;
pub(super) const HALFMOVE: u16 = 1;
pub(super) const FULLMOVE: u16 = 2;
/// Scores of any size, in place of the column of scores in blocks where some score is one that readers of older
/// versions would take for a mate.
pub(super) const RAW_SCORE: u16 = 3;
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
    /// The id of the column.
    pub id: u16,
    /// The name of the column.
    pub name: String,
    /// The name of its type: `groups`, `u8`, `i16`, `u16`, `u32`, `u64`, `text`, or a number that is not known here.
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
        Array::Flag(_) | Array::TextBuffer(_) | Array::Boards(_) | Array::Lists(_) => {
            panic!("no field has such values")
        }
    }
}

pub(super) fn field_of(id: u16) -> Option<Field> {
    if id == RAW_SCORE {
        return Some(Field::Score);
    }
    Field::ALL.get(usize::from(id.checked_sub(FIRST_FIELD)?)).copied()
}

pub(super) fn id_of(field: Field) -> u16 {
    FIRST_FIELD + field as u16
}

/// The name of a column in messages.
pub(super) fn named(id: u16) -> String {
    name_of(id).map_or_else(|| format!("column {id}"), |name| format!("column {id} ({name})"))
}

/// The ids of the columns that a block or a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ids(u64);

/// Every id that is written has a bit.
const _: () = assert!(FIRST_FIELD as usize + Field::ALL.len() <= u64::BITS as usize);

impl Ids {
    /// The columns that every block has.
    pub(super) const ALWAYS: Self = Self(1 << GROUPS | 1 << HALFMOVE | 1 << FULLMOVE);

    /// The columns that blocks with these fields may have.
    pub(super) fn possible(fields: Fields) -> Self {
        let mut ids = Self::ALWAYS;
        fields.iter().for_each(|field| ids.insert(id_of(field)));
        if fields.contains(Field::Score) {
            ids.insert(RAW_SCORE);
        }
        ids
    }
    pub(super) fn of_bits(bits: u64) -> Self {
        Self(bits)
    }
    pub(super) fn bits(self) -> u64 {
        self.0
    }
    pub(super) fn insert(&mut self, id: u16) {
        self.0 |= 1 << id;
    }
    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    pub(super) fn iter(self) -> impl Iterator<Item = u16> {
        (0..u64::BITS as u16).filter(move |id| self.0 >> id & 1 != 0)
    }
}

/// The name of a known column.
pub(super) fn name_of(id: u16) -> Option<&'static str> {
    match id {
        GROUPS => Some("boards"),
        HALFMOVE => Some("halfmove"),
        FULLMOVE => Some("fullmove"),
        RAW_SCORE => Some(table::RAW_SCORE),
        _ => field_of(id).map(Field::name),
    }
}

/// The type of a known column.
pub(super) fn kind_of(id: u16) -> Option<u8> {
    match id {
        GROUPS => Some(0),
        HALFMOVE | FULLMOVE => Some(3),
        _ => field_of(id).map(|field| type_of(&field.column(0))),
    }
}

/// Every known id has one type.
pub(super) fn check_kind(id: u16, kind: u8) -> Result<(), String> {
    match kind_of(id) {
        Some(expected) if kind != expected => {
            Err(format!("{} has the type {}, not {}", named(id), kind_name(kind), kind_name(expected)))
        }
        _ => Ok(()),
    }
}
