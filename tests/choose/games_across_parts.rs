//! Games chosen where games and the parts of a file end in different places: row groups, blocks, damage, bad rows.

use crate::choose::games_of_other_formats::{assert_same, converted, plain_positions, selected};
use crate::formats::round_trips::read;
use lanefish::choose::{FilterCount, GameFilter};
use lanefish::error::Error;
use lanefish::table::{Batch, Field, Fields};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Games of knights' moves, each with so many plies and ratings.
fn pgn(games: impl IntoIterator<Item = (usize, &'static str)>) -> String {
    let cycle = ["Nf3", "Nf6", "Ng1", "Ng8"];
    let game = |(plies, elo): (usize, &str)| {
        let moves: Vec<&str> = (0..plies).map(|ply| cycle[ply % 4]).collect();
        format!("[WhiteElo \"{elo}\"]\n[BlackElo \"{elo}\"]\n\n{} *\n\n", moves.join(" "))
    };
    games.into_iter().map(game).collect()
}

fn write(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// A value of each record.
fn numbers(batch: &Batch, field: Field) -> Vec<usize> {
    (0..batch.len()).map(|row| batch.values(field).and_then(|all| all.number(row)).unwrap() as usize).collect()
}

/// The rows that are taken of some, of which game, ply and rating are given.
fn plainly_taken(selection: &GameFilter, rows: &[usize], of: impl Fn(usize) -> (usize, usize, usize)) -> Vec<usize> {
    let mut taken = Vec::new();
    for game in rows.chunk_by(|&a, &b| of(a).0 == of(b).0) {
        if selection.min_elo.is_none_or(|least| of(game[0]).2 >= least.into()) {
            let (_, kept) = plain_positions(selection, game.iter().map(|&row| of(row).1).collect());
            taken.extend(game.iter().filter(|&&row| kept.contains(&of(row).1)));
        }
    }
    taken
}

/// Before a damaged block, exactly the records before it count; past it, those of all other blocks. Neither threads nor
/// the size of chunks matter, although a game may be held back when the damage comes.
#[test]
fn damage_ends_the_games_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let games = (0..560).map(|number| (30, if number % 3 == 0 { "1000" } else { "2500" }));
    let path = write(directory.path(), "g.pgn", pgn(games));
    let whole = converted(&path, "g.boards");
    let bytes = std::fs::read(&whole).unwrap();
    let (records, _) = read(&[whole], |_| ());
    let fields = [Field::Game, Field::Ply, Field::WhiteElo].map(|field| numbers(&records, field));
    let of = |row: usize| (fields[0][row], fields[1][row], fields[2][row]);
    // Where the sections are.
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let len = u64::from_le_bytes(bytes[at + 8..at + 16].try_into().unwrap()) as usize;
        if bytes[at..].starts_with(b"LFBBLOCK") {
            blocks.push(at + len / 2);
        }
        at += len;
    }
    assert_eq!(blocks.len(), 5);
    for (number, place) in [0, 2, 4].map(|number| (number, blocks[number])) {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1;
        let damaged = write(directory.path(), "damaged.boards", &bytes);
        let (start, end) = (4096 * number, (4096 * (number + 1)).min(records.len()));
        for selection in [
            GameFilter::default().last(true),
            GameFilter::default().every(7),
            GameFilter::default().skip_book(5).every(3).min_elo(Some(2000)),
            GameFilter::default().min_elo(Some(2000)),
        ] {
            for past_damage in [false, true] {
                let after = if past_damage { end..records.len() } else { 0..0 };
                let rows: Vec<usize> = (0..start).chain(after).collect();
                let taken = plainly_taken(&selection, &rows, of);
                let mut expected = Batch::new();
                expected.extend_from(&records, taken.iter().copied());
                for (threads, chunk_size) in [(1, 1 << 20), (8, 64)] {
                    let (found, summary) = selected(&damaged, &selection, |options| {
                        (options.threads, options.chunk_size) = (threads, chunk_size);
                        options.past_damage = past_damage;
                    });
                    let context = format!("block {number}, {past_damage}, {threads} {chunk_size} {selection:?}");
                    assert_same(&found, &expected, &context);
                    let left_out: u64 = summary.left_out.values().map(|left| left.positions).sum();
                    assert_eq!(left_out as usize, rows.len() - taken.len(), "{context}");
                    if past_damage {
                        assert_eq!(summary.files[0].damage.len(), 1, "{context}");
                    } else {
                        assert!(matches!(summary.failure, Some(Error::Damaged { .. })), "{context}");
                    }
                }
            }
        }
    }
}

/// A game may lie in many blocks: what is behind the last record that is requested is not left out.
#[test]
fn limits_end_within_long_games() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "g.pgn", pgn([(9_000, "2500")]));
    let boards = converted(&path, "g.boards");
    for (selection, limit, option, left_out) in [
        (GameFilter::default().skip_book(5), 8_000, "skip-book", 5),
        (GameFilter::default().first_ply(5_000).last_ply(Some(5_100)), 1, "plies", 5_000),
        (GameFilter::default().first_ply(5_000).last_ply(Some(5_100)), 100, "plies", 5_000),
        (GameFilter::default().first_ply(5_000).last_ply(Some(5_100)), 101, "plies", 5_000),
        (GameFilter::default().first_ply(5_000).last_ply(Some(5_100)), 102, "plies", 9_001 - 101),
        // Of games that are needed whole, all positions count.
        (GameFilter::default().every(2), 3, "every", 4_500),
    ] {
        for (threads, chunk_size) in [(1, 1 << 20), (8, 64)] {
            let (_, summary) = selected(&boards, &selection, |options| {
                (options.threads, options.chunk_size) = (threads, chunk_size);
                options.read.limit = Some(limit);
            });
            let expected = [(option, FilterCount::new(0, left_out, 0))];
            assert!(summary.summary.left_out.into_iter().eq(expected), "{limit} {threads} {selection:?}");
        }
    }
}

/// Games are told apart by their file, too: each file may begin with a game of the same number.
#[test]
fn each_file_has_games_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "g.pgn", pgn([(3, "1000")]));
    let files = [converted(&path, "a.boards"), converted(&path, "b.boards")];
    for threads in [1, 4] {
        let (_, summary) = read(&files, |options| {
            options.read.choose.games = Some(Arc::new(GameFilter::default().min_elo(Some(2000))));
            options.threads = threads;
        });
        assert_eq!(summary.left_out["min-elo"], FilterCount::new(2, 8, 0));
    }
}

/// Fields by which a selection is made are not passed on where nobody asked for them.
#[test]
fn batches_have_the_fields_that_were_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "g.pgn", pgn([(3, "2500"), (4, "1000"), (5, "2500")]));
    let boards = converted(&path, "g.boards");
    for selection in
        [GameFilter::default().min_elo(Some(2000)), GameFilter::default().min_elo(Some(2000)).skip_book(1).every(2)]
    {
        for fields in [Fields::NONE, Fields::of(&[Field::Ply])] {
            let (records, _) = selected(&boards, &selection, |options| options.read.decode.fields = fields);
            assert!(!records.is_empty());
            assert!(records.fields.keys().copied().eq(fields.iter()), "{:?}", records.fields.keys());
        }
    }
}

#[cfg(feature = "parquet")]
mod tables {
    use super::*;
    use crate::choose::games_of_other_formats::{hashes, write_parts};
    use crate::support::Random;
    use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
    use lanefish::games::Outcome;
    use lanefish::pipeline::Shard;
    use std::fs::File;

    const GOOD: &str = "8/8/8/8/8/8/6k1/4K2R w K - 0 1";
    /// A position that can be read and is none.
    const INVALID: &str = "8/8/8/8/8/8/8/4K2R w K - 0 1";

    #[derive(Clone, Debug)]
    struct Row {
        fen: String,
        game: u64,
        ply: usize,
        elo: Option<u16>,
        result: &'static str,
    }

    impl Row {
        fn new(game: u64, elo: impl Into<Option<u16>>, result: &'static str) -> Self {
            Self { fen: GOOD.to_owned(), game, ply: 0, elo: elo.into(), result }
        }
    }

    /// Tables of all kinds, whose parts have so many rows.
    fn files(directory: &Path, rows: &[Row], part: usize) -> [PathBuf; 3] {
        let batch = |rows: &[Row]| {
            let elos = || -> ArrayRef { Arc::new(UInt16Array::from_iter(rows.iter().map(|row| row.elo))) };
            let texts =
                |text: fn(&Row) -> &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(rows.iter().map(text))) };
            let columns: [(&str, ArrayRef, bool); 6] = [
                ("fen", texts(|row| &row.fen), false),
                ("game", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.game))), false),
                ("ply", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.ply as u32))), false),
                ("white_elo", elos(), true),
                ("black_elo", elos(), true),
                ("result", texts(|row| row.result), false),
            ];
            RecordBatch::try_from_iter_with_nullable(columns).unwrap()
        };
        let batches: Vec<RecordBatch> = rows.chunks(part).map(batch).collect();
        let create = |extension| {
            let path = directory.join(format!("{part}.{extension}"));
            (File::create(&path).unwrap(), path)
        };
        write_parts(&batches, create("parquet"), create("arrow"), create("arrows"))
    }

    /// Two games with one number, each left out by another option, are two.
    #[test]
    fn games_of_one_number_side_by_side() {
        let directory = tempfile::tempdir().unwrap();
        let rows = [Row::new(0, 1000, "1-0"), Row::new(0, 1000, "1-0"), Row::new(0, 2500, "0-1")];
        let selection = GameFilter::default().min_elo(Some(2000)).results(vec![Some(Outcome::White)]);
        for part in [1, 2, 3] {
            for file in files(directory.path(), &rows, part) {
                let (_, summary) = selected(&file, &selection, |_| ());
                let expected = [("min-elo", FilterCount::new(1, 2, 0)), ("result", FilterCount::new(1, 1, 0))];
                assert!(summary.summary.left_out.into_iter().eq(expected), "{}", file.display());
            }
        }
    }

    /// Games with rows that are no positions, and some that cannot be read.
    fn with_bad_rows(unreadable: bool) -> Vec<Row> {
        let mut random = Random::new(8);
        let mut rows = Vec::new();
        for game in 0..40 {
            let elo = if random.below(3) == 0 { 1000 } else { 2500 };
            for ply in 0..1 + random.below(20) as usize {
                let fen = match random.below(8) {
                    0 if unreadable => format!("nonsense {ply}"),
                    1 => INVALID.to_owned(),
                    _ => GOOD.replace("0 1", &format!("0 {}", 1 + rows.len())),
                };
                rows.push(Row { fen, game, ply, elo: Some(elo), result: "*" });
            }
        }
        rows
    }

    /// What is expected of a run.
    struct Expected {
        /// Rows that are accepted.
        accepted: Vec<usize>,
        /// Number and row of each reject.
        rejects: Vec<(u64, u64)>,
        records: u64,
    }

    /// Rows that cannot be read are rejects of any selection, and rows that are taken and no positions as well.
    fn expected(rows: &[Row], selection: &GameFilter, requested: std::ops::Range<u64>, strict: bool) -> Expected {
        let is_bad = |row: usize| rows[row].fen.starts_with("nonsense");
        let readable: Vec<usize> = (0..rows.len()).filter(|&row| !is_bad(row)).collect();
        let of = |row: usize| (rows[row].game as usize, rows[row].ply, rows[row].elo.unwrap_or(0).into());
        let taken = plainly_taken(selection, &readable, of);
        let mut all = Expected { accepted: Vec::new(), rejects: Vec::new(), records: 0 };
        let numbered = (0..rows.len()).filter(|&row| is_bad(row) || taken.contains(&row)).zip(0..);
        for (row, number) in numbered.filter(|(_, number)| requested.contains(number)) {
            all.records += 1;
            if rows[row].fen == INVALID || is_bad(row) {
                all.rejects.push((number, row as u64));
            } else {
                all.accepted.push(row);
            }
            if strict && !all.rejects.is_empty() {
                break;
            }
        }
        all
    }

    /// Bad rows have the numbers and places that they have in a file of one part, whether their game is held back or not;
    /// with `strict`, nothing counts behind the first of them.
    #[test]
    fn bad_rows_within_games_that_are_held_back() {
        [true, false].into_iter().for_each(check_bad_rows);
    }

    fn check_bad_rows(unreadable: bool) {
        let directory = tempfile::tempdir().unwrap();
        let rows = with_bad_rows(unreadable);
        let parts = [7, 50, 1000];
        let files: Vec<PathBuf> = parts.iter().flat_map(|&part| files(directory.path(), &rows, part)).collect();
        for selection in [
            GameFilter::default().last(true),
            GameFilter::default().every(2),
            GameFilter::default().every(5).min_elo(Some(2000)),
            GameFilter::default().first_ply(4),
            GameFilter::default().min_elo(Some(2000)),
        ] {
            for (strict, requested) in [(false, 0..u64::MAX), (true, 0..u64::MAX), (false, 3..40), (true, 20..60)] {
                let expected = expected(&rows, &selection, requested.clone(), strict);
                let mut reported = None;
                for (file, threads) in files.iter().zip([1, 8].into_iter().cycle()) {
                    let mut rejects = Vec::new();
                    let mut on_reject = |reject: &lanefish::error::Reject| {
                        rejects.push((reject.place.record, reject.place.row.unwrap()));
                        Ok(())
                    };
                    let games = Arc::new(selection.clone());
                    let (found, summary) =
                        crate::formats::round_trips::read_with(std::slice::from_ref(file), &mut on_reject, |options| {
                            options.read.choose.games = Some(games);
                            options.read.strict = strict;
                            options.read.skip = requested.start;
                            options.read.limit = Some(requested.end - requested.start);
                            options.threads = threads;
                        });
                    let context = format!("{} {threads} {strict} {requested:?} {selection:?}", file.display());
                    let places: Vec<usize> = found.fullmove.iter().map(|&number| usize::from(number) - 1).collect();
                    assert_eq!(places, expected.accepted, "{context}");
                    assert_eq!(rejects, expected.rejects, "{context}");
                    assert_eq!(summary.records, expected.records, "{context}");
                    if !strict {
                        let first = reported.get_or_insert_with(|| summary.left_out.clone());
                        assert_eq!(summary.left_out, *first, "{context}");
                    }
                    let is_strict = matches!(summary.failure, Some(Error::Strict(_)));
                    assert_eq!(is_strict, strict && !expected.rejects.is_empty(), "{context}");
                }
            }
        }
    }

    /// What is left out does not depend on the parts of a file where the last record that is requested is a bad row.
    #[test]
    fn limits_that_end_with_a_bad_row() {
        let directory = tempfile::tempdir().unwrap();
        let mut rows: Vec<Row> = (0..12).map(|row| Row::new(row / 2, if row < 2 { 2500 } else { 1000 }, "*")).collect();
        rows[9].fen = "nonsense".to_owned();
        let selection = GameFilter::default().min_elo(Some(2000));
        for part in [1, 2, 4, 5, 12] {
            for file in files(directory.path(), &rows, part) {
                // The last record that is requested; the bad row; and what follows.
                for (limit, games, positions) in [(1, 0, 0), (2, 0, 0), (3, 4, 7), (4, 5, 9)] {
                    let (_, summary) = selected(&file, &selection, |options| options.read.limit = Some(limit));
                    let expected = FilterCount::new(games, positions, 0);
                    assert_eq!(summary.left_out["min-elo"], expected, "{} {limit}", file.display());
                }
            }
        }
    }

    /// A file without any rating is an error, whatever was read before it; a part of a file without ratings is none.
    #[test]
    fn files_and_shards_without_ratings() {
        let directory = tempfile::tempdir().unwrap();
        let path = write(directory.path(), "g.pgn", pgn([(9_000, "2500")]));
        let packed = converted(&path, "g.boards.zst");
        let bytes = std::fs::read(&packed).unwrap();
        let broken = write(directory.path(), "broken.boards.zst", &bytes[..bytes.len() - 20]);
        let selection = GameFilter::default().min_elo(Some(2000));
        let nulls: Vec<Row> = (0..9).map(|game| Row::new(game, None, "*")).collect();
        let folder = directory.path().join("nulls");
        std::fs::create_dir(&folder).unwrap();
        for file in files(&folder, &nulls, 4) {
            let (records, summary) = read(&[broken.clone(), file.clone()], |options| {
                options.read.choose.games = Some(Arc::new(selection.clone()));
                options.past_damage = true;
            });
            assert!(!hashes(&records).is_empty());
            let Some(Error::Selection { path, .. }) = &summary.failure else {
                panic!("{}: {:?}", file.display(), summary.failure);
            };
            assert_eq!(**path, *file);
        }
        let rows: Vec<Row> = (0..40).map(|row| Row::new(row, (row >= 20).then_some(2500), "*")).collect();
        for file in files(directory.path(), &rows, 5) {
            let mut found = 0;
            for shard in 0..4 {
                let (records, summary) = selected(&file, &selection, |options| {
                    options.read.shard = Shard::new(shard, 4);
                });
                assert!(summary.failure.is_none(), "{} {shard}: {:?}", file.display(), summary.failure);
                found += records.len();
            }
            assert_eq!(found, 20, "{}", file.display());
        }
    }
}
