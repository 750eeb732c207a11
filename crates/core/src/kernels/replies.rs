//! Which moves leave the number of replies as it would be after a pass, and the enemy's threats to the side to move.
//!
//! Perft counts the replies to every move, but most quiet moves change none of them: the enemy has as many legal moves
//! as if the piece had not moved. For each kind of piece, this kernel finds the *sensitive* squares: a quiet move that
//! neither leaves nor reaches one of them has as many replies as a pass. Captures, promotions, castling, en passant and
//! double steps beside an enemy pawn are not quiet. In check, all squares are sensitive, since nobody passes then. The
//! converse does not hold: where an exact condition costs more than it saves, more squares are sensitive.
//!
//! In what follows, *we* move a piece X, and the *ring* is what the moves of the enemy king depend on: its square,
//! those beside it, and those that it crosses or reaches by castling. In Chess960 that is its whole back rank if the
//! king or a rook with a castling right does not stand where it does in standard chess. The reasons why replies change,
//! and the squares that each of them makes sensitive:
//!
//! - *An enemy piece finds its way closed or open.* For all kinds of X: the squares that enemy sliders see, the
//!   squares to which enemy pawns step, and b8, which must be empty for castling but may be attacked. Knights and kings
//!   go to a square whether it is empty or holds X.
//! - *An enemy pawn may or may not capture X.* For all kinds: the squares that enemy pawns attack.
//! - *X attacks the ring, before or after its move.* For each kind: the squares from which such a piece does; for
//!   sliders, those that the ring sees. Check is the case in which X attacks the king. The ring itself is sensitive
//!   too.
//! - *X stands between the ring and one of our other sliders, before or after.* For all kinds: the squares that both
//!   see along the same line.
//! - *X pins an enemy piece, before or after.* For sliders: the squares that the king sees behind the nearest piece.
//! - *X stands between the king and one of our sliders, so that an enemy piece is not pinned, or joins a pinned piece
//!   there.* For all kinds: the squares of each line of the king up to the second piece, if one of our sliders is
//!   within the first three pieces of that line. It would not do to ask which squares our sliders *see*: with king, X,
//!   an enemy piece and our slider in this order, X is hidden from the slider, and pins the enemy piece by leaving.
//!
//! A move changes two squares at once. That adds no reason: if a line is open before the move and closed after it, X
//! has come between, and its target alone is sensitive; if it is closed before and open after, X alone was in between,
//! and the square that it left is sensitive. A slider that withdraws along a line also left a square that sees what it
//! attacks.
//!
//! The threats are by-products that the generator of moves needs anyway.

use super::boards_in_lanes::Board;
use super::rays::{ByLine, Rays};
use super::threats::{Danger, pawn_attacks_down};
use super::{FILE_A, FILE_H, RANK_6, RANK_8};
use crate::packed::Group;
use crate::simd::{Lanes, Simd, inlined};

const B8: u64 = FILE_A << 1 & RANK_8;
const E8: u64 = FILE_A << 4 & RANK_8;
/// The squares that the king crosses or reaches in standard chess.
const LONG: u64 = (FILE_A << 2 | FILE_A << 3) & RANK_8;
const SHORT: u64 = (FILE_A << 5 | FILE_A << 6) & RANK_8;

/// The sensitive squares of each lane, and the threats to the side to move.
///
/// After a move of a piece that neither leaves nor reaches a sensitive square of its kind, the opponent has as many
/// legal moves as after a pass. This does not hold for captures, promotions, castling, en passant captures, and double
/// steps beside an enemy pawn. Replies to moves that do touch sensitive squares may still be as many.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Replies {
    /// The sensitive squares for pawns, knights, bishops, rooks, queens and kings.
    pub sensitive: [[u64; Group::LEN]; 6],
    /// The enemy pieces that give check.
    pub checkers: [u64; Group::LEN],
    /// The pieces of the side to move that are absolutely pinned.
    pub pinned: [u64; Group::LEN],
    /// The squares that the king cannot enter, because the enemy attacks them or would do so after the step.
    pub closed: [u64; Group::LEN],
}

/// Finds sensitive squares and threats of all boards.
#[inline(always)]
pub fn replies<S: Simd>(simd: S, groups: &[Group], out: &mut [Replies]) {
    for (group, out) in groups.iter().zip(out) {
        for at in (0..Group::LEN).step_by(S::WIDTH) {
            let board = Board::load(simd, group, at);
            let rays = Rays::new(board.occupied);
            let danger = Danger::new(&board, &rays);
            let store = inlined(
                #[inline(always)]
                |set: S::Lanes, to: &mut [u64; Group::LEN]| simd.store(set.swap_bytes_where(board.flipped), to, at),
            );
            let all = simd.splat(!0);
            for (set, to) in sensitive(&board, &rays, &danger).into_iter().zip(&mut out.sensitive) {
                store(danger.checkers.if_zero(set, all), to);
            }
            store(danger.checkers, &mut out.checkers);
            store(danger.seen & board.us.all, &mut out.pinned);
            store(danger.attacked | danger.behind_king, &mut out.closed);
        }
    }
}

/// The sensitive squares for pawns, knights, bishops, rooks, queens and kings, if we are not in check.
#[inline(always)]
fn sensitive<L: Lanes>(board: &Board<L>, rays: &Rays<L>, danger: &Danger<L>) -> [L; 6] {
    let (us, them) = (&board.us, &board.them);
    let castling = castling_squares(board);
    let ring = them.king | them.king.neighbours_of_bit() | castling;
    let everywhere = ByLine { rank: ring, file: ring, diagonal: ring, antidiagonal: ring };
    let seen_by_ring = Rays::new(board.occupied | ring).lines(everywhere);
    let between = seen_by_ring
        .zip(
            rays.lines(us.sliders()),
            #[inline(always)]
            |ring, sliders| ring & sliders,
        )
        .union();
    let KingLines { to_second, with_slider } = KingLines::new(board, rays);

    let steps = them.pawns.shr::<8>();
    let pawn_squares = pawn_attacks_down(them.pawns) | steps | (steps & ring.splat(RANK_6)).shr::<8>();
    let b8 = castling.shr::<1>() & ring.splat(B8);
    // Enemy pieces are targets of captures.
    let for_all = them.all | danger.enemy_sees.union() | pawn_squares | ring | b8 | between | with_slider;
    let diagonal = seen_by_ring.diagonal | seen_by_ring.antidiagonal | to_second.diagonal | to_second.antidiagonal;
    let orthogonal = seen_by_ring.rank | seen_by_ring.file | to_second.rank | to_second.file;
    [
        for_all | pawn_attacks_down(ring),
        for_all | ring.jumps(),
        for_all | diagonal,
        for_all | orthogonal,
        for_all | diagonal | orthogonal,
        for_all | ring.neighbours(),
    ]
}

/// The squares that the enemy king crosses or reaches by castling: its whole back rank in lanes in which it or a
/// castling rook is not on its square of standard chess.
#[inline(always)]
fn castling_squares<L: Lanes>(board: &Board<L>) -> L {
    let them = &board.them;
    let none = them.all.splat(0);
    let back_rank = none.splat(RANK_8);
    let rooks = board.castling & them.all & back_rank;
    let corners = none.splat(FILE_A | FILE_H);
    let elsewhere = (them.king & none.splat(!E8)) | (rooks & !corners);
    let long = (rooks & none.splat(FILE_A)).if_zero(none, none.splat(LONG));
    let short = (rooks & none.splat(FILE_H)).if_zero(none, none.splat(SHORT));
    rooks.if_zero(none, elsewhere.if_zero(long | short, back_rank))
}

/// What the enemy king sees through pieces.
struct KingLines<L> {
    /// Through one piece, along each line.
    to_second: ByLine<L>,
    /// The same on the lines on which it sees one of our sliders through at most two pieces.
    with_slider: L,
}

impl<L: Lanes> KingLines<L> {
    #[inline(always)]
    fn new(board: &Board<L>, rays: &Rays<L>) -> Self {
        let king = board.them.king;
        let lines = king.lines_through_bit();
        let to_first = rays.sight_of(king, lines).union();
        let behind_first = board.occupied & !to_first;
        let to_second = Rays::new(behind_first).sight_of(king, lines);
        let behind_second = behind_first & !to_second.union();
        let to_third = Rays::new(behind_second).sight_of(king, lines);
        let none = king.splat(0);
        let found = to_third.zip(
            board.us.sliders(),
            #[inline(always)]
            |seen, sliders| seen & sliders,
        );
        let with_slider = found.zip(
            to_second,
            #[inline(always)]
            |found, seen| found.if_zero(none, seen),
        );
        Self { to_second, with_slider: with_slider.union() }
    }
}
