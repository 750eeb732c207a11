//! `sql`: tables, filters, functions, output, and what is wrong with a query.

use super::{Dir, START, json, lanefish, output, sample, stderr_of};
use crate::pipeline::zip::Zip;
use crate::support::shared_data;
use serde_json::Value;
use std::fs;

const BAD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nnonsense\n\
    6k1/8/8/8/8/8/8/4K2R w K - 0 1\n";

/// The standard output of a query, which must succeed.
fn sql(query: &str) -> String {
    output(0, &["sql", query])
}

/// The one value of a query.
fn value(query: &str) -> String {
    let text = sql(query);
    let mut lines = text.lines().skip(1);
    let value = lines.next().expect("a row").to_owned();
    assert_eq!(lines.next(), None, "{text}");
    // How CSV writes a line that has nothing else.
    value.replace("\"\"", "")
}

#[test]
fn rows_are_those_of_compute_in_their_order() {
    let file = sample("sample.epd");
    let columns = "index,fen,legal_moves,checkers,material_white,key";
    let expected = output(0, &["compute", &file, "--columns", columns, "--masks", "decimal"]);
    let query = format!("select {columns} from '{file}'");
    for threads in ["1", "2", "8"] {
        assert_eq!(output(0, &["sql", &query, "--threads", threads]), expected);
    }
    let filtered = format!("{query} where legal_moves > 30 and not in_check");
    let some = output(0, &["sql", &filtered]);
    assert!(some.lines().count() > 100);
    assert!(some.lines().all(|row| expected.contains(row)));
    for threads in ["1", "8"] {
        assert_eq!(output(0, &["sql", &filtered, "--threads", threads]), some);
    }
}

/// A query whose columns all stand in a file that lanefish wrote takes them from there; the answer is the same as if they were
/// computed, in the same order.
#[test]
fn columns_that_stand_in_files_of_ours_are_not_computed() {
    let dir = Dir::new();
    let (one, two) = (dir.name("one.parquet"), dir.name("two.parquet"));
    let columns = "index,game,fen,phase,score,in_check,legal_moves,attacks_white,white,result,date,white_elo,clock,ply";
    let pgn = sample("lichess-2025-05.pgn");
    output(0, &["-q", "compute", "--columns", columns, &pgn, "-o", &one]);
    output(0, &["-q", "compute", "--columns", columns, &pgn, "-o", &two, "--where", "phase < 20 and not in_check"]);
    let both = dir.name("*.parquet");
    for from in [&one, &two, &both] {
        for (is_stored, query) in [
            (true, "select fen, phase, score, in_check, white, result, date, clock from 'X'"),
            (true, "select phase, count(*), avg(legal_moves), min(score) from 'X' group by phase order by phase"),
            (true, "select count(*) from 'X' where phase between 3 and 12 and in_check"),
            (true, "select ply, attacks_white from 'X' where score is null or white in ('nobody', 'x')"),
            (true, "select ply from 'X' where not in_check and score <> 0 and white_elo >= 1500 limit 7"),
            (true, "select score - 10, white from 'X' where score < -10"),
            (true, "select white, phase from 'X' where date < date '2025-05-02' order by fen limit 5"),
            (true, "select count(distinct fen), sum(white_elo) from 'X'"),
            (true, "select a.fen from 'X' a join 'X' b on a.fen = b.fen where a.phase = 7 order by a.fen"),
            // Numbers are those of this reading.
            (false, "select index, game, phase from 'X' where phase < 5"),
            (false, "select phase, pieces from 'X' where phase < 5"),
            (false, "select phase from 'X' where abs(score) < 50"),
            (false, "select phase from 'X' where matches('8/8/8/8/8/5N2/8/8') and phase < 15"),
        ] {
            let query = query.replace('X', from);
            let plan = sql(&format!("explain {query}"));
            assert_eq!(plan.contains("StoredColumns"), is_stored, "{query}: {plan}");
            assert_eq!(plan.contains("PositionScan"), !is_stored, "{query}: {plan}");
            let computed = output(0, &["sql", &query, "--recompute"]);
            // Few positions are in the second file.
            assert!(from == &two || computed.lines().count() > 1, "{query}");
            for threads in ["1", "4"] {
                assert_eq!(output(0, &["sql", &query, "--threads", threads]), computed, "{query}");
            }
        }
        assert!(!sql(&format!("explain select count(*) from '{from}'")).contains("PositionScan"));
        assert_eq!(
            sql(&format!("select count(*) from '{from}'")),
            output(0, &["sql", "--recompute", &format!("select count(*) from '{from}'")])
        );
    }
    // A file of other columns beside them: only those that all have.
    output(0, &["-q", "compute", "--columns", "fen,score", &pgn, "-o", &dir.name("three.parquet")]);
    for (is_stored, column) in [(true, "score"), (false, "phase")] {
        let plan = sql(&format!("explain select {column} from '{both}'"));
        assert_eq!(plan.contains("StoredColumns"), is_stored, "{plan}");
    }
    // Records that are chosen, and names of formats, mean that positions are read.
    for more in [
        &["--plies", "10..20"][..],
        &["--from", "parquet"],
        &["--strict"],
        &["--validity", "strict"],
        &["--keep-en-passant"],
    ] {
        let query = format!("explain select score from '{one}'");
        let plan = output(0, &[&["sql", &query], more].concat());
        assert!(plan.contains("PositionScan"), "{more:?}: {plan}");
    }
}

/// The options that choose games and positions mean the same in every format.
#[test]
fn games_are_chosen_in_all_formats() {
    let Some(pgn) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let pgn = pgn.display().to_string();
    let dir = Dir::new();
    let options = ["--min-elo", "1500", "--skip-book", "10", "--max-per-game", "5"];
    let columns = "white_elo,ply,fen,move";
    let compute = ["compute", "--columns", columns, &pgn];
    let expected = output(0, &[&compute[..], &options].concat());
    assert!(expected.lines().count() > 100);
    for name in ["x.pgn", "x.boards", "x.parquet", "x.arrow"] {
        let file = match name {
            "x.pgn" => pgn.clone(),
            _ => dir.name(name),
        };
        if file != pgn {
            output(0, &["convert", &pgn, "-o", &file]);
        }
        let query = format!("select {columns} from '{file}'");
        for threads in ["1", "4"] {
            let sql = ["sql", &query, "--threads", threads];
            let found = output(0, &[&sql[..], &options].concat());
            assert_eq!(found, expected, "{name}");
        }
    }
    let plain = sample("sample.epd");
    let query = format!("select fen from '{plain}'");
    let stderr = stderr_of(2, &["sql", &query, "--min-elo", "1500"]);
    assert!(stderr.contains("sample.epd"), "{stderr}");
}

#[test]
fn the_key_of_a_position_beside_a_pinned_pawn() {
    let fen = "7k/8/8/3KPpq1/8/8/8/8 w - f6 0 2";
    let kept = value(&format!("select key('{fen}')"));
    assert_ne!(kept, value("select key('7k/8/8/3KPpq1/8/8/8/8 w - - 0 2')"));
    let query = format!("select key('{fen}')");
    let keeping = output(0, &["sql", &query, "--keep-en-passant"]);
    assert_eq!(keeping.lines().nth(1), Some(&*kept));
}

#[test]
fn filters_that_reach_the_scan_are_exact() {
    let Some(pgn) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let pgn = pgn.display().to_string();
    let conditions = [
        "in_check",
        "not in_check",
        "in_check is null",
        "in_check is not true",
        "legal_moves > 40",
        "legal_moves <= 0",
        "40 < legal_moves",
        "legal_moves = 20 or legal_moves = 21",
        "legal_moves <> 20",
        "legal_moves between 10 and 20",
        "legal_moves not between 1 and 39",
        "legal_moves in (1, 2, 3)",
        "legal_moves not in (20, 30, 40, null)",
        "legal_moves not in (20, 30, 40)",
        "legal_moves > -1",
        "legal_moves < 70000",
        "phase >= 23.5",
        "score is null",
        "score is not null",
        "score < -100",
        "score <> 0",
        "score not between -50 and 50",
        "white_elo - black_elo > 300",
        "white_elo >= 1900 and black_elo < 1800",
        "stm = 'w'",
        "stm <> 'w'",
        "result in ('1-0', '0-1')",
        "result not in ('1-0', '0-1')",
        "eco like 'B%'",
        "opening = 'Nobody plays this'",
        "date >= '2013-01-01'",
        "attacks_white = 0",
        "key > 9223372036854775807",
        "san = 'O-O'",
        "clock > 100 and clock is not null",
        "ply between 10 and 12 and stm = 'b'",
    ];
    for condition in conditions {
        let pushed = format!("select count(*), sum(index) from '{pgn}' where {condition}");
        // No scan takes this.
        let kept = format!("select count(*), sum(index) from '{pgn}' where case when {condition} then true end");
        assert_eq!(sql(&pushed), sql(&kept), "{condition}");
    }
}

#[test]
fn keys_are_compared_with_hexadecimal_numbers() {
    let file = sample("sample.epd");
    let keys = sql(&format!("select key from '{file}' where index in (5, 7) order by index"));
    let keys: Vec<u64> = keys.lines().skip(1).map(|key| key.parse().unwrap()).collect();
    let [one, other] = keys[..] else { panic!("{keys:?}") };
    assert!(one > i64::MAX as u64, "the largest bit matters");
    for condition in [
        format!("key = 0x{one:x}"),
        format!("key = 0X{one:X} and lower(fen) > ''"),
        format!("t.key = 0x{one:x}"),
        format!("t.key in (0x{one:x}, 0x{one:x})"),
        format!("case when key = 0x{one:x} then true end"),
        format!("key between 0x{one:x} and 0x{one:x}"),
    ] {
        let found = value(&format!("select min(index) from '{file}' t where {condition}"));
        assert_eq!(found, "5", "{condition}");
    }
    let both = format!("with t as (select key, index from '{file}') select sum(index) from t");
    assert_eq!(value(&format!("{both} where key = 0x{one:x} or key = 0x{other:x}")), "12");
    // Not a file with positions: the engine tests the condition.
    let dir = Dir::new();
    let csv = dir.file("rows.csv", "n\n30\n31\n");
    assert_eq!(value(&format!("select n from '{csv}' where n = 0x1F")), "31");
    // Bytes stay bytes, and names are the texts.
    let named = sql("select 0x1F, -0x10, X'1f0a' = 'x', encode(X'1f0a', 'hex') as c");
    assert_eq!(named, "0x1F,-0x10,X'1f0a' = 'x',c\n31,-16,false,1f0a\n");
    for wrong in ["0x", "0X", "0x1G", "0x12345678901234567"] {
        let stderr = stderr_of(2, &["sql", &format!("select\n key = {wrong} from '{file}'")]);
        let expected = "lanefish: line 2, column 8: 0x is followed by 1 to 16 hexadecimal digits";
        assert!(stderr.starts_with(expected), "{stderr}");
    }
}

#[test]
fn only_what_a_query_names_reaches_the_scan() {
    let file = sample("sample.epd");
    let plan = |query: &str| sql(&format!("explain {query}"));
    let scan = |query: &str| -> String {
        let plan = plan(query);
        let at = plan.find("PositionScan").expect("a scan");
        plan[at..].lines().next().unwrap_or_default().to_owned()
    };
    let two = scan(&format!("select phase, avg(legal_moves) from '{file}' group by phase"));
    assert!(two.contains("columns=[legal_moves, phase]"), "{two}");
    assert!(scan(&format!("select count(*) from '{file}'")).contains("columns=[]"));
    let filtered = scan(&format!("select fen from '{file}' where in_check and legal_moves < 3 limit 5"));
    for part in ["columns=[fen]", "where=[in_check, legal_moves < 3]", "limit=5"] {
        assert!(filtered.contains(part), "{filtered}");
    }
    // The limit comes after what the engine filters.
    let kept = scan(&format!("select fen from '{file}' where lower(fen) like 'r%' limit 5"));
    assert!(!kept.contains("limit"), "{kept}");
}

#[test]
fn limits_are_exact() {
    let file = sample("sample.epd");
    for (limit, offset) in [(0, 0), (1, 0), (10, 5), (4098, 0), (5000, 4000)] {
        let rows = format!("from '{file}' limit {limit} offset {offset}");
        let expected = (4098usize.saturating_sub(offset)).min(limit);
        assert_eq!(sql(&format!("select fen {rows}")).lines().count(), expected + 1);
        assert_eq!(value(&format!("select count(*) from (select fen {rows})")), expected.to_string());
    }
    let checks: u64 = value(&format!("select count(*) from '{file}' where in_check")).parse().unwrap();
    let some = format!("select count(*) from (select 1 from '{file}' where in_check limit 100000)");
    assert_eq!(value(&some), checks.to_string());
}

#[test]
fn every_computed_column_is_a_function() {
    let file = sample("sample.epd");
    let listed = json(0, &["compute", "--list-columns", "--json"]);
    let names: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|column| column["name"].as_str()).collect();
    let end = names.iter().position(|name| *name == "game").unwrap();
    let computed: Vec<&str> = names[..end].iter().copied().filter(|name| *name != "index").collect();
    assert!(computed.len() > 35);
    let differ =
        computed.iter().map(|name| format!("({name}(fen) is distinct from {name})")).collect::<Vec<_>>().join(" or ");
    assert_eq!(value(&format!("select count(*) from '{file}' where {differ}")), "0");
}

#[test]
fn functions_work_on_other_tables_and_give_null_for_bad_positions() {
    let dir = Dir::new();
    let csv =
        dir.file("rows.csv", format!("n,position\n1,{START}\n2,nonsense\n3,\n4,6k1/8/8/8/8/8/8/4K2R w K - 0 1\n"));
    let rows = sql(&format!(
        "select n, legal_moves(position), in_check(position), play(position, 'e1g1') from '{csv}' order by n"
    ));
    let expected = "1,20,false,\n2,,,\n3,,,\n4,15,false,6k1/8/8/8/8/8/8/5RK1 b - - 1 1\n";
    assert_eq!(rows.split_once('\n').unwrap().1, expected);
    let jsonl = dir.file("rows.jsonl", format!("{{\"position\":\"{START}\",\"deep\":{{\"x\":1}}}}\n"));
    assert_eq!(value(&format!("select legal_moves(position) from '{jsonl}'")), "20");
    let tsv = dir.file("rows.tsv", format!("n\tposition\n1\t{START}\n"));
    assert_eq!(value(&format!("select n + legal_moves(position) from '{tsv}'")), "21");
    // Boards, as files of whole records have them.
    let parquet = dir.name("boards.parquet");
    output(0, &["convert", &sample("sample.epd"), "-o", &parquet]);
    let boards = format!(
        "create external table t stored as parquet location '{parquet}'; \
         select sum(legal_moves(board)), sum(popcount(attacks_white(board))) from t"
    );
    let columns = format!("select sum(legal_moves), sum(attacked_white) from '{}'", sample("sample.epd"));
    assert_eq!(sql(&boards).lines().last(), sql(&columns).lines().last());
}

#[test]
fn patterns_and_moves() {
    let one = |expression: &str| value(&format!("select {expression}"));
    assert_eq!(one(&format!("matches('{START}', '8/8/8/8/......../8/PPPPPPPP/4K3')")), "true");
    assert_eq!(one(&format!("matches('{START}', '8/8/8/8/4P3/8/8/8')")), "false");
    assert_eq!(one("matches('nonsense', '8/8/8/8/4P3/8/8/8')"), "");
    assert_eq!(one(&format!("play('{START}', 'e2e4')")), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    assert_eq!(one(&format!("play('{START}', 'e2e5')")), "");
    assert_eq!(one(&format!("play(play('{START}', 'e4'), null)")), "");
    assert_eq!(
        one("normalize_fen('rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3')"),
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    );
    assert_eq!(one("popcount(18446744073709551615)"), "64");
    assert_eq!(one("popcount(-1)"), "64");
    assert_eq!(one("popcount(0) + popcount(7)"), "3");
    let wrong = stderr_of(2, &["sql", &format!("select matches('{START}', '8/8')")]);
    assert!(wrong.contains("eight ranks"), "{wrong}");
}

#[test]
fn position_stats_are_those_of_stats() {
    let file = sample("sample.epd");
    let mut expected = json(0, &["stats", "--json", &file]);
    expected.as_object_mut().unwrap().shift_remove("run");
    for threads in ["1", "3"] {
        let query = format!("select position_stats(fen) as stats from '{file}'");
        let row = json(0, &["sql", &query, "--format", "jsonl", "--threads", threads]);
        let found: Value = serde_json::from_str(row["stats"].as_str().unwrap()).unwrap();
        assert_eq!(found, expected);
    }
    let groups = format!("select phase, count(*) as n, position_stats(fen) as stats from '{file}' group by phase");
    let text = output(0, &["sql", &groups, "--format", "jsonl"]);
    for row in text.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let found: Value = serde_json::from_str(row["stats"].as_str().unwrap()).unwrap();
        assert_eq!(found["positions"], row["n"]);
    }
    assert_eq!(text.lines().count(), 25);
}

#[test]
fn bad_records_are_counted_and_kept() {
    let dir = Dir::new();
    let file = dir.file("bad.fen", BAD);
    let rejects = dir.name("rejects.txt");
    let query = format!("select legal_moves from '{file}'");
    let run = lanefish(&["sql", &query, "--rejects", &rejects]).assert().code(1);
    let stderr = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(stderr.contains("1 of 3 records rejected") && stderr.contains("bad.fen:2"), "{stderr}");
    assert_eq!(run.get_output().stdout, b"legal_moves\n20\n15\n");
    assert!(fs::read_to_string(&rejects).unwrap().starts_with(&format!("{file}:2")));
    let strict = stderr_of(2, &["sql", &query, "--strict"]);
    assert!(strict.contains("bad.fen:2"), "{strict}");
}

#[test]
fn many_bad_records_hold_nothing_up() {
    let dir = Dir::new();
    let file = dir.file("bad.fen", format!("{START}\n").repeat(3) + &"nonsense\n".repeat(50_000));
    for (name, query, status) in [
        ("read", format!("select count(*) from '{file}'"), 1),
        ("created", format!("create table t as select * from '{file}'; select count(*) from t"), 1),
        ("left", format!("select 1 / (index - 2) from '{file}'"), 2),
    ] {
        let rejects = dir.name(name);
        lanefish(&["sql", &query, "--rejects", &rejects])
            .timeout(std::time::Duration::from_secs(60))
            .assert()
            .code(status);
        let kept = fs::read_to_string(rejects).unwrap_or_default().lines().count();
        assert_eq!(kept, if status == 1 { 50_000 } else { 0 }, "{name}");
    }
}

#[test]
fn damage_ends_a_query() {
    let dir = Dir::new();
    let whole = dir.name("whole.epd.zst");
    output(0, &["convert", &sample("sample.epd"), "-o", &whole]);
    let bytes = fs::read(&whole).unwrap();
    let cut = dir.file("cut.epd.zst", &bytes[..bytes.len() / 2]);
    let out = dir.name("out.csv");
    let stderr = stderr_of(2, &["sql", &format!("select fen from '{cut}'"), "-o", &out]);
    assert!(stderr.contains("truncated or corrupt"), "{stderr}");
    assert_eq!(dir.list(), ["cut.epd.zst", "whole.epd.zst"]);
    // Not even a header.
    let count = lanefish(&["sql", &format!("select count(*) from '{cut}'")]);
    assert_eq!({ count }.assert().code(2).get_output().stdout, b"");
    let temp = stderr_of(2, &["sql", "select 1", "--temp", &dir.name("missing")]);
    assert!(temp.contains("missing: No such file"), "{temp}");
}

#[test]
fn errors_name_the_place() {
    let file = sample("sample.epd");
    let wrong = |query: &str| stderr_of(2, &["sql", query]);
    let column = wrong(&format!("select fen,\n legal_move from '{file}'"));
    assert_eq!(
        column,
        "lanefish: line 2, column 2: there is no column `legal_move`; did you mean `legal_moves`?\n   legal_move from '"
            .to_owned()
            + &file + "'\n   ^\n"
    );
    assert!(wrong("select fen frm 'x.epd' y").contains("line 1, column 16: "));
    assert!(wrong("select * from nothing").contains("there is no table `nothing`"));
    assert!(wrong("select * from 'nothing.pgn'").contains("cannot open nothing.pgn"));
    assert!(wrong("select * from '*.nothing'").contains("no file fits '*.nothing'"));
    assert!(wrong(" ; ").contains("there is no statement"));
    assert!(wrong("select legal_moves(1)").contains("legal_moves takes a FEN or a board"));
    let dir = Dir::new();
    let odd = dir.file("odd.xyz", [0x80; 50]);
    assert!(wrong(&format!("select * from '{odd}'")).contains("no known format"));
    assert!(stderr_of(2, &["sql", "select 1", "--skip", "1"]).contains("does not take --skip: its statements"));
}

#[test]
fn rows_go_to_any_format() {
    let dir = Dir::new();
    let file = sample("sample.epd");
    let query = format!("select index, fen, legal_moves, in_check, null as nothing from '{file}' limit 70");
    let csv = sql(&query);
    for name in ["o.csv", "o.csv.zst", "o.jsonl", "o.parquet", "o.arrow", "o.arrows", "o.feather"] {
        output(0, &["sql", &query, "-o", &dir.name(name)]);
    }
    assert_eq!(fs::read_to_string(dir.path("o.csv")).unwrap(), csv);
    let jsonl = fs::read_to_string(dir.path("o.jsonl")).unwrap();
    let first: Value = serde_json::from_str(jsonl.lines().next().unwrap()).unwrap();
    assert_eq!((&first["index"], &first["nothing"]), (&0.into(), &Value::Null));
    for name in ["o.parquet", "o.arrow", "o.arrows", "o.feather"] {
        let again = format!("select sum(legal_moves), count(*) from '{}'", dir.name(name));
        let expected = format!("select sum(legal_moves), count(*) from (select * from '{file}' limit 70)");
        assert_eq!(sql(&again), sql(&expected), "{name}");
    }
    let table = output(0, &["sql", &query, "--format", "table"]);
    // The names, the types, a line, 20 rows twice with a row of dots between them, and the number of rows.
    assert_eq!(table.lines().count(), 45);
    assert!(table.lines().last().is_some_and(|line| line == "70 rows (40 shown)  5 columns"), "{table}");
    let two = stderr_of(2, &["sql", "select 1; select 2", "-o", &dir.name("two.csv")]);
    assert!(two.contains("two statements return rows"), "{two}");
    assert!(!dir.path("two.csv").exists());
    assert_eq!(sql("select 1 as x; set datafusion.execution.batch_size = 100; select 2 as y"), "x\n1\n\ny\n2\n");
    // No rows still have names.
    assert_eq!(sql("select 1 as x where false"), "x\n");
}

#[test]
fn statements_come_from_files_and_standard_input() {
    let dir = Dir::new();
    let file = dir.file("q.sql", "-- a comment\nselect 1 as x;\n");
    assert_eq!(output(0, &["sql", "--file", &file]), "x\n1\n");
    let run = lanefish(&["sql", "-"]).write_stdin("select 2 as x").assert().code(0);
    assert_eq!(run.get_output().stdout, b"x\n2\n");
}

#[test]
fn several_files_are_one_table() {
    let dir = Dir::new();
    dir.file("a.fen", BAD.lines().next().unwrap());
    dir.file("b.epd", BAD.lines().last().unwrap());
    dir.file("c.bin", [0xFF; 100]);
    let directory = dir.name("");
    assert_eq!(value(&format!("select count(*) from '{directory}'")), "2");
    assert_eq!(value(&format!("select sum(legal_moves) from '{}'", dir.name("?.[ef]*"))), "35");
    let join = format!("select count(*) from '{0}' a join '{0}' b on a.legal_moves < b.legal_moves", directory);
    assert_eq!(value(&join), "1");
}

#[test]
fn tags_are_columns() {
    let dir = Dir::new();
    let file = dir.file("g.pgn", "[Event \"One\"]\n[Round \"3\"]\n\n1. e4 *\n\n[Event \"Two\"]\n\n1. d4 d5 *\n");
    let query = format!(
        "select \"tag:Event\" as event, max(\"tag:Round\") as round, count(*) from '{file}' group by 1 order by 1"
    );
    assert_eq!(sql(&query), "event,round,count(*)\nOne,3,2\nTwo,,3\n");
}

/// The first table is large enough that its rows would be answered, or written, before the second one is opened.
#[test]
fn other_columns_of_later_files_are_found_first() {
    let dir = Dir::new();
    let file = sample("sample.epd");
    let scored = format!("select fen, legal_moves as score from '{file}' cross join generate_series(1, 20)");
    for extension in ["parquet", "arrow", "csv", "jsonl"] {
        let name = |name: &str| dir.name(&format!("{name}.{extension}"));
        let (large, lacking, typed) = (name("1-large"), name("2-lacking"), name("3-typed"));
        output(0, &["sql", &scored, "-o", &large]);
        output(0, &["sql", "select 3 as id, 'x' as text", "-o", &lacking]);
        output(0, &["sql", &format!("select fen, 'x' as score from '{file}' limit 5"), "-o", &typed]);
        let out = dir.name("out");
        for arguments in
            [&["compute", "--columns", "score", "--format", "csv"][..], &["convert", "--to", "epd"], &["stats"]]
        {
            let to = if arguments[0] == "stats" { &[][..] } else { &["-o", &*out] };
            let stderr = stderr_of(2, &[arguments, to, &[&*large, &*lacking]].concat());
            assert!(stderr.contains("2-lacking") && stderr.contains("column `fen`"), "{stderr}");
            assert!(!stderr.contains("before that place"), "{stderr}");
        }
        if ["parquet", "arrow"].contains(&extension) {
            let stderr = stderr_of(2, &["compute", &large, &typed, "--columns", "fen,score"]);
            let expected =
                format!("3-typed.{extension} cannot be read together with {large}: its column `score` (Utf8)");
            assert!(stderr.contains(&expected), "{stderr}");
            // The type does not matter where nothing asks for the column.
            assert_eq!(output(0, &["compute", &large, &typed, "--columns", "fen"]).lines().count(), 81_966);
            for (pattern, message) in [("[12]", "column `fen`"), ("[13]", "cannot be read together with")] {
                let table = dir.name(&format!("{pattern}-*.{extension}"));
                let stderr = stderr_of(2, &["sql", &format!("select sum(score) from '{table}' where fen > ''")]);
                assert!(stderr.contains(message) && !stderr.contains("before that place"), "{stderr}");
                // The first table of a join is read before the second one.
                let join = format!("select sum(b.score) from '{file}' a join '{table}' b using (fen)");
                let stderr = stderr_of(2, &["sql", &join]);
                assert!(stderr.contains(message) && !stderr.contains("before that place"), "{stderr}");
            }
        }
    }
}

/// The engine would read the values by their order.
#[test]
fn all_files_of_a_table_of_csv_have_the_same_columns() {
    let dir = Dir::new();
    let rows = "one,two\n".to_owned() + &"a,b\n".repeat(2000);
    dir.file("1.csv", &rows);
    dir.file("2.csv", "one,two\r\nc,d\r\n");
    dir.file("3.csv", "");
    let table = dir.name("");
    assert_eq!(value(&format!("select count(*) from '{table}' where one in ('a', 'c')")), "2001");
    dir.file("4.csv", "two,one\nd,c\n");
    for table in [table, dir.name("*.csv")] {
        let stderr = stderr_of(2, &["sql", &format!("select count(*) from '{table}' where one in ('a', 'c')")]);
        let expected = "4.csv cannot be read together with ";
        assert!(stderr.contains(expected) && stderr.contains("its columns are two,one, not one,two"), "{stderr}");
    }
}

#[test]
fn directories_of_csv_are_those_of_positions() {
    let dir = Dir::new();
    for (name, value) in [
        ("d/1.csv", 1),
        ("d/below/2.csv", 2),
        ("d/below/month=06/3.csv", 3),
        ("d/_marks/4.csv", 4),
        ("d/.5.csv", 5),
        ("d/_6.csv", 6),
        ("months/month=05/1.CSV", 1),
        ("months/month=06 %/2.csv", 2),
        ("months/below/month=07/3.csv", 3),
    ] {
        let path = dir.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("n\n{value}\n")).unwrap();
    }
    fs::write(dir.path("d/README.md"), "n\n7\n").unwrap();
    fs::write(dir.path("d/0.csv"), "").unwrap();
    let list = |name: &str| sql(&format!("select * from '{}'", dir.name(name)));
    let said = stderr_of(2, &["sql", &format!("select * from '{}'", dir.name("d"))]);
    assert!(said.contains("its folders with values are month, not none"), "{said}");
    fs::remove_file(dir.path("d/below/month=06/3.csv")).unwrap();
    assert_eq!(list("d"), "n\n1\n2\n");
    assert_eq!(list("d/*.csv"), "n\n5\n1\n6\n");
    assert_eq!(list("months"), "n,month\n3,07\n1,05\n2,06 %\n");
    let chosen = format!("select n from '{}' where month = '06 %'", dir.name("months"));
    assert_eq!(sql(&chosen), "n\n2\n");
    let said = |more: &str| stderr_of(2, &["sql", &format!("select * from '{}'", dir.name(more))]);
    fs::create_dir(dir.path("zipped")).unwrap();
    fs::copy(dir.path("d/1.csv"), dir.path("zipped/1.csv")).unwrap();
    fs::write(dir.path("zipped/2.zip"), Zip::of([("2.csv", &b"n\n2\n"[..])], true)).unwrap();
    assert!(said("zipped").contains("is in a zip archive"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", dir.path("months/9.csv")).unwrap();
        assert!(said("months").contains("leads nowhere"));
    }
    fs::write(dir.path("d/8.json"), "{\"n\": 8}\n").unwrap();
    assert!(said("d").contains("its name ends in .json, not .csv"));
}

#[test]
fn folders_are_columns() {
    let dir = Dir::new();
    for (folder, lines) in [("month=2025-05", 2), ("month=2025-06", 3), ("other", 1)] {
        fs::create_dir(dir.path(folder)).unwrap();
        fs::write(dir.path(folder).join("a.fen"), format!("{START}\n").repeat(lines)).unwrap();
    }
    let table = dir.name("");
    let query = format!("select \"folder:month\" as month, count(*) as n from '{table}' group by 1 order by 1");
    assert_eq!(sql(&query), "month,n\n2025-05,2\n2025-06,3\n,1\n");
    let condition = "\"folder:month\" = '2025-06' and legal_moves = 20";
    assert_eq!(value(&format!("select count(*) from '{table}' where {condition}")), "3");
    assert_eq!(value(&format!("select count(*) from '{table}' where \"folder:month\" is null")), "1");
}

#[test]
fn and_binds_less_than_is_distinct_from() {
    // The parser that the engine uses gets this wrong.
    let truth = |column: &str| format!("(values (true), (false), (null)) as {column}({column})");
    let all = ["a", "b", "c", "d"].map(truth).join(", ");
    for (text, meant) in [
        ("a is distinct from b and c", "(a is distinct from b) and c"),
        ("a is not distinct from b or c and d", "(a is not distinct from b) or (c and d)"),
        ("d and a is distinct from b or c", "(d and (a is distinct from b)) or c"),
        ("d and a is distinct from b and c or d", "(d and (a is distinct from b) and c) or d"),
        ("not a is distinct from b and c", "(not (a is distinct from b)) and c"),
        ("a is distinct from (b and c)", "(a is distinct from (b and c))"),
        (
            "a is distinct from b and c is distinct from d and a",
            "(a is distinct from b) and (c is distinct from d) and a",
        ),
    ] {
        let rows =
            |condition: &str| sql(&format!("select a, b, c, d, {condition} as x from {all} order by a, b, c, d"));
        assert_eq!(rows(text), rows(meant), "{text}");
    }
}

#[test]
fn plain_tables_have_the_columns_of_the_file() {
    let dir = Dir::new();
    let file = dir.name("hub.parquet");
    output(0, &["sql", &format!("select 7 as id, '{START}' as fen union all select 8, 'nonsense'"), "-o", &file]);
    assert_eq!(sql(&format!("select id, legal_moves(fen) as n from plain('{file}') order by id")), "id,n\n7,20\n8,\n");
    let hint = stderr_of(2, &["sql", &format!("select id from '{file}'")]);
    assert!(hint.contains("plain('FILE')"), "{hint}");
    let none = stderr_of(2, &["sql", &format!("select * from plain('{}')", sample("sample.epd"))]);
    assert!(none.contains("not a Parquet"), "{none}");
}

#[test]
fn statements_do_not_write_files() {
    let dir = Dir::new();
    let file = dir.file("kept.csv", "a\n1\n");
    let refused = stderr_of(2, &["sql", &format!("copy (select 2 as a) to '{file}'")]);
    assert!(refused.contains("-o"), "{refused}");
    assert_eq!(fs::read_to_string(file).unwrap(), "a\n1\n");
}

#[test]
fn names_of_columns_are_those_of_the_query() {
    let file = sample("sample.epd");
    let header = |select: &str| sql(&format!("select {select} from '{file}' limit 0")).trim_end().to_owned();
    assert_eq!(header("legal_moves + 1, fen, index, index"), "legal_moves + 1,fen,index,index_2");
    assert_eq!(header("\"tag:Event\", 'one \" mark'"), "tag:Event,\"'one \"\" mark'\"");
    let comment = output(0, &["sql", "-- a comment\nselect 1 as x"]);
    assert_eq!(comment, "x\n1\n");
    assert!(stderr_of(2, &["sql", "--nonsense"]).contains("unexpected argument"));
}

#[test]
fn dates_that_are_no_days_are_null() {
    let dir = Dir::new();
    let file = dir.file("d.pgn", "[Date \"1851.??.??\"]\n\n1. e4 *\n\n[Date \"2020.01.02\"]\n\n1. d4 *\n");
    assert_eq!(value(&format!("select count(*) from '{file}' where date is null")), "2");
    assert_eq!(value(&format!("select count(*) from '{file}' where date = '2020-01-02'")), "2");
}

/// Files that say how many records they have are not read for it.
#[test]
fn records_are_counted_by_the_file() {
    let dir = Dir::new();
    let boards = sample("sample.boards");
    let records = value(&format!("select count(fen) from '{boards}'"));
    let plan = sql(&format!("explain select count(*) from '{boards}'"));
    assert!(!plan.contains("PositionScan"), "{plan}");
    assert_eq!(value(&format!("select count(*) from '{boards}'")), records);
    assert_eq!(value(&format!("select sum(n) from (select 1 as n from '{boards}')")), records);
    assert_eq!(value(&format!("select count(*) from (select 1 from '{boards}' limit 7 offset 2)")), "7");
    let scanned = sql(&format!("explain select count(*) from '{boards}' where in_check"));
    assert!(scanned.contains("PositionScan"), "{scanned}");
    for option in [&["--recompute"][..], &["--strict"], &["--from", "boards"], &["--validity", "strict"]] {
        let query = format!("select count(*) from '{boards}'");
        let text = output(0, &[&["sql", &query], option].concat());
        assert_eq!(text, format!("count(*)\n{records}\n"), "{option:?}");
    }
    // A file that is cut is no shorter file.
    let bytes = fs::read(&boards).unwrap();
    let cut = dir.file("cut.boards", &bytes[..bytes.len() / 2]);
    stderr_of(2, &["sql", &format!("select count(*) from '{cut}'")]);
    // Tables: the rows, with those whose position is bad.
    let table = dir.name("hub.parquet");
    let rows = format!("select '{START}' as fen, 1 as score union all select 'nonsense', 2 union all select null, 3");
    output(0, &["sql", &rows, "-o", &table]);
    assert_eq!(value(&format!("select count(*) from '{table}'")), "3");
    assert_eq!(output(1, &["-q", "sql", &format!("select count(fen) from '{table}'")]), "count(fen)\n1\n");
}

/// Columns that stand in tables of other programs are read without the positions, unless another column needs them.
#[test]
fn fields_of_tables_do_not_need_positions() {
    let dir = Dir::new();
    let table = dir.name("hub.parquet");
    let rows = format!(
        "select '{START}' as fen, 10 as score, '1-0' as result, 'e4' as move, 'A' as white \
         union all select 'nonsense', 100000, 'odd', 'e4', '' \
         union all select null, null, '0-1', null, null"
    );
    output(0, &["sql", &rows, "-o", &table]);
    let of = |status, columns: &str| {
        let query = format!("select {columns} from '{table}'");
        let text = output(status, &["-q", "sql", &query]);
        let mut rows: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        rows.sort();
        rows
    };
    assert_eq!(of(0, "score, result, white"), [",,", ",0-1,", "10,1-0,A"]);
    for judged in ["fen", "move", "stm", "stm_score", "legal_moves", "key"] {
        assert_eq!(of(1, &format!("score, {judged}")).len(), 1, "{judged}");
    }
    assert_eq!(value(&format!("select count(*) from '{table}' where score is null")), "2");
    assert_eq!(output(1, &["-q", "sql", &format!("select score from '{table}' where not in_check")]), "score\n10\n");
    let unread = stderr_of(0, &["sql", &format!("select score from '{table}'")]);
    assert!(unread.contains("100000"), "{unread}");
}

#[test]
fn every_row_has_the_name_of_its_file() {
    let dir = Dir::new();
    fs::create_dir(dir.path("year=2025 50%")).unwrap();
    let (epd, csv) = (dir.file("a.epd", format!("{START}\n{START}\n")), dir.file("a.csv", "n,x\n1,2\n"));
    fs::write(dir.path("year=2025 50%/b.epd"), format!("{START}\n")).unwrap();
    fs::create_dir_all(dir.path("csv/year=2025 50%")).unwrap();
    fs::write(dir.path("csv/year=2025 50%/b.csv"), "n,x\n3,4\n").unwrap();
    let inner = |name: &str| dir.path("year=2025 50%").join(name).to_str().unwrap().to_owned();
    let files = sql(&format!("select FileName, count(*) from '{}' group by 1 order by 1", dir.name("**/*.epd")));
    assert_eq!(files.lines().skip(1).collect::<Vec<_>>(), [format!("{epd},2"), format!("{},1", inner("b.epd"))]);
    let rows = sql(&format!("select n, filename from '{csv}'"));
    assert_eq!(rows, format!("n,filename\n1,{csv}\n"));
    let rows = sql(&format!("select n, year, filename from '{}'", dir.name("csv")));
    let file = dir.path("csv/year=2025 50%/b.csv").to_str().unwrap().to_owned();
    assert_eq!(rows, format!("n,year,filename\n3,2025 50%,{file}\n"));
    // It is no column of `*`, and a column of the file comes first.
    assert_eq!(sql(&format!("select * from '{csv}'")), "n,x\n1,2\n");
    let own = dir.file("own.csv", "filename,x\nits own,2\n");
    assert_eq!(value(&format!("select filename from '{own}'")), "its own");
    let some =
        format!("select count(*) from '{}' where filename like '%b.epd' and legal_moves = 20", dir.name("**/*.epd"));
    assert_eq!(value(&some), "1");
}

#[test]
fn names_of_columns_are_found_in_any_case() {
    let dir = Dir::new();
    let csv = dir.file("games.csv", "WhiteElo,Result,a,A\n2000,1-0,1,2\n1500,0-1,3,4\n");
    assert_eq!(
        sql(&format!("select WhiteElo, t.RESULT from '{csv}' as t where whiteelo > 1600 order by WHITEELO")),
        "WhiteElo,Result\n2000,1-0\n"
    );
    assert_eq!(value(&format!("select max(whiteelo) as n from '{csv}'")), "2000");
    assert_eq!(sql(&format!("select a, \"A\" from '{csv}'")), "a,A\n1,2\n3,4\n");
    let wrong = stderr_of(2, &["sql", &format!("select whiteelos from '{csv}'")]);
    assert!(wrong.contains("WhiteElo"), "{wrong}");
    // A folder by its plain name, unless something else has this name.
    let folder = dir.path("Year=2025/ply=7");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.epd"), format!("{START}\n")).unwrap();
    let table = dir.name("Year=2025");
    assert_eq!(
        sql(&format!("select year, ply from '{table}' where Year = '2025'")),
        "year,ply
2025,
"
    );
    assert_eq!(value(&format!("select \"folder:ply\" from '{table}'")), "7");
}

#[test]
fn tables_are_summarized() {
    let dir = Dir::new();
    let csv = dir.file("a.csv", "n,word,x\n1,b,0.5\n2,,1.5\n3,a,\n4,a,2.5\n");
    assert_eq!(
        sql(&format!("summarize '{csv}'")),
        "column_name,column_type,min,max,approx_unique,avg,std,q25,q50,q75,count,null_percentage\n\
         n,Int64,1,4,4,2.5,1.290994449,1,2,3,4,0.0\n\
         word,Utf8View,a,b,2,,,,,,4,25.0\n\
         x,Float64,0.5,2.5,3,1.5,1,0.5,1.5,1.5,4,25.0\n"
            .replace(
                "Utf8View",
                if sql(&format!("summarize '{csv}'")).contains("Utf8View") { "Utf8View" } else { "Utf8" }
            )
    );
    let pgn = sample("lichess-2025-05.pgn");
    let summary = sql(&format!("summarize '{pgn}'"));
    let row = |name: &str| summary.lines().find(|line| line.starts_with(&format!("{name},"))).map(str::to_owned);
    let (least, most) =
        (value(&format!("select min(ply) from '{pgn}'")), value(&format!("select max(ply) from '{pgn}'")));
    assert!(row("ply").unwrap().starts_with(&format!("ply,Int32,{least},{most},")), "{summary}");
    assert!(row("fen").is_some() && row("phase").is_none() && row("popularity").is_none(), "{summary}");
    for threads in ["1", "3", "8"] {
        assert_eq!(output(0, &["sql", &format!("Summarize '{pgn}'"), "--threads", threads]), summary);
    }
    let query = sql(&format!("select 1 as one; summarize select phase, legal_moves from '{pgn}' where in_check;"));
    assert_eq!(query.lines().filter(|line| line.starts_with("phase,") || line.starts_with("legal_moves,")).count(), 2);
    let none = sql(&format!("summarize select phase from '{pgn}' where ply < 0"));
    assert_eq!(none.lines().nth(1), Some("phase,Int16,,,0,,,,,,0,"));
    stderr_of(2, &["sql", "summarize 'missing.epd'"]);
    stderr_of(2, &["sql", "summarize"]);
}

#[test]
fn functions_tell_what_they_were_given_in_place_of_positions() {
    let dir = Dir::new();
    let csv = dir.file("rows.csv", format!("position\n{START}\nnonsense\n\nmore\n"));
    let query = format!("select legal_moves(position), matches(position, '8/8/8/8/8/8/8/8') from '{csv}'");
    for threads in ["1", "4"] {
        let notes = stderr_of(0, &["sql", &query, "--threads", threads]);
        for function in ["legal_moves", "matches"] {
            let note = format!("{function} returned null for 2 values that are not positions, such as `more`");
            assert!(notes.contains(&note), "{notes}");
        }
    }
    let none = stderr_of(0, &["sql", &format!("select legal_moves(position) from '{csv}' where position like '%w%'")]);
    assert!(!none.contains("null"), "{none}");
}

#[test]
fn what_people_type_first_is_understood_or_explained() {
    let dir = Dir::new();
    let csv = dir.file("rows.csv", format!("FEN,n\n{START},1\n"));
    for (query, expected) in [
        (format!("select legal_moves from '{csv}'"), "`legal_moves(FEN)`, or --from csv"),
        (format!("select score from '{csv}'"), "there is no column `score`; --from csv"),
        (format!("select list(n) from '{csv}'"), "write array_agg(x)"),
        (format!("pivot '{csv}' on n"), "sum(x) filter (where y = 'a') as a"),
    ] {
        let error = stderr_of(2, &["sql", &query]);
        assert!(error.contains(expected), "{query}: {error}");
    }
    assert_eq!(sql(&format!("from '{csv}'")), format!("FEN,n\n{START},1\n"));
    assert_eq!(sql(&format!("select n from (from '{csv}')")), "n\n1\n");
}
