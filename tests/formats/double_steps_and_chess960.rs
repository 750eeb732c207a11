//! What a packed board does not say, and the columns `key` and `move` depend on: the last double step, and whether a game
//! is one of Chess960. The same on every road.

use crate::support::{Random, shared_data};
use assert_cmd::Command;
use lanefish::chess::{Move, MoveKind, Position, Role, Square};
use std::path::{Path, PathBuf};

fn lanefish(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("lanefish").unwrap();
    let done = command.args(arguments).assert().code(0);
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

fn file(name: &str) -> PathBuf {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pgn_files");
    files.join(name)
}

/// A table of records has what they carry, and nothing that is computed.
#[cfg(feature = "parquet")]
#[test]
fn tables_hold_no_keys() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("x.parquet");
    let to = to.to_str().unwrap();
    lanefish(&["convert", file("key-pinned-ep.pgn").to_str().unwrap(), "-o", to]);
    let info = lanefish(&["info", "--json", to]);
    assert!(info.contains("\"key_en_passant:"), "{info}");
    assert!(!info.contains("\"key:"), "{info}");
}

/// The records of a file, and of what it is converted to.
fn on_all_roads(input: &Path, columns: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let input = input.to_str().unwrap();
    let expected = lanefish(&["compute", "--columns", columns, input]);
    let mut last = input.to_owned();
    // One from the other, so that what any of them loses is lost in the end.
    for name in ["x.boards", "x.parquet", "x.arrow", "y.boards.zst"] {
        if cfg!(not(feature = "parquet")) && !name.contains("boards") {
            continue;
        }
        let to = directory.path().join(name);
        let to = to.to_str().unwrap();
        lanefish(&["convert", &last, "-o", to]);
        for threads in ["1", "4"] {
            let found = lanefish(&["compute", "--columns", columns, to, "--threads", threads]);
            assert_eq!(found, expected, "{name}");
        }
        last = to.to_owned();
    }
    expected
}

const BEFORE: &str = "7k/5p2/8/3KP1q1/8/8/8/8 b - - 0 1";
const AFTER: &str = "7k/8/8/3KPpq1/8/8/8/8 w - f6 0 2";

/// The square counts where a pawn stands beside the one that made the double step; here it is pinned.
#[test]
fn a_double_step_beside_a_pinned_pawn_counts_in_the_key() {
    let mut position = Position::from_fen_unvalidated(BEFORE).unwrap();
    let first = position.polyglot_key();
    let last = Move::from_uci("f7f5", &position).unwrap();
    position.make(last);
    let without = position.polyglot_key();
    let key = position.polyglot_key_after(last);
    assert_ne!(key, without);

    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    // Polyglot's rule for a position that keeps the square.
    let fen = write("x.fen", format!("{AFTER}\n"));
    let arguments = ["compute", "--columns", "key", fen.to_str().unwrap()];
    let kept = lanefish(&[&arguments[..], &["--keep-en-passant"]].concat());
    assert_eq!(kept, format!("key\n{key:#018x}\n"));

    let shown = "fen,key\n7k/8/8/3KPpq1/8/8/8/8 w - - 0 2,";
    for (name, text) in [
        ("a.fen", AFTER.to_owned()),
        ("b.epd", "7k/8/8/3KPpq1/8/8/8/8 w - f6 hmvc 0; fmvn 2;".to_owned()),
        ("c.csv", format!("1,{BEFORE},f7f5 e5e6,1,1,1,1,a,b,c")),
        ("d.pgn", format!("[SetUp \"1\"]\n[FEN \"{AFTER}\"]\n\n*")),
        ("e.txt", format!("epd {AFTER}\nperft 1 7")),
    ] {
        let path = write(name, text + "\n");
        let found = on_all_roads(&path, "fen,key");
        assert_eq!(found, format!("{shown}{key:#018x}\n"), "{name}");
    }
    let evals = "{\"fen\":\"7k/8/8/3KPpq1/8/8/8/8 w - f6\",\"evals\":[]}\n".to_owned();
    let found = on_all_roads(&write("f.jsonl", evals), "key");
    assert_eq!(found, format!("key\n{key:#018x}\n"));

    let game = file("key-pinned-ep.pgn");
    let both = format!("key\n{first:#018x}\n{key:#018x}\n");
    assert_eq!(on_all_roads(&game, "key"), both);
    // Also as a move that only the slower reader takes, and without the position before it.
    for moves in ["1... Pf5", "1... f7-f5", "1... f7f5"] {
        let game = format!("[SetUp \"1\"]\n[FEN \"{BEFORE}\"]\n\n{moves} *\n");
        let path = write("g.pgn", game);
        assert_eq!(on_all_roads(&path, "key"), both, "{moves}");
        let skip = ["compute", "--columns", "key", "--plies", "1", path.to_str().unwrap()];
        assert_eq!(lanefish(&skip), format!("key\n{key:#018x}\n"), "{moves}");
    }
    // No pawn beside, or none at all: the square never counts.
    for fen in ["7k/8/8/3K1pq1/4P3/8/8/8 w - f6 0 2", "7k/8/8/3K1pq1/8/8/8/8 w - f6 0 2"] {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let path = write("h.fen", format!("{fen}\n"));
        let expected = format!("key\n{:#018x}\n", position.polyglot_key());
        assert_eq!(on_all_roads(&path, "key"), expected);
    }
}

/// Games of random moves from positions in which such squares are not rare.
#[test]
fn keys_of_random_games_follow_from_the_moves() {
    let mut random = Random::new(17);
    let (mut text, mut expected, mut idle) = (String::new(), "key\n".to_owned(), 0);
    for game in 0..3000 {
        let start = [
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "8/1p1p1p2/8/K1P1P1Pr/R1p1p1pk/8/1P1P1P2/8 w - - 0 1",
            "8/1p1p1p2/8/K1P1P1Pr/R1p1p1pk/8/1P1P1P2/8 b - - 0 1",
        ][game % 3];
        text += &format!("[SetUp \"1\"]\n[FEN \"{start}\"]\n\n");
        let mut position = Position::from_fen_unvalidated(start).unwrap();
        expected += &format!("{:#018x}\n", position.polyglot_key());
        for _ in 0..20 {
            let moves = position.legal_moves();
            let Some(&mv) = moves.get(random.below(moves.len().max(1) as u64) as usize) else {
                break;
            };
            // In UCI and in SAN, which are read by different functions.
            text += &match game % 2 {
                0 => format!("{} ", mv.uci(&position)),
                _ => format!("{} ", mv.san(&position)),
            };
            position.make(mv);
            // Polyglot's rule, for a square that is always kept.
            let mut kept = position.clone();
            let [from, to] = [mv.from, mv.to].map(|square| square.index());
            let is_pawn = position.role_at(mv.to) == Some(Role::Pawn);
            if is_pawn && mv.kind == MoveKind::Normal && from.abs_diff(to) == 16 {
                kept.en_passant = Square::try_new(((from + to) / 2) as u8);
            }
            let key = kept.polyglot_key();
            assert_eq!(position.polyglot_key_after(mv), key);
            idle += usize::from(key != position.polyglot_key());
            expected += &format!("{key:#018x}\n");
        }
        text += "*\n\n";
    }
    assert!(idle > 100, "{idle}");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pgn");
    std::fs::write(&path, text).unwrap();
    assert!(on_all_roads(&path, "key") == expected);
}

/// Real games, move by move with the plain rules.
#[test]
fn keys_of_real_games_follow_from_the_moves() {
    let Some(path) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let columns = "game,ply,fen,move,key";
    let lines = lanefish(&["compute", "--columns", columns, path.to_str().unwrap()]);
    let mut before: Option<(String, Position, Move)> = None;
    for line in lines.lines().skip(1) {
        let values: Vec<&str> = line.split(',').collect();
        let &[game, _, fen, mv, key] = &values[..] else {
            panic!("{line}");
        };
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let mut expected = position.polyglot_key();
        if let Some((same, mut last, mv)) = before
            && same == game
        {
            last.make(mv);
            assert_eq!(last, position, "{line}");
            expected = last.polyglot_key_after(mv);
        }
        assert_eq!(key, format!("{expected:#018x}"), "{line}");
        before = Move::from_uci(mv, &position).ok().map(|mv| (game.to_owned(), position, mv));
    }
}

/// In a game of Chess960, castling is king takes rook, whatever the position is.
#[test]
fn moves_of_chess960_games() {
    let castling = |path: &Path| -> Vec<String> {
        let moves = on_all_roads(path, "game,move,san");
        let castling = moves.lines().filter(|line| line.ends_with(",O-O"));
        castling.map(str::to_owned).collect()
    };
    assert_eq!(
        castling(&file("chess960-castling-uci.pgn")),
        ["0,e1h1,O-O", "0,e8h8,O-O", "1,f1h1,O-O", "1,f8h8,O-O", "2,e1h1,O-O", "2,e8h8,O-O"]
    );
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pgn");
    let moves = "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O O-O *\n\n";
    let text = format!("{moves}[Variant \"Fischerandom\"]\n\n{moves}[Variant \"Standard\"]\n\n{moves}");
    std::fs::write(&path, text).unwrap();
    assert_eq!(castling(&path), ["0,e1g1,O-O", "0,e8g8,O-O", "1,e1h1,O-O", "1,e8h8,O-O", "2,e1g1,O-O", "2,e8g8,O-O"]);
}
