//! Reading a block: its directory, and its columns.

use super::section::{SectionHeader, u16_at, u32_at, u64_at};
use super::{ENTRY_LEN, UNIT};
use crate::batch::{Batch, Column, Field, Fields, Values};
use crate::block::Group;
use crate::input::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// No block is read that claims more records than this.
const LARGEST_BLOCK: u32 = 1 << 20;

/// A column in a block.
#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: u8,
    partial: bool,
    at: usize,
    len: usize,
}

pub(super) const GROUPS: u16 = 0;
pub(super) const HALFMOVE: u16 = 1;
pub(super) const FULLMOVE: u16 = 2;
const FIRST_FIELD: u16 = 16;

pub(super) const fn type_of(values: &Values) -> u8 {
    match values {
        Values::U8(_) => 1,
        Values::I16(_) => 2,
        Values::U16(_) => 3,
        Values::U32(_) => 4,
        Values::U64(_) => 5,
        Values::Text(_) => 6,
    }
}

fn field_of(id: u16) -> Option<Field> {
    Field::ALL
        .get(usize::from(id.checked_sub(FIRST_FIELD)?))
        .copied()
}

pub(super) fn id_of(field: Field) -> u16 {
    FIRST_FIELD + field as u16
}

/// Reads a block whose checksum is right; what is wrong nevertheless was written wrong.
pub(super) fn read_block(
    section: &Bytes,
    header: &SectionHeader,
    fields: Fields,
) -> Result<(Batch, Range<usize>), String> {
    let rows = header.count as usize;
    if header.count == 0 || header.count > LARGEST_BLOCK {
        return Err(format!("a block of {rows} records"));
    }
    let directory = (header.columns as usize)
        .checked_mul(ENTRY_LEN)
        .and_then(|len| section.get(UNIT..UNIT + len))
        .ok_or("the directory of a block is larger than the block")?;
    let mut batch = None;
    let mut place = 0..0;
    let mut clocks = [None, None];
    let mut columns = Vec::new();
    for entry in directory.as_chunks::<ENTRY_LEN>().0 {
        let (at, len) = (u64_at(entry, 8), u64_at(entry, 16));
        let id = u16_at(entry, 0);
        if at
            .checked_add(len)
            .is_none_or(|end| end > section.len() as u64)
        {
            return Err(format!("column {id} reaches beyond its block"));
        }
        let entry = Entry {
            kind: entry[2],
            partial: entry[3] == 1,
            at: at as usize,
            len: len as usize,
        };
        let bytes = section.slice(entry.at..entry.at + entry.len);
        let wrong = || format!("column {id} has a wrong length");
        match (id, entry.kind) {
            (GROUPS, 0) => {
                let groups = rows.div_ceil(Group::LEN);
                if bytes.len() != groups * Group::BYTES {
                    return Err(wrong());
                }
                if !entry.at.is_multiple_of(UNIT) || entry.at < UNIT + directory.len() {
                    return Err(format!("column {id} is not where it may be"));
                }
                place = entry.at..entry.at + entry.len;
                batch = Some(groups_of(&bytes, rows));
            }
            (HALFMOVE | FULLMOVE, 3) => {
                if bytes.len() != 2 * rows {
                    return Err(wrong());
                }
                clocks[usize::from(id - HALFMOVE)] = Some(
                    bytes
                        .as_chunks()
                        .0
                        .iter()
                        .map(|&value| u16::from_le_bytes(value))
                        .collect::<Vec<u16>>(),
                );
            }
            _ => {
                if let Some(field) = field_of(id)
                    && fields.contains(field)
                    && entry.kind == type_of(&field.column(0))
                {
                    let values = read_values(&bytes, &entry, rows, field).ok_or_else(wrong)?;
                    columns.push((field, values));
                }
            }
        }
    }
    let [Some(halfmove), Some(fullmove)] = clocks else {
        return Err("a block without clocks".to_owned());
    };
    let mut batch: Batch = batch.ok_or("a block without boards")?;
    batch.halfmove = halfmove;
    batch.fullmove = fullmove;
    batch.fields = columns.into_iter().collect();
    Ok((batch, place))
}

/// The boards in place, where they lie in a map of a little-endian machine; otherwise a copy.
fn groups_of(bytes: &Bytes, rows: usize) -> Batch {
    if cfg!(target_endian = "little")
        && let Some(groups) = bytes.in_place::<Group>()
    {
        return Batch::mapped(groups, rows);
    }
    let groups = bytes
        .as_chunks::<{ Group::BYTES }>()
        .0
        .iter()
        .map(|group| {
            let (words, _) = group.as_chunks::<8>();
            let (planes, _) = words.as_chunks::<8>();
            Group {
                planes: std::array::from_fn(|plane| planes[plane].map(u64::from_le_bytes)),
            }
        })
        .collect();
    Batch::owned(groups, rows)
}

/// Reads the values of a field; `None` where there are too few bytes or they make no sense.
fn read_values(mut bytes: &[u8], entry: &Entry, rows: usize, field: Field) -> Option<Values> {
    let mut present = vec![u64::MAX; rows.div_ceil(64)];
    if entry.partial {
        let bitmap = bytes.split_off(..8 * present.len())?;
        for (word, bits) in present.iter_mut().zip(bitmap.as_chunks().0) {
            *word = u64::from_le_bytes(*bits);
        }
    }
    let is_present = |row: usize| present[row / 64] >> (row % 64) & 1 != 0;
    /// The numbers of a column.
    fn numbers<const N: usize, T: Clone + Default>(
        bytes: &[u8],
        rows: usize,
        is_present: impl Fn(usize) -> bool,
        read: impl Fn([u8; N]) -> T,
    ) -> Option<Column<T>> {
        let (values, rest) = bytes.as_chunks::<N>();
        if values.len() != rows || !rest.is_empty() {
            return None;
        }
        let mut column = Column::default();
        for (row, &value) in values.iter().enumerate() {
            column.push(is_present(row).then(|| read(value)));
        }
        Some(column)
    }
    Some(match field.column(0) {
        Values::U8(_) => Values::U8(numbers(bytes, rows, is_present, u8::from_le_bytes)?),
        Values::I16(_) => Values::I16(numbers(bytes, rows, is_present, i16::from_le_bytes)?),
        Values::U16(_) => Values::U16(numbers(bytes, rows, is_present, u16::from_le_bytes)?),
        Values::U32(_) => Values::U32(numbers(bytes, rows, is_present, u32::from_le_bytes)?),
        Values::U64(_) => Values::U64(numbers(bytes, rows, is_present, u64::from_le_bytes)?),
        Values::Text(_) => {
            let count = u32_at(bytes.split_off(..8)?, 0) as usize;
            let ends = bytes.split_off(..count.checked_mul(4)?)?;
            let codes = bytes.split_off(..2 * rows)?;
            let mut texts: Vec<Arc<str>> = Vec::with_capacity(count);
            let mut start = 0;
            for at in 0..count {
                let end = u32_at(ends, 4 * at) as usize;
                // Copied first: only what nobody else can change stays what it was validated as.
                let text = String::from_utf8(bytes.get(start..end)?.to_vec()).ok()?;
                texts.push(Arc::from(text));
                start = end;
            }
            if start != bytes.len() {
                return None;
            }
            let mut column = Column::default();
            for row in 0..rows {
                let text = match is_present(row) {
                    true => Some(Arc::clone(texts.get(usize::from(u16_at(codes, 2 * row)))?)),
                    false => None,
                };
                column.push(text);
            }
            Values::Text(column)
        }
    })
}
