//! Where a text of SQL stops: in the middle of a text, a name or a comment, or behind a statement.
//!
//! The prompt asks for more lines until a statement ends, and completes names and files at the cursor. Both know only the
//! text so far, which the parser would refuse.

/// What a text stops in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// Nothing of the others.
    Code,
    /// A text or the name of a file, such as `'games.pgn`; the place behind its quote.
    Text(usize),
    /// A name in double quotes; the place behind its quote.
    Name(usize),
    /// A comment to the end of the line.
    LineComment,
    /// A comment between `/*` and `*/`.
    BlockComment,
}

/// How a text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextEnd {
    pub(super) within: Within,
    /// Whether there is anything besides blanks and comments.
    has_code: bool,
    /// Whether the last statement has its semicolon.
    has_semicolon: bool,
}

impl TextEnd {
    pub(super) fn of(text: &str) -> Self {
        let mut end = Self { within: Within::Code, has_code: false, has_semicolon: false };
        // Comments in comments.
        let mut depth = 0_usize;
        let mut bytes = text.bytes().enumerate().peekable();
        while let Some((at, byte)) = bytes.next() {
            let next = bytes.peek().map(|&(_, next)| next);
            match (end.within, byte) {
                (Within::Code, b'\'' | b'"') => {
                    end.within = if byte == b'"' { Within::Name(at + 1) } else { Within::Text(at + 1) };
                    (end.has_code, end.has_semicolon) = (true, false);
                }
                (Within::Code, b'-') if next == Some(b'-') => end.within = Within::LineComment,
                (Within::Code | Within::BlockComment, b'/') if next == Some(b'*') => {
                    bytes.next();
                    depth += 1;
                    end.within = Within::BlockComment;
                }
                (Within::BlockComment, b'*') if next == Some(b'/') => {
                    bytes.next();
                    depth -= 1;
                    if depth == 0 {
                        end.within = Within::Code;
                    }
                }
                (Within::LineComment, b'\n') => end.within = Within::Code,
                // Two quotes stand for one.
                (Within::Text(_), b'\'') | (Within::Name(_), b'"') if next == Some(byte) => {
                    bytes.next();
                }
                (Within::Text(_), b'\'') | (Within::Name(_), b'"') => end.within = Within::Code,
                (Within::Code, b';') => (end.has_code, end.has_semicolon) = (true, true),
                (Within::Code, byte) if !byte.is_ascii_whitespace() => {
                    (end.has_code, end.has_semicolon) = (true, false);
                }
                _ => {}
            }
        }
        end
    }

    /// Whether the text can be run: its last statement has ended, or it has none.
    pub(super) fn is_complete(self) -> bool {
        matches!(self.within, Within::Code | Within::LineComment) && (self.has_semicolon || !self.has_code)
    }

    /// Whether the text has a statement.
    pub(super) fn has_code(self) -> bool {
        self.has_code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_with_a_semicolon_outside_of_quotes_and_comments() {
        for complete in [
            "",
            " \n",
            "-- nothing",
            "/* nothing */",
            ";",
            "select 1;",
            "select 1; ",
            "select 1; -- one",
            "select 1; /* one; */",
            "select 1; select 2;",
            "select ';';",
            "select 'it''s';",
            "select \"a\"\"b;\" from t;",
            "select 1 -- one;\n;",
            "select 4/2 - -1;",
            "/* a /* b */ c */ select 1;",
            "select 'é…';",
        ] {
            assert!(TextEnd::of(complete).is_complete(), "{complete}");
        }
        for open in [
            "select 1",
            "select 1; select 2",
            "select ';",
            "select 'it'';",
            "select \"a;",
            "select 1 -- one;",
            "select 1 /* one;",
            "select 1; /* one",
            "/* a /* b */ select 1;",
            "select '--';\n'",
        ] {
            assert!(!TextEnd::of(open).is_complete(), "{open}");
        }
    }

    #[test]
    fn the_place_behind_a_quote_is_known() {
        for (text, within) in [
            ("select 1 from 'da", Within::Text(15)),
            ("select 'it''s", Within::Text(8)),
            ("select \"tag:", Within::Name(8)),
            ("select 1 -- it's", Within::LineComment),
            ("select 1 /* it's", Within::BlockComment),
            ("select 'a' \"b\"", Within::Code),
        ] {
            assert_eq!(TextEnd::of(text).within, within, "{text}");
        }
    }
}
