//! Numbers of records and of bytes as people write them: `1000000`, `1_000_000`, `1e6`, `1M`; `64K`, `2GiB`.

/// A whole number, with `_` between digits, with an exponent, or with `k`, `M`, `G` or `T` for a power of a thousand.
pub(super) fn count(text: &str) -> Result<u64, String> {
    parse(text).ok_or_else(|| {
        format!("`{text}` is not a whole number up to 18 quintillion; write 1000000, 1_000_000, 1e6 or 1M, for example")
    })
}

fn parse(text: &str) -> Option<u64> {
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

/// A number of bytes: `65536`, `64K`, `16M`, `2GiB`; the units are powers of 1024.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err("the units are K, M and G".to_owned()),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|&size| size > 0)
        .ok_or_else(|| "expected a size such as 65536, 64K, 16M or 2G".to_owned())
}

/// The size of a record: offsets within a chunk have 32 bits.
pub(super) fn record_size(text: &str) -> Result<usize, String> {
    usize::try_from(size(text)?)
        .ok()
        .filter(|&size| (64..=1 << 30).contains(&size))
        .ok_or_else(|| "expected at least 64 bytes and at most 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(count(text), Ok(number), "{text}");
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
            assert!(count(text).is_err(), "{text}");
        }
    }
}
