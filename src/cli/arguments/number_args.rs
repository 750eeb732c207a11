//! Numbers of records and of bytes as people write them: `1000000`, `1_000_000`, `1e6`, `1M`; `64K`, `2GiB`.

use lanefish_core::text::numbers::parse_count;

/// A whole number, with `_` between digits, with an exponent, or with `k`, `M`, `G` or `T` for a power of a thousand.
pub(in crate::cli) fn count(text: &str) -> Result<u64, String> {
    parse_count(text).ok_or_else(|| {
        format!("`{text}` is not a whole number up to 18 quintillion; write 1000000, 1_000_000, 1e6 or 1M, for example")
    })
}

/// A number of bytes: `65536`, `64K`, `16M`, `2GiB`; the units are powers of 1024.
pub(in crate::cli) fn size(text: &str) -> Result<u64, String> {
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
pub(in crate::cli) fn record_size(text: &str) -> Result<usize, String> {
    usize::try_from(size(text)?)
        .ok()
        .filter(|&size| (64..=1 << 30).contains(&size))
        .ok_or_else(|| "expected at least 64 bytes and at most 1G".to_owned())
}

/// A time: `90s`, `30m`, `2h`, `1d`.
#[cfg(feature = "cluster")]
pub(in crate::cli) fn duration(text: &str) -> Result<std::time::Duration, String> {
    let wrong = || "expected a time such as 90s, 30m, 2h or 1d".to_owned();
    let (digits, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let number = digits.parse::<u64>().ok().filter(|&number| number > 0);
    let seconds = number.and_then(|number| number.checked_mul(seconds)).filter(|&seconds| seconds <= 100 * 86_400);
    seconds.map(std::time::Duration::from_secs).ok_or_else(wrong)
}

#[cfg(all(test, feature = "cluster"))]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        let seconds = |text| duration(text).map(|time| time.as_secs()).ok();
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("2h"), Some(7_200));
        for wrong in ["", "s", "2", "0s", "-1s", "1.5h", "1000d", "é", "99999999999999999999s"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
