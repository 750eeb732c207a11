//! `sql`: the clauses and messages of errors for which the engine has no place.

use super::{Dir, sample, stderr_of};

/// The place is that of `~`, which is not part of the query.
#[test]
fn errors_of_types_name_the_place() {
    let dir = Dir::new();
    let csv = dir.file("rows.csv", "a,b\n1,x\n");
    let file = sample("sample.epd");
    for (query, message) in [
        ("select phase,\n ~sum(fen) from {f}", "sum(Utf8) is not possible; these are: sum(Decimal), sum(UInt64)"),
        ("select fen, ~sum(fen) over () from {f}", "sum(Utf8) is not possible"),
        ("select ~legal_moves(1), phase from {f}", "legal_moves takes a FEN or a board, not Int64\n"),
        ("select ~matches(fen, 3) from {f}", "matches takes a pattern as text, not Int64\n"),
        ("select ~substr(fen, 2, 3, 4) from {f}", "substr(Utf8, Int64, Int64, Int64) is not possible; these are"),
        ("select fen from {f} where ~fen like 3", "in LIKE expression\n"),
        ("select cast(~fen as foo) from {f}", "Unsupported SQL type foo\n"),
        ("select fen from {f} where ~phase > 'x'", "Cannot cast string 'x'"),
        ("select fen from {f} where ~in_check and phase in ('a')", "Cannot cast string 'a'"),
        ("select fen from {f} where ~in_check and fen", "logical boolean operation"),
        ("with t as (select ~avg(fen) as x from {f}) select x from t", "avg(Utf8) is not possible"),
        ("select count(*) from {f} having ~max(phase) > 3 and sum(fen) > 2", "sum(Utf8)"),
        // Without the first error, the second one remains.
        ("select phase, ~sum(fen), legal_moves(2) from {f}", "sum(Utf8)"),
        ("explain select ~sum(fen) from {f}", "sum(Utf8)"),
        ("create table t as select ~sum(fen) from {f}", "sum(Utf8)"),
        ("select ~x.fen from {f} t", "`x` is not a table of this query, which has `t`\n"),
        ("select ~t.fem from {f} t", "no column `fem`; did you mean `fen`?\n"),
        // What scans could test has the place that it has in the query.
        ("select a from {c} where a > 3 and\n  ~ply = 2", "no column `ply`"),
    ] {
        let query = query.replace("{f}", &format!("'{file}'")).replace("{c}", &format!("'{csv}'"));
        let before = &query[..query.find('~').expect("a place")];
        let (line, column) = (before.lines().count(), before.lines().last().unwrap_or_default().len() + 1);
        let stderr = stderr_of(2, &["sql", &query.replace('~', "")]);
        let place = format!("lanefish: line {line}, column {column}: ");
        assert!(stderr.starts_with(&place) && stderr.contains(message), "{query}: {stderr}");
        assert!(!stderr.contains("bug report") && !stderr.contains("Internal error"), "{stderr}");
    }
}

/// The number of expressions in a clause does not matter.
#[test]
fn places_in_long_queries_are_found() {
    let file = sample("sample.epd");
    let terms: Vec<String> = (0..100).map(|number| format!("phase + {number}")).collect();
    let query = format!("select {}, sum(fen) from '{file}'", terms.join(" + "));
    let stderr = stderr_of(2, &["sql", &query]);
    assert!(stderr.starts_with(&format!("lanefish: line 1, column {}: ", query.find("sum").expect("there") + 1)));
}

/// A session holds nothing of a statement: two threads do not take each other's columns.
#[test]
fn two_threads_run_statements_of_one_session() {
    use lanefish::sql::{Limits, Session, SessionOptions};
    let dir = Dir::new();
    let games = dir.file("games.pgn", "[Event \"x\"]\n[A \"1\"]\n[B \"2\"]\n\n1. e4 *\n");
    let options = SessionOptions::new(lanefish::tiers::best());
    let session = Session::new(options, &Limits::default(), false).unwrap();
    std::thread::scope(|scope| {
        for tag in ["A", "B"] {
            let (session, games) = (&session, &games);
            scope.spawn(move || {
                let query = format!("select \"tag:{tag}\" from '{games}'");
                for _ in 0..40 {
                    for statement in Session::parse(&query).unwrap() {
                        let rows: usize = session.run(&statement).unwrap().map(|batch| batch.unwrap().num_rows()).sum();
                        assert_eq!(rows, 2, "{query}");
                    }
                }
            });
        }
    });
}
