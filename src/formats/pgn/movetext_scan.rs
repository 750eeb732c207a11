//! Scans movetext for the places where moves begin and end, several blocks of sixty-four bytes at a time.
//!
//! What the blocks contain is found by [`scan_block`], in vectors. Almost nothing is carried from block to block, so that the
//! CPU can work on several of them at once; the cost does not depend on the text, there is hardly a branch to
//! mispredict, and the places of the next hundred moves are known before the first of them is played.
//!
//! Only simple text is handled here: moves, move numbers, blanks, and comments in one line.
//! [`Scan::fill`] stops before any token that is something else (variations, NAGs, results, tags, empty
//! lines, unbalanced braces, garbage), which is left to [`super::game`].

pub(super) use crate::kernels::movetext::Commands;
use crate::kernels::movetext::{Carry, Found, scan_block};
#[cfg(target_arch = "x86_64")]
use crate::simd::bytes::Avx512Blocks;
use crate::simd::bytes::{AnyBlocks, Block, Blocks, Classes};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Scalar, Simd};

/// A command of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Offset of the byte after its `%`, or after the brace of a comment and at most one blank.
    pub(super) at: u32,
    /// Number of moves before it.
    pub(super) moves: u32,
}

const BLOCK: usize = size_of::<Block>();
/// Maximum number of blocks to look at together.
const BLOCKS: usize = 8;
/// Maximum number of moves to look for at once.
pub(super) const ENOUGH: usize = 128;
/// Maximum number of commands that are kept; a comment with more of them is read on its own.
const COMMANDS: usize = 1 << 12;
/// Longer texts are not scanned.
const LONGEST: usize = u32::MAX as usize - BLOCK;

/// A text, the place from which on it is scanned, and what for.
#[derive(Clone, Copy)]
struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
    commands: Commands,
    enough: usize,
}

/// The places found in a text, in order.
#[derive(Debug)]
pub(super) struct Scan {
    isa: Isa,
    starts: Places,
    ends: Places,
    /// Commands of comments.
    pub(super) commands: Vec<Command>,
}

/// How this CPU scans.
#[derive(Clone, Copy, Debug)]
pub(super) enum Isa {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512Blocks, Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2, AnyBlocks),
    Any(AnyBlocks),
}

impl Isa {
    /// The way of every CPU.
    pub(super) fn any() -> Self {
        Self::Any(AnyBlocks::detect())
    }
    /// In vectors of AVX2, if this CPU has them.
    pub(super) fn avx2() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return Avx2::detect().map(|simd| Self::Avx2(simd, AnyBlocks::detect()));
        #[cfg(not(target_arch = "x86_64"))]
        None
    }
    /// In vectors of AVX-512, if this CPU has them, and VBMI2.
    pub(super) fn avx512() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return Some(Self::Avx512(Avx512Blocks::detect()?, Avx512::detect()?));
        #[cfg(not(target_arch = "x86_64"))]
        None
    }
}

/// A list that may be written past its end.
#[derive(Debug, Default)]
struct Places {
    slots: Vec<u32>,
    len: usize,
}

impl Places {
    fn all(&self) -> &[u32] {
        &self.slots[..self.len]
    }
    /// Adds the place of each bit of a block.
    #[inline(always)]
    fn put<B: Blocks>(&mut self, blocks: B, bits: u64, block: usize) {
        if self.slots.len() < self.len + BLOCK {
            self.grow();
        }
        if let Some(slots) = self.slots[self.len..].first_chunk_mut::<BLOCK>() {
            blocks.put_numbers(bits, block as u32, slots);
        }
        self.len += bits.count_ones() as usize;
    }
    #[cold]
    fn grow(&mut self) {
        self.slots.resize(2 * self.len + 16 * BLOCK, 0);
    }
}

impl Default for Scan {
    /// In the fastest way of this CPU.
    fn default() -> Self {
        Self::new(Isa::avx512().or_else(Isa::avx2).unwrap_or_else(Isa::any))
    }
}

impl Scan {
    pub(super) fn new(isa: Isa) -> Self {
        Self { isa, starts: Places::default(), ends: Places::default(), commands: Vec::new() }
    }
    /// The beginnings of moves.
    #[inline(always)]
    pub(super) fn starts(&self) -> &[u32] {
        self.starts.all()
    }
    /// The ends of moves, without check and annotation signs.
    #[inline(always)]
    pub(super) fn ends(&self) -> &[u32] {
        self.ends.all()
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) {
        self.starts.len = 0;
        self.ends.len = 0;
        self.commands.clear();
    }

    /// Scans the text from `at` on, where a token begins, until there are `enough` moves. Returns the place up to which
    /// everything has been found, and whether the token there is not simple.
    pub(super) fn fill(&mut self, bytes: &[u8], at: usize, commands: Commands, enough: usize) -> (usize, bool) {
        let text = Text { bytes, at, commands, enough };
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(blocks, simd) => blocks.enter(
                #[inline(always)]
                || self.fill_with(simd, blocks, text),
            ),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd, blocks) => simd.enter(
                #[inline(always)]
                || self.fill_with(simd, blocks, text),
            ),
            Isa::Any(blocks) => self.fill_with(Scalar, blocks, text),
        }
    }

    #[inline(always)]
    fn fill_with<S: Simd, B: Blocks>(&mut self, simd: S, blocks: B, text: Text<'_>) -> (usize, bool) {
        if text.bytes.len() > LONGEST {
            return (text.at, true);
        }
        // Where few moves are wanted, most of several blocks would be looked at in vain.
        if text.enough < ENOUGH { self.look_on(Scalar, blocks, text) } else { self.look_on(simd, blocks, text) }
    }

    #[inline(always)]
    fn look_on<S: Simd, B: Blocks>(&mut self, simd: S, blocks: B, text: Text<'_>) -> (usize, bool) {
        let Text { bytes, at, commands, enough } = text;
        let mut carry = Carry::begin(simd);
        let (mut classes, mut found) = (Classes::default(), Found::default());
        // Where the last token or comment begins.
        let mut begin = at;
        let mut first = at;
        loop {
            let rest = &bytes[first..];
            let is_last = match rest.as_chunks::<BLOCK>().0.get(..S::WIDTH) {
                Some(some) => {
                    blocks.classes(some, &mut classes);
                    false
                }
                None => {
                    // The text ends as a token does, before a blank: the last word of a cell of a table is a move like
                    // the others. The zeros behind it are not simple.
                    let mut some = [[0; BLOCK]; BLOCKS];
                    let (text, end) = some.as_flattened_mut().split_at_mut(rest.len());
                    text.copy_from_slice(rest);
                    end[0] = b' ';
                    blocks.classes(&some[..S::WIDTH], &mut classes);
                    true
                }
            };
            scan_block(simd, &classes, commands, &mut carry, &mut found);
            let is_odd = found.odd_lanes != 0;
            // What follows a byte that is not simple is not looked at.
            let lanes = if is_odd { found.odd_lanes.trailing_zeros() as usize + 1 } else { S::WIDTH };
            for lane in 0..lanes {
                let block = first + lane * BLOCK;
                if found.commands[lane] != 0 {
                    self.keep_commands(block, found.commands[lane], found.moves[lane]);
                }
                self.starts.put(blocks, found.moves[lane], block);
                self.ends.put(blocks, found.ends[lane], block);
            }
            if is_odd {
                // Goes back to the beginning of the token or comment that contains it.
                let odd = found.odd[lanes - 1];
                found.begins[lanes - 1] &= odd ^ (odd - 1);
            }
            begin = last_bit(&found.begins[..lanes]).map_or(begin, |bit| first + bit);
            if is_last && !is_odd && !carry.is_in_comment() {
                // The blank took the place of the last zero.
                begin = bytes.len();
            }
            if is_odd || is_last || self.commands.len() > COMMANDS {
                self.drop_from(begin);
                return (begin.min(bytes.len()), true);
            }
            first += S::WIDTH * BLOCK;
            if self.starts.len >= enough && !carry.is_in_comment() {
                self.drop_from(begin);
                return (begin, false);
            }
        }
    }

    fn keep_commands(&mut self, block: usize, mut commands: u64, moves: u64) {
        while commands != 0 {
            let place = commands.trailing_zeros();
            let before = moves & ((1 << place) - 1);
            self.commands
                .push(Command { at: block as u32 + place, moves: self.starts.len as u32 + before.count_ones() });
            commands &= commands - 1;
        }
    }

    /// Removes everything that begins at this place or later.
    fn drop_from(&mut self, at: usize) {
        while self.starts().last().is_some_and(|&start| start as usize >= at) {
            self.starts.len -= 1;
        }
        self.ends.len = self.starts.len;
        while self.commands.last().is_some_and(|last| last.at as usize >= at) {
            self.commands.pop();
        }
    }
}

/// The number of the last bit that is set.
#[inline(always)]
fn last_bit(words: &[u64]) -> Option<usize> {
    let word = words.iter().rposition(|&word| word != 0)?;
    Some(64 * word + words[word].ilog2() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;

    /// Everything that is found in a text, from its beginning to the first token that is not simple.
    fn found(isa: Isa, bytes: &[u8], commands: Commands, enough: usize) -> (usize, Vec<u32>, Vec<u32>, Vec<Command>) {
        let mut scan = Scan::new(isa);
        let (mut at, mut stops) = (0, false);
        let (mut starts, mut ends, mut all_commands) = (Vec::new(), Vec::new(), Vec::new());
        while !stops {
            scan.clear();
            (at, stops) = scan.fill(bytes, at, commands, enough);
            let moves = starts.len() as u32;
            starts.extend_from_slice(scan.starts());
            ends.extend_from_slice(scan.ends());
            let found = scan.commands.iter().map(|command| Command { moves: moves + command.moves, ..*command });
            // Whether a comment begins with a command is not known where the block ends before that.
            let is_command = |at: usize| bytes.get(at + 1) == Some(&b'%') && bytes[at - 1] != b'%';
            all_commands.extend(found.filter(|command| !is_command(command.at as usize)));
        }
        (at, starts, ends, all_commands)
    }

    #[test]
    fn every_way_finds_the_same() {
        let sample =
            std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/lichess-2025-05.pgn")).expect("the sample");
        let mut random = Random::new(30);
        let pieces =
            "Nf3 |12. |12.e4 |{ [%clk 0:01:02] } |{[%eval 0.3]}|{ +0.31/12 1.5s } |O-O+ |\n| |e8=Q# |{ e }\r\n";
        // Rarely, something that is not simple.
        let pieces: Vec<&str> = pieces.split('|').chain(["{", "}", "1-0\n\n", "a", "5"]).collect();
        let mut texts: Vec<Vec<u8>> = sample.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        texts.retain(|line| line.starts_with(b"1."));
        for _ in 0..3000 {
            // Long comments, words and numbers cross the blocks.
            let usual = random.below(11) + 1;
            let mut text = Vec::new();
            for _ in 0..random.below(400) {
                let choice = if random.below(20) == 0 { 16 } else { usual };
                let piece = pieces[random.below(choice) as usize];
                for _ in 0..if random.below(40) == 0 { random.below(600) } else { 1 } {
                    text.extend_from_slice(piece.as_bytes());
                }
            }
            texts.push(text);
        }
        for text in texts {
            for commands in [Commands::None, Commands::Evals, Commands::All] {
                let plain = found(Isa::any(), &text, commands, ENOUGH);
                // Numbers of moves that one block, and that several, may have.
                for enough in [8, ENOUGH, usize::MAX] {
                    let shown = String::from_utf8_lossy(&text);
                    for isa in [Isa::avx2(), Isa::avx512()].into_iter().flatten() {
                        assert_eq!(found(isa, &text, commands, enough), plain, "{commands:?} {enough} {shown}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_end_of_a_text_ends_a_word() {
        for isa in [Some(Isa::any()), Isa::avx2(), Isa::avx512()].into_iter().flatten() {
            for blanks in 0..600 {
                let mut text = " ".repeat(blanks);
                text.push_str("e4 e5 Nf3#");
                let (at, starts, ends, _) = found(isa, text.as_bytes(), Commands::None, ENOUGH);
                let places = |places: [usize; 3]| places.map(|place| (blanks + place) as u32).to_vec();
                assert_eq!((at, starts, ends), (text.len(), places([0, 3, 6]), places([2, 5, 9])));
                // A comment that does not end is not simple.
                text.push_str(" {");
                assert_eq!(found(isa, text.as_bytes(), Commands::None, ENOUGH).0, text.len() - 1);
            }
        }
    }
}
