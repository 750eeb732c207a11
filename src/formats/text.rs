//! FEN, EPD and perft lists: a position per line, or a block of lines.
//!
//! Lines end at LF; a CR before it is dropped, and so is a UTF-8 byte order mark at the start of a line
//! (concatenated files have them in the middle). Blank lines and lines that begin with `#` are skipped.
//! What follows the FEN fields of a line is kept as text in [`Field::Operations`]: EPD operations, perft
//! counts. The first move of the operation `bm` is also the record's [`Field::Move`] if it is legal.
//!
//! FEN is written with six fields and nothing else. EPD keeps the operations of the record after the first four
//! fields, or after all six if the clocks are not those of a new game: readers of EPD take two numbers
//! there as the clocks, so nothing is lost. Control characters in them become blanks. A perft file is an EPD
//! file whose operations are counts.
//!
//! A perft *block* is lines `id NAME`, `epd FEN`, `perft DEPTH COUNT`, …; it is one record, and its id and
//! counts become the operations `id "NAME"; D1 20; D2 400;`.

use super::{
    About, Bytewise, Chunk, Codec, DecodeOptions, Decoded, Encoder, Likeness, Piece, Remark,
};
use crate::block::Packed;
use crate::chess::fen::{self, CastlingStyle, FenOptions};
use crate::chess::validity::Validity;
use crate::chess::{Move, Position};
use crate::error::{Place, Reject};
use crate::one_line;
use crate::table::{Array, Batch, Field, Fields, Texts, Values};
use memchr::{memchr, memchr_iter, memchr2, memmem, memrchr};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// En passant squares that are dropped, in any format.
pub static DROPPED_EN_PASSANT: Remark = Remark {
    what: "en passant square",
    how: "dropped, because no en passant capture is legal",
    is_detail: true,
};

/// What a line may carry.
const CARRIES: Fields = Fields::of(&[Field::Move, Field::Operations]);
/// What is written of a record.
const OPERATIONS: Fields = Fields::of(&[Field::Operations]);

macro_rules! format_of_lines {
    ($(#[$doc:meta])* $name:ident, $kind:expr, $about:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Codec for $name {
            fn about(&self) -> &'static About {
                static ABOUT: About = $about;
                &ABOUT
            }
            fn likeness(&self, head: &[u8]) -> Likeness {
                match sniff(head) {
                    Some(kind) if kind == $kind => Likeness::Certain,
                    Some(Kind::Fen | Kind::Epd) => Likeness::Possible,
                    _ => Likeness::No,
                }
            }
            fn cut(&self, bytes: &[u8], max_record: usize) -> Option<usize> {
                cut(bytes, max_record)
            }
            fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
                decode(chunk, options)
            }
            fn encode(&self, batch: &Batch, rows: &[usize], piece: &mut Piece) {
                let with_operations = $kind != Kind::Fen;
                for &row in rows {
                    write_line(batch, row, with_operations, &mut piece.bytes);
                }
            }
            fn keeps(&self, batch: &Batch, row: usize, field: Field) -> bool {
                let writes = self.about().writes.unwrap_or_default();
                writes.contains(field)
                    || writes.contains(Field::Operations) && is_in_operations(batch, row, field)
            }
            fn encoder(&self) -> Option<Box<dyn Encoder>> {
                Some(Box::new(Bytewise))
            }
        }
    };
}

format_of_lines!(
    /// A position per line, six fields.
    Fen,
    Kind::Fen,
    About {
        name: "fen",
        title: "a position per line, six fields",
        extensions: &["fen", "fens", "sfens"],
        is_text: true,
        has_games: false,
        carries: CARRIES,
        writes: Some(Fields::NONE),
    }
);
format_of_lines!(
    /// A position per line, four fields and operations.
    Epd,
    Kind::Epd,
    About {
        name: "epd",
        title: "a position per line, four fields and operations",
        extensions: &["epd"],
        is_text: true,
        has_games: false,
        carries: CARRIES,
        writes: Some(OPERATIONS),
    }
);
format_of_lines!(
    /// Positions with perft counts.
    Perft,
    Kind::Perft,
    About {
        name: "perft",
        title: "positions with perft counts",
        extensions: &["perft"],
        is_text: true,
        has_games: false,
        carries: CARRIES,
        writes: Some(OPERATIONS),
    }
);

/// Which of the three a line looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fen,
    Epd,
    Perft,
}

/// Up to and including the last line end.
pub(super) fn cut_lines(bytes: &[u8]) -> Option<usize> {
    memrchr(b'\n', bytes).map(|at| at + 1)
}

/// A `perft` line that begins more bytes than this after its `epd` line is not part of its block, and neither
/// is an `id` line this far before it: so a place in the middle of a file can be classified as inside a block or not.
const BLOCK_REACH: usize = 64 << 10;

/// What a line is among the lines of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Nothing, or a comment.
    Blank,
    /// `id NAME`: a block begins.
    Id,
    /// `epd FEN`: a block begins, unless its `id` came before.
    Epd,
    /// `perft DEPTH COUNT`: belongs to the block before it.
    Perft,
    /// A record of its own, or something meant as one.
    Record,
}

impl Line {
    /// What a line is, without the blanks around it.
    #[inline]
    fn of(line: &[u8]) -> Self {
        match line.first() {
            None | Some(b'#') => Self::Blank,
            Some(b'i') if line.starts_with(b"id ") => Self::Id,
            Some(b'e') if line.starts_with(b"epd ") => Self::Epd,
            Some(b'p') if line.starts_with(b"perft ") => Self::Perft,
            Some(_) => Self::Record,
        }
    }

    /// What a line with this beginning is, if that is certain.
    fn begun(line: &[u8]) -> Option<Self> {
        let line = without_mark(line).trim_ascii_start();
        let could_be = |word: &[u8]| line.len() < word.len() && word.starts_with(line);
        if could_be(BYTE_ORDER_MARK)
            || [&b"id "[..], b"epd ", b"perft "]
                .iter()
                .any(|w| could_be(w))
        {
            return None;
        }
        Some(Self::of(line))
    }
}

fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// The last place where a line begins that does not belong to anything before it.
fn cut(bytes: &[u8], max_record: usize) -> Option<usize> {
    let end = cut_lines(bytes)?;
    let tail = &bytes[end..];
    if tail.len() > max_record {
        // A line that is too long belongs to nothing, whatever it begins with.
        return Some(end);
    }
    // The first meaningful line after the place, as far as that is known.
    let mut next = Line::begun(tail).filter(|&line| line != Line::Blank);
    let mut place = end;
    // A place is certain if no line that could begin a block is within reach before it.
    let mut sure = end;
    loop {
        if next == Some(Line::Id) && place > 0 {
            return Some(place);
        }
        // The line before the place.
        let feed = place.checked_sub(1)?;
        let start = memrchr(b'\n', &bytes[..feed]).map_or(0, |before| before + 1);
        let line = &bytes[start..feed];
        let kind = match line.len() > max_record {
            true => Line::Record,
            false => Line::of(without_mark(line).trim_ascii()),
        };
        match kind {
            Line::Record => return Some(place),
            Line::Epd | Line::Perft if matches!(next, Some(Line::Epd | Line::Record)) => {
                return Some(place);
            }
            Line::Blank | Line::Perft if sure - start > BLOCK_REACH => return Some(sure),
            Line::Blank => {}
            _ => next = Some(kind),
        }
        place = start;
        if kind == Line::Epd {
            sure = start;
        }
    }
}

/// Appends the line of a record.
fn write_line(batch: &Batch, row: usize, with_operations: bool, out: &mut Vec<u8>) {
    // A board that does not decode never passes a reader.
    let Ok(position) = batch.position(row) else {
        return;
    };
    position.write_fen(out, CastlingStyle::Outermost);
    if with_operations {
        if out.ends_with(b" 0 1") {
            out.truncate(out.len() - 4);
        }
        let operations = batch
            .values(Field::Operations)
            .and_then(|values| values.text(row));
        if let Some(operations) = operations.filter(|operations| !operations.is_empty()) {
            out.push(b' ');
            one_line::push(operations.as_bytes(), out);
        }
    }
    out.push(b'\n');
}

/// The line that contains a place, without its end, and its number counted from 1.
pub(super) fn line_at(bytes: &[u8], at: usize) -> (&[u8], u64) {
    let at = at.min(bytes.len());
    let start = memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
    let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
    let number = memchr_iter(b'\n', &bytes[..start]).count() as u64 + 1;
    (bytes[start..end].trim_ascii_end(), number)
}

/// Whether the first meaningful line is of one of these formats.
fn sniff(head: &[u8]) -> Option<Kind> {
    for line in head.split(|&byte| byte == b'\n').take(1000) {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        let line = line.trim_ascii();
        if line.is_empty() || line[0] == b'#' {
            continue;
        }
        if line.starts_with(b"id ") || line.starts_with(b"epd ") {
            return Some(Kind::Perft);
        }
        let mut tokens = line
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|token| !token.is_empty());
        let board = tokens.next()?;
        let looks_like_a_board = board.iter().filter(|&&byte| byte == b'/').count() == 7
            && board
                .iter()
                .all(|byte| b"pnbrqkPNBRQK12345678/".contains(byte));
        if !looks_like_a_board || !matches!(tokens.next(), Some(b"w" | b"b")) {
            return None;
        }
        let rest: Vec<&[u8]> = tokens.collect();
        let number = |token: &&[u8]| token.iter().all(u8::is_ascii_digit);
        return Some(if rest.contains(&&b"|"[..]) {
            // `FEN | score | result` is a format of its own.
            return None;
        } else if rest.len() == 4 && rest[2..].iter().all(number) {
            Kind::Fen
        } else {
            Kind::Epd
        });
    }
    None
}

/// The state of decoding.
struct Decoder<'a> {
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    batch: Batch,
    ordinals: Vec<u32>,
    decoded: Decoded,
    /// If operations are requested: those of all records but the last one, to which lines may still be added.
    operations: Option<Texts>,
    open: Option<String>,
    /// Where moves are wanted: the first of `bm`.
    moves: Option<Values<u16>>,
    /// The `id` line of the block that has just begun.
    id: String,
    /// Offset of the `id` line.
    id_at: usize,
    /// Offset of the `epd` line that `perft` lines belong to, whether valid or not.
    block_at: Option<usize>,
}

fn decode(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let bytes: &[u8] = &chunk.bytes;
    let mut decoder = Decoder {
        chunk,
        options,
        batch: Batch::new(),
        ordinals: Vec::new(),
        decoded: Decoded::default(),
        operations: options
            .fields
            .contains(Field::Operations)
            .then(Texts::default),
        open: None,
        moves: options.fields.contains(Field::Move).then(Values::default),
        id: String::new(),
        id_at: 0,
        block_at: None,
    };
    let mut start = 0;
    while start < bytes.len() {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |len| start + len);
        decoder.line(start, &bytes[start..end]);
        decoder.decoded.lines += u64::from(end < bytes.len());
        start = end + 1;
    }
    decoder.finish()
}

impl Decoder<'_> {
    #[inline]
    fn line(&mut self, start: usize, line: &[u8]) {
        if line.len() > self.options.max_record {
            return self.too_long(start, line);
        }
        let line = without_mark(line).trim_ascii();
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
                self.position(start, line, if is_block { 4 } else { 0 });
            }
        }
    }

    #[cold]
    fn too_long(&mut self, start: usize, line: &[u8]) {
        self.block_at = None;
        let reject = super::too_long(&self.chunk.file, line, self.options.max_record);
        self.reject(
            start,
            &reject.raw,
            reject.reasons,
            reject.message.into_owned(),
        );
    }

    /// Reads the position in a line from the byte `skip` on.
    #[inline]
    fn position(&mut self, start: usize, line: &[u8], skip: usize) {
        let options = FenOptions {
            keep_en_passant: self.options.keep_en_passant,
        };
        let mut fen = match fen::parse(&line[skip..], options) {
            Ok(fen) => fen,
            Err(mut error) => {
                error.column += skip;
                return self.reject(start, line, [error.expected.name()], error.to_string());
            }
        };
        if let Some(&first) = fen.rest.first()
            && !(first.is_ascii_alphabetic() || matches!(first, b';' | b'['))
        {
            let message = format!(
                "column {}: found `{}`, expected EPD operations or the end of the line",
                line.len() - fen.rest.len() + 1,
                first.escape_ascii()
            );
            return self.reject(start, line, ["fen_trailing_text"], message);
        }
        if fen.rest.len() > 5 {
            clocks_of_operations(&mut fen);
        }
        if fen.dropped_en_passant() {
            // Afterwards there is no trace of it.
            if self.options.validity == Validity::Strict {
                let mut written = fen.position.clone();
                written.en_passant = fen.written_en_passant;
                let violations = written.violations(Validity::Strict);
                if !violations.is_empty() {
                    return self.reject(start, line, violations.names(), violations.to_string());
                }
            }
            self.decoded.remarks.add(&DROPPED_EN_PASSANT, 1);
        }
        match Packed::pack(&fen.position) {
            Ok(board) => self.push(start, board, &fen),
            Err(error) => {
                // The strict level has a name for everything that cannot be packed.
                let violations = fen.position.violations(Validity::Strict);
                if violations.is_empty() {
                    self.reject(start, line, ["unpackable"], error.to_string());
                } else {
                    self.reject(start, line, violations.names(), violations.to_string());
                }
            }
        }
    }

    #[inline]
    fn push(&mut self, start: usize, board: Packed, fen: &fen::Fen<'_>) {
        let position = &fen.position;
        self.batch.push(board, position.halfmove, position.fullmove);
        self.batch.origins.push(start as u32);
        self.ordinals.push(self.decoded.records as u32);
        self.decoded.records += 1;
        if let Some(moves) = &mut self.moves {
            let best = best_move(&String::from_utf8_lossy(fen.rest), position);
            moves.push(best.map(Move::to_bits));
        }
        if self.operations.is_some() {
            self.close();
            let mut operations = std::mem::take(&mut self.id);
            if !fen.rest.is_empty() {
                separate(&mut operations);
                operations.push_str(&text_of(fen.rest));
            }
            self.open = Some(operations);
        }
    }

    /// Completes the operations of the last record.
    fn close(&mut self) {
        if let (Some(operations), Some(text)) = (&mut self.operations, self.open.take()) {
            operations.push((!text.is_empty()).then(|| Arc::from(text)));
        }
    }

    /// A `perft DEPTH COUNT` line.
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
    fn reject(
        &mut self,
        start: usize,
        line: &[u8],
        reasons: impl IntoIterator<Item = &'static str>,
        message: String,
    ) {
        // What follows belongs to this record, not to the one before.
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
            place: Place {
                file: Arc::clone(&self.chunk.file),
                line: Some(self.decoded.lines + 1),
                offset: start as u64,
                record: self.decoded.records,
                game: None,
                ply: None,
            },
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
            self.batch
                .fields
                .insert(Field::Operations, Array::Text(operations));
        }
        if let Some(moves) = self.moves
            && moves.count_present() != 0
        {
            self.batch.fields.insert(Field::Move, Array::U16(moves));
        }
        if !self.decoded.rejects.is_empty() {
            self.batch.ordinals = Some(self.ordinals);
        }
        if !self.batch.is_empty() {
            self.decoded.batches.push(self.batch);
        }
        self.decoded
    }
}

/// EPD has the clocks as operations if they are not fields.
fn clocks_of_operations(fen: &mut fen::Fen<'_>) {
    // Hardly any line has them, and both their opcodes have this in them.
    if memmem::find(fen.rest, b"mv").is_none() {
        return;
    }
    let Ok(operations) = std::str::from_utf8(fen.rest) else {
        return;
    };
    let number = |opcode| operand(operations, opcode)?.trim().parse().ok();
    if let Some(halfmove) = number("hmvc") {
        fen.position.halfmove = halfmove;
    }
    if let Some(fullmove) = number("fmvn") {
        fen.position.fullmove = fullmove;
    }
}

/// The first move of the operation `bm`, if it is legal.
fn best_move(operations: &str, position: &Position) -> Option<Move> {
    let mut moves = operand(operations, "bm")?.split([' ', '\t', ',']);
    let first = moves.find(|text| !text.is_empty())?;
    // What moves a position without kings has, nobody knows.
    let moves = position.is_valid(Validity::Playable).then_some(position)?;
    moves.parse_san(first).ok()
}

/// The operation that a field becomes that puzzles have.
pub(super) fn operation_of(field: Field, value: &str) -> Option<String> {
    let start = match field {
        Field::PuzzleId => "id \"",
        Field::PuzzleRating => "c0 \"rating ",
        Field::Themes => "c1 \"",
        _ => return None,
    };
    Some(format!("{start}{}\";", value.replace('"', "'")))
}

/// Whether the operations of a record say what this field of it does.
fn is_in_operations(batch: &Batch, row: usize, field: Field) -> bool {
    let operations = batch.values(Field::Operations);
    let (Some(operations), Some(values)) = (
        operations.and_then(|operations| operations.text(row)),
        batch.values(field),
    ) else {
        return false;
    };
    if field == Field::Move {
        let position = batch.position(row).ok();
        let best = position.and_then(|position| best_move(operations, &position));
        return best.map(|mv| mv.to_bits().into()) == values.number(row);
    }
    let number = || {
        values
            .number(row)
            .map(|number| Cow::Owned(number.to_string()))
    };
    let value = values.text(row).map(Cow::Borrowed).or_else(number);
    let operation = value.and_then(|value| operation_of(field, &value));
    operation.is_some_and(|operation| operations.contains(&operation))
}

fn separate(operations: &mut String) {
    if !operations.is_empty() {
        operations.push(' ');
    }
}

/// Text as it is; if it is not UTF-8, as Latin-1, so that no byte is lost.
fn text_of(bytes: &[u8]) -> String {
    // Copied first: only bytes that nobody else can change remain valid.
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|error| {
        error
            .as_bytes()
            .iter()
            .map(|&byte| char::from(byte))
            .collect()
    })
}

/// The perft counts (depth, nodes) among operations, in either form: `;D1 20 ;D2 400` and
/// `D1 20; D2 400;`.
///
/// ```
/// use lanefish::formats::text::perft_counts;
/// assert_eq!(perft_counts(";D1 20 ;D2 400").collect::<Vec<_>>(), [(1, 20), (2, 400)]);
/// assert_eq!(perft_counts("id \"x\"; D3 8902;").collect::<Vec<_>>(), [(3, 8902)]);
/// ```
pub fn perft_counts(operations: &str) -> impl Iterator<Item = (u32, u64)> {
    operations.split(';').filter_map(|operation| {
        let (depth, nodes) = operation.trim().strip_prefix('D')?.split_once(' ')?;
        Some((depth.parse().ok()?, nodes.trim().parse().ok()?))
    })
}

/// The operand of an opcode among operations, up to its `;`.
///
/// ```
/// use lanefish::formats::text::operand;
/// assert_eq!(operand("bm Rxb2; ce 31;", "ce"), Some("31"));
/// assert_eq!(operand("bm Rxb2; ce 31;", "acd"), None);
/// assert_eq!(operand("id \"a; ce 1\"; ce 31;", "ce"), Some("31"));
/// ```
pub fn operand<'a>(operations: &'a str, opcode: &str) -> Option<&'a str> {
    each(operations).find_map(|operation| {
        let operand = operation.trim_start().strip_prefix(opcode)?;
        operand.strip_prefix(' ').map(str::trim)
    })
}

/// The operations one by one; a `;` in quotes ends none.
fn each(operations: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(operations);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut at = 0;
        while let Some(found) = memchr2(b';', b'"', &text.as_bytes()[at..]) {
            at += found;
            if text.as_bytes()[at] == b';' {
                rest = Some(&text[at + 1..]);
                return Some(&text[..at]);
            }
            // A quote without a second one is a character like any other.
            at += 1;
            at += memchr(b'"', &text.as_bytes()[at..]).map_or(0, |len| len + 1);
        }
        rest = None;
        Some(text)
    })
}

/// The name among operations: `id "NAME";`.
///
/// ```
/// use lanefish::formats::text::id;
/// assert_eq!(id("bm Rxb2; id \"BK.11\";"), Some("BK.11"));
/// ```
pub fn id(operations: &str) -> Option<&str> {
    let at = if operations.starts_with("id \"") {
        4
    } else {
        operations.find(" id \"")? + 5
    };
    operations[at..].split_once('"').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;

    #[test]
    fn clocks_are_written_where_they_matter() {
        let fresh = "8/8/8/4k3/8/8/8/4K2R w K - 0 1";
        let later = "8/8/8/4k3/8/8/8/4K2R w K - 10 1";
        let mut batch = Batch::new();
        for fen in [fresh, later] {
            let position = Position::from_fen_unvalidated(fen).unwrap();
            let board = Packed::pack(&position).unwrap();
            batch.push(board, position.halfmove, position.fullmove);
        }
        let mut values = Field::Operations.column(1);
        if let Array::Text(column) = &mut values {
            column.push(Some("id \"a\";".into()));
        }
        batch.fields.insert(Field::Operations, values);
        let lines = |with_operations| {
            let mut out = Vec::new();
            (0..2).for_each(|row| write_line(&batch, row, with_operations, &mut out));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(lines(false), format!("{fresh}\n{later}\n"));
        assert_eq!(
            lines(true),
            format!("8/8/8/4k3/8/8/8/4K2R w K -\n{later} id \"a\";\n")
        );
    }
}
