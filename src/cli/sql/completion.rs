//! Completion at the prompt: what may follow the text before the cursor.

use super::dot_commands::DOT_COMMANDS;
use super::statement_text::{TextEnd, Within};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The words of SQL that are completed.
const KEYWORDS: &[&str] = &[
    "all",
    "and",
    "any",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "create",
    "cross",
    "date",
    "desc",
    "describe",
    "distinct",
    "drop",
    "else",
    "end",
    "except",
    "exists",
    "explain",
    "false",
    "filter",
    "first",
    "from",
    "full",
    "group",
    "having",
    "if",
    "ilike",
    "in",
    "inner",
    "intersect",
    "interval",
    "is",
    "join",
    "last",
    "left",
    "like",
    "limit",
    "not",
    "null",
    "nulls",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "replace",
    "right",
    "select",
    "show",
    "summarize",
    "table",
    "tables",
    "then",
    "true",
    "union",
    "using",
    "values",
    "view",
    "when",
    "where",
    "with",
];
/// The words after which a table follows.
const BEFORE_TABLES: [&str; 2] = ["from", "join"];

/// The names that a session knows.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownNames {
    /// The columns of tables of positions.
    pub(super) columns: Vec<String>,
    pub(super) functions: Vec<String>,
    /// Tables and views that the session created.
    pub(super) tables: Vec<String>,
}

/// What may follow, and the place from which it replaces the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) from: usize,
    pub(super) candidates: Vec<Candidate>,
}

/// A text that may follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The name as it is listed.
    pub(super) shown: String,
    /// The text that is inserted.
    pub(super) inserted: String,
}

impl Candidate {
    fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { shown: text.clone(), inserted: text }
    }
}

/// Completes the last line of a text, which ends at the cursor. `before` are its lines above, and `after` is the rest of the
/// last line, behind the cursor.
pub(super) fn complete(before: &str, line: &str, after: &str, known: &KnownNames) -> Completion {
    if before.is_empty() && line.trim_start().starts_with('.') {
        return dot_command(line);
    }
    let text = format!("{before}{line}");
    let none = Completion { from: line.len(), candidates: Vec::new() };
    match TextEnd::of(&text).within {
        // The name of a file is on one line.
        Within::Text(start) if start >= before.len() => {
            let start = start - before.len();
            let closes = !after.starts_with('\'');
            let candidates = files(&line[start..].replace("''", "'"), |name, is_directory| {
                let end = if closes && !is_directory { "'" } else { "" };
                format!("{}{end}", name.replace('\'', "''"))
            });
            Completion { from: start, candidates }
        }
        Within::Name(start) if start >= before.len() => {
            let start = start - before.len();
            let names = known.columns.iter().chain(&known.tables).filter(|name| name.starts_with(&line[start..]));
            let end = if after.starts_with('"') { "" } else { "\"" };
            let whole = names.map(|name| Candidate { shown: name.clone(), inserted: format!("{name}{end}") });
            Completion { from: start, candidates: whole.collect() }
        }
        Within::Code => word(&text, line, known),
        _ => none,
    }
}

/// Completes a word of SQL.
fn word(text: &str, line: &str, known: &KnownNames) -> Completion {
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_';
    let from =
        line.rfind(|char| !is_of_word(char)).map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
    let word = &line[from..];
    let head = text[..text.len() - word.len()].trim_end();
    let last = head.rsplit(|char| !is_of_word(char)).next().unwrap_or_default();
    let is_of_table = BEFORE_TABLES.iter().any(|keyword| last.eq_ignore_ascii_case(keyword));
    if word.is_empty() && !is_of_table || word.starts_with(|char: char| char.is_numeric()) {
        return Completion { from, candidates: Vec::new() };
    }
    let begins = |name: &&str| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let tables = known.tables.iter().map(String::as_str).filter(begins);
    if is_of_table {
        let mut candidates: Vec<Candidate> = tables.map(Candidate::plain).collect();
        if word.is_empty() {
            candidates.push(Candidate::plain("'"));
        }
        return Completion { from, candidates };
    }
    let is_upper = word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase);
    let keyword = |name: &str| if is_upper { name.to_ascii_uppercase() } else { name.to_owned() };
    let columns: BTreeSet<&str> = known.columns.iter().map(String::as_str).filter(begins).collect();
    let functions = known.functions.iter().map(String::as_str).filter(begins);
    let functions = functions.filter(|name| !columns.contains(name) && !KEYWORDS.contains(name));
    let keywords = KEYWORDS.iter().copied().filter(begins).map(keyword);
    let mut names: BTreeSet<String> = keywords.chain(functions.map(|name| format!("{name}("))).collect();
    names.extend(columns.iter().copied().chain(tables).map(str::to_owned));
    Completion { from, candidates: names.into_iter().map(Candidate::plain).collect() }
}

/// Completes a dot command, or the file that it names.
fn dot_command(line: &str) -> Completion {
    let start = line.len() - line.trim_start().len();
    let command = &line[start..];
    let Some((name, _)) = command.split_once(char::is_whitespace) else {
        let names = DOT_COMMANDS.iter().filter(|(name, ..)| name.starts_with(command));
        let candidates = names.map(|&(name, argument, _)| Candidate {
            shown: name.to_owned(),
            inserted: if argument.is_empty() { name.to_owned() } else { format!("{name} ") },
        });
        return Completion { from: start, candidates: candidates.collect() };
    };
    let takes_file = DOT_COMMANDS.iter().any(|&(known, argument, _)| known == name && !argument.is_empty());
    let argument = command[name.len()..].trim_start();
    let from = line.len() - argument.len();
    let candidates = if takes_file { files(argument, |name, _| name.to_owned()) } else { Vec::new() };
    Completion { from, candidates }
}

/// The files and directories whose paths begin with this text. `written` is how the whole path of one is written.
fn files(start: &str, written: impl Fn(&str, bool) -> String) -> Vec<Candidate> {
    let (directory, prefix) = start.rfind('/').map_or(("", start), |at| start.split_at(at + 1));
    let place = if directory.is_empty() { Path::new(".") } else { Path::new(directory) };
    let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<Candidate> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let is_hidden = name.starts_with('.') && !prefix.starts_with('.');
            // Control characters would change the line that is edited.
            if is_hidden || !name.starts_with(prefix) || name.contains(char::is_control) {
                return None;
            }
            let is_directory = entry.path().is_dir();
            let shown = if is_directory { format!("{name}/") } else { name };
            let inserted = written(&format!("{directory}{shown}"), is_directory);
            Some(Candidate { shown, inserted })
        })
        .collect();
    found.sort_by(|one, other| one.shown.cmp(&other.shown));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownNames {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        KnownNames {
            columns: owned(&["legal_moves", "legal_moves_uci", "phase", "fen"]),
            functions: owned(&["abs", "array_length", "avg", "legal_moves", "left", "position_stats"]),
            tables: owned(&["limits", "mine"]),
        }
    }

    /// What is inserted, after the place from which it replaces the line.
    fn completed(before: &str, line: &str, after: &str) -> (usize, Vec<String>) {
        let completion = complete(before, line, after, &known());
        (completion.from, completion.candidates.into_iter().map(|candidate| candidate.inserted).collect())
    }

    fn found(from: usize, names: &[&str]) -> (usize, Vec<String>) {
        (from, names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn words_are_keywords_columns_functions_and_tables() {
        assert_eq!(completed("", "sel", ""), found(0, &["select"]));
        assert_eq!(completed("", "SEL", ""), found(0, &["SELECT"]));
        assert_eq!(
            completed("", "select a", ""),
            found(7, &["abs(", "all", "and", "any", "array_length(", "as", "asc", "avg("])
        );
        assert_eq!(
            completed("", "select max(l", ") from t"),
            found(11, &["last", "left", "legal_moves", "legal_moves_uci", "like", "limit", "limits"])
        );
        assert_eq!(completed("select\n", "PHA", ""), found(0, &["phase"]));
        assert_eq!(completed("", "select pos", ""), found(7, &["position_stats("]));
        for nothing in ["", "select ", "select 1", "select -- le", "select /* le", "select t.", "é"] {
            assert_eq!(completed("", nothing, "").1, [""; 0], "{nothing}");
        }
        assert_eq!(completed("", "é(ph", ""), found(3, &["phase"]));
    }

    #[test]
    fn tables_follow_from_and_join() {
        assert_eq!(completed("", "select 1 from ", ""), found(14, &["limits", "mine", "'"]));
        assert_eq!(completed("select 1 FROM\n", "l", ""), found(0, &["limits"]));
        assert_eq!(completed("", "select 1 from mine join m", ""), found(24, &["mine"]));
        assert_eq!(completed("", "select \"ph", ""), found(8, &["phase\""]));
        assert_eq!(completed("", "select \"ph", "\""), found(8, &["phase"]));
    }

    #[test]
    fn files_are_completed_within_quotes() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        for name in ["games.pgn", "games.epd", "it's.pgn", ".hidden"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("data")).unwrap();
        let line = |rest: &str| format!("select * from '{root}/{rest}");
        let paths = |names: &[&str]| names.iter().map(|name| format!("{root}/{name}")).collect::<Vec<_>>();
        let (from, all) = completed("", &line(""), "");
        assert_eq!((from, all), (15, paths(&["data/", "games.epd'", "games.pgn'", "it''s.pgn'"])));
        assert_eq!(completed("", &line("games.p"), "").1, paths(&["games.pgn'"]));
        assert_eq!(completed("", &line("games.p"), "' limit 3").1, paths(&["games.pgn"]));
        assert_eq!(completed("", &line("it''"), "").1, paths(&["it''s.pgn'"]));
        assert_eq!(completed("", &line(".h"), "").1, paths(&[".hidden'"]));
        assert_eq!(completed("", &line("no/such/"), "").1, [""; 0]);
        // The quote may be open since a line above.
        assert_eq!(completed("select 'a\n", "g", "").1, [""; 0]);
    }

    #[test]
    fn dot_commands_and_their_files_are_completed() {
        assert_eq!(completed("", ".he", ""), found(0, &[".help"]));
        assert_eq!(completed("", ".co", ""), found(0, &[".columns "]));
        assert_eq!(completed("", " .", "").1.len(), DOT_COMMANDS.len());
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a b.pgn"), "").unwrap();
        let line = format!(".columns {}/a", dir.path().to_str().unwrap());
        let (from, names) = completed("", &line, "");
        assert_eq!((from, names), (9, vec![format!("{} b.pgn", &line[9..])]));
        assert_eq!(completed("", ".help a", "").1, [""; 0]);
        // Not in the middle of a statement.
        assert_eq!(completed("select 1\n", ".he", "").1, [""; 0]);
    }
}
