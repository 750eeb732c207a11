//! Two reports side by side.

use super::tables::{RULED, right};
use crate::cli::terminal::style::{Style, wrapped};
use comfy_table::{Cell, Table};
use lanefish::report::plots_and_tables::Unit;
use lanefish::report::{Comparison, Difference};
use lanefish_core::text::numbers::{counted, percentage, tenths};
use std::fmt::Write;

/// Writes the name and size of a dataset.
pub(in crate::cli::stats) fn write_dataset(
    out: &mut String,
    [letter, name]: [&str; 2],
    (positions, games): (u64, u64),
    style: Style,
) -> std::fmt::Result {
    let games = if games > 0 { format!(" of {}", counted(games, "game")) } else { String::new() };
    writeln!(out, "{} {name}: {}{games}", style.heading(letter), counted(positions, "position"))
}

/// How far a difference is beyond chance.
fn beyond(difference: Difference) -> Cell {
    right(if difference.is_chance() { String::new() } else { format!("{} x", tenths(difference.beyond())) })
}

/// Writes the differences between two datasets, which are named by letters.
pub(in crate::cli::stats) fn write(out: &mut String, comparison: &Comparison, [a, b]: [&str; 2]) -> std::fmt::Result {
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percentage);
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(["share", a, b, "points", "chance", "beyond"]);
    for (shares, difference) in comparison.differences() {
        // Results are counted by game and by position.
        let unit = if shares.a.unit == Unit::Games { " (games)" } else { "" };
        let [a, b] = shares.percentages();
        let points = match difference.value {
            0.0 => "=".to_owned(),
            0.0.. => format!("+{}", small(difference.value)),
            _ => small(difference.value),
        };
        table.add_row([
            Cell::new(format!("{}{unit}", shares.a.title)),
            right(share(a)),
            right(share(b)),
            right(points),
            right(small(difference.chance)),
            beyond(difference),
        ]);
    }
    writeln!(out, "\n{}", table.trim_fmt())?;

    let decimal = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
    let mut table = Table::new();
    table.load_style(RULED);
    let [mean_a, mean_b] = [a, b].map(|letter| format!("mean {letter}"));
    table.set_header(["distribution", &mean_a, &mean_b, "distance", "chance", "beyond"]);
    for distance in comparison.distances() {
        let [mean_a, mean_b] = distance.means.map(decimal);
        table.add_row([
            Cell::new(distance.title),
            right(mean_a),
            right(mean_b),
            right(format!("{:.4}", distance.difference.value)),
            right(format!("{:.4}", distance.difference.chance)),
            beyond(distance.difference),
        ]);
    }
    writeln!(out, "\n{}", table.trim_fmt())?;
    for (letter, only) in [a, b].into_iter().zip(&comparison.only) {
        if !only.is_empty() {
            writeln!(out, "only in {letter}: {}", only.join(", "))?;
        }
    }
    if comparison.is_chance() {
        writeln!(out, "\n{a} and {b} differ by no more than chance: they may be samples of the same source.")?;
    }
    Ok(())
}

/// Explains the tables.
pub(in crate::cli::stats) fn write_legend(
    out: &mut String,
    has_games: bool,
    style: Style,
    width: usize,
) -> std::fmt::Result {
    let observations = if has_games { "games" } else { "positions, as if they were independent of each other" };
    let legend = [
        "distance: total variation, 0 for equal distributions, 1 for disjoint ones".to_owned(),
        format!(
            "chance: the largest difference that samples of one source have, judged by the number of {observations}"
        ),
        "beyond: the difference divided by that of chance; empty where chance may explain it".to_owned(),
    ];
    writeln!(out)?;
    legend.iter().try_for_each(|line| writeln!(out, "{}", style.faint(&wrapped(line, width, ""))))
}

/// A number of percentage points, with more digits if it is small.
fn small(points: f64) -> String {
    let text = match points.abs() {
        1.0.. => return tenths(points),
        0.01.. => format!("{points:.2}"),
        _ => format!("{points:.4}"),
    };
    text.replace('-', "−")
}
