//! How often each input of a network is active: two lists a position, one for each side's view.
//!
//! Most sets have an input for each kind of piece on each square, and each place of the own king. Their lists are not made:
//! boards are sorted by the square of the king whose view it is into buffers of [`WAITING`] groups, and the lanes count the
//! pieces on all squares of a full buffer at once, as they do for heat maps. Each count is that of an input. Lists of other sets
//! are made, and their indices counted one by one.
//!
//! For sets with threats, the pieces that attack each other, and those that hang, are counted, too.

use super::heat_maps::PieceMaps;
use crate::chess::attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks};
use crate::chess::{Bitboard, Color, Role, Square};
use crate::packed::{Group, Packed};
use crate::report::{FeatureCoverage, Hanging, ThreatCounts};
use crate::simd::bytes::AnyBlocks;
use crate::table::{ActiveFeatures, FeatureSet, PieceSquares, View, rows_of};
use crate::tiers::Analyzer;
use std::sync::Arc;

/// Number of groups of eight boards that are counted together.
const WAITING: usize = 16;
/// The place of boards on which the side has no king.
const NO_KING: usize = 64;

/// Counts of the inputs of a set.
#[derive(Clone, Debug)]
pub(super) struct FeatureCounts {
    set: Arc<FeatureSet>,
    positions: u64,
    /// The largest number of active inputs of a list.
    active_most: u64,
    /// The counts, without those of boards by king.
    inputs: Vec<u64>,
    /// The number of lists for each square of the own king, as its side sees it, and without a king.
    kings: [u64; NO_KING + 1],
    /// For White's view, then for Black's: boards by the square of the king.
    by_king: [Vec<Option<Box<BoardsOfKing>>>; 2],
    threats: Option<Box<ThreatCounts>>,
    /// The active inputs of a list.
    active: ActiveFeatures,
}

/// Boards with a king on one square.
#[derive(Clone, Debug)]
struct BoardsOfKing {
    boards: [Group; WAITING],
    waiting: usize,
    maps: PieceMaps,
}

impl BoardsOfKing {
    fn new() -> Box<Self> {
        Box::new(Self { boards: [Group::default(); WAITING], waiting: 0, maps: PieceMaps::default() })
    }
    /// Adds the board in a lane.
    #[inline(always)]
    fn push(&mut self, analyzer: &dyn Analyzer, group: &Group, lane: usize) {
        let board = &mut self.boards[self.waiting / Group::LEN];
        for (to, plane) in board.planes.iter_mut().zip(&group.planes) {
            to[self.waiting % Group::LEN] = plane[lane];
        }
        self.waiting += 1;
        if self.waiting == WAITING * Group::LEN {
            self.maps.add(analyzer, &self.boards);
            self.waiting = 0;
        }
    }
    /// The counts of pieces on squares, in the order `PNBRQKpnbrqk`.
    fn pieces(&self) -> [[u64; 64]; 12] {
        let mut pieces = self.maps.pieces();
        for waiting in 0..self.waiting {
            let board = self.boards[waiting / Group::LEN].get(waiting % Group::LEN);
            for (of_color, maps) in View::new(&board, Color::White).pieces().iter().zip(pieces.chunks_mut(6)) {
                for (&set, map) in of_color.iter().zip(maps) {
                    rows_of(&[set]).for_each(|square| map[square] += 1);
                }
            }
        }
        pieces
    }
}

impl FeatureCounts {
    pub(super) fn new(set: Arc<FeatureSet>) -> Self {
        Self {
            inputs: vec![0; set.inputs() as usize],
            threats: set.has_threats().then(Box::default),
            set,
            positions: 0,
            active_most: 0,
            kings: [0; NO_KING + 1],
            by_king: [const { Vec::new() }; 2],
            active: ActiveFeatures::default(),
        }
    }

    /// Adds the boards of groups that count: those whose bit of `lanes` is set.
    pub(super) fn add(&mut self, analyzer: &dyn Analyzer, groups: &[Group], lanes: impl Fn(usize) -> u8) {
        let set = Arc::clone(&self.set);
        for (at, group) in groups.iter().enumerate() {
            let lanes = lanes(at);
            self.positions += u64::from(lanes.count_ones());
            match set.piece_squares() {
                Some(part) => self.add_by_king(analyzer, part, group, lanes),
                None => rows_of(&[lanes.into()]).for_each(|lane| self.add_lists(&set, &group.get(lane))),
            }
        }
    }

    /// Sorts boards by their kings.
    fn add_by_king(&mut self, analyzer: &dyn Analyzer, part: &PieceSquares, group: &Group, lanes: u8) {
        let has_kings = part.has_inputs(Role::King);
        let [color, low, middle, high] = &group.planes;
        for lane in rows_of(&[lanes.into()]) {
            let kings = !low[lane] & middle[lane] & high[lane];
            let mut pieces = low[lane] | middle[lane] | high[lane];
            if !has_kings {
                pieces &= !kings;
            }
            let own = [kings & !color[lane], (kings & color[lane]).swap_bytes()];
            for (side, king) in own.into_iter().enumerate() {
                // Without a king, 64.
                let king = king.trailing_zeros() as usize;
                self.kings[king] += 1;
                if king == NO_KING && part.needs_king() {
                    continue;
                }
                self.active_most = self.active_most.max(pieces.count_ones().into());
                let places = &mut self.by_king[side];
                if places.is_empty() {
                    places.resize_with(NO_KING + 1, || None);
                }
                places[king].get_or_insert_with(BoardsOfKing::new).push(analyzer, group, lane);
            }
        }
    }

    /// Counts the lists of both sides.
    fn add_lists(&mut self, set: &FeatureSet, board: &Packed) {
        for side in Color::ALL {
            self.active.clear();
            set.put(AnyBlocks::detect(), board, side, &mut self.active);
            let active = self.active.indices();
            self.active_most = self.active_most.max(active.len() as u64);
            self.kings[View::new(board, side).king().unwrap_or(NO_KING)] += 1;
            for &index in active {
                self.inputs[index as usize] += 1;
            }
        }
        if let Some(threats) = &mut self.threats {
            add_threats(threats, &View::new(board, Color::White));
        }
    }

    /// Adds the counts of another instance, of the same set.
    pub(super) fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.active_most = self.active_most.max(other.active_most);
        crate::report::add(&mut self.inputs, &other.inputs);
        other.add_counts_by_king(&mut self.inputs);
        crate::report::add(&mut self.kings, &other.kings);
        if let (Some(ours), Some(theirs)) = (&mut self.threats, &other.threats) {
            ours.merge(theirs);
        }
    }

    /// Adds the counts of boards by king to those of inputs.
    fn add_counts_by_king(&self, inputs: &mut [u64]) {
        let Some(part) = self.set.piece_squares() else { return };
        for (side, places) in Color::ALL.into_iter().zip(&self.by_king) {
            for (king, boards) in places.iter().enumerate() {
                let Some(boards) = boards else { continue };
                let pieces = boards.pieces();
                let (white, black) = pieces.split_at(6);
                let [own, other] = if side == Color::White { [white, black] } else { [black, white] };
                let seen = |maps: &[[u64; 64]]| -> [[u64; 64]; 6] {
                    std::array::from_fn(|kind| {
                        std::array::from_fn(|square| {
                            maps[kind][if side == Color::White { square } else { square ^ 56 }]
                        })
                    })
                };
                part.add_counts(Some(king).filter(|&king| king < NO_KING), side, &[seen(own), seen(other)], inputs);
            }
        }
    }

    pub(super) fn report(&self) -> FeatureCoverage {
        let mut inputs = self.inputs.clone();
        self.add_counts_by_king(&mut inputs);
        let king_buckets = self.set.king_buckets().map(|buckets| {
            let mut counts = vec![0; buckets.count];
            for (&bucket, count) in buckets.of_square.iter().zip(self.kings) {
                counts[usize::from(bucket)] += count;
            }
            counts
        });
        FeatureCoverage {
            set: FeatureSet::clone(&self.set),
            lists: 2 * self.positions,
            counts: inputs,
            active_max: self.active_most,
            king_buckets,
            threats: self.threats.clone(),
        }
    }
}

/// What a piece is worth: a king is worth more than all others.
const WORTH: [u32; 6] = [1, 3, 3, 5, 9, 100];

/// Counts the pieces that attack each other, and those that hang, on a board as White sees it.
fn add_threats(threats: &mut ThreatCounts, view: &View) {
    let pieces = view.pieces();
    let occupied = Bitboard(view.occupied());
    // By color: all attacked squares, and those that are attacked by pieces of less worth than each kind.
    let (mut attacked, mut by_less) = ([0; 2], [[0; 6]; 2]);
    for (side, (color, kinds)) in Color::ALL.into_iter().zip(pieces).enumerate() {
        for (role, &set) in Role::ALL.into_iter().zip(kinds) {
            let mut of_kind = 0;
            for from in rows_of(&[set]) {
                let square = Square::new(from as u8);
                let found = match role {
                    Role::Pawn => pawn_attacks(color, square),
                    Role::Knight => knight_attacks(square),
                    Role::Bishop => bishop_attacks(square, occupied),
                    Role::Rook => rook_attacks(square, occupied),
                    Role::Queen => queen_attacks(square, occupied),
                    Role::King => king_attacks(square),
                }
                .0;
                of_kind |= found;
                let row = &mut threats.attacks[6 * side + role as usize];
                for (count, &targets) in row.iter_mut().zip(pieces.as_flattened()) {
                    *count += u64::from((found & targets).count_ones());
                }
            }
            attacked[side] |= of_kind;
            for (by_less, worth) in by_less[side].iter_mut().zip(WORTH) {
                if WORTH[role as usize] < worth {
                    *by_less |= of_kind;
                }
            }
        }
    }
    for (side, kinds) in pieces.iter().enumerate() {
        let Hanging { undefended, attacked_by_less } = &mut threats.hanging[side];
        for (kind, set) in kinds.iter().enumerate().take(Role::King as usize) {
            *undefended += u64::from((set & attacked[1 - side] & !attacked[side]).count_ones());
            *attacked_by_less += u64::from((set & by_less[1 - side][kind]).count_ones());
        }
    }
}
