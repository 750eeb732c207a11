//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
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
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// Three digits and a unit: `3.21 M`, `18.0 k`, `214`.
pub(crate) fn short(number: f64) -> String {
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
pub(crate) fn bytes(number: f64) -> String {
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
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let share = part as f64 / whole as f64 * 100.0;
    match share {
        0.0 => "0 %".to_owned(),
        ..0.001 => "< 0.001 %".to_owned(),
        ..0.1 => format!("{share:.3} %"),
        _ => format!("{share:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "game"), "1 game");
        assert_eq!(counted(0, "game"), "0 games");
        assert_eq!(short(214.0), "214");
        assert_eq!(short(18_040.0), "18.0 k");
        assert_eq!(short(3.214e9), "3.21 G");
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(1023.0), "1023 B");
        assert_eq!(bytes(1023.9), "1.00 KiB");
        assert_eq!(bytes(863_232.0), "843 KiB");
        assert_eq!(bytes(1024.0 * 1024.0 * 10.0), "10.0 MiB");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(1, 10_000), "0.010 %");
        assert_eq!(percent(0, 0), "-");
    }
}
