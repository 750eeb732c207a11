//! One tag as it is written: its name and value, whatever is odd about them.

use super::lex;
use crate::formats::codec::line_records::windows_1252;
use memchr::{memchr, memchr2, memrchr};
use std::borrow::Cow;

/// Whether a line begins with a name and a value in brackets.
pub(super) fn is_pair(line: &[u8]) -> bool {
    let Some(text) = line.strip_prefix(b"[") else {
        return false;
    };
    let text = text.trim_ascii_start();
    let name =
        text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte >= 0x80 || b"_-+#=:/.".contains(byte));
    let len = name.count();
    len > 0 && text[len..].trim_ascii_start().first() == Some(&b'"')
}

/// The value of a tag as nearly all programs write it, from the text after the name: in quotes on the same line, without
/// quotes in it, and with nothing but the bracket after it.
pub(super) fn usual_value(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b" \"")?;
    let (value, rest) = text.split_at(memchr(b'"', text)?);
    let is_usual = matches!(rest, [b'"', b']'] | [b'"', b']', b'\n' | b'\r', ..]);
    (is_usual && memchr2(b'\n', b'\r', value).is_none()).then_some(value)
}

/// A tag as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a [u8],
    pub(super) value: &'a [u8],
    /// The length of the tag in bytes.
    pub(super) len: usize,
    /// Whether there is text between its value and its bracket.
    pub(super) has_more: bool,
    /// Whether its value begins with a straight quote.
    pub(super) is_quoted: bool,
}

/// Maximum number of quotes that are examined to find the end of a value, so that many tags in a line take linear time.
const QUOTES: usize = 16;

/// Number of blanks that a text begins with.
fn blanks(text: &[u8]) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
    text.iter().take_while(is_blank).count()
}

/// The end of a run of blanks, which may contain one end of a line.
fn after_blanks(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    let at = at + blanks(&text[at..]);
    match text.get(at) {
        Some(b'\n') => at + 1 + blanks(&text[at + 1..]),
        _ => at,
    }
}

/// The tag that a text begins with: a bracket, a name, a string, a bracket, with any blanks between them, including
/// ends of lines.
///
/// The string ends at the first quote followed by a bracket after which there is nothing but comments and other tags,
/// or else at the first quote followed by a bracket. So quotes within the string need not be escaped. If there is no
/// such quote, the text between the last quote and the bracket is not part of the value. A value without straight
/// quotes ends at the bracket.
pub(super) fn tag(text: &[u8]) -> Tag<'_> {
    let name_at = after_blanks(text, 1);
    let name = match text.get(name_at) {
        // This is not a tag.
        Some(b'[') => &[],
        _ => lex::tag_name(&text[name_at..]),
    };
    let after_name = name_at + name.len();
    let open = if name.is_empty() { 1 } else { after_blanks(text, after_name) };
    if text.get(open) != Some(&b'"') {
        let end = if name.is_empty() { 1 } else { lex::find2(text, after_name, b']', b'\n') };
        let is_closed = text.get(end) == Some(&b']');
        let value =
            if is_closed && is_plain_name(name) { without_quotes(text[after_name..end].trim_ascii()) } else { &[] };
        return Tag { name, value, len: end + usize::from(is_closed), has_more: false, is_quoted: false };
    }
    let start = open + 1;
    let made =
        |value: usize, len: usize, has_more| Tag { name, value: &text[start..value], len, has_more, is_quoted: true };
    // Only part of the line is examined, because it may hold many tags.
    let mut first = None;
    let mut at = start;
    for _ in 0..QUOTES {
        let quote = lex::find2(text, at, b'"', b'\n');
        if text.get(quote) != Some(&b'"') {
            break;
        }
        at = quote + 1;
        let bracket = at + blanks(&text[at..]);
        if text.get(bracket) != Some(&b']') {
            continue;
        }
        let rest = &text[bracket + 1..];
        let (blanks, behind) = rest.split_at(blanks(rest));
        // Lines may end in carriage returns.
        if blanks.contains(&b'\r') || matches!(behind.first(), None | Some(b'\n' | b'[' | b'{' | b';')) {
            return made(quote, bracket + 1, false);
        }
        first = first.or(Some((quote, bracket)));
    }
    if let Some((quote, bracket)) = first {
        return made(quote, bracket + 1, false);
    }
    if let Some(quote) = end_in_later_line(text, start) {
        let bracket = quote + 1 + blanks(&text[quote + 1..]);
        return made(quote, bracket + 1, false);
    }
    let end = lex::find2(text, start, b']', b'\n');
    if text.get(end) == Some(&b']') {
        let quote = memrchr(b'"', &text[start..end]);
        let value = quote.map_or(end, |quote| start + quote);
        return made(value, end + 1, quote.is_some());
    }
    // The bracket is in the next line, or missing.
    let last = start + text[start..end].trim_ascii_end().len();
    let value = last - usize::from(text[start..last].ends_with(b"\""));
    let bracket = after_blanks(text, end);
    match text.get(bracket) {
        Some(b']') if value < last => made(value, bracket + 1, false),
        _ => made(value, end, false),
    }
}

/// Maximum number of lines over which a value is broken.
const LINES: usize = 8;

/// The quote that ends a value in a later line than the one in which it begins: programs that wrap long lines break values,
/// too. The lines before have no end of a tag, and none of the later ones begins with a bracket or is empty.
fn end_in_later_line(text: &[u8], start: usize) -> Option<usize> {
    let line_end = |at: usize| lex::find2(text, at, b'\n', b'\n');
    let mut end = line_end(start);
    if text[start..end].trim_ascii_end().ends_with(b"]") {
        return None;
    }
    for _ in 1..LINES {
        let begin = end + 1;
        end = line_end(begin.min(text.len()));
        let line = text.get(begin..end)?.trim_ascii();
        if line.is_empty() || line.starts_with(b"[") {
            return None;
        }
        if let Some(value) = line.strip_suffix(b"]") {
            let last = value.trim_ascii_end();
            let at = begin + (text[begin..end].len() - text[begin..end].trim_ascii_start().len());
            return last.ends_with(b"\"").then(|| at + last.len() - 1);
        }
    }
    None
}

/// Whether a word looks like the name of a tag, rather than part of a remark in brackets.
fn is_plain_name(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// A value that is written without straight quotes: between other quotes, with half of a pair, or without any.
fn without_quotes(value: &[u8]) -> &[u8] {
    const QUOTES: [&[u8]; 12] = [
        "“".as_bytes(),
        "”".as_bytes(),
        "„".as_bytes(),
        "‟".as_bytes(),
        "‘".as_bytes(),
        "’".as_bytes(),
        "‚".as_bytes(),
        "«".as_bytes(),
        "»".as_bytes(),
        b"'",
        b"`",
        "´".as_bytes(),
    ];
    // Windows-1252: no text in UTF-8 begins with these bytes.
    if let [0x82 | 0x84 | 0x91..=0x94 | 0xAB | 0xBB, rest @ ..] = value {
        return match rest {
            [inner @ .., 0x82 | 0x84 | 0x91..=0x94 | 0xAB | 0xBB] => inner,
            open => open,
        };
    }
    match QUOTES.iter().find_map(|quote| value.strip_prefix(*quote)) {
        Some(open) => QUOTES.iter().find_map(|quote| open.strip_suffix(*quote)).unwrap_or(open),
        None => value.strip_suffix(b"\"").unwrap_or(value),
    }
}

/// Whether a line of tags ends with a string and a bracket.
#[inline(always)]
pub(super) fn ends_regularly(line: &[u8]) -> bool {
    matches!(line, [.., b'"', b']'] | [.., b'"', b']', b'\r'])
}

/// A value as text: escapes resolved, ends of lines read as blanks, bytes that are not UTF-8 as Windows-1252.
pub(super) fn text(value: &[u8]) -> String {
    text_in(value, &mut Vec::new()).into_owned()
}

/// As [`text`], in a buffer if the text is read as it is.
pub(super) fn text_in<'a>(value: &[u8], buffer: &'a mut Vec<u8>) -> Cow<'a, str> {
    // Copied before validation: bytes of a mapped file could change in between.
    buffer.clear();
    buffer.extend_from_slice(value);
    let text = match std::str::from_utf8(buffer) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(buffer.iter().map(|&byte| windows_1252(byte)).collect()),
    };
    // Without a branch: values are short, and nearly none has such bytes.
    let is_special = |&byte: &u8| byte == b'\\' || byte < b' ';
    if !text.as_bytes().iter().fold(false, |any, byte| any | is_special(byte)) {
        return text;
    }
    let mut resolved = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(&escaped @ ('"' | '\\'))) => {
                resolved.push(escaped);
                letters.next();
            }
            ('\n' | '\r', _) => {
                resolved.truncate(resolved.trim_end().len());
                resolved.push(' ');
                while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
            }
            _ => resolved.push(letter),
        }
    }
    Cow::Owned(resolved)
}
