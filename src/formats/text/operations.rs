//! EPD operations: `opcode operand;`, as they follow the fields of a position.

use crate::chess::fen;
use crate::chess::validity::Validity;
use crate::chess::{Move, Position};
use crate::table::{Batch, Field};
use memchr::{memchr, memchr2, memmem};
use std::borrow::Cow;

/// Takes the clocks from the operations `hmvc` and `fmvn`, where they are not fields.
pub(super) fn clocks_of_operations(fen: &mut fen::Fen<'_>) {
    // Few lines have them, and both opcodes contain `mv`.
    if memmem::find(fen.rest, b"mv").is_none() {
        return;
    }
    let Ok(operations) = std::str::from_utf8(fen.rest) else {
        return;
    };
    let number = |opcode| operand(operations, opcode)?.trim().parse().ok();
    if let Some(halfmove) = number("hmvc") {
        fen.position.halfmove = halfmove;
    }
    if let Some(fullmove) = number("fmvn") {
        fen.position.fullmove = fullmove;
    }
}

/// The first move of the operation `bm`, if it is legal.
pub(super) fn best_move(operations: &str, position: &Position) -> Option<Move> {
    let mut moves = operand(operations, "bm")?.split([' ', '\t', ',']);
    let first = moves.find(|text| !text.is_empty())?;
    // A position without kings has no defined moves.
    let moves = position.is_valid(Validity::Playable).then_some(position)?;
    moves.parse_san(first).ok()
}

/// The operation that a field becomes that puzzles or evaluations have.
pub(in crate::formats) fn operation_of(field: Field, value: &str) -> Option<String> {
    let start = match field {
        Field::PuzzleId => "id \"",
        Field::PuzzleRating => "c0 \"rating ",
        Field::Themes => "c1 \"",
        Field::Depth => return Some(format!("acd {value};")),
        _ => return None,
    };
    Some(format!("{start}{}\";", value.replace('"', "'")))
}

/// Whether the operations of a record say what this field of it does.
pub(super) fn is_in_operations(batch: &Batch, row: usize, field: Field) -> bool {
    let operations = batch.values(Field::Operations);
    let (Some(operations), Some(values)) =
        (operations.and_then(|operations| operations.text(row)), batch.values(field))
    else {
        return false;
    };
    if field == Field::Move {
        let position = batch.position(row).ok();
        let best = position.and_then(|position| best_move(operations, &position));
        let known = values.number(row).and_then(|bits| Move::from_bits(bits as u16));
        return best == known;
    }
    let number = || values.number(row).map(|number| Cow::Owned(number.to_string()));
    let value = values.text(row).map(Cow::Borrowed).or_else(number);
    let operation = value.and_then(|value| operation_of(field, &value));
    operation.is_some_and(|operation| operations.contains(&operation))
}

pub(super) fn separate(operations: &mut String) {
    if !operations.is_empty() {
        operations.push(' ');
    }
}

/// The perft counts (depth, nodes) among operations, in either form: `;D1 20 ;D2 400` and
/// `D1 20; D2 400;`.
///
/// ```
/// use lanefish::formats::text::perft_counts;
/// assert_eq!(perft_counts(";D1 20 ;D2 400").collect::<Vec<_>>(), [(1, 20), (2, 400)]);
/// assert_eq!(perft_counts("id \"x\"; D3 8902;").collect::<Vec<_>>(), [(3, 8902)]);
/// ```
pub fn perft_counts(operations: &str) -> impl Iterator<Item = (u32, u64)> {
    operations.split(';').filter_map(|operation| {
        let (depth, nodes) = operation.trim().strip_prefix('D')?.split_once(' ')?;
        Some((depth.parse().ok()?, nodes.trim().parse().ok()?))
    })
}

/// The operand of an opcode among operations, up to its `;`.
///
/// ```
/// use lanefish::formats::text::operand;
/// assert_eq!(operand("bm Rxb2; ce 31;", "ce"), Some("31"));
/// assert_eq!(operand("bm Rxb2; ce 31;", "acd"), None);
/// assert_eq!(operand("id \"a; ce 1\"; ce 31;", "ce"), Some("31"));
/// ```
pub fn operand<'a>(operations: &'a str, opcode: &str) -> Option<&'a str> {
    each(operations).find_map(|operation| {
        let operand = operation.trim_start().strip_prefix(opcode)?;
        operand.strip_prefix(' ').map(str::trim)
    })
}

/// The operations one by one; a `;` in quotes ends none.
fn each(operations: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(operations);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut at = 0;
        while let Some(found) = memchr2(b';', b'"', &text.as_bytes()[at..]) {
            at += found;
            if text.as_bytes()[at] == b';' {
                rest = Some(&text[at + 1..]);
                return Some(&text[..at]);
            }
            // A quote without a second one is a character like any other.
            at += 1;
            at += memchr(b'"', &text.as_bytes()[at..]).map_or(0, |len| len + 1);
        }
        rest = None;
        Some(text)
    })
}

/// The name among operations: `id "NAME";`.
///
/// ```
/// use lanefish::formats::text::id;
/// assert_eq!(id("bm Rxb2; id \"BK.11\";"), Some("BK.11"));
/// ```
pub fn id(operations: &str) -> Option<&str> {
    let at = if operations.starts_with("id \"") { 4 } else { operations.find(" id \"")? + 5 };
    operations[at..].split_once('"').map(|(name, _)| name)
}
