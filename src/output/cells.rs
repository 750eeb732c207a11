//! Values of columns as text, appended to rows.

use crate::one_line;
use crate::table::{Array, Kind};
use std::io::Write as _;

/// How sets of squares and keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Masks {
    /// `0x` and 16 hexadecimal digits; in JSON a string.
    #[default]
    Hex,
    /// Decimal digits; in JSON a number.
    Decimal,
}

/// A column of rows: its values and how they are written.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    pub(super) name: &'a str,
    array: Array,
    is_hex: bool,
}

impl<'a> Cells<'a> {
    pub(super) fn new(name: &'a str, kind: Kind, array: Array, masks: Masks) -> Self {
        Self {
            name,
            array,
            is_hex: kind == Kind::Bits && masks == Masks::Hex,
        }
    }

    /// Appends a number, if the column has numbers and the row has one; false if the column holds text.
    #[inline]
    fn write_number(&self, row: usize, out: &mut Vec<u8>) -> bool {
        let number = match &self.array {
            Array::Flag(values) => values.get(row).map(|&value| value.into()),
            Array::U8(values) => values.get(row).map(|&value| value.into()),
            Array::U16(values) => values.get(row).map(|&value| value.into()),
            Array::U32(values) => values.get(row).map(|&value| value.into()),
            Array::U64(values) => values.get(row).copied(),
            Array::I16(values) => {
                let number = values.get(row);
                if number.is_some_and(|&number| number < 0) {
                    out.push(b'-');
                }
                number.map(|number| number.unsigned_abs().into())
            }
            Array::Text(_) | Array::Strings(_) => return false,
        };
        match number {
            Some(bits) if self.is_hex => write_hex(bits, out),
            Some(number) => write_number(number, out),
            None => {}
        }
        true
    }

    /// Appends a value as a CSV field, quoted if needed and on one line; nothing if it is
    /// missing.
    pub(super) fn write_csv(&self, row: usize, out: &mut Vec<u8>) {
        if self.write_number(row, out) {
            return;
        }
        match &self.array {
            Array::Text(texts) => {
                if let Some(text) = texts.get(row) {
                    write_csv_text(text, out);
                }
            }
            // They need no quotes: see the type.
            Array::Strings(strings) => out.extend_from_slice(strings.bytes(row)),
            _ => {}
        }
    }

    /// Appends a value as JSON: a number, a string, or `null`.
    pub(super) fn write_json(&self, row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        if self.is_hex {
            out.push(b'"');
        }
        if self.write_number(row, out) {
            if out.len() == start + usize::from(self.is_hex) {
                out.truncate(start);
                out.extend_from_slice(b"null");
            } else if self.is_hex {
                out.push(b'"');
            }
            return;
        }
        match &self.array {
            Array::Text(texts) if let Some(text) = texts.get(row) => write_json_string(text, out),
            // They need no escapes: see the type.
            Array::Strings(strings) if strings.is_present(row) => {
                out.push(b'"');
                out.extend_from_slice(strings.bytes(row));
                out.push(b'"');
            }
            _ => out.extend_from_slice(b"null"),
        }
    }
}

/// Appends a text as a CSV field, quoted if needed and on one line.
pub(crate) fn write_csv_text(text: &str, out: &mut Vec<u8>) {
    if !text.bytes().any(|byte| matches!(byte, b',' | b'"')) {
        one_line::push(text.as_bytes(), out);
        return;
    }
    out.push(b'"');
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\"\"");
        }
        one_line::push(part.as_bytes(), out);
    }
    out.push(b'"');
}

/// Appends a number in decimal.
fn write_number(mut number: u64, out: &mut Vec<u8>) {
    if number < 10 {
        out.push(b'0' + number as u8);
        return;
    }
    let mut digits = [0; 20];
    let mut first = digits.len();
    while number > 0 {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[first..]);
}

/// Appends `0x` and 16 hexadecimal digits.
fn write_hex(bits: u64, out: &mut Vec<u8>) {
    let mut text = *b"0x0000000000000000";
    for (place, digit) in text[2..].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(bits >> (60 - 4 * place) & 0xF) as usize];
    }
    out.extend_from_slice(&text);
}

/// Appends a text as a JSON string.
pub(crate) fn write_json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend_from_slice(&[b'\\', char as u8]),
            ' '..='~' => out.push(char as u8),
            _ if one_line::is_control(char) => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Texts, Values};

    fn written(kind: Kind, array: Array, json: bool) -> String {
        let cells = Cells::new("x", kind, array, Masks::Hex);
        let mut out = Vec::new();
        match json {
            true => cells.write_json(0, &mut out),
            false => cells.write_csv(0, &mut out),
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_quoted_only_if_needed() {
        let written = |text: &str, json| {
            let mut texts = Texts::default();
            texts.push(Some(text.into()));
            written(Kind::Text, Array::Text(texts), json)
        };
        assert_eq!(written("B12", false), "B12");
        assert_eq!(
            written("Caro-Kann, \"Fantasy\"", false),
            "\"Caro-Kann, \"\"Fantasy\"\"\""
        );
        assert_eq!(written("a,b", false), "\"a,b\"");
        assert_eq!(written("a\"b", false), "\"a\"\"b\"");
        assert_eq!(written("\"", false), "\"\"\"\"");
        // A line feed becomes a blank, and a blank needs no quotes.
        assert_eq!(written("a\nb\u{85}", false), "a b ");
        assert_eq!(written("\u{7f}\u{2028}", true), "\"\\u007f\\u2028\"");
        assert_eq!(written("a\"b\\c\u{1}é", true), "\"a\\\"b\\\\c\\u0001é\"");
    }

    #[test]
    fn numbers() {
        for number in [0, 9, 10, 99, 100, u64::MAX] {
            let values = || Array::U64([number].into_iter().collect());
            assert_eq!(written(Kind::U64, values(), false), number.to_string());
            assert_eq!(
                written(Kind::Bits, values(), true),
                format!("\"{number:#018x}\"")
            );
        }
        let of = |value: Option<i16>| {
            let mut values = Values::default();
            values.push(value);
            Array::I16(values)
        };
        assert_eq!(written(Kind::I16, of(Some(-32768)), false), "-32768");
        assert_eq!(written(Kind::I16, of(None), false), "");
        assert_eq!(written(Kind::I16, of(None), true), "null");
        let mut missing = Values::default();
        missing.push(None);
        assert_eq!(written(Kind::Bits, Array::U64(missing), true), "null");
    }
}
