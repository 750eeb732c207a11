//! A walk over JSON in one pass. It stops only at the requested values, builds nothing and does not recurse.

use memchr::{memchr, memchr2};

/// A walk over JSON. Its functions return `None` on an error, which is at the beginning of the rest.
pub(in crate::formats) struct Json<'a> {
    pub(in crate::formats) rest: &'a [u8],
}

/// A value as it is written in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Value<'a> {
    Null,
    /// A string, with its escapes.
    Text(&'a [u8]),
    Number(&'a [u8]),
    /// `true`, `false`, an array or an object.
    Other(&'a [u8]),
}

impl<'a> Json<'a> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Takes a byte if it is the next one.
    pub(in crate::formats) fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        match self.rest.strip_prefix(&[byte]) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(in crate::formats) fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// A raw string, with its escapes.
    pub(in crate::formats) fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let mut at = 0;
        loop {
            at += memchr2(b'"', b'\\', self.rest.get(at..)?)?;
            if self.rest[at] == b'"' {
                let (string, rest) = self.rest.split_at(at);
                self.rest = &rest[1..];
                return Some(string);
            }
            at += 2;
        }
    }

    /// A whole number; decimals are truncated.
    pub(in crate::formats) fn number(&mut self) -> Option<i64> {
        let text = self.number_text()?;
        let whole = text.split(|&byte| byte == b'.').next()?;
        std::str::from_utf8(whole).ok()?.parse().ok()
    }

    fn number_text(&mut self) -> Option<&'a [u8]> {
        self.blanks();
        let len = self.rest.iter().take_while(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).count();
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        (len > 0).then_some(text)
    }

    pub(in crate::formats) fn object(&mut self, mut member: impl FnMut(&mut Self, &[u8]) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(self, key)?;
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    pub(in crate::formats) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Some(());
        }
        loop {
            element(self)?;
            if !self.take(b',') {
                return self.expect(b']');
            }
        }
    }

    /// The first byte that is not a blank.
    pub(in crate::formats) fn next(&mut self) -> Option<u8> {
        self.blanks();
        self.rest.first().copied()
    }

    /// Reads a value. Python writes `NaN` for numbers that are missing.
    pub(in crate::formats) fn value(&mut self) -> Option<Value<'a>> {
        match self.next()? {
            b'"' => Some(Value::Text(self.string()?)),
            b'n' => self.word(b"null").map(|_| Value::Null),
            b'N' => self.word(b"NaN").map(|_| Value::Null),
            b'0'..=b'9' | b'-' => Some(Value::Number(self.number_text()?)),
            _ => {
                let before = self.rest;
                self.skip()?;
                Some(Value::Other(&before[..before.len() - self.rest.len()]))
            }
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// Skips any value, without recursion: brackets are only counted.
    pub(in crate::formats) fn skip(&mut self) -> Option<()> {
        let mut depth = 0u32;
        loop {
            self.blanks();
            match self.rest.first()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.rest = &self.rest[1..];
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.rest = &self.rest[1..];
                }
                b',' | b':' if depth > 0 => {
                    self.rest = &self.rest[1..];
                    continue;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                b'N' => self.word(b"NaN")?,
                _ => {
                    self.number_text()?;
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

/// A string with its escapes decoded, into `copy` if it has any; `None` if one of them is not valid.
pub(in crate::formats) fn unescaped<'a>(raw: &'a [u8], copy: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    if memchr(b'\\', raw).is_none() {
        return Some(raw);
    }
    let start = copy.len();
    unescape(raw, copy)?;
    Some(&copy[start..])
}

/// Appends a string with its escapes decoded.
pub(in crate::formats) fn unescape(raw: &[u8], text: &mut Vec<u8>) -> Option<()> {
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest) {
        text.extend_from_slice(&rest[..at]);
        let escape = *rest.get(at + 1)?;
        rest = &rest[at + 2..];
        let plain = match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (char, after) = unicode(rest)?;
                text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
                continue;
            }
            _ => return None,
        };
        text.push(plain);
    }
    text.extend_from_slice(rest);
    Some(())
}

/// The character of an escape `\uXXXX`, and the rest of the text, which begins with the digits. Characters beyond 16
/// bits are pairs of escapes; half of a pair is replaced.
fn unicode(text: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = digits(text)?;
    if (0xD800..0xDC00).contains(&first)
        && let Some((second @ 0xDC00..0xE000, after)) = rest.strip_prefix(b"\\u").and_then(digits)
    {
        let char = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return Some((char::from_u32(char)?, after));
    }
    Some((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), rest))
}

/// The number in four hexadecimal digits, and the text after them.
fn digits(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_first_chunk::<4>()?;
    let digit = |number: u32, &byte: &u8| Some(number << 4 | char::from(byte).to_digit(16)?);
    Some((digits.iter().try_fold(0, digit)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(raw: &str) -> Option<String> {
        let mut copy = b"before".to_vec();
        let text = unescaped(raw.as_bytes(), &mut copy)?.to_vec();
        Some(String::from_utf8(text).unwrap())
    }

    #[test]
    fn escapes() {
        for (raw, text) in [
            ("a/é", Some("a/é")),
            (r#"\"\\\/\b\f\n\r\t"#, Some("\"\\/\u{8}\u{c}\n\r\t")),
            (r"a\u00e9\u20ACb", Some("aé€b")),
            (r"\ud83d\ude00", Some("😀")),
            (r"\ud83dx\ude00", Some("\u{fffd}x\u{fffd}")),
            (r"\ud83d\u0041", Some("\u{fffd}A")),
            (r"\ud83d\uzzzz", None),
            (r"\x", None),
            (r"\u12", None),
            (r"\u+123", None),
            (r"\", None),
        ] {
            assert_eq!(plain(raw).as_deref(), text, "{raw}");
        }
    }

    #[test]
    fn values() {
        let value = |text: &'static str| {
            let mut json = Json { rest: text.as_bytes() };
            let value = json.value()?;
            json.rest.is_empty().then_some(value)
        };
        assert_eq!(value(" null"), Some(Value::Null));
        assert_eq!(value("NaN"), Some(Value::Null));
        assert_eq!(value("-1.5e3"), Some(Value::Number(b"-1.5e3")));
        assert_eq!(value("\"a\\\"b\""), Some(Value::Text(b"a\\\"b")));
        for other in ["true", "false", "[]", "[1,{\"a\":[\"]\"]}]", "{\"a\":null}"] {
            assert_eq!(value(other), Some(Value::Other(other.as_bytes())));
        }
        for bad in ["", "nul", "tru", "]", "[1", "\"a", "x", "trues"] {
            assert_eq!(value(bad), None, "{bad}");
        }
    }

    proptest::proptest! {
        /// The plain twin is serde_json.
        #[test]
        fn strings_are_those_of_another_reader(text in "\\PC{0,20}", escaped in proptest::bool::ANY) {
            let mut raw = serde_json::to_string(&text).unwrap();
            if escaped {
                raw = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                raw = format!("\"{raw}\"");
            }
            let expected: String = serde_json::from_str(&raw).unwrap();
            let mut json = Json { rest: raw.as_bytes() };
            let found = json.string().map(|raw| plain(std::str::from_utf8(raw).unwrap()));
            proptest::prop_assert_eq!(found, Some(Some(expected)));
        }
    }
}
