//! The pipeline: the results of a run do not depend on threads, chunks, or how bytes arrive, even if the input is
//! damaged, and one file does not affect the next.

use crate::formats::round_trips::{boards_bytes, lines, read, sample_batch};
use crate::support::{Ended, Random};
use lanefish::error::Error;
use lanefish::formats::{Chunk, DecodeOptions, Format, Totals};
use lanefish::input::Access;
use lanefish::pipeline::RunOptions;
use lanefish::table::Fields;
use std::io::Write;
use std::path::{Path, PathBuf};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn file(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Threads and chunk sizes, chosen to cut at every kind of place.
const CONFIGURATIONS: [(usize, usize); 6] =
    [(1, 1 << 20), (1, 64), (2, 1000), (8, 1 << 20), (8, 100_000), (64, 1 << 20)];

/// The outcome of a run, which must be the same in all [`CONFIGURATIONS`].
fn outcome(path: &Path, change: impl Fn(&mut RunOptions<'_>)) -> (Vec<String>, Ended) {
    let mut first: Option<(Vec<String>, Ended)> = None;
    for (threads, chunk_size) in CONFIGURATIONS {
        let (batch, summary) = read(&[path.to_owned()], |options| {
            options.threads = threads;
            options.chunk_size = chunk_size;
            change(options);
        });
        let found = (lines(&batch), summary);
        if let Some((records, expected)) = &first {
            let way = format!("{threads} threads, chunks of {chunk_size}");
            assert_eq!(records.len(), found.0.len(), "{way}");
            assert!(*records == found.0, "{way}");
            assert_eq!(outcome_text(expected), outcome_text(&found.1), "{way}");
        } else {
            first = Some(found);
        }
    }
    first.unwrap()
}

/// The parts of a summary that depend only on the input.
fn outcome_text(summary: &Ended) -> String {
    let rejects: Vec<String> =
        summary.first_rejects.iter().map(|reject| format!("{reject} {:?} {:?}", reject.reasons, reject.raw)).collect();
    let failure = summary.failure.as_ref().map(ToString::to_string);
    format!(
        "{} {} {} {} {:?} {:?} {rejects:#?} {failure:?}",
        summary.records, summary.rejected, summary.games, summary.games_taken, summary.reasons, summary.remarks
    )
}

/// Offsets of the blocks of a boards file.
fn blocks(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len()).step_by(64).filter(|&at| bytes[at..].starts_with(b"LFBBLOCK")).collect()
}

#[test]
fn exactly_the_records_before_damage_are_processed() {
    let directory = tempfile::tempdir().unwrap();
    let batch = sample_batch(10 * 4096 + 100);
    let bytes = boards_bytes(&batch);
    let all = lines(&batch);
    let blocks = blocks(&bytes);
    for damaged in [0, 1, 6, 10] {
        let mut flipped = bytes.clone();
        flipped[blocks[damaged] + 3000] ^= 4;
        // Of two damaged blocks the earlier one counts.
        if let Some(next) = blocks.get(damaged + 1) {
            flipped[next + 3000] ^= 4;
        }
        for (name, content) in
            [("x.boards", flipped.clone()), ("x.boards.zst", zstd::encode_all(&flipped[..], 1).unwrap())]
        {
            let path = file(directory.path(), name, content);
            let (found, summary) = outcome(&path, |_| {});
            assert!(found == all[..damaged * 4096]);
            let Some(Error::Damaged { damage, .. }) = summary.failure else { panic!("{:?}", summary.failure) };
            assert_eq!(damage.offset, blocks[damaged] as u64);
        }
    }
    // A missing block is detected at the next one.
    let without = [&bytes[..blocks[4]], &bytes[blocks[5]..]].concat();
    let path = file(directory.path(), "x.boards", without);
    let (found, summary) = outcome(&path, |_| {});
    assert!(found == all[..4 * 4096]);
    assert!(matches!(summary.failure, Some(Error::Damaged { damage, .. })
        if damage.offset == blocks[4] as u64));
}

#[test]
fn only_damage_before_the_limit_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let batch = sample_batch(3 * 4096);
    let mut bytes = boards_bytes(&batch);
    let second = blocks(&bytes)[2];
    bytes[second + 2000] ^= 1;
    let path = file(directory.path(), "x.boards", bytes);
    let all = lines(&batch);
    for (skip, limit, end, fails) in [
        (0, 100, 100, false),
        (5000, 10, 5010, false),
        (0, 8192, 8192, false),
        (0, 8193, 8192, true),
        (9000, 10, 9000, true),
        (10, u64::MAX, 8192, true),
    ] {
        let (found, summary) = outcome(&path, |options| {
            options.read.skip = skip;
            options.read.limit = (limit != u64::MAX).then_some(limit);
        });
        assert!(found == all[(skip as usize).min(end)..end], "{skip} {limit}");
        assert_eq!(summary.failure.is_some(), fails, "{skip} {limit}");
        assert_eq!(summary.records, found.len() as u64);
    }
}

#[test]
fn strict_processes_the_records_before_the_first_reject() {
    let directory = tempfile::tempdir().unwrap();
    for bad in ["bad", "8/8/8/8/8/8/8/K7 w - - 0 1"] {
        let text = format!("{0}{bad}\n{0}{START}worse\n", format!("{START}\n").repeat(1000));
        let path = file(directory.path(), "x.fen", text);
        let (found, summary) = outcome(&path, |options| options.read.strict = true);
        assert_eq!(found.len(), 1000);
        assert_eq!((summary.records, summary.rejected), (1001, 1));
        assert!(matches!(summary.failure, Some(Error::Strict(reject))
            if reject.place.line == Some(1001)));
    }
}

#[test]
fn rejects_are_in_order_with_lines_of_their_own_file() {
    let directory = tempfile::tempdir().unwrap();
    // Rejects of the decoder and of the lanes, interleaved.
    let text: String = (0..3000)
        .map(|line| match line % 1000 {
            7 => "nonsense\n".to_owned(),
            9 => "8/8/8/8/8/8/8/K7 w - - 0 1\n".to_owned(),
            11 => "4k3/8/8/8/8/8/8/4K3 x - - 0 1\n".to_owned(),
            _ => format!("{START}\n"),
        })
        .collect();
    let first = file(directory.path(), "a.fen", &text);
    let second = file(directory.path(), "b.fen", &text);
    for (threads, chunk_size) in CONFIGURATIONS {
        let mut places = Vec::new();
        let mut on_reject = |reject: &lanefish::error::Reject| {
            let place = &reject.place;
            places.push((place.record, place.line.unwrap(), place.file.clone()));
            Ok(())
        };
        let inputs = lanefish::input::Inputs::of([&*first, &*second]);
        let mut options = RunOptions::new(&crate::formats::round_trips::OnlyValidity);
        options.threads = threads;
        options.chunk_size = chunk_size;
        options.on_reject = Some(&mut on_reject);
        let summary = crate::support::run(&inputs, options, &crate::formats::round_trips::Collect, |_| Ok(()));
        assert_eq!((summary.records, summary.rejected), (6000, 18));
        let expected: Vec<_> = [&first, &second]
            .into_iter()
            .enumerate()
            .flat_map(|(number, path)| {
                (0..9u64).map(move |bad| {
                    let line = bad / 3 * 1000 + [7, 9, 11][bad as usize % 3];
                    (number as u64 * 3000 + line, line + 1, path.as_path().into())
                })
            })
            .collect();
        assert_eq!(places, expected);
    }
}

#[test]
fn each_boards_file_is_checked_on_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let batch = sample_batch(5000);
    let bytes = boards_bytes(&batch);
    let first = file(directory.path(), "a.boards", &bytes);
    let second = file(directory.path(), "b.boards", &bytes);
    let cut = file(directory.path(), "c.boards", &bytes[..bytes.len() - 64]);
    let (found, summary) = read(&[first.clone(), second], |_| {});
    assert!(summary.failure.is_none());
    assert_eq!(found.len(), 10_000);
    let (found, summary) = read(&[cut, first], |_| {});
    assert!(matches!(summary.failure, Some(Error::Damaged { .. })));
    assert_eq!(found.len(), 5000);
}

#[test]
fn rejects_number_games_over_all_inputs() {
    let directory = tempfile::tempdir().unwrap();
    let good = "[Event \"?\"]\n\n1. e4 e5 2. Nf3 *\n\n";
    let bad = "[Event \"?\"]\n\n1. e4 e5 2. Ke3 *\n\n";
    let text = [good.repeat(20), bad.to_owned(), good.repeat(3)].concat();
    let first = file(directory.path(), "a.pgn", &text);
    let second = file(directory.path(), "b.pgn", &text);
    let (_, summary) = read(&[first, second], |options| options.chunk_size = 64);
    let places: Vec<_> =
        summary.first_rejects.iter().map(|reject| (reject.place.game, reject.place.ply, reject.place.line)).collect();
    let line = 20 * 4 + 3;
    assert_eq!(places, [(Some(20), Some(2), Some(line)), (Some(44), Some(2), Some(line))]);
}

#[test]
fn games_after_the_limit_are_not_counted() {
    let directory = tempfile::tempdir().unwrap();
    let game = "[Event \"?\"]\n[WhiteElo \"1500\"]\n[BlackElo \"2500\"]\n\n1. e4 e5 2. Nf3 *\n\n";
    let other = game.replace("1500", "2500");
    let path = file(directory.path(), "x.pgn", [game, &other].concat().repeat(4000));
    let chosen = lanefish::choose::GameFilter::default().min_elo(Some(2000));
    for limit in [1, 3, 4, 5, 4001] {
        let (found, summary) = outcome(&path, |options| {
            options.read.limit = Some(limit);
            options.read.choose.games = Some(chosen.clone().into());
        });
        assert_eq!(found.len() as u64, limit);
        // Four positions per game, and one skipped game before each.
        let games = limit.div_ceil(4);
        assert_eq!(summary.left_out["min-elo"].games, games);
        assert_eq!(summary.games, 2 * games);
        assert_eq!(summary.games_taken, games);
    }
    // Of the games before the first record that is requested nothing was taken.
    let (found, summary) = outcome(&path, |options| {
        options.read.skip = 4 * 3000 + 1;
        options.read.choose.games = Some(chosen.clone().into());
    });
    assert_eq!((found.len(), summary.games_taken), (4 * 1000 - 1, 1000));
}

/// Notes on what stands after the record that ends a run would come or not, as chunks happen to be cut.
#[test]
fn strict_runs_note_nothing_after_the_reject() {
    let directory = tempfile::tempdir().unwrap();
    let game = |tag: &str, moves: &str| format!("[Event \"?\"]\n{tag}\n{moves} *\n\n");
    let good = game("", "1. e4 e5");
    let bad = game("", "1. e4 Kxe1");
    let noted = game("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/8/4K3 w KQ - 0 1\"]\n", "1. Ke2");
    let games = [noted.repeat(3), good.repeat(2000), bad, noted.repeat(2000)].concat();
    // Dropped en passant squares, and a position that only judging rejects.
    let line = "4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1\n";
    let invalid = "4k3/8/8/8/8/8/8/4K2r w - - 0 1\n4k3/8/8/8/4R3/8/8/4K3 w - - 0 1\n";
    let lines = [line.repeat(2000).as_str(), invalid, &line.repeat(2000)].concat();
    let begun = 3 + 2000 + 1;
    for (name, text, times, games) in [("x.pgn", games, 6, begun), ("x.epd", lines, 2000, 0)] {
        let path = file(directory.path(), name, text);
        let (_, summary) = outcome(&path, |options| options.read.strict = true);
        assert!(matches!(summary.failure, Some(lanefish::Error::Strict(_))), "{name}");
        let found: u64 = summary.remarks.iter().map(|(_, times)| times).sum();
        assert_eq!((found, summary.games), (times, games), "{name}");
    }
}

/// A limit may fall among bad records that no good one follows, or that follow the last good one of a chunk.
#[test]
fn limits_among_bad_records_count_them() {
    let directory = tempfile::tempdir().unwrap();
    let (good, bad) = (format!("{START}\n"), "bad\n");
    let lines = [&good, bad, &good, &good, bad, bad, bad, &good, bad, bad];
    let list = file(directory.path(), "x.fen", lines.concat());
    // Three positions, or one reject.
    let good = "[Event \"?\"]\n\n1. e4 e5 *\n\n";
    let bad = "[Event \"?\"]\n[FEN \"bad\"]\n\n1. e4 *\n\n";
    let text = [good, bad, good, bad, bad, bad, good, bad, bad].concat();
    let games = file(directory.path(), "x.pgn", text);
    for (path, good) in [(list, "+-++---+--"), (games, "+++-+++---+++--")] {
        for limit in 1..=good.len() as u64 + 1 {
            for skip in 0..=limit {
                let (found, summary) = outcome(&path, |options| {
                    options.read.limit = Some(limit - skip);
                    options.read.skip = skip;
                });
                let end = good.len().min(limit as usize);
                let range = &good[(skip as usize).min(end)..end];
                let bad = range.matches('-').count();
                let way = format!("{} {skip} {limit}", path.display());
                assert_eq!(found.len(), range.len() - bad, "{way}");
                assert_eq!(summary.records, range.len() as u64, "{way}");
                assert_eq!(summary.rejected, bad as u64, "{way}");
                let first = &summary.first_rejects;
                assert_eq!(first.len(), bad, "{way}");
                assert!(summary.failure.is_none(), "{way}");
            }
        }
    }
}

/// Of many rejects the first are kept, however they are spread over chunks and files.
#[test]
fn the_first_rejects_are_kept_over_all_chunks() {
    let directory = tempfile::tempdir().unwrap();
    for few in [1, 6, 9, 10, 11] {
        let text = |bad: usize, name: &str| {
            let lines: Vec<String> = (0..bad).map(|number| format!("{START}\n{name} {number}\n")).collect();
            lines.concat()
        };
        let first = file(directory.path(), "a.fen", text(few, "a"));
        let second = file(directory.path(), "b.fen", text(20, "b"));
        for (threads, chunk_size) in CONFIGURATIONS {
            let (_, summary) = read(&[first.clone(), second.clone()], |options| {
                options.threads = threads;
                options.chunk_size = chunk_size;
            });
            assert_eq!(summary.rejected, few as u64 + 20);
            let found: Vec<_> =
                summary.first_rejects.iter().map(|reject| String::from_utf8_lossy(&reject.raw).into_owned()).collect();
            let expected: Vec<_> = (0..few)
                .map(|number| format!("a {number}"))
                .chain((0..20).map(|number| format!("b {number}")))
                .take(lanefish::pipeline::FIRST_REJECTS)
                .collect();
            assert_eq!(found, expected, "{threads} {chunk_size}");
        }
    }
}

/// Sections begin at multiples of 64 bytes: a cut of lost bytes at any other place would lose all that follows.
#[test]
fn sections_after_lost_bytes_are_found_however_the_file_is_cut() {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = boards_bytes(&sample_batch(5 * 4096));
    let second = (2049..).find(|&at| bytes[at..].starts_with(b"LFBBLOCK"));
    // The first block's section header and its content.
    bytes[2048..second.unwrap()].fill(1);
    let path = file(directory.path(), "x.boards", &bytes);
    let (found, summary) = outcome(&path, |options| options.past_damage = true);
    assert_eq!(found.len(), 4 * 4096);
    assert!(!summary.files[0].damage.is_empty());
    for size in [999, 2000, 65_537] {
        let (found, _) = outcome(&path, |options| {
            options.past_damage = true;
            options.chunk_size = size;
            options.read.access = Access::default().map(size == 2000);
        });
        assert_eq!(found.len(), 4 * 4096, "{size}");
    }
}

/// Every kind of line of perft blocks, valid and invalid.
const KINDS: [&str; 22] = [
    "id a",
    "id ",
    "id",
    " id b c",
    "epd rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "epd 4k3/8/8/8/8/8/8/4K3 b - - 7 40",
    "epd nonsense",
    "\u{FEFF}epd 4k3/8/8/8/8/8/8/4K3 w - -",
    "perft 1 20",
    "perft 2 400",
    "\tperft 3 8902\r",
    "perft x",
    "perft",
    "perfect",
    "",
    "\r",
    "# remark",
    "4k3/8/8/8/8/8/8/4K3 w - - bm Kd1; id \"x\";",
    "4k3/8/8/8/8/8/8/4K3 w - - 3 4 ;D1 5 ;D2 25",
    "nonsense",
    "ep",
    "p",
];

/// Records, operations, rejects and their places of a text, in one chunk or several.
fn decoded(format: Format, chunks: &[&[u8]], max_record: usize) -> Vec<String> {
    let options = DecodeOptions::default().fields(Fields::ALL).max_record(max_record);
    let mut totals = Totals::default();
    let mut offset = 0;
    let mut found = Vec::new();
    for bytes in chunks {
        let chunk = Chunk::new(Path::new("x").into(), bytes.to_vec().into()).offset(offset);
        let mut decoded = format.decode(&chunk, &options);
        decoded.number(&mut totals, &chunk);
        offset += bytes.len() as u64;
        for batch in &decoded.batches {
            let lines = lines(batch);
            found.extend((0..batch.len()).map(|row| (batch.index(row), lines[row].clone())));
        }
        for reject in &decoded.rejects {
            found.push((reject.place.record, format!("{reject}")));
        }
    }
    found.sort();
    found.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn blocks_do_not_depend_on_cuts_or_how_the_text_arrives() {
    let mut random = Random::new(1);
    for round in 0..1000 {
        let lines = 1 + random.below(40);
        let mut text = String::new();
        for _ in 0..lines {
            text += KINDS[random.below(KINDS.len() as u64) as usize];
            // Sometimes far apart: a block may extend over 64 KiB.
            if random.below(60) == 0 {
                text += &"\n".repeat(70_000);
            }
            if random.below(100) == 0 {
                text += &" ".repeat(70_000);
            }
            text += "\n";
        }
        if random.below(2) == 0 {
            text.pop();
        }
        let bytes = text.as_bytes();
        let max_record = [1 << 24, 60][usize::from(random.below(4) == 0)];
        let whole = decoded(Format::EPD, &[bytes], max_record);
        // Pieces as from a pipe: complete parts are decoded, the rest waits.
        let (mut chunks, mut from, mut seen) = (Vec::new(), 0, 0);
        while seen < bytes.len() {
            let step = match random.below(3) {
                0 => 1 + random.below(8),
                1 => 1 + random.below(200),
                _ => 1 + random.below(100_000),
            };
            seen = bytes.len().min(seen + step as usize);
            if let Some(len) = Format::EPD.cut(&bytes[from..seen], max_record) {
                assert!(len > 0 && len <= seen - from);
                chunks.push(&bytes[from..from + len]);
                from += len;
            }
        }
        chunks.push(&bytes[from..]);
        assert_eq!(decoded(Format::EPD, &chunks, max_record), whole, "round {round}: {text:?}");
    }
}

#[test]
fn a_perft_list_is_read_alike_in_all_line_formats() {
    let block = "id x\nepd rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nperft 1 20\nperft 2 400\n\n";
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "x.txt", block.repeat(2000));
    for format in [Format::FEN, Format::EPD, Format::PERFT] {
        let (found, summary) = outcome(&path, |options| options.read.from = Some(format));
        assert_eq!((found.len(), summary.rejected), (2000, 0), "{format}");
        assert!(found.iter().all(|line| line.ends_with("operations=id \"x\"; D1 20; D2 400;")));
    }
}

#[test]
fn a_bad_count_does_not_affect_the_others_of_its_block() {
    let directory = tempfile::tempdir().unwrap();
    let text = "epd 4k3/8/8/8/8/8/8/4K3 w - -\nperft 1 5\nperft 2 many\nperft 3 125\n";
    let path = file(directory.path(), "x.perft", text);
    let (found, summary) = outcome(&path, |_| {});
    assert_eq!(found, ["4k3/8/8/8/8/8/8/4K3 w - - 0 1 operations=D1 5; D3 125;"]);
    assert_eq!(summary.first_rejects[0].place.line, Some(3));
}

/// The outcome for each maximum, which must be the same for the mapped text and in two kinds of containers.
fn outcome_in_containers(name: &str, text: &[u8], max_records: &[usize]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    let frames: Vec<u8> = text.chunks(700_001).flat_map(|part| zstd::encode_all(part, 1).unwrap()).collect();
    let wrapped = [
        (name.to_owned(), text.to_vec()),
        (format!("{name}.gz"), gzip.finish().unwrap()),
        (format!("{name}.zst"), frames),
    ];
    let mut all = Vec::new();
    for &max_record in max_records {
        let mut first = None;
        for (wrapped, content) in &wrapped {
            let path = file(directory.path(), wrapped, content);
            for (threads, chunk_size) in [(1, 1 << 20), (2, 100_000)] {
                let (batch, summary) = read(std::slice::from_ref(&path), |options| {
                    options.threads = threads;
                    options.chunk_size = chunk_size;
                    options.read.decode.max_record = max_record;
                    options.read.decode.fields = Fields::NONE;
                });
                let found = format!("{} {}", outcome_text(&summary).replace(wrapped, name), batch.len());
                assert!(
                    *first.get_or_insert_with(|| found.clone()) == found,
                    "{wrapped} {max_record}: {} and {}",
                    &found[..found.len().min(1000)],
                    first.map_or(String::new(), |first| first[..first.len().min(1000)].to_owned())
                );
            }
        }
        all.extend(first);
    }
    all
}

#[test]
fn a_line_that_is_too_long_is_one_reject_however_it_arrives() {
    let long = |len: usize| format!("{START} bm e4; c0 \"{}\";\n", "x".repeat(len));
    let usual = format!("{START}\n");
    let text = [
        usual.repeat(3),
        long(100_000),
        usual.repeat(2000),
        "id x\n".to_owned(),
        long(17 << 20),
        usual.clone(),
        format!("# {}\n", "remark ".repeat(3 << 20)),
        "bad\n".to_owned(),
        usual.repeat(2),
        long(1 << 20),
    ]
    .concat();
    let outcomes = outcome_in_containers("x.epd", text.as_bytes(), &[64 << 10, 16 << 20]);
    for (outcome, long) in outcomes.iter().zip([4, 2]) {
        let rejects = outcome.matches("longer than").count();
        assert_eq!(rejects, long, "{}", &outcome[..2000.min(outcome.len())]);
        // The reported line is the long one, not the start of its block, and line numbers continue after it.
        assert!(outcome.contains("x.epd:2006 ") && outcome.contains("x.epd:2009 "));
    }
}

#[test]
fn a_game_that_is_too_long_is_one_reject_however_it_arrives() {
    let game = |moves: &str| format!("[Event \"?\"]\n[Result \"*\"]\n\n1. e4 e5 {moves} *\n\n");
    let moves = format!("Nf3 Nf6 Ng1 Ng8{}\n", " ".repeat(48));
    let long = |kibibytes: usize| game(&moves.repeat(kibibytes << 4));
    let text = [
        game("").repeat(1000),
        long(300),
        game(""),
        long(18 << 10),
        game("").repeat(3),
        game(&format!("{{ {} }}", "a comment\n".repeat(20_000))),
        game(""),
    ]
    .concat();
    let outcomes = outcome_in_containers("x.pgn", text.as_bytes(), &[100 << 10, 16 << 20]);
    for (outcome, long) in outcomes.iter().zip([3, 1]) {
        let rejects = outcome.matches("longer than").count();
        assert_eq!(rejects, long, "{}", &outcome[..2000.min(outcome.len())]);
    }
}
