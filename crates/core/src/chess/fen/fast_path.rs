//! Reading of the usual form of lines, without a branch on any byte.
//!
//! The pieces are read by vectors. The other fields are words between blanks, whose places come from one comparison,
//! so that nothing depends on how long they are. Where anything differs, nothing is read: then [`super::read`] reads
//! byte by byte, and finds what is wrong.

use super::coded::Coded;
use super::cursor::Cursor;
use crate::chess::{Color, Square};
use crate::simd::board_text::{self, RankText};
use crate::simd::bytes::equal;
use std::sync::LazyLock;

/// Reads usual lines, the pieces by vectors.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct UsualReader(RankText);

impl UsualReader {
    /// Bytes that a text must have for the line with which it begins to be read.
    #[doc(hidden)]
    pub const REACH: usize = board_text::WINDOW + 32;

    /// The reader, if this CPU has the vectors for it.
    #[doc(hidden)]
    pub fn best() -> Option<Self> {
        static RANKS: LazyLock<Option<RankText>> = LazyLock::new(RankText::detect);
        (*RANKS).map(Self)
    }

    /// Runs the work with the CPU features enabled. See the inlining rules of [`crate::simd`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        self.0.enter(work)
    }

    /// The position in the first line of a text, and the length of the line with its end, if the line is like nearly all
    /// lines: see [`usual_line`]. To be called within [`Self::enter`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn line(self, text: &[u8]) -> Option<(Coded, usize)> {
        let mut end = 0;
        let (coded, _) = usual_line(
            text,
            #[inline(always)]
            |window| self.0.read_entered(window),
            #[inline(always)]
            |bytes, board| {
                let feeds = equal(bytes, b'\n');
                if feeds == 0 {
                    return None;
                }
                end = board + feeds.trailing_zeros() as usize + 1;
                // Up to the last byte that is not a blank or a carriage return at the end of the line.
                let before = (feeds & feeds.wrapping_neg()) - 1;
                let text = before & !(equal(bytes, b' ') | equal(bytes, b'\r'));
                Some((u32::BITS - text.leading_zeros()) as usize)
            },
        )?;
        Some((coded, end))
    }

    /// The position in a line, the first `len` bytes of a text, if it is like nearly all lines and the text has
    /// [`Self::REACH`] bytes from there on: see [`usual_line`]. To be called within [`Self::enter`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn line_of_len(self, text: &[u8], len: usize) -> Option<Coded> {
        let (coded, end) = usual_line(
            text,
            #[inline(always)]
            |window| self.0.read_entered(window),
            #[inline(always)]
            |_, board| len.checked_sub(board),
        )?;
        (end == len).then_some(coded)
    }

    /// The position in a line, the first `len` bytes of a text, if it is like nearly all lines: see [`usual_line`].
    #[inline(always)]
    pub(super) fn line_of(self, text: &[u8], len: usize) -> Option<Coded> {
        let (coded, end) = usual_line(
            text,
            #[inline(always)]
            |window| self.0.read(window),
            #[inline(always)]
            |_, board| len.checked_sub(board),
        )?;
        (end == len).then_some(coded)
    }
}

/// The position in the line with which a text begins, and the length of the line, if all fields are as in nearly all
/// lines: single blanks between them, castling rights of outermost rooks without an en passant square, and either no
/// clocks or clocks of at most four digits, with nothing behind them. `ranks` reads the pieces; `rest` gives the number
/// of bytes of the line behind the pieces, from these bytes and the length of the pieces.
#[inline(always)]
fn usual_line(
    text: &[u8],
    ranks: impl FnOnce(&[u8; board_text::WINDOW]) -> Option<board_text::Board>,
    rest: impl FnOnce(&[u8; 32], usize) -> Option<usize>,
) -> Option<(Coded, usize)> {
    let board = ranks(text.first_chunk()?)?;
    let bytes = text.get(board.len..)?.first_chunk()?;
    let rest = rest(bytes, board.len)?;
    let mut blanks = blanks(bytes, rest);
    let mut coded = Coded::of_planes(board.sets);
    let fields = Fields::usual(bytes, &mut blanks)?;
    coded.side_to_move = fields.side_to_move;
    coded.castling = usual_castling(fields.castling, &coded)?;
    let [en_passant, ..] = fields.en_passant.word.to_le_bytes();
    if en_passant != b'-' || fields.en_passant.len != 1 {
        return None;
    }
    if fields.end < rest {
        let (clocks, to) = usual_clocks(bytes, &mut blanks, fields.end + 1)?;
        if to != rest {
            return None;
        }
        [coded.halfmove, coded.fullmove] = clocks;
    }
    Some((coded, board.len + rest))
}

impl Cursor<'_> {
    /// The pieces if they are well-formed; mostly, if they are.
    #[inline(always)]
    pub(super) fn board_by_vectors(&mut self) -> Option<Coded> {
        let UsualReader(ranks) = UsualReader::best()?;
        let rest = &self.text[self.at..];
        let board = match rest.first_chunk() {
            Some(window) => ranks.read(window),
            None => {
                let mut window = [b'\n'; board_text::WINDOW];
                window[..rest.len()].copy_from_slice(rest);
                ranks.read(&window)
            }
        };
        let end = |board: &board_text::Board| self.at + board.len;
        let board = board.filter(|board| end(board) < self.line.len())?;
        self.at = end(&board);
        Some(Coded::of_planes(board.sets))
    }

    /// The fields between the pieces and the clocks, if they are as in nearly all lines: single blanks between them,
    /// castling rights of outermost rooks. Otherwise nothing is changed.
    #[inline(always)]
    pub(super) fn usual_fields(&mut self, coded: &mut Coded) -> Option<()> {
        let bytes = self.text[self.at..].first_chunk()?;
        let fields = Fields::usual(bytes, &mut self.blanks(bytes))?;
        let castling = usual_castling(fields.castling, coded)?;
        coded.en_passant = usual_square(fields.en_passant)?;
        coded.castling = castling;
        coded.side_to_move = fields.side_to_move;
        self.at += fields.end;
        Some(())
    }

    /// Two clocks of at most four digits, with single blanks between and behind them. Otherwise nothing is read.
    #[inline(always)]
    pub(super) fn usual_clocks(&mut self) -> Option<[u16; 2]> {
        let bytes = self.text[self.at..].first_chunk()?;
        let (clocks, to) = usual_clocks(bytes, &mut self.blanks(bytes), 0)?;
        self.at += to;
        Some(clocks)
    }

    #[inline(always)]
    fn blanks(&self, bytes: &[u8; 32]) -> u32 {
        blanks(bytes, self.line.len() - self.at)
    }
}

/// The blanks among the bytes of a line of which this many are left. The end of the line is the last one.
#[inline(always)]
fn blanks(bytes: &[u8; 32], len: usize) -> u32 {
    let end = 1u32.checked_shl(len as u32).unwrap_or(0);
    (equal(bytes, b' ') | end) & end.wrapping_mul(2).wrapping_sub(1)
}

/// The fields between the pieces and the clocks.
struct Fields {
    side_to_move: Color,
    castling: Field,
    en_passant: Field,
    /// Where they end.
    end: usize,
}

impl Fields {
    /// The fields in bytes that begin with the blank behind the pieces, if there are single blanks between them. Those
    /// before the end are taken from the set.
    #[inline(always)]
    fn usual(bytes: &[u8; 32], blanks: &mut u32) -> Option<Self> {
        // The first blank comes before the side to move, the second one after it.
        if *blanks & 0b111 != 0b101 {
            return None;
        }
        let side_to_move = match bytes[1] {
            b'w' => Color::White,
            b'b' => Color::Black,
            _ => return None,
        };
        *blanks &= !0b111;
        let (castling, to) = field(bytes, blanks, 3)?;
        let (en_passant, end) = field(bytes, blanks, to + 1)?;
        Some(Self { side_to_move, castling, en_passant, end })
    }
}

/// Reads two clocks of at most four digits with a single blank between them, and returns where they end.
#[inline(always)]
fn usual_clocks(bytes: &[u8; 32], blanks: &mut u32, from: usize) -> Option<([u16; 2], usize)> {
    let (halfmove, to) = field(bytes, blanks, from)?;
    let (fullmove, to) = field(bytes, blanks, to + 1)?;
    Some(([short_number(halfmove)?, short_number(fullmove)?], to))
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
    // Only these letters, each once.
    if set >= 0x10 || set.count_ones() as usize != field.len {
        return None;
    }
    coded.castling_in_corners(set).or_else(|| outermost_castling(set, coded))
}

/// The rooks that the letters of a set stand for, if each stands for one.
#[inline(never)]
fn outermost_castling(set: u8, coded: &Coded) -> Option<u64> {
    let mut castling = 0;
    for (bit, rook) in coded.outermost_rooks().into_iter().enumerate() {
        castling |= rook & u64::from(set >> bit & 1).wrapping_neg();
    }
    (castling.count_ones() == set.count_ones()).then_some(castling)
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
