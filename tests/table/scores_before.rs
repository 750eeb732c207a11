//! `score_before` and `score_placeholder`, compared with a plain walk over the records: in every format that has games,
//! however it is cut, and whatever is chosen.

use crate::support::{Random, SetRead, run, shared_data};
use lanefish::choose::GameFilter;
use lanefish::formats::DecodeOptions;
use lanefish::input::Inputs;
use lanefish::jobs;
use lanefish::output::SquareSetStyle;
use lanefish::pipeline::RunOptions;
use lanefish::table::Columns;
use lanefish::tiers::Tier;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Size of chunks, threads, and whether files are mapped.
const WAYS: [(usize, usize, bool); 3] = [(1 << 20, 1, true), (5000, 2, false), (64, 3, true)];

fn rows(
    path: &Path,
    columns: &str,
    (chunk_size, threads, map): (usize, usize, bool),
    games: &GameFilter,
) -> Vec<String> {
    let columns = Columns::named(columns).expect("columns of the catalogue");
    let mut out = Vec::new();
    let job = jobs::WriteJob::new(jobs::OutputContent::Columns(&columns, SquareSetStyle::Hex), jobs::OutputFormat::Csv)
        .expect("CSV");
    let mut file = job.open(&mut out).expect("memory");
    let inputs = Inputs::resolve(&[path.to_owned()], |_| true).expect("it exists");
    let games = (*games != GameFilter::default()).then(|| Arc::new(games.clone()));
    let mut options = RunOptions::new(Tier::best().analyzer().expect("it was chosen"))
        .threads(threads)
        .chunk_size(chunk_size)
        .decode(DecodeOptions::default().games(games));
    options.read.access.map = map;
    let summary = run(&inputs, options, &job, |part| {
        job.put(&mut file, part).map_err(|source| lanefish::Error::Write { path: "rows".into(), source })
    });
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    let _ = job.finish(file).expect("memory");
    String::from_utf8(out).expect("UTF-8").lines().skip(1).map(str::to_owned).collect()
}

/// What the twin is told of a record, and what is to be found.
const COLUMNS: &str = "game,ply,raw_score,result,score_before,score_placeholder";

/// `score_before,score_placeholder` of each record, by its first four columns.
fn naive(rows: &[String]) -> Vec<String> {
    let mut expected = Vec::new();
    let mut last: Option<(Option<u64>, u16, Option<i32>)> = None;
    let mut last_score: Option<i32> = None;
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        let place = fields[1].parse::<u16>().ok().map(|ply| (fields[0].parse::<u64>().ok(), ply));
        let raw: Option<i32> = fields[2].parse().ok();
        let goes_on = |(game, ply): (Option<u64>, u16)| {
            last.is_some_and(|(other, before, _)| match (game, other) {
                (Some(game), Some(other)) => game == other && ply > before,
                (None, None) => u32::from(ply) == u32::from(before) + 1,
                _ => false,
            })
        };
        if !place.is_some_and(goes_on) {
            last = None;
            last_score = None;
        }
        let score_before = last.and_then(|(.., raw)| raw).filter(|raw| raw.abs() != 32_002);
        let is_decided = matches!(fields[3], "1-0" | "0-1");
        let is_far = last_score.is_some_and(|score| score.abs() > 100);
        let placeholder = raw.map(|raw| u8::from(raw == 0 && is_decided && is_far));
        let text = |value: Option<i32>| value.map(|value| value.to_string()).unwrap_or_default();
        expected.push(format!("{},{}", text(score_before), text(placeholder.map(i32::from))));
        last = place.map(|(game, ply)| (game, ply, raw));
        last_score = raw.filter(|raw| *raw != 0 && raw.abs() != 32_002).or(last_score);
    }
    expected
}

/// The last two columns.
fn found(rows: &[String]) -> Vec<String> {
    rows.iter().map(|row| row.splitn(5, ',').last().expect("columns").to_owned()).collect()
}

fn check_all_ways(path: &Path, expected: &[String]) {
    for way in WAYS {
        let all = rows(path, COLUMNS, way, &GameFilter::default());
        assert_eq!(all.len(), expected.len());
        for (row, (found, expected)) in found(&all).iter().zip(expected).enumerate() {
            assert_eq!(found, expected, "{} {way:?}: row {row}, {}", path.display(), all[row]);
        }
    }
}

fn convert(from: &Path, to: &Path, options: &[&str]) {
    let mut command = assert_cmd::Command::cargo_bin("lanefish").expect("it is built");
    command.args(["-q", "convert", "--force", "-o"]).args([to, from]).args(options).assert().success();
}

/// Games of many lengths, among them one of thousands of records, with and without scores; gaps between plies; records of
/// no game, and plies that do not ascend.
fn generated() -> String {
    let mut random = Random::new(5);
    let mut text = "fen,game,ply,raw_score,result\n".to_owned();
    for game in 0..300 {
        let len = match game {
            7 => 9000,
            20 => 3000,
            _ => random.below(90),
        };
        let result = ["1-0", "0-1", "1/2-1/2", ""][random.below(4) as usize];
        let (has_scores, scores) = (random.below(5) != 0, 1 + random.below(6));
        let mut ply = random.below(5);
        for _ in 0..len {
            let score = match random.below(12) {
                0 => "32002".to_owned(),
                1 => "-32002".to_owned(),
                2 => String::new(),
                kind if kind > 2 + scores => "0".to_owned(),
                _ => (random.below(420) as i64 - 210).to_string(),
            };
            let score = if has_scores { score } else { String::new() };
            let number = if random.below(200) == 0 { String::new() } else { game.to_string() };
            writeln!(text, "4k3/8/8/8/8/8/8/4K3 w - - 0 1,{number},{ply},{score},{result}").expect("memory");
            ply = match random.below(300) {
                0 => ply,
                1 => 0,
                step => ply + 1 + u64::from(step < 20),
            };
        }
    }
    text
}

const FORMATS: &[&str] = if cfg!(feature = "parquet") {
    &["x.boards", "x.jsonl", "x.parquet", "x.arrow", "x.arrows"]
} else {
    &["x.boards", "x.jsonl"]
};

#[test]
fn scores_before_those_of_generated_records() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x.csv");
    std::fs::write(&path, generated()).expect("written");
    let all = rows(&path, COLUMNS, WAYS[0], &GameFilter::default());
    assert!(all.len() > 15_000);
    let expected = naive(&all);
    let count = |end: &str| expected.iter().filter(|row| row.ends_with(end)).count();
    let counts = [",1", ",0", ","].map(count);
    assert!(counts[0] > 300 && counts[1] > 3000 && counts[2] > 1000, "{counts:?}");
    check_all_ways(&path, &expected);
    for name in FORMATS {
        let file = directory.path().join(name);
        if name.ends_with("jsonl") {
            let mut command = assert_cmd::Command::cargo_bin("lanefish").expect("it is built");
            let columns = ["--columns", "fen,game,ply,raw_score,result"];
            command.args(["-q", "compute", "-o"]).args([&file, &path]).args(columns).assert().success();
        } else {
            convert(&path, &file, &[]);
        }
        check_all_ways(&file, &expected);
        // What is left out counts.
        for way in WAYS {
            let late = GameFilter::default().first_ply(30).last_ply(Some(60));
            let is_late = |row: &&String| {
                let ply = row.split(',').nth(1).and_then(|ply| ply.parse().ok());
                ply.is_none_or(|ply: u32| (30..=60).contains(&ply))
            };
            let chosen: Vec<(&String, &String)> = all.iter().zip(&expected).filter(|(row, _)| is_late(row)).collect();
            let late = rows(&file, COLUMNS, way, &late);
            let chosen: Vec<&String> = chosen.into_iter().map(|(_, found)| found).collect();
            assert!(found(&late).iter().eq(chosen), "{name} {way:?}");
        }
    }
}

/// A game of PGN, what is chosen of it, and the same games in other formats.
#[test]
fn scores_before_those_of_real_games() {
    let Some(path) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let all = rows(&path, COLUMNS, WAYS[0], &GameFilter::default());
    let expected = naive(&all);
    let has = |test: &dyn Fn(&&String) -> bool| expected.iter().any(|row| test(&row));
    assert!(has(&|row| row.starts_with('-')) && has(&|row| row.ends_with(",1")) && has(&|row| row.ends_with(",0")));
    check_all_ways(&path, &expected);
    let mut row = 0;
    let is_seventh = |text: &str| {
        row = if text.split(',').nth(1) == Some("0") { 0 } else { row + 1 };
        row % 7 == 0
    };
    let seventh: Vec<bool> = all.iter().map(|row| row.as_str()).map(is_seventh).collect();
    let chosen: Vec<&String> = expected.iter().zip(&seventh).filter(|(_, take)| **take).map(|(row, _)| row).collect();
    for way in WAYS {
        let every = rows(&path, COLUMNS, way, &GameFilter::default().every(7));
        assert!(found(&every).iter().eq(chosen.iter().copied()), "{way:?}");
    }
    let directory = tempfile::tempdir().expect("a directory");
    for name in FORMATS.iter().filter(|name| !name.ends_with("jsonl")) {
        let file = directory.path().join(name);
        convert(&path, &file, &[]);
        check_all_ways(&file, &expected);
    }
}

/// Chains, and records whose plies rise by one, are ways without games.
#[test]
fn scores_before_those_of_training_data() {
    let Some(path) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let games = directory.path().join("x.viri");
    convert(&path, &games, &["--where", "score is not null and move is not null", "--allow-loss"]);
    for name in ["x.binpack", "x.sfen", "x.plain", "x.boards", "x.binpack.zst"] {
        let file = directory.path().join(name);
        let from = if name == "x.boards" { directory.path().join("x.plain") } else { games.clone() };
        convert(&from, &file, &["--allow-loss"]);
        let all = rows(&file, COLUMNS, WAYS[0], &GameFilter::default());
        assert!(all.len() > 1000 && all.iter().all(|row| row.starts_with(',')), "{name}");
        let expected = naive(&all);
        assert!(expected.iter().filter(|row| !row.starts_with(',')).count() > 1000, "{name}");
        check_all_ways(&file, &expected);
    }
}

/// A chain is a way of its own, also where its ply follows from that of the chain before it.
#[test]
fn scores_before_end_with_the_chain() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = directory.path().join("x.plain");
    let entry = |fen: &str, mv: &str, score: i32, ply: u32| {
        format!(
            "fen {fen}\nmove {mv}\nscore {score}\nply {ply}\nresult {}\ne\n",
            if ply.is_multiple_of(2) { 1 } else { -1 }
        )
    };
    let entries = [
        entry("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4", 300, 0),
        entry("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "e7e5", 0, 1),
        // Its ply follows, but it is another game.
        entry("4k3/8/8/8/8/8/8/4K2R w K - 0 2", "e1g1", 0, 2),
    ];
    std::fs::write(&text, entries.concat()).expect("written");
    let chains = directory.path().join("x.binpack");
    convert(&text, &chains, &[]);
    for way in WAYS {
        let columns = "ply,score_before,score_placeholder";
        assert_eq!(rows(&text, columns, way, &GameFilter::default()), ["0,,0", "1,300,1", "2,0,1"]);
        assert_eq!(rows(&chains, columns, way, &GameFilter::default()), ["0,,0", "1,300,1", "2,,0"]);
    }
}

#[test]
fn scores_before_moves_of_variations_are_those_of_the_position_before() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x.pgn");
    let game = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 { [%eval 0.50] } e5 { [%eval 1.20] } (1... c6 { [%eval 0.70] } 2. d4 \
                { [%eval 0.00] } d5 { [%eval #3] } 3. a3) 2. a3 { [%eval 0.0] } h5 { [%eval 0.30] } 1-0\n\n";
    std::fs::write(&path, game.repeat(50)).expect("written");
    for way in WAYS {
        let found =
            rows(&path, "ply,score,score_before,score_placeholder", way, &GameFilter::default().variations(true));
        let mut game: Vec<&str> = found[..9].iter().map(String::as_str).collect();
        game.sort_unstable();
        assert_eq!(
            game,
            ["0,,,", "1,50,,0", "2,120,50,0", "2,70,50,0", "3,0,120,1", "3,0,70,0", "4,,0,", "4,30,0,0", "5,,,",]
        );
        assert!(found.chunks(9).all(|game| game == &found[..9]), "{way:?}");
    }
}

/// Records without games or plies have nothing before them.
#[test]
fn positions_alone_have_no_score_before() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x.epd");
    std::fs::write(&path, "4k3/8/8/8/8/8/8/4K3 w - - ce 150;\n4k3/8/8/8/8/8/8/4K3 w - - ce 0;\n").expect("written");
    for way in WAYS {
        let found = rows(&path, "score,score_before,score_placeholder", way, &GameFilter::default());
        assert_eq!(found, ["150,,0", "0,,0"]);
    }
}
