//! Fault injection: every kind of system call fails once, at the first call, the second, and so on, until a run
//! ends without having reached the fault.
//!
//! A small preloaded library (`faults/shim.c`) intercepts the calls. Whatever fails, a run ends in one of two ways:
//! with the results of an undisturbed run, or with status 2, a message, and all files unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const EIO: i32 = 5;
const EAGAIN: i32 = 11;
const EINTR: i32 = 4;
const ENOSPC: i32 = 28;
const EPIPE: i32 = 32;

/// More calls of one kind than any job here makes.
const MOST_CALLS: u32 = 500;

/// The library, compiled once; `None`, with a message, without a C compiler.
fn shim() -> Option<&'static Path> {
    static SHIM: OnceLock<Option<(tempfile::TempDir, PathBuf)>> = OnceLock::new();
    let shim = SHIM.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let library = dir.path().join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl").status();
        compiled.is_ok_and(|status| status.success()).then_some((dir, library))
    });
    if shim.is_none() {
        crate::support::skipped("no C compiler for the faults");
    }
    shim.as_ref().map(|(_, library)| library.as_path())
}

type Files = BTreeMap<String, Vec<u8>>;

fn files(dir: &Path) -> Files {
    fs::read_dir(dir)
        .expect("readable")
        .map(|entry| {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), fs::read(&path).expect("readable"))
        })
        .collect()
}

/// The outcome of a run.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    status: Option<i32>,
    stdout: Vec<u8>,
    files: Files,
}

/// A small job, run repeatedly in a directory with the same initial content.
struct Job<'a> {
    arguments: &'a [&'a str],
    /// Whether standard output is the same in every run: it is not if it contains times.
    compares_stdout: bool,
    before: Files,
}

impl<'a> Job<'a> {
    fn new(arguments: &'a [&'a str]) -> Self {
        let text = format!("{START}\nbad\n").repeat(200);
        let before = Files::from([
            ("x.epd".to_owned(), text.clone().into_bytes()),
            ("x.epd.zst".to_owned(), zstd::encode_all(text.as_bytes(), 1).expect("compressed")),
            (
                "x.pgn".to_owned(),
                (0..80).flat_map(|n| format!("[White \"{n}\"]\n\n1. e4 e5 *\n\n").into_bytes()).collect(),
            ),
            ("old.boards".to_owned(), b"old".to_vec()),
            ("old.txt".to_owned(), b"old".to_vec()),
        ]);
        Self { arguments, compares_stdout: arguments[0] != "stats" && arguments[0] != "perft", before }
    }

    /// Runs the job. Returns the outcome, standard error, and whether the fault was reached.
    fn run(&self, fault: Option<&str>) -> (Outcome, String, bool) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let elsewhere = tempfile::tempdir().expect("a temporary directory");
        for (name, content) in &self.before {
            fs::write(dir.path().join(name), content).expect("written");
        }
        let fired = elsewhere.path().join("fired");
        let mut command = assert_cmd::Command::cargo_bin("lanefish").expect("built with its tests");
        command.args(self.arguments).args(["--threads", "2"]).current_dir(dir.path()).timeout(Duration::from_secs(60));
        if self.arguments.contains(&"-") {
            command.write_stdin(self.before["x.epd"].clone());
        }
        if let (Some(fault), Some(shim)) = (fault, shim()) {
            command.env("LD_PRELOAD", shim).env("FAULT", fault).env("FAULT_FIRED", &fired);
        }
        let done = command.output().expect("runs to its end in time");
        let outcome = Outcome {
            status: done.status.code(),
            stdout: if self.compares_stdout { done.stdout } else { Vec::new() },
            files: files(dir.path()),
        };
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        (outcome, stderr, fired.exists())
    }

    /// Lets a call fail at every place in turn; returns the number of places.
    fn withstands(&self, call: &str, what: &str, count: u32, may_fail: bool) -> u32 {
        let (good, stderr, _) = self.run(None);
        assert!(matches!(good.status, Some(0 | 1)), "{:?}: {stderr}", self.arguments);
        for from in 1..MOST_CALLS {
            let fault = format!("{call}:{what}:{from}:{count}");
            let (outcome, stderr, fired) = self.run(Some(&fault));
            let context = format!("{:?} {fault}: {stderr}", self.arguments);
            assert!(!stderr.contains("panicked"), "{context}");
            if outcome.status == Some(2) {
                assert!(may_fail && fired, "{context}");
                assert!(stderr.contains("lanefish: ") || call == "write", "{context}");
                assert!(outcome.files == self.before, "{context} {:?}", outcome.files.keys());
            } else {
                // A message that cannot be printed is no reason to stop.
                assert!(outcome == good, "{context} {outcome:?}");
            }
            if !fired {
                return from - 1;
            }
        }
        panic!("{:?} {call}: no end", self.arguments);
    }
}

const REPLACE: &[&str] = &["convert", "x.epd", "-o", "old.boards", "--rejects", "old.txt", "--force"];
const NEW: &[&str] = &["compute", "x.epd.zst", "-o", "new.csv", "--rejects", "new.txt"];
const READ: &[&str] = &["compute", "x.epd", "--no-mmap"];
const PIPE: &[&str] = &["compute", "-"];
const STATS: &[&str] = &["stats", "x.epd"];

#[test]
fn file_errors_leave_everything_unchanged() {
    if shim().is_none() {
        return;
    }
    for arguments in [REPLACE, NEW, READ, STATS] {
        let job = Job::new(arguments);
        for (call, error) in [
            ("open", EIO),
            ("read", EIO),
            ("write", EIO),
            ("write", ENOSPC),
            ("mmap", EIO),
            ("lseek", EIO),
            ("fsync", EIO),
            ("fchmod", EIO),
            ("close", EIO),
        ] {
            job.withstands(call, &error.to_string(), 1, true);
        }
    }
    // The faults are reached.
    assert!(Job::new(NEW).withstands("write", &EIO.to_string(), 1, true) > 1);
    assert!(Job::new(REPLACE).withstands("fsync", &EIO.to_string(), 1, true) > 1);
}

/// Commands for whole data sets, most of which need temporary files if they have little memory.
const DATASETS: [&[&str]; 5] = [
    &["shuffle", "x.pgn", "--memory", "1K", "-o", "new.boards"],
    &["dedup", "x.pgn", "--memory", "1K", "-o", "new.boards", "--key", "record", "--rejects", "new.txt"],
    &["interleave", "x.epd", "x.pgn", "-o", "new.fen", "--rejects", "new.txt"],
    &["convert", "x.pgn", "--sample", "180", "--memory", "1K", "-o", "new.boards"],
    &["split", "x.epd", "--parts", "a=0.5,b=0.5", "--by", "record", "-o", "{part}.fen"],
];

/// Temporary files that cannot be created, written or read.
#[test]
fn failing_temporary_files_leave_everything_unchanged() {
    if shim().is_none() {
        return;
    }
    let mut spilled = 0;
    for arguments in DATASETS {
        let job = Job::new(arguments);
        for (call, error) in [("open", EIO), ("read", EIO), ("write", ENOSPC), ("ftruncate", EIO), ("pread", EIO)] {
            job.withstands(call, &error.to_string(), 1, true);
        }
        spilled += u32::from(job.withstands("pwrite", &ENOSPC.to_string(), 1, true) > 0);
        for call in ["pread", "pwrite"] {
            job.withstands(call, &EINTR.to_string(), 1, false);
            let fault = format!("{call}:short:1:1000000000");
            let (outcome, stderr, _) = job.run(Some(&fault));
            assert!(outcome == job.run(None).0, "{arguments:?} {fault}: {stderr}");
        }
    }
    assert_eq!(spilled, 3);
}

#[test]
fn either_all_outputs_get_their_names_or_none() {
    if shim().is_none() {
        return;
    }
    for arguments in [REPLACE, NEW] {
        let job = Job::new(arguments);
        // A failed rename is tried in a second way, which fails as well.
        for count in [1, 2] {
            let places = job.withstands("rename", &EIO.to_string(), count, true);
            assert!(places >= 2, "{arguments:?}");
        }
    }
}

#[test]
fn interrupted_and_short_calls_change_nothing() {
    if shim().is_none() {
        return;
    }
    for arguments in [REPLACE, NEW, READ, PIPE] {
        let job = Job::new(arguments);
        for call in ["open", "read", "write", "fsync"] {
            job.withstands(call, &EINTR.to_string(), 1, false);
        }
        for call in ["read", "write"] {
            // All calls, from the first or the second on.
            for from in [1, 2] {
                let fault = format!("{call}:short:{from}:1000000000");
                let (outcome, stderr, _) = job.run(Some(&fault));
                assert!(outcome == job.run(None).0, "{arguments:?} {fault}: {stderr}");
            }
        }
    }
}

#[test]
fn a_broken_pipe_is_quiet_only_on_standard_output() {
    if shim().is_none() {
        return;
    }
    Job::new(NEW).withstands("write", &EPIPE.to_string(), 1, true);
    let (outcome, stderr, fired) = Job::new(READ).run(Some(&format!("write:{EPIPE}:1:1")));
    assert_eq!((outcome.status, fired), (Some(0), true), "{stderr}");
}

#[test]
fn threads_that_cannot_be_started_are_an_error_in_every_command() {
    if shim().is_none() {
        return;
    }
    for arguments in [
        REPLACE,
        READ,
        PIPE,
        STATS,
        &["games", "x.pgn"],
        &["verify", "x.epd"],
        &["show", "x.epd"],
        &["info", "x.epd"],
        &["perft", "5"],
        &["generate", "-n", "40000"],
        &["bench", "kernels", "--filter", "checkers", "--seconds", "0.001"],
    ] {
        let mut job = Job::new(arguments);
        job.compares_stdout &= arguments[0] != "bench";
        let places = job.withstands("pthread_create", &EAGAIN.to_string(), 1, true);
        assert!(places > 0, "{arguments:?}");
    }
}
