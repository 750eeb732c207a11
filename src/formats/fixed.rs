//! Writing records of one length, eight at a time.
//!
//! Rows come as ranges of a batch. Where eight of them are the rows of a group, the group and the columns beside it are taken
//! as they are; otherwise the rows are gathered, one to a lane, so that a thinned input costs a little more, and nothing else
//! changes. A format ([`WriteFixed`]) then turns eight lanes into eight records with what the CPU offers ([`Bits`]), and
//! knows nothing of batches.

use super::encode::Encoded;
use super::records::Eight;
use super::training::score_of_mate;
use crate::chess::Color;
use crate::packed::Group;
use crate::simd::nibbles::{Bits, Way, Work};
use crate::table::{Array, Batch, Field, Values, is_sentinel};
use std::marker::PhantomData;
use std::ops::Range;

/// A format of records of `LEN` bytes, of which eight are encoded at once.
pub(super) trait WriteFixed<const LEN: usize> {
    /// Whether a record has a move and a ply; otherwise they are not looked up.
    const HAS_MOVES: bool;

    /// Encodes eight lanes, each to its place. Those without a record hold anything.
    fn eight<B: Bits>(bits: B, from: &Eight, to: &mut [[u8; LEN]; 8]);
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

    /// Takes the eight rows of a group; the first one is a multiple of eight.
    #[inline(always)]
    fn take(&self, first: usize, to: &mut Eight) {
        to.group = self.groups[first / Group::LEN];
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
        let (columns, bytes) = (self.columns, self.bytes);
        let mut eight = Eight::default();
        let mut records = [[0; LEN]; 8];
        // Lanes that are filled one by one.
        let mut filled = 0;
        for rows in self.rows {
            let mut row = rows.start;
            while row < rows.end {
                let is_group = row % Group::LEN == 0 && rows.end - row >= Group::LEN;
                if is_group && filled != 0 && rows.end - row >= LONG {
                    F::eight(bits, &eight, &mut records);
                    bytes.extend_from_slice(records[..filled].as_flattened());
                    filled = 0;
                }
                if is_group && filled == 0 {
                    columns.take(row, &mut eight);
                    F::eight(bits, &eight, &mut records);
                    bytes.extend_from_slice(records.as_flattened());
                    row += Group::LEN;
                    continue;
                }
                columns.take_one(row, filled, &mut eight);
                filled += 1;
                row += 1;
                if filled == Group::LEN {
                    F::eight(bits, &eight, &mut records);
                    bytes.extend_from_slice(records.as_flattened());
                    filled = 0;
                }
            }
        }
        if filled != 0 {
            F::eight(bits, &eight, &mut records);
            bytes.extend_from_slice(records[..filled].as_flattened());
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
