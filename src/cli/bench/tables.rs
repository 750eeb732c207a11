//! Rows as tables for people.

use super::PACKED_BYTES;
use comfy_table::{CellAlignment, Table, presets};
use lanefish::bench::sliders::{SliderPiece, Source};
use lanefish::bench::{Row, Subject, Timing};
use lanefish::cpu;
use lanefish::tiers::Tier;
use std::collections::BTreeMap;
use std::fmt::Write;

/// All tables that have rows; in text, also the checksums.
pub(super) fn text(rows: &[Row], threads: usize, markdown: bool) -> String {
    let unit = match threads {
        1 => "one thread".to_owned(),
        _ => format!("{threads} threads"),
    };
    let mut text = format!("{}, {unit}\n", cpu::model());
    // What no terminal can show in one table is split into several.
    let (sliders, kernels) = if markdown {
        (slider_table(rows, None).into_iter().collect(), kernel_table(rows, true).into_iter().collect())
    } else {
        (slider_tables(rows), kernel_tables(rows))
    };
    let others = [decode_table(rows), scan_table(rows), command_table(rows)];
    let tables: Vec<Lines> = [sliders, kernels].into_iter().flatten().collect();
    for table in tables.into_iter().chain(others.into_iter().flatten()) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n\n{}", table.title, table.render(markdown));
    }
    if !markdown {
        text.push_str("\nchecksums; rows with the same query must agree:\n");
        let checksums: BTreeMap<_, _> =
            rows.iter().filter_map(|row| Some((row.query(), row.measured?.checksum))).collect();
        for (query, checksum) in checksums {
            let _ = writeln!(text, "  {query:24} {checksum:#018x}");
        }
    }
    text
}

/// A table under construction.
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
        table.load_style(if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
        table.set_header(&self.header);
        table.add_rows(&self.lines);
        for index in self.numbers.clone() {
            if let Some(column) = table.column_mut(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// Distinct keys in the order of the rows.
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

/// Millions per second.
fn millions(row: Option<&Row>) -> String {
    let per_second = row.and_then(timing).map(|timing| timing.per_second / 1e6);
    number(per_second, if per_second >= Some(100.0) { 0 } else { 1 })
}

/// The largest spread.
fn spread<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let spreads = rows.filter_map(timing).map(|timing| timing.spread * 100.0);
    match spreads.reduce(f64::max) {
        Some(widest) => format!("{widest:.0} %"),
        None => "-".to_owned(),
    }
}

/// The usual names of instruction sets: `AVX-512`, `AVX2, GFNI`, `BMI2`.
fn family(needs: &[&str]) -> String {
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

fn needs(row: &Row) -> String {
    let needs = family(row.needs);
    match row.measured {
        Some(_) => needs,
        None => format!("{needs} (missing)"),
    }
}

/// A table for each source of queries, and one of what the algorithms need.
fn slider_tables(rows: &[Row]) -> Vec<Lines> {
    let sources = keys(rows, |row| match row.subject {
        Subject::Slider { source, .. } => Some(source),
        _ => None,
    });
    let mut tables: Vec<Lines> = sources.iter().filter_map(|&source| slider_table(rows, Some(source))).collect();
    let sizes = keys(rows, |row| match row.subject {
        Subject::Slider { table_bytes, .. } => Some((row.name, table_bytes)),
        _ => None,
    });
    let lines: Vec<_> = sizes
        .into_iter()
        .filter_map(|(name, size)| {
            let row = rows.iter().find(|row| row.group == "sliders" && row.name == name)?;
            Some(vec![name.to_owned(), bytes(size), row.kind.to_string(), needs(row)])
        })
        .collect();
    if !lines.is_empty() {
        tables.push(Lines {
            title: "Slider algorithms: table sizes and requirements".to_owned(),
            header: ["algorithm", "tables", "kind", "needs"].map(str::to_owned).to_vec(),
            lines,
            numbers: 1..2,
        });
    }
    tables
}

/// One line per algorithm, one column per source and piece, fastest for queens of real positions first; for one
/// source only times.
fn slider_table(rows: &[Row], only: Option<Source>) -> Option<Lines> {
    let whole = only.is_none();
    let column = |row: &Row| match row.subject {
        Subject::Slider { piece, source, .. } if only.is_none_or(|only| only == source) => Some((source, piece)),
        _ => None,
    };
    let columns = keys(rows, column);
    let queens = (only.unwrap_or(Source::Real), SliderPiece::Queen);
    let deciding = if columns.contains(&queens) { queens } else { *columns.last()? };
    let cell = |name: &str, requested| rows.iter().find(|row| row.name == name && column(row) == Some(requested));
    let nanoseconds = |name: &str, column| Some(timing(cell(name, column)?)?.nanoseconds);
    let mut names = keys(rows, |row| column(row).and(Some(row.name)));
    let place = |name: &str| nanoseconds(name, deciding).unwrap_or(f64::INFINITY);
    names.sort_by(|a, b| place(a).total_cmp(&place(b)));

    let mut header = vec!["algorithm".to_owned()];
    let title = |(source, piece): &(Source, SliderPiece)| {
        if whole { format!("{source} {piece}") } else { piece.to_string() }
    };
    header.extend(columns.iter().map(title));
    header.extend(["ratio", "spread"].map(str::to_owned));
    if whole {
        header.extend(["tables", "kind", "needs"].map(str::to_owned));
    }
    let lines = names.iter().filter_map(|&name| {
        let own = || rows.iter().filter(move |row| row.name == name && column(row).is_some());
        let first = own().next()?;
        let Subject::Slider { table_bytes, .. } = first.subject else {
            return None;
        };
        let mut line = vec![name.to_owned()];
        line.extend(columns.iter().map(|&column| number(nanoseconds(name, column), 2)));
        let ratio = cell(name, deciding).and_then(|row| row.ratio_to_fastest(rows));
        line.extend([number(ratio, 2), spread(own())]);
        if whole {
            line.extend([bytes(table_bytes), first.kind.to_string(), needs(first)]);
        }
        Some(line)
    });
    let (source, piece) = deciding;
    Some(Lines {
        title: if whole {
            format!("Slider attacks: nanoseconds per query; ratio to the fastest, {source} {piece}")
        } else {
            format!("Slider attacks, {source}: nanoseconds per query; ratio to the fastest {piece}")
        },
        header,
        lines: lines.collect(),
        numbers: 1..columns.len() + if whole { 4 } else { 3 },
    })
}

/// A table of rates, and one of what the implementations need.
fn kernel_tables(rows: &[Row]) -> Vec<Lines> {
    let Some(all) = kernel_table(rows, true) else {
        return Vec::new();
    };
    let (name, last) = (0, all.header.len() - 2);
    let needs = Lines {
        title: "Kernels: spread of the times, and requirements".to_owned(),
        header: [
            all.header[name].clone(),
            "algorithm".to_owned(),
            all.header[last].clone(),
            all.header[last + 1].clone(),
        ]
        .to_vec(),
        lines: all.lines.iter().map(|line| [name, 1, last, last + 1].map(|at| line[at].clone()).to_vec()).collect(),
        numbers: 2..3,
    };
    kernel_table(rows, false).into_iter().chain([needs]).collect()
}

/// One line per tier or alternative, one column per kernel; `whole` with algorithm, spread and needs.
fn kernel_table(rows: &[Row], whole: bool) -> Option<Lines> {
    let who = |row: &Row| match row.subject {
        Subject::Kernel { tier, algorithm } => Some((tier, algorithm)),
        _ => None,
    };
    let kernels = keys(rows, |row| who(row).and(Some(row.name)));
    let deciding = if kernels.contains(&"legal_count") { "legal_count" } else { kernels.last()? };
    let short = |kernel: &str| match kernel {
        "attack_maps" => "attacks".to_owned(),
        "legal_count" => "legal".to_owned(),
        "everything" => "all".to_owned(),
        other => other.to_owned(),
    };
    let mut header = vec!["tier".to_owned()];
    if whole {
        header.push("algorithm".to_owned());
    }
    header.extend(kernels.iter().map(|&kernel| if whole { kernel.to_owned() } else { short(kernel) }));
    header.push("×".to_owned());
    if whole {
        header.extend(["spread", "needs"].map(str::to_owned));
    }
    let lines = keys(rows, who).into_iter().filter_map(|requested| {
        let own = || rows.iter().filter(move |row| who(row) == Some(requested));
        let of = |kernel| own().find(|row| row.name == kernel);
        let (tier, algorithm) = requested;
        let mut line = if whole {
            vec![tier.map_or("-", Tier::name).to_owned(), algorithm.to_owned()]
        } else {
            // Rows without a tier are named by their algorithm.
            vec![tier.map_or(algorithm, Tier::name).to_owned()]
        };
        line.extend(kernels.iter().map(|&kernel| millions(of(kernel))));
        let ratio = of(deciding).and_then(|row| row.ratio_to_portable(rows));
        line.push(number(ratio, 1));
        if whole {
            line.extend([spread(own()), needs(own().next()?)]);
        }
        Some(line)
    });
    Some(Lines {
        title: format!(
            "Kernels: millions of positions per second; × portable, {}",
            if whole { deciding.to_owned() } else { short(deciding) }
        ),
        header,
        lines: lines.collect(),
        numbers: if whole { 2..kernels.len() + 4 } else { 1..kernels.len() + 2 },
    })
}

fn decode_table(rows: &[Row]) -> Option<Lines> {
    position_table(
        rows,
        "Decoding: time per position, millions of positions per second, size",
        |subject| match *subject {
            Subject::Decode { bytes_per_position } => Some(bytes_per_position),
            _ => None,
        },
    )
}

/// The table of whole commands.
fn command_table(rows: &[Row]) -> Option<Lines> {
    position_table(rows, "Commands: time per position, millions of positions per second, input", |subject| {
        match *subject {
            Subject::Command { bytes_per_position } => Some(bytes_per_position),
            _ => None,
        }
    })
}

/// One line per row of which `size` gives the bytes of a position.
fn position_table(rows: &[Row], title: &str, size: impl Fn(&Subject) -> Option<f64>) -> Option<Lines> {
    let lines: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let bytes_per_position = size(&row.subject)?;
            let timing = timing(row)?;
            Some(vec![
                row.name.to_owned(),
                number(Some(timing.nanoseconds), 1),
                millions(Some(row)),
                number(Some(bytes_per_position), 1),
                number(Some(timing.per_second * bytes_per_position / 1_048_576.0), 0),
                spread([row].into_iter()),
            ])
        })
        .collect();
    let header = ["row", "ns", "M/s", "bytes", "MiB/s", "spread"];
    (!lines.is_empty()).then(|| Lines {
        title: title.to_owned(),
        header: header.map(str::to_owned).to_vec(),
        lines,
        numbers: 1..6,
    })
}

/// One line per place and kind of work; the first of each place is the upper bound.
fn scan_table(rows: &[Row]) -> Option<Lines> {
    let lines: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let Subject::Scan { place, tier, bytes: size } = row.subject else {
                return None;
            };
            let timing = timing(row)?;
            Some(vec![
                format!("{place}, {}", bytes(size)),
                row.name.to_owned(),
                tier.map_or("-", Tier::name).to_owned(),
                number(Some(timing.nanoseconds), 2),
                millions(Some(row)),
                number(Some(timing.per_second * PACKED_BYTES / 1_073_741_824.0), 1),
                number(row.ratio_to_fastest(rows), 2),
                spread([row].into_iter()),
            ])
        })
        .collect();
    let header = ["place", "work", "tier", "ns", "M/s", "GiB/s", "ratio", "spread"];
    (!lines.is_empty()).then(|| Lines {
        title: "Reading packed boards: time per position, millions of positions per second".to_owned(),
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
