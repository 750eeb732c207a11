//! Boards files with correct checksums and invalid content: not the result of a damaged disk, but of a broken or
//! hostile writer. There is a case for each check of the readers.

use crate::formats::round_trips::{OnlyValidity, lines};
use crate::support::{Random, SetRead as _, run};
use assert_cmd::Command;
use lanefish::Error;
use lanefish::chess::Position;
use lanefish::formats::boards::{BoardsFile, BoardsWriter, Checksum};
use lanefish::formats::{Chunk, DecodeOptions, Format};
use lanefish::input::{Access, Inputs};
use lanefish::jobs::{OutputContent, OutputFormat, WriteJob};
use lanefish::packed::Packed;
use lanefish::pipeline::{Job, RunOptions, Shard};
use lanefish::table::Tile;
use lanefish::table::{Array, Batch, Field, Fields, Needs, Texts, Values};
use lanefish::tiers::Tier;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The sections of a file.
type Sections = Vec<Vec<u8>>;

const HEADER: usize = 0;
const BLOCK: usize = 1;

/// Twenty records with columns of every layout, some with missing values.
fn base() -> Batch {
    let mut batch = Batch::new();
    let mut position = Position::standard();
    for row in 0..20u16 {
        let moves = position.legal_moves();
        let mv = moves.as_slice()[usize::from(row) * 5 % moves.as_slice().len()];
        let board = Packed::pack(&position).unwrap();
        batch.push(board, position.halfmove, position.fullmove);
        let there = row % 3 != 0;
        let mut put = |field: Field, change: &mut dyn FnMut(&mut Array)| {
            let values = batch.fields.entry(field).or_insert_with(|| field.column(0));
            change(values);
        };
        macro_rules! push {
            ($field:ident, $type:ident, $value:expr) => {
                put(Field::$field, &mut |values| match values {
                    Array::$type(column) => column.push($value),
                    _ => panic!("another type"),
                })
            };
        }
        push!(Score, I16, there.then_some(10 * row as i16 - 50));
        push!(Result, U8, there.then_some((row % 3) as u8));
        push!(Move, U16, Some(mv.to_bits()));
        push!(Game, U64, Some(u64::from(row / 7)));
        push!(Clock, U32, there.then_some(u32::from(row) * 100));
        push!(Site, Text, there.then(|| format!("Málaga {}", row % 4)).as_deref());
        push!(Eco, Text, Some("C20"));
        push!(Mate, I16, (!there).then_some(row as i16 - 9));
        position.make(mv);
        position.drop_unusable_en_passant();
    }
    batch
}

fn written(batch: &Batch) -> Vec<u8> {
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    writer.write(batch, 0..batch.len()).unwrap();
    let (mut bytes, finished) = writer.finish().unwrap();
    bytes[..finished.header.len()].copy_from_slice(&finished.header);
    bytes
}

fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let mut number = [0; 8];
    number[..len].copy_from_slice(&bytes[at..at + len]);
    u64::from_le_bytes(number)
}

/// Sets a number of this width in bytes.
fn set(bytes: &mut [u8], at: usize, len: usize, number: u64) {
    bytes[at..at + len].copy_from_slice(&number.to_le_bytes()[..len]);
}

fn split(mut bytes: &[u8]) -> Sections {
    let mut sections = Sections::new();
    while !bytes.is_empty() {
        let (section, rest) = bytes.split_at(number(bytes, 8, 8) as usize);
        sections.push(section.to_vec());
        bytes = rest;
    }
    sections
}

/// Updates lengths, offsets, the index and the end to match the sections.
fn fit(sections: &mut Sections) {
    let mut at = 0;
    let mut places = Vec::new();
    let mut index_place = 0;
    for section in sections {
        match &section[..8] {
            b"LFBBLOCK" => places.push(at),
            b"LFBINDEX" => {
                index_place = at;
                section.truncate(64);
                section.extend(places.iter().flat_map(|place: &u64| place.to_le_bytes()));
                section.resize(section.len().next_multiple_of(64), 0);
                set(section, 24, 4, places.len() as u64);
            }
            b"LFBEND\r\n" => set(section, 32, 8, index_place),
            _ => {}
        }
        let len = section.len() as u64;
        set(section, 8, 8, len);
        at += len;
    }
}

/// The file, with correct checksums.
fn with_checksums(mut sections: Sections) -> Vec<u8> {
    for section in &mut sections {
        let rest = Checksum::of(&section[64..]);
        set(section, 48, 8, rest);
        let header = Checksum::of(&section[..56]);
        set(section, 56, 8, header);
    }
    sections.concat()
}

/// Offset of the directory entry of a column in a block.
fn entry(block: &[u8], field: Option<Field>, id: u16) -> usize {
    let id = field.map_or(id, |field| 16 + field as u16);
    let count = number(block, 28, 4) as usize;
    (0..count).map(|column| 64 + 32 * column).find(|&at| number(block, at, 2) == u64::from(id)).expect("such a column")
}

/// Offset of a field's column in a block.
fn column(block: &[u8], field: Field) -> usize {
    number(block, entry(block, Some(field), 0) + 8, 8) as usize
}

const BOARDS: u16 = 0;
const HALFMOVE: u16 = 1;

/// A case: its name, the change, whether to [`fit`] the structure afterwards, and a part of the message.
type Case = (&'static str, fn(&mut Sections), bool, &'static str);

fn cases() -> Vec<Case> {
    fn block_entry(s: &mut Sections, field: Field, at: usize, len: usize, number: u64) {
        let place = entry(&s[BLOCK], Some(field), 0) + at;
        set(&mut s[BLOCK], place, len, number);
    }
    vec![
        // The header.
        ("blocks of no records", |s| set(&mut s[HEADER], 36, 4, 0), false, "blocks of 0 records"),
        (
            "blocks of too many records",
            |s| set(&mut s[HEADER], 36, 4, (1 << 20) + 1),
            false,
            "blocks of 1048577 records",
        ),
        ("columns beyond the header", |s| set(&mut s[HEADER], 28, 4, 63), false, "63 columns"),
        (
            "columns beyond a header of before 1.4",
            |s| {
                s[HEADER].truncate(1024);
                set(&mut s[HEADER], 28, 4, 31);
            },
            true,
            "31 columns; at most 30",
        ),
        ("an absurd number of columns", |s| set(&mut s[HEADER], 28, 4, u32::MAX.into()), false, "4294967295 columns"),
        ("a header's column twice", |s| set(&mut s[HEADER], 64 + 32, 2, 0), false, "lists column 0 twice"),
        (
            "a header's column of another type",
            |s| s[HEADER][64 + 2] = 6,
            false,
            "column 0 (boards) has the type text, not groups",
        ),
        ("a name that is not UTF-8", |s| s[HEADER][64 + 8] = 0xFF, false, "is invalid"),
        ("a name with an escape sequence", |s| s[HEADER][64 + 8] = 0x1B, false, "is invalid"),
        ("records before the header", |s| set(&mut s[HEADER], 16, 8, 5), false, "records before it"),
        ("a longer header", |s| s[HEADER].extend([0; 64]), true, "2112 bytes"),
        (
            "fewer records than promised",
            |s| set(&mut s[HEADER], 40, 8, 21),
            false,
            "number of records in the header: 21 instead of 20",
        ),
        ("another major version", |s| set(&mut s[HEADER], 32, 2, 2), false, "version 2.4"),
        // A block as a whole.
        ("an empty block", |s| set(&mut s[BLOCK], 24, 4, 0), false, "a block of 0 records"),
        (
            "a block of absurdly many records",
            |s| set(&mut s[BLOCK], 24, 4, u32::MAX.into()),
            false,
            "a block of 4294967295 records",
        ),
        ("a block of more records than it has", |s| set(&mut s[BLOCK], 24, 4, 21), false, "has the wrong length"),
        (
            "a block longer than the header's",
            |s| set(&mut s[HEADER], 36, 4, 19),
            false,
            "20 records where the header has 19 per block",
        ),
        ("a wrong first record", |s| set(&mut s[BLOCK], 16, 8, 1), false, "number of the first record: 1 instead of 0"),
        ("the largest first record", |s| set(&mut s[BLOCK], 16, 8, u64::MAX), false, "number of the first record"),
        (
            "a directory beyond the block",
            |s| {
                s[BLOCK].truncate(128);
                set(&mut s[BLOCK], 28, 4, 30);
            },
            true,
            "larger than the block",
        ),
        (
            "an absurd number of columns in a block",
            |s| set(&mut s[BLOCK], 28, 4, u32::MAX.into()),
            false,
            "4294967295 columns",
        ),
        (
            "no columns",
            |s| {
                s[BLOCK].truncate(64);
                set(&mut s[BLOCK], 28, 4, 0);
            },
            true,
            "without clocks",
        ),
        (
            "a block that ends after the file",
            |s| set(&mut s[BLOCK], 8, 8, 1 << 20),
            false,
            "truncated: 2304 of 1048576 bytes",
        ),
        ("bytes at the end", |s| s[BLOCK].extend([0; 64]), true, "whose columns end after"),
        (
            "a block after one that is not full",
            |s| {
                let mut again = s[BLOCK].clone();
                set(&mut again, 16, 8, 20);
                s.insert(2, again);
                for section in &mut s[3..] {
                    set(section, 16, 8, 40);
                }
            },
            true,
            "a block after the last one",
        ),
        (
            "a second header",
            |s| {
                let again = s[HEADER].clone();
                s.insert(BLOCK, again);
            },
            true,
            "a second header in the file",
        ),
        // Columns and their places.
        ("the same column twice", |s| block_entry(s, Field::Clock, 0, 2, 16), false, "column 16 (score) occurs twice"),
        (
            "the same unknown column twice",
            |s| {
                block_entry(s, Field::Clock, 0, 2, 900);
                block_entry(s, Field::Score, 0, 2, 900);
            },
            false,
            "column 900 occurs twice",
        ),
        (
            "a column over another",
            |s| {
                let place = column(&s[BLOCK], Field::Score) as u64;
                block_entry(s, Field::Move, 8, 8, place);
            },
            false,
            "where the one before it ends",
        ),
        (
            "an unknown column over another",
            |s| {
                let place = column(&s[BLOCK], Field::Score) as u64;
                block_entry(s, Field::Eco, 8, 8, place);
                block_entry(s, Field::Eco, 0, 2, 900);
            },
            false,
            "where the one before it ends",
        ),
        (
            "a column over the directory",
            |s| block_entry(s, Field::Score, 8, 8, 64),
            false,
            "where the one before it ends",
        ),
        (
            "a column after a gap",
            |s| {
                let place = column(&s[BLOCK], Field::Score) as u64;
                block_entry(s, Field::Score, 8, 8, place + 1);
            },
            false,
            "where the one before it ends",
        ),
        (
            "a column that reaches beyond the block",
            |s| block_entry(s, Field::Score, 16, 8, 1 << 40),
            false,
            "reaches beyond its block",
        ),
        (
            "a column whose end wraps",
            |s| block_entry(s, Field::Score, 16, 8, u64::MAX - 10),
            false,
            "reaches beyond its block",
        ),
        (
            "boards of another type",
            |s| {
                let at = entry(&s[BLOCK], None, BOARDS);
                s[BLOCK][at + 2] = 1;
            },
            false,
            "column 0 (boards) has the type u8, not groups",
        ),
        (
            "boards with a bitmap",
            |s| {
                let at = entry(&s[BLOCK], None, BOARDS);
                s[BLOCK][at + 3] = 1;
            },
            false,
            "column 0 (boards) has rows without a value",
        ),
        (
            "too few boards",
            |s| {
                let at = entry(&s[BLOCK], None, BOARDS);
                set(&mut s[BLOCK], at + 16, 8, 2 * 256 + 200);
            },
            false,
            "column 0 (boards) has the wrong length",
        ),
        (
            "boards after the last record",
            |s| {
                let boards = number(&s[BLOCK], entry(&s[BLOCK], None, BOARDS) + 8, 8) as usize;
                // The last group has four boards; the fifth lane of its third plane.
                s[BLOCK][boards + 2 * 256 + 2 * 64 + 4 * 8] = 1;
            },
            false,
            "column 0 (boards) has boards after the last record",
        ),
        (
            "no boards",
            |s| {
                let at = entry(&s[BLOCK], None, BOARDS);
                set(&mut s[BLOCK], at, 2, 900);
            },
            false,
            "without boards",
        ),
        (
            "no clocks",
            |s| {
                let at = entry(&s[BLOCK], None, HALFMOVE);
                set(&mut s[BLOCK], at, 2, 900);
            },
            false,
            "without clocks",
        ),
        (
            "clocks of another type",
            |s| {
                let at = entry(&s[BLOCK], None, HALFMOVE);
                s[BLOCK][at + 2] = 4;
            },
            false,
            "column 1 (halfmove) has the type u32, not u16",
        ),
        (
            "too few clocks",
            |s| {
                let at = entry(&s[BLOCK], None, HALFMOVE);
                set(&mut s[BLOCK], at + 16, 8, 38);
            },
            false,
            "column 1 (halfmove) has the wrong length",
        ),
        (
            "clocks with a bitmap",
            |s| {
                let at = entry(&s[BLOCK], None, HALFMOVE);
                s[BLOCK][at + 3] = 1;
            },
            false,
            "column 1 (halfmove) has rows without a value",
        ),
        (
            "a field of another type",
            |s| block_entry(s, Field::Clock, 2, 1, 5),
            false,
            "column 23 (clock) has the type u64, not u32",
        ),
        (
            "a field of an unknown type",
            |s| block_entry(s, Field::Clock, 2, 1, 77),
            false,
            "column 23 (clock) has the type 77, not u32",
        ),
        (
            "too few numbers",
            |s| block_entry(s, Field::Clock, 16, 8, 8 + 4 * 19),
            false,
            "column 23 (clock) has the wrong length",
        ),
        (
            "an odd byte of numbers",
            |s| block_entry(s, Field::Clock, 16, 8, 8 + 4 * 20 + 1),
            false,
            "column 23 (clock) has the wrong length",
        ),
        (
            "an invalid bitmap flag",
            |s| block_entry(s, Field::Clock, 3, 1, 2),
            false,
            "column 23 (clock) has an invalid bitmap flag",
        ),
        (
            "bits of a bitmap after the last row",
            |s| {
                let at = column(&s[BLOCK], Field::Clock);
                s[BLOCK][at + 2] |= 1 << 4;
            },
            false,
            "column 23 (clock) has values after the last record",
        ),
        // Values.
        (
            "an invalid result",
            |s| {
                let at = column(&s[BLOCK], Field::Result);
                s[BLOCK][at + 8 + 1] = 3;
            },
            false,
            "column 17 (result) has an impossible value in row 1: 3",
        ),
        (
            "an invalid move",
            |s| {
                let at = column(&s[BLOCK], Field::Move);
                set(&mut s[BLOCK], at + 2 * 19, 2, 0x1000);
            },
            false,
            "column 18 (move) has an impossible value in row 19: 4096",
        ),
        (
            "an invalid score",
            |s| {
                let at = column(&s[BLOCK], Field::Score);
                set(&mut s[BLOCK], at + 8 + 2 * 4, 2, 32_001);
            },
            false,
            "column 16 (score) has an impossible value in row 4: 32001",
        ),
        (
            "the least score",
            |s| {
                let at = column(&s[BLOCK], Field::Score);
                set(&mut s[BLOCK], at + 8 + 2 * 4, 2, 0x8000);
            },
            false,
            "column 16 (score) has an impossible value in row 4: -32768",
        ),
        // Texts: bitmap 8, count 8, four ends, twenty codes, texts.
        (
            "more texts than records",
            |s| {
                let at = column(&s[BLOCK], Field::Site);
                set(&mut s[BLOCK], at + 8, 4, 21);
            },
            false,
            "column 28 (site) has 21 texts for 20 records",
        ),
        (
            "absurdly many texts",
            |s| {
                let at = column(&s[BLOCK], Field::Site);
                set(&mut s[BLOCK], at + 8, 4, u32::MAX.into());
            },
            false,
            "column 28 (site) has 4294967295 texts",
        ),
        (
            "missing texts",
            |s| {
                // The ends are not all of the column's bytes, and the codes are.
                block_entry(s, Field::Site, 16, 8, 8 + 8 + 16 + 39);
                let at = column(&s[BLOCK], Field::Site);
                let end = (at + 8 + 8 + 16 + 39usize).next_multiple_of(64);
                let mate = column(&s[BLOCK], Field::Mate);
                let rest = s[BLOCK].split_off(mate);
                s[BLOCK].truncate(end);
                s[BLOCK].extend(rest);
                block_entry(s, Field::Mate, 8, 8, end as u64);
            },
            true,
            "column 28 (site) has the wrong length",
        ),
        (
            "a text that ends before it begins",
            |s| {
                let at = column(&s[BLOCK], Field::Site);
                set(&mut s[BLOCK], at + 16 + 4, 4, 1);
            },
            false,
            "column 28 (site) has a text 1 that ends where none can end",
        ),
        (
            "a text that ends after the last one",
            |s| {
                let at = column(&s[BLOCK], Field::Site);
                set(&mut s[BLOCK], at + 16, 4, u32::MAX.into());
            },
            false,
            "column 28 (site) has a text 0 that ends where none can end",
        ),
        (
            "a text that ends within a character",
            |s| {
                let at = column(&s[BLOCK], Field::Site);
                set(&mut s[BLOCK], at + 16, 4, 2);
            },
            false,
            "column 28 (site) has a text 0 that ends where none can end",
        ),
        (
            "bytes after the texts",
            |s| {
                let at = column(&s[BLOCK], Field::Site);
                let end = number(&s[BLOCK], at + 16 + 12, 4);
                set(&mut s[BLOCK], at + 16 + 12, 4, end - 1);
            },
            false,
            "column 28 (site) has 1 bytes after its texts",
        ),
        (
            "a text that is not UTF-8",
            |s| {
                let at = column(&s[BLOCK], Field::Site);
                s[BLOCK][at + 16 + 16 + 40 + 1] = 0xFF;
            },
            false,
            "column 28 (site) has a text that is not UTF-8",
        ),
        (
            "a row with a missing text",
            |s| {
                let at = column(&s[BLOCK], Field::Site);
                set(&mut s[BLOCK], at + 16 + 16 + 2, 2, 4);
            },
            false,
            "column 28 (site) has text 4 in row 1, of 4 texts",
        ),
        // Index and end.
        ("an index with another place", |s| set(&mut s[2], 64, 8, 1088), false, "index"),
        ("an index after the file", |s| set(&mut s[2], 64, 8, u64::MAX - 7), false, "index"),
        (
            "an index of more blocks",
            |s| {
                s[2][64 + 8] = 64;
                set(&mut s[2], 24, 4, 2);
            },
            false,
            "blocks in the index: 2 instead of 1",
        ),
        ("an index of absurdly many blocks", |s| set(&mut s[2], 24, 4, u32::MAX.into()), false, "invalid length"),
        (
            "an index with other records",
            |s| set(&mut s[2], 16, 8, 21),
            false,
            "records before the index: 21 instead of 20",
        ),
        ("an end with other records", |s| set(&mut s[3], 40, 8, u64::MAX - 1), false, "records of the file"),
        (
            "an end with other records before it",
            |s| set(&mut s[3], 16, 8, 3),
            false,
            "records before the end: 3 instead of 20",
        ),
        ("an end that has the index elsewhere", |s| set(&mut s[3], 32, 8, u64::MAX), false, "place of the index"),
        ("a longer end", |s| s[3].extend([0; 64]), true, "invalid length"),
        // Lengths of sections.
        ("a block of absurd length", |s| set(&mut s[BLOCK], 8, 8, (1 << 28) + 64), false, "invalid length"),
        ("a block of no length", |s| set(&mut s[BLOCK], 8, 8, 0), false, "invalid length"),
    ]
}

fn lanefish(arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = Command::cargo_bin("lanefish").unwrap().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn the_base_is_valid() {
    let batch = base();
    let bytes = written(&batch);
    let mut sections = split(&bytes);
    assert_eq!(sections.len(), 4);
    fit(&mut sections);
    assert!(with_checksums(sections) == bytes, "correct checksums do not change");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.boards");
    std::fs::write(&path, &bytes).unwrap();
    let (found, damage) = read(&path, 1, false, false);
    assert_eq!(damage, Vec::<(u64, String)>::new());
    assert_eq!(found, lines(&batch));
}

#[test]
fn every_check_finds_its_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.boards");
    let name = path.to_str().unwrap();
    for (what, change, fits, message) in cases() {
        let mut sections = split(&written(&base()));
        change(&mut sections);
        if fits {
            fit(&mut sections);
        }
        let bytes = with_checksums(sections);
        std::fs::write(&path, &bytes).unwrap();
        let (status, _, stderr) = lanefish(&["stats", "--threads", "2", name]);
        assert_eq!(status, Some(2), "{what}: {stderr}");
        assert!(stderr.contains("damaged at byte"), "{what}: {stderr}");
        // Blocks that are passed on are checked like those that are read.
        let (status, _, stderr) = lanefish(&["convert", name, "-o", &format!("{name}.again.boards")]);
        assert_eq!(status, Some(2), "{what}: {stderr}");
        assert!(stderr.contains("damaged at byte"), "{what}: {stderr}");
        let (status, report, _) = lanefish(&["verify", "--json", name]);
        assert_eq!(status, Some(1), "{what}: {report}");
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["ok"], false, "{what}");
        let damage = report["files"][0]["damage"].as_array().unwrap();
        assert!(damage.iter().any(|damage| damage["what"].as_str().unwrap().contains(message)), "{what}: {damage:?}");
        let opened = BoardsFile::open(&path.as_path().into());
        let failed = opened.and_then(|file| file.block(0).map(|_| ())).is_err();
        // Contradictions between sections are not found where only the block is read.
        let elsewhere = ["a block after the last one", "a second header in the file", "blocks in the index"];
        assert!(failed || elsewhere.contains(&message), "{what}");
        // The result is the same however the file is read, and no absurd amount of memory is allocated.
        let (records, expected) = read(&path, 1, true, false);
        for (threads, mapped) in [(3, true), (1, false), (2, false)] {
            let found = read(&path, threads, mapped, true);
            assert_eq!(found, (records.clone(), expected.clone()), "{what}");
        }
    }
}

/// Collects records as text.
struct Lines;

impl Job for Lines {
    type Part = Vec<String>;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Vec<String> {
        Vec::new()
    }
    fn tile(&self, output: &mut Vec<String>, tile: &Tile<'_>) {
        let rows: Vec<u32> = tile.rows().map(|row| row as u32).collect();
        output.extend(lines(&tile.batch.select(&rows)));
    }
}

/// The options of a run that continues after damage.
fn options(threads: usize, mapped: bool, small: bool) -> RunOptions<'static> {
    let mut options = RunOptions::new(&OnlyValidity);
    options.threads = threads;
    options.read.access = Access::default().map(mapped);
    options.read.from = Some(Format::BOARDS);
    options.read.decode.fields = Fields::ALL;
    options.past_damage = true;
    if small {
        options.chunk_size = 64;
    }
    options
}

/// The records of a file, as they are written again; reading continues after damage.
fn written_again(path: &Path, mapped: bool) -> Vec<u8> {
    let job = WriteJob::new(OutputContent::Records { fen: false }, OutputFormat::Records(Format::BOARDS)).unwrap();
    let mut bytes = Vec::new();
    let mut file = job.open(&mut bytes).unwrap();
    let summary = run(&Inputs::of([path]), options(1, mapped, false), &job, |part| {
        job.put(&mut file, part).unwrap();
        Ok(())
    });
    assert!(matches!(summary.failure, None | Some(Error::Damaged { .. })));
    let start = job.finish(file).unwrap().start.unwrap();
    bytes[..start.len()].copy_from_slice(&start);
    bytes
}

/// All records and all damage of a file; reading continues after damage.
fn read(path: &Path, threads: usize, mapped: bool, small: bool) -> (Vec<String>, Vec<(u64, String)>) {
    let inputs = Inputs::of([path]);
    let options = options(threads, mapped, small);
    let mut all = Vec::new();
    let summary = run(&inputs, options, &Lines, |lines| {
        all.extend(lines);
        Ok(())
    });
    let mut damage: Vec<(u64, String)> =
        summary.files[0].damage.iter().map(|damage| (damage.offset, damage.what.clone())).collect();
    match summary.failure {
        None => {}
        Some(Error::Damaged { damage: last, .. }) => damage.push((last.offset, last.what)),
        Some(error) => damage.push((0, error.to_string())),
    }
    (all, damage)
}

/// Any bytes of a file are changed and the checksums corrected: no panic, no more records than fit in the file, and
/// the same result with one thread or several, mapped or read.
#[test]
fn random_forgeries() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.boards");
    let arc: Arc<Path> = path.as_path().into();
    let sections = split(&written(&base()));
    let mut random = Random::new(8);
    let mut kept = 0;
    for round in 0..30_000 {
        let mut forged = sections.clone();
        for _ in 0..1 + random.below(4) {
            let section = &mut forged[random.below(4) as usize];
            // Directories and counts are changed more often than boards.
            let len = if random.below(2) == 0 { section.len() } else { section.len().min(400) };
            let at = 8 + random.below(len as u64 - 8) as usize;
            let values = [0, 1, 2, 16, 64, 0x7F, 0x80, 0xFF, random.next() as u8];
            section[at] = values[random.below(values.len() as u64) as usize];
        }
        if random.below(2) == 0 {
            fit(&mut forged);
        }
        let bytes = with_checksums(forged);
        let chunk = Chunk::new(Arc::clone(&arc), bytes.clone().into());
        let options = DecodeOptions::default().fields(Fields::ALL);
        let decoded = Format::BOARDS.decode(&chunk, &options);
        let rows: usize = decoded.batches.iter().map(Batch::len).sum();
        assert!(36 * rows <= bytes.len(), "{rows} records of {} bytes", bytes.len());
        if round % 50 != 0 {
            continue;
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(file) = BoardsFile::open(&arc) {
            for record in [0, 1, 19, 20, file.len().wrapping_sub(1), u64::MAX] {
                let _ = file.record(record);
            }
        }
        let once = read(&path, 1, true, false);
        kept += usize::from(once.0.len() == 20);
        assert_eq!(read(&path, 3, false, true), once, "round {round}");
        // A block is passed on or built again, mapped or read: the records are the same.
        for mapped in [true, false] {
            let again = directory.path().join("again.boards");
            std::fs::write(&again, written_again(&path, mapped)).unwrap();
            assert_eq!(read(&again, 1, true, false), (once.0.clone(), Vec::new()), "round {round}");
        }
    }
    assert!(kept > 50, "only {kept} files kept all records");
}

/// Some shard fails if and only if one run over the whole file does, and otherwise they have the same records: what
/// holds for the file as a whole is checked by all shards together.
#[test]
fn shards_find_what_one_run_finds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.boards");
    let analyzer = Tier::best().analyzer().unwrap();
    let read = |shard: Option<Shard>, mapped: bool| {
        let options = RunOptions::new(analyzer)
            .decode(DecodeOptions::default().fields(Fields::ALL))
            .access(Access::default().map(mapped))
            .shard(shard);
        let mut records = Vec::new();
        // Named anew for each content: inputs that are read again must be what they were.
        let summary = run(&Inputs::of([&*path]), options, &Lines, |lines| {
            records.extend(lines);
            Ok(())
        });
        (records, summary.failure.map(|failure| failure.to_string()))
    };
    let sections =
        split(&crate::formats::round_trips::boards_bytes(&crate::formats::round_trips::sample_batch(3 * 4096 + 5)));
    assert_eq!(sections.len(), 7);
    let mut random = Random::new(11);
    let (mut good, mut bad) = (0, 0);
    for round in 0..60 {
        let mut forged = sections.clone();
        for _ in 0..random.below(3) {
            let of = |random: &mut Random, len: usize| random.below(len as u64) as usize;
            match random.below(5) {
                0 => {
                    let (one, other) = (of(&mut random, forged.len()), of(&mut random, forged.len()));
                    forged.swap(one, other);
                }
                1 => {
                    let place = of(&mut random, forged.len());
                    let again = forged[place].clone();
                    forged.insert(place, again);
                }
                2 if forged.len() > 1 => {
                    let place = of(&mut random, forged.len());
                    forged.remove(place);
                }
                _ => {
                    // The numbers of headers, and the places in the index.
                    let place = of(&mut random, forged.len());
                    let section = &mut forged[place];
                    let at = 8 + of(&mut random, section.len().min(100) - 8);
                    section[at] ^= 1 << random.below(8);
                }
            }
        }
        if random.below(2) == 0 && forged.iter().all(|section| section.len() >= 64) {
            fit(&mut forged);
        }
        if round == 0 {
            // A wrong place in the index that is not where one of two shards begins.
            forged.clone_from(&sections);
            let place = number(&forged[5], 72, 8);
            set(&mut forged[5], 72, 8, place + 64);
        }
        std::fs::write(&path, with_checksums(forged)).unwrap();
        let (records, failure) = read(None, true);
        good += usize::from(failure.is_none());
        bad += usize::from(failure.is_some());
        for (count, mapped) in [(2, false), (9, true)] {
            let mut all = Vec::new();
            let mut failures = Vec::new();
            for index in 0..count {
                let (records, failure) = read(Shard::new(index, count), mapped);
                all.extend(records);
                failures.extend(failure);
            }
            assert_eq!(
                failures.is_empty(),
                failure.is_none(),
                "round {round}, {count} shards: {failure:?}, {failures:?}"
            );
            assert!(failure.is_some() || all == records, "round {round}");
        }
    }
    assert!(good > 8 && bad > 8, "{good} good, {bad} bad");
}

#[test]
fn invalid_values_are_not_written() {
    for (field, values) in [(Field::Result, Array::U8(of(3))), (Field::Move, Array::U16(of(0x1000)))] {
        let mut batch = Batch::new();
        batch.push(Packed::pack(&Position::standard()).unwrap(), 0, 1);
        batch.fields.insert(field, values);
        let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
        let error = writer.write(&batch, 0..1).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        assert!(error.to_string().contains("record 0"), "{error}");
        // The record number counts from the start of the file, not of the batch or the block.
        let mut more = Batch::new();
        for _ in 0..5000 {
            more.push(batch.board(0), 0, 1);
        }
        writer.write(&more, 0..5000).unwrap();
        more.extend_from(&batch, 0..1);
        let error = writer.write(&more, 4999..5001).unwrap_err();
        assert!(error.to_string().contains("record 5001"), "{error}");
    }
}

fn of<T: Clone + Default>(value: T) -> Values<T> {
    let mut column = Values::default();
    column.push(Some(value));
    column
}

/// A column with one text.
fn one(text: &str) -> Texts {
    let mut texts = Texts::default();
    texts.push(Some(text));
    texts
}

/// The ends of texts are stored in 32 bits: texts that do not fit are rejected instead of wrapping around.
#[test]
fn texts_that_are_too_long_for_a_block_are_rejected() {
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    let board = Packed::pack(&Position::standard()).unwrap();
    let long = "x".repeat(48 << 20);
    let mut shared = Batch::new();
    let mut texts = Texts::default();
    for _ in 0..4000 {
        shared.push(board, 0, 1);
    }
    texts.push_many(Some(&long), 4000);
    shared.fields.insert(Field::Site, Array::Text(texts));
    // A text that all rows share is stored once.
    writer.write(&shared, 0..4000).unwrap();
    let mut other = Batch::new();
    other.push(board, 0, 1);
    other.fields.insert(Field::Site, Array::Text(one(&"y".repeat(48 << 20))));
    writer.write(&other, 0..1).unwrap();
    other.fields.insert(Field::Site, Array::Text(one(&"z".repeat(48 << 20))));
    let error = writer.write(&other, 0..1).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    assert!(error.to_string().contains("block that begins with record 0"), "{error}");
}

/// Files that once took excessive memory or time, or passed as undamaged.
#[test]
fn forged_files_of_the_regressions() {
    for name in ["blocklen0.boards", "hcols.boards", "overlap.boards", "dup1000.boards", "dupmem.boards.zst"] {
        let Some(path) = crate::support::shared_data(&format!("regressions/boards/{name}")) else {
            return;
        };
        let path = path.to_str().unwrap();
        let (status, report, _) = lanefish(&["verify", path]);
        assert_eq!(status, Some(1), "{name}: {report}");
        let (status, _, stderr) = lanefish(&["stats", path]);
        assert_eq!(status, Some(2), "{name}");
        assert!(stderr.contains("damaged at byte"), "{name}: {stderr}");
    }
}
