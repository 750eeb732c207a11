//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 game`, `2,000 games`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// Three digits and a unit: `3.21 M`, `18.0 k`, `214`.
pub fn short(number: f64) -> String {
    let (scaled, unit) = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")]
        .into_iter()
        .find(|&(unit, _)| number >= unit)
        .map_or((number, ""), |(by, unit)| (number / by, unit));
    let decimals = match scaled {
        _ if unit.is_empty() => 0,
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$}{unit}")
}

/// A number of bytes, in powers of 1024: `843 KiB`, `1.20 GiB`, `12 B`.
pub fn bytes(number: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut scaled = number;
    let mut unit = 0;
    // After rounding, 1023.9 would be written as 1024.
    while scaled >= 1023.5 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let decimals = match scaled {
        _ if unit == 0 => 0,
        99.95.. => 0,
        9.995.. => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$} {}", UNITS[unit])
}

/// A ratio in percent, with as many decimals as needed for a visible digit.
pub fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => percentage(part as f64 / whole as f64 * 100.0),
    }
}

/// A number of percent, with as many decimals as needed for a visible digit.
pub fn percentage(share: f64) -> String {
    match share {
        0.0 => "0 %".to_owned(),
        ..0.001 => "< 0.001 %".to_owned(),
        ..0.1 => format!("{share:.3} %"),
        99.95..100.0 => "> 99.9 %".to_owned(),
        100.0 => "100 %".to_owned(),
        _ => format!("{share:.1} %"),
    }
}

/// A number of one decimal, with a real minus sign; without the decimal if it is zero or says little.
pub fn decimal(number: f64) -> String {
    let decimals = usize::from(number.abs() < 999.95);
    let text = format!("{number:.decimals$}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    match text {
        "-0" => "0".to_owned(),
        _ => text.replace('-', "−"),
    }
}

/// A whole number in decimal, with or without a sign; beyond a million it is a million. `None` if the text is something else.
#[inline]
pub fn whole(text: &[u8]) -> Option<i32> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number = 0i32;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = (10 * number + i32::from(digit)).min(1_000_000);
    }
    Some(if is_negative { -number } else { number })
}

/// A number of exactly one decimal, for columns.
pub fn tenths(number: f64) -> String {
    match format!("{number:.1}") {
        zero if zero == "-0.0" => "0.0".to_owned(),
        text => text.replace('-', "−"),
    }
}

/// An integer with a real minus sign; five digits and more are grouped.
pub fn signed(number: i64) -> String {
    let sign = if number < 0 { "−" } else { "" };
    match number.unsigned_abs() {
        small @ ..10_000 => format!("{sign}{small}"),
        large => format!("{sign}{}", grouped(large)),
    }
}

/// The whole number that a person wrote as `1000000`, `1_000_000`, `1e6` or `1M`, where `k`, `M`, `G` and `T` are
/// powers of a thousand; `None` if it is not a whole number, or too large.
pub fn parse_count(text: &str) -> Option<u64> {
    let (number, suffix) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 3),
        (at, 'm' | 'M') => (&text[..at], 6),
        (at, 'g' | 'G') => (&text[..at], 9),
        (at, 't' | 'T') => (&text[..at], 12),
        _ => (text, 0),
    };
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) if suffix == 0 => (mantissa, exponent.strip_prefix('+').unwrap_or(exponent)),
        Some(_) => return None,
        None => (number, "0"),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = suffix + Some(exponent).filter(|exponent| is_digits(exponent))?.parse::<usize>().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let groups = whole.split('_');
    if !groups.clone().all(is_digits) || !(fraction.is_empty() || is_digits(fraction)) || mantissa.ends_with('.') {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let zeros = exponent.checked_sub(fraction.len())?;
    // Beyond that, only zero is small enough.
    let padded = groups.collect::<String>() + fraction + &"0".repeat(zeros.min(20));
    let digits = padded.trim_start_matches('0');
    if digits.is_empty() { Some(0) } else { digits.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_those_of_the_standard_library() {
        for text in [
            "0",
            "7",
            "-7",
            "+7",
            "-0",
            "00012",
            "32767",
            "-32768",
            "32768",
            "99999999999",
            "",
            "-",
            "+",
            "--1",
            "1.5",
            "1e3",
        ] {
            let expected = text.parse::<i16>().ok();
            assert_eq!(whole(text.as_bytes()).and_then(|number| i16::try_from(number).ok()), expected, "{text}");
        }
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "game"), "1 game");
        assert_eq!(counted(0, "game"), "0 games");
        assert_eq!(short(214.0), "214");
        assert_eq!(short(3.214e9), "3.21 G");
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(1023.0), "1023 B");
        assert_eq!(bytes(1023.9), "1.00 KiB");
        assert_eq!(bytes(1024.0 * 1024.0 * 10.0), "10.0 MiB");
        assert_eq!(bytes(863_232.0), "843 KiB");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(1, 10_000), "0.010 %");
        assert_eq!(percent(0, 0), "–");
        assert_eq!(percent(7, 7), "100 %");
        assert_eq!(percent(99_999, 100_000), "> 99.9 %");
        assert_eq!(decimal(-0.04), "0");
        assert_eq!(decimal(-2.25), "−2.2");
        assert_eq!(decimal(31.0), "31");
        assert_eq!(decimal(-1645.07), "−1645");
        assert_eq!(tenths(-0.04), "0.0");
        assert_eq!(tenths(-31.0), "−31.0");
        assert_eq!(signed(-50), "−50");
        assert_eq!(signed(2750), "2750");
        assert_eq!(signed(-19_244), "−19,244");
    }

    #[test]
    fn numbers_as_people_write_them() {
        for (text, number) in [
            ("0", 0),
            ("007", 7),
            ("1000", 1000),
            ("1_000_000", 1_000_000),
            ("1e6", 1_000_000),
            ("1E+6", 1_000_000),
            ("2.5e3", 2500),
            ("1.50k", 1500),
            ("10k", 10_000),
            ("1M", 1_000_000),
            ("0.5m", 500_000),
            ("3G", 3_000_000_000),
            ("2t", 2_000_000_000_000),
            ("0e999999999", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Some(number), "{text}");
        }
        for text in [
            "",
            "k",
            "e6",
            "1e",
            "1e-3",
            "-1",
            "+1",
            "1.5",
            "1.",
            ".5",
            "1.5e0",
            "1__0",
            "_1",
            "1_",
            "1e6k",
            "1ee6",
            "0x10",
            "1,000",
            "1 000",
            "1Mi",
            "1MB",
            "18446744073709551616",
            "1e20",
            "1e99999999999999999999",
            "1é",
            "é",
            "١",
        ] {
            assert!(parse_count(text).is_none(), "{text}");
        }
    }
}
