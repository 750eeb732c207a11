//! Output of games: one row per game as CSV or JSON lines, or copies of the games.

use super::game_columns::{GameColumn, GameColumns, GameValue, outcome, write_tags};
#[cfg(feature = "parquet")]
use crate::columnar::Described;
use crate::formats::Chunk;
use crate::games::{GameRow, GameVerdict, MoveForms};
use crate::input::Bytes;
use crate::output::cells::{write_csv_text, write_json_string};
use crate::pipeline::Job;
#[cfg(feature = "parquet")]
use crate::table::{Array, Items, ListNumber, Lists, TextBuffer, Texts, Values};
use crate::table::{Kind, Needs, Tile};
use memchr::memchr;
use std::sync::Arc;

/// Writes one row per game as text.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameRows<'a> {
    form: Form,
    columns: &'a GameColumns,
}

/// The text of a row.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// Comma-separated values.
    Csv,
    /// A JSON object with a key for each column.
    JsonLines,
    /// A JSON object with all tags of the game.
    TaggedJson,
}

impl<'a> GameRows<'a> {
    /// A header line and comma-separated values.
    pub(super) fn csv(columns: &'a GameColumns) -> Self {
        Self { form: Form::Csv, columns }
    }
    /// One JSON object per line, with a key for each column.
    pub(super) fn json_lines(columns: &'a GameColumns) -> Self {
        Self { form: Form::JsonLines, columns }
    }
    /// One JSON object per line, with all tags of the game.
    pub(super) fn tagged_json() -> Self {
        Self { form: Form::TaggedJson, columns: GameColumns::usual() }
    }

    /// The text before the first row.
    pub(super) fn header(&self) -> Vec<u8> {
        let mut line = Vec::new();
        if let Form::Csv = self.form {
            csv_line(self.columns.iter().map(GameColumn::name), &mut line);
        }
        line
    }
}

impl Job for GameRows<'_> {
    type Part = Vec<u8>;
    fn needs(&self) -> Needs {
        match self.form {
            Form::Csv | Form::JsonLines => self.columns.needs(),
            Form::TaggedJson => Needs::NONE,
        }
    }
    fn reads_games(&self) -> bool {
        true
    }
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        match self.form {
            Form::Csv | Form::JsonLines => self.columns.tags(),
            Form::TaggedJson => None,
        }
    }
    fn move_forms(&self) -> MoveForms {
        self.columns.move_forms()
    }
    fn judge_game(&self, game: &GameRow) -> GameVerdict {
        self.columns.judge(game)
    }
    fn begin(&self) -> Vec<u8> {
        Vec::new()
    }
    fn tile(&self, _: &mut Vec<u8>, _: &Tile<'_>) {}
    fn games(&self, text: &mut Vec<u8>, games: &[GameRow]) {
        for game in games {
            match self.form {
                Form::Csv => csv_line(self.columns.iter().map(|column| column.text(game)), text),
                Form::JsonLines => json_row(self.columns, game, text),
                Form::TaggedJson => tagged_json_row(game, text),
            }
        }
    }
}

/// Copies games unchanged.
///
/// No byte of a game is changed, whatever its encoding. Text between two games, such as a comment after the result,
/// belongs to the first of them. An empty line ends each game, with the same line ends as the game.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyGames;

/// Games of a chunk.
#[derive(Debug, Default)]
pub(super) struct CopiedGames {
    chunk: Option<Bytes>,
    pub(super) text: Vec<u8>,
}

impl Job for CopyGames {
    type Part = CopiedGames;
    fn needs(&self) -> Needs {
        Needs::NONE
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

/// The columns of a table of games.
#[cfg(feature = "parquet")]
pub(super) fn described(columns: &GameColumns) -> Vec<Described> {
    let described = columns.iter().map(|column| {
        let described = Described::new(column.name(), column.kind(), column.meaning());
        let (nullable, has_moves) = (column.value != GameValue::Number, column.value.is_of_moves());
        Described { nullable, has_moves, ..described }
    });
    described.collect()
}

/// The values of the [columns](described).
#[cfg(feature = "parquet")]
pub(super) fn cells_of_games(columns: &GameColumns, games: &[GameRow]) -> Vec<Array> {
    let cells = columns.iter().map(|column| match column.kind() {
        Kind::U64 | Kind::F64 | Kind::Timestamp => Array::U64(numbers(column, games)),
        Kind::Time => Array::U32(numbers(column, games)),
        Kind::ExactU16 => Array::U16(numbers(column, games)),
        Kind::ExactU8 => Array::U8(numbers(column, games)),
        Kind::Bytes => {
            let mut bytes = TextBuffer::default();
            games.iter().for_each(|game| bytes.push_bytes(column.bytes_of(game)));
            Array::TextBuffer(bytes)
        }
        Kind::ListOfU16 => lists(column, games, Items::U16(Vec::new()), |number| number as u16),
        Kind::ListOfI16 => lists(column, games, Items::I16(Vec::new()), |number| number as i16),
        Kind::I16 => {
            let mut values = Values::default();
            games.iter().for_each(|game| values.push(column.number(game).map(|bits| bits as i16)));
            Array::I16(values)
        }
        Kind::U32 => Array::U32(numbers(column, games)),
        Kind::U16 => Array::U16(numbers(column, games)),
        // Moves hardly repeat.
        _ if column.value.is_of_moves() => {
            let mut texts = TextBuffer::default();
            games.iter().for_each(|game| texts.push_bytes(column.moves_of(game).map(str::as_bytes)));
            Array::TextBuffer(texts)
        }
        _ => {
            let mut texts = Texts::default();
            for game in games {
                texts.push(Some(&*column.text(game)).filter(|text| !text.is_empty()));
            }
            Array::Text(texts)
        }
    });
    cells.collect()
}

/// The lists of numbers of a column.
#[cfg(feature = "parquet")]
fn lists<T: ListNumber + Copy>(column: &GameColumn, games: &[GameRow], none: Items, to: impl Fn(i32) -> T) -> Array {
    let mut lists = Lists::new(none);
    for game in games {
        let numbers: Option<Vec<T>> = column.list_of(game).map(|list| list.iter().map(|&number| to(number)).collect());
        lists.push_numbers(numbers.as_deref());
    }
    Array::Lists(lists)
}

#[cfg(feature = "parquet")]
fn numbers<T: Copy + Default + TryFrom<u64>>(column: &GameColumn, games: &[GameRow]) -> Values<T> {
    let mut values = Values::default();
    for game in games {
        values.push(column.number(game).and_then(|number| T::try_from(number).ok()));
    }
    values
}

fn csv_line<T: AsRef<str>>(fields: impl IntoIterator<Item = T>, line: &mut Vec<u8>) {
    for (at, field) in fields.into_iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        write_csv_text(field.as_ref(), line);
    }
    line.push(b'\n');
}

fn json_row(columns: &GameColumns, game: &GameRow, line: &mut Vec<u8>) {
    for (at, column) in columns.iter().enumerate() {
        line.push(if at == 0 { b'{' } else { b',' });
        json_value(column, game, line);
    }
    line.extend_from_slice(b"}\n");
}

/// The name of a column, and its value.
fn json_value(column: &GameColumn, game: &GameRow, line: &mut Vec<u8>) {
    write_json_string(column.name(), line);
    line.push(b':');
    match (&column.value, column.kind()) {
        (GameValue::Tags, _) => write_tags(game, line),
        (_, kind) if kind.is_list() => match column.list_of(game) {
            Some(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
                line.extend_from_slice(format!("[{}]", numbers.join(",")).as_bytes());
            }
            None => line.extend_from_slice(b"null"),
        },
        (_, Kind::Bytes) => write_json_text(&column.text(game), line),
        (value, _) if value.is_of_moves() => match column.moves_of(game) {
            Some(moves) => write_json_string(moves, line),
            None => line.extend_from_slice(b"null"),
        },
        (_, Kind::U64 | Kind::U32 | Kind::U16 | Kind::ExactU16 | Kind::ExactU8) => {
            write_json_number(column.number(game), line)
        }
        (_, Kind::F64 | Kind::I16) => match &*column.text(game) {
            "" => line.extend_from_slice(b"null"),
            number => line.extend_from_slice(number.as_bytes()),
        },
        _ => write_json_text(&column.text(game), line),
    }
}

fn write_json_number(number: Option<u64>, line: &mut Vec<u8>) {
    let number = number.map_or_else(|| "null".to_owned(), |number| number.to_string());
    line.extend_from_slice(number.as_bytes());
}

/// An empty text is missing.
fn write_json_text(text: &str, line: &mut Vec<u8>) {
    match text {
        "" => line.extend_from_slice(b"null"),
        text => write_json_string(text, line),
    }
}

fn tagged_json_row(game: &GameRow, line: &mut Vec<u8>) {
    line.extend_from_slice(format!("{{\"game\":{},\"tags\":", game.game).as_bytes());
    write_tags(game, line);
    line.extend_from_slice(b",\"result\":");
    write_json_text(game.result.map_or("", |result| result.token()), line);
    line.extend_from_slice(b",\"plies\":");
    write_json_number(game.plies.map(u64::from), line);
    line.extend_from_slice(b",\"outcome\":");
    write_json_text(outcome(game), line);
    line.extend_from_slice(b",\"fen\":");
    write_json_text(&game.last.as_ref().map(ToString::to_string).unwrap_or_default(), line);
    line.extend_from_slice(b",\"error\":");
    write_json_text(game.error.as_deref().unwrap_or_default(), line);
    if game.matches.is_some() {
        for column in GameColumn::all().iter().filter(|column| column.is_of_matches()) {
            line.push(b',');
            json_value(column, game, line);
        }
    }
    line.extend_from_slice(b"}\n");
}
