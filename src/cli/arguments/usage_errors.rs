//! Errors in the arguments, as people read them.
//!
//! The library that parses arguments words some errors for programmers (`invalid digit found in string`), begins them
//! unlike all others, and knows only the names of commands. Here they get the words of the rest.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::env;
use std::io::{self, IsTerminal, Write};

/// What does the work of commands that other tools have.
const ELSEWHERE: [(&[&str], &str); 12] = [
    (
        &["filter", "find", "search", "grep", "where", "select"],
        "`convert`, `compute`, `stats` and `games` choose records with --where, such as `lanefish convert a.pgn --where \
         \"in_check\" -o b.boards`",
    ),
    (
        &["head", "tail", "first", "take"],
        "commands read a part with --skip and --limit, such as `lanefish compute a.epd --limit 10`",
    ),
    (&["count", "wc", "len", "size"], "`lanefish stats` counts positions, with --where those that obey a condition"),
    (
        &["sample"],
        "commands read a random sample with --sample, such as `lanefish convert a.pgn --sample 1000 -o b.epd`",
    ),
    (
        &["cat", "concat", "merge", "join", "append"],
        "`lanefish convert` takes several inputs; `stats --merge` merges reports",
    ),
    (&["view", "print", "board", "draw", "display"], "`lanefish show` draws boards"),
    (&["validate", "check", "lint", "test"], "`lanefish verify` checks files"),
    (&["uniq", "unique", "distinct", "deduplicate"], "`lanefish dedup` removes duplicates, and `stats` counts them"),
    (
        &["export", "csv", "parquet", "columns"],
        "`lanefish compute` writes columns, such as `lanefish compute a.pgn -o b.parquet`",
    ),
    (&["analyze", "analyse", "report", "summary", "statistics", "stat"], "`lanefish stats` makes reports"),
    (&["random", "gen"], "`lanefish generate` plays random games"),
    (&["query"], "`lanefish sql` answers queries, in builds with the feature `sql`"),
];

/// Texts of the standard library about numbers, and what is expected.
const NUMBERS: [(&str, &str); 7] = [
    ("invalid digit found in string", "expected a whole number"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("invalid float literal", "expected a number"),
    ("cannot parse float from empty string", "expected a number"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("number would be zero for non-zero type", "expected a number from 1 on"),
];

/// Prints an error in the arguments to standard error.
pub(in crate::cli) fn print(error: &clap::Error) {
    let rendered = error.render();
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let in_color = io::stderr().is_terminal() && !refused;
    let text = if in_color { rendered.ansi().to_string() } else { rendered.to_string() };
    // Nothing can be done if standard error is closed.
    let _ = io::stderr().write_all(reworded(&text, hint(error)).as_bytes());
}

/// The text with the words of this program, and a hint after its first paragraph.
fn reworded(text: &str, hint: Option<&str>) -> String {
    let mut text = text.replacen("error:", "lanefish:", 1);
    for (theirs, ours) in NUMBERS {
        text = text.replace(theirs, ours);
    }
    match (hint, text.split_once("\n\n")) {
        (Some(hint), Some((first, rest))) => {
            // A similar name is a worse guess than the command that does the work.
            let rest = if rest.trim_start().starts_with("tip:") {
                rest.split_once("\n\n").map_or("", |(_, rest)| rest)
            } else {
                rest
            };
            format!("{first}\n\n  tip: {hint}\n\n{rest}")
        }
        _ => text,
    }
}

/// The command that does what a missing one was to do.
fn hint(error: &clap::Error) -> Option<&'static str> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    if let Some(hint) = of_feature(name) {
        return Some(hint);
    }
    let found = ELSEWHERE.iter().find(|(names, _)| names.contains(&name.to_lowercase().as_str()));
    found.map(|&(_, hint)| hint)
}

/// How to build a lanefish that has this command, if the command needs a feature that this build does not have.
fn of_feature(name: &str) -> Option<&'static str> {
    match name {
        "sql" if !cfg!(feature = "sql") => Some(
            "this lanefish was built without SQL. In a clone, this builds one with it:\n\n    \
             cargo build --release --features sql\n\n  Elsewhere: cargo install lanefish --features sql",
        ),
        "cluster" if !cfg!(feature = "cluster") => Some(
            "this lanefish was built without the cluster. In a clone, this builds one with it:\n\n    \
             cargo build --release --features cluster\n\n  Elsewhere: cargo install lanefish --features cluster",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_reworded() {
        let text = "error: invalid value 'x' for '--threads <N>': invalid digit found in string\n\nFor more";
        let expected = "lanefish: invalid value 'x' for '--threads <N>': expected a whole number\n\nFor more";
        assert_eq!(reworded(text, None), expected);
        let text =
            "error: unrecognized subcommand 'count'\n\n  tip: some similar subcommands exist: 'compute'\n\nUsage";
        assert_eq!(
            reworded(text, Some("use stats")),
            "lanefish: unrecognized subcommand 'count'\n\n  tip: use stats\n\nUsage"
        );
    }

    #[test]
    fn missing_features_are_named_with_the_commands_that_build_them() {
        for (name, is_built) in [("sql", cfg!(feature = "sql")), ("cluster", cfg!(feature = "cluster"))] {
            let hint = of_feature(name);
            assert_eq!(hint.is_none(), is_built, "{name}");
            for command in ["cargo build --release --features", "cargo install lanefish --features"] {
                assert!(hint.is_none_or(|hint| hint.contains(&format!("{command} {name}"))), "{hint:?}");
            }
        }
    }

    /// A hint is for a name that no command has, and says only what exists.
    #[test]
    fn hints_name_commands() {
        let commands = crate::cli::definitions();
        let names: Vec<&str> = commands.get_subcommands().map(clap::Command::get_name).collect();
        for (wrong, hint) in ELSEWHERE {
            assert!(wrong.iter().all(|name| !names.contains(name)), "{wrong:?}");
            let named = hint.split('`').skip(1).step_by(2);
            for named in named.filter(|named| !named.starts_with("sql") && !named.starts_with("lanefish sql")) {
                let name = named.trim_start_matches("lanefish ").split(' ').next().unwrap();
                assert!(names.contains(&name) || name.starts_with("feature"), "{named}");
            }
        }
    }
}
