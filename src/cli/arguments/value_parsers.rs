//! Names of formats and columns as arguments: the possible values, for help and completions, and suggestions
//! for misspelled ones.

use super::shell_quoting_and_patterns::divided_list;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use lanefish::ParseError;
use lanefish::choose::Definitions;
use lanefish::formats::Format;
use lanefish::jobs::{Content, GameColumn, GameColumns, GameOrder, OutputFormat};
use lanefish::stats::GroupBy;
use lanefish::table::{COLUMNS, Columns, ColumnsError, LEGAL_MOVE_COLUMNS, TAGS};
use std::ffi::OsStr;

/// The most similar of these names, if any is close.
pub(crate) fn similar<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// The measure that clap uses for commands and options.
    const NEAR: f64 = 0.7;
    let name = name.to_ascii_lowercase();
    names
        .into_iter()
        .map(|other| match strsim::osa_distance(&name, other) {
            // Short names have a lower limit, since one letter is a large part of them.
            0 | 1 => (1.0, other),
            // One or two letters are in most names.
            _ if name.len() < 3 => (0.0, other),
            _ => (strsim::jaro(&name, other), other),
        })
        // Of two names with some letters in common, neither is meant by the other.
        .filter(|&(likeness, other)| {
            let distance = strsim::osa_distance(&name, other);
            likeness > NEAR && (distance <= (name.len() / 3).max(1) || other.starts_with(&*name))
        })
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, other)| other)
}

/// ``; did you mean `epd`?``, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    similar(name, names).map_or_else(String::new, |other| format!("; did you mean `{other}`?"))
}

/// Names of all formats of inputs.
pub(crate) fn format_names() -> Vec<&'static str> {
    Format::ALL.iter().copied().map(Format::name).collect()
}

/// An error in an argument, printed the way clap prints its own.
pub(crate) fn invalid(command: &Command, text: String) -> clap::Error {
    clap::Error::raw(ErrorKind::InvalidValue, format!("{text}\n")).with_cmd(command)
}

fn named(argument: Option<&Arg>) -> String {
    argument.map_or_else(String::new, |argument| format!("'{argument}'"))
}

/// A format to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatName;

impl TypedValueParser for FormatName {
    type Value = Format;
    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Format, clap::Error> {
        let name = StringValueParser::new().parse_ref(command, argument, value)?;
        name.parse().map_err(|_| unknown(command, argument, &name, &format_names()))
    }
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(values(format_names()))
    }
}

/// The error for a name that no format has.
fn unknown(command: &Command, argument: Option<&Arg>, name: &str, names: &[&'static str]) -> clap::Error {
    let hint = did_you_mean(name, names.iter().copied());
    refused(command, argument, format_args!("unknown format `{name}`{hint}"), names)
}

fn refused(
    command: &Command,
    argument: Option<&Arg>,
    problem: impl std::fmt::Display,
    names: &[&'static str],
) -> clap::Error {
    let (argument, known) = (named(argument), names.join(", "));
    invalid(command, format!("{argument}: {problem}\n  [possible values: {known}]"))
}

/// A format that records can be written in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputName;

impl OutputName {
    fn names() -> Vec<&'static str> {
        OutputFormat::all(Content::Records).map(OutputFormat::name).collect()
    }
}

impl TypedValueParser for OutputName {
    type Value = OutputFormat;
    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<OutputFormat, clap::Error> {
        let name = StringValueParser::new().parse_ref(command, argument, value)?;
        OutputFormat::named(&name, Content::Records).map_err(|problem| match name.parse::<Format>() {
            Ok(_) => refused(command, argument, problem, &Self::names()),
            Err(_) => unknown(command, argument, &name, &Self::names()),
        })
    }
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(values(Self::names()))
    }
}

/// A format that records can be written in, or PGN, to which games are copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputNameOrPgn;

impl TypedValueParser for OutputNameOrPgn {
    type Value = OutputFormat;
    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<OutputFormat, clap::Error> {
        match value.to_str() {
            Some(name) if name == OutputFormat::Pgn.name() => Ok(OutputFormat::Pgn),
            _ => OutputName.parse_ref(command, argument, value),
        }
    }
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(values([OutputName::names(), vec![OutputFormat::Pgn.name()]].concat()))
    }
}

/// Formats in which this content can be written, each with a description.
pub(crate) fn values_of(content: Content) -> Vec<PossibleValue> {
    OutputFormat::all(content).map(|format| PossibleValue::new(format.name()).help(format.title())).collect()
}

fn values(names: Vec<&'static str>) -> Box<dyn Iterator<Item = PossibleValue>> {
    Box::new(names.into_iter().map(PossibleValue::new))
}

/// Names of columns of games, separated by commas. See [`game_columns`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameColumnNames;

impl TypedValueParser for GameColumnNames {
    type Value = String;
    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(values(std::iter::once("all").chain(game_column_names()).collect()))
    }
}

/// A column of games, and the direction. See [`sort_order_of_games`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameOrderName;

impl TypedValueParser for GameOrderName {
    type Value = String;
    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(values(game_column_names().collect()))
    }
}

/// Names of columns, separated by commas: any text, since expressions can have names as well. See [`columns`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnNames;

impl TypedValueParser for ColumnNames {
    type Value = String;
    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(values(std::iter::once("all").chain(column_names()).collect()))
    }
}

/// The columns with these names, some of which `--let` may define.
pub(crate) fn columns(names: &str, definitions: &Definitions) -> anyhow::Result<Columns> {
    if let Some(message) = divided_list("--columns", names) {
        anyhow::bail!(message);
    }
    let named = |names: &str| Columns::named_with(names, |name| definitions.column(name));
    named(names).map_err(|error| {
        let unknown = names.split(',').map(str::trim).find(|name| named(name).is_err());
        let hint = unknown.map_or_else(String::new, |name| match similar(name, definitions.names()) {
            Some(other) => format!("; did you mean `{other}`?"),
            None => meant_column(name),
        });
        let tags = TAGS.pattern;
        anyhow::anyhow!("--columns: {error}{hint} (--list-columns prints all of them; {tags} is any tag of games)")
    })
}

/// The columns of games with these names, or the usual ones, with those of matches.
pub(crate) fn game_columns(names: Option<&str>, has_matches: bool) -> anyhow::Result<GameColumns> {
    if let Some(message) = names.and_then(|names| divided_list("--columns", names)) {
        anyhow::bail!(message);
    }
    GameColumns::chosen(names, has_matches).map_err(|error| wrong_game_column("--columns", &error))
}

/// The order of games by a column, which may be one of matches.
pub(crate) fn game_order(text: &str, has_matches: bool) -> anyhow::Result<GameOrder> {
    let order = text.parse().and_then(|order: GameOrder| match order.column() {
        column if column.is_of_matches() && !has_matches => Err(ColumnsError::WithoutHaving(column.name().to_owned())),
        _ => Ok(order),
    });
    order.map_err(|error| wrong_game_column("--sort", &error))
}

fn wrong_game_column(option: &str, error: &ColumnsError) -> anyhow::Error {
    let hint = match error {
        ColumnsError::WithoutHaving(_) => return anyhow::anyhow!("{option}: {error}"),
        ColumnsError::Unknown(name) => meant_among(name, game_column_names()),
        _ => String::new(),
    };
    let tags = TAGS.pattern;
    anyhow::anyhow!("{option}: {error}{hint} (--list-columns prints all of them; {tags} is any tag of games)")
}

/// What positions are grouped by, by columns and by names that `--let` defines.
pub(crate) fn group_by(text: &str, definitions: &Definitions) -> anyhow::Result<GroupBy> {
    GroupBy::parse_with(text, definitions).map_err(|error: ParseError| {
        if let Some(message) = divided_list("--by", text) {
            return anyhow::anyhow!(message);
        }
        let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte));
        let mut names = text.split(',').map(|part| part.split('/').next().unwrap_or(part)).filter(is_name);
        let named = |name: &str| Columns::named_with(name, |name| definitions.column(name));
        let unknown = names.find(|name| matches!(named(name), Err(ColumnsError::Unknown(_))));
        anyhow::anyhow!("--by {text}: {error}{}", unknown.map_or_else(String::new, meant_column))
    })
}

/// A suggestion like that of [`did_you_mean`], for a column or a tag.
fn meant_column(name: &str) -> String {
    meant_among(name, column_names())
}

/// The same, for any columns.
fn meant_among<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> String {
    let columns: Vec<&str> = columns.chain([TAGS.pattern]).collect();
    if let Some(column) = columns.iter().find(|column| column.eq_ignore_ascii_case(name)) {
        return format!("; did you mean `{column}`?");
    }
    /// Tags that are often requested without their prefix.
    const USUAL: [&str; 9] = [
        "Event",
        "Round",
        "UTCDate",
        "UTCTime",
        "WhiteTitle",
        "BlackTitle",
        "WhiteRatingDiff",
        "BlackRatingDiff",
        "Variant",
    ];
    let prefix = TAGS.prefix.trim_end_matches(':');
    let tag = match name.split_once([':', '=', '.']) {
        Some((before, tag)) => similar(before, [prefix]).map(|_| tag),
        None => USUAL.into_iter().find(|tag| tag.eq_ignore_ascii_case(name)),
    };
    let column = tag.map(|tag| format!("{}{tag}", TAGS.prefix));
    match column.filter(|column| column != name && Columns::named(column).is_ok()) {
        Some(column) => format!("; did you mean `{column}`?"),
        None => did_you_mean(name, columns),
    }
}

/// Names of all columns.
pub(crate) fn column_names() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().chain(LEGAL_MOVE_COLUMNS).map(|column| column.name)
}

/// Names of all columns of games.
pub(crate) fn game_column_names() -> impl Iterator<Item = &'static str> {
    GameColumn::all().iter().map(GameColumn::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant() {
        let names = format_names();
        assert_eq!(similar("board", names.iter().copied()), Some("boards"));
        assert_eq!(similar("EDP", names.iter().copied()), Some("epd"));
        assert_eq!(similar("xyz", names.iter().copied()), None);
        assert_eq!(similar("zz", ["puzzle_id"]), None);
        let group_by = |text| group_by(text, &Definitions::default());
        let wrong = |text| group_by(text).unwrap_err().to_string();
        assert!(wrong("speed,whiteelo/200").ends_with("did you mean `white_elo`?"));
        assert!(group_by("(white_elo - black_elo)/100").is_ok());
    }
}
