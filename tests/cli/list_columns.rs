//! Columns whose values are lists: the same in every output and in conditions, and errors where a list does not fit.

use super::{Dir, json, output, sample, stderr_of};
use serde_json::Value;
use std::fs;

const COLUMNS: &str = "fen,move,legal_moves,legal_moves_uci,legal_moves_u16,checking_moves_u16,legal_move_index,\
    policy_mask:lc0,policy_index:lc0,policy_mask:az73,policy_index:az73";

/// The rows of `compute`, as objects.
fn rows(file: &str, more: &[&str]) -> Vec<Value> {
    let text = output(0, &[&["-q", "compute", "--columns", COLUMNS, "--format", "jsonl", file], more].concat());
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn items(row: &Value, column: &str) -> Vec<String> {
    let items = row[column].as_array().expect("a list").iter();
    items.map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
}

#[test]
fn lists_agree_with_the_other_columns() {
    let rows = rows(&sample("lichess-2025-05.pgn"), &[]);
    assert!(rows.len() > 600);
    for row in &rows {
        let moves = items(row, "legal_moves_uci");
        for column in ["legal_moves_uci", "legal_moves_u16", "policy_mask:lc0", "policy_mask:az73"] {
            assert_eq!(items(row, column).len() as u64, row["legal_moves"].as_u64().unwrap(), "{row}");
        }
        match row["move"].as_str() {
            Some(mv) => assert_eq!(moves[row["legal_move_index"].as_u64().unwrap() as usize], mv),
            None => assert!(row["legal_move_index"].is_null() && row["policy_index:lc0"].is_null()),
        }
        for layout in ["lc0", "az73"] {
            let index = &row[format!("policy_index:{layout}")];
            let mask = items(row, &format!("policy_mask:{layout}"));
            assert!(index.is_null() || mask.contains(&index.to_string()), "{row}");
        }
    }
    assert!(rows.iter().any(|row| items(row, "legal_moves_uci").is_empty()), "a game ends in mate");
}

#[test]
fn threads_shards_and_tiers_change_nothing() {
    let file = sample("sample.boards");
    let all =
        |more: &[&str]| output(0, &[&["-q", "compute", "--columns", COLUMNS, "--format", "csv", &file], more].concat());
    let expected = all(&[]);
    for more in [&["--threads", "1"][..], &["--threads", "8"], &["--tier", "portable"]] {
        assert!(all(more) == expected, "{more:?}");
    }
    let shards: Vec<String> = (0..3).map(|share| all(&["--shard", &format!("{share}/3")])).collect();
    let rows: Vec<&str> = shards.iter().flat_map(|text| text.lines().skip(1)).collect();
    assert!(expected.lines().skip(1).eq(rows));
}

/// Blanks between the items in CSV; empty lists are empty there, and so are missing values.
#[test]
fn csv_has_blanks_between_items() {
    let dir = Dir::new();
    let file = dir.path("two.fen").display().to_string();
    let fens = ["8/8/8/8/8/5k2/5p2/5K2 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"];
    fs::write(&file, fens.join("\n")).unwrap();
    let columns = "legal_moves_uci,legal_moves_u16,legal_move_index,checking_moves_u16";
    let text = output(0, &["-q", "compute", &file, "--columns", columns, "--format", "csv"]);
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows[0], ",,,");
    assert!(rows[1].starts_with("a1b1 a1c1 a1d1 a1a2"), "{text}");
    assert!(rows[1].contains(" e1c1 e1d1 "), "castling stands where the rook does: {text}");
    let lines = output(0, &["-q", "compute", &file, "--columns", columns, "--format", "jsonl"]);
    assert_eq!(
        lines.lines().next(),
        Some(r#"{"legal_moves_uci":[],"legal_moves_u16":[],"legal_move_index":null,"checking_moves_u16":[]}"#)
    );
}

/// Conditions on lists choose the rows that the lists themselves say.
#[test]
fn conditions_on_lists() {
    let file = sample("lichess-2025-05.pgn");
    let rows = rows(&file, &[]);
    let moves = |row: &Value| items(row, "legal_moves_uci");
    type Holds<'a> = &'a dyn Fn(&Value) -> bool;
    let conditions: &[(&str, Holds)] = &[
        ("len(legal_moves_uci) > 40", &|row| moves(row).len() > 40),
        ("len(legal_moves_u16) <> legal_moves", &|_| false),
        ("contains(legal_moves_uci, 'e1g1')", &|row| moves(row).contains(&"e1g1".to_owned())),
        ("not contains(LEGAL_MOVES_UCI, move)", &|_| false),
        ("legal_moves_uci[1] = 'b1a3'", &|row| moves(row).first().is_some_and(|mv| mv == "b1a3")),
        ("legal_moves_uci[legal_move_index + 1] = move", &|row| !row["move"].is_null()),
        ("legal_moves_uci[-1] = move", &|row| moves(row).last().is_some_and(|mv| row["move"] == mv.as_str())),
        ("legal_moves_uci[-2] is null", &|row| moves(row).len() < 2),
        ("legal_moves_uci[0] is not null", &|_| false),
        ("legal_moves_uci[999] is null", &|_| true),
        ("legal_moves_uci[null] is null", &|_| true),
        ("legal_moves_u16[2] - legal_moves_u16[1] = 64 * 2", &|row| {
            let numbers: Vec<i64> = items(row, "legal_moves_u16").iter().map(|item| item.parse().unwrap()).collect();
            numbers.len() > 1 && numbers[1] - numbers[0] == 128
        }),
        ("contains(checking_moves_u16, null)", &|_| false),
        ("contains(\"policy_mask:lc0\", \"policy_index:lc0\")", &|row| !row["move"].is_null()),
        ("case when in_check then len(legal_moves_uci) else 0 end between 1 and 3 and in_check", &|row| {
            row["fen"].as_str().is_some_and(|fen| {
                let position = fen.parse::<lanefish::chess::Position>().unwrap();
                position.in_check() && (1..=3).contains(&moves(row).len())
            })
        }),
    ];
    for (condition, holds) in conditions {
        let expected: Vec<&Value> = rows.iter().filter(|row| holds(row)).collect();
        let found = self::rows(&file, &["--where", condition]);
        assert!(found.iter().eq(expected.iter().copied()), "{condition}: {} of {}", found.len(), expected.len());
    }
    let columns = ["--let", "n = len(legal_moves_uci)", "--columns", "n,legal_moves", "--format", "csv"];
    let text = output(0, &[&["-q", "compute", &file], &columns[..]].concat());
    assert!(text.lines().skip(1).all(|row| row.split_once(',').is_some_and(|(a, b)| a == b)));
    let groups = json(0, &["-q", "stats", &file, "--by", "len(legal_moves_uci)/10", "--json"]);
    assert!(groups["groups"]["values"].as_array().is_some_and(|groups| groups.len() > 3));
}

#[test]
fn lists_where_they_do_not_fit() {
    let file = sample("lichess-2025-05.pgn");
    let conditions = [
        ("legal_moves_uci = 'e2e4'", "is a list: there are len(legal_moves_uci), legal_moves_uci[1]"),
        ("legal_moves_uci is null", "is a list"),
        ("legal_moves_uci[1] = 3", "a text cannot be compared with an integer"),
        ("legal_moves_uci['a'] = 'a'", "a place in a list is an integer, and this is a text"),
        ("legal_moves_uci[1", "expected `]`, found the end"),
        ("contains(legal_moves_u16, 'e2e4')", "each item of the list is an integer, and this is a text"),
        ("contains(legal_moves_u16)", "takes 2 values"),
        ("len(fen) > 3", "a column of lists is needed, and this is a text"),
        ("len('abc') > 3", "a column of lists is needed"),
        ("fen[1] = 'r'", "a column of lists is needed, and this is a text"),
        ("len(legal_moves_uc) > 3", "legal_moves_uci"),
    ];
    for (condition, message) in conditions {
        let said = stderr_of(2, &["stats", &file, "--where", condition]);
        assert!(said.contains(message), "{condition}: {said}");
    }
    let said = stderr_of(2, &["stats", &file, "--by", "legal_moves_u16"]);
    assert!(said.contains("is a list, and groups have single values"), "{said}");
    let said = stderr_of(2, &["stats", &file, "--let", "m = legal_moves_uci", "--where", "m = 'a'"]);
    assert!(said.contains("is a list"), "{said}");
    let said = stderr_of(2, &["games", &file, "--where", "len(legal_moves_uci) > 3"]);
    assert!(said.contains("is not a column of games"), "{said}");
    let said = stderr_of(2, &["games", &file, "--columns", "legal_moves_uci"]);
    assert!(said.contains("there is no column `legal_moves_uci`"), "{said}");
    let said = stderr_of(2, &["dedup", &file, "--keep", "most:legal_moves_u16", "-o", "x.boards"]);
    assert!(said.contains("does not hold numbers"), "{said}");
}

/// No list is among all columns.
#[test]
fn all_columns_are_no_lists() {
    let header = output(
        0,
        &["-q", "compute", &sample("lichess-2025-05.pgn"), "--columns", "all", "--limit", "1", "--format", "csv"],
    );
    let header = header.lines().next().expect("a header");
    assert!(lanefish::table::LEGAL_MOVE_COLUMNS.iter().all(|column| header.split(',').all(|name| name != column.name)));
}

#[cfg(feature = "sql")]
#[test]
fn sql_has_lists() {
    let file = sample("lichess-2025-05.pgn");
    let columns = r#"move, legal_moves_uci, legal_moves_u16, "policy_mask:lc0""#;
    let expected = output(
        0,
        &[
            "-q",
            "compute",
            &file,
            "--columns",
            "move,legal_moves_uci,legal_moves_u16,policy_mask:lc0",
            "--format",
            "jsonl",
        ],
    );
    let found = output(0, &["-q", "sql", &format!("select {columns} from '{file}'"), "--format", "jsonl"]);
    let objects = |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    assert!(objects(&found) == objects(&expected));
    let csv = ["--columns", "move,legal_moves_uci", "--format", "csv"];
    let expected = output(0, &[&["-q", "compute", &file], &csv[..]].concat());
    let found = output(0, &["-q", "sql", &format!("select move, legal_moves_uci from '{file}'"), "--format", "csv"]);
    assert_eq!(found.replace("\"\"", ""), expected);
    let query = format!(
        "select count(*) from '{file}' where array_length(legal_moves_uci) = legal_moves and array_has(legal_moves_uci, move) \
         and legal_moves_uci[1] is not null"
    );
    let moves = output(0, &["-q", "sql", &format!("select count(move) from '{file}'")]);
    let counted = output(0, &["-q", "sql", &query]);
    assert_eq!(counted.lines().nth(1), moves.lines().nth(1));
    let said = stderr_of(2, &["sql", &format!("select \"features:halfpk:white\" from '{file}'")]);
    assert!(said.contains("there is no set of features `halfpk`; there are chess768"), "{said}");
    let query = "select array_length(legal_moves_uci('rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1')) as n, \
        legal_moves_uci('x') as none";
    assert_eq!(output(0, &["-q", "sql", query, "--format", "jsonl"]), "{\"n\":20,\"none\":null}\n");
}
