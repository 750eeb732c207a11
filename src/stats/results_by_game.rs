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
//! in another chunk or shard. Such games stay *open*: they are kept by input and number, so that merging counts them
//! once. A chunk has at most two, its first and its last game. In reports, inputs have names by which other runs know
//! them, see [`InputNames`].

use crate::input::Inputs;
use crate::report::{OpenGame, Results};
use crate::table::{Array, Field, StoredGame, StoredGames, Tile};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

/// The result of games without one, as a value of [`Field::Result`].
const UNKNOWN: u8 = 3;

/// The names of inputs that are the same in all runs: the absolute path without links, and how often the same file is
/// among the inputs before. A file that is given twice is two inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputNames(Vec<(String, u64)>);

impl InputNames {
    pub(crate) fn of(inputs: &Inputs) -> Self {
        let (mut names, mut times) = (Vec::new(), HashMap::<String, u64>::new());
        let mut archive = (PathBuf::new(), PathBuf::new());
        for source in &inputs.sources {
            let mut path = source.name().to_path_buf();
            if let Some(file) = source.container() {
                // Archives have many inputs one after another.
                if archive.0 != **file {
                    archive = (file.to_path_buf(), file.canonicalize().unwrap_or_else(|_| file.to_path_buf()));
                }
                let member = path.strip_prefix(file).map(PathBuf::from).unwrap_or_default();
                path = if member.as_os_str().is_empty() { archive.1.clone() } else { archive.1.join(member) };
            }
            let path = path.to_string_lossy().into_owned();
            let times = times.entry(path.clone()).or_default();
            names.push((path, *times));
            *times += 1;
        }
        Self(names)
    }

    /// How often the file of each input is among the inputs before.
    #[cfg(feature = "cluster")]
    pub(crate) fn times(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|&(_, time)| time)
    }

    /// The names of some of the inputs of a run, with the [times](Self::times) that these inputs have in that run.
    #[cfg(feature = "cluster")]
    pub(crate) fn with_times(mut self, times: impl Iterator<Item = u64>) -> Self {
        self.0.iter_mut().zip(times).for_each(|((_, known), time)| *known = time);
        self
    }

    fn of_game(&self, StoredGame { input, game }: StoredGame) -> OpenGame {
        let (file, time) = self.0.get(input as usize).cloned().unwrap_or_default();
        OpenGame { file, time, game }
    }
}

/// Numbers of games by result.
#[derive(Clone, Debug, Default)]
pub(crate) struct GameResults {
    /// Black won, draw, White won, unknown.
    counts: [u64; 4],
    /// The results of games that may go on elsewhere.
    open: BTreeMap<StoredGame, u8>,
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
    fn open(&mut self, game: StoredGame, result: u8) {
        let known = self.open.entry(game).or_insert(result);
        *known = result.min(*known);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.counts.iter_mut().zip(other.counts) {
            *ours += theirs;
        }
        for (game, &result) in &other.open {
            self.open(*game, result);
        }
    }

    /// Counts the open games, except those for which `stays` holds.
    pub(super) fn close(&mut self, stays: impl Fn(&StoredGame) -> bool) {
        for (game, result) in std::mem::take(&mut self.open) {
            if stays(&game) {
                self.open.insert(game, result);
            } else {
                self.count(result);
            }
        }
    }

    /// All games.
    pub(super) fn report(&self) -> Results {
        let mut all = self.clone();
        all.close(|_| false);
        let [black, draw, white, unknown] = all.counts;
        Results { white, draw, black, unknown }
    }

    /// The open games, by the names of their inputs.
    pub(super) fn open_games(&self, names: &InputNames) -> BTreeMap<OpenGame, u8> {
        self.open.iter().map(|(&game, &result)| (names.of_game(game), result)).collect()
    }
}

/// A game that was found in a group.
#[derive(Debug)]
pub(super) struct FoundGame {
    pub(super) group: u16,
    result: u8,
    /// If the game may go on in another chunk.
    stored: Option<StoredGame>,
}

/// The first and the last game of a chunk, of those that were found in it.
#[derive(Debug)]
struct Ends {
    input: u64,
    first: u64,
    last: u64,
    /// Whether the records before and after may be in other shards.
    is_piece: bool,
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
    /// The number of the first record of the present batch.
    batch: Option<u64>,
    /// Games that are complete, or that end with the chunk.
    found: Vec<FoundGame>,
    /// The ends of the present chunk, for each of its files.
    ends: Vec<Ends>,
    /// Those of earlier chunks, with their numbers.
    chunks: Vec<(u64, Ends)>,
    /// Whether a game number was lower than the one before.
    scattered: bool,
}

/// How many of the first rows have this number: eight at a time, because games have many rows.
fn run_of(game: u64, numbers: &[u64]) -> usize {
    let are_equal = |eight: &&[u64; 8]| eight.iter().fold(0, |differences, &number| differences | number ^ game) == 0;
    let len = 8 * numbers.as_chunks::<8>().0.iter().take_while(are_equal).count();
    len + numbers[len..].iter().take_while(|&&number| number == game).count()
}

impl Games {
    /// Finds the games of a tile, for each group of its rows; the group of rows beyond the number of `groups` is none.
    /// Without `groups`, all rows are in group 0.
    pub(crate) fn add_tile(&mut self, tile: &Tile<'_>, groups: Option<(&[u16], usize)>) {
        let Some(Array::U64(games)) = tile.batch.values(Field::Game) else {
            return;
        };
        let stored = tile.batch.stored_games;
        let is_piece = stored.is_some_and(|stored| stored.in_turns) && self.batch != Some(tile.batch.first_index);
        if self.stored != stored || is_piece {
            self.end_file();
            self.stored = stored;
        }
        self.batch = Some(tile.batch.first_index);
        let results = tile.batch.column::<u8>(Field::Result);
        let numbers = &games.values()[tile.start..tile.start + tile.len];
        let counts = |row: &usize| tile.mask[row / 64] >> (row % 64) & 1 != 0 && games.is_present(tile.start + row);
        let mut row = 0;
        while let Some(&game) = numbers.get(row) {
            let len = run_of(game, &numbers[row..]);
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
        let stored = self.stored.filter(|_| may_go_on).map(|stored| stored.game(game));
        let found = self.groups.drain(..).map(|(group, result)| FoundGame { group, result, stored });
        self.found.extend(found);
    }

    /// Ends the part of the chunk that comes from one file.
    fn end_file(&mut self) {
        self.complete(true);
        if let (Some(stored), Some(first), Some(last)) = (self.stored, self.first, self.now) {
            let (first, last) = (stored.game(first).game, stored.game(last).game);
            self.ends.push(Ends { input: stored.input, first, last, is_piece: stored.in_turns });
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

    /// The games that may go on in other shards; `None` if the records of a game may be anywhere.
    pub(crate) fn ends(mut self) -> Option<HashSet<StoredGame>> {
        self.chunks.sort_by_key(|&(chunk, _)| chunk);
        let mut open = HashSet::new();
        let mut before: Option<StoredGame> = None;
        for (_, Ends { input, first, last, is_piece }) in self.chunks {
            let [first, last] = [first, last].map(|game| StoredGame { input, game });
            match before.filter(|before| before.input == input) {
                Some(before) => self.scattered |= first < before,
                None => {
                    open.extend(before);
                    open.insert(first);
                }
            }
            if is_piece {
                open.extend([first, last]);
            }
            before = Some(last);
        }
        open.extend(before);
        (!self.scattered).then_some(open)
    }
}
