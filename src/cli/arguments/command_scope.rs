//! What a command says about itself, in its own file: examples, and which of the options of all commands it does not use.

use crate::cli::run::invocation::Invocation;
use anyhow::Result;

/// Headings in the list of options. Options of a single command are under `Options`.
pub(crate) const OUTPUT: &str = "Output";
pub(crate) const READING: &str = "Reading";
pub(crate) const CHOOSING: &str = "Choosing";
pub(crate) const GAMES: &str = "Games";

/// Examples: what each does, and the command line.
pub(crate) type Examples = &'static [(&'static str, &'static str)];

/// A command: its arguments implement this.
pub(crate) trait RunCommand {
    const EXAMPLES: Examples;
    /// The examples of its subcommands, by their names.
    const EXAMPLES_OF_SUBCOMMANDS: &'static [(&'static str, Examples)] = &[];
    const SCOPE: Scope = Scope::READS;

    /// Whether it runs all tiers, not only the one in use.
    fn compares_tiers(&self) -> bool {
        false
    }

    /// Does the work; returns the exit status.
    fn run(&self, invocation: &Invocation<'_>) -> Result<u8>;
}

/// Whether a command reads records.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads {
    Always,
    Nothing,
    /// Only with this argument, given by its identifier and as people call it.
    With(&'static str, &'static str),
    /// Only without any of these arguments, given likewise.
    Without(&'static [(&'static str, &'static str)]),
}

/// Which of the options that many commands have a command uses. Those that it does not use are not shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) reads: Reads,
    /// It writes records, whose values can be changed.
    pub(crate) writes_records: bool,
    /// It takes whole games, so that options that choose among their positions are errors.
    pub(crate) takes_whole_games: bool,
    /// Other options that are errors, because they would choose or reject records.
    pub(crate) refuses: &'static [&'static str],
    /// Why these are errors.
    pub(crate) reason: &'static str,
    /// Options that are errors without another one, which is given by its identifier and as people call it.
    pub(crate) refuses_without: Option<(&'static [&'static str], &'static str, &'static str)>,
    /// Options that have no effect.
    pub(crate) ignores: &'static [&'static str],
    /// None of the options of all commands has an effect, but for those that say how much is printed.
    pub(crate) ignores_global: bool,
}

impl Scope {
    /// A command that reads records.
    pub(crate) const READS: Self = Self {
        reads: Reads::Always,
        writes_records: false,
        takes_whole_games: false,
        refuses: &[],
        reason: READS_NOTHING,
        refuses_without: None,
        ignores: &["color"],
        ignores_global: false,
    };
    /// A command that reads and writes records.
    pub(crate) const WRITES_RECORDS: Self = Self { writes_records: true, ..Self::READS };
    /// A command that has to do neither with records nor with the CPU.
    pub(crate) const NOTHING: Self = Self { reads: Reads::Nothing, ignores_global: true, ..Self::READS };
}

pub(crate) const READS_NOTHING: &str = "it reads no records";
