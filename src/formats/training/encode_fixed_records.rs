//! Writing records of one length, eight at a time.
//!
//! Rows come as ranges of a batch. If eight of them are the rows of a group, the group and its columns are taken as
//! they are. Otherwise the rows are gathered, one to a lane; a thinned input costs a little more, but nothing else
//! changes. A format ([`WriteFixed`]) then turns eight lanes into eight records with what the CPU offers ([`Bits`]),
//! and knows nothing of batches.
//!
//! No format here refuses a position: records that are written have been judged, and so have one king each and at most
//! 32 pieces.

use crate::chess::Move;
use crate::formats::codec::decode_records::Eight;
use crate::formats::codec::encode::Encoded;
use crate::formats::codec::encoder_columns::Rows;
use crate::packed::Group;
use crate::simd::inlined;
use crate::simd::nibbles::{Bits, Isa, Work};
use crate::table::{Batch, Values};
use crate::text::text_writer::Room;
use std::marker::PhantomData;
use std::ops::Range;

/// A format of records of `LEN` bytes, of which eight are encoded at once.
pub(in crate::formats) trait WriteFixed<const LEN: usize> {
    /// Whether a record has a move and a ply; otherwise they are not looked up.
    const HAS_MOVES: bool;

    /// Encodes eight lanes, each to its place: these boards, and the other values in `from`. The content of lanes
    /// without a record does not matter.
    fn eight<B: Bits>(bits: B, group: &Group, from: &Eight, to: &mut [[u8; LEN]; 8]);
}

/// Adds rows of a batch as bytes.
pub(in crate::formats) fn encode<F: WriteFixed<LEN>, const LEN: usize>(
    batch: &Batch,
    rows: &[Range<usize>],
    piece: &mut Encoded,
) {
    encode_by::<F, LEN>(Isa::best(), batch, rows, &mut piece.bytes);
}

/// Adds rows of a batch as bytes, with these instructions.
pub(in crate::formats) fn encode_by<F: WriteFixed<LEN>, const LEN: usize>(
    isa: Isa,
    batch: &Batch,
    rows: &[Range<usize>],
    bytes: &mut Vec<u8>,
) {
    bytes.reserve(LEN * rows.iter().map(ExactSizeIterator::len).sum::<usize>());
    isa.run(Encode::<F, LEN> { columns: Columns::of(batch, F::HAS_MOVES), rows, bytes, format: PhantomData });
}

/// The columns that records need.
struct Columns<'a> {
    rows: Rows<'a>,
    groups: &'a [Group],
    has_moves: bool,
}

/// The value of [`Eight::idle`] where there is no square.
const NO_SQUARE: u8 = 64;

impl<'a> Columns<'a> {
    fn of(batch: &'a Batch, has_moves: bool) -> Self {
        Self { rows: Rows::of(batch), groups: batch.groups(), has_moves }
    }

    fn idle(&self, row: usize) -> u8 {
        self.rows.idle(row).map_or(NO_SQUARE, |square| square.index() as u8)
    }

    /// Takes the values other than the boards from the eight rows of a group; the first row is a multiple of eight.
    #[inline(always)]
    fn take(&self, first: usize, to: &mut Eight) {
        let rows = &self.rows;
        to.halfmove.copy_from_slice(&rows.batch.halfmove[first..first + 8]);
        to.fullmove.copy_from_slice(&rows.batch.fullmove[first..first + 8]);
        to.score = eight(rows.scores, first, |row| rows.score(row));
        to.result = eight(rows.results, first, |row| rows.result(row));
        to.idle = eight(rows.idle, first, |row| self.idle(row));
        if self.has_moves {
            to.mv = eight(rows.moves, first, |row| rows.move_bits(row)).map(without_mark);
            to.ply = eight(rows.plies, first, |row| rows.ply(row));
        }
    }

    /// Takes a row into a lane.
    #[inline(always)]
    fn take_one(&self, row: usize, lane: usize, to: &mut Eight) {
        to.group.set(lane, self.groups[row / Group::LEN].get(row % Group::LEN));
        let rows = &self.rows;
        to.halfmove[lane] = rows.batch.halfmove[row];
        to.fullmove[lane] = rows.batch.fullmove[row];
        to.score[lane] = rows.score(row);
        to.result[lane] = rows.result(row);
        to.idle[lane] = self.idle(row);
        if self.has_moves {
            to.mv[lane] = without_mark(rows.move_bits(row));
            to.ply[lane] = rows.ply(row);
        }
    }
}

/// The bits of a move without [`Move::CHESS960`], which these formats cannot store.
#[inline(always)]
const fn without_mark(bits: u16) -> u16 {
    const CASTLES: u16 = 3 << 14;
    if bits & CASTLES == CASTLES { bits & !Move::CHESS960 } else { bits }
}

/// The values of eight rows, from a multiple of eight on: in one go if all eight exist, else one by one.
#[inline(always)]
fn eight<T: Copy + Default>(values: Option<&Values<T>>, first: usize, one: impl Fn(usize) -> T) -> [T; 8] {
    match values.map(|values| (values.present()[first / 64] >> (first % 64) & 0xFF, values.values())) {
        Some((0xFF, values)) => *values[first..].first_chunk().expect("eight rows"),
        _ => std::array::from_fn(|lane| one(first + lane)),
    }
}

/// Encodes rows.
struct Encode<'a, F, const LEN: usize> {
    columns: Columns<'a>,
    rows: &'a [Range<usize>],
    bytes: &'a mut Vec<u8>,
    format: PhantomData<F>,
}

/// Length from which a run is worth leaving lanes free before it, so that its rows are taken as whole groups.
const LONG: usize = 32;

impl<F: WriteFixed<LEN>, const LEN: usize> Work for Encode<'_, F, LEN> {
    type Done = ();

    #[inline(always)]
    fn with<B: Bits>(self, bits: B) {
        let columns = self.columns;
        let mut room = Room::behind(self.bytes);
        let mut write = inlined(
            #[inline(always)]
            |group: &Group, eight: &Eight, records: usize| {
                room.write(
                    8 * LEN,
                    #[inline(always)]
                    |to| {
                        let (to, _) = to.as_chunks_mut();
                        F::eight(bits, group, eight, to.first_chunk_mut().expect("room for eight records"));
                        records * LEN
                    },
                );
            },
        );
        let mut eight = Eight::default();
        // Lanes that are filled one by one.
        let mut filled = 0;
        for rows in self.rows {
            let mut row = rows.start;
            while row < rows.end {
                let is_group = row % Group::LEN == 0 && rows.end - row >= Group::LEN;
                if is_group && filled != 0 && rows.end - row >= LONG {
                    write(&eight.group, &eight, filled);
                    filled = 0;
                }
                if is_group && filled == 0 {
                    columns.take(row, &mut eight);
                    write(&columns.groups[row / Group::LEN], &eight, Group::LEN);
                    row += Group::LEN;
                    continue;
                }
                columns.take_one(row, filled, &mut eight);
                filled += 1;
                row += 1;
                if filled == Group::LEN {
                    write(&eight.group, &eight, filled);
                    filled = 0;
                }
            }
        }
        if filled != 0 {
            write(&eight.group, &eight, filled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::MoveKind;
    use crate::chess::random::{Random, RandomPlay, Start};
    use crate::chess::{CastlingRights, Color, Position, Square};
    use crate::formats::codec::decode_records::encoders;
    use crate::formats::training::bullet::Bullet;
    use crate::formats::training::marlin::{self, Marlin};
    use crate::formats::training::sfen::Sfen;
    use crate::packed::Packed;
    use crate::table::{Array, Field, is_sentinel};

    /// A number from a record, looked up on its own.
    fn number(batch: &Batch, row: usize, field: Field) -> Option<i64> {
        batch.values(field)?.number(row)
    }

    /// The en passant square on which no capture is legal.
    fn idle_of(batch: &Batch, row: usize) -> Option<Square> {
        number(batch, row, Field::KeyEnPassant).map(|square| Square::new(square as u8))
    }

    /// The score and the result to be stored, as White sees them.
    fn of_white(batch: &Batch, row: usize) -> (i16, u8) {
        let is_black = batch.board(row).side_to_move() == Color::Black;
        let mate = number(batch, row, Field::Mate).map(|mate| match mate {
            0 if is_black => 32_000,
            0 => -32_000,
            mate => mate.signum() * (32_000 - mate.abs()),
        });
        let score = number(batch, row, Field::Score).or(mate).unwrap_or(0) as i16;
        (score, number(batch, row, Field::Result).unwrap_or(1) as u8)
    }

    /// The score and the result to be stored, as the side to move sees them.
    fn of_mover(batch: &Batch, row: usize) -> (i16, u8) {
        let (score, result) = of_white(batch, row);
        match batch.board(row).side_to_move() {
            Color::Black if is_sentinel(score) => (score.abs(), 2 - result),
            Color::Black => (i32::from(score).wrapping_neg().min(32_767) as i16, 2 - result),
            Color::White if is_sentinel(score) => (score.abs(), result),
            Color::White => (score, result),
        }
    }

    /// Positions of random play, with columns in which some values are missing.
    fn played() -> Batch {
        let mut batch = Batch::new();
        let mut random = Random::new(21);
        let (mut scores, mut mates) = (Values::<i16>::default(), Values::<i16>::default());
        let (mut results, mut idle) = (Values::<u8>::default(), Values::<u8>::default());
        let (mut moves, mut plies) = (Values::<u16>::default(), Values::<u16>::default());
        let all = [Start::Standard, Start::Chess960].into_iter().flat_map(|start| RandomPlay::new(9, start).take(1700));
        for (number, played) in all.enumerate() {
            let mut position = played.position;
            position.halfmove = if number % 31 == 0 { 300 } else { position.halfmove };
            let board = Packed::pack(&position).unwrap();
            batch.push(board, position.halfmove, position.fullmove);
            // Some groups have all values, others do not.
            let is_whole = number / 64 % 2 == 0;
            let extremes = [i16::MIN, i16::MAX, 32_002, -32_002, -32_767, 31_950, 0];
            let score = extremes.get(number % 40).copied().unwrap_or(random.below(4000) as i16 - 2000);
            scores.push((is_whole || number % 5 != 0).then_some(score));
            mates.push((number % 7 == 0).then_some([0, 3, -3, i16::MIN, i16::MAX][number / 7 % 5]));
            results.push((is_whole || number % 3 != 0).then_some(random.below(3) as u8));
            moves.push(played.next.filter(|_| is_whole || number % 4 != 0).map(Move::to_bits));
            plies.push((is_whole || number % 6 != 0).then_some(played.ply));
            let rank = if board.side_to_move() == Color::White { 5 } else { 2 };
            idle.push((number % 50 == 3 && board.en_passant().is_none()).then_some(8 * rank + (number % 8) as u8));
        }
        batch.fields.insert(Field::Score, Array::I16(scores));
        batch.fields.insert(Field::Mate, Array::I16(mates));
        batch.fields.insert(Field::Result, Array::U8(results));
        batch.fields.insert(Field::Move, Array::U16(moves));
        batch.fields.insert(Field::Ply, Array::U16(plies));
        batch.fields.insert(Field::KeyEnPassant, Array::U8(idle));
        batch
    }

    /// Typical selections of rows: all, thinned, and in short and long runs.
    fn ranges(len: usize) -> Vec<Vec<Range<usize>>> {
        let mut random = Random::new(4);
        let mut all = vec![vec![0..len], vec![], vec![3..len - 1], vec![len - 1..len]];
        all.push((0..len).step_by(2).map(|row| row..row + 1).collect());
        for most in [3, 20, 100] {
            let (mut runs, mut row) = (Vec::new(), 0);
            while row < len {
                let end = (row + 1 + random.below(most) as usize).min(len);
                runs.push(row..end);
                row = end + 1 + random.below(3) as usize;
            }
            all.push(runs);
        }
        all
    }

    /// Encodes with all instruction sets, and compares with a plain encoder that takes one row at a time.
    fn agree<F: WriteFixed<LEN>, const LEN: usize>(batch: &Batch, one: impl Fn(usize) -> [u8; LEN]) {
        let expected: Vec<[u8; LEN]> = (0..batch.len()).map(one).collect();
        for isa in Isa::available() {
            for rows in ranges(batch.len()) {
                let mut bytes = vec![7];
                encode_by::<F, LEN>(isa, batch, &rows, &mut bytes);
                let (found, rest) = bytes[1..].as_chunks::<LEN>();
                assert!(rest.is_empty());
                let rows: Vec<usize> = rows.into_iter().flatten().collect();
                assert_eq!(found.len(), rows.len());
                for (found, row) in found.iter().zip(rows) {
                    assert_eq!(*found, expected[row], "{isa:?}, row {row}: {:?}", batch.position(row));
                }
            }
        }
    }

    /// The position as FEN, with the clock limited to the maximum of the format, and with the en passant square that is
    /// stored by formats with the rule of the Polyglot key.
    fn fen(batch: &Batch, row: usize, most: u16, change: impl FnOnce(&mut Position)) -> String {
        let mut position = batch.position(row).unwrap();
        position.halfmove = position.halfmove.min(most);
        position.en_passant = position.en_passant.or(idle_of(batch, row));
        change(&mut position);
        position.to_string()
    }

    #[test]
    fn all_ways_agree_with_plain_encoders() {
        let batch = &played();
        agree::<Marlin, 32>(batch, |row| {
            let (score, result) = of_white(batch, row);
            let clocks = [batch.halfmove[row], batch.fullmove[row]];
            let idle = idle_of(batch, row);
            let record = encoders::marlin(&fen(batch, row, 255, |_| ()), score, result);
            assert_eq!(record, marlin::record_of(&batch.board(row), idle, clocks, score, result));
            record
        });
        agree::<Bullet, 32>(batch, |row| {
            let (score, result) = of_mover(batch, row);
            encoders::bullet(&fen(batch, row, 255, |_| ()), score, result)
        });
        agree::<Sfen, 40>(batch, |row| {
            let position = batch.position(row).unwrap();
            let is_standard = position.castles_as_standard();
            let (score, result) = of_mover(batch, row);
            let result = result as i8 - 1;
            let mv = number(batch, row, Field::Move)
                .and_then(|bits| Move::from_bits(bits as u16))
                .filter(|mv| is_standard || mv.kind != MoveKind::Castle)
                .map_or(0, |mv| {
                    let turned = Move { from: mv.to, to: mv.from, kind: mv.kind };
                    turned.to_bits()
                });
            let black = u16::from(position.side_to_move == Color::Black);
            let ply = number(batch, row, Field::Ply).map_or(2 * (position.fullmove - 1) + black, |ply| ply as u16);
            let fen = fen(batch, row, 127, |position| {
                if !is_standard {
                    position.castling = CastlingRights::default();
                }
            });
            encoders::sfen(&fen, score, mv, ply, result)
        });
    }

    /// For any planes, boards or not, all instruction sets write the same.
    #[test]
    fn all_ways_agree_on_weird_boards() {
        let mut random = Random::new(17);
        let mut batch = Batch::new();
        for number in 0..3000 {
            let mut word = || match number % 4 {
                0 => random.bits(),
                1 => random.bits() & random.bits(),
                2 => random.bits() | random.bits(),
                _ => random.bits() & random.bits() & random.bits(),
            };
            let board = Packed { color: word(), types: [word(), word(), word()] };
            batch.push(board, word() as u16, word() as u16);
        }
        fn alike<F: WriteFixed<LEN>, const LEN: usize>(batch: &Batch) {
            for rows in ranges(batch.len()) {
                let mut ways = Isa::available().into_iter().map(|isa| {
                    let mut bytes = Vec::new();
                    encode_by::<F, LEN>(isa, batch, &rows, &mut bytes);
                    bytes
                });
                let first = ways.next().unwrap();
                assert!(ways.all(|bytes| bytes == first));
            }
        }
        alike::<Marlin, 32>(&batch);
        alike::<Bullet, 32>(&batch);
        alike::<Sfen, 40>(&batch);
    }
}
