//! The acceptance tests: `stats` on the shared data, compared with the results of two independent libraries, in
//! every tier, with one thread and two, from text and from a boards file.
//!
//! The expected files count the positions that *both* libraries accept. In two perft files they disagree
//! about positions that no game can reach, all of which our playable level accepts. There the comparison is made on
//! the positions that are valid at the strict level, with one exception: see [`EXPLAINED_BY_NO_MOVE`].

use super::{Dir, json, lanefish, output, sample};
use crate::support::shared_data;
use serde_json::Value;
use std::fs;

/// The fourth position of the classical perft set, mirrored: no last move explains its check (neither the bishop nor
/// a piece that discovered the check has a square to come from). Our strict level rejects it; the libraries that made
/// the expected files accept it.
const EXPLAINED_BY_NO_MOVE: &str = "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1";

fn available_tiers() -> Vec<String> {
    let info = json(0, &["info", "--json"]);
    let tiers = info["tiers"].as_array().expect("a list");
    tiers.iter().map(|tier| tier.as_str().expect("a name").to_owned()).collect()
}

/// The statistics that must not depend on the tier or the number of threads.
fn without_run(mut stats: Value) -> Value {
    stats.as_object_mut().expect("an object").remove("run").expect("a run");
    stats
}

fn check(stats: &Value, expected: &Value, what: &str) {
    let number = |value: &Value| value.as_u64();
    for (ours, theirs) in [
        (&stats["positions"], &expected["accepted_by_both"]),
        (&stats["stm"]["white"], &expected["white_to_move"]),
        (&stats["legal_moves"]["sum"], &expected["legal_moves"]["sum"]),
        (&stats["legal_moves"]["min"], &expected["legal_moves"]["min"]),
        (&stats["legal_moves"]["max"], &expected["legal_moves"]["max"]),
        (&stats["in_check"], &expected["in_check"]),
        (&stats["double_check"], &expected["double_check"]),
        (&stats["checkmate"], &expected["checkmate"]),
        (&stats["stalemate"], &expected["stalemate"]),
        (&stats["attacked_white"]["sum"], &expected["attacked_by_white_sum"]),
        (&stats["attacked_black"]["sum"], &expected["attacked_by_black_sum"]),
    ] {
        assert_eq!(number(ours), number(theirs), "{what}: {ours} is not {theirs}\n{stats}");
    }
    let histogram = stats["legal_moves"]["histogram"].as_array().expect("an array");
    let sparse = expected["legal_moves_histogram"].as_object().expect("an object");
    let mut positions = 0;
    for (moves, count) in histogram.iter().enumerate() {
        let theirs = sparse.get(&moves.to_string()).and_then(Value::as_u64).unwrap_or(0);
        assert_eq!(count.as_u64(), Some(theirs), "{what}: positions with {moves} moves");
        positions += theirs;
    }
    assert_eq!(Some(positions), number(&expected["accepted_by_both"]), "{what}");
}

#[test]
fn stats_agree_with_the_expected_results() {
    let Some(directory) = shared_data("expected") else {
        return;
    };
    let dir = Dir::new();
    let mut checked = 0;
    for entry in fs::read_dir(directory).expect("readable") {
        let path = entry.expect("readable").path();
        let expected: Value = serde_json::from_slice(&fs::read(&path).expect("readable")).expect("JSON");
        let stem = path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned();
        let found = ["epd", "perft"].iter().find_map(|folder| {
            let data = path.parent()?.parent()?.join(folder);
            [data.join(format!("{stem}.zst")), data.join(&stem)].into_iter().find(|p| p.exists())
        });
        // Files of puzzles have no counterpart.
        let Some(file) = found else { continue };
        let mut file = file.to_str().expect("UTF-8").to_owned();

        let disputed = expected["only_cozy_accepts"] != 0;
        if disputed {
            let mut fens = output(1, &["-q", "compute", "--validity", "strict", "--columns", "fen", &file])
                .lines()
                .skip(1)
                .map(str::to_owned)
                .collect::<Vec<_>>();
            if stem == "tricky.perft" {
                fens.push(EXPLAINED_BY_NO_MOVE.to_owned());
            }
            file = dir.file(&format!("{stem}.fen"), fens.join("\n"));
        }
        let rejected = expected["rejected_by_both"].as_u64().expect("a number");
        let strict = stem.starts_with("cozy_invalid");
        let validity = if strict { "strict" } else { "playable" };
        let status = if strict { 1 } else { 0 };
        let boards = dir.name(&format!("{stem}.boards"));
        lanefish(&["-q", "convert", "--validity", validity, &file, "-o", &boards]).assert().code(status);

        let mut first: Option<Value> = None;
        for (number, tier) in available_tiers().into_iter().enumerate() {
            // Either number of threads for each tier, in one file or another.
            let threads = ["1", "2"][(number + checked) % 2];
            for input in [&file, &boards] {
                let what = format!("{stem}, {tier}, {threads} threads, {input}");
                let status = if input == &boards { 0 } else { status };
                let mut stats = without_run(json(
                    status,
                    &["-q", "stats", "--json", "--tier", &tier, "--threads", threads, "--validity", validity, input],
                ));
                let rejects = stats["rejected"].take();
                if strict && input != &boards {
                    assert_eq!(rejects, rejected, "{what}");
                } else {
                    assert_eq!(rejects, 0, "{what}");
                }
                match &first {
                    None => {
                        check(&stats, &expected, &what);
                        first = Some(stats);
                    }
                    Some(first) => assert_eq!(&stats, first, "{what}"),
                }
            }
        }
        checked += 1;
    }
    assert!(checked >= 16, "only {checked} files were found");
}

/// A tier is also the limit of reading and writing.
#[test]
fn every_tier_reads_and_writes_the_same() {
    let (epd, pgn) = (sample("sample.epd"), sample("lichess-2025-05.pgn"));
    let dir = Dir::new();
    let boards = dir.name("all.boards");
    output(0, &["convert", &pgn, "-o", &boards]);
    for command in [
        &["compute", "--columns", "all", &epd][..],
        &["compute", "--columns", "all", "--format", "jsonl", &pgn],
        &["convert", "--to", "epd", &epd],
        &["-q", "convert", "--to", "fen", &boards],
        &["games", &pgn],
        &["perft", "--divide", "3"],
        &["show", "--limit", "3", &epd],
    ] {
        let best = lanefish(command).assert().success();
        let best = &best.get_output().stdout;
        assert!(!best.is_empty());
        for tier in available_tiers() {
            let found = lanefish(&[command, &["--tier", &tier]].concat()).assert().success();
            assert!(found.get_output().stdout == *best, "{command:?}, {tier}");
        }
    }
}

#[test]
fn every_valid_position_of_the_sets_is_strictly_valid() {
    let Some(valid) = shared_data("epd/cozy_valid.half_a.sfens.zst") else {
        return;
    };
    let report = json(0, &["verify", "--json", valid.to_str().expect("UTF-8")]);
    assert_eq!(report["ok"], true);
    assert_eq!(report["files"][0]["records"], 5087);
}

#[test]
fn every_impossible_position_is_rejected_with_its_reason() {
    let Some(invalid) = shared_data("epd/cozy_invalid.half_a.sfens.zst") else {
        return;
    };
    let dir = Dir::new();
    let rejects = dir.name("rejects");
    let file = invalid.to_str().expect("UTF-8");
    let report = json(1, &["-q", "verify", "--json", "--rejects", &rejects, file]);
    assert_eq!(report["files"][0]["records"], 5008);
    assert_eq!(report["files"][0]["rejected"], 5008);
    let lines = fs::read_to_string(&rejects).expect("readable");
    assert_eq!(lines.lines().count(), 5008);
    assert!(lines.lines().all(|line| { line.split('\t').nth(1).is_some_and(|reason| !reason.is_empty()) }));
}
