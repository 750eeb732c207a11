//! `compute`: rows, columns and their formats.

use super::{Dir, KIWIPETE, START, json, lanefish, output, sample, stderr_of};
use std::fs;

#[test]
fn default_columns_as_csv() {
    let dir = Dir::new();
    let file = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    assert_eq!(
        output(0, &["compute", &file]),
        format!(
            "fen,legal_moves,checkers,in_check,checkmate,stalemate,attacked_white,attacked_black\n\
             {START},20,0,0,0,0,22,22\n\
             {KIWIPETE},48,0,0,0,0,38,38\n"
        )
    );
}

#[test]
fn chosen_columns_keep_their_order() {
    let dir = Dir::new();
    let file = dir.file("two.fen", format!("{START}\n{KIWIPETE}\n"));
    assert_eq!(
        output(0, &["compute", "--columns", "index,stm,key,white_king,attacks_white,legal_castles", &file]),
        "index,stm,key,white_king,attacks_white,legal_castles\n\
         0,w,0x463b96181691fc9c,e1,0x0000000000ffff7e,0\n\
         1,w,KEY,e1,ATTACKS,2\n"
            .replace("KEY", &kiwipete("key"))
            .replace("ATTACKS", &kiwipete("attacks_white"))
    );
}

/// A value of Kiwipete, read from JSON Lines.
fn kiwipete(column: &str) -> String {
    let dir = Dir::new();
    let file = dir.file("one.fen", KIWIPETE);
    let row = json(0, &["compute", "--format", "jsonl", "--columns", column, &file]);
    row[column].as_str().expect("text").to_owned()
}

#[test]
fn every_column_in_both_formats() {
    let dir = Dir::new();
    let file = dir.file("one.fen", KIWIPETE);
    insta::assert_snapshot!(output(0, &["compute", "--columns", "all", &file]));
    insta::assert_snapshot!(output(0, &["compute", "--columns", "all", "--format", "jsonl", &file]));
}

#[test]
fn the_list_of_columns() {
    insta::assert_snapshot!(output(0, &["compute", "--list-columns"]));
}

#[test]
fn tags_are_columns() {
    let dir = Dir::new();
    let games = dir.file(
        "games.pgn",
        "[Event \"Club, \\\"A\\\"\"]\n[White \"Ann\"]\n[Black \"?\"]\n[WhiteTitle \"WGM\"]\n\
         [Termination \"Time forfeit\"]\n\n1. e4 *\n\n[Event \"y\u{1b}\"]\n\n1. d4 *\n",
    );
    let puzzles = dir.file(
        "puzzles.csv",
        "0aB,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e4 e8e7,1432,80,90,100,endgame short,https://lichess.org/x,\n",
    );
    let epd = dir.file("a.epd", format!("{START} bm Nf3 e4; tag x;\n"));
    let names = "ply,tag:Event,white,tag:White,black,tag:WhiteTitle,termination,tag:Date,tag:None_1";
    assert_eq!(
        output(0, &["compute", "--columns", names, &games, &epd]),
        format!(
            "{names}\n\
             0,\"Club, \"\"A\"\"\",Ann,Ann,,WGM,Time forfeit,,\n\
             1,\"Club, \"\"A\"\"\",Ann,Ann,,WGM,Time forfeit,,\n\
             0,y ,,,,,,,\n\
             1,y ,,,,,,,\n\
             ,,,,,,,,\n"
        )
    );
    let rows = output(
        0,
        &["compute", "--format", "jsonl", "--columns", "tag:Event, tag:FEN,white", "--last", "--limit", "1", &games],
    );
    assert_eq!(rows, "{\"tag:Event\":\"Club, \\\"A\\\"\",\"tag:FEN\":null,\"white\":\"Ann\"}\n");
    assert_eq!(
        output(0, &["compute", "--columns", "puzzle_id,puzzle_rating,themes,move,san", &puzzles, &epd,]),
        "puzzle_id,puzzle_rating,themes,move,san\n0aB,1432,endgame short,e8e7,Ke7\n,,,g1f3,Nf3\n"
    );
}

#[test]
fn misspelled_columns_get_a_suggestion() {
    let input = sample("perft.epd");
    for (name, meant) in [
        ("legal_move", "legal_moves"),
        ("puzzle_rating1", "puzzle_rating"),
        ("termintion", "termination"),
        ("tags:Event", "tag:Event"),
        ("Tag:WhiteTitle", "tag:WhiteTitle"),
        ("tag=Round", "tag:Round"),
        ("event", "tag:Event"),
        ("WhiteTitle", "tag:WhiteTitle"),
        ("White", "white"),
        ("tag", "tag:NAME"),
    ] {
        let stderr = stderr_of(2, &["compute", "--columns", name, &input]);
        let hint = format!("there is no column `{name}`; did you mean `{meant}`?");
        assert!(stderr.contains(&hint), "{stderr}");
        assert!(stderr.contains("tag:NAME is any tag"), "{stderr}");
    }
    for name in ["tag:", "tag:White-Title", "tag:a b", "tag:é"] {
        let stderr = stderr_of(2, &["compute", "--columns", name, &input]);
        assert!(stderr.contains("the name of a tag or folder is letters, digits and `_`"), "{stderr}");
    }
    assert!(output(0, &["compute", "--help"]).contains(" tag:NAME"));
}

#[test]
fn results_as_games_write_them() {
    let dir = Dir::new();
    let games = ["1-0", "0-1", "1/2-1/2", "*"].map(|result| format!("[Event \"x\"]\n\n1. e4 {result}\n\n"));
    let file = dir.file("games.pgn", games.concat());
    assert_eq!(
        output(0, &["compute", "--columns", "result,game", "--last", &file]),
        "result,game\n1-0,0\n0-1,1\n1/2-1/2,2\n,3\n"
    );
}

#[test]
fn a_score_of_zero_has_no_sign() {
    let dir = Dir::new();
    let file = dir.file("game.pgn", "[Event \"x\"]\n\n1. e4 {[%eval 0.0]} e5 {[%eval -0.01]} *\n");
    assert_eq!(output(0, &["compute", "--columns", "ply,score", &file]), "ply,score\n0,\n1,0\n2,-1\n");
}

#[test]
fn clocks_are_read_from_epd_operations() {
    let dir = Dir::new();
    let file =
        dir.file("a.epd", "4k3/8/8/8/8/8/8/4K2R w K - hmvc 7; fmvn 42;\n4k3/8/8/8/8/8/8/4K2R w K - bm O-O; hmvc 3;\n");
    assert_eq!(output(0, &["compute", "--columns", "halfmove,fullmove", &file]), "halfmove,fullmove\n7,42\n3,1\n");
}

#[test]
fn checkers_and_pinned_pieces_by_square() {
    let dir = Dir::new();
    let file = dir.file(
        "check.fen",
        "4r1k1/8/8/1b6/8/3N4/4N3/q3K2R w K - 0 1\n4k3/8/8/8/4r3/8/3n4/6K1 w - - 0 1\n\
         4k3/8/8/8/4r3/5n2/8/4K3 w - - 0 1\n",
    );
    assert_eq!(
        output(0, &["compute", "--columns", "checkers,in_check,double_check,checkers_mask,pinned_mask", &file]),
        "checkers,in_check,double_check,checkers_mask,pinned_mask\n\
         1,1,0,0x0000000000000001,0x0000000000001000\n\
         0,0,0,0x0000000000000000,0x0000000000000000\n\
         2,1,1,0x0000000010200000,0x0000000000000000\n"
    );
}

/// Rejected records are numbered as well.
#[test]
fn record_numbers_continue_after_a_reject() {
    let dir = Dir::new();
    for (name, good, bad) in [
        ("a.fen", format!("{START}\n"), "nonsense\n".to_owned()),
        ("a.jsonl", format!("{{\"fen\":\"{START}\",\"evals\":[]}}\n"), "{\"fen\":1}\n".to_owned()),
        (
            "a.csv",
            "00008,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7,1,1,1,1,,,\n".to_owned(),
            format!("{},{KIWIPETE},e1e8,1,1,1,1,,,\n", "x".repeat(200)),
        ),
    ] {
        let file = dir.file(name, format!("{good}{bad}{good}{good}"));
        for limit in ["100", "1000000"] {
            let arguments = ["compute", "--max-record", limit, "--columns", "index", &file];
            assert_eq!(output(1, &arguments), "index\n0\n2\n3\n", "{name}");
            let stderr = stderr_of(1, &arguments);
            assert!(stderr.contains(&format!("{name}:2 ")), "{stderr}");
        }
    }
}

/// Each column requests what it needs, whatever other columns are selected.
#[test]
fn columns_do_not_depend_on_each_other() {
    let input = sample("famous.epd");
    let rows = |columns| {
        let arguments = ["compute", "--columns", columns, "--format", "jsonl", &input];
        output(0, &arguments)
            .lines()
            .map(|row| serde_json::from_str(row).expect("JSON"))
            .collect::<Vec<serde_json::Map<_, _>>>()
    };
    let all = rows("all");
    for name in all[0].keys() {
        for (row, all) in rows(name).iter().zip(&all) {
            assert_eq!(row.len(), 1);
            assert_eq!(row[name], all[name], "{name}");
        }
    }
}

#[test]
fn operations_are_quoted() {
    let dir = Dir::new();
    let file = dir.file("one.epd", format!("{START} id \"a, b\";\n"));
    assert_eq!(
        output(0, &["compute", "--columns", "operations,legal_moves", &file]),
        "operations,legal_moves\n\"id \"\"a, b\"\";\",20\n"
    );
    assert_eq!(
        output(0, &["compute", "--format", "jsonl", "--columns", "operations", &file]),
        "{\"operations\":\"id \\\"a, b\\\";\"}\n"
    );
}

#[test]
fn the_format_is_inferred_from_the_output_name() {
    let dir = Dir::new();
    let input = sample("perft.epd");
    for (name, start) in [("rows.csv", "fen,"), ("rows.jsonl", "{\"fen\":")] {
        let path = dir.name(name);
        assert_eq!(output(0, &["compute", &input, "-o", &path]), "");
        assert!(fs::read_to_string(&path).unwrap().starts_with(start));
    }
    let stderr = stderr_of(2, &["compute", &input, "-o", &dir.name("rows.txt")]);
    assert!(stderr.contains("--format"), "{stderr}");
    output(0, &["compute", &input, "-o", &dir.name("rows.txt"), "--format", "csv"]);
}

#[test]
fn unknown_columns_and_formats_are_usage_errors() {
    let stderr = stderr_of(2, &["compute", "--columns", "fen,beauty", &sample("perft.epd")]);
    assert!(stderr.contains("`beauty`") && stderr.contains("--list-columns"), "{stderr}");
    for names in ["fen,fen", "all,fen", "tag:Event,legal_moves,tag:Event"] {
        let stderr = stderr_of(2, &["compute", "--columns", names, &sample("perft.epd")]);
        assert!(stderr.contains("is named twice"), "{stderr}");
    }
    stderr_of(2, &["compute", "--format", "xml", &sample("perft.epd")]);
    stderr_of(2, &["compute"]);
}

#[test]
fn rows_are_in_order_whatever_the_threads_and_the_tier() {
    let input = sample("sample.epd");
    let one = output(0, &["compute", "--columns", "all", "--threads", "1", &input]);
    assert_eq!(one.lines().count(), 4099);
    assert!(one == output(0, &["compute", "--columns", "all", "--threads", "3", &input]));
    assert!(one == output(0, &["compute", "--columns", "all", "--tier", "portable", &input]));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::io::Read;
    use std::process::Stdio;
    let dir = Dir::new();
    let line = format!("{START}\n");
    let file = dir.file("many.fen", line.repeat(100_000));
    for format in ["csv", "table"] {
        let mut command = super::program();
        command.args(["compute", &file, "--format", format]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    }
}

#[test]
fn standard_input() {
    lanefish(&["compute", "--columns", "legal_moves", "-"])
        .write_stdin("8/8/8/8/8/8/6k1/K7 w - -\n")
        .assert()
        .success()
        .stdout("legal_moves\n3\n");
}

/// A sentinel in place of a score is none for those who count, and survives for those who train.
#[test]
fn sentinels_are_no_scores_and_survive() {
    let dir = Dir::new();
    let scores = [20, 32_002, -32_002, -31_000, -7];
    let records = scores.map(|score| crate::formats::encoders::bullet(START, score, 2));
    let bullet = dir.file("a.bullet", records.as_flattened());
    let rows = "raw_score,score,stm_score,stm_result\n20,20,20,win\n32002,,,win\n-32002,,,win\n\
                -31000,-31000,-31000,win\n-7,-7,-7,win\n";
    let compute = |file: &str| output(0, &["compute", "--columns", "raw_score,score,stm_score,stm_result", file]);
    assert_eq!(compute(&bullet), rows);
    let tables = if cfg!(feature = "parquet") { &["a.parquet", "a.arrow", "a.arrows"][..] } else { &[] };
    let mut before = bullet.clone();
    for name in [&["a.boards"], tables, &["b.boards"]].concat() {
        let file = dir.name(name);
        output(0, &["convert", &before, "-o", &file]);
        assert_eq!(compute(&file), rows, "{name}");
        let stats = json(0, &["stats", "--details", "--json", &file]);
        assert_eq!(stats["score"]["count"], 3, "{name}");
        assert_eq!(stats["score"]["min"], -31_000, "{name}");
        before = file;
    }
    for name in tables {
        let file = dir.name(&format!("rows.{name}"));
        output(0, &["compute", "--columns", "fen,raw_score,score", &bullet, "-o", &file]);
        assert_eq!(
            output(0, &["compute", "--columns", "raw_score", &file]),
            "raw_score\n20\n32002\n-32002\n-31000\n-7\n"
        );
    }
}

#[test]
fn a_table_of_positions() {
    let table = ["compute", "--format", "table", "--limit", "4"];
    let famous = sample("famous.epd");
    insta::assert_snapshot!(output(0, &[&table[..], &[&famous]].concat()));
    let stderr = stderr_of(0, &[&table[..], &[&famous]].concat());
    let note = "the table shows 5 of 8 columns and cuts 4 long values; a pipe or --format csv has everything";
    assert!(stderr.contains(note), "{stderr}");
    assert_eq!(stderr_of(0, &[&table[..], &["-q", &famous]].concat()), "");
    // Sets of squares are numbers; values of expressions have their own type.
    let columns = ["--columns", "index,checkers_mask,half", "--let", "half = legal_moves / 2.0", "--limit", "1"];
    assert_eq!(
        output(0, &[&["compute", "--format", "table", &famous], &columns[..]].concat()),
        "  index       checkers_mask  half\n─────────────────────────────────\n      0  0x0000000000000000  10.0\n"
    );
    let colored = output(0, &["compute", "--format", "table", "--color", "always", "--columns", "stm,fen", &famous]);
    assert!(colored.starts_with("\u{1b}[1mstm  fen\u{1b}[0m\n\u{1b}[2m─"), "{colored}");
}

/// Whatever a file contains, each row is one line, and nothing in it reaches the terminal as a command.
#[test]
fn tables_have_no_control_characters() {
    let dir = Dir::new();
    let event = "a\u{1b}[31m\tb\u{202e}c\u{85}d";
    let file = dir.file("x.pgn", format!("[Event \"{event}\"]\n[White \"李雷\"]\n\n1. e4 *\n"));
    for command in ["compute", "games"] {
        let columns = ["--columns", "tag:Event,white,result", "--limit", "1"];
        let table = output(0, &[&[command, "--format", "table", &file], &columns[..]].concat());
        let row = table.lines().nth(2).unwrap();
        assert_eq!((row, table.lines().count()), ("a [31m b c d  李雷", 3), "{table}");
    }
}

#[test]
fn tables_are_not_written_to_files() {
    let dir = Dir::new();
    let input = sample("lichess-2025-05.pgn");
    for command in ["compute", "games"] {
        let stderr = stderr_of(2, &[command, &input, "--format", "table", "-o", &dir.name("x.csv")]);
        assert!(stderr.contains("--format table is for people"), "{stderr}");
        assert!(dir.list().is_empty());
        let limit = ["--limit", "1", "--format", "table"];
        let shown = output(0, &[&[command, &*input, "-o", "-"], &limit[..]].concat());
        assert_eq!(shown, output(0, &[&[command, &*input], &limit[..]].concat()));
    }
}

/// A table has the rows before an error, as the other formats do.
#[test]
fn tables_have_the_rows_before_a_failure() {
    let dir = Dir::new();
    let file = dir.file("x.fen", format!("{START}\n{KIWIPETE}\nnonsense\n"));
    let columns = ["compute", "--strict", "--columns", "legal_moves", &file];
    assert_eq!(output(2, &columns), "legal_moves\n20\n48\n");
    let table = [&columns[..], &["--format", "table"]].concat();
    assert_eq!(output(2, &table), "legal_moves\n───────────\n         20\n         48\n");
}

/// What a terminal shows, with its width.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_a_table() {
    let has_script = std::process::Command::new("script").arg("--version").output().is_ok();
    if !has_script {
        return crate::support::skipped("`script`, which makes a terminal, is not installed");
    }
    let famous = sample("famous.epd");
    let program = lanefish(&[]);
    let program = program.get_program().to_str().unwrap();
    let on_terminal = |arguments: &str| {
        let command = format!("stty cols 60 rows 24; {program} {arguments} {famous}");
        let done = std::process::Command::new("script")
            .args(["-qc", &command, "/dev/null"])
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap().replace('\r', "")
    };
    let table = on_terminal("compute -q --limit 2");
    assert!(table.starts_with("\u{1b}[1mfen ") && table.contains("─\u{1b}[0m\n"), "{table}");
    let plain = on_terminal("compute -q --limit 2 --color never");
    assert!(plain.starts_with("fen ") && plain.lines().all(|line| line.chars().count() <= 60), "{plain}");
    assert!(plain.lines().all(|line| line.ends_with(['…', '─'])), "{plain}");
    // A format that is given stays.
    let csv = on_terminal("compute -q --limit 2 --format csv");
    assert_eq!(csv, output(0, &["compute", "--limit", "2", &famous]));
}

#[test]
fn folders_are_columns() {
    let dir = Dir::new();
    for (folder, name, text) in [
        ("month=2025-05", "a.fen", format!("{START}\n{START}\n")),
        ("month=2025-06/part=x%20y", "b.fen", format!("{START}\n")),
        ("other", "c.pgn", "[Event \"x\"]\n\n1. e4 *\n".to_owned()),
    ] {
        let path = dir.path(folder);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join(name), text).unwrap();
    }
    let inputs = dir.name("");
    let columns = ["--columns", "folder:month,folder:part,tag:Event"];
    let compute = |more: &[&str]| output(0, &[&["compute", &*inputs], &columns[..], more].concat());
    assert_eq!(compute(&[]), "folder:month,folder:part,tag:Event\n2025-05,,\n2025-05,,\n2025-06,x y,\n,,x\n,,x\n");
    let chosen = compute(&["--where", "\"folder:month\" > '2025-05'"]);
    assert_eq!(chosen, "folder:month,folder:part,tag:Event\n2025-06,x y,\n");
    assert_eq!(compute(&["--where", "\"folder:month\" is null", "--threads", "1"]).lines().count(), 3);
    let rows = output(0, &["compute", &inputs, "--columns", "folder:month", "--where", "\"tag:Event\" = 'x'"]);
    assert_eq!(rows, "folder:month\n\n\n");
    // Rows of games do not have them.
    let stderr = stderr_of(2, &["games", &dir.name("other"), "--columns", "folder:month"]);
    assert!(stderr.contains("there is no column `folder:month`"), "{stderr}");
    let stderr = stderr_of(2, &["compute", &inputs, "--columns", "folder:a-b"]);
    assert!(stderr.contains("the name of a tag or folder"), "{stderr}");
}
