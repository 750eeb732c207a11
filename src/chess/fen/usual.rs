//! Reading of the usual form of lines, without a branch on any byte.
//!
//! The pieces are read by vectors. The other fields are words between blanks, whose places come from one comparison,
//! so that nothing depends on how long they are. Where anything differs, nothing is read: then [`super::read`] reads
//! byte by byte, and finds what is wrong.

use super::coded::{Coded, flipped};
use super::read::Cursor;
use crate::chess::piece::Color;
use crate::chess::square::Square;
use crate::cpu::pext_is_microcoded;
use crate::simd::bytes::equal;
use crate::simd::ranks::{self, RankText};
use std::sync::LazyLock;

impl Cursor<'_> {
    /// The pieces if they are well-formed; mostly, if they are.
    #[inline(always)]
    pub(super) fn board_by_vectors(&mut self) -> Option<Coded> {
        static RANKS: LazyLock<Option<RankText>> =
            LazyLock::new(|| RankText::detect().filter(|_| !pext_is_microcoded()));
        let ranks = (*RANKS)?;
        let rest = &self.text[self.at..];
        let board = match rest.first_chunk() {
            Some(window) => ranks.read(window),
            None => {
                let mut window = [b'\n'; ranks::WINDOW];
                window[..rest.len()].copy_from_slice(rest);
                ranks.read(&window)
            }
        };
        let end = |board: &ranks::Board| self.at + board.len;
        let board = board.filter(|board| end(board) < self.line.len())?;
        self.at = end(&board);
        Some(Coded::of_planes(flipped(board.sets)))
    }

    /// The fields between the pieces and the clocks, if they are as in nearly all lines: single blanks between them,
    /// castling rights of rooks in the corners. Otherwise nothing is changed.
    #[inline(always)]
    pub(super) fn usual_fields(&mut self, coded: &mut Coded) -> Option<()> {
        let bytes = self.text[self.at..].first_chunk()?;
        let mut blanks = self.blanks(bytes);
        // The first blank comes before the side to move, the second one after it.
        if blanks & 0b111 != 0b101 {
            return None;
        }
        let side = match bytes[1] {
            b'w' => Color::White,
            b'b' => Color::Black,
            _ => return None,
        };
        blanks &= !0b111;
        let (castling, to) = field(bytes, &mut blanks, 3)?;
        let (en_passant, to) = field(bytes, &mut blanks, to + 1)?;
        let castling = usual_castling(castling, coded)?;
        coded.en_passant = usual_square(en_passant)?;
        coded.castling = castling;
        coded.side_to_move = side;
        self.at += to;
        Some(())
    }

    /// Two clocks of at most four digits, with single blanks between and behind them. Otherwise nothing is read.
    #[inline(always)]
    pub(super) fn usual_clocks(&mut self) -> Option<[u16; 2]> {
        let bytes = self.text[self.at..].first_chunk()?;
        let mut blanks = self.blanks(bytes);
        let (halfmove, to) = field(bytes, &mut blanks, 0)?;
        let (fullmove, to) = field(bytes, &mut blanks, to + 1)?;
        let clocks = [short_number(halfmove)?, short_number(fullmove)?];
        self.at += to;
        Some(clocks)
    }

    /// Where the next bytes have blanks. The end of the line is the last one.
    #[inline(always)]
    fn blanks(&self, bytes: &[u8; 32]) -> u32 {
        let len = self.line.len() - self.at;
        let end = 1u32.checked_shl(len as u32).unwrap_or(0);
        (equal(bytes, b' ') | end) & end.wrapping_mul(2).wrapping_sub(1)
    }
}

/// Up to four bytes of a field.
#[derive(Clone, Copy)]
struct Field {
    /// The bytes, and others behind them.
    word: u32,
    /// Length of the field.
    len: usize,
}

/// The field that begins at `from` and ends at the next blank, which is taken from the set, and where that is.
#[inline(always)]
fn field(bytes: &[u8; 32], blanks: &mut u32, from: usize) -> Option<(Field, usize)> {
    if *blanks == 0 {
        return None;
    }
    let to = blanks.trailing_zeros() as usize;
    *blanks &= *blanks - 1;
    let word = u32::from_le_bytes(*bytes.get(from..)?.first_chunk()?);
    let len = to - from;
    Some((Field { word, len }, to))
}

impl Field {
    /// The bytes and zeros; `None` unless there are 1 to 4 bytes.
    #[inline(always)]
    fn bytes(self) -> Option<u32> {
        let mask = |len| u32::MAX >> (32 - 8 * len);
        (1..=4).contains(&self.len).then(|| self.word & mask(self.len))
    }
}

/// Castling rights all of which are `KQkq`.
#[inline(always)]
fn usual_castling(field: Field, coded: &Coded) -> Option<u64> {
    /// A bit for each letter: K, Q, k, q and `-`; another one for all other bytes.
    const LETTERS: [u8; 256] = {
        let mut table = [0x80; 256];
        // What follows the field.
        table[0] = 0;
        let letters = b"KQkq-";
        let mut bit = 0;
        while bit < letters.len() {
            table[letters[bit] as usize] = 1 << bit;
            bit += 1;
        }
        table
    };
    let bytes = field.bytes()?.to_le_bytes();
    let letters = bytes.iter().map(|&byte| LETTERS[usize::from(byte)]);
    let set = letters.fold(0, |set, letter| set | letter);
    if set == 0x10 && field.len == 1 {
        return Some(0);
    }
    let mut castling = 0;
    for (bit, rook) in coded.outermost_rooks().into_iter().enumerate() {
        castling |= rook & u64::from(set >> bit & 1).wrapping_neg();
    }
    // Only these letters, each once, and each with a rook.
    let is_usual = set < 0x10 && set.count_ones() as usize == field.len;
    (is_usual && castling.count_ones() == set.count_ones()).then_some(castling)
}

/// `-`, or a square.
#[inline(always)]
fn usual_square(field: Field) -> Option<Option<Square>> {
    let [file, rank, ..] = field.word.to_le_bytes();
    match (file, rank, field.len) {
        (b'-', _, 1) => Some(None),
        (b'a'..=b'h', b'1'..=b'8', 2) => Some(Some(Square::new((rank - b'1') * 8 + (file - b'a')))),
        _ => None,
    }
}

/// A number of at most four digits.
#[inline(always)]
fn short_number(field: Field) -> Option<u16> {
    let digits = field.bytes()?;
    // To the end of the word, behind zeros: the first byte is the highest digit.
    let vacant = 32 - 8 * field.len as u32;
    let digits = u64::from(digits) << vacant | (0x3030_3030 & ((1u64 << vacant) - 1));
    let digits = digits as u32;
    let are_digits = (digits & 0xF0F0_F0F0) | (digits.wrapping_add(0x0606_0606) & 0xF0F0_F0F0) >> 4 == 0x3333_3333;
    let pairs = (digits & 0x0F0F_0F0F).wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF;
    let number = pairs.wrapping_mul(100 << 16 | 1) >> 16;
    are_digits.then_some(number as u16)
}
