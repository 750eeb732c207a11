//! Decodes lines of FEN, EPD and perft lists.

use super::blocks::{BLOCK_REACH, Line};
use super::epd_operations::{OperationFields, Unread, clocks_of_operations, result_alone, separate};
use crate::chess::fen::{self, FenOptions, UsualReader};
use crate::chess::{Position, Square, Validity};
use crate::error::{Place, Reject};
use crate::formats::codec::decode_records::{DROPPED_EN_PASSANT, PseudoEnPassants};
use crate::formats::codec::line_records::{are_moves, strip_bom, text_of};
use crate::formats::tables::fields_from_values::push;
use crate::formats::{Chunk, DecodeOptions, Decoded, DroppedKind, DroppedValue, Remark, Remarks, too_long};
use crate::packed::Packed;
use crate::table::{Array, Batch, Field, Fields, Texts};
use crate::text::one_line;
use memchr::memchr;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// The state of decoding.
struct Decoder<'a> {
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    batch: Batch,
    ordinals: Vec<u32>,
    decoded: Decoded,
    /// If operations are requested: those of all records except the last one, to which lines may still be added.
    operations: Option<Texts>,
    open: Option<String>,
    said: OperationColumns,
    pseudo_en_passants: PseudoEnPassants,
    /// The `id` line of the block that has just begun.
    id: String,
    /// Offset of the `id` line.
    id_at: usize,
    /// Offset of the `epd` line that `perft` lines belong to, whether valid or not.
    block_at: Option<usize>,
}

/// The position of an unusual line, and the text after it.
#[derive(Debug)]
pub(in crate::formats) struct ReadLine<'a> {
    pub(in crate::formats) board: Packed,
    pub(in crate::formats) clocks: [u16; 2],
    /// The operations.
    pub(in crate::formats) rest: &'a [u8],
    position: Position,
    /// The value of [`Field::KeyEnPassant`].
    pub(in crate::formats) pseudo_en_passant: Option<Square>,
}

/// Fields that are given by operations, for the few records that have such operations.
#[derive(Debug, Default)]
pub(in crate::formats) struct OperationColumns {
    fields: Fields,
    values: Vec<(usize, OperationFields)>,
}

impl OperationColumns {
    /// Keeps those of these fields that operations may give.
    pub(in crate::formats) fn new(fields: impl IntoIterator<Item = Field>) -> Self {
        let fields = fields.into_iter().filter(|&field| OperationFields::FIELDS.contains(field));
        Self { fields: fields.collect(), values: Vec::new() }
    }
    /// Adds the fields of a record. `unread` is called for each value that cannot be read.
    pub(in crate::formats) fn add(
        &mut self,
        row: usize,
        line: &ReadLine<'_>,
        remarks: &mut Remarks,
        mut unread: impl FnMut(Field, &str),
    ) {
        if self.fields == Fields::NONE || line.rest.is_empty() {
            return;
        }
        let mut not_read = Unread::new();
        let operations = String::from_utf8_lossy(line.rest);
        let said = OperationFields::of(&operations, &line.position, self.fields, remarks, &mut not_read);
        if said != OperationFields::default() {
            self.values.push((row, said));
        }
        not_read.into_iter().for_each(|(field, value)| unread(field, value));
    }
    /// Adds the columns to a batch in which some record has a value.
    pub(in crate::formats) fn finish(self, batch: &mut Batch) {
        for field in self.fields.iter() {
            let mut said = self.values.iter().filter_map(|(row, said)| Some((*row, said.get(field)?))).peekable();
            if said.peek().is_none() {
                continue;
            }
            let mut column = field.column(0);
            for row in 0..batch.len() {
                let value = said.next_if(|&(at, _)| at == row);
                push(field, &mut column, value.map(|(_, value)| value.into()));
            }
            batch.fields.insert(field, column);
        }
    }
}

/// The reason why a line is rejected.
#[derive(Debug)]
pub(in crate::formats) struct Refusal {
    pub(in crate::formats) reasons: Vec<&'static str>,
    pub(in crate::formats) message: String,
}

impl Refusal {
    fn new(reasons: impl IntoIterator<Item = &'static str>, message: String) -> Self {
        Self { reasons: reasons.into_iter().collect(), message }
    }
}

/// The board and the clocks of a line, the first `len` bytes of a text, if it is like nearly all lines: a position with
/// six fields and nothing else. The text after the line is loaded, too, but does not affect the result.
#[inline(always)]
pub(in crate::formats) fn usual(text: &[u8], len: usize) -> Option<(Packed, [u16; 2])> {
    let coded = fen::parse_usual(text, len)?;
    let board = Packed::of_coded(&coded)?;
    Some((board, [coded.halfmove, coded.fullmove]))
}

/// Reads lines like [`usual`], for lines with little or nothing after them in memory: vectors load bytes there, so each
/// line is copied to a place of its own.
pub(in crate::formats) struct UsualLines([u8; WINDOW]);

/// A line with padding that vector loads may read.
const WINDOW: usize = 256;
/// The longest line that is read in this way.
const SHORT: usize = WINDOW - 96;

impl Default for UsualLines {
    fn default() -> Self {
        Self([b'\n'; WINDOW])
    }
}

impl UsualLines {
    /// The board and the clocks of a line, if it is like nearly all lines.
    #[inline]
    pub(in crate::formats) fn read(&mut self, line: &[u8]) -> Option<(Packed, [u16; 2])> {
        if line.len() > SHORT {
            return None;
        }
        let [start @ .., end] = self.0.get_mut(..=line.len())? else {
            return None;
        };
        start.copy_from_slice(line);
        *end = b'\n';
        usual(&self.0, line.len())
    }
}

/// Text in brackets after a position that is neither an operation nor a result.
static UNREAD_BRACKETS: Remark =
    Remark { what: "position", how: "with text in brackets after it that was not read", is_detail: false };

/// Maximum number of bytes of such text that a note quotes.
const SHOWN: usize = 60;

/// Reads any line, the first `len` bytes of a text, from the byte `skip` on.
///
/// # Errors
/// If it is not a position, or one that cannot be packed.
pub(in crate::formats) fn unusual<'a>(
    text: &'a [u8],
    len: usize,
    skip: usize,
    options: &DecodeOptions,
    remarks: &mut Remarks,
) -> Result<ReadLine<'a>, Refusal> {
    let line = &text[..len];
    let fen_options = FenOptions::default().keep_en_passant(options.keep_en_passant);
    let mut fen = match fen::parse_in(&text[skip..], line.len() - skip, fen_options) {
        Ok(fen) => fen,
        Err(mut error) => {
            error.column += skip;
            return Err(Refusal::new([error.expected.name()], error.to_string()));
        }
    };
    if let Some(&first) = fen.rest.first() {
        if let Some(result) = result_alone(fen.rest) {
            fen.rest = result;
        } else if !fen::may_be_operations(fen.rest) {
            let message = format!(
                "column {}: found `{}`, expected EPD operations or the end of the line",
                line.len() - fen.rest.len() + 1,
                first.escape_ascii()
            );
            return Err(Refusal::new(["fen_trailing_text"], message));
        } else if are_moves(fen.rest) {
            let column = line.len() - fen.rest.len() + 1;
            let message = format!("column {column}: `moves`: moves after the position, which are not played");
            return Err(Refusal::new(["fen_trailing_text"], message));
        } else if first == b'[' {
            let end = memchr(b']', fen.rest).map_or(fen.rest.len(), |end| end + 1);
            let shown = text_of(&fen.rest[..end.min(SHOWN)]);
            remarks.add_with(&UNREAD_BRACKETS, 1, Some(&one_line::of(&shown)));
        }
    }
    if fen.rest.len() > 5 {
        clocks_of_operations(&mut fen, remarks);
    }
    let mut pseudo_en_passant = None;
    if fen.dropped_en_passant() {
        // Afterwards there is no trace of it.
        if options.validity == Validity::Strict {
            let mut written = fen.position.clone();
            written.en_passant = fen.written_en_passant;
            let violations = written.violations(Validity::Strict);
            if !violations.is_empty() {
                return Err(Refusal::new(violations.names(), violations.to_string()));
            }
        }
        remarks.add(&DROPPED_EN_PASSANT, 1);
        pseudo_en_passant = fen.position.pseudo_en_passant(fen.written_en_passant);
    }
    match Packed::pack(&fen.position) {
        Ok(board) => Ok(ReadLine {
            board,
            clocks: [fen.position.halfmove, fen.position.fullmove],
            rest: fen.rest,
            position: fen.position,
            pseudo_en_passant,
        }),
        Err(error) => {
            // The strict level has a name for everything that cannot be packed.
            let violations = fen.position.violations(Validity::Strict);
            Err(if violations.is_empty() {
                Refusal::new(["unpackable"], error.to_string())
            } else {
                Refusal::new(violations.names(), violations.to_string())
            })
        }
    }
}

/// The place of the record that begins here, after this number of lines and records of the chunk.
pub(in crate::formats) fn place(chunk: &Chunk, lines: u64, records: u64, start: usize) -> Place {
    Place { line: Some(lines + 1), offset: start as u64, record: records, ..Place::start_of(Arc::clone(&chunk.file)) }
}

/// About the length of a line of FEN: room for as many records is made at once.
const USUAL_LEN: usize = 56;

pub(super) fn decode(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let bytes: &[u8] = &chunk.bytes;
    let mut decoder = Decoder {
        chunk,
        options,
        batch: Batch::new(),
        ordinals: Vec::new(),
        decoded: Decoded::default(),
        operations: options.fields.contains(Field::Operations).then(Texts::default),
        open: None,
        said: OperationColumns::new(options.fields.iter()),
        pseudo_en_passants: PseudoEnPassants::default(),
        id: String::new(),
        id_at: 0,
        block_at: None,
    };
    decoder.batch.reserve(bytes.len() / USUAL_LEN);
    let reader = UsualReader::best();
    let mut start = 0;
    // The last line may have no end.
    while start < bytes.len() {
        if let Some(reader) = reader {
            start = decoder.usual_lines(reader, bytes, start);
            if start == bytes.len() {
                break;
            }
        }
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |len| start + len);
        decoder.line(start, &bytes[start..], end - start);
        decoder.decoded.lines += u64::from(end < bytes.len());
        start = end + 1;
    }
    decoder.finish()
}

impl Decoder<'_> {
    /// Reads lines from a place on as long as they are like nearly all lines, and returns where the next one begins.
    /// The ends of such lines are not searched for: they end where their last field does.
    fn usual_lines(&mut self, reader: UsualReader, bytes: &[u8], mut start: usize) -> usize {
        reader.enter(
            #[inline(always)]
            || {
                while let Some((coded, len)) = reader.line(&bytes[start..])
                    && len <= self.options.max_record
                    && let Some(board) = Packed::of_coded(&coded)
                {
                    self.usual_record(start, board, [coded.halfmove, coded.fullmove]);
                    start += len;
                }
            },
        );
        start
    }

    #[inline(always)]
    fn usual_record(&mut self, start: usize, board: Packed, clocks: [u16; 2]) {
        if start - self.id_at > BLOCK_REACH {
            self.id.clear();
        }
        self.block_at = None;
        self.push(start, board, clocks, b"");
        self.decoded.lines += 1;
    }

    /// Reads a line, the first `len` bytes of a text.
    #[inline]
    fn line(&mut self, start: usize, text: &[u8], len: usize) {
        if len > self.options.max_record {
            return self.too_long(start, &text[..len]);
        }
        let whole = &text[..len];
        let line = strip_bom(whole).trim_ascii_start();
        let text = &text[len - line.len()..];
        let line = line.trim_ascii_end();
        // Whether `usual_lines` has tried it: lines without anything before them are.
        let is_tried = text.len() >= UsualReader::REACH && whole.starts_with(line);
        match Line::of(line) {
            Line::Blank => {}
            Line::Id => {
                self.block_at = None;
                self.id_at = start;
                if self.operations.is_some() {
                    let name = text_of(line[3..].trim_ascii());
                    self.id = format!("id \"{}\";", name.trim_matches('"').replace('"', "'"));
                }
            }
            Line::Perft => self.count(start, line),
            kind => {
                if start - self.id_at > BLOCK_REACH {
                    self.id.clear();
                }
                let is_block = kind == Line::Epd;
                self.block_at = is_block.then_some(start);
                let skip = if is_block { 4 } else { 0 };
                let is_unusual = is_tried && !is_block;
                let read = if is_unusual { None } else { usual(&text[skip..], line.len() - skip) };
                match read {
                    Some((board, clocks)) => self.push(start, board, clocks, b""),
                    None => self.unusual_position(start, text, line.len(), skip),
                }
            }
        }
    }

    #[cold]
    fn too_long(&mut self, start: usize, line: &[u8]) {
        self.block_at = None;
        let reject = too_long(&self.chunk.file, line, self.options.max_record);
        self.reject(start, &reject.raw, reject.reasons, reject.message.into_owned());
    }

    /// Reads the position in any line, the first `len` bytes of a text, from the byte `skip` on.
    fn unusual_position(&mut self, start: usize, text: &[u8], len: usize, skip: usize) {
        let remarks = &mut self.decoded.remarks;
        match unusual(text, len, skip, self.options, remarks) {
            Ok(line) => {
                let Decoded { remarks, dropped_values, lines, records, .. } = &mut self.decoded;
                self.said.add(self.batch.len(), &line, remarks, |field, value| {
                    let place = place(self.chunk, *lines, *records, start);
                    dropped_values.push(DroppedValue::new(DroppedKind::Value(field), place, value.as_bytes()));
                });
                self.pseudo_en_passants.add(self.batch.len(), line.pseudo_en_passant);
                self.push(start, line.board, line.clocks, line.rest);
            }
            Err(refusal) => {
                self.reject(start, &text[..len], refusal.reasons, refusal.message);
            }
        }
    }

    /// Adds a record. Fields that its operations give must have been added before.
    #[inline(always)]
    fn push(&mut self, start: usize, board: Packed, clocks: [u16; 2], rest: &[u8]) {
        let [halfmove, fullmove] = clocks;
        self.batch.push(board, halfmove, fullmove);
        self.batch.origins.push(start as u32);
        self.ordinals.push(self.decoded.records as u32);
        self.decoded.records += 1;
        if self.operations.is_some() {
            self.open(rest);
        }
    }

    /// Begins the operations of the record that was just added.
    #[inline(never)]
    fn open(&mut self, rest: &[u8]) {
        self.close();
        let mut operations = std::mem::take(&mut self.id);
        if !rest.is_empty() {
            separate(&mut operations);
            operations.push_str(&text_of(rest));
        }
        self.open = Some(operations);
    }

    /// Completes the operations of the last record.
    fn close(&mut self) {
        if let (Some(operations), Some(text)) = (&mut self.operations, self.open.take()) {
            operations.push(Some(&*text).filter(|text| !text.is_empty()));
        }
    }

    /// Reads a `perft DEPTH COUNT` line.
    fn count(&mut self, start: usize, line: &[u8]) {
        let mut tokens = line.split(u8::is_ascii_whitespace).skip(1);
        let mut number = || {
            let token = tokens.find(|token| !token.is_empty())?;
            std::str::from_utf8(token).ok()?.parse::<u64>().ok()
        };
        let block = self.block_at.filter(|&at| start - at <= BLOCK_REACH);
        if block.is_none() {
            self.id.clear();
            let message = "a perft count without a position before it".to_owned();
            return self.push_reject(start, line, ["perft_without_position"], message);
        }
        let (Some(depth), Some(count)) = (number(), number()) else {
            let message = "expected `perft DEPTH COUNT`".to_owned();
            return self.push_reject(start, line, ["perft_count"], message);
        };
        if let Some(operations) = &mut self.open {
            separate(operations);
            let _ = write!(operations, "D{depth} {count};");
        }
    }

    #[cold]
    fn reject(&mut self, start: usize, line: &[u8], reasons: impl IntoIterator<Item = &'static str>, message: String) {
        // The lines that follow belong to this record, not to the one before.
        self.close();
        self.id.clear();
        self.push_reject(start, line, reasons, message);
    }

    #[cold]
    fn push_reject(
        &mut self,
        start: usize,
        line: &[u8],
        reasons: impl IntoIterator<Item = &'static str>,
        message: String,
    ) {
        self.decoded.rejects.push(Reject {
            place: place(self.chunk, self.decoded.lines, self.decoded.records, start),
            reasons: reasons.into_iter().collect(),
            message: Cow::Owned(message),
            raw: line.to_vec(),
        });
        self.decoded.records += 1;
    }

    fn finish(mut self) -> Decoded {
        self.close();
        if let Some(operations) = self.operations
            && operations.count_present() != 0
        {
            self.batch.fields.insert(Field::Operations, Array::Text(operations));
        }
        self.said.finish(&mut self.batch);
        self.pseudo_en_passants.finish(self.options, &mut self.batch);
        if !self.decoded.rejects.is_empty() {
            self.batch.ordinals = Some(self.ordinals);
        }
        if !self.batch.is_empty() {
            self.decoded.batches.push(self.batch);
        }
        self.decoded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::{Random, RandomPlay, Start};
    use crate::input::Bytes;
    use std::path::Path;

    fn decoded(text: &[u8], max_record: usize) -> Decoded {
        let chunk = Chunk::new(Path::new("lines").into(), Bytes::from(text.to_vec()));
        let fields = Fields::of(&[Field::Operations]);
        decode(&chunk, &DecodeOptions { max_record, fields, ..DecodeOptions::default() })
    }

    /// A line alone is too short for vectors to read it, so that the two ways are compared.
    #[test]
    fn lines_among_others_are_read_like_lines_alone() {
        let mut random = Random::new(5);
        let mut lines = Vec::new();
        for played in RandomPlay::new(6, Start::Chess960).take(3000) {
            let mut line = played.position.to_string();
            match random.below(20) {
                0 => line.push_str(" bm e4;"),
                1 => line.insert(0, ' '),
                2 => line.push_str("  "),
                3 => line.insert(0, '\u{FEFF}'),
                4 => line.truncate(line.len() - 4),
                5 => line.clear(),
                6 => line = line.replace('/', "//"),
                7 => line = format!("epd {line}"),
                8 => line = line.rsplitn(3, ' ').last().unwrap_or_default().to_owned(),
                9 => line = line.replace(" w ", " b "),
                10 => line.push_str(&" ".repeat(60)),
                11 => line = played.position.shredder_fen(),
                _ => {}
            }
            lines.push(line + if random.below(3) == 0 { "\r\n" } else { "\n" });
        }
        for max_record in [100, 60] {
            // The last line has an end in the first round only.
            let text = lines.concat();
            let all = decoded(text.as_bytes(), max_record);
            let all_rows: Vec<_> = all.batches.iter().flat_map(rows).collect();
            let (mut expected, mut rejects) = (Vec::new(), Vec::new());
            let mut start = 0;
            for (number, line) in (1..).zip(&lines) {
                let one = decoded(line.as_bytes(), max_record);
                expected.extend(one.batches.iter().flat_map(rows).map(|(row, at)| (row, at + start)));
                let places = one.rejects.iter().map(|reject| (number, start as u64, reject.message.to_string()));
                rejects.extend(places);
                start += line.len() as u32;
            }
            assert_eq!(all_rows, expected);
            assert_eq!(all.lines, lines.len() as u64 - u64::from(!text.ends_with('\n')));
            let found = all.rejects.iter();
            let found: Vec<_> = found
                .map(|reject| (reject.place.line.unwrap_or_default(), reject.place.offset, reject.message.to_string()))
                .collect();
            assert_eq!(found, rejects);
            assert!(rejects.len() > 100 && expected.len() > 1000);
            lines.last_mut().unwrap().truncate(40);
        }
        type Row = ((Packed, [u16; 2], Option<String>), u32);
        fn rows(batch: &Batch) -> Vec<Row> {
            let operations = |row| batch.values(Field::Operations)?.text(row).map(str::to_owned);
            let row = |row| {
                let clocks = [batch.halfmove[row], batch.fullmove[row]];
                ((batch.board(row), clocks, operations(row)), batch.origins[row])
            };
            (0..batch.len()).map(row).collect()
        }
    }
}
