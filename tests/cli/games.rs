//! `games`, and the options that select games.

use super::{Dir, complaint, json, output};

const GAMES: &str = "[Event \"Club, \\\"blitz\\\"\"]\n[White \"A\"]\n[Black \"B\"]\n[WhiteElo \"1500\"]\n\
    [BlackElo \"1400\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n\
    [Event \"?\"]\n[TimeControl \"60+0\"]\n\n1. e4 e5 2. Ke3 *\n";

#[test]
fn one_row_a_game_as_csv() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    let text = output(1, &["games", &file]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "game,event,site,date,time,round,white,black,white_elo,black_elo,eco,opening,time_control,\
             termination,variant,result,plies,end,fen,error",
            "0,\"Club, \"\"blitz\"\"\",,,,,A,B,1500,1400,,,,,,0-1,4,checkmate,\
             rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3,",
            "1,?,,,,,,,,,,,60+0,,,,2,,rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2,\
             illegal move `Ke3`",
        ]
    );
}

#[test]
fn one_object_a_game_as_jsonl() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    let row = json(1, &["games", "--format", "jsonl", "--limit", "1", &file]);
    assert_eq!(row["tags"]["Event"], "Club, \"blitz\"");
    assert_eq!(
        (&row["end"], &row["plies"]),
        (&"checkmate".into(), &4.into())
    );
    let row = json(1, &["games", "--format", "jsonl", "--skip", "1", &file]);
    assert_eq!(row["game"], 1);
}

#[test]
fn selections_say_what_they_leave_out() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    let selection = ["--min-elo", "1400", "--plies", "1..2", "--min-plies", "1"];
    let said = complaint(0, &[&["stats", "--json", &file], &selection[..]].concat());
    assert!(
        said.contains("--min-elo left out 1 game and 3 positions"),
        "{said}"
    );
    assert!(
        said.contains("--plies left out 0 games and 3 positions"),
        "{said}"
    );
    assert!(
        said.contains("--min-plies left out 0 games and 0 positions"),
        "{said}"
    );
    let text = output(
        0,
        &[
            "compute",
            "--columns",
            "ply,move",
            "--result",
            "0-1",
            "--last",
            &file,
        ],
    );
    assert_eq!(text, "ply,move\n4,\n");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    for (option, value) in [
        ("--plies", "9..3"),
        ("--plies", "x"),
        ("--every", "0"),
        ("--eco", "Z99"),
        ("--since", "May"),
        ("--time-control", "lightning"),
        ("--result", "2-0"),
    ] {
        let said = complaint(2, &["stats", option, value, &file]);
        assert!(said.contains(option), "{said}");
    }
}
