//! Parquet and Arrow files whose checksums are right and whose structure is not: there is a case for each check of the
//! readers, and only that check can catch it.

use crate::formats::round_trips::{OnlyValidity, lines, sample_batch};
use crate::support::SetRead as _;
use crate::support::run;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int8Type;
use arrow_array::{Array as _, ArrayRef, Int16Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use lanefish::error::{Error, Reject};
use lanefish::formats::{DecodeOptions, Format};
use lanefish::input::{Access, Inputs};
use lanefish::pipeline::{Job, RunOptions};
use lanefish::table::{Fields, Needs, Tile};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use std::path::Path;
use std::sync::Arc;

/// The records as text.
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
        records.extend(lines(&tile.batch.select(&rows)));
    }
}

/// What was read of a file, with the reason if it failed, or else the number of rejects.
fn read_with(path: &Path, format: Option<Format>, map: bool) -> (Vec<String>, String, usize) {
    let inputs = Inputs::of([path]);
    let mut rejects = 0;
    let mut on_reject = |_: &Reject| -> Result<(), Error> {
        rejects += 1;
        Ok(())
    };
    let mut records = Vec::new();
    let options = RunOptions::new(&OnlyValidity)
        .decode(DecodeOptions::default().fields(Fields::ALL))
        .reading(|read| read.from(format))
        .access(Access::default().map(map))
        .on_reject(Some(&mut on_reject));
    let summary = run(&inputs, options, &Records, |mut part| {
        records.append(&mut part);
        Ok(())
    });
    let failure = summary.failure.map(|error| error.to_string());
    (records, failure.unwrap_or_default(), rejects)
}

fn read(name: &str, bytes: &[u8]) -> (Vec<String>, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let format = if name.ends_with("parquet") { Format::PARQUET } else { Format::ARROW };
    let (records, failure, rejects) = read_with(&path, Some(format), true);
    let again = read_with(&path, Some(format), false);
    assert_eq!(again, (records.clone(), failure.clone(), rejects), "{name}");
    assert!(failure.is_empty() || failure.contains(name), "{failure}");
    assert_eq!(rejects, 0, "{name}: {failure}");
    (records, failure)
}

#[track_caller]
fn reads(name: &str, bytes: &[u8]) -> Vec<String> {
    let (records, failure) = read(name, bytes);
    assert_eq!(failure, "", "{name}");
    records
}

#[track_caller]
fn fails(what: &str, name: &str, bytes: &[u8], why: &str) {
    let (_, failure) = read(name, bytes);
    assert!(failure.contains(why), "{what}: `{failure}`, not `{why}`");
}

const ROWS: usize = 40;

/// Positions, and scores of which some are missing.
fn base() -> RecordBatch {
    let batch = sample_batch(ROWS);
    let fens = (0..ROWS).map(|row| batch.position(row).unwrap().to_string());
    let fens: ArrayRef = Arc::new(StringArray::from_iter_values(fens));
    let scores = (0..ROWS as i16).map(|row| (row % 3 > 0).then_some(7 * row));
    let scores: ArrayRef = Arc::new(Int16Array::from_iter(scores));
    let columns = [("fen", fens, false), ("score", scores, true)];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

// Parquet.

/// A value of Thrift's compact protocol.
#[derive(Clone, Debug, PartialEq)]
enum Thrift {
    Flag(bool),
    /// With its type.
    Int(u8, i64),
    Double([u8; 8]),
    Bytes(Vec<u8>),
    /// With the type of the elements.
    List(u8, Vec<Thrift>),
    Struct(Vec<(i64, Thrift)>),
    /// Bytes that are no value.
    Raw(Vec<u8>),
}

impl Thrift {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
        let (taken, rest) = bytes.split_at(len);
        *bytes = rest;
        taken
    }
    fn read(kind: u8, bytes: &mut &[u8]) -> Self {
        match kind {
            1 | 2 => Self::Flag(kind == 1),
            3 => Self::Int(3, Self::take(bytes, 1)[0].into()),
            4..=6 => {
                let value = Self::varint(bytes);
                Self::Int(kind, (value >> 1) as i64 ^ -((value & 1) as i64))
            }
            7 => Self::Double(Self::take(bytes, 8).try_into().unwrap()),
            8 => {
                let len = Self::varint(bytes) as usize;
                Self::Bytes(Self::take(bytes, len).to_vec())
            }
            9 => {
                let head = Self::take(bytes, 1)[0];
                let len = match head >> 4 {
                    15 => Self::varint(bytes),
                    len => len.into(),
                };
                let element = |_| match head & 15 {
                    1 | 2 => Self::Flag(Self::take(bytes, 1)[0] == 1),
                    kind => Self::read(kind, bytes),
                };
                Self::List(head & 15, (0..len).map(element).collect())
            }
            12 => {
                let mut fields = Vec::new();
                let mut id = 0;
                loop {
                    let head = Self::take(bytes, 1)[0];
                    if head == 0 {
                        return Self::Struct(fields);
                    }
                    id = match head >> 4 {
                        0 => {
                            let value = Self::varint(bytes);
                            (value >> 1) as i64
                        }
                        more => id + i64::from(more),
                    };
                    fields.push((id, Self::read(head & 15, bytes)));
                }
            }
            kind => panic!("type {kind}"),
        }
    }
    fn put_varint(mut value: u64, out: &mut Vec<u8>) {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }
    fn kind(&self) -> u8 {
        match self {
            Self::Flag(flag) => 2 - u8::from(*flag),
            Self::Int(kind, _) => *kind,
            Self::Double(_) => 7,
            Self::Bytes(_) => 8,
            Self::List(..) => 9,
            Self::Struct(_) => 12,
            Self::Raw(_) => panic!("no value"),
        }
    }
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Flag(_) => {}
            Self::Int(3, value) => out.push(*value as u8),
            Self::Int(_, value) => Self::put_varint((value << 1 ^ value >> 63) as u64, out),
            Self::Double(bytes) => out.extend(bytes),
            Self::Raw(bytes) => out.extend(bytes),
            Self::Bytes(bytes) => {
                Self::put_varint(bytes.len() as u64, out);
                out.extend(bytes);
            }
            Self::List(kind, values) => {
                out.push(0xF0 | kind);
                Self::put_varint(values.len() as u64, out);
                for value in values {
                    match value {
                        Self::Flag(flag) => out.push(2 - u8::from(*flag)),
                        value => value.write(out),
                    }
                }
            }
            Self::Struct(fields) => {
                let mut last = 0;
                for (id, value) in fields {
                    out.push(((id - last) as u8) << 4 | value.kind());
                    value.write(out);
                    last = *id;
                }
                out.push(0);
            }
        }
    }
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
    /// What is here: numbers of fields, and of elements.
    fn get(&mut self, path: &[i64]) -> &mut Self {
        let Some((&first, rest)) = path.split_first() else {
            return self;
        };
        match self {
            Self::List(_, values) => values[first as usize].get(rest),
            Self::Struct(fields) => {
                let field = fields.iter_mut().find(|(id, _)| *id == first);
                field.expect("such a field").1.get(rest)
            }
            other => panic!("nothing in {other:?}"),
        }
    }
    fn number(&mut self, path: &[i64]) -> i64 {
        match self.get(path) {
            Self::Int(_, value) => *value,
            other => panic!("{other:?}"),
        }
    }
    fn set(&mut self, path: &[i64], number: i64) {
        match self.get(path) {
            Self::Int(_, value) => *value = number,
            other => panic!("{other:?}"),
        }
    }
    /// Sets a number of a structure that may lack it.
    fn insert(&mut self, id: i64, kind: u8, number: i64) {
        self.remove(id);
        let Self::Struct(fields) = self else { panic!("no structure") };
        let at = fields.partition_point(|&(other, _)| other < id);
        fields.insert(at, (id, Self::Int(kind, number)));
    }
    fn remove(&mut self, id: i64) {
        let Self::Struct(fields) = self else { panic!("no structure") };
        fields.retain(|&(other, _)| other != id);
    }
    fn has(&self, id: i64) -> bool {
        match self {
            Self::Struct(fields) => fields.iter().any(|&(other, _)| other == id),
            _ => false,
        }
    }
    fn list(&mut self, path: &[i64]) -> &mut Vec<Self> {
        match self.get(path) {
            Self::List(_, values) => values,
            other => panic!("{other:?}"),
        }
    }
}

/// A page: its header, and its content as it is in the file.
type Page = (Thrift, Vec<u8>);

/// A Parquet file in parts.
#[derive(Clone)]
struct Parquet {
    /// By row group and column.
    pages: Vec<Vec<Vec<Page>>>,
    metadata: Thrift,
    /// A change of the metadata after the places of all pages have been put in.
    last: fn(&mut Thrift),
    /// Whether pages get the right checksums.
    has_checksums: bool,
}

// Fields of the metadata.
const ROWS_OF_FILE: i64 = 3;
const GROUPS: i64 = 4;
const WRITER: i64 = 6;
const COLUMNS: i64 = 1;
const ROWS_OF_GROUP: i64 = 3;
const METADATA: i64 = 3;
const CODEC: i64 = 4;
const COMPRESSED: i64 = 7;
const DATA_PLACE: i64 = 9;
const DICTIONARY_PLACE: i64 = 11;
// Fields of page headers.
const KIND: i64 = 1;
const UNPACKED: i64 = 2;
const PACKED: i64 = 3;
const CRC: i64 = 4;
const DATA: i64 = 5;
const DICTIONARY: i64 = 7;
const DATA_V2: i64 = 8;
const VALUES: i64 = 1;
const ENCODING: i64 = 2;

impl Parquet {
    fn of(batch: &RecordBatch, properties: WriterPropertiesBuilder) -> Self {
        let mut bytes = Vec::new();
        let properties = properties
            .set_max_row_group_row_count(Some(ROWS / 2))
            .set_data_page_row_count_limit(ROWS / 4)
            .set_write_batch_size(ROWS / 4)
            .build();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties));
        let writer_mut = writer.as_mut().unwrap();
        writer_mut.write(batch).unwrap();
        writer.unwrap().close().unwrap();
        Self::split(&bytes)
    }

    fn split(bytes: &[u8]) -> Self {
        let (rest, end) = bytes.split_at(bytes.len() - 8);
        let len = u32::from_le_bytes(end[..4].try_into().unwrap()) as usize;
        let mut metadata = Thrift::read(12, &mut &rest[rest.len() - len..]);
        let mut pages = Vec::new();
        for group in metadata.list(&[GROUPS]) {
            let mut columns = Vec::new();
            for column in group.list(&[COLUMNS]) {
                let column = column.get(&[METADATA]);
                let start = if column.has(DICTIONARY_PLACE) {
                    column.number(&[DICTIONARY_PLACE])
                } else {
                    column.number(&[DATA_PLACE])
                } as usize;
                let len = column.number(&[COMPRESSED]) as usize;
                let mut rest = &bytes[start..start + len];
                let mut pages = Vec::new();
                while !rest.is_empty() {
                    let mut header = Thrift::read(12, &mut rest);
                    let len = header.number(&[PACKED]) as usize;
                    pages.push((header, Thrift::take(&mut rest, len).to_vec()));
                }
                columns.push(pages);
            }
            pages.push(columns);
        }
        Self { pages, metadata, last: |_| {}, has_checksums: true }
    }

    fn bytes(mut self) -> Vec<u8> {
        let mut out = b"PAR1".to_vec();
        for (group, columns) in self.pages.iter_mut().enumerate() {
            for (column, pages) in columns.iter_mut().enumerate() {
                let path = [GROUPS, group as i64, COLUMNS, column as i64, METADATA];
                let metadata = self.metadata.get(&path);
                let start = out.len();
                metadata.remove(DICTIONARY_PLACE);
                for (number, (header, content)) in pages.iter_mut().enumerate() {
                    let place = out.len() as i64;
                    let is_dictionary = match &mut *header {
                        Thrift::Raw(_) => false,
                        header => {
                            let crc = crc32fast::hash(content) as i32;
                            if self.has_checksums {
                                header.insert(CRC, 5, crc.into());
                            }
                            header.number(&[KIND]) == 2
                        }
                    };
                    match (number, is_dictionary) {
                        (0, true) => metadata.insert(DICTIONARY_PLACE, 6, place),
                        (0, _) => metadata.set(&[DATA_PLACE], place),
                        (1, _) if metadata.has(DICTIONARY_PLACE) => {
                            metadata.set(&[DATA_PLACE], place);
                        }
                        _ => {}
                    }
                    out.extend(header.bytes());
                    out.extend(&*content);
                }
                metadata.set(&[COMPRESSED], (out.len() - start) as i64);
            }
        }
        (self.last)(&mut self.metadata);
        let metadata = self.metadata.bytes();
        out.extend(&metadata);
        out.extend((metadata.len() as u32).to_le_bytes());
        out.extend(b"PAR1");
        out
    }
}

fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

fn plain() -> Parquet {
    Parquet::of(&base(), properties().set_dictionary_enabled(false))
}

fn version_2() -> Parquet {
    let properties = properties()
        .set_dictionary_enabled(false)
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_encoding(Encoding::PLAIN);
    Parquet::of(&base(), properties)
}

fn dictionaries() -> Parquet {
    Parquet::of(&base(), properties())
}

fn gzip() -> Parquet {
    let properties = properties().set_dictionary_enabled(false).set_compression(Compression::GZIP(Default::default()));
    Parquet::of(&base(), properties)
}

/// The first page of positions.
fn page(file: &mut Parquet) -> &mut Page {
    &mut file.pages[0][0][0]
}

/// A case: its name, a file, the change, and a part of the message.
type Case = (&'static str, fn() -> Parquet, fn(&mut Parquet), &'static str);

fn parquet_cases() -> Vec<Case> {
    vec![
        // The metadata.
        (
            "a row group of less than no rows",
            plain,
            |file| file.last = |metadata| metadata.set(&[GROUPS, 0, ROWS_OF_GROUP], -1),
            "the number of rows is impossible",
        ),
        (
            "more rows than can be counted",
            plain,
            |file| {
                file.last = |metadata| {
                    for group in 0..2 {
                        metadata.set(&[GROUPS, group, ROWS_OF_GROUP], i64::MAX);
                    }
                    let group = metadata.get(&[GROUPS, 1]).clone();
                    metadata.list(&[GROUPS]).push(group);
                };
            },
            "the number of rows is impossible",
        ),
        (
            "another number of rows in the file",
            plain,
            |file| file.last = |metadata| metadata.set(&[ROWS_OF_FILE], ROWS as i64 - 1),
            "the row groups have another number of rows than the file",
        ),
        (
            "less than no rows in the file",
            plain,
            |file| file.last = |metadata| metadata.set(&[ROWS_OF_FILE], -1),
            "the row groups have another number of rows than the file",
        ),
        (
            "a row group without a column",
            plain,
            |file| {
                file.last = |metadata| {
                    metadata.list(&[GROUPS, 1, COLUMNS]).pop();
                };
            },
            "olumn",
        ),
        (
            "more row groups than there are numbers",
            plain,
            |file| {
                file.last = |metadata| {
                    *metadata.list(&[GROUPS]) = vec![Thrift::Struct(Vec::new()); (1 << 15) + 1];
                };
            },
            "the metadata cannot be read",
        ),
        ("metadata without a schema", plain, |file| file.last = |metadata| metadata.remove(2), "the metadata: "),
        (
            "a column that ends beyond the file",
            plain,
            |file| {
                file.last = |metadata| {
                    metadata.set(&[GROUPS, 1, COLUMNS, 0, METADATA, COMPRESSED], 1 << 20);
                };
            },
            "row group 1, column `fen`: it is beyond the end of the file",
        ),
        (
            "a column before the file",
            plain,
            |file| {
                file.last = |metadata| {
                    metadata.set(&[GROUPS, 0, COLUMNS, 1, METADATA, DATA_PLACE], -4);
                };
            },
            "row group 0, column `score`: it is beyond the end of the file",
        ),
        (
            "a column whose end wraps",
            plain,
            |file| {
                file.last = |metadata| {
                    let place = [GROUPS, 0, COLUMNS, 0, METADATA, DATA_PLACE];
                    metadata.set(&place, i64::MAX);
                    metadata.set(&[GROUPS, 0, COLUMNS, 0, METADATA, COMPRESSED], i64::MAX);
                };
            },
            "it is beyond the end of the file",
        ),
        (
            "a column of a negative length",
            plain,
            |file| {
                file.last = |metadata| {
                    metadata.set(&[GROUPS, 0, COLUMNS, 0, METADATA, COMPRESSED], -1);
                };
            },
            "it is beyond the end of the file",
        ),
        (
            "a long page in the old form of LZ4",
            plain,
            |file| {
                let (header, content) = page(file);
                content.resize((4 << 20) + 1, 0);
                header.set(&[PACKED], content.len() as i64);
                header.set(&[UNPACKED], content.len() as i64);
                file.last = |metadata| metadata.set(&[GROUPS, 0, COLUMNS, 0, METADATA, CODEC], 5);
            },
            "a page in the old form of LZ4 is too long",
        ),
        // Headers of pages.
        (
            "a page of negative size",
            plain,
            |file| page(file).0.set(&[PACKED], -1),
            "the page header has a negative size",
        ),
        (
            "a page that unpacks to less than nothing",
            plain,
            |file| page(file).0.set(&[UNPACKED], -1),
            "the page header has a negative size",
        ),
        (
            "a page that is longer than its column",
            plain,
            |file| {
                let (header, content) = &mut file.pages[0][0].last_mut().unwrap();
                header.set(&[PACKED], content.len() as i64 + 1);
            },
            "the page header claims more bytes than the column has",
        ),
        (
            "a page of more than a gigabyte",
            plain,
            |file| page(file).0.set(&[UNPACKED], (1 << 30) + 1),
            "a page has 1073741825 bytes after decompression",
        ),
        (
            "a page of less than no values",
            plain,
            |file| page(file).0.set(&[DATA, VALUES], -1),
            "the page header has a negative number of values",
        ),
        (
            "a dictionary of less than no values",
            dictionaries,
            |file| page(file).0.set(&[DICTIONARY, VALUES], -1),
            "the page header has a negative number of values",
        ),
        (
            "other rows than values",
            version_2,
            |file| page(file).0.set(&[DATA_V2, 3], 9),
            "the page header has another number of rows than of values",
        ),
        (
            "levels beyond the page",
            version_2,
            |file| page(file).0.set(&[DATA_V2, 5], 1 << 20),
            "the page header has levels that are longer than the page",
        ),
        (
            "negative levels",
            version_2,
            |file| page(file).0.set(&[DATA_V2, 6], -1),
            "the page header has levels that are longer than the page",
        ),
        (
            "two dictionaries",
            dictionaries,
            |file| {
                let again = page(file).clone();
                file.pages[0][0].insert(1, again);
            },
            "the page header is that of a second dictionary",
        ),
        (
            "a dictionary behind the values",
            dictionaries,
            |file| {
                let again = page(file).clone();
                file.pages[0][0].push(again);
            },
            "the page header is that of a second dictionary",
        ),
        (
            "a dictionary of more values than bytes",
            dictionaries,
            |file| page(file).0.set(&[DICTIONARY, VALUES], 1 << 20),
            "the page header claims more values than the dictionary has",
        ),
        (
            "a page of an unknown kind",
            plain,
            |file| page(file).0.set(&[KIND], 4),
            "the page header is of an unknown kind",
        ),
        (
            "a page too few",
            plain,
            |file| drop(file.pages[0][0].pop()),
            "the pages have 10 rows, and the metadata has 20",
        ),
        (
            "a page too many",
            plain,
            |file| {
                let again = page(file).clone();
                file.pages[0][0].push(again);
            },
            "the pages have 30 rows, and the metadata has 20",
        ),
        ("no dictionary", dictionaries, |file| drop(file.pages[0][0].remove(0)), "a dictionary is missing"),
        ("an empty header", plain, |file| page(file).0 = Thrift::Raw(vec![0]), "the page header has a negative size"),
        (
            "a header that does not end",
            plain,
            |file| {
                // A text that is longer than the column.
                let text = [&[0x18][..], &[0xFF; 4], &[7]].concat();
                file.pages[0][0] = vec![(Thrift::Raw(text), Vec::new())];
            },
            "there is no page header",
        ),
        (
            "headers in each other, deeper than is followed",
            plain,
            |file| page(file).0 = Thrift::Raw(vec![0x9C; 2000]),
            "there is no page header",
        ),
        // What is in pages.
        (
            "a page of fewer values than it claims",
            plain,
            |file| {
                let pages = &mut file.pages[0][0];
                pages[0].0.set(&[DATA, VALUES], 12);
                pages[1].0.set(&[DATA, VALUES], 8);
            },
            "row group 0, column `fen`: ",
        ),
        (
            "a page that ends within a value",
            plain,
            |file| {
                let (header, content) = page(file);
                content.pop();
                header.set(&[PACKED], content.len() as i64);
                header.set(&[UNPACKED], content.len() as i64);
            },
            "row group 0, column `fen`: ",
        ),
        (
            "codes beyond the dictionary",
            dictionaries,
            |file| {
                // Two texts in place of all.
                let (header, content) = page(file);
                let text = |text: &[u8]| [&(text.len() as u32).to_le_bytes()[..], text].concat();
                *content = [text(b"8/8/8/8/8/8/8/8 w - - 0 1"), text(b"x")].concat();
                header.set(&[DICTIONARY, VALUES], 2);
                header.set(&[PACKED], content.len() as i64);
                header.set(&[UNPACKED], content.len() as i64);
            },
            "row group 0, column `fen`: ",
        ),
        (
            "a page of fewer levels than values",
            plain,
            |file| {
                // Five scores, where there should be ten.
                let (header, content) = file.pages[0][1].last_mut().unwrap();
                *content = [&[2, 0, 0, 0, 5 << 1, 1][..], &[0; 20]].concat();
                header.set(&[PACKED], content.len() as i64);
                header.set(&[UNPACKED], content.len() as i64);
            },
            "row group 0, column `score`: ",
        ),
        ("an unknown encoding", plain, |file| page(file).0.set(&[DATA, ENCODING], 77), "row group 0, column `fen`: "),
        (
            "a gzip page that unpacks to more",
            gzip,
            |file| {
                let (header, _) = page(file);
                let unpacked = header.number(&[UNPACKED]);
                header.set(&[UNPACKED], unpacked - 1);
            },
            "it has another size than its header says",
        ),
        (
            "a gzip page that unpacks to less",
            gzip,
            |file| {
                let (header, _) = page(file);
                let unpacked = header.number(&[UNPACKED]);
                header.set(&[UNPACKED], unpacked + 1);
            },
            "it has another size than its header says",
        ),
        (
            "a gzip page that is cut",
            gzip,
            |file| {
                let (header, content) = page(file);
                content.truncate(content.len() - 9);
                header.set(&[PACKED], content.len() as i64);
            },
            "row group 0, column `fen`: ",
        ),
    ]
}

#[test]
fn each_check_of_parquet_finds_its_file() {
    let expected = lines_of_base();
    for good in [plain, version_2, dictionaries, gzip] {
        assert_eq!(reads("x.parquet", &good().bytes()), expected);
    }
    for (what, file, change, why) in parquet_cases() {
        let mut file = file();
        change(&mut file);
        let (_, failure) = read("x.parquet", &file.bytes());
        assert!(!failure.is_empty() && failure.contains(why), "{what}: `{failure}`, not `{why}`");
    }
}

fn lines_of_base() -> Vec<String> {
    let batch = base();
    let fens = batch.column(0).as_any().downcast_ref::<StringArray>().unwrap().iter().enumerate();
    fens.map(|(row, fen)| match row % 3 {
        0 => fen.unwrap().to_owned(),
        _ => format!("{} score={}", fen.unwrap(), 7 * row),
    })
    .collect()
}

#[test]
fn pages_that_do_not_match_their_checksums() {
    for (name, file) in [
        ("data page", plain as fn() -> Parquet),
        ("data page of version 2", version_2),
        ("dictionary", dictionaries),
        ("gzip", gzip),
    ] {
        // A bit of a text, which without checksums would be another one.
        let mut file = file();
        file = Parquet::split(&file.bytes());
        file.has_checksums = false;
        let (_, content) = page(&mut file);
        let last = content.len() - 1;
        content[last] ^= 1;
        fails(name, "x.parquet", &file.clone().bytes(), "column `fen`: ");
        let (_, failure) = read("x.parquet", &file.clone().bytes());
        assert!(failure.to_lowercase().contains("crc"), "{name}: {failure}");
        // The second page of the codes of a dictionary, or of plain values.
        content_of_second(&mut file);
    }
}

fn content_of_second(file: &mut Parquet) {
    let (_, content) = page(file);
    let last = content.len() - 1;
    content[last] ^= 1;
    let (_, content) = &mut file.pages[0][0][1];
    let last = content.len() - 1;
    content[last] ^= 1;
    fails("second page", "x.parquet", &file.clone().bytes(), "column `fen`: ");
}

#[test]
fn ends_of_parquet_files() {
    let good = plain().bytes();
    let with_len = |len: u32| {
        let mut bytes = good.clone();
        let at = bytes.len() - 8;
        bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
        bytes
    };
    for (bytes, why) in [
        (b"PAR1PAR1".to_vec(), "too short for a Parquet file"),
        ([b"QAR1", &good[4..]].concat(), "it does not begin with PAR1"),
        (good[..good.len() - 1].to_vec(), "the footer is missing"),
        ([&good[..], b"x"].concat(), "the footer is missing: the file is truncated, or something was appended"),
        (with_len(good.len() as u32 - 11), "the footer claims more metadata than the file has"),
        (with_len(5), "the metadata cannot be read"),
    ] {
        fails(why, "x.parquet", &bytes, why);
    }
    // A file with a hole.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let mut file = std::fs::File::create(&path).unwrap();
    let len = (512u64 << 20) + 1;
    let end = [&(len as u32).to_le_bytes()[..], b"PAR1"].concat();
    std::io::Write::write_all(&mut file, b"PAR1").unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(4 + len)).unwrap();
    std::io::Write::write_all(&mut file, &end).unwrap();
    let (_, failure, _) = read_with(&path, None, true);
    assert!(failure.contains("the metadata are longer than 512 MiB"), "{failure}");
}

fn lanefish(arguments: &[&str]) -> std::process::Output {
    let mut command = assert_cmd::Command::cargo_bin("lanefish").unwrap();
    command.args(arguments).output().unwrap()
}

/// A table of ours, as the program writes it.
fn ours(name: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample.boards");
    let (sample, out) = (sample.to_str().unwrap(), path.to_str().unwrap());
    let done = lanefish(&["convert", "--limit", "100", sample, "-o", out]);
    assert!(done.status.success(), "{done:?}");
    std::fs::read(path).unwrap()
}

/// All places of some bytes.
fn places(bytes: &[u8], of: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(of.len()).enumerate();
    windows.filter(|(_, window)| *window == of).map(|(at, _)| at).collect()
}

#[test]
fn a_flipped_name_in_a_parquet_file_of_ours_is_found() {
    let bytes = ours("x.parquet");
    let records = reads("x.parquet", &bytes);
    let why = "the metadata do not match their checksum";
    let mut flipped = 0;
    for at in places(&bytes, b"halfmove") {
        let mut bytes = bytes.clone();
        bytes[at] ^= 8;
        let (found, failure) = read("x.parquet", &bytes);
        // The schema for other programs, which is not read, has it as well.
        if failure.is_empty() {
            assert_eq!(found, records);
        } else {
            assert!(failure.contains(why), "{failure}");
            flipped += 1;
        }
    }
    assert!(flipped > 0);
    // Any number of the metadata.
    for change in [
        (|metadata| metadata.set(&[GROUPS, 0, COLUMNS, 1, METADATA, DATA_PLACE], 4)) as fn(&mut Thrift),
        |metadata| metadata.set(&[GROUPS, 0, COLUMNS, 1, METADATA, COMPRESSED], 4),
        |metadata| metadata.set(&[GROUPS, 0, COLUMNS, 1, METADATA, DICTIONARY_PLACE], 5),
        |metadata| metadata.set(&[GROUPS, 0, COLUMNS, 1, METADATA, 5], 99),
        |metadata| metadata.set(&[GROUPS, 0, COLUMNS, 1, METADATA, CODEC], 0),
        |metadata| metadata.list(&[GROUPS, 0, COLUMNS]).swap(1, 2),
        // A number of another size.
        |metadata| metadata.set(&[2, 2, 1], 2),
    ] {
        let mut file = Parquet::split(&bytes);
        change(&mut file.metadata);
        let mut out = bytes.clone();
        let len = u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap());
        out.truncate(out.len() - 8 - len as usize);
        let metadata = file.metadata.bytes();
        out.extend(&metadata);
        out.extend((metadata.len() as u32).to_le_bytes());
        out.extend(b"PAR1");
        let (_, failure) = read("x.parquet", &out);
        assert!(!failure.is_empty());
    }
    // A program that writes the file again says so, and may leave out columns.
    let mut file = Parquet::split(&bytes);
    *file.metadata.get(&[WRITER]) = Thrift::Bytes(b"another program".to_vec());
    assert_eq!(reads("x.parquet", &file.clone().bytes()), records);
    file.pages[0].remove(1);
    file.metadata.list(&[GROUPS, 0, COLUMNS]).remove(1);
    file.metadata.list(&[2]).remove(2);
    file.metadata.list(&[7]).remove(1);
    let columns = file.metadata.number(&[2, 0, 5]);
    file.metadata.set(&[2, 0, 5], columns - 1);
    assert_eq!(reads("x.parquet", &file.bytes()).len(), records.len());
}

#[test]
fn a_flipped_name_in_an_arrow_file_of_ours_is_found() {
    for name in ["x.arrow", "x.arrows"] {
        let bytes = ours(name);
        let records = reads(name, &bytes);
        let names = places(&bytes, b"halfmove\0");
        // The footer has the schema again.
        assert_eq!(names.len(), if name == "x.arrow" { 2 } else { 1 });
        for at in &names {
            let mut bytes = bytes.clone();
            bytes[*at] ^= 8;
            let (_, failure) = read(name, &bytes);
            let why = match name {
                "x.arrow" => "the footer has other columns than the beginning of the file",
                _ => "are not those with which lanefish wrote it",
            };
            assert!(failure.contains(why), "{failure}");
        }
        // Both, as a program does that keeps our metadata.
        let mut renamed = bytes.clone();
        for at in names {
            renamed[at] ^= 8;
        }
        let why = "another program has changed them and kept the metadata `lanefish.columns`";
        fails(name, name, &renamed, why);
        // Without them, it is read as it stands.
        for at in places(&renamed, b"lanefish.columns") {
            renamed[at] = b'x';
        }
        assert_eq!(reads(name, &renamed).len(), records.len());
    }
}

/// What other programs make of our files is not held to what we wrote, as far as it can be told apart.
#[test]
fn files_of_ours_that_another_program_wrote_again() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["o.parquet", "o.arrow"] {
        std::fs::write(directory.path().join(name), ours(name)).unwrap();
    }
    let script = r#"
try: import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather, pyarrow.ipc as ipc
except ImportError: raise SystemExit(3)
for table, of in [(pq.read_table("o.parquet"), "p"), (ipc.open_file("o.arrow").read_all(), "a")]:
    names = table.column_names
    some = table.drop_columns(["fullmove"])
    other = some.append_column("more", pa.array(range(table.num_rows)))
    for name, made in [("whole", table), ("some", some), ("other", other), ("order", table.select(names[::-1]))]:
        pq.write_table(made, f"{name}-{of}.parquet")
        feather.write_feather(made, f"{name}-{of}.arrow")
        with ipc.new_stream(f"{name}-{of}.arrows", made.schema) as out: out.write_table(made, 30)
types = [field.with_type(pa.int32()) if field.name == "halfmove" else field for field in table.schema]
feather.write_feather(table.cast(pa.schema(types, metadata=table.schema.metadata)), "cast.arrow")
"#;
    let python = std::env::var_os("LANEFISH_PYTHON").unwrap_or_else(|| "python3".into());
    let output = std::process::Command::new(python).args(["-c", script]).current_dir(directory.path()).output();
    let Ok(output) = output else {
        return crate::support::skipped("python3 is missing");
    };
    if output.status.code() == Some(3) {
        return crate::support::skipped("python3 has no pyarrow");
    }
    assert!(output.status.success(), "{output:?}");
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        let (records, failure, _) = read_with(&path, None, true);
        if path.ends_with("cast.arrow") {
            assert!(failure.contains("kept the metadata `lanefish.columns`"));
        } else {
            let found = (records.len(), failure);
            assert_eq!(found, (100, String::new()), "{}", path.display());
        }
    }
}

/// One bit of a file of ours, in a thousand places.
#[test]
fn flipped_bits_of_a_parquet_file_of_ours_change_no_record() {
    let bytes = ours("x.parquet");
    let records = reads("x.parquet", &bytes);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let mut random = crate::support::Random::new(7);
    let mut failed = 0;
    for _ in 0..1000 {
        let bit = random.below(8 * bytes.len() as u64) as usize;
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, flipped).unwrap();
        let (found, failure, rejects) = read_with(&path, Some(Format::PARQUET), true);
        failed += usize::from(!failure.is_empty());
        assert!(!failure.is_empty() || found == records && rejects == 0, "byte {}, bit {}", bit / 8, bit % 8);
    }
    assert!(failed > 250, "{failed}");
}

// Arrow.

/// Sets a number of this width.
fn set(bytes: &mut [u8], at: usize, len: usize, number: i64) {
    bytes[at..at + len].copy_from_slice(&number.to_le_bytes()[..len]);
}

fn number(bytes: &[u8], at: usize, len: usize) -> i64 {
    let mut number = [0; 8];
    number[..len].copy_from_slice(&bytes[at..at + len]);
    i64::from_le_bytes(number)
}

/// The table at the root of a flatbuffer.
fn root(bytes: &[u8]) -> usize {
    number(bytes, 0, 4) as usize
}

/// The place of a field of a table, if it is there.
fn field(bytes: &[u8], table: usize, field: usize) -> Option<usize> {
    let distances = (table as i64 - i64::from(number(bytes, table, 4) as i32)) as usize;
    let len = number(bytes, distances, 2) as usize;
    let at = 4 + 2 * field;
    let distance = (at < len).then(|| number(bytes, distances + at, 2) as usize)?;
    (distance > 0).then_some(table + distance)
}

/// What a field refers to.
fn target(bytes: &[u8], table: usize, at: usize) -> usize {
    let place = field(bytes, table, at).expect("such a field");
    place + number(bytes, place, 4) as usize
}

/// Without a field: it has its default.
fn without(bytes: &mut [u8], table: usize, at: usize) {
    let distances = (table as i64 - i64::from(number(bytes, table, 4) as i32)) as usize;
    set(bytes, distances + 4 + 2 * at, 2, 0);
}

/// Adds a field of a byte or two that has its default: the list of places is written anew, with the value before it.
fn add(bytes: &mut Vec<u8>, table: usize, at: usize, value: u8) {
    let distances = (table as i64 - i64::from(number(bytes, table, 4) as i32)) as usize;
    let len = number(bytes, distances, 2) as usize;
    let mut places = bytes[distances..distances + len].to_vec();
    places.resize(len.max(6 + 2 * at), 0);
    let new_len = places.len() as i64;
    set(&mut places, 0, 2, new_len);
    set(&mut places, 4 + 2 * at, 2, (bytes.len() - table) as i64);
    bytes.extend([value, 0, 0, 0, 0, 0, 0, 0]);
    let new = bytes.len();
    places.resize(places.len().next_multiple_of(8), 0);
    bytes.extend(places);
    set(bytes, table, 4, table as i64 - new as i64);
}

// Fields of a message, a batch of rows, a batch of a dictionary.
const MESSAGE_KIND: usize = 1;
const MESSAGE_HEADER: usize = 2;
const MESSAGE_BODY: usize = 3;
const BATCH_ROWS: usize = 0;
const BATCH_NODES: usize = 1;
const BATCH_BUFFERS: usize = 2;
const DICTIONARY_ID: usize = 0;
const DICTIONARY_IS_MORE: usize = 2;

/// A message: its description as a flatbuffer, and its body.
type Message = (Vec<u8>, Vec<u8>);

const END: [u8; 8] = [255, 255, 255, 255, 0, 0, 0, 0];

fn split(mut bytes: &[u8]) -> Vec<Message> {
    let mut messages = Vec::new();
    while bytes != END {
        let len = number(bytes, 4, 4) as usize;
        let head = bytes[8..8 + len].to_vec();
        let body = field(&head, root(&head), MESSAGE_BODY).map_or(0, |at| number(&head, at, 8)) as usize;
        bytes = &bytes[8 + len..];
        messages.push((head, bytes[..body].to_vec()));
        bytes = &bytes[body..];
    }
    messages
}

fn joined(messages: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (head, body) in messages {
        bytes.extend([255; 4]);
        bytes.extend((head.len() as u32).to_le_bytes());
        bytes.extend(head);
        bytes.extend(body);
    }
    bytes.extend(END);
    bytes
}

fn stream_of(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    let schema = batches[0].schema();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &schema, options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn file_of(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new(&mut bytes, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn halves() -> [RecordBatch; 2] {
    let batch = base();
    [batch.slice(0, ROWS / 2), batch.slice(ROWS / 2, ROWS / 2)]
}

fn plain_stream() -> Vec<Message> {
    split(&stream_of(&halves(), None))
}

fn packed_stream() -> Vec<Message> {
    split(&stream_of(&halves(), Some(CompressionType::ZSTD)))
}

fn lz4_stream() -> Vec<Message> {
    split(&stream_of(&halves(), Some(CompressionType::LZ4_FRAME)))
}

/// Two columns with dictionaries of the same length.
fn with_dictionaries() -> Vec<RecordBatch> {
    let batch = sample_batch(8);
    let coded = |texts: &mut dyn Iterator<Item = String>| -> ArrayRef {
        let mut builder = StringDictionaryBuilder::<Int8Type>::new();
        texts.for_each(|text| builder.append_value(text));
        Arc::new(builder.finish())
    };
    let fens = coded(&mut (0..8).map(|row| batch.position(row).unwrap().to_string()));
    let others = coded(&mut (0..8).map(|row| batch.position(7 - row).unwrap().to_string()));
    vec![RecordBatch::try_from_iter([("x", others), ("fen", fens)]).unwrap()]
}

fn coded_stream() -> Vec<Message> {
    split(&stream_of(&with_dictionaries(), None))
}

/// The batch of a message.
fn batch_of(head: &[u8]) -> usize {
    let message = root(head);
    let header = target(head, message, MESSAGE_HEADER);
    match head[field(head, message, MESSAGE_KIND).unwrap()] {
        2 => target(head, header, 1),
        3 => header,
        kind => panic!("a message of kind {kind}"),
    }
}

fn set_dictionary((head, _): &mut Message, id: i64) {
    let header = target(head, root(head), MESSAGE_HEADER);
    let place = field(head, header, DICTIONARY_ID).expect("not the default");
    set(head, place, 8, id);
}

/// The place and length of a buffer, in the description.
fn buffer(head: &[u8], number: usize) -> usize {
    target(head, batch_of(head), BATCH_BUFFERS) + 4 + 16 * number
}

/// The first eight bytes of the longest buffer: its length after decompression.
fn unpacked((head, body): &mut Message) -> &mut [u8] {
    let count = number(head, target(head, batch_of(head), BATCH_BUFFERS), 4) as usize;
    let longest = (0..count).max_by_key(|&at| number(head, buffer(head, at) + 8, 8));
    let place = number(head, buffer(head, longest.unwrap()), 8) as usize;
    &mut body[place..place + 8]
}

/// A case: its name, a stream, the change, and a part of the message.
type ArrowCase = (&'static str, fn() -> Vec<Message>, fn(&mut Vec<Message>), &'static str);

fn arrow_cases() -> Vec<ArrowCase> {
    vec![
        ("no schema", plain_stream, |messages| messages.clear(), "the stream has no schema"),
        (
            "a batch in place of the schema",
            plain_stream,
            |messages| drop(messages.remove(0)),
            "the stream does not begin with a schema",
        ),
        (
            "a second schema",
            plain_stream,
            |messages| messages.push(messages[0].clone()),
            "a message is neither a batch nor a dictionary",
        ),
        ("a description that is none", plain_stream, |messages| messages[1].0.fill(0xFF), "a message cannot be read"),
        (
            "a body of negative length",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = field(head, root(head), MESSAGE_BODY).unwrap();
                set(head, place, 8, -8);
            },
            "a message has a negative length",
        ),
        (
            "a body beyond the end",
            plain_stream,
            |messages| {
                let head = &mut messages[2].0;
                let place = field(head, root(head), MESSAGE_BODY).unwrap();
                set(head, place, 8, 1 << 20);
            },
            "the content of a message is not complete",
        ),
        (
            "a batch of less than no rows",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = field(head, batch_of(head), BATCH_ROWS).unwrap();
                set(head, place, 8, -1);
            },
            "a batch has no number of rows",
        ),
        (
            "a batch of more rows than are counted",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = field(head, batch_of(head), BATCH_ROWS).unwrap();
                set(head, place, 8, 1 << 40);
            },
            "a batch has no number of rows",
        ),
        (
            "a batch without a header",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let table = root(head);
                without(head, table, MESSAGE_HEADER);
            },
            "",
        ),
        (
            "a batch of more rows than its columns",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = field(head, batch_of(head), BATCH_ROWS).unwrap();
                set(head, place, 8, ROWS as i64 / 2 + 1);
            },
            "",
        ),
        (
            "a batch of fewer rows than its columns",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = field(head, batch_of(head), BATCH_ROWS).unwrap();
                set(head, place, 8, ROWS as i64 / 2 - 1);
            },
            "record batch 0: ",
        ),
        (
            "a column of more rows than its buffer",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let nodes = target(head, batch_of(head), BATCH_NODES) + 4;
                for node in 0..2 {
                    set(head, nodes + 16 * node, 8, 1000);
                }
                let place = field(head, batch_of(head), BATCH_ROWS).unwrap();
                set(head, place, 8, 1000);
            },
            "",
        ),
        (
            "a column with an offset too few",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = buffer(head, 1);
                set(head, place + 8, 8, 4 * (ROWS as i64 / 2));
            },
            "column `fen`: its buffers have fewer than 20 rows",
        ),
        (
            "more nulls than rows",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let nodes = target(head, batch_of(head), BATCH_NODES) + 4;
                set(head, nodes + 16 + 8, 8, ROWS as i64 / 2 + 1);
            },
            "column `score`: its number of nulls is impossible",
        ),
        (
            "a buffer beyond its batch",
            plain_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = buffer(head, 2);
                set(head, place, 8, 1 << 20);
            },
            "record batch 0: ",
        ),
        (
            "a packed buffer beyond its batch",
            packed_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = buffer(head, 2);
                set(head, place, 8, 1 << 20);
            },
            "a buffer is beyond the end of its batch",
        ),
        (
            "a packed buffer whose end wraps",
            packed_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = buffer(head, 2);
                set(head, place, 8, i64::MAX);
                set(head, place + 8, 8, i64::MAX);
            },
            "a buffer is beyond the end of its batch",
        ),
        (
            "a packed buffer before its batch",
            packed_stream,
            |messages| {
                let head = &mut messages[1].0;
                let place = buffer(head, 2);
                set(head, place, 8, -8);
            },
            "a buffer is beyond the end of its batch",
        ),
        (
            "a buffer of negative size",
            packed_stream,
            |messages| set(unpacked(&mut messages[1]), 0, 8, -2),
            "a buffer has a negative size",
        ),
        (
            "a buffer of more than a gigabyte",
            packed_stream,
            |messages| set(unpacked(&mut messages[1]), 0, 8, (1 << 30) + 1),
            "a buffer has 1073741825 bytes after decompression",
        ),
        (
            "a buffer that unpacks to another size",
            packed_stream,
            |messages| set(unpacked(&mut messages[1]), 0, 8, 5),
            "record batch 0: ",
        ),
        (
            "an LZ4 buffer that unpacks to another size",
            lz4_stream,
            |messages| set(unpacked(&mut messages[1]), 0, 8, 5),
            "record batch 0: ",
        ),
        // Dictionaries: 0 is that of `x`, 1 that of `fen`.
        (
            "a dictionary of no column",
            coded_stream,
            |messages| set_dictionary(&mut messages[2], 3),
            "no column has the dictionary 3",
        ),
        (
            "the dictionary of another column",
            coded_stream,
            |messages| {
                let again = messages[2].clone();
                messages.insert(2, again);
            },
            "the dictionary 1 comes twice",
        ),
        (
            "an addition before its dictionary",
            coded_stream,
            |messages| {
                let head = &mut messages[2].0;
                let header = target(head, root(head), MESSAGE_HEADER);
                add(head, header, DICTIONARY_IS_MORE, 1);
            },
            "an addition to the dictionary 1 comes before it",
        ),
        ("no dictionary", coded_stream, |messages| drop(messages.remove(2)), "record batch 0: "),
        (
            "a dictionary without a header",
            coded_stream,
            |messages| {
                let head = &mut messages[2].0;
                let table = root(head);
                without(head, table, MESSAGE_HEADER);
            },
            "",
        ),
        (
            "a dictionary without values",
            coded_stream,
            |messages| {
                let head = &mut messages[2].0;
                let header = target(head, root(head), MESSAGE_HEADER);
                without(head, header, 1);
            },
            "a dictionary is missing",
        ),
        (
            "codes beyond the dictionary",
            coded_stream,
            |messages| {
                let (head, body) = &mut messages[3];
                let place = number(head, buffer(head, 3), 8) as usize;
                body[place] = 100;
            },
            "record batch 0: ",
        ),
    ]
}

#[test]
fn each_check_of_arrow_finds_its_stream() {
    let expected = lines_of_base();
    for good in [plain_stream, packed_stream, lz4_stream] {
        assert_eq!(reads("x.arrows", &joined(&good())), expected);
    }
    assert_eq!(reads("x.arrows", &joined(&coded_stream())).len(), 8);
    for (what, stream, change, why) in arrow_cases() {
        let mut messages = stream();
        change(&mut messages);
        let (_, failure) = read("x.arrows", &joined(&messages));
        assert!(!failure.is_empty() && failure.contains(why), "{what}: `{failure}`, not `{why}`");
    }
}

/// Columns of types that are not read, of which each has nodes and buffers of its own to be passed over.
fn neighbours() -> Vec<(&'static str, ArrayRef)> {
    use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
    use arrow_array::types::Int32Type;
    use arrow_array::*;
    use arrow_buffer::ScalarBuffer;
    use arrow_schema::{DataType, Field, UnionFields};
    let rows = || 0..ROWS as i32;
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(rows()));
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values(rows().map(|row| "long enough for a buffer ".repeat(row as usize))));
    let item = || Arc::new(Field::new("item", DataType::Int32, true));
    let lists = || rows().map(|row| Some((0..row % 4).map(Some)));
    let union = |is_dense: bool| -> ArrayRef {
        let fields = UnionFields::try_new(
            [0, 1],
            [Field::new("a", DataType::Int32, true), Field::new("b", DataType::Utf8, true)],
        )
        .unwrap();
        let kinds: ScalarBuffer<i8> = rows().map(|row| (row % 2) as i8).collect();
        let offsets: ScalarBuffer<i32> = rows().collect();
        let children = vec![Arc::clone(&numbers), Arc::clone(&texts)];
        Arc::new(UnionArray::try_new(fields, kinds, is_dense.then_some(offsets), children).unwrap())
    };
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in rows() {
        maps.keys().append_value("key");
        maps.values().append_value(row);
        maps.append(true).unwrap();
    }
    let ends = Int32Array::from_iter_values([5, 11, ROWS as i32]);
    let runs = RunArray::<Int32Type>::try_new(&ends, &StringArray::from_iter_values(["a", "b", "c"])).unwrap();
    let views = || rows().map(|row| "x".repeat(row as usize));
    vec![
        ("numbers", Arc::clone(&numbers)),
        ("texts", Arc::clone(&texts)),
        ("large texts", Arc::new(LargeStringArray::from_iter_values(views()))),
        ("views", Arc::new(StringViewArray::from_iter_values(views()))),
        ("short views", Arc::new(StringViewArray::from_iter_values(rows().map(|row| row.to_string())))),
        ("views of bytes", Arc::new(BinaryViewArray::from_iter_values(views()))),
        ("nothing", Arc::new(NullArray::new(ROWS))),
        ("truths", Arc::new(BooleanArray::from_iter(rows().map(|row| Some(row % 3 == 0))))),
        ("lists", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists()))),
        ("large lists", Arc::new(LargeListArray::from_iter_primitive::<Int32Type, _, _>(lists()))),
        (
            "lists of one length",
            Arc::new(FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
                rows().map(|row| Some([Some(row), None])),
                2,
            )),
        ),
        (
            "views of lists",
            Arc::new(
                ListViewArray::try_new(
                    item(),
                    rows().collect(),
                    rows().map(|_| 1).collect(),
                    Arc::clone(&numbers),
                    None,
                )
                .unwrap(),
            ),
        ),
        ("maps", Arc::new(maps.finish())),
        (
            "structs",
            Arc::new(StructArray::from(vec![
                (item(), Arc::clone(&numbers)),
                (Arc::new(Field::new("text", DataType::Utf8, true)), Arc::clone(&texts)),
            ])),
        ),
        ("runs", Arc::new(runs)),
        ("a sparse union", union(false)),
        ("a dense union", union(true)),
    ]
}

/// Columns that are not read may have any type, and may stand before those that are.
#[test]
fn columns_of_all_types_may_stand_beside_positions() {
    let expected = lines_of_base();
    let base = base();
    let all = neighbours();
    for (what, column) in &all {
        let columns = [("x", column), ("fen", base.column(0)), ("y", column), ("score", base.column(1))];
        let batch = RecordBatch::try_from_iter(columns.map(|(name, column)| (name, Arc::clone(column)))).unwrap();
        let batches = [batch.slice(0, ROWS / 2), batch.slice(ROWS / 2, ROWS / 2)];
        for compression in [None, Some(CompressionType::ZSTD)] {
            assert_eq!(reads("x.arrows", &stream_of(&batches, compression)), expected, "{what} {compression:?}");
        }
        assert_eq!(reads("x.arrow", &file_of(&batches)), expected, "{what}");
    }
    let names: Vec<String> = (0..all.len()).map(|number| format!("x{number}")).collect();
    let columns = all
        .iter()
        .zip(&names)
        .map(|((_, column), name)| (name.as_str(), Arc::clone(column)))
        .chain([("fen", Arc::clone(base.column(0))), ("score", Arc::clone(base.column(1)))]);
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    assert_eq!(reads("x.arrow", &file_of(&[batch])), expected);
}

#[test]
fn ends_of_streams() {
    let good = joined(&plain_stream());
    let marker = places(&good, &[255; 4]);
    let (second, last) = (marker[1], good.len() - 8);
    let mut without_marker = good.clone();
    without_marker[second] = 0;
    for (bytes, why) in [
        (b"no".to_vec(), "it begins neither with ARROW1 nor with a message"),
        (good[..last].to_vec(), "its end marker is missing"),
        (good[..last + 5].to_vec(), "a message is not complete"),
        (good[..second + 20].to_vec(), "a message is not complete"),
        (good[..last - 1].to_vec(), "the content of a message is not complete"),
        (without_marker, "there is no message where one should begin"),
        ([&good[..], b"more"].concat(), "4 bytes follow the end of the stream"),
    ] {
        fails(why, "x.arrows", &bytes, why);
    }
}

/// The place of the footer of a file.
fn footer(bytes: &[u8]) -> usize {
    let end = bytes.len() - 10;
    end - number(bytes, end, 4) as usize
}

/// The place of a batch that the footer lists.
fn listed(bytes: &[u8], at: usize) -> usize {
    let footer = footer(bytes);
    footer + target(&bytes[footer..], root(&bytes[footer..]), 3) + 4 + 24 * at
}

/// A case: its name, the change of a file, and a part of the message.
type FileCase = (&'static str, fn(&mut Vec<u8>), &'static str);

#[test]
fn each_check_of_arrow_finds_its_file() {
    let good = file_of(&halves());
    assert_eq!(reads("x.arrow", &good), lines_of_base());
    let missing = "the footer does not list the messages that the file has";
    let cases: Vec<FileCase> = vec![
        ("only the beginning", |bytes| bytes.truncate(12), "too short for an Arrow file"),
        ("no end", |bytes| bytes.truncate(bytes.len() - 1), "the footer is missing"),
        (
            "a footer of an impossible length",
            |bytes| {
                let at = bytes.len() - 10;
                set(bytes, at, 4, 1 << 20);
            },
            "the footer has an impossible length",
        ),
        (
            "a footer of a negative length",
            |bytes| {
                let at = bytes.len() - 10;
                set(bytes, at, 4, -1);
            },
            "the footer has an impossible length",
        ),
        (
            "a footer that is none",
            |bytes| {
                let at = footer(bytes);
                set(bytes, at, 4, -1);
            },
            "the footer: ",
        ),
        (
            "a footer without a schema",
            |bytes| {
                let at = footer(bytes);
                let table = root(&bytes[at..]);
                without(&mut bytes[at..], table, 1);
            },
            "there is no schema",
        ),
        (
            "a footer without batches",
            |bytes| {
                let at = footer(bytes);
                let table = root(&bytes[at..]);
                without(&mut bytes[at..], table, 3);
            },
            missing,
        ),
        (
            "a footer with one batch twice",
            |bytes| {
                let (one, other) = (listed(bytes, 0), listed(bytes, 1));
                bytes.copy_within(one..one + 24, other);
            },
            missing,
        ),
        (
            "a batch before the file",
            |bytes| {
                let at = listed(bytes, 0);
                set(bytes, at, 8, -8);
            },
            missing,
        ),
        (
            "a batch beyond the footer",
            |bytes| {
                let at = listed(bytes, 1);
                set(bytes, at + 16, 8, 1 << 20);
            },
            missing,
        ),
        (
            "a batch that is longer than the footer says",
            |bytes| {
                // Bytes that are no rows, within the padding that is allowed between messages.
                let at = listed(bytes, 1);
                let body = number(bytes, at + 16, 8);
                set(bytes, at + 16, 8, body - 8);
            },
            "a message is longer than the footer says",
        ),
        (
            "a schema in place of a batch",
            |bytes| {
                let at = listed(bytes, 0);
                let place = number(bytes, at, 8) as usize + 8;
                let table = place + root(&bytes[place..]);
                let kind = field(bytes, table, MESSAGE_KIND).unwrap();
                bytes[kind] = 1;
            },
            "",
        ),
        (
            "other columns in the footer",
            |bytes| {
                let at = footer(bytes);
                let name = at + places(&bytes[at..], b"score")[0];
                bytes[name] = b'S';
            },
            "the footer has other columns than the beginning of the file",
        ),
    ];
    for (what, change, why) in cases {
        let mut bytes = good.clone();
        change(&mut bytes);
        let (_, failure) = read("x.arrow", &bytes);
        assert!(!failure.is_empty() && failure.contains(why), "{what}: `{failure}`, not `{why}`");
    }
    // The last batch is not in the file's footer at all.
    let one = file_of(&halves()[..1]);
    let all = file_of(&halves());
    let (footer_of_one, footer_of_all) = (footer(&one), footer(&all));
    let bytes = [&all[..footer_of_all], &one[footer_of_one..]].concat();
    fails("a batch that is not listed", "x.arrow", &bytes, missing);
}

#[test]
fn big_endian_numbers_are_refused() {
    let mut messages = plain_stream();
    let head = &mut messages[0].0;
    let schema = target(head, root(head), MESSAGE_HEADER);
    add(head, schema, 0, 1);
    fails("order of bytes", "x.arrows", &joined(&messages), "its numbers are big-endian");
}

/// One bit in the number of a dictionary: the positions of another column.
#[test]
fn dictionaries_of_other_columns_in_the_regressions() {
    for name in ["dict_ok.arrow", "dict_ok.arrows", "dict_flip0.arrow", "dict_flip0.arrows"] {
        let Some(path) = crate::support::shared_data(&format!("regressions/tables3/{name}")) else {
            return;
        };
        let (records, failure) = read(name, &std::fs::read(path).unwrap());
        if name.starts_with("dict_ok") {
            assert!(failure.is_empty() && records.len() == 2, "{failure}");
        } else {
            assert!(failure.contains("the dictionary 1 comes twice"), "{failure}");
        }
    }
}

/// The same in each dictionary of the schema and the batches.
#[test]
fn no_bit_of_the_number_of_a_dictionary_changes_the_positions() {
    let good = with_dictionaries();
    for (name, bytes) in [("x.arrows", stream_of(&good, None)), ("x.arrow", file_of(&good))] {
        let records = reads(name, &bytes);
        assert_eq!(records.len(), good[0].column(0).len());
        let mut failed = 0;
        for bit in 0..8 * bytes.len() {
            // Only where a number is small, as those of dictionaries are.
            if bytes[bit / 8] > 1 || bit % 8 > 1 {
                continue;
            }
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(name);
            std::fs::write(&path, flipped).unwrap();
            let (found, failure, rejects) = read_with(&path, Some(Format::ARROW), true);
            failed += usize::from(!failure.is_empty());
            let others: Vec<String> = records.iter().rev().cloned().collect();
            assert!(found != others || !failure.is_empty() || rejects > 0, "{name}: bit {bit}");
        }
        assert!(failed > 10, "{failed}");
    }
}
