//! `stats`: the table, the JSON, and that nothing changes either but the data.

use super::{Dir, KIWIPETE, START, json, lanefish, output, sample};
use serde_json::{Value, json};

/// The last line tells the run, which is never the same.
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
fn colour_is_asked_for_and_refused() {
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

#[test]
fn nothing_is_no_error() {
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
