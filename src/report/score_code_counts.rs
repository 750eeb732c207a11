//! Scores that are codes: mates and tablebase results among the scores of training data.

use crate::table::{ScoreCode, ScoreCodes};

/// Number of scores that are codes, by their meaning.
///
/// ```
/// use lanefish::report::CodedScores;
/// assert_eq!(CodedScores::default().total(), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CodedScores([[u64; 2]; ScoreCode::ALL.len()]);

impl CodedScores {
    /// Counts a score if it is one of these codes; returns whether it is.
    #[inline(always)]
    pub(crate) fn add(&mut self, codes: ScoreCodes, score: i16) -> bool {
        let meaning = codes.meaning(score);
        if let Some(meaning) = meaning {
            self.0[meaning as usize][usize::from(score < 0)] += 1;
        }
        meaning.is_some()
    }
    /// Adds the counts of others.
    pub(crate) fn merge(&mut self, other: &Self) {
        let all = self.0.as_flattened_mut().iter_mut().zip(other.0.as_flattened());
        all.for_each(|(ours, theirs)| *ours += theirs);
    }
    /// The counts that a file has.
    #[cfg(feature = "json")]
    pub(crate) fn set(&mut self, code: ScoreCode, [white, black]: [u64; 2]) {
        self.0[code as usize] = [white, black];
    }
    /// The codes that occur, and how often for White and for Black.
    pub fn iter(&self) -> impl Iterator<Item = (ScoreCode, [u64; 2])> {
        ScoreCode::ALL.into_iter().zip(self.0).filter(|(_, counts)| *counts != [0; 2])
    }
    /// The number of all scores that are codes.
    pub fn total(&self) -> u64 {
        self.0.as_flattened().iter().sum()
    }
}
