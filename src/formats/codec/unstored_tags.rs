//! Counts tags of games for which there is no field, and other text that is lost, for the note at the end of a
//! conversion.
//!
//! Only the names that come first in the alphabet are kept, with the number of games that have them. A name that is
//! among the first in the whole input is also among the first in each part that has it. So the counts are exact, and
//! they do not depend on how an input is cut into chunks.

use std::collections::BTreeMap;
use std::fmt;

/// Number of names that are kept.
const MOST_NAMES: usize = 1000;
/// Number of bytes of a name that are kept, at least.
const LONGEST_NAME: usize = 64;
/// Number of names that are shown.
const SHOWN: usize = 20;

/// The number of games that have each tag without a field, and the number of texts of each kind without a field:
/// variations, comments, commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct UnstoredTags {
    games: BTreeMap<Box<str>, u64>,
    /// Whether there are more names.
    more: bool,
    /// Kinds of text.
    texts: BTreeMap<Box<str>, u64>,
    /// Whether there are more kinds.
    more_texts: bool,
}

impl UnstoredTags {
    /// Counts a name in `games` more games.
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
    /// Counts text of a kind N more times.
    pub fn add_text(&mut self, kind: &str, times: u64) {
        if times == 0 {
            return;
        }
        match self.texts.get_mut(kind) {
            Some(count) => *count += times,
            None => {
                self.texts.insert(kind.into(), times);
            }
        }
        if self.texts.len() > MOST_NAMES {
            // Only commands can be that numerous, and their names are in these quotes.
            let last = self.texts.keys().rev().find(|kind| kind.starts_with('`'));
            if let Some(last) = last.cloned() {
                self.texts.remove(&last);
                self.more_texts = true;
            }
        }
    }
    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        self.merge_times(other, 1);
    }
    /// Adds the counts of another N times.
    pub(crate) fn merge_times(&mut self, other: &Self, n: u64) {
        for (name, &games) in &other.games {
            self.add(name, n * games);
        }
        self.more |= other.more;
        for (kind, &times) in &other.texts {
            self.add_text(kind, n * times);
        }
        self.more_texts |= other.more_texts;
    }
    /// Subtracts these counts, which are included in this one.
    pub(crate) fn take_away(&mut self, some: &Self) {
        self.games.retain(|name, games| {
            *games -= some.games.get(name).copied().unwrap_or(0);
            *games > 0
        });
        self.texts.retain(|kind, times| {
            *times -= some.texts.get(kind).copied().unwrap_or(0);
            *times > 0
        });
    }
    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty() && self.texts.is_empty()
    }
    /// The names with their numbers of games, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.games.iter().map(|(name, &games)| (&**name, games))
    }
    /// The kinds of text with their counts, in the order of names.
    pub fn texts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.texts.iter().map(|(kind, &times)| (&**kind, times))
    }
}

impl fmt::Display for UnstoredTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, games)) in self.iter().take(SHOWN).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let games = crate::text::numbers::counted(games, "game");
            write!(f, "{comma}tag `{name}` ({games})")?;
        }
        match (self.games.len().saturating_sub(SHOWN), self.more) {
            (0, _) => {}
            (more, false) => write!(f, " and {more} more")?,
            (more, true) => write!(f, " and more than {more} more")?,
        }
        // Commands come last in the order of names.
        for (at, (kind, times)) in self.texts.iter().rev().take(SHOWN).enumerate() {
            let comma = if at == 0 && self.games.is_empty() { "" } else { ", " };
            write!(f, "{comma}{kind} ({})", crate::text::numbers::grouped(*times))?;
        }
        match (self.texts.len().saturating_sub(SHOWN), self.more_texts) {
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
        let mut whole = UnstoredTags::default();
        let mut parts = vec![UnstoredTags::default(); 7];
        for number in 0..12_000 {
            whole.add(&name(number), 1);
            parts[number % 7].add(&name(number), 1);
        }
        let mut merged = UnstoredTags::default();
        parts.iter().rev().for_each(|part| merged.merge(part));
        assert_eq!(merged, whole);
        assert_eq!(whole.iter().count(), MOST_NAMES);
        let text = whole.to_string();
        assert!(text.starts_with("tag `T00000` (3 games), "), "{text}");
        assert!(text.ends_with(" and more than 980 more"), "{text}");
    }

    #[test]
    fn few_are_all_shown() {
        let mut tags = UnstoredTags::default();
        assert!(tags.is_empty());
        tags.add("Round", 1);
        tags.add("Event", 2);
        assert_eq!(tags.to_string(), "tag `Event` (2 games), tag `Round` (1 game)");
        (0..20).for_each(|at| tags.add(&format!("X{at}"), 1));
        assert!(tags.to_string().ends_with(" and 2 more"));
        tags.add(&"é".repeat(1000), 1);
    }

    #[test]
    fn texts_are_counted_by_kind() {
        let mut all = UnstoredTags::default();
        all.add_text("comments", 0);
        assert!(all.is_empty());
        all.add_text("comments", 1200);
        all.add_text("NAGs", 3);
        assert!(!all.is_empty());
        assert_eq!(all.to_string(), "comments (1,200), NAGs (3)");
        all.add("Round", 1);
        let mut some = UnstoredTags::default();
        some.add_text("comments", 1199);
        some.add_text("NAGs", 3);
        all.take_away(&some);
        assert_eq!(all.to_string(), "tag `Round` (1 game), comments (1)");
        // Many commands, in any order and in parts.
        let mut parts = vec![UnstoredTags::default(); 3];
        for number in 0..3000 {
            let kind = format!("`[%x{:04}]`", number * 7919 % 3000);
            parts[number % 3].add_text(&kind, 1);
            all.add_text(&kind, 1);
        }
        parts[2].merge(&all);
        let mut merged = UnstoredTags::default();
        parts.iter().for_each(|part| merged.merge(part));
        assert_eq!(merged.texts().count(), MOST_NAMES);
        assert_eq!(merged.texts().next(), Some(("`[%x0000]`", 2)));
        assert_eq!(merged.texts().last(), Some(("comments", 1)));
        assert!(merged.to_string().ends_with(" and more than 980 more"), "{merged}");
    }
}
