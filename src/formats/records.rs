//! Shared by formats with one record after the other: what may be in one, a loop over those of one length, and fields
//! that are kept only if some record has them.

use super::{Chunk, DecodeOptions, Decoded, Remark};
use crate::chess::fen::FenError;
use crate::chess::validity::Validity;
use crate::chess::{Move, Position, Square};
use crate::error::{Damage, Place, Reject};
use crate::packed::Packed;
use crate::table::{Array, Batch, Field, Fields, Values};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// En passant squares that are dropped, in any format.
pub(super) static DROPPED_EN_PASSANT: Remark =
    Remark { what: "en passant square", how: "dropped, because no en passant capture is legal", is_detail: true };

/// What was read of a record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) position: Position,
    pub(super) dropped_en_passant: bool,
    /// Of [`Field::KeyEnPassant`].
    pub(super) idle_en_passant: Option<Square>,
    pub(super) mv: Option<Move>,
    pub(super) score: Option<i16>,
    pub(super) mate: Option<i16>,
    pub(super) result: Option<u8>,
    pub(super) depth: Option<u16>,
    pub(super) knodes: Option<u64>,
    pub(super) puzzle_rating: Option<u16>,
    pub(super) rating_deviation: Option<u16>,
    pub(super) popularity: Option<i16>,
    pub(super) plays: Option<u32>,
    /// Texts, queried only if their field is requested.
    pub(super) texts: Vec<(Field, String)>,
}

impl Record {
    /// A position and nothing else.
    pub(super) fn of(position: Position) -> Self {
        Self {
            position,
            dropped_en_passant: false,
            idle_en_passant: None,
            mv: None,
            score: None,
            mate: None,
            result: None,
            depth: None,
            knodes: None,
            puzzle_rating: None,
            rating_deviation: None,
            popularity: None,
            plays: None,
            texts: Vec::new(),
        }
    }
}

/// The values of [`Field::KeyEnPassant`]: one row in some hundred thousand has one.
#[derive(Debug, Default)]
pub(super) struct IdleEnPassants(Vec<(usize, Square)>);

impl IdleEnPassants {
    #[inline]
    pub(super) fn add(&mut self, row: usize, square: Option<Square>) {
        self.0.extend(square.map(|square| (row, square)));
    }
    /// Adds the column to a batch, if it is requested and some row has a value.
    pub(super) fn finish(self, options: &DecodeOptions, batch: &mut Batch) {
        if self.0.is_empty() || !options.fields.contains(Field::KeyEnPassant) {
            return;
        }
        let mut squares = self.0.into_iter().peekable();
        let mut column = Values::<u8>::default();
        for row in 0..batch.len() {
            let here = squares.next_if(|&(at, _)| at == row);
            column.push(here.map(|(_, square)| square.index() as u8));
        }
        batch.fields.insert(Field::KeyEnPassant, Array::U8(column));
    }
}

/// Why bytes or a line are not a record: a stable name, and a message.
#[derive(Debug)]
pub(super) struct BadRecord {
    pub(super) reason: &'static str,
    pub(super) message: Cow<'static, str>,
}

impl BadRecord {
    pub(super) fn new(reason: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl From<FenError> for BadRecord {
    fn from(error: FenError) -> Self {
        Self::new(error.expected.name(), error.to_string())
    }
}

/// The records of a chunk so far.
pub(super) struct Gathered<'a> {
    chunk: &'a Chunk,
    pub(super) decoded: Decoded,
    batch: Batch,
    ordinals: Vec<u32>,
    columns: BTreeMap<Field, Array>,
}

impl<'a> Gathered<'a> {
    /// With the requested ones of the fields that the format may carry.
    pub(super) fn new(chunk: &'a Chunk, carries: Fields, options: &DecodeOptions) -> Self {
        let fields = options.fields.iter().filter(|&field| carries.contains(field));
        Self {
            chunk,
            decoded: Decoded::default(),
            batch: Batch::new(),
            ordinals: Vec::new(),
            columns: fields.map(|field| (field, field.column(0))).collect(),
        }
    }

    /// Adds the record that begins at a byte of the chunk, good or bad; `raw`: its line, if it has one, and what a reject
    /// keeps of it.
    pub(super) fn add(
        &mut self,
        start: usize,
        record: Result<Record, BadRecord>,
        raw: impl FnOnce() -> (Option<u64>, Vec<u8>),
    ) {
        let packed = record.and_then(|record| match Packed::pack(&record.position) {
            Ok(board) => Ok((record, board)),
            Err(error) => {
                let violations = record.position.violations(Validity::Strict);
                let reason = violations.names().next().unwrap_or("unpackable");
                Err(BadRecord::new(reason, error.to_string()))
            }
        });
        match packed {
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
            }
            Err(bad) => {
                let (line, raw) = raw();
                let place = Place { line, ..Place::start_of(Arc::clone(&self.chunk.file)) };
                self.reject(start, Reject::new(place, vec![bad.reason], bad.message, raw));
            }
        }
    }

    /// Adds a bad record that begins at a byte of the chunk.
    pub(super) fn reject(&mut self, start: usize, mut reject: Reject) {
        reject.place.offset = start as u64;
        reject.place.record = self.decoded.records;
        self.decoded.rejects.push(reject);
        self.decoded.records += 1;
    }

    /// What the chunk decodes to.
    pub(super) fn finish(mut self) -> Decoded {
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

/// Decodes a chunk of records of `LEN` bytes. What is left of one at the end is damage.
pub(super) fn decode<const LEN: usize>(
    carries: Fields,
    chunk: &Chunk,
    options: &DecodeOptions,
    mut read: impl FnMut(&[u8; LEN]) -> Result<Record, BadRecord>,
) -> Decoded {
    let (whole, rest) = chunk.bytes.as_chunks::<LEN>();
    let mut records = Gathered::new(chunk, carries, options);
    for (number, record) in whole.iter().enumerate() {
        records.add(number * LEN, read(record), || (None, hexadecimal(record)));
    }
    if !rest.is_empty() {
        let what = format!("the last record is truncated: {} of {LEN} bytes are present", rest.len());
        records.decoded.damage.push(Damage::at((chunk.bytes.len() - rest.len()) as u64, what));
    }
    records.finish()
}

/// What a reject keeps of bytes that are no text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| b"0123456789abcdef"[usize::from(digit)]).collect()
}

/// Adds a record's value to a column.
fn add(record: &Record, field: Field, values: &mut Array) {
    match (field, values) {
        (Field::Move, Array::U16(column)) => column.push(record.mv.map(Move::to_bits)),
        (Field::KeyEnPassant, Array::U8(column)) => {
            column.push(record.idle_en_passant.map(|square| square.index() as u8));
        }
        (Field::Score, Array::I16(column)) => column.push(record.score),
        (Field::Mate, Array::I16(column)) => column.push(record.mate),
        (Field::Result, Array::U8(column)) => column.push(record.result),
        (Field::Depth, Array::U16(column)) => column.push(record.depth),
        (Field::Knodes, Array::U64(column)) => column.push(record.knodes),
        (Field::PuzzleRating, Array::U16(column)) => column.push(record.puzzle_rating),
        (Field::RatingDeviation, Array::U16(column)) => column.push(record.rating_deviation),
        (Field::Popularity, Array::I16(column)) => column.push(record.popularity),
        (Field::Plays, Array::U32(column)) => column.push(record.plays),
        (_, Array::Text(column)) => {
            let text = record.texts.iter().find(|(of, _)| *of == field);
            column.push(text.map(|(_, text)| Arc::from(text.as_str())));
        }
        (_, values) => values.push_missing(),
    }
}
