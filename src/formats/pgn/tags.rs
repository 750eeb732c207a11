//! Tag pairs: found as lines, parsed only on demand.
//!
//! A Lichess game has seventeen tags, of which a run needs none, two or ten. So the section is scanned line by line,
//! and only the beginning of each tag is noted, under a bit derived from its name.

use super::lex;
use super::tag_syntax::{Tag, is_pair, tag, usual_value};
use crate::games::Verdict;
use crate::text::eight_bytes;
use memchr::{memchr, memchr_iter};

/// The notes taken while the section was scanned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marked {
    /// A bit for each name, by its hash.
    names: u64,
    /// For each bit, the offset in the section of the first line whose name has it.
    lines: [u32; 64],
    /// The offsets of further lines with other names that have the same bits.
    others: [u32; OTHERS],
    /// The number of the lines.
    len: usize,
    /// Whether the notes do not suffice and tags have to be searched for: a name occurs twice or is not followed by a
    /// blank, a line holds several tags, or there are too many other lines.
    irregular: bool,
    /// A hash of all names noted, of each of which it knows 16 bytes.
    signature: u64,
    /// Whether some name is longer than that.
    has_long_name: bool,
    /// Whether some name is that of a known tag in another case.
    has_variant: bool,
    /// Number of tags with text after their value, in the brackets or after them, that is ignored.
    pub(super) ignored: u32,
    /// Whether there are comments among the tags or behind them.
    pub(super) has_comments: bool,
}

impl Default for Marked {
    fn default() -> Self {
        Self {
            names: 0,
            lines: [0; 64],
            others: [0; OTHERS],
            len: 0,
            irregular: false,
            signature: 0,
            has_long_name: false,
            has_variant: false,
            ignored: 0,
            has_comments: false,
        }
    }
}

/// Maximum number of lines whose names have the bits of earlier ones.
const OTHERS: usize = 16;

/// With this factor, the names that Lichess writes have different bits, and nearly all other names, too.
const HASH: u64 = 0xFD3B_23C9_FA07_C7DD;
const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = EACH << 7;

/// The highest bit of each byte that is zero; bits above the lowest of them may be wrong.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(EACH) & !word & HIGH
}

#[inline(always)]
const fn has_blank(word: u64) -> bool {
    zeros(word ^ (EACH * b' ' as u64)) != 0
}

/// The hash of a name that ends with a blank, by its first eight bytes, and whether these may contain anything else that
/// ends a name.
#[inline(always)]
const fn name_hash(word: u64) -> (u64, bool) {
    let blank = zeros(word ^ (EACH * b' ' as u64));
    // All bytes up to the first blank, whose highest bit is zero anyway.
    let of_name = (blank & blank.wrapping_neg()).wrapping_sub(1);
    let name = word & of_name;
    // Other bytes that end a name: those below a blank, quotes and brackets.
    let below = name.wrapping_sub(EACH * b' ' as u64) & !name & HIGH & of_name;
    let odd = below | zeros(name ^ (EACH * b'"' as u64)) | zeros(name ^ (EACH * b']' as u64));
    (name.wrapping_mul(HASH), odd != 0)
}

/// The number of the bit of a name with this hash.
#[inline(always)]
const fn bit_of(hash: u64) -> usize {
    (hash >> 58) as usize
}

/// The name of a tag that is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    name: &'a [u8],
    bit: usize,
    /// Whether it has only bytes that names of tags have.
    is_possible: bool,
}

impl<'a> Name<'a> {
    pub(super) const fn new(name: &'a str) -> Self {
        let name = name.as_bytes();
        let mut ended = [b' '; 8];
        let mut is_possible = true;
        let mut at = 0;
        while at < name.len() {
            if at < ended.len() {
                ended[at] = name[at];
            }
            is_possible &= !lex::ends_tag_name(name[at]);
            at += 1;
        }
        Self { name, bit: bit_of(name_hash(u64::from_le_bytes(ended)).0), is_possible }
    }

    /// The text after the name of a tag, if it is this one.
    #[inline]
    fn strip(self, line: &[u8]) -> Option<&[u8]> {
        let rest = line.strip_prefix(b"[").unwrap_or(line).strip_prefix(self.name)?;
        let ends = rest.first().is_none_or(|&byte| lex::ends_tag_name(byte));
        (ends && self.is_possible).then_some(rest)
    }
}

impl Marked {
    /// Notes the tag that begins the last line of a section, at this offset.
    #[inline(always)]
    pub(super) fn look(&mut self, section: &[u8], offset: usize) {
        let word = eight_bytes(section, offset + 1);
        let (hash, odd) = name_hash(word);
        let bit = bit_of(hash);
        self.signature = self.signature.rotate_left(7) ^ hash;
        if !has_blank(word) {
            let word = eight_bytes(section, offset + 9);
            self.signature ^= name_hash(word).0.rotate_left(32);
            self.has_long_name |= !has_blank(word);
        }
        self.irregular |= odd || word as u8 == b' ';
        if self.names >> bit & 1 != 0 {
            return self.look_again(section, offset, bit);
        }
        self.names |= 1 << bit;
        self.lines[bit] = offset as u32;
    }

    /// Notes a tag whose name has the bit of an earlier one.
    #[cold]
    fn look_again(&mut self, section: &[u8], offset: usize, bit: usize) {
        let name = |offset: usize| lex::tag_name(&section[offset..]);
        let is_doubled = self.with_bit(bit).any(|earlier| name(earlier) == name(offset));
        match self.others.get_mut(self.len) {
            Some(place) if !is_doubled => {
                *place = offset as u32;
                self.len += 1;
            }
            _ => self.irregular = true,
        }
    }

    /// The offsets of the lines whose name may have a bit that some name has.
    #[inline(always)]
    fn with_bit(&self, bit: usize) -> impl Iterator<Item = usize> + '_ {
        let others = self.others[..self.len].iter();
        std::iter::once(&self.lines[bit]).chain(others).map(|&offset| offset as usize)
    }

    /// Notes the tag at this offset as the one that has an expected name.
    #[inline(always)]
    pub(super) fn note_expected(&mut self, name: UsualName, offset: usize) {
        self.lines[usize::from(name.bit & 63)] = offset as u32;
    }

    /// Notes that the tags noted by [`Self::note_expected`] are the first `count` of those that are expected.
    #[inline]
    pub(super) fn expected_names(&mut self, usual: &UsualNames, count: usize, section: &[u8]) {
        if count == usual.names.len() {
            (self.names, self.signature) = (usual.bits, usual.signature);
        } else {
            for name in &usual.names[..count] {
                self.look(section, self.lines[usize::from(name.bit & 63)] as usize);
            }
        }
    }

    /// Notes that a line holds several tags.
    pub(super) fn crowd(&mut self) {
        self.irregular = true;
    }
}

/// The names of the tags that are read, and of those that mean something to readers of games.
const KNOWN: [&str; 19] = [
    "Event",
    "Site",
    "Date",
    "UTCDate",
    "UTCTime",
    "Round",
    "White",
    "Black",
    "Result",
    "WhiteElo",
    "BlackElo",
    "ECO",
    "Opening",
    "TimeControl",
    "Termination",
    "Variant",
    "FEN",
    "SetUp",
    "PlyCount",
];

/// What is known of the names of the tags of earlier games. Nearly all games have the same names as one of them.
#[derive(Debug, Default)]
pub(super) struct UsualNames {
    /// Signatures of names of which none is a variant of a known one.
    signatures: [u64; 8],
    /// The signature of the last game.
    last: u64,
    /// The names of a game, in its order, if the game before it had the same.
    names: Vec<UsualName>,
    /// Their bits.
    bits: u64,
    /// Their signature.
    signature: u64,
}

/// A name that the next game probably has at the same place.
#[derive(Clone, Copy, Debug)]
pub(super) struct UsualName {
    /// The name and a blank.
    text: u128,
    /// The bytes that these have.
    mask: u128,
    bit: u8,
}

/// Maximum number of names of a game that are expected.
const EXPECTED: usize = 40;

impl UsualName {
    /// `None` if the name is not followed by a blank, or is too long.
    fn of(line: &[u8]) -> Option<Self> {
        let name = lex::tag_name(line);
        let text = line.get(1..name.len() + 2).filter(|text| text.ends_with(b" "))?;
        let mut bytes = [0; 16];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        let (hash, _) = name_hash(eight_bytes(text, 0));
        let mask = u128::MAX >> (128 - 8 * text.len());
        Some(Self { text: u128::from_le_bytes(bytes), mask, bit: bit_of(hash) as u8 })
    }

    /// Whether a tag with this name begins here. If few bytes are left, it may not be recognized.
    #[inline(always)]
    pub(super) fn begins(self, bytes: &[u8], at: usize) -> bool {
        let Some(&[bracket, ref text @ ..]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<17>) else {
            return false;
        };
        bracket == b'[' && (u128::from_le_bytes(*text) ^ self.text) & self.mask == 0
    }
}

impl UsualNames {
    /// The names that the next game probably has, in this order. The first one alone may be `Event`.
    pub(super) fn expected(&self) -> &[UsualName] {
        &self.names
    }

    /// Expects the names of this section from now on, if the section before had the same, and each of them begins a line.
    #[cold]
    fn expect(&mut self, section: &[u8], marked: &Marked) {
        // Also if these names cannot be expected, so that they are not looked at again.
        (self.bits, self.signature) = (marked.names, marked.signature);
        self.names.clear();
        if marked.len > 0 || marked.has_variant {
            return;
        }
        for line in section.split(|&byte| byte == b'\n') {
            let is_other = self.names.is_empty() || !line.starts_with(b"[Event ");
            match UsualName::of(line) {
                Some(name) if is_other && line.starts_with(b"[") && self.names.len() < EXPECTED => {
                    self.names.push(name)
                }
                _ => return self.names.clear(),
            }
        }
    }
}

/// A name without what differs between its variants: case, and signs in it. Digits that look like letters are letters, and
/// a number at the end is left out.
fn simplified(name: &[u8]) -> Vec<u8> {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_all = digits == name.len();
    let shortened = if is_all { name } else { &name[..name.len() - digits] };
    let looks_like = |name: &[u8]| -> Vec<u8> {
        let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
        letters
            .map(|byte| match byte {
                b'0' => b'o',
                b'1' => b'l',
                byte => byte.to_ascii_lowercase(),
            })
            .collect()
    };
    // `EC0` ends with a letter, `ECO1` with a number.
    let whole = looks_like(name);
    if KNOWN.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(&whole)) { whole } else { looks_like(shortened) }
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

    /// Finds out whether some name is that of a known tag in another case, and which names to expect in the next game.
    #[inline]
    pub(super) fn look_for_variants(&mut self, usual: &mut UsualNames) {
        let signature = self.marked.signature;
        let is_whole = !self.marked.irregular && !self.marked.has_long_name;
        let known = usual.signatures[(signature >> 61) as usize] == signature;
        if !known || !is_whole {
            let has_variant = self.variants().next().is_some();
            self.marked.has_variant = has_variant;
            if !has_variant && is_whole {
                usual.signatures[(signature >> 61) as usize] = signature;
            }
        }
        if is_whole && signature != usual.signature && signature == usual.last {
            usual.expect(self.section, &self.marked);
        }
        usual.last = signature;
    }

    /// The names that differ from that of a known tag only in their case, or in signs or digits.
    fn variants(&self) -> impl Iterator<Item = &'a [u8]> {
        self.pairs().map(|(name, _)| name).filter(|name| {
            !KNOWN.iter().any(|known| known.as_bytes() == *name) && {
                let simple = simplified(name);
                KNOWN.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(&simple))
            }
        })
    }

    /// The names that are nearly those of known tags, and whose values are not read: those that differ in more than their
    /// case, or stand beside the known name.
    pub(super) fn unread_variants(&self) -> Vec<&'a [u8]> {
        if !self.marked.has_variant {
            return Vec::new();
        }
        let mut is_present = [false; KNOWN.len()];
        for (name, _) in self.pairs() {
            for (known, is_present) in KNOWN.iter().zip(&mut is_present) {
                *is_present |= known.as_bytes() == name;
            }
        }
        let is_read = |name: &[u8]| {
            let known = KNOWN.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(name));
            known.is_some_and(|known| !is_present[known])
        };
        self.variants().filter(|name| !is_read(name)).collect()
    }

    /// Number of tags with text after their value that is ignored.
    pub(super) fn ignored(&self) -> u64 {
        self.marked.ignored.into()
    }

    /// Whether there are comments among the tags or behind them.
    pub(super) fn has_comments(&self) -> bool {
        self.marked.has_comments
    }

    /// Whether a set-up position is announced but missing.
    pub(super) fn lacks_fen(&self) -> bool {
        self.fen().is_none() && self.value(const { Name::new("SetUp") }) == Some(b"1")
    }

    /// Whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.section.is_empty()
    }

    /// Names and values in order, the values raw, with their escapes.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        self.all().map(|(_, tag)| (tag.name, tag.value))
    }

    /// The lines of the section, if each holds one tag in the form that nearly all programs write.
    pub(super) fn lines(&self) -> Option<impl Iterator<Item = &'a [u8]>> {
        let section = self.section;
        let mut start = 0;
        let ends = memchr_iter(b'\n', section).chain([section.len()]);
        let lines = ends.map(move |end| {
            let line = &section[start..end];
            start = end + 1;
            line
        });
        (!self.marked.irregular).then_some(lines)
    }

    /// [`Self::pairs`] with the offset of each tag in the section.
    fn all(&self) -> impl Iterator<Item = (usize, Tag<'a>)> {
        let section = self.section;
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                let begins_line = at == 0 || matches!(section[at - 1], b'\n' | b'\r');
                match section.get(at)? {
                    b'[' => {
                        let open = at;
                        let tag = tag(&section[open..]);
                        at += tag.len.max(1);
                        return Some((open, tag));
                    }
                    // Comment and escape lines between tags are skipped.
                    b';' => at = lex::text_line_end(section, at),
                    b'%' if begins_line => at = lex::text_line_end(section, at),
                    b'{' => at += memchr(b'}', &section[at..])? + 1,
                    _ => at += 1,
                }
            }
        })
    }

    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.section.len()
    }

    /// Whether some line is a tag with a value, rather than other text in brackets.
    pub(super) fn has_any(&self) -> bool {
        let mut lines = self.section.split(|&byte| byte == b'\n');
        lines.any(|line| is_pair(line.trim_ascii_start()))
            || self.marked.irregular
                && self.all().any(|(_, tag)| {
                    (tag.is_quoted || tag.name == b"FEN") && !tag.name.is_empty() && !tag.value.is_empty()
                })
    }

    /// The raw value of a tag, `None` if there is none. If a tag occurs several times, the last one counts. Without such
    /// a tag, the name of a known tag may be in another case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.value(Name::new(name))
    }

    /// As [`Self::get`], but never of a tag whose name is in another case.
    pub(super) fn get_exactly(&self, name: &str) -> Option<&'a [u8]> {
        Some(self.find_exactly(Name::new(name))?.1)
    }

    /// As [`Self::get`].
    #[inline]
    pub(super) fn value(&self, name: Name<'_>) -> Option<&'a [u8]> {
        Some(self.find(name)?.1)
    }

    /// Whether the notes show that a tag has this value, in the form that nearly all programs write. This is faster than
    /// [`Self::value`].
    #[inline]
    pub(super) fn has_usual(&self, name: Name<'_>, value: &str) -> bool {
        if self.marked.irregular || self.marked.names >> name.bit & 1 == 0 {
            return false;
        }
        let line = &self.section[self.marked.lines[name.bit] as usize..];
        let rest = line.strip_prefix(b"[").and_then(|rest| rest.strip_prefix(name.name));
        let rest = rest.and_then(|rest| rest.strip_prefix(b" \"")?.strip_prefix(value.as_bytes()));
        rest.is_some_and(|rest| rest.starts_with(b"\"]"))
    }

    /// The offset of a tag in the section, and its raw value.
    fn find(&self, name: Name<'_>) -> Option<(usize, &'a [u8])> {
        let found = self.find_exactly(name);
        if found.is_none() && self.marked.has_variant { self.find_variant(name) } else { found }
    }

    /// The last tag that has the name in another case.
    #[cold]
    fn find_variant(&self, name: Name<'_>) -> Option<(usize, &'a [u8])> {
        let found = self.all().filter(|(_, tag)| tag.name.eq_ignore_ascii_case(name.name)).last();
        found.map(|(offset, tag)| (offset, tag.value))
    }

    fn find_exactly(&self, name: Name<'_>) -> Option<(usize, &'a [u8])> {
        if self.marked.irregular {
            let found = self.all().filter(|(_, tag)| tag.name == name.name).last();
            return found.map(|(offset, tag)| (offset, tag.value));
        }
        if self.marked.names >> name.bit & 1 == 0 {
            return None;
        }
        let found = |offset: usize| {
            let line = &self.section[offset..];
            let value = usual_value(name.strip(line)?);
            Some((offset, value.unwrap_or_else(|| tag(&line[..lex::line_end(line, 0)]).value)))
        };
        found(self.marked.lines[name.bit] as usize).or_else(|| {
            let others = self.marked.others[..self.marked.len].iter();
            others.map(|&offset| offset as usize).find_map(found)
        })
    }

    /// Whether some tag occurs several times.
    pub fn has_doubled(&self) -> bool {
        self.marked.irregular && {
            let mut names: Vec<&[u8]> = self.pairs().map(|(name, _)| name).collect();
            names.sort_unstable();
            names.windows(2).any(|pair| pair[0] == pair[1])
        }
    }

    /// The value of a tag that is a rating; `None` also if there is none, such as `?` or `0`, or if it is not understood.
    pub fn rating(&self, name: &str) -> Option<u16> {
        rating(self.get(name)?).ok().flatten()
    }

    /// What the `Result` tag says; `None` if there is none, or if it is not in any form of a result.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        Verdict::of(self.value(const { Name::new("Result") })?)
    }

    /// The `FEN` tag.
    pub fn fen(&self) -> Option<&'a [u8]> {
        self.value(const { Name::new("FEN") })
    }

    /// The `Variant` tag.
    pub fn variant(&self) -> Option<&'a [u8]> {
        self.value(const { Name::new("Variant") })
    }

    /// Offset of the `FEN` or the `Variant` tag in the section, whichever comes later.
    pub(super) fn start_offset(&self) -> usize {
        let found = ["FEN", "Variant"].map(|name| self.find(Name::new(name)).map(|(offset, _)| offset));
        found.into_iter().flatten().max().unwrap_or(0)
    }

    /// Whether the last tag has no end.
    pub(super) fn is_cut_off(&self) -> bool {
        let start = self.section.iter().rposition(|&byte| byte == b'[');
        start.is_some_and(|start| !self.section[start..].contains(&b']'))
    }
}

/// The rating that the value of a tag has; `None` if it says that there is no rating: `-`, `?`, `unr.`, `0`.
///
/// A rating is a number of at most four digits. Blanks, commas and points may divide thousands, and text may follow, but
/// no other number: `1500?`, `2400 (FIDE)`, `2,400`.
///
/// # Errors
/// If the value is not understood.
pub(super) fn rating(value: &[u8]) -> Result<Option<u16>, ()> {
    if let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', d @ b'0'..=b'9'] = *value {
        let digit = |byte: u8| u16::from(byte - b'0');
        return Ok(Some(((digit(a) * 10 + digit(b)) * 10 + digit(c)) * 10 + digit(d)));
    }
    rare_rating(value.trim_ascii())
}

#[cold]
fn rare_rating(value: &[u8]) -> Result<Option<u16>, ()> {
    const NONE: [&[u8]; 8] = [b"unr", b"unr.", b"unrated", b"none", b"n/a", b"na", b"null", b"*"];
    if value.iter().all(|byte| b"?-. ".contains(byte)) || NONE.iter().any(|none| value.eq_ignore_ascii_case(none)) {
        return Ok(None);
    }
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (first, mut rest) = value.split_at(digits(value));
    let mut number = first.to_vec();
    if let [b',' | b'.' | b' ' | b'\'', thousands @ ..] = rest
        && (1..=2).contains(&first.len())
        && digits(thousands) == 3
    {
        number.extend_from_slice(&thousands[..3]);
        rest = &thousands[3..];
    } else if let [b'.' | b',', zeros @ ..] = rest
        && zeros.first() == Some(&b'0')
    {
        // Decimals that say nothing.
        rest = &zeros[zeros.iter().take_while(|&&byte| byte == b'0').count()..];
    }
    // Another number, or the rest of this one.
    let next = rest.trim_ascii_start();
    let next = next.strip_prefix(b"-").or_else(|| next.strip_prefix(b"/")).unwrap_or(next);
    let next = next.strip_prefix(b".").or_else(|| next.strip_prefix(b",")).unwrap_or(next);
    if number.is_empty() || next.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) {
        return Err(());
    }
    let zeros = number.iter().take_while(|&&byte| byte == b'0').count();
    let number = &number[zeros..];
    if number.len() > 4 {
        return Err(());
    }
    let number = number.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
    Ok(Some(number).filter(|&number| number != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(section: &str) -> Tags<'_> {
        let mut marked = Marked::default();
        let mut offset = 0;
        for line in section.split_inclusive('\n') {
            if line.matches('[').count() > 1 {
                marked.crowd();
            }
            marked.look(&section.as_bytes()[..offset + line.trim_end().len()], offset);
            offset += line.len();
        }
        Tags::new(section.as_bytes(), marked)
    }

    #[test]
    fn ratings_have_several_forms() {
        for (value, expected) in [
            ("2400", Ok(Some(2400))),
            ("800", Ok(Some(800))),
            ("0800", Ok(Some(800))),
            ("1500?", Ok(Some(1500))),
            ("1500P", Ok(Some(1500))),
            ("2400 (FIDE)", Ok(Some(2400))),
            ("2400*", Ok(Some(2400))),
            ("2,400", Ok(Some(2400))),
            ("2 300", Ok(Some(2300))),
            ("2.400", Ok(Some(2400))),
            ("2'400", Ok(Some(2400))),
            (" 2400 ", Ok(Some(2400))),
            ("2400.0", Ok(Some(2400))),
            ("2400.00", Ok(Some(2400))),
            ("0", Ok(None)),
            ("0000", Ok(None)),
            ("", Ok(None)),
            ("-", Ok(None)),
            ("----", Ok(None)),
            ("?", Ok(None)),
            ("unr.", Ok(None)),
            ("Unrated", Ok(None)),
            ("12000", Err(())),
            ("65536", Err(())),
            ("12,000", Err(())),
            ("2300.5", Err(())),
            ("2,40", Err(())),
            ("2,4000", Err(())),
            ("FIDE 2400", Err(())),
            ("2400/2300", Err(())),
            ("2400-2300", Err(())),
            ("2400 2300", Err(())),
            ("24 00", Err(())),
            ("-5", Err(())),
            ("abc", Err(())),
        ] {
            assert_eq!(rating(value.as_bytes()), expected, "{value}");
        }
        for number in 0..=9999u16 {
            assert_eq!(rating(number.to_string().as_bytes()), Ok(Some(number).filter(|&number| number != 0)));
        }
    }

    #[test]
    fn the_last_of_doubled_tags_counts() {
        for section in [
            "[A \"1\"]\n[FEN \"x\"]\n[A \"2\"]\n[FEN \"y\"]\n",
            "[A \"1\"][FEN \"x\"]\n[FEN \"z\"] [A \"2\"] [FEN \"y\"]\n",
        ] {
            let tags = tags(section);
            assert_eq!(tags.get("A"), Some(&b"2"[..]), "{section}");
            assert_eq!(tags.fen(), Some(&b"y"[..]), "{section}");
            assert!(tags.has_doubled());
        }
        let single = tags("[White \"a\"]\n[WhiteElo \"1\"]\n[WhiteRatingDiff \"2\"]\n[WhiteRatingX \"3\"]\n");
        assert!(!single.has_doubled());
        assert_eq!(single.get("WhiteRatingX"), Some(&b"3"[..]));
    }

    /// For the names that Lichess writes, the notes suffice.
    #[test]
    fn usual_names_have_bits_of_their_own() {
        let names = "Event Site Date Round White Black Result GameId UTCDate UTCTime WhiteElo BlackElo \
            WhiteRatingDiff BlackRatingDiff WhiteTitle BlackTitle Variant TimeControl ECO Opening \
            Termination FEN SetUp";
        let section: String = names.split_whitespace().map(|name| format!("[{name} \"1\"]\n")).collect();
        let tags = tags(&section);
        assert!(!tags.marked.irregular);
        for name in names.split_whitespace() {
            assert_eq!(tags.get(name), Some(&b"1"[..]), "{name}");
        }
    }

    /// Names that share bits are told apart.
    #[test]
    fn names_of_tournaments_are_noted() {
        let names = "Event Site Date Round White Black Result WhiteTitle BlackTitle WhiteElo BlackElo ECO Opening \
            Variation WhiteFideId BlackFideId EventDate WhiteTeam BlackTeam WhiteTeamCountry WhiteTeamColour \
            WhiteRating WhiteRatingDiff EventType EventRounds EventCountry SourceDate PlyCount Annotator";
        let section: String = names.split_whitespace().map(|name| format!("[{name} \"{name}\"]\n")).collect();
        let tags = tags(&section);
        assert!(!tags.marked.irregular && tags.marked.len > 5, "{}", tags.marked.len);
        for name in names.split_whitespace() {
            assert_eq!(tags.get(name), Some(name.as_bytes()));
        }
        assert_eq!(tags.get("WhiteTeamX"), None);
    }

    /// Finding tags by the notes gives the same values as a search through all tags.
    #[test]
    fn noted_places_are_those_of_the_tags() {
        let names = ["A", "FEN", "FE", "FENX", "Variant", "VariantX", "WhiteElo", "WhiteEloX", "Event", ""];
        let ends = [" ", "  ", "\t", "\"", "]", "\r"];
        let values = ["7", "", "a b", "a\"b", "a\\\"b", "a]b", "\\\\", "x\"", "x\"]y", "x\" ", "\r", "a\r]", "\\"];
        let closings = ["\"]\n", "\"]\r\n", "\" ]\n", "\"] \n", "\"]x\n", "]\n", "\"\n", "\"];c\n"];
        let mut random = crate::chess::random::Random::new(7);
        let mut below = |bound: usize| random.below(bound as u32) as usize;
        for round in 0..20_000 {
            let mut section = String::new();
            for _ in 0..below(5) {
                let name = names[below(names.len())];
                let end = ends[below(if round % 2 == 0 { 1 } else { ends.len() })];
                let (value, closing) = match round % 3 {
                    0 => (values[0], closings[below(2)]),
                    _ => (values[below(values.len())], closings[below(closings.len())]),
                };
                section += &format!("[{name}{end}\"{value}{closing}");
            }
            let tags = tags(&section);
            for name in names {
                let pairs = tags.pairs().filter(|(other, _)| *other == name.as_bytes());
                let expected = pairs.map(|(_, value)| value).last();
                assert_eq!(tags.get(name), expected, "{name} in {section}");
            }
        }
    }

    #[test]
    fn tags_without_value_end_at_their_bracket() {
        let tags = tags("[A] [B \"1\"]\n[C]\n");
        let pairs: Vec<_> = tags.pairs().collect();
        assert_eq!(pairs, [(&b"A"[..], &b""[..]), (b"B", b"1"), (b"C", b"")]);
    }

    /// Many tags in one line, with and without values: the time grows in proportion to the text.
    #[test]
    fn long_lines_of_tags_are_linear() {
        for tag in ["[A]", "[A \"1\"]", "[A \"1\" ", "[A \"\"\"   ", "[[", "[A \"]", "[%[", "[A \"1\"]   ;"] {
            let section = tag.repeat((1 << 21) / tag.len()) + "\n";
            let mut marked = Marked::default();
            marked.crowd();
            marked.look(section.as_bytes(), 0);
            let tags = Tags::new(section.as_bytes(), marked);
            let begin = std::time::Instant::now();
            let count = tags.pairs().count();
            let _ = (tags.get("B"), tags.has_doubled(), tags.is_cut_off(), tags.fen());
            // Quadratic time would take hours.
            assert!(begin.elapsed().as_secs() < 20, "{tag}: {count} tags");
        }
    }
}
