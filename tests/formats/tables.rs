//! Parquet and Arrow files: every layout of columns, rejects, damage, shards, files of other programs.

use crate::formats::round_trips::{OnlyValidity, lines, sample_batch};
use crate::support::{Ended, Random, SetRead as _, run};
use arrow_array::builder::{StringDictionaryBuilder, StringViewBuilder};
use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int16Array,
    Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use assert_cmd::Command;
use lanefish::error::{Error, Reject};
use lanefish::formats::{DecodeOptions, DroppedKind, Format};
use lanefish::input::{Access, Inputs};
use lanefish::pipeline::{Job, RunOptions, Shard};
use lanefish::table::{Field, Fields, Needs, Tile};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Each record as text, with its number.
struct Records;

impl Job for Records {
    type Part = Vec<String>;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Vec<String> {
        Vec::new()
    }
    fn tile(&self, records: &mut Vec<String>, tile: &Tile<'_>) {
        let rows: Vec<u32> = tile.rows().map(|row| row as u32).collect();
        let batch = tile.batch.select(&rows);
        let numbered = lines(&batch).into_iter().enumerate();
        records.extend(numbered.map(|(row, line)| format!("{} {line}", batch.index(row))));
    }
}

#[derive(Debug)]
struct Found {
    records: Vec<String>,
    rejects: Vec<Reject>,
    /// Notes on values that do not fit.
    dropped_values: Vec<String>,
    summary: Ended,
}

impl Found {
    /// Nothing failed.
    #[track_caller]
    fn good(self) -> Self {
        assert!(self.summary.failure.is_none(), "{:?}", self.summary.failure);
        self
    }
    fn failure(&self) -> String {
        self.summary.failure.as_ref().map_or_else(String::new, Error::to_string)
    }
}

fn all_fields() -> DecodeOptions {
    DecodeOptions::default().fields(Fields::ALL)
}

fn read_with(paths: &[&Path], set: impl for<'a> FnOnce(RunOptions<'a>) -> RunOptions<'a>) -> Found {
    let inputs = Inputs::of(paths.iter().copied());
    let mut rejects = Vec::new();
    let mut on_reject = |reject: &Reject| -> Result<(), Error> {
        rejects.push(reject.clone());
        Ok(())
    };
    let mut records = Vec::new();
    let options = set(RunOptions::new(&OnlyValidity));
    let summary = run(&inputs, options.on_reject(Some(&mut on_reject)), &Records, |mut part| {
        records.append(&mut part);
        Ok(())
    });
    Found { records, rejects, dropped_values: summary.dropped_values.notes().collect(), summary }
}

fn read(path: &Path) -> Found {
    read_with(&[path], |options| options.decode(all_fields()))
}

/// Positions of random games.
fn fens(count: usize) -> Vec<String> {
    let batch = sample_batch(count);
    let position = |row| batch.position(row).unwrap().to_string();
    (0..count).map(position).collect()
}

fn numbered(fens: &[String]) -> Vec<String> {
    let lines = fens.iter().enumerate();
    lines.map(|(row, fen)| format!("{row} {fen}")).collect()
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn strings(values: &[String]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

fn parquet(batch: &RecordBatch, properties: WriterPropertiesBuilder) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow_file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    let schema = batches[0].schema();
    let mut writer = FileWriter::try_new_with_options(&mut bytes, &schema, options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn arrow_stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// In pieces of this number of rows.
fn pieces(batch: &RecordBatch, rows: usize) -> Vec<RecordBatch> {
    let starts = (0..batch.num_rows()).step_by(rows);
    starts.map(|start| batch.slice(start, rows.min(batch.num_rows() - start))).collect()
}

/// A table in every kind of file.
fn files(batch: &RecordBatch) -> Vec<(&'static str, Vec<u8>)> {
    let is_text = |field: &arrow_schema::Field| field.data_type().is_string();
    let incremental = match batch.schema().column_with_name("fen") {
        Some((_, field)) if is_text(field) => Encoding::DELTA_BYTE_ARRAY,
        _ => Encoding::PLAIN,
    };
    let small = || properties().set_data_page_row_count_limit(100).set_write_batch_size(50);
    vec![
        ("plain.parquet", parquet(batch, properties())),
        ("groups.parquet", parquet(batch, small().set_max_row_group_row_count(Some(333)))),
        (
            "no-index.parquet",
            parquet(
                batch,
                small()
                    .set_offset_index_disabled(true)
                    .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
                    .set_dictionary_enabled(false),
            ),
        ),
        (
            "v2-zstd.parquet",
            parquet(
                batch,
                small()
                    .set_writer_version(WriterVersion::PARQUET_2_0)
                    .set_compression(Compression::ZSTD(Default::default())),
            ),
        ),
        (
            "delta.parquet",
            parquet(
                batch,
                small()
                    .set_dictionary_enabled(false)
                    .set_column_encoding("fen".into(), incremental)
                    .set_compression(Compression::LZ4_RAW),
            ),
        ),
        ("snappy.parquet", parquet(batch, small().set_compression(Compression::SNAPPY))),
        ("gzip.parquet", parquet(batch, small().set_compression(Compression::GZIP(Default::default())))),
        (
            "gzip-v2.parquet",
            parquet(
                batch,
                small()
                    .set_writer_version(WriterVersion::PARQUET_2_0)
                    .set_compression(Compression::GZIP(Default::default())),
            ),
        ),
        ("brotli.parquet", parquet(batch, small().set_compression(Compression::BROTLI(Default::default())))),
        ("one.arrow", arrow_file(std::slice::from_ref(batch), None)),
        ("many.arrow", arrow_file(&pieces(batch, 100), None)),
        ("zstd.feather", arrow_file(&pieces(batch, 400), Some(CompressionType::ZSTD))),
        ("lz4.feather", arrow_file(&pieces(batch, 400), Some(CompressionType::LZ4_FRAME))),
        ("stream.arrows", arrow_stream(&pieces(batch, 250))),
    ]
}

fn write(directory: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn lanefish(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("lanefish").unwrap();
    command.args(arguments).env_remove("NO_COLOR");
    command
}

#[test]
fn strings_of_all_types_in_all_files() {
    let directory = tempfile::tempdir().unwrap();
    let fens = fens(1000);
    let mut views = StringViewBuilder::new();
    let mut short = StringDictionaryBuilder::<Int16Type>::new();
    let mut long = StringDictionaryBuilder::<Int32Type>::new();
    for fen in &fens {
        views.append_value(fen);
        short.append_value(fen);
        long.append_value(fen);
    }
    let arrays: [(&str, ArrayRef); 6] = [
        ("strings", strings(&fens)),
        ("large", Arc::new(LargeStringArray::from_iter_values(&fens))),
        ("views", Arc::new(views.finish())),
        ("short dictionary", Arc::new(short.finish())),
        ("dictionary", Arc::new(long.finish())),
        ("bytes", Arc::new(BinaryArray::from_iter_values(&fens))),
    ];
    let expected = numbered(&fens);
    for (kind, array) in arrays {
        let other: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        for (name, bytes) in files(&table(vec![("x", other), ("fen", array)])) {
            let path = write(&directory, name, bytes);
            for threads in [1, 2, 8] {
                for map in [true, false] {
                    let found = read_with(&[&path], |options| {
                        options.threads(threads).decode(all_fields()).access(Access::default().map(map))
                    })
                    .good();
                    assert!(found.records == expected, "{kind}, {name}, {threads}");
                    assert!(found.rejects.is_empty());
                    let file = &found.summary.files[0];
                    assert!(matches!(file.format.unwrap().name(), "parquet" | "arrow"));
                    assert_eq!(file.note.as_deref(), Some("columns not read: `x` (Int64)"), "{name}");
                    let len = std::fs::metadata(&path).unwrap().len();
                    assert_eq!(found.summary.bytes, len, "{name}, mapped: {map}");
                }
            }
        }
    }
}

#[test]
fn boards_are_those_of_boards_files() {
    let directory = tempfile::tempdir().unwrap();
    let batch = sample_batch(700);
    let bytes: Vec<Vec<u8>> = (0..batch.len())
        .map(|row| {
            let board = batch.board(row);
            let [t0, t1, t2] = board.types;
            [board.color, t0, t1, t2].map(u64::to_le_bytes).concat()
        })
        .collect();
    let fixed: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter(bytes.iter()).unwrap());
    let any: ArrayRef = Arc::new(BinaryArray::from_iter_values(&bytes));
    let halfmove: ArrayRef = Arc::new(UInt8Array::from_iter_values(batch.halfmove.iter().map(|&clock| clock as u8)));
    let fullmove: ArrayRef = Arc::new(Int64Array::from_iter_values(batch.fullmove.iter().map(|&number| number.into())));
    let garbage: ArrayRef = Arc::new(StringArray::from_iter_values((0..700).map(|_| "not a position")));
    let expected: Vec<String> = (0..700).map(|row| format!("{row} {}", batch.position(row).unwrap())).collect();
    for board in [fixed, any] {
        let with_clocks = table(vec![
            ("fen", Arc::clone(&garbage)),
            ("board", Arc::clone(&board)),
            ("halfmove", Arc::clone(&halfmove)),
            ("fullmove", Arc::clone(&fullmove)),
        ]);
        for (name, bytes) in files(&with_clocks) {
            let found = read(&write(&directory, name, bytes)).good();
            assert!(found.records == expected, "{name}");
        }
        let without = table(vec![("board", board)]);
        let path = write(&directory, "x.parquet", parquet(&without, properties()));
        let found = read(&path).good();
        let mut position = batch.position(699).unwrap();
        (position.halfmove, position.fullmove) = (0, 1);
        assert_eq!(found.records[699], format!("699 {position}"));
        // The other column, if it is named.
        let path = write(&directory, "y.parquet", parquet(&with_clocks, properties()));
        let decode = all_fields().fen_column(Some("fen".into()));
        let found = read_with(&[&path], |options| options.decode(decode));
        assert_eq!(found.rejects.len(), 700);
    }
}

#[test]
fn bad_rows_are_rejected_with_their_number() {
    let directory = tempfile::tempdir().unwrap();
    let values = [
        Some(START),
        None,
        Some("garbage"),
        Some("  8/8/8/4k3/8/8/8/4K2R w K - 0 1 \n"),
        Some(""),
        // Invalid only by the rules.
        Some("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"),
        Some("8/8/8/4k3/8/8/8/4K2R w K - bm Rh5+;"),
        Some("8/8/8/8/8/8/8/8 w - - 0 1\n8/8/8/4k3/8/8/8/4K2R w K - 0 1"),
        Some("# a comment"),
        Some(START),
    ];
    let scores = [Some(1), Some(2), Some(3), Some(32_768), None, Some(6), Some(-7), Some(8), Some(9), Some(-31_000)];
    let values: ArrayRef = Arc::new(StringArray::from_iter(values));
    let scores: ArrayRef = Arc::new(Int32Array::from_iter(scores));
    for (name, bytes) in files(&table(vec![("fen", values), ("cp", scores)])) {
        let path = write(&directory, name, bytes);
        let found = read(&path).good();
        let reasons: Vec<_> = found.rejects.iter().map(|reject| (reject.place.row, reject.reasons[0])).collect();
        assert_eq!(
            reasons[..3],
            [(Some(1), "null_position"), (Some(2), "fen_piece"), (Some(4), "fen_rank_too_short")],
            "{name}"
        );
        assert_eq!(reasons[3].0, Some(5));
        assert_eq!(reasons.len(), 6, "{reasons:?}");
        assert_eq!(found.dropped_values.len(), 1);
        assert!(
            found.dropped_values[0].contains("1 value that `score` cannot hold was left out, first `32768`"),
            "{name}"
        );
        assert!(found.dropped_values[0].ends_with("(row 3)"), "{:?}", found.dropped_values);
        assert_eq!(found.rejects[1].raw, b"garbage");
        assert_eq!(found.rejects[3].raw, b"4k3/4R3/8/8/8/8/8/4K3 w - - 0 1");
        assert_eq!(
            found.records,
            [
                format!("0 {START} score=1"),
                "3 8/8/8/4k3/8/8/8/4K2R w K - 0 1".to_owned(),
                format!("6 8/8/8/4k3/8/8/8/4K2R w K - 0 1 score=-7 move={} operations=bm Rh5+;", 7 | 39 << 6),
                format!("9 {START} score=-31000"),
            ],
            "{name}"
        );
        assert_eq!(found.summary.records, 10);
        // Those of a second file have rows of their own.
        let twice = read_with(&[&path, &path], |options| options.decode(all_fields()));
        assert_eq!(twice.rejects[6].place.row, Some(1));
        assert_eq!(twice.rejects[6].place.record, 11);
        // The program says the same, with status 1.
        let rejects = directory.path().join("rejects.txt");
        let mut command = lanefish(&["stats", "--json", "--force", "--rejects"]);
        command.arg(&rejects).arg(&path).assert().code(1);
        let rejects = std::fs::read_to_string(&rejects).unwrap();
        assert!(rejects.contains(&format!("{name}#2\tfen_piece")), "{rejects}");
    }
}

#[test]
fn fields_come_along_where_their_types_fit() {
    let directory = tempfile::tempdir().unwrap();
    let fen = strings(&vec![START.to_owned(); 4]);
    let text = |values: [Option<&str>; 4]| -> ArrayRef { Arc::new(StringArray::from_iter(values)) };
    let batch = table(vec![
        ("fen", fen),
        ("score", Arc::new(Int16Array::from(vec![Some(5), None, Some(0), Some(-9)]))),
        ("mate", Arc::new(Int64Array::from(vec![None, Some(3), None, None]))),
        ("result", text([Some("1-0"), Some("1/2-1/2"), Some("0-1"), Some("*")])),
        ("move", text([Some("e2e4"), Some("Nf3"), Some(""), None])),
        ("ply", Arc::new(UInt64Array::from(vec![0, 1, 2, 65_535]))),
        ("game", Arc::new(Int64Array::from(vec![7, 7, 8, i64::MAX]))),
        ("white_elo", Arc::new(BooleanArray::from(vec![true; 4]))),
        ("date", Arc::new(Date32Array::from(vec![Some(0), Some(19_782), None, Some(1)]))),
        ("white", text([Some("A"), Some("A"), Some("B"), None])),
        ("eval", Arc::new(Int16Array::from(vec![1; 4]))),
    ]);
    for (name, bytes) in files(&batch) {
        let path = write(&directory, name, bytes);
        let found = read(&path).good();
        assert_eq!(
            found.records,
            [
                format!("0 {START} score=5 result=2 move=1804 ply=0 game=7 date=1970.01.01 white=A"),
                format!("1 {START} result=1 move=1350 ply=1 game=7 date=2024.02.29 mate=3 white=A"),
                format!("2 {START} score=0 result=0 ply=2 game=8 white=B"),
                format!("3 {START} score=-9 ply=65535 game={} date=1970.01.02", i64::MAX),
            ],
            "{name}"
        );
        assert_eq!(
            found.summary.files[0].note.as_deref(),
            Some("columns not read: `white_elo` (Boolean), `eval` (Int16)")
        );
        // What is not requested is not read.
        let decode = DecodeOptions::default().fields(Fields::of(&[Field::Ply]));
        let found = read_with(&[&path], |options| options.decode(decode));
        assert_eq!(found.records[1], format!("1 {START} ply=1"));
    }
    // Integers as pandas writes them where some are missing.
    let floats = [Some(31.0), None, Some(f64::NAN), Some(-0.0), Some(0.5), Some(1e300), Some(-40_000.0), Some(7.0)];
    let scores = table(vec![
        ("fen", strings(&vec![START.to_owned(); 8])),
        ("score", Arc::new(Float64Array::from(floats.to_vec()))),
        ("depth", Arc::new(Float32Array::from_iter(floats.map(|float| float.map(|float| float as f32))))),
    ]);
    for (name, bytes) in files(&scores) {
        let path = write(&directory, name, bytes);
        let found = read(&path).good();
        let records = [" score=31 depth=31", "", "", " score=0 depth=0", "", "", "", " score=7 depth=7"];
        let records = records.iter().enumerate().map(|(row, fields)| format!("{row} {START}{fields}"));
        assert_eq!(found.records, records.collect::<Vec<_>>(), "{name}");
        let dropped_values = |field| found.summary.dropped_values.count(&DroppedKind::Value(field));
        assert_eq!([dropped_values(Field::Score), dropped_values(Field::Depth)], [3, 3], "{name}");
    }
    // Numbers in place of texts, and what they may not be.
    let numbers = table(vec![
        ("fen", strings(&vec![START.to_owned(); 4])),
        ("result", Arc::new(UInt8Array::from(vec![0, 1, 2, 3]))),
        ("move", Arc::new(UInt16Array::from(vec![1804, 0x3000, 1804, 1804]))),
        ("clock", Arc::new(Int64Array::from(vec![1, 2, -3, 4]))),
    ]);
    let path = write(&directory, "numbers.parquet", parquet(&numbers, properties()));
    let found = read(&path).good();
    assert_eq!(found.records[0], format!("0 {START} result=0 move=1804 clock=1"));
    assert_eq!((found.records.len(), found.rejects.len()), (4, 0));
    for (field, value, row) in [("result", "3", 3), ("move", "12288", 1), ("clock", "-3", 2)] {
        let note = format!("1 value that `{field}` cannot hold was left out, first `{value}`");
        let is_note = |text: &String| text.contains(&note) && text.ends_with(&format!("(row {row})"));
        assert!(found.dropped_values.iter().any(is_note), "{field}: {:?}", found.dropped_values);
    }
    let wrong = table(vec![
        ("fen", strings(&vec![START.to_owned(); 2])),
        ("move", Arc::new(StringArray::from(vec!["e2e5", "e2e4"]))),
        ("result", Arc::new(StringArray::from(vec!["1-0", "draw"]))),
    ]);
    let path = write(&directory, "wrong.parquet", parquet(&wrong, properties()));
    let found = read(&path).good();
    assert_eq!((found.records.len(), found.rejects.len()), (2, 0));
    let notes = ["1 value that `move` cannot hold was left out, first `e2e5`", "first `draw`"];
    assert!(
        notes.iter().all(|note| found.dropped_values.iter().any(|text| text.contains(note))),
        "{:?}",
        found.dropped_values
    );
}

#[test]
fn missing_and_wrong_columns_are_errors_with_those_that_are_there() {
    let directory = tempfile::tempdir().unwrap();
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let name: ArrayRef = Arc::new(StringArray::from(vec![START]));
    for (columns, option, expected) in [
        (
            vec![("FEN", &name), ("n", &number)],
            None,
            "has neither positions (a column `fen` or `board`; --fen-column names another) nor games (a column of text \
             or lists `movedata`, `movetext`, `pgn`, `moves`, `moves_uci`, `uci`, `moves_san`, `san` or `transcript`; \
             --moves-column names \
             another); its columns are `FEN` (Utf8), `n` (Int64)",
        ),
        (vec![("fen", &number)], None, "`fen` must be text and `board` 32 bytes, but there is `fen` (Int64)"),
        (vec![("fen", &name)], Some("position"), "has no column `position`"),
        (vec![("fen", &name), ("n", &number)], Some("n"), "the column `n` (Int64) does not hold text"),
    ] {
        let columns = columns.into_iter().map(|(name, array)| (name, Arc::clone(array)));
        let batch = table(columns.collect());
        for (name, bytes) in files(&batch) {
            let path = write(&directory, name, bytes);
            let mut command = lanefish(&["stats"]);
            command.arg(&path);
            if let Some(option) = option {
                command.args(["--fen-column", option]);
            }
            let done = command.assert().code(2).get_output().clone();
            let stderr = String::from_utf8(done.stderr).unwrap();
            assert!(stderr.contains(expected) && stderr.lines().count() == 1, "{name}: {stderr}");
        }
    }
    let batch = table(vec![("FEN", name)]);
    let path = write(&directory, "x.parquet", parquet(&batch, properties()));
    let mut command = lanefish(&["compute", "--columns", "fen", "--fen-column", "FEN"]);
    let done = command.arg(&path).assert().code(0).get_output().stdout.clone();
    assert_eq!(String::from_utf8(done).unwrap(), format!("fen\n{START}\n"));
}

#[test]
fn limits_threads_and_shards() {
    let directory = tempfile::tempdir().unwrap();
    let mut fens = fens(5000);
    for row in (0..5000).step_by(97) {
        fens[row] = "garbage".to_owned();
    }
    let names: Vec<String> = (0..5000).map(|row| format!("p{}", row / 40)).collect();
    let batch = table(vec![("fen", strings(&fens)), ("white", strings(&names))]);
    for (name, bytes) in files(&batch) {
        let path = write(&directory, name, bytes);
        let all = read(&path).good();
        assert_eq!(all.summary.records, 5000);
        let rejected =
            |found: &Found| -> Vec<u64> { found.rejects.iter().map(|reject| reject.place.row.unwrap()).collect() };
        for threads in [1, 2, 8] {
            for (skip, limit) in [(0, 10), (99, 1000), (4990, 100), (5000, 1), (1234, 1)] {
                let some = read_with(&[&path], |options| {
                    let options = options.decode(all_fields()).threads(threads);
                    options.reading(|read| read.skip(skip).limit(Some(limit)))
                })
                .good();
                let in_range = |line: &&String| {
                    let number: u64 = line.split(' ').next().unwrap().parse().unwrap();
                    (skip..skip + limit).contains(&number)
                };
                let expected: Vec<_> = all.records.iter().filter(in_range).cloned().collect();
                assert!(some.records == expected, "{name} {skip} {limit}");
                assert_eq!(some.summary.records, limit.min(5000 - skip));
            }
            for count in [2, 3, 7] {
                let (mut rows, mut bad) = (Vec::new(), Vec::new());
                for index in 0..count {
                    let found = read_with(&[&path], |options| {
                        let options = options.decode(all_fields()).threads(threads);
                        options.shard(Shard::new(index, count))
                    })
                    .good();
                    bad.extend(rejected(&found));
                    let without_number = |line: String| line.split_once(' ').unwrap().1.to_owned();
                    rows.extend(found.records.into_iter().map(without_number));
                }
                let expected = all.records.iter().map(|line| line.split_once(' ').unwrap().1);
                assert!(rows.iter().map(String::as_str).eq(expected), "{name} {count}");
                assert_eq!(bad, rejected(&all));
            }
        }
    }
}

#[test]
fn large_pages_and_groups_are_divided() {
    let directory = tempfile::tempdir().unwrap();
    let some = fens(1000);
    let fens: Vec<String> = (0..300_000).map(|row| some[row * 7 % 1000].clone()).collect();
    let batch = table(vec![("fen", strings(&fens))]);
    let expected = numbered(&fens);
    let one_page = || {
        properties()
            .set_data_page_size_limit(1 << 30)
            .set_data_page_row_count_limit(1 << 30)
            .set_write_batch_size(300_000)
    };
    for (name, bytes) in [
        ("dictionary.parquet", parquet(&batch, one_page())),
        (
            "plain.parquet",
            parquet(&batch, one_page().set_dictionary_enabled(false).set_compression(Compression::SNAPPY)),
        ),
        ("batch.arrow", arrow_file(std::slice::from_ref(&batch), None)),
    ] {
        let path = write(&directory, name, bytes);
        for threads in [1, 3] {
            let found = read_with(&[&path], |options| options.threads(threads)).good();
            assert!(found.records == expected, "{name}");
        }
    }
}

#[test]
fn empty_tables_and_empty_files() {
    let directory = tempfile::tempdir().unwrap();
    let batch = table(vec![("fen", strings(&[]))]);
    for (name, bytes) in [
        ("x.parquet", parquet(&batch, properties())),
        ("x.arrow", arrow_file(std::slice::from_ref(&batch), None)),
        ("x.arrows", arrow_stream(std::slice::from_ref(&batch))),
    ] {
        let found = read(&write(&directory, name, bytes)).good();
        assert_eq!(found.summary.records, 0, "{name}");
    }
    for name in ["e.parquet", "e.arrow", "e.arrows", "e.feather"] {
        let found = read(&write(&directory, name, b""));
        assert!(found.failure().contains("damaged at byte 0"), "{name}: {}", found.failure());
        let found = read(&write(&directory, name, b"PAR1PAR1"));
        assert!(!found.failure().is_empty());
    }
}

#[test]
fn pipes_directories_and_containers() {
    let directory = tempfile::tempdir().unwrap();
    let fens = fens(300);
    let batch = table(vec![("fen", strings(&fens))]);
    let text = write(&directory, "plain.txt", fens.join("\n"));
    let json = |command: &mut Command| {
        let done = command.assert().code(0).get_output().stdout.clone();
        let mut json: serde_json::Value = serde_json::from_slice(&done).unwrap();
        let run = json.as_object_mut().unwrap().remove("run").unwrap();
        (json, run["bytes_read"].as_u64().unwrap())
    };
    let (expected, _) = json(lanefish(&["stats", "--json"]).arg(&text));
    for (name, bytes) in files(&batch) {
        let piped = json(lanefish(&["stats", "--json", "-"]).write_stdin(bytes.clone()));
        assert_eq!(piped, (expected.clone(), bytes.len() as u64), "{name}");
        for extra in [&[][..], &["--no-mmap"], &["--threads", "1"]] {
            let path = write(&directory, name, &bytes);
            let found = json(lanefish(&["stats", "--json"]).args(extra).arg(&path));
            assert_eq!(found, (expected.clone(), bytes.len() as u64), "{name} {extra:?}");
            let output = lanefish(&["info", "--json"]).arg(&path).output().unwrap();
            let info: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(info["records"], 300);
            assert_eq!(info["columns"], serde_json::json!(["fen:Utf8"]));
            let verified = lanefish(&["verify", "--validity", "playable"]).arg(&path).assert();
            verified.code(0);
            std::fs::remove_file(path).unwrap();
        }
    }
    let bytes = parquet(&batch, properties());
    let compressed = zstd::encode_all(&bytes[..], 1).unwrap();
    let path = write(&directory, "x.parquet.zst", compressed);
    let done = lanefish(&["stats"]).arg(&path).assert().code(2);
    let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("decompress it first"), "{stderr}");
    std::fs::remove_file(path).unwrap();
    std::fs::remove_file(text).unwrap();
    for number in 0..3 {
        let other: ArrayRef = Arc::new(Int64Array::from_iter_values(0..300));
        let batch = table(vec![("fen", strings(&fens)), ("other", other)]);
        write(&directory, &format!("{number}.parquet"), parquet(&batch, properties()));
    }
    let done = lanefish(&["stats", "--json"]).arg(directory.path()).assert().code(0);
    let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    // Once, not for each file.
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("and 2 more files: columns not read: `other` (Int64)"), "{stderr}");
}

/// Reads bytes under a name; a run that did not fail must have all rows.
fn must_not_lose(directory: &TempDir, name: &str, bytes: &[u8], rows: u64, what: &str) -> bool {
    let path = write(directory, name, bytes);
    let found = read_with(&[&path], |options| options.decode(all_fields()).threads(2));
    match &found.summary.failure {
        Some(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
        None => {
            // Rows may be bad, but must be there.
            assert!(found.summary.records >= rows, "{name}, {what}: {}", found.summary.records);
            true
        }
    }
}

#[test]
fn cut_files_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let fens = fens(600);
    let scores: ArrayRef = Arc::new(Int16Array::from_iter_values(0..600));
    let batch = table(vec![("fen", strings(&fens)), ("score", scores)]);
    let mut random = Random::new(1);
    for (name, bytes) in files(&batch) {
        let mut places: Vec<usize> = (0..10).chain(bytes.len() - 15..bytes.len()).collect();
        places.extend((0..300 / 10).map(|_| random.below(bytes.len() as u64) as usize));
        for place in places {
            let read = must_not_lose(&directory, name, &bytes[..place], 600, "cut");
            assert!(!read, "{name} cut at {place} of {}", bytes.len());
        }
        let longer = [&bytes[..], b"more"].concat();
        assert!(!must_not_lose(&directory, name, &longer, 600, "longer"));
    }
}

#[test]
fn flipped_bits_lose_no_rows() {
    let directory = tempfile::tempdir().unwrap();
    let fens = fens(300);
    let scores: ArrayRef = Arc::new(Int16Array::from_iter_values(0..300));
    let names: Vec<String> = (0..300).map(|row| format!("p{}", row / 40)).collect();
    let mut white = StringDictionaryBuilder::<Int16Type>::new();
    names.iter().for_each(|name| white.append_value(name));
    let batch = table(vec![("fen", strings(&fens)), ("score", scores), ("white", Arc::new(white.finish()))]);
    let mut random = Random::new(2);
    let (mut failed, mut read) = (0, 0);
    for (name, bytes) in files(&batch) {
        for round in 0..140 {
            let mut flipped = bytes.clone();
            // Half of them where the metadata are.
            let from = match round % 2 {
                0 => 0,
                _ => bytes.len().saturating_sub(1500) as u64,
            };
            for _ in 0..1 + random.below(3) {
                let bit = 8 * from + random.below(8 * (bytes.len() as u64 - from));
                flipped[bit as usize / 8] ^= 1 << (bit % 8);
            }
            if must_not_lose(&directory, name, &flipped, 300, &format!("round {round}")) {
                read += 1;
            } else {
                failed += 1;
            }
        }
    }
    assert!(failed > 100 && read > 100, "{failed} failed, {read} did not");
}

#[test]
fn files_of_other_programs() {
    let directory = tempfile::tempdir().unwrap();
    let fens = fens(2000);
    write(&directory, "fens.txt", fens.join("\n"));
    let script = r#"
import sys
with open("fens.txt") as file: fens = file.read().split("\n")
cp = [None if i % 3 == 0 else i for i in range(len(fens))]
try:
    import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather, pyarrow.ipc as ipc
    table = pa.table({"fen": fens, "cp": pa.array(cp, pa.int32())})
    pq.write_table(table, "pyarrow.parquet", row_group_size=700)
    pq.write_table(table, "pyarrow2.parquet", data_page_version="2.0", compression="zstd", data_page_size=5000)
    pq.write_table(table, "pyarrow3.parquet", use_dictionary=False, column_encoding={"fen": "DELTA_LENGTH_BYTE_ARRAY"}, compression="gzip")
    feather.write_feather(table, "pyarrow.feather", chunksize=300)
    feather.write_feather(table, "pyarrow2.feather", compression="zstd")
    with ipc.new_stream("pyarrow.arrows", table.schema) as out: out.write_table(table, 500)
    coded = pa.table({"fen": pa.array(fens).dictionary_encode(), "cp": pa.array(cp, pa.int16())})
    with ipc.new_file("pyarrow3.arrow", coded.schema) as out: out.write_table(coded, 500)
    print("pyarrow")
except ImportError: pass
try:
    import polars as pl
    frame = pl.DataFrame({"fen": fens, "cp": cp})
    frame.write_parquet("polars.parquet", row_group_size=600)
    frame.write_ipc("polars.arrow")
    frame.write_ipc("polars2.arrow", compression="lz4")
    frame.write_ipc_stream("polars.arrows")
    frame.with_columns(pl.col("fen").cast(pl.Categorical)).write_ipc("polars3.arrow", compression="zstd")
    print("polars")
except ImportError: pass
try:
    import duckdb
    duckdb.sql("create table t as select row_number() over () - 1 as i, column0 as fen from read_csv('fens.txt', header=false, delim='|', parallel=false)")
    duckdb.sql("copy (select fen, case when i % 3 = 0 then null else i::int end as cp from t order by i) to 'duckdb.parquet' (format parquet, row_group_size 2048)")
    duckdb.sql("copy (select fen, case when i % 3 = 0 then null else i::bigint end as cp from t order by i) to 'duckdb2.parquet' (format parquet, compression zstd, parquet_version v2)")
    print("duckdb")
except ImportError: pass
"#;
    let python = std::env::var_os("LANEFISH_PYTHON").unwrap_or_else(|| "python3".into());
    let output = std::process::Command::new(python).args(["-c", script]).current_dir(directory.path()).output();
    let Ok(output) = output else {
        return crate::support::skipped("python3 is missing");
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let there = String::from_utf8(output.stdout).unwrap();
    for library in ["pyarrow", "polars", "duckdb"] {
        if !there.lines().any(|line| line == library) {
            crate::support::skipped(&format!("python3 has no {library}"));
        }
    }
    let expected: Vec<String> = fens
        .iter()
        .enumerate()
        .map(|(row, fen)| match row % 3 {
            0 => format!("{row} {fen}"),
            _ => format!("{row} {fen} score={row}"),
        })
        .collect();
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension != "txt") {
            let found = read(&path).good();
            assert!(found.records == expected, "{}", path.display());
            let bare = read_with(&[&path], |options| options.threads(3)).good();
            assert_eq!(bare.records.len(), 2000);
        }
    }
}

#[test]
fn formats_are_found_by_content() {
    let batch = table(vec![("fen", strings(&fens(10)))]);
    for (name, bytes) in files(&batch) {
        let format = if name.ends_with("parquet") { Format::PARQUET } else { Format::ARROW };
        for path in [name, "x", "x.fen", "x.bin"] {
            let found = lanefish::formats::detect(&bytes, true, Path::new(path), None);
            assert_eq!(found, Ok(format), "{name}");
        }
    }
}
