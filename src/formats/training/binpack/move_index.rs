//! Lists the moves of a piece: a further ply of a chain stores the number of its move in this list.
//!
//! The list has the pseudolegal moves of one piece in the order of their targets: moves that leave the king in check
//! are in it. A pawn on the seventh rank has four moves for each target, to a knight, a bishop, a rook and a queen. The
//! king castles after its steps, queenside first: one move for each castling right, whether it can castle now or not.

use super::bits::NthBit;
use crate::chess::attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks};
use crate::chess::{Bitboard, Color, Move, MoveKind, Role, Square};
use crate::replay::Sides;

/// The moves of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    from: Square,
    targets: u64,
    /// Whether each target counts once per promotion piece.
    promotes: bool,
    /// For a pawn, the square on which it captures en passant.
    en_passant: u64,
    /// For the king, the rooks with which it may castle.
    castling: u64,
}

impl Choices {
    /// The moves of the piece on a square; `None` if it is not the mover's.
    #[inline(always)]
    pub(super) fn of(sides: &Sides, from: Square) -> Option<Self> {
        let occupied = Bitboard(sides.occupied);
        let bit = 1u64 << from.index();
        if sides.own & bit == 0 {
            return None;
        }
        let mut choices = Self { from, targets: 0, promotes: false, en_passant: 0, castling: 0 };
        let attacks = match sides.role_at(from.index())? {
            Role::Pawn => {
                choices.pawn(sides);
                return Some(choices);
            }
            Role::Knight => knight_attacks(from),
            Role::Bishop => bishop_attacks(from, occupied),
            Role::Rook => rook_attacks(from, occupied),
            Role::Queen => queen_attacks(from, occupied),
            Role::King => {
                choices.castling = sides.castling;
                king_attacks(from)
            }
        };
        choices.targets = attacks.0 & !sides.own;
        Some(choices)
    }

    #[inline(always)]
    fn pawn(&mut self, sides: &Sides) {
        let bit = 1u64 << self.from.index();
        let color = if sides.is_black { Color::Black } else { Color::White };
        let forward = |bits: u64| if sides.is_black { bits >> 8 } else { bits << 8 };
        let step = forward(bit) & !sides.occupied;
        let home = if sides.is_black { 0x00FF_0000_0000_0000 } else { 0xFF00 };
        let double = if bit & home != 0 { forward(step) & !sides.occupied } else { 0 };
        let captures = pawn_attacks(color, self.from).0;
        self.en_passant = sides.en_passant;
        self.targets = step | double | captures & (sides.occupied & !sides.own | sides.en_passant);
        let seventh = if sides.is_black { 0xFF00 } else { 0x00FF_0000_0000_0000 };
        self.promotes = bit & seventh != 0;
    }

    /// The number of moves.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        let targets = self.targets.count_ones();
        (if self.promotes { 4 * targets } else { targets }) + self.castling.count_ones()
    }

    /// The move with this number, which is less than their number.
    #[inline(always)]
    pub(super) fn at(&self, number: u32, bits: impl NthBit) -> Move {
        let targets = self.targets.count_ones();
        let square = |index: u32| Square::new(index as u8 & 63);
        let from = self.from;
        if self.promotes {
            let to = square(bits.nth_bit(self.targets, number / 4));
            return Move { from, to, kind: MoveKind::Promotion(Role::PROMOTIONS[number as usize % 4]) };
        }
        if number >= targets {
            // The square of the queenside rook is the smaller one.
            let to = square(bits.nth_bit(self.castling, number - targets));
            return Move { from, to, kind: MoveKind::Castle };
        }
        let to = bits.nth_bit(self.targets, number);
        let kind = if self.en_passant >> to & 1 != 0 { MoveKind::EnPassant } else { MoveKind::Normal };
        Move { from, to: square(to), kind }
    }

    /// The number of a move; `None` if it is not in the list.
    #[inline(always)]
    pub(super) fn number_of(&self, mv: Move) -> Option<u32> {
        let bit = 1u64 << mv.to.index();
        let before = |set: u64| (set & (bit - 1)).count_ones();
        let (set, number) = match mv.kind {
            MoveKind::Promotion(role) => (self.targets, 4 * before(self.targets) + role.index() as u32 - 1),
            MoveKind::Castle => (self.castling, self.targets.count_ones() + before(self.castling)),
            MoveKind::Normal | MoveKind::EnPassant => (self.targets, before(self.targets)),
        };
        let promotes = matches!(mv.kind, MoveKind::Promotion(_));
        (set & bit != 0 && promotes == self.promotes).then_some(number)
    }
}
