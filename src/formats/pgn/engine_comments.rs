//! Comments that engines' tournament managers write: the evaluation of the search that chose the move.
//!
//! | program | comment |
//! | --- | --- |
//! | cutechess-cli, fastchess | `+0.35/12 0.022s`, `-M4/7 0.003s`, `0.00/1 0s, Draw by adjudication` |
//! | fastchess with more output | `+0.33/12 0.5s, tl=0.611s, n=42103`: `tl` is the time left |
//! | fastchess, earlier | `+1.16/8, 0.004s` |
//! | XBoard | `+0.31/13 59`, `+0.31/13 1:05` |
//! | Arena | `(e7e5 Ng1-f3) +0.35/12 5`, after the line that was expected |
//! | OpenBench | `+0.57 17/28 583 363004`, or `0.60` alone |
//! | TCEC | `d=40, …, tl=1787655, …, wv=0.24,` |
//!
//! TCEC's `wv` is from White's point of view and all others from the mover's; all are of the position *before* the
//! move, unlike `[%eval]`. Numbers may have a decimal comma and a typographic minus. A comment must have one of these
//! forms as a whole, so that prose with numbers is not taken for a score. The numbers of mates are those of the comment:
//! most programs count plies, some moves, and only all comments of a game can tell (`settle_mates` in `records`). Text
//! that only [looks](looks_like_one) like an evaluation is counted.

use super::comment_values::{Eval, LONGEST_CLOCK, clock, mate_sign, pawns, sign};
use crate::chess::Color;
use memchr::{memchr, memchr_iter, memchr2_iter};

/// Comments of this many bytes or more are not read.
pub(super) const LONGEST: usize = 4096;

/// Whether a text, which does not begin with a blank, may be the comment of an engine. Those of Lichess begin with a
/// bracket.
#[inline(always)]
pub(super) fn may_be_one(text: &[u8]) -> bool {
    text.first().is_some_and(|&first| first != b'[')
}

/// The evaluation in a comment, of the position before the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct EngineEval {
    /// From White's view.
    pub(super) eval: Option<Eval>,
    /// The mover's time after the move, in hundredths of a second.
    pub(super) clock: Option<u32>,
}

/// Reads a comment, without its braces, after a move of this colour.
pub(super) fn said(comment: &[u8], mover: Color) -> EngineEval {
    let comment = match comment {
        [b'(', rest @ ..] => {
            // A depth shows that the text after the line is not prose.
            let after = memchr(b')', rest).map(|end| rest[end + 1..].trim_ascii_start());
            let with_depth = |text: &&[u8]| value(text).is_some_and(|(_, rest)| rest.starts_with(b"/"));
            after.filter(with_depth).unwrap_or_default()
        }
        _ => comment,
    };
    match score(comment, mover) {
        Some(said) => said,
        None if comment.first().is_some_and(u8::is_ascii_alphabetic) => fields(comment),
        None => EngineEval::default(),
    }
}

/// Whether a comment that is not an engine's contains what may be an evaluation. That is so if it begins with a score
/// that has a sign or is followed by numbers, or if it contains a score with a sign and a depth, or a name such as
/// `eval` before a number.
pub(super) fn looks_like_one(comment: &[u8]) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let begins = value(comment).is_some_and(|(_, rest)| {
        let is_signed = sign(comment).1.len() < comment.len();
        let next = rest.trim_ascii_start();
        let next = next.strip_prefix(b",").or_else(|| next.strip_prefix(b"/")).unwrap_or(next).trim_ascii_start();
        !rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.')
            && (is_signed || is_digit(next.first()) && next.len() < rest.len())
    });
    let has_depth = || {
        memchr_iter(b'/', comment).any(|slash| {
            let before = &comment[..slash];
            let number = before.iter().rev().take(8).take_while(|byte| byte.is_ascii_digit() || b".,M#".contains(byte));
            let (rest, number) = before.split_at(slash - number.count());
            let is_number = number.len() > 1 && !number.iter().all(u8::is_ascii_digit) && is_digit(number.last());
            is_number && is_digit(comment.get(slash + 1)) && ends_with_sign(rest)
        })
    };
    let has_name = || {
        memchr2_iter(b'=', b':', comment).any(|at| {
            let before = comment[..at].trim_ascii_end();
            let number = sign(comment[at + 1..].trim_ascii_start()).1;
            let name = before.iter().rev().take(11).take_while(|byte| byte.is_ascii_alphabetic()).count();
            let name = &before[before.len() - name..];
            is_digit(number.first()) && NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
        })
    };
    begins || has_depth() || has_name()
}

/// Names of evaluations in comments.
const NAMES: [&[u8]; 6] = [b"eval", b"evaluation", b"ev", b"score", b"cp", b"wv"];

/// Whether a text ends with a sign, which has one byte or three.
fn ends_with_sign(text: &[u8]) -> bool {
    let is_sign = |text: &[u8]| sign(text).1.is_empty();
    text.last_chunk::<1>().is_some_and(|last| is_sign(last)) || text.last_chunk::<3>().is_some_and(|last| is_sign(last))
}

/// An evaluation from the mover's view, alone or with a depth, a time, and more.
fn score(comment: &[u8], mover: Color) -> Option<EngineEval> {
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
        match seconds(text).or_else(|| spaced_depths(text).filter(|_| !depths)) {
            Some(after) => rest = after,
            // After a depth and a comma, there is a remark; anything else would be prose.
            None if comma && depths || text.is_empty() => rest = &[],
            None => return None,
        }
    }
    if !rest.first().is_none_or(|byte| *byte == b',' || byte.is_ascii_whitespace()) {
        return None;
    }
    let mut items = rest.split(|byte| *byte == b',' || byte.is_ascii_whitespace());
    Some(EngineEval {
        eval: Some(match mover {
            Color::White => eval,
            Color::Black => eval.reversed(),
        }),
        clock: items.find_map(|item| time_left(item.strip_prefix(b"tl=")?)),
    })
}

/// The depths after an evaluation, if there are any, and the text after them.
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

/// The text after a depth and a selective depth, if it is empty or begins with a number.
fn spaced_depths(text: &[u8]) -> Option<&[u8]> {
    let depth = digits(text);
    let (both, rest) = depths(&text[depth..]);
    let next = rest.trim_ascii_start();
    let ends = next.is_empty() || next.len() < rest.len() && digits(next) > 0;
    (depth > 0 && both && ends).then_some(rest)
}

/// The text after a time: seconds, milliseconds with their unit, or minutes and seconds.
fn seconds(text: &[u8]) -> Option<&[u8]> {
    let whole = digits(text);
    if whole == 0 {
        return None;
    }
    let mut rest = &text[whole..];
    for _ in 0..2 {
        if let [b':', tens @ b'0'..=b'5', ones, after @ ..] = rest
            && tens.is_ascii_digit()
            && ones.is_ascii_digit()
        {
            rest = after;
        }
    }
    if let [point @ (b'.' | b','), decimals @ ..] = rest
        && (*point == b'.' || decimals.first().is_some_and(u8::is_ascii_digit))
    {
        rest = &decimals[digits(decimals)..];
    }
    let rest = rest.strip_prefix(b"ms").or_else(|| rest.strip_prefix(b"s")).unwrap_or(rest);
    (!rest.starts_with(b"/")).then_some(rest)
}

/// Pawns with decimals, or the sign of a mate and a number of moves or plies; and the text after it.
pub(super) fn value(text: &[u8]) -> Option<(Eval, &[u8])> {
    let (negative, unsigned) = sign(text);
    if let Some(rest) = mate_sign(unsigned) {
        // Also `M-4`.
        let (inner, rest) = sign(rest);
        let len = digits(rest);
        let number = std::str::from_utf8(&rest[..len]).ok()?;
        let moves = number.parse().ok()?;
        return Some((Eval::mate(negative ^ inner, moves), &rest[len..]));
    }
    let whole = digits(unsigned);
    let decimals = match unsigned.get(whole) {
        Some(b'.') => digits(&unsigned[whole + 1..]),
        Some(b',') if whole > 0 => {
            let decimals = digits(&unsigned[whole + 1..]);
            let rest = &unsigned[whole + 1 + decimals..];
            // Without a depth it may be a list of numbers.
            let (depths, _) = depths(rest);
            let is_decimal = depths || unsigned.len() < text.len() && rest.trim_ascii().is_empty();
            if is_decimal { decimals } else { 0 }
        }
        _ => 0,
    };
    if decimals == 0 {
        return None;
    }
    let (number, rest) = unsigned.split_at(whole + 1 + decimals);
    Some((pawns(negative, number)?, rest))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// A list of names and values, as TCEC has them.
fn fields(comment: &[u8]) -> EngineEval {
    let mut said = EngineEval::default();
    for (number, item) in comment.split(|&byte| byte == b',').enumerate() {
        let item = item.trim_ascii();
        let Some(equals) = item.iter().position(|&byte| byte == b'=') else {
            match number {
                // Prose.
                0 if item != b"book" => return EngineEval::default(),
                _ => continue,
            }
        };
        if !item[..equals].iter().all(u8::is_ascii_alphanumeric) {
            return EngineEval::default();
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

/// Milliseconds, `h:mm:ss`, or a number with its unit.
fn time_left(text: &[u8]) -> Option<u32> {
    if text.contains(&b':') {
        return clock(text);
    }
    let text = match text.strip_suffix(b"ms") {
        Some(milliseconds) => milliseconds,
        None => match text.strip_suffix(b"s") {
            Some(seconds) => return clock(seconds),
            None => text,
        },
    };
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
            ("+310.00/9 1s", cents(31_000)),
            ("+400.00/9 1s", Some(Eval::Beyond(31_000))),
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
            (".5/3 1s", cents(50)),
            ("+0.35/12 22ms", cents(35)),
            ("0.60/4 pawns up", None),
            ("+0.57 17/28 583 363004", cents(57)),
            ("-0.44 16/25", cents(-44)),
            ("+M5 17/28 583 363004", Some(Eval::Mate(5))),
            ("0.60 17/28 pawns", None),
            ("0.60 17/28/", None),
            ("+0.31/13 1:05", cents(31)),
            ("+0.31/13 1:02:10.5 x", cents(31)),
            ("+0.31/13 1:75", None),
            ("(e7e5 Ng1-f3) +0.35/12 5", cents(35)),
            ("(Nf3) -0.31/13 0.5s", cents(-31)),
            ("(0.19 → -2.33) Blunder. Nf3 was best.", None),
            ("(Nf3) -0.31", None),
            ("(Nf3", None),
            ("−0.35/12 0.5s", cents(-35)),
            ("–0.35/12 0.5s", cents(-35)),
            ("+0,35/12 0,5s", cents(35)),
            ("-0,35", cents(-35)),
            ("0,35", None),
            ("+1,5 and more", None),
            ("mate4", Some(Eval::Mate(4))),
            ("-Mate 4/20 1s", Some(Eval::Mate(-4))),
            ("mate in 4", None),
            ("mates", None),
            ("", None),
        ] {
            assert_eq!(said(text.as_bytes(), Color::White).eval, expected, "{text}");
            let reversed = expected.map(Eval::reversed);
            assert_eq!(said(text.as_bytes(), Color::Black).eval, reversed, "{text}");
        }
    }

    #[test]
    fn what_looks_like_an_evaluation_is_recognized() {
        for (text, expected) in [
            ("0.60/4 pawns up", true),
            ("+0.35 12 x", true),
            ("+0.57", true),
            ("-M5 soon", true),
            ("0.35 12 5", true),
            ("0.35; 12", false),
            ("e4 +0.35/12", true),
            ("d4 −0.35/12 1s", true),
            ("Nf6 -M4/12", true),
            ("eval: 0.35", true),
            ("Score = -12", true),
            ("depth=12", false),
            ("0.60 pawns up", false),
            ("1.5, as Black said", false),
            ("1.e4 is best", false),
            ("12 minutes", false),
            ("1/2 offered", false),
            ("has 6.5/9 now", false),
            ("2024.01.02", false),
            ("(0.19 → -2.33) Blunder. Nf3 was best.", false),
            ("retrieval=1", false),
            ("time 12:30", false),
            ("a+b/c", false),
            ("see 12-1/4", false),
            ("", false),
        ] {
            assert_eq!(looks_like_one(text.as_bytes()), expected, "{text}");
        }
    }

    /// The time left, as fastchess writes it, is a clock.
    #[test]
    fn times_left_have_units() {
        for (text, expected) in [
            ("+0.33/12 0.5s, tl=0.611s, n=42103", Some(61)),
            ("-0.33/12 0.5s, n=1, tl=12.5s", Some(1_250)),
            ("-0.33/12 0.5s tl=611ms", Some(61)),
            ("0.33/12 0.5s, tl=0:01:02", Some(6_200)),
            ("0.33/12 0.5s, tl=s", None),
            ("0.33/12 0.5s, tl=0.611", None),
            ("0.33/12 0.5s, xtl=1s", None),
        ] {
            let said = said(text.as_bytes(), Color::White);
            assert!(said.eval.is_some());
            assert_eq!(said.clock, expected, "{text}");
        }
        assert_eq!(said(b"d=1, tl=1.5s", Color::White).clock, Some(150));
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
                assert_eq!(found(text), EngineEval::default(), "{text}");
            }
        }
    }
}
