//! Games as the texts that a user would write, and the wrappings around files.

use super::records::{Entry, Format, Outcome, Record, Tags, histories};
use lanefish::chess::{Move, Position};
use std::fmt::Write as _;
use std::io::Write as _;
use std::rc::Rc;

/// A game of the generator. There is one position more than there are moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Game {
    pub(crate) start: Position,
    pub(crate) moves: Vec<Move>,
    /// The evaluation of each position but the first.
    pub(crate) scores: Vec<Score>,
    pub(crate) result: Option<Outcome>,
    pub(crate) tags: Rc<Tags>,
    /// How the moves are written.
    pub(crate) notation: Notation,
    /// The ply at which a word that is no move stands in place of the move.
    pub(crate) bad_at: Option<usize>,
}

/// An evaluation in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Score {
    None,
    Centipawns(i32),
    Mate(i32),
}

/// How the moves of a game are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    San,
    Uci,
    Long,
    Zeros,
}

impl Game {
    /// The positions, from the first on.
    pub(crate) fn positions(&self) -> Vec<Position> {
        let mut position = self.start.clone();
        let mut all = vec![position.clone()];
        for &played in &self.moves {
            position.make(played);
            all.push(position.clone());
        }
        all
    }
    /// The records of the whole game, as PGN has them.
    pub(crate) fn records(&self, number: u64) -> Vec<Record> {
        let mut records = Vec::new();
        for (ply, position) in self.positions().into_iter().enumerate() {
            let mut record = Record::of(position);
            record.game = Some(number);
            record.ply = Some(ply as u32);
            record.played = self.moves.get(ply).copied();
            match ply.checked_sub(1).map_or(Score::None, |before| self.scores[before]) {
                Score::None => {}
                Score::Centipawns(score) => record.score = Some(score),
                Score::Mate(mate) => record.mate = Some(mate),
            }
            record.result = self.result;
            record.tags = Rc::clone(&self.tags);
            record.game_plies = Some(self.moves.len() as u32);
            records.push(record);
        }
        records
    }
}

/// The entries of PGN: of a bad game, the positions up to the error, and the error.
pub(crate) fn pgn_entries(games: &[Game]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (number, game) in games.iter().enumerate() {
        let mut records = game.records(number as u64);
        histories(Format::Pgn, &mut records);
        if let Some(bad_at) = game.bad_at {
            records.truncate(bad_at + 1);
            // Of a bad game, the plies that were played.
            let plies = (records.len() - 1) as u32;
            records.iter_mut().for_each(|record| record.game_plies = Some(plies));
        }
        let first = records[0].clone();
        if game.bad_at.is_some()
            && let Some(last) = records.last_mut()
        {
            last.played = None;
        }
        entries.extend(records.into_iter().map(Entry::Good));
        if game.bad_at.is_some() {
            entries.push(Entry::Bad(Some(first)));
        }
    }
    entries
}

/// PGN of games.
pub(crate) fn pgn(games: &[Game]) -> String {
    let mut text = String::new();
    for game in games {
        let tags = &game.tags;
        let result = game.result.map_or("*", Outcome::text);
        let mut tag = |name: &str, value: &str| {
            if !value.is_empty() {
                writeln!(text, "[{name} \"{value}\"]").expect("text");
            }
        };
        tag("Event", "Model");
        tag("Date", &tags.date);
        tag("White", &tags.white);
        tag("Black", &tags.black);
        tag("Result", result);
        tag("WhiteElo", &tags.white_elo.map_or(String::new(), |elo| elo.to_string()));
        tag("BlackElo", &tags.black_elo.map_or(String::new(), |elo| elo.to_string()));
        tag("ECO", &tags.eco);
        tag("TimeControl", &tags.time_control);
        tag("Termination", &tags.termination);
        if game.start != Position::standard() {
            tag("FEN", &game.start.to_string());
            tag("SetUp", "1");
        }
        text.push('\n');
        let mut position = game.start.clone();
        for (ply, &played) in game.moves.iter().enumerate() {
            if game.bad_at == Some(ply) {
                text.push_str("Qz9 ");
            }
            let number = position.fullmove;
            if position.side_to_move == lanefish::chess::Color::White {
                write!(text, "{number}. ").expect("text");
            } else if ply == 0 {
                write!(text, "{number}... ").expect("text");
            }
            let uci = played.uci(&position).to_string();
            match game.notation {
                Notation::San => text.push_str(&played.san(&position)),
                Notation::Zeros => text.push_str(&played.san(&position).replace("O-O", "0-0").replace("-O", "-0")),
                Notation::Uci => text.push_str(&uci),
                Notation::Long if played.kind == lanefish::chess::MoveKind::Normal && uci.len() == 4 => {
                    let letter = match position.role_at(played.from) {
                        Some(lanefish::chess::Role::Pawn) | None => String::new(),
                        Some(role) => role.letter().to_ascii_uppercase().to_string(),
                    };
                    write!(text, "{letter}{}-{}", &uci[..2], &uci[2..]).expect("text");
                }
                Notation::Long => text.push_str(&played.san(&position)),
            }
            match game.scores[ply] {
                Score::None => {}
                Score::Centipawns(score) => {
                    let sign = if score < 0 { "-" } else { "" };
                    write!(text, " {{ [%eval {sign}{}.{:02}] }}", score.abs() / 100, score.abs() % 100).expect("text");
                }
                Score::Mate(mate) => write!(text, " {{ [%eval #{mate}] }}").expect("text"),
            }
            text.push(' ');
            position.make(played);
        }
        if game.bad_at.is_some_and(|bad_at| bad_at >= game.moves.len()) {
            text.push_str("Qz9 ");
        }
        text.push_str(result);
        text.push_str("\n\n");
    }
    text
}

/// A line that no format of lines reads.
const BAD_LINE: &str = "9/8/8/8/8/8/8/8 w - - 0 1";

/// The text of entries in a format of lines, as [`super::records::stored`] says that it is read.
pub(crate) fn lines(format: Format, entries: &[Entry]) -> String {
    let mut text = String::new();
    if format == Format::Csv {
        text.push_str("fen,game,ply,move,score,result,white_elo\n");
    }
    for entry in entries {
        let Entry::Good(record) = entry else {
            match format {
                Format::Plain => writeln!(text, "fen {BAD_LINE}\nmove e2e4\nscore 0\nply 0\nresult 0\ne"),
                Format::Csv => writeln!(text, "{BAD_LINE},,,,,,"),
                Format::Text => writeln!(text, "{BAD_LINE} | 0 | 0.5"),
                _ => writeln!(text, "{BAD_LINE}"),
            }
            .expect("text");
            continue;
        };
        let fen = record.position.to_string();
        let number = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
        match format {
            Format::Text => {
                let result = match record.result {
                    Some(Outcome::White) => "1.0",
                    Some(Outcome::Black) => "0.0",
                    _ => "0.5",
                };
                writeln!(text, "{fen} | {} | {result}", record.score.unwrap_or(0))
            }
            Format::Plain => {
                let turn = if record.white_moves() { 1 } else { -1 };
                let result = match record.result {
                    Some(Outcome::White) => turn,
                    Some(Outcome::Black) => -turn,
                    _ => 0,
                };
                let played = if record.played.is_some() { record.uci() } else { "a1a1".to_owned() };
                let ply = record.ply.unwrap_or(0);
                let score = record.score.unwrap_or(0) * turn;
                let score = if score == -super::records::NO_SCORE { -score } else { score };
                writeln!(text, "fen {fen}\nmove {played}\nscore {score}\nply {ply}\nresult {result}\ne")
            }
            Format::Csv => writeln!(
                text,
                "{fen},{},{},{},{},{},{}",
                number(record.game.map(|game| game as i64)),
                number(record.ply.map(i64::from)),
                record.uci(),
                number(record.score.map(i64::from)),
                record.result.map_or("", Outcome::text),
                number(record.tags.white_elo.map(i64::from)),
            ),
            _ => writeln!(text, "{fen}"),
        }
        .expect("text");
    }
    text
}

/// What is around a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    None,
    Gzip,
    Bzip2,
    Zstd,
    /// zstd in frames of about this many bytes.
    Frames(usize),
    Zip,
    /// The file is standard input.
    Pipe,
}

/// A file in its wrapping, and what is added to its name.
pub(crate) fn wrapped(name: &str, bytes: &[u8], wrapping: Wrapping) -> (Vec<u8>, &'static str) {
    match wrapping {
        Wrapping::None | Wrapping::Pipe => (bytes.to_vec(), ""),
        Wrapping::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).expect("compressed");
            (encoder.finish().expect("compressed"), ".gz")
        }
        Wrapping::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(bytes).expect("compressed");
            (encoder.finish().expect("compressed"), ".bz2")
        }
        Wrapping::Zstd => (zstd::encode_all(bytes, 1).expect("compressed"), ".zst"),
        Wrapping::Frames(size) => {
            let frames = bytes.chunks(size).map(|part| zstd::encode_all(part, 1).expect("compressed"));
            let framed: Vec<u8> = frames.flatten().collect();
            (if framed.is_empty() { zstd::encode_all(bytes, 1).expect("compressed") } else { framed }, ".zst")
        }
        Wrapping::Zip => (zip(name, bytes), ".zip"),
    }
}

/// A zip archive with one stored file.
fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let (sum, length) = (crc.sum().to_le_bytes(), (bytes.len() as u32).to_le_bytes());
    let name_length = (name.len() as u16).to_le_bytes();
    let common = [&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x50][..], &sum, &length, &length, &name_length, &[0, 0]].concat();
    let mut archive = [b"PK\x03\x04", &common[..], name.as_bytes(), bytes].concat();
    let directory = (archive.len() as u32).to_le_bytes();
    let entry = [b"PK\x01\x02\x14\x00", &common[..], &[0; 14], name.as_bytes()].concat();
    archive.extend(&entry);
    let size = (entry.len() as u32).to_le_bytes();
    archive.extend([b"PK\x05\x06\0\0\0\0\x01\0\x01\0", &size[..], &directory, &[0, 0]].concat());
    archive
}
