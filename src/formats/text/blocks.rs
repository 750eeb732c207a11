//! Lines, and which of them belong together: perft blocks must not be cut.

use crate::formats::lines::{BYTE_ORDER_MARK, cut_lines, without_mark};
use memchr::memrchr;

/// A `perft` line that begins more bytes than this after its `epd` line is not part of its block, and neither
/// is an `id` line this far before it: so a place in the middle of a file can be classified as inside a block or not.
pub(super) const BLOCK_REACH: usize = 64 << 10;

/// What a line is among the lines of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing, or a comment.
    Blank,
    /// `id NAME`: a block begins.
    Id,
    /// `epd FEN`: a block begins, unless its `id` came before.
    Epd,
    /// `perft DEPTH COUNT`: belongs to the block before it.
    Perft,
    /// A record by itself, or an attempt at one.
    Record,
}

impl Line {
    /// What a line is, without the blanks around it.
    #[inline]
    pub(super) fn of(line: &[u8]) -> Self {
        match line.first() {
            None | Some(b'#') => Self::Blank,
            Some(b'i') if line.starts_with(b"id ") => Self::Id,
            Some(b'e') if line.starts_with(b"epd ") => Self::Epd,
            Some(b'p') if line.starts_with(b"perft ") => Self::Perft,
            Some(_) => Self::Record,
        }
    }

    /// What a line with this beginning is, if that is certain.
    fn begun(line: &[u8]) -> Option<Self> {
        let line = without_mark(line).trim_ascii_start();
        let could_be = |word: &[u8]| line.len() < word.len() && word.starts_with(line);
        if could_be(BYTE_ORDER_MARK)
            || [&b"id "[..], b"epd ", b"perft "]
                .iter()
                .any(|w| could_be(w))
        {
            return None;
        }
        Some(Self::of(line))
    }
}

/// The last place where a line begins that does not belong to anything before it.
pub(super) fn cut(bytes: &[u8], max_record: usize) -> Option<usize> {
    let end = cut_lines(bytes)?;
    let tail = &bytes[end..];
    if tail.len() > max_record {
        // A line that is too long belongs to no block, whatever it begins with.
        return Some(end);
    }
    // The first meaningful line after the place, as far as that is known.
    let mut next = Line::begun(tail).filter(|&line| line != Line::Blank);
    let mut place = end;
    // A place is certain if no line that could begin a block is within reach before it.
    let mut sure = end;
    loop {
        if next == Some(Line::Id) && place > 0 {
            return Some(place);
        }
        // The line before the place.
        let feed = place.checked_sub(1)?;
        let start = memrchr(b'\n', &bytes[..feed]).map_or(0, |before| before + 1);
        let line = &bytes[start..feed];
        let kind = match line.len() > max_record {
            true => Line::Record,
            false => Line::of(without_mark(line).trim_ascii()),
        };
        match kind {
            Line::Record => return Some(place),
            Line::Epd | Line::Perft if matches!(next, Some(Line::Epd | Line::Record)) => {
                return Some(place);
            }
            Line::Blank | Line::Perft if sure - start > BLOCK_REACH => return Some(sure),
            Line::Blank => {}
            _ => next = Some(kind),
        }
        place = start;
        if kind == Line::Epd {
            sure = start;
        }
    }
}
