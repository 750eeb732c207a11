//! Reads a block: its directory, and its columns.
//!
//! A checksum shows that a block is as it was written, not that it was written correctly. So everything that
//! a block claims (counts, places, lengths, values) is checked against the actual bytes before it
//! is used, and before memory is allocated for it: a block never needs more than a few times its own size. All
//! columns are checked, whether they are requested or not, so that all readers agree about what is damaged.

use super::column::{FULLMOVE, GROUPS, HALFMOVE, MOST_COLUMNS, MOST_RECORDS, RAW_SCORE, check_kind, field_of, named};
use super::section::{SectionHeader, u16_at, u32_at, u64_at};
use super::{ENTRY_LEN, UNIT};
use crate::chess::Move;
use crate::input::Bytes;
use crate::packed::Group;
use crate::table::{
    Array, Batch, Block, Field, Fields, MOST_CENTIPAWNS, TextList, Texts, Values, bits_where, is_sentinel,
};
use std::collections::BTreeMap;
use std::ops::{Mul, Range};

/// Up to version 1.0 a mate was a score: this minus the number of moves.
const MATE_SCORE: u16 = 32_000;

/// A column in a block.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: u16,
    partial: u8,
    at: usize,
    len: usize,
}

/// The first row whose value the field cannot have, and the value.
pub(super) fn out_of_range(field: Field, values: &Array, rows: Range<usize>) -> Option<(usize, i64)> {
    fn first<T: Copy + Default + Into<i64>>(
        column: &Values<T>,
        rows: Range<usize>,
        bad: impl Fn(T) -> bool,
    ) -> Option<(usize, i64)> {
        // Rows without a value hold 0, which any field can have. Many rows are checked at once, without a branch.
        let values = &column.values()[rows.clone()];
        if !values.iter().fold(false, |any, &value| any | bad(value)) {
            return None;
        }
        let row = values.iter().position(|&value| bad(value))?;
        Some((rows.start + row, values[row].into()))
    }
    match (field, values) {
        (Field::Result, Array::U8(column)) => first(column, rows, |result| result > 2),
        (Field::KeyEnPassant, Array::U8(column)) => {
            // 0 is in rows without a value.
            let possible = |square| square == 0 || Field::is_key_en_passant(square);
            first(column, rows, |square| !possible(square))
        }
        (Field::Move, Array::U16(column)) => first(column, rows, Move::is_malformed),
        _ => None,
    }
}

/// Whether a score is a mate in the column of scores.
fn is_mate(score: i16) -> bool {
    score.unsigned_abs() > MOST_CENTIPAWNS && !is_sentinel(score)
}

/// Whether any of these scores is.
pub(super) fn any_mate(scores: &[i16]) -> bool {
    scores.iter().fold(false, |any, &score| any | is_mate(score))
}

/// The first score that is not allowed in the column of scores, and its row.
fn impossible_score(values: &Array) -> Option<(usize, i64)> {
    let Array::I16(scores) = values else { return None };
    let is_impossible = |score: i16| score.unsigned_abs() > MATE_SCORE && !is_sentinel(score);
    let scores = scores.values();
    let any = scores.iter().fold(false, |any, &score| any | is_impossible(score));
    let row = any.then(|| scores.iter().position(|&score| is_impossible(score))).flatten()?;
    Some((row, scores[row].into()))
}

/// Reads the directory of a block; its columns lie within the block, side by side.
fn directory(section: &[u8], header: &SectionHeader) -> Result<Vec<Entry>, String> {
    let count = header.columns as usize;
    if count > MOST_COLUMNS {
        return Err(format!("a block with {count} columns; at most {MOST_COLUMNS} are possible"));
    }
    let bytes =
        section.get(UNIT..UNIT + count * ENTRY_LEN).ok_or("the directory of a block is larger than the block")?;
    let mut entries: Vec<Entry> = Vec::with_capacity(count);
    for entry in bytes.as_chunks::<ENTRY_LEN>().0 {
        let (id, at, len) = (u16_at(entry, 0), u64_at(entry, 8), u64_at(entry, 16));
        if entries.iter().any(|other| other.id == id) {
            return Err(format!("{} occurs twice", named(id)));
        }
        if at.checked_add(len).is_none_or(|end| end > section.len() as u64) {
            return Err(format!("{} reaches beyond its block", named(id)));
        }
        check_kind(id, entry[2])?;
        entries.push(Entry { id, partial: entry[3], at: at as usize, len: len as usize });
    }
    let mut in_place = entries.clone();
    in_place.sort_by_key(|entry| (entry.at, entry.len));
    let mut end = (UNIT + bytes.len()).next_multiple_of(UNIT);
    for Entry { id, at, len, .. } in in_place {
        if at != end {
            return Err(format!(
                "{} begins at byte {at} of its block, not {end}, where the one before it ends",
                named(id)
            ));
        }
        end = (at + len).next_multiple_of(UNIT);
    }
    if end != section.len() {
        return Err(format!("a block of {} bytes whose columns end after {end}", section.len()));
    }
    Ok(entries)
}

/// Reads a block whose checksum matches; any remaining fault is due to the program that wrote it.
pub(super) fn read_block(section: &Bytes, header: &SectionHeader, fields: Fields) -> Result<Batch, String> {
    Ok(read(section, header, fields)?.0)
}

/// Checks a block like [`read_block`], but reads only boards, clocks and numbers of games: the other columns remain in
/// the [block](Batch::block) until they are needed, see [`Batch::unpacked`]. A block that cannot be passed on is read as a
/// whole.
pub(super) fn read_packed_block(section: &Bytes, header: &SectionHeader) -> Result<Batch, String> {
    let (mut batch, is_exact) = read(section, header, Fields::of(&[Field::Game]))?;
    if !is_exact {
        return read_block(section, header, Fields::ALL);
    }
    let unpack = |section: &Bytes| read_block(section, &SectionHeader::read(section)?, Fields::ALL);
    batch.block = Some(Block::of(section.clone(), unpack));
    Ok(batch)
}

/// Reads a block; also tells whether the block can be passed on: all of its columns are known, each has a value in some
/// row, and no score is a mate.
fn read(section: &Bytes, header: &SectionHeader, fields: Fields) -> Result<(Batch, bool), String> {
    if header.count == 0 || header.count > MOST_RECORDS {
        return Err(format!("a block of {} records; from 1 to {MOST_RECORDS} are possible", header.count));
    }
    let rows = header.count as usize;
    let mut batch = None;
    let mut clocks = [None, None];
    let mut columns = BTreeMap::new();
    let mut score = None;
    let mut is_exact = true;
    for entry in directory(section, header)? {
        let range = entry.at..entry.at + entry.len;
        let bytes = &section[range.clone()];
        let wrong = |what: &str| format!("{} {what}", named(entry.id));
        match entry.id {
            GROUPS | HALFMOVE | FULLMOVE if entry.partial != 0 => {
                return Err(wrong("has rows without a value"));
            }
            GROUPS => {
                if bytes.len() != rows.div_ceil(Group::LEN) * Group::BYTES {
                    return Err(wrong("has the wrong length"));
                }
                if !rest_is_empty(bytes, rows) {
                    return Err(wrong("has boards after the last record"));
                }
                batch = Some(groups_of(&section.slice(range), rows));
            }
            HALFMOVE | FULLMOVE => {
                if bytes.len() != 2 * rows {
                    return Err(wrong("has the wrong length"));
                }
                let values = bytes.as_chunks().0.iter();
                clocks[usize::from(entry.id - HALFMOVE)] =
                    Some(values.map(|&value| u16::from_le_bytes(value)).collect());
            }
            id => {
                let Some(field) = field_of(id) else {
                    is_exact = false;
                    continue;
                };
                // Mates may be among the scores.
                let requested = fields.contains(field) || field == Field::Score && fields.contains(Field::Mate);
                let values = read_values(bytes, &entry, rows, field, requested).map_err(|what| wrong(&what))?;
                if field == Field::Score {
                    if score.replace(id).is_some() {
                        return Err(wrong("is beside another column of scores"));
                    }
                    if id != RAW_SCORE
                        && let Some((row, value)) = values.as_ref().and_then(impossible_score)
                    {
                        return Err(wrong(&cannot_be(row, value)));
                    }
                }
                let bitmap = &bytes[..usize::from(entry.partial) * rows.div_ceil(64) * 8];
                is_exact &= bitmap.is_empty() || bitmap.iter().any(|&byte| byte != 0);
                if id != RAW_SCORE
                    && let Some(Array::I16(scores)) = values.as_ref().filter(|_| field == Field::Score)
                {
                    is_exact &= !any_mate(scores.values());
                }
                if let Some(values) = values.filter(|_| requested) {
                    columns.insert(field, values);
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
    if score != Some(RAW_SCORE) {
        take_mates_out(&mut columns, rows);
    }
    columns.retain(|&field, _| fields.contains(field));
    batch.fields = columns;
    Ok((batch, is_exact))
}

/// Whether the lanes after the last record are empty.
fn rest_is_empty(groups: &[u8], rows: usize) -> bool {
    let lanes = rows % Group::LEN;
    let last = &groups[groups.len() - Group::BYTES..];
    lanes == 0 || last.chunks(Group::BYTES / 4).all(|plane| plane[8 * lanes..].iter().all(|&byte| byte == 0))
}

/// The boards in place, if they are mapped on a little-endian machine; otherwise a copy.
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
            Group { planes: std::array::from_fn(|plane| planes[plane].map(u64::from_le_bytes)) }
        })
        .collect();
    Batch::owned(groups, rows)
}

/// Checks the values of a field, and reads them if they are requested; otherwise returns none.
fn read_values(
    mut bytes: &[u8],
    entry: &Entry,
    rows: usize,
    field: Field,
    requested: bool,
) -> Result<Option<Array>, String> {
    const LENGTH: &str = "has the wrong length";
    let present = match entry.partial {
        0 => Values::<()>::all_present(rows),
        1 => {
            let len = rows.div_ceil(64) * 8;
            let bitmap = bytes.split_off(..len).ok_or(LENGTH)?;
            let words = bitmap.as_chunks().0.iter();
            words.map(|&word| u64::from_le_bytes(word)).collect()
        }
        other => {
            return Err(format!("has an invalid bitmap flag: {other}"));
        }
    };
    if !rows.is_multiple_of(64) && present.last().is_some_and(|last| last >> (rows % 64) != 0) {
        return Err("has values after the last record".to_owned());
    }
    /// The numbers of a column.
    fn numbers<const N: usize, T: Copy + Default + From<u8> + Mul<Output = T>>(
        bytes: &[u8],
        present: Vec<u64>,
        read: impl Fn([u8; N]) -> T,
    ) -> Values<T> {
        let values = bytes.as_chunks::<N>().0.iter().map(|&value| read(value));
        Values::from_parts(values.collect(), present)
    }
    let kind = field.column(0);
    let width = match kind {
        Array::U8(_) => 1,
        Array::I16(_) | Array::U16(_) => 2,
        Array::U32(_) => 4,
        Array::U64(_) => 8,
        Array::Text(_) => return texts(bytes, present, rows, requested).map(Some),
        Array::Flag(_) | Array::TextBuffer(_) | Array::Boards(_) | Array::Lists(_) => return Ok(None),
    };
    if bytes.len() != width * rows {
        return Err(LENGTH.to_owned());
    }
    if !requested && !matches!(field, Field::Move | Field::Result | Field::Score | Field::KeyEnPassant) {
        return Ok(None);
    }
    let values = match kind {
        Array::U8(_) => Array::U8(numbers(bytes, present, u8::from_le_bytes)),
        Array::I16(_) => Array::I16(numbers(bytes, present, i16::from_le_bytes)),
        Array::U16(_) => Array::U16(numbers(bytes, present, u16::from_le_bytes)),
        Array::U32(_) => Array::U32(numbers(bytes, present, u32::from_le_bytes)),
        Array::U64(_) => Array::U64(numbers(bytes, present, u64::from_le_bytes)),
        Array::Text(_) | Array::Flag(_) | Array::TextBuffer(_) | Array::Boards(_) | Array::Lists(_) => return Ok(None),
    };
    match out_of_range(field, &values, 0..rows) {
        None => Ok(Some(values)),
        Some((row, value)) => Err(cannot_be(row, value)),
    }
}

fn cannot_be(row: usize, value: i64) -> String {
    format!("has an impossible value in row {row}: {value}")
}

/// Checks the texts of a column, and reads them if they are requested.
fn texts(mut bytes: &[u8], present: Vec<u64>, rows: usize, requested: bool) -> Result<Array, String> {
    const LENGTH: &str = "has the wrong length";
    let count = u32_at(bytes.split_off(..8).ok_or(LENGTH)?, 0) as usize;
    if count > rows {
        return Err(format!("has {count} texts for {rows} records"));
    }
    let ends = bytes.split_off(..4 * count).ok_or(LENGTH)?;
    let codes = bytes.split_off(..2 * rows).ok_or(LENGTH)?.as_chunks().0;
    // Copied before validation: bytes of a mapped file could change in between.
    let all = String::from_utf8(bytes.to_vec()).map_err(|_| "has a text that is not UTF-8")?;
    let ends: Vec<usize> = ends.as_chunks().0.iter().map(|&end| u32::from_le_bytes(end) as usize).collect();
    let mut start = 0;
    for (at, &end) in ends.iter().enumerate() {
        if end < start || !all.is_char_boundary(end) {
            return Err(format!("has a text {at} that ends where none can end"));
        }
        start = end;
    }
    if start != all.len() {
        return Err(format!("has {} bytes after its texts", all.len() - start));
    }
    let is_present = |row: usize| present[row / 64] >> (row % 64) & 1 != 0;
    let code = |row: usize| usize::from(u16::from_le_bytes(codes[row]));
    let most = codes.iter().map(|&code| u16::from_le_bytes(code)).max();
    if most.is_some_and(|most| usize::from(most) >= count)
        && let Some(row) = (0..rows).find(|&row| is_present(row) && code(row) >= count)
    {
        return Err(format!("has text {} in row {row}, of {count} texts", code(row)));
    }
    if !requested {
        return Ok(Array::Text(Texts::default()));
    }
    let codes = codes.iter().map(|&code| u16::from_le_bytes(code).into());
    let codes = Values::from_parts(codes.collect(), present);
    Ok(Array::Text(Texts::from_parts(codes, TextList::from_parts(all, ends))))
}

/// Files of version 1.0 have mates among the scores.
fn take_mates_out(columns: &mut BTreeMap<Field, Array>, rows: usize) {
    let Some(Array::I16(scores)) = columns.get(&Field::Score) else {
        return;
    };
    if !any_mate(scores.values()) {
        return;
    }
    let known = match columns.get(&Field::Mate) {
        Some(Array::I16(mates)) => mates.clone(),
        _ => Values::missing(rows),
    };
    let (mut moves, mut mates) = (known.values().to_vec(), known.present().to_vec());
    let mut present = scores.present().to_vec();
    for (word, scores) in scores.values().chunks(64).enumerate() {
        let bits = bits_where(scores, is_mate);
        let mut new = bits & !mates[word];
        present[word] &= !bits;
        mates[word] |= bits;
        while new != 0 {
            let row = new.trailing_zeros() as usize;
            let left = (MATE_SCORE - scores[row].unsigned_abs()) as i16;
            moves[64 * word + row] = scores[row].signum() * left;
            new &= new - 1;
        }
    }
    let cleaned = Values::from_parts(scores.values().to_vec(), present);
    let mates = Values::from_parts(moves, mates);
    columns.insert(Field::Score, Array::I16(cleaned));
    columns.insert(Field::Mate, Array::I16(mates));
}
