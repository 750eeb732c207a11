//! Two reports side by side.

use super::tables::{RULED, right};
use crate::cli::terminal::style::{Style, wrapped};
use comfy_table::{Cell, Table};
use lanefish::report::{Comparison, Difference};
use lanefish_core::text::numbers::{counted, grouped, percentage, tenths};
use std::fmt::Write;

/// Number of inputs that only one dataset has and that are named.
const MOST_INPUTS: usize = 5;

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

/// How a comparison is written.
#[derive(Clone, Copy)]
pub(in crate::cli::stats) struct View {
    pub(in crate::cli::stats) width: usize,
    /// Also what differs by no more than chance.
    pub(in crate::cli::stats) is_full: bool,
}

/// Writes the differences between two datasets, which are named by letters: what differs most in a sentence, and tables of
/// what differs by more than chance.
pub(in crate::cli::stats) fn write(
    out: &mut String,
    comparison: &Comparison,
    [a, b]: [&str; 2],
    view: View,
) -> std::fmt::Result {
    let is_shown = |difference: Difference| view.is_full || !difference.is_chance();
    let all = (comparison.differences(), comparison.distances());
    let shares: Vec<_> = all.0.iter().filter(|(_, difference)| is_shown(*difference)).collect();
    let distances: Vec<_> = all.1.iter().filter(|distance| is_shown(distance.difference)).collect();
    writeln!(out, "\n{}", wrapped(&comparison.sentence([a, b]), view.width, ""))?;
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percentage);
    if !shares.is_empty() {
        let mut table = Table::new();
        table.load_style(RULED);
        table.set_header(["share", a, b, "points", "chance", "beyond"]);
        for (shares, difference) in shares.iter().copied() {
            let [a, b] = shares.percentages();
            table.add_row([
                Cell::new(shares.name()),
                right(share(a)),
                right(share(b)),
                right(signed(*difference)),
                right(small(difference.chance)),
                beyond(*difference),
            ]);
        }
        writeln!(out, "\n{}", table.trim_fmt())?;
    }
    let decimal = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
    if !distances.is_empty() {
        let mut table = Table::new();
        table.load_style(RULED);
        let [mean_a, mean_b] = [a, b].map(|letter| format!("mean {letter}"));
        table.set_header(["distribution", &mean_a, &mean_b, "distance", "chance", "beyond"]);
        for distance in &distances {
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
    }
    let hidden = [(all.0.len() - shares.len(), "share"), (all.1.len() - distances.len(), "distribution")];
    if hidden.iter().any(|(count, _)| *count > 0) {
        let hidden: Vec<String> =
            hidden.iter().filter(|(count, _)| *count > 0).map(|&(count, what)| counted(count as u64, what)).collect();
        let verb = if hidden == ["1 share"] || hidden == ["1 distribution"] { "differs" } else { "differ" };
        let line = format!("{} {verb} by no more than chance: --full shows them.", hidden.join(" and "));
        writeln!(out, "\n{}", wrapped(&line, view.width, ""))?;
    }
    if let Some(features) = &comparison.features {
        let [seen_a, seen_b] = features.seen.map(grouped);
        let line = format!(
            "Inputs of {}, of {}: {a} has {seen_a}, {b} has {seen_b}.",
            features.set.name(),
            grouped(features.set.inputs().into())
        );
        writeln!(out, "\n{}", wrapped(&line, view.width, ""))?;
        for (dataset, letter) in [a, b].into_iter().enumerate() {
            let count = features.only[dataset].len();
            if count > 0 {
                let first = features.most_frequent(dataset, MOST_INPUTS).join("; ");
                let line = format!("{} only in {letter}: {first}", grouped(count as u64));
                let more = if count > MOST_INPUTS { "; .." } else { "" };
                writeln!(out, "{}", wrapped(&format!("{line}{more}"), view.width, ""))?;
            }
        }
    }
    for (letter, titles) in [a, b].into_iter().zip(comparison.titles_of_only()) {
        if !titles.is_empty() {
            writeln!(out, "{}", wrapped(&format!("only in {letter}: {}", titles.join(", ")), view.width, ""))?;
        }
    }
    Ok(())
}

/// A difference in percentage points, with its sign.
fn signed(difference: Difference) -> String {
    match difference.value {
        0.0 => "=".to_owned(),
        0.0.. => format!("+{}", small(difference.value)),
        _ => small(difference.value),
    }
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
