//! Shared by formats that are a sequence of records: the content of a record, and fields that are kept only if some
//! record has them.
//!
//! Formats of records of one length ([`Fixed`]) are decoded eight records at a time, straight into the lanes of a
//! [`Group`]: most records of training data are good and ordinary, and can be decoded without branches. A format does
//! that with the instructions of the CPU ([`Bits`]), and says which of the eight records it is sure of. All others, bad
//! ones and good ones with something unusual, are read again one by one, slowly, by a function that knows every reason
//! to reject a record. Tests also compare the fast way with that function.

use crate::chess::fen::FenError;
use crate::chess::{Color, Move, Position, Square, Validity};
use crate::error::{Damage, Place, Reject};
use crate::formats::{Chunk, DecodeOptions, Decoded, DroppedKind, DroppedValue, Remark, Sampled};
use crate::packed::{Group, Packed};
use crate::simd::nibbles::{Bits, Isa, Work};
use crate::table::{Array, Batch, Field, Fields, Values, bits_where};
use crate::text::numbers::counted;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// The remark on en passant squares that are dropped, in any format.
pub(in crate::formats) static DROPPED_EN_PASSANT: Remark =
    Remark { what: "en passant square", how: "dropped, because no en passant capture is legal", is_detail: true };

/// The remark on scores of -32,768 for Black.
pub(in crate::formats) static SATURATED_SCORE: Remark =
    Remark { what: "score", how: "of -32,768 for Black read as 32,767 for White", is_detail: false };

/// The content of a record.
#[derive(Debug)]
pub(in crate::formats) struct Record {
    pub(in crate::formats) position: Position,
    pub(in crate::formats) dropped_en_passant: bool,
    /// The value of [`Field::KeyEnPassant`].
    pub(in crate::formats) pseudo_en_passant: Option<Square>,
    pub(in crate::formats) mv: Option<Move>,
    pub(in crate::formats) ply: Option<u16>,
    pub(in crate::formats) score: Option<i16>,
    /// Whether the score is off by one, because 32,768 does not fit in 16 bits.
    pub(in crate::formats) saturated_score: bool,
    pub(in crate::formats) mate: Option<i16>,
    pub(in crate::formats) result: Option<u8>,
    pub(in crate::formats) depth: Option<u16>,
    pub(in crate::formats) knodes: Option<u64>,
    pub(in crate::formats) puzzle_rating: Option<u16>,
    pub(in crate::formats) rating_deviation: Option<u16>,
    pub(in crate::formats) popularity: Option<i16>,
    pub(in crate::formats) plays: Option<u32>,
    /// Texts, looked up only if their field is requested.
    pub(in crate::formats) texts: Vec<(Field, String)>,
    /// Values of fields that could not be read.
    pub(in crate::formats) unread: Vec<(Field, String)>,
}

impl Record {
    /// Makes a record of a position and nothing else.
    pub(in crate::formats) fn of(position: Position) -> Self {
        Self {
            position,
            dropped_en_passant: false,
            pseudo_en_passant: None,
            mv: None,
            ply: None,
            score: None,
            saturated_score: false,
            mate: None,
            result: None,
            depth: None,
            knodes: None,
            puzzle_rating: None,
            rating_deviation: None,
            popularity: None,
            plays: None,
            texts: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Makes a record of a position with its board.
    fn pack(self) -> Result<(Self, Packed), BadRecord> {
        match Packed::pack(&self.position) {
            Ok(board) => Ok((self, board)),
            Err(error) => {
                let violations = self.position.violations(Validity::Strict);
                let reason = violations.names().next().unwrap_or("unpackable");
                Err(BadRecord::new(reason, error.to_string()))
            }
        }
    }

    /// Gives a position an en passant square, as readers of FEN do: one on which no capture is legal is dropped, unless
    /// keeping it was requested.
    pub(in crate::formats) fn set_en_passant(
        &mut self,
        written: Square,
        options: &DecodeOptions,
    ) -> Result<(), BadRecord> {
        let position = &mut self.position;
        position.en_passant = Some(written);
        if options.keep_en_passant {
            return Ok(());
        }
        let as_written = (options.validity == Validity::Strict).then(|| position.violations(Validity::Strict));
        if !position.drop_unusable_en_passant() {
            return Ok(());
        }
        // Afterwards there is no trace of it.
        if let Some(violations) = as_written
            && let Some(reason) = violations.names().next()
        {
            return Err(BadRecord::new(reason, violations.to_string()));
        }
        self.dropped_en_passant = true;
        self.pseudo_en_passant = position.pseudo_en_passant(Some(written));
        Ok(())
    }

    /// Sets a score that is given as the side to move sees it.
    pub(in crate::formats) fn set_score_of_mover(&mut self, score: i16) {
        let (score, is_saturated) = score_of_white(score, self.position.side_to_move == Color::Black);
        (self.score, self.saturated_score) = (Some(score), is_saturated);
    }
}

/// A score of the side to move as White sees it, and whether it is saturated: -32,768 has no counterpart, and becomes
/// 32,767.
#[inline(always)]
pub(in crate::formats) fn score_of_white(score: i16, is_black: bool) -> (i16, bool) {
    (if is_black { score.saturating_neg() } else { score }, is_black && score == i16::MIN)
}

/// The values of [`Field::KeyEnPassant`]: one row in some hundred thousand has one.
#[derive(Debug, Default)]
pub(in crate::formats) struct PseudoEnPassants(Vec<(usize, Square)>);

impl PseudoEnPassants {
    #[inline]
    pub(in crate::formats) fn add(&mut self, row: usize, square: Option<Square>) {
        self.0.extend(square.map(|square| (row, square)));
    }
    /// Adds the column to a batch, if it is requested and some row has a value.
    pub(in crate::formats) fn finish(self, options: &DecodeOptions, batch: &mut Batch) {
        if self.0.is_empty() || !options.fields.contains(Field::KeyEnPassant) {
            return;
        }
        let (mut squares, mut present) = (vec![0; batch.len()], vec![0; batch.len().div_ceil(64)]);
        for (row, square) in self.0 {
            squares[row] = square.index() as u8;
            present[row / 64] |= 1 << (row % 64);
        }
        batch.fields.insert(Field::KeyEnPassant, Array::U8(Values::from_clean_parts(squares, present)));
    }
}

/// The reason why bytes or a line are not a record: a stable name, and a message.
#[derive(Debug)]
pub(in crate::formats) struct BadRecord {
    pub(in crate::formats) reason: &'static str,
    pub(in crate::formats) message: Cow<'static, str>,
}

impl BadRecord {
    pub(in crate::formats) fn new(reason: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl From<FenError> for BadRecord {
    fn from(error: FenError) -> Self {
        Self::new(error.expected.name(), error.to_string())
    }
}

/// The records of a chunk so far.
pub(in crate::formats) struct DecodedRows<'a> {
    chunk: &'a Chunk,
    pub(in crate::formats) decoded: Decoded,
    batch: Batch,
    ordinals: Vec<u32>,
    columns: BTreeMap<Field, Array>,
}

impl<'a> DecodedRows<'a> {
    /// Makes an empty list, with columns for the requested fields among those that the format may have.
    pub(in crate::formats) fn new(chunk: &'a Chunk, carries: Fields, options: &DecodeOptions) -> Self {
        let fields = options.fields.iter().filter(|&field| carries.contains(field));
        Self {
            chunk,
            decoded: Decoded::default(),
            batch: Batch::new(),
            ordinals: Vec::new(),
            columns: fields.map(|field| (field, field.column(0))).collect(),
        }
    }

    /// Adds the record that begins at a byte of the chunk, good or bad; `raw`: its line, if it has one, and the bytes
    /// that a reject keeps.
    pub(in crate::formats) fn add(
        &mut self,
        start: usize,
        record: Result<Record, BadRecord>,
        raw: impl FnOnce() -> (Option<u64>, Vec<u8>),
    ) {
        match record.and_then(Record::pack) {
            Ok((record, board)) => {
                let position = &record.position;
                self.batch.push(board, position.halfmove, position.fullmove);
                self.batch.origins.push(start as u32);
                self.ordinals.push(self.decoded.records as u32);
                self.decoded.records += 1;
                self.decoded.remarks.add(&DROPPED_EN_PASSANT, record.dropped_en_passant.into());
                for (&field, values) in &mut self.columns {
                    add(&record, field, values);
                }
                if !record.unread.is_empty() {
                    let place = Place {
                        line: raw().0,
                        offset: start as u64,
                        record: self.decoded.records - 1,
                        ..Place::start_of(Arc::clone(&self.chunk.file))
                    };
                    let unread = record.unread.iter();
                    self.decoded.dropped_values.extend(unread.map(|(field, value)| {
                        DroppedValue::new(DroppedKind::Value(*field), place.clone(), value.as_bytes())
                    }));
                }
            }
            Err(bad) => {
                let (line, raw) = raw();
                let place = Place { line, ..Place::start_of(Arc::clone(&self.chunk.file)) };
                self.reject(start, Reject::new(place, vec![bad.reason], bad.message, raw));
            }
        }
    }

    /// Adds a bad record that begins at a byte of the chunk.
    pub(in crate::formats) fn reject(&mut self, start: usize, mut reject: Reject) {
        reject.place.offset = start as u64;
        reject.place.record = self.decoded.records;
        self.decoded.rejects.push(reject);
        self.decoded.records += 1;
    }

    /// The result for the chunk.
    pub(in crate::formats) fn finish(mut self) -> Decoded {
        self.columns.retain(|_, values| values.count_present() != 0);
        self.batch.fields = self.columns;
        if !self.decoded.rejects.is_empty() {
            self.batch.ordinals = Some(self.ordinals);
        }
        if !self.batch.is_empty() {
            self.decoded.batches.push(self.batch);
        }
        self.decoded
    }
}

/// A format of records of `LEN` bytes, of which eight are decoded at once.
///
/// Each record has all fields that the format may carry, but for the move and [`Field::KeyEnPassant`].
pub(in crate::formats) trait Fixed<const LEN: usize> {
    /// The fields that its records may have.
    const CARRIES: Fields;

    /// Decodes eight records, each into its lane and its place, and returns the lanes that are done, a bit each.
    /// Unusual records may be left out, good or bad: [`Self::read`] decides about them. For records that are decoded
    /// here, it must give the same result.
    fn eight<B: Bits>(bits: B, records: &[[u8; LEN]; 8], to: &mut Eight) -> u8;

    /// Reads any record, slowly.
    ///
    /// # Errors
    /// If it is bad: with the reason.
    fn read(record: &[u8; LEN], options: &DecodeOptions) -> Result<Record, BadRecord>;
}

/// Eight records, decoded or to be encoded. Other lanes are unspecified, and so are fields that the format does not
/// have.
#[derive(Debug, Default)]
pub(in crate::formats) struct Eight {
    pub(in crate::formats) group: Group,
    pub(in crate::formats) halfmove: [u16; 8],
    pub(in crate::formats) fullmove: [u16; 8],
    pub(in crate::formats) score: [i16; 8],
    pub(in crate::formats) result: [u8; 8],
    /// Like [`Field::Move`]; 0 without a move.
    pub(in crate::formats) mv: [u16; 8],
    pub(in crate::formats) ply: [u16; 8],
    /// Like [`Field::KeyEnPassant`]; 64 without a square. Only for writing: records with such a square are read slowly.
    pub(in crate::formats) idle: [u8; 8],
}

/// The rows of records so far, a column for each that is requested.
struct Rows {
    requested: Fields,
    groups: Vec<Group>,
    halfmove: Vec<u16>,
    fullmove: Vec<u16>,
    score: Vec<i16>,
    result: Vec<u8>,
    mv: Vec<u16>,
    ply: Vec<u16>,
}

impl Rows {
    fn with_capacity(requested: Fields, records: usize) -> Self {
        let room = |field| if requested.contains(field) { records } else { 0 };
        Self {
            requested,
            groups: Vec::with_capacity(records.div_ceil(Group::LEN)),
            halfmove: Vec::with_capacity(records),
            fullmove: Vec::with_capacity(records),
            score: Vec::with_capacity(room(Field::Score)),
            result: Vec::with_capacity(room(Field::Result)),
            mv: Vec::with_capacity(room(Field::Move)),
            ply: Vec::with_capacity(room(Field::Ply)),
        }
    }

    fn len(&self) -> usize {
        self.halfmove.len()
    }

    /// Adds eight rows; the number of rows must be a multiple of eight.
    #[inline(always)]
    fn add_eight(&mut self, eight: &Eight) {
        self.groups.push(eight.group);
        self.add_lanes(eight, 0..8);
    }

    /// Adds a row.
    fn add(&mut self, board: Packed, eight: &Eight, lane: usize) {
        let row = self.len() % Group::LEN;
        if row == 0 {
            self.groups.push(Group::default());
        }
        if let Some(group) = self.groups.last_mut() {
            group.set(row, board);
        }
        self.add_lanes(eight, lane..lane + 1);
    }

    /// Adds the values other than boards.
    #[inline(always)]
    fn add_lanes(&mut self, eight: &Eight, lanes: Range<usize>) {
        self.halfmove.extend_from_slice(&eight.halfmove[lanes.clone()]);
        self.fullmove.extend_from_slice(&eight.fullmove[lanes.clone()]);
        if self.requested.contains(Field::Score) {
            self.score.extend_from_slice(&eight.score[lanes.clone()]);
        }
        if self.requested.contains(Field::Result) {
            self.result.extend_from_slice(&eight.result[lanes.clone()]);
        }
        if self.requested.contains(Field::Move) {
            self.mv.extend_from_slice(&eight.mv[lanes.clone()]);
        }
        if self.requested.contains(Field::Ply) {
            self.ply.extend_from_slice(&eight.ply[lanes]);
        }
    }

    fn finish(self) -> Batch {
        let rows = self.len();
        let mut batch = Batch::owned(self.groups, rows);
        batch.halfmove = self.halfmove;
        batch.fullmove = self.fullmove;
        if rows == 0 {
            return batch;
        }
        let mut add = |field, values| {
            if self.requested.contains(field) {
                batch.fields.insert(field, values);
            }
        };
        add(Field::Score, Array::I16(self.score.into()));
        add(Field::Result, Array::U8(self.result.into()));
        add(Field::Ply, Array::U16(self.ply.into()));
        let moves: Vec<u64> = self.mv.chunks(64).map(|moves| bits_where(moves, |mv| mv != 0)).collect();
        if moves.iter().any(|&bits| bits != 0) {
            add(Field::Move, Array::U16(Values::from_clean_parts(self.mv, moves)));
        }
        batch
    }
}

/// Decodes the whole records of a chunk.
struct DecodeFixed<'a, F, const LEN: usize> {
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    format: PhantomData<F>,
}

impl<F: Fixed<LEN>, const LEN: usize> Work for DecodeFixed<'_, F, LEN> {
    type Done = Decoded;

    #[inline(always)]
    fn with<B: Bits>(self, bits: B) -> Decoded {
        let (records, _) = self.chunk.bytes.as_chunks::<LEN>();
        let requested = self.options.fields.iter().filter(|&field| F::CARRIES.contains(field)).collect();
        let mut rows = Rows::with_capacity(requested, records.len());
        let mut unusual = OddRecords::new(self.chunk, self.options);
        let mut eight = Eight::default();
        let mut at = 0;
        while at < records.len() {
            let rest = &records[at..];
            // After a bad record, single rows are added up to the next group, before records are taken by eight again.
            let count = (Group::LEN - rows.len() % Group::LEN).min(rest.len());
            let decoded = match rest.first_chunk() {
                Some(records) => F::eight(bits, records, &mut eight),
                None => {
                    let mut last = [[0; LEN]; 8];
                    last[..rest.len()].copy_from_slice(rest);
                    F::eight(bits, &last, &mut eight)
                }
            };
            if decoded == 0xFF && count == Group::LEN {
                rows.add_eight(&eight);
            } else {
                unusual.add::<F, LEN>(&rest[..count], at, decoded, &mut eight, &mut rows);
            }
            at += count;
        }
        unusual.finish(rows, LEN)
    }
}

/// The rest is not decoded by eight.
struct OddRecords<'a> {
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    decoded: Decoded,
    pseudo_en_passants: PseudoEnPassants,
}

impl<'a> OddRecords<'a> {
    fn new(chunk: &'a Chunk, options: &'a DecodeOptions) -> Self {
        Self { chunk, options, decoded: Decoded::default(), pseudo_en_passants: PseudoEnPassants::default() }
    }

    /// Adds a few records, the first of which has this number, one by one.
    #[cold]
    #[inline(never)]
    fn add<F: Fixed<LEN>, const LEN: usize>(
        &mut self,
        records: &[[u8; LEN]],
        first: usize,
        decoded: u8,
        eight: &mut Eight,
        rows: &mut Rows,
    ) {
        for (lane, record) in records.iter().enumerate() {
            if decoded >> lane & 1 != 0 {
                rows.add(eight.group.get(lane), eight, lane);
                continue;
            }
            match F::read(record, self.options).and_then(Record::pack) {
                Ok((record, board)) => {
                    self.decoded.remarks.add(&DROPPED_EN_PASSANT, record.dropped_en_passant.into());
                    if rows.requested.contains(Field::Score) {
                        self.decoded.remarks.add(&SATURATED_SCORE, record.saturated_score.into());
                    }
                    self.pseudo_en_passants.add(rows.len(), record.pseudo_en_passant);
                    eight.halfmove[lane] = record.position.halfmove;
                    eight.fullmove[lane] = record.position.fullmove;
                    eight.score[lane] = record.score.unwrap_or_default();
                    eight.result[lane] = record.result.unwrap_or_default();
                    eight.mv[lane] = record.mv.map_or(0, Move::to_bits);
                    eight.ply[lane] = record.ply.unwrap_or_default();
                    rows.add(board, eight, lane);
                }
                Err(bad) => {
                    let mut place = Place::start_of(Arc::clone(&self.chunk.file));
                    place.record = (first + lane) as u64;
                    place.offset = ((first + lane) * LEN) as u64;
                    let reject = Reject::new(place, vec![bad.reason], bad.message, hexadecimal(record));
                    self.decoded.rejects.push(reject);
                }
            }
        }
    }

    fn finish(self, rows: Rows, len: usize) -> Decoded {
        let (mut batch, mut decoded) = (rows.finish(), self.decoded);
        decoded.records = (batch.len() + decoded.rejects.len()) as u64;
        if batch.is_empty() {
            return decoded;
        }
        let records = 0..decoded.records as u32;
        if decoded.rejects.is_empty() {
            batch.origins = records.map(|record| record * len as u32).collect();
        } else {
            let mut bad = decoded.rejects.iter().map(|reject| reject.place.record as u32).peekable();
            let good: Vec<u32> = records.filter(|&record| bad.next_if_eq(&record).is_none()).collect();
            batch.origins = good.iter().map(|&record| record * len as u32).collect();
            batch.ordinals = Some(good);
        }
        self.pseudo_en_passants.finish(self.options, &mut batch);
        decoded.batches.push(batch);
        decoded
    }
}

/// Decodes a chunk of records of `LEN` bytes, eight at a time. An incomplete record at the end is damage.
pub(in crate::formats) fn decode<F: Fixed<LEN>, const LEN: usize>(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    decode_by::<F, LEN>(Isa::best(), chunk, options)
}

/// Decodes a chunk of records, with these instructions.
fn decode_by<F: Fixed<LEN>, const LEN: usize>(isa: Isa, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let mut decoded = isa.run(DecodeFixed::<F, LEN> { chunk, options, format: PhantomData });
    decoded.damage.extend(torn::<LEN>(chunk));
    decoded
}

/// Reports an incomplete record at the end of a chunk as damage.
fn torn<const LEN: usize>(chunk: &Chunk) -> Option<Damage> {
    let (whole, rest) = chunk.bytes.as_chunks::<LEN>();
    if rest.is_empty() {
        return None;
    }
    let mut what = format!("the last record is truncated: {} of {LEN} bytes are present", rest.len());
    // Frames count their bytes on their own.
    if chunk.frame.is_none() {
        let before = (chunk.offset + (whole.len() * LEN) as u64) / LEN as u64;
        what.push_str(&format!(", after {}", counted(before, "whole record")));
    }
    Some(Damage::at((whole.len() * LEN) as u64, what))
}

/// Number of records examined to recognize a format without a header.
const EXAMINED: usize = 100;

/// Examines the first records of an input.
pub(in crate::formats) fn sample<const LEN: usize>(
    head: &[u8],
    examine: impl Fn(&[u8; LEN]) -> Result<(), BadRecord>,
) -> Sampled {
    let (records, _) = head.as_chunks::<LEN>();
    let records = &records[..records.len().min(EXAMINED)];
    let mut bad = records.iter().enumerate().filter_map(|(number, record)| Some((number, examine(record).err()?)));
    let first_bad = bad.next().map(|(number, bad)| (number, bad.message.into_owned()));
    let others = bad.count();
    Sampled { examined: records.len(), good: records.len() - others - usize::from(first_bad.is_some()), first_bad }
}

/// The form in which a reject keeps bytes that are not text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| b"0123456789abcdef"[usize::from(digit)]).collect()
}

/// Adds a record's value to a column.
fn add(record: &Record, field: Field, values: &mut Array) {
    match (field, values) {
        (Field::Move, Array::U16(column)) => column.push(record.mv.map(Move::to_bits)),
        (Field::KeyEnPassant, Array::U8(column)) => {
            column.push(record.pseudo_en_passant.map(|square| square.index() as u8));
        }
        (Field::Score, Array::I16(column)) => column.push(record.score),
        (Field::Mate, Array::I16(column)) => column.push(record.mate),
        (Field::Result, Array::U8(column)) => column.push(record.result),
        (Field::Ply, Array::U16(column)) => column.push(record.ply),
        (Field::Depth, Array::U16(column)) => column.push(record.depth),
        (Field::Knodes, Array::U64(column)) => column.push(record.knodes),
        (Field::PuzzleRating, Array::U16(column)) => column.push(record.puzzle_rating),
        (Field::RatingDeviation, Array::U16(column)) => column.push(record.rating_deviation),
        (Field::Popularity, Array::I16(column)) => column.push(record.popularity),
        (Field::Plays, Array::U32(column)) => column.push(record.plays),
        (_, Array::Text(column)) => {
            let text = record.texts.iter().find(|(of, _)| *of == field);
            column.push(text.as_ref().map(|(_, text)| text.as_str()));
        }
        (_, values) => values.push_missing(),
    }
}

/// The bytes of hexadecimal digits, which may be separated by anything.
#[cfg(test)]
pub(in crate::formats) fn of_hexadecimal(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

#[cfg(test)]
#[path = "../../../tests/formats/encoders.rs"]
pub(in crate::formats) mod encoders;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::{Random, RandomPlay, Start};
    use crate::formats::Remarks;
    use crate::formats::training::bullet::Bullet;
    use crate::formats::training::marlin::Marlin;
    use crate::formats::training::sfen::Sfen;
    use std::path::Path;

    /// The plain twin: each record is read slowly, one after the other.
    fn decode_one_by_one<F: Fixed<LEN>, const LEN: usize>(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        let (whole, _) = chunk.bytes.as_chunks::<LEN>();
        let mut records = DecodedRows::new(chunk, F::CARRIES, options);
        for (number, record) in whole.iter().enumerate() {
            let read = F::read(record, options).and_then(Record::pack);
            let is_saturated = read.as_ref().is_ok_and(|(read, _)| read.saturated_score);
            let read = read.map(|(read, _)| read);
            if is_saturated && options.fields.contains(Field::Score) {
                records.decoded.remarks.add(&SATURATED_SCORE, 1);
            }
            records.add(number * LEN, read, || (None, hexadecimal(record)));
        }
        records.decoded.damage.extend(torn::<LEN>(chunk));
        records.finish()
    }

    /// The parts of a result that are compared.
    fn told(mut decoded: Decoded) -> String {
        let mut remarks: Vec<_> = decoded.remarks.iter().map(|(remark, times)| (remark.how, times)).collect();
        remarks.sort_unstable();
        decoded.remarks = Remarks::default();
        format!("{remarks:?} {decoded:?}")
    }

    /// Decodes with all instruction sets, and returns the number of good records.
    fn agree<F: Fixed<LEN>, const LEN: usize>(bytes: &[u8]) -> usize {
        let chunk = Chunk::new(Path::new("x").into(), bytes.to_vec().into());
        let all = DecodeOptions { fields: Fields::ALL, ..DecodeOptions::default() };
        let mut good = 0;
        for options in [
            DecodeOptions { keep_en_passant: true, ..all.clone() },
            DecodeOptions { validity: Validity::Strict, ..all.clone() },
            DecodeOptions { fields: Fields::NONE, ..all.clone() },
            all,
        ] {
            let expected = decode_one_by_one::<F, LEN>(&chunk, &options);
            assert_eq!(expected.records as usize, bytes.len() / LEN);
            good = expected.batches.first().map_or(0, Batch::len);
            let expected = told(expected);
            for isa in Isa::available() {
                let found = told(decode_by::<F, LEN>(isa, &chunk, &options));
                if found != expected {
                    let at =
                        found.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(200);
                    let show = |text: &str| text[at..(at + 500).min(text.len())].to_owned();
                    panic!("{isa:?}\nfound    …{}\nexpected …{}", show(&found), show(&expected));
                }
            }
        }
        good
    }

    /// Positions of random play as FEN, some with an en passant square on which no capture is legal.
    fn positions() -> Vec<String> {
        let mut positions = Vec::new();
        for start in [Start::Standard, Start::Chess960] {
            for played in RandomPlay::new(3, start).take(1500) {
                let mut position = played.position;
                if positions.len() % 16 == 0 && position.en_passant.is_none() {
                    let rank = if position.side_to_move == Color::White { 5 } else { 2 };
                    let square = (0..8).map(|file| Square::new(8 * rank + file));
                    position.en_passant = square.into_iter().find(|&square| position.piece_at(square).is_none());
                }
                positions.push(position.to_string());
            }
        }
        positions
    }

    /// Good records, then the same with some bytes and bits changed, in all lengths of groups.
    fn agree_on_variations<F: Fixed<LEN>, const LEN: usize>(records: &[[u8; LEN]]) {
        assert!(agree::<F, LEN>(records.as_flattened()) > records.len() * 9 / 10);
        let mut random = Random::new(11);
        for share in [3, 50] {
            let mut changed = records.to_vec();
            for record in &mut changed {
                match random.below(share) {
                    0 => record[random.below(LEN as u32) as usize] ^= 1 << random.below(8),
                    1 => record[random.below(LEN as u32) as usize] = random.below(256) as u8,
                    _ => {}
                }
            }
            let good = agree::<F, LEN>(changed.as_flattened());
            assert!(good > 0 && good < records.len());
        }
        for count in 0..20 {
            let bytes = records[..count].as_flattened();
            agree::<F, LEN>(bytes);
            agree::<F, LEN>(&[bytes, &records[count][..count + 1]].concat());
        }
        let noise: Vec<u8> = (0..LEN * 1000).map(|_| random.below(256) as u8).collect();
        agree::<F, LEN>(&noise);
        // Every bit of a few records.
        for record in records.iter().step_by(records.len() / 4) {
            let flipped = |bit: usize| {
                let mut record = *record;
                record[bit / 8] ^= 1 << (bit % 8);
                record
            };
            let flipped: Vec<_> = (0..8 * LEN).map(flipped).collect();
            agree::<F, LEN>(flipped.as_flattened());
        }
    }

    #[test]
    fn all_ways_agree_with_slow_reading() {
        let positions = positions();
        let mut random = Random::new(5);
        let mut records = Vec::new();
        for (number, fen) in positions.iter().enumerate() {
            let score = if number % 50 == 7 { i16::MIN } else { (number as i16).wrapping_mul(13) };
            records.push((fen, score, number));
        }
        let bullet: Vec<_> =
            records.iter().map(|&(fen, score, number)| encoders::bullet(fen, score, (number % 3) as u8)).collect();
        agree_on_variations::<Bullet, 32>(&bullet);
        let marlin: Vec<_> =
            records.iter().map(|&(fen, score, number)| encoders::marlin(fen, score, (number % 3) as u8)).collect();
        agree_on_variations::<Marlin, 32>(&marlin);
        // In Chess960, rights with inner rooks cannot be stored, and random squares seldom hold a piece of the mover.
        let sfen = |&(fen, score, number): &(&String, i16, usize)| {
            let position = Position::from_fen_unvalidated(fen).ok()?;
            let moves = position.legal_moves();
            let mv = moves.get(random.below(moves.len().max(1) as u32) as usize);
            let code = mv.map_or(0, |mv| mv.to_bits());
            let code = code & 0xF000 | code >> 6 & 63 | (code & 63) << 6;
            Some(encoders::sfen(fen, score, code, number as u16, (number % 3) as i8 - 1))
        };
        let sfen: Vec<_> = records.iter().filter_map(sfen).collect();
        assert_eq!(sfen.len(), positions.len());
        agree_on_variations::<Sfen, 40>(&sfen);
    }

    /// Boards that cannot occur in a game.
    #[test]
    fn all_ways_agree_on_weird_boards() {
        let mut records = Vec::new();
        let mut random = Random::new(17);
        for squares in 0..=64 {
            for _ in 0..20 {
                let mut record = [0; 32];
                let mut places: Vec<usize> = (0..64).collect();
                for number in 0..squares {
                    let place = places.swap_remove(random.below(places.len() as u32) as usize);
                    record[place / 8] |= 1 << (place % 8);
                    if number < 32 {
                        let most = if number % 5 == 0 { 8 } else { 7 };
                        record[8 + number / 2] |=
                            ((random.below(most) | random.below(2) << 3) as u8) << (4 * (number % 2));
                    }
                }
                record[24] = (random.below(2) << 7) as u8 | 64;
                record[30] = random.below(3) as u8;
                records.push(record);
            }
        }
        assert!(agree::<Marlin, 32>(records.as_flattened()) > 100);
        agree::<Bullet, 32>(records.as_flattened());
        // Streams full of pieces.
        let streams: Vec<[u8; 40]> = (0..3000)
            .map(|number| {
                std::array::from_fn(|at| match number % 3 {
                    0 if at < 32 => 0xFF,
                    1 => (random.below(256) & random.below(256)) as u8,
                    _ if at < 20 => (random.below(256) & random.below(256) & random.below(256)) as u8,
                    _ => 0,
                })
            })
            .collect();
        agree::<Sfen, 40>(streams.as_flattened());
    }

    #[test]
    fn all_ways_agree_on_real_files() {
        let read = |name: &str| {
            let path = crate::testing::shared_data(&format!("nnue/{name}"));
            path.map(|path| std::fs::read(path).unwrap()).unwrap_or_default()
        };
        for stem in ["slice_a", "example"] {
            for name in ["bullet.data", "marlin.data", "sfen.bin"] {
                let bytes = read(&format!("{stem}.{name}"));
                let counts = [agree::<Bullet, 32>(&bytes), agree::<Marlin, 32>(&bytes), agree::<Sfen, 40>(&bytes)];
                let records = bytes.len() / if name == "sfen.bin" { 40 } else { 32 };
                let own = ["bullet.data", "marlin.data", "sfen.bin"].iter().position(|&other| other == name).unwrap();
                assert_eq!(counts[own], records, "{stem}.{name}");
            }
        }
    }
}
