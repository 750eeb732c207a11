//! Hyperbola quintessence: `o ^ (o - 2s)` flips the bits from the slider up to its first blocker.
//!
//! On one line, subtracting the slider twice from the occupancy borrows through the empty squares up to the
//! first blocker, and the exclusive or keeps what changed. The same on the mirrored board gives the other
//! half of the line. Files and diagonals have one bit per rank, so swapping bytes mirrors them, cheaply;
//! a rank needs a table or a reversal of all bits. The line masks come from a table of 2 KiB, or from
//! formulas without any table. The three types are combinations of these choices.

use super::first_rank::{FIRST_RANK, along_rank};
use super::{Kind, Sliders, at};
use crate::chess::geometry::{Line, line_without_square_formula};
use crate::chess::{Bitboard, Square};

/// Ranks by the first-rank table.
#[derive(Clone, Copy, Debug)]
pub struct HyperbolaRankTable;

/// Ranks by reversing bits.
#[derive(Clone, Copy, Debug)]
pub struct HyperbolaBitReversal;

/// Ranks by reversing bits, masks by formula: no tables.
#[derive(Clone, Copy, Debug)]
pub struct HyperbolaFormula;

/// The four lines of each square, without the square, in the order of [`Line::ALL`].
pub(super) static LINES: [[u64; 4]; 64] = {
    let mut table = [[0; 4]; 64];
    let mut i = 0;
    while i < 64 {
        let mut line = 0;
        while line < 4 {
            table[i][line] = line_without_square_formula(Square::new(i as u8), Line::ALL[line]).0;
            line += 1;
        }
        i += 1;
    }
    table
};

/// The slider is not in `line`, so one subtraction is enough: `o - s` here is `o - 2s` with the slider.
#[inline(always)]
fn by_byte_swap(square: usize, occupied: u64, line: u64) -> u64 {
    let bit = 1u64 << square;
    let blockers = occupied & line;
    let up = blockers.wrapping_sub(bit);
    let down = blockers.swap_bytes().wrapping_sub(bit.swap_bytes()).swap_bytes();
    (up ^ down) & line
}

#[inline(always)]
fn by_bit_reversal(square: usize, occupied: u64, line: u64) -> u64 {
    let bit = 1u64 << square;
    let blockers = occupied & line;
    let up = blockers.wrapping_sub(bit);
    let down = blockers.reverse_bits().wrapping_sub(bit.reverse_bits()).reverse_bits();
    (up ^ down) & line
}

#[inline(always)]
fn bishop(square: usize, occupied: u64, diagonal: u64, antidiagonal: u64) -> Bitboard {
    Bitboard(by_byte_swap(square, occupied, diagonal) | by_byte_swap(square, occupied, antidiagonal))
}

impl Sliders for HyperbolaRankTable {
    const NAME: &'static str = "hyperbola-rank-table";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of_val(&LINES) + size_of_val(&FIRST_RANK);

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let [_, file, ..] = LINES[square];
        Bitboard(along_rank(square, occupied.0) | by_byte_swap(square, occupied.0, file))
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let [_, _, diagonal, antidiagonal] = LINES[square];
        bishop(square, occupied.0, diagonal, antidiagonal)
    }
}

impl Sliders for HyperbolaBitReversal {
    const NAME: &'static str = "hyperbola-bit-reversal";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of_val(&LINES);

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let [rank, file, ..] = LINES[square];
        Bitboard(by_bit_reversal(square, occupied.0, rank) | by_byte_swap(square, occupied.0, file))
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        HyperbolaRankTable.bishop(square, occupied)
    }
}

impl Sliders for HyperbolaFormula {
    const NAME: &'static str = "hyperbola-formula";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = 0;

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        let rank = line_without_square_formula(square, Line::Rank).0;
        let file = line_without_square_formula(square, Line::File).0;
        let square = at(square);
        Bitboard(by_bit_reversal(square, occupied.0, rank) | by_byte_swap(square, occupied.0, file))
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        let diagonal = line_without_square_formula(square, Line::Diagonal).0;
        let antidiagonal = line_without_square_formula(square, Line::Antidiagonal).0;
        bishop(at(square), occupied.0, diagonal, antidiagonal)
    }
}
