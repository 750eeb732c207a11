//! Every call to the system that can fail, failing once: at the first call, the second, and so on, until a
//! run gets through without having met the fault.
//!
//! A small library (`faults/shim.c`) is preloaded and stands between the program and the system. Whatever
//! fails, a run ends in one of two ways: with the results of an undisturbed run, or with status 2, a message,
//! and everything on disk as it was before.

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

/// More calls than these no small job makes.
const MOST_CALLS: u32 = 500;

/// The library, compiled once; `None`, said loudly, without a C compiler.
fn shim() -> Option<&'static Path> {
    static SHIM: OnceLock<Option<(tempfile::TempDir, PathBuf)>> = OnceLock::new();
    let shim = SHIM.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let library = dir.path().join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(source)
            .arg("-ldl")
            .status();
        if compiled.is_ok_and(|status| status.success()) {
            Some((dir, library))
        } else {
            eprintln!("SKIPPED: no C compiler for the faults");
            None
        }
    });
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

/// What a run came to.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    status: Option<i32>,
    stdout: Vec<u8>,
    files: Files,
}

/// A small job, run again and again in a directory that is always the same before.
struct Job<'a> {
    arguments: &'a [&'a str],
    /// What standard output must be, besides the same: only `--json` has times in it.
    compares_stdout: bool,
    before: Files,
}

impl<'a> Job<'a> {
    fn new(arguments: &'a [&'a str]) -> Self {
        let text = format!("{START}\nbad\n").repeat(200);
        let before = Files::from([
            ("x.epd".to_owned(), text.clone().into_bytes()),
            (
                "x.epd.zst".to_owned(),
                zstd::encode_all(text.as_bytes(), 1).expect("compressed"),
            ),
            ("old.boards".to_owned(), b"old".to_vec()),
            ("old.txt".to_owned(), b"old".to_vec()),
        ]);
        Self {
            arguments,
            compares_stdout: arguments[0] != "stats" && arguments[0] != "perft",
            before,
        }
    }

    /// Runs it; with a fault, the flag says whether it was met.
    fn run(&self, fault: Option<&str>) -> (Outcome, String, bool) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let elsewhere = tempfile::tempdir().expect("a temporary directory");
        for (name, content) in &self.before {
            fs::write(dir.path().join(name), content).expect("written");
        }
        let fired = elsewhere.path().join("fired");
        let mut command = assert_cmd::Command::cargo_bin("lanefish").expect("built with its tests");
        command
            .args(self.arguments)
            .args(["--threads", "2"])
            .current_dir(dir.path())
            .timeout(Duration::from_secs(60));
        if self.arguments.contains(&"-") {
            command.write_stdin(self.before["x.epd"].clone());
        }
        if let (Some(fault), Some(shim)) = (fault, shim()) {
            command
                .env("LD_PRELOAD", shim)
                .env("FAULT", fault)
                .env("FAULT_FIRED", &fired);
        }
        let done = command.output().expect("runs to its end in time");
        let outcome = Outcome {
            status: done.status.code(),
            stdout: if self.compares_stdout {
                done.stdout
            } else {
                Vec::new()
            },
            files: files(dir.path()),
        };
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        (outcome, told, fired.exists())
    }

    /// Lets a call fail at every place; gives how many places there are.
    fn withstands(&self, call: &str, what: &str, count: u32, may_fail: bool) -> u32 {
        let (good, told, _) = self.run(None);
        assert!(
            matches!(good.status, Some(0 | 1)),
            "{:?}: {told}",
            self.arguments
        );
        for from in 1..MOST_CALLS {
            let fault = format!("{call}:{what}:{from}:{count}");
            let (outcome, told, fired) = self.run(Some(&fault));
            let context = format!("{:?} {fault}: {told}", self.arguments);
            assert!(!told.contains("panicked"), "{context}");
            if outcome.status == Some(2) {
                assert!(may_fail && fired, "{context}");
                assert!(told.contains("lanefish: ") || call == "write", "{context}");
                assert!(
                    outcome.files == self.before,
                    "{context} {:?}",
                    outcome.files.keys()
                );
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

const REPLACE: &[&str] = &[
    "convert",
    "x.epd",
    "-o",
    "old.boards",
    "--rejects",
    "old.txt",
    "--force",
];
const NEW: &[&str] = &[
    "compute",
    "x.epd.zst",
    "-o",
    "new.csv",
    "--rejects",
    "new.txt",
];
const READ: &[&str] = &["compute", "x.epd", "--no-mmap"];
const PIPE: &[&str] = &["compute", "-"];
const STATS: &[&str] = &["stats", "x.epd"];

#[test]
fn errors_of_files_leave_everything_as_it_was() {
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
    // The fault is met at all.
    assert!(Job::new(NEW).withstands("write", &EIO.to_string(), 1, true) > 1);
    assert!(Job::new(REPLACE).withstands("fsync", &EIO.to_string(), 1, true) > 1);
}

#[test]
fn names_are_given_to_all_outputs_or_to_none() {
    if shim().is_none() {
        return;
    }
    for arguments in [REPLACE, NEW] {
        let job = Job::new(arguments);
        // Each name has a second way to be given, which fails too.
        for count in [1, 2] {
            let places = job.withstands("rename", &EIO.to_string(), count, true);
            assert!(places >= 2, "{arguments:?}");
        }
    }
}

#[test]
fn interruptions_and_short_calls_change_nothing() {
    if shim().is_none() {
        return;
    }
    for arguments in [REPLACE, NEW, READ, PIPE] {
        let job = Job::new(arguments);
        for call in ["open", "read", "write", "fsync"] {
            job.withstands(call, &EINTR.to_string(), 1, false);
        }
        for call in ["read", "write"] {
            // All of them, from the first or the second on.
            for from in [1, 2] {
                let fault = format!("{call}:short:{from}:1000000000");
                let (outcome, told, _) = job.run(Some(&fault));
                assert!(outcome == job.run(None).0, "{arguments:?} {fault}: {told}");
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
    let (outcome, told, fired) = Job::new(READ).run(Some(&format!("write:{EPIPE}:1:1")));
    assert_eq!((outcome.status, fired), (Some(0), true), "{told}");
}

#[test]
fn threads_that_cannot_be_made_are_an_error_of_every_command() {
    if shim().is_none() {
        return;
    }
    for arguments in [
        REPLACE,
        READ,
        PIPE,
        STATS,
        &["games", "x.epd"],
        &["verify", "x.epd"],
        &["show", "x.epd"],
        &["info", "x.epd"],
        &["perft", "5"],
        &["generate", "-n", "40000"],
        &[
            "bench",
            "kernels",
            "--filter",
            "checkers",
            "--seconds",
            "0.001",
        ],
    ] {
        let mut job = Job::new(arguments);
        job.compares_stdout &= arguments[0] != "bench";
        let places = job.withstands("pthread_create", &EAGAIN.to_string(), 1, true);
        assert!(places > 0, "{arguments:?}");
    }
}
