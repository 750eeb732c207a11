//! The bytes of PGN: where comments and lines end, and where games begin.
//!
//! Comments and tags are passed thirty-two bytes at a time; for movetext see [`super::scan`].
//!
//! ## Where a game begins
//!
//! A brace comment may hold anything, blank lines and tags included, and it may also have lost its closing
//! brace, in which case all games up to some later brace would vanish without a word. Both are told apart
//! by what comes next. What looks like the beginning of a game inside a comment (a line `[Event "`, or any
//! tag after a result and an empty line) is one, and the comment was never closed, unless the next brace is a
//! closing one and comes within [`REACH`] bytes, and unless the comment began more than [`REACH`] bytes
//! before. The rule looks a fixed distance each way, so [`boundary`] can apply it in the middle of a file,
//! and chunks cut there decode to exactly what the whole file does.

use crate::simd::bytes::equal;
use memchr::{memrchr, memrchr_iter};

/// How far the end of a comment is looked for across a line that looks like the beginning of a game.
const REACH: usize = 1 << 16;

/// Eight bytes, or `None` near the end.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*eight))
}

/// The first of two bytes from `at` on, or the end.
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

/// The end of the line that `at` lies in: its line feed, or the end of the text.
#[inline(always)]
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    find2(bytes, at, b'\n', b'\n')
}

/// Where a comment leads.
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
    loop {
        at = find2(bytes, at, b'}', b'\n');
        match bytes.get(at) {
            Some(b'}') => return Comment::Closed(at),
            Some(_) => {
                if let Some(start) = game_after_line(bytes, at)
                    && !(start - open <= REACH && closes_next(bytes, start))
                {
                    return Comment::Open(start);
                }
                at += 1;
            }
            None => return Comment::Open(bytes.len()),
        }
    }
}

/// Where the game begins, if one does (comments aside) in the line after the line feed at `feed`: at
/// `[Event "`, unless other tags stand in the line before, and at any tag after a result and an empty line.
#[inline]
fn game_after_line(bytes: &[u8], feed: usize) -> Option<usize> {
    let rest = &bytes[feed + 1..];
    let start = match rest.first()? {
        b'[' => feed + 1,
        b'\n' if rest.get(1) == Some(&b'[') => feed + 2,
        b'\r' if rest.starts_with(b"\r\n[") => feed + 3,
        _ => return None,
    };
    let event = bytes[start..].starts_with(b"[Event \"");
    let empty_line = start > feed + 1;
    let begins = if event && empty_line {
        true
    } else if event {
        !is_of_tags(line_before(bytes, feed))
    } else {
        let line = line_before(bytes, feed).trim_ascii_end();
        empty_line && ends_with_result(line) && !is_of_tags(line)
    };
    begins.then_some(start)
}

/// The line that ends at this line feed.
fn line_before(bytes: &[u8], feed: usize) -> &[u8] {
    let start = memrchr(b'\n', &bytes[..feed]).map_or(0, |feed| feed + 1);
    &bytes[start..feed]
}

/// Whether a line may stand between the tags of one game.
fn is_of_tags(line: &[u8]) -> bool {
    matches!(
        line.trim_ascii_start().first(),
        None | Some(b'[' | b'%' | b';')
    )
}

/// Whether a text ends with the result of a game.
pub(super) fn ends_with_result(text: &[u8]) -> bool {
    [&b" 1-0"[..], b" 0-1", b" 1/2-1/2", b" *"]
        .iter()
        .any(|result| text.ends_with(result))
}

/// The last place after a line that ends with a result.
pub(super) fn last_result(bytes: &[u8]) -> Option<usize> {
    memrchr_iter(b'\n', bytes)
        .find(|&feed| ends_with_result(line_before(bytes, feed).trim_ascii_end()))
        .map(|feed| feed + 1)
}

/// Whether the next brace within reach is a closing one.
fn closes_next(bytes: &[u8], at: usize) -> bool {
    let within = &bytes[at..bytes.len().min(at + REACH)];
    within.get(find2(within, 0, b'{', b'}')) == Some(&b'}')
}

/// The last place at or before `limit` (but after the beginning) where the text can be cut: a game begins
/// there whatever came before. `at_end` says that the text ends with these bytes; otherwise nothing is
/// decided that later bytes could change.
///
/// ```
/// let text = b"[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n";
/// assert_eq!(lanefish::formats::pgn::boundary(text, text.len(), true), Some(22));
/// assert_eq!(lanefish::formats::pgn::boundary(text, 20, true), None);
/// ```
pub fn boundary(bytes: &[u8], limit: usize, at_end: bool) -> Option<usize> {
    let decided = if at_end {
        bytes.len()
    } else {
        bytes.len().saturating_sub(REACH)
    };
    let mut end = limit.min(decided).min(bytes.len());
    // Backwards from line feed to line feed.
    while let Some(feed) = memrchr(b'\n', &bytes[..end]) {
        if let Some(start) = game_after_line(bytes, feed)
            && start <= limit.min(decided)
            && (closed_before(bytes, start) || !closes_next(bytes, start))
        {
            return Some(start);
        }
        end = feed;
    }
    None
}

/// Whether the last brace within reach before `at` is a closing one: then no comment is open there.
fn closed_before(bytes: &[u8], at: usize) -> bool {
    let within = &bytes[at.saturating_sub(REACH)..at];
    let last = within.iter().rev().find(|byte| matches!(byte, b'{' | b'}'));
    last == Some(&b'}')
}
