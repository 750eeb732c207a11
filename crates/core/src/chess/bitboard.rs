//! Sets of squares.

use super::square::{File, Rank, Square};
use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, Shr, Sub, SubAssign};

/// A set of squares: bit *n* stands for square *n*, a1 = bit 0, h8 = bit 63.
///
/// `&`, `|`, `^` and `!` are the set operations, `-` is the difference.
///
/// ```
/// use lanefish_core::chess::{Bitboard, Square};
/// let e4: Square = "e4".parse().unwrap();
/// let cross = Bitboard::file(e4.file()) | Bitboard::rank(e4.rank());
/// assert_eq!((cross - Bitboard::from(e4)).len(), 14);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bitboard(pub u64);

impl Bitboard {
    /// No square.
    pub const EMPTY: Self = Self(0);
    /// All squares.
    pub const ALL: Self = Self(!0);
    /// The first and the last rank.
    pub const BACK_RANKS: Self = Self(0xFF00_0000_0000_00FF);

    /// The squares of a file.
    #[inline(always)]
    pub const fn file(file: File) -> Self {
        Self(0x0101_0101_0101_0101 << file.index())
    }
    /// The squares of a rank.
    #[inline(always)]
    pub const fn rank(rank: Rank) -> Self {
        Self(0xFF << (8 * rank.index()))
    }
    /// The set of this one square.
    #[inline(always)]
    pub const fn square(square: Square) -> Self {
        Self(1 << square.index())
    }
    /// Whether no square is in the set.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Whether any square is in the set.
    #[inline(always)]
    pub const fn any(self) -> bool {
        self.0 != 0
    }
    /// The number of squares in the set.
    #[inline(always)]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }
    /// Whether there are two squares or more in the set.
    #[inline(always)]
    pub const fn several(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }
    /// Whether the square is in the set.
    #[inline(always)]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.index() & 1 != 0
    }
    /// The square with the lowest number.
    #[inline(always)]
    pub const fn first(self) -> Option<Square> {
        Square::try_new(self.0.trailing_zeros() as u8)
    }
    /// The square with the highest number.
    #[inline(always)]
    pub const fn last(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::new(63 - self.0.leading_zeros() as u8)) }
    }
    /// The board seen from the other side: ranks reversed.
    #[inline(always)]
    pub const fn flip_vertical(self) -> Self {
        Self(self.0.swap_bytes())
    }
    /// The squares in ascending order.
    #[inline(always)]
    pub const fn iter(self) -> Squares {
        Squares(self.0)
    }
}

/// The squares of a [`Bitboard`] in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct Squares(u64);

impl Iterator for Squares {
    type Item = Square;
    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        let square = Bitboard(self.0).first()?;
        self.0 &= self.0 - 1;
        Some(square)
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.0.count_ones() as usize;
        (len, Some(len))
    }
}
impl ExactSizeIterator for Squares {}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;
    #[inline(always)]
    fn into_iter(self) -> Squares {
        self.iter()
    }
}
impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        squares.into_iter().fold(Self::EMPTY, |set, square| set | Self::square(square))
    }
}
impl From<Square> for Bitboard {
    #[inline(always)]
    fn from(square: Square) -> Self {
        Self::square(square)
    }
}

macro_rules! operators {
    ($($op:ident $method:ident $assign:ident $assign_method:ident |$a:ident, $b:ident| $body:expr;)*) => {$(
        impl $op for Bitboard {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self.0, other.0);
                Self($body)
            }
        }
        impl $assign for Bitboard {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = $op::$method(*self, other);
            }
        }
    )*};
}
operators! {
    BitAnd bitand BitAndAssign bitand_assign |a, b| a & b;
    BitOr bitor BitOrAssign bitor_assign |a, b| a | b;
    BitXor bitxor BitXorAssign bitxor_assign |a, b| a ^ b;
    Sub sub SubAssign sub_assign |a, b| a & !b;
}
impl Not for Bitboard {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}
impl Shl<u32> for Bitboard {
    type Output = Self;
    #[inline(always)]
    fn shl(self, by: u32) -> Self {
        Self(self.0 << by)
    }
}
impl Shr<u32> for Bitboard {
    type Output = Self;
    #[inline(always)]
    fn shr(self, by: u32) -> Self {
        Self(self.0 >> by)
    }
}

/// Eight lines, the eighth rank first, `X` for a square of the set and `.` for others.
impl fmt::Display for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in Rank::all().rev() {
            for file in File::all() {
                let symbol = if self.contains(Square::at(file, rank)) { 'X' } else { '.' };
                write!(f, "{}{symbol}", if file.index() == 0 { "" } else { " " })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
impl fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bitboard({:#018x})", self.0)
    }
}
