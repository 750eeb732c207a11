//! `generate`: the same positions for the same seed.

use super::{Dir, START, json, output, stderr_of};
use std::fs;

#[test]
fn the_same_seed_gives_the_same_positions() {
    let one = output(0, &["generate", "-n", "40000", "--seed", "7", "--threads", "1"]);
    assert_eq!(one.lines().count(), 40000);
    assert!(one.starts_with(START));
    assert!(one == output(0, &["generate", "-n", "40000", "--seed", "7", "--threads", "3"]));
    assert!(one != output(0, &["generate", "-n", "40000", "--seed", "8"]));
    // A smaller number is a prefix.
    assert!(one.starts_with(&output(0, &["generate", "-n", "20000", "--seed", "7"])));
}

#[test]
fn everything_generated_is_strictly_valid() {
    let dir = Dir::new();
    for variant in [&["--chess960"][..], &[]] {
        let boards = dir.name("a.boards");
        let mut arguments = vec!["generate", "-n", "5000", "-o", &boards, "--force"];
        arguments.extend(variant);
        output(0, &arguments);
        let report = json(0, &["verify", "--json", &boards]);
        assert_eq!(report["files"][0]["records"], 5000);
        assert_eq!(report["ok"], true);
    }
}

#[test]
fn no_positions_at_all() {
    assert_eq!(output(0, &["generate", "-n", "0"]), "");
    let dir = Dir::new();
    let boards = dir.name("none.boards");
    output(0, &["generate", "-n", "0", "-o", &boards]);
    assert_eq!(json(0, &["stats", "--json", &boards])["positions"], 0);
}

#[cfg(feature = "parquet")]
#[test]
fn tables_are_the_same_as_by_way_of_a_file() {
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    output(0, &["generate", "-n", "40000", "-o", &boards]);
    for name in ["parquet", "arrow", "arrows"] {
        let [made, converted] = ["made", "converted"].map(|stem| dir.name(&format!("{stem}.{name}")));
        output(0, &["generate", "-n", "40000", "-o", &made]);
        output(0, &["convert", &boards, "-o", &converted]);
        assert!(fs::read(made).unwrap() == fs::read(converted).unwrap(), "{name}");
    }
}

/// Training data have made-up scores, and a note says so.
#[test]
fn made_up_scores_are_named() {
    let dir = Dir::new();
    let file = dir.name("a.bullet");
    let stderr = stderr_of(0, &["generate", "-n", "40000", "-o", &file]);
    let note = "records without a score, stored with the score 0 (40,000 records, the first is record 0)";
    assert!(stderr.contains(note), "{stderr}");
}

#[test]
fn formats_and_force() {
    let dir = Dir::new();
    let file = dir.name("a.epd");
    output(0, &["generate", "-n", "3", "-o", &file]);
    let epd = fs::read_to_string(&file).unwrap();
    assert_eq!(epd, output(0, &["generate", "-n", "3", "--to", "epd"]));
    assert!(epd.starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n"), "{epd}");
    assert!(stderr_of(2, &["generate", "-o", &file]).contains("--force"));
    assert!(stderr_of(2, &["generate", "--to", "xyz"]).contains("xyz"));
}

#[test]
fn progress_has_positions_rate_and_time_left() {
    let own = ["generate", "-n", "3", "--progress"];
    let stderr = stderr_of(0, &[&own[..], &["always"]].concat());
    for part in ["generating  100 %  3 positions  ", "/s  0:0", "0:00 left"] {
        assert!(stderr.contains(part), "{stderr}");
    }
    for when in ["auto", "never"] {
        assert_eq!(stderr_of(0, &[&own[..], &[when]].concat()), "");
    }
}
