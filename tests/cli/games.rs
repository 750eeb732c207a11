//! `games`, and the options that select games.

use super::{Dir, json, output, stderr_of};
use crate::support::shared_data;
use lanefish::tiers::Tier;
use serde_json::Value;

const GAMES: &str = "[Event \"Club, \\\"blitz\\\"\"]\n[White \"A\"]\n[Black \"B\"]\n[WhiteElo \"1500\"]\n\
    [BlackElo \"1400\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n\
    [Event \"?\"]\n[TimeControl \"60+0\"]\n\n1. e4 e5 2. Ke3 *\n";

#[test]
fn one_row_per_game_as_csv() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    let text = output(1, &["games", &file]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "game,event,site,date,time,round,white,black,white_elo,black_elo,eco,opening,time_control,\
             termination,variant,result,plies,outcome,fen,error",
            "0,\"Club, \"\"blitz\"\"\",,,,,A,B,1500,1400,,,,,,0-1,4,checkmate,\
             rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3,",
            "1,?,,,,,,,,,,,60+0,,,,2,,rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2,\
             illegal move `Ke3`",
        ]
    );
}

#[test]
fn one_object_per_game_as_jsonl() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    let row = json(0, &["games", "--format", "jsonl", "--limit", "1", &file]);
    assert_eq!(row["tags"]["Event"], "Club, \"blitz\"");
    assert_eq!((&row["outcome"], &row["plies"]), (&"checkmate".into(), &4.into()));
    let row = json(1, &["games", "--format", "jsonl", "--skip", "1", &file]);
    assert_eq!(row["game"], 1);
}

#[test]
fn selections_report_what_they_skip() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    let selection = ["--min-elo", "1400", "--plies", "1..2", "--min-plies", "1"];
    let stderr = stderr_of(0, &[&["stats", "--json", &file], &selection[..]].concat());
    assert!(stderr.contains("--min-elo left out 1 game and 3 positions"), "{stderr}");
    assert!(stderr.contains("--plies left out 0 games and 3 positions"), "{stderr}");
    assert!(stderr.contains("--min-plies left out 0 games and 0 positions"), "{stderr}");
    let text = output(0, &["compute", "--columns", "ply,move", "--result", "0-1", "--last", &file]);
    assert_eq!(text, "ply,move\n4,\n");
}

#[test]
fn a_container_with_an_incomplete_header_is_truncated() {
    let dir = Dir::new();
    for content in [&b""[..], b"\x28", b"\x28\xB5\x2F"] {
        for name in ["a.pgn.zst", "a.pgn.gz", "a.zst"] {
            let file = dir.file(name, content);
            let stderr = stderr_of(2, &["games", &file]);
            assert!(stderr.contains("are truncated"), "{name}: {stderr}");
        }
    }
    assert_eq!(output(0, &["games", &dir.file("a.pgn", "")]).lines().count(), 1);
}

/// The JSON of `stats` without the `run` key.
fn stats(arguments: &[&str]) -> serde_json::Value {
    let mut object = json(0, &[&["stats", "--json"], arguments].concat());
    object.as_object_mut().expect("an object").remove("run");
    object
}

#[test]
fn statistics_are_the_same_through_boards_containers_threads_and_tiers() {
    let Some(plain) = shared_data("wrappers/lichess_db_100k.pgn") else {
        return;
    };
    let plain = plain.to_str().expect("UTF-8");
    let expected = stats(&[plain]);
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    output(0, &["-q", "convert", plain, "-o", &boards]);
    assert_eq!(stats(&[&boards]), expected);
    for container in ["gz", "bz2", "single.zst", "nosize.zst", "pzstd.zst", "window28.zst"] {
        let path = format!("{plain}.{container}");
        assert_eq!(stats(&["--max-window", "256M", &path]), expected);
    }
    for threads in ["1", "2", "8"] {
        assert_eq!(stats(&["--threads", threads, plain]), expected);
    }
    for tier in Tier::available() {
        assert_eq!(stats(&["--tier", tier.name(), plain]), expected);
    }
}

#[test]
fn invalid_options_are_rejected() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    for (option, value) in [
        ("--plies", "9..3"),
        ("--plies", "x"),
        ("--every", "0"),
        ("--eco", "Z99"),
        ("--since", "May"),
        ("--time-control", "lightning"),
        ("--result", "2-0"),
    ] {
        let stderr = stderr_of(2, &["stats", option, value, &file]);
        assert!(stderr.contains(option), "{stderr}");
    }
}

/// Games behind the last one that is requested are not left out, in any format.
#[test]
fn a_limit_ends_what_is_left_out() {
    let dir = Dir::new();
    let game = |elo: u32| format!("[WhiteElo \"{elo}\"]\n[BlackElo \"{elo}\"]\n\n1. e4 e5 *\n\n");
    let file = dir.file("x.pgn", [1000, 2500, 1000, 1000, 2500, 1000].map(game).concat());
    let boards = dir.name("x.boards");
    output(0, &["convert", &file, "-o", &boards]);
    for input in [&file, &boards] {
        for (limit, left_out) in [("1", "1 game"), ("2", "3 games"), ("3", "4 games")] {
            let arguments = ["games", "--min-elo", "2000", "--limit", limit, input];
            let stderr = stderr_of(0, &arguments);
            assert!(stderr.contains(&format!("--min-elo left out {left_out}")), "{input} {limit}: {stderr}");
        }
    }
}

/// `--skip` counts games over chunks: more are skipped than the first chunk has.
#[test]
fn skipped_games_are_counted_over_chunks() {
    let dir = Dir::new();
    let games: String = (0..40_000)
        .map(|number| format!("[Event \"{number}\"]\n[White \"a name that is long, so that the games fill several chunks of a mebibyte each\"]\n\n1. e4 *\n\n"))
        .collect();
    assert!(games.len() > 3 << 20);
    let file = dir.file("x.pgn", games);
    let all = output(0, &["games", &file]);
    let all: Vec<&str> = all.lines().skip(1).collect();
    assert_eq!(all.len(), 40_000);
    for skip in [1, 11_000, 25_000, 39_998, 40_000] {
        for threads in ["1", "3"] {
            let skip_text = skip.to_string();
            let arguments = ["games", "--skip", &skip_text, "--threads", threads, &file];
            let rest = output(0, &arguments);
            assert!(rest.lines().skip(1).eq(all[skip..].iter().copied()), "{skip}");
            let arguments = [&arguments[..], &["--limit", "2"]].concat();
            let two = output(0, &arguments);
            assert!(two.lines().skip(1).eq(all[skip..].iter().copied().take(2)));
        }
    }
}

/// Of a tag that comes twice the last one counts, whatever the rows are written as; empty values are no values.
#[test]
fn doubled_and_empty_tags_mean_the_same_in_all_outputs() {
    let dir = Dir::new();
    let tags = "[Event \"x\"]\n[White \"a\"]\n[White \"b\"]\n[Opening \"\"]\n[ECO \"?\"]\n[Site \"s\"]\n\n";
    let pgn = dir.file("x.pgn", format!("{tags}1. e4 *\n"));
    let boards = dir.name("x.boards");
    output(0, &["convert", &pgn, "-o", &boards]);
    let columns = "white,opening,eco,site";
    for file in [&pgn, &boards] {
        let compute = ["compute", "--columns", columns, "--limit", "1", file];
        assert_eq!(output(0, &compute), "white,opening,eco,site\nb,,,s\n");
        let lines = output(0, &[&compute[..], &["--format", "jsonl"]].concat());
        assert_eq!(
            serde_json::from_str::<Value>(&lines).unwrap(),
            serde_json::json!({"white": "b", "opening": null, "eco": null, "site": "s"})
        );
    }
    let csv = output(0, &["games", &pgn]);
    assert!(csv.contains(",b,") && !csv.contains(",a,"), "{csv}");
    let lines = output(0, &["games", "--format", "jsonl", &pgn]);
    let game: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(game["tags"]["White"], "b");
}

/// Records that carry the numbers of their games give the rows that the PGN gives, but for tags that they do not carry.
#[test]
fn records_of_games_give_rows() {
    let dir = Dir::new();
    let mut sources = vec![super::sample("lichess-2025-05.pgn"), dir.file("made.pgn", GAMES)];
    sources.extend(shared_data("pgn/lichess_db_1000k.pgn").map(|path| path.to_str().unwrap().to_owned()));
    // Columns that records do not carry: event, time, round, variant; and what was wrong with the game.
    let without = |text: String| -> Vec<String> {
        let lost = ["event", "time", "round", "variant", "error"];
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let rows = rows.into_iter().map(|mut row| {
            let row = row.as_object_mut().unwrap();
            let tags = row["tags"].as_object().unwrap();
            let known = ["Site", "White", "Black", "WhiteElo", "BlackElo", "ECO", "Opening", "TimeControl", "Date"];
            let tags: Vec<String> = known
                .iter()
                .filter_map(|&name| Some((name, tags.get(name)?.as_str()?)))
                .filter(|(_, value)| !matches!(*value, "?" | ""))
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            row.insert("tags".to_owned(), tags.into());
            lost.iter().for_each(|&name| drop(row.remove(name)));
            serde_json::to_string(row).unwrap()
        });
        rows.collect()
    };
    for source in sources {
        let status = lanefish_status(&["games", &source]);
        let names: &[&str] = match cfg!(feature = "parquet") {
            true => &["x.boards", "x.boards.zst", "x.parquet", "x.arrow", "x.arrows"],
            false => &["x.boards", "x.boards.zst"],
        };
        let expected = without(output(status, &["-q", "games", "--format", "jsonl", &source]));
        assert!(!expected.is_empty());
        for name in names {
            let copy = dir.name(name);
            output(status, &["-q", "convert", &source, "-o", &copy, "--force"]);
            for threads in ["1", "3"] {
                let rows = |options: &[&str]| {
                    let base = ["-q", "games", "--format", "jsonl", "--threads", threads, &copy];
                    without(output(0, &[&base[..], options].concat()))
                };
                assert_eq!(rows(&[]), expected, "{name}");
                let few = rows(&["--skip", "1", "--limit", "2"]);
                assert_eq!(few, expected.iter().skip(1).take(2).cloned().collect::<Vec<_>>(), "{name}");
                assert!(rows(&["--limit", "0"]).is_empty());
                assert_eq!(rows(&["--limit", "1000000"]), expected);
            }
            let rated = ["-q", "games", "--format", "jsonl", "--min-elo", "1500"];
            let arguments = [&rated[..], &[&source]].concat();
            let chosen = without(output(lanefish_status(&arguments), &arguments));
            assert_eq!(without(output(0, &[&rated[..], &[&copy]].concat())), chosen, "{name}");
        }
    }
}

fn lanefish_status(arguments: &[&str]) -> i32 {
    super::lanefish(arguments).assert().get_output().status.code().unwrap()
}

/// Without games there are no rows: an error with the name of the input, before anything is written.
#[test]
fn inputs_without_games_are_refused() {
    let dir = Dir::new();
    let games = dir.file("g.pgn", "1. e4 e5 *\n");
    let plain = dir.file("x.fen", super::START);
    let boards = dir.name("x.boards");
    output(0, &["convert", &plain, "-o", &boards]);
    for input in [&plain, &boards] {
        for inputs in [vec![input], vec![&games, input]] {
            let rows = dir.name("rows.csv");
            let mut arguments = vec!["games", "-o", &rows];
            arguments.extend(inputs.iter().map(|name| name.as_str()));
            let stderr = stderr_of(2, &arguments);
            assert!(stderr.contains(input.as_str()) && stderr.contains("has no games"), "{stderr}");
            assert!(!dir.path("rows.csv").exists());
        }
    }
    // Of records with and without games, those without are counted.
    let mixed = dir.name("mixed.boards");
    output(0, &["-q", "convert", &games, &plain, "-o", &mixed]);
    assert_eq!(output(0, &["-q", "games", &mixed]).lines().count(), 2);
    let stderr = stderr_of(0, &["games", &mixed]);
    assert!(stderr.contains("1 record without a game"), "{stderr}");
}

/// Options that choose among the positions of a game have nothing to choose from here.
#[test]
fn options_of_positions_are_refused() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    for options in [
        &["--last"][..],
        &["--plies", "1..2"],
        &["--skip-book", "2"],
        &["--every", "2"],
        &["--max-per-game", "1"],
        &["--seed", "7"],
        &["--variations"],
    ] {
        let stderr = stderr_of(2, &[&["games", &file], options].concat());
        assert!(stderr.contains("means nothing to `lanefish games`"), "{stderr}");
    }
    let help = output(0, &["games", "--help"]);
    assert!(!help.contains("--plies") && help.contains("--min-elo"), "{help}");
}

/// What is wrong with the last record of a game is in its row; the rest of the row is known all the same.
#[test]
fn rows_say_what_is_wrong_with_the_last_record() {
    let dir = Dir::new();
    let start = super::START;
    let nine_pawns = "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1";
    // 49604 is e1g1 in castling form.
    let text = format!("fen,game,ply,move,white\n{start},0,6,49604,a\n{start},1,0,e2e4,b\n{nine_pawns},2,7,,c\n");
    let file = dir.file("a.csv", text);
    let rows = output(1, &["-q", "games", "--validity", "strict", "--format", "jsonl", &file]);
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let plies: Vec<&Value> = rows.iter().map(|row| &row["plies"]).collect();
    assert_eq!(plies, [6, 1, 7]);
    assert_eq!((&rows[0]["fen"], &rows[0]["error"]), (&start.into(), &"the last move is not legal".into()));
    assert_eq!((&rows[2]["fen"], &rows[2]["error"]), (&Value::Null, &"more than 8 pawns on one side".into()));
    assert_eq!(rows[2]["tags"]["White"], "c");
}

/// What comes after the last requested game is not seen, and each record without a game is counted.
#[test]
fn rejects_after_the_last_game_are_not_reported() {
    let dir = Dir::new();
    let start = super::START;
    let file = dir.file("a.csv", format!("fen,game\n{start},\n{start},\n{start},0\n{start},\n{start},1\nx,1\n"));
    for threads in ["1", "3"] {
        let run =
            |status: i32, limit: &str| stderr_of(status, &["games", "--threads", threads, "--limit", limit, &file]);
        assert!(!run(0, "2").contains("rejected"));
        let whole = run(1, "3");
        assert!(whole.contains("1 of 3 records rejected"), "{whole}");
        assert!(whole.contains("3 records without a game"), "{whole}");
    }
}

/// The lines of rejects are those of the file, also of records that are held back until their game is complete.
#[test]
fn held_rejects_have_their_lines() {
    let dir = Dir::new();
    let start = super::START;
    let nine_pawns = "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1";
    let rows = format!("{start},0\n").repeat(40_000);
    let file = dir.file("h.csv", format!("fen,game\n{rows}x,1\n{nine_pawns},1\n{start},1\n"));
    for threads in ["1", "4"] {
        let base = ["compute", "--columns", "fen", "--validity", "strict", "--threads", threads, &file];
        for options in [&["--last"][..], &["--every", "2"], &[]] {
            let stderr = stderr_of(1, &[&base[..], options].concat());
            assert!(stderr.contains("h.csv:40002 ") && !stderr.contains("h.csv:8"), "{options:?}: {stderr}");
            // Only without options that choose is the other one always there.
            assert!(!options.is_empty() || stderr.contains("h.csv:40003 "), "{options:?}: {stderr}");
        }
    }
}
