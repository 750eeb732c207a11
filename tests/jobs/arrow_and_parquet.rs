//! Parquet and Arrow files: the values of the CSV, with types.

use crate::support::shared_data;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int16Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::DataType;
use assert_cmd::Command;
use lanefish::columnar::BLOCK;
use lanefish::games::Date;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn lanefish(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("lanefish").unwrap();
    command.args(arguments).output().unwrap()
}

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
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
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Int16 => column.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Date32 => column.as_primitive::<Date32Type>().value(row).to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            (0..items.len()).map(|item| text(&items, item)).collect::<Vec<_>>().join(" ")
        }
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
    let masks = if arguments[0] == "compute" { &masks[..] } else { &[] };
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
                    assert_eq!(found, expected, "{arguments:?} {}, row {}", names[at], start + row);
                }
            }
            start += batch.num_rows();
        }
        assert_eq!(start, rows.len(), "{arguments:?} {extension}");
    }
}

fn inputs() -> Vec<PathBuf> {
    let samples = ["sample.epd", "famous.epd", "perft.epd", "lichess-2025-05.pgn"];
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
            agrees(directory.path(), &["compute", "--columns", "all,tag:Event", input]);
            if input.ends_with(".pgn") {
                agrees(directory.path(), &["games", input]);
                agrees(directory.path(), &["games", "--skip", "1", "--limit", "2", input]);
            }
        }
    }
}

/// `games --skip` counts over chunks: more games are skipped than the first chunk has.
/// Inputs of networks are computed from the boards of a block of rows, not with the other columns of a tile.
#[test]
fn inputs_of_networks_are_those_of_csv() {
    let directory = tempfile::tempdir().unwrap();
    let columns = "index,features:halfka_v2_hm:white,stm_result,features:threats:sfnnv16+chess768:nstm,white,\
                   features:halfkp:stm,features:planes:12:stm,result";
    for input in inputs() {
        for more in [&["--threads", "2"][..], &["--where", "pieces % 3 = 0"], &["--sample", "0.4", "--skip", "30"]] {
            let arguments = [&["compute", "--columns", columns, input.to_str().unwrap()], more].concat();
            agrees(directory.path(), &arguments);
        }
    }
}

#[test]
fn skipped_games_of_tables_are_counted_over_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let pgn = directory.path().join("x.pgn");
    let name = "a name that is long, so that the games fill several chunks of a mebibyte each";
    let games: String =
        (0..24_000).map(|number| format!("[Event \"{number}\"]\n[White \"{name}\"]\n\n1. e4 *\n\n")).collect();
    assert!(games.len() > 5 << 19);
    fs::write(&pgn, games).unwrap();
    let pgn = pgn.to_str().unwrap();
    for skip in ["7", "15000", "23999"] {
        let arguments = ["games", "--skip", skip, "--threads", "3", pgn];
        agrees(directory.path(), &arguments);
        let limited = [&arguments[..], &["--limit", "2000"]].concat();
        agrees(directory.path(), &limited);
    }
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let directory = tempfile::tempdir().unwrap();
    let boards = directory.path().join("r.boards");
    let boards = boards.to_str().unwrap();
    assert!(lanefish(&["generate", "-n", "60000", "-o", boards]).status.success());
    for (command, extension) in
        [(&["compute", "--columns", "all"][..], "parquet"), (&["compute"], "arrow"), (&["convert", "--fen"], "parquet")]
    {
        let files: Vec<_> = ["1", "2", "8"]
            .map(|threads| {
                let file = directory.path().join(format!("{threads}.{extension}"));
                let out = ["--force", "--threads", threads, "-o", file.to_str().unwrap(), boards];
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
        done.status.success() && stderr.lines().count() == 1 && stderr.contains("tag `Event` (12 games)"),
        "{done:?}"
    );
    let batches = read(&file);
    let schema = batches[0].schema();
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
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
    assert_eq!(schema.fields().len(), if schema.column_with_name("operations").is_some() { 4 } else { 3 });
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
        (vec!["compute", "-o", &name("x.parquet.zst")], "not compressed as a whole"),
        (vec!["compute", "-o", &name("x.csv"), "--compression", "zstd"], "is for Parquet"),
        (vec!["compute", "-o", &name("x.arrow"), "--compression", "zstd"], "is for Parquet"),
        (vec!["compute", "-o", &name("x.parquet"), "--compression", "gzip"], "unknown compression"),
        (vec!["compute", "-o", &name("x.parquet"), "--level", "3"], "--level"),
        (vec!["convert", "-o", &name("x.fen"), "--fen"], "is for Parquet"),
        (vec!["convert", "-o", &name("x"), "--to", "parket"], "possible values"),
    ] {
        let done = lanefish(&[&arguments[..], &[&input]].concat());
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(stderr.contains(why), "{arguments:?}: {stderr}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn rows_that_are_whole_blocks_are_all_written_and_read() {
    let directory = tempfile::tempdir().unwrap();
    let name = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    for rows in [BLOCK, 3 * BLOCK] {
        let (boards, rows) = (name("r.boards"), rows.to_string());
        let generated = lanefish(&["generate", "--force", "-n", &rows, "-o", &boards]);
        assert!(generated.status.success());
        for table in ["t.parquet", "t.arrow", "t.arrows"] {
            for command in ["convert", "compute"] {
                let table = name(table);
                let done = lanefish(&[command, "--force", "-o", &table, &boards]);
                assert!(done.status.success(), "{done:?}");
                let found: usize = read(Path::new(&table)).iter().map(RecordBatch::num_rows).sum();
                assert_eq!(found.to_string(), rows, "{command} {table}");
                if command == "convert" {
                    let (back, direct) = (name("back.boards"), name("direct.boards"));
                    for (from, to) in [(&table, &back), (&boards, &direct)] {
                        let done = lanefish(&["convert", "--force", "-o", to, from]);
                        assert!(done.status.success(), "{done:?}");
                    }
                    assert!(fs::read(back).unwrap() == fs::read(direct).unwrap());
                }
            }
        }
    }
}

/// Columns are computed by runs: a batch that comes from none has no rows of them, and all of its whole records.
#[test]
fn batches_of_no_run_give_whole_records_only() {
    use lanefish::jobs::{Content, OutputContent, OutputFormat, WriteJob};
    use lanefish::output::SquareSetStyle;
    use lanefish::table::Columns;
    let directory = tempfile::tempdir().unwrap();
    let batch = std::sync::Arc::new(crate::formats::round_trips::sample_batch(100));
    let columns = Columns::named("fen,legal_moves").unwrap();
    for name in ["x.PARQUET", "x.arrow", "x.Arrows"] {
        let path = directory.path().join(name.to_ascii_lowercase());
        for (written, rows) in [
            (OutputContent::Columns(&columns, SquareSetStyle::Hex), 0),
            (OutputContent::Records { fen: false }, 100),
            (OutputContent::Games, 0),
        ] {
            let format = OutputFormat::of_path(name.as_ref(), Content::Records).unwrap();
            let job = WriteJob::new(written, format).unwrap();
            let mut out = File::create(&path).unwrap();
            let mut file = job.open(&mut out).unwrap();
            let part = job.batch(&batch, 0);
            job.put(&mut file, part).unwrap();
            job.finish(file).unwrap();
            let found: usize = read(&path).iter().map(RecordBatch::num_rows).sum();
            assert_eq!(found, rows, "{name}");
        }
    }
}

/// Dates that are no days are kept as texts, whichever columns there are, and whatever case the name of the file has.
#[test]
fn dates_without_days_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let pgn = directory.path().join("x.pgn");
    let dates = ["2024.??.??", "2024.05.06", "1.6.2025"];
    let games = dates.map(|date| format!("[Event \"x\"]\n[Date \"{date}\"]\n\n*\n\n"));
    fs::write(&pgn, games.concat()).unwrap();
    for (name, more) in [("a.parquet", &[][..]), ("b.PARQUET", &["--fen"]), ("c.arrow", &["--fen"]), ("d.ARROW", &[])] {
        let path = directory.path().join(name);
        let arguments = ["convert", pgn.to_str().unwrap(), "-o", path.to_str().unwrap()];
        let done = lanefish(&[&arguments[..], more].concat());
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let lower = directory.path().join(name.to_ascii_lowercase());
        fs::rename(&path, &lower).unwrap();
        let batch = &read(&lower)[0];
        assert_eq!(batch.column_by_name("fen").is_some(), !more.is_empty());
        let texts = batch.column_by_name("date_text").expect("it has values");
        let texts: Vec<String> = (0..3).map(|row| text(texts.as_ref(), row)).collect();
        assert_eq!(texts, ["2024.??.??", "", "1.6.2025"], "{name}");
        let again = lanefish(&["compute", "--columns", "date", lower.to_str().unwrap()]);
        assert_eq!(String::from_utf8(again.stdout).unwrap(), format!("date\n{}\n", dates.join("\n")));
    }
}

/// Tables have the chosen columns of games in their order, with the types and values of the usual table.
#[test]
fn tables_have_chosen_columns_of_games() {
    let directory = tempfile::tempdir().unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/lichess-2025-05.pgn");
    let names = ["plies", "date", "white_elo", "tag:WhiteTitle", "tags", "game"];
    for extension in ["parquet", "arrow", "arrows"] {
        let write = |name: &str, more: &[&str]| {
            let path = directory.path().join(format!("{name}.{extension}"));
            let arguments = ["games", input.to_str().unwrap(), "-o", path.to_str().unwrap()];
            let done = lanefish(&[&arguments[..], more].concat());
            assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
            read(&path).remove(0)
        };
        let usual = write("usual", &[]);
        let chosen = write("chosen", &["--columns", &names.join(",")]);
        let schema = chosen.schema();
        let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(found, names);
        for name in ["plies", "date", "white_elo", "game"] {
            assert_eq!(schema.field_with_name(name).unwrap(), usual.schema().field_with_name(name).unwrap());
            assert_eq!(chosen.column_by_name(name), usual.column_by_name(name), "{name}");
        }
        let tags = chosen.column_by_name("tags").unwrap();
        assert!(text(tags.as_ref(), 0).starts_with("{\"Event\":"));
    }
}
