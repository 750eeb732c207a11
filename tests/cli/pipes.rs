//! Pipes whose writers keep silent do not hold up runs that need nothing of them.

use super::files::{fifo, program};
use super::{Dir, START};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Longer than any of these runs takes on a busy machine; one that hangs takes forever.
const LIMIT: Duration = Duration::from_secs(30);

/// Status, standard output and standard error of a run, which must end in time.
fn ends(arguments: &[&str], stdout: Stdio) -> (Option<i32>, String, String) {
    let mut child = program(arguments).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{arguments:?}: still running");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut texts = [String::new(), String::new()];
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut texts[0]).unwrap();
    }
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut texts[1]).unwrap();
    let [stdout, stderr] = texts;
    (status.code(), stdout, stderr)
}

/// A pipe that nobody has opened, and one whose writer writes nothing; it does as long as the file is kept.
fn silent_pipes(dir: &Dir) -> Option<([String; 2], File)> {
    for name in ["unopened.fen", "mute.fen"] {
        if !fifo(Path::new(&dir.name(name))) {
            return None;
        }
    }
    // Opened for both, it does not wait.
    let writer = OpenOptions::new().read(true).write(true).open(dir.path("mute.fen"));
    Some(([dir.name("unopened.fen"), dir.name("mute.fen")], writer.unwrap()))
}

#[test]
fn what_is_decided_does_not_wait_for_a_silent_pipe() {
    let dir = Dir::new();
    let Some((pipes, _writer)) = silent_pipes(&dir) else {
        return;
    };
    // Several chunks, and less than one.
    for (name, lines) in [("many.fen", 60_000), ("few.fen", 10)] {
        let good = dir.file(name, format!("{START}\n").repeat(lines));
        let bad = dir.file(&format!("bad-{name}"), format!("{START}\n").repeat(lines) + "bad\n");
        let limit = lines.to_string();
        for pipe in &pipes {
            for threads in ["1", "2", "8"] {
                let with =
                    |arguments: &[&str], stdout: Stdio| ends(&[arguments, &["--threads", threads]].concat(), stdout);
                let (status, stdout, stderr) = with(&["stats", "--limit", &limit, &good, pipe], Stdio::piped());
                assert_eq!(status, Some(0), "{stderr}");
                assert!(stdout.contains(" positions, 0 rejected"), "{stdout}");
                let (status, _, stderr) = with(&["stats", "--strict", &bad, pipe], Stdio::piped());
                assert_eq!(status, Some(2));
                assert!(stderr.contains("bad-"), "{stderr}");
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_fails_does_not_wait_for_a_silent_pipe() {
    let dir = Dir::new();
    let Some((pipes, _writer)) = silent_pipes(&dir) else {
        return;
    };
    // More rows than the buffer of the output holds.
    let good = dir.file("good.fen", format!("{START}\n").repeat(20_000));
    for pipe in &pipes {
        for threads in ["1", "2", "8"] {
            let arguments = ["compute", &good, pipe, "--threads", threads];
            let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            let (status, _, stderr) = ends(&arguments, full.into());
            assert_eq!(status, Some(2), "{stderr}");
            assert!(stderr.contains("cannot write standard output"), "{stderr}");
            // Nobody reads it.
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let (status, _, stderr) = ends(&arguments, writer.into());
            assert_eq!((status, &*stderr), (Some(0), ""));
        }
    }
}

/// Nothing is opened while what is already read suffices: its writer would get a broken pipe.
#[test]
fn a_pipe_that_is_not_needed_is_not_opened() {
    let dir = Dir::new();
    let pipe = dir.name("pipe.fen");
    if !fifo(Path::new(&pipe)) {
        return;
    }
    // Long enough that other workers have nothing to do while its last chunk is decoded.
    let good = dir.file("good.fen", format!("{START}\n").repeat(30_000));
    let opened = {
        let pipe = pipe.clone();
        std::thread::spawn(move || drop(OpenOptions::new().write(true).open(pipe).unwrap()))
    };
    for _ in 0..20 {
        let arguments = ["stats", "--limit", "30000", "--threads", "8", &good, &pipe];
        assert_eq!(ends(&arguments, Stdio::piped()).0, Some(0));
    }
    assert!(!opened.is_finished());
    let needed = ["stats", "--limit", "30001", "--threads", "8", &good, &pipe];
    assert_eq!(ends(&needed, Stdio::piped()).0, Some(0));
    opened.join().unwrap();
}

/// Several pipes, one after the other, and files between them.
#[test]
fn pipes_are_read_in_their_order() {
    let dir = Dir::new();
    let mut inputs = Vec::new();
    let mut writers = Vec::new();
    for number in 0..4 {
        let name = dir.name(&format!("{number}.fen"));
        let text = format!("{START}\n").repeat(1000) + &format!("bad {number}\n");
        if number == 2 {
            std::fs::write(&name, text).unwrap();
        } else {
            if !fifo(Path::new(&name)) {
                return;
            }
            let name = name.clone();
            writers.push(std::thread::spawn(move || {
                std::fs::write(name, text).unwrap();
            }));
        }
        inputs.push(name);
    }
    let rejects = dir.name("rejects.txt");
    let mut arguments = vec!["stats", "--rejects", &rejects, "--threads", "8"];
    arguments.extend(inputs.iter().map(String::as_str));
    let (status, stdout, stderr) = ends(&arguments, Stdio::piped());
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stdout.starts_with("4,000 positions, 4 rejected"), "{stdout}");
    let lines = std::fs::read_to_string(&rejects).unwrap();
    let found: Vec<&str> = lines.lines().map(|line| line.rsplit_once('\t').unwrap().1).collect();
    assert_eq!(found, ["bad 0", "bad 1", "bad 2", "bad 3"]);
    writers.into_iter().for_each(|writer| writer.join().unwrap());
}
