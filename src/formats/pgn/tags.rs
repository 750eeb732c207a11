//! Tag pairs: found as lines, read only when asked for.
//!
//! Of the seventeen tags of a Lichess game a run wants two or none, so the section is passed line by line
//! and only the places of `FEN` and `Variant`, which the replay needs, are marked on the way.

use super::lex;
use memchr::memmem;
use std::borrow::Cow;

/// What was noticed while the section was passed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marked {
    /// Offset of the tag in the section, plus one; 0 where there is none.
    fen: u32,
    variant: u32,
    /// Whether some line holds several tags.
    crowded: bool,
}

impl Marked {
    /// Notices what the line at this offset of the section begins with.
    #[inline(always)]
    pub(super) fn look(&mut self, line: &[u8], offset: usize) {
        match line.get(1) {
            Some(b'F') if name(line) == b"FEN" => self.fen = offset as u32 + 1,
            Some(b'V') if name(line) == b"Variant" => self.variant = offset as u32 + 1,
            _ => {}
        }
    }

    /// Notices that a line holds several tags.
    pub(super) fn crowd(&mut self) {
        self.crowded = true;
    }
}

/// The tag section of a game.
#[derive(Clone, Copy, Debug)]
pub struct Tags<'a> {
    section: &'a [u8],
    marked: Marked,
}

impl<'a> Tags<'a> {
    pub(super) fn new(section: &'a [u8], marked: Marked) -> Self {
        Self { section, marked }
    }

    /// Whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.section.is_empty()
    }

    /// Names and values in their order, the values as they stand, with their escapes.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut rest = self.section;
        std::iter::from_fn(move || {
            loop {
                let open = rest.iter().position(|&byte| byte == b'[')?;
                // Comment and escape lines between tags are none.
                let line_start = rest[..open].iter().rposition(|&byte| byte == b'\n');
                let before = &rest[line_start.map_or(0, |feed| feed + 1)..open];
                rest = &rest[open..];
                if before.first().is_some_and(|byte| b"%;".contains(byte)) {
                    rest = &rest[lex::line_end(rest, 0)..];
                    continue;
                }
                let line = &rest[..lex::line_end(rest, 0)];
                let (value, len) = value(line);
                let pair = (name(line), value);
                rest = &rest[len..];
                return Some(pair);
            }
        })
    }

    /// The value of a tag as it stands, `None` where there is none.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.pairs()
            .find(|(other, _)| *other == name.as_bytes())
            .map(|(_, value)| value)
    }

    /// The value of a tag as text: escapes resolved, ISO-8859-1 turned into UTF-8 where it is not that.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| text(value).into_owned())
    }

    /// The value of a tag that is a number; `None` also where it is `?` or no number.
    pub fn number(&self, name: &str) -> Option<u16> {
        let value = self.get(name)?;
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
        let (mut number, mut any) = (0u16, false);
        for digit in digits {
            number = number
                .checked_mul(10)?
                .checked_add(u16::from(digit - b'0'))?;
            any = true;
        }
        any.then_some(number)
    }

    fn marked(&self, mark: u32, name: &str) -> Option<&'a [u8]> {
        match mark {
            0 if self.marked.crowded => self.get(name),
            0 => None,
            mark => {
                let line = &self.section[mark as usize - 1..];
                Some(value(&line[..lex::line_end(line, 0)]).0)
            }
        }
    }

    /// The `FEN` tag.
    pub fn fen(&self) -> Option<&'a [u8]> {
        self.marked(self.marked.fen, "FEN")
    }

    /// The `Variant` tag.
    pub fn variant(&self) -> Option<&'a [u8]> {
        self.marked(self.marked.variant, "Variant")
    }

    /// Offset of the `FEN` or else the `Variant` tag in the section.
    pub(super) fn start_offset(&self) -> usize {
        self.marked.fen.max(self.marked.variant).saturating_sub(1) as usize
    }

    /// Whether the last tag has no end.
    pub(super) fn is_cut_off(&self) -> bool {
        let start = self.section.iter().rposition(|&byte| byte == b'[');
        start.is_some_and(|start| !self.section[start..].contains(&b']'))
    }
}

/// The name of the tag that a line begins with.
pub(super) fn name(line: &[u8]) -> &[u8] {
    let name = line.strip_prefix(b"[").unwrap_or(line);
    let end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'"' | b']' | b'\r');
    &name[..name.iter().position(end).unwrap_or(name.len())]
}

/// The value of the tag that a line begins with, and how many bytes of the line the tag takes.
///
/// The value ends at the first quote that a bracket follows; quotes within need not be escaped.
fn value(line: &[u8]) -> (&[u8], usize) {
    let Some(open) = line.iter().position(|&byte| byte == b'"') else {
        let end = line.iter().position(|&byte| byte == b']');
        return (&[], end.map_or(line.len(), |end| end + 1));
    };
    let mut at = open + 1;
    while let Some(quote) = line[at..].iter().position(|&byte| byte == b'"') {
        let quote = at + quote;
        let after = &line[quote + 1..];
        let blanks = after.iter().take_while(|&&byte| byte == b' ').count();
        if after.get(blanks) == Some(&b']') {
            let end = after[blanks + 1..].trim_ascii_start();
            if end.is_empty() || end[0] == b'[' {
                return (&line[open + 1..quote], quote + 2 + blanks);
            }
        }
        at = quote + 1;
    }
    let value = line[open + 1..].trim_ascii_end();
    let value = value.strip_suffix(b"]").unwrap_or(value);
    let value = value.strip_suffix(b"\"").unwrap_or(value);
    (value, line.len())
}

/// Where in a line of tags the moves begin, if they do. A single odd byte after the last tag is taken for a
/// damaged line end.
#[inline(always)]
pub(super) fn moves_after(line: &[u8]) -> Option<usize> {
    match line {
        [.., b']'] | [.., b']', b'\r'] => None,
        _ => moves_after_bracket(line),
    }
}

#[cold]
fn moves_after_bracket(line: &[u8]) -> Option<usize> {
    let mut ends = memmem::find_iter(line, b"\"]").map(|quote| quote + 2);
    let end = ends.find(|&end| !line[end..].trim_ascii_start().starts_with(b"["))?;
    let rest = line[end..].trim_ascii();
    (rest.len() > 1 && rest[0] != b';').then_some(end)
}

/// A value as text: escapes resolved, bytes that are not UTF-8 read as ISO-8859-1.
pub(super) fn text(value: &[u8]) -> Cow<'_, str> {
    // Copied first: only what nobody else can change stays what it was validated as.
    let text: Cow<'_, str> = match String::from_utf8(value.to_vec()) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Owned(value.iter().map(|&byte| byte as char).collect()),
    };
    if !text.contains('\\') {
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
            _ => resolved.push(letter),
        }
    }
    Cow::Owned(resolved)
}

/// What the rules of a game are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Standard chess, also from given positions.
    Standard,
    /// Chess960 and double Chess960.
    Chess960,
}

impl Variant {
    /// The variant of a `Variant` tag in any of its spellings; `None` for others than these two.
    ///
    /// ```
    /// use lanefish::formats::pgn::Variant;
    /// assert_eq!(Variant::from_tag(b"fischerandom"), Some(Variant::Chess960));
    /// assert_eq!(Variant::from_tag(b"From Position"), Some(Variant::Standard));
    /// assert_eq!(Variant::from_tag(b"Crazyhouse"), None);
    /// ```
    pub fn from_tag(value: &[u8]) -> Option<Self> {
        let name: String = value
            .iter()
            .filter(|byte| byte.is_ascii_alphanumeric())
            .map(|byte| byte.to_ascii_lowercase() as char)
            .collect();
        match name.as_str() {
            "" | "standard" | "normal" | "chess" | "classical" | "classic" | "orthodox"
            | "regular" | "fromposition" | "standardchess" => Some(Self::Standard),
            "chess960"
            | "960"
            | "frc"
            | "dfrc"
            | "fischerandom"
            | "fischerrandom"
            | "fischerandomchess"
            | "fischerrandomchess"
            | "doublefischerandom"
            | "doublefischerrandom"
            | "doublechess960"
            | "freestyle"
            | "freestylechess"
            | "wildfr"
            | "wild960"
            | "shuffle960" => Some(Self::Chess960),
            _ => None,
        }
    }
}
