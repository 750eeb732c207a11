//! The first-rank table: rook attacks on one rank, for each file and each occupancy of the six inner squares.
//!
//! Indexed `[occupancy6][file]` it has 512 bytes, and all four lines can be mapped to it. A rank is shifted
//! down; a diagonal is collapsed onto one rank by multiplying with the a-file, and its result spread out by
//! the same multiplication; a file is turned into a rank and back by multiplying with the main diagonal,
//! which reverses it, so the mirror of the rank number is the index.
//!
//! ```text
//! a-file x main diagonal, top byte = the file, eighth rank first:
//!
//! h . . . . . . .       h g f e d c b a      every partial product lands on a square of its own,
//! g . . . . . . .       g . . . . . . .      so there are no carries
//! f . . . . . . .       f . . . . . . .
//! : . . . . . . .       :
//! ```

use super::ray_walk;
use super::{Kind, Sliders, at};
use crate::chess::geometry::{Line, line_without_square_formula};
use crate::chess::{Bitboard, File, Rank, Square};

/// The algorithm: rook and bishop by the table of 512 bytes.
#[derive(Clone, Copy, Debug)]
pub struct FirstRank;

pub(super) const A_FILE: u64 = 0x0101_0101_0101_0101;
const H_FILE: u64 = A_FILE << 7;
const MAIN_DIAGONAL: u64 = 0x8040_2010_0804_0201;

/// Attacked squares of a rank as a byte, by `[occupancy of b to g][file]`.
pub(super) static FIRST_RANK: [[u8; 8]; 64] = {
    let mut table = [[0; 8]; 64];
    let mut inner = 0;
    while inner < 64 {
        let mut file = 0;
        while file < 8 {
            let square = Square::at(File::new(file), Rank::new(0));
            let attacks = ray_walk::rook(square, Bitboard(inner << 1));
            table[inner as usize][file as usize] = attacks.0 as u8;
            file += 1;
        }
        inner += 1;
    }
    table
};

/// Attacks along the rank.
#[inline(always)]
pub(super) fn along_rank(square: usize, occupied: u64) -> u64 {
    let shift = square & 56;
    let inner = (occupied >> shift >> 1) & 63;
    u64::from(FIRST_RANK[inner as usize][square & 7]) << shift
}

#[inline(always)]
fn along_file(square: usize, occupied: u64) -> u64 {
    let (file, rank) = (square & 7, square >> 3);
    let as_rank = (occupied >> file & A_FILE).wrapping_mul(MAIN_DIAGONAL);
    let inner = as_rank >> 57 & 63;
    let attacks = u64::from(FIRST_RANK[inner as usize][7 - rank]);
    (attacks.wrapping_mul(MAIN_DIAGONAL) & H_FILE) >> (7 - file)
}

#[inline(always)]
fn along_diagonal(square: usize, occupied: u64, line: u64) -> u64 {
    // With the b-file the six inner files end up in the top bits.
    let inner = (occupied & line).wrapping_mul(A_FILE << 1) >> 58;
    u64::from(FIRST_RANK[inner as usize][square & 7]).wrapping_mul(A_FILE) & line
}

/// Both diagonals of each square, without the square.
pub(super) static DIAGONALS: [[u64; 2]; 64] = {
    let mut table = [[0; 2]; 64];
    let mut i = 0;
    while i < 64 {
        let square = Square::new(i as u8);
        table[i] = [
            line_without_square_formula(square, Line::Diagonal).0,
            line_without_square_formula(square, Line::Antidiagonal).0,
        ];
        i += 1;
    }
    table
};

impl Sliders for FirstRank {
    const NAME: &'static str = "first-rank";
    const KIND: Kind = Kind::Portable;
    const TABLE_BYTES: usize = size_of_val(&FIRST_RANK) + size_of_val(&DIAGONALS);

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        Bitboard(along_rank(square, occupied.0) | along_file(square, occupied.0))
    }
    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let [diagonal, antidiagonal] = DIAGONALS[square];
        Bitboard(along_diagonal(square, occupied.0, diagonal) | along_diagonal(square, occupied.0, antidiagonal))
    }
}
