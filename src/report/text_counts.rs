//! Counts of texts, of which inputs may have any number.

use std::collections::BTreeMap;

/// How often each text occurs, if not too many different ones do.
///
/// Inputs may have as many different texts as records. So that memory stays bounded and the result does not depend on
/// the order of the records, nothing is known beyond [`Self::MOST`] texts.
///
/// ```
/// use lanefish::report::Kinds;
/// let mut kinds = Kinds::default();
/// kinds.add("fork", 2);
/// kinds.add("pin", 1);
/// assert_eq!(kinds.counts()["fork"], 2);
/// for number in 0..Kinds::MOST {
///     kinds.add(&number.to_string(), 1);
/// }
/// assert!(kinds.are_too_many() && kinds.counts().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Kinds {
    counts: BTreeMap<String, u64>,
    are_too_many: bool,
}

impl Kinds {
    /// Maximum number of different texts.
    pub const MOST: usize = 1000;
    /// Maximum length of a text, in bytes; longer ones are cut.
    pub const LONGEST: usize = 128;

    /// Counts with more than [`Self::MOST`] texts.
    pub(crate) fn too_many() -> Self {
        Self { counts: BTreeMap::new(), are_too_many: true }
    }

    /// The text as it is counted.
    pub(crate) fn cut(text: &str) -> &str {
        &text[..text.floor_char_boundary(Self::LONGEST)]
    }

    /// Counts a text several times.
    pub fn add(&mut self, text: &str, times: u64) {
        let text = Self::cut(text);
        if self.are_too_many || times == 0 {
            return;
        }
        if let Some(count) = self.counts.get_mut(text) {
            *count += times;
        } else if self.counts.len() < Self::MOST {
            self.counts.insert(text.to_owned(), times);
        } else {
            *self = Self::too_many();
        }
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Self) {
        if other.are_too_many {
            *self = Self::too_many();
        }
        other.counts.iter().for_each(|(text, &count)| self.add(text, count));
    }

    /// The texts and their counts; empty if there are too many.
    pub fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    /// Whether more than [`Self::MOST`] texts occur, so that their counts are not known.
    pub fn are_too_many(&self) -> bool {
        self.are_too_many
    }

    /// The texts and their counts, the most frequent first.
    pub(crate) fn by_count(&self) -> Vec<(String, u64)> {
        let mut counts: Vec<(String, u64)> = self.counts.iter().map(|(text, &count)| (text.clone(), count)).collect();
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_do_not_depend_on_the_order() {
        for texts in [999, 1000, 1001, 1500] {
            let numbers = || (0..texts).map(|number| number.to_string());
            let mut forwards = Kinds::default();
            numbers().for_each(|text| forwards.add(&text, 1));
            let [mut even, mut odd] = [Kinds::default(), Kinds::default()];
            for (at, text) in numbers().enumerate() {
                [&mut even, &mut odd][at % 2].add(&text, 1);
            }
            odd.merge(&even);
            assert_eq!(odd, forwards);
            assert_eq!(forwards.are_too_many(), texts > Kinds::MOST);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut kinds = Kinds::default();
        kinds.add(&"é".repeat(65), 1);
        kinds.add(&format!("a{}", "é".repeat(65)), 1);
        assert_eq!(kinds.counts().keys().map(String::len).collect::<Vec<_>>(), [127, 128]);
    }
}
