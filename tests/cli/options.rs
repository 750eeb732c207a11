//! Global options, inputs, exit status.

use super::{Dir, KIWIPETE, START, json, lanefish, output, sample, stderr_of};
use crate::formats::round_trips::boards_bytes;
use lanefish::chess::Position;
use lanefish::packed::Packed;
use lanefish::table::Batch;
use std::fs;

#[test]
fn options_before_and_after_the_command() {
    let file = sample("sample.epd");
    let before = output(0, &["--limit", "2", "--skip", "1", "compute", &file]);
    let after = output(0, &["compute", &file, "--limit", "2", "--skip", "1"]);
    assert_eq!(before, after);
    assert_eq!(before.lines().count(), 3);
    let all = output(0, &["compute", &file]);
    assert_eq!(before.lines().nth(1), all.lines().nth(2));
}

#[test]
fn skip_and_limit_count_records_over_all_inputs() {
    let file = sample("perft.epd");
    let rows = output(0, &["compute", "--columns", "index", "--skip", "7", "--limit", "4", &file, &file]);
    assert_eq!(rows, "index\n7\n8\n9\n10\n");
    assert_eq!(output(0, &["compute", "--columns", "index", "--skip", "100", &file]), "index\n");
    assert_eq!(output(0, &["compute", "--columns", "index", "--limit", "0", &file]), "index\n");
}

#[test]
fn shards_of_every_command_are_everything_together() {
    let directory = Dir::new();
    let game = "[Event \"x\"]\n[White \"a\"]\n\n1. e4 e5 2. Nf3 1-0\n\n";
    let bad = "[Event \"bad\"]\n\n1. Ke3 *\n\n";
    let text = format!("{}{bad}{}", game.repeat(30), game.repeat(20));
    let file = directory.file("x.pgn", text);
    let boards = directory.name("x.boards");
    let shards = ["0/3", "1/3", "2/3"];
    let mut records = 0;
    let mut positions = 0;
    let mut rows = Vec::new();
    let mut games = 0;
    let mut statuses = Vec::new();
    for shard in shards {
        let done = lanefish(&["verify", "--json", "--shard", shard, &file]).output().unwrap();
        let found: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        records += found["files"][0]["records"].as_u64().unwrap();
        let status = done.status.code().unwrap();
        statuses.push(status);
        let columns = "index,game,fen";
        let found = output(status, &["compute", "--columns", columns, &file, "--shard", shard]);
        assert!(found.starts_with("index,game,fen\n0,0,rnbqkbnr/"), "{found}");
        let fens = found.lines().skip(1);
        rows.extend(fens.map(|row| row.rsplit(',').next().unwrap().to_owned()));
        games += output(status, &["games", &file, "--shard", shard]).lines().count() - 1;
        let stats = json(status, &["stats", "--json", &file, "--shard", shard]);
        positions += stats["positions"].as_u64().unwrap();
        let arguments = ["convert", &file, "-o", &boards, "--force", "--shard", shard];
        output(status, &arguments);
        let converted = json(0, &["stats", "--json", &boards]);
        assert_eq!(converted["positions"], stats["positions"]);
        let limited = json(status, &["stats", "--json", "--shard", shard, "--skip", "5", &file]);
        let all = stats["positions"].as_u64().unwrap() + stats["rejected"].as_u64().unwrap();
        let rest = limited["positions"].as_u64().unwrap() + limited["rejected"].as_u64().unwrap();
        assert_eq!(rest, all - 5);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [0, 0, 1]);
    assert_eq!((records, positions, games), (202, 201, 51));
    let whole = output(1, &["compute", "--columns", "fen", &file]);
    assert!(whole.lines().skip(1).eq(rows.iter().map(String::as_str)));
    // The only shard of one is the whole, with its lines.
    let rejects = directory.name("rejects");
    output(1, &["stats", "--shard", "0/1", "--rejects", &rejects, &file]);
    assert!(fs::read_to_string(&rejects).unwrap().contains("x.pgn:"));
    for shard in ["0/2", "1/2"] {
        let arguments = ["stats", "--shard", shard, "--rejects", &rejects, &file, "--force"];
        let _ = lanefish(&arguments).assert();
        let found = fs::read_to_string(&rejects).unwrap();
        assert!(found.is_empty() || found.contains("x.pgn@1"), "{found}");
    }
}

#[test]
fn shards_that_do_not_exist_are_refused() {
    let file = sample("perft.epd");
    for (shard, why) in [
        ("4/4", "the last of 4 is 3/4"),
        ("0/0", "from 1 to 10000"),
        ("0/10001", "from 1 to 10000"),
        ("1", "expected I/N"),
        ("-1/4", "expected I/N"),
    ] {
        let option = format!("--shard={shard}");
        let stderr = stderr_of(2, &["stats", &option, &file]);
        assert!(stderr.contains(why), "{stderr}");
    }
    for arguments in
        [&["generate", "--shard", "0/2"][..], &["info", "--shard", "0/2", &file], &["perft", "3", "--shard", "0/2"]]
    {
        let stderr = stderr_of(2, arguments);
        assert!(stderr.contains("does not take --shard"), "{stderr}");
    }
}

#[test]
pub(super) fn tiers_by_option_and_by_variable() {
    let file = sample("perft.epd");
    let stats = json(0, &["stats", "--json", "--tier", "portable", &file]);
    assert_eq!(stats["run"]["tier"], "portable");
    let run = |value: &str| {
        let mut command = lanefish(&["stats", "--json", &file]);
        command.env("LANEFISH_TIER", value);
        command.assert()
    };
    let done = run("portable").success();
    let stats: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(stats["run"]["tier"], "portable");
    run("").success();
    run("auto").success();
    let stderr = run("abacus").code(2);
    let stderr = String::from_utf8_lossy(&stderr.get_output().stderr).into_owned();
    assert!(stderr.contains("LANEFISH_TIER") && stderr.contains("avx512"), "{stderr}");
    // The option counts, whatever the variable says.
    for value in ["abacus", "avx512", "auto"] {
        let mut command = lanefish(&["--tier", "portable", "stats", "--json", &file]);
        let done = command.env("LANEFISH_TIER", value).assert().success();
        let stats: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
        assert_eq!(stats["run"]["tier"], "portable", "{value}");
    }
    assert!(stderr_of(2, &["stats", "--tier", "abacus", &file]).contains("avx512"));
}

#[test]
pub(super) fn a_tier_that_the_cpu_lacks_is_a_clear_error() {
    let info = json(0, &["info", "--json"]);
    let available: Vec<&str> = info["tiers"].as_array().unwrap().iter().filter_map(|t| t.as_str()).collect();
    for tier in ["portable", "bmi2", "avx2", "avx512"] {
        if available.contains(&tier) {
            json(0, &["stats", "--json", "--tier", tier, &sample("perft.epd")]);
        } else {
            let stderr = stderr_of(2, &["stats", "--tier", tier, &sample("perft.epd")]);
            assert!(stderr.contains(tier) && stderr.contains("portable"), "{stderr}");
        }
    }
}

#[test]
fn rejects_are_reported_counted_and_written() {
    let dir = Dir::new();
    let bad: String = (0..15).map(|n| format!("bad line {n}\n")).collect();
    let file = dir.file("a.fen", format!("{START}\r\n{bad}{KIWIPETE}\n"));
    let rejects = dir.name("rejects.txt");
    let done = lanefish(&["stats", "--json", "--rejects", &rejects, &file]).assert().code(1);
    let stats: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!((&stats["positions"], &stats["rejected"]), (&2.into(), &15.into()));
    let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("15 of 17 records rejected"), "{stderr}");
    assert!(stderr.contains("a.fen:2 ") && stderr.contains("a.fen:11 ") && !stderr.contains("a.fen:12 "), "{stderr}");
    assert!(stderr.contains("and 5 more"), "{stderr}");
    let lines = fs::read_to_string(&rejects).unwrap();
    assert_eq!(lines.lines().count(), 15);
    assert!(lines.lines().all(|line| line.contains("a.fen:") && line.ends_with(|c: char| c.is_ascii_digit())));
    assert_eq!(stderr_of(1, &["-q", "stats", &file]), "");
    // The file of rejects is an output like any other.
    assert!(stderr_of(2, &["stats", "--rejects", &rejects, &file]).contains("--force"));
    stderr_of(1, &["stats", "--rejects", &rejects, "--force", &file]);
}

/// Binary records are written as their planes and clocks.
#[test]
fn rejects_of_boards_files_are_written_as_numbers() {
    let dir = Dir::new();
    let mut batch = Batch::new();
    for fen in [START, "4k3/8/8/8/8/8/4R3/4K3 w - - 3 9"] {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let board = Packed::pack(&position).unwrap();
        batch.push(board, position.halfmove, position.fullmove);
    }
    let file = dir.file("a.boards", boards_bytes(&batch));
    let rejects = dir.name("rejects.txt");
    stderr_of(1, &["stats", "--rejects", &rejects, &file]);
    let written = fs::read_to_string(&rejects).unwrap();
    assert!(
        written.ends_with("\t1000000000000000 0000000000000000 1000000000000010 1000000000001010 3 9\n"),
        "{written}"
    );
}

#[test]
fn strict_stops_at_the_first_bad_record() {
    let dir = Dir::new();
    let file = dir.file("a.fen", format!("{START}\nbad\n{KIWIPETE}\nworse\n"));
    let done = lanefish(&["stats", "--json", "--strict", &file]).assert().code(2).stdout("");
    let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("a.fen:2 ") && !stderr.contains("a.fen:4 "), "{stderr}");
}

#[test]
fn validity_levels() {
    let dir = Dir::new();
    // Five queens and eight pawns: playable, but promotions cannot account for the queens.
    let file = dir.file("a.fen", "4k3/8/8/8/8/8/PPPPPPPP/QQQQK2Q b - - 0 1\n");
    json(0, &["stats", "--json", &file]);
    json(1, &["-q", "stats", "--json", "--validity", "strict", &file]);
    stderr_of(2, &["stats", "--validity", "lax", &file]);
}

#[test]
fn strict_checks_en_passant_squares_without_a_legal_capture() {
    let dir = Dir::new();
    // The first en passant square may follow a double step of the e-pawn; in the second position there is still a
    // pawn on e2.
    let file = dir.file(
        "a.fen",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1\n\
         rnbqkbnr/pppppppp/8/8/4P3/8/PPPPPPP1/RNBQKBNR b KQkq e3 0 1\n",
    );
    let counts = |level, status| {
        let found = json(status, &["-q", "stats", "--json", "--validity", level, &file]);
        (found["positions"].clone(), found["rejected"].clone())
    };
    assert_eq!(counts("playable", 0), (2.into(), 0.into()));
    assert_eq!(counts("strict", 1), (1.into(), 1.into()));
    let stderr = stderr_of(1, &["stats", "--json", "--validity", "strict", &file]);
    assert!(stderr.contains("a.fen:2 ") && stderr.contains("en passant square"), "{stderr}");
}

#[test]
fn directories_and_missing_files() {
    let dir = Dir::new();
    dir.file("b.fen", START);
    dir.file("a.epd", KIWIPETE);
    dir.file("notes.md", "no positions");
    let directory = dir.name("");
    assert_eq!(output(0, &["compute", "--columns", "legal_moves", &directory]), "legal_moves\n48\n20\n");
    assert!(stderr_of(0, &["-v", "stats", &directory]).contains("notes.md"));
    let stderr = stderr_of(2, &["stats", &dir.name("missing.fen")]);
    assert!(stderr.contains("missing.fen"), "{stderr}");
    let empty = Dir::new();
    stderr_of(2, &["stats", &empty.name("")]);
}

#[test]
fn compressed_inputs() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let dir = Dir::new();
    let text = format!("{START}\n{KIWIPETE}\n");
    let zst = dir.file("a.fen.zst", zstd::encode_all(text.as_bytes(), 3).unwrap());
    let mut gz = GzEncoder::new(Vec::new(), Compression::default());
    gz.write_all(text.as_bytes()).unwrap();
    let gz = dir.file("a.fen.gz", gz.finish().unwrap());
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bz2.write_all(text.as_bytes()).unwrap();
    let bz2 = dir.file("a.fen.bz2", bz2.finish().unwrap());
    let stats = json(0, &["stats", "--json", &zst, &gz, &bz2]);
    assert_eq!(stats["positions"], 6);
    assert_eq!(stats["legal_moves"]["sum"], 3 * 68);
    for packed in [zst, gz, bz2] {
        lanefish(&["compute", "--columns", "legal_moves", "-"])
            .write_stdin(std::fs::read(&packed).unwrap())
            .assert()
            .success()
            .stdout("legal_moves\n20\n48\n");
    }
}

#[test]
fn dropped_en_passant_squares_are_counted_with_v() {
    let dir = Dir::new();
    let file = dir.file("a.fen", "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1\n");
    let stderr = stderr_of(0, &["-v", "stats", &file]);
    assert!(stderr.contains("1 en passant square dropped"), "{stderr}");
    let evals = dir.file("a.jsonl", "{\"fen\":\"8/8/8/8/k2Pp2Q/8/8/3K4 b - d3\",\"evals\":[]}\n");
    let stderr = stderr_of(0, &["-v", "stats", &file, &evals]);
    assert!(stderr.contains("2 en passant squares dropped"), "{stderr}");
    assert!(output(0, &["compute", "--columns", "fen", &file]).contains(" b - - 0 1"));
    assert!(output(0, &["compute", "--keep-en-passant", "--columns", "fen", &file]).contains(" b - d3 0 1"));
}

#[test]
fn usage_errors_end_with_two() {
    stderr_of(2, &[]);
    stderr_of(2, &["paint"]);
    stderr_of(2, &["stats"]);
    stderr_of(2, &["stats", "--threads", "0", &sample("perft.epd")]);
    stderr_of(2, &["stats", "--threads", "many", &sample("perft.epd")]);
    stderr_of(2, &["stats", "-q", "-v", &sample("perft.epd")]);
    stderr_of(2, &["stats", "-", "-"]);
    assert!(output(0, &["--help"]).contains("Exit status"));
    assert!(output(0, &["stats", "--help"]).contains("--keep-en-passant"));
}

#[test]
fn progress_goes_to_standard_error() {
    let stderr = stderr_of(0, &["stats", "--progress", "always", &sample("sample.epd")]);
    assert!(stderr.contains("records"), "{stderr}");
    assert_eq!(stderr_of(0, &["-q", "stats", &sample("sample.epd")]), "");
    // Only the time of the run.
    for arguments in [&["stats", &sample("sample.epd")][..], &["stats", "--progress", "never", &sample("sample.epd")]] {
        let stderr = stderr_of(0, arguments);
        assert!(stderr.lines().count() == 1 && stderr.contains(" positions/s, "), "{stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    use std::process::Stdio;
    for arguments in [&["compute"][..], &["convert", "--to", "boards"], &["stats", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done =
            super::program().args(arguments).arg(sample("sample.epd")).stdout(Stdio::from(full)).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(stderr.contains("standard output"), "{stderr}");
    }
    let stderr = stderr_of(2, &["compute", "-o", "/dev/full", "--format", "csv", &sample("sample.epd")]);
    assert!(stderr.contains("/dev/full"), "{stderr}");
}

/// What prints without reading anything.
const TEXTS: [&[&str]; 11] = [
    &["--help"],
    &["-h"],
    &["help", "stats"],
    &["stats", "--help"],
    &["perft", "-h"],
    &["--version"],
    &["--version", "-v"],
    &["man"],
    &["completions", "bash"],
    &["compute", "--list-columns"],
    &["info", "--json"],
];

#[cfg(target_os = "linux")]
#[test]
fn help_on_a_full_disk_is_an_error() {
    use std::process::Stdio;
    for arguments in TEXTS {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let done = super::program().args(arguments).stdout(Stdio::from(full.unwrap())).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(stderr.contains("standard output"), "{stderr}");
    }
}

#[cfg(unix)]
#[test]
fn help_that_nobody_reads_ends_quietly() {
    for arguments in TEXTS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = super::program().args(arguments).stdout(writer).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_no_file() {
    use std::process::Command;
    use std::time::{Duration, Instant};
    let dir = Dir::new();
    let mut child =
        super::program().args(["generate", "-n", "4000000000", "-o", &dir.name("a.boards")]).spawn().unwrap();
    let begin = Instant::now();
    while dir.list().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the run did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    if !signal.is_ok_and(|status| status.success()) {
        child.kill().unwrap();
        child.wait().unwrap();
        crate::support::skipped("no `kill` command");
        return;
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(dir.list(), [""; 0]);
}
