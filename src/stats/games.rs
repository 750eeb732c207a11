//! Results by game.
//!
//! Positions weigh long games more than short ones, so results are also counted by game: each game with records that
//! count has the result of the first of them.
//!
//! Game numbers usually rise from record to record. So only the number of the record before is remembered, and the
//! groups in which its game has been counted. Where numbers fall, the records of a game may be anywhere (a shuffled
//! dataset); its games are not counted then, because that would need memory for all of them.
//!
//! Formats of games decode all records of a game together. Other formats store game numbers, and their games may go on
//! in another chunk or shard. Such games stay *open*: they are kept by name, file and number, so that merging counts
//! them once. A chunk has at most two, its first and its last game.

use crate::report::{OpenGame, Results};
use crate::table::{Array, Field, StoredGames, Tile};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// The result of games without one, as a value of [`Field::Result`].
const UNKNOWN: u8 = 3;

/// A game whose number is stored in its file.
type Stored = (Arc<Path>, u64);

/// Numbers of games by result.
#[derive(Clone, Debug, Default)]
pub(crate) struct GameResults {
    /// Black won, draw, White won, unknown.
    counts: [u64; 4],
    /// The results of games that may go on elsewhere.
    open: BTreeMap<Stored, u8>,
}

impl GameResults {
    fn count(&mut self, result: u8) {
        self.counts[usize::from(result.min(UNKNOWN))] += 1;
    }

    /// Adds a game that was found.
    pub(super) fn add(&mut self, game: FoundGame) {
        match game.stored {
            Some(stored) => self.open(stored, game.result),
            None => self.count(game.result),
        }
    }

    /// Adds an open game. Should its records disagree, the result does not depend on their order.
    fn open(&mut self, game: Stored, result: u8) {
        let known = self.open.entry(game).or_insert(result);
        *known = result.min(*known);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.counts.iter_mut().zip(other.counts) {
            *ours += theirs;
        }
        for (game, &result) in &other.open {
            self.open(game.clone(), result);
        }
    }

    /// Counts the open games, except those for which `stays` holds.
    pub(super) fn close(&mut self, stays: impl Fn(&Stored) -> bool) {
        for (game, result) in std::mem::take(&mut self.open) {
            if stays(&game) {
                self.open.insert(game, result);
            } else {
                self.count(result);
            }
        }
    }

    /// All games, and the open ones among them.
    pub(super) fn report(&self) -> (Results, BTreeMap<OpenGame, u8>) {
        let mut all = self.clone();
        all.close(|_| false);
        let [black, draw, white, unknown] = all.counts;
        let name = |(file, game): &Stored| OpenGame { file: file.to_string_lossy().into_owned(), game: *game };
        let open = self.open.iter().map(|(game, &result)| (name(game), result));
        (Results { white, draw, black, unknown }, open.collect())
    }
}

/// A game that was found in a group.
#[derive(Debug)]
pub(super) struct FoundGame {
    pub(super) group: u16,
    result: u8,
    /// If the game may go on in another chunk.
    stored: Option<Stored>,
}

/// The first and the last game of a chunk, of those that were found in it.
#[derive(Debug)]
struct Ends {
    file: Arc<Path>,
    first: u64,
    last: u64,
}

/// Finds the games of some of the chunks.
#[derive(Debug, Default)]
pub(crate) struct Games {
    /// The present game, counted over all inputs.
    now: Option<u64>,
    /// The groups in which it was found, with its result.
    groups: Vec<(u16, u8)>,
    /// The first game of the chunk.
    first: Option<u64>,
    /// The file, if it stores game numbers.
    stored: Option<StoredGames>,
    /// Games that are complete, or that end with the chunk.
    found: Vec<FoundGame>,
    /// The ends of the present chunk, for each of its files.
    ends: Vec<Ends>,
    /// Those of earlier chunks, with their numbers.
    chunks: Vec<(u64, Ends)>,
    /// Whether a game number was lower than the one before.
    scattered: bool,
}

impl Games {
    /// Finds the games of a tile, for each group of its rows; the group of rows beyond the number of `groups` is none.
    /// Without `groups`, all rows are in group 0.
    pub(crate) fn add_tile(&mut self, tile: &Tile<'_>, groups: Option<(&[u16], usize)>) {
        let Some(Array::U64(games)) = tile.batch.values(Field::Game) else {
            return;
        };
        if self.stored != tile.batch.stored_games {
            self.end_file();
            self.stored.clone_from(&tile.batch.stored_games);
        }
        let results = match tile.batch.values(Field::Result) {
            Some(Array::U8(results)) => Some(results),
            _ => None,
        };
        let numbers = &games.values()[tile.start..tile.start + tile.len];
        let counts = |row: &usize| tile.mask[row / 64] >> (row % 64) & 1 != 0 && games.is_present(tile.start + row);
        let mut row = 0;
        while let Some(&game) = numbers.get(row) {
            let len = numbers[row..].iter().take_while(|&&other| other == game).count();
            let mut rows = (row..row + len).filter(counts);
            let mut enter = |group: u16, row: usize| {
                self.enter(game, group, results.and_then(|results| results.get(tile.start + row)).copied());
            };
            match groups {
                None => {
                    if let Some(row) = rows.next() {
                        enter(0, row);
                    }
                }
                Some((groups, number)) => {
                    let mut last = u16::MAX;
                    for row in rows.filter(|&row| usize::from(groups[row]) < number) {
                        if groups[row] != last {
                            enter(groups[row], row);
                        }
                        last = groups[row];
                    }
                }
            }
            row += len;
        }
    }

    /// Notes that a record of a group belongs to a game.
    fn enter(&mut self, game: u64, group: u16, result: Option<u8>) {
        if self.now != Some(game) {
            self.scattered |= self.now.is_some_and(|before| game < before);
            self.complete(false);
            self.first.get_or_insert(game);
            self.now = Some(game);
        }
        if !self.groups.iter().any(|&(known, _)| known == group) {
            self.groups.push((group, result.unwrap_or(UNKNOWN)));
        }
    }

    /// Completes the present game; `is_last`: no other game of the chunk follows.
    fn complete(&mut self, is_last: bool) {
        let Some(game) = self.now else { return };
        let may_go_on = is_last || self.first == Some(game);
        let stored = self.stored.as_ref().filter(|_| may_go_on).map(|stored| stored.game(game));
        let found = self.groups.drain(..).map(|(group, result)| FoundGame { group, result, stored: stored.clone() });
        self.found.extend(found);
    }

    /// Ends the part of the chunk that comes from one file.
    fn end_file(&mut self) {
        self.complete(true);
        if let (Some(stored), Some(first), Some(last)) = (&self.stored, self.first, self.now) {
            let ((file, first), (_, last)) = (stored.game(first), stored.game(last));
            self.ends.push(Ends { file, first, last });
        }
        (self.now, self.first) = (None, None);
    }

    /// Ends the chunk with this number.
    pub(crate) fn end(&mut self, chunk: u64) {
        self.end_file();
        self.chunks.extend(self.ends.drain(..).map(|ends| (chunk, ends)));
    }

    /// Takes the games that were found.
    pub(super) fn take(&mut self) -> impl Iterator<Item = FoundGame> {
        self.found.drain(..)
    }
}

/// The chunks of a whole run.
#[derive(Debug, Default)]
pub(crate) struct GameOrder {
    chunks: Vec<(u64, Ends)>,
    scattered: bool,
}

impl GameOrder {
    /// Adds some of the chunks.
    pub(crate) fn add(&mut self, games: Games) {
        self.chunks.extend(games.chunks);
        self.scattered |= games.scattered;
    }

    /// The first and the last game of each file; `None` if the records of a game may be anywhere.
    pub(crate) fn ends(mut self) -> Option<HashMap<Arc<Path>, [u64; 2]>> {
        self.chunks.sort_by_key(|&(chunk, _)| chunk);
        let mut files: HashMap<Arc<Path>, [u64; 2]> = HashMap::new();
        for (_, Ends { file, first, last }) in self.chunks {
            let [_, before] = files.entry(file).or_insert([first, first]);
            self.scattered |= first < *before;
            *before = last;
        }
        (!self.scattered).then_some(files)
    }
}
