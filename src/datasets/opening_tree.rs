//! The opening tree: what was played in each position, over all games, whatever the order of moves.
//!
//! A position is what its Polyglot key tells apart, compared exactly: the board, the side to move, castling rights, and an
//! en passant square beside which a pawn stands that takes there, legally or not. Each record with a move adds a row for
//! its position and move; the first bits of the key divide the rows into parts that fit in memory, where equal rows are
//! added up. The parts come in the order of keys.
//!
//! A game that reaches a position twice counts once for it, with the first chosen move played there. Where positions are
//! chosen by nothing but the beginning of games, [`Field::Repetition`] tells; else rows keep the number of their game until
//! all rows of a position are together. For [some positions](OpeningTree::moves_of), records are compared with them, and
//! nothing else is kept; the parts of a run come in the order of games.

use super::opening_tree_rows::{Front, OneGame, Pile, TreeRow, Words, add_up, is_black};
use super::opening_tree_shards::{PartReader, PartWriter};
use crate::canonical::{Canonical, castling_files, hash_of_planes};
use crate::chess::zobrist::KeysOfPlanes;
use crate::chess::{Color, Move, Position, Square};
use crate::error::Error;
use crate::formats::{Chunk, Remark};
use crate::games::{Date, Outcome};
use crate::input::{Inputs, Shard};
use crate::output::ScratchSpace;
use crate::packed::Packed;
use crate::partition::keyed_rows::{Partitions, RowBuffer, Store};
use crate::pipeline::{Job, RunError, RunOptions, Summary, run};
use crate::poisoned_locks::Unpoisoned;
use crate::queries::Queries;
use crate::table::{Array, Batch, Field, Fields, Needs, Tile, Values};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Options of the tree.
///
/// ```
/// use lanefish::{chess::Position, datasets::OpeningTree, input::Inputs, pipeline::RunOptions, tiers};
///
/// let games = Inputs::resolve(&["data/lichess-2025-05.pgn".into()], |_| true)?;
/// let start = Position::standard();
/// let (_, found) = OpeningTree::default().moves_of(&[start], &games, RunOptions::new(tiers::best()))?;
/// assert_eq!(found[0].moves.iter().map(|played| played.games).sum::<u64>(), 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpeningTree {
    /// The first moves of each game that count; all if `None`.
    pub plies: Option<u32>,
    /// Moves of fewer games are left out.
    pub min_games: u64,
    /// A game of Chess960 ends the run: it cannot be in a Polyglot book.
    pub standard_only: bool,
}

crate::option_setters::setters!(OpeningTree { plies: Option<u32>, min_games: u64, standard_only: bool });

/// A position of the tree, with the moves played there: most games first, then by their text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TreePosition {
    /// The position, with the clocks `0 1`.
    pub position: Position,
    /// Its Polyglot key.
    pub key: u64,
    /// The moves.
    pub moves: Vec<TreeMove>,
}

/// A move of the tree, and the games in which it was played.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TreeMove {
    /// The move.
    pub mv: Move,
    /// The smallest ply at which it was played.
    pub ply: u16,
    /// Number of games, with those that have no result.
    pub games: u64,
    /// Number of games that White won.
    pub white: u64,
    /// Number of draws.
    pub draws: u64,
    /// Number of games that Black won.
    pub black: u64,
    /// The mean rating of the mover, over the games that have it.
    pub mean_elo: Option<u16>,
    /// The performance of the mover: the mean rating of the opponents and 400 * log10(s / (1 - s)), at most 800 either way,
    /// where s is the share of the points, over games with a result and the opponent's rating.
    pub performance: Option<i16>,
    /// The first and the last day of a game.
    pub dates: Option<[Date; 2]>,
}

impl TreePosition {
    /// Whether castling is written as the king's own move.
    fn is_standard(&self) -> bool {
        self.position.castles_as_standard()
    }
    /// The text of a move: castling is king takes rook where rights are not those of standard chess.
    pub fn uci(&self, mv: Move) -> String {
        mv.uci_as(!self.is_standard()).to_string()
    }
}

/// The en passant square of a board, if a pawn stands beside that takes there; `idle` is that of [`Field::KeyEnPassant`].
#[inline(always)]
fn counted_en_passant(board: &Packed, idle: impl FnOnce() -> Option<i64>) -> u64 {
    let idle = || idle().map(|square| Square::new(square as u8 & 63));
    let Some(square) = board.en_passant().or_else(idle) else { return 0 };
    let bit = 1_u64 << square.index();
    let [west, east] = [bit >> 1 & 0x7F7F_7F7F_7F7F_7F7F, bit << 1 & 0xFEFE_FEFE_FEFE_FEFE];
    let planes = board.planes();
    let black = planes.color & planes.occupied();
    let (rank, own) = match board.side_to_move() {
        Color::White => ((west | east) >> 8, planes.occupied() & !black),
        Color::Black => ((west | east) << 8, black),
    };
    if rank & planes.pawns() & own == 0 { 0 } else { bit }
}

#[inline(always)]
fn words(canonical: &Canonical, en_passant: u64) -> Words {
    let [black, t0, t1, t2] = canonical.board;
    let castling = u64::from(castling_files(canonical.castling));
    let square = if en_passant == 0 { 0 } else { u64::from(en_passant.trailing_zeros()) + 1 };
    [black, t0, t1, t2, u64::from(canonical.black_to_move) << 63 | castling << 8 | square]
}

/// The words of a position.
fn words_of_position(position: &Position) -> Option<Words> {
    let board = Packed::pack(position).ok()?;
    Some(words(&Canonical::of(&board, false), counted_en_passant(&board, || None)))
}

/// The castling rooks of some words: the files of the first rank, then those of the eighth, as `castling_files` has them.
fn castling_rooks(words: &Words) -> u64 {
    words[4] >> 8 & 0xFF | (words[4] >> 16 & 0xFF) << 56
}

/// The empty squares on which a bit can say that Black is to move.
fn free_squares(&[_, t0, t1, t2, _]: &Words) -> u64 {
    !(t0 | t1 | t2 | 0x0000_FF00_00FF_0000)
}

/// The en passant square of some words, which counts.
fn en_passant_of(words: &Words) -> Option<Square> {
    (words[4] & 0xFF).checked_sub(1).map(|square| Square::new(square as u8))
}

/// The Polyglot key of some words.
#[inline(always)]
fn key_of(keys: &mut KeysOfPlanes, words: &Words) -> u64 {
    let &[black, t0, t1, t2, _] = words;
    // A board without such a square is read as one with White to move.
    let side_to_move = if is_black(words) && free_squares(words) != 0 { Color::Black } else { Color::White };
    keys.of([black, t0, t1, t2], castling_rooks(words), side_to_move, en_passant_of(words))
}

/// Whether the castling rights of some words are those of standard chess, as [`Position::castles_as_standard`] has it.
fn castles_as_standard(words: &Words) -> bool {
    let castling = castling_rooks(words);
    let &[black, t0, t1, t2, _] = words;
    let kings = t2 & t1 & !t0;
    let on_e = |kings: u64| kings != 0 && kings.trailing_zeros() % 8 == 4;
    let is_standard = |rooks: u64, kings: u64| rooks == 0 || rooks & !0x8100_0000_0000_0081 == 0 && on_e(kings);
    is_standard(castling & 0xFF, kings & !black) && is_standard(castling >> 56, kings & black)
}

/// The position of some words.
fn position_of(words: &Words) -> Option<Position> {
    let &[black, t0, t1, t2, _] = words;
    let castling = castling_rooks(words);
    let free = free_squares(words);
    let sentinel = if is_black(words) { free & free.wrapping_neg() } else { 0 };
    let board = Packed { color: black | sentinel, types: [t0 | castling, t1 | castling, t2] };
    let mut position = board.unpack(0, 1).ok()?;
    if let Some(square) = en_passant_of(words) {
        position.en_passant = Some(square);
        if !position.en_passant_captors().any() {
            position.en_passant = None;
        }
    }
    Some(position)
}

/// Whether the bits are those of castling, where one more bit marks games of Chess960.
fn is_castling(bits: u16) -> bool {
    bits >> 14 == 3
}

/// The columns of a batch that are read, found once.
struct Facts<'a> {
    batch: &'a Batch,
    moves: Option<&'a Values<u16>>,
    results: Option<&'a Values<u8>>,
    /// Of White and of Black.
    elos: [Option<&'a Values<u16>>; 2],
    plies: Option<&'a Values<u16>>,
    games: Option<&'a Values<u64>>,
    repetitions: Option<&'a Values<u8>>,
    idle_squares: Option<&'a Array>,
}

fn get<T: Copy + Clone + Default>(values: Option<&Values<T>>, row: usize) -> Option<T> {
    values?.get(row).copied()
}

impl<'a> Facts<'a> {
    fn of(batch: &'a Batch) -> Self {
        let small = |field| batch.values(field).and_then(Array::numbers::<u16>);
        Self {
            batch,
            moves: small(Field::Move),
            results: batch.values(Field::Result).and_then(Array::numbers::<u8>),
            elos: [small(Field::WhiteElo), small(Field::BlackElo)],
            plies: small(Field::Ply),
            games: batch.values(Field::Game).and_then(Array::numbers::<u64>),
            repetitions: batch.values(Field::Repetition).and_then(Array::numbers::<u8>),
            idle_squares: batch.values(Field::KeyEnPassant),
        }
    }

    /// Whether a record is not among the first plies.
    fn is_after(&self, plies: Option<u32>, row: usize) -> bool {
        plies.is_some_and(|plies| get(self.plies, row).is_some_and(|ply| u32::from(ply) >= plies))
    }

    /// The words of a record.
    #[inline(always)]
    fn words(&self, row: usize, board: &Packed, canonical: &Canonical) -> Words {
        words(canonical, counted_en_passant(board, || self.idle_squares?.number(row)))
    }

    /// Whether a record is of a game of Chess960, as far as it tells.
    fn is_chess960(&self, row: usize, words: &Words) -> bool {
        let is_marked = |bits: u16| is_castling(bits) && bits & Move::CHESS960 != 0;
        get(self.moves, row).is_some_and(is_marked) || !castles_as_standard(words)
    }

    /// The move of a record, with Black to move or not; `None` without a move. Position and key are not set.
    #[inline(always)]
    fn row(&self, row: usize, is_black: bool, dates: &mut DatesByText) -> Option<OneGame> {
        let mv = get(self.moves, row).filter(|&bits| bits != 0)?;
        // The codes go from Black's victories up, and the places from White's.
        let most = Outcome::White.code();
        let result = get(self.results, row).and_then(|code| most.checked_sub(code));
        let [own, other] = if is_black { [1, 0] } else { [0, 1] };
        let elos = [get(self.elos[own], row), get(self.elos[other], row)];
        // Castling is the same move in games of Chess960 and others.
        let mv = if is_castling(mv) { mv & !Move::CHESS960 } else { mv };
        let ply = get(self.plies, row).unwrap_or(u16::MAX);
        Some(OneGame::new(mv, ply, result, elos, dates.of(self.batch, row)))
    }
}

/// The day of the last text of a tile: records of a game have the same.
#[derive(Debug, Default)]
struct DatesByText {
    last: Option<(u32, u32)>,
}

impl DatesByText {
    fn of(&mut self, batch: &Batch, row: usize) -> u32 {
        let Some(texts) = batch.texts(Field::Date) else { return 0 };
        let Some(&code) = texts.codes().get(row) else { return 0 };
        if let Some((known, day)) = self.last
            && known == code
        {
            return day;
        }
        let date = texts.get(row).and_then(|text| Date::parse(text.as_bytes()));
        let day = date.and_then(Date::days).map_or(0, |days| (days + DAYS_BEFORE) as u32);
        self.last = Some((code, day));
        day
    }
}

/// Days before 1970 that a date may have, and one more.
const DAYS_BEFORE: i32 = 719_163;

/// The day of a number.
fn date_of(day: u32) -> Option<Date> {
    Date::of_days(i32::try_from(day).ok()? - DAYS_BEFORE).filter(|_| day != 0)
}

/// A quotient, rounded; halves up.
fn rounded(sum: u64, count: u64) -> Option<u64> {
    (2 * sum + count).checked_div(2 * count)
}

/// The performance of the mover.
fn performance([sum, points, count]: [u64; 3]) -> Option<i16> {
    if count == 0 {
        return None;
    }
    let share = points as f64 / (2 * count) as f64;
    let term = match points {
        0 => -800.0,
        points if points == 2 * count => 800.0,
        _ => (400.0 * libm::log10(share / (1.0 - share))).clamp(-800.0, 800.0),
    };
    Some((sum as f64 / count as f64 + term).round() as i16)
}

/// A position with the moves of its rows.
fn tree_position(position: Position, key: u64, rows: &[TreeRow], min_games: u64) -> TreePosition {
    let moves = rows.iter().filter(|row| row.games >= min_games).filter_map(|row| {
        let first = date_of(row.dates[0]);
        let last = if row.dates[1] == row.dates[0] { first } else { date_of(row.dates[1]) };
        Some(TreeMove {
            mv: Move::from_bits(row.mv)?,
            ply: row.ply,
            games: row.games,
            white: row.results[0],
            draws: row.results[1],
            black: row.results[2],
            mean_elo: rounded(row.elos[0], row.elos[1]).map(|elo| elo as u16),
            performance: performance(row.opponents),
            dates: first.zip(last).map(|(first, last)| [first, last]),
        })
    });
    let mut position = TreePosition { position, key, moves: moves.collect() };
    if position.moves.len() > 1 {
        let is_standard = position.is_standard();
        let text = |played: &TreeMove| played.mv.uci_as(!is_standard);
        position.moves.sort_by(|one, other| {
            let by_games = other.games.cmp(&one.games);
            by_games.then_with(|| text(one).as_bytes().cmp(text(other).as_bytes()))
        });
    }
    position
}

/// The fields of records that are read.
const FIELDS: [Field; 8] = [
    Field::Move,
    Field::Result,
    Field::WhiteElo,
    Field::BlackElo,
    Field::Date,
    Field::Ply,
    Field::Game,
    Field::KeyEnPassant,
];

/// Collects rows of all positions.
struct Collect<'a> {
    store: &'a Store<Pile>,
    plies: Option<u32>,
    /// Whether positions are chosen by more than the beginning of games.
    keeps_games: bool,
    /// What threads have at hand.
    hands: Mutex<Vec<Hand>>,
}

/// What a thread keeps from one tile to the next.
#[derive(Default)]
struct Hand {
    keys: KeysOfPlanes,
    front: Front,
}

/// The rows of a chunk that have not been added to the store, and what has been met.
#[derive(Default)]
struct Collected {
    rows: Pile,
    met: Met,
}

/// What the records of a chunk are, besides moves of games.
#[derive(Debug, Default)]
struct Met {
    path: Option<Arc<Path>>,
    games: bool,
    without_game: u64,
    /// The first record of a game of Chess960.
    chess960: Option<u64>,
}

impl Met {
    /// Takes what the next chunk has met.
    fn join(&mut self, next: Self, standard_only: bool) -> Result<(), Error> {
        if let (Some(record), Some(path)) = (next.chess960.filter(|_| standard_only), &next.path) {
            let reason = format!(
                "has a game of Chess960 (record {record}), which a Polyglot book cannot hold; --variant standard leaves \
                 such games out"
            );
            return Err(Error::Selection { path: Arc::clone(path), reason });
        }
        self.chess960 = self.chess960.or(next.chess960);
        self.games |= next.games;
        self.without_game += next.without_game;
        self.path = self.path.take().or(next.path);
        Ok(())
    }

    /// Reports records without a game, at the end.
    fn report(&self, summary: &mut Summary) -> Result<(), RunError> {
        if let (false, 1.., Some(path)) = (self.games, self.without_game, &self.path) {
            let reason = "has no games: its records do not carry `game`".to_owned();
            return Err(Error::Selection { path: Arc::clone(path), reason }.into());
        }
        summary.remarks.add(&WITHOUT_GAME, self.without_game);
        Ok(())
    }
}

/// Records that belong to no game.
static WITHOUT_GAME: Remark = Remark { what: "record", how: "without a game, which does not count", is_detail: false };

/// Number of rows that are added to the store at a time.
const AT_ONCE: usize = 1 << 12;

/// Adds rows to a store.
fn add_to(store: &Store<Pile>, rows: &mut Pile) {
    let mut keys = Vec::with_capacity(rows.len());
    rows.keys(&mut keys);
    store.add(&keys, |pile, places| pile.take(rows, places));
    rows.clear();
}

impl Collect<'_> {
    /// Adds the sums that threads have at hand.
    fn finish(self) {
        for hand in self.hands.into_inner().unpoisoned() {
            add_to(self.store, &mut hand.front.into_pile());
        }
    }
}

impl Job for Collect<'_> {
    type Part = Collected;
    fn needs(&self) -> Needs {
        let repetition = Fields::of(&[Field::Repetition]);
        Needs::new(Queries::NONE, Fields::of(&FIELDS).union(repetition))
    }
    fn begin(&self) -> Collected {
        Collected::default()
    }
    fn source(&self, part: &mut Collected, chunk: &Chunk, _: Option<u64>) {
        part.met.path = Some(Arc::clone(&chunk.file));
    }
    fn tile(&self, part: &mut Collected, tile: &Tile<'_>) {
        let Collected { rows, met } = part;
        let facts = Facts::of(tile.batch);
        let mut dates = DatesByText::default();
        let mut hand = self.hands.lock().unpoisoned().pop().unwrap_or_default();
        for row in tile.rows() {
            let Some(game) = get(facts.games, row) else {
                met.without_game += 1;
                continue;
            };
            met.games = true;
            if facts.is_after(self.plies, row)
                || !self.keeps_games && get(facts.repetitions, row).is_some_and(|count| count > 1)
            {
                continue;
            }
            let board = tile.batch.board(row);
            let canonical = Canonical::of(&board, false);
            let Some(one) = facts.row(row, canonical.black_to_move, &mut dates) else { continue };
            let words = facts.words(row, &board, &canonical);
            let key = key_of(&mut hand.keys, &words);
            if met.chess960.is_none() && facts.is_chess960(row, &words) {
                met.chess960 = Some(tile.batch.index(row));
            }
            let one = OneGame { words, ..one };
            if self.keeps_games {
                rows.sums.push(TreeRow { games: game, is_single: 1, ..one.counts(key) });
            } else {
                hand.front.add(key, one, rows);
            }
            if rows.len() >= AT_ONCE {
                add_to(self.store, rows);
            }
        }
        self.hands.lock().unpoisoned().push(hand);
    }
    fn end(&self, part: &mut Collected, _: u64) {
        add_to(self.store, &mut part.rows);
    }
}

/// Collects the games of some positions.
struct Visits<'a> {
    wanted: &'a HashMap<Words, usize>,
    /// A bit for the hash of each board.
    hashes: &'a [u64],
    plies: Option<u32>,
}

/// A game that reaches a position.
struct Visit {
    position: usize,
    game: u64,
    row: OneGame,
}

/// Bits of a hash that choose a bit.
const FILTER: u32 = 16;

fn hash_of(canonical: &Canonical) -> usize {
    (hash_of_planes(canonical.board) >> (u64::BITS - FILTER)) as usize
}

impl Job for Visits<'_> {
    type Part = (Vec<Visit>, Met);
    fn needs(&self) -> Needs {
        Needs::new(Queries::NONE, Fields::of(&FIELDS))
    }
    fn begin(&self) -> Self::Part {
        Default::default()
    }
    fn source(&self, (_, met): &mut Self::Part, chunk: &Chunk, _: Option<u64>) {
        met.path = Some(Arc::clone(&chunk.file));
    }
    fn tile(&self, (visits, met): &mut Self::Part, tile: &Tile<'_>) {
        let facts = Facts::of(tile.batch);
        let mut dates = DatesByText::default();
        match tile.batch.values(Field::Game).map_or(0, Array::count_present) {
            0 => met.without_game += tile.rows().count() as u64,
            _ => met.games = true,
        }
        for row in tile.rows() {
            let board = tile.batch.board(row);
            let canonical = Canonical::of(&board, false);
            let hash = hash_of(&canonical);
            if self.hashes[hash / 64] >> (hash % 64) & 1 == 0 {
                continue;
            }
            let words = facts.words(row, &board, &canonical);
            let Some(&position) = self.wanted.get(&words) else { continue };
            if facts.is_after(self.plies, row) {
                continue;
            }
            let Some(game) = get(facts.games, row) else { continue };
            if met.chess960.is_none() && facts.is_chess960(row, &words) {
                met.chess960 = Some(tile.batch.index(row));
            }
            if let Some(mut row) = facts.row(row, canonical.black_to_move, &mut dates) {
                row.words = words;
                visits.push(Visit { position, game, row });
            }
        }
    }
}

/// What was read, and the positions with their moves.
type Found = (Summary, Vec<TreePosition>);

impl OpeningTree {
    /// Options by which games are read as wholes.
    fn in_order(mut options: RunOptions<'_>) -> RunOptions<'_> {
        let games = options.read.choose.games.get_or_insert_default();
        Arc::make_mut(games).games_in_order = true;
        options
    }

    /// The moves played in some positions, whatever the order of moves before them. Nothing else is kept.
    ///
    /// # Errors
    /// As those of [`run`]; if the records of a game do not follow one another.
    pub fn moves_of(
        &self,
        positions: &[Position],
        inputs: &Inputs,
        options: RunOptions<'_>,
    ) -> Result<Found, RunError> {
        let mut wanted = HashMap::new();
        let mut hashes = vec![0_u64; 1 << FILTER >> 6];
        for (place, position) in positions.iter().enumerate() {
            if let Some(words) = words_of_position(position) {
                wanted.entry(words).or_insert(place);
                let hash =
                    hash_of(&Canonical { board: [words[0], words[1], words[2], words[3]], ..Canonical::default() });
                hashes[hash / 64] |= 1 << (hash % 64);
            }
        }
        let mut rows: Vec<BTreeMap<u16, TreeRow>> = positions.iter().map(|_| BTreeMap::new()).collect();
        let mut last_games: Vec<Option<u64>> = vec![None; positions.len()];
        let job = Visits { wanted: &wanted, hashes: &hashes, plies: self.plies };
        let mut all = Met::default();
        let mut summary = run(inputs, Self::in_order(options), &job, |(visits, met)| {
            all.join(met, self.standard_only)?;
            for Visit { position, game, row } in visits {
                // Later records of a game that is there already come directly after it.
                if last_games[position].replace(game) == Some(game) {
                    continue;
                }
                let row = row.counts(0);
                rows[position].entry(row.mv).and_modify(|known| known.add(&row)).or_insert(row);
            }
            Ok(())
        })?;
        all.report(&mut summary)?;
        let mut keys = KeysOfPlanes::default();
        let found = positions.iter().zip(rows).map(|(position, rows)| {
            let rows: Vec<TreeRow> = rows.into_values().collect();
            let words = words_of_position(position);
            let known = words.and_then(|words| Some((position_of(&words)?, key_of(&mut keys, &words))));
            let (position, key) = known.unwrap_or_else(|| (position.clone(), position.polyglot_key()));
            tree_position(position, key, &rows, self.min_games)
        });
        Ok((summary, found.collect()))
    }

    /// All positions with their moves, in the order of their keys, and of equal keys in that of their FEN. Positions without
    /// a move that counts are left out.
    ///
    /// # Errors
    /// As those of [`run`]; if the records of a game do not follow one another, a temporary file cannot be written or read,
    /// or `sink` fails.
    pub fn all(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        mut sink: impl FnMut(TreePosition) -> Result<(), Error>,
    ) -> Result<Summary, RunError> {
        let (space, threads) = (options.space.clone(), options.threads);
        let (store, summary, _) = self.collect(inputs, options)?;
        sums_of(store, &space, threads, self.min_games, |rows| self.positions_of(rows, &mut sink))?;
        Ok(summary)
    }

    /// The sums of a part of the inputs, for [`Self::merge`]: nothing is left out by [`Self::min_games`]. `part` is its number
    /// among all parts, the shard if the options have one. `about` are the options of the run as text; parts of other options are
    /// not put together.
    ///
    /// # Errors
    /// As those of [`Self::all`]; if writing fails.
    pub fn write_part(
        &self,
        (part, about): (Option<Shard>, &str),
        inputs: &Inputs,
        options: RunOptions<'_>,
        out: impl io::Write,
        failed: impl Fn(io::Error) -> Error,
    ) -> Result<(Summary, u64), RunError> {
        let (space, threads) = (options.space.clone(), options.threads);
        let (store, summary, met) = self.collect(inputs, options)?;
        let mut part = PartWriter::begin(out, part, about).map_err(&failed)?;
        sums_of(store, &space, threads, 0, |rows| part.put(rows).map_err(&failed))?;
        let rows = part.finish(met.chess960.is_some()).map_err(&failed)?;
        Ok((summary, rows))
    }

    /// Puts the parts of all shards together: what one run without shards would have found, in the same order.
    ///
    /// # Errors
    /// If a part is missing, is there twice, is damaged, or was made with other options; if a temporary file cannot be written
    /// or read, or `sink` fails.
    pub fn merge<P: AsRef<Path>>(
        &self,
        parts: &[P],
        space: &ScratchSpace,
        threads: usize,
        mut sink: impl FnMut(TreePosition) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let refused = |path: &Path, reason: String| Error::Selection { path: path.into(), reason };
        let mut readers: Vec<PartReader> = Vec::new();
        for path in parts {
            let path = path.as_ref();
            let part = PartReader::open(path)?;
            if let Some(first) = readers.first() {
                if first.options != part.options {
                    return Err(refused(path, "was made with other options than the first part".to_owned()));
                }
                if first.shard.1 != part.shard.1 {
                    let (own, first) = (part.shard.1, first.shard.1);
                    return Err(refused(path, format!("is one of {own} parts, and the first one is one of {first}")));
                }
            }
            if readers.iter().any(|reader| reader.shard == part.shard) {
                return Err(refused(path, format!("is part {} once more", part.shard.0)));
            }
            readers.push(part);
        }
        let count = readers.first().map_or(0, |first| first.shard.1);
        let is_missing = |number: &u32| readers.iter().all(|reader| reader.shard.0 != *number);
        if let (Some(missing), Some(first)) = ((0..count).find(is_missing), parts.first()) {
            return Err(refused(
                first.as_ref(),
                format!("is one of {count} parts, of which part {missing} is missing"),
            ));
        }
        let store = Store::new(space)?;
        for reader in &mut readers {
            loop {
                let rows = reader.next(AT_ONCE)?;
                if rows.is_empty() {
                    break;
                }
                add_to(&store, &mut Pile::of_sums(rows));
                store.check()?;
            }
            if self.standard_only && reader.has_chess960 {
                let reason = "has a game of Chess960, which a Polyglot book cannot hold; parts made with --variant standard \
                              leave such games out";
                return Err(refused(&reader.path, reason.to_owned()));
            }
        }
        sums_of(store, space, threads, self.min_games, |rows| self.positions_of(rows, &mut sink))
    }

    /// The rows of all positions.
    fn collect(&self, inputs: &Inputs, options: RunOptions<'_>) -> Result<(Store<Pile>, Summary, Met), RunError> {
        let choose = &options.read.choose;
        let keeps_games = choose.sample.is_some()
            || choose.filter.as_ref().is_some_and(|condition| !condition.is_of_games())
            || choose.games.as_ref().is_some_and(|games| !games.takes_all_positions())
            || options.read.skip != 0;
        let store = Store::new(&options.space)?;
        let job = Collect { store: &store, plies: self.plies, keeps_games, hands: Mutex::default() };
        let mut all = Met::default();
        let mut summary = run(inputs, Self::in_order(options), &job, |part| {
            all.join(part.met, self.standard_only)?;
            store.check()
        })?;
        job.finish();
        all.report(&mut summary)?;
        Ok((store, summary, all))
    }

    /// The positions of sorted rows.
    fn positions_of(
        &self,
        rows: &[TreeRow],
        sink: &mut impl FnMut(TreePosition) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for of_key in rows.chunk_by(|one, other| one.key == other.key) {
            let positions = of_key
                .chunk_by(|one, other| one.words == other.words)
                .filter(|rows| rows.iter().any(|row| row.games >= self.min_games))
                .filter_map(|rows| {
                    Some(tree_position(position_of(&rows[0].words)?, rows[0].key, rows, self.min_games))
                });
            let mut positions = positions.filter(|position| !position.moves.is_empty());
            // Sorted rows with the same ends are all equal, as those of nearly every key are.
            if of_key.first().map(|row| row.words) == of_key.last().map(|row| row.words) {
                positions.try_for_each(&mut *sink)?;
                continue;
            }
            let mut positions: Vec<TreePosition> = positions.collect();
            positions.sort_by_cached_key(|position| position.position.to_string());
            positions.into_iter().try_for_each(&mut *sink)?;
        }
        Ok(())
    }
}

/// Adds the rows of a store up, and passes them on in order; keys of which all rows have fewer games than `least` are left
/// out.
fn sums_of(
    store: Store<Pile>,
    space: &ScratchSpace,
    threads: usize,
    least: u64,
    mut sink: impl FnMut(&[TreeRow]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut parts = Partitions::of(store, space, threads)?;
    while let Some(part) = parts.next()? {
        let mut piles = part.piles()?;
        if piles.iter().any(Pile::has_numbers_of_games) {
            // The rows of a game may be in several piles.
            let mut all = Pile::of_sums(piles.into_iter().flat_map(|pile| pile.sums).collect());
            all.keep_one_of_each_game();
            piles = vec![all];
        }
        add_up(&piles, least, &mut sink)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::{RandomPlay, Start};

    /// The key of the position after a move is that of its words.
    fn check_key_after(position: &Position, last: Move, keys: &mut KeysOfPlanes) {
        let idle = position.idle_en_passant_after(last);
        let board = Packed::pack(position).unwrap();
        let en_passant = counted_en_passant(&board, || idle.map(|square| square.index() as i64));
        let words = words(&Canonical::of(&board, false), en_passant);
        assert_eq!(key_of(keys, &words), position.polyglot_key_after(last), "{position}");
    }

    /// The keys and castling rights of words, against those of the positions that they are made of.
    #[test]
    fn keys_of_words_are_those_of_positions() {
        let mut keys = KeysOfPlanes::default();
        for start in [Start::Standard, Start::Chess960] {
            for played in RandomPlay::new(3, start).take(20_000) {
                let mut position = played.position;
                if let Some(&mv) = position.legal_moves().iter().next_back() {
                    position.make(mv);
                    check_key_after(&position, mv, &mut keys);
                }
                let words = words_of_position(&position).unwrap();
                assert_eq!(key_of(&mut keys, &words), position.polyglot_key(), "{position}");
                assert_eq!(castles_as_standard(&words), position.castles_as_standard(), "{position}");
                (position.halfmove, position.fullmove) = (0, 1);
                assert_eq!(position_of(&words), Some(position));
            }
        }
        // The pawn may not take, because it is pinned; its square counts all the same.
        let mut position = Position::from_fen_unvalidated("7k/5p2/8/3KP1q1/8/8/8/8 b - - 0 1").unwrap();
        let last = Move::from_uci("f7f5", &position).unwrap();
        position.make(last);
        assert!(position.idle_en_passant_after(last).is_some());
        check_key_after(&position, last, &mut keys);
    }
}
