//! Games in the rows of tables: each is a text of its own, and its tags are columns.
//!
//! Everything is as in a file of PGN, except that a text has one game. What follows after its end is an error, so that no
//! game is lost. The tags of a row are written as the tag section that the game would have, because they are read in the
//! same way; the moves are read where they are.

use super::game::{BadGame, Game, GameError, Games, PlyValues, SquareRows, are_uci_moves};
use super::records::{Records, estimated_rows};
use super::tags::Name;
use super::write_movetext::write_movetext;
use super::{GameSource, decode_source, lex};
use crate::error::Place;
use crate::formats::codec::decode_records::hexadecimal;
use crate::formats::{Chunk, DecodeOptions, Decoded};
use crate::games::RecordValues;
use crate::replay::are_lanes_faster;
use crate::table::{Batch, Field, Fields};
use std::ops::Range;
use std::sync::Arc;

/// The tags of the games of some rows.
#[derive(Debug, Default)]
pub(in crate::formats) struct TagSections {
    text: Vec<u8>,
    /// The end of each row's section.
    ends: Vec<usize>,
}

impl TagSections {
    /// Adds a tag to the row that is being written; control characters become blanks.
    pub(in crate::formats) fn push(&mut self, name: &str, value: &[u8]) {
        self.begin_tag(name.as_bytes());
        for &byte in value {
            match byte {
                b'"' | b'\\' => self.text.extend_from_slice(&[b'\\', byte]),
                0..b' ' => self.text.push(b' '),
                _ => self.text.push(byte),
            }
        }
        self.text.extend_from_slice(b"\"]\n");
    }

    /// Adds the tags at the beginning of a text, except those with some names; returns where the moves begin.
    pub(in crate::formats) fn push_leading(&mut self, text: &[u8], is_known: impl Fn(&[u8]) -> bool) -> usize {
        let start = text.len() - text.trim_ascii_start().len();
        let tags = Games::new(text, false, false).tags_at(start);
        for (name, value) in tags.pairs().filter(|(name, _)| !is_known(name)) {
            self.begin_tag(name);
            self.text.extend(value.iter().map(|&byte| if byte < b' ' { b' ' } else { byte }));
            self.text.extend_from_slice(b"\"]\n");
        }
        start + tags.len()
    }

    fn begin_tag(&mut self, name: &[u8]) {
        self.text.push(b'[');
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(b" \"");
    }

    /// Ends the row.
    pub(in crate::formats) fn end_row(&mut self) {
        self.ends.push(self.text.len());
    }

    /// The section of a row.
    fn row(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
    }
}

/// The form of a column of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Form {
    /// What follows the tags in PGN, and tags before it.
    Movetext,
    /// Moves only: as in PGN, or by their squares if the first one is.
    Moves,
    /// Either of these.
    Any,
    /// The bytes of Aix.
    Aix,
}

/// The moves of the games of some rows.
#[derive(Debug)]
pub(in crate::formats) struct RowMoves<'a> {
    /// What each row has; moves in lists have blanks between them.
    pub(in crate::formats) texts: Vec<Option<&'a [u8]>>,
    pub(in crate::formats) form: Form,
    /// The rows whose moves are known by their squares. What `texts` has for these means nothing.
    pub(in crate::formats) squares: SquareRows,
    /// The lists with something else than moves, in the order of rows.
    pub(in crate::formats) bad_lists: Vec<BadList>,
    /// What stands beside the moves of each row, in columns of its own; `None` for forms that have no such columns.
    pub(in crate::formats) beside: Option<Vec<PlyValues<'a>>>,
}

/// A list with something else than moves in it.
#[derive(Clone, Debug)]
pub(in crate::formats) struct BadList {
    pub(in crate::formats) row: usize,
    /// The number of the first such element, what it is, and the bytes of the text before it.
    pub(in crate::formats) element: usize,
    pub(in crate::formats) what: &'static str,
    pub(in crate::formats) before: usize,
}

impl RowMoves<'_> {
    fn text(&self, row: usize) -> &[u8] {
        self.squares.text(row).or(self.texts[row]).unwrap_or_default()
    }
    fn text_len(&self, row: usize) -> usize {
        match self.squares.row(row) {
            Some(_) => self.squares.text_len(row),
            None => self.texts[row].map_or(0, <[u8]>::len),
        }
    }
}

/// Decodes the games of the rows of a table from `first` on. A row without a text has no game.
pub(in crate::formats) fn decode_rows(
    chunk: &Chunk,
    first: u64,
    moves: &RowMoves<'_>,
    tags: &TagSections,
    options: &DecodeOptions,
) -> Decoded {
    decode_rows_with((chunk, options), first, moves, tags, are_lanes_faster())
}

/// Decodes the games of rows with or without lanes.
fn decode_rows_with(
    (chunk, options): (&Chunk, &DecodeOptions),
    first: u64,
    moves: &RowMoves<'_>,
    tags: &TagSections,
    lanes: bool,
) -> Decoded {
    let bytes = (0..moves.texts.len()).map(|row| moves.text_len(row)).sum();
    let source = |options: &DecodeOptions, played_now| {
        let variations = options.games.as_ref().is_some_and(|games| games.variations);
        let games = Games::new(&[], variations, options.strict_pgn).limited(options.max_record, false);
        RowGames { games, played_now, chunk, first, moves, tags, row: 0, read: 0, bytes }
    };
    let mut decoded = decode_source(options, lanes, false, |played_now| source(options, played_now));
    if moves.form == Form::Aix {
        for reject in &mut decoded.rejects {
            if let Some(row) = reject.place.row.and_then(|row| row.checked_sub(first)) {
                // Bytes are not text.
                reject.raw = hexadecimal(moves.text(row as usize));
            }
        }
    }
    if options.game_texts {
        let movetexts = (moves.form != Form::Movetext).then(|| {
            let fields = Fields::of(&[Field::Ply, Field::Move, Field::Score, Field::Mate, Field::Clock]);
            let options = DecodeOptions { max_record: options.max_record, ..DecodeOptions::default().fields(fields) };
            let played = decode_source(&options, lanes, false, |played_now| source(&options, played_now));
            Movetexts::of(&played, moves.texts.len())
        });
        let mut text = Vec::new();
        for game in &mut decoded.game_rows {
            let row = game.game as usize;
            let written = movetexts.as_ref().and_then(|movetexts| movetexts.row(row));
            let text_of_row = moves.text(row);
            // What is damaged is copied as it is, if it is text, and so is what has more than moves.
            let is_copied = moves.form != Form::Aix && (game.error.is_some() || has_remarks(text_of_row));
            let moves = match written {
                Some(written) if !is_copied => written,
                _ if moves.form == Form::Aix => b"",
                _ => text_of_row,
            };
            game.start = text.len();
            game.movetext = write_game(tags.row(row), moves, &mut text);
            game.end = text.len();
            game.moves_end = game.end;
        }
        decoded.game_texts = Some(text.into());
    }
    decoded
}

/// Writes the moves of the game whose records are these, one after the other. There is no result.
fn write_movetext_of(batch: &Batch, records: Range<usize>, out: &mut Vec<u8>) {
    let Ok(start) = batch.position(records.start) else { return };
    let bits = |record| batch.values(Field::Move).and_then(|moves| moves.number(record)).unwrap_or(0) as u16;
    let moves: Vec<u16> = (records.start..records.end - 1).map(bits).collect();
    let values: Vec<RecordValues> = records.map(|record| RecordValues::of(batch, record)).collect();
    write_movetext(start, &moves, &values, out);
}

/// Whether a text has comments, variations, or signs of annotation, which would be lost if its moves were written anew.
fn has_remarks(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'{' | b';' | b'(' | b'$' | b'!' | b'?'))
}

/// The moves of the games of rows in standard algebraic notation, with their numbers, evaluations and clocks.
struct Movetexts {
    text: Vec<u8>,
    /// Where the text of each row lies, if it has a game.
    rows: Vec<Option<Range<usize>>>,
}

impl Movetexts {
    /// Those of decoded games, which are all records of `rows` rows.
    fn of(played: &Decoded, rows: usize) -> Self {
        let mut movetexts = Self { text: Vec::new(), rows: vec![None; rows] };
        let Some(batch) = played.batches.first() else { return movetexts };
        let mut at = 0;
        while at < batch.len() {
            let row = batch.origin(at);
            let len = (at..batch.len()).take_while(|&record| batch.origin(record) == row).count();
            let start = movetexts.text.len();
            write_movetext_of(batch, at..at + len, &mut movetexts.text);
            if let Some(of_row) = movetexts.rows.get_mut(row) {
                *of_row = Some(start..movetexts.text.len());
            }
            at += len;
        }
        movetexts
    }

    fn row(&self, row: usize) -> Option<&[u8]> {
        self.text.get(self.rows.get(row)?.clone()?)
    }
}

/// Writes a game as PGN: its tags, its moves as they are, and its result; returns where the moves begin.
fn write_game(section: &[u8], moves: &[u8], out: &mut Vec<u8>) -> usize {
    let tags = Games::new(&[], false, false).tags_of(section);
    let moves = moves.trim_ascii();
    let last_word = moves.iter().rev().take_while(|byte| !byte.is_ascii_whitespace()).count();
    let (before, last_word) = moves.split_at(moves.len() - last_word);
    let last = Some(last_word).filter(|_| lex::ends_with_result(moves));
    // Where they differ the tag counts, but a reader of PGN believes the end of the text.
    let tag = tags.value(const { Name::new("Result") }).filter(|value| lex::ends_with_result(value));
    let result = tag.or(last).unwrap_or(b"*");
    out.extend_from_slice(section);
    if section.is_empty() {
        // Without any tag, a game without moves would be no game.
        out.extend_from_slice(b"[Result \"");
        out.extend_from_slice(result);
        out.extend_from_slice(b"\"]\n");
    }
    if tags.fen().is_some() && tags.get("SetUp").is_none() {
        out.extend_from_slice(b"[SetUp \"1\"]\n");
    }
    out.push(b'\n');
    let start = out.len();
    let moves = if last.is_some() { before.trim_ascii_end() } else { moves };
    out.extend_from_slice(moves);
    if !moves.is_empty() {
        out.push(b' ');
    }
    out.extend_from_slice(result);
    out.extend_from_slice(b"\n\n");
    start
}

/// Says of an error in the start position of a game where it comes from.
#[inline]
fn with_bad_start(game: &mut Game<'_>) {
    if let Some(bad) = &mut game.bad
        && matches!(bad.error, GameError::Fen(_) | GameError::Start(_) | GameError::FenMoves)
    {
        bad.error = GameError::BadStart(Box::new(bad.error.clone()));
    }
}

/// The games of rows.
struct RowGames<'a> {
    games: Games<'a>,
    /// The rows whose games are not played later.
    played_now: Vec<usize>,
    chunk: &'a Chunk,
    /// The number of the first row.
    first: u64,
    moves: &'a RowMoves<'a>,
    tags: &'a TagSections,
    /// Number of rows that have been read.
    row: usize,
    /// Bytes of their texts, and of all.
    read: usize,
    bytes: usize,
}

impl<'a> RowGames<'a> {
    /// The first text that has something.
    fn sample(&self) -> Option<&'a [u8]> {
        self.moves.texts.iter().flatten().copied().find(|text| !text.is_empty())
    }
    /// Whether the moves are mostly named by their squares, as far as the first game tells.
    fn are_uci_moves(&self) -> bool {
        match self.moves.form {
            Form::Moves | Form::Any => self.moves.squares.len() > 0 || self.sample().is_some_and(are_uci_moves),
            Form::Movetext | Form::Aix => false,
        }
    }
}

impl<'a> GameSource<'a> for RowGames<'a> {
    #[inline]
    fn next(&mut self, records: &mut Records) -> Option<Game<'a>> {
        let row = self.row;
        let moves = self.moves;
        let text = *moves.texts.get(row)?;
        self.row += 1;
        let tags = self.games.tags_of(self.tags.row(row));
        let Some(text) = text else {
            records.begin_game();
            return Some(Game::without_moves(&tags));
        };
        self.read += moves.text_len(row);
        let later = self.played_now.binary_search(&row).is_err();
        if let Some(words) = moves.squares.row(row) {
            let text_len = moves.squares.text_len(row);
            let played = if later { self.games.squares_game(&tags, words, text_len, records) } else { None };
            let mut game = played.unwrap_or_else(|| self.games.uci_game(&tags, moves.text(row), false, records));
            with_bad_start(&mut game);
            return Some(game);
        }
        let bad_list = || moves.bad_lists.binary_search_by_key(&row, |bad| bad.row).ok().map(|at| &moves.bad_lists[at]);
        let bad_list = if moves.bad_lists.is_empty() { None } else { bad_list() };
        let (later, text) = match bad_list {
            Some(bad) => (false, &text[..bad.before]),
            None => (later, text),
        };
        let mut game = match (moves.form, &moves.beside) {
            (Form::Aix, beside) => {
                let values = beside.as_ref().and_then(|beside| beside.get(row)).copied().unwrap_or_default();
                self.games.write_aix(&tags, text, &values, later, records)
            }
            (Form::Moves | Form::Any, _) if are_uci_moves(text) => self.games.uci_game(&tags, text, later, records),
            _ => self.games.only_game(&tags, text, later, records),
        };
        if let Some(bad) = bad_list
            && game.bad.is_none()
        {
            let error = GameError::BadMoveList(bad.element, bad.what);
            let position = game.last.clone();
            game.bad = Some(Box::new(BadGame { error, offset: bad.before, ply: game.plies, position }));
            game.end = self.text().len();
        }
        with_bad_start(&mut game);
        Some(game)
    }
    #[inline(always)]
    fn text(&self) -> &'a [u8] {
        self.moves.text(self.row - 1)
    }
    #[inline(always)]
    fn text_len(&self) -> usize {
        self.moves.text_len(self.row - 1)
    }
    #[inline(always)]
    fn extent(&self, _: &Game<'_>) -> Range<usize> {
        self.row - 1..self.row
    }
    fn place(&mut self, _: usize, record: u64) -> Place {
        let row = self.row - 1;
        Place {
            offset: row as u64,
            record,
            row: Some(self.first + row as u64),
            ..Place::start_of(Arc::clone(&self.chunk.file))
        }
    }
    #[inline(always)]
    fn progress(&self) -> (usize, usize) {
        (self.read, self.bytes)
    }
    fn end(&self) -> usize {
        self.moves.texts.len()
    }
    fn keeps_tags(&self) -> bool {
        true
    }
    fn likely_positions(&self) -> usize {
        let texts = &self.moves.texts;
        // In files of PGN, about a fifth of the bytes are tags.
        let of_text = |sample: &[u8]| estimated_rows(sample, self.bytes + self.bytes / 4);
        let positions = match self.moves.form {
            Form::Aix => self.bytes / 2,
            // A word of a move has four letters, and a blank before the next one.
            _ if self.are_uci_moves() => (self.bytes + texts.len()) / 5,
            _ => self.sample().map_or(0, of_text),
        };
        positions + texts.len()
    }
    fn are_hardly_more(&self) -> bool {
        self.moves.form == Form::Aix || self.are_uci_moves()
    }
    fn lines(&mut self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::chess::{MoveKind, Position};
    use crate::formats::Format;
    use crate::formats::pgn::tag_syntax;
    use crate::formats::test_mutations::each_change;

    fn row_moves<'a>(texts: &[Option<&'a [u8]>], form: Form) -> RowMoves<'a> {
        RowMoves { texts: texts.to_vec(), form, squares: SquareRows::default(), bad_lists: Vec::new(), beside: None }
    }

    #[test]
    fn leading_tags_do_not_replace_columns() {
        let mut tags = TagSections::default();
        tags.push("White", b"a \"b\" \\ c\nd");
        let text = b"\n[White \"x\"]\n[Site \"y \\\"z\\\"\"]\n\n1. e4";
        let moves = tags.push_leading(text, |name| name == b"White");
        tags.end_row();
        assert_eq!(text[moves..].trim_ascii_start(), b"1. e4");
        let section = tags.row(0).to_vec();
        let mut games = Games::new(&section, false, false);
        let tags = games.tags_of(&section);
        let text = |name| tag_syntax::text(tags.get(name).unwrap_or_default());
        assert_eq!((text("White"), text("Site")), ("a \"b\" \\ c d".to_owned(), "y \"z\"".to_owned()));
    }

    /// Whatever is changed in a text, its neighbours stay as they are, lanes find what is found without them, and the
    /// positions are those that PGN has as long as it finds one game.
    #[test]
    fn changed_texts_are_read_as_pgn_and_leave_others_alone() {
        let good: &[u8] = b"1. e4 e5 2. Nf3 { [%clk 0:01:00] [%eval 0.3] } 1-0";
        let mut tags = TagSections::default();
        for _ in 0..3 {
            tags.push("Event", b"a");
            tags.end_row();
        }
        let options = DecodeOptions { fields: Fields::ALL, lost_tags: true, ..DecodeOptions::default() };
        let records = |decoded: &Decoded, origin: usize| -> Vec<String> {
            let Some(batch) = decoded.batches.first() else { return Vec::new() };
            let rows = (0..batch.len()).filter(|&at| batch.origin(at) == origin);
            rows.map(|at| {
                let fields = [Field::Ply, Field::Move, Field::Score, Field::Mate, Field::Clock];
                let values = fields.map(|field| batch.values(field)?.number(at));
                format!("{values:?} {}", batch.position(at).expect("a position"))
            })
            .collect()
        };
        let chunk = |text: Vec<u8>| Chunk::new(Arc::from(std::path::Path::new("x")), text.into());
        let mut random = Random::new(6);
        let (mut as_pgn, mut with_errors) = (0, 0);
        for text in [
            "1. e4 {[%clk 0:01:09] [%eval 0.35]} e5 2. Nf3 $1 (2. Bc4 {no}) 2... Nc6 3. Bb5 a6 4. O-O Nf6 1/2-1/2",
            "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O Bg4",
            "1. d4 d5 0-1\n\n1. e4",
        ] {
            each_change(text, b" abefhx18NBRQKO-=+#{}()[].;\n\"*$0%", &mut random, |changed, _, _| {
                let texts = [Some(good), Some(&changed[..]), Some(good)];
                let [found, expected] = [true, false].map(|lanes| {
                    let moves = row_moves(&texts, Form::Movetext);
                    decode_rows_with((&chunk(Vec::new()), &options), 0, &moves, &tags, lanes)
                });
                assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                assert_eq!(found.games, 3);
                assert_eq!((records(&found, 0).len(), records(&found, 0)), (4, records(&found, 2)));
                with_errors += found.rejects.len();
                let pgn = [b"[Event \"a\"]\n\n", &changed[..]].concat();
                let pgn = Format::PGN.decode(&chunk(pgn), &options);
                if pgn.games == 1 && pgn.rejects.len() == found.rejects.len() {
                    as_pgn += 1;
                    assert_eq!(records(&found, 1), records(&pgn, 0), "{}", String::from_utf8_lossy(&changed));
                }
            });
        }
        assert!(as_pgn > 6_000 && with_errors > 3_000, "{as_pgn} {with_errors}");
    }

    /// Random games by their squares, of which many have a word that is not right: the lanes decode what one board does,
    /// which is what the same moves in SAN give.
    #[test]
    fn lanes_play_uci_moves_as_one_board() {
        let mut random = Random::new(67);
        let mut below = |end: usize| random.below(end as u32) as usize;
        let (mut uci, mut san) = (Vec::new(), Vec::new());
        let mut wrong = 0;
        for _ in 0..400 {
            let mut position = Position::standard();
            let mut words: Vec<String> = Vec::new();
            let mut sans = String::new();
            for _ in 0..below(160) {
                let moves = position.legal_moves();
                let castling = moves.iter().find(|mv| mv.kind == MoveKind::Castle);
                let rare = moves.iter().find(|mv| matches!(mv.kind, MoveKind::Promotion(_) | MoveKind::EnPassant));
                let Some(&mv) = castling.or(rare).or_else(|| moves.get(below(moves.len().max(1)))) else { break };
                words.push(mv.uci_as(below(2) == 0).to_string());
                sans += &format!("{} ", mv.san(&position));
                position.make(mv);
            }
            let mut text = words.join(" ");
            if below(3) == 0 && !words.is_empty() {
                let at = below(words.len());
                const WORDS: [&str; 12] =
                    ["0000", "e2e4", "e1g1", "e8a8", "a7a8", "a7a8q", "e1e2", "x", "1-0", "e7e5n", "a1h8", "Nf3"];
                words[at] = WORDS[below(WORDS.len())].to_owned();
                text = words.join([" ", "  ", "\n"][below(3)]);
                wrong += 1;
            } else {
                let result = ["", " 1-0", " 0-1", " *"][below(4)];
                text += result;
                san.push((uci.len(), sans + result));
            }
            uci.push(text);
        }
        let mut tags = TagSections::default();
        uci.iter().for_each(|_| tags.end_row());
        let texts: Vec<Option<&[u8]>> = uci.iter().map(|text| Some(text.as_bytes())).collect();
        let chunk = Chunk::new(Arc::from(std::path::Path::new("x")), Vec::new().into());
        let options =
            DecodeOptions::default().fields(Fields::of(&[Field::Game, Field::Ply, Field::Move, Field::Result]));
        let decode = |texts: &[Option<&[u8]>], lanes| {
            decode_rows_with((&chunk, &options), 5, &row_moves(texts, Form::Moves), &tags, lanes)
        };
        let [slow, fast] = [false, true].map(|lanes| decode(&texts, lanes));
        assert!(slow.rejects.len() > wrong / 3 && slow.records > 10_000);
        assert_eq!(format!("{:?}", slow.rejects), format!("{:?}", fast.rejects));
        let records = |decoded: &Decoded, row: Option<usize>| -> Vec<String> {
            let batch = &decoded.batches[0];
            let rows = (0..batch.len()).filter(|&at| row.is_none_or(|row| batch.origin(at) == row));
            rows.map(|at| {
                let fields = [Field::Ply, Field::Move, Field::Result].map(|field| batch.values(field)?.number(at));
                format!("{} {fields:?} {}", batch.origin(at), batch.position(at).expect("a position"))
            })
            .collect()
        };
        assert_eq!(records(&slow, None), records(&fast, None));
        // The games that were not changed, in SAN.
        let mut in_san = vec![None; uci.len()];
        san.iter().for_each(|(row, text)| in_san[*row] = Some(text.as_bytes()));
        let in_san = decode(&in_san, true);
        for (row, _) in &san {
            assert_eq!(records(&fast, Some(*row)), records(&in_san, Some(*row)), "{}", uci[*row]);
        }
    }

    /// What a plain reader makes of the bytes of Aix: the positions up to the first error, and whether there is one.
    fn plain_aix(bytes: &[u8]) -> (usize, bool) {
        let Some((&last, moves)) = bytes.split_last() else { return (0, true) };
        if last >> 6 != 0 {
            return (0, true);
        }
        let mut position = Position::standard();
        let mut positions = 1;
        for pair in moves.chunks(2) {
            let [first, second] = *pair else { return (positions, true) };
            let piece = (first >> 6 & 1 != 0).then_some(["q", "r", "b", "n"][usize::from(second >> 6)]);
            let name = |square: u8| format!("{}{}", char::from(b'a' + square % 8), square / 8 + 1);
            let uci = format!("{}{}{}", name(first & 63), name(second & 63), piece.unwrap_or_default());
            let is_it =
                |mv: &&crate::chess::Move| [true, false].map(|chess960| mv.uci_as(chess960).to_string()).contains(&uci);
            let Some(&mv) = position.legal_moves().iter().find(is_it).filter(|_| piece.is_some() || second >> 6 == 0)
            else {
                return (positions, true);
            };
            let pieces = |position: &Position| {
                position
                    .to_string()
                    .split(' ')
                    .next()
                    .map(|board| board.bytes().filter(u8::is_ascii_alphabetic).count())
            };
            let before = pieces(&position);
            let after = {
                let mut next = position.clone();
                next.make(mv);
                next
            };
            if (pieces(&after) < before) != (first >> 7 != 0) {
                return (positions, true);
            }
            position = after;
            positions += 1;
        }
        (positions, last != 0)
    }

    /// Games of Aix with any byte changed are read as the plain reader reads them, with lanes and without, and leave the
    /// rows beside them alone.
    #[test]
    fn bytes_of_aix_are_read_as_by_a_plain_reader() {
        let mut random = Random::new(68);
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for _ in 0..120 {
            let mut position = Position::standard();
            let mut bytes = Vec::new();
            for _ in 0..random.below(90) {
                let moves = position.legal_moves();
                let rare = moves.iter().find(|mv| mv.kind != MoveKind::Normal);
                let any = moves.get(random.below(moves.len().max(1) as u32) as usize);
                let Some(&mv) = rare.or(any) else { break };
                let captures =
                    mv.kind == MoveKind::EnPassant || mv.kind != MoveKind::Castle && position.piece_at(mv.to).is_some();
                let piece = mv.uci_as(true).to_string().as_bytes().get(4).copied();
                let piece = piece.map(|letter| b"qrbn".iter().position(|known| *known == letter).unwrap() as u8);
                let [from, to] = [mv.from, mv.to].map(|square| square.index() as u8);
                bytes.push(from | u8::from(piece.is_some()) << 6 | u8::from(captures) << 7);
                bytes.push(to | piece.unwrap_or(0) << 6);
                position.make(mv);
            }
            bytes.push(0);
            texts.push(bytes.clone());
            for _ in 0..20 {
                let mut changed = bytes.clone();
                let at = random.below(changed.len() as u32) as usize;
                match random.below(3) {
                    0 => changed.truncate(at),
                    1 => changed[at] = random.below(256) as u8,
                    _ => changed[at] ^= 1 << random.below(8),
                }
                texts.push(changed);
            }
        }
        let mut tags = TagSections::default();
        texts.iter().for_each(|_| tags.end_row());
        let rows: Vec<Option<&[u8]>> = texts.iter().map(|text| Some(&**text)).collect();
        let moves = row_moves(&rows, Form::Aix);
        let chunk = Chunk::new(Arc::from(std::path::Path::new("x")), Vec::new().into());
        let options = DecodeOptions::default().fields(Fields::of(&[Field::Game, Field::Ply, Field::Move]));
        let [slow, fast] = [false, true].map(|lanes| decode_rows_with((&chunk, &options), 0, &moves, &tags, lanes));
        let records = |decoded: &Decoded| -> Vec<(usize, String)> {
            let batch = &decoded.batches[0];
            (0..batch.len()).map(|at| (batch.origin(at), batch.position(at).expect("a position").to_string())).collect()
        };
        assert_eq!(records(&slow), records(&fast));
        assert_eq!(format!("{:?}", slow.rejects), format!("{:?}", fast.rejects));
        let found = records(&fast);
        for (row, text) in texts.iter().enumerate() {
            let positions = found.iter().filter(|(origin, _)| *origin == row).count();
            let is_bad = fast.rejects.iter().any(|reject| reject.place.row == Some(row as u64));
            assert_eq!((positions, is_bad), plain_aix(text), "{text:02x?}");
        }
    }
}
