//! `sql`: SQL statements over files of positions, with rows in any format.

use super::arguments::command_scope::{Examples, OUTPUT, READING, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, Reading};
use super::arguments::row_format_arg::{RowForm, shown_or_written};
use super::arguments::value_parsers::did_you_mean;
use super::run::format_output::PageArgs;
use super::run::interrupt;
use super::run::invocation::{Invocation, summary_and_failure};
use super::run::output::Output;
use super::stats::RULED;
use super::terminal::progress::Meter;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};
use comfy_table::{CellAlignment, Table};
use lanefish::Error;
use lanefish::chess::Validity;
use lanefish::jobs::Content;
use lanefish::sql::arrow::array::RecordBatch;
use lanefish::sql::arrow::datatypes::SchemaRef;
use lanefish::sql::arrow::util::display::{ArrayFormatter, FormatOptions};
use lanefish::sql::{RowWriter, Session as SqlSession, SessionOptions, SqlError, Statement, Step};
use lanefish_core::text::numbers::counted;
use lanefish_core::text::one_line;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval between checks whether the user has interrupted the query.
const PATIENCE: Duration = Duration::from_millis(50);
/// Maximum number of rows of a table on a terminal; nobody reads more.
const MOST_SHOWN: usize = 1000;
/// The description of the table.
const FOR_PEOPLE: &str = "For people; at most 1,000 rows";

/// Run SQL queries: a quoted path is a table; columns are also functions of a FEN
#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// Statements, separated by semicolons; - reads them from standard input
    // A comment begins with a hyphen.
    #[arg(value_name = "QUERY", required_unless_present = "file", allow_hyphen_values = true)]
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
        let text = self.text()?;
        let format = self.format()?;
        let failed = |error| failure(error, &text);
        let statements = SqlSession::parse(&text).map_err(failed)?;
        if statements.is_empty() {
            bail!("there is no statement");
        }
        #[cfg(feature = "cluster")]
        if self.cluster.is_some() && invocation.global().records.rejects.is_some() {
            bail!(
                "--rejects: the lines of rejected records stay on the machines that read them; \
                 lanefish verify --rejects FILE lists them"
            );
        }
        let (output, is_binary) = match format {
            RowForm::Table => (invocation.open_output(&self.output)?, false),
            RowForm::Rows(format) => {
                (super::run::format_output::open(invocation, &self.output, format)?, !format.is_text())
            }
        };
        let mut rejects = invocation.open_rejects()?;
        let read = invocation.read_options(&self.reading, Validity::default())?;
        let options =
            SessionOptions::new(invocation.analyzer).threads(invocation.threads).read(read).recompute(self.recompute);
        let sql = self.session(invocation, options, rejects.is_some()).map_err(failed)?;
        let mut printer = Printer { format, is_one: self.output.output.is_some() || is_binary, output, results: 0 };
        let mut status = 0;
        for statement in &statements {
            let done = carry_out(invocation, &sql, statement, &mut printer, &mut rejects);
            // The error of a statement is more informative than that the cluster does not answer.
            let summaries = match (&done, sql.summaries()) {
                (Err(_), Err(_)) => Vec::new(),
                (_, summaries) => summaries.map_err(failed)?,
            };
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
                Ok(error) => failure(error, &text),
                Err(error) => error,
            })?;
        }
        invocation.keep_rejects(rejects);
        invocation.commit(Some(printer.output))?;
        Ok(status)
    }
}

impl SqlArgs {
    /// The session that runs the statements.
    fn session(
        &self,
        #[cfg_attr(not(feature = "cluster"), expect(unused_variables, reason = "not in this build"))]
        invocation: &Invocation<'_>,
        options: SessionOptions,
        rejects: bool,
    ) -> Result<SqlSession, SqlError> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = super::cluster::connect(invocation, self.cluster.as_deref(), &self.tls)? {
            return SqlSession::on_cluster(options, cluster);
        }
        let limits = self.reading.space.limits();
        SqlSession::new(options, &limits, rejects)
    }

    /// The text of the statements.
    fn text(&self) -> Result<String> {
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
            _ => {
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
    let mut message = error.to_string();
    let excerpt = error.place().and_then(|(line, column)| {
        let shown = text.lines().nth(usize::try_from(line.checked_sub(1)?).ok()?)?;
        let before = usize::try_from(column.checked_sub(1)?).ok()?;
        // A line of a megabyte does not help.
        (shown.len() <= 500).then(|| format!("  {shown}\n  {}^\n", " ".repeat(before)))
    });
    match error {
        SqlError::Table(error) => return error.into(),
        SqlError::Column { name, known, .. } => {
            message += &did_you_mean(&name, known.iter().map(String::as_str));
            if [".parquet'", ".arrow'", ".feather'"].iter().any(|end| text.contains(end)) {
                message += "; plain('FILE') has the columns that a file has";
            }
        }
        SqlError::Temporary(_) => {
            message += "; --temp DIR chooses another directory for temporary files";
        }
        SqlError::Memory(_) => message += "; --memory SIZE allows more",
        _ => {}
    }
    Wrong { message, excerpt: excerpt.unwrap_or_default() }.into()
}

/// Runs a statement and prints its rows.
fn carry_out(
    invocation: &Invocation<'_>,
    sql: &SqlSession,
    statement: &Statement,
    printer: &mut Printer,
    rejects: &mut Option<Output>,
) -> Result<()> {
    let mut rows = sql.run(statement)?;
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
        printer.end(printing, invocation)?;
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
}

/// A text as shown in a table. Line feeds, which plans contain, start a new line in the same cell.
fn shown(text: &str) -> String {
    let lines = text.split('\n').map(one_line::of);
    lines.collect::<Vec<_>>().join("\n")
}

/// The rows of a statement that are printed.
enum Printing {
    Rows(RowWriter),
    Table {
        table: Box<Table>,
        /// The number of all rows, including those that are not shown.
        rows: usize,
    },
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
        let mut table = Table::new();
        table.load_style(RULED);
        table.set_header(schema.fields().iter().map(|field| shown(field.name())));
        for (field, column) in schema.fields().iter().zip(table.column_iter_mut()) {
            if field.data_type().is_numeric() {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Ok(Printing::Table { table: Box::new(table), rows: 0 })
    }

    fn put(&mut self, printing: &mut Printing, batch: &RecordBatch) -> Result<()> {
        match printing {
            Printing::Rows(writer) => {
                let named = self.output.named();
                writer.put(batch, &mut self.output).map_err(|error| named.failed(error))?;
            }
            Printing::Table { table, rows } => {
                let options = FormatOptions::default();
                let columns = batch
                    .columns()
                    .iter()
                    .map(|column| ArrayFormatter::try_new(&**column, &options))
                    .collect::<Result<Vec<_>, _>>()?;
                for row in 0..batch.num_rows().min(MOST_SHOWN.saturating_sub(*rows)) {
                    table.add_row(columns.iter().map(|column| shown(&column.value(row).to_string())));
                }
                *rows += batch.num_rows();
            }
        }
        Ok(())
    }

    fn end(&mut self, printing: Printing, invocation: &Invocation<'_>) -> Result<()> {
        match printing {
            Printing::Rows(writer) => {
                let named = self.output.named();
                writer.finish(&mut self.output).map_err(|error| named.failed(error))?;
            }
            Printing::Table { table, rows } => {
                self.output.put(format!("{table}\n").as_bytes())?;
                if let more @ 1.. = rows.saturating_sub(MOST_SHOWN) {
                    let more = counted(more as u64, "more row");
                    invocation.note(format_args!("{more} not shown; --format csv has all of them"));
                }
            }
        }
        Ok(())
    }
}
