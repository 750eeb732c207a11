//! Errors of statements, and the conversion of the engine's errors to ours: the message, and the place in the query.

use super::engine::low_memory_plans::described;
use super::engine::names_in_duckdb;
use super::tables::scan::ReadFailed;
use crate::error::Error;
use crate::table::{Column as PositionColumn, wrong_in_family};
use datafusion::arrow::error::ArrowError;
use datafusion::common::{Column, DataFusionError, SchemaError, TableReference};
use datafusion::sql::sqlparser::parser::ParserError;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// The text is invalid, or cannot be executed.
    #[error("{}{message}", at(*place))]
    Query {
        /// Line and column, both counted from 1, where they are known.
        place: Option<(u64, u64)>,
        /// The error, with a suggestion if possible.
        message: String,
    },
    /// There is no column of this name.
    #[error("{}there is no column `{name}`{}", at(*place), wrong_in_family(name))]
    Column {
        /// Line and column, both counted from 1, where they are known.
        place: Option<(u64, u64)>,
        /// The name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// A table cannot be opened.
    #[error(transparent)]
    Table(Arc<Error>),
    /// The memory limit is too small.
    #[error("{0}")]
    Memory(String),
    /// A temporary file, or a file that the engine reads by itself, failed: the system's reason.
    #[error("a file of the engine failed: {0}")]
    Temporary(String),
    /// The cluster failed.
    #[error("{0}")]
    Cluster(String),
    /// Reading a table failed: the last of [`Session::summaries`](super::Session::summaries) that is an error has the
    /// error.
    #[error("reading failed")]
    Read,
}

fn at(place: Option<(u64, u64)>) -> String {
    place.map_or_else(String::new, |(line, column)| format!("line {line}, column {column}: "))
}

impl SqlError {
    /// Line and column of what is wrong in the text, both counted from 1, where they are known.
    pub fn place(&self) -> Option<(u64, u64)> {
        match self {
            Self::Query { place, .. } | Self::Column { place, .. } => *place,
            Self::Table(_) | Self::Memory(_) | Self::Temporary(_) | Self::Cluster(_) | Self::Read => None,
        }
    }

    /// What helps with this error of a text, to be added to the message; empty if nothing is known. `similar` chooses the
    /// name among several that is meant by another one, if there is any.
    pub fn advice(&self, text: &str, similar: impl FnOnce(&str, &[String]) -> Option<String>) -> String {
        let Self::Column { name, known, .. } = self else {
            return String::new();
        };
        let text = text.to_lowercase();
        let computed = computed_for_text(name, known, &text);
        let meant = || Some(format!("; did you mean `{}`?", similar(name, known)?));
        let mut advice = computed.or_else(meant).unwrap_or_default();
        if [".parquet'", ".arrow'", ".feather'"].iter().any(|end| text.contains(end)) {
            advice += "; plain('FILE') has the columns that a file has";
        }
        advice
    }

    /// The line of the text with the error, and a line below that points to the place.
    pub fn excerpt(&self, text: &str) -> Option<String> {
        let (line, column) = self.place()?;
        let shown = text.lines().nth(usize::try_from(line.checked_sub(1)?).ok()?)?;
        let before = usize::try_from(column.checked_sub(1)?).ok()?;
        // A line of a megabyte does not help.
        (shown.len() <= 500).then(|| format!("  {shown}\n  {}^\n", " ".repeat(before)))
    }
}

/// How a column of positions is had from a file of text, which has its own columns only.
fn computed_for_text(name: &str, known: &[String], text: &str) -> Option<String> {
    let formats = [("csv", ".csv"), ("tsv", ".tsv"), ("jsonl", ".json"), ("jsonl", ".ndjson")];
    let (format, _) = formats.iter().find(|(_, end)| text.contains(end))?;
    let column = PositionColumn::named(name)?;
    let is_function = column.fields.is_empty() && name != "index";
    let fen = known.iter().find(|column| column.eq_ignore_ascii_case("fen")).map_or("fen", String::as_str);
    let function = if is_function { format!("`{name}({fen})`, or ") } else { String::new() };
    Some(format!("; {function}--from {format}, which makes the files tables of positions"))
}

impl From<DataFusionError> for SqlError {
    fn from(error: DataFusionError) -> Self {
        explain(error)
    }
}

/// A table that cannot be opened, as an error that the engine passes on.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct TableFailed(Arc<Error>);

/// Wraps one of our errors for the engine.
pub(super) fn of_table(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(TableFailed(Arc::new(error))))
}

/// Converts an error of the engine, and unwraps it if it is one of ours.
pub(super) fn explain(error: DataFusionError) -> SqlError {
    #[cfg(feature = "cluster")]
    if let Some(message) = super::cluster::protocol::errors::explained(&error) {
        return SqlError::Cluster(message);
    }
    let root = error.find_root();
    if let DataFusionError::External(ours) = root {
        if let Some(TableFailed(error)) = ours.downcast_ref() {
            return SqlError::Table(Arc::clone(error));
        }
        if ours.is::<ReadFailed>() {
            return SqlError::Read;
        }
    }
    let span = error.diagnostic().and_then(|diagnostic| diagnostic.span);
    let place = span.map(|span| (span.start.line, span.start.column));
    if let DataFusionError::SchemaError(schema, _) = root
        && let SchemaError::FieldNotFound { field, valid_fields } = &**schema
    {
        if let Some(message) = of_other_table(field, valid_fields) {
            return SqlError::Query { place, message };
        }
        return SqlError::Column {
            place,
            name: field.name.clone(),
            known: valid_fields.iter().map(|column| column.name.clone()).collect(),
        };
    }
    if let DataFusionError::ResourcesExhausted(message) = root {
        return SqlError::Memory(memory(message));
    }
    // Tables of ours have their own errors, and others are found before anything is read.
    if let Some(failed) = io_error(root) {
        return SqlError::Temporary(failed.to_string());
    }
    let message = match root {
        DataFusionError::SQL(error, _) => match &**error {
            ParserError::ParserError(text) | ParserError::TokenizerError(text) => text.clone(),
            ParserError::RecursionLimitExceeded => "expressions are nested too deeply".to_owned(),
        },
        other => other.message().into_owned(),
    };
    let (message, parsed) = without_place(&message);
    SqlError::Query {
        place: place.or(parsed),
        message: match table_of(message) {
            Some(table) => format!("there is no table `{table}`; a file is a name in quotes, such as 'games.pgn'"),
            None => names_in_duckdb::of_function(message)
                .or_else(|| names_in_duckdb::of_statement(message))
                .unwrap_or_else(|| plain(message)),
        },
    }
}

/// The message for a column of a table that a query does not have.
fn of_other_table(column: &Column, known: &[Column]) -> Option<String> {
    let relation = column.relation.as_ref()?;
    let tables: BTreeSet<&str> =
        known.iter().filter_map(|known| known.relation.as_ref().map(TableReference::table)).collect();
    let is_other = !tables.is_empty() && !tables.contains(relation.table());
    is_other.then(|| {
        let tables: Vec<String> = tables.iter().map(|table| format!("`{table}`")).collect();
        format!("`{}` is not a table of this query, which has {}", relation.table(), tables.join(", "))
    })
}

/// The message without what the engine adds for its developers.
fn plain(message: &str) -> String {
    // The message of a function about its arguments.
    let own = message.rsplit_once("coercion failed with: Error during planning: ");
    let message = own.map_or(message, |(_, own)| own);
    let forms = message.split_once(" No function matches the given name and argument types '");
    let (own, forms) = forms.map_or((message, None), |(own, forms)| (own, Some(forms)));
    let (own, is_internal) = match own.split_once("This issue was likely caused by a bug in DataFusion's code") {
        Some((own, _)) => (own, true),
        None => (own, false),
    };
    if let Some((call, forms)) = forms.and_then(|forms| forms.split_once("'. "))
        && (is_internal || own.starts_with("Failed to coerce arguments"))
    {
        let forms = forms.lines().map(str::trim).filter(|form| form.ends_with(')'));
        return format!("{call} is not possible; these are: {}", forms.collect::<Vec<_>>().join(", "));
    }
    let own = own.trim_end().trim_end_matches('.');
    own.strip_prefix("Internal error: ").unwrap_or(own).to_owned()
}

/// What did not fit into memory, in words of the query.
fn memory(message: &str) -> String {
    let between = |start: &str, end: &str| Some(message.split_once(start)?.1.split_once(end)?.0);
    let limit = between("pool_size: ", ")").map_or_else(String::new, |limit| format!(" of {limit}"));
    let asked = between("Failed to allocate additional ", " with ").and_then(|asked| asked.split_once(" for "));
    match asked {
        Some((size, consumer)) => {
            let what = described(consumer);
            format!("the memory limit{limit} is too small for this query: {what} needs {size} more")
        }
        None => format!("the memory limit{limit} is too small for this query: {message}"),
    }
}

/// The error of the system in an error of the engine.
fn io_error(error: &DataFusionError) -> Option<&io::Error> {
    match error {
        DataFusionError::IoError(error) => Some(error),
        DataFusionError::ArrowError(error, _) => match &**error {
            ArrowError::IoError(_, error) => Some(error),
            _ => None,
        },
        _ => None,
    }
}

/// The table that a message says does not exist.
fn table_of(message: &str) -> Option<&str> {
    message.strip_prefix("table 'datafusion.public.")?.strip_suffix("' not found")
}

/// A message without the place at its end, as the parser writes it: ` at Line: 1, Column: 8`.
fn without_place(message: &str) -> (&str, Option<(u64, u64)>) {
    let parsed = || {
        let (text, place) = message.rsplit_once(" at Line: ")?;
        let (line, column) = place.split_once(", Column: ")?;
        Some((text, (line.parse().ok()?, column.parse().ok()?)))
    };
    match parsed() {
        Some((text, place)) => (text, Some(place)),
        None => (message, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_listed_without_advice() {
        let message = "Internal error: Function 'f' failed to match any signature, errors: x.\nThis issue was likely \
                       caused by a bug in DataFusion's code. Please help us. No function matches the given name and \
                       argument types 'f(Utf8)'. You might need to add explicit type casts.\n\tCandidate \
                       functions:\n\tf(Int64)\n\tf(a: Utf8, b: Utf8)";
        assert_eq!(plain(message), "f(Utf8) is not possible; these are: f(Int64), f(a: Utf8, b: Utf8)");
        let message = "Internal error: odd.\nThis issue was likely caused by a bug in DataFusion's code. Please help.";
        assert_eq!(plain(message), "odd");
        assert_eq!(plain("as it is"), "as it is");
    }

    #[test]
    fn the_parser_writes_places_as_text() {
        assert_eq!(
            without_place("Expected: an expression, found: EOF at Line: 1, Column: 8"),
            ("Expected: an expression, found: EOF", Some((1, 8)))
        );
        assert_eq!(without_place("odd at Line: x"), ("odd at Line: x", None));
    }
}
