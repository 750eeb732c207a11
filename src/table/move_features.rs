//! Properties of the move of a record, computed from the planes of its board.
//!
//! Moves may be illegal: no code here relies on the rules.

use super::array::Array;
use super::field::Field;
use super::fill::words;
use super::tile::Tile;
use super::values::Values;
use crate::chess::attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, rook_attacks};
use crate::chess::{Bitboard, CastlingSide, Color, Move, MoveKind, Role, Square};
use crate::packed::{Group, Packed};

/// A flag for each move; missing if the record has no move.
pub(super) fn flags_of_moves(tile: &Tile<'_>, is: impl Fn(&Packed, Move) -> bool) -> Array {
    let (mut flags, mut present) = (vec![false; tile.len], vec![0; tile.len.div_ceil(64)]);
    each_move(tile, |row, mv| {
        flags[row] = is(&tile.board(row), mv);
        present[row / 64] |= 1 << (row % 64);
    });
    Array::Flag(Values::from_clean_parts(flags, present))
}

/// A number for each move; missing if the record has no move.
pub(super) fn numbers_of_moves(tile: &Tile<'_>, number: impl Fn(&Packed, Move) -> i16) -> Array {
    let (mut numbers, mut present) = (vec![0; tile.len], vec![0; tile.len.div_ceil(64)]);
    each_move(tile, |row, mv| {
        numbers[row] = number(&tile.board(row), mv);
        present[row / 64] |= 1 << (row % 64);
    });
    Array::I16(Values::from_clean_parts(numbers, present))
}

/// The letter of a piece of each move; missing where there is no such piece.
pub(super) fn pieces_of_moves(tile: &Tile<'_>, piece: impl Fn(&Packed, Move) -> Option<Role>) -> Array {
    let (mut codes, mut present) = (vec![0; tile.len], vec![0; tile.len.div_ceil(64)]);
    each_move(tile, |row, mv| {
        if let Some(role) = piece(&tile.board(row), mv) {
            codes[row] = role as u32;
            present[row / 64] |= 1 << (row % 64);
        }
    });
    words(
        Role::ALL.map(|role| role.letter().to_ascii_uppercase().to_string()),
        Values::from_clean_parts(codes, present),
    )
}

/// What the SAN of a move says about it, as far as the letters tell: for patterns of SAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct MoveShape {
    /// The piece that moves; not for castling.
    piece: Option<Role>,
    castles: bool,
    captures: bool,
    promotes: bool,
}

impl MoveShape {
    /// The shape of moves whose SAN has these letters; `None` stands for any text.
    pub(crate) fn of_san(letters: impl Iterator<Item = Option<char>>) -> Self {
        let mut shape = Self::default();
        for (place, letter) in letters.enumerate() {
            match (place, letter) {
                (0, Some('O')) => shape.castles = true,
                (0, Some('a'..='h')) => shape.piece = Some(Role::Pawn),
                (0, Some(letter @ ('N' | 'B' | 'R' | 'Q' | 'K'))) => {
                    shape.piece = Role::ALL.into_iter().find(|role| role.letter().to_ascii_uppercase() == letter);
                }
                (_, Some('x')) => shape.captures = true,
                (_, Some('=')) => shape.promotes = true,
                _ => {}
            }
        }
        shape
    }
    fn fits(self, board: &Packed, mv: Move) -> bool {
        (!self.castles || mv.kind == MoveKind::Castle)
            && (!self.promotes || matches!(mv.kind, MoveKind::Promotion(_)))
            && (!self.captures || captures(board, mv))
            && self.piece.is_none_or(|piece| moved(board, mv).is_none_or(|moved| moved == piece))
    }
}

/// The rows with a move, and those whose move has one of these shapes.
pub(crate) fn moves_of_shapes(tile: &Tile<'_>, shapes: &[MoveShape]) -> (Vec<u64>, Vec<u64>) {
    let (mut moves, mut fitting) = (vec![0; tile.len.div_ceil(64)], vec![0; tile.len.div_ceil(64)]);
    each_move(tile, |row, mv| {
        let bit = 1 << (row % 64);
        if tile.counts(tile.start + row) {
            moves[row / 64] |= bit;
            let board = tile.board(row);
            if shapes.iter().any(|shape| shape.fits(&board, mv)) {
                fitting[row / 64] |= bit;
            }
        }
    });
    (moves, fitting)
}

/// The piece that moves; a pawn that promotes is a pawn, and the king castles.
#[inline]
pub(super) fn moved(board: &Packed, mv: Move) -> Option<Role> {
    role_at(board, mv.from)
}

/// The piece that a move captures.
#[inline]
pub(super) fn captured(board: &Packed, mv: Move) -> Option<Role> {
    match mv.kind {
        MoveKind::Normal | MoveKind::Promotion(_) => role_at(board, mv.to),
        MoveKind::EnPassant => Some(Role::Pawn),
        MoveKind::Castle => None,
    }
}

/// Whether a move is legal and mates.
#[inline]
pub(super) fn mates(board: &Packed, mv: Move) -> bool {
    checks(board, mv)
        && board.unpack(0, 1).is_ok_and(|mut position| {
            position.is_legal(mv) && {
                position.make(mv);
                position.is_checkmate()
            }
        })
}

/// The piece on a square.
#[inline]
pub(super) fn role_at(board: &Packed, square: Square) -> Option<Role> {
    let planes = board.planes();
    Role::ALL.into_iter().find(|&role| Bitboard(planes.role(role)).contains(square))
}

/// Whether a position is quiet; it is not in check, whatever the move.
pub(super) fn quiet(tile: &Tile<'_>) -> Array {
    let checkers = |row: usize| tile.results[row / Group::LEN].checkers[row % Group::LEN];
    let (mut flags, mut present) = (vec![false; tile.len], vec![0; tile.len.div_ceil(64)]);
    for row in 0..tile.len {
        present[row / 64] |= u64::from(checkers(row) != 0) << (row % 64);
    }
    each_move(tile, |row, mv| {
        let is_loud = matches!(mv.kind, MoveKind::Promotion(_)) || captures(&tile.board(row), mv);
        flags[row] = checkers(row) == 0 && !is_loud;
        present[row / 64] |= 1 << (row % 64);
    });
    Array::Flag(Values::from_clean_parts(flags, present))
}

#[inline]
fn each_move(tile: &Tile<'_>, mut each: impl FnMut(usize, Move)) {
    if let Some(Array::U16(moves)) = tile.batch.values(Field::Move) {
        for row in 0..tile.len {
            let bits = moves.get(tile.start + row).copied().filter(|&bits| bits != 0);
            if let Some(mv) = bits.and_then(Move::from_bits) {
                each(row, mv);
            }
        }
    }
}

/// Whether a move captures, en passant included.
#[inline]
pub(super) fn captures(board: &Packed, mv: Move) -> bool {
    match mv.kind {
        MoveKind::Normal | MoveKind::Promotion(_) => Bitboard(board.occupied()).contains(mv.to),
        MoveKind::EnPassant => true,
        MoveKind::Castle => false,
    }
}

/// Whether a move gives check: whether a piece of the side to move attacks the other king after the move.
pub(super) fn checks(board: &Packed, mv: Move) -> bool {
    let planes = board.planes();
    let (us, occupied) = (board.side_to_move(), Bitboard(planes.occupied()));
    let black = Bitboard(planes.color) & occupied;
    let (ours, theirs) = if us == Color::Black { (black, occupied - black) } else { (occupied - black, black) };
    let (from, to) = (Bitboard::from(mv.from), Bitboard::from(mv.to));
    let Some(king) = (theirs & (Bitboard(planes.kings()) - to)).first() else {
        return false;
    };
    let moved = moved(board, mv);
    let gone = from | to;
    // The pieces on their squares after the move: the piece that arrives, and for castling the rook.
    let (arrives, at, gone, also) = match mv.kind {
        MoveKind::Normal => (moved, to, gone, Bitboard::EMPTY),
        MoveKind::Promotion(role) => (Some(role), to, gone, Bitboard::EMPTY),
        MoveKind::EnPassant => (moved, to, gone | Square::at(mv.to.file(), mv.from.rank()).into(), Bitboard::EMPTY),
        MoveKind::Castle => {
            let side = CastlingSide::of(mv.from, mv.to);
            let [king, rook] = [side.king_destination(), side.rook_destination()]
                .map(|file| Bitboard::from(Square::at(file, mv.from.rank())));
            (Some(Role::Rook), rook, gone, king)
        }
    };
    let left = |set: u64| Bitboard(set) & (ours - gone);
    let arrived = |roles: &[Role]| if arrives.is_some_and(|role| roles.contains(&role)) { at } else { Bitboard::EMPTY };
    let pawns = left(planes.pawns()) | arrived(&[Role::Pawn]);
    let knights = left(planes.knights()) | arrived(&[Role::Knight]);
    // Only where the position is not valid.
    let kings = left(planes.kings()) | arrived(&[Role::King]) | also;
    let steps = (pawn_attacks(!us, king) & pawns) | (knight_attacks(king) & knights) | (king_attacks(king) & kings);
    if steps.any() {
        return true;
    }
    let occupied = (occupied - gone) | at | also;
    let straight = left(planes.orthogonal()) | arrived(&[Role::Rook, Role::Queen]);
    let diagonal = left(planes.diagonal()) | arrived(&[Role::Bishop, Role::Queen]);
    ((rook_attacks(king, occupied) & straight) | (bishop_attacks(king, occupied) & diagonal)).any()
}
