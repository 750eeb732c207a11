//! EPD operations: `opcode operand;`, as they follow the fields of a position.

use crate::chess::{Color, Move, Position, Validity, fen};
use crate::formats::{Remark, Remarks, pgn};
use crate::games::{Outcome, Verdict};
use crate::table::{Batch, Field, Fields, MOST_CENTIPAWNS};
use crate::text::one_line;
use memchr::{memchr, memchr2, memmem};
use std::borrow::Cow;

/// Takes the clocks from the operations `hmvc` and `fmvn`, where they are not fields.
pub(super) fn clocks_of_operations(fen: &mut fen::Fen<'_>, remarks: &mut Remarks) {
    // Few lines have them, and both opcodes contain `mv`.
    if memmem::find(fen.rest, b"mv").is_none() {
        return;
    }
    let Ok(operations) = std::str::from_utf8(fen.rest) else {
        return;
    };
    let mut number = |opcode| {
        let text = operand(operations, opcode)?.trim();
        let number = text.parse().ok();
        if number.is_none() {
            remarks.add_with(&UNREAD_CLOCK, 1, Some(&shown(&format!("{opcode} {text}"))));
        }
        number
    };
    if let Some(halfmove) = number("hmvc") {
        fen.position.halfmove = halfmove;
    }
    if let Some(fullmove) = number("fmvn") {
        fen.position.fullmove = fullmove;
    }
}

/// The result that text after a position consists of, if there is nothing else: points of White, or any other form of a
/// result, perhaps in brackets, perhaps after a bar, comma or semicolon. It is returned as the operation that EPD has
/// for it.
pub(super) fn result_alone(rest: &[u8]) -> Option<&'static [u8]> {
    let is_between = |byte: &u8| matches!(byte, b'|' | b';' | b',') || byte.is_ascii_whitespace();
    let start = rest.iter().position(|byte| !is_between(byte))?;
    let end = rest.iter().rposition(|byte| !is_between(byte))? + 1;
    let text = &rest[start..end];
    let text = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text).trim_ascii();
    match Verdict::of_score(text).or_else(|| Verdict::of(text))? {
        Verdict::Outcome(Outcome::White) => Some(b"c9 \"1-0\";"),
        Verdict::Outcome(Outcome::Draw) => Some(b"c9 \"1/2-1/2\";"),
        Verdict::Outcome(Outcome::Black) => Some(b"c9 \"0-1\";"),
        Verdict::Unequal | Verdict::Unknown => None,
    }
}

/// Clocks among operations that are not numbers.
static UNREAD_CLOCK: Remark =
    Remark { what: "EPD operation", how: "for a clock that is not a number was not read", is_detail: false };

/// Scores beyond the range of the column.
pub(in crate::formats) static CUT_SCORE: Remark =
    Remark { what: "score", how: "beyond 310 pawns read as 310 pawns", is_detail: false };

/// Maximum number of letters of an operation that a note quotes.
const SHOWN: usize = 60;

/// An operation as a note quotes it.
fn shown(text: &str) -> String {
    let mut shown = one_line::of(&text.chars().take(SHOWN).collect::<String>()).to_string();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Values of operations that were not read, and the fields that should have them.
pub(in crate::formats) type Unread<'a> = Vec<(Field, &'a str)>;

/// The values of operations that are fields as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OperationFields {
    pub(super) mv: Option<Move>,
    pub(super) score: Option<i16>,
    pub(super) mate: Option<i16>,
    pub(super) depth: Option<u16>,
    /// The code of [`Field::Result`].
    pub(super) result: Option<u8>,
}

impl OperationFields {
    /// The fields that operations may give.
    pub(super) const FIELDS: Fields =
        Fields::of(&[Field::Move, Field::Score, Field::Mate, Field::Depth, Field::Result]);

    /// The first move of `bm`, if it is legal; the evaluation `ce` and the mate `dm`, which are from the view of the
    /// side to move; the depth `acd`; the result, from `result` or a comment `c0` to `c9` that is nothing but a result.
    /// If there are several operations of one name, the first counts. Values of these fields that cannot be read are
    /// added to the list.
    pub(super) fn of<'a>(
        operations: &'a str,
        position: &Position,
        fields: Fields,
        remarks: &mut Remarks,
        unread: &mut Unread<'a>,
    ) -> Self {
        let (mut best, mut evaluation, mut mate, mut depth) = (None, None, None, None);
        let mut result = None;
        for operation in each(operations) {
            let operation = operation.trim_ascii_start();
            let Some((opcode, operand)) = operation.split_once(' ') else {
                continue;
            };
            let operand = without_doubled(opcode, operand.trim_ascii());
            let place = match opcode.as_bytes() {
                b"bm" => &mut best,
                b"ce" => &mut evaluation,
                b"dm" => &mut mate,
                b"acd" => &mut depth,
                b"result" | [b'c', b'0'..=b'9'] if fields.contains(Field::Result) => {
                    match result_of(opcode, operand) {
                        Some(Verdict::Outcome(outcome)) if result.is_none_or(|code| code == outcome.code()) => {
                            result = Some(outcome.code());
                        }
                        Some(Verdict::Unknown) => {}
                        // Also a second result that is another one.
                        Some(_) => unread.push((Field::Result, operand)),
                        None if opcode == "result" => unread.push((Field::Result, operand)),
                        None => {}
                    }
                    continue;
                }
                _ => continue,
            };
            place.get_or_insert(operand);
        }
        let mut of_field = |field, text: Option<&'a str>, is_read: bool| {
            if let Some(text) = text.filter(|_| !is_read && fields.contains(field)) {
                unread.push((field, text));
            }
        };
        let number = |text: Option<&str>| text?.parse::<i32>().ok();
        let mv = best.filter(|_| fields.contains(Field::Move)).and_then(|moves| best_move(moves, position));
        of_field(Field::Move, best, mv.is_some());
        let said = number(evaluation).and_then(|number| Evaluation::of(number, position.side_to_move));
        of_field(Field::Score, evaluation, said.is_some());
        let is_cut = matches!((said, number(evaluation)), (Some(Evaluation::Centipawns(score)), Some(number))
            if u32::from(score.unsigned_abs()) < number.unsigned_abs());
        remarks.add_with(&CUT_SCORE, u64::from(is_cut && fields.contains(Field::Score)), evaluation);
        let moves_to_mate = number(mate).filter(|&moves| moves != 0);
        of_field(Field::Mate, mate, moves_to_mate.is_some());
        let to_mate = moves_to_mate.map(|moves| mate_of(moves, position.side_to_move));
        let to_mate = to_mate.or(said.and_then(Evaluation::mate));
        let acd = depth.and_then(|text| text.parse().ok());
        of_field(Field::Depth, depth, acd.is_some());
        Self {
            mv,
            score: said.and_then(Evaluation::score).filter(|_| to_mate.is_none()),
            mate: to_mate,
            depth: acd,
            result,
        }
    }

    /// The value of a field.
    pub(super) fn get(&self, field: Field) -> Option<i64> {
        match field {
            Field::Move => self.mv.map(|mv| mv.to_bits().into()),
            Field::Score => self.score.map(i64::from),
            Field::Mate => self.mate.map(i64::from),
            Field::Depth => self.depth.map(i64::from),
            Field::Result => self.result.map(i64::from),
            _ => None,
        }
    }
}

/// An operand without the opcode before it, where a program wrote that twice: `bm bm Rxf4;`.
fn without_doubled<'a>(opcode: &str, mut operand: &'a str) -> &'a str {
    while let Some(rest) = operand.strip_prefix(opcode).filter(|rest| rest.starts_with([' ', '\t'])) {
        operand = rest.trim_ascii_start();
    }
    operand
}

/// What an operation says about the end of the game: `result`, or a comment. Trainers have results in `c9`, which may be
/// points of White as well; other comments must have the points of both sides.
fn result_of(opcode: &str, operand: &str) -> Option<Verdict> {
    let text = operand.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(operand).trim_ascii();
    let is_of_both = text.len() > 1 && !matches!(text, "1/2" | "½");
    let verdict = Verdict::of(text.as_bytes()).filter(|_| is_of_both || opcode == "result");
    verdict.or_else(|| Verdict::of_score(text.as_bytes()).filter(|_| matches!(opcode, "result" | "c9")))
}

/// The operand of `ce`, as White sees it.
#[derive(Clone, Copy, Debug)]
enum Evaluation {
    Centipawns(i16),
    Mate(i16),
}

impl Evaluation {
    /// Numbers beyond 32,000 are mates: 32,767 less the number of plies, positive for the side that mates.
    fn of(number: i32, mover: Color) -> Option<Self> {
        const NOW: i32 = 32_767;
        const LEAST_MATE: i32 = 32_000;
        let most = i32::from(MOST_CENTIPAWNS);
        Some(match number {
            _ if number.abs() > NOW || number == NOW => return None,
            _ if number > LEAST_MATE => Self::Mate(mate_of((NOW - number + 1) / 2, mover)),
            _ if number < -LEAST_MATE => Self::Mate(mate_of(-((NOW + number) / 2), mover)),
            _ => {
                let number = number.clamp(-most, most) as i16;
                Self::Centipawns(if mover == Color::White { number } else { -number })
            }
        })
    }
    fn score(self) -> Option<i16> {
        match self {
            Self::Centipawns(score) => Some(score),
            Self::Mate(_) => None,
        }
    }
    fn mate(self) -> Option<i16> {
        match self {
            Self::Mate(mate) => Some(mate),
            Self::Centipawns(_) => None,
        }
    }
}

/// Moves to mate as White sees it, from the number for the mover, which is negative if the mover is mated.
fn mate_of(moves: i32, mover: Color) -> i16 {
    let black_mates = (moves < 0) == (mover == Color::White);
    pgn::mate_in(black_mates && moves != 0, moves.unsigned_abs().into())
}

/// The first of several moves, if it is legal.
fn best_move(moves: &str, position: &Position) -> Option<Move> {
    let mut moves = moves.split([' ', '\t', ',']);
    let first = moves.find(|text| !text.is_empty())?;
    // A position without kings has no defined moves.
    let position = position.is_valid(Validity::Playable).then_some(position)?;
    position.parse_san(first).ok()
}

/// The operation for a field of puzzles or evaluations.
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

/// Whether the operations of a record repeat this field of it.
pub(super) fn is_in_operations(batch: &Batch, row: usize, field: Field) -> bool {
    let operations = batch.values(Field::Operations);
    let (Some(operations), Some(values)) =
        (operations.and_then(|operations| operations.text(row)), batch.values(field))
    else {
        return false;
    };
    if OperationFields::FIELDS.contains(field) {
        let position = batch.position(row).ok();
        let said = position.and_then(|position| {
            let fields = Fields::of(&[field]);
            OperationFields::of(operations, &position, fields, &mut Remarks::default(), &mut Unread::new()).get(field)
        });
        let without_flag = |bits: i64| Move::from_bits(bits as u16).map(|mv| mv.to_bits().into());
        return said
            == values.number(row).and_then(|number| match field {
                Field::Move => without_flag(number),
                _ => Some(number),
            });
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
    counts(operations).filter_map(|(_, depth, nodes)| Some((depth, nodes?)))
}

/// The perft counts among operations that are not numbers; see [`perft_counts`].
///
/// ```
/// use lanefish::formats::text::unreadable_perft_counts;
/// assert_eq!(unreadable_perft_counts(";D1 20 ;D2 1,400").collect::<Vec<_>>(), [(2, "D2 1,400")]);
/// ```
pub fn unreadable_perft_counts(operations: &str) -> impl Iterator<Item = (u32, &str)> {
    counts(operations).filter_map(|(text, depth, nodes)| nodes.is_none().then_some((depth, text)))
}

/// Operations that give a perft count, with their depths and the number, if it is one.
fn counts(operations: &str) -> impl Iterator<Item = (&str, u32, Option<u64>)> {
    operations.split(';').map(str::trim).filter_map(|operation| {
        let count = operation.strip_prefix('D')?;
        let (depth, nodes) = count.split_once(char::is_whitespace).unwrap_or((count, ""));
        Some((operation, depth.parse().ok()?, nodes.trim().parse().ok()))
    })
}

/// The operand of an opcode among operations, up to its `;`.
fn operand<'a>(operations: &'a str, opcode: &str) -> Option<&'a str> {
    each(operations).find_map(|operation| {
        let operand = operation.trim_start().strip_prefix(opcode)?;
        operand.strip_prefix(' ').map(str::trim)
    })
}

/// The operations one by one; a `;` in quotes does not end an operation.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_end_at_semicolons_that_are_not_in_quotes() {
        assert_eq!(operand("bm Rxb2; ce 31;", "ce"), Some("31"));
        assert_eq!(operand("bm Rxb2; ce 31;", "acd"), None);
        assert_eq!(operand("id \"a; ce 1\"; ce 31;", "ce"), Some("31"));
    }
}
