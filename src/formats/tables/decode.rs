//! Decodes columns to records.

use super::super::text::{OperationColumns, Refusal, UsualLines, unusual};
use super::super::{DecodeOptions, Decoded, LostByKey, too_long};
use super::column_map::{Kind, Plan, Positions, Written};
use super::dictionary_values::Column;
use super::fields_from_values::{
    Dictionary, Understood, Wrong, first_word, most_texts, move_of, out_of_range, push, result_of, start_of,
};
use super::parquet_dictionary_lists::NumberedLists;
use super::text::start_position;
use super::values::{Floats, MadeOfTexts, Numbers, Texts};
use super::{Chunk, RecordTexts};
use crate::chess::fen::UsualReader;
use crate::chess::{Move, Validity};
use crate::error::{Damage, Place, Reject};
use crate::formats::codec::decode_records::{BadRecord, PseudoEnPassants};
use crate::formats::codec::dropped_values::{DroppedKind, DroppedValue};
use crate::formats::codec::line_records::strip_bom;
use crate::formats::lichess::puzzles;
use crate::games::Date;
use crate::packed::Packed;
use crate::table::{Array, Batch, Field, RAW_SCORE, Values};
use arrow_array::cast::AsArray;
use arrow_array::{Array as _, BooleanArray};
use arrow_schema::DataType;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Reads columns of some rows.
pub(super) trait ReadColumns {
    /// Whether the arrays stay in memory as long as the part, even if nothing else uses them.
    fn is_in_memory(&self) -> bool {
        false
    }
    /// Calls a function with the values of rows of a column, in one array after the other.
    ///
    /// # Errors
    /// If the values cannot be read, or some are missing.
    fn read(
        &self,
        column: usize,
        rows: Range<u64>,
        each: &mut dyn FnMut(&Column) -> Result<(), String>,
    ) -> Result<(), String>;
    /// The lists of texts of rows of a column, if they can be had as numbers of texts. Otherwise they have to be read,
    /// which tells if something is wrong.
    fn numbered_lists(&self, _column: usize, _rows: Range<u64>) -> Option<NumberedLists> {
        None
    }
}

/// Decodes rows. `rows` counts them within the group of `columns`, and `first` is the number of the group's first row
/// in the file.
pub(super) fn decode(
    plan: &Plan,
    columns: &dyn ReadColumns,
    rows: Range<u64>,
    first: u64,
    chunk: &Chunk,
    options: &DecodeOptions,
) -> Decoded {
    let count = (rows.end - rows.start) as usize;
    if count == 0 {
        return Decoded::default();
    }
    let mut decoder = Decoder {
        plan,
        columns,
        rows: rows.start - first..rows.end - first,
        row: rows.start,
        chunk,
        options,
        batch: Batch::new(),
        good: Vec::with_capacity(count),
        bad: HashSet::new(),
        decoded: Decoded::default(),
        raws: Raws::default(),
        buffers: Vec::new(),
        size: 0,
        rejected: 0,
    };
    decoder.batch.reserve(count);
    match decoder.all() {
        Ok(()) => decoder.finish(count),
        Err(Fault(damage)) => Decoded { damage: vec![damage], records: count as u64, ..Decoded::default() },
    }
}

/// The texts of a column from which no other columns can be made, with the numbers of their records.
#[derive(Default)]
struct OddTexts {
    understood: Understood,
    texts: Vec<(usize, Box<[u8]>)>,
}

impl OddTexts {
    #[inline]
    fn look(&mut self, field: Field, text: Option<&[u8]>, record: usize) {
        if let Some(text) = text
            && self.understood.is_odd(field, text)
        {
            self.texts.push((record, text.into()));
        }
    }
}

/// Texts of the part's positions, which stay in memory until the part is judged.
#[derive(Debug, Default)]
pub(super) struct Raws(pub(super) Vec<Column>);

impl RecordTexts for Raws {
    fn text(&self, record: usize) -> Option<Vec<u8>> {
        let mut row = record;
        for array in &self.0 {
            if row < array.len() {
                return Texts::of(array)?.get(row).map(start_of);
            }
            row -= array.len();
        }
        None
    }
}

/// Maximum number of bytes of a text that a reject keeps if many texts are kept.
const LEAST_KEPT: usize = 256;

struct Decoder<'a> {
    plan: &'a Plan,
    columns: &'a dyn ReadColumns,
    /// The rows, counted in their group.
    rows: Range<u64>,
    /// The first row, counted in the file.
    row: u64,
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    batch: Batch,
    /// The rows of the records of the batch.
    good: Vec<u32>,
    /// The records that are rejected because of other values than their position.
    bad: HashSet<u32>,
    decoded: Decoded,
    raws: Raws,
    /// Buffers of the texts that are kept, and their size.
    buffers: Vec<*const u8>,
    size: usize,
    /// Number of bytes of texts that rejects keep. If it becomes too large, less is kept of further texts.
    rejected: u64,
}

impl Decoder<'_> {
    fn all(&mut self) -> Result<(), Fault> {
        match self.plan.positions {
            Positions::Fen(column) => self.fens(column)?,
            Positions::Board { board, halfmove, fullmove } => self.boards(board, halfmove, fullmove)?,
            Positions::None(_) => {
                let (board, [halfmove, fullmove]) = start_position();
                let rows = (self.rows.end - self.rows.start) as u32;
                self.batch.push_many(board, [halfmove, fullmove], rows as usize);
                self.good.extend(0..rows);
            }
        }
        // The other columns refer to the position in which the solver moves.
        if let Some(column) = self.plan.set_up {
            self.set_up(column)?;
        }
        for &(field, column, kind) in &self.plan.fields {
            self.field(field, column, kind)?;
        }
        if let Some(column) = self.plan.date_text {
            self.date_texts(column)?;
        }
        if let Some(column) = self.plan.raw_score {
            self.raw_scores(column)?;
        }
        for (tag, column, kind) in &self.plan.others {
            self.as_written(tag, *column, *kind)?;
        }
        if !self.bad.is_empty() {
            let rows: Vec<u32> =
                (0..self.good.len() as u32).filter(|&at| !self.bad.contains(&self.good[at as usize])).collect();
            self.batch = self.batch.select(&rows);
            self.good.retain(|row| !self.bad.contains(row));
        }
        Ok(())
    }

    fn finish(mut self, count: usize) -> Decoded {
        self.decoded.records = count as u64;
        self.decoded.rejects.sort_by_key(|reject| reject.place.record);
        self.batch.ordinals = (self.good.len() < count).then_some(self.good);
        let fields = &mut self.batch.fields;
        fields.retain(|_, values| values.count_present() != 0);
        self.batch.lacks_positions = matches!(self.plan.positions, Positions::None(_));
        if !self.batch.is_empty() {
            self.decoded.batches.push(self.batch);
        }
        if !self.raws.0.is_empty() {
            self.decoded.texts = Some(Arc::new(self.raws));
        }
        self.decoded
    }

    /// Keeps the texts for rejects, unless they are too long; then rejects show the packed board.
    fn keep(&mut self, array: &Column, texts: &Texts<'_>) {
        if self.columns.is_in_memory() {
            self.raws.0.push(array.clone());
            return;
        }
        let (buffers, size) = (&mut self.buffers, &mut self.size);
        texts.each_buffer(|place, len| {
            if !buffers.contains(&place) {
                buffers.push(place);
                *size = size.saturating_add(len);
            }
        });
        if self.size as u64 <= most_texts(self.options) && buffers.len() < 64 {
            self.raws.0.push(array.clone());
        } else {
            self.size = usize::MAX;
            self.raws.0.clear();
        }
    }

    fn fens(&mut self, column: usize) -> Result<(), Fault> {
        let carries = |field| {
            let is = |&(other, ..): &(Field, usize, Kind)| other == field;
            self.options.fields.contains(field) && !self.plan.fields.iter().any(is)
        };
        let operations = || Dictionary::new(most_texts(self.options));
        let mut pseudo_en_passants = PseudoEnPassants::default();
        let mut operations = carries(Field::Operations).then(operations);
        let mut said = OperationColumns::new(Field::ALL.iter().copied().filter(|&field| carries(field)));
        let mut first = 0;
        let (mut lines, reader) = (UsualLines::default(), UsualReader::best());
        let (columns, rows) = (self.columns, self.rows.clone());
        columns.read(column, rows, &mut |array| {
            let texts = Texts::of(array).ok_or("the position column is not text")?;
            let mut next = 0;
            loop {
                let at = match reader {
                    Some(reader) => self.usual_fens(reader, &texts, next..array.len(), first),
                    None => next,
                };
                if let Some(operations) = &mut operations {
                    (next..at).for_each(|_| operations.push(None));
                }
                if at == array.len() {
                    break;
                }
                next = at + 1;
                let row = first + at as u32;
                let Some(text) = texts.get(at) else {
                    self.reject(row, vec!["null_position"], "there is no position".into(), b"");
                    continue;
                };
                if text.len() > self.options.max_record {
                    let file = &self.chunk.file;
                    let reject = too_long(file, text, self.options.max_record);
                    self.reject(row, reject.reasons, reject.message, &reject.raw);
                    continue;
                }
                let line = strip_bom(text).trim_ascii();
                if let Some((board, [halfmove, fullmove])) = lines.read(line) {
                    self.batch.push(board, halfmove, fullmove);
                    self.good.push(row);
                    if let Some(operations) = &mut operations {
                        operations.push(None);
                    }
                    continue;
                }
                let options = self.options;
                match unusual(line, line.len(), 0, options, &mut self.decoded.remarks) {
                    Ok(line) => {
                        let [halfmove, fullmove] = line.clocks;
                        pseudo_en_passants.add(self.batch.len(), line.pseudo_en_passant);
                        let mut unread = Vec::new();
                        let remarks = &mut self.decoded.remarks;
                        said.add(self.batch.len(), &line, remarks, |field, value| {
                            unread.push((field, value.to_owned()))
                        });
                        unread.into_iter().for_each(|(field, value)| self.dropped_value(row, field, value.as_bytes()));
                        self.batch.push(line.board, halfmove, fullmove);
                        self.good.push(row);
                        if let Some(operations) = &mut operations {
                            let rest = Some(line.rest).filter(|rest| !rest.is_empty());
                            operations.push(rest);
                        }
                    }
                    Err(Refusal { reasons, message }) => {
                        self.reject(row, reasons, message.into(), text);
                    }
                }
            }
            first += array.len() as u32;
            self.keep(array, &texts);
            Ok(())
        })?;
        pseudo_en_passants.finish(self.options, &mut self.batch);
        said.finish(&mut self.batch);
        if let Some(operations) = operations {
            self.batch.fields.insert(Field::Operations, operations.finish(Field::Operations)?);
        }
        Ok(())
    }

    /// Reads texts of some rows as long as they are like nearly all FENs, and returns the row of the first that is not.
    fn usual_fens(&mut self, reader: UsualReader, texts: &Texts<'_>, rows: Range<usize>, first: u32) -> usize {
        let Range { start: mut at, end } = rows;
        reader.enter(
            #[inline(always)]
            || {
                while at < end
                    && let Some((text, len)) = texts.get_with_rest(at)
                    && len <= self.options.max_record
                    && let Some(coded) = reader.line_of_len(text, len)
                    && let Some(board) = Packed::of_coded(&coded)
                {
                    self.batch.push(board, coded.halfmove, coded.fullmove);
                    self.good.push(first + at as u32);
                    at += 1;
                }
            },
        );
        at
    }

    fn boards(&mut self, column: usize, halfmove: Option<usize>, fullmove: Option<usize>) -> Result<(), Fault> {
        let mut first = 0;
        let (columns, rows) = (self.columns, self.rows.clone());
        columns.read(column, rows, &mut |array| {
            let boards = Texts::of(array).ok_or("the board column is not binary")?;
            for at in 0..array.len() {
                let row = first + at as u32;
                match boards.get(at).map(|bytes| bytes.as_chunks::<8>()) {
                    Some((&[color, t0, t1, t2], [])) => {
                        let types = [t0, t1, t2].map(u64::from_le_bytes);
                        let color = u64::from_le_bytes(color);
                        self.batch.push(Packed { color, types }, 0, 1);
                        self.good.push(row);
                    }
                    Some((words, rest)) => {
                        let len = 8 * words.len() + rest.len();
                        let message = format!("a board of {len} bytes; expected 32");
                        self.reject(row, vec!["board_length"], message.into(), b"");
                    }
                    None => {
                        self.reject(row, vec!["null_position"], "there is no board".into(), b"");
                    }
                }
            }
            first += array.len() as u32;
            Ok(())
        })?;
        for (column, name, default) in [(halfmove, "halfmove", 0), (fullmove, "fullmove", 1)] {
            let Some(column) = column else {
                continue;
            };
            let mut clocks = vec![default; self.good.len()];
            self.each_value(column, None, |value, at, record, _| {
                if let Some(number) = value.number(at) {
                    clocks[record] = u16::try_from(number).map_err(|_| out_of_range(name, number))?;
                }
                Ok(())
            })?;
            match name {
                "halfmove" => self.batch.halfmove = clocks,
                _ => self.batch.fullmove = clocks,
            }
        }
        Ok(())
    }

    fn field(&mut self, field: Field, column: usize, kind: Kind) -> Result<(), Fault> {
        let name = field.name();
        if let Array::Text(_) = field.column(0) {
            let texts = RefCell::new(Dictionary::new(most_texts(self.options)));
            let mut odd = OddTexts::default();
            let all_are_understood = kind != Kind::Date && !matches!(field, Field::Date | Field::TimeControl);
            let add_all = |value: &Value<'_>, rows: Range<usize>| match value {
                Value::Texts(values) if all_are_understood => {
                    let (mut codes, texts) = (MadeOfTexts::new(), &mut *texts.borrow_mut());
                    for row in rows.clone() {
                        let code = codes
                            .get(values, row, |text| text.filter(|text| !text.is_empty()).map(|text| texts.code(text)));
                        texts.push_code(code);
                    }
                    rows.len()
                }
                _ => 0,
            };
            self.each_value_but(column, Some(field), add_all, |value, at, record, _| {
                let texts = &mut *texts.borrow_mut();
                match kind {
                    Kind::Date => {
                        let date = value
                            .number(at)
                            .map(|days| {
                                let date = i32::try_from(days).ok().and_then(Date::of_days);
                                date.ok_or_else(|| out_of_range(name, days))
                            })
                            .transpose();
                        let text = date.as_ref().ok().copied().flatten().map(|date| date.to_string());
                        texts.push(text.as_deref().map(str::as_bytes));
                        date?;
                    }
                    _ => {
                        let text = value.text(at).filter(|text| !text.is_empty());
                        texts.push(text);
                        odd.look(field, text, record);
                    }
                }
                Ok(())
            })?;
            self.odd_texts(field, odd);
            self.batch.fields.insert(field, texts.into_inner().finish(field)?);
            return Ok(());
        }
        let values = RefCell::new(field.column(0));
        let add_all = |value: &Value<'_>, rows: Range<usize>| match value {
            Value::Numbers(numbers) if kind == Kind::Integer => numbers.add_to(field, &mut values.borrow_mut(), rows),
            Value::Texts(texts) if field == Field::Result => {
                let (mut results, values) = (MadeOfTexts::new(), &mut *values.borrow_mut());
                for row in rows.clone() {
                    let result = results.get(texts, row, |text| result_of(text).ok());
                    let Some(result) = result else { return row - rows.start };
                    push(field, values, result);
                }
                rows.len()
            }
            _ => 0,
        };
        self.each_value_but(column, Some(field), add_all, |value, at, record, batch| {
            let values = &mut *values.borrow_mut();
            let number = match (field, kind) {
                (_, Kind::Integer) => Ok(value.number(at)),
                (_, Kind::Float) => value.whole_number(at).map_err(|float| {
                    let message = format!("{name} is {float}, not a whole number");
                    ("value_out_of_range", message)
                }),
                // Clocks are in centiseconds; fractions of one are dropped.
                (_, Kind::Duration(second)) => {
                    Ok(value.number(at).map(|number| (number * 100).div_euclid(second.into())))
                }
                (Field::Result, _) => result_of(value.text(at)),
                _ => {
                    let text = value.text(at);
                    let text = if self.plan.line == Some(column) { text.map(first_word) } else { text };
                    move_of(text, batch, record)
                }
            };
            let number = match number {
                Ok(number) => number,
                Err(wrong) => {
                    values.push_missing();
                    return Err(wrong);
                }
            };
            let fits = push(field, values, number);
            match number {
                Some(number) if !fits => Err(out_of_range(name, number)),
                _ => Ok(()),
            }
        })?;
        self.batch.fields.insert(field, values.into_inner());
        Ok(())
    }

    /// Reads a column as it is.
    fn as_written(&mut self, tag: &Arc<str>, column: usize, kind: Kind) -> Result<(), Fault> {
        let mut texts = Dictionary::new(most_texts(self.options));
        let mut marked = Vec::new();
        self.each_value(column, None, |value, at, _, _| {
            let number = |text: String| (Written::Number, text.into_bytes());
            let written = match value {
                Value::Texts(texts) => texts.get(at).map(|text| (Written::Text, text.to_vec())),
                Value::Numbers(days) if kind == Kind::Date => days.get(at).map(|days| {
                    let date = i32::try_from(days).ok().and_then(Date::of_days);
                    (Written::Text, date.map_or(String::new(), |date| date.to_string()).into_bytes())
                }),
                Value::Numbers(numbers) => numbers.get(at).map(|integer| number(integer.to_string())),
                // With a decimal point, so that whole numbers are real ones as well.
                Value::Floats(floats) => floats.get(at).map(|float| number(format!("{float:?}"))),
                Value::Flags(flags) => {
                    flags.is_valid(at).then(|| (Written::Boolean, flags.value(at).to_string().into_bytes()))
                }
                Value::Nulls => None,
            };
            texts.push(written.as_ref().map(|(written, text)| written.mark(text, &mut marked)));
            Ok(())
        })?;
        self.batch.tags.insert(Arc::clone(tag), texts.finish_texts(tag)?);
        Ok(())
    }

    /// Plays the moves that set up puzzles.
    fn set_up(&mut self, column: usize) -> Result<(), Fault> {
        let mut after = Batch::new();
        let mut moves = Values::<u16>::default();
        let mut pseudo_en_passants = PseudoEnPassants::default();
        let (mut rest, counts_rest) = (0, self.options.lost_tags);
        // With the numbers of the records.
        let mut each = self.options.lists_lost_of_records().then(|| (self.good.clone(), LostByKey::default()));
        self.each_value(column, None, |value, at, record, batch| {
            let position = batch.position(record).ok().filter(|position| position.is_valid(Validity::Playable));
            // The others are rejected later, and have no defined moves.
            let done = position.map(|mut position| {
                let text = value.text(at).unwrap_or_default().trim_ascii();
                puzzles::has_moves(text)?;
                let (mv, idle) = puzzles::set_up(&mut position, text)?;
                let board = Packed::pack(&position).map_err(|error| BadRecord::new("unpackable", error.to_string()))?;
                Ok((board, [position.halfmove, position.fullmove], mv, idle))
            });
            match done {
                Some(Ok((board, [halfmove, fullmove], mv, idle))) => {
                    if counts_rest {
                        let more = puzzles::rest_of_solution(value.text(at).unwrap_or_default());
                        match &mut each {
                            Some((numbers, each)) => {
                                each.add(numbers[record].into(), more, || puzzles::rests_of_solutions(more));
                            }
                            None => rest += more,
                        }
                    }
                    pseudo_en_passants.add(after.len(), idle);
                    after.push(board, halfmove, fullmove);
                    moves.push(mv.map(Move::to_bits));
                    Ok(())
                }
                other => {
                    after.push(batch.board(record), batch.halfmove[record], batch.fullmove[record]);
                    moves.push(None);
                    match other {
                        Some(Err(BadRecord { reason, message })) => Err((reason, message.into_owned())),
                        _ => Ok(()),
                    }
                }
            }
        })?;
        self.decoded.lost_tags = puzzles::rests_of_solutions(rest);
        self.decoded.lost_of_each = each.map(|(_, each)| each.finish());
        after.fields = std::mem::take(&mut self.batch.fields);
        after.fields.remove(&Field::KeyEnPassant);
        pseudo_en_passants.finish(self.options, &mut after);
        if self.options.fields.contains(Field::Move) {
            after.fields.insert(Field::Move, Array::U16(moves));
        }
        self.batch = after;
        Ok(())
    }

    /// Dates that are not full days are texts in another column.
    fn date_texts(&mut self, column: usize) -> Result<(), Fault> {
        let days = self.batch.fields.remove(&Field::Date);
        let mut texts = Dictionary::new(most_texts(self.options));
        let mut odd = OddTexts::default();
        self.each_value(column, None, |value, at, record, _| {
            let text = value.text(at).filter(|text| !text.is_empty());
            odd.look(Field::Date, text, record);
            let day = days.as_ref().and_then(|days| days.text(record));
            texts.push(text.or(day.map(str::as_bytes)));
            Ok(())
        })?;
        self.odd_texts(Field::Date, odd);
        self.batch.fields.insert(Field::Date, texts.finish(Field::Date)?);
        Ok(())
    }

    /// Scores as they were stored take precedence.
    fn raw_scores(&mut self, column: usize) -> Result<(), Fault> {
        let scores = self.batch.fields.remove(&Field::Score);
        let mut values = Field::Score.column(0);
        self.each_value(column, Some(Field::Score), |value, at, record, _| {
            let raw = value.number(at);
            let score = scores.as_ref().and_then(|scores| scores.number(record));
            let fits = push(Field::Score, &mut values, raw.or(score.map(i128::from)));
            raw.filter(|_| !fits).map_or(Ok(()), |raw| Err(out_of_range(RAW_SCORE, raw)))
        })?;
        self.batch.fields.insert(Field::Score, values);
        Ok(())
    }

    /// Calls a function for the value of each good record in a column: with the values, the place among them, the
    /// number of the record, and the records. If the function fails, the value is a misfit for the field; without a
    /// field, the record becomes bad, because then its position is unknown.
    fn each_value(
        &mut self,
        column: usize,
        field: Option<Field>,
        each: impl FnMut(&Value<'_>, usize, usize, &Batch) -> Result<(), Wrong>,
    ) -> Result<(), String> {
        self.each_value_but(column, field, |_, _| 0, each)
    }

    /// The same, but for values that another function takes: with the values and a range of places among them, all of them
    /// of good records, it returns how many of the first it took.
    fn each_value_but(
        &mut self,
        column: usize,
        field: Option<Field>,
        mut take: impl FnMut(&Value<'_>, Range<usize>) -> usize,
        mut each: impl FnMut(&Value<'_>, usize, usize, &Batch) -> Result<(), Wrong>,
    ) -> Result<(), String> {
        let batch = std::mem::take(&mut self.batch);
        let good = std::mem::take(&mut self.good);
        let mut record = 0;
        let mut first = 0;
        let (columns, rows) = (self.columns, self.rows.clone());
        columns.read(column, rows, &mut |array| {
            let value = Value::of(array).ok_or("a column has another type than its file says")?;
            let end = first + array.len();
            while let Some(&row) = good.get(record)
                && (row as usize) < end
            {
                // All rows that are left, if all of them are good.
                let left = end - row as usize;
                if good.get(record + left - 1).is_some_and(|&last| last as usize == end - 1) {
                    let at = row as usize - first;
                    let taken = take(&value, at..at + left);
                    record += taken;
                    if taken == left {
                        continue;
                    }
                }
                let Some(&row) = good.get(record) else { break };
                let done = each(&value, row as usize - first, record, &batch);
                if done.is_err()
                    && let Some(field) = field
                {
                    self.dropped_value(row, field, &value.shown(row as usize - first));
                } else if let Err((reason, message)) = done
                    && !self.bad.contains(&row)
                {
                    self.bad.insert(row);
                    let raw = self.raws.text(row as usize).unwrap_or_else(|| {
                        let position = batch.position(record);
                        position.map_or_else(|_| Vec::new(), |it| it.to_string().into_bytes())
                    });
                    self.reject(row, vec![reason], message.into(), &raw);
                }
                record += 1;
            }
            first = end;
            Ok(())
        })?;
        self.batch = batch;
        self.good = good;
        Ok(())
    }

    /// Counts the texts of a field from which no other columns can be made.
    fn odd_texts(&mut self, field: Field, odd: OddTexts) {
        for (record, text) in odd.texts {
            let place = self.place(self.good[record]);
            self.decoded.dropped_values.push(DroppedValue::new(DroppedKind::Text(field), place, &text));
        }
    }

    #[cold]
    fn dropped_value(&mut self, row: u32, field: Field, value: &[u8]) {
        let place = self.place(row);
        self.decoded.dropped_values.push(DroppedValue::new(DroppedKind::Value(field), place, value));
    }

    fn place(&self, row: u32) -> Place {
        Place {
            record: row.into(),
            row: Some(self.row + u64::from(row)),
            ..Place::start_of(Arc::clone(&self.chunk.file))
        }
    }

    #[cold]
    fn reject(&mut self, row: u32, reasons: Vec<&'static str>, message: Cow<'static, str>, raw: &[u8]) {
        let mut raw = start_of(raw);
        self.rejected += raw.len() as u64;
        if self.rejected > most_texts(self.options) {
            raw.truncate(LEAST_KEPT);
            raw.shrink_to_fit();
        }
        let place = self.place(row);
        self.decoded.rejects.push(Reject { place, reasons, message, raw });
    }
}

/// Larger than any number that a field can hold, and small enough for an integer.
const TOO_LARGE: f64 = 1e30;

/// Values of a column.
enum Value<'a> {
    Texts(Texts<'a>),
    Numbers(Numbers<'a>),
    Floats(Floats<'a>),
    Flags(&'a BooleanArray),
    Nulls,
}

impl<'a> Value<'a> {
    /// A value as text, for messages.
    #[cold]
    fn shown(&self, at: usize) -> Vec<u8> {
        let shown = match self {
            Self::Texts(texts) => return texts.get(at).unwrap_or_default().to_vec(),
            Self::Numbers(numbers) => numbers.get(at).map(|number| number.to_string()),
            Self::Floats(floats) => floats.get(at).map(|float| float.to_string()),
            Self::Flags(flags) => flags.is_valid(at).then(|| flags.value(at).to_string()),
            Self::Nulls => None,
        };
        shown.unwrap_or_default().into_bytes()
    }
    fn of(array: &'a Column) -> Option<Self> {
        match Texts::of(array) {
            Some(texts) => Some(Self::Texts(texts)),
            None => Numbers::of(array)
                .map(Self::Numbers)
                .or_else(|| Floats::of(array).map(Self::Floats))
                .or_else(|| array.array.as_boolean_opt().map(Self::Flags))
                .or_else(|| (*array.array.data_type() == DataType::Null).then_some(Self::Nulls)),
        }
    }
    fn text(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Self::Texts(texts) => texts.get(row),
            _ => None,
        }
    }
    fn number(&self, row: usize) -> Option<i128> {
        match self {
            Self::Numbers(numbers) => numbers.get(row),
            _ => None,
        }
    }
    /// A number of floating point that is whole.
    ///
    /// # Errors
    /// The number, if it is not whole, or too large for any field.
    fn whole_number(&self, row: usize) -> Result<Option<i128>, f64> {
        let Self::Floats(floats) = self else { return Ok(None) };
        match floats.get(row) {
            Some(float) if float.fract() != 0.0 || float.abs() >= TOO_LARGE => Err(float),
            float => Ok(float.map(|float| float as i128)),
        }
    }
}

/// The reason why the part cannot be decoded.
struct Fault(Damage);

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Self(Damage::at(0, what))
    }
}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Self(damage)
    }
}
