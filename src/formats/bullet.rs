//! bulletformat: positions for training, 32 bytes each, seen from the side to move.
//!
//! If Black was to move, the board has been flipped vertically and the colors exchanged; who it was is not stored, nor are
//! castling rights, en passant squares and clocks. So a record is read as a position with White to move and nothing of the
//! kind, and its legal moves are those of that position: a note says so.
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 8 | occupied squares, a1 in bit 0 |
//! | 8 | 16 | a code of 4 bits for each of them, from a1 to h8, the low half of a byte first: 0 pawn, 1 knight, 2 bishop, 3 rook, 4 queen, 5 king, and 8 more if it is the opponent's; unused ones are 0 |
//! | 24 | 2 | score in centipawns, of the side to move |
//! | 26 | 1 | result for the side to move: 0 loss, 1 draw, 2 win |
//! | 27 | 1 | square of the king |
//! | 28 | 1 | square of the opponent's king, flipped |
//! | 29 | 3 | 0 |
//!
//! Numbers are little-endian. There is no header: a file is recognized by its first hundred records, in which the squares
//! of the kings have to be those of their codes; one in ten may be bad, and is rejected when it is read. Scores beyond
//! 31,000 have no agreed meaning: they are read as none, and counted. The sentinel 32,002 of either sign is kept as one.
//!
//! The layout is that of the crate `bulletformat`.

use super::records::{self, BadRecord, Record};
use super::{About, Chunk, Codec, DecodeOptions, Decoded, Evidence, Layout, Likeness, Remark, Watch};
use crate::chess::{Bitboard, Color, Piece, Position, Role, Square};
use crate::error::Damage;
use crate::table::{Field, Fields, MOST_CENTIPAWNS, is_sentinel};
use crate::text::numbers::counted;

/// Bytes of a record.
const LEN: usize = 32;
/// Number of records examined to recognize the format.
const EXAMINED: usize = 100;
/// One of this many examined records may be bad.
const TOLERATED: usize = 10;

/// Scores that are not read.
static FAR_SCORE: Remark = Remark {
    what: "score",
    how: "of bulletformat beyond ±31,000, where the meaning is not agreed: read as no score",
    is_detail: false,
};

/// bulletformat.
#[derive(Clone, Copy, Debug)]
pub struct Bullet;

impl Codec for Bullet {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "bullet",
            title: "bulletformat: training data without side to move, castling and en passant",
            extensions: &["bullet"],
            has_games: false,
            selects: false,
            carries: Fields::of(&[Field::Score, Field::Result]),
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        let (examined, bad) = examine(head);
        Likeness::certain_if(examined != 0 && bad.len() <= examined / TOLERATED)
    }
    fn layout(&self) -> Layout {
        Layout::Records(LEN)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        let mut decoded = records::decode(self.about().carries, chunk, options, read);
        decoded.batches.iter_mut().for_each(|batch| batch.is_from_mover = true);
        if options.fields.contains(Field::Score) {
            let (records, _) = chunk.bytes.as_chunks::<LEN>();
            let far = records.iter().filter(|record| is_far(score(record)) && read(record).is_ok()).count();
            decoded.remarks.add(&FAR_SCORE, far as u64);
        }
        decoded
    }
    fn watch(&self) -> Option<Box<dyn Watch>> {
        Some(Box::new(Sideless))
    }
}

/// Number of records examined, and those of them that are bad: number and reason.
fn examine(head: &[u8]) -> (usize, Vec<(usize, BadRecord)>) {
    let (records, _) = head.as_chunks::<LEN>();
    let records = &records[..records.len().min(EXAMINED)];
    let bad = records.iter().enumerate().filter_map(|(number, record)| Some((number, read(record).err()?)));
    (records.len(), bad.collect())
}

/// Why a file is not recognized: how many of its first records are bad; `None` if it has no record.
pub(super) fn seen(head: &[u8]) -> Option<String> {
    let (examined, bad) = examine(head);
    let (number, first) = bad.first()?;
    Some(format!(
        "{} of its first {} cannot be read as bulletformat (record {number}: {})",
        bad.len(),
        counted(examined as u64, "record"),
        first.message
    ))
}

/// Says what the records do not have.
#[derive(Debug)]
struct Sideless;

impl Watch for Sideless {
    fn chunk(&mut self, _: Option<Evidence>, _: u64) -> Vec<Damage> {
        Vec::new()
    }
    fn end(&mut self, _: u64) -> (Vec<Damage>, Option<&'static str>) {
        let note = "records have no side to move, castling rights, en passant squares and clocks: they are read as White \
                    to move, and legal moves are counted without castling and en passant";
        (Vec::new(), Some(note))
    }
}

/// The score of a record.
fn score(record: &[u8; LEN]) -> i16 {
    i16::from_le_bytes([record[24], record[25]])
}

/// Whether a score is beyond those that have a meaning.
fn is_far(score: i16) -> bool {
    score.unsigned_abs() > MOST_CENTIPAWNS && !is_sentinel(score)
}

/// Reads a record.
fn read(record: &[u8; LEN]) -> Result<Record, BadRecord> {
    let occupied = Bitboard(u64::from_le_bytes(*record.first_chunk().expect("32 bytes have 8")));
    let bad = |reason, message: &str| Err(BadRecord::new(reason, message.to_owned()));
    if occupied.0.count_ones() > 32 {
        return bad("too_many_pieces", "more than 32 occupied squares");
    }
    let mut codes = record[8..24].iter().flat_map(|&byte| [byte & 15, byte >> 4]);
    let mut position = Position::empty();
    for (square, code) in occupied.into_iter().zip(&mut codes) {
        let Some(&role) = Role::ALL.get(usize::from(code & 7)) else {
            return bad("unknown_piece", "a piece with a code above 5");
        };
        let color = if code & 8 == 0 { Color::White } else { Color::Black };
        position.put(square, Piece { color, role });
    }
    if codes.any(|code| code != 0) {
        return bad("unused_bytes", "the code of a piece without a square");
    }
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
    Ok(Record {
        score: Some(score(record)).filter(|&score| !is_far(score)),
        result: Some(record[26]),
        ..Record::of(position)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(hex: &str) -> [u8; LEN] {
        std::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
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
            let read = read(&record(hex)).unwrap();
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
            assert_eq!(read(&bad).unwrap_err().reason, reason, "{at}");
        }
        let mut far = good;
        far[24..26].copy_from_slice(&i16::MIN.to_le_bytes());
        assert_eq!(read(&far).unwrap().score, None);
        for sentinel in [32_002i16, -32_002] {
            far[24..26].copy_from_slice(&sentinel.to_le_bytes());
            assert_eq!(read(&far).unwrap().score, Some(sentinel));
        }
    }
}
