//! PEXT without the instruction, on the tables of [`super::pext`].
//!
//! The *loop* takes the bits of the mask one after the other. The *network* moves all bits at once: each bit
//! must move down by the number of zeros of the mask below it, and does so in six steps by powers of two. The bits that
//! move in each step are precomputed for each square.

use super::pext::{ATTACKS, ENTRIES, Entry, SQUARES};
use super::{Kind, Sliders, at};
use crate::chess::{Bitboard, Square};

/// One bit of the mask after the other.
#[derive(Clone, Copy, Debug)]
pub struct PextLoop;

/// Six steps for all bits together.
#[derive(Clone, Copy, Debug)]
pub struct PextNetwork;

impl PextLoop {
    #[inline(always)]
    fn attacks(self, square: Square, piece: usize, occupied: Bitboard) -> Bitboard {
        let Entry { mut mask, start } = SQUARES[at(square)][piece];
        let mut index = 0;
        let mut place = 1;
        while mask != 0 {
            if occupied.0 & mask & mask.wrapping_neg() != 0 {
                index |= place;
            }
            place <<= 1;
            mask &= mask - 1;
        }
        Bitboard(ATTACKS[start + index])
    }
}

/// For each step the bits that move down by 1, 2, 4, … 32 places.
type Moves = [u64; 6];

/// Rook and bishop of each square.
static MOVES: [[Moves; 2]; 64] = {
    let mut table = [[[0; 6]; 2]; 64];
    let mut i = 0;
    while i < 64 {
        let mut piece = 0;
        while piece < 2 {
            table[i][piece] = moves(SQUARES[i][piece].mask);
            piece += 1;
        }
        i += 1;
    }
    table
};

const fn moves(mask: u64) -> Moves {
    let mut moves = [0; 6];
    let mut left = mask;
    while left != 0 {
        let from = left.trailing_zeros();
        let way = from - (mask & ((1 << from) - 1)).count_ones();
        // The bit has already moved by the lower powers of two when it comes to a step.
        let mut at = from;
        let mut step = 0;
        while step < 6 {
            if way >> step & 1 == 1 {
                moves[step] |= 1 << at;
                at -= 1 << step;
            }
            step += 1;
        }
        left &= left - 1;
    }
    moves
}

impl PextNetwork {
    #[inline(always)]
    fn attacks(self, square: Square, piece: usize, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let Entry { mask, start } = SQUARES[square][piece];
        let mut bits = occupied.0 & mask;
        for (step, moving) in MOVES[square][piece].into_iter().enumerate() {
            let moving = bits & moving;
            bits = bits ^ moving | moving >> (1 << step);
        }
        Bitboard(ATTACKS[start + bits as usize])
    }
}

impl Sliders for PextLoop {
    const NAME: &'static str = "pext-emulated-loop";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of::<[u64; ENTRIES]>() + size_of_val(&SQUARES);

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.attacks(square, 0, occupied)
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.attacks(square, 1, occupied)
    }
}

impl Sliders for PextNetwork {
    const NAME: &'static str = "pext-emulated-network";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of::<[u64; ENTRIES]>() + size_of_val(&SQUARES) + size_of_val(&MOVES);

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.attacks(square, 0, occupied)
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.attacks(square, 1, occupied)
    }
}
