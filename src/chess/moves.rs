//! A move: from, to and kind.

use super::piece::Role;
use super::square::Square;

/// What a move does besides going from one square to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoveKind {
    /// A step or a capture of any piece, a pawn's double step included.
    Normal,
    /// A pawn takes the pawn that has just passed it.
    EnPassant,
    /// The king castles; `to` is the square of the *rook*, as Chess960 needs it.
    Castle,
    /// A pawn arrives on the last rank and becomes this.
    Promotion(Role),
}

/// A move, with nothing in it about the position it is played in.
///
/// Castling is *king takes own rook*, in standard chess too; [`Move::uci`] writes the form that the
/// reader of the text expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The square it leaves.
    pub from: Square,
    /// The square it arrives on; of castling, the rook's square.
    pub to: Square,
    /// What else it does.
    pub kind: MoveKind,
}
