//! Tables of text: CSV and TSV with a header line, and JSON lines, with a column or key `fen`.
//!
//! `compute` writes such files, and so do many other programs. Each line is a record. Its position is in the column
//! `fen` (or the one that [`DecodeOptions::fen_column`] names), and is read like a line of a FEN file. The same list of
//! names as for [Parquet and Arrow](super) decides which other columns are read, and as which fields; the rest
//! is named in a note.
//!
//! The first line defines the columns: it is the header line of CSV and TSV, and in JSON lines, the keys of the first
//! object count. [Every chunk](Chunk::header) knows this line, so the other lines are divided, sharded and decoded like
//! any other text. In JSON, keys come in any order and may be missing; a known key that only later lines have is read
//! as well, and an unknown one is counted.
//!
//! Text has no types, so every value is read as the type of its field. A value that does not fit is left out and
//! counted; a note shows the first one with its place. A line is rejected if it has no valid position, if its number of
//! values differs from that of the header line, if a quotation mark is not closed (values end with their line), or if
//! its JSON is malformed.
//!
//! [Puzzles](crate::formats::lichess::puzzles) and [evaluations](crate::formats::lichess::evals) of Lichess have formats of their own, which are recognized
//! first.

mod cell;
mod decode;
mod json_row;

#[cfg(feature = "parquet")]
pub(super) use decode::start_position;

use super::column_map::{Column, Kind, Plan, field_named};
use super::delimited::Splitter;
use super::json_walk::{self, Json};
use crate::formats::codec::layout::Text;
use crate::formats::codec::line_records;
use crate::formats::codec::line_records::text_of;
use crate::formats::lichess::{evals, puzzles};
use crate::formats::text::CARRIES;
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness};
use crate::table::Fields;
use memchr::memchr;
use std::sync::Arc;

/// The codec of a table of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextTable(Syntax);

/// The syntax of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Csv,
    Tsv,
    Json,
}

/// Comma-separated values.
pub(in crate::formats) const CSV: TextTable = TextTable(Syntax::Csv);
/// Values that are separated by tabs.
pub(in crate::formats) const TSV: TextTable = TextTable(Syntax::Tsv);
/// A JSON object per line.
pub(in crate::formats) const JSON_LINES: TextTable = TextTable(Syntax::Json);

impl Syntax {
    fn separator(self) -> u8 {
        match self {
            Self::Tsv => b'\t',
            Self::Csv | Self::Json => b',',
        }
    }

    /// The columns that a first line names; `None` if it is not such a line.
    fn columns(self, line: &[u8]) -> Option<Vec<Column>> {
        let column = |name: &[u8]| Column { name: text_of(name), kind: Kind::Cell, data: String::new() };
        if self != Self::Json {
            let mut splitter = Splitter::default();
            let names = splitter.split(line, self.separator()).ok()?;
            return Some(names.iter().map(|name| column(name.trim_ascii())).collect());
        }
        let mut columns: Vec<Column> = Vec::new();
        let mut keys = Json { rest: line };
        keys.object(|json, key| {
            let key = column(json_walk::unescaped(key, &mut Vec::new())?);
            if columns.iter().all(|known| known.name != key.name) {
                columns.push(key);
            }
            json.skip()
        })?;
        keys.rest.trim_ascii().is_empty().then_some(columns)
    }

    /// Whether a text begins with a line that names this column, or `fen` in upper or lower case if `name` is not
    /// given.
    fn has_column(self, head: &[u8], name: Option<&str>) -> bool {
        let line = line_records::first_line(head);
        let is_it = |column: &[u8]| match name {
            Some(name) => column == name.as_bytes(),
            None => column.eq_ignore_ascii_case(b"fen"),
        };
        if self != Self::Json {
            return self
                .columns(line)
                .is_some_and(|columns| columns.iter().any(|column| is_it(column.name.as_bytes())));
        }
        // The line may continue after the bytes that are there.
        let mut found = false;
        let _ = Json { rest: line }.object(|json, key| {
            found |= is_it(key) && json.next() == Some(b'"');
            json.skip()
        });
        found
    }
}

/// The format of a text that begins with a line that names a column.
pub(in crate::formats) fn with_column(head: &[u8], name: &str) -> Option<crate::formats::Format> {
    use crate::formats::Format;
    let formats = [(Format::CSV, Syntax::Csv), (Format::TSV, Syntax::Tsv), (Format::JSONL, Syntax::Json)];
    formats.into_iter().find(|(_, syntax)| syntax.has_column(head, Some(name))).map(|(format, _)| format)
}

/// The format of a text table of any columns: one with this name whose first line names some, or an object of JSON.
pub(in crate::formats) fn of_any_columns(
    head: &[u8],
    named: Option<crate::formats::Format>,
) -> Option<crate::formats::Format> {
    use crate::formats::Format;
    let has_columns = |syntax: Syntax| {
        syntax.columns(line_records::first_line(head)).is_some_and(|columns| {
            let is_named = |column: &Column| !column.name.is_empty();
            !columns.is_empty() && columns.iter().all(is_named)
        })
    };
    let formats = [(Format::CSV, Syntax::Csv), (Format::TSV, Syntax::Tsv), (Format::JSONL, Syntax::Json)];
    let is_meant = |format| named == Some(format) || named.is_none() && format == Format::JSONL;
    formats.into_iter().find(|(format, syntax)| is_meant(*format) && has_columns(*syntax)).map(|(format, _)| format)
}

impl TextTable {
    /// The reason why a file is not a table of positions although its name suggests it: the rest of a sentence that
    /// begins with its name.
    fn refusal(self, head: &[u8]) -> String {
        let columns = self.0.columns(line_records::first_line(head));
        match columns.map(|columns| Plan::of(&columns, &DecodeOptions::default())) {
            Some(Err(reason)) => reason,
            _ => format!("does not begin with {}", self.first_line()),
        }
    }

    fn first_line(self) -> &'static str {
        match self.0 {
            Syntax::Csv | Syntax::Tsv => "a header line that names a column `fen`",
            Syntax::Json => "a JSON object that has a key `fen`",
        }
    }
}

/// Like [`TextTable::refusal`], if the format is one of these.
pub(in crate::formats) fn refusal(format: crate::formats::Format, head: &[u8]) -> Option<String> {
    use crate::formats::Format;
    let tables = [(Format::CSV, CSV), (Format::TSV, TSV), (Format::JSONL, JSON_LINES)];
    tables.into_iter().find(|(is, _)| *is == format).map(|(_, table)| table.refusal(head))
}

impl Text for TextTable {
    fn header(&self, head: &[u8], all: bool) -> Option<Arc<[u8]>> {
        let mut rest = head;
        loop {
            let end = memchr(b'\n', rest).or((all && !rest.is_empty()).then_some(rest.len()))?;
            let line = line_records::without_end(line_records::strip_bom(&rest[..end]));
            if !line.trim_ascii().is_empty() {
                return Some(Arc::from(line));
            }
            rest = rest.get(end + 1..)?;
        }
    }
}

impl Codec for TextTable {
    fn about(&self) -> &'static About {
        static ABOUTS: [About; 3] = [
            About {
                name: "csv",
                title: "CSV with a column `fen` in its header line",
                extensions: &["csv"],
                has_games: false,
                can_be_empty: true,
                selects: false,
                carries: Fields::ALL,
            },
            About {
                name: "tsv",
                title: "the same, separated by tabs",
                extensions: &["tsv"],
                has_games: false,
                can_be_empty: true,
                selects: false,
                carries: Fields::ALL,
            },
            About {
                name: "jsonl",
                title: "JSON lines with a key `fen`",
                extensions: &["jsonl", "ndjson"],
                has_games: false,
                can_be_empty: false,
                selects: false,
                carries: Fields::ALL,
            },
        ];
        &ABOUTS[self.0 as usize]
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        let is_other = || match self.0 {
            Syntax::Csv => puzzles::sniff(head),
            Syntax::Tsv => false,
            Syntax::Json => evals::sniff(head),
        };
        Likeness::certain_if(self.0.has_column(head, None) && !is_other())
    }
    fn layout(&self) -> Layout {
        Layout::Text(match self.0 {
            Syntax::Csv => &CSV,
            Syntax::Tsv => &TSV,
            Syntax::Json => &JSON_LINES,
        })
    }
    fn begin(&self, header: Option<&[u8]>, options: &DecodeOptions) -> Result<Option<String>, String> {
        if options.moves_column.is_some() || options.start_column.is_some() {
            let reason = "has positions: --moves-column and --start-column are for games in Parquet and Arrow";
            return Err(reason.to_owned());
        }
        let columns = header
            .and_then(|header| self.0.columns(header))
            .ok_or_else(|| format!("does not begin with {}", self.first_line()))?;
        Plan::of(&columns, options).map(|plan| plan.note())
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode::decode(self.0, chunk, options)
    }
    fn carried(&self, head: &[u8]) -> Fields {
        let columns = self.0.columns(line_records::first_line(head)).unwrap_or_default();
        let named: Fields = columns.iter().filter_map(|column| field_named(&column.name)).collect();
        named.union(CARRIES)
    }
}
