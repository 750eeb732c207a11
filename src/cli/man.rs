//! `man`: manual pages, generated from the definitions of the arguments.

use super::arguments::command_scope::{Examples, RunCommand, Scope};
use super::arguments::help::{ENVIRONMENT, STATUS, examples};
use super::run::invocation::Invocation;
use anyhow::{Context, Result, bail};
use clap::{Args, Command, ValueHint};
use clap_mangen::Man;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// Print the manual page, or write the pages of all commands into a directory
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command whose page to print [default: lanefish itself]
    #[arg(value_name = "COMMAND", conflicts_with = "directory")]
    command: Option<String>,

    /// Write lanefish.1 and a page for every command into this directory
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,
}

impl RunCommand for ManArgs {
    const EXAMPLES: Examples = &[
        ("Read a page", "lanefish man compute | man -l -"),
        ("Install all of them", "lanefish man --directory ~/.local/share/man/man1"),
    ];
    const SCOPE: Scope = Scope::NOTHING;

    fn run(&self, _invocation: &Invocation<'_>) -> Result<u8> {
        let all = &super::definitions();
        // Commands that clap generates, such as `help`, have no page.
        let commands = || pages_of(all, "");
        if let Some(directory) = &self.directory {
            fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
            let own = std::iter::once((String::new(), all));
            for (name, command) in own.chain(commands()) {
                let file = match &*name {
                    "" => "lanefish.1".to_owned(),
                    name => format!("lanefish-{name}.1"),
                };
                let path = directory.join(file);
                fs::write(&path, page(&name, command)?).with_context(|| format!("cannot write {}", path.display()))?;
            }
            return Ok(0);
        }
        let (name, command) = match &self.command {
            None => ("", all),
            Some(name) => match commands().into_iter().find(|(known, _)| known == name) {
                Some((_, command)) => (&**name, command),
                None => {
                    let commands = commands();
                    let known = commands.iter().map(|(name, _)| name.as_str());
                    bail!("there is no command `{name}`{}", super::arguments::value_parsers::did_you_mean(name, known))
                }
            },
        };
        super::print(&page(name, command)?)?;
        Ok(0)
    }
}

/// The names of all pages but that of lanefish itself.
pub(super) fn names(all: &Command) -> Vec<String> {
    pages_of(all, "").into_iter().map(|(name, _)| name).collect()
}

/// The commands and subcommands that have pages: `cluster`, `cluster-scheduler`.
fn pages_of<'a>(command: &'a Command, before: &str) -> Vec<(String, &'a Command)> {
    let own = command.get_subcommands();
    own.filter(|command| command.get_name() != "help")
        .flat_map(|command| {
            let name = format!("{before}{}", command.get_name());
            let others = pages_of(command, &format!("{name}-"));
            std::iter::once((name, command)).chain(others)
        })
        .collect()
}

/// The page of a command; of lanefish itself if the name is empty.
fn page(name: &str, command: &Command) -> Result<Vec<u8>> {
    let mut command = command.clone();
    // The text below has its own sections. Options that `-h` omits would have no text.
    command = command.after_help("").after_long_help("").mut_args(|arg| arg.hide_short_help(false));
    if !name.is_empty() {
        command = command.display_name(format!("lanefish-{name}"));
    }
    let has_commands = command.get_subcommands().any(|command| command.get_name() != "help");
    command = command.mut_subcommands(|command| match command.get_name() {
        "help" => command.hide(true),
        _ => command,
    });
    let man = Man::new(command);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    let mut end = ".SH EXAMPLES\n".to_owned();
    for (what, how) in examples(name) {
        // Writing to a string cannot fail.
        let _ = write!(end, "{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n.PP\n", roff(what), roff(how));
    }
    for (title, text) in [("EXIT STATUS", STATUS), ("ENVIRONMENT", ENVIRONMENT)] {
        let _ = writeln!(end, ".SH \"{title}\"");
        // The first line is the title; the others are terms and their meanings.
        for line in text.lines().skip(1) {
            if let Some((term, meaning)) = line.trim().split_once("  ") {
                let _ = write!(end, ".TP\n{}\n{}\n", roff(term), roff(meaning.trim()));
            }
        }
    }
    page.extend_from_slice(end.as_bytes());
    if name.is_empty() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// Escapes text for roff.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}
