//! Arguments that the shell has taken apart, or left as they were: conditions and lists with blanks, patterns of file
//! names.

use clap::{ArgAction, ArgMatches, Command, ValueHint};
use lanefish::formats::Format;
use lanefish::table::ChosenColumn;
use std::collections::HashMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Options whose value is an expression, which mostly has blanks.
const EXPRESSIONS: [&str; 6] = ["--where", "--having", "--then", "--next", "--let", "--set"];

/// Signs of the language, the longer ones first.
const SIGNS: [&str; 8] = ["<=", ">=", "<>", "!=", "==", "=", "<", ">"];

/// Words that stand between two values.
const BETWEEN: [&str; 9] = ["and", "or", "in", "is", "like", "ilike", "between", "+", "/"];

/// The error for an expression that the shell has divided at its blanks, because quotes around all of it are missing.
pub(in crate::cli) fn divided_expression(arguments: &[OsString]) -> Option<String> {
    let texts: Vec<&str> = arguments.iter().map(|argument| argument.to_str().unwrap_or_default()).collect();
    for (at, text) in texts.iter().enumerate() {
        let (option, value) = text.split_once('=').unwrap_or((text, ""));
        if !EXPRESSIONS.contains(&option) {
            continue;
        }
        let (first, rest) = match text.contains('=') {
            true => (value, &texts[at + 1..]),
            false => (*texts.get(at + 1)?, &texts[at + 2..]),
        };
        let Some(next) = rest.first() else { continue };
        let sign = |text: &str| SIGNS.into_iter().find(|sign| text.starts_with(sign));
        let is_between = |text: &str| BETWEEN.contains(&text.to_ascii_lowercase().as_str()) || sign(text).is_some();
        let is_open = SIGNS.iter().any(|sign| first.ends_with(sign)) && !next.starts_with("--");
        // A slash is a directory, too.
        let is_input = |text: &str| !BETWEEN.contains(&text) && Path::new(text).exists();
        if first.contains(' ') || is_input(next) || !is_open && !is_between(next) {
            continue;
        }
        let mut tokens = parts_of(first);
        for (place, text) in rest.iter().enumerate() {
            let is_expected = tokens.last().is_some_and(|last| is_between(last));
            let is_option = text.starts_with('-') && text.parse::<f64>().is_err();
            let is_input = is_input(text) || Format::of_name(Path::new(text)).is_some();
            if place > 0 && (is_option || !is_expected && (is_input || !is_between(text))) {
                break;
            }
            tokens.extend(parts_of(text));
        }
        let expression = with_quotes(&tokens);
        return Some(format!(
            "{option}: the shell divides an expression at its blanks; put double quotes around all of it: {option} \
             \"{expression}\""
        ));
    }
    None
}

/// A text, and the signs at its ends.
fn parts_of(text: &str) -> Vec<String> {
    let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign)).unwrap_or("");
    let rest = &text[sign.len()..];
    let end = SIGNS.into_iter().find(|sign| rest.ends_with(sign)).unwrap_or("");
    let parts = [sign, &rest[..rest.len() - end.len()], end];
    parts.into_iter().filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// An expression of these parts, with the quotes around texts that the shell has taken.
fn with_quotes(parts: &[String]) -> String {
    let mut after_comparison = false;
    let quoted = parts.iter().map(|part| {
        let lower = part.to_ascii_lowercase();
        let is_value = part.parse::<f64>().is_ok()
            || part.starts_with(['\'', '(', '-'])
            || ["not", "null", "true", "false"].contains(&lower.as_str())
            || ChosenColumn::named(&lower).is_some();
        let is_text = after_comparison && !is_value;
        after_comparison = SIGNS.contains(&&**part) || ["like", "ilike"].contains(&lower.as_str());
        if is_text { format!("'{}'", part.replace('\'', "''")) } else { part.clone() }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// The error for a list that a blank after a comma has cut off.
pub(in crate::cli) fn divided_list(option: &str, value: &str) -> Option<String> {
    let is_cut = value.contains(',') && value.split(',').any(|name| name.trim().is_empty());
    if !is_cut {
        return None;
    }
    let arguments: Vec<String> = env::args_os().filter_map(|argument| argument.into_string().ok()).collect();
    let joined = format!("{option}={value}");
    let rest = arguments.windows(2).position(|pair| pair[0] == option && pair[1] == value).map(|at| at + 2);
    let rest = rest.or_else(|| arguments.iter().position(|argument| *argument == joined).map(|at| at + 1));
    let mut list = value.to_owned();
    for next in &arguments[rest.unwrap_or(arguments.len())..] {
        if !list.trim_end().ends_with(',') || next.starts_with('-') {
            break;
        }
        list.push_str(next);
    }
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let names = names.join(",");
    Some(if list == value {
        format!("{option}: a name is missing beside a comma of `{value}`; write {option} {names}")
    } else {
        format!(
            "{option}: a blank ends the list, so that only `{value}` is part of it; write it without blanks: {option} \
             {names}"
        )
    })
}

/// The arguments with the files that match patterns in place of these, where the shell has left patterns among the inputs;
/// `None` if there are none. A file of exactly this name is no pattern.
///
/// # Errors
/// If a pattern matches no file.
pub(in crate::cli) fn with_files(
    definitions: &Command,
    matches: &ArgMatches,
    arguments: &[OsString],
) -> Result<Option<Vec<OsString>>, String> {
    let Some((command, own)) =
        matches.subcommand().and_then(|(name, own)| Some((definitions.find_subcommand(name)?, own)))
    else {
        return Ok(None);
    };
    let takes_inputs = |argument: &&clap::Arg| {
        argument.get_value_hint() == ValueHint::AnyPath && matches!(argument.get_action(), ArgAction::Append)
    };
    let mut files: HashMap<&OsStr, Vec<PathBuf>> = HashMap::new();
    for argument in command.get_arguments().filter(takes_inputs) {
        for name in own.get_raw(argument.get_id().as_str()).into_iter().flatten() {
            if let Some(found) = files_like(name)? {
                files.insert(name, found);
            }
        }
    }
    if files.is_empty() {
        return Ok(None);
    }
    let expanded = arguments.iter().flat_map(|argument| match files.get(&**argument) {
        Some(files) => files.iter().map(|file| file.clone().into_os_string()).collect(),
        None => vec![argument.clone()],
    });
    Ok(Some(expanded.collect()))
}

/// The files that match a pattern, in the order of their names; `None` for a name that is no pattern.
fn files_like(name: &OsStr) -> Result<Option<Vec<PathBuf>>, String> {
    let Some(pattern) = name.to_str().filter(|name| name.contains(['*', '?', '['])) else { return Ok(None) };
    if Path::new(name).symlink_metadata().is_ok() {
        return Ok(None);
    }
    // As in shells, hidden files are named with their dot.
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::default() };
    let Ok(found) = glob::glob_with(pattern, options) else { return Ok(None) };
    let mut found: Vec<PathBuf> = found.flatten().collect();
    found.sort();
    // A name must not become an option.
    let files = found.into_iter().map(|file| match file.as_os_str().as_encoded_bytes() {
        [b'-', ..] => Path::new(".").join(file),
        _ => file,
    });
    let files: Vec<PathBuf> = files.collect();
    if files.is_empty() { Err(format!("no file matches the pattern {pattern}")) } else { Ok(Some(files)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided_expressions_are_put_together() {
        let said = |line: &str| {
            let arguments: Vec<OsString> = line.split('|').map(OsString::from).collect();
            divided_expression(&arguments).map(|text| text.split_once("of it: ").unwrap().1.to_owned())
        };
        for (line, expected) in [
            ("stats|--where|opening|=|x|a.pgn", "--where \"opening = 'x'\""),
            ("stats|a.pgn|--where|opening|=|Sicilian Defense", "--where \"opening = 'Sicilian Defense'\""),
            ("stats|a.pgn|--where|opening|='x'", "--where \"opening = 'x'\""),
            ("stats|a.pgn|--where|opening=|x", "--where \"opening = 'x'\""),
            ("stats|--where|ply|>=|20|and|stm|=|w|a.pgn", "--where \"ply >= 20 and stm = 'w'\""),
            ("stats|--where=score|<|-300|--by|san", "--where \"score < -300\""),
            ("stats|--where|in_check|and|checkmate|a.pgn", "--where \"in_check and checkmate\""),
            ("games|--having|san|like|N%#|-o|x.pgn", "--having \"san like 'N%#'\""),
            ("compute|--let|m|=|ply|/|64|a.pgn", "--let \"m = ply / 64\""),
        ] {
            assert_eq!(said(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "stats|--where|ply > 3|a.pgn",
            "stats|--where|in_check|a.pgn",
            "stats|--where|ply=3|a.pgn",
            "stats|--where",
            "stats|--where=in_check|a.pgn",
            "compute|--let|m=ply|--columns|m",
            "stats|a.pgn",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
