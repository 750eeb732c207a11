//! Rows as tables for people.

use super::noise::{MOST_SPREAD, Time};
use super::ranking::query;
use super::slider_verdict::verdict;
use super::table_layout::{
    Lines, believed, bytes, item, keys, millions, needs, number, or_dash, reliable, spread, timing, wrapped,
};
use super::{PACKED_BYTES, pipeline, slider_tables};
use crate::cli::measure::sliders::Source;
use crate::cli::measure::{Row, Subject};
use lanefish::tiers::Tier;
use lanefish_core::cpu;
use lanefish_core::text::numbers::grouped;
use std::collections::BTreeMap;
use std::fmt::Write;

/// All tables that have rows, and the verdicts; in text, also the checksums.
pub(super) fn text(rows: &[Row], threads: usize, markdown: bool) -> String {
    let unit = match threads {
        // The rows have numbers of their own.
        _ if rows.iter().all(|row| row.pipeline_threads().is_some()) => String::new(),
        1 => ", one thread".to_owned(),
        _ => format!(", {threads} threads"),
    };
    let mut text = format!("{}{unit}\n", cpu::model());
    // What no terminal can show in one table is split into several.
    let kernels = if markdown { kernel_table(rows, true).into_iter().collect() } else { kernel_tables(rows) };
    let others = [decode_table(rows), scan_table(rows), command_table(rows), pipeline::table(rows)];
    let tables = [slider_tables::all(rows, markdown), kernels].into_iter().flatten();
    for table in tables.chain(others.into_iter().flatten()) {
        text.push('\n');
        text.push_str(&table.render(markdown));
    }
    // Writing to a string cannot fail.
    if !markdown {
        text.push_str("\nchecksums; rows with the same query must agree:\n");
        let checksums: BTreeMap<_, _> =
            rows.iter().filter_map(|row| Some((row.query(), row.measured?.checksum))).collect();
        for (query, checksum) in checksums {
            let _ = writeln!(text, "  {query:24} {checksum:#018x}");
        }
    }
    for (heading, statements) in [verdict(rows), pipeline::verdict(rows)].into_iter().flatten() {
        let _ = write!(text, "\n{heading}:\n");
        text.push_str(if markdown { "\n" } else { "" });
        for statement in statements {
            let end = if statement.details.is_empty() { "." } else { ":" };
            text.push_str(&item(1, &format!("{}{end}", statement.text), markdown));
            for detail in &statement.details {
                text.push_str(&item(2, detail, markdown));
            }
        }
    }
    if let Some(note) = note(rows) {
        text.push('\n');
        text.push_str(&wrapped(&note, markdown));
    }
    text
}

/// What to do about unreliable rows.
fn note(rows: &[Row]) -> Option<String> {
    let unreliable = || rows.iter().filter(|row| Time::of(row).is_some_and(|time| !time.is_reliable()));
    let count = match unreliable().count() {
        0 => return None,
        1 => "1 row is".to_owned(),
        several => format!("{} rows are", grouped(several as u64)),
    };
    let mut note = format!(
        "{count} unreliable: the spread is above {:.0} %. Nothing else should run on the machine meanwhile; a longer \
         time per row (--seconds) gives each row more quiet moments.",
        MOST_SPREAD * 100.0
    );
    if unreliable().any(|row| query(row).is_some_and(|(_, source)| source == Source::Pressure)) {
        note.push_str(
            " Under cache pressure, large tables are read from the L3 cache, which other programs and virtual machines \
             may share.",
        );
    }
    Some(note)
}

/// A table of rates, and one of what the implementations need.
fn kernel_tables(rows: &[Row]) -> Vec<Lines> {
    let Some(all) = kernel_table(rows, true) else {
        return Vec::new();
    };
    let (name, last) = (0, all.header.len() - 2);
    let needs = Lines {
        title: "Kernels: spread of the times, and requirements".to_owned(),
        about: Vec::new(),
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
    let reliable = reliable(rows);
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
        let ratio = of(deciding).and_then(|row| row.ratio_to_portable(&reliable));
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
        about: Vec::new(),
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
                believed(Some(row), |timing| number(Some(timing.nanoseconds), 1)),
                or_dash(row, millions(Some(row))),
                number(Some(bytes_per_position), 1),
                or_dash(row, number(Some(timing.per_second * bytes_per_position / 1_048_576.0), 0)),
                spread([row].into_iter()),
            ])
        })
        .collect();
    let header = ["row", "ns", "M/s", "bytes", "MiB/s", "spread"];
    (!lines.is_empty()).then(|| Lines {
        title: title.to_owned(),
        about: Vec::new(),
        header: header.map(str::to_owned).to_vec(),
        lines,
        numbers: 1..6,
    })
}

/// One line per place and kind of work; the first of each place is the upper bound.
fn scan_table(rows: &[Row]) -> Option<Lines> {
    let reliable = reliable(rows);
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
                believed(Some(row), |timing| number(Some(timing.nanoseconds), 2)),
                or_dash(row, millions(Some(row))),
                or_dash(row, number(Some(timing.per_second * PACKED_BYTES / 1_073_741_824.0), 1)),
                or_dash(row, number(row.ratio_to_fastest(&reliable), 2)),
                spread([row].into_iter()),
            ])
        })
        .collect();
    let header = ["place", "work", "tier", "ns", "M/s", "GiB/s", "ratio", "spread"];
    (!lines.is_empty()).then(|| Lines {
        title: "Reading packed boards: time per position, millions of positions per second".to_owned(),
        about: Vec::new(),
        header: header.map(str::to_owned).to_vec(),
        lines,
        numbers: 3..8,
    })
}

#[cfg(test)]
mod tests {
    use super::super::ranking::tests::{row, rows};
    use super::*;
    use crate::cli::bench::table_layout::UNRELIABLE;
    use crate::cli::measure::slider_queries::SliderPiece;

    fn of_algorithm<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        line.split_whitespace().collect()
    }

    #[test]
    fn eight_at_once_stand_apart_with_a_ratio_of_their_own() {
        let all = rows(Source::Real, &[("magic", 2.0), ("lanes-fill-avx2", 0.5), ("pext", 1.0)]);
        let text = text(&all, 1, false);
        let (one, eight) = text.split_once("Sliders, eight squares at once, real").unwrap();
        assert!(one.contains("Sliders, one square at a time, real") && !one.contains("lanes-fill"), "{text}");
        assert!(one.contains("An engine can call") && one.contains("The real queries have"), "{text}");
        assert!(eight.contains("one per SIMD lane") && eight.contains("The real queries have"), "{text}");
        assert_eq!(of_algorithm(one, "magic"), ["magic", "2.00", "2.00", "2.00", "2.00", "1", "%"]);
        assert_eq!(of_algorithm(eight, "lanes-fill-avx2")[1..5], ["0.50", "0.50", "0.50", "1.00"]);
        assert!(text.contains("Verdict by the mean") && !text.contains("unreliable"), "{text}");
        let markdown = super::text(&all, 1, true);
        assert!(markdown.contains("- On real boards, pext is the fastest for one square"), "{markdown}");
        assert!(markdown.contains("\n  - 2.00 times as fast as magic\n"), "{markdown}");
        assert_eq!(markdown.matches("| algorithm ").count(), 2);
    }

    #[test]
    fn an_unreliable_row_has_no_number() {
        let mut all = rows(Source::Real, &[("magic", 2.0), ("pext", 1.0)]);
        all[1].measured.as_mut().unwrap().timing.spread = 0.21;
        for markdown in [false, true] {
            let text = text(&all, 1, markdown).replace('|', " ");
            assert_eq!(of_algorithm(&text, "pext")[..7], ["pext", "unreliable", "1.00", "1.00", "-", "21", "%"]);
            // The ratio is that to the fastest reliable one.
            assert_eq!(of_algorithm(&text, "magic")[4], "1.00");
            assert!(text.contains("1 row is unreliable: the spread is above 20 %."), "{text}");
        }
        all[0].measured.as_mut().unwrap().verified = false;
        assert_eq!(of_algorithm(&text(&all, 1, false), "magic")[1], "wrong");
    }

    #[test]
    fn other_groups_do_the_same() {
        let example = row("fen", SliderPiece::Queen, Source::Real, Some(Time { nanoseconds: 100.0, spread: 0.5 }));
        let decode = |name, nanoseconds, spread| {
            let subject = Subject::Decode { bytes_per_position: 50.0 };
            let mut row = Row { group: "decode", name, subject, ..example.clone() };
            let timing = &mut row.measured.as_mut().unwrap().timing;
            (timing.nanoseconds, timing.spread) = (nanoseconds, spread);
            row
        };
        let kernel = |tier: Tier, nanoseconds, spread| {
            let subject = Subject::Kernel { tier: Some(tier), algorithm: "lanes" };
            Row { group: "kernels", subject, ..decode("legal_count", nanoseconds, spread) }
        };
        let tiers: Vec<Tier> = Tier::all().collect();
        let rows = [
            decode("fen", 100.0, 0.5),
            decode("pgn", 100.0, 0.1),
            kernel(Tier::PORTABLE, 10.0, 0.3),
            kernel(tiers[1], 5.0, 0.1),
        ];
        let text = text(&rows, 1, false);
        assert_eq!(of_algorithm(&text, "fen"), ["fen", "unreliable", "-", "50.0", "-", "50", "%"]);
        assert_eq!(of_algorithm(&text, "pgn")[1], "100.0");
        assert_eq!(of_algorithm(&text, Tier::PORTABLE.name()), [Tier::PORTABLE.name(), "unreliable", "-"]);
        // Nothing is known about the ratio to an unreliable row.
        assert_eq!(of_algorithm(&text, tiers[1].name())[2], "-");
        assert!(text.contains("2 rows are unreliable") && !text.contains("Verdict"), "{text}");
    }

    #[test]
    fn the_note_explains_cache_pressure_only_where_it_matters() {
        let noisy = |source| {
            let mut all = rows(source, &[("pext", 1.0)]);
            all[0].measured.as_mut().unwrap().timing.spread = 0.5;
            note(&all).unwrap()
        };
        assert!(noisy(Source::Pressure).contains("L3 cache") && !noisy(Source::Real).contains("L3 cache"));
        assert_eq!(note(&rows(Source::Real, &[("pext", 1.0)])), None);
    }

    #[test]
    fn wide_tables_are_shortened() {
        let cells = || vec![UNRELIABLE.to_owned(); 8];
        let header = (0..8).map(|number| number.to_string()).collect();
        let (title, about, lines) = ("Kernels".to_owned(), Vec::new(), vec![cells()]);
        let table = Lines { title, about, header, lines, numbers: 0..8 };
        let text = table.render(false);
        assert!(text.contains("  ?  ?") && text.ends_with("\n?: unreliable\n"), "{text}");
        assert!(table.render(true).contains("| unreliable |"));
    }
}
