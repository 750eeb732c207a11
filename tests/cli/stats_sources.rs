//! `stats` of puzzles, evaluations and games: each number equals one counted plainly from the columns of `compute`.

use super::{Dir, json, output, sample};
use crate::support::shared_data;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The rows of columns, as texts; empty where a value is missing.
fn rows(file: &str, columns: &str) -> Vec<Vec<String>> {
    let lines = output(0, &["-q", "compute", "--format", "jsonl", "--columns", columns, file]);
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        number => number.to_string(),
    };
    let row = |line: &str| {
        let row: Map<String, Value> = serde_json::from_str(line).unwrap();
        columns.split(',').map(|column| text(&row[column])).collect()
    };
    lines.lines().map(row).collect()
}

/// How often each number occurs, as the pairs of a histogram.
fn pairs<'a>(values: impl Iterator<Item = &'a String>) -> Value {
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    for value in values.filter(|value| !value.is_empty()) {
        *counts.entry(value.parse().unwrap()).or_default() += 1;
    }
    counts.into_iter().map(|(number, count)| json!([number, count])).collect()
}

/// The same by ranges that begin at 1, 2 and 5 times a power of ten.
fn ranges<'a>(values: impl Iterator<Item = &'a String>) -> Value {
    let first = |value: &String| {
        let number: u64 = value.parse().unwrap();
        let digits = number.to_string();
        let power = 10u64.pow(digits.len() as u32 - 1);
        let factor = match digits.as_bytes()[0] {
            b'0' => 0,
            b'1' => 1,
            b'2'..=b'4' => 2,
            _ => 5,
        };
        (factor * power).to_string()
    };
    let firsts: Vec<String> = values.filter(|value| !value.is_empty()).map(first).collect();
    pairs(firsts.iter())
}

/// How often each text occurs.
fn texts(values: impl Iterator<Item = String>) -> Value {
    let mut counts: Map<String, Value> = Map::new();
    for value in values.filter(|value| !value.is_empty()) {
        let count = counts.entry(value).or_insert(json!(0));
        *count = json!(count.as_u64().unwrap() + 1);
    }
    counts.into()
}

/// The report of a file, which is the same from boards, from shards that are merged, and on any number of threads.
fn report(dir: &Dir, file: &str) -> Value {
    let own = |file: &str, more: &[&str]| {
        let mut report = json(0, &[&["-q", "stats", "--json", "--details", file], more].concat());
        report.as_object_mut().unwrap().remove("run");
        report
    };
    let whole = own(file, &["--threads", "1"]);
    assert_eq!(own(file, &["--threads", "3"]), whole);
    let boards = dir.name("x.boards");
    output(0, &["-q", "convert", "--force", "-o", &boards, file]);
    assert_eq!(own(&boards, &[]), whole);
    let shards = ["0/3", "1/3", "2/3"].map(|shard| {
        let part = output(0, &["-q", "stats", "--json", "--details", "--shard", shard, &boards]);
        dir.file(&format!("{}.json", &shard[..1]), part)
    });
    let mut merged = json(0, &["stats", "--merge", "--json", &shards[2], &shards[0], &shards[1]]);
    // Games at the ends of shards may go on elsewhere.
    ["run", "open_games"].into_iter().for_each(|key| drop(merged.as_object_mut().unwrap().remove(key)));
    assert_eq!(merged, whole);
    // The groups of a column make up the whole.
    let groups = json(0, &["-q", "stats", "--json", "--by", "stm", file]);
    for (part, key) in [("puzzles", "rating"), ("evaluations", "mate_distance"), ("evaluations", "depth")] {
        let groups = groups["groups"]["values"].as_array().unwrap().iter();
        let sum: i64 = groups.filter_map(|group| group["stats"][part][key]["sum"].as_i64()).sum();
        assert_eq!(sum, whole[part][key]["sum"].as_i64().unwrap_or(0), "{part} {key}");
    }
    whole
}

#[test]
fn puzzles_are_counted() {
    let dir = Dir::new();
    let own = dir.file(
        "p.csv",
        "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n\
         a,4k3/8/8/8/4P3/8/8/4K3 b - - 0 1,e8e7 e4e5,1500,80,-100,1,mate mateIn1,,\n\
         b,4k3/8/8/8/4P3/8/8/4K3 b - - 0 1,e8d7 e4e5,1500,75,100,999999,mate,,\n\
         c,4k3/8/8/8/4P3/8/8/4K3 w - - 0 1,e4e5 e8e7,400,500,0,20,,,\n",
    );
    let shared = shared_data("csv/lichess_db_puzzle.half_a.csv");
    for file in [Some(own), shared.map(|path| path.display().to_string())].into_iter().flatten() {
        let report = report(&dir, &file);
        let rows = rows(&file, "puzzle_rating,rating_deviation,popularity,plays,themes");
        let column = |at: usize| rows.iter().map(move |row| &row[at]);
        let puzzles = &report["puzzles"];
        for (at, key) in ["rating", "rating_deviation", "popularity"].into_iter().enumerate() {
            assert_eq!(puzzles[key]["histogram"], pairs(column(at)), "{file}: {key}");
        }
        assert_eq!(puzzles["plays"], ranges(column(3)), "{file}");
        assert_eq!(puzzles["with_themes"], column(4).filter(|themes| !themes.is_empty()).count(), "{file}");
        assert_eq!(
            puzzles["themes"],
            texts(column(4).flat_map(|themes| themes.split(' ').map(str::to_owned))),
            "{file}"
        );
        assert!(report.get("evaluations").is_none(), "{file}");
    }
}

#[test]
fn evaluations_are_counted() {
    let dir = Dir::new();
    let own = dir.file(
        "e.jsonl",
        "{\"fen\":\"6k1/6p1/8/4K3/4NN2/8/8/8 w - -\",\"evals\":[{\"pvs\":[{\"mate\":-15,\"line\":\"e5e6\"}],\
         \"knodes\":589893,\"depth\":95}]}\n\
         {\"fen\":\"6k1/6p1/8/4K3/4NN2/8/8/8 b - -\",\"evals\":[{\"pvs\":[{\"cp\":69,\"line\":\"g8f8\"}],\
         \"knodes\":0,\"depth\":3}]}\n",
    );
    let names = ["jsonl/lichess_db_eval.sample.jsonl", "jsonl/derived_eval_from_lichess_pgn.jsonl.zst"];
    let shared = names.into_iter().filter_map(shared_data).map(|path| path.display().to_string());
    for file in shared.chain([own]) {
        let report = report(&dir, &file);
        let rows = rows(&file, "depth,knodes,mate");
        let column = |at: usize| rows.iter().map(move |row| &row[at]);
        let distances: Vec<String> = column(2).map(|mate| mate.trim_start_matches('-').to_owned()).collect();
        let evaluations = &report["evaluations"];
        assert_eq!(evaluations["depth"]["histogram"], pairs(column(0)), "{file}");
        assert_eq!(evaluations["knodes"], ranges(column(1)), "{file}");
        assert_eq!(evaluations["mate_distance"]["histogram"], pairs(distances.iter()), "{file}");
        assert!(report.get("puzzles").is_none(), "{file}");
    }
}

#[test]
fn facts_of_games_are_counted() {
    let dir = Dir::new();
    let game = |tags: &str, moves: &str| format!("[Event \"?\"]\n{tags}\n{moves} *\n\n");
    let own = [
        game("[WhiteElo \"1200\"]\n[BlackElo \"9000\"]\n[Date \"2014.??.??\"]", "1. e4 e5"),
        game("[WhiteElo \"1500\"]\n[BlackElo \"1400\"]\n[Date \"2014.07.01\"]\n[Termination \"Normal\"]", "1. Nf3 d5"),
        game("[Opening \"French Defense: Exchange\"]\n[Termination \"Normal\"]", "1. e4 e6"),
        game("[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[SetUp \"1\"]\n[Opening \"?\"]", "1. e4 Kd7"),
    ];
    let own = dir.file("g.pgn", own.concat());
    let shared = shared_data("pgn/lichess_db_1000k.pgn").map(|path| path.display().to_string());
    for file in [Some(own.clone()), Some(sample("lichess-2025-05.pgn")), shared].into_iter().flatten() {
        let report = report(&dir, &file);
        let rows = rows(&file, "ply,white_elo,black_elo,date,termination,opening,fen,san");
        let starts: Vec<&Vec<String>> = rows.iter().filter(|row| row[0] == "0").collect();
        let games = &report["details"]["games"];
        let differences: Vec<String> = starts
            .iter()
            .filter_map(|row| Some(row[1].parse::<i64>().ok()? - row[2].parse::<i64>().ok()?))
            .map(|difference| difference.clamp(-4000, 4000).to_string())
            .collect();
        assert_eq!(games["elo_difference"]["histogram"], pairs(differences.iter()), "{file}");
        let month = |date: &str| date.replace('.', "-").replace("-??", "").chars().take(7).collect::<String>();
        assert_eq!(games["months"], texts(starts.iter().map(|row| month(&row[3]))), "{file}");
        assert_eq!(games["termination"], texts(starts.iter().map(|row| row[4].clone())), "{file}");
        let family = |name: &str| name.split(':').next().unwrap().replace('?', "");
        assert_eq!(games["opening"], texts(starts.iter().map(|row| family(&row[5]))), "{file}");
        let usual =
            starts.iter().filter(|row| row[6].starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"));
        assert_eq!(games["first_move"], texts(usual.map(|row| row[7].clone())), "{file}");
    }
    let text = output(0, &["-q", "stats", "--details", &own]);
    for line in
        ["First move (games)", "Termination (games)", "Date (games)", "Difference of ratings (Elo, White's minus"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// Beyond a thousand texts nothing is known, whatever the order; dates of many months are shown by year.
#[test]
fn what_inputs_have_without_limit_stays_bounded() {
    let dir = Dir::new();
    let game = |number: usize| {
        let (year, month) = (1900 + number / 12 % 100, number % 12 + 1);
        format!("[Event \"?\"]\n[Opening \"Opening {number}\"]\n[Date \"{year}.{month:02}.01\"]\n\n1. e4 *\n\n")
    };
    let of = |games: usize| dir.file("o.pgn", (0..games).map(game).collect::<String>());
    for (games, threads) in [(1000, "1"), (1001, "1"), (1001, "3"), (1200, "2")] {
        let file = of(games);
        let report = json(0, &["-q", "stats", "--json", "--details", "--threads", threads, &file]);
        let openings = &report["details"]["games"]["opening"];
        match games {
            1000 => assert_eq!(openings.as_object().unwrap().len(), 1000),
            _ => assert!(openings.is_null()),
        }
        let text = output(0, &["-q", "stats", "--details", &file]);
        assert!(text.contains("\n    1900 "), "{text}");
        let saved = dir.file("o.json", serde_json::to_string(&report).unwrap());
        let mut merged = json(0, &["stats", "--merge", "--json", &saved]);
        assert_eq!(merged["details"].take(), report["details"], "{games}");
    }
}

/// Games are counted once when shards are merged: in files of one frame, in archives and in pipes, where the shards take
/// turns, in files that are given twice, and under other names of a file.
#[test]
fn merged_shards_count_each_game_once() {
    let dir = Dir::new();
    // Many short games, so that turns of shards end within games.
    let games: String = (0..3000)
        .map(|game| {
            let (result, moves) =
                [("1-0", "1. e4 e5 2. Nf3"), ("0-1", "1. d4"), ("1/2-1/2", "1. c4 c5 2. g3 g6")][game % 3];
            format!("[Result \"{result}\"]\n\n{moves} {result}\n\n")
        })
        .collect();
    let pgn = dir.file("games.pgn", games);
    let made = |name: &str| {
        let out = dir.name(name);
        output(0, &["-q", "convert", "-o", &out, &pgn]);
        out
    };
    let boards = made("games.boards");
    let csv = dir.name("games.csv");
    output(0, &["-q", "compute", "--columns", "fen,game,result", "-o", &csv, &pgn]);
    let zip = |name: &str, of: &[&str]| {
        let contents: Vec<_> = of.iter().map(|file| std::fs::read(file).unwrap()).collect();
        let files = contents.iter().enumerate().map(|(at, content)| (format!("{at}/x.boards"), content));
        let files: Vec<(String, &Vec<u8>)> = files.collect();
        let entries = files.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
        dir.file(name, crate::pipeline::zip::Zip::of(entries, true))
    };
    let compressed = |file: &str, name: &str| {
        let content = std::fs::read(file).unwrap();
        dir.file(name, zstd::encode_all(content.as_slice(), 3).unwrap())
    };
    let (csv_zst, boards_zst) = (compressed(&csv, "one.csv.zst"), compressed(&boards, "one.boards.zst"));
    let (one, two) = (zip("one.zip", &[&boards]), zip("two.zip", &[&boards, &boards]));
    let parquet = made("games.parquet");
    let link = dir.name("link.boards");
    std::os::unix::fs::symlink(&boards, &link).unwrap();
    let long = boards.replace("/games.boards", "/./games.boards");
    // The inputs of the shards in turn; the last one is repeated.
    let all: [&[&[&str]]; 11] = [
        &[&[&boards]],
        &[&[&csv]],
        &[&[&parquet]],
        &[&[&csv_zst]],
        &[&[&boards_zst]],
        &[&[&one]],
        &[&[&two]],
        &[&[&boards, &boards]],
        &[&[&csv_zst, &boards_zst, &boards, &csv_zst, &boards]],
        &[&[&boards], &[&link], &[&long]],
        &[&[&boards, &link, &long]],
    ];
    let merged = |parts: &[String]| {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        json(0, &[&["stats", "--merge", "--json"], &parts[..]].concat())["game_results"].clone()
    };
    for inputs in all {
        for count in [1, 2, 7] {
            let parts: Vec<String> = (0..count)
                .map(|shard| {
                    let inputs = inputs[shard.min(inputs.len() - 1)];
                    let shard = format!("{shard}/{count}");
                    let part = output(0, &[&["-q", "stats", "--json", "--shard", &shard], inputs].concat());
                    dir.file(&format!("{}.json", shard.replace('/', "-")), part)
                })
                .collect();
            let times = inputs[0].len() as u64 * if inputs[0] == [two.as_str()] { 2 } else { 1 };
            let expected = json!({"white": 1000 * times, "draw": 1000 * times, "black": 1000 * times, "unknown": 0});
            assert_eq!(merged(&parts), expected, "{inputs:?} {count}");
        }
    }
    // A pipe, whose shards take turns as well.
    let parts = ["0/3", "1/3", "2/3"].map(|shard| {
        let mut part = super::program();
        part.args(["-q", "stats", "--json", "--shard", shard, "-"]).stdin(std::fs::File::open(&boards_zst).unwrap());
        dir.file(&format!("pipe-{}.json", &shard[..1]), part.output().unwrap().stdout)
    });
    assert_eq!(merged(&parts), json!({"white": 1000, "draw": 1000, "black": 1000, "unknown": 0}));
    // Two files of one name in different directories are two.
    let parts = ["a", "b"].map(|name| {
        std::fs::create_dir(dir.name(name)).unwrap();
        std::fs::copy(&boards, dir.name(&format!("{name}/x.boards"))).unwrap();
        let mut part = super::program();
        part.args(["-q", "stats", "--json", "--shard", "0/1", "x.boards"]).current_dir(dir.name(name));
        dir.file(&format!("{name}.json"), part.output().unwrap().stdout)
    });
    assert_eq!(merged(&parts), json!({"white": 2000, "draw": 2000, "black": 2000, "unknown": 0}));
}

/// The beginning of the range of a rating, as the report names it.
fn rating_band(rating: &str) -> String {
    match rating.parse::<u32>() {
        Err(_) => "unknown".to_owned(),
        Ok(rating) if rating < 1000 => "0".to_owned(),
        Ok(rating) => (rating / 200 * 200).min(2600).to_string(),
    }
}

/// Numbers rounded to nine digits: a reader of JSON may change the last one.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => json!(format!("{:.9e}", number.as_f64().unwrap())),
        Value::Array(all) => all.iter().map(rounded).collect(),
        Value::Object(all) => all.iter().map(|(key, value)| (key.clone(), rounded(value))).collect(),
        other => other.clone(),
    }
}

/// The parts of a report about time, mistakes and accuracy, counted from the columns of `compute`.
fn time_and_mistakes(file: &str) -> [Map<String, Value>; 3] {
    const COLUMNS: &str =
        "ply,stm,phase,speed,time_used,loss,judgment,white_elo,black_elo,white_accuracy,black_accuracy";
    let mut times: BTreeMap<String, [[u64; 10]; 2]> = BTreeMap::new();
    let mut mistakes: BTreeMap<u64, BTreeMap<String, [u64; 4]>> = BTreeMap::new();
    let mut accuracies: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in rows(file, COLUMNS) {
        let ply: usize = row[0].parse().unwrap();
        if let Ok(time) = row[4].parse::<u64>() {
            let speed = if row[3].is_empty() { "unknown" } else { &row[3] };
            let [moves, centiseconds] = times.entry(speed.to_owned()).or_default();
            moves[(ply / 10).min(9)] += 1;
            centiseconds[(ply / 10).min(9)] += time;
        }
        if !row[5].is_empty() {
            let phase = (row[2].parse::<u64>().unwrap() / 6).min(4) * 6;
            let band = rating_band(if row[1] == "w" { &row[7] } else { &row[8] });
            let counts = mistakes.entry(phase).or_default().entry(band).or_default();
            counts[0] += 1;
            let names = ["inaccuracy", "mistake", "blunder"];
            names.into_iter().position(|name| name == row[6]).into_iter().for_each(|at| counts[at + 1] += 1);
        }
        for (accuracy, rating) in [(&row[9], &row[7]), (&row[10], &row[8])].into_iter().filter(|_| ply == 0) {
            if let Ok(accuracy) = accuracy.parse::<f64>() {
                accuracies.entry(rating_band(rating)).or_default().push((accuracy * 100.0) as u64);
            }
        }
    }
    let times = times.into_iter().map(|(speed, [moves, centiseconds])| {
        let mean = |(moves, time): (u64, u64)| (moves > 0).then(|| time as f64 / moves as f64 / 100.0);
        let means: Vec<Option<f64>> = moves.into_iter().zip(centiseconds).map(mean).collect();
        (speed, json!({ "moves": moves, "centiseconds": centiseconds, "mean_seconds": means }))
    });
    let of_rating = |(band, [moves, inaccuracies, mistakes, blunders]): (String, [u64; 4])| {
        let counts =
            json!({ "moves": moves, "inaccuracies": inaccuracies, "mistakes": mistakes, "blunders": blunders });
        (band, counts)
    };
    let is_any = !mistakes.is_empty();
    let phases = (0..5u64).filter(|_| is_any).map(|band| {
        let ratings = mistakes.remove(&(6 * band)).unwrap_or_default().into_iter().map(of_rating);
        ((6 * band).to_string(), Value::Object(ratings.collect()))
    });
    let phases = phases.collect();
    let accuracies = accuracies.into_iter().map(|(band, mut all)| {
        all.sort_unstable();
        let percent: Vec<String> = all.iter().map(|accuracy| (accuracy / 100).to_string()).collect();
        let (sum, count) = (all.iter().sum::<u64>(), all.len());
        let middle = |at: usize| (all[at] / 100) as f64;
        let value = json!({
            "count": count,
            "mean": sum as f64 / count as f64 / 100.0,
            "median": (middle((count - 1) / 2) + middle(count / 2)) / 2.0,
            "sum_of_hundredths": sum,
            "histogram": pairs(percent.iter()),
        });
        (band, value)
    });
    [times.collect(), phases, accuracies.collect()]
}

#[test]
fn time_and_mistakes_are_counted() {
    let dir = Dir::new();
    let names = ["pgn/lichess_db_1000k.pgn", "wrappers/lichess_db_100k.pgn"];
    let shared = names.into_iter().filter_map(shared_data).map(|path| path.display().to_string());
    for file in shared.chain([sample("lichess-2025-05.pgn")]) {
        let report = report(&dir, &file);
        for (key, expected) in ["time_used", "mistakes", "accuracy"].into_iter().zip(time_and_mistakes(&file)) {
            let found = &report["details"][key];
            let found = if key == "time_used" { &found["classes"] } else { found };
            match expected.is_empty() {
                true => assert!(report["details"].get(key).is_none(), "{file}: {key}"),
                false => assert_eq!(rounded(found), rounded(&Value::Object(expected)), "{file}: {key}"),
            }
        }
        for threads in ["2", "8"] {
            let again = json(0, &["-q", "stats", "--json", "--details", "--threads", threads, &file]);
            assert_eq!(again["details"], report["details"], "{file}: {threads} threads");
        }
        // The groups make up the whole.
        let groups = json(0, &["-q", "stats", "--json", "--details", "--by", "phase", &file]);
        for (key, whole) in ["time_used", "mistakes", "accuracy"].map(|key| (key, &report["details"][key])) {
            assert_eq!(groups["details"][key], *whole, "{file}: {key}");
        }
        let groups = groups["groups"]["values"].as_array().unwrap();
        let sum = |moves: &Value| {
            moves.as_object().map_or(0, |all| all.values().map(|all| all["moves"].as_u64().unwrap()).sum())
        };
        let of_phase = |group: &Value| {
            let phase = group["value"].as_u64().unwrap();
            let mistakes = group["stats"]["details"]["mistakes"].as_object();
            mistakes.into_iter().flatten().filter(|(_, moves)| sum(moves) > 0).for_each(|(band, _)| {
                assert_eq!(*band, ((phase / 6).min(4) * 6).to_string(), "{file}: phase {phase}");
            });
            mistakes.into_iter().flatten().map(|(_, moves)| sum(moves)).sum::<u64>()
        };
        let all: u64 =
            report["details"]["mistakes"].as_object().into_iter().flatten().map(|(_, moves)| sum(moves)).sum();
        assert_eq!(groups.iter().map(of_phase).sum::<u64>(), all, "{file}");
    }
}

/// Games without clocks and evaluations have nothing about them, and neither have records that are alone.
#[test]
fn time_and_mistakes_need_clocks_or_evaluations() {
    let dir = Dir::new();
    let text = std::fs::read_to_string(sample("lichess-2025-05.pgn")).unwrap();
    let mut bare = String::new();
    for part in text.split('{') {
        bare.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    }
    let bare = dir.file("bare.pgn", bare);
    let boards = dir.name("bare.boards");
    output(0, &["-q", "convert", "-o", &boards, &bare]);
    for file in [bare, boards, sample("sample.epd"), sample("sample.boards")] {
        let report = json(0, &["-q", "stats", "--json", "--details", &file]);
        for key in ["time_used", "mistakes", "accuracy"] {
            assert!(report["details"].get(key).is_none(), "{file}: {key}");
        }
        let text = output(0, &["-q", "stats", "--details", &file]);
        assert!(!text.contains("Time used for a move") && !text.contains("Mistakes by phase"), "{file}");
    }
}

/// What is left out does not change what the other moves are; comparisons and pages have accuracy, too.
#[test]
fn time_and_mistakes_are_found_before_anything_is_left_out() {
    let dir = Dir::new();
    let file = sample("lichess-2025-05.pgn");
    let all = json(0, &["-q", "stats", "--json", "--details", &file]);
    let white = json(0, &["-q", "stats", "--json", "--details", "--where", "stm = 'w'", &file]);
    let black = json(0, &["-q", "stats", "--json", "--details", "--where", "stm = 'b'", &file]);
    let centiseconds = |report: &Value| -> u64 {
        let classes = report["details"]["time_used"]["classes"].as_object().unwrap();
        classes
            .values()
            .flat_map(|class| class["centiseconds"].as_array().unwrap())
            .map(|time| time.as_u64().unwrap())
            .sum()
    };
    assert_eq!(centiseconds(&white) + centiseconds(&black), centiseconds(&all));
    let compared = json(0, &["-q", "stats", "--json", "--details", "--compare", &file, &file]);
    let distances = compared["comparisons"][0]["distances"].as_array().unwrap();
    assert!(distances.iter().any(|distance| distance["key"] == "accuracy" && distance["difference"] == 0.0));
    let (page, tables) = (dir.name("x.html"), dir.name("tables"));
    output(0, &["-q", "stats", "--html", &page, "--csv", &tables, &file]);
    let page = std::fs::read_to_string(page).unwrap();
    for title in
        ["Time and mistakes", "Time used for a move", "Mistakes by phase", "Mistakes by rating", "Accuracy by rating"]
    {
        assert!(page.contains(title), "{title}");
    }
    let table = std::fs::read_to_string(format!("{tables}/time_used.csv")).unwrap();
    let sum: u64 = table.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(sum, centiseconds(&all));
    for name in ["mistakes.csv", "accuracy.csv", "accuracy_by_rating.csv"] {
        assert!(std::fs::exists(format!("{tables}/{name}")).unwrap(), "{name}");
    }
}
