//! Formats that are recognised and not read yet: refused by name.

use super::{Dir, START, complaint, output, sample};
use crate::support::shared_data;

#[test]
fn files_of_known_foreign_formats_are_named() {
    for (name, what) in [
        ("small.binpack", "a Stockfish binpack"),
        ("example.plain", "a Stockfish plain file"),
        ("slice_a.sfen.bin", "packed sfen"),
        ("slice_a.bullet.data", "bulletformat"),
        ("slice_a.marlin.data", "marlinformat"),
        ("slice_a.vf", "viriformat"),
        ("slice_a.txt", "FEN | score | result"),
    ] {
        let Some(path) = shared_data(&format!("nnue/{name}")) else {
            return;
        };
        let said = complaint(2, &["stats", path.to_str().unwrap()]);
        assert!(
            said.contains(what) && said.contains("lanefish cannot read that format yet"),
            "{name}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn by_name_where_the_content_says_nothing() {
    let dir = Dir::new();
    let file = dir.file("x.binpack", "anything");
    let said = complaint(2, &["stats", &file]);
    assert!(
        said.contains(
            "x.binpack is a binpack (training data): lanefish cannot read that format yet"
        ),
        "{said}"
    );
    // In a directory they are left out, as all that is not supported.
    dir.file("a.fen", START);
    let said = complaint(0, &["-v", "stats", &dir.name("")]);
    assert!(said.contains("x.binpack"), "{said}");
    let said = complaint(
        2,
        &["convert", &sample("perft.epd"), "-o", &dir.name("y.vf")],
    );
    assert!(
        said.contains("cannot write that format yet") && said.contains("boards"),
        "{said}"
    );
    assert_eq!(dir.list(), ["a.fen", "x.binpack"]);
}

#[test]
fn lines_with_score_and_result_are_explained_once() {
    let dir = Dir::new();
    let lines = format!("{START} | 20 | 0.5\n").repeat(20);
    let file = dir.file("a.txt", format!("{START}\n{lines}"));
    let said = complaint(1, &["stats", "--from", "fen", &file]);
    assert_eq!(
        said.matches("carry a score and a result").count(),
        1,
        "{said}"
    );
    let file = dir.file("b.txt", format!("{START}\nnonsense\n"));
    let said = complaint(1, &["stats", "--from", "fen", &file]);
    assert!(!said.contains("a score and a result"), "{said}");
}

#[test]
fn one_note_names_all_that_an_output_cannot_hold() {
    let dir = Dir::new();
    let file = dir.file(
        "a.pgn",
        "[Event \"?\"]\n[Site \"x\"]\n[Result \"1-0\"]\n\n1. e4 { [%eval 0.2] [%clk 0:01:00] } e5 1-0\n",
    );
    let said = complaint(0, &["convert", &file, "--to", "epd"]);
    assert_eq!(said.lines().count(), 1, "{said}");
    for field in ["`move` (2 records)", "`score`", "`result`", "`site`"] {
        assert!(said.contains(field), "{said}");
    }
    assert_eq!(
        output(0, &["-q", "convert", &file, "--to", "epd"])
            .lines()
            .count(),
        3
    );
}
