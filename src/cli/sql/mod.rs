//! `sql`: SQL statements over files of positions, with rows in any format.
//!
//! Statements come from the command line, from a file or from standard input. Without any of these, there is a prompt on a
//! terminal.

mod completion;
mod dot_commands;
mod prompt;
mod result_table;
mod statement_text;

use super::arguments::command_scope::{Examples, OUTPUT, READING, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, Reading};
use super::arguments::row_format_arg::{RowForm, shown_or_written};
use super::arguments::value_parsers::similar;
use super::run::format_output::PageArgs;
use super::run::interrupt;
use super::run::invocation::{Invocation, summary_and_failure};
use super::run::output::Output;
use super::terminal::closed_streams::stdin_is_closed;
use super::terminal::progress::Meter;
use super::terminal::style::{Style, width};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};
use lanefish::Error;
use lanefish::chess::Validity;
use lanefish::jobs::Content;
use lanefish::sql::arrow::array::RecordBatch;
use lanefish::sql::arrow::datatypes::SchemaRef;
use lanefish::sql::{RowWriter, Session as SqlSession, SessionOptions, SqlError, Statement, Step};
use result_table::ResultTable;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval between checks whether the user has interrupted the query.
const PATIENCE: Duration = Duration::from_millis(50);
/// The description of the table.
const FOR_PEOPLE: &str = "For people; of many rows the first 20 and the last 20";

/// Run SQL queries: a quoted path is a table; columns are also functions of a FEN
#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// Statements, separated by semicolons; - reads them from standard input [default: a prompt on a terminal, else -]
    // A comment begins with a hyphen.
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: Option<String>,

    /// Read the statements from this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "query")]
    file: Option<PathBuf>,

    /// Format of the rows [default: from the name given with -o, else table on a terminal and csv elsewhere]
    #[arg(long, value_name = "FORMAT", value_parser = shown_or_written(FOR_PEOPLE, Content::Rows), help_heading = OUTPUT)]
    format: Option<RowForm>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    pages: PageArgs,

    /// Run the statements on the cluster with this scheduler
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["memory", "temp"])]
    cluster: Option<String>,

    #[cfg(feature = "cluster")]
    #[command(flatten)]
    tls: super::cluster::TlsArgs,

    /// Compute columns also where they stand in Parquet files that lanefish wrote
    ///
    /// Without this, a query over such files takes them as they are, and no record is judged, if all columns that it names stand
    /// there with their name, type and meaning.
    #[arg(long, help_heading = READING, hide_short_help = true)]
    recompute: bool,

    #[command(flatten)]
    reading: Reading,
}

impl RunCommand for SqlArgs {
    const EXAMPLES: Examples = &[
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
    ];
    const SCOPE: Scope = Scope {
        refuses: &["shard", "skip", "limit", "where", "sample"],
        reason: "its statements choose the records",
        ..Scope::READS
    };

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        #[cfg(feature = "cluster")]
        if self.cluster.is_some() && invocation.global().records.rejects.is_some() {
            bail!(
                "--rejects: the lines of rejected records stay on the machines that read them; \
                 lanefish verify --rejects FILE lists them"
            );
        }
        if self.opens_prompt()? {
            return prompt::run(self, invocation);
        }
        let text = self.text(invocation)?;
        let statements = SqlSession::parse(&text).map_err(|error| failure(error, &text))?;
        if statements.is_empty() {
            bail!("there is no statement");
        }
        let mut printer = self.open_printer(invocation)?;
        let mut rejects = invocation.open_rejects()?;
        let sql = self.open_session(invocation, rejects.is_some())?;
        let status = run_statements(invocation, &sql, &text, &statements, &mut printer, &mut rejects)?;
        invocation.keep_rejects(rejects);
        invocation.commit(Some(printer.output))?;
        Ok(status)
    }
}

impl SqlArgs {
    /// Whether there is a prompt: nothing else has statements, and the user sees what is printed.
    fn opens_prompt(&self) -> Result<bool> {
        let is_prompt = self.query.is_none()
            && self.file.is_none()
            && !stdin_is_closed()
            && io::stdin().is_terminal()
            && io::stdout().is_terminal();
        let file = self.output.output.as_deref().filter(|path| *path != Path::new("-"));
        if let Some(file) = file.filter(|_| is_prompt) {
            bail!(
                "-o {}: the prompt shows rows on the terminal; name the query whose rows the file gets, or - for standard \
                 input",
                file.display()
            );
        }
        Ok(is_prompt)
    }

    /// The session that runs the statements.
    fn open_session(&self, invocation: &Invocation<'_>, rejects: bool) -> Result<SqlSession> {
        let read = invocation.read_options(&self.reading, Validity::default())?;
        let options =
            SessionOptions::new(invocation.analyzer).threads(invocation.threads).read(read).recompute(self.recompute);
        #[cfg(feature = "cluster")]
        if let Some(cluster) = super::cluster::connect(invocation, self.cluster.as_deref(), &self.tls)
            .map_err(|error| failure(error, ""))?
        {
            return SqlSession::on_cluster(options, cluster).map_err(|error| failure(error, ""));
        }
        let limits = self.reading.space.limits();
        SqlSession::new(options, &limits, rejects).map_err(|error| failure(error, ""))
    }

    /// Opens the output for the rows of statements.
    fn open_printer(&self, invocation: &Invocation<'_>) -> Result<Printer> {
        let format = self.format()?;
        let (output, is_binary) = match format {
            RowForm::Table => (invocation.open_output(&self.output)?, false),
            RowForm::Rows(format) => {
                (super::run::format_output::open(invocation, &self.output, format)?, !format.is_text())
            }
        };
        let is_one = self.output.output.is_some() || is_binary;
        Ok(Printer { format, is_one, output, results: 0, style: invocation.style })
    }

    /// The text of the statements.
    fn text(&self, invocation: &Invocation<'_>) -> Result<String> {
        if let Some(query) = &self.query
            && query.starts_with('-')
            && query != "-"
            && !query.contains(char::is_whitespace)
        {
            bail!("unexpected argument '{query}'; lanefish sql -h lists the options");
        }
        let mut text = String::new();
        match (&self.query, &self.file) {
            (Some(query), _) if query != "-" => text.clone_from(query),
            (None, Some(path)) if path != Path::new("-") => {
                text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            }
            (query, file) => {
                if stdin_is_closed() {
                    bail!("standard input is closed: name a query, or a file of statements with --file");
                }
                if query.is_none() && file.is_none() && io::stdin().is_terminal() {
                    invocation.note(format_args!("reading statements from the terminal until Ctrl-D"));
                }
                let read = io::stdin().read_to_string(&mut text);
                read.context("cannot read standard input")?;
            }
        }
        Ok(text)
    }

    fn format(&self) -> Result<RowForm> {
        match RowForm::of(self.format, &self.output, Content::Rows)? {
            RowForm::Rows(format) => self.pages.apply(format).map(RowForm::Rows),
            RowForm::Table => Ok(RowForm::Table),
        }
    }
}

/// Runs statements and prints their rows; returns the exit status.
fn run_statements(
    invocation: &Invocation<'_>,
    sql: &SqlSession,
    text: &str,
    statements: &[Statement],
    printer: &mut Printer,
    rejects: &mut Option<Output>,
) -> Result<u8> {
    let mut status = 0;
    for statement in statements {
        let done = carry_out(invocation, sql, statement, printer, rejects);
        // The error of a statement is more informative than that the cluster does not answer.
        let summaries = match (&done, sql.summaries()) {
            (Err(_), Err(_)) => Vec::new(),
            (_, summaries) => summaries.map_err(|error| failure(error, text))?,
        };
        if done.as_ref().is_err_and(is_interruption) {
            return Err(Error::Interrupted.into());
        }
        for ended in summaries {
            let (summary, failure) = summary_and_failure(ended);
            invocation.report(&summary, failure.as_ref());
            // The error of a table is more informative than that reading it failed.
            status = status.max(invocation.outcome(&summary, failure)?);
        }
        for note in sql.notes() {
            invocation.note(format_args!("{note}"));
        }
        done.map_err(|error| match error.downcast() {
            Ok(error) => failure(error, text),
            Err(error) => error,
        })?;
    }
    Ok(status)
}

/// Whether the user has ended a statement.
fn is_interruption(error: &anyhow::Error) -> bool {
    let of_session = match error.downcast_ref() {
        Some(SqlError::Table(error)) => Some(&**error),
        _ => error.downcast_ref::<Arc<Error>>().map(|error| &**error),
    };
    matches!(error.downcast_ref().or(of_session), Some(Error::Interrupted))
}

/// An invalid statement, and the place of the error in it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Wrong {
    message: String,
    /// The line with the error, and a line below that points to the place; empty if the place is not known.
    pub(crate) excerpt: String,
}

/// An error of a statement, with the place in its text.
fn failure(error: SqlError, text: &str) -> anyhow::Error {
    let meant = |name: &str, known: &[String]| similar(name, known.iter().map(String::as_str)).map(str::to_owned);
    let message = format!("{error}{}", error.advice(text, meant));
    let excerpt = error.excerpt(text).unwrap_or_default();
    let message = match error {
        SqlError::Table(error) => return error.into(),
        SqlError::Temporary(_) => message + "; --temp DIR chooses another directory for temporary files",
        SqlError::Memory(_) => message + "; --memory SIZE allows more",
        _ => message,
    };
    Wrong { message, excerpt }.into()
}

/// Runs a statement and prints its rows.
fn carry_out(
    invocation: &Invocation<'_>,
    sql: &SqlSession,
    statement: &Statement,
    printer: &mut Printer,
    rejects: &mut Option<Output>,
) -> Result<()> {
    let mut rows = sql.run_unless(statement, interrupt::flag())?;
    let schema = rows.schema();
    // Printing starts with the first rows, so that a query that fails before prints nothing.
    let mut printing = None;
    let mut meter = Meter::new(invocation.global().progress, None);
    loop {
        match rows.step(PATIENCE)? {
            Step::Batch(batch) if !schema.fields().is_empty() => {
                let printing = match &mut printing {
                    Some(printing) => printing,
                    none => none.insert(printer.begin(&schema)?),
                };
                printer.put(printing, &batch)?;
            }
            Step::Reject(line) => {
                if let Some(rejects) = rejects {
                    rejects.put(&line)?;
                }
            }
            Step::End => break,
            _ => {}
        }
        if interrupt::flag().load(Ordering::Relaxed) {
            return Err(Error::Interrupted.into());
        }
        #[cfg(feature = "cluster")]
        if let Some(job) = sql.job_progress() {
            meter.show_job(job);
            continue;
        }
        meter.show(sql.progress());
    }
    meter.finish();
    if !schema.fields().is_empty() {
        let printing = match printing {
            Some(printing) => printing,
            None => printer.begin(&schema)?,
        };
        printer.end(printing)?;
    }
    Ok(())
}

/// Prints the rows of each statement in turn.
struct Printer {
    format: RowForm,
    /// Whether only one statement can write its rows.
    is_one: bool,
    output: Output,
    results: usize,
    style: Style,
}

/// The rows of a statement that are printed.
enum Printing {
    Rows(RowWriter),
    Table(ResultTable),
}

impl Printer {
    fn begin(&mut self, schema: &SchemaRef) -> Result<Printing> {
        self.results += 1;
        if self.results > 1 {
            if self.is_one {
                bail!("two statements return rows; only one statement can write to a file");
            }
            self.output.put(b"\n")?;
        }
        if let RowForm::Rows(format) = self.format {
            let failed = self.output.named();
            let writer = RowWriter::new(format, schema, &mut self.output);
            return Ok(Printing::Rows(writer.map_err(|error| failed.failed(error))?));
        }
        Ok(Printing::Table(ResultTable::new(schema)))
    }

    fn put(&mut self, printing: &mut Printing, batch: &RecordBatch) -> Result<()> {
        match printing {
            Printing::Rows(writer) => {
                let named = self.output.named();
                writer.put(batch, &mut self.output).map_err(|error| named.failed(error))?;
            }
            Printing::Table(table) => table.add(batch)?,
        }
        Ok(())
    }

    fn end(&mut self, printing: Printing) -> Result<()> {
        match printing {
            Printing::Rows(writer) => {
                let named = self.output.named();
                writer.finish(&mut self.output).map_err(|error| named.failed(error))?;
            }
            Printing::Table(table) => {
                let width = io::stdout().is_terminal().then(width);
                self.output.put(table.draw(width, self.style).as_bytes())?;
            }
        }
        Ok(())
    }
}
