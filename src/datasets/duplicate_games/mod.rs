//! Duplicate games: keeps one of several equal games.
//!
//! A first run makes an entry of each game: what has to be equal exactly, what has to agree (names, dates, moves of which
//! one game has the beginning), and its place in the order in which games are judged. Entries are divided by a hash of
//! what has to be equal, into parts that fit in memory. A second run over the inputs takes the games that are kept.
//!
//! Games are judged one after the other. A game that equals one of the files to compare with, or a kept one, is left out;
//! every other game is kept. Games with the same entry are equal and equal the same others, so only the first of them is
//! compared ([`find_equal_games`]). Where names are all that has to agree, or names and dates, no hash brings equal games
//! together: `Carlsen` agrees with `Magnus Carlsen` and `Carlsen, M`. Then a game has an entry for each word that may
//! end its white player's family name. Each part finds its pairs, and the pairs are put in the order of judgment to decide.
//!
//! A bit for each game is in memory; everything else is divided and goes to temporary files where it has to.

mod find_equal_games;
mod game_number_set;
mod what_makes_games_equal;

use crate::canonical::{ROOTS, fold};
use crate::choose::{Choose, RecordFilter, keep};
use crate::error::{Error, Reject};
use crate::formats::pgn::annotations;
use crate::formats::{Chunk, Totals};
use crate::games::GameRow;
use crate::input::{Bytes, Inputs};
use crate::jobs::GameColumns;
use crate::output::ScratchSpace;
use crate::output::cells::write_csv_text;
use crate::partition::keyed_rows::{Partitions, RowBuffer, Store};
use crate::pipeline::{AnyJob, AnySink, Job, Refusal, RunError, RunOptions, Summary, erased, run, run_to_end};
use crate::poisoned_locks::Unpoisoned;
use crate::queries::Queries;
use crate::table::{Array, Field, Fields, Needs, Tile};
use find_equal_games::{Entries, HAS_EQUALS, Judged, Links, judge};
use game_number_set::GameBits;
use memchr::memchr_iter;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex};
pub use what_makes_games_equal::GameKeys;

/// Which of several equal games is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KeepGame {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
    /// The first of those with the most plies.
    Longest,
    /// The first of those with the most tags, comments, variations, evaluations and clocks together. A comment counts if
    /// it has text beside commands such as `[%clk]`.
    MostAnnotated,
    /// The first of those with the highest mean of both ratings; games without both come last.
    HighestRated,
}

/// Options for leaving out duplicate games.
///
/// ```
/// use lanefish::datasets::DuplicateGames;
/// use lanefish::jobs::{OutputContent, OutputFormat, WriteJob};
/// use lanefish::{input::Inputs, pipeline::RunOptions, tiers};
///
/// let twice = ["data/lichess-2025-05.pgn".into(), "data/lichess-2025-05.pgn".into()];
/// let inputs = Inputs::resolve(&twice, |_| true)?;
/// let job = WriteJob::new(OutputContent::Games, OutputFormat::Pgn)?;
/// let mut pgn = Vec::new();
/// let mut file = job.open(&mut pgn)?;
/// let (_, done) = DuplicateGames::default().run(
///     &inputs,
///     RunOptions::new(tiers::best()),
///     &job,
///     |part| job.put(&mut file, part).map_err(|source| lanefish::Error::Write { path: "unique".into(), source }),
///     None,
/// )?;
/// job.finish(file)?;
/// assert!(done.kept <= done.compared / 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DuplicateGames {
    /// What makes games equal.
    pub keys: GameKeys,
    /// Which of several equal games is kept.
    pub keep: KeepGame,
    /// Inputs with games that must not be kept.
    pub against: Inputs,
}

crate::option_setters::setters!(DuplicateGames { keys: GameKeys, keep: KeepGame, against: Inputs });

/// The numbers of games compared and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DeduplicatedGames {
    /// Games read, and chosen.
    pub compared: u64,
    /// Of those, the ones that are kept.
    pub kept: u64,
    /// Games, kept or of the files to compare with, that others were left out for.
    pub sets: u64,
    /// Games that equal nothing because they are damaged.
    pub damaged: u64,
    /// Games that equal nothing because they have no moves, which have to be equal.
    pub without_moves: u64,
    /// Number of bad records in the files to compare with; damaged games of theirs are not compared.
    pub rejected_against: u64,
}

/// A game that was left out, and the one that it was left out for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DuplicateGame {
    /// The game that was left out.
    pub left_out: GamePlace,
    /// The kept game that it equals, or a game of the files to compare with.
    pub kept: GamePlace,
    /// What differs: names of tags, `moves`, `comments`; separated by blanks.
    pub differs: String,
}

impl DuplicateGame {
    /// The header of a CSV file of them.
    pub const CSV_HEADER: &str = "file,game,line,kept_file,kept_game,kept_line,differs\n";

    /// Appends the line of a CSV file.
    pub fn write_csv(&self, line: &mut Vec<u8>) {
        for GamePlace { file, game, line: number } in [&self.left_out, &self.kept] {
            write_csv_text(&file.to_string_lossy(), line);
            let number = number.map_or_else(String::new, |number| number.to_string());
            line.extend_from_slice(format!(",{game},{number},").as_bytes());
        }
        write_csv_text(&self.differs, line);
        line.push(b'\n');
    }
}

/// Where a game is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GamePlace {
    /// The input.
    pub file: Arc<Path>,
    /// 0-based number of the game in this input.
    pub game: u64,
    /// The line in which it begins, if the input has lines and is read as a whole.
    pub line: Option<u64>,
}

/// Receives the games that were left out, in the order of the input.
pub type OnDuplicate<'a> = dyn FnMut(DuplicateGame) -> Result<(), Error> + 'a;

/// Number of bits of a game's place in the order of the input.
const PLACE: u32 = 40;
/// Number of bits of its rank.
const RANK: u32 = 23;
const LAST_PLACE: u64 = (1 << PLACE) - 1;
const LAST_RANK: u64 = (1 << RANK) - 1;
/// The bit of games that may be left out.
const OWN: u64 = 1 << 63;

/// Whether a game that is judged at this place is one of the files to compare with.
const fn is_against(order: u64) -> bool {
    order & OWN == 0
}

impl KeepGame {
    /// The place of a game in the order of judgment.
    fn order(self, rank: u64, place: u64) -> u64 {
        let place = if self == Self::Last { LAST_PLACE - place } else { place };
        OWN | rank << PLACE | place
    }
    /// The place of a game in the order of the input, which is not one of the files to compare with.
    const fn place(self, order: u64) -> u64 {
        match self {
            Self::Last => LAST_PLACE - (order & LAST_PLACE),
            _ => order & LAST_PLACE,
        }
    }
    /// A key by which games can be divided, in the order of judgment.
    const fn key(self, order: u64) -> u64 {
        match self {
            Self::First | Self::Last => order << (u64::BITS - PLACE),
            _ => order << 1,
        }
    }
    /// The columns of games that its rank is made of.
    fn columns(self) -> Option<GameColumns> {
        (self == Self::MostAnnotated).then(|| GameColumns::named("evaluated_plies,clocked_plies").ok()).flatten()
    }
    fn tags(self) -> Option<&'static [&'static str]> {
        match self {
            Self::MostAnnotated => None,
            Self::HighestRated => Some(&["WhiteElo", "BlackElo"]),
            _ => Some(&[]),
        }
    }
    /// The rank of a game: the smallest is the first.
    fn rank(self, game: &GameRow, columns: Option<&GameColumns>, annotations: u64) -> u64 {
        let number = match self {
            Self::First | Self::Last => return 0,
            Self::Longest => u64::from(game.plies.unwrap_or(0)),
            Self::MostAnnotated => {
                let of_moves = columns.into_iter().flat_map(GameColumns::iter).filter_map(|column| column.number(game));
                game.tags.iter().len() as u64 + of_moves.sum::<u64>() + annotations
            }
            Self::HighestRated => {
                let rating = |name: &str| {
                    let mut tags = game.tags.iter().rev().filter(|(other, _)| other.eq_ignore_ascii_case(name));
                    tags.next().and_then(|(_, value)| value.trim_ascii().parse::<u16>().ok()).map(u64::from)
                };
                match (rating("WhiteElo"), rating("BlackElo")) {
                    (Some(white), Some(black)) => white + black + 1,
                    _ => 0,
                }
            }
        };
        LAST_RANK - number.min(LAST_RANK)
    }
}

/// Makes entries of games.
struct EnterGames<'a> {
    of: &'a DuplicateGames,
    /// The columns that ranks are made of.
    ranked: Option<GameColumns>,
    /// Entries have what is needed to say how games differ.
    lists: bool,
}

/// The games of a chunk.
#[derive(Default)]
struct EnteredGames {
    chunk: Option<Bytes>,
    /// The number of lines before the chunk.
    lines: Option<u64>,
    games: u64,
    /// Their places are those in the chunk, and their order is without them.
    entries: Entries,
    /// The numbers of games that equal nothing.
    unequalled: Vec<u64>,
    damaged: u64,
    without_moves: u64,
}

impl Job for EnterGames<'_> {
    type Part = EnteredGames;
    fn needs(&self) -> Needs {
        let of_moves = match self.reads_main_lines() {
            true => Fields::of(&[Field::Game, Field::Ply, Field::Move]),
            false => Fields::of(&[Field::Game]),
        };
        let columns = self.of.keys.columns().into_iter().chain(&self.ranked).map(GameColumns::needs);
        columns.chain([Needs::new(Queries::NONE, of_moves)]).collect()
    }
    fn reads_games(&self) -> bool {
        true
    }
    fn reads_main_lines(&self) -> bool {
        self.lists || self.of.keys.reads_moves()
    }
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        if self.lists {
            return None;
        }
        let mut tags: BTreeSet<Arc<str>> = self.of.keep.tags()?.iter().map(|&name| name.into()).collect();
        tags.extend(self.of.keys.tags()?);
        Some(tags.into_iter().collect())
    }
    fn begin(&self) -> EnteredGames {
        EnteredGames::default()
    }
    fn source(&self, part: &mut EnteredGames, chunk: &Chunk, lines: Option<u64>) {
        part.chunk = Some(chunk.bytes.clone());
        part.lines = lines;
    }
    fn tile(&self, _: &mut EnteredGames, _: &Tile<'_>) {}
    fn games(&self, part: &mut EnteredGames, games: &[GameRow]) {
        let chunk = part.chunk.take();
        let bytes = chunk.as_deref().unwrap_or_default();
        let (mut counted, mut line) = (0, part.lines.unwrap_or(0));
        let keys = &self.of.keys;
        let mut key = Vec::new();
        for game in games {
            let place = part.games;
            part.games += 1;
            let has_text = game.end > game.start && game.end <= bytes.len();
            let mut own_line = 0;
            if self.lists && has_text && part.lines.is_some() {
                let text = &bytes[game.start..game.end];
                let start = game.start + (text.len() - text.trim_ascii_start().len());
                line += memchr_iter(b'\n', &bytes[counted..start]).count() as u64;
                counted = start;
                own_line = line + 1;
            }
            let main_line = game.main_line.as_deref();
            if game.error.is_some() || self.reads_main_lines() && main_line.is_none_or(|line| !line.is_whole) {
                part.damaged += 1;
                part.unequalled.push(game.game);
                continue;
            }
            if keys.reads_moves() && main_line.is_none_or(|line| line.moves.is_empty()) {
                part.without_moves += 1;
                part.unequalled.push(game.game);
                continue;
            }
            let counts_annotations = self.lists || self.of.keep == KeepGame::MostAnnotated;
            let (annotated, hash_of_annotations) = match counts_annotations && has_text {
                true => annotations(&bytes[game.movetext..game.end]),
                false => (0, 0),
            };
            let order = self.of.keep.rank(game, self.ranked.as_ref(), annotated) << PLACE | place;
            key.clear();
            let [exact, agreeing] = keys.put(game, &mut key);
            let lens = exact as u64 | (agreeing as u64) << 32;
            if self.lists {
                put_details(game, hash_of_annotations, &mut key);
            }
            let hash = hash_on(ROOTS[0], &key[..exact]);
            let mut enter = |hash| part.entries.push([hash, order, game.game, own_line, lens, 0], &key);
            match keys.words_to_divide_by(game) {
                None => enter(hash),
                Some(words) => words.into_iter().for_each(|word| enter(hash_on(hash, word.as_bytes()))),
            }
        }
    }
}

/// Continues a hash with bytes.
fn hash_on(hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(fold(hash ^ bytes.len() as u64, ROOTS[1]), |hash, word| fold(hash ^ word, ROOTS[2]))
}

/// What a list says about a game: numbers for its annotations and its moves, and its tags.
fn put_details(game: &GameRow, annotations: u64, to: &mut Vec<u8>) {
    let mut hasher = DefaultHasher::new();
    if let Some(line) = &game.main_line {
        (line.start, &line.moves).hash(&mut hasher);
    }
    to.extend_from_slice(&annotations.to_le_bytes());
    to.extend_from_slice(&hasher.finish().to_le_bytes());
    for text in game.tags.iter().flat_map(|(name, value)| [name, value]) {
        what_makes_games_equal::put_text(text, to);
    }
}

impl DuplicateGames {
    /// Reads all inputs twice, and runs a job on the games that are kept: one that [reads](Job::reads_games) games, or one
    /// that reads their records. Parts are passed to `sink` in the order of the input on the calling thread. If games are
    /// chosen, the others are neither compared nor kept; a [condition](Choose::filter) is one on games, and a
    /// [sample](Choose::sample) is not taken.
    ///
    /// Before that, `on_duplicate` receives the games that are left out. Nothing is passed on unless all inputs could be
    /// read.
    ///
    /// # Errors
    /// As for [`pipeline::run`](crate::pipeline::run), if the inputs changed between the two readings, or if a temporary
    /// file cannot be written.
    pub fn run<J: Job>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        job: &J,
        sink: impl FnMut(J::Part) -> Result<(), Error>,
        on_duplicate: Option<&mut OnDuplicate<'_>>,
    ) -> Result<(Summary, DeduplicatedGames), RunError> {
        let (summary, done) = erased(job, sink, |job, sink| self.run_any(inputs, options, job, sink, on_duplicate));
        Ok((summary.into_result()?, done))
    }

    /// The same for any job, compiled once.
    fn run_any<'a>(
        &self,
        inputs: &Inputs,
        mut options: RunOptions<'_>,
        job: AnyJob<'a>,
        sink: &mut AnySink<'_, 'a>,
        on_duplicate: Option<&mut OnDuplicate<'_>>,
    ) -> (Summary, DeduplicatedGames) {
        let (analyzer, threads, interrupt) = (options.analyzer, options.threads, options.interrupt);
        let mut read = options.read.clone();
        // Of records, the second run knows which are bad.
        let mut on_reject = None;
        if !job.reads_games() {
            on_reject = options.on_reject.take();
            options.read.strict = false;
        }
        let mut done = DeduplicatedGames::default();
        let mut summary = Summary::default();
        let decided =
            inputs.check_regular().and_then(|()| self.decide(inputs, options, on_duplicate, (&mut summary, &mut done)));
        let kept = match decided {
            Ok(kept) => kept,
            Err(error) => {
                summary.failure = Some(error);
                return (summary, done);
            }
        };
        done.kept = kept.count();
        if !job.reads_games() {
            // The condition chose games, and the kept ones are known.
            read.choose = Choose { filter: None, sample: None, ..read.choose };
            (read.skip, read.limit) = (0, None);
        }
        let mut pass_on = |reject: &Reject| on_reject.as_mut().map_or(Ok(()), |on_reject| on_reject(reject));
        let mut second = RunOptions::new(analyzer).threads(threads).read(read);
        second.interrupt = interrupt;
        if !job.reads_games() {
            second.on_reject = Some(&mut pass_on);
        }
        second.only = (!job.reads_games()).then_some(&kept);
        let mut again = run_to_end(inputs, second, &KeptGames { kept: &kept, job: &job }, sink);
        if job.reads_games() {
            summary.failure = again.failure;
            if summary.failure.is_none() && again.records != summary.records {
                summary.failure = Some(Error::Changed { before: summary.records, after: again.records });
            }
            return (summary, done);
        }
        let again_remarks = std::mem::take(&mut again.remarks);
        let left_out = std::mem::take(&mut summary.left_out);
        let mut summary = Summary { left_out, remarks: summary.remarks, ..again };
        // Only the first run meets records without a game; only the second one judges all records.
        for (remark, times) in again_remarks.iter() {
            if summary.remarks.count(remark) == 0 {
                summary.remarks.add_with(remark, times, again_remarks.first(remark));
            }
        }
        (summary, done)
    }

    /// The numbers of equal games, without keeping any of them. The inputs are read once.
    ///
    /// # Errors
    /// As those of [`Self::run`].
    pub fn count(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        on_duplicate: Option<&mut OnDuplicate<'_>>,
    ) -> Result<(Summary, DeduplicatedGames), RunError> {
        let (mut summary, mut done) = (Summary::default(), DeduplicatedGames::default());
        match self.decide(inputs, options, on_duplicate, (&mut summary, &mut done)) {
            Ok(kept) => {
                done.kept = kept.count();
                Ok((summary, done))
            }
            Err(error) => Err(RunError { error, summary: Box::new(summary) }),
        }
    }

    /// The first run, which decides which games are kept.
    fn decide(
        &self,
        inputs: &Inputs,
        mut options: RunOptions<'_>,
        on_duplicate: Option<&mut OnDuplicate<'_>>,
        (summary, done): (&mut Summary, &mut DeduplicatedGames),
    ) -> Result<GameBits, Error> {
        let (threads, space) = (options.threads, options.space.clone());
        options.read.choose.sample = None;
        let enter = EnterGames { of: self, ranked: self.keep.columns(), lists: on_duplicate.is_some() };
        let store = Store::<Entries>::new(&space)?;
        let mut games = 0;
        let mut add = |mut part: EnteredGames, is_own: bool| {
            for [_, order, ..] in &mut part.entries.numbers {
                let place = games + (*order & LAST_PLACE);
                *order = if is_own { self.keep.order(*order >> PLACE, place) } else { place };
            }
            games += part.games;
            let mut keys = Vec::new();
            part.entries.keys(&mut keys);
            store.add(&keys, |pile: &mut Entries, rows| pile.take(&part.entries, rows));
            store.check().map(|()| part)
        };
        let mut places = Places::default();
        if !self.against.sources.is_empty() {
            // All games of these files count, whatever is chosen from the inputs.
            let read = options.read.clone().choose(Choose::default()).skip(0).limit(None).shard(None).strict(false);
            let mut against = RunOptions::new(options.analyzer).threads(threads).read(read);
            against.interrupt = options.interrupt;
            against.starts = Some(Arc::clone(&places.starts_against));
            let mut on_reject = options.on_reject.take();
            let mut pass_on = |reject: &Reject| on_reject.as_mut().map_or(Ok(()), |on_reject| on_reject(reject));
            against.on_reject = Some(&mut pass_on);
            let compared = run(&self.against, against, &enter, |part| add(part, false).map(drop))?;
            done.rejected_against = compared.rejected;
            places.files_against = files_of(&compared);
            options.on_reject = on_reject;
        }
        options.starts = Some(Arc::clone(&places.starts));
        let mut kept = GameBits::default();
        *summary = run_to_end(inputs, options, &enter, |part| {
            let part = add(part, true)?;
            done.compared += part.games;
            done.damaged += part.damaged;
            done.without_moves += part.without_moves;
            part.unequalled.iter().for_each(|&game| kept.insert(game));
            Ok(())
        });
        if let Some(failure) = summary.failure.take() {
            return Err(failure);
        }
        places.files = files_of(summary);
        let kept = Mutex::new(kept);
        let sets = Mutex::new(0);
        let links = Store::<Links>::new(&space)?;
        let add_links = |found: Links| {
            let mut keys = Vec::new();
            found.keys(&mut keys);
            links.add(&keys, |pile: &mut Links, rows| pile.take(&found, rows));
            links.check()
        };
        Partitions::of(store, &space, threads)?.for_each(threads, |leaf| {
            let Judged { kept: own, sets: heads, links } = judge(self, &Entries::joined(leaf.piles()?), enter.lists);
            let mut kept = kept.lock().unpoisoned();
            own.into_iter().for_each(|game| kept.insert(game));
            drop(kept);
            *sets.lock().unpoisoned() += heads;
            add_links(links)
        })?;
        let mut kept = kept.into_inner().unpoisoned();
        done.sets = sets.into_inner().unpoisoned();
        let links = match self.keys.has_pairs() {
            false => links,
            true => self.resolve(links, (&space, threads), (&mut kept, &mut done.sets), enter.lists)?,
        };
        if let Some(on_duplicate) = on_duplicate {
            let mut leaves = Partitions::of(links, &space, threads)?;
            while let Some(leaf) = leaves.next()? {
                let links = Links::joined(leaf.piles()?);
                let mut rows: Vec<usize> = (0..links.len()).collect();
                rows.sort_unstable_by_key(|&row| links.numbers[row][0]);
                for row in rows {
                    on_duplicate(places.duplicate(links.numbers[row], links.bytes_of(row)))?;
                }
            }
        }
        Ok(kept)
    }

    /// Judges games by pairs of equal ones, in the order of judgment; returns the links of a list.
    fn resolve(
        &self,
        pairs: Store<Links>,
        (space, threads): (&ScratchSpace, usize),
        (kept, sets): (&mut GameBits, &mut u64),
        lists: bool,
    ) -> Result<Store<Links>, Error> {
        let store = Store::<Links>::new(space)?;
        let (mut left, mut heads) = (GameBits::default(), GameBits::default());
        let mut leaves = Partitions::of(pairs, space, threads)?;
        while let Some(leaf) = leaves.next()? {
            let pairs = Links::joined(leaf.piles()?);
            let mut rows: Vec<usize> = (0..pairs.len()).collect();
            rows.sort_unstable_by_key(|&row| pairs.numbers[row]);
            let mut found = Links::default();
            for of_game in rows.chunk_by(|&one, &other| pairs.numbers[one][1] == pairs.numbers[other][1]) {
                let [_, order, _, game, ..] = pairs.numbers[of_game[0]];
                let is_kept = |order: u64| is_against(order) || !left.contains(order & LAST_PLACE);
                // The game itself is the last of those that it equals.
                let first = of_game.iter().copied().find(|&row| {
                    let [_, _, other, ..] = pairs.numbers[row];
                    other != order && is_kept(other)
                });
                let has_equals = || of_game.iter().any(|&row| pairs.numbers[row][7] == HAS_EQUALS);
                let head_of_first = first.map(|row| pairs.numbers[row][2]);
                let head = match first {
                    // What is left out for a game to compare with is left out for the first that this one equals.
                    _ if is_against(order) => has_equals().then_some(head_of_first.unwrap_or(order)),
                    Some(row) => {
                        left.insert(order & LAST_PLACE);
                        if lists {
                            let mut numbers = pairs.numbers[row];
                            numbers[0] = self.keep.place(order) << (u64::BITS - PLACE);
                            found.push(numbers, pairs.bytes_of(row));
                        }
                        head_of_first
                    }
                    None => {
                        kept.insert(game);
                        has_equals().then_some(order)
                    }
                };
                if let Some(head) = head {
                    heads.insert(head & LAST_PLACE);
                }
            }
            let mut keys = Vec::new();
            found.keys(&mut keys);
            store.add(&keys, |pile: &mut Links, rows| pile.take(&found, rows));
            store.check()?;
        }
        *sets += heads.count();
        Ok(store)
    }
}

fn files_of(summary: &Summary) -> Vec<Arc<Path>> {
    summary.files.iter().map(|file| Arc::clone(&file.path)).collect()
}

/// Where games are, by their numbers.
#[derive(Default)]
struct Places {
    starts: Arc<Mutex<Vec<Totals>>>,
    files: Vec<Arc<Path>>,
    starts_against: Arc<Mutex<Vec<Totals>>>,
    files_against: Vec<Arc<Path>>,
}

impl Places {
    fn place(&self, is_against: bool, game: u64, line: u64) -> GamePlace {
        let (starts, files) = match is_against {
            true => (&self.starts_against, &self.files_against),
            false => (&self.starts, &self.files),
        };
        let starts = starts.lock().unpoisoned();
        let before = |totals: &Totals| totals.games.max(totals.games_after);
        let file = starts.partition_point(|totals| before(totals) <= game).saturating_sub(1);
        GamePlace {
            file: files.get(file).map_or_else(|| Path::new("").into(), Arc::clone),
            game: game - starts.get(file).map_or(0, before),
            line: (line != 0).then_some(line),
        }
    }
    fn duplicate(&self, link: [u64; 8], differs: &[u8]) -> DuplicateGame {
        let [_, order, head, game, game_of_head, line, line_of_head, _] = link;
        DuplicateGame {
            left_out: self.place(is_against(order), game, line),
            kept: self.place(is_against(head), game_of_head, line_of_head),
            differs: String::from_utf8_lossy(differs).into_owned(),
        }
    }
}

/// Passes the games that are kept to a job, or leaves it to the run to pass their records.
struct KeptGames<'a, J> {
    kept: &'a GameBits,
    job: &'a J,
}

impl<J: Job> Job for KeptGames<'_, J> {
    type Part = J::Part;
    fn needs(&self) -> Needs {
        self.job.needs()
    }
    fn reads_games(&self) -> bool {
        self.job.reads_games()
    }
    fn copies_games(&self) -> bool {
        self.job.copies_games()
    }
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        self.job.game_tags()
    }
    fn reads_lost_tags(&self) -> bool {
        self.job.reads_lost_tags()
    }
    fn refusal(&self) -> Option<Refusal> {
        self.job.refusal()
    }
    fn begin(&self) -> Self::Part {
        self.job.begin()
    }
    fn source(&self, part: &mut Self::Part, chunk: &Chunk, lines: Option<u64>) {
        self.job.source(part, chunk, lines);
    }
    fn tile(&self, part: &mut Self::Part, tile: &Tile<'_>) {
        self.job.tile(part, tile);
    }
    fn games(&self, part: &mut Self::Part, games: &[GameRow]) {
        let kept: Vec<GameRow> = games.iter().filter(|game| self.kept.contains(game.game)).cloned().collect();
        self.job.games(part, &kept);
    }
    fn end(&self, part: &mut Self::Part, chunk: u64) {
        self.job.end(part, chunk);
    }
}

impl RecordFilter for GameBits {
    fn name(&self) -> &'static str {
        "dedup"
    }
    fn needs(&self) -> Needs {
        Needs::new(Queries::NONE, Fields::of(&[Field::Game]))
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        let games = match tile.batch.values(Field::Game) {
            Some(Array::U64(games)) => Some(games),
            _ => None,
        };
        keep(tile, mask, |row| games.and_then(|games| games.get(row)).is_some_and(|&game| self.contains(game)));
    }
}
