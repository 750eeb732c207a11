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

/// A position and a move in one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct OneGame {
    pub(super) key: u64,
    pub(super) words: Words,
    pub(super) mv: u16,
    pub(super) ply: u16,
    /// The ratings of the mover and of the opponent, and whether they are known.
    elos: [u16; 2],
    has_elos: [u8; 2],
    /// 0 without a result, else 1 and its place in [`TreeRow::results`].
    result: u16,
    /// The day, as a number that sorts; 0 if there is none.
    day: u32,
}

impl OneGame {
    /// A move, without its position, which is known later: with the place of the result in [`TreeRow::results`], the ratings of
    /// the mover and of the opponent, and the day.
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

    /// The same as counts.
    pub(super) fn counts(&self) -> TreeRow {
        let mut row = TreeRow {
            key: self.key,
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

impl Row for OneGame {
    fn key(&self) -> u64 {
        self.key
    }
}

impl Row for TreeRow {
    fn key(&self) -> u64 {
        self.key
    }
}

/// Rows of a part of the tree.
#[derive(Debug, Default)]
pub(super) struct Pile {
    pub(super) ones: Vec<OneGame>,
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
    One(&'a OneGame),
    Sum(&'a TreeRow),
}

impl Found<'_> {
    fn order(&self) -> (&Words, u16) {
        match self {
            Self::One(one) => (&one.words, one.mv),
            Self::Sum(sum) => (&sum.words, sum.mv),
        }
    }
    fn games(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Sum(sum) => sum.games,
        }
    }
    fn counts(&self) -> TreeRow {
        match self {
            Self::One(one) => one.counts(),
            Self::Sum(sum) => **sum,
        }
    }
}

fn find(piles: &[Pile], place: Place) -> Found<'_> {
    let Pile { ones, sums } = &piles[place.pile as usize];
    match ones.get(place.row as usize) {
        Some(one) => Found::One(one),
        None => Found::Sum(&sums[place.row as usize - ones.len()]),
    }
}

/// The rows of piles, by their keys.
fn sorted(piles: &[Pile]) -> Vec<Place> {
    let mut places = Vec::with_capacity(piles.iter().map(RowBuffer::len).sum());
    for (pile, number) in piles.iter().zip(0..) {
        let keys = pile.ones.iter().map(|one| one.key).chain(pile.sums.iter().map(|sum| sum.key));
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
        self.ones.len() + self.sums.len()
    }
    fn keys(&self, keys: &mut Vec<u64>) {
        self.ones.keys(keys);
        self.sums.keys(keys);
    }
    fn take(&mut self, from: &Self, rows: &[u32]) -> u64 {
        let before = self.bytes();
        if from.sums.is_empty() {
            self.ones.extend(rows.iter().map(|&row| from.ones[row as usize]));
        } else {
            for &row in rows {
                match from.ones.get(row as usize) {
                    Some(one) => self.ones.push(*one),
                    None => self.sums.push(from.sums[row as usize - from.ones.len()]),
                }
            }
        }
        self.bytes() - before
    }
    fn another(&self) -> Self {
        Self { ones: self.ones.another(), sums: self.sums.another() }
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
                Found::One(one) if others.is_empty() => self.ones.push(*one),
                first => self.sums.push(sum(&piles, &first, others)),
            });
        }
    }
    fn bytes(&self) -> u64 {
        self.ones.bytes() + self.sums.bytes()
    }
    fn encode(self, to: &mut Vec<u8>) -> io::Result<()> {
        to.extend_from_slice(&(self.ones.len() as u64).to_le_bytes());
        self.ones.encode(to)?;
        self.sums.encode(to)
    }
    fn decode(bytes: Vec<u8>) -> io::Result<Self> {
        let truncated = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (&ones, rest) = bytes.split_first_chunk::<8>().ok_or_else(truncated)?;
        let len =
            usize::try_from(u64::from_le_bytes(ones)).ok().and_then(|ones| ones.checked_mul(size_of::<OneGame>()));
        let (ones, sums) = len.and_then(|len| rest.split_at_checked(len)).ok_or_else(truncated)?;
        Ok(Self { ones: Vec::decode(ones.to_vec())?, sums: Vec::decode(sums.to_vec())? })
    }
}

/// Number of sums before the piles, as bits.
const SLOTS: u32 = 11;

/// Sums of the positions and moves that come most often, before the piles. A row that comes a second time, with no other row
/// of the same slot between, gets the slot.
#[derive(Debug, Default)]
pub(super) struct Front {
    sums: Vec<TreeRow>,
    /// The hash of the last row of each slot that is not in it.
    last: Vec<u64>,
}

impl Front {
    /// Adds a row: to the sum in its slot, or to the rows of a pile.
    pub(super) fn add(&mut self, one: &OneGame, pile: &mut Pile) {
        if self.sums.is_empty() {
            self.sums.resize(1 << SLOTS, TreeRow::default());
            self.last.resize(1 << SLOTS, 0);
        }
        let hash = (one.key ^ u64::from(one.mv)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let slot = (hash >> (u64::BITS - SLOTS)) as usize;
        let (sum, last) = (&mut self.sums[slot], &mut self.last[slot]);
        if sum.games > 0 && (sum.key, sum.mv) == (one.key, one.mv) && sum.words == one.words {
            sum.add(&one.counts());
        } else if *last == hash {
            if sum.games > 0 {
                pile.sums.push(*sum);
            }
            *sum = one.counts();
        } else {
            *last = hash;
            pile.ones.push(*one);
        }
    }

    /// All sums.
    pub(super) fn into_pile(self) -> Pile {
        Pile { ones: Vec::new(), sums: self.sums.into_iter().filter(|sum| sum.games > 0).collect() }
    }
}
