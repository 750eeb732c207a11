//! Where the numbers of a report come from: the command, the inputs, the time.

use super::{CountedReport, StatsArgs};
use crate::cli::run::manifest;
use lanefish::choose::FilterCount;
use lanefish::games::Date;
use lanefish::report::html;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

impl StatsArgs {
    /// The origin of a report.
    pub(super) fn about(&self, made: &CountedReport, inputs: &[PathBuf]) -> html::About {
        let inputs: Vec<html::Input> = inputs.iter().map(|path| about_input(path)).collect();
        let title = match inputs.as_slice() {
            [] => "Standard input".to_owned(),
            [one] => {
                let name = Path::new(&one.name).file_name();
                name.map_or(one.name.clone(), |name| name.to_string_lossy().into_owned())
            }
            several => format!("{} inputs", several.len()),
        };
        let mut about = html::About::new(title);
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

/// The command as it was typed, quoted for a shell where necessary.
pub(super) fn command_line() -> String {
    let is_plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./,:=+%@".contains(&byte))
    };
    let quoted = std::env::args_os().skip(1).map(|argument| {
        let text = argument.to_string_lossy();
        if is_plain(&text) { text.into_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
    });
    let words: Vec<String> = std::iter::once("lanefish".to_owned()).chain(quoted).collect();
    words.join(" ")
}
