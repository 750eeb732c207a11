//! Two reports side by side.

use super::super::super::style::Style;
use super::tables::{RULED, right};
use comfy_table::{Cell, Table};
use lanefish::report::Comparison;
use lanefish::report::facts::Unit;
use lanefish::text::numbers::{grouped, percentage, tenths};
use std::fmt::Write;

/// Writes a comparison of two datasets, which are named A and B.
pub(in crate::cli::stats) fn write(
    out: &mut String,
    comparison: &Comparison,
    names: [&str; 2],
    style: Style,
) -> std::fmt::Result {
    for ((letter, name), positions) in ["A", "B"].into_iter().zip(names).zip(comparison.positions) {
        writeln!(out, "{} {name}: {} positions", style.heading(letter), grouped(positions))?;
    }
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percentage);
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(["", "A", "B", "points"]);
    for shares in &comparison.shares {
        let [a, b] = shares.percentages();
        let difference = shares.difference().map_or("-".to_owned(), |points| match points {
            0.0 => "=".to_owned(),
            0.0.. => format!("+{}", tenths(points)),
            _ => tenths(points),
        });
        // Results are counted by game and by position.
        let unit = if shares.a.unit == Unit::Games { " (games)" } else { "" };
        let title = format!("{}{unit}", shares.a.title);
        table.add_row([Cell::new(title), right(share(a)), right(share(b)), right(difference)]);
    }
    writeln!(out, "\n{}", table.trim_fmt())?;

    let decimal = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let distance = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(["distribution", "mean A", "mean B", "median A", "median B", "distance"]);
    for plot in &comparison.plots {
        let ([mean_a, mean_b], [median_a, median_b]) = (plot.means(), plot.medians());
        let median = |value: Option<f64>| value.map_or("-".to_owned(), |value| value.to_string());
        table.add_row([
            Cell::new(plot.a.title),
            right(decimal(mean_a)),
            right(decimal(mean_b)),
            right(median(median_a)),
            right(median(median_b)),
            right(distance(plot.distance())),
        ]);
    }
    let others = comparison.bars.iter().map(|bars| (bars.a.title, bars.distance()));
    let boards = comparison.boards.iter().map(|board| (board.a.title, board.distance()));
    for (title, value) in others.chain(boards) {
        let nothing = || Cell::new("");
        table.add_row([Cell::new(title), nothing(), nothing(), nothing(), nothing(), right(distance(value))]);
    }
    writeln!(out, "\n{}", table.trim_fmt())?;
    let legend = "distance: total variation, 0 for equal distributions, 1 for disjoint ones";
    writeln!(out, "\n{}", style.faint(legend))?;
    for (letter, only) in ["A", "B"].into_iter().zip(&comparison.only) {
        if !only.is_empty() {
            writeln!(out, "only in {letter}: {}", only.join(", "))?;
        }
    }
    Ok(())
}
