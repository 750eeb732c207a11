//! Boards of bulletformat and marlinformat: the occupied squares, and a code of four bits for each of them.
//!
//! The two formats divide 32 bytes alike: a board of 24 bytes, and eight more whose meaning differs. A code is a piece,
//! 0 to 5 for pawn, knight, bishop, rook, queen and king, and 8 more if it is not of the first side; marlinformat also
//! has 6 for a rook that may still castle. They are one less than those of [packed boards](crate::packed), so that a
//! few three-input operations turn one into the other for eight boards, in either direction.

use crate::chess::{Bitboard, Color, Piece, Position, Role, Square};
use crate::formats::codec::decode_records::BadRecord;
use crate::packed::{Packed, Planes};
use crate::simd::nibbles::{Bits, Spread};
use crate::simd::{Simd, inlined};

/// Number of bytes of a record.
pub(in crate::formats) const LEN: usize = 32;

/// The code of a rook that may still castle.
const CASTLING_ROOK: usize = 6;

/// The highest code of a piece.
pub(in crate::formats) const PIECES: usize = 5;
/// The highest code where rooks that may still castle have one.
pub(in crate::formats) const PIECES_AND_CASTLING: usize = CASTLING_ROOK;

/// The words of eight records, a lane for each.
#[derive(Debug, Default)]
pub(in crate::formats) struct CodeWords {
    occupied: [u64; 8],
    /// The bits of the codes, the lowest first.
    codes: [[u64; 8]; 4],
    /// Zero in lanes where the numbers of codes and squares agree.
    excess: [u64; 8],
    /// The last eight bytes of each record.
    pub(in crate::formats) tail: [u64; 8],
}

/// Boards in some lanes.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Boards<L> {
    pub(in crate::formats) occupied: L,
    /// Set for pieces of the second side.
    pub(in crate::formats) second: L,
    /// The bits of the codes of [packed boards](crate::packed), the lowest first.
    pub(in crate::formats) types: [L; 3],
    /// Pieces with code 6.
    pub(in crate::formats) sixes: L,
    /// Nonzero in lanes where a code is 7, or where the numbers of codes and squares differ.
    pub(in crate::formats) bad: L,
}

impl CodeWords {
    #[inline(always)]
    pub(in crate::formats) fn read<B: Bits>(bits: B, records: &[[u8; LEN]; 8]) -> Self {
        let mut words = Self::default();
        let mut lane = 0;
        while lane < 8 {
            let pair = [&records[lane], &records[lane + 1]];
            let occupied = [u64::from_le_bytes(split(pair[0])[0]), u64::from_le_bytes(split(pair[1])[0])];
            let two = bits.spread_two(occupied, [codes(pair[0]), codes(pair[1])]);
            let mut of_two = 0;
            while of_two < 2 {
                let Spread { bits: planes, excess } = two[of_two];
                words.occupied[lane] = occupied[of_two];
                words.excess[lane] = excess;
                words.tail[lane] = u64::from_le_bytes(split(pair[of_two])[1]);
                let mut bit = 0;
                while bit < 4 {
                    words.codes[bit][lane] = planes[bit];
                    bit += 1;
                }
                lane += 1;
                of_two += 1;
            }
        }
        words
    }

    /// Returns the boards of one vector of lanes.
    #[inline(always)]
    pub(in crate::formats) fn boards<S: Simd>(&self, simd: S, at: usize) -> Boards<S::Lanes> {
        let load = inlined(
            #[inline(always)]
            |words: &[u64; 8]| simd.load(words, at),
        );
        let occupied = load(&self.occupied);
        let [n0, n1, n2, second] = &self.codes;
        let (n0, n1, n2, second) = (load(n0), load(n1), load(n2), load(second));
        Boards {
            occupied,
            second,
            types: [occupied & !n0, n0 ^ n1, n2 ^ (n0 & n1)],
            sixes: n2 & n1,
            bad: (n0 & n1 & n2) | load(&self.excess),
        }
    }

    /// Sets the boards of one vector of lanes. `second`: the pieces of the second side; other squares do not
    /// matter.
    #[inline(always)]
    pub(in crate::formats) fn set_boards<S: Simd>(
        &mut self,
        simd: S,
        at: usize,
        planes: &Planes<S::Lanes>,
        second: S::Lanes,
    ) {
        let occupied = planes.occupied();
        simd.store(occupied, &mut self.occupied, at);
        let codes = codes_of(planes);
        let mut bit = 0;
        while bit < 3 {
            simd.store(codes[bit], &mut self.codes[bit], at);
            bit += 1;
        }
        simd.store(second, &mut self.codes[3], at);
    }

    /// Writes eight records.
    #[inline(always)]
    pub(in crate::formats) fn write<B: Bits>(&self, bits: B, records: &mut [[u8; LEN]; 8]) {
        let mut lane = 0;
        while lane < 8 {
            let of = inlined(
                #[inline(always)]
                |lane: usize| [self.codes[0][lane], self.codes[1][lane], self.codes[2][lane], self.codes[3][lane]],
            );
            let two = bits.gather_two([self.occupied[lane], self.occupied[lane + 1]], [of(lane), of(lane + 1)]);
            let mut of_two = 0;
            while of_two < 2 {
                let record = &mut records[lane];
                record[..8].copy_from_slice(&self.occupied[lane].to_le_bytes());
                record[8..24].copy_from_slice(&two[of_two]);
                record[24..].copy_from_slice(&self.tail[lane].to_le_bytes());
                lane += 1;
                of_two += 1;
            }
        }
    }
}

/// The three bits of codes of pieces, which are those of [packed boards](crate::packed) less one; where there is no
/// piece, the first two are zero, and so is the last.
#[inline(always)]
pub(in crate::formats) fn codes_of<L>(planes: &Planes<L>) -> [L; 3]
where
    L: Copy
        + std::ops::BitAnd<Output = L>
        + std::ops::BitOr<Output = L>
        + std::ops::BitXor<Output = L>
        + std::ops::Not<Output = L>,
{
    let occupied = planes.occupied();
    let [t0, t1, t2] = planes.types;
    [occupied & !t0, occupied & !(t0 ^ t1), t2 ^ (occupied & !(t0 | t1))]
}

/// The first and the last eight bytes.
#[inline(always)]
fn split(record: &[u8; LEN]) -> [[u8; 8]; 2] {
    [*record.first_chunk().expect("32 bytes have 8"), *record.last_chunk().expect("32 bytes have 8")]
}

/// The codes.
#[inline(always)]
fn codes(record: &[u8; LEN]) -> &[u8; 16] {
    record[8..24].first_chunk().expect("sixteen bytes")
}

/// Reads a board slowly: its pieces, with White as the first side, and the rooks that may still castle.
///
/// # Errors
/// If there are more than 32 pieces, if a code is above `most`, or if there is a code without a square.
pub(in crate::formats) fn read(record: &[u8; LEN], most: usize) -> Result<Position, BadRecord> {
    let bad = |reason, message: String| Err(BadRecord::new(reason, message));
    let occupied = Bitboard(u64::from_le_bytes(split(record)[0]));
    if occupied.0.count_ones() > 32 {
        return bad("too_many_pieces", "more than 32 occupied squares".to_owned());
    }
    let mut codes = record[8..24].iter().flat_map(|&byte| [byte & 15, byte >> 4]);
    let mut position = Position::empty();
    for (square, code) in occupied.into_iter().zip(&mut codes) {
        let kind = usize::from(code & 7);
        if kind > most {
            return bad("unknown_piece", format!("a piece with a code above {most}"));
        }
        let role = Role::ALL.get(kind).copied().unwrap_or(Role::Rook);
        let color = if code & 8 == 0 { Color::White } else { Color::Black };
        position.put(square, Piece { color, role });
        if kind == CASTLING_ROOK {
            position.castling.0 |= Bitboard::square(square);
        }
    }
    if codes.any(|code| code != 0) {
        return bad("unused_bytes", "the code of a piece without a square".to_owned());
    }
    Ok(position)
}

/// Makes the board part of a record slowly: the codes of [packed boards](crate::packed) less one, in which rooks that
/// may still castle have code 6, and those of Black 8 more.
pub(in crate::formats) fn write(board: &Packed, to: &mut [u8; LEN]) {
    let occupied = board.occupied();
    to[..8].copy_from_slice(&occupied.to_le_bytes());
    let mut rest = occupied;
    let mut place = 0;
    while rest != 0 && place < 32 {
        let bit = |plane: u64| (plane >> rest.trailing_zeros() & 1) as u8;
        let [t0, t1, t2] = board.types.map(bit);
        let code = ((t0 | t1 << 1 | t2 << 2) - 1) | bit(board.color) << 3;
        to[8 + place / 2] |= code << (4 * (place % 2));
        rest &= rest - 1;
        place += 1;
    }
}

/// Whether each side has one king.
pub(in crate::formats) fn has_kings(position: &Position) -> bool {
    Color::ALL.iter().all(|&color| position.pieces(color, Role::King).0.count_ones() == 1)
}

/// The square with this number, if there is one.
pub(in crate::formats) fn square(number: u8) -> Option<Square> {
    (number < 64).then(|| Square::new(number))
}
