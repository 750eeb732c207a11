//! Stockfish's plain text: six lines for each position of training data.
//!
//! ```text
//! fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
//! move e2e4
//! score 35
//! ply 0
//! result 1
//! e
//! ```
//!
//! Score and result (-1, 0, 1) are those of the side to move. An entry begins with `fen` and ends with `e`; the lines
//! between may come in any order, and lines with other words and blank ones are skipped. An entry in which one of the
//! five is missing, duplicate or invalid is rejected, so that values of the entry before are never used instead.
//! Castling is read in both forms, `e1g1` and `e1h1`; `a1a1`, `0000`, `(none)` and `null` mean that there is no move.
//!
//! The text is written as Stockfish writes it.

use super::decode_chains::{Run, Scored};
use super::encode_chains;
use super::encode_chains::{result_of_mover, score_of_mover};
use super::scored_line::begins_entry;
use crate::chess::fen::{CastlingStyle, Coded};
use crate::chess::{Color, Move, MoveKind, Role, Square};
use crate::formats::codec::conversion_losses::Refuse;
use crate::formats::codec::decode_records::{BadRecord, SATURATED_SCORE, score_of_white};
use crate::formats::codec::encode::{Encoded, Encoder, lost_columns};
use crate::formats::codec::encoder_columns::Rows;
use crate::formats::codec::layout::Text;
use crate::formats::codec::line_records::without_end;
use crate::formats::text::{UsualLines, unusual, usual};
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, Losses, too_long};
use crate::packed::Packed;
use crate::replay::Board;
use crate::table::{Batch, Field, Fields, ScoreCodes, Tile};
use crate::text::numbers::whole;
use crate::text::short_text::ShortText;
use crate::text::text_writer::Room;
use memchr::{memchr, memmem};
use std::ops::Range;

/// The fields of the records.
const CARRIES: Fields = Fields::of(&[Field::Score, Field::Result, Field::Move, Field::Ply, Field::KeyEnPassant]);
/// How an entry begins, after the end of a line.
const START: &[u8] = b"\nfen ";
/// Number of lines of an entry.
const LINES: u64 = 6;
/// Maximum length of a position that is read in one go.
const LONGEST_FEN: usize = 128;
/// Number of bytes of a bad entry that a reject keeps.
const RAW: usize = 4096;

/// The codec of Stockfish's plain text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Codec for Plain {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "plain",
            title: "Stockfish's plain text: six lines for each position of training data",
            extensions: &["plain"],
            has_games: false,
            can_be_empty: false,
            selects: false,
            carries: CARRIES,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(begins_entry(head))
    }
    fn layout(&self) -> Layout {
        Layout::Text(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        read_entries(chunk, options, true).with_score_codes(ScoreCodes::Stockfish)
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&Self)
    }
}

impl Text for Plain {
    fn cut(&self, bytes: &[u8], _max_record: usize) -> Option<usize> {
        memmem::rfind(bytes, START).map(|at| at + 1)
    }
    fn resume(&self, bytes: &[u8], from: usize, _at_end: bool) -> Option<usize> {
        let from = from.saturating_sub(START.len());
        memmem::find(bytes.get(from..)?, START).map(|at| from + at + 1)
    }
    fn division(&self, bytes: &[u8], from: usize, _at_end: bool) -> Option<usize> {
        let before = from.max(1) - 1;
        memmem::find(bytes.get(before..)?, START).map(|at| before + at + 1)
    }
    fn reach(&self) -> usize {
        START.len()
    }
}

/// The lines of an entry so far.
#[derive(Default)]
struct Entry<'a> {
    /// Offset of its first line, and the number of that line.
    start: usize,
    line: u64,
    fen: Option<&'a [u8]>,
    mv: Option<&'a [u8]>,
    score: Option<&'a [u8]>,
    ply: Option<&'a [u8]>,
    result: Option<&'a [u8]>,
    /// A word that occurs twice, if there is one.
    twice: Option<&'static str>,
}

impl<'a> Entry<'a> {
    fn set(&mut self, name: &'static str, value: &'a [u8]) {
        let place = match name {
            "move" => &mut self.mv,
            "score" => &mut self.score,
            "ply" => &mut self.ply,
            "result" => &mut self.result,
            _ => &mut self.fen,
        };
        if place.replace(value.trim_ascii()).is_some() {
            self.twice.get_or_insert(name);
        }
    }
}

fn bad(reason: &'static str, message: impl Into<String>) -> BadRecord {
    BadRecord::new(reason, message.into())
}

/// The reason why an entry without a beginning or an end is bad.
fn incomplete(entry: &Entry<'_>) -> BadRecord {
    let message = match entry.fen {
        Some(_) => "an entry without the line `e` at its end",
        None => "lines that belong to no entry",
    };
    bad("incomplete_entry", message)
}

/// The name and the value of a line of an entry.
fn named(line: &[u8]) -> Option<(&'static str, &[u8])> {
    // Their first letters differ.
    let name = match line.first()? {
        b'f' => "fen",
        b'm' => "move",
        b's' => "score",
        b'p' => "ply",
        b'r' => "result",
        _ => return None,
    };
    let rest = line.strip_prefix(name.as_bytes())?;
    matches!(rest.first(), None | Some(b' ' | b'\t')).then_some((name, rest))
}

/// Reads all entries of a chunk. For tests, it can read every entry in the way meant for unusual ones.
fn read_entries(chunk: &Chunk, options: &DecodeOptions, has_usual: bool) -> Decoded {
    let bytes: &[u8] = &chunk.bytes;
    let mut decoder = Decoder {
        bytes,
        options,
        records: Scored::new(chunk, options, CARRIES),
        lines: UsualLines::default(),
        entry: None,
        saturated: 0,
    };
    let mut start = 0;
    while start < bytes.len() {
        if has_usual
            && decoder.entry.is_none()
            && let Some(len) = decoder.usual_entry(start)
        {
            start += len;
            continue;
        }
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |len| start + len);
        decoder.line(start, without_end(&bytes[start..end]));
        decoder.records.decoded.lines += u64::from(end < bytes.len());
        start = end + 1;
    }
    if let Some(entry) = decoder.entry.take() {
        decoder.reject(&entry, bytes.len(), incomplete(&entry));
    }
    decoder.records.decoded.remarks.add(&SATURATED_SCORE, decoder.saturated);
    decoder.records.finish()
}

/// The values of an entry, as the side to move sees them.
struct Values {
    score: i16,
    ply: u16,
    result: i16,
}

struct Decoder<'a> {
    bytes: &'a [u8],
    options: &'a DecodeOptions,
    records: Scored<'a>,
    lines: UsualLines,
    entry: Option<Entry<'a>>,
    saturated: u64,
}

impl<'a> Decoder<'a> {
    #[inline]
    fn line(&mut self, start: usize, line: &'a [u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let name = named(line);
        if let Some(("fen", _)) = name
            && let Some(entry) = self.entry.take()
        {
            self.reject(&entry, start, incomplete(&entry));
        }
        let number = self.records.decoded.lines + 1;
        let entry = self.entry.get_or_insert_with(|| Entry { start, line: number, ..Entry::default() });
        match name {
            Some((name, value)) => entry.set(name, value),
            None if line.trim_ascii() == b"e" => {
                let entry = self.entry.take().unwrap_or_default();
                let end = start + line.len();
                if end - entry.start > self.options.max_record {
                    let bytes = &self.bytes[entry.start..end];
                    let mut reject = too_long(self.records.file(), bytes, self.options.max_record);
                    reject.place.line = Some(entry.line);
                    return self.records.push_reject(entry.start, reject);
                }
                if let Err(bad) = self.record(&entry) {
                    self.reject(&entry, start + line.len(), bad);
                }
            }
            None => {}
        }
    }

    fn reject(&mut self, entry: &Entry<'_>, end: usize, bad: BadRecord) {
        let raw = &self.bytes[entry.start..end.min(entry.start + RAW)];
        self.records.reject_line(entry.start, entry.line, bad, raw.trim_ascii_end());
    }

    /// Adds the record of an entry.
    fn record(&mut self, entry: &Entry<'_>) -> Result<(), BadRecord> {
        let Entry { fen, mv, score, ply, result, twice, .. } = *entry;
        if let Some(name) = twice {
            return Err(bad("doubled_line", format!("an entry with two lines `{name}`")));
        }
        let lines = [(fen, "fen"), (mv, "move"), (score, "score"), (ply, "ply"), (result, "result")];
        if let Some((_, name)) = lines.iter().find(|(value, _)| value.is_none()) {
            return Err(bad("incomplete_entry", format!("an entry without a line `{name}`")));
        }
        let [fen, mv, score, ply, result] = lines.map(|(value, _)| value.unwrap_or_default());
        let score: i16 = value(score, "invalid_score", "score of 16 bits")?;
        let ply: u16 = value(ply, "invalid_ply", "ply of 16 bits")?;
        let result: i16 = value(result, "invalid_result", "result")?;
        if !(-1..=1).contains(&result) {
            return Err(bad("invalid_result", format!("the result {result}, which is not -1, 0 or 1")));
        }
        let position = match self.lines.read(fen) {
            Some((board, clocks)) => (board, clocks, None),
            None => {
                let line = unusual(fen, fen.len(), 0, self.options, &mut self.records.decoded.remarks)?;
                if !line.rest.is_empty() {
                    return Err(bad("fen_trailing_text", "text after the position"));
                }
                (line.board, line.clocks, line.pseudo_en_passant)
            }
        };
        let mv = read_move(mv, &position.0, position.1)?;
        self.push(entry.start, position, mv, Values { score, ply, result });
        Ok(())
    }

    #[inline(always)]
    fn push(
        &mut self,
        start: usize,
        (board, clocks, idle): (Packed, [u16; 2], Option<Square>),
        mv: Option<Move>,
        Values { score, ply, result }: Values,
    ) {
        let is_black = board.side_to_move() == Color::Black;
        let (score, is_saturated) = score_of_white(score, is_black);
        self.saturated += u64::from(is_saturated);
        let result = (1 + if is_black { -result } else { result }) as u8;
        self.records.push_packed(board, clocks, idle, score, mv.map(Move::to_bits));
        self.records.end_run(Run { origin: start, result, ply, game: 0 });
    }

    /// Reads the entry that begins here if it is like nearly all entries: its six lines, in the order in which
    /// Stockfish writes them. Returns its length. Otherwise, nothing is read, and the entry is left to the slow way,
    /// which says what is wrong.
    #[inline]
    fn usual_entry(&mut self, start: usize) -> Option<usize> {
        let text = self.bytes.get(start..)?;
        let fen = text.strip_prefix(b"fen ")?;
        let len = memchr(b'\n', &fen[..fen.len().min(LONGEST_FEN)])?;
        let (board, clocks) = usual(fen, len)?;
        let mut rest = &fen[len + 1..];
        let mv = usual_move(&mut rest)?;
        let score = usual_number(b"score ", &mut rest)?;
        let ply = usual_number(b"ply ", &mut rest)?;
        let result = usual_number(b"result ", &mut rest).filter(|result| (-1..=1).contains(result))?;
        rest = rest.strip_prefix(b"e\n")?;
        let len = text.len() - rest.len();
        if len > self.options.max_record {
            return None;
        }
        let mv = read_move(mv, &board, clocks).ok()?;
        self.push(start, (board, clocks, None), mv, Values { score, ply, result });
        self.records.decoded.lines += LINES;
        Some(len)
    }
}

/// Takes the line of a move, and returns the move as it is written.
#[inline(always)]
fn usual_move<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let text = rest.strip_prefix(b"move ")?;
    let len = match text.first_chunk::<6>()? {
        [.., b'\n', _] => 4,
        [.., b'\n'] => 5,
        _ => return None,
    };
    *rest = &text[len + 1..];
    Some(&text[..len])
}

/// Takes a line of a word and a whole number of at most five digits that fits.
#[inline(always)]
fn usual_number<T: TryFrom<i32>>(word: &[u8], rest: &mut &[u8]) -> Option<T> {
    let text = rest.strip_prefix(word)?;
    let sign = usize::from(text.first() == Some(&b'-'));
    let mut number = 0;
    for at in sign..sign + 6 {
        let digit = text.get(at)?.wrapping_sub(b'0');
        if digit > 9 {
            *rest = text[at..].strip_prefix(b"\n").filter(|_| at > sign)?;
            return T::try_from(if sign == 1 { -number } else { number }).ok();
        }
        number = 10 * number + i32::from(digit);
    }
    None
}

fn value<T: TryFrom<i32>>(text: &[u8], reason: &'static str, what: &str) -> Result<T, BadRecord> {
    let parsed = whole(text).and_then(|number| number.try_into().ok());
    parsed.ok_or_else(|| {
        bad(reason, format!("`{}` is not a {what}", String::from_utf8_lossy(&text[..text.len().min(32)])))
    })
}

/// A legal move in UCI form; `None` for a null move.
fn read_move(text: &[u8], board: &Packed, [halfmove, fullmove]: [u16; 2]) -> Result<Option<Move>, BadRecord> {
    if matches!(text, b"a1a1" | b"0000" | b"(none)" | b"null") {
        return Ok(None);
    }
    let illegal = || {
        let text = String::from_utf8_lossy(&text[..text.len().min(32)]);
        bad("illegal_move", format!("`{text}` is not a legal move"))
    };
    let replay = Board::of_record(board, None, halfmove, fullmove);
    let mv = move_of(text, &replay).ok_or_else(illegal)?;
    let mut next = replay;
    let is_legal = next.play_pseudolegal(mv.to_bits()) && !next.is_after_king_left_in_check();
    if is_legal { Ok(Some(mv)) } else { Err(illegal()) }
}

/// Parses a move in UCI form, whether it is legal or not.
fn move_of(text: &[u8], board: &Board) -> Option<Move> {
    let [from_file, from_rank, to_file, to_rank, ref promotion @ ..] = *text else {
        return None;
    };
    let square = |file: u8, rank: u8| {
        let (file, rank) = (file.wrapping_sub(b'a'), rank.wrapping_sub(b'1'));
        (file | rank < 8).then(|| Square::new(rank * 8 + file))
    };
    let (from, to) = (square(from_file, from_rank)?, square(to_file, to_rank)?);
    let sides = board.sides();
    let bit = |square: Square| 1u64 << square.index();
    let kind = match (sides.role_at(from.index())?, promotion) {
        (_, [letter]) => MoveKind::Promotion(Role::from_letter(*letter)?),
        (_, [_, _, ..]) => return None,
        (Role::Pawn, _) if sides.en_passant & bit(to) != 0 && from.file() != to.file() => MoveKind::EnPassant,
        (Role::King, _) if sides.castling & bit(to) != 0 => MoveKind::Castle,
        (Role::King, _) if from.file().index().abs_diff(to.file().index()) > 1 => {
            // The destination of the king tells on which side the rook is.
            let (smaller, larger) = (bit(from) - 1, !(bit(from) | (bit(from) - 1)));
            let rooks = sides.castling & if to.index() < from.index() { smaller } else { larger };
            let rook = Square::try_new(rooks.trailing_zeros() as u8)?;
            let mv = Move { from, to: rook, kind: MoveKind::Castle };
            return (mv.uci_as(false).as_bytes() == text).then_some(mv);
        }
        _ => MoveKind::Normal,
    };
    Some(Move { from, to, kind })
}

impl Encoder for Plain {
    fn fields(&self) -> Fields {
        CARRIES.without(Field::KeyEnPassant)
    }
    fn encode(&self, batch: &Batch, rows: &[Range<usize>], piece: &mut Encoded) {
        let mut room = Room::behind(&mut piece.bytes);
        let columns = Rows::of(batch);
        for row in rows.iter().cloned().flatten() {
            let (board, is_black) = (batch.board(row), columns.is_black(row));
            let mv = match columns.mv(row) {
                Some(mv) => {
                    let uci = mv.uci_as(mv.kind == MoveKind::Castle && !columns.castles_as_standard(row));
                    ShortText::of(uci.as_bytes())
                }
                None => ShortText::of(b"a1a1"),
            };
            let score = score_of_mover(columns.score(row), is_black);
            let result = i16::from(result_of_mover(columns.result(row), is_black)) - 1;
            let values = [
                [ShortText::of(b"\nmove "), mv],
                [ShortText::of(b"\nscore "), ShortText::signed(score)],
                [ShortText::of(b"\nply "), ShortText::number(columns.ply(row))],
                [ShortText::of(b"\nresult"), ShortText::of(b" ").then(ShortText::signed(result))],
                [ShortText::of(b"\ne\n"), ShortText::EMPTY],
            ];
            room.write(4 + Coded::ROOM + size_of_val(&values), |lines| {
                lines[..4].copy_from_slice(b"fen ");
                let position = board.coded(batch.halfmove[row], batch.fullmove[row]);
                let at = 4 + position.write(&mut lines[4..], CastlingStyle::Outermost);
                values.as_flattened().iter().fold(at, |at, text| text.write(lines, at))
            });
        }
    }
    fn refuse(&self, tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
        encode_chains::illegal_moves(tile, refuse);
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_columns(tile, losses, |field| field == Field::Mate || self.fields().contains(field));
        encode_chains::made_up(tile, losses);
        encode_chains::without_move_as_a1a1(tile, losses);
        encode_chains::saturated(tile, losses);
    }
    fn can_change(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::formats::test_mutations::{each_change, positions};
    use std::fmt::Write;
    use std::path::Path;

    fn read(text: &str) -> Decoded {
        let options = DecodeOptions { fields: CARRIES, ..DecodeOptions::default() };
        let chunk = Chunk::new(Path::new("x").into(), text.as_bytes().to_vec().into());
        let decoded = read_entries(&chunk, &options, true);
        let slowly = read_entries(&chunk, &options, false);
        assert_eq!(format!("{decoded:?}"), format!("{slowly:?}"), "{text}");
        decoded
    }

    const START: &str = "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const CASTLES: &str = "fen r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 4 21";

    #[test]
    fn entries_are_read_and_written() {
        let text = format!(
            "{START}\nmove e2e4\nscore 35\nply 0\nresult 1\ne\n{CASTLES}\nmove e8c8\nscore -15\nply 41\nresult 0\ne\n"
        );
        let decoded = read(&text);
        assert!(decoded.rejects.is_empty(), "{:?}", decoded.rejects);
        let mut piece = Encoded::default();
        let batch = &decoded.batches[0];
        Plain.encode(batch, std::slice::from_ref(&(0..batch.len())), &mut piece);
        assert_eq!(String::from_utf8(piece.bytes).unwrap(), text);
        // Other forms of the same entry.
        let other = format!("\r\n{CASTLES}\r\nresult 0\r\nply 41\r\nextra 7\r\nmove e8a8\r\nscore -15\r\ne\r\n\r\n");
        let other = read(&other);
        assert!(other.rejects.is_empty(), "{:?}", other.rejects);
        assert_eq!(
            other.batches[0].values(Field::Move).unwrap().number(0),
            batch.values(Field::Move).unwrap().number(1)
        );
        for none in ["a1a1", "0000", "(none)", "null"] {
            let decoded = read(&format!("{START}\nmove {none}\nscore 0\nply 0\nresult 0\ne\n"));
            assert_eq!(decoded.batches[0].values(Field::Move).unwrap().number(0), None);
        }
    }

    #[test]
    fn entries_with_any_byte_changed_are_read_as_line_by_line() {
        let mut random = Random::new(3);
        let mut text = String::new();
        for (ply, position) in positions().enumerate() {
            let moves = position.legal_moves();
            let uci = moves.first().map_or("a1a1".to_owned(), |mv| mv.uci_as(true).to_string());
            let score = random.below(70_000) as i32 - 35_000;
            writeln!(text, "fen {position}\nmove {uci}\nscore {score}\nply {ply}\nresult {}\ne", ply as i32 % 3 - 1)
                .unwrap();
        }
        assert!(read(&text).records == 40);
        const BYTES: &[u8] = b"\n\r -+0159aehk/ fe\0\xFF";
        each_change(&text, BYTES, &mut random, |changed, at, random| {
            // With entries around it, and with text that ends in the middle of an entry.
            let from = text[..at].rfind("fen ").unwrap_or(0);
            let to = (at + 150 + random.below(60) as usize).min(changed.len());
            read(&String::from_utf8_lossy(&changed[from..to]));
        });
    }

    #[test]
    fn bad_entries_are_rejects() {
        let good = format!("{START}\nmove e2e4\nscore 35\nply 0\nresult 1\ne\n");
        for (from, to, reason) in [
            ("move e2e4\n", "", "incomplete_entry"),
            ("score 35\n", "", "incomplete_entry"),
            ("ply 0\n", "", "incomplete_entry"),
            ("result 1\n", "", "incomplete_entry"),
            ("e\n", "", "incomplete_entry"),
            ("score 35", "score 70000", "invalid_score"),
            ("score 35", "score", "invalid_score"),
            ("ply 0", "ply -1", "invalid_ply"),
            ("result 1", "result 2", "invalid_result"),
            ("move e2e4", "move e2e5", "illegal_move"),
            ("move e2e4", "move e1g1", "illegal_move"),
            ("move e2e4", "move e2e4q", "illegal_move"),
            ("ply 0", "ply 0\nply 1", "doubled_line"),
            ("0 1\n", "0 1 x y\n", "fen_trailing_text"),
            ("8/8/8/8", "8/8/8/9", "fen_board"),
        ] {
            let wrong = good.replacen(from, to, 1);
            let wrong = if from == "e\n" { good[..good.len() - 2].to_owned() } else { wrong };
            let decoded = read(&format!("{good}{wrong}{good}"));
            let reasons: Vec<_> = decoded.rejects.iter().map(|reject| reject.reasons[0]).collect();
            assert_eq!(reasons.len(), 1, "{from} {to}: {reasons:?}");
            assert!(reason == "fen_board" || reasons[0] == reason, "{from} {to}: {reasons:?}");
            assert_eq!(decoded.rejects[0].place.line, Some(7));
            assert_eq!(decoded.batches[0].len(), 2);
        }
    }
}
