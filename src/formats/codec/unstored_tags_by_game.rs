//! What is lost of each part of a chunk by itself: of each game, or of each record in formats without games.
//!
//! The decoder knows what a part loses, but not which records the run will choose. So if records are chosen, it lists the
//! parts, and the judge marks those of which a record is taken: only these count in the note at the end. Nearly all parts
//! lose the same, so a part has little more than the number of what it loses.

use crate::formats::UnstoredTags;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

/// What is lost of each part of a chunk that loses something, in the order of their records.
#[derive(Debug, Default)]
pub(crate) struct UnstoredTagsByGame {
    /// The number of the first record of the chunk.
    before: u64,
    parts: Vec<Part>,
    /// What parts lose.
    sets: Vec<Arc<UnstoredTags>>,
}

/// A place among the sets of [`UnstoredTagsByGame`]: the number of the set, counted from one.
pub(crate) type Place = NonZeroU32;

/// A game or a record, in few bytes: a sample keeps those of all its candidates.
#[derive(Clone, Debug)]
struct Part {
    /// The records of the part, numbered from the first one of the chunk.
    start: u32,
    end: u32,
    /// The places of what it loses: of tags, and of texts.
    sets: [Option<Place>; 2],
    /// Whether one of its records is taken.
    is_taken: bool,
}

impl Part {
    fn records(&self, before: u64) -> Range<u64> {
        before + u64::from(self.start)..before + u64::from(self.end)
    }
}

impl UnstoredTagsByGame {
    /// Adds something that parts lose, and returns its place.
    pub(crate) fn add_set(&mut self, lost: UnstoredTags) -> Option<Place> {
        self.sets.push(Arc::new(lost));
        Place::new(self.sets.len() as u32)
    }
    /// Adds the next part, with its records, numbered from the first one of the chunk, and the places of what it loses.
    pub(crate) fn add(&mut self, records: Range<u64>, sets: [Option<Place>; 2]) {
        if sets != [None; 2] {
            self.parts.push(Part { start: records.start as u32, end: records.end as u32, sets, is_taken: false });
        }
    }
    /// The number of the parts.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }
    /// The number of the first record of the first part.
    pub(crate) fn start(&self) -> Option<u64> {
        self.parts.first().map(|part| part.records(self.before).start)
    }
    /// Numbers the records from another one on.
    pub(crate) fn number(&mut self, before: u64) {
        self.before += before;
    }
    /// Keeps the parts that begin with one of some records, and gives them new numbers, all counted from the first record
    /// of the chunk.
    pub(crate) fn renumber(&mut self, new: &BTreeMap<u64, Range<u64>>) {
        self.parts.retain_mut(|part| {
            let Some(records) = new.get(&u64::from(part.start)) else { return false };
            (part.start, part.end) = (records.start as u32, records.end as u32);
            true
        });
    }
    /// Keeps the parts for whose records something holds, and what they lose.
    pub(crate) fn retain(&mut self, holds: impl Fn(Range<u64>) -> bool) {
        let Self { before, parts, sets } = self;
        parts.retain(|part| holds(part.records(*before)));
        parts.shrink_to_fit();
        let mut places: BTreeMap<Place, Place> = BTreeMap::new();
        let mut used = Vec::new();
        for place in parts.iter_mut().flat_map(|part| &mut part.sets).flatten() {
            *place = *places.entry(*place).or_insert_with(|| {
                used.push(Arc::clone(&sets[place.get() as usize - 1]));
                Place::new(used.len() as u32).unwrap_or(*place)
            });
        }
        used.shrink_to_fit();
        *sets = used;
    }
    /// Shares what parts lose with other chunks.
    pub(crate) fn share(&mut self, known: &mut HashSet<Arc<UnstoredTags>>) {
        for set in &mut self.sets {
            match known.get(set) {
                Some(known) => *set = Arc::clone(known),
                None => {
                    known.insert(Arc::clone(set));
                }
            }
        }
    }
    /// Marks the parts of which some record is taken; the numbers of these records come in order.
    pub(crate) fn mark(&mut self, taken: &[Range<u64>]) {
        let before = self.before;
        let first = taken.first().map_or(u64::MAX, |first| first.start);
        let begin = self.parts.partition_point(|part| part.records(before).end <= first);
        let mut rest = taken;
        for part in &mut self.parts[begin..] {
            let records = part.records(before);
            while let [first, others @ ..] = rest
                && first.end <= records.start
            {
                rest = others;
            }
            let Some(next) = rest.first() else { break };
            part.is_taken |= next.start < records.end;
        }
    }
    /// Drops the parts that are not marked, and removes the marks.
    pub(crate) fn keep_marked(&mut self) {
        self.parts.retain_mut(|part| std::mem::take(&mut part.is_taken));
    }
    /// What is lost of the parts that are marked.
    pub(crate) fn of_marked(&self) -> UnstoredTags {
        let mut times = vec![0; self.sets.len()];
        for part in self.parts.iter().filter(|part| part.is_taken) {
            part.sets.iter().flatten().for_each(|place| times[place.get() as usize - 1] += 1);
        }
        let mut lost = UnstoredTags::default();
        for (set, times) in self.sets.iter().zip(times).filter(|&(_, times)| times != 0) {
            lost.merge_times(set, times);
        }
        lost
    }
}

/// What is lost of each record, where few keys say it of all.
#[derive(Debug, Default)]
pub(crate) struct LostByKey<K> {
    places: HashMap<K, Option<Place>>,
    lost: UnstoredTagsByGame,
}

impl<K: Copy + Default + Eq + Hash> LostByKey<K> {
    /// Adds the next record, of which something is lost unless the key is zero; `lost` says what.
    pub(crate) fn add(&mut self, record: u64, key: K, lost: impl FnOnce() -> UnstoredTags) {
        if key != K::default() {
            let place = *self.places.entry(key).or_insert_with(|| self.lost.add_set(lost()));
            self.lost.add(record..record + 1, [None, place]);
        }
    }
    /// The list of the records.
    pub(crate) fn finish(self) -> Box<UnstoredTagsByGame> {
        Box::new(self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_count_if_some_of_their_records_are_taken() {
        let mut all = UnstoredTagsByGame::default();
        let mut set = |names: &[&str], comments| {
            let mut lost = UnstoredTags::default();
            names.iter().for_each(|name| lost.add(name, 1));
            lost.add_text("comments", comments);
            all.add_set(lost)
        };
        let (event, both) = (set(&["Event"], 0), set(&["Event", "Round"], 0));
        let [one, two, five] = [1, 2, 5].map(|comments| set(&[], comments));
        all.add(0..3, [event, two]);
        all.add(3..5, [both, None]);
        // Nothing is lost of this one.
        all.add(5..7, [None, None]);
        all.add(7..8, [None, five]);
        all.add(8..10, [event, one]);
        for (taken, expected) in [
            (&[(0, 10)][..], "tag `Event` (3 games), tag `Round` (1 game), comments (8)"),
            (&[], ""),
            (&[(2, 3), (9, 10)], "tag `Event` (2 games), comments (3)"),
            (&[(0, 1), (1, 2), (4, 8)], "tag `Event` (2 games), tag `Round` (1 game), comments (7)"),
            (&[(5, 7), (10, 90)], ""),
            (&[(7, 8)], "comments (5)"),
        ] {
            let ranges: Vec<Range<u64>> = taken.iter().map(|&(start, end)| start..end).collect();
            all.parts.iter_mut().for_each(|part| part.is_taken = false);
            all.mark(&ranges);
            assert_eq!(all.of_marked().to_string(), expected, "{taken:?}");
            // The same, one range after the other, in any order.
            all.parts.iter_mut().for_each(|part| part.is_taken = false);
            ranges.iter().rev().for_each(|range| all.mark(std::slice::from_ref(range)));
            assert_eq!(all.of_marked().to_string(), expected, "{taken:?}");
        }
        all.number(100);
        assert_eq!(all.start(), Some(100));
        all.retain(|records| records.contains(&104) || records.contains(&109));
        assert_eq!((all.start(), all.len()), (Some(103), 2));
        assert_eq!(all.sets.len(), 3);
        let mut known = HashSet::from([Arc::new(UnstoredTags::default()), Arc::clone(&all.sets[0])]);
        all.share(&mut known);
        assert_eq!(known.len(), 4);
        all.mark(std::slice::from_ref(&(109..110)));
        all.keep_marked();
        assert_eq!((all.start(), all.len()), (Some(108), 1));
        assert!(all.of_marked().is_empty());
        all.mark(std::slice::from_ref(&(0..500)));
        assert_eq!(all.of_marked().to_string(), "tag `Event` (1 game), comments (1)");
    }
}
