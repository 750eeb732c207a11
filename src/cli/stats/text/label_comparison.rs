//! Where the labels of two files disagree, for people.

use crate::cli::terminal::style::Style;
use lanefish::jobs::{LabelComparison, LabelCounts};
use lanefish::report::{PHASE_BANDS, PHASE_WIDTH};
use lanefish_core::text::numbers::grouped;
use std::fmt::Write;

/// Records whose scores differ most that are shown; all of them are in JSON.
const SHOWN: usize = 10;

/// A number, and its share of another one.
fn share(count: u64, of: u64) -> String {
    match of {
        0 => grouped(count),
        _ => format!("{} ({:.1} %)", grouped(count), 100.0 * count as f64 / of as f64),
    }
}

/// Writes all of it.
pub(in crate::cli::stats) fn write(out: &mut String, labels: &LabelComparison, style: Style) -> std::fmt::Result {
    let mean = |counts: &LabelCounts| counts.mean_abs_difference().map_or("-".to_owned(), |mean| format!("{mean:.1}"));
    let LabelCounts { compared, score_differs, sign_differs, results_compared, result_differs, .. } = labels.all;
    writeln!(out, "{}", style.heading("Labels of the inputs and of the file of --zip"))?;
    for (name, value) in [
        ("records with both scores", grouped(compared)),
        ("scores differ", share(score_differs, compared)),
        ("one above 0, one below", share(sign_differs, compared)),
        ("mean difference, in centipawns", mean(&labels.all)),
        ("records with both results", grouped(results_compared)),
        ("results differ", share(result_differs, results_compared)),
    ] {
        writeln!(out, " {name:<32} {value:>18}")?;
    }
    writeln!(out, "\n{}", style.heading("By phase (24 is the opening, 0 bare kings and pawns)"))?;
    writeln!(
        out,
        "{}",
        style.faint(&format!(
            " {:<9} {:>13} {:>13} {:>13} {:>9} {:>13}",
            "phase", "both scores", "differ", "other sign", "mean", "other result"
        ))
    )?;
    for (band, counts) in labels.phases.iter().enumerate().rev() {
        let first = band * PHASE_WIDTH;
        let phase = match band + 1 {
            PHASE_BANDS => format!("from {first}"),
            _ => format!("{first} to {}", first + PHASE_WIDTH - 1),
        };
        let [compared, differs, sign, result] =
            [counts.compared, counts.score_differs, counts.sign_differs, counts.result_differs].map(grouped);
        writeln!(out, " {phase:<9} {compared:>13} {differs:>13} {sign:>13} {:>9} {result:>13}", mean(counts))?;
    }
    if !labels.worst.is_empty() {
        writeln!(out, "\n{}", style.heading("The largest differences"))?;
        writeln!(out, "{}", style.faint(&format!(" {:>13} {:>8} {:>8}", "record", "score", "beside")))?;
        for label in labels.worst.iter().take(SHOWN) {
            writeln!(out, " {:>13} {:>8} {:>8}", label.index, label.score, label.zip_score)?;
        }
    }
    Ok(())
}
