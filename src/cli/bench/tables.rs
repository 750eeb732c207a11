//! Rows as tables for people.

use super::PACKED_BYTES;
use comfy_table::{CellAlignment, Table, presets};
use lanefish::bench::sliders::{Piece, Source};
use lanefish::bench::{Row, Subject, Timing};
use lanefish::cpu;
use lanefish::tiers::Tier;
use std::collections::BTreeMap;
use std::fmt::Write;

/// All tables that have rows, and for text the checksums.
pub(super) fn text(rows: &[Row], threads: usize, markdown: bool) -> String {
    let unit = match threads {
        1 => "one thread".to_owned(),
        _ => format!("{threads} threads at once"),
    };
    let mut text = format!("{}, {unit}\n", cpu::model());
    if rows.is_empty() {
        text.push_str("\nno row has that name\n");
        return text;
    }
    let tables = [
        slider_table(rows),
        kernel_table(rows),
        decode_table(rows),
        scan_table(rows),
    ];
    for table in tables.into_iter().flatten() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n\n{}", table.title, table.render(markdown));
    }
    if !markdown {
        text.push_str("\nchecksums, the same for all that are asked the same:\n");
        let checksums: BTreeMap<_, _> = rows
            .iter()
            .filter_map(|row| Some((row.question(), row.measured?.checksum)))
            .collect();
        for (question, checksum) in checksums {
            let _ = writeln!(text, "  {question:24} {checksum:#018x}");
        }
    }
    text
}

/// A table in the making.
struct Lines {
    title: String,
    header: Vec<String>,
    lines: Vec<Vec<String>>,
    /// Columns that hold numbers.
    numbers: std::ops::Range<usize>,
}

impl Lines {
    fn render(&self, markdown: bool) -> String {
        let mut table = Table::new();
        table.load_style(if markdown {
            presets::ASCII_MARKDOWN
        } else {
            presets::NOTHING
        });
        table.set_header(&self.header);
        table.add_rows(&self.lines);
        for index in self.numbers.clone() {
            if let Some(column) = table.column_mut(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
            .lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }
}

/// Different keys in the order of the rows.
fn keys<'a, K: PartialEq>(rows: &'a [Row], key: impl Fn(&'a Row) -> Option<K>) -> Vec<K> {
    let mut keys = Vec::new();
    for key in rows.iter().filter_map(key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn timing(row: &Row) -> Option<Timing> {
    row.measured.map(|measured| measured.timing)
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// Millions a second.
fn millions(row: Option<&Row>) -> String {
    let per_second = row.and_then(timing).map(|timing| timing.per_second / 1e6);
    number(per_second, if per_second >= Some(100.0) { 0 } else { 1 })
}

/// The widest spread.
fn spread<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let spreads = rows.filter_map(timing).map(|timing| timing.spread * 100.0);
    match spreads.reduce(f64::max) {
        Some(widest) => format!("{widest:.0} %"),
        None => "-".to_owned(),
    }
}

fn needs(row: &Row) -> String {
    let needs = row.needs.join(" ");
    match row.measured {
        Some(_) => needs,
        None => format!("{needs} (not here)"),
    }
}

/// One line an algorithm, one column a source and piece, fastest for queens of real positions first.
fn slider_table(rows: &[Row]) -> Option<Lines> {
    let column = |row: &Row| match row.subject {
        Subject::Slider { piece, source, .. } => Some((source, piece)),
        _ => None,
    };
    let columns = keys(rows, column);
    let queens = (Source::Real, Piece::Queen);
    let deciding = match columns.contains(&queens) {
        true => queens,
        false => *columns.last()?,
    };
    let cell = |name: &str, wanted| {
        rows.iter()
            .find(|row| row.name == name && column(row) == Some(wanted))
    };
    let nanoseconds = |name: &str, column| Some(timing(cell(name, column)?)?.nanoseconds);
    let mut names = keys(rows, |row| column(row).and(Some(row.name)));
    let place = |name: &str| nanoseconds(name, deciding).unwrap_or(f64::INFINITY);
    names.sort_by(|a, b| place(a).total_cmp(&place(b)));

    let mut header = vec!["algorithm".to_owned()];
    header.extend(
        columns
            .iter()
            .map(|(source, piece)| format!("{source} {piece}")),
    );
    header.extend(["ratio", "spread", "tables", "kind", "needs"].map(str::to_owned));
    let lines = names.iter().filter_map(|&name| {
        let own = || rows.iter().filter(move |row| row.name == name);
        let first = own().next()?;
        let Subject::Slider { table_bytes, .. } = first.subject else {
            return None;
        };
        let mut line = vec![name.to_owned()];
        line.extend(
            columns
                .iter()
                .map(|&column| number(nanoseconds(name, column), 2)),
        );
        let ratio = cell(name, deciding).and_then(|row| row.ratio_to_fastest(rows));
        line.extend([
            number(ratio, 2),
            spread(own()),
            bytes(table_bytes),
            first.kind.to_string(),
            needs(first),
        ]);
        Some(line)
    });
    let (source, piece) = deciding;
    Some(Lines {
        title: format!(
            "Slider attacks: nanoseconds a question; ratio to the fastest, {source} {piece}"
        ),
        header,
        lines: lines.collect(),
        numbers: 1..columns.len() + 4,
    })
}

/// One line a tier or rival, one column a kernel.
fn kernel_table(rows: &[Row]) -> Option<Lines> {
    let who = |row: &Row| match row.subject {
        Subject::Kernel { tier, algorithm } => Some((tier, algorithm)),
        _ => None,
    };
    let kernels = keys(rows, |row| who(row).and(Some(row.name)));
    let deciding = match kernels.contains(&"legal_count") {
        true => "legal_count",
        false => kernels.last()?,
    };
    let mut header = ["tier", "algorithm"].map(str::to_owned).to_vec();
    header.extend(kernels.iter().map(|&kernel| kernel.to_owned()));
    header.extend(["×", "spread", "needs"].map(str::to_owned));
    let lines = keys(rows, who).into_iter().filter_map(|wanted| {
        let own = || rows.iter().filter(move |row| who(row) == Some(wanted));
        let of = |kernel| own().find(|row| row.name == kernel);
        let (tier, algorithm) = wanted;
        let tier = tier.map_or("-", Tier::name);
        let mut line = vec![tier.to_owned(), algorithm.to_owned()];
        line.extend(kernels.iter().map(|&kernel| millions(of(kernel))));
        let ratio = of(deciding).and_then(|row| row.ratio_to_portable(rows));
        line.extend([number(ratio, 1), spread(own()), needs(own().next()?)]);
        Some(line)
    });
    Some(Lines {
        title: format!(
            "Kernels: millions of positions a second; × portable, {deciding}; without a tier: rivals, piece by piece"
        ),
        header,
        lines: lines.collect(),
        numbers: 2..kernels.len() + 4,
    })
}

fn decode_table(rows: &[Row]) -> Option<Lines> {
    let lines: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let Subject::Decode { bytes_per_position } = row.subject else {
                return None;
            };
            let timing = timing(row)?;
            Some(vec![
                row.name.to_owned(),
                number(Some(timing.nanoseconds), 1),
                millions(Some(row)),
                number(Some(bytes_per_position), 1),
                number(Some(timing.per_second * bytes_per_position / 1e6), 0),
                spread([row].into_iter()),
            ])
        })
        .collect();
    let header = [
        "row",
        "ns",
        "millions a second",
        "bytes",
        "MB a second",
        "spread",
    ];
    (!lines.is_empty()).then(|| Lines {
        title: "Decoding: time, rate and size of a position".to_owned(),
        header: header.map(str::to_owned).to_vec(),
        lines,
        numbers: 1..6,
    })
}

/// One line a place and what is done there; the first of a place is the roof.
fn scan_table(rows: &[Row]) -> Option<Lines> {
    let lines: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let Subject::Scan {
                place,
                tier,
                bytes: size,
            } = row.subject
            else {
                return None;
            };
            let timing = timing(row)?;
            Some(vec![
                format!("{place}, {}", bytes(size)),
                row.name.to_owned(),
                tier.map_or("-", Tier::name).to_owned(),
                number(Some(timing.nanoseconds), 2),
                millions(Some(row)),
                number(Some(timing.per_second * PACKED_BYTES / 1e9), 1),
                number(row.ratio_to_fastest(rows), 2),
                spread([row].into_iter()),
            ])
        })
        .collect();
    let header = [
        "place",
        "work",
        "tier",
        "ns",
        "millions a second",
        "GB a second",
        "ratio",
        "spread",
    ];
    (!lines.is_empty()).then(|| Lines {
        title:
            "Reading packed boards: time and rate of a position; ratio to the fastest of the place"
                .to_owned(),
        header: header.map(str::to_owned).to_vec(),
        lines,
        numbers: 3..8,
    })
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
