//! The numbers of games and positions that options left out.

use crate::text::numbers::counted;
use std::collections::BTreeMap;

/// Options that choose among records, whatever their games, or that apply to a game after all others.
const OF_RECORDS: [&str; 2] = ["where", "sample"];

/// The numbers of games and positions that one option left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LeftOut {
    /// Games.
    pub games: u64,
    /// Positions, including those of the games.
    pub positions: u64,
    /// Number of these games that were left out because the tested value is unknown: dates that are missing or cannot
    /// be parsed.
    pub unknown: u64,
}

impl LeftOut {
    /// Counts of games, of positions (including those of the games), and of games whose tested value is unknown.
    pub fn new(games: u64, positions: u64, unknown: u64) -> Self {
        Self { games, positions, unknown }
    }
    /// Adds another number of games and positions.
    pub fn add(&mut self, other: Self) {
        self.games += other.games;
        self.positions += other.positions;
        self.unknown += other.unknown;
    }
    /// A sentence without its full stop: `--last left out 3 games and 120 positions`. The sentences for `--where` and
    /// `--sample`, which choose among records, count games only if whole games were left out.
    ///
    /// ```
    /// use lanefish::choose::LeftOut;
    /// assert_eq!(LeftOut::default().sentence("last"), "--last left out 0 games and 0 positions");
    /// assert_eq!(LeftOut::new(0, 5, 0).sentence("where"), "--where left out 5 positions");
    /// assert_eq!(LeftOut::new(1, 80, 0).sentence("where"), "--where left out 1 game and 80 positions");
    /// ```
    pub fn sentence(&self, option: &str) -> String {
        let unknown = match self.unknown {
            0 => String::new(),
            games => format!(", {} for a date that is unknown or cannot be read", counted(games, "game")),
        };
        let (games, positions) = (counted(self.games, "game"), counted(self.positions, "position"));
        if OF_RECORDS.contains(&option) && self.games == 0 {
            return format!("--{option} left out {positions}");
        }
        format!("--{option} left out {games} and {positions}{unknown}")
    }
}

/// The numbers left out, by the name of the option on the command line.
pub type LeftOutBy = BTreeMap<&'static str, LeftOut>;
