//! Classifies words of movetext by their letters alone: where they end, and which are results, null moves, remarks or
//! signs.
//!
//! Nothing here knows the game or the position. Any other word may be a move; only the board can tell.

use crate::games::{Outcome, Verdict, dash};
use memchr::memrchr;

/// Maximum number of letters of a token that a message quotes.
const SHOWN: usize = 60;

/// The result token that a text begins with, and its length.
pub(super) fn result(rest: &[u8], strict: bool) -> Option<(Verdict, usize)> {
    let (token, outcome): (&[u8], _) = match rest.first()? {
        b'*' => return Some((Verdict::Unknown, 1)),
        b'0' if rest.starts_with(b"0-1") => (b"0-1", Outcome::Black),
        b'1' if rest.starts_with(b"1-0") => (b"1-0", Outcome::White),
        b'1' if rest.starts_with(b"1/2-1/2") => (b"1/2-1/2", Outcome::Draw),
        _ if strict => return None,
        _ => return rare_result(rest),
    };
    let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'.'));
    match rest.get(token.len()).is_none_or(ends) {
        true => Some((Verdict::Outcome(outcome), token.len())),
        false if strict => None,
        // `0-1/2`
        false => rare_result(rest),
    }
}

/// As [`result`], of a text that does not begin with a result of the standard.
fn rare_result(rest: &[u8]) -> Option<(Verdict, usize)> {
    // Nearly all of these bytes belong to move numbers, signs or blanks of Unicode.
    let may_be_one = match *rest {
        [b'0' | b'1', byte, ..] => {
            byte == b':' || byte == b' ' || byte == b'\t' || byte >= 0x80 || b"-/.,".contains(&byte)
        }
        [b'.', b'5', ..] | [0xBD, ..] | [0xC2, 0xBD, ..] => true,
        [b'+' | b'-' | b'=', b':', ..] => true,
        _ => false,
    };
    if may_be_one { Verdict::at_beginning(rest) } else { None }
}

/// A castling move that a text begins with: its usual spelling, and its length. The letters may be zeros, and in lower
/// case; between them are dashes of any kind, also with blanks around them, or nothing.
pub(super) fn castling(text: &[u8]) -> Option<(&'static [u8], usize)> {
    /// No castling move has more bytes.
    const LONGEST: usize = 24;
    let text = &text[..text.len().min(LONGEST)];
    let mut rest = letter_of_castling(text)?;
    let (mut count, mut dashes) = (1, 0);
    loop {
        let next = dash(blanks(rest)).map(blanks).and_then(letter_of_castling);
        rest = match next {
            Some(next) => {
                dashes += 1;
                next
            }
            None => match letter_of_castling(rest) {
                Some(next) => next,
                None => break,
            },
        };
        count += 1;
    }
    let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"/.:-=".contains(byte));
    if !rest.first().is_none_or(ends) || dash(rest).is_some() || dashes != 0 && dashes + 1 != count {
        return None;
    }
    let len = text.len() - rest.len();
    match count {
        2 => Some((b"O-O", len)),
        3 => Some((b"O-O-O", len)),
        _ => None,
    }
}

fn letter_of_castling(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'O' | b'o' | b'0', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// A text without the blanks that it begins with, at most one of which ends a line.
fn blanks(text: &[u8]) -> &[u8] {
    let of_line = |text: &[u8]| text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    let text = &text[of_line(text)..];
    match text {
        [b'\n', rest @ ..] => &rest[of_line(rest)..],
        _ => text,
    }
}

/// A move in the numeric notation of correspondence chess, such as `5254` or, with a promotion, `57581`, as a move
/// between squares: `e2e4`, `e7e8q`.
pub(super) fn of_numeric(digits: &[u8]) -> Option<Vec<u8>> {
    let (squares, promotion) = digits.split_at_checked(4)?;
    if !squares.iter().all(|digit| matches!(digit, b'1'..=b'8')) || squares[..2] == squares[2..] {
        return None;
    }
    let mut text: Vec<u8> =
        squares.iter().enumerate().map(|(at, digit)| if at % 2 == 0 { digit - b'1' + b'a' } else { *digit }).collect();
    match promotion {
        [] => {}
        [digit @ b'1'..=b'4'] => text.push(b"qrbn"[usize::from(digit - b'1')]),
        _ => return None,
    }
    Some(text)
}

/// The length of the sign of an evaluation that a text begins with, such as `+--` or `-/+`; `0` if it is none.
pub(super) fn evaluation(text: &[u8]) -> usize {
    /// No sign has more bytes.
    const LONGEST: usize = 16;
    let text = &text[..text.len().min(LONGEST)];
    let mut rest = text;
    let mut has_sign = false;
    loop {
        rest = match rest {
            [b'+' | b'=' | b'/' | b'~' | b'<' | b'>' | b'^' | b'_' | b'|', after @ ..] => {
                has_sign = true;
                after
            }
            _ => match dash(rest) {
                Some(after) => after,
                None => break,
            },
        };
    }
    if has_sign { text.len() - rest.len() } else { 0 }
}

/// Whether a word is a move without the letter of its piece, which may be a word of its own: `f3`, `xf3`, `bd2`, `1xd2`.
/// A pawn's move may look the same.
pub(super) fn lacks_piece(word: &[u8]) -> bool {
    let word = trim_remarks(word);
    match word {
        [head @ .., b'a'..=b'h', b'1'..=b'8'] => {
            head.len() <= 3 && head.iter().all(|byte| matches!(byte, b'a'..=b'h' | b'1'..=b'8' | b'x' | b':' | b'-'))
        }
        _ => false,
    }
}

/// Whether a move is the last word of a text, rather than a move number, the beginning of a line of moves, or nothing.
pub(super) fn ends_with_move(mut text: &[u8]) -> bool {
    /// The beginning of a longer comment is not looked for.
    const LONGEST: usize = 4096;
    loop {
        text = text.trim_ascii_end();
        text = match *text {
            [ref rest @ .., 0xC2, 0xA0] => rest,
            [.., b'}'] => {
                // Not further, so that many brackets without a comment take no time.
                let from = text.len().saturating_sub(LONGEST);
                match memrchr(b'{', &text[from..]) {
                    Some(open) => &text[..from + open],
                    None => return true,
                }
            }
            [] | [.., b'.' | b'(' | b']' | b'*'] | [.., 0xE2, 0x80, 0xA6] => return false,
            [.., b')'] => return true,
            _ => {
                let len = text.iter().rev().take_while(|byte| !byte.is_ascii_whitespace() && !ends_word(byte)).count();
                let (before, word) = text.split_at(text.len() - len);
                let is_number = word.iter().all(u8::is_ascii_digit);
                match before {
                    // A NAG.
                    [rest @ .., b'$'] if is_number => rest,
                    _ => return !is_number,
                }
            }
        };
    }
}

/// The length of the word that a text begins with.
pub(super) fn word_len(text: &[u8]) -> usize {
    let mut len = 0;
    loop {
        let rest = &text[len..];
        len += rest.iter().position(ends_word).unwrap_or(rest.len());
        match sign_in_word(&text[len..]) {
            Some(sign) => len += sign,
            None => break,
        }
    }
    // A promotion in parentheses.
    match text[len..] {
        [b'(', b'N' | b'B' | b'R' | b'Q', b')', ..] => len + 3,
        _ => len,
    }
}

fn ends_word(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || *byte >= 0x80 || b"{}();[]$*,".contains(byte)
}

/// A word without the result at its end; `None` if it has none, or is nothing but a result.
pub(super) fn without_result(word: &[u8]) -> Option<&[u8]> {
    [&b"1/2-1/2"[..], b"1-0", b"0-1"]
        .iter()
        .filter_map(|result| word.strip_suffix(*result))
        .find(|word| !word.is_empty())
}

/// Whether a word in the place of a move is a null move.
pub(super) fn is_null(text: &[u8]) -> bool {
    matches!(text, b"Z0" | b"null" | b"pass")
}

/// Whether a word belongs to the move before (check, mate, en passant), or denotes a novelty or a diagram.
pub(super) fn is_remark(text: &[u8]) -> bool {
    let text = text.strip_suffix(b".").unwrap_or(text);
    REMARKS.contains(&text) || matches!(text, b"N" | b"TN" | b"D" | b"dis.ch" | b"dbl.ch")
}

/// Words that may follow a move.
const REMARKS: [&[u8]; 6] = [b"ch", b"mate", b"dis", b"dbl", b"ep", b"e.p"];

/// A word without the remarks and evaluations at its end.
pub(super) fn trim_remarks(mut text: &[u8]) -> &[u8] {
    loop {
        let before = text;
        while let [rest @ .., byte] = text
            && b"+#!?-=/~<>^_|.".contains(byte)
        {
            text = rest;
        }
        for remark in REMARKS {
            text = text.strip_suffix(remark).unwrap_or(text);
        }
        if text.len() == before.len() {
            return text;
        }
    }
}

/// Whether a text begins with the sign of a chess piece, `♔` to `♟`.
pub(super) fn is_figurine(text: &[u8]) -> bool {
    matches!(text, [0xE2, 0x99, 0x94..=0x9F, ..])
}

/// The length of the prefix of a text that may be part of a move: a figurine and a variation selector,
/// `×`, and a dash followed by a square.
fn sign_in_word(text: &[u8]) -> Option<usize> {
    match text {
        [0xE2, 0x99, 0x94..=0x9F, ..] | [0xEF, 0xB8, 0x8E | 0x8F, ..] => Some(3),
        [0xE2, 0x80, 0x90..=0x95, b'a'..=b'h', ..] => Some(3),
        [0xC3, 0x97, ..] => Some(2),
        _ => None,
    }
}

/// The length of the blank or sign that a text begins with: a non-letter, in UTF-8 or ISO-8859-1.
pub(super) fn symbol(text: &[u8]) -> Option<usize> {
    let head = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    match valid.chars().next() {
        Some('\u{80}'..='\u{A9}' | '\u{AB}'..='\u{B4}' | '\u{B6}'..='\u{B9}' | '\u{BB}'..='\u{BF}')
        | Some('×' | '÷' | 'Δ' | '\u{FEFF}' | '\u{FE0E}' | '\u{FE0F}' | '\u{FFFD}')
        | Some('\u{2000}'..='\u{206F}' | '\u{2190}'..='\u{27FF}' | '\u{2900}'..='\u{2BFF}')
        | Some('\u{3000}'..='\u{3002}') => valid.chars().next().map(char::len_utf8),
        Some(_) => None,
        // ISO-8859-1, and dashes, quotes and dots of Windows-1252.
        None => matches!(text.first(), Some(0x80..=0xBF | 0xD7 | 0xF7)).then_some(1),
    }
}

/// The token that a text begins with, as quoted in a message.
pub(super) fn shown(text: &[u8]) -> String {
    let ends = |&at: &usize| text[at] < 0x80 && ends_word(&text[at]);
    let len = (1..text.len()).find(ends).unwrap_or(text.len());
    let mut shown: String = String::from_utf8_lossy(&text[..len.min(4 * SHOWN)])
        .chars()
        .map(|letter| if crate::text::one_line::is_control(letter) { '\u{FFFD}' } else { letter })
        .take(SHOWN)
        .collect();
    if len > shown.len() {
        shown.push('…');
    }
    shown
}

/// A word without the check and annotation signs at its end.
pub(super) fn trim_signs(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b'+' | b'#' | b'!' | b'?'] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn castling_has_many_spellings() {
        let [short, long] = [&b"O-O"[..], b"O-O-O"];
        for (text, expected) in [
            ("O-O", Some((short, 3))),
            ("0-0", Some((short, 3))),
            ("o-o+", Some((short, 3))),
            ("O–O", Some((short, 5))),
            ("0—0!", Some((short, 5))),
            ("O−O", Some((short, 5))),
            ("0‑0", Some((short, 5))),
            ("O-0", Some((short, 3))),
            ("0-o", Some((short, 3))),
            ("oo", Some((short, 2))),
            ("OO", Some((short, 2))),
            ("00", Some((short, 2))),
            ("0 - 0", Some((short, 5))),
            ("O -O", Some((short, 4))),
            ("0 -\n0", Some((short, 5))),
            ("0-0-0", Some((long, 5))),
            ("0–0–0", Some((long, 9))),
            ("O-0-O#", Some((long, 5))),
            ("ooo", Some((long, 3))),
            ("000", Some((long, 3))),
            ("0 - 0 - 0", Some((long, 9))),
            ("0 – 0 – 0 e5", Some((long, 13))),
            ("0000", None),
            ("0", None),
            ("O", None),
            ("O-", None),
            ("0-OO", None),
            ("0-0-", None),
            ("0-0-0-0", None),
            ("0-01-0", None),
            ("0-0x", None),
            ("0 0", None),
            ("oops", None),
            ("0.0", None),
            ("0\n\n-0", None),
        ] {
            assert_eq!(castling(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(castling(b"0\x960"), Some((short, 3)));
        assert_eq!(castling(b"O\x97O\x97O"), Some((long, 5)));
    }

    #[test]
    fn numeric_moves_are_moves_between_squares() {
        for (digits, expected) in [
            ("5254", Some("e2e4")),
            ("7163", Some("g1f3")),
            ("57581", Some("e7e8q")),
            ("17284", Some("a7b8n")),
            ("57585", None),
            ("5259", None),
            ("5202", None),
            ("525", None),
            ("5252", None),
            ("525454", None),
        ] {
            let text = of_numeric(digits.as_bytes());
            assert_eq!(text.as_deref(), expected.map(str::as_bytes), "{digits}");
        }
    }

    #[test]
    fn signs_of_evaluation_have_dashes_and_others() {
        for (text, len) in [
            ("+--", 3),
            ("+-", 2),
            ("--+", 3),
            ("--++ e4", 4),
            ("-/+", 3),
            ("+−", 4),
            ("−+", 4),
            ("+/-", 3),
            ("=", 1),
            ("--", 0),
            ("-", 0),
            ("e4", 0),
        ] {
            assert_eq!(evaluation(text.as_bytes()), len, "{text}");
        }
    }

    #[test]
    fn letters_alone_stand_before_or_behind_moves() {
        for (text, expected) in [
            ("1. ", false),
            ("1... ", false),
            ("1… ", false),
            ("12 ", false),
            ("", false),
            ("\n", false),
            ("[White \"x\"]\n\n", false),
            ("1. e4 (", false),
            ("1. e4 ", true),
            ("1. Nf3!? ", true),
            ("1. e4 {x} ", true),
            ("1. {x} ", false),
            ("1. e4 $14 ", true),
            ("1. e4\n", true),
            ("O-O ", true),
            ("1. e4 e5 (1... c5) ", true),
        ] {
            assert_eq!(ends_with_move(text.as_bytes()), expected, "{text}");
        }
        for (word, expected) in
            [("f3", true), ("xf3", true), ("bd2+", true), ("1xd2", true), ("Nf3", false), ("e8=Q", false), ("", false)]
        {
            assert_eq!(lacks_piece(word.as_bytes()), expected, "{word}");
        }
    }
}
