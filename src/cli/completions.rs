//! `completions`: shell completions, generated from the definitions of the arguments.

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

/// Print shell completions
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the completions for a command line with these definitions.
    pub(crate) fn run(&self, mut definitions: Command) -> Result<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut definitions, "lanefish", &mut script);
        super::print(&script)?;
        Ok(0)
    }
}
