//! Control characters of the input: they begin no new line in any output, and reach no terminal.

use super::{Dir, START, complaint, json, lanefish, output};
use lanefish::block::Packed;
use lanefish::chess::Position;
use lanefish::formats::boards::BoardsWriter;
use lanefish::table::{Array, Batch, Field, Fields, Texts};
use serde_json::Value;

/// Every kind of line end and separator, an escape sequence in both its forms, and what must stay.
const NASTY: &str =
    "a\nb\r\nc\td\u{b}\u{c}e\u{85}f\u{2028}g\u{2029}h\0\u{1b}[31mi\u{9b}31mj\u{7f}, \"é\"";
const TAMED: &str = "a b  c d  e f g h  [31mi 31mj , \"é\"";

/// A boards file with such texts.
fn boards(dir: &Dir) -> String {
    let mut batch = Batch::new();
    batch.push(Packed::pack(&Position::standard()).unwrap(), 0, 1);
    for field in [Field::Site, Field::Operations, Field::White, Field::Themes] {
        let mut column = Texts::default();
        column.push(Some(NASTY.into()));
        batch.fields.insert(field, Array::Text(column));
    }
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    writer.write(&batch, 0..1).unwrap();
    dir.file("x.boards", writer.finish().unwrap().0)
}

fn is_tame(text: &str) {
    let nasty = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
    assert!(!text.contains(nasty), "{text:?}");
}

#[test]
fn rows_and_lines_stay_one_line() {
    let dir = Dir::new();
    let boards = boards(&dir);
    let csv = output(
        0,
        &[
            "compute",
            "--columns",
            "site,operations,white,themes",
            &boards,
        ],
    );
    let quoted = format!("\"{}\"", TAMED.replace('"', "\"\""));
    assert_eq!(
        csv,
        format!("site,operations,white,themes\n{quoted},{quoted},{quoted},{quoted}\n")
    );
    for format in ["epd", "perft"] {
        let text = output(0, &["convert", "--to", format, &boards]);
        let start = START.strip_suffix(" 0 1").unwrap();
        assert_eq!(text, format!("{start} {TAMED}\n"));
    }
    let jsonl = output(
        0,
        &["compute", "--format", "jsonl", "--columns", "site", &boards],
    );
    is_tame(&jsonl);
    assert_eq!(jsonl.lines().count(), 1);
    let row: Value = serde_json::from_str(&jsonl).unwrap();
    assert_eq!(row["site"], NASTY);
    // Boards files keep the text as it is.
    let copy = dir.name("y.boards");
    output(0, &["convert", &boards, "-o", &copy]);
    let again = output(
        0,
        &["compute", "--format", "jsonl", "--columns", "site", &copy],
    );
    assert_eq!(again, jsonl);
}

#[test]
fn rows_of_games_stay_one_line() {
    let dir = Dir::new();
    let name = "W\u{85}\u{2028}\u{1b}[2J\u{7f}\th";
    let game = dir.file(
        "x.pgn",
        format!("[Event \"x\"]\n[White \"{name}\"]\n\n1. e4 e5 *\n"),
    );
    let csv = output(0, &["games", &game]);
    is_tame(&csv);
    assert_eq!(csv.lines().count(), 2);
    assert!(csv.contains("W   [2J  h"), "{csv}");
    let jsonl = output(0, &["games", "--format", "jsonl", &game]);
    is_tame(&jsonl);
    let row: Value = serde_json::from_str(&jsonl).unwrap();
    assert_eq!(row["tags"]["White"], name);
}

#[test]
fn messages_and_rejects_stay_one_line() {
    let dir = Dir::new();
    let file = dir.file(
        "evil\u{1b}]0;x\u{7}\nname.fen",
        format!("{START}\nrub\u{1b}[31mbish\u{9b}0m x w - - 0 1\n"),
    );
    let rejects = dir.name("rejects");
    let told = complaint(1, &["stats", "--rejects", &rejects, &file]);
    is_tame(&told);
    assert!(told.contains("evil ]0;x  name.fen:2 "), "{told}");
    assert_eq!(told.lines().count(), 2, "{told}");
    let lines = std::fs::read_to_string(&rejects).unwrap();
    is_tame(&lines.replace('\t', " "));
    assert_eq!(lines.lines().count(), 1);
    assert_eq!(lines.split('\t').count(), 4);
    assert!(
        lines.ends_with("rub [31mbish 0m x w - - 0 1\n"),
        "{lines:?}"
    );
    // The error that ends a run, and reports.
    let missing = dir.name("no\u{1b}[2J\nthing.fen");
    let told = complaint(2, &["stats", &missing]);
    is_tame(&told);
    assert_eq!(told.lines().count(), 1, "{told:?}");
    for arguments in [["verify", &file], ["info", &file]] {
        let done = lanefish(&arguments).output().unwrap();
        is_tame(&String::from_utf8(done.stdout).unwrap());
        is_tame(&String::from_utf8(done.stderr).unwrap());
    }
    let report = json(1, &["verify", "--json", &file]);
    assert_eq!(report["files"][0]["path"], file);
}

/// The line feeds that once made positions out of a text; its columns lie one over the other, too.
#[test]
fn line_feeds_in_a_text_column() {
    let Some(path) = crate::support::shared_data("regressions/boards/nltext.boards") else {
        return;
    };
    let path = path.to_str().unwrap();
    assert_eq!(output(2, &["convert", "--to", "epd", path]), "");
    assert_eq!(
        output(2, &["compute", "--columns", "operations", path]),
        "operations\n"
    );
}
