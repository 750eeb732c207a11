//! Seeds of the table targets, made by the `parquet` and `arrow` crates: every encoding, compression and kind of page
//! and message. Pages have no checksums, so that damage reaches what is behind them.

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::{Int16Type, Int32Type, UInt16Type};
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Int16Array, Int32Array, ListArray, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use std::sync::Arc;

const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    "4k3/8/8/8/8/8/8/4K2R w K - 9 40",
    "8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - 0 1",
    "not a position",
];

/// Positions, scores with missing values, and numbers that are always there.
fn batch(rows: usize) -> RecordBatch {
    let fens = StringArray::from_iter_values((0..rows).map(|row| FENS[row * 7 % 5]));
    let scores = Int16Array::from_iter((0..rows).map(|row| (row % 3 != 0).then_some(row as i16)));
    let depths = Int32Array::from_iter_values((0..rows).map(|row| 20 + row as i32 % 9));
    let themes = StringArray::from_iter((0..rows).map(|row| (row % 4 != 1).then_some("pin fork")));
    RecordBatch::try_from_iter([
        ("fen", Arc::new(fens) as ArrayRef),
        ("score", Arc::new(scores)),
        ("depth", Arc::new(depths)),
        ("themes", Arc::new(themes)),
    ])
    .expect("columns of one length")
}

/// Games: as movetext, as moves in UCI and SAN, as lists of moves, and as Aix, some of them wrong.
fn games() -> Vec<RecordBatch> {
    let movetexts = [
        Some("1. e4 { [%clk 0:01:00] [%eval 0.3] } 1... e5 (1... c5) 2. Nf3 $1 1-0"),
        Some("[White \"a\"]\n\n1. d4 d5 *"),
        None,
        Some(""),
        Some("1. e4 e5 2. Ke3"),
    ];
    let moves = [Some("e2e4 e7e5 e1e2 0000"), Some("e4 e5 Nf3"), Some("e2e4 e9"), None, Some("e2e4 e7e5 g1f3 1-0")];
    let elos = Int16Array::from(vec![Some(1500), None, Some(-1), Some(2800), Some(0)]);
    let results = StringArray::from(vec![Some("0-1"), None, Some("*"), Some("x"), Some("1/2-1/2")]);
    let starts = StringArray::from(vec![None, Some(FENS[2]), Some("x"), None, None]);
    let batch = |name: &str, texts: [Option<&str>; 5]| {
        RecordBatch::try_from_iter([
            (name, Arc::new(StringArray::from(texts.to_vec())) as ArrayRef),
            ("white_elo", Arc::new(elos.clone())),
            ("Result", Arc::new(results.clone())),
            ("start_fen", Arc::new(starts.clone())),
        ])
        .expect("columns of one length")
    };
    let mut lists = ListBuilder::new(StringBuilder::new());
    for text in moves {
        text.iter().flat_map(|text| text.split(' ')).for_each(|word| lists.values().append_value(word));
        lists.append(text.is_some());
    }
    lists.values().append_null();
    lists.append(true);
    let lists = RecordBatch::try_from_iter([("moves", Arc::new(lists.finish()) as ArrayRef)]).expect("a column");
    let movedata: [Option<&[u8]>; 6] = [
        Some(&[0x0C, 0x1C, 0x34, 0x24, 0x05, 0x1A, 0]),
        Some(&[0]),
        Some(&[0x0C, 0x1C, 0x34]),
        None,
        Some(&[0x0C, 0x9C, 0]),
        Some(&[]),
    ];
    let clocks = |count: usize| {
        let lists = (0..movedata.len()).map(|row| (row != 1).then(|| (0..count).map(|clock| Some(300 - clock as u16))));
        ListArray::from_iter_primitive::<UInt16Type, _, _>(lists)
    };
    let evals = (0..movedata.len()).map(|row| (row < 2).then(|| [17, 32_767, -32_768].into_iter().map(Some).take(row)));
    let aix = RecordBatch::try_from_iter([
        ("movedata", Arc::new(BinaryArray::from(movedata.to_vec())) as ArrayRef),
        ("clocks_white", Arc::new(clocks(2))),
        ("clocks_black", Arc::new(clocks(1))),
        ("evals", Arc::new(ListArray::from_iter_primitive::<Int16Type, _, _>(evals))),
        ("ply_count", Arc::new(Int32Array::from(vec![3, 0, 1, 0, 1, 0]))),
        ("time_initial", Arc::new(Int16Array::from(vec![Some(300), None, Some(0), None, None, None]))),
        ("time_increment", Arc::new(Int16Array::from(vec![Some(3), None, None, None, None, None]))),
    ]);
    vec![batch("movetext", movetexts), batch("moves", moves), lists, aix.expect("columns of one length")]
}

/// Parquet files.
pub(super) fn parquet() -> Vec<Vec<u8>> {
    let written = |properties: WriterProperties| {
        let mut bytes = Vec::new();
        let batch = batch(24);
        let mut writer =
            ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a schema that can be written");
        writer.write(&batch).expect("writing to memory");
        writer.close().expect("writing to memory");
        bytes
    };
    let base = || WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None);
    let mut seeds = Vec::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for (text, number) in [
            (Encoding::PLAIN, Encoding::PLAIN),
            (Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BINARY_PACKED),
            (Encoding::DELTA_BYTE_ARRAY, Encoding::BYTE_STREAM_SPLIT),
        ] {
            let plain = base().set_writer_version(version);
            seeds.push(written(
                plain
                    .set_dictionary_enabled(false)
                    .set_column_encoding("fen".into(), text)
                    .set_column_encoding("themes".into(), text)
                    .set_column_encoding("score".into(), number)
                    .set_column_encoding("depth".into(), number)
                    .build(),
            ));
        }
        // Dictionaries, several row groups, several pages.
        let small = base()
            .set_writer_version(version)
            .set_max_row_group_row_count(Some(10))
            .set_data_page_row_count_limit(4)
            .set_write_batch_size(4);
        seeds.push(written(small.build()));
        for compression in [
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
            Compression::LZ4_RAW,
            Compression::BROTLI(Default::default()),
        ] {
            let base = base().set_writer_version(version);
            seeds.push(written(base.set_compression(compression).build()));
        }
    }
    seeds.push(written(WriterProperties::builder().set_statistics_enabled(EnabledStatistics::Page).build()));
    for batch in games() {
        let pages = || base().set_data_page_row_count_limit(2).set_write_batch_size(2);
        let second = base().set_writer_version(WriterVersion::PARQUET_2_0).set_dictionary_enabled(false);
        for properties in [base().build(), pages().set_dictionary_enabled(false).build(), second.build()] {
            let mut bytes = Vec::new();
            let writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties));
            let mut writer = writer.expect("a schema that can be written");
            writer.write(&batch).expect("writing to memory");
            writer.close().expect("writing to memory");
            seeds.push(bytes);
        }
    }
    seeds
}

/// Rows whose texts are in a dictionary of these values.
fn coded(values: &[&str], rows: usize) -> RecordBatch {
    let codes = Int32Array::from_iter((0..rows).map(|row| {
        let code = (row * 3 % values.len()) as i32;
        (row % 5 != 4).then_some(code)
    }));
    let texts = Arc::new(StringArray::from_iter_values(values));
    let fens = DictionaryArray::<Int32Type>::try_new(codes, texts).expect("codes of the values");
    let codes = Int16Array::from_iter_values((0..rows).map(|row| (row % 2) as i16));
    let texts = Arc::new(StringArray::from_iter_values(["mate", "pin"]));
    let themes = DictionaryArray::<Int16Type>::try_new(codes, texts).expect("codes of the values");
    RecordBatch::try_from_iter([("fen", Arc::new(fens) as ArrayRef), ("themes", Arc::new(themes))])
        .expect("columns of one length")
}

/// Arrow files and streams.
pub(super) fn arrow() -> Vec<Vec<u8>> {
    let options = |compression: Option<CompressionType>| {
        IpcWriteOptions::default().try_with_compression(compression).expect("a compression of Arrow")
    };
    let file = |batches: &[RecordBatch], options: IpcWriteOptions| {
        let mut bytes = Vec::new();
        let schema = batches[0].schema();
        let mut writer =
            FileWriter::try_new_with_options(&mut bytes, &schema, options).expect("a schema that can be written");
        for batch in batches {
            writer.write(batch).expect("writing to memory");
        }
        writer.finish().expect("writing to memory");
        drop(writer);
        bytes
    };
    let stream = |batches: &[RecordBatch], options: IpcWriteOptions| {
        let mut bytes = Vec::new();
        let schema = batches[0].schema();
        let mut writer =
            StreamWriter::try_new_with_options(&mut bytes, &schema, options).expect("a schema that can be written");
        for batch in batches {
            writer.write(batch).expect("writing to memory");
        }
        writer.finish().expect("writing to memory");
        drop(writer);
        bytes
    };
    let mut seeds = Vec::new();
    let plain = [batch(12), batch(5)];
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        seeds.push(file(&plain, options(compression)));
        seeds.push(stream(&plain, options(compression)));
    }
    // The second dictionary has the first as its beginning: a delta; the third replaces it.
    let growing = [coded(&FENS[..2], 9), coded(&FENS[..4], 9)];
    let deltas = || options(None).with_dictionary_handling(DictionaryHandling::Delta);
    seeds.push(file(&growing, deltas()));
    seeds.push(stream(&growing, deltas()));
    let replaced = [coded(&FENS[..2], 9), coded(&FENS[2..], 9)];
    seeds.push(stream(&replaced, options(None)));
    seeds.push(stream(&replaced, options(Some(CompressionType::LZ4_FRAME))));
    for batch in games() {
        seeds.push(file(std::slice::from_ref(&batch), options(None)));
        seeds.push(stream(&[batch], options(None)));
    }
    seeds
}
