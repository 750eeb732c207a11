//! `tests/sql/shapes.sql`: each query in one process and on clusters, compared with SQLite.

#[cfg(feature = "cluster")]
use super::cluster::Cluster;
#[cfg(feature = "cluster")]
use super::stderr_of;
use super::{Dir, output, sample};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The columns of the tables that SQLite gets.
const COLUMNS: &str = "index,game,ply,fen,stm,legal_moves,phase,in_check,score,move,san";

/// A query of the file.
struct Shape {
    text: String,
    /// What SQLite is asked.
    oracle: String,
    /// What the error of a cluster says, if it does not answer.
    #[cfg_attr(not(feature = "cluster"), allow(dead_code, reason = "only clusters refuse"))]
    refused: Option<String>,
}

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn shapes() -> Vec<Shape> {
    let text = fs::read_to_string(repository("tests/sql/shapes.sql")).expect("readable");
    let mut shapes = Vec::new();
    for block in text.split("\n\n") {
        let (own, oracle) = block.split_once("\n-- sqlite:\n").unwrap_or((block, block));
        let refused = block.lines().find_map(|line| line.strip_prefix("-- one process: "));
        let query = |part: &str| -> String {
            let lines = part.lines().filter(|line| !line.starts_with("--"));
            lines.collect::<Vec<_>>().join("\n")
        };
        if !query(own).is_empty() {
            let oracle = query(oracle).replace("{p}", "p").replace("{q}", "q");
            shapes.push(Shape { text: query(own), oracle, refused: refused.map(str::to_owned) });
        }
    }
    shapes
}

/// Files, and the answers to all queries about them.
struct Asked {
    dir: Dir,
    p: String,
    q: String,
    shapes: Vec<Shape>,
    answers: Vec<Vec<String>>,
}

/// The value of a cell in one form: SQLite and lanefish write nulls, flags and numbers differently.
fn cell(text: &str) -> String {
    match text {
        "" | "null" => "null".to_owned(),
        "true" => cell("1"),
        "false" => cell("0"),
        text => text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| format!("{number:.6}")),
    }
}

impl Asked {
    /// `None` without an SQLite to ask.
    fn new() -> Option<Self> {
        let dir = Dir::new();
        let games = fs::read_to_string(sample("lichess-2025-05.pgn")).expect("readable");
        // Clusters divide it.
        let p = dir.file("p.pgn", format!("{games}\n").repeat(3));
        let q = sample("lichess-2025-05.epd");
        let mut tables = Vec::new();
        for (name, file) in [("p", &p), ("q", &q)] {
            let table = dir.name(&format!("{name}.csv"));
            output(0, &["compute", "--columns", COLUMNS, file, "-o", &table]);
            tables.push(format!("{name}={table}"));
        }
        let shapes = shapes();
        assert!(shapes.len() >= 150, "{}", shapes.len());
        let mut questions = String::new();
        for shape in &shapes {
            writeln!(questions, "{}", serde_json::to_string(&shape.oracle).expect("a text")).expect("written");
        }
        let oracle = repository("tests/sql/oracle.py");
        let python = Command::new("python3")
            .arg(oracle)
            .args(&tables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut python) = python else {
            crate::support::skipped("python3 is missing");
            return None;
        };
        let mut input = python.stdin.take().expect("piped");
        let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
        let answered = python.wait_with_output().expect("ended");
        let written = writer.join().expect("no panic");
        let stderr = String::from_utf8_lossy(&answered.stderr);
        if stderr.contains("sqlite3") && stderr.contains("ModuleNotFoundError") || stderr.contains("no full joins") {
            crate::support::skipped(&format!("SQLite cannot be asked: {stderr}"));
            return None;
        }
        assert!(answered.status.success(), "{stderr}");
        written.expect("written");
        let answers = String::from_utf8(answered.stdout).expect("UTF-8");
        let answers: Vec<_> = answers.lines().map(rows_of_json).collect();
        assert_eq!(answers.len(), shapes.len());
        Some(Self { dir, p, q, shapes, answers })
    }

    fn text(&self, shape: &Shape) -> String {
        shape.text.replace("{p}", &format!("'{}'", self.p)).replace("{q}", &format!("'{}'", self.q))
    }

    /// Asks the queries with these numbers, and describes what is wrong with the answers.
    fn wrong(&self, numbers: impl Iterator<Item = usize>, options: &[&str]) -> Vec<String> {
        let mut wrong = Vec::new();
        for number in numbers {
            let shape = &self.shapes[number];
            let file = self.dir.name(&format!("{number}.csv"));
            let query = self.text(shape);
            let arguments = [&["sql", &query, "--force", "-o", &file][..], options].concat();
            let asked = super::lanefish(&arguments).output().expect("ended");
            if !asked.status.success() {
                wrong.push(format!("{}\n{}", shape.text, String::from_utf8_lossy(&asked.stderr)));
                continue;
            }
            let rows = rows_of_csv(&fs::read_to_string(&file).expect("readable"));
            // The outermost order counts.
            let is_ordered = shape.text.rsplit(')').next().is_some_and(|end| end.contains("order by"));
            let in_order = |rows: &[String]| {
                let mut rows = rows.to_vec();
                if !is_ordered {
                    rows.sort_unstable();
                }
                rows
            };
            let (rows, expected) = (in_order(&rows), in_order(&self.answers[number]));
            if rows != expected {
                let first = |rows: &[String]| rows[..rows.len().min(3)].join(" / ");
                wrong.push(format!(
                    "{}\n{} rows: {}\nSQLite {} rows: {}",
                    shape.text,
                    rows.len(),
                    first(&rows),
                    expected.len(),
                    first(&expected)
                ));
            }
        }
        wrong
    }
}

fn rows_of_json(line: &str) -> Vec<String> {
    let rows: Vec<Vec<serde_json::Value>> = serde_json::from_str(line).expect("JSON");
    let cells = |row: &Vec<serde_json::Value>| -> Vec<String> {
        let texts = row.iter().map(|value| match value {
            serde_json::Value::String(text) => cell(text),
            value => cell(&value.to_string()),
        });
        texts.collect()
    };
    rows.iter().map(|row| cells(row).join("|")).collect()
}

/// The rows of a CSV file, whose cells may have commas between quotes.
fn rows_of_csv(text: &str) -> Vec<String> {
    let rows = text.lines().skip(1).map(|line| {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        for character in line.chars() {
            match character {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                character => cells.last_mut().expect("one").push(character),
            }
        }
        cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join("|")
    });
    rows.collect()
}

#[test]
fn one_process_answers_as_sqlite_does() {
    let Some(asked) = Asked::new() else {
        return;
    };
    let wrong = asked.wrong(0..asked.shapes.len(), &["--threads", "3"]);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The plans of queries that do not fit into memory, which `--rejects` requests from the start.
#[test]
fn queries_that_spill_are_answered_as_sqlite_does() {
    let Some(asked) = Asked::new() else {
        return;
    };
    let rejects = asked.dir.name("rejects");
    let options = ["--threads", "3", "--memory", "16M", "--rejects", &rejects];
    let wrong = asked.wrong(0..asked.shapes.len(), &options);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Each query on a cluster of one, two or three executors.
#[cfg(feature = "cluster")]
#[test]
fn clusters_answer_as_sqlite_does() {
    let Some(asked) = Asked::new() else {
        return;
    };
    let ask = |executors: usize| {
        let cluster = Cluster::start(executors);
        let options = ["--cluster", &cluster.address];
        let share = (0..asked.shapes.len()).filter(|number| number % 3 + 1 == executors);
        let (refused, answered): (Vec<_>, Vec<_>) = share.partition(|&number| asked.shapes[number].refused.is_some());
        let wrong = asked.wrong(answered.into_iter(), &options);
        assert!(wrong.is_empty(), "{} with {executors} executors:\n{}", wrong.len(), wrong.join("\n\n"));
        for number in refused {
            let shape = &asked.shapes[number];
            let reason = shape.refused.as_deref().expect("a reason");
            let query = asked.text(shape);
            let stderr = stderr_of(2, &[&["sql", &query][..], &options].concat());
            assert!(stderr.contains(reason), "{query}: {stderr}");
        }
    };
    std::thread::scope(|scope| {
        for executors in 1..=3 {
            scope.spawn(move || ask(executors));
        }
    });
}

/// Names with one point, which the engine takes for a table of a schema, and the columns of no rows.
#[cfg(feature = "cluster")]
#[test]
fn clusters_read_names_and_columns_as_they_are() {
    let cluster = Cluster::start(1);
    let dir = Dir::new();
    dir.file("a.epd", fs::read(sample("perft.epd")).expect("readable"));
    let ask = |query: &str| {
        let mut command = super::lanefish(&["sql", query, "--cluster", &cluster.address]);
        let asked = command.current_dir(dir.path("")).output().expect("ended");
        let text = [asked.stdout, asked.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        (asked.status.code(), text[0].clone(), text[1].clone())
    };
    let (status, rows, stderr) = ask(r#"select count("a.epd".phase) as n from 'a.epd' where "a.epd".phase > 0"#);
    assert_eq!((status, rows.as_str()), (Some(0), "n\n9\n"), "{stderr}");
    for query in ["select phase, stm from 'a.epd' limit 0", "select phase, stm from 'a.epd' where false"] {
        assert_eq!(ask(query), (Some(0), "phase,stm\n".to_owned(), String::new()), "{query}");
    }
    let (status, _, stderr) = ask(r#"select "x.y".phase from 'a.epd' as "x.y""#);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("a name without a point"), "{stderr}");
    let (status, rows, stderr) = ask("select array_length(array_agg(distinct phase order by phase)) as n from 'a.epd'");
    assert_eq!(status, Some(0), "{stderr}");
    assert!(rows.starts_with("n\n"), "{rows}");
}
