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

/// The game, its players, the moves before and after, clock and evaluation.
#[test]
fn what_records_say() {
    let games = sample("lichess-2025-05.pgn");
    let first = output(0, &["show", &games]);
    assert!(
        first.starts_with("record 0, game 0, ply 0\n")
            && first.contains("next move 1. ")
            && !first.contains("last move")
    );
    let mate = output(0, &["show", &games, "--where", "checkmate"]);
    assert!(mate.contains("last move 21... Qg2#") && mate.contains("!q") && !mate.contains("next move"), "{mate}");
    let named = &mate.lines().nth(1).unwrap();
    assert!(named.contains(" - ") && named.contains("0-1"), "{mate}");
    // The squares of the last move are marked.
    let second = output(0, &["show", &games, "--index", "1"]);
    assert!(second.contains("last move 1. ") && second.matches('[').count() == 2, "{second}");
    let two = output(0, &["show", &games, "--index", "5", "--limit", "2"]);
    assert!(two.contains("record 5, ") && two.contains("record 6, ") && !two.contains("record 7, "));
    // The same of boards with columns, and where the record before is the last of another batch.
    let dir = Dir::new();
    let boards = dir.name("games.boards");
    output(0, &["-q", "convert", &games, "-o", &boards]);
    for index in ["1", "42", "300", "640"] {
        let [pgn, boards] = [&games, &boards].map(|file| output(0, &["show", file, "--index", index]));
        assert_eq!(pgn, boards);
    }
    // Moves that are not legal are not shown.
    assert!(!output(0, &["show", &sample("perft.epd")]).contains("move "));
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
