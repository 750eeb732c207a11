//! Sets of games by their numbers: a bit for each, in blocks, because some files number games with gaps.

use std::collections::BTreeMap;

const GAMES_OF_BLOCK: u64 = 4096;

/// A set of games.
#[derive(Debug, Default)]
pub(super) struct GameBits {
    blocks: BTreeMap<u64, Box<[u64; GAMES_OF_BLOCK as usize / 64]>>,
    count: u64,
}

/// The block, the word and the bit of a number.
const fn place(number: u64) -> (u64, usize, u64) {
    (number / GAMES_OF_BLOCK, (number % GAMES_OF_BLOCK / 64) as usize, 1 << (number % 64))
}

impl GameBits {
    pub(super) fn insert(&mut self, number: u64) {
        let (block, word, bit) = place(number);
        let words = self.blocks.entry(block).or_insert_with(|| Box::new([0; _]));
        self.count += u64::from(words[word] & bit == 0);
        words[word] |= bit;
    }
    pub(super) fn contains(&self, number: u64) -> bool {
        let (block, word, bit) = place(number);
        self.blocks.get(&block).is_some_and(|words| words[word] & bit != 0)
    }
    /// Number of games.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}
