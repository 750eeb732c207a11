//! `completions`: shell completions, generated from the definitions of the arguments.

use super::help;
use anyhow::Result;
use clap::Args;
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
        clap_complete::generate(self.shell, &mut help::command(), "lanefish", &mut script);
        super::print(&script)?;
        Ok(0)
    }
}
