//! Counts the tags for which no field exists.

use super::tag;
use super::tags::Tags;
use crate::formats::LostTags;
use std::collections::HashMap;

/// The number of games that have each tag for which there is no field.
#[derive(Default)]
pub(super) struct TagCounts<'a> {
    tags: Vec<TagCount<'a>>,
    places: HashMap<&'a [u8], usize>,
}

struct TagCount<'a> {
    name: &'a [u8],
    is_lost: bool,
    games: u64,
    /// The number of the last game that has it.
    last: u64,
}

impl TagCount<'_> {
    #[inline]
    fn count(&mut self, number: u64, is_known: bool) {
        if self.is_lost && self.last != number && is_known {
            self.games += 1;
            self.last = number;
        }
    }
}

impl<'a> TagCounts<'a> {
    /// Counts the tags of a game with this number.
    pub(super) fn game(&mut self, tags: &Tags<'a>, number: u64) {
        let Some(lines) = tags.lines() else {
            for (name, value) in tags.pairs() {
                let at = self.place(name);
                self.tags[at].count(number, !matches!(value, b"" | b"?"));
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
                tag.count(number, !matches!(value, [b'"', ..] | [b'?', b'"', ..]));
                next += 1;
            } else {
                let tag = tag::tag(line);
                let at = self.place(tag.name);
                self.tags[at].count(number, !matches!(tag.value, b"" | b"?"));
                next = at + 1;
            }
        }
    }
    fn place(&mut self, name: &'a [u8]) -> usize {
        *self.places.entry(name).or_insert_with(|| {
            self.tags.push(TagCount { name, is_lost: !name.is_empty() && !is_carried(name), games: 0, last: u64::MAX });
            self.tags.len() - 1
        })
    }
    /// Adds the numbers of games to the tags that are lost.
    pub(super) fn finish(self, mut lost: LostTags) -> LostTags {
        for tag in self.tags.iter().filter(|tag| tag.games > 0) {
            lost.add(&tag::text(tag.name), tag.games);
        }
        lost
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
