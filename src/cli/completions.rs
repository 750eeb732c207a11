//! `completions`: shell completions, generated from the definitions of the arguments.
//!
//! The generator knows single values, but some options take several, separated by commas. Such an option gets a
//! placeholder as its only value. In the script, the completion of the placeholder is then replaced by that of a list,
//! which completes the last name and leaves out those before it.

use super::arguments::command_scope::{Examples, RunCommand, Scope};
use super::arguments::value_parsers::{column_names, game_column_names};
use super::man;
use super::run::invocation::Invocation;
use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser, Resettable};
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use lanefish::table::ClosedValues;

/// Print shell completions
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl RunCommand for CompletionsArgs {
    const EXAMPLES: Examples = &[
        ("For bash", "lanefish completions bash > ~/.local/share/bash-completion/completions/lanefish"),
        ("For fish", "lanefish completions fish > ~/.config/fish/completions/lanefish.fish"),
    ];
    const SCOPE: Scope = Scope::NOTHING;

    fn run(&self, _invocation: &Invocation<'_>) -> Result<u8> {
        let mut definitions = with_values(super::definitions());
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut definitions, "lanefish", &mut script);
        let mut script = with_lists(self.shell, &String::from_utf8(script)?);
        if self.shell == Shell::Fish {
            script = with_help(&script) + &positional_values(&definitions);
        }
        super::print(script.as_bytes())?;
        Ok(0)
    }
}

/// An option that takes several names, separated by commas.
struct List {
    /// The command, or all commands.
    command: Option<&'static str>,
    id: &'static str,
    /// The only value that the generator knows.
    placeholder: &'static str,
    names: fn() -> Vec<&'static str>,
}

const LISTS: [List; 5] = [
    List {
        command: Some("compute"),
        id: "columns",
        placeholder: "LIST-OF-COLUMNS",
        names: || with_all(column_names()),
    },
    List {
        command: Some("games"),
        id: "columns",
        placeholder: "LIST-OF-GAME-COLUMNS",
        names: || with_all(game_column_names()),
    },
    List { command: Some("stats"), id: "by", placeholder: "LIST-OF-GROUPS", names: || column_names().collect() },
    List {
        command: None,
        id: "time-control",
        placeholder: "LIST-OF-TIME-CONTROLS",
        names: || words_of("speed").to_vec(),
    },
    List {
        command: None,
        id: "result",
        placeholder: "LIST-OF-RESULTS",
        names: || [words_of("result"), &["*"]].concat(),
    },
];

/// The values of a column that has certain words.
fn words_of(column: &str) -> &'static [&'static str] {
    ClosedValues::of(column).and_then(ClosedValues::words).unwrap_or_default()
}

fn with_all(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    std::iter::once("all").chain(names).collect()
}

/// The definitions with the values that completions offer. They are not for parsing, which accepts other values too.
fn with_values(definitions: Command) -> Command {
    // The values of a definition are static.
    let pages: Vec<&'static str> = man::names(&definitions).into_iter().map(|name| &*name.leak()).collect();
    definitions.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|arg| {
            let id = arg.get_id().as_str();
            let of_command = |list: &&List| list.command.is_none_or(|command| command == name) && list.id == id;
            match LISTS.iter().find(of_command) {
                Some(list) => with_only(arg, vec![list.placeholder]),
                None if (&*name, id) == ("man", "command") => with_only(arg, pages.clone()),
                None => arg,
            }
        })
    })
}

fn with_only(arg: Arg, values: Vec<&'static str>) -> Arg {
    // The default is not one of these values.
    arg.default_value(Resettable::Reset).value_parser(PossibleValuesParser::new(values))
}

const BASH_LIST: &str = r#"_lanefish_list() {
    local before="" name
    if [[ ${cur} == *,* ]]; then
        before="${cur%,*},"
    fi
    COMPREPLY=()
    while IFS= read -r name; do
        if [[ ",${before}" != *",${name},"* ]]; then
            COMPREPLY+=("${before}${name}")
        fi
    done < <(compgen -W "$1" -- "${cur##*,}")
    compopt -o nospace 2>/dev/null
}

"#;

const FISH_LIST: &str = r#"# The names that can end a list: the list so far, without the part of its last name.
function __lanefish_list
    set -l token (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    set -l before (string replace -r -- '[^,]*$' '' $token)
    set -l used (string split , -- $before)
    for name in $argv
        if not contains -- $name $used
            printf '%s%s\n' "$before" $name
        end
    end
end

"#;

/// The script with the commands that `help` explains. The generator offers them only if none of them, nor `help` itself,
/// has been typed, which is never the case after `help`.
fn with_help(script: &str) -> String {
    let lines = script.lines().map(|line| match line.split_once("_using_subcommand help; and not ") {
        Some(_) => line.replacen(" help\" -f", "\" -f", 1) + "\n",
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// Values of arguments without a name, which the generator omits for fish: `completions bash`, `man compute`.
fn positional_values(definitions: &Command) -> String {
    let mut lines = String::new();
    for command in definitions.get_subcommands() {
        for argument in command.get_positionals() {
            let values = argument.get_possible_values();
            let names: Vec<&str> =
                values.iter().filter(|value| !value.is_hide_set()).map(PossibleValue::get_name).collect();
            if !names.is_empty() {
                let (command, names) = (command.get_name(), names.join(" "));
                lines += &format!(
                    "complete -c lanefish -n \"__fish_lanefish_using_subcommand {command}\" -f -a \"{names}\"\n"
                );
            }
        }
    }
    lines
}

/// The script with completions of lists in place of the placeholders. Other shells do not complete values.
fn with_lists(shell: Shell, script: &str) -> String {
    let mut script = match shell {
        Shell::Bash => format!("{BASH_LIST}{script}"),
        Shell::Fish => format!("{FISH_LIST}{script}"),
        _ => script.to_owned(),
    };
    for List { placeholder, names, .. } in LISTS {
        let names = names();
        let quoted: Vec<String> = names.iter().map(|name| name.replace('*', "\\*")).collect();
        let (names, quoted) = (names.join(" "), quoted.join(" "));
        let (from, to) = match shell {
            Shell::Bash => (
                format!("COMPREPLY=($(compgen -W \"{placeholder}\" -- \"${{cur}}\"))"),
                format!("_lanefish_list \"{names}\""),
            ),
            Shell::Zsh => (format!(":({placeholder})"), format!(":_sequence compadd - {quoted}")),
            Shell::Fish => (format!("\"{placeholder}\\t''\""), format!("'(__lanefish_list {quoted})'")),
            _ => continue,
        };
        script = script.replace(&from, &to);
    }
    script
}
