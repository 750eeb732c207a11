//! Magic bitboards: a multiplication maps the relevant occupancy to a table index in the top bits of a word.
//!
//! For each square there is a number whose product with the masked occupancy has, in its top bits, an index that is
//! the same for two occupancies only if their attacks are. The numbers were found by random search
//! (`magic_numbers.rs`). The versions differ in the layout of the tables:
//!
//! | version | index | table |
//! | --- | --- | --- |
//! | plain | shift by 52 (rook) or 55 (bishop) | `[64][4096]` and `[64][512]`: simple, mostly empty |
//! | fancy | shift by the bits that the square needs | one after the other, without gaps |
//! | black | the same, the irrelevant squares *set* instead of cleared | the same |
//! | fixed shift | as plain | all squares overlap in one table, wherever entries agree or are unused |

use super::magic_numbers::{
    BISHOP_BLACK, BISHOP_FANCY, BISHOP_FIXED, FIXED_ENTRIES, ROOK_BLACK, ROOK_FANCY, ROOK_FIXED,
};
use super::pext::{ATTACKS, ENTRIES, SQUARES};
use super::relevant_squares::subsets;
use super::{Kind, Sliders, at};
use crate::chess::{Bitboard, Square};
use std::sync::LazyLock;

/// Tables of one size for all squares.
#[derive(Clone, Copy, Debug)]
pub struct PlainMagic(&'static Plain);

/// Tables of the size that each square needs.
#[derive(Clone, Copy, Debug)]
pub struct FancyMagic(&'static [u64; ENTRIES]);

/// As fancy, with the irrelevant squares set.
#[derive(Clone, Copy, Debug)]
pub struct BlackMagic(&'static [u64; ENTRIES]);

/// One shift for all squares, and one table in which the squares overlap.
#[derive(Clone, Copy, Debug)]
pub struct FixedShiftMagic(&'static [u64; FIXED_ENTRIES]);

const ROOK_SHIFT: u32 = 64 - 12;
const BISHOP_SHIFT: u32 = 64 - 9;

#[derive(Debug)]
struct Plain {
    rook: Box<[[u64; 1 << 12]; 64]>,
    bishop: Box<[[u64; 1 << 9]; 64]>,
}

/// A square's mask and number.
#[derive(Clone, Copy)]
struct Fixed {
    mask: u64,
    magic: u64,
    start: usize,
}

static FIXED: [[Fixed; 2]; 64] = {
    let none = Fixed { mask: 0, magic: 0, start: 0 };
    let mut table = [[none; 2]; 64];
    let mut i = 0;
    while i < 64 {
        let numbers = [ROOK_FIXED[i], BISHOP_FIXED[i]];
        let mut piece = 0;
        while piece < 2 {
            table[i][piece] =
                Fixed { mask: SQUARES[i][piece].mask, magic: numbers[piece].0, start: numbers[piece].1 as usize };
            piece += 1;
        }
        i += 1;
    }
    table
};

/// A square's mask and number, with the shift that leaves an index of as many bits as the mask has.
#[derive(Clone, Copy)]
struct Variable {
    /// The relevant squares (fancy) or the others (black).
    mask: u64,
    magic: u64,
    start: u32,
    shift: u32,
}

static FANCY: [[Variable; 2]; 64] = variable([&ROOK_FANCY, &BISHOP_FANCY], false);
static BLACK: [[Variable; 2]; 64] = variable([&ROOK_BLACK, &BISHOP_BLACK], true);

const fn variable(magics: [&[u64; 64]; 2], complement: bool) -> [[Variable; 2]; 64] {
    let none = Variable { mask: 0, magic: 0, start: 0, shift: 0 };
    let mut table = [[none; 2]; 64];
    let mut i = 0;
    while i < 64 {
        let mut piece = 0;
        while piece < 2 {
            let mask = SQUARES[i][piece].mask;
            table[i][piece] = Variable {
                mask: if complement { !mask } else { mask },
                magic: magics[piece][i],
                start: SQUARES[i][piece].start as u32,
                shift: 64 - mask.count_ones(),
            };
            piece += 1;
        }
        i += 1;
    }
    table
}

/// A boxed table, filled with `zero`, that is never on the stack.
fn filled<T: Clone, const N: usize>(zero: T) -> Box<[T; N]> {
    match vec![zero; N].into_boxed_slice().try_into() {
        Ok(table) => table,
        Err(_) => unreachable!("it has the length N"),
    }
}

/// Calls `visit` with each square, piece and relevant occupancy, and the attacks.
fn each_case(mut visit: impl FnMut(usize, usize, u64, u64)) {
    for (square, pieces) in SQUARES.iter().enumerate() {
        for (piece, entry) in pieces.iter().enumerate() {
            for (occupied, attacks) in subsets(Bitboard(entry.mask)).zip(&ATTACKS[entry.start..]) {
                visit(square, piece, occupied.0, *attacks);
            }
        }
    }
}

static PLAIN_TABLE: LazyLock<Plain> = LazyLock::new(|| {
    let mut table = Plain { rook: filled([0; 1 << 12]), bishop: filled([0; 1 << 9]) };
    each_case(|square, piece, occupied, attacks| {
        let product = occupied.wrapping_mul(FIXED[square][piece].magic);
        if piece == 0 {
            table.rook[square][(product >> ROOK_SHIFT) as usize] = attacks;
        } else {
            table.bishop[square][(product >> BISHOP_SHIFT) as usize] = attacks;
        }
    });
    table
});
static FANCY_TABLE: LazyLock<Box<[u64; ENTRIES]>> = LazyLock::new(|| {
    let mut table = filled::<u64, ENTRIES>(0);
    each_case(|square, piece, occupied, attacks| {
        table[FANCY[square][piece].index_fancy(occupied)] = attacks;
    });
    table
});
static BLACK_TABLE: LazyLock<Box<[u64; ENTRIES]>> = LazyLock::new(|| {
    let mut table = filled::<u64, ENTRIES>(0);
    each_case(|square, piece, occupied, attacks| {
        table[BLACK[square][piece].index_black(occupied)] = attacks;
    });
    table
});
static FIXED_TABLE: LazyLock<Box<[u64; FIXED_ENTRIES]>> = LazyLock::new(|| {
    let mut table = filled::<u64, FIXED_ENTRIES>(0);
    each_case(|square, piece, occupied, attacks| {
        let shift = [ROOK_SHIFT, BISHOP_SHIFT][piece];
        table[FIXED[square][piece].index(occupied, shift)] = attacks;
    });
    table
});

impl Variable {
    #[inline(always)]
    fn index_fancy(self, occupied: u64) -> usize {
        self.start as usize + ((occupied & self.mask).wrapping_mul(self.magic) >> self.shift) as usize
    }
    #[inline(always)]
    fn index_black(self, occupied: u64) -> usize {
        self.start as usize + ((occupied | self.mask).wrapping_mul(self.magic) >> self.shift) as usize
    }
}

impl Fixed {
    #[inline(always)]
    fn index(self, occupied: u64, shift: u32) -> usize {
        self.start + ((occupied & self.mask).wrapping_mul(self.magic) >> shift) as usize
    }
}

impl Sliders for PlainMagic {
    const NAME: &'static str = "magic-plain";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize =
        size_of::<[[u64; 1 << 12]; 64]>() + size_of::<[[u64; 1 << 9]; 64]>() + size_of_val(&FIXED);

    fn detect() -> Option<Self> {
        Some(Self(&PLAIN_TABLE))
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let Fixed { mask, magic, .. } = FIXED[square][0];
        let index = (occupied.0 & mask).wrapping_mul(magic) >> ROOK_SHIFT;
        Bitboard(self.0.rook[square][index as usize])
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let Fixed { mask, magic, .. } = FIXED[square][1];
        let index = (occupied.0 & mask).wrapping_mul(magic) >> BISHOP_SHIFT;
        Bitboard(self.0.bishop[square][index as usize])
    }
}

macro_rules! variable_shift {
    ($type:ident, $name:literal, $squares:ident, $table:ident, $index:ident) => {
        impl Sliders for $type {
            const NAME: &'static str = $name;
            const KIND: Kind = Kind::Portable;
            const TABLE_BYTES: usize = size_of::<[u64; ENTRIES]>() + size_of_val(&$squares);

            fn detect() -> Option<Self> {
                Some(Self(&$table))
            }
            #[inline(always)]
            fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
                Bitboard(self.0[$squares[at(square)][0].$index(occupied.0)])
            }
            #[inline(always)]
            fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
                Bitboard(self.0[$squares[at(square)][1].$index(occupied.0)])
            }
        }
    };
}
variable_shift!(FancyMagic, "magic-fancy", FANCY, FANCY_TABLE, index_fancy);
variable_shift!(BlackMagic, "magic-black", BLACK, BLACK_TABLE, index_black);

impl Sliders for FixedShiftMagic {
    const NAME: &'static str = "magic-fixed-shift";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of::<[u64; FIXED_ENTRIES]>() + size_of_val(&FIXED);

    fn detect() -> Option<Self> {
        Some(Self(&FIXED_TABLE))
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        Bitboard(self.0[FIXED[at(square)][0].index(occupied.0, ROOK_SHIFT)])
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        Bitboard(self.0[FIXED[at(square)][1].index(occupied.0, BISHOP_SHIFT)])
    }
}
