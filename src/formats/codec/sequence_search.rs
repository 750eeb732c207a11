//! Search for the sequence of positions that chosen games have: [`PositionSequence`].
//!
//! The positions of whole games are in batches. A condition is evaluated on tiles, for all games of a chunk at once, and
//! gives a bit for each record. The bits of a game are then joined, and the positions at which a sequence of the
//! conditions so far may end remain. A later condition is evaluated only for the positions that may come next in the
//! games that are left.

use crate::chess::Validity;
use crate::choose::{FoundSequence, PositionSequence, Positions, candidates};
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
    /// The positions whose records are set.
    fn positions(&self, bits: &[Bits]) -> Positions {
        if let ([(batch, rows)], []) = (&self.parts[..], &self.apart[..]) {
            return (0..rows.len().div_ceil(64)).map(|word| word_at(&bits[*batch], rows.clone(), 64 * word)).collect();
        }
        self.collect(|batch, row| is_set(&bits[batch], row))
    }
    /// The positions for whose batch and row something holds.
    fn collect(&self, mut is: impl FnMut(usize, usize) -> bool) -> Positions {
        let mut positions = vec![0; self.len().div_ceil(64)];
        for (position, (batch, row)) in self.rows().enumerate() {
            positions[position / 64] |= u64::from(is(batch, row)) << (position % 64);
        }
        positions
    }
    /// All positions but the first.
    fn all_but_first(&self) -> Positions {
        let mut positions = vec![!0; self.len().div_ceil(64)];
        positions.iter_mut().take(1).for_each(|first| *first = !1);
        positions
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
        let mut ends: Vec<Vec<Positions>> = games.iter().map(|_| Vec::new()).collect();
        let mut left: Vec<usize> = (0..games.len()).collect();
        let needs_adjacent = (0..self.sequence.len()).any(|place| self.sequence.is_next(place));
        let adjacent: Vec<Positions> = match needs_adjacent {
            true if self.is_gapless => games.iter().map(GameRecords::all_but_first).collect(),
            true => games.iter().map(|game| adjacent(batches, game)).collect(),
            false => Vec::new(),
        };
        let adjacent_of = |game: usize| adjacent.get(game).map_or(&[][..], |adjacent| adjacent);
        for place in 0..self.sequence.len() {
            for (batch, asked) in batches.iter().zip(&mut asked) {
                self.keep_true(place, batch, asked);
            }
            left.retain(|&game| games[game].any(&asked));
            for &game in &left {
                ends[game].push(games[game].positions(&asked));
            }
            if left.is_empty() || place + 1 == self.sequence.len() {
                break;
            }
            let is_next = self.sequence.is_next(place + 1);
            asked = empty();
            for &game in &left {
                let next = candidates(&ends[game][place], is_next, adjacent_of(game));
                games[game].set(&next, &mut asked);
            }
            if let Some(bad) = &bad {
                let bits = asked.iter_mut().zip(bad).flat_map(|(asked, bad)| asked.iter_mut().zip(bad));
                bits.for_each(|(asked, bad)| *asked &= !bad);
            }
        }
        let mut is_left = vec![false; games.len()];
        left.iter().for_each(|&game| is_left[game] = true);
        let searched = games.iter().zip(ends).enumerate().map(|(number, (game, ends))| {
            if !is_left[number] {
                let is_bad = |&(batch, row): &(usize, usize)| bad.as_ref().is_some_and(|bad| is_set(&bad[batch], row));
                return Searched::Missed(if bad.is_some() { game.rows().filter(is_bad).collect() } else { Vec::new() });
            }
            let found = match self.tells_matches {
                true => FoundSequence::of(self.sequence, &ends, adjacent_of(number)),
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

/// The positions of a game that directly follow the one before them: its ply is one less, or one of the two is unknown.
fn adjacent(batches: &[Arc<Batch>], game: &GameRecords) -> Positions {
    let mut before: Option<Option<i64>> = None;
    game.collect(|batch, row| {
        let ply = batches[batch].values(Field::Ply).and_then(|plies| plies.number(row));
        let follows = match before {
            None => false,
            Some(before) => before.zip(ply).is_none_or(|(before, ply)| before + 1 == ply),
        };
        before = Some(ply);
        follows
    })
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
                let positions = game.positions(&all);
                assert_eq!((0..len).map(|at| is_set(&positions, at)).collect::<Vec<_>>(), expected);
                assert_eq!(positions, game.collect(|batch, row| is_set(&all[batch], row)));
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
