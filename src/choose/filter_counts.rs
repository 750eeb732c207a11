//! The numbers of games and positions that options left out.

use super::game_filter;
use super::game_options::GameOption;
use crate::text::numbers::counted;
use std::collections::BTreeMap;

/// The numbers of games and positions that one option left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FilterCount {
    /// Games.
    pub games: u64,
    /// Positions, including those of the games.
    pub positions: u64,
    /// Number of these games that were left out because the tested value is unknown: ratings, dates and time controls that
    /// are missing or cannot be parsed.
    pub unknown: u64,
}

impl FilterCount {
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
    /// A sentence without its full stop: `--last left out 3 games and 120 positions`. Zeros are not mentioned.
    ///
    /// ```
    /// use lanefish::choose::FilterCount;
    /// assert_eq!(FilterCount::default().sentence("last"), "--last left out nothing");
    /// assert_eq!(FilterCount::new(0, 5, 0).sentence("where"), "--where left out 5 positions");
    /// assert_eq!(FilterCount::new(1, 80, 0).sentence("where"), "--where left out 1 game and 80 positions");
    /// ```
    pub fn sentence(&self, option: &str) -> String {
        let unknown = match self.unknown {
            0 => String::new(),
            games => {
                let what = GameOption::named(option).map_or("value", |option| option.unknown);
                format!(", {} for a {what} that is unknown or cannot be read", counted(games, "game"))
            }
        };
        let parts = [(self.games, "game"), (self.positions, "position")];
        let parts: Vec<String> =
            parts.into_iter().filter(|&(number, _)| number > 0).map(|(number, thing)| counted(number, thing)).collect();
        let parts = if parts.is_empty() { "nothing".to_owned() } else { parts.join(" and ") };
        format!("--{option} left out {parts}{unknown}")
    }

    /// The place of an option in the order of application, for sorting.
    ///
    /// ```
    /// use lanefish::choose::FilterCount;
    /// assert!(FilterCount::place("min-elo") < FilterCount::place("plies") && FilterCount::place("plies") < FilterCount::place("where"));
    /// ```
    pub fn place(option: &str) -> impl Ord + use<> {
        game_filter::place(option)
    }
}

/// The numbers left out, by the name of the option on the command line.
pub type LeftOutBy = BTreeMap<&'static str, FilterCount>;
