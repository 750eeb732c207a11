//! Training data: the same entries in every format, read alike, written to the byte, and refused where a format cannot
//! hold them.

use super::{Dir, lanefish, output, stderr_of};
use crate::formats::encoders;
use crate::support::shared_data;
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::chess::{Color, Move, Position};
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
                // Records of one length have a test of their own.
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
fn records_of_one_length_are_written_to_the_byte() {
    let dir = Dir::new();
    for stem in ["example", "slice_a"] {
        for (from, end, _, has_plies) in FORMATS {
            let Some(source) = file(stem, end) else { return };
            for (to, end) in [("marlin", ".marlin.data"), ("bullet", ".bullet.data"), ("sfen", ".sfen.bin")] {
                if to == "sfen" && !has_plies {
                    continue;
                }
                let expected = fs::read(file(stem, end).unwrap()).unwrap();
                let written = dir.name(&format!("{from}.{to}"));
                output(0, &["-q", "convert", &source, "-o", &written, "--to", to, "--force"]);
                assert!(fs::read(&written).unwrap() == expected, "{from} to {to} of {stem}");
                let boards = dir.name("x.boards");
                output(0, &["-q", "convert", &source, "-o", &boards, "--force"]);
                output(0, &["-q", "convert", &boards, "-o", &written, "--to", to, "--force", "--threads", "3"]);
                assert!(fs::read(&written).unwrap() == expected, "{from} to {to} of {stem}, by way of boards");
            }
        }
    }
}

/// Positions of random play, and some that it hardly reaches, with a legal move.
fn positions() -> Vec<(Position, Option<Move>, u16)> {
    let mut positions = Vec::new();
    for start in [Start::Standard, Start::Chess960] {
        positions
            .extend(RandomPlay::new(12, start).take(4000).map(|played| (played.position, played.next, played.ply)));
    }
    for (fen, moves) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", &["e2e4", "g1f3"][..]),
        ("4k3/P6p/8/8/1p6/8/2P5/4K3 w - - 0 50", &["a7a8q", "a7a8r", "a7a8b", "a7a8n", "c2c4"]),
        ("1n2k3/P7/8/8/8/8/6p1/4K2R b K - 127 65535", &["g2h1q", "g2h1n", "g2g1r", "g2g1b", "e8e7"]),
        ("r3k2r/8/8/8/3pP3/8/8/R3K2R b KQkq e3 0 7", &["d4e3", "e8g8", "e8c8", "a8b8"]),
        ("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 8", &["e5d6", "e1g1", "e1c1", "h1h8"]),
        // Pinned pawns: these squares count in the Polyglot key only.
        ("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1", &["a4b4"]),
        ("4k3/8/8/K2Pp2r/8/8/8/8 w - e6 0 0", &["a5b5"]),
        ("8/8/8/4k3/8/4K3/8/8 w - - 99 0", &["e3d3"]),
    ] {
        for mv in moves {
            let position = Position::from_fen_unvalidated(fen).unwrap();
            let mv = Move::from_uci(mv, &position).unwrap();
            positions.push((position, Some(mv), positions.len() as u16));
        }
    }
    positions
}

/// Scores from one end to the other.
fn score(number: usize) -> i16 {
    let extremes = [i16::MIN, -32_767, -32_001, -32_000, -31_950, 31_950, 32_000, 32_001, 32_002, i16::MAX, 0];
    extremes.get(number % 40).copied().unwrap_or((number * 37 % 6000) as i16 - 3000)
}

#[test]
fn records_come_back_by_way_of_boards() {
    let dir = Dir::new();
    let positions = positions();
    let (mut marlin, mut bullet, mut sfen) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (position, mv, ply)) in positions.iter().enumerate() {
        let (fen, result) = (position.to_string(), (number % 3) as u8);
        // A sentinel keeps its sign where scores are those of White.
        marlin.extend(encoders::marlin(&fen, if number % 40 == 8 { -32_002 } else { score(number) }, result));
        bullet.extend(encoders::bullet(&fen, score(number), result));
        if !position.castles_as_standard() {
            continue;
        }
        // No number is the opposite of the lowest one.
        let lowest = if position.side_to_move == Color::Black { i16::MIN + 1 } else { i16::MIN };
        let mv = mv.filter(|_| number % 5 != 0);
        let code = mv.map_or(0, |mv| Move { from: mv.to, to: mv.from, kind: mv.kind }.to_bits());
        sfen.extend(encoders::sfen(&fen, score(number).max(lowest), code, *ply, result as i8 - 1));
    }
    for (format, bytes) in [("marlin", marlin), ("bullet", bullet), ("sfen", sfen)] {
        let first = dir.file(&format!("x.{format}"), &bytes);
        let (boards, again) = (dir.name(&format!("{format}.boards")), dir.name(&format!("again.{format}")));
        output(0, &["-q", "convert", &first, "-o", &boards]);
        for threads in ["1", "4"] {
            let arguments = ["-q", "convert", &boards, "-o", &again, "--force"];
            output(0, &[&arguments[..], &["--threads", threads]].concat());
            let found = fs::read(&again).unwrap();
            let len = if format == "sfen" { 40 } else { 32 };
            assert_eq!(found.len(), bytes.len(), "{format}");
            for (number, (found, expected)) in found.chunks(len).zip(bytes.chunks(len)).enumerate() {
                assert_eq!(found, expected, "{format} {number}");
            }
        }
    }
}

#[test]
fn records_say_what_they_do_not_keep() {
    let dir = Dir::new();
    let fens =
        "r3k2r/8/8/8/3pP3/8/8/R3K2R b KQkq e3 0 1\n8/8/8/4k3/8/4K3/8/8 w - - 0 1\n8/8/8/4k3/8/4K3/8/8 b - - 3 1\n";
    let lines: String = fens.lines().map(|fen| format!("{fen} | 5 | 1.0\n")).collect();
    let text = dir.file("x.text", &lines);
    let bullet = dir.name("x.bullet");
    let stderr = stderr_of(0, &["convert", &text, "-o", &bullet]);
    for lacking in ["side to move (2", "castling rights (1", "en passant squares (1", "clocks (1"] {
        assert!(stderr.contains(lacking), "{lacking}: {stderr}");
    }
    // Whole positions lack nothing.
    for to in ["x.marlin", "x.sfen"] {
        let stderr = stderr_of(0, &["convert", &text, "-o", &dir.name(to)]);
        assert!(!stderr.contains("no place"), "{stderr}");
    }
    let fen = dir.file("x.fen", fens);
    let long = dir.file("long.text", "8/8/8/4k3/8/4K3/8/8 w - - 300 400 | 5 | 1.0\n");
    let lowest = dir.file("lowest.text", "8/8/8/4k3/8/4K3/8/8 b - - 3 40 | -32768 | 1.0\n");
    let chess960 = dir.file("960.plain", CHESS960);
    let score = "records without a score, stored with the score 0 (3 records, the first is record 0)";
    let long_at =
        |most: u16| format!("halfmove clocks above {most}, stored as {most} (1 record, the first is record 0)");
    let saturated = "scores of -32,768 with Black to move, stored as 32,767 (1 record";
    for (from, to, what) in [
        (&fen, "marlin", score.to_owned()),
        (&fen, "bullet", score.to_owned()),
        (&fen, "sfen", "records without a result, stored as draws (3 records".to_owned()),
        (&long, "marlin", long_at(255)),
        (&long, "sfen", long_at(127)),
        (&lowest, "bullet", saturated.to_owned()),
        (&lowest, "sfen", saturated.to_owned()),
        (&chess960, "sfen", "castling rights of Chess960, which are removed (2 records".to_owned()),
        (&chess960, "sfen", "castling moves of Chess960, which are left out (1 record".to_owned()),
    ] {
        let output_name = dir.name(&format!("lost.{to}"));
        let from_format = if from.ends_with(".fen") { &["--from", "fen"][..] } else { &[] };
        let arguments = [&["convert", from, "-o", &output_name], from_format].concat();
        fs::remove_file(dir.path(&format!("lost.{to}"))).ok();
        let stderr = stderr_of(2, &arguments);
        assert!(stderr.contains(&what) && stderr.contains("--allow-loss"), "{to}: {stderr}");
        output(0, &[&arguments[..], &["-q", "--allow-loss"]].concat());
    }
    let rows = |name: &str| stdout(&["compute", &dir.name(name), "--columns", "fen,raw_score,move,ply"]);
    assert_eq!(
        rows("lost.sfen").lines().skip(1).collect::<Vec<_>>(),
        ["r3k1r1/8/8/8/8/8/8/R3K1R1 w - - 2 9,5,,16", "r3k1r1/8/8/8/8/8/8/R3K1R1 w - - 2 9,5,a1b1,16",]
    );
}

/// A castling move and another one.
const CHESS960: &str = "fen r3k1r1/8/8/8/8/8/8/R3K1R1 w GAga - 2 9\nmove e1a1\nscore 5\nply 16\nresult 1\ne\n\
    fen r3k1r1/8/8/8/8/8/8/R3K1R1 w GAga - 2 9\nmove a1b1\nscore 5\nply 16\nresult 1\ne\n";

#[test]
fn what_no_record_can_hold_is_rejected() {
    let dir = Dir::new();
    let full = "rnbqkbnr/pppppppp/pppppppp/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1";
    let kingless = "8/8/8/8/8/4K3/8/8 w - - 0 1";
    let kings = "8/8/8/4k3/8/3KK3/8/8 w - - 0 1";
    let good = "8/8/8/4k3/8/4K3/8/8 w - - 0 1";
    let lines: String = [full, kingless, kings, good].iter().map(|fen| format!("{fen} | 5 | 1.0\n")).collect();
    let text = dir.file("x.text", &lines);
    for (to, len) in [("marlin", 32), ("bullet", 32), ("sfen", 40)] {
        let written = dir.name(&format!("x.{to}"));
        let stderr = stderr_of(1, &["convert", &text, "-o", &written]);
        for reason in ["3 of 4 records rejected", "more than 32 pieces", "not exactly one king per side"] {
            assert!(stderr.contains(reason), "{to}: {stderr}");
        }
        assert_eq!(fs::read(&written).unwrap().len(), len);
    }
    // Readers of records of one length take moves as they are.
    let mut record = encoders::sfen("8/8/8/4k3/8/4K3/8/8 w - - 3 40", 5, 0, 78, 1);
    record[34..36].copy_from_slice(&(60u16 | 20 << 6).to_le_bytes());
    let illegal = dir.file("illegal.sfen", record);
    let stderr = stderr_of(1, &["convert", &illegal, "--from", "sfen", "-o", &dir.name("y.sfen")]);
    assert!(stderr.contains("the move of the record is not legal"), "{stderr}");
    output(0, &["-q", "convert", &illegal, "--from", "sfen", "-o", &dir.name("y.marlin")]);
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
    // A record without a move belongs to no game.
    let viri = dir.name("x.viri");
    let stderr = stderr_of(2, &["convert", &text, "-o", &viri]);
    assert!(stderr.contains("text has no `move`, without which the output cannot hold a record"), "{stderr}");
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

/// Castling in a game of Chess960 with the rights of standard chess is marked in records; no format of training data has the
/// mark.
#[test]
fn castling_of_marked_games_is_a_move_like_any_other() {
    let dir = Dir::new();
    let pgn = dir.file(
        "x.pgn",
        "[Variant \"Chess960\"]\n[FEN \"4k2r/8/8/8/8/8/8/4K2R w Kk - 0 1\"]\n[Result \"1-0\"]\n\n\
         1. O-O { [%eval 0.2] } Kd8 { [%eval 0.3] } 1-0\n",
    );
    for format in ["viri", "binpack", "sfen", "plain"] {
        let written = dir.name(&format!("x.{format}"));
        output(0, &["-q", "convert", &pgn, "-o", &written, "--allow-loss", "--where", "move is not null"]);
        let moves = stdout(&["compute", &written, "--columns", "move,san"]);
        assert_eq!(moves, "move,san\ne1g1,O-O\ne8d8,Kd8\n", "{format}");
    }
}

/// What many short chains cost is said, and nothing of a short game.
#[test]
fn short_chains_are_told_only_of_several() {
    let dir = Dir::new();
    let first =
        "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nmove e2e4\nscore 5\nply 0\nresult 0\ne\n";
    for (count, is_told) in [(1, false), (2, true)] {
        let plain = dir.file("x.plain", first.repeat(count));
        for to in ["x.viri", "x.binpack"] {
            let stderr = stderr_of(0, &["convert", &plain, "-o", &dir.name(to), "--force"]);
            assert_eq!(stderr.contains("2 records are stored in 2 chains"), is_told, "{stderr}");
            assert_eq!(stderr.contains("chain"), is_told, "{stderr}");
        }
    }
}

/// Records that go on with the one before in everything but their clock, result or ply begin chains of their own.
#[test]
fn chains_are_cut_where_something_does_not_follow() {
    let dir = Dir::new();
    let entry = |fen: &str, mv: &str, ply: u16, result: i8| {
        format!("fen {fen}\nmove {mv}\nscore 7\nply {ply}\nresult {result}\ne\n")
    };
    let first = entry("4k3/8/8/8/8/8/8/R3K3 w Q - 4 21", "a1a2", 40, 1);
    let goes_on = entry("4k3/8/8/8/8/8/R7/4K3 b - - 5 21", "e8d8", 41, -1);
    let other_clock = goes_on.replace("- 5 21", "- 6 21");
    let other_result = goes_on.replace("result -1", "result 0");
    let other_ply = goes_on.replace("- 5 21", "- 5 22").replace("ply 41", "ply 43");
    for (second, chains) in [(&goes_on, 1), (&other_clock, 2), (&other_result, 2), (&other_ply, 2)] {
        let plain = dir.file("x.plain", format!("{first}{second}"));
        let binpack = dir.name("x.binpack");
        output(0, &["-q", "convert", &plain, "-o", &binpack, "--force"]);
        let back = stdout(&["convert", &binpack, "--to", "plain"]);
        assert_eq!(back, format!("{first}{second}"));
        let len = fs::metadata(&binpack).unwrap().len();
        assert_eq!(len > 8 + 34 * 2 - 1, chains == 2, "{second}: {len} bytes");
        // Games have no ply, but the number of the move.
        let viri = dir.name("x.viri");
        output(0, &["-q", "convert", &plain, "-o", &viri, "--force"]);
        assert_eq!(stdout(&["games", &viri, "--format", "csv"]).lines().count(), 1 + chains, "{second}");
        let rows = |path: &str| stdout(&["compute", path, "--columns", "fen,raw_score,result,move"]);
        assert_eq!(rows(&viri), rows(&plain));
    }
}

/// A chunk of more than 4 MiB is decoded in segments: it has the same records as chunks of the usual length.
#[test]
fn long_chunks_of_binpack_are_read_like_short_ones() {
    let Some(small) = shared_data("nnue/small.binpack") else { return };
    let usual = fs::read(small).unwrap();
    // It is one chunk.
    let content = &usual[8..];
    let times = 5;
    let mut long = b"BINP".to_vec();
    long.extend_from_slice(&((times * content.len()) as u32).to_le_bytes());
    long.extend(content.repeat(times));
    let outputs = ["1", "3"].map(|threads| {
        [long.clone(), usual.repeat(times)].map(|bytes| {
            let dir = Dir::new();
            let (path, out) = (dir.file("x.binpack", bytes), dir.name("y.bullet"));
            let common = ["-q", "--threads", threads];
            lanefish(&[&common[..], &["convert", &path, "-o", &out, "--allow-loss"]].concat()).assert().code(0);
            // Statistics of a way of scores, and of the last records.
            let columns = ["compute", "--columns", "score_before,ply,key", "--skip", "2000000", &path];
            (fs::read(out).unwrap(), output(0, &[&common[..], &columns].concat()))
        })
    });
    let [first, others @ ..] = outputs.as_flattened() else { unreachable!() };
    assert!(others.iter().all(|other| other == first));
    // One that is cut off is found.
    let dir = Dir::new();
    long.truncate(long.len() - 1000);
    let path = dir.file("x.binpack", &long);
    let message = stderr_of(2, &["-q", "stats", &path]);
    assert!(message.contains("the last chunk is truncated"), "{message}");
}

/// A position without a move is left out of chains without being a reject only where it follows from the move of the
/// record before it, which is written.
#[test]
fn last_positions_follow_only_from_records_that_are_written() {
    let dir = Dir::new();
    let games: String = (0..700)
        .map(|game| {
            let moves = ["1. e4 e5 2. Nf3 Nc6", "1. d4", "1. c4 c5 2. g3", "1. e4 c5 2. Nf3 d6 3. d4 cxd4"][game % 4];
            format!("[White \"{game}\"]\n[Result \"1-0\"]\n\n{moves} 1-0\n\n")
        })
        .collect();
    let pgn = dir.file("games.pgn", games);
    let boards = dir.name("games.boards");
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    let plies: usize = (0..700).map(|game| [4, 1, 3, 6][game % 4]).sum();
    let rejected = |input: &str, choice: &[&str], set: &[&str]| {
        let (out, rejects) = (dir.name("out.vf"), dir.name("rejects"));
        let mut done =
            lanefish(&["-q", "convert", "--allow-loss", "--force", input, "-o", &out, "--rejects", &rejects]);
        let status = done.args(choice).args(set).output().unwrap().status.code();
        let text = fs::read_to_string(&rejects).unwrap_or_default();
        assert!(text.lines().all(|line| line.contains("no_move")), "{text}");
        assert_eq!(status, Some(if text.is_empty() { 0 } else { 1 }), "{choice:?}");
        let written = fs::metadata(&out).unwrap().len();
        (text.lines().count(), written > 0)
    };
    for input in [&pgn, &boards] {
        for set in [&[][..], &["--set", "score = coalesce(score, 0)"]] {
            // All, all with a move, only those without one, those without one and others than the ones before them.
            assert_eq!(rejected(input, &[], set), (0, true), "{input}");
            assert_eq!(rejected(input, &["--where", "move is not null"], set), (0, true));
            assert_eq!(rejected(input, &["--where", "move is null"], set), (700, false));
            assert_eq!(rejected(input, &["--where", "move is null or ply = 0"], set), (525, true));
            assert_eq!(rejected(input, &["--where", "move is null or (ply = 0 and game % 4 <> 1)"], set), (700, true));
            assert_eq!(rejected(input, &["--last"], set), (700, false));
            assert_eq!(rejected(input, &["--skip", "4", "--limit", "1"], set), (1, false));
            assert_eq!(rejected(input, &["--skip", "3", "--limit", "2"], set), (0, true));
        }
        // Neither `dedup` nor a sample refuses what `convert` takes.
        let out = dir.name("dedup.vf");
        for set in [&[][..], &["--set", "score = coalesce(score, 0)"]] {
            for counts in [false, true] {
                let mut done =
                    lanefish(&["-q", "dedup", "--allow-loss", "--force", "--key", "record", input, "-o", &out]);
                let done = done.args(set).args(counts.then_some("--counts")).output().unwrap();
                assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
            }
        }
        let said = stderr_of(0, &["dedup", "--allow-loss", "--force", input, "-o", &out]);
        assert!(said.contains("without a move") || said.contains("last positions"), "{said}");
        let shuffled = dir.name("shuffled.vf");
        let said = stderr_of(0, &["shuffle", "--allow-loss", "--force", input, "-o", &shuffled]);
        assert!(said.contains("positions without a move, apart from the moves that led to them"), "{said}");
        assert_eq!(output(0, &["-q", "compute", "--columns", "fen", &shuffled]).lines().count(), plies + 1);
        let games = stderr_of(0, &["shuffle", "--allow-loss", "--force", "--by", "game", input, "-o", &shuffled]);
        assert!(!games.contains("apart from"), "{games}");
    }
}

#[test]
fn what_bulletformat_lacks_is_said_wherever_reading_ends() {
    let dir = Dir::new();
    let fen = dir
        .file("a.fen", (1..=9).map(|n| format!("4k3/8/8/8/8/8/{}/4K2R w K - 0 {n}\n", "P1P1P1P1")).collect::<String>());
    let bullet = dir.name("a.bullet");
    output(0, &["-q", "convert", &fen, "--set", "score = 12", "--set", "result = '1-0'", "-o", &bullet]);
    for more in [&[][..], &["--limit", "3"], &["--skip", "2", "--limit", "1"], &["--sample", "2"], &["--shard", "1/2"]]
    {
        let said = stderr_of(0, &[&["stats", &bullet], more].concat());
        assert_eq!(said.matches("no side to move").count(), 1, "{more:?}: {said}");
        let out = dir.name("out.txt");
        let said = stderr_of(0, &[&["convert", "--force", "--to", "text", &bullet, "-o", &out], more].concat());
        assert_eq!(said.matches("no side to move").count(), 1, "{more:?}: {said}");
    }
}

/// Mates and tablebase results of Stockfish are named, and are not among the scores; other formats have numbers only.
#[test]
fn scores_that_are_codes_are_counted_by_their_meaning() {
    let dir = Dir::new();
    let scores = [
        -32_000, -31_754, 31_753, -31_507, 31_506, 26_624, 26_624, -26_624, 26_623, 26_625, 32_002, 31_339, 31_338,
        100, -300, 0,
    ];
    let mut plain = String::new();
    let mut from_white = Vec::new();
    for (&score, played) in scores.iter().zip(RandomPlay::new(11, Start::Standard)) {
        let is_black = played.position.side_to_move == Color::Black;
        from_white.push(if is_black { -score } else { score });
        let uci = played.next.expect("a game is longer").uci(&played.position);
        let (position, ply) = (played.position, played.ply);
        plain += &format!("fen {position}\nmove {uci}\nscore {score}\nply {ply}\nresult 0\ne\n");
    }
    let plain = dir.file("a.plain", plain);
    let expected = |ranges: &[(&str, std::ops::RangeInclusive<i32>)]| {
        let code = |score: i32| {
            let found = ranges.iter().find(|(_, range)| range.contains(&score.abs()) && score.abs() != 32_002);
            found.map(|(name, _)| *name)
        };
        let mut codes = serde_json::Map::new();
        for (name, _) in ranges {
            let count = |sign: i32| {
                let these = from_white.iter().filter(|&&score| code(score) == Some(name) && score.signum() == sign);
                these.count()
            };
            if (count(1), count(-1)) != (0, 0) {
                codes.insert((*name).to_owned(), serde_json::json!({ "white": count(1), "black": count(-1) }));
            }
        }
        let rest: Vec<i32> =
            from_white.iter().copied().filter(|&score| code(score).is_none() && score.abs() != 32_002).collect();
        (codes, rest.len() as u64, f64::from(rest.iter().sum::<i32>()) / rest.len() as f64)
    };
    let stockfish = [("mate", 31_754..=32_000), ("tablebase", 31_507..=31_753), ("certain", 26_624..=26_624)];
    for (file, to, ranges) in [
        ("a.plain", "", &stockfish[..]),
        ("a.binpack", "binpack", &stockfish),
        ("a.sfen.bin", "sfen", &stockfish),
        ("a.vf", "viri", &[("decided", 31_339..=i32::MAX)]),
        ("a.marlin.data", "marlin", &[]),
        ("a.boards", "boards", &[]),
    ] {
        let path = dir.name(file);
        if !to.is_empty() {
            output(0, &["-q", "convert", &plain, "-o", &path, "--to", to]);
        }
        let (codes, count, mean) = expected(ranges);
        for more in [&["--details"][..], &["--by", "result"], &["--threads", "2"], &["--sample", "1000"]] {
            let stats = super::json(0, &[&["stats", "--json", &path], more].concat());
            let found = stats.get("score_codes").and_then(|codes| codes.as_object()).cloned().unwrap_or_default();
            assert_eq!(found, codes, "{file} {more:?}");
            assert_eq!(stats["score"]["count"], count, "{file} {more:?}");
            let found = stats["score"]["mean"].as_f64().expect("a mean");
            assert!((found - mean).abs() < 1e-6, "{file} {more:?}: {found} {mean}");
        }
        // Shards and what is read back agree.
        let parts: Vec<String> = (0..2)
            .map(|part| {
                let part = stdout(&["stats", "--json", &path, "--shard", &format!("{part}/2")]);
                dir.file(&format!("{}.json", part.len()), part)
            })
            .collect();
        let merged = super::json(
            0,
            &[&["stats", "--json", "--merge"], &parts.iter().map(|part| &**part).collect::<Vec<_>>()[..]].concat(),
        );
        let found = merged.get("score_codes").and_then(|codes| codes.as_object()).cloned().unwrap_or_default();
        assert_eq!((found, merged["score"]["count"].clone()), (codes, count.into()), "{file}");
    }
    let screen = stdout(&["stats", &plain]);
    for title in ["score means mate for", "score means tablebase win for", "score means certain win for"] {
        assert!(screen.contains(title), "{screen}");
    }
}
