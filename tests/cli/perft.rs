//! `perft`: counts, `--divide`, suites.

use super::{Dir, KIWIPETE, START, json, output, sample, stderr_of};
use crate::support::shared_data;

#[test]
fn only_the_total_is_printed() {
    assert_eq!(output(0, &["perft", "3"]), "nodes 8902\n");
    assert_eq!(output(0, &["perft", KIWIPETE, "3"]), "nodes 97862\n");
    assert_eq!(output(0, &["perft", "0"]), "nodes 1\n");
    assert_eq!(output(0, &["perft", "startpos", "1"]), "nodes 20\n");
}

#[test]
fn divided_by_the_first_move() {
    let text = output(0, &["perft", "3", "--divide"]);
    assert!(text.lines().any(|line| line == "e2e4: 600"), "{text}");
    assert_eq!(text.lines().count(), 21);
    assert_eq!(text.lines().last(), Some("nodes 8902"));
}

#[test]
fn as_json() {
    let report = json(0, &["perft", "--json", "--divide", START, "2"]);
    assert_eq!(report["fen"], START);
    assert_eq!(report["depth"], 2);
    assert_eq!(report["nodes"], 400);
    assert_eq!(report["moves"]["e2e4"], 20);
    assert_eq!(report["boards"], 20);
    for key in ["seconds", "nodes_per_second", "tier", "threads"] {
        assert!(!report[key].is_null(), "{key}");
    }
    assert!(json(0, &["perft", "--json", "2"]).get("moves").is_none());
}

/// Fewer boards are counted than there are nodes one ply before, since a board can stand for several.
#[test]
fn boards_are_counted_apart_from_nodes() {
    let boards = |arguments: &[&str]| {
        let report = json(0, &[&["perft", "--json"], arguments].concat());
        report["boards"].as_u64().expect("a number")
    };
    let all = boards(&["4"]);
    assert!(all > 1000 && all < 8902, "{all}");
    assert_eq!(boards(&["4", "--divide", "--threads", "2", "--tier", "portable"]), all);
    assert_eq!([boards(&["0"]), boards(&["1"]), boards(&["1", "--divide"])], [0, 1, 1]);
    let dir = Dir::new();
    let suite = dir.file("suite.epd", format!("{START} ;D1 20 ;D4 197281\n"));
    assert_eq!(boards(&["--suite", &suite]), all + 1);
    let stderr = stderr_of(0, &["perft", "1"]);
    assert!(stderr.contains(" nodes/s, 1 board counted"), "{stderr}");
}

#[test]
fn progress_has_moves_or_positions_and_the_time_left() {
    let stderr = stderr_of(0, &["perft", "--progress", "always", "4"]);
    // The first line, of any move: the next ones come a second later.
    assert!(stderr.contains("counting to depth 4  ") && stderr.contains(" of 20 moves  0:00  0:0"), "{stderr}");
    assert!(stderr.contains(" left"), "{stderr}");
    let stderr = stderr_of(0, &["perft", "--progress", "always", "--suite", &sample("perft.epd"), "--max-nodes", "99"]);
    assert!(stderr.contains("counting, position 1 of "), "{stderr}");
}

#[test]
fn suites() {
    let text = output(0, &["perft", "--suite", &sample("perft.epd"), "--max-nodes", "100000"]);
    assert!(text.contains("0 wrong"), "{text}");
    let dir = Dir::new();
    let wrong = dir.file("wrong.epd", format!("{START} ;D1 20 ;D2 401\n"));
    let text = output(1, &["perft", "--suite", &wrong]);
    assert!(text.contains("1 wrong"), "{text}");
    let report = json(1, &["perft", "--json", "--suite", &wrong]);
    assert_eq!(report["wrong"][0]["expected"], 401);
    assert_eq!(report["wrong"][0]["nodes"], 400);
    assert_eq!(report["ok"], false);
}

#[test]
fn a_wrong_count_is_named_with_its_file_and_line() {
    let dir = Dir::new();
    let block = format!("# Counts\n\nid a\nepd {START}\nperft 1 20\n\n# deeper\nperft 2 401\n");
    let line = format!("{START} ;D1 20 ;D2 400\n\n{KIWIPETE} ;D1 49\n");
    for (name, text, number) in [("a.perft", &block, 8), ("b.epd", &line, 3)] {
        let file = dir.file(name, text);
        let stderr = stderr_of(1, &["perft", "--suite", &file]);
        assert!(stderr.contains(&format!("{file}:{number}: ")), "{stderr}");
        let report = json(1, &["perft", "--json", "--suite", &file]);
        assert_eq!(report["wrong"][0]["file"], file);
        assert_eq!(report["wrong"][0]["line"], number);
    }
}

#[test]
fn a_suite_without_counts_is_an_error() {
    let dir = Dir::new();
    let good = dir.file("good.epd", format!("{START} ;D1 20\n"));
    for text in [format!("{START}\n"), String::new(), "# nothing\n".to_owned()] {
        let file = dir.file("none.epd", text);
        for arguments in [
            &["perft", "--suite", &file][..],
            &["perft", "--suite", &good, &file],
            &["perft", "--json", "--suite", &file],
        ] {
            let stderr = stderr_of(2, arguments);
            assert!(stderr.contains("none.epd"), "{stderr}");
        }
    }
}

#[test]
fn shared_suites_up_to_a_hundred_thousand_nodes() {
    for name in ["perft/tricky.perft", "perft/perftsuite.epd", "perft/chess960.half_a.perft"] {
        let Some(path) = shared_data(name) else {
            return;
        };
        let path = path.to_str().expect("UTF-8").to_owned();
        let report = json(0, &["perft", "--json", "--max-nodes", "100000", "--suite", &path]);
        assert_eq!(report["ok"], true, "{name}");
        assert!(report["counts"].as_u64() > Some(50), "{name}: {report}");
    }
}

#[test]
fn usage() {
    stderr_of(2, &["perft"]);
    stderr_of(2, &["perft", "deep"]);
    stderr_of(2, &["perft", "8/8/8/8/8/8/8/8 w - -", "2"]);
    stderr_of(2, &["perft", "--suite", "no-such-file"]);
}

/// A count that is no number is not passed over.
#[test]
fn counts_that_are_no_numbers_are_wrong() {
    let dir = Dir::new();
    for (count, text) in
        [("1,400", "D2 1,400"), ("", "D2"), ("400x", "D2 400x"), ("-400", "D2 -400"), ("4e2", "D2 4e2")]
    {
        let suite = dir.file("suite.epd", format!("{START} ;D1 20 ;D2 {count}\n"));
        let stderr = stderr_of(1, &["perft", "--suite", &suite]);
        assert!(stderr.contains(&format!("suite.epd:1: `{text}` is no count")), "{stderr}");
        let report = json(1, &["perft", "--json", "--suite", &suite]);
        assert_eq!((&report["counts"], &report["wrong"][0]["unreadable"]), (&1.into(), &text.into()), "{report}");
    }
    let suite = dir.file("suite.epd", format!("{START} ;D1 20 ;D2\t400\n"));
    assert_eq!(json(0, &["perft", "--json", "--suite", &suite])["counts"], 2);
}
