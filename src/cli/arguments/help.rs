//! What follows the list of options in help: formats, examples, exit status; and options that a command does not use,
//! which are not shown or are errors.

use super::command_scope::{Examples, READS_NOTHING, Reads, Scope};
use super::common_args::{InputLimits, RecordChecks};
use super::game_filter_args::GameFilterArgs;
use super::record_filter_args::RecordFilterArgs;
use super::value_parsers::column_names;
use crate::cli::description;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use lanefish::choose::{GameOption, GameOptionStage};
use lanefish::formats::Format;
use lanefish::jobs::{Content, OutputFormat};
use lanefish::table::FAMILIES;
use std::fmt::Write;
use std::sync::LazyLock;

/// The identifiers of some arguments.
fn ids<T: Args>() -> Vec<String> {
    let command = T::augment_args(Command::new(""));
    command.get_arguments().map(|arg| arg.get_id().to_string()).collect()
}

/// Whether an option is about the records that are read, or about how they are read.
fn is_of_reading(id: &str) -> bool {
    static IDS: LazyLock<Vec<String>> = LazyLock::new(|| [ids::<RecordChecks>(), ids::<InputLimits>()].concat());
    IDS.iter().any(|other| other == id)
}

/// Whether an option chooses among games or records.
fn is_of_choice(id: &str) -> bool {
    static IDS: LazyLock<Vec<String>> = LazyLock::new(|| [ids::<GameFilterArgs>(), ids::<RecordFilterArgs>()].concat());
    IDS.iter().any(|other| other == id)
}

/// Whether an option chooses among the positions of games, not among games.
fn is_of_positions(id: &str) -> bool {
    GameOption::named(id).is_some_and(|option| option.stage == GameOptionStage::Positions)
}

/// Whether a command does not use an option.
fn is_useless(scope: &Scope, arg: &Arg) -> bool {
    let id = arg.get_id().as_str();
    scope.ignores.contains(&id)
        || scope.refuses.contains(&id)
        || !scope.writes_records && id == SET
        || scope.ignores_global && arg.is_global_set() && !matches!(id, "quiet" | "verbose")
        || matches!(scope.reads, Reads::Nothing) && is_of_reading(id)
        || scope.takes_whole_games && is_of_positions(id)
}

/// Why an option is an error, if it is one: it would choose, reject or change records that the command does not have.
fn refusal(scope: &Scope, id: &str, given: impl Fn(&str) -> bool) -> Option<String> {
    if scope.takes_whole_games && is_of_positions(id) || scope.refuses.contains(&id) {
        return Some(scope.reason.to_owned());
    }
    if let Some((options, source, name)) = scope.refuses_without
        && options.contains(&id)
        && !given(source)
    {
        return Some(format!("it needs little memory without {name}"));
    }
    if !scope.writes_records && id == SET {
        return Some("it writes no records".to_owned());
    }
    match scope.reads {
        Reads::Nothing if is_of_reading(id) => Some(READS_NOTHING.to_owned()),
        // The position of `perft` is also judged.
        Reads::With(source, name) if is_of_reading(id) && id != "validity" && !given(source) => {
            Some(format!("{READS_NOTHING} without {name}"))
        }
        Reads::Without(sources) if is_of_reading(id) || is_of_choice(id) => {
            let (_, name) = sources.iter().find(|(source, _)| given(source))?;
            Some(format!("{READS_NOTHING} with {name}"))
        }
        _ => None,
    }
}

/// The option that changes the values of records.
const SET: &str = "set";

fn scope_of(command: &str) -> Scope {
    description(command).map_or(Scope::READS, |description| description.scope)
}

/// Adds help and examples to the definitions of all commands.
pub(in crate::cli) fn complete(definitions: Command) -> Command {
    let mut all = definitions
        .mut_subcommands(|command| {
            let name = command.get_name().to_owned();
            let reads = command.get_arguments().any(|arg| arg.get_id() == "from");
            let command = match reads {
                true => command.after_help(
                    "--help has examples, formats, and the options omitted here: choice of games and \
                     positions, validity, limits.",
                ),
                false => command,
            };
            command.after_long_help(long_end(&name, reads))
        })
        .after_help(format!("{INPUTS}\n\nlanefish COMMAND -h lists the options of a command, --help explains them."))
        .after_long_help(format!(
            "{INPUTS}\n\n{}\n\n{}\n\n{STATUS}\n\n{ENVIRONMENT}",
            formats_text(),
            examples_text("")
        ));
    // From here on, the commands have the global options.
    all.build();
    all.mut_subcommands(|command| {
        let scope = scope_of(command.get_name());
        let hide = |arg: Arg| {
            let is_useless = is_useless(&scope, &arg);
            arg.hide(is_useless)
        };
        // Subcommands: the roles in a cluster.
        command.mut_args(hide).mut_subcommands(|role| role.mut_args(hide))
    })
}

/// Refuses options that would choose, reject or change records that the command does not have.
pub(in crate::cli) fn check(all: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((name, own)) = matches.subcommand() else {
        return Ok(());
    };
    let Some(command) = all.find_subcommand_mut(name) else {
        return Ok(());
    };
    let scope = scope_of(name);
    let given = |id: &str| own.try_contains_id(id).is_ok() && own.value_source(id) == Some(ValueSource::CommandLine);
    let refused = command.get_arguments().filter(|arg| given(arg.get_id().as_str())).find_map(|arg| {
        let reason = refusal(&scope, arg.get_id().as_str(), given)?;
        Some((arg.get_long().unwrap_or_default(), reason))
    });
    match refused {
        None => Ok(()),
        Some((option, reason)) => {
            let text = format!("`lanefish {name}` does not take --{option}: {reason}\n");
            Err(clap::Error::raw(ErrorKind::ArgumentConflict, text).with_cmd(command))
        }
    }
}

const INPUTS: &str = "\
Inputs are any number of files of any supported format, compressed (.zst, .gz, .bz2) or not, directories with \
their subdirectories, .zip archives, and - for standard input. Without any, standard input is read if it is a file \
or a non-empty pipe, never if it is a terminal, /dev/null or a socket.";

const TABLES: &str = "\
Tables:
  'games.pgn.zst'       a file of any format, with a column for each of compute --list-columns
  'data/', 'data/*.pgn' a directory, several files
  'games.zip'           the files in a zip archive
  'rows.csv'            Parquet, CSV, TSV, JSON and Arrow files without positions, as they are
  plain('hub.parquet')  the same for a file that has positions
  \"tag:NAME\"            a column: any tag of games
  \"folder:NAME\"         a column: VALUE, if the file is in a folder NAME=VALUE

Functions, besides those of DataFusion:
    legal_moves(fen), …   every computed column, for a FEN or a packed board
  popcount(bits)        number of squares in a set
  matches(fen, 'TEXT')  a pattern like the board part of a FEN: digits are arbitrary squares, . is empty
  play(fen, 'e2e4')     the FEN after a legal move, UCI or SAN, else null
  normalize_fen(fen)    the FEN as lanefish writes it
  position_stats(fen)   an aggregate: the JSON of stats
Anything that is not a position yields null.";

/// The text that lists all formats.
fn formats_text() -> String {
    let mut text = "Formats, detected from the content and then from the name:\n".to_owned();
    for format in Format::ALL {
        let about = format.about();
        let is_written = |output: OutputFormat| output.name() == about.name;
        let read_only = if OutputFormat::all(Content::Records).any(is_written) { "" } else { "; read only" };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {:<8} {}{read_only}", about.name, about.title);
    }
    text.push_str(if cfg!(feature = "parquet") {
        "Rows are written as csv, jsonl, parquet or arrow."
    } else {
        "Rows are written as csv or jsonl."
    });
    text
}

pub(in crate::cli) const STATUS: &str = "\
Exit status:
  0    everything was read and every record was good
  1    it finished, but records were rejected or a check failed
  2    it could not do the job: usage, missing or damaged files, a full disk, --strict
  130  interrupted by Ctrl-C (143 by SIGTERM)";

pub(in crate::cli) const ENVIRONMENT: &str = "\
Environment:
  LANEFISH_TIER  the tier, where --tier is not given
  NO_COLOR       not empty: no colours, where --color is not given
  TERM           dumb: no colours and no progress line";

/// The text below the options of a command.
fn long_end(name: &str, reads: bool) -> String {
    let mut end = Vec::new();
    if name == "sql" {
        end.push(TABLES.to_owned());
        end.push(formats_text());
    } else if reads {
        end.push(INPUTS.to_owned());
        end.push(formats_text());
    }
    if matches!(name, "compute" | "sql") {
        end.push(columns_text());
    }
    end.push(examples_text(name));
    end.push(STATUS.to_owned());
    end.join("\n\n")
}

/// The names of all columns, in lines that fit.
fn columns_text() -> String {
    const WIDTH: usize = 78;
    let mut text = "Columns (--list-columns explains them):\n ".to_owned();
    let mut len = 1;
    for name in column_names().chain(FAMILIES.map(|family| family.pattern)) {
        if len + 1 + name.len() > WIDTH {
            text.push_str("\n ");
            len = 1;
        }
        text.push(' ');
        text.push_str(name);
        len += 1 + name.len();
    }
    text
}

fn examples_text(name: &str) -> String {
    let examples = examples(name).iter().map(|(what, command)| format!("  {what}\n    $ {command}"));
    format!("Examples:\n{}", examples.collect::<Vec<_>>().join("\n"))
}

/// The examples of a command (`stats`), of a subcommand (`cluster-status`), or of lanefish itself (an empty name).
pub(in crate::cli) fn examples(name: &str) -> Examples {
    let (command, role) = name.split_once('-').unwrap_or((name, ""));
    let Some(description) = description(command) else { return EXAMPLES };
    let of_role = description.examples_of_subcommands.iter().find(|(name, _)| *name == role);
    of_role.map_or(description.examples, |(_, examples)| examples)
}

/// The examples of lanefish itself.
const EXAMPLES: Examples = &[
    ("A report on a dataset", "lanefish stats games.pgn.zst"),
    ("Rows for other programs", "lanefish compute positions.epd --columns fen,legal_moves -o rows.csv.gz"),
    ("Packed, for fast reading", "lanefish convert games.pgn.zst -o games.boards"),
];
