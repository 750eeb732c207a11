//! Tables that ask for too much: rows, values and bytes that are not in the file. The files in `table_files` once made
//! the program run without end, or abort.

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_ipc::writer::{DictionaryHandling, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs the program, which must end soon.
fn run(arguments: &[&str]) -> Output {
    let mut stdout = tempfile::tempfile().unwrap();
    let mut stderr = tempfile::tempfile().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_lanefish"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().unwrap())
        .stderr(stderr.try_clone().unwrap())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let content = |file: &mut File| {
        let mut content = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut content).unwrap();
        content
    };
    Output { status, stdout: content(&mut stdout), stderr: content(&mut stderr) }
}

fn stderr(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/table_files")
}

#[test]
fn counts_that_the_bytes_do_not_allow_are_damage() {
    for (name, why) in [
        ("db34.parquet", "the changes make 8589934592 values of 10"),
        ("db46.parquet", "the changes make 35184372088832 values of 10"),
        ("dl34.parquet", "the changes make 8589934592 values of 10"),
        ("dl46.parquet", "the changes make 35184372088832 values of 10"),
        ("fzabort.parquet", "the changes make 4108152081352 values of 10"),
        ("val41.parquet", "the page header has an impossible number"),
        ("onebit0.arrow", "it has 7 rows, and its batch 549755813895"),
        ("rows39.arrows", "its buffers have fewer than 549755813888 rows"),
        ("slow-1-10141.arrow", "it has 1 rows, and its batch 549755813889"),
        ("endless.arrows", "damaged"),
    ] {
        let file = files().join(name);
        let file = file.to_str().unwrap();
        let done = run(&["verify", file]);
        let report = String::from_utf8(done.stdout).unwrap();
        assert_eq!(done.status.code(), Some(1), "{name}: {report}");
        assert!(report.contains(why), "{name}: {report}");
        // One damage, not one for each of the parts that were asked for.
        assert!(report.matches("damaged at").count() <= 3, "{report}");

        let directory = tempfile::tempdir().unwrap();
        let written = directory.path().join("x.boards");
        let written = written.to_str().unwrap();
        for arguments in [
            &["convert", file, "--output", written][..],
            &["stats", "--threads", "4", file],
            &["compute", "--columns", "all", file],
        ] {
            let done = run(arguments);
            assert_eq!(done.status.code(), Some(2), "{name}: {}", stderr(&done));
            let left = std::fs::read_dir(directory.path()).unwrap().count();
            assert_eq!(left, 0, "{name}: {arguments:?}");
        }
    }
}

/// Texts of positions, all different from their neighbours.
fn fens(rows: usize) -> Vec<String> {
    let fen = |row| format!("4k3/8/8/8/8/8/4P3/4K3 w - - 0 {}", 1 + row % 5000);
    (0..rows).map(fen).collect()
}

/// A file of few bytes, whose pages need some 8 MiB each.
fn large_pages(groups: usize) -> Vec<u8> {
    let rows = 200_000;
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(fens(rows)));
    let batch = RecordBatch::try_from_iter([("fen", texts)]).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(usize::MAX)
        .set_write_batch_size(rows)
        .set_max_row_group_row_count(Some(rows))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    for _ in 0..groups {
        writer.write(&batch).unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn the_limit_of_memory_changes_no_record() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.parquet");
    let bytes = large_pages(4);
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    std::fs::write(&file, bytes).unwrap();
    let file = file.to_str().unwrap();
    let columns = ["compute", "--columns", "fen,index,legal_moves", file];
    let whole = run(&columns);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    assert_eq!(whole.stdout.split(|&byte| byte == b'\n').count(), 800_002);
    // Room for one page; for some; for all.
    for memory in ["48M", "80M", "4G"] {
        for threads in ["1", "2", "8"] {
            let limits = ["--max-memory", memory, "--threads", threads];
            let done = run(&[&columns[..], &limits].concat());
            assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
            assert!(done.stdout == whole.stdout, "{memory}, {threads} threads");
        }
    }
    let done = run(&["stats", file, "--max-memory", "4M"]);
    assert_eq!(done.status.code(), Some(2));
    let message = stderr(&done);
    assert!(message.contains("the limit is 4 MiB; --max-memory"), "{message}");
    // What is said there helps.
    let (_, enough) = message.split_once("--max-memory ").unwrap();
    let (enough, _) = enough.split_once(' ').unwrap();
    let done = run(&["stats", file, "--max-memory", enough]);
    assert_eq!(done.status.code(), Some(0), "{enough}: {}", stderr(&done));
}

/// A stream whose dictionary grows by one value with each batch.
fn growing(texts: &[String]) -> Vec<u8> {
    let all = StringArray::from_iter_values(texts);
    let column = |row: usize| -> ArrayRef {
        let numbers = Int32Array::from_iter_values([row as i32]);
        let values = Arc::new(all.slice(0, row + 1));
        Arc::new(DictionaryArray::<Int32Type>::try_new(numbers, values).unwrap())
    };
    let batch = |row| RecordBatch::try_from_iter([("fen", column(row))]).unwrap();
    let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
    let schema = batch(0).schema();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    for row in 0..texts.len() {
        writer.write(&batch(row)).unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn a_dictionary_that_grows_with_each_batch() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.arrows");
    let mut texts = fens(3000);
    std::fs::write(&file, growing(&texts)).unwrap();
    let columns = ["compute", "--columns", "fen", file.to_str().unwrap()];
    texts.insert(0, "fen".to_owned());
    for threads in ["1", "8"] {
        let done = run(&[&columns[..], &["--threads", threads]].concat());
        assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
        let lines = String::from_utf8(done.stdout).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        assert!(lines == texts, "{threads} threads: {} lines", lines.len());
    }
}

/// A batch is read as a whole where the file is not mapped: memory is needed for all of it.
#[test]
fn batches_that_are_read_need_memory() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.arrow");
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(fens(200_000)));
    let batch = RecordBatch::try_from_iter([("fen", texts)]).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    std::fs::write(&file, &bytes).unwrap();
    let file = file.to_str().unwrap();
    let with = |memory: &str, more: &[&str]| run(&[&["stats", file, "--max-memory", memory], more].concat());
    let [mapped, copied] = [&[][..], &["--no-mmap"]].map(|more| {
        let done = with("4M", more);
        assert_eq!(done.status.code(), Some(2));
        let message = stderr(&done);
        assert!(message.contains("the limit is 4 MiB; --max-memory"), "{message}");
        let (_, enough) = message.split_once("--max-memory ").unwrap();
        let (enough, _) = enough.split_once("M ").unwrap();
        let done = with(&format!("{enough}M"), more);
        assert_eq!(done.status.code(), Some(0), "{enough}: {}", stderr(&done));
        enough.parse::<usize>().unwrap()
    });
    // The same however it is read: with room for all of its bytes.
    assert_eq!(copied, mapped);
    assert!(copied >= bytes.len() >> 20, "{copied} MiB, for {} bytes", bytes.len());
}
