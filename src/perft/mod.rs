//! Perft: counting the move tree on the lanes.
//!
//! The last ply is never made: the boards one ply above it are gathered in groups, a few hundred at a time,
//! and an [`Analyzer`] counts their legal moves. So only one board is written for about forty nodes, directly
//! into its lane (see `children`). [`crate::chess::perft`] is the plain implementation, and the fallback for invalid
//! boards.

mod children;

use crate::chess::{Move, Position, Validity};
use crate::error::Error;
use crate::packed::Packed;
use crate::queries::{GroupResults, Queries};
use crate::sliders::{HyperbolaRankTable, Pext, Sliders};
use crate::tiers::{Analyzer, Tier};
use children::{Boards, push_children};
use rayon::prelude::*;

/// Boards counted at once: boards and counts fit in the L1 cache.
const BATCH: usize = 256;

/// From this depth on, the work is shared between threads.
const SHARED_DEPTH: u32 = 5;

/// The number of sequences of `depth` legal moves, counted on N threads.
///
/// The result depends neither on the analyzer nor on the number of threads. It wraps above 2^64.
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
///
/// ```
/// use lanefish::chess::Position;
/// use lanefish::perft::perft;
/// use lanefish::tiers::Tier;
/// let analyzer = Tier::PORTABLE.analyzer().unwrap();
/// assert_eq!(perft(&Position::standard(), 3, analyzer, 1)?, 8902);
/// # Ok::<(), lanefish::Error>(())
/// ```
pub fn perft(position: &Position, depth: u32, analyzer: &dyn Analyzer, threads: usize) -> Result<u64, Error> {
    Ok(match depth {
        0 => 1,
        1 => position.count_legal_moves().into(),
        _ => {
            let moves = divide(position, depth, analyzer, threads)?;
            let counts = moves.iter().map(|(_, nodes)| nodes);
            counts.fold(0, |sum, &nodes| sum.wrapping_add(nodes))
        }
    })
}

/// [`perft`] split by the first move, in the order of [`Position::legal_moves`]; empty at depth 0.
///
/// # Errors
/// As for [`perft`].
///
/// ```
/// use lanefish::chess::Position;
/// use lanefish::perft::divide;
/// use lanefish::tiers::Tier;
/// let analyzer = Tier::PORTABLE.analyzer().unwrap();
/// let moves = divide(&Position::standard(), 4, analyzer, 1)?;
/// assert_eq!(moves.len(), 20);
/// assert_eq!(moves.iter().map(|(_, nodes)| nodes).sum::<u64>(), 197_281);
/// # Ok::<(), lanefish::Error>(())
/// ```
pub fn divide(
    position: &Position,
    depth: u32,
    analyzer: &dyn Analyzer,
    threads: usize,
) -> Result<Vec<(Move, u64)>, Error> {
    if !position.is_valid(Validity::Playable) {
        return Ok(crate::chess::perft::divide(&mut position.clone(), depth));
    }
    // The portable tier must not use special instructions.
    let pext = Pext::detect().filter(|_| analyzer.tier() != Tier::PORTABLE && !crate::cpu::pext_is_microcoded());
    match pext {
        Some(pext) => divide_with(pext, position, depth, analyzer, threads),
        None => divide_with(HyperbolaRankTable, position, depth, analyzer, threads),
    }
}

fn divide_with<A: Sliders>(
    sliders: A,
    position: &Position,
    depth: u32,
    analyzer: &dyn Analyzer,
    threads: usize,
) -> Result<Vec<(Move, u64)>, Error> {
    let Some(below) = depth.checked_sub(1) else {
        return Ok(Vec::new());
    };
    let mut nodes = Vec::new();
    let mut boards = Vec::new();
    for &mv in &position.legal_moves() {
        let mut after = position.clone();
        after.make(mv);
        match Packed::pack(&after) {
            Ok(board) => {
                boards.push((nodes.len(), board));
                nodes.push((mv, 0));
            }
            // Unreachable: moves keep a position playable, and playable positions can be packed.
            Err(_) => nodes.push((mv, crate::chess::perft::perft(&mut after, below))),
        }
    }
    let pool = if threads > 1 && depth >= SHARED_DEPTH {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        Some(pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })?)
    } else {
        None
    };
    let Some(pool) = pool else {
        let mut tree = Tree::new(sliders, analyzer);
        for (index, board) in boards {
            nodes[index].1 = tree.count(board, below);
        }
        return Ok(nodes);
    };
    // One ply deeper there are enough boards to keep all threads busy to the end.
    let mut tasks = Vec::new();
    let mut children = Boards::with_room(0);
    for (index, board) in boards {
        expand(sliders, board, &mut children);
        tasks.extend((0..children.len()).map(|child| (index, children.get(child))));
        children.clear();
    }
    let counts: Vec<u64> = pool.install(|| {
        tasks
            .par_iter()
            .map_init(|| Tree::new(sliders, analyzer), |tree, &(_, board)| tree.count(board, below - 1))
            .collect()
    });
    for ((index, _), count) in tasks.into_iter().zip(counts) {
        let sum = &mut nodes[index].1;
        *sum = sum.wrapping_add(count);
    }
    Ok(nodes)
}

/// Adds the children of a board.
fn expand<A: Sliders>(sliders: A, board: Packed, children: &mut Boards) {
    sliders.enter(
        #[inline(always)]
        || push_children(sliders, board, children),
    );
}

/// A walk through the tree below a board, and all the memory that it needs.
#[derive(Debug)]
struct Tree<'a, A> {
    sliders: A,
    analyzer: &'a dyn Analyzer,
    /// Boards whose moves are to be counted.
    leaves: Boards,
    results: Vec<GroupResults>,
    /// The children of the current board, for each remaining depth.
    plies: Vec<Boards>,
    nodes: u64,
}

impl<'a, A: Sliders> Tree<'a, A> {
    fn new(sliders: A, analyzer: &'a dyn Analyzer) -> Self {
        Self { sliders, analyzer, leaves: Boards::with_room(BATCH), results: Vec::new(), plies: Vec::new(), nodes: 0 }
    }

    /// The number of sequences of `depth` legal moves.
    fn count(&mut self, board: Packed, depth: u32) -> u64 {
        match depth {
            0 => return 1,
            1 => self.leaves.push(board),
            _ => self.descend(board, depth as usize),
        }
        self.count_leaves();
        std::mem::take(&mut self.nodes)
    }

    /// Gathers the leaves below a board with two plies or more to go.
    fn descend(&mut self, board: Packed, depth: usize) {
        if depth == 2 {
            expand(self.sliders, board, &mut self.leaves);
            if self.leaves.len() >= BATCH {
                self.count_leaves();
            }
            return;
        }
        let ply = depth - 3;
        while self.plies.len() <= ply {
            self.plies.push(Boards::with_room(0));
        }
        expand(self.sliders, board, &mut self.plies[ply]);
        for index in 0..self.plies[ply].len() {
            self.descend(self.plies[ply].get(index), depth - 1);
        }
        self.plies[ply].clear();
    }

    fn count_leaves(&mut self) {
        let groups = self.leaves.groups();
        if self.results.len() < groups.len() {
            self.results.resize(groups.len(), GroupResults::default());
        }
        let queries = Queries::MOVES;
        self.analyzer.analyze(groups, queries, &mut self.results);
        let mut left = self.leaves.len();
        for result in &self.results[..groups.len()] {
            let counts = result.counts.iter().take(left);
            self.nodes = counts.fold(self.nodes, |sum, &count| sum.wrapping_add(u64::from(count as u16)));
            left = left.saturating_sub(result.counts.len());
        }
        self.leaves.clear();
    }
}
