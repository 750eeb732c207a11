//! Names of players: when two of them are of the same person, as far as they tell.
//!
//! Case and dots do not count, and titles are left out. Before a comma stands the family name, behind it the given names.
//! Without one, the family name is the last words or the first ones, whichever agrees. Two names agree if the family names
//! are equal and the given names, word by word as far as both have some, are equal or one is the beginning of the other.
//! Unknown names (`?` or nothing) agree with each other alone. Hyphens, accents and underscores are letters. Before and
//! behind the comma, the first eight words count.
//!
//! | one | other | agree |
//! | --- | --- | --- |
//! | `Carlsen,M` | `GM CARLSEN, Magnus` | yes |
//! | `Magnus Carlsen` | `Carlsen` | yes |
//! | `Carlsen, Mats` | `Magnus Carlsen` | no |
//! | `van Foreest, Jorden` | `Jorden van Foreest` | yes |
//! | `Ding Liren` | `Ding, L.` | yes |
//! | `?` | `Carlsen` | no |

use std::fmt;
use std::str::FromStr;

/// Titles that are no part of a name.
const TITLES: [&str; 11] = ["gm", "im", "fm", "cm", "nm", "wgm", "wim", "wfm", "wcm", "wnm", "dr"];

/// Further words of a name do not count.
const MOST_WORDS: usize = 8;

/// The name of a player, to be compared with others.
///
/// ```
/// use lanefish::games::PlayerName;
/// let name: PlayerName = "Magnus Carlsen".parse().unwrap();
/// assert!(name.agrees_with(&PlayerName::of("GM CARLSEN, M.")));
/// assert!(!name.agrees_with(&PlayerName::of("Carlsen, Mats")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerName {
    text: String,
    /// The words before the comma, or all of them.
    words: Vec<String>,
    /// The words behind the comma, if there is one.
    given: Option<Vec<String>>,
}

/// The words of a text that count.
fn words(text: &str) -> Vec<String> {
    let plain = text.replace('.', " ").to_lowercase();
    let all: Vec<&str> = plain.split_whitespace().collect();
    let untitled: Vec<&str> = all.iter().copied().filter(|word| !TITLES.contains(word)).collect();
    let kept = if untitled.is_empty() { all } else { untitled };
    kept.into_iter().take(MOST_WORDS).map(str::to_owned).collect()
}

/// Whether given names agree, as far as both have some.
fn do_given_agree(one: &[String], other: &[String]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.all(|(one, other)| one.starts_with(other.as_str()) || other.starts_with(one.as_str()))
}

impl PlayerName {
    /// The name that a text, such as a tag, has.
    pub fn of(text: &str) -> Self {
        let (words, given) = match text.split_once(',') {
            Some((family, given)) => {
                let given = given.replace(',', " ");
                let is_title = given
                    .split_whitespace()
                    .all(|word| TITLES.contains(&word.replace('.', "").to_lowercase().as_str()));
                (words(family), Some(if is_title { Vec::new() } else { words(&given) }))
            }
            None => (words(text), None),
        };
        Self { text: text.to_owned(), words, given }
    }

    /// Whether the name is not known.
    pub fn is_unknown(&self) -> bool {
        self.given.as_ref().is_none_or(Vec::is_empty)
            && self.words.iter().all(|word| word.bytes().all(|byte| byte == b'?'))
    }

    /// The same name in one spelling: names with equal ones agree with the same others.
    pub(crate) fn normal_form(&self) -> String {
        match &self.given {
            _ if self.is_unknown() => "?".to_owned(),
            Some(given) => format!("{}, {}", self.words.join(" "), given.join(" ")),
            None => self.words.join(" "),
        }
    }

    /// The words that may be the last one of the family name. Names agree only if they share one.
    pub(crate) fn ends_of_family_names(&self) -> Vec<&str> {
        if self.is_unknown() {
            return vec!["?"];
        }
        let mut ends: Vec<&str> = match &self.given {
            Some(_) => vec![self.words.last().map_or("", String::as_str)],
            None => self.words.iter().map(String::as_str).collect(),
        };
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Each way to read it: family and given names.
    fn readings(&self) -> impl Iterator<Item = (&[String], &[String])> {
        let len = self.words.len();
        let divided = self.given.as_deref().map(|given| (&self.words[..], given));
        let lens = if divided.is_some() { 0..0 } else { 1..len + 1 };
        let undivided = lens.flat_map(move |family| {
            let (first, after) = self.words.split_at(family);
            let (before, last) = self.words.split_at(len - family);
            [(first, after), (last, before)]
        });
        divided.into_iter().chain(undivided)
    }

    /// Whether both may be names of the same person.
    pub fn agrees_with(&self, other: &Self) -> bool {
        match (self.is_unknown(), other.is_unknown()) {
            (true, true) => true,
            (false, false) => self.readings().any(|(family, given)| {
                other.readings().any(|(others, other)| family == others && do_given_agree(given, other))
            }),
            _ => false,
        }
    }
}

impl FromStr for PlayerName {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let name = Self::of(text);
        if name.is_unknown() { Err(format!("`{text}` is not the name of a player")) } else { Ok(name) }
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(feature = "cluster")]
impl serde::Serialize for PlayerName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(feature = "cluster")]
impl<'de> serde::Deserialize<'de> for PlayerName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&<String as serde::Deserialize>::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_in_any_spelling() {
        let agree = |one: &str, other: &str| {
            let agree = PlayerName::of(one).agrees_with(&PlayerName::of(other));
            assert_eq!(agree, PlayerName::of(other).agrees_with(&PlayerName::of(one)), "{one} / {other}");
            agree
        };
        let spellings =
            ["Carlsen", "Carlsen,M", "Magnus Carlsen", "GM CARLSEN, Magnus", "carlsen, m.", "Carlsen Magnus"];
        for one in spellings {
            for other in spellings {
                assert!(agree(one, other), "{one} / {other}");
            }
        }
        for (one, other, expected) in [
            ("Carlsen, Mats", "Carlsen", true),
            ("Carlsen, Mats", "Carlsen,M", true),
            ("Carlsen, Mats", "Magnus Carlsen", false),
            ("Carlsen, Mats", "GM CARLSEN, Magnus", false),
            ("Jorden van Foreest", "Van Foreest, Jorden", true),
            ("Jorden van Foreest", "van Foreest, Lucas", false),
            ("Ding Liren", "Ding, Liren", true),
            ("Ding Liren", "Liren, Ding", true),
            ("Dr. Robert Hübner", "Huebner, R", false),
            ("Dr. Robert Hübner", "HÜBNER, R.", true),
            ("Vachier-Lagrave, Maxime", "Maxime Vachier-Lagrave", true),
            ("Vachier-Lagrave, Maxime", "Lagrave, Maxime", false),
            ("drunk_knight", "DRUNK_KNIGHT", true),
            ("drunk_knight", "drunk knight", false),
            ("Polgar, Judit", "Polgar, Judit, GM", true),
            ("?", "", true),
            ("?", "Carlsen", false),
            ("", "GM", false),
            ("Smith, J R", "Smith, John", true),
            ("Smith, J Q", "Smith, J R", false),
        ] {
            assert_eq!(agree(one, other), expected, "{one} / {other}");
        }
    }
}
