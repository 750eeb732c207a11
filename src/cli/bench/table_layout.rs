//! The tables of rows: their layout, numbers that can be believed, and text that fits a terminal.

use super::noise::Time;
use crate::cli::measure::{Row, Timing};
use crate::cli::terminal::style;
use comfy_table::{CellAlignment, Table, presets};

/// Columns of a terminal.
pub(super) const WIDTH: usize = 80;
/// In place of a number whose spread is too large.
pub(super) const UNRELIABLE: &str = "unreliable";
/// The same in tables that would become too wide.
pub(super) const UNRELIABLE_IN_SHORT: &str = "?";

/// An item of a list, at a depth from 1.
pub(super) fn item(depth: usize, text: &str, markdown: bool) -> String {
    let indent = "  ".repeat(depth);
    if markdown {
        format!("{}- {text}\n", "  ".repeat(depth - 1))
    } else {
        format!("{}\n", style::wrapped(text, WIDTH, &indent))
    }
}

/// A paragraph: in text, lines that fit a terminal.
pub(super) fn wrapped(text: &str, markdown: bool) -> String {
    if markdown { format!("{text}\n") } else { format!("{}\n", style::wrapped(text, WIDTH, "")) }
}

/// A table under construction.
pub(super) struct Lines {
    pub(super) title: String,
    /// Sentences below the title.
    pub(super) about: Vec<String>,
    pub(super) header: Vec<String>,
    pub(super) lines: Vec<Vec<String>>,
    /// Columns that hold numbers.
    pub(super) numbers: std::ops::Range<usize>,
}

impl Lines {
    /// Title, sentences and table.
    pub(super) fn render(&self, markdown: bool) -> String {
        let mut text = wrapped(&self.title, markdown);
        if !self.about.is_empty() {
            // Markdown would make one paragraph of both.
            text.push_str(if markdown { "\n" } else { "" });
            text.push_str(&wrapped(&self.about.join(" "), markdown));
        }
        text.push('\n');
        let table = self.table(&self.lines, markdown);
        if markdown || table.lines().all(|line| line.chars().count() <= WIDTH) {
            return text + &table;
        }
        let in_short = |cell: &String| if cell == UNRELIABLE { UNRELIABLE_IN_SHORT.to_owned() } else { cell.clone() };
        let lines: Vec<Vec<String>> = self.lines.iter().map(|line| line.iter().map(in_short).collect()).collect();
        let mark = if lines == self.lines { String::new() } else { format!("{UNRELIABLE_IN_SHORT}: {UNRELIABLE}\n") };
        text + &self.table(&lines, markdown) + &mark
    }

    fn table(&self, lines: &[Vec<String>], markdown: bool) -> String {
        let mut table = Table::new();
        table.load_style(if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
        table.set_header(&self.header);
        table.add_rows(lines);
        for index in self.numbers.clone() {
            if let Some(column) = table.column_mut(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        // Names begin at the left edge: the column is needed where cells are unreliable.
        if !markdown && let Some(column) = table.column_mut(0) {
            column.set_padding((0, 1));
        }
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// Distinct keys in the order of the rows.
pub(super) fn keys<'a, K: PartialEq>(rows: &'a [Row], key: impl Fn(&'a Row) -> Option<K>) -> Vec<K> {
    let mut keys = Vec::new();
    for key in rows.iter().filter_map(key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

pub(super) fn timing(row: &Row) -> Option<Timing> {
    row.measured.map(|measured| measured.timing)
}

pub(super) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// The number of a row, if it can be believed.
pub(super) fn believed(row: Option<&Row>, value: impl Fn(Timing) -> String) -> String {
    match row.and_then(timing) {
        None => "-".to_owned(),
        Some(_) if !row.and_then(Time::of).is_some_and(Time::is_reliable) => UNRELIABLE.to_owned(),
        Some(timing) => value(timing),
    }
}

/// A further number of a row: a dash if the row cannot be believed.
pub(super) fn or_dash(row: &Row, value: String) -> String {
    if Time::of(row).is_some_and(Time::is_reliable) { value } else { "-".to_owned() }
}

/// Millions per second.
pub(super) fn millions(row: Option<&Row>) -> String {
    believed(row, |timing| {
        let millions = timing.per_second / 1e6;
        number(Some(millions), if millions >= 100.0 { 0 } else { 1 })
    })
}

/// The largest spread.
pub(super) fn spread<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let spreads = rows.filter_map(timing).map(|timing| timing.spread * 100.0);
    match spreads.reduce(f64::max) {
        Some(widest) => format!("{widest:.0} %"),
        None => "-".to_owned(),
    }
}

/// The usual names of instruction sets: `AVX-512`, `AVX2, GFNI`, `BMI2`.
pub(super) fn family(needs: &[&str]) -> String {
    let has = |name: &str| needs.contains(&name);
    let mut names = Vec::new();
    if needs.iter().any(|name| name.starts_with("avx512")) {
        names.push(if has("avx512bitalg") { "AVX-512 BITALG".to_owned() } else { "AVX-512".to_owned() });
    } else if has("avx2") {
        names.push("AVX2".to_owned());
    } else if has("bmi2") {
        names.push("BMI2".to_owned());
    }
    if has("gfni") {
        names.push("GFNI".to_owned());
    }
    if names.is_empty() {
        names = needs.iter().map(|name| name.to_uppercase()).collect();
    }
    names.join(", ")
}

/// The rows that ratios may refer to.
pub(super) fn reliable(rows: &[Row]) -> Vec<Row> {
    rows.iter().filter(|row| Time::of(row).is_some_and(Time::is_reliable)).cloned().collect()
}

pub(super) fn needs(row: &Row) -> String {
    let needs = family(row.needs);
    match row.measured {
        Some(_) => needs,
        None => format!("{needs} (missing)"),
    }
}

/// A size with its unit.
pub(super) fn bytes(count: usize) -> String {
    match count {
        0 => "0".to_owned(),
        1..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.1} KiB", count as f64 / 1024.0),
        _ => format!("{:.1} MiB", count as f64 / 1_048_576.0),
    }
}
