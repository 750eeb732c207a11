//! The options of commands that may need more memory than there is: memory, and a directory for temporary files.

use super::number_args::size;
use crate::cli::run::file_identity::Destination;
use clap::{Args, ValueHint};
use lanefish::output::ScratchSpace;
use std::path::{Path, PathBuf};

/// The memory that a command may use, and the directory for everything else.
#[derive(Debug, Default, Args)]
pub(crate) struct SpaceArgs {
    /// Approximate memory for sorting, grouping and exact counts; what needs more uses files [default: 1G; for sql 4G]
    #[arg(long, value_name = "SIZE", value_parser = size, hide_short_help = true)]
    memory: Option<u64>,

    /// Directory for temporary files [default: that of the output, else that of the system]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
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
    pub(crate) fn beside(&self, output: Option<&Path>) -> ScratchSpace {
        let space = ScratchSpace::default();
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
