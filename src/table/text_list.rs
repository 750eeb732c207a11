//! Lists of texts.

use std::ops::Index;

/// Texts, one after the other in one buffer. A list needs two allocations, however many texts it has.
///
/// ```
/// use lanefish::table::TextList;
///
/// let words: TextList = ["Paris", "Oslo"].into_iter().collect();
/// assert_eq!(words.len(), 2);
/// assert_eq!(&words[1], "Oslo");
/// assert_eq!(words.iter().map(str::len).sum::<usize>(), words.text().len());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextList {
    text: String,
    /// The end of each text.
    ends: Vec<usize>,
}

impl TextList {
    /// The texts of a buffer, by the end of each of them.
    ///
    /// # Panics
    /// If the last text ends elsewhere than the buffer.
    pub(crate) fn from_parts(text: String, ends: Vec<usize>) -> Self {
        assert_eq!(ends.last().copied().unwrap_or_default(), text.len());
        debug_assert!(ends.is_sorted() && ends.iter().all(|&end| text.is_char_boundary(end)));
        Self { text, ends }
    }
    /// An empty list with room for this number of texts, and for all of their bytes.
    #[cfg(feature = "parquet")]
    pub(crate) fn with_capacity(texts: usize, bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ends: Vec::with_capacity(texts) }
    }
    /// Number of texts.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }
    /// Whether the list is empty.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// All texts, without anything between them.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// Adds a text.
    pub fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
    }
    /// Adds the texts of another list.
    #[cfg(feature = "parquet")]
    pub(crate) fn append(&mut self, other: &Self) {
        let base = self.text.len();
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| base + end));
    }
    /// Whether the list ends with the texts of another list.
    #[cfg(feature = "parquet")]
    pub(crate) fn ends_with(&self, other: &Self) -> bool {
        let Some(base) = self.len().checked_sub(other.len()) else { return false };
        let start = self.start(base);
        self.text.as_bytes()[start..] == *other.text.as_bytes()
            && self.ends[base..].iter().zip(&other.ends).all(|(ours, theirs)| *ours == start + theirs)
    }
    /// The texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|word| &self[word])
    }
    /// The last text.
    pub fn last(&self) -> Option<&str> {
        self.len().checked_sub(1).map(|last| &self[last])
    }
    #[inline]
    fn start(&self, word: usize) -> usize {
        word.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

impl Index<usize> for TextList {
    type Output = str;
    /// A text by its place in the list.
    ///
    /// # Panics
    /// If it is out of range.
    #[inline]
    fn index(&self, word: usize) -> &str {
        &self.text[self.start(word)..self.ends[word]]
    }
}

impl<T: AsRef<str>> FromIterator<T> for TextList {
    fn from_iter<I: IntoIterator<Item = T>>(words: I) -> Self {
        let mut all = Self::default();
        words.into_iter().for_each(|word| all.push(word.as_ref()));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_what_was_pushed() {
        let texts = ["", "a", "", "bé", "c"];
        let words: TextList = texts.into_iter().collect();
        assert!(words.iter().eq(texts));
        assert_eq!((words.len(), words.last(), words.text()), (5, Some("c"), "abéc"));
        assert_eq!((TextList::default().last(), TextList::default().is_empty()), (None, true));
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn lists_end_with_their_ends() {
        let of = |texts: &[&str]| texts.iter().collect::<TextList>();
        let mut all = of(&["x", "ab", "c"]);
        for (texts, expected) in [
            (&["ab", "c"][..], true),
            (&[], true),
            (&["x", "ab", "c"], true),
            (&["a", "bc"], false),
            (&["b", "c"], false),
            (&["y", "x", "ab", "c"], false),
        ] {
            assert_eq!(all.ends_with(&of(texts)), expected, "{texts:?}");
        }
        all.append(&of(&["d", ""]));
        assert_eq!(all, of(&["x", "ab", "c", "d", ""]));
    }
}
