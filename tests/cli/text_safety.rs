//! Control characters of the input start no new line in any output and never reach a terminal.

use super::{Dir, START, json, lanefish, output, stderr_of};
use lanefish::chess::Position;
use lanefish::formats::boards::BoardsWriter;
use lanefish::packed::Packed;
use lanefish::table::{Array, Batch, Field, Fields, Texts};
use serde_json::Value;

/// Every kind of line end and separator, an escape sequence in both its forms, and characters that must stay.
const HOSTILE: &str = "a\nb\r\nc\td\u{b}\u{c}e\u{85}f\u{2028}g\u{2029}h\0\u{1b}[31mi\u{9b}31mj\u{7f}\u{202e}k\u{2066}l\u{200f}m\u{61c}n, \"é\"";
const SANITIZED: &str = "a b  c d  e f g h  [31mi 31mj  k l m n, \"é\"";

/// A boards file with hostile texts.
fn boards(dir: &Dir) -> String {
    let mut batch = Batch::new();
    batch.push(Packed::pack(&Position::standard()).unwrap(), 0, 1);
    for field in [Field::Site, Field::Operations, Field::White, Field::Themes] {
        let mut column = Texts::default();
        column.push(Some(HOSTILE));
        batch.fields.insert(field, Array::Text(column));
    }
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    writer.write(&batch, 0..1).unwrap();
    dir.file("x.boards", writer.finish().unwrap().0)
}

fn assert_sanitized(text: &str) {
    let reorders =
        |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let hostile = |c: char| c != '\n' && (c.is_control() || reorders(c));
    assert!(!text.contains(hostile), "{text:?}");
}

#[test]
fn rows_and_lines_stay_one_line() {
    let dir = Dir::new();
    let boards = boards(&dir);
    let csv = output(0, &["compute", "--columns", "site,operations,white,themes", &boards]);
    let quoted = format!("\"{}\"", SANITIZED.replace('"', "\"\""));
    assert_eq!(csv, format!("site,operations,white,themes\n{quoted},{quoted},{quoted},{quoted}\n"));
    for format in ["epd", "perft"] {
        let text = output(0, &["convert", "--to", format, &boards]);
        let start = START.strip_suffix(" 0 1").unwrap();
        assert_eq!(text, format!("{start} {SANITIZED}\n"));
    }
    let jsonl = output(0, &["compute", "--format", "jsonl", "--columns", "site", &boards]);
    assert_sanitized(&jsonl);
    assert_eq!(jsonl.lines().count(), 1);
    let row: Value = serde_json::from_str(&jsonl).unwrap();
    assert_eq!(row["site"], HOSTILE);
    // Boards files keep the text unchanged.
    let copy = dir.name("y.boards");
    output(0, &["convert", &boards, "-o", &copy]);
    let again = output(0, &["compute", "--format", "jsonl", "--columns", "site", &copy]);
    assert_eq!(again, jsonl);
}

#[test]
fn rows_of_games_stay_one_line() {
    let dir = Dir::new();
    let name = "W\u{85}\u{2028}\u{1b}[2J\u{7f}\th";
    let game = dir.file("x.pgn", format!("[Event \"x\"]\n[White \"{name}\"]\n\n1. e4 e5 *\n"));
    let csv = output(0, &["games", &game]);
    assert_sanitized(&csv);
    assert_eq!(csv.lines().count(), 2);
    assert!(csv.contains("W   [2J  h"), "{csv}");
    let jsonl = output(0, &["games", "--format", "jsonl", &game]);
    assert_sanitized(&jsonl);
    let row: Value = serde_json::from_str(&jsonl).unwrap();
    assert_eq!(row["tags"]["White"], name);
}

#[test]
fn messages_and_rejects_stay_one_line() {
    let dir = Dir::new();
    let file =
        dir.file("evil\u{1b}]0;x\u{7}\n\u{202e}name.fen", format!("{START}\nrub\u{1b}[31mbish\u{9b}0m x w - - 0 1\n"));
    let rejects = dir.name("rejects");
    let stderr = stderr_of(1, &["stats", "--rejects", &rejects, &file]);
    assert_sanitized(&stderr);
    assert!(stderr.contains("evil ]0;x   name.fen:2 "), "{stderr}");
    assert_eq!(stderr.lines().count(), 3, "{stderr}");
    let lines = std::fs::read_to_string(&rejects).unwrap();
    assert_sanitized(&lines.replace('\t', " "));
    assert_eq!(lines.lines().count(), 1);
    assert_eq!(lines.split('\t').count(), 4);
    assert!(lines.ends_with("rub [31mbish 0m x w - - 0 1\n"), "{lines:?}");
    // An error that ends a run, and reports.
    let missing = dir.name("no\u{1b}[2J\nthing.fen");
    let stderr = stderr_of(2, &["stats", &missing]);
    assert_sanitized(&stderr);
    assert_eq!(stderr.lines().count(), 1, "{stderr:?}");
    for arguments in [["verify", &file], ["info", &file]] {
        let done = lanefish(&arguments).output().unwrap();
        assert_sanitized(&String::from_utf8(done.stdout).unwrap());
        assert_sanitized(&String::from_utf8(done.stderr).unwrap());
    }
    let report = json(1, &["verify", "--json", &file]);
    assert_eq!(report["files"][0]["path"], file);
}

/// A text with line feeds that were once read as positions; the file's columns also overlap.
#[test]
fn line_feeds_in_a_text_column() {
    let Some(path) = crate::support::shared_data("regressions/boards/nltext.boards") else {
        return;
    };
    let path = path.to_str().unwrap();
    assert_eq!(output(2, &["convert", "--to", "epd", path]), "");
    assert_eq!(output(2, &["compute", "--columns", "operations", path]), "operations\n");
}
