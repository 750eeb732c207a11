//! Decodes lines to records.

use super::Syntax;
use super::cell::Cell;
use super::json_row::{JsonRow, JsonRows, with_later_keys};
use crate::chess::{Move, Position, Validity};
use crate::error::{Place, Reject};
use crate::formats::codec::decode_records::{BadRecord, PseudoEnPassants};
use crate::formats::codec::dropped_values::{DroppedKind, DroppedValue};
use crate::formats::codec::line_records::{first_line, strip_bom, without_end};
use crate::formats::lichess::puzzles;
use crate::formats::tables::column_map::{Kind, Plan, Positions, Written};
use crate::formats::tables::delimited::{Separated, Splitter};
use crate::formats::tables::fields_from_values::{Dictionary, Understood, first_word, move_of, push, result_of};
use crate::formats::text::{OperationColumns, Refusal, UsualLines, place, unusual};
use crate::formats::{Chunk, DecodeOptions, Decoded, LostByKey, too_long};
use crate::packed::Packed;
use crate::table::{Array, Batch, Field, Fields, Values};
use memchr::memchr;
use std::borrow::Cow;
use std::sync::Arc;

/// The values of a line.
#[derive(Clone, Copy)]
enum Row<'a> {
    Separated(Separated<'a>),
    Json(JsonRow<'a>),
}

impl<'a> Row<'a> {
    #[inline]
    fn get(self, column: usize) -> Cell<'a> {
        match self {
            Self::Separated(values) => match values.get(column) {
                None | Some(b"") => Cell::Missing,
                Some(text) => Cell::Text(text),
            },
            Self::Json(row) => row.get(column),
        }
    }
    /// What a value is in the file.
    fn written(self, column: usize) -> Written {
        match self {
            Self::Separated(_) => Written::Untyped,
            Self::Json(row) if row.is_string(column) => Written::Text,
            Self::Json(_) => Written::Number,
        }
    }
    /// Whether there may be values of columns that the first line does not name.
    fn has_later_keys(self) -> bool {
        match self {
            Self::Separated(_) => false,
            Self::Json(row) => row.has_later_keys(),
        }
    }
}

/// The column of a field.
struct Slot {
    field: Field,
    column: usize,
    /// Whether the column has texts that begin with the move.
    is_line: bool,
    /// For texts from which other columns are made.
    understood: Understood,
    values: Column,
}

/// The values so far. Missing ones are added once a later row has a value.
enum Column {
    Numbers(Array),
    Texts(Dictionary),
}

struct Decoder<'a> {
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    plan: &'a Plan,
    slots: Vec<Slot>,
    /// The number of slots whose column the first line names. The others come after them; few lines have values there.
    named: usize,
    lines: UsualLines,
    batch: Batch,
    ordinals: Vec<u32>,
    decoded: Decoded,
    /// Operations after the positions, unless a column has them.
    operations: Option<Dictionary>,
    said: OperationColumns,
    pseudo_en_passants: PseudoEnPassants,
    /// Columns that are read as they are, and a buffer for their texts.
    others: Vec<(Arc<str>, usize, Dictionary)>,
    marked: Vec<u8>,
    /// For puzzles: the first moves of the solutions.
    solutions: Option<Values<u16>>,
    /// The number of further moves of the solutions, if it is listed for each record.
    lost_of_each: Option<LostByKey<u64>>,
}

pub(super) fn decode(syntax: Syntax, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let header = chunk.header.as_deref().unwrap_or_else(|| first_line(&chunk.bytes));
    let mut columns = syntax.columns(header).unwrap_or_default();
    let named = columns.len();
    if syntax == Syntax::Json {
        with_later_keys(&mut columns);
    }
    let plan = match Plan::of(&columns, options) {
        Ok(plan) => plan,
        Err(_) => return without_columns(chunk, options),
    };
    let mut decoder = Decoder::new(&plan, named, chunk, options);
    let mut splitter = Splitter::default();
    let mut objects = JsonRows::new(&columns, &plan.columns(), named);
    decoder.each_line(|decoder, start, line| {
        if syntax == Syntax::Json {
            match objects.read(line) {
                Ok(row) => {
                    decoder.unknown_keys(start, row);
                    decoder.record(start, line, Row::Json(row));
                }
                Err(bad) => decoder.reject_bad(start, line, bad),
            }
            return;
        }
        // Concatenated files have several header lines.
        if line == header {
            return;
        }
        match splitter.split(line, syntax.separator()) {
            Ok(values) if values.len() != named => {
                let message =
                    format!("the number of values is {}, but the header line has {named} columns", values.len());
                decoder.reject_bad(start, line, BadRecord::new("number_of_values", message));
            }
            Ok(values) => decoder.record(start, line, Row::Separated(values)),
            Err(bad) => decoder.reject_bad(start, line, bad),
        }
    });
    decoder.finish()
}

/// Rejects all lines of a file without a column of positions. A run ends before it gets here.
fn without_columns(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let positions = Positions::Fen(0);
    let plan = Plan::only(positions);
    let mut decoder = Decoder::new(&plan, 0, chunk, options);
    decoder.each_line(|decoder, start, line| {
        let message = "the first line does not name a column of positions";
        decoder.reject_bad(start, line, BadRecord::new("no_position_column", message));
    });
    decoder.finish()
}

impl<'a> Decoder<'a> {
    /// `named`: the number of columns that the first line names.
    fn new(plan: &'a Plan, named: usize, chunk: &'a Chunk, options: &'a DecodeOptions) -> Self {
        let slot = |&(field, column, _): &(Field, usize, Kind)| Slot {
            field,
            column,
            is_line: plan.line == Some(column),
            understood: Understood::default(),
            values: match field.column(0) {
                Array::Text(_) => Column::Texts(Dictionary::new(u64::MAX)),
                numbers => Column::Numbers(numbers),
            },
        };
        // Dates and scores may be in two columns, of which the first line may name one.
        let is_named = |field: Field, column: usize| {
            let other = match field {
                Field::Date => plan.date_text,
                Field::Score => plan.raw_score,
                _ => None,
            };
            column < named || other.is_some_and(|other| other < named)
        };
        let fields = plan.fields.iter().map(|&(field, column, _)| (field, column));
        let in_columns: Fields =
            fields.filter(|&(field, column)| is_named(field, column)).map(|(field, _)| field).collect();
        let by_operations: Fields = options.fields.iter().filter(|&field| !in_columns.contains(field)).collect();
        let is_puzzle = plan.set_up.is_some();
        let mut slots: Vec<Slot> = plan.fields.iter().map(slot).collect();
        slots.sort_by_key(|slot| !is_named(slot.field, slot.column));
        Self {
            chunk,
            options,
            plan,
            named: slots.partition_point(|slot| is_named(slot.field, slot.column)),
            slots,
            lines: UsualLines::default(),
            batch: Batch::new(),
            ordinals: Vec::new(),
            decoded: Decoded::default(),
            operations: by_operations.contains(Field::Operations).then(|| Dictionary::new(u64::MAX)),
            said: OperationColumns::new(by_operations.iter()),
            pseudo_en_passants: PseudoEnPassants::default(),
            others: plan.others.iter().map(|(tag, at, _)| (Arc::clone(tag), *at, Dictionary::new(u64::MAX))).collect(),
            marked: Vec::new(),
            solutions: (is_puzzle && options.fields.contains(Field::Move)).then(Values::default),
            lost_of_each: (is_puzzle && options.lists_lost_of_records()).then(LostByKey::default),
        }
    }

    /// Calls a function for each line that is not blank, with the place where it begins.
    fn each_line(&mut self, mut each: impl FnMut(&mut Self, usize, &[u8])) {
        let bytes: &[u8] = &self.chunk.bytes;
        let mut start = 0;
        while start < bytes.len() {
            let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |len| start + len);
            let line = &bytes[start..end];
            if line.len() > self.options.max_record {
                let mut reject = too_long(&self.chunk.file, line, self.options.max_record);
                reject.place = self.place(start);
                self.push_reject(reject);
            } else {
                let line = without_end(strip_bom(line));
                if !line.trim_ascii().is_empty() {
                    each(self, start, line);
                }
            }
            self.decoded.lines += u64::from(end < bytes.len());
            start = end + 1;
        }
    }

    fn record(&mut self, start: usize, line: &[u8], row: Row<'_>) {
        let number = self.batch.len();
        let (mut board, mut clocks);
        let mut pseudo_en_passant = None;
        let mut rest = None;
        if matches!(self.plan.positions, Positions::None(_)) {
            (board, clocks) = start_position();
        } else {
            let text = match row.get(self.plan.positions.column()) {
                Cell::Text(text) => strip_bom(text).trim_ascii(),
                Cell::Missing => {
                    return self.reject_bad(start, line, BadRecord::new("null_position", "there is no position"));
                }
                Cell::Other(_) => {
                    let bad = BadRecord::new("position_not_text", "the position is not a text");
                    return self.reject_bad(start, line, bad);
                }
            };
            match self.lines.read(text) {
                Some(usual) => (board, clocks) = usual,
                None => match unusual(text, text.len(), 0, self.options, &mut self.decoded.remarks) {
                    Ok(read) => {
                        (board, clocks) = (read.board, read.clocks);
                        pseudo_en_passant = read.pseudo_en_passant;
                        rest = Some(read).filter(|read| !read.rest.is_empty());
                    }
                    Err(Refusal { reasons, message }) => return self.reject(start, line, reasons, message.into()),
                },
            }
        }
        if let Some(column) = self.plan.set_up {
            let moves = row.get(column).text().unwrap_or_default().trim_ascii();
            match set_up(board, clocks, moves) {
                Ok(None) => {}
                Ok(Some((after, [halfmove, fullmove], mv, idle))) => {
                    if self.options.lost_tags {
                        let rest = puzzles::rest_of_solution(moves);
                        let lost = || puzzles::rests_of_solutions(rest);
                        match &mut self.lost_of_each {
                            Some(each) => each.add(self.decoded.records, rest, lost),
                            None => self.decoded.lost_tags.merge(&lost()),
                        }
                    }
                    (board, clocks) = (after, [halfmove, fullmove]);
                    pseudo_en_passant = idle;
                    if let (Some(solutions), Some(mv)) = (&mut self.solutions, mv) {
                        solutions.push_many(None, number - solutions.len());
                        solutions.push(Some(mv.to_bits()));
                    }
                }
                Err(bad) => return self.reject_bad(start, line, bad),
            }
        }
        if let Some(read) = rest {
            let Decoded { remarks, dropped_values, lines, records, .. } = &mut self.decoded;
            self.said.add(number, &read, remarks, |field, value| {
                let place = place(self.chunk, *lines, *records, start);
                dropped_values.push(DroppedValue::new(DroppedKind::Value(field), place, value.as_bytes()));
            });
            if let Some(operations) = &mut self.operations {
                operations.pad(number);
                operations.push(Some(read.rest));
            }
        }
        self.batch.push(board, clocks[0], clocks[1]);
        self.batch.origins.push(start as u32);
        self.ordinals.push(self.decoded.records as u32);
        self.pseudo_en_passants.add(number, pseudo_en_passant);
        let slots = if row.has_later_keys() { self.slots.len() } else { self.named };
        for at in 0..slots {
            self.value(at, start, row);
        }
        for (_, column, texts) in &mut self.others {
            let marked = match row.get(*column) {
                Cell::Missing => None,
                Cell::Text(text) => Some(row.written(*column).mark(text, &mut self.marked)),
                Cell::Other(text @ (b"true" | b"false")) => Some(Written::Boolean.mark(text, &mut self.marked)),
                Cell::Other(text) => Some(Written::Text.mark(text, &mut self.marked)),
            };
            texts.push(marked);
        }
        self.decoded.records += 1;
    }

    /// Adds the value of a field to its column.
    #[inline]
    fn value(&mut self, at: usize, start: usize, row: Row<'_>) {
        let number = self.batch.len() - 1;
        let slot = &mut self.slots[at];
        let field = slot.field;
        let mut cell = row.get(slot.column);
        if field == Field::Score
            && let Some(raw) = self.plan.raw_score
        {
            // Scores as they were stored take precedence.
            match row.get(raw) {
                Cell::Missing => {}
                Cell::Text(text) if is_missing(text) => {}
                stored => cell = stored,
            }
        }
        let fits = match (&mut slot.values, cell) {
            (Column::Texts(texts), Cell::Missing | Cell::Text(_)) => {
                let mut text = cell.text();
                if field == Field::Date {
                    let in_other = || row.get(self.plan.date_text?).text();
                    text = text.or_else(in_other);
                }
                if let Some(text) = text {
                    texts.pad(number);
                    let text = match field {
                        Field::Date => date(text),
                        _ => Cow::Borrowed(text),
                    };
                    texts.push(Some(&text));
                    if slot.understood.is_odd(field, &text) {
                        let dropped_value = DroppedValue::new(DroppedKind::Text(field), self.place(start), &text);
                        self.decoded.dropped_values.push(dropped_value);
                    }
                }
                return;
            }
            (Column::Numbers(_), Cell::Missing) => return,
            (Column::Numbers(values), Cell::Text(text)) if !is_missing(text) => {
                let value = match field {
                    Field::Result => result_of(Some(text)).map_err(drop),
                    Field::Move if !text.iter().all(u8::is_ascii_digit) => {
                        let text = if slot.is_line { first_word(text) } else { text };
                        move_of(Some(text), &self.batch, number).map_err(drop)
                    }
                    _ => integer(text).map(Some).ok_or(()),
                };
                match value {
                    Ok(None) => true,
                    Ok(value) => {
                        pad(values, number);
                        push(field, values, value)
                    }
                    Err(()) => false,
                }
            }
            (Column::Numbers(_), Cell::Text(_)) => return,
            (_, Cell::Other(_)) => false,
        };
        if !fits {
            self.dropped_value(start, field, cell);
        }
    }

    #[cold]
    fn dropped_value(&mut self, start: usize, field: Field, cell: Cell<'_>) {
        let value = match cell {
            Cell::Text(text) | Cell::Other(text) => text,
            Cell::Missing => b"",
        };
        let dropped_value = DroppedValue::new(DroppedKind::Value(field), self.place(start), value);
        self.decoded.dropped_values.push(dropped_value);
    }

    fn unknown_keys(&mut self, start: usize, row: JsonRow<'_>) {
        for key in row.unknown() {
            let key = String::from_utf8_lossy(key);
            let dropped_value = DroppedValue::new(DroppedKind::Key(key.into()), self.place(start), b"");
            self.decoded.dropped_values.push(dropped_value);
        }
    }

    /// Adds the next record, which begins at a byte of the chunk.
    fn place(&self, start: usize) -> Place {
        place(self.chunk, self.decoded.lines, self.decoded.records, start)
    }

    #[cold]
    fn reject_bad(&mut self, start: usize, line: &[u8], bad: BadRecord) {
        self.reject(start, line, vec![bad.reason], bad.message);
    }

    #[cold]
    fn reject(&mut self, start: usize, line: &[u8], reasons: Vec<&'static str>, message: Cow<'static, str>) {
        let raw = line.trim_ascii_end().to_vec();
        self.push_reject(Reject::new(self.place(start), reasons, message, raw));
    }

    fn push_reject(&mut self, reject: Reject) {
        self.decoded.rejects.push(reject);
        self.decoded.records += 1;
    }

    fn finish(mut self) -> Decoded {
        let len = self.batch.len();
        self.pseudo_en_passants.finish(self.options, &mut self.batch);
        self.said.finish(&mut self.batch);
        let fields = &mut self.batch.fields;
        let mut texts = |field: Field, mut texts: Dictionary| {
            texts.pad(len);
            if let Ok(values) = texts.finish(field) {
                add(fields, field, values);
            }
        };
        if let Some(operations) = self.operations {
            texts(Field::Operations, operations);
        }
        let mut numbers = Vec::new();
        for slot in self.slots {
            match slot.values {
                Column::Texts(values) => texts(slot.field, values),
                Column::Numbers(values) if values.is_empty() => {}
                Column::Numbers(mut values) => {
                    pad(&mut values, len);
                    numbers.push((slot.field, values));
                }
            }
        }
        if let Some(mut solutions) = self.solutions {
            solutions.push_many(None, len - solutions.len());
            numbers.push((Field::Move, Array::U16(solutions)));
        }
        numbers.into_iter().for_each(|(field, values)| add(fields, field, values));
        for (tag, _, texts) in self.others {
            if let Ok(texts) = texts.finish_texts(&tag) {
                self.batch.tags.insert(tag, texts);
            }
        }
        if !self.decoded.rejects.is_empty() {
            self.batch.ordinals = Some(self.ordinals);
        }
        self.batch.lacks_positions = matches!(self.plan.positions, Positions::None(_));
        if !self.batch.is_empty() {
            self.decoded.batches.push(self.batch);
        }
        self.decoded.lost_of_each = self.lost_of_each.map(LostByKey::finish);
        self.decoded
    }
}

/// The board and the clocks of records without a position.
pub(in crate::formats::tables) fn start_position() -> (Packed, [u16; 2]) {
    let start = Position::standard();
    (Packed::pack(&start).unwrap_or_default(), [start.halfmove, start.fullmove])
}

/// Adds a column in which some row has a value.
fn add(fields: &mut std::collections::BTreeMap<Field, Array>, field: Field, values: Array) {
    if values.count_present() != 0 {
        fields.insert(field, values);
    }
}

/// Adds missing values up to this length.
fn pad(values: &mut Array, len: usize) {
    while values.len() < len {
        values.push_missing();
    }
}

/// A puzzle after its first move: the board, its clocks, the second move, and the value of [`Field::KeyEnPassant`].
type SetUp = (Packed, [u16; 2], Option<Move>, Option<crate::chess::Square>);

/// Plays the first move of a puzzle; `None` if the position has no defined moves and is rejected later.
fn set_up(board: Packed, [halfmove, fullmove]: [u16; 2], moves: &[u8]) -> Result<Option<SetUp>, BadRecord> {
    let position = board.unpack(halfmove, fullmove).ok();
    let Some(mut position) = position.filter(|position| position.is_valid(Validity::Playable)) else {
        return Ok(None);
    };
    puzzles::has_moves(moves)?;
    let (mv, idle) = puzzles::set_up(&mut position, moves)?;
    let board = Packed::pack(&position).map_err(|error| BadRecord::new("unpackable", error.to_string()))?;
    Ok(Some((board, [position.halfmove, position.fullmove], mv, idle)))
}

/// Whether a text means that a number is missing.
fn is_missing(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let words: [&[u8]; 6] = [b"", b"null", b"none", b"nan", b"na", b"\\N"];
    text.len() <= 4
        && !text.first().is_some_and(u8::is_ascii_digit)
        && words.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// An integer, which other programs may write with decimals or an exponent.
fn integer(text: &[u8]) -> Option<i128> {
    let text = text.trim_ascii();
    let (digits, is_negative) = match text {
        [b'-', digits @ ..] => (digits, true),
        [b'+', digits @ ..] => (digits, false),
        digits => (digits, false),
    };
    let number = match digits {
        [b'0'..=b'9', ..] if digits.len() < 19 && digits.iter().all(u8::is_ascii_digit) => {
            digits.iter().fold(0, |number: i64, digit| 10 * number + i64::from(digit - b'0')).into()
        }
        [b'0'..=b'9' | b'.', ..] => long_integer(digits)?,
        _ => return None,
    };
    Some(if is_negative { -number } else { number })
}

#[cold]
fn long_integer(digits: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(digits).ok()?;
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.into());
    }
    let number: f64 = text.parse().ok()?;
    // Beyond this, integers are not exact.
    (number.fract() == 0.0 && number < 9e15).then_some(number as i128)
}

/// Turns a date of ISO 8601 into the form of dates elsewhere, `YYYY.MM.DD`; keeps others unchanged.
fn date(text: &[u8]) -> Cow<'_, [u8]> {
    match text {
        [.., b'-', _, _, b'-', _, _] if text.len() == 10 => {
            Cow::Owned(text.iter().map(|&byte| if byte == b'-' { b'.' } else { byte }).collect())
        }
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        for (text, number) in [
            ("0", Some(0)),
            (" -31 ", Some(-31)),
            ("+7", Some(7)),
            ("12.0", Some(12)),
            ("-1.5e3", Some(-1500)),
            ("18446744073709551615", Some(u64::MAX.into())),
            ("999999999999999999", Some(999_999_999_999_999_999)),
            ("1.5", None),
            ("1e300", None),
            ("", None),
            ("-", None),
            ("--1", None),
            ("0x10", None),
            ("inf", None),
            ("1 2", None),
        ] {
            assert_eq!(integer(text.as_bytes()), number, "{text}");
        }
    }

    #[test]
    fn missing_numbers() {
        for text in ["", " ", "null", "NULL", "NaN", "None", "NA", "\\N"] {
            assert!(is_missing(text.as_bytes()), "{text}");
        }
        for text in ["0", "no", "e2e4", "1-0", "nulls"] {
            assert!(!is_missing(text.as_bytes()), "{text}");
        }
    }
}
