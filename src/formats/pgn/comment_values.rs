//! Values in comments, of commands such as `[%eval …]` and of engines: evaluations and clocks, as numbers.

use crate::table::MOST_CENTIPAWNS;

/// The longest mate that is distinguished from longer ones.
pub(in crate::formats) const LONGEST_MATE: u16 = 1000;
/// In [packed](Eval::packed) numbers, mates are beyond the largest centipawns, so that a row has one number.
const MATED: i16 = i16::MAX;
/// The packed number of no evaluation.
pub(super) const NO_SCORE: i16 = i16::MIN;
const _: () = assert!(MOST_CENTIPAWNS + LONGEST_MATE < MATED as u16);
/// The limit for clocks: real ones are shorter.
pub(super) const LONGEST_CLOCK: u32 = u32::MAX;

/// An engine's evaluation of a position, from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eval {
    Centipawns(i16),
    /// Moves to mate; negative if Black mates.
    Mate(i16),
    /// One beyond the range of scores or mates; the [packed](Eval::packed) number is that of the last one in the range.
    Beyond(i16),
}

impl Eval {
    /// The evaluation from the other side's view.
    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Centipawns(score) => Self::Centipawns(-score),
            Self::Mate(moves) => Self::Mate(-moves),
            Self::Beyond(packed) => Self::Beyond(-packed),
        }
    }
    /// A mate in this number of moves, or in the most that are distinguished.
    pub(super) fn mate(black_mates: bool, moves: u64) -> Self {
        let mate = Self::Mate(mate_in(black_mates, moves));
        if moves > LONGEST_MATE.into() { Self::Beyond(mate.packed()) } else { mate }
    }
    /// One number for both; [`mate_of`] separates them again.
    pub(super) fn packed(self) -> i16 {
        match self {
            Self::Centipawns(score) | Self::Beyond(score) => score,
            Self::Mate(0) => MATED,
            Self::Mate(moves) => moves + moves.signum() * MOST_CENTIPAWNS as i16,
        }
    }
}

/// Whether a packed number means centipawns.
pub(super) fn is_score(packed: i16) -> bool {
    packed.unsigned_abs() <= MOST_CENTIPAWNS
}

/// The mate in a packed number; [`NO_SCORE`] if it is not a mate.
pub(super) fn mate_of(packed: i16) -> i16 {
    const LEAST: i16 = MOST_CENTIPAWNS as i16 + 1;
    match packed {
        MATED => 0,
        LEAST.. => packed - LEAST + 1,
        NO_SCORE => NO_SCORE,
        _ if packed <= -LEAST => packed + LEAST - 1,
        _ => NO_SCORE,
    }
}

/// Whether a number is negative, and the text after its sign. Minus signs are also U+2212, the en dash, and that of
/// Windows-1252.
#[inline]
pub(super) fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'+', rest @ ..] => (false, rest),
        [b'-' | 0x96, rest @ ..] | [0xE2, 0x88, 0x92, rest @ ..] | [0xE2, 0x80, 0x93, rest @ ..] => (true, rest),
        _ => (false, text),
    }
}

/// The text after the sign of a mate: `#`, `M`, or `mate`.
pub(super) fn mate_sign(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'm' | b'M', b'a' | b'A', b't' | b'T', b'e' | b'E', rest @ ..] => Some(rest.trim_ascii_start()),
        [b'#' | b'M', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Whether a value of `[%eval …]` is complete in itself, without a depth.
pub(super) fn is_whole(value: &[u8]) -> bool {
    !value.iter().any(|byte| matches!(byte, b',' | b'/') || byte.is_ascii_whitespace())
}

/// Whether a value of `[%eval …]` is what ChessBase writes if there is no evaluation: out of range, with depth zero.
pub(super) fn is_no_eval(value: &[u8]) -> bool {
    number(sign(value).1).is_some_and(|(cents, rest)| cents > MOST_CENTIPAWNS.into() && rest == b",0")
}

/// The value of `[%eval …]`, from White's view: pawns with decimals, or `#` and a number of moves, negative
/// if Black mates.
pub(super) fn eval(value: &[u8]) -> Option<Eval> {
    let (negative, digits) = sign(value);
    if let Some(moves) = mate_sign(digits) {
        let (inner, moves) = sign(moves);
        let (moves, rest) = number(moves)?;
        ends(rest)?;
        return Some(Eval::mate(negative ^ inner, moves.into()));
    }
    // ChessBase: centipawns and a depth. Its largest numbers mean mates, or that there is no evaluation.
    let (whole, rest) = whole(digits)?;
    if let [b',', b'0'..=b'9', ..] = rest {
        let cents = i16::try_from(whole).ok()?;
        let known = cents.unsigned_abs() <= MOST_CENTIPAWNS;
        return known.then_some(Eval::Centipawns(if negative { -cents } else { cents }));
    }
    with_decimals(negative, whole, rest)
}

/// An evaluation in pawns, with decimals or not.
pub(super) fn pawns(negative: bool, digits: &[u8]) -> Option<Eval> {
    let (whole, rest) = whole(digits)?;
    with_decimals(negative, whole, rest)
}

/// The whole pawns, whose digits may be missing before a point, and the text after them.
#[inline(always)]
fn whole(digits: &[u8]) -> Option<(u32, &[u8])> {
    match digits {
        [b'.', b'0'..=b'9', ..] => Some((0, digits)),
        _ => number(digits),
    }
}

/// Whole pawns plus the decimals that follow them.
fn with_decimals(negative: bool, whole: u32, mut rest: &[u8]) -> Option<Eval> {
    let mut cents = 0;
    if let [point @ (b'.' | b','), decimals @ ..] = rest
        && (*point == b'.' || decimals.first().is_some_and(u8::is_ascii_digit))
    {
        let mut worth = 10;
        rest = decimals;
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            cents += u32::from(digit - b'0') * worth;
            worth /= 10;
            rest = after;
        }
    }
    ends(rest)?;
    let all = whole.saturating_mul(100).saturating_add(cents);
    let total = all.min(MOST_CENTIPAWNS.into()) as i16;
    let total = if negative { -total } else { total };
    Some(if all > MOST_CENTIPAWNS.into() { Eval::Beyond(total) } else { Eval::Centipawns(total) })
}

/// Moves to mate, negative if Black mates.
pub(in crate::formats) fn mate_in(black_mates: bool, moves: u64) -> i16 {
    let moves = moves.min(LONGEST_MATE.into()) as i16;
    if black_mates { -moves } else { moves }
}

/// The value of `[%clk h:mm:ss]` in the form of nearly all files: one digit for the hours, and no decimals.
#[inline(always)]
pub(super) fn plain_clock(text: &[u8]) -> Option<u32> {
    let [h, b':', m, n, b':', s, t, b']', ..] = *text else {
        return None;
    };
    let digits = [h, m, n, s, t].map(|byte| u32::from(byte.wrapping_sub(b'0')));
    let [h, m, n, s, t] = digits;
    let seconds = (h * 60 + m * 10 + n) * 60 + s * 10 + t;
    digits.iter().all(|&digit| digit < 10).then_some(seconds * 100)
}

/// The value of `[%clk h:mm:ss]`, with decimals or not, in hundredths of a second.
pub(super) fn clock(value: &[u8]) -> Option<u32> {
    let mut total = 0u32;
    let mut rest = value;
    let mut parts = 0;
    for part in 0.. {
        parts = part + 1;
        let (number, after) = number(rest)?;
        total = total.checked_mul(60)?.checked_add(number)?;
        match after {
            [b':', after @ ..] if part < 2 => rest = after,
            _ => {
                rest = after;
                break;
            }
        }
    }
    let mut hundredths = 0;
    if let [b'.', decimals @ ..] = rest {
        let len = decimals.iter().take_while(|b| b.is_ascii_digit()).count();
        // Live boards write `h:mm.ss`.
        if let ([tens, ones], 2) = (&decimals[..len], parts) {
            ends(&decimals[2..])?;
            let seconds = u32::from(tens - b'0') * 10 + u32::from(ones - b'0');
            let [.., b':', m, n, b'.', _, _] = value[..value.len() - decimals.len() + 2] else {
                return None;
            };
            let is_time = m.is_ascii_digit() && n.is_ascii_digit() && m < b'6' && seconds < 60;
            let total = total.checked_mul(60)?.checked_add(seconds)?;
            return total.checked_mul(100).filter(|_| is_time);
        }
        for (digit, worth) in decimals[..len].iter().zip([10, 1]) {
            hundredths += u32::from(digit - b'0') * worth;
        }
        rest = &decimals[len..];
    }
    ends(rest)?;
    total.checked_mul(100)?.checked_add(hundredths)
}

/// The leading digits and the text after them.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut number = 0u32;
    for digit in &text[..len] {
        number = number.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
    }
    (len > 0).then_some((number, &text[len..]))
}

/// Whether a value may end before this text; ChessBase and others append a depth after a comma.
fn ends(rest: &[u8]) -> Option<()> {
    rest.first().is_none_or(|byte| matches!(byte, b',' | b'/') || byte.is_ascii_whitespace()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_commands() {
        for (text, expected) in [
            ("0.17", Some(Eval::Centipawns(17))),
            ("-1.2", Some(Eval::Centipawns(-120))),
            ("+3", Some(Eval::Centipawns(300))),
            ("0.35,18", Some(Eval::Centipawns(35))),
            ("35,21", Some(Eval::Centipawns(35))),
            ("-140,9", Some(Eval::Centipawns(-140))),
            ("0,12", Some(Eval::Centipawns(0))),
            ("32766,0", None),
            ("99999,1", None),
            ("3,", Some(Eval::Centipawns(300))),
            ("0.35\n18", Some(Eval::Centipawns(35))),
            ("310.00", Some(Eval::Centipawns(31_000))),
            ("310.01", Some(Eval::Beyond(31_000))),
            ("400.00", Some(Eval::Beyond(31_000))),
            ("-99999999", Some(Eval::Beyond(-31_000))),
            ("#3", Some(Eval::Mate(3))),
            ("#-12", Some(Eval::Mate(-12))),
            ("#+1", Some(Eval::Mate(1))),
            ("#0", Some(Eval::Mate(0))),
            ("#-0", Some(Eval::Mate(0))),
            ("#1000", Some(Eval::Mate(1000))),
            ("#5000", Some(Eval::Beyond(32_000))),
            ("#-5000", Some(Eval::Beyond(-32_000))),
            ("#", None),
            ("#x", None),
            ("1.5x", None),
            (".5", Some(Eval::Centipawns(50))),
            ("-.25,12", Some(Eval::Centipawns(-25))),
            (".", None),
            ("M3", Some(Eval::Mate(3))),
            ("-M3", Some(Eval::Mate(-3))),
            ("mate4", Some(Eval::Mate(4))),
            ("mate -4", Some(Eval::Mate(-4))),
            ("-#2", Some(Eval::Mate(-2))),
            ("−0.5", Some(Eval::Centipawns(-50))),
            ("−12,20", Some(Eval::Centipawns(-12))),
            ("", None),
        ] {
            assert_eq!(eval(text.as_bytes()), expected, "{text}");
        }
        for (text, expected) in [
            ("0:05:00", Some(30_000)),
            ("0:04:59.5", Some(29_950)),
            ("0:00:01.234", Some(123)),
            ("1:00", Some(6_000)),
            ("90", Some(9_000)),
            ("0:05:00\n", Some(30_000)),
            ("1.55:05", None),
            ("0:15.17", Some((15 * 60 + 17) * 100)),
            ("1:02.09", Some((62 * 60 + 9) * 100)),
            ("0:15.60", None),
            ("0:75.17", None),
            ("0:5.17", None),
            ("4:59.5", Some(29_950)),
            ("4:59.512", Some(29_951)),
            ("0:05:0x", None),
            ("0:05:00.x", None),
            ("0:05:", None),
            ("-1:00", None),
            ("0:01:02:03", None),
        ] {
            assert_eq!(clock(text.as_bytes().trim_ascii()), expected, "{text}");
        }
        for text in ["0:05:00]", "9:59:59] }", "1:00:0:]", "1:00:00", "/:00:00]", ""] {
            let value = text.split(']').next().unwrap_or_default();
            let expected = text.contains(']').then(|| clock(value.as_bytes())).flatten();
            assert_eq!(plain_clock(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn scores_and_mates_in_one_number() {
        for score in [0, 1, -1, 31_000, -31_000] {
            let packed = Eval::Centipawns(score).packed();
            assert_eq!((packed, mate_of(packed)), (score, NO_SCORE));
        }
        for moves in [0, 1, -1, 7, -7, 1000, -1000] {
            assert_eq!(mate_of(Eval::Mate(moves).packed()), moves);
        }
        assert_eq!(mate_of(NO_SCORE), NO_SCORE);
        for black_mates in [false, true] {
            assert_eq!(mate_of(Eval::mate(black_mates, 5000).packed()), if black_mates { -1000 } else { 1000 });
            assert_eq!(
                mate_of(Eval::mate(black_mates, 5000).reversed().packed()),
                if black_mates { 1000 } else { -1000 }
            );
        }
    }
}
