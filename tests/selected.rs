//! Selection of games and positions in every format that carries what it needs: the records that the PGN gives.

use crate::formats::{lines, read};
use crate::support::{Random, SetRead as _, shared_data};
use lanefish::games::{Date, EcoRange, Outcome, Selection, TimeControl};
use lanefish::jobs::{FileOptions, RecordFile};
use lanefish::pipeline::{RunOptions, Shard, Summary};
use lanefish::table::{Batch, Field};
use lanefish::{Error, input::Inputs, tiers::Tier};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Games of all lengths with all kinds of facts, some unknown.
fn games() -> String {
    let mut random = Random::new(25);
    let moves = ["Nf3", "Nf6", "Ng1", "Ng8", "Nc3", "Nc6", "Nb1", "Nb8", "e4", "e5", "Bc4", "Bc5"];
    let mut text = String::new();
    for number in 0..150 {
        let mut pick = |choices: &[&str]| choices[random.below(choices.len() as u64) as usize].to_owned();
        let result = pick(&["1-0", "0-1", "1/2-1/2", "*"]);
        for (name, value) in [
            ("Event", "x".to_owned()),
            ("White", format!("Player {}", number % 7)),
            ("WhiteElo", pick(&["1500", "2000", "2400", "?", ""])),
            ("BlackElo", pick(&["1500", "1999", "2400", "?"])),
            ("ECO", pick(&["B12", "C00", "A", "?"])),
            ("TimeControl", pick(&["300+3", "60+0", "-", "?", "40/7200"])),
            ("Termination", pick(&["Normal", "Time forfeit"])),
            ("Date", pick(&["2025.05.01", "2024.??.??", "????.??.??", "1.6.2025"])),
            ("UTCDate", pick(&["2025.05.02", "9 May", "2024.12"])),
        ] {
            if !value.is_empty() {
                text += &format!("[{name} \"{value}\"]\n");
            }
        }
        // The cycle of twelve is legal however often it is cut; longer games repeat the knights' moves.
        let len = random.below(90) as usize;
        let line: Vec<&str> = (0..len).map(|ply| moves[if len > 12 { ply % 8 } else { ply }]).collect();
        text += &format!("[Result \"{result}\"]\n\n{} {result}\n\n", line.join(" "));
    }
    text
}

/// A file with the same records in the format of this name.
fn converted(from: &Path, name: &str) -> PathBuf {
    let to = from.with_file_name(name);
    let file = RecordFile::new(&to, None, FileOptions::default()).unwrap();
    let inputs = Inputs::resolve(&[from.to_owned()], |_| true).unwrap();
    let (summary, _) = file.write(&inputs, RunOptions::new(Tier::best().analyzer().unwrap()));
    assert!(summary.failure.is_none());
    to
}

/// The formats that carry all facts of games.
const NAMES: &[&str] = match cfg!(feature = "parquet") {
    true => &["g.boards", "g.parquet", "g.arrow", "g.arrows", "g.boards.zst"],
    false => &["g.boards", "g.boards.zst"],
};

fn selections() -> Vec<Selection> {
    let default = Selection::default;
    let speeds = |text: &str| -> Vec<TimeControl> { text.split(',').map(|name| name.parse().unwrap()).collect() };
    let date = |text: &str| Some(text.parse::<Date>().unwrap());
    let facts = [
        default(),
        default().min_elo(Some(2000)),
        default().max_elo(Some(1999)),
        default().time_controls(speeds("blitz,correspondence")),
        default().time_controls(speeds("?")),
        default().time_controls(speeds("40/7200")),
        default().results(vec![Some(Outcome::White), None]),
        default().terminations(vec!["time FORFEIT".to_owned()]),
        default().ecos(vec!["B1".parse::<EcoRange>().unwrap(), "C".parse().unwrap()]),
        default().since(date("2025-05-02")),
        default().until(date("2024")),
    ];
    let positions = [
        default(),
        default().first_ply(3).last_ply(Some(20)),
        default().skip_book(10),
        default().every(7),
        default().last(true),
        default().max_per_game(Some(3)).seed(5),
        default().skip_book(2).every(2).max_per_game(Some(1)),
        default().first_ply(60).last(true),
    ];
    let mut all = facts.to_vec();
    all.extend_from_slice(&positions[1..]);
    all.extend(positions[1..].iter().map(|some| some.clone().min_elo(Some(1999))));
    all
}

fn selected(path: &Path, selection: &Selection, change: impl FnOnce(&mut RunOptions<'_>)) -> (Batch, Summary) {
    read(&[path.to_owned()], |options| {
        options.read.decode.games = Some(Arc::new(selection.clone()));
        change(options);
    })
}

/// The records that are selected, and what is reported, are those of the PGN, however the file is cut.
#[test]
fn every_format_gives_the_records_of_the_pgn() {
    let directory = tempfile::tempdir().unwrap();
    let made = directory.path().join("made.pgn");
    std::fs::write(&made, games()).unwrap();
    let real = shared_data("pgn/lichess_db_1000k.pgn");
    for (number, pgn) in [Some(made), real].into_iter().flatten().enumerate() {
        let copy = directory.path().join(format!("{number}"));
        std::fs::create_dir(&copy).unwrap();
        let games = copy.join("g.pgn");
        std::fs::copy(&pgn, &games).unwrap();
        let files: Vec<_> = NAMES.iter().map(|name| converted(&games, name)).collect();
        for selection in selections() {
            let (expected, summary) = selected(&games, &selection, |_| ());
            let expected = lines(&expected);
            for (threads, chunk_size) in [(1, 1 << 20), (2, 64), (8, 300_000)] {
                for file in &files {
                    let (found, other) = selected(file, &selection, |options| {
                        options.threads = threads;
                        options.chunk_size = chunk_size;
                    });
                    let context = || format!("{} {threads} {selection:?}", file.display());
                    assert!(other.failure.is_none(), "{:?}", other.failure);
                    assert!(lines(&found) == expected, "{}", context());
                    assert_eq!(other.records, summary.records, "{}", context());
                    assert_eq!(other.left_out, summary.left_out, "{}", context());
                }
            }
        }
    }
}

/// `skip` and `limit` count what is selected, and what is reported then does not depend on how a file is cut.
#[test]
fn limits_count_what_is_selected() {
    let directory = tempfile::tempdir().unwrap();
    let games_path = directory.path().join("g.pgn");
    std::fs::write(&games_path, games()).unwrap();
    let files: Vec<_> = NAMES.iter().map(|name| converted(&games_path, name)).collect();
    for selection in selections() {
        for (skip, limit) in [(0, 1), (0, 40), (17, 100), (3, 0), (1_000, 5_000)] {
            let (expected, _) = selected(&games_path, &selection, |options| {
                (options.read.skip, options.read.limit) = (skip, Some(limit));
            });
            let mut reported = None;
            for (threads, chunk_size) in [(1, 1 << 20), (8, 64)] {
                for file in &files {
                    let (found, summary) = selected(file, &selection, |options| {
                        (options.read.skip, options.read.limit) = (skip, Some(limit));
                        (options.threads, options.chunk_size) = (threads, chunk_size);
                    });
                    let context = format!("{} {threads} {skip} {limit} {selection:?}", file.display());
                    assert!(lines(&found) == lines(&expected), "{context}");
                    let left_out = reported.get_or_insert_with(|| summary.left_out.clone());
                    assert_eq!(summary.left_out, *left_out, "{context}");
                }
            }
        }
    }
}

/// A file that does not carry what an option needs is an error with its name, before any other file is read.
#[test]
fn what_is_not_carried_cannot_be_selected_by() {
    let directory = tempfile::tempdir().unwrap();
    let games_path = directory.path().join("g.pgn");
    std::fs::write(&games_path, "[White \"a\"]\n\n1. e4 e5 *\n").unwrap();
    let fen = directory.path().join("x.fen");
    std::fs::write(&fen, "8/8/8/8/8/8/6k1/4K2R w K - 0 1\n").unwrap();
    let mut files: Vec<_> = NAMES.iter().map(|name| converted(&games_path, name)).collect();
    files.push(fen);
    let elo = Selection::default().min_elo(Some(1));
    for file in &files {
        for selection in [
            elo.clone(),
            Selection::default().variations(true),
            Selection::default().drop_bad_games(true),
            Selection::default().min_plies(1),
            Selection::default().time_controls(vec!["blitz".parse().unwrap()]),
        ] {
            let (records, summary) = read(&[games_path.clone(), file.clone()], |options| {
                options.read.decode.games = Some(Arc::new(selection.clone()));
            });
            let Some(Error::Selection { path, reason }) = &summary.failure else {
                panic!("{} {selection:?}: {:?}", file.display(), summary.failure);
            };
            assert_eq!(**path, **file);
            assert!(reason.contains("--"), "{reason}");
            assert!(records.is_empty());
        }
    }
    // PGN says itself that it has no ratings.
    let (_, summary) = selected(&games_path, &elo, |_| ());
    assert_eq!((summary.records, summary.failure.is_none()), (0, true));
    // Shards of boards files end within games.
    let last = Selection::default().last(true);
    let (_, summary) = selected(&files[0], &last, |options| options.read.shard = Shard::new(0, 2));
    assert!(matches!(summary.failure, Some(Error::Selection { .. })));
}

/// Records of no game are not positions of one, and have no ply.
#[test]
fn records_without_a_game_are_taken_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let games_path = directory.path().join("g.pgn");
    std::fs::write(&games_path, "1. e4 e5 2. Nf3 *\n").unwrap();
    let fen = directory.path().join("x.fen");
    std::fs::write(&fen, "8/8/8/8/8/8/6k1/4K2R w K - 0 1\n".repeat(3)).unwrap();
    let mixed = directory.path().join("g.boards");
    let file = RecordFile::new(&mixed, None, FileOptions::default()).unwrap();
    let inputs = Inputs::resolve(&[games_path.clone(), fen, games_path], |_| true).unwrap();
    let analyzer = Tier::best().analyzer().unwrap();
    assert!(file.write(&inputs, RunOptions::new(analyzer)).0.failure.is_none());
    for (selection, count) in [
        (Selection::default().last(true), 1 + 3 + 1),
        (Selection::default().skip_book(2), 2 + 2),
        (Selection::default().every(3), 2 + 3 + 2),
    ] {
        assert_eq!(selected(&mixed, &selection, |_| ()).0.len(), count);
    }
}

/// Bad positions of the games that are selected are rejects, with the rows of the file; those of others are left out.
#[cfg(feature = "parquet")]
#[test]
fn only_what_is_selected_is_judged() {
    use arrow_array::{RecordBatch, StringArray};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let rows = [
        ("8/8/8/8/8/8/6k1/4K2R w K - 0 1", "0-1"),
        ("8/8/8/8/8/8/6k1/4K2R w K - 0 1", "1-0"),
        ("8/8/8/8/8/8/8/4K2R w K - 0 1", "1-0"),
        ("nonsense", "1-0"),
        ("8/8/8/8/8/8/8/4K2R w K - 0 1", "0-1"),
        ("8/8/8/8/8/8/6k1/4K2R b - - 0 1", "1-0"),
    ];
    let column = |values: Vec<&str>| Arc::new(StringArray::from(values)) as arrow_array::ArrayRef;
    let table = RecordBatch::try_from_iter([
        ("fen", column(rows.iter().map(|row| row.0).collect())),
        ("result", column(rows.iter().map(|row| row.1).collect())),
    ])
    .unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let won = Selection::default().results(vec![Some(Outcome::White)]);
    let (batch, summary) = selected(&path, &won, |_| ());
    assert_eq!((batch.len(), summary.records, summary.rejected), (2, 4, 2));
    let places = summary.first_rejects.iter().map(|reject| &reject.place);
    let places: Vec<_> = places.map(|place| (place.record, place.row)).collect();
    assert_eq!(places, [(1, Some(2)), (2, Some(3))]);
    assert_eq!(summary.first_rejects[0].raw, rows[2].0.as_bytes());
}

/// Games are numbered on over all inputs, whatever their format: the parts of a file have as many games as the whole.
#[test]
fn games_are_numbered_on_over_all_inputs() {
    let directory = tempfile::tempdir().unwrap();
    let games_path = directory.path().join("g.pgn");
    std::fs::write(&games_path, games()).unwrap();
    let numbers = |batch: &Batch| -> Vec<Option<i64>> {
        let games = batch.values(Field::Game).unwrap();
        (0..batch.len()).map(|row| games.number(row)).collect()
    };
    let (whole, _) = read(std::slice::from_ref(&games_path), |_| ());
    for extension in NAMES.iter().map(|name| name.split_once('.').unwrap().1) {
        let parts: Vec<PathBuf> = (0..3)
            .map(|part| {
                let to = directory.path().join(format!("part{part}.{extension}"));
                let file = RecordFile::new(&to, None, FileOptions::default()).unwrap();
                let inputs = Inputs::resolve(std::slice::from_ref(&games_path), |_| true).unwrap();
                let options = RunOptions::new(Tier::best().analyzer().unwrap());
                let (summary, _) = file.write(&inputs, options.shard(Shard::new(part, 3)));
                assert!(summary.failure.is_none());
                to
            })
            .collect();
        let (joined, _) = read(&parts, |options| options.threads = 4);
        assert!(lines(&joined) == lines(&whole), "{extension}");
        // And on over the games of a PGN.
        let mixed = [games_path.clone(), parts[0].clone(), games_path.clone()];
        let (joined, _) = read(&mixed, |_| ());
        let numbers = numbers(&joined);
        assert!(numbers.is_sorted());
        assert_eq!(numbers[whole.len()], Some(150));
        let mut distinct = numbers.clone();
        distinct.dedup();
        let (part, _) = read(&parts[..1], |_| ());
        let games_of_part = part.values(Field::Game).unwrap().number(part.len() - 1);
        assert_eq!(distinct.len() as i64, 150 + games_of_part.unwrap() + 1 + 150);
    }
}

/// Games of more records than a chunk has: what is held back comes from many chunks. A game that is too long for that is
/// damage, and not held.
#[test]
fn games_may_be_longer_than_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let cycle = ["Nf3", "Nf6", "Ng1", "Ng8"];
    let game = |plies: usize| {
        let moves: Vec<&str> = (0..plies).map(|ply| cycle[ply % 4]).collect();
        format!("[Event \"x\"]\n\n{} *\n\n", moves.join(" "))
    };
    let pgn = directory.path().join("g.pgn");
    std::fs::write(&pgn, [game(5), game(20_000), game(9_000), game(0), game(7)].concat()).unwrap();
    for name in NAMES {
        let file = converted(&pgn, name);
        for selection in [
            Selection::default().last(true),
            Selection::default().every(997),
            Selection::default().skip_book(6).max_per_game(Some(9)),
            Selection::default().first_ply(10).last_ply(Some(12_000)).last(true),
        ] {
            let (expected, reported) = selected(&pgn, &selection, |_| ());
            for threads in [1, 8] {
                let (found, summary) = selected(&file, &selection, |options| {
                    (options.threads, options.chunk_size) = (threads, 64);
                });
                assert!(lines(&found) == lines(&expected), "{name} {selection:?}");
                assert_eq!(summary.left_out, reported.left_out);
            }
        }
    }
}

/// What no game can be, a file can still claim: what needs games whole does not hold it.
#[cfg(feature = "parquet")]
#[test]
fn games_that_are_too_long_to_be_held_are_damage() {
    use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
    const ROWS: usize = 1_150_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let fens: ArrayRef =
        Arc::new(StringArray::from_iter_values(std::iter::repeat_n("8/8/8/8/8/8/6k1/4K2R w K - 0 1", ROWS)));
    let game = |row: usize| {
        if (4..ROWS - 9).contains(&row) { 4 } else { row as u64 }
    };
    let games: ArrayRef = Arc::new(UInt64Array::from_iter_values((0..ROWS).map(game)));
    let table = RecordBatch::try_from_iter([("fen", fens), ("game", games)]).unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let (records, summary) = selected(&path, &Selection::default().last(true), |_| ());
    let failure = summary.failure.map(|failure| failure.to_string());
    let failure = failure.unwrap_or_default();
    assert!(failure.contains("a game of more than"), "{failure}");
    assert_eq!(records.len(), 4);
}
