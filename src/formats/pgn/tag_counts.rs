//! Counts the tags for which no field exists.

use super::tag_syntax;
use super::tags::Tags;
use crate::formats::codec::unstored_tags_by_game::Place;
use crate::formats::{UnstoredTags, UnstoredTagsByGame};
use std::collections::HashMap;
use std::ops::Range;

/// The number of games that have each tag for which there is no field.
#[derive(Default)]
pub(super) struct TagCounts<'a> {
    tags: Vec<TagCount<'a>>,
    places: HashMap<&'a [u8], usize>,
    /// Which game has which of them, if that is requested.
    of_games: Option<OfGames>,
}

/// Which tags each game has, by the places of the tags.
#[derive(Default)]
struct OfGames {
    /// The tags of this game.
    these: Vec<usize>,
    /// The places of the sets; nearly all games have the same one.
    sets: HashMap<Vec<usize>, Option<Place>>,
    lost: UnstoredTagsByGame,
}

struct TagCount<'a> {
    name: &'a [u8],
    is_lost: bool,
    games: u64,
    /// The number of the last game that has it.
    last: u64,
}

impl TagCount<'_> {
    /// Counts the tag in a game; false if it is not lost, or is counted already.
    #[inline]
    fn count(&mut self, number: u64, is_known: bool) -> bool {
        let counts = self.is_lost && self.last != number && is_known;
        if counts {
            self.games += 1;
            self.last = number;
        }
        counts
    }
}

impl<'a> TagCounts<'a> {
    /// No counts; with `of_games`, also of each game by itself.
    pub(super) fn new(of_games: bool) -> Self {
        Self { of_games: of_games.then(OfGames::default), ..Self::default() }
    }
    /// Counts the tags of a game with this number.
    pub(super) fn game(&mut self, tags: &Tags<'a>, number: u64) {
        let Some(lines) = tags.lines() else {
            for (name, value) in tags.pairs() {
                let at = self.place(name);
                self.count(at, number, !matches!(value, b"" | b"?"));
            }
            return;
        };
        // Nearly all games have the same tags in the same order as the one before.
        let mut next = 0;
        for line in lines {
            let tag = self.tags.get_mut(next);
            if let Some((tag, value)) = tag.and_then(|tag| {
                let rest = line.strip_prefix(b"[")?.strip_prefix(tag.name)?;
                Some((tag, rest.strip_prefix(b" \"")?))
            }) {
                let counts = tag.count(number, !matches!(value, [b'"', ..] | [b'?', b'"', ..]));
                if let Some(of_games) = self.of_games.as_mut().filter(|_| counts) {
                    of_games.these.push(next);
                }
                next += 1;
            } else {
                let tag = tag_syntax::tag(line);
                let at = self.place(tag.name);
                self.count(at, number, !matches!(tag.value, b"" | b"?"));
                next = at + 1;
            }
        }
    }
    fn count(&mut self, at: usize, number: u64, is_known: bool) {
        let counts = self.tags[at].count(number, is_known);
        if let Some(of_games) = self.of_games.as_mut().filter(|_| counts) {
            of_games.these.push(at);
        }
    }
    /// Ends a game with these records, if each game is counted by itself; then the texts that it loses are taken.
    pub(super) fn end_game(&mut self, records: Range<u64>, texts: &mut UnstoredTags) {
        let Some(OfGames { these, sets, lost }) = &mut self.of_games else { return };
        let set = if these.is_empty() {
            None
        } else if let Some(&known) = sets.get(these) {
            known
        } else {
            let mut names = UnstoredTags::default();
            these.iter().for_each(|&at| names.add(&tag_syntax::text(self.tags[at].name), 1));
            let set = lost.add_set(names);
            sets.insert(these.clone(), set);
            set
        };
        let texts = std::mem::take(texts);
        let texts = if texts.is_empty() { None } else { lost.add_set(texts) };
        lost.add(records, [set, texts]);
        these.clear();
    }
    fn place(&mut self, name: &'a [u8]) -> usize {
        *self.places.entry(name).or_insert_with(|| {
            self.tags.push(TagCount { name, is_lost: !name.is_empty() && !is_carried(name), games: 0, last: u64::MAX });
            self.tags.len() - 1
        })
    }
    /// Adds the numbers of games to the tags that are lost; or returns what is lost of each game.
    pub(super) fn finish(self, mut lost: UnstoredTags) -> (UnstoredTags, Option<Box<UnstoredTagsByGame>>) {
        if let Some(OfGames { lost, .. }) = self.of_games {
            return (UnstoredTags::default(), Some(Box::new(lost)));
        }
        for tag in self.tags.iter().filter(|tag| tag.games > 0) {
            lost.add(&tag_syntax::text(tag.name), tag.games);
        }
        (lost, None)
    }
}

/// Whether a tag is a field of the records, or repeats what their positions and results say.
fn is_carried(name: &[u8]) -> bool {
    const CARRIED: [&[u8]; 15] = [
        b"White",
        b"Black",
        b"WhiteElo",
        b"BlackElo",
        b"ECO",
        b"Opening",
        b"TimeControl",
        b"Date",
        b"UTCDate",
        b"Site",
        b"Termination",
        b"Result",
        b"FEN",
        b"SetUp",
        b"Variant",
    ];
    // Names in another case are read as well.
    CARRIED.iter().any(|carried| carried.eq_ignore_ascii_case(name))
}
