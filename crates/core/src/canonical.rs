//! Canonical forms of positions, by which equal positions are recognized, and their keys: 64-bit hashes that are the
//! same on every machine and in every version.

use crate::packed::{Group, Packed};

/// The first bits of the fractional parts of the square roots of 2, 3, 5, 7, 11, 13, 17, 19 and 23. They are part of
/// the contract: equal positions have equal keys in every version.
#[doc(hidden)]
pub const ROOTS: [u64; 9] = [
    0x6A09_E667_F3BC_C908,
    0xBB67_AE85_84CA_A73B,
    0x3C6E_F372_FE94_F82B,
    0xA54F_F53A_5F1D_36F1,
    0x510E_527F_ADE6_82D1,
    0x9B05_688C_2B3E_6C1F,
    0x1F83_D9AB_FB41_BD6B,
    0x5BE0_CD19_137E_2179,
    0xCBBB_9D5D_C105_9ED8,
];

/// The canonical form of a position, in independent parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Canonical {
    /// The black pieces, then the three bits of the piece codes of [`Packed`]; rooks are rooks, whether or not they may
    /// castle.
    pub board: [u64; 4],
    /// Whether Black is to move.
    pub black_to_move: bool,
    /// Rooks that may still castle.
    pub castling: u64,
    /// The en passant square, if such a capture is legal: a set of at most one square.
    pub en_passant: u64,
}

impl Canonical {
    /// The parts of a board. `en_passant_is_legal` says whether an en passant capture is legal.
    #[inline(always)]
    pub fn of(board: &Packed, en_passant_is_legal: bool) -> Self {
        let [t0, t1, t2] = board.types;
        let castling = t0 & t1 & t2;
        let occupied = t0 | t1 | t2;
        let sentinel = board.color & !occupied;
        // See `crate::packed`: a sentinel bit on rank 6 is White's en passant square; anywhere else it means Black to
        // move.
        let rank_6 = 0xFF << 40;
        let legal = u64::from(en_passant_is_legal).wrapping_neg();
        Self {
            board: [board.color & occupied, t0 & !castling, t1 & !castling, t2],
            black_to_move: sentinel & !rank_6 != 0,
            castling,
            en_passant: sentinel & legal,
        }
    }
}

impl Canonical {
    /// The position as the side to move sees it: with Black to move, colours are exchanged, so that White is to move.
    ///
    /// ```
    /// use lanefish_core::chess::Position;
    /// use lanefish_core::canonical::Canonical;
    /// use lanefish_core::packed::Packed;
    ///
    /// let of = |fen: &str| {
    ///     let position: Position = fen.parse().unwrap();
    ///     Canonical::of(&Packed::pack(&position).unwrap(), position.en_passant.is_some()).relative()
    /// };
    /// assert_eq!(of("4k3/8/8/8/8/8/4P3/4K2R w K - 0 1"), of("4k2r/4p3/8/8/8/8/8/4K3 b k - 0 1"));
    /// ```
    #[must_use]
    pub fn relative(self) -> Self {
        if !self.black_to_move {
            return self;
        }
        let [black, t0, t1, t2] = self.board;
        let occupied = t0 | t1 | t2;
        Self {
            board: [occupied & !black, t0, t1, t2].map(u64::swap_bytes),
            black_to_move: false,
            castling: self.castling.swap_bytes(),
            en_passant: self.en_passant.swap_bytes(),
        }
    }
}

/// The castling rooks on rank 1 in bits 0 to 7, those on rank 8 above them: there are none elsewhere.
#[doc(hidden)]
#[inline(always)]
pub fn castling_files(castling: u64) -> u16 {
    (castling & 0xFF | castling >> 48 & 0xFF00) as u16
}

/// The two halves of a product, folded together: each bit of the factors changes about half of the result.
#[doc(hidden)]
#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// A hash of the planes of a board, by which positions are divided if equal boards belong together.
#[doc(hidden)]
#[inline(always)]
pub fn hash_of_planes([black, t0, t1, t2]: [u64; 4]) -> u64 {
    fold(black ^ ROOTS[0], t0 ^ ROOTS[1]) ^ fold(t1 ^ ROOTS[2], t2 ^ ROOTS[3])
}

/// The keys of a position at the four levels.
///
/// ```
/// use lanefish_core::packed::Packed;
/// use lanefish_core::chess::Position;
/// use lanefish_core::canonical::{Canonical, keys};
///
/// let of = |fen: &str| {
///     let position: Position = fen.parse().unwrap();
///     keys(&Canonical::of(&Packed::pack(&position).unwrap(), position.en_passant.is_some()))
/// };
/// let [board, stm, castling, position] = of("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
/// let other = of("4k3/8/8/8/8/8/8/4K2R w - - 5 20");
/// assert_eq!([board, stm], other[..2]);
/// assert!(castling != other[2] && position != other[3]);
/// ```
#[inline(always)]
pub fn keys(position: &Canonical) -> [u64; 4] {
    // What distinguishes positions with equal boards only flips bits of the board's key, which are as good as random
    // already.
    let board = fold(hash_of_planes(position.board) ^ ROOTS[4], ROOTS[8]);
    let stm = board ^ u64::from(position.black_to_move).wrapping_neg() & ROOTS[5];
    let castling = stm ^ u64::from(castling_files(position.castling)).wrapping_mul(ROOTS[6]);
    // Ranks 3 to 6, which is where en passant squares are.
    let squares = (position.en_passant >> 16) as u32;
    let all = castling ^ u64::from(squares).wrapping_mul(ROOTS[7]);
    [board, stm, castling, all]
}

/// The canonical parts of a board in a group.
#[doc(hidden)]
#[inline(always)]
pub fn canonical(group: &Group, lane: usize, en_passant_is_legal: bool) -> Canonical {
    Canonical::of(&group.get(lane), en_passant_is_legal)
}
