//! Relevant occupancy: the squares on which a piece can change what a slider attacks, and all their subsets.
//!
//! The last square of each ray is attacked whether or not it is occupied, so it does not matter.
//! The remaining squares are at most 12 for a rook and 9 for a bishop, few enough to list all occupancies.

use super::ray_walk;
use crate::chess::geometry::Direction;
use crate::chess::{Bitboard, Square};

/// Rook or bishop; a queen combines both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slider {
    /// Along ranks and files.
    Rook,
    /// Along diagonals.
    Bishop,
}

impl Slider {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Rook, Self::Bishop];

    /// The attacks of the slider, by the [`ray_walk`].
    pub const fn attacks(self, square: Square, occupied: Bitboard) -> Bitboard {
        match self {
            Self::Rook => ray_walk::rook(square, occupied),
            Self::Bishop => ray_walk::bishop(square, occupied),
        }
    }

    /// The relevant squares of the slider.
    ///
    /// ```
    /// use lanefish_core::sliders::relevant_squares::Slider;
    /// let a1 = "a1".parse().unwrap();
    /// assert_eq!(Slider::Rook.relevant(a1).len(), 12);
    /// assert_eq!(Slider::Bishop.relevant(a1).len(), 6);
    /// ```
    pub const fn relevant(self, square: Square) -> Bitboard {
        let directions = match self {
            Self::Rook => Direction::ROOK,
            Self::Bishop => Direction::BISHOP,
        };
        let mut relevant = 0;
        let mut i = 0;
        while i < 4 {
            let (files, ranks) = directions[i].delta();
            let mut at = square;
            while let Some(next) = at.offset(files, ranks) {
                if next.offset(files, ranks).is_some() {
                    relevant |= 1 << next.index();
                }
                at = next;
            }
            i += 1;
        }
        Bitboard(relevant)
    }
}

/// The subset after this one, in ascending order; after the whole set comes the empty one.
///
/// The *n*-th subset, counted from zero, is *n* with its bits spread over the set: listing them in order is
/// how a table indexed by PEXT is filled.
#[inline(always)]
pub(crate) const fn next_subset(subset: u64, of: u64) -> u64 {
    subset.wrapping_sub(of) & of
}

/// All subsets of a set in ascending order, from the empty one to the set itself.
pub fn subsets(of: Bitboard) -> impl Iterator<Item = Bitboard> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let subset = next?;
        next = match next_subset(subset, of.0) {
            0 => None,
            following => Some(following),
        };
        Some(Bitboard(subset))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_are_all_and_ascend() {
        assert_eq!(subsets(Bitboard::EMPTY).count(), 1);
        let of = Bitboard(0x8100_0020_0400_0001);
        let all: Vec<_> = subsets(of).collect();
        assert_eq!(all.len(), 1 << of.len());
        assert!(all.is_sorted() && all.iter().all(|&subset| (subset - of).is_empty()));
        assert_eq!(all.last(), Some(&of));
    }

    #[test]
    fn only_relevant_squares_change_the_attacks() {
        for slider in Slider::ALL {
            for square in Square::all() {
                let open = slider.attacks(square, Bitboard::EMPTY);
                for other in Square::all().filter(|&other| other != square) {
                    let changed = slider.attacks(square, other.into()) != open;
                    assert_eq!(slider.relevant(square).contains(other), changed);
                }
            }
        }
    }
}
