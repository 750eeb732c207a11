//! What is written is what the readers of the crates `parquet` and `arrow-ipc` find.

use super::{BLOCK, Compression, Described, Ipc, IpcKind, Parquet, ROW_GROUP, RowBlocks};
use crate::chess::random::Random;
use crate::packed::Packed;
use crate::table::{Array, Kind, Texts, Values};
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use std::sync::Arc;

/// A column of each type, and how large its values become.
fn columns() -> Vec<Described> {
    let column = |(name, kind)| Described::new(name, kind, "a meaning").nullable();
    let mut columns: Vec<_> = [
        ("flag", Kind::Flag),
        ("u8", Kind::U8),
        ("u16", Kind::U16),
        ("i16", Kind::I16),
        ("u32", Kind::U32),
        ("u64", Kind::U64),
        ("text", Kind::Text),
        ("date", Kind::Date),
        ("long", Kind::Text),
    ]
    .map(column)
    .into();
    columns.push(Described::new("board", Kind::Board, "a board"));
    columns.push(Described::new("required", Kind::U16, "never missing"));
    columns
}

fn values<T: Clone + Default>(rows: usize, random: &mut Random, mut value: impl FnMut(&mut Random) -> T) -> Values<T> {
    let mut values = Values::default();
    // Runs with all, no and some values.
    let mut kind = 0;
    for row in 0..rows {
        if row % 5000 == 0 {
            kind = random.below(3);
        }
        let is_there = kind == 0 || kind == 1 && random.below(3) > 0;
        let value = value(random);
        values.push(is_there.then_some(value));
    }
    values
}

/// Random rows of all columns.
fn rows(len: usize, random: &mut Random) -> Vec<Array> {
    let most = 1 << random.below(16);
    let words: Vec<Arc<str>> = (0..200).map(|n| Arc::from(format!("word {n}"))).collect();
    let text = values(len, random, |random| words[random.below(200) as usize].to_string());
    let long = values(len, random, |random| format!("{:0100}", random.bits()));
    let date = values(len, random, |random| {
        format!("{}.{:02}.{:02}", 1900 + random.below(200), random.below(14), random.below(33))
    });
    let texts = |values: Values<String>| {
        let mut texts = Texts::default();
        (0..len).for_each(|row| texts.push(values.get(row).map(|text| &**text)));
        Array::Text(texts)
    };
    let boards = (0..len)
        .map(|_| {
            let color = random.bits();
            Packed { color, types: std::array::from_fn(|_| random.bits()) }
        })
        .collect();
    let required: Values<u16> = (0..len).map(|_| random.below(40) as u16).collect();
    let mut columns: Vec<Array> = [
        Array::Flag(values(len, random, |random| random.below(2) > 0)),
        Array::U8(values(len, random, |random| random.below(most.min(256)) as u8)),
        Array::U16(values(len, random, |random| random.below(most) as u16)),
        Array::I16(values(len, random, |random| (random.below(most) as i16).wrapping_sub(most as i16 / 2))),
        Array::U32(values(len, random, |random| random.bits() as u32)),
        Array::U64(values(len, random, |random| random.bits())),
        texts(text),
        texts(date),
        texts(long),
    ]
    .into();
    columns.push(Array::Boards(boards));
    columns.push(Array::U16(required));
    columns
}

/// The rows as one batch.
fn whole(columns: &[Described], pieces: &[Vec<Array>]) -> RecordBatch {
    let schema = Arc::new(super::schema(columns));
    super::arrow::record_batch(columns, &schema, joined(pieces)).unwrap()
}

fn parquet(columns: &[Described], pieces: &[Vec<Array>], compression: Compression) -> Bytes {
    let encoder = Parquet::new(columns, compression);
    let mut out = Vec::new();
    let mut file = encoder.begin(&mut out).unwrap();
    let mut blocks = RowBlocks::default();
    for piece in pieces {
        for block in blocks.join(piece.clone(), 0..piece[0].len()) {
            file.put(encoder.encode(block).unwrap()).unwrap();
        }
    }
    if let Some(block) = blocks.finish() {
        file.put(encoder.encode(block).unwrap()).unwrap();
    }
    file.finish(false).unwrap();
    out.into()
}

fn read(file: &Bytes) -> Vec<RecordBatch> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap().with_batch_size(1 << 20).build().unwrap();
    reader.map(Result::unwrap).collect()
}

/// Compares the batches with the rows of one.
fn agree(found: &[RecordBatch], expected: &RecordBatch) {
    let mut start = 0;
    for batch in found {
        assert_eq!(batch.schema().fields(), expected.schema().fields());
        let rows = expected.slice(start, batch.num_rows());
        start += batch.num_rows();
        for (at, (found, expected)) in batch.columns().iter().zip(rows.columns()).enumerate() {
            assert!(found == expected, "column {at} before row {start}");
        }
    }
    assert_eq!(start, expected.num_rows());
}

#[test]
fn parquet_files_have_the_values() {
    let columns = columns();
    let mut random = Random::new(33);
    for lens in [&[0][..], &[1], &[700, 0, 20_000, 3, 30_000], &[BLOCK, BLOCK, 1]] {
        let pieces: Vec<_> = lens.iter().map(|&len| rows(len, &mut random)).collect();
        let expected = whole(&columns, &pieces);
        let mut files = Vec::new();
        for compression in ["zstd", "zstd:5", "snappy", "none"] {
            let file = parquet(&columns, &pieces, compression.parse().unwrap());
            agree(&read(&file), &expected);
            files.push(file);
        }
        // However the rows arrive.
        let one = [joined(&pieces)];
        assert_eq!(parquet(&columns, &one, "zstd".parse().unwrap()), files[0]);
    }
}

fn joined(pieces: &[Vec<Array>]) -> Vec<Array> {
    let mut all: Vec<Array> = pieces[0].iter().map(Array::empty_like).collect();
    for piece in pieces {
        for (all, cells) in all.iter_mut().zip(piece) {
            all.append(cells, 0..cells.len());
        }
    }
    all
}

#[test]
fn row_groups_statistics_and_page_index() {
    let columns = [
        Described::new("number", Kind::U16, "a number"),
        Described::new("word", Kind::Text, "a word").nullable(),
        Described::new("empty", Kind::I16, "nothing").nullable(),
    ];
    let len = 50_000;
    let pieces: Vec<_> = (0..22u16)
        .map(|piece| {
            let mut words = Texts::default();
            words.push_many(Some(&format!("piece {piece:02}")), len);
            let numbers: Values<u16> = vec![100 * piece; len].into();
            vec![Array::U16(numbers), Array::Text(words), Array::I16(Values::missing(len))]
        })
        .collect();
    let file = parquet(&columns, &pieces, Compression::default());
    let options = ReadOptionsBuilder::new().with_page_index();
    let reader = SerializedFileReader::new_with_options(file.clone(), options.build()).unwrap();
    let metadata = reader.metadata();
    assert_eq!(metadata.num_row_groups(), 2);
    assert_eq!(metadata.row_group(0).num_rows(), ROW_GROUP as i64);
    assert_eq!(metadata.row_group(1).num_rows(), (22 * len - ROW_GROUP) as i64);
    let word = metadata.row_group(1).column(1);
    let statistics = word.statistics().unwrap();
    assert_eq!(statistics.min_bytes_opt(), Some(&b"piece 20"[..]));
    assert_eq!(statistics.max_bytes_opt(), Some(&b"piece 21"[..]));
    assert_eq!(statistics.null_count_opt(), Some(0));
    let places = &metadata.offset_index().unwrap()[0][0].page_locations;
    assert_eq!(places.len(), ROW_GROUP / BLOCK);
    assert_eq!(places[1].first_row_index, BLOCK as i64);
    assert!(metadata.column_index().is_some());
    let found = read(&file);
    agree(&found, &whole(&columns, &pieces));
    // Without what no row has.
    let encoder = Parquet::new(columns.to_vec(), Compression::default());
    let mut out = Vec::new();
    let mut sink = encoder.begin(&mut out).unwrap();
    let mut blocks = RowBlocks::default();
    for block in blocks.join(pieces[0].clone(), 0..len).into_iter().chain(blocks.finish()) {
        sink.put(encoder.encode(block).unwrap()).unwrap();
    }
    sink.finish(true).unwrap();
    let batches = read(&out.into());
    let schema = batches[0].schema();
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["number", "word"]);
}

#[test]
fn a_missing_value_where_none_can_be_is_an_error() {
    let columns = [Described::new("number", Kind::U16, "a number")];
    let encoder = Parquet::new(columns.to_vec(), Compression::default());
    let mut blocks = RowBlocks::default();
    let piece = vec![Array::U16(Values::missing(3))];
    assert!(blocks.join(piece, 0..3).is_empty());
    assert!(encoder.encode(blocks.finish().unwrap()).is_err());
}

#[test]
fn arrow_files_and_streams_have_the_values() {
    let columns = columns();
    let mut random = Random::new(34);
    let pieces: Vec<_> = [700, 0, 20_000].map(|len| rows(len, &mut random)).into();
    let expected = whole(&columns, &pieces);
    for kind in [IpcKind::File, IpcKind::Stream] {
        let encoder = Ipc::new(columns.clone(), kind);
        let mut out = Vec::new();
        let mut file = encoder.begin(&mut out).unwrap();
        let mut blocks = RowBlocks::default();
        for piece in &pieces {
            for block in blocks.join(piece.clone(), 0..piece[0].len()) {
                file.put(&encoder.encode(&block).unwrap()).unwrap();
            }
        }
        let last = blocks.finish().unwrap();
        file.put(&encoder.encode(&last).unwrap()).unwrap();
        file.finish().unwrap();
        let found: Vec<_> = match kind {
            IpcKind::File => {
                let reader = FileReader::try_new(std::io::Cursor::new(out), None).unwrap();
                reader.map(Result::unwrap).collect()
            }
            IpcKind::Stream => {
                let reader = StreamReader::try_new(&out[..], None).unwrap();
                reader.map(Result::unwrap).collect()
            }
        };
        agree(&found, &expected);
    }
}
