//! Comments that engines' tournament managers write: the evaluation of the search that chose the move.
//!
//! | program | comment |
//! | --- | --- |
//! | cutechess-cli, fastchess | `+0.35/12 0.022s`, `-M4/7 0.003s`, `0.00/1 0s, Draw by adjudication` |
//! | fastchess, earlier | `+1.16/8, 0.004s` |
//! | OpenBench | `0.60` |
//! | TCEC | `d=40, …, tl=1787655, …, wv=0.24,` |
//!
//! The first three are from the mover's point of view and TCEC's `wv` from White's; all are of the position *before* the
//! move, unlike `[%eval]`. A comment is one of these as a whole or not at all, so that prose with numbers is no score.

use super::records::{Eval, LONGEST_CLOCK, clock, mate_in, pawns};
use crate::chess::Color;

/// Comments of this many bytes or more are not read.
pub(super) const LONGEST: usize = 4096;

/// Whether a text may be the comment of an engine, by its first byte that is no blank. Those of Lichess begin with a
/// bracket.
#[inline(always)]
pub(super) fn may_be_one(text: &[u8]) -> bool {
    let first = text.first();
    first.is_some_and(|first| first.is_ascii_alphanumeric() || b"+-#".contains(first))
}

/// What a comment says about the position before the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Said {
    /// From White's view.
    pub(super) eval: Option<Eval>,
    /// The mover's time after the move, in hundredths of a second.
    pub(super) clock: Option<u32>,
}

/// Reads a comment, without its braces, after a move of this colour.
pub(super) fn said(comment: &[u8], mover: Color) -> Said {
    match comment.first() {
        Some(b'+' | b'-' | b'0'..=b'9' | b'M' | b'#') => Said { eval: score(comment, mover), clock: None },
        Some(b'a'..=b'z' | b'A'..=b'Z') => fields(comment),
        _ => Said::default(),
    }
}

/// An evaluation of the mover, alone or with a depth, a time, and more.
fn score(comment: &[u8], mover: Color) -> Option<Eval> {
    let (eval, rest) = value(comment)?;
    let (depths, mut rest) = depths(rest);
    if !rest.is_empty() {
        let (comma, after) = match rest {
            [b',', after @ ..] => (true, after),
            _ => (false, rest),
        };
        let text = after.trim_ascii_start();
        if !comma && text.len() == after.len() {
            return None;
        }
        match seconds(text) {
            Some(after) => rest = after,
            // What follows a depth and a comma is a remark; anything else would be prose.
            None if comma && depths || text.is_empty() => rest = &[],
            None => return None,
        }
    }
    let ends = rest.first().is_none_or(|byte| *byte == b',' || byte.is_ascii_whitespace());
    ends.then(|| match mover {
        Color::White => eval,
        Color::Black => eval.reversed(),
    })
}

/// The depths after an evaluation, if there are any, and what follows them.
fn depths(mut text: &[u8]) -> (bool, &[u8]) {
    let mut any = false;
    while let Some(after) = text.strip_prefix(b"/") {
        let len = digits(after);
        if len == 0 {
            break;
        }
        any = true;
        text = &after[len..];
    }
    (any, text)
}

/// What follows a time in seconds.
fn seconds(text: &[u8]) -> Option<&[u8]> {
    let whole = digits(text);
    if whole == 0 {
        return None;
    }
    let mut rest = &text[whole..];
    if let Some(decimals) = rest.strip_prefix(b".") {
        rest = &decimals[digits(decimals)..];
    }
    let rest = rest.strip_prefix(b"ms").or_else(|| rest.strip_prefix(b"s")).unwrap_or(rest);
    Some(rest)
}

/// Pawns with decimals, or `M` and a number of moves; and what follows.
fn value(text: &[u8]) -> Option<(Eval, &[u8])> {
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if let [b'M' | b'#', rest @ ..] = unsigned {
        // Also `M-4`.
        let (inner, rest) = match rest {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let len = digits(rest);
        let number = std::str::from_utf8(&rest[..len]).ok()?;
        let moves = number.parse().ok()?;
        return Some((Eval::Mate(mate_in(negative ^ inner, moves)), &rest[len..]));
    }
    let whole = digits(unsigned);
    let decimals = unsigned[whole..].strip_prefix(b".").map(digits)?;
    if whole == 0 || decimals == 0 {
        return None;
    }
    let (number, rest) = unsigned.split_at(whole + 1 + decimals);
    Some((pawns(negative, number)?, rest))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// A list of names and values, as TCEC has them.
fn fields(comment: &[u8]) -> Said {
    let mut said = Said::default();
    for (number, item) in comment.split(|&byte| byte == b',').enumerate() {
        let item = item.trim_ascii();
        let Some(equals) = item.iter().position(|&byte| byte == b'=') else {
            match number {
                // Prose.
                0 if item != b"book" => return Said::default(),
                _ => continue,
            }
        };
        if !item[..equals].iter().all(u8::is_ascii_alphanumeric) {
            return Said::default();
        }
        let text = &item[equals + 1..];
        match &item[..equals] {
            b"wv" => {
                let whole = value(text).filter(|(_, rest)| rest.is_empty());
                said.eval = said.eval.or(whole.map(|(eval, _)| eval));
            }
            b"tl" => said.clock = said.clock.or_else(|| time_left(text)),
            _ => {}
        }
    }
    said
}

/// Milliseconds, or `h:mm:ss`.
fn time_left(text: &[u8]) -> Option<u32> {
    if text.contains(&b':') {
        return clock(text);
    }
    if digits(text) != text.len() {
        return None;
    }
    let milliseconds: u64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    u32::try_from(milliseconds / 10).ok().filter(|&time| time < LONGEST_CLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_the_movers() {
        let cents = |cents| Some(Eval::Centipawns(cents));
        for (text, expected) in [
            ("+0.35/12 0.022s", cents(35)),
            ("-0.31/13 0.5s", cents(-31)),
            ("0.00/1 0s, Draw by adjudication", cents(0)),
            ("+1.16/8, 0.004s", cents(116)),
            ("+1.16/8, White mates", cents(116)),
            ("+0.22/18 1.016s n=123456, sd=25", cents(22)),
            ("-12.5/20/31 22s", cents(-1250)),
            ("0.60", cents(60)),
            ("0.60 ", cents(60)),
            ("+0.60/4", cents(60)),
            ("+0.60 1.5s", cents(60)),
            ("+400.00/9 1s", cents(31_000)),
            ("+M7/40 0.003s", Some(Eval::Mate(7))),
            ("-M4/7 0.003s", Some(Eval::Mate(-4))),
            ("M3", Some(Eval::Mate(3))),
            ("+M1/245 0.010s, White mates", Some(Eval::Mate(1))),
            ("book", None),
            ("12 minutes", None),
            ("1.e4 is best", None),
            ("0.60 pawns up", None),
            ("0.60pawns", None),
            ("1.5, as Black said", None),
            ("35/12 0.1s", None),
            ("1/2 offered", None),
            ("+M/3 1s", None),
            ("M", None),
            (".5/3 1s", None),
            ("", None),
        ] {
            assert_eq!(said(text.as_bytes(), Color::White).eval, expected, "{text}");
            let reversed = expected.map(Eval::reversed);
            assert_eq!(said(text.as_bytes(), Color::Black).eval, reversed, "{text}");
        }
    }

    #[test]
    fn lists_of_values_are_whites() {
        for color in Color::ALL {
            let found = |text: &str| said(text.as_bytes(), color);
            let all = found("d=40, sd=52, mt=12345, tl=1787655, pv=d4 Nf6 c4, tb=0, wv=0.24,");
            assert_eq!(all.eval, Some(Eval::Centipawns(24)));
            assert_eq!(all.clock, Some(178_765));
            assert_eq!(found("wv=-M12, tl=0:15:03").eval, Some(Eval::Mate(-12)));
            assert_eq!(found("wv=-M12, tl=0:15:03").clock, Some(90_300));
            assert_eq!(found("book, mb=+0+0, wv=0.10").eval, Some(Eval::Centipawns(10)));
            for text in ["a good move, wv=0.24", "x, y", "wv=0.24 or so", "tl=1x", "tl=99999999999999"] {
                assert_eq!(found(text), Said::default(), "{text}");
            }
        }
    }
}
