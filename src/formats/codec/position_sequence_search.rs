//! Search for the sequence of positions that chosen games have: [`PositionSequence`].
//!
//! The positions of whole games are in batches. A condition is evaluated on tiles, for all games of a chunk at once, and
//! gives a bit for each record. The bits of a game are then joined, and the positions at which a sequence of the
//! conditions so far may end remain. A later condition is evaluated only for the positions that may come next in the
//! games that are left.

use crate::chess::Validity;
use crate::choose::{FoundSequence, PositionSequence, candidates};
use crate::games::GameMatches;
use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::table::{Array, Batch, Field, rows_of};
use crate::tiers::Analyzer;
use std::ops::Range;
use std::sync::Arc;

/// Groups of a tile.
const TILE: usize = 64;
/// Records of a tile.
const ROWS: usize = TILE * Group::LEN;

/// The records of a game, in order: pairs of a batch number and rows of that batch.
#[derive(Debug, Default)]
pub(crate) struct GameRecords {
    pub(crate) parts: Vec<(usize, Range<usize>)>,
    /// Rows of the first batch that are not in the main line, in order.
    pub(crate) apart: Vec<usize>,
}

impl GameRecords {
    /// Batch and row of each position, in order.
    fn rows(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut apart = self.apart.iter().copied().peekable();
        let all = self.parts.iter().flat_map(|(batch, rows)| rows.clone().map(move |row| (*batch, row)));
        all.filter(move |&(_, row)| apart.next_if_eq(&row).is_none())
    }
    fn len(&self) -> usize {
        self.parts.iter().map(|(_, rows)| rows.len()).sum::<usize>() - self.apart.len()
    }
    /// Whether some record is set.
    fn any(&self, bits: &[Bits]) -> bool {
        match self.apart[..] {
            [] => self.parts.iter().any(|(batch, rows)| any(&bits[*batch], rows.clone())),
            _ => self.rows().any(|(batch, row)| is_set(&bits[batch], row)),
        }
    }
    /// Finds the positions whose records are set.
    fn positions(&self, bits: &[Bits], positions: &mut [u64]) {
        if let ([(batch, rows)], []) = (&self.parts[..], &self.apart[..]) {
            for (word, positions) in positions.iter_mut().enumerate() {
                *positions = word_at(&bits[*batch], rows.clone(), 64 * word);
            }
            return;
        }
        self.find(positions, |batch, row| is_set(&bits[batch], row));
    }
    /// Finds the positions for whose batch and row something holds.
    fn find(&self, positions: &mut [u64], mut is: impl FnMut(usize, usize) -> bool) {
        positions.fill(0);
        for (position, (batch, row)) in self.rows().enumerate() {
            positions[position / 64] |= u64::from(is(batch, row)) << (position % 64);
        }
    }
    /// Sets the records of some positions.
    fn set(&self, positions: &[u64], bits: &mut [Bits]) {
        match (&self.parts[..], &self.apart[..]) {
            ([(batch, rows)], []) => {
                for position in rows_of(positions).take_while(|&position| position < rows.len()) {
                    let row = rows.start + position;
                    bits[*batch][row / 64] |= 1 << (row % 64);
                }
            }
            _ => {
                for (position, (batch, row)) in self.rows().enumerate() {
                    if is_set(positions, position) {
                        bits[batch][row / 64] |= 1 << (row % 64);
                    }
                }
            }
        }
    }
}

/// A bit for each record of a batch.
type Bits = Vec<u64>;

/// Words with a bit for each position of some games, one game after the other.
struct GameWords {
    /// Where the words of each game end.
    ends: Vec<usize>,
}

impl GameWords {
    fn of(games: &[GameRecords]) -> Self {
        let mut end = 0;
        let ends = games.iter().map(|game| {
            end += game.len().div_ceil(64);
            end
        });
        Self { ends: ends.collect() }
    }
    /// Number of words.
    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
    /// The words of a game.
    fn range(&self, game: usize) -> Range<usize> {
        game.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[game]
    }
}

fn is_set(bits: &[u64], row: usize) -> bool {
    bits[row / 64] >> (row % 64) & 1 != 0
}

/// The 64 bits from a distance behind the first of these rows on; none of those after the last row are set.
fn word_at(bits: &[u64], rows: Range<usize>, distance: usize) -> u64 {
    let start = rows.start + distance;
    let (word, shift) = (start / 64, start % 64);
    let low = bits[word] >> shift;
    let high = if shift == 0 { 0 } else { bits.get(word + 1).map_or(0, |high| high << (64 - shift)) };
    let left = rows.end - start;
    (low | high) & if left < 64 { (1 << left) - 1 } else { !0 }
}

/// Whether any of these rows is set.
fn any(bits: &[u64], rows: Range<usize>) -> bool {
    (0..rows.len()).step_by(64).any(|distance| word_at(bits, rows.clone(), distance) != 0)
}

/// Sets all of these rows.
fn set_all(bits: &mut [u64], rows: Range<usize>) {
    let words = rows.start / 64..rows.end.div_ceil(64).max(rows.start / 64);
    for (word, bits) in words.clone().zip(&mut bits[words]) {
        let first = rows.start.saturating_sub(64 * word);
        let end = rows.end - 64 * word;
        *bits |= !0 << first & if end < 64 { (1 << end) - 1 } else { !0 };
    }
}

/// Keeps the bits that are also in others.
fn keep(bits: &mut [u64], others: &[u64], of: impl Fn(u64) -> u64) {
    bits.iter_mut().zip(others).for_each(|(bits, &other)| *bits &= of(other));
}

/// What is known about a game after the search.
#[derive(Debug)]
pub(crate) enum Searched {
    /// It has the sequence; where, if that was asked for.
    Found(Option<Box<GameMatches>>),
    /// It does not have it; these of its records are not valid positions, by batch and row.
    Missed(Vec<(usize, usize)>),
}

/// Searches for a sequence of positions.
pub(crate) struct SequenceSearch<'a> {
    pub(crate) sequence: &'a PositionSequence,
    pub(crate) analyzer: &'static dyn Analyzer,
    /// What positions must be for conditions to be true of them; `None` if all are known to be valid.
    pub(crate) validity: Option<Validity>,
    /// Number of games before those that records are numbered from.
    pub(crate) games_before: u64,
    /// Whether the positions of games follow one another without gaps; else their plies tell.
    pub(crate) is_gapless: bool,
    /// Whether the places of the sequence are asked for.
    pub(crate) tells_matches: bool,
    /// Room for the results of a tile; it is made when it is needed.
    pub(crate) results: Vec<GroupResults>,
}

impl SequenceSearch<'_> {
    /// Searches in some games, all of whose records are in these batches.
    pub(crate) fn search(&mut self, batches: &mut [Arc<Batch>], games: &[GameRecords]) -> Vec<Searched> {
        let own_games = self.number_games(batches);
        let searched = self.search_numbered(batches, games);
        let numbered = batches.iter_mut().filter_map(|batch| Arc::get_mut(batch)?.fields.get_mut(&Field::Game));
        numbered.zip(own_games).for_each(|(games, own)| *games = own);
        searched
    }

    fn search_numbered(&mut self, batches: &[Arc<Batch>], games: &[GameRecords]) -> Vec<Searched> {
        self.results.resize(TILE, GroupResults::default());
        let empty = || -> Vec<Bits> { batches.iter().map(|batch| vec![0; batch.len().div_ceil(64)]).collect() };
        let mut asked = empty();
        for game in games {
            game.parts.iter().for_each(|(batch, rows)| set_all(&mut asked[*batch], rows.clone()));
            game.apart.iter().for_each(|&row| asked[game.parts[0].0][row / 64] &= !(1 << (row % 64)));
        }
        let bad = self.validity.map(|validity| self.take_bad(validity, batches, &mut asked));
        // The words of all games, one game after the other; for each condition, the ends of a sequence up to it.
        let words = GameWords::of(games);
        let mut ends: Vec<Vec<u64>> = Vec::new();
        let mut left: Vec<usize> = (0..games.len()).collect();
        let mut adjacent = Vec::new();
        if (0..self.sequence.len()).any(|place| self.sequence.is_next(place)) {
            adjacent = vec![!0; words.len()];
            for (number, game) in games.iter().enumerate() {
                match &mut adjacent[words.range(number)] {
                    [first, ..] if self.is_gapless => *first = !1,
                    positions => find_adjacent(batches, game, positions),
                }
            }
        }
        // The records for which the first condition is true, if it is asked again.
        let mut first: Option<Vec<Bits>> = None;
        for place in 0..self.sequence.len() {
            match &first {
                Some(first) if self.sequence.repeats_first(place) => {
                    asked.iter_mut().zip(first).for_each(|(asked, first)| keep(asked, first, |first| first));
                }
                _ => batches.iter().zip(&mut asked).for_each(|(batch, asked)| self.keep_true(place, batch, asked)),
            }
            if place == 0 && (1..self.sequence.len()).any(|place| self.sequence.repeats_first(place)) {
                first = Some(asked.clone());
            }
            left.retain(|&game| games[game].any(&asked));
            let mut own = vec![0; words.len()];
            for &game in &left {
                games[game].positions(&asked, &mut own[words.range(game)]);
            }
            ends.push(own);
            if left.is_empty() || place + 1 == self.sequence.len() {
                break;
            }
            let is_next = self.sequence.is_next(place + 1);
            asked.iter_mut().for_each(|bits| bits.fill(0));
            let mut next = Vec::new();
            for &game in &left {
                let ends = &ends[place][words.range(game)];
                next.resize(ends.len(), 0);
                candidates(ends, is_next, adjacent.get(words.range(game)).unwrap_or_default(), &mut next);
                games[game].set(&next, &mut asked);
            }
            if let Some(bad) = &bad {
                asked.iter_mut().zip(bad).for_each(|(asked, bad)| keep(asked, bad, |bad| !bad));
            }
        }
        let mut is_left = vec![false; games.len()];
        left.iter().for_each(|&game| is_left[game] = true);
        let searched = games.iter().enumerate().map(|(number, game)| {
            if !is_left[number] {
                let is_bad = |&(batch, row): &(usize, usize)| bad.as_ref().is_some_and(|bad| is_set(&bad[batch], row));
                return Searched::Missed(if bad.is_some() { game.rows().filter(is_bad).collect() } else { Vec::new() });
            }
            let found = match self.tells_matches {
                true => {
                    let ends: Vec<&[u64]> = ends.iter().map(|ends| &ends[words.range(number)]).collect();
                    FoundSequence::of(self.sequence, &ends, adjacent.get(words.range(number)).unwrap_or_default())
                }
                false => None,
            };
            Searched::Found(found.map(|found| Box::new(found.with_plies(ply(batches, game)))))
        });
        searched.collect()
    }

    /// Numbers the games over all inputs, if a condition reads their numbers; returns the numbers that records had.
    fn number_games(&self, batches: &mut [Arc<Batch>]) -> Vec<Array> {
        if !self.sequence.reads_game_numbers() {
            return Vec::new();
        }
        let games = batches.iter_mut().filter_map(|batch| Arc::get_mut(batch)?.fields.get_mut(&Field::Game));
        let own = games.map(|games| {
            let own = games.clone();
            if let Array::U64(games) = games {
                games.add(self.games_before);
            }
            own
        });
        own.collect()
    }

    /// Clears the bits of the records for which a condition is not true.
    fn keep_true(&mut self, place: usize, batch: &Arc<Batch>, asked: &mut [u64]) {
        let condition = self.sequence.condition(place);
        for start in (0..batch.len()).step_by(ROWS) {
            let len = (batch.len() - start).min(ROWS);
            let mask = &mut asked[start / 64..][..len.div_ceil(64)];
            if mask.iter().any(|&bits| bits != 0) {
                condition.choose_of_batch((self.analyzer, &mut self.results), batch, (start, len), mask);
            }
        }
    }

    /// Clears the bits of records that are not valid positions, and returns them.
    fn take_bad(&mut self, validity: Validity, batches: &[Arc<Batch>], asked: &mut [Bits]) -> Vec<Bits> {
        let mut all = Vec::new();
        for (batch, asked) in batches.iter().zip(asked) {
            let mut bad: Bits = vec![0; asked.len()];
            for start in (0..batch.len()).step_by(ROWS) {
                let len = (batch.len() - start).min(ROWS);
                let words = start / 64..start / 64 + len.div_ceil(64);
                if asked[words.clone()].iter().all(|&bits| bits == 0) {
                    continue;
                }
                let groups = &batch.groups()[start / Group::LEN..][..len.div_ceil(Group::LEN)];
                self.analyzer.analyze(groups, Queries::INVALID, &mut self.results);
                for (word, (asked, bad)) in asked[words.clone()].iter_mut().zip(&mut bad[words]).enumerate() {
                    for row in rows_of(&[*asked]) {
                        let place = 64 * word + row;
                        let is_bad = self.results[place / Group::LEN].invalid[place % Group::LEN] != 0
                            || validity == Validity::Strict
                                && !batch.position(start + place).is_ok_and(|position| position.is_valid(validity));
                        *bad |= u64::from(is_bad) << row;
                    }
                    *asked &= !*bad;
                }
            }
            all.push(bad);
        }
        all
    }
}

/// Finds the positions of a game that directly follow the one before them: its ply is one less, or one of the two is
/// unknown.
fn find_adjacent(batches: &[Arc<Batch>], game: &GameRecords, positions: &mut [u64]) {
    let mut before: Option<Option<i64>> = None;
    game.find(positions, |batch, row| {
        let ply = batches[batch].values(Field::Ply).and_then(|plies| plies.number(row));
        let follows = match before {
            None => false,
            Some(before) => before.zip(ply).is_none_or(|(before, ply)| before + 1 == ply),
        };
        before = Some(ply);
        follows
    });
}

/// The plies of the positions of a game: their number, if records do not have plies.
fn ply<'a>(batches: &'a [Arc<Batch>], game: &'a GameRecords) -> impl Fn(usize) -> u32 + 'a {
    let rows: Vec<(usize, usize)> = game.rows().collect();
    move |position| {
        let (batch, row) = rows[position];
        let ply = batches[batch].values(Field::Ply).and_then(|plies| plies.number(row));
        ply.map_or(position as u32, |ply| ply as u32)
    }
}

/// Shares batches for a while.
pub(crate) fn with_shared<T>(batches: &mut Vec<Batch>, work: impl FnOnce(&mut [Arc<Batch>]) -> T) -> T {
    let mut shared: Vec<Arc<Batch>> = std::mem::take(batches).into_iter().map(Arc::new).collect();
    let done = work(&mut shared);
    *batches = shared.into_iter().map(Arc::unwrap_or_clone).collect();
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_rows_are_those_of_positions() {
        let bits: Vec<u64> = (0..5_u64).map(|word| crate::seed::Draw::new().with(word).bits()).collect();
        for start in [0, 1, 63, 64, 65, 130] {
            for len in [0, 1, 2, 63, 64, 65, 128, 150] {
                let rows = start..start + len;
                let expected: Vec<bool> = rows.clone().map(|row| is_set(&bits, row)).collect();
                let game = GameRecords { parts: vec![(0, rows.clone())], apart: Vec::new() };
                let all = [bits.clone()];
                let mut positions = vec![7; len.div_ceil(64)];
                game.positions(&all, &mut positions);
                assert_eq!((0..len).map(|at| is_set(&positions, at)).collect::<Vec<_>>(), expected);
                let mut found = vec![7; positions.len()];
                game.find(&mut found, |batch, row| is_set(&all[batch], row));
                assert_eq!(positions, found);
                assert_eq!(game.any(&all), expected.contains(&true));
                let mut set = [vec![0; 5]];
                game.set(&positions, &mut set);
                let mut whole = vec![0; 5];
                set_all(&mut whole, rows.clone());
                assert!((0..320).all(|row| is_set(&whole, row) == rows.contains(&row)), "{rows:?}");
                assert!((0..320).all(|row| is_set(&set[0], row) == (is_set(&bits, row) && rows.contains(&row))));
                if len > 2 {
                    let apart = GameRecords { parts: vec![(0, rows.clone())], apart: vec![start, start + 2] };
                    let kept: Vec<(usize, usize)> = apart.rows().collect();
                    assert_eq!(kept.len(), len - 2);
                    assert_eq!(kept[0], (0, start + 1));
                    assert_eq!(apart.len(), len - 2);
                }
            }
        }
    }
}
