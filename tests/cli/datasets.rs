//! `shuffle`, `dedup`, `split`, `interleave` and `--sample N` where something is wrong: with the inputs, the output, the
//! temporary files or the machine. Whatever happens, an output is whole or not there, and nothing else is left.

use super::files::fifo;
use super::{Dir, KIWIPETE, START, output, program, sample, stderr_of};
use crate::support::shared_data;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Every command, with what it says of its output.
const COMMANDS: [&[&str]; 6] = [
    &["shuffle"],
    &["shuffle", "--by", "game"],
    &["dedup"],
    &["interleave"],
    &["convert", "--sample", "40000"],
    &["split", "--parts", "a=0.5,b=0.5"],
];

/// Those that read their inputs twice.
fn reads_twice(command: &[&str]) -> bool {
    matches!(command[0], "dedup" | "interleave")
}

/// Those that need temporary files if they have little memory.
fn spills(command: &[&str]) -> bool {
    matches!(command[0], "shuffle" | "dedup" | "convert")
}

/// An output of this name: of `split` a pattern, which makes two files.
fn out(dir: &Dir, command: &[&str], name: &str) -> String {
    match command[0] {
        "split" => dir.name(&format!("{{part}}-{name}")),
        _ => dir.name(name),
    }
}

/// The files of an output.
fn files(command: &[&str], name: &str) -> Vec<String> {
    match command[0] {
        "split" => ["a", "b"].map(|part| format!("{part}-{name}")).into(),
        _ => vec![name.to_owned()],
    }
}

fn contents(dir: &Dir, command: &[&str], name: &str) -> Vec<Vec<u8>> {
    files(command, name).iter().map(|name| fs::read(dir.path(name)).expect("an output")).collect()
}

/// Boards that belong to games, so that every command takes them: as many times as needed the games of the sample.
fn games(dir: &Dir, name: &str, times: usize) -> String {
    let games = fs::read_to_string(sample("lichess-2025-05.pgn")).unwrap();
    let pgn = dir.file("made.pgn", format!("{games}\n\n").repeat(times));
    let boards = dir.name(name);
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    fs::remove_file(pgn).unwrap();
    boards
}

#[test]
fn no_input_is_the_output() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 1);
    let part = games(&dir, "a-in.boards", 1);
    let before = (fs::read(&input).unwrap(), dir.list());
    for command in COMMANDS {
        let used = if command[0] == "split" { &part } else { &input };
        let out = out(&dir, command, "in.boards");
        let stderr = stderr_of(2, &[command, &[used, "--force", "-o", &out]].concat());
        assert!(stderr.contains("is an input and cannot also be an output"), "{command:?}: {stderr}");
        assert_eq!((fs::read(used).unwrap(), dir.list()), before, "{command:?}");
    }
    // What is only compared with is an input as well.
    for also in [&["-o", &part][..], &["-o", "/dev/null", "--to", "fen", "--rejects", &part]] {
        let stderr = stderr_of(2, &[&["dedup", &input, "--against", &part, "--force"], also].concat());
        assert!(stderr.contains("is an input and cannot also be an output"), "{stderr}");
        assert_eq!((fs::read(&part).unwrap(), dir.list()), before);
    }
}

#[test]
fn outputs_that_exist_are_kept() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 1);
    for name in ["out.boards", "b-out.boards"] {
        dir.file(name, "old");
    }
    let before = dir.list();
    for command in COMMANDS {
        let out = out(&dir, command, "out.boards");
        let stderr = stderr_of(2, &[command, &[&input, "-o", &out]].concat());
        assert!(stderr.contains("out.boards exists; --force replaces it"), "{command:?}: {stderr}");
        assert_eq!(dir.list(), before);
    }
    assert_eq!(fs::read_to_string(dir.path("b-out.boards")).unwrap(), "old");
}

#[test]
fn directories_that_cannot_have_temporary_files_are_named() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 3);
    let file = dir.file("file", "");
    let before = dir.list();
    for command in COMMANDS.iter().filter(|command| spills(command)) {
        let command: Vec<&str> = command.iter().map(|&word| if word == "40000" { "1000" } else { word }).collect();
        for temp in ["/nowhere/at/all", &file, "/proc"] {
            let out = out(&dir, &command, "out.boards");
            let small = [&input, "-o", &out, "--memory", "1K", "--temp", temp];
            let stderr = stderr_of(2, &[&command[..], &small].concat());
            assert!(stderr.contains(temp) && stderr.contains("--temp DIR"), "{command:?} {temp}: {stderr}");
            assert_eq!(dir.list(), before, "{command:?} {temp}");
        }
    }
}

/// What is read twice cannot come from a pipe, which is said before anything is written; all others read pipes.
#[test]
fn pipes_are_read_once_or_refused() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 1);
    let bytes = fs::read(&input).unwrap();
    let pipe = dir.name("pipe.boards");
    if !fifo(&dir.path("pipe.boards")) {
        return;
    }
    let before = dir.list();
    for command in COMMANDS {
        let expected = if reads_twice(command) {
            None
        } else {
            output(0, &[command, &["-q", &input, "-o", &out(&dir, command, "whole.boards")]].concat());
            Some(contents(&dir, command, "whole.boards"))
        };
        for (named, name) in [("-", "standard input"), (&*pipe, &*pipe)] {
            let out = out(&dir, command, "out.boards");
            let mut run = program();
            run.args(command).args(["-q", named, "-o", &out]).stdin(Stdio::piped()).stderr(Stdio::piped());
            let mut child = run.spawn().unwrap();
            let stdin = child.stdin.take();
            let (fed, bytes) = (pipe.clone(), bytes.clone());
            let is_pipe = named != "-";
            // A pipe that is refused is not opened by anybody.
            let feeder = (!is_pipe || expected.is_some()).then(|| {
                std::thread::spawn(move || {
                    let _ = if is_pipe { fs::write(fed, bytes) } else { stdin.expect("a pipe").write_all(&bytes) };
                })
            });
            let done = child.wait_with_output().unwrap();
            if let Some(feeder) = feeder {
                feeder.join().unwrap();
            }
            let stderr = String::from_utf8_lossy(&done.stderr);
            match &expected {
                None => {
                    assert_eq!(done.status.code(), Some(2), "{command:?}: {stderr}");
                    assert!(stderr.contains(&format!("{name} has to be read twice")), "{command:?}: {stderr}");
                }
                Some(expected) => {
                    assert_eq!(done.status.code(), Some(0), "{command:?}: {stderr}");
                    assert!(contents(&dir, command, "out.boards") == *expected, "{command:?} {named}");
                    files(command, "out.boards").iter().for_each(|name| fs::remove_file(dir.path(name)).unwrap());
                }
            }
        }
        if expected.is_some() {
            files(command, "whole.boards").iter().for_each(|name| fs::remove_file(dir.path(name)).unwrap());
        }
        assert_eq!(dir.list(), before, "{command:?}");
    }
}

#[test]
fn nothing_and_one_record_are_inputs() {
    let dir = Dir::new();
    let empty = dir.file("empty.csv", "fen\n");
    let one = dir.file("one.fen", format!("{START}\n"));
    for command in COMMANDS.iter().filter(|command| command.len() < 3 || command[1] != "--by") {
        for (input, expected) in [(&empty, String::new()), (&one, format!("{START}\n"))] {
            for memory in ["1K", "1G"] {
                let arguments = ["-q", "--force", input, "--memory", memory, "-o", &out(&dir, command, "out.fen")];
                output(0, &[command, &arguments[..]].concat());
                assert_eq!(contents(&dir, command, "out.fen").concat(), expected.as_bytes(), "{command:?}");
            }
        }
    }
}

#[test]
fn a_truncated_input_leaves_nothing() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 20);
    let bytes = fs::read(&input).unwrap();
    let cut = dir.file("cut.boards", &bytes[..bytes.len() - 100]);
    let rejects = dir.name("rejects.txt");
    let before = dir.list();
    for command in COMMANDS {
        for memory in ["1K", "1G"] {
            let out = out(&dir, command, "out.boards");
            let arguments = [&input, &cut, "--memory", memory, "--rejects", &rejects, "-o", &out];
            let stderr = stderr_of(2, &[command, &arguments[..]].concat());
            assert!(stderr.contains(&cut) && stderr.contains("damaged at byte"), "{command:?}: {stderr}");
            assert_eq!(dir.list(), before, "{command:?}");
        }
    }
}

/// Bad records are listed once each, in order, also where the inputs are read twice.
#[test]
fn bad_records_are_rejected_once() {
    let dir = Dir::new();
    let text: String =
        (0..200).map(|line| format!("{}\nbad {line}\n", if line % 2 == 0 { START } else { KIWIPETE })).collect();
    let input = dir.file("in.fen", text);
    for command in COMMANDS.iter().filter(|command| command.get(1) != Some(&"--by")) {
        for threads in ["1", "3"] {
            let rejects = dir.name("rejects.txt");
            let place = out(&dir, command, "out.fen");
            let base = ["--force", &input, "--memory", "1K", "--threads", threads, "--rejects", &rejects, "-o", &place];
            output(1, &[command, &base[..]].concat());
            let listed = fs::read_to_string(&rejects).unwrap();
            let lines: Vec<&str> = listed.lines().filter(|line| line.contains("bad ")).collect();
            assert_eq!(lines.len(), 200, "{command:?}: {listed}");
            let all = contents(&dir, command, "out.fen").concat();
            let written = String::from_utf8(all).unwrap().lines().count();
            assert_eq!(written, if command[0] == "dedup" { 2 } else { 200 }, "{command:?}");
        }
    }
}

/// A disk that is full: files cannot be larger than some blocks. Temporary files, outputs.
#[test]
fn a_full_disk_leaves_nothing() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 40);
    let before = dir.list();
    for command in COMMANDS {
        let out = out(&dir, command, "out.boards");
        let mut run = Command::new("sh");
        run.args(["-c", "ulimit -f 100; exec \"$@\"", "sh"]).arg(assert_cmd::cargo::cargo_bin("lanefish"));
        // Of many positions, so that what is kept does not fit either.
        let key: &[&str] = if command[0] == "dedup" { &["--key", "record"] } else { &[] };
        let done = run.args(command).args(key).args([&input, "--memory", "16K", "-o", &out]).output().unwrap();
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{command:?}: {stderr}");
        assert!(stderr.contains("File too large"), "{command:?}: {stderr}");
        // The directory of the temporary files, or the output.
        assert!(stderr.contains(dir.0.path().to_str().unwrap()), "{command:?}: {stderr}");
        if spills(command) {
            assert!(stderr.contains("temporary files failed after"), "{command:?}: {stderr}");
        }
        assert_eq!(dir.list(), before, "{command:?}");
    }
}

fn start(command: &[&str], rest: &[&str]) -> Child {
    program()
        .args(command)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Feeds a run through its standard input, which is kept open, so that it is in the middle for as long as it is needed.
fn feed(child: &mut Child, bytes: &[u8]) -> Option<std::process::ChildStdin> {
    let mut stdin = child.stdin.take()?;
    let _ = stdin.write_all(bytes);
    // What has been read is on its way to temporary files.
    std::thread::sleep(Duration::from_millis(200));
    Some(stdin)
}

fn signal(child: &Child, name: &str) -> bool {
    let sent = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status()
        .is_ok_and(|status| status.success());
    if !sent {
        crate::support::skipped("no `kill` command");
    }
    sent
}

/// Ctrl-C, and a kill that nobody can catch: temporary files have no names, and only a kill may leave the unfinished output,
/// which the next run does not mind.
#[test]
fn an_interrupted_run_leaves_nothing_and_can_be_repeated() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 20);
    let bytes = fs::read(&input).unwrap();
    let temp = dir.name("temp");
    fs::create_dir(&temp).unwrap();
    let before = dir.list();
    for command in COMMANDS.iter().filter(|command| !reads_twice(command)) {
        let place = out(&dir, command, "out.boards");
        let rest = ["-q", "-", "--memory", "16K", "--temp", &temp, "-o", &place];
        let mut child = start(command, &rest);
        let stdin = feed(&mut child, &bytes[..bytes.len() / 2]);
        if !signal(&child, "INT") {
            child.kill().unwrap();
            return;
        }
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < Duration::from_secs(20), "{command:?}: still running");
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(stdin);
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(130), "{command:?}");
        assert_eq!(String::from_utf8_lossy(&done.stderr), "lanefish: interrupted\n", "{command:?}");
        assert_eq!(dir.list(), before, "{command:?}");
        assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "{command:?}");

        let mut child = start(command, &rest);
        let stdin = feed(&mut child, &bytes[..bytes.len() / 2]);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(stdin);
        assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "{command:?}");
        assert!(files(command, "out.boards").iter().all(|name| !dir.path(name).exists()), "{command:?}");
        // Again, and it is what an undisturbed run makes.
        output(0, &[command, &["-q", &input, "--memory", "16K", "--temp", &temp, "-o", &place][..]].concat());
        let other = out(&dir, command, "other.boards");
        output(0, &[command, &["-q", &input, "-o", &other][..]].concat());
        assert!(contents(&dir, command, "out.boards") == contents(&dir, command, "other.boards"), "{command:?}");
        for name in dir.list().iter().filter(|name| !before.contains(name)) {
            fs::remove_file(dir.path(name)).unwrap();
        }
    }
}

/// Those that read their inputs twice, from files: they are ended wherever they are.
#[test]
fn an_interrupted_run_over_files_leaves_nothing() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 100);
    let temp = dir.name("temp");
    fs::create_dir(&temp).unwrap();
    let before = dir.list();
    let mut interrupted = 0;
    for command in [&["dedup", "--key", "record", "--counts"][..], &["dedup"], &["interleave"]] {
        for wait in [20, 60, 150] {
            for name in ["INT", "KILL"] {
                let place = dir.name("out.boards");
                let child = start(command, &["-q", "--memory", "1K", "--temp", &temp, "-o", &place, &input, &input]);
                std::thread::sleep(Duration::from_millis(wait));
                let is_told = signal(&child, name);
                let done = child.wait_with_output().unwrap();
                if !is_told {
                    return;
                }
                let stderr = String::from_utf8_lossy(&done.stderr);
                match (done.status.code(), name) {
                    (Some(0), _) => fs::remove_file(&place).unwrap(),
                    (Some(130), "INT") => {
                        interrupted += 1;
                        assert_eq!(stderr, "lanefish: interrupted\n", "{command:?}");
                        assert_eq!(dir.list(), before, "{command:?}");
                    }
                    // Ended before it could be told, or by a kill, which may leave the unfinished output, or come when
                    // the output has its name.
                    (None, _) => {
                        for name in dir.list().iter().filter(|name| !before.contains(name)) {
                            if name == "out.boards" {
                                output(0, &["verify", &place]);
                            } else {
                                assert!(name.contains(".part"), "{command:?}: {name}");
                            }
                            fs::remove_file(dir.path(name)).unwrap();
                        }
                    }
                    (code, _) => panic!("{command:?}: {code:?}: {stderr}"),
                }
                assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "{command:?}");
            }
        }
    }
    if interrupted == 0 {
        crate::support::skipped("every run ended before it was interrupted");
    }
}

/// Two runs on one output: whichever ends last is there as a whole.
#[test]
fn two_runs_on_one_output_do_not_mix() {
    let dir = Dir::new();
    let input = games(&dir, "in.boards", 5);
    for command in COMMANDS {
        let runs = ["1", "2"].map(|seed| {
            let name = format!("{seed}.boards");
            output(
                0,
                &[command, &["-q", "--force", "--seed", seed, &input, "-o", &out(&dir, command, &name)][..]].concat(),
            );
            contents(&dir, command, &name)
        });
        let place = out(&dir, command, "out.boards");
        let children = ["1", "2", "1", "2"]
            .map(|seed| start(command, &["-q", "--force", "--memory", "16K", "--seed", seed, &input, "-o", &place]));
        for child in children {
            let done = child.wait_with_output().unwrap();
            assert_eq!(done.status.code(), Some(0), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
        let made = contents(&dir, command, "out.boards");
        for (part, bytes) in made.iter().enumerate() {
            assert!(runs.iter().any(|run| run[part] == *bytes), "{command:?}");
        }
        // Without --force, one of them wins, and the others say so.
        files(command, "out.boards").iter().for_each(|name| fs::remove_file(dir.path(name)).unwrap());
        let children = ["1", "2", "1"].map(|seed| start(command, &["-q", "--seed", seed, &input, "-o", &place]));
        let codes: Vec<_> = children.map(|child| child.wait_with_output().unwrap().status.code()).into();
        assert!(codes.iter().all(|code| matches!(code, Some(0 | 2))), "{command:?}: {codes:?}");
        assert!(
            command[0] == "split" || codes.iter().filter(|&&code| code == Some(0)).count() == 1,
            "{command:?}: {codes:?}"
        );
        for name in files(command, "out.boards") {
            let _ = fs::remove_file(dir.path(&name));
        }
        let left = dir.list();
        assert!(left.iter().all(|name| !name.contains("out")), "{left:?}");
    }
}

#[test]
fn counts_of_dedup_have_the_duplicates_of_the_key() {
    let input = sample("lichess-2025-05.pgn");
    let counted = |key: &str| -> serde_json::Value {
        serde_json::from_str(&output(0, &["-q", "dedup", &input, "--key", key, "--json"])).unwrap()
    };
    for key in ["board", "position", "record"] {
        let counted = counted(key);
        let records = counted["records"].as_u64().unwrap();
        assert_eq!(counted["duplicates"], records - counted["distinct"][key].as_u64().unwrap(), "{key}");
    }
}

/// All files of the shared data, as far as they can be read.
fn real_files() -> Vec<PathBuf> {
    const LARGEST: u64 = 3 << 20;
    let mut directories: Vec<_> = shared_data("").into_iter().collect();
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.metadata() {
                Ok(file) if file.is_dir() => directories.push(path),
                Ok(file) if file.len() <= LARGEST => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// Rows of a file, without the number of the record; `None` if it cannot be read.
fn rows_of(input: &str, more: &[&str]) -> Option<Vec<String>> {
    let columns = ["--columns", "fen,score,mate,result,ply,move,castling"];
    let done = program().args(["-q", "compute", input]).args(columns).args(more).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    matches!(done.status.code(), Some(0 | 1)).then(|| text.lines().skip(1).map(str::to_owned).collect())
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}

/// What makes a position: the first four fields of its FEN.
fn position_of(row: &str) -> String {
    row.split(' ').take(4).collect::<Vec<_>>().join(" ")
}

/// What is skipped, and what is beyond the limit, is not there for any of the commands.
#[test]
fn skipped_records_are_not_there() {
    let dir = Dir::new();
    let out = dir.name("out.boards");
    let inputs = ["data/famous.epd", "data/lichess-2025-05.pgn", "data/sample.boards"];
    for range in [&["--skip", "100", "--limit", "1000"][..], &["--skip", "3"], &["--skip", "1000000"]] {
        for more in [&[][..], &["--where", "pieces < 20"]] {
            let arguments = [range, more].concat();
            let done = program().args(["-q", "convert", "--force", "-o", &out]).args(inputs).args(&arguments).output();
            assert!(done.unwrap().status.success());
            let rows = rows_of(&out, &[]).unwrap_or_default();
            for command in [&["shuffle"][..], &["interleave"], &["dedup", "--key", "record"], &["dedup", "--counts"]] {
                let mut done = program();
                done.args(command).args(["-q", "--force", "-o", &out]).args(inputs).args(&arguments);
                let done = done.output().unwrap();
                assert!(done.status.success(), "{command:?} {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
                let found = rows_of(&out, &[]).unwrap_or_default();
                match command {
                    ["dedup", ..] => assert!(found.len() <= rows.len() && found.is_empty() == rows.is_empty()),
                    _ => assert!(sorted(found) == sorted(rows.clone()), "{command:?} {arguments:?}"),
                }
            }
        }
    }
}

/// Behind options that choose, `--skip` counts the chosen records: what is bad on the way to them is rejected, and what is
/// left out is counted.
#[test]
fn what_is_bad_before_skipped_records_is_rejected() {
    let dir = Dir::new();
    let lines = ["bad", START, "bad", KIWIPETE, "bad", START];
    let path = dir.file("a.fen", lines.join("\n") + "\n");
    for (skip, limit, rows, rejected) in
        [(0, 9, 3, 3), (1, 9, 2, 3), (2, 9, 1, 3), (3, 9, 0, 3), (9, 9, 0, 3), (0, 1, 1, 1), (1, 1, 1, 2), (0, 0, 0, 0)]
    {
        let (skip, limit) = (skip.to_string(), limit.to_string());
        for threads in ["1", "3"] {
            let rejects = dir.name("rejects");
            let status = i32::from(rejected > 0);
            let done = output(
                status,
                &[
                    "compute",
                    &path,
                    "--where",
                    "index >= 0",
                    "--skip",
                    &skip,
                    "--limit",
                    &limit,
                    "--columns",
                    "fen",
                    "--threads",
                    threads,
                    "--rejects",
                    &rejects,
                    "--force",
                ],
            );
            assert_eq!(done.lines().count(), 1 + rows, "{skip} {limit}");
            let listed = fs::read_to_string(&rejects)
                .map_or(0, |text| text.lines().filter(|line| line.ends_with("bad")).count());
            assert_eq!(listed, rejected, "{skip} {limit}");
        }
    }
    let stderr = stderr_of(1, &["stats", &path, "--where", "legal_moves > 20", "--skip", "1"]);
    assert!(stderr.contains("--where left out 2 positions"), "{stderr}");
}

/// What a format never has is said before anything is read.
#[test]
fn inputs_without_moves_are_refused_for_viriformat() {
    let dir = Dir::new();
    let fen = dir.file("a.fen", format!("{START}\n"));
    let text = dir.file("a.text", format!("{START} | 10 | 0.5\n"));
    let empty = dir.file("e.text", "");
    let [bullet, marlin] = ["a.bullet", "a.marlin"].map(|name| dir.name(name));
    for to in [&bullet, &marlin] {
        output(0, &["convert", &text, "-o", to, "--allow-loss"]);
    }
    let inputs: [&[&str]; 5] = [&[&text], &[&bullet], &[&marlin], &[&bullet, &text], &[&empty, &text]];
    for (number, inputs) in inputs.into_iter().enumerate() {
        for command in [&["convert"][..], &["shuffle"], &["shuffle", "--by", "game"], &["dedup"], &["interleave"]] {
            let to = dir.name(&format!("{}{number}.viri", command.join("")));
            let stderr = stderr_of(2, &[command, inputs, &["-o", &to]].concat());
            assert!(stderr.contains("has no `move`, without which the output cannot hold a record"), "{stderr}");
            assert!(!Path::new(&to).exists());
        }
    }
    // Operations of EPD, which lines of FEN may have, have moves.
    stderr_of(1, &["convert", &text, &fen, "-o", &dir.name("x.viri")]);
}

/// The second reading of `interleave` numbers records and games as the first one does, so it takes the same records as
/// `convert`: whatever chooses them, whatever they are set to.
#[test]
fn interleaving_takes_the_records_that_converting_takes() {
    let dir = Dir::new();
    let (converted, mixed) = (dir.name("converted.boards"), dir.name("mixed.boards"));
    let bad = dir.file("bad.epd", format!("{START}\nnothing\n{KIWIPETE}\n"));
    let nothing = dir.file("nothing.pgn", "");
    let boards = games(&dir, "games.boards", 1);
    let pgn = sample("lichess-2025-05.pgn");
    let inputs = [bad.as_str(), "data/famous.epd", &pgn, &nothing, &boards, &boards, "data/sample.epd"];
    let choices: [&[&str]; 13] = [
        &[],
        &["--where", "index % 3 = 1"],
        &["--where", "game % 2 = 1"],
        &["--where", "uniform(index) < 0.4"],
        &["--where", "uniform(game) < 0.4"],
        &["--sample", "0.3"],
        &["--sample", "case when pieces > 20 then 0.1 else 0.7 end"],
        &["--sample", "500"],
        &["--sample", "500", "--seed", "9", "--where", "index % 2 = 0"],
        &["--sample", "100000"],
        &["--set", "score = index % 30000"],
        &["--set", "score = index % 30000", "--set", "ply = coalesce(game, 7)", "--sample", "300"],
        &["--plies", "10..20", "--where", "game is not null and index % 5 > 0"],
    ];
    let ranges: [&[&str]; 4] = [&[], &["--skip", "70"], &["--limit", "150"], &["--skip", "40", "--limit", "333"]];
    for (number, choice) in choices.into_iter().enumerate() {
        for (range, threads) in ranges.into_iter().zip(["1", "4", "4", "1"].into_iter().cycle().skip(number)) {
            let run = |command: &str, out: &str, more: &[&str]| {
                // Boards have no values for `--plies` where records have no ply.
                let inputs = if choice.contains(&"--plies") { &inputs[2..6] } else { &inputs[..] };
                let mut done = program();
                done.args(["-q", command, "--force", "-o", out]).args(inputs).args(choice).args(range).args(more);
                let done = done.output().unwrap();
                assert!(
                    done.status.code() < Some(2),
                    "{command} {choice:?} {range:?}: {}",
                    String::from_utf8_lossy(&done.stderr)
                );
                rows_of(out, &[]).unwrap_or_default()
            };
            let expected = run("convert", &converted, &[]);
            let found = run("interleave", &mixed, &["--threads", threads]);
            assert!(sorted(found) == sorted(expected), "{choice:?} {range:?} with {threads} threads");
        }
    }
}

/// Whatever needs whole games refuses a file whose games are scattered, and leaves no output; what only misses earlier
/// records says so once.
#[test]
fn scattered_games_are_refused_where_whole_games_are_needed() {
    let dir = Dir::new();
    let boards = games(&dir, "games.boards", 2);
    let made = |command: &[&str], name: &str| {
        let out = dir.name(name);
        output(0, &[&["-q"], command, &["-o", out.as_str()]].concat());
        out
    };
    let files = [
        made(&["shuffle", &boards], "shuffled.boards"),
        made(&["interleave", &boards, &boards], "mixed.boards"),
        made(&["shuffle", &boards], "shuffled.parquet"),
        made(&["shuffle", &boards], "shuffled.arrow"),
    ];
    let whole: [&[&str]; 6] = [
        &["games"],
        &["convert", "--last"],
        &["convert", "--every", "3"],
        &["convert", "--max-per-game", "2"],
        &["compute", "--columns", "fen", "--last"],
        &["shuffle", "--every", "2"],
    ];
    for file in &files {
        for command in whole {
            let out = dir.name("out.csv");
            let extension = if command[0] == "convert" || command[0] == "shuffle" { "boards" } else { "csv" };
            let out = out.replace("csv", extension);
            let done = program().args(command).args([file.as_str(), "-o", &out]).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(done.status.code(), Some(2), "{command:?} {file}: {said}");
            assert!(said.contains(file.as_str()) && said.contains("shuffle --by game"), "{said}");
            assert!(!dir.path(&out).exists(), "{command:?} {file}");
        }
        let said = output(0, &["compute", "--columns", "eco_position,score_before", file]);
        assert!(!said.is_empty());
        let said = stderr_of(0, &["compute", "--columns", "eco_position", file]);
        assert_eq!(said.matches("scattered games").count(), 1, "{said}");
    }
    // Files of whole games, in another order or not, are taken, and so are several files whose numbers begin anew.
    let ordered = [boards.clone(), made(&["shuffle", "--by", "game", &files[0]], "ordered.boards")];
    let last = |file: &str| {
        let last = dir.name("last.boards");
        output(0, &["-q", "convert", "--force", "--last", file, &boards, "-o", &last]);
        sorted(rows_of(&last, &[]).unwrap())
    };
    let games = output(0, &["games", &boards]).lines().count() - 1;
    assert_eq!(last(&ordered[0]).len(), 2 * games);
    assert!(last(&ordered[1]) == last(&ordered[0]));
}

/// Every command against plain loops over the rows of all real files; each also in a second way, with so little memory that
/// parts are divided several times and another number of threads.
#[test]
fn real_files_are_shuffled_deduplicated_split_and_sampled_as_by_plain_loops() {
    const LIMIT: [&str; 2] = ["--limit", "1500"];
    const WAYS: [[&str; 2]; 4] = [["2", "64K"], ["8", "16K"], ["1", "16K"], ["8", "64K"]];
    let dir = Dir::new();
    let mut files = 0;
    for path in real_files() {
        let input = path.to_str().unwrap();
        let Some(rows) = rows_of(input, &LIMIT).filter(|rows| rows.len() > 20) else {
            continue;
        };
        files += 1;
        let ways = [["1", "1G"], WAYS[files % WAYS.len()]];
        let made = |(name, input): (&str, &str), arguments: &[&str], output: &str| {
            let all = ways.map(|[threads, memory]| {
                let done = program()
                    .args(["-q", "--threads", threads, name, input, "--force", "-o", output, "--memory", memory])
                    .args(LIMIT)
                    .args(arguments)
                    .output()
                    .unwrap();
                let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
                assert!(matches!(done.status.code(), Some(0 | 1)), "{name} {input}: {stderr}");
                let parts = ["a", "b"].map(|part| output.replace("{part}", part));
                let parts = if output.contains("{part}") { &parts[..] } else { &parts[..1] };
                parts.iter().map(|part| fs::read(part).unwrap()).collect::<Vec<_>>()
            });
            assert!(all[0] == all[1], "{name} {input}: {:?} and {:?} differ", ways[0], ways[1]);
        };
        let out = dir.name("out.boards");
        let read = |output: &str| rows_of(output, &[]).unwrap();

        made(("shuffle", input), &["--seed", "3"], &out);
        let shuffled = read(&out);
        assert!(sorted(shuffled.clone()) == sorted(rows.clone()), "shuffle {input}");
        let distinct: BTreeSet<&String> = rows.iter().collect();
        assert!(distinct.len() < 20 || shuffled != rows, "shuffle {input}");

        made(("dedup", input), &[], &out);
        let mut known = BTreeSet::new();
        let expected: Vec<String> = rows.iter().filter(|row| known.insert(position_of(row))).cloned().collect();
        assert!(read(&out) == expected, "dedup {input}");

        let parts = dir.name("part-{part}.boards");
        made(("split", input), &["--parts", "a=0.6,b=0.4"], &parts);
        let parts = ["a", "b"].map(|part| read(&parts.replace("{part}", part)));
        assert!(sorted(parts.concat()) == sorted(rows.clone()), "split {input}");
        let [a, b] = parts.map(|rows| rows.iter().map(|row| position_of(row)).collect::<BTreeSet<_>>());
        assert!(a.is_disjoint(&b), "split {input}");

        let count = (rows.len() / 3).max(2);
        // A limit counts what a sample has left.
        let few = dir.name("few.boards");
        made(("convert", input), &[], &few);
        made(("convert", &few), &["--sample", &count.to_string(), "--seed", "5"], &out);
        let taken = read(&out);
        assert_eq!(taken.len(), count, "sample of {input}");
        let mut rest = rows.iter();
        assert!(taken.iter().all(|row| rest.any(|other| other == row)), "sample of {input}: in order");
    }
    if shared_data("").is_some() {
        assert!(files > 40, "{files}");
    }
}

/// Bad records of `--against` are listed like those of the inputs, and the status says that there are some.
#[test]
fn bad_records_of_against_are_rejected() {
    let dir = Dir::new();
    let input = dir.file("a.fen", format!("{START}\n{KIWIPETE}\n"));
    let against = dir.file("b.fen", format!("{START}\nrubbish\n"));
    let (out, rejects) = (dir.name("c.fen"), dir.name("rejects"));
    for output in [&["-o", &out][..], &[]] {
        let arguments = ["dedup", "--key", "stm", &input, "--against", &against, "--rejects", &rejects, "--force"];
        let stderr = stderr_of(1, &[&arguments[..], output].concat());
        assert!(stderr.contains("--against: "), "{stderr}");
        let text = fs::read_to_string(&rejects).unwrap();
        assert!(text.starts_with(&format!("{against}:2\t")), "{text}");
    }
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 1);
}

/// Tables in folders of `--against` are found by the column that `--fen-column` names.
#[test]
fn tables_of_against_have_the_named_column() {
    let dir = Dir::new();
    let input = dir.file("a.csv", format!("position\n{START}\n{KIWIPETE}\n"));
    fs::create_dir(dir.path("others")).unwrap();
    dir.file("others/b.csv", format!("position\n{START}\n"));
    let (others, out) = (dir.name("others"), dir.name("c.fen"));
    output(0, &["dedup", &input, "--against", &others, "--fen-column", "position", "-o", &out]);
    assert_eq!(fs::read_to_string(&out).unwrap(), format!("{KIWIPETE}\n"));
}

/// Equal records of several games are equal, although each game has its own number; counts add up.
#[test]
fn equal_records_of_different_games_are_equal() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let boards = games(&dir, "games.boards", 1);
    let out = dir.name("out.boards");
    let rows = |input: &str, columns: &str| {
        let text = output(0, &["-q", "compute", "--columns", columns, input]);
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let of_one = |inputs: &[&str], more: &[&str]| {
        output(0, &[&["-q", "dedup", "--force", "--key", "record", "-o", out.as_str()], inputs, more].concat());
    };
    let columns = "fen,move,ply,result";
    for inputs in [[pgn.as_str(), &pgn], [&boards, &boards], [&pgn, &boards]] {
        of_one(&inputs[..1], &[]);
        let once = rows(&out, columns);
        of_one(&inputs, &[]);
        let twice = rows(&out, columns);
        if inputs != [pgn.as_str(), &boards] {
            assert_eq!(once, twice, "{inputs:?}");
        }
    }
    // Counts of counted files.
    let (first, second) = (dir.name("first.parquet"), dir.name("second.boards"));
    for key in ["record", "position", "stm"] {
        let dedup = |inputs: &[&str], out: &str| {
            output(0, &[&["-q", "dedup", "--force", "--counts", "--key", key, "-o", out], inputs].concat());
        };
        dedup(&[&boards, &boards, &boards], &first);
        dedup(&[&boards], &second);
        let sum = |file: &str| rows(file, "count").iter().map(|count| count.parse::<u64>().unwrap()).sum::<u64>();
        let records = rows(&boards, "fen").len() as u64;
        assert_eq!((sum(&first), sum(&second)), (3 * records, records), "{key}");
        dedup(&[&first, &second, &boards], &out);
        assert_eq!(sum(&out), 5 * records, "{key}");
        assert_eq!(rows(&out, "fen").len(), rows(&second, "fen").len(), "{key}");
    }
}

/// Shares of inputs in a mixture: what each gives is said, and what does not fit is refused.
#[test]
fn inputs_are_mixed_by_their_weights() {
    let dir = Dir::new();
    let fens = |numbers: std::ops::RangeInclusive<u32>| -> String {
        numbers.map(|number| format!("4k3/8/8/8/8/8/8/4K2R w - - 0 {number}\n")).collect()
    };
    let (few, many) = (dir.file("few.fen", fens(1..=100)), dir.file("many.fen", fens(101..=1000)));
    let lines = |path: &str| fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    let mix = |name: &str, options: &[&str]| {
        let out = dir.name(name);
        let done = super::json(0, &[&["interleave", &few, &many, "-o", &out, "--json"], options].concat());
        let taken = |input: usize| done["inputs"][input]["taken"].as_u64().unwrap();
        (lines(&out), taken(0), taken(1))
    };
    let (mixed, ours, theirs) = mix("a.fen", &["--weights", "0.25,0.75"]);
    assert_eq!((ours, theirs, mixed.len()), (100, 301, 401));
    // Each keeps its order.
    for (all, taken) in [(&few, 100), (&many, 301)] {
        let all = lines(all);
        let own: Vec<&String> = mixed.iter().filter(|line| all.contains(line)).collect();
        assert!(own.into_iter().eq(all.iter().take(taken)), "{taken}");
    }
    let (mixed, ours, theirs) = mix("b.fen", &["--weights", "1,3", "--repeat", "--seed", "4"]);
    assert_eq!((ours, theirs, mixed.len()), (300, 900, 1200));
    let all = lines(&few);
    let own: Vec<&String> = mixed.iter().filter(|line| all.contains(line)).collect();
    assert!(own.into_iter().eq(all.iter().chain(&all).chain(&all)));
    // A directory is one input.
    let folder = dir.name("folder");
    fs::create_dir(&folder).unwrap();
    fs::copy(&few, format!("{folder}/a.fen")).unwrap();
    fs::copy(&many, format!("{folder}/b.fen")).unwrap();
    let out = dir.name("c.fen");
    let note = stderr_of(0, &["interleave", &folder, &few, "-o", &out, "--weights", "2,1"]);
    assert!(note.contains("200 of 1,000 records; 800 are left") || note.contains("201 of 1,000"), "{note}");
    assert!(note.contains("all 100 records"), "{note}");
    for (options, why) in [
        (&["--weights", "1"][..], "--weights has 1 number, and there are 2 inputs"),
        (&["--weights", "0.5,x"], "is not a weight"),
        (&["--repeat"], "--weights"),
    ] {
        let message = stderr_of(2, &[&["interleave", &few, &many, "-o", &dir.name("d.fen")], options].concat());
        assert!(message.contains(why), "{message}");
    }
}
