//! Distributions as lines of bars.

use super::Text;
use crate::cli::terminal::palette;
use lanefish::report::plots_and_tables::{Bars, Hue, Plot};
use lanefish_core::text::numbers::{grouped, percent};
use std::fmt::Write;

/// Columns of a line beside its bar: the range, the count, the share and the gaps.
const BESIDE: usize = 36;
/// Maximum number of lines of a plot.
const LINES: usize = 20;
/// Maximum width of a label: that of the material of the start position.
const LONGEST_LABEL: usize = 33;
/// Maximum number of kinds that are shown.
pub(super) const KINDS: usize = 12;
/// Widths of ranges of numbers that are easy to read.
const WIDTHS: [i64; 16] = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000, 10_000];

/// A line of a plot.
struct Line {
    label: String,
    count: u64,
}

impl Text<'_> {
    /// Draws a plot. Numbers at either end whose share is less than a thousandth are combined in one line.
    pub(super) fn plot(&self, out: &mut String, plot: &Plot) -> std::fmt::Result {
        let histogram = &plot.histogram;
        let (Some(low), Some(high)) = (histogram.quantile(1, 1000), histogram.quantile(999, 1000)) else {
            return Ok(());
        };
        let (low, high) = match plot.limits {
            Some((least, most)) => (low.clamp(least, most), high.clamp(least, most)),
            None => (low, high),
        };
        let lines_of = |width: i64| high.div_euclid(width) - low.div_euclid(width) + 1;
        let width =
            WIDTHS.into_iter().find(|&width| lines_of(width) <= LINES as i64).unwrap_or(WIDTHS[WIDTHS.len() - 1]);
        let (first, last) = (low.div_euclid(width), high.div_euclid(width));
        let summary = histogram.summary();
        let (least, most) = (summary.min.unwrap_or(low), summary.max.unwrap_or(high));
        let mut lines: Vec<Line> = Vec::new();
        let (mut below, mut above) = (0, 0);
        for (start, count) in histogram.ranges(width) {
            match start.div_euclid(width) {
                range if range < first => below += count,
                range if range > last => above += count,
                _ => {
                    let label = range_name(start.max(least), (start + width - 1).min(most));
                    lines.push(Line { label, count });
                }
            }
        }
        if below > 0 {
            let label = range_name(least, first * width - 1);
            lines.insert(0, Line { label, count: below });
        }
        if above > 0 {
            let label = range_name((last + 1) * width, most);
            lines.push(Line { label, count: above });
        }
        let title = if plot.title.to_lowercase().starts_with(plot.axis) {
            plot.title.to_owned()
        } else {
            format!("{} ({})", plot.title, plot.axis)
        };
        self.heading(out, &title)?;
        self.lines(out, Hue::of(plot.key), &lines, histogram.total())
    }

    /// The most frequent kinds.
    pub(super) fn bars(&self, out: &mut String, bars: &Bars) -> std::fmt::Result {
        let total = bars.total();
        let mut kinds: Vec<&(String, u64)> = bars.bars.iter().filter(|(_, count)| *count > 0).collect();
        let all = kinds.len() as u64 + bars.rest.0;
        // A single one that is left takes no more room than its count.
        let most = if all == KINDS as u64 + 1 { KINDS + 1 } else { KINDS };
        if all > most as u64 {
            // Only the most frequent kinds, in their original order.
            kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            kinds.truncate(most);
        }
        let sum = bars.bars.iter().map(|(_, count)| count).sum::<u64>() + bars.rest.1;
        let shown: u64 = kinds.iter().map(|(_, count)| count).sum();
        let mut lines: Vec<Line> =
            kinds.into_iter().map(|(name, count)| Line { label: name.clone(), count: *count }).collect();
        let more = format!("{} more", grouped(all.saturating_sub(most as u64)));
        if shown < sum && bars.units.is_none() {
            lines.push(Line { label: more.clone(), count: sum - shown });
        }
        self.heading(out, &format!("{} ({})", bars.title, bars.unit.name()))?;
        self.lines(out, Hue::of(bars.key), &lines, total)?;
        // Where a position may be of several kinds, the others have no sum.
        if shown < sum && bars.units.is_some() {
            writeln!(out, "{more:>8}")?;
        }
        Ok(())
    }

    fn lines(&self, out: &mut String, hue: Hue, lines: &[Line], total: u64) -> std::fmt::Result {
        let tallest = lines.iter().map(|line| line.count).max().unwrap_or(0).max(1);
        let labels = lines
            .iter()
            .map(|line| line.label.chars().count())
            .max()
            .unwrap_or(0)
            .clamp(8, LONGEST_LABEL.min(self.width / 2 - 8));
        let longest = (self.width + 8).saturating_sub(BESIDE + labels).clamp(4, 60);
        for Line { label, count } in lines {
            let bar = bar(*count, tallest, longest);
            let colored = self.style.sgr(palette::code(hue), &bar);
            let pad = " ".repeat(longest - bar.chars().count());
            let label = match label.chars().count() {
                len if len > labels => label.chars().take(labels - 1).chain(['…']).collect(),
                _ => label.clone(),
            };
            let share = percent(*count, total);
            writeln!(out, "{label:>labels$} {colored}{pad} {:>14}  {share:>9}", grouped(*count))?;
        }
        Ok(())
    }
}

/// `5-9`, `12`, `-50 to -1`.
fn range_name(first: i64, last: i64) -> String {
    match first {
        _ if first == last => first.to_string(),
        0.. => format!("{first}-{last}"),
        _ => format!("{first} to {last}"),
    }
}

/// A bar with steps of an eighth of a cell; any number except zero is visible.
pub(super) fn bar(count: u64, tallest: u64, longest: usize) -> String {
    let eighths = (count as u128 * longest as u128 * 8).div_ceil(tallest.into()) as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(['▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8 - 1]);
    }
    bar
}
