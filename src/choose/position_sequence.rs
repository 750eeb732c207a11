//! Sequences of positions by which games are chosen: `--having A --then B --next C`.
//!
//! A game is taken if its positions, from the first to the last of the main line, contain such a sequence: one for which
//! A is true, a later one for which B is true, and the very next one, for which C is true. Each condition has a bit for
//! every position of the game. One pass turns them into the positions at which a sequence of the first conditions may
//! end: for `then` these are the positions after the first such end of the conditions before, and for `next` the ends
//! moved on by one. So the work is proportional to the number of conditions and positions, and nothing is tried twice.

use super::expression::{Condition, Definitions};
use super::expression_option_error::ExpressionOptionError;
use crate::games::GameMatches;
use crate::table::Needs;
use std::sync::Arc;

/// The option that gives a condition of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum SequenceWord {
    /// The first condition.
    Having,
    /// A condition for a position after that of the condition before.
    Then,
    /// A condition for the very next position.
    Next,
}

impl SequenceWord {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Having, Self::Then, Self::Next];

    /// The name of the option, without the two dashes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Having => HAVING,
            Self::Then => "then",
            Self::Next => "next",
        }
    }
}

/// The option under whose name games are left out.
pub(crate) const HAVING: &str = "having";

/// A condition of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
struct Step {
    word: SequenceWord,
    condition: Condition,
}

/// Conditions on positions that follow one another in a game. Without any condition, every game has the sequence.
///
/// ```
/// use lanefish::choose::{Definitions, PositionSequence, SequenceWord};
///
/// let words = [(SequenceWord::Having, "in_check"), (SequenceWord::Next, "moved_piece = 'K'")];
/// let sequence = PositionSequence::parse(words, &Definitions::default()).unwrap();
/// assert_eq!(sequence.len(), 2);
/// assert_eq!(sequence.to_string(), "--having \"in_check\" --next \"moved_piece = 'K'\"");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct PositionSequence(Arc<[Step]>);

impl PositionSequence {
    /// A sequence of conditions, each with the option that gives it. They may use these names.
    ///
    /// # Errors
    /// If a text is not a condition, or needs the number of its record; the first condition has another word than
    /// [`SequenceWord::Having`], or a later one has this word. The error comes with the word.
    pub fn parse<T: AsRef<str>>(
        conditions: impl IntoIterator<Item = (SequenceWord, T)>,
        definitions: &Definitions,
    ) -> Result<Self, (SequenceWord, ExpressionOptionError)> {
        let mut steps: Vec<Step> = Vec::new();
        for (word, text) in conditions {
            let wrong = |message: &str| Err((word, ExpressionOptionError::form(message.to_owned())));
            match (steps.is_empty(), word) {
                (true, SequenceWord::Having) | (false, SequenceWord::Then | SequenceWord::Next) => {}
                (true, _) => return wrong("the first condition of a sequence is given with --having"),
                (false, _) => {
                    return wrong("it is given twice; --then is a condition for a later position, --next for the next");
                }
            }
            let condition = definitions.condition(text.as_ref()).map_err(|error| (word, error.into()))?;
            if condition.reads("index") {
                return wrong("records are numbered after games are chosen, so `index` is not known yet");
            }
            steps.push(Step { word, condition });
        }
        Ok(Self(steps.into()))
    }
    /// Number of conditions.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there is no condition.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Remarks on conditions that probably do not mean what they were meant to, each with the option that gives the
    /// condition: see [`Condition::notes`].
    pub fn notes(&self) -> impl Iterator<Item = (SequenceWord, &str)> {
        self.0.iter().flat_map(|step| step.condition.notes().iter().map(|note| (step.word, note.as_str())))
    }
    /// What the conditions need of records.
    pub fn needs(&self) -> Needs {
        self.0.iter().map(|step| step.condition.needs().clone()).collect()
    }
    /// Whether some condition reads the number of the game.
    pub(crate) fn reads_game_numbers(&self) -> bool {
        self.0.iter().any(|step| step.condition.reads("game"))
    }
    /// The condition at a place.
    pub(crate) fn condition(&self, place: usize) -> &Condition {
        &self.0[place].condition
    }
    /// Whether the condition at a place is that of the first place.
    pub(crate) fn repeats_first(&self, place: usize) -> bool {
        place != 0 && self.0[place].condition == self.0[0].condition
    }
    /// Whether the condition at a place is one for the very next position.
    pub(crate) fn is_next(&self, place: usize) -> bool {
        self.0.get(place).is_some_and(|step| step.word == SequenceWord::Next)
    }
}

impl std::fmt::Display for PositionSequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, Step { word, condition }) in self.0.iter().enumerate() {
            let blank = if place == 0 { "" } else { " " };
            write!(f, "{blank}--{} \"{condition}\"", word.name())?;
        }
        Ok(())
    }
}

/// The first position that is set, from this one on.
fn first_from(positions: &[u64], from: usize) -> Option<usize> {
    let mut word = from / 64;
    let mut bits = positions.get(word)? & (!0 << (from % 64));
    while bits == 0 {
        word += 1;
        bits = *positions.get(word)?;
    }
    Some(64 * word + bits.trailing_zeros() as usize)
}

/// The last position that is set.
fn last(positions: &[u64]) -> Option<usize> {
    let word = positions.iter().rposition(|&bits| bits != 0)?;
    Some(64 * word + 63 - positions[word].leading_zeros() as usize)
}

/// Clears the positions before this one.
fn clear_before(positions: &mut [u64], end: usize) {
    let whole = (end / 64).min(positions.len());
    positions[..whole].fill(0);
    if let Some(bits) = positions.get_mut(whole) {
        *bits &= !0 << (end % 64);
    }
}

/// The positions that a condition is to be true of, given the ends of the conditions before it. All sets of positions have
/// a bit for each position of the game. `adjacent` has the positions that directly follow the one before them.
pub(crate) fn candidates(ends: &[u64], is_next: bool, adjacent: &[u64], candidates: &mut [u64]) {
    if is_next {
        let mut carried = 0;
        for ((candidates, &bits), adjacent) in candidates.iter_mut().zip(ends).zip(adjacent) {
            *candidates = (bits << 1 | carried) & adjacent;
            carried = bits >> 63;
        }
        return;
    }
    match first_from(ends, 0) {
        None => candidates.fill(0),
        Some(first) => {
            candidates.fill(!0);
            clear_before(candidates, first + 1);
        }
    }
}

/// A sequence that was found in a game: its positions, of all sequences that end first those of the one with the
/// smallest positions from the left; the first and last position at which one ends, and their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundSequence {
    pub(crate) positions: Vec<usize>,
    pub(crate) last: usize,
    pub(crate) count: u32,
}

impl FoundSequence {
    /// Finds it, given the ends of the first conditions: those of the first, of the first two, and so on.
    pub(crate) fn of(sequence: &PositionSequence, ends: &[&[u64]], adjacent: &[u64]) -> Option<Self> {
        let all = *ends.last()?;
        let first = first_from(all, 0)?;
        let mut wanted = vec![0; all.len()];
        wanted[first / 64] = 1 << (first % 64);
        // From the right: the ends from which the rest of the sequence can go on to the first end of all.
        let mut leading = vec![wanted];
        for place in (1..ends.len()).rev() {
            let after = &leading[leading.len() - 1];
            let mut before = ends[place - 1].to_vec();
            if sequence.is_next(place) {
                let mut carried = 0;
                for (word, bits) in before.iter_mut().enumerate().rev() {
                    let reached = after[word] & adjacent[word];
                    *bits &= reached >> 1 | carried;
                    carried = reached << 63;
                }
            } else {
                let end = last(after)?;
                let mut beyond = vec![!0; before.len()];
                clear_before(&mut beyond, end);
                before.iter_mut().zip(beyond).for_each(|(bits, beyond)| *bits &= !beyond);
            }
            leading.push(before);
        }
        let mut positions: Vec<usize> = Vec::with_capacity(ends.len());
        for (place, leading) in leading.iter().rev().enumerate() {
            let position = match positions.last() {
                Some(before) if sequence.is_next(place) => before + 1,
                before => first_from(leading, before.map_or(0, |before| before + 1))?,
            };
            positions.push(position);
        }
        Some(Self { positions, last: last(all)?, count: all.iter().map(|bits| bits.count_ones()).sum() })
    }

    /// The same with the plies of positions.
    pub(crate) fn with_plies(&self, ply: impl Fn(usize) -> u32) -> GameMatches {
        GameMatches {
            plies: self.positions.iter().map(|&position| ply(position)).collect(),
            first: self.positions.last().map_or(0, |&position| ply(position)),
            last: ply(self.last),
            count: self.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Draw;

    /// All sequences of positions, in order of their ends and then of their positions from the left.
    fn enumerated(sequence: &PositionSequence, truths: &[Vec<u64>], adjacent: &[u64], len: usize) -> Vec<Vec<usize>> {
        let is = |positions: &[u64], at: usize| positions[at / 64] >> (at % 64) & 1 != 0;
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        for (place, truth) in truths.iter().enumerate() {
            let mut longer = Vec::new();
            for sequence_so_far in &all {
                for position in (0..len).filter(|&position| is(truth, position)) {
                    let follows = match sequence_so_far.last() {
                        None => true,
                        Some(&before) if sequence.is_next(place) => before + 1 == position && is(adjacent, position),
                        Some(&before) => before < position,
                    };
                    if follows {
                        longer.push([&sequence_so_far[..], &[position]].concat());
                    }
                }
            }
            all = longer;
        }
        all.sort_by_key(|positions| (positions.last().copied(), positions.clone()));
        all
    }

    fn found(sequence: &PositionSequence, truths: &[Vec<u64>], adjacent: &[u64]) -> Option<FoundSequence> {
        let mut ends: Vec<Vec<u64>> = Vec::new();
        for (place, truth) in truths.iter().enumerate() {
            let mut own = truth.clone();
            if let Some(before) = ends.last() {
                let mut next = vec![7; before.len()];
                candidates(before, sequence.is_next(place), adjacent, &mut next);
                own.iter_mut().zip(next).for_each(|(bits, next)| *bits &= next);
            }
            ends.push(own);
        }
        let ends: Vec<&[u64]> = ends.iter().map(|ends| &**ends).collect();
        FoundSequence::of(sequence, &ends, adjacent)
    }

    #[test]
    fn sequences_are_those_of_an_enumeration() {
        let mut some = [0; 2];
        for case in 0..30_000_u64 {
            let draw = |what: u64| Draw::new().with(case).with(what).bits();
            let conditions = 1 + (draw(0) % 5) as usize;
            // Positions on both sides of the border of a word.
            let (offset, len) = ([0, 58][(draw(1) % 2) as usize], (draw(2) % 13) as usize);
            let words = (0..conditions).map(|place| match place {
                0 => (SequenceWord::Having, "true"),
                _ if draw(10 + place as u64) % 2 == 0 => (SequenceWord::Then, "true"),
                _ => (SequenceWord::Next, "true"),
            });
            let sequence = PositionSequence::parse(words, &Definitions::default()).unwrap();
            let bits = |what: u64, mask: u64| -> Vec<u64> {
                let bits = u128::from(draw(what) & mask & ((1 << len) - 1)) << offset;
                vec![bits as u64, (bits >> 64) as u64]
            };
            let sparse = if draw(3) % 3 == 0 { !0 } else { draw(4) };
            let truths: Vec<Vec<u64>> =
                (0..conditions).map(|place| bits(20 + place as u64, sparse | draw(30 + place as u64))).collect();
            let adjacent = bits(40, if draw(5) % 2 == 0 { !0 } else { draw(6) | draw(7) });
            let expected = enumerated(&sequence, &truths, &adjacent, 128);
            let mut ends: Vec<usize> = expected.iter().map(|positions| positions[conditions - 1]).collect();
            ends.dedup();
            let expected = expected.into_iter().next().map(|positions| FoundSequence {
                positions,
                last: ends[ends.len() - 1],
                count: ends.len() as u32,
            });
            some[usize::from(expected.is_some())] += 1;
            assert_eq!(found(&sequence, &truths, &adjacent), expected, "{sequence} {truths:?} {adjacent:?}");
        }
        assert!(some[0] > 3000 && some[1] > 3000, "{some:?}");
    }

    #[test]
    fn words_come_in_order() {
        let parse = |words: &[(SequenceWord, &'static str)]| {
            PositionSequence::parse(words.iter().copied(), &Definitions::default())
                .map_err(|(word, error)| format!("--{}: {error}", word.name()))
        };
        assert!(parse(&[]).unwrap().is_empty());
        let error = parse(&[(SequenceWord::Then, "in_check")]).unwrap_err();
        assert!(error.starts_with("--then: the first condition"), "{error}");
        let error = parse(&[(SequenceWord::Having, "in_check"), (SequenceWord::Having, "quiet")]).unwrap_err();
        assert!(error.starts_with("--having: it is given twice"), "{error}");
        let error = parse(&[(SequenceWord::Having, "uniform(index) < 0.5")]).unwrap_err();
        assert!(error.contains("`index` is not known"), "{error}");
        assert!(parse(&[(SequenceWord::Having, "in_chek")]).unwrap_err().contains("in_chek"));
        assert!(parse(&[(SequenceWord::Having, "game = 3")]).unwrap().reads_game_numbers());
    }
}
