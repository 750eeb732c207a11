//! `--zip`: the values of a second file are those of a join by hand, whatever its format, the threads and the other
//! options; files that do not fit are errors, and leave nothing behind.

use super::{Dir, lanefish, output, sample, stderr_of};
use std::fs;

/// Formats that keep positions and scores; those of tables without text need a feature.
const FORMATS: &[&str] = &[
    "boards",
    "binpack",
    "viri",
    "plain",
    "csv",
    "jsonl",
    #[cfg(feature = "parquet")]
    "parquet",
    #[cfg(feature = "parquet")]
    "arrow",
];

/// Positions of the sample with scores that training data can have, in all formats. Those of binpack and viri have the
/// order that these formats keep.
fn make_all(dir: &Dir) {
    let score = "raw_score = case when index % 5 = 0 then 32002 else index % 300 - 150 end";
    let set = ["--set", score, "--set", "result = case when index % 3 = 0 then '1-0' else '0-1' end"];
    let from = sample("lichess-2025-05.pgn");
    output(
        0,
        &[&["-q", "convert", &from, "--where", "move is not null", "-o", &dir.name("a.binpack")], &set[..]].concat(),
    );
    for format in FORMATS.iter().filter(|format| **format != "binpack") {
        let out = dir.name(&format!("a.{format}"));
        match *format {
            "csv" | "jsonl" => {
                let columns = "fen,score,result,ply,move";
                output(0, &["-q", "compute", &dir.name("a.binpack"), "--columns", columns, "-o", &out])
            }
            _ => output(0, &["-q", "convert", &dir.name("a.binpack"), "--allow-loss", "-o", &out]),
        };
    }
}

/// The rows of `compute` without their header line.
fn rows(file: &str, columns: &str, more: &[&str]) -> Vec<String> {
    let text = output(0, &[&["-q", "compute", file, "--columns", columns, "--format", "csv"], more].concat());
    text.lines().skip(1).map(str::to_owned).collect()
}

/// The lines of two lists side by side.
fn joined(one: &[String], other: &[String]) -> Vec<String> {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| format!("{one},{other}")).collect()
}

#[test]
fn all_pairs_of_formats_give_the_join() {
    let dir = Dir::new();
    make_all(&dir);
    let columns = "score,result,ply,move,stm_score,fen";
    let beside = "zip:score,zip:result,zip:ply,zip:move";
    for one in FORMATS {
        let one = dir.name(&format!("a.{one}"));
        let own = rows(&one, columns, &[]);
        assert!(own.len() > 500);
        for other in FORMATS {
            let other = dir.name(&format!("a.{other}"));
            let expected = joined(&own, &rows(&other, "score,result,ply,move", &[]));
            let found = rows(&one, &format!("{columns},{beside}"), &["--zip", &other]);
            assert!(found == expected, "{one} {other}");
        }
    }
}

#[test]
fn columns_are_computed_where_there_are_positions() {
    let dir = Dir::new();
    make_all(&dir);
    let columns = ["legal_moves", "stm_score", "phase", "fen", "material", "checkers", "moved_piece", "index"];
    for other in ["boards", "viri", "plain"] {
        let other = dir.name(&format!("a.{other}"));
        let beside: Vec<String> = columns.iter().map(|name| format!("zip:{name}")).collect();
        let found = rows(&dir.name("a.binpack"), &beside.join(","), &["--zip", &other]);
        assert!(found == rows(&other, &columns.join(","), &[]), "{other}");
    }
    let said = stderr_of(
        2,
        &["compute", &dir.name("a.csv"), "--zip", &dir.name("a.boards"), "--columns", "zip:legal_moves_uci"],
    );
    assert!(said.contains("is a list"), "{said}");
}

/// A table without positions, of all types.
#[test]
fn columns_of_tables_have_the_type_of_their_values() {
    let dir = Dir::new();
    make_all(&dir);
    let file = dir.name("a.boards");
    let count = rows(&file, "ply", &[]).len();
    let (mut csv, mut json) = ("engine,n,x,flag,key,text,score,move\n".to_owned(), String::new());
    for row in 0..count {
        let (flag, text) = (row % 2 == 0, if row % 4 == 0 { "a long name, \"quoted\"" } else { "é" });
        let key = format!("0x{:016x}", (row as u64).wrapping_mul(0x0123_4567_89ab_cdef));
        let (quoted, x) = (text.replace('"', "\"\""), row as f64 / 4.0);
        let n = if row % 7 == 0 { String::new() } else { (row as i64 - 300).to_string() };
        csv += &format!("E{row},{n},{x:?},{flag},{key},\"{quoted}\",{row},e2e4\n");
        let number = if n.is_empty() { "null" } else { &n };
        let escaped = text.replace('"', "\\\"");
        json += &format!(
            "{{\"engine\":\"E{row}\",\"n\":{number},\"x\":{x:?},\"flag\":{flag},\"key\":\"{key}\",\"text\":\"{escaped}\",\
             \"score\":{row},\"move\":\"e2e4\"}}\n"
        );
    }
    dir.file("t.csv", &csv);
    dir.file("t.jsonl", &json);
    let columns = "zip:engine,zip:n,zip:x,zip:flag,zip:key,zip:text,zip:score,zip:move";
    let expected: Vec<String> =
        csv.lines().skip(1).map(|line| line.replace("true", "1").replace("false", "0").replace("\"é\"", "é")).collect();
    for table in ["t.csv", "t.jsonl"] {
        let zip = ["--zip", &dir.name(table)];
        let found = rows(&file, columns, &zip);
        // Real numbers that are whole are written without a decimal point.
        let plain = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| line.replace(".0,", ",")).collect() };
        assert_eq!(plain(&found), plain(&expected), "{table}");
        type Holds<'a> = &'a dyn Fn(usize) -> bool;
        let conditions: &[(&str, Holds)] = &[
            ("\"zip:n\" > 5", &|row| row % 7 != 0 && row > 305),
            ("\"zip:n\" between -5 and 5 or \"zip:n\" in (-299, 9)", &|row| {
                row % 7 != 0 && ((295..=305).contains(&row) || row == 1 || row == 309)
            }),
            ("abs(\"zip:n\") = 2 or -\"zip:n\" - 1 > 296", &|row| {
                row % 7 != 0 && ([298, 302].contains(&row) || row < 3)
            }),
            ("\"zip:n\" is null", &|row| row % 7 == 0),
            ("\"zip:x\" < 10.5 and \"zip:flag\"", &|row| row < 42 && row % 2 == 0),
            ("\"zip:text\" like 'a%' and \"zip:engine\" <> 'E8'", &|row| row % 4 == 0 && row != 8),
            ("popcount(\"zip:key\") = 0", &|row| row == 0),
            ("\"zip:score\" = index and \"zip:move\" = 'e2e4'", &|_| true),
        ];
        for (condition, holds) in conditions {
            let chosen: Vec<String> = (0..count).filter(|&row| holds(row)).map(|row| row.to_string()).collect();
            let found = rows(&file, "index", &[&zip[..], &["--where", condition]].concat());
            assert_eq!(found, chosen, "{table}: {condition}");
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_with_types_need_no_positions() {
    use arrow_array::{ArrayRef, BooleanArray, Float32Array, Int32Array, RecordBatch, StringArray, UInt64Array};
    use std::sync::Arc;
    let dir = Dir::new();
    make_all(&dir);
    let file = dir.name("a.boards");
    let count = rows(&file, "ply", &[]).len();
    let column = |row: usize| (!row.is_multiple_of(3)).then_some(row);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("score", Arc::new((0..count).map(|row| column(row).map(|row| row as i32)).collect::<Int32Array>())),
        ("eval", Arc::new((0..count).map(|row| column(row).map(|row| row as f32 / 2.0)).collect::<Float32Array>())),
        ("ok", Arc::new((0..count).map(|row| column(row).map(|row| row % 2 == 0)).collect::<BooleanArray>())),
        ("key", Arc::new((0..count).map(|row| column(row).map(|row| u64::MAX - row as u64)).collect::<UInt64Array>())),
        ("digits", Arc::new((0..count).map(|row| column(row).map(|row| row.to_string())).collect::<StringArray>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut parquet = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    dir.file("t.parquet", parquet.into_inner().unwrap());
    let mut arrow = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    arrow.write(&batch).unwrap();
    dir.file("t.arrow", arrow.into_inner().unwrap());
    for table in ["t.parquet", "t.arrow"] {
        let zip = ["--zip", &dir.name(table)];
        let found = rows(&file, "zip:score,zip:eval,zip:ok,zip:key,zip:digits", &zip);
        for (row, found) in found.iter().enumerate() {
            let expected = column(row).map_or(",,,,".to_owned(), |row| {
                let (eval, ok, key) = (row as f64 / 2.0, u8::from(row % 2 == 0), u64::MAX - row as u64);
                format!("{row},{eval},{ok},{key},{row}")
            });
            assert_eq!(found.replace(".0,", ","), expected.replace(".0,", ","), "{table} {row}");
        }
        let found =
            rows(&file, "index", &[&zip[..], &["--where", "\"zip:digits\" = '4' or \"zip:eval\" = 2.5"]].concat());
        assert_eq!(found, ["4", "5"]);
        let said = stderr_of(2, &[&["compute", &file, "--columns", "zip:legal_moves"], &zip[..]].concat());
        assert!(said.contains("has no column `legal_moves`; its columns are `score`"), "{said}");
    }
}

/// Threads and sizes of chunks change no byte, and choices beside it are those of the joined rows.
#[test]
fn other_options_choose_as_they_do_without_it() {
    let dir = Dir::new();
    make_all(&dir);
    let file = dir.name("a.binpack");
    let zip = ["--zip", &dir.name("a.jsonl")];
    let columns = "index,score,zip:score,zip:move";
    let all = rows(&file, columns, &zip);
    let twice = |options: &[&str]| -> Vec<String> {
        let rows = rows(&file, "index,score,move", options);
        let twice = |row: &String| {
            let values: Vec<&str> = row.split(',').collect();
            [values[0], values[1], values[1], values[2]].join(",")
        };
        rows.iter().map(twice).collect()
    };
    let plain = twice(&[]);
    assert!(all == plain);
    for options in [
        &["--skip", "100"][..],
        &["--limit", "77"],
        &["--skip", "33", "--limit", "50"],
        &["--sample", "20%", "--seed", "3"],
        &["--sample", "50", "--seed", "4"],
        &["--sample", "case when score > 0 then 0.5 else 0.1 end"],
        &["--where", "score > 20", "--limit", "9"],
        &["--where", "score > 20", "--skip", "9"],
        &["--where", "in_check or quiet"],
        &["--no-mmap"],
    ] {
        let expected = twice(options);
        for threads in ["1", "2", "8"] {
            let found = rows(&file, columns, &[&zip[..], options, &["--threads", threads]].concat());
            assert!(found == expected, "{options:?} {threads}: {} {}", found.len(), expected.len());
        }
    }
    // Conditions on the second file choose like those on the first.
    for (own, other) in [
        ("score > 20", "\"zip:score\" > 20"),
        ("score is null or move = 'e2e4'", "\"zip:score\" is null or \"zip:move\" = 'e2e4'"),
        ("score > 20", "\"ZIP:SCORE\" - score = 0 and \"zip:score\" > 20"),
    ] {
        for limits in [&[][..], &["--limit", "10"], &["--skip", "5", "--limit", "10"], &["--sample", "9"]] {
            let expected = twice(&[&["--where", own], limits].concat());
            let found = rows(&file, columns, &[&["--where", other], &zip[..], limits].concat());
            assert!(found == expected, "{other} {limits:?}");
        }
    }
    let named = ["--let", "gap = \"zip:score\" - score", "--where", "gap = 0"];
    let found = rows(&file, "index,gap", &[&zip[..], &named].concat());
    assert!(found.iter().all(|row| row.ends_with(",0")) && found.len() > 300);
    // Columns that need whole games leave the numbers as they are.
    let found = rows(&dir.name("a.viri"), "white_acpl,zip:score", &zip);
    assert!(found == rows(&dir.name("a.viri"), "white_acpl,score", &[]));
    let from = sample("lichess-2025-05.pgn");
    output(0, &["-q", "compute", &from, "--columns", "fen,score", "-o", &dir.name("pgn.csv")]);
    let found = rows(&from, "white_accuracy,ply,zip:score", &["--zip", &dir.name("pgn.csv")]);
    assert!(found == rows(&from, "white_accuracy,ply,score", &[]));
    let grouped = |by: &str, more: &[&str]| {
        let report = super::json(0, &[&["-q", "stats", &file, "--json", "--by", by], more].concat());
        report["groups"]["values"].clone()
    };
    let values = |groups: serde_json::Value| -> Vec<(serde_json::Value, serde_json::Value)> {
        let groups = groups.as_array().unwrap().iter();
        groups.map(|group| (group["values"].clone(), group["report"]["positions"].clone())).collect()
    };
    assert_eq!(values(grouped("result", &[])), values(grouped("zip:result", &zip)));
    assert_eq!(values(grouped("score/50", &[])), values(grouped("zip:score/50", &zip)));
}

#[test]
fn new_values_come_from_the_second_file() {
    let dir = Dir::new();
    make_all(&dir);
    let count = rows(&dir.name("a.boards"), "ply", &[]).len();
    let scores: Vec<Option<i64>> = (0..count as i64).map(|row| (row % 4 != 0).then_some(row * 7 % 900 - 450)).collect();
    let lines = scores.iter().map(|score| match score {
        Some(score) => format!("{{\"score\":{score}}}\n"),
        None => "{\"score\":null}\n".to_owned(),
    });
    dir.file("new.jsonl", lines.collect::<String>());
    for format in ["binpack", "viri", "boards"] {
        let file = dir.name(&format!("a.{format}"));
        let before = rows(&file, "raw_score,fen", &[]);
        let expected: Vec<String> = before
            .iter()
            .zip(&scores)
            .map(|(row, score)| {
                let (_, rest) = row.split_once(',').unwrap();
                score.map_or(row.clone(), |score| format!("{score},{rest}"))
            })
            .collect();
        let mut written = Vec::new();
        for threads in ["1", "2", "8"] {
            let out = dir.name(&format!("new{threads}.{format}"));
            let set = ["--set", "raw_score = coalesce(\"zip:score\", raw_score)", "--threads", threads, "-o", &out];
            output(0, &[&["-q", "convert", &file, "--zip", &dir.name("new.jsonl")], &set[..]].concat());
            assert_eq!(rows(&out, "raw_score,fen", &[]), expected, "{format}");
            written.push(fs::read(&out).unwrap());
        }
        assert!(written.windows(2).all(|pair| pair[0] == pair[1]), "{format}");
    }
    // Duplicates are dropped by other commands; a sample of the changed records keeps their new values.
    let set =
        ["--set", "raw_score = coalesce(\"zip:score\", raw_score)", "--sample", "40", "-o", &dir.name("some.boards")];
    output(0, &[&["-q", "convert", &dir.name("a.boards"), "--zip", &dir.name("new.jsonl")], &set[..]].concat());
    let all = rows(&dir.name("new1.boards"), "score,fen", &[]);
    assert!(rows(&dir.name("some.boards"), "score,fen", &[]).iter().all(|row| all.contains(row)));
}

/// Files that do not fit: an error with both places, status 2, and no output.
#[test]
fn files_that_do_not_fit_are_errors() {
    let dir = Dir::new();
    make_all(&dir);
    let file = dir.name("a.csv");
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (header, records) = (lines[0], &lines[1..]);
    let count = records.len();
    let write = |name: &str, records: &[String]| dir.file(name, format!("{header}\n{}\n", records.join("\n")));
    let owned: Vec<String> = records.iter().map(|line| (*line).to_owned()).collect();
    let mut swapped = owned.clone();
    swapped.swap(400, 401);
    let mut other = owned.clone();
    other[count - 1] = other[0].clone();
    write("shorter.csv", &owned[..count - 1]);
    write("empty.csv", &[]);
    write("longer.csv", &[&owned[..], &owned[..1]].concat());
    write("swapped.csv", &swapped);
    write("other.csv", &other);
    let plain: String = (0..count - 3).map(|row| format!("{row}\n")).collect();
    dir.file("short-table.csv", format!("x\n{plain}"));
    let cases: &[(&str, &[&str])] = &[
        ("shorter.csv", &[&format!("a.csv:{}", count + 1), &format!("ends after {} records", count - 1)]),
        ("empty.csv", &["a.csv:2 ", "ends after 0 records"]),
        ("longer.csv", &[&format!("the inputs end after {count} records"), &format!("has {} records", count + 1)]),
        ("swapped.csv", &["a.csv:402 ", "record 400 in ", "swapped.csv"]),
        ("other.csv", &[&format!("a.csv:{} ", count + 1), &format!("record {} in ", count - 1)]),
        ("short-table.csv", &[&format!("a.csv:{} ", count - 1), &format!("ends after {} records", count - 3)]),
    ];
    for (name, says) in cases {
        let name = dir.name(name);
        for threads in ["1", "2", "8"] {
            let tries: &[&[&str]] = &[
                &["convert", &file, "-o", &dir.name("out.boards")],
                &["convert", &file, "-o", &dir.name("out.boards"), "--where", "\"zip:score\" > 0 or true"],
                &["compute", &file, "--columns", "fen,zip:score", "-o", &dir.name("out.csv")],
                &["compute", &file, "--columns", "fen"],
                &["convert", &file, "--to", "fen", "--where", "index < 3"],
                &["stats", &file],
                &["stats", &file, "--html", &dir.name("out.html")],
            ];
            for arguments in tries {
                if arguments.iter().any(|argument| argument.contains("zip:score")) && name.ends_with("short-table.csv")
                {
                    continue;
                }
                let all = [arguments, &["--zip", &name, "--threads", threads][..]].concat();
                let done = lanefish(&all).assert().code(2);
                let done = done.get_output();
                let said = String::from_utf8_lossy(&done.stderr);
                assert!(says.iter().all(|says| said.contains(says)), "{all:?}: {said}");
                assert!(done.stdout.is_empty(), "{all:?}: {}", String::from_utf8_lossy(&done.stdout));
                for out in ["out.boards", "out.csv", "out.html"] {
                    assert!(!dir.path(out).exists(), "{all:?}");
                }
            }
        }
        // What comes after a limit is not looked at.
        let rows =
            rows(&file, "score", &["--zip", &name, "--limit", "3"][..if name.ends_with("empty.csv") { 0 } else { 4 }]);
        assert!(rows.len() >= 3);
    }
    // A limit beyond the end is none.
    let said = stderr_of(2, &["compute", &file, "--zip", &dir.name("longer.csv"), "--limit", "100000"]);
    assert!(said.contains("the inputs end after"), "{said}");
    let said = stderr_of(2, &["compute", &file, "--zip", &dir.name("longer.csv"), "--sample", "10"]);
    assert!(said.contains("the inputs end after"), "{said}");
    let said = stderr_of(2, &["compute", &file, "--zip", &dir.name("swapped.csv"), "--sample", "10"]);
    assert!(said.contains("record 400 in "), "{said}");
}

/// Counters may differ, which is said once, and en passant squares count only where a capture is legal.
#[test]
fn counters_may_differ() {
    let dir = Dir::new();
    let fen = |place: &str, counters: &str| format!("{place} {counters}");
    let places = [
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6",
        "8/8/8/8/8/5k2/5p2/5K2 w - -",
        "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6",
    ];
    let one: Vec<String> = places.iter().map(|place| fen(place, "0 3")).collect();
    let other: Vec<String> = places.iter().map(|place| fen(&place.replace(" e6", " -"), "4 1")).collect();
    dir.file("one.fen", one.join("\n"));
    dir.file("other.fen", other.join("\n"));
    let run = |more: &[&str]| {
        let arguments = ["compute", &dir.name("one.fen"), "--zip", &dir.name("other.fen"), "--columns", "zip:fen"];
        let done = lanefish(&[&arguments[..], more].concat()).assert().code(0);
        let done = done.get_output().clone();
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    let (rows, said) = run(&[]);
    assert!(rows.lines().skip(1).eq(other.iter().map(String::as_str)), "{rows}");
    assert_eq!(said.matches("halfmove clock").count(), 1, "{said}");
    assert!(said.contains("3 records"), "{said}");
    let (_, said) = run(&["--keep-en-passant"]);
    assert_eq!(said.matches("halfmove clock").count(), 1, "{said}");
    // Without the square on which a capture is legal it is another position.
    dir.file("other.fen", other.join("\n").replace(" f6", " -"));
    let said = stderr_of(2, &["compute", &dir.name("one.fen"), "--zip", &dir.name("other.fen")]);
    assert!(said.contains("one.fen:3 "), "{said}");
}

/// Rejected records have no values, and nothing is compared with them.
#[test]
fn rejected_records_are_counted() {
    let dir = Dir::new();
    dir.file("one.epd", format!("{}\nrubbish\n{}\n{}\n", super::START, super::KIWIPETE, super::START));
    dir.file("two.csv", format!("fen,score\n{},1\n{},2\nrubbish,3\n{},4\n", super::START, super::START, super::START));
    let (one, two) = (dir.name("one.epd"), dir.name("two.csv"));
    let rejects = dir.name("rejects.txt");
    let done = lanefish(&["compute", &one, "--zip", &two, "--columns", "index,zip:score", "--rejects", &rejects]);
    let mut done = done;
    let done = done.assert().code(1);
    let done = done.get_output();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "index,zip:score\n0,1\n2,\n3,4\n");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("one.epd:2") && said.contains("two.csv:4"), "{said}");
    let rejected = fs::read_to_string(&rejects).unwrap();
    assert!(rejected.contains("one.epd:2") && rejected.contains("two.csv:4"), "{rejected}");
    // Only the second file has a rejected record.
    dir.file("good.epd", format!("{}\n{}\n{}\n{}\n", super::START, super::START, super::KIWIPETE, super::START));
    assert_eq!(
        output(1, &["-q", "compute", &dir.name("good.epd"), "--zip", &two, "--columns", "zip:score"]).lines().count(),
        5
    );
    let said = stderr_of(2, &["compute", &dir.name("good.epd"), "--zip", &two, "--strict"]);
    assert!(said.contains("two.csv:4"), "{said}");
}

#[test]
fn what_cannot_be_beside_it() {
    let dir = Dir::new();
    make_all(&dir);
    let (file, zip) = (dir.name("a.boards"), dir.name("a.csv"));
    let cases: &[(&[&str], &str)] = &[
        (&["--shard", "0/2"], "a shard numbers only its own records"),
        (&["--min-elo", "2000"], "options for games"),
        (&["--having", "checkmate"], "options for games"),
        (&["--columns", "zip:nothing"], "has no column `nothing`"),
        (&["--columns", "zip:"], "there is no column `zip:`"),
        (&["--where", "\"zip:score\" like 'a'"], "--where: "),
        (&["--where", "zip:score > 3"], "--where: "),
        (&["-o", &zip, "--force"], "is an input and cannot also be an output"),
    ];
    for (more, says) in cases {
        let said = stderr_of(2, &[&["compute", &file, "--zip", &zip], *more].concat());
        assert!(said.contains(says), "{more:?}: {said}");
    }
    let said = stderr_of(2, &["compute", &file, "--where", "\"zip:score\" > 3"]);
    assert!(said.contains("--zip FILE"), "{said}");
    let said = stderr_of(2, &["compute", &file, "--zip", &dir.name("missing.csv")]);
    assert!(said.contains("missing.csv"), "{said}");
    let said = stderr_of(2, &["compute", "-", "--zip", "-"]);
    assert!(said.contains("standard input can be read only once"), "{said}");
    let said = stderr_of(2, &["stats", "--merge", "x.json", "--zip", &zip]);
    assert!(said.contains("--merge"), "{said}");
    let said = stderr_of(2, &["dedup", &file, "--zip", &zip]);
    assert!(said.contains("--zip"), "{said}");
}

/// The second file from standard input, also as a table without positions; and the inputs.
#[test]
fn either_can_be_standard_input() {
    let dir = Dir::new();
    make_all(&dir);
    let file = dir.name("a.boards");
    let expected = rows(&file, "score,zip:score", &["--zip", &dir.name("a.jsonl")]);
    let scores: String = rows(&file, "score", &[])
        .iter()
        .map(|score| format!("{{\"score\":{}}}\n", if score.is_empty() { "null" } else { score }))
        .collect();
    let compute = |inputs: &str, zip: &str, stdin: Vec<u8>| {
        let arguments = ["-q", "compute", inputs, "--zip", zip, "--columns", "score,zip:score", "--format", "csv"];
        let done = lanefish(&arguments).write_stdin(stdin).assert().code(0);
        let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(compute(&file, "-", scores.into_bytes()) == expected);
    assert!(compute(&file, "-", fs::read(dir.path("a.csv")).unwrap()) == expected);
    assert!(compute("-", &dir.name("a.csv"), fs::read(&file).unwrap()) == expected);
}

/// The comparison of labels, against a loop over the joined rows.
#[test]
fn labels_are_compared() {
    let dir = Dir::new();
    make_all(&dir);
    let file = dir.name("a.viri");
    let own = rows(&file, "score,result,phase", &[]);
    let mut other = "score,result\n".to_owned();
    for (place, row) in own.iter().enumerate() {
        let values: Vec<&str> = row.split(',').collect();
        let score: i64 = values[0].parse().unwrap_or(7);
        let score = match place % 4 {
            0 => score.to_string(),
            1 => (-score).to_string(),
            2 => (score + place as i64 % 50).to_string(),
            _ => String::new(),
        };
        let result = ["1-0", "0-1", "", values[1]][place % 4];
        other += &format!("{score},{result}\n");
    }
    dir.file("b.csv", &other);
    let mut counts = [[0_u64; 6]; 6];
    let mut worst = Vec::new();
    for (index, (own, other)) in own.iter().zip(other.lines().skip(1)).enumerate() {
        let (own, other): (Vec<&str>, Vec<&str>) = (own.split(',').collect(), other.split(',').collect());
        let mut add = [0; 6];
        if let (Ok(score), Ok(beside)) = (own[0].parse::<i64>(), other[0].parse::<i64>()) {
            let has_other_sign = score < 0 && beside > 0 || score > 0 && beside < 0;
            add[..4].copy_from_slice(&[
                1,
                u64::from(score != beside),
                u64::from(has_other_sign),
                score.abs_diff(beside),
            ]);
            if score != beside {
                worst.push((score.abs_diff(beside), index as u64, score, beside));
            }
        }
        if !own[1].is_empty() && !other[1].is_empty() {
            add[4..].copy_from_slice(&[1, u64::from(own[1] != other[1])]);
        }
        let band = (own[2].parse::<usize>().unwrap() / 6).min(4);
        for place in [band, 5] {
            counts[place].iter_mut().zip(add).for_each(|(sum, more)| *sum += more);
        }
    }
    worst.sort_by_key(|&(difference, index, ..)| (std::cmp::Reverse(difference), index));
    worst.truncate(100);
    assert!(worst.len() == 100 && counts[5].iter().all(|count| *count > 30), "{counts:?}");
    let is = |found: &serde_json::Value, counts: &[u64; 6]| {
        let keys = ["compared", "score_differs", "sign_differs", "", "results_compared", "result_differs"];
        for (key, count) in keys.iter().zip(counts).filter(|(key, _)| !key.is_empty()) {
            assert_eq!(found[key], *count, "{key}");
        }
        match counts[0] {
            0 => assert!(found["mean_abs_difference"].is_null()),
            compared => assert_eq!(found["mean_abs_difference"], counts[3] as f64 / compared as f64),
        }
    };
    let mut texts = Vec::new();
    for threads in ["1", "2", "8"] {
        let arguments = ["-q", "stats", &file, "--zip", &dir.name("b.csv"), "--compare"];
        let report = super::json(0, &[&arguments[..], &["--json", "--threads", threads]].concat());
        let labels = &report["labels"];
        is(labels, &counts[5]);
        for (band, counts) in counts[..5].iter().enumerate() {
            assert_eq!(labels["phases"][band]["first_phase"], 6 * band as u64);
            is(&labels["phases"][band], counts);
        }
        let found = labels["worst"].as_array().unwrap().iter();
        let found = found.map(|label| {
            let number = |key: &str| label[key].as_i64().unwrap();
            (
                number("score").abs_diff(number("zip_score")),
                number("index") as u64,
                number("score"),
                number("zip_score"),
            )
        });
        assert_eq!(found.collect::<Vec<_>>(), worst);
        texts.push(output(0, &[&arguments[..], &["--threads", threads]].concat()));
    }
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(texts[0].contains("records with both scores") && texts[0].contains("from 24"), "{}", texts[0]);
    // A choice among the records holds for their labels.
    let some = ["-q", "stats", &file, "--zip", &dir.name("b.csv"), "--compare", "--json", "--where", "index % 4 = 1"];
    let labels = &super::json(0, &some)["labels"];
    assert!(labels["compared"].as_u64().is_some_and(|compared| compared < counts[5][0]));
    let said = stderr_of(2, &["stats", &file, "--zip", &dir.name("b.csv"), "--compare", "--html", &dir.name("x.html")]);
    assert!(said.contains("writes no page"), "{said}");
}
