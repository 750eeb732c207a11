//! Two reports side by side.

use super::tables::{RULED, right};
use crate::cli::terminal::style::{Style, wrapped};
use comfy_table::{Cell, Table};
use lanefish::report::plots_and_tables::{Share, Unit};
use lanefish::report::{Comparison, Difference, Pair};
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
    writeln!(out, "\n{}", wrapped(&what_differs(comparison, [a, b]), view.width, ""))?;
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percentage);
    if !shares.is_empty() {
        let mut table = Table::new();
        table.load_style(RULED);
        table.set_header(["share", a, b, "points", "chance", "beyond"]);
        for (shares, difference) in shares.iter().copied() {
            let [a, b] = shares.percentages();
            table.add_row([
                Cell::new(name_of(shares)),
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
    for (letter, only) in [a, b].into_iter().zip(&comparison.only) {
        if !only.is_empty() {
            // A fact about games and about positions has one title.
            let mut titles: Vec<&str> = Vec::new();
            for title in only {
                if !titles.contains(title) {
                    titles.push(title);
                }
            }
            writeln!(out, "{}", wrapped(&format!("only in {letter}: {}", titles.join(", ")), view.width, ""))?;
        }
    }
    Ok(())
}

/// The name of a share. Results are counted by game and by position.
fn name_of(shares: &Pair<Share>) -> String {
    let unit = if shares.a.unit == Unit::Games { " (games)" } else { "" };
    format!("{}{unit}", shares.a.title)
}

/// A difference in percentage points, with its sign.
fn signed(difference: Difference) -> String {
    match difference.value {
        0.0 => "=".to_owned(),
        0.0.. => format!("+{}", small(difference.value)),
        _ => small(difference.value),
    }
}

/// What is furthest beyond chance, in a sentence.
fn what_differs(comparison: &Comparison, [a, b]: [&str; 2]) -> String {
    /// Number of facts that a sentence has room for.
    const MOST: usize = 3;
    if comparison.is_chance() {
        return format!("{a} and {b} differ by no more than chance: they may be samples of the same source.");
    }
    let mut facts: Vec<(f64, String)> = Vec::new();
    for (shares, difference) in comparison.differences().into_iter().filter(|(_, it)| !it.is_chance()) {
        let [of_a, of_b] = shares.percentages().map(|share| share.map_or("-".to_owned(), percentage));
        facts.push((difference.beyond(), format!("{} ({of_a} against {of_b})", name_of(shares))));
    }
    for distance in comparison.distances().into_iter().filter(|distance| !distance.difference.is_chance()) {
        let means = match distance.means {
            [Some(of_a), Some(of_b)] => format!("mean {of_a:.2} against {of_b:.2}"),
            _ => format!("{} of the distribution", percentage(100.0 * distance.difference.value)),
        };
        facts.push((distance.difference.beyond(), format!("{} ({means})", distance.title)));
    }
    facts.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let count = facts.len();
    let facts: Vec<String> = facts.into_iter().take(MOST).map(|(_, fact)| fact).collect();
    let more = match count.saturating_sub(MOST) {
        0 => String::new(),
        more => format!("; {}", counted(more as u64, "more fact") + " beyond chance"),
    };
    format!("{a} and {b} differ most in {}{more}.", facts.join(", "))
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
