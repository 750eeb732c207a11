//! One lane in a plain `u64`: the portable tier. No intrinsics, no CPU features.

use super::{FIRST_COLUMN, Lanes, LinesThrough, Simd, sealed};

/// The token of portable code; every CPU has it.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

impl sealed::Sealed for Scalar {}

impl Simd for Scalar {
    type Lanes = u64;
    const WIDTH: usize = 1;
    const FEATURES: &'static [&'static str] = &[];

    fn detect() -> Option<Self> {
        Some(Self)
    }
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
    #[inline(always)]
    fn splat(self, bits: u64) -> u64 {
        bits
    }
    #[inline(always)]
    fn load(self, from: &[u64; 8], at: usize) -> u64 {
        from[at]
    }
    #[inline(always)]
    fn store(self, lanes: u64, to: &mut [u64; 8], at: usize) {
        to[at] = lanes;
    }
    #[inline(always)]
    fn store_weighted_counts<const N: usize>(
        self,
        base: u64,
        planes: [u64; N],
        weights: [u64; N],
        to: &mut [u64; 8],
        at: usize,
    ) {
        let mut sum = base;
        for (plane, weight) in planes.into_iter().zip(weights) {
            sum = sum.wrapping_add(u64::from(plane.count_ones()).wrapping_mul(weight));
        }
        to[at] = sum;
    }
}

/// The lines through each bit: column, diagonal, antidiagonal.
static LINES: [[u64; 3]; 64] = {
    let mut lines = [[0; 3]; 64];
    let mut bit = 0;
    while bit < 64 {
        let (row, column) = (bit / 8, bit % 8);
        let mut other = 0;
        while other < 64 {
            let (other_row, other_column) = (other / 8, other % 8);
            if other_column == column {
                lines[bit][0] |= 1 << other;
            }
            if other_row + column == row + other_column {
                lines[bit][1] |= 1 << other;
            }
            if other_row + other_column == row + column {
                lines[bit][2] |= 1 << other;
            }
            other += 1;
        }
        bit += 1;
    }
    lines
};

impl Lanes for u64 {
    #[inline(always)]
    fn splat(self, bits: u64) -> Self {
        bits
    }
    #[inline(always)]
    fn shl<const N: u32>(self) -> Self {
        self << N
    }
    #[inline(always)]
    fn shr<const N: u32>(self) -> Self {
        self >> N
    }
    #[inline(always)]
    fn shl_by(self, counts: Self) -> Self {
        self << (counts & 63)
    }
    #[inline(always)]
    fn shr_by(self, counts: Self) -> Self {
        self >> (counts & 63)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn sweep_up_in_bytes(self, from: Self) -> Self {
        // A guard in the lowest bit of each byte stops borrows from the byte below it.
        let guarded = self | FIRST_COLUMN;
        (guarded.wrapping_sub(from << 1) ^ guarded) & !FIRST_COLUMN
    }
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        u64::swap_bytes(self)
    }
    #[inline(always)]
    fn swap_bytes_where(self, mask: Self) -> Self {
        if mask == 0 { self } else { u64::swap_bytes(self) }
    }
    #[inline(always)]
    fn nonzero(self) -> Self {
        u64::from(self != 0).wrapping_neg()
    }
    #[inline(always)]
    fn if_zero(self, then: Self, otherwise: Self) -> Self {
        if self == 0 { then } else { otherwise }
    }
    #[inline(always)]
    fn any(self) -> bool {
        self != 0
    }
    #[inline(always)]
    fn nonzero_bits(self) -> u64 {
        u64::from(self != 0)
    }
    #[inline(always)]
    fn multiply_halves(self, other: Self) -> Self {
        (self & 0xFFFF_FFFF) * (other & 0xFFFF_FFFF)
    }
    #[inline(always)]
    fn fold_product(self, other: Self) -> Self {
        let product = u128::from(self) * u128::from(other);
        product as u64 ^ (product >> 64) as u64
    }
    #[inline(always)]
    fn count_ones(self) -> Self {
        u64::from(u64::count_ones(self))
    }
    #[inline(always)]
    fn choose(self, then: Self, otherwise: Self) -> Self {
        otherwise ^ (self & (then ^ otherwise))
    }
    #[inline(always)]
    fn lines_through_bit(self) -> LinesThrough<Self> {
        let [column, diagonal, antidiagonal] = LINES[self.trailing_zeros() as usize % 64];
        LinesThrough { column, diagonal, antidiagonal }
    }
}
