//! Castling rights, standard and Chess960 alike.
//!
//! A right belongs to a *rook*: the set of rooks that may still castle is all the information needed, whatever the
//! start position. The packed record stores the same (such a rook has its own piece code), and a right is lost by
//! removing a square from the set.

use super::bitboard::Bitboard;
use super::piece::Color;
use super::square::{File, Rank, Square};

/// The side towards which a king castles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastlingSide {
    /// Towards the h-file: king to g, rook to f.
    King,
    /// Towards the a-file: king to c, rook to d.
    Queen,
}

impl CastlingSide {
    /// King side, queen side.
    pub const ALL: [Self; 2] = [Self::King, Self::Queen];

    /// The side on which a rook stands as seen from its king: king side if its file is higher.
    #[inline]
    pub const fn of(king: Square, rook: Square) -> Self {
        if rook.file().index() > king.file().index() { Self::King } else { Self::Queen }
    }

    /// The destination file of the king.
    #[inline]
    pub const fn king_destination(self) -> File {
        match self {
            Self::King => File::new(6),
            Self::Queen => File::new(2),
        }
    }
    /// The destination file of the rook.
    #[inline]
    pub const fn rook_destination(self) -> File {
        match self {
            Self::King => File::new(5),
            Self::Queen => File::new(3),
        }
    }
}

/// The rooks that may still castle.
///
/// Well-formed rights (see [`super::Validity`]) hold at most one rook on each side of each king, on that
/// king's back rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct CastlingRights(pub Bitboard);

impl CastlingRights {
    /// No castling rights.
    pub const NONE: Self = Self(Bitboard::EMPTY);

    /// The back rank of a side: rank 1 for White, rank 8 for Black.
    #[inline(always)]
    pub const fn back_rank(color: Color) -> Rank {
        match color {
            Color::White => Rank::new(0),
            Color::Black => Rank::new(7),
        }
    }
    /// The castling rooks of one side.
    #[inline(always)]
    pub fn of(self, color: Color) -> Bitboard {
        self.0 & Bitboard::rank(Self::back_rank(color))
    }
    /// The rook with which the king on this square may castle to this side.
    #[inline]
    pub fn rook(self, color: Color, king: Square, side: CastlingSide) -> Option<Square> {
        let below = Bitboard((1u64 << king.index()) - 1);
        match side {
            CastlingSide::King => (self.of(color) - below).last(),
            CastlingSide::Queen => (self.of(color) & below).first(),
        }
    }
    /// Whether there are no castling rights.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}
