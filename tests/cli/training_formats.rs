//! Training data: the same entries in every format, read alike, written to the byte, and refused where a format cannot
//! hold them.

use super::{Dir, lanefish, output, stderr_of};
use crate::support::shared_data;
use std::fs;

/// The name of a format, the end of the name of its file, and whether its records have moves and plies.
const FORMATS: [(&str, &str, bool, bool); 6] = [
    ("plain", ".plain", true, true),
    ("binpack", ".binpack", true, true),
    ("sfen", ".sfen.bin", true, true),
    ("viri", ".vf", true, false),
    ("marlin", ".marlin.data", false, false),
    ("text", ".txt", false, false),
];

fn stdout(arguments: &[&str]) -> String {
    output(0, &[&["-q"], arguments].concat())
}

fn file(stem: &str, end: &str) -> Option<String> {
    let path = shared_data(&format!("nnue/{stem}{end}"))?;
    Some(path.to_str().unwrap().to_owned())
}

#[test]
fn the_same_entries_are_read_alike_from_every_format() {
    for stem in ["example", "slice_a"] {
        let Some(plain) = file(stem, ".plain") else { return };
        for (format, end, has_moves, has_plies) in FORMATS {
            let path = file(stem, end).unwrap();
            let columns = match (has_moves, has_plies) {
                (true, true) => "fen,raw_score,result,move,ply,key",
                (true, false) => "fen,raw_score,result,move,key",
                _ => "fen,raw_score,result,key",
            };
            let rows = |path: &str| stdout(&["compute", path, "--columns", columns]);
            assert_eq!(rows(&path), rows(&plain), "{format} of {stem}");
            let info = stdout(&["info", &path]);
            assert!(info.contains(&format!("format: {format}\n")), "{info}");
        }
    }
}

#[test]
fn every_format_is_written_to_the_byte() {
    let dir = Dir::new();
    for stem in ["example", "slice_a"] {
        for (from, end, has_moves, has_plies) in FORMATS {
            let Some(source) = file(stem, end) else { return };
            for (to, end, needs_moves, needs_plies) in FORMATS {
                // Plies of other formats follow from the number of the move.
                let is_exact =
                    (has_moves || !needs_moves) && (has_plies || !needs_plies || (stem, to) == ("slice_a", "binpack"));
                if matches!(to, "marlin" | "sfen") || !is_exact {
                    continue;
                }
                let written = dir.name(&format!("{from}.{to}"));
                output(0, &["-q", "convert", &source, "-o", &written, "--to", to, "--force"]);
                let expected = fs::read(file(stem, end).unwrap()).unwrap();
                assert!(fs::read(&written).unwrap() == expected, "{from} to {to} of {stem}");
            }
        }
    }
}

#[test]
fn the_large_file_comes_back() {
    let Some(path) = file("small", ".binpack") else { return };
    let dir = Dir::new();
    let stats = stdout(&["stats", "--json", &path]);
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["positions"], 434_921);
    assert_eq!(stats["rejected"], 0);
    assert_eq!(stats["stm"]["white"], 218_429);
    let again = dir.name("again.binpack");
    output(0, &["-q", "convert", &path, "-o", &again]);
    assert!(fs::read(&again).unwrap() == fs::read(&path).unwrap());
    // By way of boards and games, and in parts of any size.
    let boards = dir.name("x.boards");
    output(0, &["-q", "convert", &path, "-o", &boards, "--threads", "3"]);
    output(0, &["-q", "convert", &boards, "-o", &again, "--force"]);
    assert!(fs::read(&again).unwrap() == fs::read(&path).unwrap());
    let viri = dir.name("x.viri.zst");
    output(0, &["-q", "convert", &path, "-o", &viri]);
    let rows = |path: &str| stdout(&["compute", path, "--columns", "fen,raw_score,result,move"]);
    assert!(rows(&viri) == rows(&path));
}

#[test]
fn scores_of_any_size_survive_every_road() {
    let dir = Dir::new();
    let mut lines = String::new();
    for score in [0, 1, -1, 31_000, 31_001, 31_950, -31_950, 32_000, 32_002, -32_002, 32_767, -32_767, -32_768] {
        lines += &format!("8/8/8/4k3/8/4K3/8/8 w - - 3 40 | {score} | 1.0\n");
        lines += &format!("8/8/8/4k3/8/4K3/8/8 b - - 3 40 | {} | 0.0\n", -i32::max(score, -32_767));
    }
    let text = dir.file("x.text", &lines);
    for road in ["boards", "parquet", "arrow", "csv"] {
        if !cfg!(feature = "parquet") && matches!(road, "parquet" | "arrow") {
            continue;
        }
        let between = dir.name(&format!("x.{road}"));
        match road {
            "csv" => output(0, &["-q", "compute", &text, "--columns", "fen,raw_score,result", "-o", &between]),
            _ => output(0, &["-q", "convert", &text, "-o", &between]),
        };
        let back = dir.name(&format!("{road}.text"));
        output(0, &["-q", "convert", &between, "-o", &back]);
        assert_eq!(fs::read_to_string(&back).unwrap(), lines, "{road}");
    }
    let scores = stdout(&["compute", &text, "--columns", "score", "--where", "raw_score >= 31950"]);
    assert_eq!(scores.lines().filter(|line| line.is_empty()).count(), 2, "only the sentinel is none: {scores}");
}

#[test]
fn what_would_be_changed_needs_a_flag() {
    let dir = Dir::new();
    let fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9 | 5 | 1.0\n";
    let text = dir.file("x.text", format!("8/8/8/4k3/8/4K3/8/8 w - - 3 40 | 7 | 0.5\n{fen}{fen}"));
    let out = dir.name("x.binpack");
    for more in [&["-o", &out][..], &["-o", "-", "--to", "binpack"]] {
        let refused = lanefish(&[&["convert", &text], more].concat()).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(stderr.contains("castling rights of Chess960, which are removed (2 records, the first is record 1)"));
        assert!(stderr.contains("--allow-loss"), "{stderr}");
        assert!(refused.stdout.is_empty());
        assert!(!dir.path("x.binpack").exists());
    }
    output(0, &["convert", &text, "-o", &out, "--allow-loss"]);
    let rows = stdout(&["compute", &out, "--columns", "fen,raw_score,result,move"]);
    assert_eq!(
        rows.lines().skip(1).collect::<Vec<_>>(),
        [
            "8/8/8/4k3/8/4K3/8/8 w - - 3 40,7,1/2-1/2,",
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w - - 2 9,5,1-0,",
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w - - 2 9,5,1-0,",
        ]
    );
    // What has no move is no part of a game.
    let viri = dir.name("x.viri");
    let stderr = stderr_of(1, &["convert", &text, "-o", &viri]);
    assert!(stderr.contains("cannot hold a record without a move"), "{stderr}");
}

#[test]
fn games_become_chains() {
    let dir = Dir::new();
    let pgn = dir.file(
        "x.pgn",
        "[Result \"1-0\"]\n\n1. e4 { [%eval 0.2] } e5 { [%eval 0.3] } 2. Ke2 { [%eval -0.5] } Ke7 { [%eval 0.1] } 1-0\n\n\
         [Result \"1/2-1/2\"]\n\n1. d4 { [%eval 0.1] } 1/2-1/2\n",
    );
    let viri = dir.name("x.viri");
    let stderr = stderr_of(2, &["convert", &pgn, "-o", &viri]);
    assert!(stderr.contains("records without a score, stored with the score 0 (2 records"), "{stderr}");
    let stderr = stderr_of(0, &["convert", &pgn, "-o", &viri, "--allow-loss"]);
    assert!(stderr.contains("last positions of games, which follow from the moves before (2 records)"), "{stderr}");
    let games = stdout(&["games", &viri]);
    let columns = |line: &str| line.rsplit(',').take(5).map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<_> = games.lines().skip(1).map(columns).collect();
    assert_eq!(rows.len(), 2, "{games}");
    assert_eq!(rows[0][1], "rnbq1bnr/ppppkppp/8/4p3/4P3/8/PPPPKPPP/RNBQ1BNR w - - 2 3");
    assert_eq!((&*rows[0][3], &*rows[0][4]), ("4", "1-0"));
    let rows = |path: &str| {
        stdout(&["compute", path, "--columns", "fen,raw_score,result,move,game", "--where", "move is not null"])
    };
    assert_eq!(rows(&viri).replace(",0,1-0,e2e4", ",,1-0,e2e4").replace(",0,1/2-1/2", ",,1/2-1/2"), rows(&pgn));
}
