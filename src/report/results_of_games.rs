//! Results of games by opening, rating and class of time control.

use super::time_and_mistakes::{class_name, first_rating, rating_label};
use super::{CLASSES, Kinds, RATING_BANDS, Results};
use std::collections::BTreeMap;

/// Number of families of ten opening codes, from `A00-A09` to `E90-E99`.
pub const OPENING_FAMILIES: usize = 50;

/// Results of games by opening, rating and class of time control.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultsOfGames {
    /// By opening: those of [`Games::openings`](super::Games::openings).
    pub openings: BTreeMap<String, Results>,
    /// By family of ten opening codes; games without a code are not counted.
    pub families: [Results; OPENING_FAMILIES],
    /// By [range](super::rating_band) of the mean of both ratings; unknown unless both are known.
    pub ratings: [Results; RATING_BANDS],
    /// By class of time control, in the order of [`Speed::ALL`](crate::games::Speed::ALL), and of games without one.
    pub speeds: [Results; CLASSES],
}

impl Default for ResultsOfGames {
    fn default() -> Self {
        Self {
            openings: BTreeMap::new(),
            families: [Results::default(); OPENING_FAMILIES],
            ratings: Default::default(),
            speeds: Default::default(),
        }
    }
}

/// Results of games of several kinds, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultBars {
    /// The name of the bars in files.
    pub key: &'static str,
    /// The name of the kinds in files.
    pub column: &'static str,
    /// What the kinds are, as shown.
    pub title: &'static str,
    /// The kinds with games, as shown, and their results.
    pub bars: Vec<(String, Results)>,
    /// The names of these kinds in files.
    pub keys: Vec<String>,
}

/// The name of a family of opening codes: `B10-B19`.
pub(crate) fn family_name(family: usize) -> String {
    let (letter, tens) = (char::from(b'A' + (family / 10) as u8), family % 10);
    format!("{letter}{tens}0-{letter}{tens}9")
}

impl ResultsOfGames {
    /// Adds a game with this opening; `are_too_many`: more openings occur than are counted.
    pub(crate) fn add_opening(&mut self, opening: &str, result: u8, are_too_many: bool) {
        if are_too_many {
            return self.openings.clear();
        }
        let opening = Kinds::cut(opening);
        match self.openings.get_mut(opening) {
            Some(results) => *results.of(result) += 1,
            None => *self.openings.entry(opening.to_owned()).or_default().of(result) += 1,
        }
    }

    /// Adds those of other games; `are_too_many`: more openings occur in both than are counted.
    pub(crate) fn merge(&mut self, other: &Self, are_too_many: bool) {
        if are_too_many {
            self.openings.clear();
        } else {
            for (opening, results) in &other.openings {
                match self.openings.get_mut(opening) {
                    Some(ours) => ours.merge(results),
                    None => {
                        self.openings.insert(opening.clone(), *results);
                    }
                }
            }
        }
        let ours = self.families.iter_mut().chain(&mut self.ratings).chain(&mut self.speeds);
        let theirs = other.families.iter().chain(&other.ratings).chain(&other.speeds);
        ours.zip(theirs).for_each(|(ours, theirs)| ours.merge(theirs));
    }

    /// All of them, with the openings of the most games first. Kinds of which nothing is known are left out.
    pub fn bars(&self) -> Vec<ResultBars> {
        let mut openings: Vec<(String, Results)> =
            self.openings.iter().map(|(name, &results)| (name.clone(), results)).collect();
        openings.sort_by_key(|(_, results)| std::cmp::Reverse(results.total()));
        let named = |all: &[Results], name: &dyn Fn(usize) -> String| -> Vec<(String, Results)> {
            let kinds = all.iter().enumerate().filter(|(_, results)| results.total() > 0);
            kinds.map(|(at, &results)| (name(at), results)).collect()
        };
        // The last ones are not known.
        let is_known = |all: &[Results]| all.iter().rev().skip(1).any(|results| results.total() > 0);
        let ratings = if is_known(&self.ratings) { named(&self.ratings, &rating_label) } else { Vec::new() };
        let first = |band| first_rating(band).map_or(String::new(), |first| first.to_string());
        let first_ratings = named(&self.ratings, &first).into_iter().map(|(first, _)| first).collect();
        let speeds = |class| class_name(class).to_owned();
        let speeds = if is_known(&self.speeds) { named(&self.speeds, &speeds) } else { Vec::new() };
        let families = named(&self.families, &family_name);
        let all = [
            ("opening_results", "opening", "Results by opening", openings, None),
            ("eco_results", "eco", "Results by opening (ECO)", families, None),
            ("rating_results", "first_rating", "Results by rating", ratings, Some(first_ratings)),
            ("time_control_results", "time_control", "Results by time control", speeds, None),
        ];
        let all = all.into_iter().filter(|(.., bars, _)| !bars.is_empty());
        all.map(|(key, column, title, bars, keys)| {
            let keys = keys.unwrap_or_else(|| bars.iter().map(|(name, _)| name.clone()).collect());
            ResultBars { key, column, title, bars, keys }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_to_the_whole() {
        let part = |from: usize| {
            let mut part = ResultsOfGames::default();
            for game in from..from + 100 {
                let result = (game % 4) as u8;
                part.add_opening(["Réti Opening", "Sicilian Defense"][game % 7 / 4], result, false);
                *part.families[game % OPENING_FAMILIES].of(result) += 1;
                *part.ratings[game % RATING_BANDS].of(result) += 1;
                *part.speeds[game % CLASSES].of(result) += 1;
            }
            part
        };
        let [mut first, mut second] = [part(0), part(100)];
        let before = first.clone();
        first.merge(&second, false);
        second.merge(&before, false);
        assert_eq!(first, second);
        for bars in first.bars() {
            let total: u64 = bars.bars.iter().map(|(_, results)| results.total()).sum();
            assert_eq!(total, 200, "{}", bars.key);
        }
        assert!(first.bars()[0].bars.is_sorted_by_key(|(_, results)| std::cmp::Reverse(results.total())));
        first.merge(&before, true);
        assert!(first.openings.is_empty());
        assert_eq!([0, 49].map(family_name), ["A00-A09", "E90-E99"]);
        assert!(ResultsOfGames::default().bars().is_empty());
    }
}
