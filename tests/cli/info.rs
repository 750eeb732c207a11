//! `info` and `--version`.

use super::{Dir, json, output, sample, stderr_of};
use std::time::{Duration, Instant};

#[test]
fn the_cpu() {
    let info = json(0, &["info", "--json"]);
    for key in ["version", "cpu", "features", "tiers", "tier", "why"] {
        assert!(!info[key].is_null(), "{key}");
    }
    let text = output(0, &["info"]);
    assert!(
        text.lines().any(|line| line.starts_with("tier: ")),
        "{text}"
    );
    assert!(text.lines().any(|line| line.starts_with("why: ")), "{text}");
    let text = output(0, &["info", "--tier", "portable"]);
    assert!(
        text.contains("tier: portable\n") && text.contains("requested"),
        "{text}"
    );
}

#[test]
fn calibration() {
    let info = json(0, &["info", "--calibrate", "--json"]);
    let calibration = &info["calibration"];
    for candidate in calibration["candidates"].as_array().unwrap() {
        assert_eq!(candidate["available"], candidate["verified"], "{candidate}");
        let rate = candidate["positions_per_second"].as_f64();
        assert_eq!(candidate["available"], rate.is_some(), "{candidate}");
    }
    assert!(calibration["tier"]["chosen"].is_string());
    assert!(calibration["tier"]["holds"].is_boolean());
    let text = output(0, &["info", "--calibrate"]);
    assert!(
        text.contains("choice of tier: ") && text.contains("  portable  lanes "),
        "{text}"
    );
    let verdict = text
        .lines()
        .find(|line| line.starts_with("choice of tier: "))
        .unwrap();
    assert!(
        [
            "nothing is faster here",
            "equal within noise",
            "set LANEFISH_TIER="
        ]
        .iter()
        .any(|words| verdict.contains(words)),
        "{verdict}"
    );
    stderr_of(2, &["info", "--calibrate", &sample("famous.epd")]);
}

#[test]
fn files() {
    let text = output(0, &["info", &sample("sample.boards")]);
    assert!(text.lines().any(|line| line == "format: boards"), "{text}");
    assert!(text.lines().any(|line| line == "records: 4,098"), "{text}");
    let info = json(0, &["info", "--json", &sample("sample.boards")]);
    assert_eq!(info["format"], "boards");
    assert_eq!(info["records"], 4098);
    assert_eq!(info["columns"].as_array().unwrap()[0], "boards");
    let text = output(0, &["info", &sample("famous.epd")]);
    assert!(
        text.contains("format: epd\n") && text.contains("records: 426\n"),
        "{text}"
    );
    let both = output(
        0,
        &[
            "info",
            "--json",
            &sample("famous.epd"),
            &sample("sample.boards"),
        ],
    );
    assert_eq!(both.lines().count(), 2);
}

#[test]
fn info_is_immediate() {
    let file = sample("sample.boards");
    // The best of several runs: other tests run at the same time.
    let best = (0..10)
        .map(|_| {
            let begin = Instant::now();
            output(0, &["info", &file]);
            begin.elapsed()
        })
        .min()
        .unwrap();
    assert!(best < Duration::from_millis(100), "{best:?}");
}

#[test]
fn files_without_information() {
    let dir = Dir::new();
    stderr_of(2, &["info", &dir.name("missing")]);
    assert!(stderr_of(2, &["info", &dir.name("")]).contains("directory"));
    stderr_of(2, &["info", &dir.file("noise.bin", [0u8, 1, 2, 255, 0, 9])]);
}

#[test]
fn version() {
    let version = format!("lanefish {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(output(0, &["--version"]), version);
    assert_eq!(output(0, &["-V"]), version);
    let more = output(0, &["--version", "-v"]);
    assert!(
        more.starts_with(&version) && more.contains("\ntier: ") && more.contains("\nwhy: "),
        "{more}"
    );
}
