//! `compute`: rows, columns and their formats.

use super::{Dir, KIWIPETE, START, complaint, json, lanefish, output, sample};
use std::fs;

#[test]
fn default_columns_as_csv() {
    let dir = Dir::new();
    let file = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    assert_eq!(
        output(0, &["compute", &file]),
        format!(
            "fen,legal_moves,checkers,in_check,checkmate,stalemate,attacked_white,attacked_black\n\
             {START},20,0,0,0,0,22,22\n\
             {KIWIPETE},48,0,0,0,0,38,38\n"
        )
    );
}

#[test]
fn chosen_columns_keep_their_order() {
    let dir = Dir::new();
    let file = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    assert_eq!(
        output(
            0,
            &[
                "compute",
                "--columns",
                "index,stm,key,white_king,attacks_white,legal_castles",
                &file
            ]
        ),
        "index,stm,key,white_king,attacks_white,legal_castles\n\
         0,w,0x463b96181691fc9c,e1,0x0000000000ffff7e,0\n\
         1,w,KEY,e1,ATTACKS,2\n"
            .replace("KEY", &kiwipete("key"))
            .replace("ATTACKS", &kiwipete("attacks_white"))
    );
}

/// A value of Kiwipete through the other format.
fn kiwipete(column: &str) -> String {
    let dir = Dir::new();
    let file = dir.file("one.fen", KIWIPETE);
    let row = json(
        0,
        &["compute", "--format", "jsonl", "--columns", column, &file],
    );
    row[column].as_str().expect("text").to_owned()
}

#[test]
fn every_column_in_both_formats() {
    let dir = Dir::new();
    let file = dir.file("one.fen", KIWIPETE);
    insta::assert_snapshot!(output(0, &["compute", "--columns", "all", &file]));
    insta::assert_snapshot!(output(
        0,
        &["compute", "--columns", "all", "--format", "jsonl", &file]
    ));
}

#[test]
fn the_list_of_columns() {
    insta::assert_snapshot!(output(0, &["compute", "--list-columns"]));
}

#[test]
fn operations_are_quoted() {
    let dir = Dir::new();
    let file = dir.file("one.epd", format!("{START} id \"a, b\";\n"));
    assert_eq!(
        output(
            0,
            &["compute", "--columns", "operations,legal_moves", &file]
        ),
        "operations,legal_moves\n\"id \"\"a, b\"\";\",20\n"
    );
    assert_eq!(
        output(
            0,
            &[
                "compute",
                "--format",
                "jsonl",
                "--columns",
                "operations",
                &file
            ]
        ),
        "{\"operations\":\"id \\\"a, b\\\";\"}\n"
    );
}

#[test]
fn the_name_of_the_output_tells_the_format() {
    let dir = Dir::new();
    let input = sample("perft.epd");
    for (name, start) in [("rows.csv", "fen,"), ("rows.jsonl", "{\"fen\":")] {
        let path = dir.name(name);
        assert_eq!(output(0, &["compute", &input, "-o", &path]), "");
        assert!(fs::read_to_string(&path).unwrap().starts_with(start));
    }
    let told = complaint(2, &["compute", &input, "-o", &dir.name("rows.txt")]);
    assert!(told.contains("--format"), "{told}");
    output(
        0,
        &[
            "compute",
            &input,
            "-o",
            &dir.name("rows.txt"),
            "--format",
            "csv",
        ],
    );
}

#[test]
fn unknown_columns_and_formats_are_usage_errors() {
    let told = complaint(
        2,
        &["compute", "--columns", "fen,beauty", &sample("perft.epd")],
    );
    assert!(
        told.contains("`beauty`") && told.contains("--list-columns"),
        "{told}"
    );
    complaint(2, &["compute", "--format", "xml", &sample("perft.epd")]);
    complaint(2, &["compute"]);
}

#[test]
fn rows_are_in_order_whatever_the_threads_and_the_tier() {
    let input = sample("sample.epd");
    let one = output(
        0,
        &["compute", "--columns", "all", "--threads", "1", &input],
    );
    assert_eq!(one.lines().count(), 4099);
    assert!(
        one == output(
            0,
            &["compute", "--columns", "all", "--threads", "3", &input]
        )
    );
    assert!(
        one == output(
            0,
            &["compute", "--columns", "all", "--tier", "portable", &input]
        )
    );
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let dir = Dir::new();
    let line = format!("{START}\n");
    let file = dir.file("many.fen", line.repeat(100_000));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("lanefish"))
        .args(["compute", &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    // The pipe is closed here.
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
}

#[test]
fn standard_input() {
    lanefish(&["compute", "--columns", "legal_moves", "-"])
        .write_stdin("8/8/8/8/8/8/6k1/K7 w - -\n")
        .assert()
        .success()
        .stdout("legal_moves\n3\n");
}
