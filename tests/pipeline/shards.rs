//! Shards: every record, good or bad, is in exactly one of them, whatever the input, the number of shards and threads,
//! and the way the input is read.

use crate::formats::round_trips::{OnlyValidity, boards_bytes, sample_batch};
use crate::support::{Ended, Random, SetRead as _, run, shared_data};
use lanefish::choose::GameFilter;
use lanefish::error::{Error, Reject};
use lanefish::formats::DecodeOptions;
use lanefish::input::{Inputs, Source};
use lanefish::pipeline::{Job, RunOptions, Shard};
use lanefish::table::{Field, Fields, Needs, Tile};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A line for each record, without the number of its game, which counts from the beginning of the shard.
struct Lines;

impl Job for Lines {
    type Part = Vec<String>;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Vec<String> {
        Vec::new()
    }
    fn tile(&self, lines: &mut Vec<String>, tile: &Tile<'_>) {
        let rows: Vec<u32> = tile.rows().map(|row| row as u32).collect();
        let mut batch = tile.batch.select(&rows);
        batch.fields.remove(&Field::Game);
        lines.extend(crate::formats::round_trips::lines(&batch));
    }
}

/// What a run found.
pub(crate) struct Found {
    pub(crate) records: Vec<String>,
    pub(crate) rejects: Vec<Reject>,
    /// Sums that must agree.
    counts: BTreeMap<String, u64>,
    pub(crate) summary: Ended,
}

/// How the files are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) threads: usize,
    pub(crate) chunk_size: usize,
    pub(crate) map: bool,
    pub(crate) max_record: usize,
}

pub(crate) const USUAL: Way = Way { threads: 1, chunk_size: 1 << 20, map: true, max_record: 16 << 20 };

/// Threads, chunks and ways of access that must not make a difference.
pub(crate) const WAYS: [Way; 4] = [
    USUAL,
    Way { threads: 2, chunk_size: 5000, ..USUAL },
    Way { threads: 8, map: false, ..USUAL },
    Way { chunk_size: 100_000, map: false, ..USUAL },
];

pub(crate) fn read(path: &Path, shard: Option<Shard>, way: Way) -> Found {
    read_with(path, shard, way, |_| {})
}

pub(crate) fn read_with(
    path: &Path,
    shard: Option<Shard>,
    way: Way,
    change: impl FnOnce(&mut RunOptions<'_>),
) -> Found {
    read_source(path.into(), shard, way, change)
}

pub(crate) fn read_source(
    source: Source,
    shard: Option<Shard>,
    way: Way,
    change: impl FnOnce(&mut RunOptions<'_>),
) -> Found {
    let mut rejects = Vec::new();
    let mut on_reject = |reject: &Reject| {
        rejects.push(reject.clone());
        Ok(())
    };
    let mut options = RunOptions::new(&OnlyValidity).threads(way.threads).shard(shard).on_reject(Some(&mut on_reject));
    options.chunk_size = way.chunk_size;
    options.read.access.map = way.map;
    options.read.decode = DecodeOptions::default().fields(Fields::ALL).max_record(way.max_record);
    change(&mut options);
    let mut records = Vec::new();
    let summary = run(&Inputs::of([source]), options, &Lines, |lines| {
        records.extend(lines);
        Ok(())
    });
    let mut counts = BTreeMap::new();
    counts.insert("records".to_owned(), summary.records);
    counts.insert("rejected".to_owned(), summary.rejected);
    counts.insert("games".to_owned(), summary.games);
    for (remark, times) in summary.remarks.iter() {
        counts.insert(remark.how.to_owned(), times);
    }
    for (name, left_out) in &summary.left_out {
        counts.insert(format!("{name} games"), left_out.games);
        counts.insert(format!("{name} positions"), left_out.positions);
    }
    for (reason, times) in &summary.reasons {
        counts.insert(format!("reason {reason}"), *times);
    }
    // What all records of a format lack is said in each shard, and that a file is blank where it is read to its end.
    let is_of_all = |note: &str| note == "the file is empty" || note.contains("no side to move");
    let notes = summary.files.iter().filter(|file| file.note.as_ref().is_some_and(|note| !is_of_all(note)));
    counts.insert("notes".to_owned(), notes.count() as u64);
    Found { records, rejects, counts, summary }
}

/// A reject without what counts from the beginning of a shard.
fn reject_text(reject: &Reject) -> String {
    let place = &reject.place;
    let offset = match place.frame {
        None => Some(place.offset),
        Some(_) => None,
    };
    let raw = String::from_utf8_lossy(&reject.raw);
    format!("{offset:?} {:?} {} {raw:?} {:?}", reject.reasons, reject.message, place.ply)
}

fn shards(count: u32) -> impl Iterator<Item = Shard> {
    (0..count).map(move |index| Shard::new(index, count).unwrap())
}

/// Whether the parts of the shards follow each other, or are dealt out in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Places,
    Turns,
}

/// More shards than most of the small files have records.
const MANY: u32 = 250;

/// Reads all shards of a file and compares them with the whole. Returns the number of shards that had records.
pub(crate) fn check(path: &Path, count: u32, way: Way, order: Order) -> usize {
    compare(&read(path, None, way), path, count, way, order)
}

fn compare(whole: &Found, path: &Path, count: u32, way: Way, order: Order) -> usize {
    let text = format!("{} as {count} shards, {way:?}", path.display());
    compare_with(whole, path, count, order, &text, |shard| read(path, Some(shard), way))
}

/// Compares what `read` finds in the shards of a file with the whole. Returns the number of shards that had records.
pub(crate) fn compare_with(
    whole: &Found,
    path: &Path,
    count: u32,
    order: Order,
    text: &str,
    read: impl Fn(Shard) -> Found,
) -> usize {
    let mut records = Vec::new();
    let mut rejects = Vec::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut used = 0;
    let has_frames = path.extension().is_some_and(|extension| extension == "zst");
    for shard in shards(count) {
        let found = read(shard);
        let failure = &found.summary.failure;
        assert!(matches!(failure, None | Some(Error::NoRecord { .. })), "{text}: {failure:?}");
        used += usize::from(found.summary.records > 0);
        for reject in &found.rejects {
            assert!(count == 1 || reject.place.line.is_none(), "{text}");
            assert!(reject.place.record < found.summary.records, "{text}");
        }
        for (name, times) in found.counts {
            *counts.entry(name).or_default() += times;
        }
        records.extend(found.records);
        rejects.extend(found.rejects);
    }
    let mut expected = whole.records.clone();
    if order == Order::Turns {
        expected.sort_unstable();
        records.sort_unstable();
    }
    assert_eq!(records.len(), expected.len(), "{text}");
    assert!(records == expected, "{text}");
    let texts = |rejects: &[Reject]| {
        let mut texts: Vec<String> = rejects.iter().map(reject_text).collect();
        texts.sort_unstable();
        texts
    };
    if has_frames {
        assert_eq!(rejects.len(), whole.rejects.len(), "{text}");
    } else {
        assert_eq!(texts(&rejects), texts(&whole.rejects), "{text}");
    }
    counts.retain(|_, times| *times > 0);
    let mut expected = whole.counts.clone();
    expected.retain(|_, times| *times > 0);
    assert_eq!(counts, expected, "{text}");
    used
}

pub(crate) fn write(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd_frame(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 1).unwrap()
}

/// Frames of this length, as `pzstd` writes them if `sizes`: a skippable frame before each.
pub(crate) fn frames(content: &[u8], len: usize, sizes: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in content.chunks(len) {
        let frame = zstd_frame(part);
        if sizes {
            bytes.extend(0x184D_2A50_u32.to_le_bytes());
            bytes.extend(4_u32.to_le_bytes());
            bytes.extend((frame.len() as u32).to_le_bytes());
        }
        bytes.extend(frame);
    }
    bytes
}

/// Checks a text as a file and in every container.
fn check_text(name: &str, text: &[u8], counts: &[u32], way: Way) {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let plain = write(directory, name, text);
    let whole = read(&plain, None, way);
    for &count in counts {
        compare(&whole, &plain, count, way, Order::Places);
    }
    let zipped = write(directory, &format!("{name}.gz"), gzip(text));
    let single = write(directory, &format!("{name}.zst"), zstd_frame(text));
    for &count in counts.iter().filter(|&&count| count < 100) {
        compare(&whole, &zipped, count, way, Order::Turns);
        compare(&whole, &single, count, way, Order::Turns);
        for (len, sizes) in [(1 << 20, true), (70_000, false), (3000, true)] {
            if text.len() > len {
                let path = write(directory, &format!("f{name}.zst"), frames(text, len, sizes));
                compare(&whole, &path, count, way, Order::Places);
            }
        }
    }
}

/// Games one after the other, with some of everything.
fn many_games(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = Vec::new();
    while text.len() < len {
        let number = random.below(1000);
        let moves = ["e4 e5", "d4 d5", "Nf3 Nf6", "c4 Ke2", "e4 {[%eval 0.1]} e5 (1... c5)"];
        let result = ["1-0", "0-1", "1/2-1/2", "*", ""][random.below(5) as usize];
        text.extend(format!("[Event \"{number}\"]\n[White \"{}\"]\n\n", random.below(10)).bytes());
        text.extend(format!("1. {}", moves[random.below(5) as usize]).bytes());
        for ply in 0..random.below(60) {
            let mv = ["Nc3", "Nc6", "Nb1", "Nb8"][ply as usize % 4];
            let comment = ["", "", " {x}", " {a\n\n[Event \"no\"]\n\n1. e4}"][random.below(4) as usize];
            text.extend(format!(" {mv}{comment}").bytes());
        }
        text.extend(format!(" {result}\n\n").bytes());
    }
    text
}

#[test]
fn shards_of_the_sample_data_are_exact() {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in ["perft", "pgn/awkward"] {
        let Some(folder) = shared_data(folder) else {
            return;
        };
        paths.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.extend(
        [
            "epd/bratko-kopec.epd",
            "epd/FRC_openings.epd.zst",
            "csv/lichess_db_puzzle.half_a.csv",
            "jsonl/derived_eval_from_lichess_pgn.jsonl.zst",
            "wrappers/lichess_db_100k.pgn",
        ]
        .map(|name| shared_data(name).unwrap()),
    );
    for (at, path) in paths.into_iter().enumerate() {
        let mut text = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let name = name.strip_suffix(".zst").unwrap_or(&name);
        if name.len() < path.file_name().unwrap().len() {
            text = zstd::decode_all(&text[..]).unwrap();
        }
        // Half a megabyte is read often enough.
        let counts: &[u32] = if text.len() > 100_000 { &[3] } else { &[1, 7, MANY] };
        check_text(name, &text, counts, WAYS[at % WAYS.len()]);
        check_text(name, &text, &[2], WAYS[(at + 2) % WAYS.len()]);
    }
}

#[test]
fn shards_of_the_sample_containers_are_exact() {
    let Some(directory) = shared_data("wrappers") else {
        return;
    };
    let mut divided = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains("truncated") || name.contains("window28") {
            // Every shard that comes to the end reports it.
            let found: Vec<Found> = shards(2).map(|shard| read(&path, Some(shard), USUAL)).collect();
            assert!(found.iter().any(|found| found.summary.failure.is_some()), "{name}");
            continue;
        }
        for (way, count) in WAYS.into_iter().zip([2, 3, 16, 2]) {
            // The records of places are the same in this order.
            let used = check(&path, count, way, Order::Turns);
            divided += usize::from(used > 1);
        }
    }
    assert!(divided > 30, "{divided}");
}

#[test]
fn shards_of_large_texts_are_exact_and_even() {
    let text = many_games(1_000_000, 1);
    for (at, way) in WAYS.into_iter().enumerate() {
        check_text("x.pgn", &text, if at == 0 { &[2, 7, 16] } else { &[3] }, way);
    }
    let directory = tempfile::tempdir().unwrap();
    let plain = write(directory.path(), "x.pgn", &text);
    assert_eq!(check(&plain, 200, USUAL, Order::Places), 200);
    let frames = write(directory.path(), "x.pgn.zst", frames(&text, 100_000, true));
    assert_eq!(check(&frames, 8, USUAL, Order::Places), 8);
    let zipped = write(directory.path(), "x.pgn.gz", gzip(&text));
    assert_eq!(check(&zipped, 100, USUAL, Order::Turns), 100);
    for path in [&plain, &frames, &zipped] {
        let whole = read(path, None, USUAL).summary.records;
        for shard in shards(4) {
            let records = read(path, Some(shard), USUAL).summary.records;
            assert!(records > whole / 8 && records < whole / 2, "{}", path.display());
        }
    }
}

/// Texts that try to mislead the search for the beginning of a record.
fn awkward_games() -> Vec<Vec<u8>> {
    let game = |name: &str, moves: &str| format!("[Event \"{name}\"]\n\n{moves}\n\n");
    let filler = "x ".repeat(40_000);
    let inner = "[Event \"y\"]\n\n1. d4 d5 1-0\n\n";
    let mut texts = vec![
        String::new(),
        "\n".to_owned(),
        "1. e4".to_owned(),
        "[Event \"x\"]".to_owned(),
        "\u{feff}[Event \"x\"]\r\n\r\n1. e4 e5 1-0\r\n\r\n".repeat(50),
        // Games in comments, near and far from their braces.
        game("a", &format!("1. e4 {{ {inner} }} e5 1-0")).repeat(20),
        game("a", &format!("1. e4 {{ {inner} {filler} {inner} }} e5 1-0")).repeat(5),
        game("a", &format!("1. e4 {{ {filler} {inner} {filler} }} e5 1-0")).repeat(5),
        game("a", &format!("1. e4 {{ {filler} {inner} e5 1-0")).repeat(5),
        game("a", "1. e4 { never closed 1-0").repeat(50),
        game("a", "1. e4 } closed only } e5 1-0").repeat(50),
        game("a", &format!("1. e4 }} {filler} }} {inner} e5 1-0")).repeat(5),
        game("a", "1. e4 (1. d4 (1. c4) 1... d5 { x ) } ) e5 *").repeat(30),
        // No empty line, no tags, no results.
        "[Event \"x\"]\n1. e4 e5 1-0\n".repeat(200),
        "1. e4 e5 1-0\n1. d4 d5 0-1\n".repeat(200),
        "1. e4 e5 1-0 1. d4 d5 0-1 ".repeat(200),
        "e4 e5 1-0\ne4 c5 *\n".repeat(200),
        "1. e4 e5\n\n1. d4 d5\n\n".repeat(200),
        "[White \"x\"]\n[Black \"y\"]\n\n1. e4 *\n\n".repeat(100),
        "[White \"x\"]\n\n[White \"y\"]\n\n[White \"z\"]\n\n".repeat(100),
        format!("prose\n\n{}", game("a", "2. e4 e5 1-0 3. Nf3 Nc6")).repeat(30),
        format!("[Event \"x\"]\n\n1. e4 {}e5 1-0", "\n".repeat(200_000)),
        format!("{}\n", "[Event \"x\"] ".repeat(20_000)),
        format!("; {filler}\n% {filler}\n").repeat(3) + &game("a", "1. e4 *").repeat(3),
        format!("{}[Site \"x\"]\n\n1. e4 *\n", "[Event \"x\"]\n".repeat(20_000)),
    ];
    let mut crlf: Vec<String> = texts.iter().map(|text| text.replace('\n', "\r\n")).collect();
    texts.append(&mut crlf);
    let mut utf16 = Vec::new();
    for unit in game("a", "1. e4 *").repeat(20).encode_utf16() {
        utf16.extend(unit.to_le_bytes());
    }
    texts.into_iter().map(String::into_bytes).chain([utf16]).collect()
}

#[test]
fn shards_of_awkward_games_are_exact() {
    for (at, text) in awkward_games().iter().enumerate() {
        for (step, max_record) in [16 << 20, 1000, 64].into_iter().enumerate() {
            let way = WAYS[(at + step) % WAYS.len()];
            let way = Way { max_record, ..way };
            let count = match (at % 5, max_record) {
                (0, 1000) => MANY,
                _ => [2, 3, 16][(at / WAYS.len() + step) % 3],
            };
            check_text("x.pgn", text, &[count], way);
        }
    }
}

#[test]
fn shards_of_awkward_lines_are_exact() {
    const FEN: &str = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let block = format!("id one\nepd {FEN}\nperft 1 15\nperft 2 66\n");
    let comment = format!("# {}\n", "x".repeat(70_000));
    let texts = [
        String::new(),
        FEN.to_owned(),
        format!("{FEN}\n").repeat(100),
        format!("{FEN}\r\n\r\n").repeat(100),
        format!("\u{feff}{FEN}\nnonsense\n").repeat(100),
        block.repeat(50),
        block.replace("id one\n", "").repeat(50),
        block.replace('\n', "\n\n# perft 3 1\n").repeat(50),
        format!("{block}{FEN}\nperft 1 2\nid two\n{FEN}\n").repeat(50),
        format!("id one\n{comment}epd {FEN}\n{comment}perft 1 15\n").repeat(4),
        format!("epd {FEN}\n{}", "perft 1 15\n".repeat(8_000)),
        format!("epd {FEN}\n{}", "\n".repeat(100_000)).repeat(2),
        "id x\n".repeat(1000),
        "perft 1 2\n".repeat(1000),
        format!("id {}\nepd {FEN}\n", "x".repeat(70_000)).repeat(3),
        format!("{}\n{FEN}\n", "x".repeat(100_000)).repeat(3),
        "\n".repeat(1000),
    ];
    for (at, text) in texts.iter().enumerate() {
        for (step, max_record) in [16 << 20, 64].into_iter().enumerate() {
            for (more, name) in ["x.fen", "x.perft"].into_iter().enumerate() {
                let way = WAYS[(at + 2 * step + more) % WAYS.len()];
                let way = Way { max_record, ..way };
                check_text(name, text.as_bytes(), &[[2, 16][(at + step + more) % 2]], way);
            }
        }
        check_text("x.perft", text.as_bytes(), &[1, 3, MANY], USUAL);
    }
}

#[test]
fn records_beyond_every_limit_are_in_one_shard() {
    let directory = tempfile::tempdir().unwrap();
    let game = "[Event \"x\"]\n\n1. e4 e5 1-0\n\n";
    // What is examined before a record is given up ends in the middle of the reach of some of these ends, with and
    // without enough text after it.
    let middle = (16 << 20) + (100 << 10);
    let open_game = "[Event \"x\"]\n\n1. e4 e5\n\n";
    for (len, after) in [
        (16 << 20, game.repeat(10)),
        (middle, game.repeat(10)),
        (middle, game.repeat(5000)),
        (middle, open_game.repeat(5000)),
    ] {
        let mut text = game.repeat(10).into_bytes();
        // The blanks are what takes no time.
        let part = format!("1. e4 e5 1-0{}1. d4 d5 0-1 ", " ".repeat(100));
        text.extend(part.repeat(len / part.len()).bytes());
        // No result at the end of the line, where tagless text could be cut.
        text.extend(b"1. e4\n");
        text.extend(after.bytes());
        let path = write(directory.path(), "x.pgn", &text);
        check(&path, 2, USUAL, Order::Places);
        if after.len() > 1000 {
            // What comes after the others is the same.
            continue;
        }
        let moves = format!("Nf3 Nf6 Ng1 Ng8{}", " ".repeat(49));
        let mut text = game.repeat(10).into_bytes();
        text.extend(b"[Event \"y\"]\n\n");
        text.extend(moves.repeat(len / moves.len()).bytes());
        text.extend(b"\n\n");
        text.extend(game.repeat(10).bytes());
        let path = write(directory.path(), "x.pgn", &text);
        let way = Way { threads: 2, map: false, max_record: 1000, ..USUAL };
        check(&path, 2, way, Order::Places);
        let mut text = "4k3/8/8/8/8/8/8/4K2R w K - 0 1\n".repeat(10).into_bytes();
        text.extend(vec![b'x'; len]);
        text.push(b'\n');
        text.extend("4k3/8/8/8/8/8/8/4K2R w K - 0 1\n".repeat(10).bytes());
        let path = write(directory.path(), "x.fen", &text);
        check(&path, 3, USUAL, Order::Places);
    }
}

#[test]
fn shards_of_boards_files_are_blocks() {
    let directory = tempfile::tempdir().unwrap();
    for len in [0, 1, 4096, 4097, 5 * 4096 + 7] {
        let bytes = boards_bytes(&sample_batch(len));
        let plain = write(directory.path(), "x.boards", &bytes);
        let zipped = write(directory.path(), "x.boards.gz", gzip(&bytes));
        let framed = write(directory.path(), "x.boards.zst", frames(&bytes, 300_000, true));
        for way in WAYS {
            for count in [1, 2, 3, 16] {
                let used = check(&plain, count, way, Order::Places);
                assert!(len < 5 * 4096 || used >= count.min(3) as usize);
                check(&zipped, count, way, Order::Turns);
                check(&framed, count, way, Order::Turns);
            }
        }
        check(&plain, MANY, USUAL, Order::Places);
    }
    for name in ["three.boards", "three-1.0.boards", "three-1.1.boards"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
        for count in [2, 7] {
            assert_eq!(check(&path, count, USUAL, Order::Places), 1);
        }
    }
}

/// More shards than records: the last ones, or all but one, have nothing, and what holds for the whole is said once.
#[test]
fn shards_may_be_empty_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let position = "4k3/8/8/8/8/8/8/4K3 w - - 0 1\n";
    // The last game, which has no result, fills more than the last shard.
    let open = format!("[Event \"?\"]\n\n1. e4 *\n\n[Event \"?\"]\n\n1. e4 {{ {} }} e5", "a comment ".repeat(50_000));
    // One line that fills all shards, and one behind it.
    let long = format!("bad {}\n{position}", " ".repeat(300_000));
    for (name, text) in [
        ("one.fen", position.as_bytes()),
        ("open.pgn", open.as_bytes()),
        ("long.fen", long.as_bytes()),
        ("none.fen", b""),
    ] {
        for content in [text.to_vec(), [text, text].concat()] {
            let path = write(directory.path(), name, content);
            for count in [2, 3, 8, 40] {
                for way in WAYS {
                    check(&path, count, way, Order::Places);
                }
            }
        }
    }
    let path = write(directory.path(), "open.pgn", open);
    for count in [2, 3, 8] {
        let found: Vec<Found> = shards(count).map(|shard| read(&path, Some(shard), USUAL)).collect();
        assert_eq!(found[count as usize - 1].records.len(), 0);
        let notes: u64 = found.iter().map(|found| found.counts["notes"]).sum();
        assert_eq!(notes, 1, "{count}");
    }
}

#[test]
fn damage_of_a_boards_file_is_reported_by_some_shard() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = boards_bytes(&sample_batch(6 * 4096));
    let blocks: Vec<usize> = (0..bytes.len()).step_by(64).filter(|&at| bytes[at..].starts_with(b"LFBBLOCK")).collect();
    let failures = |bytes: &[u8], count: u32| {
        let path = write(directory.path(), "x.boards", bytes);
        let found = shards(count).map(|shard| read(&path, Some(shard), USUAL).summary.failure);
        found.map(|failure| failure.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(failures(&bytes, 3), [false; 3]);
    // The content of a block is for its shard to check.
    for (number, &block) in blocks.iter().enumerate() {
        let mut flipped = bytes.clone();
        flipped[block + 3000] ^= 1;
        let failed = failures(&flipped, 3);
        let range = |shard: usize| bytes.len() * shard / 3..bytes.len() * (shard + 1) / 3;
        let expected: Vec<bool> = (0..3).map(|shard| range(shard).contains(&block)).collect();
        assert_eq!(failed, expected, "{number}");
    }
    // What is wrong with the file as a whole is seen by all, a missing block as much as a missing end.
    let without = [&bytes[..blocks[2]], &bytes[blocks[3]..]].concat();
    for damaged in [
        &bytes[..bytes.len() - 64],
        &bytes[..bytes.len() - 1],
        &bytes[..blocks[4] + 1000],
        &bytes[..blocks[4]],
        &without,
        &[&bytes[..], &[0; 64]].concat(),
        &bytes[2048..],
    ] {
        assert_eq!(failures(damaged, 3), [true; 3]);
    }
}

#[test]
fn selections_and_limits_count_what_is_in_the_shard() {
    let text = many_games(300_000, 5);
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "x.pgn", &text);
    let selection = GameFilter::default().variations(true).drop_bad_games(true);
    let select = |options: &mut RunOptions<'_>| {
        options.read.choose.games = Some(Arc::new(selection.clone()));
    };
    let whole = read_with(&path, None, USUAL, select);
    let mut records = Vec::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for shard in shards(5) {
        let found = read_with(&path, Some(shard), USUAL, select);
        let all = found.records.clone();
        let some = read_with(&path, Some(shard), USUAL, |options| {
            select(options);
            (options.read.skip, options.read.limit) = (10, Some(20));
        });
        assert!(all.len() > 100 && some.summary.records == 20);
        assert!(some.records.iter().all(|record| all.contains(record)));
        records.extend(found.records);
        for (name, times) in found.counts {
            *counts.entry(name).or_default() += times;
        }
    }
    assert!(records == whole.records);
    assert_eq!(counts, whole.counts);
}

#[test]
fn rejects_of_frames_are_found_from_their_frame() {
    let mut text = Vec::new();
    for number in 0..6000 {
        let line = match number % 500 {
            499 => format!("bad {number}\n"),
            _ => format!("4k3/8/8/8/8/8/8/4K2R w K - 0 {}\n", 1 + number % 100),
        };
        text.extend(line.bytes());
    }
    let directory = tempfile::tempdir().unwrap();
    let bytes = frames(&text, 20_000, true);
    let path = write(directory.path(), "x.fen.zst", &bytes);
    let mut seen = 0;
    for way in WAYS {
        for shard in shards(2) {
            for reject in read(&path, Some(shard), way).rejects {
                let place = &reject.place;
                let frame = place.frame.unwrap_or(0) as usize;
                let content = zstd::decode_all(&bytes[frame..]).unwrap();
                assert!(content[place.offset as usize..].starts_with(&reject.raw));
                assert_eq!(place.frame.is_some(), shard.index() > 0);
                let mut line = Vec::new();
                reject.write_line(&mut line);
                let at = match place.frame {
                    Some(frame) => format!("@{frame}+{}\t", place.offset),
                    None => format!("@{}\t", place.offset),
                };
                assert!(String::from_utf8(line).unwrap().contains(&at));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, WAYS.len() * 12);
}

#[test]
fn only_the_bytes_of_a_shard_are_read() {
    let text = many_games(8_000_000, 9);
    let directory = tempfile::tempdir().unwrap();
    let plain = write(directory.path(), "x.pgn", &text);
    let framed = write(directory.path(), "x.pgn.zst", frames(&text, 200_000, true));
    let boards = boards_bytes(&sample_batch(40 * 4096));
    let boards = write(directory.path(), "x.boards", boards);
    for path in [plain, framed, boards] {
        let len = std::fs::metadata(&path).unwrap().len();
        for way in [WAYS[1], WAYS[2]] {
            for shard in shards(4) {
                let bytes = read(&path, Some(shard), way).summary.bytes;
                assert!(bytes < len / 4 + len / 8 + (2 << 20), "{bytes} of {len}, {way:?}");
            }
        }
    }
}

#[test]
fn a_damaged_container_fails_in_the_shards_that_read_it() {
    let text = many_games(1_000_000, 7);
    let directory = tempfile::tempdir().unwrap();
    let bytes = frames(&text, 100_000, true);
    let whole = &bytes[..bytes.len() - 1000];
    let path = write(directory.path(), "x.pgn.zst", whole);
    for way in WAYS {
        let expected = read(&path, None, way);
        let mut records = Vec::new();
        let mut failed = Vec::new();
        for shard in shards(4) {
            let found = read(&path, Some(shard), way);
            failed.push(matches!(found.summary.failure, Some(Error::Container { .. })));
            records.extend(found.records);
        }
        assert_eq!(failed, [false, false, false, true]);
        assert!(records == expected.records);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(25))]

    /// Pieces of games in any order, some of them longer than anything that is examined around a place.
    #[test]
    fn shards_of_any_soup_of_games_are_exact(
        tokens in proptest::collection::vec(0..TOKENS.len() + 2, 0..120),
        count in 2..20_u32,
        way in 0..WAYS.len(),
        max_record in proptest::sample::select(vec![64, 500, 100_000, 16 << 20]),
    ) {
        let mut text = Vec::new();
        for token in tokens {
            match TOKENS.get(token) {
                Some(token) => text.extend(token.bytes()),
                None if token == TOKENS.len() => text.extend(" x".repeat(33_000).bytes()),
                None => text.extend("\n".repeat(66_000).bytes()),
            }
        }
        let way = Way { max_record, ..WAYS[way] };
        check_text("x.pgn", &text, &[count], way);
        check_text("x.perft", &text, &[count], way);
    }
}

const TOKENS: [&str; 36] = [
    "[Event \"x\"]\n",
    "[Event \"y\"]\n",
    "[White \"a\"]\n",
    "[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n",
    "[Event \"x",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "1. e4 e5 ",
    "1. d4",
    "1.",
    "2. Nf3 ",
    "Nc3 Nc6 ",
    "1-0\n",
    "*\n\n",
    " 0-1",
    "1/2-1/2\n\n",
    "{",
    "}",
    "{ closed }",
    "{ a\n\n[Event \"z\"]\n\n1. c4 }",
    "(",
    ")",
    ";",
    "%",
    "\u{feff}",
    "\0",
    "$1 !? ",
    "id x\n",
    "epd 4k3/8/8/8/8/8/8/4K2R w K - 0 1\n",
    "perft 1 15\n",
    "4k3/8/8/8/8/8/8/4K2R w K - 0 1\n",
    "# x\n",
    "id",
    "nonsense\n",
];
