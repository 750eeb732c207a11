//! Outputs that a cluster writes: the records of one process, in a file for each piece.

use super::cluster::{Cluster, PATIENCE, Process};
use super::{Dir, lanefish, output, sample, stderr_of};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Scheduler and executors that write below `out` of a directory.
fn cluster_for(dir: &Dir, executors: usize) -> Cluster {
    let mut cluster = Cluster::start(0);
    for _ in 0..executors {
        cluster.add(&["--out", &dir.name("out")]);
    }
    cluster
}

/// The pieces in a directory, in order: no manifests, and nothing that is half there.
fn pieces(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).expect("listed").map(|entry| entry.expect("listed").path());
    let mut names: Vec<String> = names.map(|path| path.to_str().expect("UTF-8").to_owned()).collect();
    names.retain(|name| !name.ends_with(".manifest.json"));
    names.sort_unstable();
    names
}

/// The content of all files of a directory.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(directory).expect("listed").map(|entry| entry.expect("listed").path());
    files.map(|path| (path.display().to_string(), fs::read(path).expect("read"))).collect()
}

/// A text with two bad lines, games, and generated boards.
fn inputs(dir: &Dir) -> Vec<String> {
    let boards = dir.name("a.boards");
    output(0, &["generate", "-n", "30000", "--seed", "3", "-o", &boards]);
    let mut text = fs::read_to_string(sample("sample.epd")).expect("read");
    text = text.replacen('\n', "\nnonsense\n", 1) + "8/8/8/8/8/8/8/8 w - -\n";
    vec![boards, dir.file("b.epd", text), sample("lichess-2025-05.pgn")]
}

fn on_cluster<'a>(cluster: &'a Cluster, command: &'a str, inputs: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![command, "--cluster", &cluster.address, "--quiet"];
    arguments.extend(inputs.iter().map(String::as_str));
    arguments.extend(more);
    arguments
}

#[test]
fn pieces_have_the_records_of_one_process() {
    let dir = Dir::new();
    let cluster = cluster_for(&dir, 2);
    let inputs = inputs(&dir);
    let one = |arguments: &[&str]| {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        output(1, &[&arguments[..1], &inputs, &arguments[1..], &["--quiet"]].concat())
    };
    let joined = |directory: &Path, read: &dyn Fn(&str) -> String| -> String {
        pieces(directory).iter().map(|piece| read(piece)).collect()
    };
    let fens = one(&["convert", "--to", "fen"]);
    for (number, name) in ["p-{n}.boards", "p{n}.epd.zst", "{n}.parquet", "x{n}x.arrow"].iter().enumerate() {
        let directory = dir.path(&format!("out/{number}/new"));
        let name = directory.join(name);
        let name = name.to_str().expect("UTF-8");
        let rejects = dir.name(&format!("rejects{number}"));
        let more = ["-o", name, "--pieces", "7", "--rejects", &rejects];
        output(1, &on_cluster(&cluster, "convert", &inputs, &more));
        assert!(joined(&directory, &|piece| output(0, &["convert", piece, "--to", "fen"])) == fens, "{name}");
        assert!(pieces(&directory).len() > 7, "{name}");
        let expected = dir.name(&format!("expected{number}"));
        one(&["convert", "--to", "fen", "--rejects", &expected]);
        let reasons = |path: &str| {
            let text = fs::read_to_string(path).expect("read");
            text.lines().map(|line| line.rsplit('\t').next().expect("a part").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(reasons(&rejects), reasons(&expected));
        let manifest = format!("{name}.manifest.json");
        let verified = output(0, &["verify", "--manifest", &manifest]);
        assert!(verified.ends_with("ok\n") && !verified.contains("not ok"), "{verified}");
        // That of each piece stands by itself.
        let alone = format!("{}.manifest.json", pieces(&directory)[0]);
        assert!(output(0, &["verify", "--manifest", &alone]).ends_with("\nok\n"));
        fs::write(&pieces(&directory)[1], "x").expect("written");
        assert!(output(1, &["verify", "--manifest", &manifest]).ends_with("not ok\n"));
    }
    // Columns, also defined ones, chosen records and new values.
    let more: [&[&str]; 2] = [
        &[
            "--columns",
            "fen,legal_moves,half",
            "--let",
            "half = legal_moves / 2.0",
            "--where",
            "half > 9 and not in_check",
        ],
        &["--columns", "fen,key,tag:White", "--masks", "decimal", "--keep-en-passant"],
    ];
    for (number, more) in more.iter().enumerate() {
        let directory = dir.path(&format!("out/columns{number}"));
        let name = directory.join("{n}.csv");
        let arguments = [&["-o", name.to_str().expect("UTF-8")][..], more].concat();
        output(1, &on_cluster(&cluster, "compute", &inputs, &arguments));
        let whole = one(&[&["compute", "--format", "csv"][..], more].concat());
        let (header, rows) = whole.split_once('\n').expect("a header");
        let read = |piece: &str| {
            let text = fs::read_to_string(piece).expect("read");
            text.strip_prefix(&format!("{header}\n")).expect("the header").to_owned()
        };
        assert!(joined(&directory, &read) == rows, "{more:?}");
    }
    // A share of each piece is that of the shards of one process.
    let one_input = &inputs[..1];
    let sampled = dir.path("out/sampled");
    let name = sampled.join("{n}.fen");
    let more = ["-o", name.to_str().expect("UTF-8"), "--pieces", "4", "--sample", "0.1", "--seed", "5"];
    output(0, &on_cluster(&cluster, "convert", one_input, &more));
    let names = pieces(&sampled);
    for (shard, piece) in names.iter().enumerate() {
        let shard = format!("{shard}/{}", names.len());
        let options = ["--sample", "0.1", "--seed", "5", "--shard", &shard, "--to", "fen"];
        let expected = output(0, &[&["convert", &inputs[0]], &options[..]].concat());
        assert!(fs::read_to_string(piece).expect("read") == expected, "{shard}");
    }
}

#[test]
fn games_of_pieces_are_those_of_one_process() {
    let dir = Dir::new();
    let cluster = cluster_for(&dir, 2);
    // Long enough for several pieces.
    let mut text = fs::read_to_string(sample("lichess-2025-05.pgn")).expect("read").repeat(12);
    text = text.replacen("1. e4 ", "1. e5 ", 1);
    let inputs = [dir.file("a.pgn", text), sample("lichess-2025-05.pgn")];
    let having = ["--having", "in_check and legal_moves < 4", "--columns", "white,match_plies,tag:Event"];
    let cases: [(&str, &[&str]); 7] = [
        ("{n}.pgn", &[]),
        ("{n}.pgn", &["--min-elo", "1800"]),
        ("{n}.csv", &["--columns", "white,black,result,plies,fen"]),
        ("{n}.csv", &having),
        ("{n}.jsonl", &["--moves", "uci,san", "--columns", "white,plies,fen"]),
        ("{n}.parquet", &["--moves", "movetext"]),
        ("{n}.parquet", &["--schema", "aix"]),
    ];
    for (number, (name, more)) in cases.iter().enumerate() {
        let directory = dir.path(&format!("out/{number}"));
        let template = directory.join(name);
        let arguments = [&["-o", template.to_str().expect("UTF-8"), "--pieces", "4"][..], more].concat();
        let status = lanefish(&on_cluster(&cluster, "games", &inputs, &arguments)).output().expect("run").status.code();
        let whole = dir.name(&format!("whole{number}.{}", name.rsplit('.').next().expect("an extension")));
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let one = [&["games"], &inputs[..], &["-o", &whole, "--quiet"], more].concat();
        assert_eq!(status, lanefish(&one).output().expect("run").status.code(), "{more:?}");
        // Tables, as PGN or positions; text as it is, with one header.
        let read = |path: &str| match path.rsplit('.').next() {
            Some("parquet") => lanefish(&["convert", path, "--to", "fen", "--quiet"]).output().expect("run").stdout,
            _ => fs::read(path).expect("read"),
        };
        let header = match name.ends_with("csv") {
            true => read(&whole).iter().position(|&byte| byte == b'\n').expect("a header") + 1,
            false => 0,
        };
        let parts = pieces(&directory);
        assert!(parts.len() > 3, "{more:?}");
        let joined = parts.iter().enumerate().map(|(place, part)| {
            let bytes = read(part);
            bytes[if place == 0 { 0 } else { header }..].to_vec()
        });
        assert!(joined.collect::<Vec<_>>().concat() == read(&whole), "{more:?}");
    }
    let error =
        stderr_of(2, &on_cluster(&cluster, "games", &inputs, &["-o", &dir.name("out/{n}.csv"), "--sort", "plies"]));
    assert!(error.contains("--sort and --cluster"), "{error}");
}

#[test]
fn parts_of_a_tree_are_put_together() {
    let dir = Dir::new();
    let cluster = cluster_for(&dir, 2);
    let text = fs::read_to_string(sample("lichess-2025-05.pgn")).expect("read").repeat(12);
    let inputs = [dir.file("a.pgn", text), sample("lichess-2025-05.pgn")];
    let template = dir.name("out/{n}.tree");
    let more = ["-o", &template, "--pieces", "4", "--plies", "12"];
    output(0, &on_cluster(&cluster, "tree", &inputs, &more));
    let parts = pieces(&dir.path("out"));
    assert!(parts.len() > 3);
    let (merged, whole) = (dir.name("merged.csv"), dir.name("whole.csv"));
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    output(0, &[&["tree", "-o", &merged, "--min-games", "2", "--merge"], &names[..]].concat());
    output(0, &["tree", &inputs[0], &inputs[1], "-o", &whole, "--min-games", "2", "--plies", "12"]);
    assert!(fs::read(merged).expect("read") == fs::read(whole).expect("read"));
    let refused = |more: &[&str]| stderr_of(2, &on_cluster(&cluster, "tree", &inputs, more));
    assert!(refused(&["-o", &dir.name("out/{n}.csv")]).contains("parts of a tree"));
    assert!(refused(&["-o", &dir.name("new/{n}.tree"), "--min-games", "2"]).contains("a part has all positions"));
}

#[test]
fn what_exists_is_kept_or_refused() {
    let dir = Dir::new();
    let cluster = cluster_for(&dir, 1);
    let inputs = inputs(&dir);
    let name = dir.name("out/p-{n}.boards");
    let run = |status, more: &[&str]| {
        stderr_of(status, &on_cluster(&cluster, "convert", &inputs, &[&["-o", &name, "--pieces", "5"], more].concat()))
    };
    run(1, &[]);
    let directory = dir.path("out");
    let made = contents(&directory);
    // As everywhere, an existing file is an error, and nothing changes.
    assert!(run(2, &[]).contains("exists"));
    fs::remove_file(format!("{name}.manifest.json")).expect("removed");
    let error = run(2, &[]);
    assert!(error.contains("p-0000") && error.contains("--continue keeps pieces that fit"), "{error}");
    // All are kept, and then some, to the byte.
    run(1, &["--continue"]);
    let same = || {
        let mut now = contents(&directory);
        let joint = format!("{name}.manifest.json");
        let all = now.remove(&joint).expect("a manifest");
        assert_eq!(now.len() + 1, made.len());
        for (name, content) in now {
            // Another run has another name, and another command.
            if !name.ends_with(".manifest.json") {
                assert!(content == made[&name], "{name}");
            }
        }
        assert_eq!(String::from_utf8_lossy(&all).matches("\"blake3\"").count(), pieces(&directory).len());
    };
    same();
    let names = pieces(&directory);
    for name in &names[1..3] {
        fs::remove_file(name).expect("removed");
    }
    fs::remove_file(format!("{}.manifest.json", names[1])).expect("removed");
    let before = fs::metadata(&names[0]).expect("there").modified().expect("known");
    let said = {
        let more = ["-o", &name, "--pieces", "5", "--continue"];
        let mut arguments = on_cluster(&cluster, "convert", &inputs, &more);
        arguments.retain(|&argument| argument != "--quiet");
        stderr_of(1, &arguments)
    };
    assert!(said.contains(&format!("{} of them kept", names.len() - 2)), "{said}");
    same();
    assert_eq!(fs::metadata(&names[0]).expect("there").modified().expect("known"), before);
    // Other options, other inputs, another file, no manifest.
    for (more, reason) in [
        (&["--where", "in_check"][..], "with other options for reading"),
        (&["--allow-loss"], "in another format, or with other options of it"),
        (&["--validity", "strict"], "with other options for reading"),
    ] {
        let error = run(2, &[more, &["--continue"]].concat());
        assert!(error.contains(reason) && error.contains("--continue does not keep it"), "{error}");
    }
    let arguments = on_cluster(&cluster, "convert", &inputs[1..], &["-o", &name, "--continue"]);
    assert!(stderr_of(2, &arguments).contains("from other inputs"));
    let mut changed = made[&names[0]].clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    fs::write(&names[0], &changed).expect("written");
    assert!(run(2, &["--continue"]).contains("is no longer what was written"));
    fs::remove_file(format!("{}.manifest.json", names[0])).expect("removed");
    assert!(run(2, &["--continue"]).contains("no manifest"));
    assert!(fs::read(&names[0]).expect("read") == changed);
    run(1, &["--force"]);
    same();
    assert!(run(2, &["--continue", "--force"]).contains("cannot be used with"));
    // With the lines of rejected records, pieces that are kept are read again.
    let rejects = dir.name("rejects");
    run(1, &["--continue", "--rejects", &rejects]);
    assert_eq!(fs::read_to_string(&rejects).expect("read").lines().count(), 2);
    same();
}

#[test]
fn what_a_cluster_does_not_write_is_an_error() {
    let dir = Dir::new();
    let mut cluster = cluster_for(&dir, 0);
    cluster.add(&[]);
    let boards = dir.name("a.boards");
    output(0, &["generate", "-n", "3000", "-o", &boards]);
    let inputs = [boards.clone()];
    let name = dir.name("out/{n}.boards");
    let run = |command: &str, more: &[&str]| {
        let error = stderr_of(2, &on_cluster(&cluster, command, &inputs, more));
        assert!(!dir.path("out").exists(), "{error}");
        error
    };
    for (more, reason) in [
        (&["-o", &name][..], "started without --out"),
        (&["-o", &dir.name("out/x.boards")], "needs {n}"),
        (&["-o", &dir.name("out/{n}/x.boards")], "needs {n}"),
        (&["--to", "boards"], "--output"),
        (&["-o", &name, "--zip", &boards], "--zip and --cluster"),
        (&["-o", &name, "--limit", "5"], "--limit work in a single process only"),
        (&["-o", &name, "--shard", "0/2"], "--limit work in a single process only"),
        (&["-o", &name, "--sample", "5"], "--sample"),
        (&["-o", &name, "-"], "standard input"),
        (&["-o", &dir.name("out/{n}.parquet"), "--rows-per-file", "5"], "--rows-per-file"),
        (&["-o", &dir.name("out/{n}.parquet.zst")], "not compressed as a whole"),
        (&["-o", &dir.name("out/{n}.boards"), "--level", "5"], "--level 5"),
        (&["-o", &dir.name("out/{n}.pgn")], "pgn"),
    ] {
        let error = run("convert", more);
        assert!(error.contains(reason), "{more:?}: {error}");
    }
    assert!(run("compute", &["-o", &dir.name("out/{n}.txt")]).contains(".txt"));
    for alone in [["--continue"], ["--pieces=3"]] {
        stderr_of(2, &[&["convert", &boards, "-o", &name], &alone[..]].concat());
    }
    // Not an input, whatever its name.
    fs::rename(&boards, dir.path("00000.boards")).expect("renamed");
    let inputs = [dir.name("00000.boards")];
    let arguments = on_cluster(&cluster, "convert", &inputs, &["-o", "{n}.boards", "--force"]);
    let done = lanefish(&arguments).current_dir(dir.path("")).output().expect("run");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(2) && said.contains("cannot also be an output"), "{said}");
    // Records that would be changed.
    cluster.add(&["--out", &dir.name("out")]);
    cluster.executors.remove(0).kill();
    let odd = [dir.file("c.epd", "r1k4r/8/8/8/8/8/8/R3K2R w HAha - 0 1\nbrnkqbnr/8/8/8/8/8/8/BRNKQBNR w HBhb - 0 1\n")];
    let to = dir.name("out/{n}.bullet");
    let error = stderr_of(2, &on_cluster(&cluster, "convert", &odd, &["-o", &to]));
    let one = stderr_of(2, &["convert", &odd[0], "-o", &dir.name("one.bullet")]);
    assert!(error.contains("--allow-loss") == one.contains("--allow-loss"), "{error} {one}");
    assert_eq!(fs::read_dir(dir.path("out")).map_or(0, Iterator::count), 0, "{error}");
}

#[cfg(unix)]
#[test]
fn an_executor_that_is_asked_to_end_leaves_no_half_file() {
    let dir = Dir::new();
    let mut cluster = cluster_for(&dir, 1);
    let text = dir.name("long.fen.gz");
    output(0, &["generate", "-n", "1000000", "--seed", "9", "-o", &text]);
    let name = dir.name("out/{n}.csv.gz");
    let inputs = [text];
    let more = ["-o", &name, "--columns", "fen,legal_moves,mobility_white", "--level", "9"];
    let mut client = Command::new(assert_cmd::cargo::cargo_bin("lanefish"));
    client.args(on_cluster(&cluster, "compute", &inputs, &more)).stderr(Stdio::null());
    let mut client = client.spawn().expect("started");
    let files = || if dir.path("out").exists() { pieces(&dir.path("out")) } else { Vec::new() };
    let start = Instant::now();
    while !files().iter().any(|name| name.contains("00000.csv.gz.")) {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    let asked = Command::new("kill").arg(cluster.executors[0].id().to_string()).status();
    if asked.is_ok_and(|status| status.success()) {
        cluster.executors[0].wait();
        // A short task may end first, so that the file is there; the temporary file of the joint manifest is the client's.
        let is_half = |name: &String| name.contains("00000") && name.ends_with(".part");
        let left: Vec<String> = files().into_iter().filter(is_half).collect();
        assert!(left.is_empty(), "{left:?}");
    } else {
        crate::support::skipped("no `kill` command");
    }
    client.kill().expect("killed");
    client.wait().expect("ended");
}

/// An executor is killed, and then the client: a second run finishes what the first began.
#[test]
fn a_second_run_goes_on_with_what_is_left() {
    let dir = Dir::new();
    let mut cluster = cluster_for(&dir, 2);
    let text = dir.name("long.fen.gz");
    output(0, &["generate", "-n", "200000", "--seed", "9", "-o", &text]);
    let inputs = vec![text.clone(); 12];
    let name = dir.name("out/{n}.csv.gz");
    let options = ["--columns", "fen,legal_moves,mobility_white", "--level", "9", "--pieces", "1000"];
    let more = [&["-o", &name][..], &options].concat();
    let arguments: Vec<String> =
        on_cluster(&cluster, "compute", &inputs, &more).into_iter().map(str::to_owned).collect();
    let begin = |more: &[&str]| {
        let mut client = Command::new(assert_cmd::cargo::cargo_bin("lanefish"));
        client.args(&arguments).args(more).stderr(Stdio::piped()).spawn().expect("started")
    };
    let count = || if dir.path("out").exists() { pieces(&dir.path("out")).len() } else { 0 };
    let wait = |least: usize| {
        let start = Instant::now();
        while count() < least {
            assert!(start.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let mut client = begin(&[]);
    wait(2);
    cluster.executors[0].kill();
    wait(3);
    client.kill().expect("killed");
    client.wait().expect("ended");
    // Temporary files of the killed executor have other names.
    let done = begin(&["--continue"]).wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    let expected = output(0, &[&["compute", &text, "--format", "csv"][..], &options[..2]].concat());
    let found = pieces(&dir.path("out"));
    let complete: Vec<&String> = found.iter().filter(|name| name.ends_with(".csv.gz")).collect();
    assert_eq!(complete.len(), inputs.len(), "{found:?}");
    let first = fs::read(complete[0]).expect("read");
    for name in &complete {
        assert!(fs::read(name).expect("read") == first, "{name}");
    }
    let mut text = String::new();
    let packed = flate2::read::MultiGzDecoder::new(&first[..]);
    std::io::Read::read_to_string(&mut { packed }, &mut text).expect("gzip");
    assert!(text == expected);
    assert!(cluster.executors.iter_mut().skip(1).all(|executor: &mut Process| executor.tasks() > 0));
}
