//! What is wrong with the arguments is said before anything is opened or written; and what is read where no
//! input is named.

use super::{Dir, START, complaint, lanefish, output, sample};
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
        // The last of several inputs as well.
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
        lanefish(&[arguments, &["--rejects", &rejects]].concat())
            .assert()
            .code(2)
            .stdout("");
        assert_eq!(dir.list(), before, "{arguments:?}");
    }
}

#[test]
fn what_was_meant() {
    let input = sample("perft.epd");
    for (arguments, meant) in [
        (
            &["compute", &input, "--columns", "fen,legal_move"][..],
            "`legal_moves`",
        ),
        (&["compute", &input, "--columns", "fne"], "`fen`"),
        (&["compute", &input, "--from", "edp"], "`epd`"),
        (&["convert", &input, "--to", "board"], "`boards`"),
        (&["converts", &input], "'convert'"),
    ] {
        let said = complaint(2, arguments);
        assert!(said.contains(meant), "{said}");
    }
    let said = complaint(2, &["compute", &input, "--columns", "fen,xxxxxx"]);
    assert!(!said.contains("did you mean"), "{said}");
}

#[test]
fn a_pipe_is_read_where_no_input_is_named() {
    let text = format!("{START}\n");
    for command in ["compute", "stats", "verify", "show"] {
        let named = lanefish(&[command, "-"])
            .write_stdin(&*text)
            .output()
            .unwrap();
        let unnamed = lanefish(&[command]).write_stdin(&*text).output().unwrap();
        assert_eq!(unnamed.status.code(), Some(0), "{command}");
        if command != "stats" {
            let name = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            assert_eq!(name(unnamed.stdout), name(named.stdout), "{command}");
        }
    }
    lanefish(&["convert", "--to", "fen"])
        .write_stdin(&*text)
        .assert()
        .code(0)
        .stdout(text.clone());
    // A pipe that ends without a byte is an empty list only by name.
    for command in ["stats", "compute", "games", "verify", "show"] {
        let said = complaint(2, &[command]);
        assert!(
            said.contains("standard input is empty") && said.contains("--help"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1);
    }
    lanefish(&["compute", "--columns", "fen", "-"])
        .write_stdin("")
        .assert()
        .code(0)
        .stdout("fen\n");
}

#[cfg(unix)]
#[test]
fn files_are_read_from_standard_input_and_other_things_are_not() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};
    let run = |stdin: Stdio| {
        let done = Command::new(assert_cmd::cargo::cargo_bin("lanefish"))
            .args(["compute", "--columns", "legal_moves"])
            .stdin(stdin)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    let dir = Dir::new();
    let file = dir.file("a.fen", START);
    let (status, rows, _) = run(fs::File::open(&file).unwrap().into());
    assert_eq!((status, &*rows), (Some(0), "legal_moves\n20\n"));
    let empty = dir.file("empty.fen", "");
    let (status, rows, _) = run(fs::File::open(&empty).unwrap().into());
    assert_eq!((status, &*rows), (Some(0), "legal_moves\n"));
    // What daemons, cron and CI systems start programs with.
    let (socket, _other) = UnixStream::pair().unwrap();
    for stdin in [Stdio::null(), OwnedFd::from(socket).into()] {
        let (status, rows, said) = run(stdin);
        assert_eq!((status, &*rows), (Some(2), ""));
        assert!(
            said.contains("no input") && said.contains("--help"),
            "{said}"
        );
    }
}

#[test]
fn progress_lines_have_binary_units_and_the_time() {
    let said = complaint(0, &["stats", "--progress", "always", &sample("sample.epd")]);
    let line = said.lines().next().unwrap();
    assert!(
        line.starts_with("reading  ") && line.contains("iB"),
        "{line}"
    );
    assert!(line.contains("records") && line.contains("0:00"), "{line}");
    let table = output(0, &["stats", &sample("sample.epd")]);
    assert!(table.trim_end().ends_with("KiB read"), "{table}");
}
