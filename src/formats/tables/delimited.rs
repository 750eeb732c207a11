//! Splits lines into values that are separated by a character: CSV and TSV with the quotes of RFC 4180.
//!
//! Text is split into lines first, so that any line can be read without those before it. Values therefore end with
//! their line, even if they are quoted. Nothing is allocated for a line: values are ranges in it, or, if it has quotes,
//! in a copy without them.

use crate::formats::codec::decode_records::BadRecord;
use memchr::{memchr, memchr_iter};
use std::ops::Range;

/// Splits lines, one after the other.
#[derive(Debug, Default)]
pub(in crate::formats) struct Splitter {
    values: Vec<Range<usize>>,
    /// The values of a line with quotes, one after the other.
    copy: Vec<u8>,
}

/// The values of a line.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Separated<'a> {
    text: &'a [u8],
    values: &'a [Range<usize>],
}

impl<'a> Separated<'a> {
    pub(in crate::formats) fn len(self) -> usize {
        self.values.len()
    }
    pub(in crate::formats) fn get(self, number: usize) -> Option<&'a [u8]> {
        Some(&self.text[self.values.get(number)?.clone()])
    }
    pub(in crate::formats) fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        self.values.iter().map(move |value| &self.text[value.clone()])
    }
}

impl Splitter {
    /// Splits a line into its values. Quotes within a value that does not begin with one are part of it.
    ///
    /// # Errors
    /// If a quote is not closed, or if text follows a closing quote.
    pub(in crate::formats) fn split<'a>(
        &'a mut self,
        line: &'a [u8],
        separator: u8,
    ) -> Result<Separated<'a>, BadRecord> {
        self.values.clear();
        if memchr(b'"', line).is_some() {
            self.split_quoted(line, separator)?;
            return Ok(Separated { text: &self.copy, values: &self.values });
        }
        let mut start = 0;
        for end in memchr_iter(separator, line) {
            self.values.push(start..end);
            start = end + 1;
        }
        self.values.push(start..line.len());
        Ok(Separated { text: line, values: &self.values })
    }

    fn split_quoted(&mut self, line: &[u8], separator: u8) -> Result<(), BadRecord> {
        self.copy.clear();
        let mut rest = line;
        loop {
            let start = self.copy.len();
            match rest.strip_prefix(b"\"") {
                None => {
                    let end = memchr(separator, rest).unwrap_or(rest.len());
                    self.copy.extend_from_slice(&rest[..end]);
                    rest = &rest[end..];
                }
                Some(mut quoted) => loop {
                    let end = memchr(b'"', quoted).ok_or_else(open_quote)?;
                    self.copy.extend_from_slice(&quoted[..end]);
                    rest = &quoted[end + 1..];
                    match rest.strip_prefix(b"\"") {
                        Some(after) => {
                            self.copy.push(b'"');
                            quoted = after;
                        }
                        None => break,
                    }
                },
            }
            self.values.push(start..self.copy.len());
            match rest {
                [] => return Ok(()),
                [first, after @ ..] if *first == separator => rest = after,
                _ => {
                    let message = match separator {
                        b'\t' => "expected a tab after the quotation mark that ends a value",
                        _ => "expected a comma after the quotation mark that ends a value",
                    };
                    return Err(BadRecord::new("malformed_csv", message));
                }
            }
        }
    }
}

fn open_quote() -> BadRecord {
    BadRecord::new("open_quote", "a quoted value does not end in its line; values cannot contain line ends")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str, separator: u8) -> Result<Vec<String>, &'static str> {
        let mut splitter = Splitter::default();
        // Earlier content makes no difference.
        let _ = splitter.split(b"\"a\",b,\"c", b',');
        let values = splitter.split(line.as_bytes(), separator).map_err(|bad| bad.reason)?;
        assert_eq!(values.iter().count(), values.len());
        assert!(values.get(values.len()).is_none());
        Ok((0..values.len()).map(|at| String::from_utf8(values.get(at).unwrap().to_vec()).unwrap()).collect())
    }

    #[test]
    fn values_of_lines() {
        for (line, separator, expected) in [
            ("", b',', Ok(&[""][..])),
            ("a,b,", b',', Ok(&["a", "b", ""])),
            ("a\tb,c\t", b'\t', Ok(&["a", "b,c", ""])),
            ("\"a,b\",\"\"", b',', Ok(&["a,b", ""])),
            ("\"a\"\"b\",c", b',', Ok(&["a\"b", "c"])),
            ("\"\"\"\"", b',', Ok(&["\""])),
            ("a\"b\",c", b',', Ok(&["a\"b\"", "c"])),
            ("\"a\tb\"\tc", b'\t', Ok(&["a\tb", "c"])),
            ("\"a", b',', Err("open_quote")),
            ("x,\"a\"\"", b',', Err("open_quote")),
            ("\"a\"b,c", b',', Err("malformed_csv")),
        ] {
            let expected = expected.map(|values| values.iter().map(|&value| value.to_owned()).collect());
            assert_eq!(split(line, separator), expected, "{line}");
        }
    }

    proptest::proptest! {
        /// Any values can be read back after being written with quotes, or without quotes where none are needed.
        #[test]
        fn what_is_quoted_is_read_back(
            values in proptest::collection::vec("[a,\"\t é]{0,6}", 1..6),
            all in proptest::bool::ANY,
        ) {
            let quoted = |value: &String| {
                if all || value.contains([',', '"']) {
                    format!("\"{}\"", value.replace('"', "\"\""))
                } else {
                    value.clone()
                }
            };
            let line: Vec<String> = values.iter().map(quoted).collect();
            proptest::prop_assert_eq!(split(&line.join(","), b','), Ok(values));
        }
    }
}
