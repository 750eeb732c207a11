//! `tree` against a plain twin, which has nothing but the rows of `compute`.

use super::{Dir, json, lanefish, output, sample, stderr_of};
use crate::support::shared_data;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn files() -> Vec<String> {
    let mut files = vec![sample("lichess-2025-05.pgn")];
    files.extend(shared_data("pgn/lichess_db_1000k.pgn").map(|file| file.to_str().unwrap().to_owned()));
    files
}

#[derive(Default)]
struct Counts {
    ply: u32,
    games: u64,
    results: [u64; 3],
    elos: Vec<f64>,
    /// Rating of the opponent, and points of the mover.
    opponents: Vec<(f64, f64)>,
    dates: BTreeSet<String>,
}

/// The rows of the tree of the first plies, in order.
fn expected(file: &str, plies: u32, more: &[&str]) -> Vec<String> {
    let columns = "game,ply,key,fen,move,san,result,white_elo,black_elo,date";
    let arguments = [&["-q", "compute", "--format", "jsonl", "--columns", columns, file][..], more].concat();
    let rows = output(0, &arguments);
    let mut seen = BTreeSet::new();
    let mut all: BTreeMap<(String, String), BTreeMap<(String, String), Counts>> = BTreeMap::new();
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let text = |name: &str| row[name].as_str().map(str::to_owned);
        let ply = row["ply"].as_u64().unwrap() as u32;
        let Some(mv) = text("move").filter(|_| ply < plies) else { continue };
        let fen = text("fen").unwrap();
        let words: Vec<&str> = fen.split(' ').collect();
        let fen = format!("{} 0 1", words[..4].join(" "));
        let position = (text("key").unwrap(), fen);
        if !seen.insert((row["game"].as_u64(), position.clone())) {
            continue;
        }
        let is_white = words[1] == "w";
        let counts = all.entry(position).or_default().entry((mv, text("san").unwrap())).or_default();
        counts.ply = if counts.games == 0 { ply } else { counts.ply.min(ply) };
        counts.games += 1;
        let result =
            text("result").and_then(|result| ["1-0", "1/2-1/2", "0-1"].iter().position(|&name| name == result));
        if let Some(result) = result {
            counts.results[result] += 1;
        }
        let elo = |name: &str| row[name].as_f64();
        let (own, other) = if is_white { ("white_elo", "black_elo") } else { ("black_elo", "white_elo") };
        counts.elos.extend(elo(own));
        if let (Some(result), Some(other)) = (result, elo(other)) {
            let points = 1.0 - result as f64 / 2.0;
            counts.opponents.push((other, if is_white { points } else { 1.0 - points }));
        }
        counts.dates.extend(text("date").filter(|date| !date.contains('?')));
    }
    let mut lines = Vec::new();
    for ((key, fen), moves) in all {
        let mut moves: Vec<_> = moves.into_iter().collect();
        moves.sort_by_key(|((mv, _), counts)| (u64::MAX - counts.games, mv.clone()));
        for ((mv, san), counts) in moves {
            let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
            let elo =
                if counts.elos.is_empty() { String::new() } else { (mean(&counts.elos) + 0.5).floor().to_string() };
            let ratings: Vec<f64> = counts.opponents.iter().map(|&(elo, _)| elo).collect();
            let share = mean(&counts.opponents.iter().map(|&(_, points)| points).collect::<Vec<_>>());
            let term = (400.0 * (share / (1.0 - share)).log10()).clamp(-800.0, 800.0);
            let performance =
                if ratings.is_empty() { String::new() } else { (mean(&ratings) + term).round().to_string() };
            let [white, draws, black] = counts.results;
            let [first, last] =
                [counts.dates.first(), counts.dates.last()].map(|date| date.cloned().unwrap_or_default());
            let Counts { ply, games, .. } = counts;
            lines.push(format!(
                "{key},{fen},{ply},{mv},{san},{games},{white},{draws},{black},{elo},{performance},{first},{last}"
            ));
        }
    }
    lines
}

/// The names of the columns.
const HEAD: &str = "key,fen,ply,move,san,games,white,draws,black,mean_elo,performance,first_date,last_date";

/// The rows of a tree as CSV.
fn rows(dir: &Dir, arguments: &[&str]) -> Vec<String> {
    let out = dir.name("tree.csv");
    output(0, &[&["-q", "tree", "-o", &out, "--force"][..], arguments].concat());
    let text = fs::read_to_string(out).unwrap();
    let mut lines = text.lines().map(str::to_owned);
    assert_eq!(lines.next().as_deref(), Some(HEAD));
    lines.collect()
}

#[test]
fn rows_are_those_of_the_plain_twin() {
    let dir = Dir::new();
    for file in files() {
        for (plies, more) in [
            ("30", &[][..]),
            ("1", &[]),
            ("1000", &["--min-elo", "1500"]),
            ("60", &["--where", "ply % 2 = 0 and pieces < 30"]),
            ("50", &["--every", "2"]),
            ("40", &["--having", "move_castles"]),
        ] {
            let expected = expected(&file, plies.parse().unwrap(), more);
            let own = [&[&*file, "--plies", plies][..], more].concat();
            assert_eq!(rows(&dir, &own), expected, "{file} {more:?}");
            for threads in ["2", "8"] {
                assert!(rows(&dir, &[&own[..], &["--threads", threads, "--memory", "16M"]].concat()) == expected);
            }
        }
    }
}

#[test]
fn every_format_has_the_same_tree() {
    let dir = Dir::new();
    let pgn = files().pop().unwrap();
    let expected = rows(&dir, &[&pgn, "--plies", "100"]);
    let boards = dir.name("a.boards");
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    assert!(rows(&dir, &[&boards, "--plies", "100"]) == expected);
    if cfg!(feature = "parquet") {
        let parquet = dir.name("a.parquet");
        output(0, &["-q", "convert", &pgn, "-o", &parquet]);
        assert!(rows(&dir, &[&parquet, "--plies", "100"]) == expected);
        // A table has the same rows.
        let tree = dir.name("tree.parquet");
        output(0, &["-q", "tree", &pgn, "--plies", "100", "-o", &tree]);
        let found = output(0, &["-q", "compute", "--columns", "fen", "--format", "csv", &tree]);
        let fens: Vec<&str> = expected.iter().map(|row| row.split(',').nth(1).unwrap()).collect();
        assert!(found.lines().skip(1).eq(fens));
    }
    let jsonl = dir.name("tree.jsonl");
    output(0, &["-q", "tree", &pgn, "--plies", "100", "-o", &jsonl]);
    let text = fs::read_to_string(jsonl).unwrap();
    assert_eq!(text.lines().count(), expected.len());
    for (line, row) in text.lines().zip(&expected) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let names = HEAD.split(',');
        let values: Vec<String> = names
            .map(|name| match &line[name] {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.clone(),
                number => number.to_string(),
            })
            .collect();
        assert_eq!(values.join(","), *row);
    }
}

/// A view has the rows of its positions, and those after its moves.
#[test]
fn views_are_parts_of_the_tree() {
    let dir = Dir::new();
    for file in files() {
        let all = rows(&dir, &[&file, "--plies", "10000"]);
        let of = |fen: &str| -> Vec<Vec<&str>> {
            all.iter().map(|row| row.split(',').collect::<Vec<_>>()).filter(|row| row[1] == fen).collect()
        };
        fn check(object: &serde_json::Value, rows: &[Vec<&str>]) {
            let moves = object["moves"].as_array().unwrap();
            assert_eq!(moves.len(), rows.len());
            for (played, row) in moves.iter().zip(rows) {
                assert_eq!([&played["move"], &played["san"]], [row[3], row[4]]);
                let numbers =
                    ["games", "white", "draws", "black", "mean_elo", "performance"].map(|name| match &played[name] {
                        serde_json::Value::Null => String::new(),
                        number => number.to_string(),
                    });
                assert_eq!(numbers[..], row[5..11]);
            }
        }
        let view = json(0, &["-q", "tree", "--json", "--depth", "3", &file]);
        check(&view, &of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
        let e4 = view["moves"].as_array().unwrap().iter().find(|played| played["san"] == "e4").unwrap();
        let after = of("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        check(e4, &after);
        let own = json(0, &["-q", "tree", "--json", "--moves", "1. e4", &file]);
        check(&own, &after);
        let third = &e4["moves"][0]["moves"];
        let reply = e4["moves"][0]["san"].as_str().unwrap();
        assert_eq!(*third, json(0, &["-q", "tree", "--json", "--moves", &format!("e4 {reply}"), &file])["moves"]);
        let top = json(0, &["-q", "tree", "--json", "--top", "2", &file]);
        assert_eq!(top["moves"].as_array().unwrap()[..], view_without_depth(&view)[..2]);
        // One position in a file.
        let one = rows(&dir, &[&file, "--moves", "e4"]);
        assert_eq!(one, after.iter().map(|row| row.join(",")).collect::<Vec<_>>());
    }
}

fn view_without_depth(view: &serde_json::Value) -> Vec<serde_json::Value> {
    let mut moves = view["moves"].as_array().unwrap().clone();
    for played in &mut moves {
        played.as_object_mut().unwrap().remove("moves");
    }
    moves
}

#[test]
fn books_have_the_weights_of_the_tree() {
    let dir = Dir::new();
    let file = files().pop().unwrap();
    let book = dir.name("book.bin");
    output(0, &["-q", "tree", &file, "--plies", "24", "-o", &book]);
    let mut expected: BTreeMap<u64, Vec<(u16, String)>> = BTreeMap::new();
    let mut without = 0;
    for row in rows(&dir, &[&file, "--plies", "24"]) {
        let row: Vec<&str> = row.split(',').collect();
        let number = |place: usize| row[place].parse::<u16>().unwrap();
        let wins = if row[1].contains(" w ") { number(6) } else { number(8) };
        let key = u64::from_str_radix(&row[0][2..], 16).unwrap();
        match 2 * wins + number(7) {
            0 => without += 1,
            weight => expected.entry(key).or_default().push((weight, row[3].to_owned())),
        }
    }
    let bytes = fs::read(&book).unwrap();
    let mut found: BTreeMap<u64, Vec<u16>> = BTreeMap::new();
    let mut last = (0, 0);
    for entry in bytes.chunks_exact(16) {
        let key = u64::from_be_bytes(entry[..8].try_into().unwrap());
        let [code, weight] = [8, 10].map(|at| u16::from_be_bytes(entry[at..at + 2].try_into().unwrap()));
        let order = (u64::from(u16::MAX - weight)) << 16 | u64::from(code);
        assert!(last < (key, order));
        last = (key, order);
        assert_eq!(entry[12..], [0; 4]);
        found.entry(key).or_default().push(weight);
    }
    assert_eq!(bytes.len() % 16, 0);
    for weights in expected.values_mut() {
        weights.sort_by_key(|&(weight, _)| u16::MAX - weight);
    }
    let weights: BTreeMap<u64, Vec<u16>> =
        expected.iter().map(|(&key, moves)| (key, moves.iter().map(|&(weight, _)| weight).collect())).collect();
    assert_eq!(found, weights);
    // It is read back.
    let view = json(0, &["tree", "--json", "--book", &book]);
    let own = &expected[&0x463B_9618_1691_FC9C];
    assert_eq!(view["moves"].as_array().unwrap().len(), own.len());
    assert_eq!(view["moves"][0]["weight"], own[0].0);
    assert_eq!(json(0, &["info", "--json", &book])["format"], "polyglot");
    let verified = json(0, &["verify", "--json", &book]);
    assert_eq!((&verified["ok"], &verified["entries"]), (&true.into(), &(bytes.len() / 16).into()));
    assert!(verified["checked"].as_u64().unwrap() >= own.len() as u64);
    // Other commands do not take it for training data.
    for command in [&["stats"][..], &["compute"], &["convert", "-o", &dir.name("x.boards")], &["tree"]] {
        let stderr = stderr_of(2, &[command, &[&book]].concat());
        assert!(stderr.contains("Polyglot opening book") && stderr.contains("tree --book"), "{stderr}");
    }
    // Two entries are exchanged.
    let mut wrong = bytes.clone();
    wrong.rotate_left(16 * (bytes.len() / 32));
    let damaged = dir.file("damaged.bin", wrong);
    assert!(json(1, &["verify", "--json", &damaged])["errors"].as_u64().unwrap() > 0);
    let done =
        lanefish(&["tree", &file, "--plies", "24", "-o", &book, "--force"]).assert().success().get_output().clone();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert!(stderr.replace(',', "").contains(&format!("{without} moves without weight left out")), "{stderr}");
}

#[test]
fn what_cannot_be_in_a_tree_is_said() {
    let dir = Dir::new();
    let fen = dir.file("x.fen", "8/8/8/8/8/8/6k1/4K2R w K - 0 1\n");
    assert!(stderr_of(2, &["tree", &fen]).contains("has no games"));
    let chess960 = dir.file(
        "960.pgn",
        "[Variant \"Chess960\"]\n[FEN \"bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1\"]\n\n1. e4 e5 1-0\n\n[Event \"x\"]\n\n1. d4 1-0\n",
    );
    let book = dir.name("book.bin");
    let stderr = stderr_of(2, &["tree", &chess960, "-o", &book]);
    assert!(stderr.contains("--variant standard") && !fs::exists(&book).unwrap(), "{stderr}");
    output(0, &["-q", "tree", &chess960, "--variant", "standard", "-o", &book]);
    assert_eq!(fs::read(&book).unwrap().len(), 16);
    // Nor by way of parts, whose rows do not all tell.
    let [part, out] = ["0.tree", "merged.bin"].map(|name| dir.name(name));
    output(0, &["-q", "tree", &chess960, "-o", &part]);
    let stderr = stderr_of(2, &["tree", "--merge", &part, "-o", &out]);
    assert!(stderr.contains("--variant standard") && !fs::exists(&out).unwrap(), "{stderr}");
    output(0, &["-q", "tree", &chess960, "--variant", "standard", "-o", &part, "--force"]);
    output(0, &["-q", "tree", "--merge", &part, "-o", &out]);
    assert!(fs::read(&out).unwrap() == fs::read(&book).unwrap());
    // A choice of games would have no effect.
    for options in [&["--book", &book][..], &["--merge", &part, "-o", &out, "--force"]] {
        let stderr = stderr_of(2, &[&["tree", "--min-elo", "2000"][..], options].concat());
        assert!(
            stderr.contains(&format!("does not take --min-elo: it reads no records with {}", options[0])),
            "{stderr}"
        );
    }
    assert_eq!(rows(&dir, &[&chess960]).len(), 3);
    let pgn = sample("lichess-2025-05.pgn");
    assert!(stderr_of(2, &["tree", &pgn, "--plies", "3..5"]).contains("a number"));
    assert!(stderr_of(2, &["tree", &pgn, "--moves", "e5"]).contains("e5"));
    assert!(stderr_of(2, &["tree", &pgn, "--depth", "2", "-o", &dir.name("x.csv")]).contains("--depth"));
    let boards = dir.name("a.boards");
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    let scattered = dir.name("b.boards");
    output(0, &["-q", "shuffle", &boards, "-o", &scattered]);
    assert!(stderr_of(2, &["tree", &scattered]).contains("shuffle --by game"));
}

/// Knights that go out and back: the position comes again, and the game counts once, with its first move there.
#[test]
fn a_game_counts_once_for_a_position() {
    let dir = Dir::new();
    let pgn = dir.file("x.pgn", "1. Nf3 Nf6 2. Ng1 Ng8 3. e4 Nf6 1-0\n\n1. e4 Nf6 1/2-1/2\n");
    let start = json(0, &["-q", "tree", "--json", &pgn]);
    let games: Vec<(&str, u64)> = start["moves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|played| (played["san"].as_str().unwrap(), played["games"].as_u64().unwrap()))
        .collect();
    assert_eq!(games, [("e4", 1), ("Nf3", 1)]);
    // The first chosen move counts.
    let late = json(0, &["-q", "tree", "--json", "--where", "ply > 2", &pgn]);
    assert_eq!(late["moves"][0]["san"], "e4");
    let text = output(0, &["-q", "tree", &pgn]);
    assert!(
        text.contains("e4") && text.contains("100 / 0 / 0 %") && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

/// The parts of all shards are what one run makes, to the byte.
#[test]
fn parts_of_shards_make_the_whole() {
    let dir = Dir::new();
    let pgn = files().pop().unwrap();
    let boards = dir.name("a.boards");
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    for file in [&pgn, &boards] {
        for more in [&["--plies", "30"][..], &["--plies", "60", "--where", "pieces < 30"], &["--min-elo", "1600"]] {
            let parts: Vec<String> = (0..3)
                .map(|share| {
                    let part = dir.name(&format!("{share}.tree"));
                    let shard = format!("{share}/3");
                    let own = ["-q", "tree", file, "--shard", &shard, "-o", &part, "--force", "--memory", "16M"];
                    output(0, &[&own[..], more].concat());
                    part
                })
                .collect();
            for name in ["tree.csv", "book.bin"] {
                let [merged, whole] = ["merged", "whole"].map(|which| dir.name(&format!("{which}-{name}")));
                let names: Vec<&str> = parts.iter().rev().map(String::as_str).collect();
                let least = ["--min-games", "2"];
                output(0, &[&["-q", "tree", "-o", &merged, "--force", "--merge"][..], &names, &least].concat());
                output(0, &[&["-q", "tree", file, "-o", &whole, "--force"][..], more, &least].concat());
                assert!(fs::read(&merged).unwrap() == fs::read(&whole).unwrap(), "{file} {more:?} {name}");
            }
        }
    }
    let [first, second, third] = ["0.tree", "1.tree", "2.tree"].map(|name| dir.name(name));
    let out = dir.name("x.csv");
    let refused = |parts: &[&str]| stderr_of(2, &[&["tree", "-o", &out, "--merge"][..], parts].concat());
    assert!(refused(&[&first, &third]).contains("part 1 is missing"));
    assert!(refused(&[&first, &second, &second]).contains("once more"));
    let other = dir.name("other.tree");
    output(0, &["-q", "tree", &pgn, "--shard", "1/3", "--plies", "3", "-o", &other]);
    assert!(refused(&[&first, &other, &third]).contains("other options"));
    let mut bytes = fs::read(&second).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    let damaged = dir.file("damaged.tree", &bytes);
    assert!(refused(&[&first, &damaged, &third]).contains("checksum"));
    let cut = dir.file("cut.tree", &bytes[..middle]);
    assert!(refused(&[&first, &cut, &third]).contains("cut.tree"));
    assert!(refused(&[&pgn]).contains("not a part of a tree"));
    assert!(!fs::exists(&out).unwrap());
}

/// A pawn that is pinned stands beside the double step: the square counts in the key, although nobody can take there.
#[test]
fn pinned_pawns_count_in_keys() {
    let dir = Dir::new();
    let start = "4r2k/3p4/8/4P3/8/8/8/4K3 b - - 0 1";
    let pgn = dir.file("x.pgn", format!("[SetUp \"1\"]\n[FEN \"{start}\"]\n\n1... d5 2. Kd2 Kg7 1-0\n"));
    let [moves, deep] = [&["--moves", "d5"][..], &["--depth", "3"]]
        .map(|options| json(0, &[&["tree", "--json", &pgn, "--fen", start][..], options].concat())["moves"].clone());
    assert_eq!(moves[0]["san"], "Kd2");
    assert_eq!(deep[0]["moves"][0]["moves"][0]["san"], "Kg7");
    let after = "4r2k/8/8/3pP3/8/8/8/4K3 w - d6 0 2";
    assert_eq!(json(0, &["tree", "--json", &pgn, "--fen", after])["moves"][0]["san"], "Kd2");
    let book = dir.name("x.bin");
    output(0, &["-q", "tree", &pgn, "-o", &book, "--to", "bin"]);
    let shown = json(0, &["tree", "--json", "--book", &book, "--fen", start, "--moves", "d5"]);
    assert_eq!(shown["moves"][0]["san"], "Kd2");
}

/// A record of training data has as many bytes as two entries of a book, and sometimes their order, too.
#[test]
fn records_of_training_data_are_no_books() {
    let dir = Dir::new();
    for format in ["bullet", "marlin"] {
        let all = dir.name(format);
        output(0, &["-q", "convert", &sample("lichess-2025-05.pgn"), "-o", &all, "--to", format, "--allow-loss"]);
        let bytes = fs::read(all).unwrap();
        for record in bytes.chunks(32) {
            let found = lanefish::formats::detect(record, true, "x.bin".as_ref(), None);
            assert!(found.is_ok() || !found.unwrap_err().reason.contains("book"), "{format} {record:?}");
        }
    }
}
