//! The lowest and the highest square of a set: without and with hardware support.
//!
//! The De Bruijn scan isolates one bit, 2^n, and multiplies by a number whose 64 windows of six bits are all
//! different. The product is that number shifted by n, so its top six bits give n through a table of 64
//! bytes. [`Bitboard::first`] and [`Bitboard::last`] do the same with CPU instructions.

use super::bitboard::Bitboard;
use super::square::Square;

/// 64 bits, read as a ring, in which every pattern of six bits occurs once; the first six are zero, so
/// shifting in zeros is the same as rotating the ring.
const DE_BRUIJN: u64 = {
    // Always append a one, unless that window already occurs: the "prefer one" rule.
    let mut seen = 1u64;
    let mut window = 0u64;
    let mut ring = 0u64;
    let mut length = 6;
    while length < 64 {
        let with_one = (window << 1 | 1) & 63;
        window = if seen >> with_one & 1 == 0 { with_one } else { (window << 1) & 63 };
        seen |= 1 << window;
        ring = ring << 1 | (window & 1);
        length += 1;
    }
    ring
};

static INDEX: [u8; 64] = {
    let mut table = [0; 64];
    let mut n = 0;
    while n < 64 {
        table[((DE_BRUIJN << n) >> 58) as usize] = n;
        n += 1;
    }
    table
};

/// The number of the only set bit.
#[inline(always)]
fn index(single: u64) -> Option<Square> {
    Some(Square::new(INDEX[(single.wrapping_mul(DE_BRUIJN) >> 58) as usize] & 63))
}

/// The square with the lowest number, by De Bruijn multiplication.
#[inline(always)]
pub(crate) fn forward_de_bruijn(set: Bitboard) -> Option<Square> {
    if set.is_empty() { None } else { index(set.0 & set.0.wrapping_neg()) }
}

/// The square with the highest number, by filling downwards and De Bruijn multiplication.
#[inline(always)]
pub(crate) fn reverse_de_bruijn(set: Bitboard) -> Option<Square> {
    if set.is_empty() {
        return None;
    }
    let mut filled = set.0;
    filled |= filled >> 1;
    filled |= filled >> 2;
    filled |= filled >> 4;
    filled |= filled >> 8;
    filled |= filled >> 16;
    filled |= filled >> 32;
    index(filled ^ filled >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_occurs_once() {
        let windows = (0..64).fold(0u64, |seen, n| seen | 1 << ((DE_BRUIJN << n) >> 58));
        assert_eq!(windows, !0);
    }

    #[test]
    fn scans_agree() {
        assert_eq!(forward_de_bruijn(Bitboard::EMPTY), None);
        assert_eq!(reverse_de_bruijn(Bitboard::EMPTY), None);
        assert_eq!(Bitboard::EMPTY.first(), None);
        assert_eq!(Bitboard::EMPTY.last(), None);
        // Every lowest with every highest bit; between them none, all, and some bits.
        for low in 0..64u32 {
            for high in low..64 {
                let ends = 1u64 << low | 1 << high;
                let inside = (1u64 << high) - (1 << low);
                for set in [ends, ends | inside, ends | inside & 0x9249_2492_4924_9249] {
                    let set = Bitboard(set);
                    let (first, last) = (Square::try_new(low as u8), Square::try_new(high as u8));
                    assert_eq!(forward_de_bruijn(set), first);
                    assert_eq!(reverse_de_bruijn(set), last);
                    assert_eq!((set.first(), set.last()), (first, last));
                }
            }
        }
    }
}
