//! What puzzles and evaluations say about their positions.

use super::{Histogram, Kinds};
use crate::text::numbers::grouped;
use std::collections::BTreeMap;

/// Numbers of any size, counted by ranges that begin at 1, 2 or 5 times a power of ten.
///
/// ```
/// use lanefish::report::Magnitudes;
/// let mut magnitudes = Magnitudes::default();
/// [0, 3, 4, 700].into_iter().for_each(|number| magnitudes.add(number));
/// assert_eq!(magnitudes.0.into_iter().collect::<Vec<_>>(), [(0, 1), (2, 2), (500, 1)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Magnitudes(pub BTreeMap<u64, u64>);

impl Magnitudes {
    /// The first number of the range of a number.
    pub fn range_of(number: u64) -> u64 {
        let power = 10u64.pow(number.checked_ilog10().unwrap_or(0));
        [5, 2, 1].into_iter().find_map(|factor| power.checked_mul(factor).filter(|&first| first <= number)).unwrap_or(0)
    }

    /// Counts a number.
    pub fn add(&mut self, number: u64) {
        *self.0.entry(Self::range_of(number)).or_default() += 1;
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Self) {
        for (&first, count) in &other.0 {
            *self.0.entry(first).or_default() += count;
        }
    }

    /// The name and the count of each range.
    pub(crate) fn named(&self) -> Vec<(String, u64)> {
        let first = *self.0.keys().next().unwrap_or(&0);
        let last = *self.0.keys().next_back().unwrap_or(&0);
        let mut named = Vec::new();
        let mut at = first;
        // Empty ranges between others are shown as well.
        while at <= last {
            let next = Self::after(at);
            let end = next.unwrap_or(u64::MAX);
            let name = match end - at {
                1 => at.to_string(),
                // Below 10,000 ranges are exact; above, a range ends before its second number.
                _ if end <= 10_000 => format!("{} to {}", grouped(at), grouped(end - 1)),
                _ => format!("{} to {}", short(at), short(end)),
            };
            named.push((name, self.0.get(&at).copied().unwrap_or(0)));
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        named
    }

    /// The first number of the next range.
    fn after(first: u64) -> Option<u64> {
        if first == 0 {
            return Some(1);
        }
        let power = 10u64.pow(first.ilog10());
        match first / power {
            1 => power.checked_mul(2),
            2 => power.checked_mul(5),
            _ => power.checked_mul(10),
        }
    }
}

/// A number with thousands, millions or billions as a letter.
fn short(number: u64) -> String {
    let units = [(1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")];
    let (unit, name) = units.into_iter().find(|&(unit, _)| number >= unit).unwrap_or((1, ""));
    format!("{}{name}", grouped(number / unit))
}

/// Statistics of puzzles: of the records with a [rating](crate::table::Field::PuzzleRating) or with
/// [themes](crate::table::Field::Themes).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Puzzles {
    /// Ratings.
    pub ratings: Histogram,
    /// Rating deviations.
    pub deviations: Histogram,
    /// Popularity, from -100 to 100.
    pub popularity: Histogram,
    /// How often each was played.
    pub plays: Magnitudes,
    /// Number of puzzles with themes.
    pub with_themes: u64,
    /// Puzzles by theme; most have several.
    pub themes: Kinds,
}

impl Puzzles {
    /// Adds the counts of others.
    pub fn merge(&mut self, other: &Self) {
        self.ratings.merge(&other.ratings);
        self.deviations.merge(&other.deviations);
        self.popularity.merge(&other.popularity);
        self.plays.merge(&other.plays);
        self.with_themes += other.with_themes;
        self.themes.merge(&other.themes);
    }
}

/// Statistics of evaluations: of the records with a [depth](crate::table::Field::Depth), a number of
/// [nodes](crate::table::Field::Knodes), or a mate.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Evaluations {
    /// Depths, in plies.
    pub depths: Histogram,
    /// Nodes searched, in thousands.
    pub knodes: Magnitudes,
    /// Moves to mate, whichever side mates; 0 where the side to move is mated.
    pub mate_distances: Histogram,
}

impl Evaluations {
    /// Adds the counts of others.
    pub fn merge(&mut self, other: &Self) {
        self.depths.merge(&other.depths);
        self.knodes.merge(&other.knodes);
        self.mate_distances.merge(&other.mate_distances);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_each_other() {
        let mut first = 0;
        while let Some(next) = Magnitudes::after(first) {
            assert_eq!(Magnitudes::range_of(first), first);
            assert_eq!(Magnitudes::range_of(next - 1), first);
            assert_eq!(Magnitudes::range_of(next), next);
            first = next;
        }
        assert_eq!(first, 10_000_000_000_000_000_000);
        assert_eq!(Magnitudes::range_of(u64::MAX), first);
    }

    #[test]
    fn ranges_have_names() {
        let mut magnitudes = Magnitudes::default();
        [1, 60, 12_000].into_iter().for_each(|number| magnitudes.add(number));
        let names: Vec<String> = magnitudes.named().into_iter().map(|(name, _)| name).collect();
        let expected = [
            "1",
            "2 to 4",
            "5 to 9",
            "10 to 19",
            "20 to 49",
            "50 to 99",
            "100 to 199",
            "200 to 499",
            "500 to 999",
            "1,000 to 1,999",
            "2,000 to 4,999",
            "5,000 to 9,999",
            "10k to 20k",
        ];
        assert_eq!(names, expected);
        magnitudes.add(u64::MAX);
        assert_eq!(magnitudes.named().iter().map(|(_, count)| count).sum::<u64>(), 4);
    }
}
