//! `stats`: the table and the JSON, which depend on nothing but the data.

use super::{Dir, KIWIPETE, START, json, lanefish, output, sample, stderr_of};
use crate::formats::round_trips::{boards_bytes, sample_batch};
use crate::support::shared_data;
use lanefish::chess::Color;
use lanefish::table::{Array, Field, Values};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// The table; standard error describes the run.
fn table(arguments: &[&str]) -> String {
    let run = stderr_of(0, arguments);
    let run = run.lines().last().expect("a last line");
    assert!(run.contains(" positions/s, ") && run.ends_with("B read"), "{run}");
    output(0, arguments)
}

#[test]
fn table_of_the_sample() {
    // Remarks have the name of the file, which is the same everywhere.
    let dir = Dir::new();
    dir.file("sample.epd", fs::read(sample("sample.epd")).unwrap());
    let done = lanefish(&["stats", "sample.epd"]).current_dir(dir.0.path()).assert().code(0);
    insta::assert_snapshot!(String::from_utf8_lossy(&done.get_output().stdout));
}

#[test]
fn table_with_maps_of_one_position() {
    let dir = Dir::new();
    let file = dir.file("one.fen", START);
    insta::assert_snapshot!(table(&["stats", "--maps", "--color", "never", &file]));
}

#[test]
fn colour_on_request_only() {
    let file = sample("perft.epd");
    assert!(output(0, &["stats", "--color", "always", &file]).contains("\x1b["));
    assert!(!output(0, &["stats", &file]).contains("\x1b["));
    assert!(!output(0, &["stats", "--color", "never", &file]).contains("\x1b["));
}

/// Where games are chosen, all reports have the number of those.
#[test]
fn games_are_those_that_were_chosen() {
    let dir = Dir::new();
    let game = "[Event \"?\"]\n[WhiteElo \"2500\"]\n[BlackElo \"2500\"]\n\n1. e4 e5 2. Nf3 *\n\n";
    let file = dir.file("x.pgn", [game, &game.replace("2500", "1500")].concat().repeat(30));
    let own = ["stats", "--details", "--min-elo", "2000", &file];
    let text = output(0, &own);
    assert!(text.starts_with("120 positions of 30 games, 0 rejected"), "{text}");
    let html = dir.name("x.html");
    let stats = json(0, &[&own[..], &["--json", "--html", &html]].concat());
    assert_eq!(stats["run"]["games"], 30);
    assert_eq!(stats["details"]["games"]["count"], 30);
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("<dt>Games</dt><dd>30<small>4 positions each<"));
    // Shards, merged.
    let mut merge = vec!["stats".to_owned(), "--merge".to_owned(), "--json".to_owned()];
    for shard in ["0/3", "1/3", "2/3"] {
        let part = output(0, &[&own[..], &["--json", "--shard", shard]].concat());
        merge.push(dir.file(&format!("{}.json", &shard[..1]), part));
    }
    let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
    assert_eq!(json(0, &merge)["run"]["games"], 30);
    // No position of a game, no game; the last of a game, which has four.
    let text = output(0, &["stats", "--plies", "9..", &file]);
    assert!(text.starts_with("0 positions, 0 rejected"), "{text}");
    let text = output(0, &["stats", "--skip", "239", &file]);
    assert!(text.starts_with("1 position of 1 game, 0 rejected"), "{text}");
}

#[test]
fn a_page_of_one_position_does_not_praise_its_shares() {
    let dir = Dir::new();
    let (one, page) = (dir.file("one.fen", START), dir.name("one.html"));
    output(0, &["stats", "--html", &page, &one]);
    let text = fs::read_to_string(&page).unwrap();
    assert!(!text.contains("balanced sides"));
    assert!(text.contains("Shares are judged only where there are at least 1,000 positions."));
}

#[test]
fn json_of_two_positions() {
    let dir = Dir::new();
    let file = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    let stats = json(0, &["stats", "--json", &file]);
    let keys: Vec<&str> = stats.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "version",
            "schema",
            "positions",
            "rejected",
            "stm",
            "in_check",
            "double_check",
            "checkmate",
            "stalemate",
            "legal_moves",
            "legal_captures",
            "legal_promotions",
            "legal_castles",
            "legal_en_passants",
            "attacked_white",
            "attacked_black",
            "pieces",
            "phase",
            "material",
            "castling",
            "en_passant",
            "occupancy",
            "attack_map",
            "results",
            "game_results",
            "run",
        ]
    );
    assert_eq!(stats["positions"], 2);
    assert_eq!(stats["stm"], json!({"white": 2, "black": 0}));
    let moves = &stats["legal_moves"];
    assert_eq!((&moves["sum"], &moves["min"], &moves["max"]), (&json!(68), &json!(20), &json!(48)));
    assert_eq!(moves["mean"], 34.0);
    assert_eq!(moves["median"], 34.0);
    assert_eq!(moves["stddev"], 14.0);
    for side in ["attacked_white", "attacked_black"] {
        assert_eq!((&stats[side]["sum"], &stats[side]["mean"]), (&json!(60), &json!(30.0)), "{side}");
    }
    let histogram = moves["histogram"].as_array().unwrap();
    assert_eq!(histogram.len(), 49);
    assert_eq!((&histogram[20], &histogram[48]), (&json!(1), &json!(1)));
    assert_eq!(stats["legal_captures"], 8);
    assert_eq!(stats["legal_castles"], 2);
    assert_eq!(stats["material"]["white"].as_array().unwrap()[39], 2);
    assert_eq!(stats["castling"], json!({"none": 0, "some": 2, "K": 2, "Q": 2, "k": 2, "q": 2}));
    assert_eq!(stats["occupancy"]["K"][4], 2);
    assert_eq!(stats["occupancy"]["p"][52], 1);
    assert_eq!(stats["attack_map"]["white"].as_array().unwrap().len(), 64);
    assert_eq!(stats["results"], json!({"white": 0, "draw": 0, "black": 0, "unknown": 2}));
    for key in ["tier", "threads", "seconds", "positions_per_second", "bytes_read"] {
        assert!(!stats["run"][key].is_null(), "{key}");
    }
}

/// Several blocks, several threads: the counts match the rows of the columns.
#[test]
fn results_scores_and_mates_are_those_of_the_records() {
    let dir = Dir::new();
    let mut batch = sample_batch(10_000);
    let mut mates = Values::default();
    for row in 0..batch.len() {
        // A few mates, far apart, some of them in zero moves: the side to move is mated.
        mates.push((row % 97 < 2).then_some((row % 5) as i16 - 2));
    }
    batch.fields.insert(Field::Mate, Array::I16(mates.clone()));
    let file = dir.file("x.boards", boards_bytes(&batch));
    let Some(Array::U8(results)) = batch.values(Field::Result) else {
        panic!("results");
    };
    let Some(Array::I16(scores)) = batch.values(Field::Score) else {
        panic!("scores");
    };
    let rows = || 0..batch.len();
    let with_result = |code| rows().filter(|&row| results.get(row) == Some(&code)).count();
    let scores: Vec<i64> = rows().filter_map(|row| scores.get(row).map(|&s| s.into())).collect();
    let wins = |white: bool| {
        let by_white = |row: usize| match *mates.get(row)? {
            0 => Some(batch.board(row).side_to_move() == Color::Black),
            moves => Some(moves > 0),
        };
        rows().filter(|&row| by_white(row) == Some(white)).count()
    };
    for threads in ["1", "3"] {
        let stats = json(0, &["stats", "--json", "--threads", threads, &file]);
        assert_eq!(
            stats["results"],
            json!({
                "white": with_result(2),
                "draw": with_result(1),
                "black": with_result(0),
                "unknown": batch.len() - with_result(0) - with_result(1) - with_result(2),
            })
        );
        let score = &stats["score"];
        assert_eq!(score["count"], scores.len());
        assert_eq!(score["sum"], scores.iter().sum::<i64>());
        assert_eq!(score["min"], *scores.iter().min().unwrap());
        assert_eq!(score["max"], *scores.iter().max().unwrap());
        assert_eq!(stats["mate"], json!({"white": wins(true), "black": wins(false)}));
    }
}

#[test]
fn mates_are_counted_without_scores_too() {
    let dir = Dir::new();
    let file = dir.file("x.pgn", "[Event \"x\"]\n\n1. e4 {[%eval #-3]} e5 {[%eval #2]} *\n");
    let stats = json(0, &["stats", "--json", &file]);
    assert_eq!(stats["score"], Value::Null);
    assert_eq!(stats["mate"], json!({"white": 1, "black": 1}));
}

#[test]
fn an_empty_input_is_an_error_unless_it_is_a_blank_text_or_says_that_it_is_empty() {
    let dir = Dir::new();
    let blanks = format!("\u{FEFF}{}\n", " \n\t\r\n".repeat(5000));
    for (name, text) in
        [("b.fen", ""), ("b.pgn", &blanks), ("b.tsv.fen", "\r\n"), ("b.plain", ""), ("b.jsonl", "\n"), ("b.epd", "")]
    {
        let file = dir.file(name, text);
        for command in ["stats", "games", "verify"] {
            if command != "games" || name.ends_with("pgn") {
                let said = stderr_of(0, &[command, &file]);
                assert!(said.contains("the file is empty") && said.contains(&file), "{command} {name}: {said}");
            }
        }
        let stderr = stderr_of(0, &["stats", &sample("sample.epd"), &file]);
        assert_eq!(stderr.matches("the file is empty").count(), 1, "{stderr}");
        assert_eq!(json(0, &["-q", "stats", "--json", &file])["positions"], 0);
        fails(2, &["stats", "--strict", &file], "no records: in this format");
        let out = dir.name("out.boards");
        output(0, &["convert", "--force", &file, "-o", &out]);
        assert_eq!(json(0, &["stats", "--json", &out])["positions"], 0);
    }
    for (name, text) in [("a.fen", "# nothing\n\n"), ("a.pgn", "% nothing\n"), ("a.bullet", ""), ("a.viri", "")] {
        let file = dir.file(name, text);
        fails(2, &["stats", &file], "no records: in this format");
        fails(2, &["stats", &sample("sample.epd"), &file], "no records: in this format");
        fails(1, &["verify", &file], "");
        // Not all of it is looked at.
        output(0, &["stats", "--shard", "0/2", &file]);
    }
    // Games and records that are not chosen are something.
    output(0, &["stats", &sample("lichess-2025-05.pgn"), "--min-elo", "4000"]);
    output(0, &["stats", &sample("sample.epd"), "--skip", "1M"]);
    let file = dir.file("empty.csv", "fen,score\n");
    let stats = json(0, &["stats", "--json", &file]);
    assert_eq!(stats["positions"], 0);
    assert_eq!(stats["legal_moves"]["min"], Value::Null);
    assert_eq!(stats["legal_moves"]["mean"], Value::Null);
    assert_eq!(stats["legal_moves"]["histogram"], json!([]));
    assert!(output(0, &["stats", &file]).starts_with("0 positions, 0 rejected\n"));
}

#[test]
fn en_passant_squares_count_when_they_are_legal_or_kept() {
    let dir = Dir::new();
    let file = dir.file("ep.fen", "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1\n8/8/8/8/k2Pp3/8/8/3K4 b - d3 0 1\n");
    assert_eq!(json(0, &["stats", "--json", &file])["en_passant"], 1);
    assert_eq!(json(0, &["stats", "--json", "--keep-en-passant", &file])["en_passant"], 2);
}

#[test]
fn several_inputs_and_standard_input_are_one_dataset() {
    let both = json(0, &["stats", "--json", &sample("sample.epd"), &sample("sample.boards")]);
    assert_eq!(both["positions"], 2 * 4098);
    let done = lanefish(&["stats", "--json", "-"]).write_stdin(format!("{START}\n")).assert().success();
    let stats: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(stats["positions"], 1);
}

/// The command ends with this status and says this.
fn fails(status: i32, arguments: &[&str], why: &str) {
    let done = lanefish(arguments).assert().code(status);
    let error = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(error.contains(why), "{arguments:?}: {error}");
}

/// The JSON of a run without what depends on the machine.
fn without_run(mut stats: Value) -> Value {
    stats.as_object_mut().unwrap().remove("run");
    stats
}

#[test]
fn merged_shards_are_the_whole() {
    let dir = Dir::new();
    let sample = sample("sample.epd");
    let whole = json(0, &["stats", "--json", "--details", &sample]);
    let mut merge = vec!["stats".to_owned(), "--json".to_owned(), "--merge".to_owned()];
    for shard in 0..16 {
        let part = output(0, &["stats", "--json", "--details", "--shard", &format!("{shard}/16"), &sample]);
        merge.push(dir.file(&format!("{shard}.json"), part));
    }
    let arguments: Vec<&str> = merge.iter().map(String::as_str).collect();
    let merged = json(0, &arguments);
    assert_eq!(merged["run"]["merged"], 16);
    assert_eq!(without_run(merged), without_run(whole));
    // Text and pages are made of merged reports as well.
    let text: Vec<&str> = arguments.iter().copied().filter(|&word| word != "--json").collect();
    assert!(stderr_of(0, &text).contains("merged from 16 files"));
}

#[test]
fn only_reports_of_one_kind_are_merged() {
    let dir = Dir::new();
    let file = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    let of = |name: &str, options: &[&str]| {
        let arguments: Vec<&str> = [&["stats", "--json", &*file], options].concat();
        dir.file(name, output(0, &arguments))
    };
    let plain = of("plain.json", &[]);
    let details = of("details.json", &["--details"]);
    let by_phase = of("by_phase.json", &["--by", "phase"]);
    let by_pieces = of("by_pieces.json", &["--by", "pieces/4"]);
    for (a, b, why) in [
        (&plain, &details, "with --details"),
        (&plain, &by_phase, "grouped in different ways"),
        (&by_pieces, &by_phase, "grouped in different ways"),
        (&plain, &file, "is not JSON"),
        (&dir.file("no.json", "{\"schema\": 1}"), &plain, "`positions` should be there"),
        (&dir.file("new.json", "{\"schema\": 7}"), &plain, "`schema`"),
    ] {
        fails(2, &["stats", "--merge", a, b], why);
    }
    fails(2, &["stats", "--merge"], "name files written by");
    fails(2, &["stats", "--merge", "nowhere.json"], "nowhere.json");
    assert_eq!(json(0, &["stats", "--json", "--merge", &plain, &plain])["positions"], 4);
    let merged = json(0, &["stats", "--json", "--merge", &by_phase, &by_phase]);
    assert_eq!(merged["groups"]["values"][0]["stats"]["positions"], 4);
}

/// A checker of what the schema of this project uses.
fn obeys(value: &Value, schema: &Value, root: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).expect(reference);
        obeys(value, target, root, at);
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &&str| match *name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "null" => value.is_null(),
        _ => false,
    };
    assert!(types.is_empty() || types.iter().any(is), "{at}: {value} is not {types:?}");
    if schema["minimum"] == 0 {
        assert!(value.as_f64().unwrap() >= 0.0, "{at}");
    }
    if let Some(array) = value.as_array() {
        let len = |key: &str, default: usize| schema[key].as_u64().map_or(default, |len| len as usize);
        assert!((len("minItems", 0)..=len("maxItems", usize::MAX)).contains(&array.len()), "{at}");
        for (place, item) in array.iter().enumerate() {
            let own = schema["prefixItems"].get(place).or(schema.get("items"));
            own.into_iter().for_each(|schema| obeys(item, schema, root, &format!("{at}[{place}]")));
        }
    }
    if let Some(object) = value.as_object() {
        for key in schema["required"].as_array().into_iter().flatten() {
            assert!(object.contains_key(key.as_str().unwrap()), "{at} has no {key}");
        }
        for (key, item) in object {
            let at = format!("{at}.{key}");
            match schema["properties"].get(key) {
                Some(schema) => obeys(item, schema, root, &at),
                None if schema["additionalProperties"].is_object() => {
                    obeys(item, &schema["additionalProperties"], root, &at);
                }
                None => assert!(schema["additionalProperties"] != false, "{at} is not in the schema"),
            }
        }
    }
}

#[test]
fn json_is_what_the_schema_says() {
    let schema = fs::read_to_string(sample("stats.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let dir = Dir::new();
    let game = dir.file(
        "game.pgn",
        "[Event \"x\"]\n[ECO \"B12\"]\n[WhiteElo \"1500\"]\n[TimeControl \"60+0\"]\n\n1. e4 { [%eval 0.2] } c6 \
         { [%eval #3] } 2. d4 1-0\n",
    );
    for arguments in [
        vec!["stats", "--json", &*sample("sample.epd")],
        vec!["stats", "--json", "--details", "--by", "result", &game],
        vec!["stats", "--json", "--by", "ply", "--by", "result", "--top", "1", &game],
        vec!["stats", "--json", "--exact-distinct", "--by", "in_check", &sample("sample.boards")],
        vec!["stats", "--json", "--details", &dir.file("none.csv", "fen\n")],
    ] {
        obeys(&json(0, &arguments), &schema, &schema, "stats");
    }
}

#[test]
fn groups_in_a_table() {
    let table = output(0, &["stats", "--by", "in_check", &sample("sample.epd")]);
    let (_, groups) = table.split_once(" in_check ").unwrap();
    let mut lines = groups.lines().skip(2);
    let mut cells = || lines.next().unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(cells()[..3], ["0", "3,818", "93.2"]);
    assert_eq!(cells()[..3], ["1", "280", "6.8"]);
    for (by, why) in [
        ("beauty", "there is no column `beauty`"),
        ("phase,pieces,ply", "expected one or two columns"),
        ("phase,phase", "is named twice"),
        ("ply/0", "expected a width"),
        ("eco/5", "is text"),
    ] {
        fails(2, &["stats", "--by", by, &sample("sample.epd")], why);
    }
}

/// Groups by expressions and by names of `--let`: those of the columns that have the same values.
#[test]
fn groups_by_expressions() {
    let games = sample("lichess-2025-05.pgn");
    let groups =
        |options: &[&str]| json(0, &[&["stats", "--json", &games], options].concat())["groups"]["values"].clone();
    let same = |a: &[&str], b: &[&str]| {
        let (a, b) = (groups(a), groups(b));
        assert!(a.as_array().unwrap().len() > 1);
        assert_eq!(a, b);
    };
    same(&["--by", "elo_difference/100"], &["--by", "(white_elo - black_elo)/100"]);
    same(&["--by", "material_balance/2"], &["--let", "d=material_white - material_black", "--by", "d/2"]);
    same(&["--by", "speed,in_check"], &["--by", "(speed)", "--by", "in_check and true"]);
    same(&["--by", "win_chance/0.1"], &["--by", "(win_chance + 0.0)/0.1"]);
    // Negative numbers have ranges like others, and parts are not cut within parentheses or quotes.
    same(&["--by", "(0 - ply)/10"], &["--let", "n=-ply", "--by", "n/10"]);
    same(
        &["--by", "case when in_check then 'a,b' else 'c/d' end"],
        &["--by", "(case when in_check then 'a,b' else 'c/d' end)"],
    );
    for (by, why) in [
        ("white_elo - ", "--by white_elo -"),
        ("(white_elo - black_elo)/0", "expected a width"),
        ("coalesce(speed, 'x')/5", "is text"),
        ("sped", "did you mean `speed`?"),
        ("ply - 1,pieces - 1,phase", "expected one or two columns"),
        ("ply + 1,ply + 1", "is named twice"),
    ] {
        fails(2, &["stats", "--by", by, &games], why);
    }
}

/// What the table of groups has, in which order, and what is left out where there is no room.
#[test]
fn the_table_of_groups() {
    let games = sample("lichess-2025-05.pgn");
    let table = |options: &[&str]| output(0, &[&["stats", &games], options].concat());
    let head = |table: &str| table.lines().nth(2).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    // At 80 columns, results and games are there, and long names of openings are cut.
    let usual = table(&["--by", "opening", "--by", "speed"]);
    let heads = head(&usual).join(" ");
    assert!(heads.starts_with("opening speed games share White draw Black"), "{usual}");
    assert!(usual.contains('…') && usual.lines().all(|line| line.chars().count() <= 80), "{usual}");
    assert!(usual.contains("Left out because they do not fit: "), "{usual}");
    let shown = table(&["--by", "speed", "--show", "games,mean_moves,distribution"]);
    assert_eq!(head(&shown), ["speed", "games", "mean", "moves", "distribution"]);
    let numbers = |options: &[&str]| -> Vec<f64> {
        let table = table(&[&["--by", "eco", "--show", "mean_moves"], options].concat());
        let rows = table.lines().skip(4).take_while(|line| !line.is_empty());
        rows.map(|line| line.split_whitespace().last().unwrap().parse().unwrap()).collect()
    };
    let descending = numbers(&["--sort", "mean_moves"]);
    assert!(descending.len() > 5 && descending.is_sorted_by(|a, b| a >= b), "{descending:?}");
    assert!(numbers(&["--sort", "mean_moves:asc"]).is_sorted());
    assert_ne!(numbers(&["--sort", "group"]), descending);
    assert!(table(&["--by", "san", "--where", "ply = 0"]).contains("lanefish tree "));
    for (options, why) in [
        (["--show", "beauty"], "there is no `beauty` in the table of groups"),
        (["--sort", "games:up"], "is no direction"),
    ] {
        fails(2, &[&["stats", "--by", "eco", &games], &options[..]].concat(), why);
    }
    fails(2, &["stats", "--show", "games", &games], "--by");
}

/// Groups of moves have the mean rating of those who play them, as the records have it.
#[test]
fn groups_of_moves_have_ratings() {
    let games = sample("lichess-2025-05.pgn");
    let choice = ["--where", "ply < 2"];
    let rows = output(
        0,
        &[&["compute", &games, "--columns", "san,stm,white_elo,black_elo", "--format", "csv"], &choice[..]].concat(),
    );
    let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in rows.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        if let Ok(elo) = cells[if cells[1] == "w" { 2 } else { 3 }].parse::<u64>() {
            let (count, sum) = expected.entry(cells[0].to_owned()).or_default();
            *count += 1;
            *sum += elo;
        }
    }
    for options in [&["--by", "san"][..], &["--by", "san", "--details"], &["--by", "move,san", "--threads", "2"]] {
        let stats = json(0, &[&["stats", "--json", &games], &choice[..], options].concat());
        let mut found = BTreeMap::new();
        for group in stats["groups"]["values"].as_array().unwrap() {
            let name = group["value"].as_array().map_or(&group["value"], |parts| &parts[1]).as_str().unwrap_or("");
            if let Some(elo) = group["stats"].get("mover_elo") {
                found.insert(name.to_owned(), (elo["count"].as_u64().unwrap(), elo["sum"].as_u64().unwrap()));
            }
        }
        assert_eq!(found, expected, "{options:?}");
    }
    let table = output(0, &[&["stats", &games, "--by", "san"], &choice[..]].concat());
    assert!(table.contains("mean rating"), "{table}");
    let of_openings = output(0, &["stats", &games, "--by", "eco", "--show", "games,mean_elo", "--top", "3"]);
    assert!(of_openings.contains("mean rating"), "{of_openings}");
    assert!(!output(0, &["stats", &games, "--by", "eco"]).contains("mean rating"));
}

/// Remarks propose commands that run, and advice on options that were used.
#[test]
fn remarks_name_the_input() {
    let dir = Dir::new();
    let file = dir.file("a b.fen", fs::read(sample("sample.epd")).unwrap());
    let table = output(0, &["stats", &file]);
    let joined = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(&format!("lanefish compute '{file}' --where \"checkmate or stalemate\"`")), "{table}");
    let games = sample("lichess-2025-05.pgn");
    let of_white = ["stats", &games, "--where", "stm = 'w'"];
    assert!(!output(0, &of_white).contains("--every"));
}

/// One screen, and everything.
#[test]
fn one_screen_or_everything() {
    let games = sample("lichess-2025-05.pgn");
    let dir = Dir::new();
    for file in ["lichess-2025-05.pgn", "sample.epd"] {
        // By its name, because a long path makes long lines.
        dir.file(file, fs::read(sample(file)).unwrap());
        let done = lanefish(&["stats", file]).current_dir(dir.0.path()).assert().code(0);
        let screen = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
        assert!((24..=45).contains(&screen.lines().count()), "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        let full = output(0, &["stats", "--full", &sample(file)]);
        assert!(full.contains("\nLegal moves\n") && full.contains("White's pieces"), "{full}");
    }
    assert!(output(0, &["stats", "--details", &games]).contains("Opening"));
}

/// Of many groups, the largest are counted separately, and all others together.
#[test]
fn the_largest_groups() {
    let sample = sample("sample.epd");
    let index = ["stats", "--by", "index", &sample];
    // Of equally large ones, those with the lowest values.
    for (top, groups) in [(None, 1000), (Some("3"), 3)] {
        let top: Vec<&str> = top.into_iter().flat_map(|top| ["--top", top]).collect();
        let all = json(0, &[&index[..], &["--json"], &top].concat());
        assert_eq!(all["positions"], 4098);
        let values = all["groups"]["values"].as_array().unwrap();
        assert_eq!((values.len() as u64, &values[2]["value"]), (groups, &2.into()));
        let others = &all["groups"]["others"];
        assert_eq!((&others["groups"], &others["stats"]["positions"]), (&json!(4098 - groups), &json!(4098 - groups)));
    }
    let text = output(0, &index);
    assert!(text.contains("4,048 others") && text.lines().count() < 70, "{text}");
    assert!(!text.contains("Legal moves\n"), "{text}");
    // What can be read only once has no largest groups.
    let text = fs::read(&sample).unwrap();
    let done = lanefish(&["stats", "--by", "index", "-"]).write_stdin(text).assert().code(2);
    assert!(String::from_utf8_lossy(&done.get_output().stderr).contains("more than 1000 groups"));
    // Rejected records are reported once, although they were read three times.
    let dir = Dir::new();
    let bad: String = (0..1200).map(|n| format!("4k3/8/8/8/8/8/8/4K2R w K - 0 {}\n", n + 1)).collect();
    let bad = dir.file("bad.fen", bad + "rubbish\n");
    let rejects = dir.name("rejects.jsonl");
    output(1, &["-q", "stats", "--by", "fullmove/1", "--rejects", &rejects, &bad]);
    assert_eq!(fs::read_to_string(&rejects).unwrap().lines().count(), 1);
}

/// Texts come in the order of their sizes, numbers in theirs; two columns make groups of both.
#[test]
fn groups_of_two_columns() {
    let pgn = sample("lichess-2025-05.pgn");
    let both = json(0, &["stats", "--json", "--by", "result", "--by", "in_check", &pgn]);
    let (by, width) = (&both["groups"]["by"], &both["groups"]["width"]);
    assert_eq!((by, width), (&json!(["result", "in_check"]), &json!([1, 1])));
    let values = both["groups"]["values"].as_array().unwrap();
    assert_eq!(values[0]["value"], json!(["0-1", 0]));
    let sum: u64 = values.iter().map(|group| group["stats"]["positions"].as_u64().unwrap()).sum();
    assert_eq!(sum, 645);
    assert_eq!(json(0, &["stats", "--json", "--by", "result,in_check", &pgn])["groups"], both["groups"]);
    let text = output(0, &["stats", "--by", "eco", &pgn]);
    assert!(text.contains("\nLeft out because they do not fit: "), "{text}");
    let sizes = text.lines().skip_while(|line| !line.contains("────")).skip(1);
    let sizes = sizes.take_while(|line| !line.starts_with("Left out"));
    let sizes: Vec<u64> = sizes.map(|line| line.split_whitespace().nth(2).unwrap().parse().unwrap()).collect();
    assert!(sizes.len() > 5 && sizes.is_sorted_by(|a, b| a >= b), "{text}");
    let dir = Dir::new();
    let csv = dir.name("csv");
    output(0, &["stats", "--csv", &csv, "--by", "result,in_check", "--top", "1", &pgn]);
    let shares = fs::read_to_string(format!("{csv}/shares.csv")).unwrap();
    assert!(shares.starts_with("result,in_check,unit,share,count,whole\n0-1,0,"), "{shares}");
    assert!(shares.contains("\n(others),(others),positions,"), "{shares}");
    assert!(output(0, &["stats", "--by", "clock", &pgn]).contains(" min "));
}

/// Results by opening, rating and time control are those of groups of games, in JSON, in CSV files and on the page, and shards
/// sum to the whole.
#[test]
fn results_of_games_by_kind() {
    let (dir, games) = (Dir::new(), sample("lichess-2025-05.pgn"));
    let whole = json(0, &["stats", "--json", "--details", &games]);
    let results = &whole["details"]["games"]["results"];
    let speeds = json(0, &["stats", "--json", "--by", "speed", &games]);
    let speeds = speeds["groups"]["values"].as_array().unwrap();
    assert_eq!(results["time_control"].as_object().unwrap().len(), speeds.len());
    for speed in speeds {
        let name = speed["value"].as_str().unwrap();
        assert_eq!(results["time_control"][name], speed["stats"]["game_results"], "{name}");
    }
    for kind in ["opening", "rating", "time_control"] {
        for result in ["white", "draw", "black", "unknown"] {
            let all = results[kind].as_object().unwrap().values().map(|found| found[result].as_u64().unwrap());
            assert_eq!(all.sum::<u64>(), whole["game_results"][result].as_u64().unwrap(), "{kind}: {result}");
        }
    }
    let (page, csv) = (dir.name("games.html"), dir.name("csv"));
    output(0, &["-q", "stats", "--html", &page, "--csv", &csv, &games]);
    let page = fs::read_to_string(page).unwrap();
    for (title, kind) in [("Results by rating", "rating"), ("Results by time control", "time_control")] {
        let (_, figure) = page.split_once(&format!("<h3>{title}</h3>")).unwrap();
        let (figure, _) = figure.split_once("</figure>").unwrap();
        assert_eq!(figure.matches("<th scope=\"row\">").count(), results[kind].as_object().unwrap().len(), "{kind}");
    }
    for kind in ["opening", "eco", "rating", "time_control"] {
        let table = fs::read_to_string(format!("{csv}/{kind}_results.csv")).unwrap();
        let column = if kind == "rating" { "first_rating" } else { kind };
        assert_eq!(table.lines().next().unwrap(), format!("{column},white,draw,black,unknown"));
        assert_eq!(table.lines().count(), 1 + results[kind].as_object().unwrap().len(), "{kind}");
    }
}

#[test]
fn tidy_files() {
    let dir = Dir::new();
    let csv = dir.name("csv");
    output(0, &["stats", "--csv", &csv, &sample("sample.epd")]);
    let read = |name: &str| fs::read_to_string(format!("{csv}/{name}.csv")).unwrap();
    assert!(read("legal_moves").starts_with("value,count\n0,"));
    assert_eq!(read("squares").lines().count(), 1 + 17 * 64);
    assert!(read("shares").contains("\npositions,in_check,280,4098\n"));
    assert!(read("distinct").starts_with("level,estimate,exact\nboard,"));
    fails(2, &["stats", "--csv", &csv, &sample("sample.epd")], "not empty");
    output(0, &["stats", "--csv", &csv, "--force", "--by", "in_check", &sample("sample.epd")]);
    assert!(read("legal_moves").starts_with("in_check,value,count\n0,0,"));
    let file = dir.file("a-file", "");
    fails(2, &["stats", "--csv", &file, &sample("sample.epd")], "cannot write to");
}

#[test]
fn exact_numbers_of_distinct_positions() {
    let dir = Dir::new();
    let file = dir.file("four.fen", format!("{START}\n{KIWIPETE}\n{START}\n{START}\n"));
    let stats = json(0, &["stats", "--json", "--exact-distinct", "--memory", "1M", &file]);
    let exact = &stats["details"]["distinct"]["exact"];
    assert_eq!(*exact, json!({ "board": 2, "stm": 2, "castling": 2, "position": 2 }));
    assert_eq!(*exact, stats["details"]["distinct"]["estimate"]);
    let nowhere = dir.name("nowhere");
    fails(2, &["stats", "--exact-distinct", "--temp", &nowhere, &file], "temporary files");
}

#[test]
fn comparing() {
    let dir = Dir::new();
    let sample = sample("sample.epd");
    let report = dir.file("sample.json", output(0, &["stats", "--json", "--details", &sample]));
    let two = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    let page = dir.name("page.html");
    let equal = output(0, &["stats", "--compare", "--details", &sample, &report]);
    assert!(equal.contains("4,098 positions") && !equal.contains('+') && !equal.contains(" x\n"), "{equal}");
    assert!(equal.contains("A and B differ by no more than chance"), "{equal}");
    assert!(equal.contains(" distributions differ by no more than chance: --full shows them."), "{equal}");
    let equal = output(0, &["stats", "--compare", "--full", &sample, &report]);
    let distances = equal.lines().filter(|line| line.contains(" 0.0000 ")).count();
    assert!(distances > 20 && !equal.contains("--full shows"), "{equal}");
    // What differs most is said, and what does not is hidden.
    let white = dir.name("white.fen");
    output(0, &["-q", "convert", &sample, "--where", "stm = 'w'", "-o", &white]);
    let one_sided = output(0, &["stats", "--compare", &sample, &white]);
    let sentence = one_sided.split("\n\n").nth(1).unwrap().replace('\n', " ");
    assert!(
        sentence.starts_with("A and B differ most in ") && sentence.contains(" to move (50.1 % against 100 %)")
            || sentence.contains("(49.9 % against 0 %)"),
        "{one_sided}"
    );
    assert!(!one_sided.contains("Phase") && one_sided.contains("--full shows them"), "{one_sided}");
    let differs = output(0, &["stats", "--compare", &report, &two]);
    assert!(differs.contains("B ") && differs.contains("2 positions"));
    let written = output(0, &["stats", "--compare", "--html", &page, &report, &two]);
    assert_eq!(written, format!("wrote {page}: comparison of 2 datasets\n"));
    assert!(fs::read_to_string(&page).unwrap().contains("two.fen"));
    fails(2, &["stats", "--compare", &sample], "needs 2 to 26 inputs, got 1");
    fails(2, &["stats", "--compare", &sample, "nowhere.epd"], "nowhere.epd");
    // More than two.
    let three = ["stats", "--compare", "--details", &sample, &report, &two];
    let text = output(0, &[&three[..], &["--full"]].concat());
    assert!(text.contains("C ") && text.contains("mean C"), "{text}");
    let object = json(0, &[&three[..], &["--json"]].concat());
    let comparisons = object["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2);
    assert_eq!((&comparisons[0]["is_chance"], &comparisons[0]["b"]), (&true.into(), &report.clone().into()));
    assert_eq!(comparisons[1]["positions"], json!([4098, 2]));
    let of = |list: &str, key: &str| {
        let all = comparisons[1][list].as_array().unwrap();
        all.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("{key}")).clone()
    };
    let check = of("shares", "in_check");
    assert_eq!(check["b"], 0.0);
    let beyond = check["difference"].as_f64().unwrap().abs() / check["chance"].as_f64().unwrap();
    assert!((check["beyond"].as_f64().unwrap() - beyond).abs() < 1e-12);
    assert_eq!(of("distances", "legal_moves")["means"][1], 34.0);
}

/// Two random halves of the games of a dump differ by no more than chance, in every row; those of strong and of weak
/// players differ by more.
#[test]
fn halves_of_a_dump_differ_by_chance() {
    let Some(pgn) = shared_data("pgn/lichess_db_1000k.pgn") else { return };
    let pgn = pgn.to_str().unwrap();
    let dir = Dir::new();
    for seed in ["1", "2", "3"] {
        let parts = dir.name(&format!("{seed}-{{part}}.boards"));
        output(0, &["-q", "split", pgn, "-o", &parts, "--parts", "a=0.5,b=0.5", "--by", "game", "--seed", seed]);
        let [a, b] = ["a", "b"].map(|part| parts.replace("{part}", part));
        let compared = json(0, &["-q", "stats", "--compare", "--details", "--json", &a, &b]);
        let compared = &compared["comparisons"][0];
        assert_eq!(compared["is_chance"], true, "{seed}: {}", compared["distances"][0]);
        assert!(compared["distances"].as_array().unwrap().len() > 30);
        let games: u64 = compared["games"].as_array().unwrap().iter().map(|games| games.as_u64().unwrap()).sum();
        assert_eq!(games, 438);
    }
    let [weak, strong] = ["<", ">="].map(|is| {
        let name = dir.name(if is == "<" { "weak.boards" } else { "strong.boards" });
        let condition = format!("mean_elo {is} 1500");
        output(0, &["-q", "convert", pgn, "-o", &name, "--where", &condition]);
        name
    });
    let compared = json(0, &["-q", "stats", "--compare", "--details", "--json", &weak, &strong]);
    let first = compared["comparisons"][0]["distances"][0]["key"].as_str().unwrap().to_owned();
    assert!(["white_elo", "black_elo"].contains(&first.as_str()), "{first}");
}

#[test]
fn a_page() {
    let dir = Dir::new();
    let page = dir.name("page.html");
    output(0, &["stats", "--html", &page, &sample("sample.epd")]);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.contains("sample.epd"));
    // A page is made again and again, but replaces nothing else.
    let two = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    let written = output(0, &["stats", "--html", &page, &two]);
    assert_eq!(written, format!("wrote {page}: 2 positions, 0 rejected\n"));
    assert!(fs::read_to_string(&page).unwrap().contains("two.fen"));
    let other = dir.file("other.html", "<!doctype html><title>Mine</title>");
    fails(2, &["stats", "--html", &other, &sample("sample.epd")], "--force");
    let csv = dir.name("csv");
    let written = output(0, &["stats", "--html", &page, "--csv", &csv, &two]);
    assert_eq!(written, format!("wrote {page} and tables in {csv}: 2 positions, 0 rejected\n"));
    let nowhere = dir.name("nowhere/page.html");
    fails(2, &["stats", "--html", &nowhere, &sample("sample.epd")], "nowhere");
}

/// A page says where its numbers come from, and is the same whenever it is made.
#[test]
fn a_page_names_its_origin() {
    let dir = Dir::new();
    let (page, boards) = (dir.name("page.html"), dir.name("two.boards"));
    let two = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    output(0, &["convert", "--manifest", &two, "-o", &boards]);
    let made = |more: &[&str]| {
        output(0, &[&["stats", "--html", &page, &boards, &two], more].concat());
        fs::read_to_string(&page).unwrap()
    };
    let text = made(&[]);
    let manifest = fs::read_to_string(format!("{boards}.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let (bytes, hash) = (&manifest["output"]["bytes"], manifest["output"]["blake3"].as_str().unwrap());
    let bytes = lanefish_core::text::numbers::grouped(bytes.as_u64().unwrap());
    let name = format!("<li>{boards}, {bytes} bytes; BLAKE3 according to its manifest: <code>{hash}</code></li>");
    assert!(text.contains(&name), "{text}");
    let bytes = fs::metadata(&two).unwrap().len();
    assert!(text.contains(&format!("<li>{two}, {bytes} bytes</li>")));
    assert_eq!(made(&[]), text);
    assert_eq!(made(&["--threads", "1", "--tier", "portable"]).lines().count(), text.lines().count());
    assert!(!text.contains("Counted on"));
    let dated = made(&["--dated"]);
    assert!(dated.contains("<p>Counted on 20") && dated.contains(" UTC in "), "{dated}");
    // A hash is of one content only.
    fs::write(format!("{boards}.manifest.json"), "{}").unwrap();
    assert!(!made(&[]).contains("BLAKE3"));
    // A page that was not written is named.
    let damaged = dir.file("cut.boards", &fs::read(&boards).unwrap()[..700]);
    let other = dir.name("other.html");
    let told = stderr_of(2, &["stats", "--html", &other, &two, &damaged]);
    assert!(told.contains(&format!("lanefish: {other} was not written\n")), "{told}");
    // A page without positions names what left them out.
    let empty = made(&["--where", "in_check"]);
    assert!(empty.contains("All positions were left out. --where left out 4 positions. "), "{empty}");
    fails(2, &["stats", "--dated", &two], "--html");
}

#[test]
fn no_file_replaces_an_input() {
    let dir = Dir::new();
    let two = dir.file("two.csv", format!("{START}\n{KIWIPETE}\n"));
    let report = dir.file("two.json", output(0, &["stats", "--json", "--from", "fen", &two]));
    let all = dir.name(".");
    let csv = ["--force", "--csv", &all];
    fails(2, &[&["stats", "--from", "fen", &two], &csv[..]].concat(), "is an input in the directory");
    fails(2, &[&["stats", "--from", "fen", &all], &csv[..]].concat(), "is an input in the directory");
    fails(2, &[&["stats", "--merge", &report], &csv[..]].concat(), "is an input in the directory");
    let page = ["--force", "--html", &report];
    fails(2, &[&["stats", "--merge", &report], &page[..]].concat(), "cannot also be an output");
    fails(2, &[&["stats", "--compare", &report, &report], &page[..]].concat(), "cannot also be an output");
    assert_eq!(json(0, &["stats", "--json", "--merge", &report])["positions"], 2);
}

#[test]
fn page_tables_and_rejects_appear_together() {
    let dir = Dir::new();
    let bad = dir.file("bad.fen", format!("{START}\nnonsense\n"));
    let worse = dir.file("worse.fen", format!("nothing\n{KIWIPETE}\nnonsense\n"));
    let names = ["page.html", "csv", "rejects.jsonl"].map(|name| dir.name(name));
    let [page, csv, rejects] = names.each_ref().map(String::as_str);
    output(1, &["stats", "--html", page, "--csv", csv, "--rejects", rejects, &bad]);
    let lines = || fs::read_to_string(rejects).unwrap().lines().count();
    assert_eq!(lines(), 1);
    assert!(std::fs::metadata(page).is_ok());
    assert!(std::fs::metadata(format!("{csv}/legal_moves.csv")).is_ok());
    // The rejects of both inputs are in one file.
    output(1, &["stats", "--compare", "--force", "--html", page, "--rejects", rejects, &bad, &worse]);
    assert_eq!(lines(), 3);
}

#[test]
fn merging_leaves_exact_numbers_out_and_says_so() {
    let dir = Dir::new();
    let two = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    let report = dir.file("two.json", output(0, &["stats", "--json", "--exact-distinct", &two]));
    let one = lanefish(&["stats", "--json", "--merge", &report]).output().unwrap();
    assert!(one.stderr.is_empty());
    let both = lanefish(&["stats", "--json", "--merge", &report, &report]).output().unwrap();
    assert!(both.status.success());
    assert!(String::from_utf8_lossy(&both.stderr).contains("exact numbers of distinct positions are left out"));
    let merged: Value = serde_json::from_slice(&both.stdout).unwrap();
    let distinct = &merged["details"]["distinct"];
    assert!(distinct.get("exact").is_none_or(Value::is_null));
    assert_eq!(distinct["estimate"]["position"], 2);
}

/// Groups of negative values begin below them, as those of positive ones do.
#[test]
fn groups_of_negative_values() {
    let dir = Dir::new();
    let game = "1. e4 {[%eval -1.50]} e5 {[%eval -1.00]} 2. d4 {[%eval -0.01]} exd4 {[%eval 0.00]} \
        3. c3 {[%eval 0.99]} dxc3 {[%eval 1.00]} *\n";
    let pgn = dir.file("x.pgn", game);
    let boards = dir.name("x.boards");
    output(0, &["convert", &pgn, "-o", &boards]);
    for file in [&pgn, &boards] {
        let report = json(0, &["stats", "--json", "--by", "score/100", file]);
        let groups = report["groups"]["values"].as_array().unwrap();
        let groups: Vec<(Option<i64>, u64)> = groups
            .iter()
            .map(|group| {
                let positions = group["stats"]["positions"].as_u64();
                (group["value"].as_i64(), positions.unwrap())
            })
            .collect();
        let expected = [(-200, 1), (-100, 2), (0, 2), (100, 1)].map(|(value, positions)| (Some(value), positions));
        assert_eq!(groups[..4], expected);
        assert_eq!(groups[4..], [(None, 1)]);
    }
}

/// A choice shows in what is written: the command, and what its options left out; also when reports are merged.
#[test]
fn a_choice_leaves_a_trace() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let page = dir.name("page.html");
    let report = json(0, &["stats", "--json", "--min-elo", "1500", "--time-control", "blitz", &pgn, "--html", &page]);
    let run = &report["run"];
    assert!(run["left_out"]["min-elo"]["games"].as_u64().unwrap() > 0, "{run}");
    assert!(run["left_out"]["time-control"].is_object(), "{run}");
    let command = run["command"].as_str().unwrap();
    assert!(command.starts_with("lanefish stats --json --min-elo 1500 --time-control blitz "), "{command}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("--min-elo left out") && page.contains("--min-elo 1500"), "the page says nothing");
    let whole = json(0, &["stats", "--json", &pgn]);
    assert_eq!(whole["run"]["left_out"], serde_json::json!({}));
    let files = [dir.file("a.json", report.to_string()), dir.file("b.json", report.to_string())];
    let merged = json(0, &["stats", "--merge", "--json", &files[0], &files[1]]);
    let games = |report: &serde_json::Value| report["run"]["left_out"]["min-elo"]["games"].as_u64().unwrap();
    assert_eq!(games(&merged), 2 * games(&report));
}

/// A run that fails leaves no directory behind that it made.
#[test]
fn failed_runs_leave_no_directory() {
    let dir = Dir::new();
    let bad = dir.file("bad.boards", "LANEFISH");
    let csv = dir.name("new/deep");
    for arguments in
        [&["stats", &bad, "--csv", &csv][..], &["stats", &sample("perft.epd"), "--csv", &csv, "--html", "/no/x"]]
    {
        super::lanefish(arguments).assert().code(2);
        assert!(!dir.path("new").exists(), "{arguments:?}");
    }
    output(0, &["-q", "stats", &sample("perft.epd"), "--csv", &csv]);
    assert!(dir.path("new/deep").is_dir());
}

/// Keys and sets of squares are unsigned, also as groups.
#[test]
fn groups_of_keys_are_the_keys() {
    let input = sample("famous.epd");
    for column in ["key", "attacks_white", "key/1000000"] {
        let name = column.split('/').next().unwrap();
        let rows = output(0, &["-q", "compute", "--masks", "decimal", "--columns", name, &input]);
        let width: u64 = column.split_once('/').map_or(1, |(_, width)| width.parse().unwrap());
        let mut expected: Vec<u64> =
            rows.lines().skip(1).map(|row| row.parse::<u64>().unwrap() / width * width).collect();
        expected.sort_unstable();
        expected.dedup();
        let report = json(0, &["-q", "stats", "--json", "--by", column, "--top", "10000", &input]);
        let mut found: Vec<u64> = report["groups"]["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| group["value"].as_u64().unwrap_or_else(|| panic!("{}", group["value"])))
            .collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{column}");
        assert!(expected.iter().any(|&value| value > i64::MAX as u64), "{column}");
    }
}
