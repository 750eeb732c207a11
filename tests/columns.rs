//! Parquet and Arrow files: the values of the CSV, with types.

use crate::support::shared_data;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int16Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::DataType;
use assert_cmd::Command;
use lanefish::games::Date;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn lanefish(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("lanefish").unwrap();
    command.args(arguments).output().unwrap()
}

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name);
    path.to_str().unwrap().to_owned()
}

fn read(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("parquet") => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            reader.build().unwrap().map(Result::unwrap).collect()
        }
        Some("arrows") => {
            let reader = StreamReader::try_new(file, None).unwrap();
            reader.map(Result::unwrap).collect()
        }
        _ => {
            let reader = FileReader::try_new(file, None).unwrap();
            reader.map(Result::unwrap).collect()
        }
    }
}

/// A value as CSV has it; dates as days.
fn text(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Boolean => u8::from(column.as_boolean().value(row)).to_string(),
        DataType::UInt8 => column.as_primitive::<UInt8Type>().value(row).to_string(),
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).to_string(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Int16 => column.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Date32 => column.as_primitive::<Date32Type>().value(row).to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        other => panic!("{other}"),
    }
}

/// The fields of CSV without line feeds in them.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            char => field.push(char),
        }
    }
    fields.push(field);
    fields
}

/// Days since 1970-01-01, counted one by one.
fn days(date: &str) -> String {
    let date = Date::parse(date.as_bytes()).and_then(Date::days);
    date.map(|days| days.to_string()).unwrap_or_default()
}

fn agrees(directory: &Path, arguments: &[&str]) {
    let masks = ["--masks", "decimal"];
    let masks = if arguments[0] == "compute" {
        &masks[..]
    } else {
        &[]
    };
    let csv = lanefish(&[arguments, masks].concat());
    assert!(csv.status.code() < Some(2), "{arguments:?}");
    let csv = String::from_utf8(csv.stdout).unwrap();
    if csv.lines().any(|line| line.matches('"').count() % 2 == 1) {
        // A line feed in a text.
        return;
    }
    let mut lines = csv.lines();
    let names = fields(lines.next().unwrap());
    let rows: Vec<_> = lines.map(fields).collect();
    for extension in ["parquet", "arrow", "arrows"] {
        let file = directory.join(format!("rows.{extension}"));
        let out = ["--force", "-o", file.to_str().unwrap()];
        let done = lanefish(&[arguments, &out].concat());
        assert!(done.status.code() < Some(2), "{arguments:?}: {done:?}");
        let mut start = 0;
        for batch in read(&file) {
            for (at, column) in batch.columns().iter().enumerate() {
                let schema = batch.schema();
                let field = schema.field(at);
                assert_eq!(*field.name(), names[at]);
                assert!(!field.metadata()["lanefish.meaning"].is_empty());
                for row in 0..batch.num_rows() {
                    let mut expected = rows[start + row][at].clone();
                    if *field.data_type() == DataType::Date32 {
                        expected = days(&expected);
                    } else if names[at].ends_with("_elo") && expected.parse::<u16>().is_err() {
                        expected.clear();
                    }
                    let found = text(column, row);
                    assert_eq!(
                        found,
                        expected,
                        "{arguments:?} {}, row {}",
                        names[at],
                        start + row
                    );
                }
            }
            start += batch.num_rows();
        }
        assert_eq!(start, rows.len(), "{arguments:?} {extension}");
    }
}

fn inputs() -> Vec<PathBuf> {
    let samples = [
        "sample.epd",
        "famous.epd",
        "perft.epd",
        "lichess-2025-05.pgn",
    ];
    let mut inputs: Vec<PathBuf> = samples.iter().map(|name| sample(name).into()).collect();
    if let Some(shared) = shared_data("pgn") {
        let awkward = fs::read_dir(shared.join("awkward")).unwrap();
        inputs.extend(awkward.map(|entry| entry.unwrap().path()));
    }
    inputs.sort();
    inputs
}

#[test]
fn values_are_those_of_csv() {
    let directory = tempfile::tempdir().unwrap();
    for input in inputs() {
        let input = input.to_str().unwrap();
        if lanefish(&["stats", "--json", input]).status.code() < Some(2) {
            agrees(
                directory.path(),
                &["compute", "--columns", "all,tag:Event", input],
            );
            if input.ends_with(".pgn") {
                agrees(directory.path(), &["games", input]);
                agrees(
                    directory.path(),
                    &["games", "--skip", "1", "--limit", "2", input],
                );
            }
        }
    }
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let directory = tempfile::tempdir().unwrap();
    let boards = directory.path().join("r.boards");
    let boards = boards.to_str().unwrap();
    assert!(
        lanefish(&["generate", "-n", "60000", "-o", boards])
            .status
            .success()
    );
    for (command, extension) in [
        (&["compute", "--columns", "all"][..], "parquet"),
        (&["compute"], "arrow"),
        (&["convert", "--fen"], "parquet"),
    ] {
        let files: Vec<_> = ["1", "2", "8"]
            .map(|threads| {
                let file = directory.path().join(format!("{threads}.{extension}"));
                let out = [
                    "--force",
                    "--threads",
                    threads,
                    "-o",
                    file.to_str().unwrap(),
                    boards,
                ];
                assert!(lanefish(&[command, &out].concat()).status.success());
                fs::read(file).unwrap()
            })
            .into();
        assert!(files[0] == files[1] && files[1] == files[2], "{command:?}");
    }
}

#[test]
fn whole_records() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("p.parquet");
    let out = ["-o", file.to_str().unwrap()];
    let input = sample("lichess-2025-05.pgn");
    let done = lanefish(&[&["convert", "--fen", &input], &out[..]].concat());
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success()
            && stderr.lines().count() == 1
            && stderr.contains("tag `Event` (12 games)"),
        "{done:?}"
    );
    let batches = read(&file);
    let schema = batches[0].schema();
    let names: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    assert_eq!(names[..4], ["board", "halfmove", "fullmove", "fen"]);
    assert!(names.contains(&"white") && !names.contains(&"puzzle_id") && !names.contains(&"san"));
    let board = batches[0].column(0).as_fixed_size_binary().value(0);
    // The start: the black pieces, and that White is to move.
    assert_eq!(board[..8], 0xFFFF_0000_0000_0000u64.to_le_bytes());
    // Positions without anything have no other columns.
    let input = sample("perft.epd");
    let done = lanefish(&[&["convert", "--force", &input], &out[..]].concat());
    assert!(done.status.success());
    let schema = read(&file)[0].schema();
    assert_eq!(
        schema.fields().len(),
        if schema.column_with_name("operations").is_some() {
            4
        } else {
            3
        }
    );
}

#[test]
fn tables_of_whole_records_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let name = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let mut inputs = vec![
        sample("lichess-2025-05.pgn"),
        sample("lichess-2025-05.epd"),
        sample("sample.boards"),
        sample("famous.epd"),
        // Dates of all kinds.
        sample("../fuzz/corpus/pgn/dates.pgn"),
    ];
    match shared_data("pgn/awkward") {
        None => {}
        Some(awkward) => inputs.extend(fs::read_dir(awkward).unwrap().map(|entry| {
            let path = entry.unwrap().path();
            path.to_str().unwrap().to_owned()
        })),
    }
    let convert = |from: &str, to: &str| {
        let done = lanefish(&["convert", "--force", "-o", to, from]);
        done.status.code() < Some(2)
    };
    for input in inputs {
        let direct = name("direct.boards");
        if !convert(&input, &direct) {
            continue;
        }
        let direct = fs::read(&direct).unwrap();
        for table in ["t.parquet", "t.arrow", "t.arrows"] {
            let (table, back) = (name(table), name("back.boards"));
            assert!(convert(&input, &table) && convert(&table, &back), "{input}");
            assert!(fs::read(&back).unwrap() == direct, "{input}: {table}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let name = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let input = sample("famous.epd");
    for (arguments, why) in [
        (
            vec!["compute", "-o", &name("x.parquet.zst")],
            "not compressed as a whole",
        ),
        (
            vec!["compute", "-o", &name("x.csv"), "--compression", "zstd"],
            "is for Parquet",
        ),
        (
            vec!["compute", "-o", &name("x.arrow"), "--compression", "zstd"],
            "is for Parquet",
        ),
        (
            vec!["compute", "-o", &name("x.parquet"), "--compression", "gzip"],
            "unknown compression",
        ),
        (
            vec!["compute", "-o", &name("x.parquet"), "--level", "3"],
            "--level",
        ),
        (
            vec!["convert", "-o", &name("x.fen"), "--fen"],
            "is for Parquet",
        ),
        (
            vec!["convert", "-o", &name("x"), "--to", "parket"],
            "possible values",
        ),
    ] {
        let done = lanefish(&[&arguments[..], &[&input]].concat());
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(stderr.contains(why), "{arguments:?}: {stderr}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}
