//! `features:planes:112:stm`: the position and the seven before it, against planes made one by one from the games.

use super::{Dir, output, sample, stderr_of};
use lanefish::chess::{Color, Position, Role, Square};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

const COLUMNS: &str = "game,ply,fen,features:planes:112:stm";

/// A record: its game, its position, and its planes.
struct Row {
    game: u64,
    ply: u64,
    position: Position,
    planes: Vec<u64>,
}

fn rows(arguments: &[&str]) -> Vec<Row> {
    let text = output(0, &[&["-q", "compute", "--columns", COLUMNS, "--format", "jsonl"], arguments].concat());
    let set = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal digits");
    let parse = |line: &str| {
        let row: BTreeMap<String, Value> = serde_json::from_str(line).expect("JSON");
        let planes = row["features:planes:112:stm"].as_array().expect("a list");
        Row {
            game: row["game"].as_u64().unwrap_or_default(),
            ply: row["ply"].as_u64().unwrap_or_default(),
            position: Position::from_fen_unvalidated(row["fen"].as_str().expect("a text")).expect("a position"),
            planes: planes.iter().map(|plane| set(plane.as_str().expect("a set"))).collect(),
        }
    };
    text.lines().map(parse).collect()
}

/// What decides whether a position occurred before, and its halfmove clock.
fn key(position: &Position) -> (String, u32) {
    let fen = position.to_string();
    let mut parts = fen.split(' ');
    let key: Vec<&str> = parts.by_ref().take(4).collect();
    (key.join(" "), parts.next().unwrap().parse().unwrap())
}

/// The planes of the last of these positions of a game, in order.
fn twin(way: &[&Position]) -> Vec<u64> {
    let (now, _) = way.split_last().expect("a position");
    let us = now.side_to_move;
    let turn = |square: Square| if us == Color::Black { square.index() ^ 56 } else { square.index() };
    let all = |is_set: bool| if is_set { u64::MAX } else { 0 };
    let mut planes = Vec::new();
    for back in 0..8 {
        let Some(at) = way.len().checked_sub(back + 1) else {
            planes.extend([0; 13]);
            continue;
        };
        for color in [us, !us] {
            for role in Role::ALL {
                let squares = Square::all().filter(|&square| {
                    way[at].piece_at(square).is_some_and(|piece| (piece.color, piece.role) == (color, role))
                });
                planes.push(squares.fold(0, |set, square| set | 1 << turn(square)));
            }
        }
        planes.push(all(way[..at].iter().any(|before| key(before).0 == key(way[at]).0)));
    }
    let fen = now.to_string();
    let rights = fen.split(' ').nth(2).unwrap();
    let letters = if us == Color::White { ['Q', 'K', 'q', 'k'] } else { ['q', 'k', 'Q', 'K'] };
    planes.extend(letters.map(|letter| all(rights.contains(letter))));
    planes.extend([all(us == Color::Black), key(now).1.into(), 0, u64::MAX]);
    planes
}

/// Compares the rows, whose records follow one another in their games.
fn check(rows: &[Row]) {
    let mut way: Vec<&Position> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let continues = at > 0 && rows[at - 1].game == row.game && rows[at - 1].ply < row.ply;
        if !continues {
            way.clear();
        }
        way.push(&row.position);
        assert_eq!(row.planes, twin(&way), "row {at}, ply {}: {}", row.ply, row.position);
    }
}

/// A game in which positions occur again.
const SHUFFLES: &str = "[Event \"x\"]\n[Result \"*\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4 e5 6. Ke2 Ke7 \
    7. Ke1 Ke8 8. Nf3 Nc6 9. Ng1 Nb8 10. Nf3 *\n\n";

fn games(dir: &Dir) -> String {
    let mut text = fs::read_to_string(sample("lichess-2025-05.pgn")).unwrap();
    text.insert_str(0, SHUFFLES);
    text.push('\n');
    text.push_str(SHUFFLES);
    dir.file("games.pgn", text);
    dir.name("games.pgn")
}

#[test]
fn planes_are_those_of_the_games() {
    let dir = Dir::new();
    let pgn = games(&dir);
    let all = rows(&[&pgn]);
    assert!(all.iter().any(|row| row.planes[12] != 0 && row.planes[13 + 12] != 0), "repetitions");
    assert!(all.iter().any(|row| row.planes[104] == u64::MAX && row.planes[107] == 0), "rights");
    check(&all);
    // The same from every format with games or chains, in pieces of any size, on any number of threads.
    let lines = |arguments: &[&str]| {
        let columns = ["-q", "compute", "--columns", "features:planes:112:stm,stm", "--format", "csv"];
        output(0, &[&columns, arguments].concat())
    };
    let expected = lines(&[&pgn]);
    for name in ["games.boards", "games.viri", "games.parquet", "games.binpack"] {
        let path = dir.name(name);
        output(0, &["-q", "convert", &pgn, "-o", &path, "--allow-loss", "--set", "score = coalesce(score, 0)"]);
        if ["games.viri", "games.binpack"].contains(&name) {
            // Last positions have no move, and clocks and squares of en passant may be lost.
            check(&rows(&[&path]));
            continue;
        }
        for more in [&["--threads", "1"][..], &["--threads", "8"]] {
            assert_eq!(lines(&[more, &[&path]].concat()), expected, "{name}, {more:?}");
        }
    }
    for tier in ["portable", "avx2"] {
        assert_eq!(lines(&["--tier", tier, &pgn]), expected);
    }
    // A choice among the records does not change their history.
    for choice in [&["--where", "ply > 4 and ply % 3 = 0"][..], &["--skip", "100"], &["--sample", "50"]] {
        for path in [&pgn, &dir.name("games.boards")] {
            let chosen = lines(&[choice, &[path]].concat());
            let mut rest = expected.lines();
            assert!(chosen.lines().count() > 20);
            // The lines are among those of all, in order.
            chosen.lines().for_each(|line| assert!(rest.any(|other| other == line), "{choice:?}, {path}"));
        }
    }
}

/// Ways that go on in the next chunk, and in another shard.
#[test]
fn histories_go_on_in_the_next_chunk() {
    let dir = Dir::new();
    let text = fs::read_to_string(games(&dir)).unwrap();
    let (pgn, boards) = (dir.file("many.pgn", text.repeat(100)), dir.name("many.boards"));
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    let lines = |arguments: &[&str]| {
        let columns =
            ["-q", "compute", "--columns", "features:planes:112:stm", "--where", "ply % 9 = 8", "--format", "csv"];
        let text = output(0, &[&columns, arguments].concat());
        // Without the header, for shards.
        text.split_once('\n').expect("a header").1.to_owned()
    };
    let expected = lines(&[&pgn]);
    for threads in ["1", "4"] {
        assert!(lines(&["--threads", threads, &boards]) == expected, "{threads} threads");
    }
    let shards: String = ["0/3", "1/3", "2/3"].map(|shard| lines(&["--shard", shard, &boards])).concat();
    assert!(shards == expected, "shards");
}

#[test]
fn variations_have_the_history_of_their_line() {
    let dir = Dir::new();
    let text = "[Event \"x\"]\n\n1. e4 e5 2. Nf3 (2. Nc3 Nf6 (2... Nc6 3. Nb1 Nb8)) 2... Nc6 *\n";
    dir.file("v.pgn", text);
    let all = rows(&["--variations", &dir.name("v.pgn")]);
    // The way of each row, by the rows in the order of the text.
    let ways: [&[usize]; 11] = [
        &[0],
        &[0, 1],
        &[0, 1, 2],
        &[0, 1, 2, 3],
        &[0, 1, 2, 4],
        &[0, 1, 2, 4, 5],
        &[0, 1, 2, 4, 6],
        &[0, 1, 2, 4, 6, 7],
        &[0, 1, 2, 4, 6, 7, 8],
        &[0, 1, 2, 3, 9],
        &[],
    ];
    assert_eq!(all.len(), 10);
    for (row, way) in all.iter().zip(ways) {
        let way: Vec<&Position> = way.iter().map(|&at| &all[at].position).collect();
        assert_eq!(row.planes, twin(&way), "{}", row.position);
    }
}

#[test]
fn records_without_a_game_have_no_history() {
    for row in rows(&[&sample("famous.epd")]) {
        assert_eq!(row.planes, twin(&[&row.position]), "{}", row.position);
    }
    let error = stderr_of(2, &["compute", &sample("famous.epd"), "--columns", "features:planes:112:white"]);
    assert!(error.contains("as the side to move sees it: features:planes:112:stm"), "{error}");
}
