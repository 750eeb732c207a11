//! The queries on boards, and their results, shared by kernels, tiers and columns.
//!
//! [`Queries`] is a set; the results of a [group](crate::packed::Group) come back together in a
//! [`GroupResults`], one `u64` for each lane and query. The counts of legal moves share one word, whose
//! layout is written here and nowhere else.

use crate::chess::LegalCounts;
use std::fmt;
use std::ops::BitOr;

/// A set of queries about boards.
///
/// ```
/// use lanefish_core::queries::Queries;
/// let queries = Queries::MOVES | Queries::CHECKERS;
/// assert!(queries.contains(Queries::MOVES) && !queries.contains(Queries::PINNED));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Queries(u8);

impl Queries {
    /// None.
    pub const NONE: Self = Self(0);
    /// [`GroupResults::counts`], moves only: the kinds of moves may be left zero.
    pub const MOVES: Self = Self(1);
    /// [`GroupResults::counts`] with captures, promotions, castling moves and en passant captures; includes
    /// [`Queries::MOVES`].
    pub const KINDS: Self = Self(1 << 1 | 1);
    /// [`GroupResults::checkers`].
    pub const CHECKERS: Self = Self(1 << 2);
    /// [`GroupResults::pinned`].
    pub const PINNED: Self = Self(1 << 3);
    /// [`GroupResults::attacks_white`] and [`GroupResults::attacks_black`].
    pub const ATTACKS: Self = Self(1 << 4);
    /// [`GroupResults::mobility`].
    pub const MOBILITY: Self = Self(1 << 5);
    /// [`GroupResults::invalid`].
    pub const INVALID: Self = Self(1 << 6);
    /// All of them.
    pub const ALL: Self = Self((1 << 7) - 1);

    /// The union of both sets.
    #[inline]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// The queries that are not in the other set.
    #[inline]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// Whether this set contains the other one.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether some query is in both sets.
    #[inline]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Queries {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl FromIterator<Queries> for Queries {
    fn from_iter<I: IntoIterator<Item = Self>>(sets: I) -> Self {
        sets.into_iter().fold(Self::NONE, Self::union)
    }
}

impl fmt::Debug for Queries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["moves", "kinds", "checkers", "pinned", "attacks", "mobility", "invalid"];
        let asked = (0..).zip(names).filter(|(bit, _)| self.0 >> bit & 1 != 0);
        f.debug_set().entries(asked.map(|(_, name)| name)).finish()
    }
}

/// The lowest bit of the captures in [`GroupResults::counts`].
#[doc(hidden)]
pub const CAPTURES: u32 = 16;
/// The lowest bit of the promotions.
#[doc(hidden)]
pub const PROMOTIONS: u32 = 32;
/// The lowest bit of the castling moves.
#[doc(hidden)]
pub const CASTLES: u32 = 48;
/// The lowest bit of the en passant captures.
#[doc(hidden)]
pub const EN_PASSANTS: u32 = 56;

/// Legal counts in one word.
#[inline]
pub(crate) fn pack_counts(counts: LegalCounts) -> u64 {
    u64::from(counts.moves)
        | u64::from(counts.captures) << CAPTURES
        | u64::from(counts.promotions) << PROMOTIONS
        | u64::from(counts.castles) << CASTLES
        | u64::from(counts.en_passants) << EN_PASSANTS
}

/// The results for the eight boards of a [`Group`](crate::packed::Group), lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C, align(64))]
#[non_exhaustive]
pub struct GroupResults {
    /// Numbers of legal moves: bits 0-15 all, 16-31 captures, 32-47 promotions, 48-55 castling moves,
    /// 56-63 en passant captures. See [`GroupResults::legal`].
    pub counts: [u64; 8],
    /// Enemy pieces that give check to the side to move.
    pub checkers: [u64; 8],
    /// Pieces of the side to move that are absolutely pinned to their king.
    pub pinned: [u64; 8],
    /// Squares that White attacks.
    pub attacks_white: [u64; 8],
    /// Squares that Black attacks.
    pub attacks_black: [u64; 8],
    /// Mobility: bits 0-15 White's, 16-31 Black's.
    pub mobility: [u64; 8],
    /// Not zero where the board breaks a rule of the [playable](crate::chess::Validity::Playable) level, or does not
    /// decode; [`crate::packed::Packed::unpack`] and that module then say what is wrong.
    pub invalid: [u64; 8],
}

impl GroupResults {
    /// The numbers of legal moves of a lane.
    ///
    /// # Panics
    /// When `lane` is not below 8.
    #[inline(always)]
    pub fn legal(&self, lane: usize) -> LegalCounts {
        let counts = self.counts[lane];
        LegalCounts {
            moves: counts as u16,
            captures: (counts >> CAPTURES) as u16,
            promotions: (counts >> PROMOTIONS) as u16,
            castles: (counts >> CASTLES & 0xFF) as u16,
            en_passants: (counts >> EN_PASSANTS) as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_as_they_were_packed() {
        let legal = LegalCounts { moves: 218, captures: 74, promotions: 96, castles: 2, en_passants: 1 };
        let mut results = GroupResults::default();
        results.counts[3] = pack_counts(legal);
        assert_eq!(results.legal(3), legal);
        assert_eq!(results.legal(2), LegalCounts::default());
    }

    #[test]
    fn sets() {
        assert!(Queries::KINDS.contains(Queries::MOVES));
        assert!(!Queries::MOVES.contains(Queries::KINDS));
        let all: Queries =
            [Queries::KINDS, Queries::CHECKERS, Queries::PINNED, Queries::ATTACKS, Queries::MOBILITY, Queries::INVALID]
                .into_iter()
                .collect();
        assert_eq!(all, Queries::ALL);
        assert_eq!(format!("{:?}", Queries::KINDS), r#"{"moves", "kinds"}"#);
    }
}
