//! Tags of games that no field carries, for the note at the end of a conversion.
//!
//! Only the names that come first in the alphabet are kept, with the number of games that have them. A name among
//! the first of all is among the first of any part, so the counts are exact, and the same for all ways to
//! cut an input into chunks.

use std::collections::BTreeMap;
use std::fmt;

/// Names that are kept.
const MOST_NAMES: usize = 1000;
/// Bytes of a name that are kept, at least.
const LONGEST_NAME: usize = 64;
/// Names that are shown.
const SHOWN: usize = 20;

/// How many games have each tag that no field carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostTags {
    games: BTreeMap<Box<str>, u64>,
    /// Whether there are more names.
    more: bool,
}

impl LostTags {
    /// Counts a name in N more games.
    pub fn add(&mut self, name: &str, games: u64) {
        let end = name.ceil_char_boundary(LONGEST_NAME);
        let name = &name[..end];
        match self.games.get_mut(name) {
            Some(count) => *count += games,
            None => {
                self.games.insert(name.into(), games);
            }
        }
        if self.games.len() > MOST_NAMES {
            self.games.pop_last();
            self.more = true;
        }
    }
    /// Adds those of another.
    pub fn merge(&mut self, other: &Self) {
        for (name, &games) in &other.games {
            self.add(name, games);
        }
        self.more |= other.more;
    }
    /// Takes away those of games that are among these.
    pub(crate) fn take_away(&mut self, some: &Self) {
        self.games.retain(|name, games| {
            *games -= some.games.get(name).copied().unwrap_or(0);
            *games > 0
        });
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }
    /// Names and numbers of games, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.games.iter().map(|(name, &games)| (&**name, games))
    }
}

impl fmt::Display for LostTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, games)) in self.iter().take(SHOWN).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let games = crate::text::numbers::counted(games, "game");
            write!(f, "{comma}tag `{name}` ({games})")?;
        }
        match (self.games.len().saturating_sub(SHOWN), self.more) {
            (0, _) => Ok(()),
            (more, false) => write!(f, " and {more} more"),
            (more, true) => write!(f, " and more than {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_any_order_make_the_same() {
        let name = |number: usize| format!("T{:05}", number * 7919 % 5003);
        let mut whole = LostTags::default();
        let mut parts = vec![LostTags::default(); 7];
        for number in 0..12_000 {
            whole.add(&name(number), 1);
            parts[number % 7].add(&name(number), 1);
        }
        let mut merged = LostTags::default();
        parts.iter().rev().for_each(|part| merged.merge(part));
        assert_eq!(merged, whole);
        assert_eq!(whole.iter().count(), MOST_NAMES);
        let text = whole.to_string();
        assert!(text.starts_with("tag `T00000` (3 games), "), "{text}");
        assert!(text.ends_with(" and more than 980 more"), "{text}");
    }

    #[test]
    fn few_are_all_shown() {
        let mut tags = LostTags::default();
        assert!(tags.is_empty());
        tags.add("Round", 1);
        tags.add("Event", 2);
        assert_eq!(tags.to_string(), "tag `Event` (2 games), tag `Round` (1 game)");
        (0..20).for_each(|at| tags.add(&format!("X{at}"), 1));
        assert!(tags.to_string().ends_with(" and 2 more"));
        tags.add(&"é".repeat(1000), 1);
    }
}
