//! Ctrl-C and SIGTERM end the program promptly, whatever it is doing, and leave no files behind.

use super::{Dir, START, sample};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Half a second, with a margin for a busy machine.
const SOON: Duration = Duration::from_millis(2500);

fn start(arguments: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("lanefish"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the condition holds.
fn wait_for(condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the run did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal; false, with a message, if there is no `kill` command.
fn send(child: &Child, signal: &str) -> bool {
    let sent = Command::new("kill")
        .args([format!("-{signal}"), child.id().to_string()])
        .status()
        .is_ok_and(|status| status.success());
    if !sent {
        crate::support::skipped("no `kill` command");
    }
    sent
}

/// Waits for the program to end, which must happen soon; returns its status and standard error.
fn ends_soon(mut child: Child, begin: Instant) -> (Option<i32>, String) {
    loop {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        if begin.elapsed() > SOON {
            child.kill().unwrap();
            panic!("still running");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn signals_end_every_long_command() {
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        for arguments in [
            &["generate", "-n", "4000000000", "-o", &boards][..],
            &["perft", "12"],
            &["bench", "--seconds", "3000"],
            &["stats", "-"],
        ] {
            let mut child = start(arguments);
            match arguments[0] {
                "generate" => wait_for(|| !dir.list().is_empty()),
                // The others leave no sign that they have started.
                _ => std::thread::sleep(Duration::from_millis(300)),
            }
            let begin = Instant::now();
            if !send(&child, signal) {
                child.kill().unwrap();
                child.wait().unwrap();
                return;
            }
            let (code, stderr) = ends_soon(child, begin);
            assert_eq!(code, Some(status), "{arguments:?}: {stderr}");
            assert_eq!(stderr, "lanefish: interrupted\n", "{arguments:?}");
            assert_eq!(dir.list(), [""; 0], "{arguments:?}");
        }
    }
}

/// What ends by itself, because an allocation failed, ends in this way.
#[test]
fn an_abort_leaves_no_file() {
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    let mut child = start(&["generate", "-n", "4000000000", "-o", &boards]);
    wait_for(|| !dir.list().is_empty());
    // The file is there before its name is known to the handler.
    std::thread::sleep(Duration::from_millis(100));
    if !send(&child, "ABRT") {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    use std::os::unix::process::ExitStatusExt;
    if status.signal() == Some(6) {
        assert_eq!(dir.list(), [""; 0]);
    }
}

/// Neither a pipe that nobody opens, nor one whose writer writes nothing, keeps a run from its end.
#[test]
fn a_run_that_opens_a_silent_pipe_is_ended() {
    let dir = Dir::new();
    let list = dir.file("list.fen", format!("{START}\n").repeat(100));
    let (silent, out) = (dir.name("pipe.fen"), dir.name("out.csv"));
    let made = Command::new("mkfifo").arg(&silent).status();
    if !made.is_ok_and(|status| status.success()) {
        crate::support::skipped("no mkfifo");
        return;
    }
    for threads in ["1", "2", "8"] {
        for pipe in ["-", &silent] {
            let mut child = start(&["compute", &list, pipe, "-o", &out, "--threads", threads]);
            wait_for(|| dir.list().len() == 3);
            std::thread::sleep(Duration::from_millis(100));
            let begin = Instant::now();
            if !send(&child, "INT") {
                child.kill().unwrap();
                child.wait().unwrap();
                return;
            }
            let (code, stderr) = ends_soon(child, begin);
            assert_eq!(code, Some(130), "{threads} {pipe}: {stderr}");
            assert_eq!(stderr, "lanefish: interrupted\n", "{threads} {pipe}");
            assert_eq!(dir.list(), ["list.fen", "pipe.fen"], "{threads} {pipe}");
        }
    }
}

/// The main thread waits forever for standard output to be read, and cannot check a flag.
#[test]
fn a_blocked_run_is_ended() {
    let dir = Dir::new();
    let list = dir.file("long.fen", format!("{START}\n").repeat(20_000));
    let rejects = dir.name("rejects.txt");
    for signals in [&["TERM"][..], &["INT", "INT"], &["INT", "TERM"]] {
        let mut child = start(&["compute", &list, "--rejects", &rejects]);
        wait_for(|| dir.list().len() == 2);
        std::thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        for (number, signal) in signals.iter().enumerate() {
            if number > 0 {
                std::thread::sleep(Duration::from_millis(50));
            }
            if !send(&child, signal) {
                child.kill().unwrap();
                child.wait().unwrap();
                return;
            }
        }
        let (code, stderr) = ends_soon(child, begin);
        assert_eq!(code, Some(if signals[0] == "INT" { 130 } else { 143 }));
        assert_eq!(stderr, "lanefish: interrupted\n");
        assert_eq!(dir.list(), ["long.fen"]);
    }
}

/// `nohup` starts programs with this signal ignored.
#[test]
fn ignored_hangups_stay_ignored() {
    let command = "trap '' HUP; exec \"$1\" stats - < \"$2\"";
    let dir = Dir::new();
    let pipe = dir.path("pipe.fen");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        crate::support::skipped("no mkfifo");
        return;
    }
    let mut child = Command::new("sh")
        .args(["-c", command, "sh"])
        .arg(assert_cmd::cargo::cargo_bin("lanefish"))
        .arg(&pipe)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut writer = std::fs::File::create(&pipe).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    if !send(&child, "HUP") {
        child.kill().unwrap();
        child.wait().unwrap();
        return;
    }
    std::thread::sleep(Duration::from_millis(500));
    let text = std::fs::read(sample("sample.epd")).unwrap();
    let written = std::io::Write::write_all(&mut writer, &text);
    drop(writer);
    let done = child.wait_with_output().unwrap();
    assert!(written.is_ok(), "{written:?}: {done:?}");
    assert_eq!(done.status.code(), Some(0));
    let stdout = String::from_utf8_lossy(&done.stdout);
    assert!(stdout.starts_with("4,098 positions, 0 rejected"), "{stdout}");
}
