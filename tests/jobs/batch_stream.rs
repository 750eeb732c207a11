//! Runs as streams of record batches, compared with the table that the same run writes.

use crate::support::SetRead as _;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use assert_cmd::Command;
use lanefish::Error;
use lanefish::columnar::BLOCK;
use lanefish::input::Inputs;
use lanefish::jobs::{Scan, ScanStep};
use lanefish::table::Columns;
use lanefish::tiers::{Analyzer, Tier};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn analyzer() -> &'static dyn Analyzer {
    Tier::best().analyzer().expect("it was chosen")
}

/// A file of the sample, many times, with a bad line in the middle.
fn file(directory: &TempDir, times: usize) -> std::path::PathBuf {
    let sample = fs::read_to_string("data/sample.epd").expect("the sample");
    let path = directory.path().join("many.epd");
    let half = sample.repeat(times / 2);
    fs::write(&path, format!("{half}nonsense\n{half}")).expect("a writable directory");
    path
}

fn scan(path: &Path, threads: usize, strict: bool) -> Scan {
    let inputs = Inputs::resolve(&[path.to_owned()], |_| true).expect("a file");
    let columns = Columns::named("index,fen,legal_moves").expect("columns of the catalogue");
    Scan::new(inputs, columns, analyzer(), move |options| {
        options.threads(threads).reading(|read| read.strict(strict)).chunk_size(1 << 16)
    })
}

#[test]
fn a_stream_is_the_table() {
    let directory = TempDir::new().expect("a temporary directory");
    let path = file(&directory, 12);
    let out = directory.path().join("out.arrows");
    let mut command = Command::cargo_bin("lanefish").expect("the program");
    let command = command.args(["compute", "--columns", "index,fen,legal_moves", "-o"]);
    command.arg(&out).arg(&path).assert().code(1);
    let reader = StreamReader::try_new(fs::File::open(out).expect("the table"), None).expect("a stream");
    let table: Vec<RecordBatch> = reader.collect::<Result<_, _>>().expect("whole batches");
    assert!(table.len() > 2);
    for threads in [1, 2, 4] {
        let mut scan = scan(&path, threads, false);
        assert!(scan.summary().is_none());
        let batches = (&mut scan).collect::<Result<Vec<_>, Error>>().expect("no failure");
        assert_eq!(batches.len(), table.len());
        for (batch, table) in batches.iter().zip(&table) {
            assert_eq!(batch.columns(), table.columns());
            // Those of the file also say what its columns are as a whole.
            assert_eq!(batch.schema().fields(), table.schema().fields());
        }
        let summary = scan.summary().expect("the end was reached");
        assert_eq!(summary.rejected, 1);
        let rows: u64 = table.iter().map(|batch| batch.num_rows() as u64).sum();
        assert_eq!(summary.accepted(), rows);
        assert!(scan.next().is_none());
    }
}

#[test]
fn a_bad_record_can_be_an_error() {
    let directory = TempDir::new().expect("a temporary directory");
    let path = file(&directory, 12);
    for threads in [1, 3] {
        let mut found = Vec::new();
        let mut failure = None;
        for batch in scan(&path, threads, true) {
            match batch {
                Ok(batch) => found.push(batch.num_rows()),
                Err(error) => failure = Some(error),
            }
        }
        assert!(found.iter().all(|&rows| rows == BLOCK));
        assert!(matches!(failure, Some(Error::Strict(reject)) if reject.raw == b"nonsense"));
    }
}

#[test]
fn a_stream_that_nobody_reads_ends() {
    let directory = TempDir::new().expect("a temporary directory");
    let path = file(&directory, 100);
    // Nothing has begun.
    drop(scan(&path, 2, false));
    let mut scan = scan(&path, 2, false);
    let begin = Instant::now();
    while !matches!(scan.step(Duration::from_millis(1)), Ok(ScanStep::Batch(_))) {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    scan.close();
    assert!(scan.next().is_none() && scan.summary().is_none());
}
