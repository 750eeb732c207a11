//! Counts text of games that records do not keep, for the note at the end of a conversion: variations, comments, NAGs,
//! and commands such as `[%csl]`.
//!
//! This is a second look at the text, one game at a time. Only those games get it in which the first look has seen that
//! there may be such text: see [`Records::may_lose_text`](super::records::Records::may_lose_text).

use super::engine_comments;
use super::lex::{self, Comment};
use super::records;
use crate::chess::Color;
use crate::formats::UnstoredTags;
use memchr::{memchr, memmem};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Variations; nested ones are part of the outer one.
const VARIATIONS: &str = "variations";
/// Comments, or parts of them, that are text.
const COMMENTS: &str = "comments";
/// NAGs.
const NAGS: &str = "NAGs";
/// Details that engines write beside a score or a clock.
const DETAILS: &str = "depths, times and more beside scores of engines";

/// Longer names of commands are cut off.
const LONGEST_NAME: usize = 20;

/// What stands between the moves of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A comment in braces, without them.
    Comment(&'a [u8]),
    /// A comment up to the end of its line, without the semicolon.
    LineComment(&'a [u8]),
    /// The beginning of a variation, and where it is.
    Variation(usize),
    /// The end of a variation, and where it is.
    VariationEnd(usize),
    /// A NAG, without its dollar sign.
    Nag(&'a [u8]),
}

/// Visits what stands between the moves in a part of a text, a game without its tags; the number is that of the variations
/// around it.
pub(super) fn visit_pieces<'a>(bytes: &'a [u8], part: Range<usize>, mut visit: impl FnMut(Piece<'a>, u32)) {
    let mut at = part.start;
    let mut depth = 0u32;
    while at < part.end {
        match bytes[at] {
            b'{' => match lex::comment(bytes, at) {
                Comment::Closed(end) if end < part.end => {
                    visit(Piece::Comment(&bytes[at + 1..end]), depth);
                    at = end + 1;
                }
                Comment::Closed(_) | Comment::Open(_) => return,
            },
            b';' => {
                let end = lex::text_line_end(bytes, at).min(part.end);
                visit(Piece::LineComment(&bytes[at + 1..end]), depth);
                at = end;
            }
            b'%' if at == 0 || matches!(bytes[at - 1], b'\n' | b'\r') => at = lex::text_line_end(bytes, at),
            // A promotion in parentheses.
            b'(' if matches!(bytes[..at].last(), Some(b'1' | b'8'))
                && matches!(bytes[at + 1..], [b'N' | b'B' | b'R' | b'Q', b')', ..]) =>
            {
                at += 3;
            }
            b'(' => {
                visit(Piece::Variation(at), depth);
                depth = depth.saturating_add(1);
                at += 1;
            }
            b')' => {
                depth = depth.saturating_sub(1);
                visit(Piece::VariationEnd(at), depth);
                at += 1;
            }
            b'$' => {
                let start = at + 1;
                at = (start..part.end).find(|&at| !bytes[at].is_ascii_digit()).unwrap_or(part.end);
                visit(Piece::Nag(&bytes[start..at]), depth);
            }
            _ => at += 1,
        }
    }
}

/// Counts the text that records do not keep in a part of a text: a game without its tags. A variation counts as one,
/// with everything in it, unless variations are read as well.
pub(super) fn count(bytes: &[u8], part: Range<usize>, reads_variations: bool, lost: &mut UnstoredTags) {
    visit_pieces(bytes, part, |piece, depth| {
        let is_read = depth == 0 || reads_variations;
        match piece {
            Piece::Variation(_) => lost.add_text(VARIATIONS, u64::from(depth == 0 && !reads_variations)),
            Piece::Comment(text) if is_read => comment(text, lost),
            Piece::LineComment(text) if is_read => {
                lost.add_text(COMMENTS, u64::from(!text.trim_ascii().is_empty()));
            }
            Piece::Nag(_) => lost.add_text(NAGS, is_read.into()),
            Piece::Comment(_) | Piece::LineComment(_) | Piece::VariationEnd(_) => {}
        }
    });
}

/// The comments and variations of a game, whose text without tags this is: how many there are, commands such as
/// `[%clk]` not counted, and a number that is equal for equal comments, variations and NAGs.
pub(crate) fn annotations(text: &[u8]) -> (u64, u64) {
    let (mut count, mut hasher) = (0, DefaultHasher::new());
    let mut put = |text: &[u8]| {
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.for_each(|word| word.hash(&mut hasher));
    };
    let mut variation = None;
    visit_pieces(text, 0..text.len(), |piece, depth| match piece {
        Piece::Comment(words) | Piece::LineComment(words) => {
            count += u64::from(has_words(words));
            put(words);
        }
        Piece::Variation(start) => {
            count += 1;
            variation.get_or_insert(start);
        }
        Piece::VariationEnd(end) if depth == 0 => {
            if let Some(start) = variation.take() {
                put(&text[start..end]);
            }
        }
        Piece::VariationEnd(_) => {}
        Piece::Nag(number) => put(number),
    });
    variation.into_iter().for_each(|start| put(&text[start..]));
    (count, hasher.finish())
}

/// Whether a comment has text beside commands.
fn has_words(mut comment: &[u8]) -> bool {
    while let Some(start) = memmem::find(comment, b"[%") {
        if !comment[..start].trim_ascii().is_empty() {
            return true;
        }
        let end = memchr(b']', &comment[start..]);
        comment = end.map_or(&[], |end| &comment[start + end + 1..]);
    }
    !comment.trim_ascii().is_empty()
}

/// Counts the text that records do not keep in a comment, given without its braces.
fn comment(comment: &[u8], lost: &mut UnstoredTags) {
    let trimmed = comment.trim_ascii();
    let is_engines = engine_comments::may_be_one(trimmed) && trimmed.len() < engine_comments::LONGEST && {
        let said = engine_comments::said(trimmed, Color::White);
        said.eval.is_some() || said.clock.is_some()
    };
    if is_engines {
        let is_all = engine_comments::value(trimmed).is_some_and(|(_, rest)| rest.is_empty());
        lost.add_text(DETAILS, u64::from(!is_all));
    }
    let mut has_text = false;
    let mut rest = trimmed;
    while let Some(start) = memmem::find(rest, b"[%") {
        has_text |= !rest[..start].trim_ascii().is_empty();
        let command = &rest[start + 2..];
        let end = memchr(b']', command);
        let content = &command[..end.unwrap_or(command.len())];
        let (is_read, has_details) = records::reads(content);
        lost.add_text(DETAILS, has_details.into());
        if !is_read {
            let name = content.iter().take(LONGEST_NAME).take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let name = String::from_utf8_lossy(&content[..name]);
            lost.add_text(&format!("`[%{name}]`"), 1);
        }
        rest = end.map_or(&[], |end| &command[end + 1..]);
    }
    has_text |= !rest.trim_ascii().is_empty();
    lost.add_text(COMMENTS, u64::from(has_text && !is_engines));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(text: &str, variations: bool) -> String {
        let mut lost = UnstoredTags::default();
        count(text.as_bytes(), 0..text.len(), variations, &mut lost);
        lost.to_string()
    }

    #[test]
    fn kinds_are_counted() {
        for (text, expected, with_variations) in [
            ("1. e4 {[%eval 0.17] [%clk 0:00:30]} e5 {[%EVAL M3]} *", "", ""),
            ("1. e4 { } {} e5 ; \n 1-0", "", ""),
            ("1. e4 {good} e5 ; so\n{[%clk 0:00:30] hm} *", "comments (3)", "comments (3)"),
            ("1. e4 $1 $14 (1. d4 $2 {x} (1. c4)) (1. b3) *", "variations (2), NAGs (2)", "comments (1), NAGs (3)"),
            (
                "1. e4 {[%emt 0:00:01][%csl Ga1][%cal x]} e5 {[%emt 1]} *",
                "`[%emt]` (2), `[%csl]` (1), `[%cal]` (1)",
                "",
            ),
            (
                "1. e4 {[%eval 35,21]} e5 {+0.35/12 1s} 2. d4 {+0.60} {d=1, wv=0.1}",
                "depths, times and more beside scores of engines (3)",
                "",
            ),
            ("1. e4 {[%eval x]} {[%clk] } {[%} {", "`[%eval]` (1), `[%clk]` (1), `[%]` (1)", ""),
            ("e8(Q) {a} e1(N)", "comments (1)", ""),
        ] {
            assert_eq!(lost(text, false), expected, "{text}");
            let with_variations = if with_variations.is_empty() { expected } else { with_variations };
            assert_eq!(lost(text, true), with_variations, "{text}");
        }
    }
}
