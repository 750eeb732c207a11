//! Lines with a position, a score and a result.

use super::lines::{first_line, without_mark};
use super::records::BadRecord;
use crate::games::{Outcome, Verdict};
use crate::text::numbers::whole;

/// Whether a line has a position, a score and a result.
///
/// ```
/// use lanefish::formats::scored_text::is_line;
/// assert!(is_line(b"8/8/8/8/8/8/6k1/K7 w - - 0 1 | 12 | 0.5"));
/// assert!(!is_line(b"8/8/8/8/8/8/6k1/K7 w - - 0 1"));
/// ```
pub fn is_line(line: &[u8]) -> bool {
    divide(line.trim_ascii()).is_ok_and(|(fen, _, _)| looks_like_a_board(fen))
}

/// Whether the first line of a text is one of this format.
pub(super) fn sniff(head: &[u8]) -> bool {
    let mut line = head
        .split(|&byte| byte == b'\n')
        .map(|line| without_mark(line).trim_ascii())
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    line.next().is_some_and(is_line)
}

fn looks_like_a_board(fen: &[u8]) -> bool {
    let board = fen.split(|&byte| byte == b' ').next().unwrap_or_default();
    board.iter().filter(|&&byte| byte == b'/').count() == 7
}

/// The length of the FEN, the score and the result of a line that ends like nearly all lines: ` | 35 | 1.0`.
#[inline(always)]
pub(super) fn usual_values(line: &[u8]) -> Option<(usize, i16, u8)> {
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
pub(super) fn divide(line: &[u8]) -> Result<(&[u8], i16, u8), BadRecord> {
    let bad = |reason, message: &str| BadRecord::new(reason, message.to_owned());
    let is_between = |byte: &u8| matches!(byte, b'|' | b';' | b',') || byte.is_ascii_whitespace();
    let mut rest = line;
    let mut last = || {
        let end = rest.iter().rposition(|byte| !is_between(byte))? + 1;
        let start = rest[..end].iter().rposition(is_between).map_or(0, |at| at + 1);
        let value = &rest[start..end];
        rest = &rest[..start];
        Some(value)
    };
    let (Some(second), Some(first)) = (last(), last()) else {
        return Err(bad("incomplete_line", "a line without score and result"));
    };
    // The result is the one in brackets or with a point, else the last one.
    let is_result = |value: &[u8]| value.starts_with(b"[") || value.contains(&b'.');
    let (score, result) = if is_result(first) && !is_result(second) { (second, first) } else { (first, second) };
    let end = rest.iter().rposition(|byte| !is_between(byte)).map_or(0, |at| at + 1);
    let fen = &rest[..end];
    // Two numbers after blanks are the clocks of the position, unless it has them already.
    let has_sign =
        is_result(first) || is_result(second) || line[end..].iter().any(|byte| matches!(byte, b'|' | b';' | b','));
    let words = || fen.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    if !has_sign && words() < 6 {
        return Err(bad("incomplete_line", "a line without score and result"));
    }
    let score = number(score).ok_or_else(|| {
        bad(
            "invalid_score",
            &format!("`{}` is not a score of 16 bits", String::from_utf8_lossy(&score[..score.len().min(32)])),
        )
    })?;
    let result = result_of(result).ok_or_else(|| {
        bad(
            "invalid_result",
            &format!("`{}` is not a result", String::from_utf8_lossy(&result[..result.len().min(32)])),
        )
    })?;
    Ok((fen, score, result))
}

/// A whole number of 16 bits.
fn number(text: &[u8]) -> Option<i16> {
    whole(text)?.try_into().ok()
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

/// Whether a text begins with an entry of [`super::plain`].
pub(super) fn begins_entry(head: &[u8]) -> bool {
    first_line(head).starts_with(b"fen ")
}
