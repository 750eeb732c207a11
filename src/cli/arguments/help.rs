//! Definitions of the arguments as they are shown and parsed: headings, arguments that `-h` omits, examples, and global
//! options that a command does not use.
//!
//! The derived definitions describe each argument. Properties that many arguments share are written here once.

use super::value_parsers::column_names;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, ValueHint};
use lanefish::formats::Format;
use lanefish::jobs::{Content, OutputFormat};
use lanefish::table::FAMILIES;
use std::fmt::Write;

/// Arguments of commands that short help omits, in addition to the options that choose games.
const RARE_OF_COMMANDS: [&str; 10] =
    ["keep_en_passant", "fen_column", "compression", "fen", "manifest", "allow_loss", "let", "set", "memory", "temp"];

/// The heading of an argument. Arguments of a single command are under `Options`.
fn heading(id: &str) -> Option<&'static str> {
    Some(match id {
        "output" | "level" | "to" | "format" | "compression" | "fen" | "manifest" | "allow_loss" => "Output",
        "from" | "fen_column" | "keep_en_passant" => "Reading",
        "where" | "let" | "sample" | "set" => "Choosing",
        _ if GAMES.contains(&id) => "Games",
        _ if GLOBAL.contains(&id) => "Global options",
        _ => return None,
    })
}

/// Options that choose games and their positions.
const GAMES: [&str; 18] = [
    "variations",
    "drop_bad_games",
    "plies",
    "skip_book",
    "every",
    "last",
    "max_per_game",
    "seed",
    "min_elo",
    "max_elo",
    "time_control",
    "result",
    "min_plies",
    "termination",
    "eco",
    "since",
    "until",
    "variant",
];

/// Options of every command.
const GLOBAL: [&str; 17] = [
    "tier",
    "threads",
    "validity",
    "strict",
    "rejects",
    "force",
    "shard",
    "skip",
    "limit",
    "no_mmap",
    "max_record",
    "max_window",
    "max_memory",
    "strict_pgn",
    "progress",
    "color",
    "quiet",
];

/// Options that only `--help` shows, so that `-h` fits a screen.
const RARE: [&str; 11] = [
    "tier",
    "validity",
    "strict",
    "shard",
    "no_mmap",
    "max_record",
    "max_window",
    "max_memory",
    "strict_pgn",
    "progress",
    "color",
];

/// Options that only commands that read records use.
const OF_READING: [&str; 12] = [
    "validity",
    "strict",
    "rejects",
    "shard",
    "skip",
    "limit",
    "no_mmap",
    "max_record",
    "max_window",
    "max_memory",
    "strict_pgn",
    "from",
];

/// Options that choose records. `games` has only the condition, which is one on games; in `sql`, statements choose
/// records themselves.
const OF_CHOOSING: [&str; 5] = ["where", "sample", "memory", "temp", "set"];

/// Commands that write records and can change their values.
const WRITES_RECORDS: [&str; 5] = ["convert", "shuffle", "dedup", "split", "interleave"];

/// Options that choose among the positions of games, not among games: `games` has a row for each whole game.
const OF_POSITIONS: [&str; 7] = ["variations", "plies", "skip_book", "every", "last", "max_per_game", "seed"];

/// Global options that a command does not use: they are not shown. Those that would choose or reject records are
/// errors; those without any effect (`--threads`, `--color`, …) are accepted.
fn is_useless(command: &str, id: &str) -> bool {
    match command {
        _ if id == "set" => !WRITES_RECORDS.contains(&command),
        "completions" | "man" | "cluster" => GLOBAL.contains(&id) && id != "quiet",
        "generate" => OF_READING.contains(&id) || matches!(id, "tier" | "color"),
        "perft" => matches!(id, "force" | "color"),
        "info" => matches!(id, "force" | "color" | "progress" | "shard" | "skip" | "limit"),
        "sql" => matches!(id, "color" | "shard" | "skip" | "limit" | "where" | "sample"),
        "games" => id == "color" || OF_POSITIONS.contains(&id) || (OF_CHOOSING.contains(&id) && id != "where"),
        "stats" | "show" => false,
        _ => id == "color",
    }
}

/// Adds headings, help and examples to the definitions of all commands.
pub(in crate::cli) fn complete(definitions: Command) -> Command {
    let mut all = definitions
        .mut_args(|arg| match arg.get_id().as_str() {
            id if RARE.contains(&id) => arg.hide_short_help(true),
            "rejects" => arg.value_hint(ValueHint::FilePath),
            _ => arg,
        })
        .mut_subcommands(|command| {
            let name = command.get_name().to_owned();
            let generates = name == "generate";
            let mut command = command.mut_args(|arg| {
                let id = arg.get_id().as_str().to_owned();
                let arg = match &*id {
                    "inputs" | "input" | "files" | "suite" => arg.value_hint(ValueHint::AnyPath),
                    "directory" => arg.value_hint(ValueHint::DirPath),
                    _ => arg,
                };
                if arg.is_positional() {
                    return arg.help_heading(None::<&str>);
                }
                // The seed of `generate` has a different meaning.
                let heading = heading(&id).filter(|_| !(generates && id == "seed"));
                let rare = heading == Some("Games") || RARE_OF_COMMANDS.contains(&&*id);
                let rare = rare || arg.is_hide_short_help_set();
                arg.help_heading(heading).hide_short_help(rare)
            });
            let reads = command.get_arguments().any(|arg| arg.get_id() == "from");
            if reads {
                command = command.after_help(
                    "--help has examples, formats, and the options omitted here: choice of games and \
                     positions, validity, limits.",
                );
            }
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
        let name = command.get_name().to_owned();
        let command = command.mut_args(|arg| {
            let useless = is_useless(&name, arg.get_id().as_str());
            arg.hide(useless)
        });
        // Subcommands: the roles in a cluster.
        command.mut_subcommands(|role| {
            role.mut_args(|arg| {
                let useless = is_useless(&name, arg.get_id().as_str());
                arg.hide(useless)
            })
        })
    })
}

/// The argument without which a command reads no records, and its spelling.
fn source(command: &str) -> Option<(&'static str, &'static str)> {
    match command {
        "perft" => Some(("suite", "--suite")),
        "bench" => Some(("input", "--input")),
        "info" => Some(("files", "a file")),
        _ => None,
    }
}

/// Refuses global options that would choose records if the command reads none.
pub(in crate::cli) fn check(all: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((name, own)) = matches.subcommand() else {
        return Ok(());
    };
    let given = |id: &str| own.try_contains_id(id).is_ok() && own.value_source(id) == Some(ValueSource::CommandLine);
    let refuse = |all: &mut Command, id: &str, reason: &str| {
        let option = id.replace('_', "-");
        let text = format!("`lanefish {name}` does not take --{option}: {reason}\n");
        let error = clap::Error::raw(ErrorKind::ArgumentConflict, text);
        match all.find_subcommand_mut(name) {
            Some(command) => error.with_cmd(command),
            None => error,
        }
    };
    if let Some(id) = OF_POSITIONS.into_iter().find(|&id| name == "games" && given(id)) {
        return Err(refuse(all, id, "it has one row per whole game"));
    }
    let missing = source(name).filter(|(id, _)| !given(id));
    if let Some(id) = OF_CHOOSING.into_iter().find(|&id| given(id) && is_useless(name, id)) {
        let reason = match name {
            _ if id == "set" => "it writes no records",
            "sql" => "its statements choose the records",
            _ => "it has one row per whole game",
        };
        let text = format!("`lanefish {name}` does not take --{id}: {reason}\n");
        let error = clap::Error::raw(ErrorKind::ArgumentConflict, text);
        return Err(match all.find_subcommand_mut(name) {
            Some(command) => error.with_cmd(command),
            None => error,
        });
    }
    for id in OF_READING.into_iter().filter(|&id| given(id) && id != "from") {
        let reason = match missing {
            _ if name == "sql" && is_useless(name, id) => "its statements choose the records".to_owned(),
            // Every other option about reading applies to its tables.
            _ if name == "sql" => continue,
            _ if is_useless(name, id) => "it reads no records".to_owned(),
            // The position of `perft` is also judged.
            Some((_, source)) if id != "validity" => {
                format!("it reads no records without {source}")
            }
            _ => continue,
        };
        return Err(refuse(all, id, &reason));
    }
    Ok(())
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

/// Examples for a command: a description and a command line.
pub(in crate::cli) fn examples(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "stats" => &[
            ("A report on a game dump", "lanefish stats games.pgn.zst"),
            ("A single number", "lanefish stats --json games.pgn.zst | jq .legal_moves.mean"),
            ("A page with plots, boards and remarks", "lanefish stats games.pgn.zst --html games.html"),
            ("One report per phase of the game", "lanefish stats --by phase games.pgn.zst"),
            ("Differences between two datasets", "lanefish stats --compare old.boards new.boards"),
            (
                "A quarter of a dataset on each of four machines, and the merged report",
                "lanefish stats --json --shard 0/4 dump.pgn.zst > 0.json; lanefish stats --merge ?.json",
            ),
            ("Only strong players, without the opening", "lanefish stats --min-elo 2200 --skip-book 16 games.pgn.zst"),
        ],
        "compute" => &[
            (
                "Some columns of the first ten positions",
                "lanefish compute positions.epd --columns fen,legal_moves,in_check --limit 10",
            ),
            ("All columns, as compressed JSON lines", "lanefish compute games.pgn.zst --columns all -o rows.jsonl.zst"),
            (
                "Typed columns for DuckDB, Polars, pandas and others",
                "lanefish compute games.boards --columns all -o rows.parquet",
            ),
            ("From another program", "grep -v ' b ' a.fen | lanefish compute"),
        ],
        "convert" => &[
            ("Pack once, then read at disk speed", "lanefish convert games.pgn.zst -o games.boards"),
            ("Back to text, with strong compression", "lanefish convert games.boards -o games.fen.zst --level 19"),
            (
                "Good records to one file, bad ones to another",
                "lanefish convert mixed.epd -o good.epd --rejects bad.txt",
            ),
        ],
        "shuffle" => &[
            (
                "A random order, the same for everybody",
                "lanefish shuffle a.boards b.boards --seed 7 -o shuffled.boards",
            ),
            (
                "Games in a random order, in little memory",
                "lanefish shuffle games.pgn.zst --by game --memory 256M -o shuffled.boards",
            ),
        ],
        "dedup" => &[
            ("How often positions are repeated", "lanefish dedup games.pgn.zst"),
            (
                "Each position once, with its deepest evaluation, and none of the test data",
                "lanefish dedup evals.jsonl.zst --keep most:depth --against test.boards -o unique.boards",
            ),
        ],
        "interleave" => &[(
            "Two sources, evenly mixed; each keeps its order",
            "lanefish interleave a.boards b.boards -o mixed.boards",
        )],
        "split" => &[
            (
                "Validation data that share no position with the training data",
                "lanefish split all.boards --parts train=0.98,valid=0.02 -o '{part}.boards'",
            ),
            ("Whole games", "lanefish split games.pgn.zst --by game --parts train=0.9,test=10% -o '{part}.fen'"),
        ],
        "games" => &[
            ("One row per game", "lanefish games games.pgn -o games.csv"),
            ("Some columns", "lanefish games games.pgn --columns white,black,result,tag:Annotator"),
            ("The games of strong players, unchanged", "lanefish games games.pgn.zst --min-elo 2500 -o strong.pgn.zst"),
            (
                "Games that ended in stalemate",
                "lanefish games games.pgn --format jsonl | jq 'select(.outcome == \"stalemate\")'",
            ),
        ],
        "sql" => &[
            (
                "Positions in check, grouped by phase",
                "lanefish sql \"select phase, count(*), avg(legal_moves) from 'games.pgn.zst' where in_check group by phase order by phase\"",
            ),
            (
                "Rows for other programs",
                "lanefish sql \"select fen, san, score from 'games.pgn' where abs(score) < 50\" -o quiet.parquet",
            ),
            (
                "Columns as functions, for a table that has only positions",
                "lanefish sql \"select legal_moves(fen), matches(fen, '8/8/8/8/4P3/8/8/8') from 'hub.csv'\"",
            ),
            (
                "Which filters and limits are pushed down",
                "lanefish sql \"explain select white, black from 'games.pgn' where checkmate limit 10\"",
            ),
        ],
        "cluster" => &[
            (
                "On one machine; $TLS stands for the three options with certificates",
                "lanefish cluster scheduler --bind 10.0.0.1:50050 --data /shared $TLS",
            ),
            (
                "On all machines",
                "lanefish cluster executor --scheduler 10.0.0.1:50050 --bind 10.0.0.2:50051 --data /shared $TLS",
            ),
            ("Statistics of a whole collection", "lanefish stats --cluster 10.0.0.1:50050 $TLS /shared/games/"),
            (
                "A query, on a cluster of this machine only",
                "lanefish sql --cluster 127.0.0.1:50050 \"select phase, count(*) from '/shared/games/*.boards' group by phase\"",
            ),
        ],
        "cluster-status" => &[("The executors and jobs of a cluster", "lanefish cluster status 127.0.0.1:50050")],
        "cluster-scheduler" => &[("On this machine only", "lanefish cluster scheduler --data /shared")],
        "cluster-executor" => &[(
            "On this machine only, with two slots",
            "lanefish cluster executor --scheduler 127.0.0.1:50050 --data /shared --slots 2",
        )],
        "show" => &[
            ("A position", "lanefish show \"4r1k1/8/8/1b6/8/3N4/4N3/q3K2R w K - 0 1\""),
            (
                "The tenth record of a file, with the squares that White attacks",
                "lanefish show games.pgn --index 9 --attacks white",
            ),
        ],
        "perft" => &[
            ("From the start position", "lanefish perft 6"),
            ("Counts per move, from another position", "lanefish perft --divide \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\" 5"),
            ("A file of known counts", "lanefish perft --suite standard.perft"),
        ],
        "bench" => &[
            ("Everything, in about a minute and a half", "lanefish bench"),
            ("One algorithm, on positions of a file", "lanefish bench sliders --filter pext --input positions.epd"),
            ("What is slower than it should be on this machine", "lanefish bench pipeline"),
            ("As JSON, for other programs", "lanefish bench kernels --json > kernels.json"),
            ("Kept for a later comparison", "lanefish bench decode --save old.json"),
            ("What has changed since then", "lanefish bench decode --compare old.json"),
        ],
        "generate" => &[
            ("A million positions, the same everywhere", "lanefish generate -n 1000000 --seed 7 -o random.boards"),
            ("Chess960, compressed", "lanefish generate -n 50000 --chess960 -o random.fen.zst"),
        ],
        "verify" => &[
            ("All errors in some files", "lanefish verify --validity playable data/"),
            (
                "As JSON, at the validity level of the other commands",
                "lanefish verify --json --validity playable a.boards",
            ),
        ],
        "info" => &[
            ("This CPU, and which tier is used", "lanefish info"),
            ("A file", "lanefish info games.boards"),
            ("Whether the chosen tier is the fastest on this CPU", "lanefish info --calibrate"),
        ],
        "completions" => &[
            ("For bash", "lanefish completions bash > ~/.local/share/bash-completion/completions/lanefish"),
            ("For fish", "lanefish completions fish > ~/.config/fish/completions/lanefish.fish"),
        ],
        "man" => &[
            ("Read a page", "lanefish man compute | man -l -"),
            ("Install all of them", "lanefish man --directory ~/.local/share/man/man1"),
        ],
        _ => &[
            ("A report on a dataset", "lanefish stats games.pgn.zst"),
            ("Rows for other programs", "lanefish compute positions.epd --columns fen,legal_moves -o rows.csv.gz"),
            ("Packed, for fast reading", "lanefish convert games.pgn.zst -o games.boards"),
        ],
    }
}
