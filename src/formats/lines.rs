//! Shared by formats with one record per line: where lines end, a loop over them, and fields that are kept only
//! if some record has them.

use super::{Chunk, DecodeOptions, Decoded, Remark};
use crate::block::Packed;
use crate::chess::fen::FenError;
use crate::chess::validity::Validity;
use crate::chess::{Move, Position, Square};
use crate::error::{Place, Reject};
use crate::table::{Array, Batch, Field, Fields, Values};
use memchr::{memchr, memchr_iter, memrchr};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// En passant squares that are dropped, in any format.
pub(super) static DROPPED_EN_PASSANT: Remark =
    Remark { what: "en passant square", how: "dropped, because no en passant capture is legal", is_detail: true };

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line without the byte order mark at its start.
pub(super) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// Up to and including the last line end.
pub(super) fn cut_lines(bytes: &[u8]) -> Option<usize> {
    memrchr(b'\n', bytes).map(|at| at + 1)
}

/// Where a line begins, at `from` or later, but not at the beginning of the text.
pub(super) fn next_line(bytes: &[u8], from: usize) -> Option<usize> {
    let before = from.max(1) - 1;
    let feed = memchr(b'\n', bytes.get(before..)?)?;
    Some(before + feed + 1)
}

/// The line that contains a place, without its end, and its number counted from 1.
pub(super) fn line_at(bytes: &[u8], at: usize) -> (&[u8], u64) {
    let at = at.min(bytes.len());
    let start = memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
    let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
    let number = memchr_iter(b'\n', &bytes[..start]).count() as u64 + 1;
    (bytes[start..end].trim_ascii_end(), number)
}

/// The content of a line.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) position: Position,
    pub(super) dropped_en_passant: bool,
    /// Of [`Field::KeyEnPassant`].
    pub(super) idle_en_passant: Option<Square>,
    pub(super) mv: Option<Move>,
    pub(super) score: Option<i16>,
    pub(super) mate: Option<i16>,
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

/// Why a line is not a record: a stable name, and a message.
#[derive(Debug)]
pub(super) struct BadLine {
    pub(super) reason: &'static str,
    pub(super) message: Cow<'static, str>,
}

impl BadLine {
    pub(super) fn new(reason: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl From<FenError> for BadLine {
    fn from(error: FenError) -> Self {
        Self::new(error.expected.name(), error.to_string())
    }
}

/// Decodes a chunk of lines of a format; `read` returns `None` for a line that is no
/// record and not meant to be one.
pub(super) fn decode(
    carries: Fields,
    chunk: &Chunk,
    options: &DecodeOptions,
    mut read: impl FnMut(&[u8]) -> Option<Result<Record, BadLine>>,
) -> Decoded {
    let bytes: &[u8] = &chunk.bytes;
    let mut decoded = Decoded::default();
    let mut batch = Batch::new();
    let mut ordinals = Vec::new();
    let mut columns: BTreeMap<Field, Array> =
        options.fields.iter().filter(|&field| carries.contains(field)).map(|field| (field, field.column(0))).collect();
    let mut start = 0;
    while start < bytes.len() {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |len| start + len);
        let line = &bytes[start..end];
        if line.len() > options.max_record {
            let mut reject = super::too_long(&chunk.file, line, options.max_record);
            reject.place.line = Some(decoded.lines + 1);
            reject.place.offset = start as u64;
            reject.place.record = decoded.records;
            decoded.rejects.push(reject);
            decoded.records += 1;
            decoded.lines += u64::from(end < bytes.len());
            start = end + 1;
            continue;
        }
        let line = without_mark(line).trim_ascii();
        let record = if line.is_empty() { None } else { read(line) };
        let packed = record.map(|record| {
            let record = record?;
            match Packed::pack(&record.position) {
                Ok(board) => Ok((record, board)),
                Err(error) => {
                    let violations = record.position.violations(Validity::Strict);
                    let reason = violations.names().next().unwrap_or("unpackable");
                    Err(BadLine::new(reason, error.to_string()))
                }
            }
        });
        match packed {
            None => {}
            Some(Ok((record, board))) => {
                let position = &record.position;
                batch.push(board, position.halfmove, position.fullmove);
                batch.origins.push(start as u32);
                ordinals.push(decoded.records as u32);
                decoded.records += 1;
                decoded.remarks.add(&DROPPED_EN_PASSANT, record.dropped_en_passant.into());
                for (&field, values) in &mut columns {
                    add(&record, field, values);
                }
            }
            Some(Err(bad)) => {
                decoded.rejects.push(Reject {
                    place: Place {
                        file: Arc::clone(&chunk.file),
                        line: Some(decoded.lines + 1),
                        offset: start as u64,
                        record: decoded.records,
                        game: None,
                        ply: None,
                        frame: None,
                        row: None,
                    },
                    reasons: vec![bad.reason],
                    message: bad.message,
                    raw: line.to_vec(),
                });
                decoded.records += 1;
            }
        }
        decoded.lines += u64::from(end < bytes.len());
        start = end + 1;
    }
    columns.retain(|_, values| values.count_present() != 0);
    batch.fields = columns;
    if !decoded.rejects.is_empty() {
        batch.ordinals = Some(ordinals);
    }
    if !batch.is_empty() {
        decoded.batches.push(batch);
    }
    decoded
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

/// A byte of Windows-1252: ISO-8859-1, but for letters and signs in place of the second set of control characters.
pub(super) fn windows_1252(byte: u8) -> char {
    const SIGNS: [char; 32] = [
        '€', '\u{FFFD}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{FFFD}', 'Ž', '\u{FFFD}',
        '\u{FFFD}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{FFFD}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9F => SIGNS[usize::from(byte - 0x80)],
        _ => byte as char,
    }
}
