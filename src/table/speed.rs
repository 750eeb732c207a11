//! Classes of time controls, for the column `speed` and for selecting games.

/// The time control classes of Lichess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum Speed {
    /// Below 30 seconds.
    UltraBullet,
    /// Below 3 minutes.
    Bullet,
    /// Below 8 minutes.
    Blitz,
    /// Below 25 minutes.
    Rapid,
    /// Anything longer.
    Classical,
    /// No clock (`-`), or hours per move.
    Correspondence,
}

impl Speed {
    /// All classes, from the fastest to the slowest.
    pub const ALL: [Self; 6] =
        [Self::UltraBullet, Self::Bullet, Self::Blitz, Self::Rapid, Self::Classical, Self::Correspondence];

    /// The name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UltraBullet => "ultrabullet",
            Self::Bullet => "bullet",
            Self::Blitz => "blitz",
            Self::Rapid => "rapid",
            Self::Classical => "classical",
            Self::Correspondence => "correspondence",
        }
    }

    /// The class of a `TimeControl` tag, by the time that a player has for forty moves; `None` if it is unknown.
    ///
    /// It understands seconds with or without increment (`300+3`, also with fractions), periods (`40/7200:3600`), whose
    /// times are added up, and hourglasses (`*180`). No clock (`-`) is correspondence, and so is an hour per move or
    /// more (`1/86400`).
    ///
    /// ```
    /// use lanefish::games::Speed;
    /// assert_eq!(Speed::of_tag(b"180+2"), Some(Speed::Blitz));
    /// assert_eq!(Speed::of_tag(b"40/7200:20/3600:900+30"), Some(Speed::Classical));
    /// assert_eq!(Speed::of_tag(b"1/86400"), Some(Speed::Correspondence));
    /// ```
    pub fn of_tag(tag: &[u8]) -> Option<Self> {
        if tag == b"-" {
            return Some(Self::Correspondence);
        }
        let text = std::str::from_utf8(tag).ok()?.trim();
        // Rust parses more than digits as numbers: `inf`, `1e9`.
        let number = |text: &str| -> Option<f64> {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            text.parse().ok().filter(|_| is_plain)
        };
        let (mut seconds, mut increment) = (0.0, 0.0f64);
        for period in text.split(':') {
            let period = period.strip_prefix('*').unwrap_or(period);
            let (time, bonus) = period.split_once('+').unwrap_or((period, "0"));
            let time = match time.split_once('/') {
                Some((moves, time)) => {
                    let (moves, time) = (number(moves)?, number(time)?);
                    if moves == 0.0 {
                        return None;
                    }
                    if time >= 3600.0 * moves {
                        return Some(Self::Correspondence);
                    }
                    time
                }
                None => number(time)?,
            };
            seconds += time;
            increment = increment.max(number(bonus)?);
        }
        Some(match seconds + 40.0 * increment {
            ..30.0 => Self::UltraBullet,
            ..180.0 => Self::Bullet,
            ..480.0 => Self::Blitz,
            ..1500.0 => Self::Rapid,
            _ => Self::Classical,
        })
    }
}
