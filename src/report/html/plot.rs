//! Histograms as SVG. The drawing is 360 pixels wide, about as wide as a phone, so that its letters have their natural
//! size everywhere; wider screens show more plots beside each other.

use super::super::Histogram;
use super::bins::{Bins, axis, ticks};
use super::markup::{Escaped, Table, class_of};
use crate::report::plots_and_tables::{Hue, Unit};
use crate::text::numbers::{decimal, grouped, percent, percentage, signed};
use std::fmt::{self, Write};

/// The data of a plot.
pub(super) struct Plot<'a> {
    pub(super) title: &'a str,
    pub(super) axis: &'a str,
    pub(super) unit: Unit,
    pub(super) hue: Hue,
    pub(super) width: i64,
    pub(super) limits: Option<(i64, i64)>,
    /// One histogram, or two to compare, with their names.
    pub(super) series: &'a [(&'a str, &'a Histogram)],
    /// The text below the title if there are two histograms.
    pub(super) note: String,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 196.0;
const LEFT: f64 = 38.0;
const RIGHT: f64 = 352.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 158.0;

impl Plot<'_> {
    /// A figure; empty if there is nothing to show.
    pub(super) fn write(&self, out: &mut String) -> fmt::Result {
        let histograms: Vec<&Histogram> = self.series.iter().map(|&(_, histogram)| histogram).collect();
        let Some(bins) = Bins::of(&histograms, self.width, self.limits) else {
            return Ok(());
        };
        let (top, is_cut) = bins.top();
        let cut = if is_cut { " <small>(highest bars cut off)</small>" } else { "" };
        write!(out, "<figure>\n<figcaption><h3>{}{cut}</h3>", Escaped(self.title))?;
        match self.series {
            [(_, histogram)] => write!(out, "<p>{}</p>", summary(histogram))?,
            _ => write!(out, "<p>{}</p>", self.note)?,
        }
        self.tails(out, &bins)?;
        out.push_str("</figcaption>\n");
        self.drawing(out, &bins, top)?;
        self.numbers(&bins).write_details(out)?;
        out.push_str("</figure>\n");
        Ok(())
    }

    /// Describes the counts outside the range that is shown.
    fn tails(&self, out: &mut String, bins: &Bins) -> fmt::Result {
        let mut tails = Vec::new();
        for (side, beyond) in ["below", "above"].into_iter().zip(&bins.beyond) {
            if beyond.iter().all(|&count| count == 0) {
                continue;
            }
            let parts: Vec<String> = self
                .series
                .iter()
                .zip(beyond)
                .zip(&bins.totals)
                .map(|(((name, _), &count), &total)| match self.series.len() {
                    1 => format!("{} ({})", self.unit.counted(count), percent(count, total)),
                    _ => format!("{} of {name}", percent(count, total)),
                })
                .collect();
            tails.push(format!("{} {side}", parts.join(", ")));
        }
        if !tails.is_empty() {
            write!(out, "<p>Not shown: {}.</p>", Escaped(&tails.join("; ")))?;
        }
        Ok(())
    }

    fn drawing(&self, out: &mut String, bins: &Bins, top: f64) -> fmt::Result {
        write!(
            out,
            "<svg class=\"plot{}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            class_of(self.hue),
            Escaped(&self.description(bins))
        )?;
        // The axis ends with a number at or above the highest bar.
        let (levels, top) = axis(0.0, if top > 0.0 { top } else { 1.0 }, 4);
        let y = |share: f64| BOTTOM - (share / top).min(1.0) * (BOTTOM - TOP);
        let bar = (RIGHT - LEFT) / bins.len() as f64;
        let x = |at: usize| LEFT + bar * at as f64;
        // The axis of shares.
        let decimals = match levels.get(1) {
            Some(&step) if step < 0.0999 => 2,
            Some(&step) if step < 0.999 => 1,
            _ => 0,
        };
        let of = match bins.totals.as_slice() {
            [total] => self.unit.counted(*total),
            _ => self.unit.name().to_owned(),
        };
        write!(out, "<text class=\"a\" x=\"0\" y=\"11\">% of {of}</text>")?;
        for level in levels {
            let y = y(level);
            write!(
                out,
                "<path class=\"g\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text class=\"y\" x=\"{}\" \
                 y=\"{:.1}\">{level:.decimals$}</text>",
                LEFT - 5.0,
                y + 3.6
            )?;
        }
        // The bars of the first histogram, and the outline of the second.
        let gap = if bar > 3.0 { 0.5 } else { 0.0 };
        let mut path = String::new();
        for at in 0..bins.len() {
            if bins.series[0][at] > 0 {
                // Any count except zero is visible.
                let y = y(bins.share(0, at)).min(BOTTOM - 0.6);
                write!(path, "M{:.1} {BOTTOM}V{y:.1}H{:.1}V{BOTTOM}z", x(at) + gap, x(at + 1) - gap)?;
            }
        }
        write!(out, "<path class=\"b\" d=\"{path}\"/>")?;
        if bins.series.len() > 1 {
            let mut path = format!("M{LEFT} {BOTTOM}");
            for at in 0..bins.len() {
                write!(path, "V{:.1}H{:.1}", y(bins.share(1, at)), x(at + 1))?;
            }
            write!(out, "<path class=\"o\" d=\"{path}V{BOTTOM}\"/>")?;
        }
        for at in 0..bins.len() {
            let shares = (0..bins.series.len()).map(|series| bins.share(series, at));
            if shares.clone().any(|share| share > top * 1.001) {
                // A bar that is cut off has a gap, and its value as text.
                let share = shares.fold(0.0, f64::max);
                let middle = x(at) + bar / 2.0;
                let anchor = if middle > WIDTH / 2.0 { "end" } else { "start" };
                let shift = if middle > WIDTH / 2.0 { -bar / 2.0 - 3.0 } else { bar / 2.0 + 3.0 };
                write!(
                    out,
                    "<path class=\"cut\" d=\"M{:.1} {}l{:.1} -5\"/><text class=\"v\" text-anchor=\"{anchor}\" \
                     x=\"{:.1}\" y=\"{}\">{}</text>",
                    x(at) - 1.5,
                    TOP + 11.0,
                    bar + 3.0,
                    middle + shift,
                    TOP + 10.0,
                    percentage(share)
                )?;
            }
        }
        // The axis of numbers.
        write!(out, "<path class=\"x\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>")?;
        let last = bins.first + bins.width * bins.len() as i64;
        let high = if bins.width == 1 { last - 1 } else { last };
        for number in ticks(bins.first as f64, high as f64, 7) {
            if number.fract() != 0.0 {
                continue;
            }
            // With one number per bar, the number is below the middle of the bar; otherwise it is where the bar begins.
            let half = if bins.width == 1 { 0.5 } else { 0.0 };
            let x = LEFT + ((number - bins.first as f64) / bins.width as f64 + half) * bar;
            write!(
                out,
                "<path class=\"x\" d=\"M{x:.1} {BOTTOM}v4\"/><text class=\"n\" x=\"{x:.1}\" y=\"{}\">{}</text>",
                BOTTOM + 15.0,
                signed(number as i64)
            )?;
        }
        write!(
            out,
            "<text class=\"n a\" x=\"{:.1}\" y=\"{}\">{}</text>",
            (LEFT + RIGHT) / 2.0,
            HEIGHT - 6.0,
            Escaped(self.axis)
        )?;
        // The areas for the pointer have the whole height of the plot.
        for at in 0..bins.len() {
            write!(
                out,
                "<rect class=\"h\" x=\"{:.1}\" y=\"{TOP}\" width=\"{bar:.1}\" height=\"{}\"><title>{}</title></rect>",
                x(at),
                BOTTOM - TOP,
                Escaped(&self.label(bins, at))
            )?;
        }
        out.push_str("</svg>\n");
        Ok(())
    }

    /// The description of a bar.
    fn label(&self, bins: &Bins, at: usize) -> String {
        let numbers = range(bins.numbers(at));
        let parts = self.series.iter().enumerate().map(|(series, (name, _))| {
            let count = bins.series[series][at];
            let share = percentage(bins.share(series, at));
            match self.series.len() {
                1 => format!("{}, {share}", self.unit.counted(count)),
                _ => format!("{name} {share}"),
            }
        });
        format!("{numbers}: {}", parts.collect::<Vec<_>>().join(", "))
    }

    /// The description of a plot.
    fn description(&self, bins: &Bins) -> String {
        let mut text = format!("Histogram: {}.", self.title);
        for (series, (name, histogram)) in self.series.iter().enumerate() {
            let summary = histogram.summary();
            let (Some(min), Some(max), Some(mean)) = (summary.min, summary.max, summary.mean) else {
                continue;
            };
            let counts = bins.series[series].iter().enumerate();
            let mode = counts.rev().max_by_key(|&(_, count)| count).map_or(0, |(at, _)| at);
            if self.series.len() > 1 {
                text.push_str(&format!(" {name}:"));
            }
            text.push_str(&format!(
                " From {} to {}, mean {}, most often {} ({}).",
                signed(min),
                signed(max),
                decimal(mean),
                range(bins.numbers(mode)),
                percentage(bins.share(series, mode))
            ));
        }
        text
    }

    fn numbers<'a>(&'a self, bins: &Bins) -> Table<'a> {
        let row = |name: String, counts: Vec<u64>| {
            let mut row = vec![name];
            for (count, &total) in counts.into_iter().zip(&bins.totals) {
                row.extend([grouped(count), percent(count, total)]);
            }
            row
        };
        let bars = (0..bins.len()).map(|at| {
            let counts = bins.series.iter().map(|counts| counts[at]);
            row(range(bins.numbers(at)), counts.collect())
        });
        let [below, above] = &bins.beyond;
        let mut rows = Vec::new();
        if below.iter().any(|&count| count > 0) {
            rows.push(row(format!("below {}", signed(bins.first)), below.clone()));
        }
        rows.extend(bars);
        if above.iter().any(|&count| count > 0) {
            let (_, last) = bins.numbers(bins.len() - 1);
            rows.push(row(format!("above {}", signed(last)), above.clone()));
        }
        Table {
            caption: self.title,
            head: match self.series.len() {
                1 => &["", "count", "share"],
                _ => &["", "A", "share", "B", "share"],
            },
            rows,
        }
    }
}

/// `5`, or `5 to 9`.
fn range((first, last): (i64, i64)) -> String {
    if first == last { signed(first) } else { format!("{} to {}", signed(first), signed(last)) }
}

/// The summary of a histogram in a line.
pub(super) fn summary(histogram: &Histogram) -> String {
    let summary = histogram.summary();
    let (Some(min), Some(max), Some(mean), Some(median)) = (summary.min, summary.max, summary.mean, summary.median)
    else {
        return String::new();
    };
    let mut text = format!("mean {} · median {}", decimal(mean), decimal(median));
    if let Some(deviation) = summary.stddev {
        text.push_str(&format!(" · std. dev. {}", decimal(deviation)));
    }
    text.push_str(&format!(" · {} to {}", signed(min), signed(max)));
    text
}
