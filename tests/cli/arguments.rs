//! Errors in the arguments are reported before anything is opened or written; and the input that is read if none
//! is named.

use super::{Dir, START, lanefish, sample, stderr_of};
use std::fs;

#[test]
fn nothing_is_written_before_everything_is_checked() {
    let dir = Dir::new();
    let input = sample("perft.epd");
    let foreign = dir.file("last.xyz", "neither this nor that");
    let missing = dir.name("missing.epd");
    let before = dir.list();
    for arguments in [
        &["compute", &input, "--from", "xyz"][..],
        &["compute", &input, "--columns", "fen,nothing"],
        &["compute", &input, "--level", "3"],
        &["compute", &missing],
        // Also the last of several inputs.
        &["compute", &input, &missing],
        &["compute", &input, &foreign],
        &["compute", "-", "-"],
        &["games", &missing],
        &["games", &input, "--from", "xyz"],
        &["convert", &input, "--from", "xyz", "--to", "fen"],
        &["convert", &input, &foreign, "--to", "fen"],
    ] {
        lanefish(arguments).assert().code(2).stdout("");
        let rejects = dir.name("rejects.txt");
        lanefish(&[arguments, &["--rejects", &rejects]].concat()).assert().code(2).stdout("");
        assert_eq!(dir.list(), before, "{arguments:?}");
    }
}

#[test]
fn misspelled_values_get_a_suggestion() {
    let input = sample("perft.epd");
    for (arguments, meant) in [
        (&["compute", &input, "--columns", "fen,legal_move"][..], "`legal_moves`"),
        (&["compute", &input, "--columns", "fne"], "`fen`"),
        (&["compute", &input, "--from", "edp"], "`epd`"),
        (&["convert", &input, "--to", "board"], "`boards`"),
        (&["converts", &input], "'convert'"),
    ] {
        let stderr = stderr_of(2, arguments);
        assert!(stderr.contains(meant), "{stderr}");
    }
    let stderr = stderr_of(2, &["compute", &input, "--columns", "fen,xxxxxx"]);
    assert!(!stderr.contains("did you mean"), "{stderr}");
}

#[test]
fn a_pipe_is_read_if_no_input_is_named() {
    let text = format!("{START}\n");
    for command in ["compute", "stats", "verify", "show"] {
        let named = lanefish(&[command, "-"]).write_stdin(&*text).output().unwrap();
        let unnamed = lanefish(&[command]).write_stdin(&*text).output().unwrap();
        assert_eq!(unnamed.status.code(), Some(0), "{command}");
        if command != "stats" {
            let name = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            assert_eq!(name(unnamed.stdout), name(named.stdout), "{command}");
        }
    }
    lanefish(&["convert", "--to", "fen"]).write_stdin(&*text).assert().code(0).stdout(text.clone());
    // An empty pipe is an error, named or not.
    for command in ["stats", "compute", "games", "verify", "show"] {
        let stderr = stderr_of(2, &[command]);
        assert!(stderr.contains("standard input is empty") && stderr.contains("--help"), "{stderr}");
        assert_eq!(stderr.lines().count(), 1);
    }
    let done = lanefish(&["compute", "--columns", "fen", "-"]).write_stdin("").output().unwrap();
    assert!(done.status.code() == Some(2) && String::from_utf8_lossy(&done.stderr).contains("no records"), "{done:?}");
}

#[cfg(unix)]
#[test]
fn only_pipes_and_files_are_read_from_standard_input() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::Stdio;
    let run = |stdin: Stdio| {
        let done = super::program().args(["compute", "--columns", "legal_moves"]).stdin(stdin).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    let dir = Dir::new();
    let file = dir.file("a.fen", START);
    let (status, rows, _) = run(fs::File::open(&file).unwrap().into());
    assert_eq!((status, &*rows), (Some(0), "legal_moves\n20\n"));
    let empty = dir.file("empty.csv", "fen\n");
    let (status, rows, _) = run(fs::File::open(&empty).unwrap().into());
    assert_eq!((status, &*rows), (Some(0), "legal_moves\n"));
    // Standard input as daemons, cron and CI systems set it up.
    let (socket, _other) = UnixStream::pair().unwrap();
    for stdin in [Stdio::null(), OwnedFd::from(socket).into()] {
        let (status, rows, stderr) = run(stdin);
        assert_eq!((status, &*rows), (Some(2), ""));
        assert!(stderr.contains("no input") && stderr.contains("--help"), "{stderr}");
    }
}

#[test]
fn progress_lines_have_binary_units_and_the_time() {
    let stderr = stderr_of(0, &["stats", "--progress", "always", &sample("sample.epd")]);
    let line = stderr.lines().next().unwrap();
    assert!(line.starts_with("reading  ") && line.contains("iB"), "{line}");
    assert!(line.contains("records") && line.contains("0:00"), "{line}");
    let run = stderr_of(0, &["stats", &sample("sample.epd")]);
    assert!(run.trim_end().ends_with("KiB read"), "{run}");
}
