//! `games`: one row per game.

use super::args::{OutputArgs, ReadArgs};
use super::output::extension;
use super::session::{Run, Session};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use lanefish::formats::pgn::GameRow;
use lanefish::one_line;
use lanefish::pipeline::{Job, Tile};
use lanefish::tiers::Wanted;
use serde_json::{Map, Value, json};

/// One row per game: tags, plies, result, final position, and whether that is checkmate or stalemate
#[derive(Debug, Args)]
pub(crate) struct GamesArgs {
    /// Format of the rows [default: from the name given with -o, else csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Rows>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// The formats that rows can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// A header line and comma-separated values
    Csv,
    /// One JSON object a line, with all tags of the game
    Jsonl,
}

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

/// Makes rows; each keeps its own text, so that `--skip` and `--limit` count games.
struct Format {
    rows: Rows,
}

impl Job for Format {
    type Output = Vec<Vec<u8>>;
    fn wanted(&self) -> Wanted {
        Wanted::NOTHING
    }
    fn begin(&self) -> Self::Output {
        Vec::new()
    }
    fn tile(&self, _: &mut Self::Output, _: Tile<'_>) {}
    fn games(&self, rows: &mut Self::Output, games: &[GameRow]) {
        rows.extend(games.iter().map(|game| match self.rows {
            Rows::Csv => csv_row(game),
            Rows::Jsonl => json_row(game),
        }));
    }
}

/// How the final position ends the game, if it does.
fn end(game: &GameRow) -> &'static str {
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
    names.extend(["result", "plies", "end", "fen", "error"]);
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
    fields.push(end(game).to_owned());
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
    let end = match end(game) {
        "" => None,
        end => Some(end),
    };
    let row = json!({
        "game": game.game,
        "tags": tags,
        "result": game.result.map(|result| result.token()),
        "plies": game.plies,
        "end": end,
        "fen": game.last.as_ref().map(|last| last.to_string()),
        "error": game.error,
    });
    let mut line = one_line::of_json(&row.to_string())
        .into_owned()
        .into_bytes();
    line.push(b'\n');
    line
}

impl GamesArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        let rows = self.rows()?;
        session.prepare(&self.read.inputs, &self.read.reading)?;
        let mut output = session.open_output(&self.output)?;
        if rows == Rows::Csv {
            output.put(&header())?;
        }
        let global = session.global();
        let mut skip = global.skip;
        let mut left = global.limit.unwrap_or(u64::MAX);
        let run = Run {
            game_rows: true,
            ..Run::default()
        };
        let reading = &self.read.reading;
        let job = Format { rows };
        let done = session.read(&self.read.inputs, reading, run, &job, |rows| {
            for row in rows {
                if skip > 0 {
                    skip -= 1;
                } else if left > 0 {
                    left -= 1;
                    output.put(&row)?;
                }
            }
            Ok(())
        })?;
        if done.summary.failure.is_none() {
            session.commit(Some(output))?;
        }
        session.conclude(done.summary)
    }

    fn rows(&self) -> Result<Rows> {
        if let Some(rows) = self.format {
            return Ok(rows);
        }
        let Some(path) = &self.output.output else {
            return Ok(Rows::Csv);
        };
        match extension(path).as_deref() {
            Some("csv") => Ok(Rows::Csv),
            Some("jsonl" | "ndjson" | "json") => Ok(Rows::Jsonl),
            _ => bail!(
                "cannot infer a format from '{}'; use .csv or .jsonl, or pass --format",
                path.display()
            ),
        }
    }
}
