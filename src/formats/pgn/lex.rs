//! The bytes of PGN: where comments and lines end, and where games begin.
//!
//! Comments and tags are skipped thirty-two bytes at a time; for movetext see [`super::movetext_scan`].
//!
//! ## Where a game begins
//!
//! A brace comment may hold anything, blank lines and tags included, and it may also have lost its closing
//! brace, in which case all games up to some later brace would be lost silently. The two cases are distinguished by the
//! text around them. Suppose that a line in a comment looks like the beginning of a game (see [`begins_game`]). The
//! line is part of the comment only if the comment began at most [`REACH`] bytes before, and if the next brace within
//! [`REACH`] bytes is a closing one. Otherwise a game begins there, and the comment was never closed. The rule looks a
//! fixed distance each way, so [`boundary`] can apply it in the middle of a file, and chunks cut there decode to
//! exactly what the whole file does: the decoder begins a game at every such place, whatever came before.

use crate::games::Outcome;
use crate::simd::bytes::equal;
use memchr::{memchr, memchr2, memrchr, memrchr_iter, memrchr2};

/// How far to search for the end of a comment across a line that looks like the beginning of a game, and how
/// far to look back before that line.
pub(super) const REACH: usize = 1 << 16;

/// Longer names of tags are not compared.
const LONGEST_NAME: usize = 255;

/// The place of the first of two bytes from `at` on, or the end.
#[inline(always)]
pub(super) fn find2(bytes: &[u8], mut at: usize, a: u8, b: u8) -> usize {
    while let Some(window) = bytes.get(at..).and_then(<[u8]>::first_chunk::<32>) {
        let marks = equal(window, a) | equal(window, b);
        if marks != 0 {
            return at + marks.trailing_zeros() as usize;
        }
        at += 32;
    }
    while at < bytes.len() && bytes[at] != a && bytes[at] != b {
        at += 1;
    }
    at
}

/// The end of the line that contains `at`: its line feed, or the end of the text.
#[inline(always)]
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    find2(bytes, at, b'\n', b'\n')
}

/// The end of the line of text that contains `at`: its carriage return or line feed, or the end of the text. Games with
/// carriage returns alone and games with line feeds may be in one file.
#[inline(always)]
pub(super) fn text_line_end(bytes: &[u8], at: usize) -> usize {
    find2(bytes, at, b'\n', b'\r')
}

/// The name of the tag that a line begins with.
pub(super) fn tag_name(line: &[u8]) -> &[u8] {
    let name = line.strip_prefix(b"[").unwrap_or(line);
    &name[..name.iter().position(|&byte| ends_tag_name(byte)).unwrap_or(name.len())]
}

/// Whether a byte ends the name of a tag.
pub(super) const fn ends_tag_name(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'"' | b']' | b'\r' | b'\n')
}

/// Where a comment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comment {
    /// Closed; the index of its brace.
    Closed(usize),
    /// Never closed; the index where a game begins, or the end.
    Open(usize),
}

/// Follows the comment whose opening brace is at `open`.
#[inline(always)]
pub(super) fn comment(bytes: &[u8], open: usize) -> Comment {
    let mut at = open + 1;
    let mut braces = Braces::new(bytes);
    loop {
        at = find2(bytes, at, b'}', b'\n');
        match bytes.get(at) {
            Some(b'}') => return Comment::Closed(at),
            Some(_) => {
                let start = at + 1;
                if begins_game(bytes, start) && !(start - open <= REACH && braces.closes_after(start)) {
                    return Comment::Open(start);
                }
                at += 1;
            }
            None => return Comment::Open(bytes.len()),
        }
    }
}

/// Whether a game begins in the line that begins at `start`, assuming that it is not in a comment:
///
/// - at `[Event "` after an empty line, or after a line that is neither tag nor escape nor `;` comment,
/// - at any tag after a result and an empty line,
/// - at a tag after an empty line and tags, if it has the name of the first of these,
/// - at `1.` and a move after a line that ends with a result.
#[inline(always)]
pub(super) fn begins_game(bytes: &[u8], start: usize) -> bool {
    matches!(bytes.get(start), Some(b'[' | b'1')) && begins_game_here(bytes, start)
}

fn begins_game_here(bytes: &[u8], start: usize) -> bool {
    let rest = &bytes[start..];
    let is_tag = rest[0] == b'[';
    if !is_tag && !is_first_move(rest) {
        return false;
    }
    let window = &bytes[start.saturating_sub(REACH)..start];
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let last = window.iter().rposition(|byte| !blank(byte));
    let (before, blanks) = window.split_at(last.map_or(0, |last| last + 1));
    let feeds = blanks.iter().filter(|&&byte| byte == b'\n').count();
    let line = last_line(before);
    let empty_line = feeds >= 2;
    if feeds == 0 {
        false
    } else if !is_tag {
        ends_with_result(line) && !is_of_tags(line) && memchr(b';', line).is_none()
    } else if rest.starts_with(b"[Event \"") {
        // A value that was broken over lines may end in the line before.
        empty_line || !is_of_tags(line) && !line.trim_ascii_end().ends_with(b"\"]")
    } else if is_of_tags(line) {
        empty_line && repeats_first_tag(before, rest)
    } else {
        empty_line && ends_with_result(line)
    }
}

/// Whether a text begins with `1.` and a move of White.
pub(super) fn is_first_move(text: &[u8]) -> bool {
    let Some(text) = text.strip_prefix(b"1.") else {
        return false;
    };
    let blanks = text.iter().take(8).take_while(|&&byte| byte == b' ').count();
    let word = &text[blanks..text.len().min(blanks + 6)];
    let len = word.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    word.first().is_some_and(u8::is_ascii_alphabetic) && word[1..len].iter().any(|byte| (b'1'..=b'8').contains(byte))
}

/// Whether a text, which ends with tags, has a first tag in its last paragraph of the same name as the one
/// that `rest` begins with.
fn repeats_first_tag(before: &[u8], rest: &[u8]) -> bool {
    let mut first = None;
    let mut end = before.len();
    loop {
        let line = last_line(&before[..end]);
        let tag = line.trim_ascii_start();
        if tag.first() != Some(&b'[') {
            break;
        }
        first = Some(tag);
        end -= line.len();
        if end == 0 {
            break;
        }
        end -= 1;
    }
    first.is_some_and(|first| {
        let name = tag_name(&first[..first.len().min(LONGEST_NAME)]);
        !name.is_empty() && name == tag_name(&rest[..rest.len().min(LONGEST_NAME)])
    })
}

/// The last line of a text.
fn last_line(text: &[u8]) -> &[u8] {
    &text[memrchr(b'\n', text).map_or(0, |feed| feed + 1)..]
}

/// Whether a line may be between the tags of one game.
fn is_of_tags(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'[' | b'%' | b';'))
}

/// Whether a text ends with the result of a game.
pub(super) fn ends_with_result(text: &[u8]) -> bool {
    let results = Outcome::SPELLINGS.iter().map(|&(spelling, _)| spelling);
    results
        .chain([&b"*"[..]])
        .filter_map(|result| text.strip_suffix(result))
        .any(|before| matches!(before.last(), None | Some(b' ' | b'\t' | b'\n' | b'\r')))
}

/// The last place after a line that ends with a result.
pub(super) fn last_result(bytes: &[u8]) -> Option<usize> {
    let mut braces = Braces::new(bytes);
    memrchr_iter(b'\n', bytes)
        .find(|&feed| {
            let line = last_line(&bytes[..feed]).trim_ascii_end();
            ends_with_result(line) && !is_of_tags(line) && braces.is_outside(feed + 1)
        })
        .map(|feed| feed + 1)
}

/// Finds the braces around places of a text. Places should be queried in one direction: results are remembered, so that
/// all queries together cost one pass.
#[derive(Debug)]
struct Braces<'a> {
    bytes: &'a [u8],
    /// A range of bytes without braces, and what is before and after it.
    free: std::ops::Range<usize>,
}

impl<'a> Braces<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, free: 0..0 }
    }

    /// Ensures that `free` holds the place and everything between it and the braces around it, as far as
    /// that is within reach.
    fn look_around(&mut self, at: usize) {
        if !(self.free.start..=self.free.end).contains(&at) || self.free.is_empty() {
            self.free = at..at;
        }
        let from = at.saturating_sub(REACH);
        if self.free.start > from && !self.is_brace(self.free.start.wrapping_sub(1)) {
            let window = &self.bytes[from..self.free.start];
            self.free.start = memrchr2(b'{', b'}', window).map_or(from, |brace| from + brace + 1);
        }
        let to = self.bytes.len().min(at + REACH);
        if self.free.end < to && !self.is_brace(self.free.end) {
            let window = &self.bytes[self.free.end..to];
            self.free.end += memchr2(b'{', b'}', window).unwrap_or(window.len());
        }
    }

    fn is_brace(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), Some(b'{' | b'}'))
    }

    /// Whether the next brace within reach is a closing one.
    fn closes_after(&mut self, at: usize) -> bool {
        self.look_around(at);
        self.free.end - at < REACH && self.bytes.get(self.free.end) == Some(&b'}')
    }

    /// Whether the last brace within reach is a closing one: then no comment is open. Nor is one open at the beginning
    /// of the text.
    fn closed_before(&mut self, at: usize) -> bool {
        self.look_around(at);
        let start = self.free.start;
        at - start < REACH && (start == 0 || self.bytes[start - 1] == b'}')
    }

    /// Whether a comment that is open there would remain unclosed.
    fn is_outside(&mut self, at: usize) -> bool {
        self.closed_before(at) || !self.closes_after(at)
    }
}

/// The last place at or before `limit` (but after the beginning) where the text can be cut: a game begins
/// there whatever came before. `at_end`: the text ends with these bytes; otherwise nothing is
/// decided that later bytes could change.
///
/// ```
/// let text = b"[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n";
/// assert_eq!(lanefish::formats::pgn::boundary(text, text.len(), true), Some(22));
/// assert_eq!(lanefish::formats::pgn::boundary(text, 20, true), None);
/// ```
pub fn boundary(bytes: &[u8], limit: usize, at_end: bool) -> Option<usize> {
    let mut end = limit.min(decided(bytes, at_end));
    let mut braces = Braces::new(bytes);
    // The search goes backwards from line feed to line feed.
    while let Some(feed) = memrchr(b'\n', &bytes[..end]) {
        let start = feed + 1;
        if begins_game(bytes, start) && braces.is_outside(start) {
            return Some(start);
        }
        end = feed;
    }
    None
}

/// The first [`boundary`] at or after `from`: where a file can be divided, and where reading continues after a game
/// that is too long and begins with `bytes`. Without `at_end`, the last [`REACH`] bytes are not considered, because
/// later bytes could change what they mean.
pub(crate) fn resume(bytes: &[u8], from: usize, at_end: bool) -> Option<usize> {
    let end = decided(bytes, at_end);
    let mut braces = Braces::new(bytes);
    let mut at = from.max(1) - 1;
    while let Some(feed) = bytes.get(at..end).and_then(|rest| memchr(b'\n', rest)) {
        let start = at + feed + 1;
        if start <= end && begins_game(bytes, start) && braces.is_outside(start) {
            return Some(start);
        }
        at = start;
    }
    None
}

/// Places up to here can be decided.
fn decided(bytes: &[u8], at_end: bool) -> usize {
    if at_end { bytes.len() } else { bytes.len().saturating_sub(REACH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_goes_on_at_the_first_boundary() {
        let text = b"[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n1. c4 *\n[Event \"c\"]\n\n*\n";
        let starts = [22, 43, 51];
        for from in 0..text.len() {
            let next = starts.iter().copied().find(|&start| start >= from);
            assert_eq!(resume(text, from, true), next, "{from}");
            // Later bytes could change everything here.
            assert_eq!(resume(text, from, false), None);
        }
        let long = [&text[..], &vec![b' '; REACH]].concat();
        assert_eq!(resume(&long, 23, false), Some(43));
        for start in starts {
            assert_eq!(boundary(text, start, true), Some(start));
            assert_eq!(boundary(&long, start, false), Some(start));
        }
    }

    #[test]
    fn braces_are_those_around_a_place_in_any_order() {
        let mut text = vec![b' '; 3 * REACH];
        for (at, brace) in [(10, b'{'), (20, b'}'), (REACH + 30, b'{'), (3 * REACH - 5, b'}')] {
            text[at] = brace;
        }
        let places = [0, 11, 15, 20, 21, 500, REACH + 20, REACH + 21, REACH + 31, 2 * REACH, 3 * REACH - 6];
        let plain = |at: usize| {
            let after = text[at..text.len().min(at + REACH)].iter();
            let before = text[at.saturating_sub(REACH)..at].iter();
            let is_brace = |byte: &&u8| matches!(byte, b'{' | b'}');
            let closes = after.copied().find(|byte| is_brace(&byte)) == Some(b'}');
            let closed = match before.copied().rev().find(|byte| is_brace(&byte)) {
                Some(brace) => brace == b'}',
                None => at < REACH,
            };
            (closes, closed)
        };
        let ask = |places: &[usize]| {
            let mut braces = Braces::new(&text);
            for &at in places {
                let found = (braces.closes_after(at), braces.closed_before(at));
                assert_eq!(found, plain(at), "{at}");
            }
        };
        ask(&places);
        let mut backwards = places;
        backwards.reverse();
        ask(&backwards);
    }
}
