//! `games --sort`, against rows that are sorted here.

use super::{Dir, json, lanefish, output, sample, stderr_of};
use serde_json::Value;
use std::cmp::Ordering;
use std::fs;

/// Games with little in them, two of them damaged, and one with other line ends.
const ODD: &str = "[Event \"?\"]\n[TimeControl \"60+0\"]\n[White \"\u{e9}\"]\n[WhiteElo \"?\"]\n\n1. e4 e5 2. Ke3 *\n\n\
    [Event \"a,\\\"b\\\"\"]\n[White \"Z\"]\n[Black \"z\"]\n[WhiteElo \"99\"]\n[BlackElo \"2900\"]\n[Result \"0-1\"]\n\n\
    1. f3 e5 2. g4 Qh4# 0-1\n\n\
    [Event \"Chess960\"]\n[Variant \"Chess960\"]\n[SetUp \"1\"]\n\
    [FEN \"nrkbbqnr/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQNR w HBhb - 0 1\"]\n\n1. e4 d5 2. e5 f5 1-0 {after it}\n\n\
    [White \"no event\"]\r\n\r\n1. d4 d5\r\n2. c4 1/2-1/2\r\n\r\n\
    [Event \"none\"]\n\n*\n\n[Event \"bad\"]\n\n1. Zz9 1-0\n\n";

/// Such games and those of the sample, several times.
fn games(dir: &Dir, times: usize) -> String {
    let text = fs::read_to_string(sample("lichess-2025-05.pgn")).unwrap();
    dir.file("x.pgn", format!("\u{feff}{}", format!("{ODD}{text}").repeat(times)))
}

/// The places of values in order.
fn order(values: &[Value], is_descending: bool) -> Vec<usize> {
    let compare = |one: &Value, other: &Value| match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => one.as_f64().unwrap().total_cmp(&other.as_f64().unwrap()),
        },
        (Value::String(one), Value::String(other)) => one.as_bytes().cmp(other.as_bytes()),
        _ => panic!("{one} and {other}"),
    };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| match (&values[one], &values[other]) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (one, other) if one.is_null() || other.is_null() => one.is_null().cmp(&other.is_null()),
        (one, other) if is_descending => compare(other, one),
        (one, other) => compare(one, other),
    });
    order
}

/// The values of a column, a row for each game.
fn values(status: i32, column: &str, arguments: &[&str]) -> Vec<Value> {
    let rows = output(status, &[&["games", "--format", "jsonl", "--columns", column], arguments].concat());
    let value = |row: &str| match column {
        "tags" => Value::String(row["{\"tags\":".len()..row.len() - 1].to_owned()),
        _ => serde_json::from_str::<Value>(row).unwrap()[column].take(),
    };
    rows.lines().map(value).collect()
}

/// The rows of these games by this column, with a header.
fn sorted(status: i32, (column, is_descending): (&str, bool), columns: &str, arguments: &[&str]) -> Vec<String> {
    let rows = output(status, &[&["games", "--format", "csv", "--columns", columns], arguments].concat());
    let rows: Vec<&str> = rows.lines().collect();
    let order = order(&values(status, column, arguments), is_descending);
    assert_eq!(rows.len(), order.len() + 1);
    let sorted = order.into_iter().map(|place| rows[place + 1].to_owned());
    [rows[0].to_owned()].into_iter().chain(sorted).collect()
}

fn check(status: i32, by: (&str, bool), arguments: &[&str], more: &[&str]) {
    const COLUMNS: &str = "game,white,black,plies,result,error,tag:UTCTime";
    let expected = sorted(status, by, COLUMNS, arguments);
    let (column, is_descending) = by;
    let sort = format!("{column}{}", if is_descending { ":desc" } else { "" });
    let found = ["games", "--format", "csv", "--columns", COLUMNS, "--sort", &sort];
    let found = output(status, &[&found, arguments, more].concat());
    assert!(found.lines().eq(&expected), "{sort} {arguments:?} {more:?}:\n{found}\n{}", expected.join("\n"));
}

fn columns() -> Vec<String> {
    let listed = json(0, &["games", "--list-columns", "--json"]);
    let names = listed.as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap());
    names
        .filter(|name| !name.contains("NAME"))
        .chain(["tag:Event", "tag:UTCTime", "tag:Nothing"])
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_column_sorts_games() {
    let dir = Dir::new();
    let file = games(&dir, 3);
    let boards = dir.name("x.boards");
    output(1, &["convert", &file, "-o", &boards]);
    for (number, column) in columns().iter().enumerate() {
        let threads = ["1", "2", "8"][number % 3];
        for is_descending in [false, true] {
            let by = (&**column, is_descending);
            if column.contains("match") {
                let having = ["--having", "in_check"];
                check(0, by, &[&[&*boards], &having[..]].concat(), &["--threads", threads]);
                check(1, by, &[&[&*file], &having[..]].concat(), &["--threads", threads]);
            } else {
                check(0, by, &[&boards], &["--threads", threads]);
                check(1, by, &[&file], &["--threads", threads, "--memory", "1M"]);
            }
        }
    }
}

#[test]
fn chosen_games_and_shares_are_sorted() {
    let dir = Dir::new();
    let file = games(&dir, 9);
    for by in [("plies", true), ("event", false), ("white_elo", false), ("result", true), ("white_acpl", true)] {
        check(0, by, &[&file, "--where", "plies > 60 and white_elo < 1900"], &["--threads", "2"]);
        check(0, by, &[&file, "--min-plies", "3", "--having", "move_promotes"], &["--threads", "2"]);
        for shard in ["0/3", "1/3", "2/3"] {
            let status = lanefish(&["games", &file, "--shard", shard]).output().unwrap().status.code().unwrap();
            check(status, by, &[&file, "--shard", shard], &[]);
        }
        check(1, by, &[&file, &file], &["--threads", "8"]);
    }
}

#[test]
fn skip_and_limit_count_sorted_games() {
    let dir = Dir::new();
    let file = games(&dir, 200);
    for sort in ["plies:desc", "event", "elo_difference", "tag:Nothing", "site:desc"] {
        let all = output(1, &["games", &file, "--sort", sort]);
        let (header, rows) = all.split_once('\n').unwrap();
        let rows: Vec<&str> = rows.lines().collect();
        for (skip, limit) in [(0, 0), (0, 1), (0, 10), (3, 700), (2000, 9000), (9000, 10), (100, usize::MAX)] {
            let (skip_text, limit_text) = (skip.to_string(), limit.to_string());
            let range = ["--skip", &skip_text, "--limit", &limit_text];
            for way in [["--threads", "1", "--memory", "1G"], ["--threads", "8", "--memory", "64K"]] {
                let found = output(1, &[&["games", &file, "--sort", sort], &range[..], &way[..]].concat());
                let expected = rows.iter().skip(skip).take(limit);
                assert!(found.lines().eq([&header].into_iter().chain(expected).copied()), "{sort} {range:?} {way:?}");
            }
        }
    }
}

/// Sorted games are PGN, and everything that is made of it is what is made of the sorted games.
#[test]
fn every_output_is_sorted() {
    const COLUMNS: &str = "event,white,black,date,white_elo,plies,result,outcome,fen,error,elo_difference,\
                           white_accuracy,white_time,tag:UTCTime,tags";
    let dir = Dir::new();
    let file = games(&dir, 40);
    let pgn = |text: &str| {
        let mut games: Vec<String> =
            text.replace("\r\n\r\n[", "\r\n\n[").split("\n\n[").map(|part| part.trim().to_owned()).collect();
        games[0].remove(0);
        games.sort_unstable();
        games
    };
    let copy = dir.name("copy.pgn");
    output(1, &["games", &file, "-o", &copy]);
    for (by, choice) in [
        (("plies", true), &[][..]),
        (("tag:Event", false), &[]),
        (("fen", false), &["--where", "plies > 3"]),
        (("last_match", true), &["--having", "in_check"]),
    ] {
        let sort = format!("{}{}", by.0, if by.1 { ":desc" } else { ":asc" });
        let status = if choice.contains(&"--where") { 0 } else { 1 };
        // Damaged games are among all games, and not among those that were chosen.
        let status_of_sorted = i32::from(choice.is_empty());
        let sorted_file = dir.name("sorted.pgn");
        let sort = ["games", &*file, "--sort", &sort, "--force"];
        output(status, &[&sort, choice, &["-o", &sorted_file]].concat());
        if choice.is_empty() {
            let [sorted, copy] = [&sorted_file, &copy].map(|path| pgn(&fs::read_to_string(path).unwrap()));
            assert!(sorted == copy);
        }
        let rows = sorted(status, by, COLUMNS, &[&[&*file], choice].concat());
        let found = output(status_of_sorted, &[&["games", &sorted_file, "--columns", COLUMNS], choice].concat());
        assert!(found.lines().eq(&rows), "{sort:?}");
        let mut forms = vec!["csv", "jsonl"];
        if cfg!(feature = "parquet") {
            forms.extend(["arrow", "parquet"]);
        }
        let [one, other] = ["one", "other"].map(|name| dir.name(name));
        for form in forms {
            let format = ["--format", form, "--columns", COLUMNS, "-o"];
            output(status_of_sorted, &[&["games", &sorted_file, "--force"], &format[..], &[&one], choice].concat());
            for way in [["--threads", "1", "--memory", "1G"], ["--threads", "8", "--memory", "64K"]] {
                output(status, &[&sort, &format[..], &[&other], choice, &way].concat());
                assert!(fs::read(&one).unwrap() == fs::read(&other).unwrap(), "{form} {sort:?} {way:?}");
            }
        }
        let table = ["--format", "table", "--columns", COLUMNS];
        let of_sorted = output(status_of_sorted, &[&["games", &sorted_file], &table[..], choice].concat());
        assert!(output(status, &[&sort[..], &table, choice].concat()) == of_sorted, "{sort:?}");
        // All tags, but for the number of the game.
        let tags = |text: String| text.lines().map(|row| row.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>();
        let of_sorted = output(status_of_sorted, &[&["games", &sorted_file, "--format", "jsonl"], choice].concat());
        let found = output(status, &[&sort[..], choice, &["--format", "jsonl"]].concat());
        assert!(tags(found) == tags(of_sorted), "{sort:?}");
        let packed = dir.name("sorted.pgn.zst");
        output(status, &[&sort, choice, &["-o", &packed, "--threads", "2", "--memory", "64K"]].concat());
        let unpacked = zstd::decode_all(&fs::read(&packed).unwrap()[..]).unwrap();
        assert!(unpacked == fs::read(&sorted_file).unwrap());
    }
}

#[test]
fn damage_is_reported_as_without_an_order() {
    let dir = Dir::new();
    let file = games(&dir, 2);
    let [rejects, rows] = ["rejects", "rows.csv"].map(|name| dir.name(name));
    let read = |more: &[&str]| {
        let arguments = [&["games", &file, "-o", &rows, "--rejects", &rejects, "--force"], more].concat();
        let stderr = stderr_of(1, &arguments);
        (stderr, fs::read_to_string(&rejects).unwrap())
    };
    let (stderr, bad) = read(&[]);
    assert!(stderr.contains("4 of ") && bad.lines().count() == 4, "{stderr}");
    assert_eq!(read(&["--sort", "error:desc", "--limit", "1"]), (stderr, bad));
    let rows = output(1, &["games", &file, "--sort", "error", "--limit", "3", "--columns", "error"]);
    assert!(rows.lines().all(|error| !error.is_empty()), "{rows}");
    assert!(stderr_of(2, &["games", &file, "--sort", "plies", "--strict"]).contains("Ke3"));
    // Of a broken file, nothing is written.
    let packed = zstd::encode_all(&fs::read(&file).unwrap()[..], 1).unwrap();
    let broken = dir.file("broken.pgn.zst", &packed[..packed.len() - 9]);
    let done = lanefish(&["games", &broken, "--sort", "plies"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(2) && stderr.contains("truncated"), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&done.stdout).lines().count(), 1);
}

#[test]
fn inputs_without_games() {
    let dir = Dir::new();
    let file = dir.file("empty.pgn", "");
    let mut names = vec!["a.csv", "a.jsonl", "a.pgn"];
    if cfg!(feature = "parquet") {
        names.extend(["a.arrow", "a.parquet"]);
    }
    for name in names {
        let [one, other] = [format!("one-{name}"), format!("other-{name}")].map(|name| dir.name(&name));
        output(0, &["games", &file, "-o", &one]);
        output(0, &["games", &file, "-o", &other, "--sort", "plies"]);
        assert!(fs::read(&one).unwrap() == fs::read(&other).unwrap(), "{name}");
    }
}

#[test]
fn what_cannot_be_sorted_by_is_an_error() {
    let file = sample("lichess-2025-05.pgn");
    for (sort, says) in [
        ("plie", "--sort: there is no column `plie`; did you mean `plies`?"),
        ("plies:down", "there is no column `plies:down`"),
        ("White_elo:desc", "did you mean `white_elo`?"),
        ("all", "there is no column `all`"),
        ("white,black", "there is no column `white,black`"),
        ("tag:", "the name of a tag or folder is"),
        ("match_plies:desc", "--sort: `match_plies` says where a game has what --having asks for"),
    ] {
        let stderr = stderr_of(2, &["games", &file, "--sort", sort]);
        assert!(stderr.contains(says), "{stderr}");
    }
    for option in ["--memory=1M", "--temp=."] {
        let stderr = stderr_of(2, &["games", &file, option]);
        assert!(stderr.contains("without --sort"), "{stderr}");
    }
    let boards = Dir::new();
    let boards = boards.name("x.boards");
    output(0, &["convert", &file, "-o", &boards]);
    let refused = |more: &[&str]| stderr_of(2, &[&["games", &boards, "--format", "pgn"], more].concat());
    assert_eq!(refused(&["--sort", "plies"]), refused(&[]));
}
