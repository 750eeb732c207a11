//! The commands, one file each, and the code that they share.

mod arguments;
mod bench;
#[cfg(feature = "cluster")]
mod cluster;
mod completions;
mod compute;
mod convert;
mod dedup;
mod games;
mod generate;
mod info;
mod interleave;
mod man;
mod measure;
mod perft;
mod run;
mod show;
mod shuffle;
mod split;
#[cfg(feature = "sql")]
mod sql;
mod stats;
mod terminal;
mod tree;
mod verify;

use anyhow::Result;
use arguments::command_scope::{Examples, RunCommand, Scope};
use arguments::common_args::{Global, TierChoice};
use arguments::shell_quoting_and_patterns;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use lanefish_core::text::one_line;
use run::invocation::Invocation;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// Process chess positions in bulk, one board per SIMD lane.
#[derive(Debug, Parser)]
#[command(name = "lanefish", version, disable_version_flag = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,

    /// Print the version; with -v also what this CPU offers and which tier is used
    #[arg(short = 'V', long)]
    version: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

/// What a command says about itself.
struct Description {
    examples: Examples,
    examples_of_subcommands: &'static [(&'static str, Examples)],
    scope: Scope,
}

macro_rules! commands {
    ($($(#[$feature:meta])? $name:ident($arguments:ty),)*) => {
        /// The commands, one file each.
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$feature])? $name($arguments),)*
        }

        impl Command {
            fn compares_tiers(&self) -> bool {
                match self {
                    $($(#[$feature])? Self::$name(command) => command.compares_tiers(),)*
                }
            }

            fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
                match self {
                    $($(#[$feature])? Self::$name(command) => command.run(invocation),)*
                }
            }
        }

        /// What the command of this name says about itself.
        fn description(name: &str) -> Option<Description> {
            $($(#[$feature])? if stringify!($name).eq_ignore_ascii_case(name) {
                return Some(Description {
                    examples: <$arguments>::EXAMPLES,
                    examples_of_subcommands: <$arguments>::EXAMPLES_OF_SUBCOMMANDS,
                    scope: <$arguments>::SCOPE,
                });
            })*
            None
        }
    };
}

commands! {
    Stats(stats::StatsArgs),
    Compute(compute::ComputeArgs),
    Convert(convert::ConvertArgs),
    Shuffle(shuffle::ShuffleArgs),
    Dedup(dedup::DedupArgs),
    Split(split::SplitArgs),
    Interleave(interleave::InterleaveArgs),
    Games(games::GamesArgs),
    Tree(tree::TreeArgs),
    Show(show::ShowArgs),
    #[cfg(feature = "sql")] Sql(sql::SqlArgs),
    #[cfg(feature = "cluster")] Cluster(cluster::ClusterArgs),
    Perft(perft::PerftArgs),
    Bench(bench::BenchArgs),
    Generate(generate::GenerateArgs),
    Verify(verify::VerifyArgs),
    Info(info::InfoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Exit status: the run finished, but there are errors in the data.
const SOMETHING_WRONG: u8 = 1;
/// Exit status: the job could not be done. clap uses the same status for wrong usage.
const FAILED: u8 = 2;

/// The definitions of all commands and options, with their help.
fn definitions() -> clap::Command {
    arguments::help::complete(Cli::command())
}

/// Parses the arguments and runs the command.
pub(crate) fn run() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(message) = shell_quoting_and_patterns::divided_expression(&arguments) {
        return ExitCode::from(status(&anyhow::Error::msg(message)));
    }
    let mut definitions = self::definitions();
    let parsed = definitions.try_get_matches_from_mut(&arguments);
    // Patterns that the shell has left as they are.
    let parsed = match parsed
        .as_ref()
        .map(|matches| shell_quoting_and_patterns::with_files(&definitions, matches, &arguments))
    {
        Ok(Err(message)) => return ExitCode::from(status(&anyhow::Error::msg(message))),
        Ok(Ok(Some(expanded))) => {
            arguments = expanded;
            definitions.try_get_matches_from_mut(&arguments)
        }
        Ok(Ok(None)) | Err(_) => parsed,
    };
    let parsed = parsed.and_then(|matches| {
        arguments::help::check(&mut definitions, &matches)?;
        Cli::from_arg_matches(&matches)
    });
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(say(&error)),
    };
    lanefish::input::explain_truncated_maps();
    lanefish::input::clean_up_after_aborts();
    #[cfg(feature = "parquet")]
    lanefish::formats::tables::hide_caught_panics();
    ExitCode::from(dispatch(&cli).unwrap_or_else(|error| status(&error)))
}

/// Prints help, or an error in the arguments; returns the exit status.
fn say(error: &clap::Error) -> u8 {
    if error.use_stderr() {
        arguments::usage_errors::print(error);
        return FAILED;
    }
    let printed = run::output::stdout().and_then(|mut out| {
        let printed = error.print().and_then(|()| out.flush());
        printed.map_err(|source| lanefish::Error::Stdout { source })
    });
    printed.map_or_else(|error| status(&error.into()), |()| 0)
}

/// Reports why a command failed; returns the exit status.
fn status(error: &anyhow::Error) -> u8 {
    if is_closed_pipe(error) {
        return 0;
    }
    if let Some(lanefish::Error::Interrupted) = error.downcast_ref() {
        return run::interrupt::conclude();
    }
    // Nothing can be done if standard error is closed as well.
    let text = format!("{error:#}");
    let _ = writeln!(io::stderr(), "lanefish: {}", one_line::of(&text));
    if let Some(run::invocation::ErrorWithNote { note: Some(note), .. }) = error.downcast_ref() {
        let _ = writeln!(io::stderr(), "lanefish: {note}");
    }
    if let Some(wrong) = error.downcast_ref::<arguments::record_filter_args::WrongExpression>() {
        let _ = write!(io::stderr(), "{}", wrong.excerpt());
    }
    #[cfg(feature = "sql")]
    if let Some(sql::Wrong { excerpt, .. }) = error.downcast_ref() {
        let _ = write!(io::stderr(), "{excerpt}");
    }
    FAILED
}

fn dispatch(cli: &Cli) -> Result<u8> {
    run::interrupt::install()?;
    lanefish_core::cpu::check_level()?;
    let global = &cli.global;
    let compares_tiers = cli.command.as_ref().is_some_and(Command::compares_tiers);
    if let TierChoice::Only(tier) = global.tier()?
        && !compares_tiers
    {
        tier.restrict_process()?;
    }
    if cli.version {
        return info::version(global);
    }
    match &cli.command {
        None => {
            let _ = write!(io::stderr(), "{}", definitions().render_help());
            Ok(FAILED)
        }
        Some(command) => command.run(&Invocation::new(global)?),
    }
}

/// Whether the reader of standard output went away, as with `| head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<lanefish::Error>().is_some_and(lanefish::Error::is_closed_stdout)
}

/// Writes to standard output and flushes it.
fn write_stdout(bytes: &[u8]) -> Result<(), lanefish::Error> {
    let mut out = run::output::stdout()?;
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|source| lanefish::Error::Stdout { source })
}

/// Prints the whole output of a command.
fn print(bytes: &[u8]) -> Result<()> {
    Ok(write_stdout(bytes)?)
}

/// Prints a JSON object.
fn print_object(object: &Map<String, Value>) -> Result<()> {
    print(object_text(object).as_bytes())
}

/// A JSON object, each key on a line of its own and each value on one line.
fn object_text(object: &Map<String, Value>) -> String {
    let lines: Vec<String> =
        object.iter().map(|(key, value)| format!("  {}: {value}", Value::String(key.clone()))).collect();
    let lines: Vec<_> = lines.iter().map(|line| one_line::of_json(line)).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}
