//! The sieve, which finds the bytes of an input that belong to a shard.
//!
//! An input is divided into *parts* at certain places, and every part belongs to one shard. The parts of a shard are
//! cut into chunks and decoded one by one, like separate inputs; all other bytes are dropped. The division of an input
//! depends on its content, never on threads, chunks, or how its bytes arrive:
//!
//! | input | parts |
//! | --- | --- |
//! | text, records or chains in a regular file of L bytes | N parts; part I begins at the first division at or after byte L·I/N |
//! | text in a zstd file with several frames | part I begins at the first division that is [`Text::reach`](crate::formats::codec::layout::Text::reach) bytes after the beginning of the first frame that begins at or after byte L·I/N of the compressed file |
//! | anything else: pipes, gzip, bzip2, a single frame | many parts, assigned in turn; each begins at the first division that is [`turn_len`] bytes after the beginning of the previous part |
//! | boards files | blocks, see [`Requested`](crate::formats::codec::layout::Requested) |
//!
//! The first part begins at the beginning of the input. If there is no division for a part, it is empty, or the
//! previous part continues to the end.
//!
//! Fixed-size records can be divided at multiples of their size, and chains where one ends. Chains are walked from the
//! beginning, link by link, so only the lengths of the chains before a part are read. In text, a *division*
//! ([`Text::division`](crate::formats::codec::layout::Text::division)) is a place where it can be cut, because a record begins
//! there whatever came before. So decoding the parts gives the same records as decoding the whole input. Whether a
//! place is a division depends only on the 64 KiB before and after it. A shard that reaches a place from the front, as
//! the end of its part, and another shard that starts reading shortly before it therefore find the same division. For
//! lines, every line feed is a division, except in the blocks of `perft` files. For PGN it is a
//! [`boundary`](crate::formats::pgn::boundary), where the decoder starts a game even within a comment. If reading
//! starts with a frame in the middle of a file, the bytes before it are not known, so the search only starts after the
//! first [`Text::reach`](crate::formats::codec::layout::Text::reach) bytes.
//!
//! A record that is too long has no division within it either: such a game ends where reading continues, at the first
//! division after the limit. Records that are treated as giants before their end is known are treated as giants in a
//! shard as well.
//!
//! Where a shard takes whole games, the bytes of other shards are passed on, too, and marked as such: the last ones before
//! its part, as far as they are within reach, and those after it until the reader has [enough](Sieve::has_enough). If
//! shards take turns, all of them are.
//!
//! A text without divisions, such as a single line or a single game of any length, is one part.

use crate::formats::codec::layout::{Chains, Link, Text};
use crate::input::{Bytes, Division, Shard};
use std::collections::VecDeque;
use std::io;

/// Number of bytes before the part of a shard that are passed on, to find the game that goes on there.
pub(super) const LINES_BEFORE: usize = 64 << 10;
/// Number of bytes that are examined at a time for a division; more if they have none.
const FIRST_STEP: usize = 16 << 10;
const LARGEST_STEP: usize = 1 << 20;

/// The minimum length of a part that begins at this place, if parts are assigned in turn: short inputs are divided
/// finely, and long ones into parts that are worth the effort.
fn turn_len(place: u64) -> u64 {
    (place / 256).clamp(4 << 10, 1 << 20)
}

/// Passes the parts of a shard, and drops the others.
#[derive(Debug)]
pub(super) struct Sieve {
    shard: Shard,
    finder: Finder,
    plan: Plan,
    /// Bytes that have not been passed on yet.
    queue: VecDeque<Bytes>,
    queued: u64,
    /// The offset of these bytes.
    at: u64,
    /// The bytes before them, within reach, and as many as are passed on before the part of the shard.
    before: Vec<u8>,
    /// Whether they begin at the beginning of the input.
    has_beginning: bool,
    /// The next division is searched from here; `None` if there is none, or if it is not known yet.
    search: Option<u64>,
    /// Bytes to examine in the next search.
    step: usize,
    /// Where the next part begins.
    found: Option<u64>,
    /// Whether the current part belongs to the shard.
    is_own: bool,
    /// Whether bytes of other shards are passed on.
    passes_others: bool,
    /// Where the only part of the shard begins.
    begins: u64,
    /// Whether it has ended, and the bytes after it are passed on.
    is_after: bool,
    /// The bytes that follow belong to other shards.
    is_over: bool,
    /// No more bytes will come.
    ended: bool,
}

/// The rule for places where a part may begin.
#[derive(Debug)]
pub(super) enum Finder {
    /// Divisions.
    Text(&'static dyn Text),
    /// Multiples of a number of bytes.
    Records(u64),
    /// The beginnings of chains. `known` is the start of the last chain found; nothing after it has been passed on.
    Chains { chains: &'static dyn Chains, max_record: usize, known: u64 },
}

impl Finder {
    /// Number of bytes before and after a place that decide whether it is found.
    fn reach(&self) -> usize {
        match self {
            Self::Text(text) => text.reach(),
            Self::Records(_) | Self::Chains { .. } => 0,
        }
    }
}

/// The result of a search for the next part.
enum Found {
    /// Nothing yet: the bytes before this place may be passed on.
    Nothing(u64),
    /// The place, or that there is none, or the place from which to continue the search.
    Something,
    /// More bytes are needed.
    More,
}

#[derive(Debug)]
enum Plan {
    /// One part, which ends at the first division at or after this place.
    One { to: Option<u64> },
    /// The current part has this number.
    Turns(u64),
}

/// The decision of the sieve about the next bytes.
#[derive(Debug)]
pub(super) enum Sifted {
    /// Bytes of the shard, or of [another one](Sieve::is_in_other).
    Bytes(Bytes),
    /// Whole lines of another shard, directly before the part that begins now.
    Before(Vec<u8>),
    /// A number of bytes of other shards has been dropped.
    Dropped(u64),
    /// A part whose bytes were passed on has ended.
    EndOfPart,
    /// More bytes are needed.
    More,
    /// The rest of the input does not belong to the shard.
    End,
}

impl Sieve {
    /// A sieve for an input that was divided in this way; `passes_others`: bytes of other shards are passed on as well.
    pub(super) fn new(shard: Shard, finder: Finder, division: Division, passes_others: bool) -> Self {
        let mut sieve = Self {
            shard,
            finder,
            plan: Plan::One { to: None },
            queue: VecDeque::new(),
            queued: 0,
            at: 0,
            before: Vec::new(),
            has_beginning: false,
            search: None,
            step: FIRST_STEP,
            found: None,
            is_own: false,
            passes_others,
            begins: 0,
            is_after: false,
            is_over: false,
            ended: false,
        };
        match division {
            Division::Places { start, from, to } => {
                sieve.at = start;
                sieve.has_beginning = start == 0;
                sieve.plan = Plan::One { to };
                sieve.search = Some(from);
            }
            Division::Frames { is_first, before, .. } => {
                sieve.before = before;
                let reach = sieve.finder.reach() as u64;
                sieve.search = Some(if is_first { 0 } else { reach });
            }
            Division::Nothing => sieve.is_over = true,
            Division::Turns => {
                sieve.plan = Plan::Turns(0);
                sieve.is_own = shard.has_turn(0);
                sieve.search = Some(turn_len(0));
            }
        }
        // The very first part begins at the beginning.
        if !sieve.is_own && sieve.search == Some(0) {
            sieve.begin_part(0);
        }
        sieve
    }

    /// The offset of the next byte.
    pub(super) fn place(&self) -> u64 {
        self.at
    }

    /// Appends at most this number of the available bytes. After the end of a part, these are the rest of the input, or
    /// at least the reach of its format.
    pub(super) fn append_to(&self, text: &mut Vec<u8>, most: usize) -> io::Result<()> {
        let end = text.len().saturating_add(most);
        for bytes in &self.queue {
            let part = bytes.slice(0..bytes.len().min(end - text.len()));
            part.check()?;
            text.extend_from_slice(&part);
            part.check()?;
            if text.len() == end {
                break;
            }
        }
        Ok(())
    }

    /// Takes the next bytes of the input.
    pub(super) fn push(&mut self, bytes: Bytes) {
        self.queued += bytes.len() as u64;
        self.queue.push_back(bytes);
    }

    /// There are no more bytes.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// The frames of the shard end at this place.
    pub(super) fn end_frames(&mut self, place: u64) {
        let end = place + self.finder.reach() as u64;
        if let Plan::One { to: to @ None } = &mut self.plan {
            *to = Some(end);
            if self.is_own {
                self.search = Some(end);
            }
        }
    }

    /// Whether the shards take turns.
    pub(super) fn is_in_turns(&self) -> bool {
        matches!(self.plan, Plan::Turns(_))
    }

    /// Whether this shard has the last part, and so performs the checks at the end of the input.
    pub(super) fn has_end(&self) -> bool {
        !self.is_over && (self.is_own || self.shard.is_last() && matches!(self.plan, Plan::One { .. }))
    }

    /// Whether the bytes passed on last belong to another shard.
    pub(super) fn is_in_other(&self) -> bool {
        !self.is_own
    }

    /// Whether what follows is reported by other shards.
    pub(super) fn is_past_own(&self) -> bool {
        self.is_over || self.is_after
    }

    /// Nothing more is needed of what comes after the part of the shard. Returns whether it has ended.
    pub(super) fn has_enough(&mut self) -> bool {
        self.is_over |= self.is_after;
        self.is_over
    }

    /// Whether the bytes of the current part are passed on.
    fn passes(&self) -> bool {
        self.is_own || self.is_after || self.passes_others && self.is_in_turns()
    }

    /// The whole lines that are known before the next byte.
    fn lines_before(&self) -> Vec<u8> {
        let start = if self.has_beginning { Some(0) } else { memchr::memchr(b'\n', &self.before).map(|at| at + 1) };
        start.map_or(Vec::new(), |start| self.before[start..].to_vec())
    }

    /// Decides about the next bytes.
    pub(super) fn next(&mut self) -> io::Result<Sifted> {
        loop {
            if self.is_over {
                return Ok(Sifted::End);
            }
            if self.found == Some(self.at) {
                self.found = None;
                let was_passed = self.passes();
                self.begin_part(self.at);
                if was_passed {
                    return Ok(Sifted::EndOfPart);
                }
                if self.passes_others && !self.is_over {
                    return Ok(Sifted::Before(self.lines_before()));
                }
                continue;
            }
            let pass = match (self.found, self.search) {
                (Some(found), _) => found,
                (None, None) => u64::MAX,
                (None, Some(search)) => match self.find(search)? {
                    Found::Nothing(place) => place,
                    Found::Something => continue,
                    Found::More => return Ok(Sifted::More),
                },
            };
            return Ok(match self.take(pass - self.at)? {
                Some(bytes) if self.passes() => Sifted::Bytes(bytes),
                Some(bytes) => {
                    bytes.release();
                    Sifted::Dropped(bytes.len() as u64)
                }
                None if self.ended => Sifted::End,
                None => Sifted::More,
            });
        }
    }

    /// Looks for the place at or after `search` where the next part begins.
    fn find(&mut self, search: u64) -> io::Result<Found> {
        match self.finder {
            Finder::Text(_) if self.at < search => Ok(Found::Nothing(search)),
            Finder::Text(text) if !self.ended && self.queued <= text.reach() as u64 => Ok(Found::More),
            Finder::Text(text) => self.search(text),
            Finder::Records(len) => {
                self.found = Some(search.max(self.at).next_multiple_of(len));
                Ok(Found::Something)
            }
            Finder::Chains { chains, max_record, known } => self.walk(chains, max_record, known, search),
        }
    }

    /// A part begins here.
    fn begin_part(&mut self, place: u64) {
        match &mut self.plan {
            Plan::One { .. } if self.is_own && self.passes_others && self.begins < place => {
                (self.is_own, self.is_after) = (false, true);
                self.search = None;
            }
            Plan::One { .. } if self.is_own => self.is_over = true,
            Plan::One { to } => {
                self.is_own = true;
                self.begins = place;
                self.search = to.map(|to| to.max(place));
                // Parts before the first division are empty.
                self.is_over = *to == Some(0);
            }
            Plan::Turns(turn) => {
                *turn += 1;
                self.is_own = self.shard.has_turn(*turn);
                self.search = Some(place + turn_len(place));
            }
        }
        self.step = FIRST_STEP;
    }

    /// At most this number of bytes, joined from all available ones.
    fn take(&mut self, most: u64) -> io::Result<Option<Bytes>> {
        let Some(mut bytes) = self.queue.pop_front() else {
            return Ok(None);
        };
        if bytes.len() as u64 > most {
            self.queue.push_front(bytes.slice(most as usize..bytes.len()));
            bytes = bytes.slice(0..most as usize);
        }
        let most = if self.passes_others { LINES_BEFORE.max(self.finder.reach()) } else { self.finder.reach() };
        let last = bytes.slice(bytes.len().saturating_sub(most)..bytes.len());
        last.check()?;
        let dropped = self.before.len().saturating_sub(most - last.len());
        self.has_beginning &= dropped == 0 && last.len() == bytes.len();
        self.before.drain(..dropped);
        self.before.extend_from_slice(&last);
        last.check()?;
        self.at += bytes.len() as u64;
        self.queued -= bytes.len() as u64;
        Ok(Some(bytes))
    }

    /// Walks from chain to chain, as far as their lengths are available.
    fn walk(&mut self, chains: &dyn Chains, max_record: usize, from: u64, search: u64) -> io::Result<Found> {
        let mut known = from;
        while let Some(first) = self.queue.front().cloned() {
            first.check()?;
            while known < search && known - self.at < first.len() as u64 {
                match chains.link(&first[(known - self.at) as usize..], max_record) {
                    Link::Chain(len) | Link::Lost(len) => known = known.saturating_add(len.max(1)),
                    Link::More => break,
                }
            }
            first.check()?;
            // The beginning of a chain may be in one piece, and its length in the next.
            if known > self.at || self.queue.len() == 1 {
                break;
            }
            let mut joined = Vec::new();
            self.append_to(&mut joined, usize::MAX)?;
            self.queue.clear();
            self.queue.push_back(joined.into());
        }
        if let Finder::Chains { known: place, .. } = &mut self.finder {
            *place = known;
        }
        if known >= search {
            self.found = Some(known);
        } else if known > self.at {
            return Ok(Found::Nothing(known));
        } else if !self.ended {
            return Ok(Found::More);
        } else {
            // The last chain is truncated.
            self.search = None;
        }
        Ok(Found::Something)
    }

    /// Searches for a division from the next byte on.
    fn search(&mut self, finder: &dyn Text) -> io::Result<Found> {
        let reach = finder.reach();
        let mut text = self.before[self.before.len().saturating_sub(reach)..].to_vec();
        let from = text.len();
        self.append_to(&mut text, reach + self.step)?;
        let at_end = self.ended && (text.len() - from) as u64 == self.queued;
        self.step = (2 * self.step).min(LARGEST_STEP);
        match finder.division(&text, from, at_end) {
            Some(found) => self.found = Some(self.at + (found - from) as u64),
            None if at_end => self.search = None,
            // Later bytes could change the meaning of the last of these.
            None => self.search = Some(self.at + (text.len() - from - reach) as u64),
        }
        Ok(Found::Something)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::formats::{Format, Layout, MAX_RECORD};

    /// Chains whose first byte is their length; 0 and 255 begin none.
    #[derive(Debug)]
    struct Counted;

    impl Chains for Counted {
        fn link(&self, bytes: &[u8], max_record: usize) -> Link {
            assert!(!bytes.is_empty() && max_record == MAX_RECORD);
            match bytes[0] {
                0 => Link::Lost(1),
                // The length of these is in the second byte.
                255 => bytes.get(1).map_or(Link::More, |&len| Link::Chain(u64::from(len) + 2)),
                len => Link::Chain(len.into()),
            }
        }
    }

    fn finder(layout: Layout) -> Finder {
        match layout {
            Layout::Text(text) => Finder::Text(text),
            Layout::Records(len) => Finder::Records(len as u64),
            Layout::Chains(chains) => Finder::Chains { chains, max_record: MAX_RECORD, known: 0 },
            Layout::Sections(_) | Layout::Tables(_) => unreachable!("no sieve is used"),
        }
    }

    /// The parts of all shards of some bytes, as they would be divided in a regular file or a stream, and the places
    /// where they begin, in order.
    fn parts(bytes: &[u8], layout: Layout, count: u32, places: bool, piece: usize) -> Vec<(u64, u32)> {
        let mut parts = Vec::new();
        let mut total = 0;
        for index in 0..count {
            let shard = Shard::new(index, count).unwrap();
            let range = shard.range(bytes.len() as u64);
            let finder = finder(layout);
            let start = match layout {
                Layout::Chains(_) => 0,
                _ => range.start.saturating_sub(finder.reach() as u64),
            };
            let division = if places {
                Division::Places { start, from: range.start, to: (!shard.is_last()).then_some(range.end) }
            } else {
                Division::Turns
            };
            let mut rest = if places { &bytes[start as usize..] } else { bytes };
            let mut sieve = Sieve::new(shard, finder, division, false);
            let mut begun = None;
            loop {
                let place = sieve.place();
                match sieve.next().unwrap() {
                    Sifted::Before(_) => unreachable!("bytes of other shards are dropped"),
                    Sifted::Bytes(passed) => {
                        assert!(*passed == bytes[place as usize..][..passed.len()]);
                        total += passed.len();
                        if begun.is_none() {
                            begun = Some(place);
                            parts.push((place, index));
                        }
                    }
                    Sifted::Dropped(_) => assert_eq!(begun, None),
                    Sifted::EndOfPart => begun = None,
                    Sifted::More if rest.is_empty() => sieve.end(),
                    Sifted::More => {
                        let (first, after) = rest.split_at(piece.min(rest.len()));
                        sieve.push(first.to_vec().into());
                        rest = after;
                    }
                    Sifted::End => break,
                }
            }
        }
        assert_eq!(total, bytes.len());
        parts.sort_unstable();
        parts
    }

    /// That each part begins at one of these places, at the first that is at or after its own, and that each shard has
    /// one, or its turn.
    fn check(expected: &[(u64, u32)], starts: &[u64], len: u64, count: u32, places: bool) {
        let first = |from: u64| starts[starts.partition_point(|&start| start < from).min(starts.len() - 1)];
        for (at, &(place, owner)) in expected.iter().enumerate() {
            if places {
                assert_eq!(place, first(Shard::new(owner, count).unwrap().range(len).start));
            } else {
                assert_eq!(owner, at as u32 % count);
                assert!(starts.binary_search(&place).is_ok());
            }
        }
        assert_eq!(expected[0].0, 0);
    }

    #[test]
    fn records_and_chains_are_whole_however_the_bytes_arrive() {
        let mut random = Random::new(5);
        let mut chains = Vec::new();
        let mut starts = Vec::new();
        while chains.len() < 300_000 {
            starts.push(chains.len() as u64);
            match random.bits() as u8 {
                255 => {
                    let len = random.bits() as u8;
                    chains.extend([255, len]);
                    chains.extend(std::iter::repeat_n(7, len.into()));
                }
                0 => chains.push(0),
                len => chains.extend(std::iter::repeat_n(len, len.into())),
            }
        }
        let multiples: Vec<u64> = (0..=chains.len() as u64 / 40).map(|number| number * 40).collect();
        let layouts = [(Layout::Chains(&Counted), &starts), (Layout::Records(40), &multiples)];
        for (layout, starts) in layouts {
            for (count, places) in [(1, true), (2, true), (7, true), (100, true), (2, false), (3, false)] {
                let expected = parts(&chains, layout, count, places, usize::MAX);
                check(&expected, starts, chains.len() as u64, count, places);
                assert!(places || expected.len() > 50);
                for piece in [13, 1000, 70_000] {
                    assert_eq!(parts(&chains, layout, count, places, piece), expected, "{count} {places} {piece}");
                }
            }
        }
        // The rest of a record, or of a chain, belongs to the last part.
        for layout in [Layout::Chains(&Counted), Layout::Records(40)] {
            for len in [0, 1, 39, 41, 79] {
                for count in [1, 2, 5] {
                    for places in [true, false] {
                        let found = parts(&[40; 80][..len], layout, count, places, 3);
                        assert!(found.iter().all(|(place, _)| place % 40 == 0), "{len} {found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn parts_begin_at_divisions_however_the_bytes_arrive() {
        let mut random = Random::new(3);
        let mut text = Vec::new();
        while text.len() < 400_000 {
            let len = random.bits() % 200;
            text.extend((0..len).map(|_| b' ' + (random.bits() % 64) as u8));
            text.push(b'\n');
        }
        for (format, count) in [(Format::EVALS, 7), (Format::FEN, 3), (Format::PGN, 2)] {
            for places in [true, false] {
                let expected = parts(&text, format.layout(), count, places, 1 << 20);
                for piece in [1000, 70_000] {
                    let found = parts(&text, format.layout(), count, places, piece);
                    assert_eq!(found, expected, "{format} {places} {piece}");
                }
                for &(place, _) in expected.iter().filter(|(place, _)| *place > 0) {
                    assert_eq!(text[place as usize - 1], b'\n');
                }
                match (format == Format::PGN, places) {
                    // There is no game.
                    (true, _) => assert_eq!(expected, [(0, 0)]),
                    (false, true) => {
                        for (index, &(place, owner)) in (0..).zip(&expected) {
                            let range = Shard::new(index, count).unwrap().range(400_000);
                            assert_eq!(owner, index);
                            assert!((range.start..range.start + 1000).contains(&place));
                        }
                    }
                    (false, false) => {
                        assert!(expected.len() > 80);
                        let owners = (0..count).cycle();
                        assert!(expected.iter().zip(owners).all(|(part, owner)| part.1 == owner));
                    }
                }
            }
        }
    }

    #[test]
    fn tiny_texts_have_one_part_for_each_record_at_most() {
        for text in ["", "a", "\n", "a\nb\n", "a\n\nb", "\n\n\n\n\n\n\n\n"] {
            for count in [1, 2, 3, 7, 100] {
                for places in [true, false] {
                    let found = parts(text.as_bytes(), Format::EVALS.layout(), count, places, 1);
                    assert!(found.len() <= text.lines().count().max(1), "{text:?} {found:?}");
                }
            }
        }
    }
}
