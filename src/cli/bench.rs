//! `bench`: intrinsic against portable, side by side, on this CPU.

use super::SOMETHING_WRONG;
use super::args::Reading;
use super::selection::SelectionArgs;
use super::session::{Run, Session};
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use lanefish::bench::sliders::{Piece, Source, measure_sliders, sample_positions};
use lanefish::bench::{Options, Row, Subject};
use lanefish::chess::Position;
use lanefish::cpu;
use lanefish::pipeline::{Job, Tile};
use lanefish::tiers::Wanted;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// Time every algorithm that this CPU can run, and list those it cannot
///
/// Every row is verified before it is timed. Times are medians of the least disturbed of several rounds, in
/// nanoseconds of one thread; the spread is half the distance between the quartiles of all rounds. Sources of questions: `random` boards, `real` positions, and
/// `pressure`, the real ones while the first two levels of the cache are full of other data.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure [default: everything]
    #[arg(value_name = "GROUP")]
    groups: Vec<Group>,

    /// Take the positions from this file, of any supported format [default: 2,000 from Lichess games]
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,

    /// Time for each row, in seconds
    #[arg(long, value_name = "S", default_value_t = 0.2)]
    seconds: f64,

    /// Only rows whose title, such as sliders/pext/queen/real, contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Tables in Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// One JSON object with all rows
    #[arg(long)]
    json: bool,
}

/// What there is to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Slider attacks: one piece, one square
    Sliders,
}

/// As many positions as questions are asked about; more would not be looked at.
const MOST_POSITIONS: u64 = 100_000;

impl BenchArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        ensure!(
            self.seconds > 0.0 && self.seconds <= 3600.0,
            "`{}` is no time for a row: give seconds, more than 0 and at most 3600",
            self.seconds
        );
        let options = Options {
            time: Duration::from_secs_f64(self.seconds),
            filter: self.filter.clone(),
            threads: session.global().threads.map_or(1, usize::from),
        };
        let mut status = 0;
        let positions = if self.input.is_empty() {
            sample_positions()
        } else {
            self.positions(session, &mut status)?
        };
        let all: Vec<Group> = if self.groups.is_empty() {
            Group::value_variants().to_vec()
        } else {
            self.groups.clone()
        };
        let mut rows = Vec::new();
        for group in all {
            match group {
                Group::Sliders => measure_sliders(&options, &positions, |row| {
                    if session.verbose() {
                        session.note(format_args!("{}", row.title()));
                    }
                    rows.push(row);
                }),
            }
        }
        let faults = faults(&rows);
        for fault in &faults {
            session.note(format_args!("{fault}"));
        }
        if !faults.is_empty() {
            status = SOMETHING_WRONG;
        }
        if self.json {
            let object = Map::from_iter([
                ("version".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
                ("cpu".to_owned(), json!(cpu::model())),
                ("threads".to_owned(), json!(options.threads)),
                ("seconds".to_owned(), json!(self.seconds)),
                (
                    "rows".to_owned(),
                    rows.iter().map(|row| value(row, &rows)).collect(),
                ),
            ]);
            super::print_object(&object)?;
        } else {
            super::print(self.text(&rows, options.threads).as_bytes())?;
        }
        Ok(status)
    }

    fn positions(&self, session: &Session<'_>, status: &mut u8) -> Result<Vec<Position>> {
        let reading = Reading {
            from: None,
            keep_en_passant: false,
            games: SelectionArgs::default(),
        };
        let run = Run {
            limit: Some(MOST_POSITIONS),
            ..Run::default()
        };
        let mut positions = Vec::new();
        let read = session.read(&self.input, &reading, run, &Positions, |some| {
            positions.extend(some);
            Ok(())
        })?;
        *status = session.conclude(read.summary)?;
        ensure!(!positions.is_empty(), "the input holds no good position");
        Ok(positions)
    }

    fn text(&self, rows: &[Row], threads: usize) -> String {
        let unit = match threads {
            1 => "one thread".to_owned(),
            _ => format!("{threads} threads at once"),
        };
        let mut text = format!(
            "{}, {unit}; nanoseconds for one question\n\n{}\n",
            cpu::model(),
            slider_table(rows, self.markdown)
        );
        if self.markdown {
            return text;
        }
        text.push_str("\nchecksums, the same for every algorithm:\n");
        let mut shown = Vec::new();
        for row in rows {
            let Subject::Slider { piece, source, .. } = row.subject else {
                continue;
            };
            if let Some(measured) = row.measured
                && !shown.contains(&(piece, source))
            {
                shown.push((piece, source));
                let checksum = measured.checksum;
                text.push_str(&format!("  {source:8} {piece:6} {checksum:#018x}\n"));
            }
        }
        text
    }
}

/// Collects positions.
struct Positions;

impl Job for Positions {
    type Output = Vec<Position>;
    fn wanted(&self) -> Wanted {
        Wanted::NOTHING
    }
    fn begin(&self) -> Vec<Position> {
        Vec::new()
    }
    fn tile(&self, positions: &mut Vec<Position>, tile: Tile<'_>) {
        positions.extend(tile.rows().filter_map(|row| tile.batch.position(row).ok()));
    }
}

/// Rows that were not verified, and rows whose checksum is not that of the first one asked the same.
fn faults(rows: &[Row]) -> Vec<String> {
    let mut checksums = HashMap::new();
    let mut faults = Vec::new();
    for row in rows {
        let Some(measured) = row.measured else {
            continue;
        };
        if !measured.verified {
            faults.push(format!("{}: wrong answers", row.title()));
        }
        if let Subject::Slider { piece, source, .. } = row.subject {
            let expected = *checksums
                .entry((piece, source))
                .or_insert(measured.checksum);
            if measured.checksum != expected {
                faults.push(format!("{}: another checksum", row.title()));
            }
        }
    }
    faults
}

/// A row as JSON.
fn value(row: &Row, rows: &[Row]) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    let timing = row.measured.map(|measured| measured.timing);
    put("group", json!(row.group));
    put("name", json!(row.name));
    put("kind", json!(row.kind.to_string()));
    put("needs", json!(row.needs));
    put("available", json!(row.measured.is_some()));
    put(
        "verified",
        json!(row.measured.is_some_and(|measured| measured.verified)),
    );
    put(
        "checksum",
        json!(
            row.measured
                .map(|measured| format!("{:#018x}", measured.checksum))
        ),
    );
    if let Subject::Slider {
        piece,
        source,
        table_bytes,
    } = row.subject
    {
        put("piece", json!(piece.to_string()));
        put("source", json!(source.to_string()));
        put(
            "ns_per_query",
            json!(timing.map(|timing| timing.nanoseconds)),
        );
        put(
            "queries_per_second",
            json!(timing.map(|timing| timing.per_second)),
        );
        put("table_bytes", json!(table_bytes));
    }
    put("spread", json!(timing.map(|timing| timing.spread)));
    put("samples", json!(timing.map(|timing| timing.samples)));
    put("ratio_to_fastest", json!(row.ratio_to_fastest(rows)));
    Value::Object(object)
}

/// One line an algorithm, one column a source and piece, fastest for queens of real positions first.
fn slider_table(rows: &[Row], markdown: bool) -> String {
    let mut columns: Vec<(Source, Piece)> = Vec::new();
    let mut names: Vec<&Row> = Vec::new();
    let mut cells = HashMap::new();
    for row in rows {
        let Subject::Slider { piece, source, .. } = row.subject else {
            continue;
        };
        if !columns.contains(&(source, piece)) {
            columns.push((source, piece));
        }
        if names.iter().all(|known| known.name != row.name) {
            names.push(row);
        }
        cells.insert((row.name, source, piece), row);
    }
    let Some(&deciding) = columns
        .iter()
        .find(|&&column| column == (Source::Real, Piece::Queen))
        .or(columns.last())
    else {
        return "no row has that name\n".to_owned();
    };
    let timing = |name, (source, piece)| {
        let row: &&Row = cells.get(&(name, source, piece))?;
        row.measured.map(|measured| measured.timing)
    };
    let key =
        |row: &&Row| timing(row.name, deciding).map_or(f64::INFINITY, |timing| timing.nanoseconds);
    names.sort_by(|a, b| key(a).total_cmp(&key(b)));

    let mut table = Table::new();
    table.load_style(if markdown {
        presets::ASCII_MARKDOWN
    } else {
        presets::NOTHING
    });
    let mut header = vec!["algorithm".to_owned()];
    header.extend(
        columns
            .iter()
            .map(|(source, piece)| format!("{source} {piece}")),
    );
    header.extend(["ratio", "spread", "tables", "kind", "needs"].map(str::to_owned));
    table.set_header(header);
    for row in names {
        let mut line = vec![row.name.to_owned()];
        let mut widest: Option<f64> = None;
        for &column in &columns {
            let timing = timing(row.name, column);
            line.push(timing.map_or("-".to_owned(), |timing| {
                format!("{:.2}", timing.nanoseconds)
            }));
            if let Some(timing) = timing {
                widest = Some(widest.map_or(timing.spread, |widest| widest.max(timing.spread)));
            }
        }
        let (source, piece) = deciding;
        let ratio = cells
            .get(&(row.name, source, piece))
            .and_then(|row| row.ratio_to_fastest(rows));
        line.push(ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")));
        line.push(widest.map_or("-".to_owned(), |spread| format!("{:.0} %", spread * 100.0)));
        if let Subject::Slider { table_bytes, .. } = row.subject {
            line.push(bytes(table_bytes));
        }
        line.push(row.kind.to_string());
        line.push(match row.measured {
            Some(_) => row.needs.join(" "),
            None => format!("{} (not here)", row.needs.join(" ")),
        });
        table.add_row(line);
    }
    for index in 1..columns.len() + 4 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<_> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    format!(
        "{}\n\nratio: to the fastest, {} {}\n",
        lines.join("\n"),
        deciding.0,
        deciding.1
    )
}

/// A size with its unit.
fn bytes(count: usize) -> String {
    match count {
        0 => "0".to_owned(),
        1..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.1} KiB", count as f64 / 1024.0),
        _ => format!("{:.1} MiB", count as f64 / 1_048_576.0),
    }
}
