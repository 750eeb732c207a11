//! Where the numbers of a report come from: the command, the inputs, the time.

use super::{CountedReport, StatsArgs};
use crate::cli::run::manifest;
use lanefish::choose::FilterCount;
use lanefish::games::Date;
use lanefish::report::{Origin, html};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

impl StatsArgs {
    /// The origin of a report.
    pub(super) fn about(&self, made: &CountedReport, paths: &[PathBuf]) -> html::About {
        let inputs: Vec<html::Input> = paths.iter().map(|path| about_input(path)).collect();
        let title = match inputs.as_slice() {
            [] => "Standard input".to_owned(),
            [one] => {
                let name = Path::new(&one.name).file_name();
                name.map_or(one.name.clone(), |name| name.to_string_lossy().into_owned())
            }
            several => format!("{} inputs", several.len()),
        };
        let mut about = html::About::new(title);
        about.origin = self.origin(paths);
        about.inputs = inputs;
        about.games = Some(made.games).filter(|&games| games > 0);
        about.run = made.page_run.clone().filter(|_| self.dated);
        about.command = made.run.get("command").and_then(Value::as_str).map(str::to_owned);
        let left_out = left_out(&made.run);
        let mut left_out: Vec<_> = left_out.iter().collect();
        left_out.sort_by_key(|(option, _)| FilterCount::place(option));
        about.left_out = left_out.into_iter().map(|(option, left)| left.sentence(option)).collect();
        about
    }
}

impl StatsArgs {
    /// What remarks on these inputs say of their origin.
    pub(super) fn origin(&self, inputs: &[PathBuf]) -> Origin {
        /// The longest list of inputs in a proposed command.
        const LONGEST: usize = 160;
        let names: Vec<String> = inputs.iter().map(|path| quoted(&path.display().to_string())).collect();
        // Reports and standard input cannot be read again.
        let can_be_read = !self.merge && !inputs.is_empty() && inputs.iter().all(|path| path.as_os_str() != "-");
        let names = Some(names.join(" ")).filter(|names| can_be_read && names.len() <= LONGEST);
        Origin::default().inputs(names).every(self.read.reading.games.every())
    }
}

/// The name of an input, the size of a file, and its hash if a manifest has it.
fn about_input(path: &Path) -> html::Input {
    if path.as_os_str() == "-" {
        return html::Input::new("standard input");
    }
    let mut input = html::Input::new(path.display().to_string());
    input.bytes = fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len());
    input.hash = input.bytes.and_then(|bytes| manifest::recorded_hash(path, bytes));
    input
}

/// The time now, such as `2026-08-01 12:30 UTC`.
pub(super) fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let date = Date::of_days((seconds / 86_400) as i32);
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    date.map_or(String::new(), |date| format!("{}, {hours:02}:{minutes:02} UTC", date.to_string().replace('.', "-")))
}

/// The numbers of records left out by each option, from the `run` key of a report.
pub(super) fn left_out(run: &Map<String, Value>) -> BTreeMap<String, FilterCount> {
    let options = run.get("left_out").and_then(Value::as_object).into_iter().flatten();
    let left_out = options.map(|(option, left)| {
        let number = |key: &str| left.get(key).and_then(Value::as_u64).unwrap_or(0);
        let left = FilterCount::new(number("games"), number("positions"), number("unknown"));
        (option.clone(), left)
    });
    left_out.collect()
}

/// A word of a command, quoted for a shell where necessary.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:=+%@".contains(&byte);
    match text {
        "" => "''".to_owned(),
        _ if text.bytes().all(is_plain) => text.to_owned(),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// The command as it was typed, quoted for a shell where necessary.
pub(super) fn command_line() -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| quoted(&argument.to_string_lossy()));
    let words: Vec<String> = std::iter::once("lanefish".to_owned()).chain(arguments).collect();
    words.join(" ")
}
