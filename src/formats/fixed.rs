//! Writing records of one length, eight at a time.
//!
//! Rows come as ranges of a batch. Where eight of them are the rows of a group, the group and the columns beside it are taken
//! as they are; otherwise the rows are gathered, one to a lane, so that a thinned input costs a little more, and nothing else
//! changes. A format ([`WriteFixed`]) then turns eight lanes into eight records with what the CPU offers ([`Bits`]), and
//! knows nothing of batches.
//!
//! No format here refuses a position: records that are written have been judged, and so have one king each and at most 32
//! pieces.

use super::encode::Encoded;
use super::records::Eight;
use super::training::score_of_mate;
use crate::chess::Color;
use crate::packed::Group;
use crate::simd::inlined;
use crate::simd::nibbles::{Bits, Way, Work};
use crate::table::{Array, Batch, Field, Values, is_sentinel};
use crate::text::room::Room;
use std::marker::PhantomData;
use std::ops::Range;

/// A format of records of `LEN` bytes, of which eight are encoded at once.
pub(super) trait WriteFixed<const LEN: usize> {
    /// Whether a record has a move and a ply; otherwise they are not looked up.
    const HAS_MOVES: bool;

    /// Encodes eight lanes, each to its place: these boards, and what is beside the boards in `from`. Lanes without a record
    /// hold anything.
    fn eight<B: Bits>(bits: B, group: &Group, from: &Eight, to: &mut [[u8; LEN]; 8]);
}

/// Adds rows of a batch as bytes.
pub(super) fn encode<F: WriteFixed<LEN>, const LEN: usize>(batch: &Batch, rows: &[Range<usize>], piece: &mut Encoded) {
    encode_by::<F, LEN>(Way::best(), batch, rows, &mut piece.bytes);
}

/// The same in this way.
pub(super) fn encode_by<F: WriteFixed<LEN>, const LEN: usize>(
    way: Way,
    batch: &Batch,
    rows: &[Range<usize>],
    bytes: &mut Vec<u8>,
) {
    bytes.reserve(LEN * rows.iter().map(ExactSizeIterator::len).sum::<usize>());
    way.run(Encode::<F, LEN> { columns: Columns::of(batch, F::HAS_MOVES), rows, bytes, format: PhantomData });
}

/// The columns that records need.
struct Columns<'a> {
    batch: &'a Batch,
    groups: &'a [Group],
    score: Option<&'a Values<i16>>,
    mate: Option<&'a Values<i16>>,
    result: Option<&'a Values<u8>>,
    idle: Option<&'a Values<u8>>,
    mv: Option<&'a Values<u16>>,
    ply: Option<&'a Values<u16>>,
    has_moves: bool,
}

/// The value of [`Eight::idle`] where there is no square.
const NO_SQUARE: u8 = 64;

impl<'a> Columns<'a> {
    fn of(batch: &'a Batch, has_moves: bool) -> Self {
        let i16s = |field| match batch.values(field) {
            Some(Array::I16(values)) => Some(values),
            _ => None,
        };
        let u8s = |field| match batch.values(field) {
            Some(Array::U8(values)) => Some(values),
            _ => None,
        };
        let u16s = |field| match batch.values(field).filter(|_| has_moves) {
            Some(Array::U16(values)) => Some(values),
            _ => None,
        };
        Self {
            batch,
            groups: batch.groups(),
            score: i16s(Field::Score),
            mate: i16s(Field::Mate),
            result: u8s(Field::Result),
            idle: u8s(Field::KeyEnPassant),
            mv: u16s(Field::Move),
            ply: u16s(Field::Ply),
            has_moves,
        }
    }

    /// As [`super::training::score_of_white`].
    fn score(&self, row: usize) -> i16 {
        let mate = || Some(score_of_mate(self.batch, row, (*self.mate?.get(row)?).into()));
        value(self.score, row).or_else(mate).unwrap_or(0)
    }

    /// As [`super::training::result_of_white`].
    fn result(&self, row: usize) -> u8 {
        value(self.result, row).unwrap_or(1)
    }

    /// The ply of a record: the one that it has, else that of the number of its move.
    fn ply(&self, row: usize) -> u16 {
        let of_fullmove = || {
            let black = u32::from(self.batch.board(row).side_to_move() == Color::Black);
            let ply = 2 * u32::from(self.batch.fullmove[row].max(1) - 1) + black;
            ply.min(u16::MAX.into()) as u16
        };
        value(self.ply, row).unwrap_or_else(of_fullmove)
    }

    /// Takes what is beside the boards in the eight rows of a group; the first one is a multiple of eight.
    #[inline(always)]
    fn take(&self, first: usize, to: &mut Eight) {
        to.halfmove.copy_from_slice(&self.batch.halfmove[first..first + 8]);
        to.fullmove.copy_from_slice(&self.batch.fullmove[first..first + 8]);
        to.score = eight(self.score, first, |row| self.score(row));
        to.result = eight(self.result, first, |row| self.result(row));
        to.idle = eight(self.idle, first, |row| value(self.idle, row).unwrap_or(NO_SQUARE));
        if self.has_moves {
            to.mv = eight(self.mv, first, |row| value(self.mv, row).unwrap_or(0));
            to.ply = eight(self.ply, first, |row| self.ply(row));
        }
    }

    /// Takes a row into a lane.
    #[inline(always)]
    fn take_one(&self, row: usize, lane: usize, to: &mut Eight) {
        to.group.set(lane, self.groups[row / Group::LEN].get(row % Group::LEN));
        to.halfmove[lane] = self.batch.halfmove[row];
        to.fullmove[lane] = self.batch.fullmove[row];
        to.score[lane] = self.score(row);
        to.result[lane] = self.result(row);
        to.idle[lane] = value(self.idle, row).unwrap_or(NO_SQUARE);
        if self.has_moves {
            to.mv[lane] = value(self.mv, row).unwrap_or(0);
            to.ply[lane] = self.ply(row);
        }
    }
}

#[inline(always)]
fn value<T: Copy + Default>(values: Option<&Values<T>>, row: usize) -> Option<T> {
    values?.get(row).copied()
}

/// The values of eight rows, from a multiple of eight on: as they are if all of them are there, else one by one.
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

/// Rows of a run that are worth it to leave lanes free before them, so that they are taken as whole groups.
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

/// A score of White as the side to move sees it: see [`super::training::score_of_mover`].
#[inline(always)]
pub(super) fn score_of_mover(score: i16, is_black: bool) -> i16 {
    let turned = if is_black { score.saturating_neg() } else { score };
    if is_sentinel(score) { score.saturating_abs() } else { turned }
}

/// A result of White as the side to move sees it.
#[inline(always)]
pub(super) fn result_of_mover(result: u8, is_black: bool) -> u8 {
    if is_black { 2u8.wrapping_sub(result) } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::moves::MoveKind;
    use crate::chess::random::{Random, RandomPlay, Start};
    use crate::chess::{CastlingRights, Move, Position};
    use crate::formats::bullet::Bullet;
    use crate::formats::marlin::{self, Marlin};
    use crate::formats::records::encoders;
    use crate::formats::sfen::Sfen;
    use crate::formats::training;
    use crate::packed::Packed;

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
            // Whole groups with all values, and others.
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

    /// Rows as they may come: all, thinned, and in short and long runs.
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

    /// Encodes in all ways, and compares with a plain encoder of one row.
    fn agree<F: WriteFixed<LEN>, const LEN: usize>(batch: &Batch, one: impl Fn(usize) -> [u8; LEN]) {
        let expected: Vec<[u8; LEN]> = (0..batch.len()).map(one).collect();
        for way in Way::available() {
            for rows in ranges(batch.len()) {
                let mut bytes = vec![7];
                encode_by::<F, LEN>(way, batch, &rows, &mut bytes);
                let (found, rest) = bytes[1..].as_chunks::<LEN>();
                assert!(rest.is_empty());
                let rows: Vec<usize> = rows.into_iter().flatten().collect();
                assert_eq!(found.len(), rows.len());
                for (found, row) in found.iter().zip(rows) {
                    assert_eq!(*found, expected[row], "{way:?}, row {row}: {:?}", batch.position(row));
                }
            }
        }
    }

    /// The position as FEN, with its clock cut at the most that a format holds, and with the square that formats with the
    /// rule of the Polyglot key store.
    fn fen(batch: &Batch, row: usize, most: u16, change: impl FnOnce(&mut Position)) -> String {
        let mut position = batch.position(row).unwrap();
        position.halfmove = position.halfmove.min(most);
        position.en_passant = position.en_passant.or(training::idle_of(batch, row));
        change(&mut position);
        position.to_string()
    }

    #[test]
    fn all_ways_agree_with_plain_encoders() {
        let batch = &played();
        agree::<Marlin, 32>(batch, |row| {
            let (score, result) = (training::score_of_white(batch, row), training::result_of_white(batch, row));
            let clocks = [batch.halfmove[row], batch.fullmove[row]];
            let idle = training::idle_of(batch, row);
            let record = encoders::marlin(&fen(batch, row, 255, |_| ()), score, result);
            assert_eq!(record, marlin::record_of(&batch.board(row), idle, clocks, score, result));
            record
        });
        agree::<Bullet, 32>(batch, |row| {
            let (score, result) = (training::score_of_mover(batch, row), training::result_of_mover(batch, row));
            encoders::bullet(&fen(batch, row, 255, |_| ()), score, result)
        });
        agree::<Sfen, 40>(batch, |row| {
            let position = batch.position(row).unwrap();
            let is_standard = position.castles_as_standard();
            let score = training::score_of_mover(batch, row);
            let result = training::result_of_mover(batch, row) as i8 - 1;
            let mv = training::number(batch, row, Field::Move).and_then(|bits| Move::from_bits(bits as u16));
            let mv = mv.filter(|mv| is_standard || mv.kind != MoveKind::Castle).map_or(0, |mv| {
                let turned = Move { from: mv.to, to: mv.from, kind: mv.kind };
                turned.to_bits()
            });
            let black = u16::from(position.side_to_move == Color::Black);
            let ply = training::number(batch, row, Field::Ply);
            let ply = ply.map_or(2 * (position.fullmove - 1) + black, |ply| ply as u16);
            let fen = fen(batch, row, 127, |position| {
                if !is_standard {
                    position.castling = CastlingRights::default();
                }
            });
            encoders::sfen(&fen, score, mv, ply, result)
        });
    }

    /// Boards that are none, as `--validity any` lets them through: all ways write the same, whatever it is.
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
                let mut ways = Way::available().into_iter().map(|way| {
                    let mut bytes = Vec::new();
                    encode_by::<F, LEN>(way, batch, &rows, &mut bytes);
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
