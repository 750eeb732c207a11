//! Code that the commands for whole data sets share: memory, temporary files, and the final report.

use super::args::size;
use super::invocation::{Invocation, Timed};
use super::places::Destination;
use anyhow::Result;
use clap::{Args, ValueHint};
use lanefish::output::Space;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The memory that a command may use, and the directory for everything else.
#[derive(Debug, Default, Args)]
pub(crate) struct SpaceArgs {
    /// Approximate memory for sorting, grouping and exact counts; beyond it, temporary files [default: 1G; for sql 4G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,

    /// Directory for temporary files [default: that of the output, else that of the system]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    temp: Option<PathBuf>,
}

impl SpaceArgs {
    /// The limits for SQL statements.
    #[cfg(feature = "sql")]
    pub(crate) fn limits(&self) -> lanefish::sql::Limits {
        let memory = self.memory.unwrap_or(4 << 30);
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        lanefish::sql::Limits::default().memory(Some(memory)).temp(self.temp.clone())
    }

    /// The memory and directory for a command with this output.
    pub(crate) fn beside(&self, output: Option<&Path>) -> Space {
        let space = Space::default();
        let space = match self.memory {
            Some(memory) => space.memory(memory),
            None => space,
        };
        let beside = || match Destination::of(output) {
            Destination::Stdout => None,
            _ => Some(match output?.parent()? {
                parent if parent.as_os_str().is_empty() => PathBuf::from("."),
                parent => parent.to_owned(),
            }),
        };
        match self.temp.clone().or_else(beside) {
            Some(directory) => space.directory(directory),
            None => space,
        }
    }
}

/// Reports the result of a command, as JSON if requested.
pub(crate) fn conclude(
    invocation: &Invocation<'_>,
    done: Timed,
    json: bool,
    written: u64,
    own: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<u8> {
    let Timed { summary, elapsed } = done;
    if json && summary.failure.is_none() {
        let left_out = summary.left_out.iter();
        let left_out: Map<String, Value> =
            left_out.map(|(option, left_out)| ((*option).to_owned(), json!(left_out.positions))).collect();
        let mut object = Map::new();
        object.insert("records".to_owned(), json!(summary.records));
        object.insert("rejected".to_owned(), json!(summary.rejected));
        object.insert("written".to_owned(), json!(written));
        object.insert("left_out".to_owned(), Value::Object(left_out));
        object.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
        object.insert("seconds".to_owned(), json!(elapsed.as_secs_f64()));
        super::print_object(&object)?;
    }
    invocation.conclude(summary)
}
