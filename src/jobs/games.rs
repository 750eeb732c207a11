//! Output of games: one row per game as CSV or JSON lines, or copies of the games.

#[cfg(feature = "parquet")]
use crate::columnar::Described;
use crate::formats::Chunk;
use crate::games::GameRow;
use crate::input::Bytes;
use crate::output::cells::{write_csv_text, write_json_string};
use crate::pipeline::Job;
use crate::queries::Queries;
#[cfg(feature = "parquet")]
use crate::table::{Array, Kind, Texts, Values};
use crate::table::{Fields, Tile};
use memchr::memchr;
use std::collections::{HashMap, HashSet};
#[cfg(feature = "parquet")]
use std::sync::Arc;

/// Columns that are tags, and their names as columns.
const TAGS: [(&str, &str); 14] = [
    ("Event", "event"),
    ("Site", "site"),
    ("Date", "date"),
    ("UTCTime", "time"),
    ("Round", "round"),
    ("White", "white"),
    ("Black", "black"),
    ("WhiteElo", "white_elo"),
    ("BlackElo", "black_elo"),
    ("ECO", "eco"),
    ("Opening", "opening"),
    ("TimeControl", "time_control"),
    ("Termination", "termination"),
    ("Variant", "variant"),
];

/// Writes one row per game as text.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameRows {
    /// The text before the first row.
    pub(super) header: fn() -> Vec<u8>,
    /// Appends the row of a game.
    row: fn(&GameRow, &mut Vec<u8>),
}

impl GameRows {
    /// A header line and comma-separated values.
    pub(super) const CSV: Self = Self { header, row: csv_row };
    /// One JSON object per line, with all tags of the game.
    pub(super) const JSON_LINES: Self = Self { header: Vec::new, row: json_row };
}

impl Job for GameRows {
    type Part = Vec<u8>;
    fn queries(&self) -> Queries {
        Queries::NONE
    }
    fn fields(&self) -> Fields {
        Fields::NONE
    }
    fn reads_games(&self) -> bool {
        true
    }
    fn begin(&self) -> Vec<u8> {
        Vec::new()
    }
    fn tile(&self, _: &mut Vec<u8>, _: &Tile<'_>) {}
    fn games(&self, text: &mut Vec<u8>, games: &[GameRow]) {
        games.iter().for_each(|game| (self.row)(game, text));
    }
}

/// Copies games unchanged.
///
/// No byte of a game is changed, whatever its encoding. Text between two games, such as a comment after the result,
/// belongs to the first of them. An empty line ends each game, with the same line ends as the game.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameTexts;

/// Games of a chunk.
#[derive(Debug, Default)]
pub(super) struct CopiedGames {
    chunk: Option<Bytes>,
    pub(super) text: Vec<u8>,
}

impl Job for GameTexts {
    type Part = CopiedGames;
    fn queries(&self) -> Queries {
        Queries::NONE
    }
    fn fields(&self) -> Fields {
        Fields::NONE
    }
    fn reads_games(&self) -> bool {
        true
    }
    fn copies_games(&self) -> bool {
        true
    }
    fn begin(&self) -> CopiedGames {
        CopiedGames::default()
    }
    fn source(&self, part: &mut CopiedGames, chunk: &Chunk, _: Option<u64>) {
        part.chunk = Some(chunk.bytes.clone());
    }
    fn tile(&self, _: &mut CopiedGames, _: &Tile<'_>) {}
    fn games(&self, part: &mut CopiedGames, games: &[GameRow]) {
        let chunk = part.chunk.take();
        let texts = chunk.iter().flat_map(|chunk| games.iter().map(|game| &chunk[game.start..game.end]));
        for text in texts {
            let text = text.trim_ascii();
            let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii_start();
            let feed = memchr(b'\n', text);
            let is_dos = feed.is_some_and(|feed| text[..feed].ends_with(b"\r"));
            part.text.extend_from_slice(text);
            part.text.extend_from_slice(if is_dos { b"\r\n\r\n" } else { b"\n\n" });
        }
    }
}

/// How the final position ends the game, if it does.
fn outcome(game: &GameRow) -> &'static str {
    match &game.last {
        Some(last) if last.is_checkmate() => "checkmate",
        Some(last) if last.is_stalemate() => "stalemate",
        _ => "",
    }
}

fn tag<'a>(game: &'a GameRow, name: &str) -> &'a str {
    let found = game.tags.iter().rev().find(|(other, _)| other == name);
    found.map_or("", |(_, value)| value)
}

fn header() -> Vec<u8> {
    let mut names = vec!["game"];
    names.extend(TAGS.map(|(_, column)| column));
    names.extend(["result", "plies", "outcome", "fen", "error"]);
    let mut line = Vec::new();
    csv_line(&names, &mut line);
    line
}

/// The columns of a table of games.
#[cfg(feature = "parquet")]
pub(super) fn described() -> Vec<Described> {
    let tag = |(name, column): (&str, &str)| {
        let kind = match column {
            "date" => Kind::Date,
            "white_elo" | "black_elo" => Kind::U16,
            _ => Kind::Text,
        };
        Described::new(column, kind, &format!("the tag {name} of the game")).nullable()
    };
    let text = |name, meaning| Described::new(name, Kind::Text, meaning).nullable();
    let game = Described::new("game", Kind::U64, "0-based number of the game over all inputs");
    let mut columns = vec![game];
    columns.extend(TAGS.map(tag));
    columns.extend([
        text("result", "1-0, 0-1 or 1/2-1/2"),
        Described::new("plies", Kind::U32, "plies played, if known").nullable(),
        text("outcome", "checkmate or stalemate, where the last position is one"),
        text("fen", "the last position"),
        text("error", "what is wrong with the game"),
    ]);
    columns
}

/// The values of the [columns](described).
#[cfg(feature = "parquet")]
pub(super) fn cells_of_games(games: &[GameRow]) -> Vec<Array> {
    let texts = |text: &dyn Fn(&GameRow) -> Option<String>| {
        let mut texts = Texts::default();
        for game in games {
            texts.push(text(game).filter(|text| !text.is_empty()).map(Arc::from));
        }
        Array::Text(texts)
    };
    let numbers = games.iter().map(|game| game.game).collect();
    let mut columns = vec![Array::U64(numbers)];
    for (name, column) in TAGS {
        columns.push(match column {
            "white_elo" | "black_elo" => {
                let mut ratings = Values::default();
                for game in games {
                    ratings.push(tag(game, name).parse().ok());
                }
                Array::U16(ratings)
            }
            _ => texts(&|game| Some(tag(game, name).to_owned())),
        });
    }
    columns.push(texts(&|game| game.result.map(|result| result.token().to_owned())));
    let mut plies = Values::default();
    games.iter().for_each(|game| plies.push(game.plies));
    columns.push(Array::U32(plies));
    columns.push(texts(&|game| Some(outcome(game).to_owned())));
    columns.push(texts(&|game| game.last.as_ref().map(ToString::to_string)));
    columns.push(texts(&|game| game.error.clone()));
    columns
}

fn csv_line<T: AsRef<str>>(fields: &[T], line: &mut Vec<u8>) {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        write_csv_text(field.as_ref(), line);
    }
    line.push(b'\n');
}

fn csv_row(game: &GameRow, line: &mut Vec<u8>) {
    let mut fields = vec![game.game.to_string()];
    fields.extend(TAGS.map(|(name, _)| tag(game, name).to_owned()));
    fields.push(game.result.map_or("", |result| result.token()).to_owned());
    fields.push(game.plies.map_or_else(String::new, |plies| plies.to_string()));
    fields.push(outcome(game).to_owned());
    fields.push(game.last.as_ref().map_or_else(String::new, |last| last.to_string()));
    fields.push(game.error.clone().unwrap_or_default());
    csv_line(&fields, line);
}

fn json_row(game: &GameRow, line: &mut Vec<u8>) {
    let text = |key: &str, value: Option<&str>, line: &mut Vec<u8>| {
        line.extend_from_slice(format!(",\"{key}\":").as_bytes());
        match value {
            Some(value) => write_json_string(value, line),
            None => line.extend_from_slice(b"null"),
        }
    };
    line.extend_from_slice(format!("{{\"game\":{},\"tags\":{{", game.game).as_bytes());
    // If a tag occurs twice, the last value is written, at the place of the first.
    let last: HashMap<&str, &str> = game.tags.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut written = HashSet::new();
    for (name, _) in &game.tags {
        if written.insert(&**name) {
            if written.len() > 1 {
                line.push(b',');
            }
            write_json_string(name, line);
            line.push(b':');
            write_json_string(last[&**name], line);
        }
    }
    line.push(b'}');
    text("result", game.result.map(|result| result.token()), line);
    let plies = game.plies.map_or_else(|| "null".to_owned(), |plies| plies.to_string());
    line.extend_from_slice(format!(",\"plies\":{plies}").as_bytes());
    let outcome = Some(outcome(game)).filter(|outcome| !outcome.is_empty());
    text("outcome", outcome, line);
    let fen = game.last.as_ref().map(|last| last.to_string());
    text("fen", fen.as_deref(), line);
    text("error", game.error.as_deref(), line);
    line.extend_from_slice(b"}\n");
}
