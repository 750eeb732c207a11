//! Enemy threats: attacks by line, checkers, pins, squares where a check can be met, and squares closed to the king.
//!
//! For each line, let X be what the king sees along it *and* enemy sliders see along it, with every piece in
//! place. Own pieces in X are exactly the pieces pinned along that line: the king sees them from one side, so the
//! slider that sees them too must be on the other. Empty squares in X are exactly those between king and
//! a checking slider. Enemy pieces in X are guarded blockers and are ignored.

use super::boards_in_lanes::{Board, Side};
use super::rays::{ByLine, Rays};
use super::{FILE_A, FILE_H};
use crate::simd::Lanes;

/// The enemy's threats to the side to move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Danger<L> {
    /// All squares that the enemy attacks.
    pub attacked: L,
    /// The squares that enemy sliders see along each line.
    pub enemy_sees: ByLine<L>,
    /// Enemy pieces that attack our king.
    pub checkers: L,
    /// X of each line, see [the module](self).
    pub seen_by_both: ByLine<L>,
    /// The union of X over all lines.
    pub seen: L,
    /// The squares on which moves of all pieces except the king must end: any square without an own piece, only those
    /// that meet the check, or none.
    pub targets: L,
    /// Squares beside the king that become attacked when it steps there.
    pub behind_king: L,
    /// The squares that the king sees along each line.
    sight: ByLine<L>,
    /// Not zero in lanes with a double check.
    pub double_checks: L,
}

impl<L: Lanes> Danger<L> {
    #[inline(always)]
    pub(crate) fn new(board: &Board<L>, rays: &Rays<L>) -> Self {
        let mut danger = Self::except_double_checks(board, rays);
        if danger.double_checks.any() {
            danger.correct_double_checks(&board.them.sliders());
        }
        danger
    }

    /// The threats, but wrong in lanes with a double check.
    #[inline(always)]
    pub(crate) fn except_double_checks(board: &Board<L>, rays: &Rays<L>) -> Self {
        let them = &board.them;
        let king = board.us.king;
        let lines = king.lines_through_bit();
        let sight = rays.sight_of(king, lines);
        let sliders = them.sliders();
        let enemy = rays.lines(sliders);
        let attacked = enemy.union() | steps_down(them);
        let pawn_squares = king.sides_of_bit::<1>().shl::<8>();
        let checkers = attackers(them, king, pawn_squares, sight);

        let seen_by_both = sight.zip(
            enemy,
            #[inline(always)]
            |king, enemy| king & enemy,
        );
        let seen = seen_by_both.union();
        let on_check = (seen & board.empty) | checkers;
        let targets = checkers.if_zero(!board.us.all, on_check);

        // The king may not step along the line of a check, in either direction, except to capture the checker. Of the
        // line, only the squares beside the king matter, and those it always sees.
        let nothing = king.splat(0);
        let checked_lines = sight.zip(
            sliders,
            #[inline(always)]
            |seen, sliders| seen.if_disjoint(sliders, nothing, seen),
        );
        let behind_king = checked_lines.union() & !checkers;
        let double_checks = checkers & checkers.sub(king.splat(1));
        Self { attacked, enemy_sees: enemy, checkers, seen_by_both, seen, targets, behind_king, sight, double_checks }
    }

    /// The squares to which the king may step.
    #[inline(always)]
    pub(crate) fn king_moves(&self, board: &Board<L>) -> L {
        let us = &board.us;
        us.king.neighbours_of_bit() & !(us.all | self.attacked | self.behind_king)
    }

    /// Corrects lanes with a double check: only the king can move. Two checkers may also stand on one line, on both
    /// sides of the king (no game leads there). If one is not a slider, the king cannot capture it, because it would
    /// step into the other's ray; of two sliders it can capture neither.
    #[inline(always)]
    fn correct_double_checks(&mut self, sliders: &ByLine<L>) {
        let none = self.targets.splat(0);
        self.targets = self.double_checks.if_zero(self.targets, none);
        let not_to_take = self.sight.zip(
            *sliders,
            #[inline(always)]
            |seen, sliders| {
                let checks = seen & sliders;
                let others = checks.sub(checks.splat(1));
                checks.if_zero(none, seen) & !checks.if_disjoint(others, checks, none)
            },
        );
        self.behind_king = self.behind_king | not_to_take.union();
    }
}

/// The pieces of a side that attack the enemy king, given what the king sees along the lines and the squares from which
/// pawns attack it.
#[inline(always)]
pub(crate) fn attackers<L: Lanes>(side: &Side<L>, king: L, pawn_squares: L, sight: ByLine<L>) -> L {
    ((sight.rank | sight.file) & side.orthogonal)
        | ((sight.diagonal | sight.antidiagonal) & side.diagonal)
        | (king.jumps_of_bit() & side.knights)
        | (pawn_squares & side.pawns)
        | (king.neighbours_of_bit() & side.king)
}

/// The squares attacked by knights, king and pawns of a side that moves down the board. All pieces that reach the next
/// rank, or the one after it, are moved there together.
#[inline(always)]
pub(crate) fn steps_down<L: Lanes>(side: &Side<L>) -> L {
    let Side { pawns, knights, king, .. } = *side;
    let beside_king = king.sides_of_bit::<1>();
    let near = knights.sides::<2>() | (king | beside_king);
    let far = knights.sides::<1>();
    let below = near | pawns.sides::<1>();
    far.shl::<16>() | far.shr::<16>() | near.shl::<8>() | below.shr::<8>() | beside_king
}

/// The squares attacked by pawns that move up the board.
#[inline(always)]
pub(crate) fn pawn_attacks_up<L: Lanes>(pawns: L) -> L {
    (pawns.shl::<9>() & pawns.splat(!FILE_A)) | (pawns.shl::<7>() & pawns.splat(!FILE_H))
}

/// The squares attacked by pawns that move down the board.
#[inline(always)]
pub(crate) fn pawn_attacks_down<L: Lanes>(pawns: L) -> L {
    (pawns.shr::<7>() & pawns.splat(!FILE_A)) | (pawns.shr::<9>() & pawns.splat(!FILE_H))
}
