//! `verify`: faults and their places.

use super::{Dir, START, json, lanefish, output, sample, stderr_of};
use serde_json::json;
use std::fs;

#[test]
fn good_files() {
    let text = output(0, &["verify", &sample("sample.boards"), &sample("sample.epd")]);
    assert!(text.contains("boards, 4,098 records, 0 rejected, ok\n"), "{text}");
    assert!(text.ends_with("\nok\n"), "{text}");
    let report = json(0, &["verify", "--json", &sample("sample.boards")]);
    assert_eq!(
        report,
        json!({
            "files": [{
                "path": sample("sample.boards"),
                "format": "boards",
                "records": 4098,
                "rejected": 0,
                "reasons": {},
                "damage": [],
            }],
            "ok": true,
        })
    );
}

#[test]
fn strict_is_the_default_here_and_only_here() {
    let dir = Dir::new();
    // Nine pawns.
    let file = dir.file("a.fen", "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1\n");
    let report = json(1, &["-q", "verify", "--json", &file]);
    assert_eq!(report["files"][0]["rejected"], 1);
    assert_eq!(report["files"][0]["reasons"].as_object().unwrap().len(), 1);
    json(0, &["verify", "--json", "--validity", "playable", &file]);
    json(0, &["stats", "--json", &file]);
    json(1, &["stats", "--json", "--validity", "strict", &file]);
}

#[test]
fn damage_is_found_and_located() {
    let dir = Dir::new();
    let mut bytes = fs::read(sample("sample.boards")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    let file = dir.file("a.boards", &bytes);
    let done = lanefish(&["verify", "--json", &file]).assert();
    let status = done.get_output().status.code();
    assert!(matches!(status, Some(1 | 2)), "{status:?}");
    let report: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(report["ok"], false);
    assert!(report["files"][0]["damage"][0]["offset"].is_u64(), "{report}");
    lanefish(&["stats", &file]).assert().code(2);
}

#[test]
fn truncated_and_extended_files() {
    let dir = Dir::new();
    let bytes = fs::read(sample("sample.boards")).unwrap();
    let mut longer = bytes.clone();
    longer.extend(b"more");
    let inputs = [dir.file("short.boards", &bytes[..bytes.len() - 1]), dir.file("long.boards", longer)];
    for file in inputs {
        let text = lanefish(&["verify", &file]).assert().failure().get_output().stdout.clone();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("damaged at byte") && text.ends_with("not ok\n"), "{text}");
        lanefish(&["stats", &file]).assert().code(2);
    }
}

#[test]
fn truncated_compression() {
    let dir = Dir::new();
    let text = format!("{START}\n").repeat(5000);
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let file = dir.file("a.fen.zst", &packed[..packed.len() - 5]);
    let done = lanefish(&["verify", "--json", &file]).assert().code(2);
    let report: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(report["ok"], false);
    assert_eq!(report["files"][0]["damage"].as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn lines_that_are_not_positions() {
    let dir = Dir::new();
    let file = dir.file("a.fen", format!("{START}\nrubbish\n8/8/8/8/8/8/8/8 w - -\n"));
    let done = lanefish(&["verify", &file]).assert().code(1);
    let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("a.fen:2 ") && stderr.contains("a.fen:3 "), "{stderr}");
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(text.contains("3 records, 2 rejected\n"), "{text}");
}

/// One broken input after the other: each is reported, and what stands before the damage counts.
#[test]
fn all_broken_inputs_are_reported() {
    let dir = Dir::new();
    let text = format!("{START}\n").repeat(50_000);
    let whole = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let cut = &whole[..whole.len() / 2];
    let mut boards = fs::read(sample("sample.boards")).unwrap();
    boards.truncate(boards.len() / 2);
    let files = [
        dir.file("a.fen.zst", cut),
        dir.file("b.boards", boards),
        dir.file("c.fen", format!("{START}\n")),
        dir.file("d.fen.zst", cut),
    ];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for threads in ["1", "2", "8"] {
        let arguments = [&["verify", "--json", "--threads", threads], &files[..]].concat();
        let done = lanefish(&arguments).assert().code(2);
        let report: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
        assert_eq!(report["ok"], false);
        let found = report["files"].as_array().unwrap();
        let damages: Vec<usize> = found.iter().map(|file| file["damage"].as_array().unwrap().len()).collect();
        // A section of the boards file, and its end.
        assert_eq!(damages, [1, 2, 0, 1], "{report}");
        assert_eq!(found[0]["damage"], found[3]["damage"]);
        assert_eq!(found[0]["records"], found[3]["records"]);
        assert_eq!(found[2]["records"], 1);
        // The error is that of the first one.
        let stderr = String::from_utf8_lossy(&done.get_output().stderr);
        assert!(stderr.contains("a.fen.zst: zstd data are"), "{stderr}");
        let arguments = [&["verify", "--threads", threads], &files[..]].concat();
        let text = lanefish(&arguments).assert().code(2).get_output().stdout.clone();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.matches("  damaged at byte ").count(), 4, "{text}");
    }
}

/// What cannot even be opened is reported as well, and does not keep the others from being checked.
#[test]
fn inputs_that_cannot_be_opened_do_not_end_the_run() {
    let dir = Dir::new();
    let cut = dir.file("cut.pgn.zst", b"\x28\xb5\x2f\xfd");
    let other = dir.file("other.epd.gz", "no gzip");
    let good = dir.file("good.fen", format!("{START}\n"));
    for threads in ["1", "3"] {
        let inputs = [&cut, &other, &good, &cut, &good];
        let mut arguments = vec!["verify", "--json", "--threads", threads];
        arguments.extend(inputs.map(String::as_str));
        let report = json(2, &arguments);
        let files = report["files"].as_array().unwrap();
        assert_eq!(report["ok"], false);
        assert_eq!(files.len(), inputs.len());
        for (file, path) in files.iter().zip(inputs) {
            assert_eq!(file["path"], path.as_str());
            let is_good = path == &good;
            assert_eq!(file["records"], u64::from(is_good), "{file}");
            assert_eq!(file["damage"].as_array().unwrap().is_empty(), is_good);
            assert_eq!(file["format"].is_null(), !is_good, "{file}");
        }
        arguments.remove(1);
        let stderr = stderr_of(2, &arguments);
        assert!(stderr.contains("2 records could be read"), "{stderr}");
    }
}

/// Inputs that cannot be opened do not hide what is found in others; the status is that of the worst.
#[test]
fn inputs_that_cannot_be_opened_are_among_the_faults() {
    let dir = Dir::new();
    let bad = dir.file("bad.fen", format!("{START}\nnonsense\n"));
    let missing = dir.name("missing.epd");
    let unknown = dir.file("x.si5", "anything");
    for order in [[&bad, &missing, &unknown], [&missing, &unknown, &bad]] {
        let report = json(2, &["-q", "verify", "--json", order[0], order[1], order[2], &sample("sample.epd")]);
        let files = report["files"].as_array().unwrap();
        assert_eq!(files.len(), 4);
        let of = |path: &String| files.iter().find(|file| file["path"] == **path).unwrap();
        assert_eq!((&of(&bad)["rejected"], &of(&bad)["records"]), (&1.into(), &2.into()));
        assert!(of(&missing)["damage"][0]["what"].as_str().unwrap().contains("cannot be opened"));
        assert!(of(&unknown)["damage"][0]["what"].as_str().unwrap().contains("Scid"));
        assert_eq!(of(&sample("sample.epd"))["records"], 4098);
        assert_eq!(report["ok"], false);
    }
    let text = output(2, &["-q", "verify", &bad, &missing]);
    assert!(text.contains("bad.fen: fen, 2 records, 1 rejected") && text.contains("missing.epd"), "{text}");
    assert!(output(2, &["-q", "verify", &dir.name(""), &missing]).contains("bad.fen"));
}

/// What asks for more than the options allow is not damaged.
#[cfg(feature = "parquet")]
#[test]
fn limits_are_not_damage() {
    let dir = Dir::new();
    let table = dir.name("x.parquet");
    output(0, &["convert", "--fen", &sample("sample.epd"), "-o", &table]);
    for command in ["verify", "stats"] {
        let done = lanefish(&[command, "--max-memory", "1K", &table]).assert().code(2);
        let text = [&done.get_output().stdout[..], &done.get_output().stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("--max-memory") && !text.contains("damaged"), "{text}");
    }
}

/// The amount that a refusal names suffices, mapped, read or piped.
#[cfg(feature = "parquet")]
#[test]
fn the_amount_of_memory_that_is_named_suffices() {
    let dir = Dir::new();
    let lines: String = (0..30_000).map(|at| format!("{START} ;id \"a long name of position {at}\"\n")).collect();
    let source = dir.file("x.epd", lines.replace(" ;id", " id").replace("\"\n", "\";\n"));
    for name in ["x.parquet", "x.arrow", "x.arrows"] {
        let table = dir.name(name);
        output(0, &["convert", "--fen", &source, "-o", &table]);
        for how in ["map", "read", "pipe"] {
            let run = |memory: &str| {
                let mut arguments = vec!["compute", "--columns", "all", "--max-memory", memory];
                arguments.extend(match how {
                    "map" => vec![&*table],
                    "read" => vec!["--no-mmap", &*table],
                    _ => vec!["-"],
                });
                let mut command = lanefish(&arguments);
                if how == "pipe" {
                    command.write_stdin(fs::read(&table).unwrap());
                }
                let done = command.assert();
                let output = done.get_output();
                (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
            };
            let (status, stderr) = run("64K");
            if status == Some(0) {
                continue;
            }
            let named = stderr.rsplit_once("--max-memory ").and_then(|(_, rest)| rest.split(' ').next()).unwrap_or("");
            assert_eq!(run(named).0, Some(0), "{name} {how} {named}: {stderr}");
        }
    }
}

/// Whatever reads a file, and whatever columns are asked for: as many positions, and as many rejects. Values that do not
/// fit are no rejects, but are named.
#[cfg(feature = "parquet")]
#[test]
fn all_commands_judge_alike() {
    let dir = Dir::new();
    let rows = format!(
        "fen,score,white_elo,move\n{START},1,70000,e2e4\n{START},40000,1500,e2e4\n{START},-1,1500,e2e5\nx,1,1,\n"
    );
    let mut files = vec![dir.file("rows.csv", rows)];
    files.extend(
        crate::support::shared_data("regressions/faults4/out-of-range.parquet")
            .map(|path| path.to_str().unwrap().to_owned()),
    );
    for file in files {
        let (good, bad) = if file.ends_with("csv") { (3, 1) } else { (4, 0) };
        let status = i32::from(bad > 0);
        let stats = json(status, &["-q", "stats", "--json", &file]);
        assert_eq!((&stats["positions"], &stats["rejected"]), (&good.into(), &bad.into()), "{file}");
        let report = json(status, &["-q", "verify", "--json", &file]);
        assert_eq!(
            (&report["files"][0]["records"], &report["files"][0]["rejected"]),
            (&(good + bad).into(), &bad.into())
        );
        for columns in ["fen", "fen,score", "move", "fen,white_elo,score,move", "all"] {
            assert_eq!(output(status, &["-q", "compute", "--columns", columns, &file]).lines().count(), good + 1);
        }
        for command in ["verify", "convert"] {
            let copy = dir.name("copy.boards");
            let mut arguments = vec![command, &file];
            if command == "convert" {
                arguments.extend(["-o", &copy, "--force"]);
            }
            let stderr = stderr_of(status, &arguments);
            for field in ["score", "white_elo", "move"] {
                assert!(stderr.contains(&format!("`{field}` cannot hold")), "{command} {file}: {stderr}");
            }
        }
    }
}

/// Clocks that are durations are converted by their unit.
#[cfg(feature = "parquet")]
#[test]
fn durations_are_clocks() {
    use arrow_array::{
        ArrayRef, DurationMicrosecondArray, DurationMillisecondArray, DurationSecondArray, RecordBatch, StringArray,
    };
    use std::sync::Arc;
    let dir = Dir::new();
    let fens: ArrayRef = Arc::new(StringArray::from(vec![START; 3]));
    let clocks: [(ArrayRef, [&str; 3]); 3] = [
        (Arc::new(DurationSecondArray::from(vec![Some(5), None, Some(0)])), ["500", "", "0"]),
        (Arc::new(DurationMillisecondArray::from(vec![Some(5_019), None, Some(-1)])), ["501", "", ""]),
        (Arc::new(DurationMicrosecondArray::from(vec![Some(9_999), Some(10_000), Some(1 << 62)])), ["0", "1", ""]),
    ];
    for (clock, expected) in clocks {
        let table =
            RecordBatch::try_from_iter_with_nullable([("fen", fens.clone(), false), ("clock", clock, true)]).unwrap();
        let parquet = dir.name("x.parquet");
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(fs::File::create(&parquet).unwrap(), table.schema(), None).unwrap();
        writer.write(&table).unwrap();
        writer.close().unwrap();
        let arrow = dir.name("x.arrow");
        let mut writer =
            arrow_ipc::writer::FileWriter::try_new(fs::File::create(&arrow).unwrap(), &table.schema()).unwrap();
        writer.write(&table).unwrap();
        writer.finish().unwrap();
        for file in [parquet, arrow] {
            let rows = output(0, &["-q", "compute", "--columns", "clock", &file]);
            assert_eq!(rows.lines().skip(1).collect::<Vec<_>>(), expected, "{file}");
        }
    }
    if let Some(path) = crate::support::shared_data("regressions/faults4/clock-duration.parquet") {
        assert_eq!(output(0, &["-q", "compute", "--columns", "clock", path.to_str().unwrap()]), "clock\n500\n");
    }
}

/// A reject is the same whatever columns are asked for.
#[test]
fn rejects_do_not_depend_on_columns() {
    let dir = Dir::new();
    let nine_pawns = "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1";
    let pgn = dir.file(
        "g.pgn",
        format!("1. e4 e5 *\n\n[SetUp \"1\"]\n[FEN \"{nine_pawns}\"]\n\n1. Kf1 Ke7 *\n\n1. e4 e5 2. Ke3 *\n"),
    );
    let csv = dir.file("g.csv", format!("fen,game,ply\n{START},0,0\n{nine_pawns},7,3\n"));
    let mut files = vec![pgn, csv.clone()];
    let names: &[&str] = if cfg!(feature = "parquet") { &["g.boards", "g.parquet"] } else { &["g.boards"] };
    for name in names {
        let copy = dir.name(name);
        output(0, &["convert", &csv, "-o", &copy]);
        files.push(copy);
    }
    for file in files {
        let of = |columns: &str| stderr_of(1, &["compute", "--validity", "strict", "--columns", columns, &file]);
        let expected = of("fen");
        assert!(expected.contains("too_many") || expected.contains("pawns"), "{expected}");
        for columns in ["fen,game", "ply,game,move", "legal_moves"] {
            assert_eq!(of(columns), expected, "{file} {columns}");
        }
    }
}

/// What `--where` and `--sample` leave out is not verified, and so not counted.
#[test]
fn records_that_are_not_chosen_are_not_counted() {
    let dir = Dir::new();
    let (input, pgn) = (sample("sample.epd"), sample("lichess-2025-05.pgn"));
    let bad = dir.file("bad.fen", format!("{START}\nnothing\n{START}\n"));
    for (choice, status) in [
        (&["--where", "not in_check"][..], 1),
        (&["--where", "index % 3 = 0"], 1),
        (&["--sample", "0.5"], 1),
        (&["--plies", "3.."], 2),
    ] {
        for input in [&input, &pgn, &bad] {
            if status == 2 && *input != pgn {
                continue;
            }
            let arguments = [&["--json", input.as_str()], choice].concat();
            let status = i32::from(*input == bad);
            let verified = json(status, &[&["-q", "verify"], &arguments[..]].concat());
            let counted = json(status, &[&["-q", "stats"], &arguments[..]].concat());
            let file = &verified["files"][0];
            let good = file["records"].as_u64().unwrap() - file["rejected"].as_u64().unwrap();
            assert_eq!(good, counted["positions"], "{choice:?} {input}");
        }
    }
}
