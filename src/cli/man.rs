//! `man`: manual pages, made from the definitions of the arguments.

use super::args::Cli;
use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use std::path::PathBuf;

/// Print the manual page, or write the pages of all commands into a directory
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command whose page to print [default: lanefish itself]
    #[arg(value_name = "COMMAND", conflicts_with = "directory")]
    command: Option<String>,

    /// Write lanefish.1 and a page for every command into this directory
    #[arg(short, long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(&self) -> Result<u8> {
        let mut all = Cli::command();
        all.build();
        if let Some(directory) = &self.directory {
            std::fs::create_dir_all(directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
            clap_mangen::generate_to(all, directory)
                .with_context(|| format!("cannot write to {}", directory.display()))?;
            return Ok(0);
        }
        let command = match &self.command {
            None => all,
            Some(name) => all
                .find_subcommand(name)
                .with_context(|| format!("there is no command `{name}`"))?
                .clone(),
        };
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        super::print(&page)?;
        Ok(0)
    }
}
