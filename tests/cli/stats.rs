//! `stats`: the table and the JSON, which depend on nothing but the data.

use super::{Dir, KIWIPETE, START, json, lanefish, output, sample};
use crate::formats::{boards_bytes, sample_batch};
use lanefish::chess::Color;
use lanefish::table::{Array, Field, Values};
use serde_json::{Value, json};

/// The table without its last line, which describes the run and always differs.
fn table(arguments: &[&str]) -> String {
    let text = output(0, arguments);
    let mut lines: Vec<&str> = text.lines().collect();
    let run = lines.pop().expect("a last line");
    assert!(
        run.contains(" positions/s, ") && run.ends_with("B read"),
        "{run}"
    );
    lines.join("\n")
}

#[test]
fn table_of_the_sample() {
    insta::assert_snapshot!(table(&["stats", &sample("sample.epd")]));
}

#[test]
fn table_with_maps_of_one_position() {
    let dir = Dir::new();
    let file = dir.file("one.fen", START);
    insta::assert_snapshot!(table(&["stats", "--maps", "--color", "never", &file]));
}

#[test]
fn colour_on_request_only() {
    let file = sample("perft.epd");
    assert!(output(0, &["stats", "--color", "always", &file]).contains("\x1b["));
    assert!(!output(0, &["stats", &file]).contains("\x1b["));
    assert!(!output(0, &["stats", "--color", "never", &file]).contains("\x1b["));
}

#[test]
fn json_of_two_positions() {
    let dir = Dir::new();
    let file = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    let stats = json(0, &["stats", "--json", &file]);
    let keys: Vec<&str> = stats
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "version",
            "schema",
            "positions",
            "rejected",
            "stm",
            "in_check",
            "double_check",
            "checkmate",
            "stalemate",
            "legal_moves",
            "legal_captures",
            "legal_promotions",
            "legal_castles",
            "legal_en_passants",
            "attacked_white",
            "attacked_black",
            "pieces",
            "phase",
            "material",
            "castling",
            "en_passant",
            "occupancy",
            "attack_map",
            "results",
            "run",
        ]
    );
    assert_eq!(stats["positions"], 2);
    assert_eq!(stats["stm"], json!({"white": 2, "black": 0}));
    let moves = &stats["legal_moves"];
    assert_eq!(
        (&moves["sum"], &moves["min"], &moves["max"]),
        (&json!(68), &json!(20), &json!(48))
    );
    assert_eq!(moves["mean"], 34.0);
    assert_eq!(moves["median"], 34.0);
    assert_eq!(moves["stddev"], 14.0);
    for side in ["attacked_white", "attacked_black"] {
        assert_eq!(
            (&stats[side]["sum"], &stats[side]["mean"]),
            (&json!(60), &json!(30.0)),
            "{side}"
        );
    }
    let histogram = moves["histogram"].as_array().unwrap();
    assert_eq!(histogram.len(), 49);
    assert_eq!((&histogram[20], &histogram[48]), (&json!(1), &json!(1)));
    assert_eq!(stats["legal_captures"], 8);
    assert_eq!(stats["legal_castles"], 2);
    assert_eq!(stats["material"]["white"].as_array().unwrap()[39], 2);
    assert_eq!(
        stats["castling"],
        json!({"none": 0, "some": 2, "K": 2, "Q": 2, "k": 2, "q": 2})
    );
    assert_eq!(stats["occupancy"]["K"][4], 2);
    assert_eq!(stats["occupancy"]["p"][52], 1);
    assert_eq!(stats["attack_map"]["white"].as_array().unwrap().len(), 64);
    assert_eq!(
        stats["results"],
        json!({"white": 0, "draw": 0, "black": 0, "unknown": 2})
    );
    for key in [
        "tier",
        "threads",
        "seconds",
        "positions_per_second",
        "bytes_read",
    ] {
        assert!(!stats["run"][key].is_null(), "{key}");
    }
}

/// Several blocks, several threads: the counts match the rows of the columns.
#[test]
fn results_scores_and_mates_are_those_of_the_records() {
    let dir = Dir::new();
    let mut batch = sample_batch(10_000);
    let mut mates = Values::default();
    for row in 0..batch.len() {
        // A few mates, far apart, some of them in zero moves: the side to move is mated.
        mates.push((row % 97 < 2).then_some((row % 5) as i16 - 2));
    }
    batch.fields.insert(Field::Mate, Array::I16(mates.clone()));
    let file = dir.file("x.boards", boards_bytes(&batch));
    let Some(Array::U8(results)) = batch.values(Field::Result) else {
        panic!("results");
    };
    let Some(Array::I16(scores)) = batch.values(Field::Score) else {
        panic!("scores");
    };
    let rows = || 0..batch.len();
    let with_result = |code| {
        rows()
            .filter(|&row| results.get(row) == Some(&code))
            .count()
    };
    let scores: Vec<i64> = rows()
        .filter_map(|row| scores.get(row).map(|&s| s.into()))
        .collect();
    let wins = |white: bool| {
        let by_white = |row: usize| match *mates.get(row)? {
            0 => Some(batch.board(row).side_to_move() == Color::Black),
            moves => Some(moves > 0),
        };
        rows().filter(|&row| by_white(row) == Some(white)).count()
    };
    for threads in ["1", "3"] {
        let stats = json(0, &["stats", "--json", "--threads", threads, &file]);
        assert_eq!(
            stats["results"],
            json!({
                "white": with_result(2),
                "draw": with_result(1),
                "black": with_result(0),
                "unknown": batch.len() - with_result(0) - with_result(1) - with_result(2),
            })
        );
        let score = &stats["score"];
        assert_eq!(score["count"], scores.len());
        assert_eq!(score["sum"], scores.iter().sum::<i64>());
        assert_eq!(score["min"], *scores.iter().min().unwrap());
        assert_eq!(score["max"], *scores.iter().max().unwrap());
        assert_eq!(
            stats["mate"],
            json!({"white": wins(true), "black": wins(false)})
        );
    }
}

#[test]
fn mates_are_counted_without_scores_too() {
    let dir = Dir::new();
    let file = dir.file(
        "x.pgn",
        "[Event \"x\"]\n\n1. e4 {[%eval #-3]} e5 {[%eval #2]} *\n",
    );
    let stats = json(0, &["stats", "--json", &file]);
    assert_eq!(stats["score"], Value::Null);
    assert_eq!(stats["mate"], json!({"white": 1, "black": 1}));
}

#[test]
fn an_empty_input_is_not_an_error() {
    let dir = Dir::new();
    let file = dir.file("empty.fen", "# nothing\n\n");
    let stats = json(0, &["stats", "--json", &file]);
    assert_eq!(stats["positions"], 0);
    assert_eq!(stats["legal_moves"]["min"], Value::Null);
    assert_eq!(stats["legal_moves"]["mean"], Value::Null);
    assert_eq!(stats["legal_moves"]["histogram"], json!([]));
    assert!(output(0, &["stats", &file]).starts_with("0 positions, 0 rejected\n"));
}

#[test]
fn en_passant_squares_count_when_they_are_legal_or_kept() {
    let dir = Dir::new();
    let file = dir.file(
        "ep.fen",
        "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1\n8/8/8/8/k2Pp3/8/8/3K4 b - d3 0 1\n",
    );
    assert_eq!(json(0, &["stats", "--json", &file])["en_passant"], 1);
    assert_eq!(
        json(0, &["stats", "--json", "--keep-en-passant", &file])["en_passant"],
        2
    );
}

#[test]
fn several_inputs_and_standard_input_are_one_dataset() {
    let both = json(
        0,
        &[
            "stats",
            "--json",
            &sample("sample.epd"),
            &sample("sample.boards"),
        ],
    );
    assert_eq!(both["positions"], 2 * 4098);
    let done = lanefish(&["stats", "--json", "-"])
        .write_stdin(format!("{START}\n"))
        .assert()
        .success();
    let stats: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(stats["positions"], 1);
}
