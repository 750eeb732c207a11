//! Static exchange evaluation: what a move wins or loses if both sides then capture on its target square as they like.
//!
//! The sides take in turn, each with its least valuable piece. This piece depends only on the previous captures, so
//! there is one sequence of captures, and each side may end it before its turn. The value is the
//! [minimax](https://www.chessprogramming.org/SEE_-_The_Swap_Algorithm) of that sequence. A side that takes wins the
//! piece on the square and exposes its own. So, from the last capture back to the first, the best result of a side is
//! `max(0, piece on the square - best result of the other side)`. The move itself must be played: its value is the
//! captured piece minus the best result of the other side.
//!
//! Stockfish's `see_ge` tests whether this value reaches a threshold, which takes fewer steps for one threshold and
//! needs no memory for the sequence. The value gives the answer for all thresholds, and the answers are the same,
//! because the rules are the same:
//!
//! - A pawn is worth 208, a knight 781, a bishop 825, a rook 1276, a queen 2538; a king cannot be lost and is worth 0.
//! - Castling, promotions and en passant captures have the value 0.
//! - Of several pieces of a kind, the one on the lowest square takes.
//! - Sliders join once what stands between them and the square has taken.
//! - A king takes only if the other side does not attack the square, and is the last to take.
//! - A piece that is absolutely pinned before the move does not take as long as some pinner of its side's pieces is on
//!   its original square. A slider behind a pinner, on the same line, is a pinner as well. As in Stockfish, these are
//!   two sets of a side and not pairs of pieces: one pinner that is left keeps all pinned pieces out.
//!
//! An illegal move, or a board that is not a position, has a value by the same rules: an empty square has no value, and
//! if a side has several kings, pieces are pinned to the king on the lowest square.

use super::move_features::role_at;
use crate::chess::attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, rook_attacks};
use crate::chess::geometry::between;
use crate::chess::{Bitboard, Color, Move, MoveKind, Role};
use crate::packed::Packed;

/// The value of a piece.
const fn worth(role: Role) -> i16 {
    match role {
        Role::Pawn => 208,
        Role::Knight => 781,
        Role::Bishop => 825,
        Role::Rook => 1276,
        Role::Queen => 2538,
        Role::King => 0,
    }
}

/// The most captures on a square: every other square has an attacker.
const MOST: usize = 64;

/// The pieces of a board.
struct Pieces {
    roles: [Bitboard; 6],
    colors: [Bitboard; 2],
    occupied: Bitboard,
    straight: Bitboard,
    diagonal: Bitboard,
}

/// The pieces of a side that are pinned to its king, and the pinners.
#[derive(Clone, Copy)]
struct Pins {
    pinned: Bitboard,
    pinners: Bitboard,
}

impl Pieces {
    fn of(board: &Packed) -> Self {
        let planes = board.planes();
        let occupied = Bitboard(planes.occupied());
        let black = Bitboard(planes.color) & occupied;
        let mut roles = [Bitboard::EMPTY; Role::ALL.len()];
        for role in Role::ALL {
            roles[role as usize] = Bitboard(planes.role(role));
        }
        Self {
            roles,
            colors: [occupied - black, black],
            occupied,
            straight: Bitboard(planes.orthogonal()),
            diagonal: Bitboard(planes.diagonal()),
        }
    }

    fn pins(&self, side: Color) -> Pins {
        let mut pins = Pins { pinned: Bitboard::EMPTY, pinners: Bitboard::EMPTY };
        let (ours, theirs) = (self.colors[side.index()], self.colors[(!side).index()]);
        let Some(king) = (self.roles[Role::King as usize] & ours).first() else {
            return pins;
        };
        let none = Bitboard::EMPTY;
        let snipers = rook_attacks(king, none) & self.straight | bishop_attacks(king, none) & self.diagonal;
        let snipers = snipers & theirs;
        let others = self.occupied - snipers;
        for sniper in snipers {
            let blockers = between(king, sniper) & others;
            if !blockers.several() && (blockers & ours).any() {
                pins.pinned |= blockers;
                pins.pinners |= sniper.into();
            }
        }
        pins
    }
}

/// The static exchange value of a move, for the side that moves.
pub(super) fn value(board: &Packed, mv: Move) -> i16 {
    if mv.kind != MoveKind::Normal {
        return 0;
    }
    let to = mv.to;
    // Loops and plain calls: what takes a closure is not always inlined.
    let worth_at = |square| role_at(board, square).map_or(0, worth);
    let (mut standing, won) = (worth_at(mv.from), worth_at(to));
    if standing == 0 {
        return won;
    }
    let pieces = Pieces::of(board);
    let mut occupied = pieces.occupied - mv.from.into() - to.into();
    let straight = |occupied| rook_attacks(to, occupied) & pieces.straight;
    let diagonal = |occupied| bishop_attacks(to, occupied) & pieces.diagonal;
    let [white, black] = pieces.colors;
    let pawns = pawn_attacks(Color::Black, to) & white | pawn_attacks(Color::White, to) & black;
    let mut attackers = straight(occupied)
        | diagonal(occupied)
        | pawns & pieces.roles[Role::Pawn as usize]
        | knight_attacks(to) & pieces.roles[Role::Knight as usize]
        | king_attacks(to) & pieces.roles[Role::King as usize];
    // What each capture wins.
    let mut wins = [0; MOST];
    let mut captures = 0;
    let mut side = !board.side_to_move();
    let mut pins: [Option<Pins>; 2] = [None; 2];
    while captures < MOST {
        attackers &= occupied;
        let mut able = attackers & pieces.colors[side.index()];
        if able.is_empty() {
            break;
        }
        let Pins { pinned, pinners } = *pins[side.index()].get_or_insert_with(|| pieces.pins(side));
        if (pinners & occupied).any() {
            able -= pinned;
        }
        let least = Role::ALL.into_iter().find_map(|role| Some((role, (able & pieces.roles[role as usize]).first()?)));
        let Some((role, from)) = least else {
            break;
        };
        let is_king = role == Role::King;
        if is_king && (attackers & pieces.colors[(!side).index()]).any() {
            break;
        }
        wins[captures] = standing;
        captures += 1;
        if is_king {
            break;
        }
        standing = worth(role);
        occupied -= from.into();
        if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
            attackers |= diagonal(occupied);
        }
        if matches!(role, Role::Rook | Role::Queen) {
            attackers |= straight(occupied);
        }
        side = !side;
    }
    won - wins[..captures].iter().rfold(0, |best, &win| (win - best).max(0))
}
