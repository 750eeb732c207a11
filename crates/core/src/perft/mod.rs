//! Perft: counting the move tree on the lanes.
//!
//! The last ply is never made: the boards one ply above it are gathered in groups, a few hundred at a time, and an
//! [`Analyzer`] counts their legal moves. So only one board is written for about forty nodes, directly into its lane
//! (see `children`).
//!
//! Of these boards, many have the same number of moves: a quiet move far from everything leaves the opponent as many
//! replies as a pass would. A kernel ([`replies`](crate::kernels::replies())) finds, for groups of boards with two
//! plies to go, which moves these are. They are counted together, and a single board, that after a pass, is written for
//! all of them. [`Count`] therefore has two numbers: the nodes of perft, and the boards whose moves were really
//! counted.
//!
//! [`crate::chess::perft`] is the plain implementation, and the fallback for invalid boards.

mod children;

use crate::chess::{self, Move, Position, Validity};
use crate::kernels::Replies;
use crate::packed::{Group, Packed};
use crate::queries::{GroupResults, Queries};
use crate::sliders::{Sliders, hyperbola::HyperbolaRankTable, pext::Pext};
use crate::tiers::{Analyzer, Tier};
use children::{Boards, Leaves, push_children, push_leaves};
use rayon::prelude::*;
use std::iter::Sum;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The threads could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot start {threads} thread{s}: {reason}", s = if *threads == 1 { "" } else { "s" })]
pub struct ThreadsError {
    /// The requested number of threads.
    pub threads: usize,
    /// The system's reason.
    pub reason: String,
}

/// Boards counted at once: boards and counts fit in the L1 cache.
const BATCH: usize = 256;

/// From this depth on, the work is divided below each second move instead of each first one.
const SHARED_DEPTH: u32 = 5;

/// The size of a tree of moves, and the work that it took to count it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Count {
    /// The number of sequences of legal moves. It wraps above 2^64.
    pub nodes: u64,
    /// The number of boards whose legal moves were counted for that. It depends on the position and the depth alone.
    pub boards: u64,
}

impl Count {
    fn plus(self, other: Self) -> Self {
        Self { nodes: self.nodes.wrapping_add(other.nodes), boards: self.boards.wrapping_add(other.boards) }
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Self::plus)
    }
}

/// How many of the moves of the position have been counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The moves below which everything is counted.
    pub done: usize,
    /// All legal moves.
    pub moves: usize,
}

/// The number of sequences of `depth` legal moves, counted on N threads.
///
/// The result depends neither on the analyzer nor on the number of threads. It wraps above 2^64.
///
/// # Errors
/// [`ThreadsError`] if they cannot be started.
///
/// ```
/// use lanefish_core::chess::Position;
/// use lanefish_core::perft::perft;
/// use lanefish_core::tiers::Tier;
/// let analyzer = Tier::PORTABLE.analyzer().unwrap();
/// assert_eq!(perft(&Position::standard(), 3, analyzer, 1)?, 8902);
/// # Ok::<(), lanefish_core::perft::ThreadsError>(())
/// ```
pub fn perft(position: &Position, depth: u32, analyzer: &dyn Analyzer, threads: usize) -> Result<u64, ThreadsError> {
    Ok(count(position, depth, analyzer, threads)?.nodes)
}

/// [`perft`], with the number of boards whose moves were counted.
///
/// # Errors
/// As for [`perft`].
///
/// ```
/// use lanefish_core::chess::Position;
/// use lanefish_core::perft::count;
/// use lanefish_core::tiers;
/// let count = count(&Position::standard(), 5, tiers::best(), 1)?;
/// assert_eq!(count.nodes, 4_865_609);
/// // Without the moves that leave the replies as they are, these would be the 197,281 nodes of depth 4.
/// assert!(count.boards < 100_000);
/// # Ok::<(), lanefish_core::perft::ThreadsError>(())
/// ```
pub fn count(position: &Position, depth: u32, analyzer: &dyn Analyzer, threads: usize) -> Result<Count, ThreadsError> {
    match depth {
        0 => Ok(Count { nodes: 1, boards: 0 }),
        1 => Ok(Count { nodes: position.count_legal_moves().into(), boards: 1 }),
        _ => {
            let moves = count_by_move(position, depth, analyzer, threads, |_| ())?;
            Ok(moves.into_iter().map(|(_, count)| count).sum())
        }
    }
}

/// [`perft`] split by the first move, in the order of [`Position::legal_moves`]; empty at depth 0.
///
/// # Errors
/// As for [`perft`].
///
/// ```
/// use lanefish_core::chess::Position;
/// use lanefish_core::perft::divide;
/// use lanefish_core::tiers::Tier;
/// let analyzer = Tier::PORTABLE.analyzer().unwrap();
/// let moves = divide(&Position::standard(), 4, analyzer, 1)?;
/// assert_eq!(moves.len(), 20);
/// assert_eq!(moves.iter().map(|(_, nodes)| nodes).sum::<u64>(), 197_281);
/// # Ok::<(), lanefish_core::perft::ThreadsError>(())
/// ```
pub fn divide(
    position: &Position,
    depth: u32,
    analyzer: &dyn Analyzer,
    threads: usize,
) -> Result<Vec<(Move, u64)>, ThreadsError> {
    let moves = count_by_move(position, depth, analyzer, threads, |_| ())?;
    Ok(moves.into_iter().map(|(mv, count)| (mv, count.nodes)).collect())
}

/// [`count`] split by the first move, in the order of [`Position::legal_moves`]; empty at depth 0. At depth 1 the moves
/// are listed, so the boards are 0.
///
/// `progress` is called, from any thread, whenever everything below a move has been counted.
///
/// # Errors
/// As for [`perft`].
///
/// ```
/// use lanefish_core::chess::Position;
/// use lanefish_core::perft::{Count, count_by_move};
/// use lanefish_core::tiers;
/// let progress = |progress: lanefish_core::perft::Progress| eprintln!("{} of {}", progress.done, progress.moves);
/// let moves = count_by_move(&Position::standard(), 5, tiers::best(), 2, progress)?;
/// let all: Count = moves.iter().map(|(_, count)| *count).sum();
/// assert_eq!(all.nodes, 4_865_609);
/// # Ok::<(), lanefish_core::perft::ThreadsError>(())
/// ```
pub fn count_by_move(
    position: &Position,
    depth: u32,
    analyzer: &dyn Analyzer,
    threads: usize,
    progress: impl Fn(Progress) + Sync,
) -> Result<Vec<(Move, Count)>, ThreadsError> {
    count_all(position, depth, analyzer, threads, &progress)
}

/// The same, but compiled once.
fn count_all(
    position: &Position,
    depth: u32,
    analyzer: &dyn Analyzer,
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<(Move, Count)>, ThreadsError> {
    if !position.is_valid(Validity::Playable) {
        return Ok(plainly(position, depth, progress));
    }
    // The portable tier must not use special instructions.
    let pext = Pext::detect().filter(|_| analyzer.tier() != Tier::PORTABLE && !crate::cpu::pext_is_microcoded());
    match pext {
        Some(pext) => Work::new(position, depth, pext).count(pext, analyzer, threads, progress),
        None => {
            let sliders = HyperbolaRankTable;
            Work::new(position, depth, sliders).count(sliders, analyzer, threads, progress)
        }
    }
}

/// [`count_by_move`] of any position, without lanes.
fn plainly(position: &Position, depth: u32, progress: &dyn Fn(Progress)) -> Vec<(Move, Count)> {
    let Some(below) = depth.checked_sub(1) else {
        return Vec::new();
    };
    let moves = position.legal_moves();
    let count = |(done, &mv): (usize, &Move)| {
        let mut after = position.clone();
        after.make(mv);
        let nodes = chess::perft::perft(&mut after, below);
        let boards = below.checked_sub(1).map_or(0, |above| chess::perft::perft(&mut after, above));
        progress(Progress { done: done + 1, moves: moves.len() });
        (mv, Count { nodes, boards })
    };
    moves.iter().enumerate().map(count).collect()
}

/// The work below the moves of a position, divided into tasks.
struct Work {
    moves: Vec<Move>,
    tasks: Vec<Task>,
}

/// A board below a move, and the plies to go from there.
#[derive(Clone, Copy)]
struct Task {
    mv: usize,
    board: Packed,
    depth: u32,
}

impl Work {
    /// The work for a playable position.
    fn new<A: Sliders>(position: &Position, depth: u32, sliders: A) -> Self {
        let Some(below) = depth.checked_sub(1) else {
            return Self { moves: Vec::new(), tasks: Vec::new() };
        };
        let moves = position.legal_moves().iter().copied().collect::<Vec<_>>();
        let mut tasks = Vec::new();
        let mut children = Boards::with_room(0);
        for (index, &mv) in moves.iter().enumerate() {
            let mut after = position.clone();
            after.make(mv);
            let board = Packed::pack(&after).expect("moves keep a position playable, and such positions can be packed");
            if depth < SHARED_DEPTH {
                tasks.push(Task { mv: index, board, depth: below });
                continue;
            }
            // One ply deeper there are enough boards to keep all threads busy to the end.
            expand(sliders, board, &mut children);
            tasks.extend((0..children.len()).map(|child| Task {
                mv: index,
                board: children.get(child),
                depth: below - 1,
            }));
            children.clear();
        }
        Self { moves, tasks }
    }

    /// Does the tasks, and adds up what was counted below each move.
    fn count<A: Sliders>(
        self,
        sliders: A,
        analyzer: &dyn Analyzer,
        threads: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<(Move, Count)>, ThreadsError> {
        let Self { moves, tasks } = self;
        let open = OpenMoves::new(moves.len(), &tasks);
        let count = |tree: &mut Tree<'_, A>, task: &Task| {
            let count = tree.count(task.board, task.depth);
            open.close_task(task.mv, progress);
            count
        };
        let new_tree = || Tree::new(sliders, analyzer);
        let is_shared = tasks.iter().any(|task| task.depth + 2 >= SHARED_DEPTH);
        let counts: Vec<Count> = if threads > 1 && is_shared {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| ThreadsError { threads, reason: error.to_string() })?;
            pool.install(|| tasks.par_iter().map_init(new_tree, count).collect())
        } else {
            let mut tree = new_tree();
            tasks.iter().map(|task| count(&mut tree, task)).collect()
        };
        let mut by_move: Vec<_> = moves.into_iter().map(|mv| (mv, Count::default())).collect();
        for (task, count) in tasks.iter().zip(counts) {
            let sum = &mut by_move[task.mv].1;
            *sum = sum.plus(count);
        }
        Ok(by_move)
    }
}

/// The moves below which something is still to be counted.
struct OpenMoves {
    /// The open tasks of each move.
    tasks: Vec<AtomicUsize>,
    /// The moves that have none.
    done: AtomicUsize,
}

impl OpenMoves {
    fn new(moves: usize, tasks: &[Task]) -> Self {
        let mut numbers = vec![0; moves];
        for task in tasks {
            numbers[task.mv] += 1;
        }
        let done = numbers.iter().filter(|&&number| number == 0).count();
        Self { tasks: numbers.into_iter().map(AtomicUsize::new).collect(), done: done.into() }
    }

    fn close_task(&self, mv: usize, progress: &dyn Fn(Progress)) {
        if self.tasks[mv].fetch_sub(1, Ordering::Relaxed) == 1 {
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(Progress { done, moves: self.tasks.len() });
        }
    }
}

/// Adds the children of a board.
fn expand<A: Sliders>(sliders: A, board: Packed, children: &mut Boards) {
    sliders.enter(
        #[inline(always)]
        || push_children(sliders, board, children),
    );
}

/// Adds the leaves below a board, whose sensitive squares and threats are those of a lane.
fn expand_to_leaves<A: Sliders>(sliders: A, board: Packed, replies: &Replies, lane: usize, leaves: &mut Leaves) {
    sliders.enter(
        #[inline(always)]
        || push_leaves(sliders, board, replies, lane, leaves),
    );
}

/// A walk through the tree below a board, and all the memory that it needs.
#[derive(Debug)]
struct Tree<'a, A> {
    sliders: A,
    analyzer: &'a dyn Analyzer,
    /// Boards whose moves are to be counted.
    leaves: Leaves,
    results: Vec<GroupResults>,
    /// Boards with two plies to go.
    parents: Boards,
    replies: Vec<Replies>,
    /// The children of the current board, for each remaining depth above that.
    plies: Vec<Boards>,
    count: Count,
}

impl<'a, A: Sliders> Tree<'a, A> {
    fn new(sliders: A, analyzer: &'a dyn Analyzer) -> Self {
        Self {
            sliders,
            analyzer,
            leaves: Leaves::with_room(BATCH),
            results: Vec::new(),
            parents: Boards::with_room(0),
            replies: Vec::new(),
            plies: Vec::new(),
            count: Count::default(),
        }
    }

    /// The number of sequences of `depth` legal moves.
    fn count(&mut self, board: Packed, depth: u32) -> Count {
        match depth {
            0 => return Count { nodes: 1, boards: 0 },
            1 => self.leaves.boards.push(board),
            2 => {
                self.parents.push(board);
                self.gather_leaves();
            }
            _ => self.descend(board, depth as usize),
        }
        self.count_leaves();
        std::mem::take(&mut self.count)
    }

    /// Gathers the leaves below a board with three plies or more to go.
    fn descend(&mut self, board: Packed, depth: usize) {
        if depth == 3 {
            expand(self.sliders, board, &mut self.parents);
            return self.gather_leaves();
        }
        let ply = depth - 4;
        while self.plies.len() <= ply {
            self.plies.push(Boards::with_room(0));
        }
        expand(self.sliders, board, &mut self.plies[ply]);
        for index in 0..self.plies[ply].len() {
            self.descend(self.plies[ply].get(index), depth - 1);
        }
        self.plies[ply].clear();
    }

    /// Gathers the leaves below all parents.
    fn gather_leaves(&mut self) {
        let groups = self.parents.groups();
        if self.replies.len() < groups.len() {
            self.replies.resize(groups.len(), Replies::default());
        }
        self.analyzer.replies(groups, &mut self.replies);
        for index in 0..self.parents.len() {
            let (replies, lane) = (&self.replies[index / Group::LEN], index % Group::LEN);
            expand_to_leaves(self.sliders, self.parents.get(index), replies, lane, &mut self.leaves);
            if self.leaves.boards.len() >= BATCH {
                self.count_leaves();
            }
        }
        self.parents.clear();
    }

    fn count_leaves(&mut self) {
        let Leaves { boards, repeats } = &self.leaves;
        let groups = boards.groups();
        if self.results.len() < groups.len() {
            self.results.resize(groups.len(), GroupResults::default());
        }
        self.analyzer.analyze(groups, Queries::MOVES, &mut self.results);
        let mut nodes = 0;
        let mut left = boards.len();
        for result in &self.results[..groups.len()] {
            let counts = result.counts.iter().take(left);
            nodes += counts.map(|&count| u64::from(count as u16)).sum::<u64>();
            left = left.saturating_sub(result.counts.len());
        }
        for &(board, more) in repeats {
            let count = self.results[board / Group::LEN].counts[board % Group::LEN];
            nodes += u64::from(count as u16) * u64::from(more);
        }
        self.count = self.count.plus(Count { nodes, boards: boards.len() as u64 });
        self.leaves.clear();
    }
}
