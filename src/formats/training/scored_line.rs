//! Lines with a position, a score and a result.

use crate::formats::codec::decode_records::BadRecord;
use crate::formats::codec::line_records::{first_line, strip_bom};
use crate::games::{Outcome, Verdict};
use crate::text::numbers::whole;
use std::borrow::Cow;

/// The hint for a bad line of positions that has a position, a score and a result.
pub(in crate::formats) fn hint(line: &[u8]) -> Option<&'static str> {
    let is_line = divide(line.trim_ascii()).is_ok_and(|(fen, _, _)| looks_like_a_board(fen));
    is_line.then_some("lines such as FEN | score | result carry a score and a result: --from text reads them")
}

/// Whether the first line of a text is one of this format.
pub(in crate::formats) fn sniff(head: &[u8]) -> bool {
    let mut line = head
        .split(|&byte| byte == b'\n')
        .map(|line| strip_bom(line).trim_ascii())
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    line.next().is_some_and(|line| {
        // Lines with other scores are rejected by name, rather than read as positions without a score.
        let has_values = |parts: &Parts<'_>| {
            (number(parts.score).is_some() || is_decimal(parts.score)) && result_of(parts.result).is_some()
        };
        parts(line).is_ok_and(|parts| looks_like_a_board(parts.fen) && has_values(&parts))
    })
}

fn looks_like_a_board(fen: &[u8]) -> bool {
    let board = fen.split(|&byte| byte == b' ').next().unwrap_or_default();
    board.iter().filter(|&&byte| byte == b'/').count() == 7
}

/// The length of the FEN, the score and the result of a line that ends like nearly all lines: ` | 35 | 1.0`.
#[inline(always)]
pub(in crate::formats) fn usual_values(line: &[u8]) -> Option<(usize, i16, u8)> {
    let (line, result) = match line {
        [line @ .., b' ', b'|', b' ', b'1', b'.', b'0'] => (line, 2),
        [line @ .., b' ', b'|', b' ', b'0', b'.', b'5'] => (line, 1),
        [line @ .., b' ', b'|', b' ', b'0', b'.', b'0'] => (line, 0),
        _ => return None,
    };
    let (mut score, mut place) = (0, 1);
    let mut rest = line;
    while let [before @ .., digit @ b'0'..=b'9'] = rest {
        if place > 10_000 {
            return None;
        }
        score += place * i32::from(digit - b'0');
        place *= 10;
        rest = before;
    }
    if place == 1 {
        return None;
    }
    if let [before @ .., b'-'] = rest {
        (rest, score) = (before, -score);
    }
    let fen = rest.strip_suffix(b" | ")?;
    Some((fen.len(), score.try_into().ok()?, result))
}

/// The FEN, score and result of a line.
pub(in crate::formats) fn divide(line: &[u8]) -> Result<(&[u8], i16, u8), BadRecord> {
    let bad = |reason, message: &str| BadRecord::new(reason, message.to_owned());
    let parts = parts(line).map_err(|message| bad("incomplete_line", message))?;
    let score = number(parts.score)
        .ok_or_else(|| bad("invalid_score", &format!("`{}` is not a score of 16 bits", shown(parts.score))))?;
    let result = result_of(parts.result)
        .ok_or_else(|| bad("invalid_result", &format!("`{}` is not a result", shown(parts.result))))?;
    Ok((parts.fen, score, result))
}

/// The beginning of a value, for a message.
fn shown(value: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&value[..value.len().min(32)])
}

/// The parts of a line, as they are written.
struct Parts<'a> {
    fen: &'a [u8],
    score: &'a [u8],
    result: &'a [u8],
}

/// Whether a byte is between the values of a line.
fn is_between(byte: &u8) -> bool {
    matches!(byte, b'|' | b';' | b',') || byte.is_ascii_whitespace()
}

/// Divides a line at its last two values.
fn parts(line: &[u8]) -> Result<Parts<'_>, &'static str> {
    const INCOMPLETE: &str = "a line without score and result";
    let mut rest = line;
    let mut last = || {
        let end = rest.iter().rposition(|byte| !is_between(byte))? + 1;
        let start = rest[..end].iter().rposition(is_between).map_or(0, |at| at + 1);
        // A bracket needs no blank before it.
        let start = rest[start..end].iter().rposition(|&byte| byte == b'[').map_or(start, |at| start + at);
        let value = &rest[start..end];
        rest = &rest[..start];
        Some(value)
    };
    let (Some(second), Some(first)) = (last(), last()) else {
        return Err(INCOMPLETE);
    };
    if rest.len() < end_of_clocks(line) {
        // The first of them is a field of the position, such as the move number.
        return Err(if kind(second) >= Kind::Form { "a line with a result and no score" } else { INCOMPLETE });
    }
    let (score, result) = if kind(first) > kind(second) { (second, first) } else { (first, second) };
    let end = rest.iter().rposition(|byte| !is_between(byte)).map_or(0, |at| at + 1);
    let fen = &rest[..end];
    // Two numbers after blanks are the clocks of the position, unless it has them already.
    let has_sign = kind(result) > Kind::Other || line[end..].iter().any(|byte| matches!(byte, b'|' | b';' | b','));
    let words = || fen.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    if !has_sign && words() < 6 {
        return Err(INCOMPLETE);
    }
    Ok(Parts { fen, score, result })
}

/// How much a value looks like a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Other,
    /// It has a point.
    Decimal,
    /// It has the form of a result, which no whole number has.
    Form,
    /// It begins with a bracket.
    InBrackets,
}

fn kind(value: &[u8]) -> Kind {
    if value.starts_with(b"[") {
        Kind::InBrackets
    } else if value.len() > 1 && result_of(value).is_some() {
        Kind::Form
    } else if value.contains(&b'.') {
        Kind::Decimal
    } else {
        Kind::Other
    }
}

/// Where the fields of the position end for certain: behind the first four, or behind two whole numbers after blanks
/// that follow them, which are its clocks. 0 if there are fewer than four fields.
fn end_of_clocks(line: &[u8]) -> usize {
    let ends_word = |byte: &u8| is_between(byte) || *byte == b'[';
    // The next word after blanks, and where it ends.
    let word = |from: usize| {
        let rest = &line[from..];
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let len = rest[start..].iter().position(ends_word).unwrap_or(rest.len() - start);
        let end = from + start + len;
        (len > 0).then_some((&line[from + start..end], end))
    };
    let mut end = 0;
    for _ in 0..4 {
        match word(end) {
            Some((_, next)) => end = next,
            None => return 0,
        }
    }
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let clocks = word(end).filter(|(halfmove, _)| is_number(halfmove)).and_then(|(_, next)| word(next));
    clocks.filter(|(fullmove, _)| is_number(fullmove)).map_or(end, |(_, end)| end)
}

/// A whole number of 16 bits.
fn number(text: &[u8]) -> Option<i16> {
    whole(text)?.try_into().ok()
}

/// Whether a value is a number with decimals.
fn is_decimal(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let point = text.iter().position(|&byte| byte == b'.');
    text.len() > 1 && point.is_some_and(|point| digits(&text[..point]) && digits(&text[point + 1..]))
}

/// The code of a result: points of White, also in brackets, or any form of [`Verdict`].
fn result_of(text: &[u8]) -> Option<u8> {
    let text = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text);
    match text {
        b"1" => Some(Outcome::White.code()),
        b"0" => Some(Outcome::Black.code()),
        _ => match Verdict::of_score(text).or_else(|| Verdict::of(text))? {
            Verdict::Outcome(outcome) => Some(outcome.code()),
            Verdict::Unequal | Verdict::Unknown => None,
        },
    }
}

/// Whether a text begins with an entry of [`super::stockfish_plain`].
pub(in crate::formats) fn begins_entry(head: &[u8]) -> bool {
    first_line(head).starts_with(b"fen ")
}
