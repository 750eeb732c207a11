//! The definition of a legal move, as plain as possible and without regard to speed.
//!
//! A move is legal when it is pseudo-legal (the piece moves that way) and the mover's king is not attacked
//! on the board after it. All faster code, here and in the lanes, is tested against this. It is valid for
//! any board with one king per side, however unusual:
//!
//! - A pawn on its second rank may step twice; a pawn on its own first rank steps once; on its last rank it
//!   does not move.
//! - En passant needs an empty en passant square on the sixth rank (as the mover sees it) and an enemy pawn right
//!   behind it; where that pawn came from does not matter.
//! - The enemy king may be captured like any other piece.
//! - Castling: the right names a rook of the mover on its back rank, the king is on that rank (anywhere);
//!   king goes to the c- or g-file and rook to the d- or f-file, towards the side that the rook is on; nothing
//!   but the two stands between either piece and its destination or on it; and the king is not attacked on its square,
//!   on any square that it passes (with the king removed from the board), or on its destination.

use super::bitboard::Bitboard;
use super::castling::{CastlingRights, CastlingSide};
use super::moves::{Move, MoveKind};
use super::piece::{Color, Piece, Role};
use super::position::Position;
use super::square::{File, Rank, Square};

const STRAIGHT: [(i8, i8); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
const KNIGHT: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// The squares that the piece on a square attacks, walked step by step.
fn attacks(position: &Position, from: Square) -> Bitboard {
    let Some(piece) = position.piece_at(from) else {
        return Bitboard::EMPTY;
    };
    let forward = forward(piece.color);
    let step = |steps: &[(i8, i8)]| -> Bitboard {
        let steps = steps.iter();
        steps.filter_map(|&(files, ranks)| from.offset(files, ranks)).collect()
    };
    let slide = |steps: &[(i8, i8)]| {
        let mut attacked = Bitboard::EMPTY;
        for &(files, ranks) in steps {
            let mut at = from;
            while let Some(next) = at.offset(files, ranks) {
                attacked |= next.into();
                if position.piece_at(next).is_some() {
                    break;
                }
                at = next;
            }
        }
        attacked
    };
    match piece.role {
        Role::Pawn => step(&[(-1, forward), (1, forward)]),
        Role::Knight => step(&KNIGHT),
        Role::Bishop => slide(&DIAGONAL),
        Role::Rook => slide(&STRAIGHT),
        Role::Queen => slide(&STRAIGHT) | slide(&DIAGONAL),
        Role::King => step(&STRAIGHT) | step(&DIAGONAL),
    }
}

fn forward(color: Color) -> i8 {
    match color {
        Color::White => 1,
        Color::Black => -1,
    }
}

/// The squares that a side attacks.
pub fn attacked_by(position: &Position, color: Color) -> Bitboard {
    let pieces = position.color(color).iter();
    pieces.fold(Bitboard::EMPTY, |set, from| set | attacks(position, from))
}

/// The enemy pieces that attack the king of a side.
pub fn checkers_of(position: &Position, color: Color) -> Bitboard {
    let king = position.pieces(color, Role::King);
    let enemies = position.color(!color).iter();
    enemies.filter(|&from| (attacks(position, from) & king).any()).collect()
}

/// The pieces of the side to move whose removal from the board would let another enemy piece attack its king.
pub fn pinned(position: &Position) -> Bitboard {
    let us = position.side_to_move;
    let before = checkers_of(position, us);
    let own = position.color(us) - position.role(Role::King);
    own.iter()
        .filter(|&square| {
            let mut without = position.clone();
            without.remove(square);
            (checkers_of(&without, us) - before).any()
        })
        .collect()
}

/// The pieces after a move; nothing else of the position is updated.
fn pieces_after(position: &Position, mv: Move) -> Position {
    let mut after = position.clone();
    let Some(mut piece) = position.piece_at(mv.from) else {
        return after;
    };
    let color = piece.color;
    after.remove(mv.from);
    match mv.kind {
        MoveKind::Normal => {}
        MoveKind::Promotion(role) => piece.role = role,
        MoveKind::EnPassant => after.remove(Square::at(mv.to.file(), mv.from.rank())),
        MoveKind::Castle => {
            let side = castling_side(mv.from, mv.to);
            let rank = mv.from.rank();
            after.remove(mv.to);
            let rook = Role::Rook;
            after.put(Square::at(side.king_destination(), rank), piece);
            after.put(Square::at(side.rook_destination(), rank), Piece { color, role: rook });
            return after;
        }
    }
    after.put(mv.to, piece);
    after
}

fn castling_side(king: Square, rook: Square) -> CastlingSide {
    if rook.file() > king.file() { CastlingSide::King } else { CastlingSide::Queen }
}

/// The squares from one file to another on a rank, both included.
fn span(rank: Rank, from: File, to: File) -> Bitboard {
    let (low, high) = (from.min(to), from.max(to));
    File::all().filter(|&file| low <= file && file <= high).map(|file| Square::at(file, rank)).collect()
}

fn castling_is_possible(position: &Position, king: Square, rook: Square) -> bool {
    let us = position.side_to_move;
    let rank = CastlingRights::back_rank(us);
    let own_rook = Piece { color: us, role: Role::Rook };
    if king.rank() != rank
        || rook.rank() != rank
        || !position.castling.0.contains(rook)
        || position.piece_at(rook) != Some(own_rook)
    {
        return false;
    }
    let side = castling_side(king, rook);
    let king_path = span(rank, king.file(), side.king_destination());
    let rook_path = span(rank, rook.file(), side.rook_destination());
    let others = position.occupied() - king.into() - rook.into();
    let mut lifted = position.clone();
    lifted.remove(king);
    ((king_path | rook_path) & others).is_empty()
        && king_path.iter().all(|at| {
            // An attack on an empty square is detected by putting the king there.
            let mut there = lifted.clone();
            let hidden = there.piece_at(at);
            there.put(at, Piece { color: us, role: Role::King });
            // The king's path may cross the castling rook's square, where it cannot be attacked *through* it.
            debug_assert!(hidden.is_none() || at == rook);
            checkers_of(&there, us).is_empty()
        })
}

fn pseudo_legal_moves(position: &Position) -> Vec<Move> {
    let us = position.side_to_move;
    let own = position.color(us);
    let empty = !position.occupied();
    let mut moves = Vec::new();
    for from in own {
        let Some(piece) = position.piece_at(from) else {
            continue;
        };
        if piece.role != Role::Pawn {
            for to in attacks(position, from) - own {
                let kind = MoveKind::Normal;
                moves.push(Move { from, to, kind });
            }
            if piece.role == Role::King {
                for to in own {
                    if castling_is_possible(position, from, to) {
                        let kind = MoveKind::Castle;
                        moves.push(Move { from, to, kind });
                    }
                }
            }
            continue;
        }
        let forward = forward(us);
        let second = if us == Color::White { 1 } else { 6 };
        let sixth = if us == Color::White { 5 } else { 2 };
        let mut targets = attacks(position, from) & position.color(!us);
        if let Some(one) = from.offset(0, forward).filter(|&to| empty.contains(to)) {
            targets |= one.into();
            if from.rank() == Rank::new(second)
                && let Some(two) = one.offset(0, forward).filter(|&to| empty.contains(to))
            {
                targets |= two.into();
            }
        }
        for to in targets {
            if to.rank() == CastlingRights::back_rank(!us) {
                for role in Role::PROMOTIONS {
                    let kind = MoveKind::Promotion(role);
                    moves.push(Move { from, to, kind });
                }
            } else {
                let kind = MoveKind::Normal;
                moves.push(Move { from, to, kind });
            }
        }
        if let Some(to) = position.en_passant
            && to.rank() == Rank::new(sixth)
            && empty.contains(to)
            && attacks(position, from).contains(to)
            && let Some(victim) = to.offset(0, -forward)
            && position.pieces(!us, Role::Pawn).contains(victim)
        {
            let kind = MoveKind::EnPassant;
            moves.push(Move { from, to, kind });
        }
    }
    moves
}

/// All legal moves, found by making each pseudo-legal one.
///
/// ```
/// use lanefish_core::chess::{Position, reference};
/// let start = Position::standard();
/// assert_eq!(reference::legal_moves(&start).len(), start.legal_moves().len());
/// ```
pub fn legal_moves(position: &Position) -> Vec<Move> {
    let us = position.side_to_move;
    let mut moves = pseudo_legal_moves(position);
    moves.retain(|&mv| checkers_of(&pieces_after(position, mv), us).is_empty());
    moves
}
