//! Classifies words of movetext by their letters alone: where they end, and which are results, null moves, remarks or
//! signs.
//!
//! Nothing here knows the game or the position. Any other word may be a move; only the board can tell.

use crate::games::Outcome;

/// Maximum number of letters of a token that a message quotes.
const SHOWN: usize = 60;

/// The result token that a text begins with, and its length.
pub(super) fn result(rest: &[u8], strict: bool) -> Option<(Option<Outcome>, usize)> {
    let (token, outcome): (&[u8], _) = match rest.first()? {
        b'*' => return Some((None, 1)),
        b'0' if rest.starts_with(b"0-") => (b"0-1", Outcome::Black),
        b'1' if rest.starts_with(b"1-") => (b"1-0", Outcome::White),
        b'1' if rest.starts_with(b"1/2-1/2") => (b"1/2-1/2", Outcome::Draw),
        _ if strict => return None,
        _ => {
            let mut spellings = Outcome::SPELLINGS.into_iter();
            match spellings.find(|(token, _)| rest.starts_with(token)) {
                Some(known) => known,
                None => (b"1/2", Outcome::Draw),
            }
        }
    };
    let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'.'));
    (rest.starts_with(token) && rest.get(token.len()).is_none_or(ends)).then_some((Some(outcome), token.len()))
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
