//! `--rows-per-file`, `--partition-by` and `--row-group`: rows in several files, which together are the one file; Bloom filters.

use super::{Dir, json, lanefish, output, sample, stderr_of};
use serde_json::Value;
use std::fs;

/// The contents of the files that a directory has, in the order of their names.
fn files(dir: &Dir, folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(dir.path(folder))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn files_together_have_the_rows_of_one() {
    let dir = Dir::new();
    let (epd, pgn) = (sample("sample.epd"), sample("lichess-2025-05.pgn"));
    for (place, (command, extension, rows)) in [
        (["compute", &epd, "--columns", "fen,in_check,key"], "csv", 1000),
        (["compute", &epd, "--columns", "fen,in_check,key"], "jsonl", 4096),
        (["compute", &epd, "--columns", "fen,in_check,key"], "jsonl.zst", 4098),
        (["compute", &epd, "--columns", "fen,in_check,key"], "parquet", 1),
        (["compute", &epd, "--columns", "fen,in_check,key"], "parquet", 1365),
        (["compute", &epd, "--columns", "fen,in_check,key"], "arrow", 4097),
        (["compute", &pgn, "--columns", "fen,white,result"], "arrows", 100),
        (["compute", &pgn, "--columns", "fen,white,tag:Event"], "csv.gz", 333),
        (["games", &pgn, "--columns", "white,plies"], "parquet", 7),
        (["games", &pgn, "--columns", "white,plies"], "csv", 2),
    ]
    .into_iter()
    .enumerate()
    {
        // A file for each row is enough for some of them.
        let limit = if rows == 1 { "30" } else { "100000" };
        let command = [&command[..], &["--limit", limit]].concat();
        let whole = dir.name(&format!("whole-{place}.{extension}"));
        output(0, &[&command[..], &["-o", &whole]].concat());
        let mut before = None;
        for threads in ["1", "3"] {
            let folder = format!("{place}-{threads}");
            fs::create_dir(dir.path(&folder)).unwrap();
            let parts = dir.name(&format!("{folder}/part-{{n}}.{extension}"));
            let number = rows.to_string();
            output(0, &[&command[..], &["-o", &parts, "--rows-per-file", &number, "--threads", threads]].concat());
            let all = files(&dir, &folder);
            assert_eq!(all[0].0, format!("part-00000.{extension}"));
            // The same files for any number of threads.
            assert_eq!(*before.get_or_insert_with(|| all.clone()), all, "{folder}");
            let counted: Vec<u64> =
                all.iter().map(|(name, _)| rows_of(&dir.name(&format!("{folder}/{name}")))).collect();
            let whole = rows_of(&whole);
            assert_eq!(counted.iter().sum::<u64>(), whole, "{folder}");
            assert_eq!(counted.len() as u64, whole.div_ceil(rows), "{folder}");
            assert!(counted[..counted.len() - 1].iter().all(|&count| count == rows), "{counted:?}");
        }
        if command[0] == "compute" {
            // The positions in their order.
            let fens = |input: &str| output(0, &["compute", input, "--columns", "fen", "--format", "csv"]);
            let from = if extension.starts_with("csv") { &["--from", "csv"][..] } else { &[] };
            let read = |input: &str| {
                if extension.starts_with("json") {
                    return fens(input);
                }
                output(0, &[&["compute", input, "--columns", "fen", "--format", "csv"], from].concat())
            };
            assert_eq!(read(&dir.name(&format!("{place}-1"))), read(&whole), "{place}");
        }
    }
}

fn facts(file: &str) -> Value {
    json(0, &["info", "--json", file])
}

/// The number of rows of a file.
fn rows_of(file: &str) -> u64 {
    if file.contains(".csv") || file.contains(".jsonl") {
        let text = if file.ends_with(".zst") || file.ends_with(".gz") {
            decompressed(file)
        } else {
            fs::read_to_string(file).unwrap()
        };
        return text.lines().count() as u64 - u64::from(file.contains(".csv"));
    }
    facts(file)["records"].as_u64().unwrap()
}

fn decompressed(file: &str) -> String {
    use std::io::Read;
    let bytes = fs::read(file).unwrap();
    if file.ends_with(".zst") {
        return String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
    }
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn all_files_appear_or_none() {
    let dir = Dir::new();
    let epd = sample("sample.epd");
    let parts = dir.name("part-{n}.csv");
    let command = ["compute", &epd, "--columns", "fen", "-o", &parts, "--rows-per-file", "2000"];
    // One of them exists.
    let third = dir.file("part-00002.csv", "kept");
    let refused = stderr_of(2, &command);
    assert!(refused.contains("part-00002.csv exists"), "{refused}");
    assert_eq!(files(&dir, "").len(), 1);
    assert_eq!(fs::read_to_string(&third).unwrap(), "kept");
    output(0, &[&command[..], &["--force"]].concat());
    assert_eq!(files(&dir, "").len(), 3);
    // Nothing has one file without rows.
    let none = dir.name("none-{n}.parquet");
    output(0, &["compute", &epd, "--where", "legal_moves > 300", "-o", &none, "--rows-per-file", "10"]);
    assert!(dir.path("none-00000.parquet").exists() && !dir.path("none-00001.parquet").exists());
    // A bad record ends a strict run.
    let bad = dir.file("bad.epd", format!("{}nonsense\n", fs::read_to_string(&epd).unwrap()));
    fs::create_dir(dir.path("strict")).unwrap();
    let strict = dir.name("strict/{n}.csv");
    lanefish(&["compute", &bad, "--strict", "-o", &strict, "--rows-per-file", "100"]).assert().failure();
    assert!(files(&dir, "strict").is_empty());
}

#[test]
fn one_manifest_describes_all_files() {
    let dir = Dir::new();
    let (epd, pgn) = (sample("sample.epd"), sample("lichess-2025-05.pgn"));
    for (number, command) in [
        &["compute", &epd, "--columns", "fen", "-o", "{}/p-{n}.csv", "--rows-per-file", "1500"][..],
        &["compute", &epd, "--columns", "fen", "-o", "{}/p-{n}.parquet", "--rows-per-file", "1500"],
        &["compute", &pgn, "--columns", "fen,result", "-o", "{}/p.parquet", "--partition-by", "result"],
        &[
            "compute",
            &pgn,
            "--columns",
            "fen,result",
            "-o",
            "{}/p-{n}.arrow",
            "--partition-by",
            "result",
            "--rows-per-file",
            "50",
        ],
        &["games", &pgn, "--columns", "white,eco", "-o", "{}/new/p.parquet", "--partition-by", "eco"],
        &["compute", &epd, "--columns", "fen", "-o", "{}/p-{n}.jsonl", "--rows-per-file", "5", "--limit", "0"],
    ]
    .into_iter()
    .enumerate()
    {
        let folder = dir.name(&number.to_string());
        fs::create_dir(&folder).unwrap();
        let command: Vec<String> = command.iter().map(|part| part.replace("{}", &folder)).collect();
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        output(0, &[&command[..], &["--manifest"]].concat());
        let name = command.iter().find(|part| part.starts_with(&folder)).unwrap();
        let manifest = format!("{name}.manifest.json");
        let made: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
        assert_eq!(made["inputs"][0]["path"], command[1]);
        let outputs = made["outputs"].as_array().unwrap();
        let written: Vec<_> = walk(std::path::Path::new(&folder));
        assert_eq!(outputs.len() + 1, written.len(), "{made}");
        for output in outputs {
            assert_eq!(output["records"].as_u64().unwrap(), rows_of(output["path"].as_str().unwrap()), "{output}");
        }
        assert!(output(0, &["verify", "--manifest", &manifest]).ends_with("ok\n"));
        let last = outputs.last().unwrap()["path"].as_str().unwrap();
        fs::write(last, "other").unwrap();
        assert!(output(1, &["verify", "--manifest", &manifest]).ends_with("not ok\n"));
        // It exists, and so nothing is written.
        fs::remove_file(last).unwrap();
        let refused = stderr_of(2, &[&command[..], &["--manifest"]].concat());
        assert!(refused.contains("exists"), "{refused}");
        assert!(!std::path::Path::new(last).exists());
    }
}

#[test]
fn bloom_filters_are_those_of_some_columns() {
    let dir = Dir::new();
    let epd = sample("sample.epd");
    let with = |name: &str, command: &[&str]| {
        let to = dir.name(name);
        output(0, &[command, &["-o", &to, "--bloom"]].concat());
        fs::metadata(to).unwrap().len()
    };
    let plain = dir.name("plain.parquet");
    output(0, &["compute", &epd, "--columns", "fen,phase,key", "-o", &plain]);
    let plain = fs::metadata(plain).unwrap().len();
    assert!(with("a.parquet", &["compute", &epd, "--columns", "fen,phase,key"]) > plain + 8_000);
    with("b.parquet", &["convert", &epd, "--fen"]);
    with("c.parquet", &["compute", &epd, "--columns", "key", "--signed-masks"]);
    for (command, reason) in [
        (&["convert", &epd, "-o", "x.parquet"][..], "neither a column `fen` nor `key`"),
        (&["compute", &epd, "--columns", "phase", "-o", "x.parquet"], "neither a column `fen` nor `key`"),
        (
            &["games", &sample("lichess-2025-05.pgn"), "--columns", "white", "-o", "x.parquet"],
            "neither a column `fen` nor `key`",
        ),
        (&["compute", &epd, "--columns", "key", "-o", "x.csv"], "--bloom is for Parquet files"),
        (&["compute", &epd, "--columns", "key", "-o", "x.arrow"], "--bloom is for Parquet files"),
    ] {
        let said = stderr_of(2, &[command, &["--bloom"]].concat());
        assert!(said.contains(reason), "{command:?}: {said}");
        assert!(!std::path::Path::new("x.parquet").exists());
    }
}

#[test]
fn every_value_has_a_folder() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let columns = "fen,result,eco,ply,score,legal_moves_uci";
    let all = output(0, &["compute", &pgn, "--columns", columns]);
    let rows = |input: &str, filter: &str| -> Vec<String> {
        let filter = if filter.is_empty() { vec![] } else { vec!["--where", filter] };
        let text = output(0, &[&["compute", input, "--columns", columns, "--format", "csv"], &filter[..]].concat());
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let expected = |filter: &str| rows(&pgn, filter);
    for (extension, more) in
        [("parquet", &[][..]), ("arrow", &["--rows-per-file", "50"]), ("parquet", &["--row-group", "7"])]
    {
        let mut before = None;
        for threads in ["1", "3"] {
            let folder = format!("{extension}-{}-{threads}", more.len() + usize::from(more.contains(&"--row-group")));
            let parts = dir.name(&format!("{folder}/part-{{n}}.{extension}"));
            let options = ["--columns", columns, "--partition-by", "result", "--threads", threads, "-o", &parts];
            output(0, &[&["compute", &pgn], &options[..], more].concat());
            let mut found: Vec<_> = walk(&dir.path(&folder))
                .into_iter()
                .map(|path| {
                    let name = path.strip_prefix(dir.path(&folder)).unwrap().to_str().unwrap().to_owned();
                    (name, fs::read(&path).unwrap())
                })
                .collect();
            found.sort();
            assert_eq!(*before.get_or_insert_with(|| found.clone()), found, "{folder}");
            for (value, folder_of_value) in
                [("1-0", "result=1-0"), ("0-1", "result=0-1"), ("1/2-1/2", "result=1%2F2-1%2F2")]
            {
                let filter = format!("result = '{value}'");
                let wanted = expected(&filter);
                if wanted.is_empty() {
                    continue;
                }
                assert_eq!(rows(&dir.name(&format!("{folder}/{folder_of_value}")), ""), wanted, "{folder}: {value}");
                let count = found.iter().filter(|(name, _)| name.starts_with(folder_of_value)).count();
                let per_file = if more.contains(&"--rows-per-file") { 50 } else { usize::MAX };
                assert_eq!(count, wanted.len().div_ceil(per_file));
            }
            assert_eq!(rows(&dir.name(&folder), "").len(), all.lines().count() - 1);
        }
    }
    // Values that are missing, numbers, games and whole records.
    let scores = dir.name("scores/a.parquet");
    output(0, &["compute", &pgn, "--columns", "fen,score,in_check", "--partition-by", "in_check", "-o", &scores]);
    assert!(
        dir.path("scores/in_check=false/a.parquet").exists() && dir.path("scores/in_check=true/a.parquet").exists()
    );
    let games = dir.name("games/a.parquet");
    output(0, &["games", &pgn, "--columns", "white,result,eco", "--partition-by", "eco", "-o", &games]);
    assert!(walk(&dir.path("games")).len() > 1);
    let records = dir.name("records/a.parquet");
    output(0, &["convert", &pgn, "--partition-by", "result", "-o", &records]);
    assert_eq!(rows(&dir.name("records"), "").len(), all.lines().count() - 1);
    // Too many values, and nothing: no folder either.
    let many = dir.name("many/a.parquet");
    let options = ["--columns", "fen", "--partition-by", "fen", "--manifest", "-o", &many];
    stderr_of(2, &[&["compute", &sample("sample.epd")], &options[..]].concat());
    assert!(!dir.path("many").exists());
    let refused =
        lanefish(&["compute", &sample("sample.epd"), "--columns", "fen", "--partition-by", "fen", "-o", &many])
            .assert()
            .code(2)
            .get_output()
            .stderr
            .clone();
    assert!(
        String::from_utf8_lossy(&refused).contains("more than 500 values"),
        "{}",
        String::from_utf8_lossy(&refused)
    );
    assert!(!dir.path("many").exists());
    let none = dir.name("none/a.parquet");
    output(0, &["compute", &pgn, "--columns", "result", "--where", "ply < 0", "--partition-by", "result", "-o", &none]);
    assert!(!dir.path("none").exists());
}

/// All files below a directory.
fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let dir = Dir::new();
    let epd = sample("sample.epd");
    for (arguments, expected) in [
        (vec!["convert", &epd, "-o", "x-{n}.boards", "--rows-per-file", "10"], "is written to one file"),
        (vec!["compute", &epd, "-o", "x.csv", "--rows-per-file", "10"], "needs {n}"),
        (vec!["compute", &epd, "-o", "x-{n}.csv"], "--rows-per-file"),
        (vec!["compute", &epd, "-o", "x-{n}.csv", "--rows-per-file", "0"], "--rows-per-file"),
        (vec!["compute", &epd, "--rows-per-file", "10"], "--output"),
        (vec!["compute", &epd, "-o", "x.csv", "--row-group", "10"], "no row groups"),
        (vec!["compute", &epd, "-o", "x.csv", "--partition-by", "stm"], "--partition-by stm"),
        (vec!["compute", &epd, "-o", "x.parquet", "--columns", "fen", "--partition-by", "stm"], "--partition-by stm"),
        (
            vec!["compute", &epd, "-o", "x.parquet", "--columns", "win_chance", "--partition-by", "win_chance"],
            "win_chance",
        ),
        (vec!["compute", &epd, "--partition-by", "stm"], "--output"),
    ] {
        let error = stderr_of(2, &arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert!(files(&dir, "").is_empty());
}

#[test]
fn records_of_several_files_have_the_same_columns() {
    let dir = Dir::new();
    let parts = dir.name("part-{n}.parquet");
    output(0, &["convert", &sample("lichess-2025-05.pgn"), "-o", &parts, "--rows-per-file", "200"]);
    let of = |file: &str| facts(&dir.name(file))["columns"].clone();
    assert_eq!(of("part-00000.parquet"), of("part-00001.parquet"));
    let whole = output(0, &["compute", &sample("lichess-2025-05.pgn"), "--columns", "fen,white,score"]);
    assert_eq!(output(0, &["compute", &dir.name(""), "--columns", "fen,white,score", "--format", "csv"]), whole);
}

#[test]
fn row_groups_have_the_number_of_rows_that_is_asked_for() {
    let dir = Dir::new();
    let (file, usual) = (dir.name("a.parquet"), dir.name("b.parquet"));
    let columns = ["compute", &sample("sample.epd"), "--columns", "fen,stm,legal_moves", "-o"];
    output(0, &[&columns[..], &[&file, "--row-group", "1000"]].concat());
    output(0, &[&columns[..], &[&usual]].concat());
    let groups = |file: &str| facts(file)["groups"].as_u64();
    assert_eq!((groups(&file), groups(&usual)), (Some(5), Some(1)));
    let rows = |file: &str| output(0, &["compute", file, "--columns", "fen,stm,legal_moves", "--format", "csv"]);
    assert_eq!(rows(&file), rows(&usual));
}
