//! Text from files, made safe for terminals and for formats with one record per line.
//!
//! A tag or a comment may hold any character. A line feed in it would split one record into two lines,
//! an escape sequence would reach the terminal of the reader, and a change of the writing direction
//! would show what stands after it in another order. To prevent this, control characters, the line separators of
//! Unicode and its controls of directions are replaced: by blanks, and in JSON by their escapes. Joiners stay: some
//! scripts need them.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is a control character, ends a line, or changes the order in which text is shown. U+206A to
/// U+206F are deprecated controls of the same kind.
pub fn is_control(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{206F}'
        )
}

/// Length of the control character at the start of UTF-8 text, 0 if there is none.
#[inline]
fn control_len(text: &[u8]) -> usize {
    match text {
        [0..0x20 | 0x7F, ..] => 1,
        [0xC2, 0x80..=0x9F, ..] => 2,
        [0xD8, 0x9C, ..] => 2,
        [0xE2, 0x80, 0x8E | 0x8F | 0xA8..=0xAE, ..] | [0xE2, 0x81, 0xA6..=0xAF, ..] => 3,
        _ => 0,
    }
}

/// Appends text, which need not be UTF-8, with a blank in place of each control character.
///
/// ```
/// let mut out = Vec::new();
/// lanefish_core::text::one_line::push(b"two\r\nlines", &mut out);
/// assert_eq!(out, b"two  lines");
/// ```
pub fn push(text: &[u8], out: &mut Vec<u8>) {
    // The first bytes of control characters; nearly all text has none of them.
    let suspicious = |&byte: &u8| byte < 0x20 || matches!(byte, 0x7F | 0xC2 | 0xD8 | 0xE2);
    let mut rest = text;
    while let Some(at) = rest.iter().position(suspicious) {
        out.extend_from_slice(&rest[..at]);
        match control_len(&rest[at..]) {
            0 => {
                out.push(rest[at]);
                rest = &rest[at + 1..];
            }
            len => {
                out.push(b' ');
                rest = &rest[at + len..];
            }
        }
    }
    out.extend_from_slice(rest);
}

/// The text with a blank in place of each control character.
///
/// ```
/// assert_eq!(lanefish_core::text::one_line::of("a\u{1b}[31mb"), "a [31mb");
/// ```
pub fn of(text: &str) -> Cow<'_, str> {
    if text.contains(is_control) { Cow::Owned(text.replace(is_control, " ")) } else { Cow::Borrowed(text) }
}

/// JSON text with each control character replaced by its escape: JSON requires that only below U+0020.
///
/// ```
/// assert_eq!(lanefish_core::text::one_line::of_json("\"a\u{2028}b\""), "\"a\\u2028b\"");
/// ```
pub fn of_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_control) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 8);
    for char in json.chars() {
        if is_control(char) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{:04x}", u32::from(char));
        } else {
            escaped.push(char);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_characters_agree() {
        for char in (0..0x3000).filter_map(char::from_u32) {
            let text = format!("é{char}a{char}\u{20ac}");
            let mut out = Vec::new();
            push(text.as_bytes(), &mut out);
            assert_eq!(out, of(&text).as_bytes(), "{char:?}");
            assert_eq!(of(&text) != text, is_control(char), "{char:?}");
        }
        let mut out = Vec::new();
        push(b"\xC2\xE2\x80\xFF\xD8\xE2\x81\xC2", &mut out);
        assert_eq!(out, b"\xC2\xE2\x80\xFF\xD8\xE2\x81\xC2");
    }
}
