//! Kindergarten bitboards: the first-rank idea with results stored as filled files.
//!
//! A diagonal or rank is collapsed to six bits by one multiplication, and the table holds the attacked files
//! filled over all ranks, so one `&` with the line gives the set. Files have a table for the a-file.

use super::first_rank::{A_FILE, DIAGONALS};
use super::ray_walk;
use super::{Kind, Sliders, at};
use crate::chess::{Bitboard, File, Rank, Square};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Kindergarten;

/// The attacked files, filled over all ranks, by `[occupancy of b to g][file]`.
static FILLED: [[u64; 8]; 64] = {
    let mut table = [[0; 8]; 64];
    let mut inner = 0;
    while inner < 64 {
        let mut file = 0;
        while file < 8 {
            let square = Square::at(File::new(file), Rank::new(0));
            let attacks = ray_walk::rook(square, Bitboard(inner << 1)).0 & 0xFF;
            table[inner as usize][file as usize] = attacks * A_FILE;
            file += 1;
        }
        inner += 1;
    }
    table
};

/// Attacks on the a-file, by `[occupancy of ranks 7 to 2, the seventh lowest][rank]`.
static A_FILE_ATTACKS: [[u64; 8]; 64] = {
    let mut table = [[0; 8]; 64];
    let mut inner = 0;
    while inner < 64 {
        let mut occupied = 0u64;
        let mut bit = 0;
        while bit < 6 {
            occupied |= (inner >> bit & 1) << (8 * (6 - bit));
            bit += 1;
        }
        let mut rank = 0;
        while rank < 8 {
            let square = Square::at(File::new(0), Rank::new(rank));
            let attacks = ray_walk::rook(square, Bitboard(occupied)).0 & A_FILE;
            table[inner as usize][rank as usize] = attacks;
            rank += 1;
        }
        inner += 1;
    }
    table
};

#[inline(always)]
fn along_diagonal(square: usize, occupied: u64, line: u64) -> u64 {
    let inner = (occupied & line).wrapping_mul(A_FILE << 1) >> 58;
    FILLED[inner as usize][square & 7] & line
}

impl Sliders for Kindergarten {
    const NAME: &'static str = "kindergarten";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of_val(&FILLED) + size_of_val(&A_FILE_ATTACKS) + size_of_val(&DIAGONALS);

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let (file, rank) = (square & 7, square >> 3);
        let along_rank = {
            let inner = occupied.0 >> (8 * rank) >> 1 & 63;
            FILLED[inner as usize][file] & 0xFF << (8 * rank)
        };
        let along_file = {
            let a_file = occupied.0 >> file & A_FILE;
            let inner = a_file.wrapping_mul(0x8040_2010_0804_0201) >> 57 & 63;
            A_FILE_ATTACKS[inner as usize][rank] << file
        };
        Bitboard(along_rank | along_file)
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let [diagonal, antidiagonal] = DIAGONALS[square];
        Bitboard(along_diagonal(square, occupied.0, diagonal) | along_diagonal(square, occupied.0, antidiagonal))
    }
}
