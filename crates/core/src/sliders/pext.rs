//! PEXT: one instruction gathers the relevant occupancy into an index.
//!
//! A table holds, square after square, the attacks for all relevant occupancies in ascending order, which is
//! the order in which PEXT numbers them: no multiplication, no magic numbers, no gaps.
//!
//! The *compressed* version stores sixteen bits per entry instead of 64: a slider attacks at most 14 squares of
//! those it reaches on the empty board, so PDEP can spread a small number over them. This takes a quarter of the memory
//! and three more cycles.

use super::{Kind, Slider, Sliders, at};
use crate::chess::{Bitboard, Square};
use crate::simd::bmi2::Bmi2;
use std::sync::LazyLock;

/// Attacks from the table.
#[derive(Clone, Copy, Debug)]
pub struct Pext(Bmi2);

/// Attacks from a table of a quarter of the size.
#[derive(Clone, Copy, Debug)]
pub struct PextCompressed {
    bmi2: Bmi2,
    table: &'static [u16; ENTRIES],
}

/// Occupancies of all squares, rook and bishop together.
pub(super) const ENTRIES: usize = 102_400 + 5_248;

/// The table data of a square for one of the two pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The relevant occupancy.
    pub(super) mask: u64,
    /// Where its attacks begin in [`ATTACKS`].
    pub(super) start: usize,
}

/// Rook and bishop of each square.
pub(super) static SQUARES: [[Entry; 2]; 64] = squares();

const fn squares() -> [[Entry; 2]; 64] {
    let mut table = [[Entry { mask: 0, start: 0 }; 2]; 64];
    let mut start = 0;
    let mut piece = 0;
    while piece < 2 {
        let mut i = 0;
        while i < 64 {
            let mask = Slider::ALL[piece].relevant(Square::new(i as u8)).0;
            table[i][piece] = Entry { mask, start };
            start += 1 << mask.count_ones();
            i += 1;
        }
        piece += 1;
    }
    assert!(start == ENTRIES);
    table
}

/// The attacks for each relevant occupancy in ascending order.
///
/// Numbers from 2^k to 2^(k + 1) - 1 are those below 2^k with one more blocker, the k-th relevant square.
/// A blocker hides the same squares whatever the others are, and two ray walks give the squares it hides. So each entry
/// is an earlier one minus these squares, and the compiler fills the table in a fraction of a second instead of ten
/// seconds with a ray walk for each entry.
pub(super) static ATTACKS: [u64; ENTRIES] = {
    let squares = squares();
    let mut table = [0; ENTRIES];
    let mut piece = 0;
    while piece < 2 {
        let mut i = 0;
        while i < 64 {
            let square = Square::new(i as u8);
            let slider = Slider::ALL[piece];
            let open = slider.attacks(square, Bitboard::EMPTY).0;
            let Entry { mask, start } = squares[i][piece];
            table[start] = open;
            let mut end = start + 1;
            let mut blockers = mask;
            while blockers != 0 {
                let blocker = Bitboard(blockers & blockers.wrapping_neg());
                let visible = slider.attacks(square, blocker).0;
                let mut from = start;
                let stop = end;
                while from < stop {
                    table[end] = table[from] & visible;
                    from += 1;
                    end += 1;
                }
                blockers &= blockers - 1;
            }
            i += 1;
        }
        piece += 1;
    }
    table
};

impl Pext {
    #[inline(always)]
    fn attacks(self, square: Square, piece: usize, occupied: Bitboard) -> Bitboard {
        let Entry { mask, start } = SQUARES[at(square)][piece];
        Bitboard(ATTACKS[start + self.0.pext(occupied.0, mask) as usize])
    }
}

impl Sliders for Pext {
    const NAME: &'static str = "pext";
    const KIND: Kind = Kind::Intrinsic;
    const NEEDS: &'static [&'static str] = Bmi2::FEATURES;
    const TABLE_BYTES: usize = size_of_val(&ATTACKS) + size_of_val(&SQUARES);

    fn detect() -> Option<Self> {
        Bmi2::detect().map(Self)
    }
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        self.0.enter(work)
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

/// The attacks from a square on the empty board, for rook and bishop.
static OPEN: [[u64; 2]; 64] = {
    let mut table = [[0; 2]; 64];
    let mut i = 0;
    while i < 64 {
        let square = Square::new(i as u8);
        table[i] = [Slider::Rook.attacks(square, Bitboard::EMPTY).0, Slider::Bishop.attacks(square, Bitboard::EMPTY).0];
        i += 1;
    }
    table
};

static COMPRESSED: LazyLock<Option<Box<[u16; ENTRIES]>>> = LazyLock::new(|| {
    let bmi2 = Bmi2::detect()?;
    let mut table = vec![0; ENTRIES].into_boxed_slice();
    for (square, pieces) in SQUARES.iter().enumerate() {
        for (piece, entry) in pieces.iter().enumerate() {
            let range = entry.start..entry.start + (1 << entry.mask.count_ones());
            for (short, long) in table[range.clone()].iter_mut().zip(&ATTACKS[range]) {
                *short = bmi2.pext(*long, OPEN[square][piece]) as u16;
            }
        }
    }
    table.try_into().ok()
});

impl PextCompressed {
    #[inline(always)]
    fn attacks(self, square: Square, piece: usize, occupied: Bitboard) -> Bitboard {
        let square = at(square);
        let Entry { mask, start } = SQUARES[square][piece];
        let short = self.table[start + self.bmi2.pext(occupied.0, mask) as usize];
        Bitboard(self.bmi2.pdep(short.into(), OPEN[square][piece]))
    }
}

impl Sliders for PextCompressed {
    const NAME: &'static str = "pext-compressed";
    const KIND: Kind = Kind::Intrinsic;
    const NEEDS: &'static [&'static str] = Bmi2::FEATURES;
    const TABLE_BYTES: usize = size_of::<[u16; ENTRIES]>() + size_of_val(&SQUARES) + size_of_val(&OPEN);

    fn detect() -> Option<Self> {
        Some(Self { bmi2: Bmi2::detect()?, table: COMPRESSED.as_deref()? })
    }
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        self.bmi2.enter(work)
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
