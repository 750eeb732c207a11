//! `games --where`: games chosen by their columns, against plain filters of the rows without it.

use super::{Dir, lanefish, output, sample, stderr_of};
use crate::support::{Ended, run, shared_data};
use lanefish::Error;
use lanefish::choose::{Choose, Condition, Definitions, FilterCount, GameFilter};
use lanefish::formats;
use lanefish::input::Inputs;
use lanefish::jobs::{OutputContent, OutputFormat, WriteJob};
use lanefish::pipeline::{ReadOptions, RunOptions};
use lanefish::table::Speed;
use lanefish::tiers::Tier;
use serde_json::Value;
use std::path::PathBuf;

/// What a game is in SQL: true, false or unknown.
type Holds = fn(&Value) -> Option<bool>;

/// A tag whose value is known.
fn tag<'a>(row: &'a Value, name: &str) -> Option<&'a str> {
    row["tags"][name].as_str().filter(|value| !matches!(*value, "" | "?"))
}

fn elo(row: &Value, name: &str) -> Option<u64> {
    tag(row, name)?.parse().ok()
}

fn mean_elo(row: &Value) -> Option<u64> {
    Some((elo(row, "WhiteElo")? + elo(row, "BlackElo")?) / 2)
}

fn speed(row: &Value) -> Option<&'static str> {
    let control = tag(row, "TimeControl")?;
    let (base, increment) = control.split_once('+').unwrap_or((control, "0"));
    let seconds = base.parse::<u64>().ok()? + 40 * increment.parse::<u64>().ok()?;
    Some(match seconds {
        ..30 => "ultrabullet",
        30..180 => "bullet",
        180..480 => "blitz",
        480..1500 => "rapid",
        _ => "classical",
    })
}

/// Conditions that records of all formats can answer, and the same of a row as JSON.
const OF_RECORDS: [(&str, Holds); 16] = [
    ("white_elo >= 1500", |row| Some(elo(row, "WhiteElo")? >= 1500)),
    ("mean_elo < 1600 or MEAN_ELO > 2000", |row| mean_elo(row).map(|elo| !(1600..=2000).contains(&elo))),
    ("speed = 'blitz'", |row| Some(speed(row)? == "blitz")),
    ("time_control in ('60+0', '300+3') and result <> '1-0'", |row| {
        let control = tag(row, "TimeControl").map(|control| matches!(control, "60+0" | "300+3"));
        let result = row["result"].as_str().map(|result| result != "1-0");
        match (control, result) {
            (Some(true), Some(true)) => Some(true),
            _ => Some(false),
        }
    }),
    ("not (eco between 'B' and 'D')", |row| tag(row, "ECO").map(|eco| !("B"..="D").contains(&eco))),
    ("opening like '%Defense%'", |row| Some(tag(row, "Opening")?.contains("Defense"))),
    ("result is null or eco is null", |row| Some(row["result"].is_null() || tag(row, "ECO").is_none())),
    ("white < black", |row| Some(tag(row, "White")? < tag(row, "Black")?)),
    ("site like '%a%' and termination = 'Normal'", |row| {
        Some(tag(row, "Site")?.contains('a') && tag(row, "Termination")? == "Normal")
    }),
    ("outcome = 'checkmate'", |row| row["outcome"].as_str().map(|outcome| outcome == "checkmate")),
    ("outcome is null and white_elo > 1000", |row| {
        Some(row["outcome"].is_null() && elo(row, "WhiteElo").is_some_and(|elo| elo > 1000))
    }),
    ("fen like '%k%/%P%' and plies > 20", |row| {
        let fen = row["fen"].as_str().unwrap();
        let has_both =
            fen.find('k').is_some_and(|king| fen[king..].find('/').is_some_and(|at| fen[king + at..].contains('P')));
        Some(has_both && row["plies"].as_u64()? > 20)
    }),
    ("game % 3 = 1", |row| Some(row["game"].as_u64()? % 3 == 1)),
    ("game in (0, 5, 6) or game > 400", |row| Some(matches!(row["game"].as_u64()?, 0 | 5 | 6 | 401..))),
    ("game_plies between 30 and 70 and outcome is null", |row| {
        Some((30..=70).contains(&row["plies"].as_u64()?) && row["outcome"].is_null())
    }),
    ("coalesce(date, '') <> '' and abs(white_elo - black_elo) <= 50", |row| {
        let near = elo(row, "WhiteElo")?.abs_diff(elo(row, "BlackElo")?) <= 50;
        Some(near && tag(row, "Date").is_some())
    }),
];

/// Those that only PGN can answer.
const OF_TEXT: [(&str, Holds); 4] = [
    ("game_plies between 30 and 70", |row| Some((30..=70).contains(&row["plies"].as_u64()?))),
    ("\"tag:Event\" like 'Rated%'", |row| Some(tag(row, "Event")?.starts_with("Rated"))),
    ("\"tag:UTCTime\" < '12' and game_plies % 2 = 0", |row| {
        Some(tag(row, "UTCTime")? < "12" && row["plies"].as_u64()? % 2 == 0)
    }),
    ("\"tag:NoSuchTag\" is not null", |row| Some(tag(row, "NoSuchTag").is_some())),
];

/// The rows of games as JSON lines, or whatever is written of them.
fn written(file: &str, read: &ReadOptions, format: OutputFormat, threads: usize, chunk: usize) -> (String, Ended) {
    let inputs = Inputs::resolve(&[PathBuf::from(file)], formats::is_supported).unwrap();
    let job = WriteJob::new(OutputContent::Games, format).unwrap();
    let mut text = Vec::new();
    let mut out = job.open(&mut text).unwrap();
    let analyzer = Tier::best().analyzer().unwrap();
    let options = RunOptions::new(analyzer).read(read.clone()).threads(threads).chunk_size(chunk);
    let summary = run(&inputs, options, &job, |part| {
        job.put(&mut out, part).map_err(|source| Error::Write { path: "rows".into(), source })
    });
    job.finish(out).unwrap();
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    (String::from_utf8(text).unwrap(), summary)
}

fn rows(file: &str, read: &ReadOptions, threads: usize, chunk: usize) -> (Vec<String>, Ended) {
    let (text, summary) = written(file, read, OutputFormat::JsonLines, threads, chunk);
    (text.lines().map(str::to_owned).collect(), summary)
}

fn reading(condition: &str) -> ReadOptions {
    let condition = Definitions::default().condition_on_games(condition).unwrap();
    ReadOptions::default().choose(Choose::default().filter(Some(condition)))
}

/// What tables of text need to say of games.
const COLUMNS: &str =
    "fen,game,ply,move,result,termination,white,black,white_elo,black_elo,eco,opening,time_control,date,site";

/// A file of games, and the same games in other formats.
fn sources(dir: &Dir) -> Vec<(String, bool)> {
    let mut files = vec![sample("lichess-2025-05.pgn")];
    if let Some(dump) = shared_data("pgn/lichess_db_1000k.pgn") {
        files.push(dir.name("some.pgn"));
        output(0, &["-q", "games", dump.to_str().unwrap(), "--limit", "500", "-o", &files[1]]);
    }
    let mut all = Vec::new();
    for (number, file) in files.into_iter().enumerate() {
        let names: &[&str] = if cfg!(feature = "parquet") {
            &["boards", "boards.zst", "csv", "jsonl", "parquet", "arrow"]
        } else {
            &["boards", "boards.zst", "csv", "jsonl"]
        };
        for name in names {
            let copy = dir.name(&format!("{number}.{name}"));
            match *name {
                "csv" | "jsonl" => output(0, &["-q", "compute", "--columns", COLUMNS, &file, "-o", &copy]),
                _ => output(0, &["-q", "convert", &file, "-o", &copy]),
            };
            all.push((copy, false));
        }
        all.push((file, true));
    }
    all
}

#[test]
fn games_are_chosen_by_their_columns() {
    let dir = Dir::new();
    let mut chosen_some = 0;
    for (file, is_text) in sources(&dir) {
        let (all, whole) = rows(&file, &ReadOptions::default(), 1, 1 << 20);
        assert!(!all.is_empty() && whole.left_out.is_empty());
        let values: Vec<Value> = all.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
        for (condition, holds) in OF_RECORDS.iter().chain(OF_TEXT.iter().filter(|_| is_text)) {
            let holding = all.iter().zip(&values).filter(|(_, row)| holds(row) == Some(true));
            let expected: Vec<String> = holding.map(|(row, _)| row.clone()).collect();
            chosen_some += usize::from(!expected.is_empty() && expected.len() < all.len());
            let mut counts = Vec::new();
            for (threads, chunk) in [(1, 1 << 20), (3, 20_000)] {
                let (chosen, summary) = rows(&file, &reading(condition), threads, chunk);
                assert!(chosen == expected, "{file}: {condition}: {} of {}", chosen.len(), expected.len());
                assert_eq!(summary.left_out.keys().copied().collect::<Vec<_>>(), ["where"]);
                let left_out = summary.left_out["where"];
                assert_eq!(left_out.games, (all.len() - expected.len()) as u64, "{file}: {condition}");
                counts.push((left_out, summary.rejected));
            }
            assert!(counts.iter().all(|count| *count == counts[0]), "{file}: {condition}: {counts:?}");
        }
    }
    assert!(chosen_some >= 30, "{chosen_some}");
}

/// The same games and positions are left out of a dump and of the boards that are made of it, but for the last position of
/// each game, which has no move.
#[test]
fn positions_of_games_that_are_left_out_are_counted() {
    let dir = Dir::new();
    let file = sample("lichess-2025-05.pgn");
    let boards = dir.name("x.boards");
    output(0, &["-q", "convert", &file, "-o", &boards]);
    for (condition, _) in OF_RECORDS {
        let of = |file: &str| rows(file, &reading(condition), 1, 1 << 20).1.left_out["where"];
        assert_eq!(of(&file), of(&boards), "{condition}");
        if ["outcome", "fen"].iter().any(|column| condition.contains(column)) {
            continue;
        }
        // And as many as a condition on records leaves out.
        let stderr = stderr_of(0, &["stats", &file, "--where", condition]);
        assert!(
            stderr.contains(&FilterCount::new(0, of(&file).positions, 0).sentence("where")),
            "{condition}: {stderr}"
        );
    }
    let stderr = stderr_of(0, &["games", &file, "--where", "white_elo >= 1500"]);
    assert!(stderr.contains("--where left out ") && stderr.contains(" games and "), "{stderr}");
}

/// `--skip` and `--limit` count the games that are left, and nothing after the last of them is left out.
#[test]
fn limits_count_the_games_that_are_left() {
    let dir = Dir::new();
    let game = |elo: u32| format!("[WhiteElo \"{elo}\"]\n[BlackElo \"{elo}\"]\n\n1. e4 e5 *\n\n");
    let file = dir.file("x.pgn", [1000, 2500, 1000, 1000, 2500, 1000, 2600, 1000].map(game).concat());
    let boards = dir.name("x.boards");
    output(0, &["-q", "convert", &file, "-o", &boards]);
    for input in [&file, &boards] {
        let (all, _) = rows(input, &reading("mean_elo > 2000"), 1, 1 << 20);
        assert_eq!(all.len(), 3);
        let limited = [(0, 1, 1), (0, 2, 3), (0, 3, 4), (1, 1, 3), (1, 2, 4), (2, 5, 5), (3, 1, 5), (0, 0, 0)];
        for (skip, limit, left_out) in limited {
            for (threads, chunk) in [(1, 1 << 20), (1, 64), (3, 100)] {
                let read = reading("mean_elo > 2000").skip(skip).limit(Some(limit));
                let (chosen, summary) = rows(input, &read, threads, chunk);
                let expected: Vec<&String> = all.iter().skip(skip as usize).take(limit as usize).collect();
                assert!(chosen.iter().eq(expected), "{input} {skip} {limit}");
                let games = summary.left_out.get("where").map_or(0, |left_out| left_out.games);
                assert_eq!(games, left_out, "{input} {skip} {limit} {chunk}");
            }
        }
        // Options before it are asked first.
        let both = ["games", input, "--min-elo", "2000", "--where", "white_elo > 2550"];
        let stderr = stderr_of(0, &both);
        assert!(stderr.contains("--min-elo left out 5 games and 15 positions"), "{stderr}");
        assert!(stderr.contains("--where left out 2 games and 6 positions"), "{stderr}");
        assert!(stderr.find("--min-elo") < stderr.find("--where"), "{stderr}");
    }
}

/// The games that are copied as they stand are those of the rows.
#[test]
fn chosen_games_are_copied_as_they_stand() {
    let file = sample("lichess-2025-05.pgn");
    let pgn = OutputFormat::Pgn;
    let dir = Dir::new();
    let (whole, _) = written(&file, &ReadOptions::default(), pgn, 1, 1 << 20);
    for (condition, _) in OF_RECORDS.iter().chain(&OF_TEXT) {
        let (copied, _) = written(&file, &reading(condition), pgn, 1, 1 << 20);
        assert_eq!(written(&file, &reading(condition), pgn, 3, 5_000).0, copied);
        let (expected, _) = rows(&file, &reading(condition), 1, 1 << 20);
        let copy = dir.file("copy.pgn", &copied);
        let (again, _) =
            if copied.is_empty() { Default::default() } else { rows(&copy, &ReadOptions::default(), 1, 1 << 20) };
        let without_numbers = |rows: &[String]| -> Vec<String> {
            rows.iter().map(|row| row.split_once(',').unwrap().1.to_owned()).collect()
        };
        assert_eq!(without_numbers(&again), without_numbers(&expected), "{condition}");
        assert!(copied.split_inclusive("\n\n[Event").all(|game| whole.contains(game.trim_end_matches("[Event"))));
    }
    // Through the command line, compressed, with names for values.
    let packed = dir.name("strong.pgn.zst");
    let named = ["--let", "strong = mean_elo >= 1700", "--let", "decided = result <> '1/2-1/2'"];
    let stderr =
        stderr_of(0, &[&["games", &file, "-o", &packed, "--where", "strong and decided"][..], &named].concat());
    assert!(stderr.contains("--where left out"), "{stderr}");
    let plain = reading("mean_elo >= 1700 and result <> '1/2-1/2'");
    let expected = written(&file, &plain, pgn, 1, 1 << 20).0;
    let text = zstd::decode_all(&std::fs::read(&packed).unwrap()[..]).unwrap();
    assert!(!expected.is_empty() && String::from_utf8(text).unwrap() == expected);
}

#[test]
fn shards_choose_the_same_games() {
    let Some(file) = shared_data("pgn/lichess_db_1000k.pgn") else { return };
    let file = file.to_str().unwrap();
    let copy = |more: &[&str]| {
        output(0, &[&["-q", "games", "--format", "pgn", file, "--where", "white_elo > black_elo"], more].concat())
    };
    let shards: String = ["0/3", "1/3", "2/3"].iter().map(|shard| copy(&["--shard", shard])).collect();
    assert!(!shards.is_empty() && shards == copy(&[]));
}

#[cfg(feature = "parquet")]
#[test]
fn tables_of_games_have_the_chosen_ones() {
    let dir = Dir::new();
    let file = sample("lichess-2025-05.pgn");
    let plain = output(0, &["-q", "games", &file, "--where", "speed = 'blitz'"]);
    for name in ["x.parquet", "x.csv.gz", "x.jsonl"] {
        let table = dir.name(name);
        output(0, &["-q", "games", &file, "--where", "speed = 'blitz'", "-o", &table]);
        assert!(std::fs::metadata(&table).unwrap().len() > 0);
    }
    let lines = std::fs::read_to_string(dir.path("x.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), plain.lines().count() - 1);
    assert!(lines.lines().all(|row| speed(&serde_json::from_str(row).unwrap()) == Some("blitz")));
}

/// A column that is not of games is an error with its place, and with the columns that there are.
#[test]
fn other_columns_are_refused_with_those_that_there_are() {
    let dir = Dir::new();
    let file = sample("lichess-2025-05.pgn");
    let rows = dir.name("rows.csv");
    for (condition, marked) in [
        ("mean_elo > 1 and legal_moves > 20", "legal_moves"),
        ("index < 3", "index"),
        ("ply = 3", "ply"),
        ("stm_result = 'win'", "stm_result"),
        ("plies_left > 3", "plies_left"),
        ("uniform(white, distinct_key) < 0.5", "distinct_key"),
        ("wite_elo > 3", "wite_elo"),
        ("result = '1-0' and matches('8/8/8/8/4P3/8/8/8')", "matches('8/8/8/8/4P3/8/8/8')"),
        ("on('e4', 'P') or true", "on('e4', 'P')"),
    ] {
        let stderr = stderr_of(2, &["games", &file, "-o", &rows, "--where", condition]);
        let lines: Vec<&str> = stderr.lines().collect();
        assert!(
            lines[0].starts_with("lanefish: --where: `") && lines[0].contains("elo_difference, outcome"),
            "{stderr}"
        );
        assert!(lines[0].ends_with("--having has conditions on positions"), "{stderr}");
        assert!(lines[0].contains("there are white, black, white_elo"), "{stderr}");
        let at = condition.find(marked).unwrap();
        assert_eq!(lines[2], format!("  {}{}", " ".repeat(at), "^".repeat(marked.len())), "{stderr}");
        assert!(!dir.path("rows.csv").exists());
    }
    let stderr = stderr_of(2, &["games", &file, "--let", "late = ply > 40", "--where", "late"]);
    assert!(stderr.starts_with("lanefish: --where: `late` is not a column of games"), "{stderr}");
    // The last position is meant, which a note says.
    let stderr = stderr_of(0, &["games", &file, "--where", "fen like 'r%'"]);
    assert_eq!(stderr.matches("`fen` is the last position of a game; --having").count(), 1, "{stderr}");
    let stderr = stderr_of(2, &["games", &file, "--where", "white"]);
    assert!(stderr.contains("a condition is needed"), "{stderr}");
    let stderr = stderr_of(2, &["games", &file, "--sample", "10"]);
    assert!(stderr.contains("`lanefish games` does not take --sample"), "{stderr}");
    // Elsewhere all columns are there.
    output(0, &["-q", "stats", &file, "--where", "ply = 3 and white_elo > 1000"]);
}

/// Of games that cannot be read to their end, too, what the tags say decides; those left out are no rejects.
#[test]
fn games_with_errors_are_chosen_by_their_tags() {
    let dir = Dir::new();
    let games = "[White \"a\"]\n\n1. e4 Ke4 *\n\n[White \"b\"]\n\n1. e4 Ke4 *\n\n[White \"c \\\"d\\\"\"]\n\n1. e4 *\n";
    let file = dir.file("x.pgn", games);
    let chosen = |status: i32, condition: &str| {
        let text = output(status, &["-q", "games", &file, "--where", condition]);
        text.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(chosen(1, "white = 'a'"), ["0"]);
    assert_eq!(chosen(1, "white <> 'a'"), ["1", "2"]);
    assert_eq!(chosen(0, "white = 'c \"d\"'"), ["2"]);
    assert_eq!(chosen(0, "black = 'a'"), [""; 0]);
    assert_eq!(chosen(1, "black is null"), ["0", "1", "2"]);
}

/// Games without any position are judged, too, wherever they are in a file.
#[test]
fn games_without_positions_are_chosen_by_their_ends() {
    let dir = Dir::new();
    let good = "[White \"a\"]\n\n1. e4 *\n\n";
    let bad = "[White \"b\"]\n[SetUp \"1\"]\n[FEN \"nonsense\"]\n\n1. e4 *\n\n";
    for (number, games) in [vec![good, bad], vec![bad, good], vec![bad], vec![bad, bad], vec![good, bad, good, bad]]
        .into_iter()
        .enumerate()
    {
        let file = dir.file(&format!("{number}.pgn"), games.concat());
        let all: Vec<String> = (0..games.len()).map(|game| game.to_string()).collect();
        let of = |text: &str| -> Vec<String> {
            all.iter().zip(&games).filter(|(_, game)| **game == text).map(|(number, _)| number.clone()).collect()
        };
        let first: Vec<String> = all[..1].to_vec();
        for (arguments, expected) in [
            (&["--where", "game >= 0"][..], &all),
            (&["--where", "outcome is null"], &all),
            (&["--where", "outcome = 'stalemate'"], &Vec::new()),
            (&["--where", "fen is null"], &of(bad)),
            (&["--where", "fen like 'rnbqkbnr/%'"], &of(good)),
            (&["--where", "game = 0"], &first),
            (&["--where", "game >= 0 and plies = 0"], &of(bad)),
            (&["--where", "game >= 0 and white = 'a'"], &of(good)),
            (&["--where", "game >= 0", "--having", "true"], &of(good)),
            (&["--having", "true"], &of(good)),
            (&["--having", "game > 100"], &Vec::new()),
        ] {
            let arguments = [&["games", &file, "--columns", "game,white", "--format", "csv"][..], arguments].concat();
            let done = lanefish(&arguments).assert().get_output().clone();
            let rows = String::from_utf8(done.stdout).unwrap();
            let expected: Vec<String> = expected
                .iter()
                .map(|number| format!("{number},{}", if of(bad).contains(number) { "b" } else { "a" }))
                .collect();
            assert_eq!(rows.lines().skip(1).collect::<Vec<_>>(), expected, "{arguments:?} {games:?}");
            assert!(matches!(done.status.code(), Some(0 | 1)), "{arguments:?}");
        }
    }
}

/// A program is told that a condition is none of games.
#[test]
fn conditions_of_programs_are_checked() {
    assert!("mean_elo > 3".parse::<Condition>().unwrap().is_of_games());
    assert!("uniform(white, 3) < 0.5".parse::<Condition>().unwrap().is_of_games());
    for other in ["ply > 3", "mean_elo > 3 and matches('8/8/8/8/8/8/8/8')", "uniform(game) < 0.5"] {
        assert!(!other.parse::<Condition>().unwrap().is_of_games(), "{other}");
    }
    let named = Definitions::parse(["there = on('e4', 'P')"]).unwrap();
    assert!(!named.condition("there and white is null").unwrap().is_of_games());
    let inputs = Inputs::resolve(&[sample("lichess-2025-05.pgn").into()], formats::is_supported).unwrap();
    let job = WriteJob::new(OutputContent::Games, OutputFormat::Csv).unwrap();
    let read = ReadOptions::default().choose(Choose::default().filter(Some("in_check".parse().unwrap())));
    let options = RunOptions::new(Tier::best().analyzer().unwrap()).read(read);
    let failure = run(&inputs, options, &job, |_| Ok(())).failure.expect("an error");
    assert!(matches!(failure, Error::NotOfGames { .. }) && failure.to_string().contains("`in_check`"));
    assert!(GameFilter::default().options().next().is_none());
}

#[test]
fn help_shows_the_condition() {
    let help = output(0, &["games", "--help"]);
    assert!(help.contains("--where") && help.contains("--let") && !help.contains("--sample"), "{help}");
    lanefish(&["games", "--help"]).assert().success();
}

/// The classes are those of the program.
#[test]
fn the_plain_speed_is_that_of_the_library() {
    for control in ["15+0", "60+0", "180+0", "300+3", "600+5", "1800+20"] {
        let row = serde_json::json!({"tags": {"TimeControl": control}});
        assert_eq!(speed(&row), Speed::of_tag(control.as_bytes()).map(Speed::name), "{control}");
    }
}

/// Files whose games are numbered by counting (viri), in pieces that are read on their own: the games are those of the
/// whole file, also where a piece is one game.
/// Formats of chains leave out the last position of a game, which has no move, because it follows from the record before,
/// wherever that was read.
#[test]
fn last_positions_follow_from_records_in_other_pieces() {
    let dir = Dir::new();
    let table = dir.name("games.csv");
    let columns = "game,ply,fen,move,score,result";
    output(0, &["-q", "compute", "--columns", columns, "-o", &table, &sample("lichess-2025-05.pgn")]);
    let bytes = std::fs::read(&table).unwrap();
    let pieces = [150, 400, 2000].map(|size| {
        let frames: Vec<u8> = bytes.chunks(size).flat_map(|part| zstd::encode_all(part, 1).unwrap()).collect();
        dir.file(&format!("frames-{size}.csv.zst"), frames)
    });
    for options in [
        &[][..],
        &["--skip", "250", "--limit", "700"],
        &["--where", "ply > 4 and material_key != 'x'"],
        &["--where", "uniform(game, 3) < 0.5", "--skip", "90", "--limit", "400"],
        &["--where", "move is null or uniform(index, 1) < 0.7"],
        &["--set", "score = ply"],
        &["--set", "score = case when ply % 7 = 0 then 70000 else 5 end"],
        &["--sample", "0.6"],
        &["--plies", "8.."],
    ] {
        for extension in ["viri", "binpack"] {
            let converted = |input: &str| {
                let out = dir.name(&format!("out.{extension}"));
                let rejects = dir.name("rejects.jsonl");
                let arguments = ["convert", "--allow-loss", input, "-o", &out, "--force", "--rejects", &rejects];
                let done = lanefish(&[&arguments[..], options].concat()).output().unwrap();
                let notes = String::from_utf8(done.stderr).unwrap().replace(input, "FILE");
                let rejects = std::fs::read_to_string(&rejects).unwrap_or_default().lines().count();
                (done.status.code(), notes, std::fs::read(&out).unwrap_or_default(), rejects)
            };
            let expected = converted(&table);
            assert!(!expected.2.is_empty(), "{}", expected.1);
            for pieces in &pieces {
                let found = converted(pieces);
                assert_eq!((found.0, found.3), (expected.0, expected.3), "{options:?} {pieces} {}", found.1);
                assert!(found.2 == expected.2, "{options:?} {pieces} {extension}");
            }
        }
    }
}

#[test]
fn counted_games_in_pieces_are_those_of_the_whole_file() {
    let dir = Dir::new();
    let (pgn, whole) = (sample("lichess-2025-05.pgn"), dir.name("whole.viri"));
    output(0, &["-q", "convert", "--allow-loss", &pgn, "-o", &whole]);
    let bytes = std::fs::read(&whole).unwrap();
    let frames = |size: usize| {
        let frames: Vec<u8> = bytes.chunks(size).flat_map(|part| zstd::encode_all(part, 1).unwrap()).collect();
        dir.file(&format!("frames-{size}.viri.zst"), frames)
    };
    for pieces in [frames(150), frames(400), frames(2000)] {
        for arguments in [
            &["games", "--columns", "game,plies,result"][..],
            &["games", "--columns", "game,plies", "--result", "1-0"],
            &["games", "--columns", "game,plies", "--where", "result = '1-0'"],
            &["compute", "--columns", "index,game,ply,score_before", "--last"],
            &["compute", "--columns", "game,ply", "--every", "3"],
            &["compute", "--columns", "game,ply", "--max-per-game", "2", "--seed", "5"],
            &["compute", "--columns", "game,ply", "--result", "1-0", "--skip", "7", "--limit", "60"],
        ] {
            let shown = |input: &str| {
                let done = lanefish(&[arguments, &[input]].concat()).output().unwrap();
                let text = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
                (done.status.code(), text.replace(input, "FILE"))
            };
            let expected = shown(&whole);
            assert_eq!(expected.0, Some(0), "{}", expected.1);
            assert_eq!(shown(&pieces), expected, "{arguments:?} {pieces}");
        }
    }
}
