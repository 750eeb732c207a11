//! The commands of the prompt that are not SQL; each begins with a dot.

use super::result_table::type_name;
use crate::cli::arguments::value_parsers::did_you_mean;
use crate::cli::terminal::style::width;
use comfy_table::{ContentArrangement, Table, presets};
use lanefish::sql::arrow::datatypes::SchemaRef;
use lanefish::sql::{columns_of_positions, data_type_of};
use lanefish::table::{COLUMNS, FAMILIES, LEGAL_MOVE_COLUMNS};
use lanefish_core::text::one_line;

/// The names of the commands, their arguments, and what they do.
pub(super) const DOT_COMMANDS: [(&str, &str, &str); 5] = [
    (".help", "", "show this list"),
    (".tables", "", "list the tables and views that you created"),
    (".columns", "[FILE]", "list the columns that a query over FILE can name, or those of all tables of positions"),
    (".quit", "", "leave, as Ctrl-D does"),
    (".exit", "", "the same"),
];

/// A command of the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DotCommand {
    Help,
    Tables,
    /// The columns of a file, or the catalogue.
    Columns(Option<String>),
    Quit,
}

impl DotCommand {
    /// The command in a line; none if the line does not begin with a dot.
    pub(super) fn of(line: &str) -> Option<Result<Self, String>> {
        let line = line.trim();
        if !line.starts_with('.') {
            return None;
        }
        // Habit ends everything with a semicolon.
        let line = line.trim_end_matches(';').trim_end();
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim();
        let command = match name {
            ".help" => Self::Help,
            ".tables" => Self::Tables,
            ".columns" => Self::Columns((!argument.is_empty()).then(|| unquoted(argument))),
            ".quit" | ".exit" => Self::Quit,
            _ => {
                let names = DOT_COMMANDS.iter().map(|(name, ..)| *name);
                let mut hint = did_you_mean(name, names);
                if hint.is_empty() {
                    hint = "; .help lists the commands".to_owned();
                }
                return Some(Err(format!("there is no command `{name}`{hint}")));
            }
        };
        if !argument.is_empty() && !matches!(command, Self::Columns(_)) {
            return Some(Err(format!("{name} takes no argument")));
        }
        Some(Ok(command))
    }
}

/// The name of a file, which may be in quotes as in SQL.
fn unquoted(argument: &str) -> String {
    match argument.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inner) => inner.replace("''", "'"),
        None => argument.to_owned(),
    }
}

/// The text of `.help`.
pub(super) fn help() -> String {
    let mut text = "\
Statements of SQL end with a semicolon and may have several lines. A file is a table: select fen from 'games.pgn' limit 3;

"
    .to_owned();
    for (name, argument, meaning) in DOT_COMMANDS {
        text += &format!("  {:<16}  {meaning}\n", format!("{name} {argument}"));
    }
    text += "
  Tab               complete a keyword, column, function or table, and within '…' the name of a file
  Up, Down, Ctrl-R  earlier statements
  Ctrl-C            clear the input, or end the query that runs
  Ctrl-D            leave
";
    text
}

/// A column of a list: its name, its type and its meaning.
type Listed = (String, String, String);

/// The list of the columns of every table of positions.
pub(super) fn catalogue() -> String {
    listing(of_positions().chain(of_families()).collect())
}

/// The list of the columns of a table.
pub(super) fn columns(schema: &SchemaRef) -> String {
    // Tables of other programs may have columns that are only called as ours.
    let has_positions = COLUMNS.iter().all(|column| schema.column_with_name(column.name).is_some());
    if !has_positions {
        let fields = schema.fields().iter();
        return listing(
            fields.map(|field| (field.name().clone(), type_name(field.data_type()), String::new())).collect(),
        );
    }
    let known: Vec<Listed> = of_positions().collect();
    let fields = schema.fields().iter().filter(|field| known.iter().all(|(name, ..)| name != field.name()));
    let others: Vec<Listed> =
        fields.map(|field| (field.name().clone(), type_name(field.data_type()), String::new())).collect();
    listing(known.into_iter().chain(others).chain(of_families()).collect())
}

fn of_positions() -> impl Iterator<Item = Listed> {
    let schema = columns_of_positions();
    let types: Vec<String> = schema.fields().iter().map(|field| type_name(field.data_type())).collect();
    let columns = COLUMNS.iter().chain(LEGAL_MOVE_COLUMNS).zip(types);
    columns.map(|(column, kind)| (column.name.to_owned(), kind, column.meaning.to_owned()))
}

fn of_families() -> impl Iterator<Item = Listed> {
    FAMILIES.into_iter().map(|family| {
        (format!("\"{}\"", family.pattern), type_name(&data_type_of(family.kind)), family.meaning.to_owned())
    })
}

fn listing(columns: Vec<Listed>) -> String {
    let has_meanings = columns.iter().any(|(.., meaning)| !meaning.is_empty());
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width()).unwrap_or(u16::MAX));
    let of = |cells: [&str; 3]| -> Vec<String> {
        let shown = if has_meanings { 3 } else { 2 };
        cells[..shown].iter().map(|cell| one_line::of(cell).into_owned()).collect()
    };
    table.set_header(of(["column", "type", "meaning"]));
    for (name, kind, meaning) in &columns {
        table.add_row(of([name, kind, meaning]));
    }
    format!("{table}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_dot_are_commands() {
        let command = |line| DotCommand::of(line).unwrap();
        assert_eq!(DotCommand::of("select 1;"), None);
        assert_eq!(command(" .help "), Ok(DotCommand::Help));
        assert_eq!(command(".quit;"), Ok(DotCommand::Quit));
        assert_eq!(command(".columns"), Ok(DotCommand::Columns(None)));
        for line in [".columns a b.pgn", ".columns 'a b.pgn';", ".columns  'a b.pgn'"] {
            assert_eq!(command(line), Ok(DotCommand::Columns(Some("a b.pgn".to_owned()))), "{line}");
        }
        assert_eq!(command(".columns 'it''s'"), Ok(DotCommand::Columns(Some("it's".to_owned()))));
        let said = |line| command(line).unwrap_err();
        assert_eq!(said(".table"), "there is no command `.table`; did you mean `.tables`?");
        assert_eq!(said(".xyz"), "there is no command `.xyz`; .help lists the commands");
        assert_eq!(said(".tables x"), ".tables takes no argument");
    }

    #[test]
    fn every_command_is_known_and_in_the_help() {
        for (name, ..) in DOT_COMMANDS {
            assert!(DotCommand::of(name).unwrap().is_ok(), "{name}");
            assert!(help().contains(&format!("\n  {name} ")), "{name}");
        }
    }

    #[test]
    fn the_catalogue_has_types_of_sql() {
        let list = catalogue();
        let line = |name: &str| list.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned();
        assert!(line("white_elo ").contains(" int32 "), "{}", line("white_elo "));
        assert!(line("legal_moves_uci ").contains(" text[] "), "{}", line("legal_moves_uci "));
        assert!(line("\"tag:NAME\"").contains(" text "), "{}", line("\"tag:NAME\""));
    }
}
