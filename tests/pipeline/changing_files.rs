//! Files that others cut or extend while they are read.
//!
//! A job changes the file when it is handed the first records. Nothing beyond the last page that is left is touched: the
//! system would end the process.

use crate::formats::round_trips::{OnlyValidity, boards_bytes, sample_batch};
use crate::support::SetRead as _;
use crate::support::{Ended, run};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use lanefish::error::{Error, Reject};
use lanefish::formats::boards::BoardsFile;
use lanefish::formats::{DecodeOptions, Format};
use lanefish::input::{Access, Inputs};
use lanefish::jobs::{OutputContent, OutputFormat, WriteJob};
use lanefish::pipeline::{Job, RunOptions, Shard};
use lanefish::table::{Fields, Needs, Tile};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Once;

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    CutTo(u64),
    Grows,
}

/// When it happens: before the first records are judged, or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Begin,
    Tile,
}

fn change(path: &Path, change: Change) {
    match change {
        Change::Nothing => {}
        Change::CutTo(len) => {
            let file = File::options().write(true).open(path).unwrap();
            file.set_len(len).unwrap();
        }
        Change::Grows => {
            let mut file = File::options().append(true).open(path).unwrap();
            file.write_all(&[b'\n'; 5000]).unwrap();
        }
    }
}

/// Counts records, and changes the file when it gets the first ones.
struct Changing<'a> {
    path: &'a Path,
    change: Change,
    when: When,
    done: Once,
}

impl Changing<'_> {
    fn is_at(&self, when: When) {
        if self.when == when {
            self.done.call_once(|| change(self.path, self.change));
        }
    }
}

impl Job for Changing<'_> {
    type Part = u64;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> u64 {
        self.is_at(When::Begin);
        0
    }
    fn tile(&self, records: &mut u64, tile: &Tile<'_>) {
        *records += tile.rows().count() as u64;
        self.is_at(When::Tile);
    }
}

struct Found {
    records: u64,
    rejects: usize,
    summary: Ended,
}

/// Reads a file that is written anew, while it changes.
fn read(
    path: &Path,
    bytes: &[u8],
    what: (Change, When),
    set: impl for<'a> FnOnce(RunOptions<'a>) -> RunOptions<'a>,
) -> Found {
    std::fs::write(path, bytes).unwrap();
    let inputs = Inputs::of([path]);
    let job = Changing { path, change: what.0, when: what.1, done: Once::new() };
    let (mut records, mut rejects) = (0, 0);
    let mut on_reject = |_: &Reject| -> Result<(), Error> {
        rejects += 1;
        Ok(())
    };
    let options = RunOptions::new(&OnlyValidity)
        .decode(DecodeOptions::default().fields(Fields::ALL))
        .on_reject(Some(&mut on_reject));
    let summary = run(&inputs, set(options), &job, |part| {
        records += part;
        Ok(())
    });
    Found { records, rejects, summary }
}

/// The reason of the failure, with the system's.
fn failure(found: &Found) -> String {
    use std::error::Error as _;
    let failure = found.summary.failure.as_ref();
    failure.map_or_else(String::new, |error| {
        let source = error.source().map(ToString::to_string);
        format!("{error}: {}", source.unwrap_or_default())
    })
}

/// So few that files of them have one page.
const ROWS: usize = 8;

fn fens(rows: usize) -> Vec<String> {
    let batch = sample_batch(rows);
    let fens = (0..rows).map(|row| batch.position(row).unwrap().to_string());
    fens.collect()
}

/// Files of one page, whose records are in several parts where the format has parts.
fn small_files() -> Vec<(&'static str, Vec<u8>)> {
    let fens = fens(ROWS);
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(&fens));
    let table = RecordBatch::try_from_iter([("fen", text)]).unwrap();
    let parts = [table.slice(0, ROWS / 2), table.slice(ROWS / 2, ROWS / 2)];
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(ROWS / 2))
        .set_dictionary_enabled(false)
        .set_compression(parquet::basic::Compression::SNAPPY)
        .build();
    let mut parquet = Vec::new();
    let schema = table.schema();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut parquet, Arc::clone(&schema), Some(properties)).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let (mut file, mut stream) = (Vec::new(), Vec::new());
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut file, &schema).unwrap();
    parts.iter().for_each(|part| writer.write(part).unwrap());
    writer.finish().unwrap();
    drop(writer);
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut stream, &schema).unwrap();
    parts.iter().for_each(|part| writer.write(part).unwrap());
    writer.finish().unwrap();
    drop(writer);
    vec![
        ("x.fen", (fens.join("\n") + "\n").into_bytes()),
        ("x.boards", boards_bytes(&sample_batch(ROWS))),
        ("x.parquet", parquet),
        ("x.arrow", file),
        ("x.arrows", stream),
    ]
}

#[test]
fn zeros_in_place_of_a_cut_file_are_neither_values_nor_rejects() {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in small_files() {
        assert!(bytes.len() < 4096, "{name}: {}", bytes.len());
        let path = directory.path().join(name);
        for when in [When::Begin, When::Tile] {
            let whole = read(&path, &bytes, (Change::Nothing, when), |options| options);
            assert_eq!((whole.records, whole.rejects), (ROWS as u64, 0), "{name}");
            for len in [8, bytes.len() / 2, bytes.len() - 1] {
                let cut = (Change::CutTo(len as u64), when);
                for threads in [1, 3] {
                    for past_damage in [false, true] {
                        let found = read(&path, &bytes, cut, |mut options| {
                            options.past_damage = past_damage;
                            options.threads(threads)
                        });
                        let why = failure(&found);
                        let what = format!("{name} cut to {len}, {when:?}: {why}");
                        assert!(why.contains(&format!("was cut to {len} bytes")), "{what}");
                        assert_eq!(found.rejects, 0, "{what}");
                        assert!(found.summary.files.iter().all(|file| file.damage.is_empty()), "{what}");
                    }
                }
            }
        }
    }
}

/// The regression: exit 0, and boards of zeros.
#[test]
fn a_cut_parquet_file_of_the_regressions() {
    let Some(path) = crate::support::shared_data("regressions/tables3/trunc.parquet") else {
        return;
    };
    let bytes = std::fs::read(path).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trunc.parquet");
    for map in [true, false] {
        let access = Access::default().map(map);
        let whole = read(&path, &bytes, (Change::Nothing, When::Begin), |options| options.access(access));
        assert!(whole.summary.failure.is_none() && whole.records > 0);
        for when in [When::Begin, When::Tile] {
            let found = read(&path, &bytes, (Change::CutTo(4), when), |options| options.access(access));
            assert!(failure(&found).contains("was cut to 4 bytes"));
            assert_eq!(found.rejects, 0);
        }
    }
}

#[test]
fn files_that_are_read_and_cut_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    // More than is read at once, and than is decompressed at once.
    let text = fens(1000).join("\n") + "\n";
    let text = text.repeat(100);
    let mut frames = Vec::new();
    for part in text.as_bytes().chunks(1 << 20) {
        frames.extend(zstd::bulk::compress(part, 1).unwrap());
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    for (name, bytes, maps) in [
        ("x.fen", text.clone().into_bytes(), &[true, false][..]),
        ("x.fen.zst", frames, &[true]),
        ("x.fen.gz", gzip.finish().unwrap(), &[true, false]),
    ] {
        let path = directory.path().join(name);
        let cut = Change::CutTo(bytes.len() as u64 - 1);
        for &map in maps {
            for shard in [None, Shard::new(0, 1), Shard::new(1, 2)] {
                let found = read(&path, &bytes, (cut, When::Begin), |options| {
                    let options = options.access(Access::default().map(map)).shard(shard);
                    options.chunk_size(4096)
                });
                let why = failure(&found);
                // The few frames of a part are decompressed before the first record is handed on.
                let is_done = name.ends_with("zst") && shard == Shard::new(1, 2);
                assert!(why.contains("was cut to") || is_done, "{name} {map} {shard:?}: {why}");
            }
        }
    }
    for (name, bytes) in small_files().split_off(2) {
        let path = directory.path().join(name);
        for when in [When::Begin, When::Tile] {
            let cut = (Change::CutTo(bytes.len() as u64 - 1), when);
            let found = read(&path, &bytes, cut, |options| options.access(Access::default().map(false)));
            let why = failure(&found);
            assert!(why.contains("was cut to"), "{name}: {why}");
        }
    }
}

#[test]
fn files_that_grow_are_read_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in small_files() {
        let path = directory.path().join(name);
        for map in [true, false] {
            for when in [When::Begin, When::Tile] {
                let found =
                    read(&path, &bytes, (Change::Grows, when), |options| options.access(Access::default().map(map)));
                let all = (found.records, failure(&found));
                assert_eq!(all, (ROWS as u64, String::new()), "{name} {map}");
            }
        }
    }
}

fn boards_file(directory: &Path, rows: usize) -> PathBuf {
    let path = directory.join("x.boards");
    std::fs::write(&path, boards_bytes(&sample_batch(rows))).unwrap();
    path
}

/// Groups of a mapped file wait for their block to be complete, which may be after the run.
#[test]
fn records_that_wait_in_a_map_are_checked_when_they_are_written() {
    let directory = tempfile::tempdir().unwrap();
    // Fewer records are copied, and do not wait; more are not in one page.
    let path = boards_file(directory.path(), 16);
    let inputs = Inputs::of([&*path]);
    for cut in [false, true] {
        let format = OutputFormat::Records(Format::BOARDS);
        let job = WriteJob::new(OutputContent::Records { fen: false }, format).unwrap();
        let mut bytes = Vec::new();
        let file = job.open(&mut bytes).unwrap();
        let summary = run(&inputs, RunOptions::new(&OnlyValidity), &job, |_| Ok(()));
        assert!(summary.failure.is_none());
        if cut {
            change(&path, Change::CutTo(1100));
        }
        match job.finish(file) {
            Ok(_) => assert!(!cut),
            Err(error) => assert!(cut && error.to_string().contains("was cut to 1100 bytes")),
        }
    }
}

#[test]
fn random_access_to_a_cut_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = boards_file(directory.path(), ROWS);
    let file = BoardsFile::open(&Arc::from(&*path)).unwrap();
    assert_eq!(file.block(0).unwrap().len(), ROWS);
    assert!(file.record(3).unwrap().is_some());
    change(&path, Change::CutTo(1100));
    let is_cut = |error: Error| matches!(error, Error::Read { .. });
    assert!(is_cut(file.block(0).unwrap_err()));
    assert!(is_cut(file.record(3).unwrap_err()));
}
