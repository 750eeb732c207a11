//! Outputs that are compressed because their names end in `.zst`, `.gz` or `.bz2`.

use super::{Dir, START, json, lanefish, output, sample, stderr_of};
use std::fs;
use std::io::Read;

const SUFFIXES: [&str; 3] = ["zst", "gz", "bz2"];

/// The content of a container as common decoders read it; of gzip files, one member.
fn decompressed(path: &str) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let mut content = Vec::new();
    match path.rsplit('.').next().unwrap() {
        "zst" => zstd::stream::read::Decoder::new(&bytes[..]).unwrap().read_to_end(&mut content),
        "gz" => flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut content),
        _ => bzip2::read::MultiBzDecoder::new(&bytes[..]).read_to_end(&mut content),
    }
    .unwrap();
    content
}

#[test]
fn every_command_compresses_by_the_suffix() {
    let dir = Dir::new();
    let input = sample("sample.epd");
    let bad = dir.file("bad.pgn", "[Event \"?\"]\n\n1. e4 e5 2. Ke3 *\n");
    for suffix in SUFFIXES {
        let name = |name: &str| dir.name(&format!("{name}.{suffix}"));
        for (arguments, file) in [
            (vec!["convert", "--to", "epd", &input], name("a.epd")),
            (vec!["convert", "--to", "boards", &input], name("a.boards")),
            (vec!["compute", &input], name("a.csv")),
            (vec!["compute", "--format", "jsonl", &input], name("a.jsonl")),
            (vec!["generate", "-n", "2000", "--to", "fen"], name("a.fen")),
        ] {
            let plain = lanefish(&arguments).output().unwrap();
            output(0, &[&arguments, &["-o", &file][..]].concat());
            assert!(decompressed(&file) == plain.stdout, "{file}");
        }
        let (rows, rejects) = (name("games.jsonl"), name("rejects.txt"));
        output(1, &["games", &bad, "-o", &rows, "--rejects", &rejects]);
        assert!(decompressed(&rows).starts_with(b"{\"game\":0,"));
        assert!(decompressed(&rejects).ends_with(b"1. e4 e5 2. Ke3 *\n"));
        let stats = json(0, &["stats", "--json", &name("a.boards"), &name("a.epd")]);
        assert_eq!(stats["positions"], 2 * 4098);
        // The format is inferred from the name without the suffix.
        assert_eq!(json(0, &["info", "--json", &name("a.boards")])["format"], "boards");
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_threads() {
    let dir = Dir::new();
    for suffix in SUFFIXES {
        let mut all = Vec::new();
        for threads in ["1", "2", "5"] {
            let file = dir.name(&format!("{threads}.csv.{suffix}"));
            let own = ["--threads", threads, "-o", &file];
            let columns = ["--columns", "fen,key,attacks_white,attacks_black"];
            let inputs = vec![sample("sample.epd"); 12];
            let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            output(0, &[&["compute"], &own[..], &columns, &inputs].concat());
            all.push(fs::read(&file).unwrap());
        }
        assert!(all[0] == all[1] && all[0] == all[2], "{suffix}");
        let rows = decompressed(&dir.name(&format!("1.csv.{suffix}")));
        assert_eq!(rows.iter().filter(|&&byte| byte == b'\n').count(), 12 * 4098 + 1);
    }
    // More than one frame, so that readers can decompress in parallel.
    let frames = fs::read(dir.path("1.csv.zst")).unwrap();
    let announced = frames.windows(8).filter(|bytes| *bytes == b"\x50\x2A\x4D\x18\x04\0\0\0");
    assert!(announced.count() > 1);
}

#[test]
fn levels() {
    let dir = Dir::new();
    let input = sample("sample.epd");
    for (suffix, low, high) in [("zst", "1", "19"), ("gz", "1", "9"), ("bz2", "1", "9")] {
        let size = |level: &str| {
            let file = dir.name(&format!("{level}.epd.{suffix}"));
            output(0, &["convert", &input, "--level", level, "-o", &file]);
            fs::metadata(file).unwrap().len()
        };
        assert_ne!(size(low), size(high), "{suffix}");
    }
    let before = dir.list();
    for (name, level) in
        [("x.epd.zst", "23"), ("x.epd.zst", "0"), ("x.epd.gz", "10"), ("x.epd.bz2", "-1"), ("x.epd", "3")]
    {
        let stderr = stderr_of(2, &["convert", &input, "-o", &dir.name(name), "--level", level]);
        assert!(stderr.contains(&format!("--level {level}")), "{stderr}");
        assert_eq!(dir.list(), before);
    }
    let stderr = stderr_of(2, &["convert", &input, "--to", "epd", "--level", "3"]);
    assert!(stderr.contains("not compressed"), "{stderr}");
}

#[test]
fn failed_runs_leave_no_partial_output() {
    let dir = Dir::new();
    let bad = dir.file("a.fen", format!("{START}\nbad\n"));
    for suffix in SUFFIXES {
        let out = dir.name(&format!("b.boards.{suffix}"));
        stderr_of(2, &["convert", "--strict", &bad, "-o", &out]);
        assert_eq!(dir.list(), ["a.fen"]);
    }
    // An empty output is a complete container.
    let empty = dir.file("a.csv", "fen\n");
    for suffix in SUFFIXES {
        let out = dir.name(&format!("b.fen.{suffix}"));
        output(0, &["convert", &empty, "-o", &out]);
        assert_eq!(decompressed(&out), b"");
        assert!(stderr_of(0, &["stats", &out]).contains("the file is empty"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let dir = Dir::new();
    for suffix in SUFFIXES {
        let full = dir.name(&format!("full.csv.{suffix}"));
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        let stderr = stderr_of(2, &["compute", &sample("sample.epd"), "-o", &full]);
        assert!(stderr.contains("full.csv"), "{stderr}");
    }
}
