//! `sql --memory`: what does not fit uses files, or is an error that names it.

use super::{Dir, output, sample, stderr_of};
use std::fs;

/// The standard output of a query, which must succeed.
fn sql(query: &str) -> String {
    output(0, &["sql", query])
}

#[test]
fn what_does_not_fit_into_memory_spills() {
    let dir = Dir::new();
    let boards = dir.name("random.boards");
    output(0, &["generate", "-n", "200000", "--seed", "3", "-o", &boards]);
    let temp = dir.path("temp");
    fs::create_dir(&temp).unwrap();
    let query = format!("select fen, key from '{boards}' order by key, fen");
    let plenty = sql(&query);
    let temp = temp.to_str().unwrap();
    let least = stderr_of(2, &["sql", &query, "--memory", "1K", "--temp", temp]);
    assert!(least.contains("--memory SIZE allows more"), "{least}");
    let little = output(0, &["sql", &query, "--memory", "24M", "--temp", temp, "--threads", "2"]);
    assert!(plenty == little);
    assert_eq!(fs::read_dir(temp).unwrap().count(), 0);
}

/// Joins and first rows of an order that do not fit begin again with sorts that use files.
#[test]
fn joins_and_first_rows_spill() {
    let dir = Dir::new();
    let boards = dir.name("random.boards");
    output(0, &["generate", "-n", "80000", "--seed", "3", "-o", &boards]);
    let temp = dir.name("temp");
    fs::create_dir(&temp).unwrap();
    let limited = |query: &str, more: &[&str]| -> String {
        let options = ["sql", query, "--memory", "8M", "--temp", &temp, "--threads", "2"];
        output(0, &[&options[..], more].concat())
    };
    let columns = "count(*), sum(a.index + b.legal_moves), min(a.fen), max(b.fen)";
    let first = format!("select fen, key, index from '{boards}' order by key, index limit 60000");
    for query in [
        format!("select {columns} from '{boards}' a join '{boards}' b on a.key = b.key and a.fen = b.fen"),
        format!("select {columns} from '{boards}' a left join '{boards}' b on a.fen = b.fen and b.in_check"),
        format!("select {columns} from '{boards}' a full join '{boards}' b on a.fen = b.fen"),
        format!("select count(*) from '{boards}' a where fen not in (select fen from '{boards}' b where b.phase > 12)"),
        format!("select {columns} from '{boards}' a full join '{boards}' b on a.fen = b.fen and a.phase > b.phase"),
        first.clone(),
    ] {
        let plenty = sql(&query);
        assert!(plenty == limited(&query, &[]), "{query}");
        assert_eq!(fs::read_dir(&temp).unwrap().count(), 0);
    }
    // One thread sorts both sides too.
    let join = format!("select {columns} from '{boards}' a join '{boards}' b on a.fen = b.fen");
    assert_eq!(sql(&join), output(0, &["sql", &join, "--memory", "8M", "--threads", "1"]));
    // Nothing is counted twice.
    let mut bad = output(0, &["sql", &format!("select fen from '{boards}' limit 50000"), "--format", "csv"]);
    bad = bad.replacen("fen\n", "nonsense\n", 1);
    let bad = dir.file("bad.epd", bad);
    let rejects = dir.name("rejects");
    let join = format!("select {columns} from '{bad}' a join '{bad}' b on a.fen = b.fen");
    let options = ["sql", &join, "--memory", "8M", "--threads", "2"];
    let stderr = stderr_of(1, &options);
    assert!(stderr.contains("1 of 50,001 records rejected"), "{stderr}");
    output(1, &[&options[..], &["--rejects", &rejects]].concat());
    assert_eq!(fs::read_to_string(rejects).unwrap().lines().count(), 2);
}

/// Joins by sorting, of which the engine makes wrong plans.
#[test]
fn joins_that_spill_are_answered_as_others() {
    let dir = Dir::new();
    let file = sample("lichess-2025-05.epd");
    let a = format!("(select * from '{file}' where index < 300) a");
    let b = format!("(select * from '{file}' where phase > 10) b");
    let some = "a.legal_moves as x, a.phase as p, a.attacked_white as w, b.legal_moves as y, b.phase as q";
    let condition = "a.attacked_black > b.attacked_white";
    let on = "on a.legal_moves = b.legal_moves";
    let mut queries = vec![
        format!("select a.legal_moves from {a} join {b} {on} order by a.legal_moves limit 5"),
        format!("select b.legal_moves from {a} join {b} {on} where b.phase > 20 order by b.legal_moves limit 5"),
        format!("select x from (select phase as x from {a} intersect select phase from {b}) order by x limit 5"),
        format!("select phase from {a} where phase in (select phase from {b}) order by phase limit 5"),
        format!("select fen from {a} where exists (select 1 from {b} where a.phase = b.phase and {condition})"),
        format!("select fen from {a} where not exists (select 1 from {b} where a.phase = b.phase and {condition})"),
    ];
    for join in ["join", "left join", "right join", "full join"] {
        queries.push(format!("select {some} from {a} {join} {b} {on} and {condition}"));
        queries.push(format!("select count(*), sum(a.phase), min(b.fen) from {a} {join} {b} {on} and {condition}"));
    }
    let rejects = dir.name("rejects");
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    for query in queries {
        let spilled = ["sql", &query, "--memory", "16M", "--threads", "2", "--force", "--rejects", &rejects];
        let plenty = sorted(sql(&query));
        assert!(plenty.len() > 1, "{query}");
        assert!(sorted(output(0, &spilled)) == plenty, "{query}");
    }
}

#[test]
fn what_does_not_fit_has_a_name() {
    let dir = Dir::new();
    let boards = dir.name("random.boards");
    output(0, &["generate", "-n", "100000", "--seed", "3", "-o", &boards]);
    for (what, query) in [
        ("grouping", format!("select length(string_agg(fen, '')) from '{boards}'")),
        ("sorting", format!("select fen from '{boards}' order by fen")),
    ] {
        let memory = if what == "sorting" { "10K" } else { "2M" };
        let stderr = stderr_of(2, &["sql", &query, "--memory", memory, "--threads", "2"]);
        let expected = format!("is too small for this query: {what}");
        assert!(stderr.contains(&expected) && stderr.contains("--memory SIZE allows more"), "{stderr}");
    }
}
