//! Formats: round trips keep everything, nothing is lost silently, and all damage is found.

use crate::support::{Ended, Random, run};
use lanefish::chess::{Move, Position, Validity};
use lanefish::error::Error;
use lanefish::formats::boards::{BoardsFile, BoardsWriter};
use lanefish::formats::{Chunk, DecodeOptions, Format};
use lanefish::input::Inputs;
use lanefish::jobs::{FileOptions, RecordFile};
use lanefish::packed::{Group, Packed};
use lanefish::pipeline::{Job, OnReject, RunOptions};
use lanefish::queries::{GroupResults, Queries};
use lanefish::table::Tile;
use lanefish::table::{Array, Batch, Field, Fields, Needs};
use lanefish::tiers::{Analyzer, Tier};
use std::path::{Path, PathBuf};

/// An analyzer that only finds the invalid boards, by the rules of one position.
#[derive(Debug)]
pub(crate) struct OnlyValidity;

impl Analyzer for OnlyValidity {
    fn tier(&self) -> Tier {
        Tier::PORTABLE
    }
    fn analyze(&self, groups: &[Group], _: Queries, results: &mut [GroupResults]) {
        for (group, results) in groups.iter().zip(results) {
            for lane in 0..Group::LEN {
                let playable = group.get(lane).unpack(0, 1).is_ok_and(|position| position.is_valid(Validity::Playable));
                results.invalid[lane] = u64::from(!playable);
            }
        }
    }
    fn features(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Collects all records.
pub(crate) struct Collect;

impl Job for Collect {
    type Part = Batch;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Batch {
        Batch::new()
    }
    fn tile(&self, output: &mut Batch, tile: &Tile<'_>) {
        output.extend_from(tile.batch, tile.rows());
    }
}

/// Reads files with all their fields.
pub(crate) fn read(paths: &[PathBuf], change: impl FnOnce(&mut RunOptions<'_>)) -> (Batch, Ended) {
    read_with(paths, &mut |_| Ok(()), change)
}

/// The same, with a function that gets the rejects.
pub(crate) fn read_with<'a>(
    paths: &[PathBuf],
    on_reject: &'a mut OnReject<'a>,
    change: impl FnOnce(&mut RunOptions<'_>),
) -> (Batch, Ended) {
    let inputs = Inputs::resolve(paths, lanefish::formats::is_supported).unwrap();
    let mut options = RunOptions::new(&OnlyValidity).on_reject(Some(on_reject));
    options.read.decode = DecodeOptions::default().fields(Fields::ALL);
    change(&mut options);
    let mut all = Batch::new();
    let summary = run(&inputs, options, &Collect, |batch| {
        all.extend_from(&batch, 0..batch.len());
        Ok(())
    });
    (all, summary)
}

/// The records as text.
pub(crate) fn lines(batch: &Batch) -> Vec<String> {
    (0..batch.len())
        .map(|row| {
            let mut line = batch.position(row).unwrap().to_string();
            for (field, values) in &batch.fields {
                if let Some(text) = values.text(row) {
                    line += &format!(" {}={text}", field.name());
                } else if let Some(number) = values.number(row) {
                    line += &format!(" {}={number}", field.name());
                }
            }
            line
        })
        .collect()
}

#[test]
fn best_moves_of_epd_are_decoded() {
    let directory = tempfile::tempdir().unwrap();
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    let castles = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";
    for (line, expected) in [
        (format!("{start} bm e4;"), Some("e2e4")),
        (format!("{start} id \"x\"; bm  Nf3 e4; ce 20;"), Some("g1f3")),
        (format!("{start} bm Nf3, e4"), Some("g1f3")),
        (format!("{start} 3 7 bm g1f3!;"), Some("g1f3")),
        (format!("epd {start} 0 1 bm d4;"), Some("d2d4")),
        (format!("{castles} bm O-O-O+;"), Some("e1c1")),
        // Not a move, not legal, not the operation, not the first.
        (format!("{start} bm ;"), None),
        (format!("{start} bm; e4;"), None),
        (format!("{start} bm e5;"), None),
        (format!("{start} bm Qxh7# e4;"), None),
        (format!("{start} bm é4 e4;"), None),
        (format!("{start} bmx e4; am e4; pv e4;"), None),
        (format!("{start} id \"a; bm e4;\"; ce 1;"), None),
        (format!("{start} id \"a; bm e4;\"; bm d4;"), Some("d2d4")),
        (format!("{start} id \"a; bm e4;"), Some("e2e4")),
        (start.to_owned(), None),
    ] {
        let path = file(directory.path(), "x.epd", line.as_bytes());
        let (batch, summary) = read(std::slice::from_ref(&path), |_| {});
        assert_eq!((batch.len(), summary.rejected), (1, 0), "{line}");
        let mv =
            batch.values(Field::Move).and_then(|moves| moves.number(0)).and_then(|bits| Move::from_bits(bits as u16));
        let uci = mv.map(|mv| mv.uci(&batch.position(0).unwrap()).to_string());
        assert_eq!(uci.as_deref(), expected, "{line}");
        // The move is not decoded unless requested.
        let (batch, _) = read(&[path], |options| {
            options.read.decode.fields = Fields::of(&[Field::Operations]);
        });
        assert!(batch.values(Field::Move).is_none());
    }
    // Boards without kings have no moves; text that is not UTF-8 does not hide operations.
    let text = [
        b"8/8/8/8/8/8/8/8 w - - bm Kd2;\n4k3/8/8/8/8/8/4r3/k3K3 b - - bm Kd2;\n".as_slice(),
        b"4k3/8/8/8/8/8/8/4K3 w - - id \"M\xE1laga\"; bm Kd2;\n",
    ];
    let path = file(directory.path(), "x.epd", &text.concat());
    let (batch, summary) = read(&[path], |_| {});
    assert_eq!(summary.rejected, 2);
    assert_eq!(lines(&batch), ["4k3/8/8/8/8/8/8/4K3 w - - 0 1 move=708 operations=id \"Málaga\"; bm Kd2;"]);
}

fn file(directory: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn lines_of_all_kinds_are_read_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let text = "\u{FEFF}# a comment\r\n\r\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\r\n\
        nonsense\n\
        8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Rxb2; id \"BK.11\";\n\
        4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 5 ;D2 25\n\
        4k3/8/8/8/8/8/8/8 w - - 0 1\n\
        4k3/8/8/8/8/8/8/4K2R w K -";
    let path = file(directory.path(), "mixed.epd", text.as_bytes());
    for chunk_size in [64, 100, 1 << 20] {
        for threads in [1, 2, 8] {
            let (batch, summary) = read(std::slice::from_ref(&path), |options| {
                options.chunk_size = chunk_size;
                options.threads = threads;
            });
            assert_eq!(summary.failure.as_ref().map(ToString::to_string), None);
            assert_eq!(
                lines(&batch),
                [
                    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                    "8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - 0 1 move=593 operations=bm Rxb2; id \"BK.11\";",
                    "4k3/8/8/8/8/8/8/4K3 w - - 0 1 operations=;D1 5 ;D2 25",
                    "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
                ]
            );
            assert_eq!((summary.records, summary.rejected), (6, 2));
            let places: Vec<_> = summary
                .first_rejects
                .iter()
                .map(|reject| {
                    let place = &reject.place;
                    let raw = String::from_utf8_lossy(&reject.raw).into_owned();
                    (place.line, place.offset, place.record, raw)
                })
                .collect();
            assert_eq!(
                places,
                [(Some(4), 76, 1, "nonsense".to_owned()), (Some(7), 192, 4, "4k3/8/8/8/8/8/8/8 w - - 0 1".to_owned()),]
            );
        }
    }
    assert_eq!(Format::of_name(&path), Some(Format::EPD));
    assert_eq!(Field::Operations.name(), "operations");
}

/// `ce` and `dm` have the view of the side to move, the fields that of White.
#[test]
fn evaluations_of_epd_are_fields() {
    let directory = tempfile::tempdir().unwrap();
    let [white, black] = ["w", "b"].map(|side| format!("4k3/8/8/8/8/8/4P3/4K3 {side} - -"));
    for (line, score, mate, depth) in [
        (format!("{white} ce 31;"), Some(31), None, None),
        (format!("{black} ce 31;"), Some(-31), None, None),
        (format!("{black} 3 7 acd 12; ce -5; ce 9;"), Some(5), None, Some(12)),
        (format!("{white} ce +7"), Some(7), None, None),
        (format!("{white} ce 31999;"), Some(31_000), None, None),
        (format!("{white} ce 0; id \"ce 3;\";"), Some(0), None, None),
        // Mates by the number of plies.
        (format!("{white} ce 32766;"), None, Some(1), None),
        (format!("{white} ce 32762;"), None, Some(3), None),
        (format!("{black} ce 32762;"), None, Some(-3), None),
        (format!("{white} ce -32763;"), None, Some(-2), None),
        (format!("{black} ce -32763;"), None, Some(2), None),
        (format!("{black} ce -32767;"), None, Some(0), None),
        (format!("{white} dm 4; ce 500;"), None, Some(4), None),
        (format!("{black} dm 4;"), None, Some(-4), None),
        (format!("{white} ce 32767;"), None, None, None),
        (format!("{white} ce 99999; dm 0; acd x;"), None, None, None),
        (format!("{white} ce 1.5; cex 3; pv ce 3;"), None, None, None),
        (format!("{white} acd 70000;"), None, None, None),
    ] {
        let path = file(directory.path(), "x.epd", line.as_bytes());
        let csv = file(directory.path(), "x.csv", format!("fen\n\"{}\"\n", line.replace('"', "\"\"")).as_bytes());
        for path in [path, csv] {
            let (batch, summary) = read(&[path], |_| {});
            assert_eq!((batch.len(), summary.rejected), (1, 0), "{line}");
            let number = |field| batch.values(field).and_then(|values| values.number(0));
            let found = [Field::Score, Field::Mate, Field::Depth].map(number);
            assert_eq!(found, [score, mate, depth], "{line}");
        }
        // What a file says is written as it stands.
        let path = file(directory.path(), "x.epd", format!("{line}\n").as_bytes());
        let written_to = tempfile::tempdir().unwrap();
        let target = written_to.path().join("y.epd");
        let written = RecordFile::new(&target, None, FileOptions::default()).unwrap();
        let (_, lost) = written.write(&Inputs::of([&*path]), RunOptions::new(&OnlyValidity)).unwrap();
        assert!(lost.losses.is_empty(), "{line}: {lost:?}");
        assert_eq!(std::fs::read_to_string(target).unwrap(), format!("{line}\n"));
    }
}

#[test]
fn formats_are_detected_by_content_and_then_by_name() {
    const FEN: &str = "4k3/8/8/8/8/8/8/4K3 w - - 0 1\n";
    const EPD: &str = "4k3/8/8/8/8/8/8/4K3 w - - bm Kd2;\n";
    for (name, head, format) in [
        ("x", FEN, Some(Format::FEN)),
        ("x", EPD, Some(Format::EPD)),
        ("x.fen", EPD, Some(Format::FEN)),
        ("x.epd", FEN, Some(Format::EPD)),
        ("x.perft", FEN, Some(Format::PERFT)),
        ("x.pgn", FEN, Some(Format::FEN)),
        ("x.boards", EPD, Some(Format::EPD)),
        ("x", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 5\n", Some(Format::EPD)),
        ("x", "id one\n", Some(Format::PERFT)),
        ("x", "epd 4k3/8/8/8/8/8/8/4K3 w - -\n", Some(Format::PERFT)),
        ("x", "identity\n", None),
        // Neither seven slashes nor piece letters are enough.
        ("x", "a/b/c/d/e/f/g/h w - - 0 1\n", None),
        ("x", "4k3/8/8/8 w - - 0 1\n", None),
        ("x", "4k3/8/8/8/8/8/8/4K3 x - - 0 1\n", None),
        ("x", "1. e4 e5 *\n", Some(Format::PGN)),
        ("x", "% a comment\n\n1.e4 e5 *\n", Some(Format::PGN)),
        ("x", "[Event \"x\"]\n", Some(Format::PGN)),
        ("x.fen", "[Event \"x\"]\n", Some(Format::PGN)),
        ("x", "[section]\nkey = \"value\"\n", None),
        ("x", "[section] \"value\"\n", None),
        ("x", "[1, \"x\"]\n", None),
        ("x.pgn", "1-0\n", Some(Format::PGN)),
        ("x", "", Some(Format::FEN)),
        ("x.pgn", "", Some(Format::PGN)),
        ("x", "id,fen\n", Some(Format::CSV)),
        ("x.tsv", "fen\n", Some(Format::TSV)),
        ("x", "\u{feff}\r\n\"Fen\",\"a,b\"\r\n", Some(Format::CSV)),
        ("x", "a\tFEN\n", Some(Format::TSV)),
        ("x.csv", "id,Moves,FEN\n", Some(Format::PUZZLES)),
        ("x.csv", "a,fen1\n1,2\n", None),
        ("x.csv", FEN, Some(Format::FEN)),
        ("x.csv", "", Some(Format::CSV)),
        ("x.jsonl", "\n", Some(Format::JSONL)),
        ("x", "{\"a\":[{}],\"fen\":\"8/8\"}\n", Some(Format::JSONL)),
        ("x.csv", "{\"fen\":\"8/8\"}\n", Some(Format::JSONL)),
        ("x", "{\"fen\":\"8/8\",\"evals\":3}\n", Some(Format::JSONL)),
        ("x", "{\"fen\":\"8/8\",\"evals\":[]}\n", Some(Format::EVALS)),
        ("x.jsonl", "{\"evals\":[{\"pvs\":[", Some(Format::EVALS)),
        ("x.jsonl", "{\"evals\":[]}\n", None),
        ("x.jsonl", "{\"fen\":1}\n", None),
        ("x.ndjson", "[\"fen\"]\n", None),
    ] {
        let found = lanefish::formats::detect(head.as_bytes(), true, Path::new(name), None).ok();
        assert_eq!(found, format, "{name}: {head}");
    }
}

/// `id`, `epd` and `perft` lines are recognized by the whole word; lines that only begin like one are rejected.
#[test]
fn lines_that_begin_like_a_block_are_not_lost() {
    let directory = tempfile::tempdir().unwrap();
    let bad = ["idle", "epd:", "perfect", "i", "e", "p", "id", "epd", "perft"];
    let text = bad.map(|line| format!("{line}\n4k3/8/8/8/8/8/8/4K3 w - - 0 1\n"));
    let path = file(directory.path(), "x.epd", text.concat().as_bytes());
    let (batch, summary) = read(&[path], |_| {});
    assert_eq!((batch.len(), summary.rejected), (9, 9));
    let raw = summary.first_rejects.iter().map(|reject| &reject.raw[..]);
    assert!(raw.eq(bad.map(str::as_bytes)));
}

/// N positions of a random game, and other columns with missing values.
pub(crate) fn sample_batch(len: usize) -> Batch {
    let mut random = Random::new(len as u64);
    let mut batch = Batch::new();
    let mut position = Position::standard();
    let fields = [
        Field::Score,
        Field::Result,
        Field::Game,
        Field::Clock,
        Field::Site,
        Field::White,
        Field::PuzzleRating,
        Field::Themes,
    ];
    let mut columns = fields.map(|field| (field, field.column(0)));
    for row in 0..len {
        let moves = position.legal_moves();
        if moves.as_slice().is_empty() || position.fullmove > 150 {
            position = Position::standard();
        } else {
            let chosen = random.below(moves.as_slice().len() as u64) as usize;
            position.make(moves.as_slice()[chosen]);
            position.drop_unusable_en_passant();
        }
        let board = Packed::pack(&position).unwrap();
        batch.push(board, position.halfmove, position.fullmove);
        let number = random.next();
        let there = !number.is_multiple_of(3);
        for (field, values) in &mut columns {
            match values {
                Array::U8(column) => column.push(there.then_some((number % 3) as u8)),
                Array::I16(column) => {
                    column.push(there.then_some(((number % 62_001) as i32 - 31_000) as i16));
                }
                Array::U16(column) => column.push(there.then_some(number as u16)),
                Array::U32(column) => column.push(there.then_some(number as u32)),
                Array::U64(column) => column.push(Some((row / 100) as u64)),
                Array::Text(column) => {
                    column.push(there.then(|| format!("text é {}", number % 7)).as_deref());
                }
                _ => panic!("a new type of {field:?}"),
            }
        }
    }
    batch.fields = columns.into_iter().collect();
    batch
}

pub(crate) fn boards_bytes(batch: &Batch) -> Vec<u8> {
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    // In parts, as chunks arrive.
    for start in (0..batch.len()).step_by(1000) {
        let end = batch.len().min(start + 1000);
        writer.write(batch, start..end).unwrap();
    }
    let (mut bytes, finished) = writer.finish().unwrap();
    assert_eq!(finished.records, batch.len() as u64);
    bytes[..finished.header.len()].copy_from_slice(&finished.header);
    bytes
}

#[test]
fn boards_files_keep_every_record_at_all_edges() {
    let directory = tempfile::tempdir().unwrap();
    for len in [0, 1, 7, 8, 9, 63, 64, 65, 4095, 4096, 4097, 10_000] {
        let batch = sample_batch(len);
        let path = file(directory.path(), "x.boards", &boards_bytes(&batch));
        let expected = lines(&batch);
        for (threads, chunk_size) in [(1, 1 << 20), (2, 64), (8, 1 << 20)] {
            let (found, summary) = read(std::slice::from_ref(&path), |options| {
                options.threads = threads;
                options.chunk_size = chunk_size;
            });
            assert_eq!(summary.failure.as_ref().map(ToString::to_string), None, "{len}");
            assert_eq!((summary.records, summary.rejected), (len as u64, 0));
            assert_eq!(lines(&found), expected, "{len}");
        }
        let opened = BoardsFile::open(&path.as_path().into()).unwrap();
        assert_eq!(opened.len(), len as u64);
        assert!(opened.block(opened.blocks()).is_err());
        for record in [0, len / 2, len.saturating_sub(1), len] {
            let found = opened.record(record as u64).unwrap();
            assert_eq!(found.map(|batch| lines(&batch)), expected.get(record).map(|line| vec![line.clone()]));
        }
        // Compressed: neither mapped nor aligned.
        let packed = zstd::encode_all(&std::fs::read(&path).unwrap()[..], 1).unwrap();
        let packed = file(directory.path(), "x.boards.zst", &packed);
        let (found, summary) = read(&[packed], |options| options.threads = 2);
        assert!(summary.failure.is_none());
        assert_eq!(lines(&found), expected);
    }
}

/// Offsets of the damage that a run reports; with `past_damage`, of all damage.
fn damage(path: &Path, past_damage: bool) -> Vec<u64> {
    let inputs = Inputs::of([path]);
    let mut options = RunOptions::new(&OnlyValidity);
    options.past_damage = past_damage;
    let summary = run(&inputs, options, &Collect, |_| Ok(()));
    match &summary.failure {
        Some(Error::Damaged { damage, .. }) => vec![damage.offset],
        Some(error) => panic!("{error}"),
        None => {
            let damage = summary.files.iter().flat_map(|file| &file.damage);
            damage.map(|damage| damage.offset).collect()
        }
    }
}

/// The unit tests of the format flip every bit and cut at every byte; here some of that runs through the pipeline.
#[test]
fn damage_ends_a_run_or_is_listed_with_its_offset() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = boards_bytes(&sample_batch(20));
    let write = |bytes: &[u8]| file(directory.path(), "x.boards", bytes);
    for bit in (0..8 * bytes.len()).step_by(397) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let path = write(&flipped);
        for past_damage in [false, true] {
            assert!(!damage(&path, past_damage).is_empty(), "bit {bit}");
        }
    }
    for len in (0..bytes.len()).step_by(61) {
        assert!(!damage(&write(&bytes[..len]), false).is_empty(), "cut at {len}");
    }
    for garbage in [&b"x"[..], &[0; 64], &bytes] {
        let path = write(&[&bytes, garbage].concat());
        assert_eq!(damage(&path, false), [bytes.len() as u64]);
    }
}

#[test]
fn exchanged_dropped_and_duplicate_blocks_are_damage() {
    let directory = tempfile::tempdir().unwrap();
    let batch = sample_batch(3 * 4096);
    let bytes = boards_bytes(&batch);
    let places: Vec<usize> = (0..bytes.len()).step_by(64).filter(|&at| bytes[at..].starts_with(b"LFB")).collect();
    let section = |number: usize| &bytes[places[number]..places[number + 1]];
    let (header, rest) = (&bytes[..places[0]], &bytes[places[3]..]);
    for order in [&[1, 0, 2][..], &[0, 2], &[0, 1], &[0, 1, 1, 2], &[0, 0, 1, 2]] {
        let mut changed = header.to_vec();
        order.iter().for_each(|&block| changed.extend_from_slice(section(block)));
        changed.extend_from_slice(rest);
        let path = file(directory.path(), "x.boards", &changed);
        let (_, summary) = read(&[path], |_| {});
        assert!(matches!(summary.failure, Some(Error::Damaged { .. })), "{order:?}");
    }
    // One damaged block: the others are still read on request.
    let mut damaged = bytes.clone();
    damaged[places[1] + 5000] ^= 1;
    let path = file(directory.path(), "x.boards", &damaged);
    let (found, summary) = read(&[path], |options| options.past_damage = true);
    assert!(summary.failure.is_none());
    assert_eq!(summary.files[0].damage.len(), 1);
    assert_eq!(summary.files[0].damage[0].offset, places[1] as u64);
    assert_eq!(found.len(), 2 * 4096);
}

/// Chunks that end exactly where a block does, from one block a chunk to all in one.
#[test]
fn chunks_that_end_with_a_block_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for blocks in [1, 2, 12] {
        let batch = sample_batch(blocks * 4096);
        let bytes = boards_bytes(&batch);
        let path = file(directory.path(), "x.boards", &bytes);
        let places: Vec<usize> = (0..bytes.len())
            .step_by(64)
            .filter(|&at| bytes[at..].starts_with(b"LFBBLOCK") || bytes[at..].starts_with(b"LFBINDEX"))
            .collect();
        assert_eq!(places.len(), blocks + 1);
        let expected = lines(&batch);
        let lengths = places.windows(2).map(|ends| ends[1] - ends[0]);
        for chunk_size in places[1..].iter().copied().chain(lengths) {
            let (found, summary) = read(std::slice::from_ref(&path), |options| {
                options.chunk_size = chunk_size;
            });
            assert!(summary.failure.is_none() && summary.files[0].damage.is_empty());
            assert_eq!((found.len(), summary.records), (batch.len(), batch.len() as u64));
            assert!(lines(&found) == expected, "{blocks} blocks, chunks of {chunk_size}");
        }
    }
}

#[test]
fn skip_and_limit_are_exact_whatever_the_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let batch = sample_batch(9000);
    let boards = file(directory.path(), "a.boards", &boards_bytes(&batch));
    let text: String = lines(&batch)
        .iter()
        .map(|line| line.split(" score").next().unwrap().to_owned() + "\n")
        .map(|line| line.split(" result").next().unwrap().trim_end().to_owned() + "\n")
        .map(|line| line.split(" game").next().unwrap().trim_end().to_owned() + "\n")
        .collect();
    let fens: Vec<&str> = text.lines().collect();
    let epd = file(directory.path(), "b.epd", text.as_bytes());
    let inputs = [boards, epd];
    for (skip, limit) in [(0, 0), (0, 1), (5, 100), (4090, 20), (8990, 20), (9000, 9000), (17_990, 99)] {
        for threads in [1, 3] {
            let (found, summary) = read(&inputs, |options| {
                options.read.skip = skip;
                options.read.limit = Some(limit);
                options.threads = threads;
                options.chunk_size = 10_000;
                options.read.decode.fields = Fields::NONE;
            });
            assert!(summary.failure.is_none());
            let expected: Vec<&str> =
                (skip..(skip + limit).min(18_000)).map(|record| fens[record as usize % 9000]).collect();
            assert_eq!(summary.records, expected.len() as u64);
            assert_eq!(lines(&found), expected);
        }
    }
}

#[test]
fn strict_stops_at_the_first_bad_record_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let text = "4k3/8/8/8/8/8/8/4K3 w - -\n".repeat(5000) + "bad\n" + &"worse\n".repeat(5000);
    let path = file(directory.path(), "x.fen", text.as_bytes());
    for threads in [1, 8] {
        let (_, summary) = read(std::slice::from_ref(&path), |options| {
            options.read.strict = true;
            options.threads = threads;
            options.chunk_size = 100;
        });
        let Some(Error::Strict(reject)) = summary.failure else { panic!("did not stop") };
        assert_eq!(reject.place.line, Some(5001));
        assert_eq!(reject.raw, b"bad");
    }
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..600),
        prefix in 0..6usize,
    ) {
        let starts: [&[u8]; 6] = [
            b"", b"id x\nepd ", b"8/8/8/8/8/8/8/8 w - ", b"\x89LFB\r\n\x1A\n",
            b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ", b"perft 1 2\n",
        ];
        let bytes = [starts[prefix], &bytes].concat();
        for format in Format::ALL {
            let mut rest = &bytes[..];
            while let Some(len) = format.cut(rest, lanefish::formats::MAX_RECORD) {
                proptest::prop_assert!(len > 0 && len <= rest.len());
                rest = &rest[len..];
            }
            let chunk = Chunk::new(Path::new("x").into(), bytes.clone().into());
            let options = DecodeOptions::default().fields(Fields::ALL);
            let decoded = format.decode(&chunk, &options);
            let good: usize = decoded.batches.iter().map(Batch::len).sum();
            proptest::prop_assert!((good + decoded.rejects.len()) as u64 <= decoded.records);
        }
        let _ = lanefish::formats::detect(&bytes, true, Path::new("x"), None);
    }
}

#[test]
fn boards_are_read_whole_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let good = "8/8/8/8/8/8/6k1/4K2R w K - 0 1\n";
    let path = file(directory.path(), "x.fen", good.as_bytes());
    assert_eq!(lanefish::Boards::read(&path).unwrap().len(), 1);
    for bad in ["nonsense\n", "8/8/8/8/8/8/8/4K2R w K - 0 1\n"] {
        let path = file(directory.path(), "x.fen", [good, bad, good].concat().as_bytes());
        let read = lanefish::Boards::read(&path);
        let Err(Error::Strict(reject)) = read else { panic!("{read:?}") };
        assert_eq!(reject.place.line, Some(2));
    }
}

#[test]
fn levels_of_compression_are_for_compressed_files() {
    let directory = tempfile::tempdir().unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample.epd");
    let inputs = Inputs::resolve(&[sample], |_| true).unwrap();
    let level = |level| FileOptions::default().level(Some(level)).force(true);
    for name in ["x.epd", "x.boards"] {
        let message = RecordFile::new(&directory.path().join(name), None, level(3)).unwrap_err().to_string();
        assert!(message.contains("a compression level needs"), "{message}");
    }
    for name in ["x.epd.zst", "X.EPD.ZST", "x.epd.gz"] {
        let path = directory.path().join(name);
        let sizes = [1, 9].map(|number| {
            let file = RecordFile::new(&path, None, level(number)).unwrap();
            let (summary, _) = file.write(&inputs, RunOptions::new(Tier::best().analyzer().unwrap())).unwrap();
            assert_eq!(read(std::slice::from_ref(&path), |_| ()).0.len() as u64, summary.records);
            std::fs::metadata(&path).unwrap().len()
        });
        assert!(sizes[0] > sizes[1], "{name} {sizes:?}");
    }
}
