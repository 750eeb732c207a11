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

/// The end of what a terminal shows while the prompt waits for a line: the cursor stands behind the prompt.
#[cfg(unix)]
const WAITS: &str = "> \r\x1b[10C\x1b[?2026l";

/// What the prompt shows while these lines are typed into a terminal that `script` makes, each once the prompt waits for it.
/// A line that begins with Ctrl-C is typed while the one before is still running. None if there is no program `script`.
#[cfg(unix)]
fn typed(dir: &Dir, arguments: &str, lines: &[&str]) -> Option<String> {
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};
    let program = super::program();
    let program = [program.get_program()].into_iter().chain(program.get_args()).map(|part| part.to_str().unwrap());
    // Not all shells replace themselves by their last command, and one that waits would end by the Ctrl-C, too.
    let command = format!("exec {} sql {arguments}", program.collect::<Vec<_>>().join(" "));
    let started = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("XDG_STATE_HOME", dir.path("state"))
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        crate::support::skipped("no program `script`");
        return None;
    };
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let shown = Arc::new(Mutex::new(Vec::new()));
    let reader = {
        let shown = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut bytes) {
                shown.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        })
    };
    let mut seen = 0;
    for (at, line) in lines.iter().enumerate() {
        let begin = Instant::now();
        if line.starts_with('\x03') && at > 0 {
            std::thread::sleep(Duration::from_millis(500));
        } else {
            while !(shown.lock().unwrap().len() > seen && shown.lock().unwrap().ends_with(WAITS.as_bytes())) {
                if at == 0 && child.try_wait().unwrap().is_some() {
                    crate::support::skipped("a program `script` with other options");
                    return None;
                }
                let so_far = String::from_utf8_lossy(&shown.lock().unwrap()).into_owned();
                assert!(begin.elapsed() < Duration::from_secs(20), "no prompt for {line:?}: {so_far:?}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        seen = shown.lock().unwrap().len();
        stdin.write_all(line.as_bytes()).unwrap();
    }
    let status = child.wait().unwrap();
    reader.join().unwrap();
    drop(stdin);
    let shown = String::from_utf8_lossy(&shown.lock().unwrap()).into_owned();
    assert_eq!(status.code(), Some(0), "{shown}");
    Some(shown.replace('\r', ""))
}

#[cfg(unix)]
#[test]
fn the_prompt_goes_on_after_errors() {
    let dir = Dir::new();
    let lines = [
        "select 1 as one;\n",
        "select\n",
        "'a;' as two;\n",
        "select nothing;\n",
        "select * from 'no.pgn';\n",
        "create table mine as select 7 as x;\n",
        ".tables\n",
        ".table\n",
        "select x + 1 as eight from mine;\n",
        "\x04",
    ];
    let Some(shown) = typed(&dir, "", &lines) else { return };
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
        assert!(plain(&shown).contains(expected), "{expected}: {shown}");
    }
    let history = fs::read_to_string(dir.path("state/lanefish/sql_history")).unwrap();
    assert!(history.contains("select 1 as one;") && history.contains("from mine;"), "{history}");
    // The next session has it. Control-P is the statement before.
    let again = typed(&dir, "--quiet", &["\x10\n", ".quit\n"]).unwrap();
    assert!(again.contains("there is no table `mine`"), "{again}");
    assert!(!again.contains("Statements end"), "{again}");
}

/// A text without colours.
#[cfg(unix)]
fn plain(text: &str) -> String {
    text.replace("\x1b[2m", "").replace("\x1b[0m", "")
}

#[cfg(unix)]
#[test]
fn the_prompt_does_not_need_its_history() {
    let dir = Dir::new();
    dir.file("state", "not a directory");
    let lines = ["select 5 as five;\n", "select 6 as six;\n", ".exit\n"];
    let Some(shown) = typed(&dir, "", &lines) else { return };
    assert_eq!(shown.matches("the history is not kept in").count(), 1, "{shown}");
    assert!(shown.contains("five") && shown.contains("    6\n"), "{shown}");
}

#[cfg(unix)]
#[test]
fn control_c_ends_the_statement_and_not_the_prompt() {
    let dir = Dir::new();
    let long = "select sum(value) from generate_series(1, 1000000000000);\n";
    let table = "create table t as select value from generate_series(1, 1000000000000) where value < 0;\n";
    // Twice, because the first signal must not end the next statement. Then without a statement that runs.
    let lines = [
        long,
        "\x03",
        "select 1 as one;\n",
        table,
        "\x03",
        "select 2 as two\n",
        "\x03",
        "select 3 as three;\n",
        ".quit\n",
    ];
    let Some(shown) = typed(&dir, "", &lines) else { return };
    let shown = plain(&shown);
    assert_eq!(shown.matches("lanefish: the statement was interrupted\n").count(), 2, "{shown}");
    assert!(shown.contains("one\nint64") && shown.contains("three\nint64"), "{shown}");
    assert!(!shown.contains("two\nint64"), "{shown}");
}

#[cfg(unix)]
#[test]
fn the_prompt_completes_and_lists_columns() {
    let dir = Dir::new();
    dir.file("games.csv", "a,b\n1,x\n");
    let columns = format!(".columns {}\n", dir.name("games.csv"));
    let query = format!("sel\t a from '{}\t;\n", dir.name("ga"));
    let lines = [&columns, ".columns\n", &query, ".quit\n"];
    let Some(shown) = typed(&dir, "", &lines) else { return };
    let shown = plain(&shown);
    assert!(shown.contains("a       int64") && shown.contains("b       text"), "{shown}");
    assert!(shown.contains("legal_moves_uci") && shown.contains("\"tag:NAME\""), "{shown}");
    assert!(shown.contains("int64\n─────\n    1\n"), "{shown}");
}
