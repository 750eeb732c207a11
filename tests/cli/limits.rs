//! Limits that the system sets a process: what does not fit is an error, and nothing is left behind.

use super::{Dir, START, output};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

/// Runs the program after commands of the shell.
fn after(commands: &str, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("{commands}; exec \"$@\""), "sh"])
        .arg(assert_cmd::cargo::cargo_bin("lanefish"))
        .args(arguments)
        .env_remove("NO_COLOR")
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap()
}

#[test]
fn a_file_beyond_the_largest_size_is_an_error() {
    let dir = Dir::new();
    let list = dir.file("list.fen", format!("{START}\n").repeat(20_000));
    for out in ["out.csv", "out.boards", "out.parquet", "out.csv.gz", "out"] {
        let path = dir.name(out);
        let arguments: &[&str] = match out {
            // Standard output.
            "out" => &["compute", &list],
            "out.boards" => &["convert", &list, "-o", &path],
            _ => &["compute", &list, "-o", &path],
        };
        let done = match out {
            "out" => after(&format!("ulimit -f 4; exec >'{path}'"), arguments),
            _ => after("ulimit -f 4", arguments),
        };
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{out}: {stderr}");
        assert!(stderr.contains("File too large"), "{out}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{out}: {stderr}");
        assert!(dir.list() == ["list.fen"] || out == "out", "{:?}", dir.list());
    }
    // Rejects that do not fit.
    let bad = dir.file("list.fen", "nonsense\n".repeat(20_000));
    let rejects = dir.name("rejects");
    let done = after("ulimit -f 4", &["stats", &bad, "--rejects", &rejects]);
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    assert_eq!(dir.list(), ["list.fen", "out"]);
}

/// With little memory a run fails sooner or later, in whatever it allocates.
#[cfg(target_os = "linux")]
#[test]
fn a_failed_allocation_leaves_no_file() {
    let dir = Dir::new();
    let list = dir.file("list.fen", format!("{START}\n").repeat(50_000));
    let out = dir.name("out.boards.zst");
    let (mut aborted, mut is_loaded) = (0, false);
    for megabytes in (30..90).step_by(3) {
        let limit = format!("ulimit -c 0; ulimit -v {}", megabytes << 10);
        let done = after(&limit, &["convert", "--threads", "2", &list, "-o", &out]);
        let stderr = String::from_utf8_lossy(&done.stderr);
        let mut expected = vec!["list.fen"];
        match (done.status.code(), done.status.signal()) {
            (Some(0), _) => expected.push("out.boards.zst"),
            // The program itself cannot be loaded: the system says so with 127, or later with SIGSEGV.
            (Some(127), _) => {}
            (_, Some(11)) if !is_loaded && stderr.is_empty() => continue,
            (Some(2), _) => assert!(!stderr.contains("panicked"), "{stderr}"),
            (_, Some(6)) => aborted += 1,
            other => panic!("{megabytes}: {other:?}: {stderr}"),
        }
        is_loaded |= done.status.code() != Some(127);
        assert_eq!(dir.list(), expected, "{megabytes}: {stderr}");
        let _ = std::fs::remove_file(&out);
    }
    if aborted == 0 {
        crate::support::skipped("no allocation failed");
    }
}

/// Many runs, which were a file each.
#[test]
fn distinct_positions_are_counted_with_few_files() {
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    output(0, &["generate", "-n", "300000", "-o", &boards]);
    let temp = dir.name("");
    let exact = |commands: &str, memory: &str| {
        let arguments = ["stats", "--json", "--exact-distinct", &boards];
        let options = ["--memory", memory, "--temp", &temp, "--threads", "2"];
        after(commands, &[&arguments[..], &options].concat())
    };
    let count = |done: Output| {
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{stderr}");
        let report: Value = serde_json::from_slice(&done.stdout).unwrap();
        report["details"]["distinct"]["exact"].clone()
    };
    let expected = count(exact(":", "1G"));
    assert!(expected["position"].as_u64() > Some(200_000), "{expected}");
    assert_eq!(count(exact("ulimit -n 64", "1M")), expected);
    // A number that lacks what could not be written would be wrong.
    for size in [1, 2000, 10_000] {
        let done = exact(&format!("ulimit -f {size}"), "1M");
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{size}: {stderr}");
        assert!(stderr.contains("temporary files failed"), "{stderr}");
        assert_eq!(String::from_utf8_lossy(&done.stdout), "");
    }
    assert_eq!(dir.list(), ["a.boards"]);
}
