//! Values that are present and not read, or not as they are written: they are counted, and never become other values.

use super::{Dir, output, stderr_of};
use std::path::Path;

/// The path of a file as another program writes it.
fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unread_files").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// The lines of some columns of a file, without the header.
fn columns(status: i32, columns: &str, file: &str) -> Vec<String> {
    output(status, &["compute", "--columns", columns, file]).lines().skip(1).map(str::to_owned).collect()
}

const FEN: &str = "8/8/1b5p/kP6/P7/3R2PK/7P/2r5 w - - 1 45";
const FOUR: &str = "8/8/1b5p/kP6/P7/3R2PK/7P/2r5 w - -";

#[test]
fn results_without_a_score_are_results() {
    let values = "result,score,halfmove,fullmove";
    let expected = ["1-0,,1,45", "1/2-1/2,,1,45", "0-1,,1,45"];
    assert_eq!(columns(0, values, &file("66-fen-bracket-result.epd")), expected);
    assert_eq!(columns(0, values, &file("66b-fen-bar-result.txt")), ["1-0,,1,45", "1/2-1/2,,1,61"]);
    assert_eq!(columns(0, values, &file("66f-four-fields-bracket-result.epd")), ["1-0,,0,1", "1/2-1/2,,0,1"]);
    assert_eq!(columns(0, "result", &file("65-epd-results.epd")), ["1/2-1/2", "1-0", "0-1"]);
    let dir = Dir::new();
    for (rest, result) in [
        (" [1.0]", "1-0"),
        ("[1.0]", "1-0"),
        (" [0.5]", "1/2-1/2"),
        (" | 0.0", "0-1"),
        ("|0.5", "1/2-1/2"),
        (";1.0", "1-0"),
        (" ; 0.5", "1/2-1/2"),
        (", 1-0", "1-0"),
        (",0-1", "0-1"),
        (" 1.0", "1-0"),
        (" 1-0", "1-0"),
        (" 1/2-1/2", "1/2-1/2"),
        (" ½-½", "1/2-1/2"),
        (" 0:1", "0-1"),
        (" [1-0]", "1-0"),
        (" result 1-0;", "1-0"),
        (" result \"0-1\";", "0-1"),
        (" id \"x\"; result \"½-½\";", "1/2-1/2"),
        (" c0 \"1-0\";", "1-0"),
        (" c0 \"rating 1500\"; c9 \"0.5\";", "1/2-1/2"),
        (" bm Rd7; c9 \"0–1\";", "0-1"),
    ] {
        for (fen, clocks) in [(FEN, "1,45"), (FOUR, "0,1")] {
            let line = format!("{fen}{rest}\n");
            let path = dir.file("x.epd", &line);
            assert_eq!(columns(0, values, &path), [format!("{result},,{clocks}")], "{line}");
            // The same among lines of another kind, and written as EPD.
            let path = dir.file("y.epd", format!("{FEN}\n{line}{FEN} bm Rd7;\n"));
            let expected = [",,1,45".to_owned(), format!("{result},,{clocks}"), ",,1,45".to_owned()];
            assert_eq!(columns(0, values, &path), expected, "{line}");
            let written = dir.file("z.epd", output(0, &["convert", &path, "--to", "epd", "-o", "-"]));
            assert_eq!(columns(0, values, &written), expected, "{line}");
        }
    }
}

#[test]
fn what_is_no_result_is_counted_or_rejected() {
    let dir = Dir::new();
    for (rest, note) in [
        (" c9 \"0-0\";", "1 value that `result` cannot hold was left out, first `\"0-0\"`"),
        (" result \"1/2-0\";", "first `\"1/2-0\"`"),
        (" result \"won\";", "first `\"won\"`"),
        (" c9 \"1-0\"; result \"0-1\";", "first `\"0-1\"`"),
        (" [0.7]", "1 position with text in brackets after it that was not read; the first is `[0.7]`"),
        (" [0-0]", "the first is `[0-0]`"),
        (" bm Rxa9;", "1 value that `move` cannot hold was left out, first `Rxa9`"),
        (" bm bm;", "first `bm`"),
        (" ce 1.5;", "1 value that `score` cannot hold was left out, first `1.5`"),
        (" ce 40000;", "first `40000`"),
        (" ce 31500;", "1 score beyond 310 pawns read as 310 pawns; the first is `31500`"),
        (" dm soon;", "1 value that `mate` cannot hold was left out, first `soon`"),
        (" acd 1e3;", "1 value that `depth` cannot hold was left out, first `1e3`"),
        (" hmvc \"12\";", "1 EPD operation for a clock that is not a number was not read; the first is `hmvc \"12\"`"),
    ] {
        let path = dir.file("x.epd", format!("{FOUR}{rest}\n"));
        let notes = stderr_of(0, &["compute", "--columns", "result,move,score,mate,depth", &path]);
        assert!(notes.contains(note), "{rest}: {notes}");
    }
    for (rest, reason) in [
        (" moves e2e4 e7e5", "`moves`: moves after the position"),
        (" moves d3d7", "`moves`: moves after the position"),
        (" | 0.7", "expected EPD operations"),
        (" | 35", "expected EPD operations"),
        (" 0-0", "expected EPD operations"),
    ] {
        let path = dir.file("x.epd", format!("{FEN}\n{FEN}{rest}\n"));
        let notes = stderr_of(1, &["stats", "--from", "epd", &path]);
        assert!(notes.contains(reason), "{rest}: {notes}");
    }
    // A result and a score with decimals is training data, and the score cannot be held.
    for rest in [" [1.0] 35.5", " | 35.5 | 1.0", " 0.5 -7.25", " [0.0] .5"] {
        let path = dir.file("x.txt", format!("{FEN}{rest}\n"));
        let notes = stderr_of(1, &["stats", &path]);
        assert!(notes.contains("is not a score of 16 bits"), "{rest}: {notes}");
    }
    // Within training data, a line without a score is rejected.
    for rest in [" [1.0]", " | 1.0", ";1.0", ", 1-0", " 0.5"] {
        let path = dir.file("x.txt", format!("{FEN} | 35 | 1.0\n{FEN}{rest}\n"));
        assert_eq!(columns(1, "score,result", &path), ["35,1-0"], "{rest}");
    }
}

#[test]
fn operations_may_follow_at_once_and_opcodes_may_be_doubled() {
    assert_eq!(columns(0, "move", &file("61-epd-doubled-opcode.epd")), ["f1f4"]);
    let clocks = ["12,13", "12,13", "12,13", "12,13", "5,1", "0,1", "12,13", "0,1"];
    assert_eq!(columns(0, "halfmove,fullmove", &file("64-epd-clocks.epd")), clocks);
    assert_eq!(columns(0, "fen", &file("70-epd-no-space-semicolon.epd")), ["4k3/8/8/8/8/8/8/3K4 b - - 0 1"]);
    let dir = Dir::new();
    for (rest, expected) in [
        (" - bm bm Rb3; ", "d3b3,,,"),
        (" -; bm Rb3;", "d3b3,,,"),
        (" -;bm Rb3;ce 31;", "d3b3,31,,"),
        (" -;ce ce 31;", ",31,,"),
        (" - dm dm 3;", ",,3,"),
        (" - acd acd acd 12;", ",,,12"),
        (" - bm\tRb3;", ",,,"),
        (" -;id \"bm Rb3\";", ",,,"),
        (" -;", ",,,"),
    ] {
        let path = dir.file("x.epd", format!("8/8/1b5p/kP6/P7/3R2PK/7P/2r5 w -{rest}\n"));
        assert_eq!(columns(0, "move,score,mate,depth", &path), [expected], "{rest}");
    }
}

#[test]
fn mates_of_engine_matches_are_plies() {
    assert_eq!(columns(0, "mate,score", &file("01-mate-in-plies-cutechess.pgn")), ["2,", "1,", "1,", ","]);
    let dir = Dir::new();
    for (comments, expected) in [
        // Plies: odd for the side that mates, even for the other.
        (["+M5/9 1s", "-M4/9 1s", "+M3/9 1s"], ["3", "2", "2"]),
        (["-M4/9 1s", "+M3/9 1s", "-M2/9 1s"], ["-2", "-2", "-1"]),
        (["+0.10/9 1s", "+M7/9 1s", "-M6/9 1s"], ["", "-4", "-3"]),
        (["M5", "-M4", "M3"], ["3", "2", "2"]),
        (["+M5 17/28 583", "-M4 17/28 583", "+M3 17/28 583"], ["3", "2", "2"]),
        (["d=4, wv=M5,", "d=4, wv=M4,", "d=4, wv=M3,"], ["3", "2", "2"]),
        (["+M1/9 1s", "-M0/9 1s", "0.00/1"], ["1", "0", ""]),
        // Moves: the same numbers by both sides, or numbers of the other parity.
        (["+M3/9 1s", "-M2/9 1s", "+M2/9 1s"], ["3", "2", "2"]),
        (["+M4/9 1s", "+0.10/9 1s", "0.00/9 1s"], ["4", "", ""]),
        (["-M3/9 1s", "+M3/9 1s", "-M2/9 1s"], ["-3", "-3", "-2"]),
        (["+M2/9 1s", "-M1/9 1s", "+M1/9 1s"], ["2", "1", "1"]),
    ] {
        let [a, b, c] = comments;
        let text = format!("[Event \"x\"]\n\n1. e4 {{{a}}} e5 {{{b}}} 2. Nf3 {{{c}}} *\n");
        let path = dir.file("x.pgn", text);
        assert_eq!(columns(0, "mate", &path)[..3], expected, "{comments:?}");
    }
    // Commands are moves, and do not say anything about the comments.
    let text = "[Event \"x\"]\n\n1. e4 {[%eval #3]} e5 {[%eval #-4]} 2. Nf3 {+M5/9 1s} Nc6 {-M4/9 1s} *\n\n\
                [Event \"y\"]\n\n1. e4 {+M2/9 1s} e5 {-M1/9 1s} *\n";
    let path = dir.file("x.pgn", text);
    let mates = columns(0, "mate", &path);
    assert_eq!(mates, ["", "3", "-4", "2", "", "2", "1", ""].map(str::to_owned), "{mates:?}");
    // The whole game tells, whichever positions are taken.
    let some = output(0, &["compute", "--columns", "ply,mate", "--plies", "0", &path]);
    assert_eq!(some, "ply,mate\n0,\n0,2\n");
}

#[test]
fn ratings_are_whole_or_missing() {
    let path = file("23-elo-oddities.pgn");
    let rows = columns(0, "ply,white_elo,black_elo,mean_elo", &path);
    let ratings: Vec<&str> = rows.iter().filter_map(|row| row.strip_prefix("0,")).collect();
    let expected = [
        "2400,,",
        ",1500,",
        ",1500,",
        "1500,1500,1500",
        "2400,2000,2200",
        ",1500,",
        ",1500,",
        "2400,2300,2350",
        "2400,,",
        ",2300,",
        ",,",
        ",,",
    ];
    assert_eq!(ratings, expected);
    let notes = stderr_of(0, &["compute", "--columns", "white_elo,black_elo", &path]);
    assert!(notes.contains("2 values that `white_elo` cannot hold were left out, first `FIDE 2400` at "), "{notes}");
    assert!(notes.contains("2 values that `black_elo` cannot hold were left out, first `2300.5` at "), "{notes}");
    let notes = stderr_of(0, &["compute", "--columns", "fen", &path]);
    assert_eq!(notes, "");
    // Also in tables.
    let dir = Dir::new();
    let table = dir.file("x.csv", format!("fen,white_elo,black_elo\n{FEN},0,2300\n{FEN},2400,2300\n"));
    assert_eq!(columns(0, "white_elo,black_elo,mean_elo", &table), [",2300,", "2400,2300,2350"]);
}

#[test]
fn time_controls_are_understood_once() {
    let path = file("24-time-controls.pgn");
    let rows = output(0, &["compute", "--columns", "speed", "--plies", "0", &path]);
    let speeds: Vec<&str> = rows.lines().skip(1).collect();
    let expected = [
        "",
        "correspondence",
        "correspondence",
        "correspondence",
        "",
        "rapid",
        "blitz",
        "",
        "",
        "bullet",
        "classical",
        "classical",
        "classical",
        "",
        "rapid",
        "",
        "classical",
        "blitz",
        "",
        "",
        "ultrabullet",
        "classical",
        "",
        "blitz",
        "blitz",
        "classical",
        "correspondence",
        "rapid",
        "bullet",
    ];
    assert_eq!(speeds, expected);
    let notes = stderr_of(0, &["compute", "--columns", "speed", &path]);
    let note = "8 values of `time_control` were not understood (they have no speed), first `1 in 5 days` at ";
    assert!(notes.contains(note), "{notes}");
    let notes = stderr_of(0, &["compute", "--time-control", "bullet", &path]);
    assert!(notes.contains(", 9 games for a time control that is unknown or cannot be read"), "{notes}");
    // Other forms of the same time control.
    for control in ["300+3", "300 + 3", "5:00+0:03"] {
        let rows = output(0, &["games", "--columns", "time_control", "--time-control", control, &path]);
        assert_eq!(rows, "time_control\n300 + 3\n300|3\n", "{control}");
    }
}

#[test]
fn months_are_those_that_since_and_until_see() {
    let path = file("25-dates.pgn");
    let rows = output(0, &["compute", "--columns", "month", "--plies", "0", &path]);
    let months: Vec<&str> = rows.lines().skip(1).collect();
    let april = "2023.04";
    assert_eq!(months, ["2025.05", "2018.03", "2023", april, april, april, april, "", "", april, ""]);
    let notes = stderr_of(0, &["compute", "--columns", "month", &path]);
    let note = "3 values of `date` were not understood (they have no month), first `22 Apr 2023` at ";
    assert!(notes.contains(note), "{notes}");
    let rows = output(
        0,
        &["compute", "--columns", "month", "--plies", "0", "--since", "2023-04-01", "--until", "2023-04-30", &path],
    );
    let taken: Vec<&str> = rows.lines().skip(1).collect();
    assert_eq!(taken, ["2023", april, april, april, april, april]);
}

/// Boards files store texts as they are, so those that are not understood are counted when they are read.
#[test]
fn texts_in_boards_that_are_not_understood_are_counted() {
    let dir = Dir::new();
    let game = |date: &str, control: &str| {
        format!("[Date \"{date}\"]\n[TimeControl \"{control}\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n")
    };
    let games = [
        game("2024.05.01", "300+3"),
        game("5/3/2025", "1 in 5 days"),
        game("????.??.??", "-"),
        game("2024.13.01", "60"),
    ];
    let pgn = dir.file("a.pgn", games.concat());
    let boards = dir.name("a.boards");
    stderr_of(0, &["convert", &pgn, "-o", &boards]);
    let notes = |arguments: &[&str]| stderr_of(0, &[&["compute", "-o", "-"], arguments, &[boards.as_str()]].concat());
    let dates = "lanefish: 8 values of `date` were not understood (they have no month), first `5/3/2025` at ";
    let controls =
        "lanefish: 4 values of `time_control` were not understood (they have no speed), first `1 in 5 days` at ";
    for (columns, expected) in
        [("month", vec![dates]), ("speed", vec![controls]), ("fen", vec![]), ("month,speed", vec![controls, dates])]
    {
        let notes = notes(&["--columns", columns]);
        let found: Vec<&str> = notes.lines().filter(|line| line.contains("not understood")).collect();
        assert_eq!(found.len(), expected.len(), "{columns}: {notes}");
        for (line, start) in found.iter().zip(&expected) {
            assert!(line.starts_with(start), "{columns}: {notes}");
        }
    }
    // Only those of the requested records.
    let notes = notes(&["--columns", "month", "--skip", "5", "--limit", "2"]);
    assert!(notes.starts_with("lanefish: 2 values of `date` "), "{notes}");
}

/// The game in a reject's place counts those of the inputs before, stored or not, whatever columns are asked for.
#[test]
fn rejects_behind_stored_games_name_the_same_game_for_all_columns() {
    let dir = Dir::new();
    let good = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n";
    let pgn = dir.file("a.pgn", good.repeat(3));
    let bad = dir.file("b.pgn", format!("{good}[Result \"1-0\"]\n\n1. e4 e5 2. Ke3 1-0\n\n"));
    for (name, to) in [("a.boards", "boards"), ("a.csv", "csv"), ("a.jsonl", "jsonl")] {
        let stored = dir.name(name);
        match to {
            "boards" => drop(output(0, &["convert", "-q", &pgn, "-o", &stored])),
            _ => drop(output(0, &["compute", "-q", "--columns", "game,fen", &pgn, "-o", &stored])),
        }
        for columns in ["fen", "game,fen", "month", "legal_moves"] {
            let rejected = stderr_of(1, &["compute", "--columns", columns, &stored, &bad, "-o", "-"]);
            assert!(rejected.contains("game 4, ply 2"), "{to}, {columns}: {rejected}");
        }
    }
}
