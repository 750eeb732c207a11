//! A second file beside the inputs: `--zip`.

use super::command_scope::READING;
use clap::{Args, ValueHint};
use lanefish::pipeline::BESIDE;
use std::path::PathBuf;

/// The option of commands that can read a second file.
#[derive(Debug, Default, Args)]
pub(crate) struct SecondFileArgs {
    /// A file beside the inputs, with one record for each of theirs: its columns are zip:NAME
    ///
    /// For example the scores of another engine, in any format, or a table without positions. In expressions the names stand
    /// in double quotes: --set "score = coalesce(\"zip:score\", score)". Positions of the file must be those of the
    /// inputs, but for the halfmove clock and the move number.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = READING, hide_short_help = true)]
    pub(crate) zip: Option<PathBuf>,
}

/// Adds the names of columns of the second file in an expression, where they stand in double quotes.
pub(crate) fn push_names_in(expression: &str, names: &mut Vec<String>) {
    let mut rest = expression;
    while let Some(start) = rest.find(['\'', '"']) {
        let quote = &rest[start..=start];
        let Some(len) = rest[start + 1..].find(quote) else { return };
        let quoted = &rest[start + 1..start + 1 + len];
        if quote == "\"" {
            push_name(quoted, names);
        }
        rest = &rest[start + 2 + len..];
    }
}

/// Adds the names in a list of columns.
pub(crate) fn push_names_of(columns: &str, names: &mut Vec<String>) {
    columns.split(',').map(str::trim).for_each(|name| push_name(name, names));
}

fn push_name(name: &str, names: &mut Vec<String>) {
    if let Some(name) = name.strip_prefix(BESIDE).filter(|name| !name.is_empty())
        && !names.iter().any(|known| known == name)
    {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_double_quotes() {
        let mut names = Vec::new();
        push_names_in("abs(\"zip:score\" - score) > 3 and white = 'it''s \"zip:no\"' or \"zip:a b\" > 1", &mut names);
        push_names_of("fen, zip:score,zip:depth,zip:", &mut names);
        push_names_in("\"zip:open", &mut names);
        assert_eq!(names, ["score", "a b", "depth"]);
    }
}
