//! Rows of the opening tree: what single games and several games have of a position and a move, and their sums.
//!
//! Most positions of a tree are those of one game, so a row of one game has its own form, which is less than half as long as
//! that of sums. A [`Pile`] has both; equal rows of the piles of a part are put next to each other by sorting their places,
//! and added up while they are handed on. Positions that come again and again, as those of the first plies do, are added up
//! [before](Front) they reach the piles.

use crate::partition::keyed_rows::{Row, RowBuffer};
use bytemuck::{Pod, Zeroable};
use std::io;

/// A position as rows have it: its planes, and the side to move, castling rights and en passant square.
pub(super) type Words = [u64; 5];

/// Whether Black is to move.
pub(super) fn is_black(words: &Words) -> bool {
    words[4] >> 63 != 0
}

/// A position and a move in one game; the key of the position is kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct OneGame {
    pub(super) words: Words,
    pub(super) mv: u16,
    pub(super) ply: u16,
    /// The ratings of the mover and of the opponent, and whether they are known.
    pub(super) elos: [u16; 2],
    pub(super) has_elos: [u8; 2],
    /// 0 without a result, else 1 and its place in [`TreeRow::results`].
    pub(super) result: u16,
    /// The day, as a number that sorts; 0 if there is none.
    pub(super) day: u32,
}

impl OneGame {
    /// A move, without its position, which is known later: with the place of the result in [`TreeRow::results`], the ratings of
    /// the mover and of the opponent, and the day.
    #[inline(always)]
    pub(super) fn new(mv: u16, ply: u16, result: Option<u8>, elos: [Option<u16>; 2], day: u32) -> Self {
        Self {
            mv,
            ply,
            elos: elos.map(Option::unwrap_or_default),
            has_elos: elos.map(|elo| elo.is_some().into()),
            result: result.map_or(0, |place| u16::from(place) + 1),
            day,
            ..Self::default()
        }
    }

    /// The same as counts, with the key of the position.
    pub(super) fn counts(&self, key: u64) -> TreeRow {
        let mut row = TreeRow {
            key,
            words: self.words,
            mv: self.mv,
            ply: self.ply,
            games: 1,
            dates: [self.day; 2],
            ..TreeRow::default()
        };
        let [own, opponent] = self.elos.map(u64::from);
        if self.has_elos[0] != 0 {
            row.elos = [own, 1];
        }
        if let Some(result) = self.result.checked_sub(1) {
            row.results[usize::from(result)] = 1;
            if self.has_elos[1] != 0 {
                let points = if is_black(&self.words) { result } else { 2 - result };
                row.opponents = [opponent, points.into(), 1];
            }
        }
        row
    }
}

/// The counts of a position and a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct TreeRow {
    pub(super) key: u64,
    pub(super) words: Words,
    pub(super) mv: u16,
    pub(super) ply: u16,
    /// The row is a single game, whose number stands in place of the number of games.
    pub(super) is_single: u32,
    pub(super) games: u64,
    /// Won by White, drawn, won by Black.
    pub(super) results: [u64; 3],
    /// The sum and number of the ratings of the mover.
    pub(super) elos: [u64; 2],
    /// Of games with a result and the opponent's rating: the sum of these ratings, half points of the mover, number.
    pub(super) opponents: [u64; 3],
    /// The first and the last day, as numbers that sort; 0 if there is none.
    pub(super) dates: [u32; 2],
}

impl TreeRow {
    pub(super) fn add(&mut self, other: &Self) {
        self.ply = self.ply.min(other.ply);
        self.games += other.games;
        for (own, other) in self.results.iter_mut().zip(other.results) {
            *own += other;
        }
        for (own, other) in self.elos.iter_mut().zip(other.elos) {
            *own += other;
        }
        for (own, other) in self.opponents.iter_mut().zip(other.opponents) {
            *own += other;
        }
        self.dates = match (self.dates, other.dates) {
            (own, [0, _]) => own,
            ([0, _], other) => other,
            ([first, last], [other_first, other_last]) => [first.min(other_first), last.max(other_last)],
        };
    }
}

impl Row for TreeRow {
    fn key(&self) -> u64 {
        self.key
    }
}

/// Number of rows of a block, as bits.
const BLOCK: u32 = 8;

/// Rows in blocks of a fixed size, which stay where they are as more rows are added.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    len: usize,
}

/// The keys of some rows, and the rows: most keys are only compared.
#[derive(Debug)]
struct Block {
    keys: Vec<u64>,
    rows: Vec<OneGame>,
}

/// Bytes of a row and its key.
const BYTES_OF_ONE: usize = size_of::<u64>() + size_of::<OneGame>();

impl Blocks {
    #[inline(always)]
    fn push(&mut self, key: u64, one: OneGame) {
        let block = self.len >> BLOCK;
        if block == self.blocks.len() {
            self.blocks.push(Block { keys: Vec::with_capacity(1 << BLOCK), rows: Vec::with_capacity(1 << BLOCK) });
        }
        let block = &mut self.blocks[block];
        block.keys.push(key);
        block.rows.push(one);
        self.len += 1;
    }
    #[inline]
    fn get(&self, row: usize) -> Option<(u64, &OneGame)> {
        let block = self.blocks.get(row >> BLOCK)?;
        let row = row % (1 << BLOCK);
        Some((*block.keys.get(row)?, block.rows.get(row)?))
    }
    fn keys(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().flat_map(|block| block.keys.iter().copied())
    }
    /// Removes all rows; the memory is kept.
    fn clear(&mut self) {
        for Block { keys, rows } in &mut self.blocks {
            keys.clear();
            rows.clear();
        }
        self.len = 0;
    }
    fn bytes(&self) -> u64 {
        (self.len * BYTES_OF_ONE) as u64
    }
}

/// Rows of a part of the tree.
#[derive(Debug, Default)]
pub(super) struct Pile {
    pub(super) ones: Blocks,
    pub(super) sums: Vec<TreeRow>,
}

/// A row of some piles.
#[derive(Clone, Copy)]
struct Place {
    key: u64,
    pile: u32,
    /// The rows of one game come first.
    row: u32,
}

/// A row of a pile.
enum Found<'a> {
    One(u64, &'a OneGame),
    Sum(&'a TreeRow),
}

impl Found<'_> {
    fn order(&self) -> (&Words, u16) {
        match self {
            Self::One(_, one) => (&one.words, one.mv),
            Self::Sum(sum) => (&sum.words, sum.mv),
        }
    }
    fn games(&self) -> u64 {
        match self {
            Self::One(..) => 1,
            Self::Sum(sum) => sum.games,
        }
    }
    fn counts(&self) -> TreeRow {
        match self {
            Self::One(key, one) => one.counts(*key),
            Self::Sum(sum) => **sum,
        }
    }
}

fn find(piles: &[Pile], place: Place) -> Found<'_> {
    let Pile { ones, sums } = &piles[place.pile as usize];
    match ones.get(place.row as usize) {
        Some((key, one)) => Found::One(key, one),
        None => Found::Sum(&sums[place.row as usize - ones.len]),
    }
}

/// The rows of piles, by their keys.
fn sorted(piles: &[Pile]) -> Vec<Place> {
    let mut places = Vec::with_capacity(piles.iter().map(RowBuffer::len).sum());
    for (pile, number) in piles.iter().zip(0..) {
        let keys = pile.ones.keys().chain(pile.sums.iter().map(|sum| sum.key));
        places.extend(keys.zip(0..).map(|(key, row)| Place { key, pile: number, row }));
    }
    places.sort_unstable_by_key(|place| place.key);
    places
}

/// Groups of places of the same key in the order of position and move; calls a function for each position and move.
fn for_each_move<'a>(piles: &'a [Pile], of_key: &mut [Place], mut each: impl FnMut(Found<'a>, &[Place])) {
    if of_key.len() > 1 {
        of_key.sort_unstable_by(|&one, &other| find(piles, one).order().cmp(&find(piles, other).order()));
    }
    for equal in of_key.chunk_by(|&one, &other| find(piles, one).order() == find(piles, other).order()) {
        each(find(piles, equal[0]), &equal[1..]);
    }
}

/// The sum of a row and others of the same position and move.
fn sum(piles: &[Pile], first: &Found<'_>, others: &[Place]) -> TreeRow {
    let mut sum = first.counts();
    others.iter().for_each(|&place| sum.add(&find(piles, place).counts()));
    sum
}

/// Number of sums that are handed on together.
const TOGETHER: usize = 1 << 8;

/// Adds the rows of piles up, and hands them on in the order of key, position and move, those of a key together. Keys of which
/// all rows have fewer games than `least` are left out.
pub(super) fn add_up<E>(
    piles: &[Pile],
    least: u64,
    mut sink: impl FnMut(&[TreeRow]) -> Result<(), E>,
) -> Result<(), E> {
    let mut sums = Vec::with_capacity(TOGETHER);
    for of_key in sorted(piles).chunk_by_mut(|one, other| one.key == other.key) {
        // A row has at least one game, so that many keys need not be looked at.
        if (of_key.len() as u64) < least && of_key.iter().map(|&place| find(piles, place).games()).sum::<u64>() < least
        {
            continue;
        }
        for_each_move(piles, of_key, |first, others| sums.push(sum(piles, &first, others)));
        if sums.len() >= TOGETHER {
            sink(&sums)?;
            sums.clear();
        }
    }
    sink(&sums)
}

impl Pile {
    /// A pile of sums.
    pub(super) fn of_sums(sums: Vec<TreeRow>) -> Self {
        Self { ones: Blocks::default(), sums }
    }

    /// Of the rows of single games, keeps the first of each position and game.
    pub(super) fn keep_one_of_each_game(&mut self) {
        let rows = &mut self.sums;
        rows.sort_unstable_by_key(|row| (row.key, row.words, row.games, row.ply));
        rows.dedup_by_key(|row| (row.key, row.words, row.games));
        for row in rows {
            (row.games, row.is_single) = (1, 0);
        }
    }

    /// Whether rows keep the number of their game.
    pub(super) fn has_numbers_of_games(&self) -> bool {
        self.sums.iter().any(|row| row.is_single != 0)
    }
}

impl RowBuffer for Pile {
    fn len(&self) -> usize {
        self.ones.len + self.sums.len()
    }
    fn keys(&self, keys: &mut Vec<u64>) {
        self.ones.blocks.iter().for_each(|block| keys.extend_from_slice(&block.keys));
        self.sums.keys(keys);
    }
    fn take(&mut self, from: &Self, rows: &[u32]) -> u64 {
        let before = self.bytes();
        for &row in rows {
            match from.ones.get(row as usize) {
                Some((key, one)) => self.ones.push(key, *one),
                None => self.sums.push(from.sums[row as usize - from.ones.len]),
            }
        }
        self.bytes() - before
    }
    fn another(&self) -> Self {
        Self { ones: Blocks::default(), sums: self.sums.another() }
    }
    fn clear(&mut self) {
        self.ones.clear();
        self.sums.clear();
    }
    fn thin(&mut self) {
        if self.has_numbers_of_games() {
            return;
        }
        let piles = [std::mem::take(self)];
        for of_key in sorted(&piles).chunk_by_mut(|one, other| one.key == other.key) {
            for_each_move(&piles, of_key, |first, others| match first {
                Found::One(key, one) if others.is_empty() => self.ones.push(key, *one),
                first => self.sums.push(sum(&piles, &first, others)),
            });
        }
    }
    fn bytes(&self) -> u64 {
        self.ones.bytes() + self.sums.bytes()
    }
    fn encode(self, to: &mut Vec<u8>) -> io::Result<()> {
        to.extend_from_slice(&(self.ones.len as u64).to_le_bytes());
        for Block { keys, rows } in &self.ones.blocks {
            for (key, row) in keys.iter().zip(rows) {
                to.extend_from_slice(&key.to_le_bytes());
                to.extend_from_slice(bytemuck::bytes_of(row));
            }
        }
        self.sums.encode(to)
    }
    fn decode(bytes: Vec<u8>) -> io::Result<Self> {
        let truncated = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (&ones, rest) = bytes.split_first_chunk::<8>().ok_or_else(truncated)?;
        let len = usize::try_from(u64::from_le_bytes(ones)).ok();
        let len = len.and_then(|ones| ones.checked_mul(BYTES_OF_ONE));
        let (rows, sums) = len.and_then(|len| rest.split_at_checked(len)).ok_or_else(truncated)?;
        let mut ones = Blocks::default();
        for row in rows.chunks_exact(BYTES_OF_ONE) {
            let (&key, row) = row.split_first_chunk::<8>().ok_or_else(truncated)?;
            ones.push(u64::from_le_bytes(key), bytemuck::pod_read_unaligned(row));
        }
        Ok(Self { ones, sums: Vec::decode(sums.to_vec())? })
    }
}

/// Number of sums before the piles, as bits.
const SLOTS: u32 = 11;

/// Sums of the positions and moves that come most often, before the piles. A row that comes a second time, with no other row
/// of the same slot between, gets the slot.
#[derive(Debug, Default)]
pub(super) struct Front {
    sums: Vec<TreeRow>,
    /// By slot, the hash of the row that is in it, and that of the last other row.
    hashes: Vec<[u64; 2]>,
}

impl Front {
    /// Adds a row: to the sum in its slot, or to the rows of a pile.
    #[inline(always)]
    pub(super) fn add(&mut self, key: u64, one: OneGame, pile: &mut Pile) {
        if self.sums.is_empty() {
            self.sums.resize(1 << SLOTS, TreeRow::default());
            self.hashes.resize(1 << SLOTS, [0; 2]);
        }
        let hash = (key ^ u64::from(one.mv)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let slot = (hash >> (u64::BITS - SLOTS)) as usize;
        let [held, last] = &mut self.hashes[slot];
        if *held != hash && *last != hash {
            *last = hash;
            pile.ones.push(key, one);
            return;
        }
        *held = hash;
        // Sums are long, so that they are looked at only here.
        let sum = &mut self.sums[slot];
        let row = one.counts(key);
        if sum.games > 0 && (sum.key, sum.words, sum.mv) == (row.key, row.words, row.mv) {
            sum.add(&row);
            return;
        }
        if sum.games > 0 {
            pile.sums.push(*sum);
        }
        *sum = row;
    }

    /// All sums.
    pub(super) fn into_pile(self) -> Pile {
        Pile::of_sums(self.sums.into_iter().filter(|sum| sum.games > 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    /// The sums of some piles.
    fn sums(piles: &[Pile], least: u64) -> Vec<TreeRow> {
        let mut all = Vec::new();
        let done: Result<(), Infallible> = add_up(piles, least, |rows| {
            all.extend_from_slice(rows);
            Ok(())
        });
        assert_eq!(done, Ok(()));
        all
    }

    /// Rows are added up to the same sums, however they are divided, thinned and stored before.
    #[test]
    fn sums_are_those_of_the_rows_one_by_one() {
        let mut numbers = Random::new(11);
        let mut random = |most: u32| numbers.below(most) as usize;
        let mut expected: BTreeMap<(u64, Words, u16), TreeRow> = BTreeMap::new();
        let (mut front, mut piles) = (Front::default(), Vec::new());
        for _ in 0..40 {
            let mut pile = Pile::default();
            for _ in 0..random(1000) {
                // A few rows come often, and positions may share a key.
                let most = [4, 100, 1 << 30][random(3)];
                let key = random(most) as u64;
                let words = [random(2) as u64, 0, 0, 0, (random(2) as u64) << 63];
                let elos = [(); 2].map(|()| (random(4) > 0).then_some(1000 + random(2000) as u16));
                let result = Some(random(4) as u8).filter(|&result| result < 3);
                let one = OneGame::new(1 + random(3) as u16, random(60) as u16, result, elos, random(3) as u32);
                let one = OneGame { words, ..one };
                let row = one.counts(key);
                expected.entry((key, words, one.mv)).and_modify(|sum| sum.add(&row)).or_insert(row);
                match random(3) {
                    0 => pile.ones.push(key, one),
                    1 => pile.sums.push(row),
                    _ => front.add(key, one, &mut pile),
                }
            }
            if random(2) == 0 {
                let (before, len) = (sums(std::slice::from_ref(&pile), 0), pile.len());
                pile.thin();
                assert_eq!(sums(std::slice::from_ref(&pile), 0), before);
                assert!(pile.len() <= len);
            }
            if random(2) == 0 {
                let (mut bytes, before) = (Vec::new(), sums(std::slice::from_ref(&pile), 0));
                pile.encode(&mut bytes).unwrap();
                assert!(bytes.len() < 8 || Pile::decode(bytes[..bytes.len() - 1].to_vec()).is_err());
                pile = Pile::decode(bytes).unwrap();
                assert_eq!(sums(std::slice::from_ref(&pile), 0), before);
            }
            let places: Vec<u32> = (0..pile.len() as u32).rev().collect();
            let mut other = Pile::default();
            assert_eq!(other.take(&pile, &places), pile.bytes());
            piles.push(other);
        }
        piles.push(front.into_pile());
        let expected: Vec<TreeRow> = expected.into_values().collect();
        assert_eq!(sums(&piles, 0), expected);
        let games_of = |key: u64| expected.iter().filter(|row| row.key == key).map(|row| row.games).sum::<u64>();
        let has_enough = |row: &&TreeRow| games_of(row.key) >= 5;
        assert_eq!(sums(&piles, 5), expected.iter().filter(has_enough).copied().collect::<Vec<_>>());
    }
}
