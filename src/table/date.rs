//! Dates as they occur in games: in several orders, and with unknown parts.

use std::cmp::Ordering;
use std::fmt;

/// A day, month or year of the Gregorian calendar, as far as it is known.
///
/// The year comes first (`2025.05.01`, `2025-5-1`, `2025/05/01`, `20250501`, `2025.05`, `2025`) or last. A year
/// that comes last follows the month, which follows the day, if dots separate them (`01.05.2025`); with other
/// separators the order must be clear from the numbers (`31/12/2025`, `12/31/2025`). Question marks, zeros and
/// missing parts are unknown.
///
/// ```
/// use lanefish::games::Date;
/// let day: Date = "2025-12-31".parse().unwrap();
/// assert_eq!("31.12.2025".parse(), Ok(day));
/// assert!("5/3/2025".parse::<Date>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct Date {
    year: u16,
    month: Option<u8>,
    /// Unknown if the month is unknown.
    day: Option<u8>,
}

impl Date {
    /// Parses a date, perhaps followed by a time. `None` if it cannot be parsed.
    pub fn parse(text: &[u8]) -> Option<Self> {
        // Nearly all dates are written so.
        let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'?';
        if let [year @ .., b'.', m1, m2, b'.', d1, d2] = text
            && year.len() == 4
            && [m1, m2, d1, d2].into_iter().all(is_digit)
        {
            return Self::of_parts(year, &[*m1, *m2], &[*d1, *d2]);
        }
        let text = std::str::from_utf8(text).ok()?.trim_ascii();
        let text = text.split([' ', 'T']).next()?;
        if let [year @ .., m1, m2, d1, d2] = text.as_bytes()
            && text.len() == 8
            && text.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Self::of_parts(year, &[*m1, *m2], &[*d1, *d2]);
        }
        let parts: Vec<&[u8]> = text.split(['.', '-', '/']).map(str::as_bytes).collect();
        let dotted = !text.contains(['-', '/']);
        let number = |part: &[u8]| Part::parse(part)?.known();
        match *parts.as_slice() {
            [year] => Self::of_parts(year, b"", b""),
            [year, month] => Self::of_parts(year, month, b""),
            [year, month, day] if year.len() == 4 => Self::of_parts(year, month, day),
            [first, second, year] => match (number(first), number(second)) {
                (Some(_), Some(13..)) => Self::of_parts(year, first, second),
                (Some(13..), Some(_)) => Self::of_parts(year, second, first),
                (Some(day), Some(month)) if day == month => Self::of_parts(year, second, first),
                _ if dotted => Self::of_parts(year, second, first),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_parts(year: &[u8], month: &[u8], day: &[u8]) -> Option<Self> {
        let is_year = year.len() == 4 && year.iter().all(u8::is_ascii_digit);
        let year = std::str::from_utf8(year).ok().filter(|_| is_year)?;
        let year = year.parse().ok().filter(|&year| year > 0)?;
        let month = Part::parse(month)?.known();
        let day = Part::parse(day)?.known().filter(|_| month.is_some());
        let days = match month {
            None => 0,
            Some(4 | 6 | 9 | 11) => 30,
            Some(2) if year % 4 != 0 || (year % 100 == 0 && year % 400 != 0) => 28,
            Some(2) => 29,
            Some(1..=12) => 31,
            Some(_) => return None,
        };
        (day.unwrap_or(0) <= days).then_some(Self { year, month, day })
    }

    /// Whether a text says that the date is unknown, rather than being one that cannot be parsed.
    pub(crate) fn is_unknown(text: &[u8]) -> bool {
        text.iter().all(|byte| b"?.-/0 \t".contains(byte))
    }

    /// The year and the month as `YYYY.MM`, or the year as `YYYY` if the month is unknown.
    pub(crate) fn month_text(self) -> String {
        let year = self.year;
        self.month.map_or_else(|| format!("{year:04}"), |month| format!("{year:04}.{month:02}"))
    }

    /// The year, from 1 to 9999.
    pub const fn year(self) -> u16 {
        self.year
    }

    /// The month, from 1 to 12, if it is known.
    pub const fn month(self) -> Option<u8> {
        self.month
    }

    /// The day of the month, if it is known.
    pub const fn day(self) -> Option<u8> {
        self.day
    }

    /// Days since 1970-01-01, if month and day are known.
    pub fn days(self) -> Option<i32> {
        let (year, month, day) = (i32::from(self.year), i32::from(self.month?), i32::from(self.day?));
        // Years that begin in March, so that the leap day is the last day of the year.
        let (year, month) = match month {
            1 | 2 => (year - 1, month + 9),
            _ => (year, month - 3),
        };
        let day_of_year = (153 * month + 2) / 5 + day - 1;
        let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year;
        // From 0000-03-01 to 1970-01-01.
        Some(days - 719_468)
    }

    /// The day of a number of days since 1970-01-01; `None` outside the years 1 to 9999.
    pub fn of_days(days: i32) -> Option<Self> {
        // Years that begin in March, from 0000-03-01 on, by their place in 400 years.
        let days = i64::from(days) + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (year, month) = match month {
            10.. => (year + 1, month - 9),
            _ => (year, month + 3),
        };
        let year = u16::try_from(400 * era + year).ok();
        Some(Self {
            year: year.filter(|year| (1..=9999).contains(year))?,
            month: u8::try_from(month).ok(),
            day: u8::try_from(day).ok(),
        })
    }

    /// Compares the parts that are known in both dates.
    pub(crate) fn compare_known(self, other: Self) -> Ordering {
        let known = |ours: Option<u8>, other: Option<u8>| match (ours, other) {
            (Some(ours), Some(other)) => ours.cmp(&other),
            _ => Ordering::Equal,
        };
        self.year.cmp(&other.year).then(known(self.month, other.month)).then(known(self.day, other.day))
    }
}

impl fmt::Display for Date {
    /// The PGN form: `YYYY.MM.DD`, with question marks for unknown parts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        for part in [self.month, self.day] {
            match part {
                Some(number) => write!(f, ".{number:02}")?,
                None => f.write_str(".??")?,
            }
        }
        Ok(())
    }
}

/// A month or a day of a date.
enum Part {
    Known(u8),
    Unknown,
}

impl Part {
    /// `None` if it is neither a number nor unknown.
    fn parse(text: &[u8]) -> Option<Self> {
        match text {
            b"" | b"?" | b"??" | b"0" | b"00" => Some(Self::Unknown),
            [b'0'..=b'9', b'?'] | [b'?', b'0'..=b'9'] => Some(Self::Unknown),
            [digit @ b'0'..=b'9'] => Some(Self::Known(digit - b'0')),
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some(Self::Known((tens - b'0') * 10 + ones - b'0')),
            _ => None,
        }
    }

    fn known(self) -> Option<u8> {
        match self {
            Self::Known(number) => Some(number),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(date: &str) -> Option<i32> {
        Date::parse(date.as_bytes())?.days()
    }

    #[test]
    fn dates_are_days() {
        for (date, expected) in [
            ("1970.01.01", Some(0)),
            ("1969.12.31", Some(-1)),
            ("2000.02.29", Some(11_016)),
            ("2000.03.01", Some(11_017)),
            ("2026.11.22", Some(20_779)),
            ("1900.02.29", None),
            ("2023.??.??", None),
            ("2023.02.30", None),
            ("2023.04.31", None),
            ("0000.01.01", None),
            ("2023.13.01", None),
            ("2023.1", None),
            ("2023.01.01.01", None),
            ("+2023.01.01", None),
            ("", None),
        ] {
            assert_eq!(days(date), expected, "{date}");
        }
        let mut last = days("1899.12.31").unwrap();
        for year in 1900..2100 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(days) = days(&format!("{year}.{month:02}.{day:02}")) {
                        assert_eq!(days, last + 1);
                        last = days;
                    }
                }
            }
        }
        assert_eq!(Some(last), days("2099.12.31"));
        for day in (-719_162..2_932_897).step_by(17).chain([-719_162, 2_932_896]) {
            let date = Date::of_days(day).unwrap();
            assert_eq!(date.days(), Some(day));
            assert_eq!(days(&date.to_string()), Some(day));
        }
        assert_eq!(Date::of_days(2_932_896).unwrap().to_string(), "9999.12.31");
        for day in [-719_163, 2_932_897, i32::MIN, i32::MAX] {
            assert_eq!(Date::of_days(day), None);
        }
        assert_eq!(Date::parse(b"1997").unwrap().to_string(), "1997.??.??");
    }

    /// A blank at the end is no part of a date, but of no usual one either.
    #[test]
    fn usual_dates_are_read_as_others_are() {
        let mut random = crate::chess::random::Random::new(7);
        let mut dates = 0;
        for _ in 0..200_000 {
            let text: Vec<u8> = b"2025.12.31"
                .iter()
                .map(|&byte| match random.below(8) {
                    0 => b"0123459?.-/T x"[random.below(14) as usize],
                    _ => byte,
                })
                .collect();
            let date = Date::parse(&text);
            assert_eq!(date, Date::parse(&[&text, &b" "[..]].concat()), "{}", String::from_utf8_lossy(&text));
            dates += u32::from(date.is_some());
        }
        assert!(dates > 10_000);
    }

    #[test]
    fn months_are_those_of_the_dates() {
        for (date, expected) in [
            ("2023.04.22", Some("2023.04")),
            ("2023-04-22", Some("2023.04")),
            ("2023/04/22", Some("2023.04")),
            ("22.04.2023", Some("2023.04")),
            ("04/22/2023", Some("2023.04")),
            ("2023.4.2", Some("2023.04")),
            ("20230422", Some("2023.04")),
            ("2023.04", Some("2023.04")),
            ("2023-04-22T10:00:00Z", Some("2023.04")),
            ("2023.??.??", Some("2023")),
            ("2023.0.0", Some("2023")),
            ("2023", Some("2023")),
            ("0987.12.01", Some("0987.12")),
            ("22 Apr 2023", None),
            ("23.04.22", None),
            ("2023.04.31", None),
            ("2023.13.01", None),
            ("2023 spring", Some("2023")),
            ("05/03/2023", None),
            ("????.??.??", None),
        ] {
            let month = Date::parse(date.as_bytes()).map(Date::month_text);
            assert_eq!(month.as_deref(), expected, "{date}");
        }
        for unknown in ["", "?", "????.??.??", "0000.00.00", "----", "??/??/????", "-"] {
            assert!(Date::is_unknown(unknown.as_bytes()), "{unknown}");
            assert_eq!(Date::parse(unknown.as_bytes()), None, "{unknown}");
        }
        for other in ["22 Apr 2023", "2023.13.01", "today"] {
            assert!(!Date::is_unknown(other.as_bytes()), "{other}");
        }
    }
}
