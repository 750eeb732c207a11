//! The prompt of `lanefish sql` on a terminal: statements are read, run and answered one after another, until the user leaves.
//!
//! The prompt reads line by line: the lines of a statement are kept until its semicolon. Errors and Ctrl-C end a statement
//! and not the prompt.

use super::completion::{self, KnownNames};
use super::dot_commands::{self, DotCommand};
use super::statement_text::TextEnd;
use super::{SqlArgs, failure, is_interruption, run_statements};
use crate::cli::run::interrupt;
use crate::cli::run::invocation::Invocation;
use crate::cli::run::output::Output;
use crate::cli::{is_closed_pipe, print, status};
use anyhow::{Context, Result};
use lanefish::sql::{Session as SqlSession, columns_of_positions};
use lanefish_core::text::one_line;
use rustyline::completion::{Completer, Pair};
use rustyline::config::BellStyle;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Editor, Helper};
use std::env;
use std::fs;
use std::path::PathBuf;

/// The prompt before a statement.
const FIRST: &str = "lanefish> ";
/// The prompt before further lines of a statement.
const MORE: &str = "     ...> ";
/// The number of statements that the history keeps.
const MOST_KEPT: usize = 1000;
/// The text that is printed first.
const WELCOME: &str = "Statements end with a semicolon. Tab completes; .help explains more; Ctrl-D leaves.\n";

/// Opens the prompt; returns the exit status once the user leaves.
pub(super) fn run(arguments: &SqlArgs, invocation: &Invocation<'_>) -> Result<u8> {
    let mut rejects = invocation.open_rejects()?;
    let sql = arguments.open_session(invocation, rejects.is_some())?;
    // Wrong options are errors before the first statement.
    arguments.open_printer(invocation)?;
    let open = interrupt::Prompt::open();
    let mut lines = Lines::new(invocation, &sql)?;
    if !invocation.global().quiet {
        print(WELCOME.as_bytes())?;
    }
    while let Some(text) = lines.read()? {
        open.begin_statement();
        let done = match DotCommand::of(&text) {
            Some(Ok(DotCommand::Quit)) => break,
            Some(Ok(command)) => carry_out(&command, &sql),
            Some(Err(message)) => Err(anyhow::Error::msg(message)),
            None => answer(arguments, invocation, &sql, &text, &mut rejects),
        };
        match done {
            Ok(()) => {}
            Err(error) if is_closed_pipe(&error) => break,
            Err(error) if is_interruption(&error) => invocation.note(format_args!("the statement was interrupted")),
            Err(error) => {
                status(&error);
            }
        }
        lines.know_tables(&sql);
    }
    invocation.keep_rejects(rejects);
    invocation.commit(None)?;
    Ok(0)
}

/// Runs the statements of a text and prints their rows.
fn answer(
    arguments: &SqlArgs,
    invocation: &Invocation<'_>,
    sql: &SqlSession,
    text: &str,
    rejects: &mut Option<Output>,
) -> Result<()> {
    let statements = SqlSession::parse(text).map_err(|error| failure(error, text))?;
    let mut printer = arguments.open_printer(invocation)?;
    let done = run_statements(invocation, sql, text, &statements, &mut printer, rejects);
    // The rows of statements before one that failed are shown.
    printer.output.complete()?;
    done.map(drop)
}

fn carry_out(command: &DotCommand, sql: &SqlSession) -> Result<()> {
    let text = match command {
        DotCommand::Help => dot_commands::help(),
        DotCommand::Tables => sql.tables().iter().map(|name| format!("{}\n", one_line::of(name))).collect(),
        DotCommand::Columns(None) => dot_commands::catalogue(),
        DotCommand::Columns(Some(file)) => {
            let query = format!("select * from '{}' limit 0", file.replace('\'', "''"));
            // Its text is not that of the user.
            let failed = |error| failure(error, "");
            let statements = SqlSession::parse(&query).map_err(failed)?;
            let statement = statements.first().context("no statement")?;
            let schema = sql.run_unless(statement, interrupt::flag()).map_err(failed)?.schema();
            sql.summaries().map_err(failed)?;
            dot_commands::columns(&schema)
        }
        DotCommand::Quit => String::new(),
    };
    print(text.as_bytes())
}

/// The lines that the user types.
struct Lines<'a> {
    invocation: &'a Invocation<'a>,
    editor: Editor<Assistant, DefaultHistory>,
    /// The file of the history, if it can be written.
    history: Option<PathBuf>,
}

impl<'a> Lines<'a> {
    fn new(invocation: &'a Invocation<'_>, sql: &SqlSession) -> Result<Lines<'a>> {
        let failed = "the terminal cannot be used for a prompt";
        let config = Config::builder()
            .max_history_size(MOST_KEPT)
            .and_then(|config| config.history_ignore_dups(true))
            .context(failed)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .bell_style(BellStyle::None)
            .build();
        let mut editor = Editor::with_config(config).context(failed)?;
        editor.set_helper(Some(Assistant {
            before: String::new(),
            known: KnownNames {
                columns: columns_of_positions().fields().iter().map(|field| field.name().clone()).collect(),
                functions: sql.functions(),
                tables: sql.tables(),
            },
        }));
        let mut lines = Lines { invocation, editor, history: history_file() };
        lines.load_history();
        Ok(lines)
    }

    /// The next statements or the next dot command; none at the end.
    fn read(&mut self) -> Result<Option<String>> {
        let mut text = String::new();
        loop {
            if let Some(assistant) = self.editor.helper_mut() {
                assistant.before.clone_from(&text);
            }
            let prompt = if text.is_empty() { FIRST } else { MORE };
            match self.editor.readline(prompt) {
                Ok(line) => text += &line,
                Err(ReadlineError::Interrupted) => {
                    text.clear();
                    continue;
                }
                Err(ReadlineError::Signal(_)) => continue,
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(error).context("cannot read from the terminal"),
            }
            if text.trim_start().starts_with('.') {
                self.remember(&text);
                return Ok(Some(text));
            }
            let end = TextEnd::of(&text);
            if end.is_complete() {
                if end.has_code() {
                    self.remember(&text);
                    return Ok(Some(text));
                }
                text.clear();
            } else {
                text.push('\n');
            }
        }
    }

    /// Updates the names of tables.
    fn know_tables(&mut self, sql: &SqlSession) {
        if let Some(assistant) = self.editor.helper_mut() {
            assistant.known.tables = sql.tables();
        }
    }

    /// Reads the history of earlier sessions.
    fn load_history(&mut self) {
        let Some(path) = &self.history else { return };
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let read = made.map_err(ReadlineError::Io).and_then(|()| match path.exists() {
            true => self.editor.load_history(path),
            false => Ok(()),
        });
        if let Err(error) = read {
            self.forget(&error);
        }
    }

    /// Adds a text to the history.
    fn remember(&mut self, text: &str) {
        let text = text.trim_end();
        let is_new = self.editor.add_history_entry(text).unwrap_or(false);
        if let Some(path) = self.history.as_deref().filter(|_| is_new)
            && let Err(error) = self.editor.append_history(path)
        {
            self.forget(&error);
        }
    }

    /// Says that the history is kept in this session only.
    fn forget(&mut self, error: &ReadlineError) {
        if let Some(path) = self.history.take() {
            self.invocation.note(format_args!("the history is not kept in {}: {error}", path.display()));
        }
    }
}

/// The file of the history: in the directory for the state of programs. None if no directory is known.
fn history_file() -> Option<PathBuf> {
    let directory = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = directory("XDG_STATE_HOME").or_else(|| {
        let home = env::home_dir().filter(|home| home.is_absolute())?;
        Some(home.join(".local").join("state"))
    });
    Some(state?.join("lanefish").join("sql_history"))
}

/// Completes what the user types.
struct Assistant {
    /// The lines of the statement above the one that is edited.
    before: String,
    known: KnownNames,
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &rustyline::Context<'_>,
    ) -> Result<(usize, Vec<Pair>), ReadlineError> {
        let (line, after) = line.split_at_checked(cursor).unwrap_or((line, ""));
        let completion = completion::complete(&self.before, line, after, &self.known);
        let pairs = completion.candidates.into_iter();
        let pairs = pairs.map(|candidate| Pair { display: candidate.shown, replacement: candidate.inserted });
        Ok((completion.from, pairs.collect()))
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Highlighter for Assistant {}

impl Validator for Assistant {}

impl Helper for Assistant {}
