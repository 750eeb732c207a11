//! What people type first: it works, or the error names what does.

use super::{Dir, lanefish, output, sample, stderr_of};
use crate::support::shared_data;
use lanefish::chess::Position;
use lanefish::table::ClosedValues;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The error of a condition on the games of Lichess.
fn wrong(option: &str, condition: &str) -> String {
    stderr_of(2, &["stats", &sample("lichess-2025-05.pgn"), option, condition])
}

fn rows(condition: &str, file: &str, columns: &str, more: &[&str]) -> Vec<String> {
    let arguments = [&["-q", "compute", file, "--where", condition, "--columns", columns], more].concat();
    output(0, &arguments).lines().skip(1).map(str::to_owned).collect()
}

/// A FEN without its counters and without an en passant square that no pawn can use.
fn plain(fen: &str) -> String {
    let mut position = Position::from_fen_unvalidated(fen).expect(fen);
    position.drop_unusable_en_passant();
    position.to_string().rsplitn(3, ' ').nth(2).expect("six fields").to_owned()
}

#[test]
fn the_same_position_in_any_spelling() {
    let file = sample("lichess-2025-05.pgn");
    // With each en passant square as a game has it, usable or not.
    let all = rows("true", &file, "index,fen", &["--keep-en-passant"]);
    let all: Vec<(&str, &str)> = all.iter().map(|row| row.split_once(',').unwrap()).collect();
    let with_square = all.iter().filter(|(_, fen)| !fen.contains(" - ")).step_by(9).take(4);
    let asked: Vec<&str> = all.iter().step_by(131).chain(with_square).map(|(_, fen)| *fen).collect();
    for fen in asked.into_iter().chain(["rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"]) {
        let expected: Vec<&str> =
            all.iter().filter(|(_, other)| plain(other) == plain(fen)).map(|(index, _)| *index).collect();
        assert!(!expected.is_empty(), "{fen}");
        let four = fen.rsplitn(3, ' ').nth(2).unwrap();
        for text in [fen.to_owned(), four.to_owned(), plain(fen), format!("{four} 42 99")] {
            let condition = format!("same_position('{text}')");
            assert_eq!(rows(&condition, &file, "index", &[]), expected, "{text}");
            assert_eq!(rows(&condition, &file, "index", &["--keep-en-passant"]), expected, "{text}");
        }
    }
    // Boards, other sides and rights are not enough.
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    assert_eq!(rows(&format!("same_position('{start} w KQkq -')"), &file, "index", &[]).len(), 12);
    for other in ["b KQkq -", "w KQk -", "w - -"] {
        assert!(rows(&format!("same_position('{start} {other}')"), &file, "index", &[]).is_empty());
    }
    // Rights of Chess960, by the file of the rook or by its side.
    let dir = Dir::new();
    let chess960 = dir.file("a.fen", "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1\n4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1\n");
    for rights in ["GBgb", "KQkq", "BGbg"] {
        let condition = format!("same_position('1r2k1r1/8/8/8/8/8/8/1R2K1R1 w {rights} -')");
        assert_eq!(rows(&condition, &chess960, "index", &[]), ["0"]);
    }
    // Wherever conditions are.
    let after = "same_position('rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1')";
    let games = output(0, &["-q", "games", &file, "--having", after, "--columns", "game"]);
    assert_eq!(games.lines().count(), 1 + rows(after, &file, "game", &[]).len());
    let named = output(0, &["-q", "compute", &file, "--let", &format!("open = {after}"), "--columns", "open"]);
    assert_eq!(named.lines().filter(|line| *line == "1").count(), games.lines().count() - 1);
    let stderr = stderr_of(2, &["games", &file, "--where", after]);
    assert!(stderr.contains("looks at a position"), "{stderr}");
}

#[test]
fn a_whole_fen_elsewhere() {
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
    let stderr = wrong("--where", &format!("matches('{fen}', 'exact')"));
    assert!(stderr.contains("not `b KQkq e3 0 1`") && stderr.contains("same_position('FEN')"), "{stderr}");
    let stderr = wrong("--where", "fen = 'nonsense'");
    assert!(stderr.contains("is not a FEN") && stderr.contains("same_position"), "{stderr}");
    let stderr = wrong("--where", "fen = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR'");
    assert!(stderr.contains("matches('BOARD', 'exact')"), "{stderr}");
    // It stays a comparison of texts, with a note.
    let file = sample("lichess-2025-05.pgn");
    let stats = |condition: &str| stderr_of(0, &["stats", &file, "--where", condition]);
    let stderr = stats(&format!("fen = '{fen}'"));
    assert_eq!(stderr.matches("same_position('FEN')").count(), 1, "{stderr}");
    assert!(stderr.contains("--where: `fen` is compared as a text") && stderr.contains("b KQkq - 0 1'"), "{stderr}");
    let stderr = stats(&format!("fen = '{}'", fen.replace("e3", "-")));
    assert!(!stderr.contains("same_position"), "{stderr}");
    assert!(!rows(&format!("fen = '{}'", fen.replace("e3", "-")), &file, "index", &[]).is_empty());
    let stderr = stderr_of(0, &["games", &file, "--where", &format!("fen = '{fen}'")]);
    assert!(stderr.contains("--having \"same_position('FEN')\""), "{stderr}");
}

#[test]
fn values_that_a_column_never_has() {
    for (condition, part) in [
        ("speed = 'Blitz'", "did you mean 'blitz'?"),
        ("eco = 'b12'", "did you mean 'B12'?"),
        ("material = 'KRPKR'", "did you mean 'KRPvKR'?"),
        ("material_key = 'KRvKRP'", "did you mean 'KRPvKR'?"),
        ("result = '1–0'", "did you mean '1-0'?"),
        ("result != 'draw'", "did you mean '1/2-1/2'?"),
        ("result = '*'", "`result is null`"),
        ("stm = 'white'", "did you mean 'w'?"),
        ("judgment in ('mistake', 'blundr')", "did you mean 'blunder'?"),
        ("stm_result like 'lost'", "did you mean 'loss'?"),
        ("moved_piece = 'knight'", "did you mean 'N'?"),
        ("captured_piece = 'K'", "(its values: P, N, B, R and Q)"),
        ("castling = 'none'", "did you mean '-'?"),
        ("en_passant = 'e4'", "did you mean 'e3'?"),
        ("white_king = 'E1'", "did you mean 'e1'?"),
        ("move = 'e2-e4'", "did you mean 'e2e4'?"),
        ("san = '0-0'", "did you mean 'O-O'?"),
        ("san = 'e2e4'", "`move`"),
        ("month = '2025-05'", "did you mean '2025.05'?"),
        ("eco_position = 'B12x'", "did you mean 'B12'?"),
    ] {
        for option in ["--where", "--having"] {
            let stderr = wrong(option, condition);
            assert!(stderr.contains("is never '") && stderr.contains(part), "{condition}: {stderr}");
            assert!(stderr.contains(option), "{stderr}");
        }
    }
    let file = sample("lichess-2025-05.pgn");
    let stderr = stderr_of(2, &["games", &file, "--where", "outcome = 'mate'"]);
    assert!(stderr.contains("did you mean 'checkmate'?"), "{stderr}");
    let stderr = stderr_of(2, &["stats", &file, "--let", "fast = speed = 'Blitz'"]);
    assert!(stderr.contains("--let") && stderr.contains("did you mean 'blitz'?"), "{stderr}");
    let set = ["--set", "score = case when speed = 'Blitz' then 0 else score end", "-o", "-", "--to", "boards"];
    let stderr = stderr_of(2, &[&["convert", &file], &set[..]].concat());
    assert!(stderr.contains("--set") && stderr.contains("did you mean 'blitz'?"), "{stderr}");
    let set = ["--set", "result = case when ply > 3 then '1–0' else result end", "-o", "-", "--to", "boards"];
    let stderr = stderr_of(2, &[&["convert", &file], &set[..]].concat());
    assert!(stderr.contains("did you mean '1-0'?"), "{stderr}");
    assert!(wrong("--where", "speed = blitz").contains("texts stand in single quotes: 'blitz'"));
}

/// The values that real games and positions have are those that conditions may name.
#[test]
fn no_column_has_other_values() {
    let names = output(0, &["compute", "--list-columns", "--json"]);
    let names: Vec<serde_json::Value> = serde_json::from_str::<serde_json::Value>(&names)
        .ok()
        .and_then(|all| all.as_array().cloned().or_else(|| all["columns"].as_array().cloned()))
        .expect("a list");
    let names = names.iter().filter_map(|column| column["name"].as_str());
    let closed: Vec<&str> = names.filter(|name| ClosedValues::of(name).is_some()).collect();
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let generated = Dir::new();
    let chess960 = generated.name("a.fen");
    output(0, &["-q", "generate", "-n", "4000", "--chess960", "-o", &chess960]);
    let drawn = generated.file("drawn.pgn", "[Result \"1/2-1/2\"]\n\n1. e4 e5 1/2-1/2\n");
    let shared = shared_data("pgn/lichess_db_1000k.pgn").map(|file| file.to_str().expect("UTF-8").to_owned());
    let files = ["lichess-2025-05.pgn", "sample.epd", "famous.epd"].map(sample);
    for file in files.iter().chain([&chess960, &drawn]).chain(&shared) {
        let text = output(0, &["-q", "compute", file, "--format", "jsonl", "--columns", &closed.join(",")]);
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            for name in &closed {
                if let Some(value) = row[name].as_str() {
                    assert!(ClosedValues::of(name).unwrap().contains(value), "{name}: {value}");
                    seen.entry(name).or_default().insert(value.to_owned());
                }
            }
        }
    }
    for (name, least) in
        [("stm", 2), ("result", 3), ("moved_piece", 6), ("castling", 10), ("material", 100), ("san", 100)]
    {
        assert!(seen[name].len() >= least, "{name}: {:?}", seen[name]);
    }
    assert_eq!(seen.len(), closed.len(), "{:?}", seen.keys());
}

#[test]
fn conditions_that_are_never_true_have_a_note() {
    let file = sample("lichess-2025-05.pgn");
    let stderr = stderr_of(0, &["stats", &file, "--where", "checkmate and moved_piece = 'N'"]);
    assert!(stderr.contains("lanefish: --where: this is never true") && stderr.contains("`move_mates`"), "{stderr}");
    let stderr = stderr_of(0, &["games", &file, "--having", "ply > 3", "--then", "stalemate and san like 'Q%'"]);
    assert!(stderr.contains("lanefish: --then: this is never true") && stderr.contains("outcome"), "{stderr}");
    let stderr = stderr_of(0, &["-q", "stats", &file, "--where", "checkmate and moved_piece = 'N'"]);
    assert_eq!(stderr, "");
    let stderr = stderr_of(0, &["stats", &file, "--where", "move_mates and moved_piece = 'N'"]);
    assert!(!stderr.contains("never"), "{stderr}");
}

#[test]
fn blanks_after_commas() {
    let file = sample("famous.epd");
    let stderr = stderr_of(2, &["compute", &file, "--columns", "fen,", "stm,", "checkers"]);
    assert!(stderr.contains("write it without blanks: --columns fen,stm,checkers"), "{stderr}");
    let stderr = stderr_of(2, &["compute", &file, "--columns=fen,", "stm"]);
    assert!(stderr.contains("--columns fen,stm"), "{stderr}");
    let stderr = stderr_of(2, &["games", "--columns", "white,", "black", &sample("lichess-2025-05.pgn")]);
    assert!(stderr.contains("--columns white,black"), "{stderr}");
    let stderr = stderr_of(2, &["stats", &file, "--by", "phase,", "stm"]);
    assert!(stderr.contains("--by phase,stm"), "{stderr}");
    let stderr = stderr_of(2, &["compute", &file, "--columns", "fen,,stm"]);
    assert!(stderr.contains("a name is missing beside a comma of `fen,,stm`"), "{stderr}");
    assert!(output(0, &["compute", &file, "--columns", "fen, stm"]).starts_with("fen,stm\n"));
}

#[test]
fn outputs_without_their_option() {
    let dir = Dir::new();
    let input = dir.file("a.pgn", fs::read(sample("lichess-2025-05.pgn")).unwrap());
    for (name, command) in [
        ("b.boards", "convert"),
        ("b.fen.zst", "convert"),
        ("b.csv", "compute"),
        ("b.jsonl.gz", "compute"),
        ("b.pgn", "games"),
    ] {
        let name = dir.name(name);
        let stderr = stderr_of(2, &["convert", &input, &name]);
        assert!(stderr.contains(&format!("did you mean `lanefish {command} {input} -o {name}`?")), "{stderr}");
    }
    let name = dir.name("b.boards");
    let stderr = stderr_of(2, &["shuffle", &input, &name]);
    assert!(stderr.contains(&format!("did you mean `lanefish shuffle {input} -o {name}`?")), "{stderr}");
    for (name, command) in [("b.csv", "compute"), ("b.jsonl.zst", "compute"), ("b.pgn", "games")] {
        let stderr = stderr_of(2, &["convert", &input, "-o", &dir.name(name)]);
        assert!(stderr.contains(&format!("`lanefish {command}`")), "{stderr}");
    }
    assert_eq!(dir.list(), ["a.pgn"]);
}

#[test]
fn the_depth_before_the_position() {
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let expected = format!("the position comes first, and then the depth: lanefish perft \"{fen}\" 5");
    assert!(stderr_of(2, &["perft", "5", fen]).contains(&expected));
    let words: Vec<&str> = fen.split(' ').collect();
    assert!(stderr_of(2, &[&["perft", "5"], &words[..]].concat()).contains(&expected));
    assert!(stderr_of(2, &["perft", "2", "startpos"]).contains("lanefish perft \"startpos\" 2"));
}

#[test]
fn patterns_that_the_shell_has_left() {
    let dir = Dir::new();
    let game = "[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n";
    for (name, games) in [("b.pgn", 2), ("a.pgn", 1), ("c.pgn", 3), (".d.pgn", 4)] {
        dir.file(name, game.repeat(games));
    }
    dir.file("[a].pgn", game.repeat(5));
    let games = |arguments: &[&str]| {
        let done = lanefish(&[&["-q", "games", "--columns", "game"], arguments].concat())
            .current_dir(dir.0.path())
            .assert()
            .code(0)
            .get_output()
            .stdout
            .clone();
        String::from_utf8(done).unwrap().lines().count() - 1
    };
    assert_eq!(games(&["*.pgn"]), 11);
    assert_eq!(games(&["?.pgn"]), 6);
    assert_eq!(games(&["[bc].pgn"]), 5);
    // A file of this name comes first.
    assert_eq!(games(&["[a].pgn"]), 5);
    assert_eq!(games(&["./*.pgn", "--limit", "3"]), 3);
    let run = |status: i32, arguments: &[&str]| {
        let done = lanefish(arguments).current_dir(dir.0.path()).assert().code(status).get_output().clone();
        [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    // In order, and for every command that has inputs.
    let [info, _] = run(0, &["info", "?.pgn"]);
    let files: Vec<&str> = info.lines().filter_map(|line| line.strip_prefix("file: ")).collect();
    assert_eq!(files, ["a.pgn", "b.pgn", "c.pgn"]);
    for command in [&["stats"][..], &["compute"], &["verify"], &["show"], &["dedup"], &["tree"]] {
        run(0, &[command, &["?.pgn"]].concat());
    }
    run(0, &["convert", "?.pgn", "-o", "all.boards"]);
    run(0, &["dedup", "a.pgn", "--against", "al?.boards"]);
    let [_, stderr] = run(2, &["stats", "*.epd"]);
    assert_eq!(stderr, "lanefish: no file matches the pattern *.epd\n");
    let [_, stderr] = run(2, &["stats", "no/such/*.epd", "a.pgn"]);
    assert!(stderr.contains("no file matches the pattern no/such/*.epd"), "{stderr}");
}

#[test]
fn positions_that_only_the_strict_level_rejects() {
    let dir = Dir::new();
    let playable = "the rejected records are playable; `--validity playable`";
    let nine_pawns = "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1\n";
    let strict = dir.file("strict.fen", nine_pawns);
    let text = output(1, &["verify", &strict]);
    assert!(text.contains(playable) && text.ends_with("not ok\n"), "{text}");
    assert!(output(0, &["verify", "--validity", "playable", &strict]).ends_with("ok\n"));
    // Not where others are worse.
    let worse = dir.file("worse.fen", format!("{nine_pawns}8/8/8/8/8/8/8/4K3 w - - 0 1\n"));
    assert!(!output(1, &["verify", &worse]).contains(playable));
    let text = output(1, &["verify", &worse, &strict]);
    assert_eq!(text.matches(playable).count(), 1, "{text}");
    assert!(!output(0, &["verify", &sample("lichess-2025-05.pgn")]).contains(playable));
}

#[test]
fn conditions_without_quotes() {
    let file = sample("lichess-2025-05.pgn");
    let stderr = stderr_of(2, &["stats", &file, "--where", "opening", "=", "Sicilian Defense"]);
    assert!(stderr.contains("--where \"opening = 'Sicilian Defense'\""), "{stderr}");
    let stderr = stderr_of(2, &["games", "--having", "moved_piece", "=", "N", "and", "in_check", &file]);
    assert!(stderr.contains("--having \"moved_piece = 'N' and in_check\""), "{stderr}");
    for condition in ["opening = Sicilian Defense", "opening = Sicilian"] {
        let stderr = wrong("--where", condition);
        assert!(stderr.contains("single quotes"), "{stderr}");
    }
}

#[test]
fn who_counts_the_records_of_a_large_file() {
    let dir = Dir::new();
    let record = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n";
    let large = dir.file("large.fen", record.repeat(1 + (16 << 20) / record.len()));
    let text = output(0, &["info", &large]);
    assert!(text.contains(&format!("records: unknown: `lanefish stats {large}` counts them\n")), "{text}");
}

/// A condition on what no record has finds nothing, and says so, in every format and with any number of threads.
#[test]
fn columns_that_no_record_has_are_named() {
    let dir = Dir::new();
    let (epd, games) = (sample("sample.epd"), sample("lichess-2025-05.pgn"));
    let (bullet, boards, table) = (dir.name("a.bullet"), dir.name("a.boards"), dir.name("a.parquet"));
    output(0, &["-q", "convert", &epd, "-o", &bullet, "--allow-loss"]);
    output(0, &["-q", "convert", &epd, "-o", &boards]);
    output(0, &["-q", "convert", &epd, "-o", &table]);
    let note = "--where: no record has a value of ";
    for (file, condition, why) in [
        (&epd, "white_elo > 2000", "`white_elo`"),
        (&boards, "white_elo > 2000 or in_check", "`white_elo`"),
        (&table, "white_elo > 2000", "`white_elo`"),
        (&bullet, "quiet and ply > 16", "`ply`, nor of `quiet`, which is made of `move`"),
        (&games, "puzzle_rating > 2000", "`puzzle_rating`"),
        (&games, "\"tag:whiteTitel\" = 'GM'", "`tag:whiteTitel`"),
    ] {
        for threads in ["1", "2"] {
            for command in ["stats", "compute"] {
                let message = stderr_of(0, &[command, file, "--where", condition, "--threads", threads]);
                assert!(message.contains(&format!("{note}{why}")), "{message}");
            }
        }
    }
    for more in [&["--sample", "10"][..], &["--sample", "50%"], &["--skip", "3"], &["--shard", "0/2"]] {
        let message = stderr_of(0, &[&["stats", &epd, "--where", "white_elo > 2000"], more].concat());
        assert!(message.contains(&format!("{note}`white_elo`")), "{more:?}: {message}");
    }
    for (file, condition) in [(&games, "white_elo > 4000"), (&games, "score > 30000"), (&epd, "legal_moves > 300")] {
        let message = stderr_of(0, &["stats", file, "--where", condition]);
        assert!(!message.contains(note), "{message}");
    }
}

/// The groups that are shown are the first ones in the order of the table.
#[test]
fn the_first_groups_are_those_of_the_order() {
    let games = sample("lichess-2025-05.pgn");
    let rows = |options: &[&str]| -> Vec<String> {
        let table = output(0, &[&["stats", &games, "--by", "opening_family"], options].concat());
        let rows = table.lines().skip(4).take_while(|line| !line.is_empty() && !line.contains(" others"));
        rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    for show in
        [&["--show", "games"][..], &["--show", "games", "--sort", "games"], &["--show", "white", "--sort", "white"]]
    {
        let all = rows(&[show, &["--top", "1000"]].concat());
        assert!(all.len() > 7);
        for top in ["1", "3", "7"] {
            let first = rows(&[show, &["--top", top]].concat());
            assert_eq!(first[..], all[..top.parse().unwrap()], "{show:?}");
        }
    }
}

/// Moves that are not shown count in the shares of those that are.
#[test]
fn shares_of_moves_are_those_of_all_games() {
    let games = sample("lichess-2025-05.pgn");
    let lines = |options: &[&str]| -> Vec<String> {
        output(0, &[&["tree", &games], options].concat()).lines().map(str::to_owned).collect()
    };
    let all = lines(&[]);
    let some = lines(&["--min-games", "2"]);
    assert!(some.len() < all.len() && some.len() > 3);
    let columns = |line: &String| line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    for (one, other) in some.iter().zip(&all) {
        assert_eq!(columns(one), columns(other));
    }
    let none = lines(&["--min-games", "50"]);
    assert!(none.last().unwrap().contains("no move was played in 50 games"), "{none:?}");
    let dir = Dir::new();
    let note = stderr_of(0, &["tree", &games, "-o", &dir.name("tree.csv")]);
    assert!(note.contains("the first 40 plies of each game; --plies N"), "{note}");
}
