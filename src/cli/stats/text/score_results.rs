//! Score against result, as lines of stacked bars.

use super::Text;
use crate::cli::terminal::palette;
use lanefish::report::{MoverResults, RESULT_SCORE_RANGES, first_of_result_range};
use lanefish_core::text::numbers::grouped;
use std::fmt::Write;

/// Ranges that are drawn as one line.
const RANGES: usize = 2;
/// Columns of a line beside its bar.
const BESIDE: usize = 40;

impl Text<'_> {
    /// The shares of wins, draws and losses by score, both from the side to move, and the curve that fits best.
    pub(super) fn score_results(&self, out: &mut String) -> std::fmt::Result {
        let Some(results) = self.report.details.as_ref().and_then(|details| details.score_results.as_deref()) else {
            return Ok(());
        };
        self.heading(out, "Score against result (both from the side to move)")?;
        let all = results.all();
        let sum = |ranges: &[MoverResults]| {
            let mut counts = [0; 3];
            for (sum, result) in counts.iter_mut().zip(0..) {
                *sum = ranges.iter().map(|results| results.counts[result as usize]).sum();
            }
            MoverResults { counts }
        };
        let inner = (1..RESULT_SCORE_RANGES - 1).step_by(RANGES).map(|range| {
            let first = first_of_result_range(range).unwrap_or_default();
            let next = first_of_result_range(range + RANGES).unwrap_or_default();
            (format!("{first} to {}", next - 1), sum(&all[range..range + RANGES]))
        });
        let last = first_of_result_range(RESULT_SCORE_RANGES - 1).unwrap_or_default();
        let lines = [(format!("below -{last}"), all[0])].into_iter().chain(inner);
        let lines = lines.chain([(format!("from {last}"), all[RESULT_SCORE_RANGES - 1])]);
        let width = self.width.saturating_sub(BESIDE).clamp(8, 60);
        for (name, results) in lines {
            let Some(points) = results.points() else { continue };
            let total = results.total() as f64;
            // Each part ends where its share of the bar does.
            let end = |count: u64| (count as f64 / total * width as f64).round() as usize;
            let [won, drawn, _] = results.counts;
            let [first, second] = [end(won), end(won + drawn)];
            let parts = [
                (palette::WHITE, "█", first),
                (palette::DRAW, "▒", second - first),
                (palette::BLACK, "░", width - second),
            ];
            let bar: String = parts.map(|(code, cell, cells)| self.style.sgr(code, &cell.repeat(cells))).concat();
            writeln!(out, "{name:>14} {bar} {:>14}  {:>5.1} %", grouped(results.total()), 100.0 * points)?;
        }
        let curve = self.report.logistic_scale(None);
        let curve = curve.map_or(String::new(), |curve| format!("; {curve}"));
        writeln!(out, "{}", self.style.faint(&format!("█ won, ▒ drawn, ░ lost; points{curve}")))
    }
}
