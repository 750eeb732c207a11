//! Hexadecimal numbers, such as `key = 0x823c9b50fd114196`.
//!
//! The parser makes the same of `0x1F` and of `X'1F'`, a string of bytes, and takes `0X1F` for a zero with the name
//! `X1F`. Only the text of the query tells them apart.

use crate::sql::SqlError;
use crate::sql::engine::syntax_tree_walk::change_expressions;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{Expr, Value};
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use std::borrow::Cow;

/// The bytes at which the lines of a text begin.
pub(in crate::sql) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(in crate::sql) fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        Self { text, starts: starts.collect() }
    }

    /// The byte at a location, which counts lines and letters from 1.
    pub(in crate::sql) fn byte(&self, at: Location) -> Option<usize> {
        let start = *self.starts.get(usize::try_from(at.line).ok()?.checked_sub(1)?)?;
        let letters = usize::try_from(at.column).ok()?.checked_sub(1)?;
        let mut after = self.text[start..].char_indices().map(|(place, _)| start + place).chain([self.text.len()]);
        after.nth(letters)
    }
}

/// The query, of these tokens, with `0x` in the place of `0X`: its tokens have the same places.
///
/// # Errors
/// If what follows is not a number of 64 bits.
pub(in crate::sql) fn lower<'a>(query: &'a str, tokens: &[TokenWithSpan]) -> Result<Cow<'a, str>, SqlError> {
    let mut lowered = Cow::Borrowed(query);
    let lines = Lines::of(query);
    let mut tokens = tokens.iter().peekable();
    while let Some(TokenWithSpan { token, span }) = tokens.next() {
        let Some(start) = lines.byte(span.start) else {
            continue;
        };
        let next = tokens.peek().filter(|next| next.span.start == span.end).map(|next| &next.token);
        let digits = match (token, next) {
            (Token::HexStringLiteral(digits), next) if is_number(query, start) => match next {
                Some(Token::Word(rest)) => Cow::Owned(format!("{digits}{}", rest.value)),
                _ => Cow::Borrowed(digits.as_str()),
            },
            (Token::Number(zero, _), Some(Token::Word(word)))
                if zero == "0" && word.quote_style.is_none() && word.value.starts_with('X') =>
            {
                lowered.to_mut().replace_range(start + 1..start + 2, "x");
                Cow::Borrowed(&word.value[1..])
            }
            _ => continue,
        };
        if number(&digits).is_none() {
            return Err(SqlError::Query {
                place: Some((span.start.line, span.start.column)),
                message: "0x is followed by 1 to 16 hexadecimal digits; bytes are X'0a1b'".to_owned(),
            });
        }
    }
    Ok(lowered)
}

/// Whether the text at this byte is that of a number, not of bytes.
fn is_number(text: &str, start: usize) -> bool {
    text[start..].starts_with("0x")
}

/// The number with these digits, if it has up to 64 bits.
fn number(digits: &str) -> Option<u64> {
    let is_right = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let significant = digits.trim_start_matches('0');
    let number = u64::from_str_radix(if significant.is_empty() { "0" } else { significant }, 16);
    number.ok().filter(|_| is_right)
}

/// Makes numbers of the hexadecimal literals of an expression that are numbers in its text. They keep their form until
/// [`plain_number`], so that columns can be named by it.
pub(in crate::sql) fn mark_number(expression: &mut Expr, lines: &Lines<'_>) {
    if let Expr::Value(value) = expression
        && let Value::HexStringLiteral(digits) = &value.value
        && lines.byte(value.span.start).is_some_and(|start| is_number(lines.text, start))
    {
        value.value = Value::Number(format!("0x{digits}"), false);
    }
}

/// Writes a hexadecimal number as the decimal number that the engine knows.
pub(in crate::sql) fn plain_number(expression: &mut Expr) {
    if let Expr::Value(value) = expression
        && let Value::Number(digits, _) = &value.value
        && let Some(number) = digits.strip_prefix("0x").and_then(number)
    {
        value.value = Value::Number(number.to_string(), false);
    }
}

/// Changes every expression of a statement, operands before the expressions that contain them.
pub(in crate::sql) fn change_all(statement: &mut Parsed, change: &mut dyn FnMut(&mut Expr)) {
    match statement {
        Parsed::Statement(statement) => change_expressions(&mut **statement, change),
        Parsed::Explain(explain) => change_all(&mut explain.statement, change),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_64_bits() {
        assert_eq!(number("823c9b50fd114196"), Some(0x823c_9b50_fd11_4196));
        assert_eq!(number("0000000000000000001F"), Some(31));
        for wrong in ["", "g", "1_0", "+1", "10000000000000000"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn places_count_letters() {
        let lines = Lines::of("é 0x1\n0x2");
        let number_at = |line, column| {
            let start = lines.byte(Location { line, column });
            start.is_some_and(|start| is_number(lines.text, start))
        };
        assert!(number_at(1, 3) && number_at(2, 1) && !number_at(1, 4) && !number_at(3, 1));
    }
}
