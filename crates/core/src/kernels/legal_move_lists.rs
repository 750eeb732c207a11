//! Legal moves as lists: for each board the moves in 16 bits, in the order of from, to and promotion.
//!
//! The other kernels find the targets of all pieces of a kind together. A list needs the piece of each move, so this
//! one takes the pieces of the side to move one after the other, in the order of their squares: the first one of each
//! board, then the second one, and so on. What the king and the enemy see is known by then ([`Danger`]), so that the
//! targets of one piece are a few operations: what it sees along its lines, within the squares on which a move must end,
//! and for a pinned piece along the line of its pin. A piece that cannot have a move is left out beforehand where that is cheap
//! to see.
//!
//! Afterwards the targets of each piece become moves, on most CPUs bit by bit; where there is an instruction that
//! compresses bytes ([`Simd::write_moves`]), all targets of a piece at once. Castling, en passant and promotions are rare: their
//! squares are marked in the finished list.

use super::boards_in_lanes::Board;
use super::moves::{Movers, castling_rooks, en_passant_takers};
use super::rays::Rays;
use super::threats::{Danger, pawn_attacks_down, pawn_attacks_up};
use super::{RANK_3, RANK_8};
use crate::packed::Group;
use crate::simd::{Lanes, Simd, inlined};
use std::ops::Range;

/// Lists of legal moves, one for each board, in the 16 bits of [`Move::to_bits`](crate::chess::Move::to_bits).
///
/// ```
/// use lanefish_core::chess::{Move, Position};
/// use lanefish_core::kernels::MoveLists;
/// use lanefish_core::packed::{Group, Packed};
///
/// let position = Position::standard();
/// let mut group = Group::default();
/// group.set(0, Packed::pack(&position)?);
/// let mut lists = MoveLists::default();
/// lanefish_core::tiers::best().list_moves(&[group], &[0b1], &mut lists);
/// assert_eq!(lists.len(), 8, "eight boards are a group");
/// let first = Move::from_bits(lists.get(0)[0]).unwrap();
/// assert_eq!((lists.get(0).len(), first.uci(&position).as_str()), (20, "b1a3"));
/// assert!(lists.get(1).is_empty(), "it was not asked for");
/// # Ok::<(), lanefish_core::packed::PackError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveLists {
    moves: Vec<u16>,
    /// The end of each list.
    ends: Vec<u32>,
}

impl MoveLists {
    /// Takes all lists away, and keeps their memory.
    pub fn clear(&mut self) {
        self.moves.clear();
        self.ends.clear();
    }
    /// Number of lists.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// The list of a board.
    ///
    /// # Panics
    /// When there are not as many lists.
    #[inline]
    pub fn get(&self, board: usize) -> &[u16] {
        &self.moves[self.range(board)]
    }
    /// The moves of all boards, one list after the other.
    pub fn moves(&self) -> &[u16] {
        &self.moves
    }
    /// The place of a board's moves among those of [all boards](Self::moves).
    ///
    /// # Panics
    /// When there are not as many lists.
    #[inline]
    pub fn range(&self, board: usize) -> Range<usize> {
        let start = board.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[board] as usize
    }
    /// Where the list of each board ends.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }
}

/// The targets of the pieces of eight boards, and what is rare.
#[repr(align(64))]
struct Targets {
    /// The targets of each piece by lane and square; the places behind 64 are for lanes without a piece.
    of_pieces: [[u64; 2 * SQUARES]; Group::LEN],
    /// The pieces that may have moves.
    pieces: [u64; Group::LEN],
    kings: [u64; Group::LEN],
    /// The rooks with which the king may castle: targets of the king.
    castling_rooks: [u64; Group::LEN],
    /// The pawns that may capture en passant, and the square to which they do.
    en_passant_takers: [u64; Group::LEN],
    en_passant: [u64; Group::LEN],
    /// The pawns before the last rank.
    promoting: [u64; Group::LEN],
}

const SQUARES: usize = 64;

impl Targets {
    const NONE: Self = Self {
        of_pieces: [[0; 2 * SQUARES]; Group::LEN],
        pieces: [0; Group::LEN],
        kings: [0; Group::LEN],
        castling_rooks: [0; Group::LEN],
        en_passant_takers: [0; Group::LEN],
        en_passant: [0; Group::LEN],
        promoting: [0; Group::LEN],
    };

    /// Finds the targets in the lanes `at..` of a group.
    #[inline(always)]
    fn find<S: Simd>(&mut self, simd: S, group: &Group, at: usize) {
        let board = Board::load(simd, group, at);
        let rays = Rays::new(board.occupied);
        let danger = Danger::new(&board, &rays);
        let (us, none) = (&board.us, simd.splat(0));
        let flip = inlined(
            #[inline(always)]
            |set: S::Lanes| set.swap_bytes_where(board.flipped),
        );
        let rooks = castling_rooks(simd, &board, danger.attacked);
        let takers = en_passant_takers(&board, &danger, &Movers::unless_pinned(us, &danger));
        let targets = danger.targets;

        // A slider that has a move has one to a square beside it, unless it is in the way of a check.
        let sliders = (us.diagonal | us.orthogonal) & (!us.all).neighbours();
        let knights = us.knights & targets.jumps() & !danger.seen;
        let pawns = us.pawns & (board.empty.shr::<8>() | pawn_attacks_down(board.them.all)) | takers;
        simd.store(flip(sliders | knights | pawns | us.king), &mut self.pieces, at);
        simd.store(flip(us.king), &mut self.kings, at);
        simd.store(flip(rooks), &mut self.castling_rooks, at);
        simd.store(flip(takers), &mut self.en_passant_takers, at);
        simd.store(flip(board.en_passant), &mut self.en_passant, at);
        simd.store(flip(us.pawns & simd.splat(RANK_8 >> 8)), &mut self.promoting, at);

        // The targets of a piece that is pinned, of those that it sees.
        let while_pinned = inlined(
            #[inline(always)]
            |piece: S::Lanes, found: S::Lanes| {
                if !(piece & danger.seen).any() {
                    return found;
                }
                let lines = rays.sight_of(piece, piece.lines_through_bit());
                let along = danger.seen_by_both.zip(
                    lines,
                    #[inline(always)]
                    |seen, line| piece.if_disjoint(seen, none, line),
                );
                piece.if_disjoint(danger.seen, found, found & along.union())
            },
        );
        self.each(
            simd,
            sliders,
            at,
            flip,
            #[inline(always)]
            |piece| {
                let sight = rays.sight_of(piece, piece.lines_through_bit());
                let diagonal = piece.if_disjoint(us.diagonal, none, sight.diagonal | sight.antidiagonal);
                let orthogonal = piece.if_disjoint(us.orthogonal, none, sight.rank | sight.file);
                while_pinned(piece, (diagonal | orthogonal) & targets)
            },
        );
        self.each(
            simd,
            knights,
            at,
            flip,
            #[inline(always)]
            |piece| piece.jumps_of_bit() & targets,
        );
        self.each(
            simd,
            pawns,
            at,
            flip,
            #[inline(always)]
            |piece| {
                let push = piece.shl::<8>() & board.empty;
                let pushes = push | ((push & simd.splat(RANK_3)).shl::<8>() & board.empty);
                let found = (pushes | (pawn_attacks_up(piece) & board.them.all)) & targets;
                while_pinned(piece, found) | piece.if_disjoint(takers, none, board.en_passant)
            },
        );
        self.each(
            simd,
            us.king,
            at,
            flip,
            #[inline(always)]
            |_| danger.king_moves(&board) | rooks,
        );
    }

    /// Stores the targets of all pieces of a set: of the first one of each lane, the second one and so on.
    #[inline(always)]
    fn each<S: Simd>(
        &mut self,
        simd: S,
        pieces: S::Lanes,
        at: usize,
        flip: impl Fn(S::Lanes) -> S::Lanes,
        targets: impl Fn(S::Lanes) -> S::Lanes,
    ) {
        let none = simd.splat(0);
        let mut rest = pieces;
        while rest.any() {
            let piece = rest & none.sub(rest);
            rest = rest ^ piece;
            let (mut origins, mut found) = ([0; Group::LEN], [0; Group::LEN]);
            simd.store(flip(piece), &mut origins, at);
            simd.store(flip(targets(piece)), &mut found, at);
            let mut lane = at;
            while lane < at + S::WIDTH {
                self.of_pieces[lane][origins[lane].trailing_zeros() as usize & (2 * SQUARES - 1)] = found[lane];
                lane += 1;
            }
        }
    }
}

/// Appends the lists of the moves of all boards whose bit in `mask` is set, and empty lists for the others.
#[inline(always)]
pub fn legal_move_lists<S: Simd>(simd: S, groups: &[Group], mask: &[u64], lists: &mut MoveLists) {
    /// More than the moves of a board, before promotions are written out, and the room of [`Simd::write_moves`].
    const ROOM: usize = SQUARES * SQUARES + SQUARES;
    let MoveLists { moves, ends } = lists;
    let mut end = moves.len();
    let mut found = Targets::NONE;
    for (at, group) in groups.iter().enumerate() {
        let wanted = mask[at / 8] >> (at % 8 * Group::LEN) & 0xFF;
        if wanted != 0 {
            for at in (0..Group::LEN).step_by(S::WIDTH) {
                found.find(simd, group, at);
            }
        }
        if moves.len() < end + Group::LEN * ROOM {
            moves.resize((2 * moves.len()).max(end + Group::LEN * ROOM), 0);
        }
        for lane in 0..Group::LEN {
            if wanted >> lane & 1 != 0 {
                let start = end;
                let mut rest = found.pieces[lane];
                while rest != 0 {
                    let from = rest.trailing_zeros() as usize & 63;
                    rest &= rest - 1;
                    if let Some(room) = moves[end..].first_chunk_mut() {
                        end += simd.write_moves(from as u16, found.of_pieces[lane][from], room);
                    }
                }
                let rooks = found.castling_rooks[lane];
                if rooks != 0 {
                    let king = found.kings[lane].trailing_zeros() as u16;
                    let castling = [rooks.trailing_zeros(), rooks.ilog2()].map(|rook| king | (rook as u16) << 6);
                    for mv in &mut moves[start..end] {
                        let is_castling = u16::from(castling[0] == *mv) | u16::from(castling[1] == *mv);
                        *mv |= is_castling * CASTLING;
                    }
                }
                if found.en_passant_takers[lane] | found.promoting[lane] != 0 {
                    end = mark_rare(moves, start..end, &found, lane);
                }
            }
            ends.push(u32::try_from(end).expect("less than 2^32 moves"));
        }
    }
    moves.truncate(end);
}

/// The kinds of moves in their 16 bits.
const PROMOTION: u16 = 1 << 14;
const EN_PASSANT: u16 = 2 << 14;
const CASTLING: u16 = 3 << 14;

/// Marks captures en passant among the moves of a board, writes each promotion four times, and returns where the list
/// ends now.
#[inline(never)]
fn mark_rare(moves: &mut Vec<u16>, list: Range<usize>, found: &Targets, lane: usize) -> usize {
    let has = |set: u64, square: u16| set >> (square & 63) & 1 != 0;
    let is_promotion = |mv: u16| has(found.promoting[lane], mv);
    let promotions = moves[list.clone()].iter().filter(|&&mv| is_promotion(mv)).count();
    let end = list.end + 3 * promotions;
    if moves.len() < end {
        moves.resize(end, 0);
    }
    let mut to = end;
    for at in list.rev() {
        let mv = moves[at];
        let (from, target) = (mv, mv >> 6);
        if is_promotion(mv) {
            for piece in (0..4).rev() {
                to -= 1;
                moves[to] = mv | PROMOTION | piece << 12;
            }
            continue;
        }
        to -= 1;
        moves[to] = if has(found.en_passant_takers[lane], from) && has(found.en_passant[lane], target) {
            mv | EN_PASSANT
        } else {
            mv
        };
    }
    end
}
