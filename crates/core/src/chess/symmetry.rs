//! The eight symmetries of the board, applied to sets of squares.
//!
//! Reversing the ranks is a byte swap. Mirroring within ranks and exchanging files with ranks take three steps, each of
//! which swaps blocks of half the size under a mask. The other symmetries are composed of these.

use super::bitboard::Bitboard;

/// Swaps the bits of `mask` with those `by` places above them.
#[inline(always)]
const fn swap(bits: u64, mask: u64, by: u32) -> u64 {
    let difference = (bits ^ bits >> by) & mask;
    bits ^ difference ^ difference << by
}

impl Bitboard {
    /// Mirrored from left to right: the a-file becomes the h-file.
    ///
    /// ```
    /// use lanefish_core::chess::{Bitboard, Square};
    /// let set = |names: &str| names.split(' ').map(|name| name.parse::<Square>().unwrap()).collect::<Bitboard>();
    /// assert_eq!(set("a1 d4").mirror_horizontal(), set("h1 e4"));
    /// assert_eq!(set("a1 d5").flip_diagonal(), set("a1 e4"));
    /// assert_eq!(set("a1 d4").rotate_clockwise(), set("a8 d5"));
    /// ```
    #[inline(always)]
    pub const fn mirror_horizontal(self) -> Self {
        Self(self.0.reverse_bits().swap_bytes())
    }

    /// Reflected in the diagonal a1-h8: files become ranks, b1 becomes a2.
    #[inline(always)]
    pub const fn flip_diagonal(self) -> Self {
        let bits = swap(self.0, 0x0000_0000_F0F0_F0F0, 28);
        let bits = swap(bits, 0x0000_CCCC_0000_CCCC, 14);
        Self(swap(bits, 0x00AA_00AA_00AA_00AA, 7))
    }

    /// Reflected in the antidiagonal a8-h1: g1 becomes h2.
    #[inline(always)]
    pub const fn flip_antidiagonal(self) -> Self {
        let bits = swap(self.0, 0x0000_0000_0F0F_0F0F, 36);
        let bits = swap(bits, 0x0000_3333_0000_3333, 18);
        Self(swap(bits, 0x0055_0055_0055_0055, 9))
    }

    /// Rotated by 180 degrees: a1 becomes h8.
    #[inline(always)]
    pub const fn rotate_half(self) -> Self {
        Self(self.0.reverse_bits())
    }

    /// Rotated by 90 degrees, clockwise with a1 at the lower left:
    /// a1 becomes a8, h1 becomes a1.
    #[inline(always)]
    pub const fn rotate_clockwise(self) -> Self {
        self.flip_diagonal().flip_vertical()
    }

    /// Rotated by 90 degrees counterclockwise: a1 becomes h1.
    #[inline(always)]
    pub const fn rotate_counterclockwise(self) -> Self {
        self.flip_vertical().flip_diagonal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{File, Rank, Square};

    /// Compares a symmetry with its map of (file, rank), on single squares and on whole sets.
    fn check(apply: impl Fn(Bitboard) -> Bitboard, map: impl Fn(u8, u8) -> (u8, u8)) {
        let moved = |square: Square| {
            let (file, rank) = map(square.file().index() as u8, square.rank().index() as u8);
            Square::at(File::new(file), Rank::new(rank))
        };
        for square in Square::all() {
            assert_eq!(apply(square.into()), moved(square).into());
        }
        let mut set = 0x9E37_79B9_7F4A_7C15u64;
        for _ in 0..1000 {
            set = set.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            let expected: Bitboard = Bitboard(set).iter().map(moved).collect();
            assert_eq!(apply(Bitboard(set)), expected);
        }
    }

    #[test]
    fn symmetries_follow_the_definition() {
        check(Bitboard::flip_vertical, |f, r| (f, 7 - r));
        check(Bitboard::mirror_horizontal, |f, r| (7 - f, r));
        check(Bitboard::flip_diagonal, |f, r| (r, f));
        check(Bitboard::flip_antidiagonal, |f, r| (7 - r, 7 - f));
        check(Bitboard::rotate_half, |f, r| (7 - f, 7 - r));
        check(Bitboard::rotate_clockwise, |f, r| (r, 7 - f));
        check(Bitboard::rotate_counterclockwise, |f, r| (7 - r, f));
    }
}
