//! The commands in README.md and the chapters of `docs/`, and the links of all documents.
//!
//! Blocks of code marked `console` are run: lines after `$ ` are commands (a `\` at the end continues one), the others
//! their output, if it is shown; `…` stands for any lines. Blocks of `console sql` need that feature, and those of
//! `console no_run` what not every machine has. In each document, commands run one after the other in a directory with
//! the samples of `data/` and the inputs made below.

use super::examples::{install, shell};
use super::{Dir, KIWIPETE, START, output, sample};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A command, and its output as it is shown.
struct Shown {
    command: String,
    output: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The documents of a directory.
fn documents(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|name| name == "md")).collect();
    paths.sort();
    paths
}

/// The blocks of code of a document: the words after the fence, and the lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            blocks.push((kind, lines.by_ref().take_while(|line| *line != "```").collect()));
        }
    }
    blocks
}

/// The commands of a block.
fn commands(lines: &[&str]) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    let mut continues = false;
    for line in lines {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push(Shown { command: command.to_owned(), output: Vec::new() }),
            None => {
                let last = commands.last_mut().expect("a block begins with a command");
                if continues {
                    last.command += &format!("\n{line}");
                } else {
                    last.output.push((*line).to_owned());
                }
            }
        }
        continues = line.ends_with('\\');
    }
    for shown in &mut commands {
        while shown.output.last().is_some_and(String::is_empty) {
            shown.output.pop();
        }
    }
    commands
}

/// Whether these lines are what is shown.
fn fits(lines: &[&str], shown: &[String]) -> bool {
    match shown {
        [] => lines.is_empty(),
        [any, rest @ ..] if any == "…" => (0..=lines.len()).any(|skipped| fits(&lines[skipped..], rest)),
        [first, rest @ ..] => lines.first().is_some_and(|line| line.trim_end() == first) && fits(&lines[1..], rest),
    }
}

/// The files that the documents name.
fn make_inputs(dir: &Dir) {
    fs::create_dir_all(dir.path("hub/train")).unwrap();
    fs::create_dir(dir.path("data")).unwrap();
    for entry in fs::read_dir(root().join("data")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), dir.path("data").join(entry.file_name())).unwrap();
    }
    let games = sample("lichess-2025-05.pgn");
    let packed = zstd::encode_all(&fs::read(&games).unwrap()[..], 1).unwrap();
    for name in ["twic.pgn", "own.pgn"] {
        fs::copy(&games, dir.path(name)).unwrap();
    }
    dir.file("dump.pgn.zst", &packed);
    for name in ["training.boards", "g.boards", "old.boards", "hub/train/1.parquet"] {
        output(0, &["convert", &games, "-o", &dir.name(name)]);
    }
    fs::copy(sample("sample.boards"), dir.path("new.boards")).unwrap();
    dir.file("mixed.epd", format!("{START}\nrubbish\n{KIWIPETE}\n"));
    dir.file("other.csv", format!("id,pos\n1,{START}\n2,8/5P2/8/8/8/8/8/k1K5 w - - 0 1\n"));
    let positions: ArrayRef = Arc::new(StringArray::from(vec![START, KIWIPETE]));
    let batch = RecordBatch::try_from_iter([("position", positions)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    dir.file("hub.parquet", writer.into_inner().unwrap());
}

/// Runs the blocks of this kind in all documents; how many commands there were.
fn run(kind: &str) -> usize {
    let mut count = 0;
    for path in [vec![root().join("README.md")], documents(&root().join("docs"))].concat() {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.display();
        let dir = Dir::new();
        let mut is_made = false;
        for (found, lines) in blocks(&text) {
            let has_commands = lines.iter().any(|line| line.starts_with("$ "));
            assert!(!has_commands || ["console", "console sql", "console no_run"].contains(&found), "{name}: {found}");
            if found != kind {
                continue;
            }
            if !std::mem::replace(&mut is_made, true) {
                make_inputs(&dir);
                install(&dir);
            }
            for Shown { command, output } in commands(&lines) {
                let line = command.replace("cargo run --release --", "lanefish");
                // Without `| jq`, which not every machine has.
                let line = line.split(" | jq ").next().unwrap();
                let done = shell(&format!("{{ {line}\n}} 2>&1"), dir.0.path());
                let out = String::from_utf8(done.stdout).unwrap();
                assert_eq!(done.status.code(), Some(0), "{name}: {command}\n{out}");
                let lines: Vec<&str> = out.lines().collect();
                assert!(output.is_empty() || fits(&lines, &output), "{name}: {command}\n{out}");
                count += 1;
            }
        }
    }
    count
}

#[test]
fn examples_of_the_documents_run() {
    assert!(run("console") > 25);
}

#[cfg(feature = "sql")]
#[test]
fn examples_of_sql_in_the_documents_run() {
    // A release with default features may be tried with these tests; it has no SQL.
    if std::env::var_os("LANEFISH_PROGRAM").is_none() {
        assert!(run("console sql") > 3);
    }
}

/// The place in a document that a heading makes.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|&letter| letter.is_alphanumeric() || " -_".contains(letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let folders = ["", "docs", "benches", "crates/core", "data", "fuzz", "python"];
    let mut links = 0;
    for path in folders.iter().flat_map(|folder| documents(&root().join(folder))) {
        let text = fs::read_to_string(&path).unwrap();
        for (_, rest) in text.match_indices("](").map(|(at, _)| text.split_at(at + 2)) {
            let link = &rest[..rest.find(')').expect("the end of a link")];
            if link.contains("://") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(target.exists(), "{}: {link}", path.display());
            if !place.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let mut headings = text.lines().filter_map(|line| line.strip_prefix('#'));
                let is_there = headings.any(|heading| anchor(heading.trim_start_matches('#').trim()) == place);
                assert!(is_there, "{}: {link}", path.display());
            }
            links += 1;
        }
    }
    assert!(links > 40, "{links}");
}
