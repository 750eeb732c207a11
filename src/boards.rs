//! The simplest interface of the library: a collection of positions that is queried in bulk.
//!
//! [`Boards`] stores positions packed, in groups of eight, and queries all of them at once with the best [`Tier`] for
//! this CPU. Large collections are divided among the threads of rayon's pool. The results are identical, bit for bit,
//! whatever the tier and the number of threads.

use crate::chess::{Bitboard, Color, LegalCounts, Move, Position};
use crate::error::Error;
use crate::input::Inputs;
use crate::jobs::Collect;
use crate::packed::{Group, PackError, Packed};
use crate::pipeline::{ReadOptions, RunOptions, run};
use crate::queries::{GroupResults, Queries};
use crate::table::Batch;
use crate::tiers::{Analyzer, Tier};
use rayon::prelude::*;
use std::ops::Index;
use std::path::Path;

/// Number of groups that a thread queries at a time.
const RUN: usize = 256;

/// Positions that are queried in bulk.
///
/// Results come in the order of the positions. They are exact for every position with one king per side and no
/// pawn on the first or last rank; for others they are unspecified (but nothing panics).
/// [`parse`](str::parse) gives no others.
///
/// Each method queries all positions at once, on the threads of rayon's current pool. To measure it, take the time of
/// all threads, not that of the calling one. `install` of a pool with one thread (`rayon::ThreadPoolBuilder`) keeps
/// it to one.
///
/// ```
/// use lanefish::Boards;
/// use lanefish::chess::Position;
///
/// let fens = [
///     "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
///     "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
/// ];
/// let boards: Boards = fens.iter().map(|fen| fen.parse::<Position>()).collect::<Result<_, _>>()?;
/// assert_eq!(boards.legal_move_counts(), [20, 48]);
/// # Ok::<(), lanefish::chess::fen::PositionError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Boards {
    batch: Batch,
    tier: Option<Tier>,
}

impl Boards {
    /// Makes an empty collection.
    pub fn new() -> Self {
        Self::default()
    }
    /// Reads the positions of a file of any format, or of the files in a directory, on all threads. For files that are
    /// larger than memory, see [`PositionReader`](crate::jobs::PositionReader); for inputs with bad records,
    /// [`pipeline`](crate::pipeline).
    ///
    /// # Errors
    /// If a file cannot be read as a whole, or has a bad record: the first one.
    ///
    /// ```
    /// use lanefish::Boards;
    /// let boards = Boards::read("data/sample.epd")?;
    /// let moves: u64 = boards.legal_move_counts().into_iter().map(u64::from).sum();
    /// assert!(moves > boards.len() as u64);
    /// # Ok::<(), lanefish::Error>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let inputs = Inputs::resolve(&[path.as_ref().to_owned()], crate::formats::is_supported)?;
        let mut boards = Self::new();
        let options = RunOptions::new(boards.analyzer())
            .threads(rayon::current_num_threads())
            .read(ReadOptions::default().strict(true));
        let append = |part: Batch| {
            boards.batch.extend_from(&part, 0..part.len());
            Ok(())
        };
        run(&inputs, options, &Collect, append).map(drop)?;
        Ok(boards)
    }
    /// Chooses the tier that is used, instead of the best one of this CPU.
    ///
    /// # Panics
    /// When the CPU cannot run it; see [`Tier::is_available`].
    #[must_use]
    pub fn with_tier(mut self, tier: Tier) -> Self {
        assert!(tier.is_available(), "this CPU cannot run the tier {tier}");
        self.tier = Some(tier);
        self
    }
    /// Adds a position.
    ///
    /// # Errors
    /// When it has no packed form, see [`Packed::pack`]. Every valid position has one.
    pub fn push(&mut self, position: &Position) -> Result<(), PackError> {
        let board = Packed::pack(position)?;
        self.batch.push(board, position.halfmove, position.fullmove);
        Ok(())
    }
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.batch.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }
    /// The position at an index, `None` beyond the last.
    pub fn get(&self, index: usize) -> Option<Position> {
        // Every packed position can be unpacked.
        (index < self.len()).then(|| self.batch.position(index).ok())?
    }
    /// All positions, in order.
    pub fn iter(&self) -> impl Iterator<Item = Position> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
    /// Keeps only the positions for which this returns true, in their order.
    ///
    /// ```
    /// use lanefish::Boards;
    /// let mut boards = Boards::read("data/sample.epd")?;
    /// boards.retain(|position| !position.checkers().is_empty());
    /// assert!(boards.checkers().iter().all(|checkers| !checkers.is_empty()));
    /// # Ok::<(), lanefish::Error>(())
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&Position) -> bool) {
        let kept: Vec<usize> =
            (0..self.len()).filter(|&index| self.get(index).is_some_and(|position| keep(&position))).collect();
        if kept.len() < self.len() {
            let mut batch = Batch::new();
            batch.extend_from(&self.batch, kept.iter().copied());
            self.batch = batch;
        }
    }
    /// The packed boards, eight to a group; lanes past [`Boards::len`] are empty boards.
    pub fn groups(&self) -> &[Group] {
        self.batch.groups()
    }

    /// Number of legal moves; each promotion piece counts, castling counts once per rook.
    pub fn legal_move_counts(&self) -> Vec<u16> {
        self.ask(Queries::MOVES, |results, lane| results.legal(lane).moves)
    }
    /// The legal moves themselves, in the order of [`Position::legal_moves`].
    ///
    /// ```
    /// use lanefish::{Boards, chess::Position};
    /// let boards: Boards = [Position::standard(), Position::empty()].into_iter().collect();
    /// let moves = boards.legal_moves();
    /// assert_eq!((moves[0].len(), moves[1].len()), (20, 0));
    /// ```
    pub fn legal_moves(&self) -> LegalMoves {
        let listed = |first: usize| {
            let mut part = LegalMoves::default();
            for index in first..(first + RUN * Group::LEN).min(self.len()) {
                part.push(&self.get(index).map(|position| position.legal_moves()).unwrap_or_default());
            }
            part
        };
        let runs = self.len().div_ceil(RUN * Group::LEN);
        let parts: Vec<LegalMoves> = (0..runs).into_par_iter().map(|run| listed(run * RUN * Group::LEN)).collect();
        let mut all = LegalMoves::default();
        all.moves.reserve_exact(parts.iter().map(|part| part.moves.len()).sum());
        all.ends.reserve_exact(self.len());
        for part in parts {
            let before = all.moves.len();
            all.ends.extend(part.ends.iter().map(|end| before + end));
            all.moves.extend(part.moves);
        }
        all
    }
    /// Numbers of legal moves, captures, promotions, castling moves and en passant captures.
    pub fn legal_counts(&self) -> Vec<LegalCounts> {
        self.ask(Queries::KINDS, GroupResults::legal)
    }
    /// The checking pieces: those that attack the king of the side to move.
    pub fn checkers(&self) -> Vec<Bitboard> {
        self.ask(Queries::CHECKERS, |results, lane| Bitboard(results.checkers[lane]))
    }
    /// Pieces of the side to move that are absolutely pinned to their king.
    pub fn pinned(&self) -> Vec<Bitboard> {
        self.ask(Queries::PINNED, |results, lane| Bitboard(results.pinned[lane]))
    }
    /// Squares that a side attacks: sliders stop at the first piece, squares of own pieces count, pins are
    /// ignored.
    pub fn attacks(&self, color: Color) -> Vec<Bitboard> {
        self.ask(Queries::ATTACKS, |results, lane| {
            Bitboard(match color {
                Color::White => results.attacks_white[lane],
                Color::Black => results.attacks_black[lane],
            })
        })
    }
    /// All of these results and more at once, in the form that the lanes produce: one result per group of eight
    /// positions.
    pub fn analyze(&self, queries: Queries) -> Vec<GroupResults> {
        let analyzer = self.analyzer();
        let mut results = vec![GroupResults::default(); self.groups().len()];
        let runs = self.groups().par_chunks(RUN);
        runs.zip(results.par_chunks_mut(RUN)).for_each(|(groups, results)| analyzer.analyze(groups, queries, results));
        results
    }

    fn analyzer(&self) -> &'static dyn Analyzer {
        let chosen = self.tier.unwrap_or_else(Tier::best).analyzer();
        chosen.expect("available when it was chosen")
    }

    /// A value for each position.
    fn ask<T: Copy + Default + Send>(
        &self,
        queries: Queries,
        value: impl Fn(&GroupResults, usize) -> T + Sync,
    ) -> Vec<T> {
        let analyzer = self.analyzer();
        let mut values = vec![T::default(); self.len()];
        let runs = values.par_chunks_mut(RUN * Group::LEN);
        runs.zip(self.groups().par_chunks(RUN)).for_each(|(values, groups)| {
            let mut results = vec![GroupResults::default(); groups.len()];
            analyzer.analyze(groups, queries, &mut results);
            for (values, results) in values.chunks_mut(Group::LEN).zip(&results) {
                for (lane, to) in values.iter_mut().enumerate() {
                    *to = value(results, lane);
                }
            }
        });
        values
    }
}

/// The legal moves of many positions, one list after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LegalMoves {
    moves: Vec<Move>,
    /// The end of each list.
    ends: Vec<usize>,
}

impl LegalMoves {
    fn push(&mut self, moves: &[Move]) {
        self.moves.extend_from_slice(moves);
        self.ends.push(self.moves.len());
    }
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// The moves of the position at an index, `None` beyond the last.
    pub fn get(&self, index: usize) -> Option<&[Move]> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.moves.get(start..end)
    }
    /// The moves of each position, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Move]> {
        (0..self.len()).map(|index| &self[index])
    }
}

impl Index<usize> for LegalMoves {
    type Output = [Move];
    /// # Panics
    /// Beyond the last position.
    fn index(&self, index: usize) -> &[Move] {
        self.get(index).expect("no position has this index")
    }
}

impl Extend<Position> for Boards {
    /// # Panics
    /// When a position has no packed form; every valid one has. See [`Boards::push`].
    fn extend<I: IntoIterator<Item = Position>>(&mut self, positions: I) {
        for position in positions {
            self.push(&position).expect("valid positions have a packed form");
        }
    }
}

impl FromIterator<Position> for Boards {
    /// # Panics
    /// When a position has no packed form; every valid one has. See [`Boards::push`].
    fn from_iter<I: IntoIterator<Item = Position>>(positions: I) -> Self {
        let mut boards = Self::new();
        boards.extend(positions);
        boards
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::{RandomPlay, Start};

    #[test]
    fn all_answers_are_those_of_the_rules() {
        for len in [0, 1, 7, 8, 9, 5000] {
            let played = RandomPlay::new(7, Start::Chess960).map(|played| played.position);
            let positions: Vec<Position> = played.take(len).collect();
            for tier in Tier::available() {
                let boards = positions.iter().cloned().collect::<Boards>().with_tier(tier);
                assert_eq!(boards.len(), len);
                assert!(boards.iter().eq(positions.iter().cloned()));
                assert!(boards.get(len).is_none());
                fn expected<T>(all: &[Position], of: impl Fn(&Position) -> T) -> Vec<T> {
                    all.iter().map(of).collect()
                }
                let counts = expected(&positions, Position::legal_counts);
                assert_eq!(boards.legal_counts(), counts);
                let moves: Vec<u16> = counts.iter().map(|counts| counts.moves).collect();
                assert_eq!(boards.legal_move_counts(), moves);
                let listed = boards.legal_moves();
                assert_eq!(listed.len(), len);
                assert!(listed.iter().zip(&positions).all(|(moves, position)| *moves == *position.legal_moves()));
                assert!(listed.get(len).is_none());
                let mut kept = boards.clone();
                kept.retain(|position| position.fullmove % 3 == 0);
                assert!(kept.iter().eq(positions.iter().filter(|position| position.fullmove % 3 == 0).cloned()));
                assert_eq!(boards.checkers(), expected(&positions, Position::checkers));
                assert_eq!(boards.pinned(), expected(&positions, Position::pinned));
                for color in Color::ALL {
                    let attacks = expected(&positions, |one| one.attacked_by(color));
                    assert_eq!(boards.attacks(color), attacks);
                }
            }
        }
    }
}
