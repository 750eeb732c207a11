//! How a game ended, and the table of all forms in which files write it.
//!
//! Tags, tokens of movetext, lines of training data, EPD operations and cells of tables all read results with
//! [`Verdict::of`], so that a form is known everywhere or nowhere. A result is the points of both sides with a dash or a
//! colon between them:
//!
//! | part | forms |
//! | --- | --- |
//! | a point | `1`, `1.0` |
//! | half a point | `1/2`, `½` (UTF-8 or Windows-1252), `0.5`, `.5`, `0,5` |
//! | no point | `0`, `0.0` |
//! | between them | any dash or minus sign (UTF-8 or Windows-1252), `:`; blanks around it |
//!
//! Decimals may have more zeros. Games that were not played are `+:-`, `-:+` and `=:=`. `1/2` or `½` alone is a draw, and
//! `*`, `?`, a dash or nothing mean that the result is unknown. In some games of broadcasts the points are not those of a
//! win or a draw: both players lose (`0-0`), or one of them has half a point and the other none.

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// White won.
    White,
    /// Black won.
    Black,
    /// A draw.
    Draw,
}

impl Outcome {
    /// The PGN token.
    pub const fn token(self) -> &'static str {
        match self {
            Self::White => "1-0",
            Self::Black => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }
    /// 0 Black won, 1 draw, 2 White won: the code of [`crate::table::Field::Result`].
    pub const fn code(self) -> u8 {
        match self {
            Self::Black => 0,
            Self::Draw => 1,
            Self::White => 2,
        }
    }
    /// The outcome of a text in any form of a result, for example of a token or a tag; `None` for `*` and anything else.
    ///
    /// ```
    /// use lanefish::games::Outcome;
    /// assert_eq!(Outcome::from_token(b"1-0"), Some(Outcome::White));
    /// assert_eq!(Outcome::from_token("½ – ½".as_bytes()), Some(Outcome::Draw));
    /// assert_eq!(Outcome::from_token(b"*"), None);
    /// ```
    pub fn from_token(token: &[u8]) -> Option<Self> {
        match Verdict::of(token)? {
            Verdict::Outcome(outcome) => Some(outcome),
            Verdict::Unequal | Verdict::Unknown => None,
        }
    }
    /// The spellings of whole results that are recognized where other text may follow: with a hyphen or an en dash, in
    /// UTF-8 or Windows-1252.
    pub(crate) const SPELLINGS: [(&[u8], Self); 13] = [
        (b"1-0", Self::White),
        (b"0-1", Self::Black),
        (b"1/2-1/2", Self::Draw),
        ("1–0".as_bytes(), Self::White),
        ("0–1".as_bytes(), Self::Black),
        ("1/2–1/2".as_bytes(), Self::Draw),
        (b"1\x960", Self::White),
        (b"0\x961", Self::Black),
        (b"1/2\x961/2", Self::Draw),
        ("½-½".as_bytes(), Self::Draw),
        ("½–½".as_bytes(), Self::Draw),
        (b"\xBD-\xBD", Self::Draw),
        (b"\xBD\x96\xBD", Self::Draw),
    ];
}

/// What a text in the form of a result says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A win or a draw.
    Outcome(Outcome),
    /// Points that are neither those of a win nor those of a draw.
    Unequal,
    /// The result is unknown, and the text says so.
    Unknown,
}

/// The points of one side, doubled.
type Points = u8;

impl Verdict {
    /// What a text says; `None` if it is not in any form of a result.
    #[inline]
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"1-0" => Self::Outcome(Outcome::White),
            b"0-1" => Self::Outcome(Outcome::Black),
            b"1/2-1/2" => Self::Outcome(Outcome::Draw),
            b"*" => Self::Unknown,
            _ => return Self::of_rare(text.trim_ascii()),
        })
    }

    #[cold]
    fn of_rare(text: &[u8]) -> Option<Self> {
        match text {
            b"" | b"*" | b"?" => return Some(Self::Unknown),
            b"1/2" | b"\xBD" | b"\xC2\xBD" | b"=:=" => return Some(Self::Outcome(Outcome::Draw)),
            b"+:-" => return Some(Self::Outcome(Outcome::White)),
            b"-:+" => return Some(Self::Outcome(Outcome::Black)),
            b"-:-" => return Some(Self::Unequal),
            _ => {}
        }
        if dash(text).is_some_and(<[u8]>::is_empty) {
            return Some(Self::Unknown);
        }
        let (white, rest) = points(text)?;
        let rest = rest.trim_ascii_start();
        let rest = dash(rest).or_else(|| rest.strip_prefix(b":"))?;
        let (black, rest) = points(rest.trim_ascii_start())?;
        rest.is_empty().then(|| Self::of_points(white, black))
    }

    /// The result that a text begins with, in any form but that of a single word such as `*`, and its length; `None` if
    /// something follows that may belong to it.
    #[cold]
    pub(crate) fn at_beginning(text: &[u8]) -> Option<(Self, usize)> {
        // No result is longer.
        let text = &text[..text.len().min(LONGEST)];
        let not_played = [(&b"+:-"[..], Self::Outcome(Outcome::White)), (b"-:+", Self::Outcome(Outcome::Black))];
        let not_played =
            not_played.into_iter().chain([(&b"=:="[..], Self::Outcome(Outcome::Draw)), (b"-:-", Self::Unequal)]);
        for (form, verdict) in not_played {
            if let Some(rest) = text.strip_prefix(form) {
                return ends(rest).then_some((verdict, form.len()));
            }
        }
        let (white, after_white) = points(text)?;
        let rest = blanks(after_white);
        let separated = dash(rest).or_else(|| rest.strip_prefix(b":")).map(blanks);
        let Some((black, rest)) = separated.and_then(points) else {
            // Half a point alone is that of each side.
            let is_half = text.starts_with(b"1/2") || text.starts_with(b"\xC2\xBD") || text.starts_with(b"\xBD");
            let is_alone = separated.is_none() && ends(after_white);
            return (is_half && is_alone).then_some((Self::Outcome(Outcome::Draw), text.len() - after_white.len()));
        };
        let len = text.len() - rest.len();
        let has_blanks = text[..len].iter().any(u8::is_ascii_whitespace);
        let behind = if has_blanks { blanks(rest) } else { rest };
        (ends(rest) && dash(behind).is_none()).then(|| (Self::of_points(white, black), len))
    }

    fn of_points(white: Points, black: Points) -> Self {
        match (white, black) {
            (2, 0) => Self::Outcome(Outcome::White),
            (0, 2) => Self::Outcome(Outcome::Black),
            (1, 1) => Self::Outcome(Outcome::Draw),
            _ => Self::Unequal,
        }
    }

    /// What a number of points says, of which there is only one: those of White, with decimals, as in training data.
    pub(crate) fn of_score(text: &[u8]) -> Option<Self> {
        let (white, rest) = points(text)?;
        let is_decimal = matches!(text, [b'0' | b'1', b'.', ..] | [b'.', ..]);
        (rest.is_empty() && is_decimal).then(|| Self::of_points(white, 2 - white))
    }
}

/// No result within other text has more bytes than this.
const LONGEST: usize = 40;

/// Whether a result may end before this text.
fn ends(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b':' | 0xBD)))
        && !rest.starts_with("½".as_bytes())
        && dash(rest).is_none()
}

/// A text without blanks at its beginning.
fn blanks(text: &[u8]) -> &[u8] {
    let len = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[len..]
}

/// The points that a text begins with, and the text after them.
fn points(text: &[u8]) -> Option<(Points, &[u8])> {
    const HALVES: [&[u8]; 3] = [b"1/2", b"\xC2\xBD", b"\xBD"];
    if let Some(rest) = HALVES.iter().find_map(|half| text.strip_prefix(*half)) {
        return Some((1, rest));
    }
    let (whole, rest) = match text {
        [digit @ (b'0' | b'1'), rest @ ..] => (2 * (digit - b'0'), rest),
        [b'.', ..] => (0, text),
        _ => return None,
    };
    let [b'.' | b',', decimals @ ..] = rest else {
        return Some((whole, rest));
    };
    let (half, zeros) = match decimals {
        [b'5', zeros @ ..] if whole == 0 => (1, zeros),
        [b'0', zeros @ ..] if !text.starts_with(b".") => (0, zeros),
        _ => return None,
    };
    let len = zeros.iter().take_while(|&&byte| byte == b'0').count();
    Some((whole + half, &zeros[len..]))
}

/// The text after a dash or a minus sign of any kind.
pub(crate) fn dash(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'-', rest @ ..]
        // Windows-1252: en and em dash, soft hyphen. No text in UTF-8 begins with these bytes.
        | [0x96 | 0x97 | 0xAD, rest @ ..]
        // The soft hyphen.
        | [0xC2, 0xAD, rest @ ..]
        // Hyphens and dashes, from U+2010 to U+2015; the minus sign; small, fullwidth and other hyphens.
        | [0xE2, 0x80, 0x90..=0x95, rest @ ..]
        | [0xE2, 0x81, 0x83, rest @ ..]
        | [0xE2, 0x88, 0x92, rest @ ..]
        | [0xEF, 0xB9, 0x98 | 0xA3, rest @ ..]
        | [0xEF, 0xBC, 0x8D, rest @ ..] => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_many_forms() {
        let [white, black, draw] = [Outcome::White, Outcome::Black, Outcome::Draw].map(Verdict::Outcome);
        for (text, expected) in [
            ("1-0", Some(white)),
            ("0-1", Some(black)),
            ("1/2-1/2", Some(draw)),
            ("1:0", Some(white)),
            ("0 : 1", Some(black)),
            (" 1 - 0 ", Some(white)),
            ("1‐0", Some(white)),
            ("1–0", Some(white)),
            ("0—1", Some(black)),
            ("1−0", Some(white)),
            ("½-½", Some(draw)),
            ("½ – ½", Some(draw)),
            ("½:½", Some(draw)),
            ("½", Some(draw)),
            ("1/2", Some(draw)),
            ("1/2 - 1/2", Some(draw)),
            ("1/2:1/2", Some(draw)),
            ("1/2-½", Some(draw)),
            ("0.5-0.5", Some(draw)),
            ("0,5-0,5", Some(draw)),
            (".5-.5", Some(draw)),
            ("0.50:0.50", Some(draw)),
            ("1.0-0.0", Some(white)),
            ("0.0 - 1.0", Some(black)),
            ("1-0.0", Some(white)),
            ("+:-", Some(white)),
            ("-:+", Some(black)),
            ("=:=", Some(draw)),
            ("0-0", Some(Verdict::Unequal)),
            ("0–0", Some(Verdict::Unequal)),
            ("0:0", Some(Verdict::Unequal)),
            ("-:-", Some(Verdict::Unequal)),
            ("1/2-0", Some(Verdict::Unequal)),
            ("0-1/2", Some(Verdict::Unequal)),
            ("½-0", Some(Verdict::Unequal)),
            ("0-½", Some(Verdict::Unequal)),
            ("0.5-0", Some(Verdict::Unequal)),
            ("0-0.5", Some(Verdict::Unequal)),
            ("1-1", Some(Verdict::Unequal)),
            ("*", Some(Verdict::Unknown)),
            ("?", Some(Verdict::Unknown)),
            ("", Some(Verdict::Unknown)),
            ("-", Some(Verdict::Unknown)),
            (" – ", Some(Verdict::Unknown)),
            ("1", None),
            ("0", None),
            ("1.0", None),
            ("1-", None),
            ("1-0 FF", None),
            ("2-0", None),
            ("10-0", None),
            ("1--0", None),
            ("0-0-0", None),
            ("O-O", None),
            ("1.5-0.5", None),
            ("0.7-0.3", None),
            (".0-.0", None),
            ("1/3-1/3", None),
            ("1/2-1", Some(Verdict::Unequal)),
            ("White won", None),
            ("+--", None),
            ("+-", None),
        ] {
            assert_eq!(Verdict::of(text.as_bytes()), expected, "{text}");
        }
        for (text, expected) in [
            (&b"1\x960"[..], white),
            (b"0 \x97 1", black),
            (b"\xBD-\xBD", draw),
            (b"\xBD \x96 \xBD", draw),
            (b"\xBD", draw),
        ] {
            assert_eq!(Verdict::of(text), Some(expected));
        }
        for (token, outcome) in Outcome::SPELLINGS {
            assert_eq!(Outcome::from_token(token), Some(outcome));
        }
    }

    #[test]
    fn results_within_other_text() {
        let [white, black, draw] = [Outcome::White, Outcome::Black, Outcome::Draw].map(Verdict::Outcome);
        let unequal = Verdict::Unequal;
        for (text, expected) in [
            ("1:0", Some((white, 3))),
            ("0 : 1\n", Some((black, 5))),
            ("1 - 0 {x}", Some((white, 5))),
            ("1 – 0", Some((white, 7))),
            ("0.5-0.5 x", Some((draw, 7))),
            ("1/2", Some((draw, 3))),
            ("1/2 - 1/2", Some((draw, 9))),
            ("½", Some((draw, 2))),
            ("½ e4", Some((draw, 2))),
            ("+:-", Some((white, 3))),
            ("-:+ ", Some((black, 3))),
            ("=:=", Some((draw, 3))),
            ("-:-", Some((unequal, 3))),
            ("1/2-0\r\n", Some((unequal, 5))),
            ("0-½", Some((unequal, 4))),
            ("0-0.5{", Some((unequal, 5))),
            ("0-0", Some((unequal, 3))),
            ("0 - 0", Some((unequal, 5))),
            ("0-0-0", None),
            ("0–0–0", None),
            ("0 - 0 - 0", None),
            ("1. e4", None),
            ("1... e5", None),
            ("1/2-", None),
            ("1/2 - x", None),
            ("1", None),
            ("0", None),
            ("1-0-0", None),
            ("1:0:05", None),
            ("0-05", None),
            ("1-0x", None),
            ("+--", None),
            ("", None),
        ] {
            assert_eq!(Verdict::at_beginning(text.as_bytes()), expected, "{text}");
        }
        let long = format!("0.{}-1", "0".repeat(100));
        assert_eq!(Verdict::at_beginning(long.as_bytes()), None);
    }

    #[test]
    fn points_of_white_are_results() {
        let [white, black, draw] = [Outcome::White, Outcome::Black, Outcome::Draw].map(Verdict::Outcome);
        for (text, expected) in [
            ("1.0", Some(white)),
            ("1.00", Some(white)),
            ("0.5", Some(draw)),
            (".5", Some(draw)),
            ("0.500", Some(draw)),
            ("0.0", Some(black)),
            ("0.000000", Some(black)),
            ("1", None),
            ("0", None),
            ("½", None),
            ("0.7", None),
            ("1.5", None),
            ("0.05", None),
            ("1.", None),
            (".", None),
            ("-1.0", None),
            ("", None),
        ] {
            assert_eq!(Verdict::of_score(text.as_bytes()), expected, "{text}");
        }
    }
}
