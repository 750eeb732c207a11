//! marlinformat: complete positions for training, 32 bytes each, as White sees them.
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 8 | occupied squares, a1 in bit 0 |
//! | 8 | 16 | a code of 4 bits for each occupied square, from a1 to h8, the low half of a byte first: 0 pawn, 1 knight, 2 bishop, 3 rook, 4 queen, 5 king, 6 rook that may still castle, and 8 more if it is black; unused ones are 0 |
//! | 24 | 1 | en passant square, 64 without one; bit 7 is set if Black is to move |
//! | 25 | 1 | halfmove clock |
//! | 26 | 2 | fullmove number |
//! | 28 | 2 | score in centipawns, as White sees it |
//! | 30 | 1 | result: 0 Black won, 1 draw, 2 White won |
//! | 31 | 1 | free, not read |
//!
//! Numbers are little-endian; clocks are kept as they are stored, even if they are 0 because the writer did not know
//! them. The rooks that may castle are marked on the board itself, so that Chess960 needs nothing else. En passant
//! squares follow the rule of all readers: one on which no capture is legal is dropped, unless keeping it was
//! requested. A score may be any 16-bit number, including mates and sentinels.
//!
//! Writing keeps the position, its clocks, the score and the result; halfmove clocks above 255 become 255. An en
//! passant square on which no capture is legal is stored if a pawn could capture there but for a pin or check, as the
//! engines that write this format do.
//!
//! There is no header. A file is recognized by its first hundred records, in which each side has one king, and the en
//! passant square is on the rank of the side to move. One record of bulletformat in fifteen looks like that, too;
//! records of marlinformat never look like those of bulletformat.
//!
//! The layout is that of the engine Black Marlin and the trainer marlinflow.

use super::board_tests::{BlackToMove, EN_PASSANT_RANKS, Fact};
use super::encode_chains;
use super::encode_fixed_records::{self, WriteFixed};
use super::piece_codes::{self, CodeWords, LEN, PIECES_AND_CASTLING};
use crate::chess::{Color, Position, Square};
use crate::formats::codec::decode_records::{self, BadRecord, Eight, Fixed, Record};
use crate::formats::codec::encode::{Encoded, Encoder, lost_columns};
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, Losses, Sampled};
use crate::packed::{Group, Packed, Planes};
use crate::simd::nibbles::Bits;
use crate::simd::{Lanes, Simd};
use crate::table::{Batch, Field, Fields, Tile};
use std::ops::Range;

/// In byte 24: Black is to move.
const BLACK: u8 = 0x80;
/// In byte 24: no en passant square.
const NO_SQUARE: u8 = 64;

/// The codec of marlinformat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marlin;

impl Codec for Marlin {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "marlin",
            title: "marlinformat: training data, whole positions with score and result",
            extensions: &["marlin"],
            has_games: false,
            can_be_empty: false,
            selects: false,
            carries: Marlin::CARRIES,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::of_sample(self.sampled(head))
    }
    fn sampled(&self, head: &[u8]) -> Option<Sampled> {
        Some(decode_records::sample(head, examine))
    }
    fn layout(&self) -> Layout {
        Layout::Records(LEN)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode_records::decode::<Self, LEN>(chunk, options)
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&Self)
    }
}

impl Encoder for Marlin {
    fn fields(&self) -> Fields {
        Self::CARRIES
    }
    fn encode(&self, batch: &Batch, rows: &[Range<usize>], piece: &mut Encoded) {
        encode_fixed_records::encode::<Self, LEN>(batch, rows, piece);
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_columns(tile, losses, |field| field == Field::Mate || Self::CARRIES.contains(field));
        encode_chains::made_up(tile, losses);
        encode_chains::long_clocks(tile, losses, "halfmove clocks above 255, stored as 255", u8::MAX.into());
    }
    fn can_change(&self) -> bool {
        true
    }
}

impl WriteFixed<LEN> for Marlin {
    const HAS_MOVES: bool = false;

    #[inline(always)]
    fn eight<B: Bits>(bits: B, group: &Group, from: &Eight, to: &mut [[u8; LEN]; 8]) {
        let mut words = CodeWords::default();
        let mut en_passant = [0; 8];
        let black = written_boards(bits.simd(), group, &mut words, &mut en_passant);
        let mut lane = 0;
        while lane < 8 {
            // Without a square, there are 64 trailing zeros.
            let square = en_passant[lane].trailing_zeros() as u8;
            let square = if square == NO_SQUARE { from.idle[lane] } else { square };
            words.tail[lane] = u64::from(square | (black >> lane & 1) << 7)
                | u64::from(from.halfmove[lane].min(0xFF)) << 8
                | u64::from(from.fullmove[lane]) << 16
                | u64::from(from.score[lane] as u16) << 32
                | u64::from(from.result[lane]) << 48;
            lane += 1;
        }
        words.write(bits, to);
    }
}

/// Builds the boards of eight records to be written, and their en passant squares; returns the lanes in which Black is
/// to move.
#[inline(always)]
fn written_boards<S: Simd>(simd: S, group: &Group, words: &mut CodeWords, en_passant: &mut [u64; 8]) -> u8 {
    let mut black = 0;
    let mut at = 0;
    while at < 8 {
        let [color, t0, t1, t2] = &group.planes;
        let types = [simd.load(t0, at), simd.load(t1, at), simd.load(t2, at)];
        let planes = Planes { color: simd.load(color, at), types };
        let sentinel = planes.color & !planes.occupied();
        simd.store(sentinel & simd.splat(EN_PASSANT_RANKS), en_passant, at);
        words.set_boards(simd, at, &planes, planes.color);
        black |= BlackToMove::of(simd, &planes).nonzero_bits() << at;
        at += S::WIDTH;
    }
    black as u8
}

impl Fixed<LEN> for Marlin {
    const CARRIES: Fields = Fields::of(&[Field::Score, Field::Result, Field::KeyEnPassant]);

    #[inline(always)]
    fn eight<B: Bits>(bits: B, records: &[[u8; LEN]; 8], to: &mut Eight) -> u8 {
        let words = CodeWords::read(bits, records);
        let good = boards(bits.simd(), &words, &mut to.group);
        let mut lane = 0;
        while lane < 8 {
            let tail = words.tail[lane];
            to.halfmove[lane] = (tail >> 8) as u16 & 0xFF;
            to.fullmove[lane] = (tail >> 16) as u16;
            to.score[lane] = (tail >> 32) as i16;
            to.result[lane] = (tail >> 48) as u8;
            lane += 1;
        }
        good
    }

    fn read(record: &[u8; LEN], options: &DecodeOptions) -> Result<Record, BadRecord> {
        let mut read = Record::of(position(record)?);
        read.score = Some(i16::from_le_bytes([record[28], record[29]]));
        read.result = Some(record[30]);
        if record[24] & !BLACK != NO_SQUARE {
            let Some(square) = piece_codes::square(record[24] & !BLACK) else {
                return Err(BadRecord::new("invalid_en_passant", "an en passant square above 64"));
            };
            read.set_en_passant(square, options)?;
        }
        if record[30] > 2 {
            return Err(BadRecord::new("invalid_result", "a result above 2"));
        }
        Ok(read)
    }
}

/// Returns the boards of eight records with their state, and the lanes that have nothing unusual, such as an en passant
/// square.
#[inline(always)]
fn boards<S: Simd>(simd: S, words: &CodeWords, group: &mut Group) -> u8 {
    /// Squares on which a sentinel bit does not mean en passant.
    const FREE: u64 = 0xFFFF_00FF_FF00_FFFF;
    let mut bad = 0;
    let mut at = 0;
    while at < 8 {
        let boards = words.boards(simd, at);
        let tail = simd.load(&words.tail, at);
        let zero = simd.splat(0);
        let black = tail & simd.splat(BLACK.into());
        let free = !boards.occupied & simd.splat(FREE);
        let sentinel = black.if_zero(zero, free & zero.sub(free));
        let en_passant = (tail ^ simd.splat(NO_SQUARE.into())) & simd.splat(0x7F);
        let result = tail.shr::<48>();
        let result = (result & simd.splat(0xFC)) | (result & result.shr::<1>() & simd.splat(1));
        bad |= (boards.bad | en_passant | result).nonzero_bits() << at;
        simd.store(boards.second | sentinel, &mut group.planes[0], at);
        let mut bit = 0;
        while bit < 3 {
            simd.store(boards.types[bit], &mut group.planes[1 + bit], at);
            bit += 1;
        }
        at += S::WIDTH;
    }
    !bad as u8
}

/// The position of a record, without its en passant square.
fn position(record: &[u8; LEN]) -> Result<Position, BadRecord> {
    let mut position = piece_codes::read(record, PIECES_AND_CASTLING)?;
    position.side_to_move = if record[24] & BLACK == 0 { Color::White } else { Color::Black };
    position.halfmove = record[25].into();
    position.fullmove = u16::from_le_bytes([record[26], record[27]]);
    Ok(position)
}

/// The record for a board with its clocks; a halfmove clock above 255 becomes 255. The en passant square of the
/// Polyglot key, on which no capture is legal, is stored if it is given: this format keeps it.
pub(in crate::formats) fn record_of(
    board: &Packed,
    idle: Option<Square>,
    [halfmove, fullmove]: [u16; 2],
    score: i16,
    result: u8,
) -> [u8; LEN] {
    let mut record = [0; LEN];
    piece_codes::write(board, &mut record);
    let black = if board.side_to_move() == Color::Black { BLACK } else { 0 };
    record[24] = black | board.en_passant().or(idle).map_or(NO_SQUARE, |square| square.index() as u8);
    record[25] = halfmove.min(u8::MAX.into()) as u8;
    record[26..28].copy_from_slice(&fullmove.to_le_bytes());
    record[28..30].copy_from_slice(&score.to_le_bytes());
    record[30] = result;
    record
}

/// Whether these bytes look like a record of the format, which other data rarely does.
pub(in crate::formats) fn examine(record: &[u8; LEN]) -> Result<(), BadRecord> {
    let read = Marlin::read(record, &DecodeOptions::default())?;
    if !piece_codes::has_kings(&read.position) {
        return Err(BadRecord::new("not_one_king_each", "not one king of each side"));
    }
    let rank = if read.position.side_to_move == Color::White { 5 } else { 2 };
    match record[24] & !BLACK {
        NO_SQUARE => Ok(()),
        square if square / 8 == rank => Ok(()),
        _ => Err(BadRecord::new("invalid_en_passant", "an en passant square on the wrong rank")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::codec::decode_records::encoders::marlin;

    fn record(hex: &str) -> [u8; LEN] {
        decode_records::of_hexadecimal(hex).try_into().unwrap()
    }

    fn read(record: &[u8; LEN]) -> Result<Record, &'static str> {
        Marlin::read(record, &DecodeOptions::default()).map_err(|bad| bad.reason)
    }

    const START: &str = "ffff00000000ffff1642256100000000888888889ecaade94000010000000100";

    #[test]
    fn records_are_whole_positions() {
        for (hex, fen, score, result) in [
            (START, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0, 1),
            (
                "91000018000000915686e0ed00000000000000000000000094000700e7ff0200",
                "r3k2r/8/8/8/3pP3/8/8/R3K2R b KQkq e3 0 7",
                -25,
                2,
            ),
            (
                "520000000000005256e6ed00000000000000000000000000400309000c000100",
                "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 3 9",
                12,
                1,
            ),
        ] {
            let read = read(&record(hex)).unwrap();
            assert_eq!(read.position.to_string(), fen);
            assert_eq!((read.score, read.result), (Some(score), Some(result)));
        }
    }

    #[test]
    fn records_with_a_fault_are_named() {
        for (at, byte, reason) in [
            (3, 1, "too_many_pieces"),
            (8, 0x17, "unknown_piece"),
            (7, 0x7F, "unused_bytes"),
            (24, 65, "invalid_en_passant"),
            (24, 0xFF, "invalid_en_passant"),
            (30, 3, "invalid_result"),
        ] {
            let mut bad = record(START);
            bad[at] = byte;
            assert_eq!(read(&bad).map(|_| ()), Err(reason), "{at}");
        }
        let mut free = record(START);
        free[31] = 0xFF;
        read(&free).unwrap();
    }

    #[test]
    fn en_passant_squares_follow_the_rule_of_all_readers() {
        let fen = "4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1";
        let dropped = read(&marlin(fen, 0, 1)).unwrap();
        assert!(dropped.dropped_en_passant && dropped.position.en_passant.is_none());
        let keep = DecodeOptions { keep_en_passant: true, ..DecodeOptions::default() };
        let kept = Marlin::read(&marlin(fen, 0, 1), &keep).unwrap();
        assert_eq!(kept.position.to_string(), fen);
        // The pawn is pinned, so the square counts only in the Polyglot key.
        let pinned = read(&marlin("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1", 0, 1)).unwrap();
        assert_eq!(pinned.pseudo_en_passant.map(|square| square.to_string()), Some("e3".to_owned()));
    }
}
