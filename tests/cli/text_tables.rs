//! What `compute` writes as text is read back; tables of text of other programs.

use super::{Dir, KIWIPETE, START, lanefish, output, sample, stderr_of};
use crate::support::shared_data;
use lanefish::table::COLUMNS;
use std::fs;

/// Files of every kind, with what they carry.
fn sources(dir: &Dir) -> Vec<String> {
    let engine = "{\"fen\":\"4k3/8/8/8/8/8/4P3/4K3 w - -\",\"evals\":[{\"pvs\":[{\"cp\":69,\"line\":\"e2e4 e8e7\"}],\"knodes\":4,\"depth\":9}]}\n\
        {\"fen\":\"4k3/8/8/8/8/8/4P3/4K3 b - -\",\"evals\":[{\"pvs\":[{\"mate\":-3}],\"knodes\":0,\"depth\":0}]}\n";
    let epd = format!("{START} bm e4; ce 20; id \"a, \"\"b\";\n{KIWIPETE}\n4k3/8/8/8/8/8/4P3/4K3 b - - dm 3; acd 7;\n");
    let pgn = "[White \"é, \\\"x\\\"\"]\n[Site \"a; b\"]\n[Date \"2024.02.03\"]\n[Result \"1-0\"]\n\n\
        1. e4 { [%eval 0.2] [%clk 0:01:00] } e5 { [%eval #-3] } 2. Nf3 1-0\n";
    let mut sources = vec![
        sample("lichess-2025-05.pgn"),
        dir.file("evals.jsonl", engine),
        dir.file("a.epd", epd),
        dir.file("b.pgn", pgn),
        dir.name("c.boards"),
    ];
    output(0, &["convert", &sample("lichess-2025-05.pgn"), "-o", &sources[4]]);
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    sources.push(tests.join("puzzle_files/puzzles-quoted.csv").to_str().unwrap().to_owned());
    for name in ["csv/lichess_db_puzzle.half_a.csv", "jsonl/lichess_db_eval.sample.jsonl"] {
        sources.extend(shared_data(name).map(|path| path.to_str().unwrap().to_owned()));
    }
    sources
}

/// Rows of all columns, read from a file that `compute` wrote, are those of the source.
#[test]
fn what_compute_writes_as_text_is_read_back() {
    let dir = Dir::new();
    // How long a game is, only PGN knows.
    let of_pgn = ["game_plies", "plies_left"];
    let columns: Vec<&str> = COLUMNS.iter().map(|column| column.name).filter(|name| !of_pgn.contains(name)).collect();
    let columns = &*columns.join(",");
    for (number, source) in sources(&dir).into_iter().enumerate() {
        let all = |input: &str| {
            let done = lanefish(&["-q", "compute", input, "--columns", columns, "--limit", "20000"]).output().unwrap();
            String::from_utf8(done.stdout).unwrap()
        };
        let expected = all(&source);
        assert!(expected.lines().count() > 2, "{source}");
        for name in ["csv", "jsonl", "csv.zst", "jsonl.gz", "ndjson"] {
            let rows = dir.name(&format!("{number}.{name}"));
            lanefish(&["-q", "compute", &source, "--columns", columns, "--limit", "20000", "-o", &rows])
                .output()
                .unwrap();
            assert!(all(&rows) == expected, "{source} as {name}");
            assert!(lanefish(&["-q", "verify", &rows, "--validity", "playable"]).output().unwrap().status.success());
        }
        // The twin: the same as Parquet, with the same fields and the same bytes when converted.
        #[cfg(feature = "parquet")]
        {
            let boards = |name: &str| {
                let (rows, boards) =
                    (dir.name(&format!("{number}.{name}")), dir.name(&format!("{number}.{name}.boards")));
                if name == "parquet" {
                    lanefish(&["-q", "compute", &source, "--columns", columns, "--limit", "20000", "-o", &rows])
                        .output()
                        .unwrap();
                }
                output(0, &["-q", "convert", &rows, "-o", &boards]);
                fs::read(boards).unwrap()
            };
            let expected = boards("parquet");
            assert!(boards("csv") == expected && boards("jsonl") == expected, "{source}");
        }
    }
}

/// The score as it was stored counts before the other, whichever lines and columns have them.
#[test]
fn stored_scores_are_read_from_text() {
    let dir = Dir::new();
    let cases = [
        ("a.csv", "fen,raw_score\nF,-32002\nF,7\nF,\n", "-32002,\n7,7\n,\n"),
        ("b.csv", "fen,score,score_sentinel\nF,,32002\nF,7,\nF,7,null\n", "32002,\n7,7\n7,7\n"),
        ("c.tsv", "fen\traw_score\tscore\nF\t5\t6\nF\t32768\t6\n", "5,5\n,\n"),
        (
            "d.jsonl",
            "{\"fen\":\"F\",\"score\":5}\n{\"fen\":\"F\",\"raw_score\":-32002,\"score\":7}\n",
            "5,5\n-32002,\n",
        ),
        (
            "e.jsonl",
            "{\"fen\":\"F\",\"raw_score\":5}\n{\"fen\":\"F\",\"score\":7}\n{\"fen\":\"F\",\"score\":7,\"raw_score\":null}\n",
            "5,5\n7,7\n7,7\n",
        ),
    ];
    for (name, text, rows) in cases {
        let file = dir.file(name, text.replace('F', "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"));
        let found = output(0, &["-q", "compute", "--columns", "raw_score,score", &file]);
        assert_eq!(found, format!("raw_score,score\n{rows}"), "{name}");
        let notes = stderr_of(0, &["compute", "--columns", "score", &file]);
        let has_misfit = name == "c.tsv";
        assert_eq!(notes.contains("first `32768`"), has_misfit, "{name}: {notes}");
    }
}

/// The input of the issue: scores, results and ratings were gone without a word.
#[test]
fn some_columns_are_some_fields() {
    let dir = Dir::new();
    let source = sample("lichess-2025-05.pgn");
    let columns = ["--columns", "fen,score,result,white_elo,move"];
    let expected = output(0, &[&["compute", &source][..], &columns].concat());
    for name in ["rows.jsonl", "rows.csv"] {
        let rows = dir.name(name);
        output(0, &[&["compute", &source, "-o", &rows][..], &columns].concat());
        let again = dir.name(&format!("{name}.boards"));
        assert_eq!(stderr_of(0, &["convert", &rows, "-o", &again]), "");
        assert!(output(0, &[&["compute", &again][..], &columns].concat()) == expected);
        // However it comes, and however it is divided.
        let text = fs::read(&rows).unwrap();
        for options in [&["--threads", "1"][..], &["--threads", "7", "--no-mmap"], &["--skip", "0"]] {
            let mut piped = lanefish(&[&["compute", "-"][..], &columns, options].concat());
            let done = piped.write_stdin(text.clone()).unwrap();
            assert!(done.stdout == expected.as_bytes(), "{name} {options:?}");
        }
        let parts: Vec<String> = (0..3)
            .map(|part| output(0, &[&["compute", &rows, "--shard", &format!("{part}/3")][..], &columns].concat()))
            .collect();
        let lines = parts.iter().flat_map(|part| part.lines().skip(1));
        assert!(lines.eq(expected.lines().skip(1)));
    }
}

#[test]
fn columns_that_are_not_read_are_named_once() {
    let dir = Dir::new();
    let file = dir.file("a.csv", format!("fen,legal_moves,score,mine,score\n{START},20,1,x,2\n{START},x,y,x,2\n"));
    let stderr = stderr_of(0, &["stats", &file]);
    assert!(stderr.contains("a.csv: columns not read: `legal_moves`, `mine`, `score`"), "{stderr}");
    assert!(stderr.contains("1 value that `score` cannot hold was left out, first `y` at "), "{stderr}");
    assert!(stderr.lines().next().unwrap().ends_with("a.csv:3"), "{stderr}");
    assert_eq!(stderr.lines().count(), 3, "{stderr}");
    assert_eq!(output(0, &["-q", "compute", &file, "--columns", "score"]), "score\n1\n\"\"\n".replace("\"\"", ""));
}

#[test]
fn the_column_of_positions_can_be_named() {
    let dir = Dir::new();
    let expected = format!("fen,score\n{START},7\n");
    for (name, text) in [
        ("a.csv", format!("position,score\n{START},7\n")),
        ("b.tsv", format!("position\tscore\n{START}\t7\n")),
        ("c.jsonl", format!("{{\"score\":7,\"position\":\"{START}\"}}\n")),
    ] {
        let file = dir.file(name, &text);
        let stderr = stderr_of(2, &["stats", &file]);
        assert!(stderr.contains("has no column `fen`; its columns are"), "{stderr}");
        assert!(stderr.contains("`position`") && stderr.contains("--fen-column"), "{stderr}");
        let options = ["--fen-column", "position", "--columns", "fen,score"];
        assert_eq!(output(0, &[&["compute", &file][..], &options].concat()), expected);
        let piped = lanefish(&[&["compute", "-"][..], &options].concat()).write_stdin(text).unwrap();
        assert_eq!(String::from_utf8(piped.stdout).unwrap(), expected);
    }
    // In directories, other tables are left out.
    dir.file("d.fen", START);
    let stderr = stderr_of(0, &["-v", "stats", &dir.name("")]);
    assert!(stderr.contains("a.csv: not a supported format, skipped"), "{stderr}");
    let all = output(0, &["compute", &dir.name(""), "--fen-column", "position", "--columns", "score"]);
    assert_eq!(all, "score\n7\n7\n7\n\n");
    // A name of a format does not make a file one of it.
    let file = dir.file("e.jsonl", "[1]\n");
    let stderr = stderr_of(2, &["stats", &file]);
    assert!(stderr.contains("e.jsonl does not begin with a JSON object that has a key `fen`"), "{stderr}");
    let stderr = stderr_of(2, &["stats", "--from", "csv", &dir.file("f", "a,b\n1,2\n")]);
    assert!(stderr.contains("has no column `fen`; its columns are `a`, `b`"), "{stderr}");
}

#[test]
fn games_are_selected_by_their_columns() {
    let dir = Dir::new();
    let source = sample("lichess-2025-05.pgn");
    let columns = "fen,game,ply,white_elo,black_elo,time_control,date";
    let selected = |input: &str| {
        let options =
            ["--min-elo", "1200", "--time-control", "rapid", "--every", "3", "--last", "--columns", "fen,ply"];
        let done = lanefish(&[&["-q", "compute", input][..], &options].concat()).output().unwrap();
        assert!(done.status.success());
        String::from_utf8(done.stdout).unwrap()
    };
    let boards = dir.name("a.boards");
    output(0, &["convert", &source, "-o", &boards]);
    let expected = selected(&boards);
    for name in ["a.csv", "a.jsonl"] {
        let rows = dir.name(name);
        output(0, &["compute", &source, "--columns", columns, "-o", &rows]);
        assert!(selected(&rows) == expected, "{name}");
        let few = dir.name(&format!("few-{name}"));
        output(0, &["compute", &source, "--columns", "fen,game", "-o", &few]);
        let stderr = stderr_of(2, &["stats", &few, "--min-elo", "1200"]);
        assert!(stderr.contains(&format!("few-{name}")) && stderr.contains("`white_elo` and `black_elo`"), "{stderr}");
    }
}

#[cfg(feature = "sql")]
#[test]
fn queries_see_the_columns_of_the_file() {
    let dir = Dir::new();
    let csv = dir.file("a.csv", format!("id,fen\n5,{START}\n"));
    let jsonl = dir.file("a.jsonl", format!("{{\"id\":5,\"fen\":\"{START}\"}}\n"));
    for file in [csv, jsonl] {
        let query = format!("select id, legal_moves(fen) as moves from '{file}'");
        assert_eq!(output(0, &["sql", &query]), "id,moves\n5,20\n");
        let from = if file.ends_with("csv") { "csv" } else { "jsonl" };
        let query = format!("select legal_moves from '{file}'");
        assert_eq!(output(0, &["-q", "sql", "--from", from, &query]), "legal_moves\n20\n");
    }
}
