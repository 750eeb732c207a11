//! A position: the six fields of FEN.

use super::bitboard::Bitboard;
use super::castling::CastlingRights;
use super::piece::{Color, Piece, Role};
use super::square::Square;

/// A chess position with all six fields of FEN, standard chess and Chess960.
///
/// It is plain data and can hold invalid positions; [`Violations`](super::Violations) reports what is wrong with them.
/// There is always at most one piece on a square.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    by_role: [Bitboard; 6],
    by_color: [Bitboard; 2],
    /// The side to move.
    pub side_to_move: Color,
    /// The rooks that may still castle.
    pub castling: CastlingRights,
    /// The square *behind* a pawn that has just made a double step.
    pub en_passant: Option<Square>,
    /// Plies since the last capture or pawn move.
    pub halfmove: u16,
    /// Move number, from 1; it increases after Black's move.
    pub fullmove: u16,
}

impl Position {
    /// A board without pieces, White to move.
    pub const fn empty() -> Self {
        Self {
            by_role: [Bitboard::EMPTY; 6],
            by_color: [Bitboard::EMPTY; 2],
            side_to_move: Color::White,
            castling: CastlingRights::NONE,
            en_passant: None,
            halfmove: 0,
            fullmove: 1,
        }
    }
    /// The start position of standard chess.
    pub const fn standard() -> Self {
        let sets = [
            0x00FF_0000_0000_FF00,
            0x4200_0000_0000_0042,
            0x2400_0000_0000_0024,
            0x8100_0000_0000_0081,
            0x0800_0000_0000_0008,
            0x1000_0000_0000_0010,
        ];
        let mut position = Self::empty();
        let mut role = 0;
        while role < 6 {
            position.by_role[role] = Bitboard(sets[role]);
            role += 1;
        }
        position.by_color = [Bitboard(0xFFFF), Bitboard(0xFFFF << 48)];
        position.castling = CastlingRights(position.by_role[3]);
        position
    }
    /// All pieces of a role, of both colours.
    #[inline(always)]
    pub const fn role(&self, role: Role) -> Bitboard {
        self.by_role[role.index()]
    }
    /// All pieces of a colour.
    #[inline(always)]
    pub const fn color(&self, color: Color) -> Bitboard {
        self.by_color[color.index()]
    }
    /// All pieces of a role and a colour.
    #[inline(always)]
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard {
        self.color(color) & self.role(role)
    }
    /// All occupied squares.
    #[inline(always)]
    pub fn occupied(&self) -> Bitboard {
        self.by_color[0] | self.by_color[1]
    }
    /// The king of a side, if it has one (the lowest square, if there are several).
    #[inline(always)]
    pub fn king(&self, color: Color) -> Option<Square> {
        self.pieces(color, Role::King).first()
    }
    /// The piece on a square.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        let color = *Color::ALL.iter().find(|&&color| self.color(color).contains(square))?;
        let role = *Role::ALL.iter().find(|&&role| self.role(role).contains(square))?;
        Some(Piece { color, role })
    }
    /// Puts a piece on a square and replaces any piece there.
    #[inline]
    pub fn put(&mut self, square: Square, piece: Piece) {
        self.remove(square);
        self.by_role[piece.role.index()] |= square.into();
        self.by_color[piece.color.index()] |= square.into();
    }
    /// Empties a square.
    #[inline]
    pub fn remove(&mut self, square: Square) {
        let rest = !Bitboard::square(square);
        for set in self.by_role.iter_mut().chain(&mut self.by_color) {
            *set &= rest;
        }
    }
    /// Toggles a piece on a square: the fast path of making moves.
    #[inline(always)]
    pub(crate) fn toggle_role(&mut self, square: Square, color: Color, role: Role) {
        self.by_role[role.index()] ^= square.into();
        self.by_color[color.index()] ^= square.into();
    }
    /// The role of the piece on a square.
    #[inline]
    pub fn role_at(&self, square: Square) -> Option<Role> {
        Role::ALL.into_iter().find(|&role| self.role(role).contains(square))
    }
    /// A position from its piece sets, which must be disjoint and cover one another.
    #[inline(always)]
    pub(crate) fn from_sets(by_role: [Bitboard; 6], by_color: [Bitboard; 2]) -> Self {
        Self { by_role, by_color, ..Self::empty() }
    }
}
