//! Finds out which lines belong together, because perft blocks must not be cut.

use crate::formats::codec::line_records::{BYTE_ORDER_MARK, cut_lines, next_line, strip_bom};
use memchr::{memchr, memrchr};

/// A `perft` line that begins more bytes than this after its `epd` line is not part of its block, and neither
/// is an `id` line this far before it: so a place in the middle of a file can be classified as inside a block or not.
pub(super) const BLOCK_REACH: usize = 64 << 10;

/// The role of a line in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A blank line, or a comment.
    Blank,
    /// `id NAME`: a block begins.
    Id,
    /// `epd FEN`: a block begins, unless its `id` came before.
    Epd,
    /// `perft DEPTH COUNT`: belongs to the block before it.
    Perft,
    /// A record of its own, or a line that was meant as one.
    Record,
}

impl Line {
    /// Classifies a line, given without the blanks around it.
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

    /// Classifies a line with this beginning, if it is certain.
    fn begun(line: &[u8]) -> Option<Self> {
        let line = strip_bom(line).trim_ascii_start();
        let could_be = |word: &[u8]| line.len() < word.len() && word.starts_with(line);
        if could_be(BYTE_ORDER_MARK) || [&b"id "[..], b"epd ", b"perft "].iter().any(|w| could_be(w)) {
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
        // A line that is too long does not belong to a block, whatever it begins with.
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
        // Now for the line before the place.
        let feed = place.checked_sub(1)?;
        let start = memrchr(b'\n', &bytes[..feed]).map_or(0, |before| before + 1);
        let line = &bytes[start..feed];
        let kind = if line.len() > max_record { Line::Record } else { Line::of(strip_bom(line).trim_ascii()) };
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

/// The first place, at `from` or later, where the text can be divided. These are some of the places where [`cut`] may
/// cut: the beginning of a line
///
/// - that begins a block with its `id`, or
/// - that is a record, or begins a block with its `epd`, after a line that is a record or ends a block.
///
/// Blank lines between the two do not matter. The first of the two lines has to begin fewer than [`BLOCK_REACH`] bytes
/// before the place, and what the second one is has to be clear from the same number of bytes after it.
pub(super) fn division(bytes: &[u8], from: usize, at_end: bool) -> Option<usize> {
    let end = if at_end { bytes.len() } else { bytes.len().checked_sub(BLOCK_REACH)? };
    let mut place = next_line(bytes.get(..end)?, from)?;
    let mut before = last_line(bytes, place);
    loop {
        let rest = &bytes[place..bytes.len().min(place + BLOCK_REACH)];
        let len = memchr(b'\n', rest);
        let kind = match len {
            Some(len) => Some(Line::of(strip_bom(&rest[..len]).trim_ascii())),
            None => Line::begun(rest),
        };
        let last = before.filter(|&(start, _)| start + BLOCK_REACH > place);
        let is_free = match (last, kind) {
            (_, Some(Line::Id)) => true,
            (Some((_, last)), Some(Line::Epd | Line::Record)) => last != Line::Id,
            _ => false,
        };
        if is_free {
            return Some(place);
        }
        match (len, kind) {
            (Some(_), Some(Line::Blank)) => {}
            (Some(_), Some(kind)) => before = Some((place, kind)),
            // The beginning of the line is too far away to be seen from the place after it.
            _ => before = None,
        }
        let next = match len {
            Some(len) => place + len + 1,
            None => next_line(&bytes[..end], place + 1)?,
        };
        if next > end {
            return None;
        }
        place = next;
    }
}

/// The last line before a place that is not blank, with its beginning and its role, if they can be seen from there.
fn last_line(bytes: &[u8], place: usize) -> Option<(usize, Line)> {
    let mut end = place;
    while let Some(feed) = end.checked_sub(1) {
        let start = memrchr(b'\n', &bytes[..feed]).map_or(0, |before| before + 1);
        if start + BLOCK_REACH <= place {
            return None;
        }
        match Line::of(strip_bom(&bytes[start..feed]).trim_ascii()) {
            Line::Blank => end = start,
            kind => return Some((start, kind)),
        }
    }
    None
}
