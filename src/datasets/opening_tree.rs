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

use super::opening_tree_shards::{PartReader, PartWriter};
use crate::canonical::{Canonical, castling_files, hash_of_planes};
use crate::chess::zobrist::en_passant_key;
use crate::chess::{Color, Move, Position, Square};
use crate::error::Error;
use crate::formats::{Chunk, Remark};
use crate::games::{Date, Outcome};
use crate::input::Inputs;
use crate::output::ScratchSpace;
use crate::packed::Packed;
use crate::partition::keyed_rows::{Partitions, Row, RowBuffer, Store};
use crate::pipeline::{Job, RunError, RunOptions, Summary, run};
use crate::queries::Queries;
use crate::table::{Array, Batch, Field, Fields, Needs, Tile, Values};
use bytemuck::{Pod, Zeroable};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::Arc;

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

/// A position as rows have it: its planes, and the side to move, castling rights and en passant square.
type Words = [u64; 5];

/// The counts of a position and a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct TreeRow {
    key: u64,
    words: Words,
    mv: u16,
    ply: u16,
    /// The row is a single game, whose number stands in place of the number of games.
    is_single: u32,
    games: u64,
    /// Won by White, drawn, won by Black.
    results: [u64; 3],
    /// The sum and number of the ratings of the mover.
    elos: [u64; 2],
    /// Of games with a result and the opponent's rating: the sum of these ratings, half points of the mover, number.
    opponents: [u64; 3],
    /// The first and the last day, as numbers that sort; 0 if there is none.
    dates: [u32; 2],
}

impl TreeRow {
    fn order(&self) -> (u64, &Words, u16) {
        (self.key, &self.words, self.mv)
    }
    fn add(&mut self, other: &Self) {
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
    fn thin(rows: &mut Vec<Self>) {
        if rows.iter().all(|row| row.is_single == 0) {
            add_up(rows);
        }
    }
}

/// Sorts rows, and adds up those of the same position and move. Rows are long, so that their places are sorted.
fn add_up(rows: &mut Vec<TreeRow>) {
    let mut order: Vec<(u64, u32)> = rows.iter().zip(0..).map(|(row, place)| (row.key, place)).collect();
    order.sort_unstable();
    let mut sums: Vec<TreeRow> = Vec::with_capacity(rows.len());
    for of_key in order.chunk_by_mut(|one, other| one.0 == other.0) {
        if of_key.len() > 1 {
            of_key.sort_unstable_by_key(|&(_, place)| {
                let row = &rows[place as usize];
                (row.words, row.mv)
            });
        }
        for &mut (_, place) in of_key {
            let row = &rows[place as usize];
            match sums.last_mut() {
                Some(sum) if sum.order() == row.order() => sum.add(row),
                _ => sums.push(*row),
            }
        }
    }
    *rows = sums;
}

/// Of the rows of single games, keeps the first of each position and game.
fn one_of_each_game(rows: &mut Vec<TreeRow>) {
    rows.sort_unstable_by_key(|row| (row.key, row.words, row.games, row.ply));
    rows.dedup_by_key(|row| (row.key, row.words, row.games));
    for row in rows {
        (row.games, row.is_single) = (1, 0);
    }
}

/// The en passant square of a board, if a pawn stands beside that takes there.
fn counted_en_passant(batch: &Batch, row: usize, board: &Packed) -> u64 {
    let idle = || batch.values(Field::KeyEnPassant)?.number(row).map(|square| Square::new(square as u8 & 63));
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

/// The words of a record.
fn words_of(batch: &Batch, row: usize) -> Words {
    let board = batch.board(row);
    let canonical = Canonical::of(&board, false);
    words(&canonical, counted_en_passant(batch, row, &board))
}

fn words(canonical: &Canonical, en_passant: u64) -> Words {
    let [black, t0, t1, t2] = canonical.board;
    let castling = u64::from(castling_files(canonical.castling));
    let square = if en_passant == 0 { 0 } else { u64::from(en_passant.trailing_zeros()) + 1 };
    [black, t0, t1, t2, u64::from(canonical.black_to_move) << 63 | castling << 8 | square]
}

/// The words of a position.
fn words_of_position(position: &Position) -> Option<Words> {
    let board = Packed::pack(position).ok()?;
    let mut batch = Batch::new();
    batch.push(board, 0, 1);
    Some(words_of(&batch, 0))
}

/// The position of some words, and its key.
fn position_of([black, t0, t1, t2, state]: Words) -> Option<(Position, u64)> {
    // The files of the first rank, then those of the eighth, as `castling_files` has them.
    let castling = state >> 8 & 0xFF | (state >> 16 & 0xFF) << 56;
    let occupied = t0 | t1 | t2;
    let is_black = state >> 63 != 0;
    let free = !occupied & !0x0000_FF00_00FF_0000;
    let sentinel = if is_black { free & free.wrapping_neg() } else { 0 };
    let board = Packed { color: black | sentinel, types: [t0 | castling, t1 | castling, t2] };
    let mut position = board.unpack(0, 1).ok()?;
    let mut key = position.polyglot_key();
    if let Some(square) = (state & 0xFF).checked_sub(1) {
        let square = Square::new(square as u8);
        key ^= en_passant_key(square);
        position.en_passant = Some(square);
        if !position.en_passant_captors().any() {
            position.en_passant = None;
        }
    }
    Some((position, key))
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
        }
    }

    /// Whether a record is not among the first plies.
    fn is_after(&self, plies: Option<u32>, row: usize) -> bool {
        plies.is_some_and(|plies| get(self.plies, row).is_some_and(|ply| u32::from(ply) >= plies))
    }

    /// Whether a record is of a game of Chess960, as far as it tells.
    fn is_chess960(&self, row: usize, position: &Position) -> bool {
        let is_marked = |bits: u16| is_castling(bits) && bits & Move::CHESS960 != 0;
        get(self.moves, row).is_some_and(is_marked) || !position.castles_as_standard()
    }

    /// The row of a record, without its position; `None` without a move.
    fn row(&self, row: usize, dates: &mut DatesByText) -> Option<TreeRow> {
        let mv = get(self.moves, row).filter(|&bits| bits != 0)?;
        let codes = [Outcome::White, Outcome::Draw, Outcome::Black];
        let result =
            get(self.results, row).and_then(|code| codes.into_iter().position(|outcome| outcome.code() == code));
        let mut results = [0; 3];
        if let Some(result) = result {
            results[result] = 1;
        }
        let is_black = self.batch.board(row).side_to_move() == Color::Black;
        let [own, other] = if is_black { [1, 0] } else { [0, 1] };
        let elo = get(self.elos[own], row).map(u64::from);
        let points = result.map(|result| if is_black { result as u64 } else { 2 - result as u64 });
        let opponent = get(self.elos[other], row).map(u64::from).zip(points);
        let day = dates.of(self.batch, row);
        Some(TreeRow {
            // Castling is the same move in games of Chess960 and others.
            mv: if is_castling(mv) { mv & !Move::CHESS960 } else { mv },
            ply: get(self.plies, row).unwrap_or(u16::MAX),
            games: 1,
            results,
            elos: elo.map_or([0; 2], |elo| [elo, 1]),
            opponents: opponent.map_or([0; 3], |(elo, points)| [elo, points, 1]),
            dates: [day; 2],
            ..TreeRow::default()
        })
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
        let [first, last] = row.dates.map(date_of);
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
    let is_standard = position.is_standard();
    position.moves.sort_by_cached_key(|played| (u64::MAX - played.games, played.mv.uci_as(!is_standard).to_string()));
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
    store: &'a Store<Vec<TreeRow>>,
    plies: Option<u32>,
    /// Whether positions are chosen by more than the beginning of games.
    keeps_games: bool,
}

/// The rows of a chunk that have not been added to the store, and what has been met.
#[derive(Default)]
struct Collected {
    rows: Vec<TreeRow>,
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

impl Collect<'_> {
    fn add(&self, rows: &mut Vec<TreeRow>) {
        let keys: Vec<u64> = rows.iter().map(|row| row.key).collect();
        self.store.add(&keys, |pile: &mut Vec<TreeRow>, places| pile.take(rows, places));
        rows.clear();
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
        let facts = Facts::of(tile.batch);
        let mut dates = DatesByText::default();
        for row in tile.rows() {
            let Some(game) = get(facts.games, row) else {
                part.met.without_game += 1;
                continue;
            };
            part.met.games = true;
            if facts.is_after(self.plies, row)
                || !self.keeps_games && get(facts.repetitions, row).is_some_and(|count| count > 1)
            {
                continue;
            }
            let Some(own) = facts.row(row, &mut dates) else { continue };
            let words = words_of(tile.batch, row);
            let Some((position, key)) = position_of(words) else { continue };
            if part.met.chess960.is_none() && facts.is_chess960(row, &position) {
                part.met.chess960 = Some(tile.batch.index(row));
            }
            let games = if self.keeps_games { game } else { 1 };
            part.rows.push(TreeRow { key, words, games, is_single: self.keeps_games.into(), ..own });
            if part.rows.len() == AT_ONCE {
                self.add(&mut part.rows);
            }
        }
    }
    fn end(&self, part: &mut Collected, _: u64) {
        self.add(&mut part.rows);
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
    row: TreeRow,
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
            let Some(&position) = self.wanted.get(&words(&canonical, counted_en_passant(tile.batch, row, &board)))
            else {
                continue;
            };
            if facts.is_after(self.plies, row) {
                continue;
            }
            let Some(game) = get(facts.games, row) else { continue };
            let is_chess960 =
                || position_of(words_of(tile.batch, row)).is_some_and(|(own, _)| facts.is_chess960(row, &own));
            if met.chess960.is_none() && is_chess960() {
                met.chess960 = Some(tile.batch.index(row));
            }
            if let Some(own) = facts.row(row, &mut dates) {
                visits.push(Visit { position, game, row: own });
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
                rows[position].entry(row.mv).and_modify(|known| known.add(&row)).or_insert(row);
            }
            Ok(())
        })?;
        all.report(&mut summary)?;
        let found = positions.iter().zip(rows).map(|(position, rows)| {
            let rows: Vec<TreeRow> = rows.into_values().collect();
            let known = words_of_position(position).and_then(position_of);
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
        sums_of(store, &space, threads, |rows| self.positions_of(rows, &mut sink))?;
        Ok(summary)
    }

    /// The sums of a shard, for [`Self::merge`]: nothing is left out by [`Self::min_games`]. `about` are the options of the
    /// run as text; parts of other options are not put together.
    ///
    /// # Errors
    /// As those of [`Self::all`]; if writing fails.
    pub fn write_part(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        about: &str,
        out: impl io::Write,
        failed: impl Fn(io::Error) -> Error,
    ) -> Result<(Summary, u64), RunError> {
        let (space, threads) = (options.space.clone(), options.threads);
        let shard = options.read.shard;
        let (store, summary, met) = self.collect(inputs, options)?;
        let mut part = PartWriter::begin(out, shard, about).map_err(&failed)?;
        sums_of(store, &space, threads, |rows| part.put(rows).map_err(&failed))?;
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
                let keys: Vec<u64> = rows.iter().map(|row| row.key).collect();
                store.add(&keys, |pile: &mut Vec<TreeRow>, places| pile.take(&rows, places));
                store.check()?;
            }
            if self.standard_only && reader.has_chess960 {
                let reason = "has a game of Chess960, which a Polyglot book cannot hold; parts made with --variant standard \
                              leave such games out";
                return Err(refused(&reader.path, reason.to_owned()));
            }
        }
        sums_of(store, space, threads, |rows| self.positions_of(rows, &mut sink))
    }

    /// The rows of all positions.
    fn collect(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
    ) -> Result<(Store<Vec<TreeRow>>, Summary, Met), RunError> {
        let choose = &options.read.choose;
        let keeps_games = choose.sample.is_some()
            || choose.filter.as_ref().is_some_and(|condition| !condition.is_of_games())
            || choose.games.as_ref().is_some_and(|games| !games.takes_all_positions())
            || options.read.skip != 0;
        let store = Store::new(&options.space)?;
        let job = Collect { store: &store, plies: self.plies, keeps_games };
        let mut all = Met::default();
        let mut summary = run(inputs, Self::in_order(options), &job, |part| {
            all.join(part.met, self.standard_only)?;
            store.check()
        })?;
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
            let mut positions: Vec<TreePosition> = of_key
                .chunk_by(|one, other| one.words == other.words)
                .filter_map(|rows| {
                    let (position, key) = position_of(rows[0].words)?;
                    Some(tree_position(position, key, rows, self.min_games))
                })
                .filter(|position| !position.moves.is_empty())
                .collect();
            if positions.len() > 1 {
                positions.sort_by_cached_key(|position| position.position.to_string());
            }
            positions.into_iter().try_for_each(&mut *sink)?;
        }
        Ok(())
    }
}

/// Adds the rows of a store up, and passes them on in order.
fn sums_of(
    store: Store<Vec<TreeRow>>,
    space: &ScratchSpace,
    threads: usize,
    mut sink: impl FnMut(&[TreeRow]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut parts = Partitions::of(store, space, threads)?;
    while let Some(part) = parts.next()? {
        let mut rows: Vec<TreeRow> = part.piles()?.concat();
        if rows.iter().any(|row| row.is_single != 0) {
            one_of_each_game(&mut rows);
        }
        add_up(&mut rows);
        sink(&rows)?;
    }
    Ok(())
}
