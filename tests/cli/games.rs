//! `games`, and the options that select games.

use super::{Dir, json, lanefish, output, stderr_of};
use crate::support::shared_data;
use lanefish::table::COLUMNS;
use lanefish::tiers::Tier;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

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
    assert!(stderr.contains("--plies left out 3 positions"), "{stderr}");
    assert!(stderr.contains("--min-plies left out nothing"), "{stderr}");
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
    assert!(stderr_of(0, &["games", &dir.file("a.pgn", "")]).contains("the file is empty"));
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

/// What is bad in a game that `--skip` passes over is not reported.
#[test]
fn bad_games_that_are_skipped_are_not_rejected() {
    let dir = Dir::new();
    let file = dir
        .file("a.pgn", "[Event \"a\"]\n\n1. Ke5 1-0\n\n[Event \"b\"]\n\n1. e4 1-0\n\n[Event \"c\"]\n\n1. d4 Qz9 *\n\n");
    for (skip, status, rows) in [("0", 1, 3), ("1", 1, 2), ("2", 1, 1), ("3", 0, 0), ("9", 0, 0)] {
        let csv = output(status, &["-q", "games", "--skip", skip, &file]);
        assert_eq!(csv.lines().count(), rows + 1, "{skip}");
    }
    let rejects = dir.name("rejects");
    output(1, &["-q", "games", "--skip", "1", "--rejects", &rejects, &file]);
    assert_eq!(std::fs::read_to_string(&rejects).unwrap().lines().count(), 1);
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

/// All PGN that there is to try, with the data of the tests.
fn all_pgn() -> Vec<String> {
    let own = ["data", "tests/pgn_files", "fuzz/corpus/pgn"].map(|it| Path::new(env!("CARGO_MANIFEST_DIR")).join(it));
    let shared = ["pgn", "pgn/awkward", "regressions"].into_iter().filter_map(shared_data);
    let folders = own.into_iter().chain(shared);
    let files =
        folders.flat_map(|folder| fs::read_dir(folder).expect("a folder")).map(|entry| entry.expect("an entry").path());
    let is_pgn = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|extension| extension == "pgn");
    let mut files: Vec<_> = files.filter(is_pgn).map(|path| path.to_str().expect("UTF-8").to_owned()).collect();
    files.sort();
    assert!(files.len() > 20);
    files
}

/// What a run prints, whatever its status; nothing if it cannot read the file at all.
fn printed(arguments: &[&str]) -> Option<String> {
    let done = lanefish(arguments).output().expect("it runs");
    (done.status.code() < Some(2)).then(|| String::from_utf8(done.stdout).expect("UTF-8"))
}

/// Rows of games without their numbers.
fn without_numbers(rows: &str) -> Vec<&str> {
    rows.lines().map(|row| row.split_once(',').map_or(row, |(_, rest)| rest)).collect()
}

#[test]
fn copied_games_are_the_games() {
    let dir = Dir::new();
    let columns: Vec<&str> = COLUMNS.iter().map(|column| column.name).filter(|&name| name != "index").collect();
    let compute = ["compute", "--from", "pgn", "--columns", &columns.join(",")];
    for (number, file) in all_pgn().into_iter().enumerate() {
        let Some(rows) = printed(&["games", &file]) else { continue };
        let copy = dir.name("copy.pgn");
        printed(&["games", "--force", &file, "-o", &copy]).expect("it could be read");
        let copied = fs::read(&copy).expect("a copy");
        assert_eq!(printed(&["games", "--from", "pgn", &copy]).as_ref(), Some(&rows), "{file}");
        let positions = |path: &str| printed(&[&compute[..], &[path]].concat());
        assert!(positions(&file) == positions(&copy), "{file}");
        // What is copied again stays, byte for byte.
        let again = dir.name("again.pgn");
        printed(&["games", "--force", "--from", "pgn", "--threads", "3", &copy, "-o", &again]).expect("it was read");
        assert!(fs::read(&again).expect("a copy") == copied, "{file}");

        let min_plies = ["--min-plies", "30"];
        let choices = [&["--result", "1-0"][..], &min_plies, &["--skip", "1"], &["--limit", "2"], &["--shard", "1/3"]];
        // Two for each file: several files have each of them.
        for chosen in [choices[number % choices.len()], choices[(number + 2) % choices.len()]] {
            let rows = printed(&[&["games", &file], chosen].concat()).expect("it could be read");
            printed(&[&["games", "--force", "-o", &copy, &file], chosen].concat()).expect("it could be read");
            match printed(&["games", "--from", "pgn", &copy]) {
                Some(copied) => assert_eq!(without_numbers(&copied), without_numbers(&rows), "{file}: {chosen:?}"),
                // A file without a single game is an error.
                None => assert_eq!(rows.lines().count(), 1, "{file}: {chosen:?}"),
            }
        }
    }
}

/// Whatever stands in a game stays: line ends, encodings, comments, odd tags.
#[test]
fn no_byte_of_a_game_changes() {
    let dir = Dir::new();
    let games: [&[u8]; 5] = [
        b"[Event \"one\"]\r\n[White \"M\xFCller\"]\r\n\r\n1. e4 {a \x96 b\r\n\r\nc} e5 (1... c5 2. Nf3) 1-0",
        b"[Event \"two\"]\n[odd tag]\n\n1. d4 d5 $1 ; a comment\n2. c4 * {behind the result}",
        b"[Event  \"three\" ]\n[Result \"0-1\"]\n1. f3",
        b"[Event \"four\"]\n\n*",
        b"[Event \"five\"]\n\n1. Nf3 Ke4 1-0",
    ];
    let between: [&[u8]; 5] = [b"\r\n", b"\n\n\n\n", b"\n\n", b"\n \n", b""];
    let text: Vec<u8> = games.iter().zip(between).flat_map(|(game, after)| [game, after].concat()).collect();
    let bom = [b"\xEF\xBB\xBF\n", &text[..]].concat();
    let copied = |games: &[&[u8]]| -> Vec<u8> {
        let ends = |game: &[u8]| if game.contains(&b'\r') { b"\r\n\r\n".to_vec() } else { b"\n\n".to_vec() };
        games.iter().flat_map(|game| [game.to_vec(), ends(game)].concat()).collect()
    };
    for (name, content) in [("a.pgn", &text), ("bom.pgn", &bom)] {
        let file = dir.file(name, content);
        let run = |status: i32, arguments: &[&str]| {
            lanefish(&[&["games", "--format", "pgn", &file], arguments].concat())
                .assert()
                .code(status)
                .get_output()
                .stdout
                .clone()
        };
        assert_eq!(run(1, &[]).escape_ascii().to_string(), copied(&games).escape_ascii().to_string());
        assert_eq!(
            run(0, &["--limit", "2"]).escape_ascii().to_string(),
            copied(&games[..2]).escape_ascii().to_string()
        );
        assert_eq!(run(1, &["--result", "1-0"]), copied(&[games[0], games[4]]));
        let packed = dir.name("copy.pgn.zst");
        lanefish(&["games", "--force", &file, "-o", &packed]).assert().code(1);
        assert_eq!(zstd::decode_all(&fs::read(&packed).expect("a copy")[..]).expect("zstd"), copied(&games));
    }
}

/// The copies of the shards, one after the other, are the copy of the whole.
#[test]
fn shards_of_copies_make_the_whole() {
    let dir = Dir::new();
    let game =
        |number| format!("[Event \"{number}\"]\n[Site \"{}\"]\n\n1. e4 e5 2. Nf3 {{{number}}} *\n\n", "x".repeat(200));
    let games: String = (0..20_000).map(game).collect();
    let file = dir.file("x.pgn", &games);
    let copy = |arguments: &[&str]| output(0, &[&["games", "--format", "pgn", &file], arguments].concat());
    for threads in ["1", "3"] {
        assert!(copy(&["--threads", threads]) == games);
        let shards = ["0/3", "1/3", "2/3"].map(|shard| copy(&["--shard", shard, "--threads", threads]));
        assert!(shards.iter().all(|shard| !shard.is_empty()) && shards.concat() == games);
        assert!(copy(&["--skip", "9000", "--limit", "7"]) == (9000..9007).map(game).collect::<String>());
    }
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
        let names: &[&str] = if cfg!(feature = "parquet") {
            &["x.boards", "x.boards.zst", "x.parquet", "x.arrow", "x.arrows"]
        } else {
            &["x.boards", "x.boards.zst"]
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

/// Records can carry their games, but not the text that would be copied.
#[test]
fn only_games_with_a_text_are_copied() {
    let dir = Dir::new();
    let games = dir.file("g.pgn", GAMES);
    let boards = dir.name("x.boards");
    output(lanefish_status(&["games", &games]), &["-q", "convert", &games, "-o", &boards]);
    let plain = dir.file("x.fen", super::START);
    for input in [&boards, &plain] {
        for inputs in [vec![input], vec![&games, input]] {
            let copy = dir.name("copy.pgn");
            let mut arguments = vec!["games", "-o", &copy];
            arguments.extend(inputs.iter().map(|name| name.as_str()));
            let stderr = stderr_of(2, &arguments);
            assert!(stderr.contains(input.as_str()) && stderr.contains("only PGN can be copied"), "{stderr}");
            assert!(!dir.path("copy.pgn").exists());
        }
    }
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
        assert!(stderr.contains("`lanefish games` does not take"), "{stderr}");
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

/// The values of some columns; no value has a quotation mark.
fn picked(rows: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut is_quoted = false;
    let mut is_end = |char| {
        is_quoted ^= char == '"';
        char == ',' && !is_quoted
    };
    let mut lines = rows.lines().map(|line| line.split(&mut is_end).map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let places: Vec<usize> =
        names.iter().map(|name| header.iter().position(|column| column == name).unwrap()).collect();
    lines.map(|line| places.iter().map(|&place| line[place].clone()).collect()).collect()
}

#[test]
fn columns_are_chosen_and_ordered() {
    let games = super::sample("lichess-2025-05.pgn");
    let names = ["result", "white_elo", "game", "black", "plies", "fen"];
    let usual = output(0, &["games", &games]);
    let columns = names.join(",");
    let chosen = output(0, &["games", "--columns", &columns, &games]);
    assert_eq!(chosen.lines().next(), Some(&*columns));
    assert_eq!(picked(&chosen, &names), picked(&usual, &names));
    // All columns are those of the usual table, those that are found for whole games, and the tags as JSON.
    let all = output(0, &["games", "--columns", "all", "--limit", "1", &games]);
    let header = usual.lines().next().unwrap();
    let names = all.lines().next().unwrap();
    assert!(names.starts_with(&format!("{header},base,")) && names.ends_with(",clocked_plies,tags"), "{names}");
    assert!(all.contains("{\"\"Event\"\":"), "{all}");
    assert_eq!(output(0, &["games", "--columns", header, &games]), usual);
}

#[test]
fn chosen_columns_as_jsonl() {
    let dir = Dir::new();
    let file = dir.file("games.pgn", GAMES);
    let columns = "outcome,white_elo,tag:Event,tags,round,tag:TimeControl,game";
    assert_eq!(
        output(1, &["-q", "games", "--format", "jsonl", "--columns", columns, &file]),
        "{\"outcome\":\"checkmate\",\"white_elo\":1500,\"tag:Event\":\"Club, \\\"blitz\\\"\",\
         \"tags\":{\"Event\":\"Club, \\\"blitz\\\"\",\"White\":\"A\",\"Black\":\"B\",\"WhiteElo\":\"1500\",\
         \"BlackElo\":\"1400\",\"Result\":\"0-1\"},\"round\":null,\"tag:TimeControl\":null,\"game\":0}\n\
         {\"outcome\":null,\"white_elo\":null,\"tag:Event\":\"?\",\"tags\":{\"Event\":\"?\",\"TimeControl\":\"60+0\"},\
         \"round\":null,\"tag:TimeControl\":\"60+0\",\"game\":1}\n"
    );
}

#[test]
fn wrong_columns_of_games_are_usage_errors() {
    let games = super::sample("lichess-2025-05.pgn");
    for (name, meant) in
        [("whit", "white"), ("black_eol", "black_elo"), ("Event", "event"), ("Tag:Annotator", "tag:Annotator")]
    {
        let stderr = stderr_of(2, &["games", "--columns", &format!("game,{name}"), &games]);
        let hint = format!("there is no column `{name}`; did you mean `{meant}`?");
        assert!(stderr.contains(&hint) && stderr.contains("--list-columns"), "{stderr}");
    }
    for name in ["legal_moves", "", "tag:", "tag:a b"] {
        let stderr = stderr_of(2, &["games", "--columns", name, &games]);
        assert!(stderr.contains(&format!("there is no column `{name}`")), "{stderr}");
    }
    let stderr = stderr_of(2, &["games", "--columns", "white,white", &games]);
    assert!(stderr.contains("is named twice"), "{stderr}");
    let stderr = stderr_of(2, &["games", "--columns", "white", "--format", "pgn", &games]);
    assert!(stderr.contains("PGN is a copy of the games"), "{stderr}");
    let dir = Dir::new();
    stderr_of(2, &["games", "--columns", "white", &games, "-o", &dir.name("x.pgn")]);
    assert!(dir.list().is_empty());
}

#[test]
fn the_list_of_columns_of_games() {
    insta::assert_snapshot!(output(0, &["games", "--list-columns"]));
    let listed = json(0, &["games", "--list-columns", "--json"]);
    let listed = listed.as_array().unwrap();
    let games = super::sample("lichess-2025-05.pgn");
    let usual: Vec<&str> = listed
        .iter()
        .filter(|column| column["default"] == true)
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(output(0, &["games", "--limit", "0", &games]).trim_end(), usual.join(","));
    assert_eq!(listed.last().unwrap()["name"], "tag:NAME");
    stderr_of(2, &["games", "--json", &games]);
}

/// A table for people begins with the players, whatever the order of the usual columns, and has all of them.
#[test]
fn a_table_of_games() {
    let games = super::sample("lichess-2025-05.pgn");
    let table = output(0, &["games", "--format", "table", "--limit", "3", &games]);
    insta::assert_snapshot!(table);
    let stderr = stderr_of(0, &["games", "--format", "table", "--limit", "3", &games]);
    assert!(stderr.contains("the table shows 7 of 20 columns; a pipe or --format csv has everything"), "{stderr}");
    let table = output(0, &["games", "--format", "table", "--columns", "plies,white", "--limit", "1", &games]);
    assert_eq!(table, "plies  white\n─────────────────\n   42  alanbrito4\n");
    // A table that shows everything has no note.
    let arguments = ["games", "--format", "table", "--columns", "plies,white", "--limit", "1", &games];
    assert_eq!(stderr_of(0, &arguments), "");
}

/// `--drop-bad-games` leaves out bad games also where games are listed or copied.
#[test]
fn bad_games_are_dropped_as_games() {
    let dir = Dir::new();
    let game = |name: &str, moves: &str| format!("[White \"{name}\"]\n\n{moves} 1-0\n\n");
    let good = [game("a", "1. e4 e5 2. Nf3"), game("c", "1. d4")];
    let input = dir.file("x.pgn", [&good[0], &game("b", "1. e4 e5 2. Ke4 Nc6"), &good[1]].map(String::as_str).concat());
    for (options, count) in [(&[][..], 3), (&["--drop-bad-games"][..], 2)] {
        let rows = output(1, &[&["-q", "games", "--columns", "white", &input], options].concat());
        assert_eq!(rows.lines().count(), 1 + count, "{rows}");
    }
    let copy = dir.name("copy.pgn");
    lanefish(&["-q", "games", "--drop-bad-games", &input, "-o", &copy]).assert().code(1);
    let text = fs::read_to_string(&copy).unwrap();
    assert!(!text.contains("\"b\"") && text.contains("\"a\"") && text.contains("\"c\""), "{text}");
}
