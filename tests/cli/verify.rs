//! `verify`: faults and their places.

use super::{Dir, START, json, lanefish, output, sample, stderr_of};
use serde_json::json;
use std::fs;

#[test]
fn good_files() {
    let text = output(0, &["verify", &sample("sample.boards"), &sample("sample.epd")]);
    assert!(text.contains("boards, 4,098 records, 0 rejected, ok\n"), "{text}");
    assert!(text.ends_with("\nok\n"), "{text}");
    let report = json(0, &["verify", "--json", &sample("sample.boards")]);
    assert_eq!(
        report,
        json!({
            "files": [{
                "path": sample("sample.boards"),
                "format": "boards",
                "records": 4098,
                "rejected": 0,
                "reasons": {},
                "damage": [],
            }],
            "ok": true,
        })
    );
}

#[test]
fn strict_is_the_default_here_and_only_here() {
    let dir = Dir::new();
    // Nine pawns.
    let file = dir.file("a.fen", "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1\n");
    let report = json(1, &["-q", "verify", "--json", &file]);
    assert_eq!(report["files"][0]["rejected"], 1);
    assert_eq!(report["files"][0]["reasons"].as_object().unwrap().len(), 1);
    json(0, &["verify", "--json", "--validity", "playable", &file]);
    json(0, &["stats", "--json", &file]);
    json(1, &["stats", "--json", "--validity", "strict", &file]);
}

#[test]
fn damage_is_found_and_located() {
    let dir = Dir::new();
    let mut bytes = fs::read(sample("sample.boards")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    let file = dir.file("a.boards", &bytes);
    let done = lanefish(&["verify", "--json", &file]).assert();
    let status = done.get_output().status.code();
    assert!(matches!(status, Some(1 | 2)), "{status:?}");
    let report: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(report["ok"], false);
    assert!(report["files"][0]["damage"][0]["offset"].is_u64(), "{report}");
    lanefish(&["stats", &file]).assert().code(2);
}

#[test]
fn truncated_and_extended_files() {
    let dir = Dir::new();
    let bytes = fs::read(sample("sample.boards")).unwrap();
    let mut longer = bytes.clone();
    longer.extend(b"more");
    let inputs = [dir.file("short.boards", &bytes[..bytes.len() - 1]), dir.file("long.boards", longer)];
    for file in inputs {
        let text = lanefish(&["verify", &file]).assert().failure().get_output().stdout.clone();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("damaged at byte") && text.ends_with("not ok\n"), "{text}");
        lanefish(&["stats", &file]).assert().code(2);
    }
}

#[test]
fn truncated_compression() {
    let dir = Dir::new();
    let text = format!("{START}\n").repeat(5000);
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let file = dir.file("a.fen.zst", &packed[..packed.len() - 5]);
    let done = lanefish(&["verify", "--json", &file]).assert().code(2);
    let report: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(report["ok"], false);
    assert_eq!(report["files"][0]["damage"].as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn lines_that_are_not_positions() {
    let dir = Dir::new();
    let file = dir.file("a.fen", format!("{START}\nrubbish\n8/8/8/8/8/8/8/8 w - -\n"));
    let done = lanefish(&["verify", &file]).assert().code(1);
    let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("a.fen:2 ") && stderr.contains("a.fen:3 "), "{stderr}");
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(text.contains("3 records, 2 rejected\n"), "{text}");
}

/// One broken input after the other: each is reported, and what stands before the damage counts.
#[test]
fn all_broken_inputs_are_reported() {
    let dir = Dir::new();
    let text = format!("{START}\n").repeat(50_000);
    let whole = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let cut = &whole[..whole.len() / 2];
    let mut boards = fs::read(sample("sample.boards")).unwrap();
    boards.truncate(boards.len() / 2);
    let files = [
        dir.file("a.fen.zst", cut),
        dir.file("b.boards", boards),
        dir.file("c.fen", format!("{START}\n")),
        dir.file("d.fen.zst", cut),
    ];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for threads in ["1", "2", "8"] {
        let arguments = [&["verify", "--json", "--threads", threads], &files[..]].concat();
        let done = lanefish(&arguments).assert().code(2);
        let report: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
        assert_eq!(report["ok"], false);
        let found = report["files"].as_array().unwrap();
        let damages: Vec<usize> = found.iter().map(|file| file["damage"].as_array().unwrap().len()).collect();
        // A section of the boards file, and its end.
        assert_eq!(damages, [1, 2, 0, 1], "{report}");
        assert_eq!(found[0]["damage"], found[3]["damage"]);
        assert_eq!(found[0]["records"], found[3]["records"]);
        assert_eq!(found[2]["records"], 1);
        // The error is that of the first one.
        let stderr = String::from_utf8_lossy(&done.get_output().stderr);
        assert!(stderr.contains("a.fen.zst: zstd data are"), "{stderr}");
        let arguments = [&["verify", "--threads", threads], &files[..]].concat();
        let text = lanefish(&arguments).assert().code(2).get_output().stdout.clone();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.matches("  damaged at byte ").count(), 4, "{text}");
    }
}

/// What cannot even be opened is reported as well, and does not keep the others from being checked.
#[test]
fn inputs_that_cannot_be_opened_do_not_end_the_run() {
    let dir = Dir::new();
    let cut = dir.file("cut.pgn.zst", b"\x28\xb5\x2f\xfd");
    let other = dir.file("other.epd.gz", "no gzip");
    let good = dir.file("good.fen", format!("{START}\n"));
    for threads in ["1", "3"] {
        let inputs = [&cut, &other, &good, &cut, &good];
        let mut arguments = vec!["verify", "--json", "--threads", threads];
        arguments.extend(inputs.map(String::as_str));
        let report = json(2, &arguments);
        let files = report["files"].as_array().unwrap();
        assert_eq!(report["ok"], false);
        assert_eq!(files.len(), inputs.len());
        for (file, path) in files.iter().zip(inputs) {
            assert_eq!(file["path"], path.as_str());
            let is_good = path == &good;
            assert_eq!(file["records"], u64::from(is_good), "{file}");
            assert_eq!(file["damage"].as_array().unwrap().is_empty(), is_good);
            assert_eq!(file["format"].is_null(), !is_good, "{file}");
        }
        arguments.remove(1);
        let stderr = stderr_of(2, &arguments);
        assert!(stderr.contains("2 records could be read"), "{stderr}");
    }
}
