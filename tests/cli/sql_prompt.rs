//! `sql` without a query: statements from standard input, and the prompt on a terminal.

use super::{Dir, lanefish, output, sample};
use std::fs;
#[cfg(unix)]
use std::io::Write;

/// Status, standard output and standard error of `lanefish sql` that reads this.
fn piped(arguments: &[&str], text: impl Into<Vec<u8>>) -> (Option<i32>, String, String) {
    let arguments = [&["sql"], arguments].concat();
    let run = lanefish(&arguments).write_stdin(text).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (run.status.code(), text(run.stdout), text(run.stderr))
}

#[test]
fn statements_are_read_from_a_pipe() {
    assert_eq!(piped(&[], "select 1 as x;\n-- a comment\nselect\n2 as y").1, "x\n1\n\ny\n2\n");
    let (status, stdout, stderr) = piped(&["--format", "jsonl"], "select ';' as x");
    assert_eq!((status, &*stdout, &*stderr), (Some(0), "{\"x\":\";\"}\n", ""));
    for nothing in ["", " \n", "-- nothing", ";"] {
        let (status, stdout, stderr) = piped(&[], nothing);
        assert_eq!((status, &*stdout, &*stderr), (Some(2), "", "lanefish: there is no statement\n"), "{nothing:?}");
    }
    let (status, _, stderr) = piped(&[], b"select 1 as \xff".to_vec());
    assert_eq!((status, stderr.contains("cannot read standard input")), (Some(2), true), "{stderr}");
    // Dot commands are of the prompt.
    assert_eq!(piped(&[], ".tables").0, Some(2));
    // A file, and the rows in another one.
    let dir = Dir::new();
    let (query, out) = (dir.file("q.sql", "select 3 as z"), dir.name("out.csv"));
    let run = lanefish(&["sql", "-o", &out]).pipe_stdin(query).unwrap().output().unwrap();
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(fs::read_to_string(out).unwrap(), "z\n3\n");
}

#[test]
fn tables_of_the_session_are_shown() {
    assert_eq!(output(0, &["sql", "show tables"]), "name\n");
    let query =
        "create table b as select 1 as x; create view a as select 2 as x; SHOW TABLES; drop table b; show tables;";
    assert_eq!(output(0, &["sql", query]), "name\na\nb\n\nname\na\n");
}

#[test]
fn tables_have_types_and_counts() {
    let file = sample("sample.epd");
    let table = |query: &str| output(0, &["sql", query, "--format", "table"]);
    assert_eq!(
        table("select 'a' as text, 2.5 as number, true as flag, array['x'] as list"),
        "text  number  flag     list\ntext  double  boolean  text[]\n\
         ─────────────────────────────\na        2.5  true     [x]\n1 row  4 columns\n"
    );
    let all = table(&format!("select fen from '{file}'"));
    let count = output(0, &["sql", &format!("select count(*) from '{file}'")]);
    let last = all.lines().last().unwrap().replace(',', "");
    assert_eq!(last, format!("{} rows (40 shown)  1 column", count.lines().nth(1).unwrap()));
    // Plans are as they are.
    let plan = table(&format!("explain select fen from '{file}' where in_check"));
    assert!(plan.starts_with("plan_type") && !plan.contains(" rows"), "{plan}");
    assert!(plan.contains("PositionScan") && !plan.contains('…'), "{plan}");
}

/// What the prompt shows while this is typed, from a terminal that `script` makes; none if there is no such program.
#[cfg(unix)]
fn typed(dir: &Dir, arguments: &str, text: &str) -> Option<String> {
    use std::process::{Command, Stdio};
    let program = super::program();
    let program = [program.get_program()].into_iter().chain(program.get_args()).map(|part| part.to_str().unwrap());
    let command = format!("{} sql {arguments}", program.collect::<Vec<_>>().join(" "));
    let started = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("XDG_STATE_HOME", dir.path("state"))
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        crate::support::skipped("no program `script`");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_owned();
    let typing = std::thread::spawn(move || {
        stdin.write_all(text.as_bytes()).unwrap();
        // Until the program ends, which closes the terminal.
        stdin
    });
    let done = child.wait_with_output().unwrap();
    drop(typing.join().unwrap());
    let shown = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.status.code() != Some(0) && !shown.contains("lanefish>") {
        // Another `script`, with other options.
        crate::support::skipped(&format!("script: {}", String::from_utf8_lossy(&done.stderr)));
        return None;
    }
    assert_eq!(done.status.code(), Some(0), "{shown}");
    Some(shown.replace('\r', ""))
}

#[cfg(unix)]
#[test]
fn the_prompt_goes_on_after_errors() {
    let dir = Dir::new();
    let text = "select 1 as one;\nselect\n'a;' as two;\nselect nothing;\nselect * from 'no.pgn';\n\
                create table mine as select 7 as x;\n.tables\n.table\nselect x + 1 as eight from mine;\n\x04";
    let Some(shown) = typed(&dir, "", text) else { return };
    for expected in [
        "Statements end with a semicolon.",
        "one\nint64\n─────\n    1\n1 row  1 column\n",
        "     ...> ",
        "two\ntext\n────\na;\n1 row  1 column\n",
        "line 1, column 8: there is no column `nothing`",
        "  select nothing;\n         ^\n",
        "cannot open no.pgn",
        "\nmine\n",
        "did you mean `.tables`?",
        "eight\nint64\n─────\n    8\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let history = fs::read_to_string(dir.path("state/lanefish/sql_history")).unwrap();
    assert!(history.contains("select 1 as one;") && history.contains("from mine;"), "{history}");
    // The next session has it. Control-P is the statement before.
    let again = typed(&dir, "--quiet", "\x10\n.quit\n").unwrap();
    assert!(again.contains("there is no table `mine`"), "{again}");
    assert!(!again.contains("Statements end"), "{again}");
}

#[cfg(unix)]
#[test]
fn the_prompt_does_not_need_its_history() {
    let dir = Dir::new();
    dir.file("state", "not a directory");
    let Some(shown) = typed(&dir, "", "select 5 as five;\nselect 6 as six;\n.exit\n") else { return };
    assert_eq!(shown.matches("the history is not kept in").count(), 1, "{shown}");
    assert!(shown.contains("five") && shown.contains("    6\n"), "{shown}");
}

#[cfg(unix)]
#[test]
fn control_c_clears_the_input() {
    let dir = Dir::new();
    let text = "select 1 as one\n\x03select 2 as two;\n.quit\n";
    let Some(shown) = typed(&dir, "", text) else { return };
    assert!(shown.contains("two\nint64\n─────\n    2\n"), "{shown}");
    assert!(!shown.contains("one\nint64"), "{shown}");
}
