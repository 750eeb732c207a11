//! `stats --features`: the coverage of inputs of networks, against the lists that `compute` writes.

use super::{Dir, lanefish, output, sample, stderr_of};
use crate::support::{Random, sample_positions, weird_positions};
use lanefish::chess::attacks;

use lanefish::chess::{Color, Position, Role, Square, Validity, Violations};
use lanefish::formats::boards::BoardsWriter;
use lanefish::packed::Packed;
use lanefish::table::{Batch, Fields};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Sets of all kinds: by the king's square, by buckets, mirrored, without kings, and lists.
const SETS: [&str; 9] = [
    "chess768",
    "chess768_hm",
    "chess768_kb:4:0.0.1.1.0.0.1.1.2.2.2.2.2.2.2.2.3.3.3.3.3.3.3.3.3.3.3.3.3.3.3.3",
    "halfkp",
    "halfka",
    "halfka_v2_hm",
    "halfka_v2_hm12",
    "threats:sfnnv14",
    "threats:sfnnv16+pp_3wide+halfka_v2_hm",
];

/// The boards of the sample, and some that no game has.
fn boards(dir: &Dir) -> String {
    let mut batch = Batch::new();
    for position in weird_positions(&mut Random::new(7), 3_000).into_iter().chain(sample_positions([3, 4], 300, 2_000))
    {
        if position.violations(Validity::Playable) == Violations::NONE {
            batch.push(Packed::pack(&position).unwrap(), 0, 1);
        }
    }
    let mut writer = BoardsWriter::new(Vec::new(), Fields::NONE).unwrap();
    writer.write(&batch, 0..batch.len()).unwrap();
    dir.file("all.boards", writer.finish().unwrap().0);
    dir.name("all.boards")
}

/// The keys of `features` of a report.
fn coverage(arguments: &[&str]) -> Value {
    let all = [&["stats", "--json"], arguments].concat();
    let report: Value = serde_json::from_str(&output(0, &all)).expect("JSON");
    report["features"].clone()
}

/// The lists of both sides, one after the other.
fn lists(path: &str, set: &str) -> Vec<Vec<usize>> {
    let columns = format!("features:{set}:white,features:{set}:black");
    let arguments = ["compute", path, "--columns", &columns, "--format", "jsonl"];
    let text = output(0, &arguments);
    let rows = text.lines().map(|line| serde_json::from_str::<BTreeMap<String, Vec<usize>>>(line).expect("lists"));
    rows.flat_map(BTreeMap::into_values).collect()
}

#[test]
fn counts_are_those_of_the_lists() {
    let dir = Dir::new();
    let path = boards(&dir);
    for set in SETS {
        let lists = lists(&path, set);
        let expected = coverage(&["--features", set, &path]);
        let mut counts = vec![0_u64; expected["inputs"].as_u64().unwrap() as usize];
        lists.iter().flatten().for_each(|&index| counts[index] += 1);
        assert_eq!(expected["counts"], serde_json::json!(counts), "{set}");
        let sum: u64 = counts.iter().sum();
        let with = |is: &dyn Fn(u64) -> bool| counts.iter().filter(|&&count| is(count)).count();
        for (key, value) in [
            ("lists", lists.len() as u64),
            ("active_sum", sum),
            ("active_max", lists.iter().map(Vec::len).max().unwrap() as u64),
            ("seen", with(&|count| count > 0) as u64),
            ("never_seen", with(&|count| count == 0) as u64),
            ("seen_under_100", with(&|count| count > 0 && count < 100) as u64),
        ] {
            assert_eq!(expected[key], value, "{set}: {key}");
        }
        assert_eq!(expected["active_mean"], sum as f64 / lists.len() as f64, "{set}");
        // The same bits for every tier, thread count and chunk size, and from shards.
        for tier in ["portable", "bmi2", "avx2"] {
            if lanefish(&["info", "--tier", tier]).output().expect("ran").status.success() {
                assert_eq!(coverage(&["--features", set, "--tier", tier, &path]), expected, "{set}: {tier}");
            }
        }
        for threads in ["1", "2", "8"] {
            assert_eq!(coverage(&["--features", set, "--threads", threads, &path]), expected, "{set}: {threads}");
        }
        let shards: Vec<String> = (0..3)
            .map(|shard| {
                let shard = format!("{shard}/3");
                let arguments = ["stats", "--json", "--features", set, "--shard", &shard, &path];
                let name = format!("{}.json", shard.replace('/', "_of_"));
                dir.file(&name, output(0, &arguments));
                dir.name(&name)
            })
            .collect();
        let shards: Vec<&str> = shards.iter().map(String::as_str).collect();
        let merged: Value =
            serde_json::from_str(&output(0, &[&["stats", "--json", "--merge"], &shards[..]].concat())).unwrap();
        assert_eq!(merged["features"], expected, "{set}");
    }
}

/// The number of lists for each king square: 64 squares, 32 mirrored ones from h8 on, or the buckets of a layout.
#[test]
fn king_buckets_are_counted() {
    let dir = Dir::new();
    let path = boards(&dir);
    let halfka = coverage(&["--features", "halfka", &path]);
    let buckets = halfka["king_buckets"].as_array().unwrap();
    assert_eq!(buckets.len(), 64);
    // Its own king is an input, the sixth kind of its own pieces, once in each list with one king.
    let text = output(0, &["compute", &path, "--columns", "fen", "--format", "csv"]);
    let mut expected = [0_u64; 64];
    for line in text.lines().skip(1) {
        let board = line.trim_matches('"').split(' ').next().unwrap();
        for (row, rank) in board.split('/').enumerate() {
            let mut file = 0;
            for letter in rank.chars() {
                match letter {
                    'K' => expected[8 * (7 - row) + file] += 1,
                    'k' => expected[8 * row + file] += 1,
                    _ => {}
                }
                file += letter.to_digit(10).unwrap_or(1) as usize;
            }
        }
    }
    assert_eq!(halfka["king_buckets"], serde_json::json!(expected.to_vec()));
    let mirrored = coverage(&["--features", "halfka_v2_hm", &path]);
    let mut of_mirrored = [0_u64; 32];
    for (square, count) in expected.iter().enumerate() {
        let file = (square % 8).max(7 - square % 8);
        of_mirrored[4 * (7 - square / 8) + 7 - file] += count;
    }
    assert_eq!(mirrored["king_buckets"], serde_json::json!(of_mirrored));
    assert!(coverage(&["--features", "chess768_hm", &path]).get("king_buckets").is_none());
}

/// Attacks and hanging pieces, square by square.
#[test]
fn threats_and_hanging_pieces_are_counted() {
    let dir = Dir::new();
    let path = boards(&dir);
    let text = output(0, &["compute", &path, "--columns", "fen", "--format", "csv"]);
    let mut attacks_of = [[0_u64; 12]; 12];
    let mut hanging = [[0_u64; 2]; 2];
    let worth = |role: Role| [1, 3, 3, 5, 9, 1_000][role as usize];
    for line in text.lines().skip(1) {
        let position = Position::from_fen_unvalidated(line.trim_matches('"')).expect("a position");
        let pieces: Vec<(Square, Color, Role)> = Square::all()
            .filter_map(|square| position.piece_at(square).map(|piece| (square, piece.color, piece.role)))
            .collect();
        let attacked_by = |&(from, color, role): &(Square, Color, Role)| match role {
            Role::Pawn => attacks::pawn_attacks(color, from),
            Role::Knight => attacks::knight_attacks(from),
            Role::Bishop => attacks::bishop_attacks(from, position.occupied()),
            Role::Rook => attacks::rook_attacks(from, position.occupied()),
            Role::Queen => attacks::queen_attacks(from, position.occupied()),
            Role::King => attacks::king_attacks(from),
        };
        for target in &pieces {
            let &(square, color, role) = target;
            let attackers: Vec<_> =
                pieces.iter().filter(|piece| attacked_by(piece).0 >> square.index() & 1 != 0).collect();
            let number = |color: Color, role: Role| 6 * (color == Color::Black) as usize + role as usize;
            for (_, of, kind) in &attackers {
                attacks_of[number(*of, *kind)][number(color, role)] += 1;
            }
            if role != Role::King {
                let enemies = || attackers.iter().filter(|(_, of, _)| *of != color);
                let is_undefended = enemies().count() > 0 && attackers.iter().all(|(_, of, _)| *of != color);
                let is_by_less = enemies().any(|(_, _, kind)| worth(*kind) < worth(role));
                let of_color = &mut hanging[(color == Color::Black) as usize];
                of_color[0] += u64::from(is_undefended);
                of_color[1] += u64::from(is_by_less);
            }
        }
    }
    let found = coverage(&["--features", "threats:sfnnv16", &path]);
    assert_eq!(found["attacks"], serde_json::json!(attacks_of));
    for (side, [undefended, by_less]) in ["white", "black"].into_iter().zip(hanging) {
        let expected = serde_json::json!({ "undefended": undefended, "attacked_by_less": by_less });
        assert_eq!(found["hanging"][side], expected);
    }
}

/// With `--by`, each group has its own counts, which add up to those of all; of too many groups, those that are shown.
#[test]
fn groups_have_their_own_counts() {
    let dir = Dir::new();
    let path = boards(&dir);
    let whole = coverage(&["--features", "halfka_v2_hm", &path]);
    for by in ["stm", "pieces", "legal_moves/1", "key"] {
        for top in ["7", "100"] {
            let arguments = ["stats", "--json", "--by", by, "--top", top, "--features"];
            let text = output(0, &[&arguments[..], &["halfka_v2_hm", &path]].concat());
            let report: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(report["features"], whole, "{by}");
            let groups = report["groups"]["values"].as_array().unwrap();
            assert!(groups.len() <= top.parse().unwrap());
            let all = groups.iter().map(|group| &group["stats"]).chain([&report["groups"]["others"]["stats"]]);
            let mut sum = vec![0; 22_528];
            for stats in all.filter(|stats| !stats.is_null()) {
                let counts = stats["features"]["counts"].as_array().unwrap();
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count.as_u64().unwrap());
            }
            assert_eq!(serde_json::json!(sum), whole["counts"], "{by}");
        }
    }
    let error = stderr_of(2, &["stats", "--by", "key", "--top", "101", "--features", "halfkp", &path]);
    assert!(error.contains("at most 100 groups"), "{error}");
}

#[test]
fn files_name_each_input() {
    let dir = Dir::new();
    let tables = dir.name("tables");
    let set = "threats:sfnnv16+halfka_v2_hm";
    output(0, &["stats", &sample("sample.boards"), "--features", set, "--csv", &tables, "--by", "stm"]);
    let read = |name: &str| fs::read_to_string(format!("{tables}/{name}.csv")).unwrap();
    let features = read("features");
    assert_eq!(features.lines().next(), Some("stm,index,meaning,count"));
    assert_eq!(features.lines().count(), 1 + 2 * (59_808 + 22_528));
    assert!(features.contains(",59816,king on h8: own pawn on a2,"), "{}", &features[..500]);
    assert!(features.contains("own pawn on a2 attacks own knight on b3,"));
    assert_eq!(read("threats").lines().count(), 1 + 2 * 144);
    assert_eq!(read("hanging").lines().count(), 1 + 2 * 2);
    assert_eq!(read("king_buckets").lines().count(), 1 + 2 * 32);
    // Meanings are as many as there are inputs that positions can have.
    let of_pairs = output(0, &["stats", &sample("sample.boards"), "--features", "pp_3wide", "--json"]);
    let pairs: Value = serde_json::from_str(&of_pairs).unwrap();
    assert_eq!(pairs["features"]["inputs"], 4_560);
    let page = dir.name("page.html");
    output(0, &["stats", &sample("sample.boards"), "--features", set, "--html", &page]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Who attacks whom") && page.contains("Own king of inputs"), "no section");
}

#[test]
fn comparisons_name_what_only_one_has() {
    let dir = Dir::new();
    dir.file("a.fen", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n");
    dir.file("b.fen", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n4k3/8/8/8/8/8/3P4/4K3 w - - 0 1\n");
    let (a, b) = (dir.name("a.fen"), dir.name("b.fen"));
    let compare = ["stats", "--compare", "--features", "chess768", &a, &b];
    let text = output(0, &compare);
    assert!(text.contains("Inputs of chess768, of 768: A has 4, B has 6."), "{text}");
    assert!(text.contains("2 only in B: own pawn on d2 (1); other pawn on d7 (1)"), "{text}");
    let report: Value = serde_json::from_str(&output(0, &[&compare[..], &["--json"]].concat())).unwrap();
    let features = &report["comparisons"][0]["features"];
    assert_eq!(features["only_a"], serde_json::json!([]));
    assert_eq!(features["only_b"], serde_json::json!([11, 384 + 51]));
    // Reports of other sets are neither compared nor merged.
    for (name, set) in [("a.json", "chess768"), ("b.json", "halfkp")] {
        dir.file(name, output(0, &["stats", "--json", "--features", set, &a]));
    }
    for option in ["--compare", "--merge"] {
        let error = stderr_of(2, &["stats", option, &dir.name("a.json"), &dir.name("b.json")]);
        assert!(error.contains("features of other sets (chess768 and halfkp)"), "{error}");
    }
}

#[test]
fn sets_are_listed_and_wrong_ones_are_errors() {
    let text = output(0, &["stats", "--features", "list"]);
    for name in ["chess768_kb:N:LAYOUT", "halfka_v2_hm ", "threats:VERSION", "pp_3wide", "22,528"] {
        assert!(text.contains(name), "{text}");
    }
    let listed: Vec<Value> = serde_json::from_str(&output(0, &["stats", "--features", "list", "--json"])).unwrap();
    assert!(listed.iter().any(|set| set["name"] == "halfkp" && set["inputs"] == 41_024));
    for (set, reason) in [
        ("halfka_v3", "there is no set of features `halfka_v3`"),
        ("threats", "threats:sfnnv16"),
        ("planes:12", "only inputs with an index are counted"),
        ("halfkp+planes:12", "planes are sets of squares"),
        ("chess768_kb:3:0.1", "the largest number of the layout is 1"),
    ] {
        let error = stderr_of(2, &["stats", "--features", set, "no such file"]);
        assert!(error.contains(reason), "{error}");
    }
}
