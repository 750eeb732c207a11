//! bulletformat: positions for training, 32 bytes each, seen from the side to move.
//!
//! If Black was to move, the board has been flipped vertically and the colors exchanged. The side to move, castling
//! rights, en passant squares and clocks are not stored. A record is therefore read as a position with White to move
//! and without any of these, and its legal moves are those of that position; a note says so.
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 8 | occupied squares, a1 in bit 0 |
//! | 8 | 16 | a code of 4 bits for each occupied square, from a1 to h8, the low half of a byte first: 0 pawn, 1 knight, 2 bishop, 3 rook, 4 queen, 5 king, and 8 more if it is the opponent's; unused ones are 0 |
//! | 24 | 2 | score in centipawns, for the side to move |
//! | 26 | 1 | result for the side to move: 0 loss, 1 draw, 2 win |
//! | 27 | 1 | square of the king |
//! | 28 | 1 | square of the opponent's king, flipped |
//! | 29 | 3 | 0 |
//!
//! Numbers are little-endian. There is no header: a file is recognized by its first hundred records, in which the
//! stored squares of the kings must agree with the codes on the board. One record in ten may be bad; bad ones are
//! rejected when the file is read. A score may be any 16-bit number, including mates and sentinels.
//!
//! Writing flips the boards in which Black is to move, and counts the records that have something the format cannot
//! store. A score of -32,768 has no counterpart for Black and becomes 32,767, and a sentinel of either sign is stored
//! as the positive one.
//!
//! The layout is that of the crate `bulletformat`.

use super::board_tests::{self, BlackToMove, Fact, HasCastling, HasEnPassant};
use super::encode_chains::{self, result_of_mover, score_of_mover};
use super::encode_fixed_records::{self, WriteFixed};
use super::piece_codes::{self, CodeWords, LEN, PIECES};
use crate::chess::{Color, Square};
use crate::formats::codec::decode_records::{self, BadRecord, Eight, Fixed, Record};
use crate::formats::codec::encode::{Encoded, Encoder, lost_columns};
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, Losses, Sampled};
use crate::packed::{Group, Planes};
use crate::simd::nibbles::Bits;
use crate::simd::{Lanes, Simd, inlined};
use crate::table::{Batch, Field, Fields, Tile};
use std::ops::Range;

/// The codec of bulletformat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bullet;

impl Codec for Bullet {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "bullet",
            title: "bulletformat: training data without side to move, castling and en passant",
            extensions: &["bullet"],
            has_games: false,
            can_be_empty: false,
            selects: false,
            carries: Bullet::CARRIES,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::of_sample(self.sampled(head))
    }
    fn sampled(&self, head: &[u8]) -> Option<Sampled> {
        let examine = |record: &[u8; LEN]| Self::read(record, &DecodeOptions::default()).map(|_| ());
        Some(decode_records::sample(head, examine))
    }
    fn layout(&self) -> Layout {
        Layout::Records(LEN)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        let mut decoded = decode_records::decode::<Self, LEN>(chunk, options);
        decoded.batches.iter_mut().for_each(|batch| batch.is_from_mover = true);
        decoded
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&Self)
    }
    fn begin(&self, _: Option<&[u8]>, _: &DecodeOptions) -> Result<Option<String>, String> {
        Ok(Some(LACKS.to_owned()))
    }
}

impl Encoder for Bullet {
    fn fields(&self) -> Fields {
        Self::CARRIES
    }
    fn encode(&self, batch: &Batch, rows: &[Range<usize>], piece: &mut Encoded) {
        encode_fixed_records::encode::<Self, LEN>(batch, rows, piece);
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_columns(tile, losses, |field| field == Field::Mate || Self::CARRIES.contains(field));
        losses.lack("side to move", board_tests::count_where::<BlackToMove>(tile));
        losses.lack("castling rights", board_tests::count_where::<HasCastling>(tile));
        losses.lack("en passant squares", board_tests::count_where::<HasEnPassant>(tile));
        let clocks = |rows: Range<usize>| {
            let clocks = tile.batch.halfmove[rows.clone()].iter().zip(&tile.batch.fullmove[rows]);
            clocks.map(|(&halfmove, &fullmove)| u32::from(halfmove != 0 || fullmove != 1)).sum::<u32>()
        };
        losses.lack("clocks", tile.runs().into_iter().map(clocks).map(u64::from).sum());
        encode_chains::made_up(tile, losses);
        encode_chains::saturated(tile, losses);
    }
    fn can_change(&self) -> bool {
        true
    }
}

impl WriteFixed<LEN> for Bullet {
    const HAS_MOVES: bool = false;

    #[inline(always)]
    fn eight<B: Bits>(bits: B, group: &Group, from: &Eight, to: &mut [[u8; LEN]; 8]) {
        let mut words = CodeWords::default();
        let mut kings = [[0; 8]; 2];
        let black = flipped_boards(bits.simd(), group, &mut words, &mut kings);
        let mut lane = 0;
        while lane < 8 {
            let is_black = black >> lane & 1 != 0;
            let king = kings[0][lane].trailing_zeros() & 63;
            let other = kings[1][lane].trailing_zeros() & 63 ^ 56;
            words.tail[lane] = u64::from(score_of_mover(from.score[lane], is_black) as u16)
                | u64::from(result_of_mover(from.result[lane], is_black)) << 16
                | u64::from(king) << 24
                | u64::from(other) << 32;
            lane += 1;
        }
        words.write(bits, to);
    }
}

/// Builds the boards of eight records as the side to move sees them, and both kings; returns the lanes in which Black
/// is to move.
#[inline(always)]
fn flipped_boards<S: Simd>(simd: S, group: &Group, words: &mut CodeWords, kings: &mut [[u64; 8]; 2]) -> u8 {
    let mut black = 0;
    let mut at = 0;
    while at < 8 {
        let [color, t0, t1, t2] = &group.planes;
        let types = [simd.load(t0, at), simd.load(t1, at), simd.load(t2, at)];
        let planes = Planes { color: simd.load(color, at), types };
        let is_black = BlackToMove::of(simd, &planes).nonzero();
        let castling = planes.castling();
        let [t0, t1, t2] = planes.types;
        let types = [t0 ^ castling, t1 ^ castling, t2];
        let types = [
            types[0].swap_bytes_where(is_black),
            types[1].swap_bytes_where(is_black),
            types[2].swap_bytes_where(is_black),
        ];
        let planes = Planes { color: (planes.color ^ is_black).swap_bytes_where(is_black), types };
        words.set_boards(simd, at, &planes, planes.color);
        let both = planes.kings();
        simd.store(both & !planes.color, &mut kings[0], at);
        simd.store(both & planes.color, &mut kings[1], at);
        black |= is_black.nonzero_bits() << at;
        at += S::WIDTH;
    }
    black as u8
}

/// What the records lack.
const LACKS: &str = "records have no side to move, castling rights, en passant squares and clocks: they are read as White to \
                     move, and legal moves are counted without castling and en passant";

impl Fixed<LEN> for Bullet {
    const CARRIES: Fields = Fields::of(&[Field::Score, Field::Result]);

    #[inline(always)]
    fn eight<B: Bits>(bits: B, records: &[[u8; LEN]; 8], to: &mut Eight) -> u8 {
        let words = CodeWords::read(bits, records);
        let mut kings = [[0; 8]; 2];
        let mut lane = 0;
        while lane < 8 {
            let tail = words.tail[lane];
            kings[0][lane] = 1 << (tail >> 24 & 63);
            kings[1][lane] = 1 << ((tail >> 32 ^ 56) & 63);
            to.halfmove[lane] = 0;
            to.fullmove[lane] = 1;
            to.score[lane] = tail as i16;
            to.result[lane] = (tail >> 16) as u8;
            lane += 1;
        }
        boards(bits.simd(), &words, &kings, &mut to.group)
    }

    fn read(record: &[u8; LEN], _: &DecodeOptions) -> Result<Record, BadRecord> {
        let bad = |reason, message: &'static str| Err(BadRecord::new(reason, message));
        let position = piece_codes::read(record, PIECES)?;
        let kings = [(Color::White, record[27]), (Color::Black, record[28] ^ 56)];
        if kings.iter().any(|&(color, square)| position.king(color).map(Square::index) != Some(square.into())) {
            return bad("kings_differ", "the squares of the kings are not those of the board");
        }
        if record[29..] != [0; 3] {
            return bad("unused_bytes", "the last three bytes are not zero");
        }
        if record[26] > 2 {
            return bad("invalid_result", "a result above 2");
        }
        let score = i16::from_le_bytes([record[24], record[25]]);
        Ok(Record { score: Some(score), result: Some(record[26]), ..Record::of(position) })
    }
}

/// Returns the boards of eight records, and the lanes that are good. `kings`: where the kings should be.
#[inline(always)]
fn boards<S: Simd>(simd: S, words: &CodeWords, kings: &[[u64; 8]; 2], group: &mut Group) -> u8 {
    let mut bad = 0;
    let mut at = 0;
    while at < 8 {
        let boards = words.boards(simd, at);
        let tail = simd.load(&words.tail, at);
        let zero = simd.splat(0);
        let both = Planes { color: boards.second, types: boards.types }.kings();
        let first = both & !boards.second;
        let second = both & boards.second;
        let lowest = inlined(
            #[inline(always)]
            |set: S::Lanes| set & zero.sub(set),
        );
        let kings = (lowest(first) ^ simd.load(&kings[0], at)) | (lowest(second) ^ simd.load(&kings[1], at));
        // The squares are below 64, the last bytes zero, and the result is 0 to 2.
        let bytes = tail & simd.splat(0xFFFF_FFC0_C0FC_0000);
        let three = tail & tail.shr::<1>() & simd.splat(1 << 16);
        bad |= (boards.bad | boards.sixes | kings | bytes | three).nonzero_bits() << at;
        simd.store(boards.second, &mut group.planes[0], at);
        let mut bit = 0;
        while bit < 3 {
            simd.store(boards.types[bit], &mut group.planes[1 + bit], at);
            bit += 1;
        }
        at += S::WIDTH;
    }
    !bad as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(hex: &str) -> [u8; LEN] {
        decode_records::of_hexadecimal(hex).try_into().unwrap()
    }

    #[test]
    fn records_are_read_from_the_view_of_the_mover() {
        for (hex, fen, score, result) in [
            (
                "ffff00000000ffff1342253100000000888888889bcaadb91400010404000000",
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1",
                20,
                1,
            ),
            // After 1. e4, Black to move.
            (
                "ffff00001000efff1342253100000000888888889bcaadb9e1ff000404000000",
                "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w - - 0 1",
                -31,
                0,
            ),
            (
                "0020000008000400c50d000000000000000000000000000050fb000d0a000000",
                "8/2k5/8/3q4/8/8/5K2/8 w - - 0 1",
                -1200,
                0,
            ),
        ] {
            let read = Bullet::read(&record(hex), &DecodeOptions::default()).unwrap();
            assert_eq!(read.position.to_string(), fen);
            assert_eq!((read.score, read.result), (Some(score), Some(result)));
        }
    }

    #[test]
    fn records_with_a_fault_are_named() {
        let good = record("ffff00000000ffff1342253100000000888888889bcaadb91400010404000000");
        for (at, byte, reason) in [
            (3, 1, "too_many_pieces"),
            (8, 0x16, "unknown_piece"),
            (0, 0, "unused_bytes"),
            (27, 5, "kings_differ"),
            (28, 60, "kings_differ"),
            (26, 3, "invalid_result"),
            (31, 1, "unused_bytes"),
        ] {
            let mut bad = good;
            bad[at] = byte;
            if reason == "unused_bytes" && at == 0 {
                bad[7] = 0;
                bad[6] = 0xFF;
                bad[23] = 0xB0;
            }
            assert_eq!(Bullet::read(&bad, &DecodeOptions::default()).unwrap_err().reason, reason, "{at}");
        }
    }
}
