//! What is written is what the readers of the crates `parquet` and `arrow-ipc` find.

use super::{BLOCK, Compression, Described, Ipc, IpcKind, Parquet, ParquetPages, ROW_GROUP, RowBlocks};
use crate::chess::random::Random;
use crate::packed::Packed;
use crate::table::{Array, Items, Kind, ListNumber, Lists, TextBuffer, Texts, Values};
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int16Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array as _, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::ReaderProperties;
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
        ("lists", Kind::ListOfU16),
        ("signed lists", Kind::ListOfI16),
        ("few texts", Kind::Text),
        ("fen", Kind::Text),
        ("key", Kind::Bits),
        ("few bytes", Kind::Bytes),
        ("no UTF-8", Kind::Bytes),
    ]
    .map(column)
    .into();
    columns.push(Described::new("words", Kind::ListOfText, "never missing, but perhaps empty"));
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

/// Random lists of numbers, of which some are empty.
fn lists_of<T: ListNumber>(len: usize, random: &mut Random, none: Items, number: impl Fn(&mut Random) -> T) -> Lists {
    let mut lists = Lists::new(none);
    let present = values(len, random, |_| true);
    for row in 0..len {
        let list: Vec<T> = (0..random.below(4)).map(|_| number(random)).collect();
        lists.push_numbers(present.is_present(row).then_some(&list[..]));
    }
    lists
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
    // Texts that repeat, and texts that do so only in the first rows.
    let few = values(len, random, |random| words[random.below(200) as usize].as_bytes().to_vec());
    let broken = values(len, random, |random| vec![b'a', 0x80 | random.below(4) as u8]);
    let mut row = 0;
    let many = values(len, random, |random| {
        row += 1;
        if row < 15_000 { format!("{}", row % 9).into_bytes() } else { format!("{:060}", random.bits()).into_bytes() }
    });
    let buffer = |values: &Values<Vec<u8>>| {
        let mut texts = TextBuffer::default();
        (0..len).for_each(|row| texts.push_bytes(values.get(row).map(|text| &**text)));
        Array::TextBuffer(texts)
    };
    let boards = (0..len)
        .map(|_| {
            let color = random.bits();
            Packed { color, types: std::array::from_fn(|_| random.bits()) }
        })
        .collect();
    let required: Values<u16> = (0..len).map(|_| random.below(40) as u16).collect();
    let lists = lists_of(len, random, Items::U16(Vec::new()), |random| random.below(1 << 16) as u16);
    let signed = lists_of(len, random, Items::I16(Vec::new()), |random| random.bits() as i16);
    let (mut items, mut ends) = (TextBuffer::default(), Vec::new());
    for _ in 0..len {
        (0..random.below(4)).for_each(|_| items.push(Some(&words[random.below(200) as usize])));
        ends.push(items.len() as u32);
    }
    let lists_of_words = Lists::from_parts(Items::Text(items), ends);
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
        Array::Lists(lists),
        Array::Lists(signed),
        buffer(&few),
        buffer(&many),
        Array::U64(values(len, random, |random| random.bits())),
        buffer(&few),
        buffer(&broken),
    ]
    .into();
    columns.push(Array::Lists(lists_of_words));
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
    let encoder = Parquet::new(columns, ParquetPages::new(compression, true));
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
    assert!(metadata.row_groups().iter().all(|group| group.sorting_columns().is_none()));
    // Without what no row has.
    let encoder = Parquet::new(columns.to_vec(), ParquetPages::default());
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
fn bloom_filters_sorted_columns_and_dictionaries() {
    let columns = [
        Described::new("index", Kind::U32, "a number"),
        Described::new("key", Kind::Bits, "a key"),
        Described::new("fen", Kind::Text, "a text").nullable(),
        Described::new("castling", Kind::Text, "a text"),
    ];
    let len = 40_000u64;
    let text = |row: u64| (!row.is_multiple_of(5)).then(|| format!("position {row}"));
    let (mut fens, mut few) = (TextBuffer::default(), TextBuffer::default());
    for row in 0..len {
        fens.push(text(row).as_deref());
        few.push(Some(["KQkq", "-", "Kq"][row as usize % 3]));
    }
    let keys: Values<u64> = (0..len).map(|row| row.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect::<Vec<_>>().into();
    let numbers: Values<u32> = (0..len as u32).collect::<Vec<_>>().into();
    let piece = vec![Array::U32(numbers), Array::U64(keys), Array::TextBuffer(fens), Array::TextBuffer(few)];
    let encoder = Parquet::new(columns.to_vec(), ParquetPages::new(Compression::default(), true));
    let mut out = Vec::new();
    let mut sink = encoder.begin(&mut out).unwrap();
    let mut blocks = RowBlocks::default().with_groups(30_000);
    for block in blocks.join(piece, 0..len as usize).into_iter().chain(blocks.finish()) {
        sink.put(encoder.encode(block).unwrap()).unwrap();
    }
    sink.finish(false).unwrap();
    let properties = ReaderProperties::builder().set_read_bloom_filter(true).build();
    let options = ReadOptionsBuilder::new().with_reader_properties(properties).build();
    let reader = SerializedFileReader::new_with_options(Bytes::from(out), options).unwrap();
    for (number, rows) in [0..30_000, 30_000..len].into_iter().enumerate() {
        let group = reader.get_row_group(number).unwrap();
        let sorted = group.metadata().sorting_columns().unwrap();
        assert!(sorted.len() == 1 && sorted[0].column_idx == 0 && !sorted[0].descending);
        assert!(group.get_column_bloom_filter(0).is_none() && group.get_column_bloom_filter(3).is_none());
        let (of_keys, of_fens) = (group.get_column_bloom_filter(1).unwrap(), group.get_column_bloom_filter(2).unwrap());
        let mut others = 0;
        for row in 0..len {
            let has_key = of_keys.check(&row.wrapping_mul(0x9E37_79B9_7F4A_7C15).cast_signed());
            let has_fen = text(row).is_none_or(|text| of_fens.check(&*text));
            assert!(!rows.contains(&row) || has_key && has_fen, "{row}");
            others += u64::from(!rows.contains(&row) && has_key);
        }
        assert!(others < len / 50, "{others}");
        assert!(group.metadata().column(2).dictionary_page_offset().is_none());
        assert!(group.metadata().column(3).dictionary_page_offset().is_some());
        assert!(group.metadata().column(3).compressed_size() < 20_000);
    }
}

#[test]
fn a_missing_value_where_none_can_be_is_an_error() {
    let columns = [Described::new("number", Kind::U16, "a number")];
    let encoder = Parquet::new(columns.to_vec(), ParquetPages::default());
    let mut blocks = RowBlocks::default();
    let piece = vec![Array::U16(Values::missing(3))];
    assert!(blocks.join(piece, 0..3).is_empty());
    assert!(encoder.encode(blocks.finish().unwrap()).is_err());
    let mut lists = Lists::new(Items::U16(Vec::new()));
    lists.push_missing();
    let encoder = Parquet::new(vec![Described::new("list", Kind::ListOfU16, "a list")], ParquetPages::default());
    let mut blocks = RowBlocks::default();
    assert!(blocks.join(vec![Array::Lists(lists)], 0..1).is_empty());
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

/// The smallest and the largest value of some rows as statistics have them, and how many are missing.
fn range_of(array: &dyn arrow_array::Array) -> (Option<[Vec<u8>; 2]>, i64) {
    let rows = 0..array.len();
    let there = rows.filter(|&row| array.is_valid(row));
    macro_rules! ends {
        ($values:expr, $bytes:expr) => {{
            let values: Vec<_> = there.map($values).collect();
            let ends = values.iter().min().zip(values.iter().max());
            ends.map(|(least, most)| [$bytes(least), $bytes(most)])
        }};
    }
    macro_rules! numbers {
        ($type:ty, $wide:ty) => {{
            let values = array.as_primitive::<$type>();
            ends!(|row| values.value(row) as $wide, |value: &$wide| value.to_le_bytes().to_vec())
        }};
    }
    let ends = match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            ends!(|row| values.value(row), |&value: &bool| vec![value.into()])
        }
        DataType::Int32 => numbers!(Int32Type, i32),
        DataType::Int64 => numbers!(Int64Type, i64),
        DataType::UInt64 => numbers!(UInt64Type, u64),
        DataType::Int16 => numbers!(Int16Type, i32),
        DataType::Date32 => numbers!(Date32Type, i32),
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            ends!(|row| values.value(row), |value: &&str| value.as_bytes().to_vec())
        }
        _ => None,
    };
    (ends, array.null_count() as i64)
}

/// A pushed-down filter relies on them: with a wrong range, rows are lost.
#[test]
fn statistics_are_those_of_the_values() {
    const ROWS: usize = 3 * BLOCK + 700;
    let mut random = Random::new(5);
    let mut flags = Values::<bool>::default();
    let (mut small, mut half, mut wide) = (Values::default(), Values::default(), Values::default());
    let (mut signed, mut keys) = (Values::<i16>::default(), Values::default());
    let (mut words, mut long, mut dates) = (Texts::default(), Texts::default(), Texts::default());
    for row in 0..ROWS {
        // The extremes of one page are not those of another, and the first and the last page have neither.
        let page = (row / BLOCK) as u64;
        let at = [100, 10, 200, 50][page as usize];
        // A page without values, and some of which some are missing.
        let there = page != 1 && random.below(3) > 0;
        let mut number = |most: u64| there.then(|| at + random.bits() % most);
        flags.push(number(2).map(|number| number % 2 == 1));
        small.push(number(50).map(|number| number as u8));
        half.push(number(9000).map(|number| number as u16));
        wide.push(number(1 << 31).map(|number| number as u32 * 2));
        signed.push(number(500).map(|number| 300 - number as i16));
        keys.push(number(u64::MAX / 2).map(|number| number.wrapping_mul(2)));
        words.push(number(50).map(|number| format!("word {number}")).as_deref());
        let len = if page == 2 { 300 } else { 20 };
        long.push(number(9).map(|number| format!("{number:0len$}")).as_deref());
        dates.push(number(28).map(|day| format!("{}.01.{:02}", 1900 + at, 1 + day % 28)).as_deref());
    }
    let column = |(name, kind)| Described::new(name, kind, "a meaning").nullable();
    let columns: Vec<Described> = [
        ("flag", Kind::Flag),
        ("u8", Kind::U8),
        ("u16", Kind::U16),
        ("u32", Kind::U32),
        ("i16", Kind::I16),
        ("i32", Kind::I32),
        ("bits", Kind::Bits),
        ("word", Kind::Text),
        ("long", Kind::Text),
        ("date", Kind::Date),
    ]
    .map(column)
    .into();
    let cells: Vec<Array> = [
        Array::Flag(flags),
        Array::U8(small),
        Array::U16(half),
        Array::U32(wide),
        Array::I16(signed.clone()),
        Array::I16(signed),
        Array::U64(keys),
        Array::Text(words),
        Array::Text(long),
        Array::Text(dates),
    ]
    .into();
    let file = parquet(&columns, &[cells], Compression::default());
    let options = ReadOptionsBuilder::new().with_page_index();
    let reader = SerializedFileReader::new_with_options(file.clone(), options.build()).unwrap();
    let metadata = reader.metadata();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let mut batches = reader.with_batch_size(ROWS).build().unwrap();
    let all = batches.next().unwrap().unwrap();
    assert_eq!(metadata.num_row_groups(), 1);
    for (at, column) in columns.iter().enumerate() {
        let name = &column.name;
        let (range, missing) = range_of(all.column(at));
        let statistics = metadata.row_group(0).column(at).statistics();
        // Those of long texts are left out.
        if &**name == "long" {
            assert!(statistics.is_none());
        } else {
            let statistics = statistics.expect("statistics");
            let [least, most] = range.expect("values");
            assert_eq!(statistics.min_bytes_opt(), Some(&*least), "{name}");
            assert_eq!(statistics.max_bytes_opt(), Some(&*most), "{name}");
            assert_eq!(statistics.null_count_opt(), Some(missing as u64), "{name}");
        }
        let index = &metadata.column_index().unwrap()[0][at];
        let places = metadata.offset_index().unwrap()[0][at].page_locations();
        assert_eq!(places.len(), 4, "{name}");
        if &**name == "long" {
            assert!(matches!(index, ColumnIndexMetaData::NONE));
            continue;
        }
        for (page, place) in places.iter().enumerate() {
            let end = ROWS.min((page + 1) * BLOCK);
            assert_eq!(place.first_row_index, (page * BLOCK) as i64);
            let (range, missing) = range_of(&all.column(at).slice(page * BLOCK, end - page * BLOCK));
            let context = format!("{name}, page {page}");
            assert_eq!(index.is_null_page(page), range.is_none(), "{context}");
            assert_eq!(index.null_count(page), Some(missing), "{context}");
            if let Some(range) = range {
                assert_eq!(ends_of(index, page), range, "{context}");
            }
        }
    }
}

/// The ends of a page as plain bytes.
fn ends_of(index: &ColumnIndexMetaData, page: usize) -> [Vec<u8>; 2] {
    macro_rules! ends {
        ($index:expr, $bytes:expr) => {
            [$index.min_value(page), $index.max_value(page)].map(|end| $bytes(end.unwrap()))
        };
    }
    match index {
        ColumnIndexMetaData::BOOLEAN(index) => ends!(index, |&end: &bool| vec![end.into()]),
        ColumnIndexMetaData::INT32(index) => ends!(index, |end: &i32| end.to_le_bytes().to_vec()),
        ColumnIndexMetaData::INT64(index) => ends!(index, |end: &i64| end.to_le_bytes().to_vec()),
        ColumnIndexMetaData::BYTE_ARRAY(index) => ends!(index, <[u8]>::to_vec),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_that_are_whole_blocks_are_all_there() {
    let columns = [Described::new("number", Kind::U16, "a number")];
    for lens in [
        &[BLOCK][..],
        &[2 * BLOCK],
        &[3 * BLOCK],
        &[BLOCK, BLOCK, BLOCK],
        &[BLOCK - 1, 1],
        &[100, 3 * BLOCK - 100],
        &[ROW_GROUP],
        &[ROW_GROUP - BLOCK, BLOCK, BLOCK],
    ] {
        let all: usize = lens.iter().sum();
        let mut start = 0;
        let pieces = lens.iter().map(|&len| {
            let numbers: Values<u16> = (start..start + len).map(|row| row as u16).collect();
            start += len;
            vec![Array::U16(numbers)]
        });
        let file = parquet(&columns, &pieces.collect::<Vec<_>>(), Compression::default());
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
        let mut row = 0;
        for batch in batches {
            for &number in batch.column(0).as_primitive::<Int32Type>().values() {
                assert_eq!(number, i32::from(row as u16), "{lens:?}");
                row += 1;
            }
        }
        assert_eq!(row, all, "{lens:?}");
    }
}
