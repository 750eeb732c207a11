//! Outputs: their names, and that they appear together and complete, or not at all.

use super::{Dir, KIWIPETE, START, lanefish, output, sample, stderr_of};
use crate::support::shared_data;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// The program, for tests that redirect its standard output.
pub(super) fn program(arguments: &[&str]) -> Command {
    let mut command = super::program();
    command.args(arguments).env_remove("NO_COLOR");
    command
}

/// Creates a named pipe; false, with a message, if that is impossible.
pub(super) fn fifo(path: &Path) -> bool {
    let made = Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success());
    if !made {
        crate::support::skipped("no mkfifo");
    }
    made
}

#[test]
fn no_output_is_another_output() {
    let dir = Dir::new();
    let input = dir.file("in.epd", START);
    let old = dir.file("old.csv", "old\n");
    symlink("old.csv", dir.path("link.csv")).unwrap();
    fs::hard_link(dir.path("old.csv"), dir.path("hard.csv")).unwrap();
    symlink("new.csv", dir.path("dangling.csv")).unwrap();
    let before = dir.list();
    let name = |name: &str| dir.name(name);
    let dotted = name("./new.csv");
    for (one, other) in [
        (name("new.csv"), name("new.csv")),
        (name("new.csv"), dotted),
        (name("new.csv"), name("dangling.csv")),
        (old.clone(), name("link.csv")),
        (name("hard.csv"), old.clone()),
        ("-".to_owned(), "-".to_owned()),
        ("-".to_owned(), "/dev/stdout".to_owned()),
        ("/dev/stdout".to_owned(), "/proc/self/fd/1".to_owned()),
    ] {
        let stderr = stderr_of(2, &["compute", &input, "--format", "csv", "--force", "-o", &one, "--rejects", &other]);
        assert!(stderr.contains("same place"), "{one} {other}: {stderr}");
        assert_eq!(dir.list(), before);
    }
    assert!(stderr_of(2, &["stats", &input, "--rejects", "-"]).contains("same place"));
    // Discarding both is fine.
    let null = ["-o", "/dev/null", "--rejects", "/dev/null"];
    stderr_of(0, &[&["compute", &input, "--format", "csv"], &null[..]].concat());
    assert_eq!(fs::read_to_string(&old).unwrap(), "old\n");
}

#[test]
fn no_output_is_an_input() {
    let dir = Dir::new();
    let input = dir.file("in.epd", START);
    symlink("in.epd", dir.path("link.epd")).unwrap();
    fs::hard_link(dir.path("in.epd"), dir.path("hard.epd")).unwrap();
    let directory = dir.name("");
    for output in [&input, &dir.name("link.epd"), &dir.name("hard.epd")] {
        for input in [&input, &directory] {
            let stderr = stderr_of(2, &["convert", input, "--force", "-o", output]);
            assert!(stderr.contains("is an input"), "{stderr}");
            let stderr = stderr_of(2, &["stats", input, "--force", "--rejects", output]);
            assert!(stderr.contains("is an input"), "{stderr}");
        }
    }
    // Also standard output.
    let opened = OpenOptions::new().append(true).open(&input).unwrap();
    let done = program(&["convert", &input, "--to", "fen"]).stdout(opened).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&input).unwrap(), START);
}

#[test]
fn a_failed_run_commits_no_output_and_a_finished_run_all() {
    let dir = Dir::new();
    let text = format!("{START}\nbad\n").repeat(3000);
    let mut cut = zstd::encode_all(text.as_bytes(), 1).unwrap();
    cut.truncate(cut.len() / 2);
    let cut = dir.file("cut.fen.zst", cut);
    let good = dir.file("good.fen", &text);
    let (csv, boards) = (dir.name("out.csv"), dir.name("out.boards"));
    let rejects = dir.name("rejects.txt");
    let before = dir.list();
    let all = ["--rejects", &rejects];
    for arguments in [
        &["compute", &cut, "-o", &csv][..],
        &["convert", &cut, "-o", &boards],
        &["games", &cut, "-o", &csv],
        &["stats", &cut],
        &["verify", "--strict", &good],
        &["compute", "--strict", &good, "-o", &csv],
        &["convert", "--strict", &good, "-o", &boards],
    ] {
        stderr_of(2, &[arguments, &all].concat());
        assert_eq!(dir.list(), before, "{arguments:?}");
    }
    stderr_of(1, &[&["compute", &good, "-o", &csv], &all[..]].concat());
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 3001);
    assert_eq!(fs::read_to_string(&rejects).unwrap().lines().count(), 3000);
}

#[test]
fn strict_reports_one_record_deterministically() {
    let dir = Dir::new();
    let file = dir.file("a.fen", format!("{START}\nbad\n{KIWIPETE}\nworse\n"));
    let stderr = stderr_of(2, &["stats", "--strict", &file]);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("a.fen:2 ") && !stderr.contains("more"), "{stderr}");
}

#[test]
fn replaced_files_keep_their_mode_and_links() {
    let dir = Dir::new();
    let old = dir.file("old.csv", "old\n");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(dir.path("below")).unwrap();
    symlink("../old.csv", dir.path("below/link.csv")).unwrap();
    let link = dir.name("below/link.csv");
    let file = sample("sample.epd");
    assert!(stderr_of(2, &["compute", &file, "-o", &link]).contains("--force"));
    stderr_of(0, &["compute", &file, "-o", &link, "--force"]);
    assert!(dir.path("below/link.csv").is_symlink());
    assert_eq!(fs::read_to_string(&old).unwrap(), output(0, &["compute", &file]));
    assert_eq!(fs::metadata(&old).unwrap().mode() & 0o777, 0o640);
    assert_eq!(dir.list(), ["below", "old.csv"]);
    assert_eq!(fs::read_dir(dir.path("below")).unwrap().count(), 1);
}

#[test]
fn a_name_without_a_directory() {
    let dir = Dir::new();
    program(&["compute", &sample("sample.epd"), "-o", "x.csv", "--rejects", "r.txt"])
        .current_dir(dir.path(""))
        .status()
        .unwrap();
    assert_eq!(dir.list(), ["r.txt", "x.csv"]);
}

#[test]
fn standard_output_by_its_other_names() {
    let dir = Dir::new();
    let file = sample("sample.epd");
    let expected = output(0, &["compute", &file]);
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let path = dir.file("out.csv", "before\n");
        let opened = OpenOptions::new().append(true).open(&path).unwrap();
        let status =
            program(&["compute", &file, "--format", "csv", "--force", "-o", name]).stdout(opened).status().unwrap();
        assert!(status.success());
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("before\n{expected}"));
        assert_eq!(output(0, &["compute", &file, "--format", "csv", "-o", name]), expected);
        assert_eq!(dir.list(), ["out.csv"]);
    }
    let done = lanefish(&["compute", &file, "--format", "csv", "-o", "/dev/stderr"]).assert().success();
    assert_eq!(done.get_output().stderr, expected.as_bytes());
    assert!(Path::new("/dev/stdout").is_symlink());
}

#[test]
fn a_closed_standard_output_is_an_error_but_dev_null_is_not() {
    let file = sample("sample.epd");
    let shell = |command: &str| {
        let done = Command::new("sh")
            .args(["-c", command, "sh"])
            .arg(assert_cmd::cargo::cargo_bin("lanefish"))
            .arg(&file)
            .output()
            .unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        (done.status.code(), stderr)
    };
    for command in ["stats -q", "compute", "verify", "convert --to epd", "generate"] {
        let file = if command == "generate" { "" } else { "\"$2\"" };
        let run = |redirection: &str| shell(&format!("\"$1\" {command} {file} {redirection}"));
        let (status, stderr) = run(">&-");
        assert_eq!(status, Some(2), "{command}");
        assert!(stderr.contains("standard output"), "{stderr}");
        for null in ["> /dev/null", "1<> /dev/null"] {
            assert_eq!(run(null), (Some(0), String::new()), "{command}");
        }
    }
    let (status, stderr) = shell("\"$1\" stats - <&-");
    assert_eq!(status, Some(2));
    assert!(stderr.contains("standard input"), "{stderr}");
    let (status, stderr) = shell("\"$1\" stats <&-");
    assert_eq!(status, Some(2));
    assert!(stderr.contains("no input"), "{stderr}");
    assert_eq!(shell("\"$1\" info >&-").0, Some(2));
}

#[test]
fn a_closed_pipe_is_quiet_only_as_standard_output() {
    let dir = Dir::new();
    let text: String =
        (0..20_000).map(|line| format!("{START}\nbad line number {line}, long enough to fill any pipe\n")).collect();
    let file = dir.file("a.fen", text);
    let mut child = program(&["compute", "-q", &file]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(String::from_utf8(done.stderr).unwrap(), "");

    let pipe = dir.path("pipe.csv");
    if !fifo(&pipe) {
        return;
    }
    let pipe_name = dir.name("pipe.csv");
    for arguments in [&["stats", &file, "--rejects", &pipe_name][..], &["compute", &file, "-o", &pipe_name]] {
        let pipe = pipe.clone();
        let reader = std::thread::spawn(move || {
            let mut some = [0; 100];
            File::open(pipe).unwrap().read_exact(&mut some).unwrap();
        });
        let stderr = stderr_of(2, arguments);
        reader.join().unwrap();
        assert!(stderr.contains("pipe.csv"), "{stderr}");
    }
}

#[test]
fn leftover_temporary_files_are_reported_with_v() {
    let dir = Dir::new();
    let old = ".old.csv.999999999-AbCdEf.lanefish.part";
    dir.file(old, "half");
    let own = format!(".old.csv.{}-AbCdEf.lanefish.part", std::process::id());
    dir.file(&own, "half");
    let file = sample("sample.epd");
    let stderr = stderr_of(0, &["-v", "compute", &file, "-o", &dir.name("x.csv")]);
    assert!(stderr.contains(old) && !stderr.contains(&own), "{stderr}");
    assert_eq!(stderr_of(0, &["compute", &file, "-o", &dir.name("y.csv")]), "");
    assert!(dir.path(old).exists());
}

#[test]
fn a_dangling_link_is_one_reject() {
    let dir = Dir::new();
    dir.file("a.fen", format!("{START}\nbad\n"));
    symlink("nowhere.fen", dir.path("b.fen")).unwrap();
    let directory = dir.name("");
    let elsewhere = Dir::new();
    let rejects = elsewhere.name("rejects.txt");
    let stderr = stderr_of(1, &["stats", "--json", "--rejects", &rejects, &directory]);
    assert!(stderr.contains("2 of 3 records rejected"), "{stderr}");
    assert!(stderr.contains("b.fen") && stderr.contains("a.fen:2"), "{stderr}");
    let rejects = fs::read_to_string(&rejects).unwrap();
    assert_eq!(rejects.lines().count(), 2);
    assert!(rejects.contains("broken_link"), "{rejects}");
    assert!(stderr_of(2, &["stats", "--strict", &directory]).contains("b.fen"));
    // If the user names it, it is an error.
    stderr_of(2, &["stats", &dir.name("b.fen")]);
}

#[test]
fn large_windows_need_an_option_that_the_error_names() {
    let dir = Dir::new();
    // A handmade frame with a window of 2 GiB and an empty last block.
    let frame = [0x28, 0xB5, 0x2F, 0xFD, 0, (31 - 10) << 3, 1, 0, 0];
    let file = dir.file("a.fen.zst", frame);
    let stderr = stderr_of(2, &["stats", &file]);
    assert!(stderr.contains("--max-window 2048M"), "{stderr}");
    assert!(stderr_of(0, &["stats", "--max-window", "2G", &file]).contains("the file is empty"));
    let done = lanefish(&["stats", "-"]).write_stdin(frame).assert().code(2);
    let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("--max-window 2048M"), "{stderr}");
    for name in ["pgn/magic-flipped.pgn.zst", "pgn/magic-flipped.pgn.bz2"] {
        if let Some(path) = shared_data(&format!("regressions/{name}")) {
            let stderr = stderr_of(2, &["stats", path.to_str().unwrap()]);
            assert!(stderr.contains("renamed"), "{stderr}");
        }
    }
}

/// A list larger than all pipes and chunks in flight.
fn long_list(dir: &Dir) -> String {
    let line = format!("{START}\n");
    let mut file = File::create(dir.path("long.fen")).unwrap();
    let lines = line.repeat((1 << 20) / line.len());
    for _ in 0..48 {
        file.write_all(lines.as_bytes()).unwrap();
    }
    dir.name("long.fen")
}

#[test]
fn a_file_truncated_while_it_is_read_is_an_error() {
    let dir = Dir::new();
    let file = long_list(&dir);
    let csv = dir.name("out.csv");
    for arguments in [
        &["compute", "--columns", "index", "--threads", "2", &file][..],
        &["compute", "--columns", "index", "--threads", "2", "--no-mmap", &file],
    ] {
        let len = fs::metadata(&file).unwrap().len();
        let mut child =
            program(arguments).args(["--rejects", &csv]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 100]).unwrap();
        OpenOptions::new().write(true).open(&file).unwrap().set_len(5000).unwrap();
        std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
        let done = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("cut to") || stderr.contains("shorter"), "{stderr}");
        assert_eq!(dir.list(), ["long.fen"]);
        long_list(&dir);
        assert_eq!(fs::metadata(&file).unwrap().len(), len);
    }
}

#[test]
fn every_command_reads_without_maps() {
    for name in ["sample.epd", "perft.epd"] {
        let file = sample(name);
        for arguments in [
            &["compute", "--columns", "all", &file][..],
            &["games", &file],
            &["verify", &file],
            &["show", "--limit", "3", &file],
            &["info", "--json", &file],
        ] {
            let plain = [arguments, &["--no-mmap"]].concat();
            let run = |arguments: &[&str]| {
                let done = program(arguments).output().unwrap();
                (done.status.code(), done.stdout)
            };
            assert_eq!(run(arguments), run(&plain), "{arguments:?}");
        }
    }
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    output(0, &["generate", "-n", "50000", "-o", &boards]);
    for arguments in
        [&["info", "--json", &boards][..], &["verify", "--json", &boards], &["compute", "--columns", "fen", &boards]]
    {
        let plain = [arguments, &["--no-mmap"]].concat();
        assert_eq!(output(0, arguments), output(0, &plain));
    }
}
