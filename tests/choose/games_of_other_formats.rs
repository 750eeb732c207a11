//! Selection of games and positions in every format that carries what it needs: the records that the PGN gives.

use crate::formats::round_trips::{lines, read};
use crate::support::{Ended, Random, SetRead as _, shared_data};
use lanefish::choose::{EcoRange, FilterCount, GameFilter, LeftOutBy, TimeControl};
use lanefish::games::{Date, Outcome};
use lanefish::jobs::{FileOptions, RecordFile};
use lanefish::pipeline::{RunOptions, Shard};
use lanefish::table::{Batch, Field};
use lanefish::{Error, input::Inputs, tiers::Tier};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the tags of a game say, and how long it is.
#[derive(Debug)]
struct Game {
    result: &'static str,
    elos: [&'static str; 2],
    eco: &'static str,
    time_control: &'static str,
    termination: &'static str,
    date: &'static str,
    utc_date: &'static str,
    plies: usize,
}

impl Game {
    /// Whether both ratings fit; `None` if only an unknown one may not.
    fn rated(&self, fits: impl Fn(u16) -> bool) -> Option<bool> {
        let known: Vec<bool> = self.elos.iter().filter_map(|elo| elo.parse().ok()).map(fits).collect();
        match known.contains(&false) {
            true => Some(false),
            false => (known.len() == 2).then_some(true),
        }
    }
    /// The day that counts.
    fn day(&self) -> &'static str {
        match self.utc_date {
            "9 May" => self.date,
            day => day,
        }
    }
}

/// Games of all lengths with all kinds of facts, some unknown.
fn games() -> Vec<Game> {
    let mut random = Random::new(25);
    let mut game = || {
        let mut pick = |choices: &[&'static str]| choices[random.below(choices.len() as u64) as usize];
        Game {
            result: pick(&["1-0", "0-1", "1/2-1/2", "*"]),
            elos: [pick(&["1500", "2000", "2400", "?", ""]), pick(&["1500", "1999", "2400", "?"])],
            eco: pick(&["B12", "C00", "A", "?"]),
            time_control: pick(&["300+3", "60+0", "-", "?", "40/7200"]),
            termination: pick(&["Normal", "Time forfeit"]),
            date: pick(&["2025.05.01", "2024.??.??", "????.??.??", "1.6.2025"]),
            utc_date: pick(&["2025.05.02", "9 May", "2024.12"]),
            plies: random.below(90) as usize,
        }
    };
    (0..150).map(|_| game()).collect()
}

/// The games as PGN.
fn pgn(games: &[Game]) -> String {
    let moves = ["Nf3", "Nf6", "Ng1", "Ng8", "Nc3", "Nc6", "Nb1", "Nb8", "e4", "e5", "Bc4", "Bc5"];
    let mut text = String::new();
    for (number, game) in games.iter().enumerate() {
        for (name, value) in [
            ("Event", "x"),
            ("White", &format!("Player {}", number % 7)),
            ("WhiteElo", game.elos[0]),
            ("BlackElo", game.elos[1]),
            ("ECO", game.eco),
            ("TimeControl", game.time_control),
            ("Termination", game.termination),
            ("Date", game.date),
            ("UTCDate", game.utc_date),
        ] {
            if !value.is_empty() {
                text += &format!("[{name} \"{value}\"]\n");
            }
        }
        // The cycle of twelve is legal however often it is cut; longer games repeat the knights' moves.
        let len = game.plies;
        let line: Vec<&str> = (0..len).map(|ply| moves[if len > 12 { ply % 8 } else { ply }]).collect();
        text += &format!("[Result \"{0}\"]\n\n{1} {0}\n\n", game.result, line.join(" "));
    }
    text
}

/// A file with the same records in the format of this name.
pub(crate) fn converted(from: &Path, name: &str) -> PathBuf {
    let to = from.with_file_name(name);
    let file = RecordFile::new(&to, None, FileOptions::default()).unwrap();
    let inputs = Inputs::resolve(&[from.to_owned()], |_| true).unwrap();
    drop(file.write(&inputs, RunOptions::new(Tier::best().analyzer().unwrap())).unwrap());
    to
}

/// The formats that carry all facts of games.
const NAMES: &[&str] = if cfg!(feature = "parquet") {
    &["g.boards", "g.parquet", "g.arrow", "g.arrows", "g.boards.zst"]
} else {
    &["g.boards", "g.boards.zst"]
};

/// The same records in all formats, and in tables that are divided after so many rows.
fn files(pgn: &Path, rows: &[usize]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = NAMES.iter().map(|name| converted(pgn, name)).collect();
    #[cfg(feature = "parquet")]
    files.extend(rows.iter().flat_map(|&rows| divided(&pgn.with_file_name("g.parquet"), rows)));
    #[cfg(not(feature = "parquet"))]
    let _ = (rows, &mut files);
    files
}

/// The rows of a Parquet file, written again by the libraries, in row groups and record batches of so many rows.
#[cfg(feature = "parquet")]
fn divided(path: &Path, rows: usize) -> [PathBuf; 3] {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let file = std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(rows);
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    let create = |extension| {
        let path = path.with_file_name(format!("{rows}.{extension}"));
        (std::fs::File::create(&path).unwrap(), path)
    };
    write_parts(&batches, create("parquet"), create("arrow"), create("arrows"))
}

/// Record batches as files of all kinds, each a part of its file.
#[cfg(feature = "parquet")]
pub(crate) fn write_parts(
    batches: &[arrow_array::RecordBatch],
    parquet: (std::fs::File, PathBuf),
    arrow: (std::fs::File, PathBuf),
    stream: (std::fs::File, PathBuf),
) -> [PathBuf; 3] {
    let schema = batches[0].schema();
    let mut writer = parquet::arrow::ArrowWriter::try_new(parquet.0, Arc::clone(&schema), None).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(arrow.0, &schema).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(stream.0, &schema).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    [parquet.1, arrow.1, stream.1]
}

/// Options, and what is plainly to be expected of them.
struct Choice {
    selection: GameFilter,
    /// The option that looks at facts of games, if there is one.
    option: &'static str,
    /// Whether a game is taken; `None` if that is unknown.
    fits: fn(&Game) -> Option<bool>,
}

fn choices() -> Vec<Choice> {
    let default = GameFilter::default;
    let speeds = |text: &str| -> Vec<TimeControl> { text.split(',').map(|name| name.parse().unwrap()).collect() };
    let date = |text: &str| Some(text.parse::<Date>().unwrap());
    fn since(game: &Game) -> Option<bool> {
        (game.day() != "????.??.??").then(|| matches!(game.day(), "2025.05.02" | "1.6.2025"))
    }
    fn until(game: &Game) -> Option<bool> {
        (game.day() != "????.??.??").then(|| game.day().starts_with("2024"))
    }
    type Fact = (GameFilter, &'static str, fn(&Game) -> Option<bool>);
    let facts: [Fact; 10] = [
        (default().min_elo(Some(2000)), "min-elo", |game| game.rated(|elo| elo >= 2000)),
        (default().max_elo(Some(1999)), "max-elo", |game| game.rated(|elo| elo <= 1999)),
        (default().time_controls(speeds("blitz,correspondence")), "time-control", |game| {
            (game.time_control != "?").then_some(matches!(game.time_control, "300+3" | "-"))
        }),
        (default().time_controls(speeds("?")), "time-control", |game| Some(game.time_control == "?")),
        (default().time_controls(speeds("40/7200")), "time-control", |game| {
            (game.time_control != "?").then(|| game.time_control == "40/7200")
        }),
        (default().results(vec![Some(Outcome::White), None]), "result", |game| {
            Some(matches!(game.result, "1-0" | "*"))
        }),
        (default().terminations(vec!["time FORFEIT".to_owned()]), "termination", |game| {
            Some(game.termination == "Time forfeit")
        }),
        (default().ecos(vec!["B1".parse::<EcoRange>().unwrap(), "C".parse().unwrap()]), "eco", |game| {
            Some(matches!(game.eco, "B12" | "C00"))
        }),
        (default().since(date("2025-05-02")), "since", since),
        (default().until(date("2024")), "until", until),
    ];
    let positions = [
        default(),
        default().first_ply(3).last_ply(Some(20)),
        default().skip_book(10),
        default().every(7),
        default().last(true),
        default().max_per_game(Some(3)).seed(5),
        default().skip_book(2).every(2).max_per_game(Some(1)),
        default().skip_book(5).every(2),
        default().first_ply(60).last(true),
    ];
    let facts = facts.map(|(selection, option, fits)| Choice { selection, option, fits });
    let all = positions.iter().map(|some| Choice { selection: some.clone(), option: "", fits: |_| Some(true) });
    let rated = positions[1..].iter().map(|some| Choice {
        selection: some.clone().min_elo(Some(1999)),
        option: "min-elo",
        fits: |game| game.rated(|elo| elo >= 1999),
    });
    facts.into_iter().chain(all).chain(rated).collect()
}

/// Positions that are left out, by option, and the plies of those that are taken; of a sample, only their number is right.
pub(crate) fn plain_positions(
    selection: &GameFilter,
    mut plies: Vec<usize>,
) -> (Vec<(&'static str, usize)>, Vec<usize>) {
    let mut left_out = Vec::new();
    let mut keep = |option, plies: &mut Vec<usize>, keeps: &dyn Fn(usize, usize, usize) -> bool| {
        let len = plies.len();
        let kept: Vec<usize> = (0..len).filter(|&at| keeps(at, plies[at], len)).map(|at| plies[at]).collect();
        left_out.push((option, len - kept.len()));
        *plies = kept;
    };
    let (first, last) = (selection.plies.first as usize, selection.plies.last.map_or(usize::MAX, |last| last as usize));
    let (book, every) = (selection.skip_book as usize, selection.every.max(1) as usize);
    let most = selection.max_per_game.map_or(usize::MAX, |most| most as usize);
    keep("plies", &mut plies, &|_, ply, _| ply >= first && ply <= last);
    keep("skip-book", &mut plies, &|_, ply, _| ply >= book);
    keep("every", &mut plies, &|at, _, _| at % every == 0);
    keep("last", &mut plies, &|at, _, len| !selection.last || at + 1 == len);
    keep("max-per-game", &mut plies, &|at, _, _| at < most);
    (left_out, plies)
}

/// What is left out up to a record, of which game and ply are given: a game is left out where it begins, and of one whose
/// positions depend on each other all of them are.
fn plainly_left_out(games: &[Game], choice: &Choice, end: Option<(usize, usize)>) -> LeftOutBy {
    let selection = &choice.selection;
    let is_whole = selection.every > 1 || selection.last || selection.max_per_game.is_some();
    let mut left_out: LeftOutBy = selection.options().map(|option| (option, FilterCount::default())).collect();
    for (number, game) in games.iter().enumerate() {
        let plies: Vec<usize> = match end {
            Some((last, ply)) if number == last && !is_whole => (0..=ply).collect(),
            Some((last, _)) if number > last => break,
            _ => (0..=game.plies).collect(),
        };
        let fits = (choice.fits)(game);
        if fits != Some(true) {
            let unknown = u64::from(fits.is_none());
            left_out.get_mut(choice.option).unwrap().add(FilterCount::new(1, plies.len() as u64, unknown));
            continue;
        }
        for (option, positions) in plain_positions(selection, plies).0.into_iter().filter(|&(_, count)| count != 0) {
            left_out.get_mut(option).unwrap().add(FilterCount::new(0, positions as u64, 0));
        }
    }
    left_out
}

pub(crate) fn selected(
    path: &Path,
    selection: &GameFilter,
    change: impl FnOnce(&mut RunOptions<'_>),
) -> (Batch, Ended) {
    read(&[path.to_owned()], |options| {
        options.read.choose.games = Some(Arc::new(selection.clone()));
        change(options);
    })
}

/// A number for each record, made of all that it carries.
pub(crate) fn hashes(batch: &Batch) -> Vec<u64> {
    let hash = |row: usize| {
        let mut hash = DefaultHasher::new();
        let board = batch.board(row);
        (board.color, board.types, batch.halfmove[row], batch.fullmove[row]).hash(&mut hash);
        for (field, values) in &batch.fields {
            let value = (values.text(row), values.number(row));
            if value != (None, None) {
                (field.name(), value).hash(&mut hash);
            }
        }
        hash.finish()
    };
    (0..batch.len()).map(hash).collect()
}

/// The same records; where they are not, the first that differs.
#[track_caller]
pub(crate) fn assert_same(found: &Batch, expected: &Batch, context: &str) {
    if hashes(found) != hashes(expected) {
        let (found, expected) = (lines(found), lines(expected));
        let first = found.iter().zip(&expected).position(|(a, b)| a != b);
        let at = first.unwrap_or(found.len().min(expected.len()));
        let (left, right) = (found.get(at), expected.get(at));
        panic!("{context}: {} and {} records; {at}: {left:?}, not {right:?}", found.len(), expected.len());
    }
}

/// Game and ply of each record.
fn places(batch: &Batch) -> Vec<(usize, usize)> {
    let number = |field, row| batch.values(field).and_then(|values| values.number(row)).unwrap() as usize;
    (0..batch.len()).map(|row| (number(Field::Game, row), number(Field::Ply, row))).collect()
}

/// Threads and sizes of chunks, one after the other.
fn sizes() -> impl Iterator<Item = (usize, usize)> {
    [(1, 1 << 20), (2, 64), (8, 300_000), (8, 64), (1, 4096)].into_iter().cycle()
}

/// The records that are selected, and what is reported, are those of the PGN, however the file is cut.
#[test]
fn every_format_gives_the_records_of_the_pgn() {
    let directory = tempfile::tempdir().unwrap();
    let made = directory.path().join("made.pgn");
    let all = games();
    std::fs::write(&made, pgn(&all)).unwrap();
    let real = shared_data("pgn/lichess_db_1000k.pgn").map(|real| {
        // Some games of it.
        let text = std::fs::read_to_string(real).unwrap();
        let some = directory.path().join("real.pgn");
        let end = text[..text.len().min(60_000)].rfind("\n[Event ").unwrap();
        std::fs::write(&some, &text[..end]).unwrap();
        some
    });
    let mut sizes = sizes();
    for (number, pgn) in [Some(made), real].into_iter().flatten().enumerate() {
        let copy = directory.path().join(format!("{number}"));
        std::fs::create_dir(&copy).unwrap();
        let path = copy.join("g.pgn");
        std::fs::copy(&pgn, &path).unwrap();
        let files = files(&path, if number == 0 { &[333] } else { &[] });
        for choice in choices() {
            let selection = &choice.selection;
            let (expected, summary) = selected(&path, selection, |_| ());
            if number == 0 {
                assert_eq!(summary.left_out, plainly_left_out(&all, &choice, None), "{selection:?}");
                let taken: usize = all
                    .iter()
                    .filter(|game| (choice.fits)(game) == Some(true))
                    .map(|game| plain_positions(selection, (0..=game.plies).collect()).1.len())
                    .sum();
                assert_eq!(expected.len(), taken, "{selection:?}");
            }
            for (file, (threads, chunk_size)) in files.iter().zip(&mut sizes) {
                let (found, other) = selected(file, selection, |options| {
                    (options.threads, options.chunk_size) = (threads, chunk_size);
                });
                let context = format!("{} {threads} {chunk_size} {selection:?}", file.display());
                assert!(other.failure.is_none(), "{context} {:?}", other.failure);
                assert_same(&found, &expected, &context);
                assert_eq!(other.records, summary.records, "{context}");
                assert_eq!(other.left_out, summary.left_out, "{context}");
            }
        }
    }
}

/// `skip` and `limit` count what is selected, and nothing behind the last record that is requested is left out, however a
/// file is cut.
#[test]
fn limits_count_what_is_selected() {
    let directory = tempfile::tempdir().unwrap();
    let all = games();
    let mut sizes = sizes();
    let mut turn = 0;
    // Few games in parts of few rows; and more of them, in large ones.
    for (count, rows, limits) in [
        (25, &[7, 50][..], &[(0, 1), (0, 9), (2, 3), (3, 0), (5, 40), (0, 222), (0, 499), (1, 5000)][..]),
        (150, &[400], &[(0, 40), (17, 100), (0, 2500), (900, 4000)]),
    ] {
        let games = &all[..count];
        let copy = directory.path().join(format!("{count}"));
        std::fs::create_dir(&copy).unwrap();
        let path = copy.join("g.pgn");
        std::fs::write(&path, pgn(games)).unwrap();
        let files = files(&path, rows);
        for choice in choices() {
            let selection = &choice.selection;
            let (whole, _) = selected(&path, selection, |_| ());
            let places = places(&whole);
            for &(skip, limit) in limits {
                let end = (skip + limit) as usize;
                let start = (skip as usize).min(whole.len());
                let mut expected = Batch::new();
                expected.extend_from(&whole, start..end.clamp(start, whole.len()));
                let left_out = plainly_left_out(games, &choice, places.get(end - 1).copied());
                for file in &files {
                    // In turn: each file with each limit, and with each selection.
                    turn += 1;
                    if turn % 5 != 0 {
                        continue;
                    }
                    let (threads, chunk_size) = sizes.next().unwrap();
                    let (found, summary) = selected(file, selection, |options| {
                        (options.read.skip, options.read.limit) = (skip, Some(limit));
                        (options.threads, options.chunk_size) = (threads, chunk_size);
                    });
                    let context = format!("{} {threads} {chunk_size} {skip} {limit} {selection:?}", file.display());
                    assert!(summary.failure.is_none(), "{context} {:?}", summary.failure);
                    assert_same(&found, &expected, &context);
                    assert_eq!(summary.left_out, left_out, "{context}");
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
    let elo = GameFilter::default().min_elo(Some(1));
    for file in &files {
        for selection in [
            elo.clone(),
            GameFilter::default().variations(true),
            GameFilter::default().drop_bad_games(true),
            GameFilter::default().min_plies(1),
            GameFilter::default().time_controls(vec!["blitz".parse().unwrap()]),
        ] {
            let (records, summary) = read(&[games_path.clone(), file.clone()], |options| {
                options.read.choose.games = Some(Arc::new(selection.clone()));
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
    // Shards of boards files end within games, and take whole ones.
    for whole in
        [GameFilter::default().last(true), GameFilter::default().every(2), GameFilter::default().max_per_game(Some(1))]
    {
        let (all, _) = selected(&files[0], &whole, |_| ());
        let shards =
            [0, 1].map(|index| selected(&files[0], &whole, |options| options.read.shard = Shard::new(index, 2)).0);
        assert_eq!(shards.map(|records| records.len()).iter().sum::<usize>(), all.len(), "{whole:?}");
    }
    // Every position is not a choice.
    let fen = files.last().unwrap();
    let (records, summary) = selected(fen, &GameFilter::default().every(1), |_| ());
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    assert_eq!((records.len(), summary.left_out.clone()), (1, LeftOutBy::new()));
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
    drop(file.write(&inputs, RunOptions::new(analyzer)).unwrap());
    for (selection, count) in [
        (GameFilter::default().last(true), 1 + 3 + 1),
        (GameFilter::default().skip_book(2), 2 + 2),
        (GameFilter::default().every(3), 2 + 3 + 2),
        (GameFilter::default().first_ply(0).last_ply(Some(5)), 4 + 4),
        (GameFilter::default().first_ply(1), 3 + 3),
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
    let won = GameFilter::default().results(vec![Some(Outcome::White)]);
    let (batch, summary) = selected(&path, &won, |_| ());
    assert_eq!((batch.len(), summary.records, summary.rejected), (2, 4, 2));
    let places: Vec<_> =
        summary.first_rejects.iter().map(|reject| &reject.place).map(|place| (place.record, place.row)).collect();
    assert_eq!(places, [(1, Some(2)), (2, Some(3))]);
    assert_eq!(summary.first_rejects[0].raw, rows[2].0.as_bytes());
    assert_eq!(summary.left_out["result"].positions, 2);
    // A run that ends with the first of them says nothing of what was left out: that would depend on chunks.
    let (_, summary) = selected(&path, &won, |options| options.read.strict = true);
    assert!(matches!(summary.failure, Some(Error::Strict(_))));
    assert!(summary.left_out.is_empty(), "{:?}", summary.left_out);
}

/// Games are numbered on over all inputs, whatever their format: the parts of a file have as many games as the whole.
#[test]
fn games_are_numbered_on_over_all_inputs() {
    let directory = tempfile::tempdir().unwrap();
    let games_path = directory.path().join("g.pgn");
    std::fs::write(&games_path, pgn(&games())).unwrap();
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
                drop(file.write(&inputs, options.shard(Shard::new(part, 3))).unwrap());
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
            GameFilter::default().last(true),
            GameFilter::default().every(997),
            GameFilter::default().skip_book(6).max_per_game(Some(9)),
            GameFilter::default().first_ply(10).last_ply(Some(12_000)).last(true),
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
    let (records, summary) = selected(&path, &GameFilter::default().last(true), |_| ());
    let failure = summary.failure.map(|failure| failure.to_string()).unwrap_or_default();
    assert!(failure.contains("a game of more than"), "{failure}");
    assert_eq!(records.len(), 4);
}
