//! Classes of time controls, for the column `speed` and for selecting games.

use super::Control;

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
    /// It understands seconds with or without increment (`300+3`, `300 | 3`, also with fractions), clock times
    /// (`1:30:00+0:30`), periods (`40/7200:3600`), whose times are added up, and hourglasses (`*180`). If the last period
    /// has a number of moves, it is repeated: `1/60` is a minute for each move. No clock (`-`) is correspondence, and so
    /// is an hour per move or more (`1/86400`).
    ///
    /// ```
    /// use lanefish::games::Speed;
    /// assert_eq!(Speed::of_tag(b"180+2"), Some(Speed::Blitz));
    /// assert_eq!(Speed::of_tag(b"40/7200:20/3600:900+30"), Some(Speed::Classical));
    /// assert_eq!(Speed::of_tag(b"1/86400"), Some(Speed::Correspondence));
    /// assert_eq!(Speed::of_tag(b"1/60"), Some(Speed::Classical));
    /// ```
    pub fn of_tag(tag: &[u8]) -> Option<Self> {
        Control::parse(tag).map(|control| control.speed())
    }
}
