//! The sieve: which bytes of an input belong to a shard.
//!
//! An input is divided into *parts* at certain places, and every part belongs to one shard. The parts of a shard are cut
//! into chunks and decoded one by one, like inputs of their own; all other bytes are dropped. How an input is divided
//! depends on its content, never on threads, chunks, or how its bytes arrive:
//!
//! | input | parts |
//! | --- | --- |
//! | text in a regular file of L bytes | N parts; part I begins at the first division at or after byte L·I/N |
//! | the same in a zstd file of several frames | part I begins at the first division that is [`Codec::reach`](crate::formats::Codec::reach) bytes after the beginning of the first frame that begins at or after byte L·I/N of the compressed file |
//! | any other text: pipes, gzip, bzip2, a single frame | many parts, dealt out in turn; each begins at the first division that is [`turn_len`] bytes after the beginning of the part before |
//! | boards files | blocks, see [`boards::Share`](crate::formats::boards::Share) |
//!
//! The first part begins at the beginning of the input, and where there is no division, a part is empty or the one before
//! it goes on to the end.
//!
//! Why this is exact: a *division* ([`Codec::division`](crate::formats::Codec::division)) is a place where the text can be cut, because a record begins
//! there whatever came before. So the parts decode to what the whole input decodes to, as chunks do. And whether a place
//! is a division depends only on the 64 KiB before and after it: one shard that comes to a place from the front, as the
//! end of its part, and another that enters the file shortly before it, find the same one. For lines any line feed will
//! do, but for the blocks of `perft` files. For PGN it is a [`boundary`](crate::formats::pgn::boundary): the decoder
//! begins a game there even in a comment, by its own rule. If a frame begins in the middle of a file, the bytes before it
//! are not known, so the search begins only when the reach is full.
//!
//! There is no division within a record that is too long either: such a game ends where reading continues, at the first
//! division after the limit. What is taken for a giant before its end is known is taken for one in a shard as well.
//!
//! A text without divisions, such as a single line or a game of any length, is one part.

use crate::formats::Format;
use crate::input::{Bytes, Division, Shard};
use std::collections::VecDeque;
use std::io;

/// Bytes that are examined at once for a division; more if there is none among them.
const FIRST_STEP: usize = 16 << 10;
const LARGEST_STEP: usize = 1 << 20;

/// The least length of a part that begins at this place, where parts are dealt out in turn: short inputs are divided
/// finely, and long ones into parts that are worth the effort.
fn turn_len(place: u64) -> u64 {
    (place / 256).clamp(4 << 10, 1 << 20)
}

/// Lets the parts of a shard pass, and drops the others.
#[derive(Debug)]
pub(super) struct Sieve {
    shard: Shard,
    format: Format,
    plan: Plan,
    /// Bytes that have not passed yet.
    queue: VecDeque<Bytes>,
    queued: u64,
    /// Their place.
    at: u64,
    /// The bytes before them, as far as they matter.
    before: Vec<u8>,
    /// The next division is searched from here; `None` if there is none, or if it is not known yet.
    search: Option<u64>,
    /// Bytes to examine in the next search.
    step: usize,
    /// Where the next part begins.
    found: Option<u64>,
    /// Whether the present part belongs to the shard.
    is_own: bool,
    /// The bytes that follow belong to other shards.
    is_over: bool,
    /// No more bytes will come.
    ended: bool,
}

#[derive(Debug)]
enum Plan {
    /// One part, which ends at the first division at or after this place.
    One { to: Option<u64> },
    /// The present part has this number.
    Turns(u64),
}

/// What the sieve does with the next bytes.
#[derive(Debug)]
pub(super) enum Sifted {
    /// Bytes of the shard.
    Bytes(Bytes),
    /// A number of bytes of other shards has been dropped.
    Dropped(u64),
    /// A part of the shard has ended.
    EndOfPart,
    /// More bytes are needed.
    More,
    /// Nothing more belongs to the shard.
    End,
}

impl Sieve {
    /// A sieve for an input that was divided in this way.
    pub(super) fn new(shard: Shard, format: Format, division: Division) -> Self {
        let mut sieve = Self {
            shard,
            format,
            plan: Plan::One { to: None },
            queue: VecDeque::new(),
            queued: 0,
            at: 0,
            before: Vec::new(),
            search: None,
            step: FIRST_STEP,
            found: None,
            is_own: false,
            is_over: false,
            ended: false,
        };
        match division {
            Division::Places { start, from, to } => {
                sieve.at = start;
                sieve.plan = Plan::One { to };
                sieve.search = Some(from);
            }
            Division::Frames { is_first, .. } => {
                let reach = format.reach() as u64;
                sieve.search = Some(if is_first { 0 } else { reach });
            }
            Division::Nothing => sieve.is_over = true,
            Division::Turns => {
                sieve.plan = Plan::Turns(0);
                sieve.is_own = shard.has_turn(0);
                sieve.search = Some(turn_len(0));
            }
        }
        // The first part of all begins at the beginning.
        if !sieve.is_own && sieve.search == Some(0) {
            sieve.begin_part(0);
        }
        sieve
    }

    /// Where the next byte belongs.
    pub(super) fn place(&self) -> u64 {
        self.at
    }

    /// Appends at most this number of the bytes at hand, which after the end of a part are the rest of the input, or at
    /// least the reach of its format.
    pub(super) fn append_to(&self, text: &mut Vec<u8>, most: usize) -> io::Result<()> {
        let end = text.len() + most;
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

    /// Whether the parts of the shard have ended before the input has.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
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
        let end = place + self.format.reach() as u64;
        if let Plan::One { to: to @ None } = &mut self.plan {
            *to = Some(end);
            if self.is_own {
                self.search = Some(end);
            }
        }
    }

    /// Whether what is to be checked at the end of the input is for this shard to check: it has the last part.
    pub(super) fn has_end(&self) -> bool {
        !self.is_over && (self.is_own || self.shard.is_last() && matches!(self.plan, Plan::One { .. }))
    }

    /// What is done with the next bytes.
    pub(super) fn next(&mut self) -> io::Result<Sifted> {
        loop {
            if self.is_over {
                return Ok(Sifted::End);
            }
            if self.found == Some(self.at) {
                self.found = None;
                let was_own = self.is_own;
                self.begin_part(self.at);
                if was_own {
                    return Ok(Sifted::EndOfPart);
                }
                continue;
            }
            let sure = self.found.or(self.search);
            if sure.is_none_or(|sure| self.at < sure) {
                let most = sure.map_or(u64::MAX, |sure| sure - self.at);
                return Ok(match self.take(most)? {
                    Some(bytes) if self.is_own => Sifted::Bytes(bytes),
                    Some(bytes) => {
                        bytes.release();
                        Sifted::Dropped(bytes.len() as u64)
                    }
                    None if self.ended => Sifted::End,
                    None => Sifted::More,
                });
            }
            if !self.ended && self.queued <= self.format.reach() as u64 {
                return Ok(Sifted::More);
            }
            self.search()?;
        }
    }

    /// A part begins here.
    fn begin_part(&mut self, place: u64) {
        match &mut self.plan {
            Plan::One { .. } if self.is_own => self.is_over = true,
            Plan::One { to } => {
                self.is_own = true;
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

    /// At most this number of bytes, all that are at hand together.
    fn take(&mut self, most: u64) -> io::Result<Option<Bytes>> {
        let Some(mut bytes) = self.queue.pop_front() else {
            return Ok(None);
        };
        if bytes.len() as u64 > most {
            self.queue.push_front(bytes.slice(most as usize..bytes.len()));
            bytes = bytes.slice(0..most as usize);
        }
        let reach = self.format.reach();
        let last = bytes.slice(bytes.len().saturating_sub(reach)..bytes.len());
        last.check()?;
        let kept = reach - last.len();
        self.before.drain(..self.before.len().saturating_sub(kept));
        self.before.extend_from_slice(&last);
        last.check()?;
        self.at += bytes.len() as u64;
        self.queued -= bytes.len() as u64;
        Ok(Some(bytes))
    }

    /// Searches for a division from the next byte on.
    fn search(&mut self) -> io::Result<()> {
        let reach = self.format.reach();
        let mut text = self.before.clone();
        let from = text.len();
        self.append_to(&mut text, reach + self.step)?;
        let at_end = self.ended && (text.len() - from) as u64 == self.queued;
        self.step = (2 * self.step).min(LARGEST_STEP);
        match self.format.division(&text, from, at_end) {
            Some(found) => self.found = Some(self.at + (found - from) as u64),
            None if at_end => self.search = None,
            // Later bytes could change what the last of these mean.
            None => self.search = Some(self.at + (text.len() - from - reach) as u64),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;

    /// The parts of all shards of a text, as it would be divided in a regular file or a stream, and the places where
    /// they begin, in order.
    fn parts(text: &[u8], format: Format, count: u32, places: bool, piece: usize) -> Vec<(u64, u32)> {
        let mut parts = Vec::new();
        let mut total = 0;
        for index in 0..count {
            let shard = Shard::new(index, count).unwrap();
            let range = shard.range(text.len() as u64);
            let start = range.start.saturating_sub(format.reach() as u64);
            let division = match places {
                true => Division::Places { start, from: range.start, to: (!shard.is_last()).then_some(range.end) },
                false => Division::Turns,
            };
            let mut rest = match places {
                true => &text[start as usize..],
                false => text,
            };
            let mut sieve = Sieve::new(shard, format, division);
            let mut begun = None;
            loop {
                let place = sieve.place();
                match sieve.next().unwrap() {
                    Sifted::Bytes(bytes) => {
                        assert!(*bytes == text[place as usize..][..bytes.len()]);
                        total += bytes.len();
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
        assert_eq!(total, text.len());
        parts.sort_unstable();
        parts
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
                let expected = parts(&text, format, count, places, 1 << 20);
                for piece in [1000, 70_000] {
                    let found = parts(&text, format, count, places, piece);
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
                    let found = parts(text.as_bytes(), Format::EVALS, count, places, 1);
                    assert!(found.len() <= text.lines().count().max(1), "{text:?} {found:?}");
                }
            }
        }
    }
}
