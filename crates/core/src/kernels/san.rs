//! Moves in the form of the standard, one word per lane, read from their end.
//!
//! A word is shifted to the high end of its lane, so that the target is at the same place whatever comes before it, with zeros
//! below. What has been read is shifted out: a promotion, the target, an `x`, a rank, a file, and the letter of a
//! piece. Nothing may be left. This takes neither branches nor tables, only a few constants.

use super::FILE_A;
use super::replay::Order;
use crate::simd::{Lanes, Simd, inlined};

/// The code of each piece by its letter, three bits for each letter from `@` on.
const CODES: u64 = {
    let mut codes = 0;
    let letters = b"NBRQK";
    let mut index = 0;
    while index < letters.len() {
        codes |= (index as u64 + 2) << (3 * (letters[index] - b'@'));
        index += 1;
    }
    codes
};
/// A bit for each of these letters.
const LETTERS: u64 = {
    let mut bits = 0;
    let letters = b"NBRQK";
    let mut index = 0;
    while index < letters.len() {
        bits |= 1 << (letters[index] - b'@');
        index += 1;
    }
    bits
};
/// The bits of an order by the code of the piece, eight for each.
const KINDS: u64 = {
    let mut kinds = 0;
    let mut code = 0;
    while code < 7 {
        kinds |= (Order::kinds(code) / Order::PAWN) << (8 * code);
        code += 1;
    }
    kinds
};

/// A word at the high end.
const fn word(text: &[u8]) -> u64 {
    let mut word = 0;
    let mut index = 0;
    while index < text.len() {
        word |= (text[index] as u64) << (8 * (8 - text.len() + index));
        index += 1;
    }
    word
}

/// Reads words, which begin in the lowest byte and have these lengths. Returns a bit for each that is not a move in the
/// form of the standard; its order means nothing.
#[inline(always)]
pub(crate) fn read_words<S: Simd>(
    simd: S,
    words: &[u64; 8],
    lens: &[u64; 8],
    origins: &mut [u64; 8],
    bits: &mut [u64; 8],
) -> u64 {
    let mut wrong = 0;
    for at in (0..8).step_by(S::WIDTH) {
        wrong |= read(simd, (words, lens), at, origins, bits) << at;
    }
    wrong
}

#[inline(always)]
fn read<S: Simd>(
    simd: S,
    (words, lens): (&[u64; 8], &[u64; 8]),
    at: usize,
    origins: &mut [u64; 8],
    bits: &mut [u64; 8],
) -> u64 {
    let (none, all) = (simd.splat(0), simd.splat(!0));
    let splat = inlined(
        #[inline(always)]
        |bits: u64| simd.splat(bits),
    );
    // All ones where a set of bits is empty.
    let is_zero = inlined(
        #[inline(always)]
        |set: S::Lanes| set.if_zero(all, none),
    );
    let last = inlined(
        #[inline(always)]
        |word: S::Lanes| word.shr::<56>(),
    );
    let is_letter = inlined(
        #[inline(always)]
        |letter: S::Lanes| {
            let place = letter ^ splat(u64::from(b'@'));
            is_zero(place & splat(!31)) & !is_zero(splat(LETTERS).shr_by(place & splat(31)) & splat(1))
        },
    );
    let code_of = inlined(
        #[inline(always)]
        |letter: S::Lanes| {
            let place = letter & splat(31);
            splat(CODES).shr_by(place.add(place.shl::<1>()) & splat(63)) & splat(7)
        },
    );
    // The number that a digit or a letter stands for, less than eight if it is one.
    let number = inlined(
        #[inline(always)]
        |letter: S::Lanes, first: u8| letter.sub(splat(u64::from(first))),
    );
    let is_number = inlined(
        #[inline(always)]
        |number: S::Lanes| is_zero(number & splat(!7)),
    );
    let without_last = inlined(
        #[inline(always)]
        |word: S::Lanes, where_it_is: S::Lanes| where_it_is.choose(word.shl::<8>(), word),
    );

    let len = simd.load(lens, at);
    let fits = is_zero(len.sub(splat(1)) & splat(!7));
    let word_read = simd.load(words, at).shl_by(none.sub(len.shl::<3>()) & splat(63));
    let short = is_zero(word_read ^ splat(word(b"O-O")));
    let long = is_zero(word_read ^ splat(word(b"O-O-O")));

    // A promotion: a sign before the letter of a piece.
    let equals = is_zero(word_read.shl::<8>().shr::<56>() ^ splat(u64::from(b'=')));
    let becomes = code_of(last(word_read)) & equals;
    let rest = equals.choose(word_read.shl::<16>(), word_read);
    // The target.
    let rank = number(last(rest), b'1');
    let file = number(last(rest.shl::<8>()), b'a');
    let to = (rank & splat(7)).shl::<3>() | (file & splat(7));
    let is_square = is_number(rank | file);
    let rest = rest.shl::<16>();
    // What is before it.
    let captures = is_zero(last(rest) ^ splat(u64::from(b'x')));
    let rest = without_last(rest, captures);
    let from_rank = number(last(rest), b'1');
    let has_rank = is_number(from_rank);
    let ranks = splat(0xFF).shl_by((from_rank & splat(7)).shl::<3>());
    let rest = without_last(rest, has_rank);
    let from_file = number(last(rest), b'a');
    let has_file = is_number(from_file);
    let rest = without_last(rest, has_file);
    let letter = last(rest);
    let is_piece = is_letter(letter);
    let rest = without_last(rest, is_piece);
    let code = is_piece.choose(code_of(letter), splat(1));

    // A pawn names its file if it captures, and else comes from that of the target; it promotes on the last ranks, and
    // nothing else does, nor to a king.
    let file = has_file.choose(from_file, file);
    let names_file = has_file | !is_piece;
    let wrong_pawn = !is_piece & (has_rank | (has_file ^ captures));
    let promotes = !is_piece & is_zero(rank.add(splat(1)) & splat(6));
    let to_king = is_zero(becomes ^ splat(6));
    let wrong_promotion = (promotes ^ equals) | (equals & (to_king | !is_letter(last(word_read))));
    let castles = short | long;
    let wrong = (!is_square | wrong_pawn | wrong_promotion | rest) & !castles | !fits;

    let files = splat(FILE_A).shl_by(file & splat(7));
    let origin = (ranks | !has_rank) & (files | !names_file) & !castles;
    let kind = equals & (splat(1 << 14) | becomes.sub(splat(2)).shl::<12>());
    let order = to
        | code.shl::<{ Order::CODE }>()
        | equals.choose(becomes, code).shl::<{ Order::ARRIVES }>()
        | (captures & splat(Order::CAPTURES))
        | (splat(KINDS).shr_by(code.shl::<3>()) & splat(0xFF)).shl::<{ Order::PAWN.trailing_zeros() }>()
        | (kind | to.shl::<6>()).shl::<{ Order::MOVE }>();
    let castling = (short & splat(Order::SHORT)) | (long & splat(Order::LONG));
    simd.store(origin, origins, at);
    simd.store(castles.choose(castling, order), bits, at);
    wrong.nonzero_bits()
}
