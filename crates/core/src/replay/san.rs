//! Parses moves in the form of the standard: piece, target, promotion, and possible squares of origin.
//!
//! A word of at most eight bytes is read without a loop: the target is at its end, and each byte before it
//! narrows the set of squares that the piece may come from. Other spellings are left to [`crate::chess::san`].

use super::tables::{ALL, CAPTURES, PAWN, PIECES};
use crate::chess::CastlingSide;
use crate::kernels::replay::Order;
use crate::text::eight_bytes;

/// The origin squares that a byte after the first one allows; empty if the byte is not allowed there.
static ORIGIN: [u64; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 8 {
        table[b'a' as usize + index] = 0x0101_0101_0101_0101 << index;
        table[b'1' as usize + index] = 0xFF << (8 * index);
        index += 1;
    }
    table[b'x' as usize] = ALL;
    table
};

/// The origin squares that the first byte allows: a file for a pawn, all for a piece, none if a move cannot begin with
/// this byte.
static FIRST: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match CODE[byte] as usize {
            0 => 0,
            PAWN => ORIGIN[byte],
            _ => ALL,
        };
        byte += 1;
    }
    table
};

/// The piece code for the first letter of a SAN move, or 0.
pub(super) static CODE: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 8 {
        table[b'a' as usize + index] = PAWN as u8;
        index += 1;
    }
    let pieces = b"NBRQK";
    let mut index = 0;
    while index < pieces.len() {
        table[pieces[index] as usize] = index as u8 + 2;
        index += 1;
    }
    table
};

/// A parsed SAN move.
#[derive(Clone, Copy, Debug)]
pub struct San {
    pub(super) code: u8,
    pub(super) captures: bool,
    /// The row of [`REACH`](super::tables::REACH) for White.
    pub(super) row: u8,
    pub(super) to: u8,
    /// The code of the piece on the target: the same, or that of the promotion piece.
    pub(super) arrives: u8,
    /// The bits of the promotion, as in the bits of a move.
    pub(super) kind: u16,
    /// The side to which the move castles, if it does. Then the other values mean nothing, and cannot be played.
    pub castles: Option<CastlingSide>,
    /// Squares that the text allows as origin; none if a byte is out of place.
    pub(super) origin: u64,
}

/// Whether a piece of this code is promoted on a rank from 0.
#[inline(always)]
pub(super) const fn is_promoted(code: u8, rank: u8) -> bool {
    code == PAWN as u8 && matches!(rank, 0 | 7)
}

impl San {
    /// Not a move; it cannot be played.
    pub const NONE: Self = Self::of_piece(0, false);

    /// A move from nowhere to a1.
    #[inline(always)]
    pub const fn of_piece(code: u8, captures: bool) -> Self {
        Self {
            code,
            captures,
            row: match code as usize {
                PAWN => CAPTURES as u8 * captures as u8,
                _ => PIECES as u8 + code,
            },
            to: 0,
            arrives: code,
            kind: 0,
            castles: None,
            origin: 0,
        }
    }

    /// Parses a word of a text as a move, castling included; returns [`Self::NONE`] if it is not standard SAN.
    #[inline(always)]
    pub fn of_word(bytes: &[u8], start: usize, end: usize) -> Self {
        const SHORT: u64 = u64::from_le_bytes(*b"\0\0\0\0\0O-O");
        const LONG: u64 = u64::from_le_bytes(*b"\0\0\0O-O-O");
        let len = end - start;
        if !(2..=8).contains(&len) {
            return Self::NONE;
        }
        let word = eight_bytes(bytes, start);
        let castling = |side| Self { castles: Some(side), ..Self::NONE };
        match Self::decode(word, len) {
            Some(san) => san,
            None if len == 3 && word << 40 == SHORT => castling(CastlingSide::King),
            None if len == 5 && word << 24 == LONG => castling(CastlingSide::Queen),
            None => Self::NONE,
        }
    }

    /// The move that an order says, which is not castling.
    pub fn of_order(order: Order) -> Self {
        Self {
            to: order.to(),
            arrives: order.arrives(),
            kind: order.kind(),
            origin: order.origin,
            ..Self::of_piece(order.code(), order.bits & Order::CAPTURES != 0)
        }
    }

    /// The move of the piece with a code from a square to another; a pawn becomes the piece with the code `promotion`,
    /// unless that is 0.
    #[inline(always)]
    pub const fn of_squares(code: u8, [from, to]: [u8; 2], captures: bool, promotion: u8) -> Self {
        let mut san = Self { to, origin: 1 << from, ..Self::of_piece(code, captures) };
        if promotion != 0 {
            san.promote(promotion);
        }
        san
    }

    /// The order that says this move, which is not castling.
    #[inline(always)]
    pub fn order(self) -> Order {
        let captures = if self.captures { Order::CAPTURES } else { 0 };
        let codes = u64::from(self.code) << Order::CODE | u64::from(self.arrives) << Order::ARRIVES;
        let mv = u64::from(self.kind) | u64::from(self.to) << 6;
        let bits = u64::from(self.to) | codes | captures | Order::kinds(self.code) | mv << Order::MOVE;
        Order { origin: self.origin, bits }
    }

    /// Makes the move a promotion to the piece with this code.
    pub const fn promote(&mut self, code: u8) {
        self.arrives = code;
        self.kind = 1 << 14 | (code as u16 - 2) << 12;
    }

    /// Parses the first `len` bytes of `word` (at least 2, at most 8), without check and annotation
    /// signs; `None`, or no origin, if they are not standard SAN, or castling.
    #[inline(always)]
    pub fn decode(word: u64, mut len: usize) -> Option<Self> {
        let mut promotion = 0;
        let mut target = word >> ((8 * (len - 2)) & 63);
        // Digits are below `A`, promotion pieces are not.
        if (target >> 8) as u8 >= b'A' {
            promotion = CODE[(target >> 8) as usize & 0xFF];
            if len < 4 || target as u8 != b'=' || !(2..=5).contains(&promotion) {
                return None;
            }
            len -= 2;
            target = word >> ((8 * (len - 2)) & 63);
        }
        let file = (target as u8).wrapping_sub(b'a');
        let rank = ((target >> 8) as u8).wrapping_sub(b'1');
        let first = word as u8;
        let code = CODE[first as usize];
        let head = len - 2;
        let before_target = (word << 8 >> ((8 * head) & 63)) as u8;
        let captures = before_target == b'x';
        // Before the target a pawn has a file and an `x`, or nothing.
        let odd_pawn = (code == PAWN as u8) & (head != 2 * usize::from(captures));
        let odd_promotion = is_promoted(code, rank) != (promotion != 0);
        if (file | rank > 7) | odd_pawn | odd_promotion {
            return None;
        }
        let second = if head >= 2 { (word >> 8) as u8 } else { b'x' };
        let mut origin = FIRST[first as usize] & ORIGIN[second as usize];
        if head >= 3 {
            // File and rank, or one of them and an `x`, or all three; letters are above digits.
            let third = (word >> 16) as u8;
            let in_order = match head {
                3 if captures => second != b'x',
                3 => second >= b'a' && second != b'x' && third < b'a',
                4 => captures && second >= b'a' && second != b'x' && third < b'a',
                _ => false,
            };
            if !in_order {
                return None;
            }
            origin &= ORIGIN[third as usize];
        }
        let mut san = Self { to: rank * 8 + file, origin, ..Self::of_piece(code, captures) };
        if promotion != 0 {
            san.promote(promotion);
        }
        Some(san)
    }
}
