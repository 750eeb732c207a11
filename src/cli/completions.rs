//! `completions`: shell completions, made from the definitions of the arguments.

use super::args::Cli;
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print shell completions
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(&self) -> Result<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "lanefish", &mut script);
        super::print(&script)?;
        Ok(0)
    }
}
