//! The rules of the playable level (see [`crate::chess::validity`]) as one mask for all boards. It is computed for
//! every record of a file, and is almost always zero.

use super::boards_in_lanes::Board;
use super::rays::Rays;
use super::threats;
use super::{CORNERS, E1, RANK_1, RANK_8};
use crate::packed::Group;
use crate::queries::GroupResults;
use crate::simd::{Lanes, Simd, inlined};

/// Finds the boards that break a rule of the playable level or do not decode, in the lanes `at..` of a
/// group.
#[inline(always)]
pub fn invalid<S: Simd>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    let board = Board::load(simd, group, at);
    let rays = Rays::new(board.occupied);
    let king = board.them.king;
    let sight = rays.sight_of(king, king.lines_through_bit());
    let in_check = threats::attackers(&board.us, king, king.sides_of_bit::<1>().shr::<8>(), sight);
    simd.store(broken(&board, in_check), &mut out.invalid, at);
}

/// Nonzero in lanes whose board is invalid; `in_check` is nonzero where the side not to move is in check.
#[inline(always)]
pub(crate) fn broken<L: Lanes>(board: &Board<L>, in_check: L) -> L {
    let one = in_check.splat(1);
    let all = in_check.splat(!0);
    let several = inlined(
        #[inline(always)]
        |set: L| set & set.sub(one),
    );
    let (ours, theirs) = (board.us.king, board.them.king);
    let no_king = ours.if_zero(all, theirs.if_zero(all, several(ours) | several(theirs)));
    let pawns = (board.us.pawns | board.them.pawns) & one.splat(RANK_1 | RANK_8);
    let pieces = board.occupied.count_ones();
    let too_many = pieces.sub(one) & pieces.splat(!31);
    // On boards with Black to move the ranks are flipped, so our back rank is always the first.
    let broken_rights = inlined(
        #[inline(always)]
        |rooks: L, king: L, rank: u64| {
            let rank = king.splat(rank);
            let below = king.sub(one);
            let stray = rooks & !rank;
            let misplaced = rooks.if_zero(rooks, (king & rank).if_zero(all, stray));
            misplaced | several(rooks & below) | several(rooks & !below)
        },
    );
    let (our_rooks, their_rooks) = (board.castling & board.us.all, board.castling & board.them.all);
    // Nothing is wrong where the king and the castling rooks stand as in standard chess.
    let elsewhere = inlined(
        #[inline(always)]
        |rooks: L, king: L, e: u64, corners: u64| king.if_disjoint(king.splat(e), rooks, rooks & king.splat(!corners)),
    );
    let mut castling =
        elsewhere(our_rooks, ours, E1, CORNERS) | elsewhere(their_rooks, theirs, E1 << 56, CORNERS << 56);
    if castling.any() {
        castling = broken_rights(our_rooks, ours, RANK_1) | broken_rights(their_rooks, theirs, RANK_8);
    }
    no_king | pawns | too_many | castling | several(board.sentinels) | in_check
}
