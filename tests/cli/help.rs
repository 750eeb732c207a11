//! Help, manual pages and completions: what they show, and where.

use super::{Dir, json, output, stderr_of};
use std::fs;

pub(super) const COMMANDS: &[&str] = &[
    "stats",
    "tree",
    "compute",
    "convert",
    "shuffle",
    "dedup",
    "split",
    "interleave",
    "games",
    "show",
    #[cfg(feature = "sql")]
    "sql",
    #[cfg(feature = "cluster")]
    "cluster",
    "perft",
    "bench",
    "generate",
    "verify",
    "info",
    "completions",
    "man",
];

/// The section of a help text under a heading.
fn section<'a>(help: &'a str, heading: &str) -> &'a str {
    let start = format!("\n{heading}:\n");
    let Some(at) = help.find(&start) else {
        return "";
    };
    let rest = &help[at + start.len()..];
    let end = rest.find("\n\n").unwrap_or(rest.len());
    &rest[..end]
}

#[test]
fn short_help_fits_a_screen_and_refers_to_the_long_one() {
    for command in COMMANDS {
        let short = output(0, &[command, "-h"]);
        assert!(short.lines().count() <= 48, "{command}: {short}");
        assert!(!short.contains("--min-elo") && !short.contains("--max-window"), "{short}");
        let long = output(0, &[command, "--help"]);
        assert!(long.contains("\nExamples:\n") && long.contains(&format!("$ lanefish {command}")), "{long}");
        assert!(long.contains("Exit status:"), "{long}");
    }
    assert!(output(0, &["stats", "-h"]).contains("--help has"));
    // A line for each command.
    assert!(output(0, &["-h"]).lines().count() <= 48);
}

#[test]
fn options_are_listed_under_the_right_headings() {
    for command in ["stats", "compute", "convert", "games", "show", "verify"] {
        let long = output(0, &[command, "--help"]);
        let games = &long[long.find("Games:").unwrap()..long.find("Choosing:").unwrap()];
        for option in ["--columns", "--json", "--output", "--maps", "--index", "--from", "--to "] {
            assert!(!games.contains(option), "{command}: {games}");
        }
        assert!(games.contains("--min-elo") && games.contains("--until"));
        assert!(long.contains("pgn") && long.contains("boards"));
    }
    let short = output(0, &["compute", "-h"]);
    assert!(section(&short, "Options").contains("--columns"), "{short}");
    assert!(section(&short, "Output").contains("--level"), "{short}");
    assert!(section(&short, "Reading").contains("--from"), "{short}");
    let long = output(0, &["compute", "--help"]);
    assert!(long.contains("mobility_white") && long.contains("time_control"), "{long}");
}

#[test]
fn options_without_effect_are_not_shown() {
    for (command, options) in [
        ("generate", &["--skip", "--limit", "--rejects", "--validity", "--no-mmap"][..]),
        ("completions", &["--skip", "--rejects", "--tier", "--threads"]),
        ("man", &["--limit", "--max-record", "--strict-pgn"]),
    ] {
        let long = output(0, &[command, "--help"]);
        for option in options {
            assert!(!long.contains(option), "{command}: {option}");
        }
    }
    // Options that select records are rejected; those that make no difference are accepted.
    for (option, value) in [("--skip", "1"), ("--limit", "1"), ("--rejects", "x")] {
        for arguments in [["generate", option, value], [option, value, "generate"]] {
            let stderr = stderr_of(2, &arguments);
            assert!(stderr.contains(option) && stderr.contains("does not take"), "{stderr}");
        }
    }
    // The same where nothing is named to read records from.
    for arguments in [&["perft", "--skip", "1", "2"][..], &["bench", "--limit", "1"], &["info", "--rejects", "x"]] {
        let stderr = stderr_of(2, arguments);
        assert!(stderr.contains("reads no records without"), "{stderr}");
    }
    output(0, &["generate", "-n", "1", "--progress", "never", "--tier", "portable"]);
}

#[test]
fn manual_pages_have_all_sections_and_no_page_for_help() {
    let dir = Dir::new();
    output(0, &["man", "--directory", &dir.name("pages")]);
    let mut names: Vec<String> = fs::read_dir(dir.path("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut expected: Vec<String> = COMMANDS.iter().map(|name| format!("lanefish-{name}.1")).collect();
    expected.push("lanefish.1".to_owned());
    if cfg!(feature = "cluster") {
        let roles = ["cluster-executor", "cluster-scheduler", "cluster-status"];
        expected.extend(roles.map(|role| format!("lanefish-{role}.1")));
    }
    expected.sort();
    assert_eq!(names, expected);
    for name in &names {
        let page = fs::read_to_string(dir.path("pages").join(name)).unwrap();
        for section in [".SH EXAMPLES", ".SH \"EXIT STATUS\"", ".SH \"ENVIRONMENT\""] {
            assert!(page.contains(section), "{name}: {section}");
        }
        assert!(page.contains("LANEFISH_TIER") && page.contains("\nlanefish"), "{name}");
    }
    let page = output(0, &["man", "compute"]);
    assert!(page.contains(".TH lanefish-compute 1"), "{page}");
    let stderr = stderr_of(2, &["man", "comptue"]);
    assert!(stderr.contains("did you mean `compute`?"), "{stderr}");
}

/// What `-h` omits has text all the same.
#[test]
fn every_option_has_text_in_its_page() {
    let mut pages: Vec<Vec<&str>> = COMMANDS.iter().map(|&command| vec![command]).collect();
    pages.push(Vec::new());
    if cfg!(feature = "cluster") {
        pages.extend(["scheduler", "executor", "status"].map(|role| vec!["cluster", role]));
    }
    for command in pages {
        let name = command.join("-");
        let page = if name.is_empty() { output(0, &["man"]) } else { output(0, &["man", &name]) };
        let lines: Vec<&str> = page.lines().collect();
        let mut described = Vec::new();
        for pair in lines.windows(3).filter(|lines| lines[0] == ".TP") {
            assert!(!pair[2].is_empty() && !pair[2].starts_with('.'), "{command:?}: nothing about {}", pair[1]);
            let term = pair[1].replace("\\fB", "").replace("\\fR", "");
            described.push(term.replace("\\fI", "").replace("\\-", "-"));
        }
        let help = output(0, &[&command[..], &["--help"]].concat());
        let terms = help.lines().filter_map(|line| {
            let line = line.trim_start().strip_prefix("--").or_else(|| {
                let (short, rest) = line.trim_start().split_once(", --")?;
                (short.len() == 2 && short.starts_with('-')).then_some(rest)
            })?;
            line.split([' ', '.', '[', '=']).next()
        });
        let mut count = 0;
        // Not examples and prose.
        for option in terms.filter(|option| !option.is_empty()) {
            let is_described = described.iter().any(|term| {
                let mut words = term.split([' ', ',', '=', '[', '.']);
                words.any(|word| word.strip_prefix("--") == Some(option))
            });
            assert!(is_described, "{command:?}: --{option} of {described:#?}");
            count += 1;
        }
        assert!(count > 0, "{help}");
    }
}

#[test]
fn completions_know_formats_and_columns() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = output(0, &["completions", shell]);
        if matches!(shell, "bash" | "zsh" | "fish") {
            assert!(script.contains("mobility_white"), "{shell}");
            assert!(script.contains("puzzles") && script.contains("boards"), "{shell}");
        }
    }
}

#[test]
fn columns_as_json() {
    let columns = json(0, &["compute", "--list-columns", "--json"]);
    let columns = columns.as_array().unwrap();
    let fen = columns.iter().find(|column| column["name"] == "fen").unwrap();
    assert_eq!((&fen["type"], &fen["default"]), (&"text".into(), &true.into()));
    let listed = output(0, &["compute", "--list-columns"]);
    for column in columns {
        assert!(listed.contains(column["name"].as_str().unwrap()));
        assert!(!column["meaning"].as_str().unwrap().is_empty());
    }
    stderr_of(2, &["compute", "--json", "x"]);
}
