//! `show`: boards in the terminal.

use super::{Dir, START, lanefish, output, sample, stderr_of};

#[test]
fn the_start() {
    let board = output(0, &["show", "startpos"]);
    assert_eq!(board, output(0, &["show", START]));
    // Also as separate words.
    let words: Vec<&str> = ["show"].into_iter().chain(START.split(' ')).collect();
    assert_eq!(board, output(0, &words));
    insta::assert_snapshot!(board);
}

#[test]
fn checks_pins_and_attacks() {
    let fen = "4r1k1/8/8/1b6/8/3N4/4N3/q3K2R w K - 0 1";
    insta::assert_snapshot!(output(0, &["show", fen]));
    insta::assert_snapshot!(output(0, &["show", fen, "--attacks", "black"]));
    insta::assert_snapshot!(output(0, &["show", "--attacks", "--flip", "--unicode", fen]));
    assert!(output(0, &["show", fen, "--color", "always"]).contains("\x1b["));
}

#[test]
fn records_of_a_file() {
    let file = sample("perft.epd");
    assert!(output(0, &["show", &file]).starts_with("record 0\n"));
    assert!(output(0, &["show", &file, "--index", "3"]).contains("/R2Q1RK1 w kq -"));
    let two = output(0, &["show", &file, "--skip", "1", "--limit", "2"]);
    assert!(two.contains("record 1\n") && two.contains("record 2\n") && !two.contains("record 3\n"));
    assert!(stderr_of(2, &["show", &file, "--index", "100"]).contains("record 100 does not exist: the inputs have "));
}

#[test]
fn no_color_is_honoured() {
    lanefish(&["show", "startpos"]).env("NO_COLOR", "1").assert().success().stdout(output(0, &["show", "startpos"]));
}

#[test]
fn invalid_positions() {
    let stderr = stderr_of(2, &["show", "8/8/8/8/8/8/8/8 w - - 0 1"]);
    assert!(stderr.contains("king"), "{stderr}");
    let stderr = stderr_of(2, &["show", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNX w KQkq - 0 1"]);
    assert!(!stderr.is_empty());
    let dir = Dir::new();
    stderr_of(2, &["show", &dir.name("missing.fen")]);
    stderr_of(2, &["show"]);
}
