//! A row of each game, as CSV or JSON lines.

use crate::answers::Questions;
use crate::games::GameRow;
use crate::one_line;
use crate::pipeline::Job;
use crate::table::Tile;
use serde_json::{Map, Value, json};

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

/// The formats that rows can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameFormat {
    /// A header line and comma-separated values.
    Csv,
    /// One JSON object per line, with all tags of the game.
    JsonLines,
}

impl GameFormat {
    /// What comes before the first row.
    pub fn header(self) -> Vec<u8> {
        match self {
            Self::Csv => header(),
            Self::JsonLines => Vec::new(),
        }
    }
}

/// Makes rows; each keeps its own text, so that games can be counted. To be run with
/// [`crate::formats::DecodeOptions::game_rows`].
#[derive(Clone, Copy, Debug)]
pub struct GameRows {
    /// Their format.
    pub format: GameFormat,
}

impl Job for GameRows {
    type Part = Vec<Vec<u8>>;
    fn asks(&self) -> Questions {
        Questions::NONE
    }
    fn begin(&self) -> Self::Part {
        Vec::new()
    }
    fn tile(&self, _: &mut Self::Part, _: &Tile<'_>) {}
    fn games(&self, rows: &mut Self::Part, games: &[GameRow]) {
        rows.extend(games.iter().map(|game| match self.format {
            GameFormat::Csv => csv_row(game),
            GameFormat::JsonLines => json_row(game),
        }));
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
    csv_line(&names)
}

fn csv_line<T: AsRef<[u8]>>(fields: &[T]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(fields.iter().map(|field| {
        let mut line = Vec::new();
        one_line::push(field.as_ref(), &mut line);
        line
    }));
    writer.into_inner().unwrap_or_default()
}

fn csv_row(game: &GameRow) -> Vec<u8> {
    let mut fields = vec![game.game.to_string()];
    fields.extend(TAGS.map(|(name, _)| tag(game, name).to_owned()));
    fields.push(game.result.map_or("", |result| result.token()).to_owned());
    fields.push(game.plies.to_string());
    fields.push(outcome(game).to_owned());
    fields.push(
        game.last
            .as_ref()
            .map_or_else(String::new, |last| last.to_string()),
    );
    fields.push(game.error.clone().unwrap_or_default());
    csv_line(&fields)
}

fn json_row(game: &GameRow) -> Vec<u8> {
    let tags: Map<String, Value> = game
        .tags
        .iter()
        .map(|(name, value)| (name.clone(), Value::String(value.clone())))
        .collect();
    let outcome = match outcome(game) {
        "" => None,
        outcome => Some(outcome),
    };
    let row = json!({
        "game": game.game,
        "tags": tags,
        "result": game.result.map(|result| result.token()),
        "plies": game.plies,
        "outcome": outcome,
        "fen": game.last.as_ref().map(|last| last.to_string()),
        "error": game.error,
    });
    let mut line = one_line::of_json(&row.to_string())
        .into_owned()
        .into_bytes();
    line.push(b'\n');
    line
}
