//! Enemy threats: attacks by line, checkers, pins, squares where a check can be met, and squares closed to the king.
//!
//! For each line, let X be what the king sees along it *and* enemy sliders see along it, with every piece in
//! place. Own pieces in X are exactly the pieces pinned along that line: the king sees them from one side, so the
//! slider that sees them too must be on the other. Empty squares in X are exactly those between king and
//! a checking slider. Enemy pieces in X are guarded blockers and are ignored.

use super::board::{Board, Side};
use super::rays::{ByLine, Rays};
use super::{FILE_A, FILE_H};
use crate::simd::{Lanes, inlined};

/// The enemy's threats to the side to move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Danger<L> {
    /// All squares that the enemy attacks.
    pub attacked: L,
    /// Enemy pieces that attack our king.
    pub checkers: L,
    /// X of each line, see [the module](self).
    pub seen_by_both: ByLine<L>,
    /// All of X.
    pub seen: L,
    /// Where a move of any piece but the king must end: everywhere, on the check, or nowhere.
    pub check_mask: L,
    /// Squares beside the king that become attacked when it steps there.
    pub behind_king: L,
}

impl<L: Lanes> Danger<L> {
    #[inline(always)]
    pub(crate) fn new(board: &Board<L>, rays: &Rays<L>) -> Self {
        let them = &board.them;
        let king = board.us.king;
        let nothing = king.splat(0);
        let all = king.splat(!0);

        let lines = king.lines_through_bit();
        let sight = rays.sight_of(king, lines);
        let sliders = them.sliders();
        let enemy = rays.directions(sliders).by_line();
        let attacked = enemy.union()
            | them.knights.jumps()
            | pawn_attacks_down(them.pawns)
            | them.king.neighbours_of_bit();

        let slider_checks = sight.zip(
            sliders,
            #[inline(always)]
            |seen, sliders| seen & sliders,
        );
        let checkers = attackers(them, king, pawn_attacks_up(king), sight);

        let seen_by_both = sight.zip(
            enemy,
            #[inline(always)]
            |king, enemy| king & enemy,
        );
        let seen = seen_by_both.union();
        let on_check = (seen & board.empty) | checkers;
        let others = checkers.sub(king.splat(1));
        let one_check = checkers.if_disjoint(others, on_check, nothing);
        let check_mask = checkers.if_zero(all, one_check);

        // The king may not step along the line of a check, in either direction, except to capture the checker.
        let lines = ByLine {
            rank: lines.row,
            file: lines.column,
            diagonal: lines.diagonal,
            antidiagonal: lines.antidiagonal,
        };
        let checked_lines = slider_checks.zip(
            lines,
            #[inline(always)]
            |checks, line| checks.if_zero(nothing, line),
        );
        let mut behind_king = checked_lines.union() & !checkers;
        let double = checkers & others;
        if double.any() {
            // Two checkers on one line, on both sides of the king (no game leads there). If one is not a slider, the
            // king cannot capture it, because it would step into the other's ray; of two sliders it can capture
            // neither.
            let not_to_take = inlined(
                #[inline(always)]
                |line: L, sliders: L| {
                    let others = sliders.sub(king.splat(1));
                    line & !sliders.if_disjoint(others, sliders, nothing)
                },
            );
            behind_king = behind_king
                | not_to_take(checked_lines.rank, slider_checks.rank)
                | not_to_take(checked_lines.file, slider_checks.file)
                | not_to_take(checked_lines.diagonal, slider_checks.diagonal)
                | not_to_take(checked_lines.antidiagonal, slider_checks.antidiagonal);
        }
        Self {
            attacked,
            checkers,
            seen_by_both,
            seen,
            check_mask,
            behind_king,
        }
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
