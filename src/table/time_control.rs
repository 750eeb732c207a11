//! Time controls, as games have them in their tags: the one parser for the column `speed` and for selecting games.
//!
//! The forms are those of the standard of PGN, and those of programs that mean the same:
//!
//! | tag | time |
//! | --- | --- |
//! | `-` | no clock |
//! | `600`, `300+3`, `0.1+0.001` | seconds, and more for each move |
//! | `300 + 3`, `300\|3` | the same |
//! | `1:30:00+0:30`, `5:00` | hours, minutes and seconds, or minutes and seconds |
//! | `40/7200:3600`, `40/5400+30:1800+30` | seconds for moves, then for the rest of the game |
//! | `1/60`, `20/600` | seconds for moves, again and again |
//! | `*180` | an hourglass |
//!
//! A colon may divide periods or the parts of a time. It is one of a time if two parts of two digits follow the hours, or
//! one follows minutes that no number of moves precedes; after a number of moves, minutes may end in `:00`, because no
//! period has 0 seconds.

use super::Speed;

/// A time control that could be parsed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Control {
    /// There is no clock.
    NoClock,
    /// One or more periods.
    Periods(Vec<Period>),
}

/// A part of a time control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Period {
    /// The number of moves; `None` means the rest of the game.
    moves: Option<f64>,
    seconds: f64,
    /// Seconds that a move adds.
    increment: f64,
    is_hourglass: bool,
}

impl Control {
    /// Parses a tag; `None` if the time control is unknown or cannot be parsed.
    pub(crate) fn parse(tag: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(tag).ok()?.trim_ascii();
        if text == "-" {
            return Some(Self::NoClock);
        }
        let mut periods = Vec::new();
        let mut rest = text;
        loop {
            let (period, after) = period(rest)?;
            periods.push(period);
            match after.strip_prefix(':') {
                Some(next) => rest = next,
                None if after.is_empty() => return Some(Self::Periods(periods)),
                None => return None,
            }
        }
    }

    /// Whether a tag can be parsed.
    pub(crate) fn can_parse(tag: &[u8]) -> bool {
        let are_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        // Nearly all are written so.
        let is_usual = match tag.iter().position(|byte| *byte == b'+') {
            Some(at) => are_digits(&tag[..at]) && are_digits(&tag[at + 1..]),
            None => are_digits(tag),
        };
        is_usual || Self::parse(tag).is_some()
    }

    /// Whether a tag says that the time control is unknown, rather than being one that cannot be parsed.
    pub(crate) fn is_unknown(tag: &[u8]) -> bool {
        tag.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b'?')
    }

    /// The first period.
    fn first(&self) -> Option<&Period> {
        match self {
            Self::NoClock => None,
            Self::Periods(periods) => periods.first(),
        }
    }

    /// The time at the beginning, in whole seconds.
    pub(crate) fn base(&self) -> Option<u32> {
        whole_seconds(self.first()?.seconds)
    }

    /// What a move of the first period adds, in whole seconds.
    pub(crate) fn increment(&self) -> Option<u32> {
        whole_seconds(self.first()?.increment)
    }

    /// The number of moves of the first period, if it has one.
    pub(crate) fn moves_per_period(&self) -> Option<u16> {
        let moves = self.first()?.moves?;
        (moves.fract() == 0.0 && moves <= u16::MAX.into()).then_some(moves as u16)
    }

    /// The class, by the time that a player has for forty moves.
    pub(crate) fn speed(&self) -> Speed {
        let Self::Periods(periods) = self else {
            return Speed::Correspondence;
        };
        const HOUR: f64 = 3600.0;
        if periods.iter().any(|period| period.moves.is_some_and(|moves| period.seconds >= HOUR * moves)) {
            return Speed::Correspondence;
        }
        const MOVES: f64 = 40.0;
        let mut seconds: f64 = periods.iter().map(|period| period.seconds).sum();
        // A last period with a number of moves is repeated.
        let moves: Option<f64> = periods.iter().map(|period| period.moves).sum();
        if let (Some(moves), Some(last)) = (moves, periods.last()) {
            let more = (MOVES - moves).max(0.0);
            seconds += last.moves.map_or(0.0, |of_last| more / of_last * last.seconds);
        }
        let increment = periods.iter().map(|period| period.increment).fold(0.0, f64::max);
        match seconds + MOVES * increment {
            ..30.0 => Speed::UltraBullet,
            ..180.0 => Speed::Bullet,
            ..480.0 => Speed::Blitz,
            ..1500.0 => Speed::Rapid,
            _ => Speed::Classical,
        }
    }
}

/// Seconds without their fraction, if they fit.
fn whole_seconds(seconds: f64) -> Option<u32> {
    (seconds < f64::from(u32::MAX) + 1.0).then_some(seconds as u32)
}

/// What the time used for moves is computed from: the first period of a time control with clocks that run down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeBudget {
    /// Microseconds: fractions of seconds are exact.
    base: i64,
    increment: i64,
    /// A side's move of this number, counted from 1, begins another period, and so does every later one.
    moves: Option<f64>,
}

impl TimeBudget {
    /// The budget of a `TimeControl` tag; `None` without clocks, with a sand clock, and in correspondence.
    pub(crate) fn of_tag(tag: &[u8]) -> Option<Self> {
        let control = Control::parse(tag)?;
        if control.speed() == Speed::Correspondence {
            return None;
        }
        let &Period { moves, seconds, increment, is_hourglass } = control.first()?;
        let microseconds = |seconds: f64| (seconds * 1e6).round() as i64;
        (!is_hourglass).then(|| Self { base: microseconds(seconds), increment: microseconds(increment), moves })
    }
}

/// The clock of a side during a game.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clocks {
    /// The clock after the last move, in centiseconds.
    last: Option<u32>,
    /// The side began with half of its time, and so has no increment: a *berserk* of Lichess' tournaments.
    is_berserk: bool,
}

impl Clocks {
    /// The time used for the next move of the side, in centiseconds, with the clock after it; `None` where it is not known.
    /// Lichess gives both sides their first move: a clock that has not run is a move without time.
    pub(crate) fn time_used(
        &mut self,
        budget: Option<TimeBudget>,
        ply: Option<u16>,
        clock: Option<u32>,
    ) -> Option<u32> {
        const CENTISECOND: i64 = 10_000;
        let before = std::mem::replace(&mut self.last, clock);
        let TimeBudget { base, increment, moves } = budget?;
        let clock = i64::from(clock?) * CENTISECOND;
        let is_first = ply.is_some_and(|ply| ply < 2);
        if is_first {
            self.is_berserk = 2 * clock == base;
            if self.is_berserk || clock == base {
                return Some(0).filter(|_| moves.is_none_or(|moves| moves > 1.0));
            }
        }
        // Without its number, a move may be one of another period.
        if moves.is_some_and(|moves| ply.is_none_or(|ply| f64::from(ply / 2 + 1) >= moves)) {
            return None;
        }
        let before = if is_first { base } else { i64::from(before?) * CENTISECOND };
        let added = if self.is_berserk { 0 } else { increment };
        let used = before.saturating_add(added).saturating_sub(clock);
        if used < 0 { None } else { u32::try_from(used / CENTISECOND).ok() }
    }
}

/// The period that a text begins with, and the text after it.
fn period(text: &str) -> Option<(Period, &str)> {
    let hourglass = text.strip_prefix('*');
    let text = hourglass.unwrap_or(text).trim_ascii_start();
    let (moves, rest) = match number(text) {
        Some((moves, rest)) if rest.starts_with('/') => (Some(moves).filter(|&moves| moves > 0.0)?.into(), &rest[1..]),
        _ => (None, text),
    };
    let (seconds, rest) = time(rest, if moves.is_some() { PartOf::Moves } else { PartOf::Game })?;
    let after = rest.trim_ascii_start();
    let (increment, rest) = match after.strip_prefix(['+', '|']) {
        Some(bonus) => time(bonus.trim_ascii_start(), PartOf::Increment)?,
        None => (0.0, after),
    };
    Some((Period { moves, seconds, increment, is_hourglass: hourglass.is_some() }, rest.trim_ascii()))
}

/// What a time is part of, which tells what colons in it mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartOf {
    /// The time for the game.
    Game,
    /// The time for a number of moves.
    Moves,
    /// An increment. It has minutes only if there are none: `0:30`.
    Increment,
}

/// Seconds, or hours, minutes and seconds, and the text after them.
fn time(text: &str, part_of: PartOf) -> Option<(f64, &str)> {
    let (first, rest) = number(text)?;
    let len = text.len() - rest.len();
    let is_short = len <= 2 && !text[..len].contains('.');
    let part = |text: &str| -> Option<f64> {
        let [b':', tens @ b'0'..=b'5', ones @ b'0'..=b'9', after @ ..] = text.as_bytes() else {
            return None;
        };
        let ends = after.first().is_none_or(|byte| !byte.is_ascii_digit() && !matches!(byte, b'.' | b'/'));
        ends.then(|| f64::from((tens - b'0') * 10 + (ones - b'0')))
    };
    let Some(second) = part(rest).filter(|_| is_short) else {
        return Some((first, rest));
    };
    let has_minutes = match part_of {
        PartOf::Game => true,
        PartOf::Moves => second == 0.0,
        PartOf::Increment => first == 0.0,
    };
    match part(&rest[3..]).filter(|_| part_of != PartOf::Increment) {
        Some(third) => Some(((first * 60.0 + second) * 60.0 + third, &rest[6..])),
        None if has_minutes => Some((first * 60.0 + second, &rest[3..])),
        None => Some((first, rest)),
    }
}

/// A number that may have decimals, and the text after it. Rust parses more than digits as numbers: `inf`, `1e9`.
fn number(text: &str) -> Option<(f64, &str)> {
    let len = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, rest) = text.split_at(len);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(seconds: f64, increment: f64) -> Option<Control> {
        Some(Control::Periods(vec![Period { moves: None, seconds, increment, is_hourglass: false }]))
    }

    #[test]
    fn times_have_several_forms() {
        for (tag, expected) in [
            ("600", one(600.0, 0.0)),
            ("180+2", one(180.0, 2.0)),
            ("300 + 3", one(300.0, 3.0)),
            ("300|3", one(300.0, 3.0)),
            (" 300+3 ", one(300.0, 3.0)),
            ("0.1+0.001", one(0.1, 0.001)),
            ("1:30:00+0:30", one(5400.0, 30.0)),
            ("1:30:00", one(5400.0, 0.0)),
            ("01:30:00 + 00:30", one(5400.0, 30.0)),
            ("5:00", one(300.0, 0.0)),
            ("5:00+0:03", one(300.0, 3.0)),
            ("90:00+30", one(5400.0, 30.0)),
            ("2:00:00 | 0:10", one(7200.0, 10.0)),
            ("-", Some(Control::NoClock)),
            ("?", None),
            ("", None),
            ("inf", None),
            ("1e9", None),
            ("60d0", None),
            ("10/move", None),
            ("0/600", None),
            ("300+", None),
            ("300+3x", None),
            ("10m + 0s", None),
            ("90 min + 30 sec", None),
            ("G/90;+30", None),
            ("1 in 5 days", None),
            ("15'/game & 10\"/move", None),
            ("1:30:00:", None),
            ("1.5.2", None),
        ] {
            assert_eq!(Control::parse(tag.as_bytes()), expected, "{tag}");
            assert_eq!(Control::can_parse(tag.as_bytes()), expected.is_some(), "{tag}");
        }
        assert_eq!(Control::parse(b"40/2:00:00:1:00:00"), Control::parse(b"40/7200:3600"));
        assert_eq!(Control::parse(b"40/90:00"), Control::parse(b"40/5400"));
        assert_eq!(Control::parse(b"40/5400+30:30+30"), Control::parse(b"40/5400 + 30 : 30 + 30"));
        assert_ne!(Control::parse(b"*180"), Control::parse(b"180"));
        assert!(Control::is_unknown(b"?") && Control::is_unknown(b"") && !Control::is_unknown(b"-"));
    }

    #[test]
    fn bases_and_increments_are_those_of_the_first_period() {
        for (tag, expected) in [
            ("300+3", (Some(300), Some(3), None)),
            ("0+1", (Some(0), Some(1), None)),
            ("40/7200:3600", (Some(7200), Some(0), Some(40))),
            ("1/86400", (Some(86_400), Some(0), Some(1))),
            ("*60", (Some(60), Some(0), None)),
            ("10+0.1", (Some(10), Some(0), None)),
            ("1:30:00+0:30", (Some(5400), Some(30), None)),
            ("40/5400+30:1800+30", (Some(5400), Some(30), Some(40))),
            ("4294967295+1", (Some(u32::MAX), Some(1), None)),
            ("4294967296+1", (None, Some(1), None)),
            ("65536/60", (Some(60), Some(0), None)),
            ("-", (None, None, None)),
            ("?", (None, None, None)),
            ("300+", (None, None, None)),
            ("40/7200:", (None, None, None)),
            ("1e9", (None, None, None)),
        ] {
            let control = Control::parse(tag.as_bytes());
            let of = |value: fn(&Control) -> Option<u32>| control.as_ref().and_then(value);
            let moves = control.as_ref().and_then(Control::moves_per_period);
            assert_eq!((of(Control::base), of(Control::increment), moves), expected, "{tag}");
        }
    }

    #[test]
    fn times_used_are_differences_of_clocks() {
        for (tag, clocks, expected) in [
            ("300+3", &[30_000, 30_100, 29_000][..], &[Some(0), Some(200), Some(1400)][..]),
            ("300+3", &[29_900, 29_900], &[Some(400), Some(300)]),
            // Half of the time, without increments.
            ("300+3", &[15_000, 14_000, 14_100], &[Some(0), Some(1000), None]),
            ("300+3", &[30_300, 40_000, 30_000], &[Some(0), None, Some(10_300)]),
            ("0.29+0.01", &[10, 11], &[Some(20), Some(0)]),
            ("10+0.005", &[999], &[Some(1)]),
            ("3/60:30", &[5000, 4000, 7000, 6000], &[Some(1000), Some(1000), None, None]),
            ("1/60", &[6000], &[None]),
            ("*60", &[5000], &[None]),
            ("-", &[5000], &[None]),
            ("1/86400", &[5000], &[None]),
            ("?", &[5000], &[None]),
        ] {
            let budget = TimeBudget::of_tag(tag.as_bytes());
            let mut side = Clocks::default();
            let times: Vec<Option<u32>> = (0..)
                .zip(clocks)
                .map(|(number, &clock)| side.time_used(budget, Some(2 * number), Some(clock)))
                .collect();
            assert_eq!(times, expected, "{tag}");
        }
        let budget = TimeBudget::of_tag(b"60+0");
        let mut side = Clocks::default();
        assert_eq!(side.time_used(budget, Some(20), Some(3000)), None);
        assert_eq!(side.time_used(budget, Some(22), Some(2900)), Some(100));
        assert_eq!(side.time_used(budget, Some(24), None), None);
        assert_eq!(side.time_used(budget, Some(26), Some(2000)), None);
    }

    #[test]
    fn speeds_are_by_the_time_for_forty_moves() {
        for (tag, expected) in [
            ("1/1", Speed::Bullet),
            ("1/10", Speed::Blitz),
            ("1/30", Speed::Rapid),
            ("1/60", Speed::Classical),
            ("1/600", Speed::Classical),
            ("1/3600", Speed::Correspondence),
            ("1/86400", Speed::Correspondence),
            ("1/172800+0", Speed::Correspondence),
            ("20/600", Speed::Rapid),
            ("20/900", Speed::Classical),
            ("10/60", Speed::Blitz),
            ("40/240", Speed::Blitz),
            ("60/240", Speed::Blitz),
            ("40/7200:3600", Speed::Classical),
            ("40/5400+30:1800+30", Speed::Classical),
            ("40/90:30", Speed::Bullet),
            ("40/60+5:30+5", Speed::Blitz),
            ("20/60:20/60", Speed::Bullet),
            ("10/60:10/60", Speed::Blitz),
            ("1:30:00+0:30", Speed::Classical),
            ("5:00", Speed::Blitz),
            ("1:00", Speed::Bullet),
            ("3:00+0:02", Speed::Blitz),
            ("90+30", Speed::Rapid),
            ("3+2", Speed::Bullet),
            ("*180", Speed::Blitz),
            ("600", Speed::Rapid),
            ("0.1+0.001", Speed::UltraBullet),
            ("-", Speed::Correspondence),
        ] {
            assert_eq!(Speed::of_tag(tag.as_bytes()), Some(expected), "{tag}");
        }
    }
}
